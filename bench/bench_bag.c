/* Bags of a table of 1000000 x 128: 4096 bags of 40 ids each, for each type and mode, against the
 * machine.
 *
 * usage: bench_bag [TYPE]      TYPE: f32, f16, bf16, i8, row8_f32, row4, row2, q8_0, q4_0; default
 * all
 *
 * The limits are two: reading as many lines one after the other, the best of 1, 4 and 8 streams;
 * and reading the very lines that the bags name, in their order, with the best prefetch of three,
 * and nothing but a word of each line added up. The sum is compared with the better of the second
 * kind; mean, weighted sum and maximum with the sum. */
#include "bench.h"

#include <wte/bag.h>
#include <wte/block.h>
#include <wte/rowwise.h>

#include "base/thread.h"
#include "num/kernels.h"

#define ROWS    1000000u
#define COLS    128u
#define BAGS    4096u
#define EACH    40u
#define IDS     ((size_t)BAGS * EACH)
#define BATCHES 8u
#define LINE    ((size_t)64)

typedef struct setting {
    wte_row_source rows;
    const char *data; /* as stored */
    size_t row_bytes; /* as stored */
    const int64_t *ids;
    const float *weights;
    float *out;
    wte_pool *pool;
    uint32_t threads;
    /* of the reading loop that runs */
    size_t ahead, streams;
    uint32_t input;
    uint64_t sum[2];
} setting;

static void run_bags(setting *s, uint32_t input, wte_bag_mode mode, const float *weights)
{
    const wte_ids ids = { .data = s->ids + input % BATCHES * IDS, .type = WTE_I64, .count = IDS };
    const wte_ids none = { .type = WTE_I64 };
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    wte_error err;
    opt.mode = mode;
    opt.weights = weights;
    opt.ids_per_bag = EACH;
    opt.pool = s->pool;
    bench_require(wte_bag_reduce(&s->rows, ids, none, &opt, s->out, 0, &err) == WTE_OK,
                  "bags failed");
}

static void run_sum(void *ctx, uint32_t input)
{
    run_bags(ctx, input, WTE_BAG_SUM, NULL);
}
static void run_mean(void *ctx, uint32_t input)
{
    run_bags(ctx, input, WTE_BAG_MEAN, NULL);
}
static void run_weighted(void *ctx, uint32_t input)
{
    setting *s = ctx;
    run_bags(s, input, WTE_BAG_SUM, s->weights);
}
static void run_max(void *ctx, uint32_t input)
{
    run_bags(ctx, input, WTE_BAG_MAX, NULL);
}

static uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* One thread's part of the lines that the ids name. */
static void read_lines(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const size_t n = IDS / s->threads;
    const int64_t *ids = s->ids + s->input % BATCHES * IDS + part * n;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const char *row = s->data + (size_t)ids[i] * s->row_bytes;
        const size_t later = i + s->ahead < n ? i + s->ahead : n - 1;
        const char *next = s->data + (size_t)ids[later] * s->row_bytes;
        for (size_t at = 0; at + sizeof sum <= s->row_bytes; at += LINE) {
            __builtin_prefetch(next + at);
            sum += word_at(row + at);
        }
        __builtin_prefetch(next + s->row_bytes - 1);
        sum += word_at(row + s->row_bytes - sizeof sum);
    }
    s->sum[part] = sum;
}

static void run_lines(setting *s, uint32_t input, size_t ahead)
{
    s->ahead = ahead;
    s->input = input;
    wte__parallel(s->pool, s->threads, read_lines, s);
}
static void run_lines_16(void *ctx, uint32_t input)
{
    run_lines(ctx, input, 16);
}
static void run_lines_32(void *ctx, uint32_t input)
{
    run_lines(ctx, input, 32);
}
static void run_lines_64(void *ctx, uint32_t input)
{
    run_lines(ctx, input, 64);
}

/* As many lines as the ids name, if no row shared one, from one place on. */
static void read_streams(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const size_t lines = (s->row_bytes + LINE - 1) / LINE;
    const size_t each = IDS / s->threads * lines / s->streams * LINE;
    const size_t shift = s->input % BATCHES * LINE * 64;
    const char *from = s->data + shift + part * each * s->streams;
    uint64_t sum = 0;
    for (size_t at = 0; at < each; at += LINE)
        for (size_t k = 0; k < s->streams; k++) sum += word_at(from + k * each + at);
    s->sum[part] = sum;
}
static void run_streams(void *ctx, uint32_t input)
{
    setting *s = ctx;
    s->input = input;
    s->streams = 4;
    wte__parallel(s->pool, s->threads, read_streams, s);
}

/* The limits first: whoever comes after the streams finds the caches full of them. */
enum { STREAMS, FIRST_LIMIT, LAST_LIMIT = FIRST_LIMIT + 2, SUM, MEAN, WEIGHTED, MAX, CONTENDERS };
static const bench_contender contenders[CONTENDERS] = {
    { "as many lines in 4 streams", run_streams },
    { "same lines, 16 rows ahead", run_lines_16 },
    { "same lines, 32 rows ahead", run_lines_32 },
    { "same lines, 64 rows ahead", run_lines_64 },
    { "sum", run_sum },
    { "mean", run_mean },
    { "weighted", run_weighted },
    { "max", run_max },
};

