/* The gradients of the cross-entropy, block by block of hidden vectors: the logits of a block,
 * which the survey has kept tile by tile, become slopes in place; then
 *
 *      d_table  += slopes^T hidden     tile by tile
 *      d_hidden  = slopes table        share by share of the block
 *
 * so that there are three products in all. Sums are made in one order whatever the threads and the
 * work memory: d_table over groups of WTE__LOSS_GROUP hidden vectors, d_hidden over tiles. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "head/loss.h"
#include "head/tile.h"

bool wte__loss_wants_gradients(const wte_loss_options *how)
{
    return how->d_hidden || how->d_table || how->d_bias;
}

/* Whether a tile can be multiplied with where it lies. */
static bool lies_as_f32(const wte_rows *t)
{
    return t->data && !t->read_rows && t->dtype == WTE_F32 && (uintptr_t)t->data % 4 == 0 &&
           t->row_bytes % 4 == 0;
}

/* Memory -------------------------------------------------------------------------------------- */

static uint64_t slopes_of_each(const wte__loss_job *job)
{
    const wte_rows *t = job->s.sweep.table;
    return wte__tiles(t->rows, t->cols) * wte__tile_rows(t->cols) * sizeof(float);
}

static size_t scratch_of_each(const wte__loss_job *job)
{
    const wte_rows *t = job->s.sweep.table;
    if (lies_as_f32(t) || !job->how.d_hidden) return 0;
    const size_t elements = (size_t)(wte__tile_rows(t->cols) * t->cols);
    const size_t read = t->dtype == WTE_F32 ? 0 : elements * wte_dtype_bytes(t->dtype);
    return (elements * sizeof(float) + read + 63) / 64 * 64;
}

void wte__gradient_bytes(const wte__loss_job *job, uint64_t *fixed, uint64_t *each)
{
    *fixed = (uint64_t)scratch_of_each(job) * wte_pool_threads(job->s.sweep.o.pool);
    *each = slopes_of_each(job) + 2 * sizeof(float);
    if (job->how.d_table) *each += job->s.sweep.table->cols * sizeof(float);
}

/* A piece of work memory; false when there is none. */
static bool take(const wte__loss_job *job, uint64_t bytes, void *piece)
{
    void *block = wte__alloc(job->s.sweep.o.allocator, (size_t)bytes);
    memcpy(piece, &block, sizeof block);
    return block || bytes == 0;
}

static uint64_t hidden_bytes(const wte__loss_job *job)
{
    return job->how.d_table ? job->s.block * job->s.sweep.table->cols * sizeof(float) : 0;
}

wte_status wte__gradient_open(wte__loss_job *job, wte_error *err)
{
    const wte_chain *c = &job->s.sweep.o.chain;
    const uint64_t n = job->s.block, threads = wte_pool_threads(job->s.sweep.o.pool);
    job->unit = (double)job->how.upstream / (job->how.sum ? 1 : (double)job->taken);
    job->after = (c->times != 0 ? (double)c->times : 1) / (c->over != 0 ? (double)c->over : 1);
    job->before = (c->hidden_times != 0 ? (double)c->hidden_times : 1) /
                  (c->hidden_over != 0 ? (double)c->hidden_over : 1);
    job->scratch_bytes = scratch_of_each(job);
    if (take(job, n * slopes_of_each(job), &job->s.sweep.keep) &&
        take(job, n * 2 * sizeof(float), &job->minus) &&
        take(job, hidden_bytes(job), &job->hidden) &&
        take(job, job->scratch_bytes * threads, &job->scratch)) {
        job->scale = n ? job->minus + n : NULL;
        return WTE_OK;
    }
    return wte__no_memory(err, n * slopes_of_each(job), "the slopes of a loss");
}

void wte__gradient_close(wte__loss_job *job)
{
    const wte_allocator *a = job->s.sweep.o.allocator;
    const size_t n = (size_t)job->s.block;
    wte__free(a, job->s.sweep.keep, n * (size_t)slopes_of_each(job));
    wte__free(a, job->minus, n * 2 * sizeof(float));
    wte__free(a, job->hidden, (size_t)hidden_bytes(job));
    wte__free(a, job->scratch, job->scratch_bytes * wte_pool_threads(job->s.sweep.o.pool));
}

/* Slopes --------------------------------------------------------------------------------------- */

