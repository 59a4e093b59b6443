/* Sampling rows by their probability, without holding all logits where possible. A sample depends
 * on logits, options, seed and the index of the hidden vector alone.
 *
 * Three ways. With top k, the list of the k largest logits is the candidate set. With top p or min
 * p alone, the largest LISTED logits nearly always contain the candidate set; otherwise, and when
 * the rounded sum of the tiles does not determine the rank at which p is reached, the logits of
 * that one hidden vector are computed again and kept. With neither, a tile is drawn by the sums of
 * the tiles, its logits are computed again, and a row of it is drawn. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "head/logit_stats.h"
#include "num/philox.h"

/* Logits that are kept for top p and min p. */
#define LISTED 1024u
/* The total of the tiles is known to this share of it, a sum in f64 to the second: two sums that
 * are nearer than that are equal, so that 7 of 100 alike reach a p of 0.07, which f64 holds as
 * more. */
#define TILES_ERROR 1e-5
#define SUM_ERROR   1e-12

typedef enum state { EMPTY, NOT_FINITE, DRAWN, IN_TILE, UNFINISHED } state;

/* Results of the pass over the logits for a hidden vector. */
typedef struct draw {
    state state;
    float most;
    double uniform;
    double total; /* of exp((logit - most) * times) over all rows, as UNFINISHED; of the rows before
                     the one that is drawn, within its tile, as IN_TILE */
    uint64_t at;  /* row, as DRAWN; tile, as IN_TILE */
} draw;

_Static_assert(sizeof(draw) <= WTE__SAMPLE_EACH, "wte__logit_stats_need counts with it");

typedef struct sampler {
    wte__logit_stats s;
    wte_sample_options how;
    float times;
    bool listed;
    draw *draws; /* of the block */
} sampler;

/* Which of n ranked logits is drawn, after top p and min p; `total` is the weight of all that there
 * are before, known to a share of `error`. False when the list may end too early, and then `whole`
 * is false, or when the error decides. */
static bool draw_from(const sampler *p, const uint64_t *list, size_t n, bool whole, draw *d,
                      double total, double error)
{
    const wte_sample_options *how = &p->how;
    const bool top_p = how->top_p > 0 && how->top_p < 1;
    const double reached = how->top_p * total, least = how->min_p * (1 - SUM_ERROR);
    const double times = (double)p->times, top = (double)wte__key_logit(list[0]);
    double sum = 0, walked = 0;
    size_t stay = 0;
    bool cut = whole;
    for (; stay < n; stay++) {
        const double weight = exp(((double)wte__key_logit(list[stay]) - top) * times);
        cut = cut || (how->min_p > 0 && weight < least);
        if (list[stay] < WTE__KEY_FINITE || (stay && weight < least)) break;
        sum += weight;
        if (!top_p || sum < reached - error * total) continue;
        if (error > SUM_ERROR && sum < reached + error * total) return false;
        cut = true;
        stay++;
        break;
    }
    if (!cut) return false;
    size_t i = 0;
    for (; i + 1 < stay; i++) {
        walked += exp(((double)wte__key_logit(list[i]) - top) * times);
        if (walked > d->uniform * sum) break;
    }
    d->state = DRAWN;
    d->at = wte__key_row(list[i]);
    return true;
}

/* Draws a tile. */
static void draw_tile(const sampler *p, uint64_t hidden, draw *d)
{
    const wte__logit_stats *s = &p->s;
    const size_t n = (size_t)s->part.n;
    double walked = 0;
    d->state = IN_TILE;
    for (uint64_t t = 0; t < s->tiles; t++) {
        const double most = (double)s->most[t * n + hidden], sum = (double)s->sum[t * n + hidden];
        if (!(sum > 0)) continue;
        const double weight = sum * exp((most - (double)d->most) * (double)p->times);
        d->at = t; /* the last one that has any weight, should rounding lead past it */
        if (walked + weight > d->uniform * d->total) break;
        walked += weight;
    }
    d->total = d->uniform * d->total - walked;
}

