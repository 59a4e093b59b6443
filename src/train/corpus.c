/* A corpus: its words are counted in one pass and numbered, and then read as numbers, as often and
 * in as many parts as wanted. Nothing of the text is kept. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "format/format.h"
#include "train/corpus.h"

/* Words whose slots are on their way at a time. */
#define BATCH 32u

/* Counting ------------------------------------------------------------------------------------- */

typedef struct counter {
    wte_corpus *c;
    const wte_corpus_options *opt;
    bool given; /* words are given */
    wte__corpus_scan scan;
    wte__words words; /* in the order in which they appear, or those that are given */
    uint64_t *counts;
    size_t cap;
    uint64_t reported;
} counter;

static wte_status count_word(counter *k, wte__bytes word, uint64_t hash, wte_error *err)
{
    uint32_t number;
    k->c->info.tokens++;
    if (word.data == wte__line_end) k->c->info.lines++;
    if (k->given) {
        number = wte__words_find(&k->words, word, hash);
        if (number == WTE_CORPUS_UNKNOWN) return WTE_OK;
    } else {
        char shown[WTE__NAME_SHOWN];
        const wte_status status =
            wte__words_add(&k->words, word, hash, WTE_LIMIT_CORPUS_DISTINCT, &number, err);
        if (status != WTE_OK) wte__error_prefix(err, wte__show_path(shown, k->c->path));
        if (status != WTE_OK) return status;
    }
    if (number >= k->cap) {
        const size_t old = k->cap;
        void *block = k->counts;
        if (!wte__grow(k->c->allocator, &block, &k->cap, (size_t)number + 1, sizeof *k->counts))
            return wte__no_memory(err, ((uint64_t)number + 1) * 8, "counts of words");
        k->counts = block;
        memset(k->counts + old, 0, (k->cap - old) * sizeof *k->counts);
    }
    k->counts[number]++;
    return WTE_OK;
}

static wte_status report_bytes(counter *k, wte_error *err)
{
    const uint64_t at = wte__corpus_scan_at(&k->scan), step = 4 * WTE__SCAN_BYTES;
    const wte_progress *progress = k->opt->progress;
    if (!progress || at - k->reported < step) return WTE_OK;
    k->reported = at;
    if (progress->report(progress->ctx, at, k->c->file.size)) return WTE_OK;
    return wte__fail(err, WTE_E_CANCELLED, WTE_NO_INDEX, "counting words was stopped");
}

/* Every second byte of such a text is a white space to us, and every word a letter. */
static wte_status check_utf16(const wte_corpus *c, wte_error *err)
{
    uint8_t head[2];
    char shown[WTE__NAME_SHOWN];
    if (c->file.size < sizeof head) return WTE_OK;
    WTE_TRY(wte__file_read_at(&c->file, 0, head, sizeof head, c->path, err));
    if ((head[0] != 0xff || head[1] != 0xfe) && (head[0] != 0xfe || head[1] != 0xff)) return WTE_OK;
    return wte__fail(
        err, WTE_E_UNSUPPORTED, 0,
        "%s: begins as UTF-16 does, but words are cut out of UTF-8 (iconv -f UTF-16 -t "
        "UTF-8 makes it that)",
        wte__show_path(shown, c->path));
}

static wte_status count_text(counter *k, wte_error *err)
{
    wte__bytes words[BATCH];
    uint64_t hash[BATCH];
    size_t n;
    WTE_TRY(check_utf16(k->c, err));
    WTE_TRY(wte__corpus_scan_start(&k->scan, 0, false, err));
    for (;;) {
        WTE_TRY(wte__corpus_scan_words(&k->scan, words, BATCH, &n, err));
        if (n == 0) return WTE_OK;
        for (size_t i = 0; i < n; i++) {
            hash[i] = wte__words_hash(&k->words, words[i]);
            wte__words_expect(&k->words, hash[i]);
        }
        for (size_t i = 0; i < n; i++) WTE_TRY(count_word(k, words[i], hash[i], err));
        WTE_TRY(report_bytes(k, err));
    }
}

