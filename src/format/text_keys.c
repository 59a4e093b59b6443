/* Whether the first column of a text table whose every column holds numbers is the key of its rows:
 * quotes decide where they can, else the columns themselves, counted over a sample. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "format/text_decide.h"
#include "format/text_number.h"

/* A first column of whole numbers beside fractions is a key when the chance that it is one of the
 * other columns, which hold whole numbers at that rate, is below this. */
#define CHANCE_OF_NUMBERS 1e-4
/* Numbers of a column that counts rows, which no other explanation needs. */
#define COUNTING_ROWS 3u
/* A first column stands out when its numbers are larger than those of each other column by this
 * factor, or have fewer digits after the point by that many. */
#define SIZE_STANDS_OUT    4.0
#define DECIMALS_STAND_OUT 2u

/* Counting columns ----------------------------------------------------------------------------- */

typedef struct gather {
    wte__text_decision *d;
    wte__text_evidence *e;
    uint64_t *hash; /* of the first field of each row */
    size_t n;
} gather;

static uint64_t decimals_of(wte__bytes t)
{
    const uint8_t *point = memchr(t.data, '.', (size_t)t.size);
    uint64_t n = 0;
    if (!point) point = memchr(t.data, ',', (size_t)t.size);
    for (const uint8_t *p = point ? point + 1 : NULL;
         p && p < t.data + t.size && *p >= '0' && *p <= '9'; p++)
        n++;
    return n;
}

static void count_field(wte__text_column *c, wte__bytes field, uint8_t separator)
{
    uint8_t buf[WTE__TEXT_NUMBER_MAX];
    float value = 0;
    const size_t n = (size_t)field.size;
    const wte__text_kind kind = wte__text_kind_of(field.data, n);
    if (kind == WTE__TEXT_WORD &&
        (!wte__text_is_number(field, separator) || !wte__text_with_point(field.data, n, buf))) {
        c->words++;
        c->missing += wte__text_is_missing(field);
        c->steps = false;
        return;
    }
    (void)wte__text_f32(kind == WTE__TEXT_WORD ? buf : field.data, n, &value);
    const double number = (double)value, decimals = (double)decimals_of(field);
    const bool whole = number == trunc(number);
    if (c->numbers == 0) c->first = number;
    if (c->numbers == 1) c->step = number - c->first;
    c->steps = c->numbers == 0 || ((c->numbers == 1 || c->steps) && number - c->last == c->step);
    c->last = number;
    c->numbers++;
    c->integers += kind == WTE__TEXT_INTEGER;
    c->wholes += whole;
    c->negatives += number < 0;
    if (decimals > (double)c->decimals) c->decimals = (uint64_t)decimals;
    if (fabs(number) > c->size) c->size = fabs(number);
}

static void count_line(gather *g, wte__bytes line)
{
    wte__text_evidence *e = g->e;
    const uint8_t separator = g->d->survey.separator;
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    const wte__text_look k = wte__text_look_at(separator, line);
    /* a comment, unless its hash mark is the key of a row */
    const bool comment =
        wte__text_is_comment(line) && (k.numbers + 1 != e->columns || k.integers == k.numbers);
    if (k.fields == 0 || comment) return;
    if (k.fields != e->columns) {
        e->uneven++;
        return;
    }
    wte__text_fields_start(&it, separator, line);
    for (uint64_t i = 0; i < WTE__TEXT_COLUMNS && i < e->columns; i++) {
        if (!wte__text_fields_next(&it, &field, &quoted)) break;
        count_field(&e->column[i], field, separator);
        if (i == 0) g->hash[g->n++] = XXH3_64bits(field.data, (size_t)field.size);
    }
    e->rows++;
}

