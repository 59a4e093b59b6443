/* The gradients of the cross-entropy, block by block of hidden vectors: the logits of a block, kept
 * tile by tile by the statistics pass, become d_logits (the softmax gradient) in place; then
 *
 *      d_table  += d_logits^T hidden     tile by tile
 *      d_hidden  = d_logits table        share by share of the block
 *
 * which is three products in all. The order of sums depends neither on threads nor on work memory:
 * d_table over groups of WTE__LOSS_GROUP hidden vectors, d_hidden over tiles. */
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

/* Whether a tile can be multiplied in place. */
static bool lies_as_f32(const wte_row_source *t)
{
    return t->data && !t->read_rows && t->dtype == WTE_F32 && (uintptr_t)t->data % 4 == 0 &&
           t->row_bytes % 4 == 0;
}

#define LINE 64u /* of the caches */

static uint64_t over(uint64_t n, uint64_t parts)
{
    return n / parts + (n % parts != 0);
}

/* Memory -------------------------------------------------------------------------------------- */

static uint64_t d_logits_bytes(const wte__loss_job *job)
{
    const wte_row_source *t = job->s.sweep.table;
    return wte__tiles(t->rows, t->cols) * wte__tile_rows(t->cols) * sizeof(float);
}

static size_t scratch_of_each(const wte__loss_job *job)
{
    const wte_row_source *t = job->s.sweep.table;
    if (lies_as_f32(t) || !job->how.d_hidden) return 0;
    const size_t elements = (size_t)(wte__tile_rows(t->cols) * t->cols);
    const size_t read = t->dtype == WTE_F32 ? 0 : elements * wte_dtype_bytes(t->dtype);
    return (elements * sizeof(float) + read + 63) / 64 * 64;
}

static uint64_t panels(const wte__loss_job *job)
{
    return over(job->s.sweep.table->cols, WTE__OUTER_COLS);
}
static uint64_t hidden_of_each(const wte__loss_job *job)
{
    return job->how.d_table ? panels(job) * WTE__OUTER_COLS * sizeof(float) : 0;
}
static size_t hidden_bytes(const wte__loss_job *job)
{
    return job->how.d_table ? (size_t)((job->s.block + 1) * hidden_of_each(job)) + LINE : 0;
}

void wte__gradient_bytes(const wte__loss_job *job, uint64_t *fixed, uint64_t *each)
{
    *fixed = (uint64_t)scratch_of_each(job) * wte_pool_n_threads(job->s.sweep.o.pool);
    if (job->how.d_table) *fixed += hidden_of_each(job) + LINE;
    *each = d_logits_bytes(job) + 2 * sizeof(float);
    *each += hidden_of_each(job);
}

/* A piece of work memory; false when it is exhausted. */
static bool take(const wte__loss_job *job, uint64_t bytes, void *piece)
{
    void *block = wte__alloc(job->s.sweep.o.allocator, (size_t)bytes);
    memcpy(piece, &block, sizeof block);
    return block || bytes == 0;
}

static float *next_line(uint8_t *memory)
{
    return (float *)(void *)(memory + (LINE - (uintptr_t)memory % LINE) % LINE);
}

wte_status wte__gradient_open(wte__loss_job *job, wte_error *err)
{
    const wte_logit_transform *c = &job->s.sweep.o.chain;
    const uint64_t n = job->s.block, threads = wte_pool_n_threads(job->s.sweep.o.pool);
    job->unit = (double)job->how.grad_scale / (job->how.sum ? 1 : (double)job->taken);
    job->after =
        (c->scale != 0 ? (double)c->scale : 1) / (c->divisor != 0 ? (double)c->divisor : 1);
    job->before = (c->hidden_scale != 0 ? (double)c->hidden_scale : 1) /
                  (c->hidden_divisor != 0 ? (double)c->hidden_divisor : 1);
    job->scratch_bytes = scratch_of_each(job);
    if (take(job, n * d_logits_bytes(job), &job->s.sweep.keep) &&
        take(job, n * 2 * sizeof(float), &job->minus) &&
        take(job, hidden_bytes(job), &job->hidden_memory) &&
        take(job, job->scratch_bytes * threads, &job->scratch)) {
        job->scale = n ? job->minus + n : NULL;
        if (job->hidden_memory) job->hidden = next_line(job->hidden_memory);
        if (job->hidden) job->one = job->hidden + n * panels(job) * WTE__OUTER_COLS;
        return WTE_OK;
    }
    return wte__no_memory(err, n * d_logits_bytes(job), "the gradients of logits");
}

