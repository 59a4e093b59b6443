/* What words of a file are as rows, and what a table makes of them: correlation with judgements,
 * and answers to analogies. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <wte/head.h>

#include "base/checked.h"
#include "base/limits.h"
#include "train/eval.h"

/* Words ---------------------------------------------------------------------------------------- */

static uint64_t row_of(const wte_vocab *vocab, const char *text, uint64_t bytes, uint64_t rows)
{
    uint64_t id;
    if (wte_vocab_find(vocab, text, bytes, &id, NULL, NULL) != WTE_OK || id >= rows)
        return WTE_NO_INDEX;
    return id;
}

uint64_t wte_word_row(const wte_vocab *vocab, wte_word word, uint32_t forms, uint64_t rows)
{
    char form[WTE_LIMIT_EVAL_WORD + 1];
    const size_t n = (size_t)word.bytes;
    if (!vocab || !word.text || word.bytes == 0 || word.bytes > WTE_LIMIT_EVAL_WORD)
        return WTE_NO_INDEX;
    form[0] = ' ';
    memcpy(form + 1, word.text, n);
    for (int lower = 0; lower <= ((forms & WTE_WORD_LOWER) != 0); lower++) {
        for (size_t i = 1; lower && i <= n; i++)
            if (form[i] >= 'A' && form[i] <= 'Z') form[i] = (char)(form[i] - 'A' + 'a');
        uint64_t row = WTE_NO_INDEX;
        if (forms & WTE_WORD_SPACED) row = row_of(vocab, form, word.bytes + 1, rows);
        if (row == WTE_NO_INDEX) row = row_of(vocab, form + 1, word.bytes, rows);
        if (row != WTE_NO_INDEX) return row;
    }
    return WTE_NO_INDEX;
}

/* Correlation ---------------------------------------------------------------------------------- */

