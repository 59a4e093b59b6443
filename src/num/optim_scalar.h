/* Steps of optimizers in plain C, for kernel_scalar.c: one number at a time, and every idle step.
 * docs/kernels.md has the arithmetic. The file that includes this has bits_of. */
#ifndef WTE_SRC_NUM_OPTIM_SCALAR_H
#define WTE_SRC_NUM_OPTIM_SCALAR_H
#include <math.h>

#include "num/kernels.h"

/* Number i of a gradient, as a sum of one part: never -0. */
static float gradient_of(const wte__optim_row *at, size_t i)
{
    return at->g[i] * at->grad_scale + 0.0f;
}
/* Once a decay of the L2 kind has joined it. */
static float joined_gradient(float l2, const wte__optim_row *at, size_t i, float g)
{
    return l2 != 0 ? fmaf(l2, at->p[i], g) : g;
}

typedef void (*number_step)(const wte__update *job, const wte__optim_row *at,
                            const wte__factors *by, size_t i, float g);

static void sgd_number(const wte__update *job, const wte__optim_row *at, const wte__factors *by,
                       size_t i, float g)
{
    float x = joined_gradient(job->l2, at, i, g);
    if (at->m) {
        at->m[i] = fmaf(by->gain, x, job->b1 * at->m[i]);
        x = job->nesterov ? fmaf(job->b1, at->m[i], x) : at->m[i];
    }
    at->p[i] = fmaf(0.0f - by->lr, x, at->p[i] * by->keep);
}

static void adam_number(const wte__update *job, const wte__optim_row *at, const wte__factors *by,
                        size_t i, float g)
{
    const float x = joined_gradient(job->l2, at, i, g);
    at->m[i] = fmaf(job->c1, x, job->b1 * at->m[i]);
    at->v[i] = fmaf(job->c2 * x, x, job->b2 * at->v[i]);
    float second = at->v[i];
    if (at->max_v) {
        if (second > at->max_v[i]) at->max_v[i] = second;
        second = at->max_v[i];
    }
    const float over = fmaf(sqrtf(second), by->over, job->eps);
    at->p[i] = at->p[i] * by->keep - by->lr * at->m[i] / over;
}

static void adagrad_number(const wte__update *job, const wte__optim_row *at, const wte__factors *by,
                           size_t i, float g)
{
    const float x = joined_gradient(job->l2, at, i, g);
    at->v[i] = fmaf(x, x, at->v[i]);
    at->p[i] = at->p[i] * by->keep - by->lr * x / (sqrtf(at->v[i]) + job->eps);
}

static bool is_finite(const wte__optim_row *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(gradient_of(at, i))) return false;
    return true;
}

/* What is to be found. */
static uint32_t step_numbers(const wte__update *job, const wte__optim_row *at,
                             const wte__factors *by, number_step step)
{
    uint32_t found = 0;
    for (size_t i = 0; i < job->n; i++) {
        const uint32_t before = bits_of(at->p[i]);
        step(job, at, by, i, gradient_of(at, i));
        if (bits_of(at->p[i]) != before) found = WTE__ROW_CHANGED;
    }
    return found;
}
static void step_places(const wte__update *job, number_step step)
{
    for (size_t r = 0; r < job->rows; r++) {
        const wte__optim_row at = wte__update_row(job, r);
        uint32_t found = WTE__GRAD_NOT_FINITE;
        if (is_finite(&at, job->n)) found = step_numbers(job, &at, job->by, step);
        wte__update_found(job, r, found);
    }
}
static bool idle_numbers(const wte__update *job, size_t n, number_step step)
{
    bool changed = false;
    for (size_t i = 0; i < job->n; i++) {
        const uint32_t before = bits_of(job->at->p[i]);
        for (size_t s = 0; s < n; s++) step(job, job->at, &job->by[s], i, 0.0f);
        changed = changed || bits_of(job->at->p[i]) != before;
    }
    return changed;
}

/* 64 lanes, joined by halves. */
static float squares_of(const wte__optim_row *at, float l2, size_t n)
{
    float lane[64] = { 0 };
    for (size_t i = 0; i < n; i++) {
        const float x = joined_gradient(l2, at, i, gradient_of(at, i));
        lane[i % 64] = fmaf(x, x, lane[i % 64]);
    }
    for (size_t apart = 32; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++) lane[i] += lane[i + apart];
    return lane[0];
}

static void step_sgd_scalar(const wte__update *job)
{
    step_places(job, sgd_number);
}
static void step_adam_scalar(const wte__update *job)
{
    step_places(job, adam_number);
}
static void step_adagrad_scalar(const wte__update *job)
{
    step_places(job, adagrad_number);
}
static void step_rowwise_adagrad_scalar(const wte__update *job)
{
    wte__update plain = *job;
    plain.l2 = 0;
    for (size_t r = 0; r < job->rows; r++) {
        const wte__optim_row at = wte__update_row(job, r);
        wte__factors by = *job->by;
        uint32_t found = WTE__GRAD_NOT_FINITE;
        if (is_finite(&at, job->n)) {
            *at.sum += squares_of(&at, job->l2, job->n) / (float)job->n;
            by.lr = job->by->lr / (sqrtf(*at.sum) + job->eps);
            if (job->l2 != 0) by.keep = 1 - by.lr * job->l2;
            found = step_numbers(&plain, &at, &by, sgd_number);
        }
        wte__update_found(job, r, found);
    }
}
static bool catchup_sgd_scalar(const wte__update *job, size_t n, size_t decay_only_from)
{
    (void)decay_only_from;
    return idle_numbers(job, n, sgd_number);
}
static bool catchup_adam_scalar(const wte__update *job, size_t n, size_t decay_only_from)
{
    (void)decay_only_from;
    return idle_numbers(job, n, adam_number);
}

static bool all_finite_scalar(const float *x, size_t n)
{
    const wte__optim_row at = { .g = x, .grad_scale = 1 };
    return is_finite(&at, n);
}
static float sumsq_decayed_scalar(const float *g, const float *p, float l2, size_t n)
{
    /* only read */
    const wte__optim_row at = { .p = (float *)(uintptr_t)p, .g = g, .grad_scale = 1 };
    return squares_of(&at, l2, n);
}
#endif
