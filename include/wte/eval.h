/* wte/eval.h - how good a table is: word pairs that people have judged, analogies, what two tables
 * agree in, and how evenly vectors fill their space. docs/eval.md defines every number. */
#ifndef WTE_EVAL_H
#define WTE_EVAL_H
#include <wte/row_source.h>
#include <wte/vocab.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Files of words --------------------------------------------------------------------------------
 */

/** A word of a file: raw bytes, not NUL-terminated. */
typedef struct wte_word {
    const char *text;
    uint64_t bytes;
} wte_word;

typedef struct wte_eval_file_options {
    size_t struct_size;
    uint64_t max_bytes; /* refuse a larger file; 0 = 64 MiB */
    const wte_allocator *allocator;
} wte_eval_file_options;
#define WTE_EVAL_FILE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(wte_eval_file_options), 0, NULL                                                     \
    }

/** Pairs of words and how alike people found them: wordsim353, SimLex-999, and what is laid out
 * like them. Lines of columns, parted by a tab, else ';' or ',' (quotes as in CSV), else blanks, by
 * the first line; '#' begins a comment. The first two columns are the words, the first later one
 * with a number is the judgement; a first line without one names the columns. */
typedef struct wte_pairs wte_pairs;
typedef struct wte_pair {
    wte_word a, b;
    double judged;
    uint64_t line; /* from 1 */
} wte_pair;
typedef struct wte_pairs_layout {
    char separator;  /* '\t', ',', ';' or ' ' */
    bool titled;     /* the first line names the columns */
    uint64_t column; /* of the judgement, from 0 */
    wte_word title;  /* its name; { NULL, 0 } when there is none */
} wte_pairs_layout;
/** E_FORMAT for a line that is not like the first (where = its offset, the message names line and
 *  column), and for a file without pairs; E_LIMIT for a larger file and for a word over 1024 bytes
 */
WTE_API WTE_MUST_CHECK wte_status wte_pairs_open(const char *path, const wte_eval_file_options *opt,
                                                 wte_pairs **out, wte_error *err);
/** The same from bytes in memory, which are copied; `name` is used in messages. */
WTE_API WTE_MUST_CHECK wte_status wte_pairs_open_memory(const void *data, uint64_t bytes,
                                                        const char *name,
                                                        const wte_eval_file_options *opt,
                                                        wte_pairs **out, wte_error *err);
WTE_API void wte_pairs_free(wte_pairs *p); /* NULL is fine */
WTE_API uint64_t wte_pairs_count(const wte_pairs *p);
WTE_API const wte_pair *wte_pairs_at(const wte_pairs *p, uint64_t i); /* NULL past the end */
WTE_API void wte_pairs_layout_of(const wte_pairs *p, wte_pairs_layout *out);

/** Analogies, "a is to b as c is to d": four words a line, in sections ": name"
 * (questions-words.txt of word2vec). Sections whose name begins with "gram" are syntactic, as is
 * usual. */
typedef struct wte_analogies wte_analogies;
typedef struct wte_analogy {
    wte_word word[4];
    uint64_t section, line;
} wte_analogy;
typedef struct wte_analogy_section {
    wte_word name;         /* "" for questions before the first one */
    uint64_t first, count; /* its questions */
    bool syntactic;
} wte_analogy_section;
/** E_FORMAT for a line with another number of words (where = its offset), and for a file without
 *  questions; E_LIMIT as wte_pairs_open */
WTE_API WTE_MUST_CHECK wte_status wte_analogies_open(const char *path,
                                                     const wte_eval_file_options *opt,
                                                     wte_analogies **out, wte_error *err);
WTE_API WTE_MUST_CHECK wte_status wte_analogies_open_memory(const void *data, uint64_t bytes,
                                                            const char *name,
                                                            const wte_eval_file_options *opt,
                                                            wte_analogies **out, wte_error *err);