wte_status wte_pearson(const double *x, const double *y, uint64_t n, double *out, wte_error *err)
{
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_pearson: out", err));
    WTE_TRY(wte__need_array(x, n, sizeof *x, "wte_pearson: x", err));
    WTE_TRY(wte__need_array(y, n, sizeof *y, "wte_pearson: y", err));
    for (uint64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return wte__fail(err, WTE_E_ARGUMENT, i,
                             "pair %" PRIu64 " (%g, %g) is not of two finite numbers", i, x[i],
                             y[i]);
        mean_x += (x[i] - mean_x) / (double)(i + 1);
        mean_y += (y[i] - mean_y) / (double)(i + 1);
    }
    for (uint64_t i = 0; i < n; i++) {
        const double a = x[i] - mean_x, b = y[i] - mean_y;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    *out = (double)NAN;
    if (n >= 2 && xx > 0 && yy > 0) *out = fmax(-1, fmin(1, xy / (sqrt(xx) * sqrt(yy))));
    return WTE_OK;
}

typedef struct placed {
    double value;
    uint64_t at;
} placed;

static int by_value(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Ranks from 1; equal values share the mean of theirs. */
static void rank_all(const double *x, uint64_t n, placed *sorted, double *rank)
{
    for (uint64_t i = 0; i < n; i++) sorted[i] = (placed){ x[i], i };
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (uint64_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && sorted[end].value == sorted[first].value) end++;
        const double shared = (double)(first + 1 + end) / 2;
        for (uint64_t i = first; i < end; i++) rank[sorted[i].at] = shared;
    }
}

wte_status wte_spearman(const double *x, const double *y, uint64_t n,
                        const wte_allocator *allocator, double *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_spearman: out", err));
    WTE_TRY(wte__need_functions(allocator, NULL, err));
    WTE_TRY(wte_pearson(x, y, n, out, err)); /* checks */
    if (n < 2) return WTE_OK;
    *out = 0;
    placed *sorted = wte__alloc_array(allocator, n, sizeof *sorted);
    double *ranks = wte__alloc_array(allocator, n, 2 * sizeof *ranks);
    wte_status status;
    if (sorted && ranks) {
        rank_all(x, n, sorted, ranks);
        rank_all(y, n, sorted, ranks + n);
        status = wte_pearson(ranks, ranks + n, n, out, err);
    } else {
        status = wte__no_memory(err, n * (sizeof *sorted + 2 * sizeof *ranks), "ranks");
    }
    wte__free(allocator, sorted, (size_t)n * sizeof *sorted);
    wte__free(allocator, ranks, (size_t)n * 2 * sizeof *ranks);
    return status;
}

static wte_status check_rows(const wte_row_source *table, const uint64_t *rows, uint64_t n,
                             wte_error *err)
{
    WTE_TRY(wte_check_rows(table, err));
    if (!wte_dtype_converts(table->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "rows of type %s have no numbers",
                         wte_dtype_name(table->dtype));
    if (n) WTE_TRY(wte__need(rows, "the rows of words", err));
    for (uint64_t i = 0; i < n; i++)
        if (rows[i] != WTE_NO_INDEX && rows[i] >= table->rows)
            return wte__fail(err, WTE_E_RANGE, i,
                             "row %" PRIu64 " at position %" PRIu64 ", but there are %" PRIu64
                             " rows",
                             rows[i], i, table->rows);
    return WTE_OK;
}

/* Correlates what has a cosine; the arrays are reordered. */
static wte_status correlate(const uint64_t *rows, double *cosines, double *judged, uint64_t n,
                            const wte_similarity_options *opt, wte_similarity *out, wte_error *err)
{
    uint64_t covered = 0;
    for (uint64_t i = 0; i < n; i++) {
        out->missing += rows[2 * i] == WTE_NO_INDEX || rows[2 * i + 1] == WTE_NO_INDEX;
        if (opt->cosines) opt->cosines[i] = cosines[i];
        if (isnan(cosines[i])) continue;
        cosines[covered] = cosines[i];
        judged[covered++] = judged[i];
    }
    out->covered = covered;
    WTE_TRY(wte_pearson(judged, cosines, covered, &out->pearson, err));
    return wte_spearman(judged, cosines, covered, opt->allocator, &out->spearman, err);
}

wte_status wte_eval_similarity(const wte_row_source *table, const uint64_t *rows,
                               const double *judged, uint64_t n,
                               const wte_similarity_options *options, wte_similarity *out,
                               wte_error *err)
{
    wte_similarity_options opt = WTE_SIMILARITY_OPTIONS_INIT;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_eval_similarity: out", err));
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, NULL, err));
    WTE_TRY(wte__need_array(rows, n, 2 * sizeof *rows, "wte_eval_similarity: rows", err));
    WTE_TRY(wte__need_array(judged, n, sizeof *judged, "wte_eval_similarity: judged", err));
    WTE_TRY(check_rows(table, rows, 2 * n, err));
    const double none = (double)NAN;
    wte_similarity found = { .pairs = n, .spearman = none, .pearson = none };
    if (n == 0) {
        *out = found;
        return WTE_OK;
    }
    double *work = wte__alloc_array(opt.allocator, n, 2 * sizeof *work);
    if (!work) return wte__no_memory(err, n * 2 * sizeof *work, "cosines");
    memcpy(work + n, judged, (size_t)n * sizeof *work);
    const wte__cosines c = { table, rows, n, work, NULL, opt.allocator };
    wte_status status = wte__cosines_run(&c, err);
    if (status == WTE_OK) status = correlate(rows, work, work + n, n, &opt, &found, err);
    wte__free(opt.allocator, work, (size_t)n * 2 * sizeof *work);
    if (status == WTE_OK) *out = found;
    return status;
}

/* Analogies ------------------------------------------------------------------------------------ */

#define TERMS   3u    /* a, b, c */
#define WORDS   4u    /* and d */
#define TOP     4u    /* of which at most three are terms */
#define AT_ONCE 1024u /* questions for one pass over the table */

typedef struct asking {
    const wte_analogy_options *opt;
    const uint64_t *rows;
    uint64_t first_rows; /* of the table */
    uint64_t *answers;
    wte__unit unit;
    /* of the questions at hand */
    uint64_t *asked;   /* their numbers */
    float *queries;    /* their vectors */
    wte_ranked *found; /* TOP of each */
} asking;

/* Whether it can be asked; places of its terms among the rows of length 1. */
static bool places_of(const asking *a, uint64_t question, uint64_t places[TERMS])
{
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint64_t row = a->rows[WORDS * question + i];
        if (row == WTE_NO_INDEX || row >= a->first_rows) return false;
        const uint64_t place = wte__unit_find(&a->unit, row);
        if (place == WTE_NO_INDEX) return false;
        if (i < TERMS) places[i] = place;
    }
    return true;
}

