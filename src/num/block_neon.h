/* Decoding of blocks with NEON instructions, for kernel_neon.c, which has load_16, load_8 and
 * eight_of_s16. Formulas are in block_scalar.h. All types come down to put_16 and put_16_plus:
 * small integers are unpacked, signed, and multiplied by a float. <type>_block does one block.
 *
 * Two ways to write a formula differently give the same bits: x - y as x + (-y), and moving a power
 * of two from one factor to the other where nothing overflows or becomes subnormal. */
#ifndef WTE_SRC_NUM_BLOCK_NEON_H
#define WTE_SRC_NUM_BLOCK_NEON_H
#include <arm_neon.h>
#include <stdint.h>
#include <string.h>
#include <wte/block.h>

#include "num/block_grids.h"
#include "num/block_tables.h"

/* Where element i of the output lies. */
#define ELEMENT(i) (sizeof(float) * (size_t)(i))

ALWAYS_INLINE uint16_t block_u16(const uint8_t *b)
{
    uint16_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
ALWAYS_INLINE uint32_t block_u32(const uint8_t *b)
{
    uint32_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
ALWAYS_INLINE float block_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
ALWAYS_INLINE float float_of_half(uint16_t half)
{
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half))), 0);
}
ALWAYS_INLINE float block_half(const uint8_t *b)
{
    return float_of_half(block_u16(b));
}

/* 16 f32 to out: code * scale, the codes being signed bytes. */
ALWAYS_INLINE void put_16(char *out, uint8x16_t codes, float scale)
{
    const int8x16_t q = vreinterpretq_s8_u8(codes);
    const eight a = eight_of_s16(vmovl_s8(vget_low_s8(q))), b = eight_of_s16(vmovl_high_s8(q));
    put_4_floats(out, vmulq_n_f32(a.low, scale));
    put_4_floats(out + 16, vmulq_n_f32(a.high, scale));
    put_4_floats(out + 32, vmulq_n_f32(b.low, scale));
    put_4_floats(out + 48, vmulq_n_f32(b.high, scale));
}
/* The same: code * scale + plus, rounded twice. */
ALWAYS_INLINE void put_16_plus(char *out, uint8x16_t codes, float scale, float plus)
{
    const int8x16_t q = vreinterpretq_s8_u8(codes);
    const eight a = eight_of_s16(vmovl_s8(vget_low_s8(q))), b = eight_of_s16(vmovl_high_s8(q));
    const float32x4_t more = vdupq_n_f32(plus);
    put_4_floats(out, vaddq_f32(vmulq_n_f32(a.low, scale), more));
    put_4_floats(out + 16, vaddq_f32(vmulq_n_f32(a.high, scale), more));
    put_4_floats(out + 32, vaddq_f32(vmulq_n_f32(b.low, scale), more));
    put_4_floats(out + 48, vaddq_f32(vmulq_n_f32(b.high, scale), more));
}
/* Byte j all ones where bit j is set, else zero; j < 16. */
ALWAYS_INLINE uint8x16_t spread_bits(uint32_t bits)
{
    const uint8x8_t mask = vcreate_u8(0x8040201008040201u);
    const uint8x8_t low = vdup_n_u8((uint8_t)bits), high = vdup_n_u8((uint8_t)(bits >> 8));
    return vtstq_u8(vcombine_u8(low, high), vcombine_u8(mask, mask));
}

