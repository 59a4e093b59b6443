/* wte_nearest over a table in the page cache, against plain reads of the same file.
 *
 * usage: bench_near [ROWSxDIM]         default 128256x4096 bf16: a file of 1.05 GB, made in TMPDIR
 *                                      (else /tmp) and removed
 *
 * To read the file once is the least that a pass over it can cost. Plain reads know no rows: pread
 * in blocks of one size into one buffer that is used again, on as many threads. Several sizes run
 * in turn with the search and the best is chosen by its median afterwards. */
#include "bench.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wte/format.h>
#include <wte/near.h>

#include "base/thread.h"
#include "num/kernels.h"

#define LARGEST  ((size_t)8 << 20)
#define MOST     2u /* threads */
#define TOP_ROWS 10u

typedef struct setting {
    wte_row_source rows;
    float *query;
    int fd;
    uint64_t file_bytes;
    size_t block; /* of the plain reads that run */
    char *buffer[MOST];
    wte_pool *pool;
    uint32_t threads;
    wte_metric metric;
} setting;

static void read_share(void *ctx, uint64_t i)
{
    const setting *s = ctx;
    for (uint64_t at = i * s->block; at < s->file_bytes; at += s->threads * s->block)
        bench_require(pread(s->fd, s->buffer[i], s->block, (off_t)at) > 0, "cannot read");
}

static void read_plainly(setting *s, size_t block)
{
    s->block = block;
    wte__parallel(s->pool, s->threads, read_share, s);
}
static void run_128k(void *ctx, uint32_t input)
{
    (void)input;
    read_plainly(ctx, (size_t)128 << 10);
}
static void run_256k(void *ctx, uint32_t input)
{
    (void)input;
    read_plainly(ctx, (size_t)256 << 10);
}
static void run_1m(void *ctx, uint32_t input)
{
    (void)input;
    read_plainly(ctx, (size_t)1 << 20);
}
static void run_8m(void *ctx, uint32_t input)
{
    (void)input;
    read_plainly(ctx, LARGEST);
}

static void run_near(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    wte_near_options opt = WTE_NEAR_OPTIONS_INIT;
    wte_near_hit hits[TOP_ROWS];
    wte_error err;
    (void)input;
    opt.metric = s->metric;
    opt.top = TOP_ROWS;
    opt.pool = s->pool;
    bench_require(wte_nearest(&s->rows, s->query, 1, s->rows.cols, &opt, hits, &err) == WTE_OK,
                  "the search failed");
    bench_require(hits[0].row != WTE_NO_INDEX, "nothing is near");
}

static const bench_contender contenders[] = {
    { "near", run_near },      { "pread 128 KiB", run_128k }, { "pread 256 KiB", run_256k },
    { "pread 1 MiB", run_1m }, { "pread 8 MiB", run_8m },
};
#define CONTENDERS (sizeof contenders / sizeof *contenders)

static void report(const char *title, const setting *s, const bench_times *times)
{
    uint32_t best = 1;
    double median[BENCH_MAX_CONTENDERS];
    for (uint32_t c = 0; c < CONTENDERS; c++) {
        median[c] = bench_describe(times->seconds[c], times->rounds).median;
        if (c > best && median[c] < median[best]) best = c;
    }
    const bench_stats own = bench_describe(times->seconds[0], times->rounds);
    const bench_stats ratio = bench_ratio(times, best, 0);
    printf("{\"bench\": \"near\", \"case\": \"%s\", \"ns\": %.0f, \"ns_quarters\": [%.0f, %.0f], "
           "\"gb_s\": %.2f, ",
           title, own.median * 1e9, own.first_quarter * 1e9, own.third_quarter * 1e9,
           (double)s->file_bytes / own.median * 1e-9);
    printf("\"peer\": \"%s\", \"ratio\": %.3f, \"ratio_range\": [%.3f, %.3f], \"pairs\": %u, "
           "\"loops_ns\": {",
           contenders[best].name, ratio.median, ratio.low, ratio.high, times->rounds);
    for (uint32_t c = 1; c < CONTENDERS; c++)
        printf("%s\"%s\": %.0f", c > 1 ? ", " : "", contenders[c].name, median[c] * 1e9);
    printf("}");
    bench_print_place(wte__kernels_get()->isa);
}

