/* The lookup call: its arguments and its reports of invalid ids. ids.c reads ids, gather.c copies
 * rows. All ids are validated first, so that a failing call writes nothing. */
#include <wte/lookup.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "lookup/gather.h"
#include "lookup/ids.h"
#include "num/overlap.h"

static wte_status check_options(const wte_lookup_options *o, wte_dtype stored, wte_error *err)
{
    if (o->bad_ids != WTE_BAD_ID_ERROR && o->bad_ids != WTE_BAD_ID_ZERO)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "lookup: no policy for bad ids has the number %d", (int)o->bad_ids);
    WTE_TRY(wte__need_array(o->ignore_ids, o->n_ignore_ids, sizeof *o->ignore_ids,
                            "lookup: ignore_ids", err));
    if (o->out_dtype != stored &&
        (!wte_dtype_converts(stored) || !wte_dtype_converts(o->out_dtype)))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "lookup: rows of type %s cannot be converted to %s",
                         wte_dtype_name(stored), wte_dtype_name(o->out_dtype));
    if (!isfinite(o->scale))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "lookup: the scale is %g",
                         (double)o->scale);
    if (o->scale != 1.0f &&
        (!wte_dtype_converts(stored) ||
         (o->out_dtype != WTE_F32 && o->out_dtype != WTE_F16 && o->out_dtype != WTE_BF16)))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "lookup: rows of %s that become %s cannot be multiplied; f32, f16 and "
                         "bf16 can come out",
                         wte_dtype_name(stored), wte_dtype_name(o->out_dtype));
    return WTE_OK;
}

/* Sizes of an output row, and whether the whole output can exist. */
static wte_status check_output(wte__gather_job *job, size_t row_bytes, wte_error *err)
{
    const uint64_t cols = job->rows->cols;
    uint64_t in, out, all;
    if (!wte__mul_u64(cols, wte_dtype_bytes(job->rows->dtype), &in) ||
        !wte__mul_u64(cols, wte_dtype_bytes(job->out_type), &out) || in > SIZE_MAX ||
        out > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "lookup: a row of %" PRIu64 " %s has more bytes than memory can hold",
                         cols, wte_dtype_name(job->out_type));
    if (row_bytes != 0 && row_bytes < out)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "lookup: the output stride is %zu bytes, but %" PRIu64 " %s take %" PRIu64,
                         row_bytes, cols, wte_dtype_name(job->out_type), out);
    job->out_bytes = (size_t)out;
    job->out_stride = row_bytes ? row_bytes : (size_t)out;
    if (!wte__mul_u64(job->ids.count, job->out_stride, &all) || all > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "lookup: %" PRIu64 " rows of %zu bytes are more than memory can hold",
                         job->ids.count, job->out_stride);
    if (!job->out && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "lookup: no address for %" PRIu64 " bytes of output", all);
    const wte__piece piece = { "the output", job->out, job->ids.count, out, job->out_stride };
    WTE_TRY(wte__no_overlap_with_source("lookup", piece, job->rows, err));
    return wte__no_overlap_with_ids("lookup", piece, job->ids, err);
}

wte_status wte_lookup(const wte_row_source *rows, wte_ids ids, const wte_lookup_options *opt,
                      void *out, size_t row_bytes, wte_error *err)
{
    wte_lookup_options o = WTE_LOOKUP_OPTIONS_INIT;
    wte__gather_job job = { .rows = rows, .ids = ids, .out = out };
    wte_bad_ids bad;
    WTE_TRY(wte__options(&o, sizeof o, opt, err));
    WTE_TRY(wte__need_functions(o.allocator, NULL, err));
    WTE_TRY(wte__norm_numbers_check(o.max_norm, o.norm_type, "lookup", err));
    if (o.report) memset(o.report, 0, sizeof *o.report);
    WTE_TRY(wte_check_rows(rows, err));
    WTE_TRY(wte__ids_check(ids, "lookup", err));
    if (o.out_dtype == WTE_DTYPE_NONE) o.out_dtype = rows->dtype;
    if (o.scale == 0) o.scale = 1.0f;
    WTE_TRY(check_options(&o, rows->dtype, err));
    if (o.max_norm != 0)
        WTE_TRY(
            wte__norm_limit_init(&job.limit, o.max_norm, o.norm_type, rows->dtype, "lookup", err));
    job.out_type = o.out_dtype;
    job.scale = o.scale;
    job.pool = o.pool;
    job.allocator = o.allocator;
    WTE_TRY(check_output(&job, row_bytes, err));
    wte__id_rules_init(&job.rules, rows->rows, o.ignore_ids, o.n_ignore_ids);
    wte__ids_judge(ids, &job.rules, &bad);
    if (o.report) *o.report = bad;
    if (bad.count && o.bad_ids == WTE_BAD_ID_ERROR)
        return wte__bad_ids_error(&bad, ids.count, rows->rows, err);
    job.zeros = bad.count || bad.ignored;
    return job.out_bytes && ids.count ? wte__gather(&job, err) : WTE_OK;
}
