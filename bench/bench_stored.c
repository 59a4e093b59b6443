/* Lookup of rows that are widened or decoded to f32, against loops that move as many bytes.
 *
 * usage: bench_stored [TYPE]     TYPE: f16, bf16, i8, row8_f32, row4, row2, q8_0, q4_0, q4_k, q6_k;
 *                                default all
 *
 * The loops read the rows that the ids name and write as many bytes as the f32 of them take, but
 * compute nothing: with plain stores or past the caches, with the next row prefetched or not. The
 * best of them by its median is the peer. */
#include "bench.h"

#include <wte/block.h>
#include <wte/lookup.h>
#include <wte/rowwise.h>

#include "base/thread.h"
#include "num/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX512 __attribute__((target("avx512f")))
#endif

#define IDS     8192u
#define BATCHES 16u
#define LINE    64u

typedef struct setting {
    wte_row_source rows;
    const char *data;
    char *out;
    size_t in_bytes, out_bytes; /* of a row; the second is a multiple of 64 */
    const int64_t *ids;
    wte_pool *pool;
    uint32_t threads;
    /* of the loop that runs */
    bool ahead, stream;
    uint32_t input;
} setting;

static void run_wte(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    const wte_ids ids = { .data = s->ids + (size_t)(input % BATCHES) * IDS,
                          .type = WTE_I64,
                          .count = IDS };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    wte_error err;
    opt.out_dtype = WTE_F32;
    opt.pool = s->pool;
    bench_require(wte_lookup(&s->rows, ids, &opt, s->out, 0, &err) == WTE_OK, "lookup failed");
}

/* Of any machine: as much of the row as the output has room for. */
static void copy_part(void *ctx, uint64_t part)
{
    const setting *s = ctx;
    const uint32_t n = IDS / s->threads, first = (uint32_t)part * n;
    const int64_t *ids = s->ids + (size_t)(s->input % BATCHES) * IDS + first;
    for (uint32_t i = 0; i < n; i++)
        for (size_t at = 0; at + s->in_bytes <= s->out_bytes; at += s->in_bytes)
            memcpy(s->out + (first + i) * s->out_bytes + at, s->data + (size_t)ids[i] * s->in_bytes,
                   s->in_bytes);
}
static void run_copy(void *ctx, uint32_t input)
{
    setting *s = ctx;
    s->input = input;
    wte__parallel(s->pool, s->threads, copy_part, s);
}

#if defined(__x86_64__)
/* The lines of the row are read while those of the output are written, in step. */
AVX512 static inline void move_row(const setting *s, const char *row, const char *next, char *to)
{
    const size_t lines = s->out_bytes / LINE, last = s->in_bytes - LINE;
    for (size_t i = 0; i < lines; i++) {
        const size_t at = i * s->in_bytes / lines;
        const __m512i x = _mm512_loadu_si512(row + (at < last ? at : last));
        if (s->ahead) __builtin_prefetch(next + at);
        if (s->stream)
            _mm512_stream_si512((void *)(to + i * LINE), x);
        else
            _mm512_store_si512(to + i * LINE, x);
    }
}

AVX512 static void run_part(void *ctx, uint64_t part)
{
    const setting *s = ctx;
    const uint32_t n = IDS / s->threads, first = (uint32_t)part * n;
    const int64_t *ids = s->ids + (size_t)(s->input % BATCHES) * IDS + first;
    for (uint32_t i = 0; i < n; i++)
        move_row(s, s->data + (size_t)ids[i] * s->in_bytes,
                 s->data + (size_t)ids[i + 1 < n ? i + 1 : i] * s->in_bytes,
                 s->out + (first + i) * s->out_bytes);
    _mm_sfence();
}

static void run_loop(setting *s, uint32_t input, bool ahead, bool stream)
{
    s->ahead = ahead;
    s->stream = stream;
    s->input = input;
    wte__parallel(s->pool, s->threads, run_part, s);
}
static void run_plain(void *ctx, uint32_t input)
{
    run_loop(ctx, input, false, false);
}
static void run_plain_ahead(void *ctx, uint32_t input)
{
    run_loop(ctx, input, true, false);
}
static void run_stream(void *ctx, uint32_t input)
{
    run_loop(ctx, input, false, true);
}
static void run_stream_ahead(void *ctx, uint32_t input)
{
    run_loop(ctx, input, true, true);
}

#endif

static const bench_contender contenders[] = {
    { "wte_lookup", run_wte },
    { "memcpy a row", run_copy },
#if defined(__x86_64__)
    { "same bytes", run_plain },
    { "same bytes, next row prefetched", run_plain_ahead },
    { "same bytes, streaming stores", run_stream },
    { "same bytes, next row prefetched, streaming stores", run_stream_ahead },
#endif
};

