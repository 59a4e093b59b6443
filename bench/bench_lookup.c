/* Row lookup against the best plain copy loop of the same rows.
 *
 * usage: bench_lookup [SHAPE]          SHAPE: 50257x768 or 128000x4096; default both
 *
 * Plain loops know nothing of ids but their value: no range check, no policy, no types. Which of
 * them is best depends on machine and size, so all run in turn with wte_lookup and the best
 * is chosen by its median afterwards. */
#include "bench.h"

#include <wte/lookup.h>
#include <wte/table.h>

#include "base/thread.h"
#include "num/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX512 __attribute__((target("avx512f")))
#endif

#define IDS     8192u
#define BATCHES 16u

typedef struct setting {
    const wte_row_source *rows;
    const char *table;
    char *out;
    size_t row_bytes;   /* a multiple of 64 */
    const int64_t *ids; /* BATCHES x IDS */
    wte_pool *pool;
    uint32_t threads;
    /* of the plain loop that runs */
    void (*loop)(const struct setting *s, const int64_t *ids, char *out, uint32_t n);
    uint32_t input;
} setting;

static void loop_memcpy(const setting *s, const int64_t *ids, char *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        memcpy(out + i * s->row_bytes, s->table + (size_t)ids[i] * s->row_bytes, s->row_bytes);
}

#if defined(__x86_64__)
AVX512 static void loop_vector(const setting *s, const int64_t *ids, char *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *from = s->table + (size_t)ids[i] * s->row_bytes;
        char *to = out + i * s->row_bytes;
        for (size_t at = 0; at < s->row_bytes; at += 64)
            _mm512_storeu_si512(to + at, _mm512_loadu_si512(from + at));
    }
}

AVX512 static void loop_stream(const setting *s, const int64_t *ids, char *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *from = s->table + (size_t)ids[i] * s->row_bytes;
        char *to = out + i * s->row_bytes;
        for (size_t at = 0; at < s->row_bytes; at += 64)
            _mm512_stream_si512((void *)(to + at), _mm512_loadu_si512(from + at));
    }
    _mm_sfence();
}

/* Prefetches the next row while it copies one. */
AVX512 static void loop_vector_ahead(const setting *s, const int64_t *ids, char *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *from = s->table + (size_t)ids[i] * s->row_bytes;
        const char *next = s->table + (size_t)ids[i + 1 < n ? i + 1 : i] * s->row_bytes;
        char *to = out + i * s->row_bytes;
        for (size_t at = 0; at < s->row_bytes; at += 64) {
            _mm_prefetch(next + at, _MM_HINT_T0);
            _mm512_storeu_si512(to + at, _mm512_loadu_si512(from + at));
        }
    }
}

AVX512 static void loop_stream_ahead(const setting *s, const int64_t *ids, char *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *from = s->table + (size_t)ids[i] * s->row_bytes;
        const char *next = s->table + (size_t)ids[i + 1 < n ? i + 1 : i] * s->row_bytes;
        char *to = out + i * s->row_bytes;
        for (size_t at = 0; at < s->row_bytes; at += 64) {
            _mm_prefetch(next + at, _MM_HINT_T0);
            _mm512_stream_si512((void *)(to + at), _mm512_loadu_si512(from + at));
        }
    }
    _mm_sfence();
}
#endif

/* Each thread copies one contiguous part of the batch. */
static void run_part(void *ctx, uint64_t part)
{
    const setting *s = ctx;
    const uint32_t n = IDS / s->threads, first = (uint32_t)part * n;
    const int64_t *ids = s->ids + (size_t)(s->input % BATCHES) * IDS + first;
    s->loop(s, ids, s->out + first * s->row_bytes, n);
}

static void run_loop(setting *s, uint32_t input,
                     void (*loop)(const setting *, const int64_t *, char *, uint32_t))
{
    s->loop = loop;
    s->input = input;
    wte__parallel(s->pool, s->threads, run_part, s);
}

static void run_wte(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    const wte_ids ids = { .data = s->ids + (size_t)(input % BATCHES) * IDS,
                          .type = WTE_I64,
                          .count = IDS };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    wte_error err;
    opt.pool = s->pool;
    bench_require(wte_lookup(s->rows, ids, &opt, s->out, 0, &err) == WTE_OK, "lookup failed");
}

