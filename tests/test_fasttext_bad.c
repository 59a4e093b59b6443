/* fastText files that are refused: status, place, message; and cut at every byte. */
#include "words_help.h"

#include "base/limits.h"

/* A model of our own: words "a" and "bc", one label, dense or quantised; any part can be changed.
 */
typedef struct model {
    int32_t version, dim, kind, bucket, min, max, entries, words, labels;
    int64_t pruned; /* pairs that follow, or -1 */
    int32_t pair[4];
    uint8_t entry_kind[3], quantised, output_quantised, normed;
    int64_t rows, cols; /* of the input matrix */
    int32_t code_bytes, product[4];
    int32_t mode; /* of floret; 0: a file of fastText */
    uint8_t data[16384];
    size_t n, at_rows, at_codes, at_product, at_pairs;
} model;

static void put(model *m, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) m->data[m->n++] = (uint8_t)(value >> (8 * i));
}

static void start(model *m)
{
    memset(m, 0, sizeof *m);
    m->version = 12;
    m->dim = 2;
    m->kind = 2;
    m->bucket = 3;
    m->min = 1;
    m->max = 2;
    m->entries = 3;
    m->words = 2;
    m->labels = 1;
    m->pruned = -1;
    m->entry_kind[2] = 1;
    m->rows = 5;
    m->cols = 2;
    m->code_bytes = 10;
    m->product[0] = 2; /* rows of two numbers in two parts of one */
    m->product[1] = 2;
    m->product[2] = m->product[3] = 1;
}

static void put_quantised(model *m)
{
    put(m, m->normed, 1);
    m->at_rows = m->n;
    put(m, (uint64_t)m->rows, 8);
    put(m, (uint64_t)m->cols, 8);
    m->at_codes = m->n;
    put(m, (uint64_t)m->code_bytes, 4);
    for (int i = 0; i < 10; i++) put(m, (uint64_t)i, 1);
    m->at_product = m->n;
    for (int i = 0; i < 4; i++) put(m, (uint64_t)m->product[i], 4);
    for (int i = 0; i < 2 * 256; i++) put(m, 0x3f800000, 4); /* all centroids are 1 */
    if (!m->normed) return;
    for (int i = 0; i < 5; i++) put(m, 0, 1);
    for (int i = 0; i < 4; i++) put(m, 1, 4);
    for (int i = 0; i < 256; i++) put(m, 0x40000000, 4); /* all lengths are 2 */
}

static void put_dense(model *m, int64_t rows, int64_t cols, int numbers)
{
    put(m, (uint64_t)rows, 8);
    put(m, (uint64_t)cols, 8);
    for (int i = 0; i < numbers; i++) {
        const float x = (float)(1 << i % 8);
        uint32_t bits;
        memcpy(&bits, &x, 4);
        put(m, bits, 4);
    }
}

static void make(model *m)
{
    static const char *const text[] = { "a", "bc", "__label__x" };
    m->n = 0;
    put(m, 793712314, 4);
    put(m, (uint64_t)m->version, 4);
    const int32_t args[] = { m->dim, 5, 1, 1, 5, 1, 2, m->kind, m->bucket, m->min, m->max, 100 };
    for (size_t i = 0; i < 12; i++) {
        if (i == 11 && m->mode) put(m, (uint64_t)m->mode, 4);
        if (i == 11 && m->mode) put(m, 2, 4); /* hashes */
        put(m, (uint64_t)args[i], 4);
    }
    put(m, 0, 8);
    put(m, (uint64_t)m->entries, 4);
    put(m, (uint64_t)m->words, 4);
    put(m, (uint64_t)m->labels, 4);
    put(m, 77, 8);
    put(m, (uint64_t)m->pruned, 8);
    for (int i = 0; i < 3; i++) {
        memcpy(m->data + m->n, text[i], strlen(text[i]) + 1);
        m->n += strlen(text[i]) + 1;
        put(m, 10, 8);
        put(m, m->entry_kind[i], 1);
    }
    m->at_pairs = m->n;
    for (int i = 0; i < 4 && i / 2 < m->pruned; i++) put(m, (uint64_t)m->pair[i], 4);
    put(m, m->quantised, 1);
    m->at_rows = m->n;
    if (m->quantised)
        put_quantised(m);
    else
        put_dense(m, m->rows, m->cols, 10);
    put(m, m->output_quantised, 1);
    put_dense(m, 1, 2, 2);
}

static void check_bad(const model *m, wte_status status, uint64_t where, const char *message)
{
    check_refused(m->data, m->n, status, where, message);
}

