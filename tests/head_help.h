/* Tables, hidden vectors and reference logits of the head's tests. */
#ifndef WTE_TESTS_HEAD_HELP_H
#define WTE_TESTS_HEAD_HELP_H
#include "test.h"

#include <math.h>
#include <wte/block.h>
#include <wte/head.h>

/* A table in memory, of a type of elements or of blocks, and the same numbers in f32. */
typedef struct head_table {
    wte_row_source rows;
    wte_block_source source;
    uint8_t *bytes;
    float *wide;
} head_table;

static inline float head_number(uint64_t *seed)
{
    return (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-31f;
}

static inline void *head_alloc(size_t bytes)
{
    void *block = calloc(bytes + 1, 1);
    assert_non_null(block);
    return block;
}

/* f16 numbers in blocks of noise are made harmless: exponents of about 2^-7. */
static inline void head_calm(uint8_t *block, wte_block_type type)
{
    static const struct {
        wte_block_type type;
        size_t at[2], n;
    } places[] = {
        { WTE_BLOCK_Q8_0, { 0 }, 1 },    { WTE_BLOCK_Q4_0, { 0 }, 1 },
        { WTE_BLOCK_Q4_K, { 0, 2 }, 2 }, { WTE_BLOCK_Q6_K, { 208 }, 1 },
        { WTE_BLOCK_Q5_K, { 0, 2 }, 2 }, { WTE_BLOCK_IQ4_XS, { 0 }, 1 },
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (size_t k = 0; places[i].type == type && k < places[i].n; k++) {
            uint8_t *high = block + places[i].at[k] + 1;
            *high = (uint8_t)((*high & 3) | 0x20);
        }
}

/* row_pad: bytes between rows. */
static inline void head_table_make(head_table *t, wte_dtype dtype, wte_block_type block,
                                   uint64_t rows, uint64_t cols, size_t row_pad)
{
    uint64_t seed = rows + 1000 * cols;
    wte_error err;
    const size_t n = (size_t)(rows * cols);
    const size_t tight =
        block ? (size_t)wte_packed_bytes(block, cols) : (size_t)cols * wte_dtype_bytes(dtype);
    const size_t stride = tight + row_pad;
    memset(t, 0, sizeof *t);
    t->bytes = head_alloc((size_t)rows * stride);
    t->wide = head_alloc(n * sizeof *t->wide);
    for (size_t i = 0; i < (size_t)rows * stride; i++) t->bytes[i] = (uint8_t)test_noise(&seed);
    for (uint64_t r = 0; r < rows; r++) {
        uint8_t *row = t->bytes + r * stride;
        float *wide = t->wide + r * cols;
        if (block) {
            for (size_t at = 0; at < tight; at += wte_block_bytes(block))
                head_calm(row + at, block);
            assert_ok(wte_block_decode(block, row, wide, (size_t)(cols / wte_block_elements(block)),
                                       &err),
                      err);
            continue;
        }
        for (uint64_t k = 0; k < cols; k++)
            wide[k] = head_number(&seed) * (dtype == WTE_I8 ? 100 : 1);
        assert_ok(wte_convert(WTE_F32, wide, dtype, row, (size_t)cols, NULL, &err), err);
        assert_ok(wte_convert(dtype, row, WTE_F32, wide, (size_t)cols, NULL, &err), err);
    }
    if (block) {
        assert_ok(wte_row_source_from_blocks(block, rows, cols, t->bytes, stride, &t->source,
                                             &t->rows, &err),
                  err);
        return;
    }
    t->rows = (wte_row_source){
        .rows = rows, .cols = cols, .dtype = dtype, .data = t->bytes, .row_bytes = stride
    };
}

static inline void head_table_free(head_table *t)
{
    free(t->bytes);
    free(t->wide);
}

/* Tight hidden vectors of f32. */
static inline wte_hidden head_hidden(float **data, uint64_t n, uint64_t dim)
{
    uint64_t seed = n + dim;
    *data = head_alloc((size_t)(n * dim) * sizeof **data);
    for (size_t i = 0; i < (size_t)(n * dim); i++) (*data)[i] = head_number(&seed);
    return (wte_hidden){ .data = *data, .dtype = WTE_F32, .n = n, .dim = dim };
}

/* The sum as docs/kernels.md states it: 16 lanes, fused, joined by halves. */
static inline float head_sum(const float *w, const float *h, size_t dim)
{
    float lane[16] = { 0 };
    for (size_t k = 0; k < (dim + 15) / 16 * 16; k++)
        lane[k % 16] = fmaf(k < dim ? w[k] : 0, k < dim ? h[k] : 0, lane[k % 16]);
    for (size_t half = 8; half; half /= 2)
        for (size_t j = 0; j < half; j++) lane[j] += lane[j + half];
    return lane[0];
}

/* In double, and the sum of the magnitudes. */
static inline double head_exact(const float *w, const float *h, size_t dim, double *all)
{
    double sum = 0;
    *all = 0;
    for (size_t k = 0; k < dim; k++) {
        sum += (double)w[k] * (double)h[k];
        *all += fabs((double)w[k] * (double)h[k]);
    }
    return sum;
}
#endif
