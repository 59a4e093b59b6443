/* Gradients of the fused cross-entropy against differences of a plain one in f64: logits of every
 * row are held, and what one number moves is computed anew from them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <wte/grad.h>
#include <wte/head.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/thread.h"
#include "train/gradcheck.h"

#define STEP     1e-4 /* of a logit */
#define AT_ONCE  64u  /* rows that are read at once */
#define NO_PLACE SIZE_MAX

/* What LOSS does beside HEAD; numbers of the size that models have. */
#define SMOOTHING 0.1f
#define Z_LOSS    1e-2f
#define UPSTREAM  0.5f
#define TIMES     0.5f
#define CAP       10.0f

enum { STREAM_HIDDEN = 10, STREAM_BIAS };

typedef struct plain {
    wte__gradcheck *g;
    uint64_t v;      /* rows of the table */
    float *hidden;   /* n x cols */
    float *bias;     /* v; NULL for TIED */
    double *raw;     /* n x v: products with rows, and bias */
    double *columns; /* v x n_columns: the columns that are compared */
    uint8_t *chosen; /* v: whether a row is compared */
    /* of each position: the largest logit; over the rows that are not compared the sum of
     * exp(logit - largest), and of logits */
    double *top, *rest, *rest_sum;
    double factor; /* of each position's loss in the whole */
    double largest_hidden, largest_logit;
    wte_head_options head;
    wte_loss_options loss;
    /* the library's */
    float *d_hidden, *d_table, *d_bias;
    wte_grad *grad; /* whose data d_table is */
    /* at hand */
    const float *block; /* rows first .. first + n_block - 1 */
    uint64_t first, n_block;
    double *slopes; /* room for the larger of n_rows and n, x n_columns */
    double step;
    void (*slope)(struct plain *p, uint64_t row, uint64_t k);
} plain;

/* Forward, plainly ----------------------------------------------------------------------------- */

static double logit_of(const plain *p, double raw)
{
    if (p->head.chain.scale != 0) raw *= (double)p->head.chain.scale;
    const double cap = (double)p->head.chain.softcap;
    return cap > 0 ? cap * tanh(raw / cap) : raw;
}

/* What one number moves of a position's raw logits: all of them by `hidden` times their row's
 * column k, that of the row at `place` by `add` besides. */
typedef struct change {
    size_t place;
    double add, hidden;
    uint64_t k;
} change;

static double loss_from(const plain *p, uint64_t i, double sum, double total, double target)
{
    const double lse = p->top[i] + log(sum), s = (double)p->loss.label_smoothing;
    const double nll = lse - target, even = lse - total / (double)p->v;
    return (1 - s) * nll + s * even + (double)p->loss.z_loss * lse * lse;
}

/* When only the logit of a row that is compared moves, the others' part is known. */
static double loss_of_rows(const plain *p, uint64_t i, const change *x)
{
    const wte__gradcheck *g = p->g;
    double sum = p->rest[i], total = p->rest_sum[i], target = 0;
    for (size_t place = 0; place < g->n_rows; place++) {
        const uint64_t row = g->rows[place];
        const double l = logit_of(p, p->raw[i * p->v + row] + (place == x->place ? x->add : 0));
        sum += exp(l - p->top[i]);
        total += l;
        if ((int64_t)row == g->target[i]) target = l;
    }
    return loss_from(p, i, sum, total, target);
}

static double loss_of(const plain *p, uint64_t i, const change *x)
{
    const wte__gradcheck *g = p->g;
    const uint64_t moved = x->place == NO_PLACE ? WTE_NO_INDEX : g->rows[x->place];
    double sum = 0, total = 0, target = 0;
    if (g->target[i] < 0) return 0;
    if (x->hidden == 0) return loss_of_rows(p, i, x);
    for (uint64_t row = 0; row < p->v; row++) {
        double raw = p->raw[i * p->v + row] + x->hidden * p->columns[row * g->n_columns + x->k];
        if (row == moved) raw += x->add;
        const double l = logit_of(p, raw);
        sum += exp(l - p->top[i]);
        total += l;
        if ((int64_t)row == g->target[i]) target = l;
    }
    return loss_from(p, i, sum, total, target);
}

