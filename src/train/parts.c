/* The parts of a gradient, put in order: which row each belongs to, where it comes from, and by
 * what it is multiplied. Row and position of an id are one number, and these are sorted by the row
 * (radix, stable), so that the parts of a row stay in the order of ids whoever sorts them. */
#include "train/parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "train/backward.h"

/* Bits of a row number that one pass sorts by: the counters of 2^11 values stay in the cache. */
#define DIGIT_BITS 11u

/* What is being made, and of what. */
typedef struct making {
    wte__backward b;
    uint32_t position_bits; /* of a key: the row's number stands above them */
    /* where there are bags */
    uint32_t *bag_of;  /* of each id */
    uint32_t *members; /* of each bag; for means */
    size_t bag_bytes;  /* of both */
    /* what becomes the arrays of *out */
    uint64_t *row, *first, *member;
    uint32_t *from;
    float *factor;
    wte__parts *out;
} making;

static uint32_t bits_of_count(uint64_t values)
{
    return values > 1 ? 64 - (uint32_t)__builtin_clzll(values - 1) : 0;
}

/* Positions and rows that fit into 64 bits together. */
static wte_status check_bits(making *m, wte_error *err)
{
    m->position_bits = bits_of_count(m->b.ids.count);
    if (m->position_bits + bits_of_count(m->b.rows) <= 64) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                     "backward: %" PRIu64 " ids in one call are too many for a table of %" PRIu64
                     " rows: use several calls, which add up",
                     m->b.ids.count, m->b.rows);
}

/* Memory --------------------------------------------------------------------------------------- */

/* One block for all that a wte__parts points at; what belongs to a part has room for every id. */
static wte_status allocate(making *m, bool factors, bool of_max, const wte_grad_options *how,
                           wte_error *err)
{
    wte__parts *p = m->out;
    const uint64_t room = m->b.ids.count + 1;
    const size_t each = 2 * sizeof(uint64_t) + (of_max ? sizeof(uint64_t) : 0) + sizeof(uint32_t) +
                        (factors ? sizeof(float) : 0);
    p->d_out = m->b.d_out;
    p->row_bytes = m->b.stride;
    p->d_out_dtype = m->b.o.d_out_dtype;
    p->cols = m->b.cols;
    p->f64_sums = how->f64_sums != 0;
    p->block = wte__alloc_array(p->allocator, room, each);
    if (!p->block) return wte__no_memory(err, room * each, "the order of a gradient's parts");
    p->bytes = (size_t)room * each;
    m->row = p->block;
    m->first = m->row + room;
    m->member = of_max ? m->first + room : NULL;
    m->from = (uint32_t *)(void *)(m->first + (of_max ? 2 : 1) * room);
    m->factor = factors ? (float *)(void *)(m->from + room) : NULL;
    p->rows = m->row;
    p->first = m->first;
    p->member = m->member;
    p->from = m->from;
    p->factor = m->factor;
    return WTE_OK;
}

void wte__parts_free(wte__parts *p)
{
    wte__free(p->allocator, p->block, p->bytes);
    *p = (wte__parts){ 0 };
}

/* Keys ----------------------------------------------------------------------------------------- */

/* The keys of ids that get something. Where bags are given, also whose each id is and how many
 * members each bag has: those that get nothing here were members all the same. */
static uint64_t list_keys(making *m, uint64_t *key)
{
    uint64_t row[WTE__IDS_BLOCK], kept[WTE__IDS_BLOCK], n = 0, b = 0;
    uint64_t end = m->bag_of ? wte__bag_begin(&m->b.bag, 1) : 0;
    for (uint64_t at = 0; at < m->b.ids.count; at += WTE__IDS_BLOCK) {
        const uint64_t left = m->b.ids.count - at;
        const uint32_t some = left < WTE__IDS_BLOCK ? (uint32_t)left : WTE__IDS_BLOCK;
        wte__ids_rows(m->b.ids, at, some, &m->b.cut, m->b.some_cut, row);
        if (m->bag_of) wte__ids_rows(m->b.ids, at, some, &m->b.bag.rules, true, kept);
        for (uint32_t i = 0; i < some; i++) {
            if (m->bag_of) {
                while (at + i >= end) end = wte__bag_begin(&m->b.bag, ++b + 1);
                m->bag_of[at + i] = (uint32_t)b;
                if (kept[i] == WTE__ZERO_ROW) continue;
                if (m->members) m->members[b]++;
            }
            key[n] = row[i] << m->position_bits | (at + i);
            n += row[i] != WTE__ZERO_ROW;
        }
    }
    return n;
}

/* One stable pass by `bits` bits from `shift` on. */
static void sort_pass(const uint64_t *from, uint64_t *to, uint64_t n, uint32_t shift, uint32_t bits)
{
    uint32_t place[1u << DIGIT_BITS] = { 0 };
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (uint64_t i = 0; i < n; i++) place[from[i] >> shift & mask]++;
    for (uint32_t d = 0, before = 0; d <= mask; d++) {
        const uint32_t some = place[d];
        place[d] = before;
        before += some;
    }
    for (uint64_t i = 0; i < n; i++) to[place[from[i] >> shift & mask]++] = from[i];
}

/* Rows and their parts ------------------------------------------------------------------------- */

/* Factors hold the weights so far. All that a part is multiplied by is one number. */
static void make_factors(const making *m, uint64_t n)
{
    for (uint64_t u = 0; u < n; u++) {
        const uint64_t begin = m->first[u], end = m->first[u + 1];
        const double times = m->b.o.scale_by_freq ? (double)(end - begin) : 1.0;
        for (uint64_t i = begin; i < end; i++) {
            const double members = m->members ? (double)m->members[m->from[i]] : 1.0;
            const double weight = (double)m->factor[i];
            m->factor[i] = (float)((double)m->b.o.scale * weight / (members * times));
        }
    }
}

