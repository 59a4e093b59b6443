/* The pass over the logits: hidden vectors in f32, blocks of them; for each, tiles of rows, shared
 * among threads. A tile is read or decoded once for all vectors of the block, and stays in the
 * second-level cache while it is used. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"
#include "head/head.h"

/* A tile in f32: a part of the second-level cache of one core (1 MiB or more), so that the hidden
 * vectors pass through the rest of it. */
#define TILE_BYTES ((uint64_t)384 << 10)
/* Rows of a tile are a multiple of this, so that kernels have whole groups. */
#define TILE_STEP 12u
/* Hidden vectors of a block: their logits of one tile are to stay in the cache too. */
#define BLOCK_HIDDEN ((uint64_t)1024)
#define WORK_BYTES   ((uint64_t)64 << 20)

/* How the rows of a tile reach the kernel. */
typedef enum way {
    IN_PLACE, /* they lie in memory, in a type that has a kernel */
    READ,     /* they are read into the slot, in such a type */
    WIDEN     /* they are read into the slot and converted to f32 */
} way;

typedef struct pass {
    const wte__sweep *s;
    uint64_t rows; /* of the table, or of the list */
    way way;
    wte_dtype type; /* F32, F16 or BF16: what the kernel is given */
    void (*dots)(const wte__dots *job);
    const float *h; /* the block of hidden vectors, in f32 */
    size_t h_stride;
    uint64_t first, n;
    /* work memory: of each thread, and the hidden vectors */
    uint8_t *work;
    size_t slot_bytes, read_at, logits_at, hidden_bytes;
    uint64_t block; /* hidden vectors at once */
    bool copy_hidden;
} pass;

uint32_t wte__tile_rows(uint64_t dim)
{
    const uint64_t fits = dim ? TILE_BYTES / 4 / dim / TILE_STEP * TILE_STEP : 4096;
    return fits < TILE_STEP ? TILE_STEP : fits > 4092 ? 4092 : (uint32_t)fits;
}

uint64_t wte__tiles(uint64_t rows, uint64_t dim)
{
    const uint64_t at_once = wte__tile_rows(dim);
    return rows / at_once + (rows % at_once != 0);
}

static wte_status check_chain(const wte_chain *c, wte_error *err)
{
    const float given[] = { c->hidden_times, c->hidden_over, c->times, c->over, c->cap };
    static const char *const name[] = { "hidden_times", "hidden_over", "times", "over", "cap" };
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (!isfinite(given[i]) || (i == 4 && given[i] < 0))
            return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE, "head: chain.%s is %g", name[i],
                             (double)given[i]);
    return WTE_OK;
}

static bool is_float_type(wte_dtype type)
{
    return type == WTE_F32 || type == WTE_F16 || type == WTE_BF16;
}

static wte_status check_hidden(const wte_rows *table, const wte_hidden *hidden, wte_error *err)
{
    uint64_t tight, all;
    if (!is_float_type(hidden->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "head: hidden of type %s, but f32, f16 or bf16 is taken",
                         wte_dtype_name(hidden->dtype));
    if (hidden->dim != table->cols)
        return wte__fail(err, WTE_E_SHAPE, WTE_NOWHERE,
                         "head: hidden vectors have %" PRIu64
                         " numbers, but the table's rows %" PRIu64,
                         hidden->dim, table->cols);
    if (!wte_mul_u64(hidden->dim, wte_dtype_bytes(hidden->dtype), &tight) || tight > SIZE_MAX ||
        !wte_mul_u64(hidden->row_bytes > tight ? hidden->row_bytes : tight, hidden->n, &all) ||
        all > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "head: %" PRIu64 " hidden vectors of %" PRIu64
                         " numbers are more than memory can hold",
                         hidden->n, hidden->dim);
    if (hidden->row_bytes && hidden->row_bytes < tight)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "head: hidden vectors lie %zu bytes apart, but one takes %" PRIu64,
                         hidden->row_bytes, tight);
    if (!hidden->data && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "head: no address for %" PRIu64 " hidden vectors", hidden->n);
    return WTE_OK;
}