/* Choosing ------------------------------------------------------------------------------------- */

typedef struct counted {
    uint64_t count;
    uint32_t number;
} counted;

static int by_count(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return x->count > y->count ? -1 : x->count < y->count;
}

/* The words that are kept, the most frequent first, become the corpus' own. */
static wte_status take_order(counter *k, counted *order, size_t n, wte_error *err)
{
    wte_corpus *c = k->c;
    if (n == 0) return WTE_OK; /* refused later on */
    c->counts = wte__alloc_array(c->allocator, n, sizeof *c->counts);
    if (!c->counts) return wte__no_memory(err, n * sizeof *c->counts, "counts of words");
    c->info.words = n; /* so that clearing knows its size */
    for (size_t i = 0; i < n; i++) {
        const wte__bytes word = wte__token_list_text(&k->words.list, order[i].number);
        c->counts[i] = order[i].count;
        WTE_TRY(wte__token_list_add(&c->words.list, word, WTE_TAG_NORMAL, err));
    }
    return WTE_OK;
}

static wte_status choose_words(counter *k, wte_error *err)
{
    const uint64_t least = k->opt->min_count ? k->opt->min_count : 1;
    const uint64_t most = k->opt->max_words && k->opt->max_words < WTE_LIMIT_CORPUS_WORDS
                              ? k->opt->max_words
                              : WTE_LIMIT_CORPUS_WORDS;
    const wte_allocator *a = k->c->allocator;
    const uint64_t all = k->words.list.n;
    if (all == 0) return WTE_OK;
    counted *order = wte__alloc_array(a, all, sizeof *order);
    counted *scratch = wte__alloc_array(a, all, sizeof *order);
    wte_status status = WTE_OK;
    if (!order || !scratch) {
        status = wte__no_memory(err, all * sizeof *order, "the order of words");
    } else {
        size_t n = 0;
        for (uint64_t i = 0; i < all; i++)
            if (k->counts[i] >= least) order[n++] = (counted){ k->counts[i], (uint32_t)i };
        wte__sort(order, n, sizeof *order, by_count, scratch);
        status = take_order(k, order, n < most ? n : (size_t)most, err);
    }
    wte__free(a, order, (size_t)all * sizeof *order);
    wte__free(a, scratch, (size_t)all * sizeof *order);
    return status;
}

/* The words that are given stay as they are. */
static wte_status keep_given(counter *k, wte_error *err)
{
    wte_corpus *c = k->c;
    const uint64_t n = k->words.list.n;
    c->counts = wte__alloc_zeroed(c->allocator, (size_t)n * sizeof *c->counts);
    if (!c->counts) return wte__no_memory(err, n * sizeof *c->counts, "counts of words");
    c->info.words = n;
    if (k->cap) memcpy(c->counts, k->counts, (k->cap < n ? k->cap : (size_t)n) * sizeof *c->counts);
    const wte__words given = k->words;
    k->words = c->words; /* empty: clearing both stays right */
    c->words = given;
    return WTE_OK;
}

wte__bytes wte__corpus_given_word(const wte_corpus_options *opt, uint64_t i)
{
    if (opt->vocab) return wte__token_list_text(opt->vocab, i);
    wte__bytes word = { NULL, 0 };
    word.data = (const uint8_t *)wte_vocab_raw_text(opt->model_vocab, i, &word.size);
    return word.data ? word : (wte__bytes){ (const uint8_t *)"", 0 };
}

uint64_t wte__corpus_given_words(const wte_corpus_options *opt)
{
    if (opt->vocab) return opt->vocab->n;
    return opt->model_vocab ? wte_vocab_size(opt->model_vocab) : 0;
}

