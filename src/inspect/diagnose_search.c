/* All rows of one tensor searched for many vectors in one pass.
 *
 * A row that was multiplied by anything still points where it pointed, so one test of direction in
 * a few columns (those of the vector's largest numbers) finds the candidates of nearly every rule;
 * only they are compared whole. A vector with its bytes swapped is swapped back first. The rows
 * nearest in those columns are kept for the runner-up. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "inspect/diagnose.h"
#include "inspect/row_scan.h"

/* bf16 arithmetic, twice, moves a number by less than this part of itself. */
#define DIRECTION_SLACK 0x1p-6

typedef enum aim { AIM_DIRECTION, AIM_SWAPPED, AIM_DIFFERENCE } aim;

/* One vector to look for in the pass. */
typedef struct seeker {
    aim kind;
    wte_dtype type; /* AIM_SWAPPED: whose bytes were swapped */
    size_t n, column[WTE__PROBES];
    double value[WTE__PROBES];
    double room[WTE__PROBES];     /* absolute, from the tolerance of the numbers */
    double relative[WTE__PROBES]; /* times the size of the row */
} seeker;

typedef struct near_row {
    double distance;
    uint64_t row;
} near_row;

/* What one lane found for one case. */
typedef struct found {
    wte__rank_hypotheses tally;
    near_row near[WTE__NEAR]; /* ascending */
    size_t n_near;
} found;

typedef struct state {
    const wte__search *search;
    wte__case *const *cases;
    size_t n_cases;
    seeker *seekers; /* of case i: i * SEEKERS, n_seekers[i] of them */
    size_t *n_seekers;
    found *lanes; /* lane l, case i: l * n_cases + i */
    size_t dim, element;
    bool wide; /* values are f64, not f32 */
    wte__grid grid;
} state;
#define SEEKERS 3u

