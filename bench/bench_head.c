/* Logits of the output head against what this machine can do at most, and against OpenBLAS.
 *
 * usage: bench_head [ROWSxDIM [TYPE [N [THREADS]]]]     default: 50257x768, all types, 1 8 512, 1
 * and 2
 *
 * The limit of a few hidden vectors is reading the table once: plain loops over 1, 2, 4 or 8
 * streams of as many bytes, the best of which runs in turn with the head. The limit of many is a
 * loop of multiply-adds in registers, of f32 (exact) and of pairs of bf16 (fast). */
#define _GNU_SOURCE
#include "bench.h"

#include <dlfcn.h>
#include <wte/block.h>
#include <wte/head.h>

#include "base/thread.h"
#include "num/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MOST_THREADS 2u
#define MANY         64u /* vectors, from which on the limit is arithmetic */

typedef struct kind {
    const char *name;
    wte_dtype dtype;      /* of the elements, or */
    wte_block_type block; /* of the blocks */
    size_t scale_at[2];   /* where a block has its f16 numbers, which are not to be noise */
    size_t scales;
} kind;

static const kind kinds[] = {
    { "f32", WTE_F32, WTE_BLOCK_NONE, { 0, 0 }, 0 },
    { "bf16", WTE_BF16, WTE_BLOCK_NONE, { 0, 0 }, 0 },
    { "f16", WTE_F16, WTE_BLOCK_NONE, { 0, 0 }, 0 },
    { "q8_0", WTE_F32, WTE_BLOCK_Q8_0, { 0, 0 }, 1 },
    { "q4_0", WTE_F32, WTE_BLOCK_Q4_0, { 0, 0 }, 1 },
    { "q4_k", WTE_F32, WTE_BLOCK_Q4_K, { 0, 2 }, 2 },
    { "q6_k", WTE_F32, WTE_BLOCK_Q6_K, { 208, 0 }, 1 },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

typedef void (*blas_sgemm)(int order, int a_trans, int b_trans, int m, int n, int k, float alpha,
                           const float *a, int lda, const float *b, int ldb, float beta, float *c,
                           int ldc);

typedef struct setting {
    const kind *kind;
    uint64_t rows, dim, n;
    uint32_t threads, streams;
    wte_pool *pool;
    wte_row_source table;
    wte_block_source source;
    uint8_t *bytes;
    size_t table_bytes;
    float *hidden, *out;
    blas_sgemm sgemm;
    void (*set_blas_threads)(int n);
    uint64_t steps; /* of a loop of arithmetic, on one thread */
    float sums[MOST_THREADS];
} setting;

/* The limits --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define AVX512 __attribute__((target("avx512f,avx512bw")))
#define BF16   __attribute__((target("avx512f,avx512bf16")))

/* `streams` streams side by side, 128 bytes of each in turn. */
AVX512 static float read_bytes(const uint8_t *from, size_t bytes, uint32_t streams)
{
    const size_t part = bytes / streams / 128 * 128;
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    if (streams == 1)
        for (size_t at = 0; at + 256 <= bytes; at += 256) {
            a = _mm512_xor_si512(a, _mm512_loadu_si512(from + at));
            b = _mm512_xor_si512(b, _mm512_loadu_si512(from + at + 64));
            c = _mm512_xor_si512(c, _mm512_loadu_si512(from + at + 128));
            d = _mm512_xor_si512(d, _mm512_loadu_si512(from + at + 192));
        }
    else
        for (size_t at = 0; at < part; at += 128)
            for (uint32_t s = 0; s < streams; s++) {
                a = _mm512_xor_si512(a, _mm512_loadu_si512(from + s * part + at));
                b = _mm512_xor_si512(b, _mm512_loadu_si512(from + s * part + at + 64));
            }
    a = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, d));
    return (float)_mm512_reduce_add_epi32(a);
}