static wte_status no_words(const wte_corpus *c, const wte_corpus_options *opt, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte__show_path(shown, c->path);
    if (c->info.tokens == c->info.lines)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: an empty corpus: no words are in it", shown);
    if (opt->vocab || opt->model_vocab)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: none of its %" PRIu64 " words is one of the %" PRIu64 " given", shown,
                         c->info.tokens - c->info.lines, wte__corpus_given_words(opt));
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: none of its words occurs %" PRIu64 " times, the count asked for", shown,
                     opt->min_count);
}

/* Whether a word but the line end is known; sums up what is. */
static wte_status sum_up(wte_corpus *c, const wte_corpus_options *opt, const wte__words *met,
                         wte_error *err)
{
    uint64_t known = 0, ends = 0;
    for (uint64_t i = 0; i < c->info.words; i++) {
        const wte__bytes word = wte__token_list_text(&c->words.list, i);
        known += c->counts[i];
        if (word.size == sizeof wte__line_end &&
            memcmp(word.data, wte__line_end, sizeof wte__line_end) == 0)
            ends += c->counts[i];
    }
    c->info.oov = c->info.tokens - known;
    for (uint64_t i = 0; i < met->list.n; i++)
        if (met != &c->words || c->counts[i])
            c->info.invalid += !wte__utf8_valid(wte__token_list_text(&met->list, i));
    return known == ends ? no_words(c, opt, err) : wte__words_index(&c->words, err);
}

static wte_status take_vocab(counter *k, wte_error *err)
{
    const uint64_t n = wte__corpus_given_words(k->opt);
    char shown[WTE__NAME_SHOWN];
    if (n > WTE_LIMIT_CORPUS_WORDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: %" PRIu64 " words are given, but tables have at most %u rows here",
                         wte__show_path(shown, k->c->path), n, WTE_LIMIT_CORPUS_WORDS);
    if (n == 0 || (k->opt->vocab && k->opt->model_vocab))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_corpus_open: %s",
                         n ? "vocab and model_vocab" : "an empty vocab");
    for (uint64_t i = 0; i < n; i++)
        WTE_TRY(wte__token_list_add(&k->words.list, wte__corpus_given_word(k->opt, i),
                                    WTE_TAG_NORMAL, err));
    return WTE_OK;
}

static wte_status count_and_choose(wte_corpus *c, const wte_corpus_options *opt, wte_error *err)
{
    counter k = { .c = c, .opt = opt, .given = opt->vocab || opt->model_vocab };
    const wte__corpus_scan scan = {
        .file = &c->file, .path = c->path, .lines = c->lines, .stop = c->file.size
    };
    k.scan = scan;
    wte__words_init(&k.words, c->allocator);
    wte_status status = k.given ? take_vocab(&k, err) : WTE_OK;
    if (status == WTE_OK) status = wte__words_index(&k.words, err);
    if (status == WTE_OK) {
        k.scan.buf = wte__alloc(c->allocator, WTE__SCAN_BYTES);
        if (!k.scan.buf) status = wte__no_memory(err, WTE__SCAN_BYTES, "a block of text");
    }
    if (status == WTE_OK) status = count_text(&k, err);
    c->content = k.scan.content;
    if (status == WTE_OK) status = k.given ? keep_given(&k, err) : choose_words(&k, err);
    if (status == WTE_OK) status = sum_up(c, opt, k.given ? &c->words : &k.words, err);
    wte__free(c->allocator, k.scan.buf, WTE__SCAN_BYTES);
    wte__free(c->allocator, k.counts, k.cap * sizeof *k.counts);
    wte__words_clear(&k.words);
    return status;
}

