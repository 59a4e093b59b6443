/* Steps of optimizers on a table of 50257 x 768 by 8192 ids, and on 1000000 x 128 by 4096 bags of
 * 40 ids, against the machine.
 *
 * usage: bench_optim [PART OF A CASE'S NAME]
 *
 * The limit is a plain loop that reads as many gradients, and reads and writes as many rows and
 * rows of state, one after the other, where the processor's own prefetchers know the way. Steps
 * have rows anywhere, sort the ids, and compute. */
#include "bench.h"

#include <wte/optim.h>

#include "base/thread.h"
#include "num/kernels.h"

#define BATCHES 8u
#define LINE    16u /* floats */

/* What is trained, and by what. */
typedef struct scene {
    const char *name;
    uint64_t rows, cols, ids, bag; /* bag: ids of each bag, or 0 */
    wte_optim_kind kind;
    uint32_t states; /* rows of state for a row */
    bool prepare;
    double momentum;
} scene;

static const scene scenes[] = {
    { "SGD", 50257, 768, 8192, 0, WTE_OPTIM_SGD, 0, false, 0 },
    { "row-wise Adagrad", 50257, 768, 8192, 0, WTE_OPTIM_ROWWISE_ADAGRAD, 0, false, 0 },
    { "Adagrad", 50257, 768, 8192, 0, WTE_OPTIM_ADAGRAD, 1, false, 0 },
    { "lazy Adam", 50257, 768, 8192, 0, WTE_OPTIM_LAZY_ADAM, 2, false, 0 },
    { "Adam", 50257, 768, 8192, 0, WTE_OPTIM_ADAM, 2, true, 0 },
    { "momentum", 50257, 768, 8192, 0, WTE_OPTIM_SGD, 1, true, 0.9 },
    { "bags, row-wise Adagrad", 1000000, 128, 163840, 40, WTE_OPTIM_ROWWISE_ADAGRAD, 0, false, 0 },
};
#define N_SCENES (sizeof scenes / sizeof *scenes)

typedef struct setting {
    const scene *scene;
    int64_t *ids;
    uint64_t named[BATCHES]; /* distinct ids of each batch */
    float *d_out;
    float *plain; /* 3 x rows */
    wte_table *table;
    wte_optim *optim;
    wte_pool *pool;
    uint32_t threads, input;
} setting;

static void run_step(void *ctx, uint32_t input)
{
    setting *s = ctx;
    const scene *c = s->scene;
    const wte_ids ids = { .data = s->ids + input % BATCHES * c->ids,
                          .type = WTE_I64,
                          .count = c->ids };
    const wte_ids none = { .type = WTE_I64 };
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_error err;
    wte_status status = WTE_OK;
    bag.ids_per_bag = c->bag;
    if (c->prepare) status = wte_optim_sync_rows(s->optim, ids, &err);
    if (status == WTE_OK && c->bag)
        status = wte_optim_step_bag(s->optim, ids, none, &bag, s->d_out, 0, NULL, &err);
    else if (status == WTE_OK)
        status = wte_optim_step_lookup(s->optim, ids, s->d_out, 0, NULL, &err);
    bench_require(status == WTE_OK, "step failed");
}

/* As many rows as the batch names are added to, and their states; all of d_out is read. */
static void add_plainly(void *ctx, uint64_t part)
{
    setting *s = ctx;
    const scene *c = s->scene;
    const size_t n = (size_t)(s->named[s->input % BATCHES] * c->cols / s->threads);
    const size_t come = (size_t)((c->bag ? c->ids / c->bag : c->ids) * c->cols);
    const size_t all = (size_t)(c->rows * c->cols), shift = s->input % 4 * (all / 8);
    float *p = s->plain + part * n + shift;
    const float *g = s->d_out;
    for (size_t i = 0, k = part * n % come; i < n; i += LINE) {
        for (size_t j = i; j < i + LINE; j++) p[j] += g[k + j - i];
        for (size_t a = 1; a <= c->states; a++)
            for (size_t j = i; j < i + LINE; j++) p[a * all + j] += g[k + j - i];
        k = k + LINE < come ? k + LINE : 0;
    }
}
static void run_plain(void *ctx, uint32_t input)
{
    setting *s = ctx;
    s->input = input;
    wte__parallel(s->pool, s->threads, add_plainly, s);
}

static const bench_contender contenders[] = { { "plain addition", run_plain },
                                              { "step", run_step } };

