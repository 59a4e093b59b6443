/* What a backward call was given, checked. Ids are judged last and before anything is changed. */
#include "optim/backward_args.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"

static wte_status take_options(const wte_backward_options *given, wte_backward_options *o,
                               wte_error *err)
{
    *o = (wte_backward_options)WTE_BACKWARD_OPTIONS_INIT;
    WTE_TRY(wte__options(o, sizeof *o, given, err));
    if (o->report) memset(o->report, 0, sizeof *o->report);
    if (o->d_out_dtype == WTE_DTYPE_NONE) o->d_out_dtype = WTE_F32;
    if (o->scale == 0) o->scale = 1.0f;
    if (o->d_out_dtype != WTE_F32 && o->d_out_dtype != WTE_F16 && o->d_out_dtype != WTE_BF16)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "backward: d_out is f32, f16 or bf16, not %s",
                         wte_dtype_name(o->d_out_dtype));
    WTE_TRY(wte__need_array(o->ignore_ids, o->n_ignore_ids, sizeof *o->ignore_ids,
                            "backward: ignore_ids", err));
    if (!isfinite(o->scale))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "backward: the scale is %g",
                         (double)o->scale);
    return WTE_OK;
}

/* The vectors that come back. */
static wte_status check_d_out(wte__backward *b, const void *d_out, size_t row_bytes, wte_error *err)
{
    const wte_dtype type = b->o.d_out_dtype;
    uint64_t tight, all;
    if (!wte__mul_u64(b->cols, sizeof(float), &tight) || tight > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "backward: a row of %" PRIu64 " f32 has more bytes than memory can hold",
                         b->cols);
    tight = b->cols * wte_dtype_bytes(type);
    if (row_bytes != 0 && row_bytes < tight)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "backward: the stride of d_out is %zu bytes, but %" PRIu64
                         " %s take %" PRIu64,
                         row_bytes, b->cols, wte_dtype_name(type), tight);
    b->d_out = d_out;
    b->stride = row_bytes ? row_bytes : (size_t)tight;
    if (!wte__mul_u64(b->vectors, b->stride, &all) || all > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "backward: %" PRIu64 " rows of %zu bytes are more than memory can hold",
                         b->vectors, b->stride);
    if (!d_out && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "backward: no address for %" PRIu64 " bytes of d_out", all);
    return WTE_OK;
}

static wte_status check_count(uint64_t count, const char *what, wte_error *err)
{
    if (count <= WTE_LIMIT_PARTS) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "backward: %" PRIu64 " %s in one call, but %" PRIu32
                     " is the most: use several calls, which add up",
                     count, what, WTE_LIMIT_PARTS);
}

/* Bags may have their own opinion of bad ids; without bags it is the first one, an error. */
static wte_status judge(const wte__backward *b, const wte__id_rules *rules, wte_error *err)
{
    wte_bad_ids bad;
    wte__ids_judge(b->ids, rules, &bad);
    if (b->o.report) *b->o.report = bad;
    if (!bad.count || b->bag.o.bad_ids == WTE_BAD_ID_ZERO) return WTE_OK;
    return wte__bad_ids_error(&bad, b->ids.count, b->rows, err);
}

static wte_status begin(uint64_t rows, uint64_t cols, wte_ids ids, const wte_backward_options *opt,
                        wte__backward *out, wte_error *err)
{
    *out = (wte__backward){ .rows = rows, .cols = cols, .ids = ids, .vectors = ids.count };
    WTE_TRY(take_options(opt, &out->o, err));
    wte__id_rules_init(&out->cut, rows, out->o.ignore_ids, out->o.n_ignore_ids);
    out->some_cut = out->o.n_ignore_ids > 0;
    return WTE_OK;
}

wte_status wte__backward_lookup(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                const wte_backward_options *opt, wte__backward *out, wte_error *err)
{
    WTE_TRY(begin(rows, cols, back->ids, opt, out, err));
    WTE_TRY(wte__ids_check(back->ids, "backward", err));
    WTE_TRY(check_count(back->ids.count, "ids", err));
    WTE_TRY(check_d_out(out, back->d_out, back->row_bytes, err));
    return judge(out, &out->cut, err);
}

/* Bad ids are judged by what bags and gradients ignore together. */
static wte_status judge_members(const wte__backward *b, const wte_allocator *allocator,
                                wte_error *err)
{
    const size_t of_bag = b->bag.o.n_ignore_ids, own = b->o.n_ignore_ids;
    wte__id_rules rules = b->bag.rules;
    uint64_t both;
    if (!own) return judge(b, &rules, err);
    int64_t *ids =
        wte__add_u64(of_bag, own, &both) ? wte__alloc_array(allocator, both, sizeof *ids) : NULL;
    if (!ids) return wte__no_memory(err, both * sizeof *ids, "the ids to ignore");
    const int64_t *left = b->bag.o.ignore_ids, *right = b->o.ignore_ids;
    for (size_t i = 0, l = 0, r = 0; i < both; i++) /* of two that ascend, one that does */
        ids[i] = r == own || (l < of_bag && left[l] <= right[r]) ? left[l++] : right[r++];
    wte__id_rules_init(&rules, b->rows, ids, (size_t)both);
    rules.mask = b->bag.rules.mask;
    rules.mask_type = b->bag.rules.mask_type;
    const wte_status status = judge(b, &rules, err);
    wte__free(allocator, ids, (size_t)both * sizeof *ids);
    return status;
}

wte_status wte__backward_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                             const wte_backward_options *opt, const wte_allocator *allocator,
                             wte__backward *out, wte_error *err)
{
    WTE_TRY(begin(rows, cols, back->ids, opt, out, err));
    WTE_TRY(wte__bag_take(back->ids, back->offsets, back->bag, &out->bag, err));
    if (out->bag.o.normalize)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "backward: bags that were normalized have no gradient here");
    out->bags = true;
    out->vectors = out->bag.n_bags;
    WTE_TRY(check_count(out->ids.count, "ids", err));
    WTE_TRY(check_count(out->vectors, "bags", err));
    WTE_TRY(check_d_out(out, back->d_out, back->row_bytes, err));
    wte__bag_rules(&out->bag, rows);
    return judge_members(out, allocator ? allocator : out->bag.o.allocator, err);
}
