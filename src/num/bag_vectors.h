/* Lookups and bags for any vector width. An instruction set's file defines
 *
 *     vec, VEC_LANES         a vector of f32, and how many it holds
 *     row_params             what the rowwise readers need of a row: scale and bias, or values
 *     read_<type>(from, n, p)      n <= VEC_LANES elements, which begin with a byte; no byte beyond
 *     params_<type>(stored, codes)    of the row whose elements begin there
 *     vec_zero, vec_set, vec_add, vec_mul, vec_fma, vec_div, vec_max (a > b ? a : b)
 *     vec_quiet              a NaN becomes quiet
 *     vec_load, vec_store(to, x, n)      n lanes
 *     vec_stream(to, x)      all lanes, past the caches, `to` aligned to 64 bytes
 *     vec_fence()            orders those before what follows, which nothing else does
 *
 * and then includes this. Everything here is static, so that no code of one instruction set can be
 * linked into another's; and inlined, so that the type and what is done with it are constants in
 * the loops.
 *
 * Rows are anywhere in the table, so each is prefetched some rows before it is read, line by line
 * among the arithmetic of another; the list of rows goes on across the ends of bags. */
#ifndef WTE_SRC_NUM_BAG_VECTORS_H
#define WTE_SRC_NUM_BAG_VECTORS_H
#include <stdint.h>
#include <string.h>

#include "num/kernels.h"

#define BAG_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define BAG_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define BAG_UNROLLED _Pragma("GCC unroll 16")
#endif

#define BAG_LINE ((size_t)64) /* of the caches */
/* What is prefetched lies so many bytes of rows ahead, each counted as so many more, but at least
 * one row and at most so many: 32 rows of 512 bytes, 48 of 256, 64 of 136. */
#define BAG_AHEAD      ((size_t)24576)
#define BAG_ROW_MORE   ((size_t)256)
#define BAG_AHEAD_ROWS ((size_t)64)
/* Lookups write as much as they read, or more, and look less far. */
#define LOOKUP_AHEAD ((size_t)6144)
/* Rows of fewer output bytes than this share lines, which are slow to stream in parts. */
#define LOOKUP_STREAM ((size_t)256)
/* Vectors of a row whose sums are kept in registers, if it has just so many. */
#define BAG_VECTORS 8

typedef vec (*read_vec)(const char *from, size_t n, const row_params *p);
typedef row_params (*read_params)(const wte__stored *s, const char *row);

/* How elements join what is there. */
typedef enum bag_way { BAG_SET, BAG_ADD, BAG_FMA, BAG_MAX, BAG_FIRST } bag_way;

BAG_INLINE vec bag_join(bag_way way, vec there, vec x, vec by)
{
    switch (way) {
    case BAG_SET: return vec_mul(x, by);
    case BAG_ADD: return vec_add(there, x);
    case BAG_FMA: return vec_fma(by, x, there);
    case BAG_MAX: return vec_max(x, there);
    default: return vec_quiet(x); /* a NaN in the first member stays */
    }
}

BAG_INLINE void bag_put(char *to, vec x, vec by, bag_way way, size_t n)
{
    const bool alone = way == BAG_SET || way == BAG_FIRST;
    vec_store(to, bag_join(way, alone ? x : vec_load(to, n), x, by), n);
}

/* What is to be done with the elements of one row after the other. */
typedef struct bag_walk {
    const wte__stored *from;
    const uint64_t *rows;
    size_t known, ahead; /* rows[i + ahead] is prefetched with rows[i] */
    bag_way way;
    bool stream;
} bag_walk;

BAG_INLINE bag_walk walk_of(const wte__stored *from, const uint64_t *rows, size_t known,
                            size_t ahead_bytes)
{
    const size_t ahead = 1 + ahead_bytes / (from->row_bytes + BAG_ROW_MORE);
    return (bag_walk){ .from = from,
                       .rows = rows,
                       .known = known,
                       .ahead = ahead < BAG_AHEAD_ROWS ? ahead : BAG_AHEAD_ROWS };
}
/* Where the elements of a row begin. */
BAG_INLINE const char *codes_of(const bag_walk *walk, size_t i)
{
    return (const char *)walk->from->codes + walk->rows[i] * walk->from->stride;
}
/* Where the row to be prefetched begins. After the last known one it is that one again. */
BAG_INLINE const char *row_ahead(const bag_walk *walk, size_t i)
{
    const size_t later = walk->known - i > walk->ahead ? i + walk->ahead : walk->known - 1;
    return (const char *)walk->from->table + walk->rows[later] * walk->from->stride;
}
/* The rows that nothing else prefetches. */
BAG_INLINE void fetch_first_rows(const bag_walk *walk)
{
    const size_t bytes = walk->from->row_bytes;
    for (size_t i = 0; i < walk->ahead && i < walk->known; i++) {
        const char *row = (const char *)walk->from->table + walk->rows[i] * walk->from->stride;
        for (size_t at = 0; at < bytes; at += BAG_LINE) __builtin_prefetch(row + at);
        __builtin_prefetch(row + bytes - 1); /* a row that is not aligned has one line more */
    }
}

