/* What this machine can do at most: reading, copying, gathering, multiplying, each in several ways
 * of which the fastest counts. These loops know nothing of tables; they are what the library's
 * operations are measured against. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

double bench_clock(uint32_t threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Loops -----------------------------------------------------------------------------------------
 */

/* One thread's part of a gather. */
typedef struct bench_part {
    const char *table;
    char *out;
    size_t row, width; /* at least 64; width a multiple of 64 */
    const int64_t *ids;
    size_t n;
} bench_part;

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

#define LOOP(name) name##_plain
#define TARGET
#define VECTOR       16
#define PAST(to, v)  *(words_plain *)(void *)(to) = (v)
#define FMA(a, b, c) ((a) * (b) + (c))
#include "bench_loops.h"

#if defined(__x86_64__)
#define LOOP(name)   name##_avx2
#define TARGET       __attribute__((target("avx2,fma")))
#define VECTOR       32
#define PAST(to, v)  _mm256_stream_si256((void *)(to), (__m256i)(v))
#define FMA(a, b, c) (floats_avx2) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#include "bench_loops.h"

#define LOOP(name)   name##_avx512
#define TARGET       __attribute__((target("avx512f")))
#define VECTOR       64
#define PAST(to, v)  _mm512_stream_si512((void *)(to), (__m512i)(v))
#define FMA(a, b, c) (floats_avx512) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#include "bench_loops.h"

/* 64 operations each, of 16 sums that do not wait for each other. */
__attribute__((target("avx512f,avx512bf16"))) static double dots_bf16(size_t steps, float start)
{
    const __m512i bits = _mm512_set1_epi16((short)(0x3f00 + (start > 0)));
    const __m512bh a = (__m512bh)bits, b = (__m512bh)bits;
    __m512 s[16], all = _mm512_setzero_ps();
    for (int i = 0; i < 16; i++) s[i] = _mm512_set1_ps(start * (float)i);
    for (size_t step = 0; step < steps; step++) {
        s[0] = _mm512_dpbf16_ps(s[0], a, b);
        s[1] = _mm512_dpbf16_ps(s[1], a, b);
        s[2] = _mm512_dpbf16_ps(s[2], a, b);
        s[3] = _mm512_dpbf16_ps(s[3], a, b);
        s[4] = _mm512_dpbf16_ps(s[4], a, b);
        s[5] = _mm512_dpbf16_ps(s[5], a, b);
        s[6] = _mm512_dpbf16_ps(s[6], a, b);
        s[7] = _mm512_dpbf16_ps(s[7], a, b);
        s[8] = _mm512_dpbf16_ps(s[8], a, b);
        s[9] = _mm512_dpbf16_ps(s[9], a, b);
        s[10] = _mm512_dpbf16_ps(s[10], a, b);
        s[11] = _mm512_dpbf16_ps(s[11], a, b);
        s[12] = _mm512_dpbf16_ps(s[12], a, b);
        s[13] = _mm512_dpbf16_ps(s[13], a, b);
        s[14] = _mm512_dpbf16_ps(s[14], a, b);
        s[15] = _mm512_dpbf16_ps(s[15], a, b);
    }
    for (int i = 0; i < 16; i++) all += s[i];
    return (double)all[0];
}

