/* How far two tables agree: who is whose nearest neighbour, and the cosines of drawn pairs. */
#include <inttypes.h>
#include <math.h>
#include <wte/head.h>

#include "base/checked.h"
#include "base/limits.h"
#include "num/philox.h"
#include "train/eval.h"

#define DEFAULT_TOP    10u
#define DEFAULT_SAMPLE 1000u
#define DEFAULT_PAIRS  100000u
#define AT_ONCE        1024u /* tokens for one pass over a table */
#define SEED_OF_PAIRS  UINT64_C(0x9e3779b97f4a7c15)

typedef struct meeting {
    const wte_agreement_options *opt;
    wte__unit unit[2];
    wte_agreement *out;
    uint64_t *sample;     /* out->sampled places among the shared ones */
    float *queries;       /* AT_ONCE of the wider table */
    wte_ranked *found[2]; /* AT_ONCE times top + 1 */
    uint64_t cells, hits; /* of queries, of each found */
} meeting;

/* Neighbours ----------------------------------------------------------------------------------- */

/* Each place with the same chance, in order: algorithm S of Knuth, 3.4.2. */
static void draw_sample(const meeting *m)
{
    const uint64_t n = m->out->shared, wanted = m->out->sampled;
    for (uint64_t i = 0, taken = 0; taken < wanted; i++) {
        const double u = wte__uniform(m->opt->seed, i);
        if (u * (double)(n - i) < (double)(wanted - taken)) m->sample[taken++] = i;
    }
}

/* How many of the top of A, without the token itself, are in that of B. */
static uint64_t in_common(const meeting *m, uint64_t self, const wte_ranked *a, const wte_ranked *b)
{
    const uint32_t top = m->out->top;
    uint64_t common = 0;
    uint32_t of_a = 0;
    for (uint32_t i = 0; i <= top && of_a < top; i++) {
        if (a[i].id == self) continue;
        of_a++;
        uint32_t of_b = 0;
        for (uint32_t k = 0; k <= top && of_b < top; k++) {
            if (b[k].id == self) continue;
            of_b++;
            common += a[i].id == b[k].id;
        }
    }
    return common;
}

static wte_status find_nearest(meeting *m, int side, uint64_t first, uint64_t n, wte_error *err)
{
    const wte_row_source *rows = &m->unit[side].rows;
    wte_head_options head = WTE_HEAD_OPTIONS_INIT;
    head.pool = m->opt->pool;
    head.allocator = m->opt->allocator;
    WTE_TRY(rows->read_rows(rows->ctx, m->sample + first, (size_t)n, m->queries, err));
    const wte_hidden hidden = { m->queries, WTE_F32, 0, n, rows->cols, 0 };
    return wte_head_topk(rows, &hidden, &head, m->out->top + 1, m->found[side], NULL, err);
}

static wte_status compare_neighbours(meeting *m, wte_error *err)
{
    const uint64_t total = m->out->sampled, each = m->out->top + 1;
    uint64_t common = 0;
    draw_sample(m);
    for (uint64_t first = 0, n; first < total; first += n) {
        n = total - first < AT_ONCE ? total - first : AT_ONCE;
        for (int side = 0; side < 2; side++) {
            WTE_TRY(wte__eval_tell(m->opt->progress, 2 * first + (side ? n : 0), 2 * total, err));
            WTE_TRY(find_nearest(m, side, first, n, err));
        }
        for (uint64_t i = 0; i < n; i++)
            common +=
                in_common(m, m->sample[first + i], m->found[0] + i * each, m->found[1] + i * each);
    }
    m->out->common = (double)common / ((double)total * (double)m->out->top);
    return wte__eval_tell(m->opt->progress, 2 * total, 2 * total, err);
}

/* Pairs ---------------------------------------------------------------------------------------- */

static wte_status correlate(meeting *m, uint64_t *pairs, double *cosines, wte_error *err)
{
    const uint64_t n = m->out->pairs;
    for (int side = 0; side < 2; side++) {
        const wte__unit *u = &m->unit[side];
        wte__draw_pairs(m->opt->seed ^ SEED_OF_PAIRS, m->out->shared, n, pairs);
        for (uint64_t i = 0; i < 2 * n; i++) pairs[i] = u->pick[pairs[i]];
        const wte__cosines c = {
            u->table, pairs, n, cosines + (uint64_t)side * n, m->opt->pool, m->opt->allocator
        };
        WTE_TRY(wte__cosines_run(&c, err));
    }
    uint64_t kept = 0; /* all of them, unless squares of f64 overflow */
    for (uint64_t i = 0; i < n; i++) {
        if (isnan(cosines[i]) || isnan(cosines[n + i])) continue;
        cosines[kept] = cosines[i];
        cosines[n + kept++] = cosines[n + i];
    }
    m->out->pairs = kept;
    WTE_TRY(wte_pearson(cosines, cosines + n, kept, &m->out->pearson, err));
    return wte_spearman(cosines, cosines + n, kept, m->opt->allocator, &m->out->spearman, err);
}

