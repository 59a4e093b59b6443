/* The rules by which a row may have become the vector that somebody got, and the comparison of one
 * row, changed by one rule, with that vector. To add a way of going wrong: a label in tools.h, a
 * line in wte__rules, a case in predict. */
#include <math.h>
#include <string.h>

#include "inspect/diagnose.h"

typedef struct rule_list {
    wte__hypothesis_rule *rule;
    size_t n;
} rule_list;

static void add(rule_list *list, wte__hypothesis_rule rule)
{
    if (list->n < WTE__RULES) list->rule[list->n++] = rule;
}

static double rounded(double x, wte_dtype type)
{
    uint8_t narrow[8];
    double back = x;
    if (wte_convert(WTE_F64, &x, type, narrow, 1, NULL, NULL) != WTE_OK ||
        wte_convert(type, narrow, WTE_F64, &back, 1, NULL, NULL) != WTE_OK)
        return x;
    return back;
}

/* Once, twice, divided; each as computed in f64, f32, bf16 and f16. */
static void add_factor(rule_list *list, double factor, wte_dtype type, bool model_factor)
{
    static const int32_t power[] = { 1, 2, -1 };
    static const wte_dtype arithmetic[] = { WTE_F64, WTE_F32, WTE_BF16, WTE_F16 };
    if (!isfinite(factor) || factor == 0 || factor == 1) return;
    for (size_t p = 0; p < sizeof power / sizeof *power; p++)
        for (size_t a = 0; a < sizeof arithmetic / sizeof *arithmetic; a++)
            add(list, (wte__hypothesis_rule){ .change = WTE_LABEL_SCALED,
                                              .power = power[p],
                                              .model_factor = model_factor,
                                              .type = type,
                                              .arithmetic = arithmetic[a],
                                              .factor = factor });
}

/* sqrt(dim) as it is, and rounded where that changes it. A factor rounded in f32 is told as not
 * rounded: the two differ by less than the numbers show. */
static void add_sqrt(rule_list *list, uint64_t dim, double model_factor)
{
    static const wte_dtype type[] = { WTE_F64, WTE_F32, WTE_BF16, WTE_F16 };
    double seen[sizeof type / sizeof *type + 1] = { model_factor };
    size_t n_seen = 1;
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        const double factor = rounded(sqrt((double)dim), type[i]);
        bool known = false;
        for (size_t s = 0; s < n_seen; s++) known = known || seen[s] == factor;
        if (known) continue;
        seen[n_seen++] = factor;
        add_factor(list, factor, type[i] == WTE_F32 ? WTE_F64 : type[i], false);
    }
}

static void add_narrowed(rule_list *list, wte_dtype stored)
{
    static const struct {
        wte_dtype type;
        bool own_only; /* so coarse that it fits other rows by luck */
    } to[] = { { WTE_F32, false },    { WTE_F16, false },    { WTE_BF16, false },
               { WTE_F8_E4M3, true }, { WTE_F8_E5M2, true }, { WTE_I8, true } };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        if (wte_dtype_fits(stored, to[i].type)) continue;
        add(list, (wte__hypothesis_rule){ .change = WTE_LABEL_NARROWED,
                                          .own_only = to[i].own_only,
                                          .type = to[i].type,
                                          .arithmetic = to[i].type });
    }
}

/* The table may be the rounded one of two: it has fewer digits than the numbers given. */
static void add_unrounded(rule_list *list, wte_dtype stored, wte_dtype got)
{
    const wte__grid narrow = wte__grid_of(stored), wide = wte__grid_of(got);
    if (narrow.integer || wide.integer || narrow.digits >= wide.digits) return;
    add(list, (wte__hypothesis_rule){ .change = WTE_LABEL_UNROUNDED,
                                      .own_only = wte_dtype_bytes(stored) == 1,
                                      .type = stored });
}

size_t wte__rules(uint64_t dim, wte_dtype stored, wte_dtype got, double model_factor,
                  wte__hypothesis_rule rule[WTE__RULES])
{
    rule_list list = { rule, 0 };
    add(&list, (wte__hypothesis_rule){ .change = WTE_LABEL_UNKNOWN });
    add_factor(&list, model_factor, WTE_DTYPE_NONE, true);
    add_sqrt(&list, dim, model_factor);
    add(&list, (wte__hypothesis_rule){ .change = WTE_LABEL_NORMALISED });
    add_narrowed(&list, stored);
    add_unrounded(&list, stored, got);
    if (wte_dtype_bytes(stored) > 1)
        add(&list, (wte__hypothesis_rule){ .change = WTE_LABEL_BYTE_SWAPPED, .type = stored });
    if (got != stored && wte_dtype_bytes(got) > 1)
        add(&list, (wte__hypothesis_rule){ .change = WTE_LABEL_BYTE_SWAPPED, .type = got });
    add(&list, (wte__hypothesis_rule){ .change = WTE_LABEL_SCALED, .type = WTE_DTYPE_NONE });
    return list.n;
}

bool wte__is_measured(const wte__hypothesis_rule *rule)
{
    return rule->change == WTE_LABEL_SCALED && rule->power == 0;
}

