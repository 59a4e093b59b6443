/* What comes after products, softmax, its gradient and outer products under NEON. For
 * kernel_neon.c, which has `eight`, eight_f32, put_8 and add_16. */
#ifndef WTE_SRC_NUM_HEAD_NEON_H
#define WTE_SRC_NUM_HEAD_NEON_H
#include <arm_neon.h>
#include <math.h>
#include <string.h>

#include "num/epilogue.h"
#include "num/exp.h"
#include "num/kernels.h"

static void logit_epilogue_neon(float *x, size_t n, const float *bias,
                                const wte__logit_epilogue *after)
{
    after_all(x, n, bias, after);
}

/* exp(z); NaN stays NaN. 2^k is made from the bits that rounding left in the sum. */
ALWAYS_INLINE float32x4_t exp_4(float32x4_t z)
{
    const float32x4_t round = vdupq_n_f32(WTE__EXP_ROUND), one = vdupq_n_f32(1);
    const uint32x4_t none = vcltq_f32(z, vdupq_n_f32(WTE__EXP_LEAST));
    const float32x4_t rounded = vfmaq_f32(round, z, vdupq_n_f32(WTE__EXP_PER_LN2));
    const float32x4_t k = vsubq_f32(rounded, round);
    const float32x4_t r = vfmsq_f32(z, k, vdupq_n_f32(WTE__EXP_LN2));
    float32x4_t p = vdupq_n_f32(WTE__EXP_6);
    p = vfmaq_f32(vdupq_n_f32(WTE__EXP_5), p, r);
    p = vfmaq_f32(vdupq_n_f32(WTE__EXP_4), p, r);
    p = vfmaq_f32(vdupq_n_f32(WTE__EXP_3), p, r);
    p = vfmaq_f32(vdupq_n_f32(WTE__EXP_2), p, r);
    p = vfmaq_f32(one, p, r);
    p = vfmaq_f32(one, p, r);
    const uint32x4_t power = vshlq_n_u32(vreinterpretq_u32_f32(rounded), 23);
    const uint32x4_t scale = vaddq_u32(power, vreinterpretq_u32_f32(one));
    const float32x4_t exp = vmulq_f32(p, vreinterpretq_f32_u32(scale));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(exp), none));
}

/* Four numbers; where fewer than four are left, `behind` is behind them. */
ALWAYS_INLINE float32x4_t load_up_to_4(const float *x, size_t n, float behind)
{
    float few[4] = { behind, behind, behind, behind };
    if (n >= 4) return load_4_floats(x);
    memcpy(few, x, n * sizeof *few);
    return load_4_floats(few);
}
ALWAYS_INLINE void put_up_to_4(float *x, float32x4_t value, size_t n)
{
    float few[4];
    if (n >= 4) {
        put_4_floats(x, value);
        return;
    }
    put_4_floats(few, value);
    memcpy(x, few, n * sizeof *few);
}

static void exp_f32_neon(float *out, const float *x, const float *minus, float times, size_t n)
{
    for (size_t j = 0; j < n; j += 4) {
        const float32x4_t a = load_up_to_4(x + j, n - j, 0), b = load_up_to_4(minus + j, n - j, 0);
        put_up_to_4(out + j, exp_4(vmulq_n_f32(vsubq_f32(a, b), times)), n - j);
    }
}

/* The maximum of the instruction set would make NaN of one NaN: it is passed over. */
ALWAYS_INLINE float most_of(const float *x, size_t n)
{
    float32x4_t most = vdupq_n_f32(-INFINITY);
    for (size_t j = 0; j < n; j += 4) {
        const float32x4_t v = load_up_to_4(x + j, n - j, -INFINITY);
        most = vbslq_f32(vcgtq_f32(v, most), v, most);
    }
    return vmaxvq_f32(most) + 0.0f;
}

/* Lanes 4k to 4k + 3 of both sums of a row. */
typedef struct softmax_lanes {
    float32x4_t sum[4], all[4];
} softmax_lanes;

/* Up to 16 numbers; for missing ones exp(-infinity), which is 0, and 0 are added. */
ALWAYS_INLINE void add_exps(softmax_lanes *lanes, const float *x, size_t n, float32x4_t most,
                            float times)
{
    UNROLLED
    for (size_t k = 0; k < 4; k++) {
        const size_t at = 4 * k, left = n > at ? n - at : 0;
        const float32x4_t v = load_up_to_4(x + (left ? at : 0), left, -INFINITY);
        const float32x4_t e = exp_4(vmulq_n_f32(vsubq_f32(v, most), times));
        lanes->sum[k] = vaddq_f32(lanes->sum[k], e);
        lanes->all[k] = vaddq_f32(lanes->all[k], load_up_to_4(x + (left ? at : 0), left, 0));
    }
}

