/* Decoding of blocks for any instruction set. Its file defines
 *
 *     bytes_16               16 bytes: the codes of as many elements
 *     bytes_load, bytes_all, bytes_words, bytes_longs      from memory, a byte, 4 or 2 integers
 *     bytes_and, bytes_or, bytes_xor, bytes_add, bytes_sub
 *     bytes_up(x, n)         times 2^n, where no byte overflows
 *     bytes_down(x, n)       each byte's upper bits n bits lower; what is above them is anything
 *     high_nibbles(x)        the same of 4 bits, with zeros above
 *     bytes_having(x, bit)   all ones where the bit is set, else zero
 *     bytes_at_least(x, y)   the same where x >= y, both without a sign
 *     bytes_looked_up(table, x)      table[x], x < 16
 *     bytes_braid(x)         of four in turn byte 0, byte 1 and so on, in their place
 *     half_to_f32(bits)
 *     put_16(out, codes, scale)      16 f32: code * scale, the codes being signed bytes
 *     put_16_plus(out, codes, scale, plus)      the same: code * scale + plus, rounded twice
 *     spread_bits(bits)      byte j all ones where bit j is set, else zero; j < 16
 *
 * and then includes this. All types come down to these: small integers are unpacked, signed, and
 * multiplied by a float. <type>_block does one block. Formulas are in block_scalar.h.
 *
 * Two ways to write a formula differently give the same bits: x - y as x + (-y), and moving a power
 * of two from one factor to the other where nothing overflows or becomes subnormal. */
#ifndef WTE_SRC_NUM_BLOCK_VECTORS_H
#define WTE_SRC_NUM_BLOCK_VECTORS_H
#include <stdint.h>
#include <string.h>
#include <wte/block.h>

#include "num/block_grids.h"
#include "num/block_tables.h"
#include "num/simd_macros.h"

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
ALWAYS_INLINE float block_half(const uint8_t *b)
{
    return half_to_f32(block_u16(b));
}

ALWAYS_INLINE bytes_16 low_nibbles(bytes_16 bytes)
{
    return bytes_and(bytes, bytes_all(15));
}
/* The low nibbles of eight bytes, then their high ones. */
ALWAYS_INLINE bytes_16 nibbles_of_8(const uint8_t *b)
{
    uint64_t q;
    memcpy(&q, b, sizeof q);
    return low_nibbles(bytes_longs(q, q >> 4));
}
/* Field `at` (0 to 3) of two bits in each byte. */
ALWAYS_INLINE bytes_16 quarters(bytes_16 bytes, size_t at)
{
    return bytes_and(bytes_down(bytes, 2 * at), bytes_all(3));
}
/* Bit `at` of each byte, as the number `value` or 0. */
ALWAYS_INLINE bytes_16 bits_of_bytes(bytes_16 bytes, size_t at, uint8_t value)
{
    return bytes_and(bytes_having(bytes, (uint8_t)(1u << at)), bytes_all(value));
}
ALWAYS_INLINE bytes_16 less(bytes_16 codes, uint8_t offset)
{
    return bytes_sub(codes, bytes_all(offset));
}
ALWAYS_INLINE bytes_16 with_signs(bytes_16 magnitudes, uint32_t signs)
{
    const bytes_16 mask = spread_bits(signs);
    return bytes_sub(bytes_xor(magnitudes, mask), mask);
}

/* One scale ---------------------------------------------------------------------------------- */

