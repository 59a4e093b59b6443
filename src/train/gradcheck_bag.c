/* Gradients of lookups and bags against differences of sum(d_out * out), column by column: a column
 * of the output depends on that column of the table alone. */
#include <inttypes.h>
#include <math.h>
#include <wte/grad.h>

#include "base/checked.h"
#include "train/gradcheck.h"

#define STEP 1e-4 /* of the largest number; the functions are linear, but for maxima */
/* A dense gradient of a larger table is not made here: the sparse one says the same. */
#define DENSE_BYTES ((uint64_t)256 << 20)

enum { STREAM_D_OUT, STREAM_WEIGHTS };

typedef struct bags {
    wte__gradcheck *g;
    uint64_t *offsets; /* n_bags + 1; the last bag is empty. NULL for lookups */
    uint64_t n_bags;
    wte_bag_options o;
    float *weights; /* n */
    float *d_out;   /* n_bags (or n) x cols */
    uint64_t out_rows;
    uint64_t *max_at;
    float *out; /* what the library's bags are */
    double step;
} bags;

/* Forward, plainly ----------------------------------------------------------------------------- */

/* The number of id i in column c, with row `moved` moved by `by`. */
static double number_of(const bags *b, uint64_t i, uint64_t c, uint64_t moved, double by)
{
    const wte__gradcheck *g = b->g;
    const uint64_t place = wte__gradcheck_place(g, (uint64_t)g->ids[i]);
    return g->x[place * g->cols + c] + (place == moved ? by : 0);
}

/* sum over i of d_out[i, c] * row(ids[i])[c]. The row of the padding id is a constant. */
static double lookup_sum(const bags *b, uint64_t c, uint64_t moved, double by)
{
    const wte__gradcheck *g = b->g;
    double sum = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        const bool constant = wte__gradcheck_is_padding(g, g->ids[i]);
        sum += (double)b->d_out[i * g->cols + c] * number_of(b, i, c, moved, constant ? 0 : by);
    }
    return sum;
}

/* Column c of one bag. */
static double bag_of(const bags *b, uint64_t bag, uint64_t c, uint64_t moved, double by)
{
    const wte__gradcheck *g = b->g;
    double sum = 0, most = -(double)INFINITY;
    uint64_t members = 0;
    for (uint64_t i = b->offsets[bag]; i < b->offsets[bag + 1]; i++) {
        if (wte__gradcheck_is_padding(g, g->ids[i])) continue;
        const double x = number_of(b, i, c, moved, by);
        sum += b->o.weights ? (double)b->weights[i] * x : x;
        most = fmax(most, x);
        members++;
    }
    if (members == 0) return 0;
    if (b->o.mode == WTE_BAG_MAX) return most;
    return b->o.mode == WTE_BAG_MEAN ? sum / (double)members : sum;
}

static double bag_sum(const bags *b, uint64_t c, uint64_t moved, double by)
{
    double sum = 0;
    for (uint64_t bag = 0; bag < b->n_bags; bag++)
        sum += (double)b->d_out[bag * b->g->cols + c] * bag_of(b, bag, c, moved, by);
    return sum;
}

/* Whether a row is at most two steps from the maximum of the others in a bag that it is in. */
static bool is_tied(const bags *b, uint64_t c, uint64_t place)
{
    const wte__gradcheck *g = b->g;
    for (uint64_t bag = 0; bag < b->n_bags; bag++) {
        double other = -(double)INFINITY;
        bool there = false;
        for (uint64_t i = b->offsets[bag]; i < b->offsets[bag + 1]; i++) {
            if (wte__gradcheck_is_padding(g, g->ids[i])) continue;
            if ((uint64_t)g->ids[i] == g->rows[place])
                there = true;
            else
                other = fmax(other, number_of(b, i, c, WTE_NO_INDEX, 0));
        }
        if (there && fabs(g->x[place * g->cols + c] - other) <= 2 * b->step) return true;
    }
    return false;
}

