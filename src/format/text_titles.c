/* Lines before the first row of a text table: comments, and a title line that names the columns or
 * counts them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "format/text_decide.h"
#include "format/text_number.h"

/* A line of titles counts the columns (0, 1, 2, ...). The chance that a row does so is taken as
 * that of whole numbers, a tenth of which fit, to the power of the columns. */
#define CHANCE_OF_ROW   1e-4
#define SHARE_THAT_FITS 0.1
/* Numbers that must be there before a first line of whole numbers is odd. */
#define ODD_NUMBERS 32u

static bool is_word(wte__bytes t, const char *word)
{
    if (t.size != strlen(word)) return false;
    for (uint64_t i = 0; i < t.size; i++) {
        const uint8_t c = t.data[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != (uint8_t)word[i]) return false;
    }
    return true;
}

static bool is_one_of(wte__bytes t, const char *const *words)
{
    for (; *words; words++)
        if (is_word(t, *words)) return true;
    return false;
}

/* What tools and people call a column of keys. */
static bool is_key_name(wte__bytes t)
{
    static const char *const names[] = {
        "",        "id",       "ids",       "idx",    "index",      "key",    "keys",     "word",
        "words",   "token",    "tokens",    "name",   "names",      "label",  "labels",   "node",
        "nodes",   "vertex",   "entity",    "item",   "user",       "term",   "terms",    "row",
        "rowname", "rownames", "row.names", "rowid",  "piece",      "ngram",  "text",     "title",
        "gene",    "symbol",   "vocab",     "string", "unnamed: 0", "#",      "nr",       "no",
        "doc",     "document", "uid",       "uuid",   "url",        "phrase", "sentence", NULL
    };
    const uint64_t n = t.size;
    if (is_one_of(t, names)) return true;
    if (n > 3) { /* token_id, user-id, itemId */
        const wte__bytes end = { t.data + n - 3, 3 };
        if (is_word(end, "_id") || is_word(end, "-id") || is_word(end, ".id") ||
            is_word(end, " id"))
            return true;
    }
    return n > 2 && ((t.data[n - 2] == 'I' && (t.data[n - 1] | 0x20) == 'd') ||
                     is_word(t, "tokenid") || is_word(t, "userid") || is_word(t, "itemid"));
}

bool wte__text_is_missing(wte__bytes t)
{
    static const char *const names[] = { "",  "na", "n/a",  "null",    "none", "-",
                                         "?", ".",  "#n/a", "missing", NULL };
    return is_one_of(t, names);
}

/* The number at the end of a title, and the length of what is before it; a letter alone counts as
 * its place in the alphabet. False: there is none. */
static bool split_title(wte__bytes t, size_t *stem, uint64_t *number)
{
    size_t at = (size_t)t.size;
    while (at && t.data[at - 1] >= '0' && t.data[at - 1] <= '9') at--;
    *stem = at;
    if (at < t.size) {
        (void)wte__text_integer(t.data, (size_t)t.size, at, number);
        return true;
    }
    const bool letter = t.size == 1 && (t.data[0] | 0x20) >= 'a' && (t.data[0] | 0x20) <= 'z';
    *stem = 0;
    *number = letter ? t.data[0] : 0;
    return letter;
}

static bool follows(wte__bytes before, wte__bytes t)
{
    size_t stem, stem_before;
    uint64_t number, number_before;
    if (!split_title(t, &stem, &number) || !split_title(before, &stem_before, &number_before))
        return false;
    return stem == stem_before && memcmp(t.data, before.data, stem) == 0 &&
           number == number_before + 1;
}

static void copy_text(char *to, size_t cap, wte__bytes t)
{
    char shown[WTE__NAME_SHOWN];
    snprintf(to, cap, "%.*s", (int)cap - 1, wte__show(shown, t.data, t.size));
}

