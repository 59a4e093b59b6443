/* Optimizers: construction, accessors, and catch-up of rows that have missed steps. */
#include "optim/optim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "lookup/ids.h"

/* Rows that a thread takes at a time. */
#define CHUNK UINT64_C(64)

/* Making --------------------------------------------------------------------------------------- */

static bool is_set(const uint8_t *bits, uint64_t i)
{
    return !bits || bits[i / 8] >> i % 8 & 1;
}

static uint64_t count_set(const uint8_t *bits, uint64_t n)
{
    uint64_t count = 0;
    if (!bits) return n;
    for (uint64_t i = 0; i < n; i++) count += is_set(bits, i);
    return count;
}

void wte__optim_rank(wte_optim *o, const uint8_t *trainable)
{
    uint64_t *mask = o->block[WTE__OPTIM_MASK], *ranks = o->block[WTE__OPTIM_RANKS], count = 0;
    if (!mask) return;
    for (uint64_t r = 0; r < o->shape.rows; r++) {
        if (r % 64 == 0) ranks[r / 64] = count;
        if (!is_set(trainable, r)) continue;
        mask[r / 64] |= UINT64_C(1) << r % 64;
        count++;
    }
    if (o->shape.rows % 64 == 0) ranks[o->shape.rows / 64] = count;
}

void wte__optim_begin(wte_optim *o, uint64_t first)
{
    const uint64_t cols = o->shape.cols, n = o->shape.trainable;
    const float start = (float)o->opt.initial_accumulator;
    float *sums = wte__optim_at(o, WTE__OPTIM_SECOND, 0);
    float *by_row = wte__optim_floats(o, WTE__OPTIM_BY_ROW);
    if (start != 0 && sums)
        for (uint64_t i = first * cols; i < n * cols; i++) sums[i] = start;
    if (start != 0 && by_row)
        for (uint64_t i = first; i < n; i++) by_row[i] = start;
    if (!o->block[WTE__OPTIM_MASTER]) return;
    for (uint64_t r = 0; r < o->shape.rows; r++) {
        const uint64_t rank = wte__optim_rank_of(o, r);
        if (wte__optim_trains(o, r) && rank >= first)
            o->widen(o->data + r * o->row_bytes, wte__optim_at(o, WTE__OPTIM_MASTER, rank),
                     (size_t)cols);
    }
}

static void choose_kernels(wte_optim *o)
{
    const wte__kernels *k = wte__kernels_get();
    const bool half = o->shape.dtype == WTE_F16;
    o->kernels = k;
    o->widen = half ? k->f16_to_f32 : k->bf16_to_f32;
    o->round = half ? k->f32_to_f16 : k->f32_to_bf16;
    o->chance = half ? k->stochastic_round_f16 : k->stochastic_round_bf16;
    switch (o->opt.kind) {
    case WTE_OPTIM_ADAM:
    case WTE_OPTIM_ADAMW:
    case WTE_OPTIM_LAZY_ADAM:
        o->step = k->step_adam;
        o->idle = k->catchup_adam;
        break;
    case WTE_OPTIM_ADAGRAD: o->step = k->step_adagrad; break;
    case WTE_OPTIM_ROWWISE_ADAGRAD: o->step = k->step_rowwise_adagrad; break;
    default:
        o->step = k->step_sgd;
        o->idle = k->catchup_sgd;
        break;
    }
}

static void make_rule(wte_optim *o)
{
    const wte_optim_options *s = &o->opt;
    const double first = s->kind == WTE_OPTIM_SGD ? s->momentum : s->beta1;
    o->rule = (wte__update){
        .n = (size_t)o->shape.cols,
        .b1 = (float)first,
        .c1 = (float)(1 - first),
        .b2 = (float)s->beta2,
        .c2 = (float)(1 - s->beta2),
        .eps = (float)s->eps,
        .l2 = s->decay == WTE_DECAY_L2 ? (float)s->weight_decay : 0,
        .nesterov = s->nesterov != 0,
    };
}

static wte_status check_dtype(wte_dtype dtype, wte_error *err)
{
    if (dtype == WTE_F32 || dtype == WTE_F16 || dtype == WTE_BF16) return WTE_OK;
    return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "optimizer: the table is of %s; those of f32, f16 and bf16 can be trained",
                     wte_dtype_name(dtype));
}

static wte_status check_table(wte_table *t, wte_error *err)
{
    if (wte_table_data(t)) return check_dtype(wte_table_dtype(t), err);
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "optimizer: the table borrows its rows, and cannot be written through");
}

