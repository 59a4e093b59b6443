/* What block_vectors.h asks for, as far as AVX2 and AVX-512 share it. An instruction set's file
 * defines put_16, put_16_plus and spread_bits, and then includes this. */
#ifndef WTE_SRC_NUM_BLOCK_X86_H
#define WTE_SRC_NUM_BLOCK_X86_H
#include <immintrin.h>
#include <stdint.h>

#include "num/simd_macros.h"

typedef __m128i bytes_16;

ALWAYS_INLINE bytes_16 bytes_load(const uint8_t *b)
{
    return _mm_loadu_si128((const __m128i *)(const void *)b);
}
ALWAYS_INLINE bytes_16 bytes_all(uint8_t x)
{
    return _mm_set1_epi8((char)x);
}
ALWAYS_INLINE bytes_16 bytes_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return _mm_set_epi32((int)d, (int)c, (int)b, (int)a);
}
ALWAYS_INLINE bytes_16 bytes_longs(uint64_t a, uint64_t b)
{
    return _mm_set_epi64x((long long)b, (long long)a);
}
ALWAYS_INLINE bytes_16 bytes_and(bytes_16 a, bytes_16 b)
{
    return _mm_and_si128(a, b);
}
ALWAYS_INLINE bytes_16 bytes_or(bytes_16 a, bytes_16 b)
{
    return _mm_or_si128(a, b);
}
ALWAYS_INLINE bytes_16 bytes_xor(bytes_16 a, bytes_16 b)
{
    return _mm_xor_si128(a, b);
}
ALWAYS_INLINE bytes_16 bytes_add(bytes_16 a, bytes_16 b)
{
    return _mm_add_epi8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_sub(bytes_16 a, bytes_16 b)
{
    return _mm_sub_epi8(a, b);
}
ALWAYS_INLINE bytes_16 bytes_up(bytes_16 x, size_t n)
{
    return _mm_slli_epi16(x, (int)n);
}
ALWAYS_INLINE bytes_16 bytes_down(bytes_16 x, size_t n)
{
    return _mm_srli_epi16(x, (int)n);
}
ALWAYS_INLINE bytes_16 high_nibbles(bytes_16 x)
{
    return _mm_and_si128(_mm_srli_epi16(x, 4), _mm_set1_epi8(15));
}
ALWAYS_INLINE bytes_16 bytes_having(bytes_16 x, uint8_t bit)
{
    const __m128i mask = bytes_all(bit);
    return _mm_cmpeq_epi8(_mm_and_si128(x, mask), mask);
}
ALWAYS_INLINE bytes_16 bytes_at_least(bytes_16 x, uint8_t least)
{
    return _mm_cmpeq_epi8(_mm_max_epu8(x, bytes_all(least)), x);
}
ALWAYS_INLINE bytes_16 bytes_looked_up(const int8_t table[16], bytes_16 x)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)table), x);
}
ALWAYS_INLINE void bytes_braid(bytes_16 x[4])
{
    const __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]), high01 = _mm_unpackhi_epi8(x[0], x[1]);
    const __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]), high23 = _mm_unpackhi_epi8(x[2], x[3]);
    x[0] = _mm_unpacklo_epi16(low01, low23);
    x[1] = _mm_unpackhi_epi16(low01, low23);
    x[2] = _mm_unpacklo_epi16(high01, high23);
    x[3] = _mm_unpackhi_epi16(high01, high23);
}
ALWAYS_INLINE float half_to_f32(uint16_t bits)
{
    return _cvtsh_ss(bits);
}

#include "num/block_vectors.h"
#endif