ALWAYS_INLINE uint8x16_t low_nibbles(uint8x16_t bytes)
{
    return vandq_u8(bytes, vdupq_n_u8(15));
}
ALWAYS_INLINE uint8x16_t high_nibbles(uint8x16_t bytes)
{
    return vshrq_n_u8(bytes, 4);
}
/* The low nibbles of eight bytes, then their high ones. */
ALWAYS_INLINE uint8x16_t nibbles_of_8(const uint8_t *b)
{
    const uint8x8_t q = load_8(b);
    return vcombine_u8(vand_u8(q, vdup_n_u8(15)), vshr_n_u8(q, 4));
}
/* Field `at` (0 to 3) of two bits in each byte. */
ALWAYS_INLINE uint8x16_t quarters(uint8x16_t bytes, size_t at)
{
    return vandq_u8(vshlq_u8(bytes, vdupq_n_s8((int8_t)(-2 * (int)at))), vdupq_n_u8(3));
}
/* Bit `at` of each byte, as the number `value` or 0. */
ALWAYS_INLINE uint8x16_t bits_of_bytes(uint8x16_t bytes, size_t at, uint8_t value)
{
    return vandq_u8(vtstq_u8(bytes, vdupq_n_u8((uint8_t)(1u << at))), vdupq_n_u8(value));
}
ALWAYS_INLINE uint8x16_t less(uint8x16_t codes, uint8_t offset)
{
    return vsubq_u8(codes, vdupq_n_u8(offset));
}
ALWAYS_INLINE uint8x16_t looked_up(const int8_t table[16], uint8x16_t nibbles)
{
    return vqtbl1q_u8(vreinterpretq_u8_s8(vld1q_s8(table)), nibbles);
}
ALWAYS_INLINE uint8x16_t with_signs(uint8x16_t magnitudes, uint32_t signs)
{
    const uint8x16_t mask = spread_bits(signs);
    return vsubq_u8(veorq_u8(magnitudes, mask), mask);
}

/* One scale ---------------------------------------------------------------------------------- */

ALWAYS_INLINE void q1_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t i = 0; i < 8; i++) /* 0 or 255 becomes -1 or 1 */
        put_16(out + ELEMENT(16 * i),
               less(vandq_u8(spread_bits(block_u16(b + 2 + 2 * i)), vdupq_n_u8(2)), 1), d);
}
ALWAYS_INLINE void q2_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint8x16_t q = load_16(b + 2);
    const uint8x16_t q0 = less(quarters(q, 0), 1), q1 = less(quarters(q, 1), 1);
    const uint8x16_t q2 = less(quarters(q, 2), 1), q3 = less(quarters(q, 3), 1);
    const uint16x8_t low01 = vreinterpretq_u16_u8(vzip1q_u8(q0, q1));
    const uint16x8_t high01 = vreinterpretq_u16_u8(vzip2q_u8(q0, q1));
    const uint16x8_t low23 = vreinterpretq_u16_u8(vzip1q_u8(q2, q3));
    const uint16x8_t high23 = vreinterpretq_u16_u8(vzip2q_u8(q2, q3));
    put_16(out, vreinterpretq_u8_u16(vzip1q_u16(low01, low23)), d);
    put_16(out + ELEMENT(16), vreinterpretq_u8_u16(vzip2q_u16(low01, low23)), d);
    put_16(out + ELEMENT(32), vreinterpretq_u8_u16(vzip1q_u16(high01, high23)), d);
    put_16(out + ELEMENT(48), vreinterpretq_u8_u16(vzip2q_u16(high01, high23)), d);
}
ALWAYS_INLINE void q4_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint8x16_t q = load_16(b + 2);
    put_16(out, less(low_nibbles(q), 8), d);
    put_16(out + ELEMENT(16), less(high_nibbles(q), 8), d);
}
ALWAYS_INLINE void q4_1_block(const uint8_t *b, char *out)
{
    const float d = block_half(b), m = block_half(b + 2);
    const uint8x16_t q = load_16(b + 4);
    put_16_plus(out, low_nibbles(q), d, m);
    put_16_plus(out + ELEMENT(16), high_nibbles(q), d, m);
}
/* Nibbles with a fifth bit. */
ALWAYS_INLINE uint8x16_t with_fifth(uint8x16_t nibbles, uint32_t bits)
{
    return vorrq_u8(nibbles, vandq_u8(spread_bits(bits), vdupq_n_u8(16)));
}
ALWAYS_INLINE void q5_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint8x16_t q = load_16(b + 6);
    put_16(out, less(with_fifth(low_nibbles(q), block_u16(b + 2)), 16), d);
    put_16(out + ELEMENT(16), less(with_fifth(high_nibbles(q), block_u16(b + 4)), 16), d);
}
ALWAYS_INLINE void q5_1_block(const uint8_t *b, char *out)
{
    const float d = block_half(b), m = block_half(b + 2);
    const uint8x16_t q = load_16(b + 8);
    put_16_plus(out, with_fifth(low_nibbles(q), block_u16(b + 4)), d, m);
    put_16_plus(out + ELEMENT(16), with_fifth(high_nibbles(q), block_u16(b + 6)), d, m);
}
ALWAYS_INLINE void q8_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    put_16(out, load_16(b + 2), d);
    put_16(out + ELEMENT(16), load_16(b + 18), d);
}
ALWAYS_INLINE void iq4_nl_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint8x16_t q = load_16(b + 2);
    put_16(out, looked_up(iq4_values, low_nibbles(q)), d);
    put_16(out + ELEMENT(16), looked_up(iq4_values, high_nibbles(q)), d);
}
ALWAYS_INLINE void mxfp4_block(const uint8_t *b, char *out)
{
    const float d = block_float(b[0] < 2 ? UINT32_C(0x200000) << b[0] : (b[0] - 1u) << 23);
    const uint8x16_t q = load_16(b + 1);
    put_16(out, looked_up(fp4_values, low_nibbles(q)), d);
    put_16(out + ELEMENT(16), looked_up(fp4_values, high_nibbles(q)), d);
}
/* An e4m3 code, moved into an f16, is its value / 256 there, subnormals too; half of it is wanted.
 */
