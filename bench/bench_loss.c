/* What is made of logits without holding them, against the product that makes the logits: top 50,
 * draws, cross-entropy and its gradients. The ratios are to the product alone, in the same run.
 *
 * usage: bench_loss [PART...]     PART: top1, top512, loss512, large; default: all of them
 *
 * Tables of f32 with 50257 x 768, and with 262144 x 768 as `large`, which also prints the most work
 * memory that was taken. WTE_BENCH_THREADS sets the threads (1). */
#include "bench.h"

#include <wte/head.h>

#include "num/kernels.h"

#define COLS  768u
#define ROWS  50257u
#define LARGE 262144u
#define TOP   50u

typedef struct setting {
    wte_row_source table;
    wte_hidden hidden;
    wte_head_options opt;
    float *logits;
    wte_ranked *ranked;
    wte_softmax_stats *sums;
    uint64_t *drawn;
    int32_t *targets;
    float *d_hidden, *d_table;
    size_t live, most; /* bytes of work memory */
} setting;

static void *take(void *ctx, size_t bytes, size_t align)
{
    setting *s = ctx;
    s->live += bytes;
    if (s->live > s->most) s->most = s->live;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}
static void release(void *ctx, void *block, size_t bytes)
{
    setting *s = ctx;
    s->live -= bytes;
    free(block);
}

static void require(wte_status status, const wte_error *err)
{
    if (status != WTE_OK) bench_require(0, err->message);
}

static void run_product(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    wte_error err;
    (void)input;
    require(wte_head_logits(&s->table, &s->hidden, &s->opt, s->logits, 0, &err), &err);
}
static void run_top(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    wte_error err;
    (void)input;
    require(wte_head_topk(&s->table, &s->hidden, &s->opt, TOP, s->ranked, s->sums, &err), &err);
}
static void run_sample(void *ctx, uint32_t input)
{
    const setting *s = ctx;
    wte_error err;
    (void)input;
    require(wte_head_sample(&s->table, &s->hidden, &s->opt, NULL, s->drawn, &err), &err);
}

static void run_loss(setting *s, bool gradients)
{
    const wte_ids ids = { .data = s->targets, .type = WTE_I32, .count = s->hidden.n };
    wte_loss_options how = WTE_LOSS_OPTIONS_INIT;
    wte_loss out;
    wte_error err;
    how.d_hidden = gradients ? s->d_hidden : NULL;
    how.d_table = gradients ? s->d_table : NULL;
    require(wte_head_loss(&s->table, &s->hidden, ids, &s->opt, &how, &out, &err), &err);
    bench_require(out.n_targets == s->hidden.n, "targets were left out");
}
static void run_forward(void *ctx, uint32_t input)
{
    (void)input;
    run_loss(ctx, false);
}
static void run_both(void *ctx, uint32_t input)
{
    (void)input;
    run_loss(ctx, true);
}

static const bench_contender losses[] = {
    { "product", run_product },
    { "loss", run_forward },
    { "loss and gradients", run_both },
};
static const bench_contender tops[] = {
    { "product", run_product },
    { "top 50", run_top },
    { "sample", run_sample },
};

static void report(const setting *s, const char *part, const bench_contender *contender, uint32_t n,
                   const bench_times *times)
{
    const double flops = 2.0 * (double)s->table.rows * COLS * (double)s->hidden.n;
    for (uint32_t c = 0; c < n; c++) {
        const bench_stats own = bench_describe(times->seconds[c], times->rounds);
        const bench_stats ratio = bench_ratio(times, c, 0);
        printf("{\"bench\": \"loss\", \"case\": \"%s, %s, %u threads\", \"ns\": %.0f, "
               "\"ns_quarters\": [%.0f, %.0f], \"gflops\": %.1f, \"peer\": \"product\", "
               "\"ratio\": %.3f, \"ratio_quarters\": [%.3f, %.3f], \"pairs\": %u",
               part, contender[c].name, wte_pool_n_threads(s->opt.pool), own.median * 1e9,
               own.first_quarter * 1e9, own.third_quarter * 1e9, flops / own.median * 1e-9,
               ratio.median, ratio.first_quarter, ratio.third_quarter, times->rounds);
        bench_print_place(wte__kernels_get()->isa);
    }
}

static void fill(float *x, size_t n, float size, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)(bench_noise(&seed) >> 11) * 0x1p-52 - 1) * size;
}

static void make(setting *s, uint64_t rows, uint64_t n)
{
    float *w = bench_buffer(rows * COLS * sizeof *w), *h = bench_buffer(n * COLS * sizeof *h);
    wte_pool *pool = s->opt.pool;
    fill(w, rows * COLS, 0.2f, 1);
    fill(h, n * COLS, 1, 2);
    s->table = (wte_row_source){ .rows = rows, .cols = COLS, .dtype = WTE_F32, .data = w };
    s->table.row_bytes = COLS * sizeof *w;
    s->hidden = (wte_hidden){ .data = h, .dtype = WTE_F32, .n = n, .dim = COLS };
    s->opt = (wte_head_options)WTE_HEAD_OPTIONS_INIT;
    s->opt.pool = pool;
    s->logits = bench_buffer(rows * n * sizeof *s->logits);
    s->d_table = bench_buffer(rows * COLS * sizeof *s->d_table);
    s->d_hidden = bench_buffer(n * COLS * sizeof *s->d_hidden);
    s->ranked = bench_buffer(n * TOP * sizeof *s->ranked);
    s->sums = bench_buffer(n * sizeof *s->sums);
    s->drawn = bench_buffer(n * sizeof *s->drawn);
    s->targets = bench_buffer(n * sizeof *s->targets);
    for (uint64_t i = 0; i < n; i++) s->targets[i] = (int32_t)(i * 97 % rows);
}

/* The most work memory of one loss with gradients, beside these. */
static void print_memory(setting *s, const char *part)
{
    const wte_allocator counting = { take, release, s };
    s->opt.allocator = &counting;
    s->live = s->most = 0;
    run_loss(s, true);
    s->opt.allocator = NULL;
    printf("{\"bench\": \"loss\", \"case\": \"%s, work memory, %u threads\", \"mib\": %.1f", part,
           wte_pool_n_threads(s->opt.pool), (double)s->most / 1048576);
    bench_print_place(wte__kernels_get()->isa);
}

static void bench_part(setting *s, const char *part)
{
    static bench_times times;
    const bool top = strncmp(part, "top", 3) == 0, large = strcmp(part, "large") == 0;
    make(s, large ? LARGE : ROWS, strcmp(part, "top1") == 0 ? 1 : 512);
    bench_run(top ? tops : losses, 3, s, &times);
    report(s, part, top ? tops : losses, 3, &times);
    if (!top) print_memory(s, part);
}

int main(int argc, char **argv)
{
    static const char *const all[] = { "top1", "top512", "loss512", "large" };
    static setting s;
    wte_error err;
    const char *threads = getenv("WTE_BENCH_THREADS");
    const uint32_t n = threads ? (uint32_t)strtoul(threads, NULL, 10) : 1;
    require(wte_pool_create(n ? n : 1, &s.opt.pool, &err), &err);
    for (int i = 1; i < argc; i++) bench_part(&s, argv[i]);
    for (size_t i = 0; argc < 2 && i < sizeof all / sizeof *all; i++) bench_part(&s, all[i]);
    return 0;
}