/* 128 operations each, of 8 sums. */
__attribute__((target("avx512f,avx512vnni"))) static double dots_int8(size_t steps, float start)
{
    const __m512i a = _mm512_set1_epi8((char)(start > 0)), one = _mm512_set1_epi32(1);
    __m512i s0 = _mm512_setzero_si512(), s1 = s0 + one, s2 = s1 + one, s3 = s2 + one;
    __m512i s4 = s3 + one, s5 = s4 + one, s6 = s5 + one, s7 = s6 + one;
    for (size_t step = 0; step < steps; step++) {
        s0 = _mm512_dpbusd_epi32(s0, a, a);
        s1 = _mm512_dpbusd_epi32(s1, a, a);
        s2 = _mm512_dpbusd_epi32(s2, a, a);
        s3 = _mm512_dpbusd_epi32(s3, a, a);
        s4 = _mm512_dpbusd_epi32(s4, a, a);
        s5 = _mm512_dpbusd_epi32(s5, a, a);
        s6 = _mm512_dpbusd_epi32(s6, a, a);
        s7 = _mm512_dpbusd_epi32(s7, a, a);
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    return (double)s0[0];
}
#else
static double dots_bf16(size_t steps, float start)
{
    return (double)steps * (double)start;
}

static double dots_int8(size_t steps, float start)
{
    return (double)steps * (double)start;
}
#endif

typedef enum set { PLAIN, AVX2, AVX512 } set;

static set set_here(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return AVX2;
#endif
    return PLAIN;
}

static bool has_bf16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

static bool has_int8(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

#if defined(__x86_64__)
#define CHOOSE(name, ...)                                                                          \
    (set_here() == AVX512 ? name##_avx512(__VA_ARGS__)                                             \
     : set_here() == AVX2 ? name##_avx2(__VA_ARGS__)                                               \
                          : name##_plain(__VA_ARGS__))
#else
#define CHOOSE(name, ...) name##_plain(__VA_ARGS__)
#endif

/* Threads ---------------------------------------------------------------------------------------
 */

/* Workers sleep between the loops, since the library's own threads run there. Within one they all
 * wait until the last is awake: the limit is what the loop takes, not the waking. */
struct bench_team {
    uint32_t n; /* the caller among them */
    uint32_t started;
    pthread_t *threads;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    uint64_t round; /* under the mutex */
    bool stop;
    void (*part)(void *ctx, uint32_t part, uint32_t parts);
    void *ctx;
    _Atomic uint32_t ready, done;
    _Atomic uint64_t go; /* the round that may run */
};

typedef struct worker {
    bench_team *team;
    uint32_t part;
} worker;

static void *work(void *arg)
{
    const worker w = *(worker *)arg;
    bench_team *t = w.team;
    free(arg);
    for (uint64_t seen = 0;;) {
        pthread_mutex_lock(&t->mutex);
        while (t->round == seen && !t->stop) pthread_cond_wait(&t->wake, &t->mutex);
        seen = t->round;
        const bool stop = t->stop;
        pthread_mutex_unlock(&t->mutex);
        if (stop) return NULL;
        atomic_fetch_add(&t->ready, 1);
        while (atomic_load(&t->go) != seen) sched_yield();
        t->part(t->ctx, w.part, t->n);
        atomic_fetch_add(&t->done, 1);
    }
}

void bench_team_free(bench_team *t)
{
    if (!t) return;
    pthread_mutex_lock(&t->mutex);
    t->stop = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->mutex);
    for (uint32_t i = 0; i < t->started; i++) pthread_join(t->threads[i], NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->mutex);
    free(t->threads);
    free(t);
}

bench_team *bench_team_make(uint32_t threads)
{
    bench_team *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->n = threads;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->wake, NULL);
    t->threads = calloc(threads, sizeof *t->threads);
    while (t->threads && t->started + 1 < threads) {
        worker *w = malloc(sizeof *w);
        if (!w) break;
        *w = (worker){ t, t->started + 1 };
        if (pthread_create(&t->threads[t->started], NULL, work, w) != 0) {
            free(w);
            break;
        }
        t->started++;
    }
    if (t->threads && t->started + 1 == threads) return t;
    bench_team_free(t);
    return NULL;
}

static double run_parts(bench_team *t, void (*part)(void *ctx, uint32_t part, uint32_t parts),
                        void *ctx)
{
    t->part = part;
    t->ctx = ctx;
    atomic_store(&t->ready, 0);
    atomic_store(&t->done, 0);
    pthread_mutex_lock(&t->mutex);
    const uint64_t round = ++t->round;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->mutex);
    while (atomic_load(&t->ready) + 1 < t->n) sched_yield();
    const double start = bench_clock(t->n);
    atomic_store(&t->go, round);
    part(ctx, 0, t->n);
    while (atomic_load(&t->done) + 1 < t->n) sched_yield();
    return bench_clock(t->n) - start;
}

/* Limits ----------------------------------------------------------------------------------------
 */

#define FMA_STEPS 100000u /* some 0.2 ms and more */

typedef struct gather_way {
    size_t ahead;
    bool past;
    const char *name;
} gather_way;

static const gather_way gathers[] = {
    { 0, false, "rows in turn" },
    { 0, true, "stores past the caches" },
    { 2048, false, "fetched 2 KiB ahead" },
    { 2048, true, "fetched 2 KiB ahead, stores past the caches" },
    { 6144, false, "fetched 6 KiB ahead" },
    { 6144, true, "fetched 6 KiB ahead, stores past the caches" },
    { 12288, false, "fetched 12 KiB ahead" },
    { 12288, true, "fetched 12 KiB ahead, stores past the caches" },
};
static const size_t sum_ahead[] = { 8, 16, 32, 64 };
static const char *const sum_names[] = { "fetched 8 rows ahead", "fetched 16 rows ahead",
                                         "fetched 32 rows ahead", "fetched 64 rows ahead" };