wte_status wte_corpus_open(const char *path, const wte_corpus_options *options, wte_corpus **out,
                           wte_error *err)
{
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    WTE_TRY(wte__need(out, "wte_corpus_open: out", err));
    *out = NULL;
    WTE_TRY(wte__need(path, "wte_corpus_open: path", err));
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    wte_corpus *c = wte__alloc_zeroed(opt.allocator, sizeof *c);
    if (!c) return wte__no_memory(err, sizeof *c, "a corpus");
    c->allocator = opt.allocator;
    c->file.fd = -1;
    c->lines = !opt.no_eos;
    c->min_count = opt.min_count ? opt.min_count : 1;
    wte__words_init(&c->words, c->allocator);
    wte_status status = WTE_OK;
    c->path = wte__strdup(c->allocator, path);
    if (!c->path) status = wte__no_memory(err, strlen(path) + 1, "a path");
    if (status == WTE_OK) status = wte__file_open(&c->file, path, err);
    if (status == WTE_OK) {
        c->info.bytes = c->file.size;
        status = wte__corpus_find_ids(c, &opt, err);
    }
    if (status == WTE_OK)
        status = c->ids_type ? wte__corpus_count_ids(c, &opt, err) : count_and_choose(c, &opt, err);
    if (status == WTE_OK)
        *out = c;
    else
        wte_corpus_free(c);
    return status;
}

void wte_corpus_free(wte_corpus *c)
{
    if (!c) return;
    wte__file_close(&c->file);
    wte__strfree(c->allocator, c->path);
    wte__free(c->allocator, c->counts, (size_t)c->info.words * sizeof *c->counts);
    wte__words_clear(&c->words);
    wte__free(c->allocator, c, sizeof *c);
}

wte_status wte__callback_check(const wte_train_callback *watch, wte_error *err)
{
    if (!watch || watch->report) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "watch has no report function");
}

void wte_corpus_get(const wte_corpus *c, wte_corpus_info *out)
{
    if (out) *out = c ? c->info : (wte_corpus_info){ 0 };
}

const wte_token_list *wte_corpus_words(const wte_corpus *c)
{
    return c ? &c->words.list : NULL;
}

const uint64_t *wte_corpus_counts(const wte_corpus *c)
{
    return c ? c->counts : NULL;
}

/* Reading -------------------------------------------------------------------------------------- */

struct wte_corpus_reader {
    const wte_corpus *c;
    uint64_t begin, stop; /* of the part: bytes, or ids */
    uint64_t at;          /* of ids: the next one */
    wte__corpus_scan scan;
    uint8_t *buf; /* WTE__SCAN_BYTES, of text and of ids */
};

static wte_status check_unchanged(const wte_corpus *c, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (!wte__file_has_changed(&c->file)) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: has changed since its words were counted",
                     wte__show_path(shown, c->path));
}

/* size * part / parts, of any size */
static uint64_t share_of(uint64_t size, uint32_t part, uint32_t parts)
{
    return size / parts * part + size % parts * part / parts;
}

wte_status wte_corpus_reader_create(const wte_corpus *c, uint32_t part, uint32_t parts,
                                    wte_corpus_reader **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_corpus_reader_create: out", err));
    *out = NULL;
    WTE_TRY(wte__need(c, "wte_corpus_reader_create: c", err));
    if (part >= parts)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "wte_corpus_reader_create: part %" PRIu32 " of %" PRIu32, part, parts);
    wte_corpus_reader *r = wte__alloc_zeroed(c->allocator, sizeof *r);
    if (!r) return wte__no_memory(err, sizeof *r, "a reader of a corpus");
    r->c = c;
    r->buf = wte__alloc(c->allocator, WTE__SCAN_BYTES);
    if (!r->buf) {
        wte_corpus_reader_free(r);
        return wte__no_memory(err, WTE__SCAN_BYTES, "a block of a corpus");
    }
    const uint64_t size = c->ids_type ? c->ids_count : c->file.size;
    r->begin = share_of(size, part, parts);
    r->stop = part + 1 == parts ? size : share_of(size, part + 1, parts);
    const wte__corpus_scan scan = {
        .file = &c->file, .path = c->path, .lines = c->lines, .stop = r->stop, .buf = r->buf
    };
    r->scan = scan;
    const wte_status status = wte_corpus_reader_seek(r, 0, err);
    if (status == WTE_OK)
        *out = r;
    else
        wte_corpus_reader_free(r);
    return status;
}