WTE_API void wte_analogies_free(wte_analogies *a); /* NULL is fine */
WTE_API uint64_t wte_analogies_count(const wte_analogies *a);
WTE_API const wte_analogy *wte_analogies_at(const wte_analogies *a, uint64_t i);
WTE_API uint64_t wte_analogies_n_sections(const wte_analogies *a);
WTE_API const wte_analogy_section *wte_analogies_section(const wte_analogies *a, uint64_t i);

/* Which forms of a word are looked for, in this order: " Word" (SPACED), "Word", " word" (both),
 * "word" (LOWER). */
#define WTE_WORD_LOWER 1u /* A to Z as a to z, when the word as it stands is not there */
#define WTE_WORD_SPACED                                                                            \
    2u /* with a space before it first, as byte-level and metaspace tokens are */
/** The row (below `rows`) of the first of these forms that is a token (wte_vocab_find), or
 *  WTE_NO_INDEX. */
WTE_API uint64_t wte_word_row(const wte_vocab *vocab, wte_word word, uint32_t forms, uint64_t rows);

/* Scores ----------------------------------------------------------------------------------------
 */

/** Correlation of x and y. Spearman's: Pearson's of ranks, equal numbers sharing their mean rank.
 *  *out is NaN for fewer than two pairs, and where one side is constant. E_ARGUMENT for NaN. */
WTE_API WTE_MUST_CHECK wte_status wte_pearson(const double *x, const double *y, uint64_t n,
                                              double *out, wte_error *err);
WTE_API WTE_MUST_CHECK wte_status wte_spearman(const double *x, const double *y, uint64_t n,
                                               const wte_allocator *allocator, double *out,
                                               wte_error *err);

typedef struct wte_similarity_options {
    size_t struct_size;
    double *cosines; /* NULL, or of each pair; NaN where there is none */
    const wte_allocator *allocator;
} wte_similarity_options;
#define WTE_SIMILARITY_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(wte_similarity_options), NULL, NULL                                                 \
    }
typedef struct wte_similarity {
    uint64_t pairs;
    uint64_t missing; /* pairs with WTE_NO_INDEX */
    uint64_t covered; /* pairs that have a cosine: the correlations are over these */
    double spearman, pearson;
} wte_similarity;
/** Correlate judgements with the cosines of rows.
 *
 *  rows     two of each pair; WTE_NO_INDEX = the word is missing; E_RANGE for one beyond the table
 *           (where = its position)
 *  judged   n
 *  cosines are made in f64; rows of zeros and with NaN or infinity have none */
WTE_API WTE_MUST_CHECK wte_status wte_eval_similarity(const wte_row_source *table,
                                                      const uint64_t *rows, const double *judged,
                                                      uint64_t n, const wte_similarity_options *opt,
                                                      wte_similarity *out, wte_error *err);

typedef struct wte_analogy_options {
    size_t struct_size;
    uint64_t first_rows; /* only rows below this are answers, and asked about; 0 = all */
    wte_pool *pool;
    const wte_progress *progress; /* questions */
    const wte_allocator *allocator;
} wte_analogy_options;
#define WTE_ANALOGY_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(wte_analogy_options), 0, NULL, NULL, NULL                                           \
    }
/** 3CosAdd: answers[i] = the row x that is none of a, b, c and has the greatest x.(b - a + c), all
 *  scaled to length 1; of equal ones the lowest. Products are sums of f32 in one order (wte/head.h,
 *  EXACT): the same answers for any number of threads and any instruction set.
 *
 *  rows     a, b, c, d of each question. A question with a WTE_NO_INDEX, with a row that is not
 *           below first_rows, or with one that has no length or no finite one is not asked:
 *           WTE_NO_INDEX. d is not looked at otherwise: it is right when it is the answer
 *  returns  E_RANGE for a row beyond the table (where = its position)
 *  cost     one pass over the first rows for each 1024 questions */
WTE_API WTE_MUST_CHECK wte_status wte_eval_analogies(const wte_row_source *table,
                                                     const uint64_t *rows, uint64_t n,
                                                     const wte_analogy_options *opt,
                                                     uint64_t *answers, wte_error *err);

