/* Products of table rows with hidden vectors under AVX-512: four rows times up to six vectors, 24
 * sums of 16 lanes that stay in registers. Vectors run along the row: nothing is packed or
 * transposed, and the lanes are those of the contract (docs/kernels.md, "Dots"). */
#ifndef WTE_SRC_NUM_DOTS_AVX512_H
#define WTE_SRC_NUM_DOTS_AVX512_H
#include <immintrin.h>

#include "num/dots_x86.h"

/* Keeps x in a register: compilers would read it from memory anew for each row, and loads are what
 * there are too few of. */
#define DOTS_KEEP(x) __asm__("" : "+v"(x))

/* Half 0 or 1 of the 32 elements at src. */
typedef __m512 (*dots_half)(const char *src, size_t half);
/* The first lanes of 16 elements at src, zeros behind them. */
typedef __m512 (*dots_last)(const char *src, __mmask16 lanes);

/* sum + x * h in every lane. */
typedef __m512 (*dots_add)(__m512 x, __m512 h, __m512 sum);

DOTS_INLINE __m512 add_product(__m512 x, __m512 h, __m512 sum)
{
    return _mm512_fmadd_ps(x, h, sum);
}
DOTS_INLINE __m512 half_f32(const char *src, size_t half)
{
    return _mm512_loadu_ps(src + 64 * half);
}
DOTS_INLINE __m512 half_f16(const char *src, size_t half)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(src + 32 * half)));
}
/* Each word becomes the upper half of a lane: one instruction instead of a widening and a shift.
 * NaN is not made quiet: the sum does that. */
DOTS_INLINE __m512 half_bf16(const char *src, size_t half)
{
    const __m512i order =
        _mm512_set_epi32(15 << 16, 14 << 16, 13 << 16, 12 << 16, 11 << 16, 10 << 16, 9 << 16,
                         8 << 16, 7 << 16, 6 << 16, 5 << 16, 4 << 16, 3 << 16, 2 << 16, 1 << 16, 0);
    const __m512i from = half ? _mm512_or_si512(order, _mm512_set1_epi32(16 << 16)) : order;
    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaa, from, _mm512_loadu_si512(src)));
}

DOTS_INLINE __m512 join_2(__m512 a, __m512 b)
{
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
}
/* Lanes 8 and then 4 apart are added: a, b, c and d have four lanes each, in this order. */
DOTS_INLINE __m512 join_4(__m512 a, __m512 b, __m512 c, __m512 d)
{
    const __m512 x = join_2(a, b), y = join_2(c, d);
    return _mm512_add_ps(_mm512_shuffle_f32x4(x, y, 0x88), _mm512_shuffle_f32x4(x, y, 0xdd));
}

/* The sums of four rows with one, two or four vectors: sums[vector][row]. Lanes 2 and then 1 apart
 * are added; the order of joining is such that a vector's four rows come to lie side by side. */
DOTS_INLINE __m128 sum_of_1(__m512 sums[][DOTS_ROWS])
{
    const __m512 a = join_4(sums[0][0], sums[0][2], sums[0][1], sums[0][3]);
    const __m256 low = _mm512_castps512_ps256(a), high = _mm512_extractf32x8_ps(a, 1);
    const __m256 two =
        _mm256_add_ps(_mm256_shuffle_ps(low, high, 0x44), _mm256_shuffle_ps(low, high, 0xee));
    const __m128 x = _mm256_castps256_ps128(two), y = _mm256_extractf128_ps(two, 1);
    return _mm_add_ps(_mm_shuffle_ps(x, y, 0x88), _mm_shuffle_ps(x, y, 0xdd));
}
DOTS_INLINE __m256 sum_of_2(__m512 sums[][DOTS_ROWS])
{
    const __m512 a = join_4(sums[0][0], sums[1][0], sums[0][2], sums[1][2]);
    const __m512 b = join_4(sums[0][1], sums[1][1], sums[0][3], sums[1][3]);
    const __m512 two = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
    const __m256 x = _mm512_castps512_ps256(two), y = _mm512_extractf32x8_ps(two, 1);
    return _mm256_add_ps(_mm256_shuffle_ps(x, y, 0x88), _mm256_shuffle_ps(x, y, 0xdd));
}
DOTS_INLINE __m512 sum_of_4(__m512 sums[][DOTS_ROWS])
{
    const __m512 a = join_4(sums[0][0], sums[1][0], sums[2][0], sums[3][0]);
    const __m512 b = join_4(sums[0][1], sums[1][1], sums[2][1], sums[3][1]);
    const __m512 c = join_4(sums[0][2], sums[1][2], sums[2][2], sums[3][2]);
    const __m512 d = join_4(sums[0][3], sums[1][3], sums[2][3], sums[3][3]);
    const __m512 x = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
    const __m512 y = _mm512_add_ps(_mm512_shuffle_ps(c, d, 0x44), _mm512_shuffle_ps(c, d, 0xee));
    return _mm512_add_ps(_mm512_shuffle_ps(x, y, 0x88), _mm512_shuffle_ps(x, y, 0xdd));
}

