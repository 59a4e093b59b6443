/* Decoding of blocks with AVX2 instructions, for every x86 vector width. An instruction set's file
 * defines
 *
 *     static inline void put_16(char *out, __m128i codes, float scale)
 *         16 f32 to out: code * scale, the codes being signed bytes
 *     static inline void put_16_plus(char *out, __m128i codes, float scale, float plus)
 *         the same: code * scale + plus, rounded twice
 *     static inline __m128i spread_bits(uint32_t bits)
 *         byte j all ones where bit j is set, else zero; j < 16
 *
 * and then includes this. All types come down to these: small integers are unpacked, signed, and
 * multiplied by a float. <type>_block does one block. Formulas are in block_scalar.h.
 *
 * Two ways to write a formula differently give the same bits: x - y as x + (-y), and moving a power
 * of two from one factor to the other where nothing overflows or becomes subnormal. Everything is
 * static, so that no code of one instruction set can be linked into another's. */
#ifndef WTE_SRC_NUM_BLOCK_X86_H
#define WTE_SRC_NUM_BLOCK_X86_H
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <wte/block.h>

#include "num/block_grids.h"
#include "num/block_tables.h"

#define BLOCK_INLINE static inline __attribute__((always_inline))
/* Where element i of the output lies. */
#define ELEMENT(i) (sizeof(float) * (size_t)(i))

BLOCK_INLINE uint16_t block_u16(const uint8_t *b)
{
    uint16_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
BLOCK_INLINE uint32_t block_u32(const uint8_t *b)
{
    uint32_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
BLOCK_INLINE float block_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
BLOCK_INLINE float block_half(const uint8_t *b)
{
    return _cvtsh_ss(block_u16(b));
}
BLOCK_INLINE __m128i block_8_bytes(const uint8_t *b)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)b);
}
BLOCK_INLINE __m128i block_16_bytes(const uint8_t *b)
{
    return _mm_loadu_si128((const __m128i *)(const void *)b);
}

BLOCK_INLINE __m128i low_nibbles(__m128i bytes)
{
    return _mm_and_si128(bytes, _mm_set1_epi8(15));
}
BLOCK_INLINE __m128i high_nibbles(__m128i bytes)
{
    return low_nibbles(_mm_srli_epi16(bytes, 4));
}
/* Field `at` (0 to 3) of two bits in each byte. */
BLOCK_INLINE __m128i quarters(__m128i bytes, size_t at)
{
    return _mm_and_si128(_mm_srli_epi16(bytes, (int)(2 * at)), _mm_set1_epi8(3));
}
/* Bit `at` of each byte, as the number `value` (a power of two of at most 16) or 0. */
BLOCK_INLINE __m128i bits_of_bytes(__m128i bytes, size_t at, char value)
{
    const __m128i mask = _mm_set1_epi8((char)(1 << at));
    const __m128i set = _mm_cmpeq_epi8(_mm_and_si128(bytes, mask), mask);
    return _mm_and_si128(set, _mm_set1_epi8(value));
}
BLOCK_INLINE __m128i less(__m128i codes, char offset)
{
    return _mm_sub_epi8(codes, _mm_set1_epi8(offset));
}
BLOCK_INLINE __m128i looked_up(const int8_t table[16], __m128i nibbles)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)table), nibbles);
}
BLOCK_INLINE __m128i with_signs(__m128i magnitudes, uint32_t signs)
{
    const __m128i mask = spread_bits(signs);
    return _mm_sub_epi8(_mm_xor_si128(magnitudes, mask), mask);
}

/* One scale ---------------------------------------------------------------------------------- */