static void count_lines(gather *g, wte__bytes text, bool ends, size_t most)
{
    const uint8_t line_end = g->d->l->line_end;
    size_t next;
    for (size_t at = 0; at < text.size && g->n < most; at += next) {
        const wte__bytes line =
            wte__text_line_at(text.data + at, (size_t)text.size - at, line_end, &next);
        const bool cut = !ends && at + next == text.size && text.data[text.size - 1] != line_end;
        if (!cut) count_line(g, line);
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Rows of the tail are not numbered on from the others: a column that counts is told by the head.
 */
static wte_status gather_evidence(wte__text_decision *d)
{
    const size_t tail_lines = WTE__TEXT_TAIL_BYTES / 2, most = WTE__TEXT_SAMPLE_LINES + tail_lines;
    wte__text_evidence *e = d->evidence;
    gather g = { d, e, wte__alloc_array(d->allocator, most, sizeof *g.hash), 0 };
    if (!g.hash) return wte__no_memory(d->err, most * sizeof *g.hash, "a sample of a text");
    memset(e, 0, sizeof *e);
    e->columns = d->survey.fields;
    count_lines(&g, d->text, d->whole, WTE__TEXT_SAMPLE_LINES);
    const bool steps = e->column[0].steps;
    count_lines(&g, d->tail, true, most);
    e->column[0].steps = steps;
    qsort(g.hash, g.n, sizeof *g.hash, by_value);
    e->distinct = true;
    for (size_t i = 1; i < g.n; i++) e->distinct &= g.hash[i] != g.hash[i - 1];
    wte__free(d->allocator, g.hash, most * sizeof *g.hash);
    d->reading->lines = e->rows + e->uneven;
    return WTE_OK;
}

/* Columns of numbers alone --------------------------------------------------------------------- */

static uint64_t counted_columns(const wte__text_evidence *e)
{
    return e->columns < WTE__TEXT_COLUMNS ? e->columns : WTE__TEXT_COLUMNS;
}

/* The chance that a column of numbers of this table holds whole numbers only. */
static double chance_of_wholes(const wte__text_evidence *e, bool by_value)
{
    double wholes = 0, numbers = 0;
    for (uint64_t i = 1; i < counted_columns(e); i++) {
        const wte__text_column *c = &e->column[i];
        const uint64_t n = by_value ? c->wholes : c->integers;
        if (n == c->numbers) return 1;
        wholes += (double)n;
        numbers += (double)c->numbers;
    }
    return numbers > 0 ? pow((wholes + 1) / (numbers + 2), (double)e->column[0].numbers) : 1;
}

static wte_status refuse_alike(const wte__text_decision *d, const char *why)
{
    return wte__fail(d->err, WTE_E_UNSUPPORTED, d->l->first,
                     "%s: column 1 is a key, or the first of %" PRIu64 " numbers: %s; choose with "
                     "--keys first or --keys none",
                     d->path, d->survey.fields, why);
}

/* 0, 1, 2, ... or 1, 2, 3, ... */
static bool counts_rows(const wte__text_evidence *e)
{
    const wte__text_column *c = &e->column[0];
    return c->steps && c->step == 1 && (c->first == 0 || c->first == 1) && e->rows >= COUNTING_ROWS;
}

/* All columns hold whole numbers. */
static wte_status judge_integers(wte__text_decision *d, bool *key)
{
    const wte__text_evidence *e = d->evidence;
    const wte__text_column *c = &e->column[0];
    double others = 0;
    bool steps = false, negatives = false;
    for (uint64_t i = 1; i < counted_columns(e); i++) {
        if (e->column[i].size > others) others = e->column[i].size;
        negatives |= e->column[i].negatives > 0;
        steps |= e->column[i].steps;
    }
    *key = false;
    const bool counts = c->steps && c->step == 1 && (c->first == 0 || c->first == 1);
    if (e->distinct && !steps && (counts || (c->steps && e->rows >= COUNTING_ROWS)))
        return refuse_alike(d, "it goes up by equal steps");
    if (e->distinct && negatives && c->negatives == 0)
        return refuse_alike(d, "it alone has no negative numbers, and none comes twice");
    if (e->distinct && c->size > others && c->negatives == 0)
        return refuse_alike(d, "its numbers are larger than all others, and none comes twice");
    wte__text_because(d, "every column holds whole numbers, and the first is like the others");
    return WTE_OK;
}

/* The first column holds whole numbers, the others fractions. */
static wte_status judge_wholes(wte__text_decision *d, bool by_value, bool *key)
{
    const wte__text_evidence *e = d->evidence;
    const double chance = chance_of_wholes(e, by_value);
    const bool counts = counts_rows(e);
    *key = e->distinct && (chance < CHANCE_OF_NUMBERS || counts);
    if (*key) {
        wte__text_because(d, "column 1 holds %s in %" PRIu64 " lines, the others fractions",
                          counts ? "the numbers of the rows" : "different whole numbers", e->rows);
        return WTE_OK;
    }
    if (e->distinct)
        return refuse_alike(d, "it holds different whole numbers, but so few that this "
                               "may be chance");
    if (chance < CHANCE_OF_NUMBERS)
        return refuse_alike(d, "it holds whole numbers beside fractions, but some come twice");
    wte__text_because(d, "whole numbers are in every column, and in the first some come twice");
    return WTE_OK;
}

/* The first column holds fractions, too. */
static wte_status judge_fractions(wte__text_decision *d, bool *key)
{
    const wte__text_evidence *e = d->evidence;
    const wte__text_column *c = &e->column[0];
    double size = 0;
    uint64_t decimals = UINT64_MAX;
    *key = false;
    wte__text_because(d, "column 1 holds fractions as the others do");
    for (uint64_t i = 1; i < counted_columns(e); i++) {
        if (e->column[i].size > size) size = e->column[i].size;
        if (e->column[i].decimals < decimals) decimals = e->column[i].decimals;
    }
    if (!e->distinct || e->rows < COUNTING_ROWS || e->columns < 3) return WTE_OK;
    if (c->size > SIZE_STANDS_OUT * size)
        return refuse_alike(d, "its numbers are larger than all others, and none comes twice");
    if (c->decimals + DECIMALS_STAND_OUT <= decimals)
        return refuse_alike(d,
                            "its numbers have fewer digits than all others, and none comes twice");
    return WTE_OK;
}

static wte_status judge_first_column(wte__text_decision *d, bool *key)
{
    const wte__text_evidence *e = d->evidence;
    const wte__text_column *c = &e->column[0];
    *key = c->words > 0;
    if (c->words > 0 && c->words == c->missing)
        return refuse_alike(d, "it holds numbers, and marks of missing values");
    if (*key) {
        wte__text_because(d, "column 1 holds words in %" PRIu64 " of %" PRIu64 " lines", c->words,
                          e->rows);
        return WTE_OK;
    }
    bool integers = true;
    for (uint64_t i = 0; i < counted_columns(e); i++)
        integers &= e->column[i].wholes == e->column[i].numbers;
    if (integers) return judge_integers(d, key);
    if (c->integers == c->numbers) return judge_wholes(d, false, key);
    if (c->wholes == c->numbers) return judge_wholes(d, true, key);
    return judge_fractions(d, key);
}

/* A table whose every column holds numbers. */
wte_status wte__text_keys_of_numbers(wte__text_decision *d, bool *key)
{
    const wte__text_survey *s = &d->survey;
    size_t first_quoted = 0, others_quoted = 0;
    *key = false;
    wte__text_because(d, "every column holds numbers");
    if (s->fields == 1 || d->wish->keys == WTE_TEXT_KEYS_WORDS) return WTE_OK;
    for (size_t i = 0; i < s->n; i++) {
        first_quoted += s->line[i].first_quoted;
        others_quoted += s->line[i].quoted > s->line[i].first_quoted;
    }
    if (first_quoted == s->n && others_quoted == 0 && s->n > 1) {
        *key = true;
        wte__text_because(d, "column 1 is in quotes, the numbers are not");
        return WTE_OK;
    }
    if (!d->whole && !d->sampled) {
        d->wants_more = true;
        return WTE_OK;
    }
    if (!d->evidence) {
        d->evidence = wte__alloc(d->allocator, sizeof *d->evidence);
        if (!d->evidence)
            return wte__no_memory(d->err, sizeof *d->evidence, "the evidence of a text");
    }
    WTE_TRY(gather_evidence(d));
    if (d->evidence->rows < 2) return refuse_alike(d, "there is but one line to judge by");
    return judge_first_column(d, key);
}
