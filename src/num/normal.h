/* Normal numbers from uniform ones, in the very roundings of PyTorch's AVX2 kernel. One source for
 * every instruction set: each multiplication and addition that is fused there is an fmaf here,
 * which is correctly rounded whether it is an instruction or a call, so all sets give the same
 * bits.
 *
 * An instruction set's file includes this. Everything is static, so that no code of one set can be
 * linked into another's. No branches, so that a compiler can take eight pairs at once. */
#ifndef WTE_SRC_NUM_NORMAL_H
#define WTE_SRC_NUM_NORMAL_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#define NORMAL_INLINE static inline __attribute__((always_inline))

NORMAL_INLINE float normal_from_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

NORMAL_INLINE int32_t normal_to_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Natural logarithm of a normal x in (0, 1]: Cephes' polynomial. */
NORMAL_INLINE float normal_log(float x)
{
    const int32_t bits = normal_to_bits(x);
    /* x = fraction * 2^exponent with fraction in [0.5, 1) */
    const float fraction = normal_from_bits((bits & 0x7fffff) | 0x3f000000);
    const float exponent = (float)((bits >> 23) - 126);
    const int small = fraction < 0.707106781186547524f;
    const float e = small ? exponent - 1.0f : exponent;
    const float m = (fraction - 1.0f) + (small ? fraction : 0.0f);
    const float z = m * m;
    float y = 7.0376836292e-2f;
    y = fmaf(y, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = y * m;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(-z, 0.5f, y);
    return fmaf(e, 0.693359375f, m + y);
}

/* The pair at x[0] and x[8]: N(mean, std) of two uniforms in [0, 1), by Box and Muller. */
NORMAL_INLINE void normal_pair(float *x, float mean, float std)
{
    const float radius = sqrtf(-2.0f * normal_log(1.0f - x[0]));
    const float angle = 6.283185307179586f * x[8];
    /* sine and cosine: Cephes' polynomials in what is left of the octant */
    const int32_t octant = ((int32_t)(angle * 1.27323954473516f) + 1) & ~1;
    const float f = (float)octant;
    float r = fmaf(f, -0.78515625f, angle);
    r = fmaf(f, -2.4187564849853515625e-4f, r);
    r = fmaf(f, -3.77489497744594108e-8f, r);
    const float z = r * r;
    float c = 2.443315711809948e-5f;
    c = fmaf(c, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f);
    c = c * z;
    c = fmaf(c, z, -(z * 0.5f));
    c = c + 1.0f;
    float s = -1.9515295891e-4f;
    s = fmaf(s, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f);
    s = s * z;
    s = fmaf(s, r, r);
    const float sine = (octant & 2) ? c : s, cosine = (octant & 2) ? s : c;
    /* the sign bit flips in octants 4 to 7 for the sine, 2 to 5 for the cosine */
    const int32_t sine_sign = (int32_t)((uint32_t)(octant & 4) << 29);
    const int32_t cosine_sign = (int32_t)((uint32_t)(~(octant - 2) & 4) << 29);
    const float up = normal_from_bits(normal_to_bits(cosine) ^ cosine_sign);
    const float across = normal_from_bits(normal_to_bits(sine) ^ sine_sign);
    x[0] = fmaf(radius * up, std, mean);
    x[8] = fmaf(radius * across, std, mean);
}

NORMAL_INLINE void normal_blocks(float *x, size_t n, float mean, float std)
{
    for (size_t i = 0; i < n; i += 16)
        for (size_t j = 0; j < 8; j++) normal_pair(x + i + j, mean, std);
}
#endif
