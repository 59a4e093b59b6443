/* Pairs of words with the judgements of people. What the first lines look like decides where the
 * columns are; every later line must be alike. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "format/text_number.h"
#include "train/eval_file.h"

#define FIELDS_MOST 64u /* that are looked at; real files have up to 20 */
#define WORDS       2u

struct wte_pairs {
    wte__eval_text text;
    wte_pair *pairs;
    size_t cap, count;
    wte_pairs_layout layout;
};

typedef struct fields {
    wte__bytes field[FIELDS_MOST];
    uint64_t n;
} fields;

static wte__bytes trimmed(wte__bytes text)
{
    while (text.size && (*text.data == ' ' || *text.data == '\t')) {
        text.data++;
        text.size--;
    }
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/* The field at *at of a line with separators; *at moves behind the separator, or past the end of
 * the line by one. False: what follows a closing quote is no separator, or there is none. */
static bool next_field(wte__bytes line, char separator, uint64_t *at, wte__bytes *out)
{
    const uint8_t *p = line.data + *at;
    const uint64_t left = line.size - *at;
    const bool quoted = left && *p == '"';
    uint64_t n = quoted;
    while (n < left && p[n] != (quoted ? '"' : (uint8_t)separator)) n++;
    if (quoted && n == left) return false;
    *out = trimmed((wte__bytes){ p + quoted, n - quoted });
    n += quoted;
    if (n < left && p[n] != (uint8_t)separator) return false;
    *at += n + 1;
    return true;
}

static bool cut(wte__bytes line, char separator, fields *f)
{
    f->n = 0;
    if (separator == ' ') {
        wte__bytes word;
        while (f->n < FIELDS_MOST && (word = wte__eval_text_word(&line)).size)
            f->field[f->n++] = word;
        return true;
    }
    for (uint64_t at = 0; at <= line.size && f->n < FIELDS_MOST; f->n++)
        if (!next_field(line, separator, &at, &f->field[f->n])) return false;
    return true;
}

static char separator_of(wte__bytes line)
{
    static const char kinds[] = { '\t', ';', ',' };
    for (size_t i = 0; i < sizeof kinds; i++)
        if (memchr(line.data, kinds[i], (size_t)line.size)) return kinds[i];
    return ' ';
}

static bool is_number(wte__bytes field, double *out)
{
    return wte__text_f64(field.data, (size_t)field.size, out) && isfinite(*out);
}

/* The first column after the words that is a number; 0 when none is. */
static uint64_t number_in(const fields *f)
{
    double value;
    for (uint64_t i = WORDS; i < f->n; i++)
        if (is_number(f->field[i], &value)) return i;
    return 0;
}

static wte_status bad_quotes(const wte__eval_text *t, wte_error *err)
{
    return wte__fail(err, WTE_E_FORMAT, t->line_at,
                     "%s: line %" PRIu64 ": a quote is not closed, or text follows the closing one",
                     t->name, t->line);
}

/* Settles the layout by the first line, and the second when the first names the columns; *f are
 * the fields of the first line of data. */
static wte_status settle_layout(wte_pairs *p, wte__bytes line, fields *f, wte_error *err)
{
    wte__eval_text *t = &p->text;
    wte_pairs_layout *l = &p->layout;
    l->separator = separator_of(line);
    if (!cut(line, l->separator, f)) return bad_quotes(t, err);
    l->column = number_in(f);
    if (l->column) return WTE_OK;
    const fields titles = *f;
    const uint64_t first = t->line, first_at = t->line_at;
    l->titled = true;
    if (!wte__eval_text_line(t, &line))
        return wte__fail(err, WTE_E_FORMAT, first_at,
                         "%s: line %" PRIu64
                         ": no number after two words, and no line with one follows",
                         t->name, first);
    if (!cut(line, l->separator, f)) return bad_quotes(t, err);
    l->column = number_in(f);
    if (l->column == 0)
        return wte__fail(err, WTE_E_FORMAT, t->line_at,
                         "%s: line %" PRIu64
                         ": no column after the first two is a number, as a judgement must be",
                         t->name, t->line);
    if (l->column < titles.n) {
        const wte__bytes title = titles.field[l->column];
        l->title = (wte_word){ (const char *)title.data, title.size };
    }
    return WTE_OK;
}

static wte_status add_pair(wte_pairs *p, const fields *f, wte_error *err)
{
    const wte__eval_text *t = &p->text;
    const uint64_t column = p->layout.column;
    char shown[WTE__NAME_SHOWN];
    wte_pair pair = { .line = t->line };
    wte_word *const words[WORDS] = { &pair.a, &pair.b };
    if (f->n <= column)
        return wte__fail(err, WTE_E_FORMAT, t->line_at,
                         "%s: line %" PRIu64 " has %" PRIu64
                         " columns, but the judgement stands in column %" PRIu64,
                         t->name, t->line, f->n, column + 1);
    for (size_t i = 0; i < WORDS; i++) {
        const wte__bytes word = f->field[i];
        if (word.size == 0)
            return wte__fail(err, WTE_E_FORMAT, t->line_at,
                             "%s: line %" PRIu64 ": word %zu is empty", t->name, t->line, i + 1);
        WTE_TRY(wte__eval_text_check(t, word, err));
        *words[i] = (wte_word){ (const char *)word.data, word.size };
    }
    if (!is_number(f->field[column], &pair.judged))
        return wte__fail(err, WTE_E_FORMAT, t->line_at,
                         "%s: line %" PRIu64 ", column %" PRIu64 ": '%s' is no finite number",
                         t->name, t->line, column + 1,
                         wte__show(shown, f->field[column].data, f->field[column].size));
    if (!wte__grow(t->allocator, (void **)&p->pairs, &p->cap, p->count + 1, sizeof *p->pairs))
        return wte__no_memory(err, (p->count + 1) * sizeof *p->pairs, "pairs of words");
    p->pairs[p->count++] = pair;
    return WTE_OK;
}

static wte_status read_pairs(wte_pairs *p, wte_error *err)
{
    wte__eval_text *t = &p->text;
    wte__bytes line;
    fields f;
    if (!wte__eval_text_line(t, &line))
        return wte__fail(err, WTE_E_FORMAT, t->bytes, "%s: no pair of words", t->name);
    WTE_TRY(settle_layout(p, line, &f, err));
    WTE_TRY(add_pair(p, &f, err));
    while (wte__eval_text_line(t, &line)) {
        if (!cut(line, p->layout.separator, &f)) return bad_quotes(t, err);
        WTE_TRY(add_pair(p, &f, err));
    }
    return WTE_OK;
}

/* Takes the text over, whether it succeeds or not. */
static wte_status open_text(wte__eval_text *text, wte_pairs **out, wte_error *err)
{
    wte_pairs *p = wte__alloc_zeroed(text->allocator, sizeof *p);
    if (!p) {
        wte__eval_text_free(text);
        return wte__no_memory(err, sizeof *p, "pairs of words");
    }
    p->text = *text;
    const wte_status status = read_pairs(p, err);
    if (status == WTE_OK)
        *out = p;
    else
        wte_pairs_free(p);
    return status;
}

wte_status wte_pairs_open(const char *path, const wte_eval_file_options *opt, wte_pairs **out,
                          wte_error *err)
{
    wte__eval_text text;
    WTE_TRY(wte__need(out, "wte_pairs_open: out", err));
    *out = NULL;
    WTE_TRY(wte__eval_text_load(&text, path, opt, err));
    return open_text(&text, out, err);
}

wte_status wte_pairs_open_memory(const void *data, uint64_t bytes, const char *name,
                                 const wte_eval_file_options *opt, wte_pairs **out, wte_error *err)
{
    wte__eval_text text;
    WTE_TRY(wte__need(out, "wte_pairs_open_memory: out", err));
    *out = NULL;
    WTE_TRY(wte__eval_text_copy(&text, data, bytes, name, opt, err));
    return open_text(&text, out, err);
}

void wte_pairs_free(wte_pairs *p)
{
    if (!p) return;
    const wte_allocator *a = p->text.allocator;
    wte__free(a, p->pairs, p->cap * sizeof *p->pairs);
    wte__eval_text_free(&p->text);
    wte__free(a, p, sizeof *p);
}

uint64_t wte_pairs_count(const wte_pairs *p)
{
    return p ? p->count : 0;
}

const wte_pair *wte_pairs_at(const wte_pairs *p, uint64_t i)
{
    return p && i < p->count ? &p->pairs[i] : NULL;
}

void wte_pairs_layout_of(const wte_pairs *p, wte_pairs_layout *out)
{
    if (out) *out = p ? p->layout : (wte_pairs_layout){ 0 };
}
