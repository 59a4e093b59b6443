/* Where a vector parts from the lookup it should have come from.
 *
 * First the row asked for, changed in every way we know; then all rows of the table; then, only
 * while nothing fits: the output head, the table read with its axes exchanged, and other tensors of
 * the same width. The simplest explanation that fits every number wins (tally.c); when none does,
 * the answer is "unknown" and the nearest row is shown beside it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "inspect/diagnose.h"

#define BATCH           64u /* vectors searched for in one pass */
#define MAX_OTHER_BYTES (UINT64_C(8) << 30)

typedef struct job {
    const wte_row_source *table;
    wte_ids ids;
    const uint64_t *row_of; /* or NULL */
    const wte_observed *got;
    wte_diagnose_options opt;
    wte__hypothesis_rule rule[WTE__RULES];
    size_t n_rules;
    wte__grid grid;
    size_t n;         /* numbers of one vector */
    size_t row_bytes; /* of one row of the table */
    wte_diagnosis *out;
    /* room for BATCH cases */
    wte__case cases[BATCH];
    double *numbers; /* value, row asked for, target of each case */
    uint8_t *stored; /* row asked for of each case */
    size_t numbers_bytes, stored_bytes;
    int64_t offset; /* of the last vector that was another row; 0 = none yet */
    uint64_t not_searched;
} job;

static uint64_t row_asked(const job *j, uint64_t i)
{
    return j->row_of ? j->row_of[i] : (uint64_t)wte_ids_at(j->ids, i);
}

/* Results -------------------------------------------------------------------------------------- */

/* Hypotheses of this kind that were tried. */
static double tried_of_kind(const job *j, const wte__case *k, const wte_hypothesis *g)
{
    switch (g->label) {
    case WTE_LABEL_MATCH: return 1;
    case WTE_LABEL_SCALED:
    case WTE_LABEL_NORMALISED:
    case WTE_LABEL_BYTE_SWAPPED:
    case WTE_LABEL_NARROWED:
    case WTE_LABEL_UNROUNDED: return (double)j->n_rules;
    case WTE_LABEL_OTHER_ROW:
        if (g->change == WTE_LABEL_UNKNOWN) return (double)j->table->rows;
        break;
    case WTE_LABEL_UNKNOWN:
    case WTE_LABEL_HEAD_ROW:
    case WTE_LABEL_OTHER_TENSOR:
    case WTE_LABEL_COLUMN_NOT_ROW:
    case WTE_LABEL_TRANSPOSED_MEMORY:
    case WTE_LABEL_RESHAPED:
    case WTE_LABEL_PLUS_ROW:
    case WTE_LABEL_ZEROS:
    case WTE_LABEL_NONFINITE:
    case WTE_LABEL_FORCE_INT: break;
    }
    return (double)k->tried;
}

static wte_hypothesis finished(const job *j, const wte__case *k, const wte__search_entry *entry)
{
    wte_hypothesis g = entry->guess;
    if (g.n == 0) return g;
    if (g.label == WTE_LABEL_OTHER_ROW) g.offset = (int64_t)g.row - (int64_t)k->row;
    if (g.n_matching < g.n) return g;
    g.expected_false_matches = tried_of_kind(j, k, &g) * pow(10, entry->log_chance);
    g.confidence =
        1 / ((g.label == WTE_LABEL_MATCH ? 1 : (double)g.n_same) + g.expected_false_matches);
    return g;
}

static wte_step step_of(const job *j, const wte_diagnosis *d)
{
    switch (d->best.label) {
    case WTE_LABEL_MATCH: return WTE_STEP_NONE;
    case WTE_LABEL_OTHER_ROW: /* the mapping was passed over */
        return j->row_of && d->best.row == d->id ? WTE_STEP_ID : WTE_STEP_ROW;
    case WTE_LABEL_HEAD_ROW:
    case WTE_LABEL_OTHER_TENSOR:
    case WTE_LABEL_COLUMN_NOT_ROW:
    case WTE_LABEL_TRANSPOSED_MEMORY:
    case WTE_LABEL_RESHAPED: return WTE_STEP_ROW;
    case WTE_LABEL_UNKNOWN:
    case WTE_LABEL_SCALED:
    case WTE_LABEL_NORMALISED:
    case WTE_LABEL_BYTE_SWAPPED:
    case WTE_LABEL_NARROWED:
    case WTE_LABEL_UNROUNDED:
    case WTE_LABEL_PLUS_ROW:
    case WTE_LABEL_ZEROS:
    case WTE_LABEL_NONFINITE:
    case WTE_LABEL_FORCE_INT: break;
    }
    return WTE_STEP_VECTOR;
}