/* Columns before the first whole line of the output, where lines are streamed. */
BAG_INLINE size_t columns_before_line(const char *to, size_t cols, bool stream)
{
    const size_t head = stream ? (-(uintptr_t)to & (BAG_LINE - 1)) / sizeof(float) : 0;
    return head < cols ? head : cols;
}

/* Row i into or onto `to`. */
BAG_INLINE void walk_row(const bag_walk *walk, size_t i, char *to, vec by, size_t bits,
                         read_vec read, read_params params)
{
    const size_t cols = walk->from->cols, line = BAG_LINE * 8 / bits;
    const char *codes = codes_of(walk, i), *next = row_ahead(walk, i);
    const row_params p = params(walk->from, codes);
    const size_t head = columns_before_line(to, cols, walk->stream);
    size_t c = 0;
    for (size_t n; c < head; c += n) {
        n = head - c < VEC_LANES ? head - c : VEC_LANES;
        bag_put(to + c * sizeof(float), read(codes + c * bits / 8, n, &p), by, walk->way, n);
    }
    __builtin_prefetch(next + walk->from->row_bytes - 1);
    for (; cols - c >= line; c += line) {
        __builtin_prefetch(next + c * bits / 8);
        for (size_t k = c; k < c + line; k += VEC_LANES) {
            const vec x = read(codes + k * bits / 8, VEC_LANES, &p);
            if (walk->stream)
                vec_stream(to + k * sizeof(float), bag_join(walk->way, x, x, by));
            else
                bag_put(to + k * sizeof(float), x, by, walk->way, VEC_LANES);
        }
    }
    if (c < cols) __builtin_prefetch(next + c * bits / 8);
    for (; cols - c >= VEC_LANES; c += VEC_LANES)
        bag_put(to + c * sizeof(float), read(codes + c * bits / 8, VEC_LANES, &p), by, walk->way,
                VEC_LANES);
    if (c < cols)
        bag_put(to + c * sizeof(float), read(codes + c * bits / 8, cols - c, &p), by, walk->way,
                cols - c);
}

/* Lookups ------------------------------------------------------------------------------------ */

BAG_INLINE void look_up(const wte__lookup *job, bool stream, size_t bits, read_vec read,
                        read_params params)
{
    const wte__stored from = job->from; /* a copy, which no store can change */
    bag_walk walk = walk_of(&from, job->rows, job->known, LOOKUP_AHEAD);
    walk.stream = stream;
    const size_t n = job->n, out_stride = job->out_stride;
    const vec by = vec_set(job->scale);
    char *out = job->out;
    fetch_first_rows(&walk);
    for (size_t i = 0; i < n; i++) walk_row(&walk, i, out + i * out_stride, by, bits, read, params);
}

/* Streaming wants whole lines. A column on which one may begin then begins with a byte also where
 * an element has two bits. */
static inline bool lookup_streams(const wte__lookup *job)
{
    const uintptr_t place = (uintptr_t)job->out | job->out_stride;
    if (!job->stream || place & 15) return false;
    return !(place & (BAG_LINE - 1)) || job->from.cols * sizeof(float) > LOOKUP_STREAM;
}

BAG_INLINE void lookup_any(const wte__lookup *job, size_t bits, read_vec read, read_params params)
{
    if (job->n == 0) return;
    if (lookup_streams(job)) {
        look_up(job, true, bits, read, params);
        vec_fence();
    } else {
        look_up(job, false, bits, read, params);
    }
}

/* Bags --------------------------------------------------------------------------------------- */

/* One bag of a job. */
typedef struct bag_span {
    size_t begin, end; /* its members */
    bool fresh;        /* it has none yet */
    char *to;
    const float *divisor; /* or NULL */
} bag_span;

BAG_INLINE vec weight_of(const wte__bags *job, bag_way way, size_t i)
{
    return vec_set(way == BAG_FMA ? job->weights[i] : 1.0f);
}

