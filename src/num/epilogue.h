/* What comes after a product, in one source for every instruction set: each multiplication and
 * addition that is fused is an fmaf, which is rounded correctly whether it is an instruction or a
 * call, so all sets give the same bits.
 *
 * An instruction set's file includes this. Everything is static, so that no code of one set can be
 * linked into another's. No branches in the loops over 16, so that a compiler can take all at once.
 */
#ifndef WTE_SRC_NUM_AFTER_H
#define WTE_SRC_NUM_AFTER_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "num/kernels.h"

#define AFTER_INLINE static inline __attribute__((always_inline))
#define AFTER_LANES  16u

AFTER_INLINE float after_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
AFTER_INLINE uint32_t after_to_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* e^x for 0 <= x <= 20: 2^n e^r with |r| <= ln(2) / 2, e^r by its series as far as x^7. */
AFTER_INLINE float after_exp(float x)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    const float shifted = fmaf(x, 1.44269504f, shift), n = shifted - shift;
    float r = fmaf(n, -0.693145752f, x); /* ln(2) in two parts */
    r = fmaf(n, -1.42860677e-6f, r);
    float p = 1.98412698e-4f;
    p = fmaf(p, r, 1.38888889e-3f);
    p = fmaf(p, r, 8.33333333e-3f);
    p = fmaf(p, r, 4.16666667e-2f);
    p = fmaf(p, r, 1.66666667e-1f);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    const uint32_t power = (after_to_bits(shifted) - after_to_bits(shift) + 127u) << 23;
    return p * after_from_bits(power);
}

/* tanh: near 0 an odd polynomial (Cephes' tanhf), else 1 - 2 / (e^2x + 1), from 10 on 1. */
AFTER_INLINE float after_tanh(float x)
{
    const uint32_t sign = after_to_bits(x) & 0x80000000u;
    const float size = after_from_bits(after_to_bits(x) ^ sign);
    const float z = size * size;
    float p = -5.70498872745e-3f;
    p = fmaf(p, z, 2.06390887954e-2f);
    p = fmaf(p, z, -5.37397155531e-2f);
    p = fmaf(p, z, 1.33314422036e-1f);
    p = fmaf(p, z, -3.33332819422e-1f);
    const float near = fmaf(p * z, size, size);
    const float most = size < 10.0f ? size : 10.0f;
    const float far = 1.0f - 2.0f / (after_exp(2.0f * most) + 1.0f);
    const float y = size < 0.625f ? near : far;
    const float made = after_from_bits(after_to_bits(y) | sign);
    return x == x ? made : x;
}

/* Not inlined: one copy, in which every loop is one of 16. */
static __attribute__((noinline)) void after_16(float *restrict x, const float *restrict bias,
                                               const wte__logit_epilogue *restrict a)
{
    const float times = a->scale, over = a->divisor, cap = a->softcap;
    if (bias)
        for (size_t i = 0; i < AFTER_LANES; i++) x[i] += bias[i];
    if (times != 0)
        for (size_t i = 0; i < AFTER_LANES; i++) x[i] *= times;
    if (over != 0)
        for (size_t i = 0; i < AFTER_LANES; i++) x[i] /= over;
    if (!(cap > 0)) return;
    for (size_t i = 0; i < AFTER_LANES; i++) x[i] = cap * after_tanh(x[i] / cap);
}

AFTER_INLINE void after_all(float *x, size_t n, const float *bias, const wte__logit_epilogue *a)
{
    const size_t whole = n - n % AFTER_LANES;
    for (size_t i = 0; i < whole; i += AFTER_LANES) after_16(x + i, bias ? bias + i : NULL, a);
    if (whole == n) return;
    float last[AFTER_LANES] = { 0 }, last_bias[AFTER_LANES] = { 0 };
    memcpy(last, x + whole, (n - whole) * sizeof *x);
    if (bias) memcpy(last_bias, bias + whole, (n - whole) * sizeof *bias);
    after_16(last, bias ? last_bias : NULL, a);
    memcpy(x + whole, last, (n - whole) * sizeof *x);
}
#endif
