/* fastText's own model files, .bin and .ftz (quantised): arguments, dictionary, two matrices; read,
 * and as .bin written.
 *
 * The vector of a word is the mean of its own row of the input matrix and of the rows of its
 * n-grams, which are found by hash; it is stored nowhere, and made when it is read. */
#ifndef WTE_SRC_FORMAT_FASTTEXT_H
#define WTE_SRC_FORMAT_FASTTEXT_H
#include "base/span.h"
#include "format/format.h"

#define WTE__FT_MAGIC        UINT32_C(793712314)
#define WTE__FT_LAST_VERSION 12u
/* Magic number, version, arguments, sampling threshold, sizes of the dictionary. */
#define WTE__FT_HEAD_BYTES  ((size_t)(2 * 4 + WTE__FT_ARGS * 4 + 8 + 3 * 4 + 2 * 8))
#define WTE__FT_ENTRY_BYTES 10u /* of the shortest: an empty word, its count and kind */

/* Arguments in the order of the file, and what two of them say. */
enum {
    WTE__FT_DIM,
    WTE__FT_WINDOW,
    WTE__FT_EPOCH,
    WTE__FT_MIN_COUNT,
    WTE__FT_NEGATIVE,
    WTE__FT_WORD_NGRAMS,
    WTE__FT_LOSS,
    WTE__FT_MODEL,
    WTE__FT_BUCKET,
    WTE__FT_MIN,
    WTE__FT_MAX,
    WTE__FT_UPDATE,
    WTE__FT_ARGS
};
enum { WTE__FT_TREE = 1, WTE__FT_SAMPLES = 2 };
enum { WTE__FT_CBOW = 1, WTE__FT_SKIP_GRAM = 2, WTE__FT_SUPERVISED = 3 };

/* Which rows of the input matrix belong to a text (fasttext_ngrams.c). */
typedef struct wte__ngram_pair {
    int32_t bucket, row; /* of what was kept when the model was pruned */
} wte__ngram_pair;

typedef struct wte__ngram_rule {
    uint32_t min, max; /* characters; max 0: there are none */
    uint32_t buckets;
    uint64_t words; /* rows before those of n-grams */
    bool pruned;    /* only buckets in `kept` have a row */
    wte__ngram_pair *kept;
    size_t n_kept, kept_cap; /* sorted by bucket */
} wte__ngram_rule;

/* The rows of all n-grams of "<word>", in fastText's order; any text has some, known or not. */
typedef struct wte__ngrams {
    const wte__ngram_rule *rule;
    wte__bytes word;
    uint64_t begin, end; /* of the n-gram at hand, in the word with its brackets */
    uint32_t length;     /* characters of it */
    uint32_t hash;
} wte__ngrams;
void wte__ngrams_start(wte__ngrams *it, const wte__ngram_rule *rule, wte__bytes word);
bool wte__ngrams_next(wte__ngrams *it, uint64_t *row);
/* Sorts the pairs; of several for one bucket the last counts. False = out of memory. */
bool wte__ngram_rule_settle(wte__ngram_rule *rule, const wte_allocator *a);

/* A matrix of the file (fasttext_matrix.c). Quantised: each part of a row is one of 256 centroids,
 * and its length, if the file says so, one of 256 others. */
typedef struct wte__product {
    uint32_t dim, parts, part_dim, last_dim;
    float *centroids; /* dim * 256 */
} wte__product;

typedef struct wte__ft_matrix {
    const char *name; /* "input", "output" */
    uint64_t rows, dim;
    uint64_t at, bytes; /* of all of it in the file */
    bool quantised, normed;
    uint64_t data_at; /* numbers, or codes: parts of them a row */
    uint64_t norm_at; /* one code a row */
    wte__product codes, norms;
} wte__ft_matrix;

typedef struct wte__fasttext {
    wte__ngram_rule ngrams;
    wte__ft_matrix input, output;
    int32_t loss, model; /* as in the file */
} wte__fasttext;

/* The matrix at *at, which moves behind it. */
wte_status wte__ft_matrix_read(wte__ft_matrix *m, wte_file *f, bool quantised, uint64_t *at,
                               wte_error *err);
void wte__ft_matrix_clear(wte__ft_matrix *m, const wte_allocator *a);
/* sum += row, number by number; row < m->rows. */
wte_status wte__ft_matrix_add(const wte__ft_matrix *m, const wte__part *part, uint64_t row,
                              float *sum, wte_error *err);

/* A model to write (fasttext_write.c). */
typedef struct wte__fasttext_model {
    const wte_token_list *words;
    const uint64_t *counts;
    uint64_t tokens;       /* words of the text */
    wte_row_source input;  /* words, then buckets of n-grams; f32 in memory, as the other */
    wte_row_source output; /* words, or the inner nodes of the tree */
    uint64_t min_n, max_n, buckets; /* 0: no n-grams */
    bool tree, cbow;
    /* how it was made, for people */
    uint64_t window, epochs, min_count, negative;
    double sample;
    const wte_progress *progress; /* bytes; or NULL */
} wte__fasttext_model;
/* Whether it can be written. E_LIMIT: more rows than fastText numbers; E_UNSUPPORTED: a word with a
 * NUL or one that comes twice, a tree over words that are not in the order of their counts (where =
 * the word). */
wte_status wte__fasttext_check(const char *path, const wte__fasttext_model *m, wte_error *err);
wte_status wte__fasttext_write(wte_writer *to, const wte__fasttext_model *m, wte_error *err);
#endif
