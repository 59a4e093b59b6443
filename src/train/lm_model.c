/* The arithmetic of the language model: what layers give and what comes back through them.
 *
 * All products are wte_head_logits': sums in one order, whatever the number of threads or the
 * instruction set. Where a matrix is wanted the other way round it is turned first, which is cheap
 * beside the product. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <wte/head.h>
#include <wte/lookup.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "num/kernels.h"
#include "train/lm.h"

/* Weights ----------------------------------------------------------------------------------------
 */

/* Uniform values: of tables in [-init, init), of layers as Glorot and Bengio (2010) say; biases 0.
 */
static wte_status draw(wte_lm *lm, wte__lm_part part, wte_error *err)
{
    const wte__lm_weight *w = &lm->weight[part];
    wte_init_options o = WTE_INIT_OPTIONS_INIT;
    o.kind = wte__lm_is_bias(part) ? WTE_INIT_ZEROS : WTE_INIT_UNIFORM;
    o.seed = lm->plan.o.seed * WTE__LM_PARTS + (uint64_t)part;
    o.high = part == WTE__LM_TABLE || part == WTE__LM_HEAD ? lm->plan.o.init
                                                           : sqrt(6 / (double)(w->rows + w->cols));
    o.low = -o.high;
    return wte_table_init(w->table, &o, err);
}

/* The first rows of the input table are those of the table that is started from. */
static wte_status take_start(wte_lm *lm, wte_error *err)
{
    const wte_row_source *start = lm->plan.o.init_from;
    wte_lookup_options o = WTE_LOOKUP_OPTIONS_INIT;
    o.out_dtype = WTE_F32;
    o.allocator = lm->plan.o.allocator;
    float *out = wte_table_data(lm->weight[WTE__LM_TABLE].table);
    for (uint64_t at = 0; start && at < start->rows;) {
        uint32_t ids[256];
        uint64_t n = 0;
        for (; n < 256 && at + n < start->rows; n++) ids[n] = (uint32_t)(at + n);
        const wte_ids those = { ids, WTE_U32, 0, n };
        WTE_TRY(wte_lookup(start, those, &o, out + at * start->cols, 0, err));
        for (const uint64_t end = at + n; at < end; at++) {
            if (wte__kernels_get()->all_finite(out + at * start->cols, (size_t)start->cols))
                continue;
            return wte__fail(err, WTE_E_RANGE, at,
                             "row %" PRIu64 " of the table to start from holds NaN or infinity",
                             at);
        }
    }
    return WTE_OK;
}

static wte_status make_weight(wte_lm *lm, wte__lm_part part, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    wte__lm_weight *w = &lm->weight[part];
    wte_table_options table = WTE_TABLE_OPTIONS_INIT;
    wte_grad_options grad = WTE_GRAD_OPTIONS_INIT;
    const wte_optim_options optim = wte__lm_optim(p, part);
    w->rows = p->shape[part][0];
    w->cols = p->shape[part][1];
    if (w->rows == 0) return WTE_OK;
    table.allocator = grad.allocator = p->o.allocator;
    grad.pool = p->o.pool;
    if (part == WTE__LM_TABLE && wte__lm_sparse(p)) grad.kind = WTE_GRAD_SPARSE;
    WTE_TRY(wte_table_create(w->rows, w->cols, WTE_F32, &table, &w->table, err));
    WTE_TRY(draw(lm, part, err));
    if (part == WTE__LM_TABLE) WTE_TRY(take_start(lm, err));
    WTE_TRY(wte_grad_create(w->rows, w->cols, &grad, &w->grad, err));
    return wte_optim_create(w->table, &optim, &w->optim, err);
}

static bool room(const wte_lm *lm, uint64_t count, void *piece)
{
    void *block = wte__alloc_array(lm->plan.o.allocator, count, sizeof(float));
    memcpy(piece, &block, sizeof block);
    return block != NULL;
}