static uint32_t contenders_here(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx512f")) return 2; /* memcpy alone stands for plain loops */
#endif
    return sizeof contenders / sizeof *contenders;
}

static void report(const char *title, const bench_times *times)
{
    uint32_t best = 1;
    double median[BENCH_MAX_CONTENDERS];
    for (uint32_t c = 1; c < contenders_here(); c++) {
        median[c] = bench_describe(times->seconds[c], times->rounds).median;
        if (median[c] < median[best]) best = c;
    }
    const bench_stats ns = bench_describe(times->seconds[0], times->rounds);
    const bench_stats ratio = bench_ratio(times, best, 0);
    printf("{\"bench\": \"stored\", \"case\": \"%s\", \"ns\": %.0f, \"ns_quarters\": [%.0f, %.0f], "
           "\"peer\": \"%s\", \"ratio\": %.3f, \"ratio_range\": [%.3f, %.3f], \"pairs\": %u",
           title, ns.median * 1e9, ns.first_quarter * 1e9, ns.third_quarter * 1e9,
           contenders[best].name, ratio.median, ratio.low, ratio.high, times->rounds);
    bench_print_place(wte__kernels_get()->isa);
}

typedef struct stored_type {
    const char *name;
    wte_dtype type;
    uint32_t packing;
} stored_type;
static const stored_type types[] = {
    { "f16", WTE_F16, 0 },           { "bf16", WTE_BF16, 0 },       { "i8", WTE_I8, 0 },
    { "row8_f32", 0, WTE_ROW8_F32 }, { "row4", 0, WTE_ROW4 },       { "row2", 0, WTE_ROW2 },
    { "q8_0", 0, WTE_BLOCK_Q8_0 },   { "q4_0", 0, WTE_BLOCK_Q4_0 }, { "q4_k", 0, WTE_BLOCK_Q4_K },
    { "q6_k", 0, WTE_BLOCK_Q6_K },
};

/* Bytes that are harmless numbers in each of the types. */
static void make_rows(const stored_type *t, uint64_t rows, uint64_t cols, setting *s)
{
    static wte_rowwise_source rowwise;
    static wte_block_source block;
    wte_error err;
    wte_status status = WTE_OK;
    s->in_bytes =
        (size_t)(t->packing ? wte_packed_bytes(t->packing, cols) : cols * wte_dtype_bytes(t->type));
    s->out_bytes = (size_t)cols * sizeof(float);
    char *data = bench_buffer(rows * s->in_bytes);
    for (size_t i = 0; i < rows * s->in_bytes; i++) data[i] = (char)(0x30 + i % 13);
    s->data = data;
    if (t->packing > 1000)
        status = wte_row_source_from_rowwise((wte_rowwise)t->packing, rows, cols, data, 0, &rowwise,
                                             &s->rows, &err);
    else if (t->packing)
        status = wte_row_source_from_blocks((wte_block_type)t->packing, rows, cols, data, 0, &block,
                                            &s->rows, &err);
    else
        s->rows = (wte_row_source){
            .rows = rows, .cols = cols, .dtype = t->type, .data = data, .row_bytes = s->in_bytes
        };
    bench_require(status == WTE_OK, "no rows");
}

static void bench_type(const stored_type *t, uint64_t rows, uint64_t cols)
{
    static int64_t ids[(size_t)BATCHES * IDS];
    static bench_times times;
    setting s = { .ids = ids };
    uint64_t noise = 12345;
    wte_error err;
    make_rows(t, rows, cols, &s);
    s.out = bench_buffer(IDS * s.out_bytes);
    for (size_t i = 0; i < (size_t)BATCHES * IDS; i++)
        ids[i] = (int64_t)(bench_noise(&noise) % rows);
    for (s.threads = 1; s.threads <= 2; s.threads++) {
        char title[96];
        bench_require(wte_pool_create(s.threads, &s.pool, &err) == WTE_OK, "no threads");
        bench_run(contenders, contenders_here(), &s, &times);
        snprintf(title, sizeof title, "%s %llu x %llu, %u ids, %u threads", t->name,
                 (unsigned long long)rows, (unsigned long long)cols, IDS, s.threads);
        report(title, &times);
        wte_pool_free(s.pool);
    }
    free(s.out);
    free((void *)(uintptr_t)s.data);
}

int main(int argc, char **argv)
{
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (argc > 1 && strcmp(argv[1], types[t].name) != 0) continue;
        bench_type(&types[t], 50257, 768);
        bench_type(&types[t], 128000, 4096);
    }
    return 0;
}
