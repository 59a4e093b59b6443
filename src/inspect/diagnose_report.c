/* What a diagnosis says, in words: the three steps, the verdict, and one thing to do about it. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose.h"

/* A text that is too long is cut: names in it may be of any length. */
__attribute__((format(printf, 3, 4))) static void say(char *buf, size_t cap, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, cap, fmt, ap);
    va_end(ap);
}

const char *wte_label_name(wte_label label)
{
    switch (label) {
#define X(name, value, text)                                                                       \
    case WTE_LABEL_##name: return text;
        WTE_LABEL_LIST(X)
#undef X
    case WTE_LABEL_FORCE_INT: break;
    }
    return "unknown";
}

/* A vector that is so near a row, in parts of its length, hardly comes from elsewhere. */
#define NEARLY 0.05

/* What to do, by label. */
static const char *advice_for(const wte_diagnosis *d)
{
    const wte_hypothesis *g = &d->best;
    switch (g->label) {
    case WTE_LABEL_MATCH: return "nothing: id, row and vector agree";
    case WTE_LABEL_OTHER_ROW:
        if (d->first_difference == WTE_STEP_ID)
            return "send the id through the model's mapping first";
        if (g->offset == -1)
            return "rows count from zero, and this one was counted from one (or a token was removed "
                   "before it): use the id as it is";
        if (g->offset == 1)
            return "one was added to the id (or a token was inserted before it): use the id as it "
                   "is";
        return "print the id at the place where the row is taken: it is the other row's id there, "
               "or another tokenizer made it";
    case WTE_LABEL_HEAD_ROW:
        return "take the row from the input table: the output head is another tensor here";
    case WTE_LABEL_OTHER_TENSOR: return "take the row from the input table, by its name";
    case WTE_LABEL_COLUMN_NOT_ROW:
    case WTE_LABEL_TRANSPOSED_MEMORY:
        return "the table is rows x dim, one row a token: index the first axis, or transpose it";
    case WTE_LABEL_RESHAPED: return "transpose the table; a reshape moves no number";
    case WTE_LABEL_SCALED:
        if (g->power == 2) return "multiply once: two places apply the factor";
        if (g->power == -1) return "the model multiplies by this factor; here it was divided by";
        if (g->model_factor)
            return "the row is right, and the model's factor was applied: compare before it";
        return "the row is right; find where the factor is applied, and compare before it";
    case WTE_LABEL_NORMALISED: return "the row is right; compare before it is normalised";
    case WTE_LABEL_BYTE_SWAPPED:
        return "read the numbers in the file's byte order (little-endian unless it says otherwise)";
    case WTE_LABEL_NARROWED: return "the row is right; it was stored or computed in a smaller type";
    case WTE_LABEL_UNROUNDED:
        return "the row is right; the vector comes from a copy of the model that was not rounded";
    case WTE_LABEL_PLUS_ROW:
        return "the row is right; compare before the other table's row is added";
    case WTE_LABEL_ZEROS:
        return "an id that is ignored, padded or out of range is often answered with zeros: look "
               "for padding_idx and masks";
    case WTE_LABEL_NONFINITE:
        return "the vector was spoilt after the lookup, or read from memory that was never written";
    case WTE_LABEL_UNKNOWN:
        if (d->runner_up.n && d->runner_up.distance <= NEARLY)
            return "nearly that row: is it another version of the model, or were numbers rounded?";
        break;
    case WTE_LABEL_FORCE_INT: break;
    }
    return "is it this model, this table, and the vector before any layer has changed it?";
}

#define CHANGE_TEXT 120
/* "multiplied by sqrt(dim) = 45.25 (rounded to bf16)": what was done to the numbers; "" = nothing.
 */
static const char *change_text(const wte_hypothesis *g, char buf[CHANGE_TEXT])
{
    const double base = g->power == 2 ? sqrt(fabs(g->factor)) : g->factor;
    const char *rounding =
        g->dtype == WTE_F64 || g->dtype == WTE_DTYPE_NONE ? "" : wte_dtype_name(g->dtype);
    const char *of = g->model_factor ? "the model's factor" : "sqrt(dim)";
    char rounded[32] = "";
    if (rounding[0]) say(rounded, sizeof rounded, ", rounded to %s", rounding);
    buf[0] = '\0';
    switch (g->change) {
    case WTE_LABEL_SCALED:
        if (g->power == 0)
            say(buf, CHANGE_TEXT, "multiplied by %.6g, which is no factor known here", base);
        else if (g->power == -1)
            say(buf, CHANGE_TEXT, "divided by %s = %.6g%s", of, 1 / base, rounded);
        else
            say(buf, CHANGE_TEXT, "multiplied %s by %s = %.6g%s", g->power == 2 ? "twice" : "once",
                of, base, rounded);
        break;
    case WTE_LABEL_NORMALISED: say(buf, CHANGE_TEXT, "divided by its own norm"); break;
    case WTE_LABEL_BYTE_SWAPPED:
        say(buf, CHANGE_TEXT, "with the bytes of each %s reversed", wte_dtype_name(g->dtype));
        break;
    case WTE_LABEL_NARROWED:
        say(buf, CHANGE_TEXT, "rounded to %s", wte_dtype_name(g->dtype));
        break;
    case WTE_LABEL_UNROUNDED:
        say(buf, CHANGE_TEXT, "before it was rounded to %s", wte_dtype_name(g->dtype));
        break;
    default: break;
    }
    return buf;
}