/* 24 chains of 16 lanes. */
#define CHAINS(X)                                                                                  \
    X(0)                                                                                           \
    X(1)                                                                                           \
    X(2)                                                                                           \
    X(3)                                                                                           \
    X(4)                                                                                           \
    X(5)                                                                                           \
    X(6)                                                                                           \
    X(7)                                                                                           \
    X(8)                                                                                           \
    X(9)                                                                                           \
    X(10)                                                                                          \
    X(11)                                                                                          \
    X(12)                                                                                          \
    X(13)                                                                                          \
    X(14)                                                                                          \
    X(15)                                                                                          \
    X(16)                                                                                          \
    X(17)                                                                                          \
    X(18)                                                                                          \
    X(19)                                                                                          \
    X(20)                                                                                          \
    X(21)                                                                                          \
    X(22)                                                                                          \
    X(23)
AVX512 static float multiply_add(uint64_t steps)
{
    const __m512 half = _mm512_set1_ps(0.5f);
#define X(i) __m512 x##i = _mm512_set1_ps((float)(i));
    CHAINS(X)
#undef X
    for (uint64_t step = 0; step < steps; step++) {
#define X(i) x##i = _mm512_fmadd_ps(x##i, half, half);
        CHAINS(X)
#undef X
    }
    __m512 sum = half;
#define X(i) sum = _mm512_add_ps(sum, x##i);
    CHAINS(X)
#undef X
    return _mm512_reduce_add_ps(sum);
}
BF16 static float multiply_add_pairs(uint64_t steps)
{
    const __m512bh half = (__m512bh)_mm512_set1_epi32(0x3f003f00);
#define X(i) __m512 x##i = _mm512_set1_ps((float)(i));
    CHAINS(X)
#undef X
    for (uint64_t step = 0; step < steps; step++) {
#define X(i) x##i = _mm512_dpbf16_ps(x##i, half, half);
        CHAINS(X)
#undef X
    }
    __m512 sum = _mm512_setzero_ps();
#define X(i) sum = _mm512_add_ps(sum, x##i);
    CHAINS(X)
#undef X
    return _mm512_reduce_add_ps(sum);
}
static int has_limits(void)
{
    return __builtin_cpu_supports("avx512bw");
}
static int has_pairs(void)
{
    return __builtin_cpu_supports("avx512bf16");
}
#else
static float read_bytes(const uint8_t *from, size_t bytes, uint32_t streams)
{
    return (float)(from[0] + bytes + streams);
}
static float multiply_add(uint64_t steps)
{
    return (float)steps;
}
static float multiply_add_pairs(uint64_t steps)
{
    return (float)steps;
}
static int has_limits(void)
{
    return 0;
}
static int has_pairs(void)
{
    return 0;
}
#endif

static void read_part(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const size_t bytes = s->table_bytes / s->threads;
    s->sums[part] = read_bytes(s->bytes + part * bytes, bytes, s->streams);
}
static void run_read(void *ctx, uint32_t input)
{
    setting *s = ctx;
    (void)input;
    wte__parallel(s->pool, s->threads, read_part, s);
}
static void add_part(void *ctx, uint64_t part)
{
    setting *s = ctx;
    s->sums[part] = multiply_add(s->steps);
}
static void run_add(void *ctx, uint32_t input)
{
    setting *s = ctx;
    (void)input;
    wte__parallel(s->pool, s->threads, add_part, s);
}
static void add_pairs_part(void *ctx, uint64_t part)
{
    setting *s = ctx;
    s->sums[part] = multiply_add_pairs(s->steps / 2);
}
static void run_add_pairs(void *ctx, uint32_t input)
{
    setting *s = ctx;
    (void)input;
    wte__parallel(s->pool, s->threads, add_pairs_part, s);
}

/* The number of streams that reads fastest. */
static void choose_streams(setting *s)
{
    double best = 0;
    uint32_t chosen = 1;
    for (uint32_t streams = 1; streams <= 8; streams *= 2)
        for (int run = 0; run < 5; run++) {
            s->streams = streams;
            const double start = bench_now();
            run_read(s, 0);
            const double took = bench_now() - start;
            if (best > 0 && took >= best) continue;
            best = took;
            chosen = streams;
        }
    s->streams = chosen;
}

/* The contenders ----------------------------------------------------------------------------- */

