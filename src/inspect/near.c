/* The rows of a table that are nearest to given vectors. Every score is made from sums that the
 * kernels define in one order, and ranking is total (score, then row), so that neither threads nor
 * blocks nor instruction sets can change an answer. No index, no approximation. */
#include <wte/near.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "inspect/row_scan.h"
#include "inspect/topk_heap.h"
#include "num/kernels.h"

#define DEFAULT_TOP 10u
#define AT_ONCE     64u  /* rows for one call of a kernel; their sums lie on the stack */
#define PIECE       256u /* elements widened at once for sums in f64 */

/* A sum of squares in f32 is trusted within these: above, it may have overflowed; below, squares of
 * elements that matter may have lost bits. */
#define LEAST_SQUARE 0x1p-90f

/* Squares cost as much as products, and most rows are far: of those it is enough to know that some
 * of their squares make them too long. So at first squares of a part are summed, and the whole only
 * for a row that might be near by these. MARGIN is more than what roundings can add up to in a row
 * of MOST_COLS numbers. */
#define PART      4u
#define LANES     32u /* a part is a multiple of these */
#define MOST_COLS 524288u
#define MARGIN    0x1p-10
/* When more than one row in MANY was not far, the next chunks are summed as a whole at once. */
#define MANY     4u
#define PATIENCE 16u

typedef void (*sums_kernel)(const void *rows, size_t n_rows, const float *q, size_t dim,
                            size_t squared, float *out);

typedef struct query {
    const float *value;
    double square;
    bool plain; /* its sum of squares is within f32's trusted range */
    uint64_t own;
} query;

typedef struct lane {
    wte_near_hit *heap; /* n x top; each a heap with the farthest hit first */
    uint64_t *used;     /* n: hits in each */
    uint32_t whole;     /* chunks that are still to be summed as a whole */
    wte_near_report report;
} lane;

typedef struct search {
    const wte_near_options *opt;
    uint64_t n, cols, top;
    query *queries;
    lane *lanes;
    wte_near_hit *heaps; /* n_lanes x n x top */
    uint64_t *used;      /* n_lanes x n */
    uint64_t n_lanes, n_heaps, heaps_bytes;
    wte_dtype dtype; /* of the rows that the kernel takes */
    sums_kernel sums;
} search;

const char *wte_metric_name(wte_metric metric)
{
    switch (metric) {
    case WTE_METRIC_COSINE: return "cosine";
    case WTE_METRIC_DOT: return "dot";
    case WTE_METRIC_EUCLID: return "euclid";
    default: return "unknown";
    }
}

/* Scores --------------------------------------------------------------------------------------- */

/* n elements from number `first` on. */
static void widen(wte_dtype type, const uint8_t *row, uint64_t first, size_t n, float *out)
{
    const wte__kernels *k = wte__kernels_get();
    if (type == WTE_F16)
        k->f16_to_f32(row + sizeof(uint16_t) * first, out, n);
    else if (type == WTE_BF16)
        k->bf16_to_f32(row + sizeof(uint16_t) * first, out, n);
    else
        memcpy(out, row + sizeof *out * first, sizeof *out * n);
}

typedef struct exact_sums {
    double first, square; /* as the kernels' */
} exact_sums;

/* For the few rows whose sums leave f32's range. */
static exact_sums sums_in_f64(const search *s, const query *q, const void *row)
{
    exact_sums sums = { 0, 0 };
    float piece[PIECE];
    for (uint64_t first = 0; first < s->cols; first += PIECE) {
        const uint64_t left = s->cols - first;
        const size_t n = left < PIECE ? (size_t)left : PIECE;
        widen(s->dtype, row, first, n, piece);
        for (size_t i = 0; i < n; i++) {
            const double x = (double)piece[i], other = (double)q->value[first + i];
            sums.first +=
                s->opt->metric == WTE_METRIC_EUCLID ? (x - other) * (x - other) : x * other;
            sums.square += x * x;
        }
    }
    return sums;
}

