/* Learning of rows under AVX2. For kernel_avx2.c alone, behind head_avx2.h. */
#ifndef WTE_SRC_NUM_LEARN_AVX2_H
#define WTE_SRC_NUM_LEARN_AVX2_H
#include "num/dots_avx2.h"
#include "num/learn_x86.h"

LEARN_SHARED static void learn_mean_avx2(const wte__learn_rows *job, float *out)
{
    const __m256 share = _mm256_set1_ps(1 / (float)job->n);
    for (size_t c = 0; job->n && c < job->cols; c += 16) {
        __m256 low = _mm256_setzero_ps(), high = low;
        for (size_t i = 0; i < job->n; i++) {
            const float *row = job->table + job->rows[i] * job->stride + c;
            /* times 1 is exact */
            const __m256 weight = _mm256_set1_ps(job->weights ? job->weights[i] : 1);
            low = _mm256_fmadd_ps(weight, _mm256_loadu_ps(row), low);
            high = _mm256_fmadd_ps(weight, _mm256_loadu_ps(row + 8), high);
        }
        _mm256_storeu_ps(out + c, job->weights ? low : _mm256_mul_ps(low, share));
        _mm256_storeu_ps(out + c + 8, job->weights ? high : _mm256_mul_ps(high, share));
    }
}

LEARN_SHARED static void learn_add_avx2(const wte__learn_rows *job, const float *now,
                                        const float *before)
{
    for (size_t i = 0; i < job->n; i++) {
        float *row = job->table + job->rows[i] * job->stride;
        for (size_t c = 0; c < job->cols; c += 8) {
            const __m256 d = _mm256_sub_ps(_mm256_loadu_ps(now + c), _mm256_loadu_ps(before + c));
            _mm256_storeu_ps(row + c, _mm256_add_ps(_mm256_loadu_ps(row + c), d));
        }
    }
}

/* 1 / (1 + exp(-x)), by way of the exponential of what is not positive */
OUTER_INLINE __m256 sigmoid_8(__m256 x)
{
    const __m256 minus = _mm256_set1_ps(-0.0f), one = _mm256_set1_ps(1);
    const __m256 e = exp_8(_mm256_or_ps(x, minus));
    const __m256 part = _mm256_div_ps(one, _mm256_add_ps(one, e));
    const __m256 positive = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GE_OQ);
    return _mm256_blendv_ps(_mm256_mul_ps(e, part), part, positive);
}

/* Lanes 0 to 7, or 8 to 15, of the products of a vector with n rows. */
LEARN_INLINE void learn_eights(const wte__learn_pairs *job, const float *in, size_t first, size_t n,
                               __m256 sum[WTE__LEARN_GROUP], size_t from)
{
    OUTER_UNROLL
    for (size_t k = 0; k < WTE__LEARN_GROUP; k++) sum[k] = _mm256_setzero_ps();
    for (size_t c = from; c < job->cols; c += 16) {
        const __m256 x = _mm256_loadu_ps(in + c);
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++)
            sum[k] = _mm256_fmadd_ps(x, _mm256_loadu_ps(job->out[first + k] + c), sum[k]);
    }
}

LEARN_INLINE void learn_slopes_avx2(const wte__learn_pairs *job, size_t first, size_t n,
                                    learn_slopes *slopes)
{
    float labels[WTE__LEARN_GROUP] = { 0 }, logits[WTE__LEARN_GROUP];
    for (size_t k = 0; k < n; k++) labels[k] = job->labels[first + k];
    for (size_t i = 0; i < job->n_in; i++) {
        __m256 low[WTE__LEARN_GROUP], high[WTE__LEARN_GROUP];
        learn_eights(job, job->in[i], first, n, low, 0);
        learn_eights(job, job->in[i], first, n, high, 8);
        OUTER_UNROLL
        for (size_t k = 0; k < WTE__LEARN_GROUP; k++) low[k] = _mm256_add_ps(low[k], high[k]);
        const __m256 x = _mm256_set_m128(sum_of_eights(low + DOTS_ROWS), sum_of_eights(low));
        const __m256 off = _mm256_sub_ps(_mm256_loadu_ps(labels), sigmoid_8(x));
        _mm256_storeu_ps(slopes->of[i], _mm256_mul_ps(off, _mm256_set1_ps(job->lr)));
        if (!job->logits) continue;
        _mm256_storeu_ps(logits, x);
        memcpy(job->logits + i * job->n_out + first, logits, n * sizeof *logits);
    }
}

/* Eight columns: changes of the rows are made of the vectors, then those of the vectors of the
 * rows, and both from what was there before. */
LEARN_INLINE void learn_step_avx2(const wte__learn_pairs *job, size_t first, size_t n,
                                  const learn_slopes *slopes)
{
    for (size_t c = 0; c < job->cols; c += 8) {
        __m256 row[WTE__LEARN_GROUP], d_row[WTE__LEARN_GROUP];
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++) d_row[k] = _mm256_setzero_ps();
        for (size_t i = 0; i < job->n_in; i++) {
            const __m256 in = _mm256_loadu_ps(job->in[i] + c);
            OUTER_UNROLL
            for (size_t k = 0; k < n; k++)
                d_row[k] = _mm256_fmadd_ps(_mm256_set1_ps(slopes->of[i][k]), in, d_row[k]);
        }
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++) row[k] = _mm256_loadu_ps(job->out[first + k] + c);
        for (size_t i = 0; i < job->n_in; i++) {
            __m256 d_in = _mm256_setzero_ps();
            OUTER_UNROLL
            for (size_t k = 0; k < n; k++)
                d_in = _mm256_fmadd_ps(_mm256_set1_ps(slopes->of[i][k]), row[k], d_in);
            const __m256 in = _mm256_loadu_ps(job->in[i] + c);
            _mm256_storeu_ps(job->in[i] + c, _mm256_add_ps(in, d_in));
        }
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++)
            _mm256_storeu_ps(job->out[first + k] + c, _mm256_add_ps(row[k], d_row[k]));
    }
}

LEARN_PAIRS(avx2)
#endif
