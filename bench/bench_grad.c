/* Gradients of a table of 50257 x 768 by 8192 ids, and their norm, against the machine.
 *
 * usage: bench_grad
 *
 * The limit of a scatter into a dense gradient is a plain loop that adds as many rows as the ids
 * name to rows that lie one after the other: it reads and writes as many bytes, and the processor's
 * own prefetchers know the way. That of a fresh sparse gradient is the same loop without reading
 * what it writes. That of the norm is reading as many bytes, in the best of 1, 4 and 8 streams. */
#include "bench.h"

#include <wte/grad.h>

#include "base/thread.h"
#include "num/kernels.h"

#define ROWS    50257u
#define COLS    768u
#define IDS     ((size_t)8192)
#define BATCHES 8u
#define LINE    16u /* floats */

typedef struct setting {
    const int64_t *ids;
    uint32_t named[BATCHES]; /* distinct ids of each batch */
    const float *d_out[2];
    float *plain; /* as large as the gradient */
    wte_grad *dense, *sparse;
    wte_pool *pool;
    uint32_t threads, input;
    size_t streams;
    float sum[2];
} setting;

static void scatter(setting *s, wte_grad *g, uint32_t input)
{
    const wte_ids ids = { .data = s->ids + input % BATCHES * IDS, .type = WTE_I64, .count = IDS };
    wte_error err;
    bench_require(wte_grad_lookup(g, ids, s->d_out[input % 2], 0, NULL, &err) == WTE_OK,
                  "gradient failed");
}

static void run_dense(void *ctx, uint32_t input)
{
    setting *s = ctx;
    scatter(s, s->dense, input);
}
static void run_sparse(void *ctx, uint32_t input)
{
    setting *s = ctx;
    wte_grad_zero(s->sparse);
    scatter(s, s->sparse, input);
}
static void run_zero(void *ctx, uint32_t input)
{
    setting *s = ctx;
    (void)input;
    wte_grad_zero(s->dense);
}
static void run_norm(void *ctx, uint32_t input)
{
    setting *s = ctx;
    double norm;
    wte_error err;
    (void)input;
    bench_require(wte_grad_norm(&s->dense, 1, &norm, &err) == WTE_OK, "norm failed");
}

/* Where a batch's plain loop begins: the rows of the batch before are not in the caches. */
static float *plain_of(const setting *s, uint32_t input)
{
    return s->plain + (size_t)(input % 4) * IDS * COLS;
}

/* `named` rows are added to; the rest of d_out is only read, as parts that join a sum are. */
static void add_plainly(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const size_t named = (size_t)s->named[s->input % BATCHES] * COLS / s->threads;
    const size_t all = (size_t)IDS * COLS / s->threads;
    const float *x = s->d_out[s->input % 2] + part * all;
    float *y = plain_of(s, s->input) + part * all, sum = 0;
    for (size_t i = 0; i < named; i++) y[i] += x[i];
    for (size_t i = named; i < all; i += LINE) sum += x[i];
    s->sum[part] = sum;
}
static void run_add(void *ctx, uint32_t input)
{
    setting *s = ctx;
    s->input = input;
    wte__parallel(s->pool, s->threads, add_plainly, s);
}

static void copy_plainly(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const size_t named = (size_t)s->named[s->input % BATCHES] * COLS / s->threads;
    const size_t all = (size_t)IDS * COLS / s->threads;
    const float *x = s->d_out[s->input % 2] + part * all;
    float sum = 0;
    memcpy(plain_of(s, s->input) + part * all, x, named * sizeof *x);
    for (size_t i = named; i < all; i += LINE) sum += x[i];
    s->sum[part] = sum;
}
static void run_copy(void *ctx, uint32_t input)
{
    setting *s = ctx;
    s->input = input;
    wte__parallel(s->pool, s->threads, copy_plainly, s);
}

static void read_streams(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const size_t each = (size_t)ROWS * COLS / s->threads / s->streams / LINE * LINE;
    const float *x = s->plain + part * each * s->streams;
    float sum = 0;
    for (size_t i = 0; i < each; i += LINE)
        for (size_t k = 0; k < s->streams; k++) sum += x[k * each + i];
    s->sum[part] = sum;
}
static void run_streams(setting *s, size_t streams)
{
    s->streams = streams;
    wte__parallel(s->pool, s->threads, read_streams, s);
}
static void run_read_1(void *ctx, uint32_t input)
{
    (void)input;
    run_streams(ctx, 1);
}
static void run_read_4(void *ctx, uint32_t input)
{
    (void)input;
    run_streams(ctx, 4);
}
static void run_read_8(void *ctx, uint32_t input)
{
    (void)input;
    run_streams(ctx, 8);
}

static const bench_contender adding[] = { { "plain addition", run_add },
                                          { "dense lookup", run_dense } };
