/* Lookups and bags for any vector width. An instruction set's file defines
 *
 *     vec, VEC_LANES         a vector of f32, and how many it holds
 *     row_params             what the rowwise readers need of a row: scale and bias, or values
 *     read_<type>(from, n, p)      n <= VEC_LANES elements, which begin with a byte; no byte beyond
 *     at_<block type>(codes, c, n, p)      VEC_LANES elements from column c on, a multiple of it
 *     params_<type>(stored, codes)    of the rowwise types: of the row whose elements begin there
 *     vec_zero, vec_set, vec_add, vec_mul, vec_fma, vec_div, vec_max (a > b ? a : b)
 *     vec_pick               by where a > b, else c; of any bits
 *     vec_number             an integer in all lanes
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
 * one row and at most so many: 37 rows of 512 bytes, 62 of 256, 84 of 136. */
#define BAG_AHEAD      ((size_t)22528)
#define BAG_ROW_MORE   ((size_t)112)
#define BAG_AHEAD_ROWS ((size_t)84)
/* Numbers of rows come from memory too, a line for every eight, and the processor's own prefetchers
 * lose sight of them among the rows. */
#define BAG_NUMBERS_AHEAD ((size_t)256)
/* Lookups write as much as they read, or more, and look less far. */
#define LOOKUP_AHEAD      ((size_t)6144)
#define LOOKUP_AHEAD_ROWS ((size_t)64)
#define LOOKUP_ROW_MORE   ((size_t)256)
/* Rows of fewer output bytes than this share lines, which are slow to stream in parts. */
#define LOOKUP_STREAM ((size_t)256)
/* Vectors of a row whose sums are kept in registers, if it has just so many. */
#define BAG_VECTORS 8

typedef vec (*read_vec)(const char *from, size_t n, const row_params *p);
/* n elements from column c on of the row whose elements begin at `codes`. */
typedef vec (*read_at)(const char *codes, size_t c, size_t n, const row_params *p);
typedef row_params (*read_params)(const wte__stored *s, const char *row);

/* Other types want nothing of a row. */
#define X(name)                                                                                    \
    BAG_INLINE row_params params_##name(const wte__stored *s, const char *codes)                   \
    {                                                                                              \
        (void)s;                                                                                   \
        (void)codes;                                                                               \
        return (row_params){ .scale = vec_zero() };                                                \
    }
X(f32)
X(f16)
X(bf16)
X(i8)
X(q8_0)
X(q4_0)
#undef X

/* How elements join what is there; the last two note whose they are, too. */
typedef enum bag_way {
    BAG_SET,
    BAG_ADD,
    BAG_FMA,
    BAG_MAX,
    BAG_FIRST,
    BAG_MAX_AT,
    BAG_FIRST_AT
} bag_way;

BAG_INLINE vec bag_join(bag_way way, vec there, vec x, vec by)
{
    switch (way) {
    case BAG_SET: return vec_mul(x, by);
    case BAG_ADD: return vec_add(there, x);
    case BAG_FMA: return vec_fma(by, x, there);
    case BAG_MAX:
    case BAG_MAX_AT: return vec_max(x, there);
    default: return vec_quiet(x); /* a NaN in the first member stays */
    }
}

/* Where a row's columns go: their results, and the numbers of the members they are of. */
typedef struct bag_place {
    char *to, *at;
} bag_place;

BAG_INLINE bag_place place_of(bag_place place, size_t column)
{
    place.to += column * sizeof(float);
    if (place.at) place.at += column * sizeof(uint32_t);
    return place;
}

BAG_INLINE void bag_put(bag_place place, vec x, vec by, bag_way way, size_t n)
{
    const bool alone = way == BAG_SET || way == BAG_FIRST || way == BAG_FIRST_AT;
    const vec there = alone ? x : vec_load(place.to, n);
    if (way == BAG_MAX_AT)
        vec_store(place.at, vec_pick(x, there, by, vec_load(place.at, n)), n);
    else if (way == BAG_FIRST_AT)
        vec_store(place.at, by, n);
    vec_store(place.to, bag_join(way, there, x, by), n);
}

/* What is to be done with the elements of one row after the other. */
typedef struct bag_walk {
    const wte__stored *from;
    const uint64_t *rows;
    size_t known, ahead; /* rows[i + ahead] is prefetched with rows[i] */
    bag_way way;
    bool stream;
} bag_walk;

