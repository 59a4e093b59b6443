/* What a run is: options and their defaults, the sizes of tables, the memory it takes. */
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "train/corpus.h"
#include "train/wordvec.h"

static void fill_in(wte_wordvec_options *o)
{
    if (o->dim == 0) o->dim = 100;
    if (o->window == 0) o->window = 5;
    if (o->hierarchical)
        o->negative = 0;
    else if (o->negative == 0)
        o->negative = 5;
    if (o->power == 0) o->power = 0.75;
    if (o->max_n == 0)
        o->min_n = o->buckets = 0;
    else if (o->buckets == 0)
        o->buckets = 2000000;
    if (o->max_n && o->min_n == 0) o->min_n = 1;
    if (o->sample == 0) o->sample = 1e-4;
    if (o->lr == 0) o->lr = o->method == WTE_WORDVEC_CBOW || o->max_n ? 0.05 : 0.025;
    if (o->epochs == 0) o->epochs = 5;
    if (o->checkpoint_seconds == 0) o->checkpoint_seconds = 60;
    if (o->max_bytes == 0) o->max_bytes = WTE_LIMIT_TABLE_BYTES;
}

static wte_status refuse(wte_error *err, const char *what, uint64_t is, uint64_t most)
{
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "%s is %" PRIu64 ", but at most %" PRIu64,
                     what, is, most);
}

static wte_status check_options(const wte_wordvec_options *o, wte_error *err)
{
    if (o->method != WTE_WORDVEC_SKIP_GRAM && o->method != WTE_WORDVEC_CBOW)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "no method %d", (int)o->method);
    if (o->dim > WTE_LIMIT_WORDS_DIM)
        return refuse(err, "the dimension", o->dim, WTE_LIMIT_WORDS_DIM);
    if (o->window > WTE_LIMIT_WORDS_WINDOW)
        return refuse(err, "the window", o->window, WTE_LIMIT_WORDS_WINDOW);
    if (o->negative > WTE_LIMIT_WORDS_NEGATIVE)
        return refuse(err, "the number of negative samples", o->negative, WTE_LIMIT_WORDS_NEGATIVE);
    if (o->max_n > WTE_LIMIT_NGRAM)
        return refuse(err, "the length of n-grams", o->max_n, WTE_LIMIT_NGRAM);
    if (o->min_n > o->max_n)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "the least length of n-grams is %" PRIu64 ", but at most %" PRIu64,
                         (uint64_t)o->min_n, (uint64_t)o->max_n);
    if (o->buckets > WTE_LIMIT_WORDS_BUCKETS)
        return refuse(err, "the number of buckets", o->buckets, WTE_LIMIT_WORDS_BUCKETS);
    if (!isfinite(o->lr) || o->lr <= 0)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "a learning rate of %g", o->lr);
    if (!isfinite(o->sample))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "a sample of %g", o->sample);
    if (!(o->power > 0 && o->power <= 1))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "a power of %g, but it is above 0 and at most 1", o->power);
    if (!(o->seconds >= 0) || !(o->checkpoint_seconds >= 0))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "a time below 0");
    if (o->init_from && o->init_input_from)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "two tables to start from");
    if (o->resume && !o->checkpoint)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "nothing to go on from: no checkpoint is named");
    return WTE_OK;
}

/* Words that can be drawn: one alone has nothing to be told from but the ends of its lines. */
static wte_status check_words(const wte_corpus *c, uint64_t line_end, wte_error *err)
{
    char shown[WTE__NAME_SHOWN], word[WTE__NAME_SHOWN];
    uint64_t seen = 0, only = 0;
    for (uint64_t i = 0; i < c->info.words && seen < 2; i++) {
        if (c->counts[i] == 0 || i == line_end) continue;
        only = i;
        seen++;
    }
    if (seen > 1) return WTE_OK;
    const wte__bytes text = wte__token_list_text(&c->words.list, only);
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: '%s' is its only known word: there is nothing to tell it from",
                     wte__show_path(shown, c->path), wte__show(word, text.data, text.size));
}

static void find_line_end(wte__wordvec_plan *p)
{
    const wte__words *words = &p->corpus->words;
    const wte__bytes end = { wte__line_end, sizeof wte__line_end };
    p->line_end = WTE_NO_INDEX;
    if (p->corpus->ids_type) return;
    const uint32_t number = wte__words_find(words, end, wte__words_hash(words, end));
    if (number != WTE_CORPUS_UNKNOWN) p->line_end = number;
}

