/* Vectors of 8 f32 for bag_vectors.h, and how they are read from stored rows. For kernel_avx2.c,
 * which has eight_<type>. */
#ifndef WTE_SRC_NUM_BAG_AVX2_H
#define WTE_SRC_NUM_BAG_AVX2_H
#include <immintrin.h>
#include <string.h>

#define VEC_LANES ((size_t)8)
typedef eight vec;

typedef struct row_params {
    vec scale, bias;
} row_params;

ALWAYS_INLINE vec vec_zero(void)
{
    return _mm256_setzero_ps();
}
ALWAYS_INLINE vec vec_set(float x)
{
    return _mm256_set1_ps(x);
}
ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}
ALWAYS_INLINE vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}
ALWAYS_INLINE vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}
/* Lanes of `by` where a > b, else those of c; by and c may be integers. */
ALWAYS_INLINE vec vec_pick(vec a, vec b, vec by, vec c)
{
    return _mm256_blendv_ps(c, by, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
ALWAYS_INLINE vec vec_number(uint32_t x)
{
    return _mm256_castsi256_ps(_mm256_set1_epi32((int)x));
}
ALWAYS_INLINE vec vec_quiet(vec x)
{
    const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x00400000));
    return _mm256_or_ps(x, _mm256_and_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q), quiet));
}
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}
ALWAYS_INLINE void vec_stream(char *to, vec x)
{
    _mm256_stream_ps((float *)(void *)to, x);
}
ALWAYS_INLINE void vec_fence(void)
{
    _mm_sfence();
}

ALWAYS_INLINE row_params scale_and_bias(const wte__stored *s, const char *codes)
{
    const __m128 pair = s->f32_scale ? _mm_castsi128_ps(load_8_bytes(codes + s->scale_at))
                                     : _mm_cvtph_ps(_mm_loadu_si32(codes + s->scale_at));
    return (row_params){ _mm256_broadcastss_ps(pair),
                         _mm256_broadcastss_ps(_mm_movehdup_ps(pair)) };
}
/* Eight codes of `bits` bits each in one word. */
ALWAYS_INLINE vec read_codes(const char *from, size_t n, const row_params *p, size_t bits)
{
    const int b = (int)bits;
    const __m256i by = _mm256_set_epi32(7 * b, 6 * b, 5 * b, 4 * b, 3 * b, 2 * b, b, 0);
    uint32_t word = 0;
    if (n == VEC_LANES)
        memcpy(&word, from, bits);
    else
        memcpy(&word, from, (n * bits + 7) / 8);
    const __m256i moved = _mm256_srlv_epi32(_mm256_set1_epi32((int)word), by);
    const __m256i codes = _mm256_and_si256(moved, _mm256_set1_epi32((1 << b) - 1));
    return vec_fma(_mm256_cvtepi32_ps(codes), p->scale, p->bias);
}
/* Blocks of 32: an f16, then their integers. */
ALWAYS_INLINE vec at_q8_0(const char *codes, size_t c, size_t n, const row_params *p)
{
    const char *block = codes + c / 32 * 34;
    const __m128 scale = _mm_cvtph_ps(_mm_loadu_si16(block));
    (void)n;
    (void)p;
    return vec_mul(eight_i8(block + 2 + c % 32), _mm256_broadcastss_ps(scale));
}
/* Elements 0 to 15 are in the low nibbles, 16 to 31 in the high ones. */
ALWAYS_INLINE vec at_q4_0(const char *codes, size_t c, size_t n, const row_params *p)
{
    const char *block = codes + c / 32 * 18;
    const __m128 scale = _mm_cvtph_ps(_mm_loadu_si16(block));
    const __m128i bytes = load_8_bytes(block + 2 + c % 16);
    const __m128i moved = _mm_srl_epi16(bytes, _mm_cvtsi32_si128((int)(c / 16 % 2 * 4)));
    const __m128i nibbles = _mm_and_si128(moved, _mm_set1_epi8(15));
    (void)n;
    (void)p;
    return vec_mul(
        _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_sub_epi8(nibbles, _mm_set1_epi8(8)))),
        _mm256_broadcastss_ps(scale));
}

#include "num/bag_vec8.h"
#include "num/bag_vectors.h"

#define X(name, bits) BAG_KERNELS(name, bits, avx2)
WTE__STORED_LIST(X)
#undef X
#define X(name, bits) BLOCK_BAGS(name, bits, avx2)
WTE__STORED_BLOCKS(X)
#undef X
#endif