ALWAYS_INLINE void nvfp4_block(const uint8_t *b, char *out)
{
    for (size_t part = 0; part < 4; part++) {
        const uint16_t half = (uint16_t)((b[part] & 127) << 7);
        const float d = b[part] == 127 ? 0.0f : float_of_half(half) * 128.0f;
        put_16(out + ELEMENT(16 * part), looked_up(fp4_values, nibbles_of_8(b + 4 + 8 * part)), d);
    }
}

/* 256 elements, a scale for every 16 or 32 --------------------------------------------------- */

ALWAYS_INLINE void q2_k_block(const uint8_t *b, char *out)
{
    const uint8x16_t scales = load_16(b);
    float scale[16], plus[16];
    put_16((char *)scale, low_nibbles(scales), block_half(b + 80));
    put_16((char *)plus, high_nibbles(scales), -block_half(b + 82));
    for (size_t i = 0; i < 16; i++) {
        const uint8x16_t q = load_16(b + 16 + 32 * (i / 8) + 16 * (i % 2));
        put_16_plus(out + ELEMENT(16 * i), quarters(q, i / 2 % 4), scale[i], plus[i]);
    }
}
ALWAYS_INLINE void q3_k_block(const uint8_t *b, char *out)
{
    static const int32_t fields[4] = { 0, -2, -4, -6 };
    /* group g has its upper two bits in byte g % 4, field g / 4 */
    const uint32x4_t high = vshlq_u32(vdupq_n_u32(block_u32(b + 104)), vld1q_s32(fields));
    const uint8x16_t upper = vshlq_n_u8(vandq_u8(vreinterpretq_u8_u32(high), vdupq_n_u8(3)), 4);
    float scale[16];
    put_16((char *)scale, less(vorrq_u8(nibbles_of_8(b + 96), upper), 32), block_half(b + 108));
    for (size_t i = 0; i < 16; i++) {
        const uint8x16_t q = quarters(load_16(b + 32 + 32 * (i / 8) + 16 * (i % 2)), i / 2 % 4);
        const uint8x16_t third = bits_of_bytes(load_16(b + 16 * (i % 2)), i / 2, 4);
        put_16(out + ELEMENT(16 * i), less(vorrq_u8(q, third), 4), scale[i]);
    }
}
/* The 12 bytes of eight scales and eight minima, 6 bits each: scale[j] and plus[8 + j]. */
ALWAYS_INLINE void scales_of_8(const uint8_t *b, float scale[16], float plus[16])
{
    const uint32_t first = block_u32(b + 4), second = block_u32(b + 8), third = block_u32(b + 12);
    const uint32_t words[4] = {
        first & 0x3f3f3f3f,
        (third & 0x0f0f0f0f) | (first >> 2 & 0x30303030),
        second & 0x3f3f3f3f,
        (third >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030),
    };
    const uint8x16_t codes = load_16(words);
    put_16((char *)scale, codes, block_half(b));
    put_16((char *)plus, codes, -block_half(b + 2));
}
ALWAYS_INLINE void q4_k_block(const uint8_t *b, char *out)
{
    float scale[16], plus[16];
    scales_of_8(b, scale, plus);
    for (size_t j = 0; j < 8; j += 2, out += ELEMENT(64)) {
        const uint8x16_t q = load_16(b + 16 + 16 * j), r = load_16(b + 32 + 16 * j);
        put_16_plus(out, low_nibbles(q), scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(16), low_nibbles(r), scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(32), high_nibbles(q), scale[j + 1], plus[9 + j]);
        put_16_plus(out + ELEMENT(48), high_nibbles(r), scale[j + 1], plus[9 + j]);
    }
}
ALWAYS_INLINE void q5_k_block(const uint8_t *b, char *out)
{
    const uint8x16_t q_fifth = load_16(b + 16), r_fifth = load_16(b + 32);
    float scale[16], plus[16];
    scales_of_8(b, scale, plus);
    for (size_t j = 0; j < 8; j++) {
        const uint8x16_t q = load_16(b + 48 + 32 * (j / 2)), r = load_16(b + 64 + 32 * (j / 2));
        const uint8x16_t q_low = j % 2 ? high_nibbles(q) : low_nibbles(q);
        const uint8x16_t r_low = j % 2 ? high_nibbles(r) : low_nibbles(r);
        put_16_plus(out + ELEMENT(32 * j), vorrq_u8(q_low, bits_of_bytes(q_fifth, j, 16)), scale[j],
                    plus[8 + j]);
        put_16_plus(out + ELEMENT(32 * j + 16), vorrq_u8(r_low, bits_of_bytes(r_fifth, j, 16)),
                    scale[j], plus[8 + j]);
    }
}
ALWAYS_INLINE void q6_k_block(const uint8_t *b, char *out)
{
    float scale[16];
    put_16((char *)scale, load_16(b + 192), block_half(b + 208));
    for (size_t i = 0; i < 16; i++) { /* i / 8: half; i / 4 % 2: nibble; i / 2 % 4: field */
        const uint8x16_t q = load_16(b + 64 * (i / 8) + 16 * (i % 4));
        const uint8x16_t low = i / 4 % 2 ? high_nibbles(q) : low_nibbles(q);
        const uint8x16_t high = quarters(load_16(b + 128 + 32 * (i / 8) + 16 * (i % 2)), i / 2 % 4);
        put_16(out + ELEMENT(16 * i), less(vorrq_u8(low, vshlq_n_u8(high, 4)), 32), scale[i]);
    }
}
ALWAYS_INLINE void iq4_xs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint32_t low = block_u32(b + 4), high = block_u16(b + 2);
    for (size_t j = 0; j < 8; j++) {
        const uint32_t code = (low >> 4 * j & 15) | (high >> 2 * j & 3) << 4;
        const float scale = d * (float)((int)code - 32);
        const uint8x16_t q = load_16(b + 8 + 16 * j);
        put_16(out + ELEMENT(32 * j), looked_up(iq4_values, low_nibbles(q)), scale);
        put_16(out + ELEMENT(32 * j + 16), looked_up(iq4_values, high_nibbles(q)), scale);
    }
}

