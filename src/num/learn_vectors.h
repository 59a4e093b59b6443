/* Learning of rows for any vector width. An instruction set's file defines, besides what
 * bag_vectors.h and optim_vectors.h want,
 *
 *     vec_exp(x)      of lanes that are not positive
 *     LEARN_SIDE      vectors that are multiplied with a group of rows side by side, so many that
 *                     there is a sum for each lane
 *     LEARN_BOTH      whether there are registers for the rows of a group and for their changes
 *     learn_totals(to, sums)      the lanes of each sum, joined by halves: of vector i with row k
 * to to[i][k]
 *
 * and then includes this. Everything here is static and inlined, as there. */
#ifndef WTE_SRC_NUM_LEARN_VECTORS_H
#define WTE_SRC_NUM_LEARN_VECTORS_H
#include <string.h>

#include "num/kernels.h"
#include "num/simd_macros.h"

/* Threads read and write the same rows without order, and lose or mix changes: that is meant
 * (Hogwild). C knows no relaxed atomic of a whole vector, and one for each number would forbid
 * vectors; the processor moves each aligned number whole, which is all that is asked of it. Hence
 * the functions that touch such rows, and they alone, are not watched by ThreadSanitizer; the
 * scalar set, which uses relaxed atomics, is. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LEARN_SHARED __attribute__((no_sanitize("thread")))
#endif
#elif defined(__SANITIZE_THREAD__)
#define LEARN_SHARED __attribute__((no_sanitize("thread")))
#endif
#ifndef LEARN_SHARED
#define LEARN_SHARED
#endif
#define LEARN_INLINE LEARN_SHARED ALWAYS_INLINE

#define LEARN_LANES                                                                                \
    ((size_t)16)                  /* of a sum of products; rows have a multiple of as many columns \
                                   */
#define LEARN_AT_ONCE ((size_t)4) /* vectors of a row that a mean is made of at once */

LEARN_INLINE vec learn_get(const float *from)
{
    return vec_load((const char *)from, VEC_LANES);
}
LEARN_INLINE void learn_put(float *to, vec x)
{
    vec_store((char *)to, x, VEC_LANES);
}

/* Columns from c on, a constant number. */
LEARN_INLINE void learn_mean_of(const wte__learn_rows *job, size_t c, size_t cols, float *out)
{
    const vec share = vec_set(1 / (float)job->n);
    vec sum[LEARN_AT_ONCE];
    UNROLLED
    for (size_t v = 0; v * VEC_LANES < cols; v++) sum[v] = vec_zero();
    for (size_t i = 0; i < job->n; i++) {
        const float *row = job->table + job->rows[i] * job->stride + c;
        const vec weight = vec_set(job->weights ? job->weights[i] : 1);
        UNROLLED
        for (size_t v = 0; v * VEC_LANES < cols; v++) /* times 1 is exact */
            sum[v] = vec_fma(weight, learn_get(row + v * VEC_LANES), sum[v]);
    }
    UNROLLED
    for (size_t v = 0; v * VEC_LANES < cols; v++)
        learn_put(out + c + v * VEC_LANES, job->weights ? sum[v] : vec_mul(sum[v], share));
}
LEARN_INLINE void learn_mean(const wte__learn_rows *job, float *out)
{
    const size_t many = LEARN_AT_ONCE * VEC_LANES;
    size_t c = 0;
    if (job->n == 0) return;
    for (; job->cols - c >= many; c += many) learn_mean_of(job, c, many, out);
    for (; c < job->cols; c += LEARN_LANES) learn_mean_of(job, c, LEARN_LANES, out);
}

LEARN_INLINE void learn_add(const wte__learn_rows *job, const float *now, const float *before)
{
    for (size_t i = 0; i < job->n; i++) {
        float *row = job->table + job->rows[i] * job->stride;
        for (size_t c = 0; c < job->cols; c += VEC_LANES) {
            const vec d = vec_sub(learn_get(now + c), learn_get(before + c));
            learn_put(row + c, vec_add(learn_get(row + c), d));
        }
    }
}

