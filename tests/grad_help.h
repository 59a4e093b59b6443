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

/* The numbers of a case in tests/data/train/torch_gradients.txt; returns how many. */
static inline size_t golden_gradient(const char *name, float *out, size_t most)
{
    char line[256];
    size_t n = 0;
    FILE *f = fopen(test_data("train/torch_gradients.txt"), "r");
    assert_non_null(f);
    while (n == 0 && fgets(line, sizeof line, f)) {
        char *at = line + strlen(name);
        if (strncmp(line, name, strlen(name)) != 0 || *at != ':') continue;
        at++;
        for (char *end = at; n < most; at = end) {
            const float x = strtof(at, &end);
            if (end == at) break;
            out[n++] = x;
        }
    }
    fclose(f);
    assert_true(n > 0);
    return n;
}

/* Uniform numbers in [-1, 1). */
static inline void fill_noise(float *x, size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) x[i] = (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-31f;
}

static inline wte_grad *new_grad(uint64_t rows, uint64_t cols, wte_grad_kind kind, wte_pool *pool)
{
    wte_grad_options o = WTE_GRAD_OPTIONS_INIT;
    wte_grad *g;
    wte_error err;
    o.kind = kind;
    o.pool = pool;
    assert_ok(wte_grad_create(rows, cols, &o, &g, &err), err);
    return g;
}

/* The number of a row and column, 0 where a sparse gradient has no such row. */
static inline float grad_at(const wte_grad *g, uint64_t row, uint64_t col)
{
    wte_grad_rows v;
    wte_grad_view(g, &v);
    for (uint64_t i = 0; i < v.n; i++)
        if ((v.ids ? v.ids[i] : i) == row) return v.values[i * v.cols + col];
    return 0;
}

/* Every number of a gradient of rows x cols, to the last bit. */
static inline void assert_grad(const wte_grad *g, const float *want, uint64_t rows, uint64_t cols)
{
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < cols; c++) {
            const float got = grad_at(g, r, c);
            if (memcmp(&got, &want[r * cols + c], sizeof got) != 0)
                fail_msg("row %u, column %u: %a, not %a", (unsigned)r, (unsigned)c, (double)got,
                         (double)want[r * cols + c]);
        }
}
#endif