/* The factor depends on the row. */
static bool has_own_factor(const wte__hypothesis_rule *rule)
{
    return rule->change == WTE_LABEL_NORMALISED || wte__is_measured(rule);
}

bool wte__rule_allowed(const wte__observed *g, const wte__hypothesis_rule *rule, double tried)
{
    if (rule->change == WTE_LABEL_UNKNOWN) return true;
    if (g->n_probes == 0) return false; /* zeros are zeros whatever they are multiplied by */
    const bool narrows = rule->change == WTE_LABEL_NARROWED;
    if (!narrows && rule->arithmetic == WTE_BF16 && !g->is_bf16) return false;
    if (!narrows && rule->arithmetic == WTE_F16 && !g->is_f16) return false;
    return g->log_changed + log10(tried) <= log10(WTE__WEAK);
}

/* Prediction ----------------------------------------------------------------------------------- */

static bool round_to(wte_dtype type, double *x, size_t n)
{
    uint8_t narrow[WTE__CHUNK * 8];
    if (type == WTE_F64 || type == WTE_DTYPE_NONE) return true;
    if (type == WTE_F32) {
        for (size_t i = 0; i < n; i++) x[i] = (double)(float)x[i];
        return true;
    }
    return wte_convert(WTE_F64, x, type, narrow, n, NULL, NULL) == WTE_OK &&
           wte__widen(type, narrow, x, n);
}

static bool scale(const wte__hypothesis_rule *rule, double factor, double *x, size_t n)
{
    /* in f32, dividing is also done by multiplying with the rounded inverse */
    const bool inverse = rule->power == -1 && rule->arithmetic == WTE_F32;
    const double by = inverse ? (double)(float)(1 / factor) : factor;
    const bool divides = rule->power == -1 && !inverse;
    for (int32_t times = rule->power == 2 ? 2 : 1; times > 0; times--) {
        for (size_t i = 0; i < n; i++) x[i] = divides ? x[i] / by : x[i] * by;
        if (!round_to(rule->arithmetic, x, n)) return false;
    }
    return true;
}

/* The bytes of each element reversed, in the stored type or in the type of the numbers given. */
static bool swap(const wte__row *row, wte_dtype type, size_t first, double *x, size_t n)
{
    uint8_t bytes[WTE__CHUNK * 8];
    const size_t size = wte_dtype_bytes(type);
    const uint8_t *raw = (const uint8_t *)row->raw + first * wte_dtype_bytes(row->dtype);
    if (wte_convert(row->dtype, raw, type, bytes, n, NULL, NULL) != WTE_OK) return false;
    for (uint8_t *e = bytes; e < bytes + n * size; e += size)
        for (size_t i = 0; i < size / 2; i++) {
            const uint8_t keep = e[i];
            e[i] = e[size - 1 - i];
            e[size - 1 - i] = keep;
        }
    return wte_convert(type, bytes, WTE_F64, x, n, NULL, NULL) == WTE_OK;
}

/* x becomes the number given wherever that is rounded to x. */
static bool unround(const wte__observed *g, wte_dtype type, size_t first, double *x, size_t n)
{
    double rounded_given[WTE__CHUNK];
    memcpy(rounded_given, g->value + first, n * sizeof *rounded_given);
    if (!round_to(type, rounded_given, n)) return false;
    for (size_t i = 0; i < n; i++)
        if (rounded_given[i] == x[i]) x[i] = g->value[first + i];
    return true;
}

/* What the row's columns first .. first + n - 1 become under the rule. */
static bool predict(const wte__observed *g, const wte__row *row, const wte__hypothesis_rule *rule,
                    double factor, size_t first, double *x, size_t n)
{
    const uint8_t *raw = (const uint8_t *)row->raw + first * wte_dtype_bytes(row->dtype);
    if (rule->change == WTE_LABEL_BYTE_SWAPPED) return swap(row, rule->type, first, x, n);
    if (!wte__widen(row->dtype, raw, x, n)) return false;
    if (rule->change == WTE_LABEL_UNROUNDED) return unround(g, rule->type, first, x, n);
    for (size_t i = 0; row->base && i < n; i++) x[i] += row->base[first + i];
    if (rule->change == WTE_LABEL_SCALED || rule->change == WTE_LABEL_NORMALISED)
        return scale(rule, factor, x, n);
    return round_to(rule->arithmetic, x, n);
}

double wte__measure(const wte__observed *g, const wte__row *row, double *norm)
{
    const size_t size = wte_dtype_bytes(row->dtype);
    double x[WTE__CHUNK], product = 0, square = 0;
    *norm = 0;
    for (size_t c = 0; c < g->n; c += WTE__CHUNK) {
        const size_t n = g->n - c < WTE__CHUNK ? g->n - c : WTE__CHUNK;
        const uint8_t *raw = (const uint8_t *)row->raw + c * size;
        if (!wte__widen(row->dtype, raw, x, n)) return 0;
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(x[i]) || !isfinite(g->value[c + i])) continue;
            product += x[i] * g->value[c + i];
            square += x[i] * x[i];
        }
    }
    *norm = sqrt(square);
    return square > 0 ? product / square : 0;
}

