/* Vectors of 8 f32 for bag_vectors.h, and how they are read from stored rows. For kernel_neon.c,
 * which has `eight` and eight_<type>. */
#ifndef WTE_SRC_NUM_BAG_NEON_H
#define WTE_SRC_NUM_BAG_NEON_H
#include <arm_neon.h>
#include <string.h>

#define VEC_LANES ((size_t)8)
typedef eight vec;

typedef struct row_params {
    vec scale, bias;
} row_params;

ALWAYS_INLINE vec vec_set(float x)
{
    return (vec){ vdupq_n_f32(x), vdupq_n_f32(x) };
}
ALWAYS_INLINE vec vec_zero(void)
{
    return vec_set(0);
}
ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return (vec){ vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high) };
}
ALWAYS_INLINE vec vec_mul(vec a, vec b)
{
    return (vec){ vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high) };
}
ALWAYS_INLINE vec vec_div(vec a, vec b)
{
    return (vec){ vdivq_f32(a.low, b.low), vdivq_f32(a.high, b.high) };
}
/* The maximum of the instruction set makes NaN of one NaN and a number, and tells zeros apart. */
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return (vec){ vbslq_f32(vcgtq_f32(a.low, b.low), a.low, b.low),
                  vbslq_f32(vcgtq_f32(a.high, b.high), a.high, b.high) };
}
/* Lanes of `by` where a > b, else those of c; by and c may be integers. */
ALWAYS_INLINE vec vec_pick(vec a, vec b, vec by, vec c)
{
    return (vec){ vbslq_f32(vcgtq_f32(a.low, b.low), by.low, c.low),
                  vbslq_f32(vcgtq_f32(a.high, b.high), by.high, c.high) };
}
ALWAYS_INLINE vec vec_number(uint32_t x)
{
    const float32x4_t all = vreinterpretq_f32_u32(vdupq_n_u32(x));
    return (vec){ all, all };
}
ALWAYS_INLINE vec vec_quiet(vec x)
{
    return (vec){ four_quiet(x.low), four_quiet(x.high) };
}
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return (vec){ vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high) };
}
/* As with gathering: cores see by themselves that whole lines are written. */
ALWAYS_INLINE void vec_stream(char *to, vec x)
{
    put_8(to, x);
}
ALWAYS_INLINE void vec_fence(void)
{
}

ALWAYS_INLINE row_params scale_and_bias(const wte__stored *s, const char *codes)
{
    const char *at = codes + s->scale_at;
    uint32_t both;
    float pair[2];
    if (s->f32_scale) {
        memcpy(pair, at, sizeof pair);
    } else {
        memcpy(&both, at, sizeof both);
        vst1_f32(pair, vget_low_f32(vcvt_f32_f16(vreinterpret_f16_u32(vdup_n_u32(both)))));
    }
    return (row_params){ vec_set(pair[0]), vec_set(pair[1]) };
}
/* Four codes of `bits` bits each, of which the first is in the lowest bits of the word. */
ALWAYS_INLINE float32x4_t four_codes(uint32_t word, size_t bits)
{
    const int32_t b = (int32_t)bits, by[4] = { 0, -b, -2 * b, -3 * b };
    const uint32x4_t moved = vshlq_u32(vdupq_n_u32(word), vld1q_s32(by));
    return vcvtq_f32_u32(vandq_u32(moved, vdupq_n_u32((1u << bits) - 1)));
}
ALWAYS_INLINE vec read_codes(const char *from, size_t n, const row_params *p, size_t bits)
{
    uint32_t word = 0;
    if (n == VEC_LANES)
        memcpy(&word, from, bits);
    else
        memcpy(&word, from, (n * bits + 7) / 8);
    const vec codes = { four_codes(word, bits), four_codes(word >> 4 * bits, bits) };
    return vec_fma(codes, p->scale, p->bias);
}
/* Blocks of 32: an f16, then their integers. */
ALWAYS_INLINE vec at_q8_0(const char *codes, size_t c, size_t n, const row_params *p)
{
    const char *block = codes + c / 32 * 34;
    (void)n;
    (void)p;
    return vec_mul(eight_i8(block + 2 + c % 32), vec_set(block_half((const uint8_t *)block)));
}
/* Elements 0 to 15 are in the low nibbles, 16 to 31 in the high ones. */
ALWAYS_INLINE vec at_q4_0(const char *codes, size_t c, size_t n, const row_params *p)
{
    const char *block = codes + c / 32 * 18;
    const uint8x8_t bytes = load_8(block + 2 + c % 16);
    const uint8x8_t nibbles = c / 16 % 2 ? vshr_n_u8(bytes, 4) : vand_u8(bytes, vdup_n_u8(15));
    (void)n;
    (void)p;
    return vec_mul(eight_of_s16(vmovl_s8(vsub_s8(vreinterpret_s8_u8(nibbles), vdup_n_s8(8)))),
                   vec_set(block_half((const uint8_t *)block)));
}

#include "num/bag_vec8.h"
#include "num/bag_vectors.h"

#define X(name, bits) BAG_KERNELS(name, bits, neon)
WTE__STORED_LIST(X)
#undef X
#define X(name, bits) BLOCK_BAGS(name, bits, neon)
WTE__STORED_BLOCKS(X)
#undef X
#endif
