/* Sums of the parts of rows, for any vector width. An instruction set's file includes its
 * bag_<set>.h, which has vec, VEC_LANES and read_<type>, then defines
 *
 *     vec_where(x, at, member, n)   lane k of x where at[k] is member, else 0, for k < n
 *     wide                          as many f64 as a vec has f32
 *     wide_zero, wide_load, wide_store(to, w)   of VEC_LANES doubles
 *     wide_plus(w, x)               the sum
 *     wide_round(w)                 to f32
 *
 * and includes this. As with bags, everything is static and inlined.
 *
 * The first parts of a row go to a buffer in the first-level cache (rows of BAG_VECTORS vectors: to
 * registers), the last one on from there into the row: a row of one part, which most are, is read
 * once and written once. Parts are anywhere in
 * d_out and rows anywhere in the table, so both are prefetched, line by line among the arithmetic.
 */
#ifndef WTE_SRC_NUM_SCATTER_VECTORS_H
#define WTE_SRC_NUM_SCATTER_VECTORS_H
#include <string.h>

#include "num/kernels.h"

/* Columns that are summed at a time: their buffer takes 8 KiB in f64. */
#define SCATTER_COLS ((size_t)1024)
/* Columns between two prefetches. */
#define SCATTER_STEP ((size_t)32)
/* What is prefetched lies so many bytes of rows ahead, each counted as so many more; at least one
 * row and at most so many. */
#define SCATTER_AHEAD      ((size_t)6144)
#define SCATTER_ROW_MORE   ((size_t)256)
#define SCATTER_AHEAD_ROWS ((size_t)32)

typedef struct scatter_walk {
    const wte__scatter *job;
    size_t ahead;       /* parts, and rows, that lie between what is prefetched and what is done */
    size_t begin, cols; /* the columns being summed */
    bool held;          /* rows are as long as some registers, and parts have all columns */
    float *sum;         /* of the parts so far: one of the two */
    double *wide_sum;
} scatter_walk;

/* One part of a row. */
typedef struct scatter_part {
    const char *from;
    const uint64_t *max_at;
    uint64_t member;
    vec by;
    char *to;                   /* where the row goes, when this part is its last */
    const char *next, *next_to; /* to be prefetched: a part, and then a row */
} scatter_part;

/* What is done with a part: it is the only one, joins the sum, or is the last one to do so. */
typedef enum scatter_way { SCATTER_ALONE, SCATTER_JOIN, SCATTER_LAST } scatter_way;

BAG_INLINE void scatter_vec(const scatter_walk *walk, const scatter_part *part, size_t c, size_t n,
                            scatter_way way, bool wide_sums, size_t bits, read_vec read)
{
    vec x = vec_mul(read(part->from + c * bits / 8, n, NULL), part->by);
    if (part->max_at) x = vec_where(x, part->max_at + c, part->member, n);
    if (wide_sums && way != SCATTER_ALONE) {
        const wide sum = wide_plus(wide_load(walk->wide_sum + c), x);
        if (way == SCATTER_JOIN)
            wide_store(walk->wide_sum + c, sum);
        else
            x = wide_round(sum);
    } else {
        char *at = (char *)(walk->sum + c);
        x = vec_add(way == SCATTER_ALONE ? vec_zero() : vec_load(at, VEC_LANES), x);
        if (way == SCATTER_JOIN) vec_store(at, x, VEC_LANES);
    }
    if (way == SCATTER_JOIN) return;
    char *to = part->to + c * sizeof(float);
    vec_store(to, walk->job->add ? vec_add(vec_load(to, n), x) : x, n);
}

BAG_INLINE void scatter_fetch(const scatter_part *part, size_t c, scatter_way way, size_t bits)
{
    __builtin_prefetch(part->next + c * bits / 8);
    if (bits == 32) __builtin_prefetch(part->next + c * bits / 8 + BAG_LINE);
    if (way == SCATTER_JOIN) return;
    __builtin_prefetch(part->next_to + c * sizeof(float));
    __builtin_prefetch(part->next_to + c * sizeof(float) + BAG_LINE);
}