wte_status wte__head_check(const wte_rows *table, const wte_hidden *hidden,
                           const wte_head_options *opt, wte_head_options *out, wte_error *err)
{
    const wte_head_options init = WTE_HEAD_OPTIONS_INIT;
    *out = init;
    WTE_TRY(wte__options(out, sizeof *out, opt, err));
    WTE_TRY(wte_rows_check(table, err));
    WTE_TRY(wte__need(hidden, "head: hidden", err));
    WTE_TRY(check_hidden(table, hidden, err));
    WTE_TRY(check_chain(&out->chain, err));
    if (!wte_dtype_converts(table->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "head: a table of type %s has no numbers to multiply with",
                         wte_dtype_name(table->dtype));
    if (out->bias && !is_float_type(out->bias_dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "head: a bias of type %s, but f32, f16 or bf16 is taken",
                         wte_dtype_name(out->bias_dtype));
    if (out->precision != WTE_PRECISION_EXACT && out->precision != WTE_PRECISION_FAST)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE, "head: no precision has the number %d",
                         (int)out->precision);
    if (out->work_bytes == 0) out->work_bytes = WORK_BYTES;
    return WTE_OK;
}

static void choose_way(pass *p)
{
    const wte_rows *t = p->s->table;
    const wte__kernels *k = wte__kernels_get();
    const bool native = is_float_type(t->dtype);
    p->rows = p->s->rows ? p->s->n_rows : t->rows;
    p->type = native ? t->dtype : WTE_F32;
    p->dots = p->type == WTE_F16 ? k->dots_f16 : p->type == WTE_BF16 ? k->dots_bf16 : k->dots_f32;
    /* data beside read_rows is a mapped file: read it in blocks, do not walk through the map */
    p->way = !native ? WIDEN : t->data && !t->read_rows && !p->s->rows ? IN_PLACE : READ;
    const wte_hidden *h = p->s->hidden;
    const wte_chain *c = &p->s->o.chain;
    p->copy_hidden = h->dtype != WTE_F32 || c->hidden_times != 0 || c->hidden_over != 0 ||
                     (uintptr_t)h->data % 4 || h->row_bytes % 4;
}

/* Sizes of the pieces of work memory for blocks of `block` hidden vectors. */
static uint64_t plan(pass *p, uint64_t block)
{
    const wte_rows *t = p->s->table;
    const uint64_t elements = wte__tile_rows(t->cols) * t->cols;
    uint64_t at = 0;
    p->read_at = 0;
    if (p->way == WIDEN) p->read_at = (size_t)(at += elements * 4);
    if (p->way != IN_PLACE) at += elements * wte_dtype_bytes(t->dtype);
    at = (at + 63) / 64 * 64;
    p->logits_at = (size_t)at;
    if (p->s->take) at += block * wte__tile_rows(t->cols) * 4;
    p->slot_bytes = (size_t)((at + 4095) / 4096 * 4096);
    p->block = block;
    p->hidden_bytes = p->copy_hidden ? (size_t)(block * t->cols * 4) : 0;
    return p->slot_bytes * wte_pool_threads(p->s->o.pool) + p->hidden_bytes;
}

void wte__sweep_need(const wte__sweep *s, uint64_t *least, uint64_t *best)
{
    pass p = { .s = s };
    choose_way(&p);
    *least = plan(&p, 1);
    *best = plan(&p, s->hidden->n < BLOCK_HIDDEN ? s->hidden->n : BLOCK_HIDDEN);
}

/* Hidden vectors first .. first + n - 1 as f32, with what the chain does to them. */
static wte_status widen_hidden(const pass *p, float *out, wte_error *err)
{
    const wte_hidden *h = p->s->hidden;
    const wte_chain *c = &p->s->o.chain;
    const size_t dim = (size_t)h->dim;
    const size_t stride = h->row_bytes ? h->row_bytes : dim * wte_dtype_bytes(h->dtype);
    for (uint64_t i = 0; i < p->n; i++, out += dim) {
        const char *from = (const char *)h->data + (p->first + i) * stride;
        WTE_TRY(wte_convert(h->dtype, from, WTE_F32, out, dim, NULL, err));
        for (size_t k = 0; c->hidden_times != 0 && k < dim; k++) out[k] *= c->hidden_times;
        for (size_t k = 0; c->hidden_over != 0 && k < dim; k++) out[k] /= c->hidden_over;
    }
    return WTE_OK;
}

/* Rows of a tile in the type of the kernel: where they lie, or in the slot. */
static wte_status load_tile(const pass *p, uint64_t row, size_t n, uint8_t *slot, wte__dots *job,
                            wte_error *err)
{
    const wte_rows *t = p->s->table;
    job->w_stride = (size_t)t->cols * wte_dtype_bytes(p->type);
    if (p->way == IN_PLACE) {
        job->w = (const uint8_t *)t->data + row * t->row_bytes;
        job->w_stride = (size_t)t->row_bytes;
        return WTE_OK;
    }
    uint8_t *read = slot + p->read_at;
    const size_t tight = (size_t)t->cols * wte_dtype_bytes(t->dtype);
    job->w = p->way == WIDEN ? slot : read;
    if (!p->s->rows)
        WTE_TRY(wte_rows_read_block(t, row, n, read, err));
    else if (t->read_rows)
        WTE_TRY(t->read_rows(t->ctx, p->s->rows + row, n, read, err));
    else
        for (size_t i = 0; i < n; i++)
            memcpy(read + i * tight, (const uint8_t *)t->data + p->s->rows[row + i] * t->row_bytes,
                   tight);
    if (p->way == READ) return WTE_OK;
    return wte_convert(t->dtype, read, WTE_F32, slot, n * (size_t)t->cols, NULL, err);
}

static float bias_of(const wte_head_options *o, uint64_t row)
{
    const char *at = (const char *)o->bias + row * wte_dtype_bytes(o->bias_dtype);
    float bias = 0;
    const wte_status status = wte_convert(o->bias_dtype, at, WTE_F32, &bias, 1, NULL, NULL);
    return status == WTE_OK ? bias : NAN; /* of types that convert: wte__head_check */
}

/* What comes after the product, of the logits of one row of the tile for all hidden vectors. */
static void run_chain(const pass *p, uint64_t row, float *logit, size_t stride)
{
    const wte_head_options *o = &p->s->o;
    const wte_chain *c = &o->chain;
    const float bias = o->bias ? bias_of(o, row) : 0;
    for (uint64_t i = 0; i < p->n; i++, logit += stride) {
        float x = *logit;
        if (o->bias) x += bias;
        if (c->times != 0) x *= c->times;
        if (c->over != 0) x /= c->over;
        if (c->cap > 0) x = c->cap * tanhf(x / c->cap);
        *logit = x;
    }
}

static bool has_chain(const wte_head_options *o)
{
    return o->bias || o->chain.times != 0 || o->chain.over != 0 || o->chain.cap > 0;
}

static wte_status run_tile(void *ctx, uint64_t number, uint32_t slot_number, wte_error *err)
{
    const pass *p = ctx;
    const wte__sweep *s = p->s;
    uint8_t *slot = p->work + slot_number * p->slot_bytes;
    const uint32_t at_once = wte__tile_rows(s->table->cols);
    const uint64_t row = number * at_once, left = p->rows - row;
    const size_t n = left < at_once ? (size_t)left : at_once;
    wte__dots job = {
        .n_w = n,
        .h = p->h,
        .h_stride = p->h_stride,
        .n_h = (size_t)p->n,
        .dim = (size_t)s->table->cols,
        .out = s->take ? (float *)(void *)(slot + p->logits_at)
                       : s->logits + p->first * s->stride + row,
        .out_stride = s->take ? at_once : s->stride,
    };
    WTE_TRY(load_tile(p, row, n, slot, &job, err));
    p->dots(&job);
    for (size_t r = 0; has_chain(&s->o) && r < n; r++)
        run_chain(p, s->rows ? s->rows[row + r] : row + r, job.out + r, job.out_stride);
    if (!s->take) return WTE_OK;
    const wte__tile tile = { number, row, p->first, (uint32_t)n, (uint32_t)p->n, job.out, at_once };
    return s->take(s->ctx, &tile, err);
}

/* The largest block of hidden vectors that the budget allows. */
static wte_status choose_block(pass *p, wte_error *err)
{
    const uint64_t n = p->s->hidden->n, budget = p->s->o.work_bytes, least = plan(p, 1);
    if (least > budget)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "head: %" PRIu64 " bytes of work memory, but %" PRIu64 " are needed",
                         budget, least);
    uint64_t block = n < BLOCK_HIDDEN ? n : BLOCK_HIDDEN;
    while (plan(p, block) > budget) block = block / 2 + (block == 1); /* ends: 1 fits */
    return WTE_OK;
}

