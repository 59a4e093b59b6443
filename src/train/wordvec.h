/* The inside of wte_wordvec: what a run is, its tables, what is drawn, and its threads. */
#ifndef WTE_SRC_LEARN_WORDS_H
#define WTE_SRC_LEARN_WORDS_H
#include <stdatomic.h>
#include <wte/wordvec.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "format/fasttext.h"
#include "num/kernels.h"

/* Rows that one word is learned with: itself and its samples, or its way down the tree. The tree is
 * deepest where counts are Fibonacci numbers, and 93 of these go beyond 64 bits; below are words
 * that the text lacks, 2^24 at most, in 24 levels. */
#define WTE__WORDS_OUT 128u
/* Words of the corpus that are read at a time, and those of a sentence at most, as in fastText. */
#define WTE__WORDS_BLOCK    8192u
#define WTE__WORDS_SENTENCE 1024u

/* What a run is, as far as it can be told before anything is allocated. */
typedef struct wte__wordvec_plan {
    wte_wordvec_options o; /* all defaults filled in */
    const wte_corpus *corpus;
    wte_corpus_info corpus_info;
    uint64_t rows, in_rows, out_rows; /* in_rows: words, then buckets of n-grams */
    uint64_t grams;
    size_t stride; /* floats of a row: dim up to a multiple of 16, zeros behind it */
    size_t ring;   /* words that have a place in a window: a power of two */
    uint32_t parts;
    uint64_t line_end; /* number of "</s>", or WTE_NO_INDEX */
    wte__ngram_rule rule;
    uint64_t bytes;
} wte__wordvec_plan;

wte_status wte__wordvec_plan_make(wte__wordvec_plan *p, const wte_corpus *corpus,
                                  const wte_wordvec_options *opt, wte_error *err);
/* Whether n-grams belong to a word: line ends have none. */
static inline bool wte__wordvec_has_grams(const wte__wordvec_plan *p, uint64_t word)
{
    return p->o.max_n > 0 && word != p->line_end;
}

/* Random numbers: a counter that goes through a mixing function (SplitMix64; Steele, Lea and Flood,
 * "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t wte__wordvec_mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static inline uint64_t wte__wordvec_draw(uint64_t *state)
{
    return wte__wordvec_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}
/* Uniform below n, of the upper half of what was drawn. */
static inline uint32_t wte__wordvec_below(uint64_t drawn, uint64_t n)
{
    return (uint32_t)((drawn >> 32) * n >> 32);
}

/* An entry of the alias table: itself when the coin is below `keep`, else the other. */
typedef struct wte__wordvec_alias {
    uint32_t keep, other;
} wte__wordvec_alias;

/* What does not change while words are learned (words_draw.c, words_tree.c). */
typedef struct wte__wordvec_tables {
    uint32_t *keep;            /* of each word: 2^32 times the probability that it stays */
    wte__wordvec_alias *alias; /* negative samples; NULL with a tree */
    uint64_t *way_end;         /* tree: where a word's way ends; NULL with samples */
    uint32_t *way;             /* the nodes from the root on, times 2, + 1 to go right: label 1 */
    uint64_t n_way;
    uint64_t *gram_end; /* where the rows of a word end; NULL without n-grams */
    uint32_t *gram;     /* rows: the word's own first */
} wte__wordvec_tables;

wte_status wte__wordvec_make_keep(const wte__wordvec_plan *p, uint32_t *keep);
wte_status wte__wordvec_make_alias(const wte__wordvec_plan *p, wte__wordvec_alias *out,
                                   wte_error *err);
/* Lengths of all ways together. */
wte_status wte__wordvec_make_tree(const wte__wordvec_plan *p, wte__wordvec_tables *t,
                                  wte_error *err);
void wte__wordvec_make_grams(const wte__wordvec_plan *p, wte__wordvec_tables *t);

/* The loss of one example in so many is computed. */
#define WTE__WORDS_LOSS_EVERY 64u

/* Sum of losses over examples. */
typedef struct wte__wordvec_loss {
    double sum;
    uint64_t examples;
} wte__wordvec_loss;

/* One thread's part of the corpus, and its position in it (words_run.c). Checkpoints store it as it
 * is: members are 8 bytes each. */
typedef struct wte__wordvec_position {
    uint64_t epoch, at, random, words;   /* words: read so far */
    uint64_t until_loss;                 /* examples until the next one whose loss is computed */
    wte__wordvec_loss running, finished; /* of the current epoch, and of the last finished one */
} wte__wordvec_position;

typedef struct wte__wordvec_worker {
    wte__wordvec_position place;
    wte_corpus_reader *reader;
    uint32_t *block, *sentence;
    float *ring;   /* vectors of the words in the window, */
    float *before; /* and what they were when they came into it; CBOW's own one behind them */
    wte__wordvec_loss recent; /* since the last report */
} wte__wordvec_worker;

struct wte_wordvec {
    wte__wordvec_plan plan;
    const wte__kernels *kernels;
    float *in, *out; /* aligned to lines of 64 bytes, inside: */
    void *in_block, *out_block;
    size_t in_bytes, out_bytes;
    wte__wordvec_tables tables;
    wte__wordvec_worker *worker;
    atomic_uint_fast64_t done; /* words of the corpus, of all threads */
    char *checkpoint;          /* path, or NULL */
    double time_gone;          /* share of the seconds that there are */
    double nothing;            /* the loss of an example for one who knows nothing */
    wte_wordvec_stop_reason end;
};

/* Rows of a word in the table of words and n-grams. */
static inline uint32_t wte__wordvec_rows_of(const wte_wordvec *w, const uint32_t *word,
                                            const uint32_t **rows)
{
    const wte__wordvec_tables *t = &w->tables;
    if (!t->gram_end) {
        *rows = word;
        return 1;
    }
    const uint64_t begin = *word ? t->gram_end[*word - 1] : 0;
    *rows = t->gram + begin;
    return (uint32_t)(t->gram_end[*word] - begin);
}

/* Learn n words of one line. */
void wte__wordvec_learn(wte_wordvec *w, wte__wordvec_worker *k, size_t n, float lr);
/* Train until `words` more words of the part are read, or its epochs are over. */
wte_status wte__wordvec_run(wte_wordvec *w, wte__wordvec_worker *k, uint32_t part, uint64_t words,
                            wte_error *err);
bool wte__wordvec_is_done(const wte_wordvec *w, const wte__wordvec_worker *k);

wte_status wte__wordvec_checkpoint(const wte_wordvec *w, wte_error *err);
wte_status wte__wordvec_resume(wte_wordvec *w, wte_error *err);
#endif