static wte_status make_batch(wte_lm *lm, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    const uint64_t n = p->o.batch;
    bool made = room(lm, n * p->o.context, &lm->ids) && room(lm, n, &lm->targets) &&
                room(lm, n * p->widest, &lm->turned[0]) &&
                room(lm, n * p->widest, &lm->turned[1]) && room(lm, p->largest, &lm->turned[2]) &&
                room(lm, p->o.shuffle, &lm->order);
    for (uint32_t i = 0; made && i <= p->n_layers; i++) {
        const uint64_t width = i ? p->layer[i - 1].out : p->layer[0].in;
        made = room(lm, n * width, &lm->between[i]) && room(lm, n * width, &lm->d_between[i]);
    }
    return made ? WTE_OK : wte__no_memory(err, p->bytes, "a mini-batch");
}

wte_status wte__lm_weights_make(wte_lm *lm, wte_error *err)
{
    for (int i = 0; i < WTE__LM_PARTS; i++) WTE_TRY(make_weight(lm, (wte__lm_part)i, err));
    return make_batch(lm, err);
}

void wte__lm_weights_free(wte_lm *lm)
{
    const wte__lm_plan *p = &lm->plan;
    const wte_allocator *a = p->o.allocator;
    const size_t n = (size_t)p->o.batch, each = sizeof(float);
    for (int i = 0; i < WTE__LM_PARTS; i++) {
        wte_optim_free(lm->weight[i].optim);
        wte_grad_free(lm->weight[i].grad);
        wte_table_free(lm->weight[i].table);
    }
    wte__free(a, lm->ids, n * (size_t)p->o.context * each);
    wte__free(a, lm->targets, n * each);
    wte__free(a, lm->turned[0], n * (size_t)p->widest * each);
    wte__free(a, lm->turned[1], n * (size_t)p->widest * each);
    wte__free(a, lm->turned[2], (size_t)p->largest * each);
    wte__free(a, lm->order, (size_t)p->o.shuffle * each);
    for (uint32_t i = 0; i <= p->n_layers; i++) {
        const uint64_t width = i ? p->layer[i - 1].out : p->layer[0].in;
        wte__free(a, lm->between[i], n * (size_t)width * each);
        wte__free(a, lm->d_between[i], n * (size_t)width * each);
    }
}

/* Products ---------------------------------------------------------------------------------------
 */

static wte_row_source matrix(const float *data, uint64_t rows, uint64_t cols)
{
    return (wte_row_source){ .rows = rows,
                             .cols = cols,
                             .dtype = WTE_F32,
                             .data = data,
                             .row_bytes = cols * sizeof(float) };
}

static wte_hidden vectors(const float *data, uint64_t n, uint64_t dim)
{
    return (wte_hidden){ .data = data, .dtype = WTE_F32, .n = n, .dim = dim };
}

static wte_head_options head_options(const wte_lm *lm)
{
    wte_head_options o = WTE_HEAD_OPTIONS_INIT;
    o.pool = lm->plan.o.pool;
    o.allocator = lm->plan.o.allocator;
    return o;
}

static float *values_of(const wte_lm *lm, wte__lm_part part)
{
    return part == WTE__LM_PARTS ? NULL : wte_table_data(lm->weight[part].table);
}

typedef struct turning {
    const float *from; /* n x width */
    float *to;         /* width x n */
    uint64_t n, width;
} turning;

#define STRIP 32u
/* Some rows of what comes out, tile by tile so that both sides stay near. */
static void turn_strip(void *ctx, uint64_t strip)
{
    const turning *t = ctx;
    const uint64_t first = strip * STRIP;
    const uint64_t end = first + STRIP < t->width ? first + STRIP : t->width;
    for (uint64_t at = 0; at < t->n; at += STRIP) {
        const uint64_t stop = at + STRIP < t->n ? at + STRIP : t->n;
        for (uint64_t c = first; c < end; c++)
            for (uint64_t r = at; r < stop; r++) t->to[c * t->n + r] = t->from[r * t->width + c];
    }
}

static void turn(const wte_lm *lm, const float *from, uint64_t n, uint64_t width, float *to)
{
    turning t = { from, to, n, width };
    wte__parallel(lm->plan.o.pool, (width - 1) / STRIP + 1, turn_strip, &t);
}