/* Norms are summed in f32 by some, which moves them by far less than this. */
#define NORM_SLACK 1e-5

/* The factor of such a rule. False when the rule has nothing to say about this row. */
static bool own_factor(const wte__observed *g, const wte__row *row,
                       const wte__hypothesis_rule *rule, double *factor)
{
    double norm;
    const double s = wte__measure(g, row, &norm);
    if (!isfinite(s) || s == 0 || norm == 0 || !isfinite(norm)) return false;
    const bool unit = fabs(s * norm - 1) <= NORM_SLACK;
    *factor = rule->change == WTE_LABEL_NORMALISED && (!unit || g->half_unit) ? 1 / norm : s;
    /* a row within a hair of the vector is not "scaled by 1.000001" */
    return rule->change == WTE_LABEL_NORMALISED || fabs(s - 1) > NORM_SLACK;
}

/* Fits ----------------------------------------------------------------------------------------- */

void wte__fit_start(wte__fit *fit, const wte__observed *g)
{
    memset(fit, 0, sizeof *fit);
    fit->same_bits = !g->half_unit;
}

void wte__fit_numbers(wte__fit *fit, const wte__observed *g, const wte__grid *grid, size_t first,
                      const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double got = g->value[first + i];
        if ((isnan(got) && isnan(x[i])) || (got == x[i] && signbit(got) == signbit(x[i]))) {
            fit->fits++;
            continue;
        }
        const double far = fabs(got - x[i]), room = wte__tolerance(g, grid, first + i);
        const double units = got == x[i] ? 0 : isfinite(far) ? far / room : (double)INFINITY;
        fit->same_bits = false;
        fit->square += isfinite(far) ? far * far : (double)INFINITY;
        if (units <= 1) fit->fits++;
        if (units > fit->worst) fit->worst = units;
    }
}

bool wte__fit_good(const wte__fit *fit, const wte__observed *g)
{
    return fit->fits == g->n;
}

/* A small move explains little: it may have brought a number over the edge by luck. */
static bool tells(const wte__observed *g, const wte__row *row, const wte__hypothesis_rule *rule,
                  wte__fit *fit)
{
    fit->log_chance = rule->change == WTE_LABEL_UNKNOWN ? g->log_chance : g->log_changed;
    if (rule->change != WTE_LABEL_NARROWED && !has_own_factor(rule)) return true;
    fit->log_chance = wte__evidence(g, rule, fit->factor);
    return fit->log_chance + log10(row->tried) <= log10(WTE__WEAK);
}

bool wte__fit_rule(const wte__observed *g, const wte__row *row, const wte__hypothesis_rule *rule,
                   bool thorough, wte__fit *out)
{
    double x[WTE__CHUNK], factor = rule->factor;
    wte__fit_start(out, g);
    if (has_own_factor(rule) && !own_factor(g, row, rule, &factor)) {
        out->square = out->worst = (double)INFINITY;
        return false;
    }
    out->factor = factor;
    out->same_bits = out->same_bits && rule->change != WTE_LABEL_UNROUNDED;
    for (size_t c = 0; c < g->n; c += WTE__CHUNK) {
        const size_t n = g->n - c < WTE__CHUNK ? g->n - c : WTE__CHUNK;
        if (!predict(g, row, rule, factor, c, x, n)) {
            out->square = out->worst = (double)INFINITY;
            return false;
        }
        wte__fit_numbers(out, g, &row->grid, c, x, n);
        if (!thorough && out->fits < c + n) return false;
    }
    if (!wte__fit_good(out, g)) return false;
    if (tells(g, row, rule, out)) return true;
    out->fits = 0;
    out->square = out->worst = (double)INFINITY;
    return false;
}

/* Rules that change the row are worth a full comparison, for the runner-up, only when the row
 * points about where the vector does. */
#define ALONG 0.9

void wte__hypotheses_own_table(wte__case *k, const wte__row *row, const wte__hypothesis_rule *rule,
                               size_t n_rules)
{
    const wte__observed *g = &k->given;
    double norm;
    const double factor = wte__measure(g, row, &norm);
    const bool along = fabs(factor) * norm >= ALONG * g->norm;
    bool explained = false;
    for (size_t i = 0; i < n_rules; i++) {
        wte__fit fit;
        if (!wte__rule_allowed(g, &rule[i], row->tried)) continue;
        /* a factor that a rule knows need not be measured */
        if (explained && wte__is_measured(&rule[i])) continue;
        const bool thorough = i == 0 || along;
        const bool fits = wte__fit_rule(g, row, &rule[i], thorough, &fit);
        k->tried++;
        explained = explained || fits;
        /* a measured factor is always nearer than none, and says nothing when it does not fit */
        if (!fits && (!thorough || wte__is_measured(&rule[i]))) continue;
        const wte__search_entry entry = wte__entry_make(g, row, &rule[i], (uint32_t)i, &fit);
        wte__hypotheses_offer(&k->tally, &entry);
        if (fits && i == 0) return;
    }
}