/* Logits of a group, and then its slopes: those of each vector side by side. */
typedef struct learn_slopes {
    _Alignas(64) float of[WTE__LEARN_IN + LEARN_SIDE - 1][WTE__LEARN_GROUP];
} learn_slopes;

typedef vec learn_sums[LEARN_SIDE][WTE__LEARN_GROUP];

/* Lanes from `lane` on of the products of n_in vectors with n rows; both are constants. */
LEARN_INLINE void learn_products(const wte__learn_pairs *job, float *const *in, size_t n_in,
                                 float *const *out, size_t n, size_t lane, learn_sums sums)
{
    UNROLLED
    for (size_t i = 0; i < LEARN_SIDE; i++) {
        UNROLLED
        for (size_t k = 0; k < WTE__LEARN_GROUP; k++) sums[i][k] = vec_zero();
    }
    for (size_t c = lane; c < job->cols; c += LEARN_LANES) {
        vec x[LEARN_SIDE];
        UNROLLED
        for (size_t i = 0; i < n_in; i++) x[i] = learn_get(in[i] + c);
        UNROLLED
        for (size_t k = 0; k < n; k++) {
            const vec row = learn_get(out[k] + c);
            UNROLLED
            for (size_t i = 0; i < n_in; i++) sums[i][k] = vec_fma(x[i], row, sums[i][k]);
        }
    }
}

/* 1 / (1 + exp(-x)), by way of the exponential of what is not positive */
ALWAYS_INLINE vec learn_sigmoid(vec x)
{
    const vec one = vec_set(1), zero = vec_zero();
    const vec e = vec_exp(vec_sub(zero, vec_abs(x)));
    const vec part = vec_div(one, vec_add(one, e));
    return vec_pick(zero, x, vec_mul(e, part), part);
}

/* The slopes of n_in vectors, from vector i on. */
LEARN_INLINE void learn_slopes_of(const wte__learn_pairs *job, size_t i, size_t n_in, size_t first,
                                  size_t n, vec labels, learn_slopes *slopes)
{
    learn_sums sums, more;
    learn_products(job, job->in + i, n_in, job->out + first, n, 0, sums);
    for (size_t lane = VEC_LANES; lane < LEARN_LANES; lane += VEC_LANES) {
        learn_products(job, job->in + i, n_in, job->out + first, n, lane, more);
        UNROLLED
        for (size_t k = 0; k < WTE__LEARN_GROUP; k++) sums[0][k] = vec_add(sums[0][k], more[0][k]);
    }
    const vec logits = learn_totals(sums);
    if (job->logits) {
        learn_put(slopes->of[i], logits);
        for (size_t at = i; at < i + n_in; at++)
            memcpy(job->logits + at * job->n_out + first, slopes->of[at], n * sizeof(float));
    }
    const vec off = vec_sub(labels, learn_sigmoid(logits));
    learn_put(slopes->of[i], vec_mul(off, vec_set(job->lr)));
}

/* A vector's columns of a group. */
typedef struct learn_columns {
    vec row[WTE__LEARN_GROUP], d_row[WTE__LEARN_GROUP];
} learn_columns;