/* false: the row has no score. Greater is nearer. */
static bool score_of(const search *s, const query *q, const exact_sums *sums,
                     wte_near_report *report, double *score)
{
    if (!isfinite(sums->square)) {
        report->n_nonfinite++;
        return false;
    }
    *score = sums->first;
    if (s->opt->metric == WTE_METRIC_EUCLID) *score = -sqrt(sums->first);
    if (s->opt->metric != WTE_METRIC_COSINE) return true;
    if (sums->square == 0) {
        report->n_zero++;
        return false;
    }
    /* rounding may carry it past the end */
    *score = fmax(-1, fmin(1, sums->first / sqrt(sums->square * q->square)));
    return true;
}

static bool is_excluded(const search *s, const query *q, uint64_t row)
{
    const uint64_t *list = s->opt->exclude;
    uint64_t low = 0, high = s->opt->n_exclude;
    if (row == q->own) return true;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (list[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->opt->n_exclude && list[low] == row;
}

static bool trusted(float square)
{
    return square >= LEAST_SQUARE && square <= FLT_MAX;
}

/* sums: of the row `data`, squares of all elements for COSINE. */
static void offer(const search *s, lane *l, uint64_t i, uint64_t row, const void *data,
                  const float *sums)
{
    const query *q = &s->queries[i];
    wte_near_report nobody, *report = i ? &nobody : &l->report; /* each row is counted once */
    exact_sums exact = { (double)sums[0], (double)sums[1] };
    const bool plain = s->opt->metric == WTE_METRIC_COSINE
                           ? q->plain && trusted(sums[1]) && isfinite(sums[0])
                           : trusted(fabsf(sums[0]));
    if (!plain) exact = sums_in_f64(s, q, data);
    wte_near_hit hit = { row, 0 };
    if (!score_of(s, q, &exact, report, &hit.score)) return;
    wte_near_hit *heap = l->heap + i * s->top;
    if (!wte__topk_heap_takes(heap, l->used[i], s->top, &hit)) return;
    if (!is_excluded(s, q, row)) wte__topk_heap_put(heap, &l->used[i], s->top, hit);
}

/* Of how many elements squares are summed at first. */
static size_t part_of(const search *s, const lane *l, uint64_t i)
{
    const size_t cols = (size_t)s->cols;
    if (s->opt->metric != WTE_METRIC_COSINE) return 0;
    if (l->whole || !s->queries[i].plain || l->used[i] < s->top || cols > MOST_COLS) return cols;
    const size_t part = cols / PART / LANES * LANES;
    return part ? part : cols;
}

/* Whether the row is farther than all that the heap has, by the squares of a part. */
static bool is_far(const search *s, const lane *l, uint64_t i, const float *sums)
{
    if (!isfinite(sums[0]) || !trusted(sums[1])) return false;
    double most = 0;
    if (sums[0] > 0) most = (double)sums[0] / sqrt((double)sums[1] * s->queries[i].square);
    return most + MARGIN < l->heap[i * s->top].score;
}

static void visit_chunk(const search *s, lane *l, uint64_t i, uint64_t first, size_t n,
                        const uint8_t *rows)
{
    const size_t cols = (size_t)s->cols, row_bytes = cols * wte_dtype_bytes(s->dtype);
    const size_t part = part_of(s, l, i);
    const bool in_parts = s->opt->metric == WTE_METRIC_COSINE && part < cols;
    const float *q = s->queries[i].value;
    float sums[2 * AT_ONCE];
    size_t again = 0;
    s->sums(rows, n, q, cols, part, sums);
    for (size_t r = 0; r < n; r++) {
        if (in_parts) {
            if (is_far(s, l, i, sums + 2 * r)) continue;
            s->sums(rows + r * row_bytes, 1, q, cols, cols, sums + 2 * r);
            again++;
        }
        offer(s, l, i, first + r, rows + r * row_bytes, sums + 2 * r);
    }
    if (again > n / MANY)
        l->whole = PATIENCE;
    else if (l->whole)
        l->whole--;
}

static void visit(void *ctx, uint32_t lane_number, uint64_t first, size_t n, const void *raw,
                  const void *values)
{
    const search *s = ctx;
    const size_t row_bytes = (size_t)s->cols * wte_dtype_bytes(s->dtype);
    (void)raw;
    for (size_t done = 0; done < n; done += AT_ONCE) {
        const size_t now = n - done < AT_ONCE ? n - done : AT_ONCE;
        const uint8_t *rows = (const uint8_t *)values + done * row_bytes;
        for (uint64_t i = 0; i < s->n; i++)
            visit_chunk(s, &s->lanes[lane_number], i, first + done, now, rows);
    }
}

/* The whole ------------------------------------------------------------------------------------ */

static wte_status check_queries(search *s, const float *queries, wte_error *err)
{
    const wte__kernels *k = wte__kernels_get();
    for (uint64_t i = 0; i < s->n; i++) {
        query *q = &s->queries[i];
        float sums[2];
        q->value = queries + i * s->cols;
        q->own = s->opt->own ? s->opt->own[i] : WTE_NO_INDEX;
        k->products_f32(q->value, 1, q->value, (size_t)s->cols, (size_t)s->cols, sums);
        q->plain = trusted(sums[1]);
        q->square = (double)sums[1];
        if (!q->plain) {
            q->square = 0;
            for (uint64_t c = 0; c < s->cols; c++)
                q->square += (double)q->value[c] * (double)q->value[c];
        }
        if (!isfinite(q->square))
            return wte__fail(err, WTE_E_ARGUMENT, i, "query %" PRIu64 " has NaN or an infinity", i);
        if (q->square == 0 && s->opt->metric == WTE_METRIC_COSINE)
            return wte__fail(err, WTE_E_ARGUMENT, i,
                             "query %" PRIu64
                             " is all zeros, which has no direction: no cosine is defined (dot and "
                             "euclid are)",
                             i);
    }
    return WTE_OK;
}

static wte_status check_arguments(const wte_row_source *table, uint64_t n, uint64_t cols,
                                  const wte_near_options *opt, wte_error *err)
{
    WTE_TRY(wte_check_rows(table, err));
    if (!wte_dtype_converts(table->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "rows of type %s have no numbers",
                         wte_dtype_name(table->dtype));
    if (cols == 0 || cols != table->cols)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "a query has %" PRIu64 " numbers, but a row of the table %" PRIu64, cols,
                         table->cols);
    if (opt->metric < WTE_METRIC_COSINE || opt->metric > WTE_METRIC_EUCLID)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "metric %d is none", (int)opt->metric);
    WTE_TRY(wte__need_array(opt->exclude, opt->n_exclude, sizeof *opt->exclude, "exclude", err));
    for (uint64_t i = 1; i < opt->n_exclude; i++)
        if (opt->exclude[i] <= opt->exclude[i - 1])
            return wte__fail(err, WTE_E_ARGUMENT, i,
                             "exclude: row %" PRIu64 " at position %" PRIu64
                             " does not ascend from %" PRIu64,
                             opt->exclude[i], i, opt->exclude[i - 1]);
    uint64_t bytes;
    if (!wte__mul_u64(n, cols, &bytes) || !wte__mul_u64(bytes, sizeof(float), &bytes))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " queries of %" PRIu64 " numbers are more than memory can hold",
                         n, cols);
    return WTE_OK;
}

