/* Steps of optimizers: summed gradients in, row by row, from whatever holds them, and each row of
 * the table moved on in one pass. */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "optim/optim.h"

/* Shares of the rows for each thread: no more than make up for threads that are held up. Each is a
 * stretch of the table, so that threads keep off each other's rows. */
#define SHARES_PER_THREAD UINT64_C(4)
/* Gradients of fewer bytes than this are not worth waking threads for. */
#define SHARED_BYTES (UINT64_C(64) << 10)
/* Columns of a row that is summed by several threads. */
#define PIECE_COLS UINT64_C(64)
/* Prefetch distance in bytes of rows with their state; from one row to WTE__OPTIM_AHEAD rows. */
#define AHEAD UINT64_C(8192)
/* Row indices that are passed to a kernel at a time. */
#define LISTED 512u

typedef struct step_job {
    wte_optim *o;
    const wte__optim_source *from;
    wte__factors by;
    bool direct; /* the gradient of a row of one part is that part of d_out */
    uint64_t ahead;
    uint64_t shares, heavy; /* rows with more parts than `heavy` are left to take_heavy */
    uint64_t row, pieces;   /* of sum_piece */
    atomic_uint_fast64_t bad, first_bad;
} step_job;

static uint64_t row_of(const wte__optim_source *from, uint64_t u)
{
    return from->rows ? from->rows[u] : u;
}

static void leave_out(step_job *job, uint64_t row)
{
    uint64_t first = atomic_load(&job->first_bad);
    while (row < first && !atomic_compare_exchange_weak(&job->first_bad, &first, row)) {
    }
    atomic_fetch_add(&job->bad, 1);
}

/* A row has taken the step, or all but that. */
static void note_row(const step_job *job, uint64_t rank)
{
    const wte_optim *o = job->o;
    if (o->dense && job->from->rows) ((uint32_t *)o->block[WTE__OPTIM_NOTED])[rank] = o->noted + 1;
}

/* Row number u of the source alone, with its gradient g. */
static void take_row(step_job *job, uint64_t u, const float *g, wte__optim_scratch *scratch)
{
    wte_optim *o = job->o;
    const uint64_t row = row_of(job->from, u), rank = wte__optim_rank_of(o, row);
    if (!wte__optim_trains(o, row)) return;
    scratch->job.prefetch_end = 1;
    if (!wte__optim_move(o, row, rank, g, &job->by, scratch)) leave_out(job, row);
    note_row(job, rank);
}

/* A stretch of the source on its way through the kernel: rows u .. end - 1 have no place yet. */
typedef struct stretch {
    step_job *job;
    uint64_t u, end;
    size_t n; /* rows that have one: scratch.place */
    uint64_t number[WTE__OPTIM_GROUP + WTE__OPTIM_AHEAD], rank[WTE__OPTIM_GROUP + WTE__OPTIM_AHEAD];
    bool sums[WTE__OPTIM_GROUP + WTE__OPTIM_AHEAD]; /* its gradient has yet to be summed */
    wte__optim_scratch scratch;
} stretch;

/* Where the gradient of a row is, or will come from: what is to be prefetched. */
static void place_gradient(stretch *s, wte__optim_row *at)
{
    const wte__optim_source *from = s->job->from;
    const wte__contributions *p = from->parts;
    s->sums[s->n] = false;
    if (!p) {
        at->g = from->values + s->u * s->job->o->shape.cols;
        return;
    }
    const uint64_t first = p->first[s->u], parts = p->first[s->u + 1] - first;
    at->g = s->scratch.g;
    s->sums[s->n] = !s->job->direct || parts > 1;
    if (!s->job->direct) return;
    at->g = (const float *)(const void *)((const char *)p->d_out + p->from[first] * p->row_bytes);
    if (parts == 1 && p->factor) at->grad_scale = p->factor[first];
}

