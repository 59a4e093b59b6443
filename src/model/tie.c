/* The verdict on input table and output head: what is stored decides first, then bytes, then
 * numbers, and the flag last. docs/tied.md states the rules. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "model/model.h"
#include "model/name_rules.h"

static const char *const names[] = {
    [WTE_TIE_SAME_STORAGE] = "same storage", [WTE_TIE_EQUAL_BYTES] = "equal bytes",
    [WTE_TIE_EQUAL_VALUES] = "equal values", [WTE_TIE_INDEPENDENT] = "independent",
    [WTE_TIE_HEADLESS] = "headless",         [WTE_TIE_BROKEN] = "broken export",
    [WTE_TIE_IMPOSSIBLE] = "impossible",
};

const char *wte_tie_name(wte_tie_verdict v)
{
    return v >= WTE_TIE_SAME_STORAGE && v <= WTE_TIE_IMPOSSIBLE ? names[v] : "unknown";
}

__attribute__((format(printf, 2, 3))) static void say(wte_tie *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->why, sizeof t->why, fmt, ap);
    va_end(ap);
}

/* rows x dim, which the table's own size in memory has shown to fit; saturates all the same. */
static uint64_t product(uint64_t rows, uint64_t dim)
{
    uint64_t n;
    return wte__mul_u64(rows, dim, &n) ? n : UINT64_MAX;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    uint64_t n;
    return wte__add_u64(a, b, &n) ? n : UINT64_MAX;
}

const char *wte__tie_alias(const wte_model *m, const char *kept, wte_role role)
{
    const char *name, *value;
    for (uint64_t i = 0; m->file && (name = wte_file_metadata(m->file, i, &value)); i++) {
        if (strcmp(value, kept) != 0) continue;
        const wte__name judged = wte__name_judge(name, strlen(name));
        if (judged.rule && wte__role_of(judged.rule->kind) == role && !judged.outside) return name;
    }
    return NULL;
}

/* The metadata say that one tensor has both roles. */
static void judge_alias(const wte_model *m, const char *kept, const char *dropped, wte_tie *t)
{
    const wte_model_config *said = &m->config.said;
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    t->verdict = WTE_TIE_SAME_STORAGE;
    t->params_untied = sum(t->params_tied, t->params_tied);
    t->flag_agrees = said->tied || !said->tie_decided;
    say(t, "'%s' is stored for both roles: the file's metadata say that '%s' is the same tensor%s",
        wte__show(a, kept, strlen(kept)), wte__show(b, dropped, strlen(dropped)),
        t->flag_agrees ? "" : "; the flag says they are apart");
}

/* No head is stored: the class, the files beside the weights and the flag tell which of three it
 * is. */
static void judge_without_head(const wte_model *m, wte_tie *t)
{
    const wte__config *c = &m->config;
    char shown[WTE__NAME_SHOWN];
    const char *name = wte__show(shown, m->input.name, strlen(m->input.name));
    bool expected = c->head_class == WTE__HEAD_EXPECTED;
    t->flag_agrees = true;
    t->params_tied = t->params_untied = product(t->input_rows, t->input_dim);
    const char *alias = wte__tie_alias(m, m->input.name, WTE_ROLE_HEAD);
    if (alias) {
        judge_alias(m, m->input.name, alias, t);
        return;
    }
    if (expected && c->said.tied) {
        t->verdict = WTE_TIE_SAME_STORAGE;
        t->params_untied = sum(t->params_tied, t->params_tied);
        say(t, "'%s' is the only table stored and serves both roles: %s", name, c->said.tie_rule);
        return;
    }
    if (!expected || m->sentence_model) {
        t->verdict = WTE_TIE_HEADLESS;
        say(t, "no head is stored and none is expected: %s",
            expected ? "the files of a sentence embedding model lie beside it" : c->head_why);
        return;
    }
    t->verdict = WTE_TIE_BROKEN;
    t->params_untied = sum(t->params_tied, t->params_tied);
    say(t, "no head is stored, but %s and %s: the head was lost, or the flag is wrong", c->head_why,
        c->said.tie_rule);
}