DOTS_INLINE void put_dots(float *out, size_t stride, __m512 sums[DOTS_MOST][DOTS_ROWS], size_t n_h)
{
    size_t i = 0;
    if (n_h >= 4) {
        const __m512 s = sum_of_4(sums);
        _mm_storeu_ps(out, _mm512_castps512_ps128(s));
        _mm_storeu_ps(out + stride, _mm512_extractf32x4_ps(s, 1));
        _mm_storeu_ps(out + 2 * stride, _mm512_extractf32x4_ps(s, 2));
        _mm_storeu_ps(out + 3 * stride, _mm512_extractf32x4_ps(s, 3));
        i = 4;
    }
    if (n_h - i >= 2) {
        const __m256 s = sum_of_2(sums + i);
        _mm_storeu_ps(out + i * stride, _mm256_castps256_ps128(s));
        _mm_storeu_ps(out + (i + 1) * stride, _mm256_extractf128_ps(s, 1));
        i += 2;
    }
    if (n_h > i) _mm_storeu_ps(out + i * stride, sum_of_1(sums + i));
}

/* How a type's elements are taken. */
typedef struct dots_type {
    size_t size;
    dots_half half;
    dots_last last;
    dots_add add;
} dots_type;

/* Elements from to to - 1 of four rows, w_stride apart, times a constant number of vectors. */
DOTS_INLINE void add_elements(const dots_tile *t, const char *w, size_t from, size_t to, size_t n_h,
                              dots_type type, __m512 sums[DOTS_MOST][DOTS_ROWS])
{
    const char *fetch = t->dim <= t->stretch ? dots_fetch(t, w) : t->end;
    size_t k = from;
    w += from * type.size;
    for (; to - k >= 32; k += 32, w += 32 * type.size) {
        DOTS_UNROLL
        for (size_t now = 0; now < 2; now++) {
            __m512 h[DOTS_MOST];
            DOTS_UNROLL
            for (size_t i = 0; i < n_h; i++)
                h[i] = _mm512_loadu_ps(t->h + i * t->h_stride + k + 16 * now);
            DOTS_UNROLL
            for (size_t r = 0; r < DOTS_ROWS; r++) {
                const __m512 x = type.half(w + r * t->w_stride, now);
                if (type.size == 4 || now == 0) _mm_prefetch(fetch + 64 * r, _MM_HINT_T0);
                DOTS_UNROLL
                for (size_t i = 0; i < n_h; i++) sums[i][r] = type.add(x, h[i], sums[i][r]);
            }
            if (type.size == 4 || now == 0) fetch += t->fetch_step;
        }
    }
    for (; k < to; k += 16, w += 16 * type.size) {
        const size_t left = to - k;
        const __mmask16 lanes = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xffffu);
        DOTS_UNROLL
        for (size_t i = 0; i < n_h; i++) {
            const __m512 h = _mm512_maskz_loadu_ps(lanes, t->h + i * t->h_stride + k);
            DOTS_UNROLL
            for (size_t r = 0; r < DOTS_ROWS; r++)
                sums[i][r] = type.add(type.last(w + r * t->w_stride, lanes), h, sums[i][r]);
        }
    }
}

typedef struct dots_kept {
    float sums[DOTS_MOST][DOTS_ROWS][16];
} dots_kept;

/* A stretch of four rows: sums go on from what was kept of the one before, and are kept or put. */
DOTS_INLINE void dots_four(const dots_tile *t, size_t row, size_t from, size_t n_h, dots_type type,
                           dots_kept *kept)
{
    const size_t to = t->dim - from < t->stretch ? t->dim : from + t->stretch;
    __m512 sums[DOTS_MOST][DOTS_ROWS];
    DOTS_UNROLL
    for (size_t i = 0; i < n_h; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++)
            sums[i][r] = from ? _mm512_loadu_ps(kept->sums[i][r]) : _mm512_setzero_ps();
    }
    add_elements(t, t->w + row * t->w_stride, from, to, n_h, type, sums);
    if (to == t->dim) {
        put_dots(t->out + row, t->out_stride, sums, n_h);
        return;
    }
    DOTS_UNROLL
    for (size_t i = 0; i < n_h; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++) _mm512_storeu_ps(kept->sums[i][r], sums[i][r]);
    }
}