/* Slopes --------------------------------------------------------------------------------------- */

/* The loss with W[row at place, column k] moved by `by`. In a tied table that moves the hidden
 * vectors that are this row too, unless it is the padding id's. */
static double table_loss(const plain *p, uint64_t place, uint64_t k, double by)
{
    const wte__gradcheck *g = p->g;
    double sum = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        const double h = (double)p->hidden[i * g->cols + g->columns[k]];
        const bool input = p->grad && (uint64_t)g->ids[i] == g->rows[place] &&
                           !wte__gradcheck_is_padding(g, g->ids[i]);
        const change x = { .place = (size_t)place,
                           .k = k,
                           .hidden = input ? by : 0,
                           .add = by * (input ? h + by : h) };
        sum += loss_of(p, i, &x);
    }
    return p->factor * sum;
}

static void table_slope(plain *p, uint64_t place, uint64_t k)
{
    p->slopes[place * p->g->n_columns + k] =
        (table_loss(p, place, k, p->step) - table_loss(p, place, k, -p->step)) / (2 * p->step);
}

static void hidden_slope(plain *p, uint64_t i, uint64_t k)
{
    const change up = { .place = NO_PLACE, .k = k, .hidden = p->step };
    const change down = { .place = NO_PLACE, .k = k, .hidden = -p->step };
    p->slopes[i * p->g->n_columns + k] =
        p->factor * (loss_of(p, i, &up) - loss_of(p, i, &down)) / (2 * p->step);
}

static void run_row(void *ctx, uint64_t row)
{
    plain *p = ctx;
    for (uint64_t k = 0; k < p->g->n_columns; k++) p->slope(p, row, k);
}

static wte_status make_slopes(plain *p, void (*slope)(plain *, uint64_t, uint64_t), uint64_t rows,
                              double step, wte_error *err)
{
    p->slope = slope;
    p->step = step;
    wte__parallel(p->g->o.pool, rows, run_row, p);
    return wte__gradcheck_tell(p->g, rows * p->g->n_columns, err);
}

/* Logits --------------------------------------------------------------------------------------- */

static void multiply_block(void *ctx, uint64_t i)
{
    plain *p = ctx;
    const uint64_t cols = p->g->cols;
    const float *h = p->hidden + i * cols;
    for (uint64_t r = 0; r < p->n_block; r++) {
        const float *w = p->block + r * cols;
        double sum = 0;
        for (uint64_t c = 0; c < cols; c++) sum += (double)h[c] * (double)w[c];
        const uint64_t row = p->first + r;
        p->raw[i * p->v + row] = sum + (p->bias ? (double)p->bias[row] : 0);
    }
}

static wte_status take_block(plain *p, float *block, wte_error *err)
{
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte__gradcheck *g = p->g;
    int64_t ids[AT_ONCE];
    opt.out_dtype = WTE_F32;
    for (uint64_t r = 0; r < p->n_block; r++) ids[r] = (int64_t)(p->first + r);
    const wte_ids rows = { ids, WTE_I64, 0, p->n_block };
    WTE_TRY(wte_lookup(g->table, rows, &opt, block, 0, err));
    for (uint64_t r = 0; r < p->n_block; r++)
        for (uint64_t k = 0; k < g->n_columns; k++)
            p->columns[(p->first + r) * g->n_columns + k] =
                (double)block[r * g->cols + g->columns[k]];
    p->block = block;
    wte__parallel(g->o.pool, g->n, multiply_block, p);
    return WTE_OK;
}

