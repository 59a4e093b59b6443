/* Two row sources against each other: first their bytes, and where those differ, their numbers.
 * Blocks of rows are read with pread into reused buffers and compared in parallel; results are
 * joined in the order of the rows, so they do not depend on the number of threads. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/thread.h"
#include "model/model.h"

#define BLOCK_BYTES ((uint64_t)1 << 20) /* of one side: large enough for pread's full speed */
#define PIECE       256u                /* elements that are widened at once, on the stack */

/* One block of rows: its buffers and what was found in it. */
struct block {
    uint64_t first;
    size_t n;
    void *a, *b;
    wte__difference found;
    wte_status status;
    wte_error err;
};

struct compare {
    const wte_row_source *a, *b;
    uint64_t cols;
    bool same_type; /* then equal bits are equal values, and only then */
    bool numbers;   /* both types convert to f64 */
    uint64_t block_rows;
    struct block *block;
    uint64_t n_blocks;
};

static void none(wte__difference *d)
{
    wte__difference empty = { .first = WTE_NO_INDEX };
    *d = empty;
}

/* |a - b|: NaN against NaN is 0, equal infinities 0. */
static double distance(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b);
}

/* One row whose bytes may differ. True when a value differs; keeps the largest difference. */
static bool compare_row(const struct compare *c, const void *va, const void *vb, uint64_t row,
                        wte__difference *found)
{
    const uint32_t size_a = wte_dtype_bytes(c->a->dtype), size_b = wte_dtype_bytes(c->b->dtype);
    const unsigned char *a = va, *b = vb;
    bool differs = false;
    for (uint64_t at = 0; at < c->cols; at += PIECE) {
        size_t n = c->cols - at < PIECE ? (size_t)(c->cols - at) : PIECE;
        double x[PIECE], y[PIECE];
        bool ok = wte_convert(c->a->dtype, a + at * size_a, WTE_F64, x, n, NULL, NULL) == WTE_OK &&
                  wte_convert(c->b->dtype, b + at * size_b, WTE_F64, y, n, NULL, NULL) == WTE_OK;
        for (size_t i = 0; ok && i < n; i++) {
            const double d = distance(x[i], y[i]);
            differs |= !(d == 0);
            if (isnan(d) && found->n_nan++ == 0) {
                found->nan_row = row;
                found->nan_col = at + i;
            }
            if (d > found->max) {
                found->max = d;
                found->max_row = row;
                found->max_col = at + i;
            }
        }
    }
    return differs;
}

static void compare_block(void *ctx, uint64_t i)
{
    struct compare *c = ctx;
    struct block *k = &c->block[i];
    const size_t size_a = (size_t)c->cols * wte_dtype_bytes(c->a->dtype);
    const size_t size_b = (size_t)c->cols * wte_dtype_bytes(c->b->dtype);
    none(&k->found);
    k->status = wte_row_source_read_block(c->a, k->first, k->n, k->a, &k->err);
    if (k->status == WTE_OK)
        k->status = wte_row_source_read_block(c->b, k->first, k->n, k->b, &k->err);
    if (k->status != WTE_OK) return;
    if (c->same_type && memcmp(k->a, k->b, k->n * size_a) == 0) return;
    for (size_t r = 0; r < k->n; r++) {
        const char *a = (const char *)k->a + r * size_a, *b = (const char *)k->b + r * size_b;
        bool differs = c->same_type && memcmp(a, b, size_a) != 0;
        if (c->same_type && !differs) continue;
        if (c->numbers) differs |= compare_row(c, a, b, k->first + r, &k->found);
        if (!differs) continue;
        if (k->found.rows++ == 0) k->found.first = k->first + r;
    }
}

/* In the order of the rows: the first of equal differences stays. */
static void join(wte__difference *all, const wte__difference *one)
{
    if (all->rows == 0 && one->rows) all->first = one->first;
    all->rows += one->rows;
    if (one->max > all->max) {
        all->max = one->max;
        all->max_row = one->max_row;
        all->max_col = one->max_col;
    }
    if (all->n_nan == 0 && one->n_nan) {
        all->nan_row = one->nan_row;
        all->nan_col = one->nan_col;
    }
    all->n_nan += one->n_nan;
}

static bool report(const wte_progress *progress, uint64_t done, uint64_t total)
{
    return !progress || !progress->report || progress->report(progress->ctx, done, total);
}

