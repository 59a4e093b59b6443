/* Models in parts as models: what a folder with params.json is, what check makes of it, and of one
 * part whose others are missing. */
#include <wte/inspect.h>

#include "check_models.h"
#include "parallel_files.h"

static const piece norm = { "norm.weight", 8, 0, ones, false, 1 };

static char dir[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "%s", test_scratch());
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(dir);
    return 0;
}

static const wte_model_table *input_of(const wte_model *m)
{
    const wte_model_table *input = NULL;
    wte_error err;
    assert_ok(wte_model_input(m, &input, &err), err);
    return input;
}

static void a_folder_of_parts_is_a_model(void **state)
{
    (void)state;
    float row[8];
    wte_error err;
    write_parts(dir, false, &norm, 1, 0);
    write_text(dir, "params.json", "{\"dim\": 8, \"vocab_size\": 16, \"n_layers\": 1}");
    wte_model *m = open_model(dir);
    const wte_model_table *input = input_of(m);
    const wte_model_config *said = wte_model_config_of(m);
    assert_string_equal(input->name, "tok_embeddings.weight");
    assert_int_equal(input->rows, 16);
    assert_int_equal(input->dim, 8);
    assert_int_equal(input->row_bytes, 0);
    assert_ok(wte_row_source_read(&input->source, 13, row, &err), err);
    for (uint64_t c = 0; c < 8; c++) assert_true(row[c] == whole_at(13, c));
    assert_int_equal(said->vocab_size, 16);
    assert_int_equal(said->hidden_size, 8);
    assert_non_null(strstr(said->path, "/params.json"));
    assert_false(said->tied);
    assert_false(said->tie_decided);
    wte_model_free(m);
}

static void check_agrees_with_the_joined_rows(void **state)
{
    (void)state;
    static const char *const silent[] = { "config-vocab-larger", "config-vocab-smaller",
                                          "config-width-differs", "tie-flag-absent" };
    for (int columns = 0; columns < 2; columns++) {
        write_parts(dir, columns, &norm, 1, 0);
        write_text(dir, "params.json", "{\"dim\": 8, \"vocab_size\": 16}");
        wte_check *c = check_model(dir);
        assert_int_equal(wte_check_facts_of(c)->table_rows, 16);
        for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
            assert_null(finding(c, silent[i]));
        wte_check_free(c);
    }
    write_text(dir, "params.json", "{\"dim\": 8, \"vocab_size\": 20}");
    wte_check *c = check_model(dir);
    const wte_finding *larger = finding(c, "config-vocab-larger");
    assert_non_null(larger);
    assert_string_equal(larger->fact,
                        "params.json says vocab_size 20, but the table has 16 rows: 4 missing");
    assert_non_null(strstr(larger->repair, "jq '.vocab_size = 16'"));
    wte_check_free(c);
}

static void an_unknown_vocab_size_is_none(void **state)
{
    (void)state;
    write_parts(dir, true, &norm, 1, 0);
    write_text(dir, "params.json", "{\"vocab_size\": -1, \"dim\": 8}");
    wte_model *m = open_model(dir);
    assert_int_equal(wte_model_config_of(m)->vocab_size, 0);
    assert_int_equal(input_of(m)->rows, 16);
    wte_model_free(m);
}

static void one_part_of_several_is_told(void **state)
{
    (void)state;
    write_parts(dir, false, &norm, 1, 0);
    for (unsigned i = 1; i < 4; i++) remove(part_path(dir, i));
    write_text(dir, "params.json", "{\"dim\": 8, \"vocab_size\": 16}");
    wte_check *c = check_model(dir);
    const wte_finding *larger = finding(c, "config-vocab-larger");
    assert_non_null(larger);
    assert_string_equal(larger->fact,
                        "params.json says vocab_size 16, but the table has 4 rows: 12 missing; "
                        "this looks like part 0 of 4 (4 x 4 = 16), and the others are not here");
    assert_non_null(strstr(larger->repair, "download"));
    wte_check_free(c);
    /* 18 rows are no whole number of such parts */
    write_text(dir, "params.json", "{\"dim\": 8, \"vocab_size\": 18}");
    c = check_model(dir);
    larger = finding(c, "config-vocab-larger");
    assert_non_null(larger);
    assert_null(strstr(larger->fact, "part 0"));
    wte_check_free(c);
    /* by columns the width tells */
    write_parts(dir, true, NULL, 0, 0);
    for (unsigned i = 1; i < 4; i++) remove(part_path(dir, i));
    write_text(dir, "params.json", "{\"dim\": 8}");
    c = check_model(dir);
    const wte_finding *width = finding(c, "config-width-differs");
    assert_non_null(width);
    assert_string_equal(width->fact,
                        "params.json says 8 numbers a row, but rows have 2; this looks like part 0 "
                        "of 4 (4 x 2 = 8), and the others are not here");
    wte_check_free(c);
    write_text(dir, "params.json", "{\"dim\": 7}");
    c = check_model(dir);
    width = finding(c, "config-width-differs");
    assert_non_null(width);
    assert_non_null(strstr(width->repair, "jq '.dim = 2'"));
    wte_check_free(c);
}

