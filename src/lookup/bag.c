/* The calls about bags: what they accept, how many bags there are. The reduction is in bag_run.c.
 * Options and offsets are judged first, all of them; ids too, or while rows are reduced. */
#include "lookup/bag.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "num/overlap.h"

static wte_status check_mask(const wte_bag_options *o, wte_error *err)
{
    if (!o->mask) return WTE_OK;
    switch (o->mask_dtype) {
    case WTE_BOOL:
    case WTE_U8:
    case WTE_I8:
    case WTE_I32:
    case WTE_I64:
    case WTE_F32: return WTE_OK;
    default:
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags: a mask of type %s, but masks are bool, u8, i8, i32, i64 or f32",
                         wte_dtype_name(o->mask_dtype));
    }
}

static wte_status check_options(const wte_bag_options *o, wte_error *err)
{
    if (o->mode != WTE_BAG_SUM && o->mode != WTE_BAG_MEAN && o->mode != WTE_BAG_MAX)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "bags: no mode has the number %d",
                         (int)o->mode);
    if (o->bad_ids != WTE_BAD_ID_ERROR && o->bad_ids != WTE_BAD_ID_ZERO)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags: no policy for bad ids has the number %d", (int)o->bad_ids);
    WTE_TRY(wte__norm_numbers_check(o->max_norm, o->norm_type, "bags", err));
    WTE_TRY(wte__need_array(o->ignore_ids, o->n_ignore_ids, sizeof *o->ignore_ids,
                            "bags: ignore_ids", err));
    if (o->weights && o->mode != WTE_BAG_SUM)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags: weights are for sums, not for the %s",
                         o->mode == WTE_BAG_MEAN ? "mean" : "maximum");
    if (o->argmax && o->mode != WTE_BAG_MAX)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags: max_at is for the maximum, not for the %s",
                         o->mode == WTE_BAG_MEAN ? "mean" : "sum");
    if (o->out_dtype != WTE_F32 && o->out_dtype != WTE_F16 && o->out_dtype != WTE_BF16)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "bags come out as f32, f16 or bf16, not as %s",
                         wte_dtype_name(o->out_dtype));
    return check_mask(o, err);
}

static wte_status take_options(const wte_bag_options *given, wte_bag_options *o, wte_error *err)
{
    *o = (wte_bag_options)WTE_BAG_OPTIONS_INIT;
    WTE_TRY(wte__options(o, sizeof *o, given, err));
    WTE_TRY(wte__need_functions(o->allocator, NULL, err));
    if (o->out_dtype == WTE_DTYPE_NONE) o->out_dtype = WTE_F32;
    return check_options(o, err);
}

/* Every bag has ids_per_bag ids. */
static wte_status count_equal_bags(wte__bag_job *job, wte_error *err)
{
    const uint64_t each = job->o.ids_per_bag;
    if (job->offsets.count || job->o.include_last_offset)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags of %" PRIu64 " ids each need no offsets, but there are %" PRIu64,
                         each, job->offsets.count);
    if (job->ids.count % each)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%" PRIu64 " ids are not a multiple of %" PRIu64, job->ids.count, each);
    job->n_bags = job->ids.count / each;
    return WTE_OK;
}

/* Offsets that run from 0 upwards and not past the ids. */
static wte_status check_offsets(const wte__bag_job *job, wte_error *err)
{
    uint64_t before = 0;
    for (uint64_t b = 0; b < job->offsets.count; b++) {
        const int64_t offset = wte__offset_at(job, b);
        if (b == 0 && offset != 0)
            return wte__fail(err, WTE_E_ARGUMENT, 0,
                             "bags: the first offset is %" PRId64 ", but the first bag begins at 0",
                             offset);
        if (offset < 0 || (uint64_t)offset < before)
            return wte__fail(err, WTE_E_ARGUMENT, b,
                             "bags: offset %" PRIu64 " is %" PRId64 ", less than the %" PRIu64
                             " before it",
                             b, offset, before);
        if ((uint64_t)offset > job->ids.count)
            return wte__fail(err, WTE_E_ARGUMENT, b,
                             "bags: offset %" PRIu64 " is %" PRId64 ", but there are %" PRIu64
                             " ids",
                             b, offset, job->ids.count);
        before = (uint64_t)offset;
    }
    return WTE_OK;
}

