/* Products of table rows with hidden vectors, what AVX2 and AVX-512 share: how a job is cut into
 * tiles of four rows and a few vectors. An instruction set's file includes its own dots_<set>.h,
 * which includes this. Everything is static, so that no code of one set can be linked into
 * another's. */
#ifndef WTE_SRC_NUM_DOTS_X86_H
#define WTE_SRC_NUM_DOTS_X86_H
#include <stdint.h>
#include <string.h>

#include "num/kernels.h"

/* Sums live in registers only where all is inlined and loops over them are unrolled; with a
 * sanitizer's checks at every access that would take the compiler minutes, and there speed is of no
 * interest. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer) ||             \
    __has_feature(thread_sanitizer)
#define DOTS_CHECKED
#endif
#endif
#if defined(DOTS_CHECKED)
#define DOTS_INLINE static inline
#define DOTS_UNROLL _Pragma("clang loop unroll(disable)")
#elif defined(__clang__)
#define DOTS_INLINE static inline __attribute__((always_inline))
#define DOTS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DOTS_INLINE static inline __attribute__((always_inline))
#define DOTS_UNROLL _Pragma("GCC unroll 8")
#endif

#define DOTS_ROWS ((size_t)4) /* of a tile */
#define DOTS_MOST ((size_t)6) /* hidden vectors of a tile */
/* Hidden vectors that stay in the first-level cache while rows pass by. */
#define DOTS_NEAR_BYTES ((size_t)32 << 10)
/* Where that is less than a few vectors, long rows are multiplied a stretch at a time, so that the
 * stretch of six vectors stays there, and the sums of some rows are kept from stretch to stretch.
 */
#define DOTS_STRETCH   768u
#define DOTS_LONG_ROWS 24u
/* Memory is fetched four rows ahead, but no less and no more than this. Rows are read four at a
 * time, which the processor's own prefetchers do not follow well: they alone took 1.4 times as long
 * on rows of 1.5 KB, and still 1.15 times when fetched 2 to 4 KB ahead. */
#define DOTS_AHEAD_LEAST ((size_t)8 << 10)
#define DOTS_AHEAD_MOST  ((size_t)24 << 10)

/* Rows times a few vectors: what a set's function does in groups of four rows. */
typedef struct dots_tile {
    const char *w;
    size_t w_stride, n_w; /* a multiple of four; at most DOTS_LONG_ROWS when dim > stretch */
    size_t stretch; /* elements that all rows are to be multiplied with before the next ones */
    const float *h;
    size_t h_stride, dim;
    float *out; /* sum of row r and vector i goes to out[i * out_stride + r] */
    size_t out_stride;
    /* What is fetched while four rows are worked on: four lines at a time, `fetch_step` apart, from
     * `ahead` bytes behind the first row on, as long as all of it lies before `end`. */
    size_t ahead, fetch_step;
    const char *end;
    size_t h_left; /* vectors at h and behind: of long rows those that come next are fetched */
} dots_tile;

/* Where the four rows at w fetch from; themselves, which costs next to nothing, at the end. */
DOTS_INLINE const char *dots_fetch(const dots_tile *t, const char *w)
{
    const size_t left = (size_t)(t->end - w);
    return left >= t->ahead + DOTS_ROWS * t->w_stride ? w + t->ahead : w;
}

/* How many vectors the next tile takes. The set's function does 1, 2, 3, 4 or 6. */
DOTS_INLINE size_t dots_next(size_t left, size_t most)
{
    if (most == DOTS_MOST && (left == 6 || left > 8)) return 6;
    if (most > 3 && (left == 4 || left > 6)) return 4;
    return left < 3 ? left : 3;
}

typedef void (*dots_tile_kernel)(const dots_tile *tile, size_t n_h);

/* Fewer than four rows: each of them four times. */
DOTS_INLINE void dots_single(const dots_tile *t, size_t n_h, dots_tile_kernel kernel)
{
    float spare[DOTS_MOST * DOTS_ROWS];
    for (size_t r = 0; r < t->n_w; r++) {
        dots_tile four = *t;
        four.w += r * t->w_stride;
        four.w_stride = 0;
        four.n_w = DOTS_ROWS;
        four.ahead = four.fetch_step = 0;
        four.out = spare;
        four.out_stride = DOTS_ROWS;
        kernel(&four, n_h);
        for (size_t i = 0; i < n_h; i++) t->out[i * t->out_stride + r] = spare[i * DOTS_ROWS];
    }
}

/* Rows that are left over are done together with some that were done before. */
DOTS_INLINE void dots_rows(dots_tile *t, size_t n_h, dots_tile_kernel kernel)
{
    const size_t left = t->n_w % DOTS_ROWS;
    if (t->n_w < DOTS_ROWS) {
        dots_single(t, n_h, kernel);
        return;
    }
    t->n_w -= left;
    kernel(t, n_h);
    if (!left) return;
    t->w += (t->n_w + left - DOTS_ROWS) * t->w_stride;
    t->out += t->n_w + left - DOTS_ROWS;
    t->n_w = DOTS_ROWS;
    kernel(t, n_h);
}

/* Whether all vectors stay in the first-level cache. */
DOTS_INLINE bool dots_are_near(const wte__dots *job)
{
    return job->n_h * job->dim * sizeof *job->h <= DOTS_NEAR_BYTES;
}

/* Each row is read from memory once: by the first group of vectors, or, when all vectors stay in
 * the first-level cache, by all groups in turn, which then share the fetching. Otherwise the
 * caller's rows should be a tile that stays in the second-level cache. `most` vectors at once. */
DOTS_INLINE void dots_run(const wte__dots *job, size_t most, dots_tile_kernel kernel)
{
    const bool near = dots_are_near(job);
    const bool is_long = !near && job->dim > DOTS_STRETCH + DOTS_STRETCH / 2;
    const size_t at_once = near ? DOTS_ROWS : is_long ? DOTS_LONG_ROWS : job->n_w;
    const size_t four = DOTS_ROWS * job->w_stride;
    const size_t least = four < DOTS_AHEAD_LEAST ? DOTS_AHEAD_LEAST : four;
    const size_t ahead = least < DOTS_AHEAD_MOST ? least : DOTS_AHEAD_MOST;
    const size_t groups = near ? (job->n_h + most - 1) / most : 1;
    for (size_t from = 0; from < job->n_w; from += at_once) {
        for (size_t i = 0, n; i < job->n_h; i += n) {
            n = dots_next(job->n_h - i, most);
            const bool fetch = near || (i == 0 && !is_long);
            dots_tile t = {
                .w = (const char *)job->w + from * job->w_stride,
                .w_stride = job->w_stride,
                .n_w = job->n_w - from < at_once ? job->n_w - from : at_once,
                .stretch = is_long ? DOTS_STRETCH : job->dim,
                .h = job->h + i * job->h_stride,
                .h_stride = job->h_stride,
                .dim = job->dim,
                .out = job->out + i * job->out_stride + from,
                .out_stride = job->out_stride,
                .ahead = fetch ? ahead + i * four / job->n_h : 0,
                .fetch_step = fetch ? DOTS_ROWS * 64 / groups : 0,
                .end = (const char *)job->w + (job->n_w + job->prefetch_rows) * job->w_stride,
                .h_left = job->n_h - i,
            };
            dots_rows(&t, n, kernel);
        }
    }
}
#endif
