/* word2vec's binary form: with and without line ends, words of any bytes, every fault. */
#include "words_help.h"

#include "base/limits.h"

/* Writes words of dim numbers: word w number c is w * 10 + c + 0.25. */
typedef struct maker {
    uint8_t data[4096];
    size_t n, words, dim;
} maker;

static void start(maker *m, const char *counts, size_t dim)
{
    memset(m, 0, sizeof *m);
    m->n = strlen(counts);
    memcpy(m->data, counts, m->n);
    m->dim = dim;
}

static void put_word(maker *m, const char *word, size_t bytes, const char *end)
{
    memcpy(m->data + m->n, word, bytes);
    m->n += bytes;
    m->data[m->n++] = ' ';
    for (size_t c = 0; c < m->dim; c++) {
        const float x = (float)(m->words * 10 + c) + 0.25f;
        uint32_t bits;
        memcpy(&bits, &x, 4);
        for (int i = 0; i < 4; i++) m->data[m->n++] = (uint8_t)(bits >> (8 * i));
    }
    memcpy(m->data + m->n, end, strlen(end));
    m->n += strlen(end);
    m->words++;
}

static void check_made(const maker *m)
{
    float want[64];
    words w = open_words(m->data, m->n);
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_WORD2VEC);
    assert_string_equal(wte_format_name(WTE_FORMAT_WORD2VEC), "word2vec binary");
    for (size_t i = 0; i < m->words * m->dim; i++)
        want[i] = (float)(i / m->dim * 10 + i % m->dim) + 0.25f;
    check_values(&w, m->words, m->dim, want);
    free_words(&w);
}

/* PAINS J5: two records with a line's end, one without. */
static void line_ends_may_be_there_or_not(void **state)
{
    (void)state;
    static const char *const ends[][3] = { { "\n", "\n", "\n" }, { "", "", "" },
                                           { "\n", "\n", "" },   { "", "\n", "" },
                                           { "", "", "\n" },     { "\n", "", "\n" } };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        maker m;
        start(&m, "3 2\n", 2);
        put_word(&m, "</s>", 4, ends[i][0]);
        put_word(&m, "in", 2, ends[i][1]);
        put_word(&m, "the", 3, ends[i][2]);
        check_made(&m);
        words w = open_words(m.data, m.n);
        check_token(&w, 0, "</s>", 4);
        check_token(&w, 1, "in", 2);
        check_token(&w, 2, "the", 3);
        free_words(&w);
    }
}

static void words_are_never_trimmed(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        size_t bytes;
    } rules[] = { { "a", 1 },
                  { "a\t", 2 },
                  { "\xc2\xa0"
                    "a",
                    3 },
                  { "\ra", 2 },
                  { "\xff\xfe\x80", 3 },
                  { "", 0 },
                  { "a", 1 },
                  { "caf\xc3\xa9", 5 } };
    maker m;
    start(&m, "8 3\n", 3);
    for (size_t i = 0; i < 8; i++) put_word(&m, rules[i].word, rules[i].bytes, "\n");
    check_made(&m);
    words w = open_words(m.data, m.n);
    for (size_t i = 0; i < 8; i++) check_token(&w, i, rules[i].word, rules[i].bytes);
    free_words(&w);
}

static void the_place_of_a_row_is_its_numbers(void **state)
{
    (void)state;
    maker m;
    wte_error err = { 0 };
    uint64_t offset, bytes;
    float got[2], want[2] = { 10.25f, 11.25f };
    wte_tensor t;
    start(&m, "2 2\n", 2);
    put_word(&m, "ab", 2, "\n");
    put_word(&m, "c", 1, "\n");
    words w = open_words(m.data, m.n);
    assert_ok(wte_file_row_offset(w.f, 0, 1, &offset, &bytes, &err), err);
    assert_int_equal(offset, 4 + 3 + 8 + 1 + 2);
    assert_int_equal(bytes, 8);
    assert_ok(wte_file_tensor(w.f, 0, &t, &err), err);
    assert_string_equal(t.name, "vectors");
    assert_ok(wte_file_read(w.f, 0, offset - t.offset, got, 8, &err), err);
    assert_memory_equal(got, want, 8);
    free_words(&w);
}

static void faults_are_named(void **state)
{
    (void)state;
    maker m;
    start(&m, "2 2\n", 2);
    put_word(&m, "ab", 2, "\n");
    put_word(&m, "c", 1, "\n");
    /* record 2 begins at 16, its numbers at 18 */
    check_refused(m.data, 25, WTE_E_FORMAT, 16,
                  "record 2 of 2, at byte 16, needs 8 bytes of numbers, but 7 are left");
    check_refused(m.data, 17, WTE_E_FORMAT, 0,
                  "2 words of 2 numbers need more than the 13 bytes that follow line 1");
    memcpy(m.data, "1 2\n", 4);
    check_refused(m.data, m.n, WTE_E_FORMAT, 16,
                  "11 bytes follow after the last of 1 records, at byte 16");
    memcpy(m.data, "2 2\n", 4);
    m.data[m.n] = 'x';
    check_refused(m.data, m.n + 1, WTE_E_FORMAT, m.n, "1 bytes follow after the last of 2 records");
    /* a word that swallows what follows: its end lies among the numbers */
    m.data[17] = '_';
    check_refused(m.data, m.n, WTE_E_FORMAT, 16,
                  "record 2 of 2, at byte 16, has no space that ends");
    memset(m.data + 18, 0, 7);
    m.data[25] = ' ';
    check_refused(m.data, m.n, WTE_E_FORMAT, 16, "has a NUL or a line's end in its word");
}

