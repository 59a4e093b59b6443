/* Steps of optimizers for any vector width. An instruction set's file defines, besides what
 * bag_vectors.h wants,
 *
 *     vec_sub, vec_sqrt, vec_min, vec_abs
 *     vec_all_le(a, b)         whether a <= b in every lane; NaN is not
 *     vec_differ(seen, a, b)   seen, with the bits set in which a and b differ
 *     vec_any(seen)            whether a bit is set
 *     OPTIM_GROUP              vectors of a row whose idle steps go side by side
 *
 * and then includes this. Everything here is static and inlined, as there. */
#ifndef WTE_SRC_NUM_OPTIM_VECTORS_H
#define WTE_SRC_NUM_OPTIM_VECTORS_H
#include <stdint.h>

#include "num/kernels.h"

#define OPTIM_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define OPTIM_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define OPTIM_UNROLLED _Pragma("GCC unroll 16")
#endif

/* Idle steps between two looks at whether they still change anything. */
#define OPTIM_LOOK 16u
/* An update of at most 2^-26 of a number is less than half of what rounding away from it takes, and
 * so are all later ones if they shrink; numbers below 2^-22 wait until the update's dividend is 0.
 * docs/kernels.md has the argument. */
#define OPTIM_STILL 0x1p26f
#define OPTIM_SMALL 0x1p-22f

/* Some lanes of a row and of its state. */
typedef struct row_part {
    vec p, m, v, most;
} row_part;

/* The factors of a job in every lane. */
typedef struct rule {
    vec b1, c1, b2, c2, eps, l2;
    vec lr, over, keep, gain;
} rule;

OPTIM_INLINE void set_factors(rule *r, const wte__factors *by)
{
    r->lr = vec_set(by->lr);
    r->over = vec_set(by->over);
    r->keep = vec_set(by->keep);
    r->gain = vec_set(by->gain);
}
OPTIM_INLINE rule rule_of(const wte__update *job)
{
    rule r = { .b1 = vec_set(job->b1), .c1 = vec_set(job->c1), .b2 = vec_set(job->b2) };
    r.c2 = vec_set(job->c2);
    r.eps = vec_set(job->eps);
    r.l2 = vec_set(job->l2);
    set_factors(&r, job->by);
    return r;
}

/* What a kernel is made for; constants where it is inlined. */
typedef struct how {
    bool adam, adagrad; /* else SGD */
    bool momentum, nesterov, most, l2;
    bool idle; /* the gradient is zero */
} how;

OPTIM_INLINE row_part load_lanes(const wte__update *job, size_t c, size_t n, how k)
{
    row_part x = { .p = vec_load((const char *)(job->p + c), n) };
    x.m = k.adam || k.momentum ? vec_load((const char *)(job->m + c), n) : vec_zero();
    x.v = k.adam || k.adagrad ? vec_load((const char *)(job->v + c), n) : vec_zero();
    x.most = k.most ? vec_load((const char *)(job->most + c), n) : vec_zero();
    return x;
}
OPTIM_INLINE void store_lanes(const wte__update *job, size_t c, size_t n, how k, const row_part *x)
{
    vec_store((char *)(job->p + c), x->p, n);
    if (k.adam || k.momentum) vec_store((char *)(job->m + c), x->m, n);
    if (k.adam || k.adagrad) vec_store((char *)(job->v + c), x->v, n);
    if (k.most) vec_store((char *)(job->most + c), x->most, n);
}

