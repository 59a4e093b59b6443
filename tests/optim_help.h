/* Tables, gradients and optimizers for the tests of optimizers. */
#ifndef WTE_TESTS_OPTIM_HELP_H
#define WTE_TESTS_OPTIM_HELP_H
#include "test.h"

#include <math.h>
#include <wte/optim.h>

static inline wte_table *table_of(uint64_t rows, uint64_t cols, wte_dtype dtype)
{
    wte_table *t;
    wte_error err;
    assert_ok(wte_table_create(rows, cols, dtype, NULL, &t, &err), err);
    return t;
}
static inline size_t table_bytes(wte_table *t)
{
    return (size_t)(wte_table_n_rows(t) * wte_table_dim(t)) * wte_dtype_bytes(wte_table_dtype(t));
}
static inline void set_values(wte_table *t, const float *values)
{
    const size_t n = (size_t)(wte_table_n_rows(t) * wte_table_dim(t));
    wte_error err;
    assert_ok(wte_convert(WTE_F32, values, wte_table_dtype(t), wte_table_data(t), n, NULL, &err),
              err);
}
static inline float value_at(wte_table *t, size_t i)
{
    const wte_dtype type = wte_table_dtype(t);
    const char *data = wte_table_data(t);
    wte_error err;
    float x;
    assert_ok(wte_convert(type, data + i * wte_dtype_bytes(type), WTE_F32, &x, 1, NULL, &err), err);
    return x;
}
/* A table of noise in [-1, 1). */
static inline wte_table *noise_table(uint64_t rows, uint64_t cols, wte_dtype dtype, uint64_t seed)
{
    wte_table *t = table_of(rows, cols, dtype);
    float *x = malloc((size_t)(rows * cols + 1) * sizeof *x);
    assert_non_null(x);
    for (uint64_t i = 0; i < rows * cols; i++) x[i] = (float)(int32_t)test_noise(&seed) * 0x1p-31f;
    set_values(t, x);
    free(x);
    return t;
}

/* The settings of a test name what matters to it; numbers that they leave at 0 are the kind's own.
 */
static inline wte_optim_options own_for_zero(wte_optim_options opt)
{
    double *const numbers[] = { &opt.lr, &opt.eps, &opt.beta1, &opt.beta2 };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (*numbers[i] == 0) *numbers[i] = WTE_OPTIM_DEFAULT;
    return opt;
}

static inline wte_optim *optim_of(wte_table *t, const wte_optim_options *opt)
{
    const wte_optim_options init = WTE_OPTIM_OPTIONS_INIT,
                            settings = own_for_zero(opt ? *opt : init);
    wte_optim *o;
    wte_error err;
    assert_ok(wte_optim_create(t, &settings, &o, &err), err);
    return o;
}

static inline wte_grad *grad_of(wte_table *t, wte_grad_kind kind)
{
    wte_grad_options opt = WTE_GRAD_OPTIONS_INIT;
    wte_grad *g;
    wte_error err;
    opt.kind = kind;
    assert_ok(wte_grad_create(wte_table_n_rows(t), wte_table_dim(t), &opt, &g, &err), err);
    return g;
}

static inline wte_ids some_ids(const int64_t *ids, uint64_t n)
{
    return (wte_ids){ .data = ids, .type = WTE_I64, .count = n };
}

/* How a gradient reaches the optimizer. */
typedef enum path { BY_DENSE, BY_SPARSE, BY_LOOKUP, PATHS } path;

static inline wte_status step_by(wte_optim *o, wte_table *t, path by, wte_ids ids,
                                 const float *d_out, wte_error *err)
{
    if (by == BY_LOOKUP) return wte_optim_step_lookup(o, ids, d_out, 0, NULL, err);
    wte_grad *g = grad_of(t, by == BY_DENSE ? WTE_GRAD_DENSE : WTE_GRAD_SPARSE);
    wte_error own;
    assert_ok(wte_grad_lookup(g, ids, d_out, 0, NULL, &own), own);
    const wte_status status = wte_optim_step(o, g, err);
    wte_grad_free(g);
    return status;
}

static inline void finish(wte_optim *o)
{
    wte_error err;
    assert_ok(wte_optim_sync_all(o, &err), err);
}

static inline bool is_near(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * fmax(1, fabs(want));
}
#endif