static wte_status count_bags(wte__bag_job *job, wte_error *err)
{
    const uint64_t n = job->offsets.count;
    WTE_TRY(wte__ids_check(job->ids, "bags", err));
    if (job->o.ids_per_bag) return count_equal_bags(job, err);
    WTE_TRY(wte__ids_check(job->offsets, "bags, offsets", err));
    if (n == 0 && (job->ids.count || job->o.include_last_offset))
        return wte__fail(
            err, WTE_E_ARGUMENT, 0, "bags: no offsets, but %" PRIu64 " ids%s", job->ids.count,
            job->o.include_last_offset ? ", and the last offset is to be their end" : "");
    WTE_TRY(check_offsets(job, err));
    job->n_bags = n;
    if (!job->o.include_last_offset) return WTE_OK;
    const uint64_t last = (uint64_t)wte__offset_at(job, n - 1);
    if (last != job->ids.count)
        return wte__fail(err, WTE_E_ARGUMENT, n - 1,
                         "bags: the last offset is %" PRIu64 ", but there are %" PRIu64
                         " ids, and those after it would be in no bag",
                         last, job->ids.count);
    job->n_bags = n - 1;
    return WTE_OK;
}

wte_status wte__bag_take(wte_ids ids, wte_ids offsets, const wte_bag_options *given,
                         wte__bag_job *job, wte_error *err)
{
    job->ids = ids;
    job->offsets = offsets;
    WTE_TRY(take_options(given, &job->o, err));
    return count_bags(job, err);
}

void wte__bag_rules(wte__bag_job *job, uint64_t rows)
{
    wte__id_rules_init(&job->rules, rows, job->o.ignore_ids, job->o.n_ignore_ids);
    job->rules.mask = job->o.mask;
    job->rules.mask_type = job->o.mask_dtype;
}

wte_status wte_bag_count(wte_ids ids, wte_ids offsets, const wte_bag_options *opt, uint64_t *bags,
                         wte_error *err)
{
    wte__bag_job job = { 0 };
    WTE_TRY(wte__need(bags, "wte_bag_count: bags", err));
    *bags = 0;
    WTE_TRY(wte__bag_take(ids, offsets, opt, &job, err));
    *bags = job.n_bags;
    return WTE_OK;
}

/* Sizes of an output row, and whether the whole output can exist. */
static wte_status check_output(wte__bag_job *job, size_t row_bytes, wte_error *err)
{
    const uint64_t cols = job->rows->cols;
    uint64_t tight, wide, all;
    if (!wte__mul_u64(cols, sizeof(float), &wide) || wide > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "bags: a row of %" PRIu64 " f32 has more bytes than memory can hold",
                         cols);
    tight = cols * wte_dtype_bytes(job->o.out_dtype);
    if (row_bytes != 0 && row_bytes < tight)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags: the output stride is %zu bytes, but %" PRIu64 " %s take %" PRIu64,
                         row_bytes, cols, wte_dtype_name(job->o.out_dtype), tight);
    job->out_stride = row_bytes ? row_bytes : (size_t)tight;
    if (!wte__mul_u64(job->n_bags, job->out_stride, &all) || all > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " bags of %zu bytes are more than memory can hold", job->n_bags,
                         job->out_stride);
    if (!job->out && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "bags: no address for %" PRIu64 " bytes of output", all);
    const wte__piece piece = { "the output", job->out, job->n_bags, tight, job->out_stride };
    WTE_TRY(wte__no_overlap_with_source("bags", piece, job->rows, err));
    return wte__no_overlap_with_ids("bags", piece, job->ids, err);
}

wte_status wte__bag_judge(wte__bag_job *job, wte_error *err)
{
    wte_bad_ids bad;
    wte__ids_judge(job->ids, &job->rules, &bad);
    if (job->o.report) *job->o.report = bad;
    if (bad.count && job->o.bad_ids == WTE_BAD_ID_ERROR)
        return wte__bad_ids_error(&bad, job->ids.count, job->rows->rows, err);
    job->some_missing = bad.count || bad.ignored || job->o.mask;
    return WTE_OK;
}

wte_status wte_bag_reduce(const wte_row_source *rows, wte_ids ids, wte_ids offsets,
                          const wte_bag_options *opt, void *out, size_t row_bytes, wte_error *err)
{
    wte__bag_job job = { .rows = rows, .ids = ids, .offsets = offsets, .out = out };
    WTE_TRY(take_options(opt, &job.o, err));
    if (job.o.report) memset(job.o.report, 0, sizeof *job.o.report);
    WTE_TRY(wte_check_rows(rows, err));
    if (!wte_dtype_converts(rows->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "bags: rows of type %s cannot be converted to f32",
                         wte_dtype_name(rows->dtype));
    if (job.o.max_norm != 0)
        WTE_TRY(wte__norm_limit_init(&job.limit, job.o.max_norm, job.o.norm_type, rows->dtype,
                                     "bags", err));
    WTE_TRY(count_bags(&job, err));
    WTE_TRY(check_output(&job, row_bytes, err));
    wte__bag_rules(&job, rows->rows);
    return job.n_bags ? wte__bag_run(&job, err) : WTE_OK;
}
