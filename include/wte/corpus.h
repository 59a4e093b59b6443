/* wte/corpus.h - text, or ids that a tokenizer has made, as a stream of word numbers to train on.
 */
#ifndef WTE_CORPUS_H
#define WTE_CORPUS_H
#include <wte/row_source.h>
#include <wte/vocab.h>
#ifdef __cplusplus
extern "C" {
#endif

/** Words of a text are what stands between white space (space, tab, CR, VT, FF, NUL); a line end is
 *  the word "</s>", as in word2vec and fastText. Words are bytes: what is no UTF-8 stays as it is,
 * and is counted; a mark of UTF-8 before the first word is none. A file of ids (.npy of u16, i32,
 * u32, i64; or raw) has words "0", "1", ... and no lines. Never held in memory: of any size. */
typedef struct wte_corpus wte_corpus;

typedef struct wte_corpus_options {
    size_t struct_size;
    wte_dtype ids_type; /* NONE: text, or .npy by its first bytes; U16, U32, I32, I64: raw ids, and
                           E_FORMAT for an .npy file */
    uint32_t no_eos;    /* 1: a line end is white space and no word */
    uint64_t min_count; /* words that are rarer are unknown; 0 = 1; of ids, and with a vocab, all
                           rows are kept and known */
    uint64_t max_words; /* at most so many, the most frequent ones; 0 = the limit */
    uint64_t ids_rows;  /* of ids: rows of the table; 0 = as many as words are given, or else the
                           largest id + 1; E_RANGE for an id beyond */
    const wte_token_list *vocab; /* words and their numbers are given (a table to start from): words
                                    that it lacks are unknown, none is left out; of ids they are
                                    the names; or NULL */
    const wte_progress *progress; /* bytes */
    const wte_allocator *allocator;
    const wte_vocab *model_vocab; /* as vocab, of a model: its ids are the numbers, holes are never
                                     met; or NULL. Not beside vocab */
} wte_corpus_options;
#define WTE_CORPUS_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(wte_corpus_options), WTE_DTYPE_NONE, 0, 0, 0, 0, NULL, NULL, NULL, NULL             \
    }

typedef struct wte_corpus_info {
    uint64_t bytes;  /* of the file */
    uint64_t words;  /* different ones that are known: rows of the table */
    uint64_t tokens; /* all words of the text, line ends among them */
    uint64_t oov;    /* of these: those without a number */
    uint64_t lines;
    uint64_t invalid; /* different words that are no UTF-8 */
} wte_corpus_info;

/** Count the words in one pass. Numbers go by count, the most frequent first, equal ones in the
 *  order of their first appearance; with a vocab or ids they are what they are.
 *
 *  returns  E_FORMAT for an empty corpus (no known word); E_LIMIT for a word over 4096 bytes
 *           (where = its offset) or too many different words; E_UNSUPPORTED for UTF-16; E_IO */
WTE_API WTE_MUST_CHECK wte_status wte_corpus_open(const char *path, const wte_corpus_options *opt,
                                                  wte_corpus **out, wte_error *err);
WTE_API void wte_corpus_free(wte_corpus *c); /* NULL is fine */
WTE_API void wte_corpus_get(const wte_corpus *c, wte_corpus_info *out);
WTE_API const wte_token_list *wte_corpus_words(const wte_corpus *c); /* lives as long as c */
WTE_API const uint64_t *wte_corpus_counts(const wte_corpus *c);      /* of each word */

#define WTE_CORPUS_UNKNOWN UINT32_MAX
/** One way through the corpus, or through a part of it. Several may go at a time, each used by one
 * thread. */
typedef struct wte_corpus_reader wte_corpus_reader;
/** part of parts: the words that begin in bytes size * part / parts up to size * (part + 1) /
 * parts, so that the parts together give every word once */
WTE_API WTE_MUST_CHECK wte_status wte_corpus_reader_create(const wte_corpus *c, uint32_t part,
                                                           uint32_t parts, wte_corpus_reader **out,
                                                           wte_error *err);
WTE_API void wte_corpus_reader_free(wte_corpus_reader *r); /* NULL is fine */
/** The next words, at most cap: numbers, or WTE_CORPUS_UNKNOWN. *n = 0 at the end. E_FORMAT when
 * the file has changed since it was opened. */
WTE_API WTE_MUST_CHECK wte_status wte_corpus_read(wte_corpus_reader *r, uint32_t *ids, size_t cap,
                                                  size_t *n, wte_error *err);
/** Where the next word is looked for, to come back to; 0 = the beginning of the part. */
WTE_API uint64_t wte_corpus_reader_at(const wte_corpus_reader *r);
WTE_API WTE_MUST_CHECK wte_status wte_corpus_reader_seek(wte_corpus_reader *r, uint64_t at,
                                                         wte_error *err);

/** How training goes, told now and then from the thread that made the call. */
typedef struct wte_train_status {
    uint64_t step, epoch; /* of mini-batches; epoch counts from 0 */
    uint64_t done, total; /* words */
    double seconds, words_per_second;
    double loss;       /* mean of what has been trained on since the last report; NaN = none yet */
    double valid_loss; /* newest on the validation text; NaN = none yet */
    double lr;
} wte_train_status;
typedef struct wte_train_callback {
    bool (*report)(void *ctx,
                   const wte_train_status *now); /* false: stop, and keep what there is */
    void *ctx;
} wte_train_callback;
/** Whether the folder holds the result of a trainer of this library (wte_wordvec_save,
 * wte_lm_save), by its config.json; *trained is false where there is none. One that cannot be read
 * is an error: WTE_E_IO, WTE_E_LIMIT, WTE_E_MEMORY. */
WTE_API wte_status wte_folder_is_trained(const char *folder, bool *trained, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
