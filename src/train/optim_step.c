/* Steps of optimizers: summed gradients in, row by row, from whatever holds them, and each row of
 * the table moved on in one pass. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "train/optim.h"

/* Shares of the rows for each thread: no more than make up for threads that are held up. Each is a
 * stretch of the table, so that threads keep off each other's rows. */
#define SHARES_PER_THREAD UINT64_C(4)
/* Gradients of fewer bytes than this are not worth waking threads for. */
#define SHARED_BYTES (UINT64_C(64) << 10)
/* Columns of a row that is summed by several threads. */
#define PIECE_COLS UINT64_C(64)
/* What is prefetched lies so many bytes of rows ahead, each counted as so many more; at least one
 * row and at most so many. */
#define AHEAD      UINT64_C(6144)
#define ROW_MORE   UINT64_C(256)
#define AHEAD_ROWS UINT64_C(16)

typedef struct step_job {
    wte_optim *o;
    const wte__optim_source *from;
    wte__factors by;
    uint64_t ahead;
    uint64_t shares, heavy; /* rows with more parts than `heavy` are left to take_heavy */
    uint64_t row, pieces;   /* of sum_piece */
    atomic_uint_fast64_t bad, first_bad;
} step_job;

static uint64_t row_of(const wte__optim_source *from, uint64_t u)
{
    return from->rows ? from->rows[u] : u;
}

/* Where the row and its state lie that come some rows after number u, but before `end`: they are
 * prefetched line by line while u is worked on. Gradients are read in order, or fetched by their
 * own kernel. */
static void fetch_ahead(const step_job *job, uint64_t u, uint64_t end, wte__update *rule)
{
    const wte_optim *o = job->o;
    const uint64_t row = row_of(job->from, end - u > job->ahead ? u + job->ahead : end - 1);
    uint64_t rank = wte__optim_rank_of(o, row);
    if (rank >= o->shape.trainable) rank = o->shape.trainable - 1;
    wte__optim_next(o, row, rank, rule);
}

static void leave_out(step_job *job, uint64_t row)
{
    uint64_t first = atomic_load(&job->first_bad);
    while (row < first && !atomic_compare_exchange_weak(&job->first_bad, &first, row)) {
    }
    atomic_fetch_add(&job->bad, 1);
}

/* Row number u of the source, with its gradient g; those before `end` come next. */
static void take_row(step_job *job, uint64_t u, uint64_t end, const float *g, wte__optim_hand *hand)
{
    wte_optim *o = job->o;
    const uint64_t row = row_of(job->from, u), rank = wte__optim_rank_of(o, row);
    if (!wte__optim_trains(o, row)) return;
    hand->job.g = g;
    fetch_ahead(job, u, end, &hand->job);
    if (!o->kernels->all_finite(g, hand->job.n)) {
        leave_out(job, row);
        g = NULL;
    }
    wte__optim_move(o, row, rank, g, &job->by, hand);
    if (o->dense && job->from->rows) ((uint32_t *)o->block[WTE__OPTIM_NOTED])[rank] = o->noted + 1;
}

/* Rows number begin to end - 1 of the source. */
static void take_run(step_job *job, uint64_t begin, uint64_t end, wte__optim_hand *hand)
{
    const wte__optim_source *from = job->from;
    const uint64_t cols = job->o->shape.cols, group = wte__optim_group(cols);
    for (uint64_t u = begin, some; u < end; u += some) {
        some = end - u < group ? end - u : group;
        const float *g = from->values ? from->values + u * cols : hand->g;
        if (!from->values) {
            wte__scatter sum = wte__parts_job(from->parts, u, some, 0, cols);
            sum.out = hand->g;
            sum.out_stride = (size_t)cols;
            sum.cold = u == begin;
            wte__parts_run(from->parts, &sum);
        }
        for (uint64_t i = 0; i < some; i++) take_row(job, u + i, end, g + i * cols, hand);
    }
}

static uint64_t parts_of(const wte__optim_source *from, uint64_t u)
{
    return from->parts ? from->parts->first[u + 1] - from->parts->first[u] : 1;
}