BAG_INLINE size_t rows_ahead(size_t bytes, size_t row_bytes, size_t most)
{
    const size_t ahead = 1 + bytes / row_bytes;
    return ahead < most ? ahead : most;
}
/* Where the elements of a row begin. */
BAG_INLINE const char *codes_of(const bag_walk *walk, size_t i)
{
    return (const char *)walk->from->codes + walk->rows[i] * walk->from->stride;
}
BAG_INLINE const char *start_of(const bag_walk *walk, uint64_t row)
{
    return (const char *)walk->from->table + row * walk->from->stride;
}
/* The row to be prefetched. After the last known one it is that one again. */
BAG_INLINE uint64_t row_ahead(const bag_walk *walk, size_t i)
{
    const size_t later = i + walk->ahead;
    return walk->rows[later < walk->known ? later : walk->known - 1];
}
/* The rows that nothing else prefetches. False at one that is not below n_rows. */
BAG_INLINE bool fetch_first_rows(const bag_walk *walk, uint64_t n_rows)
{
    const size_t bytes = walk->from->row_bytes;
    for (size_t i = 0; i < walk->ahead && i < walk->known; i++) {
        if (walk->rows[i] >= n_rows) return false;
        const char *row = start_of(walk, walk->rows[i]);
        for (size_t at = 0; at < bytes; at += BAG_LINE) __builtin_prefetch(row + at);
        __builtin_prefetch(row + bytes - 1); /* a row that is not aligned has one line more */
    }
    return true;
}

/* Columns before the first whole line of the output, where lines are streamed. */
BAG_INLINE size_t columns_before_line(const char *to, size_t cols, bool stream)
{
    const size_t head = stream ? (-(uintptr_t)to & (BAG_LINE - 1)) / sizeof(float) : 0;
    return head < cols ? head : cols;
}

/* Row i into or onto its place; `next` is prefetched. */
BAG_INLINE void walk_row(const bag_walk *walk, size_t i, const char *next, bag_place place, vec by,
                         size_t bits, read_at read, read_params params)
{
    const size_t cols = walk->from->cols, line = BAG_LINE * 8 / bits;
    const char *codes = codes_of(walk, i);
    const row_params p = params(walk->from, codes);
    const size_t head = columns_before_line(place.to, cols, walk->stream);
    size_t c = 0;
    for (size_t n; c < head; c += n) {
        n = head - c < VEC_LANES ? head - c : VEC_LANES;
        bag_put(place_of(place, c), read(codes, c, n, &p), by, walk->way, n);
    }
    __builtin_prefetch(next + walk->from->row_bytes - 1);
    for (; cols - c >= line; c += line) {
        __builtin_prefetch(next + c * bits / 8);
        BAG_UNROLLED
        for (size_t v = 0; v < line; v += VEC_LANES) {
            const size_t k = c + v;
            const vec x = read(codes, k, VEC_LANES, &p);
            if (walk->stream)
                vec_stream(place.to + k * sizeof(float), bag_join(walk->way, x, x, by));
            else
                bag_put(place_of(place, k), x, by, walk->way, VEC_LANES);
        }
    }
    if (c < cols) __builtin_prefetch(next + c * bits / 8);
    for (size_t at = cols * bits / 8; at < walk->from->row_bytes; at += BAG_LINE)
        __builtin_prefetch(next + at); /* scales, or what blocks hold besides */
    for (; cols - c >= VEC_LANES; c += VEC_LANES)
        bag_put(place_of(place, c), read(codes, c, VEC_LANES, &p), by, walk->way, VEC_LANES);
    if (c < cols)
        bag_put(place_of(place, c), read(codes, c, cols - c, &p), by, walk->way, cols - c);
}

/* Lookups ------------------------------------------------------------------------------------ */

BAG_INLINE void look_up(const wte__lookup *job, bool stream, size_t bits, read_at read,
                        read_params params)
{
    const wte__stored from = job->from; /* a copy, which no store can change */
    const bag_walk walk = {
        .from = &from,
        .rows = job->rows,
        .known = job->prefetch_end,
        .ahead = rows_ahead(LOOKUP_AHEAD, from.row_bytes + LOOKUP_ROW_MORE, LOOKUP_AHEAD_ROWS),
        .stream = stream,
    };
    const size_t n = job->n, out_stride = job->out_stride;
    const vec by = vec_set(job->scale);
    char *out = job->out;
    (void)fetch_first_rows(&walk, UINT64_MAX);
    for (size_t i = 0; i < n; i++) {
        const bag_place place = { out + i * out_stride, NULL };
        walk_row(&walk, i, start_of(&walk, row_ahead(&walk, i)), place, by, bits, read, params);
    }
}

/* Streaming wants whole lines. A column on which one may begin then begins with a byte also where
 * an element has two bits. */
