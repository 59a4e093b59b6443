/* wte/corpus.h - a text or a file of token ids as a stream of word ids for training. */
#ifndef WTE_CORPUS_H
#define WTE_CORPUS_H
#include <wte/row_source.h>
#include <wte/vocab.h>
#ifdef __cplusplus
extern "C" {
#endif

/** A corpus. White space (space, tab, CR, VT, FF, NUL) separates the words of a text; a line end is
 *  the word "</s>", as in word2vec and fastText. Words are bytes: invalid UTF-8 is kept and
 * counted. A UTF-8 byte order mark at the start is skipped. A file of ids (.npy of u16, i32, u32,
 * i64; or raw) has words "0", "1", ... and no lines. The file is streamed and may have any size. */
typedef struct wte_corpus wte_corpus;

typedef struct wte_corpus_options {
    size_t struct_size;
    wte_dtype ids_type; /* NONE: text, or .npy by its first bytes; U16, U32, I32, I64: raw ids, and
                           E_FORMAT for an .npy file */
    uint32_t no_eos;    /* 1: a line end is white space and no word */
    uint64_t min_count; /* minimum count of a known word; 0 = 1; ignored for ids and with a
                           vocab: all their rows are known */
    uint64_t max_words; /* maximum number of known words, by count; 0 = the limit */
    uint64_t ids_rows;  /* ids only: rows of the table; 0 = size of the vocab, or else the
                           largest id + 1; E_RANGE for a larger id */
    const wte_token_list *vocab;  /* given words and their ids (of an initial table): other words
                                     are unknown, all given words are kept; for ids, their names;
                                     or NULL */
    const wte_progress *progress; /* bytes */
    const wte_allocator *allocator;
    const wte_vocab *model_vocab; /* vocabulary of a model, used as `vocab` is: its ids are the word
                                     ids, holes never occur; or NULL. Excludes vocab */
} wte_corpus_options;
#define WTE_CORPUS_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(wte_corpus_options), WTE_DTYPE_NONE, 0, 0, 0, 0, NULL, NULL, NULL, NULL             \
    }

typedef struct wte_corpus_info {
    uint64_t bytes;  /* size of the file */
    uint64_t words;  /* distinct known words: rows of the table */
    uint64_t tokens; /* all words of the text, including line ends */
    uint64_t oov;    /* tokens of unknown words */
    uint64_t lines;
    uint64_t invalid; /* distinct words that are not valid UTF-8 */
} wte_corpus_info;

/** Count the words in one pass. Word ids are sorted by falling count, ties by first appearance;
 *  with a vocab or a file of ids, the given ids are kept.
 *
 *  returns  E_FORMAT for an empty corpus (no known word); E_LIMIT for a word over 4096 bytes
 *           (where = its offset) or too many distinct words; E_UNSUPPORTED for UTF-16; E_IO */
WTE_API WTE_MUST_CHECK wte_status wte_corpus_open(const char *path, const wte_corpus_options *opt,
                                                  wte_corpus **out, wte_error *err);
WTE_API void wte_corpus_free(wte_corpus *c); /* NULL is fine */
WTE_API void wte_corpus_get(const wte_corpus *c, wte_corpus_info *out);
WTE_API const wte_token_list *wte_corpus_words(const wte_corpus *c); /* borrowed from c */
WTE_API const uint64_t *wte_corpus_counts(const wte_corpus *c);      /* of each word */

#define WTE_CORPUS_UNKNOWN UINT32_MAX
/** An iterator over the corpus or a part of it. Several may exist at a time; each is used by one
 * thread. */
typedef struct wte_corpus_reader wte_corpus_reader;
/** Read part `part` of `parts`: words that begin in bytes [size * part / parts,
 * size * (part + 1) / parts). All parts together return every word once. */
WTE_API WTE_MUST_CHECK wte_status wte_corpus_reader_create(const wte_corpus *c, uint32_t part,
                                                           uint32_t parts, wte_corpus_reader **out,
                                                           wte_error *err);
WTE_API void wte_corpus_reader_free(wte_corpus_reader *r); /* NULL is fine */
/** Read up to cap word ids; unknown words are WTE_CORPUS_UNKNOWN. *n = 0 at the end. E_FORMAT when
 * the file has changed since it was opened. */
WTE_API WTE_MUST_CHECK wte_status wte_corpus_read(wte_corpus_reader *r, uint32_t *ids, size_t cap,
                                                  size_t *n, wte_error *err);
/** Position of the next word, for wte_corpus_reader_seek; 0 = the start of the part. */
WTE_API uint64_t wte_corpus_reader_at(const wte_corpus_reader *r);
WTE_API WTE_MUST_CHECK wte_status wte_corpus_reader_seek(wte_corpus_reader *r, uint64_t at,
                                                         wte_error *err);

/** Training progress, reported at intervals from the calling thread. */
typedef struct wte_train_status {
    uint64_t step, epoch; /* step counts mini-batches; epoch starts at 0 */
    uint64_t done, total; /* words */
    double seconds, words_per_second;
    double loss;       /* training mean since the last report; NaN = none yet */
    double valid_loss; /* latest on the validation text; NaN = none yet */
    double lr;
} wte_train_status;
typedef struct wte_train_callback {
    bool (*report)(void *ctx, const wte_train_status *now); /* false: stop and keep the weights */
    void *ctx;
} wte_train_callback;
/** Test by config.json whether the folder was written by wte_wordvec_save or wte_lm_save;
 * *trained is false without a config.json. An unreadable config.json is an error: WTE_E_IO,
 * WTE_E_LIMIT, WTE_E_MEMORY. */
WTE_API wte_status wte_folder_is_trained(const char *folder, bool *trained, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
