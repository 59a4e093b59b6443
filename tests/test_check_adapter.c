/* wte check with an adapter beside its base, and the parts of encoder-decoder models. */
#include "check_models.h"

#define PRE "base_model.model.model."
#define LORA_CONFIG                                                                                \
    "{\"peft_type\": \"LORA\", \"r\": 2, \"base_model_name_or_path\": \"org/base\"%s}"

/* Of the base: 10 x 2, tied, tokens t0..t9. */
static char base[256], adapter[256];

static void make_base(uint64_t tokens)
{
    static const float rows[20] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3 };
    const stored t = table_of(EMBED, 10, 2, rows);
    snprintf(base, sizeof base, "%s",
             make_model("{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],"
                        "\"hidden_size\":2,\"vocab_size\":10,\"tie_word_embeddings\":true}",
                        &t, 1));
    if (tokens) write_tokenizer(base, tokens, "");
}

/* `more` is the end of its config; tokens 0: no tokenizer. */
static void make_adapter(const stored *list, size_t n, const char *more, uint64_t tokens,
                         const char *added)
{
    char config[300];
    snprintf(config, sizeof config, LORA_CONFIG, more);
    snprintf(adapter, sizeof adapter, "%s", test_scratch());
    write_safetensors(in_folder(adapter, "adapter_model.safetensors"), list, n);
    write_text(adapter, "adapter_config.json", config);
    if (tokens) write_tokenizer(adapter, tokens, added);
}

static wte_check *check_pair(void)
{
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    wte_model *m = open_model(base), *a = open_model(adapter);
    wte_check *c = NULL;
    wte_error err;
    opt.adapter = a;
    assert_ok(wte_model_check(m, &opt, &c, &err), err);
    wte_model_free(a);
    wte_model_free(m);
    return c;
}

static void remove_both(wte_check *c)
{
    wte_check_free(c);
    test_scratch_remove(adapter);
    test_scratch_remove(base);
}

static const float
    P[24] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 1, 5, 2, 7 },
    Q[24] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 1, 5, 2, 8 };

static void b13_the_base_is_too_small_for_the_adapter(void **state)
{
    (void)state;
    const stored list[] = { table_of(PRE "embed_tokens.weight", 12, 2, P),
                            table_of("base_model.model.lm_head.weight", 12, 2, P) };
    make_base(10);
    make_adapter(list, 2, "", 10, SPECIAL(10, "<new>") "," SPECIAL(11, "<newer>"));
    wte_check *c = check_pair();
    assert_faults(c, "adapter-rows");
    assert_finding(c, "adapter-rows", adapter, 2, 10,
                   "the adapter's table has 12 rows, the base's 10: the base must have 12 rows",
                   "m.resize_token_embeddings(12)");
    assert_finding(c, "adapter-saves", adapter, 2, 10,
                   "it saves a table of 12 x 2 and a head of 12 x 2; the base has 10 x 2 and needs "
                   "12 rows; 10 of 10 common ids have the same token, 2 tokens are new",
                   "");
    assert_true(finding(c, "adapter-rows")->of_adapter);
    assert_finding(c, "adapter-base-differs", adapter, 0, 0,
                   "its config names the base 'org/base', and this one is ", "");
    const wte_check_facts *f = wte_check_facts_of(c);
    assert_true(f->has_adapter);
    assert_int_equal(f->adapter_rows, 12);
    assert_int_equal(f->adapter_dim, 2);
    assert_int_equal(f->adapter_head_rows, 12);
    assert_int_equal(f->adapter_needs, 12);
    remove_both(c);
}

