/* Gradients: their memory, and the calls that add to them. contributions.c orders contributions and
 * kernels sum them; this file divides the work. Threads share the rows by equal numbers of
 * contributions; a row with more than such a share is divided by columns, which changes no bit. */
#include "optim/grad.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"

/* Fewer bytes of parts than this are summed faster than a second thread wakes up. */
#define SHARED_BYTES ((uint64_t)256 << 10)
/* Shares for each thread: enough that the wait for the last one is short. */
#define SHARES_PER_THREAD 8u
/* Columns of a piece of a heavy row: four lines, or a multiple. */
#define PIECE_COLS ((uint64_t)64)
/* Bytes that are set to zero at a time. */
#define ZERO_BYTES ((uint64_t)1 << 20)

/* Memory --------------------------------------------------------------------------------------- */

/* Bytes of n rows of values, and of their row indices when sparse. */
static bool row_bytes_of(const wte_grad *g, uint64_t rows, uint64_t *bytes)
{
    const uint64_t shape[2] = { rows, g->cols };
    uint64_t ids = 0;
    if (!wte__shape_bytes(shape, 2, sizeof(float), bytes)) return false;
    if (g->o.kind == WTE_GRAD_SPARSE && !wte__mul_u64(rows, sizeof(uint64_t), &ids)) return false;
    return wte__add_u64(*bytes, ids, bytes) && *bytes <= PTRDIFF_MAX;
}

static wte_status too_large(const wte_grad *g, uint64_t rows, wte_error *err)
{
    uint64_t bytes;
    if (!row_bytes_of(g, rows, &bytes))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "gradient: %" PRIu64 " rows of %" PRIu64
                         " numbers are more than memory can hold",
                         rows, g->cols);
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "gradient: %" PRIu64 " rows of %" PRIu64 " numbers take %" PRIu64
                     " bytes, but max_bytes is %" PRIu64,
                     rows, g->cols, bytes, g->o.max_bytes);
}

static void free_rows(const wte_grad *g, uint64_t *ids, float *values, uint64_t cap)
{
    wte__free(g->o.allocator, values, (size_t)(cap * g->cols) * sizeof *values);
    wte__free(g->o.allocator, ids, (size_t)cap * sizeof *ids);
}

/* New memory for n rows and some more; the caller swaps it in. */
static wte_status allocate_rows(const wte_grad *g, uint64_t need, uint64_t *cap, uint64_t **ids,
                                float **values, wte_error *err)
{
    uint64_t bytes, more = need + need / 8;
    if (more > g->rows) more = g->rows;
    if (!row_bytes_of(g, more, &bytes) || bytes > g->o.max_bytes) more = need;
    if (!row_bytes_of(g, more, &bytes) || bytes > g->o.max_bytes) return too_large(g, need, err);
    *cap = more;
    *values = NULL;
    *ids = wte__alloc_array(g->o.allocator, more, sizeof **ids);
    if (*ids && g->cols)
        *values = wte__alloc_array(g->o.allocator, more * g->cols, sizeof **values);
    if (*ids && (*values || !g->cols)) return WTE_OK;
    free_rows(g, *ids, NULL, more);
    return wte__no_memory(err, bytes, "the rows of a gradient");
}

wte_status wte_grad_create(uint64_t rows, uint64_t cols, const wte_grad_options *opt,
                           wte_grad **out, wte_error *err)
{
    wte_grad made = { .rows = rows, .cols = cols, .o = WTE_GRAD_OPTIONS_INIT };
    uint64_t bytes;
    WTE_TRY(wte__need(out, "wte_grad_create: out", err));
    *out = NULL;
    WTE_TRY(wte__options(&made.o, sizeof made.o, opt, err));
    WTE_TRY(wte__need_functions(made.o.allocator, NULL, err));
    if (made.o.kind != WTE_GRAD_DENSE && made.o.kind != WTE_GRAD_SPARSE)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "gradient: no kind has the number %d",
                         (int)made.o.kind);
    if (made.o.max_bytes == 0) made.o.max_bytes = WTE_LIMIT_TABLE_BYTES;
    const bool dense = made.o.kind == WTE_GRAD_DENSE;
    made.parts.any_order = dense; /* sparse ones are ascending */
    if (!row_bytes_of(&made, dense ? rows : 1, &bytes) || (dense && bytes > made.o.max_bytes))
        return too_large(&made, dense ? rows : 1, err);
    if (dense && bytes) {
        made.n = made.cap = rows;
        made.values = wte__alloc(made.o.allocator, (size_t)bytes);
        if (!made.values) return wte__no_memory(err, bytes, "a gradient");
    }
    wte_grad *g = wte__alloc(made.o.allocator, sizeof *g);
    if (!g) {
        free_rows(&made, NULL, made.values, made.cap);
        return wte__no_memory(err, sizeof *g, "a gradient");
    }
    *g = made;
    wte_grad_zero(g);
    *out = g;
    return WTE_OK;
}

