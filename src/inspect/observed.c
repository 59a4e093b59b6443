/* A vector that somebody got, made ready to compare: widened, its telling columns picked, its
 * tolerance and its power as evidence known. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose.h"
#include "num/dtype.h"

wte__grid wte__grid_of(wte_dtype type)
{
    const wte__layout *l = wte__dtype_layout(type);
    wte__grid grid = { true, 0, 0 };
    if (!l || l->kind != WTE__FLOAT) return grid;
    grid.integer = false;
    grid.digits = l->digits;
    grid.min_exponent = 2 - (1 << (l->exponent_bits - 1));
    return grid;
}

double wte__spacing(const wte__grid *grid, double x)
{
    if (grid->integer) return 1;
    int exponent = x == 0 ? grid->min_exponent : ilogb(x);
    if (exponent < grid->min_exponent) exponent = grid->min_exponent;
    return ldexp(1, exponent - grid->digits + 1);
}

/* Through f32 where that is exact: the conversions to f32 are the fast ones. */
bool wte__widen(wte_dtype type, const void *src, double *out, size_t n)
{
    const size_t size = wte_dtype_bytes(type);
    float part[WTE__CHUNK];
    if (!wte_dtype_fits(type, WTE_F32))
        return wte_convert(type, src, WTE_F64, out, n, NULL, NULL) == WTE_OK;
    for (size_t at = 0; at < n; at += WTE__CHUNK) {
        const size_t now = n - at < WTE__CHUNK ? n - at : WTE__CHUNK;
        const uint8_t *from = (const uint8_t *)src + at * size;
        if (wte_convert(type, from, WTE_F32, part, now, NULL, NULL) != WTE_OK) return false;
        for (size_t i = 0; i < now; i++) out[at + i] = (double)part[i];
    }
    return true;
}

/* f32 for what is no float; f64 tables alone are compared in ulps of f64. */
wte_dtype wte__tolerance_type(wte_dtype stored, wte_dtype got)
{
    const wte__grid a = wte__grid_of(stored), b = wte__grid_of(got);
    if (a.integer || b.integer) return WTE_F32;
    const wte_dtype finer = a.digits >= b.digits ? stored : got;
    if (finer == WTE_F64 && stored != WTE_F64) return WTE_F32;
    return finer;
}

/* A typed number lies within half a unit of its last digit; the number itself was rounded to f64
 * when it was read, which matters when many digits were typed. */
double wte__tolerance(const wte__observed *g, const wte__grid *grid, size_t c)
{
    static const wte__grid f64 = { false, 53, -1022 };
    if (!isfinite(g->value[c])) return 0;
    if (g->half_unit) return g->half_unit[c] * (1 + 1e-9) + wte__spacing(&f64, g->value[c]);
    return wte__spacing(grid, g->value[c]);
}

size_t wte__probes(const double *x, size_t n, size_t probe[WTE__PROBES])
{
    size_t used = 0;
    for (size_t c = 0; c < n; c++) {
        const double size = fabs(x[c]);
        if (!isfinite(size) || size == 0) continue;
        if (used == WTE__PROBES && size <= fabs(x[probe[used - 1]])) continue;
        size_t at = used < WTE__PROBES ? used++ : used - 1;
        for (; at > 0 && fabs(x[probe[at - 1]]) < size; at--) probe[at] = probe[at - 1];
        probe[at] = c;
    }
    return used;
}

static bool all_of_type(const wte__observed *g, wte_dtype type)
{
    uint8_t narrow[WTE__CHUNK * 2];
    for (size_t c = 0; c < g->n; c += WTE__CHUNK) {
        const size_t n = g->n - c < WTE__CHUNK ? g->n - c : WTE__CHUNK;
        wte_convert_report lost = { 0, 0, 0, 0 };
        if (wte_convert(WTE_F64, g->value + c, type, narrow, n, &lost, NULL) != WTE_OK)
            return false;
        if (lost.overflow || lost.underflow || lost.inexact) return false;
    }
    return true;
}

/* The largest 1, 2 or 5 x 10^k of which all numbers are multiples, as far as their tolerances tell:
 * numbers of few digits, however they are written, stand on few values, and fit more by luck. 0
 * when it is no larger than those tolerances. */
