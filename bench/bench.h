/* A small harness for comparisons that hold on a noisy machine.
 *
 * Contenders run in turn, in an order that changes from round to round, each run on the next of
 * several inputs, so that none profits from what the one before left in the caches. What counts is
 * the ratio of two contenders within a round: the median of at least 21 such ratios, with the least
 * and the largest printed. Results are JSON lines on stdout; bench/compare.py reads them. */
#ifndef WTE_BENCH_BENCH_H
#define WTE_BENCH_BENCH_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define BENCH_MIN_ROUNDS     21u
#define BENCH_MAX_ROUNDS     1001u
#define BENCH_MAX_CONTENDERS 8u
#define BENCH_HUGE_PAGE      ((size_t)2 << 20)

typedef struct bench_contender {
    const char *name;
    void (*run)(void *ctx, uint32_t input); /* input counts runs of all contenders */
} bench_contender;

typedef struct bench_times {
    uint32_t rounds;
    double seconds[BENCH_MAX_CONTENDERS][BENCH_MAX_ROUNDS];
} bench_times;

typedef struct bench_stats {
    double low, first_quarter, median, third_quarter, high;
} bench_stats;

static inline void bench_require(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Zeroed and touched, on huge pages where there are any; lives as long as the program. */
static inline void *bench_buffer(size_t bytes)
{
    const size_t n = (bytes + BENCH_HUGE_PAGE - 1) / BENCH_HUGE_PAGE * BENCH_HUGE_PAGE;
    void *block = aligned_alloc(BENCH_HUGE_PAGE, n);
    bench_require(block != NULL, "out of memory");
#ifdef MADV_HUGEPAGE
    (void)madvise(block, n, MADV_HUGEPAGE);
#endif
    memset(block, 0, n);
    return block;
}

static inline uint64_t bench_noise(uint64_t *state)
{
    uint64_t x = *state ? *state : 88172645463325252u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}

/* Rounds to run: WTE_BENCH_ROUNDS, else 31. */
static inline uint32_t bench_rounds(void)
{
    const char *text = getenv("WTE_BENCH_ROUNDS");
    const uint64_t n = text ? strtoull(text, NULL, 10) : 31;
    if (n < BENCH_MIN_ROUNDS) return BENCH_MIN_ROUNDS;
    return n < BENCH_MAX_ROUNDS ? (uint32_t)n : BENCH_MAX_ROUNDS;
}

/* A new order of n contenders, the same ones in every process. */
static inline void bench_shuffle(uint32_t *order, uint32_t n, uint64_t *seed)
{
    for (uint32_t i = n; i > 1; i--) {
        *seed = *seed * UINT64_C(6364136223846793005) + 1;
        const uint32_t j = (uint32_t)((*seed >> 33) % i), other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}

/* Two rounds to warm up, then the timed ones: in an order of its own each, and each contender timed
 * after an untimed run of its own, so that all find what their own kind leaves in the caches. */
static inline void bench_run(const bench_contender *contender, uint32_t n, void *ctx,
                             bench_times *times)
{
    uint32_t input = 0;
    times->rounds = bench_rounds();
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t c = 0; c < n; c++) contender[c].run(ctx, input++);
    uint64_t seed = 1;
    uint32_t order[BENCH_MAX_CONTENDERS];
    for (uint32_t c = 0; c < n; c++) order[c] = c;
    for (uint32_t round = 0; round < times->rounds; round++) {
        bench_shuffle(order, n, &seed);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t c = order[i];
            contender[c].run(ctx, input++);
            const double start = bench_now();
            contender[c].run(ctx, input++);
            times->seconds[c][round] = bench_now() - start;
        }
    }
}

static inline int bench_order(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static inline bench_stats bench_describe(const double *values, uint32_t n)
{
    static double sorted[BENCH_MAX_ROUNDS];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, bench_order);
    return (bench_stats){ sorted[0], sorted[n / 4], sorted[n / 2], sorted[n - 1 - n / 4],
                          sorted[n - 1] };
}

/* Of seconds[over] / seconds[under], round by round: above 1 when `under` is the faster one. */
static inline bench_stats bench_ratio(const bench_times *times, uint32_t over, uint32_t under)
{
    static double ratio[BENCH_MAX_ROUNDS];
    for (uint32_t i = 0; i < times->rounds; i++)
        ratio[i] = times->seconds[over][i] / times->seconds[under][i];
    return bench_describe(ratio, times->rounds);
}

/* "model name" of /proc/cpuinfo, or "unknown". */
static inline const char *bench_cpu(void)
{
    static char name[128] = "unknown";
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(colon + 2, "\"\\\n"), colon + 2);
        break;
    }
    if (f) fclose(f);
    return name;
}

/* What was measured where, as the tail of a JSON line. WTE_COMMIT is set by bench/run.sh. */
static inline void bench_print_place(const char *isa)
{
    const char *commit = getenv("WTE_COMMIT");
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
    const char *compiler = "gcc " __VERSION__;
#else
    const char *compiler = "unknown";
#endif
    printf(", \"isa\": \"%s\", \"cpu\": \"%s\", \"compiler\": \"%s\", \"commit\": \"%s\"}\n", isa,
           bench_cpu(), compiler, commit ? commit : "unknown");
    fflush(stdout);
}
#endif