static inline bool lookup_streams(const wte__lookup *job)
{
    const uintptr_t place = (uintptr_t)job->out | job->out_stride;
    if (!job->stream || place & 15) return false;
    return !(place & (BAG_LINE - 1)) || job->from.cols * sizeof(float) > LOOKUP_STREAM;
}

BAG_INLINE void lookup_any(const wte__lookup *job, size_t bits, read_at read, read_params params)
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
    bag_place place;
    const float *divisor; /* or NULL */
} bag_span;

/* What member i is multiplied by, or its number where that is noted. */
BAG_INLINE vec member_by(const wte__bags *job, bag_way way, size_t i)
{
    if (way == BAG_MAX_AT) return vec_number((uint32_t)i);
    return vec_set(way == BAG_FMA ? job->weights[i] : 1.0f);
}

/* What is to be prefetched with member i. False when that is no row of the table. `inner`: all of
 * it is known to be there. */
BAG_INLINE bool fetch_number(const wte__bags *job, const bag_walk *walk, size_t i, bool inner,
                             const char **next)
{
    const size_t far = i + BAG_NUMBERS_AHEAD;
    const uint64_t row = inner ? walk->rows[i + walk->ahead] : row_ahead(walk, i);
    __builtin_prefetch(&walk->rows[inner || far < walk->known ? far : walk->known - 1]);
    *next = (const char *)walk->from->table + row * walk->from->stride;
    return row < job->n_rows;
}

BAG_INLINE bool is_maximum(bag_way way)
{
    return way == BAG_MAX || way == BAG_MAX_AT;
}

/* The same walk, for the first member of a maximum. */
BAG_INLINE bag_walk walk_first(const bag_walk *walk)
{
    bag_walk first = *walk;
    first.way = walk->way == BAG_MAX_AT ? BAG_FIRST_AT : BAG_FIRST;
    return first;
}

/* A bag of rows of any width, its sums in memory: they lie in the first-level cache. */
BAG_INLINE bool bag_in_memory(const wte__bags *job, const bag_walk *walk, bag_span bag, size_t bits,
                              read_at read, read_params params)
{
    const size_t cols = walk->from->cols;
    const bag_walk first = walk_first(walk);
    const char *next;
    const bool set = bag.fresh && is_maximum(walk->way) && bag.begin < bag.end;
    if (bag.fresh && !set) memset(bag.place.to, 0, cols * sizeof(float));
    if (bag.place.at && !set) memset(bag.place.at, 0xff, cols * sizeof(uint32_t));
    for (size_t i = bag.begin; i < bag.end; i++) {
        if (!fetch_number(job, walk, i, false, &next)) return false;
        if (set && i == bag.begin)
            walk_row(&first, i, next, bag.place, member_by(job, walk->way, i), bits, read, params);
        else
            walk_row(walk, i, next, bag.place, member_by(job, walk->way, i), bits, read, params);
    }
    if (!bag.divisor) return true;
    const vec by = vec_set(*bag.divisor);
    for (size_t c = 0, n; c < cols; c += n) {
        n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        char *to = bag.place.to + c * sizeof(float);
        vec_store(to, vec_div(vec_load(to, n), by), n);
    }
    return true;
}

/* The results of BAG_VECTORS whole vectors of columns, and whose they are. */
typedef struct bag_sums {
    vec sum[BAG_VECTORS], at[BAG_VECTORS];
} bag_sums;

/* Member i of a bag whose rows have just so many columns joins the sums. */
BAG_INLINE void take_member(const bag_walk *walk, size_t i, const char *next, vec by, bag_sums *s,
                            size_t bits, read_at read, read_params params)
{
    const size_t line = BAG_LINE * 8 / bits;
    const char *codes = codes_of(walk, i);
    const row_params p = params(walk->from, codes);
    __builtin_prefetch(next + walk->from->row_bytes - 1);
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++) {
        const size_t c = k * VEC_LANES;
        const vec x = read(codes, c, VEC_LANES, &p);
        if (c % line == 0) __builtin_prefetch(next + c * bits / 8);
        if (walk->way == BAG_MAX_AT) s->at[k] = vec_pick(x, s->sum[k], by, s->at[k]);
        if (walk->way == BAG_FIRST_AT) s->at[k] = by;
        s->sum[k] = bag_join(walk->way, s->sum[k], x, by);
    }
}

