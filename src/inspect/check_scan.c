/* The first pass: every row of a table is looked at once, in the cache, by a kernel that gives its
 * sum of squares and a mark of its bytes. Rows that are out of the ordinary
 * are looked at again at once, number by number. What is kept of a row does not depend on others,
 * and what is summed up are whole numbers: the result is the same for any number of threads. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "inspect/check.h"
#include "inspect/row_scan.h"
#include "num/kernels.h"

#define PIECE 256u /* numbers widened at once, on the stack */
#define LANES 64u  /* of the kernel: fewer columns than that tell it too little */
/* Below, the f32 sum of squares has lost too much; from there on, a number may be beyond f16. */
#define SQUARES_FROM 0x1p-100
#define SQUARES_TO   (WTE__LARGEST_F16 * WTE__LARGEST_F16)

typedef struct lane_sums {
    uint64_t nan, inf, beyond_f16, beyond_rows, first_beyond;
} lane_sums;

typedef void (*row_kernel)(const void *row, size_t n, wte__row_stats *out);

typedef struct scanning {
    wte__check_scan *scan;
    size_t cols, raw_bytes, value_bytes;
    wte_dtype type, wide; /* of raw and of values */
    row_kernel kernel;    /* over values; NULL: plain C over doubles */
    double near_equal;    /* most / least of the lanes of a row of one magnitude */
    bool may_overflow;    /* numbers of this type can be beyond f16's */
    lane_sums *lanes;
} scanning;

/* One row, number by number. */
typedef struct careful {
    double squares, largest; /* of finite numbers */
    uint64_t nan, inf, beyond_f16;
    bool constant;
} careful;

static void look_at_piece(careful *c, const double *x, size_t n, double first)
{
    for (size_t i = 0; i < n; i++) {
        const double magnitude = fabs(x[i]);
        if (!(x[i] == first)) c->constant = false;
        if (isnan(x[i])) {
            c->nan++;
            continue;
        }
        if (isinf(x[i])) {
            c->inf++;
            continue;
        }
        if (magnitude > WTE__LARGEST_F16) c->beyond_f16++;
        if (magnitude > c->largest) c->largest = magnitude;
        c->squares += x[i] * x[i];
    }
}

static careful look_carefully(const scanning *s, const void *raw)
{
    careful c = { .constant = true };
    const size_t element = s->raw_bytes / s->cols;
    double first = 0;
    for (size_t at = 0; at < s->cols; at += PIECE) {
        double x[PIECE];
        const size_t n = s->cols - at < PIECE ? s->cols - at : PIECE;
        /* types were checked before: this cannot fail */
        if (wte_convert(s->type, (const char *)raw + at * element, WTE_F64, x, n, NULL, NULL) !=
            WTE_OK)
            return c;
        if (at == 0) first = x[0];
        look_at_piece(&c, x, n, first);
    }
    return c;
}

static void keep_careful(const scanning *s, lane_sums *l, uint64_t row, const void *raw)
{
    wte__check_scan *scan = s->scan;
    const careful c = look_carefully(s, raw);
    scan->norm[row] = (float)sqrt(c.squares);
    if (c.largest == 0 && !c.nan && !c.inf) scan->flags[row] |= WTE__ROW_ZERO;
    if (c.nan) scan->flags[row] |= WTE__ROW_NAN;
    if (c.inf) scan->flags[row] |= WTE__ROW_INF;
    if (c.constant && c.largest > 0 && s->cols > 1) scan->flags[row] |= WTE__ROW_CONSTANT;
    l->nan += c.nan;
    l->inf += c.inf;
    if (!s->may_overflow || !c.beyond_f16) return;
    l->beyond_f16 += c.beyond_f16;
    l->beyond_rows++;
    if (row < l->first_beyond) l->first_beyond = row;
}

/* Whether a row is out of the ordinary: zero, not finite, too large or too small to be squared in
 * f32 or to be an f16, or of one magnitude throughout, when its lanes are equal but for an element.
 */
static bool is_odd(const scanning *s, const wte__row_stats *r)
{
    const double squares = (double)r->squares;
    if (s->cols < LANES || !(squares >= SQUARES_FROM && squares < SQUARES_TO)) return true;
    return (double)r->max <= s->near_equal * (double)r->min;
}

static void visit(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                  const void *values)
{
    const scanning *s = ctx;
    wte__check_scan *scan = s->scan;
    for (size_t i = 0; i < n; i++) {
        const char *row = (const char *)raw + i * s->raw_bytes;
        const uint64_t at = first + i;
        wte__row_stats r = { 0, 0, 0, 0 };
        if (s->kernel)
            s->kernel((const char *)values + i * s->value_bytes, s->cols, &r);
        else
            r.mark = XXH3_64bits(row, s->raw_bytes);
        scan->mark[at] = r.mark;
        scan->norm[at] = sqrtf(r.squares);
        if (!s->kernel || is_odd(s, &r)) keep_careful(s, &s->lanes[lane], at, row);
    }
}