/* Places for a group, and for those that come after it. */
static void place_rows(stretch *s)
{
    wte_optim *o = s->job->o;
    for (; s->n < WTE__OPTIM_GROUP + s->job->ahead && s->u < s->end; s->u++) {
        const uint64_t row = row_of(s->job->from, s->u), rank = wte__optim_rank_of(o, row);
        if (!wte__optim_trains(o, row)) continue;
        wte__optim_row *at = &s->scratch.place[s->n];
        *at = wte__optim_row_of(o, row, rank);
        place_gradient(s, at);
        if (at->sum) __builtin_prefetch(at->sum);
        s->number[s->n] = s->u;
        s->rank[s->n++] = rank;
    }
}

/* Sums gradients and catches up rows. Returns how many rows there is room for. */
static size_t make_ready(stretch *s)
{
    wte_optim *o = s->job->o;
    const uint64_t cols = o->shape.cols, room = wte__optim_room(cols);
    const size_t most = s->n < WTE__OPTIM_GROUP ? s->n : WTE__OPTIM_GROUP;
    uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    uint64_t summed = 0;
    for (size_t i = 0; i < most; i++) {
        if (s->sums[i] && summed == room) return i;
        if (s->sums[i]) {
            float *g = s->scratch.g + summed++ * cols;
            wte__contributions_sum(s->job->from->parts, s->number[i], 0, cols, g);
            s->scratch.place[i].g = g;
        }
        if (!o->dense || !o->noted) continue;
        s->scratch.job.at = &s->scratch.place[i];
        s->scratch.job.prefetch_end = s->n - i;
        if (wte__optim_catch_up(o, row_of(s->job->from, s->number[i]), s->rank[i], &s->scratch))
            marks[s->rank[i]] |= WTE__OPTIM_CHANGED;
    }
    return most;
}

static void take_group(stretch *s, size_t n)
{
    wte_optim *o = s->job->o;
    wte__update *rule = &s->scratch.job;
    uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    rule->at = s->scratch.place;
    rule->rows = n;
    rule->prefetch_end = s->n;
    rule->prefetch_distance = (size_t)s->job->ahead;
    rule->by = &s->job->by;
    rule->l2 = o->rule.l2;
    o->step(rule);
    for (size_t i = 0; i < n; i++) {
        const uint32_t found = s->scratch.place[i].found;
        if (found & WTE__ROW_CHANGED) marks[s->rank[i]] |= WTE__OPTIM_CHANGED;
        if (found & WTE__GRAD_NOT_FINITE) leave_out(s->job, row_of(s->job->from, s->number[i]));
        note_row(s->job, s->rank[i]);
    }
    s->n -= n;
    memmove(s->scratch.place, s->scratch.place + n, s->n * sizeof *s->scratch.place);
    memmove(s->number, s->number + n, s->n * sizeof *s->number);
    memmove(s->rank, s->rank + n, s->n * sizeof *s->rank);
    memmove(s->sums, s->sums + n, s->n * sizeof *s->sums);
}

/* Tables of 16 bits: row by row, since each has to be widened and rounded. */
static void take_narrow(step_job *job, uint64_t begin, uint64_t end, wte__optim_scratch *scratch)
{
    const uint64_t cols = job->o->shape.cols;
    for (uint64_t u = begin; u < end; u++) {
        const float *g = job->from->values ? job->from->values + u * cols : scratch->g;
        if (!job->from->values) wte__contributions_sum(job->from->parts, u, 0, cols, scratch->g);
        take_row(job, u, g, scratch);
    }
}

/* Rows passed by index: not frozen, without missed steps, not of 16 bits. */
static bool may_list(const step_job *job)
{
    const wte_optim *o = job->o;
    return job->from->parts && !o->dense && !o->masked && !o->narrow;
}

/* Takes the step on rows from index u to `end`, rule->rows at a time. */
static void step_listed(step_job *job, wte__update *rule, wte__listed *list, uint64_t u)
{
    list->row = job->from->rows + u;
    rule->list = list;
    job->o->step(rule);
    if (!memchr(list->found, WTE__GRAD_NOT_FINITE, rule->rows)) return;
    for (size_t i = 0; i < rule->rows; i++)
        if (list->found[i] & WTE__GRAD_NOT_FINITE) leave_out(job, list->row[i]);
}