ALWAYS_INLINE void q1_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t i = 0; i < 8; i++) /* 0 or 255 becomes -1 or 1 */
        put_16(out + ELEMENT(16 * i),
               less(bytes_and(spread_bits(block_u16(b + 2 + 2 * i)), bytes_all(2)), 1), d);
}
ALWAYS_INLINE void q2_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const bytes_16 q = bytes_load(b + 2);
    bytes_16 part[4];
    UNROLLED
    for (size_t at = 0; at < 4; at++) part[at] = less(quarters(q, at), 1);
    bytes_braid(part);
    UNROLLED
    for (size_t i = 0; i < 4; i++) put_16(out + ELEMENT(16 * i), part[i], d);
}
ALWAYS_INLINE void q4_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const bytes_16 q = bytes_load(b + 2);
    put_16(out, less(low_nibbles(q), 8), d);
    put_16(out + ELEMENT(16), less(high_nibbles(q), 8), d);
}
ALWAYS_INLINE void q4_1_block(const uint8_t *b, char *out)
{
    const float d = block_half(b), m = block_half(b + 2);
    const bytes_16 q = bytes_load(b + 4);
    put_16_plus(out, low_nibbles(q), d, m);
    put_16_plus(out + ELEMENT(16), high_nibbles(q), d, m);
}
/* Nibbles with a fifth bit. */
ALWAYS_INLINE bytes_16 with_fifth(bytes_16 nibbles, uint32_t bits)
{
    return bytes_or(nibbles, bytes_and(spread_bits(bits), bytes_all(16)));
}
ALWAYS_INLINE void q5_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const bytes_16 q = bytes_load(b + 6);
    put_16(out, less(with_fifth(low_nibbles(q), block_u16(b + 2)), 16), d);
    put_16(out + ELEMENT(16), less(with_fifth(high_nibbles(q), block_u16(b + 4)), 16), d);
}
ALWAYS_INLINE void q5_1_block(const uint8_t *b, char *out)
{
    const float d = block_half(b), m = block_half(b + 2);
    const bytes_16 q = bytes_load(b + 8);
    put_16_plus(out, with_fifth(low_nibbles(q), block_u16(b + 4)), d, m);
    put_16_plus(out + ELEMENT(16), with_fifth(high_nibbles(q), block_u16(b + 6)), d, m);
}
ALWAYS_INLINE void q8_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    put_16(out, bytes_load(b + 2), d);
    put_16(out + ELEMENT(16), bytes_load(b + 18), d);
}
ALWAYS_INLINE void iq4_nl_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const bytes_16 q = bytes_load(b + 2);
    put_16(out, bytes_looked_up(iq4_values, low_nibbles(q)), d);
    put_16(out + ELEMENT(16), bytes_looked_up(iq4_values, high_nibbles(q)), d);
}
ALWAYS_INLINE void mxfp4_block(const uint8_t *b, char *out)
{
    const float d = block_float(b[0] < 2 ? UINT32_C(0x200000) << b[0] : (b[0] - 1u) << 23);
    const bytes_16 q = bytes_load(b + 1);
    put_16(out, bytes_looked_up(fp4_values, low_nibbles(q)), d);
    put_16(out + ELEMENT(16), bytes_looked_up(fp4_values, high_nibbles(q)), d);
}
/* An e4m3 code, moved into an f16, is its value / 256 there, subnormals too; half of it is wanted.
 */
ALWAYS_INLINE void nvfp4_block(const uint8_t *b, char *out)
{
    for (size_t part = 0; part < 4; part++) {
        const uint16_t half = (uint16_t)((b[part] & 127) << 7);
        const float d = b[part] == 127 ? 0.0f : half_to_f32(half) * 128.0f;
        put_16(out + ELEMENT(16 * part),
               bytes_looked_up(fp4_values, nibbles_of_8(b + 4 + 8 * part)), d);
    }
}

/* 256 elements, a scale for every 16 or 32 --------------------------------------------------- */