static const uint32_t streams[] = { 1, 2, 4, 8 };
static const char *const stream_names[] = { "1 stream", "2 streams", "4 streams", "8 streams" };
static const char *const copies[] = { "memcpy", "vector loop", "stores past the caches" };
static const char *const names[] = { "read",    "copy",     "gather",  "gather read",
                                     "f32 fma", "bf16 dot", "int8 dot" };
#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof *(list)))

uint32_t bench_limit_ways(bench_kind kind)
{
    switch (kind) {
    case BENCH_READ: return COUNT(streams);
    case BENCH_COPY: return COUNT(copies);
    case BENCH_GATHER: return COUNT(gathers);
    case BENCH_SUM: return COUNT(sum_ahead);
    case BENCH_BF16: return has_bf16();
    case BENCH_INT8: return has_int8();
    default: return 1;
    }
}

const char *bench_limit_name(bench_kind kind)
{
    return names[kind];
}

const char *bench_limit_way(bench_kind kind, uint32_t way)
{
    switch (kind) {
    case BENCH_READ: return stream_names[way];
    case BENCH_COPY: return copies[way];
    case BENCH_GATHER: return gathers[way].name;
    case BENCH_SUM: return sum_names[way];
    default: return "";
    }
}

typedef struct limit_run {
    const bench_limit *l;
    uint32_t way;
    size_t steps;
    _Atomic uint64_t sink; /* what was read is used, as far as the compiler knows */
} limit_run;

static void run_bytes(limit_run *r, uint32_t part, uint32_t parts)
{
    const bench_limit *l = r->l;
    const size_t each = l->bytes / parts / 4096 * 4096, at = each * part;
    if (l->kind == BENCH_READ)
        atomic_fetch_xor(&r->sink, CHOOSE(read, l->table + at, each, streams[r->way]));
    else if (r->way == 0)
        memcpy(l->out + at, l->table + at, each);
    else if (r->way == 1)
        CHOOSE(copy, l->out + at, l->table + at, each);
    else
        CHOOSE(copy_nontemporal, l->out + at, l->table + at, each);
}

static void run_rows(limit_run *r, uint32_t part, uint32_t parts)
{
    const bench_limit *l = r->l;
    const size_t first = l->n * part / parts, end = l->n * (part + 1) / parts;
    const bench_part p = { .table = l->table,
                           .out = l->out + first * l->width,
                           .row = l->row,
                           .width = l->width,
                           .ids = l->ids + first,
                           .n = end - first };
    if (l->kind == BENCH_SUM)
        atomic_fetch_xor(&r->sink, CHOOSE(sum, &p, sum_ahead[r->way]));
    else if (gathers[r->way].past)
        CHOOSE(gather_past, &p, gathers[r->way].ahead);
    else
        CHOOSE(gather, &p, gathers[r->way].ahead);
}

static void run_sums(limit_run *r, uint32_t part)
{
    const float start = (float)(part + 1) * 0x1p-10f;
    double sum = 0;
    switch (r->l->kind) {
    case BENCH_BF16: sum = dots_bf16(r->steps, start); break;
    case BENCH_INT8: sum = dots_int8(r->steps, start); break;
    default: sum = CHOOSE(fma, r->steps, start); break;
    }
    atomic_fetch_xor(&r->sink, (uint64_t)(int64_t)sum);
}

static void run_limit(void *ctx, uint32_t part, uint32_t parts)
{
    limit_run *r = ctx;
    switch (r->l->kind) {
    case BENCH_READ:
    case BENCH_COPY: run_bytes(r, part, parts); break;
    case BENCH_GATHER:
    case BENCH_SUM: run_rows(r, part, parts); break;
    default: run_sums(r, part); break;
    }
}

/* Operations of one step of the loop that stands for this limit. */
static double ops_of_step(bench_kind kind)
{
    static const double lanes[] = { [PLAIN] = 4, [AVX2] = 8, [AVX512] = 16 };
    if (kind == BENCH_BF16) return 16 * 64;
    if (kind == BENCH_INT8) return 8 * 128;
    return 12 * 2 * lanes[set_here()];
}

double bench_limit_run(bench_team *team, const bench_limit *l, uint32_t way)
{
    limit_run r = { .l = l, .way = way, .steps = FMA_STEPS };
    const double seconds = run_parts(team, run_limit, &r);
    if (l->kind < BENCH_FMA) return seconds;
    const double done = (double)r.steps * ops_of_step(l->kind) * team->n;
    return seconds * l->ops / done;
}
