/* Adafactor: second moments kept as means of rows and of columns (Shazeer and Stern, 2018). Three
 * passes over the gradient: means of rows, means of columns, steps. docs/training.md has the
 * formula. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "optim/optim.h"

/* Rows that a thread takes at a time; columns whose sums it keeps. */
#define CHUNK UINT64_C(64)
#define SPAN  64u

typedef struct factor_job {
    wte_optim *o;
    const float *g;
    wte__factors by;
    uint64_t taken;  /* rows that take the step */
    float over_mean; /* 1 / the mean of the rows' means, times the correction of the first steps */
} factor_job;

static float joined(const wte_optim *o, float g, float p)
{
    return o->rule.l2 != 0 ? fmaf(o->rule.l2, p, g) : g;
}

/* The row in f32: in place, or widened. */
static float *row_of(const wte_optim *o, uint64_t row, uint64_t rank, wte__optim_scratch *scratch)
{
    char *stored = o->data + row * o->row_bytes;
    if (!o->narrow) return (float *)(void *)stored;
    float *master = wte__optim_at(o, WTE__OPTIM_MASTER, rank);
    if (!master) o->widen(stored, scratch->p, scratch->job.n);
    return master ? master : scratch->p;
}

typedef void (*row_work)(factor_job *job, uint64_t row, uint64_t rank, wte__optim_scratch *scratch);
typedef struct rows_job {
    factor_job *job;
    row_work work;
} rows_job;

static wte_status rows_chunk(void *ctx, uint64_t chunk, uint32_t slot, wte_error *err)
{
    const rows_job *rows = ctx;
    const wte_optim *o = rows->job->o;
    const uint64_t begin = chunk * CHUNK, left = o->shape.rows - begin;
    wte__optim_scratch scratch;
    (void)err; /* nothing here can fail */
    wte__optim_scratch_init(o, slot, &scratch);
    scratch.job.prefetch_end = 1;
    for (uint64_t r = begin; r < begin + (left < CHUNK ? left : CHUNK); r++)
        if (wte__optim_trains(o, r)) rows->work(rows->job, r, wte__optim_rank_of(o, r), &scratch);
    return WTE_OK;
}
static void each_row(factor_job *job, row_work work)
{
    rows_job rows = { job, work };
    const uint64_t chunks = (job->o->shape.rows + CHUNK - 1) / CHUNK;
    const wte_status status = wte__parallel_try(job->o->opt.pool, chunks, rows_chunk, &rows, NULL);
    (void)status;
}

static void mean_of_row(factor_job *job, uint64_t row, uint64_t rank, wte__optim_scratch *scratch)
{
    const wte_optim *o = job->o;
    const wte__kernels *k = o->kernels;
    const float *g = job->g + row * o->shape.cols;
    float *mean = wte__optim_floats(o, WTE__OPTIM_BY_ROW) + rank;
    uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    if (!k->all_finite(g, scratch->job.n)) {
        marks[rank] |= WTE__OPTIM_LEFT_OUT;
        return;
    }
    const float squares =
        k->sumsq_decayed(g, row_of(o, row, rank, scratch), o->rule.l2, scratch->job.n);
    *mean = fmaf(o->rule.c2, squares / (float)scratch->job.n, o->rule.b2 * *mean);
}

/* Columns are summed in f64 over all rows in their order, so that the threads do not matter. */
static wte_status means_of_columns(void *ctx, uint64_t span, uint32_t slot, wte_error *err)
{
    factor_job *job = ctx;
    const wte_optim *o = job->o;
    const uint64_t cols = o->shape.cols, begin = span * SPAN;
    const size_t n = cols - begin < SPAN ? (size_t)(cols - begin) : SPAN;
    const uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    float *mean = wte__optim_floats(o, WTE__OPTIM_BY_COLUMN) + begin;
    wte__optim_scratch scratch;
    double sum[SPAN] = { 0 };
    (void)err;
    wte__optim_scratch_init(o, slot, &scratch);
    for (uint64_t r = 0; r < o->shape.rows; r++) {
        const uint64_t rank = wte__optim_rank_of(o, r);
        if (!wte__optim_trains(o, r) || marks[rank] & WTE__OPTIM_LEFT_OUT) continue;
        const float *g = job->g + r * cols + begin;
        const float *p = o->rule.l2 != 0 ? row_of(o, r, rank, &scratch) + begin : g;
        for (size_t i = 0; i < n; i++) {
            const double x = (double)joined(o, g[i], p[i]);
            sum[i] += x * x;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const float fresh = (float)(sum[i] / (double)job->taken);
        mean[i] = fmaf(o->rule.c2, fresh, o->rule.b2 * mean[i]);
    }
    return WTE_OK;
}

static void step_row(factor_job *job, uint64_t row, uint64_t rank, wte__optim_scratch *scratch)
{
    wte_optim *o = job->o;
    uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    if (marks[rank] & WTE__OPTIM_LEFT_OUT) {
        marks[rank] &= (uint8_t)~WTE__OPTIM_LEFT_OUT;
        return;
    }
    const float *g = job->g + row * o->shape.cols, *p = row_of(o, row, rank, scratch);
    const float *by_column = wte__optim_floats(o, WTE__OPTIM_BY_COLUMN);
    const float of_row = wte__optim_floats(o, WTE__OPTIM_BY_ROW)[rank] * job->over_mean;
    for (size_t i = 0; i < scratch->job.n; i++)
        scratch->g[i] = joined(o, g[i], p[i]) / (sqrtf(of_row * by_column[i]) + o->rule.eps);
    (void)wte__optim_move(o, row, rank, scratch->g, &job->by, scratch);
}

void wte__optim_adafactor(wte_optim *o, const float *g, wte__optim_bad *bad)
{
    const uint8_t *marks = o->block[WTE__OPTIM_MARKS];
    const float *by_row = wte__optim_floats(o, WTE__OPTIM_BY_ROW);
    factor_job job = { .o = o, .g = g, .by = wte__optim_factors(o, o->steps + 1, true) };
    double sum = 0;
    if (o->shape.cols == 0 || o->shape.trainable == 0) return;
    each_row(&job, mean_of_row);
    for (uint64_t r = 0; r < o->shape.rows; r++) {
        const uint64_t rank = wte__optim_rank_of(o, r);
        if (!wte__optim_trains(o, r)) continue;
        sum += (double)by_row[rank];
        if (!(marks[rank] & WTE__OPTIM_LEFT_OUT)) continue;
        if (bad->count++ == 0) bad->first = r;
    }
    job.taken = o->shape.trainable - bad->count;
    const double mean = sum / (double)o->shape.trainable;
    job.over_mean = mean > 0 ? (float)((double)job.by.over / mean) : 0;
    if (job.taken) {
        const uint64_t spans = (o->shape.cols + SPAN - 1) / SPAN;
        const wte_status status =
            wte__parallel_try(o->opt.pool, spans, means_of_columns, &job, NULL);
        (void)status;
    }
    each_row(&job, step_row);
}
