/* fastText models: vectors equal to fastText's own bit for bit, n-grams by the book, every fault.
 */
#include "words_help.h"

#include <wte/model.h>

#include "base/limits.h"
#include "format/fasttext.h"

static words open_file(const char *name)
{
    whole_file b = load_model(name);
    words w = open_words(b.data, b.n);
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_FASTTEXT);
    free(b.data);
    return w;
}

static wte_row_source rows_of(const words *w, uint64_t i)
{
    wte_error err = { 0 };
    wte_row_source rows;
    assert_ok(wte_file_row_source(w->f, i, &rows, &err), err);
    assert_ok(wte_check_rows(&rows, &err), err);
    return rows;
}

/* Each line of a golden file: a word in hex, the bits of its numbers. */
static size_t take_word(char **at, char word[64])
{
    size_t n = 0;
    for (; **at != ' '; *at += 2) {
        unsigned byte;
        assert_int_equal(sscanf(*at, "%2x", &byte), 1);
        word[n++] = (char)byte;
    }
    return n;
}

static void check_bits(char **at, const float *row, uint64_t cols, const char *model)
{
    char *line = *at;
    for (uint64_t c = 0; c < cols; c++) {
        const uint32_t want = (uint32_t)strtoul(*at, at, 16);
        uint32_t got;
        memcpy(&got, &row[c], 4);
        if (got != want)
            fail_msg("%s: %.40s: number %llu: %08x, not %08x", model, line, (unsigned long long)c,
                     (unsigned)got, (unsigned)want);
    }
    (*at)++;
}

static void check_golden(const char *model, const char *golden)
{
    words w = open_file(model);
    whole_file b = load_model(golden);
    const wte_row_source rows = rows_of(&w, 0);
    wte_error err = { 0 };
    float block[128 * 8], row[8];
    char *at = (char *)b.data, word[64];
    assert_in_range(rows.rows, 50, 128);
    assert_int_equal(rows.cols, 7);
    assert_ok(wte_row_source_read_block(&rows, 0, (size_t)rows.rows, block, &err), err);
    for (uint64_t r = 0; r < rows.rows; r++) {
        const size_t n = take_word(&at, word);
        check_token(&w, r, word, n);
        assert_ok(wte_row_source_read(&rows, r, row, &err), err);
        assert_memory_equal(row, block + r * rows.cols, rows.cols * sizeof *row);
        check_bits(&at, row, rows.cols, model);
    }
    assert_int_equal(*at, '\0');
    free(b.data);
    free_words(&w);
}

static void check_unknown(const char *model, const char *golden)
{
    words w = open_file(model);
    whole_file b = load_model(golden);
    wte_error err = { 0 };
    float row[7];
    char *at = (char *)b.data, word[64];
    size_t found = 0;
    for (; *at; found++) {
        const size_t n = take_word(&at, word);
        assert_ok(wte_fasttext_oov_vector(w.f, n ? word : NULL, n, row, &err), err);
        check_bits(&at, row, 7, model);
    }
    assert_int_equal(found, 10);
    free(b.data);
    free_words(&w);
}

static void vectors_of_unknown_words_are_fasttexts_own(void **state)
{
    (void)state;
    check_unknown("skip.bin", "skip.unknown.txt");
    check_unknown("bare.bin", "bare.unknown.txt");
    check_unknown("whole.ftz", "whole.unknown.txt");
    check_unknown("cut.ftz", "cut.unknown.txt");
}

static void vectors_are_fasttexts_own(void **state)
{
    (void)state;
    check_golden("skip.bin", "skip.txt");
    check_golden("bare.bin", "bare.txt");
    check_golden("whole.ftz", "whole.txt");
    check_golden("cut.ftz", "cut.txt");
}

/* fastText's .vec has five significant digits of the same vectors. */
static void check_vec(const char *model, const char *vec)
{
    words w = open_file(model), t;
    whole_file b = load_model(vec);
    t = open_words(b.data, b.n);
    assert_int_equal(wte_file_format(t.f), WTE_FORMAT_WORD2VEC_TEXT);
    const wte_row_source made = rows_of(&w, 0), told = rows_of(&t, 0);
    wte_error err = { 0 };
    float x[16], y[16];
    char text[32];
    assert_int_equal(made.rows, told.rows);
    assert_int_equal(made.cols, told.cols);
    for (uint64_t r = 0; r < made.rows; r++) {
        assert_ok(wte_row_source_read(&made, r, x, &err), err);
        assert_ok(wte_row_source_read(&told, r, y, &err), err);
        for (uint64_t c = 0; c < made.cols; c++) {
            snprintf(text, sizeof text, "%.5g", (double)x[c]);
            assert_true(strtof(text, NULL) == y[c]);
        }
    }
    free_words(&t);
    free_words(&w);
    free(b.data);
}