/* One tensor in both roles: by design, or because only the head is stored. */
static void judge_one_tensor(const wte_model *m, wte_tie *t)
{
    const wte_model_config *said = &m->config.said;
    char shown[WTE__NAME_SHOWN];
    const char *name = wte__show(shown, m->head.name, strlen(m->head.name));
    bool untied = said->tie_decided && !said->tied;
    t->params_tied = product(t->input_rows, t->input_dim);
    t->params_untied = sum(t->params_tied, t->params_tied);
    t->flag_agrees = !untied;
    const char *alias =
        m->head_serves_input ? wte__tie_alias(m, m->head.name, WTE_ROLE_INPUT) : NULL;
    if (alias) {
        judge_alias(m, m->head.name, alias, t);
        return;
    }
    if (m->head_serves_input && untied) {
        t->verdict = WTE_TIE_BROKEN;
        say(t,
            "only the head '%s' is stored, but %s: the input table was lost, or the flag is "
            "wrong",
            name, said->tie_rule);
        return;
    }
    t->verdict = WTE_TIE_SAME_STORAGE;
    say(t, "one tensor, '%s', serves both roles%s", name,
        m->head_serves_input ? ": only the head is stored"
        : m->named           ? ", as the caller named it"
                             : "");
}

/* Both roles read the same elements of one storage, under two names. */
static bool same_elements(const wte_model *m)
{
    wte_tensor a, b;
    if (m->input.scheme || m->head.scheme) return false; /* made of several tensors */
    if (m->input.mapped || wte_file_tensor(m->file, m->input.tensor, &a, NULL) != WTE_OK ||
        wte_file_tensor(m->file, m->head.tensor, &b, NULL) != WTE_OK)
        return false;
    if (a.storage == WTE_NO_INDEX || a.storage != b.storage || a.shard != b.shard ||
        a.offset != b.offset || a.dtype != b.dtype)
        return false;
    const wte__steps x = wte__steps_of(&a, m->input.transposed);
    const wte__steps y = wte__steps_of(&b, m->head.transposed);
    return m->input.rows == m->head.rows && m->input.dim == m->head.dim && x.row == y.row &&
           x.col == y.col;
}

static void judge_one_storage(const wte_model *m, wte_tie *t)
{
    const wte_model_config *said = &m->config.said;
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    t->verdict = WTE_TIE_SAME_STORAGE;
    t->flag_agrees = said->tied || !said->tie_decided;
    say(t, "'%s' and '%s' are two names of one storage, whose bytes are stored once%s",
        wte__show(a, m->input.name, strlen(m->input.name)),
        wte__show(b, m->head.name, strlen(m->head.name)),
        t->flag_agrees ? "" : "; the flag says they are apart");
}

/* Two tables of an encoder-decoder model, of which the decoder's serves the head: the flag speaks
 * of that tie, so nothing in it is against two tables that differ. */
static bool flag_lies(const wte_model *m)
{
    const wte_model_config *said = &m->config.said;
    return said->tied && said->tie_decided && !m->decoder_serves_head;
}

/* Both stored, of different shapes. False when the rows they share are to be compared. */
static bool judge_shapes(const wte_model *m, wte_tie *t)
{
    if (t->input_rows == t->head_rows && t->input_dim == t->head_dim) return false;
    if (flag_lies(m)) {
        t->verdict = WTE_TIE_IMPOSSIBLE;
        t->flag_agrees = false;
        say(t,
            "%s, but the input table is %" PRIu64 " x %" PRIu64 " and the head %" PRIu64
            " x %" PRIu64 ": they cannot be one",
            m->config.said.tie_rule, t->input_rows, t->input_dim, t->head_rows, t->head_dim);
        return true;
    }
    if (t->input_dim == t->head_dim) return false;
    t->verdict = WTE_TIE_INDEPENDENT;
    t->flag_agrees = true;
    t->rows_different = t->input_rows < t->head_rows ? t->input_rows : t->head_rows;
    t->first_different = t->rows_different ? 0 : WTE_NO_INDEX;
    t->max_difference = (double)NAN;
    say(t, "rows of %" PRIu64 " and of %" PRIu64 " elements: nothing to compare", t->input_dim,
        t->head_dim);
    return true;
}

/* A draft head: its row r is of another token than row r of the table. */
static bool judge_draft(const wte_model *m, wte_tie *t)
{
    const wte_model_output *o = &m->output;
    if (!*o->map_name || t->input_rows == t->head_rows) return false;
    t->verdict = WTE_TIE_INDEPENDENT;
    t->flag_agrees = true;
    t->rows_different = t->head_rows;
    t->first_different = 0;
    t->max_difference = (double)NAN;
    say(t,
        "a draft head of %" PRIu64 " rows: which tokens these are, '%s' says, and they are not "
        "compared row by row",
        t->head_rows, o->map_name);
    return true;
}

/* Two types of which one has no values here: neither bytes nor numbers can be compared, and what
 * was not compared is not called equal. False when they can be. */
