/* Diagnose against models on disk: their heads, positions and mappings. */
#include "diagnose_help.h"
#include "model_files.h"

#define DIM  12
#define ROWS 30

static float noise_table[ROWS][DIM];
static float other_table[20][DIM];

static void fill_tables(void)
{
    fill_noise(&noise_table[0][0], (size_t)ROWS * DIM, 7);
    fill_noise(&other_table[0][0], (size_t)20 * DIM, 8);
}

static void a_models_head_and_positions_are_searched(void **state)
{
    (void)state;
    static float head[ROWS][DIM];
    wte_error err;
    fill_tables();
    fill_noise(&head[0][0], (size_t)ROWS * DIM, 70);
    const stored tensors[] = { { "wte.weight", "F32", ROWS, DIM, noise_table, 4 },
                               { "wpe.weight", "F32", 20, DIM, other_table, 4 },
                               { "lm_head.weight", "F32", ROWS, DIM, head, 4 } };
    const char *dir =
        make_model("{\"model_type\":\"gpt2\",\"tie_word_embeddings\":false}", tensors, 3);
    wte_model *m = open_model(dir);
    const int64_t id = 4;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    wte_diagnosis d;
    wte_observed got = { noise_table[4], WTE_F32, 0, 1, DIM, NULL };
    assert_ok(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_MATCH);
    assert_string_equal(d.best.tensor, "wte.weight");
    got.data = head[4];
    assert_ok(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_HEAD_ROW);
    assert_string_equal(d.best.tensor, "lm_head.weight");
    got.data = other_table[19];
    assert_ok(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_TENSOR);
    assert_string_equal(d.best.tensor, "wpe.weight");
    float sum[DIM];
    for (size_t i = 0; i < DIM; i++) sum[i] = noise_table[4][i] + other_table[2][i];
    got.data = sum;
    assert_ok(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_PLUS_ROW);
    assert_int_equal(d.best.plus_row, 2);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_mapping_that_was_passed_over_is_told(void **state)
{
    (void)state;
    int32_t mapping[8] = { 5, 4, 3, 2, 1, 0, 5, 5 };
    wte_error err;
    fill_tables();
    const stored tensors[] = { { "embeddings", "F32", 6, DIM, noise_table, 4 },
                               { "mapping", "I32", 8, 0, mapping, 4 } };
    const char *dir = make_model("{\"model_type\":\"model2vec\"}", tensors, 2);
    wte_model *m = open_model(dir);
    int64_t id = 7;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    wte_diagnosis d;
    wte_observed got = { noise_table[5], WTE_F32, 0, 1, DIM, NULL };
    assert_ok(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_MATCH);
    assert_int_equal(d.row, 5);
    assert_string_equal(d.id_text, "7, which the model maps to row 5");
    id = 1; /* row 4, but somebody took row 1 */
    got.data = noise_table[1];
    assert_ok(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.first_difference, WTE_STEP_ID);
    assert_false(d.id_ok);
    id = 8;
    assert_fails(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err, WTE_E_RANGE, 0, "8");
    id = -2;
    assert_fails(wte_model_diagnose(m, ids, &got, NULL, &d, &err), err, WTE_E_RANGE, 0, "-2");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void every_failed_allocation_of_a_model_is_reported(void **state)
{
    (void)state;
    fill_tables();
    const stored tensors[] = { { "wte.weight", "F32", ROWS, DIM, noise_table, 4 },
                               { "wpe.weight", "F32", 20, DIM, other_table, 4 } };
    const char *dir = make_model("{\"model_type\":\"gpt2\"}", tensors, 2);
    wte_model *model = open_model(dir);
    const int64_t id = 4;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed got = { other_table[5], WTE_F32, 0, 1, DIM, NULL };
    wte_status status = WTE_E_MEMORY;
    size_t failures = 0;
    for (; status == WTE_E_MEMORY; failures++) {
        test_memory memory;
        wte_error err;
        wte_diagnosis d;
        wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
        test_memory_init(&memory, failures);
        opt.allocator = &memory.allocator;
        status = wte_model_diagnose(model, ids, &got, &opt, &d, &err);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failures > 8);
    wte_model_free(model);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("a model's head and positions are searched", a_models_head_and_positions_are_searched),
    TEST("a mapping that was passed over is told", a_mapping_that_was_passed_over_is_told),
    TEST("every failed allocation of a model is reported",
         every_failed_allocation_of_a_model_is_reported),
};
TEST_MAIN(tests)