static wte_status sum_position(plain *p, uint64_t i, wte_error *err)
{
    const double *raw = p->raw + i * p->v;
    double top = -(double)INFINITY;
    for (uint64_t row = 0; row < p->v; row++) {
        const double l = logit_of(p, raw[row]);
        if (!isfinite(l))
            return wte__fail(err, WTE_E_RANGE, row,
                             "row %" PRIu64 " has a logit of %g: no slope around it", row, l);
        top = fmax(top, l);
        p->largest_logit = fmax(p->largest_logit, fabs(l));
    }
    p->top[i] = top;
    p->rest[i] = p->rest_sum[i] = 0;
    for (uint64_t row = 0; row < p->v; row++) {
        if (p->chosen[row]) continue;
        const double l = logit_of(p, raw[row]);
        p->rest[i] += exp(l - top);
        p->rest_sum[i] += l;
    }
    return WTE_OK;
}

static wte_status make_logits(plain *p, wte_error *err)
{
    const wte__gradcheck *g = p->g;
    uint64_t cells;
    if (!wte__mul_u64(AT_ONCE, g->cols, &cells)) cells = UINT64_MAX;
    float *block = wte__alloc_array(g->o.allocator, cells, sizeof *block);
    wte_status status = block ? WTE_OK : wte__no_memory(err, cells, "rows of a head");
    for (p->first = 0; status == WTE_OK && p->first < p->v; p->first += p->n_block) {
        p->n_block = p->v - p->first < AT_ONCE ? p->v - p->first : AT_ONCE;
        status = take_block(p, block, err);
    }
    wte__free(g->o.allocator, block, (size_t)cells * sizeof *block);
    for (uint64_t k = 0; k < g->n_rows; k++) p->chosen[g->rows[k]] = 1;
    for (uint64_t i = 0; status == WTE_OK && i < g->n; i++) status = sum_position(p, i, err);
    return status;
}

/* The library's gradients ---------------------------------------------------------------------- */

static wte_status run_library(plain *p, wte_error *err)
{
    wte__gradcheck *g = p->g;
    const wte_hidden hidden = { p->hidden, WTE_F32, 0, g->n, g->cols, 0 };
    const wte_ids ids = { g->ids, WTE_I64, 0, g->n }, targets = { g->target, WTE_I64, 0, g->n };
    wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
    wte_loss out;
    uint64_t least, best;
    p->loss.d_hidden = p->d_hidden;
    p->loss.d_table = p->d_table;
    p->loss.d_bias = p->d_bias;
    WTE_TRY(wte_loss_workspace_size(g->table, &hidden, &p->head, &p->loss, &least, &best, err));
    p->head.work_bytes = least > best ? least : best;
    WTE_TRY(wte_head_loss(g->table, &hidden, targets, &p->head, &p->loss, &out, err));
    if (out.n_targets == 0)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "every target is ignored");
    p->factor = (double)p->loss.grad_scale / (p->loss.sum ? 1 : (double)out.n_targets);
    if (!p->grad) return WTE_OK;
    back.ignore_ids = &g->o.padding_id;
    back.n_ignore_ids = g->o.has_padding != 0;
    return wte_grad_lookup(p->grad, ids, p->d_hidden, 0, &back, err);
}

static void spoil(const plain *p, const char *name, float *values, uint64_t n)
{
    if (p->g->spoil) p->g->spoil(p->g->spoil_ctx, name, values, n);
}

static wte_status compare_hidden(plain *p, double unit, wte_error *err)
{
    wte__gradcheck *g = p->g;
    spoil(p, "d_hidden", p->d_hidden, g->n * g->cols);
    wte_gradcheck_result *r = wte__gradcheck_begin(g, "d_hidden", unit * g->largest);
    WTE_TRY(make_slopes(p, hidden_slope, g->n, STEP / fmax(1, g->largest), err));
    for (uint64_t i = 0; i < g->n; i++)
        for (uint64_t k = 0; k < g->n_columns; k++)
            wte__gradcheck_compare(g, r, i, g->columns[k],
                                   (double)p->d_hidden[i * g->cols + g->columns[k]],
                                   p->slopes[i * g->n_columns + k]);
    return WTE_OK;
}