static bool judge_types(const wte_model *m, wte_tie *t, uint64_t shared)
{
    const wte_dtype a = m->input.dtype, b = m->head.dtype;
    if (a == b || (wte_dtype_converts(a) && wte_dtype_converts(b))) return false;
    t->verdict = WTE_TIE_INDEPENDENT;
    t->flag_agrees = !flag_lies(m);
    t->rows_different = shared;
    t->first_different = shared ? 0 : WTE_NO_INDEX;
    t->max_difference = (double)NAN;
    say(t, "elements of type %s and of type %s: two tensors whose values are not compared here%s",
        wte_dtype_name(a), wte_dtype_name(b),
        t->flag_agrees ? "" : "; the flag says tied, and lies");
    return true;
}

/* Whether bytes of equal values lie in the file in the same order. */
static bool same_layout(const wte_model *m)
{
    wte_tensor a, b;
    if (wte_file_tensor(m->file, m->input.tensor, &a, NULL) != WTE_OK ||
        wte_file_tensor(m->file, m->head.tensor, &b, NULL) != WTE_OK)
        return false;
    const wte__steps x = wte__steps_of(&a, m->input.transposed);
    const wte__steps y = wte__steps_of(&b, m->head.transposed);
    return a.dtype == b.dtype && a.block == b.block && x.row == y.row && x.col == y.col &&
           a.big_endian == b.big_endian && !m->input.mapped;
}

/* Whether two quantised tables are made of the same bytes: of as many tensors, of one type, shape
 * and content each. */
static wte_status same_parts(const wte_model *m, const wte_tie_options *opt, bool *equal,
                             wte_error *err)
{
    const wte__quant *q = &m->quant[0], *r = &m->quant[1];
    wte_tensor a, b;
    *equal = strcmp(q->scheme, r->scheme) == 0 && q->n_parts == r->n_parts;
    for (uint32_t i = 0; i < q->n_parts && *equal; i++) {
        WTE_TRY(wte_file_tensor(m->file, q->part[i], &a, err));
        WTE_TRY(wte_file_tensor(m->file, r->part[i], &b, err));
        *equal = a.dtype == b.dtype && a.rank == b.rank && a.bytes == b.bytes &&
                 memcmp(a.shape, b.shape, a.rank * sizeof *a.shape) == 0;
        if (*equal) WTE_TRY(wte__tensors_compare(m->file, q->part[i], r->part[i], opt, equal, err));
    }
    return WTE_OK;
}

/* Values are equal. Equal bytes follow from that only where no two codes mean one value: blocks of
 * one type can hold the same values in different bytes, and are read once more. */
static wte_status judge_bytes(const wte_model *m, const wte_tie_options *opt, bool *equal,
                              wte_error *err)
{
    if (m->input.scheme && m->head.scheme) return same_parts(m, opt, equal, err);
    *equal = !m->input.scheme && !m->head.scheme && same_layout(m);
    if (!*equal || !m->input.block) return WTE_OK;
    return wte__tensors_compare(m->file, m->input.tensor, m->head.tensor, opt, equal, err);
}

static const char *stored_as(const wte_model_table *t)
{
    return t->scheme ? t->scheme : wte_type_name(t->dtype, t->block);
}

static void judge_equal(const wte_model *m, bool bytes, wte_tie *t)
{
    const wte_model_config *said = &m->config.said;
    wte_tensor head;
    if (wte_file_tensor(m->file, m->head.tensor, &head, NULL) == WTE_OK)
        t->wasted_bytes = m->head.scheme ? m->quant[1].stored_bytes : head.bytes;
    t->verdict = bytes ? WTE_TIE_EQUAL_BYTES : WTE_TIE_EQUAL_VALUES;
    t->flag_agrees = said->tied || !said->tie_decided;
    const char *one = stored_as(&m->input), *other = stored_as(&m->head);
    const bool same = strcmp(one, other) == 0;
    const char *lies = t->flag_agrees ? "" : "; the flag says they are apart";
    if (bytes)
        say(t, "two copies of the same bytes: %" PRIu64 " are wasted%s", t->wasted_bytes, lies);
    else
        say(t, "the same values, stored as %s and as %s%s%s", one, other,
            !same                               ? ""
            : m->input.block || m->input.scheme ? " in other bytes"
                                                : " in another order",
            lies);
}

