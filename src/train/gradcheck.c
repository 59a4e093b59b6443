/* Gradients against differences: what is given is checked, rows and columns are chosen, operations
 * are run. */
#include "train/gradcheck.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <wte/lookup.h>

#include "base/checked.h"
#include "base/limits.h"
#include "lookup/ids.h"
#include "num/philox.h"

#define DEFAULT_COLUMNS   16u
#define DEFAULT_TOLERANCE 1e-3
#define FLOOR             1e-3 /* of the unit: below it an error is not told relatively */
#define OTHER_ROWS        4u   /* that no id names; a head has gradients for these too */
#define STREAM            40u  /* numbers of streams: each has 2^40 draws */

enum { STREAM_COLUMNS = 100, STREAM_ROWS };

const char *wte_gradcheck_name(wte_gradcheck_op op)
{
    switch (op) {
#define X(name, value, text)                                                                       \
    case WTE_GRADCHECK_##name: return text;
        WTE_GRADCHECK_LIST(X)
#undef X
    default: return "unknown";
    }
}

/* What the operations use ---------------------------------------------------------------------- */

uint64_t wte__gradcheck_place(const wte__gradcheck *g, uint64_t row)
{
    uint64_t low = 0, high = g->n_rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (g->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double draw(const wte__gradcheck *g, uint64_t stream, uint64_t i)
{
    return wte__uniform(g->o.seed, (stream << STREAM) + i);
}

void wte__gradcheck_draw(const wte__gradcheck *g, uint64_t stream, float *out, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) out[i] = (float)(2 * draw(g, stream, i) - 1);
}

wte_gradcheck_result *wte__gradcheck_begin(wte__gradcheck *g, const char *name, double unit)
{
    const wte_gradcheck_place none = { WTE_NO_INDEX, WTE_NO_INDEX, (double)NAN, (double)NAN };
    wte_gradcheck_result *r = &g->results[(*g->n_results)++];
    *r = (wte_gradcheck_result){
        .gradient = name, .floor = FLOOR * (unit > 0 ? unit : 1), .at = none, .relative_at = none
    };
    return r;
}

/* A gradient that is not finite is as wrong as can be. */
void wte__gradcheck_compare(const wte__gradcheck *g, wte_gradcheck_result *r, uint64_t row,
                            uint64_t col, double gradient, double difference)
{
    const wte_gradcheck_place place = { row, col, gradient, difference };
    double error = fabs(gradient - difference);
    if (!isfinite(error)) error = (double)INFINITY;
    const double size = fmax(r->floor, fmax(fabs(gradient), fabs(difference)));
    const double relative = isfinite(error) ? error / size : error;
    if (r->compared == 0 || error > r->largest) {
        r->largest = error;
        r->at = place;
    }
    if (r->compared == 0 || relative > r->relative) {
        r->relative = relative;
        r->relative_at = place;
    }
    r->compared++;
    r->wrong += relative > g->o.tolerance;
}

wte_status wte__gradcheck_tell(wte__gradcheck *g, uint64_t entries, wte_error *err)
{
    const wte_progress *p = g->o.progress;
    g->told += entries;
    if (!p || p->report(p->ctx, g->told, g->total)) return WTE_OK;
    return wte__fail(err, WTE_E_CANCELLED, g->told,
                     "stopped after %" PRIu64 " of %" PRIu64 " entries", g->told, g->total);
}

/* What is given -------------------------------------------------------------------------------- */

static wte_status take_ids(wte__gradcheck *g, wte_ids ids, wte_error *err)
{
    for (uint64_t i = 0; i < g->n; i++) {
        g->ids[i] = wte_ids_at(ids, i);
        if (g->ids[i] < 0 || (uint64_t)g->ids[i] >= g->table->rows)
            return wte__fail(err, WTE_E_RANGE, i,
                             "id %" PRId64 " at position %" PRIu64 " has no row; there are %" PRIu64
                             " rows, counted from zero",
                             g->ids[i], i, g->table->rows);
    }
    return WTE_OK;
}

#define IGNORED (-100) /* as a target; what a head takes by default */
static wte_status take_targets(wte__gradcheck *g, wte_error *err)
{
    const wte_ids given = g->o.targets;
    if (given.data && given.count != g->n)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX, "%" PRIu64 " targets, but %" PRIu64 " ids",
                         given.count, g->n);
    for (uint64_t i = 0; i < g->n; i++) {
        g->target[i] = given.data ? wte_ids_at(given, i) : g->ids[(i + 1) % g->n];
        if (g->target[i] == IGNORED) continue;
        if (g->target[i] < 0 || (uint64_t)g->target[i] >= g->table->rows)
            return wte__fail(err, WTE_E_RANGE, i,
                             "target %" PRId64 " at position %" PRIu64
                             " has no row; there are %" PRIu64 " rows, counted from zero",
                             g->target[i], i, g->table->rows);
    }
    return WTE_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Rows of ids; of a head also those of targets, and some that neither names. */
static void choose_rows(wte__gradcheck *g, bool head)
{
    uint64_t n = 0, kept = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        g->rows[n++] = (uint64_t)g->ids[i];
        if (head && g->target[i] >= 0) g->rows[n++] = (uint64_t)g->target[i];
    }
    for (uint64_t i = 0; head && i < OTHER_ROWS; i++) {
        const uint64_t row = (uint64_t)(draw(g, STREAM_ROWS, i) * (double)g->table->rows);
        if (row < g->table->rows) g->rows[n++] = row;
    }
    qsort(g->rows, (size_t)n, sizeof *g->rows, by_number);
    for (uint64_t i = 0; i < n; i++)
        if (i == 0 || g->rows[i] != g->rows[kept - 1]) g->rows[kept++] = g->rows[i];
    g->n_rows = kept;
}