void wte__gradient_close(wte__loss_job *job)
{
    const wte_allocator *a = job->s.sweep.o.allocator;
    const size_t n = (size_t)job->s.block;
    wte__free(a, job->s.sweep.keep, n * (size_t)d_logits_bytes(job));
    wte__free(a, job->minus, n * 2 * sizeof(float));
    wte__free(a, job->hidden_memory, hidden_bytes(job));
    wte__free(a, job->scratch, job->scratch_bytes * wte_pool_n_threads(job->s.sweep.o.pool));
}

/* Tiles --------------------------------------------------------------------------------------- */

typedef struct tile {
    uint64_t number, row, chosen;
    size_t n_rows;
    float *d_logits;
} tile;

static tile find_tile(const wte__loss_job *job, uint64_t number)
{
    const wte__logit_stats *s = &job->s;
    const uint64_t row = number * s->tile_rows, left = s->sweep.table->rows - row;
    return (tile){ .number = number,
                   .row = row,
                   .n_rows = left < s->tile_rows ? (size_t)left : s->tile_rows,
                   .d_logits = s->sweep.keep + number * s->tile_rows * s->part.n };
}

/* Gradients of logits -------------------------------------------------------------------------- */

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
        const wte__term *term = job->terms + i;
        const double z = 1 + 2 * (double)job->how.z_loss * term->lse;
        job->minus[i] = term->most;
        job->scale[i] = (float)(job->unit * job->after * z * exp(-term->log_sum));
    }
}

/* Groups of the block are bits of a word. */
_Static_assert(WTE__SURVEY_MOST <= UINT64_C(63) * WTE__LOSS_GROUP,
               "a block has more groups than 63");

static uint64_t groups(const wte__loss_job *job)
{
    return over(job->s.part.n, WTE__LOSS_GROUP);
}

/* ln of the probability of a logit. */
static double log_share(const wte__term *term, float logit)
{
    return (double)logit - (double)term->most - term->log_sum;
}

/* Whether a gradient of a tile may reach skip_below. */
static bool counts(const wte__loss_job *job, uint64_t number, uint64_t i)
{
    const wte__logit_stats *s = &job->s;
    const wte__term *term = job->terms + i;
    if (!term->taken) return false;
    if (s->target[i] / s->tile_rows == number) return true;
    const double most = exp(log_share(term, s->most[number * s->part.n + i]));
    const double slope = most * fabs(1 + 2 * (double)job->how.z_loss * term->lse) + smoothing(job);
    return !(slope < (double)job->how.skip_below);
}

/* The groups from `from` to `to` - 1 that have a gradient of the tile that is not skipped. */
static uint64_t choose_groups(const wte__loss_job *job, uint64_t number, uint64_t from, uint64_t to)
{
    uint64_t chosen = 0;
    for (uint64_t g = from; g < to; g++) {
        const uint64_t first = g * WTE__LOSS_GROUP, left = job->s.part.n - first;
        const uint64_t end = first + (left < WTE__LOSS_GROUP ? left : WTE__LOSS_GROUP);
        bool any = !(job->how.skip_below > 0);
        for (uint64_t i = first; i < end && !any; i++) any = counts(job, number, i);
        chosen |= (uint64_t)any << g;
    }
    return chosen;
}

/* Neighbouring hidden vectors, at most `most` groups, of those that were chosen, from `to` on;
 * false: no more. */
typedef struct run {
    uint64_t from, to;
} run;

static bool next_run(const wte__loss_job *job, uint64_t chosen, uint64_t most, run *r)
{
    uint64_t g = over(r->to, WTE__LOSS_GROUP), end;
    while (chosen >> g && !(chosen >> g & 1)) g++;
    if (!(chosen >> g)) return false;
    for (end = g; end - g < most && chosen >> end & 1;) end++;
    r->from = g * WTE__LOSS_GROUP;
    r->to = end * WTE__LOSS_GROUP < job->s.part.n ? end * WTE__LOSS_GROUP : job->s.part.n;
    return true;
}

/* In doubles: p - 1 of a prediction that is nearly sure has no other digits. */
static float target_slope(const wte__loss_job *job, uint64_t i, uint64_t row)
{
    const wte_head_options *o = &job->s.sweep.o;
    const wte__term *term = job->terms + i;
    const double logit = (double)term->logit, z = (double)job->how.z_loss;
    const double part = o->chain.softcap > 0 ? logit / (double)o->chain.softcap : 0;
    const double share = log_share(term, term->logit);
    const double slope = expm1(share) + exp(share) * 2 * z * term->lse +
                         (double)job->how.label_smoothing - smoothing(job);
    if (wte__head_masks(o, row)) return 0;
    return (float)(job->unit * job->after * slope * (1 - part * part));
}

