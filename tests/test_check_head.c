/* Check: the rows of a head that is stored apart from the input table. */
#include "check_models.h"

#define V 200u

/* An untied model: a table as training leaves it, and this head. */
static wte_check *check_head_of(const float *head, uint64_t rows, const wte_check_options *opt)
{
    float *table = trained_table(V, DIM, 1);
    const stored list[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, rows, DIM, head) };
    const char *dir =
        make_model(LLAMA(",\"vocab_size\":200,\"tie_word_embeddings\":false"), list, 2);
    write_tokenizer(dir, V, "");
    wte_check *c = check_with(dir, opt);
    test_scratch_remove(dir);
    free(table);
    return c;
}

static void a_trained_head_has_no_fault(void **state)
{
    (void)state;
    float *head = trained_table(V, DIM, 7);
    wte_check *c = check_head_of(head, V, NULL);
    assert_faults(c, "");
    const wte_check_facts *f = wte_check_facts_of(c);
    assert_true(f->head_median > 1 && f->head_median < 6);
    assert_int_equal(f->n_zero + f->n_constant + f->n_nonfinite + f->n_duplicates, 0);
    wte_check_free(c);
    free(head);
}

/* Faults of the head are told with its name, and are not counted as the table's. */
static void rows_of_the_head_are_looked_at_as_the_tables(void **state)
{
    (void)state;
    float *head = trained_table(V, DIM, 7);
    ROW(head, 5)[3] = NAN;
    ROW(head, 6)[0] = INFINITY;
    ROW(head, 7)[0] = 1e6f;
    memset(ROW(head, 20), 0, DIM * sizeof *head);
    for (size_t i = 0; i < DIM; i++) ROW(head, 30)[i] = ROW(head, 31)[i] = 0.25f;
    memcpy(ROW(head, 41), ROW(head, 40), DIM * sizeof *head);
    wte_check *c = check_head_of(head, V, NULL);
    assert_faults(c, "rows-nonfinite narrow-f16 rows-constant rows-duplicate rows-zero");
    assert_finding(c, "rows-nonfinite", HEAD, 2, 5,
                   "2 of 200 rows not finite: 1 with NaN (1 number; row 5), 1 with infinities (1 "
                   "number; row 6)",
                   "get_output_embeddings()");
    assert_finding(c, "narrow-f16", HEAD, 1, 7, "1 number of 1 row is beyond 65504", "bfloat16");
    assert_finding(c, "rows-zero", HEAD, 1, 20, "1 of 200 rows is zero", "n == 0");
    assert_finding(c, "rows-constant", HEAD, 2, 30, "2 of 200 rows are of one number", "w.std(1)");
    assert_finding(c, "rows-duplicate", HEAD, 4, 30,
                   "4 of 200 rows equal another one byte for byte, in 2 groups", "normal_()");
    const wte_check_facts *f = wte_check_facts_of(c);
    assert_int_equal(f->n_zero + f->n_constant + f->n_nonfinite + f->n_duplicates + f->n_nan, 0);
    wte_check_free(c);
    free(head);
}

/* What makes every logit alike: zeros, one number, one row again and again, none at all. */
static void heads_that_say_nothing_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *code, *fact, *repair;
        uint64_t count;
    } want[] = {
        { "table-constant", "all 200 x 64 numbers are 0", "download", 0 },
        { "table-constant", "numbers are of magnitude 0.5", "download", 0 },
        { "table-constant", "all 200 rows have the same bytes; ln(rows) = 5.2983", "download", 0 },
        { "rows-nonfinite",
          "200 of 200 rows not finite: 200 with NaN (12800 numbers; rows 0, 1, 2, ...)", "download",
          V },
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        float *head = trained_table(V, DIM, 7);
        for (size_t i = 0; i < (size_t)V * DIM; i++)
            head[i] = k == 0 ? 0 : k == 1 ? 0.5f : k == 2 ? head[i % DIM] : NAN;
        wte_check *c = check_head_of(head, V, NULL);
        assert_faults(c, want[k].code);
        assert_finding(c, want[k].code, HEAD, want[k].count, 0, want[k].fact, want[k].repair);
        wte_check_free(c);
        free(head);
    }
}