BAG_INLINE void scatter_row_part(const scatter_walk *walk, const scatter_part *part,
                                 scatter_way way, bool wide_sums, size_t bits, read_vec read)
{
    const size_t cols = walk->cols;
    size_t c = 0;
    for (; cols - c >= SCATTER_STEP; c += SCATTER_STEP) {
        scatter_fetch(part, c, way, bits);
        for (size_t k = c; k < c + SCATTER_STEP; k += VEC_LANES)
            scatter_vec(walk, part, k, VEC_LANES, way, wide_sums, bits, read);
    }
    /* the end of a row, which may have begun within a line */
    __builtin_prefetch(part->next + (cols * bits / 8 - 1));
    if (way != SCATTER_JOIN) __builtin_prefetch(part->next_to + (cols * sizeof(float) - 1));
    for (size_t n; c < cols; c += n) {
        n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        scatter_vec(walk, part, c, n, way, wide_sums, bits, read);
    }
}

BAG_INLINE char *scatter_target(const scatter_walk *walk, size_t u)
{
    const wte__scatter *job = walk->job;
    return (char *)(job->out + (job->rows ? job->rows[u] : u) * job->out_stride + walk->begin);
}
/* Past the last one that is known it is that one again. */
BAG_INLINE const char *scatter_target_ahead(const scatter_walk *walk, size_t u)
{
    const wte__scatter *job = walk->job;
    const size_t known = job->rows_prefetch_end > job->n ? job->rows_prefetch_end : job->n;
    return scatter_target(walk, known - u > walk->ahead ? u + walk->ahead : known - 1);
}
BAG_INLINE const char *scatter_source(const scatter_walk *walk, uint64_t p, size_t bits)
{
    return (const char *)walk->job->d_out + walk->job->from[p] * walk->job->stride +
           walk->begin * bits / 8;
}
BAG_INLINE const char *scatter_source_ahead(const scatter_walk *walk, uint64_t p, size_t bits)
{
    const size_t known = walk->job->prefetch_end;
    return scatter_source(walk, known - p > walk->ahead ? p + walk->ahead : known - 1, bits);
}

BAG_INLINE scatter_part scatter_part_of(const scatter_walk *walk, uint64_t p, size_t bits)
{
    const wte__scatter *job = walk->job;
    const uint64_t *max_at =
        job->max_at ? job->max_at + job->from[p] * job->max_stride + walk->begin : NULL;
    return (scatter_part){ .from = scatter_source(walk, p, bits),
                           .max_at = max_at,
                           .member = job->max_at ? job->member[p] : 0,
                           .by = vec_set(job->factor ? job->factor[p] : 1.0f),
                           .next = scatter_source_ahead(walk, p, bits) };
}

/* Row u, which has several parts, where it is as long as the registers that hold its sum. */
BAG_INLINE void scatter_held(const scatter_walk *walk, size_t u, size_t bits, read_vec read)
{
    const wte__scatter *job = walk->job;
    const size_t bytes = VEC_LANES * bits / 8;
    char *to = scatter_target(walk, u);
    const char *next_to = scatter_target_ahead(walk, u);
    vec sum[BAG_VECTORS];
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++) sum[k] = vec_zero();
    for (uint64_t p = job->first[u]; p < job->first[u + 1]; p++) {
        const scatter_part part = scatter_part_of(walk, p, bits);
        BAG_UNROLLED
        for (size_t k = 0; k < BAG_VECTORS; k++) {
            if (k * bytes % BAG_LINE == 0) __builtin_prefetch(part.next + k * bytes);
            sum[k] =
                vec_add(sum[k], vec_mul(read(part.from + k * bytes, VEC_LANES, NULL), part.by));
        }
        __builtin_prefetch(part.next + (BAG_VECTORS * bytes - 1));
    }
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++) {
        char *at = to + k * VEC_LANES * sizeof(float);
        __builtin_prefetch(next_to + k * VEC_LANES * sizeof(float));
        vec_store(at, job->add ? vec_add(vec_load(at, VEC_LANES), sum[k]) : sum[k], VEC_LANES);
    }
    __builtin_prefetch(next_to + (BAG_VECTORS * VEC_LANES * sizeof(float) - 1));
}

