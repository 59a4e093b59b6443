/* The pass over the logits: blocks of hidden vectors; for each, tiles of rows, shared among
 * threads. A tile is read or decoded once for all vectors of the block, and stays in the
 * second-level cache while it is used. */
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"
#include "head/tile.h"

/* A tile in f32: a part of the second-level cache of one core (1 MiB or more), so that the hidden
 * vectors pass through the rest of it. */
#define TILE_BYTES ((uint64_t)384 << 10)
/* Rows of a tile are a multiple of this, so that kernels have whole groups. */
#define TILE_STEP 12u
/* Hidden vectors of a block: their logits of one tile are to stay in the cache too. */
#define BLOCK_HIDDEN ((uint64_t)1024)
/* Work memory begins on a line of the caches. */
#define LINE       64u
#define WORK_BYTES ((uint64_t)64 << 20)

uint32_t wte__tile_rows(uint64_t dim)
{
    const uint64_t fits = dim ? TILE_BYTES / 4 / dim / TILE_STEP * TILE_STEP : WTE__TILE_ROWS_MOST;
    return fits < TILE_STEP             ? TILE_STEP
           : fits > WTE__TILE_ROWS_MOST ? WTE__TILE_ROWS_MOST
                                        : (uint32_t)fits;
}

uint64_t wte__tiles(uint64_t rows, uint64_t dim)
{
    const uint64_t at_once = wte__tile_rows(dim);
    return rows / at_once + (rows % at_once != 0);
}

static wte_status check_chain(const wte_logit_transform *c, wte_error *err)
{
    const float given[] = { c->hidden_scale, c->hidden_divisor, c->scale, c->divisor, c->softcap };
    static const char *const name[] = { "hidden_times", "hidden_over", "times", "over", "cap" };
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (!isfinite(given[i]) || (i == 4 && given[i] < 0))
            return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "head: chain.%s is %g", name[i],
                             (double)given[i]);
    return WTE_OK;
}

static bool is_float_type(wte_dtype type)
{
    return type == WTE_F32 || type == WTE_F16 || type == WTE_BF16;
}

static wte_status check_hidden(const wte_row_source *table, const wte_hidden *hidden,
                               wte_error *err)
{
    uint64_t tight, all;
    if (!is_float_type(hidden->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "head: hidden of type %s, but f32, f16 or bf16 is taken",
                         wte_dtype_name(hidden->dtype));
    if (hidden->dim != table->cols)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "head: hidden vectors have %" PRIu64
                         " numbers, but the table's rows %" PRIu64,
                         hidden->dim, table->cols);
    if (!wte__mul_u64(hidden->dim, wte_dtype_bytes(hidden->dtype), &tight) || tight > SIZE_MAX ||
        !wte__mul_u64(hidden->row_bytes > tight ? hidden->row_bytes : tight, hidden->n, &all) ||
        all > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: %" PRIu64 " hidden vectors of %" PRIu64
                         " numbers are more than memory can hold",
                         hidden->n, hidden->dim);
    if (hidden->row_bytes && hidden->row_bytes < tight)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "head: the stride of hidden vectors is %zu bytes, but one takes %" PRIu64,
                         hidden->row_bytes, tight);
    if (!hidden->data && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "head: no address for %" PRIu64 " hidden vectors", hidden->n);
    return WTE_OK;
}

