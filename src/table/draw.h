/* Random numbers as PyTorch's CPU generator makes them: the engine, and normal draws from it. */
#ifndef WTE_SRC_TABLE_DRAW_H
#define WTE_SRC_TABLE_DRAW_H
#include <stdbool.h>
#include <stdint.h>

/* The Mersenne twister mt19937 of Matsumoto and Nishimura (1998), 32 bits a draw. */
#define WTE__MT_STATES 624
typedef struct wte__mt {
    uint32_t state[WTE__MT_STATES];
    uint32_t next; /* state to hand out next; WTE__MT_STATES = twist first */
} wte__mt;
void wte__mt_seed(wte__mt *g, uint64_t seed); /* only the low 32 bits count, as in PyTorch */
uint32_t wte__mt_u32(wte__mt *g);
float wte__mt_f32(wte__mt *g);  /* uniform in [0, 1), 24 bits */
double wte__mt_f64(wte__mt *g); /* uniform in [0, 1), 53 bits from two draws */

/* Normal numbers come in blocks of 16 made from 16 uniforms (Box-Muller: x[j] and x[j + 8] are a
 * pair). */
#define WTE__NORMAL_BLOCK 16
/* In place: uniforms in, N(mean, std) out, as PyTorch computes it without AVX2: logf, cosf and sinf
 * of the C library. How it computes it with AVX2 is the kernel normal_f32. */
void wte__normal_block_scalar(float x[WTE__NORMAL_BLOCK], float mean, float std);
/* In double precision; `fused` when the last step is to be one fma, as PyTorch's AVX2 build does.
 */
void wte__normal_block_f64(double x[WTE__NORMAL_BLOCK], double mean, double std, bool fused);
/* Two numbers for tables smaller than a block: made in double precision whatever their type. */
void wte__normal_pair(wte__mt *g, double pair[2], double mean, double std, bool fused);
#endif