/* The dividend and the divisor of Adam's update. */
OPTIM_INLINE vec adam_over(const row_part *x, const rule *r, how k)
{
    return vec_fma(vec_sqrt(k.most ? x->most : x->v), r->over, r->eps);
}
OPTIM_INLINE void adam_step(row_part *x, vec g, const rule *r, how k)
{
    x->m = vec_fma(r->c1, g, vec_mul(r->b1, x->m));
    x->v = vec_fma(vec_mul(r->c2, g), g, vec_mul(r->b2, x->v));
    if (k.most) x->most = vec_max(x->v, x->most);
    const vec by = vec_div(vec_mul(r->lr, x->m), adam_over(x, r, k));
    x->p = vec_sub(vec_mul(x->p, r->keep), by);
}
/* The moments alone, when the gradient is zero: the same bits as with a g of +0. */
OPTIM_INLINE void fade(row_part *x, const rule *r, how k)
{
    x->m = vec_add(vec_mul(r->b1, x->m), vec_zero());
    if (k.adam) x->v = vec_mul(r->b2, x->v);
}
OPTIM_INLINE vec sgd_direction(const row_part *x, vec g, const rule *r, how k)
{
    return k.nesterov ? vec_fma(r->b1, x->m, g) : x->m;
}
OPTIM_INLINE void sgd_step(row_part *x, vec g, const rule *r, how k)
{
    const vec down = vec_sub(vec_zero(), r->lr);
    if (k.momentum) {
        x->m = vec_fma(r->gain, g, vec_mul(r->b1, x->m));
        g = sgd_direction(x, g, r, k);
    }
    x->p = vec_fma(down, g, vec_mul(x->p, r->keep));
}
OPTIM_INLINE void adagrad_step(row_part *x, vec g, const rule *r)
{
    x->v = vec_fma(g, g, x->v);
    const vec by = vec_div(vec_mul(r->lr, g), vec_add(vec_sqrt(x->v), r->eps));
    x->p = vec_sub(vec_mul(x->p, r->keep), by);
}
OPTIM_INLINE void one_step(row_part *x, vec g, const rule *r, how k)
{
    if (k.l2) g = vec_fma(r->l2, x->p, g);
    if (k.adam && k.idle && !k.l2) {
        fade(x, r, k);
        if (k.most) x->most = vec_max(x->v, x->most);
        const vec by = vec_div(vec_mul(r->lr, x->m), adam_over(x, r, k));
        x->p = vec_sub(vec_mul(x->p, r->keep), by);
    } else if (k.adam) {
        adam_step(x, g, r, k);
    } else if (k.adagrad) {
        adagrad_step(x, g, r);
    } else {
        sgd_step(x, g, r, k);
    }
}

/* A line of each row that will be wanted next. */
OPTIM_INLINE void fetch_line(const wte__update *job, size_t c, how k)
{
    const size_t at = c * sizeof(float);
    __builtin_prefetch(job->next_p + at);
    if (k.adam || k.momentum) __builtin_prefetch(job->next_m + at);
    if (k.adam || k.adagrad) __builtin_prefetch(job->next_v + at);
    if (k.most) __builtin_prefetch(job->next_most + at);
}

/* Steps --------------------------------------------------------------------------------------- */

OPTIM_INLINE vec step_lanes(const wte__update *job, size_t c, size_t n, const rule *r, how k,
                            vec seen)
{
    row_part x = load_lanes(job, c, n, k);
    const vec before = x.p;
    one_step(&x, vec_load((const char *)(job->g + c), n), r, k);
    store_lanes(job, c, n, k, &x);
    return vec_differ(seen, before, x.p);
}

OPTIM_INLINE bool step_columns(const wte__update *given, how k)
{
    const wte__update job = *given; /* a copy, which no store can change */
    const rule r = rule_of(&job);
    const size_t line = 64 / sizeof(float);
    vec seen = vec_zero();
    size_t c = 0;
    for (; job.n - c >= line; c += line) {
        fetch_line(&job, c, k);
        for (size_t i = 0; i < line; i += VEC_LANES)
            seen = step_lanes(&job, c + i, VEC_LANES, &r, k, seen);
    }
    for (size_t n; c < job.n; c += n) {
        n = job.n - c < VEC_LANES ? job.n - c : VEC_LANES;
        seen = step_lanes(&job, c, n, &r, k, seen);
    }
    return vec_any(seen);
}

OPTIM_INLINE bool step_l2(const wte__update *job, how k)
{
    k.l2 = job->l2 != 0;
    return k.l2 ? step_columns(
                      job, (how){ k.adam, k.adagrad, k.momentum, k.nesterov, k.most, true, false })
                : step_columns(job, (how){ k.adam, k.adagrad, k.momentum, k.nesterov, k.most, false,
                                           false });
}
OPTIM_INLINE bool step_sgd(const wte__update *job)
{
    if (!job->m) return step_l2(job, (how){ 0 });
    if (job->nesterov) return step_l2(job, (how){ .momentum = true, .nesterov = true });
    return step_l2(job, (how){ .momentum = true });
}
OPTIM_INLINE bool step_adam(const wte__update *job)
{
    return job->most ? step_l2(job, (how){ .adam = true, .most = true })
                     : step_l2(job, (how){ .adam = true });
}
OPTIM_INLINE bool step_adagrad(const wte__update *job)
{
    return step_l2(job, (how){ .adagrad = true });
}

/* Idle steps ---------------------------------------------------------------------------------- */