BLOCK_INLINE void q1_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t i = 0; i < 8; i++) /* 0 or -1 becomes -1 or 1 */
        put_16(out + ELEMENT(16 * i),
               less(_mm_and_si128(spread_bits(block_u16(b + 2 + 2 * i)), _mm_set1_epi8(2)), 1), d);
}
BLOCK_INLINE void q2_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const __m128i q = block_16_bytes(b + 2);
    const __m128i q0 = less(quarters(q, 0), 1), q1 = less(quarters(q, 1), 1);
    const __m128i q2 = less(quarters(q, 2), 1), q3 = less(quarters(q, 3), 1);
    const __m128i low01 = _mm_unpacklo_epi8(q0, q1), high01 = _mm_unpackhi_epi8(q0, q1);
    const __m128i low23 = _mm_unpacklo_epi8(q2, q3), high23 = _mm_unpackhi_epi8(q2, q3);
    put_16(out, _mm_unpacklo_epi16(low01, low23), d);
    put_16(out + ELEMENT(16), _mm_unpackhi_epi16(low01, low23), d);
    put_16(out + ELEMENT(32), _mm_unpacklo_epi16(high01, high23), d);
    put_16(out + ELEMENT(48), _mm_unpackhi_epi16(high01, high23), d);
}
BLOCK_INLINE void q4_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const __m128i q = block_16_bytes(b + 2);
    put_16(out, less(low_nibbles(q), 8), d);
    put_16(out + ELEMENT(16), less(high_nibbles(q), 8), d);
}
BLOCK_INLINE void q4_1_block(const uint8_t *b, char *out)
{
    const float d = block_half(b), m = block_half(b + 2);
    const __m128i q = block_16_bytes(b + 4);
    put_16_plus(out, low_nibbles(q), d, m);
    put_16_plus(out + ELEMENT(16), high_nibbles(q), d, m);
}
/* Nibbles with a fifth bit. */
BLOCK_INLINE __m128i with_fifth(__m128i nibbles, uint32_t bits)
{
    return _mm_or_si128(nibbles, _mm_and_si128(spread_bits(bits), _mm_set1_epi8(16)));
}
BLOCK_INLINE void q5_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const __m128i q = block_16_bytes(b + 6);
    put_16(out, less(with_fifth(low_nibbles(q), block_u16(b + 2)), 16), d);
    put_16(out + ELEMENT(16), less(with_fifth(high_nibbles(q), block_u16(b + 4)), 16), d);
}
BLOCK_INLINE void q5_1_block(const uint8_t *b, char *out)
{
    const float d = block_half(b), m = block_half(b + 2);
    const __m128i q = block_16_bytes(b + 8);
    put_16_plus(out, with_fifth(low_nibbles(q), block_u16(b + 4)), d, m);
    put_16_plus(out + ELEMENT(16), with_fifth(high_nibbles(q), block_u16(b + 6)), d, m);
}
BLOCK_INLINE void q8_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    put_16(out, block_16_bytes(b + 2), d);
    put_16(out + ELEMENT(16), block_16_bytes(b + 18), d);
}
BLOCK_INLINE void iq4_nl_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const __m128i q = block_16_bytes(b + 2);
    put_16(out, looked_up(iq4_values, low_nibbles(q)), d);
    put_16(out + ELEMENT(16), looked_up(iq4_values, high_nibbles(q)), d);
}
BLOCK_INLINE void mxfp4_block(const uint8_t *b, char *out)
{
    const float d = block_float(b[0] < 2 ? UINT32_C(0x200000) << b[0] : (b[0] - 1u) << 23);
    const __m128i q = block_16_bytes(b + 1);
    put_16(out, looked_up(fp4_values, low_nibbles(q)), d);
    put_16(out + ELEMENT(16), looked_up(fp4_values, high_nibbles(q)), d);
}
/* An e4m3 code, moved into an f16, is its value / 256 there, subnormals too; half of it is wanted.
 */
BLOCK_INLINE void nvfp4_block(const uint8_t *b, char *out)
{
    for (size_t part = 0; part < 4; part++) {
        const uint16_t half = (uint16_t)((b[part] & 127) << 7);
        const float d = b[part] == 127 ? 0.0f : _cvtsh_ss(half) * 128.0f;
        const __m128i q = block_8_bytes(b + 4 + 8 * part);
        const __m128i nibbles = _mm_unpacklo_epi64(low_nibbles(q), high_nibbles(q));
        put_16(out + ELEMENT(16 * part), looked_up(fp4_values, nibbles), d);
    }
}

/* 256 elements, a scale for every 16 or 32 --------------------------------------------------- */