static void run_head(const setting *s, wte_precision precision)
{
    const wte_hidden hidden = { .data = s->hidden, .dtype = WTE_F32, .n = s->n, .dim = s->dim };
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_error err;
    opt.precision = precision;
    opt.pool = s->pool;
    const wte_status status = wte_head_logits(&s->table, &hidden, &opt, s->out, 0, &err);
    bench_require(status == WTE_OK, "no logits");
}
static void run_exact(void *ctx, uint32_t input)
{
    (void)input;
    run_head(ctx, WTE_PRECISION_EXACT);
}
static void run_fast(void *ctx, uint32_t input)
{
    (void)input;
    run_head(ctx, WTE_PRECISION_FAST);
}
static void run_blas(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    const int rows = (int)s->rows, dim = (int)s->dim;
    (void)input;
    s->sgemm(101, 111, 112, (int)s->n, rows, dim, 1, s->hidden, dim,
             (const float *)(void *)s->bytes, dim, 0, s->out, rows);
}

/* Symbols of a library as functions; NULL where it is not here. */
static void find_blas(setting *s)
{
    unsetenv("OPENBLAS_CORETYPE"); /* some environments set an older one */
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "bench: libopenblas.so.0 is not here: no comparison with it\n");
        return;
    }
    void *sgemm = dlsym(lib, "cblas_sgemm"), *set = dlsym(lib, "openblas_set_num_threads");
    if (!sgemm || !set) return;
    memcpy(&s->sgemm, &sgemm, sizeof sgemm);
    memcpy(&s->set_blas_threads, &set, sizeof set);
}

/* Tables ------------------------------------------------------------------------------------- */

static void fill_numbers(setting *s)
{
    uint64_t seed = 1;
    const size_t n = (size_t)(s->rows * s->dim), size = wte_dtype_bytes(s->kind->dtype);
    float some[1024];
    for (size_t at = 0; at < n; at += 1024) {
        const size_t now = n - at < 1024 ? n - at : 1024;
        for (size_t i = 0; i < now; i++)
            some[i] = (float)(int32_t)(uint32_t)bench_noise(&seed) * 0x1p-35f;
        bench_require(wte_convert(WTE_F32, some, s->kind->dtype, s->bytes + at * size, now, NULL,
                                  NULL) == WTE_OK,
                      "no numbers");
    }
}

static void fill_blocks(setting *s)
{
    const uint16_t scale = 0x1400; /* 2^-10 */
    const size_t bytes = wte_block_bytes(s->kind->block);
    uint64_t seed = 1;
    for (size_t at = 0; at + 8 <= s->table_bytes; at += 8) {
        const uint64_t noise = bench_noise(&seed);
        memcpy(s->bytes + at, &noise, 8);
    }
    for (size_t at = 0; at < s->table_bytes; at += bytes)
        for (size_t i = 0; i < s->kind->scales; i++)
            memcpy(s->bytes + at + s->kind->scale_at[i], &scale, sizeof scale);
}

static void make_table(setting *s)
{
    wte_error err;
    const kind *k = s->kind;
    const uint64_t row_bytes =
        k->block ? wte_packed_bytes(k->block, s->dim) : s->dim * wte_dtype_bytes(k->dtype);
    bench_require(row_bytes > 0, "a dim that is no multiple of the block");
    s->table_bytes = (size_t)(row_bytes * s->rows);
    s->bytes = bench_buffer(s->table_bytes);
    if (k->block) {
        fill_blocks(s);
        bench_require(wte_row_source_from_blocks(k->block, s->rows, s->dim, s->bytes, 0, &s->source,
                                                 &s->table, &err) == WTE_OK,
                      "no rows");
        return;
    }
    fill_numbers(s);
    s->table = (wte_row_source){
        .rows = s->rows, .cols = s->dim, .dtype = k->dtype, .data = s->bytes, .row_bytes = row_bytes
    };
}

/* Runs and results --------------------------------------------------------------------------- */

