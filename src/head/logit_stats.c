/* What is kept of a pass over the logits: see survey.h. */
#include "head/logit_stats.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"
#include "head/tile.h"

/* Hidden vectors whose sums are joined at once. */
#define JOIN 64u
/* Logits that are kept of each when nothing is known. */
#define USUAL_TOP 1024u

/* The largest logits of a hidden vector: a list with room for more than k keys. A full list is
 * truncated to its k first keys, and the last of these becomes the bound, `last` of the statistics:
 * keys that rank after it are skipped. A lock guards the list; the bound never falls and is read
 * without it. The keys that remain do not depend on the order of arrival. */
typedef struct wte__topk_heap {
    atomic_flag lock;
    _Atomic(uint32_t) n; /* read without the lock only to fetch what is there */
} wte__topk_heap;

/* Memory --------------------------------------------------------------------------------------- */

static void size_up(wte__logit_stats *s)
{
    const wte_row_source *t = s->sweep.table;
    s->tile_rows = wte__tile_rows(t->cols);
    s->tiles = wte__tiles(t->rows, t->cols);
    s->k_kept = s->k < t->rows ? s->k : t->rows;
    s->room = s->k_kept ? 3 * (uint32_t)s->k_kept + 14 : 0;
    s->can_mask = s->sweep.o.valid || (s->sweep.o.n_valid && s->sweep.o.n_valid < t->rows);
}

uint64_t wte__logit_stats_bytes(wte__logit_stats *s)
{
    size_up(s);
    const uint64_t per_tile = 2u + (s->can_mask ? 2u : 0u) + (s->want_all ? 1u : 0u);
    uint64_t bytes = s->tiles * per_tile * sizeof(float) + sizeof *s->not_finite;
    if (s->room) bytes += sizeof *s->best + sizeof *s->last + s->room * sizeof *s->keys;
    if (s->targets.data) bytes += sizeof *s->target + sizeof *s->target_logit + 1;
    return bytes;
}

/* Pieces in the order of their alignment. */
static void lay_out(wte__logit_stats *s)
{
    const size_t n = (size_t)s->part.n, per_tile = (size_t)s->tiles * n;
    uint8_t *at = s->memory;
    s->keys = (uint64_t *)(void *)at;
    at += n * s->room * sizeof *s->keys;
    s->last = (_Atomic(uint64_t) *)(void *)at;
    if (s->room) at += n * sizeof *s->last;
    s->best = (wte__topk_heap *)(void *)at;
    if (s->room) at += n * sizeof *s->best;
    s->target = (uint64_t *)(void *)at;
    if (s->targets.data) at += n * sizeof *s->target;
    s->target_logit = (float *)(void *)at;
    if (s->targets.data) at += n * sizeof *s->target_logit;
    s->not_finite = (_Atomic(uint32_t) *)(void *)at;
    at += n * sizeof *s->not_finite;
    s->most = (float *)(void *)at;
    s->sum = s->most + per_tile;
    s->masked_most = s->sum + per_tile;
    s->masked_sum = s->masked_most + (s->can_mask ? per_tile : 0);
    s->all = s->masked_sum + (s->can_mask ? per_tile : 0);
    s->target_leads = (uint8_t *)(s->all + (s->want_all ? per_tile : 0));
}

/* All work memory for blocks of n. */
static uint64_t needed(wte__logit_stats *s, uint64_t n, uint64_t fixed, uint64_t each)
{
    uint64_t all, least, best;
    wte_hidden part = *s->sweep.hidden;
    wte__logit_tiles sweep = s->sweep;
    /* what is kept of a hidden vector takes less than 64 bytes a row: no overflow below */
    if (!wte__mul_u64(s->sweep.table->rows, 64, &all)) return UINT64_MAX;
    part.n = n;
    sweep.hidden = &part;
    sweep.whole = s->sweep.hidden->n;
    wte__logit_tiles_need(&sweep, &least, &best);
    if (!wte__mul_u64(wte__logit_stats_bytes(s) + each, n, &all) ||
        !wte__add_u64(all, fixed, &all) || !wte__add_u64(all, best, &all))
        return UINT64_MAX;
    return all;
}

static wte_status take_tile(void *ctx, const wte__tile *tile, wte_error *err);

/* The smallest block and the largest that makes a difference. */
static uint64_t least_block(const wte__logit_stats *s)
{
    const uint64_t n = s->step ? s->step : 1;
    return s->sweep.hidden->n < n ? s->sweep.hidden->n : n;
}
static uint64_t best_block(const wte__logit_stats *s)
{
    return s->sweep.hidden->n < WTE__SURVEY_MOST ? s->sweep.hidden->n : WTE__SURVEY_MOST;
}