/* Ternary ------------------------------------------------------------------------------------ */

ALWAYS_INLINE uint8x16_t times_3(uint8x16_t bytes)
{
    return vaddq_u8(bytes, vaddq_u8(bytes, bytes));
}
/* The first digit of base 3 after the point, less one: (byte * 3 >> 8) - 1. */
ALWAYS_INLINE uint8x16_t first_digits(uint8x16_t bytes)
{
    const uint16x8_t low = vmull_u8(vget_low_u8(bytes), vdup_n_u8(3));
    const uint16x8_t high = vmull_high_u8(bytes, vdupq_n_u8(3));
    return less(vshrn_high_n_u16(vshrn_n_u16(low, 8), high, 8), 1);
}
ALWAYS_INLINE void tq1_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b + 52);
    uint8x16_t first = load_16(b), second = load_16(b + 16), third = load_16(b + 32);
    for (size_t n = 0; n < 5; n++) {
        put_16(out + ELEMENT(32 * n), first_digits(first), d);
        put_16(out + ELEMENT(32 * n + 16), first_digits(second), d);
        put_16(out + ELEMENT(160 + 16 * n), first_digits(third), d);
        first = times_3(first);
        second = times_3(second);
        third = times_3(third);
    }
    /* four bytes with four digits each */
    static const uint8_t power[16] = { 1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27 };
    const uint8x16_t last = vreinterpretq_u8_u32(vdupq_n_u32(block_u32(b + 48)));
    put_16(out + ELEMENT(240), first_digits(vmulq_u8(last, load_16(power))), d);
}
ALWAYS_INLINE void tq2_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b + 64);
    for (size_t i = 0; i < 16; i++) {
        const uint8x16_t q = load_16(b + 32 * (i / 8) + 16 * (i % 2));
        put_16(out + ELEMENT(16 * i), less(quarters(q, i / 2 % 4), 1), d);
    }
}