static void a_record_that_is_not_there_is_named(void **state)
{
    (void)state;
    maker m;
    start(&m, "2 1\n", 1);
    put_word(&m, "a longer word than it seems", 1, "");
    memcpy(m.data + m.n, "12345", 5); /* enough bytes for a second record, but none is whole */
    check_refused(m.data, m.n + 5, WTE_E_FORMAT, m.n, "record 2 of 2");
    start(&m, "2 1\n", 1);
    put_word(&m, "abcdefgh", 8, "");
    check_refused(m.data, m.n, WTE_E_FORMAT, m.n, "record 2 of 2, at byte 17, is missing");
    m.data[m.n] = '\n';
    check_refused(m.data, m.n + 1, WTE_E_FORMAT, m.n + 1, "record 2 of 2, at byte 18, is missing");
}

static void counts_beyond_the_file_are_refused_at_once(void **state)
{
    (void)state;
    static const char *const counts[] = { "99999999 1\n",
                                          "1 99999999\n",
                                          "18446744073709551615 1\n",
                                          "4294967296 1073741824\n",
                                          "1 4611686018427387904\n",
                                          "1 18446744073709551615\n" };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        maker m;
        start(&m, counts[i], 1);
        put_word(&m, "a", 1, "\n");
        check_refused(m.data, m.n, WTE_E_FORMAT, 0,
                      "need more than the 7 bytes that follow line 1");
    }
    maker m;
    start(&m, "1 0\n", 0);
    put_word(&m, "a\1", 2, "\n");
    check_refused(m.data, m.n, WTE_E_FORMAT, 0, "line 1 says 1 words of 0 dimensions");
}

static void a_word_without_an_end_is_refused(void **state)
{
    (void)state;
    const size_t n = 2 * (size_t)WTE_LIMIT_TOKEN_TEXT + 64;
    uint8_t *data = malloc(n);
    assert_non_null(data);
    memset(data, 1, n);
    memcpy(data, "1 1\n", 4);
    check_refused(data, n, WTE_E_FORMAT, 4, "record 1 of 1, at byte 4, has no space within 1 MiB");
    data[4 + WTE_LIMIT_TOKEN_TEXT + 1] = ' ';
    check_refused(data, n, WTE_E_FORMAT, 4, "has no space within 1 MiB");
    data[4 + WTE_LIMIT_TOKEN_TEXT] = ' ';
    words w = open_words(data, 4 + WTE_LIMIT_TOKEN_TEXT + 1 + 4);
    assert_int_equal(words_rows(&w).rows, 1);
    free_words(&w);
    free(data);
}

/* The window of the pass is 2 MiB. */
static void records_cross_every_border(void **state)
{
    (void)state;
    enum { WORDS = 4000, DIM = 301 };
    const size_t cap = WORDS * (DIM * 4 + 16) + 32;
    uint8_t *data = malloc(cap);
    assert_non_null(data);
    char name[32];
    wte_error err = { 0 };
    size_t n = (size_t)snprintf((char *)data, 32, "%d %d\n", WORDS, DIM);
    for (uint32_t i = 0; i < WORDS; i++) {
        n += (size_t)snprintf((char *)data + n, 16, "w%u ", (unsigned)i);
        for (uint32_t c = 0; c < DIM; c++, n += 4) {
            const float x = (float)(i * DIM + c);
            memcpy(data + n, &x, 4);
        }
        if (i % 3) data[n++] = '\n';
    }
    words w = open_words(data, n);
    const wte_row_source rows = words_rows(&w);
    float row[DIM];
    for (uint32_t i = 0; i < WORDS; i += 7) {
        const uint32_t r = i * 31 % WORDS;
        assert_ok(wte_row_source_read(&rows, r, row, &err), err);
        for (uint32_t c = 0; c < DIM; c++) assert_true(row[c] == (float)(r * DIM + c));
        const int length = snprintf(name, sizeof name, "w%u", (unsigned)r);
        check_token(&w, r, name, (size_t)length);
    }
    free_words(&w);
    free(data);
}

static void the_pass_tells_how_far_it_is(void **state)
{
    (void)state;
    enum { WORDS = 10000 };
    uint8_t *data = malloc(WORDS * 6 + 32);
    assert_non_null(data);
    size_t n = (size_t)snprintf((char *)data, 32, "%d 1\n", WORDS);
    for (size_t i = 0; i < WORDS; i++, n += 6) memcpy(data + n, "w \0\0\0\0", 6);
    check_progress(data, n);
    free(data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    maker m;
    start(&m, "2 2\n", 2);
    put_word(&m, "ab", 2, "\n");
    put_word(&m, "c", 1, "\n");
    check_starved(m.data, m.n);
}

static const struct CMUnitTest tests[] = {
    TEST("line ends may be there or not", line_ends_may_be_there_or_not),
    TEST("words are never trimmed, and equal ones are kept", words_are_never_trimmed),
    TEST("the place of a row is its numbers", the_place_of_a_row_is_its_numbers),
    TEST("faults are named with record, place and numbers", faults_are_named),
    TEST("a record that is not there is named", a_record_that_is_not_there_is_named),
    TEST("counts beyond the file are refused at once", counts_beyond_the_file_are_refused_at_once),
    TEST("a word without an end is refused", a_word_without_an_end_is_refused),
    TEST("records cross every border of the window", records_cross_every_border),
    TEST("the pass tells how far it is, and can be stopped", the_pass_tells_how_far_it_is),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
