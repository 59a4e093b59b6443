/* Settings of optimizers: their defaults, what makes no sense, and the memory they ask for. */
#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "optim/optim.h"

/* Memory of a row of a thread's scratch begins with a cache line. */
#define LINE UINT64_C(64)

/* X(kind, name, default of lr, default of eps) */
#define KINDS(X)                                                                                   \
    X(SGD, "SGD", 1e-3, 1e-8)                                                                      \
    X(ADAM, "Adam", 1e-3, 1e-8)                                                                    \
    X(ADAMW, "AdamW", 1e-3, 1e-8)                                                                  \
    X(LAZY_ADAM, "lazy Adam", 1e-3, 1e-8)                                                          \
    X(ADAGRAD, "Adagrad", 1e-2, 1e-10)                                                             \
    X(ROWWISE_ADAGRAD, "row-wise Adagrad", 1e-2, 1e-8)                                             \
    X(ADAFACTOR, "Adafactor", 1e-2, 1e-8)

typedef struct kind_facts {
    wte_optim_kind kind;
    const char *name;
    double lr, eps;
} kind_facts;
static const kind_facts kinds[] = {
#define X(kind, name, lr, eps) { WTE_OPTIM_##kind, name, lr, eps },
    KINDS(X)
#undef X
};

static const kind_facts *facts_of(wte_optim_kind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind) return &kinds[i];
    return NULL;
}

static bool is_adam(wte_optim_kind kind)
{
    return kind == WTE_OPTIM_ADAM || kind == WTE_OPTIM_ADAMW || kind == WTE_OPTIM_LAZY_ADAM;
}
static bool is_adagrad(wte_optim_kind kind)
{
    return kind == WTE_OPTIM_ADAGRAD || kind == WTE_OPTIM_ROWWISE_ADAGRAD;
}

bool wte__optim_is_dense(const wte_optim_options *opt)
{
    return opt->kind == WTE_OPTIM_ADAM || opt->kind == WTE_OPTIM_ADAMW ||
           (opt->kind == WTE_OPTIM_SGD && opt->momentum > 0);
}

/* Checks -------------------------------------------------------------------------------------- */

static wte_status check_number(double value, const char *what, wte_error *err)
{
    if (value >= 0 && isfinite(value)) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "optimizer: %s is %g, but must be 0 or more", what, value);
}

static wte_status check_numbers(const wte_optim_options *o, wte_error *err)
{
    const struct {
        double value;
        const char *what;
    } all[] = {
        { o->lr, "lr" },
        { o->eps, "eps" },
        { o->momentum, "momentum" },
        { o->dampening, "dampening" },
        { o->weight_decay, "weight_decay" },
        { o->lr_decay, "lr_decay" },
        { o->initial_accumulator, "initial_accumulator" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        WTE_TRY(check_number(all[i].value, all[i].what, err));
    if (o->momentum >= 1)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "optimizer: momentum is %g, but must be below 1: it would grow forever",
                         o->momentum);
    const double beta[2] = { o->beta1, o->beta2 };
    for (uint32_t i = 0; i < 2; i++)
        if (!(beta[i] >= 0 && beta[i] < 1))
            return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                             "optimizer: beta%" PRIu32 " is %g, but must be from 0 to below 1",
                             i + 1, beta[i]);
    return WTE_OK;
}

/* A setting that the kind does not use is refused: it would be ignored silently. */
static wte_status check_foreign(const wte_optim_options *o, const char *kind, wte_error *err)
{
    const bool sgd = o->kind == WTE_OPTIM_SGD;
    const struct {
        bool given;
        const char *what;
    } all[] = {
        { !sgd && o->momentum > 0, "momentum" },
        { !sgd && o->dampening > 0, "dampening" },
        { !sgd && o->nesterov, "nesterov" },
        { !is_adam(o->kind) && o->amsgrad, "amsgrad" },
        { !is_adam(o->kind) && o->beta1 > 0, "beta1" },
        { !is_adam(o->kind) && o->kind != WTE_OPTIM_ADAFACTOR && o->beta2 > 0, "beta2" },
        { o->kind != WTE_OPTIM_ADAGRAD && o->lr_decay > 0, "lr_decay" },
        { !is_adagrad(o->kind) && o->initial_accumulator > 0, "initial_accumulator" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given)
            return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                             "optimizer: %s has no meaning for %s", all[i].what, kind);
    if (o->nesterov && (o->momentum == 0 || o->dampening != 0))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "optimizer: Nesterov momentum requires a momentum and zero dampening, "
                         "not %g and %g",
                         o->momentum, o->dampening);
    return WTE_OK;
}

wte_status wte__optim_settings(const wte_optim_options *given, wte_optim_options *out,
                               wte_error *err)
{
    *out = (wte_optim_options)WTE_OPTIM_OPTIONS_INIT;
    WTE_TRY(wte__options(out, sizeof *out, given, err));
    WTE_TRY(wte__need_functions(out->allocator, NULL, err));
    const kind_facts *facts = facts_of(out->kind);
    if (!facts)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "optimizer: unknown kind %d",
                         (int)out->kind);
    if ((uint32_t)out->decay > WTE_DECAY_DECOUPLED || (uint32_t)out->rounding > WTE_ROUND_MASTER)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "optimizer: decay is %d and rounding %d, but both are 0, 1 or 2",
                         (int)out->decay, (int)out->rounding);
    WTE_TRY(check_foreign(out, facts->name, err));
    if (out->lr == WTE_OPTIM_DEFAULT) out->lr = facts->lr;
    if (out->eps == WTE_OPTIM_DEFAULT) out->eps = facts->eps;
    if (out->beta1 == WTE_OPTIM_DEFAULT) out->beta1 = 0.9;
    if (out->beta2 == WTE_OPTIM_DEFAULT) out->beta2 = 0.999;
    WTE_TRY(check_numbers(out, err));
    if (out->decay == WTE_DECAY_DEFAULT)
        out->decay = out->kind == WTE_OPTIM_ADAMW ? WTE_DECAY_DECOUPLED : WTE_DECAY_L2;
    if (out->max_bytes == 0) out->max_bytes = WTE_LIMIT_TABLE_BYTES;
    return WTE_OK;
}