typedef struct wte_agreement_options {
    size_t struct_size;
    const uint64_t *rows_a; /* n rows of each table that are the same token; NULL = the rows that */
    const uint64_t *rows_b; /* both have, by number */
    uint64_t n;
    uint32_t top;    /* neighbours of each; 0 = 10 */
    uint64_t sample; /* tokens whose neighbours are compared; 0 = 1000, WTE_NO_INDEX = all */
    uint64_t pairs;  /* drawn pairs, for the correlation; 0 = 100000 */
    uint64_t seed;   /* of both draws */
    wte_pool *pool;
    const wte_progress *progress; /* tokens, in both tables */
    const wte_allocator *allocator;
} wte_agreement_options;
#define WTE_AGREEMENT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(wte_agreement_options), NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL                 \
    }
typedef struct wte_agreement {
    uint64_t shared;   /* tokens that take part: in both, with a direction in both */
    uint64_t left_out; /* of n: a row of zeros or with NaN or infinity */
    uint64_t sampled, pairs;
    uint32_t top;  /* at most shared - 1 */
    double common; /* mean share of the nearest that both tables name; NaN = nothing to compare */
    double by_chance;         /* what random neighbours would share: top / (shared - 1) */
    double pearson, spearman; /* of the drawn pairs' cosines in A and in B */
} wte_agreement;
/** Compare who is whose neighbour, by cosine among the shared tokens. The tables may differ in
 * width and type. E_RANGE for a row beyond its table (where = position). */
WTE_API WTE_MUST_CHECK wte_status wte_eval_agreement(const wte_row_source *a,
                                                     const wte_row_source *b,
                                                     const wte_agreement_options *opt,
                                                     wte_agreement *out, wte_error *err);

typedef struct wte_isotropy_options {
    size_t struct_size;
    uint64_t pairs; /* drawn pairs of rows; 0 = 100000 */
    uint64_t seed;
    double *singular;          /* NULL, or cols singular values of the table, falling */
    double *centred;           /* the same after the mean row is taken off */
    uint32_t without_spectrum; /* 1: nothing that needs singular values (NaN and 0) */
    wte_pool *pool;
    const wte_progress *progress; /* steps of no fixed length */
    const wte_allocator *allocator;
} wte_isotropy_options;
#define WTE_ISOTROPY_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(wte_isotropy_options), 0, 0, NULL, NULL, 0, NULL, NULL, NULL                        \
    }
/** What singular values s say. */
typedef struct wte_spectrum {
    double effective_rank; /* exp of the entropy of s / sum s: Roy and Vetterli 2007 */
    double largest;
    double condition;    /* largest / smallest; infinity when that is 0 */
    double share_1;      /* of the sum of squares: the first */
    double share_10;     /* the first ten */
    uint64_t half, most; /* how many of the first make 50% and 90% of it */
} wte_spectrum;
typedef struct wte_isotropy {
    uint64_t rows;        /* that take part: finite ones */
    uint64_t n_zero;      /* of these: all zeros, which have no cosine */
    uint64_t n_nonfinite; /* left out */
    double norm_mean, norm_sd;
    double mean_norm;          /* length of the mean row */
    double cosine;             /* mean over all pairs of two rows, exactly */
    double pair_mean, pair_sd; /* of drawn pairs */
    uint64_t pairs;
    wte_spectrum raw, centred;
    /** min Z / max Z over the unit eigenvectors c of X^T X and their opposites, where Z(c) is the
     *  sum over rows x of exp(c.x): 1 = the same in all directions. Mu and Viswanath 2018. */
    double partition;
} wte_isotropy;
/** E_LIMIT when cols x cols numbers are more than memory can hold.
 *  cost  some passes over the table; rows x cols^2 multiplications on all threads, and about
 *        40 cols^3 for the singular values */
WTE_API WTE_MUST_CHECK wte_status wte_eval_isotropy(const wte_row_source *table,
                                                    const wte_isotropy_options *opt,
                                                    wte_isotropy *out, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
