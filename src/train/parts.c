/* The parts of a gradient, put in order: which row each belongs to, where it comes from, and by
 * what it is multiplied. Row and position of an id are one number, and these are sorted by the row
 * (radix, stable), so that the parts of a row stay in the order of ids whoever sorts them. */
#include "train/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "lookup/bag.h"
#include "num/kernels.h"

/* Bits of a row number that one pass sorts by: the counters of 2^11 values stay in the cache. */
#define DIGIT_BITS 11u

/* What is being made, and of what. */
typedef struct making {
    wte_ids ids;
    uint64_t rows;
    wte_backward_options o;
    uint64_t vectors;       /* of d_out */
    uint32_t position_bits; /* of a key: the row's number stands above them */
    /* of bags */
    wte__bag_job bag;
    uint32_t *bag_of;  /* of each id */
    uint32_t *members; /* of each bag; for means */
    size_t scratch_bytes;
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

/* Checks --------------------------------------------------------------------------------------- */

static wte_status take_options(const wte_backward_options *given, making *m, wte_error *err)
{
    wte_backward_options *o = &m->o;
    *o = (wte_backward_options)WTE_BACKWARD_OPTIONS_INIT;
    WTE_TRY(wte__options(o, sizeof *o, given, err));
    if (o->report) memset(o->report, 0, sizeof *o->report);
    if (o->d_out_dtype == WTE_DTYPE_NONE) o->d_out_dtype = WTE_F32;
    if (o->scale == 0) o->scale = 1.0f;
    if (o->d_out_dtype != WTE_F32 && o->d_out_dtype != WTE_F16 && o->d_out_dtype != WTE_BF16)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "backward: d_out is f32, f16 or bf16, not %s",
                         wte_dtype_name(o->d_out_dtype));
    if (!o->ignore_ids && o->n_ignore_ids)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "backward: %zu ids to ignore, but no address of them", o->n_ignore_ids);
    if (!isfinite(o->scale))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE, "backward: the scale is %g",
                         (double)o->scale);
    return WTE_OK;
}

/* The vectors that come back. */
static wte_status check_d_out(making *m, const void *d_out, size_t row_bytes, uint64_t cols,
                              wte_error *err)
{
    const wte_dtype type = m->o.d_out_dtype;
    uint64_t tight, all;
    if (!wte_mul_u64(cols, sizeof(float), &tight) || tight > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "backward: a row of %" PRIu64 " f32 has more bytes than memory can hold",
                         cols);
    tight = cols * wte_dtype_bytes(type);
    if (row_bytes != 0 && row_bytes < tight)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "backward: rows of d_out lie %zu bytes apart, but %" PRIu64
                         " %s take %" PRIu64,
                         row_bytes, cols, wte_dtype_name(type), tight);
    const size_t stride = row_bytes ? row_bytes : (size_t)tight;
    if (!wte_mul_u64(m->vectors, stride, &all) || all > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "backward: %" PRIu64 " rows of %zu bytes are more than memory can hold",
                         m->vectors, stride);
    if (!d_out && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "backward: no address for %" PRIu64 " bytes of d_out", all);
    m->out->d_out = d_out;
    m->out->row_bytes = stride;
    m->out->d_out_dtype = type;
    m->out->cols = cols;
    return WTE_OK;
}

/* Positions and rows that fit into 64 bits together. */
static wte_status check_count(making *m, wte_error *err)
{
    if (m->ids.count > WTE_LIMIT_PARTS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "backward: %" PRIu64 " ids in one call, but %" PRIu32
                         " is the most: use several calls, which add up",
                         m->ids.count, WTE_LIMIT_PARTS);
    m->position_bits = bits_of_count(m->ids.count);
    if (m->position_bits + bits_of_count(m->rows) <= 64) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                     "backward: %" PRIu64 " ids in one call are too many for a table of %" PRIu64
                     " rows: use several calls, which add up",
                     m->ids.count, m->rows);
}

