/* Softmax, its gradient and outer products under AVX-512. For kernel_avx512.c alone. */
#ifndef WTE_SRC_NUM_HEAD_AVX512_H
#define WTE_SRC_NUM_HEAD_AVX512_H
#include <immintrin.h>
#include <math.h>

#include "num/exp.h"
#include "num/outer_x86.h"

OUTER_INLINE __mmask16 head_lanes(size_t n)
{
    return (__mmask16)(n < 16 ? (1u << n) - 1 : 0xffffu);
}

/* exp(z); NaN stays NaN */
OUTER_INLINE __m512 exp_16(__m512 z)
{
    const __m512 round = _mm512_set1_ps(WTE__EXP_ROUND), one = _mm512_set1_ps(1);
    const __mmask16 some = _mm512_cmp_ps_mask(z, _mm512_set1_ps(WTE__EXP_LEAST), _CMP_NLT_UQ);
    const __m512 rounded = _mm512_fmadd_ps(z, _mm512_set1_ps(WTE__EXP_PER_LN2), round);
    const __m512 k = _mm512_sub_ps(rounded, round);
    const __m512 r = _mm512_fnmadd_ps(k, _mm512_set1_ps(WTE__EXP_LN2), z);
    __m512 p = _mm512_set1_ps(WTE__EXP_6);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(WTE__EXP_5));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(WTE__EXP_4));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(WTE__EXP_3));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(WTE__EXP_2));
    p = _mm512_fmadd_ps(p, r, one);
    p = _mm512_fmadd_ps(p, r, one);
    return _mm512_maskz_scalef_ps(some, p, k);
}

static void exp_f32_avx512(float *out, const float *x, const float *minus, float times, size_t n)
{
    const __m512 t = _mm512_set1_ps(times);
    for (size_t j = 0; j < n; j += 16) {
        const __mmask16 lanes = head_lanes(n - j);
        const __m512 z = _mm512_sub_ps(_mm512_maskz_loadu_ps(lanes, x + j),
                                       _mm512_maskz_loadu_ps(lanes, minus + j));
        _mm512_mask_storeu_ps(out + j, lanes, exp_16(_mm512_mul_ps(z, t)));
    }
}

/* Lanes 8, 4, 2 and 1 apart are added. */
OUTER_INLINE float sum_of_16(__m512 x)
{
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}

#define SOFTMAX_ROWS 4u /* at once: one row alone would wait for its own additions */

/* NaN is passed over: of two operands max_ps gives the second where one is NaN. */
OUTER_INLINE void most_of(const wte__softmax *job, const float *x, size_t n_x, __m512 *most)
{
    OUTER_UNROLL
    for (size_t i = 0; i < n_x; i++) most[i] = _mm512_set1_ps(-INFINITY);
    size_t j = 0;
    for (; job->n - j >= 16; j += 16) {
        OUTER_UNROLL
        for (size_t i = 0; i < n_x; i++)
            most[i] = _mm512_max_ps(_mm512_loadu_ps(x + i * job->stride + j), most[i]);
    }
    const __mmask16 lanes = (__mmask16)((1u << (job->n - j)) - 1);
    OUTER_UNROLL
    for (size_t i = 0; i < n_x; i++) {
        const __m512 rest = _mm512_maskz_loadu_ps(lanes, x + i * job->stride + j);
        most[i] = _mm512_mask_max_ps(most[i], lanes, rest, most[i]);
        most[i] = _mm512_set1_ps(_mm512_reduce_max_ps(most[i]) + 0.0f);
    }
}

/* Of n_x rows from row `first` on, a constant number. */
OUTER_INLINE void sum_rows_of(const wte__softmax *job, size_t first, size_t n_x, bool scaled,
                              bool want_all)
{
    const __m512 times = _mm512_set1_ps(job->times);
    const float *x = job->x + first * job->stride;
    __m512 most[SOFTMAX_ROWS], sum[SOFTMAX_ROWS], all[SOFTMAX_ROWS];
    most_of(job, x, n_x, most);
    OUTER_UNROLL
    for (size_t i = 0; i < n_x; i++) sum[i] = all[i] = _mm512_setzero_ps();
    for (size_t j = 0; j < job->n; j += 16) {
        const __mmask16 lanes = head_lanes(job->n - j);
        OUTER_UNROLL
        for (size_t i = 0; i < n_x; i++) {
            const __m512 v = _mm512_maskz_loadu_ps(lanes, x + i * job->stride + j);
            const __m512 z = _mm512_sub_ps(v, most[i]);
            const __m512 e = exp_16(scaled ? _mm512_mul_ps(z, times) : z);
            sum[i] = _mm512_mask_add_ps(sum[i], lanes, sum[i], e);
            if (want_all) all[i] = _mm512_add_ps(all[i], v);
        }
    }
    OUTER_UNROLL
    for (size_t i = 0; i < n_x; i++) {
        job->max_logit[first + i] = _mm512_cvtss_f32(most[i]);
        job->sum[first + i] = sum_of_16(sum[i]);
        if (want_all) job->all[first + i] = sum_of_16(all[i]);
    }
}
OUTER_INLINE void softmax_sums_of(const wte__softmax *job, bool scaled, bool want_all)
{
    size_t i = 0;
    for (; job->n_x - i >= SOFTMAX_ROWS; i += SOFTMAX_ROWS)
        sum_rows_of(job, i, SOFTMAX_ROWS, scaled, want_all);
    for (; i < job->n_x; i++) sum_rows_of(job, i, 1, scaled, want_all);
}
static void softmax_sums_avx512(const wte__softmax *job)
{
    if (job->all)
        softmax_sums_of(job, true, true);
    else if (job->times != 1)
        softmax_sums_of(job, true, false);
    else
        softmax_sums_of(job, false, false);
}