static wte_status allocate(search *s, wte_error *err)
{
    const wte_allocator *a = s->opt->allocator;
    if (!wte__mul_u64(s->n_lanes, s->n, &s->n_heaps) ||
        !wte__mul_u64(s->n_heaps, s->top, &s->heaps_bytes) ||
        !wte__mul_u64(s->heaps_bytes, sizeof *s->heaps, &s->heaps_bytes))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "the best %" PRIu64 " rows for %" PRIu64
                         " queries are more than memory can hold",
                         s->top, s->n);
    s->queries = wte__alloc_array(a, s->n, sizeof *s->queries);
    s->lanes = wte__alloc_zeroed(a, (size_t)s->n_lanes * sizeof *s->lanes);
    s->used = wte__alloc_zeroed(a, (size_t)s->n_heaps * sizeof *s->used);
    s->heaps = wte__alloc_array(a, s->heaps_bytes, 1);
    if (!s->queries || !s->lanes || !s->used || !s->heaps)
        return wte__no_memory(err, s->heaps_bytes, "the nearest rows");
    for (uint64_t i = 0; i < s->n_lanes; i++) {
        s->lanes[i].heap = s->heaps + i * s->n * s->top;
        s->lanes[i].used = s->used + i * s->n;
    }
    return WTE_OK;
}