static wte_status compare_pairs(meeting *m, wte_error *err)
{
    const wte_allocator *a = m->opt->allocator;
    const uint64_t n = m->out->pairs = m->opt->pairs ? m->opt->pairs : DEFAULT_PAIRS;
    uint64_t *pairs = wte__alloc_array(a, n, 2 * sizeof *pairs);
    double *cosines = wte__alloc_array(a, n, 2 * sizeof *cosines);
    const wte_status status = pairs && cosines ? correlate(m, pairs, cosines, err)
                                               : wte__no_memory(err, n, "cosines of drawn pairs");
    wte__free(a, pairs, (size_t)n * 2 * sizeof *pairs);
    wte__free(a, cosines, (size_t)n * 2 * sizeof *cosines);
    return status;
}

/* The whole ------------------------------------------------------------------------------------ */

static wte_status open_units(meeting *m, const wte_row_source *a, const wte_row_source *b,
                             wte_error *err)
{
    const wte_agreement_options *opt = m->opt;
    uint64_t n = opt->n;
    if (!opt->rows_a != !opt->rows_b)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "rows_%c is NULL, the other is not",
                         opt->rows_a ? 'b' : 'a');
    if (!opt->rows_a) n = a->rows < b->rows ? a->rows : b->rows;
    WTE_TRY(wte__unit_make(&m->unit[0], a, opt->rows_a, n, opt->allocator, err));
    WTE_TRY(wte__unit_make(&m->unit[1], b, opt->rows_b, n, opt->allocator, err));
    wte__unit_settle(&m->unit[0], &m->unit[1]);
    m->out->shared = m->unit[0].n;
    m->out->left_out = n - m->out->shared;
    return WTE_OK;
}

static wte_status allocate(meeting *m, wte_error *err)
{
    const wte_allocator *a = m->opt->allocator;
    const uint64_t x = m->unit[0].rows.cols, y = m->unit[1].rows.cols;
    const uint64_t asked = m->opt->sample ? m->opt->sample : DEFAULT_SAMPLE;
    const uint64_t others = m->out->shared - 1, top = m->opt->top ? m->opt->top : DEFAULT_TOP;
    if (top >= WTE_LIMIT_TOP)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " neighbours, but fewer than %u are kept", top, WTE_LIMIT_TOP);
    m->out->top = (uint32_t)(top < others ? top : others);
    m->out->sampled = asked < m->out->shared ? asked : m->out->shared;
    m->out->by_chance = (double)m->out->top / (double)others;
    m->hits = (uint64_t)AT_ONCE * (m->out->top + 1);
    if (!wte__mul_u64(AT_ONCE, x > y ? x : y, &m->cells)) m->cells = UINT64_MAX;
    m->sample = wte__alloc_array(a, m->out->sampled, sizeof *m->sample);
    m->queries = wte__alloc_array(a, m->cells, sizeof *m->queries);
    for (int side = 0; side < 2; side++)
        m->found[side] = wte__alloc_array(a, m->hits, sizeof *m->found[side]);
    if (m->sample && m->queries && m->found[0] && m->found[1]) return WTE_OK;
    return wte__no_memory(err, m->hits * sizeof *m->found[0], "nearest neighbours");
}

static wte_status check_table(const wte_row_source *table, wte_error *err)
{
    WTE_TRY(wte_check_rows(table, err));
    if (wte_dtype_converts(table->dtype)) return WTE_OK;
    return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "rows of type %s have no numbers",
                     wte_dtype_name(table->dtype));
}

wte_status wte_eval_agreement(const wte_row_source *a, const wte_row_source *b,
                              const wte_agreement_options *options, wte_agreement *out,
                              wte_error *err)
{
    wte_agreement_options opt = WTE_AGREEMENT_OPTIONS_INIT;
    const double none = (double)NAN;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_eval_agreement: out", err));
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(check_table(a, err));
    WTE_TRY(check_table(b, err));
    if (opt.n > UINT64_MAX / 32 || opt.pairs > UINT64_MAX / 64)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "%" PRIu64 " tokens, %" PRIu64 " pairs",
                         opt.n, opt.pairs);
    *out = (wte_agreement){ .common = none, .by_chance = none, .pearson = none, .spearman = none };
    meeting m = { .opt = &opt, .out = out };
    wte_status status = open_units(&m, a, b, err);
    if (status == WTE_OK && out->shared >= 2) {
        status = allocate(&m, err);
        if (status == WTE_OK) status = compare_neighbours(&m, err);
        if (status == WTE_OK) status = compare_pairs(&m, err);
    }
    for (int side = 0; side < 2; side++) {
        wte__unit_free(&m.unit[side]);
        wte__free(opt.allocator, m.found[side], (size_t)m.hits * sizeof *m.found[side]);
    }
    wte__free(opt.allocator, m.sample, (size_t)out->sampled * sizeof *m.sample);
    wte__free(opt.allocator, m.queries, (size_t)m.cells * sizeof *m.queries);
    if (status != WTE_OK) memset(out, 0, sizeof *out);
    return status;
}