void wte__logit_stats_sizes(wte__logit_stats *s, uint64_t fixed, uint64_t each, uint64_t *least,
                            uint64_t *best)
{
    s->sweep.take = take_tile;
    *least = needed(s, least_block(s), fixed, each);
    *best = needed(s, best_block(s), fixed, each);
}

wte_status wte__logit_stats_open(wte__logit_stats *s, uint64_t fixed, uint64_t each, wte_error *err)
{
    const uint64_t all = s->sweep.hidden->n, step = s->step, budget = s->sweep.o.work_bytes;
    uint64_t least, best, n = best_block(s);
    s->memory = NULL;
    s->bytes = 0;
    s->sweep.ctx = s;
    s->block = 0;
    s->told =
        (wte__progress_state){ s->sweep.o.progress, 0, wte__times(all, s->sweep.table->rows) };
    if (s->k && s->sweep.table->rows > UINT32_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: %" PRIu64 " rows, but at most %" PRIu32 " are ranked",
                         s->sweep.table->rows, UINT32_MAX);
    wte__logit_stats_sizes(s, fixed, each, &least, &best);
    if (all && least > budget)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: %" PRIu64 " bytes of work memory, but %" PRIu64 " are needed",
                         budget, least);
    if (step && n > step && (n < all || best > budget)) n -= n % step;
    while (n > least_block(s) && needed(s, n, fixed, each) > budget) n = step ? n - step : n / 2;
    s->block = n;
    s->bytes = (size_t)(n * wte__logit_stats_bytes(s));
    s->sweep.o.work_bytes -= s->bytes + fixed + n * each;
    s->memory = wte__alloc(s->sweep.o.allocator, s->bytes);
    if (!s->memory && s->bytes) return wte__no_memory(err, s->bytes, "what is kept of logits");
    return WTE_OK;
}

void wte__logit_stats_close(wte__logit_stats *s)
{
    wte__free(s->sweep.o.allocator, s->memory, s->bytes);
}

/* A tile -------------------------------------------------------------------------------------- */

static bool has_masked(const wte__logit_stats *s, const wte__tile *t)
{
    const wte_head_options *o = &s->sweep.o;
    if (!s->can_mask) return false;
    if (!o->valid) return t->row + t->n_rows > o->n_valid;
    for (uint32_t r = 0; r < t->n_rows; r++)
        if (wte__head_masks(o, t->row + r)) return true;
    return false;
}

/* The sums of a row of logits with values that are not finite, in double precision. */
static uint32_t sum_carefully(const float *x, size_t n, float times, float *most, float *sum,
                              float *all)
{
    uint32_t not_finite = 0;
    double total = 0, logits = 0;
    *most = -INFINITY;
    for (size_t j = 0; j < n; j++) {
        if (isnan(x[j]) || x[j] == INFINITY)
            not_finite++;
        else if (x[j] > *most)
            *most = x[j];
    }
    for (size_t j = 0; j < n; j++) {
        if (!isfinite(x[j])) continue;
        total += exp(((double)x[j] - (double)*most) * (double)times);
        logits += (double)x[j];
    }
    *sum = (float)total;
    if (all) *all = (float)logits;
    return not_finite;
}

/* Takes the masked logits out of a row: they become -infinity, and their sums are kept apart. */
static void part_masked(wte__logit_stats *s, const wte__tile *t, uint32_t h, size_t at)
{
    float masked[WTE__TILE_ROWS_MOST], *x = t->logits + h * t->stride;
    size_t n = 0;
    float all = 0;
    for (uint32_t r = 0; r < t->n_rows; r++) {
        if (!wte__head_masks(&s->sweep.o, t->row + r)) {
            all += x[r];
            continue;
        }
        masked[n++] = x[r];
        x[r] = -INFINITY;
    }
    if (s->want_all) s->all[at] = all;
    s->masked_most[at] = -INFINITY;
    s->masked_sum[at] = 0;
    const wte__softmax job = {
        masked, n, n, n != 0, s->times, s->masked_most + at, s->masked_sum + at, NULL
    };
    wte__kernels_get()->softmax_sums(&job);
    if (!(s->masked_sum[at] >= 0))
        (void)sum_carefully(masked, n, s->times, s->masked_most + at, s->masked_sum + at, NULL);
}