BLOCK_INLINE void q2_k_block(const uint8_t *b, char *out)
{
    const __m128i scales = block_16_bytes(b);
    float scale[16], plus[16];
    put_16((char *)scale, low_nibbles(scales), block_half(b + 80));
    put_16((char *)plus, high_nibbles(scales), -block_half(b + 82));
    for (size_t i = 0; i < 16; i++) {
        const __m128i q = block_16_bytes(b + 16 + 32 * (i / 8) + 16 * (i % 2));
        put_16_plus(out + ELEMENT(16 * i), quarters(q, i / 2 % 4), scale[i], plus[i]);
    }
}
BLOCK_INLINE void q3_k_block(const uint8_t *b, char *out)
{
    const __m128i s = block_8_bytes(b + 96), high = _mm_set1_epi32((int)block_u32(b + 104));
    /* group g has its upper two bits in byte g % 4, field g / 4 */
    const __m128i fields = _mm_srlv_epi32(high, _mm_set_epi32(6, 4, 2, 0));
    const __m128i upper = _mm_slli_epi16(_mm_and_si128(fields, _mm_set1_epi8(3)), 4);
    const __m128i lower = _mm_unpacklo_epi64(low_nibbles(s), high_nibbles(s));
    float scale[16];
    put_16((char *)scale, less(_mm_or_si128(lower, upper), 32), block_half(b + 108));
    for (size_t i = 0; i < 16; i++) {
        const __m128i q = quarters(block_16_bytes(b + 32 + 32 * (i / 8) + 16 * (i % 2)), i / 2 % 4);
        const __m128i third = bits_of_bytes(block_16_bytes(b + 16 * (i % 2)), i / 2, 4);
        put_16(out + ELEMENT(16 * i), less(_mm_or_si128(q, third), 4), scale[i]);
    }
}
/* The 12 bytes of eight scales and eight minima, 6 bits each: scale[j] and plus[8 + j]. */
BLOCK_INLINE void scales_of_8(const uint8_t *b, float scale[16], float plus[16])
{
    const uint32_t first = block_u32(b + 4), second = block_u32(b + 8), third = block_u32(b + 12);
    const uint32_t scale_high = (third & 0x0f0f0f0f) | (first >> 2 & 0x30303030);
    const uint32_t minimum_high = (third >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030);
    const __m128i codes = _mm_set_epi32((int)minimum_high, (int)(second & 0x3f3f3f3f),
                                        (int)scale_high, (int)(first & 0x3f3f3f3f));
    put_16((char *)scale, codes, block_half(b));
    put_16((char *)plus, codes, -block_half(b + 2));
}
BLOCK_INLINE void q4_k_block(const uint8_t *b, char *out)
{
    float scale[16], plus[16];
    scales_of_8(b, scale, plus);
    for (size_t j = 0; j < 8; j += 2, out += ELEMENT(64)) {
        const __m128i q = block_16_bytes(b + 16 + 16 * j), r = block_16_bytes(b + 32 + 16 * j);
        put_16_plus(out, low_nibbles(q), scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(16), low_nibbles(r), scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(32), high_nibbles(q), scale[j + 1], plus[9 + j]);
        put_16_plus(out + ELEMENT(48), high_nibbles(r), scale[j + 1], plus[9 + j]);
    }
}
BLOCK_INLINE void q5_k_block(const uint8_t *b, char *out)
{
    const __m128i q_fifth = block_16_bytes(b + 16), r_fifth = block_16_bytes(b + 32);
    float scale[16], plus[16];
    scales_of_8(b, scale, plus);
    for (size_t j = 0; j < 8; j++) {
        const __m128i q = block_16_bytes(b + 48 + 32 * (j / 2));
        const __m128i r = block_16_bytes(b + 64 + 32 * (j / 2));
        const __m128i q_low = j % 2 ? high_nibbles(q) : low_nibbles(q);
        const __m128i r_low = j % 2 ? high_nibbles(r) : low_nibbles(r);
        put_16_plus(out + ELEMENT(32 * j), _mm_or_si128(q_low, bits_of_bytes(q_fifth, j, 16)),
                    scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(32 * j + 16), _mm_or_si128(r_low, bits_of_bytes(r_fifth, j, 16)),
                    scale[j], plus[8 + j]);
    }
}
BLOCK_INLINE void q6_k_block(const uint8_t *b, char *out)
{
    float scale[16];
    put_16((char *)scale, block_16_bytes(b + 192), block_half(b + 208));
    for (size_t i = 0; i < 16; i++) { /* i / 8: half; i / 4 % 2: nibble; i / 2 % 4: field */
        const __m128i q = block_16_bytes(b + 64 * (i / 8) + 16 * (i % 4));
        const __m128i low = i / 4 % 2 ? high_nibbles(q) : low_nibbles(q);
        const __m128i high =
            quarters(block_16_bytes(b + 128 + 32 * (i / 8) + 16 * (i % 2)), i / 2 % 4);
        const __m128i code = _mm_or_si128(low, _mm_slli_epi16(high, 4));
        put_16(out + ELEMENT(16 * i), less(code, 32), scale[i]);
    }
}
BLOCK_INLINE void iq4_xs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint32_t low = block_u32(b + 4), high = block_u16(b + 2);
    for (size_t j = 0; j < 8; j++) {
        const uint32_t code = (low >> 4 * j & 15) | (high >> 2 * j & 3) << 4;
        const float scale = d * (float)((int)code - 32);
        const __m128i q = block_16_bytes(b + 8 + 16 * j);
        put_16(out + ELEMENT(32 * j), looked_up(iq4_values, low_nibbles(q)), scale);
        put_16(out + ELEMENT(32 * j + 16), looked_up(iq4_values, high_nibbles(q)), scale);
    }
}

