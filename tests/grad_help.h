/* Gradients said once more, naively: a double loop over ids and columns. */
#ifndef WTE_TESTS_GRAD_HELP_H
#define WTE_TESTS_GRAD_HELP_H
#include "bag_help.h"

#include <wte/grad.h>

/* One part: vector `from` of d_out times `factor` for row id; of a maximum only the columns where
 * max_at is the id's own position. */
typedef struct naive_part {
    int64_t id; /* -1: gets nothing */
    size_t from, position;
    float factor;
} naive_part;

/* sum of the parts of a row in order, in one column. */
static inline float naive_sum(const naive_part *part, size_t n, int64_t row, const float *d_out,
                              size_t cols, size_t c, const uint64_t *max_at, bool f64_sums)
{
    float sum = 0;
    double wide = 0;
    for (size_t i = 0; i < n; i++) {
        if (part[i].id != row) continue;
        if (max_at && max_at[part[i].from * cols + c] != part[i].position) continue;
        const float x = d_out[part[i].from * cols + c] * part[i].factor;
        sum = sum + x;
        wide = wide + (double)x;
    }
    return f64_sums ? (float)wide : sum;
}

static inline uint64_t naive_count(const naive_part *part, size_t n, int64_t id)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++) count += part[i].id == id;
    return count;
}

/* Uniform numbers in [-1, 1). */
static inline void fill_noise(float *x, size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) x[i] = (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-31f;
}
#endif