wte_status wte__lm_forward(wte_lm *lm, uint64_t n, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    const wte__lm_weight *table = &lm->weight[WTE__LM_TABLE];
    const wte_ids ids = { lm->ids, WTE_U32, 0, n * p->o.context };
    wte_lookup_options lookup = WTE_LOOKUP_OPTIONS_INIT;
    lookup.pool = p->o.pool;
    lookup.allocator = p->o.allocator;
    WTE_TRY(wte_lookup(wte_table_source(table->table), ids, &lookup, lm->between[0], 0, err));
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const wte__lm_layer *layer = &p->layer[i];
        const wte_hidden in = vectors(lm->between[i], n, layer->in);
        wte_head_options o = head_options(lm);
        o.bias = values_of(lm, layer->b);
        o.bias_dtype = o.bias ? WTE_F32 : WTE_DTYPE_NONE;
        if (layer->bent) o.chain.softcap = 1; /* 1 * tanh(x / 1) */
        WTE_TRY(wte_head_logits(wte_table_source(lm->weight[layer->w].table), &in, &o,
                                lm->between[i + 1], 0, err));
    }
    return WTE_OK;
}

static wte_status head_loss(wte_lm *lm, uint64_t n, wte_loss_options *how, wte_loss *out,
                            wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    const wte_row_source *head = wte_table_source(lm->weight[wte__lm_head_of(p)].table);
    const wte_hidden hidden = vectors(lm->between[p->n_layers], n, p->o.dim);
    const wte_ids targets = { lm->targets, WTE_U32, 0, n };
    wte_head_options o = head_options(lm);
    uint64_t least, best;
    o.bias = values_of(lm, WTE__LM_HEAD_BIAS);
    o.bias_dtype = WTE_F32;
    WTE_TRY(wte_loss_workspace_size(head, &hidden, &o, how, &least, &best, err));
    o.work_bytes = least > WTE__LM_LOSS_WORK ? least : WTE__LM_LOSS_WORK;
    return wte_head_loss(head, &hidden, targets, &o, how, out, err);
}

wte_status wte__lm_score(wte_lm *lm, uint64_t n, double *loss, wte_error *err)
{
    wte_loss_options how = WTE_LOSS_OPTIONS_INIT;
    wte_loss out;
    how.sum = 1;
    WTE_TRY(wte__lm_forward(lm, n, err));
    WTE_TRY(head_loss(lm, n, &how, &out, err));
    *loss = out.loss;
    return WTE_OK;
}

/* The way back -----------------------------------------------------------------------------------
 */

/* The loss by what a bent layer was before tanh: times 1 - tanh^2. */
static void unbend(float *d, const float *out, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) d[i] *= 1 - out[i] * out[i];
}

/* Sums of the rows of a turned matrix: what a bias has changed. */
static void add_rows(const float *turned, uint64_t rows, uint64_t n, float *sum)
{
    for (uint64_t r = 0; r < rows; r++) {
        double s = 0;
        for (uint64_t i = 0; i < n; i++) s += (double)turned[r * n + i];
        sum[r] += (float)s;
    }
}

/* From the loss by what a layer gives to the loss by its weights and by what it is given. */
static wte_status back(wte_lm *lm, uint32_t i, uint64_t n, wte_error *err)
{
    const wte__lm_layer *layer = &lm->plan.layer[i];
    const wte_head_options o = head_options(lm);
    float *d_out = lm->d_between[i + 1];
    if (layer->bent) unbend(d_out, lm->between[i + 1], n * layer->out);
    turn(lm, d_out, n, layer->out, lm->turned[0]);
    turn(lm, lm->between[i], n, layer->in, lm->turned[1]);
    /* gradients are zero before a step and have no other part: the product is all of it */
    const wte_row_source ins = matrix(lm->turned[1], layer->in, n);
    const wte_hidden outs = vectors(lm->turned[0], layer->out, n);
    WTE_TRY(wte_head_logits(&ins, &outs, &o, wte_grad_data(lm->weight[layer->w].grad), 0, err));
    if (layer->b != WTE__LM_PARTS)
        add_rows(lm->turned[0], layer->out, n, wte_grad_data(lm->weight[layer->b].grad));
    turn(lm, values_of(lm, layer->w), layer->out, layer->in, lm->turned[2]);
    const wte_row_source turned = matrix(lm->turned[2], layer->in, layer->out);
    const wte_hidden d = vectors(d_out, n, layer->out);
    return wte_head_logits(&turned, &d, &o, lm->d_between[i], 0, err);
}