/* In one block, since a large one lies on huge pages. */
wte_status wte__check_scan_init(wte__checking *k, wte__check_scan *scan, uint64_t rows)
{
    const uint64_t each = sizeof *scan->mark + sizeof *scan->norm + sizeof *scan->sorted +
                          sizeof *scan->spare + 3 * sizeof *scan->flags;
    const uint64_t shape[1] = { rows };
    uint64_t bytes;
    if (!wte__shape_bytes(shape, 1, each, &bytes) || bytes > SIZE_MAX)
        return wte__no_memory(k->err, UINT64_MAX, "what is seen of the rows");
    scan->block = wte__alloc(k->opt.allocator, (size_t)bytes);
    if (!scan->block) return wte__no_memory(k->err, bytes, "what is seen of the rows");
    scan->block_bytes = (size_t)bytes;
    scan->rows = rows;
    scan->mark = scan->block;
    scan->norm = (float *)(void *)(scan->mark + rows);
    scan->sorted = (uint32_t *)(void *)(scan->norm + rows);
    scan->spare = scan->sorted + rows;
    scan->flags = (uint8_t *)(scan->spare + rows);
    memset(scan->flags, 0, 3 * (size_t)rows);
    return WTE_OK;
}

static void choose_kernel(scanning *s, const wte_row_source *rows)
{
    const wte__kernels *kernels = wte__kernels_get();
    s->type = rows->dtype;
    s->wide = WTE_DTYPE_NONE;
    s->cols = (size_t)rows->cols;
    const size_t turns = s->cols / LANES;
    if (turns) s->near_equal = 1.001 * (1 + 1 / (double)turns);
    s->raw_bytes = s->value_bytes = s->cols * wte_dtype_bytes(rows->dtype);
    s->may_overflow = !wte_dtype_fits(rows->dtype, WTE_F16);
    switch (s->type) {
    case WTE_F32: s->kernel = kernels->f32_row_stats; return;
    case WTE_F16: s->kernel = kernels->f16_row_stats; return;
    case WTE_BF16: s->kernel = kernels->bf16_row_stats; return;
    default: break;
    }
    if (!wte_dtype_fits(s->type, WTE_F32)) return;
    s->kernel = kernels->f32_row_stats;
    s->wide = WTE_F32;
    s->value_bytes = s->cols * sizeof(float);
}

static void add_up(wte__check_scan *scan, const lane_sums *lanes, uint32_t n)
{
    scan->most_beyond = WTE_NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        scan->nan += lanes[i].nan;
        scan->inf += lanes[i].inf;
        scan->beyond_f16 += lanes[i].beyond_f16;
        scan->beyond_rows += lanes[i].beyond_rows;
        if (lanes[i].first_beyond < scan->most_beyond) scan->most_beyond = lanes[i].first_beyond;
    }
}

/* Quantiles ------------------------------------------------------------------------------------ */

/* Rows that have a token, and numbers that mean something. */
static bool counts(const wte__checking *k, const wte__check_scan *scan, uint64_t row)
{
    return !(scan->flags[row] & (WTE__ROW_ZERO | WTE__ROW_NONFINITE)) &&
           wte__check_has_token(k, row);
}

/* By the bits of floats that are not negative, 8 of them a round: they are in the floats' order. */
static void sort_bits(uint32_t *from, uint32_t *to, uint64_t n)
{
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        uint64_t start[257] = { 0 };
        for (uint64_t i = 0; i < n; i++) start[(from[i] >> shift & 255) + 1]++;
        for (size_t b = 1; b < 257; b++) start[b] += start[b - 1];
        for (uint64_t i = 0; i < n; i++) to[start[from[i] >> shift & 255]++] = from[i];
        uint32_t *keep = from;
        from = to;
        to = keep;
    }
}

/* Four rounds end where they began. */
static void sort_norms(const wte__checking *k, wte__check_scan *scan)
{
    for (uint64_t row = 0; row < scan->rows; row++)
        if (counts(k, scan, row))
            memcpy(&scan->sorted[scan->n_sorted++], &scan->norm[row], sizeof *scan->sorted);
    sort_bits(scan->sorted, scan->spare, scan->n_sorted);
}

double wte__check_scan_quantile(const wte__check_scan *scan, double part)
{
    float norm;
    if (scan->n_sorted == 0) return 0;
    memcpy(&norm, &scan->sorted[(uint64_t)(part * (double)(scan->n_sorted - 1))], sizeof norm);
    return (double)norm;
}

double wte__check_scan_median(const wte__check_scan *scan)
{
    const uint64_t n = scan->n_sorted;
    float low, high;
    if (n == 0) return 0;
    memcpy(&low, &scan->sorted[(n - 1) / 2], sizeof low);
    memcpy(&high, &scan->sorted[n / 2], sizeof high);
    return ((double)low + (double)high) / 2;
}

/* ---------------------------------------------------------------------------------------------- */

wte_status wte__check_scan_run(wte__checking *k, const wte_row_source *rows, wte__check_scan *out)
{
    const wte_allocator *a = k->opt.allocator;
    const uint32_t n_lanes = wte_pool_n_threads(k->opt.pool);
    scanning s = { .scan = out };
    s.lanes = wte__alloc_zeroed(a, n_lanes * sizeof *s.lanes);
    if (!s.lanes) return wte__no_memory(k->err, n_lanes * sizeof *s.lanes, "sums");
    for (uint32_t i = 0; i < n_lanes; i++) s.lanes[i].first_beyond = WTE_NO_INDEX;
    choose_kernel(&s, rows);
    const wte__row_scan pass = { rows, s.wide,      visit,           NULL,
                                 &s,   k->opt.pool, k->opt.progress, k->opt.allocator };
    const wte_status status = wte__row_scan_run(&pass, k->err);
    add_up(out, s.lanes, n_lanes);
    wte__free(a, s.lanes, n_lanes * sizeof *s.lanes);
    if (status == WTE_OK) sort_norms(k, out);
    return status;
}

void wte__check_scan_free(wte__checking *k, wte__check_scan *scan)
{
    wte__free(k->opt.allocator, scan->block, scan->block_bytes);
}