/* The first row of a share: shares have equal numbers of parts. */
static uint64_t share_begin(const step_job *job, uint64_t share)
{
    const wte__parts *p = job->from->parts;
    uint64_t low = 0, high = job->from->n;
    if (!p) return high * share / job->shares;
    const uint64_t part = p->count * share / job->shares;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->first[middle] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static wte_status take_share(void *ctx, uint64_t share, uint32_t slot, wte_error *err)
{
    step_job *job = ctx;
    const uint64_t end = share_begin(job, share + 1);
    uint64_t begin = share_begin(job, share);
    wte__optim_hand hand = wte__optim_hand_of(job->o, slot);
    (void)err; /* nothing here can fail */
    for (uint64_t u = begin; u < end; u++) {
        if (parts_of(job->from, u) <= job->heavy) continue;
        take_run(job, begin, u, &hand);
        begin = u + 1;
    }
    take_run(job, begin, end, &hand);
    return WTE_OK;
}

/* Columns of the sum of one row that has many parts. */
static void sum_piece(void *ctx, uint64_t piece)
{
    const step_job *job = ctx;
    const uint64_t cols = job->o->shape.cols, units = (cols + PIECE_COLS - 1) / PIECE_COLS;
    const uint64_t begin = units * piece / job->pieces * PIECE_COLS;
    const uint64_t end = units * (piece + 1) / job->pieces * PIECE_COLS;
    if (begin < cols)
        wte__parts_sum(job->from->parts, job->row, begin, end < cols ? end : cols,
                       wte__optim_hand_of(job->o, 0).g + begin);
}

/* Rows with more parts than a share should have: all threads sum each, and one takes its step. */
static void take_heavy(step_job *job)
{
    const uint32_t threads = job->o->shape.threads;
    job->pieces = (job->o->shape.cols + PIECE_COLS - 1) / PIECE_COLS;
    if (job->pieces > threads) job->pieces = threads;
    for (job->row = 0; job->row < job->from->n; job->row++) {
        if (parts_of(job->from, job->row) <= job->heavy) continue;
        wte__optim_hand hand = wte__optim_hand_of(job->o, 0);
        wte__parallel(job->o->opt.pool, job->pieces, sum_piece, job);
        take_row(job, job->row, job->row + 1, hand.g, &hand);
    }
}

static void take_rows(wte_optim *o, const wte__optim_source *from, const wte__factors *by,
                      wte__optim_bad *bad)
{
    const uint64_t row_bytes = o->shape.cols * sizeof(float);
    const uint64_t ahead = 1 + AHEAD / (row_bytes + ROW_MORE);
    const uint64_t count = from->parts ? from->parts->count : from->n;
    step_job job = { .o = o, .from = from, .by = *by, .shares = 1, .heavy = UINT64_MAX };
    job.ahead = ahead < AHEAD_ROWS ? ahead : AHEAD_ROWS;
    atomic_init(&job.first_bad, WTE_NOWHERE);
    if (o->shape.cols == 0 || o->shape.trainable == 0 || from->n == 0) return;
    if (o->shape.threads > 1 && count >= SHARED_BYTES / row_bytes) {
        job.shares = o->shape.threads * SHARES_PER_THREAD;
        job.heavy = count / job.shares + 1;
    }
    const wte_status status = wte__parallel_try(o->opt.pool, job.shares, take_share, &job, NULL);
    (void)status;
    if (from->parts && job.shares > 1) take_heavy(&job);
    *bad = (wte__optim_bad){ job.bad, job.first_bad };
}

/* Whether the settings let rows without a gradient be passed over. */
static wte_status check_sparse(const wte_optim *o, wte_error *err)
{
    if (o->opt.kind == WTE_OPTIM_ADAFACTOR)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                         "optimizer: Adafactor needs a dense gradient, since its columns' means "
                         "are over all rows");
    if (o->opt.weight_decay == 0 || o->opt.decay_touched || o->dense) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                     "optimizer: weight_decay %g is not compatible with a sparse gradient, whose "
                     "other rows would not decay; decay_touched says that this is meant",
                     o->opt.weight_decay);
}

static wte_status check_dense(const wte_optim *o, wte_error *err)
{
    if (o->opt.kind != WTE_OPTIM_LAZY_ADAM) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE,
                     "optimizer: lazy Adam does not support dense gradients, in which every row is "
                     "touched; Adam does");
}

static wte_status left_out(const wte_optim *o, const wte__optim_bad *bad, wte_error *err)
{
    if (bad->count == 0) return WTE_OK;
    return wte__fail(err, WTE_E_RANGE, bad->first,
                     "optimizer: step %" PRIu64 ": the gradients of %" PRIu64
                     " rows, the first of them row %" PRIu64
                     ", hold NaN or infinity; these rows were left as they are",
                     o->steps, bad->count, bad->first);
}