/* What the vectors' next stretch needs: of vector i while group i of the rows is worked on; at the
 * end of the rows, of the vector that comes in its place. They come from far: without this, half of
 * the time was spent waiting. */
DOTS_INLINE const char *next_stretch(const dots_tile *t, size_t from, size_t i, size_t n_h)
{
    const size_t vector = i % n_h, next = from + t->stretch;
    if (next < t->dim) return (const char *)(t->h + vector * t->h_stride + next);
    const size_t later = vector + n_h < t->h_left ? vector + n_h : 0;
    return (const char *)(t->h + later * t->h_stride);
}

DOTS_INLINE void dots_fours(const dots_tile *t, size_t n_h, dots_type type)
{
    dots_kept kept[DOTS_LONG_ROWS / DOTS_ROWS];
    if (t->dim <= t->stretch) {
        for (size_t row = 0; row < t->n_w; row += DOTS_ROWS) dots_four(t, row, 0, n_h, type, kept);
        return;
    }
    for (size_t from = 0; from < t->dim; from += t->stretch)
        for (size_t row = 0; row < t->n_w; row += DOTS_ROWS) {
            dots_tile four = *t;
            four.fetch_step = 64;
            four.end = next_stretch(t, from, row / DOTS_ROWS, n_h);
            dots_four(&four, row, from, n_h, type, &kept[row / DOTS_ROWS]);
        }
}

/* A few vectors wait for memory alone, and the processor's prefetchers follow two straight lines
 * better than one or four: rows of the first half of the job go beside those of the second. */
#define DOTS_LINES        2u
#define DOTS_LINES_AHEAD  ((size_t)4 << 10)
#define DOTS_LINE_VECTORS ((size_t)8)
/* Where the vectors are more than the first-level cache holds, so many rows of each line are
 * multiplied with a stretch of them before the next. */
#define DOTS_LINE_ROWS ((size_t)8)

/* 16 sums at most: of vector i and line r, sums[i / 2][2 * (i % 2) + r]. */
typedef __m512 lines_sums[DOTS_LINE_VECTORS / 2][DOTS_ROWS];
typedef struct lines_kept {
    float sums[DOTS_LINE_VECTORS / 2][DOTS_ROWS][16];
} lines_kept;

/* What a few vectors are multiplied with. Depth is counted in what the part of the kernel takes at
 * once. */
typedef struct lines_walk {
    const char *w;
    size_t w_stride, n_w, more; /* as wte__dots */
    float *out;
    size_t out_stride;
    size_t depth, stretch, rows; /* rows of each line go through a stretch before the next */
    bool fetch;
} lines_walk;

/* Rows w and w + far, from `from` to `to` - 1, are added to the sums of a constant number of
 * vectors; `ahead` bytes behind what is read is fetched. */
typedef void (*lines_part)(const void *kernel, const char *w, size_t far, size_t ahead,
                           const size_t range[2], size_t n_h, lines_sums sums);

