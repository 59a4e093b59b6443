/* Products of table rows with hidden vectors under AVX2: four rows times up to three vectors. Of
 * the 16 lanes of the contract (docs/kernels.md, "Dots") 8 are done at a time, so that 12 sums stay
 * in registers: lanes 0 to 7 of the whole row first, then lanes 8 to 15, which the first-level
 * cache still holds. */
#ifndef WTE_SRC_NUM_DOTS_AVX2_H
#define WTE_SRC_NUM_DOTS_AVX2_H
#include <immintrin.h>

#include "num/dots_x86.h"

#define DOTS_MOST_AVX2 3u

/* Eight elements at src. */
typedef __m256 (*dots_eight)(const char *src);

DOTS_INLINE __m256 eight_dots_f32(const char *src)
{
    return _mm256_loadu_ps((const float *)(const void *)src);
}
DOTS_INLINE __m256 eight_dots_f16(const char *src)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)src));
}
/* NaN is not made quiet: the sum does that. */
DOTS_INLINE __m256 eight_dots_bf16(const char *src)
{
    const __m256i words =
        _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)src));
    return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
}

/* The last elements, fewer than 16, with zeros behind them. */
typedef struct dots_rest {
    char w[DOTS_ROWS][16 * sizeof(float)];
    float h[DOTS_MOST_AVX2][16];
} dots_rest;

DOTS_INLINE void take_rest(const dots_tile *t, const char *w, size_t n_h, size_t size,
                           dots_rest *rest)
{
    const size_t left = t->dim % 16, done = t->dim - left;
    memset(rest, 0, sizeof *rest);
    for (size_t r = 0; r < DOTS_ROWS; r++)
        memcpy(rest->w[r], w + r * t->w_stride + done * size, left * size);
    for (size_t i = 0; i < n_h; i++)
        memcpy(rest->h[i], t->h + i * t->h_stride + done, left * sizeof(float));
}

/* How a type's elements are taken. */
typedef struct dots_type {
    size_t size;
    dots_eight eight;
} dots_type;

/* Lanes first to first + 7 of four rows, but for the last elements. */
DOTS_INLINE void add_eights(const dots_tile *t, const char *w, size_t first, size_t n_h,
                            dots_type type, __m256 sums[][DOTS_ROWS])
{
    const char *fetch = dots_fetch(t, w);
    DOTS_UNROLL
    for (size_t i = 0; i < n_h; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++) sums[i][r] = _mm256_setzero_ps();
    }
    w += first * type.size;
    for (size_t k = first; k < t->dim - t->dim % 16; k += 16, w += 16 * type.size) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++) {
            const __m256 x = type.eight(w + r * t->w_stride);
            if (first == 0) _mm_prefetch(fetch + 64 * r, _MM_HINT_T0);
            DOTS_UNROLL
            for (size_t i = 0; i < n_h; i++)
                sums[i][r] =
                    _mm256_fmadd_ps(x, _mm256_loadu_ps(t->h + i * t->h_stride + k), sums[i][r]);
        }
        fetch += type.size == 4 ? t->fetch_step : t->fetch_step / 2;
    }
}

/* Lanes 4, 2 and 1 apart are added; four rows of one vector come to lie side by side. */
DOTS_INLINE __m128 sum_of_eights(__m256 s[DOTS_ROWS])
{
    const __m256 a = _mm256_add_ps(_mm256_permute2f128_ps(s[0], s[2], 0x20),
                                   _mm256_permute2f128_ps(s[0], s[2], 0x31));
    const __m256 b = _mm256_add_ps(_mm256_permute2f128_ps(s[1], s[3], 0x20),
                                   _mm256_permute2f128_ps(s[1], s[3], 0x31));
    const __m256 two = _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee));
    const __m128 x = _mm256_castps256_ps128(two), y = _mm256_extractf128_ps(two, 1);
    return _mm_add_ps(_mm_shuffle_ps(x, y, 0x88), _mm_shuffle_ps(x, y, 0xdd));
}

/* Four rows, w_stride apart, times a constant number of vectors. */
DOTS_INLINE void dots_four(const dots_tile *t, const char *w, float *out, size_t n_h,
                           dots_type type)
{
    __m256 low[DOTS_MOST_AVX2][DOTS_ROWS], high[DOTS_MOST_AVX2][DOTS_ROWS];
    add_eights(t, w, 0, n_h, type, low);
    add_eights(t, w, 8, n_h, type, high);
    dots_rest rest;
    if (t->dim % 16) take_rest(t, w, n_h, type.size, &rest);
    for (size_t i = 0; i < n_h; i++) {
        for (size_t r = 0; r < DOTS_ROWS; r++) {
            if (t->dim % 16) {
                const char *x = rest.w[r];
                low[i][r] = _mm256_fmadd_ps(type.eight(x), _mm256_loadu_ps(rest.h[i]), low[i][r]);
                high[i][r] = _mm256_fmadd_ps(type.eight(x + 8 * type.size),
                                             _mm256_loadu_ps(rest.h[i] + 8), high[i][r]);
            }
            low[i][r] = _mm256_add_ps(low[i][r], high[i][r]);
        }
        _mm_storeu_ps(out + i * t->out_stride, sum_of_eights(low[i]));
    }
}

DOTS_INLINE void dots_fours(const dots_tile *t, size_t n_h, dots_type type)
{
    for (size_t row = 0; row < t->n_w; row += DOTS_ROWS)
        dots_four(t, t->w + row * t->w_stride, t->out + row, n_h, type);
}

/* The same for any number of vectors that dots_next gives. */
#define DOTS_KERNEL(name, size, eight)                                                             \
    static void dots_##name##_tile(const dots_tile *t, size_t n_h)                                 \
    {                                                                                              \
        const dots_type type = { size, eight };                                                    \
        switch (n_h) {                                                                             \
        case 1: dots_fours(t, 1, type); break;                                                     \
        case 2: dots_fours(t, 2, type); break;                                                     \
        default: dots_fours(t, DOTS_MOST_AVX2, type);                                              \
        }                                                                                          \
    }                                                                                              \
    static void dots_##name##_avx2(const wte__dots *job)                                           \
    {                                                                                              \
        dots_run(job, DOTS_MOST_AVX2, dots_##name##_tile);                                         \
    }
#endif
