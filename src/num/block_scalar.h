/* The blocks' numbers in plain C: <type>_value(b, i) is element i of the block at b, written as its
 * format defines it. What the fast versions must do bit for bit. kernel_scalar.c includes this.
 *
 * d and m are f16 (half); all arithmetic is in f32, left to right as written. */
#ifndef WTE_SRC_NUM_BLOCK_SCALAR_H
#define WTE_SRC_NUM_BLOCK_SCALAR_H
#include <math.h>
#include <stdbool.h>
#include <wte/block.h>

#include "num/block_grids.h"
#include "num/block_tables.h"

static uint16_t u16_at(const uint8_t *b)
{
    return (uint16_t)(b[0] | b[1] << 8);
}
static uint32_t u32_at(const uint8_t *b)
{
    return u16_at(b) | (uint32_t)u16_at(b + 2) << 16;
}
static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static float half_at(const uint8_t *b)
{
    return float_of(half_to_f32(u16_at(b)));
}

static int bit(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}
/* Two elements a byte: the first `n` in the low nibbles of n bytes, the next in their high ones. */
static int nibble(const uint8_t *q, size_t i, size_t n)
{
    return q[i % n] >> 4 * (i / n % 2) & 15;
}
/* Four elements a byte: 32 bytes hold 128 elements, 32 in each of the four fields. */
static int quarter(const uint8_t *q, size_t i)
{
    return q[32 * (i / 128) + i % 32] >> 2 * (i % 128 / 32) & 3;
}

/* Blocks of 32 to 128, one scale: value = q * d, or q * d + m --------------------------------- */

static float q1_0_value(const uint8_t *b, size_t i)
{
    return bit(b + 2, i) ? half_at(b) : -half_at(b);
}
static float q2_0_value(const uint8_t *b, size_t i)
{
    const int q = b[2 + i / 4] >> 2 * (i % 4) & 3;
    return (float)(q - 1) * half_at(b);
}
static float q4_0_value(const uint8_t *b, size_t i)
{
    return (float)(nibble(b + 2, i, 16) - 8) * half_at(b);
}
static float q4_1_value(const uint8_t *b, size_t i)
{
    return (float)nibble(b + 4, i, 16) * half_at(b) + half_at(b + 2);
}
static float q5_0_value(const uint8_t *b, size_t i)
{
    const int q = nibble(b + 6, i, 16) | bit(b + 2, i) << 4;
    return (float)(q - 16) * half_at(b);
}
static float q5_1_value(const uint8_t *b, size_t i)
{
    const int q = nibble(b + 8, i, 16) | bit(b + 4, i) << 4;
    return (float)q * half_at(b) + half_at(b + 2);
}
static float q8_0_value(const uint8_t *b, size_t i)
{
    return (float)(int8_t)b[2 + i] * half_at(b);
}
static float iq4_nl_value(const uint8_t *b, size_t i)
{
    return half_at(b) * (float)iq4_values[nibble(b + 2, i, 16)];
}
/* The scale is 2^(b[0] - 128): values are twice those of e2m1, and below 2^-126 it is subnormal. */
static float mxfp4_value(const uint8_t *b, size_t i)
{
    const float scale = float_of(b[0] < 2 ? UINT32_C(0x200000) << b[0] : (b[0] - 1u) << 23);
    return scale * (float)fp4_values[nibble(b + 1, i, 16)];
}
/* Half the value of an e4m3 code without sign: 4 bits of exponent, 3 of fraction; 7f stands for 0.
 */
static float ue4m3_half(uint8_t code)
{
    const int exponent = code >> 3 & 15, fraction = code & 7;
    if (code == 0x7f) return 0;
    if (exponent == 0) return (float)fraction * 0x1p-10f;
    return float_of((uint32_t)(exponent + 119) << 23 | (uint32_t)fraction << 20);
}
static float nvfp4_value(const uint8_t *b, size_t i)
{
    const size_t part = i / 16; /* of 16 elements, each with a scale */
    return ue4m3_half(b[part]) * (float)fp4_values[nibble(b + 4 + 8 * part, i % 16, 8)];
}

/* Blocks of 256 with scales for every 16 or 32 ----------------------------------------------- */

static float q2_k_value(const uint8_t *b, size_t i)
{
    const uint8_t scales = b[i / 16];
    return half_at(b + 80) * (float)(scales & 15) * (float)quarter(b + 16, i) -
           half_at(b + 82) * (float)(scales >> 4);
}
static float q3_k_value(const uint8_t *b, size_t i)
{
    const size_t group = i / 16;
    const uint8_t *s = b + 96;
    const int low = nibble(s, group, 8), high = s[8 + group % 4] >> 2 * (group / 4) & 3;
    const int q = quarter(b + 32, i) - (b[i % 32] >> i / 32 & 1 ? 0 : 4);
    return half_at(b + 108) * (float)((low | high << 4) - 32) * (float)q;
}
/* Eight scales and eight minima of 6 bits in 12 bytes: the first four of each in bytes 0 to 3 and 4
 * to 7, whose upper bits are those of the last four; their lower bits in bytes 8 to 11. */
