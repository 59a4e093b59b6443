/* Rows of length 1, and cosines of pairs of rows. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <wte/lookup.h>

#include "base/checked.h"
#include "base/thread.h"
#include "num/philox.h"
#include "train/eval.h"

#define AT_ONCE       64u /* rows of one look-up; their numbers lie on the stack */
#define PAIRS_AT_ONCE 32u

wte_status wte__eval_tell(const wte_progress *progress, uint64_t done, uint64_t total,
                          wte_error *err)
{
    if (!progress || progress->report(progress->ctx, done, total)) return WTE_OK;
    return wte__fail(err, WTE_E_CANCELLED, done, "stopped after %" PRIu64 " of %" PRIu64, done,
                     total);
}

/* Several sums, so that additions need not wait for each other; joined in one order. */
#define SUMS 8u
static double length_of(const float *row, uint64_t cols)
{
    double sum[SUMS] = { 0 }, all = 0;
    uint64_t c = 0;
    for (; c + SUMS <= cols; c += SUMS)
        for (size_t s = 0; s < SUMS; s++) sum[s] += (double)row[c + s] * (double)row[c + s];
    for (; c < cols; c++) sum[0] += (double)row[c] * (double)row[c];
    for (size_t s = 0; s < SUMS; s++) all += sum[s];
    return sqrt(all);
}

/* n <= AT_ONCE rows of the table, in f32. */
static wte_status read_some(const wte_row_source *table, const uint64_t *rows, size_t n, float *out,
                            wte_error *err)
{
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    int64_t ids[AT_ONCE];
    bool neighbours = table->dtype == WTE_F32;
    opt.out_dtype = WTE_F32;
    for (size_t i = 0; i < n; i++) {
        ids[i] = (int64_t)rows[i];
        neighbours &= rows[i] == rows[0] + i;
    }
    if (neighbours)
        return wte_row_source_read_block(table, rows[0], n, out, err); /* of a file: at once */
    return wte_lookup(table, (wte_ids){ ids, WTE_I64, 0, n }, &opt, out, 0, err);
}

/* Rows that are picked and follow each other from `first` on, or by their numbers. */
static wte_status read_unit(const wte__unit *u, const uint64_t *ids, uint64_t first, size_t n,
                            float *out, wte_error *err)
{
    const uint64_t cols = u->table->cols;
    uint64_t rows[AT_ONCE];
    for (size_t done = 0, now; done < n; done += now) {
        now = n - done < AT_ONCE ? n - done : AT_ONCE;
        for (size_t i = 0; i < now; i++) rows[i] = u->pick[ids ? ids[done + i] : first + done + i];
        float *to = out + done * cols;
        WTE_TRY(read_some(u->table, rows, now, to, err));
        for (size_t i = 0; i < now; i++, to += cols) {
            const double norm = u->norm[ids ? ids[done + i] : first + done + i];
            for (uint64_t c = 0; c < cols; c++) to[c] = (float)((double)to[c] / norm);
        }
    }
    return WTE_OK;
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    return read_unit(ctx, ids, 0, n, out, err);
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    return read_unit(ctx, NULL, first, n, out, err);
}

static wte_status measure(wte__unit *u, float *block, wte_error *err)
{
    const uint64_t cols = u->table->cols;
    for (uint64_t first = 0; first < u->n; first += AT_ONCE) {
        const size_t now = u->n - first < AT_ONCE ? (size_t)(u->n - first) : AT_ONCE;
        WTE_TRY(read_some(u->table, u->pick + first, now, block, err));
        for (size_t i = 0; i < now; i++) u->norm[first + i] = length_of(block + i * cols, cols);
    }
    return WTE_OK;
}

wte_status wte__unit_make(wte__unit *u, const wte_row_source *table, const uint64_t *pick,
                          uint64_t n, const wte_allocator *a, wte_error *err)
{
    *u = (wte__unit){ .table = table, .allocator = a };
    u->pick = wte__alloc_array(a, n + !n, sizeof *u->pick);
    u->norm = wte__alloc_array(a, n + !n, sizeof *u->norm);
    u->cap = n + !n;
    uint64_t cells;
    if (!wte__mul_u64(AT_ONCE, table->cols + !table->cols, &cells)) cells = UINT64_MAX;
    float *block = wte__alloc_array(a, cells, sizeof *block);
    wte_status status = WTE_OK;
    if (!u->pick || !u->norm || !block)
        status = wte__no_memory(err, n * (sizeof *u->pick + sizeof *u->norm), "lengths of rows");
    for (uint64_t i = 0; status == WTE_OK && i < n; i++) {
        u->pick[i] = pick ? pick[i] : i;
        if (u->pick[i] >= table->rows)
            status =
                wte__fail(err, WTE_E_RANGE, i,
                          "row %" PRIu64 " at position %" PRIu64 ", but there are %" PRIu64 " rows",
                          u->pick[i], i, table->rows);
    }
    u->n = n;
    if (status == WTE_OK) status = measure(u, block, err);
    wte__free(a, block, (size_t)cells * sizeof *block);
    u->rows = (wte_row_source){ .rows = n,
                                .cols = table->cols,
                                .dtype = WTE_F32,
                                .read_rows = read_rows,
                                .read_block = read_block,
                                .ctx = u };
    return status;
}

