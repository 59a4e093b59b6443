/* Cases of the cross-entropy: what goes in, what it is asked for, room for what comes out. */
#ifndef WTE_TESTS_LOSS_CASES_H
#define WTE_TESTS_LOSS_CASES_H
#include "head_cases.h"

/* A case, what it is asked for, and what comes out. */
typedef struct loss_case {
    head_case c;
    int64_t *targets;
    wte_head_options opt;
    wte_loss_options how;
    float *d_hidden, *d_table, *d_bias, *each;
} loss_case;

static inline loss_case make_loss(uint64_t rows, uint64_t dim, uint64_t n, uint64_t seed)
{
    loss_case l = { .c = head_case_make(rows, dim, n, seed),
                    .opt = WTE_HEAD_OPTIONS_INIT,
                    .how = WTE_LOSS_OPTIONS_INIT };
    l.targets = malloc((size_t)(n + 1) * sizeof *l.targets);
    l.d_hidden = calloc((size_t)(n * dim + 1), sizeof(float));
    l.d_table = calloc((size_t)(rows * dim + 1), sizeof(float));
    l.d_bias = calloc((size_t)(rows + 1), sizeof(float));
    l.each = calloc((size_t)(n + 1), sizeof(float));
    assert_true(l.targets && l.d_hidden && l.d_table && l.d_bias && l.each);
    for (uint64_t i = 0; i < n; i++) l.targets[i] = (int64_t)(test_noise(&seed) % rows);
    return l;
}
static inline void free_loss(loss_case *l)
{
    head_case_free(&l->c);
    free(l->targets);
    free(l->d_hidden);
    free(l->d_table);
    free(l->d_bias);
    free(l->each);
}

static inline void want_all(loss_case *l)
{
    l->how.d_hidden = l->d_hidden;
    l->how.d_table = l->d_table;
    l->how.d_bias = l->d_bias;
    l->how.per_target = l->each;
}

static inline wte_ids ids_of(const loss_case *l)
{
    return (wte_ids){ .data = l->targets, .type = WTE_I64, .count = l->c.n };
}

static inline wte_loss run(const loss_case *l)
{
    wte_loss out;
    wte_error err;
    assert_ok(wte_head_loss(&l->c.table, &l->c.hidden, ids_of(l), &l->opt, &l->how, &out, &err),
              err);
    return out;
}
#endif