static void look(void *ctx, uint64_t hidden, const wte__found *f)
{
    sampler *p = ctx;
    draw *d = p->draws + (hidden - p->s.first);
    const bool greedy = p->how.temperature == 0;
    *d = (draw){ .state = EMPTY, .most = f->most };
    if (f->not_finite && !greedy) d->state = NOT_FINITE;
    if (f->most == -INFINITY || d->state == NOT_FINITE) return;
    d->uniform = wte__uniform(p->how.seed, p->how.first + hidden);
    d->total = exp(f->log_sum);
    if (greedy) {
        d->state = DRAWN;
        d->at = wte__key_row(f->list[0]);
    } else if (!p->listed) {
        draw_tile(p, hidden - p->s.first, d);
    } else {
        const bool whole = p->how.top_k > 0 || f->n_list == p->s.sweep.table->rows;
        double total = whole ? 0 : d->total;
        for (uint32_t i = 0; whole && i < f->n_list; i++)
            if (f->list[i] >= WTE__KEY_FINITE)
                total +=
                    exp(((double)wte__key_logit(f->list[i]) - (double)f->most) * (double)p->times);
        if (!draw_from(p, f->list, f->n_list, whole, d, total, whole ? SUM_ERROR : TILES_ERROR))
            d->state = UNFINISHED;
    }
}

/* One hidden vector of the block as all there is. */
static void choose_one(const sampler *p, uint64_t at, wte_hidden *one, wte__logit_tiles *sweep)
{
    const wte_hidden *h = &p->s.part;
    const size_t tight = (size_t)h->dim * wte_dtype_bytes(h->dtype);
    *one = *h;
    one->n = 1;
    if (h->data) one->data = (const char *)h->data + at * (h->row_bytes ? h->row_bytes : tight);
    *sweep = (wte__logit_tiles){
        .table = p->s.sweep.table, .hidden = one, .o = p->s.sweep.o, .whole = p->s.sweep.hidden->n
    };
}

/* Draws a row of the tile. */
static wte_status finish_tile(const sampler *p, uint64_t at, uint64_t fixed, draw *d,
                              wte_error *err)
{
    float logits[WTE__TILE_ROWS_MOST];
    uint64_t rows[WTE__TILE_ROWS_MOST];
    const uint64_t first = d->at * p->s.tile_rows, left = p->s.sweep.table->rows - first;
    const size_t n = left < p->s.tile_rows ? (size_t)left : p->s.tile_rows;
    wte_hidden one;
    wte__logit_tiles sweep;
    choose_one(p, at, &one, &sweep);
    for (size_t r = 0; r < n; r++) rows[r] = first + r;
    const wte_ids list = { rows, WTE_I64, 0, n };
    sweep.chosen = &list;
    sweep.logits = logits;
    sweep.stride = n;
    sweep.o.work_bytes = fixed;
    WTE_TRY(wte__logit_tiles_run(&sweep, err));
    double walked = 0;
    for (size_t r = 0; r < n; r++) {
        const double above = (double)logits[r] - (double)d->most;
        if (wte__head_masks(&sweep.o, rows[r]) || !(logits[r] > -INFINITY)) continue;
        walked += exp(above * (double)p->times);
        d->at = rows[r];
        if (walked > d->total) break;
    }
    return WTE_OK;
}

/* Draws from all logits of a hidden vector, the largest first and as many as it takes. */
static wte_status finish_list(const sampler *p, uint64_t at, uint64_t fixed, draw *d,
                              wte_error *err)
{
    const uint64_t rows = p->s.sweep.table->rows;
    const wte_allocator *a = p->s.sweep.o.allocator;
    wte_hidden one;
    wte__logit_tiles sweep;
    choose_one(p, at, &one, &sweep);
    const size_t bytes = (size_t)rows * (sizeof(uint64_t) + sizeof(float));
    uint64_t *list = wte__alloc(a, bytes);
    if (!list) return wte__no_memory(err, bytes, "the logits of a hidden vector");
    sweep.logits = (float *)(void *)(list + rows);
    sweep.stride = (size_t)rows;
    sweep.o.work_bytes = fixed - bytes;
    const wte_status status = wte__logit_tiles_run(&sweep, err);
    size_t n = 0;
    long double total = 0;
    for (uint64_t r = 0; status == WTE_OK && r < rows; r++) {
        if (wte__head_masks(&sweep.o, r)) continue;
        list[n++] = wte__key(sweep.logits[r], r);
        total += (long double)exp(((double)sweep.logits[r] - (double)d->most) * (double)p->times);
    }
    for (size_t k = (size_t)8 * LISTED; status == WTE_OK; k *= 8) {
        if (k > n) k = n;
        wte__rank_select(list, n, k);
        wte__rank_sort(list, k);
        if (draw_from(p, list, k, k == n, d, (double)total, SUM_ERROR)) break;
    }
    wte__free(a, list, bytes);
    return status;
}