static void softmax_grad_avx512(const wte__softmax_grad *job)
{
    const __m512 add = _mm512_set1_ps(job->add), over = _mm512_set1_ps(job->over_cap);
    for (size_t i = 0; i < job->n_x; i++) {
        float *x = job->x + i * job->stride;
        const __m512 scale = _mm512_set1_ps(job->scale[i]), minus = _mm512_set1_ps(job->minus[i]);
        for (size_t j = 0; j < job->n; j += 16) {
            const __mmask16 lanes = head_lanes(job->n - j);
            const __m512 v = _mm512_maskz_loadu_ps(lanes, x + j);
            __m512 slope = _mm512_fmadd_ps(scale, exp_16(_mm512_sub_ps(v, minus)), add);
            if (job->over_cap > 0) {
                const __m512 part = _mm512_mul_ps(v, over);
                slope = _mm512_mul_ps(slope, _mm512_fnmadd_ps(part, part, _mm512_set1_ps(1)));
            }
            _mm512_mask_storeu_ps(x + j, lanes, slope);
        }
    }
}

/* 64 numbers at a time: the loop over hits, which is what costs, is left half as often. */
static size_t select_ge_f32_avx512(const float *x, size_t n, float least, uint32_t *at)
{
    const __m512 least_16 = _mm512_set1_ps(least);
    size_t found = 0;
    for (size_t j = 0; j < n; j += 64) {
        uint64_t hits = 0;
        for (size_t v = 0; v < 4 && j + 16 * v < n; v++) {
            const __mmask16 lanes = head_lanes(n - j - 16 * v);
            const __m512 some = _mm512_maskz_loadu_ps(lanes, x + j + 16 * v);
            const uint64_t hit = _mm512_mask_cmp_ps_mask(lanes, some, least_16, _CMP_GE_OQ);
            hits |= hit << (16 * v);
        }
        for (; hits; hits &= hits - 1) at[found++] = (uint32_t)(j + (size_t)__builtin_ctzll(hits));
    }
    return found;
}

/* Sums of 16 columns, four for each row, are added to what c has. */
OUTER_INLINE void outer_add(const outer_panel *panel, size_t c_stride, float *c,
                            __m512 sums[OUTER_ROWS][4], size_t n_i)
{
    OUTER_UNROLL
    for (size_t i = 0; i < n_i; i++, c += c_stride) {
        OUTER_UNROLL
        for (size_t v = 0; v < 4; v++) {
            if (panel->cols <= 16 * v) break;
            const __mmask16 lanes = head_lanes(panel->cols - 16 * v);
            const __m512 old = _mm512_maskz_loadu_ps(lanes, c + 16 * v);
            _mm512_mask_storeu_ps(c + 16 * v, lanes, _mm512_add_ps(old, sums[i][v]));
        }
    }
}

/* 24 sums of 16 columns. */
OUTER_INLINE void outer_of(const wte__outer *job, const outer_panel *panel, const float *a,
                           float *c, size_t n_i)
{
    const float *b = panel->b;
    for (size_t from = 0, steps; from < job->steps; from += steps) {
        __m512 sums[OUTER_ROWS][4];
        steps = job->steps - from < job->group ? job->steps - from : job->group;
        OUTER_UNROLL
        for (size_t i = 0; i < n_i; i++) {
            OUTER_UNROLL
            for (size_t v = 0; v < 4; v++) sums[i][v] = _mm512_setzero_ps();
        }
        for (size_t s = 0; s < steps; s++, a += job->a_step, b += OUTER_COLS) {
            __m512 cols[4];
            OUTER_UNROLL
            for (size_t v = 0; v < 4; v++) cols[v] = _mm512_load_ps(b + 16 * v);
            OUTER_UNROLL
            for (size_t i = 0; i < n_i; i++) {
                const __m512 factor = _mm512_set1_ps(a[i * job->a_row]);
                OUTER_UNROLL
                for (size_t v = 0; v < 4; v++)
                    sums[i][v] = _mm512_fmadd_ps(factor, cols[v], sums[i][v]);
            }
        }
        outer_add(panel, job->c_stride, c, sums, n_i);
    }
}

static void outer_block_avx512(const wte__outer *job, const outer_panel *panel, const float *a,
                               float *c, size_t n_i)
{
    switch (n_i) {
    case 1: outer_of(job, panel, a, c, 1); break;
    case 2: outer_of(job, panel, a, c, 2); break;
    case 3: outer_of(job, panel, a, c, 3); break;
    case 4: outer_of(job, panel, a, c, 4); break;
    case 5: outer_of(job, panel, a, c, 5); break;
    default: outer_of(job, panel, a, c, OUTER_ROWS);
    }
}
static void outer_f32_avx512(const wte__outer *job)
{
    outer_run(job, outer_block_avx512);
}
#endif