/* Fills in the next questions from *at on. */
static wte_status collect(const asking *a, uint64_t n, uint64_t *at, float *terms, uint64_t *count,
                          wte_error *err)
{
    const uint64_t cols = a->unit.rows.cols;
    uint64_t places[TERMS];
    for (*count = 0; *at < n && *count < AT_ONCE; (*at)++) {
        a->answers[*at] = WTE_NO_INDEX;
        if (!places_of(a, *at, places)) continue;
        WTE_TRY(a->unit.rows.read_rows(a->unit.rows.ctx, places, TERMS, terms, err));
        float *q = a->queries + *count * cols;
        for (uint64_t c = 0; c < cols; c++)
            q[c] =
                (float)((double)terms[cols + c] - (double)terms[c] + (double)terms[2 * cols + c]);
        a->asked[(*count)++] = *at;
    }
    return WTE_OK;
}

static uint64_t answer_of(const asking *a, uint64_t question, const wte_ranked *found)
{
    const uint64_t *terms = a->rows + WORDS * question;
    for (uint32_t i = 0; i < TOP && found[i].id != WTE_NO_INDEX; i++) {
        const uint64_t row = a->unit.pick[found[i].id];
        if (row != terms[0] && row != terms[1] && row != terms[2]) return row;
    }
    return WTE_NO_INDEX;
}

static wte_status ask_all(asking *a, uint64_t n, float *terms, wte_error *err)
{
    wte_head_options head = WTE_HEAD_OPTIONS_INIT;
    const uint64_t cols = a->unit.rows.cols;
    uint64_t count, at = 0;
    head.pool = a->opt->pool;
    head.allocator = a->opt->allocator;
    while (at < n) {
        WTE_TRY(wte__eval_tell(a->opt->progress, at, n, err));
        WTE_TRY(collect(a, n, &at, terms, &count, err));
        if (count == 0) continue;
        const wte_hidden hidden = { a->queries, WTE_F32, 0, count, cols, 0 };
        WTE_TRY(wte_head_topk(&a->unit.rows, &hidden, &head, TOP, a->found, NULL, err));
        for (uint64_t i = 0; i < count; i++)
            a->answers[a->asked[i]] = answer_of(a, a->asked[i], a->found + TOP * i);
    }
    return wte__eval_tell(a->opt->progress, n, n, err);
}

wte_status wte_eval_analogies(const wte_row_source *table, const uint64_t *rows, uint64_t n,
                              const wte_analogy_options *options, uint64_t *answers, wte_error *err)
{
    wte_analogy_options opt = WTE_ANALOGY_OPTIONS_INIT;
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(wte__need_array(rows, n, WORDS * sizeof *rows, "wte_eval_analogies: rows", err));
    WTE_TRY(check_rows(table, rows, WORDS * n, err));
    if (n == 0) return WTE_OK;
    WTE_TRY(wte__need(answers, "wte_eval_analogies: answers", err));
    asking a = { .opt = &opt, .rows = rows, .first_rows = table->rows, .answers = answers };
    if (opt.first_rows && opt.first_rows < a.first_rows) a.first_rows = opt.first_rows;
    uint64_t cells;
    if (!wte__mul_u64(AT_ONCE + TERMS, table->cols + !table->cols, &cells)) cells = UINT64_MAX;
    a.queries = wte__alloc_array(opt.allocator, cells, sizeof *a.queries);
    a.asked = wte__alloc_array(opt.allocator, AT_ONCE, sizeof *a.asked);
    a.found = wte__alloc_array(opt.allocator, (uint64_t)AT_ONCE * TOP, sizeof *a.found);
    wte_status status = WTE_OK;
    if (!a.queries || !a.asked || !a.found)
        status = wte__no_memory(err, cells * sizeof *a.queries, "analogies");
    if (status == WTE_OK)
        status = wte__unit_make(&a.unit, table, NULL, a.first_rows, opt.allocator, err);
    if (status == WTE_OK) {
        wte__unit_settle(&a.unit, NULL);
        status = ask_all(&a, n, a.queries + (uint64_t)AT_ONCE * table->cols, err);
    }
    wte__unit_free(&a.unit);
    wte__free(opt.allocator, a.queries, (size_t)cells * sizeof *a.queries);
    wte__free(opt.allocator, a.asked, AT_ONCE * sizeof *a.asked);
    wte__free(opt.allocator, a.found, (size_t)AT_ONCE * TOP * sizeof *a.found);
    return status;
}