/* Sorted keys lie where the rows will be: a row is never written past the key that names it. */
static void name_rows(const making *m, uint64_t count)
{
    const uint64_t mask = (UINT64_C(1) << m->position_bits) - 1;
    const float *weights = m->b.bag.o.weights;
    uint64_t n = 0, last = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t named = m->row[i] >> m->position_bits, position = m->row[i] & mask;
        if (i == 0 || named != last) {
            m->row[n] = last = named;
            m->first[n++] = i;
        }
        m->from[i] = m->bag_of ? m->bag_of[position] : (uint32_t)position;
        if (m->member) m->member[i] = position;
        if (m->factor) m->factor[i] = weights ? weights[position] : 1.0f;
    }
    m->first[n] = count;
    if (m->factor) make_factors(m, n);
    m->out->n = n;
    m->out->count = count;
}

static void put_in_order(making *m)
{
    const uint32_t bits = bits_of_count(m->b.rows), passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    const uint32_t each = passes ? (bits + passes - 1) / passes : 0;
    /* where the keys begin, so that they end where name_rows wants them */
    uint64_t *from = passes % 2 ? m->first : m->row, *to = passes % 2 ? m->row : m->first;
    const uint64_t count = list_keys(m, from);
    for (uint32_t pass = 0; pass < passes; pass++) {
        sort_pass(from, to, count, m->position_bits + pass * each, each);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    name_rows(m, count);
}

/* With what has been checked. */
static wte_status order(making *m, bool factors, bool of_max, const wte_grad_options *how,
                        wte_error *err)
{
    WTE_TRY(allocate(m, factors || m->b.o.scale != 1.0f || m->b.o.scale_by_freq, of_max, how, err));
    put_in_order(m);
    return WTE_OK;
}

wte_status wte__parts_of_lookup(uint64_t rows, uint64_t cols, wte_ids ids, const void *d_out,
                                size_t row_bytes, const wte_backward_options *opt,
                                const wte_grad_options *how, wte__parts *out, wte_error *err)
{
    making m = { .out = out };
    *out = (wte__parts){ .allocator = how->allocator };
    WTE_TRY(wte__backward_lookup(rows, cols, ids, d_out, row_bytes, opt, &m.b, err));
    WTE_TRY(check_bits(&m, err));
    return order(&m, false, false, how, err);
}

/* bag_of and, for means, members; none of it outlives the call. */
static wte_status allocate_bags(making *m, const wte_allocator *a, wte_error *err)
{
    const bool mean = m->b.bag.o.mode == WTE_BAG_MEAN;
    const uint64_t words = m->b.ids.count + 1 + (mean ? m->b.vectors : 0);
    m->bag_of = wte__alloc_array(a, words, sizeof *m->bag_of);
    if (!m->bag_of) return wte__no_memory(err, words * sizeof *m->bag_of, "the bags of ids");
    m->bag_bytes = (size_t)words * sizeof *m->bag_of;
    if (!mean) return WTE_OK;
    m->members = m->bag_of + m->b.ids.count + 1;
    memset(m->members, 0, (size_t)m->b.vectors * sizeof *m->members);
    return WTE_OK;
}

wte_status wte__parts_of_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                             const wte_backward_options *opt, const wte_grad_options *how,
                             wte__parts *out, wte_error *err)
{
    making m = { .out = out };
    *out = (wte__parts){ .allocator = how->allocator };
    WTE_TRY(wte__backward_bag(rows, cols, back, opt, how->allocator, &m.b, err));
    const wte_bag_options *o = &m.b.bag.o;
    const bool of_max = o->mode == WTE_BAG_MAX;
    if (of_max && !o->max_at)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "backward: the maximum needs max_at, as the forward call filled it");
    WTE_TRY(check_bits(&m, err));
    WTE_TRY(allocate_bags(&m, how->allocator, err));
    out->columns_of = of_max ? o->max_at : NULL;
    const wte_status status = order(&m, o->weights || o->mode == WTE_BAG_MEAN, of_max, how, err);
    wte__free(how->allocator, m.bag_of, m.bag_bytes);
    return status;
}

/* Sums ----------------------------------------------------------------------------------------- */

wte__scatter wte__parts_job(const wte__parts *p, uint64_t u, uint64_t n, uint64_t begin,
                            uint64_t end)
{
    const size_t size = wte_dtype_bytes(p->d_out_dtype);
    return (wte__scatter){ .d_out = (const uint8_t *)p->d_out + begin * size,
                           .stride = p->row_bytes,
                           .from = p->from,
                           .factor = p->factor,
                           .first = p->first + u,
                           .n = (size_t)n,
                           .known = (size_t)p->count,
                           .max_at = p->columns_of ? p->columns_of + begin : NULL,
                           .max_stride = (size_t)p->cols,
                           .member = p->member,
                           .cols = (size_t)(end - begin),
                           .f64_sums = p->f64_sums };
}

void wte__parts_run(const wte__parts *p, const wte__scatter *job)
{
    const wte__kernels *kernels = wte__kernels_get();
    if (p->d_out_dtype == WTE_F16)
        kernels->scatter_f16(job);
    else if (p->d_out_dtype == WTE_BF16)
        kernels->scatter_bf16(job);
    else
        kernels->scatter_f32(job);
}

void wte__parts_sum(const wte__parts *p, uint64_t u, uint64_t begin, uint64_t end, float *sum)
{
    wte__scatter job = wte__parts_job(p, u, 1, begin, end);
    job.out = sum;
    wte__parts_run(p, &job);
}
