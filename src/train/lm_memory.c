/* How much memory a language model's training takes, told before any of it is taken: what stays as
 * long as the model, and the most that a call takes for itself while it works. */
#include <inttypes.h>
#include <wte/head.h>

#include "base/checked.h"
#include "base/error.h"
#include "head/head.h"
#include "optim/contributions_order.h"
#include "train/corpus.h"
#include "train/lm.h"

/* What is not counted one by one: structs, the text of the settings, the list of a checkpoint's
 * parts, its header. */
#define SMALL_THINGS ((uint64_t)64 << 10)

/* A sum that has left 64 bits stays so. */
typedef struct total {
    uint64_t bytes;
    bool fits;
} total;

static void add(total *t, uint64_t bytes)
{
    t->fits = t->fits && wte__add_u64(t->bytes, bytes, &t->bytes);
}

static void add_product(total *t, uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    t->fits = t->fits && wte__mul_u64(a, b, &product);
    add(t, product);
}

/* Rows of the input table that a mini-batch names, at most. */
static uint64_t touched(const wte__lm_plan *p)
{
    const uint64_t ids = p->o.batch * p->o.context; /* below 2^30: limits.h */
    return ids < p->rows ? ids : p->rows;
}

/* A gradient of the rows that are named: it grows by an eighth more than is needed, and has the
 * rows so far beside it while it does. */
static void add_sparse(const wte__lm_plan *p, total *t)
{
    const uint64_t n = touched(p), more = n + n / 8 < p->rows ? n + n / 8 : p->rows;
    const uint64_t before = n == p->rows || more == p->rows ? 0 : n;
    add_product(t, more + before, p->o.dim * sizeof(float) + sizeof(uint64_t));
}

static wte_status add_weights(wte__lm_plan *p, total *t, wte_error *err)
{
    total numbers = { 0, true };
    for (int i = 0; i < WTE__LM_PARTS; i++) {
        const wte__lm_part part = (wte__lm_part)i;
        const uint64_t *shape = p->shape[i];
        uint64_t state;
        if (!shape[0]) continue;
        const wte_optim_options o = wte__lm_optim(p, part);
        WTE_TRY(wte_optim_state_bytes(shape[0], shape[1], WTE_F32, &o, &state, err));
        add(t, state);
        add_product(&numbers, shape[0], shape[1]);
        add_product(t, shape[0] * sizeof(float), shape[1]);
        if (part == WTE__LM_TABLE && wte__lm_sparse(p))
            add_sparse(p, t);
        else
            add_product(t, shape[0] * sizeof(float), shape[1]);
    }
    p->parameters = numbers.bytes;
    t->fits = t->fits && numbers.fits;
    return WTE_OK;
}

/* The order of the ids of a mini-batch, by which their gradients are added up, and the list of the
 * rows that are caught up before. */
static void add_order(const wte__lm_plan *p, total *t)
{
    const uint64_t ids = p->o.batch * p->o.context, threads = wte_pool_n_threads(p->o.pool);
    uint64_t listed = 8;
    while (listed < touched(p)) listed *= 2;
    add_product(t, ids + 1, 3 * sizeof(uint64_t) + sizeof(uint32_t));
    add_product(t, threads < WTE__ORDER_SLICES ? threads : WTE__ORDER_SLICES,
                sizeof(uint32_t) << WTE__ORDER_BITS);
    /* SGD without momentum, and the kinds that touch the named rows alone, list none */
    if (p->o.optim == WTE_OPTIM_ADAM || p->o.optim == WTE_OPTIM_ADAMW || p->o.momentum > 0)
        add_product(t, listed, sizeof(uint64_t));
}

/* A mini-batch: between the layers and back, turned matrices, ids and targets, a block of words and
 * its order; a window into the text. */
static void add_batch(const wte__lm_plan *p, total *t)
{
    total numbers = { p->largest, true };
    const uint64_t n = p->o.batch;
    add_product(&numbers, n * 2, p->widest);
    add_product(&numbers, n, p->o.context + 1);
    add_product(&numbers, n * 2, p->layer[0].in);
    for (uint32_t i = 0; i < p->n_layers; i++) add_product(&numbers, n * 2, p->layer[i].out);
    add_product(&numbers, 2, p->o.shuffle);
    add(&numbers, p->o.context);
    t->fits = t->fits && numbers.fits;
    add_product(t, numbers.bytes, sizeof(float));
    add(t, WTE__SCAN_BYTES);
}

