/* Gradients in plain C, for kernel_scalar.c: one column of one row at a time. docs/kernels.md has
 * the arithmetic. The file that includes this has <type>_value and float_of. */
#ifndef WTE_SRC_NUM_SCATTER_SCALAR_H
#define WTE_SRC_NUM_SCATTER_SCALAR_H
#include "num/kernels.h"

/* The bits of an element as f32. */
typedef uint32_t (*scatter_value)(const char *src);

/* Column c of part p. */
static float scatter_term(const wte__scatter *job, uint64_t p, size_t c, size_t size,
                          scatter_value value)
{
    const size_t vector = job->from[p];
    const float factor = job->factor ? job->factor[p] : 1.0f;
    if (job->max_at && job->max_at[vector * job->max_stride + c] != job->member[p]) return 0.0f;
    return float_of(value((const char *)job->d_out + vector * job->stride + c * size)) * factor;
}

static void scatter(const wte__scatter *job, size_t size, scatter_value value)
{
    for (size_t u = 0; u < job->n && job->cols; u++) {
        float *out = job->out + (job->rows ? job->rows[u] : u) * job->out_stride;
        for (size_t c = 0; c < job->cols; c++) {
            float sum = 0;
            double wide = 0;
            for (uint64_t p = job->first[u]; p < job->first[u + 1]; p++) {
                const float term = scatter_term(job, p, c, size, value);
                sum += term;
                wide += (double)term;
            }
            if (job->f64_sums) sum = (float)wide;
            out[c] = job->add ? out[c] + sum : sum;
        }
    }
}

#define X(type, size)                                                                              \
    static void scatter_##type##_scalar(const wte__scatter *job)                                   \
    {                                                                                              \
        scatter(job, size, type##_value);                                                          \
    }
X(f32, 4)
X(f16, 2)
X(bf16, 2)
#undef X

/* 16 lanes, number k goes to lane k mod 16; then the upper half of the lanes is added to the lower,
 * until one is left. The square of an f32 is exact in f64. */
#define SQUARES_LANES 16u

static double sumsq_f64acc_scalar(const float *x, size_t n)
{
    double lane[SQUARES_LANES] = { 0 };
    for (size_t k = 0; k < n; k++) lane[k % SQUARES_LANES] += (double)x[k] * (double)x[k];
    for (size_t half = SQUARES_LANES / 2; half; half /= 2)
        for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}
#endif
