/* What block_vectors.h asks for under NEON. For kernel_neon.c, which has load_16, eight_of_s16 and
 * put_4_floats. */
#ifndef WTE_SRC_NUM_BLOCK_NEON_H
#define WTE_SRC_NUM_BLOCK_NEON_H
#include <arm_neon.h>
#include <stdint.h>

#include "num/simd_macros.h"

typedef uint8x16_t bytes_16;

ALWAYS_INLINE bytes_16 bytes_load(const uint8_t *b)
{
    return load_16(b);
}
ALWAYS_INLINE bytes_16 bytes_all(uint8_t x)
{
    return vdupq_n_u8(x);
}
ALWAYS_INLINE bytes_16 bytes_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t words[4] = { a, b, c, d };
    return load_16(words);
}
ALWAYS_INLINE bytes_16 bytes_longs(uint64_t a, uint64_t b)
{
    return vcombine_u8(vcreate_u8(a), vcreate_u8(b));
}
ALWAYS_INLINE bytes_16 bytes_and(bytes_16 a, bytes_16 b)
{
    return vandq_u8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_or(bytes_16 a, bytes_16 b)
{
    return vorrq_u8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_xor(bytes_16 a, bytes_16 b)
{
    return veorq_u8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_add(bytes_16 a, bytes_16 b)
{
    return vaddq_u8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_sub(bytes_16 a, bytes_16 b)
{
    return vsubq_u8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_up(bytes_16 x, size_t n)
{
    return vshlq_u8(x, vdupq_n_s8((int8_t)n));
}
ALWAYS_INLINE bytes_16 bytes_down(bytes_16 x, size_t n)
{
    return vshlq_u8(x, vdupq_n_s8((int8_t) - (int)n));
}
ALWAYS_INLINE bytes_16 high_nibbles(bytes_16 x)
{
    return vshrq_n_u8(x, 4);
}
ALWAYS_INLINE bytes_16 bytes_having(bytes_16 x, uint8_t bit)
{
    return vtstq_u8(x, vdupq_n_u8(bit));
}
ALWAYS_INLINE bytes_16 bytes_at_least(bytes_16 x, uint8_t least)
{
    return vcgeq_u8(x, vdupq_n_u8(least));
}
ALWAYS_INLINE bytes_16 bytes_looked_up(const int8_t table[16], bytes_16 x)
{
    return vqtbl1q_u8(vreinterpretq_u8_s8(vld1q_s8(table)), x);
}
ALWAYS_INLINE void bytes_braid(bytes_16 x[4])
{
    const uint16x8_t low01 = vreinterpretq_u16_u8(vzip1q_u8(x[0], x[1]));
    const uint16x8_t high01 = vreinterpretq_u16_u8(vzip2q_u8(x[0], x[1]));
    const uint16x8_t low23 = vreinterpretq_u16_u8(vzip1q_u8(x[2], x[3]));
    const uint16x8_t high23 = vreinterpretq_u16_u8(vzip2q_u8(x[2], x[3]));
    x[0] = vreinterpretq_u8_u16(vzip1q_u16(low01, low23));
    x[1] = vreinterpretq_u8_u16(vzip2q_u16(low01, low23));
    x[2] = vreinterpretq_u8_u16(vzip1q_u16(high01, high23));
    x[3] = vreinterpretq_u8_u16(vzip2q_u16(high01, high23));
}
ALWAYS_INLINE float half_to_f32(uint16_t bits)
{
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))), 0);
}

ALWAYS_INLINE void put_16(char *out, bytes_16 codes, float scale)
{
    const int8x16_t q = vreinterpretq_s8_u8(codes);
    const eight a = eight_of_s16(vmovl_s8(vget_low_s8(q))), b = eight_of_s16(vmovl_high_s8(q));
    put_4_floats(out, vmulq_n_f32(a.low, scale));
    put_4_floats(out + 16, vmulq_n_f32(a.high, scale));
    put_4_floats(out + 32, vmulq_n_f32(b.low, scale));
    put_4_floats(out + 48, vmulq_n_f32(b.high, scale));
}
ALWAYS_INLINE void put_16_plus(char *out, bytes_16 codes, float scale, float plus)
{
    const int8x16_t q = vreinterpretq_s8_u8(codes);
    const eight a = eight_of_s16(vmovl_s8(vget_low_s8(q))), b = eight_of_s16(vmovl_high_s8(q));
    const float32x4_t more = vdupq_n_f32(plus);
    put_4_floats(out, vaddq_f32(vmulq_n_f32(a.low, scale), more));
    put_4_floats(out + 16, vaddq_f32(vmulq_n_f32(a.high, scale), more));
    put_4_floats(out + 32, vaddq_f32(vmulq_n_f32(b.low, scale), more));
    put_4_floats(out + 48, vaddq_f32(vmulq_n_f32(b.high, scale), more));
}
ALWAYS_INLINE bytes_16 spread_bits(uint32_t bits)
{
    const uint8x8_t mask = vcreate_u8(0x8040201008040201u);
    const uint8x8_t low = vdup_n_u8((uint8_t)bits), high = vdup_n_u8((uint8_t)(bits >> 8));
    return vtstq_u8(vcombine_u8(low, high), vcombine_u8(mask, mask));
}

#include "num/block_vectors.h"
#endif
