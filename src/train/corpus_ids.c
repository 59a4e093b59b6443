/* A corpus of ids that a tokenizer has made: an .npy file, or raw numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <wte/format.h>

#include "base/alloc.h"
#include "base/error.h"
#include "train/corpus.h"

#define BLOCK_IDS (WTE__SCAN_BYTES / sizeof(int64_t))

static bool is_id_type(wte_dtype type)
{
    return type == WTE_U16 || type == WTE_I32 || type == WTE_U32 || type == WTE_I64;
}

/* Where in the .npy file the ids are, as the room of formats reads its header. */
static wte_status find_in_npy(wte_corpus *c, wte_error *err)
{
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    char shown[WTE__NAME_SHOWN];
    wte_file *f = NULL;
    wte_tensor t;
    opt.allocator = c->allocator;
    opt.copy = 1;
    wte_status status = wte_file_open(c->path, &opt, &f, err);
    if (status == WTE_OK) status = wte_file_tensor(f, 0, &t, err);
    if (status != WTE_OK) goto done;
    if (!is_id_type(t.dtype) || t.big_endian || (t.column_major && t.rank > 1)) {
        status = wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                           "%s: holds %s%s, but ids are u16, i32, u32 or i64, little-endian and "
                           "row by row",
                           wte__show_path(shown, c->path), wte_type_name(t.dtype, t.block),
                           t.big_endian     ? ", big-endian"
                           : t.column_major ? ", column by column"
                                            : "");
        goto done;
    }
    c->ids_type = t.dtype;
    c->ids_at = t.offset;
    c->ids_count = t.bytes / (wte_dtype_bits(t.dtype) / 8);
done:
    wte_file_free(f);
    return status;
}

wte_status wte__corpus_find_ids(wte_corpus *c, const wte_corpus_options *opt, wte_error *err)
{
    static const char magic[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };
    char head[sizeof magic], shown[WTE__NAME_SHOWN];
    bool npy = c->file.size >= sizeof magic;
    if (npy) WTE_TRY(wte__file_read_at(&c->file, 0, head, sizeof head, c->path, err));
    npy = npy && memcmp(head, magic, sizeof magic) == 0;
    if (opt->ids_type == WTE_DTYPE_NONE) return npy ? find_in_npy(c, err) : WTE_OK;
    if (!is_id_type(opt->ids_type))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "ids are u16, i32, u32 or i64, not type %d", (int)opt->ids_type);
    if (npy)
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: an .npy file, which names the type of its ids itself: it is not raw "
                         "numbers of %s",
                         wte__show_path(shown, c->path),
                         wte_type_name(opt->ids_type, WTE_BLOCK_NONE));
    const uint64_t bytes = wte_dtype_bits(opt->ids_type) / 8;
    if (c->file.size % bytes)
        return wte__fail(err, WTE_E_FORMAT, c->file.size - c->file.size % bytes,
                         "%s: %" PRIu64 " bytes are no whole number of %s",
                         wte__show_path(shown, c->path), c->file.size,
                         wte_type_name(opt->ids_type, WTE_BLOCK_NONE));
    c->ids_type = opt->ids_type;
    c->ids_count = c->file.size / bytes;
    return WTE_OK;
}

wte_status wte__corpus_read_ids(const wte_corpus *c, uint64_t first, size_t n, void *scratch,
                                uint32_t *out, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const uint64_t bytes = wte_dtype_bits(c->ids_type) / 8;
    WTE_TRY(
        wte__file_read_at(&c->file, c->ids_at + first * bytes, scratch, n * bytes, c->path, err));
    const wte_ids ids = { scratch, c->ids_type, 0, n };
    for (size_t i = 0; i < n; i++) {
        const int64_t id = wte_ids_at(ids, i);
        if (id < 0)
            return wte__fail(err, WTE_E_RANGE, first + i,
                             "%s: id %" PRId64 " at position %" PRIu64 " is negative",
                             wte__show_path(shown, c->path), id, first + i);
        if (id >= (int64_t)WTE_LIMIT_CORPUS_WORDS)
            return wte__fail(err, WTE_E_LIMIT, first + i,
                             "%s: id %" PRId64 " at position %" PRIu64
                             ", but tables have at most %u rows here",
                             wte__show_path(shown, c->path), id, first + i, WTE_LIMIT_CORPUS_WORDS);
        out[i] = (uint32_t)id;
    }
    return WTE_OK;
}

/* Ids counted so far, and room for more. */
typedef struct tally {
    wte_corpus *c;
    uint64_t *counts;
    size_t cap;
    uint64_t rows;  /* largest id + 1, or what the caller wants */
    uint64_t fixed; /* that, or 0 */
    uint32_t *ids;  /* one block */
    void *scratch;
} tally;