const char *wte_hypothesis_text(const wte_hypothesis *g, char *buf, size_t cap)
{
    char name[WTE__NAME_SHOWN], plus[WTE__NAME_SHOWN], change[CHANGE_TEXT];
    if (!buf) return "";
    const wte_hypothesis none = { .n = 0 };
    if (!g) g = &none;
    wte__show(name, g->tensor ? g->tensor : "", g->tensor ? strlen(g->tensor) : 0);
    change_text(g, change);
    const char *gap = change[0] ? ", " : "";
    if (g->n == 0 || g->row == WTE_NO_INDEX)
        say(buf, cap, "nothing known here");
    else if (g->label == WTE_LABEL_COLUMN_NOT_ROW)
        say(buf, cap, "column %" PRIu64 " of %s", g->row, name);
    else if (g->label == WTE_LABEL_TRANSPOSED_MEMORY)
        say(buf, cap, "row %" PRIu64 " of the transposed memory of %s", g->row, name);
    else if (g->label == WTE_LABEL_RESHAPED)
        say(buf, cap, "row %" PRIu64 " of %s reshaped to dim x rows, which does not transpose",
            g->row, name);
    else if (g->label == WTE_LABEL_PLUS_ROW)
        say(buf, cap, "row %" PRIu64 " of %s plus row %" PRIu64 " of %s", g->row, name, g->plus_row,
            wte__show(plus, g->plus ? g->plus : "", g->plus ? strlen(g->plus) : 0));
    else
        say(buf, cap, "row %" PRIu64 " of %s%s%s", g->row, name, gap, change);
    return buf;
}

static const char *rows_text(int64_t offset, char buf[48])
{
    const uint64_t by = offset < 0 ? (uint64_t)-offset : (uint64_t)offset;
    say(buf, 48, "%" PRIu64 " row%s %s", by, by == 1 ? "" : "s", offset < 0 ? "before" : "after");
    return buf;
}

static void verdict_text(wte_diagnosis *d, const char *table)
{
    const wte_hypothesis *g = &d->best;
    char thing[280], by[48];
    const size_t cap = sizeof d->verdict;
    wte_hypothesis_text(g, thing, sizeof thing);
    switch (g->label) {
    case WTE_LABEL_MATCH:
        say(d->verdict, cap, "match: that is row %" PRIu64 " of %s", d->row, table);
        return;
    case WTE_LABEL_UNKNOWN:
        say(d->verdict, cap, "unknown: that is no row known here, changed in no way known");
        return;
    case WTE_LABEL_ZEROS:
        say(d->verdict, cap, "all zeros, and row %" PRIu64 " of %s is not", d->row, table);
        return;
    case WTE_LABEL_NONFINITE:
        say(d->verdict, cap, "it holds NaN or infinity, and is no row known here");
        return;
    case WTE_LABEL_OTHER_ROW:
        say(d->verdict, cap, "that is %s: %s row %" PRIu64, thing, rows_text(g->offset, by),
            d->row);
        return;
    default: say(d->verdict, cap, "that is %s", thing); return;
    }
}

static void row_text(wte_diagnosis *d, uint64_t rows)
{
    const wte_hypothesis *g = &d->best;
    char asked[32], got[32], thing[100];
    const size_t cap = sizeof d->row_text;
    wte_ordinal(d->row + 1, asked, sizeof asked);
    d->row_ok = d->first_difference == WTE_STEP_NONE || d->first_difference == WTE_STEP_VECTOR;
    if (d->row_ok) {
        say(d->row_text, cap, "%" PRIu64 ", the %s of %" PRIu64 " row%s", d->row, asked, rows,
            rows == 1 ? "" : "s");
        return;
    }
    if (g->label == WTE_LABEL_OTHER_ROW) {
        say(d->row_text, cap,
            "%" PRIu64 " (the %s of %" PRIu64 ") was asked for; that is %" PRIu64 " (the %s)",
            d->row, asked, rows, g->row, wte_ordinal(g->row + 1, got, sizeof got));
        return;
    }
    wte_hypothesis plain = *g; /* what was done to its numbers is the vector's matter */
    plain.change = WTE_LABEL_UNKNOWN;
    wte_hypothesis_text(&plain, thing, sizeof thing);
    say(d->row_text, cap, "%" PRIu64 " was asked for; that is %s", d->row, thing);
}

