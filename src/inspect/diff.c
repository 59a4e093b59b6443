/* What became of the rows of one table in another. A is passed over in blocks; the rows of B that
 * belong to a block are read beside it. Rows whose bytes are equal cost a comparison of memory;
 * only the others are widened and measured, in f64. */
#include <wte/near.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "inspect/row_scan.h"
#include "inspect/topk_heap.h"
#include "num/source.h"

/* Unrelated vectors of n numbers have cosines of about 1 / sqrt(n): within four of these nearly
 * all. For few numbers that says nothing, and half is taken. */
#define COSINE_SPREADS 4.0
#define COSINE_MOST    0.5
/* A norm that changed by less is taken as kept. */
#define NORM_CHANGE 0.01

typedef struct lane {
    uint8_t *a;            /* one row of A */
    uint8_t *b;            /* `room` rows of B */
    double *a_f64, *b_f64; /* a row each */
    uint64_t *ids;         /* of the rows of B */
    size_t room;           /* rows */
    wte_diff sums;
    wte_near_hit *most; /* a heap of the n_most rows of A that moved farthest */
    wte_status status;
    wte_error error;
} lane;

typedef struct job {
    const wte_row_source *a, *b;
    const wte_diff_options *opt;
    lane *lanes;
    uint32_t n_lanes;
    size_t a_bytes, b_bytes; /* of a row */
    double cosine_limit;
    uint8_t *used; /* rows of B that were compared; NULL without b_of */
    uint64_t max_most;
} job;

const char *wte_change_name(wte_change change)
{
    static const char *const names[] = {
#define X(name, value, text) text,
        WTE_CHANGE_LIST(X)
#undef X
    };
    return (unsigned)change < WTE_CHANGES ? names[change] : "unknown";
}

/* One row ------------------------------------------------------------------------------------- */

static bool equal_values(const double *a, const double *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) return false;
    return true;
}

static void measure(const double *a, const double *b, uint64_t n, wte_row_change *out)
{
    double apart = 0, aa = 0, bb = 0, ab = 0, largest = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double d = b[i] - a[i];
        apart += d * d;
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        ab += a[i] * b[i];
        if (fabs(d) > largest) largest = fabs(d);
    }
    out->distance = sqrt(apart);
    out->norm_a = sqrt(aa);
    out->norm_b = sqrt(bb);
    out->largest = largest;
    out->relative = aa > 0 ? out->distance / out->norm_a : (double)INFINITY;
    out->cosine = aa > 0 && bb > 0 ? ab / (out->norm_a * out->norm_b) : (double)NAN;
}

static bool all_finite(const double *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static wte_change change_of(const job *j, const wte_row_change *c)
{
    if (c->norm_a == 0) return WTE_CHANGE_WAS_ZERO;
    if (c->norm_b == 0) return WTE_CHANGE_BECAME_ZERO;
    const bool unrelated = fabs(c->cosine) <= j->cosine_limit;
    const bool norm_changed = fabs(c->norm_b - c->norm_a) > NORM_CHANGE * c->norm_a;
    return unrelated && norm_changed ? WTE_CHANGE_REINITIALISED : WTE_CHANGE_MOVED;
}

static void compare_values(const job *j, lane *l, wte_row_change *out)
{
    const uint64_t n = j->a->cols;
    if (equal_values(l->a_f64, l->b_f64, n)) {
        out->change = WTE_CHANGE_SAME_VALUES;
    } else if (!all_finite(l->a_f64, n) || !all_finite(l->b_f64, n)) {
        out->change = WTE_CHANGE_NONFINITE;
        out->distance = out->relative = out->largest = (double)INFINITY;
        out->cosine = out->norm_a = out->norm_b = (double)NAN;
    } else {
        measure(l->a_f64, l->b_f64, n, out);
        out->change = change_of(j, out);
    }
}

/* Sums ---------------------------------------------------------------------------------------- */

static void keep_most(const job *j, lane *l, wte_near_hit hit)
{
    if (j->max_most && wte__topk_heap_takes(l->most, l->sums.n_largest, j->max_most, &hit))
        wte__topk_heap_put(l->most, &l->sums.n_largest, j->max_most, hit);
}

static void count_decade(wte_diff *sums, double relative)
{
    static const double below[] = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1 };
    uint32_t decade = 0;
    while (decade < WTE_DECADES - 1 && !(relative < below[decade])) decade++;
    sums->decade[decade]++;
}

