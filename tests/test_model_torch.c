/* Models whose weights are PyTorch checkpoints: which file of a folder is taken, and the tie
 * verdict where two names stand for one storage. */
#include "model_files.h"

#define GPT2(tie)                                                                                  \
    "{\"model_type\": \"gpt2\", \"architectures\": [\"GPT2LMHeadModel\"], \"vocab_size\": 4,"      \
    " \"n_embd\": 3" tie "}"

/* A folder with a copy of tests/data/torch/NAME under another name, and config.json. */
static const char *make_folder(const char *name, const char *as, const char *config)
{
    static char data[16384];
    char path[64];
    const char *dir = test_scratch();
    snprintf(path, sizeof path, "torch/%s", name);
    FILE *f = fopen(test_data(path), "rb");
    assert_non_null(f);
    const size_t n = fread(data, 1, sizeof data, f);
    assert_true(n > 0 && n < sizeof data);
    assert_int_equal(fclose(f), 0);
    test_write_file(in_folder(dir, as), data, n);
    write_text(dir, "config.json", config);
    return dir;
}

static wte_tie tie_of(wte_model *m)
{
    wte_tie t;
    wte_error err;
    assert_ok(wte_model_tie(m, NULL, &t, &err), err);
    return t;
}

static void two_names_of_one_storage_are_tied_and_move_together(void **state)
{
    (void)state;
    static const char *const files[] = { "views.pt", "views-legacy.pt", "views-tar.pt" };
    for (size_t i = 0; i < 3; i++) {
        const char *dir = make_folder(files[i], "pytorch_model.bin", GPT2(""));
        wte_model *m = open_model(dir);
        const wte_model_table *input;
        wte_error err;
        assert_ok(wte_model_input(m, &input, &err), err);
        assert_string_equal(input->name, "wte.weight");
        assert_string_equal(wte_model_head(m)->name, "lm_head.weight");
        const wte_tie t = tie_of(m);
        assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
        assert_true(t.tied && t.flag_agrees);
        assert_non_null(strstr(t.why, "'wte.weight' and 'lm_head.weight' are two names of one"));
        assert_int_equal(t.wasted_bytes, 0);
        assert_int_equal(t.params_tied, 12);
        assert_int_equal(t.params_untied, 24);
        assert_true(t.experiment_ran && t.head_changed);
        assert_true(t.before == 9 && t.head_before == 9 && t.head_after == t.after);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void a_flag_that_denies_one_storage_lies(void **state)
{
    (void)state;
    const char *dir =
        make_folder("views.pt", "pytorch_model.bin", GPT2(", \"tie_word_embeddings\": false"));
    wte_model *m = open_model(dir);
    const wte_tie t = tie_of(m);
    assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
    assert_false(t.flag_agrees);
    assert_non_null(strstr(t.why, "the flag says they are apart"));
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* The verdict when the caller names table and head. */
static wte_tie tie_of_named(const char *dir, const char *tensor, const char *head)
{
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m;
    wte_error err;
    opt.tensor = tensor;
    opt.head = head;
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    const wte_tie t = tie_of(m);
    wte_model_free(m);
    return t;
}

static void views_are_judged_by_the_elements_they_share(void **state)
{
    (void)state;
    const char *dir = make_folder("views.pt", "weights.pt", GPT2(""));
    wte_tie t = tie_of_named(dir, "wte.weight", "turned"); /* stored dim x rows, by columns */
    assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
    assert_true(t.experiment_ran && t.head_changed);
    t = tie_of_named(dir, "wte.weight", "parameter"); /* another storage, twice the values */
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(t.rows_different, 4);
    assert_true(t.experiment_ran && !t.head_changed);
    t = tie_of_named(dir, "wte.weight", "bfloat");
    assert_int_equal(t.verdict, WTE_TIE_EQUAL_VALUES);
    t = tie_of_named(dir, "columns", "every_column"); /* of one storage, but other elements */
    assert_int_equal(t.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(t.max_difference, 1);
    test_scratch_remove(dir);
}

static void packed_tables_are_judged_but_not_changed(void **state)
{
    (void)state;
    const char *dir = make_folder("views-deflated.pt", "pytorch_model.bin", GPT2(""));
    wte_model *m = open_model(dir);
    const wte_tie t = tie_of(m);
    assert_int_equal(t.verdict, WTE_TIE_SAME_STORAGE);
    assert_false(t.experiment_ran);
    assert_non_null(strstr(t.skip_reason, "packed in its archive"));
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void check_taken(const char *dir, const char *name)
{
    wte_model *m = open_model(dir);
    const char *path = wte_file_shard_path(wte_model_file(m), 0);
    assert_string_equal(path + strlen(path) - strlen(name), name);
    wte_model_free(m);
}

static void the_surest_file_of_a_folder_is_taken(void **state)
{
    static const float values[12] = { 0 };
    const stored list[] = { { "wte.weight", "F32", 4, 3, values, 4 } };
    (void)state;
    const char *dir = make_folder("views.pt", "last.ckpt", GPT2(""));
    check_taken(dir, "/last.ckpt");
    test_write_file(in_folder(dir, "other.npy"), "x", 1);
    wte_model *m;
    wte_error err;
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "no weights that can be read here");
    test_scratch_remove(dir);
    dir = make_folder("views.pt", "pytorch_model.bin", GPT2(""));
    test_write_file(in_folder(dir, "other.npy"), "x", 1);
    check_taken(dir, "/pytorch_model.bin");
    write_safetensors(in_folder(dir, "model.safetensors"), list, 1);
    check_taken(dir, "/model.safetensors");
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("two names of one storage are tied, and move together",
         two_names_of_one_storage_are_tied_and_move_together),
    TEST("a flag that denies one storage lies", a_flag_that_denies_one_storage_lies),
    TEST("views are judged by the elements they share",
         views_are_judged_by_the_elements_they_share),
    TEST("packed tables are judged, but not changed", packed_tables_are_judged_but_not_changed),
    TEST("the surest file of a folder is taken", the_surest_file_of_a_folder_is_taken),
};
TEST_MAIN(tests)