static void take_sums(wte__logit_stats *s, const wte__tile *t, bool masked)
{
    const size_t at = (size_t)(t->number * s->part.n + t->hidden);
    const wte__softmax job = { t->logits,   t->stride,
                               t->n_rows,   t->n_hidden,
                               s->times,    s->most + at,
                               s->sum + at, s->want_all && !masked ? s->all + at : NULL };
    for (uint32_t h = 0; h < t->n_hidden && s->can_mask; h++) {
        s->masked_most[at + h] = -INFINITY;
        s->masked_sum[at + h] = 0;
        if (masked) part_masked(s, t, h, at + h);
    }
    wte__kernels_get()->softmax_sums(&job);
    for (uint32_t h = 0; h < t->n_hidden; h++) {
        if (s->sum[at + h] >= 0) continue;
        const uint32_t n =
            sum_carefully(t->logits + h * t->stride, t->n_rows, s->times, s->most + at + h,
                          s->sum + at + h, job.all ? job.all + h : NULL);
        uint32_t old = atomic_load(s->not_finite + t->hidden + h), sum;
        do sum = old + n < old ? UINT32_MAX : old + n;
        while (!atomic_compare_exchange_weak(s->not_finite + t->hidden + h, &old, sum));
    }
}

static void take_targets(wte__logit_stats *s, const wte__tile *t)
{
    for (uint32_t h = 0; h < t->n_hidden; h++) {
        const uint64_t target = s->target[t->hidden + h], at = target - t->row;
        const float *x = t->logits + h * t->stride;
        if (target < t->row || at >= t->n_rows) continue;
        s->target_logit[t->hidden + h] = x[at];
        s->target_leads[t->hidden + h] = 1;
        for (uint64_t r = 0; r < at; r++)
            if (x[r] >= x[at]) s->target_leads[t->hidden + h] = 0;
    }
}

/* The largest ------------------------------------------------------------------------------------
 */

/* A full list; returns the new bound. */
static uint64_t cut(const wte__logit_stats *s, uint64_t hidden, uint64_t *list)
{
    const uint32_t k = (uint32_t)s->k_kept;
    wte__rank_select(list, s->room, k);
    atomic_store_explicit(s->last + hidden, list[k - 1], memory_order_relaxed);
    return list[k - 1];
}

/* Enters what may be among the largest logits of one hidden vector. */
static void enter(const wte__logit_stats *s, const wte__tile *t, uint32_t h)
{
    const uint64_t hidden = t->hidden + h;
    wte__topk_heap *b = s->best + hidden;
    uint64_t *list = s->keys + hidden * s->room;
    const float *x = t->logits + h * t->stride;
    uint32_t place[WTE__TILE_ROWS_MOST];
    const bool alone = wte_pool_n_threads(s->sweep.o.pool) == 1;
    while (!alone && atomic_flag_test_and_set_explicit(&b->lock, memory_order_acquire)) {
    }
    uint64_t last = atomic_load_explicit(s->last + hidden, memory_order_relaxed);
    const bool pick = last >= WTE__KEY_FINITE;
    const float least = pick ? wte__key_logit(last) : 0;
    const size_t n =
        pick ? wte__kernels_get()->select_ge_f32(x, t->n_rows, least, place) : t->n_rows;
    uint32_t kept = atomic_load_explicit(&b->n, memory_order_relaxed);
    for (size_t i = 0; i < n; i++) {
        const uint32_t r = pick ? place[i] : (uint32_t)i;
        const uint64_t key = wte__key(x[r], t->row + r);
        if (key <= last || (s->can_mask && wte__head_masks(&s->sweep.o, t->row + r))) continue;
        list[kept++] = key;
        if (kept < s->room) continue;
        last = cut(s, hidden, list);
        kept = (uint32_t)s->k_kept;
    }
    atomic_store_explicit(&b->n, kept, memory_order_relaxed);
    if (!alone) atomic_flag_clear_explicit(&b->lock, memory_order_release);
}

/* Most tiles have no such key: their largest logit, taken as that of their first row, excludes
 * them. Lists of many hidden vectors exceed the cache: the ends of those that will grow are
 * prefetched before the first one grows. */