static wte_status compare_table(plain *p, double unit, wte_error *err)
{
    wte__gradcheck *g = p->g;
    const double size = fmax(p->largest_hidden, p->grad ? g->largest : 0);
    spoil(p, "d_table", p->d_table, p->v * g->cols);
    wte_gradcheck_result *r = wte__gradcheck_begin(g, "d_table", unit * size);
    WTE_TRY(make_slopes(p, table_slope, g->n_rows, STEP / fmax(1, size), err));
    for (uint64_t place = 0; place < g->n_rows; place++)
        for (uint64_t k = 0; k < g->n_columns; k++)
            wte__gradcheck_compare(g, r, g->rows[place], g->columns[k],
                                   (double)p->d_table[g->rows[place] * g->cols + g->columns[k]],
                                   p->slopes[place * g->n_columns + k]);
    return WTE_OK;
}

static wte_status compare_bias(plain *p, double unit, wte_error *err)
{
    wte__gradcheck *g = p->g;
    spoil(p, "d_bias", p->d_bias, p->v);
    wte_gradcheck_result *r = wte__gradcheck_begin(g, "d_bias", unit);
    for (size_t place = 0; place < g->n_rows; place++) {
        const change up = { .place = place, .add = STEP }, down = { .place = place, .add = -STEP };
        double difference = 0;
        for (uint64_t i = 0; i < g->n; i++) difference += loss_of(p, i, &up) - loss_of(p, i, &down);
        wte__gradcheck_compare(g, r, g->rows[place], 0, (double)p->d_bias[g->rows[place]],
                               p->factor * difference / (2 * STEP));
    }
    return wte__gradcheck_tell(g, g->n_rows, err);
}

/* The whole ------------------------------------------------------------------------------------ */

static void settle(plain *p, wte_gradcheck_op op)
{
    const wte_head_options head = WTE_HEAD_OPTIONS_INIT;
    const wte_loss_options loss = WTE_LOSS_OPTIONS_INIT;
    p->head = head;
    p->loss = loss;
    p->head.pool = p->g->o.pool;
    p->head.allocator = p->g->o.allocator;
    p->head.bias = p->bias;
    p->head.bias_dtype = WTE_F32;
    if (op != WTE_GRADCHECK_LOSS) return;
    p->head.chain.scale = TIMES;
    p->head.chain.softcap = CAP;
    p->loss.label_smoothing = SMOOTHING;
    p->loss.z_loss = Z_LOSS;
    p->loss.grad_scale = UPSTREAM;
    p->loss.sum = 1;
}

/* Hidden vectors: the rows of the ids, or drawn. */
static void make_hidden(plain *p)
{
    const wte__gradcheck *g = p->g;
    const uint64_t n = g->n * g->cols;
    if (!p->grad) wte__gradcheck_draw(g, STREAM_HIDDEN, p->hidden, n);
    for (uint64_t i = 0; p->grad && i < g->n; i++) {
        const double *x = g->x + wte__gradcheck_place(g, (uint64_t)g->ids[i]) * g->cols;
        for (uint64_t c = 0; c < g->cols; c++) p->hidden[i * g->cols + c] = (float)x[c];
    }
    for (uint64_t i = 0; i < n; i++)
        p->largest_hidden = fmax(p->largest_hidden, fabs((double)p->hidden[i]));
}

static wte_status compare_all(plain *p, wte_gradcheck_op op, wte_error *err)
{
    wte__gradcheck *g = p->g;
    make_hidden(p);
    if (p->bias) wte__gradcheck_draw(g, STREAM_BIAS, p->bias, p->v);
    settle(p, op);
    WTE_TRY(run_library(p, err));
    WTE_TRY(make_logits(p, err));
    /* f32 logits are rounded by their size, and probabilities by what that makes of them */
    const double unit = fabs(p->factor) * fmax(1, p->largest_logit);
    g->total = g->n_rows * g->n_columns;
    if (p->grad) return compare_table(p, unit, err);
    g->total += g->n * g->n_columns + g->n_rows;
    WTE_TRY(compare_hidden(p, unit, err));
    WTE_TRY(compare_table(p, unit, err));
    return compare_bias(p, unit, err);
}