static void the_model_is_read_when_nothing_is_changed(void **state)
{
    (void)state;
    model m;
    float row[2];
    wte_error err = { 0 };
    for (int quantised = 0; quantised < 2; quantised++)
        for (int normed = 0; normed < 2; normed++) {
            start(&m);
            m.quantised = (uint8_t)quantised;
            m.normed = (uint8_t)normed;
            make(&m);
            words w = open_words(m.data, m.n);
            wte_row_source rows;
            assert_ok(wte_file_row_source(w.f, 0, &rows, &err), err);
            assert_int_equal(rows.rows, 2);
            assert_ok(wte_row_source_read(&rows, 0, row, &err), err);
            if (quantised) { /* the mean of ones, or of twos */
                assert_true(row[0] > (normed ? 1.9999f : 0.9999f));
                assert_true(row[0] < (normed ? 2.0001f : 1.0001f));
            }
            check_token(&w, 0, "a", 1);
            check_token(&w, 1, "bc", 2);
            free_words(&w);
        }
}

/* floret's files have the same magic number and version, and two more arguments. */
static void floret_is_read_or_named(void **state)
{
    (void)state;
    model m;
    float row[2][2];
    wte_error err = { 0 };
    start(&m);
    for (int i = 0; i < 2; i++, m.mode = 1) {
        make(&m);
        words w = open_words(m.data, m.n);
        wte_row_source rows;
        assert_ok(wte_file_row_source(w.f, 0, &rows, &err), err);
        assert_ok(wte_row_source_read(&rows, 1, row[i], &err), err);
        check_token(&w, 1, "bc", 2);
        free_words(&w);
    }
    assert_memory_equal(row[0], row[1], sizeof row[0]);
    m.mode = 2;
    make(&m);
    check_bad(&m, WTE_E_UNSUPPORTED, 52,
              "a floret model of 2 words, each made of rows that all share (2 hashes of each "
              "n-gram into 3 rows)");
    m.mode = 3; /* no mode of floret: nothing is known of such a file */
    make(&m);
    check_bad(&m, WTE_E_FORMAT, 68, "words and");
    m.mode = 1;
    m.pruned = -2;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, 68, "words and");
}

static void headers_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        int32_t value;
        wte_status status;
        uint64_t where;
        const char *message;
    } rules[] = {
        { 4, 13, WTE_E_UNSUPPORTED, 4,
          "fastText file of version 13, but 12 is the last one known" },
        { 8, 0, WTE_E_FORMAT, 8, "the dimension is 0 at byte 8" },
        { 8, -5, WTE_E_FORMAT, 8, "the dimension is -5 at byte 8" },
        { 40, -1, WTE_E_FORMAT, 40, "the number of buckets is -1 at byte 40" },
        { 44, -1, WTE_E_FORMAT, 44, "minn is -1 at byte 44" },
        { 48, -2, WTE_E_FORMAT, 48, "maxn is -2 at byte 48" },
        { 48, 65, WTE_E_LIMIT, 48, "n-grams of up to 65 characters, but at most 64 are taken" },
        { 64, -1, WTE_E_FORMAT, 64, "the number of entries is -1 at byte 64" },
        { 64, 4, WTE_E_FORMAT, 68, "2 words and 1 labels at byte 68, but 4 entries" },
        { 68, -1, WTE_E_FORMAT, 68, "-1 words and 1 labels at byte 68, but 3 entries" },
        { 88, -2, WTE_E_FORMAT, 84, "the number of n-grams kept is -4294967297 at byte 84" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        model m;
        start(&m);
        make(&m);
        for (int k = 0; k < 4; k++)
            m.data[rules[i].at + (size_t)k] = (uint8_t)((uint32_t)rules[i].value >> (8 * k));
        check_bad(&m, rules[i].status, rules[i].where, rules[i].message);
    }
}

static void dictionaries_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    model m;
    start(&m);
    m.entry_kind[0] = 1;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, 92 + 10,
              "entry 0 is of kind 1, but 2 words (0) come first, then 1 labels");
    start(&m);
    m.entry_kind[2] = 0;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, 92 + 11 + 12 + 19, "entry 2 is of kind 0");
    start(&m);
    m.entries = 2000000000;
    m.words = 1999999999;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.n, "truncated: it ends at byte");
    start(&m);
    m.pruned = INT64_MAX;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.n, "inside the list of n-grams kept");
    start(&m);
    m.pruned = 1;
    m.pair[1] = -3;
    m.quantised = 1;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_pairs + 4, "the row of an n-gram is -3 at byte");
}

