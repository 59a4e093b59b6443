/* wte/wordvec.h - train word vectors: skip-gram and CBOW (Mikolov et al., 2013) with negative
 * sampling or hierarchical softmax, and the character n-grams of fastText (Bojanowski et al.,
 * 2017). docs/training.md has the formulas and the differences from both programs. */
#ifndef WTE_WORDVEC_H
#define WTE_WORDVEC_H
#include <wte/corpus.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_wordvec_method {
    WTE_WORDVEC_SKIP_GRAM = 0, /* each context word predicts the word */
    WTE_WORDVEC_CBOW = 1       /* the mean of the context words predicts the word */
} wte_wordvec_method;

typedef struct wte_wordvec_options {
    size_t struct_size;
    wte_wordvec_method method;
    uint32_t hierarchical; /* 1: softmax over a Huffman tree, no negative samples */
    uint64_t dim;          /* 0 = 100; at most 65536 */
    uint64_t window;       /* maximum context words on each side; 0 = 5; at most 64 */
    uint64_t negative;     /* negative samples per word; 0 = 5; at most 64 */
    double power;          /* samples are drawn in proportion to count^power; 0 = 0.75; at most 1 */
    uint64_t min_n, max_n; /* lengths of n-grams in characters; max_n 0 = none, min_n 0 = 1 */
    uint64_t buckets;      /* rows for hashed n-grams; 0 = 2000000 */
    double sample;   /* subsampling threshold: more frequent words are dropped at random; 0 = 1e-4,
                        below 0 = never */
    double lr;       /* initial learning rate; falls linearly to 0. 0 = 0.05 for CBOW and n-grams,
                        else 0.025 */
    uint64_t epochs; /* 0 = 5 */
    uint64_t seed;   /* of initial values and of all random draws */
    uint32_t deterministic;          /* 1: sequential updates: bit-identical for any pool */
    uint32_t resume;                 /* 1: continue from the checkpoint */
    const wte_row_source *init_from; /* initial word vectors, or NULL; with n-grams, a word's row is
                              scaled by its number of rows, n-gram rows are zeros */
    const wte_row_source *init_output_from; /* initial rows of the output table, or NULL */
    double seconds;                         /* time limit of training; 0 = no limit */
    const char *checkpoint;                 /* file; NULL = no checkpoint */
    double checkpoint_seconds;              /* interval; 0 = 60 */
    uint64_t checkpoint_words;              /* interval in words, for tests; 0 = by seconds only */
    uint64_t max_bytes;                     /* E_LIMIT when more is needed; 0 = 1 TiB */
    wte_pool *pool;                         /* each thread trains on a slice of the corpus */
    const wte_allocator *allocator;
    const wte_row_source
        *init_input_from; /* instead of init_from: rows of words, then rows of n-grams */
} wte_wordvec_options;
#define WTE_WORDVEC_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(wte_wordvec_options), WTE_WORDVEC_SKIP_GRAM, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, NULL, NULL, 0, NULL, 0, 0, 0, NULL, NULL, NULL                                      \
    }

typedef enum wte_wordvec_stop_reason {
    WTE_WORDVEC_UNFINISHED = 0,
    WTE_WORDVEC_ALL = 1,    /* all epochs are done */
    WTE_WORDVEC_TIME = 2,   /* options.seconds have passed */
    WTE_WORDVEC_STOPPED = 3 /* the callback returned false */
} wte_wordvec_stop_reason;

typedef struct wte_wordvec_info {
    uint64_t rows, dim;
    uint64_t grams;       /* n-grams of all words, with repeats */
    uint64_t out_rows;    /* rows of the output table: words, or inner nodes of the tree */
    uint64_t bytes;       /* upper bound of training memory */
    uint64_t done, total; /* words of the corpus over all epochs, including unknown words */
    double loss;          /* mean over the examples of the last finished epoch of each corpus slice,
                           * or of the first epoch so far; NaN = none */
    wte_wordvec_stop_reason stop_reason;
} wte_wordvec_info;

/** Compute wte_wordvec_info without allocating the tables; only the n-gram count allocates. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_plan(const wte_corpus *corpus,
                                                   const wte_wordvec_options *opt,
                                                   wte_wordvec_info *out, wte_error *err);

/** Word vectors and their training. One thread at a time. */
typedef struct wte_wordvec wte_wordvec;
/** Create tables with initial values: word rows uniform in [-1/2, 1/2) / sqrt(dim), output rows
 *  zero; or values of the init_* sources; or those of the checkpoint.
 *
 *  corpus   outlives *out
 *  returns  E_FORMAT for a corpus with a single word; E_SHAPE for an init_* source of another shape
 *           or a checkpoint with other settings (the message has both); E_RANGE for NaN or infinity
 *           in an init_* source (where = its row); E_NOT_FOUND for a missing checkpoint; E_LIMIT,
 *           E_ARGUMENT */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_create(const wte_corpus *corpus,
                                                     const wte_wordvec_options *opt,
                                                     wte_wordvec **out, wte_error *err);
WTE_API void wte_wordvec_free(wte_wordvec *w); /* NULL is fine */
WTE_API void wte_wordvec_get(const wte_wordvec *w, wte_wordvec_info *out);

/** Train to the end, or continue training.
 *
 *  Threads update rows without locks (Hogwild), so results differ from run to run. With one thread
 *  or `deterministic` they are bit-identical, also after kills and resumes (without
 *  options.seconds).
 *  watch    NULL, or called several times a second and at the end
 *  returns  E_RANGE when training diverges (the message has loss and learning rate); the last
 *           checkpoint is kept. E_IO for a failed write of a checkpoint; the previous one is kept
 */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_train(wte_wordvec *w, const wte_train_callback *watch,
                                                    wte_error *err);

/** Word vectors; with n-grams, the mean of a word's row and its n-gram rows. Borrowed; a read
 *  returns the current values. */
WTE_API void wte_wordvec_vectors(const wte_wordvec *w, wte_row_source *out);
/** The output table, which predicts words; borrowed. */
WTE_API void wte_wordvec_output_vectors(const wte_wordvec *w, wte_row_source *out);
/** Write `folder`/model.safetensors and config.json: a model that wte_model_open reads. The
 *  caller writes the words. The folder must exist. Both files are replaced together, or neither. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save(const wte_wordvec *w, const char *folder,
                                                   wte_error *err);
/** Save as part of transaction `t`, which the caller commits. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save_to(const wte_wordvec *w, wte_transaction *t,
                                                      const char *folder, wte_error *err);
/** Write a fastText .bin: words with counts, word rows, n-gram rows and the output table. fastText
 * and other readers compute the vectors of known and unknown words with the same bits. On failure
 * the old file is unchanged.
 *
 *  path      NULL: only check that the file can be written
 *  progress  bytes; may be NULL. E_CANCELLED
 *  returns   E_LIMIT when words and buckets are 2^31 or more; E_UNSUPPORTED for a word that
 *            contains NUL or is a duplicate (where = the word), and for a tree over words that are
 *            not sorted by count, as those of an initial table may be */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save_fasttext(const wte_wordvec *w, const char *path,
                                                            const wte_progress *progress,
                                                            wte_error *err);
/** Write into the new writer `to`; the caller commits it. */
WTE_API WTE_MUST_CHECK wte_status wte_wordvec_save_fasttext_to(const wte_wordvec *w, wte_writer *to,
                                                               const wte_progress *progress,
                                                               wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