static void a2_embedding_and_head_saved_apart_untie_the_base(void **state)
{
    (void)state;
    const stored list[] = { table_of(PRE "embed_tokens.weight", 12, 2, P),
                            table_of("base_model.model.lm_head.weight", 12, 2, Q) };
    make_base(10);
    make_adapter(list, 2, "", 0, "");
    wte_check *c = check_pair();
    assert_faults(c, "adapter-rows adapter-unties");
    assert_finding(c, "adapter-unties", adapter, 0, 0,
                   "the base is tied, and the adapter saves embedding and head apart: 1 of 12 rows "
                   "differ, the first is row 11",
                   "m.resize_token_embeddings(12); m = peft.PeftModel.from_pretrained(m, "
                   "sys.argv[2]).merge_and_unload(); m.config.tie_word_embeddings = False;");
    assert_finding(c, "adapter-saves", adapter, 0, 0, "it brings no tokenizer", "");
    remove_both(c);
}

static void an_adapter_that_fits_gives_remarks_alone(void **state)
{
    (void)state;
    const stored list[] = { table_of(PRE "embed_tokens.modules_to_save.default.weight", 10, 2, P) };
    make_base(10);
    make_adapter(list, 1, "", 10, "");
    wte_check *c = check_pair();
    assert_faults(c, "");
    assert_finding(c, "adapter-saves", adapter, 0, 0, "it saves a table of 10 x 2 and no head", "");
    remove_both(c);
}

static void width_ids_and_tokens_are_compared(void **state)
{
    (void)state;
    const stored delta = table_of(PRE "embed_tokens.trainable_tokens_delta", 3, 3, P);
    make_base(10);
    make_adapter(&delta, 1, ", \"trainable_token_indices\": [3, 11, 12]", 4,
                 SPECIAL(4, "<four>") "," SPECIAL(5, "t5"));
    wte_check *c = check_pair();
    assert_faults(c, "adapter-ids-outside adapter-width adapter-tokens-differ");
    assert_finding(c, "adapter-ids-outside", adapter, 2, 11,
                   "2 of its 3 token ids have no row: the largest is 12, the base has 10 rows",
                   "m.resize_token_embeddings(13)");
    assert_finding(c, "adapter-width", adapter, 0, 0,
                   "rows of the adapter have 3 numbers, those of the base 2",
                   "huggingface-cli download org/base");
    assert_finding(c, "adapter-tokens-differ", adapter, 1, 4,
                   "of 6 ids that have tokens in both, 1 have another: id 4 is '<four>' in the "
                   "adapter, 't4' in the base",
                   "huggingface-cli download org/base");
    assert_finding(c, "adapter-saves", adapter, 0, 0, "it saves the rows of 3 tokens", "");
    remove_both(c);
}

static void a_low_rank_change_has_the_rows_of_its_base(void **state)
{
    (void)state;
    const stored list[] = { table_of(PRE "embed_tokens.lora_embedding_A", 2, 11, NULL),
                            table_of(PRE "embed_tokens.lora_embedding_B", 2, 2, NULL) };
    make_base(10);
    make_adapter(list, 2, "", 0, "");
    wte_check *c = check_pair();
    assert_faults(c, "adapter-rows");
    assert_finding(c, "adapter-saves", adapter, 0, 0,
                   "it changes a table of 11 x 2 by rank 2 and saves none", "");
    remove_both(c);
    /* a tokenizer that has grown, and no table that has */
    const stored other = table_of(PRE "layers.0.q_proj.lora_A.weight", 2, 2, NULL);
    make_base(10);
    make_adapter(&other, 1, "", 10, SPECIAL(10, "<new>"));
    c = check_pair();
    assert_faults(c, "adapter-rows");
    assert_finding(c, "adapter-rows", adapter, 1, 10,
                   "its tokenizer has ids 0..10, the base has 10 rows, and the adapter saves none: "
                   "1 are missing",
                   "m.resize_token_embeddings(11)");
    assert_finding(c, "adapter-saves", adapter, 1, 10, "it saves nothing of the embedding", "");
    remove_both(c);
}