static int scale_of_8(const uint8_t *s, size_t j)
{
    return j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
}
static int minimum_of_8(const uint8_t *s, size_t j)
{
    return j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
}
/* q4_k and q5_k: `q` from the 4 bits and the fifth. */
static float scaled_of_8(const uint8_t *b, size_t j, int q)
{
    return half_at(b) * (float)scale_of_8(b + 4, j) * (float)q -
           half_at(b + 2) * (float)minimum_of_8(b + 4, j);
}
static float q4_k_value(const uint8_t *b, size_t i)
{
    return scaled_of_8(b, i / 32, nibble(b + 16 + 32 * (i / 64), i % 64, 32));
}
static float q5_k_value(const uint8_t *b, size_t i)
{
    const int fifth = b[16 + i % 32] >> i / 32 & 1;
    return scaled_of_8(b, i / 32, nibble(b + 48 + 32 * (i / 64), i % 64, 32) | fifth << 4);
}
static float q6_k_value(const uint8_t *b, size_t i)
{
    const int low = nibble(b + 64 * (i / 128), i % 128, 64);
    const int q = low | quarter(b + 128, i) << 4;
    return half_at(b + 208) * (float)(int8_t)b[192 + i / 16] * (float)(q - 32);
}
static float iq4_xs_value(const uint8_t *b, size_t i)
{
    const size_t part = i / 32;
    const int low = b[4 + part / 2] >> 4 * (part % 2) & 15;
    const int scale = low | (u16_at(b + 2) >> 2 * part & 3) << 4;
    return half_at(b) * (float)(scale - 32) *
           (float)iq4_values[nibble(b + 8 + 16 * part, i % 32, 16)];
}

/* Ternary: -d, 0 or d ------------------------------------------------------------------------ */

/* Five digits of base 3 a byte, the byte being the fraction 0.d0 d1 d2 ... times 256. */
static float tq1_0_value(const uint8_t *b, size_t i)
{
    static const uint8_t power[] = { 1, 3, 9, 27, 81 };
    uint8_t byte;
    if (i < 160)
        byte = (uint8_t)(b[i % 32] * power[i / 32]);
    else if (i < 240)
        byte = (uint8_t)(b[32 + (i - 160) % 16] * power[(i - 160) / 16]);
    else
        byte = (uint8_t)(b[48 + (i - 240) % 4] * power[(i - 240) / 4]);
    return (float)((byte * 3 >> 8) - 1) * half_at(b + 52);
}
static float tq2_0_value(const uint8_t *b, size_t i)
{
    return (float)(quarter(b, i) - 1) * half_at(b + 64);
}

/* Eight elements at a time from a grid: part s = i / 32, group l = i / 8 % 4 in it, element i % 8.
 */

