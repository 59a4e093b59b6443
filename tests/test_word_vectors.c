/* Word vectors as text: the forms there are, tokens of every kind, rows read in any order. */
#include "words_help.h"

#include <math.h>

#include <wte/model.h>

static void the_counted_form_is_read(void **state)
{
    (void)state;
    static const float want[] = { 0.1f, -0.5f, 1e-3f, 2, 3, 4 };
    static const char *const tokens[] = { "the", ",", "b" };
    words w = open_text("3 2\nthe 0.1 -0.5 \n, 1e-3 2 \nb 3 4 \n");
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_WORD2VEC_TEXT);
    assert_string_equal(wte_format_name(WTE_FORMAT_WORD2VEC_TEXT), "word2vec text");
    check_values(&w, 3, 2, want);
    check_tokens(&w, tokens, 3);
    free_words(&w);
}

static void the_form_without_counts_is_read(void **state)
{
    (void)state;
    static const float want[] = { 0.1f, -0.5f, 1e-3f, 2, 3, 4 };
    static const char *const tokens[] = { "the", ",", "<unk>" };
    words w = open_text("the 0.1 -0.5\n, 1e-3 2\n<unk> 3 4\n");
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_GLOVE);
    assert_string_equal(wte_format_name(WTE_FORMAT_GLOVE), "GloVe");
    check_values(&w, 3, 2, want);
    check_tokens(&w, tokens, 3);
    free_words(&w);
}

static void the_one_tensor_is_described(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_tensor t;
    uint64_t i = 9, offset, bytes;
    words w = open_text("2 3\nab 1 2 3\nc 4 5 6\n");
    assert_ok(wte_file_find(w.f, "vectors", 7, &i, &err), err);
    assert_int_equal(i, 0);
    assert_ok(wte_file_tensor(w.f, 0, &t, &err), err);
    assert_string_equal(t.name, "vectors");
    assert_int_equal(t.dtype, WTE_F32);
    assert_int_equal(t.rank, 2);
    assert_int_equal(t.shape[0], 2);
    assert_int_equal(t.shape[1], 3);
    assert_true(t.derived);
    assert_int_equal(t.offset, 4);
    assert_int_equal(t.bytes, 17);
    assert_ok(wte_file_row_offset(w.f, 0, 0, &offset, &bytes, &err), err);
    assert_int_equal(offset, 7);
    assert_int_equal(bytes, 5);
    assert_ok(wte_file_row_offset(w.f, 0, 1, &offset, &bytes, &err), err);
    assert_int_equal(offset, 15);
    assert_int_equal(bytes, 5);
    assert_fails(wte_file_row_offset(w.f, 0, 2, &offset, &bytes, &err), err, WTE_E_RANGE, 2,
                 "t.vec: row 2, but tensor 'vectors' has 2 rows");
    char text[6] = "";
    assert_ok(wte_file_read(w.f, 0, 3, text, 5, &err), err);
    assert_string_equal(text, "1 2 3");
    free_words(&w);
}