ALWAYS_INLINE void q2_k_block(const uint8_t *b, char *out)
{
    const bytes_16 scales = bytes_load(b);
    float scale[16], plus[16];
    put_16((char *)scale, low_nibbles(scales), block_half(b + 80));
    put_16((char *)plus, high_nibbles(scales), -block_half(b + 82));
    for (size_t i = 0; i < 16; i++) {
        const bytes_16 q = bytes_load(b + 16 + 32 * (i / 8) + 16 * (i % 2));
        put_16_plus(out + ELEMENT(16 * i), quarters(q, i / 2 % 4), scale[i], plus[i]);
    }
}
ALWAYS_INLINE void q3_k_block(const uint8_t *b, char *out)
{
    /* group g has its upper two bits in byte g % 4, field g / 4 */
    const uint32_t high = block_u32(b + 104);
    const bytes_16 fields = bytes_words(high, high >> 2, high >> 4, high >> 6);
    const bytes_16 upper = bytes_up(bytes_and(fields, bytes_all(3)), 4);
    float scale[16];
    put_16((char *)scale, less(bytes_or(nibbles_of_8(b + 96), upper), 32), block_half(b + 108));
    for (size_t i = 0; i < 16; i++) {
        const bytes_16 q = quarters(bytes_load(b + 32 + 32 * (i / 8) + 16 * (i % 2)), i / 2 % 4);
        const bytes_16 third = bits_of_bytes(bytes_load(b + 16 * (i % 2)), i / 2, 4);
        put_16(out + ELEMENT(16 * i), less(bytes_or(q, third), 4), scale[i]);
    }
}
/* The 12 bytes of eight scales and eight minima, 6 bits each: scale[j] and plus[8 + j]. */
ALWAYS_INLINE void scales_of_8(const uint8_t *b, float scale[16], float plus[16])
{
    const uint32_t first = block_u32(b + 4), second = block_u32(b + 8), third = block_u32(b + 12);
    const bytes_16 codes =
        bytes_words(first & 0x3f3f3f3f, (third & 0x0f0f0f0f) | (first >> 2 & 0x30303030),
                    second & 0x3f3f3f3f, (third >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030));
    put_16((char *)scale, codes, block_half(b));
    put_16((char *)plus, codes, -block_half(b + 2));
}
ALWAYS_INLINE void q4_k_block(const uint8_t *b, char *out)
{
    float scale[16], plus[16];
    scales_of_8(b, scale, plus);
    for (size_t j = 0; j < 8; j += 2, out += ELEMENT(64)) {
        const bytes_16 q = bytes_load(b + 16 + 16 * j), r = bytes_load(b + 32 + 16 * j);
        put_16_plus(out, low_nibbles(q), scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(16), low_nibbles(r), scale[j], plus[8 + j]);
        put_16_plus(out + ELEMENT(32), high_nibbles(q), scale[j + 1], plus[9 + j]);
        put_16_plus(out + ELEMENT(48), high_nibbles(r), scale[j + 1], plus[9 + j]);
    }
}
ALWAYS_INLINE void q5_k_block(const uint8_t *b, char *out)
{
    const bytes_16 q_fifth = bytes_load(b + 16), r_fifth = bytes_load(b + 32);
    float scale[16], plus[16];
    scales_of_8(b, scale, plus);
    for (size_t j = 0; j < 8; j++) {
        const bytes_16 q = bytes_load(b + 48 + 32 * (j / 2));
        const bytes_16 r = bytes_load(b + 64 + 32 * (j / 2));
        const bytes_16 q_low = j % 2 ? high_nibbles(q) : low_nibbles(q);
        const bytes_16 r_low = j % 2 ? high_nibbles(r) : low_nibbles(r);
        put_16_plus(out + ELEMENT(32 * j), bytes_or(q_low, bits_of_bytes(q_fifth, j, 16)), scale[j],
                    plus[8 + j]);
        put_16_plus(out + ELEMENT(32 * j + 16), bytes_or(r_low, bits_of_bytes(r_fifth, j, 16)),
                    scale[j], plus[8 + j]);
    }
}
ALWAYS_INLINE void q6_k_block(const uint8_t *b, char *out)
{
    float scale[16];
    put_16((char *)scale, bytes_load(b + 192), block_half(b + 208));
    for (size_t i = 0; i < 16; i++) { /* i / 8: half; i / 4 % 2: nibble; i / 2 % 4: field */
        const bytes_16 q = bytes_load(b + 64 * (i / 8) + 16 * (i % 4));
        const bytes_16 low = i / 4 % 2 ? high_nibbles(q) : low_nibbles(q);
        const bytes_16 high =
            quarters(bytes_load(b + 128 + 32 * (i / 8) + 16 * (i % 2)), i / 2 % 4);
        const bytes_16 code = bytes_or(low, bytes_up(high, 4));
        put_16(out + ELEMENT(16 * i), less(code, 32), scale[i]);
    }
}
ALWAYS_INLINE void iq4_xs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    const uint32_t low = block_u32(b + 4), high = block_u16(b + 2);
    for (size_t j = 0; j < 8; j++) {
        const uint32_t code = (low >> 4 * j & 15) | (high >> 2 * j & 3) << 4;
        const float scale = d * (float)((int)code - 32);
        const bytes_16 q = bytes_load(b + 8 + 16 * j);
        put_16(out + ELEMENT(32 * j), bytes_looked_up(iq4_values, low_nibbles(q)), scale);
        put_16(out + ELEMENT(32 * j + 16), bytes_looked_up(iq4_values, high_nibbles(q)), scale);
    }
}

/* Ternary ------------------------------------------------------------------------------------ */