static void take_largest(const wte__logit_stats *s, const wte__tile *t)
{
    const float *most = s->most + t->number * s->part.n + t->hidden;
    uint32_t grows[JOIN];
    for (uint32_t from = 0; from < t->n_hidden; from += JOIN) {
        const uint32_t to = t->n_hidden - from < JOIN ? t->n_hidden : from + JOIN;
        uint32_t n = 0;
        for (uint32_t h = from; h < to; h++) {
            const uint64_t last =
                atomic_load_explicit(s->last + t->hidden + h, memory_order_relaxed);
            grows[n] = h; /* no branch: it would often be guessed wrong */
            n += (last < WTE__KEY_FINITE) | (wte__key(most[h], t->row) > last);
        }
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t hidden = t->hidden + grows[i];
            const uint32_t kept = atomic_load_explicit(&s->best[hidden].n, memory_order_relaxed);
            __builtin_prefetch(s->keys + hidden * s->room + kept, 1);
        }
        for (uint32_t i = 0; i < n; i++) enter(s, t, grows[i]);
    }
}

static wte_status take_tile(void *ctx, const wte__tile *tile, wte_error *err)
{
    wte__logit_stats *s = ctx;
    (void)err; /* nothing here can fail */
    take_sums(s, tile, has_masked(s, tile));
    if (s->targets.data) take_targets(s, tile);
    if (s->room) take_largest(s, tile);
    return WTE_OK;
}

/* Joining -----------------------------------------------------------------------------------------
 */

/* Sums of some hidden vectors over all tiles, each relative to its largest logit. */
typedef struct joined {
    float most[JOIN];
    double sum[JOIN];
} joined;

static void join(const wte__logit_stats *s, const float *most, const float *sum, size_t n,
                 joined *j)
{
    float e[JOIN];
    for (size_t h = 0; h < n; h++) {
        j->most[h] = -INFINITY;
        j->sum[h] = 0;
    }
    for (uint64_t t = 0; t < s->tiles; t++)
        for (size_t h = 0; h < n; h++)
            if (most[t * s->part.n + h] > j->most[h]) j->most[h] = most[t * s->part.n + h];
    for (uint64_t t = 0; t < s->tiles; t++) {
        wte__kernels_get()->exp_f32(e, most + t * s->part.n, j->most, s->times, n);
        for (size_t h = 0; h < n; h++) {
            const float part = sum[t * s->part.n + h];
            if (part > 0) j->sum[h] += (double)part * (double)e[h];
        }
    }
}

/* Whether no row of another tile ranks before the target. */
static bool leads(const wte__logit_stats *s, uint64_t hidden)
{
    const uint64_t tile = s->target[hidden] / s->tile_rows;
    const float logit = s->target_logit[hidden];
    if (!isfinite(logit) || !s->target_leads[hidden]) return false;
    for (uint64_t t = 0; t < s->tiles; t++) {
        const float most = s->most[t * s->part.n + hidden];
        if (most > logit || (most == logit && t < tile)) return false;
    }
    return true;
}

/* The masked rows' part of the probability of all. */
static float masked_share(const wte__logit_stats *s, const joined *taking, const joined *masked,
                          size_t h)
{
    const double a = (double)taking->most[h], b = (double)masked->most[h], top = a > b ? a : b;
    const double times = (double)s->times;
    const double in = taking->sum[h] > 0 ? taking->sum[h] * exp((a - top) * times) : 0;
    const double out = masked->sum[h] > 0 ? masked->sum[h] * exp((b - top) * times) : 0;
    return out > 0 ? (float)(out / (in + out)) : 0;
}

static void find(wte__logit_stats *s, uint64_t hidden, const joined *taking, const joined *masked,
                 size_t h)
{
    wte__found f = { .most = taking->most[h], .not_finite = atomic_load(s->not_finite + hidden) };
    f.log_sum = f.not_finite ? (double)NAN : taking->sum[h] > 0 ? log(taking->sum[h]) : 0;
    f.lse = (double)f.most * (double)s->times + f.log_sum;
    if (s->can_mask) f.masked = masked_share(s, taking, masked, h);
    for (uint64_t t = 0; s->want_all && t < s->tiles; t++)
        f.all += (double)s->all[t * s->part.n + hidden];
    if (s->targets.data && s->target[hidden] != WTE_NO_INDEX) {
        f.target = s->target_logit[hidden];
        f.right = leads(s, hidden);
    }
    if (s->room) {
        uint64_t *list = s->keys + hidden * s->room;
        const uint32_t n = atomic_load(&s->best[hidden].n), k = (uint32_t)s->k_kept;
        if (n > k) wte__rank_select(list, n, k);
        f.list = list;
        f.n_list = n < k ? n : k;
        wte__rank_sort(list, f.n_list);
    }
    s->emit(s->ctx, s->first + hidden, &f);
}