/* Each has one part, which is its gradient. */
static void list_alone(step_job *job, wte__update *rule, wte__listed *list, uint64_t begin,
                       uint64_t end)
{
    const wte__contributions *p = job->from->parts;
    list->first.g = p->d_out;
    list->stride = p->row_bytes / sizeof(float);
    for (uint64_t u = begin; u < end; u += rule->rows) {
        list->from = p->from + u;
        list->by = p->factor ? p->factor + u : NULL;
        rule->prefetch_end = (size_t)(end - u);
        rule->rows = rule->prefetch_end < LISTED ? rule->prefetch_end : LISTED;
        step_listed(job, rule, list, u);
    }
}

/* Gradients are summed first, of as many rows as there is room for. */
static void list_sums(step_job *job, wte__update *rule, wte__listed *list, uint64_t begin,
                      uint64_t end)
{
    const uint64_t cols = job->o->shape.cols, room = wte__optim_room(cols);
    uint32_t from[WTE__OPTIM_GROUP + WTE__OPTIM_AHEAD];
    for (uint32_t i = 0; i < WTE__OPTIM_GROUP + WTE__OPTIM_AHEAD; i++) from[i] = i % (uint32_t)room;
    list->from = from;
    list->by = NULL;
    list->stride = (size_t)cols;
    for (uint64_t u = begin; u < end; u += rule->rows) {
        const uint64_t left = end - u;
        rule->rows = (size_t)(left < room ? left : room);
        rule->prefetch_end = (size_t)(left < rule->rows + rule->prefetch_distance
                                          ? left
                                          : rule->rows + rule->prefetch_distance);
        wte__contributions_sums(job->from->parts, u, rule->rows, (float *)(uintptr_t)list->first.g);
        step_listed(job, rule, list, u);
    }
}

static void take_listed(step_job *job, uint64_t begin, uint64_t end, wte__optim_scratch *scratch)
{
    const wte_optim *o = job->o;
    const uint64_t alone = job->direct ? job->from->parts->alone : 0;
    const uint64_t middle = alone < begin ? begin : alone < end ? alone : end;
    uint8_t found[LISTED];
    wte__listed list = { .first = wte__optim_row_of(o, 0, 0),
                         .marks = o->block[WTE__OPTIM_MARKS],
                         .found = found };
    scratch->job.by = &job->by;
    scratch->job.prefetch_distance = (size_t)job->ahead;
    if (begin < middle) list_alone(job, &scratch->job, &list, begin, middle);
    list.first.g = scratch->g;
    list_sums(job, &scratch->job, &list, middle, end);
}

/* Rows number begin to end - 1 of the source. */
static void take_run(step_job *job, uint64_t begin, uint64_t end, uint32_t slot)
{
    stretch s = { .job = job, .u = begin, .end = end };
    wte__optim_scratch_init(job->o, slot, &s.scratch);
    if (may_list(job)) {
        take_listed(job, begin, end, &s.scratch);
        return;
    }
    if (job->o->narrow) {
        take_narrow(job, begin, end, &s.scratch);
        return;
    }
    for (place_rows(&s); s.n > 0; place_rows(&s)) take_group(&s, make_ready(&s));
}

static uint64_t parts_of(const wte__optim_source *from, uint64_t u)
{
    return from->parts ? from->parts->first[u + 1] - from->parts->first[u] : 1;
}

/* The first row of a share: shares have equal numbers of parts. */
static uint64_t share_begin(const step_job *job, uint64_t share)
{
    const wte__contributions *p = job->from->parts;
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
    (void)err; /* nothing here can fail */
    const uint64_t alone = job->from->parts ? job->from->parts->alone : 0;
    for (uint64_t u = alone < begin ? begin : alone; u < end; u++) {
        if (parts_of(job->from, u) <= job->heavy) continue;
        take_run(job, begin, u, slot);
        begin = u + 1;
    }
    take_run(job, begin, end, slot);
    return WTE_OK;
}