/* "Some weights were newly initialised: lm_head.weight", and nobody read that line. */
static void a_head_that_was_newly_initialised_is_told(void **state)
{
    (void)state;
    float *head = malloc((size_t)V * DIM * sizeof *head);
    uint64_t seed = 3;
    assert_non_null(head);
    for (size_t i = 0; i < (size_t)V * DIM; i++) head[i] = (float)(0.02 * check_normal(&seed));
    wte_check *c = check_head_of(head, V, NULL);
    assert_faults(c, "table-initial");
    assert_finding(c, "table-initial", HEAD, 0, 0, "N(0, 0.02) gives 0.16", "download");
    wte_check_free(c);
    free(head);
}

/* A copy of the table has the table's faults, which are told once, and a head that is the table
 * none of its own. */
static void a_copy_of_the_table_is_not_told_again(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    memset(ROW(table, 20), 0, DIM * sizeof *table);
    const stored list[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, table) };
    for (size_t n = 1; n <= 2; n++) {
        const char *dir =
            make_model(LLAMA(",\"vocab_size\":200,\"tie_word_embeddings\":true"), list, n);
        write_tokenizer(dir, V, "");
        wte_check *c = check_model(dir);
        assert_faults(c, n == 1 ? "rows-zero" : "rows-zero tie-copy");
        assert_finding(c, "rows-zero", EMBED, 1, 20, "1 of 200 rows is zero", "n == 0");
        wte_check_free(c);
        test_scratch_remove(dir);
    }
    free(table);
}

/* Rows beyond the tokenizer are nobody's: their zeros are padding. */
static void padding_of_the_head_is_no_fault(void **state)
{
    (void)state;
    float *head = trained_table(V + 8, DIM, 7);
    memset(ROW(head, V), 0, 8 * DIM * sizeof *head);
    wte_check *c = check_head_of(head, V + 8, NULL);
    assert_null(finding(c, "rows-zero"));
    assert_null(finding(c, "rows-duplicate"));
    wte_check_free(c);
    free(head);
}

/* The flag is about the table that has the role: another tensor that is named is only looked at. */
static void a_head_that_is_named_as_the_table_has_no_tie(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *head = trained_table(V, DIM, 7);
    ROW(head, 5)[3] = NAN;
    const stored list[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, head) };
    static const char *const named[] = { HEAD, EMBED };
    for (size_t i = 0; i < 2; i++) {
        const char *dir =
            make_model(LLAMA(",\"vocab_size\":200,\"tie_word_embeddings\":true"), list, 2);
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m;
        wte_check *c;
        wte_error err;
        opt.tensor = named[i];
        assert_ok(wte_model_open(dir, &opt, &m, &err), err);
        assert_ok(wte_model_check(m, NULL, &c, &err), err);
        assert_faults(c, i == 0 ? "rows-nonfinite" : "rows-nonfinite tie-flag-lies");
        wte_check_free(c);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
    free(table);
    free(head);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    float *head = trained_table(V, DIM, 7);
    float *table = trained_table(V, DIM, 1);
    memcpy(ROW(head, 41), ROW(head, 40), DIM * sizeof *head);
    static const float nan[V] = { NAN };
    const stored list[] = { table_of(EMBED, V, DIM, table),
                            table_of(HEAD, V, DIM, head),
                            { "lm_head.bias", "F32", V, 0, nan, 4 } };
    const char *dir =
        make_model(LLAMA(",\"vocab_size\":200,\"tie_word_embeddings\":false"), list, 3);
    wte_model *m = open_model(dir);
    wte_status status = WTE_E_MEMORY;
    size_t i = 0;
    for (; status != WTE_OK; i++) {
        wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
        test_memory memory;
        wte_check *c = NULL;
        wte_error err;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_model_check(m, &opt, &c, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        wte_check_free(c);
        assert_int_equal(memory.live, 0);
        assert_true(i < 200);
    }
    assert_true(i > 8);
    wte_model_free(m);
    test_scratch_remove(dir);
    free(table);
    free(head);
}

static const struct CMUnitTest tests[] = {
    TEST("a trained head has no fault", a_trained_head_has_no_fault),
    TEST("rows of the head are looked at as the table's",
         rows_of_the_head_are_looked_at_as_the_tables),
    TEST("heads that say nothing are errors", heads_that_say_nothing_are_errors),
    TEST("a head that was newly initialised is told", a_head_that_was_newly_initialised_is_told),
    TEST("a copy of the table is not told again", a_copy_of_the_table_is_not_told_again),
    TEST("padding of the head is no fault", padding_of_the_head_is_no_fault),
    TEST("a head that is named as the table has no tie",
         a_head_that_is_named_as_the_table_has_no_tie),
    TEST("every failed allocation is told", every_failed_allocation_is_told),
};
TEST_MAIN(tests)