BAG_INLINE void store_sums(const bag_sums *s, bag_span bag, bag_way way)
{
    const vec by = vec_set(bag.divisor ? *bag.divisor : 1.0f);
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++) {
        const bag_place place = place_of(bag.place, k * VEC_LANES);
        /* most jobs divide nothing, and division takes as long as some members */
        vec_store(place.to, bag.divisor ? vec_div(s->sum[k], by) : s->sum[k], VEC_LANES);
        if (way == BAG_MAX_AT) vec_store(place.at, s->at[k], VEC_LANES);
    }
}

/* Such a bag, its sums in registers. */
BAG_INLINE bool bag_in_registers(const wte__bags *job, const bag_walk *walk, bag_span bag,
                                 size_t bits, read_at read, read_params params)
{
    const bag_walk first = walk_first(walk);
    const char *next;
    bag_sums s;
    size_t i = bag.begin;
    BAG_UNROLLED
    for (size_t k = 0; k < BAG_VECTORS; k++) {
        s.sum[k] = bag.fresh ? vec_zero()
                             : vec_load(bag.place.to + k * VEC_LANES * sizeof(float), VEC_LANES);
        s.at[k] = vec_number(UINT32_MAX);
    }
    if (bag.fresh && is_maximum(walk->way) && i < bag.end) {
        if (!fetch_number(job, walk, i, false, &next)) return false;
        take_member(&first, i, next, member_by(job, walk->way, i), &s, bits, read, params);
        i++;
    }
    /* fewer instructions for a row are more rows that are under way */
    const size_t inner = walk->known > BAG_NUMBERS_AHEAD ? walk->known - BAG_NUMBERS_AHEAD : 0;
    for (const size_t end = bag.end < inner ? bag.end : inner; i < end; i++) {
        if (!fetch_number(job, walk, i, true, &next)) return false;
        take_member(walk, i, next, member_by(job, walk->way, i), &s, bits, read, params);
    }
    for (; i < bag.end; i++) {
        if (!fetch_number(job, walk, i, false, &next)) return false;
        take_member(walk, i, next, member_by(job, walk->way, i), &s, bits, read, params);
    }
    store_sums(&s, bag, walk->way);
    return true;
}

BAG_INLINE bool reduce(const wte__bags *job, bag_way way, size_t bits, read_at read,
                       read_params params)
{
    const wte__stored from = job->from; /* a copy, which no store can change */
    const bag_walk walk = {
        .from = &from,
        .rows = job->rows,
        .known = job->prefetch_end,
        .ahead = rows_ahead(BAG_AHEAD, from.row_bytes + BAG_ROW_MORE, BAG_AHEAD_ROWS),
        .way = way,
    };
    const bool in_registers = from.cols == (size_t)BAG_VECTORS * VEC_LANES;
    size_t begin = 0;
    if (!fetch_first_rows(&walk, job->n_rows)) return false;
    for (size_t b = 0; b < job->n_bags; b++) {
        char *at = way == BAG_MAX_AT ? (char *)(job->max_at + b * from.cols) : NULL;
        const bag_span bag = { begin,
                               job->ends[b],
                               b || !job->resume_first,
                               { (char *)job->out + b * job->out_stride, at },
                               job->divisors ? &job->divisors[b] : NULL };
        if (!(in_registers ? bag_in_registers(job, &walk, bag, bits, read, params)
                           : bag_in_memory(job, &walk, bag, bits, read, params)))
            return false;
        begin = bag.end;
    }
    return true;
}

BAG_INLINE bool bags_any(const wte__bags *job, size_t bits, read_at read, read_params params)
{
    if (job->max && job->max_at) return reduce(job, BAG_MAX_AT, bits, read, params);
    if (job->max) return reduce(job, BAG_MAX, bits, read, params);
    if (job->weights) return reduce(job, BAG_FMA, bits, read, params);
    return reduce(job, BAG_ADD, bits, read, params);
}

/* X(name, bits) of WTE__STORED_LIST, for an instruction set's suffix. */
#define BAG_KERNELS(name, bits, isa)                                                               \
    BAG_INLINE vec at_##name(const char *codes, size_t c, size_t n, const row_params *p)           \
    {                                                                                              \
        return read_##name(codes + c * bits / 8, n, p);                                            \
    }                                                                                              \
    static void lookup_##name##_##isa(const wte__lookup *job)                                      \
    {                                                                                              \
        lookup_any(job, bits, at_##name, params_##name);                                           \
    }                                                                                              \
    BLOCK_BAGS(name, bits, isa)
/* The same of WTE__STORED_BLOCKS. */
#define BLOCK_BAGS(name, bits, isa)                                                                \
    static bool bags_##name##_##isa(const wte__bags *job)                                          \
    {                                                                                              \
        return bags_any(job, bits, at_##name, params_##name);                                      \
    }
#endif