/* Comparison ----------------------------------------------------------------------------------- */

/* The gradient's row, NULL = zeros. A sparse gradient that nothing was added to has no ids either.
 */
static const float *gradient_of(const wte_grad_rows *view, uint64_t row)
{
    if (!view->ids) return row < view->n ? view->values + row * view->cols : NULL;
    for (uint64_t i = 0; i < view->n; i++)
        if (view->ids[i] == row) return view->values + i * view->cols;
    return NULL;
}

static void note_tie(wte_gradcheck_result *r, uint64_t row, uint64_t col)
{
    if (r->tied < WTE_GRADCHECK_TIES)
        r->ties[r->tied] = (wte_gradcheck_place){ row, col, (double)NAN, (double)NAN };
    r->tied++;
}

static wte_status compare_table(bags *b, const char *name, double unit, const wte_grad_rows *view,
                                wte_error *err)
{
    wte__gradcheck *g = b->g;
    wte_gradcheck_result *r = wte__gradcheck_begin(g, name, unit);
    double (*const sum)(const bags *, uint64_t, uint64_t, double) =
        b->offsets ? bag_sum : lookup_sum;
    for (uint64_t p = 0; p < g->n_rows; p++) {
        const float *row = gradient_of(view, g->rows[p]);
        for (uint64_t k = 0; k < g->n_columns; k++) {
            const uint64_t c = g->columns[k];
            if (b->offsets && b->o.mode == WTE_BAG_MAX && is_tied(b, c, p)) {
                note_tie(r, g->rows[p], c);
                continue;
            }
            const double slope = (sum(b, c, p, b->step) - sum(b, c, p, -b->step)) / (2 * b->step);
            wte__gradcheck_compare(g, r, g->rows[p], c, row ? (double)row[c] : 0, slope);
        }
        WTE_TRY(wte__gradcheck_tell(g, g->n_columns, err));
    }
    return WTE_OK;
}

/* The library's gradient, perhaps spoiled, and the comparison. */
static wte_status check_table(bags *b, wte_grad_kind kind, const char *name, double unit,
                              wte_error *err)
{
    wte__gradcheck *g = b->g;
    wte_grad_options opt = WTE_GRAD_OPTIONS_INIT;
    wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
    const wte_ids ids = { g->ids, WTE_I64, 0, g->n };
    const wte_ids offsets = { b->offsets, WTE_I64, 0, b->n_bags };
    wte_grad_rows view;
    wte_grad *grad;
    opt.kind = kind;
    opt.pool = g->o.pool;
    opt.allocator = g->o.allocator;
    back.ignore_ids = &g->o.padding_id;
    back.n_ignore_ids = g->o.has_padding != 0;
    WTE_TRY(wte_grad_create(g->table->rows, g->cols, &opt, &grad, err));
    wte_status status = b->offsets ? wte_grad_bag(grad, ids, offsets, &b->o, b->d_out, 0, NULL, err)
                                   : wte_grad_lookup(grad, ids, b->d_out, 0, &back, err);
    if (status == WTE_OK) {
        wte_grad_view(grad, &view);
        /* the gradient is this function's own: what is borrowed from it may be spoiled */
        union {
            const float *borrowed;
            float *own;
        } values = { view.values };
        if (g->spoil) g->spoil(g->spoil_ctx, name, values.own, view.n * view.cols);
        status = compare_table(b, name, unit, &view, err);
    }
    wte_grad_free(grad);
    return status;
}

/* Lookups -------------------------------------------------------------------------------------- */