static void vectors_are_those_of_its_vec_file(void **state)
{
    (void)state;
    check_vec("m.bin", "m.vec");
    check_vec("sup.bin", "sup.vec");
}

static void matrices_are_tensors(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_tensor t;
    float row[16], stored[16];
    uint64_t offset, n;
    words w = open_file("skip.bin");
    assert_int_equal(wte_file_n_tensors(w.f), 3);
    static const char *const names[] = { "vectors", "input", "output" };
    uint64_t end = 0;
    for (uint64_t i = 0; i < 3; i++) {
        assert_ok(wte_file_tensor(w.f, i, &t, &err), err);
        assert_string_equal(t.name, names[i]);
        assert_int_equal(t.derived, i == 0);
        assert_true(t.offset >= end); /* no byte is counted twice */
        end = t.offset + t.bytes;
    }
    assert_int_equal(end, wte_file_shard_bytes(w.f, 0));
    const wte_row_source vectors = rows_of(&w, 0), input = rows_of(&w, 1), output = rows_of(&w, 2);
    assert_int_equal(input.rows, vectors.rows + 300);
    assert_int_equal(output.rows, vectors.rows);
    assert_ok(wte_file_row_offset(w.f, 1, 5, &offset, &n, &err), err);
    assert_int_equal(n, 28);
    assert_ok(wte_file_tensor(w.f, 1, &t, &err), err);
    assert_ok(wte_file_read(w.f, 1, offset - t.offset, stored, 28, &err), err);
    assert_ok(wte_row_source_read(&input, 5, row, &err), err);
    assert_memory_equal(row, stored, 28);
    assert_fails(wte_file_row_offset(w.f, 0, 0, &offset, &n, &err), err, WTE_E_UNSUPPORTED, 0,
                 "t.vec: row 0 of tensor 'vectors' lies in several places");
    free_words(&w);
}

static void words_have_their_counts(void **state)
{
    (void)state;
    wte_error err = { 0 };
    const wte_token_list *tokens;
    float before = 1e9f, score;
    words w = open_file("skip.bin");
    assert_ok(wte_file_tokens(w.f, &tokens, &err), err);
    check_token(&w, 0, "</s>", 4); /* once a line, and as a word among them */
    for (uint64_t i = 0; i < wte_token_list_count(tokens); i++) {
        assert_true(wte_token_list_score(tokens, i, &score));
        assert_true(score >= 1 && score <= before);
        before = score;
    }
    assert_true(wte_token_list_score(tokens, 0, &score));
    assert_true(score >= 400);
    free_words(&w);
}

static void a_model_is_its_vectors(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_model *m;
    const wte_model_table *table;
    uint64_t id;
    assert_ok(wte_model_open(test_data("fasttext/whole.ftz"), NULL, &m, &err), err);
    assert_ok(wte_model_input(m, &table, &err), err);
    assert_string_equal(table->name, "vectors");
    assert_null(wte_model_head(m));
    assert_ok(wte_vocab_find(wte_model_vocab(m), "café", strlen("café"), &id, NULL, &err), err);
    assert_true(id < table->rows);
    wte_model_free(m);
}

/* N-grams ------------------------------------------------------------------------------------- */

/* As fastText's source has it, over the bracketed word, with its signed hash. */
static size_t ngrams_by_the_book(const wte__ngram_rule *rule, const char *word, uint64_t *rows)
{
    char text[64];
    const size_t size = (size_t)snprintf(text, sizeof text, "<%s>", word);
    size_t n_rows = 0;
    for (size_t i = 0; i < size; i++) {
        if ((text[i] & 0xc0) == 0x80) continue;
        size_t j = i;
        for (uint32_t n = 1; j < size && n <= rule->max; n++) {
            j++;
            while (j < size && (text[j] & 0xc0) == 0x80) j++;
            if (n < rule->min || (n == 1 && (i == 0 || j == size))) continue;
            uint32_t hash = 2166136261u;
            for (size_t k = i; k < j; k++) {
                const uint8_t byte = (uint8_t)text[k];
                const uint32_t bits = byte < 128 ? byte : byte + (UINT32_MAX - 255);
                hash = (hash ^ bits) * 16777619u;
            }
            rows[n_rows++] = rule->words + hash % rule->buckets;
        }
    }
    return n_rows;
}

