/* What tests of word vectors share: corpora made of topics, and runs over them. */
#ifndef WTE_TESTS_WORDS_LEARN_HELP_H
#define WTE_TESTS_WORDS_LEARN_HELP_H
#include <math.h>

#include "test.h"
#include "train/wordvec.h"

/* Lines of words of one of `topics` topics, "t<topic>w<number>". */
static inline void write_topics(const char *path, uint32_t topics, uint32_t lines, uint64_t seed)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (uint32_t i = 0; i < lines; i++) {
        const uint32_t topic = (uint32_t)(test_noise(&seed) % topics);
        for (uint32_t k = 0; k < 12; k++)
            fprintf(f, "t%uw%u%c", topic, (unsigned)(test_noise(&seed) % 8), k < 11 ? ' ' : '\n');
    }
    assert_int_equal(fclose(f), 0);
}

static inline double cosine_of(const float *a, const float *b, uint64_t dim)
{
    double ab = 0, aa = 0, bb = 0;
    for (uint64_t c = 0; c < dim; c++) {
        ab += (double)a[c] * (double)b[c];
        aa += (double)a[c] * (double)a[c];
        bb += (double)b[c] * (double)b[c];
    }
    return ab / sqrt(aa * bb);
}

/* All vectors of words, tight; from malloc. */
static inline float *vectors_of(const wte_wordvec *w)
{
    wte_row_source rows;
    wte_error err;
    wte_wordvec_vectors(w, &rows);
    float *all = malloc(rows.rows * rows.cols * sizeof *all);
    assert_non_null(all);
    assert_ok(wte_row_source_read_block(&rows, 0, rows.rows, all, &err), err);
    return all;
}

/* Mean cosine of words of one topic less that of words of two. */
static inline double topics_apart(const wte_corpus *c, const wte_wordvec *w)
{
    const wte_token_list *words = wte_corpus_words(c);
    const uint64_t n = wte_token_list_count(words);
    double same = 0, other = 0;
    size_t n_same = 0, n_other = 0;
    wte_wordvec_info info;
    wte_wordvec_get(w, &info);
    float *all = vectors_of(w);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < i; k++) {
            uint64_t bytes;
            const char *a = wte_token_list_text(words, i, &bytes);
            const char *b = wte_token_list_text(words, k, &bytes);
            if (a[0] == '<' || b[0] == '<') continue;
            const double cosine = cosine_of(all + i * info.dim, all + k * info.dim, info.dim);
            *(a[1] == b[1] ? &same : &other) += cosine;
            *(a[1] == b[1] ? &n_same : &n_other) += 1;
        }
    }
    free(all);
    return same / (double)n_same - other / (double)n_other;
}

/* FNV-1a of all numbers of both tables. */
static inline uint64_t tables_hash(const wte_wordvec *w)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    wte_row_source rows[2];
    wte_error err;
    wte_wordvec_vectors(w, &rows[0]);
    wte_wordvec_output_vectors(w, &rows[1]);
    for (size_t t = 0; t < 2; t++) {
        float row[256];
        assert_true(rows[t].cols <= 256);
        for (uint64_t r = 0; r < rows[t].rows; r++) {
            assert_ok(wte_row_source_read(&rows[t], r, row, &err), err);
            const uint8_t *bytes = (const uint8_t *)row;
            for (size_t i = 0; i < rows[t].cols * sizeof *row; i++)
                hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
        }
    }
    return hash;
}

/* Make, train, give the hash of what was learned. */
/* Of the tables and of the loss that is reported at the end. */
static inline uint64_t run_hash(const wte_corpus *c, const wte_wordvec_options *opt)
{
    wte_wordvec *w;
    wte_error err;
    assert_ok(wte_wordvec_create(c, opt, &w, &err), err);
    assert_ok(wte_wordvec_train(w, NULL, &err), err);
    wte_wordvec_info info;
    uint64_t loss_bits;
    wte_wordvec_get(w, &info);
    assert_true(info.loss > 0);
    memcpy(&loss_bits, &info.loss, sizeof loss_bits);
    const uint64_t hash = tables_hash(w) ^ loss_bits;
    wte_wordvec_free(w);
    return hash;
}
#endif