/* Each column with the same chance, in order: algorithm S of Knuth, 3.4.2. */
static void choose_columns(wte__gradcheck *g)
{
    for (uint64_t c = 0, taken = 0; taken < g->n_columns; c++) {
        const double left = (double)(g->cols - c), wanted = (double)(g->n_columns - taken);
        if (draw(g, STREAM_COLUMNS, c) * left < wanted) g->columns[taken++] = c;
    }
}

static wte_status read_rows(wte__gradcheck *g, wte_error *err)
{
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.out_dtype = WTE_F64;
    for (uint64_t i = 0; i < g->n_rows; i++) {
        const int64_t id = (int64_t)g->rows[i];
        double *x = g->x + i * g->cols;
        WTE_TRY(wte_lookup(g->table, (wte_ids){ &id, WTE_I64, 0, 1 }, &opt, x, 0, err));
        for (uint64_t c = 0; c < g->cols; c++) {
            x[c] = (double)(float)x[c]; /* what lookups and heads compute with */
            if (!isfinite(x[c]))
                return wte__fail(err, WTE_E_RANGE, g->rows[i],
                                 "row %" PRIu64 ", column %" PRIu64 ": %g has no slope around it",
                                 g->rows[i], c, x[c]);
            g->largest = fmax(g->largest, fabs(x[c]));
        }
    }
    return WTE_OK;
}

static wte_status check_given(const wte__gradcheck *g, wte_ids ids, wte_error *err)
{
    WTE_TRY(wte_check_rows(g->table, err));
    if (!wte_dtype_converts(g->table->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "rows of type %s have no numbers",
                         wte_dtype_name(g->table->dtype));
    if (ids.count == 0 || g->cols == 0)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%" PRIu64 " ids and %" PRIu64 " columns: there is nothing to compare",
                         ids.count, g->cols);
    WTE_TRY(wte__need(ids.data, "wte_gradcheck: ids", err));
    WTE_TRY(wte__ids_check(ids, "wte_gradcheck: ids", err));
    if (g->o.targets.data || g->o.targets.count)
        WTE_TRY(wte__ids_check(g->o.targets, "wte_gradcheck: targets", err));
    if (ids.count > WTE_LIMIT_GRADCHECK_IDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " ids, but gradients of at most %u are compared", ids.count,
                         WTE_LIMIT_GRADCHECK_IDS);
    const int64_t padding = g->o.padding_id;
    if (g->o.has_padding && (padding < 0 || (uint64_t)padding >= g->table->rows))
        return wte__fail(err, WTE_E_RANGE, WTE_NO_INDEX,
                         "the padding id %" PRId64 " has no row; there are %" PRIu64
                         " rows, counted from zero",
                         padding, g->table->rows);
    if (!(g->o.tolerance > 0) || !isfinite(g->o.tolerance))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "a tolerance of %g", g->o.tolerance);
    return WTE_OK;
}