static wte_status count_block(tally *t, uint64_t first, size_t n, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(wte__corpus_read_ids(t->c, first, n, t->scratch, t->ids, err));
    const size_t bytes = n * wte_dtype_bytes(t->c->ids_type);
    t->c->content = wte__corpus_content(t->c->content, t->scratch, bytes);
    for (size_t i = 0; i < n; i++) {
        const uint64_t rows = (uint64_t)t->ids[i] + 1;
        if (t->fixed && rows > t->fixed)
            return wte__fail(err, WTE_E_RANGE, first + i,
                             "%s: id %" PRIu32 " at position %" PRIu64
                             ", but the table has %" PRIu64 " rows",
                             wte__show_path(shown, t->c->path), t->ids[i], first + i, t->fixed);
        const size_t old = t->cap;
        void *block = t->counts;
        if (!wte__grow(t->c->allocator, &block, &t->cap, (size_t)rows, sizeof *t->counts))
            return wte__no_memory(err, rows * sizeof *t->counts, "counts of ids");
        t->counts = block;
        memset(t->counts + old, 0, (t->cap - old) * sizeof *t->counts);
        if (rows > t->rows) t->rows = rows;
        t->counts[t->ids[i]]++;
    }
    return WTE_OK;
}

static wte_status count_all(tally *t, const wte_progress *progress, wte_error *err)
{
    const uint64_t count = t->c->ids_count, bytes = wte_dtype_bits(t->c->ids_type) / 8;
    for (uint64_t first = 0; first < count; first += BLOCK_IDS) {
        const size_t n = count - first < BLOCK_IDS ? (size_t)(count - first) : BLOCK_IDS;
        WTE_TRY(count_block(t, first, n, err));
        if (progress && !progress->report(progress->ctx, (first + n) * bytes, count * bytes))
            return wte__fail(err, WTE_E_CANCELLED, WTE_NO_INDEX, "counting ids was stopped");
    }
    return WTE_OK;
}

/* The words "0", "1", ..., or those that are given. */
static wte_status name_ids(wte_corpus *c, const wte_corpus_options *opt, uint64_t rows,
                           wte_error *err)
{
    const uint64_t given = wte__corpus_given_words(opt);
    for (uint64_t i = 0; i < rows; i++) {
        char text[24];
        const int n = snprintf(text, sizeof text, "%" PRIu64, i);
        const wte__bytes number = { (const uint8_t *)text, (uint64_t)n };
        const wte__bytes word = i < given ? wte__corpus_given_word(opt, i) : number;
        WTE_TRY(wte__token_list_add(&c->words.list, word, WTE_TAG_NORMAL, err));
    }
    return WTE_OK;
}

wte_status wte__corpus_count_ids(wte_corpus *c, const wte_corpus_options *opt, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (c->ids_count == 0)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: an empty corpus: no ids are in it",
                         wte__show_path(shown, c->path));
    const uint64_t fixed = opt->ids_rows ? opt->ids_rows : wte__corpus_given_words(opt);
    if (fixed > WTE_LIMIT_CORPUS_WORDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " rows, but tables have at most %u here", fixed,
                         WTE_LIMIT_CORPUS_WORDS);
    tally t = { .c = c, .rows = fixed, .fixed = fixed };
    wte_status status = WTE_OK;
    t.ids = wte__alloc(c->allocator, BLOCK_IDS * sizeof *t.ids);
    t.scratch = wte__alloc(c->allocator, WTE__SCAN_BYTES);
    if (!t.ids || !t.scratch) status = wte__no_memory(err, WTE__SCAN_BYTES, "a block of ids");
    if (status == WTE_OK) status = count_all(&t, opt->progress, err);
    if (status == WTE_OK)
        c->counts = wte__alloc_zeroed(c->allocator, (size_t)t.rows * sizeof *t.counts);
    if (status == WTE_OK && !c->counts)
        status = wte__no_memory(err, t.rows * sizeof *t.counts, "counts of ids");
    if (status == WTE_OK) {
        const uint64_t n = t.rows < t.cap ? t.rows : t.cap;
        memcpy(c->counts, t.counts, (size_t)n * sizeof *t.counts);
        c->info.words = t.rows;
        c->info.tokens = c->ids_count;
        status = name_ids(c, opt, t.rows, err);
    }
    wte__free(c->allocator, t.ids, BLOCK_IDS * sizeof *t.ids);
    wte__free(c->allocator, t.scratch, WTE__SCAN_BYTES);
    wte__free(c->allocator, t.counts, t.cap * sizeof *t.counts);
    return status;
}
