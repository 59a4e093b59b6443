/* Logits as a matrix: of all rows, or of chosen ones. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "head/logit_stats.h"
#include "head/tile.h"

wte_status wte_head_workspace_size(const wte_row_source *table, const wte_hidden *hidden,
                                   const wte_head_options *opt, uint64_t *least, uint64_t *best,
                                   wte_error *err)
{
    wte_head_options o;
    if (least) *least = 0;
    WTE_TRY(wte__need_out(best, sizeof *best, "wte_head_workspace_size: best", err));
    if (!least) return wte__need(NULL, "wte_head_workspace_size: least", err);
    WTE_TRY(wte__head_check(table, hidden, opt, &o, err));
    wte__logit_stats_need(table, hidden, &o, least, best);
    /* logits themselves take all vectors at once where they can */
    const wte__logit_tiles s = { .table = table, .hidden = hidden, .o = o };
    uint64_t least_logits, best_logits;
    wte__logit_tiles_need(&s, &least_logits, &best_logits);
    if (*least < least_logits) *least = least_logits;
    if (*best < best_logits) *best = best_logits;
    return WTE_OK;
}

/* Checks the output of n columns, and sets its stride. */
static wte_status check_logits(wte__logit_tiles *s, uint64_t n, size_t row_bytes, wte_error *err)
{
    const wte_hidden *hidden = s->hidden;
    uint64_t tight, all;
    if (!wte__mul_u64(n, 4, &tight) || tight > SIZE_MAX ||
        !wte__mul_u64(row_bytes > tight ? row_bytes : tight, hidden->n, &all) || all > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: %" PRIu64 " x %" PRIu64 " logits are more than memory can hold",
                         hidden->n, n);
    if (row_bytes && (row_bytes < tight || row_bytes % 4))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "head: the stride of logits is %zu bytes, but one takes %" PRIu64
                         " and floats are at multiples of 4",
                         row_bytes, tight);
    if (!s->logits && all)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "head: no address for the logits");
    s->stride = (row_bytes ? row_bytes : (size_t)tight) / 4;
    return wte__head_no_overlap(
        s, (wte__piece){ "the output", s->logits, hidden->n, tight, s->stride * sizeof(float) },
        err);
}

/* Column j of every row of logits becomes -infinity when its row of the table is masked. */
static void mask(const wte__logit_tiles *s, uint64_t n)
{
    if (!s->o.n_valid && !s->o.valid) return;
    for (uint64_t j = 0; j < n; j++) {
        if (!wte__head_masks(&s->o, wte__logit_tiles_row(s, j))) continue;
        for (uint64_t i = 0; i < s->hidden->n; i++) s->logits[i * s->stride + j] = -INFINITY;
    }
}

wte_status wte_head_logits(const wte_row_source *table, const wte_hidden *hidden,
                           const wte_head_options *opt, float *logits, size_t row_bytes,
                           wte_error *err)
{
    wte__logit_tiles s = { .table = table, .hidden = hidden, .logits = logits };
    WTE_TRY(wte__head_check(table, hidden, opt, &s.o, err));
    WTE_TRY(check_logits(&s, table->rows, row_bytes, err));
    if (hidden->n == 0 || table->rows == 0) return WTE_OK;
    wte__progress_state told = { s.o.progress, 0, wte__times(hidden->n, table->rows) };
    s.told = &told;
    WTE_TRY(wte__logit_tiles_run(&s, err));
    mask(&s, table->rows);
    return WTE_OK;
}

static wte_status check_ids(const wte_row_source *table, wte_ids ids, wte_error *err)
{
    for (uint64_t i = 0; i < ids.count; i++) {
        const int64_t id = wte_ids_at(ids, i);
        if (id < 0 || (uint64_t)id >= table->rows)
            return wte__fail(err, WTE_E_RANGE, i,
                             "head: id %" PRId64 " at position %" PRIu64
                             " is out of range: the table has %" PRIu64 " rows",
                             id, i, table->rows);
    }
    return WTE_OK;
}

wte_status wte_head_logits_at(const wte_row_source *table, const wte_hidden *hidden, wte_ids ids,
                              const wte_head_options *opt, float *logits, size_t row_bytes,
                              wte_error *err)
{
    wte__logit_tiles s = { .table = table, .hidden = hidden, .logits = logits, .chosen = &ids };
    WTE_TRY(wte__head_check(table, hidden, opt, &s.o, err));
    WTE_TRY(check_logits(&s, ids.count, row_bytes, err));
    if (ids.type != WTE_U16 && ids.type != WTE_I32 && ids.type != WTE_U32 && ids.type != WTE_I64)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "head: ids of type %s, but ids are u16, i32, u32 or i64",
                         wte_dtype_name(ids.type));
    if (ids.count == 0 || hidden->n == 0) return WTE_OK;
    WTE_TRY(wte__need_array(ids.data, ids.count, wte_dtype_bytes(ids.type), "head: ids", err));
    WTE_TRY(check_ids(table, ids, err));
    WTE_TRY(wte__no_overlap_with_ids(
        "head", (wte__piece){ "the output", logits, hidden->n, ids.count * 4, s.stride * 4 }, ids,
        err));
    wte__progress_state told = { s.o.progress, 0, wte__times(hidden->n, ids.count) };
    s.told = &told;
    WTE_TRY(wte__logit_tiles_run(&s, err));
    mask(&s, ids.count);
    return WTE_OK;
}