static void choose_kernel(search *s, const wte_row_source *table)
{
    const wte__kernels *k = wte__kernels_get();
    const bool euclid = s->opt->metric == WTE_METRIC_EUCLID;
    s->dtype = table->dtype;
    switch (table->dtype) {
    case WTE_F16: s->sums = euclid ? k->distances_f16 : k->products_f16; return;
    case WTE_BF16: s->sums = euclid ? k->distances_bf16 : k->products_bf16; return;
    default: break;
    }
    s->dtype = WTE_F32;
    s->sums = euclid ? k->distances_f32 : k->products_f32;
}

/* Join the lanes' heaps for one query in that of the first lane, and hand them out. */
static void put_hits(const search *s, uint64_t i, uint64_t wanted, wte_near_hit *hits)
{
    wte_near_hit *heap = s->lanes[0].heap + i * s->top;
    uint64_t *used = &s->lanes[0].used[i];
    for (uint64_t l = 1; l < s->n_lanes; l++) {
        const wte_near_hit *other = s->lanes[l].heap + i * s->top;
        for (uint64_t h = 0; h < s->lanes[l].used[i]; h++)
            if (wte__topk_heap_takes(heap, *used, s->top, &other[h]))
                wte__topk_heap_put(heap, used, s->top, other[h]);
    }
    wte__topk_heap_sort(heap, *used);
    for (uint64_t h = 0; h < wanted; h++) {
        hits[h] = h < *used ? heap[h] : (wte_near_hit){ WTE_NO_INDEX, (double)NAN };
        if (h < *used && s->opt->metric == WTE_METRIC_EUCLID) hits[h].score = -hits[h].score;
    }
}

static void put_report(const search *s)
{
    wte_near_report *report = s->opt->report;
    if (!report) return;
    *report = (wte_near_report){ 0, 0 };
    for (uint64_t l = 0; l < s->n_lanes; l++) {
        report->n_zero += s->lanes[l].report.n_zero;
        report->n_nonfinite += s->lanes[l].report.n_nonfinite;
    }
}

wte_status wte_nearest(const wte_row_source *table, const float *queries, uint64_t n, uint64_t cols,
                       const wte_near_options *options, wte_near_hit *hits, wte_error *err)
{
    wte_near_options opt = WTE_NEAR_OPTIONS_INIT;
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(check_arguments(table, n, cols, &opt, err));
    if (n && (!queries || !hits))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%s is NULL",
                         queries ? "hits" : "queries");
    const uint64_t wanted = opt.top ? opt.top : DEFAULT_TOP;
    search s = { .opt = &opt, .n = n, .cols = cols, .n_lanes = wte_pool_n_threads(opt.pool) };
    s.top = wanted < table->rows ? wanted : table->rows;
    if (s.top == 0) s.top = 1; /* a table without rows */
    if (opt.report) *opt.report = (wte_near_report){ 0, 0 };
    if (n == 0) return WTE_OK;
    choose_kernel(&s, table);
    wte_status status = allocate(&s, err);
    if (status == WTE_OK) status = check_queries(&s, queries, err);
    if (status == WTE_OK) {
        const wte__row_scan pass = { .rows = table,
                                     .wide = s.dtype == table->dtype ? WTE_DTYPE_NONE : s.dtype,
                                     .visit = visit,
                                     .ctx = &s,
                                     .pool = opt.pool,
                                     .progress = opt.progress,
                                     .allocator = opt.allocator };
        status = wte__row_scan_run(&pass, err);
    }
    for (uint64_t i = 0; status == WTE_OK && i < n; i++) put_hits(&s, i, wanted, hits + i * wanted);
    if (status == WTE_OK) put_report(&s);
    wte__free(opt.allocator, s.queries, (size_t)n * sizeof *s.queries);
    wte__free(opt.allocator, s.lanes, (size_t)s.n_lanes * sizeof *s.lanes);
    wte__free(opt.allocator, s.used, (size_t)s.n_heaps * sizeof *s.used);
    wte__free(opt.allocator, s.heaps, (size_t)s.heaps_bytes);
    return status;
}
