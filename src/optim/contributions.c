/* The parts of a gradient: what a call was given is checked, put in order (parts_order.c), and then
 * summed row by row by a kernel. */
#include "optim/contributions.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "optim/contributions_order.h"

/* Positions and rows that fit into 64 bits together. */
static wte_status check_bits(wte__order *o, wte_error *err)
{
    const uint64_t ids = o->b.ids.count, rows = o->b.rows;
    o->position_bits = ids > 1 ? 64 - (uint32_t)__builtin_clzll(ids - 1) : 0;
    if (rows == 0 || rows - 1 <= UINT64_MAX >> o->position_bits) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "backward: %" PRIu64 " ids in one call are too many for a table of %" PRIu64
                     " rows: use several calls, which add up",
                     ids, rows);
}

/* A block of at least `bytes`: the existing one, or a new one in its place. */
static wte_status hold(void **block, size_t *bytes, uint64_t count, size_t each,
                       const wte_allocator *a, wte_error *err)
{
    if (count <= *bytes / each) return WTE_OK;
    wte__free(a, *block, *bytes);
    *bytes = 0;
    *block = wte__alloc_array(a, count, each);
    if (!*block) return wte__no_memory(err, count * each, "the order of a gradient's parts");
    *bytes = (size_t)count * each;
    return WTE_OK;
}

/* One block for all that a wte__contributions points at; what belongs to a part has room for every
 * id. */
static wte_status hold_parts(wte__order *o, bool factors, bool of_max, wte__contributions *p,
                             wte_error *err)
{
    const uint64_t room = o->b.ids.count + 1;
    const size_t each = 2 * sizeof(uint64_t) + (of_max ? sizeof(uint64_t) : 0) + sizeof(uint32_t) +
                        (factors ? sizeof(float) : 0);
    WTE_TRY(hold(&p->block, &p->bytes, room, each, p->allocator, err));
    o->row = p->block;
    o->first = o->row + room;
    o->member = of_max ? o->first + room : NULL;
    o->from = (uint32_t *)(void *)(o->first + (of_max ? 2 : 1) * room);
    o->factor = factors ? (float *)(void *)(o->from + room) : NULL;
    return WTE_OK;
}

/* What ordering alone needs: a second array of keys, counters, whose each id is. */
static wte_status hold_scratch(wte__order *o, bool members, wte__contributions *p, wte_error *err)
{
    const uint64_t room = o->b.ids.count + 1;
    const uint64_t places = (uint64_t)wte__order_slices(o) << (WTE__ORDER_BITS - 1);
    const bool bag_of = o->b.bags && !o->by_bag;
    const uint64_t bags = bag_of ? room / 2 + 1 : 0, counts = members ? o->b.vectors / 2 + 1 : 0;
    const uint64_t seen = o->any_order ? wte__order_slices(o) * wte__order_words(o) : 0;
    WTE_TRY(hold(&p->scratch, &p->scratch_bytes, room + places + seen + bags + counts,
                 sizeof(uint64_t), p->allocator, err));
    uint64_t *at = p->scratch;
    o->key = at;
    o->other = o->row;
    at += room;
    o->place = (uint32_t *)(void *)at;
    at += places;
    o->seen = at;
    at += seen;
    if (bag_of) o->bag_of = (uint32_t *)(void *)at;
    if (!members) return WTE_OK;
    o->members = (uint32_t *)(void *)(at + bags);
    memset(o->members, 0, (size_t)o->b.vectors * sizeof *o->members);
    return WTE_OK;
}

/* With what has been checked. */
static wte_status order(wte__order *o, const wte_grad_options *how, wte__contributions *p,
                        wte_error *err)
{
    const wte_bag_options *bag = &o->b.bag.o;
    const bool mean = o->b.bags && bag->mode == WTE_BAG_MEAN;
    const bool of_max = o->b.bags && bag->mode == WTE_BAG_MAX;
    const bool factors = mean || bag->weights || o->b.o.scale != 1.0f || o->b.o.scale_by_freq;
    o->pool = how->pool;
    o->any_order = p->any_order;
    /* facts of a contribution about its id besides the bag: weight and member */
    o->by_bag = o->b.bags && !bag->weights && !of_max && o->b.vectors <= o->b.ids.count;
    o->some_out = o->b.bags && (o->b.some_cut || bag->n_ignore_ids || bag->mask ||
                                bag->bad_ids == WTE_BAD_ID_ZERO);
    WTE_TRY(check_bits(o, err));
    WTE_TRY(hold_parts(o, factors, of_max, p, err));
    WTE_TRY(hold_scratch(o, mean, p, err));
    wte__order_parts(o);
    p->n = o->rows;
    p->alone = o->alone;
    p->count = o->count;
    p->rows = o->row;
    p->first = o->first;
    p->from = o->from;
    p->factor = o->factor;
    p->member = o->member;
    p->columns_of = of_max ? bag->argmax : NULL;
    p->d_out = o->b.d_out;
    p->row_bytes = o->b.stride;
    p->d_out_dtype = o->b.o.d_out_dtype;
    p->cols = o->b.cols;
    p->f64_sums = how->f64_sums != 0;
    return WTE_OK;
}

