/* Which columns of a text table hold the key of each row and its numbers: as asked for, by titles,
 * by words, or by what the columns of numbers themselves show (text_keys.c). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "format/text_decide.h"
#include "format/text_number.h"

void wte__text_because(wte__text_decision *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(d->reading->why, sizeof d->reading->why, fmt, args);
    va_end(args);
}

/* Several columns before the numbers ----------------------------------------------------------- */

/* How many of the survey's lines hold a word in a column; they are read again. */
static void count_words(const wte__text_decision *d, uint64_t column, size_t *words, bool *steps)
{
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    size_t next, n = 0;
    uint64_t value = 0, start = 0;
    *words = 0;
    *steps = true;
    for (size_t at = 0; at < d->text.size && n < WTE__TEXT_SURVEY_LINES; at += next, n++) {
        const wte__bytes line =
            wte__text_line_at(d->text.data + at, (size_t)d->text.size - at, d->l->line_end, &next);
        if (at + next == d->text.size && !d->whole) return;
        wte__text_fields_start(&it, d->survey.separator, line);
        bool there = true;
        for (uint64_t i = 0; i <= column && there; i++)
            there = wte__text_fields_next(&it, &field, &quoted);
        if (!there) continue;
        *words += !wte__text_is_number(field, d->survey.separator);
        const bool whole = field.size > 0 && wte__text_integer(field.data, (size_t)field.size, 0,
                                                               &value) == field.size;
        if (n == 0) start = value;
        *steps &= whole && value == start + n && start < 2;
    }
}

/* The key among the columns before the numbers: the one that holds words, else the first. */
static wte_status choose_key(wte__text_decision *d)
{
    wte__text_layout *l = d->l;
    uint64_t texts = 0, text = 0;
    size_t words;
    bool steps;
    l->key = 0;
    l->tokens = l->before > 0;
    if (l->before < 2 || l->separator == WTE__TEXT_BLANKS || d->wish->keys == WTE_TEXT_KEYS_FIRST)
        return WTE_OK;
    for (uint64_t i = 0; i < l->before && i < WTE__TEXT_COLUMNS; i++) {
        count_words(d, i, &words, &steps);
        if (words == 0) continue;
        text = i;
        texts++;
    }
    if (texts == 1)
        l->key = text;
    else if (d->titles.key_named < l->before)
        l->key = d->titles.key_named;
    else if (texts > 1)
        return wte__fail(d->err, WTE_E_UNSUPPORTED, l->first,
                         "%s: %" PRIu64
                         " columns of words are before the numbers; --keys first takes "
                         "column 1 as the key, --keys none leaves all of them out",
                         d->path, texts);
    return WTE_OK;
}

/* What titles say of columns of numbers: those that are numbered belong to the row. */
static bool columns_by_titles(wte__text_decision *d)
{
    const wte__text_titles *t = &d->titles;
    const wte__text_survey *s = &d->survey;
    wte__text_layout *l = d->l;
    const bool all = s->numbers == s->fields;
    if (t->n == 0) return false;
    if (t->run > 0 && !t->other_run && t->run_first + t->run <= s->fields && t->run > 1 &&
        (all || t->run_first >= s->fields - s->numbers)) {
        l->before = t->run_first;
        l->dim = t->run;
        l->after = s->fields - l->before - l->dim;
        wte__text_because(d, "line %" PRIu64 " names columns %" PRIu64 "-%" PRIu64 " by numbers",
                          l->first_line - 1, l->before + 1, l->before + l->dim);
        return true;
    }
    if (!all || !(t->first_is_key || t->shift)) return false;
    l->before = 1;
    l->dim = s->fields - 1;
    wte__text_because(d,
                      t->shift ? "line %" PRIu64 " has one title fewer than there are columns"
                               : "line %" PRIu64 " names column 1 as a key",
                      l->first_line - 1);
    return l->dim > 0;
}

