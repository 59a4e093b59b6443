/* Steps of optimizers: summed gradients in, row by row, from whatever holds them, and each row of
 * the table moved on in one pass. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "train/optim.h"

/* Rows that a thread takes at a time. */
#define CHUNK UINT64_C(64)
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
    atomic_uint_fast64_t bad, first_bad;
} step_job;

static uint64_t row_of(const wte__optim_source *from, uint64_t u)
{
    return from->rows ? from->rows[u] : u;
}

/* Where the row and its state lie that come some rows after number u: they are prefetched line by
 * line while u is worked on. Gradients are read in order, or fetched by their own kernel. */
static void fetch_ahead(const step_job *job, uint64_t u, wte__update *rule)
{
    const wte_optim *o = job->o;
    const uint64_t n = job->from->n;
    const uint64_t row = row_of(job->from, n - u > job->ahead ? u + job->ahead : n - 1);
    uint64_t rank = wte__optim_rank_of(o, row);
    if (rank >= o->shape.trainable) rank = o->shape.trainable - 1;
    const float *by_row = wte__optim_floats(o, WTE__OPTIM_BY_ROW);
    const void *p = o->narrow ? NULL : o->data + row * o->row_bytes;
    const void *at[] = { p, wte__optim_at(o, WTE__OPTIM_FIRST, rank),
                         wte__optim_at(o, WTE__OPTIM_SECOND, rank),
                         wte__optim_at(o, o->narrow ? WTE__OPTIM_MASTER : WTE__OPTIM_MOST, rank) };
    if (by_row) __builtin_prefetch(by_row + rank);
    if (o->narrow) __builtin_prefetch(o->data + row * o->row_bytes);
    for (size_t i = 0; i < 4; i++) rule->fetch[i] = at[i] ? at[i] : (const char *)rule->g;
}

/* Row number u of the source, with its gradient g. */
static void take_row(step_job *job, uint64_t u, const float *g, wte__optim_hand *hand)
{
    wte_optim *o = job->o;
    const uint64_t row = row_of(job->from, u), rank = wte__optim_rank_of(o, row);
    hand->job.g = g;
    fetch_ahead(job, u, &hand->job);
    if (!wte__kernels_get()->all_finite(g, hand->job.n)) {
        uint64_t first = atomic_load(&job->first_bad);
        while (row < first && !atomic_compare_exchange_weak(&job->first_bad, &first, row)) {
        }
        atomic_fetch_add(&job->bad, 1);
        g = NULL;
    }
    wte__optim_move(o, row, rank, g, &job->by, hand);
    if (o->dense && job->from->rows) ((uint32_t *)o->block[WTE__OPTIM_NOTED])[rank] = o->noted + 1;
}

static wte_status take_chunk(void *ctx, uint64_t chunk, uint32_t slot, wte_error *err)
{
    step_job *job = ctx;
    const wte__optim_source *from = job->from;
    const uint64_t begin = chunk * CHUNK, cols = job->o->shape.cols;
    const uint64_t end = from->n - begin < CHUNK ? from->n : begin + CHUNK;
    wte__optim_hand hand = wte__optim_hand_of(job->o, slot);
    const uint64_t group = from->parts ? wte__optim_group(cols) : 1;
    (void)err; /* nothing here can fail */
    for (uint64_t u = begin, some; u < end; u += some) {
        some = end - u < group ? end - u : group;
        const float *g = hand.g;
        if (from->parts) {
            wte__scatter sum = wte__parts_job(from->parts, u, some, 0, cols);
            sum.out = hand.g;
            sum.out_stride = (size_t)cols;
            sum.cold = u == begin;
            wte__parts_run(from->parts, &sum);
        } else {
            g = from->values + u * cols;
        }
        for (uint64_t i = 0; i < some; i++)
            if (wte__optim_trains(job->o, row_of(from, u + i)))
                take_row(job, u + i, g + i * cols, &hand);
    }
    return WTE_OK;
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

static void take_rows(wte_optim *o, const wte__optim_source *from, const wte__factors *by,
                      wte__optim_bad *bad)
{
    const uint64_t row_bytes = o->shape.cols * sizeof(float);
    const uint64_t ahead = 1 + AHEAD / (row_bytes + ROW_MORE);
    step_job job = { .o = o, .from = from, .by = *by };
    job.ahead = ahead < AHEAD_ROWS ? ahead : AHEAD_ROWS;
    atomic_init(&job.first_bad, WTE_NOWHERE);
    if (o->shape.cols == 0 || o->shape.trainable == 0) return;
    const wte_status status =
        wte__parallel_try(o->opt.pool, (from->n + CHUNK - 1) / CHUNK, take_chunk, &job, NULL);
    (void)status;
    *bad = (wte__optim_bad){ job.bad, job.first_bad };
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

static wte_status step_parts(wte_optim *o, wte__parts *parts, wte_error *err)
{
    const wte__optim_source from = { .n = parts->n, .rows = parts->rows, .parts = parts };
    const wte_status status = take_step(o, &from, err);
    wte__parts_free(parts);
    return status;
}

wte_status wte_optim_step_lookup(wte_optim *o, wte_ids ids, const void *d_out, size_t row_bytes,
                                 const wte_backward_options *back, wte_error *err)
{
    const wte__bag_back given = { .ids = ids, .d_out = d_out, .row_bytes = row_bytes };
    wte__parts parts;
    WTE_TRY(wte__need(o, "wte_optim_step_lookup: o", err));
    WTE_TRY(check_sparse(o, err));
    const wte_grad_options how = fused_options(o);
    WTE_TRY(wte__parts_of_lookup(o->shape.rows, o->shape.cols, &given, back, &how, &parts, err));
    return step_parts(o, &parts, err);
}

wte_status wte_optim_step_bag(wte_optim *o, wte_ids ids, wte_ids offsets,
                              const wte_bag_options *bag, const void *d_out, size_t row_bytes,
                              const wte_backward_options *back, wte_error *err)
{
    const wte__bag_back given = { ids, offsets, bag, d_out, row_bytes };
    wte__parts parts;
    WTE_TRY(wte__need(o, "wte_optim_step_bag: o", err));
    WTE_TRY(check_sparse(o, err));
    const wte_grad_options how = fused_options(o);
    WTE_TRY(wte__parts_of_bag(o->shape.rows, o->shape.cols, &given, back, &how, &parts, err));
    return step_parts(o, &parts, err);
}