static void make_d_logits(const wte__loss_job *job, const tile *t)
{
    const wte__logit_stats *s = &job->s;
    const float cap = s->sweep.o.chain.softcap;
    const wte__softmax_grad kernel = { t->d_logits,
                                       s->tile_rows,
                                       t->n_rows,
                                       (size_t)s->part.n,
                                       job->minus,
                                       job->scale,
                                       (float)(-job->unit * job->after * smoothing(job)),
                                       cap > 0 ? 1 / cap : 0 };
    wte__kernels_get()->softmax_grad(&kernel);
    for (uint64_t i = 0; i < s->part.n; i++) {
        float *of = t->d_logits + i * s->tile_rows;
        if (!job->terms[i].taken)
            memset(of, 0, t->n_rows * sizeof *of);
        else if (s->target[i] / s->tile_rows == t->number)
            of[s->target[i] - t->row] = target_slope(job, i, s->target[i]);
    }
    for (size_t r = 0; s->can_mask && r < t->n_rows; r++)
        for (uint64_t i = 0; wte__head_masks(&s->sweep.o, t->row + r) && i < s->part.n; i++)
            t->d_logits[i * s->tile_rows + r] = 0;
}

/* The table ---------------------------------------------------------------------------------------
 */

/* Groups that the kernel takes at once. */
#define GROUPS_AT_ONCE (WTE__OUTER_STEPS / WTE__LOSS_GROUP)

static void add_bias(const wte__loss_job *job, const tile *t)
{
    for (run r = { 0, 0 }; next_run(job, t->chosen, 1, &r);) {
        const float *d_logits = t->d_logits + r.from * job->s.tile_rows;
        float sum[WTE__TILE_ROWS_MOST] = { 0 };
        for (uint64_t i = r.from; i < r.to; i++, d_logits += job->s.tile_rows)
            for (size_t k = 0; k < t->n_rows; k++) sum[k] += d_logits[k];
        for (size_t k = 0; k < t->n_rows; k++) job->how.d_bias[t->row + k] += sum[k];
    }
}

/* Part of n pieces: what one of several calls fetches. */
static wte__wanted part_of(const void *at, size_t stride, size_t n, uint64_t part, uint64_t parts)
{
    if (parts == 0) return (wte__wanted){ NULL, 0, 0 };
    const size_t from = (size_t)(n * part / parts), to = (size_t)(n * (part + 1) / parts);
    return (wte__wanted){ (const char *)at + from * stride, stride, to - from };
}

/* Prefetches, in steps while the hidden vectors of a panel are added, the next panel of d_table (or
 * the first of the next tile) and the next tile's gradients. Hidden vectors are left to the
 * hardware prefetchers, which do better. */
static void fetch_for_table(const wte__loss_job *job, const tile *t, uint64_t panel, uint64_t first,
                            wte__outer *o)
{
    const wte__logit_stats *s = &job->s;
    const uint64_t calls = over(groups(job), GROUPS_AT_ONCE), all = panels(job);
    const uint64_t call = first / ((uint64_t)GROUPS_AT_ONCE * WTE__LOSS_GROUP);
    const bool more = t->number + 1 < s->tiles;
    const tile next = find_tile(job, t->number + more);
    const size_t d_logits = s->tile_rows * (size_t)s->part.n * sizeof *next.d_logits;
    const size_t stride = o->c_stride * sizeof *o->c;
    if (panel + 1 < all && (panel + 2) * WTE__OUTER_COLS <= o->c_stride)
        o->wanted[0] = part_of(o->c + WTE__OUTER_COLS, stride, t->n_rows, call, calls);
    if (panel + 1 == all && more && o->c_stride >= WTE__OUTER_COLS)
        o->wanted[0] =
            part_of(job->how.d_table + next.row * o->c_stride, stride, next.n_rows, call, calls);
    if (more)
        o->wanted[1] = part_of(next.d_logits, WTE__WANTED_BYTES, d_logits / WTE__WANTED_BYTES,
                               panel * calls + call, all * calls);
}

/* Columns outside: those of d_table come from memory once, and stay in the cache until the last
 * hidden vector has been added. */