static void join_some(void *ctx, uint64_t i)
{
    wte__logit_stats *s = ctx;
    const uint64_t from = i * JOIN, left = s->part.n - from;
    const size_t n = left < JOIN ? (size_t)left : JOIN;
    joined taking, masked;
    join(s, s->most + from, s->sum + from, n, &taking);
    if (s->can_mask) join(s, s->masked_most + from, s->masked_sum + from, n, &masked);
    for (size_t h = 0; h < n; h++) find(s, from + h, &taking, &masked, h);
}

/* Blocks
 * --------------------------------------------------------------------------------------------- */

static void begin(wte__logit_stats *s)
{
    for (uint64_t h = 0; h < s->part.n; h++) {
        atomic_init(s->not_finite + h, 0);
        if (s->room) {
            atomic_init(s->last + h, 0);
            atomic_flag_clear(&s->best[h].lock);
            atomic_init(&s->best[h].n, 0);
        }
        if (!s->targets.data) continue;
        const int64_t id = wte_ids_at(s->targets, s->first + h);
        s->target[h] = id == s->ignore ? WTE_NO_INDEX : (uint64_t)id;
    }
}

wte_status wte__logit_stats_run(wte__logit_stats *s, uint64_t first, uint64_t n, wte_error *err)
{
    const wte_hidden *all = s->sweep.hidden;
    const size_t tight = (size_t)all->dim * wte_dtype_bytes(all->dtype);
    wte__logit_tiles sweep = s->sweep;
    s->part = *all;
    s->part.n = n;
    if (all->data)
        s->part.data = (const char *)all->data + first * (all->row_bytes ? all->row_bytes : tight);
    s->first = first;
    lay_out(s);
    begin(s);
    sweep.hidden = &s->part;
    sweep.whole = all->n;
    sweep.told = &s->told;
    WTE_TRY(wte__logit_tiles_run(&sweep, err));
    wte__parallel(s->sweep.o.pool, n / JOIN + (n % JOIN != 0), join_some, s);
    return WTE_OK;
}

wte_status wte__logit_stats_all(wte__logit_stats *s, wte_error *err)
{
    wte_status status = wte__logit_stats_open(s, 0, 0, err);
    const uint64_t n = s->sweep.hidden->n;
    for (uint64_t first = 0; status == WTE_OK && first < n; first += s->block)
        status = wte__logit_stats_run(s, first, n - first < s->block ? n - first : s->block, err);
    wte__logit_stats_close(s);
    return status;
}

/* The maximum number of kept logits, or the usual one. Sampling needs the most besides them. */
void wte__logit_stats_need(const wte_row_source *table, const wte_hidden *hidden,
                           const wte_head_options *o, uint64_t *least, uint64_t *best)
{
    uint64_t other;
    wte__logit_stats s = { .sweep = { .table = table, .hidden = hidden, .o = *o },
                           .k = WTE_LIMIT_TOP,
                           .targets = { .data = o } };
    const uint64_t fixed = wte__sample_bytes(&s.sweep);
    wte__logit_stats_sizes(&s, fixed, WTE__SAMPLE_EACH, least, &other);
    s.k = USUAL_TOP;
    wte__logit_stats_sizes(&s, fixed, WTE__SAMPLE_EACH, &other, best);
    if (*best < *least) *best = *least;
}

wte_status wte__targets_check(const wte_row_source *table, const wte_hidden *hidden,
                              wte_ids targets, const int64_t *ignore, wte_error *err)
{
    if (targets.count != hidden->n)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "head: %" PRIu64 " targets for %" PRIu64 " hidden vectors", targets.count,
                         hidden->n);
    if (targets.type != WTE_U16 && targets.type != WTE_I32 && targets.type != WTE_U32 &&
        targets.type != WTE_I64)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "head: targets of type %s, but ids are u16, i32, u32 or i64",
                         wte_dtype_name(targets.type));
    if (targets.count) WTE_TRY(wte__need(targets.data, "head: targets", err));
    for (uint64_t i = 0; i < targets.count; i++) {
        const int64_t id = wte_ids_at(targets, i);
        if (ignore && id == *ignore) continue;
        if (id < 0 || (uint64_t)id >= table->rows)
            return wte__fail(err, WTE_E_RANGE, i,
                             "head: target %" PRId64 " at position %" PRIu64
                             ", but the table has %" PRIu64 " rows",
                             id, i, table->rows);
    }
    return WTE_OK;
}