/* A bag of rows of any width, its sums in memory: they lie in the first-level cache. */
BAG_INLINE void bag_in_memory(const wte__bags *job, const bag_walk *walk, bag_span bag, size_t bits,
                              read_vec read, read_params params)
{
    const size_t cols = walk->from->cols;
    bag_walk first = *walk;
    first.way = BAG_FIRST;
    if (bag.fresh && walk->way == BAG_MAX && bag.begin < bag.end)
        walk_row(&first, bag.begin++, bag.to, vec_set(1.0f), bits, read, params);
    else if (bag.fresh)
        memset(bag.to, 0, cols * sizeof(float));
    for (size_t i = bag.begin; i < bag.end; i++)
        walk_row(walk, i, bag.to, weight_of(job, walk->way, i), bits, read, params);
    if (!bag.divisor) return;
    const vec by = vec_set(*bag.divisor);
    for (size_t c = 0, n; c < cols; c += n) {
        n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        char *to = bag.to + c * sizeof(float);
        vec_store(to, vec_div(vec_load(to, n), by), n);
    }
}

/* Member i of a bag whose rows have BAG_VECTORS whole vectors joins the sums. */
BAG_INLINE void take_member(const bag_walk *walk, size_t i, bag_way way, vec by,
                            vec sum[BAG_VECTORS], size_t bits, read_vec read, read_params params)
{
    const size_t line = BAG_LINE * 8 / bits;
    const char *codes = codes_of(walk, i), *next = row_ahead(walk, i);
    const row_params p = params(walk->from, codes);
    __builtin_prefetch(next + walk->from->row_bytes - 1);
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++) {
        const size_t c = k * VEC_LANES;
        const vec x = read(codes + c * bits / 8, VEC_LANES, &p);
        if (c % line == 0) __builtin_prefetch(next + c * bits / 8);
        sum[k] = bag_join(way, sum[k], x, by);
    }
}

/* Such a bag, its sums in registers. */
BAG_INLINE void bag_in_registers(const wte__bags *job, const bag_walk *walk, bag_span bag,
                                 size_t bits, read_vec read, read_params params)
{
    const vec one = vec_set(1.0f), divisor = bag.divisor ? vec_set(*bag.divisor) : one;
    vec sum[BAG_VECTORS];
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++)
        sum[k] =
            bag.fresh ? vec_zero() : vec_load(bag.to + k * VEC_LANES * sizeof(float), VEC_LANES);
    if (bag.fresh && walk->way == BAG_MAX && bag.begin < bag.end)
        take_member(walk, bag.begin++, BAG_FIRST, one, sum, bits, read, params);
    for (size_t i = bag.begin; i < bag.end; i++)
        take_member(walk, i, walk->way, weight_of(job, walk->way, i), sum, bits, read, params);
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++)
        vec_store(bag.to + k * VEC_LANES * sizeof(float), vec_div(sum[k], divisor), VEC_LANES);
}

BAG_INLINE void reduce(const wte__bags *job, bag_way way, size_t bits, read_vec read,
                       read_params params)
{
    const wte__stored from = job->from; /* a copy, which no store can change */
    bag_walk walk = walk_of(&from, job->rows, job->known, BAG_AHEAD);
    walk.way = way;
    const bool in_registers = from.cols == (size_t)BAG_VECTORS * VEC_LANES;
    size_t begin = 0;
    fetch_first_rows(&walk);
    for (size_t b = 0; b < job->n_bags; b++) {
        const bag_span bag = { begin, job->ends[b], b || !job->go_on,
                               (char *)job->out + b * job->out_stride,
                               job->divisors ? &job->divisors[b] : NULL };
        if (in_registers)
            bag_in_registers(job, &walk, bag, bits, read, params);
        else
            bag_in_memory(job, &walk, bag, bits, read, params);
        begin = bag.end;
    }
}

BAG_INLINE void bags_any(const wte__bags *job, size_t bits, read_vec read, read_params params)
{
    if (job->max)
        reduce(job, BAG_MAX, bits, read, params);
    else if (job->weights)
        reduce(job, BAG_FMA, bits, read, params);
    else
        reduce(job, BAG_ADD, bits, read, params);
}

/* X(name, bits) of WTE__STORED_LIST, for an instruction set's suffix. */
#define BAG_KERNELS(name, bits, isa)                                                               \
    static void lookup_##name##_##isa(const wte__lookup *job)                                      \
    {                                                                                              \
        lookup_any(job, bits, read_##name, params_##name);                                         \
    }                                                                                              \
    static void bags_##name##_##isa(const wte__bags *job)                                          \
    {                                                                                              \
        bags_any(job, bits, read_##name, params_##name);                                           \
    }
#endif