static wte_status take_d_out(bags *b, wte_error *err)
{
    const wte__gradcheck *g = b->g;
    const uint64_t n = b->out_rows * g->cols;
    if (g->o.d_out && g->o.d_out_rows != b->out_rows)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "d_out has %" PRIu64 " rows, but the output %" PRIu64, g->o.d_out_rows,
                         b->out_rows);
    if (!g->o.d_out) wte__gradcheck_draw(g, STREAM_D_OUT, b->d_out, n);
    for (uint64_t i = 0; g->o.d_out && i < n; i++) {
        b->d_out[i] = g->o.d_out[i];
        if (!isfinite(b->d_out[i]))
            return wte__fail(err, WTE_E_RANGE, i / g->cols, "row %" PRIu64 " of d_out has %g",
                             i / g->cols, (double)b->d_out[i]);
    }
    return WTE_OK;
}

static double largest_of(const float *x, uint64_t n)
{
    double most = 0;
    for (uint64_t i = 0; i < n; i++) most = fmax(most, fabs((double)x[i]));
    return most;
}

static bool dense_is_small(const wte__gradcheck *g)
{
    uint64_t bytes;
    return wte__mul_u64(g->table->rows, g->cols * sizeof(float), &bytes) && bytes <= DENSE_BYTES;
}

wte_status wte__gradcheck_lookup(wte__gradcheck *g, wte_error *err)
{
    bags b = { .g = g, .out_rows = g->n };
    const uint64_t cells = g->n * g->cols;
    const bool dense = dense_is_small(g);
    b.step = STEP * (g->largest > 0 ? g->largest : 1);
    g->total = g->n_rows * g->n_columns * (1 + dense);
    b.d_out = wte__alloc_array(g->o.allocator, cells, sizeof *b.d_out);
    if (!b.d_out) return wte__no_memory(err, cells * sizeof *b.d_out, "what comes back");
    wte_status status = take_d_out(&b, err);
    const double unit = largest_of(b.d_out, status == WTE_OK ? cells : 0);
    if (status == WTE_OK && dense)
        status = check_table(&b, WTE_GRAD_DENSE, "d_table, dense", unit, err);
    if (status == WTE_OK) status = check_table(&b, WTE_GRAD_SPARSE, "d_table, sparse", unit, err);
    wte__free(g->o.allocator, b.d_out, (size_t)cells * sizeof *b.d_out);
    return status;
}

/* Bags ----------------------------------------------------------------------------------------- */

static double weighted_sum(const bags *b, uint64_t moved, double by)
{
    const wte__gradcheck *g = b->g;
    double sum = 0;
    for (uint64_t bag = 0; bag < b->n_bags; bag++)
        for (uint64_t i = b->offsets[bag]; i < b->offsets[bag + 1]; i++) {
            if (wte__gradcheck_is_padding(g, g->ids[i])) continue;
            const double weight = (double)b->weights[i] + (i == moved ? by : 0);
            for (uint64_t c = 0; c < g->cols; c++)
                sum += (double)b->d_out[bag * g->cols + c] * weight *
                       number_of(b, i, c, WTE_NO_INDEX, 0);
        }
    return sum;
}

static wte_status check_weights(bags *b, float *d_weights, double unit, wte_error *err)
{
    wte__gradcheck *g = b->g;
    const wte_ids ids = { g->ids, WTE_I64, 0, g->n };
    const wte_ids offsets = { b->offsets, WTE_I64, 0, b->n_bags };
    WTE_TRY(wte_bag_weights_grad(g->table, ids, offsets, &b->o, b->d_out, NULL, d_weights, err));
    if (g->spoil) g->spoil(g->spoil_ctx, "d_weights", d_weights, g->n);
    wte_gradcheck_result *r =
        wte__gradcheck_begin(g, "d_weights", unit * g->largest * sqrt((double)g->cols));
    for (uint64_t i = 0; i < g->n; i++) {
        const double slope = (weighted_sum(b, i, STEP) - weighted_sum(b, i, -STEP)) / (2 * STEP);
        wte__gradcheck_compare(g, r, i, 0, (double)d_weights[i], slope);
        WTE_TRY(wte__gradcheck_tell(g, 1, err));
    }
    return WTE_OK;
}