wte_status wte_optim_create(wte_table *t, const wte_optim_options *opt, wte_optim **out,
                            wte_error *err)
{
    wte_optim_options s;
    WTE_TRY(wte__need(out, "wte_optim_create: out", err));
    *out = NULL;
    WTE_TRY(wte__need(t, "wte_optim_create: t", err));
    WTE_TRY(wte__optim_settings(opt, &s, err));
    WTE_TRY(check_table(t, err));
    const wte__optim_shape shape = {
        .rows = wte_table_n_rows(t),
        .cols = wte_table_dim(t),
        .trainable = count_set(s.trainable, wte_table_n_rows(t)),
        .dtype = wte_table_dtype(t),
        .threads = wte_pool_n_threads(s.pool),
    };
    uint64_t bytes[WTE__OPTIM_BLOCKS];
    WTE_TRY(wte__optim_plan(&s, &shape, bytes, err));
    wte_optim *o = wte__alloc_zeroed(s.allocator, sizeof *o);
    if (!o) return wte__no_memory(err, sizeof *o, "an optimizer");
    const wte_status status = wte__optim_blocks(s.allocator, bytes, o->block, err);
    if (status != WTE_OK) {
        wte__free(s.allocator, o, sizeof *o);
        return status;
    }
    o->opt = s;
    o->opt.trainable = NULL;
    o->shape = shape;
    memcpy(o->bytes, bytes, sizeof bytes);
    o->dense = wte__optim_is_dense(&s);
    o->masked = s.trainable != NULL;
    o->narrow = shape.dtype != WTE_F32;
    o->data = wte_table_data(t);
    o->row_bytes = (size_t)shape.cols * wte_dtype_bytes(shape.dtype);
    o->parts.any_order = true;
    choose_kernels(o);
    make_rule(o);
    wte__optim_rank(o, s.trainable);
    wte__optim_begin(o, 0);
    *out = o;
    return WTE_OK;
}

void wte_optim_free(wte_optim *o)
{
    if (!o) return;
    const wte_allocator *a = o->opt.allocator;
    wte__optim_release(a, o->bytes, o->block);
    wte__contributions_free(&o->parts);
    wte__free(a, o->listed, o->listed_cap * sizeof *o->listed);
    wte__free(a, o, sizeof *o);
}

wte_status wte_optim_state_bytes(uint64_t rows, uint64_t cols, wte_dtype dtype,
                                 const wte_optim_options *opt, uint64_t *bytes, wte_error *err)
{
    wte_optim_options s;
    uint64_t block[WTE__OPTIM_BLOCKS];
    WTE_TRY(wte__need(bytes, "wte_optim_state_bytes: bytes", err));
    *bytes = 0;
    WTE_TRY(wte__optim_settings(opt, &s, err));
    WTE_TRY(check_dtype(dtype, err));
    const wte__optim_shape shape = { rows, cols, count_set(s.trainable, rows), dtype,
                                     wte_pool_n_threads(s.pool) };
    WTE_TRY(wte__optim_plan(&s, &shape, block, err));
    for (size_t i = 0; i < WTE__OPTIM_BLOCKS; i++) *bytes += block[i];
    return WTE_OK;
}

/* Asking --------------------------------------------------------------------------------------- */

wte_status wte_optim_set_lr(wte_optim *o, double lr, wte_error *err)
{
    WTE_TRY(wte__need(o, "wte_optim_set_lr: o", err));
    if (!(lr >= 0) || isinf(lr))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "optimizer: lr is %g, but must be 0 or more", lr);
    o->opt.lr = lr;
    return WTE_OK;
}

uint64_t wte_optim_n_steps(const wte_optim *o)
{
    return o ? o->steps : 0;
}

uint64_t wte_optim_changed(const wte_optim *o, uint8_t *bits)
{
    if (!o) return 0;
    const uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    uint64_t count = 0;
    if (bits) memset(bits, 0, (size_t)((o->shape.rows + 7) / 8));
    for (uint64_t r = 0; r < o->shape.rows; r++) {
        if (!wte__optim_trains(o, r)) continue;
        if (!(marks[wte__optim_rank_of(o, r)] & WTE__OPTIM_CHANGED)) continue;
        if (bits) bits[r / 8] |= (uint8_t)(1u << r % 8);
        count++;
    }
    return count;
}

