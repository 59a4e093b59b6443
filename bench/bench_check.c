/* The first stage of a check against plain reading of the same file.
 *
 * usage: bench_check [FOLDER]          a file of 1 GiB is made there (default: the current one) and
 *                                      removed afterwards
 *
 * A table of 128256 x 4096 bf16 lies in the page cache. Plain reading is pread in blocks of 1 MiB,
 * or 4 MiB, into huge pages that stay, by as many threads, 1 and 2; the check finds nothing, and is
 * asked for what its first pass alone can tell. */
#include "bench.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>
#include <wte/check.h>

#include "base/thread.h"
#include "num/kernels.h"

#define ROWS        UINT64_C(128256)
#define DIM         UINT64_C(4096)
#define MOST        2u /* threads */
#define LARGE_BLOCK ((size_t)4 << 20)

typedef struct setting {
    wte_model *model;
    wte_pool *pool;
    uint32_t threads;
    int fd;
    uint64_t bytes;
    size_t block;
    char *buffer[MOST];
} setting;

static void read_share(void *ctx, uint64_t thread)
{
    const setting *s = ctx;
    for (uint64_t at = thread * s->block; at < s->bytes; at += s->threads * s->block) {
        const size_t n = s->bytes - at < s->block ? (size_t)(s->bytes - at) : s->block;
        bench_require(pread(s->fd, s->buffer[thread], n, (off_t)at) == (ssize_t)n, "pread failed");
    }
}

static void run_pread(void *ctx, size_t block)
{
    setting *s = ctx;
    s->block = block;
    wte__parallel(s->pool, s->threads, read_share, s);
}
static void run_pread_1(void *ctx, uint32_t input)
{
    (void)input;
    run_pread(ctx, (size_t)1 << 20);
}
static void run_pread_4(void *ctx, uint32_t input)
{
    (void)input;
    run_pread(ctx, LARGE_BLOCK);
}

static void check(const setting *s, const char *const *only, size_t n_only)
{
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    wte_check *report;
    wte_error err;
    opt.pool = s->pool;
    opt.only = only;
    opt.n_only = n_only;
    bench_require(wte_model_check(s->model, &opt, &report, &err) == WTE_OK, "the check failed");
    const wte_check_facts *f = wte_check_facts_of(report);
    bench_require(f->scanned && f->n_zero + f->n_nonfinite + f->n_duplicates == 0,
                  "it found a fault");
    wte_check_free(report);
}
static void run_first_stage(void *ctx, uint32_t input)
{
    static const char *const only[] = { "rows-nonfinite", "rows-zero", "rows-duplicate" };
    (void)input;
    check(ctx, only, 3);
}
static void run_whole_check(void *ctx, uint32_t input)
{
    (void)input;
    check(ctx, NULL, 0);
}

static const bench_contender contenders[] = {
    { "wte_model_check, first stage", run_first_stage },
    { "pread, 1 MiB blocks", run_pread_1 },
    { "pread, 4 MiB blocks", run_pread_4 },
    { "wte_model_check, whole", run_whole_check },
};
#define N_CONTENDERS (sizeof contenders / sizeof *contenders)

/* Rows of noise whose norms differ; every row another one. */
static wte_status make_row(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    uint16_t *to = out;
    (void)ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        uint64_t seed = ids[i] + 1;
        const uint16_t exponent = (uint16_t)(0x3c00u + ((bench_noise(&seed) & 1) << 7));
        for (size_t c = 0; c < DIM; c++)
            to[i * DIM + c] = (uint16_t)(exponent ^ (bench_noise(&seed) >> 48 & 0x80ff));
    }
    return WTE_OK;
}

static void make_file(const char *path)
{
    const uint64_t shape[2] = { ROWS, DIM };
    const wte_row_source rows = {
        .rows = ROWS, .cols = DIM, .dtype = WTE_BF16, .read_rows = make_row
    };
    const wte_tensor_out tensor = { "wte.weight", WTE_BF16, 2, shape, NULL, &rows };
    wte_error err;
    bench_require(wte_safetensors_write(path, &tensor, 1, NULL, 0, &err) == WTE_OK,
                  "the file cannot be made");
}

/* Against each way of reading: the part of its speed that the first stage reaches. */
static void report(const setting *s, const bench_times *times)
{
    const bench_stats own = bench_describe(times->seconds[0], times->rounds);
    const bench_stats whole = bench_describe(times->seconds[3], times->rounds);
    for (uint32_t peer = 1; peer <= 2; peer++) {
        const bench_stats ratio = bench_ratio(times, peer, 0);
        printf("{\"bench\": \"check\", \"case\": \"%" PRIu64 "x%" PRIu64 " bf16, %u threads\", "
               "\"ns\": %.0f, \"ns_quarters\": [%.0f, %.0f], \"gb_s\": %.2f, \"peer\": \"%s\", "
               "\"ratio\": %.3f, \"ratio_range\": [%.3f, %.3f], \"pairs\": %u, "
               "\"whole_check_ns\": %.0f",
               ROWS, DIM, s->threads, own.median * 1e9, own.first_quarter * 1e9,
               own.third_quarter * 1e9, (double)s->bytes / own.median * 1e-9, contenders[peer].name,
               ratio.median, ratio.low, ratio.high, times->rounds, whole.median * 1e9);
        bench_print_place(wte__kernels_get()->isa);
    }
}

int main(int argc, char **argv)
{
    static bench_times times;
    char path[4096];
    setting s = { .threads = 0 };
    wte_error err;
    snprintf(path, sizeof path, "%s/bench_check.safetensors", argc > 1 ? argv[1] : ".");
    make_file(path);
    for (uint32_t i = 0; i < MOST; i++) s.buffer[i] = bench_buffer(LARGE_BLOCK);
    bench_require(wte_model_open(path, NULL, &s.model, &err) == WTE_OK, "the file does not open");
    s.fd = open(path, O_RDONLY);
    bench_require(s.fd >= 0, "the file does not open");
    unlink(path);
    s.bytes = wte_file_shard_bytes(wte_model_file(s.model), 0);
    for (s.threads = 1; s.threads <= MOST; s.threads++) {
        bench_require(wte_pool_create(s.threads, &s.pool, &err) == WTE_OK, "no threads");
        bench_run(contenders, N_CONTENDERS, &s, &times);
        report(&s, &times);
        wte_pool_free(s.pool);
    }
    close(s.fd);
    wte_model_free(s.model);
    return 0;
}