/* What all rows get for label smoothing. */
static double smoothing(const wte__loss_job *job)
{
    const double s = (double)job->how.label_smoothing;
    return s > 0 ? s / (double)job->unmasked : 0;
}

/* d loss / d logit of a row is unit (p (1 + 2 z lse) - smoothing - (1 - s) [it is the target]). */
static void choose_scales(wte__loss_job *job)
{
    for (uint64_t i = 0; i < job->s.part.n; i++) {
        const double lse = job->terms[i].lse;
        const double z = 1 + 2 * (double)job->how.z_loss * lse;
        job->minus[i] = (float)lse;
        /* what the rounding of lse leaves goes into the factor */
        const double rest = lse == -(double)INFINITY ? 0 : (double)job->minus[i] - lse;
        job->scale[i] = (float)(job->unit * job->after * z * exp(rest));
    }
}

/* Whether any slope of a tile for hidden vectors from to to - 1 of the block may reach skip_below.
 */
static bool counts(const wte__loss_job *job, uint64_t tile, uint64_t from, uint64_t to)
{
    const wte__survey *s = &job->s;
    const double even = smoothing(job), z = (double)job->how.z_loss;
    if (!(job->how.skip_below > 0)) return true;
    for (uint64_t i = from; i < to; i++) {
        const wte__term *term = job->terms + i;
        if (!term->taken) continue;
        if (s->target[i] / s->tile_rows == tile) return true;
        const double most = exp((double)s->most[tile * s->part.n + i] - term->lse);
        const double slope = most * fabs(1 + 2 * z * term->lse) + even;
        if (!(slope < (double)job->how.skip_below)) return true;
    }
    return false;
}

/* The next hidden vectors from `from` on, whole groups, that count for a tile; false: no more. */
static bool next_run(const wte__loss_job *job, uint64_t tile, uint64_t end, uint64_t *from,
                     uint64_t *to)
{
    const uint64_t group = WTE__LOSS_GROUP;
    for (*from = *to; *from < end; *from += group)
        if (counts(job, tile, *from, *from + group < end ? *from + group : end)) break;
    for (*to = *from; *to < end; *to += group)
        if (!counts(job, tile, *to, *to + group < end ? *to + group : end)) break;
    if (*to > end) *to = end;
    return *from < end;
}

/* In doubles: p - 1 of a prediction that is nearly sure has no other digits. */
static float target_slope(const wte__loss_job *job, uint64_t i, uint64_t row)
{
    const wte_head_options *o = &job->s.sweep.o;
    const wte__term *term = job->terms + i;
    const double logit = (double)term->logit, z = (double)job->how.z_loss;
    const double part = o->chain.cap > 0 ? logit / (double)o->chain.cap : 0;
    const double slope = expm1(logit - term->lse) + exp(logit - term->lse) * 2 * z * term->lse +
                         (double)job->how.label_smoothing - smoothing(job);
    if (wte__head_masks(o, row)) return 0;
    return (float)(job->unit * job->after * slope * (1 - part * part));
}

static void make_slopes(const wte__loss_job *job, uint64_t tile, size_t n_rows, float *slopes)
{
    const wte__survey *s = &job->s;
    const float cap = s->sweep.o.chain.cap;
    const uint64_t row = tile * s->tile_rows;
    const wte__slopes kernel = { slopes,
                                 s->tile_rows,
                                 n_rows,
                                 (size_t)s->part.n,
                                 job->minus,
                                 job->scale,
                                 (float)(-job->unit * job->after * smoothing(job)),
                                 cap > 0 ? 1 / cap : 0 };
    wte__kernels_get()->softmax_slopes(&kernel);
    for (uint64_t i = 0; i < s->part.n; i++) {
        float *of = slopes + i * s->tile_rows;
        if (!job->terms[i].taken)
            memset(of, 0, n_rows * sizeof *of);
        else if (s->target[i] / s->tile_rows == tile)
            of[s->target[i] - row] = target_slope(job, i, s->target[i]);
    }
    for (size_t r = 0; s->can_mask && r < n_rows; r++)
        for (uint64_t i = 0; wte__head_masks(&s->sweep.o, row + r) && i < s->part.n; i++)
            slopes[i * s->tile_rows + r] = 0;
}

/* The table ---------------------------------------------------------------------------------------
 */

static void add_bias(const wte__loss_job *job, uint64_t row, size_t n_rows, const float *slopes,
                     size_t n)
{
    float sum[WTE__TILE_ROWS_MOST] = { 0 };
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < n_rows; r++) sum[r] += slopes[i * job->s.tile_rows + r];
    for (size_t r = 0; r < n_rows; r++) job->how.d_bias[row + r] += sum[r];
}