void wte_grad_free(wte_grad *g)
{
    if (!g) return;
    const wte_allocator *allocator = g->o.allocator;
    free_rows(g, g->ids, g->values, g->cap);
    wte__contributions_free(&g->parts);
    wte__free(allocator, g, sizeof *g);
}

static void zero_piece(void *ctx, uint64_t i)
{
    const wte_grad *g = ctx;
    const uint64_t bytes = g->n * g->cols * sizeof(float), at = i * ZERO_BYTES;
    memset((char *)g->values + at, 0, (size_t)(bytes - at < ZERO_BYTES ? bytes - at : ZERO_BYTES));
}

void wte_grad_zero(wte_grad *g)
{
    if (!g) return;
    if (g->o.kind == WTE_GRAD_SPARSE)
        g->n = 0;
    else
        wte__parallel(g->o.pool, (g->n * g->cols * sizeof(float) + ZERO_BYTES - 1) / ZERO_BYTES,
                      zero_piece, g);
}

float *wte_grad_data(wte_grad *g)
{
    return g && g->o.kind == WTE_GRAD_DENSE ? g->values : NULL;
}

void wte_grad_view(const wte_grad *g, wte_grad_rows *out)
{
    if (!out) return;
    memset(out, 0, sizeof *out);
    if (!g) return;
    *out = (wte_grad_rows){ .n = g->n, .cols = g->cols, .ids = g->ids, .values = g->values };
}

/* Rows of a sparse gradient -------------------------------------------------------------------- */

/* How many rows there will be. */
static uint64_t count_union(const wte_grad *g, const wte__contributions *p)
{
    uint64_t n = 0, i = 0, u = 0;
    for (; i < g->n && u < p->n; n++) {
        const uint64_t old = g->ids[i], named = p->rows[u];
        i += old <= named;
        u += named <= old;
    }
    return n + (g->n - i) + (p->n - u);
}

/* Old rows move to their places among the new ones, from the last one on, so that this may also be
 * done within one piece of memory; new rows become zeros. at[u] gets the place of row u of p. */
static void merge_rows(const wte_grad *g, const wte__contributions *p, uint64_t n, uint64_t *ids,
                       float *values, uint64_t *at)
{
    const size_t bytes = (size_t)g->cols * sizeof *values;
    uint64_t i = g->n, u = p->n;
    for (uint64_t to = n; to-- > 0;) {
        const bool old = i && (!u || g->ids[i - 1] >= p->rows[u - 1]);
        const bool named = u && (!i || p->rows[u - 1] >= g->ids[i - 1]);
        const uint64_t id = old ? g->ids[i - 1] : p->rows[u - 1];
        float *row = bytes ? values + to * g->cols : NULL;
        if (old && bytes) memmove(row, g->values + (i - 1) * g->cols, bytes);
        if (!old && bytes) memset(row, 0, bytes);
        if (named) at[u - 1] = to;
        ids[to] = id;
        i -= old;
        u -= named;
    }
}

/* Room and places for the rows of p. *at is NULL when they are all there is, and not yet set; else
 * it is the caller's to free, also after a failure, which changes nothing. */
static wte_status make_room(wte_grad *g, const wte__contributions *p, uint64_t **at, wte_error *err)
{
    const uint64_t n = count_union(g, p);
    uint64_t cap = g->cap, *ids = g->ids;
    float *values = g->values;
    *at = NULL;
    if (g->n) {
        *at = wte__alloc_array(g->o.allocator, p->n, sizeof **at);
        if (!*at) return wte__no_memory(err, p->n * sizeof **at, "the places of a gradient's rows");
    }
    if (n > g->cap) WTE_TRY(allocate_rows(g, n, &cap, &ids, &values, err));
    if (*at)
        merge_rows(g, p, n, ids, values, *at);
    else
        memcpy(ids, p->rows, (size_t)n * sizeof *ids);
    if (ids != g->ids) free_rows(g, g->ids, g->values, g->cap);
    g->ids = ids;
    g->values = values;
    g->cap = cap;
    g->n = n;
    return WTE_OK;
}

/* Sums ----------------------------------------------------------------------------------------- */

/* Division of the sums among threads. */
typedef struct sharing {
    const wte__contributions *p;
    float *values;
    const uint64_t
        *at; /* places of rows; NULL: one after the other, which are set and not added to */
    uint64_t shares, heavy; /* a row with more parts is left to sum_columns */
    uint64_t row, pieces;   /* of sum_columns */
} sharing;