/* PAINS J7, and more: one line each, in a file of two numbers a row. */
static void words_are_taken_as_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *line, *token;
        size_t bytes;
    } rules[] = {
        { "a b c 1 2", "a b c", 5 }, /* blanks inside */
        { ". . . 1 2", ". . .", 5 }, /* GloVe 840B */
        { "42 1 2", "42", 2 },       /* digits */
        { "1 000 1 2", "1 000", 5 }, /* digits and a blank */
        { "0.5 1 2", "0.5", 3 },     /* a number with a point */
        { "-1e5 1 2", "-1e5", 4 },
        { "nan 1 2", "nan", 3 },
        { "a\xc2\xa0z 1 2", "a\xc2\xa0z", 4 }, /* a no-break space is no blank */
        { "\xff\xfe 1 2", "\xff\xfe", 2 },     /* no UTF-8 */
        { "a\vb\fc 1 2", "a\vb\fc", 5 },       /* other white space is no blank */
        { "a\tb 1\t2", "a\tb", 3 },
        { " 1 2", "", 0 },   /* an empty word */
        { "  1 2", " ", 1 }, /* a blank as a word */
        { " x 1 2", " x", 2 },
        { "x  1   2", "x", 1 }, /* runs of blanks */
        { "x y  1   2", "x y", 3 },
        { "x\t1\t2", "x", 1 },
        { "x 1 2 \t ", "x", 1 }, /* trailing blanks */
        { "x 1 2\r", "x", 1 },   /* CRLF */
        { "x 1 2 \r", "x", 1 },
        { "a\rb 1 2", "a\rb", 3 },
        { "\"q\" 1 2", "\"q\"", 3 },
    };
    static const float want[] = { 8, 9, 1, 2, 5, 6 };
    char text[128];
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const int n = snprintf(text, sizeof text, "3 2\nfirst 8 9\n%s\nlast 5 6\n", rules[i].line);
        words w = open_words(text, (size_t)n);
        assert_int_equal(wte_file_format(w.f), WTE_FORMAT_WORD2VEC_TEXT);
        check_values(&w, 3, 2, want);
        check_token(&w, 1, rules[i].token, rules[i].bytes);
        check_token(&w, 2, "last", 4);
        free_words(&w);
        w = open_words(text + 4, (size_t)n - 4); /* without counts */
        assert_int_equal(wte_file_format(w.f), WTE_FORMAT_GLOVE);
        check_values(&w, 3, 2, want);
        check_token(&w, 1, rules[i].token, rules[i].bytes);
        free_words(&w);
    }
}

static void a_word_of_a_nul_byte_is_taken_beyond_the_first_lines(void **state)
{
    (void)state;
    enum { LINES = 1000 };
    char *text = malloc(LINES * 16), *to = text;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++) to += snprintf(to, 16, "w%d %d %d\n", i, i, -i);
    memcpy(strstr(text, "w990"), "w\0\1!", 4);
    words w = open_words(text, (size_t)(to - text));
    check_token(&w, 990, "w\0\1!", 4);
    check_token(&w, 991, "w991", 4);
    free_words(&w);
    free(text);
}

static void the_first_of_equal_words_is_found(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_vocab *v;
    const wte_token_list *tokens;
    uint64_t id, other;
    words w = open_text("4 1\na 1\nb 2\na 3\na 4\n");
    assert_ok(wte_file_tokens(w.f, &tokens, &err), err);
    assert_ok(wte_vocab_from_tokens(tokens, "t.vec", NULL, &v, &err), err);
    assert_int_equal(wte_vocab_count(v), 4);
    assert_ok(wte_vocab_find(v, "a", 1, &id, &other, &err), err);
    assert_int_equal(id, 0);
    assert_int_equal(other, 2);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    wte_vocab_free(v);
    free_words(&w);
}

static void the_end_of_the_file_may_look_otherwise(void **state)
{
    (void)state;
    static const float want[] = { 1, 2, 3, 4 };
    static const char *const ends[] = { "", "\n", "\r\n", "\n\n\n", "\n \t\r\n", " ", " \n" };
    char text[64];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(text, sizeof text, "2 2\na 1 2\nb 3 4%s", ends[i]);
        words w = open_text(text);
        check_values(&w, 2, 2, want);
        free_words(&w);
        w = open_text(text + 4);
        check_values(&w, 2, 2, want);
        free_words(&w);
    }
}

static void a_byte_order_mark_is_passed_over(void **state)
{
    (void)state;
    static const float want[] = { 1, 2, 3, 4 };
    static const char *const tokens[] = { "a", "b" };
    words w = open_text("\xef\xbb\xbf"
                        "2 2\r\na 1 2\r\nb 3 4\r\n");
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_WORD2VEC_TEXT);
    check_values(&w, 2, 2, want);
    check_tokens(&w, tokens, 2);
    free_words(&w);
    w = open_text("\xef\xbb\xbf"
                  "a 1 2\nb 3 4\n");
    check_tokens(&w, tokens, 2);
    free_words(&w);
}