#define RUN_LOOP(name)                                                                             \
    static void run_##name(void *ctx, uint32_t input)                                              \
    {                                                                                              \
        run_loop(ctx, input, loop_##name);                                                         \
    }
RUN_LOOP(memcpy)
#if defined(__x86_64__)
RUN_LOOP(vector)
RUN_LOOP(stream)
RUN_LOOP(vector_ahead)
RUN_LOOP(stream_ahead)
#endif

static const bench_contender contenders[] = {
    { "wte_lookup", run_wte },
    { "memcpy a row", run_memcpy },
#if defined(__x86_64__)
    { "vector loop", run_vector },
    { "vector loop, streaming stores", run_stream },
    { "vector loop, next row prefetched", run_vector_ahead },
    { "vector loop, next row prefetched, streaming stores", run_stream_ahead },
#endif
};

static uint32_t contenders_here(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx512f")) return 2; /* memcpy alone stands for plain loops */
#endif
    return sizeof contenders / sizeof *contenders;
}

/* Uniform ids, or Zipf's law with exponent 1 over randomly ordered rows. */
static void make_ids(int64_t *ids, uint64_t rows, int zipf)
{
    uint64_t noise = 12345;
    double *sum = malloc(rows * sizeof *sum);
    int64_t *order = calloc(rows, sizeof *order);
    bench_require(sum && order, "out of memory");
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t k = bench_noise(&noise) % (i + 1);
        sum[i] = (i ? sum[i - 1] : 0) + 1.0 / (double)(i + 1);
        order[i] = order[k];
        order[k] = (int64_t)i;
    }
    for (size_t i = 0; i < (size_t)BATCHES * IDS; i++) {
        const double u = (double)(bench_noise(&noise) >> 11) * 0x1p-53;
        uint64_t low = 0, high = rows - 1;
        while (zipf && low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (sum[middle] < u * sum[rows - 1])
                low = middle + 1;
            else
                high = middle;
        }
        ids[i] = zipf ? order[low] : (int64_t)(u * (double)rows);
    }
    free(sum);
    free(order);
}

static void report(const char *title, const setting *s, const bench_times *times, uint32_t n)
{
    uint32_t best = 1;
    double median[BENCH_MAX_CONTENDERS];
    for (uint32_t c = 0; c < n; c++) {
        median[c] = bench_describe(times->seconds[c], times->rounds).median;
        if (c > best && median[c] < median[best]) best = c;
    }
    const bench_stats own = bench_describe(times->seconds[0], times->rounds);
    const bench_stats ratio = bench_ratio(times, best, 0);
    printf("{\"bench\": \"lookup\", \"case\": \"%s\", \"ns\": %.0f, \"ns_quarters\": [%.0f, %.0f], "
           "\"gb_s\": %.2f, ",
           title, own.median * 1e9, own.first_quarter * 1e9, own.third_quarter * 1e9,
           (double)IDS * (double)s->row_bytes / own.median * 1e-9);
    printf("\"peer\": \"%s\", \"ratio\": %.3f, \"ratio_range\": [%.3f, %.3f], \"pairs\": %u, "
           "\"loops_ns\": {",
           contenders[best].name, ratio.median, ratio.low, ratio.high, times->rounds);
    for (uint32_t c = 1; c < n; c++)
        printf("%s\"%s\": %.0f", c > 1 ? ", " : "", contenders[c].name, median[c] * 1e9);
    printf("}");
    bench_print_place(wte__kernels_get()->isa);
}

static void check_rows(setting *s)
{
    char *expected = malloc(IDS * s->row_bytes);
    bench_require(expected != NULL, "out of memory");
    loop_memcpy(s, s->ids, expected, IDS);
    run_wte(s, 0);
    bench_require(memcmp(s->out, expected, IDS * s->row_bytes) == 0, "wrong rows");
    free(expected);
}

static void bench_shape(uint64_t rows, uint64_t dim)
{
    static int64_t ids[BATCHES * IDS];
    static bench_times times;
    wte_init_options opt = WTE_INIT_OPTIONS_INIT;
    wte_error err;
    wte_table *t;
    opt.kind = WTE_INIT_UNIFORM;
    bench_require(wte_table_create(rows, dim, WTE_F32, NULL, &t, &err) == WTE_OK, "no table");
    bench_require(wte_table_init(t, &opt, &err) == WTE_OK, "no values");
    setting s = { .rows = wte_table_source(t), .table = wte_table_data(t), .ids = ids };
    s.row_bytes = (size_t)dim * sizeof(float);
    s.out = bench_buffer(IDS * s.row_bytes);
    for (int zipf = 0; zipf < 2; zipf++) {
        make_ids(ids, rows, zipf);
        for (s.threads = 1; s.threads <= 2; s.threads++) {
            char title[96];
            bench_require(wte_pool_create(s.threads, &s.pool, &err) == WTE_OK, "no threads");
            check_rows(&s);
            bench_run(contenders, contenders_here(), &s, &times);
            snprintf(title, sizeof title, "f32 %llu x %llu, %u ids, %s, %u threads",
                     (unsigned long long)rows, (unsigned long long)dim, IDS,
                     zipf ? "zipf" : "uniform", s.threads);
            report(title, &s, &times, contenders_here());
            wte_pool_free(s.pool);
        }
    }
    free(s.out);
    wte_table_free(t);
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "50257x768") == 0) bench_shape(50257, 768);
    if (argc < 2 || strcmp(argv[1], "128000x4096") == 0) bench_shape(128000, 4096);
    return 0;
}