static void a_missing_first_part_is_missed(void **state)
{
    (void)state;
    wte_model *m;
    wte_error err = { 0 };
    write_parts(dir, false, &norm, 1, 0);
    remove(part_path(dir, 0));
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "part 0 of 4 is missing: no 'consolidated.00.pth' beside it");
}

static void a_trace_names_the_part_of_the_row(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_trace *t;
    write_parts(dir, false, &norm, 1, 0);
    write_text(dir, "params.json", "{\"dim\": 8}");
    wte_model *m = open_model(dir);
    assert_ok(wte_model_trace(m, 9, NULL, &t, &err), err);
    assert_non_null(strstr(t->file, "consolidated.02.pth"));
    assert_int_equal(t->end - t->begin, 32);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    wte_trace_free(t);
    wte_model_free(m);
    write_parts(dir, true, &norm, 1, 0);
    m = open_model(dir);
    assert_ok(wte_model_trace(m, 9, NULL, &t, &err), err);
    assert_int_equal(t->begin, WTE_NO_INDEX);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    assert_non_null(strstr(t->same_bytes_why, "put together again of a piece in each part"));
    wte_trace_free(t);
    wte_model_free(m);
}

static void table_and_head_are_compared_over_all_parts(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_tie tie;
    write_text(dir, "params.json", "{\"dim\": 8}");
    for (unsigned i = 0; i < 4; i++) {
        float table[32], head[32];
        cut_columns(table, i);
        cut_rows(head, i);
        if (i == 3) head[31] += 1;
        const piece list[] = { { "tok_embeddings.weight", 16, 2, table, false, 2 },
                               { "output.weight", 4, 8, head, false, 2 } };
        write_pieces(part_path(dir, i), list, 2, 0);
    }
    wte_model *m = open_model(dir);
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_int_equal(tie.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(tie.rows_different, 1);
    assert_int_equal(tie.first_different, 15);
    assert_int_equal(tie.max_col, 7);
    assert_false(tie.experiment_ran);
    assert_string_equal(tie.skip_reason, "the table is put together of several files");
    wte_model_free(m);
}

/* The same 64 numbers in the files, but those of the table stand beside each other. */
static void equal_pieces_joined_in_two_ways_are_not_equal(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_candidate_facts facts;
    wte_tie tie;
    write_text(dir, "params.json", "{\"dim\": 8}");
    for (unsigned i = 0; i < 4; i++) {
        float data[16];
        for (unsigned k = 0; k < 16; k++) data[k] = (float)(16 * i + k);
        const piece list[] = { { "tok_embeddings.weight", 8, 2, data, false, 2 },
                               { "output.weight", 2, 8, data, false, 2 } };
        write_pieces(part_path(dir, i), list, 2, 0);
    }
    wte_model *m = open_model(dir);
    assert_int_equal(wte_model_n_candidates(m), 2);
    assert_ok(wte_model_candidate_facts(m, 1, NULL, &facts, &err), err);
    assert_int_equal(facts.duplicate_of, 1);
    assert_false(facts.same_storage);
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_int_equal(tie.verdict, WTE_TIE_INDEPENDENT);
    wte_model_free(m);
}

static void a_turned_head_in_pieces_is_not_read(void **state)
{
    (void)state;
    static const float zeros[32];
    const piece head = { "output.weight", 8, 4, zeros, false, 2 };
    write_text(dir, "params.json", "{\"dim\": 8, \"vocab_size\": 16}");
    write_parts(dir, false, &head, 1, 0);
    wte_model *m = open_model(dir);
    assert_int_equal(input_of(m)->rows, 16);
    assert_null(wte_model_head(m));
    assert_non_null(strstr(wte_model_head_problem(m),
                           "'output.weight' is stored dim x rows, and in pieces besides"));
    wte_model_free(m);
}

static void the_flag_that_a_params_json_can_have_is_the_repair(void **state)
{
    (void)state;
    static float table[24];
    for (size_t i = 0; i < 24; i++) table[i] = (float)i;
    const stored t[] = { { "tok_embeddings.weight", "F32", 6, 4, table, 4 },
                         { "output.weight", "F32", 6, 4, table, 4 } };
    const char *folder = test_scratch();
    write_safetensors(in_folder(folder, "consolidated.safetensors"), t, 2);
    write_text(folder, "params.json", "{\"dim\": 4, \"vocab_size\": 6}");
    wte_check *c = check_model(folder);
    const wte_finding *copy = finding(c, "tie-copy");
    assert_non_null(copy);
    assert_non_null(strstr(copy->repair, "jq '.tied_embeddings = true'"));
    wte_check_free(c);
    test_scratch_remove(folder);
}

/* params.json -----------------------------------------------------------------------------------
 */

static void params_json_stands_in_for_config_json(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool tied, decided;
    } cases[] = { { "{\"dim\": 4, \"vocab_size\": 6, \"tied_embeddings\": true}", true, true },
                  { "{\"dim\": 4, \"vocab_size\": 6, \"tied_embeddings\": false}", false, true },
                  { "{\"dim\": 4, \"vocab_size\": 6, \"tied_embeddings\": 1}", false, false },
                  { "{\"moe\": {\"dim\": 9}, \"dim\": 4, \"vocab_size\": 6}", false, false } };
    const stored t = { "tok_embeddings.weight", "F32", 6, 4, NULL, 4 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *folder = test_scratch();
        write_safetensors(in_folder(folder, "consolidated.safetensors"), &t, 1);
        write_text(folder, "params.json", cases[i].text);
        wte_model *m = open_model(folder);
        const wte_model_config *said = wte_model_config_of(m);
        assert_int_equal(input_of(m)->rows, 6);
        assert_int_equal(said->vocab_size, 6);
        assert_int_equal(said->hidden_size, 4);
        assert_int_equal(said->tied, cases[i].tied);
        assert_int_equal(said->tie_decided, cases[i].decided);
        wte_model_free(m);
        write_text(folder, "config.json", "{\"vocab_size\": 5, \"hidden_size\": 4}");
        m = open_model(folder);
        assert_int_equal(wte_model_config_of(m)->vocab_size, 5);
        wte_model_free(m);
        test_scratch_remove(folder);
    }
}