static void no_words_are_a_table_too(void **state)
{
    (void)state;
    words w = open_text("0 5\n");
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_WORD2VEC_TEXT);
    check_values(&w, 0, 5, NULL);
    check_tokens(&w, NULL, 0);
    free_words(&w);
}

/* Two integers in line 1 may be counts, a first row, or a word and its number. */
static void counts_are_told_from_rows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        wte_format format;
        uint64_t rows, dim;
        bool tokens;
    } rules[] = {
        { "1 2\n3 4 5\n", WTE_FORMAT_WORD2VEC_TEXT, 1, 2, true },
        { "2 1\nx 5\ny 6\n", WTE_FORMAT_WORD2VEC_TEXT, 2, 1, true },
        { "9 2\n3 14\n5 1\n", WTE_FORMAT_TEXT_TABLE, 3, 2, false }, /* there are no 9 rows */
        { "2 3\n3 4 0.5\n5 6 1\n", WTE_FORMAT_WORD2VEC_TEXT, 2, 3, false },
        { "3 2 7\n4 5 6\n", WTE_FORMAT_TEXT_TABLE, 2, 3, false },
        { "0.25 0.5 3\n4e0 5 0.5\n", WTE_FORMAT_TEXT_TABLE, 2, 3, false },
        { " 0.5 0.5\n 1.5 0.5\n", WTE_FORMAT_TEXT_TABLE, 2, 2, false },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        words w = open_text(rules[i].text);
        const wte_row_source rows = words_rows(&w);
        const wte_token_list *tokens;
        wte_error err;
        assert_int_equal(wte_file_format(w.f), rules[i].format);
        assert_int_equal(rows.rows, rules[i].rows);
        assert_int_equal(rows.cols, rules[i].dim);
        assert_int_equal(wte_file_tokens(w.f, &tokens, &err) == WTE_OK, rules[i].tokens);
        free_words(&w);
    }
}

/* The word whose every number is its row times 1000 plus its column, printed as %g. */
static char *big_text(size_t rows, size_t dim, bool counted, size_t *bytes)
{
    const size_t cap = 128 + rows * (16 + dim * 12);
    char *text = malloc(cap), *to = text;
    assert_non_null(text);
    if (counted) to += snprintf(to, 40, "%zu %zu\n", rows, dim);
    for (size_t r = 0; r < rows; r++) {
        to += snprintf(to, 32, "word%zu", r);
        for (size_t c = 0; c < dim; c++) to += snprintf(to, 32, " %zu.5", r * 1000 + c);
        *to++ = '\n';
    }
    *bytes = (size_t)(to - text);
    return text;
}

/* Windows of the pass (1 MiB) and of rows (16 KiB) end anywhere. */
static void rows_cross_every_border(void **state)
{
    (void)state;
    static const size_t shape[][2] = { { 30000, 7 }, { 600, 301 }, { 3, 60000 }, { 1, 90000 } };
    for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++) {
        size_t bytes;
        wte_error err = { 0 };
        const size_t n = shape[k][0], dim = shape[k][1];
        char *text = big_text(n, dim, k % 2 == 0, &bytes), name[32];
        words w = open_words(text, bytes);
        const wte_row_source rows = words_rows(&w);
        float *row = malloc(dim * sizeof *row);
        assert_non_null(row);
        assert_int_equal(rows.rows, n);
        assert_int_equal(rows.cols, dim);
        for (size_t i = 0; i < n; i += 1 + n / 500) {
            const uint64_t r = i * 7919 % n;
            assert_ok(wte_row_source_read(&rows, r, row, &err), err);
            for (size_t c = 0; c < dim; c++)
                assert_true(row[c] == (float)((double)(r * 1000 + c) + 0.5));
            snprintf(name, sizeof name, "word%zu", (size_t)r);
            check_token(&w, r, name, strlen(name));
        }
        free(row);
        free_words(&w);
        free(text);
    }
}