/* Ternary ------------------------------------------------------------------------------------ */

BLOCK_INLINE __m128i times_3(__m128i bytes)
{
    return _mm_add_epi8(bytes, _mm_add_epi8(bytes, bytes));
}
/* The first digit of base 3 after the point, less one: (byte * 3 >> 8) - 1. */
BLOCK_INLINE __m128i first_digits(__m128i bytes)
{
    const __m128i zero = _mm_setzero_si128(), three = _mm_set1_epi16(3);
    const __m128i low = _mm_mullo_epi16(_mm_unpacklo_epi8(bytes, zero), three);
    const __m128i high = _mm_mullo_epi16(_mm_unpackhi_epi8(bytes, zero), three);
    return less(_mm_packus_epi16(_mm_srli_epi16(low, 8), _mm_srli_epi16(high, 8)), 1);
}
BLOCK_INLINE void tq1_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b + 52);
    __m128i first = block_16_bytes(b), second = block_16_bytes(b + 16);
    __m128i third = block_16_bytes(b + 32);
    for (size_t n = 0; n < 5; n++) {
        put_16(out + ELEMENT(32 * n), first_digits(first), d);
        put_16(out + ELEMENT(32 * n + 16), first_digits(second), d);
        put_16(out + ELEMENT(160 + 16 * n), first_digits(third), d);
        first = times_3(first);
        second = times_3(second);
        third = times_3(third);
    }
    /* four bytes with four digits each */
    const uint32_t last = block_u32(b + 48);
    const __m128i once = _mm_cvtsi32_si128((int)last), thrice = times_3(once);
    const __m128i nine = times_3(thrice), rest = times_3(nine);
    const __m128i all =
        _mm_unpacklo_epi64(_mm_unpacklo_epi32(once, thrice), _mm_unpacklo_epi32(nine, rest));
    put_16(out + ELEMENT(240), first_digits(all), d);
}
BLOCK_INLINE void tq2_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b + 64);
    for (size_t i = 0; i < 16; i++) {
        const __m128i q = block_16_bytes(b + 32 * (i / 8) + 16 * (i % 2));
        put_16(out + ELEMENT(16 * i), less(quarters(q, i / 2 % 4), 1), d);
    }
}

/* Grids: two groups of eight elements at a time, j = 0 to 15 --------------------------------- */