static wte_status run_op(wte__gradcheck *g, wte_gradcheck_op op, wte_error *err)
{
    const bool head = op >= WTE_GRADCHECK_HEAD;
    choose_rows(g, head);
    choose_columns(g);
    WTE_TRY(read_rows(g, err));
    if (head) return wte__gradcheck_loss(g, op, err);
    return (op == WTE_GRADCHECK_BAG ? wte__gradcheck_bag : wte__gradcheck_lookup)(g, err);
}

static wte_status prepare(wte__gradcheck *g, wte_ids ids, wte_error *err)
{
    if (!g->ids || !g->target || !g->rows || !g->x || !g->columns)
        return wte__no_memory(err, g->n * g->cols * sizeof *g->x, "rows in f64");
    WTE_TRY(take_ids(g, ids, err));
    return take_targets(g, err);
}

wte_status wte__gradcheck_run(wte__gradcheck *g, wte_ids ids, wte_gradcheck_op op,
                              const wte_gradcheck_options *options, wte_error *err)
{
    const wte_gradcheck_options init = WTE_GRADCHECK_OPTIONS_INIT;
    g->o = init;
    WTE_TRY(wte__options(&g->o, sizeof g->o, options, err));
    WTE_TRY(wte__need_functions(g->o.allocator, g->o.progress, err));
    if (g->o.tolerance == 0) g->o.tolerance = DEFAULT_TOLERANCE;
    if (g->o.columns == 0) g->o.columns = DEFAULT_COLUMNS;
    g->n = ids.count;
    g->cols = g->table->cols;
    g->n_columns = g->o.columns < g->cols ? g->o.columns : g->cols;
    WTE_TRY(check_given(g, ids, err));
    const wte_allocator *a = g->o.allocator;
    const uint64_t most = 2 * g->n + OTHER_ROWS;
    uint64_t cells;
    if (!wte__mul_u64(most, g->cols, &cells)) cells = UINT64_MAX;
    g->ids = wte__alloc_array(a, g->n, sizeof *g->ids);
    g->target = wte__alloc_array(a, g->n, sizeof *g->target);
    g->rows = wte__alloc_array(a, most, sizeof *g->rows);
    g->x = wte__alloc_array(a, cells, sizeof *g->x);
    g->columns = wte__alloc_array(a, g->n_columns, sizeof *g->columns);
    wte_status status = prepare(g, ids, err);
    if (status == WTE_OK) status = run_op(g, op, err);
    wte__free(a, g->ids, (size_t)g->n * sizeof *g->ids);
    wte__free(a, g->target, (size_t)g->n * sizeof *g->target);
    wte__free(a, g->rows, (size_t)most * sizeof *g->rows);
    wte__free(a, g->x, (size_t)cells * sizeof *g->x);
    wte__free(a, g->columns, (size_t)g->n_columns * sizeof *g->columns);
    return status;
}

wte_status wte_gradcheck(const wte_row_source *table, wte_ids ids, wte_gradcheck_op op,
                         const wte_gradcheck_options *opt, wte_gradcheck_result *results, size_t *n,
                         wte_error *err)
{
    wte__gradcheck g = { .table = table, .results = results, .n_results = n };
    WTE_TRY(wte__need(n, "wte_gradcheck: n", err));
    *n = 0;
    WTE_TRY(wte__need(results, "wte_gradcheck: results", err));
    WTE_TRY(wte__need(table, "wte_gradcheck: table", err));
    if (op < WTE_GRADCHECK_LOOKUP || op > WTE_GRADCHECK_TIED)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "no operation has the number %d",
                         (int)op);
    const wte_status status = wte__gradcheck_run(&g, ids, op, opt, err);
    if (status != WTE_OK) *n = 0;
    return status;
}