/* The four ways to reduce a bag, and the weights. */
static wte_status check_modes(bags *b, wte_error *err)
{
    static const struct {
        wte_bag_mode mode;
        bool weighted;
        const char *name;
    } ways[] = { { WTE_BAG_SUM, false, "d_table of sums" },
                 { WTE_BAG_MEAN, false, "d_table of means" },
                 { WTE_BAG_MAX, false, "d_table of maxima" },
                 { WTE_BAG_SUM, true, "d_table of weighted sums" } };
    const wte__gradcheck *g = b->g;
    const wte_ids ids = { g->ids, WTE_I64, 0, g->n };
    const wte_ids offsets = { b->offsets, WTE_I64, 0, b->n_bags };
    const double unit = largest_of(b->d_out, b->out_rows * g->cols);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        b->o.mode = ways[w].mode;
        b->o.weights = ways[w].weighted ? b->weights : NULL;
        b->o.argmax = ways[w].mode == WTE_BAG_MAX ? b->max_at : NULL;
        if (b->o.argmax) WTE_TRY(wte_bag_reduce(g->table, ids, offsets, &b->o, b->out, 0, err));
        WTE_TRY(check_table(b, WTE_GRAD_SPARSE, ways[w].name, unit, err));
    }
    return check_weights(b, b->out, unit, err);
}

static void cut_into_bags(bags *b, uint64_t size)
{
    for (uint64_t k = 0; k + 1 < b->n_bags; k++) b->offsets[k] = k * size;
    b->offsets[b->n_bags - 1] = b->g->n;
    b->offsets[b->n_bags] = b->g->n;
    b->o.ignore_ids = &b->g->o.padding_id;
    b->o.n_ignore_ids = b->g->o.has_padding != 0;
    b->o.pool = b->g->o.pool;
    b->o.allocator = b->g->o.allocator;
}

wte_status wte__gradcheck_bag(wte__gradcheck *g, wte_error *err)
{
    const wte_allocator *a = g->o.allocator;
    const wte_bag_options init = WTE_BAG_OPTIONS_INIT;
    const uint64_t size = g->o.ids_per_bag ? g->o.ids_per_bag : (g->n + 1) / 2;
    bags b = { .g = g, .o = init };
    b.n_bags = b.out_rows = g->n / size + (g->n % size != 0) + 1;
    b.step = STEP * (g->largest > 0 ? g->largest : 1);
    g->total = 4 * g->n_rows * g->n_columns + g->n;
    const uint64_t cells = b.out_rows * g->cols, outs = cells + g->n;
    b.offsets = wte__alloc_array(a, b.n_bags + 1, sizeof *b.offsets);
    b.weights = wte__alloc_array(a, g->n, sizeof *b.weights);
    b.d_out = wte__alloc_array(a, cells, sizeof *b.d_out);
    b.out = wte__alloc_array(a, outs, sizeof *b.out);
    b.max_at = wte__alloc_array(a, cells, sizeof *b.max_at);
    wte_status status = WTE_OK;
    if (!b.offsets || !b.weights || !b.d_out || !b.out || !b.max_at)
        status = wte__no_memory(err, cells * sizeof *b.max_at, "bags");
    if (status == WTE_OK) {
        cut_into_bags(&b, size);
        wte__gradcheck_draw(g, STREAM_WEIGHTS, b.weights, g->n);
        status = take_d_out(&b, err);
    }
    if (status == WTE_OK) status = check_modes(&b, err);
    wte__free(a, b.offsets, (size_t)(b.n_bags + 1) * sizeof *b.offsets);
    wte__free(a, b.weights, (size_t)g->n * sizeof *b.weights);
    wte__free(a, b.d_out, (size_t)cells * sizeof *b.d_out);
    wte__free(a, b.out, (size_t)outs * sizeof *b.out);
    wte__free(a, b.max_at, (size_t)cells * sizeof *b.max_at);
    return status;
}
