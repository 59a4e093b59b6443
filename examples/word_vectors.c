/* Word vectors: skip-gram over a small corpus of two topics, then the nearest words of one.
 *
 * usage: word_vectors [CORPUS [WORD]]
 */
#include <stdio.h>
#include <string.h>
#include <wte/all.h>

/* Row of a word in the corpus; WTE_NO_INDEX when it is not there. */
static uint64_t row_of(const wte_token_list *words, const char *text)
{
    uint64_t bytes;
    for (uint64_t i = 0; i < wte_token_list_count(words); i++) {
        const char *word = wte_token_list_text(words, i, &bytes);
        if (bytes == strlen(text) && memcmp(word, text, bytes) == 0) return i;
    }
    return WTE_NO_INDEX;
}

static wte_status print_nearest(const wte_corpus *corpus, const wte_wordvec *vectors,
                                const char *word, wte_error *err)
{
    const wte_token_list *words = wte_corpus_words(corpus);
    const uint64_t row = row_of(words, word);
    wte_near_options options = WTE_NEAR_OPTIONS_INIT;
    wte_near_hit hits[3];
    wte_row_source rows;
    float query[16];
    wte_wordvec_vectors(vectors, &rows);
    options.top = 3;
    options.exclude = &row;
    options.n_exclude = 1;
    wte_status s = wte_row_source_read(&rows, row, query, err);
    if (s == WTE_OK) s = wte_nearest(&rows, query, 1, rows.cols, &options, hits, err);
    for (int i = 0; s == WTE_OK && i < 3; i++) {
        uint64_t bytes;
        const char *text = wte_token_list_text(words, hits[i].row, &bytes);
        printf("%-8.*s cosine %.3f\n", (int)bytes, text, hits[i].score);
    }
    return s;
}

int main(int argc, char **argv)
{
    wte_corpus_options read = WTE_CORPUS_OPTIONS_INIT;
    wte_wordvec_options train = WTE_WORDVEC_OPTIONS_INIT;
    wte_corpus *corpus = NULL;
    wte_wordvec *vectors = NULL;
    wte_error err = { 0 };
    read.min_count = 1;
    train.dim = 16;
    train.window = 2;
    train.sample = -1; /* keep every word of so small a corpus */
    train.epochs = 40;
    wte_status s =
        wte_corpus_open(argc > 1 ? argv[1] : "examples/data/topics.txt", &read, &corpus, &err);
    if (s == WTE_OK) s = wte_wordvec_create(corpus, &train, &vectors, &err);
    if (s == WTE_OK) s = wte_wordvec_train(vectors, NULL, &err);
    if (s == WTE_OK) s = print_nearest(corpus, vectors, argc > 2 ? argv[2] : "cat", &err);
    if (s != WTE_OK) fprintf(stderr, "word_vectors: %s\n", err.message);
    wte_wordvec_free(vectors);
    wte_corpus_free(corpus);
    return s != WTE_OK;
}