/* Runs of numbered titles: the longest is kept. */
static void end_run(wte__text_titles *t, uint64_t first, uint64_t n)
{
    if (n < 2) return;
    t->other_run |= t->run > 0;
    if (n <= t->run) return;
    t->run = n;
    t->run_first = first;
}

static void read_titles(wte__text_decision *d, wte__bytes line)
{
    wte__text_titles *t = &d->titles;
    wte__text_fields it;
    wte__bytes field, before = { NULL, 0 };
    bool quoted;
    uint64_t run_from = 0;
    const uint64_t fields = wte__text_look_at(d->survey.separator, line).fields;
    const wte__text_titles none = { .key_named = WTE_NO_INDEX };
    *t = none;
    t->n = fields;
    t->shift = fields + 1 == d->survey.fields;
    wte__text_fields_start(&it, d->survey.separator, line);
    for (uint64_t i = 0; i < fields && wte__text_fields_next(&it, &field, &quoted); i++) {
        const uint64_t column = i + t->shift;
        if (i == 0) copy_text(t->first, sizeof t->first, field);
        if (i == 0) t->first_is_key = t->shift || is_key_name(field);
        if (t->key_named == WTE_NO_INDEX && is_key_name(field)) t->key_named = column;
        if (i == 0 || !follows(before, field)) {
            if (i) end_run(t, run_from, column - run_from);
            run_from = column;
        }
        before = field;
    }
    end_run(t, run_from, fields + t->shift - run_from);
}

/* What the fields of a first line are. */
typedef struct first_line {
    uint64_t fields, numbers, integers;
    bool missing;      /* a field after the first is a way to write a missing value */
    uint64_t counting; /* how many fields at its end count by one */
    double from;       /* the first of them */
    bool exponent;     /* some are written with one */
    bool same;         /* all numbers are equal */
    wte__bytes first;
} first_line;

static first_line look_at_first(const wte__text_decision *d, wte__bytes line)
{
    first_line f = { .same = true };
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    double before = 0;
    const uint64_t fields = wte__text_look_at(d->survey.separator, line).fields;
    wte__text_fields_start(&it, d->survey.separator, line);
    for (; f.fields < fields && wte__text_fields_next(&it, &field, &quoted); f.fields++) {
        float value = NAN;
        const size_t n = (size_t)field.size;
        const wte__text_kind kind = wte__text_kind_of(field.data, n);
        if (f.fields == 0) f.first = field;
        if (kind != WTE__TEXT_WORD) (void)wte__text_f32(field.data, n, &value);
        f.missing |= f.fields > 0 && wte__text_is_missing(field);
        f.numbers += wte__text_is_number(field, d->survey.separator);
        f.integers += kind == WTE__TEXT_INTEGER;
        f.exponent |= kind != WTE__TEXT_WORD && memchr(field.data, 'e', n) != NULL;
        f.same &= f.counting == 0 || (double)value == before;
        const bool whole = (double)value == trunc((double)value);
        if (!whole) {
            f.counting = 0;
        } else if (f.counting == 0 || (double)value != before + 1) {
            f.counting = 1;
            f.from = (double)value;
        } else {
            f.counting++;
        }
        before = (double)value;
    }
    return f;
}

/* Whole numbers among those of the survey's rows, the first line left out. */
static double share_of_wholes(const wte__text_survey *s, bool by_value, uint64_t *numbers,
                              uint64_t *wholes)
{
    *numbers = *wholes = 0;
    for (size_t i = s->n > 1; i < s->n; i++) {
        *numbers += s->line[i].numbers;
        *wholes += by_value ? s->line[i].wholes : s->line[i].integers;
    }
    return ((double)*wholes + 1) / ((double)*numbers + 2);
}

static wte_status refuse_counting(const wte__text_decision *d, const first_line *f)
{
    return wte__fail(
        d->err, WTE_E_UNSUPPORTED, d->l->first,
        "%s: line %" PRIu64 " counts (%g, %g, ..): a title or a row, both readings fit; "
        "--skip %" PRIu64 " drops it, --skip %" PRIu64 " keeps it",
        d->path, d->l->first_line, f->from, f->from + 1, d->l->first_line, d->l->first_line - 1);
}