ALWAYS_INLINE bytes_16 times_3(bytes_16 bytes)
{
    return bytes_add(bytes, bytes_add(bytes, bytes));
}
/* The first digit of base 3 after the point, less one: (byte * 3 >> 8) - 1. All ones are -1. */
ALWAYS_INLINE bytes_16 first_digits(bytes_16 bytes)
{
    const bytes_16 one = bytes_at_least(bytes, 86), two = bytes_at_least(bytes, 171);
    return bytes_sub(bytes_all(255), bytes_add(one, two));
}
ALWAYS_INLINE void tq1_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b + 52);
    bytes_16 first = bytes_load(b), second = bytes_load(b + 16);
    bytes_16 third = bytes_load(b + 32);
    for (size_t n = 0; n < 5; n++) {
        put_16(out + ELEMENT(32 * n), first_digits(first), d);
        put_16(out + ELEMENT(32 * n + 16), first_digits(second), d);
        put_16(out + ELEMENT(160 + 16 * n), first_digits(third), d);
        first = times_3(first);
        second = times_3(second);
        third = times_3(third);
    }
    /* four bytes with four digits each: times 1, 3, 9 and 27 */
    const uint32_t word = block_u32(b + 48);
    bytes_16 last = bytes_words(word, word, word, word);
    last = bytes_add(last, bytes_and(bytes_add(last, last), bytes_words(0, ~0u, ~0u, ~0u)));
    last = bytes_add(last, bytes_and(bytes_add(last, last), bytes_words(0, 0, ~0u, ~0u)));
    last = bytes_add(last, bytes_and(bytes_add(last, last), bytes_words(0, 0, 0, ~0u)));
    put_16(out + ELEMENT(240), first_digits(last), d);
}
ALWAYS_INLINE void tq2_0_block(const uint8_t *b, char *out)
{
    const float d = block_half(b + 64);
    for (size_t i = 0; i < 16; i++) {
        const bytes_16 q = bytes_load(b + 32 * (i / 8) + 16 * (i % 2));
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
ALWAYS_INLINE bytes_16 two_entries(const uint64_t *grid, uint32_t first, uint32_t second)
{
    return bytes_longs(grid[first], grid[second]);
}
ALWAYS_INLINE bytes_16 four_entries(const uint32_t *grid, const uint8_t *index, uint32_t ninth_bits)
{
    return bytes_words(
        grid[index[0] | (ninth_bits << 8 & 256)], grid[index[1] | (ninth_bits << 7 & 256)],
        grid[index[2] | (ninth_bits << 6 & 256)], grid[index[3] | (ninth_bits << 5 & 256)]);
}
ALWAYS_INLINE void iq2_xxs_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const uint8_t *part = b + 2 + 8 * (j / 2), *index = part + 2 * (j % 2);
        const uint32_t a = block_u32(part + 4);
        const float scale = d * (0.5f + (float)(int)(a >> 28)) * 0.25f;
        const bytes_16 codes = two_entries(wte__grid_iq2_xxs, index[0], index[1]);
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
        const bytes_16 codes = two_entries(wte__grid_iq2_xs, first, second);
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
        const bytes_16 codes = two_entries(wte__grid_iq2_s, first, second);
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
        const bytes_16 codes = four_entries(wte__grid_iq3_xxs, b + 2 + 4 * j, 0);
        put_16(out + ELEMENT(16 * j), with_signs(codes, signs_of_7(a >> 14 * (j % 2))), scale);
    }
}
ALWAYS_INLINE void iq3_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b);
    for (size_t j = 0; j < 16; j++) {
        const float scale = d * (float)(1 + 2 * (b[106 + j / 4] >> 4 * (j / 2 % 2) & 15));
        const uint32_t ninth_bits = (uint32_t)b[66 + j / 2] >> 4 * (j % 2);
        const bytes_16 codes = four_entries(wte__grid_iq3_s, b + 2 + 4 * j, ninth_bits);
        put_16(out + ELEMENT(16 * j), with_signs(codes, block_u16(b + 74 + 2 * j)), scale);
    }
}
/* -1, 0 or 1, eight times, plus or minus one: with an eighth of the scale. */
ALWAYS_INLINE bytes_16 moved(bytes_16 grid, bytes_16 by)
{
    const bytes_16 twice = bytes_add(grid, grid), fourfold = bytes_add(twice, twice);
    return bytes_add(bytes_add(fourfold, fourfold), by);
}
ALWAYS_INLINE void iq1_s_block(const uint8_t *b, char *out)
{
    const float d = block_half(b) * 0.125f;
    for (size_t j = 0; j < 16; j++) {
        const uint32_t qh = block_u16(b + 34 + 2 * (j / 2)), high = qh >> 6 * (j % 2);
        const uint32_t first = b[2 + 2 * j] | (high & 7) << 8;
        const uint32_t second = b[3 + 2 * j] | (high >> 3 & 7) << 8;
        const bytes_16 by = bytes_all(qh >> 15 ? 255 : 1);
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
    const float d = half_to_f32((uint16_t)half) * 0.125f;
    for (size_t j = 0; j < 16; j++) {
        const uint32_t qh = b[32 + j], word = block_u16(b + 48 + 2 * (j / 4));
        const uint32_t first = b[2 * j] | (qh & 7) << 8, second = b[2 * j + 1] | (qh >> 4 & 7) << 8;
        const bytes_16 by = two_entries(ones, qh >> 3 & 1, qh >> 7);
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
