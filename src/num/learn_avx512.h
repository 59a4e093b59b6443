/* Learning of rows under AVX-512. For kernel_avx512.c alone, behind head_avx512.h. */
#ifndef WTE_SRC_NUM_LEARN_AVX512_H
#define WTE_SRC_NUM_LEARN_AVX512_H
#include "num/dots_avx512.h"
#include "num/learn_x86.h"

#define LEARN_AT_ONCE ((size_t)4) /* registers of 16 columns each in which rows are summed */

LEARN_INLINE void learn_mean_of(const wte__learn_rows *job, size_t c, size_t n_registers,
                                float *out)
{
    const __m512 share = _mm512_set1_ps(1 / (float)job->n);
    __m512 sum[LEARN_AT_ONCE];
    OUTER_UNROLL
    for (size_t r = 0; r < n_registers; r++) sum[r] = _mm512_setzero_ps();
    for (size_t i = 0; i < job->n; i++) {
        const float *row = job->table + job->rows[i] * job->stride + c;
        const __m512 weight = _mm512_set1_ps(job->weights ? job->weights[i] : 1);
        OUTER_UNROLL
        for (size_t r = 0; r < n_registers; r++) /* times 1 is exact */
            sum[r] = _mm512_fmadd_ps(weight, _mm512_loadu_ps(row + 16 * r), sum[r]);
    }
    OUTER_UNROLL
    for (size_t r = 0; r < n_registers; r++)
        _mm512_storeu_ps(out + c + 16 * r, job->weights ? sum[r] : _mm512_mul_ps(sum[r], share));
}

LEARN_SHARED static void learn_mean_avx512(const wte__learn_rows *job, float *out)
{
    size_t c = 0;
    if (job->n == 0) return;
    for (; job->cols - c >= 16 * LEARN_AT_ONCE; c += 16 * LEARN_AT_ONCE)
        learn_mean_of(job, c, LEARN_AT_ONCE, out);
    for (; c < job->cols; c += 16) learn_mean_of(job, c, 1, out);
}

LEARN_SHARED static void learn_add_avx512(const wte__learn_rows *job, const float *now,
                                          const float *before)
{
    for (size_t i = 0; i < job->n; i++) {
        float *row = job->table + job->rows[i] * job->stride;
        for (size_t c = 0; c < job->cols; c += 16) {
            const __m512 d = _mm512_sub_ps(_mm512_loadu_ps(now + c), _mm512_loadu_ps(before + c));
            _mm512_storeu_ps(row + c, _mm512_add_ps(_mm512_loadu_ps(row + c), d));
        }
    }
}

/* 1 / (1 + exp(-x)), by way of the exponential of what is not positive */
OUTER_INLINE __m512 sigmoid_16(__m512 x)
{
    const __m512 minus = _mm512_set1_ps(-0.0f), one = _mm512_set1_ps(1);
    const __m512 e = exp_16(_mm512_or_ps(x, minus));
    const __m512 part = _mm512_div_ps(one, _mm512_add_ps(one, e));
    const __mmask16 positive = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GE_OQ);
    return _mm512_mask_mov_ps(_mm512_mul_ps(e, part), positive, part);
}

/* Products of one vector or two with n rows, and their slopes. */
LEARN_INLINE void learn_dots(const wte__learn_pairs *job, size_t i, size_t n_in, size_t first,
                             size_t n, learn_slopes *slopes)
{
    const float *in[2] = { job->in[i], job->in[i + n_in - 1] };
    __m512 sums[4][DOTS_ROWS], sum[2][WTE__LEARN_GROUP];
    OUTER_UNROLL
    for (size_t k = 0; k < WTE__LEARN_GROUP; k++) sum[0][k] = sum[1][k] = _mm512_setzero_ps();
    for (size_t c = 0; c < job->cols; c += 16) {
        const __m512 a = _mm512_loadu_ps(in[0] + c), b = _mm512_loadu_ps(in[1] + c);
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++) {
            const __m512 row = _mm512_loadu_ps(job->out[first + k] + c);
            sum[0][k] = _mm512_fmadd_ps(a, row, sum[0][k]);
            if (n_in == 2) sum[1][k] = _mm512_fmadd_ps(b, row, sum[1][k]);
        }
    }
    /* the two vectors' sums with rows 0 to 3 and 4 to 7, in this order */
    OUTER_UNROLL
    for (size_t k = 0; k < DOTS_ROWS; k++) {
        sums[0][k] = sum[0][k];
        sums[1][k] = sum[0][DOTS_ROWS + k];
        sums[2][k] = sum[1][k];
        sums[3][k] = sum[1][DOTS_ROWS + k];
    }
    const __m512 x = sum_of_4(sums);
    const __m256 labels_8 = _mm256_maskz_loadu_ps((__mmask8)((1u << n) - 1), job->labels + first);
    const __m512 labels = _mm512_broadcast_f32x8(labels_8);
    const __m512 slope =
        _mm512_mul_ps(_mm512_sub_ps(labels, sigmoid_16(x)), _mm512_set1_ps(job->lr));
    _mm512_storeu_ps(slopes->of[i], slope);
    if (!job->logits) return;
    float *logits = job->logits + i * job->n_out + first;
    _mm512_mask_storeu_ps(logits, (__mmask16)((1u << n) - 1), x);
    if (n_in == 2)
        _mm256_mask_storeu_ps(logits + job->n_out, (__mmask8)((1u << n) - 1),
                              _mm512_extractf32x8_ps(x, 1));
}

LEARN_INLINE void learn_slopes_avx512(const wte__learn_pairs *job, size_t first, size_t n,
                                      learn_slopes *slopes)
{
    size_t i = 0;
    for (; job->n_in - i >= 2; i += 2) learn_dots(job, i, 2, first, n, slopes);
    if (i < job->n_in) learn_dots(job, i, 1, first, n, slopes);
}

LEARN_INLINE void learn_step_avx512(const wte__learn_pairs *job, size_t first, size_t n,
                                    const learn_slopes *slopes)
{
    for (size_t c = 0; c < job->cols; c += 16) {
        __m512 row[WTE__LEARN_GROUP], d_row[WTE__LEARN_GROUP];
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++) {
            row[k] = _mm512_loadu_ps(job->out[first + k] + c);
            d_row[k] = _mm512_setzero_ps();
        }
        for (size_t i = 0; i < job->n_in; i++) {
            const __m512 in = _mm512_loadu_ps(job->in[i] + c);
            __m512 d_in = _mm512_setzero_ps();
            OUTER_UNROLL
            for (size_t k = 0; k < n; k++) {
                const __m512 slope = _mm512_set1_ps(slopes->of[i][k]);
                d_in = _mm512_fmadd_ps(slope, row[k], d_in);
                d_row[k] = _mm512_fmadd_ps(slope, in, d_row[k]);
            }
            _mm512_storeu_ps(job->in[i] + c, _mm512_add_ps(in, d_in));
        }
        OUTER_UNROLL
        for (size_t k = 0; k < n; k++)
            _mm512_storeu_ps(job->out[first + k] + c, _mm512_add_ps(row[k], d_row[k]));
    }
}

LEARN_PAIRS(avx512)
#endif