static uint64_t count_grams(const wte__wordvec_plan *p)
{
    uint64_t n = 0, row;
    for (uint64_t i = 0; i < p->rows; i++) {
        wte__ngrams it;
        if (!wte__wordvec_has_grams(p, i)) continue;
        wte__ngrams_start(&it, &p->rule, wte__token_list_text(&p->corpus->words.list, i));
        while (wte__ngrams_next(&it, &row)) n++;
    }
    return n;
}

/* What is drawn by, while it is made and then: the larger of both, word by word. */
static uint64_t drawn_bytes(const wte__wordvec_plan *p)
{
    uint64_t n = p->rows * sizeof(uint32_t);
    if (p->o.max_n) n += p->rows * sizeof(uint64_t) + (p->rows + p->grams) * sizeof(uint32_t);
    if (!p->o.hierarchical) return n + p->rows * (sizeof(wte__wordvec_alias) + 12);
    return n + p->rows * (8 + 56);
}

/* Of one thread: its window, its words, its block of the corpus. */
static uint64_t thread_bytes(const wte__wordvec_plan *p)
{
    return 2 * (p->ring + 2) * p->stride * sizeof(float) +
           (WTE__WORDS_BLOCK + WTE__WORDS_SENTENCE) * sizeof(uint32_t) +
           sizeof(wte__wordvec_worker) + WTE__SCAN_BYTES;
}

static bool count_bytes(wte__wordvec_plan *p)
{
    const uint64_t both = p->in_rows + p->out_rows, line = p->stride * sizeof(float);
    uint64_t tables;
    return wte__mul_u64(both, line, &tables) &&
           wte__add_u64(tables, drawn_bytes(p) + p->parts * thread_bytes(p), &p->bytes) &&
           wte__add_u64(p->bytes, sizeof(wte_wordvec) + 128, &p->bytes);
}

static wte_status check_start(const wte__wordvec_plan *p, const wte_row_source *start,
                              uint64_t rows, const char *what, wte_error *err)
{
    if (!start) return WTE_OK;
    WTE_TRY(wte_check_rows(start, err));
    if (start->rows != rows || start->cols != p->o.dim)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s is %" PRIu64 " x %" PRIu64 ", but training has %" PRIu64 " x %" PRIu64,
                         what, start->rows, start->cols, rows, p->o.dim);
    if (!wte_dtype_converts(start->dtype))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s is of %s, which is not converted", what, wte_dtype_name(start->dtype));
    return WTE_OK;
}

wte_status wte__wordvec_plan_make(wte__wordvec_plan *p, const wte_corpus *corpus,
                                  const wte_wordvec_options *opt, wte_error *err)
{
    const wte_wordvec_options defaults = WTE_WORDVEC_OPTIONS_INIT;
    memset(p, 0, sizeof *p);
    p->o = defaults;
    WTE_TRY(wte__options(&p->o, sizeof p->o, opt, err));
    WTE_TRY(wte__need_functions(p->o.allocator, NULL, err));
    fill_in(&p->o);
    WTE_TRY(check_options(&p->o, err));
    p->corpus = corpus;
    find_line_end(p);
    WTE_TRY(check_words(corpus, p->line_end, err));
    if (corpus->ids_type && p->o.max_n)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "a corpus of ids has no characters to make n-grams of");
    uint64_t total;
    if (!wte__mul_u64(corpus->info.tokens, p->o.epochs, &total))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " epochs of %" PRIu64 " words are over 2^64 words", p->o.epochs,
                         corpus->info.tokens);
    p->corpus_info = corpus->info;
    p->rows = corpus->info.words;
    p->in_rows = p->rows + p->o.buckets;
    p->out_rows = p->o.hierarchical ? p->rows - 1 : p->rows;
    p->stride = (size_t)(p->o.dim + 15) / 16 * 16;
    p->ring = 1;
    while (p->ring < 2 * p->o.window + 1) p->ring *= 2;
    p->parts = p->o.deterministic ? 1 : wte_pool_n_threads(p->o.pool);
    p->rule.min = (uint32_t)p->o.min_n;
    p->rule.max = (uint32_t)p->o.max_n;
    p->rule.buckets = (uint32_t)p->o.buckets;
    p->rule.words = p->rows;
    p->grams = p->o.max_n ? count_grams(p) : 0;
    if (!count_bytes(p) || p->bytes > p->o.max_bytes)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "training takes %" PRIu64 " bytes, but at most %" PRIu64
                         " are allowed (" WTE__RAISE_BYTES ")",
                         p->bytes, p->o.max_bytes);
    WTE_TRY(check_start(p, p->o.init_from, p->rows, "the table to start from", err));
    WTE_TRY(check_start(p, p->o.init_input_from, p->in_rows,
                        "the table of words and n-grams to start from", err));
    return check_start(p, p->o.init_output_from, p->out_rows, "the other table to start from", err);
}
