/* Lookups and bags in plain C, for kernel_scalar.c: one element at a time. docs/kernels.md has the
 * arithmetic. The file that includes this has <type>_value, bits_of, float_of and F32_QUIET. */
#ifndef WTE_SRC_NUM_BAG_SCALAR_H
#define WTE_SRC_NUM_BAG_SCALAR_H
#include <math.h>
#include <string.h>

#include "num/kernels.h"

/* Element i of a stored row, as f32. */
typedef float (*stored_value)(const wte__stored *s, const char *codes, size_t i);

#define X(name, size)                                                                              \
    static float stored_##name(const wte__stored *s, const char *codes, size_t i)                  \
    {                                                                                              \
        (void)s;                                                                                   \
        return float_of(name##_value(codes + i * (size)));                                         \
    }
X(f32, 4)
X(f16, 2)
X(bf16, 2)
X(i8, 1)
#undef X

#define X(name, block_bytes)                                                                       \
    static float stored_##name(const wte__stored *s, const char *codes, size_t i)                  \
    {                                                                                              \
        (void)s;                                                                                   \
        return name##_value((const uint8_t *)codes + i / 32 * (block_bytes), i % 32);              \
    }
X(q8_0, 34)
X(q4_0, 18)
#undef X

/* The first element is in the low bits of its byte. */
static float rowwise_value(const wte__stored *s, const char *codes, size_t i, uint32_t bits)
{
    const char *scale = codes + s->scale_at;
    const uint32_t byte = (uint8_t)codes[i * bits / 8];
    const float code = (float)(byte >> i * bits % 8 & ((1u << bits) - 1));
    if (s->f32_scale) return fmaf(code, float_of(f32_value(scale)), float_of(f32_value(scale + 4)));
    return fmaf(code, float_of(f16_value(scale)), float_of(f16_value(scale + 2)));
}
#define X(bits)                                                                                    \
    static float stored_row##bits(const wte__stored *s, const char *codes, size_t i)               \
    {                                                                                              \
        return rowwise_value(s, codes, i, bits);                                                   \
    }
X(8)
X(4)
X(2)
#undef X

static void look_up(const wte__lookup *job, stored_value value)
{
    for (size_t r = 0; r < job->n; r++) {
        const char *codes = (const char *)job->from.codes + job->rows[r] * job->from.stride;
        char *out = (char *)job->out + r * job->out_stride;
        for (size_t i = 0; i < job->from.cols; i++) {
            const float x = value(&job->from, codes, i) * job->scale;
            memcpy(out + i * sizeof x, &x, sizeof x);
        }
    }
}

/* What becomes of column `i` of a bag when member m joins; `first`: none has before. */
static float joined(const wte__bags *job, float so_far, float x, size_t m, bool first)
{
    if (!job->max) return job->weights ? fmaf(job->weights[m], x, so_far) : so_far + x;
    if (first) return isnan(x) ? float_of(bits_of(x) | F32_QUIET) : x;
    return x > so_far ? x : so_far;
}

static float column_of_bag(const wte__bags *job, size_t b, size_t i, stored_value value)
{
    const bool goes_on = b == 0 && job->resume_first;
    const size_t begin = b ? job->ends[b - 1] : 0;
    uint32_t whose = UINT32_MAX;
    float result = 0.0f;
    if (goes_on) memcpy(&result, (const char *)job->out + i * sizeof result, sizeof result);
    for (size_t m = begin; m < job->ends[b]; m++) {
        const char *codes = (const char *)job->from.codes + job->rows[m] * job->from.stride;
        const float x = value(&job->from, codes, i);
        const bool first = m == begin && !goes_on;
        if (first || x > result) whose = (uint32_t)m;
        result = joined(job, result, x, m, first);
    }
    if (job->max_at) job->max_at[b * job->from.cols + i] = whose;
    return job->divisors ? result / job->divisors[b] : result;
}

static bool reduce_bags(const wte__bags *job, stored_value value)
{
    for (size_t m = 0; job->n_bags && m < job->ends[job->n_bags - 1]; m++)
        if (job->rows[m] >= job->n_rows) return false;
    for (size_t b = 0; b < job->n_bags; b++)
        for (size_t i = 0; i < job->from.cols; i++) {
            const float result = column_of_bag(job, b, i, value);
            memcpy((char *)job->out + b * job->out_stride + i * sizeof result, &result,
                   sizeof result);
        }
    return true;
}

#define X(name, bits)                                                                              \
    static void lookup_##name##_scalar(const wte__lookup *job)                                     \
    {                                                                                              \
        look_up(job, stored_##name);                                                               \
    }
WTE__STORED_LIST(X)
#undef X
#define X(name, bits)                                                                              \
    static bool bags_##name##_scalar(const wte__bags *job)                                         \
    {                                                                                              \
        return reduce_bags(job, stored_##name);                                                    \
    }
WTE__STORED_LIST(X)
WTE__STORED_BLOCKS(X)
#undef X
#endif