/* All vectors pass by: what the rows change by is summed, or the vectors change, or both. */
LEARN_INLINE void learn_pass(const wte__learn_pairs *job, size_t c, size_t n,
                             const learn_slopes *slopes, learn_columns *x, bool sum, bool change)
{
    for (size_t i = 0; i < job->n_in; i++) {
        const vec in = learn_get(job->in[i] + c);
        vec d_in = vec_zero();
        UNROLLED
        for (size_t k = 0; k < n; k++) {
            const vec slope = vec_set(slopes->of[i][k]);
            if (change) d_in = vec_fma(slope, x->row[k], d_in);
            if (sum) x->d_row[k] = vec_fma(slope, in, x->d_row[k]);
        }
        if (change) learn_put(job->in[i] + c, vec_add(in, d_in));
    }
}
/* Both change by what was there before. */
LEARN_INLINE void learn_step(const wte__learn_pairs *job, size_t first, size_t n,
                             const learn_slopes *slopes)
{
    for (size_t c = 0; c < job->cols; c += VEC_LANES) {
        learn_columns x;
        UNROLLED
        for (size_t k = 0; k < n; k++) x.d_row[k] = vec_zero();
        if (!LEARN_BOTH) learn_pass(job, c, n, slopes, &x, true, false);
        UNROLLED
        for (size_t k = 0; k < n; k++) x.row[k] = learn_get(job->out[first + k] + c);
        learn_pass(job, c, n, slopes, &x, LEARN_BOTH, true);
        UNROLLED
        for (size_t k = 0; k < n; k++)
            learn_put(job->out[first + k] + c, vec_add(x.row[k], x.d_row[k]));
    }
}

LEARN_INLINE void learn_rows(const wte__learn_pairs *job, size_t first, size_t n,
                             learn_slopes *slopes)
{
    float labels[LEARN_SIDE][WTE__LEARN_GROUP] = { { 0 } };
    for (size_t i = 0; i < LEARN_SIDE; i++)
        for (size_t k = 0; k < n; k++) labels[i][k] = job->labels[first + k];
    const vec of_sides = learn_get(labels[0]);
    size_t i = 0;
    for (; job->n_in - i >= LEARN_SIDE; i += LEARN_SIDE)
        learn_slopes_of(job, i, LEARN_SIDE, first, n, of_sides, slopes);
    for (; i < job->n_in; i++) learn_slopes_of(job, i, 1, first, n, of_sides, slopes);
    learn_step(job, first, n, slopes);
}

/* A group of a constant number of rows, from `first` on: loops over rows are unrolled, and rows
 * stay in registers. */
typedef void (*learn_group)(const wte__learn_pairs *job, size_t first, learn_slopes *slopes);
#define LEARN_GROUP_OF(n)                                                                          \
    LEARN_SHARED static void learn_##n(const wte__learn_pairs *job, size_t first,                  \
                                       learn_slopes *slopes)                                       \
    {                                                                                              \
        learn_rows(job, first, n, slopes);                                                         \
    }
LEARN_GROUP_OF(1)
LEARN_GROUP_OF(2)
LEARN_GROUP_OF(3)
LEARN_GROUP_OF(4)
LEARN_GROUP_OF(5)
LEARN_GROUP_OF(6)
LEARN_GROUP_OF(7)
LEARN_GROUP_OF(8)

LEARN_INLINE void learn_pairs(const wte__learn_pairs *job)
{
    static const learn_group groups[WTE__LEARN_GROUP] = { learn_1, learn_2, learn_3, learn_4,
                                                          learn_5, learn_6, learn_7, learn_8 };
    learn_slopes slopes;
    for (size_t first = 0; job->n_in && first < job->n_out; first += WTE__LEARN_GROUP) {
        const size_t left = job->n_out - first;
        groups[(left < WTE__LEARN_GROUP ? left : WTE__LEARN_GROUP) - 1](job, first, &slopes);
    }
}

#define LEARN_KERNELS(isa)                                                                         \
    LEARN_SHARED static void learn_mean_##isa(const wte__learn_rows *job, float *out)              \
    {                                                                                              \
        learn_mean(job, out);                                                                      \
    }                                                                                              \
    LEARN_SHARED static void learn_add_##isa(const wte__learn_rows *job, const float *now,         \
                                             const float *before)                                  \
    {                                                                                              \
        learn_add(job, now, before);                                                               \
    }                                                                                              \
    LEARN_SHARED static void learn_pairs_##isa(const wte__learn_pairs *job)                        \
    {                                                                                              \
        learn_pairs(job);                                                                          \
    }
#define LEARN_TABLE(isa)                                                                           \
    .learn_mean = learn_mean_##isa, .learn_add = learn_add_##isa, .learn_pairs = learn_pairs_##isa
#endif