static const bench_contender setting_new[] = { { "plain copy", run_copy },
                                               { "sparse lookup", run_sparse } };
static const bench_contender whole[] = { { "read in 1 stream", run_read_1 },
                                         { "read in 4 streams", run_read_4 },
                                         { "read in 8 streams", run_read_8 },
                                         { "norm", run_norm },
                                         { "zero", run_zero } };

static void print_case(const char *title, const bench_times *times, uint32_t own, uint32_t limit,
                       const bench_contender *c)
{
    const bench_stats ns = bench_describe(times->seconds[own], times->rounds);
    const bench_stats ratio = bench_ratio(times, limit, own);
    printf("{\"bench\": \"grad\", \"case\": \"%s, %s\", \"ns\": %.0f, \"ns_quarters\": [%.0f, "
           "%.0f], \"peer\": \"%s\", \"ratio\": %.3f, \"ratio_range\": [%.3f, %.3f], \"pairs\": %u",
           c[own].name, title, ns.median * 1e9, ns.first_quarter * 1e9, ns.third_quarter * 1e9,
           c[limit].name, ratio.median, ratio.low, ratio.high, times->rounds);
    bench_print_place(wte__kernels_get()->isa);
}

/* Uniform ids, or Zipf's law with exponent 1 over rows in a random order. */
static void make_ids(setting *s, int64_t *ids, int zipf)
{
    static double sum[ROWS];
    static int64_t order[ROWS];
    static uint8_t seen[ROWS];
    uint64_t noise = 12345;
    for (uint64_t i = 0; i < ROWS; i++) {
        const uint64_t k = bench_noise(&noise) % (i + 1);
        sum[i] = (i ? sum[i - 1] : 0) + 1.0 / (double)(i + 1);
        order[i] = order[k];
        order[k] = (int64_t)i;
    }
    for (size_t i = 0; i < (size_t)BATCHES * IDS; i++) {
        const double u = (double)(bench_noise(&noise) >> 11) * 0x1p-53;
        uint64_t low = 0, high = ROWS - 1;
        if (i % IDS == 0) {
            memset(seen, 0, sizeof seen);
            s->named[i / IDS] = 0;
        }
        while (zipf && low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (sum[middle] < u * sum[ROWS - 1])
                low = middle + 1;
            else
                high = middle;
        }
        ids[i] = zipf ? order[low] : (int64_t)(u * ROWS);
        s->named[i / IDS] += !seen[ids[i]];
        seen[ids[i]] = 1;
    }
}

static void bench_threads(setting *s, const char *law, int with_whole)
{
    static bench_times times;
    wte_grad_options o = WTE_GRAD_OPTIONS_INIT;
    wte_error err;
    char title[64];
    snprintf(title, sizeof title, "%s, %u threads", law, s->threads);
    bench_require(wte_pool_create(s->threads, &s->pool, &err) == WTE_OK, "no threads");
    o.pool = s->pool;
    bench_require(wte_grad_create(ROWS, COLS, &o, &s->dense, &err) == WTE_OK, "no gradient");
    o.kind = WTE_GRAD_SPARSE;
    bench_require(wte_grad_create(ROWS, COLS, &o, &s->sparse, &err) == WTE_OK, "no gradient");
    bench_run(adding, 2, s, &times);
    print_case(title, &times, 1, 0, adding);
    bench_run(setting_new, 2, s, &times);
    print_case(title, &times, 1, 0, setting_new);
    if (with_whole) {
        uint32_t best = 0;
        bench_run(whole, 5, s, &times);
        for (uint32_t c = 1; c < 3; c++)
            if (bench_ratio(&times, best, c).median > 1) best = c;
        print_case(title, &times, 3, best, whole);
        print_case(title, &times, 4, best, whole);
    }
    wte_grad_free(s->dense);
    wte_grad_free(s->sparse);
    wte_pool_free(s->pool);
}

int main(void)
{
    static int64_t ids[BATCHES * IDS];
    setting s = { .ids = ids };
    float *d_out[2];
    for (size_t k = 0; k < 2; k++) {
        s.d_out[k] = d_out[k] = bench_buffer((size_t)IDS * COLS * sizeof(float));
        for (size_t i = 0; i < (size_t)IDS * COLS; i++) d_out[k][i] = (float)(i % 13) * 0x1p-4f;
    }
    s.plain = bench_buffer((size_t)ROWS * COLS * sizeof(float));
    for (int zipf = 0; zipf < 2; zipf++) {
        make_ids(&s, ids, zipf);
        for (s.threads = 1; s.threads <= 2; s.threads++)
            bench_threads(&s, zipf ? "zipf" : "uniform", !zipf);
    }
    free(s.plain);
    free(d_out[0]);
    free(d_out[1]);
    return s.sum[0] == 1; /* the sums are used */
}