static void add_products(const wte__loss_job *job, const tile *t)
{
    const size_t cols = (size_t)job->s.sweep.table->cols;
    for (uint64_t panel = 0; panel < panels(job); panel++) {
        const size_t col = (size_t)panel * WTE__OUTER_COLS;
        for (run r = { 0, 0 }; next_run(job, t->chosen, GROUPS_AT_ONCE, &r);) {
            wte__outer o = { .a = t->d_logits + r.from * job->s.tile_rows,
                             .a_step = job->s.tile_rows,
                             .a_row = 1,
                             .b = job->hidden + (panel * job->s.part.n + r.from) * WTE__OUTER_COLS,
                             .b_stride = WTE__OUTER_COLS,
                             .steps = (size_t)(r.to - r.from),
                             .group = WTE__LOSS_GROUP,
                             .c = job->how.d_table + t->row * cols + col,
                             .c_stride = cols,
                             .rows = t->n_rows,
                             .cols = cols - col < WTE__OUTER_COLS ? cols - col : WTE__OUTER_COLS };
            fetch_for_table(job, t, panel, r.from, &o);
            wte__kernels_get()->outer_f32(&o);
        }
    }
}

static wte_status add_tile(void *ctx, uint64_t number, uint32_t slot, wte_error *err)
{
    (void)slot;
    (void)err;
    const wte__loss_job *job = ctx;
    tile t = find_tile(job, number);
    make_d_logits(job, &t);
    t.chosen = choose_groups(job, number, 0, groups(job));
    if (job->how.d_bias) add_bias(job, &t);
    if (job->how.d_table) add_products(job, &t);
    return WTE_OK;
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

/* Even shares, of columns rather than rows: each share reads its columns of all rows of the table.
 */
static shares make_shares(const wte__loss_job *job)
{
    const uint64_t threads = wte_pool_n_threads(job->s.sweep.o.pool);
    uint64_t least = UINT64_MAX;
    shares all = { job, 1, 1 };
    for (uint64_t by_cols = 1; by_cols <= threads && by_cols <= panels(job); by_cols++) {
        uint64_t by_rows = threads / by_cols;
        if (by_rows > groups(job)) by_rows = groups(job);
        const uint64_t largest = over(panels(job), by_cols) * over(groups(job), by_rows);
        if (largest > least) continue;
        least = largest;
        all.by_rows = by_rows;
        all.by_cols = by_cols;
    }
    return all;
}

static share choose_share(const shares *all, uint64_t number)
{
    const wte__loss_job *job = all->job;
    const uint64_t n = job->s.part.n, cols = job->s.sweep.table->cols, step = WTE__OUTER_COLS;
    const uint64_t i = number / all->by_cols, k = number % all->by_cols;
    const uint64_t col = panels(job) * k / all->by_cols * step;
    const uint64_t end = panels(job) * (k + 1) / all->by_cols * step;
    share one = { groups(job) * i / all->by_rows * WTE__LOSS_GROUP,
                  groups(job) * (i + 1) / all->by_rows * WTE__LOSS_GROUP, (size_t)col,
                  (size_t)((end < cols ? end : cols) - col) };
    if (one.to > n) one.to = n;
    return one;
}

/* Rows of a tile as f32: in place, or in the thread's scratch. */
static wte_status load_rows(const wte__loss_job *job, uint64_t row, size_t n, uint32_t slot,
                            const float **rows, size_t *stride, wte_error *err)
{
    const wte_row_source *t = job->s.sweep.table;
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
    WTE_TRY(wte_row_source_read_block(t, row, n, read, err));
    if (t->dtype == WTE_F32) return WTE_OK;
    return wte_convert(t->dtype, read, WTE_F32, wide, n * (size_t)t->cols, NULL, err);
}

/* A tile's rows as they are multiplied. */
typedef struct factor {
    const float *rows;
    size_t stride;
    bool more; /* the next tile's follow */
} factor;

/* The same of the next tile, and part of its gradients. */
static void fetch_for_hidden(const wte__loss_job *job, const share *one, const tile *t,
                             size_t panel, wte__outer *o)
{
    const size_t all = (one->cols + WTE__OUTER_COLS - 1) / WTE__OUTER_COLS;
    const tile next = find_tile(job, t->number + 1);
    const float *d_logits = next.d_logits + one->from * job->s.tile_rows;
    const size_t pieces =
        (size_t)(one->to - one->from) * job->s.tile_rows * sizeof *d_logits / WTE__WANTED_BYTES;
    o->wanted[0] = part_of(d_logits, WTE__WANTED_BYTES, pieces, panel, all);
    if (o->cols == WTE__OUTER_COLS && next.n_rows == t->n_rows)
        o->wanted[1] =
            (wte__wanted){ o->b + t->n_rows * o->b_stride, o->b_stride * sizeof *o->b, o->steps };
}

/* Steps are rows of the table, as many at once as the kernel takes. */
static void add_share(const wte__loss_job *job, const share *one, const tile *t, const factor *f,
                      float *out)
{
    const size_t end = one->col + one->cols, stride = (size_t)job->s.sweep.table->cols;
    for (size_t col = one->col; col < end; col += WTE__OUTER_COLS)
        for (run r = { 0, 0 }; next_run(job, t->chosen, groups(job), &r);)
            for (size_t row = 0; row < t->n_rows; row += WTE__OUTER_STEPS) {
                const size_t left = t->n_rows - row, cols = end - col;
                wte__outer o = { .a = t->d_logits + r.from * job->s.tile_rows + row,
                                 .a_step = 1,
                                 .a_row = job->s.tile_rows,
                                 .b = f->rows + row * f->stride + col,
                                 .b_stride = f->stride,
                                 .steps = left < WTE__OUTER_STEPS ? left : WTE__OUTER_STEPS,
                                 .group = WTE__OUTER_STEPS,
                                 .c = out + r.from * stride + col,
                                 .c_stride = stride,
                                 .rows = (size_t)(r.to - r.from),
                                 .cols = cols < WTE__OUTER_COLS ? cols : WTE__OUTER_COLS };
                if (f->more) fetch_for_hidden(job, one, t, (col - one->col) / WTE__OUTER_COLS, &o);
                wte__kernels_get()->outer_f32(&o);
            }
}

static wte_status run_share(void *ctx, uint64_t number, uint32_t slot, wte_error *err)
{
    const shares *all = ctx;
    const wte__loss_job *job = all->job;
    const wte__logit_stats *s = &job->s;
    const share one = choose_share(all, number);
    const size_t cols = (size_t)s->sweep.table->cols;
    float *out = job->how.d_hidden + s->first * cols;
    for (uint64_t i = one.from; i < one.to; i++)
        memset(out + i * cols + one.col, 0, one.cols * sizeof *out);
    for (uint64_t n = 0; n < s->tiles; n++) {
        tile t = find_tile(job, n);
        factor f = { .more = n + 1 < s->tiles && lies_as_f32(s->sweep.table) };
        t.chosen = choose_groups(job, n, one.from / WTE__LOSS_GROUP, over(one.to, WTE__LOSS_GROUP));
        if (!t.chosen) continue;
        WTE_TRY(load_rows(job, t.row, t.n_rows, slot, &f.rows, &f.stride, err));
        add_share(job, &one, &t, &f, out);
    }
    const float before = (float)job->before;
    for (uint64_t i = one.from; before != 1 && i < one.to; i++)
        for (size_t k = one.col; k < one.col + one.cols; k++) out[i * cols + k] *= before;
    return WTE_OK;
}

/* Vectors without a target are skipped: NaN times a gradient of 0 would be NaN. */
static wte_status load_hidden(wte__loss_job *job, wte_error *err)
{
    const wte__logit_stats *s = &job->s;
    const size_t cols = (size_t)s->sweep.table->cols, step = WTE__OUTER_COLS;
    for (uint64_t i = 0; i < s->part.n; i++) {
        if (job->terms[i].taken)
            WTE_TRY(wte__hidden_widen(&s->part, &s->sweep.o.chain, i, job->one, err));
        else
            memset(job->one, 0, cols * sizeof *job->one);
        for (size_t k = 0; k < cols; k += step)
            memcpy(job->hidden + (k / step * s->part.n + i) * step, job->one + k,
                   (cols - k < step ? cols - k : step) * sizeof *job->one);
    }
    return WTE_OK;
}

wte_status wte__gradient_block(wte__loss_job *job, wte_error *err)
{
    wte__logit_stats *s = &job->s;
    wte_pool *pool = s->sweep.o.pool;
    choose_scales(job);
    if (job->how.d_table) WTE_TRY(load_hidden(job, err));
    const uint64_t products = wte__times(s->part.n, s->sweep.table->rows);
    WTE_TRY(wte__progress_run(&s->told, job->how.d_table ? products : 0, pool, s->tiles, add_tile,
                              job, err));
    if (!job->how.d_hidden || s->part.n == 0) return WTE_OK;
    shares all = make_shares(job);
    WTE_TRY(wte__parallel_try(pool, all.by_rows * all.by_cols, run_share, &all, err));
    return wte__progress_advance(&s->told, products, err);
}