/* Uniform ids, or Zipf's law with exponent 1 over rows in a random order. */
static void make_ids(setting *s, int zipf)
{
    const uint64_t rows = s->scene->rows;
    double *sum = bench_buffer(rows * sizeof *sum);
    int64_t *order = bench_buffer(rows * sizeof *order);
    uint32_t *seen = bench_buffer(rows * sizeof *seen);
    uint64_t noise = 12345;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t k = bench_noise(&noise) % (i + 1);
        sum[i] = (i ? sum[i - 1] : 0) + 1.0 / (double)(i + 1);
        order[i] = order[k];
        order[k] = (int64_t)i;
    }
    for (size_t i = 0; i < BATCHES * s->scene->ids; i++) {
        const double u = (double)(bench_noise(&noise) >> 11) * 0x1p-53;
        const uint32_t batch = (uint32_t)(i / s->scene->ids);
        uint64_t low = 0, high = rows - 1;
        if (i % s->scene->ids == 0) s->named[batch] = 0;
        while (zipf && low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (sum[middle] < u * sum[rows - 1])
                low = middle + 1;
            else
                high = middle;
        }
        s->ids[i] = zipf ? order[low] : (int64_t)(u * (double)rows);
        s->named[batch] += seen[s->ids[i]] != batch + 1;
        seen[s->ids[i]] = batch + 1;
    }
    free(sum);
    free(order);
    free(seen);
}

static void print_case(const setting *s, const char *law, const bench_times *times)
{
    const bench_stats ns = bench_describe(times->seconds[1], times->rounds);
    const bench_stats ratio = bench_ratio(times, 0, 1);
    printf("{\"bench\": \"optim\", \"case\": \"%s, %s, %u threads\", \"ns\": %.0f, "
           "\"ns_quarters\": [%.0f, %.0f], \"peer\": \"%s\", \"ratio\": %.3f, \"ratio_range\": "
           "[%.3f, %.3f], \"pairs\": %u",
           s->scene->name, law, s->threads, ns.median * 1e9, ns.first_quarter * 1e9,
           ns.third_quarter * 1e9, contenders[0].name, ratio.median, ratio.low, ratio.high,
           times->rounds);
    bench_print_place(wte__kernels_get()->isa);
}

static void bench_threads(setting *s, const char *law)
{
    static bench_times times;
    wte_optim_options o = WTE_OPTIM_OPTIONS_INIT;
    wte_error err;
    bench_require(wte_pool_create(s->threads, &s->pool, &err) == WTE_OK, "no threads");
    o.pool = s->pool;
    o.kind = s->scene->kind;
    o.momentum = s->scene->momentum;
    bench_require(wte_optim_create(s->table, &o, &s->optim, &err) == WTE_OK, "no optimizer");
    for (uint32_t i = 0; i < 2 * BATCHES; i++) run_step(s, i); /* rows are behind as they will be */
    bench_run(contenders, 2, s, &times);
    print_case(s, law, &times);
    wte_optim_free(s->optim);
    wte_pool_free(s->pool);
}

static void bench_scene(const scene *c)
{
    setting s = { .scene = c };
    wte_error err;
    const size_t numbers = (size_t)(c->rows * c->cols);
    const size_t come = (size_t)((c->bag ? c->ids / c->bag : c->ids) * c->cols);
    s.ids = bench_buffer(BATCHES * c->ids * sizeof *s.ids);
    s.d_out = bench_buffer(come * sizeof *s.d_out);
    s.plain = bench_buffer((c->states + 1) * numbers * sizeof *s.plain);
    for (size_t i = 0; i < come; i++) s.d_out[i] = (float)(i % 13) * 0x1p-4f - 0.25f;
    bench_require(wte_table_create(c->rows, c->cols, WTE_F32, NULL, &s.table, &err) == WTE_OK,
                  "no table");
    float *p = wte_table_data(s.table);
    for (size_t i = 0; i < numbers; i++) p[i] = (float)(i % 17) * 0x1p-3f - 1;
    for (int zipf = 0; zipf < 2; zipf++) {
        make_ids(&s, zipf);
        for (s.threads = 1; s.threads <= 2; s.threads++)
            bench_threads(&s, zipf ? "zipf" : "uniform");
    }
    wte_table_free(s.table);
    free(s.ids);
    free(s.d_out);
    free(s.plain);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < N_SCENES; i++)
        if (argc < 2 || strstr(scenes[i].name, argv[1])) bench_scene(&scenes[i]);
    return 0;
}
