/* The decision on a text table as a whole: lines to skip, counts, survey, first line, keys; and how
 * it is put in words. */
#include "format/text_decide.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

/* As CHANCE_OF_NUMBERS in text_keys.c: of a first row of two whole numbers. */
#define CHANCE_OF_COUNTS 1e-4

static void pass_lines(wte__text_decision *d, uint64_t n)
{
    size_t next;
    for (uint64_t i = 0; i < n && d->text.size; i++) {
        (void)wte__text_line_at(d->text.data, (size_t)d->text.size, d->l->line_end, &next);
        d->text.data += next;
        d->text.size -= next;
        d->l->first += next;
        d->l->first_line++;
    }
}

/* Counts ("rows dim") in front -------------------------------------------------------------------
 */

static uint64_t count_lines(const wte__text_decision *d, wte__bytes text)
{
    uint64_t n = 0;
    size_t next;
    for (size_t at = 0; at < text.size; at += next) {
        const wte__bytes line =
            wte__text_line_at(text.data + at, (size_t)text.size - at, d->l->line_end, &next);
        n += wte__text_look_at(WTE__TEXT_BLANKS, line).fields > 0;
    }
    return n;
}

/* Two whole numbers over lines of two numbers: counts, or a row like them. */
static wte_status judge_two(wte__text_decision *d, wte__bytes rest, uint64_t rows, bool *counted)
{
    const wte__text_survey *s = &d->survey;
    double numbers = 0, integers = 0;
    *counted = true;
    if (s->n == 0 || s->fields != 2 || s->numbers != 2) return WTE_OK;
    for (size_t i = 0; i < s->n; i++) {
        numbers += (double)s->line[i].numbers;
        integers += (double)s->line[i].integers;
    }
    *counted = !d->whole || count_lines(d, rest) == rows;
    if (!*counted || pow((integers + 1) / (numbers + 2), 2) < CHANCE_OF_COUNTS) return WTE_OK;
    return wte__fail(
        d->err, WTE_E_UNSUPPORTED, 0,
        "%s: line 1 holds the numbers of rows and columns, or is a row of two numbers: "
        "both readings fit; --skip 1 drops it, --skip 0 keeps it",
        d->path);
}

/* Rows without keys under counts have exactly as many numbers. */
static bool all_have(const wte__text_survey *s, uint64_t dim)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->line[i].fields != dim || s->line[i].numbers != dim) return false;
    return s->n > 0;
}

/* *counted: line 1 states rows and dim, and the layout is known. */
static wte_status take_counts(wte__text_decision *d, bool *counted)
{
    wte__text_layout *l = d->l;
    uint64_t rows, dim;
    *counted = false;
    const size_t next = wte__text_counts(d->text.data, (size_t)d->text.size, &rows, &dim);
    if (next == 0 || dim == 0) return WTE_OK;
    const wte__bytes rest = { d->text.data + next, d->text.size - next };
    wte__text_survey_lines(d, WTE__TEXT_BLANKS, rest);
    WTE_TRY(judge_two(d, rest, rows, counted));
    if (!*counted) return WTE_OK;
    pass_lines(d, 1);
    l->counted = true;
    l->rows = rows;
    l->dim = dim;
    l->separator = WTE__TEXT_BLANKS;
    l->tokens = !all_have(&d->survey, dim) && d->wish->keys != WTE_TEXT_KEYS_NONE;
    l->before = l->tokens;
    if (!l->tokens && !all_have(&d->survey, dim) && d->survey.fields > dim)
        l->before = d->survey.fields - dim;
    for (size_t i = 0; i < d->survey.n; i++) l->decimal_comma |= d->survey.line[i].commas > 0;
    wte__text_because(d, "line 1 states %" PRIu64 " rows of %" PRIu64 " numbers", rows, dim);
    return WTE_OK;
}

/* In words ------------------------------------------------------------------------------------- */

static void say(wte__text_decision *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(wte__text_decision *d, const char *fmt, ...)
{
    wte__text_reading *r = d->reading;
    const size_t used = strlen(r->what);
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->what + used, sizeof r->what - used, fmt, args);
    va_end(args);
}

static const char *separator_name(uint8_t separator)
{
    switch (separator) {
    case WTE__TEXT_BLANKS: return "blanks";
    case WTE__TEXT_LIST: return "a list in brackets on each line";
    case '\t': return "tabs";
    case ',': return "commas";
    case ';': return "semicolons";
    default: return "bars";
    }
}

static void describe(wte__text_decision *d)
{
    const wte__text_layout *l = d->l;
    const bool words = d->survey.numbers < d->survey.fields && l->tokens;
    const bool lists = l->separator == WTE__TEXT_LIST;
    d->reading->plain = (l->counted || (words && l->first_line == 1)) && l->tokens &&
                        !l->decimal_comma && l->after == 0 && !d->wish->keys &&
                        !d->wish->first_column && !d->wish->has_skip;
    d->reading->what[0] = '\0';
    say(d, lists ? "%s" : "columns between %s", separator_name(l->separator));
    if (l->decimal_comma) say(d, ", decimal comma");
    if (l->first_line == 2 && l->titled) say(d, ", line 1 is a title");
    if (l->first_line > 2 || (l->first_line == 2 && !l->titled && !l->counted))
        say(d, ", the first row is line %" PRIu64, l->first_line);
    if (l->tokens && lists)
        say(d, ", the key is before it");
    else if (l->tokens)
        say(d, ", column %" PRIu64 " is the key", l->key + 1);
    else
        say(d, ", rows have no keys");
    if (lists) return;
    if (l->dim == 1)
        say(d, ", column %" PRIu64 " is the number", l->before + 1);
    else
        say(d, ", columns %" PRIu64 "-%" PRIu64 " are the %" PRIu64 " numbers", l->before + 1,
            l->before + l->dim, l->dim);
}

wte_status wte__text_decide(wte__text_decision *d, const uint8_t *data, size_t n)
{
    const wte__text_layout none = { 0 };
    const wte__text_titles untitled = { .key_named = WTE_NO_INDEX };
    bool counted = false;
    *d->l = none;
    d->titles = untitled;
    d->wants_more = false;
    d->reading->why[0] = '\0';
    wte__text_start_at(d, data, n);
    if (d->wish->has_skip)
        pass_lines(d, d->wish->skip);
    else
        WTE_TRY(wte__text_named(d));
    if (!d->wish->has_skip && !d->wish->first_column) WTE_TRY(take_counts(d, &counted));
    if (!counted) {
        if (!wte__text_survey_all(d, d->text))
            return wte__fail(d->err, WTE_E_FORMAT, d->l->first,
                             "%s: begins like a text of vectors, but its lines do not agree on the "
                             "number of their fields",
                             d->path);
        WTE_TRY(wte__text_take_first(d));
        WTE_TRY(wte__text_take_keys(d));
    }
    describe(d);
    return WTE_OK;
}
