/* Learning of rows, plainly: the reference for the faster sets. For kernel_scalar.c alone, behind
 * head_scalar.h.
 *
 * Other threads may change the same rows at the same time, and lose or mix changes: that is meant
 * (Hogwild). Each number is read and written whole, by relaxed atomics. */
#ifndef WTE_SRC_NUM_LEARN_SCALAR_H
#define WTE_SRC_NUM_LEARN_SCALAR_H
#include <math.h>

#include "num/kernels.h"

static float shared_get(const float *x)
{
    float value;
    __atomic_load(x, &value, __ATOMIC_RELAXED);
    return value;
}
static void shared_put(float *x, float value)
{
    __atomic_store(x, &value, __ATOMIC_RELAXED);
}

static void learn_mean_scalar(const wte__learn_rows *job, float *out)
{
    const float share = 1 / (float)job->n;
    for (size_t c = 0; job->n && c < job->cols; c++) {
        float sum = 0;
        for (size_t i = 0; i < job->n; i++) {
            const float x = shared_get(job->table + job->rows[i] * job->stride + c);
            sum = job->weights ? fmaf(job->weights[i], x, sum) : sum + x;
        }
        out[c] = job->weights ? sum : sum * share;
    }
}

static void learn_add_scalar(const wte__learn_rows *job, const float *now, const float *before)
{
    for (size_t i = 0; i < job->n; i++) {
        float *row = job->table + job->rows[i] * job->stride;
        for (size_t c = 0; c < job->cols; c++)
            shared_put(row + c, shared_get(row + c) + (now[c] - before[c]));
    }
}

/* 1 / (1 + exp(-x)), by way of the exponential of what is not positive */
static float sigmoid_of(float x)
{
    const float e = exp_of(-fabsf(x)), part = 1 / (1 + e);
    return x >= 0 ? part : e * part;
}

/* 16 lanes, joined by halves. */
static float shared_dot(const float *in, const float *out, size_t cols)
{
    float lane[16] = { 0 };
    for (size_t c = 0; c < cols; c++) lane[c % 16] = fmaf(in[c], shared_get(out + c), lane[c % 16]);
    for (size_t half = 8; half; half /= 2)
        for (size_t i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

/* Rows first to first + n - 1, by the slopes of each pair. */
static void learn_group_scalar(const wte__learn_pairs *job, size_t first, size_t n,
                               float slope[][WTE__LEARN_GROUP])
{
    for (size_t c = 0; c < job->cols; c++) {
        float row[WTE__LEARN_GROUP], d_row[WTE__LEARN_GROUP] = { 0 };
        for (size_t k = 0; k < n; k++) row[k] = shared_get(job->out[first + k] + c);
        for (size_t i = 0; i < job->n_in; i++) {
            float d_in = 0;
            for (size_t k = 0; k < n; k++) {
                d_in = fmaf(slope[i][k], row[k], d_in);
                d_row[k] = fmaf(slope[i][k], job->in[i][c], d_row[k]);
            }
            job->in[i][c] += d_in;
        }
        for (size_t k = 0; k < n; k++) shared_put(job->out[first + k] + c, row[k] + d_row[k]);
    }
}

static void learn_pairs_scalar(const wte__learn_pairs *job)
{
    float slope[WTE__LEARN_IN][WTE__LEARN_GROUP];
    for (size_t first = 0; first < job->n_out; first += WTE__LEARN_GROUP) {
        const size_t left = job->n_out - first;
        const size_t n = left < WTE__LEARN_GROUP ? left : WTE__LEARN_GROUP;
        for (size_t i = 0; i < job->n_in; i++) {
            for (size_t k = 0; k < n; k++) {
                const float x = shared_dot(job->in[i], job->out[first + k], job->cols);
                if (job->logits) job->logits[i * job->n_out + first + k] = x;
                slope[i][k] = (job->labels[first + k] - sigmoid_of(x)) * job->lr;
            }
        }
        learn_group_scalar(job, first, n, slope);
    }
}
#endif