/* Cutting the base could lose trained rows: it is another base. */
static void a_base_with_more_rows_is_not_cut(void **state)
{
    (void)state;
    const stored t = table_of(PRE "embed_tokens.weight", 8, 2, P);
    make_base(10);
    make_adapter(&t, 1, "", 0, "");
    wte_check *c = check_pair();
    assert_faults(c, "adapter-rows");
    assert_finding(c, "adapter-rows", adapter, 0, 0,
                   "the adapter's table has 8 rows, the base's 10: the base must have 8 rows",
                   "huggingface-cli download org/base");
    remove_both(c);
}

static void a_head_alone_is_no_table(void **state)
{
    (void)state;
    const stored head = table_of("base_model.model.lm_head.weight", 10, 2, P);
    make_base(0);
    make_adapter(&head, 1, "", 3, "");
    wte_check *c = check_pair();
    assert_faults(c, "");
    assert_finding(c, "adapter-saves", adapter, 0, 0,
                   "it saves a head of 10 x 2 and no table; the base has 10 x 2 and needs 10 rows; "
                   "the base has no tokenizer to compare with",
                   "");
    remove_both(c);
}

/* One finding of a fresh pair; faults are those of all. */
static void check_one(const stored *list, size_t n, const char *more, const char *faults,
                      const char *code, const char *fact, const char *repair)
{
    make_base(10);
    make_adapter(list, n, more, 0, "");
    wte_check *c = check_pair();
    assert_faults(c, faults);
    const wte_finding *f = finding(c, code);
    if (!f) fail_msg("no finding '%s'", code);
    if (f && !strstr(f->fact, fact)) fail_msg("'%s' does not contain '%s'", f->fact, fact);
    if (f && !strstr(f->repair, repair)) fail_msg("'%s' lacks '%s'", f->repair, repair);
    remove_both(c);
}

#define HEAD_OF "base_model.model.lm_head"

static void changes_of_the_head_alone_untie_the_base(void **state)
{
    (void)state;
    const stored head = table_of(HEAD_OF ".weight", 10, 2, Q + 4);
    check_one(&head, 1, "", "adapter-unties", "adapter-unties",
              "the base is tied, and the adapter replaces the head alone (10 x 2)",
              "m.config.tie_word_embeddings = False");
    const stored lora[] = { table_of(HEAD_OF ".lora_A.weight", 4, 2, NULL),
                            table_of(HEAD_OF ".lora_B.weight", 10, 4, NULL) };
    check_one(lora, 2, "", "adapter-unties", "adapter-unties",
              "changes the head alone: merged into the one matrix it changes the table as well",
              "detach().clone()");
    check_one(lora, 2, "", "adapter-unties", "adapter-saves",
              "it changes a head of 10 x 2 by rank 4 and saves no table", "");
    const stored rows = table_of(HEAD_OF ".trainable_tokens_delta", 2, 2, Q);
    check_one(&rows, 1, ", \"trainable_token_indices\": {\"lm_head\": [1, 2]}", "adapter-unties",
              "adapter-unties", "changes rows of the head alone", "clone()");
    /* of both it is one change */
    const stored both[] = { table_of(PRE "embed_tokens.trainable_tokens_delta", 2, 2, Q), rows };
    check_one(both, 2,
              ", \"trainable_token_indices\": {\"lm_head\": [1, 2], \"embed_tokens\": [1, 2]}", "",
              "adapter-saves", "it saves the rows of 2 tokens, saves the head's rows of 2 tokens",
              "");
}