static void ngrams_are_those_of_the_book(void **state)
{
    (void)state;
    static const char *const list[] = {
        "",      "a",         "ab",        "caf\xc3\xa9",      "\xe6\x97\xa5\xe6\x9c\xac",
        "\x80",  "\x80\x80z", "a\xc3",     "\xf0\x9f\x98\x80", "<>",
        "where", "\xff\xff",  "z\x80y\xbf"
    };
    uint64_t want[512], row;
    for (uint32_t min = 0; min < 4; min++)
        for (uint32_t max = 0; max < 7; max++)
            for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
                const wte__ngram_rule rule = {
                    .min = min, .max = max, .buckets = 1 + 9 * max, .words = 100
                };
                const wte__bytes word = { (const uint8_t *)list[i], strlen(list[i]) };
                const size_t n = ngrams_by_the_book(&rule, list[i], want);
                wte__ngrams it;
                wte__ngrams_start(&it, &rule, word);
                for (size_t k = 0; k < n; k++) {
                    assert_true(wte__ngrams_next(&it, &row));
                    assert_int_equal(row, want[k]);
                }
                assert_false(wte__ngrams_next(&it, &row));
            }
}

/* PAINS J8: a letter of two bytes, ten buckets. "<é>" has the n-grams "é", "<é", "é>" and itself.
 */
static void bytes_are_hashed_as_signed(void **state)
{
    (void)state;
    const wte__ngram_rule rule = { .min = 1, .max = 3, .buckets = 10, .words = 0 };
    const wte__bytes word = { (const uint8_t *)"\xc3\xa9", 2 };
    /* ((start ^ 0xffffffc3) * prime ^ 0xffffffa9) * prime, modulo 2^32 and then 10 */
    const uint64_t alone =
        (uint32_t)(((uint32_t)((2166136261u ^ 0xffffffc3u) * 16777619u) ^ 0xffffffa9u) *
                   16777619u) %
        10;
    uint64_t row, n = 0;
    bool met = false;
    wte__ngrams it;
    wte__ngrams_start(&it, &rule, word);
    for (; wte__ngrams_next(&it, &row); n++) met |= row == alone;
    assert_int_equal(n, 4);
    assert_true(met);
}

static void of_pruned_buckets_the_last_pair_counts(void **state)
{
    (void)state;
    wte__ngram_rule rule = { .min = 1, .max = 1, .buckets = 1, .words = 5, .pruned = true };
    wte__ngram_pair pairs[] = { { 3, 9 }, { 0, 1 }, { -7, 2 }, { 0, 4 }, { 3, 8 } };
    const wte__bytes word = { (const uint8_t *)"ab", 2 };
    uint64_t row;
    wte__ngrams it;
    wte__ngrams_start(&it, &rule, word);
    assert_false(wte__ngrams_next(&it, &row)); /* none was kept */
    rule.kept = pairs;
    rule.n_kept = 5;
    assert_true(wte__ngram_rule_settle(&rule, NULL));
    assert_int_equal(rule.n_kept, 3);
    wte__ngrams_start(&it, &rule, word);
    assert_true(wte__ngrams_next(&it, &row)); /* "a" and "b", of bucket 0 */
    assert_int_equal(row, 9);
    assert_true(wte__ngrams_next(&it, &row));
    assert_false(wte__ngrams_next(&it, &row));
    rule.kept[1].bucket = 2; /* none of bucket 0 is left */
    wte__ngrams_start(&it, &rule, word);
    assert_false(wte__ngrams_next(&it, &row));
}

static void supervised_models_of_version_11_have_no_ngrams(void **state)
{
    (void)state;
    wte_error err = { 0 };
    float vector[16], row[16];
    whole_file b = load_model("whole.ftz");
    b.data[4] = 11;
    words w = open_words(b.data, b.n);
    const wte_row_source vectors = rows_of(&w, 0), input = rows_of(&w, 1);
    for (uint64_t r = 0; r < vectors.rows; r++) {
        assert_ok(wte_row_source_read(&vectors, r, vector, &err), err);
        assert_ok(wte_row_source_read(&input, r, row, &err), err);
        assert_memory_equal(vector, row, vectors.cols * sizeof *row);
    }
    free_words(&w);
    free(b.data);
}

static const struct CMUnitTest tests[] = {
    TEST("vectors are fastText's own, bit for bit", vectors_are_fasttexts_own),
    TEST("vectors of unknown words are fastText's own", vectors_of_unknown_words_are_fasttexts_own),
    TEST("vectors are those of its .vec file", vectors_are_those_of_its_vec_file),
    TEST("matrices are tensors", matrices_are_tensors),
    TEST("words have their counts", words_have_their_counts),
    TEST("a model is its vectors", a_model_is_its_vectors),
    TEST("n-grams are those of the book", ngrams_are_those_of_the_book),
    TEST("bytes are hashed as signed", bytes_are_hashed_as_signed),
    TEST("of pruned buckets the last pair counts", of_pruned_buckets_the_last_pair_counts),
    TEST("supervised models of version 11 have no n-grams",
         supervised_models_of_version_11_have_no_ngrams),
};
TEST_MAIN(tests)
