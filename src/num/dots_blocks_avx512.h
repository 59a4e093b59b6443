/* Exact products of rows of blocks as they are stored, under AVX-512: each element is decoded in a
 * register, in the roundings of docs/kernels.md, "Blocks", and added to its lane at once. For a
 * vector or two: with more of them decoding a tile first is faster. */
#ifndef WTE_SRC_NUM_DOTS_BLOCKS_AVX512_H
#define WTE_SRC_NUM_DOTS_BLOCKS_AVX512_H
#include <immintrin.h>
#include <string.h>

#include "num/block_x86.h"
#include "num/dots_avx512.h"

DOTS_INLINE __m512 add_16(__m512 x, const float *h, __m512 sum)
{
    return _mm512_fmadd_ps(x, _mm512_loadu_ps(h), sum);
}

/* 16 signed bytes times a scale. */
DOTS_INLINE __m512 add_codes(const void *codes, float scale, const float *h, __m512 sum)
{
    const __m512i wide = _mm512_cvtepi8_epi32(bytes_load(codes));
    return add_16(_mm512_mul_ps(_mm512_cvtepi32_ps(wide), _mm512_set1_ps(scale)), h, sum);
}
DOTS_INLINE __m512 add_q8_0(const uint8_t *b, const float *h, __m512 sum)
{
    const float d = block_half(b);
    sum = add_codes(b + 2, d, h, sum);
    return add_codes(b + 18, d, h + 16, sum);
}

/* 0 to 15, the codes of a nibble. A block's 16 values are computed once, and looked up: only the
 * lowest four bits of an index count. */
DOTS_INLINE __m512 nibble_codes(void)
{
    return _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}
DOTS_INLINE __m512i nibble_indices(const uint8_t *codes)
{
    return _mm512_cvtepu8_epi32(bytes_load(codes));
}
DOTS_INLINE __m512 add_q4_0(const uint8_t *b, const float *h, __m512 sum)
{
    const __m512 d = _mm512_set1_ps(block_half(b));
    const __m512 values = _mm512_mul_ps(_mm512_sub_ps(nibble_codes(), _mm512_set1_ps(8)), d);
    const __m512i low = nibble_indices(b + 2), high = _mm512_srli_epi32(low, 4);
    sum = add_16(_mm512_permutexvar_ps(low, values), h, sum);
    return add_16(_mm512_permutexvar_ps(high, values), h + 16, sum);
}

/* Eight codes of 6 bits times a scale. */
DOTS_INLINE void eight_scales(float *out, uint32_t low, uint32_t high, float by)
{
    const __m128i codes = _mm_cvtsi64_si128((long long)((uint64_t)high << 32 | low));
    const __m256 eight = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
    _mm256_storeu_ps(out, _mm256_mul_ps(eight, _mm256_set1_ps(by)));
}
DOTS_INLINE __m512 q4_k_values(float scale, float minimum)
{
    const __m512 product = _mm512_mul_ps(_mm512_set1_ps(scale), nibble_codes());
    return _mm512_sub_ps(product, _mm512_set1_ps(minimum));
}
/* 64 elements: the first 32 are low nibbles. */
DOTS_INLINE __m512 add_q4_k(const uint8_t *q, const float *scale, const float *minimum,
                            const float *h, __m512 sum)
{
    const __m512 lower = q4_k_values(scale[0], minimum[0]);
    const __m512 upper = q4_k_values(scale[1], minimum[1]);
    const __m512i a = nibble_indices(q), b = nibble_indices(q + 16);
    sum = add_16(_mm512_permutexvar_ps(a, lower), h, sum);
    sum = add_16(_mm512_permutexvar_ps(b, lower), h + 16, sum);
    sum = add_16(_mm512_permutexvar_ps(_mm512_srli_epi32(a, 4), upper), h + 32, sum);
    return add_16(_mm512_permutexvar_ps(_mm512_srli_epi32(b, 4), upper), h + 48, sum);
}
/* Four rows side by side: one by one their chains of additions would not overlap. */
DOTS_INLINE void four_q4_k(const uint8_t *w, size_t stride, const float *h, __m512 sums[DOTS_ROWS])
{
    float scale[DOTS_ROWS][8], minimum[DOTS_ROWS][8];
    DOTS_UNROLL
    for (size_t r = 0; r < DOTS_ROWS; r++) {
        const uint8_t *b = w + r * stride;
        const uint32_t first = block_u32(b + 4), second = block_u32(b + 8);
        const uint32_t third = block_u32(b + 12);
        eight_scales(scale[r], first & 0x3f3f3f3f, (third & 0x0f0f0f0f) | (first >> 2 & 0x30303030),
                     block_half(b));
        eight_scales(minimum[r], second & 0x3f3f3f3f,
                     (third >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030), block_half(b + 2));
    }
    for (size_t j = 0; j < 8; j += 2) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++)
            sums[r] = add_q4_k(w + r * stride + 16 + 16 * j, scale[r] + j, minimum[r] + j,
                               h + 32 * j, sums[r]);
    }
}

