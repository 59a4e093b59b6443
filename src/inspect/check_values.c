/* What the first pass shows by itself: numbers that are none, numbers too large for f16, tables and
 * rows of one value, norms that a fresh layer has, the padding row. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"

static void fill_states(wte__checking *k, double median)
{
    const wte__check_scan *s = &k->table;
    wte_check_facts *f = k->facts;
    const bool few = k->stored.cols < WTE__NEAR_ZERO_DIM;
    const double small = median * (few ? WTE__NEAR_ZERO_FEW : WTE__NEAR_ZERO);
    uint64_t zero = 0, constant = 0, nonfinite = 0;
    for (uint64_t row = 0; row < s->rows; row++) {
        const uint8_t flags = s->flags[row];
        wte__state state = WTE__TRAINED;
        if (flags & WTE__ROW_NONFINITE)
            state = WTE__NONFINITE;
        else if (flags & WTE__ROW_ZERO)
            state = WTE__ZERO;
        else if ((double)s->norm[row] < small)
            state = WTE__SMALL;
        else if (flags & WTE__ROW_CONSTANT)
            state = WTE__CONSTANT;
        k->state[row] = (uint8_t)state;
        zero += state == WTE__ZERO;
        constant += (flags & WTE__ROW_CONSTANT) != 0;
        nonfinite += state == WTE__NONFINITE;
    }
    f->n_zero = zero;
    f->n_constant = constant;
    f->n_nonfinite = nonfinite;
    f->n_nan = s->nan;
    f->n_inf = s->inf;
    f->beyond_f16 = s->beyond_f16;
    f->norm_min = wte__check_scan_quantile(s, 0);
    f->norm_median = median;
    f->norm_max = wte__check_scan_quantile(s, 1);
}

/* Whether every number of the table has one magnitude. */
static bool is_one_number(const wte__check_scan *s)
{
    for (uint64_t row = 0; row < s->rows; row++) {
        if (!(s->flags[row] & (WTE__ROW_ZERO | WTE__ROW_CONSTANT))) return false;
        if (s->norm[row] != s->norm[0] || s->flags[row] != s->flags[0]) return false;
        /* -0 and 0 differ in their bytes only */
        if (s->mark[row] != s->mark[0] && !(s->flags[row] & WTE__ROW_ZERO)) return false;
    }
    return true;
}

/* Whether all rows have the same bytes: those of equal marks are read and compared. */
static wte_status are_rows_equal(const wte__checking *k, bool *equal)
{
    const wte__check_scan *s = &k->table;
    const size_t bytes = (size_t)k->stored.cols * wte_dtype_bytes(k->stored.dtype);
    wte_status status = WTE_OK;
    *equal = s->rows > 1 && !(s->flags[0] & WTE__ROW_NONFINITE); /* which is told by itself */
    for (uint64_t row = 1; *equal && row < s->rows; row++) *equal = s->mark[row] == s->mark[0];
    if (!*equal) return WTE_OK;
    char *first = wte__alloc_array(k->opt.allocator, 2, bytes);
    if (!first) return wte__no_memory(k->err, 2 * bytes, "two rows");
    for (uint64_t row = 0; status == WTE_OK && *equal && row < s->rows; row++) {
        status = wte_row_source_read(&k->stored, row, row ? first + bytes : first, k->err);
        *equal = status == WTE_OK && (row == 0 || memcmp(first, first + bytes, bytes) == 0);
    }
    wte__free(k->opt.allocator, first, 2 * bytes);
    return status;
}

static wte_status check_constant(wte__checking *k, const char *name)
{
    const wte__check_scan *s = &k->table;
    bool equal = false;
    if (s->rows * k->stored.cols < 2) return WTE_OK;
    k->one_value = is_one_number(s);
    if (!k->one_value) WTE_TRY(are_rows_equal(k, &equal));
    const double value = (double)s->norm[0] / sqrt((double)k->stored.cols);
    if (k->one_value)
        return wte__check_add(k, WTE__CODE_TABLE_CONSTANT, name, NULL, wte__repair_fetch(k),
                              "all %" PRIu64 " x %" PRIu64 " numbers are %s%.6g; ln(rows) = %.4f",
                              s->rows, k->stored.cols, value == 0 ? "" : "of magnitude ", value,
                              log((double)s->rows));
    k->one_value = equal;
    if (!equal) return WTE_OK;
    return wte__check_add(k, WTE__CODE_TABLE_CONSTANT, name, NULL, wte__repair_fetch(k),
                          "all %" PRIu64 " rows have the same bytes; ln(rows) = %.4f", s->rows,
                          log((double)s->rows));
}

