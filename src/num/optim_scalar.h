/* Steps of optimizers in plain C, for kernel_scalar.c: one number at a time, and every idle step.
 * docs/kernels.md has the arithmetic. The file that includes this has bits_of. */
#ifndef WTE_SRC_NUM_OPTIM_SCALAR_H
#define WTE_SRC_NUM_OPTIM_SCALAR_H
#include <math.h>

#include "num/kernels.h"

/* What a gradient is once a decay of the L2 kind has joined it. */
static float joined_gradient(const wte__update *job, size_t i, float g)
{
    return job->l2 != 0 ? fmaf(job->l2, job->p[i], g) : g;
}

static void sgd_number(const wte__update *job, const wte__factors *by, size_t i, float g)
{
    float x = joined_gradient(job, i, g);
    if (job->m) {
        job->m[i] = fmaf(by->gain, x, job->b1 * job->m[i]);
        x = job->nesterov ? fmaf(job->b1, job->m[i], x) : job->m[i];
    }
    job->p[i] = fmaf(0.0f - by->lr, x, job->p[i] * by->keep);
}

static void adam_number(const wte__update *job, const wte__factors *by, size_t i, float g)
{
    const float x = joined_gradient(job, i, g);
    job->m[i] = fmaf(job->c1, x, job->b1 * job->m[i]);
    job->v[i] = fmaf(job->c2 * x, x, job->b2 * job->v[i]);
    float second = job->v[i];
    if (job->most) {
        if (second > job->most[i]) job->most[i] = second;
        second = job->most[i];
    }
    const float over = fmaf(sqrtf(second), by->over, job->eps);
    job->p[i] = job->p[i] * by->keep - by->lr * job->m[i] / over;
}

static void adagrad_number(const wte__update *job, const wte__factors *by, size_t i, float g)
{
    const float x = joined_gradient(job, i, g);
    job->v[i] = fmaf(x, x, job->v[i]);
    job->p[i] = job->p[i] * by->keep - by->lr * x / (sqrtf(job->v[i]) + job->eps);
}

typedef void (*number_step)(const wte__update *job, const wte__factors *by, size_t i, float g);

static bool step_numbers(const wte__update *job, number_step step)
{
    bool changed = false;
    for (size_t i = 0; i < job->n; i++) {
        const uint32_t before = bits_of(job->p[i]);
        step(job, job->by, i, job->g[i]);
        changed = changed || bits_of(job->p[i]) != before;
    }
    return changed;
}
static bool idle_numbers(const wte__update *job, size_t n, number_step step)
{
    bool changed = false;
    for (size_t i = 0; i < job->n; i++) {
        const uint32_t before = bits_of(job->p[i]);
        for (size_t s = 0; s < n; s++) step(job, &job->by[s], i, 0.0f);
        changed = changed || bits_of(job->p[i]) != before;
    }
    return changed;
}

static bool step_sgd_scalar(const wte__update *job)
{
    return step_numbers(job, sgd_number);
}
static bool step_adam_scalar(const wte__update *job)
{
    return step_numbers(job, adam_number);
}
static bool step_adagrad_scalar(const wte__update *job)
{
    return step_numbers(job, adagrad_number);
}
static bool idle_sgd_scalar(const wte__update *job, size_t n, size_t calm)
{
    (void)calm;
    return idle_numbers(job, n, sgd_number);
}
static bool idle_adam_scalar(const wte__update *job, size_t n, size_t calm)
{
    (void)calm;
    return idle_numbers(job, n, adam_number);
}

static bool all_finite_scalar(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static float sum_squares_scalar(const float *g, const float *p, float l2, size_t n)
{
    float lane[64] = { 0 };
    for (size_t i = 0; i < n; i++) {
        const float x = l2 != 0 ? fmaf(l2, p[i], g[i]) : g[i];
        lane[i % 64] = fmaf(x, x, lane[i % 64]);
    }
    for (size_t apart = 32; apart > 0; apart /= 2)
        for (size_t i = 0; i < apart; i++) lane[i] += lane[i + apart];
    return lane[0];
}
#endif