/* A part of what this thread will want next of d_table. */
static void fetch_part(const wte__loss_job *job, uint64_t tile, uint64_t from, wte__outer *outer)
{
    const wte__survey *s = &job->s;
    const uint64_t next = tile + wte_pool_threads(s->sweep.o.pool);
    const uint64_t groups = (s->part.n + WTE__LOSS_GROUP - 1) / WTE__LOSS_GROUP;
    if (groups == 0 || next + 1 >= s->tiles) return;
    const uint64_t part = s->tile_rows * outer->cols / groups;
    outer->fetch =
        job->how.d_table + next * s->tile_rows * outer->cols + from / WTE__LOSS_GROUP * part;
    outer->fetch_bytes = (size_t)part * sizeof(float);
}

static void add_tile(void *ctx, uint64_t tile)
{
    const wte__loss_job *job = ctx;
    const wte__survey *s = &job->s;
    const uint64_t row = tile * s->tile_rows, left = s->sweep.table->rows - row;
    const size_t n_rows = left < s->tile_rows ? (size_t)left : s->tile_rows;
    const size_t cols = (size_t)s->sweep.table->cols;
    float *slopes = s->sweep.keep + tile * s->tile_rows * s->part.n;
    make_slopes(job, tile, n_rows, slopes);
    for (uint64_t from = 0, to = 0; next_run(job, tile, s->part.n, &from, &to);) {
        for (uint64_t i = from; i < to; i += WTE__LOSS_GROUP) {
            const size_t n = to - i < WTE__LOSS_GROUP ? (size_t)(to - i) : WTE__LOSS_GROUP;
            const float *of = slopes + i * s->tile_rows;
            if (job->how.d_bias) add_bias(job, row, n_rows, of, n);
            if (!job->how.d_table) continue;
            wte__outer outer = { .a = of,
                                 .a_step = s->tile_rows,
                                 .a_row = 1,
                                 .b = job->hidden + i * cols,
                                 .b_stride = cols,
                                 .steps = n,
                                 .c = job->how.d_table + row * cols,
                                 .c_stride = cols,
                                 .rows = n_rows,
                                 .cols = cols };
            fetch_part(job, tile, i, &outer);
            wte__kernels_get()->outer_f32(&outer);
        }
    }
}

/* The hidden vectors ------------------------------------------------------------------------------
 */

/* A share of d_hidden: rows and columns. */
typedef struct share {
    uint64_t from, to;
    size_t col, cols;
} share;

typedef struct shares {
    const wte__loss_job *job;
    uint64_t by_rows, by_cols;
} shares;

/* Shares of rows first: then each thread reads the table in one piece. */
static shares make_shares(const wte__loss_job *job)
{
    const uint64_t threads = wte_pool_threads(job->s.sweep.o.pool);
    const uint64_t groups = (job->s.part.n + WTE__LOSS_GROUP - 1) / WTE__LOSS_GROUP;
    const uint64_t panels = (job->s.sweep.table->cols + 63) / 64;
    shares all = { job, threads < groups ? threads : groups, 1 };
    const uint64_t rest = threads / all.by_rows;
    all.by_cols = rest > panels ? panels : rest;
    if (all.by_cols == 0) all.by_cols = 1;
    return all;
}

static share choose_share(const shares *all, uint64_t number)
{
    const wte__loss_job *job = all->job;
    const uint64_t n = job->s.part.n, cols = job->s.sweep.table->cols, group = WTE__LOSS_GROUP;
    const uint64_t groups = (n + group - 1) / group, panels = (cols + 63) / 64;
    const uint64_t i = number / all->by_cols, k = number % all->by_cols;
    const uint64_t col = panels * k / all->by_cols * 64;
    const uint64_t end = panels * (k + 1) / all->by_cols * 64;
    share one = { groups * i / all->by_rows * group, groups * (i + 1) / all->by_rows * group,
                  (size_t)col, (size_t)((end < cols ? end : cols) - col) };
    if (one.to > n) one.to = n;
    return one;
}

