/* The exponential function of the softmax kernels: one polynomial for all instruction sets, so that
 * all give the same bits. exp(z) = 2^k exp(r) with k = z / ln 2 to the nearest integer; exp(r) = 1
 * + r (1 + r (...)), whose coefficients bring the largest relative error on |r| <= ln 2 / 2 to
 * 2e-8.
 *
 * Below WTE__EXP_LEAST the result is 0, so that none is subnormal; above 1 none is asked for. */
#ifndef WTE_SRC_NUM_EXP_H
#define WTE_SRC_NUM_EXP_H
#define WTE__EXP_LEAST   (-87.0f)
#define WTE__EXP_PER_LN2 0x1.715476p+0f
#define WTE__EXP_ROUND   12582912.0f   /* 1.5 * 2^23: a sum with it has no bits behind the point */
#define WTE__EXP_LN2     0x1.62e43p-1f /* off by 2e-9, k times */
/* of r^2 to r^6 */
#define WTE__EXP_2 0x1.fffffcp-2f
#define WTE__EXP_3 0x1.555418p-3f
#define WTE__EXP_4 0x1.555824p-5f
#define WTE__EXP_5 0x1.1267d8p-7f
#define WTE__EXP_6 0x1.6ae6ep-10f
#endif
