/* What check tells of a static model whose ids are mapped to rows: rows and the tokens that lie on
 * them are counted apart, and findings about ids stay findings about ids. */
#include "check_models.h"

#define ROWS 40u
#define IDS  200u

static const char *fact_of(const wte_check *c, const char *code)
{
    const wte_finding *f = finding(c, code);
    assert_non_null(f);
    return f->fact;
}

/* Row of an id: 0..29 six times over, then 36 alone; 30..35 and 37..39 have none. */
static int64_t row_of(uint64_t id)
{
    return id < 180 ? (int64_t)(id % 30) : 36;
}

static const char *make(float *t, uint64_t tokens)
{
    static int64_t mapping[IDS];
    for (uint64_t id = 0; id < IDS; id++) mapping[id] = row_of(id);
    const stored tensors[] = { { "embeddings", "F32", ROWS, DIM, t, 4 },
                               { "mapping", "I64", IDS, 0, mapping, 8 } };
    const char *dir = make_model("{\"model_type\":\"model2vec\"}", tensors, 2);
    write_tokenizer(dir, tokens, "");
    return dir;
}

static void rows_and_tokens_are_counted_apart(void **state)
{
    (void)state;
    float *t = trained_table(ROWS, DIM, 3);
    for (size_t c = 0; c < DIM; c++) {
        t[3 * DIM + c] = t[31 * DIM + c] = 0; /* six tokens, and none */
        t[36 * DIM + c] = 2.5f;               /* twenty */
        t[9 * DIM + c] = t[7 * DIM + c];      /* twice six */
        t[38 * DIM + c] = NAN;                /* none */
    }
    const char *dir = make(t, IDS);
    wte_check *c = check_model(dir);
    assert_string_equal(fact_of(c, "rows-zero"), "2 of 40 rows are zero; 6 tokens lie on them");
    const wte_finding *f = finding(c, "rows-zero");
    assert_true(f->rows);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->tokens, 6);
    assert_int_equal(f->ids[1], 31);
    assert_string_equal(fact_of(c, "rows-constant"),
                        "1 of 40 rows is of one number throughout; 20 tokens lie on it");
    assert_string_equal(
        fact_of(c, "rows-nonfinite"),
        "1 of 40 rows not finite: 1 with NaN (64 numbers; row 38); no token lies on it");
    assert_int_equal(finding(c, "rows-duplicate")->tokens, 18);
    assert_string_equal(fact_of(c, "rows-unreferenced"),
                        "9 of 40 rows: 200 ids are mapped, none to them");
    assert_int_equal(finding(c, "rows-unreferenced")->tokens, 0);
    /* transformers loads no static model: the file is what is mended */
    assert_non_null(strstr(f->repair, "safetensors.torch"));
    wte_check_free(c);
    free(t);
    test_scratch_remove(dir);
}

static void rows_in_one_direction_are_rows(void **state)
{
    (void)state;
    float *t = trained_table(ROWS, DIM, 4);
    for (size_t r = 11; r < 21; r++)
        for (size_t c = 0; c < DIM; c++) t[r * DIM + c] = t[10 * DIM + c] + 0.01f * t[r * DIM + c];
    for (size_t c = 0; c < DIM; c++) t[25 * DIM + c] = t[24 * DIM + c] + 0.01f * t[25 * DIM + c];
    const char *dir = make(t, IDS);
    wte_check *c = check_model(dir);
    assert_string_equal(fact_of(c, "rows-collapsed"),
                        "11 of 40 rows (28%) have one direction: cosine at least 0.95 with row 10; "
                        "66 tokens lie on them");
    assert_string_equal(fact_of(c, "rows-near-duplicate"),
                        "2 rows in 1 group whose cosine is at least 0.95; 12 tokens lie on them");
    wte_check_free(c);
    free(t);
    test_scratch_remove(dir);
}

/* Tokens beyond the mapping, of a model that is mapped: their numbers are ids. */
static void findings_about_ids_have_ids(void **state)
{
    (void)state;
    float *t = trained_table(ROWS, DIM, 5);
    const char *dir = make(t, IDS + 3);
    wte_check *c = check_model(dir);
    const wte_finding *f = finding(c, "rows-uncovered-ids");
    assert_non_null(f);
    assert_false(f->rows);
    assert_int_equal(f->count, 3);
    assert_int_equal(f->tokens, 0);
    assert_int_equal(f->ids[0], IDS);
    assert_true(finding(c, "rows-unreferenced")->rows);
    wte_check_free(c);
    free(t);
    test_scratch_remove(dir);
}

/* Without a mapping rows are ids, and nothing is added. */
static void a_table_without_a_mapping_is_told_as_ever(void **state)
{
    (void)state;
    float *t = trained_table(ROWS, DIM, 6);
    for (size_t c = 0; c < DIM; c++) t[3 * DIM + c] = 0;
    const stored table = table_of("embeddings", ROWS, DIM, t);
    const char *dir = make_model("{\"model_type\":\"model2vec\"}", &table, 1);
    write_tokenizer(dir, ROWS, "");
    wte_check *c = check_model(dir);
    assert_string_equal(fact_of(c, "rows-zero"), "1 of 40 rows is zero");
    assert_false(finding(c, "rows-zero")->rows);
    assert_int_equal(finding(c, "rows-zero")->tokens, 0);
    wte_check_free(c);
    free(t);
    test_scratch_remove(dir);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    float *t = trained_table(ROWS, DIM, 7);
    for (size_t c = 0; c < DIM; c++) t[3 * DIM + c] = 0;
    const char *dir = make(t, IDS);
    wte_model *m = open_model(dir);
    for (size_t i = 0;; i++) {
        test_memory memory;
        wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
        wte_check *c = NULL;
        wte_error err = { 0 };
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_model_check(m, &opt, &c, &err);
        if (status == WTE_OK)
            assert_int_equal(finding(c, "rows-zero")->tokens, 6);
        else
            assert_int_equal(status, WTE_E_MEMORY);
        wte_check_free(c);
        assert_int_equal(memory.live, 0);
        if (status == WTE_OK) break;
    }
    wte_model_free(m);
    free(t);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("rows and the tokens that lie on them are counted apart",
         rows_and_tokens_are_counted_apart),
    TEST("rows in one direction are told as rows", rows_in_one_direction_are_rows),
    TEST("findings about ids have ids", findings_about_ids_have_ids),
    TEST("without a mapping nothing is added", a_table_without_a_mapping_is_told_as_ever),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
};
TEST_MAIN(tests)