static void vector_text(wte_diagnosis *d, const wte__observed *given)
{
    const wte_hypothesis *g = &d->best;
    const size_t cap = sizeof d->vector_text;
    const bool plain = g->change == WTE_LABEL_UNKNOWN && g->n_matching == g->n;
    d->vector_ok = plain;
    const char *how = g->bit_for_bit     ? "bit for bit"
                      : given->half_unit ? "to the last digit typed"
                                         : "within 1 ulp";
    char change[CHANGE_TEXT], near[280];
    if (plain)
        say(d->vector_text, cap, "all %" PRIu64 " number%s equal that row's, %s", g->n,
            g->n == 1 ? "" : "s", how);
    else if (g->label == WTE_LABEL_PLUS_ROW)
        say(d->vector_text, cap, "row %" PRIu64 " of another tensor was added, %s", g->plus_row,
            how);
    else if (g->change == WTE_LABEL_UNROUNDED)
        say(d->vector_text, cap, "its numbers give that row's when they are rounded to %s",
            wte_dtype_name(g->dtype));
    else if (g->change != WTE_LABEL_UNKNOWN)
        say(d->vector_text, cap, "%s, %s", change_text(g, change), how);
    else if (g->label == WTE_LABEL_ZEROS)
        say(d->vector_text, cap, "all %" PRIu64 " number%s are zero", g->n, g->n == 1 ? "" : "s");
    else if (g->label == WTE_LABEL_NONFINITE)
        say(d->vector_text, cap, "%" PRIu64 " of %" PRIu64 " numbers are NaN or infinite",
            given->nonfinite, g->n);
    else if (d->runner_up.n && d->runner_up.distance < 10)
        say(d->vector_text, cap, "nothing fits; the nearest, %.3g%% away, is %s",
            100 * d->runner_up.distance, wte_hypothesis_text(&d->runner_up, near, sizeof near));
    else
        say(d->vector_text, cap, "nothing fits");
}

void wte__diagnose_report(wte_diagnosis *d, const wte__observed *g, uint64_t rows, bool mapped,
                          const char *table)
{
    char name[WTE__NAME_SHOWN];
    wte__show(name, table, strlen(table));
    d->id_ok = d->first_difference != WTE_STEP_ID;
    if (!mapped)
        say(d->id_text, sizeof d->id_text, "%" PRIu64 ", one of 0..%" PRIu64, d->id, rows - 1);
    else
        say(d->id_text, sizeof d->id_text, "%" PRIu64 ", which the model maps to row %" PRIu64,
            d->id, d->row);
    row_text(d, rows);
    vector_text(d, g);
    verdict_text(d, name);
    say(d->advice, sizeof d->advice, "%s", advice_for(d));
}

/* Many ----------------------------------------------------------------------------------------- */

/* How many are another row, unchanged, by this offset. */
static uint64_t with_offset(const wte_diagnosis *d, uint64_t n, int64_t offset)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++)
        if (d[i].best.label == WTE_LABEL_OTHER_ROW && d[i].best.offset == offset) count++;
    return count;
}

/* The commonest offset by majority vote; when none has the majority, the first one's. */
static void find_offset(const wte_diagnosis *d, uint64_t n, wte_diagnosis_summary *out)
{
    uint64_t votes = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (d[i].best.label != WTE_LABEL_OTHER_ROW) continue;
        if (votes == 0) out->offset = d[i].best.offset;
        votes = d[i].best.offset == out->offset ? votes + 1 : votes - 1;
    }
    out->n_offset = with_offset(d, n, out->offset);
    out->off_by = out->n_offset >= 2 && out->n_offset == out->label[WTE_LABEL_OTHER_ROW];
}

void wte_diagnosis_summarize(const wte_diagnosis *d, uint64_t n, wte_diagnosis_summary *out)
{
    if (!out) return;
    memset(out, 0, sizeof *out);
    if (!d || n > PTRDIFF_MAX / sizeof *d) n = 0; /* no array is so long */
    out->n = n;
    out->first_bad = WTE_NO_INDEX;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t label = (uint32_t)d[i].best.label;
        if (label < WTE_LABELS) out->label[label]++;
        if (label != WTE_LABEL_MATCH && out->first_bad == WTE_NO_INDEX) out->first_bad = i;
    }
    if (out->label[WTE_LABEL_OTHER_ROW]) find_offset(d, n, out);
    const uint64_t match = out->label[WTE_LABEL_MATCH];
    char by[48];
    if (match == n || !d)
        say(out->text, sizeof out->text, "all %" PRIu64 " vectors match", n);
    else if (out->off_by)
        say(out->text, sizeof out->text,
            "the ids are off by %" PRId64 ": %" PRIu64 " of %" PRIu64
            " vectors are the row %s the one asked for%s",
            out->offset, out->n_offset, n, rows_text(out->offset, by),
            out->offset == -1 ? " (rows counted from one?)" : "");
    else
        say(out->text, sizeof out->text,
            "%" PRIu64 " of %" PRIu64 " vectors match; number %" PRIu64 " (id %" PRIu64
            ") is the first that does not: %s",
            match, n, out->first_bad, d[out->first_bad].id,
            wte_label_name(d[out->first_bad].best.label));
}
