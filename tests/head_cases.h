/* Tables, hidden vectors and plain references for the tests of the output head. */
#ifndef WTE_TESTS_HEAD_CASES_H
#define WTE_TESTS_HEAD_CASES_H
#include "test.h"

#include <math.h>
#include <wte/head.h>

/* A table of f32 and n hidden vectors, of noise. */
typedef struct head_case {
    uint64_t rows, dim, n;
    float *w, *h;
    wte_row_source table;
    wte_hidden hidden;
} head_case;

/* Uniform in [-size, size). */
static inline float head_number(uint64_t *noise, float size)
{
    return (float)((double)(test_noise(noise) >> 11) * 0x1p-52 - 1) * size;
}

static inline head_case head_case_make(uint64_t rows, uint64_t dim, uint64_t n, uint64_t seed)
{
    head_case c = { .rows = rows, .dim = dim, .n = n };
    c.w = malloc((size_t)(rows * dim + 1) * sizeof *c.w);
    c.h = malloc((size_t)(n * dim + 1) * sizeof *c.h);
    assert_true(c.w && c.h);
    for (uint64_t i = 0; i < rows * dim; i++) c.w[i] = head_number(&seed, 1);
    for (uint64_t i = 0; i < n * dim; i++) c.h[i] = head_number(&seed, 1);
    c.table = (wte_row_source){
        .rows = rows, .cols = dim, .dtype = WTE_F32, .data = c.w, .row_bytes = dim * sizeof(float)
    };
    c.hidden = (wte_hidden){ .data = c.h, .dtype = WTE_F32, .n = n, .dim = dim };
    return c;
}
static inline void head_case_free(head_case *c)
{
    free(c->w);
    free(c->h);
}

/* All logits as wte_head_logits gives them; release with free. */
static inline float *head_logits(const head_case *c, const wte_head_options *opt)
{
    wte_error err;
    float *logits = malloc((size_t)(c->n * c->rows + 1) * sizeof *logits);
    assert_non_null(logits);
    assert_ok(wte_head_logits(&c->table, &c->hidden, opt, logits, 0, &err), err);
    return logits;
}

/* ln of the sum of exp(logit * times) over those above -infinity. */
static inline double head_lse(const float *logits, uint64_t rows, double times)
{
    double most = -(double)INFINITY, sum = 0;
    for (uint64_t r = 0; r < rows; r++) most = fmax(most, (double)logits[r]);
    for (uint64_t r = 0; r < rows; r++) sum += exp(((double)logits[r] - most) * times);
    return most * times + log(sum);
}
#endif