static void table_head_and_tokens_must_agree(void **state)
{
    (void)state;
    const stored apart[] = { table_of(PRE "embed_tokens.weight", 12, 2, P),
                             table_of(HEAD_OF ".weight", 10, 2, P) };
    check_one(apart, 2, "", "adapter-rows", "adapter-rows",
              "the adapter's table has 12 rows and its head 10: no base takes both (the base has "
              "10)",
              "");
    const stored mixed[] = { table_of(PRE "embed_tokens.lora_embedding_A", 2, 12, NULL),
                             table_of(PRE "embed_tokens.lora_embedding_B", 2, 2, NULL),
                             table_of(HEAD_OF ".weight", 10, 2, P) };
    check_one(mixed, 3, "", "adapter-rows", "adapter-rows", "table has 12 rows and its head 10",
              "");
    check_one(mixed, 3, "", "adapter-rows", "adapter-saves",
              "it changes a table of 12 x 2 by rank 2 and saves a head of 10 x 2", "");
    const stored lora[] = { table_of(HEAD_OF ".lora_A.weight", 4, 3, NULL),
                            table_of(HEAD_OF ".lora_B.weight", 12, 4, NULL) };
    check_one(lora, 2, "", "adapter-rows adapter-width adapter-unties", "adapter-rows",
              "the adapter's head has 12 rows, the base's 10: the base must have 12 rows",
              "resize_token_embeddings(12)");
    check_one(lora, 2, "", "adapter-rows adapter-width adapter-unties", "adapter-width",
              "rows of the adapter's head have 3 numbers, those of the base's 2", "download");
    const stored delta[] = { table_of(PRE "embed_tokens.trainable_tokens_delta", 3, 2, P),
                             table_of(HEAD_OF ".trainable_tokens_delta", 2, 2, Q) };
    check_one(delta, 1, ", \"trainable_token_indices\": [1, 2]", "adapter-ids-outside",
              "adapter-ids-outside",
              "it saves 3 replacement rows, and its config names 2 token ids for them", "");
    check_one(delta, 2,
              ", \"trainable_token_indices\": {\"embed_tokens\": [1, 2, 3], \"lm_head\": [4, 12]}",
              "adapter-ids-outside", "adapter-ids-outside",
              "1 of its 2 token ids of the head have no row: the largest is 12, the base has 10",
              "resize_token_embeddings(13)");
    /* a tokenizer that has outgrown what is saved */
    const stored pair[] = { table_of(PRE "embed_tokens.weight", 12, 2, P),
                            table_of(HEAD_OF ".weight", 12, 2, P) };
    make_base(10);
    make_adapter(pair, 2, "", 10, SPECIAL(10, "<new>") "," SPECIAL(13, "<far>"));
    wte_check *c = check_pair();
    assert_faults(c, "adapter-rows adapter-rows");
    assert_finding(c, "adapter-rows", adapter, 2, 12,
                   "its tokenizer has ids 0..13, but what it saves has 12 rows: 2 ids have none",
                   "");
    remove_both(c);
}

static void a_tokenizer_that_cannot_be_read_is_told(void **state)
{
    (void)state;
    const stored t = table_of(PRE "embed_tokens.weight", 10, 2, P);
    make_base(10);
    make_adapter(&t, 1, "", 0, "");
    write_text(adapter, "tokenizer.json", "{\"model\": ");
    wte_check *c = check_pair();
    assert_faults(c, "");
    assert_finding(c, "adapter-saves", adapter, 0, 0, "its tokenizer cannot be read: ", "");
    remove_both(c);
}

