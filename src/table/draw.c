/* The generator and the normal transforms of draw.h.
 *
 * The order of every rounding here is part of the result. This file is compiled with
 * -ffp-contract=off; where PyTorch's kernel fuses a multiplication and an addition, fma is written
 * out. */
#include "table/draw.h"

#include <math.h>

#define MT_SHIFT  397
#define MT_MATRIX UINT32_C(0x9908b0df)
#define MT_UPPER  UINT32_C(0x80000000)

static const double two_pi = 6.283185307179586476925286766559;

void wte__mt_seed(wte__mt *g, uint64_t seed)
{
    g->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < WTE__MT_STATES; i++) {
        const uint32_t last = g->state[i - 1];
        g->state[i] = UINT32_C(1812433253) * (last ^ (last >> 30)) + i;
    }
    g->next = WTE__MT_STATES;
}

static uint32_t twisted(uint32_t high, uint32_t low, uint32_t far)
{
    const uint32_t y = (high & MT_UPPER) | (low & ~MT_UPPER);
    return far ^ (y >> 1) ^ ((low & 1) ? MT_MATRIX : 0);
}

static void twist(wte__mt *g)
{
    uint32_t *s = g->state;
    uint32_t i = 0;
    for (; i < WTE__MT_STATES - MT_SHIFT; i++) s[i] = twisted(s[i], s[i + 1], s[i + MT_SHIFT]);
    for (; i < WTE__MT_STATES - 1; i++)
        s[i] = twisted(s[i], s[i + 1], s[i + MT_SHIFT - WTE__MT_STATES]);
    s[i] = twisted(s[i], s[0], s[MT_SHIFT - 1]);
    g->next = 0;
}

uint32_t wte__mt_u32(wte__mt *g)
{
    if (g->next == WTE__MT_STATES) twist(g);
    uint32_t y = g->state[g->next++];
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9d2c5680);
    y ^= (y << 15) & UINT32_C(0xefc60000);
    return y ^ (y >> 18);
}

float wte__mt_f32(wte__mt *g)
{
    return (float)(wte__mt_u32(g) & 0xffffffu) * 0x1p-24f;
}

double wte__mt_f64(wte__mt *g)
{
    const uint64_t high = wte__mt_u32(g);
    const uint64_t bits = high << 32 | wte__mt_u32(g);
    return (double)(bits & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

void wte__normal_block_scalar(float x[WTE__NORMAL_BLOCK], float mean, float std)
{
    const uint32_t half = WTE__NORMAL_BLOCK / 2;
    for (uint32_t j = 0; j < half; j++) {
        const float radius = sqrtf(-2.0f * logf(1.0f - x[j]));
        const float angle = (float)(two_pi * (double)x[j + half]);
        x[j] = radius * cosf(angle) * std + mean;
        x[j + half] = radius * sinf(angle) * std + mean;
    }
}

/* In double precision both of PyTorch's kernels call the C library; they differ in the last step.
 */
static double scaled(double x, double mean, double std, bool fused)
{
    return fused ? fma(x, std, mean) : x * std + mean;
}

void wte__normal_block_f64(double x[WTE__NORMAL_BLOCK], double mean, double std, bool fused)
{
    const uint32_t half = WTE__NORMAL_BLOCK / 2;
    for (uint32_t j = 0; j < half; j++) {
        const double radius = sqrt(-2.0 * log(1.0 - x[j]));
        const double angle = two_pi * x[j + half];
        x[j] = scaled(radius * cos(angle), mean, std, fused);
        x[j + half] = scaled(radius * sin(angle), mean, std, fused);
    }
}

void wte__normal_pair(wte__mt *g, double pair[2], double mean, double std, bool fused)
{
    const double angle = two_pi * wte__mt_f64(g);
    const double radius = sqrt(-2.0 * log1p(-wte__mt_f64(g)));
    pair[0] = scaled(radius * cos(angle), mean, std, fused);
    pair[1] = scaled(radius * sin(angle), mean, std, fused);
}