/* Columns of the sum of one row that has many parts. */
static void sum_piece(void *ctx, uint64_t piece)
{
    const step_job *job = ctx;
    const uint64_t cols = job->o->shape.cols, units = (cols + PIECE_COLS - 1) / PIECE_COLS;
    const uint64_t begin = units * piece / job->pieces * PIECE_COLS;
    const uint64_t end = units * (piece + 1) / job->pieces * PIECE_COLS;
    wte__optim_scratch scratch;
    if (begin >= cols) return;
    wte__optim_scratch_init(job->o, 0, &scratch);
    wte__contributions_sum(job->from->parts, job->row, begin, end < cols ? end : cols,
                           scratch.g + begin);
}

/* Rows with more parts than a share should have: all threads sum each, and one takes its step. */
static void take_heavy(step_job *job)
{
    const uint32_t threads = job->o->shape.threads;
    wte__optim_scratch scratch;
    wte__optim_scratch_init(job->o, 0, &scratch);
    job->pieces = (job->o->shape.cols + PIECE_COLS - 1) / PIECE_COLS;
    if (job->pieces > threads) job->pieces = threads;
    for (job->row = job->from->parts->alone; job->row < job->from->n; job->row++) {
        if (parts_of(job->from, job->row) <= job->heavy) continue;
        wte__parallel(job->o->opt.pool, job->pieces, sum_piece, job);
        take_row(job, job->row, scratch.g, &scratch);
    }
}

/* Rows between the one that is worked on and the one that is prefetched. */
static uint64_t rows_ahead(const wte_optim *o)
{
    uint64_t arrays = 1; /* the row */
    for (int b = WTE__OPTIM_FIRST; b <= WTE__OPTIM_MOST; b++) arrays += o->block[b] != NULL;
    const uint64_t ahead = AHEAD / (arrays * o->shape.cols * sizeof(float));
    return ahead < 1 ? 1 : ahead < WTE__OPTIM_AHEAD ? ahead : WTE__OPTIM_AHEAD;
}

static void take_rows(wte_optim *o, const wte__optim_source *from, const wte__factors *by,
                      wte__optim_bad *bad)
{
    const uint64_t row_bytes = o->shape.cols * sizeof(float);
    const uint64_t count = from->parts ? from->parts->count : from->n;
    step_job job = { .o = o, .from = from, .by = *by, .shares = 1, .heavy = UINT64_MAX };
    const wte__contributions *p = from->parts;
    job.direct = p && p->d_out_dtype == WTE_F32 && !p->columns_of &&
                 ((uintptr_t)p->d_out | p->row_bytes) % sizeof(float) == 0;
    atomic_init(&job.first_bad, WTE_NO_INDEX);
    if (o->shape.cols == 0 || o->shape.trainable == 0 || from->n == 0) return;
    job.ahead = rows_ahead(o);
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
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "optimizer: Adafactor needs a dense gradient, since its columns' means "
                         "are over all rows");
    if (o->opt.weight_decay == 0 || o->opt.decay_touched || o->dense) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "optimizer: weight_decay %g is not compatible with a sparse gradient, whose "
                     "other rows would not decay; decay_touched says that this is meant",
                     o->opt.weight_decay);
}

static wte_status check_dense(const wte_optim *o, wte_error *err)
{
    if (o->opt.kind != WTE_OPTIM_LAZY_ADAM) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
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
    wte__optim_bad bad = { 0, WTE_NO_INDEX };
    WTE_TRY(from->rows ? check_sparse(o, err) : check_dense(o, err));
    if (o->noted == WTE__OPTIM_LOG) WTE_TRY(wte_optim_sync_all(o, err));
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
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
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
    WTE_TRY(wte__contributions_again_lookup(o->shape.rows, o->shape.cols, &given, back, &how,
                                            &o->parts, err));
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
    WTE_TRY(wte__contributions_again_bag(o->shape.rows, o->shape.cols, &given, back, &how,
                                         &o->parts, err));
    return step_parts(o, err);
}