/* Two groups' signs, seven bits each in `bits`; the eighth makes the number of signs even. */
BLOCK_INLINE uint32_t signs_of_7(uint32_t bits)
{
    const uint32_t low = bits & 127, high = bits >> 7 & 127;
    return low | (uint32_t)__builtin_parity(low) << 7 | high << 8 |
           (uint32_t)__builtin_parity(high) << 15;
}
BLOCK_INLINE __m128i two_entries(const uint64_t *grid, uint32_t first, uint32_t second)
{
    return _mm_set_epi64x((long long)grid[second], (long long)grid[first]);
}
BLOCK_INLINE __m128i four_entries(const uint32_t *grid, const uint8_t *index, uint32_t ninth_bits)
{
    return _mm_set_epi32((int)grid[index[3] | (ninth_bits << 5 & 256)],
                         (int)grid[index[2] | (ninth_bits << 6 & 256)],
                         (int)grid[index[1] | (ninth_bits << 7 & 256)],
                         (int)grid[index[0] | (ninth_bits << 8 & 256)]);
}
BLOCK_INLINE void iq2_xxs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint8_t *part = b + 2 + 8 * (j / 2), *index = part + 2 * (j % 2);
        const uint32_t a = block_u32(part + 4);
        const float scale = d * (0.5f + (float)(int)(a >> 28)) * 0.25f;
        const __m128i codes = two_entries(wte__grid_iq2_xxs, index[0], index[1]);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs_of_7(a >> 14 * (j % 2))), scale);
    }
}
BLOCK_INLINE float scale_iq2(float d, const uint8_t *scales, size_t j)
{
    return d * (0.5f + (float)(scales[j / 2] >> 4 * (j % 2) & 15)) * 0.25f;
}
BLOCK_INLINE void iq2_xs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint32_t q = block_u32(b + 2 + 4 * j), first = q & 511, second = q >> 16 & 511;
        const uint32_t signs = signs_of_7((q >> 9 & 127) | q >> 25 << 7);
        const __m128i codes = two_entries(wte__grid_iq2_xs, first, second);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs), scale_iq2(d, b + 66, j));
    }
}
BLOCK_INLINE void iq2_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint32_t high = (uint32_t)b[66 + j / 2] >> 4 * (j % 2);
        const uint32_t first = b[2 + 2 * j] | (high & 3) << 8;
        const uint32_t second = b[3 + 2 * j] | (high >> 2 & 3) << 8;
        const __m128i codes = two_entries(wte__grid_iq2_s, first, second);
        put_16(out + ELEMENT(16 * j), with_signs(codes, block_u16(b + 34 + 2 * j)),
               scale_iq2(d, b + 74, j));
    }
}
BLOCK_INLINE void iq3_xxs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint32_t a = block_u32(b + 66 + 4 * (j / 2));
        const float scale = d * (0.5f + (float)(int)(a >> 28)) * 0.5f;
        const __m128i codes = four_entries(wte__grid_iq3_xxs, b + 2 + 4 * j, 0);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs_of_7(a >> 14 * (j % 2))), scale);
    }
}
BLOCK_INLINE void iq3_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const float scale = d * (float)(1 + 2 * (b[106 + j / 4] >> 4 * (j / 2 % 2) & 15));
        const uint32_t ninth_bits = (uint32_t)b[66 + j / 2] >> 4 * (j % 2);
        const __m128i codes = four_entries(wte__grid_iq3_s, b + 2 + 4 * j, ninth_bits);
        put_16(out + ELEMENT(16 * j), with_signs(codes, block_u16(b + 74 + 2 * j)), scale);
    }
}
/* -1, 0 or 1, eight times, plus or minus one: with an eighth of the scale. */
BLOCK_INLINE __m128i moved(__m128i grid, __m128i by)
{
    const __m128i eightfold = _mm_and_si128(_mm_slli_epi16(grid, 3), _mm_set1_epi8((char)0xf8));
    return _mm_add_epi8(eightfold, by);
}
BLOCK_INLINE void iq1_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b) * 0.125f;
    for (size_t j = 0; j < 16; j++) {
        const uint32_t qh = block_u16(b + 34 + 2 * (j / 2)), high = qh >> 6 * (j % 2);
        const uint32_t first = b[2 + 2 * j] | (high & 7) << 8;
        const uint32_t second = b[3 + 2 * j] | (high >> 3 & 7) << 8;
        const __m128i by = _mm_set1_epi8(qh >> 15 ? -1 : 1);
        put_16(out + ELEMENT(16 * j), moved(two_entries(wte__grid_iq1_s, first, second), by),
               d * (float)(int)(2 * (qh >> 12 & 7) + 1));
    }
}
BLOCK_INLINE void iq1_m_block(const uint8_t *b, char *out)
{
    static const uint64_t ones[2] = { UINT64_C(0x0101010101010101), UINT64_MAX }; /* 1 or -1 */
    const uint32_t low = block_u32(b + 48), high = block_u32(b + 52);
    const uint32_t half =
        (low >> 12 & 15) | (low >> 24 & 0xf0) | (high >> 4 & 0xf00) | (high >> 16 & 0xf000);
    const float d = _cvtsh_ss((uint16_t)half) * 0.125f;
    for (size_t j = 0; j < 16; j++) {
        const uint32_t qh = b[32 + j], word = block_u16(b + 48 + 2 * (j / 4));
        const uint32_t first = b[2 * j] | (qh & 7) << 8, second = b[2 * j + 1] | (qh >> 4 & 7) << 8;
        const __m128i by = two_entries(ones, qh >> 3 & 1, qh >> 7);
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