static void print_case(const char *title, const bench_times *times, uint32_t own, uint32_t peer)
{
    const bench_stats ns = bench_describe(times->seconds[own], times->rounds);
    const bench_stats ratio = bench_ratio(times, peer, own);
    printf(
        "{\"bench\": \"bag\", \"case\": \"%s, %s\", \"ns\": %.0f, \"ns_quarters\": [%.0f, %.0f], "
        "\"peer\": \"%s\", \"ratio\": %.3f, \"ratio_range\": [%.3f, %.3f], \"pairs\": %u",
        contenders[own].name, title, ns.median * 1e9, ns.first_quarter * 1e9,
        ns.third_quarter * 1e9, contenders[peer].name, ratio.median, ratio.low, ratio.high,
        times->rounds);
    bench_print_place(wte__kernels_get()->isa);
}

static void report(const char *title, const bench_times *times)
{
    uint32_t best = FIRST_LIMIT;
    for (uint32_t c = FIRST_LIMIT; c <= LAST_LIMIT; c++)
        if (bench_ratio(times, best, c).median > 1) best = c;
    print_case(title, times, SUM, best);
    print_case(title, times, SUM, STREAMS);
    for (uint32_t c = MEAN; c <= MAX; c++) print_case(title, times, c, SUM);
}

/* Uniform ids, or Zipf's law with exponent 1 over randomly ordered rows. */
static void make_ids(int64_t *ids, int zipf)
{
    static double sum[ROWS];
    static int64_t order[ROWS];
    uint64_t noise = 12345;
    for (uint64_t i = 0; i < ROWS; i++) {
        const uint64_t k = bench_noise(&noise) % (i + 1);
        sum[i] = (i ? sum[i - 1] : 0) + 1.0 / (double)(i + 1);
        order[i] = order[k];
        order[k] = (int64_t)i;
    }
    for (size_t i = 0; i < BATCHES * IDS; i++) {
        const double u = (double)(bench_noise(&noise) >> 11) * 0x1p-53;
        uint64_t low = 0, high = ROWS - 1;
        while (zipf && low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (sum[middle] < u * sum[ROWS - 1])
                low = middle + 1;
            else
                high = middle;
        }
        ids[i] = zipf ? order[low] : (int64_t)(u * ROWS);
    }
}

typedef struct stored_type {
    const char *name;
    wte_dtype type;
    uint32_t packing;
} stored_type;
static const stored_type types[] = {
    { "f32", WTE_F32, 0 },   { "f16", WTE_F16, 0 },           { "bf16", WTE_BF16, 0 },
    { "i8", WTE_I8, 0 },     { "row8_f32", 0, WTE_ROW8_F32 }, { "row4", 0, WTE_ROW4 },
    { "row2", 0, WTE_ROW2 }, { "q8_0", 0, WTE_BLOCK_Q8_0 },   { "q4_0", 0, WTE_BLOCK_Q4_0 },
};

/* Rows of small numbers: 0x3c and the like in every byte are harmless in each of the types. */
static void make_rows(const stored_type *t, setting *s)
{
    static wte_rowwise_source rowwise;
    static wte_block_source block;
    wte_error err;
    s->row_bytes = (size_t)(t->packing ? wte_packed_bytes(t->packing, COLS)
                                       : COLS * (uint64_t)wte_dtype_bytes(t->type));
    char *data = bench_buffer(ROWS * s->row_bytes + IDS * LINE * 2);
    for (size_t i = 0; i < ROWS * s->row_bytes; i++) data[i] = (char)(0x30 + i % 13);
    s->data = data;
    if (t->packing > 1000)
        bench_require(wte_row_source_from_rowwise((wte_rowwise)t->packing, ROWS, COLS, data, 0,
                                                  &rowwise, &s->rows, &err) == WTE_OK,
                      "no rows");
    else if (t->packing)
        bench_require(wte_row_source_from_blocks((wte_block_type)t->packing, ROWS, COLS, data, 0,
                                                 &block, &s->rows, &err) == WTE_OK,
                      "no rows");
    else
        s->rows = (wte_row_source){
            .rows = ROWS, .cols = COLS, .dtype = t->type, .data = data, .row_bytes = s->row_bytes
        };
}

static void bench_type(const stored_type *t, setting *s, int64_t *ids)
{
    static bench_times times;
    wte_error err;
    make_rows(t, s);
    for (int zipf = 0; zipf < 2; zipf++) {
        make_ids(ids, zipf);
        for (s->threads = 1; s->threads <= 2; s->threads++) {
            char title[96];
            bench_require(wte_pool_create(s->threads, &s->pool, &err) == WTE_OK, "no threads");
            bench_run(contenders, CONTENDERS, s, &times);
            snprintf(title, sizeof title, "%s, %s, %u threads", t->name, zipf ? "zipf" : "uniform",
                     s->threads);
            report(title, &times);
            wte_pool_free(s->pool);
        }
    }
    free((void *)(uintptr_t)s->data);
}

int main(int argc, char **argv)
{
    static int64_t ids[BATCHES * IDS];
    static float weights[IDS];
    setting s = { .ids = ids, .weights = weights };
    s.out = bench_buffer((size_t)BAGS * COLS * sizeof(float));
    for (size_t i = 0; i < IDS; i++) weights[i] = (float)(i % 7) * 0.25f;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (argc < 2 || strcmp(argv[1], types[t].name) == 0) bench_type(&types[t], &s, ids);
    free(s.out);
    return s.sum[0] == 1; /* the sums are used */
}