/* Rows that hold such numbers, and the first of them: "2 with NaN (32 numbers; rows 5, 7)". */
static void put_rows(const wte__check_scan *s, uint8_t flag, uint64_t numbers, const char *what,
                     char *text, size_t cap)
{
    wte__seen seen = { 0 };
    for (uint64_t row = 0; row < s->rows; row++)
        if (s->flags[row] & flag) wte__seen_add(&seen, row);
    if (!seen.count) return;
    const size_t shown = seen.count < 3 ? (size_t)seen.count : 3;
    size_t used =
        (size_t)snprintf(text, cap, "%" PRIu64 " with %s (%" PRIu64 " number%s; row%s", seen.count,
                         what, numbers, numbers == 1 ? "" : "s", seen.count == 1 ? "" : "s");
    for (size_t i = 0; i < shown; i++)
        used += (size_t)snprintf(text + used, cap - used, "%s %" PRIu64, i ? "," : "", seen.id[i]);
    snprintf(text + used, cap - used, "%s)", seen.count > shown ? ", ..." : "");
}

static wte_status check_nonfinite(wte__checking *k, const char *name)
{
    const wte__check_scan *s = &k->table;
    wte__seen seen = { .lie = k->lie };
    char nan[160] = "", inf[160] = "";
    for (uint64_t row = 0; row < s->rows; row++)
        if (s->flags[row] & WTE__ROW_NONFINITE) wte__seen_add(&seen, row);
    if (!seen.count) return WTE_OK;
    put_rows(s, WTE__ROW_NAN, s->nan, "NaN", nan, sizeof nan);
    put_rows(s, WTE__ROW_INF, s->inf, "infinities", inf, sizeof inf);
    return wte__check_add(
        k, WTE__CODE_ROWS_NONFINITE, name, &seen,
        seen.count == s->rows /* no row is left to take a mean of */
            ? wte__repair_fetch(k)
            : wte__repair_table(k, "g = w.isfinite().all(1); w[~g] = w[g].mean(0)"),
        "%" PRIu64 " of %" PRIu64 " rows not finite: %s%s%s", seen.count, s->rows, nan,
        nan[0] && inf[0] ? ", " : "", inf);
}

static wte_status check_narrow(wte__checking *k, const char *name)
{
    const wte__check_scan *s = &k->table;
    if (!s->beyond_f16) return WTE_OK;
    wte__seen seen = { .lie = k->lie };
    if (s->beyond_rows) wte__seen_add(&seen, s->most_beyond);
    return wte__check_add(k, WTE__CODE_NARROW_F16, name, s->beyond_rows == 1 ? &seen : NULL,
                          wte__repair_config(k, "torch_dtype", "\"bfloat16\""),
                          "%" PRIu64 " number%s of %" PRIu64 " row%s beyond 65504, the first in "
                          "row %" PRIu64,
                          s->beyond_f16, s->beyond_f16 == 1 ? "" : "s", s->beyond_rows,
                          s->beyond_rows == 1 ? s->beyond_f16 == 1 ? " is" : " are" : "s are",
                          s->most_beyond);
}

/* Initial values ------------------------------------------------------------------------------- */

/* Standard deviations with which tables are initialised: most models, and torch.nn.Embedding. */
static const double initial_std[] = { 0.02, 1.0 };
#define N_INITIAL (sizeof initial_std / sizeof *initial_std)

/* A row drawn from N(0, s) has a norm of s sqrt(dim), give or take one part in sqrt(2 dim). */
static double spread_of(const wte__checking *k)
{
    return 1 / sqrt(2 * (double)k->stored.cols);
}