/* A group's signs in 7 bits: the eighth makes their number even. */
static bool sign_of_7(uint32_t bits, size_t k)
{
    if (k < 7) return bits >> k & 1;
    return __builtin_parity(bits & 127);
}
static float signed_value(float scale, uint64_t entry, size_t k, bool negative)
{
    const float value = scale * (float)(int)(entry >> 8 * k & 255);
    return negative ? -value : value;
}
static float iq2_xxs_value(const uint8_t *b, size_t i)
{
    const size_t l = i / 8 % 4;
    const uint8_t *part = b + 2 + 8 * (i / 32);
    const uint32_t a = u32_at(part + 4);
    const float scale = half_at(b) * (0.5f + (float)(a >> 28)) * 0.25f;
    return signed_value(scale, wte__grid_iq2_xxs[part[l]], i % 8, sign_of_7(a >> 7 * l, i % 8));
}
/* Four bits of scale for every 16 elements. */
static float scale_iq2(const uint8_t *b, const uint8_t *scales, size_t i)
{
    return half_at(b) * (0.5f + (float)(scales[i / 32] >> 4 * (i / 16 % 2) & 15)) * 0.25f;
}
static float iq2_xs_value(const uint8_t *b, size_t i)
{
    const uint16_t q = u16_at(b + 2 + 2 * (i / 8));
    return signed_value(scale_iq2(b, b + 66, i), wte__grid_iq2_xs[q & 511], i % 8,
                        sign_of_7(q >> 9, i % 8));
}
static float iq2_s_value(const uint8_t *b, size_t i)
{
    const int high = b[66 + i / 32] >> 2 * (i / 8 % 4) & 3;
    const uint64_t entry = wte__grid_iq2_s[b[2 + i / 8] | high << 8];
    return signed_value(scale_iq2(b, b + 74, i), entry, i % 8, bit(b + 34, i));
}
/* The iq3 grids have four elements an entry, so two entries a group. */
static float iq3_xxs_value(const uint8_t *b, size_t i)
{
    const uint32_t a = u32_at(b + 66 + 4 * (i / 32));
    const float scale = half_at(b) * (0.5f + (float)(a >> 28)) * 0.5f;
    return signed_value(scale, wte__grid_iq3_xxs[b[2 + i / 4]], i % 4,
                        sign_of_7(a >> 7 * (i / 8 % 4), i % 8));
}
static float iq3_s_value(const uint8_t *b, size_t i)
{
    const float scale = half_at(b) * (float)(1 + 2 * (b[106 + i / 64] >> 4 * (i / 32 % 2) & 15));
    const uint32_t entry = wte__grid_iq3_s[b[2 + i / 4] | bit(b + 66, i / 4) << 8];
    return signed_value(scale, entry, i % 4, bit(b + 74, i));
}
/* Both iq1 types: -1, 0 or 1, moved by an eighth up or down. */
static float moved_value(float scale, int index, size_t k, bool down)
{
    const float grid = (float)(int8_t)(uint8_t)(wte__grid_iq1_s[index] >> 8 * k);
    return scale * (grid + (down ? -0.125f : 0.125f));
}
static float iq1_s_value(const uint8_t *b, size_t i)
{
    const uint16_t qh = u16_at(b + 34 + 2 * (i / 32));
    const float scale = half_at(b) * (float)(2 * (qh >> 12 & 7) + 1);
    const int index = b[2 + i / 8] | (qh >> 3 * (i / 8 % 4) & 7) << 8;
    return moved_value(scale, index, i % 8, qh >> 15);
}
/* The f16 scale is spread over the upper nibbles of four words, whose other 12 bits are scales. */
static float iq1_m_scale(const uint8_t *b)
{
    uint32_t d = 0;
    for (size_t word = 0; word < 4; word++) d |= (uint32_t)(b[48 + 2 * word + 1] >> 4) << 4 * word;
    return float_of(half_to_f32((uint16_t)d));
}
static float iq1_m_value(const uint8_t *b, size_t i)
{
    const int scale = u16_at(b + 48 + 2 * (i / 64)) >> 3 * (i / 16 % 4) & 7;
    const int high = b[32 + i / 16] >> 4 * (i / 8 % 2) & 15;
    const int index = b[i / 8] | (high & 7) << 8;
    return moved_value(iq1_m_scale(b) * (float)(2 * scale + 1), index, i % 8, high & 8);
}

#define X(NAME, name, value, elements, bytes)                                                      \
    static void name##_to_f32_scalar(const void *src, void *dst, size_t n)                         \
    {                                                                                              \
        const uint8_t *block = src;                                                                \
        char *out = dst;                                                                           \
        for (; n; n--, block += (bytes), out += (elements) * sizeof(float)) {                      \
            float y[elements];                                                                     \
            for (size_t i = 0; i < (elements); i++) y[i] = name##_value(block, i);                 \
            memcpy(out, y, sizeof y);                                                              \
        }                                                                                          \
    }
WTE_BLOCK_LIST(X)
#undef X

/* Encoding q8_0: d = max / 127, q = x / d to the nearest, halves away from zero ---------------- */

static void q8_0_block(const float *x, uint8_t *b)
{
    float max = 0;
    for (size_t i = 0; i < 32; i++)
        if (fabsf(x[i]) > max) max = fabsf(x[i]);
    const float d = max / 127.0f;
    const uint16_t half = f16_code(bits_of(d));
    /* Of a d so small that its reciprocal is infinite the f16 is zero, and so is every value. */
    const float scale = d == 0.0f || isinf(1.0f / d) ? 0.0f : 1.0f / d;
    b[0] = (uint8_t)half;
    b[1] = (uint8_t)(half >> 8);
    for (size_t i = 0; i < 32; i++) b[2 + i] = (uint8_t)(int8_t)roundf(x[i] * scale);
}
static void f32_to_q8_0_scalar(const void *src, void *dst, size_t n)
{
    const char *in = src;
    uint8_t *block = dst;
    for (; n; n--, in += 32 * sizeof(float), block += 34) {
        float x[32];
        memcpy(x, in, sizeof x);
        q8_0_block(x, block);
    }
}
#endif