/* Grids: two groups of eight elements at a time, j = 0 to 15 --------------------------------- */

/* Two groups' signs, seven bits each in `bits`; the eighth makes the number of signs even. */
ALWAYS_INLINE uint32_t signs_of_7(uint32_t bits)
{
    const uint32_t low = bits & 127, high = bits >> 7 & 127;
    return low | (uint32_t)__builtin_parity(low) << 7 | high << 8 |
           (uint32_t)__builtin_parity(high) << 15;
}
ALWAYS_INLINE uint8x16_t two_entries(const uint64_t *grid, uint32_t first, uint32_t second)
{
    return vcombine_u8(vcreate_u8(grid[first]), vcreate_u8(grid[second]));
}
ALWAYS_INLINE uint8x16_t four_entries(const uint32_t *grid, const uint8_t *index,
                                      uint32_t ninth_bits)
{
    const uint32_t entries[4] = {
        grid[index[0] | (ninth_bits << 8 & 256)],
        grid[index[1] | (ninth_bits << 7 & 256)],
        grid[index[2] | (ninth_bits << 6 & 256)],
        grid[index[3] | (ninth_bits << 5 & 256)],
    };
    return load_16(entries);
}
ALWAYS_INLINE void iq2_xxs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint8_t *part = b + 2 + 8 * (j / 2), *index = part + 2 * (j % 2);
        const uint32_t a = block_u32(part + 4);
        const float scale = d * (0.5f + (float)(int)(a >> 28)) * 0.25f;
        const uint8x16_t codes = two_entries(wte__grid_iq2_xxs, index[0], index[1]);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs_of_7(a >> 14 * (j % 2))), scale);
    }
}
ALWAYS_INLINE float scale_iq2(float d, const uint8_t *scales, size_t j)
{
    return d * (0.5f + (float)(scales[j / 2] >> 4 * (j % 2) & 15)) * 0.25f;
}
ALWAYS_INLINE void iq2_xs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint32_t q = block_u32(b + 2 + 4 * j), first = q & 511, second = q >> 16 & 511;
        const uint32_t signs = signs_of_7((q >> 9 & 127) | q >> 25 << 7);
        const uint8x16_t codes = two_entries(wte__grid_iq2_xs, first, second);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs), scale_iq2(d, b + 66, j));
    }
}
ALWAYS_INLINE void iq2_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint32_t high = (uint32_t)b[66 + j / 2] >> 4 * (j % 2);
        const uint32_t first = b[2 + 2 * j] | (high & 3) << 8;
        const uint32_t second = b[3 + 2 * j] | (high >> 2 & 3) << 8;
        const uint8x16_t codes = two_entries(wte__grid_iq2_s, first, second);
        put_16(out + ELEMENT(16 * j), with_signs(codes, block_u16(b + 34 + 2 * j)),
               scale_iq2(d, b + 74, j));
    }
}
ALWAYS_INLINE void iq3_xxs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint32_t a = block_u32(b + 66 + 4 * (j / 2));
        const float scale = d * (0.5f + (float)(int)(a >> 28)) * 0.5f;
        const uint8x16_t codes = four_entries(wte__grid_iq3_xxs, b + 2 + 4 * j, 0);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs_of_7(a >> 14 * (j % 2))), scale);
    }
}
ALWAYS_INLINE void iq3_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const float scale = d * (float)(1 + 2 * (b[106 + j / 4] >> 4 * (j / 2 % 2) & 15));
        const uint32_t ninth_bits = (uint32_t)b[66 + j / 2] >> 4 * (j % 2);
        const uint8x16_t codes = four_entries(wte__grid_iq3_s, b + 2 + 4 * j, ninth_bits);
        put_16(out + ELEMENT(16 * j), with_signs(codes, block_u16(b + 74 + 2 * j)), scale);
    }
}
/* -1, 0 or 1, eight times, plus or minus one: with an eighth of the scale. */
ALWAYS_INLINE uint8x16_t moved(uint8x16_t grid, uint8x16_t by)
{
    return vaddq_u8(vshlq_n_u8(grid, 3), by);
}
ALWAYS_INLINE void iq1_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b) * 0.125f;
    for (size_t j = 0; j < 16; j++) {
        const uint32_t qh = block_u16(b + 34 + 2 * (j / 2)), high = qh >> 6 * (j % 2);
        const uint32_t first = b[2 + 2 * j] | (high & 7) << 8;
        const uint32_t second = b[3 + 2 * j] | (high >> 3 & 7) << 8;
        const uint8x16_t by = vdupq_n_u8(qh >> 15 ? 255 : 1);
        put_16(out + ELEMENT(16 * j), moved(two_entries(wte__grid_iq1_s, first, second), by),
               d * (float)(int)(2 * (qh >> 12 & 7) + 1));
    }
}
ALWAYS_INLINE void iq1_m_block(const uint8_t *b, char *out)
{
    static const uint64_t ones[2] = { UINT64_C(0x0101010101010101), UINT64_MAX }; /* 1 or -1 */
    const uint32_t low = block_u32(b + 48), high = block_u32(b + 52);
    const uint32_t half =
        (low >> 12 & 15) | (low >> 24 & 0xf0) | (high >> 4 & 0xf00) | (high >> 16 & 0xf000);
    const float d = float_of_half((uint16_t)half) * 0.125f;
    for (size_t j = 0; j < 16; j++) {
        const uint32_t qh = b[32 + j], word = block_u16(b + 48 + 2 * (j / 4));
        const uint32_t first = b[2 * j] | (qh & 7) << 8, second = b[2 * j + 1] | (qh >> 4 & 7) << 8;
        const uint8x16_t by = two_entries(ones, qh >> 3 & 1, qh >> 7);
        put_16(out + ELEMENT(16 * j), moved(two_entries(wte__grid_iq1_s, first, second), by),
               d * (float)(int)(2 * (word >> 3 * (j % 4) & 7) + 1));
    }
}

/* The loop over blocks: X(name, ...) of WTE_BLOCK_LIST, for an instruction set's suffix. */
#define BLOCK_KERNEL(name, isa, elements, bytes)                                                   \
    static void name##_to_f32_##isa(const void *src, void *dst, size_t n)                          \
    {                                                                                              \
        const uint8_t *block = src;                                                                \
        char *out = dst;                                                                           \
        for (; n; n--, block += (bytes), out += ELEMENT(elements)) name##_block(block, out);       \
    }
#endif