static void count(const job *j, lane *l, const wte_row_change *c)
{
    wte_diff *sums = &l->sums;
    sums->count[c->change]++;
    if (j->opt->changes) j->opt->changes[c->a] = (uint8_t)c->change;
    if (c->change == WTE_CHANGE_ONLY_IN_A) return;
    sums->compared++;
    if (c->change < WTE_CHANGE_MOVED) return;
    sums->changed++;
    if (c->a < sums->first_changed) sums->first_changed = c->a;
    if (c->change != WTE_CHANGE_WAS_ZERO && c->change != WTE_CHANGE_NONFINITE)
        count_decade(sums, c->relative);
    keep_most(j, l, (wte_near_hit){ c->a, c->distance });
}

/* The pass ------------------------------------------------------------------------------------ */

static uint64_t partner(const job *j, uint64_t row)
{
    if (j->opt->b_of) return j->opt->b_of[row];
    return row < j->b->rows ? row : WTE_NO_INDEX;
}

static wte_status read_by_ids(const job *j, lane *l, size_t n)
{
    if (j->b->read_rows) return wte__source_rows(j->b, l->ids, n, l->b, &l->error);
    for (size_t i = 0; i < n; i++)
        WTE_TRY(wte_row_source_read(j->b, l->ids[i], l->b + i * j->b_bytes, &l->error));
    return WTE_OK;
}

/* The partners of rows first .. first + n - 1 that there are, one after the other. */
static wte_status read_partners(const job *j, lane *l, uint64_t first, size_t n)
{
    size_t found = 0;
    bool in_a_row = true;
    for (size_t i = 0; i < n; i++) {
        const uint64_t b = partner(j, first + i);
        if (b == WTE_NO_INDEX) continue;
        in_a_row = in_a_row && (found == 0 || b == l->ids[found - 1] + 1);
        l->ids[found++] = b;
    }
    if (found == 0) return WTE_OK;
    if (in_a_row) return wte_row_source_read_block(j->b, l->ids[0], found, l->b, &l->error);
    return read_by_ids(j, l, found);
}

static wte_status compare_row(const job *j, lane *l, const uint8_t *a, const uint8_t *b,
                              wte_row_change *c, wte_error *err)
{
    const size_t n = (size_t)j->a->cols;
    if (j->a->dtype == j->b->dtype && memcmp(a, b, j->a_bytes) == 0) {
        c->change = WTE_CHANGE_SAME_BITS;
        return WTE_OK;
    }
    WTE_TRY(wte_convert(j->a->dtype, a, WTE_F64, l->a_f64, n, NULL, err));
    WTE_TRY(wte_convert(j->b->dtype, b, WTE_F64, l->b_f64, n, NULL, err));
    compare_values(j, l, c);
    return WTE_OK;
}

static wte_status compare_rows(const job *j, lane *l, uint64_t first, size_t n, const uint8_t *a)
{
    const uint8_t *b = l->b;
    WTE_TRY(read_partners(j, l, first, n));
    for (size_t i = 0; i < n; i++) {
        wte_row_change c = { .a = first + i, .b = partner(j, first + i) };
        c.change = WTE_CHANGE_ONLY_IN_A;
        if (c.b != WTE_NO_INDEX) {
            WTE_TRY(compare_row(j, l, a + i * j->a_bytes, b, &c, &l->error));
            b += j->b_bytes;
        }
        count(j, l, &c);
    }
    return WTE_OK;
}

/* A block may have any number of rows: it is taken in pieces. */
static void visit(void *ctx, uint32_t lane_number, uint64_t first, size_t n, const void *raw,
                  const void *values)
{
    const job *j = ctx;
    lane *l = &j->lanes[lane_number];
    (void)values;
    for (size_t done = 0; done < n && l->status == WTE_OK; done += l->room) {
        const size_t now = n - done < l->room ? n - done : l->room;
        l->status = compare_rows(j, l, first + done, now, (const uint8_t *)raw + done * j->a_bytes);
    }
}