/* Catching up ---------------------------------------------------------------------------------- */

typedef struct catch_job {
    wte_optim *o;
    const uint64_t *rows; /* NULL: all */
    uint64_t n;
} catch_job;

/* The next row before `end`, for prefetching: other threads work on the rows after it. */
static void place_next(const catch_job *job, uint64_t at, uint64_t end, wte__optim_scratch *scratch)
{
    const wte_optim *o = job->o;
    const uint64_t later = at + 1 < end ? at + 1 : at;
    const uint64_t row = job->rows ? job->rows[later] : later;
    const bool trains = wte__optim_trains(o, row);
    scratch->job.prefetch_end = trains ? 2 : 1;
    if (!trains) return;
    scratch->place[1] = wte__optim_row_of(o, row, wte__optim_rank_of(o, row));
    if (!scratch->place[1].p) scratch->place[1].p = scratch->p;
}

static wte_status catch_chunk(void *ctx, uint64_t chunk, uint32_t slot, wte_error *err)
{
    const catch_job *job = ctx;
    wte_optim *o = job->o;
    uint32_t *noted = o->block[WTE__OPTIM_NOTED];
    wte__optim_scratch scratch;
    const uint64_t begin = chunk * CHUNK;
    const uint64_t end = job->n - begin < CHUNK ? job->n : begin + CHUNK;
    (void)err; /* nothing here can fail */
    wte__optim_scratch_init(o, slot, &scratch);
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t row = job->rows ? job->rows[i] : i;
        if (!wte__optim_trains(o, row)) continue;
        const uint64_t rank = wte__optim_rank_of(o, row);
        place_next(job, i, end, &scratch);
        (void)wte__optim_move(o, row, rank, NULL, NULL, &scratch);
        noted[rank] = o->noted;
    }
    return WTE_OK;
}

static wte_status catch_rows(wte_optim *o, const uint64_t *rows, uint64_t n, wte_error *err)
{
    catch_job job = { o, rows, n };
    return wte__parallel_try(o->opt.pool, (n + CHUNK - 1) / CHUNK, catch_chunk, &job, err);
}

/* Lists each named row that has missed steps, once. */
static wte_status list_rows(wte_optim *o, wte_ids ids, uint64_t *n, wte_error *err)
{
    uint32_t *noted = o->block[WTE__OPTIM_NOTED];
    const uint64_t most = ids.count < o->shape.trainable ? ids.count : o->shape.trainable;
    void *list = o->listed;
    *n = 0;
    if (!wte__grow(o->opt.allocator, &list, &o->listed_cap, (size_t)most, sizeof *o->listed))
        return wte__no_memory(err, most * sizeof *o->listed, "the rows to be brought up to date");
    o->listed = list;
    for (uint64_t i = 0; i < ids.count; i++) {
        const uint64_t row = (uint64_t)wte_ids_at(ids, i);
        if (!wte__optim_trains(o, row)) continue;
        uint32_t *at = &noted[wte__optim_rank_of(o, row)];
        if (*at >= o->noted) continue; /* listed ones are, too */
        *at |= WTE__OPTIM_LISTED;
        o->listed[(*n)++] = row;
    }
    return WTE_OK;
}

wte_status wte_optim_sync_rows(wte_optim *o, wte_ids ids, wte_error *err)
{
    wte__id_rules rules;
    wte_bad_ids bad;
    uint64_t n;
    WTE_TRY(wte__need(o, "wte_optim_sync_rows: o", err));
    WTE_TRY(wte__ids_check(ids, "prepare", err));
    wte__id_rules_init(&rules, o->shape.rows, NULL, 0);
    wte__ids_judge(ids, &rules, &bad);
    if (bad.count) return wte__bad_ids_error(&bad, ids.count, o->shape.rows, err);
    if (o->noted == 0 || ids.count == 0) return WTE_OK;
    WTE_TRY(list_rows(o, ids, &n, err));
    return catch_rows(o, o->listed, n, err);
}

wte_status wte_optim_sync_all(wte_optim *o, wte_error *err)
{
    WTE_TRY(wte__need(o, "wte_optim_sync_all: o", err));
    if (o->noted == 0) return WTE_OK;
    WTE_TRY(catch_rows(o, NULL, o->shape.rows, err));
    memset(o->block[WTE__OPTIM_NOTED], 0, (size_t)o->bytes[WTE__OPTIM_NOTED]);
    o->noted = 0;
    return WTE_OK;
}