/* The sums of vectors i and i + 1 with two lines, `far` floats apart. */
DOTS_INLINE void put_line_pair(float *out, size_t stride, size_t far, size_t i, size_t n_h,
                               __m128 sum)
{
    out += i * stride;
    out[0] = _mm_cvtss_f32(sum);
    out[far] = _mm_cvtss_f32(_mm_movehdup_ps(sum));
    if (i + 1 >= n_h) return;
    out[stride] = _mm_cvtss_f32(_mm_movehl_ps(sum, sum));
    out[stride + far] = _mm_cvtss_f32(_mm_shuffle_ps(sum, sum, 3));
}
/* Lanes 8, 4, 2 and 1 apart are added. */
DOTS_INLINE float dots_sum(__m512 x)
{
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
DOTS_INLINE void put_lines(float *out, size_t stride, size_t far, size_t n_h, lines_sums sums)
{
    size_t i = 0;
    if (n_h == 1) {
        out[0] = dots_sum(sums[0][0]);
        out[far] = dots_sum(sums[0][1]);
        return;
    }
    if (n_h > 6) {
        const __m512 s = sum_of_4(sums);
        put_line_pair(out, stride, far, 0, n_h, _mm512_castps512_ps128(s));
        put_line_pair(out, stride, far, 2, n_h, _mm512_extractf32x4_ps(s, 1));
        put_line_pair(out, stride, far, 4, n_h, _mm512_extractf32x4_ps(s, 2));
        put_line_pair(out, stride, far, 6, n_h, _mm512_extractf32x4_ps(s, 3));
        return;
    }
    if (n_h > 2) {
        const __m256 s = sum_of_2(sums);
        put_line_pair(out, stride, far, 0, n_h, _mm256_castps256_ps128(s));
        put_line_pair(out, stride, far, 2, n_h, _mm256_extractf128_ps(s, 1));
        i = 4;
    }
    if (n_h > i) put_line_pair(out, stride, far, i, n_h, sum_of_1(sums + i / 2));
}

/* What is fetched while a row of the first half, and that of the second, are worked on lies so many
 * bytes behind them. Behind the end of a half comes the same half of the next job. */
DOTS_INLINE size_t lines_ahead(const lines_walk *t, size_t row)
{
    const size_t stride = t->w_stride, far = t->n_w / DOTS_LINES * stride;
    const size_t left = far - row * stride, end = (t->n_w + t->more) * stride;
    const size_t least = t->stretch < t->depth ? stride : DOTS_LINES_AHEAD;
    const size_t ahead = least + (left < least + stride ? far : 0);
    return t->fetch && far + (row + 1) * stride + ahead <= end ? ahead : 0;
}

/* A stretch of a row of each half, or of the last of an odd number of rows, which is its own pair:
 * sums go on from what was kept of the stretch before, and are kept or put. */
DOTS_INLINE void lines_piece(const lines_walk *t, size_t row, size_t from, size_t n_h,
                             lines_part part, const void *kernel, lines_kept *kept)
{
    const size_t half = t->n_w / DOTS_LINES, far = row < half ? half : 0;
    const size_t at = row < half ? row : t->n_w - 1, ahead = row < half ? lines_ahead(t, row) : 0;
    const size_t range[2] = { from, t->depth - from < t->stretch ? t->depth : from + t->stretch };
    lines_sums sums;
    DOTS_UNROLL
    for (size_t i = 0; i < (n_h + 1) / 2; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++)
            sums[i][r] = from ? _mm512_loadu_ps(kept->sums[i][r]) : _mm512_setzero_ps();
    }
    part(kernel, t->w + at * t->w_stride, far * t->w_stride, ahead, range, n_h, sums);
    if (range[1] == t->depth) {
        put_lines(t->out + at, t->out_stride, far, n_h, sums);
        return;
    }
    DOTS_UNROLL
    for (size_t i = 0; i < (n_h + 1) / 2; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++) _mm512_storeu_ps(kept->sums[i][r], sums[i][r]);
    }
}

/* A row of each half, whole, times one vector: without stretches and what they keep, which
 * took 1.03 times as long. */
DOTS_INLINE void lines_whole(const lines_walk *t, size_t row, lines_part part, const void *kernel)
{
    const size_t half = t->n_w / DOTS_LINES, far = row < half ? half : 0;
    const size_t at = row < half ? row : t->n_w - 1, ahead = row < half ? lines_ahead(t, row) : 0;
    const size_t range[2] = { 0, t->depth };
    lines_sums sums;
    DOTS_UNROLL
    for (size_t r = 0; r < DOTS_ROWS; r++) sums[0][r] = _mm512_setzero_ps();
    part(kernel, t->w + at * t->w_stride, far * t->w_stride, ahead, range, 1, sums);
    put_lines(t->out + at, t->out_stride, far, 1, sums);
}

/* Rows from row to to - 1 of each half. */
DOTS_INLINE void lines_rows(const lines_walk *t, size_t row, size_t to, size_t n_h, lines_part part,
                            const void *kernel)
{
    lines_kept kept[DOTS_LINE_ROWS];
    size_t from = 0;
    do {
        for (size_t r = row; r < to; r++)
            lines_piece(t, r, from, n_h, part, kernel, &kept[r - row]);
        from += t->stretch;
    } while (from < t->depth);
}

typedef struct dots_lines {
    const wte__dots *job;
    dots_type type;
} dots_lines;

