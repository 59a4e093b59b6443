/* Products of table rows with hidden vectors under NEON. All 16 lanes of a sum (docs/kernels.md,
 * "Dots") are four registers, so that 24 of the 32 registers hold the sums of two rows times three
 * vectors, or 16 those of four rows times one. For kernel_neon.c, which has `eight`,
 * load_4_floats and add_16. */
#ifndef WTE_SRC_NUM_DOTS_NEON_H
#define WTE_SRC_NUM_DOTS_NEON_H
#include <arm_neon.h>
#include <string.h>

#include "num/kernels.h"

#define DOTS_LANES   16u
#define DOTS_ROWS    4u /* at most */
#define DOTS_VECTORS 3u /* at most */
/* Hidden vectors that stay in the first-level cache while rows pass by. */
#define DOTS_NEAR_BYTES ((size_t)32 << 10)

/* Rows from `row` on, vectors from `vector` on. */
typedef struct dots_tile {
    const wte__dots *job;
    size_t row, vector;
} dots_tile;

ALWAYS_INLINE const char *row_of(const dots_tile *t, size_t r)
{
    return (const char *)t->job->w + (t->row + r) * t->job->w_stride;
}
ALWAYS_INLINE const float *vector_of(const dots_tile *t, size_t i)
{
    return t->job->h + (t->vector + i) * t->job->h_stride;
}

typedef float32x4_t dots_sums[DOTS_ROWS][DOTS_VECTORS][DOTS_LANES / 4];

/* Where rows and vectors continue. */
typedef struct dots_from {
    const char *w[DOTS_ROWS];
    const float *h[DOTS_VECTORS];
} dots_from;

/* The last elements, fewer than 16, with zeros behind them. Taken before the sums begin, since a
 * call of memcpy among them would drive them out of their registers. */
typedef struct dots_rest {
    char w[DOTS_ROWS][DOTS_LANES * sizeof(float)];
    float h[DOTS_VECTORS][DOTS_LANES];
} dots_rest;

ALWAYS_INLINE dots_from take_rest(const dots_from *at, size_t n_w, size_t n_h, size_t dim,
                                  size_t size, dots_rest *rest)
{
    const size_t left = dim % DOTS_LANES, done = dim - left;
    dots_from from = { { NULL }, { NULL } };
    memset(rest, 0, sizeof *rest);
    for (size_t r = 0; r < n_w; r++) {
        memcpy(rest->w[r], at->w[r] + done * size, left * size);
        from.w[r] = rest->w[r];
    }
    for (size_t i = 0; i < n_h; i++) {
        memcpy(rest->h[i], at->h[i] + done, left * sizeof(float));
        from.h[i] = rest->h[i];
    }
    return from;
}

/* 16 elements, from element k on, of n_w rows and n_h vectors. Half of them at a time, so that few
 * registers hold what is multiplied. */
ALWAYS_INLINE void add_sixteen(dots_sums sums, const dots_from *at, size_t n_w, size_t n_h,
                               size_t k, size_t size, eight_to_f32 read)
{
    UNROLLED
    for (size_t half = 0; half < 2; half++, k += 8) {
        eight w[DOTS_ROWS];
        UNROLLED
        for (size_t r = 0; r < n_w; r++) w[r] = read(at->w[r] + k * size);
        UNROLLED
        for (size_t i = 0; i < n_h; i++) {
            const eight h = eight_f32((const char *)(at->h[i] + k));
            UNROLLED
            for (size_t r = 0; r < n_w; r++) {
                float32x4_t *sum = sums[r][i] + 2 * half;
                sum[0] = vfmaq_f32(sum[0], w[r].low, h.low);
                sum[1] = vfmaq_f32(sum[1], w[r].high, h.high);
            }
        }
    }
}

/* n_w and n_h are constants where this is inlined. */
ALWAYS_INLINE void dots_of(const dots_tile *t, size_t n_w, size_t n_h, size_t size,
                           eight_to_f32 read)
{
    const size_t dim = t->job->dim, out_stride = t->job->out_stride;
    dots_from at, last;
    dots_rest rest;
    dots_sums sums;
    UNROLLED
    for (size_t r = 0; r < n_w; r++) at.w[r] = row_of(t, r);
    UNROLLED
    for (size_t i = 0; i < n_h; i++) at.h[i] = vector_of(t, i);
    if (dim % DOTS_LANES) last = take_rest(&at, n_w, n_h, dim, size, &rest);
    UNROLLED
    for (size_t r = 0; r < n_w; r++) {
        UNROLLED
        for (size_t i = 0; i < n_h; i++) {
            UNROLLED
            for (size_t k = 0; k < DOTS_LANES / 4; k++) sums[r][i][k] = vdupq_n_f32(0);
        }
    }
    for (size_t k = 0; dim - k >= DOTS_LANES; k += DOTS_LANES)
        add_sixteen(sums, &at, n_w, n_h, k, size, read);
    if (dim % DOTS_LANES) add_sixteen(sums, &last, n_w, n_h, 0, size, read);
    float *const out = t->job->out + t->vector * out_stride + t->row;
    UNROLLED
    for (size_t r = 0; r < n_w; r++) {
        UNROLLED
        for (size_t i = 0; i < n_h; i++) {
            const float32x4_t *sum = sums[r][i];
            out[i * out_stride + r] = add_16(sum[0], sum[1], sum[2], sum[3]);
        }
    }
}

/* Rows up to `end` times one, two or three vectors. */
ALWAYS_INLINE void dots_rows(dots_tile t, size_t end, size_t n_h, size_t size, eight_to_f32 read)
{
    switch (n_h) {
    case 1:
        for (; end - t.row >= 4; t.row += 4) dots_of(&t, 4, 1, size, read);
        for (; t.row < end; t.row++) dots_of(&t, 1, 1, size, read);
        break;
    case 2:
        for (; end - t.row >= 2; t.row += 2) dots_of(&t, 2, 2, size, read);
        if (t.row < end) dots_of(&t, 1, 2, size, read);
        break;
    default:
        for (; end - t.row >= 2; t.row += 2) dots_of(&t, 2, 3, size, read);
        if (t.row < end) dots_of(&t, 1, 3, size, read);
    }
}

/* Where the vectors stay in the first-level cache, all of them pass over a few rows at a time, so
 * that each row is read from memory once; else the job's rows should be a tile that stays in the
 * second-level cache, and all of them pass by a few vectors. */
ALWAYS_INLINE void dots_run(const wte__dots *job, size_t size, eight_to_f32 read)
{
    const bool near = job->n_h * job->dim * sizeof *job->h <= DOTS_NEAR_BYTES;
    const size_t at_once = near ? DOTS_ROWS : job->n_w;
    dots_tile t = { .job = job };
    for (size_t end; t.row < job->n_w; t.row = end) {
        end = job->n_w - t.row < at_once ? job->n_w : t.row + at_once;
        for (size_t n; t.vector < job->n_h; t.vector += n) {
            n = job->n_h - t.vector < DOTS_VECTORS ? job->n_h - t.vector : DOTS_VECTORS;
            dots_rows(t, end, n, size, read);
        }
        t.vector = 0;
    }
}

#define DOTS_KERNEL(name, size, read)                                                              \
    static void dots_##name##_neon(const wte__dots *job)                                           \
    {                                                                                              \
        dots_run(job, size, read);                                                                 \
    }
#endif