/* Bags may have their own opinion of bad ids. */
static wte_status judge(const making *m, const wte__id_rules *rules, wte_error *err)
{
    wte_bad_ids bad;
    wte__ids_judge(m->ids, rules, &bad);
    if (m->o.report) *m->o.report = bad;
    if (!bad.count || m->bag.o.bad_ids == WTE_BAD_ID_ZERO) return WTE_OK;
    return wte__bad_ids_error(&bad, m->ids.count, m->rows, err);
}

/* Memory --------------------------------------------------------------------------------------- */

/* One block for all that a wte__parts points at; what belongs to a part has room for every id. */
static wte_status allocate(making *m, bool factors, bool of_max, const wte_grad_options *how,
                           wte_error *err)
{
    wte__parts *p = m->out;
    const uint64_t room = m->ids.count + 1;
    const size_t each = 2 * sizeof(uint64_t) + (of_max ? sizeof(uint64_t) : 0) + sizeof(uint32_t) +
                        (factors ? sizeof(float) : 0);
    p->allocator = how->allocator;
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
    wte__id_rules cut;
    uint64_t row[WTE__IDS_BLOCK], kept[WTE__IDS_BLOCK], n = 0, b = 0;
    uint64_t end = m->bag_of ? wte__bag_begin(&m->bag, 1) : 0;
    wte__id_rules_init(&cut, m->rows, m->o.ignore_ids, m->o.n_ignore_ids);
    for (uint64_t at = 0; at < m->ids.count; at += WTE__IDS_BLOCK) {
        const uint64_t left = m->ids.count - at;
        const uint32_t some = left < WTE__IDS_BLOCK ? (uint32_t)left : WTE__IDS_BLOCK;
        wte__ids_rows(m->ids, at, some, &cut, m->o.n_ignore_ids > 0, row);
        if (m->bag_of) wte__ids_rows(m->ids, at, some, &m->bag.rules, true, kept);
        for (uint32_t i = 0; i < some; i++) {
            if (m->bag_of) {
                while (at + i >= end) end = wte__bag_begin(&m->bag, ++b + 1);
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
        const double times = m->o.scale_by_freq ? (double)(end - begin) : 1.0;
        for (uint64_t i = begin; i < end; i++) {
            const double members = m->members ? (double)m->members[m->from[i]] : 1.0;
            const double weight = (double)m->factor[i];
            m->factor[i] = (float)((double)m->o.scale * weight / (members * times));
        }
    }
}

/* Sorted keys lie where the rows will be: a row is never written past the key that names it. */
static void name_rows(const making *m, uint64_t count)
{
    const uint64_t mask = (UINT64_C(1) << m->position_bits) - 1;
    const float *weights = m->bag.o.weights;
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
    const uint32_t bits = bits_of_count(m->rows), passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
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

wte_status wte__parts_of_lookup(uint64_t rows, uint64_t cols, wte_ids ids, const void *d_out,
                                size_t row_bytes, const wte_backward_options *opt,
                                const wte_grad_options *how, wte__parts *out, wte_error *err)
{
    making m = { .ids = ids, .rows = rows, .vectors = ids.count, .out = out };
    wte__id_rules rules;
    *out = (wte__parts){ 0 };
    WTE_TRY(take_options(opt, &m, err));
    WTE_TRY(wte__ids_check(ids, "backward", err));
    WTE_TRY(check_count(&m, err));
    WTE_TRY(check_d_out(&m, d_out, row_bytes, cols, err));
    wte__id_rules_init(&rules, rows, m.o.ignore_ids, m.o.n_ignore_ids);
    WTE_TRY(judge(&m, &rules, err));
    WTE_TRY(allocate(&m, m.o.scale != 1.0f || m.o.scale_by_freq, false, how, err));
    put_in_order(&m);
    return WTE_OK;
}

/* Bags ----------------------------------------------------------------------------------------- */

static wte_status check_bag(const wte_bag_options *o, wte_error *err)
{
    if (o->normalize)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "backward: bags that were normalized have no gradient here");
    if (o->mode == WTE_BAG_MAX && !o->max_at)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "backward: the maximum needs max_at, as the forward call filled it");
    return WTE_OK;
}

/* Bad ids are judged by what bags and gradients ignore together. */
static wte_status judge_members(const making *m, wte_error *err)
{
    const size_t of_bag = m->bag.o.n_ignore_ids, own = m->o.n_ignore_ids;
    const wte_allocator *allocator = m->out->allocator;
    wte__id_rules rules = m->bag.rules;
    uint64_t both;
    if (!own) return judge(m, &rules, err);
    int64_t *ids =
        wte_add_u64(of_bag, own, &both) ? wte__alloc_array(allocator, both, sizeof *ids) : NULL;
    if (!ids) return wte__no_memory(err, both * sizeof *ids, "the ids to ignore");
    if (of_bag) memcpy(ids, m->bag.o.ignore_ids, of_bag * sizeof *ids);
    memcpy(ids + of_bag, m->o.ignore_ids, own * sizeof *ids);
    wte__id_rules_init(&rules, m->rows, ids, (size_t)both);
    rules.mask = m->bag.rules.mask;
    rules.mask_type = m->bag.rules.mask_type;
    const wte_status status = judge(m, &rules, err);
    wte__free(allocator, ids, (size_t)both * sizeof *ids);
    return status;
}

/* bag_of and, for means, members; none of it outlives the call. */
static wte_status allocate_bags(making *m, wte_error *err)
{
    const wte_allocator *a = m->out->allocator;
    const bool mean = m->bag.o.mode == WTE_BAG_MEAN;
    const uint64_t words = m->ids.count + 1 + (mean ? m->bag.n_bags : 0);
    m->bag_of = wte__alloc_array(a, words, sizeof *m->bag_of);
    if (!m->bag_of) return wte__no_memory(err, words * sizeof *m->bag_of, "whose ids are");
    m->scratch_bytes = (size_t)words * sizeof *m->bag_of;
    if (!mean) return WTE_OK;
    m->members = m->bag_of + m->ids.count + 1;
    memset(m->members, 0, (size_t)m->bag.n_bags * sizeof *m->members);
    return WTE_OK;
}

wte_status wte__parts_of_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                             const wte_backward_options *opt, const wte_grad_options *how,
                             wte__parts *out, wte_error *err)
{
    making m = { .ids = back->ids, .rows = rows, .out = out };
    *out = (wte__parts){ .allocator = how->allocator };
    WTE_TRY(take_options(opt, &m, err));
    WTE_TRY(wte__bag_take(back->ids, back->offsets, back->bag, &m.bag, err));
    WTE_TRY(check_bag(&m.bag.o, err));
    WTE_TRY(check_count(&m, err));
    m.vectors = m.bag.n_bags;
    if (m.vectors > WTE_LIMIT_PARTS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "backward: %" PRIu64 " bags in one call, but %" PRIu32
                         " is the most: use several calls, which add up",
                         m.vectors, WTE_LIMIT_PARTS);
    WTE_TRY(check_d_out(&m, back->d_out, back->row_bytes, cols, err));
    wte__bag_rules(&m.bag, rows);
    WTE_TRY(judge_members(&m, err));
    const wte_bag_options *o = &m.bag.o;
    WTE_TRY(allocate_bags(&m, err));
    const wte_status status = allocate(
        &m, m.o.scale != 1.0f || m.o.scale_by_freq || o->weights || o->mode == WTE_BAG_MEAN,
        o->mode == WTE_BAG_MAX, how, err);
    if (status == WTE_OK) {
        if (o->mode == WTE_BAG_MAX) out->columns_of = o->max_at;
        put_in_order(&m);
    }
    wte__free(how->allocator, m.bag_of, m.scratch_bytes);
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