static wte_status check_initial_table(wte__checking *k, const char *name, bool *fresh)
{
    const wte_check_facts *f = k->facts;
    const double expected = spread_of(k), median = f->norm_median;
    if (k->table.rows / 2 < WTE__MIN_ROWS || k->stored.cols < WTE__MIN_DIM || median == 0)
        return WTE_OK;
    const double low = wte__check_scan_quantile(&k->table, 0.1587);
    const double high = wte__check_scan_quantile(&k->table, 0.8413);
    const double spread = (high - low) / 2 / median;
    for (size_t i = 0; i < N_INITIAL; i++) {
        const double norm = initial_std[i] * sqrt((double)k->stored.cols);
        if (fabs(median / norm - 1) > 0.02) continue;
        if (spread > 1.4 * expected || spread < 0.6 * expected) continue;
        *fresh = true;
        return wte__check_add(k, WTE__CODE_TABLE_INITIAL, name, NULL, wte__repair_fetch(k),
                              "the norms are %.4g, give or take %.2g%%: N(0, %.4g) gives %.4g, "
                              "give or take %.2g%%",
                              median, 100 * spread, initial_std[i], norm, 100 * expected);
    }
    return WTE_OK;
}

/* Rows with a token whose norm lies in [from, to). */
static uint64_t count_between(const wte__checking *k, double from, double to, wte__seen *seen)
{
    uint64_t n = 0;
    for (uint64_t row = 0; row < k->table.rows; row++) {
        const double norm = (double)k->table.norm[row];
        if (k->state[row] != WTE__TRAINED || norm < from || norm >= to) continue;
        if (!wte__check_has_token(k, row)) continue;
        n++;
        if (seen) wte__seen_add(seen, row);
    }
    return n;
}

/* A heap of rows at a fresh row's norm, well apart from the table's own and higher than on either
 * side: a tail of the table's own distribution has no such heap. */
static wte_status check_initial_rows(wte__checking *k, const char *name)
{
    const double median = k->facts->norm_median, width = 4 * spread_of(k);
    if (k->table.rows < WTE__MIN_ROWS || k->stored.cols < WTE__MIN_DIM || width > 0.3)
        return WTE_OK;
    for (size_t i = 0; i < N_INITIAL; i++) {
        const double norm = initial_std[i] * sqrt((double)k->stored.cols);
        wte__seen seen = { .lie = k->lie };
        if (fabs(median / norm - 1) < 3 * width) continue;
        const uint64_t below = count_between(k, norm * (1 - 3 * width), norm * (1 - width), NULL);
        const uint64_t above = count_between(k, norm * (1 + width), norm * (1 + 3 * width), NULL);
        const uint64_t in = count_between(k, norm * (1 - width), norm * (1 + width), &seen);
        if (in < 5 || in < 3 * below || in < 3 * above) continue;
        WTE_TRY(wte__check_add(k, WTE__CODE_ROWS_INITIAL, name, &seen, "",
                               "%" PRIu64 " rows have the norm that N(0, %.4g) gives, %.4g give or "
                               "take %.2g%%, while the table's median is %.4g",
                               in, initial_std[i], norm, 100 * spread_of(k), median));
    }
    return WTE_OK;
}

static wte_status check_pad(wte__checking *k, const char *name)
{
    const uint64_t pad = k->pad;
    if (pad >= k->table.rows) return WTE_OK;
    const wte__seen seen = { .count = 1, .id = { pad } };
    const double norm = (double)k->table.norm[pad], median = k->facts->norm_median;
    if (k->state[pad] == WTE__NONFINITE) return WTE_OK;
    if (k->state[pad] == WTE__ZERO)
        return wte__check_add(k, WTE__CODE_PAD_ROW, name, &seen, "",
                              "the padding row %" PRIu64 " is zero", pad);
    return wte__check_add(k, WTE__CODE_PAD_ROW, name, &seen, "",
                          "the padding row %" PRIu64 " is not zero: its norm is %.4g, %.2g of the "
                          "median",
                          pad, norm, median > 0 ? norm / median : 0);
}

wte_status wte__check_numbers(wte__checking *k)
{
    const char *name = wte__check_table_name(k);
    bool fresh = false;
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    fill_states(k, wte__check_scan_median(&k->table));
    WTE_TRY(check_nonfinite(k, name));
    WTE_TRY(check_narrow(k, name));
    WTE_TRY(check_constant(k, name));
    if (k->one_value) return WTE_OK;
    WTE_TRY(check_pad(k, name));
    WTE_TRY(check_initial_table(k, name, &fresh));
    return fresh ? WTE_OK : check_initial_rows(k, name);
}