static bool failed(void *ctx)
{
    const job *j = ctx;
    for (uint32_t i = 0; i < j->n_lanes; i++)
        if (j->lanes[i].status != WTE_OK) return true;
    return false;
}

/* The whole ----------------------------------------------------------------------------------- */

#define PIECE_BYTES (256u << 10) /* of B, read at once: with A's it stays in the L2 cache */

static wte_status check_partners(const job *j, wte_error *err)
{
    const uint64_t *b_of = j->opt->b_of;
    for (uint64_t i = 0; b_of && i < j->a->rows; i++)
        if (b_of[i] != WTE_NO_INDEX && b_of[i] >= j->b->rows)
            return wte__fail(err, WTE_E_RANGE, i,
                             "row %" PRIu64 " of A is to be compared with row %" PRIu64
                             " of B, which has %" PRIu64 " rows",
                             i, b_of[i], j->b->rows);
    return WTE_OK;
}

static wte_status check_arguments(const job *j, wte_error *err)
{
    const wte_row_source *tables[] = { j->a, j->b };
    for (int i = 0; i < 2; i++) {
        WTE_TRY(wte_check_rows(tables[i], err));
        if (!wte_dtype_converts(tables[i]->dtype))
            return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                             "rows of type %s have no numbers", wte_dtype_name(tables[i]->dtype));
    }
    if (j->a->cols != j->b->cols || j->a->cols == 0)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "rows of %" PRIu64 " numbers cannot be compared with rows of %" PRIu64,
                         j->a->cols, j->b->cols);
    if (j->opt->max_largest && !j->opt->largest)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "most is NULL, with room for %" PRIu64 " rows", j->opt->max_largest);
    return check_partners(j, err);
}

static bool lane_create(const job *j, lane *l)
{
    const wte_allocator *a = j->opt->allocator;
    l->room = PIECE_BYTES / j->b_bytes ? PIECE_BYTES / j->b_bytes : 1;
    l->sums.first_changed = WTE_NO_INDEX;
    l->a = wte__alloc(a, j->a_bytes);
    l->b = wte__alloc_array(a, l->room, j->b_bytes);
    l->ids = wte__alloc_array(a, l->room, sizeof *l->ids);
    l->a_f64 = wte__alloc_array(a, j->a->cols, sizeof *l->a_f64);
    l->b_f64 = wte__alloc_array(a, j->a->cols, sizeof *l->b_f64);
    l->most = wte__alloc_array(a, j->max_most, sizeof *l->most);
    return l->a && l->b && l->ids && l->a_f64 && l->b_f64 && (l->most || j->max_most == 0);
}

static void lane_free(const job *j, lane *l)
{
    const wte_allocator *a = j->opt->allocator;
    wte__free(a, l->a, j->a_bytes);
    wte__free(a, l->b, l->room * j->b_bytes);
    wte__free(a, l->ids, l->room * sizeof *l->ids);
    wte__free(a, l->a_f64, (size_t)j->a->cols * sizeof *l->a_f64);
    wte__free(a, l->b_f64, (size_t)j->a->cols * sizeof *l->b_f64);
    wte__free(a, l->most, (size_t)j->max_most * sizeof *l->most);
}

static wte_status allocate(job *j, wte_error *err)
{
    const wte_allocator *a = j->opt->allocator;
    bool done = true;
    j->lanes = wte__alloc_zeroed(a, j->n_lanes * sizeof *j->lanes);
    if (!j->lanes) return wte__no_memory(err, j->n_lanes * sizeof *j->lanes, "a comparison");
    for (uint32_t i = 0; i < j->n_lanes; i++) done = lane_create(j, &j->lanes[i]) && done;
    if (j->opt->b_of && j->b->rows) {
        j->used = wte__alloc_zeroed(a, (size_t)j->b->rows);
        done = done && j->used;
    }
    return done ? WTE_OK : wte__no_memory(err, j->b->rows, "a comparison of rows");
}

static void release(job *j)
{
    for (uint32_t i = 0; j->lanes && i < j->n_lanes; i++) lane_free(j, &j->lanes[i]);
    wte__free(j->opt->allocator, j->lanes, j->n_lanes * sizeof *j->lanes);
    wte__free(j->opt->allocator, j->used, (size_t)j->b->rows);
}