void wte__unit_free(wte__unit *u)
{
    wte__free(u->allocator, u->pick, (size_t)u->cap * sizeof *u->pick);
    wte__free(u->allocator, u->norm, (size_t)u->cap * sizeof *u->norm);
    u->pick = NULL;
    u->norm = NULL;
}

static bool has_direction(const wte__unit *u, uint64_t i)
{
    return u->norm[i] > 0 && isfinite(u->norm[i]);
}

static void move(wte__unit *u, uint64_t from, uint64_t to)
{
    u->pick[to] = u->pick[from];
    u->norm[to] = u->norm[from];
}

void wte__unit_settle(wte__unit *u, wte__unit *other)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < u->n; i++) {
        if (!has_direction(u, i) || (other && !has_direction(other, i))) continue;
        move(u, i, kept);
        if (other) move(other, i, kept);
        kept++;
    }
    u->n = u->rows.rows = kept;
    if (other) other->n = other->rows.rows = kept;
}

uint64_t wte__unit_find(const wte__unit *u, uint64_t row)
{
    uint64_t low = 0, high = u->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (u->pick[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < u->n && u->pick[low] == row ? low : WTE_NO_INDEX;
}

/* Cosines ------------------------------------------------------------------------------------- */

typedef struct cosine_job {
    const wte__cosines *c;
    double *work; /* two rows in f64 for each thread */
} cosine_job;

static wte_status read_f64(const wte_row_source *table, uint64_t row, double *out, wte_error *err)
{
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const int64_t id = (int64_t)row;
    opt.out_dtype = WTE_F64;
    return wte_lookup(table, (wte_ids){ &id, WTE_I64, 0, 1 }, &opt, out, 0, err);
}

static double cosine_of(const double *a, const double *b, uint64_t cols)
{
    double ab = 0, aa = 0, bb = 0;
    for (uint64_t c = 0; c < cols; c++) {
        ab += a[c] * b[c];
        aa += a[c] * a[c];
        bb += b[c] * b[c];
    }
    if (aa == 0 || bb == 0 || !isfinite(aa) || !isfinite(bb)) return (double)NAN;
    double lengths = sqrt(aa * bb); /* so that a row has a cosine of exactly 1 with itself */
    if (!isfinite(lengths) || aa * bb < DBL_MIN) lengths = sqrt(aa) * sqrt(bb);
    return fmax(-1, fmin(1, ab / lengths)); /* roundings may carry it past the end */
}

static wte_status run_pairs(void *ctx, uint64_t chunk, uint32_t slot, wte_error *err)
{
    const cosine_job *j = ctx;
    const wte__cosines *c = j->c;
    const uint64_t cols = c->table->cols, first = chunk * PAIRS_AT_ONCE;
    const uint64_t last = c->n - first < PAIRS_AT_ONCE ? c->n : first + PAIRS_AT_ONCE;
    double *a = j->work + (uint64_t)slot * 2 * cols, *b = a + cols;
    for (uint64_t i = first; i < last; i++) {
        const uint64_t *pair = c->pairs + 2 * i;
        c->out[i] = (double)NAN;
        if (pair[0] == WTE_NO_INDEX || pair[1] == WTE_NO_INDEX) continue;
        WTE_TRY(read_f64(c->table, pair[0], a, err));
        WTE_TRY(read_f64(c->table, pair[1], b, err));
        c->out[i] = cosine_of(a, b, cols);
    }
    return WTE_OK;
}

wte_status wte__cosines_run(const wte__cosines *c, wte_error *err)
{
    const uint64_t threads = wte_pool_n_threads(c->pool);
    uint64_t cells;
    cosine_job j = { .c = c };
    if (c->n == 0) return WTE_OK;
    if (!wte__mul_u64(2 * threads, c->table->cols, &cells)) cells = UINT64_MAX;
    cells += cells == 0;
    j.work = wte__alloc_array(c->allocator, cells, sizeof *j.work);
    if (!j.work) return wte__no_memory(err, cells, "rows in f64");
    const uint64_t chunks = c->n / PAIRS_AT_ONCE + (c->n % PAIRS_AT_ONCE != 0);
    const wte_status status = wte__parallel_try(c->pool, chunks, run_pairs, &j, err);
    wte__free(c->allocator, j.work, (size_t)cells * sizeof *j.work);
    return status;
}

static uint64_t draw(uint64_t seed, uint64_t stream, uint64_t n)
{
    const uint64_t i = (uint64_t)(wte__uniform(seed, stream) * (double)n);
    return i < n ? i : n - 1; /* the product may be rounded up */
}

void wte__draw_pairs(uint64_t seed, uint64_t n, uint64_t count, uint64_t *out)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t a = draw(seed, 2 * i, n), b = draw(seed, 2 * i + 1, n - 1);
        out[2 * i] = a;
        out[2 * i + 1] = b + (b >= a);
    }
}
