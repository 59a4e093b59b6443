/* Steps of optimizers for any vector width. An instruction set's file defines, besides what
 * bag_vectors.h wants,
 *
 *     vec_sub, vec_sqrt, vec_min, vec_abs
 *     vec_all_le(a, b)         whether a <= b in every lane; NaN is not
 *     vec_differ(seen, a, b)   seen, with the bits set in which a and b differ
 *     vec_any(seen)            whether a bit is set
 *     vec_total(x)             the sum of the lanes, joined by halves
 *     OPTIM_GROUP              vectors of a row whose idle steps go side by side
 *
 * and then includes this. Everything here is static and inlined, as there. */
#ifndef WTE_SRC_NUM_OPTIM_VECTORS_H
#define WTE_SRC_NUM_OPTIM_VECTORS_H
#include <math.h>
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
    bool adam, adagrad; /* else SGD, */
    bool rowwise;       /* with a learning rate for each row */
    bool momentum, nesterov, most, l2;
    bool idle; /* the gradient is zero */
} how;

OPTIM_INLINE vec load_floats(const float *from, size_t n)
{
    return vec_load((const char *)from, n);
}
OPTIM_INLINE row_part load_lanes(const wte__optim_row *at, size_t c, size_t n, how k)
{
    row_part x = { .p = load_floats(at->p + c, n) };
    x.m = k.adam || k.momentum ? load_floats(at->m + c, n) : vec_zero();
    x.v = k.adam || k.adagrad ? load_floats(at->v + c, n) : vec_zero();
    x.most = k.most ? load_floats(at->max_v + c, n) : vec_zero();
    return x;
}
OPTIM_INLINE void store_lanes(const wte__optim_row *at, size_t c, size_t n, how k,
                              const row_part *x)
{
    vec_store((char *)(at->p + c), x->p, n);
    if (k.adam || k.momentum) vec_store((char *)(at->m + c), x->m, n);
    if (k.adam || k.adagrad) vec_store((char *)(at->v + c), x->v, n);
    if (k.most) vec_store((char *)(at->max_v + c), x->most, n);
}
/* As a sum of one part: never -0. */
OPTIM_INLINE vec gradient(const float *g, size_t n, vec by)
{
    return vec_add(vec_mul(load_floats(g, n), by), vec_zero());
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

/* A line of the row that will be wanted next; without g, its gradient is on its way already. */
OPTIM_INLINE void fetch_line(const wte__optim_row *next, size_t c, bool g, how k)
{
    __builtin_prefetch(next->p + c);
    if (g) __builtin_prefetch(next->g + c);
    if (k.adam || k.momentum) __builtin_prefetch(next->m + c);
    if (k.adam || k.adagrad) __builtin_prefetch(next->v + c);
    if (k.most) __builtin_prefetch(next->max_v + c);
}

/* Looks at a gradient -------------------------------------------------------------------------- */

/* Times 0 everything that is finite is 0, and stays 0 when added up; all else is NaN. */
OPTIM_INLINE bool is_finite(const float *g, vec by, size_t n)
{
    vec sum[4] = { vec_zero(), vec_zero(), vec_zero(), vec_zero() };
    size_t c = 0;
    for (; n - c >= 4 * VEC_LANES; c += 4 * VEC_LANES) {
        OPTIM_UNROLLED
        for (size_t i = 0; i < 4; i++)
            sum[i] = vec_fma(gradient(g + c + i * VEC_LANES, VEC_LANES, by), vec_zero(), sum[i]);
    }
    for (size_t some; c < n; c += some) {
        some = n - c < VEC_LANES ? n - c : VEC_LANES;
        sum[0] = vec_fma(gradient(g + c, some, by), vec_zero(), sum[0]);
    }
    const vec all = vec_add(vec_add(sum[0], sum[1]), vec_add(sum[2], sum[3]));
    return vec_all_le(all, all);
}

#define SQUARES_LANES   ((size_t)64)
#define SQUARES_VECTORS (SQUARES_LANES / VEC_LANES)

/* p NULL: of g alone. */
OPTIM_INLINE vec add_squared(vec sum, const float *g, vec by, const float *p, vec l2, size_t n)
{
    vec x = gradient(g, n, by);
    if (p) x = vec_fma(l2, load_floats(p, n), x);
    return vec_fma(x, x, sum);
}
OPTIM_INLINE float squares_of(const float *g, vec by, const float *p, vec l2, size_t n)
{
    vec sum[SQUARES_VECTORS];
    size_t c = 0;
    OPTIM_UNROLLED
    for (size_t i = 0; i < SQUARES_VECTORS; i++) sum[i] = vec_zero();
    for (; n - c >= SQUARES_LANES; c += SQUARES_LANES) {
        OPTIM_UNROLLED
        for (size_t i = 0; i < SQUARES_VECTORS; i++) {
            const size_t at = c + i * VEC_LANES;
            sum[i] = add_squared(sum[i], g + at, by, p ? p + at : NULL, l2, VEC_LANES);
        }
    }
    OPTIM_UNROLLED
    for (size_t i = 0; i < SQUARES_VECTORS; i++) {
        const size_t left = n - c < VEC_LANES ? n - c : VEC_LANES;
        if (left) sum[i] = add_squared(sum[i], g + c, by, p ? p + c : NULL, l2, left);
        c += left;
    }
    OPTIM_UNROLLED
    for (size_t apart = SQUARES_VECTORS / 2; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++) sum[i] = vec_add(sum[i], sum[i + apart]);
    return vec_total(sum[0]);
}
OPTIM_INLINE float sumsq_decayed(const float *g, const float *p, float l2, size_t n)
{
    const vec one = vec_set(1.0f);
    return l2 != 0 ? squares_of(g, one, p, vec_set(l2), n) : squares_of(g, one, NULL, one, n);
}

/* Steps --------------------------------------------------------------------------------------- */

OPTIM_INLINE vec step_lanes(const wte__optim_row *at, size_t c, size_t n, const rule *r, how k,
                            vec seen)
{
    row_part x = load_lanes(at, c, n, k);
    const vec before = x.p;
    one_step(&x, gradient(at->g + c, n, vec_set(at->grad_scale)), r, k);
    store_lanes(at, c, n, k, &x);
    return vec_differ(seen, before, x.p);
}

OPTIM_INLINE bool step_columns(const wte__optim_row *given, const wte__optim_row *next,
                               bool fetch_g, const wte__update *job, const rule *r, how k)
{
    const wte__optim_row at = *given; /* a copy, which no store can change */
    const size_t cols = job->n;
    const size_t line = 64 / sizeof(float);
    vec seen = vec_zero();
    size_t c = 0;
    for (; cols - c >= line; c += line) {
        fetch_line(next, c, fetch_g, k);
        for (size_t i = 0; i < line; i += VEC_LANES)
            seen = step_lanes(&at, c + i, VEC_LANES, r, k, seen);
    }
    for (size_t n; c < cols; c += n) {
        n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        seen = step_lanes(&at, c, n, r, k, seen);
    }
    return vec_any(seen);
}

/* What a look at a gradient has told: members of a bag share theirs, one after the other. */
typedef struct look {
    const float *g; /* whose, NULL: none yet */
    float by, squares;
    bool finite;
} look;

/* The sum of squares is made where it is wanted, with p joined where there is l2. */
OPTIM_INLINE void look_at(look *seen, const wte__update *job, const wte__optim_row *at,
                          bool squares, bool l2)
{
    const vec by = vec_set(at->grad_scale);
    if (!l2 && seen->g == at->g && seen->by == at->grad_scale) return;
    *seen = (look){ .g = at->g, .by = at->grad_scale };
    if (squares) {
        seen->squares = l2 ? squares_of(at->g, by, at->p, vec_set(job->l2), job->n)
                           : squares_of(at->g, by, NULL, by, job->n);
        seen->finite = seen->squares <= 0x1.fffffep127f || is_finite(at->g, by, job->n);
    } else {
        seen->finite = is_finite(at->g, by, job->n);
    }
}

/* FBGEMM's: the mean of the squares is added to the row's number, which then divides all of it. */
OPTIM_INLINE void rowwise_rule(const wte__update *job, const wte__optim_row *at, float squares,
                               bool l2, rule *r)
{
    const float sum = *at->sum + squares / (float)job->n;
    const float lr = job->by->lr / (sqrtf(sum) + job->eps);
    *at->sum = sum;
    r->lr = vec_set(lr);
    if (l2) r->keep = vec_set(1 - lr * job->l2);
}

OPTIM_INLINE void step_rows(const wte__update *given, how k)
{
    const wte__update job = *given;
    rule r = rule_of(&job);
    look seen = { .g = NULL };
    const float *fetched = NULL; /* the gradient that was prefetched last */
    const bool l2 = k.l2;
    if (k.rowwise) k.l2 = false;
    for (size_t i = 0; i < job.rows; i++) {
        const size_t later = job.prefetch_end - i > job.prefetch_distance
                                 ? i + job.prefetch_distance
                                 : job.prefetch_end - 1;
        const wte__optim_row at = wte__update_row(&job, i), next = wte__update_row(&job, later);
        const bool fetch_g = next.g != fetched;
        uint32_t found = WTE__GRAD_NOT_FINITE;
        fetched = next.g;
        if (k.rowwise) __builtin_prefetch(next.sum);
        if (job.list) __builtin_prefetch(job.list->marks + job.list->row[later]);
        look_at(&seen, &job, &at, k.rowwise, l2 && k.rowwise);
        if (seen.finite) {
            if (k.rowwise) rowwise_rule(&job, &at, seen.squares, l2, &r);
            found = step_columns(&at, &next, fetch_g, &job, &r, k) ? WTE__ROW_CHANGED : 0;
        }
        wte__update_found(&job, i, found);
    }
}

#define STEP_BOTH(...)                                                                             \
    do {                                                                                           \
        if (job->l2 != 0)                                                                          \
            step_rows(job, (how){ .l2 = true, __VA_ARGS__ });                                      \
        else                                                                                       \
            step_rows(job, (how){ .l2 = false, __VA_ARGS__ });                                     \
    } while (0)
OPTIM_INLINE void step_sgd(const wte__update *job)
{
    if (job->rows == 0) return;
    if (!wte__update_row(job, 0).m)
        STEP_BOTH(.momentum = false);
    else if (job->nesterov)
        STEP_BOTH(.momentum = true, .nesterov = true);
    else
        STEP_BOTH(.momentum = true);
}
OPTIM_INLINE void step_adam(const wte__update *job)
{
    if (job->rows && wte__update_row(job, 0).max_v)
        STEP_BOTH(.adam = true, .most = true);
    else
        STEP_BOTH(.adam = true);
}
OPTIM_INLINE void step_adagrad(const wte__update *job)
{
    STEP_BOTH(.adagrad = true);
}
OPTIM_INLINE void step_rowwise_adagrad(const wte__update *job)
{
    STEP_BOTH(.rowwise = true);
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

/* Idle steps of one row. */
typedef struct idle_job {
    wte__update rule;
    wte__optim_row at;
    const wte__optim_row *next;
    size_t steps, decay_only_from;
} idle_job;

/* Lanes c and on: `vectors` of them with n lanes each. */
OPTIM_INLINE vec idle_lanes(const idle_job *job, size_t c, size_t vectors, size_t n, how k,
                            vec seen)
{
    rule r = rule_of(&job->rule);
    row_part x[OPTIM_GROUP];
    vec before[OPTIM_GROUP];
    OPTIM_UNROLLED
    for (size_t i = 0; i < vectors; i++) {
        x[i] = load_lanes(&job->at, c + i * VEC_LANES, n, k);
        before[i] = x[i].p;
    }
    for (size_t s = 0; s < job->steps; s++) {
        set_factors(&r, &job->rule.by[s]);
        OPTIM_UNROLLED
        for (size_t i = 0; i < vectors; i++) one_step(&x[i], vec_zero(), &r, k);
        if (k.l2 || s < job->decay_only_from || s % OPTIM_LOOK != OPTIM_LOOK - 1) continue;
        bool still = true;
        for (size_t i = 0; i < vectors; i++) still = still && is_still(&x[i], &r, k);
        if (!still) continue;
        fade_on(x, vectors, &r, k, job->rule.by + s + 1, job->steps - s - 1);
        break;
    }
    OPTIM_UNROLLED
    for (size_t i = 0; i < vectors; i++) {
        store_lanes(&job->at, c + i * VEC_LANES, n, k, &x[i]);
        seen = vec_differ(seen, before[i], x[i].p);
    }
    return seen;
}

OPTIM_INLINE bool idle_columns(const idle_job *job, how k)
{
    const size_t cols = job->rule.n, group = OPTIM_GROUP * VEC_LANES;
    vec seen = vec_zero();
    size_t c = 0;
    for (; cols - c >= group; c += group) {
        for (size_t at = c; at < c + group; at += 64 / sizeof(float))
            fetch_line(job->next, at, false, k);
        seen = idle_lanes(job, c, OPTIM_GROUP, VEC_LANES, k, seen);
    }
    for (size_t n; c < cols; c += n) {
        n = cols - c < VEC_LANES ? cols - c : VEC_LANES;
        seen = idle_lanes(job, c, 1, n, k, seen);
    }
    return vec_any(seen);
}

OPTIM_INLINE bool idle_steps(const wte__update *job, size_t n, size_t decay_only_from, how k)
{
    const idle_job idle = { *job, job->at[0], &job->at[job->prefetch_end > 1], n, decay_only_from };
    k.idle = true;
    if (n == 0) return false;
    if (job->l2 == 0) return idle_columns(&idle, k);
    k.l2 = true;
    return idle_columns(&idle, k);
}
OPTIM_INLINE bool catchup_sgd(const wte__update *job, size_t n, size_t decay_only_from)
{
    if (job->nesterov)
        return idle_steps(job, n, decay_only_from, (how){ .momentum = true, .nesterov = true });
    return idle_steps(job, n, decay_only_from, (how){ .momentum = true });
}
OPTIM_INLINE bool catchup_adam(const wte__update *job, size_t n, size_t decay_only_from)
{
    if (job->at->max_v)
        return idle_steps(job, n, decay_only_from, (how){ .adam = true, .most = true });
    return idle_steps(job, n, decay_only_from, (how){ .adam = true });
}

#define OPTIM_KERNELS(isa)                                                                         \
    static void step_sgd_##isa(const wte__update *job)                                             \
    {                                                                                              \
        step_sgd(job);                                                                             \
    }                                                                                              \
    static void step_adam_##isa(const wte__update *job)                                            \
    {                                                                                              \
        step_adam(job);                                                                            \
    }                                                                                              \
    static void step_adagrad_##isa(const wte__update *job)                                         \
    {                                                                                              \
        step_adagrad(job);                                                                         \
    }                                                                                              \
    static void step_rowwise_##isa(const wte__update *job)                                         \
    {                                                                                              \
        step_rowwise_adagrad(job);                                                                 \
    }                                                                                              \
    static bool catchup_sgd_##isa(const wte__update *job, size_t n, size_t decay_only_from)        \
    {                                                                                              \
        return catchup_sgd(job, n, decay_only_from);                                               \
    }                                                                                              \
    static bool catchup_adam_##isa(const wte__update *job, size_t n, size_t decay_only_from)       \
    {                                                                                              \
        return catchup_adam(job, n, decay_only_from);                                              \
    }                                                                                              \
    static bool all_finite_##isa(const float *x, size_t n)                                         \
    {                                                                                              \
        return is_finite(x, vec_set(1.0f), n);                                                     \
    }                                                                                              \
    static float sum_squares_##isa(const float *g, const float *p, float l2, size_t n)             \
    {                                                                                              \
        return sumsq_decayed(g, p, l2, n);                                                         \
    }
#define OPTIM_TABLE(isa)                                                                           \
    .step_sgd = step_sgd_##isa, .step_adam = step_adam_##isa, .step_adagrad = step_adagrad_##isa,  \
    .step_rowwise_adagrad = step_rowwise_##isa, .catchup_sgd = catchup_sgd_##isa,                  \
    .catchup_adam = catchup_adam_##isa, .all_finite = all_finite_##isa,                            \
    .sumsq_decayed = sum_squares_##isa
#endif