/* Rows of noise in bf16, between -2 and 2; for the writer. */
static wte_status noise_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const uint64_t cols = *(const uint64_t *)ctx;
    uint16_t *to = out;
    (void)err;
    for (size_t r = 0; r < n; r++) {
        uint64_t noise = ids[r] + 1;
        for (uint64_t c = 0; c < cols; c++)
            *to++ = (uint16_t)((bench_noise(&noise) >> 40 & 0x80ff) | 0x3f00);
    }
    return WTE_OK;
}

static void make_file(const char *path, const uint64_t shape[2])
{
    uint64_t cols = shape[1];
    const wte_row_source rows = {
        .rows = shape[0], .cols = cols, .dtype = WTE_BF16, .read_rows = noise_rows, .ctx = &cols
    };
    const wte_tensor_out tensor = {
        .name = "embedding.weight", .dtype = WTE_BF16, .rank = 2, .shape = shape, .rows = &rows
    };
    wte_error err;
    bench_require(wte_safetensors_write(path, &tensor, 1, NULL, 0, &err) == WTE_OK,
                  "cannot write the table");
}

static void bench_all(setting *s)
{
    static bench_times times;
    wte_error err;
    for (s->threads = 1; s->threads <= MOST; s->threads++) {
        bench_require(wte_pool_create(s->threads, &s->pool, &err) == WTE_OK, "no threads");
        for (int m = WTE_METRIC_COSINE; m <= WTE_METRIC_EUCLID; m += 2) {
            char title[96];
            s->metric = (wte_metric)m;
            snprintf(title, sizeof title, "bf16 %llu x %llu, %s, 1 query, %u threads",
                     (unsigned long long)s->rows.rows, (unsigned long long)s->rows.cols,
                     wte_metric_name(s->metric), s->threads);
            bench_run(contenders, CONTENDERS, s, &times);
            report(title, s, &times);
        }
        wte_pool_free(s->pool);
    }
}

int main(int argc, char **argv)
{
    unsigned long long rows = 128256, cols = 4096;
    char path[4096];
    const char *folder = getenv("TMPDIR");
    struct stat st;
    wte_error err;
    wte_file *file;
    setting s = { .fd = -1 };
    if (argc > 1)
        bench_require(sscanf(argv[1], "%llux%llu", &rows, &cols) == 2 && rows > 0 && cols > 0,
                      "usage: bench_near [ROWSxDIM]");
    snprintf(path, sizeof path, "%s/wte-bench-near.%ld.safetensors", folder ? folder : "/tmp",
             (long)getpid());
    make_file(path, (const uint64_t[]){ rows, cols });
    s.fd = open(path, O_RDONLY);
    const int opened = wte_file_open(path, NULL, &file, &err) == WTE_OK;
    (void)unlink(path); /* it is gone when the program ends, however that happens */
    bench_require(s.fd >= 0 && fstat(s.fd, &st) == 0 && opened, "cannot open the table");
    s.file_bytes = (uint64_t)st.st_size;
    bench_require(wte_file_row_source(file, 0, &s.rows, &err) == WTE_OK, "no rows");
    s.query = malloc(cols * sizeof *s.query);
    bench_require(s.query != NULL, "out of memory");
    for (size_t i = 0; i < cols; i++) s.query[i] = (float)(i % 17) - 8;
    for (uint32_t i = 0; i < MOST; i++) s.buffer[i] = bench_buffer(LARGEST);
    bench_all(&s);
    wte_file_free(file);
    free(s.query);
    for (uint32_t i = 0; i < MOST; i++) free(s.buffer[i]);
    return close(s.fd);
}