static void long_blanks_and_long_words_are_read(void **state)
{
    (void)state;
    const size_t n = 40000;
    char *text = malloc(2 * n + 64);
    assert_non_null(text);
    memcpy(text, "2 2\n", 4);
    memset(text + 4, 'w', n);
    text[4 + n] = ' ';
    text[5 + n] = '1';
    memset(text + 6 + n, ' ', n);
    memcpy(text + 6 + 2 * n, "2\nb 3 4\n", 9);
    static const float want[] = { 1, 2, 3, 4 };
    words w = open_text(text);
    check_values(&w, 2, 2, want);
    text[4 + n] = '\0';
    check_token(&w, 0, text + 4, n);
    free_words(&w);
    free(text);
}

static void a_model_is_made_of_word_vectors(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[96];
    wte_error err = { 0 };
    wte_model *m;
    const wte_model_table *table;
    uint64_t id;
    static const char text[] = "2 2\nking 1 2\nqueen 3 4\n";
    snprintf(path, sizeof path, "%s/m.txt", dir);
    test_write_file(path, text, sizeof text - 1);
    assert_ok(wte_model_open(path, NULL, &m, &err), err);
    assert_ok(wte_model_input(m, &table, &err), err);
    assert_string_equal(table->name, "vectors");
    assert_string_equal(table->why, "word vectors are themselves the table");
    assert_int_equal(table->rows, 2);
    assert_int_equal(table->dim, 2);
    assert_int_equal(table->row_bytes, 0);
    assert_null(wte_model_head(m));
    assert_int_equal(wte_vocab_source_of(wte_model_vocab(m)), WTE_VOCAB_TOKENS);
    assert_ok(wte_vocab_find(wte_model_vocab(m), "queen", 5, &id, NULL, &err), err);
    assert_int_equal(id, 1);
    wte_model_free(m);
    snprintf(path, sizeof path, "%s/m.vec", dir); /* the one such file of a folder */
    test_write_file(path, text, sizeof text - 1);
    assert_ok(wte_model_open(dir, NULL, &m, &err), err);
    assert_int_equal(wte_file_format(wte_model_file(m)), WTE_FORMAT_WORD2VEC_TEXT);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void the_pass_tells_how_far_it_is(void **state)
{
    (void)state;
    size_t n;
    char *text = big_text(20000, 3, true, &n);
    check_progress(text, n);
    free(text);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char counted[] = "2 2\na 1 2\nb 3 4\n",
                      csv[] = "word,x,y\n\"a,\"\"b\",1,2\nc,3,4\n";
    check_starved(counted, sizeof counted - 1);
    check_starved(csv, sizeof csv - 1);
}

static const struct CMUnitTest tests[] = {
    TEST("the form with counts is read", the_counted_form_is_read),
    TEST("the form without counts is read", the_form_without_counts_is_read),
    TEST("the one tensor is described", the_one_tensor_is_described),
    TEST("words are taken as they are", words_are_taken_as_they_are),
    TEST("a word with a NUL is taken beyond the first lines",
         a_word_of_a_nul_byte_is_taken_beyond_the_first_lines),
    TEST("the first of equal words is found", the_first_of_equal_words_is_found),
    TEST("the end of the file may look otherwise", the_end_of_the_file_may_look_otherwise),
    TEST("a byte order mark is passed over", a_byte_order_mark_is_passed_over),
    TEST("no words are a table too", no_words_are_a_table_too),
    TEST("counts are told from rows", counts_are_told_from_rows),
    TEST("rows cross every border of the windows", rows_cross_every_border),
    TEST("long blanks and long words are read", long_blanks_and_long_words_are_read),
    TEST("a model is made of word vectors", a_model_is_made_of_word_vectors),
    TEST("the pass tells how far it is, and can be stopped", the_pass_tells_how_far_it_is),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