static double value_at(const state *s, const void *values, size_t i)
{
    return s->wide ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

/* Seekers -------------------------------------------------------------------------------------- */

/* Aim at `vector`, whose numbers are uncertain by the tolerance of the case's. */
static void aim_at(const state *s, seeker *k, aim kind, const wte__observed *g,
                   const double *vector)
{
    size_t probe[WTE__PROBES];
    k->kind = kind;
    k->n = wte__probes(vector, g->n, probe);
    for (size_t i = 0; i < k->n; i++) {
        const double x = vector[probe[i]];
        k->column[i] = probe[i];
        k->value[i] = x;
        const bool swapped = kind == AIM_SWAPPED;
        const double own = swapped ? 0 : wte__tolerance(g, &s->grid, probe[i]);
        const double first = swapped ? 0 : wte__tolerance(g, &s->grid, probe[0]);
        k->room[i] = own + first * fabs(x / k->value[0]);
        k->relative[i] = 2 * DIRECTION_SLACK * fabs(x);
        if (kind == AIM_DIFFERENCE) k->room[i] = own + DIRECTION_SLACK * fabs(g->value[probe[i]]);
    }
}

/* The vector with the bytes of each number reversed back, as it must have stood in a row. */
static bool unswap(const wte__case *k, wte_dtype type)
{
    const wte__observed *g = &k->given;
    const size_t size = wte_dtype_bytes(type);
    for (size_t c = 0; c < g->n; c++) {
        uint8_t bytes[8];
        wte_convert_report lost = { 0, 0, 0, 0 };
        const uint8_t *raw = (const uint8_t *)g->raw + c * wte_dtype_bytes(g->dtype);
        if (wte_convert(g->dtype, raw, type, bytes, 1, &lost, NULL) != WTE_OK) return false;
        if (lost.overflow || lost.underflow || lost.inexact) return false;
        for (size_t i = 0; i < size / 2; i++) {
            const uint8_t keep = bytes[i];
            bytes[i] = bytes[size - 1 - i];
            bytes[size - 1 - i] = keep;
        }
        if (wte_convert(type, bytes, WTE_F64, &k->target[c], 1, NULL, NULL) != WTE_OK) return false;
    }
    return true;
}

static void add_seekers(state *s, size_t i)
{
    const wte__case *k = s->cases[i];
    const wte__observed *g = &k->given;
    const wte_dtype stored = s->search->rows->dtype;
    seeker *to = s->seekers + i * SEEKERS;
    size_t n = 0;
    if (g->n_probes > 0) aim_at(s, &to[n++], AIM_DIRECTION, g, g->value);
    if (s->search->place == WTE__OTHER && !g->nonfinite) {
        for (size_t c = 0; c < g->n; c++) k->target[c] = g->value[c] - k->own_f64[c];
        aim_at(s, &to[n], AIM_DIFFERENCE, g, k->target);
        n += to[n].n > 0;
    }
    const wte_dtype types[2] = { stored, g->dtype };
    for (size_t t = 0; t < 2 && s->search->place == WTE__TABLE && !g->half_unit; t++) {
        if (wte_dtype_bytes(types[t]) < 2 || (t == 1 && types[1] == types[0])) continue;
        if (!unswap(k, types[t])) continue;
        to[n].type = types[t];
        aim_at(s, &to[n], AIM_SWAPPED, g, k->target);
        n += to[n].n > 0;
    }
    s->n_seekers[i] = n;
}

/* Candidates ----------------------------------------------------------------------------------- */

static bool points_along(const state *s, const seeker *k, const void *values, size_t at)
{
    const double first = value_at(s, values, at + k->column[0]), size = fabs(first);
    const double larger = fmax(size, fabs(k->value[0]));
    if (size == 0 && fabs(k->value[0]) > k->room[0]) return false;
    for (size_t i = 1; i < k->n; i++) {
        const double x = value_at(s, values, at + k->column[i]);
        const double off = fabs(x * k->value[0] - first * k->value[i]);
        if (!(off <= size * k->relative[i] + larger * k->room[i])) return false;
    }
    return true;
}

static bool lies_near(const state *s, const seeker *k, const void *values, size_t at)
{
    for (size_t i = 0; i < k->n; i++) {
        const double x = value_at(s, values, at + k->column[i]);
        if (!(fabs(x - k->value[i]) <= k->room[i] + k->relative[i])) return false;
    }
    return true;
}

static bool nearer(near_row a, near_row b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
}

/* Keep the nearest; of equally near ones the first rows, whatever the lanes. */
static void keep_near(found *f, near_row one)
{
    if (f->n_near == WTE__NEAR && !nearer(one, f->near[WTE__NEAR - 1])) return;
    size_t at = f->n_near < WTE__NEAR ? f->n_near++ : WTE__NEAR - 1;
    for (; at > 0 && nearer(one, f->near[at - 1]); at--) f->near[at] = f->near[at - 1];
    f->near[at] = one;
}

static void note_distance(const state *s, found *f, const seeker *k, const void *values, size_t at,
                          uint64_t row)
{
    const double most = f->n_near < WTE__NEAR ? (double)INFINITY : f->near[WTE__NEAR - 1].distance;
    double sum = 0;
    for (size_t i = 0; i < k->n && sum < most; i++) {
        const double off = value_at(s, values, at + k->column[i]) - k->value[i];
        sum += off * off;
    }
    if (sum < most) keep_near(f, (near_row){ sum, row });
}

static double tried_in(const wte__search *s)
{
    return (double)s->rows->rows * (double)s->n_rules;
}

static wte__row row_of(const state *s, const wte__case *k, const void *raw, uint64_t index)
{
    return (wte__row){ .raw = raw,
                       .dtype = s->search->rows->dtype,
                       .grid = s->grid,
                       .place = s->search->place,
                       .tensor = s->search->tensor,
                       .index = index,
                       .own = index == k->row,
                       .tried = tried_in(s->search) };
}

static bool offer_if_fits(const wte__case *k, found *f, const wte__row *row,
                          const wte__hypothesis_rule *rule, size_t order)
{
    wte__fit fit;
    if (!wte__fit_rule(&k->given, row, rule, false, &fit)) return false;
    const wte__search_entry entry = wte__entry_make(&k->given, row, rule, (uint32_t)order, &fit);
    wte__hypotheses_offer(&f->tally, &entry);
    return true;
}

/* The sum of two rows, as computed in each type. */
static void compare_sum(const state *s, const wte__case *k, found *f, wte__row *row)
{
    static const wte_dtype arithmetic[] = { WTE_F64, WTE_F32, WTE_BF16, WTE_F16 };
    row->base = k->own_f64;
    row->base_row = k->row;
    row->base_tensor = s->search->opt->name;
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        const wte__hypothesis_rule rule = { .change = WTE_LABEL_PLUS_ROW,
                                            .arithmetic = arithmetic[i] };
        if (wte__rule_allowed(&k->given, &rule, row->tried))
            (void)offer_if_fits(k, f, row, &rule, i);
    }
}

static void compare_whole(const state *s, const wte__case *k, found *f, const seeker *seek,
                          wte__row *row)
{
    const wte__search *search = s->search;
    if (seek->kind == AIM_DIFFERENCE) {
        compare_sum(s, k, f, row);
        return;
    }
    bool explained = false;
    for (size_t i = 0; i < search->n_rules; i++) {
        const wte__hypothesis_rule *rule = &search->rule[i];
        const bool swapped = rule->change == WTE_LABEL_BYTE_SWAPPED;
        if (rule->own_only || swapped != (seek->kind == AIM_SWAPPED)) continue;
        if (swapped && rule->type != seek->type) continue;
        if (!wte__rule_allowed(&k->given, rule, row->tried)) continue;
        /* a factor that a rule knows need not be measured */
        if (explained && wte__is_measured(rule)) continue;
        const bool fits = offer_if_fits(k, f, row, rule, i);
        if (fits && i == 0) return; /* an unchanged row needs no second explanation */
        explained = explained || fits;
    }
}

