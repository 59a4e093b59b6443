/* Products of table rows with hidden vectors, what AVX2 and AVX-512 share: how a job is cut into
 * tiles of four rows and a few vectors. An instruction set's file includes its own dots_<set>.h,
 * which includes this. Everything is static, so that no code of one set can be linked into
 * another's. */
#ifndef WTE_SRC_NUM_DOTS_X86_H
#define WTE_SRC_NUM_DOTS_X86_H
#include <stdint.h>
#include <string.h>

#include "num/kernels.h"

#define DOTS_INLINE static inline __attribute__((always_inline))
/* Sums live in registers only where loops over them are unrolled. */
#if defined(__clang__)
#define DOTS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DOTS_UNROLL _Pragma("GCC unroll 8")
#endif

#define DOTS_ROWS 4u /* of a tile */
#define DOTS_MOST 6u /* hidden vectors of a tile */
/* Hidden vectors that stay in the first-level cache while rows pass by. */
#define DOTS_NEAR_BYTES ((size_t)32 << 10)
/* Memory is fetched four rows ahead, but no less and no more than this. Rows are read four at a
 * time, which the processor's own prefetchers do not follow well: they alone took 1.4 times as long
 * on rows of 1.5 KB, and still 1.15 times when fetched 2 to 4 KB ahead. */
#define DOTS_AHEAD_LEAST ((size_t)8 << 10)
#define DOTS_AHEAD_MOST  ((size_t)24 << 10)

typedef struct dots_tile {
    const char *w[DOTS_ROWS];
    const float *h;
    size_t h_stride, dim;
    /* sum of row r and vector i goes to out[i * out_stride + r], all four rows */
    float *out;
    size_t out_stride;
    /* What is fetched while the tile is worked on: four lines at a time, `fetch_step` apart. */
    const char *fetch;
    size_t fetch_step;
} dots_tile;

/* How many vectors the next tile takes. The set's function does 1, 2, 3, 4 or 6. */
DOTS_INLINE size_t dots_next(size_t left, size_t most)
{
    if (most == DOTS_MOST && (left == 6 || left > 8)) return 6;
    if (most > 3 && (left == 4 || left > 6)) return 4;
    return left < 3 ? left : 3;
}

typedef void (*dots_tile_kernel)(const dots_tile *tile, size_t n_h);

/* Four rows from `row` on times n_h vectors; where fewer are left the last one stands in. */
DOTS_INLINE void dots_rows(const wte__dots *job, dots_tile *t, size_t row, size_t n_h,
                           dots_tile_kernel kernel)
{
    const size_t left = job->n_w - row, n = left < DOTS_ROWS ? left : DOTS_ROWS;
    float spare[DOTS_MOST * DOTS_ROWS];
    float *const out = t->out + row;
    dots_tile tile = *t;
    for (size_t r = 0; r < DOTS_ROWS; r++)
        tile.w[r] = (const char *)job->w + (row + (r < n ? r : n - 1)) * job->w_stride;
    tile.out = out;
    if (n < DOTS_ROWS) {
        tile.out = spare;
        tile.out_stride = DOTS_ROWS;
    }
    kernel(&tile, n_h);
    for (size_t i = 0; n < DOTS_ROWS && i < n_h; i++)
        memcpy(out + i * t->out_stride, spare + i * DOTS_ROWS, n * sizeof *out);
}

/* What is fetched while row `row` and the next three are worked on, the first time. */
DOTS_INLINE void dots_fetch(const wte__dots *job, dots_tile *t, size_t row)
{
    const size_t four = DOTS_ROWS * job->w_stride, all = job->n_w * job->w_stride;
    const size_t least = four < DOTS_AHEAD_LEAST ? DOTS_AHEAD_LEAST : four;
    const size_t ahead = least < DOTS_AHEAD_MOST ? least : DOTS_AHEAD_MOST;
    const size_t at = row * job->w_stride, end = at + ahead + four;
    const bool inside = end <= all;
    t->fetch = (const char *)job->w + (inside ? at + ahead : at);
    t->fetch_step = inside ? 4 * 64 : 0;
}

/* Each row is read from memory once: by the first group of vectors, or, when all vectors stay in
 * the first-level cache, by all groups in turn. Then the caller's rows are a tile of the
 * second-level cache. `most` vectors at once. */
DOTS_INLINE void dots_run(const wte__dots *job, size_t most, dots_tile_kernel kernel)
{
    const bool near = job->n_h * job->dim * sizeof *job->h <= DOTS_NEAR_BYTES;
    const size_t at_once = near ? DOTS_ROWS : job->n_w;
    for (size_t from = 0; from < job->n_w; from += at_once) {
        const size_t to = job->n_w - from < at_once ? job->n_w : from + at_once;
        for (size_t i = 0, n; i < job->n_h; i += n) {
            n = dots_next(job->n_h - i, most);
            dots_tile t = { .h = job->h + i * job->h_stride,
                            .h_stride = job->h_stride,
                            .dim = job->dim,
                            .out = job->out + i * job->out_stride,
                            .out_stride = job->out_stride,
                            .fetch = job->w };
            for (size_t row = from; row < to; row += DOTS_ROWS) {
                if (i == 0) dots_fetch(job, &t, row);
                dots_rows(job, &t, row, n, kernel);
            }
        }
    }
}
#endif