/* Row u, in the columns of the walk. */
BAG_INLINE void scatter_row(const scatter_walk *walk, size_t u, bool wide_sums, size_t bits,
                            read_vec read)
{
    const uint64_t begin = walk->job->first[u], last = walk->job->first[u + 1] - 1;
    const size_t rounded = (walk->cols + VEC_LANES - 1) / VEC_LANES * VEC_LANES;
    scatter_part part;
    if (begin < last && walk->held && !wide_sums) {
        scatter_held(walk, u, bits, read);
        return;
    }
    if (begin < last && wide_sums)
        memset(walk->wide_sum, 0, rounded * sizeof *walk->wide_sum);
    else if (begin < last)
        memset(walk->sum, 0, rounded * sizeof *walk->sum);
    for (uint64_t p = begin; p < last; p++) {
        part = scatter_part_of(walk, p, bits);
        scatter_row_part(walk, &part, SCATTER_JOIN, wide_sums, bits, read);
    }
    part = scatter_part_of(walk, last, bits);
    part.to = scatter_target(walk, u);
    part.next_to = scatter_target_ahead(walk, u);
    if (begin < last)
        scatter_row_part(walk, &part, SCATTER_LAST, wide_sums, bits, read);
    else
        scatter_row_part(walk, &part, SCATTER_ALONE, wide_sums, bits, read);
}

/* The parts and rows that nothing else prefetches. */
BAG_INLINE void scatter_fetch_first(const scatter_walk *walk, size_t bits)
{
    const wte__scatter *job = walk->job;
    const size_t from_bytes = walk->cols * bits / 8, to_bytes = walk->cols * sizeof(float);
    for (uint64_t i = 0; i < walk->ahead && job->first[0] + i < job->first[job->n]; i++) {
        const char *from = scatter_source(walk, job->first[0] + i, bits);
        for (size_t at = 0; at < from_bytes; at += BAG_LINE) __builtin_prefetch(from + at);
    }
    for (size_t u = 0; u < walk->ahead && u < job->n; u++) {
        const char *to = scatter_target(walk, u);
        for (size_t at = 0; at < to_bytes; at += BAG_LINE) __builtin_prefetch(to + at);
    }
}

BAG_INLINE void scatter_rows(const wte__scatter *given, bool wide_sums, size_t bits, read_vec read)
{
    const wte__scatter job = *given; /* a copy, which no store can change */
    float sum[SCATTER_COLS] __attribute__((aligned(64)));
    double wide_sum[SCATTER_COLS] __attribute__((aligned(64)));
    const size_t ahead = 1 + SCATTER_AHEAD / (job.cols * bits / 8 + SCATTER_ROW_MORE);
    scatter_walk walk = { .job = &job,
                          .ahead = ahead < SCATTER_AHEAD_ROWS ? ahead : SCATTER_AHEAD_ROWS,
                          .held = job.cols == BAG_VECTORS * VEC_LANES && !job.max_at,
                          .sum = sum,
                          .wide_sum = wide_sum };
    walk.cols = job.cols < SCATTER_COLS ? job.cols : SCATTER_COLS;
    if (job.cold) scatter_fetch_first(&walk, bits);
    for (size_t u = 0; u < job.n; u++)
        for (walk.begin = 0; walk.begin < job.cols; walk.begin += walk.cols) {
            walk.cols = job.cols - walk.begin < SCATTER_COLS ? job.cols - walk.begin : SCATTER_COLS;
            scatter_row(&walk, u, wide_sums, bits, read);
        }
}

BAG_INLINE void scatter_any(const wte__scatter *job, size_t bits, read_vec read)
{
    if (job->n == 0 || job->cols == 0) return;
    if (job->f64_sums)
        scatter_rows(job, true, bits, read);
    else
        scatter_rows(job, false, bits, read);
}

#define SCATTER_KERNEL(name, bits, isa)                                                            \
    static void scatter_##name##_##isa(const wte__scatter *job)                                    \
    {                                                                                              \
        scatter_any(job, bits, read_##name);                                                       \
    }
#define SCATTER_KERNELS(isa)                                                                       \
    SCATTER_KERNEL(f32, 32, isa)                                                                   \
    SCATTER_KERNEL(f16, 16, isa)                                                                   \
    SCATTER_KERNEL(bf16, 16, isa)
#endif