static uint64_t only_in_b(const job *j)
{
    uint64_t used = 0;
    if (!j->opt->b_of) return j->b->rows > j->a->rows ? j->b->rows - j->a->rows : 0;
    for (uint64_t i = 0; i < j->a->rows; i++) {
        const uint64_t b = j->opt->b_of[i];
        if (b == WTE_NO_INDEX || j->used[b]) continue;
        j->used[b] = 1;
        used++;
    }
    return j->b->rows - used;
}

static void add_lane(const job *j, lane *into, const lane *from)
{
    wte_diff *sums = &into->sums;
    for (int i = 0; i < WTE_CHANGES; i++) sums->count[i] += from->sums.count[i];
    for (int i = 0; i < WTE_DECADES; i++) sums->decade[i] += from->sums.decade[i];
    sums->compared += from->sums.compared;
    sums->changed += from->sums.changed;
    if (from->sums.first_changed < sums->first_changed)
        sums->first_changed = from->sums.first_changed;
    for (uint64_t i = 0; i < from->sums.n_largest; i++) keep_most(j, into, from->most[i]);
}

static void add_up(const job *j, wte_diff *out)
{
    lane *all = &j->lanes[0];
    for (uint32_t i = 1; i < j->n_lanes; i++) add_lane(j, all, &j->lanes[i]);
    *out = all->sums;
    out->only_in_b = only_in_b(j);
    out->cosine_limit = j->cosine_limit;
    out->same = j->a->dtype == j->b->dtype && j->a->rows == j->b->rows && out->only_in_b == 0 &&
                out->count[WTE_CHANGE_SAME_BITS] == j->a->rows;
}

/* The rows that moved farthest are measured once more: it is cheaper than keeping all about them.
 */
static wte_status put_most(const job *j, uint64_t n, wte_error *err)
{
    lane *l = &j->lanes[0];
    if (n) wte__topk_heap_sort(l->most, n);
    for (uint64_t i = 0; i < n; i++) {
        wte_row_change *c = &j->opt->largest[i];
        memset(c, 0, sizeof *c);
        c->a = l->most[i].row;
        c->b = partner(j, c->a);
        WTE_TRY(wte_row_source_read(j->a, c->a, l->a, err));
        WTE_TRY(wte_row_source_read(j->b, c->b, l->b, err));
        WTE_TRY(compare_row(j, l, l->a, l->b, c, err));
    }
    return WTE_OK;
}

wte_status wte_diff_rows(const wte_row_source *a, const wte_row_source *b,
                         const wte_diff_options *options, wte_diff *out, wte_error *err)
{
    wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_diff_rows: out", err));
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    job j = { .a = a, .b = b, .opt = &opt, .n_lanes = wte_pool_n_threads(opt.pool) };
    WTE_TRY(check_arguments(&j, err));
    j.a_bytes = (size_t)a->cols * wte_dtype_bytes(a->dtype);
    j.b_bytes = (size_t)b->cols * wte_dtype_bytes(b->dtype);
    j.cosine_limit = fmin(COSINE_MOST, COSINE_SPREADS / sqrt((double)a->cols));
    j.max_most = opt.max_largest < a->rows ? opt.max_largest : a->rows;
    wte_status status = allocate(&j, err);
    if (status == WTE_OK) {
        const wte__row_scan pass = { .rows = a,
                                     .visit = visit,
                                     .enough = failed,
                                     .ctx = &j,
                                     .pool = opt.pool,
                                     .progress = opt.progress,
                                     .allocator = opt.allocator };
        status = wte__row_scan_run(&pass, err);
    }
    for (uint32_t i = 0; status == WTE_OK && i < j.n_lanes; i++) {
        status = j.lanes[i].status;
        if (status != WTE_OK && err) *err = j.lanes[i].error;
    }
    if (status == WTE_OK) add_up(&j, out);
    if (status == WTE_OK) status = put_most(&j, out->n_largest, err);
    if (status != WTE_OK) memset(out, 0, sizeof *out);
    release(&j);
    return status;
}