static void softmax_sums_neon(const wte__softmax *job)
{
    for (size_t i = 0; i < job->n_x; i++) {
        const float *x = job->x + i * job->stride;
        const float most = most_of(x, job->n);
        const size_t whole = job->n - job->n % 16;
        softmax_lanes lanes;
        UNROLLED
        for (size_t k = 0; k < 4; k++) lanes.sum[k] = lanes.all[k] = vdupq_n_f32(0);
        for (size_t j = 0; j < whole; j += 16)
            add_exps(&lanes, x + j, 16, vdupq_n_f32(most), job->times);
        if (whole < job->n)
            add_exps(&lanes, x + whole, job->n - whole, vdupq_n_f32(most), job->times);
        job->max_logit[i] = most;
        job->sum[i] = add_16(lanes.sum[0], lanes.sum[1], lanes.sum[2], lanes.sum[3]);
        if (job->all) job->all[i] = add_16(lanes.all[0], lanes.all[1], lanes.all[2], lanes.all[3]);
    }
}

ALWAYS_INLINE float32x4_t slopes_of_4(const wte__softmax_grad *job, size_t i, float32x4_t v)
{
    const float32x4_t e = exp_4(vsubq_f32(v, vdupq_n_f32(job->minus[i])));
    const float32x4_t slope = vfmaq_n_f32(vdupq_n_f32(job->add), e, job->scale[i]);
    if (!(job->over_cap > 0)) return slope;
    const float32x4_t part = vmulq_n_f32(v, job->over_cap);
    return vmulq_f32(slope, vfmsq_f32(vdupq_n_f32(1), part, part));
}

static void softmax_grad_neon(const wte__softmax_grad *job)
{
    for (size_t i = 0; i < job->n_x; i++) {
        float *x = job->x + i * job->stride;
        for (size_t j = 0; j < job->n; j += 4)
            put_up_to_4(x + j, slopes_of_4(job, i, load_up_to_4(x + j, job->n - j, 0)), job->n - j);
    }
}

/* Few are found: four are looked at one by one where the largest of them is large enough. */
static size_t select_ge_f32_neon(const float *x, size_t n, float least, uint32_t *at)
{
    size_t found = 0;
    for (size_t j = 0; j < n; j += 4) {
        const size_t end = n - j < 4 ? n : j + 4;
        const float32x4_t v = load_up_to_4(x + j, n - j, NAN);
        if (vmaxvq_u32(vcgeq_f32(v, vdupq_n_f32(least))) == 0) continue;
        for (size_t k = j; k < end; k++)
            if (x[k] >= least) at[found++] = (uint32_t)k;
    }
    return found;
}

/* Outer products ----------------------------------------------------------------------------- */

#define OUTER_ROWS  4u /* times 16 columns: as many sums as stay in registers */
#define OUTER_QUADS 4u

/* n_i rows of c and `cols` columns, four to a quad, of which the last may be short; n_i and n_k are
 * constants where this is inlined. */
ALWAYS_INLINE void outer_of(const wte__outer *job, size_t row, size_t col, size_t n_i, size_t n_k,
                            size_t cols)
{
    const float *a = job->a + row * job->a_row, *b = job->b + col;
    float32x4_t sums[OUTER_ROWS][OUTER_QUADS];
    UNROLLED
    for (size_t i = 0; i < n_i; i++) {
        UNROLLED
        for (size_t k = 0; k < n_k; k++) sums[i][k] = vdupq_n_f32(0);
    }
    for (size_t s = 0; s < job->steps; s++, a += job->a_step, b += job->b_stride) {
        UNROLLED
        for (size_t k = 0; k < n_k; k++) {
            const float32x4_t x = load_up_to_4(b + 4 * k, cols - 4 * k, 0);
            UNROLLED
            for (size_t i = 0; i < n_i; i++)
                sums[i][k] = vfmaq_n_f32(sums[i][k], x, a[i * job->a_row]);
        }
    }
    UNROLLED
    for (size_t i = 0; i < n_i; i++) {
        float *to = job->c + (row + i) * job->c_stride + col;
        UNROLLED
        for (size_t k = 0; k < n_k; k++, to += 4)
            put_up_to_4(to, vaddq_f32(load_up_to_4(to, cols - 4 * k, 0), sums[i][k]), cols - 4 * k);
    }
}

ALWAYS_INLINE void outer_columns(const wte__outer *job, size_t col, size_t n_k, size_t cols)
{
    size_t row = 0;
    for (; job->rows - row >= OUTER_ROWS; row += OUTER_ROWS)
        outer_of(job, row, col, OUTER_ROWS, n_k, cols);
    for (; row < job->rows; row++) outer_of(job, row, col, 1, n_k, cols);
}

/* Columns of b stay in the first-level cache while all rows of c take them. */
static void outer_group(const wte__outer *job)
{
    size_t col = 0;
    for (; job->cols - col >= 16; col += 16) outer_columns(job, col, OUTER_QUADS, 16);
    for (; job->cols - col >= 4; col += 4) outer_columns(job, col, 1, 4);
    if (col < job->cols) outer_columns(job, col, 1, job->cols - col);
}

static void outer_f32_neon(const wte__outer *job)
{
    for (size_t from = 0; from < job->steps; from += job->group) {
        wte__outer one = *job;
        one.a += from * job->a_step;
        one.b += from * job->b_stride;
        one.steps = job->steps - from < job->group ? job->steps - from : job->group;
        outer_group(&one);
    }
}
#endif