/* Whether the step that was just taken, and so all later ones, leave p as it is but for `keep`. */
OPTIM_INLINE bool is_still(const row_part *x, const rule *r, how k)
{
    vec q = k.adam ? vec_mul(r->lr, x->m) : sgd_direction(x, vec_zero(), r, k);
    const vec by = k.adam ? vec_div(q, adam_over(x, r, k)) : vec_mul(r->lr, q);
    q = vec_min(vec_mul(vec_abs(q), vec_set(0x1p127f)), vec_set(OPTIM_SMALL));
    const vec least = vec_max(vec_mul(vec_abs(by), vec_set(OPTIM_STILL)), q);
    return vec_all_le(least, vec_abs(x->p));
}

/* What still steps do: state fades, and p with it where it decays, until nothing changes. */
OPTIM_INLINE void fade_on(row_part *x, size_t vectors, rule *r, how k, const wte__factors *by,
                          size_t n)
{
    for (size_t s = 0; s < n; s++) {
        vec seen = vec_zero();
        r->keep = vec_set(by[s].keep);
        OPTIM_UNROLLED
        for (size_t i = 0; i < vectors; i++) {
            const row_part was = x[i];
            x[i].p = vec_mul(x[i].p, r->keep);
            fade(&x[i], r, k);
            seen = vec_differ(vec_differ(seen, was.m, x[i].m), was.p, x[i].p);
            if (k.adam) seen = vec_differ(seen, was.v, x[i].v);
        }
        if (s % OPTIM_LOOK == 0 && !vec_any(seen)) return;
    }
}

/* A job of idle steps; a copy, which no store can change. */
typedef struct idle_job {
    wte__update row;
    size_t steps, calm;
} idle_job;

/* Lanes c and on: `vectors` of them with n lanes each. */
OPTIM_INLINE vec idle_lanes(const idle_job *job, size_t c, size_t vectors, size_t n, how k,
                            vec seen)
{
    rule r = rule_of(&job->row);
    row_part x[OPTIM_GROUP];
    vec before[OPTIM_GROUP];
    OPTIM_UNROLLED
    for (size_t i = 0; i < vectors; i++) {
        x[i] = load_lanes(&job->row, c + i * VEC_LANES, n, k);
        before[i] = x[i].p;
    }
    for (size_t s = 0; s < job->steps; s++) {
        set_factors(&r, &job->row.by[s]);
        OPTIM_UNROLLED
        for (size_t i = 0; i < vectors; i++) one_step(&x[i], vec_zero(), &r, k);
        if (k.l2 || s < job->calm || s % OPTIM_LOOK != OPTIM_LOOK - 1) continue;
        bool still = true;
        for (size_t i = 0; i < vectors; i++) still = still && is_still(&x[i], &r, k);
        if (!still) continue;
        fade_on(x, vectors, &r, k, job->row.by + s + 1, job->steps - s - 1);
        break;
    }
    OPTIM_UNROLLED
    for (size_t i = 0; i < vectors; i++) {
        store_lanes(&job->row, c + i * VEC_LANES, n, k, &x[i]);
        seen = vec_differ(seen, before[i], x[i].p);
    }
    return seen;
}

OPTIM_INLINE bool idle_columns(const idle_job *job, how k)
{
    const size_t cols = job->row.n, group = OPTIM_GROUP * VEC_LANES;
    vec seen = vec_zero();
    size_t c = 0;
    for (; cols - c >= group; c += group) {
        for (size_t at = c; at < c + group; at += 64 / sizeof(float)) fetch_line(&job->row, at, k);
        seen = idle_lanes(job, c, OPTIM_GROUP, VEC_LANES, k, seen);
    }
    for (size_t n; c < cols; c += n) {
        n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        seen = idle_lanes(job, c, 1, n, k, seen);
    }
    return vec_any(seen);
}

OPTIM_INLINE bool idle_l2(const wte__update *job, size_t n, size_t calm, bool adam, bool other)
{
    const idle_job idle = { *job, n, calm };
    if (n == 0) return false;
    if (job->l2 != 0)
        return idle_columns(&idle,
                            (how){ adam, false, !adam, !adam && other, adam && other, true, true });
    return idle_columns(&idle,
                        (how){ adam, false, !adam, !adam && other, adam && other, false, true });
}
OPTIM_INLINE bool idle_sgd(const wte__update *job, size_t n, size_t calm)
{
    return job->nesterov ? idle_l2(job, n, calm, false, true) : idle_l2(job, n, calm, false, false);
}
OPTIM_INLINE bool idle_adam(const wte__update *job, size_t n, size_t calm)
{
    return job->most ? idle_l2(job, n, calm, true, true) : idle_l2(job, n, calm, true, false);
}

/* Looks at a gradient -------------------------------------------------------------------------- */