/* The first row whose first part is not before `part`. */
static uint64_t row_from(const wte__contributions *p, uint64_t part)
{
    uint64_t low = 0, high = p->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->first[middle] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rows u to u + n - 1 in columns begin to end - 1. */
static void sum_rows(const sharing *s, uint64_t u, uint64_t n, uint64_t begin, uint64_t end)
{
    wte__scatter job = wte__contributions_job(s->p, u, n, begin, end);
    job.out = s->values + begin + (s->at ? 0 : u * s->p->cols);
    job.out_stride = (size_t)s->p->cols;
    job.rows = s->at ? s->at + u : NULL;
    job.rows_prefetch_end = (size_t)(s->p->n - u);
    job.add = s->at != NULL;
    job.cold = true;
    wte__contributions_run(s->p, &job);
}

static void sum_share(void *ctx, uint64_t share)
{
    const sharing *s = ctx;
    const wte__contributions *p = s->p;
    const uint64_t last = row_from(p, p->count * (share + 1) / s->shares);
    uint64_t begin = row_from(p, p->count * share / s->shares);
    for (uint64_t u = begin; u < last; u++) {
        if (p->first[u + 1] - p->first[u] <= s->heavy) continue;
        if (u > begin) sum_rows(s, begin, u - begin, 0, p->cols);
        begin = u + 1;
    }
    if (last > begin) sum_rows(s, begin, last - begin, 0, p->cols);
}

static void sum_columns(void *ctx, uint64_t piece)
{
    const sharing *s = ctx;
    const uint64_t cols = s->p->cols, units = (cols + PIECE_COLS - 1) / PIECE_COLS;
    const uint64_t begin = units * piece / s->pieces * PIECE_COLS;
    const uint64_t end = units * (piece + 1) / s->pieces * PIECE_COLS;
    if (begin < cols) sum_rows(s, s->row, 1, begin, end < cols ? end : cols);
}

static void sum_parts(const wte__contributions *p, float *values, const uint64_t *at,
                      wte_pool *pool)
{
    sharing s = { .p = p, .values = values, .at = at, .shares = 1, .heavy = p->count };
    if (p->n == 0 || p->cols == 0) return;
    if (p->count < SHARED_BYTES / (p->cols * sizeof(float)) || wte_pool_n_threads(pool) == 1) {
        sum_share(&s, 0);
        return;
    }
    s.shares = wte_pool_n_threads(pool) * (uint64_t)SHARES_PER_THREAD;
    s.heavy = p->count / s.shares + 1;
    wte__parallel(pool, s.shares, sum_share, &s);
    s.pieces = (p->cols + PIECE_COLS - 1) / PIECE_COLS;
    if (s.pieces > wte_pool_n_threads(pool)) s.pieces = wte_pool_n_threads(pool);
    for (; s.row < p->n; s.row++)
        if (p->first[s.row + 1] - p->first[s.row] > s.heavy)
            wte__parallel(pool, s.pieces, sum_columns, &s);
}

/* Adds what the parts of this call say. */
static wte_status add_parts(wte_grad *g, wte_error *err)
{
    const wte__contributions *p = &g->parts;
    uint64_t *at = NULL;
    wte_status status = WTE_OK;
    const bool sparse = g->o.kind == WTE_GRAD_SPARSE;
    if (sparse && p->n) status = make_room(g, p, &at, err);
    if (status == WTE_OK) sum_parts(p, g->values, sparse ? at : p->rows, g->o.pool);
    if (at) wte__free(g->o.allocator, at, (size_t)p->n * sizeof *at);
    return status;
}

wte_status wte_grad_lookup(wte_grad *g, wte_ids ids, const void *d_out, size_t row_bytes,
                           const wte_backward_options *opt, wte_error *err)
{
    const wte__bag_back back = { .ids = ids, .d_out = d_out, .row_bytes = row_bytes };
    WTE_TRY(wte__need(g, "wte_grad_lookup: g", err));
    WTE_TRY(wte__contributions_again_lookup(g->rows, g->cols, &back, opt, &g->o, &g->parts, err));
    return add_parts(g, err);
}

wte_status wte_grad_bag(wte_grad *g, wte_ids ids, wte_ids offsets, const wte_bag_options *bag,
                        const void *d_out, size_t row_bytes, const wte_backward_options *opt,
                        wte_error *err)
{
    const wte__bag_back back = { ids, offsets, bag, d_out, row_bytes };
    WTE_TRY(wte__need(g, "wte_grad_bag: g", err));
    WTE_TRY(wte__contributions_again_bag(g->rows, g->cols, &back, opt, &g->o, &g->parts, err));
    return add_parts(g, err);
}