static wte_status run(struct compare *c, uint64_t rows, const wte_tie_options *opt,
                      wte__difference *out, wte_error *err)
{
    const uint64_t row_bytes =
        c->cols * (wte_dtype_bytes(c->a->dtype) + wte_dtype_bytes(c->b->dtype));
    for (uint64_t done = 0; done < rows;) {
        uint64_t n = 0, next = done;
        for (; n < c->n_blocks && next < rows; n++) {
            c->block[n].first = next;
            c->block[n].n = (size_t)(rows - next < c->block_rows ? rows - next : c->block_rows);
            next += c->block[n].n;
        }
        wte__parallel(opt->pool, n, compare_block, c);
        for (uint64_t i = 0; i < n; i++) {
            if (c->block[i].status != WTE_OK) {
                if (err) *err = c->block[i].err;
                return c->block[i].status;
            }
            join(out, &c->block[i].found);
        }
        done = next;
        if (!report(opt->progress, done * row_bytes, rows * row_bytes))
            return wte__fail(err, WTE_E_CANCELLED, done, "comparing was stopped at row %llu",
                             (unsigned long long)done);
    }
    return WTE_OK;
}

wte_status wte__rows_compare(const wte_row_source *a, const wte_row_source *b, uint64_t rows,
                             const wte_tie_options *opt, wte__difference *out, wte_error *err)
{
    const uint32_t size_a = wte_dtype_bytes(a->dtype), size_b = wte_dtype_bytes(b->dtype);
    const uint32_t element = size_a > size_b ? size_a : size_b;
    struct compare c;
    memset(&c, 0, sizeof c);
    none(out);
    if (rows == 0 || a->cols == 0) return WTE_OK;
    c.a = a;
    c.b = b;
    c.cols = a->cols;
    c.same_type = a->dtype == b->dtype;
    c.numbers = wte_dtype_converts(a->dtype) && wte_dtype_converts(b->dtype);
    uint64_t side;
    if (!wte__mul_u64(c.cols, element, &side))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "a row does not fit in memory");
    c.block_rows = BLOCK_BYTES / side ? BLOCK_BYTES / side : 1;
    c.n_blocks = (uint64_t)wte_pool_n_threads(opt->pool) * 2;
    uint64_t all = (rows + c.block_rows - 1) / c.block_rows;
    if (c.n_blocks > all) c.n_blocks = all;
    uint64_t bytes, total;
    if (!wte__mul_u64(side, c.block_rows, &bytes) || !wte__mul_u64(bytes, 2 * c.n_blocks, &total) ||
        total > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "a row does not fit in memory");
    c.block = wte__alloc_array(opt->allocator, c.n_blocks, sizeof *c.block);
    char *buffer = wte__alloc(opt->allocator, (size_t)total);
    wte_status status = WTE_OK;
    if (!c.block || !buffer) {
        status = wte__no_memory(err, total, "comparing two tables");
        goto done;
    }
    for (uint64_t i = 0; i < c.n_blocks; i++) {
        c.block[i].a = buffer + 2 * i * bytes;
        c.block[i].b = buffer + (2 * i + 1) * bytes;
    }
    status = run(&c, rows, opt, out, err);
    if (status == WTE_OK && out->rows && !c.numbers) out->max = (double)NAN;
done:
    wte__free(opt->allocator, buffer, (size_t)total);
    wte__free(opt->allocator, c.block, (size_t)c.n_blocks * sizeof *c.block);
    return status;
}

wte_status wte__tensors_compare(const wte_file *f, uint64_t a, uint64_t b,
                                const wte_tie_options *opt, bool *equal, wte_error *err)
{
    wte_tensor t;
    *equal = false;
    WTE_TRY(wte_file_tensor(f, a, &t, err));
    const size_t most = (size_t)BLOCK_BYTES;
    char *buffer = wte__alloc(opt->allocator, 2 * most);
    if (!buffer) return wte__no_memory(err, 2 * BLOCK_BYTES, "comparing two tables");
    wte_status status = WTE_OK;
    bool same = true;
    for (uint64_t at = 0; status == WTE_OK && same && at < t.bytes; at += BLOCK_BYTES) {
        const size_t n = t.bytes - at < BLOCK_BYTES ? (size_t)(t.bytes - at) : most;
        status = wte_file_read(f, a, at, buffer, n, err);
        if (status == WTE_OK) status = wte_file_read(f, b, at, buffer + most, n, err);
        if (status == WTE_OK) same = memcmp(buffer, buffer + most, n) == 0;
    }
    *equal = status == WTE_OK && same;
    wte__free(opt->allocator, buffer, 2 * most);
    return status;
}