static wte_status columns_as_wished(wte__text_decision *d)
{
    const wte_text_options *w = d->wish;
    const uint64_t fields = d->survey.fields;
    wte__text_layout *l = d->l;
    const uint64_t last = w->last_column ? w->last_column : fields;
    if (w->first_column > last || last > fields)
        return wte__fail(d->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: columns %" PRIu64 "-%" PRIu64
                         " are asked for, but its lines have %" PRIu64,
                         d->path, w->first_column, last, fields);
    l->before = w->first_column - 1;
    l->dim = last - l->before;
    l->after = fields - last;
    wte__text_because(d, "--columns says so");
    if (w->keys == WTE_TEXT_KEYS_NONE) return WTE_OK;
    if (w->keys == WTE_TEXT_KEYS_FIRST && l->before == 0)
        return wte__fail(d->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: column 1 is asked for as the key and as a number", d->path);
    return choose_key(d);
}

/* Words with one number each. */
static wte_status refuse_one_number(const wte__text_decision *d)
{
    const wte__text_survey *s = &d->survey;
    size_t counts = 0, signs = 0;
    for (size_t i = s->n > 1 && d->l->titled; i < s->n; i++) counts += s->line[i].integers > 0;
    signs = d->text.size > 3 && memchr(d->text.data, '-', (size_t)d->text.size) != NULL;
    const bool pieces = d->text.size > 5 && counts < s->n && signs;
    const char *what = counts + 1 >= s->n && s->n > 1 && !pieces
                           ? "words with a count each (a vocabulary): no vectors"
                       : pieces
                           ? "pieces with a score each (SentencePiece's .vocab, a lexicon): no "
                             "vectors; the model beside it has them as tokens"
                           : "words with one number each (a lexicon): no vectors";
    return wte__fail(d->err, WTE_E_UNSUPPORTED, d->l->first,
                     "%s: is a list of %s; --columns %" PRIu64
                     " reads the numbers as a table of one column",
                     d->path, what, s->fields);
}

/* Rows that end in numbers, after words. */
static wte_status columns_of_words(wte__text_decision *d)
{
    const wte__text_survey *s = &d->survey;
    wte__text_layout *l = d->l;
    size_t words;
    bool steps;
    if (s->numbers == 1) return refuse_one_number(d);
    if (!columns_by_titles(d)) {
        l->before = s->fields - s->numbers;
        l->dim = s->numbers;
        if (l->separator == WTE__TEXT_BLANKS) l->before = 1;
    }
    if (d->wish->keys == WTE_TEXT_KEYS_NONE) {
        if (l->separator == WTE__TEXT_BLANKS) l->before = s->fields - s->numbers;
        return WTE_OK;
    }
    if (l->separator == WTE__TEXT_BLANKS && s->even && s->fields == s->numbers + 2 && s->n > 2) {
        count_words(d, 0, &words, &steps);
        if (words == 0 && steps)
            return wte__fail(d->err, WTE_E_UNSUPPORTED, l->first,
                             "%s: column 1 counts the rows and column 2 holds words, but blanks "
                             "separate words as well; --keys none reads the numbers alone, tabs or "
                             "commas between columns all of it",
                             d->path);
    }
    if (!*d->reading->why) wte__text_because(d, "words are before the numbers");
    return choose_key(d);
}

/* The cells before a list in brackets. */
static wte_status columns_of_lists(wte__text_decision *d)
{
    wte__text_layout *l = d->l;
    wte__text_line cut;
    size_t next;
    const wte__bytes line =
        wte__text_line_at(d->text.data, (size_t)d->text.size, l->line_end, &next);
    l->dim = d->survey.numbers;
    l->cell_separator = d->survey.cell_separator;
    while (l->before < WTE__TEXT_COLUMNS && wte__text_cut_line(l, line, &cut) != WTE__TEXT_ROW)
        l->before++;
    l->tokens = l->before > 0 && d->wish->keys != WTE_TEXT_KEYS_NONE;
    if (l->cell_separator == WTE__TEXT_BLANKS && l->tokens) l->before = 1;
    wte__text_because(d, "each line holds a list of %" PRIu64 " numbers in brackets", l->dim);
    if (l->before < 2 || !l->tokens || d->wish->keys == WTE_TEXT_KEYS_FIRST) return WTE_OK;
    d->survey.separator = l->cell_separator;
    const wte_status status = choose_key(d);
    d->survey.separator = WTE__TEXT_LIST;
    return status;
}

/* "0,0625": two whole numbers between commas, or one with a decimal comma. */
static bool splits_a_number(const wte__text_decision *d)
{
    const wte__text_survey *s = &d->survey;
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    size_t next;
    if (s->separator != ',' || s->fields != 2 || s->numbers != 2 || d->wish->keys) return false;
    if (d->wish->first_column || (d->titles.n > 0 && !d->titles.shift)) return false;
    for (size_t i = s->n > 1; i < s->n; i++)
        if (s->line[i].points || s->line[i].quoted || !s->line[i].first_integer) return false;
    for (size_t at = 0; at < d->text.size; at += next) {
        const wte__bytes line =
            wte__text_line_at(d->text.data + at, (size_t)d->text.size - at, d->l->line_end, &next);
        wte__text_fields_start(&it, ',', line);
        (void)wte__text_fields_next(&it, &field, &quoted);
        if (wte__text_fields_next(&it, &field, &quoted) && field.size > 0 &&
            (*field.data < '0' || *field.data > '9'))
            return false;
    }
    return true;
}

static wte_status check_commas(wte__text_decision *d)
{
    const wte__text_survey *s = &d->survey;
    uint64_t commas = 0, points = 0, quoted = 0;
    for (size_t i = d->l->titled; i < s->n; i++) {
        commas += s->line[i].commas;
        points += s->line[i].points;
        quoted += s->line[i].quoted >
                  (s->line[i].numbers == s->line[i].fields && s->line[i].first_quoted);
    }
    d->l->decimal_comma = commas > 0;
    d->l->quoted_numbers = quoted > 0;
    if (splits_a_number(d))
        return wte__fail(d->err, WTE_E_UNSUPPORTED, d->l->first,
                         "%s: two whole numbers between commas on each line, or one number with a "
                         "decimal comma: --keys none reads two; else write the number with a point",
                         d->path);
    if (commas == 0 || points == 0) return WTE_OK;
    return wte__fail(
        d->err, WTE_E_FORMAT, d->l->first,
        "%s: some numbers have a decimal comma, others a point: which of them separates "
        "thousands cannot be told; write all of them with a point",
        d->path);
}

/* "the 0.1,0.2,0.3": a word and a number within the first field. */
static wte_status check_first_field(const wte__text_decision *d)
{
    const wte__text_survey *s = &d->survey;
    size_t both = 0, from = s->n > 1;
    if (s->separator == WTE__TEXT_BLANKS || s->separator == WTE__TEXT_LIST || s->n < 2 ||
        d->wish->keys)
        return WTE_OK;
    for (size_t i = from; i < s->n; i++) both += s->line[i].first_holds_number;
    if (both < s->n - from) return WTE_OK;
    return wte__fail(
        d->err, WTE_E_UNSUPPORTED, d->l->first,
        "%s: the first field of each line ends with a blank and a number: the end of a "
        "key, or the first of the numbers after it; --keys first takes it as a key, "
        "--keys none leaves it out",
        d->path);
}

wte_status wte__text_take_keys(wte__text_decision *d)
{
    const wte__text_survey *s = &d->survey;
    wte__text_layout *l = d->l;
    bool key = false, ends_empty = true, quoted = true;
    l->separator = s->separator;
    if (s->separator == WTE__TEXT_LIST) return columns_of_lists(d);
    WTE_TRY(check_commas(d));
    WTE_TRY(check_first_field(d));
    if (d->wish->first_column) {
        WTE_TRY(columns_as_wished(d));
    } else if (s->numbers < s->fields) {
        WTE_TRY(columns_of_words(d));
    } else if (columns_by_titles(d)) {
        l->tokens = l->before > 0 && d->wish->keys != WTE_TEXT_KEYS_NONE;
        if (l->tokens) WTE_TRY(choose_key(d));
    } else {
        l->dim = s->fields;
        key = d->wish->keys == WTE_TEXT_KEYS_FIRST;
        if (d->wish->keys == WTE_TEXT_KEYS_AUTO || d->wish->keys == WTE_TEXT_KEYS_WORDS)
            WTE_TRY(wte__text_keys_of_numbers(d, &key));
        if (d->wants_more) return WTE_OK;
        l->tokens = key;
        l->before = key;
        l->dim -= key;
    }
    if (d->wish->keys == WTE_TEXT_KEYS_NONE || d->wish->keys == WTE_TEXT_KEYS_FIRST)
        wte__text_because(d,
                          d->wish->first_column ? "--columns and --keys say so" : "--keys says so");
    if (d->wish->keys == WTE_TEXT_KEYS_FIRST && l->before == 0) {
        if (l->dim < 2)
            return wte__fail(d->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                             "%s: has one column, which cannot be a key and a number", d->path);
        l->before = 1;
        l->dim--;
        l->tokens = true;
    }
    const bool words = s->numbers < s->fields || (d->evidence && d->evidence->column[0].words > 0);
    l->comments = !d->wish->has_skip && !(l->tokens && words);
    for (size_t i = l->titled; i < s->n; i++) {
        ends_empty &= s->line[i].ends_empty;
        quoted &= s->line[i].first_quoted;
    }
    l->quoted_key = quoted && s->n > l->titled && l->tokens && s->separator == WTE__TEXT_BLANKS;
    if (ends_empty && s->separator != WTE__TEXT_BLANKS) l->after++;
    return WTE_OK;
}
