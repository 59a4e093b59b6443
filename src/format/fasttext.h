/* fastText's own model files, .bin and .ftz (quantised): arguments, dictionary, two matrices.
 *
 * The vector of a word is the mean of its own row of the input matrix and of the rows of its
 * n-grams, which are found by hash; it is stored nowhere, and made when it is read. */
#ifndef WTE_SRC_FORMAT_FASTTEXT_H
#define WTE_SRC_FORMAT_FASTTEXT_H
#include "base/span.h"
#include "format/format.h"

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
    wte_bytes word;
    uint64_t begin, end; /* of the n-gram at hand, in the word with its brackets */
    uint32_t length;     /* characters of it */
    uint32_t hash;
} wte__ngrams;
void wte__ngrams_start(wte__ngrams *it, const wte__ngram_rule *rule, wte_bytes word);
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
} wte__fasttext;

/* The matrix at *at, which moves behind it. */
wte_status wte__ft_matrix_read(wte__ft_matrix *m, wte_file *f, bool quantised, uint64_t *at,
                               wte_error *err);
void wte__ft_matrix_clear(wte__ft_matrix *m, const wte_allocator *a);
/* sum += row, number by number; row < m->rows. */
wte_status wte__ft_matrix_add(const wte__ft_matrix *m, const wte__part *part, uint64_t row,
                              float *sum, wte_error *err);
#endif