/* Whether the fields count the columns, all or all but a first one that names the keys. */
static wte_status is_counting_title(wte__text_decision *d, const first_line *f, bool *title)
{
    const wte__text_survey *s = &d->survey;
    const bool shift = f->fields + 1 == s->fields;
    const uint64_t need = s->numbers < s->fields   ? s->numbers
                          : f->numbers < f->fields ? f->fields - 1
                                                   : f->fields;
    const bool named = f->numbers < f->fields && is_key_name(f->first);
    const bool from_start = f->from == 0 || f->from == 1;
    uint64_t numbers, wholes;
    *title = false;
    const bool list = need == 1 && s->numbers < s->fields; /* words with one number each */
    if (f->counting < need || need == 0 || f->exponent || list) return WTE_OK;
    if (f->counting > need && s->numbers < s->fields) return WTE_OK;
    const bool syntax = f->integers >= need;
    const double share = share_of_wholes(s, !syntax, &numbers, &wholes);
    *title = shift || (named && from_start);
    if (*title || numbers == 0) return WTE_OK;
    if (!from_start) {
        *title = wholes == 0 && need > 2;
        return WTE_OK;
    }
    if (need == 1 && d->wish->keys == WTE_TEXT_KEYS_WORDS) return WTE_OK;
    *title = wholes < numbers && pow(share * SHARE_THAT_FITS, (double)need) < CHANCE_OF_ROW;
    /* "the 1 2 3": after a word that is no name of keys, a row more often */
    const bool word = s->numbers < s->fields && (need < 3 || wholes == numbers);
    return *title || word ? WTE_OK : refuse_counting(d, f);
}

/* A line of whole numbers over lines without any is no row like them. */
static wte_status check_odd(const wte__text_decision *d, const first_line *f)
{
    uint64_t numbers, wholes;
    (void)share_of_wholes(&d->survey, false, &numbers, &wholes);
    const bool odd = f->integers > 1 && f->integers == f->fields && wholes == 0 && !f->same &&
                     numbers >= ODD_NUMBERS && f->fields == d->survey.fields;
    if (!odd) return WTE_OK;
    return wte__fail(d->err, WTE_E_UNSUPPORTED, d->l->first,
                     "%s: line %" PRIu64
                     " holds whole numbers only, the lines after it none: a title "
                     "or a row; --skip %" PRIu64 " drops it, --skip %" PRIu64 " keeps it",
                     d->path, d->l->first_line, d->l->first_line, d->l->first_line - 1);
}

static bool fits_as_row(const wte__text_survey *s, const wte__text_look *k)
{
    if (s->separator == WTE__TEXT_LIST) return k->list && k->numbers == s->numbers;
    if (s->separator == WTE__TEXT_BLANKS && s->numbers < s->fields)
        return k->numbers >= s->numbers && k->fields > s->numbers;
    /* the one word among numbers may be a key, or a fault that is named when the row is read */
    return k->fields == s->fields && (k->numbers > 0 || s->numbers == s->fields);
}

static wte_status is_title(wte__text_decision *d, wte__bytes line, bool *title)
{
    const wte__text_survey *s = &d->survey;
    *title = false;
    if (s->separator == WTE__TEXT_LIST) {
        wte__text_list list;
        *title = !wte__text_find_list(line, &list) && s->n > 1;
        return WTE_OK;
    }
    const first_line f = look_at_first(d, line);
    if (f.fields != s->fields && f.fields + 1 != s->fields) return WTE_OK;
    if (f.fields == 0 || s->n < 2) return WTE_OK;
    *title = f.numbers == 0 && !f.missing;
    if (*title) return WTE_OK;
    WTE_TRY(is_counting_title(d, &f, title));
    return *title ? WTE_OK : check_odd(d, &f);
}

