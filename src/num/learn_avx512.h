/* What learn_vectors.h asks for of vectors of 16 f32, besides optim_avx512.h. For kernel_avx512.c.
 */
#ifndef WTE_SRC_NUM_LEARN_AVX512_H
#define WTE_SRC_NUM_LEARN_AVX512_H
#include "num/dots_avx512.h"
#include "num/head_avx512.h"
#include "num/optim_avx512.h"

#define LEARN_SIDE ((size_t)2)
#define LEARN_BOTH true

ALWAYS_INLINE vec vec_exp(vec x)
{
    return exp_16(x);
}
/* Rows 0 to 3 and 4 to 7 of each of the two vectors, in this order. */
ALWAYS_INLINE vec learn_totals(vec sums[][WTE__LEARN_GROUP])
{
    vec fours[2 * LEARN_SIDE][DOTS_ROWS];
    UNROLLED
    for (size_t k = 0; k < DOTS_ROWS; k++) {
        fours[0][k] = sums[0][k];
        fours[1][k] = sums[0][DOTS_ROWS + k];
        fours[2][k] = sums[1][k];
        fours[3][k] = sums[1][DOTS_ROWS + k];
    }
    return sum_of_4(fours);
}

#include "num/learn_vectors.h"

LEARN_KERNELS(avx512)
#endif
