/* Softmax, its gradient and outer products, plainly: the reference for the faster sets. For
 * kernel_scalar.c alone. */
#ifndef WTE_SRC_NUM_HEAD_SCALAR_H
#define WTE_SRC_NUM_HEAD_SCALAR_H
#include <math.h>
#include <string.h>

#include "num/exp.h"
#include "num/kernels.h"

static float exp_of(float z)
{
    if (z < WTE__EXP_LEAST) return 0;
    const float rounded = fmaf(z, WTE__EXP_PER_LN2, WTE__EXP_ROUND);
    const float k = rounded - WTE__EXP_ROUND;
    const float r = fmaf(k, -WTE__EXP_LN2, z);
    float p = WTE__EXP_6;
    p = fmaf(p, r, WTE__EXP_5);
    p = fmaf(p, r, WTE__EXP_4);
    p = fmaf(p, r, WTE__EXP_3);
    p = fmaf(p, r, WTE__EXP_2);
    p = fmaf(p, r, 1);
    p = fmaf(p, r, 1);
    return isnan(p) ? p : ldexpf(p, (int)k);
}

static void exp_f32_scalar(float *out, const float *x, const float *minus, float times, size_t n)
{
    for (size_t j = 0; j < n; j++) out[j] = exp_of((x[j] - minus[j]) * times);
}

/* 16 lanes, lane j takes the numbers j, j + 16 and so on; then the upper half of the lanes is added
 * to the lower, until one is left. */
#define SOFTMAX_LANES 16u

static float sum_of_16(float *lane)
{
    for (size_t half = SOFTMAX_LANES / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

static void softmax_sums_scalar(const wte__softmax *job)
{
    for (size_t i = 0; i < job->n_x; i++) {
        const float *x = job->x + i * job->stride;
        float most = -INFINITY, sum[SOFTMAX_LANES] = { 0 }, all[SOFTMAX_LANES] = { 0 };
        for (size_t j = 0; j < job->n; j++) most = x[j] > most ? x[j] : most;
        most += 0.0f; /* -0 becomes +0: which of them came first would show */
        for (size_t j = 0; j < job->n; j++) {
            sum[j % SOFTMAX_LANES] += exp_of((x[j] - most) * job->times);
            all[j % SOFTMAX_LANES] += x[j];
        }
        job->max_logit[i] = most;
        job->sum[i] = sum_of_16(sum);
        if (job->all) job->all[i] = sum_of_16(all);
    }
}

static void softmax_grad_scalar(const wte__softmax_grad *job)
{
    for (size_t i = 0; i < job->n_x; i++) {
        float *x = job->x + i * job->stride;
        for (size_t j = 0; j < job->n; j++) {
            const float slope = fmaf(job->scale[i], exp_of(x[j] - job->minus[i]), job->add);
            const float part = x[j] * job->over_cap;
            x[j] = job->over_cap > 0 ? slope * fmaf(-part, part, 1) : slope;
        }
    }
}

static size_t select_ge_f32_scalar(const float *x, size_t n, float least, uint32_t *at)
{
    size_t found = 0;
    for (size_t j = 0; j < n; j++)
        if (x[j] >= least) at[found++] = (uint32_t)j;
    return found;
}

static float sum_of_steps(const wte__outer *job, size_t i, size_t k, size_t from, size_t to)
{
    float sum = 0;
    for (size_t s = from; s < to; s++)
        sum = fmaf(job->a[s * job->a_step + i * job->a_row], job->b[s * job->b_stride + k], sum);
    return sum;
}
static void outer_f32_scalar(const wte__outer *job)
{
    for (size_t from = 0; from < job->steps; from += job->group) {
        const size_t to = job->steps - from < job->group ? job->steps : from + job->group;
        for (size_t i = 0; i < job->rows; i++)
            for (size_t k = 0; k < job->cols; k++)
                job->c[i * job->c_stride + k] += sum_of_steps(job, i, k, from, to);
    }
}
#endif