wte_status wte__head_check(const wte_row_source *table, const wte_hidden *hidden,
                           const wte_head_options *opt, wte_head_options *out, wte_error *err)
{
    const wte_head_options init = WTE_HEAD_OPTIONS_INIT;
    *out = init;
    WTE_TRY(wte__options(out, sizeof *out, opt, err));
    WTE_TRY(wte__need_functions(out->allocator, out->progress, err));
    WTE_TRY(wte_check_rows(table, err));
    WTE_TRY(wte__need(hidden, "head: hidden", err));
    WTE_TRY(check_hidden(table, hidden, err));
    WTE_TRY(check_chain(&out->chain, err));
    if (!wte_dtype_converts(table->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "head: a table of type %s has no numbers to multiply with",
                         wte_dtype_name(table->dtype));
    if (out->bias && !is_float_type(out->bias_dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "head: a bias of type %s, but f32, f16 or bf16 is taken",
                         wte_dtype_name(out->bias_dtype));
    if (out->precision != WTE_PRECISION_EXACT && out->precision != WTE_PRECISION_FAST)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "head: no precision has the number %d",
                         (int)out->precision);
    if (out->work_bytes == 0) out->work_bytes = WORK_BYTES;
    return WTE_OK;
}

wte_status wte__head_no_overlap(const wte__logit_tiles *s, wte__piece written, wte_error *err)
{
    const wte_hidden *h = s->hidden;
    const wte__piece hidden = { "hidden", h->data, h->n, h->dim * wte_dtype_bytes(h->dtype),
                                h->row_bytes };
    const wte__piece bias = { "the bias", s->o.bias, s->table->rows,
                              wte_dtype_bytes(s->o.bias_dtype), 0 };
    WTE_TRY(wte__no_overlap_with_source("head", written, s->table, err));
    WTE_TRY(wte__no_overlap("head", written, hidden, err));
    return wte__no_overlap("head", written, bias, err);
}

/* Work memory for blocks of `block` hidden vectors. */
static uint64_t plan(wte__tile_pass *p, uint64_t block)
{
    const uint64_t slots = wte__times(wte__slot_plan(p, block), p->threads);
    const uint64_t hidden = wte__hidden_plan(p, block);
    p->block = block;
    p->hidden_at = (size_t)slots;
    p->hidden_bytes = (size_t)hidden;
    return wte__plus(wte__plus(slots, hidden), LINE);
}

static uint64_t largest_block(const wte__logit_tiles *s)
{
    return s->hidden->n < BLOCK_HIDDEN ? s->hidden->n : BLOCK_HIDDEN;
}

void wte__logit_tiles_need(const wte__logit_tiles *s, uint64_t *least, uint64_t *best)
{
    wte__tile_pass p = { .s = s };
    wte__tile_pass_choose(&p);
    *least = plan(&p, 1);
    *best = plan(&p, largest_block(s));
}

static wte_status run_tile(void *ctx, uint64_t number, uint32_t slot_number, wte_error *err)
{
    const wte__tile_pass *p = ctx;
    const wte__logit_tiles *s = p->s;
    uint8_t *slot = p->work + slot_number * p->slot_bytes;
    const uint32_t at_once = wte__tile_rows(s->table->cols);
    const uint64_t row = number * at_once, left = p->rows - row;
    const uint32_t n = left < at_once ? (uint32_t)left : at_once;
    float *out = s->keeps  ? s->keep + (number * s->hidden->n + p->first) * at_once
                 : s->take ? (float *)(void *)(slot + p->logits_at)
                           : s->logits + p->first * s->stride + row;
    const size_t stride = s->take ? at_once : s->stride;
    WTE_TRY(wte__tile_logits(p, row, n, slot, out, stride, err));
    if (wte__logit_transform_any(&s->o))
        WTE_TRY(wte__logit_transform_run(p, row, n, slot, out, stride, err));
    if (!s->take) return WTE_OK;
    const wte__tile tile = { number, row, p->first, n, (uint32_t)p->n, out, stride };
    return s->take(s->ctx, &tile, err);
}

/* The largest block of hidden vectors that the budget allows. */
static wte_status choose_block(wte__tile_pass *p, wte_error *err)
{
    const uint64_t most = SIZE_MAX / 2, asked = p->s->o.work_bytes, least = plan(p, 1);
    const uint64_t budget = asked < most ? asked : most;
    if (least > budget)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: %" PRIu64 " bytes of work memory, but %" PRIu64 " are needed",
                         budget, least);
    uint64_t block = largest_block(p->s);
    while (plan(p, block) > budget) block = block / 2 + (block == 1); /* ends: 1 fits */
    return WTE_OK;
}

static wte_status run_blocks(wte__tile_pass *p, wte_error *err)
{
    const wte__logit_tiles *s = p->s;
    const uint64_t n = s->hidden->n, tiles = wte__tiles(p->rows, s->table->cols);
    for (p->first = 0; p->first < n; p->first += p->n) {
        p->n = n - p->first < p->block ? n - p->first : p->block;
        WTE_TRY(wte__hidden_load(p, err));
        WTE_TRY(wte__progress_run(s->told, wte__times(p->n, p->rows), s->o.pool, tiles, run_tile, p,
                                  err));
    }
    return WTE_OK;
}

wte_status wte__logit_tiles_run(const wte__logit_tiles *s, wte_error *err)
{
    wte__tile_pass p = { .s = s };
    wte__tile_pass_choose(&p);
    WTE_TRY(choose_block(&p, err));
    const size_t bytes = p.hidden_at + p.hidden_bytes + LINE;
    uint8_t *work = wte__alloc(s->o.allocator, bytes);
    if (!work) return wte__no_memory(err, bytes, "the tiles of a head");
    p.work = work + (LINE - (uintptr_t)work % LINE) % LINE;
    const wte_status status = run_blocks(&p, err);
    wte__free(s->o.allocator, work, bytes);
    return status;
}