DOTS_INLINE void dots_two(const void *kernel, const char *w, size_t far, size_t ahead,
                          const size_t range[2], size_t n_h, lines_sums sums)
{
    const dots_lines *const d = kernel;
    const dots_type type = d->type;
    const float *h = d->job->h;
    const size_t stride = d->job->h_stride, to = range[1];
    size_t k = range[0];
    w += k * type.size;
    for (; to - k >= 32; k += 32, w += 32 * type.size) {
        DOTS_UNROLL
        for (size_t now = 0; now < 2; now++) {
            __m512 x[DOTS_LINES];
            DOTS_UNROLL
            for (size_t r = 0; r < DOTS_LINES; r++) {
                if (type.size == 4 || now == 0)
                    _mm_prefetch(w + r * far + ahead + 64 * now, _MM_HINT_T0);
                x[r] = type.half(w + r * far, now);
            }
            DOTS_UNROLL
            for (size_t i = 0; i < n_h; i++) {
                __m512 v = _mm512_loadu_ps(h + i * stride + k + 16 * now);
                if (n_h > 1) DOTS_KEEP(v);
                DOTS_UNROLL
                for (size_t r = 0; r < DOTS_LINES; r++)
                    sums[i / 2][i % 2 * 2 + r] = type.add(x[r], v, sums[i / 2][i % 2 * 2 + r]);
            }
        }
    }
    for (; k < to; k += 16, w += 16 * type.size) {
        const size_t left = to - k;
        const __mmask16 lanes = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xffffu);
        DOTS_UNROLL
        for (size_t i = 0; i < n_h; i++) {
            const __m512 v = _mm512_maskz_loadu_ps(lanes, h + i * stride + k);
            DOTS_UNROLL
            for (size_t r = 0; r < DOTS_LINES; r++)
                sums[i / 2][i % 2 * 2 + r] =
                    type.add(type.last(w + r * far, lanes), v, sums[i / 2][i % 2 * 2 + r]);
        }
    }
}

/* Elements of all vectors that may be in the first-level cache beside two lines. */
#define DOTS_LINE_BYTES ((size_t)20 << 10)

DOTS_INLINE void dots_by_lines(const wte__dots *job, size_t n_h, dots_type type)
{
    const dots_lines kernel = { job, type };
    const size_t halves = (job->n_w + 1) / DOTS_LINES, most = DOTS_LINE_BYTES / 4 / n_h;
    lines_walk t = { job->w,   job->w_stride,
                     job->n_w, job->prefetch_rows,
                     job->out, job->out_stride,
                     job->dim, job->dim,
                     1,        true };
    if (n_h == 1 && job->dim <= most) {
        for (size_t row = 0; row < halves; row++) lines_whole(&t, row, dots_two, &kernel);
        return;
    }
    if (job->dim > most) {
        const size_t parts = (job->dim + most - 1) / most;
        t.stretch = (job->dim / parts + 31) / 32 * 32;
        t.rows = DOTS_LINE_ROWS;
    }
    for (size_t row = 0; row < halves; row += t.rows)
        lines_rows(&t, row, halves - row < t.rows ? halves : row + t.rows, n_h, dots_two, &kernel);
}

/* The same for any number of vectors that dots_next gives. */
#define DOTS_TILES(name, size, half, last, add)                                                    \
    static void dots_##name##_tile(const dots_tile *t, size_t n_h)                                 \
    {                                                                                              \
        const dots_type type = { size, half, last, add };                                          \
        switch (n_h) {                                                                             \
        case 1: dots_fours(t, 1, type); break;                                                     \
        case 2: dots_fours(t, 2, type); break;                                                     \
        case 3: dots_fours(t, 3, type); break;                                                     \
        case 4: dots_fours(t, 4, type); break;                                                     \
        default: dots_fours(t, DOTS_MOST, type);                                                   \
        }                                                                                          \
    }
/* `near` vectors at most are best by lines where all of them stay in the first-level cache; where
 * they do not, all that lines can have. */
#define DOTS_KERNEL(name, size, half, last, add, near)                                             \
    DOTS_TILES(name, size, half, last, add)                                                        \
    static void dots_##name(const wte__dots *job)                                                  \
    {                                                                                              \
        const dots_type type = { size, half, last, add };                                          \
        switch (job->n_h <= (near) || !dots_are_near(job) ? job->n_h : DOTS_LINE_VECTORS + 1) {    \
        case 0: break;                                                                             \
        case 1: dots_by_lines(job, 1, type); break;                                                \
        case 2: dots_by_lines(job, 2, type); break;                                                \
        case 3: dots_by_lines(job, 3, type); break;                                                \
        case 4: dots_by_lines(job, 4, type); break;                                                \
        case 5: dots_by_lines(job, 5, type); break;                                                \
        case 6: dots_by_lines(job, 6, type); break;                                                \
        case 7: dots_by_lines(job, 7, type); break;                                                \
        case 8: dots_by_lines(job, 8, type); break;                                                \
        default: dots_run(job, DOTS_MOST, dots_##name##_tile);                                     \
        }                                                                                          \
    }
#endif