/* A matrix of which no number is looked at: for what depends on its shape alone. */
static wte_row_source shape_of(uint64_t rows, uint64_t cols)
{
    static const float none;
    return (wte_row_source){ .rows = rows,
                             .cols = cols,
                             .dtype = WTE_F32,
                             .data = &none,
                             .row_bytes = cols * sizeof(float) };
}

static wte_hidden vectors_of(uint64_t n, uint64_t dim)
{
    return (wte_hidden){
        .data = shape_of(n, dim).data, .dtype = WTE_F32, .n = n, .dim = dim, .row_bytes = 0
    };
}

/* *most gets what a product of n vectors and a matrix takes when it is more. */
static wte_status look_at_product(const wte__lm_plan *p, uint64_t rows, uint64_t cols, uint64_t n,
                                  uint64_t *most, wte_error *err)
{
    const wte_row_source table = shape_of(rows, cols);
    const wte_hidden hidden = vectors_of(n, cols);
    const wte_head_options o = {
        .struct_size = sizeof o, .bias_dtype = WTE_F32, .bias = table.data, .pool = p->o.pool
    };
    wte__logit_tiles s = { .table = &table, .hidden = &hidden };
    uint64_t least, best;
    WTE_TRY(wte__head_check(&table, &hidden, &o, &s.o, err));
    wte__logit_tiles_need(&s, &least, &best);
    if (best > s.o.work_bytes) best = s.o.work_bytes;
    if (best > *most) *most = best;
    return WTE_OK;
}

/* The loss of n examples, with gradients or alone: it keeps to its work memory, and takes the least
 * that it needs when that is more. */
static wte_status loss_work(const wte__lm_plan *p, bool gradients, uint64_t *work, wte_error *err)
{
    static float none; /* nobody writes to it */
    const wte_row_source table = shape_of(p->rows, p->o.dim);
    const wte_hidden hidden = vectors_of(p->o.batch, p->o.dim);
    const wte_head_options o = {
        .struct_size = sizeof o, .bias_dtype = WTE_F32, .bias = table.data, .pool = p->o.pool
    };
    wte_loss_options how = WTE_LOSS_OPTIONS_INIT;
    uint64_t least, best;
    if (gradients) how.d_hidden = how.d_table = how.d_bias = &none;
    WTE_TRY(wte_loss_workspace_size(&table, &hidden, &o, &how, &least, &best, err));
    *work = least > WTE__LM_LOSS_WORK ? least : WTE__LM_LOSS_WORK;
    if (*work > best) *work = best;
    return WTE_OK;
}

/* The most that one call takes for itself: no two work at a time. A validation has a window and a
 * block of words of its own beside a loss without gradients. */
static wte_status add_work(const wte__lm_plan *p, total *t, wte_error *err)
{
    const uint64_t n = p->o.batch;
    const uint64_t text = WTE__SCAN_BYTES + (p->o.context + n) * sizeof(uint32_t);
    uint64_t most, alone;
    WTE_TRY(loss_work(p, true, &most, err));
    WTE_TRY(loss_work(p, false, &alone, err));
    if (p->valid_text && alone + text > most) most = alone + text;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const wte__lm_layer *layer = &p->layer[i];
        uint64_t forward = 0;
        WTE_TRY(look_at_product(p, layer->out, layer->in, n, &forward, err));
        WTE_TRY(look_at_product(p, layer->in, n, layer->out, &most, err)); /* by the matrix */
        WTE_TRY(look_at_product(p, layer->in, layer->out, n, &most, err)); /* by what it is given */
        if (p->valid_text) forward += text;
        if (forward > most) most = forward;
    }
    add(t, most);
    return WTE_OK;
}

wte_status wte__lm_memory(wte__lm_plan *p, wte_error *err)
{
    total t = { SMALL_THINGS, true };
    WTE_TRY(add_weights(p, &t, err));
    add_order(p, &t);
    add_batch(p, &t);
    WTE_TRY(add_work(p, &t, err));
    p->bytes = t.fits ? t.bytes : UINT64_MAX;
    if (p->bytes <= p->o.max_bytes) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "training a table of %" PRIu64 " x %" PRIu64 " takes %" PRIu64
                     " bytes, but at most %" PRIu64 " are allowed (" WTE__RAISE_BYTES ")",
                     p->rows, p->o.dim, p->bytes, p->o.max_bytes);
}