/* Rows of a tile as f32: where they lie, or in the thread's scratch. */
static wte_status load_rows(const wte__loss_job *job, uint64_t row, size_t n, uint32_t slot,
                            const float **rows, size_t *stride, wte_error *err)
{
    const wte_rows *t = job->s.sweep.table;
    const size_t elements = (size_t)(job->s.tile_rows * t->cols);
    *stride = (size_t)t->cols;
    if (lies_as_f32(t)) {
        *rows = (const float *)(const void *)((const char *)t->data + row * t->row_bytes);
        *stride = (size_t)t->row_bytes / sizeof(float);
        return WTE_OK;
    }
    float *wide = (float *)(void *)(job->scratch + slot * job->scratch_bytes);
    void *read = t->dtype == WTE_F32 ? (void *)wide : (void *)(wide + elements);
    *rows = wide;
    WTE_TRY(wte_rows_read_block(t, row, n, read, err));
    if (t->dtype == WTE_F32) return WTE_OK;
    return wte_convert(t->dtype, read, WTE_F32, wide, n * (size_t)t->cols, NULL, err);
}

/* Steps are rows of the table, as many at once as the kernel takes. */
static void add_rows(const wte__loss_job *job, const share *one, wte__outer outer,
                     const wte__outer *tile)
{
    const size_t steps = tile->steps;
    for (size_t r = 0; r < steps; r += WTE__OUTER_STEPS) {
        outer.a = tile->a + r;
        outer.b = tile->b + r * tile->b_stride + one->col;
        outer.steps = steps - r < WTE__OUTER_STEPS ? steps - r : WTE__OUTER_STEPS;
        if (outer.fetch && one->cols == job->s.sweep.table->cols) {
            outer.fetch = tile->b + (steps + r) * tile->b_stride;
            outer.fetch_bytes = outer.steps * tile->b_stride * sizeof(float);
        }
        wte__kernels_get()->outer_f32(&outer);
    }
}

static wte_status run_share(void *ctx, uint64_t number, uint32_t slot, wte_error *err)
{
    const shares *all = ctx;
    const wte__loss_job *job = all->job;
    const wte__survey *s = &job->s;
    const share one = choose_share(all, number);
    const size_t cols = (size_t)s->sweep.table->cols;
    float *out = job->how.d_hidden + s->first * cols + one.col;
    for (uint64_t i = one.from; i < one.to; i++) memset(out + i * cols, 0, one.cols * sizeof *out);
    for (uint64_t t = 0; t < s->tiles; t++) {
        const uint64_t row = t * s->tile_rows, left = s->sweep.table->rows - row;
        wte__outer tile = { .steps = left < s->tile_rows ? (size_t)left : s->tile_rows };
        WTE_TRY(load_rows(job, row, tile.steps, slot, &tile.b, &tile.b_stride, err));
        for (uint64_t from = 0, to = one.from; next_run(job, t, one.to, &from, &to);) {
            tile.a = s->sweep.keep + t * s->tile_rows * s->part.n + from * s->tile_rows;
            const bool more = t + 2 < s->tiles && lies_as_f32(s->sweep.table);
            const wte__outer outer = { .a_step = 1,
                                       .a_row = s->tile_rows,
                                       .b_stride = tile.b_stride,
                                       .c = out + from * cols,
                                       .c_stride = cols,
                                       .rows = (size_t)(to - from),
                                       .cols = one.cols,
                                       .fetch = more ? tile.b : NULL };
            add_rows(job, &one, outer, &tile);
        }
    }
    const float before = (float)job->before;
    for (uint64_t i = one.from; before != 1 && i < one.to; i++)
        for (size_t k = 0; k < one.cols; k++) out[i * cols + k] *= before;
    return WTE_OK;
}

wte_status wte__gradient_block(wte__loss_job *job, wte_error *err)
{
    wte__survey *s = &job->s;
    wte_pool *pool = s->sweep.o.pool;
    const size_t cols = (size_t)s->sweep.table->cols;
    choose_scales(job);
    for (uint64_t i = 0; job->how.d_table && i < s->part.n; i++) {
        float *to = job->hidden + i * cols;
        if (job->terms[i].taken)
            WTE_TRY(wte__hidden_widen(&s->part, &s->sweep.o.chain, i, to, err));
        else
            memset(to, 0, cols * sizeof *to); /* NaN times a slope of 0 would be NaN */
    }
    wte__parallel(pool, s->tiles, add_tile, job);
    if (!job->how.d_hidden || s->part.n == 0) return WTE_OK;
    shares all = make_shares(job);
    return wte__parallel_try(pool, all.by_rows * all.by_cols, run_share, &all, err);
}