static void broken_params_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t where;
        const char *message;
    } cases[] = { { "{\"dim\": 4", 9, "params.json: not valid JSON" },
                  { "[]", 0, "parameters are an object in braces" },
                  { "{\"dim\": [}", 9, "params.json: not valid JSON" },
                  { "{} {", 3, "params.json: not valid JSON" },
                  { "?", 0, "params.json: not valid JSON" } };
    const stored t = { "tok_embeddings.weight", "F32", 6, 4, NULL, 4 };
    const char *folder = test_scratch();
    write_safetensors(in_folder(folder, "consolidated.safetensors"), &t, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wte_model *m;
        wte_error err = { 0 };
        write_text(folder, "params.json", cases[i].text);
        assert_fails(wte_model_open(folder, NULL, &m, &err), err, WTE_E_FORMAT, cases[i].where,
                     cases[i].message);
    }
    test_scratch_remove(folder);
}

static void shards_of_consolidated_safetensors_are_found_by_their_index(void **state)
{
    (void)state;
    const char *folder = test_scratch();
    const stored a = { "tok_embeddings.weight", "F32", 6, 4, NULL, 4 };
    const stored b = { "output.weight", "F32", 6, 4, NULL, 4 };
    write_safetensors(in_folder(folder, "consolidated-00001-of-00002.safetensors"), &a, 1);
    write_safetensors(in_folder(folder, "consolidated-00002-of-00002.safetensors"), &b, 1);
    write_text(folder, "consolidated.safetensors.index.json",
               "{\"weight_map\": {\"tok_embeddings.weight\": "
               "\"consolidated-00001-of-00002.safetensors\", \"output.weight\": "
               "\"consolidated-00002-of-00002.safetensors\"}}");
    wte_model *m = open_model(folder);
    assert_int_equal(input_of(m)->rows, 6);
    assert_non_null(wte_model_head(m));
    assert_int_equal(wte_file_n_shards(wte_model_file(m)), 2);
    wte_model_free(m);
    test_scratch_remove(folder);
}

static const struct CMUnitTest tests[] = {
    TEST("a folder of parts is a model", a_folder_of_parts_is_a_model),
    TEST("check agrees with the joined rows", check_agrees_with_the_joined_rows),
    TEST("an unknown vocab_size is none", an_unknown_vocab_size_is_none),
    TEST("one part of several is told", one_part_of_several_is_told),
    TEST("a missing first part is missed", a_missing_first_part_is_missed),
    TEST("a trace names the part of the row", a_trace_names_the_part_of_the_row),
    TEST("table and head are compared over all parts", table_and_head_are_compared_over_all_parts),
    TEST("equal pieces joined in two ways are not equal",
         equal_pieces_joined_in_two_ways_are_not_equal),
    TEST("a turned head in pieces is not read, but the table is",
         a_turned_head_in_pieces_is_not_read),
    TEST("the flag that a params.json can have is the repair",
         the_flag_that_a_params_json_can_have_is_the_repair),
    TEST("params.json stands in for config.json", params_json_stands_in_for_config_json),
    TEST("broken params are refused", broken_params_are_refused),
    TEST("shards of consolidated.safetensors are found by their index",
         shards_of_consolidated_safetensors_are_found_by_their_index),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