static void visit_row(const state *s, size_t i, found *f, uint64_t index, const void *raw,
                      const void *values, size_t at)
{
    const wte__case *k = s->cases[i];
    for (size_t q = 0; q < s->n_seekers[i]; q++) {
        const seeker *seek = &s->seekers[i * SEEKERS + q];
        const bool candidate = seek->kind == AIM_DIFFERENCE ? lies_near(s, seek, values, at)
                                                            : points_along(s, seek, values, at);
        if (candidate) {
            wte__row row = row_of(s, k, (const uint8_t *)raw + at * s->element, index);
            compare_whole(s, k, f, seek, &row);
        }
        if (seek->kind == AIM_DIRECTION) note_distance(s, f, seek, values, at, index);
    }
}

static void visit(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                  const void *values)
{
    const state *s = ctx;
    for (size_t i = 0; i < s->n_cases; i++) {
        found *f = &s->lanes[lane * s->n_cases + i];
        for (size_t r = 0; r < n; r++) {
            /* the row asked for has been compared already */
            if (s->search->place == WTE__TABLE && first + r == s->cases[i]->row) continue;
            visit_row(s, i, f, first + r, raw, values, r * s->dim);
        }
    }
}

/* Afterwards ----------------------------------------------------------------------------------- */

/* The nearest rows of all lanes, compared whole, stand in for the runner-up. */
static wte_status offer_nearest(state *s, size_t i, uint32_t lanes, void *raw, wte_error *err)
{
    wte__case *k = s->cases[i];
    found all = { .n_near = 0 };
    for (uint32_t l = 0; l < lanes; l++) {
        const found *f = &s->lanes[l * s->n_cases + i];
        for (size_t n = 0; n < f->n_near; n++) keep_near(&all, f->near[n]);
    }
    for (size_t n = 0; n < all.n_near; n++) {
        WTE_TRY(wte_row_source_read(s->search->rows, all.near[n].row, raw, err));
        const wte__row row = row_of(s, k, raw, all.near[n].row);
        wte__fit fit;
        /* one that fits has been counted in the pass */
        if (wte__fit_rule(&k->given, &row, &s->search->rule[0], true, &fit)) continue;
        const wte__search_entry entry =
            wte__entry_make(&k->given, &row, &s->search->rule[0], 0, &fit);
        wte__hypotheses_offer(&k->tally, &entry);
    }
    return WTE_OK;
}

static wte_status finish(state *s, uint32_t lanes, void *raw, wte_error *err)
{
    for (size_t i = 0; i < s->n_cases; i++) {
        wte__case *k = s->cases[i];
        for (uint32_t l = 0; l < lanes; l++) {
            const found *f = &s->lanes[l * s->n_cases + i];
            wte__hypotheses_offer(&k->tally, &f->tally.best);
            wte__hypotheses_offer(&k->tally, &f->tally.second);
        }
        WTE_TRY(offer_nearest(s, i, lanes, raw, err));
        k->tried += s->search->rows->rows * s->search->n_rules;
    }
    return WTE_OK;
}

wte_status wte__search_run(const wte__search *search, wte__case *const *cases, size_t n_cases,
                           wte_error *err)
{
    const wte_row_source *rows = search->rows;
    const wte_allocator *a = search->opt->allocator;
    const uint32_t lanes = wte_pool_n_threads(search->opt->pool);
    const wte_dtype stored = rows->dtype;
    state s = { .search = search,
                .cases = cases,
                .n_cases = n_cases,
                .dim = (size_t)rows->cols,
                .element = wte_dtype_bytes(stored),
                .wide = stored != WTE_F32 && !wte_dtype_fits(stored, WTE_F32),
                .grid = wte__grid_of(wte__tolerance_type(stored, search->got_dtype)) };
    const size_t seekers = n_cases * SEEKERS * sizeof *s.seekers;
    const size_t counts = n_cases * sizeof *s.n_seekers;
    const size_t results = n_cases * lanes * sizeof *s.lanes, raw_bytes = s.dim * s.element;
    wte_status status = WTE_OK;
    if (n_cases == 0) return WTE_OK;
    s.seekers = wte__alloc_zeroed(a, seekers);
    s.n_seekers = wte__alloc_zeroed(a, counts);
    s.lanes = wte__alloc_zeroed(a, results);
    void *raw = wte__alloc(a, raw_bytes);
    if (!s.seekers || !s.n_seekers || !s.lanes || !raw) {
        status = wte__no_memory(err, seekers + counts + results + raw_bytes, "a search of rows");
        goto done;
    }
    for (size_t i = 0; i < n_cases; i++) add_seekers(&s, i);
    const wte__row_scan pass = {
        rows, s.wide ? WTE_F64 : WTE_F32, visit, NULL, &s, search->opt->pool, search->opt->progress,
        a
    };
    status = wte__row_scan_run(&pass, err);
    if (status == WTE_OK) status = finish(&s, lanes, raw, err);
done:
    wte__free(a, s.seekers, seekers);
    wte__free(a, s.n_seekers, counts);
    wte__free(a, s.lanes, results);
    wte__free(a, raw, raw_bytes);
    return status;
}