static void judge_different(const wte_model *m, wte_tie *t, uint64_t shared)
{
    t->verdict = WTE_TIE_INDEPENDENT;
    t->flag_agrees = !flag_lies(m);
    char only[96] = "";
    if (t->input_rows != t->head_rows)
        snprintf(only, sizeof only, "; rows %" PRIu64 "..%" PRIu64 " are %s-only", shared,
                 (t->input_rows > shared ? t->input_rows : t->head_rows) - 1,
                 t->input_rows > shared ? "input" : "head");
    const char *lies = t->flag_agrees ? "" : "; the flag says tied, and lies";
    char largest[96] = "", nan[96] = "";
    if (t->max_difference > 0)
        snprintf(largest, sizeof largest,
                 ", the largest difference %.9g at [%" PRIu64 ", %" PRIu64 "]", t->max_difference,
                 t->max_row, t->max_col);
    if (t->n_nan)
        snprintf(nan, sizeof nan,
                 "; %" PRIu64 " element%s NaN in one table alone, the first at [%" PRIu64
                 ", %" PRIu64 "]",
                 t->n_nan, t->n_nan == 1 ? " is" : "s are", t->nan_row, t->nan_col);
    if (t->rows_different == 0)
        say(t, "two tables of different height; the %" PRIu64 " rows they share are equal%s",
            shared, only);
    else if (isnan(t->max_difference))
        say(t,
            "%" PRIu64 " of %" PRIu64 " rows differ in their bytes, the first is row %" PRIu64
            "; by how much is not told for %s and %s%s%s",
            t->rows_different, shared, t->first_different, wte_dtype_name(m->input.dtype),
            wte_dtype_name(m->head.dtype), only, lies);
    else
        say(t, "%" PRIu64 " of %" PRIu64 " rows differ, the first is row %" PRIu64 "%s%s%s%s",
            t->rows_different, shared, t->first_different, largest, nan, only, lies);
}

static wte_status judge(const wte_model *m, const wte_tie_options *opt, wte_tie *t, wte_error *err)
{
    if (m->no_head.status != WTE_OK) {
        if (err) *err = m->no_head;
        return (wte_status)m->no_head.status;
    }
    if (!m->has_head) {
        judge_without_head(m, t);
        return WTE_OK;
    }
    t->head_rows = m->head.rows;
    t->head_dim = m->head.dim;
    if (m->head.tensor == m->input.tensor) {
        judge_one_tensor(m, t);
        return WTE_OK;
    }
    t->params_tied = product(t->input_rows, t->input_dim);
    t->params_untied = sum(t->params_tied, product(t->head_rows, t->head_dim));
    if (same_elements(m)) {
        judge_one_storage(m, t);
        return WTE_OK;
    }
    if (judge_shapes(m, t)) return WTE_OK;
    if (judge_draft(m, t)) return WTE_OK;
    uint64_t shared = t->input_rows < t->head_rows ? t->input_rows : t->head_rows;
    if (judge_types(m, t, shared)) return WTE_OK;
    wte__difference d;
    WTE_TRY(wte__rows_compare(&m->input.source, &m->head.source, shared, opt, &d, err));
    t->rows_different = d.rows;
    t->first_different = d.first;
    t->max_difference = d.max;
    t->max_row = d.max_row;
    t->max_col = d.max_col;
    t->n_nan = d.n_nan;
    t->nan_row = d.nan_row;
    t->nan_col = d.nan_col;
    if (d.rows != 0 || t->input_rows != t->head_rows) {
        judge_different(m, t, shared);
        return WTE_OK;
    }
    bool bytes;
    WTE_TRY(judge_bytes(m, opt, &bytes, err));
    judge_equal(m, bytes, t);
    return WTE_OK;
}

wte_status wte_model_tie(const wte_model *m, const wte_tie_options *opt, wte_tie *out,
                         wte_error *err)
{
    wte_tie_options o = WTE_TIE_OPTIONS_INIT;
    const wte_model_table *input;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_model_tie: out", err));
    WTE_TRY(wte__need(m, "wte_model_tie: the model", err));
    WTE_TRY(wte__options(&o, sizeof o, opt, err));
    WTE_TRY(wte__need_functions(o.allocator, o.progress, err));
    WTE_TRY(wte_model_input(m, &input, err));
    out->input_rows = input->rows;
    out->input_dim = input->dim;
    out->first_different = WTE_NO_INDEX;
    const wte_status status = judge(m, &o, out, err);
    if (status != WTE_OK) {
        memset(out, 0, sizeof *out);
        return status;
    }
    out->tied = out->verdict == WTE_TIE_SAME_STORAGE || out->verdict == WTE_TIE_EQUAL_BYTES;
    wte__tie_experiment(m, out);
    return m->file ? wte_file_check_unchanged(m->file, err) : WTE_OK;
}