static void report(const setting *s, const bench_contender *c, uint32_t own, uint32_t peer,
                   const bench_times *times)
{
    const bench_stats t = bench_describe(times->seconds[own], times->rounds);
    const bench_stats ratio = bench_ratio(times, peer, own);
    printf(
        "{\"bench\": \"head\", \"case\": \"%s %llu x %llu, n %llu, %s, %u threads\", \"ns\": %.0f, "
        "\"ns_quarters\": [%.0f, %.0f], \"gb_s\": %.2f, \"gflop_s\": %.1f, ",
        s->kind->name, (unsigned long long)s->rows, (unsigned long long)s->dim,
        (unsigned long long)s->n, c[own].name, s->threads, t.median * 1e9, t.first_quarter * 1e9,
        t.third_quarter * 1e9, (double)s->table_bytes / t.median * 1e-9,
        2e-9 * (double)s->n * (double)s->rows * (double)s->dim / t.median);
    printf("\"peer\": \"%s\", \"ratio\": %.3f, \"ratio_quarters\": [%.3f, %.3f], "
           "\"ratio_range\": [%.3f, %.3f], \"pairs\": %u",
           c[peer].name, ratio.median, ratio.first_quarter, ratio.third_quarter, ratio.low,
           ratio.high, times->rounds);
    bench_print_place(wte__kernels_get()->isa);
}

static void bench_case(setting *s)
{
    static bench_times times;
    bench_contender c[BENCH_MAX_CONTENDERS] = { { "exact", run_exact }, { "fast", run_fast } };
    uint32_t n = 2, limit = 0, pairs = 0, blas = 0;
    wte_error err;
    bench_require(wte_pool_create(s->threads, &s->pool, &err) == WTE_OK, "no threads");
    if (has_limits() && s->n < MANY) {
        choose_streams(s);
        c[limit = pairs = n++] = (bench_contender){ "reading", run_read };
    } else if (has_limits()) {
        s->steps = s->n * s->rows * s->dim / 24 / 16 / s->threads;
        c[limit = pairs = n++] = (bench_contender){ "multiply-adds", run_add };
        if (has_pairs())
            c[pairs = n++] = (bench_contender){ "multiply-adds of bf16", run_add_pairs };
    }
    if (s->sgemm && !s->kind->block && s->kind->dtype == WTE_F32) {
        s->set_blas_threads((int)s->threads);
        c[blas = n++] = (bench_contender){ "OpenBLAS", run_blas };
    }
    bench_run(c, n, s, &times);
    if (limit) report(s, c, 0, limit, &times);
    if (pairs) report(s, c, 1, pairs, &times);
    if (blas) report(s, c, 0, blas, &times);
    report(s, c, 1, 0, &times);
    wte_pool_free(s->pool);
}

static void bench_kind(setting *s, uint64_t only_n, uint32_t only_threads)
{
    static const uint64_t numbers[] = { 1, 8, 512 };
    make_table(s);
    for (size_t i = 0; i < (only_n ? 1 : sizeof numbers / sizeof *numbers); i++) {
        s->n = only_n ? only_n : numbers[i];
        s->hidden = bench_buffer((size_t)(s->n * s->dim) * sizeof *s->hidden);
        s->out = bench_buffer((size_t)(s->n * s->rows) * sizeof *s->out);
        for (size_t k = 0; k < s->n * s->dim; k++) s->hidden[k] = (float)(k % 101) * 0.02f - 1;
        for (s->threads = 1; s->threads <= MOST_THREADS; s->threads++)
            if (!only_threads || only_threads == s->threads) bench_case(s);
        free(s->hidden);
        free(s->out);
    }
    free(s->bytes);
}

int main(int argc, char **argv)
{
    setting s = { .rows = 50257, .dim = 768 };
    unsigned long long rows = 50257, dim = 768;
    if (argc > 1)
        bench_require(sscanf(argv[1], "%llux%llu", &rows, &dim) == 2 && rows > 0 && dim > 0,
                      "usage: bench_head [ROWSxDIM [TYPE [N [THREADS]]]]");
    s.rows = rows;
    s.dim = dim;
    find_blas(&s);
    for (size_t i = 0; i < N_KINDS; i++) {
        if (argc > 2 && strcmp(argv[2], kinds[i].name) != 0) continue;
        s.kind = &kinds[i];
        bench_kind(&s, argc > 3 ? strtoull(argv[3], NULL, 10) : 0,
                   argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0);
    }
    return 0;
}