/* Nothing is left but memory. */
static void begin_again(wte__contributions *p, const wte_grad_options *how)
{
    *p = (wte__contributions){ .any_order = p->any_order,
                               .block = p->block,
                               .bytes = p->bytes,
                               .scratch = p->scratch,
                               .scratch_bytes = p->scratch_bytes,
                               .allocator = how->allocator };
}

void wte__contributions_free(wte__contributions *p)
{
    wte__free(p->allocator, p->block, p->bytes);
    wte__free(p->allocator, p->scratch, p->scratch_bytes);
    *p = (wte__contributions){ 0 };
}

wte_status wte__contributions_again_lookup(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                           const wte_backward_options *opt,
                                           const wte_grad_options *how, wte__contributions *p,
                                           wte_error *err)
{
    wte__order o = { 0 };
    begin_again(p, how);
    WTE_TRY(wte__backward_lookup(rows, cols, back, opt, &o.b, err));
    return order(&o, how, p, err);
}

/* A position outside its bag would match no member, and its gradient would be lost. */
static wte_status check_max_at(const wte__backward *b, wte_error *err)
{
    const uint64_t *at = b->bag.o.argmax;
    if (!at)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "backward: the maximum needs max_at, as the forward call filled it");
    for (uint64_t bag = 0; bag < b->vectors; bag++) {
        const uint64_t begin = wte__bag_begin(&b->bag, bag);
        const uint64_t n = wte__bag_begin(&b->bag, bag + 1) - begin;
        for (uint64_t c = 0; c < b->cols; c++, at++)
            if (*at - begin >= n && *at != WTE_NO_INDEX)
                return wte__fail(err, WTE_E_ARGUMENT, bag,
                                 "backward: max_at of bag %" PRIu64 ", column %" PRIu64
                                 " is %" PRIu64 ", but the bag has %" PRIu64 " ids from %" PRIu64
                                 " on",
                                 bag, c, *at, n, begin);
    }
    return WTE_OK;
}

wte_status wte__contributions_again_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                        const wte_backward_options *opt,
                                        const wte_grad_options *how, wte__contributions *p,
                                        wte_error *err)
{
    wte__order o = { 0 };
    begin_again(p, how);
    WTE_TRY(wte__backward_bag(rows, cols, back, opt, how->allocator, &o.b, err));
    if (o.b.bag.o.mode == WTE_BAG_MAX) WTE_TRY(check_max_at(&o.b, err));
    return order(&o, how, p, err);
}

wte_status wte__contributions_of_lookup(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                        const wte_backward_options *opt,
                                        const wte_grad_options *how, wte__contributions *out,
                                        wte_error *err)
{
    *out = (wte__contributions){ 0 };
    const wte_status status = wte__contributions_again_lookup(rows, cols, back, opt, how, out, err);
    if (status != WTE_OK) wte__contributions_free(out);
    return status;
}

wte_status wte__contributions_of_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                     const wte_backward_options *opt, const wte_grad_options *how,
                                     wte__contributions *out, wte_error *err)
{
    *out = (wte__contributions){ 0 };
    const wte_status status = wte__contributions_again_bag(rows, cols, back, opt, how, out, err);
    if (status != WTE_OK) wte__contributions_free(out);
    return status;
}

/* Sums ----------------------------------------------------------------------------------------- */

wte__scatter wte__contributions_job(const wte__contributions *p, uint64_t u, uint64_t n,
                                    uint64_t begin, uint64_t end)
{
    const size_t size = wte_dtype_bytes(p->d_out_dtype);
    return (wte__scatter){ .d_out = (const uint8_t *)p->d_out + begin * size,
                           .stride = p->row_bytes,
                           .from = p->from,
                           .factor = p->factor,
                           .first = p->first + u,
                           .n = (size_t)n,
                           .prefetch_end = (size_t)p->count,
                           .max_at = p->columns_of ? p->columns_of + begin : NULL,
                           .max_stride = (size_t)p->cols,
                           .member = p->member,
                           .cols = (size_t)(end - begin),
                           .f64_sums = p->f64_sums };
}

void wte__contributions_run(const wte__contributions *p, const wte__scatter *job)
{
    const wte__kernels *kernels = wte__kernels_get();
    if (p->d_out_dtype == WTE_F16)
        kernels->scatter_f16(job);
    else if (p->d_out_dtype == WTE_BF16)
        kernels->scatter_bf16(job);
    else
        kernels->scatter_f32(job);
}

void wte__contributions_sums(const wte__contributions *p, uint64_t u, uint64_t n, float *sums)
{
    wte__scatter job = wte__contributions_job(p, u, n, 0, p->cols);
    job.out = sums;
    job.out_stride = (size_t)p->cols;
    wte__contributions_run(p, &job);
}

void wte__contributions_sum(const wte__contributions *p, uint64_t u, uint64_t begin, uint64_t end,
                            float *sum)
{
    wte__scatter job = wte__contributions_job(p, u, 1, begin, end);
    job.out = sum;
    wte__contributions_run(p, &job);
}