void wte_corpus_reader_free(wte_corpus_reader *r)
{
    if (!r) return;
    wte__free(r->c->allocator, r->buf, WTE__SCAN_BYTES);
    wte__free(r->c->allocator, r, sizeof *r);
}

wte_status wte_corpus_reader_seek(wte_corpus_reader *r, uint64_t at, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(wte__need(r, "wte_corpus_reader_seek: r", err));
    WTE_TRY(check_unchanged(r->c, err));
    const uint64_t size = r->c->ids_type ? r->c->ids_count : r->c->file.size;
    if (at != 0 && (at < r->begin || at > size))
        return wte__fail(err, WTE_E_RANGE, at,
                         "%s: %" PRIu64 " lies outside the part, which goes from %" PRIu64
                         " to %" PRIu64,
                         wte__show_path(shown, r->c->path), at, r->begin, r->stop);
    r->at = at ? at : r->begin;
    return r->c->ids_type ? WTE_OK : wte__corpus_scan_start(&r->scan, r->at, at == 0, err);
}

uint64_t wte_corpus_reader_at(const wte_corpus_reader *r)
{
    if (!r) return 0;
    return r->c->ids_type ? r->at : wte__corpus_scan_at(&r->scan);
}

static wte_status read_ids(wte_corpus_reader *r, uint32_t *ids, size_t cap, size_t *n,
                           wte_error *err)
{
    while (*n < cap && r->at < r->stop) {
        const size_t room = WTE__SCAN_BYTES / sizeof(int64_t);
        size_t want = cap - *n < room ? cap - *n : room;
        if (want > r->stop - r->at) want = (size_t)(r->stop - r->at);
        WTE_TRY(wte__corpus_read_ids(r->c, r->at, want, r->buf, ids + *n, err));
        for (size_t i = 0; i < want; i++)
            if (ids[*n + i] >= r->c->info.words) ids[*n + i] = WTE_CORPUS_UNKNOWN;
        *n += want;
        r->at += want;
    }
    return WTE_OK;
}

static wte_status read_text(wte_corpus_reader *r, uint32_t *ids, size_t cap, size_t *n,
                            wte_error *err)
{
    wte__bytes words[BATCH];
    uint64_t hash[BATCH];
    const wte__words *known = &r->c->words;
    while (*n < cap) {
        size_t k;
        WTE_TRY(
            wte__corpus_scan_words(&r->scan, words, cap - *n < BATCH ? cap - *n : BATCH, &k, err));
        if (k == 0) return WTE_OK;
        for (size_t i = 0; i < k; i++) {
            hash[i] = wte__words_hash(known, words[i]);
            wte__words_expect(known, hash[i]);
        }
        for (size_t i = 0; i < k; i++) ids[*n + i] = wte__words_find(known, words[i], hash[i]);
        *n += k;
    }
    return WTE_OK;
}

wte_status wte_corpus_read(wte_corpus_reader *r, uint32_t *ids, size_t cap, size_t *n,
                           wte_error *err)
{
    WTE_TRY(wte__need(n, "wte_corpus_read: n", err));
    *n = 0;
    WTE_TRY(wte__need(r, "wte_corpus_read: r", err));
    if (cap) WTE_TRY(wte__need(ids, "wte_corpus_read: ids", err));
    wte_status status =
        r->c->ids_type ? read_ids(r, ids, cap, n, err) : read_text(r, ids, cap, n, err);
    if (status == WTE_OK && *n == 0) status = check_unchanged(r->c, err);
    if (status != WTE_OK) *n = 0;
    return status;
}
