/* wte check: sizes, the tied flag, files. One small model for each fault, made as the reports of
 * the fault describe it (the letters and numbers are those of docs/check.md), and one without any.
 */
#include "check_models.h"

#define V 100u

/* Sizes ---------------------------------------------------------------------------------------- */

static void a_model_without_faults_has_none(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *other = trained_table(V, DIM, 2);
    const stored both[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, other) };
    for (size_t n = 1; n <= 2; n++) {
        const char *config = n == 1 ? LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":true")
                                    : LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":false");
        const char *dir = make_model(config, both, n);
        write_tokenizer(dir, V, "");
        wte_check *c = check_model(dir);
        const wte_check_facts *f = wte_check_facts_of(c);
        assert_faults(c, "");
        assert_int_equal(wte_check_n_findings(c), 0);
        assert_true(f->has_table && f->has_vocab && f->scanned);
        assert_int_equal(f->config_vocab, V);
        assert_int_equal(f->table_rows, V);
        assert_int_equal(f->stored_rows, V);
        assert_int_equal(f->dim, DIM);
        assert_int_equal(f->head_rows, n == 1 ? 0 : V);
        assert_int_equal(f->n_tokens, V);
        assert_int_equal(f->token_ids, V);
        assert_int_equal(f->n_holes, 0);
        assert_true(f->norm_min > 1 && f->norm_min < f->norm_median);
        assert_true(f->norm_median < f->norm_max && f->norm_max < 7);
        assert_null(wte_check_finding(c, 0));
        assert_null(wte_check_glitch(c, 0));
        assert_string_equal(wte_check_glitch_indicator(c), "");
        wte_check_free(c);
        test_scratch_remove(dir);
    }
    free(table);
    free(other);
}