static wte_status finish_block(sampler *p, uint64_t fixed, uint64_t *ids, wte_error *err)
{
    for (uint64_t i = 0; i < p->s.part.n; i++) {
        draw *d = p->draws + i;
        const uint64_t hidden = p->s.first + i;
        if (d->state == EMPTY)
            return wte__fail(err, WTE_E_ARGUMENT, hidden,
                             "head: hidden vector %" PRIu64
                             " cannot be sampled: all rows are masked or -infinity",
                             hidden);
        if (d->state == NOT_FINITE)
            return wte__fail(err, WTE_E_ARGUMENT, hidden,
                             "head: hidden vector %" PRIu64
                             " has logits that are NaN or infinity: they have no probability",
                             hidden);
        if (d->state == IN_TILE) WTE_TRY(finish_tile(p, i, fixed, d, err));
        if (d->state == UNFINISHED) WTE_TRY(finish_list(p, i, fixed, d, err));
        ids[hidden] = d->at;
    }
    return WTE_OK;
}

static wte_status check_share(double share, const char *name, wte_error *err)
{
    if (share >= 0 && share <= 1) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "head: %s is %g, but a share is from 0 to 1", name, share);
}

static wte_status check_how(sampler *p, const wte_sample_options *given, wte_error *err)
{
    const wte_sample_options init = WTE_SAMPLE_OPTIONS_INIT;
    const uint64_t rows = p->s.sweep.table->rows;
    wte_sample_options *how = &p->how;
    *how = init;
    WTE_TRY(wte__options(how, sizeof *how, given, err));
    WTE_TRY(check_share(how->top_p, "top_p", err));
    WTE_TRY(check_share(how->min_p, "min_p", err));
    p->times = how->temperature == 0 ? 1 : 1 / how->temperature;
    if (!(how->temperature >= 0) || !isfinite(p->times) || p->times == 0)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "head: a temperature of %g",
                         (double)how->temperature);
    if (how->top_k >= rows) how->top_k = 0;
    if (how->top_k > WTE_LIMIT_TOP)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: top_k is %" PRIu32 ", but at most %u logits are kept", how->top_k,
                         WTE_LIMIT_TOP);
    p->listed = how->top_k > 0 || (how->top_p > 0 && how->top_p < 1) || how->min_p > 0;
    p->s.times = p->times;
    p->s.k = how->temperature == 0 ? 1 : how->top_k > 0 ? how->top_k : p->listed ? LISTED : 0;
    return WTE_OK;
}

uint64_t wte__sample_bytes(const wte__logit_tiles *s)
{
    const wte_row_source *t = s->table;
    wte_hidden one = *s->hidden;
    wte__logit_tiles sweep = { .table = t, .hidden = &one, .o = s->o, .whole = s->hidden->n };
    uint64_t whole, tile, best;
    const wte_ids some = { .type = WTE_I64 }; /* how many does not matter */
    one.n = 1;
    wte__logit_tiles_need(&sweep, &whole, &best);
    sweep.chosen = &some;
    wte__logit_tiles_need(&sweep, &tile, &best);
    whole += t->rows * (sizeof(uint64_t) + sizeof(float));
    return whole > tile ? whole : tile;
}

wte_status wte_head_sample(const wte_row_source *table, const wte_hidden *hidden,
                           const wte_head_options *opt, const wte_sample_options *sample,
                           uint64_t *ids, wte_error *err)
{
    sampler p = { .s = { .sweep = { .table = table, .hidden = hidden }, .emit = look } };
    p.s.ctx = &p;
    WTE_TRY(wte__head_check(table, hidden, opt, &p.s.sweep.o, err));
    WTE_TRY(check_how(&p, sample, err));
    if (hidden->n == 0) return WTE_OK;
    WTE_TRY(wte__need(ids, "wte_head_sample: ids", err));
    WTE_TRY(wte__head_no_overlap(
        &p.s.sweep, (wte__piece){ "the output", ids, hidden->n, sizeof *ids, 0 }, err));
    const uint64_t fixed = wte__sample_bytes(&p.s.sweep);
    wte_status status = wte__logit_stats_open(&p.s, fixed, sizeof *p.draws, err);
    if (status != WTE_OK) goto done;
    p.draws = wte__alloc_array(p.s.sweep.o.allocator, p.s.block, sizeof *p.draws);
    if (!p.draws) status = wte__no_memory(err, p.s.block * sizeof *p.draws, "draws");
    for (uint64_t first = 0; status == WTE_OK && first < hidden->n; first += p.s.block) {
        const uint64_t left = hidden->n - first;
        status = wte__logit_stats_run(&p.s, first, left < p.s.block ? left : p.s.block, err);
        if (status == WTE_OK) status = finish_block(&p, fixed, ids, err);
    }
done:
    wte__free(p.s.sweep.o.allocator, p.draws, (size_t)(p.s.block * sizeof *p.draws));
    wte__logit_stats_close(&p.s);
    return status;
}
