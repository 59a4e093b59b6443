/* The lookup call: what it accepts, how bad ids are told. Reading ids is in ids.c, copying rows in
 * gather.c. The ids are judged first, all of them, so that a failing call writes nothing. */
#include <wte/lookup.h>

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "lookup/gather.h"
#include "lookup/ids.h"

static wte_status check_ids(wte_ids ids, wte_error *err)
{
    if (ids.type != WTE_U16 && ids.type != WTE_I32 && ids.type != WTE_U32 && ids.type != WTE_I64)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "lookup: ids of type %s, but ids are u16, i32, u32 or i64",
                         wte_dtype_name(ids.type));
    if (!ids.data && ids.count)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "lookup: %" PRIu64 " ids, but no address of them", ids.count);
    return WTE_OK;
}

static wte_status check_options(const wte_lookup_options *o, wte_dtype stored, wte_error *err)
{
    if (o->bad_ids != WTE_BAD_ID_ERROR && o->bad_ids != WTE_BAD_ID_ZERO)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "lookup: no policy for bad ids has the number %d", (int)o->bad_ids);
    if (!o->ignore_ids && o->n_ignore_ids)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "lookup: %zu ids to ignore, but no address of them", o->n_ignore_ids);
    if (o->out_dtype != stored &&
        (!wte_dtype_converts(stored) || !wte_dtype_converts(o->out_dtype)))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "lookup: rows of type %s cannot be converted to %s",
                         wte_dtype_name(stored), wte_dtype_name(o->out_dtype));
    return WTE_OK;
}

/* Sizes of an output row, and whether the whole output can exist. */
static wte_status check_output(wte__gather_job *job, size_t row_bytes, wte_error *err)
{
    const uint64_t cols = job->rows->cols;
    uint64_t in, out, all;
    if (!wte_mul_u64(cols, wte_dtype_bytes(job->rows->dtype), &in) ||
        !wte_mul_u64(cols, wte_dtype_bytes(job->out_type), &out) || in > SIZE_MAX || out > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "lookup: a row of %" PRIu64 " %s has more bytes than memory can hold",
                         cols, wte_dtype_name(job->out_type));
    if (row_bytes != 0 && row_bytes < out)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "lookup: output rows lie %zu bytes apart, but %" PRIu64
                         " %s take %" PRIu64,
                         row_bytes, cols, wte_dtype_name(job->out_type), out);
    job->in_bytes = (size_t)in;
    job->out_bytes = (size_t)out;
    job->out_stride = row_bytes ? row_bytes : (size_t)out;
    if (!wte_mul_u64(job->ids.count, job->out_stride, &all) || all > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "lookup: %" PRIu64 " rows of %zu bytes are more than memory can hold",
                         job->ids.count, job->out_stride);
    if (!job->out && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "lookup: no address for %" PRIu64 " bytes of output", all);
    return WTE_OK;
}

/* What the first bad id suggests. */
static const char *hint(int64_t id, uint64_t rows)
{
    if (id < 0) return "; ids never count from the end: name padding such as -100 as ignored";
    if ((uint64_t)id == rows) return "; equal to the number of rows: ids count from zero";
    return "";
}

static wte_status bad_ids_error(const wte_bad_ids *bad, uint64_t n_ids, uint64_t rows,
                                wte_error *err)
{
    const uint64_t position = bad->first[0].position;
    const int64_t id = bad->first[0].value;
    char range[48] = "there are none, the table is empty";
    if (rows > 0) snprintf(range, sizeof range, "ids 0..%" PRIu64, rows - 1);
    return wte__fail(err, WTE_E_RANGE, position,
                     "id %" PRId64 " at position %" PRIu64 " is out of range: valid %s; %" PRIu64
                     " of %" PRIu64 " ids bad%s",
                     id, position, range, bad->count, n_ids, hint(id, rows));
}

wte_status wte_lookup_rows(const wte_rows *rows, wte_ids ids, const wte_lookup_options *opt,
                           void *out, size_t row_bytes, wte_error *err)
{
    wte_lookup_options o = WTE_LOOKUP_OPTIONS_INIT;
    wte__gather_job job = { .rows = rows, .ids = ids, .out = out };
    wte_bad_ids bad;
    WTE_TRY(wte__options(&o, sizeof o, opt, err));
    if (o.report) memset(o.report, 0, sizeof *o.report);
    WTE_TRY(wte_rows_check(rows, err));
    WTE_TRY(check_ids(ids, err));
    if (o.out_dtype == WTE_DTYPE_NONE) o.out_dtype = rows->dtype;
    WTE_TRY(check_options(&o, rows->dtype, err));
    job.out_type = o.out_dtype;
    job.pool = o.pool;
    job.allocator = o.allocator;
    WTE_TRY(check_output(&job, row_bytes, err));
    wte__id_rules_init(&job.rules, rows->rows, o.ignore_ids, o.n_ignore_ids);
    wte__ids_judge(ids, &job.rules, &bad);
    if (o.report) *o.report = bad;
    if (bad.count && o.bad_ids == WTE_BAD_ID_ERROR)
        return bad_ids_error(&bad, ids.count, rows->rows, err);
    job.zeros = bad.count || bad.ignored;
    return job.out_bytes && ids.count ? wte__gather(&job, err) : WTE_OK;
}