static double step_of(const wte__observed *g)
{
    static const double lead[] = { 5, 2, 1 };
    double least = (double)INFINITY;
    if (g->n_probes == 0) return 0;
    for (size_t c = 0; c < g->n; c++)
        if (g->value[c] != 0 && isfinite(g->value[c]))
            least = fmin(least, wte__tolerance(g, &g->tolerance, c));
    const double most = fabs(g->value[g->probe[0]]);
    for (int power = (int)floor(log10(most)); power >= -300; power--)
        for (size_t i = 0; i < sizeof lead / sizeof *lead; i++) {
            const double step = lead[i] * pow(10, power);
            size_t c = 0;
            if (step <= 2 * least) return 0;
            for (; c < g->n; c++) {
                const double x = g->value[c];
                if (isfinite(x) && !(fabs(x - rint(x / step) * step) <=
                                     fmin(wte__tolerance(g, &g->tolerance, c), step / 100)))
                    break;
            }
            if (c == g->n) return step;
        }
    return 0;
}

/* An unrelated number is taken to lie anywhere within one root mean square of the vector's numbers,
 * on the values that the table's type has; a change that moves numbers by less, anywhere within
 * what it moves them by, and on the steps of the vector's own numbers. Zeros say nothing: many
 * tables are full of them. */
double wte__evidence(const wte__observed *g, const wte__hypothesis_rule *rule, double factor)
{
    const bool narrows = rule && rule->change == WTE_LABEL_NARROWED;
    const bool measured = rule && wte__is_measured(rule);
    const bool divides = rule && rule->change == WTE_LABEL_NORMALISED;
    const wte__grid narrow = wte__grid_of(narrows ? rule->type : WTE_F64);
    double sum = 0, most = 0, rounded = 0;
    for (size_t c = 0; c < g->n; c++) {
        const double x = g->value[c], half = wte__spacing(&narrow, x) / 2;
        if (x == 0 || !isfinite(x)) continue;
        double room = fmax(wte__tolerance(g, &g->tolerance, c), wte__spacing(&g->stored, x) / 2);
        /* rounding itself makes steps; that it hits these by luck is counted apart */
        if (rule && !narrows) room = fmax(room, g->step / 2);
        double spread = g->root_mean_square;
        if (narrows) rounded += half < spread ? log10(half / spread) : 0;
        if (narrows) spread = fmin(spread, half);
        if (measured || divides) spread = fmin(spread, fabs(x - x / factor));
        const double chance = room < spread ? log10(room / spread) : 0;
        sum += chance;
        most = fmin(most, chance);
    }
    if (narrows) return fmax(sum, rounded);
    return measured ? sum - most : sum; /* one number was used up in measuring */
}

wte_status wte__observed_fill(wte__observed *g, const wte_observed *got, uint64_t i,
                              wte_dtype stored, double *value, wte_error *err)
{
    memset(g, 0, sizeof *g);
    g->n = (size_t)got->cols;
    g->dtype = got->dtype;
    g->raw = (const uint8_t *)got->data + i * got->cols * wte_dtype_bytes(got->dtype);
    g->half_unit = got->half_unit ? got->half_unit + i * got->cols : NULL;
    g->value = value;
    WTE_TRY(wte_convert(got->dtype, g->raw, WTE_F64, value, g->n, NULL, err));
    double square = 0;
    for (size_t c = 0; c < g->n; c++) {
        if (value[c] == 0) g->zeros++;
        if (isfinite(value[c]))
            square += value[c] * value[c];
        else
            g->nonfinite++;
    }
    g->norm = sqrt(square);
    g->n_probes = wte__probes(value, g->n, g->probe);
    const bool typed = g->half_unit != NULL;
    g->is_bf16 = typed ? stored == WTE_BF16 : all_of_type(g, WTE_BF16);
    g->is_f16 = typed ? stored == WTE_F16 : all_of_type(g, WTE_F16);
    const uint64_t finite = g->n - g->nonfinite;
    g->root_mean_square = finite ? g->norm / sqrt((double)finite) : 0;
    g->tolerance = wte__grid_of(wte__tolerance_type(stored, g->dtype));
    g->stored = wte__grid_of(stored);
    static const wte__hypothesis_rule known = { .change = WTE_LABEL_SCALED, .power = 1 };
    g->step = step_of(g);
    g->log_chance = wte__evidence(g, NULL, 1);
    g->log_changed = wte__evidence(g, &known, 1);
    return WTE_OK;
}