static void matrices_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    model m;
    start(&m);
    m.quantised = 2;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_pairs, "the mark of a quantised matrix is 2 at byte");
    start(&m);
    m.pruned = 0;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_pairs,
              "n-grams are pruned, but the input matrix is not quantised");
    start(&m);
    m.cols = 1;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_rows, "rows of 1 numbers, but the dimension is 2");
    start(&m);
    m.rows = 4;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_rows,
              "the input matrix has 4 rows, but words and n-grams need 5");
    start(&m);
    m.rows = -5;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_rows, "the input matrix has a negative size at byte");
    start(&m);
    m.rows = INT64_MAX;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_rows, "9223372036854775807 x 2 numbers, more than 64 bits");
    start(&m);
    m.rows = 1000;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_rows + 16, "the input matrix needs 8000 bytes at byte");
    start(&m);
    make(&m);
    m.data[m.n++] = 0;
    check_bad(&m, WTE_E_FORMAT, m.n - 1, "1 bytes follow the output matrix, at byte");
}

static void codes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    model m;
    start(&m);
    m.quantised = 1;
    m.rows = 7; /* codes of five rows */
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_codes, "bytes of codes 10, but 14 is right");
    start(&m);
    m.quantised = 1;
    m.product[0] = 3;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_product, "codes of width 3, but 2 is right");
    static const int32_t cuts[][3] = {
        { 0, 1, 1 }, { 2, 1, 0 }, { 2, 1, 2 }, { 3, 1, 1 }, { 2, 2, 1 }
    };
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        char message[128];
        start(&m);
        m.quantised = 1;
        memcpy(m.product + 1, cuts[i], sizeof cuts[i]);
        make(&m);
        snprintf(message, sizeof message,
                 "is cut into %d parts of %d and a last of %d, but rows have 2", (int)cuts[i][0],
                 (int)cuts[i][1], (int)cuts[i][2]);
        check_bad(&m, WTE_E_FORMAT, m.at_product + 4, message);
    }
    start(&m);
    m.quantised = 1;
    m.pruned = 2;
    m.pair[0] = 1;
    m.pair[1] = 2; /* row 2 + 2 is the last one there is */
    m.pair[2] = 2;
    m.pair[3] = 3;
    make(&m);
    check_bad(&m, WTE_E_FORMAT, m.at_pairs + 17,
              "the input matrix has 5 rows, but words and n-grams need 6");
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (int quantised = 0; quantised < 2; quantised++) {
        model m;
        start(&m);
        m.quantised = m.normed = (uint8_t)quantised;
        make(&m);
        for (size_t n = 8; n < m.n; n += quantised && n > 250 && n < m.n - 100 ? 61 : 1) {
            words w;
            wte_error err = { 0 };
            assert_int_equal(try_words(&w, m.data, n, NULL, &err), WTE_E_FORMAT);
            assert_non_null(strstr(err.message, "t.vec: fastText: "));
            assert_in_range(err.where, 0, n);
            free_words(&w);
        }
    }
}

/* A word of 1 MiB has more n-grams than will be added up. */
static void a_word_has_no_end_of_ngrams(void **state)
{
    (void)state;
    model m;
    start(&m);
    m.min = 1;
    m.max = 64;
    make(&m);
    const size_t n = 300000, after = 94;
    uint8_t *data = malloc(m.n + n);
    assert_non_null(data);
    memcpy(data, m.data, 92);
    memset(data + 92, 'a', n);
    memcpy(data + 92 + n, m.data + after - 1, m.n - after + 1);
    float row[2];
    wte_error err = { 0 };
    words w = open_words(data, 92 + n + m.n - after + 1);
    wte_row_source rows;
    assert_ok(wte_file_row_source(w.f, 0, &rows, &err), err);
    assert_fails(wte_row_source_read(&rows, 0, row, &err), err, WTE_E_LIMIT, 0,
                 "a word of 300000 bytes has more than 262144 n-grams");
    assert_ok(wte_row_source_read(&rows, 1, row, &err), err);
    free_words(&w);
    free(data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    model m;
    start(&m);
    make(&m);
    check_starved(m.data, m.n);
    whole_file b = load_model("cut.ftz");
    check_starved(b.data, b.n);
    free(b.data);
}

static const struct CMUnitTest tests[] = {
    TEST("the model is read when nothing is changed", the_model_is_read_when_nothing_is_changed),
    TEST("floret's files are read or named", floret_is_read_or_named),
    TEST("headers that make no sense are refused", headers_that_make_no_sense_are_refused),
    TEST("dictionaries that make no sense are refused",
         dictionaries_that_make_no_sense_are_refused),
    TEST("matrices that do not fit are refused", matrices_that_do_not_fit_are_refused),
    TEST("codes that do not fit are refused", codes_that_do_not_fit_are_refused),
    TEST("a file cut anywhere is refused", a_file_cut_anywhere_is_refused),
    TEST("n-grams of one word are bounded", a_word_has_no_end_of_ngrams),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