static void finish_case(job *j, wte__case *k)
{
    wte_diagnosis *d = &j->out[k->index];
    memset(d, 0, sizeof *d);
    wte_hypothesis *second = &k->tally.second.guess;
    second->n_same = second->n ? 1 : 0; /* only the best one's are counted */
    second->same[0] = second->row;
    d->id = (uint64_t)wte_ids_at(j->ids, k->index);
    d->row = k->row;
    d->n_hypotheses = k->tried;
    d->not_searched = j->not_searched;
    if (wte__hypotheses_explained(&k->tally)) {
        d->best = finished(j, k, &k->tally.best);
        d->runner_up = finished(j, k, &k->tally.second);
    } else {
        const wte__observed *g = &k->given;
        d->runner_up = finished(j, k, &k->tally.best);
        d->best = (wte_hypothesis){ .n = g->n, .row = WTE_NO_INDEX, .distance = 1, .factor = 1 };
        if (g->zeros == g->n) d->best.label = WTE_LABEL_ZEROS;
        if (g->nonfinite) d->best.label = WTE_LABEL_NONFINITE;
    }
    if (d->best.label == WTE_LABEL_OTHER_ROW) j->offset = d->best.offset;
    d->first_difference = step_of(j, d);
    wte__diagnose_report(d, &k->given, j->table->rows, j->row_of != NULL, j->opt.name);
}

/* Search --------------------------------------------------------------------------------------- */

/* The cases that nothing explains yet, but perhaps an unknown factor; returns how many. */
static size_t unexplained(job *j, size_t n, wte__case *left[BATCH])
{
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        const wte__observed *g = &j->cases[i].given;
        if (wte__hypotheses_settled(&j->cases[i].tally) || g->zeros == g->n) continue;
        left[n_left++] = &j->cases[i];
    }
    return n_left;
}

static wte_status search_tensor(job *j, const wte_named_source *tensor, wte__source_kind place,
                                wte__case *const *cases, size_t n, wte_error *err)
{
    const wte_row_source *rows = &tensor->rows;
    wte__hypothesis_rule rule[WTE__RULES];
    if (rows->cols != j->table->cols || rows->rows == 0 || !wte_dtype_converts(rows->dtype))
        return WTE_OK;
    const size_t n_rules = wte__rules(rows->cols, rows->dtype, j->got->dtype, j->opt.factor, rule);
    const wte__search search = { rows, tensor->name, place, j->got->dtype, rule, n_rules, &j->opt };
    return wte__search_run(&search, cases, n, err);
}

static wte_status search_others(job *j, size_t n, wte_error *err)
{
    uint64_t budget = j->opt.max_other_bytes ? j->opt.max_other_bytes : MAX_OTHER_BYTES;
    wte__case *left[BATCH] = { NULL };
    j->not_searched = 0;
    for (size_t i = 0; i < j->opt.n_others; i++) {
        const wte_named_source *other = &j->opt.others[i];
        const uint64_t shape[2] = { other->rows.rows, other->rows.cols };
        uint64_t bytes;
        const size_t n_left = unexplained(j, n, left);
        if (n_left == 0) return WTE_OK;
        if (other->rows.cols != j->table->cols) continue;
        if (!wte__shape_bytes(shape, 2, wte_dtype_bytes(other->rows.dtype), &bytes) ||
            bytes > budget) {
            j->not_searched++;
            continue;
        }
        budget -= bytes;
        WTE_TRY(search_tensor(j, other, WTE__OTHER, left, n_left, err));
    }
    return WTE_OK;
}

/* Everything beyond the rows asked for, for the first n cases; then their results. */
static wte_status run_batch(job *j, size_t n, wte_error *err)
{
    wte__case *left[BATCH] = { NULL };
    const bool as_rows = j->n == j->table->cols;
    const wte_named_source table = { j->opt.name, *j->table };
    for (size_t i = 0; i < n; i++) left[i] = &j->cases[i];
    if (as_rows) WTE_TRY(search_tensor(j, &table, WTE__TABLE, left, n, err));
    size_t n_left = unexplained(j, n, left);
    if (as_rows && n_left && j->opt.head)
        WTE_TRY(search_tensor(j, j->opt.head, WTE__HEAD, left, n_left, err));
    n_left = unexplained(j, n, left);
    for (size_t i = 0; i < n_left; i++)
        WTE_TRY(wte__try_layouts(j->table, left[i], j->opt.name, &j->opt, err));
    if (as_rows) WTE_TRY(search_others(j, n, err));
    for (size_t i = 0; i < n; i++) finish_case(j, &j->cases[i]);
    return WTE_OK;
}

