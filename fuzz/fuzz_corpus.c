/* Corpora over any bytes: three of them choose options and how the rest is read, as text, as ids,
 * or as an .npy file.
 *
 * Properties: parts together give every word once, in order, whatever pieces they are read in; the
 * counts are those of what is read; a reader that is sent back reads the same again; numbers go by
 * count; a corpus that was accepted has a word that is not a line end. */
#include <wte/corpus.h>

#include "folder.h"
#include "train/corpus.h"

#define MOST_WORDS 65536u

typedef struct reading {
    uint32_t ids[MOST_WORDS];
    size_t n;
} reading;
static reading whole, parted;

/* Reads a part to its end, and once more from some place in it. */
static void read_part(const wte_corpus *c, uint32_t part, uint32_t parts, size_t cap, reading *to)
{
    wte_corpus_reader *r;
    const size_t begin = to->n;
    uint64_t at = 0;
    size_t n, from = begin;
    HOLDS(wte_corpus_reader_create(c, part, parts, &r, NULL) == WTE_OK);
    for (size_t step = 0;; step++) {
        if (step == 3) {
            at = wte_corpus_reader_at(r);
            from = to->n;
        }
        HOLDS(wte_corpus_read(r, to->ids + to->n, cap, &n, NULL) == WTE_OK && n <= cap);
        if (n == 0) break;
        to->n += n;
        HOLDS(to->n + cap <= MOST_WORDS);
    }
    static uint32_t again[MOST_WORDS];
    size_t all = 0;
    HOLDS(wte_corpus_reader_seek(r, at, NULL) == WTE_OK);
    do {
        HOLDS(wte_corpus_read(r, again + all, 100, &n, NULL) == WTE_OK);
        all += n;
    } while (n);
    HOLDS(all == to->n - from && memcmp(again, to->ids + from, all * sizeof *again) == 0);
    wte_corpus_reader_free(r);
}

static void check_counts(const wte_corpus *c, const wte_corpus_info *info)
{
    const uint64_t *counts = wte_corpus_counts(c);
    uint64_t known = 0, sum = 0;
    HOLDS(wte_token_list_count(wte_corpus_words(c)) == info->words && info->words > 0);
    for (uint64_t i = 0; i < info->words; i++) {
        uint64_t bytes;
        const char *word = wte_token_list_text(wte_corpus_words(c), i, &bytes);
        HOLDS(word && bytes > 0 && bytes <= WTE_LIMIT_CORPUS_WORD);
        HOLDS(c->ids_type || i == 0 || counts[i] <= counts[i - 1]);
        sum += counts[i];
        if (bytes != 4 || memcmp(word, "</s>", 4) != 0) known += counts[i];
    }
    HOLDS(known > 0 && sum + info->oov == info->tokens && info->invalid <= info->tokens);
    for (size_t i = 0; i < whole.n; i++) {
        HOLDS(whole.ids[i] == WTE_CORPUS_UNKNOWN || whole.ids[i] < info->words);
        if (whole.ids[i] != WTE_CORPUS_UNKNOWN) sum--;
    }
    HOLDS(sum == 0);
}

static void check_corpus(const wte_corpus *c, uint8_t how)
{
    wte_corpus_info info;
    const uint32_t parts = 1 + how % 7;
    wte_corpus_get(c, &info);
    whole.n = parted.n = 0;
    read_part(c, 0, 1, 64, &whole);
    HOLDS(whole.n == info.tokens);
    for (uint32_t part = 0; part < parts; part++) read_part(c, part, parts, 1 + how / 7, &parted);
    HOLDS(parted.n == whole.n && memcmp(parted.ids, whole.ids, whole.n * sizeof *whole.ids) == 0);
    check_counts(c, &info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const wte_dtype types[] = { WTE_DTYPE_NONE, WTE_U16, WTE_I32, WTE_U32, WTE_I64 };
    if (size < 3 || size > MOST_WORDS / 2) return 0;
    fuzz_memory memory;
    wte_corpus_options opt = WTE_CORPUS_OPTIONS_INIT;
    wte_corpus *c;
    wte_error err = { 0 };
    fuzz_memory_init(&memory);
    (void)fuzz_make_folder();
    fuzz_write("corpus", data + 3, size - 3);
    opt.allocator = &memory.allocator;
    opt.ids_type = types[data[0] % 5];
    opt.no_eos = data[0] / 5 % 2;
    opt.min_count = data[0] / 10 % 4;
    opt.max_words = data[1] % 8 ? 0 : data[1] / 8;
    const wte_status status = wte_corpus_open(fuzz_path("corpus"), &opt, &c, &err);
    if (status == WTE_OK)
        check_corpus(c, data[2]);
    else
        fuzz_check_error(&err, status, size);
    wte_corpus_free(c);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
