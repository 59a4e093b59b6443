/* Softmax, its gradient and outer products under AVX2. For kernel_avx2.c alone. */
#ifndef WTE_SRC_NUM_HEAD_AVX2_H
#define WTE_SRC_NUM_HEAD_AVX2_H
#include <immintrin.h>
#include <math.h>

#include "num/exp.h"
#include "num/outer_x86.h"

/* exp(z); NaN stays NaN. 2^k is made from the bits that rounding left in the sum. */
OUTER_INLINE __m256 exp_8(__m256 z)
{
    const __m256 round = _mm256_set1_ps(WTE__EXP_ROUND), one = _mm256_set1_ps(1);
    const __m256 some = _mm256_cmp_ps(z, _mm256_set1_ps(WTE__EXP_LEAST), _CMP_NLT_UQ);
    const __m256 rounded = _mm256_fmadd_ps(z, _mm256_set1_ps(WTE__EXP_PER_LN2), round);
    const __m256 k = _mm256_sub_ps(rounded, round);
    const __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(WTE__EXP_LN2), z);
    __m256 p = _mm256_set1_ps(WTE__EXP_6);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(WTE__EXP_5));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(WTE__EXP_4));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(WTE__EXP_3));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(WTE__EXP_2));
    p = _mm256_fmadd_ps(p, r, one);
    p = _mm256_fmadd_ps(p, r, one);
    const __m256i power = _mm256_slli_epi32(_mm256_castps_si256(rounded), 23);
    const __m256i scale = _mm256_add_epi32(power, _mm256_castps_si256(one));
    return _mm256_and_ps(some, _mm256_mul_ps(p, _mm256_castsi256_ps(scale)));
}

/* What is left of a row, fewer than 16 numbers, with `behind` behind them. */
OUTER_INLINE void head_rest(float rest[16], const float *x, size_t n, float behind)
{
    for (size_t j = 0; j < 16; j++) rest[j] = j < n ? x[j] : behind;
}

static void exp_f32_avx2(float *out, const float *x, const float *minus, float times, size_t n)
{
    const __m256 t = _mm256_set1_ps(times);
    float a[16], b[16], e[16];
    for (size_t j = 0; j < n; j += 8) {
        const bool whole = n - j >= 8;
        if (!whole) head_rest(a, x + j, n - j, 0);
        if (!whole) head_rest(b, minus + j, n - j, 0);
        const __m256 z = _mm256_sub_ps(_mm256_loadu_ps(whole ? x + j : a),
                                       _mm256_loadu_ps(whole ? minus + j : b));
        _mm256_storeu_ps(whole ? out + j : e, exp_8(_mm256_mul_ps(z, t)));
        if (!whole) memcpy(out + j, e, (n - j) * sizeof *e);
    }
}

/* Lanes 8, 4, 2 and 1 apart are added. */
OUTER_INLINE float sum_of_two_eights(__m256 low, __m256 high)
{
    const __m256 a = _mm256_add_ps(low, high);
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}

/* NaN is passed over: of two operands max_ps gives the second where one is NaN. */
OUTER_INLINE float most_of(const float *x, size_t n)
{
    __m256 most = _mm256_set1_ps(-INFINITY);
    size_t j = 0;
    for (; n - j >= 8; j += 8) most = _mm256_max_ps(_mm256_loadu_ps(x + j), most);
    float lane[8], m = -INFINITY;
    _mm256_storeu_ps(lane, most);
    for (size_t i = 0; i < 8; i++) m = lane[i] > m ? lane[i] : m;
    for (; j < n; j++) m = x[j] > m ? x[j] : m;
    return m + 0.0f;
}

static void softmax_sums_avx2(const wte__softmax *job)
{
    const __m256 times = _mm256_set1_ps(job->times);
    float rest[16], rest_of_all[16];
    for (size_t i = 0; i < job->n_x; i++) {
        const float *x = job->x + i * job->stride;
        const size_t whole = job->n - job->n % 16;
        const float most = most_of(x, job->n);
        const __m256 top = _mm256_set1_ps(most), zero = _mm256_setzero_ps();
        __m256 sum[2] = { zero, zero }, all[2] = { zero, zero };
        for (size_t j = 0; j < job->n; j += 16) {
            const float *from = x + j, *also = x + j;
            if (j == whole) {
                head_rest(rest, x + j, job->n - j, -INFINITY); /* whose exponential is 0 */
                head_rest(rest_of_all, x + j, job->n - j, 0);
                from = rest;
                also = rest_of_all;
            }
            for (size_t half = 0; half < 2; half++) {
                const __m256 v = _mm256_loadu_ps(from + 8 * half);
                const __m256 e = exp_8(_mm256_mul_ps(_mm256_sub_ps(v, top), times));
                sum[half] = _mm256_add_ps(sum[half], e);
                all[half] = _mm256_add_ps(all[half], _mm256_loadu_ps(also + 8 * half));
            }
        }
        job->max_logit[i] = most;
        job->sum[i] = sum_of_two_eights(sum[0], sum[1]);
        if (job->all) job->all[i] = sum_of_two_eights(all[0], all[1]);
    }
}

