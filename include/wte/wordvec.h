/* wte/wordvec.h - word vectors learned from a corpus: skip-gram and CBOW (Mikolov et al., 2013),
 * with negative sampling or hierarchical softmax, and with n-grams of characters as fastText has
 * them (Bojanowski et al., 2017). docs/training.md has the formulas and what is done otherwise.
 */
#ifndef WTE_WORDVEC_H
#define WTE_WORDVEC_H
#include <wte/corpus.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_wordvec_method {
    WTE_WORDVEC_SKIP_GRAM = 0, /* each word is predicted by each word near it */
    WTE_WORDVEC_CBOW = 1       /* each word is predicted by the mean of the words near it */
} wte_wordvec_method;

typedef struct wte_wordvec_options {
    size_t struct_size;
    wte_wordvec_method method;
    uint32_t hierarchical; /* 1: softmax over a Huffman tree, no negative samples */
    uint64_t dim;          /* 0 = 100; at most 65536 */
    uint64_t window;       /* words to each side, at most; 0 = 5; at most 64 */
    uint64_t negative;     /* samples for each word; 0 = 5; at most 64 */
    double power;          /* samples are drawn by count^power; 0 = 0.75; at most 1 */
    uint64_t min_n, max_n; /* characters of n-grams; max_n 0: none, min_n 0 = 1 */
    uint64_t buckets;      /* rows of n-grams, found by hash; 0 = 2000000 */
    double sample; /* words more frequent than this share are left out now and then; 0 = 1e-4,
                      below 0 = never */
    double lr;     /* learning rate at first; it falls to 0 linearly. 0 = 0.05 for CBOW and n-grams,
                      else 0.025 */
    uint64_t epochs;                 /* 0 = 5 */
    uint64_t seed;                   /* of first values and of all that is drawn */
    uint32_t deterministic;          /* 1: one stream of changes: the same bytes for any pool */
    uint32_t resume;                 /* 1: go on from the checkpoint */
    const wte_row_source *init_from; /* first vectors of words, or NULL; with n-grams their own rows
                              become so many times as long, those of n-grams zeros */
    const wte_row_source *init_output_from; /* first rows of the other table, or NULL */
    double seconds;                         /* training ends after so many; 0 = no limit */
    const char *checkpoint;                 /* file; NULL = none is kept */
    double checkpoint_seconds;              /* between two of them; 0 = 60 */
    uint64_t checkpoint_words;              /* the same in words, for tests; 0 = by seconds alone */
    uint64_t max_bytes;                     /* E_LIMIT when more is needed; 0 = 1 TiB */
    wte_pool *pool;                         /* each thread trains on its part of the corpus */
    const wte_allocator *allocator;
    const wte_row_source
        *init_input_from; /* in place of start: own rows of words, then those of n-grams */
} wte_wordvec_options;
#define WTE_WORDVEC_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(wte_wordvec_options), WTE_WORDVEC_SKIP_GRAM, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, NULL, NULL, 0, NULL, 0, 0, 0, NULL, NULL, NULL                                      \
    }

typedef enum wte_wordvec_stop_reason {
    WTE_WORDVEC_UNFINISHED = 0,
    WTE_WORDVEC_ALL = 1,    /* all epochs are done */
    WTE_WORDVEC_TIME = 2,   /* options.seconds are over */
    WTE_WORDVEC_STOPPED = 3 /* the watch asked for it */
} wte_wordvec_stop_reason;

typedef struct wte_wordvec_info {
    uint64_t rows, dim;
    uint64_t grams;       /* n-grams of all words, with repeats */
    uint64_t out_rows;    /* of the other table: words, or inner nodes of the tree */
    uint64_t bytes;       /* that training takes at most */
    uint64_t done, total; /* words of the corpus, unknown ones too, over all epochs */
    double loss; /* mean over examples of the last finished epoch of each part of the corpus,
                  * or of the first one so far; NaN = none */
    wte_wordvec_stop_reason stop_reason;
} wte_wordvec_info;

/** What create would make, of which nothing is allocated but for the count of n-grams. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_plan(const wte_corpus *corpus,
                                                   const wte_wordvec_options *opt,
                                                   wte_wordvec_info *out, wte_error *err);

/** Word vectors and their training. One thread at a time. */
typedef struct wte_wordvec wte_wordvec;
/** Tables with their first values: those of words uniform in [-1/2, 1/2) / sqrt(dim), of the
 *  other table zeros; or of `start`; or of the checkpoint.
 *
 *  corpus   outlives *out
 *  returns  E_FORMAT for a corpus with one word alone; E_SHAPE for a start of another shape, and
 * for a checkpoint with other settings, both named; E_RANGE for a start that holds NaN or infinity
 * (where = its row); E_NOT_FOUND for a checkpoint that is not there;
 * E_LIMIT, E_ARGUMENT */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_create(const wte_corpus *corpus,
                                                     const wte_wordvec_options *opt,
                                                     wte_wordvec **out, wte_error *err);
WTE_API void wte_wordvec_free(wte_wordvec *w); /* NULL is fine */
WTE_API void wte_wordvec_get(const wte_wordvec *w, wte_wordvec_info *out);

/** Train to the end, or go on with it.
 *
 *  Threads change rows without waiting for each other (Hogwild), so that results differ from run to
 *  run; with one thread, and with `deterministic`, they do not, and kills and resumes then change
 *  nothing either (without options.seconds).
 *  watch    NULL, or told some times a second, and in the end
 *  returns  E_RANGE when training diverges: the loss and the rate are in the message, and the last
 *           checkpoint stays; E_IO for a checkpoint that cannot be written, the one before stays */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_train(wte_wordvec *w, const wte_train_callback *watch,
                                                    wte_error *err);

/** The vectors of words: with n-grams, the mean of a word's row and of those of its n-grams.
 *  Borrowed; their numbers are those of the moment in which they are read. */
WTE_API void wte_wordvec_vectors(const wte_wordvec *w, wte_row_source *out);
/** The other table: what words are predicted with. */
WTE_API void wte_wordvec_output_vectors(const wte_wordvec *w, wte_row_source *out);
/** Write `folder`/model.safetensors and config.json: a model that every other call can read. The
 *  words are the caller's to write. The folder must be there. Both files appear together, or the
 *  old ones stay. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save(const wte_wordvec *w, const char *folder,
                                                   wte_error *err);
/** The same as part of a transaction, which commits it. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save_to(const wte_wordvec *w, wte_transaction *t,
                                                      const char *folder, wte_error *err);
/** Write a fastText .bin: words and their counts, their own rows and those of n-grams, and the
 * other table, so that fastText, and who reads its files, makes the vectors of known and unknown
 * words with the same bits. On any failure the old file stays as it was.
 *
 *  path      NULL: nothing is written, only told whether it could be
 *  progress  bytes; may be NULL. E_CANCELLED
 *  returns   E_LIMIT when words and buckets are 2^31 or more; E_UNSUPPORTED for a word with a NUL
 * or one that comes twice (where = the word), and for a tree over words that do not stand in the
 * order of their counts, as those of `start` may */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save_fasttext(const wte_wordvec *w, const char *path,
                                                            const wte_progress *progress,
                                                            wte_error *err);
/** The same into a writer that has just been made; the caller commits it. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save_fasttext_to(const wte_wordvec *w, wte_writer *to,
                                                               const wte_progress *progress,
                                                               wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