/* Numbers of an array that is to be allocated; 0 = it is not wanted. */
typedef struct wanted {
    void **to;
    uint64_t n;
    size_t size;
} wanted;

static wte_status allocate(const wanted *w, size_t n, const wte_allocator *a, wte_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (w[i].n == 0) continue;
        *w[i].to = wte__alloc_array(a, w[i].n, w[i].size);
        if (!*w[i].to) return wte__no_memory(err, w[i].n, "the numbers of a head");
        memset(*w[i].to, 0, (size_t)w[i].n * w[i].size);
    }
    return WTE_OK;
}

static wte_status check_sizes(const plain *p, uint64_t *logits, uint64_t *cells, wte_error *err)
{
    const wte__gradcheck *g = p->g;
    uint64_t bytes;
    if (!wte__mul_u64(g->n + g->n_columns, p->v, logits) || !wte__mul_u64(*logits, 8, &bytes) ||
        bytes > WTE_LIMIT_GRADCHECK_LOGITS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " ids and %" PRIu64 " rows: their logits in f64 take more than "
                         "%u bytes",
                         g->n, p->v, WTE_LIMIT_GRADCHECK_LOGITS);
    if (!wte__mul_u64(p->v, g->cols, cells)) *cells = UINT64_MAX;
    return WTE_OK;
}

wte_status wte__gradcheck_loss(wte__gradcheck *g, wte_gradcheck_op op, wte_error *err)
{
    const wte_allocator *a = g->o.allocator;
    const bool tied = op == WTE_GRADCHECK_TIED;
    plain p = { .g = g, .v = g->table->rows };
    uint64_t logits = 0, cells = 0;
    WTE_TRY(check_sizes(&p, &logits, &cells, err));
    const uint64_t slopes = (g->n_rows > g->n ? g->n_rows : g->n) * g->n_columns;
    const wanted arrays[] = {
        { (void **)&p.hidden, g->n * g->cols, sizeof *p.hidden },
        { (void **)&p.bias, tied ? 0 : p.v, sizeof *p.bias },
        { (void **)&p.raw, g->n * p.v, sizeof *p.raw },
        { (void **)&p.columns, g->n_columns * p.v, sizeof *p.columns },
        { (void **)&p.chosen, p.v, sizeof *p.chosen },
        { (void **)&p.top, g->n, sizeof *p.top },
        { (void **)&p.rest, g->n, sizeof *p.rest },
        { (void **)&p.rest_sum, g->n, sizeof *p.rest_sum },
        { (void **)&p.slopes, slopes, sizeof *p.slopes },
        { (void **)&p.d_hidden, g->n * g->cols, sizeof *p.d_hidden },
        { (void **)&p.d_table, tied ? 0 : cells, sizeof *p.d_table },
        { (void **)&p.d_bias, tied ? 0 : p.v, sizeof *p.d_bias },
    };
    const size_t n = sizeof arrays / sizeof *arrays;
    wte_grad_options opt = WTE_GRAD_OPTIONS_INIT;
    opt.pool = g->o.pool;
    opt.allocator = a;
    wte_status status = allocate(arrays, n, a, err);
    if (status == WTE_OK && tied) {
        status = wte_grad_create(p.v, g->cols, &opt, &p.grad, err);
        if (status == WTE_OK) p.d_table = wte_grad_data(p.grad);
    }
    if (status == WTE_OK) status = compare_all(&p, op, err);
    wte_grad_free(p.grad);
    for (size_t i = 0; i < n; i++)
        if (arrays[i].n) wte__free(a, *arrays[i].to, (size_t)arrays[i].n * arrays[i].size);
    return status;
}
