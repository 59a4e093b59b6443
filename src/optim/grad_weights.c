/* The gradient of a bag's weights: of each member the product of its row and what came back for its
 * bag. Rows are fetched as f32, as many as stay in the caches, whatever they are stored as. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"
#include "lookup/gather.h"
#include "num/overlap.h"
#include "optim/backward_args.h"

/* Bytes of rows that are fetched at a time, and how many at most. */
#define FETCHED_BYTES ((size_t)256 << 10)
#define FETCHED_ROWS  WTE__IDS_BLOCK
/* Fewer bytes of rows than this are done before a second thread wakes up. */
#define SHARED_BYTES ((uint64_t)256 << 10)

typedef struct products {
    const wte__backward *b;
    wte__fetch fetch;
    size_t row_bytes; /* of f32 */
    uint64_t step;    /* ids at a time */
    float *d_weights;
    /* scratch of a thread: rows, what came back for one bag, the fetch's own */
    size_t own_at, slot_bytes;
    uint8_t *scratch;
} products;

/* Rows of ids first .. first + n - 1, WTE__ZERO_ROW for those that get nothing. */
static void take_rows(const wte__backward *b, uint64_t first, uint32_t n, uint64_t *row)
{
    uint64_t cut[FETCHED_ROWS];
    wte__ids_rows(b->ids, first, n, &b->bag.rules, true, row);
    if (!b->some_cut) return;
    wte__ids_rows(b->ids, first, n, &b->cut, true, cut);
    for (uint32_t i = 0; i < n; i++)
        if (cut[i] == WTE__ZERO_ROW) row[i] = WTE__ZERO_ROW;
}

/* The bag of an id: the last one that begins at or before it and is not empty. */
static uint64_t bag_of(const wte__bag_job *bag, uint64_t id)
{
    uint64_t low = 0, high = bag->n_bags;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (wte__bag_begin(bag, middle) <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static wte_status multiply(const products *p, uint64_t bag, const float *rows, size_t n,
                           float *wide, float *out, wte_error *err)
{
    const wte__backward *b = p->b;
    const size_t cols = (size_t)b->cols;
    WTE_TRY(wte_convert(b->o.d_out_dtype, (const uint8_t *)b->d_out + bag * b->stride, WTE_F32,
                        wide, cols, NULL, err));
    const wte__dots job = { rows, p->row_bytes, n, wide, cols, 1, cols, out, n, 0 };
    wte__kernels_get()->dots_f32(&job);
    for (size_t i = 0; i < n; i++) out[i] *= b->o.scale;
    return WTE_OK;
}

static wte_status do_step(void *ctx, uint64_t number, uint32_t slot, wte_error *err)
{
    const products *p = ctx;
    const wte__bag_job *bag = &p->b->bag;
    const uint64_t first = number * p->step, left = p->b->ids.count - first;
    const uint32_t n = (uint32_t)(left < p->step ? left : p->step);
    uint8_t *scratch = p->scratch + slot * p->slot_bytes;
    float *rows = (float *)(void *)scratch;
    float *wide = (float *)(void *)(scratch + p->step * p->row_bytes), *to = p->d_weights + first;
    uint64_t row[FETCHED_ROWS], member[FETCHED_ROWS];
    float product[FETCHED_ROWS];
    size_t members = 0;
    take_rows(p->b, first, n, row);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = 0;
        member[members] = row[i];
        members += row[i] != WTE__ZERO_ROW;
    }
    WTE_TRY(wte__fetch_rows(&p->fetch, member, members, members, scratch, p->row_bytes,
                            scratch + p->own_at, err));
    uint64_t b = bag_of(bag, first);
    for (uint32_t i = 0, done = 0; i < n; b++) {
        const uint64_t bag_end = wte__bag_begin(bag, b + 1) - first;
        const uint32_t end = bag_end < n ? (uint32_t)bag_end : n;
        size_t some = 0;
        for (uint32_t k = i; k < end; k++) some += row[k] != WTE__ZERO_ROW;
        if (some) WTE_TRY(multiply(p, b, rows + done * p->b->cols, some, wide, product, err));
        for (uint32_t k = 0; i < end; i++)
            if (row[i] != WTE__ZERO_ROW) to[i] = product[k++];
        done += (uint32_t)some;
    }
    return WTE_OK;
}

/* How many rows at a time, and scratch for that. */
static wte_status run(products *p, const wte_row_source *rows, wte_error *err)
{
    const wte_bag_options *o = &p->b->bag.o;
    p->row_bytes = (size_t)rows->cols * sizeof(float);
    p->step = FETCHED_BYTES / p->row_bytes;
    if (p->step == 0) p->step = 1;
    if (p->step > FETCHED_ROWS) p->step = FETCHED_ROWS;
    p->fetch.rows = rows;
    p->fetch.out_type = WTE_F32;
    p->fetch.scale = 1.0f;
    p->fetch.from_view = wte__gather_views(rows, p->b->ids.count);
    wte__fetch_init(&p->fetch, p->row_bytes);
    wte_pool *pool = p->b->ids.count < SHARED_BYTES / p->row_bytes ? NULL : o->pool;
    uint64_t bytes;
    p->own_at = (((size_t)p->step + 1) * p->row_bytes + 63) / 64 * 64;
    p->slot_bytes = (p->own_at + p->fetch.scratch_bytes + 63) / 64 * 64;
    if (!wte__mul_u64(p->slot_bytes, wte_pool_n_threads(pool), &bytes) || bytes > SIZE_MAX)
        bytes = 0;
    p->scratch = wte__alloc(o->allocator, (size_t)bytes);
    if (!p->scratch) return wte__no_memory(err, bytes, "rows of bags");
    const wte_status status =
        wte__parallel_try(pool, (p->b->ids.count + p->step - 1) / p->step, do_step, p, err);
    wte__free(o->allocator, p->scratch, (size_t)bytes);
    return status;
}

wte_status wte_bag_weights_grad(const wte_row_source *rows, wte_ids ids, wte_ids offsets,
                                const wte_bag_options *bag, const void *d_out,
                                const wte_backward_options *opt, float *d_weights, wte_error *err)
{
    const wte__bag_back back = { ids, offsets, bag, d_out, 0 };
    wte__backward b;
    WTE_TRY(wte_check_rows(rows, err));
    if (!wte_dtype_converts(rows->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "backward: rows of type %s cannot be converted to f32",
                         wte_dtype_name(rows->dtype));
    WTE_TRY(wte__backward_bag(rows->rows, rows->cols, &back, opt, NULL, &b, err));
    products p = { .b = &b, .d_weights = d_weights };
    const wte_bag_options *o = &b.bag.o;
    if (o->mode != WTE_BAG_SUM)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "backward: weights are for sums, not for the %s",
                         o->mode == WTE_BAG_MEAN ? "mean" : "maximum");
    if (o->max_norm != 0)
        WTE_TRY(wte__norm_limit_init(&p.fetch.limit, o->max_norm, o->norm_type, rows->dtype,
                                     "backward", err));
    if (ids.count) WTE_TRY(wte__need(d_weights, "wte_bag_weights_grad: d_weights", err));
    const wte__piece written = { "d_weights", d_weights, ids.count, sizeof *d_weights, 0 };
    WTE_TRY(wte__no_overlap_with_source("backward", written, rows, err));
    WTE_TRY(wte__no_overlap_with_ids("backward", written, ids, err));
    if (ids.count && rows->cols) return run(&p, rows, err);
    if (ids.count) memset(d_weights, 0, (size_t)ids.count * sizeof *d_weights);
    return WTE_OK;
}
