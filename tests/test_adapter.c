/* Adapters: what they have of the embedding, their config, and what is told when they have no
 * table. */
#include "model/model.h"

#include "model_files.h"

#define PRE "base_model.model.model."

static const char *make_adapter(const char *config, const stored *list, size_t n)
{
    const char *dir = test_scratch();
    write_safetensors(in_folder(dir, "adapter_model.safetensors"), list, n);
    if (config) write_text(dir, "adapter_config.json", config);
    return dir;
}

static void assert_no_table(const char *dir, const char *message)
{
    const wte_model_table *input;
    wte_error err;
    wte_model *m = open_model(dir);
    assert_fails(wte_model_input(m, &input, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX, message);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_saved_embedding_is_the_table(void **state)
{
    (void)state;
    const stored list[] = {
        { PRE "embed_tokens.weight", "F32", 12, 2, NULL, 4 },
        { "base_model.model.lm_head.weight", "F32", 12, 2, NULL, 4 },
        { PRE "layers.0.self_attn.q_proj.lora_A.weight", "F32", 4, 2, NULL, 4 },
        { PRE "layers.0.self_attn.q_proj.lora_B.weight", "F32", 2, 4, NULL, 4 },
    };
    const char *dir = make_adapter("{\"peft_type\": \"LORA\", \"r\": 4, \"lora_alpha\": 8.0,"
                                   "\"base_model_name_or_path\": \"org/base\","
                                   "\"target_modules\": [\"q_proj\"]}",
                                   list, 4);
    /* a trainer leaves other files beside it */
    write_text(dir, "optimizer.pt", "x");
    write_text(dir, "scheduler.pt", "x");
    write_safetensors(in_folder(dir, "other.safetensors"), list, 1);
    const wte_model_table *input;
    wte_error err;
    wte_model *m = open_model(dir);
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_string_equal(input->name, PRE "embed_tokens.weight");
    assert_int_equal(input->rows, 12);
    assert_string_equal(wte_model_head(m)->name, "base_model.model.lm_head.weight");
    const wte_model_adapter *a = wte_model_adapter_of(m);
    assert_non_null(a);
    assert_string_equal(a->kind, "LORA");
    assert_string_equal(a->base, "org/base");
    assert_int_equal(a->rank, 4);
    assert_int_equal(a->factors, 2);
    assert_false(a->lora_input || a->lora_head);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_change_of_the_embedding_is_no_table(void **state)
{
    (void)state;
    const stored lora[] = { { PRE "embed_tokens.lora_embedding_A", "F32", 4, 40, NULL, 4 },
                            { PRE "embed_tokens.lora_embedding_B", "F32", 8, 4, NULL, 4 } };
    assert_no_table(make_adapter("{\"base_model_name_or_path\": \"org/base\"}", lora, 2),
                    "an adapter with a low-rank change of rank 4 of the embedding (40 x 8): the "
                    "table is that of its base, 'org/base'");
    assert_no_table(make_adapter(NULL, lora, 2), "(40 x 8): its base model has the table");
    const stored rows = {
        PRE "embed_tokens.token_adapter.trainable_tokens_delta", "F32", 2, 8, NULL, 4
    };
    assert_no_table(make_adapter(NULL, &rows, 1),
                    "an adapter with rows of 2 tokens, 8 numbers each: its base");
    const stored head[] = { { "base_model.model.lm_head.lora_A.weight", "F32", 4, 8, NULL, 4 },
                            { "base_model.model.lm_head.lora_B.weight", "F32", 40, 4, NULL, 4 } };
    assert_no_table(make_adapter(NULL, head, 2),
                    "nothing of the embedding, 2 low-rank factors, the head's among them");
    const stored other[] = {
        { PRE "layers.0.mlp.up_proj.lora_A.weight", "F32", 4, 8, NULL, 4 },
        { PRE "layers.0.mlp.up_proj.lora_B.weight", "F32", 9, 4, NULL, 4 },
    };
    assert_no_table(make_adapter("{\"r\": null, \"base_model_name_or_path\": null}", other, 2),
                    "nothing of the embedding, 2 low-rank factors of other layers");
}

static void a_model_is_no_adapter(void **state)
{
    (void)state;
    const stored t = { "model.embed_tokens.weight", "F32", 4, 2, NULL, 4 };
    const char *dir = make_model(NULL, &t, 1);
    write_text(dir, "adapter_config.json", "{broken");
    wte_model *m = open_model(dir);
    assert_null(wte_model_adapter_of(m));
    wte_model_free(m);
    m = open_model("demo");
    assert_null(wte_model_adapter_of(m));
    wte_model_free(m);
    test_scratch_remove(dir);
}

static wte_status parse(const char *text, wte__adapter *out, wte_error *err)
{
    wte__arena arena;
    wte__arena_init(&arena, NULL);
    memset(out, 0, sizeof *out);
    const wte_status status =
        wte__adapter_parse(out, text, strlen(text), "a.json", NULL, &arena, err);
    wte__arena_clear(&arena);
    return status;
}

static void token_ids_come_as_a_list_or_by_layer(void **state)
{
    static const char *const texts[] = {
        "{\"trainable_token_indices\": [7, 9]}",
        "{\"token_indices\": [7, 9], \"trainable_token_indices\": null}",
        "{\"trainable_token_indices\": {\"embed_tokens\": [7, 9]}}",
        "{\"trainable_token_indices\": {\"lm_head\": [1], \"model.embed_tokens\": [7, 9]}}",
        "{\"trainable_token_indices\": {\"embed_tokens\": [7, 9], \"shared\": [1, 2]}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        wte__adapter a;
        wte_error err;
        assert_ok(parse(texts[i], &a, &err), err);
        assert_int_equal(a.said.n_token_ids, 2);
        assert_int_equal(a.said.token_ids[0], 7);
        assert_int_equal(a.said.token_ids[1], 9);
        assert_int_equal(a.said.n_head_token_ids, i == 3);
        if (i == 3) assert_int_equal(a.said.head_token_ids[0], 1);
        wte__adapter_clear(&a, NULL);
    }
}

static void changes_of_the_head_are_told_apart(void **state)
{
    (void)state;
    const stored list[] = {
        { "base_model.model.lm_head.lora_A.weight", "F32", 4, 8, NULL, 4 },
        { "base_model.model.lm_head.lora_B.weight", "F32", 40, 4, NULL, 4 },
        { PRE "embed_tokens.token_adapter.trainable_tokens_delta", "F32", 3, 8, NULL, 4 },
        { "base_model.model.lm_head.token_adapter.trainable_tokens_delta", "F32", 2, 8, NULL, 4 },
        /* a layer's own */
        { PRE "layers.0.output.lora_B.weight", "F32", 9, 4, NULL, 4 },
    };
    const char *dir = make_adapter(NULL, list, 5);
    wte_model *m = open_model(dir);
    const wte_model_adapter *a = wte_model_adapter_of(m);
    assert_true(a->lora_head && !a->lora_input);
    assert_int_equal(a->lora_head_rank, 4);
    assert_int_equal(a->lora_head_rows, 40);
    assert_int_equal(a->lora_head_dim, 8);
    assert_int_equal(a->token_rows, 3);
    assert_int_equal(a->token_dim, 8);
    assert_int_equal(a->head_token_rows, 2);
    assert_int_equal(a->head_token_dim, 8);
    wte_model_free(m);
    test_scratch_remove(dir);
    /* a head that is saved whole, beside factors of its width, is no table */
    const stored head[] = { { "base_model.model.lm_head.weight", "F32", 40, 8, NULL, 4 },
                            { PRE "layers.0.q_proj.lora_A.weight", "F32", 4, 8, NULL, 4 } };
    assert_no_table(make_adapter(NULL, head, 2), "an adapter with a head of 40 x 8 and no table");
}

static void a_broken_config_is_refused_at_its_place(void **state)
{
    static const struct {
        const char *text;
        uint64_t where;
        const char *part;
    } cases[] = {
        { "[]", 0, "a config is an object in braces" },
        { "{\"r\": -1}", 6, "a rank is a whole number, not negative" },
        { "{\"r\": \"4\"}", 6, "a rank is a whole number, not negative" },
        { "{\"peft_type\": 1}", 14, "a name was expected" },
        { "{\"base_model_name_or_path\": []}", 28, "a name was expected" },
        { "{\"token_indices\": [1, -2]}", 22, "a token id was expected" },
        { "{\"token_indices\": [1.5]}", 19, "a token id was expected" },
        { "{\"token_indices\": 3}", 18, "token ids come as a list" },
        { "{\"token_indices\": {\"embed_tokens\": 3}}", 35, "token ids come as a list" },
        { "{\"token_indices\": [1", 20, "not valid JSON" },
        { "{\"token_indices\": {\"embed_tokens\"", 33, "not valid JSON" },
        { "{\"token_indices\": {\"x\": ]", 24, "not valid JSON" },
        { "{\"token_indices\": {", 19, "not valid JSON" },
        { "{\"token_indices\": ", 18, "not valid JSON" },
        { "{\"r\": ", 6, "not valid JSON" },
        { "{\"peft_type\": ", 14, "not valid JSON" },
        { "{\"x\": [", 7, "not valid JSON" },
        { "{\"r\": 1", 7, "not valid JSON" },
        { "{\"r\": 1} 2", 9, "not valid JSON" },
        { "", 0, "not valid JSON" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wte__adapter a;
        wte_error err;
        assert_fails(parse(cases[i].text, &a, &err), err, WTE_E_FORMAT, cases[i].where,
                     cases[i].part);
        wte__adapter_clear(&a, NULL);
    }
}

static void a_broken_config_stops_an_adapter(void **state)
{
    (void)state;
    const stored t = { PRE "embed_tokens.weight", "F32", 4, 2, NULL, 4 };
    const char *dir = make_adapter("{\"r\": -1}", &t, 1);
    wte_model *m = NULL;
    wte_error err;
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, 6,
                 "adapter_config.json: line 1 column 7 (byte 6): a rank is a whole number");
    test_scratch_remove(dir);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    const stored t = { PRE "embed_tokens.weight", "F32", 4, 2, NULL, 4 };
    const char *dir = make_adapter("{\"peft_type\": \"LORA\", \"base_model_name_or_path\": \"b\","
                                   "\"trainable_token_indices\": [1, 2, 3]}",
                                   &t, 1);
    for (size_t i = 0;; i++) {
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        test_memory memory;
        wte_model *m = NULL;
        wte_error err;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_model_open(dir, &opt, &m, &err);
        if (status == WTE_OK) {
            assert_int_equal(wte_model_adapter_of(m)->n_token_ids, 3);
            wte_model_free(m);
            assert_int_equal(memory.live, 0);
            break;
        }
        assert_int_equal(status, WTE_E_MEMORY);
        assert_int_equal(memory.live, 0);
        assert_null(m);
    }
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("an embedding that an adapter saves is its table", a_saved_embedding_is_the_table),
    TEST("a change of the embedding is told as what it is, and is no table",
         a_change_of_the_embedding_is_no_table),
    TEST("a model is no adapter, whatever lies beside it", a_model_is_no_adapter),
    TEST("token ids come as a list or by layer", token_ids_come_as_a_list_or_by_layer),
    TEST("changes of the head are told apart", changes_of_the_head_are_told_apart),
    TEST("a broken config is refused at its place", a_broken_config_is_refused_at_its_place),
    TEST("a broken config stops an adapter", a_broken_config_stops_an_adapter),
    TEST("every failed allocation is told and leaves nothing", every_failed_allocation_is_told),
};
TEST_MAIN(tests)