/* Memory -------------------------------------------------------------------------------------- */

typedef struct block_plan {
    bool wanted;
    uint64_t rows, cols, size;
} block_plan;

/* Sums of some rows, one row, and one of 16 bits, each from a line on; UINT64_MAX when it
 * overflows.
 */
static uint64_t scratch_bytes(const wte__optim_shape *s)
{
    const uint64_t rows = wte__optim_room(s->cols) + 2;
    uint64_t bytes;
    if (!wte__mul_u64(s->cols, rows * sizeof(float), &bytes) ||
        !wte__add_u64(bytes, 3 * LINE, &bytes))
        return UINT64_MAX;
    return bytes / LINE * LINE;
}

wte_status wte__optim_plan(const wte_optim_options *opt, const wte__optim_shape *s,
                           uint64_t bytes[WTE__OPTIM_BLOCKS], wte_error *err)
{
    const bool adam = is_adam(opt->kind), factored = opt->kind == WTE_OPTIM_ADAFACTOR;
    const bool dense = wte__optim_is_dense(opt), masked = opt->trainable != NULL;
    const uint64_t n = s->trainable, words = s->rows / 64 + 1;
    const bool master = opt->rounding == WTE_ROUND_MASTER && s->dtype != WTE_F32;
    const block_plan plan[WTE__OPTIM_BLOCKS] = {
        [WTE__OPTIM_FIRST] = { adam || opt->momentum > 0, n, s->cols, sizeof(float) },
        [WTE__OPTIM_SECOND] = { adam || opt->kind == WTE_OPTIM_ADAGRAD, n, s->cols, sizeof(float) },
        [WTE__OPTIM_MOST] = { opt->amsgrad, n, s->cols, sizeof(float) },
        [WTE__OPTIM_MASTER] = { master, n, s->cols, sizeof(float) },
        [WTE__OPTIM_BY_ROW] = { factored || opt->kind == WTE_OPTIM_ROWWISE_ADAGRAD, n, 1,
                                sizeof(float) },
        [WTE__OPTIM_BY_COLUMN] = { factored, s->cols, 1, sizeof(float) },
        [WTE__OPTIM_NOTED] = { dense, n, 1, sizeof(uint32_t) },
        [WTE__OPTIM_MARKS] = { true, n, 1, sizeof(uint8_t) },
        [WTE__OPTIM_MASK] = { masked, words, 1, sizeof(uint64_t) },
        [WTE__OPTIM_RANKS] = { masked, words, 1, sizeof(uint64_t) },
        [WTE__OPTIM_STEPS] = { dense, WTE__OPTIM_LOG, 1, sizeof(wte__factors) },
        [WTE__OPTIM_SCRATCH] = { true, s->threads, scratch_bytes(s), 1 },
    };
    uint64_t all = 0;
    for (size_t i = 0; i < WTE__OPTIM_BLOCKS; i++) {
        const uint64_t shape[2] = { plan[i].rows, plan[i].cols };
        bytes[i] = 0;
        if (!plan[i].wanted) continue;
        if (!wte__shape_bytes(shape, 2, plan[i].size, &bytes[i]) ||
            !wte__add_u64(all, bytes[i], &all) || all > SIZE_MAX)
            return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                             "optimizer: state of %" PRIu64 " x %" PRIu64
                             " rows has 2^64 bytes or more",
                             n, s->cols);
    }
    if (all > opt->max_bytes)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "optimizer: state of %" PRIu64 " x %" PRIu64 " rows takes %" PRIu64
                         " bytes, but the limit is %" PRIu64 " (max_bytes)",
                         n, s->cols, all, opt->max_bytes);
    return WTE_OK;
}

void wte__optim_release(const wte_allocator *a, const uint64_t bytes[WTE__OPTIM_BLOCKS],
                        void *block[WTE__OPTIM_BLOCKS])
{
    for (size_t i = 0; i < WTE__OPTIM_BLOCKS; i++) {
        wte__free(a, block[i], (size_t)bytes[i]);
        block[i] = NULL;
    }
}

wte_status wte__optim_blocks(const wte_allocator *a, const uint64_t bytes[WTE__OPTIM_BLOCKS],
                             void *block[WTE__OPTIM_BLOCKS], wte_error *err)
{
    for (size_t i = 0; i < WTE__OPTIM_BLOCKS; i++) block[i] = NULL;
    for (size_t i = 0; i < WTE__OPTIM_BLOCKS; i++) {
        if (bytes[i] == 0) continue;
        block[i] = wte__alloc_zeroed(a, (size_t)bytes[i]);
        if (block[i]) continue;
        wte__optim_release(a, bytes, block);
        return wte__no_memory(err, bytes[i], "the state of an optimizer");
    }
    return WTE_OK;
}