/* The penalty of Press and Wolf, decay * |P|: its gradient is decay * P / |P|. */
static void add_penalty(wte_lm *lm)
{
    const wte__lm_weight *w = &lm->weight[WTE__LM_PROJECTION];
    const float *p = w->rows ? wte_table_data(w->table) : NULL;
    double squares = 0;
    if (!p || lm->plan.o.projection_decay == 0) return;
    for (uint64_t i = 0; i < w->rows * w->cols; i++) squares += (double)p[i] * (double)p[i];
    if (!(squares > 0)) return;
    const float times = (float)(lm->plan.o.projection_decay / sqrt(squares));
    float *d = wte_grad_data(w->grad);
    for (uint64_t i = 0; i < w->rows * w->cols; i++) d[i] += times * p[i];
}

/* One optimizer for each weight, and a tied table is one weight: it is counted once in the norm and
 * takes one step. */
static wte_status apply(wte_lm *lm, double lr, wte_error *err)
{
    wte_grad *grads[WTE__LM_PARTS];
    size_t n = 0;
    for (int i = 0; i < WTE__LM_PARTS; i++)
        if (lm->weight[i].rows) grads[n++] = lm->weight[i].grad;
    if (lm->plan.o.clip > 0) WTE_TRY(wte_grad_clip(grads, n, lm->plan.o.clip, NULL, err));
    for (int i = 0; i < WTE__LM_PARTS; i++) {
        const wte__lm_weight *w = &lm->weight[i];
        if (!w->rows) continue;
        WTE_TRY(wte_optim_set_lr(w->optim, lr, err));
        WTE_TRY(wte_optim_step(w->optim, w->grad, err));
    }
    return WTE_OK;
}

wte_status wte__lm_step(wte_lm *lm, uint64_t n, double lr, double *loss, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    const wte__lm_weight *table = &lm->weight[WTE__LM_TABLE];
    const wte_ids ids = { lm->ids, WTE_U32, 0, n * p->o.context };
    wte_loss_options how = WTE_LOSS_OPTIONS_INIT;
    wte_loss out;
    WTE_TRY(wte_optim_sync_rows(table->optim, ids, err));
    for (int i = 0; i < WTE__LM_PARTS; i++)
        if (lm->weight[i].rows) wte_grad_zero(lm->weight[i].grad);
    WTE_TRY(wte__lm_forward(lm, n, err));
    how.d_hidden = lm->d_between[p->n_layers];
    how.d_table = wte_grad_data(lm->weight[wte__lm_head_of(p)].grad);
    how.d_bias = wte_grad_data(lm->weight[WTE__LM_HEAD_BIAS].grad);
    WTE_TRY(head_loss(lm, n, &how, &out, err));
    *loss = out.loss;
    if (!isfinite(out.loss)) return WTE_OK; /* told by whoever watches the loss */
    for (uint32_t i = p->n_layers; i-- > 0;) WTE_TRY(back(lm, i, n, err));
    add_penalty(lm);
    WTE_TRY(wte_grad_lookup(table->grad, ids, lm->d_between[0], 0, NULL, err));
    return apply(lm, lr, err);
}

wte_status wte__lm_settle(wte_lm *lm, wte_error *err)
{
    for (int i = 0; i < WTE__LM_PARTS; i++)
        if (lm->weight[i].rows) WTE_TRY(wte_optim_sync_all(lm->weight[i].optim, err));
    return WTE_OK;
}