/* The name of the base is looked for on the way to the model. */
static void a_base_is_known_by_its_folder(void **state)
{
    static const struct {
        const char *folder, *base;
        bool known;
    } cases[] = {
        { "Llama-1B", "meta/llama-1b", true },
        { "llama-1b/v2", "llama-1b/", true },
        { "models--meta--Llama-1B/snapshots/ab", "meta/Llama-1B", true },
        { "models--meta--Big-Llama-1B", "meta/Llama-1B", false },
        { "xLlama-1B", "meta/Llama-1B", false },
        { "other", "/data/checkpoints/step-100", false },
    };
    (void)state;
    const stored t = table_of(EMBED, 10, 2, P);
    const stored saved = table_of(PRE "embed_tokens.weight", 10, 2, P);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[600], config[200];
        snprintf(base, sizeof base, "%s", test_scratch());
        snprintf(adapter, sizeof adapter, "%s", test_scratch());
        snprintf(command, sizeof command, "mkdir -p %s/%s", base, cases[i].folder);
        assert_int_equal(system(command), 0);
        char top[256], path[600];
        snprintf(top, sizeof top, "%s", base);
        snprintf(path, sizeof path, "%s/%s/model.safetensors", top, cases[i].folder);
        write_safetensors(path, &t, 1);
        snprintf(base, sizeof base, "%.100s/%.100s", top, cases[i].folder);
        write_safetensors(in_folder(adapter, "adapter_model.safetensors"), &saved, 1);
        snprintf(config, sizeof config, "{\"base_model_name_or_path\": \"%s\"}", cases[i].base);
        write_text(adapter, "adapter_config.json", config);
        wte_check *c = check_pair();
        if ((finding(c, "adapter-base-differs") == NULL) != cases[i].known)
            fail_msg("%s and %s", cases[i].folder, cases[i].base);
        wte_check_free(c);
        test_scratch_remove(adapter);
        test_scratch_remove(top);
    }
}