/* Times 0 everything that is finite is 0, and stays 0 when added up; all else is NaN. */
OPTIM_INLINE bool all_finite(const float *x, size_t n)
{
    vec sum[4] = { vec_zero(), vec_zero(), vec_zero(), vec_zero() };
    size_t c = 0;
    for (; n - c >= 4 * VEC_LANES; c += 4 * VEC_LANES) {
        OPTIM_UNROLLED
        for (size_t i = 0; i < 4; i++)
            sum[i] = vec_fma(vec_load((const char *)(x + c + i * VEC_LANES), VEC_LANES), vec_zero(),
                             sum[i]);
    }
    for (size_t some; c < n; c += some) {
        some = n - c < VEC_LANES ? n - c : VEC_LANES;
        sum[0] = vec_fma(vec_load((const char *)(x + c), some), vec_zero(), sum[0]);
    }
    const vec all = vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3]));
    return vec_all_le(all, all);
}

#define SQUARES_LANES   ((size_t)64)
#define SQUARES_VECTORS (SQUARES_LANES / VEC_LANES)

OPTIM_INLINE vec add_squared(vec sum, const float *g, const float *p, vec by, size_t n, bool l2)
{
    vec x = vec_load((const char *)g, n);
    if (l2) x = vec_fma(by, vec_load((const char *)p, n), x);
    return vec_fma(x, x, sum);
}
OPTIM_INLINE float squares_of(const float *g, const float *p, float l2, size_t n, bool with_p)
{
    const vec by = vec_set(l2);
    vec sum[SQUARES_VECTORS];
    float part[VEC_LANES];
    size_t c = 0;
    OPTIM_UNROLLED
    for (size_t i = 0; i < SQUARES_VECTORS; i++) sum[i] = vec_zero();
    for (; n - c >= SQUARES_LANES; c += SQUARES_LANES) {
        OPTIM_UNROLLED
        for (size_t i = 0; i < SQUARES_VECTORS; i++)
            sum[i] = add_squared(sum[i], g + c + i * VEC_LANES, p + c + i * VEC_LANES, by,
                                 VEC_LANES, with_p);
    }
    OPTIM_UNROLLED
    for (size_t i = 0; i < SQUARES_VECTORS; i++) {
        const size_t left = n - c < VEC_LANES ? n - c : VEC_LANES;
        if (left) sum[i] = add_squared(sum[i], g + c, p + c, by, left, with_p);
        c += left;
    }
    OPTIM_UNROLLED
    for (size_t apart = SQUARES_VECTORS / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++) sum[i] = vec_add(sum[i], sum[i + apart]);
    vec_store((char *)part, sum[0], VEC_LANES);
    for (size_t apart = VEC_LANES / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++) part[i] += part[i + apart];
    return part[0];
}
OPTIM_INLINE float sum_squares(const float *g, const float *p, float l2, size_t n)
{
    return l2 != 0 ? squares_of(g, p, l2, n, true) : squares_of(g, g, l2, n, false);
}

#define OPTIM_KERNELS(isa)                                                                         \
    static bool step_sgd_##isa(const wte__update *job)                                             \
    {                                                                                              \
        return step_sgd(job);                                                                      \
    }                                                                                              \
    static bool step_adam_##isa(const wte__update *job)                                            \
    {                                                                                              \
        return step_adam(job);                                                                     \
    }                                                                                              \
    static bool step_adagrad_##isa(const wte__update *job)                                         \
    {                                                                                              \
        return step_adagrad(job);                                                                  \
    }                                                                                              \
    static bool idle_sgd_##isa(const wte__update *job, size_t n, size_t calm)                      \
    {                                                                                              \
        return idle_sgd(job, n, calm);                                                             \
    }                                                                                              \
    static bool idle_adam_##isa(const wte__update *job, size_t n, size_t calm)                     \
    {                                                                                              \
        return idle_adam(job, n, calm);                                                            \
    }                                                                                              \
    static bool all_finite_##isa(const float *x, size_t n)                                         \
    {                                                                                              \
        return all_finite(x, n);                                                                   \
    }                                                                                              \
    static float sum_squares_##isa(const float *g, const float *p, float l2, size_t n)             \
    {                                                                                              \
        return sum_squares(g, p, l2, n);                                                           \
    }
#define OPTIM_TABLE(isa)                                                                           \
    .step_sgd = step_sgd_##isa, .step_adam = step_adam_##isa, .step_adagrad = step_adagrad_##isa,  \
    .idle_sgd = idle_sgd_##isa, .idle_adam = idle_adam_##isa, .all_finite = all_finite_##isa,      \
    .sum_squares = sum_squares_##isa
#endif