static wte__bytes line_at(const wte__text_decision *d, size_t at, size_t *next)
{
    return wte__text_line_at(d->text.data + at, (size_t)d->text.size - at, d->l->line_end, next);
}

static bool is_blank_line(wte__bytes line)
{
    for (uint64_t i = 0; i < line.size; i++)
        if (!wte__text_is_blank(line.data[i])) return false;
    return true;
}

/* The names of a comment, when there are as many as columns: what savetxt writes as its header. A
 * sentence may have as many words: without numbered names it makes no column of numbers a key. */
static void take_comment_names(wte__text_decision *d, wte__bytes line)
{
    while (line.size &&
           (wte__text_is_blank(*line.data) || *line.data == '#' || *line.data == '%')) {
        line.data++;
        line.size--;
    }
    const first_line f = look_at_first(d, line);
    const bool names = f.numbers == 0 && !f.missing;
    const bool counting = f.counting >= f.fields - (f.numbers < f.fields) && f.integers > 0;
    if (f.fields < 2 || f.fields != d->survey.fields || !(names || counting)) return;
    read_titles(d, line);
    d->titles.first_is_key &= d->titles.run > 0;
}

static void pass_line(wte__text_decision *d, size_t *at, size_t next)
{
    *at += next;
    d->l->first += next;
    d->l->first_line++;
}

/* A comment at the start: not one that is a row whose key is a hash mark. */
static bool is_comment_here(const wte__text_decision *d, wte__bytes line)
{
    const wte__text_survey *s = &d->survey;
    if (!wte__text_is_comment(line)) return false;
    const wte__text_look k = wte__text_look_at(s->separator, line);
    if (s->numbers < s->fields) return !fits_as_row(s, &k);
    if (s->separator == WTE__TEXT_LIST) return !k.list;
    return k.fields != s->fields || k.numbers + 1 != s->fields || k.integers == k.numbers;
}

static wte_status refuse_first(const wte__text_decision *d, wte__bytes line)
{
    const wte__text_look k = wte__text_look_at(d->survey.separator, line);
    return wte__fail(d->err, WTE_E_FORMAT, d->l->first,
                     "%s: line %" PRIu64 " has %" PRIu64 " field%s (%" PRIu64
                     " numbers), but the lines after it %" PRIu64 " (%" PRIu64 "); --skip %" PRIu64
                     " drops it when it is no row",
                     d->path, d->l->first_line, k.fields, k.fields == 1 ? "" : "s", k.numbers,
                     d->survey.fields, d->survey.numbers, d->l->first_line);
}

wte_status wte__text_take_first(wte__text_decision *d)
{
    size_t next, at = 0;
    bool title = false;
    uint64_t comments = 0;
    if (d->wish->has_skip) return WTE_OK;
    while (at < d->text.size) {
        const wte__bytes line = line_at(d, at, &next);
        if (is_blank_line(line)) {
            if (comments == 0) break;
        } else if (!is_comment_here(d, line)) {
            break;
        } else {
            comments++;
            take_comment_names(d, line);
        }
        pass_line(d, &at, next);
    }
    d->l->comments = comments > 0;
    const wte__bytes line = line_at(d, at, &next);
    WTE_TRY(is_title(d, line, &title));
    if (title) {
        d->l->titled = true;
        read_titles(d, line);
        pass_line(d, &at, next);
        while (at < d->text.size && is_blank_line(line_at(d, at, &next))) pass_line(d, &at, next);
    } else {
        const wte__text_look k = wte__text_look_at(d->survey.separator, line);
        const bool cut = !d->whole && at + next == d->text.size;
        if (!cut && !fits_as_row(&d->survey, &k)) return refuse_first(d, line);
    }
    d->text.data += at;
    d->text.size -= at;
    return WTE_OK;
}