static void what_is_no_adapter_is_refused(void **state)
{
    (void)state;
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    make_base(0);
    wte_model *m = open_model(base);
    wte_check *c = NULL;
    wte_error err;
    opt.adapter = m;
    assert_fails(wte_model_check(m, &opt, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 ": is no adapter");
    assert_null(c);
    wte_model_free(m);
    test_scratch_remove(base);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    const stored list[] = { table_of(PRE "embed_tokens.weight", 12, 2, P),
                            table_of("base_model.model.lm_head.weight", 12, 2, Q) };
    make_base(10);
    make_adapter(list, 2, ", \"trainable_token_indices\": [99]", 4, SPECIAL(4, "<four>"));
    wte_model *m = open_model(base), *a = open_model(adapter);
    static const char *const only[] = { "adapter-rows",  "adapter-unties",
                                        "adapter-saves", "adapter-tokens-differ",
                                        "adapter-width", "adapter-ids-outside" };
    for (size_t i = 0;; i++) {
        wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
        test_memory memory;
        wte_check *c = NULL;
        wte_error err;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        opt.adapter = a;
        opt.only = only;
        opt.n_only = sizeof only / sizeof *only;
        const wte_status status = wte_model_check(m, &opt, &c, &err);
        if (status == WTE_OK) {
            assert_faults(c, "adapter-ids-outside adapter-rows adapter-tokens-differ "
                             "adapter-unties");
            wte_check_free(c);
            assert_int_equal(memory.live, 0);
            break;
        }
        assert_int_equal(status, WTE_E_MEMORY);
        assert_int_equal(memory.live, 0);
        assert_null(c);
    }
    wte_model_free(a);
    wte_model_free(m);
    test_scratch_remove(adapter);
    test_scratch_remove(base);
}

/* Parts ---------------------------------------------------------------------------------------- */

#define UNTIED_T5                                                                                  \
    "{\"model_type\":\"t5\",\"d_model\":2,\"vocab_size\":10,\"tie_word_embeddings\":false}"
#define BLOCK ".block.0.layer.0.q.weight"

static void a11_a_part_without_a_table_is_told(void **state)
{
    static const struct {
        const char *tensors[5];
        const char *empty; /* the part, or NULL */
    } cases[] = {
        { { "decoder.embed_tokens.weight", "lm_head.weight", "encoder" BLOCK, "decoder" BLOCK },
          "encoder" },
        { { "encoder.embed_tokens.weight", "lm_head.weight", "encoder" BLOCK, "decoder" BLOCK },
          "decoder" },
        { { "shared.weight", "lm_head.weight", "encoder" BLOCK, "decoder" BLOCK }, NULL },
        { { "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight",
            "encoder" BLOCK, "decoder" BLOCK },
          NULL },
        /* an encoder alone; one that hears; a decoder that speaks */
        { { "encoder.embed_tokens.weight", "encoder" BLOCK }, NULL },
        { { "decoder.embed_tokens.weight", "proj_out.weight", "encoder.conv1.weight",
            "encoder" BLOCK, "decoder" BLOCK },
          NULL },
        { { "encoder.embed_tokens.weight", "encoder" BLOCK, "decoder" BLOCK }, NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stored list[5];
        char fact[100], repair[100];
        size_t n = 0;
        while (n < 5 && cases[i].tensors[n]) {
            const bool block = strstr(cases[i].tensors[n], BLOCK) != NULL;
            list[n] = table_of(cases[i].tensors[n], block ? 2 : 10, 2, n ? Q + 4 : P);
            n++;
        }
        const char *dir = make_model(UNTIED_T5, list, n);
        wte_check *c = check_model(dir);
        const char *empty = cases[i].empty;
        if ((finding(c, "role-empty") != NULL) != (empty != NULL)) fail_msg("case %zu", i);
        if (empty) {
            const char *other = strcmp(empty, "encoder") == 0 ? "decoder" : "encoder";
            snprintf(fact, sizeof fact, "the %s has layers but no table: %s is stored", empty,
                     list[0].name);
            snprintf(repair, sizeof repair,
                     "AutoModelForSeq2SeqLM.from_pretrained(sys.argv[1]); w = m.get_input_");
            assert_finding(c, "role-empty", list[0].name, 0, 0, fact, repair);
            snprintf(repair, sizeof repair, "m.get_%s().set_input_embeddings(m.get_%s()", empty,
                     other);
            assert_finding(c, "role-empty", list[0].name, 0, 0, fact, repair);
        }
        wte_check_free(c);
        test_scratch_remove(dir);
    }
}

static void two_vocabularies_are_no_fault(void **state)
{
    (void)state;
    const stored list[] = {
        table_of("model.encoder.embed_tokens.weight", 10, 2, P),
        table_of("model.decoder.embed_tokens.weight", 12, 2, Q),
        table_of("model.encoder.layers.0.fc1.weight", 2, 2, P),
        table_of("model.decoder.layers.0.fc1.weight", 2, 2, P),
    };
    const char *dir = make_model("{\"model_type\":\"marian\",\"architectures\":[\"MarianMTModel\"],"
                                 "\"d_model\":2,\"vocab_size\":10}",
                                 list, 4);
    wte_check *c = check_model(dir);
    assert_faults(c, "");
    assert_null(finding(c, "input-only-ids"));
    wte_check_free(c);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("B13: a base that is too small for its adapter is told with rows and new ids",
         b13_the_base_is_too_small_for_the_adapter),
    TEST("A2: embedding and head saved apart untie the base",
         a2_embedding_and_head_saved_apart_untie_the_base),
    TEST("an adapter that fits gives remarks alone", an_adapter_that_fits_gives_remarks_alone),
    TEST("width, token ids and tokens are compared", width_ids_and_tokens_are_compared),
    TEST("a low-rank change has the rows of its base", a_low_rank_change_has_the_rows_of_its_base),
    TEST("a base with more rows than the adapter is not cut", a_base_with_more_rows_is_not_cut),
    TEST("a head that is saved alone is no table", a_head_alone_is_no_table),
    TEST("changes of the head alone untie the base", changes_of_the_head_alone_untie_the_base),
    TEST("table, head and tokens must agree", table_head_and_tokens_must_agree),
    TEST("a tokenizer of an adapter that cannot be read is told",
         a_tokenizer_that_cannot_be_read_is_told),
    TEST("a base is known by its folder", a_base_is_known_by_its_folder),
    TEST("what is no adapter is refused", what_is_no_adapter_is_refused),
    TEST("every failed allocation is told and leaves nothing", every_failed_allocation_is_told),
    TEST("A11: a part of an encoder-decoder model without a table is told",
         a11_a_part_without_a_table_is_told),
    TEST("two vocabularies in one model are no fault", two_vocabularies_are_no_fault),
};
TEST_MAIN(tests)