OUTER_INLINE __m256 slopes_of_8(const wte__softmax_grad *job, size_t i, __m256 v)
{
    const __m256 scale = _mm256_set1_ps(job->scale[i]), minus = _mm256_set1_ps(job->minus[i]);
    const __m256 slope =
        _mm256_fmadd_ps(scale, exp_8(_mm256_sub_ps(v, minus)), _mm256_set1_ps(job->add));
    if (!(job->over_cap > 0)) return slope;
    const __m256 part = _mm256_mul_ps(v, _mm256_set1_ps(job->over_cap));
    return _mm256_mul_ps(slope, _mm256_fnmadd_ps(part, part, _mm256_set1_ps(1)));
}

static void softmax_grad_avx2(const wte__softmax_grad *job)
{
    float rest[16];
    for (size_t i = 0; i < job->n_x; i++) {
        float *x = job->x + i * job->stride;
        size_t j = 0;
        for (; job->n - j >= 8; j += 8)
            _mm256_storeu_ps(x + j, slopes_of_8(job, i, _mm256_loadu_ps(x + j)));
        if (j == job->n) continue;
        head_rest(rest, x + j, job->n - j, 0);
        _mm256_storeu_ps(rest, slopes_of_8(job, i, _mm256_loadu_ps(rest)));
        memcpy(x + j, rest, (job->n - j) * sizeof *x);
    }
}

static size_t select_ge_f32_avx2(const float *x, size_t n, float least, uint32_t *at)
{
    const __m256 least_8 = _mm256_set1_ps(least);
    size_t found = 0, j = 0;
    for (; n - j >= 8; j += 8) {
        const __m256 hit = _mm256_cmp_ps(_mm256_loadu_ps(x + j), least_8, _CMP_GE_OQ);
        uint32_t hits = (uint32_t)_mm256_movemask_ps(hit);
        for (; hits; hits &= hits - 1) at[found++] = (uint32_t)(j + (size_t)__builtin_ctz(hits));
    }
    for (; j < n; j++)
        if (x[j] >= least) at[found++] = (uint32_t)j;
    return found;
}

/* Sums of two times 8 columns are added to what c has; `left` columns are meant. */
OUTER_INLINE void outer_add(size_t c_stride, float *c, size_t left, __m256 sums[OUTER_ROWS][2],
                            size_t n_i)
{
    OUTER_UNROLL
    for (size_t i = 0; i < n_i; i++) {
        float *to = c + i * c_stride, few[16];
        if (left < 16) memcpy(few, to, left * sizeof *few);
        float *const at = left < 16 ? few : to;
        _mm256_storeu_ps(at, _mm256_add_ps(_mm256_loadu_ps(at), sums[i][0]));
        _mm256_storeu_ps(at + 8, _mm256_add_ps(_mm256_loadu_ps(at + 8), sums[i][1]));
        if (left < 16) memcpy(to, few, left * sizeof *few);
    }
}

/* 12 sums of 8 columns, four times: columns col to col + 15 of the panel. */
OUTER_INLINE void outer_of(const wte__outer *job, const outer_panel *panel, size_t col,
                           const float *a, float *c, size_t n_i)
{
    const float *b = panel->b + col;
    for (size_t from = 0, steps; from < job->steps; from += steps) {
        __m256 sums[OUTER_ROWS][2];
        steps = job->steps - from < job->group ? job->steps - from : job->group;
        OUTER_UNROLL
        for (size_t i = 0; i < n_i; i++) sums[i][0] = sums[i][1] = _mm256_setzero_ps();
        for (size_t s = 0; s < steps; s++, a += job->a_step, b += OUTER_COLS) {
            const __m256 low = _mm256_load_ps(b), high = _mm256_load_ps(b + 8);
            OUTER_UNROLL
            for (size_t i = 0; i < n_i; i++) {
                const __m256 factor = _mm256_set1_ps(a[i * job->a_row]);
                sums[i][0] = _mm256_fmadd_ps(factor, low, sums[i][0]);
                sums[i][1] = _mm256_fmadd_ps(factor, high, sums[i][1]);
            }
        }
        outer_add(job->c_stride, c + col, panel->cols - col, sums, n_i);
    }
}

static void outer_block_avx2(const wte__outer *job, const outer_panel *panel, const float *a,
                             float *c, size_t n_i)
{
    for (size_t col = 0; col < panel->cols; col += 16) switch (n_i) {
        case 1: outer_of(job, panel, col, a, c, 1); break;
        case 2: outer_of(job, panel, col, a, c, 2); break;
        case 3: outer_of(job, panel, col, a, c, 3); break;
        case 4: outer_of(job, panel, col, a, c, 4); break;
        case 5: outer_of(job, panel, col, a, c, 5); break;
        default: outer_of(job, panel, col, a, c, OUTER_ROWS);
        }
}
static void outer_f32_avx2(const wte__outer *job)
{
    outer_run(job, outer_block_avx2);
}
#endif