static wte_status take_step(wte_optim *o, const wte__optim_source *from, wte_error *err)
{
    const wte__factors by = wte__optim_factors(o, o->steps + 1, true);
    wte__optim_bad bad = { 0, WTE_NOWHERE };
    WTE_TRY(from->rows ? check_sparse(o, err) : check_dense(o, err));
    if (o->noted == WTE__OPTIM_LOG) WTE_TRY(wte_optim_finish(o, err));
    if (o->opt.kind == WTE_OPTIM_ADAFACTOR)
        wte__optim_adafactor(o, from->values, &bad);
    else
        take_rows(o, from, &by, &bad);
    o->steps++;
    if (o->dense && from->rows) {
        const wte__factors idle = wte__optim_factors(o, o->steps, !o->opt.decay_touched);
        wte__optim_note(o, &idle);
    } else if (o->noted) {
        memset(o->block[WTE__OPTIM_NOTED], 0, (size_t)o->bytes[WTE__OPTIM_NOTED]);
        o->noted = 0;
    }
    return left_out(o, &bad, err);
}

wte_status wte_optim_step(wte_optim *o, const wte_grad *g, wte_error *err)
{
    static const uint64_t none = 0; /* a sparse gradient without rows may have no list of them */
    wte_grad_rows view;
    WTE_TRY(wte__need(o, "wte_optim_step: o", err));
    WTE_TRY(wte__need(g, "wte_optim_step: g", err));
    wte_grad_view(g, &view);
    if (view.cols != o->shape.cols || (!view.ids && view.n && view.n != o->shape.rows))
        return wte__fail(err, WTE_E_SHAPE, WTE_NOWHERE,
                         "optimizer: a gradient of %" PRIu64 " x %" PRIu64
                         " for a table of %" PRIu64 " x %" PRIu64,
                         view.n, view.cols, o->shape.rows, o->shape.cols);
    if (view.ids && view.n && view.ids[view.n - 1] >= o->shape.rows)
        return wte__fail(err, WTE_E_SHAPE, view.ids[view.n - 1],
                         "optimizer: a gradient of row %" PRIu64 " for a table of %" PRIu64 " rows",
                         view.ids[view.n - 1], o->shape.rows);
    const bool all = !view.ids && view.n == o->shape.rows;
    const wte__optim_source from = { .n = view.n,
                                     .rows = all        ? NULL
                                             : view.ids ? view.ids
                                                        : &none,
                                     .values = view.values };
    return take_step(o, &from, err);
}

/* Fused steps ---------------------------------------------------------------------------------- */

static wte_grad_options fused_options(const wte_optim *o)
{
    wte_grad_options how = WTE_GRAD_OPTIONS_INIT;
    how.kind = WTE_GRAD_SPARSE;
    how.pool = o->opt.pool;
    how.allocator = o->opt.allocator;
    return how;
}

/* By the parts that were put in order in the optimizer's own memory. */
static wte_status step_parts(wte_optim *o, wte_error *err)
{
    const wte__optim_source from = { .n = o->parts.n, .rows = o->parts.rows, .parts = &o->parts };
    return take_step(o, &from, err);
}

wte_status wte_optim_step_lookup(wte_optim *o, wte_ids ids, const void *d_out, size_t row_bytes,
                                 const wte_backward_options *back, wte_error *err)
{
    const wte__bag_back given = { .ids = ids, .d_out = d_out, .row_bytes = row_bytes };
    WTE_TRY(wte__need(o, "wte_optim_step_lookup: o", err));
    WTE_TRY(check_sparse(o, err));
    const wte_grad_options how = fused_options(o);
    WTE_TRY(
        wte__parts_again_lookup(o->shape.rows, o->shape.cols, &given, back, &how, &o->parts, err));
    return step_parts(o, err);
}

wte_status wte_optim_step_bag(wte_optim *o, wte_ids ids, wte_ids offsets,
                              const wte_bag_options *bag, const void *d_out, size_t row_bytes,
                              const wte_backward_options *back, wte_error *err)
{
    const wte__bag_back given = { ids, offsets, bag, d_out, row_bytes };
    WTE_TRY(wte__need(o, "wte_optim_step_bag: o", err));
    WTE_TRY(check_sparse(o, err));
    const wte_grad_options how = fused_options(o);
    WTE_TRY(wte__parts_again_bag(o->shape.rows, o->shape.cols, &given, back, &how, &o->parts, err));
    return step_parts(o, err);
}