/* 128 codes less 32: low nibbles of 64 bytes are the first 64; two bits of each are in 32 bytes. */
DOTS_INLINE void q6_k_codes(const uint8_t *low, const uint8_t *high, int8_t *out)
{
    const __m512i q = _mm512_loadu_si512(low), nibble = _mm512_set1_epi8(15);
    const __m512i bits = _mm512_set1_epi8(0x30), less = _mm512_set1_epi8(32);
    const __m512i two = _mm512_broadcast_i64x4(_mm256_loadu_si256((const void *)high));
    /* to bits 4 and 5 of every byte: what comes from other bytes is masked */
    const __m512i first = _mm512_rolv_epi64(two, _mm512_set_epi64(2, 2, 2, 2, 4, 4, 4, 4));
    const __m512i other = _mm512_rorv_epi64(two, _mm512_set_epi64(2, 2, 2, 2, 0, 0, 0, 0));
    const __m512i a = _mm512_or_si512(_mm512_and_si512(q, nibble), _mm512_and_si512(first, bits));
    const __m512i b = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(q, 4), nibble),
                                      _mm512_and_si512(other, bits));
    _mm512_storeu_si512(out, _mm512_sub_epi8(a, less));
    _mm512_storeu_si512(out + 64, _mm512_sub_epi8(b, less));
}
/* Side by side, as above. */
DOTS_INLINE void four_q6_k(const uint8_t *w, size_t stride, const float *h, __m512 sums[DOTS_ROWS])
{
    int8_t codes[DOTS_ROWS][256];
    float scale[DOTS_ROWS][16];
    DOTS_UNROLL
    for (size_t r = 0; r < DOTS_ROWS; r++) {
        const uint8_t *b = w + r * stride;
        const __m512 s = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes_load(b + 192)));
        _mm512_storeu_ps(scale[r], _mm512_mul_ps(s, _mm512_set1_ps(block_half(b + 208))));
        q6_k_codes(b, b + 128, codes[r]);
        q6_k_codes(b + 64, b + 160, codes[r] + 128);
    }
    for (size_t i = 0; i < 16; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++)
            sums[r] = add_codes(codes[r] + 16 * i, scale[r][i], h + 16 * i, sums[r]);
    }
}

/* Rows ------------------------------------------------------------------------------------------
 */

/* A block of each of four rows, `stride` apart, is added to their sums. */
typedef struct blocks_type {
    size_t elements, bytes;
    void (*four)(const uint8_t *w, size_t stride, const float *h, __m512 sums[DOTS_ROWS]);
} blocks_type;

#define FOUR_ROWS(name)                                                                            \
    DOTS_INLINE void four_##name(const uint8_t *w, size_t stride, const float *h,                  \
                                 __m512 sums[DOTS_ROWS])                                           \
    {                                                                                              \
        DOTS_UNROLL                                                                                \
        for (size_t r = 0; r < DOTS_ROWS; r++) sums[r] = add_##name(w + r * stride, h, sums[r]);   \
    }
FOUR_ROWS(q8_0)
FOUR_ROWS(q4_0)

/* Four rows, `stride` apart, side by side: each is one chain of additions. */
DOTS_INLINE __m128 blocks_four(const wte__dots *job, const char *w, size_t stride, const float *h,
                               blocks_type type)
{
    const char *const end = (const char *)job->w + job->n_w * job->w_stride;
    const size_t four = DOTS_ROWS * stride;
    const size_t ahead = four < DOTS_AHEAD_LEAST ? DOTS_AHEAD_LEAST : four;
    const char *fetch = (size_t)(end - w) >= ahead + four ? w + ahead : w;
    __m512 sums[1][DOTS_ROWS];
    DOTS_UNROLL
    for (size_t r = 0; r < DOTS_ROWS; r++) sums[0][r] = _mm512_setzero_ps();
    for (size_t k = 0; k < job->dim; k += type.elements, w += type.bytes) {
        type.four((const uint8_t *)w, stride, h + k, sums[0]);
        for (size_t at = 0; at < DOTS_ROWS * type.bytes; at += 64)
            _mm_prefetch(fetch + at, _MM_HINT_T0);
        fetch += DOTS_ROWS * type.bytes;
    }
    return sum_of_1(sums);
}

/* Rows that are left over are done together with some that were done before; fewer than four are
 * done four times each. */
DOTS_INLINE void blocks_run(const wte__dots *job, blocks_type type)
{
    const size_t n = job->n_w, stride = job->w_stride;
    for (size_t i = 0; i < job->n_h; i++) {
        const float *h = job->h + i * job->h_stride;
        float *out = job->out + i * job->out_stride;
        for (size_t row = 0; row < n && n >= DOTS_ROWS; row += DOTS_ROWS) {
            const size_t at = n - row < DOTS_ROWS ? n - DOTS_ROWS : row;
            const char *w = (const char *)job->w + at * stride;
            _mm_storeu_ps(out + at, blocks_four(job, w, stride, h, type));
        }
        for (size_t row = 0; row < n && n < DOTS_ROWS; row++) {
            const char *w = (const char *)job->w + row * stride;
            out[row] = _mm_cvtss_f32(blocks_four(job, w, 0, h, type));
        }
    }
}

#define DOTS_BLOCKS_KERNEL(name, elements, bytes)                                                  \
    static void dots_##name##_avx512(const wte__dots *job)                                         \
    {                                                                                              \
        const blocks_type type = { elements, bytes, four_##name };                                 \
        blocks_run(job, type);                                                                     \
    }
DOTS_BLOCKS_KERNEL(q8_0, 32, 34)
DOTS_BLOCKS_KERNEL(q4_0, 32, 18)
DOTS_BLOCKS_KERNEL(q4_k, 256, 144)
DOTS_BLOCKS_KERNEL(q6_k, 256, 210)
#endif