/* Cases ---------------------------------------------------------------------------------------- */

static wte__row table_row(const job *j, const void *raw, uint64_t index, uint64_t asked)
{
    return (wte__row){ .raw = raw,
                       .dtype = j->table->dtype,
                       .grid = j->grid,
                       .tensor = j->opt.name,
                       .index = index,
                       .own = index == asked,
                       .tried = (double)j->n_rules };
}

/* When earlier vectors were another row, this one is probably off by as much. */
static wte_status try_offset(job *j, wte__case *k, wte_error *err)
{
    const int64_t row = (int64_t)k->row + j->offset;
    if (j->offset == 0 || row < 0 || (uint64_t)row >= j->table->rows) return WTE_OK;
    uint8_t *raw = (uint8_t *)k->target; /* as wide as a row of any type */
    WTE_TRY(wte_row_source_read(j->table, (uint64_t)row, raw, err));
    const wte__row there = table_row(j, raw, (uint64_t)row, k->row);
    wte__fit fit;
    k->tried++;
    if (!wte__fit_rule(&k->given, &there, &j->rule[0], false, &fit)) return WTE_OK;
    const wte__search_entry entry = wte__entry_make(&k->given, &there, &j->rule[0], 0, &fit);
    wte__hypotheses_offer(&k->tally, &entry);
    return WTE_OK;
}

static wte_status prepare_case(job *j, uint64_t i, size_t slot, wte_error *err)
{
    wte__case *k = &j->cases[slot];
    memset(k, 0, sizeof *k);
    double *numbers = j->numbers + 3 * slot * j->n;
    k->own = j->stored + slot * j->row_bytes;
    k->own_f64 = numbers + j->n;
    k->target = numbers + 2 * j->n;
    k->index = i;
    k->row = row_asked(j, i);
    WTE_TRY(wte__observed_fill(&k->given, j->got, i, j->table->dtype, numbers, err));
    if (j->n != j->table->cols) return WTE_OK;
    WTE_TRY(wte_row_source_read(j->table, k->row, k->own, err));
    WTE_TRY(wte_convert(j->table->dtype, k->own, WTE_F64, k->own_f64, j->n, NULL, err));
    const wte__row own = table_row(j, k->own, k->row, k->row);
    wte__hypotheses_own_table(k, &own, j->rule, j->n_rules);
    return WTE_OK;
}

static wte_status run_job(job *j, wte_error *err)
{
    const bool many = j->ids.count > BATCH;
    size_t used = 0;
    for (uint64_t i = 0; i < j->ids.count; i++) {
        wte__case *k = &j->cases[used];
        WTE_TRY(prepare_case(j, i, used, err));
        if (many && !wte__hypotheses_settled(&k->tally)) WTE_TRY(try_offset(j, k, err));
        if (many && wte__hypotheses_settled(&k->tally))
            finish_case(j, k);
        else
            used++;
        if (used == BATCH) {
            WTE_TRY(run_batch(j, used, err));
            used = 0;
        }
    }
    return used ? run_batch(j, used, err) : WTE_OK;
}

/* Arguments ------------------------------------------------------------------------------------ */

static wte_status check_ids(const wte_row_source *table, wte_ids ids, wte_error *err)
{
    const bool known =
        ids.type == WTE_U16 || ids.type == WTE_I32 || ids.type == WTE_U32 || ids.type == WTE_I64;
    if (!known || (ids.count && !ids.data))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "ids must be u16, i32, u32 or i64, not %s", wte_dtype_name(ids.type));
    for (uint64_t i = 0; i < ids.count; i++) {
        const int64_t id = wte_ids_at(ids, i);
        if (id >= 0 && (uint64_t)id < table->rows) continue;
        if (table->rows == 0)
            return wte__fail(
                err, WTE_E_RANGE, i,
                "id %" PRId64 " at position %" PRIu64 " has no row; the table is empty", id, i);
        return wte__fail(err, WTE_E_RANGE, i,
                         "id %" PRId64 " at position %" PRIu64
                         " has no row; valid ids are 0..%" PRIu64,
                         id, i, table->rows - 1);
    }
    return WTE_OK;
}