static wte_status run_blocks(pass *p, wte_error *err)
{
    const wte__sweep *s = p->s;
    const wte_hidden *hidden = s->hidden;
    float *copy = (float *)(void *)(p->work + p->slot_bytes * wte_pool_threads(s->o.pool));
    const size_t tight = (size_t)hidden->dim * 4;
    for (p->first = 0; p->first < hidden->n; p->first += p->n) {
        p->n = hidden->n - p->first < p->block ? hidden->n - p->first : p->block;
        p->h = copy;
        p->h_stride = (size_t)hidden->dim;
        if (p->copy_hidden) {
            WTE_TRY(widen_hidden(p, copy, err));
        } else {
            const size_t stride = hidden->row_bytes ? hidden->row_bytes : tight;
            p->h = (const float *)(const void *)((const char *)hidden->data + p->first * stride);
            p->h_stride = stride / 4;
        }
        WTE_TRY(
            wte__parallel_try(s->o.pool, wte__tiles(p->rows, s->table->cols), run_tile, p, err));
    }
    return WTE_OK;
}

wte_status wte__sweep_run(const wte__sweep *s, wte_error *err)
{
    pass p = { .s = s };
    choose_way(&p);
    WTE_TRY(choose_block(&p, err));
    const size_t bytes = p.slot_bytes * wte_pool_threads(s->o.pool) + p.hidden_bytes;
    p.work = wte__alloc(s->o.allocator, bytes);
    if (!p.work && bytes) return wte__no_memory(err, bytes, "the tiles of a head");
    const wte_status status = run_blocks(&p, err);
    wte__free(s->o.allocator, p.work, bytes);
    return status;
}