static void b1_a_token_past_the_last_row_is_named(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    const char *dir = make_model(LLAMA(",\"vocab_size\":101,\"tie_word_embeddings\":true"), &t, 1);
    write_tokenizer(dir, V, SPECIAL(100, "<pad>"));
    wte_check *c = check_model(dir);
    assert_faults(c, "config-vocab-larger rows-uncovered-ids");
    assert_finding(c, "rows-uncovered-ids", EMBED, 1, 100,
                   "1 token has no row: the tokenizer's largest id is 100, but the table has rows "
                   "for ids 0..99",
                   "m.resize_token_embeddings(101)");
    assert_finding(c, "config-vocab-larger", EMBED, 0, 0,
                   "says vocab_size 101, but the table has 100 rows: 1 missing",
                   "jq '.vocab_size = 100'");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

static void b5_holes_are_told_and_the_largest_id_counts(void **state)
{
    (void)state;
    float *table = trained_table(21, DIM, 1);
    const char *added = SPECIAL(12, "<a>") "," SPECIAL(20, "<b>");
    for (uint64_t rows = 20; rows <= 21; rows++) {
        const stored t = table_of(EMBED, rows, DIM, table);
        const char *dir = make_model(NULL, &t, 1);
        write_tokenizer(dir, 10, added);
        wte_check *c = check_model(dir);
        assert_faults(c, rows == 20 ? "rows-uncovered-ids" : "");
        assert_finding(c, "vocab-holes", "tokenizer.json", 9, 10,
                       "12 tokens, but ids go up to 20: 9 of them have no token", "");
        if (rows == 20)
            assert_finding(c, "rows-uncovered-ids", EMBED, 1, 20, "0..19",
                           "m.resize_token_embeddings(21)");
        wte_check_free(c);
        test_scratch_remove(dir);
    }
    free(table);
}

static void b7_rows_past_vocab_size_are_told(void **state)
{
    (void)state;
    float *table = trained_table(96, DIM, 1);
    const stored t = table_of(EMBED, 96, DIM, table);
    const char *dir = make_model(LLAMA(",\"vocab_size\":65,\"tie_word_embeddings\":true"), &t, 1);
    write_tokenizer(dir, 96, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "config-vocab-smaller");
    assert_finding(c, "config-vocab-smaller", EMBED, 0, 0, "vocab_size 65, but the table has 96",
                   "jq '.vocab_size = 96'");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

static void b8_rows_for_input_only_are_no_fault(void **state)
{
    (void)state;
    float *table = trained_table(20, DIM, 1), *head = trained_table(20, DIM, 2);
    const stored more_input[] = { table_of(EMBED, 20, DIM, table), table_of(HEAD, 16, DIM, head) };
    const stored more_head[] = { table_of(EMBED, 16, DIM, table), table_of(HEAD, 20, DIM, head) };
    const char *config = LLAMA(",\"vocab_size\":16,\"tie_word_embeddings\":false");
    const char *dir = make_model(config, more_input, 2);
    write_tokenizer(
        dir, 16,
        SPECIAL(16, "<i>") "," SPECIAL(17, "<j>") "," SPECIAL(18, "<k>") "," SPECIAL(19, "<l>"));
    wte_check *c = check_model(dir);
    assert_faults(c, "");
    assert_finding(c, "input-only-ids", EMBED, 4, 16,
                   "20 rows and the head 16: ids 16..19 are for input only", "");
    wte_check_free(c);
    test_scratch_remove(dir);
    dir = make_model(config, more_head, 2);
    c = check_model(dir);
    assert_faults(c, "head-only-ids");
    assert_finding(c, "head-only-ids", EMBED, 4, 16, "ids 16..19 are for output only",
                   "m.resize_token_embeddings(20)");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
    free(head);
}

static void b10_a_table_without_rows_is_told(void **state)
{
    (void)state;
    const stored t = { EMBED, "F32", 0, 8, "", 4 };
    const char *dir = make_model("{\"model_type\":\"llama\",\"vocab_size\":0,"
                                 "\"tie_word_embeddings\":true}",
                                 &t, 1);
    wte_check *c = check_model(dir);
    assert_faults(c, "table-empty");
    assert_finding(c, "table-empty", EMBED, 0, 0, "the table is 0 x 8", "zero_to_fp32.py");
    assert_false(wte_check_facts_of(c)->scanned);
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void b11_positions_have_their_own_length(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t[] = { table_of("roberta.embeddings.word_embeddings.weight", V, DIM, table),
                         table_of("roberta.embeddings.position_embeddings.weight", 10, DIM,
                                  table) };
    const char *dir = make_model("{\"model_type\":\"roberta\",\"pad_token_id\":3,"
                                 "\"architectures\":[\"RobertaModel\"],\"vocab_size\":100}",
                                 t, 2);
    write_tokenizer(dir, V, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "");
    assert_finding(c, "position-length", "roberta.embeddings.position_embeddings.weight", 0, 0,
                   "10 rows, numbered from row 4 on: texts of at most 6 tokens", "");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

static void e7_a_model_without_a_table_is_told(void **state)
{
    (void)state;
    const stored t[] = { table_of("layers.0.q_proj.weight", 8, 8, NULL),
                         table_of("layers.0.k_proj.weight", 8, 8, NULL) };
    const char *dir = make_model(NULL, t, 2);
    wte_check *c = check_model(dir);
    assert_faults(c, "table-missing");
    assert_finding(c, "table-missing", dir, 0, 0, "no input table found among 2 tensors",
                   "--tensor NAME");
    assert_false(wte_check_facts_of(c)->has_table);
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void another_width_than_the_configs_is_told(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    const char *dir = make_model("{\"model_type\":\"llama\",\"hidden_size\":128,\"vocab_size\":100,"
                                 "\"tie_word_embeddings\":true,"
                                 "\"architectures\":[\"LlamaForCausalLM\"]}",
                                 &t, 1);
    write_tokenizer(dir, V, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "config-width-differs");
    assert_finding(c, "config-width-differs", EMBED, 0, 0,
                   "says 128 numbers a row, but rows have 64", "jq '.hidden_size = 64'");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

static void a_padding_id_without_a_row_is_told(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    const char *dir = make_model(
        LLAMA(",\"vocab_size\":100,\"pad_token_id\":100,\"tie_word_embeddings\":true"), &t, 1);
    write_tokenizer(dir, V, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "pad-id-outside");
    assert_finding(c, "pad-id-outside", EMBED, 1, 100,
                   "says pad_token_id 100, but the table has rows for ids 0..99",
                   "m.config.pad_token_id = t.AutoTokenizer");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

static void tokenizers_that_are_broken_or_absent_are_told(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    const char *dir = make_model(NULL, &t, 1);
    wte_check *c = check_model(dir);
    assert_faults(c, "");
    assert_finding(c, "vocab-absent", dir, 0, 0, "no tokenizer file", "");
    wte_check_free(c);
    write_text(dir, "tokenizer.json", "{\"model\": {\"vocab\": {\"a\": 0, \"b\": 0}}}");
    c = check_model(dir);
    assert_faults(c, "vocab-unreadable");
    assert_finding(c, "vocab-unreadable", dir, 0, 0, "tokenizer.json", "--force-download");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

/* Static models -------------------------------------------------------------------------------- */

static void k3_a_mapping_is_checked_against_the_rows(void **state)
{
    (void)state;
    float *table = trained_table(3, DIM, 1);
    const int64_t good[5] = { 0, 2, 0, 2, 2 }, bad[5] = { 0, 1, 2, 3, 0 };
    const float weights[4] = { 1, 1, 1, 1 };
    stored t[] = { table_of("embeddings", 3, DIM, table),
                   { "mapping", "I64", 5, 0, good, 8 },
                   { "weights", "F32", 4, 0, weights, 4 } };
    const char *dir = make_model("{\"model_type\":\"model2vec\"}", t, 3);
    write_tokenizer(dir, 5, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "weights-length");
    assert_finding(c, "weights-length", "weights", 0, 0, "4 weights for 5 ids", "--force-download");
    assert_finding(c, "rows-unreferenced", "embeddings", 1, 1, "1 of 3 rows: 5 ids are mapped", "");
    assert_true(finding(c, "rows-unreferenced")->rows);
    assert_int_equal(wte_check_facts_of(c)->table_rows, 5);
    assert_int_equal(wte_check_facts_of(c)->stored_rows, 3);
    wte_check_free(c);
    test_scratch_remove(dir);
    t[1].data = bad;
    dir = make_model("{\"model_type\":\"model2vec\"}", t, 3);
    c = check_model(dir);
    assert_faults(c, "mapping-range");
    assert_finding(c, "mapping-range", dir, 0, 0, "mapping[3] is 3, but the table has rows 0..2",
                   "--force-download");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

/* Tied or not ---------------------------------------------------------------------------------- */

static wte_check *check_pair(const char *config, const stored *t, size_t n)
{
    const char *dir = make_model(config, t, n);
    write_tokenizer(dir, t[0].rows, "");
    wte_check *c = check_model(dir);
    test_scratch_remove(dir);
    return c;
}

#define TIED LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":true")

static void a1_a_flag_that_lies_is_an_error(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *head = trained_table(V, DIM, 1);
    const stored t[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, head) };
    for (size_t i = 0; i < DIM; i++) head[2 * DIM + i] *= 1.5f;
    wte_check *c = check_pair(TIED, t, 2);
    assert_faults(c, "tie-flag-lies");
    assert_finding(c, "tie-flag-lies", HEAD, 0, 0, "1 of 100 rows differ, the first is row 2",
                   "jq '.tie_word_embeddings = false'");
    wte_check_free(c);
    free(table);
    free(head);
}

static void a2_rows_that_an_adapter_moved_are_counted(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *head = trained_table(V, DIM, 1);
    const stored t[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, head) };
    for (size_t i = 10 * DIM; i < 13 * DIM; i++) head[i] += 0.1f;
    wte_check *c = check_pair(TIED, t, 2);
    assert_faults(c, "tie-flag-lies");
    assert_finding(c, "tie-flag-lies", HEAD, 0, 0, "3 of 100 rows differ, the first is row 10",
                   "= false");
    wte_check_free(c);
    free(table);
    free(head);
}

static void a3_a_head_that_is_missing_is_an_error(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    wte_check *c = check_pair(LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":false"), &t, 1);
    assert_faults(c, "tie-head-missing");
    assert_finding(c, "tie-head-missing", EMBED, 0, 0, "no head is stored",
                   "jq '.tie_word_embeddings = true'");
    wte_check_free(c);
    free(table);
}

static void a4_flags_that_disagree_or_are_absent_are_told(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *head = trained_table(V, DIM, 2);
    const stored t[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, head) };
    wte_check *c = check_pair(
        "{\"model_type\":\"llava\",\"architectures\":[\"LlavaForConditionalGeneration\"],"
        "\"tie_word_embeddings\":true,\"text_config\":{\"model_type\":\"llama\","
        "\"vocab_size\":100,\"hidden_size\":64,\"tie_word_embeddings\":false}}",
        t, 2);
    assert_faults(c, "tie-flag-conflict");
    assert_finding(c, "tie-flag-conflict", "config.json", 0, 0,
                   "is true at the top and false in text_config; the bytes say false",
                   "jq '.tie_word_embeddings = false'");
    wte_check_free(c);
    c = check_pair("{\"model_type\":\"newcomer\",\"architectures\":[\"NewcomerForCausalLM\"],"
                   "\"vocab_size\":100,\"hidden_size\":64}",
                   t, 2);
    assert_faults(c, "");
    assert_non_null(finding(c, "tie-flag-absent"));
    wte_check_free(c);
    c = check_pair(LLAMA(",\"vocab_size\":100"), t, 2); /* this family is known */
    assert_faults(c, "");
    assert_null(finding(c, "tie-flag-absent"));
    wte_check_free(c);
    free(table);
    free(head);
}

static void a5_a_second_copy_is_told_with_its_size(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t[] = { table_of(EMBED, V, DIM, table), table_of(HEAD, V, DIM, table) };
    wte_check *c = check_pair(TIED, t, 2);
    assert_faults(c, "tie-copy");
    assert_finding(c, "tie-copy", HEAD, 0, 0, "two copies of the same bytes: 25600 are wasted",
                   "m.tie_weights()");
    wte_check_free(c);
    c = check_pair(LLAMA(",\"vocab_size\":100,\"tie_word_embeddings\":false"), t, 2);
    assert_faults(c, "tie-copy");
    assert_finding(c, "tie-copy", HEAD, 0, 0, "the flag says they are apart",
                   "jq '.tie_word_embeddings = true'");
    wte_check_free(c);
    free(table);
}

static void a11_the_role_that_is_stored_decides(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *head = trained_table(V, DIM, 2);
    const stored t[] = { table_of("model.decoder.embed_tokens.weight", V, DIM, table),
                         table_of(HEAD, V, DIM, head) };
    wte_check *c = check_pair("{\"model_type\":\"bart\",\"architectures\":"
                              "[\"BartForConditionalGeneration\"],\"vocab_size\":100,"
                              "\"d_model\":64,\"tie_word_embeddings\":false}",
                              t, 2);
    assert_faults(c, "");
    assert_int_equal(wte_check_facts_of(c)->head_rows, V);
    wte_check_free(c);
    free(table);
    free(head);
}

static void a13_a_tie_of_two_shapes_is_impossible(void **state)
{
    (void)state;
    float *table = trained_table(50, DIM, 1), *head = trained_table(8, DIM, 2);
    const stored t[] = { table_of(EMBED, 50, DIM, table), table_of(HEAD, 8, DIM, head) };
    wte_check *c = check_pair(LLAMA(",\"vocab_size\":50,\"tie_word_embeddings\":true"), t, 2);
    assert_faults(c, "tie-impossible");
    assert_finding(c, "tie-impossible", HEAD, 0, 0, "50 x 64 and the head 8 x 64",
                   "--force-download"); /* with the flag set to false the head does not load */
    wte_check_free(c);
    const stored wide[] = { table_of(EMBED, 50, DIM, table), table_of(HEAD, 50, DIM / 8, head) };
    c = check_pair("{\"model_type\":\"llama\",\"vocab_size\":50,\"hidden_size\":8,"
                   "\"tie_word_embeddings\":true}",
                   wide, 2);
    assert_finding(c, "tie-impossible", HEAD, 0, 0, "50 x 64 and the head 50 x 8",
                   "jq '.tie_word_embeddings = false'");
    wte_check_free(c);
    free(table);
    free(head);
}

/* Files ---------------------------------------------------------------------------------------- */

static void e5_index_shards_and_strays_are_compared(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1), *norm = trained_table(1, DIM, 2);
    const stored first[] = { table_of(EMBED, V, DIM, table),
                             table_of("model.norm.weight", DIM, 0, norm) };
    const stored second[] = { table_of("a.weight", 2, DIM, table),
                              table_of("model.norm.weight", DIM, 0, table),
                              table_of("unknown.weight", 3, DIM, table) };
    const char *dir = test_scratch();
    write_safetensors(in_folder(dir, "model-00001-of-00002.safetensors"), first, 2);
    write_safetensors(in_folder(dir, "model-00002-of-00002.safetensors"), second, 3);
    write_safetensors(in_folder(dir, "old.safetensors"), second, 1);
    write_text(dir, "pytorch_model.bin", "elsewhere");
    write_text(dir, "optimizer.pt", "no weights");
    write_text(dir, "model.safetensors.index.json",
               "{\"weight_map\":{\"" EMBED "\":\"model-00001-of-00002.safetensors\","
               "\"model.norm.weight\":\"model-00001-of-00002.safetensors\","
               "\"a.weight\":\"model-00002-of-00002.safetensors\"}}");
    write_tokenizer(dir, V, "");
    wte_check *c = check_model(dir);
    assert_faults(c, "index-tensor-twice index-stray-tensor stray-weight-file");
    assert_finding(c, "index-tensor-twice", "index", 0, 0,
                   "1 tensor is stored twice with different bytes, the second time in a shard that "
                   "the index does not name for it: 'model.norm.weight' in "
                   "model-00002-of-00002.safetensors",
                   "save_pretrained");
    assert_finding(c, "index-stray-tensor", "index", 0, 0,
                   "1 tensor lies in the shards but not in the index there: 'unknown.weight' in "
                   "model-00002-of-00002.safetensors",
                   "save_pretrained");
    assert_finding(c, "stray-weight-file", "old.safetensors", 0, 0,
                   "is no part of the model, which has 2 files", "old.safetensors.aside");
    assert_finding(c, "other-weight-file", "pytorch_model.bin", 0, 0, "(9 bytes) lies beside", "");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
    free(norm);
}

static void a_stray_with_equal_bytes_is_stored_twice_but_no_danger(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    const stored two[] = { t, table_of("b.weight", 1, DIM, table) };
    const char *dir = test_scratch();
    write_safetensors(in_folder(dir, "a.safetensors"), two, 2);
    write_safetensors(in_folder(dir, "b.safetensors"), &two[1], 1);
    write_text(dir, "model.safetensors.index.json",
               "{\"weight_map\":{\"" EMBED "\":\"a.safetensors\",\"b.weight\":\"b.safetensors\"}}");
    wte_check *c = check_model(dir);
    assert_faults(c, "index-stray-tensor");
    assert_finding(c, "index-stray-tensor", "index", 0, 0, "'b.weight' in a", "save_pretrained");
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

/* The call itself ------------------------------------------------------------------------------ */

static void codes_are_listed_and_chosen(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of(EMBED, V, DIM, table);
    const char *dir = make_model(LLAMA(",\"vocab_size\":101"), &t, 1);
    write_tokenizer(dir, V, SPECIAL(100, "<pad>"));
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    const char *const sizes[] = { "rows-uncovered-ids" }, *const none[] = { "rows-zero",
                                                                            "no-such" };
    wte_check_level level;
    const char *why, *code;
    bool seen = false;
    size_t n = 0;
    for (; (code = wte_check_code(n, &level, &why)); n++) {
        assert_true(level >= WTE_CHECK_INFO && level <= WTE_CHECK_ERROR && strlen(why) > 10);
        seen |= strcmp(code, "rows-zero") == 0 && level == WTE_CHECK_WARN;
    }
    assert_true(seen && n > 40);
    opt.only = sizes;
    opt.n_only = 1;
    wte_check *c = check_with(dir, &opt);
    assert_int_equal(wte_check_n_findings(c), 1);
    assert_faults(c, "rows-uncovered-ids");
    assert_false(wte_check_facts_of(c)->scanned); /* sizes alone need no row */
    wte_check_free(c);
    wte_model *m = open_model(dir);
    wte_error err;
    opt.only = none;
    opt.n_only = 2;
    c = (wte_check *)&err;
    assert_fails(wte_model_check(m, &opt, &c, &err), err, WTE_E_NOT_FOUND, 1,
                 "there is no finding 'no-such'");
    assert_null(c);
    const uint64_t ids[] = { 3, 100 };
    wte_check_options tokens = WTE_CHECK_OPTIONS_INIT;
    tokens.tokens = ids;
    tokens.n_tokens = 2;
    assert_fails(wte_model_check(m, &tokens, &c, &err), err, WTE_E_RANGE, 1, "token id 100");
    assert_fails(wte_model_check(NULL, NULL, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the model is NULL");
    assert_fails(wte_model_check(m, NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "out is NULL");
    tokens.struct_size = 4;
    assert_fails(wte_model_check(m, &tokens, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, NULL);
    wte_model_free(m);
    test_scratch_remove(dir);
    free(table);
}

static void names_and_paths_are_made_safe(void **state)
{
    (void)state;
    float *table = trained_table(V, DIM, 1);
    const stored t = table_of("x\\u001b[31m.embed_tokens.weight", V, DIM, table);
    const char *dir = test_scratch();
    char odd[200];
    snprintf(odd, sizeof odd, "%s/it's \x1b", dir);
    assert_int_equal(mkdir(odd, 0755), 0);
    write_safetensors(in_folder(odd, "model.safetensors"), &t, 1);
    write_text(odd, "config.json",
               "{\"model_type\":\"llama\",\"vocab_size\":7,\"hidden_size\":64}");
    wte_check *c = check_model(odd);
    const wte_finding *f = finding(c, "config-vocab-smaller");
    assert_non_null(f);
    assert_string_equal(f->subject, "x\\x1b[31m.embed_tokens.weight");
    assert_null(strchr(f->repair, '\x1b'));
    assert_non_null(strstr(f->repair, "/it\\047s \\033/config.json')\" > \"$(printf '"));
    wte_check_free(c);
    test_scratch_remove(dir);
    free(table);
}

static const struct CMUnitTest tests[] = {
    TEST("a model without faults has none", a_model_without_faults_has_none),
    TEST("B1: a token past the last row is named, and vocab_size that promises it",
         b1_a_token_past_the_last_row_is_named),
    TEST("B5: holes are told, and the largest id counts, not the number of tokens",
         b5_holes_are_told_and_the_largest_id_counts),
    TEST("B7: rows past vocab_size are told", b7_rows_past_vocab_size_are_told),
    TEST("B8: rows for input only are no fault, rows for output only are",
         b8_rows_for_input_only_are_no_fault),
    TEST("B10: a table without rows is told", b10_a_table_without_rows_is_told),
    TEST("B11: positions have a length of their own", b11_positions_have_their_own_length),
    TEST("E7: a model without a table is told", e7_a_model_without_a_table_is_told),
    TEST("another width than the config's is told", another_width_than_the_configs_is_told),
    TEST("a padding id without a row is told", a_padding_id_without_a_row_is_told),
    TEST("tokenizers that are broken or absent are told",
         tokenizers_that_are_broken_or_absent_are_told),
    TEST("K3: a mapping is checked against rows, weights against ids",
         k3_a_mapping_is_checked_against_the_rows),
    TEST("A1: a flag that says tied while the head differs is an error",
         a1_a_flag_that_lies_is_an_error),
    TEST("A2: rows that an adapter moved are counted", a2_rows_that_an_adapter_moved_are_counted),
    TEST("A3: a head that is missing is an error", a3_a_head_that_is_missing_is_an_error),
    TEST("A4: flags that disagree or are absent are told",
         a4_flags_that_disagree_or_are_absent_are_told),
    TEST("A5: a second copy is told with its size", a5_a_second_copy_is_told_with_its_size),
    TEST("A11: of several tables the stored ones are taken by role",
         a11_the_role_that_is_stored_decides),
    TEST("A13: a tie of two shapes is impossible", a13_a_tie_of_two_shapes_is_impossible),
    TEST("E5: index, shards and other files are compared both ways",
         e5_index_shards_and_strays_are_compared),
    TEST("a stray of equal bytes is told, but no error",
         a_stray_with_equal_bytes_is_stored_twice_but_no_danger),
    TEST("codes are listed, chosen, and refused when there is no such",
         codes_are_listed_and_chosen),
    TEST("names and paths are made safe for terminal and shell", names_and_paths_are_made_safe),
};
TEST_MAIN(tests)