static wte_status check_shape(const wte_row_source *table, wte_ids ids, const wte_observed *got,
                              wte_error *err)
{
    if (!wte_dtype_converts(table->dtype) || !wte_dtype_converts(got->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "numbers of type %s cannot be compared with a table of type %s",
                         wte_dtype_name(got->dtype), wte_dtype_name(table->dtype));
    if (table->cols == 0)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX, "the table has no columns");
    if (got->n != ids.count)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%" PRIu64 " vector%s given for %" PRIu64 " id%s", got->n,
                         got->n == 1 ? " was" : "s were", ids.count, ids.count == 1 ? "" : "s");
    if (got->n && got->cols && !got->data)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "no numbers were given");
    const bool as_column = got->cols == table->rows && got->n == 1;
    if (got->cols == table->cols || as_column) return WTE_OK;
    return wte__fail(err, WTE_E_SHAPE, got->cols,
                     "the vector has %" PRIu64 " number%s, but a row of the table has %" PRIu64,
                     got->cols, got->cols == 1 ? "" : "s", table->cols);
}

/* A vector as long as the table has rows that is no column after all is a vector too long. */
static wte_status check_column(const job *j, wte_error *err)
{
    if (j->n == j->table->cols || j->out[0].best.label == WTE_LABEL_COLUMN_NOT_ROW ||
        j->out[0].best.label == WTE_LABEL_RESHAPED)
        return WTE_OK;
    return wte__fail(err, WTE_E_SHAPE, j->n,
                     "the vector has %zu numbers, but a row of the table has %" PRIu64
                     "; the table has %" PRIu64 " rows, yet none of its columns is that vector",
                     j->n, j->table->cols, j->table->rows);
}

static wte_status make_room(job *j, wte_error *err)
{
    const uint64_t batch = j->ids.count < BATCH ? j->ids.count : BATCH;
    const wte_allocator *a = j->opt.allocator;
    uint64_t numbers, stored;
    if (!wte__mul_u64(3 * batch * sizeof(double), j->got->cols, &numbers) ||
        !wte__mul_u64(batch * wte_dtype_bytes(j->table->dtype), j->table->cols, &stored) ||
        numbers > SIZE_MAX / 2 || stored > SIZE_MAX / 2)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "rows of %" PRIu64 " numbers are too long",
                         j->table->cols);
    j->n = (size_t)j->got->cols;
    j->row_bytes = (size_t)(stored / batch);
    j->numbers_bytes = (size_t)numbers;
    j->stored_bytes = (size_t)stored;
    j->numbers = wte__alloc(a, j->numbers_bytes);
    j->stored = wte__alloc(a, j->stored_bytes);
    if (j->numbers && j->stored) return WTE_OK;
    return wte__no_memory(err, numbers + stored, "the vectors under diagnosis");
}

wte_status wte__diagnose_options_check(const wte_diagnose_options *opt, wte_error *err)
{
    WTE_TRY(wte__need_array(opt->others, opt->n_others, sizeof *opt->others, "others", err));
    if (isfinite(opt->factor)) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "diagnose: factor is %g", opt->factor);
}

wte_status wte__diagnose(const wte_row_source *table, wte_ids ids, const uint64_t *row_of,
                         const wte_observed *got, const wte_diagnose_options *options,
                         wte_diagnosis *out, wte_error *err)
{
    WTE_TRY(wte__need(got, "diagnose: got", err));
    if (ids.count) WTE_TRY(wte__need(out, "diagnose: out", err));
    WTE_TRY(wte_check_rows(table, err));
    if (!row_of) WTE_TRY(check_ids(table, ids, err));
    WTE_TRY(check_shape(table, ids, got, err));
    if (ids.count == 0) return WTE_OK;
    job *j = wte__alloc_zeroed(options->allocator, sizeof *j);
    if (!j) return wte__no_memory(err, sizeof *j, "a diagnosis");
    j->table = table;
    j->ids = ids;
    j->row_of = row_of;
    j->got = got;
    j->opt = *options;
    if (!j->opt.name) j->opt.name = "the table";
    if (j->opt.factor == 0) j->opt.factor = 1;
    j->out = out;
    j->grid = wte__grid_of(wte__tolerance_type(table->dtype, got->dtype));
    j->n_rules = wte__rules(table->cols, table->dtype, got->dtype, j->opt.factor, j->rule);
    wte_status status = make_room(j, err);
    if (status == WTE_OK) status = run_job(j, err);
    if (status == WTE_OK) status = check_column(j, err);
    wte__free(options->allocator, j->numbers, j->numbers_bytes);
    wte__free(options->allocator, j->stored, j->stored_bytes);
    wte__free(options->allocator, j, sizeof *j);
    return status;
}

wte_status wte_diagnose_rows(const wte_row_source *table, wte_ids ids, const wte_observed *got,
                             const wte_diagnose_options *options, wte_diagnosis *out,
                             wte_error *err)
{
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(wte__diagnose_options_check(&opt, err));
    return wte__diagnose(table, ids, NULL, got, &opt, out, err);
}
