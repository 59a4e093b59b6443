/* Models in GGUF files: config and factor from the metadata, which table plays which role, ties,
 * tracing a row of blocks, several files as one. */
#include "gguf_files.h"

#include <wte/inspect.h>
#include <wte/model.h>

#include "model_files.h"

static gguf_file g;

enum tables { INPUT = 1, HEAD = 2 };

/* A model of 4 x 32: the named tables, in q8_0 with scale 1, the head's numbers `change` larger in
 * its last row. */
static void put_model(const char *architecture, unsigned tables, int change)
{
    const bool both = tables == (INPUT | HEAD);
    char key[64];
    g_begin(&g, both ? 2 : 1, 4);
    g_pair_text(&g, "general.architecture", architecture);
    snprintf(key, sizeof key, "%s.embedding_length", architecture);
    g_pair_u32(&g, key, 32);
    g_pair_u32(&g, "tokenizer.ggml.padding_token_id", 3);
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, 4);
    for (int i = 0; i < 4; i++) g_text(&g, i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "c" : "<pad>");
    if (tables & INPUT) g_tensor(&g, "token_embd.weight", 32, 4, WTE_BLOCK_Q8_0, 0);
    if (tables & HEAD) g_tensor(&g, "output.weight", 32, 4, WTE_BLOCK_Q8_0, both ? 160 : 0);
    for (unsigned k = INPUT; k <= HEAD; k *= 2) {
        if (!(tables & k)) continue;
        g_pad(&g, 32);
        for (int row = 0; row < 4; row++) {
            g_number(&g, 0x3c00, 2);
            for (int c = 0; c < 32; c++)
                g_number(&g, (uint8_t)(10 * row + c + (k == HEAD && row == 3 ? change : 0)), 1);
        }
    }
}

/* Writes the model to "DIR/NAME" and opens it; *dir is to be removed. */
static wte_model *write_model(const char **dir)
{
    *dir = test_scratch();
    const char *path = in_folder(*dir, "m.gguf");
    test_write_file(path, g.data, g.n);
    return open_model(path);
}

static void metadata_are_the_config(void **state)
{
    (void)state;
    const char *dir;
    put_model("llama", INPUT, 0);
    wte_model *m = write_model(&dir);
    const wte_model_config *c = wte_model_config_of(m);
    assert_string_equal(c->model_type, "llama");
    assert_non_null(strstr(c->path, "m.gguf"));
    assert_int_equal(c->hidden_size, 32);
    assert_int_equal(c->vocab_size, 4); /* as many as there are tokens */
    assert_int_equal(c->pad_token_id, 3);
    assert_true(c->factor == 1);
    assert_int_equal(c->tie_top, WTE_FLAG_ABSENT);
    assert_true(c->tied && c->tie_decided);
    uint64_t id;
    wte_error err = { 0 };
    assert_ok(wte_vocab_find(wte_model_vocab(m), "c", 1, &id, NULL, &err), err);
    assert_int_equal(id, 2);
    assert_int_equal(wte_vocab_source_of(wte_model_vocab(m)), WTE_VOCAB_TOKENS);
    wte_model_free(m);
    /* a config of another model beside it says nothing, and the folder leads to the file */
    write_text(dir, "config.json", "{\"model_type\":\"gemma\",\"hidden_size\":7}");
    m = open_model(dir);
    assert_string_equal(wte_model_config_of(m)->model_type, "llama");
    wte_model_free(m);
    write_text(dir, "n.gguf", "GGUF");
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "2 GGUF models: name one of 'm.gguf', 'n.gguf'");
    test_scratch_remove(dir);
}

/* The factor that a model of this architecture and this embedding_scale has. */
static void check_factor(const char *architecture, const float *scale, double factor,
                         const char *rule)
{
    const char *dir;
    char key[64];
    g_begin(&g, 1, scale ? 3 : 2);
    g_pair_text(&g, "general.architecture", architecture);
    snprintf(key, sizeof key, "%s.embedding_length", architecture);
    g_pair_u32(&g, key, 640);
    snprintf(key, sizeof key, "%s.embedding_scale", architecture);
    if (scale) {
        g_key(&g, key, WTE__GGUF_F32);
        g_float(&g, *scale);
    }
    g_tensor(&g, "token_embd.weight", 640, 1, 24, 0);
    g_data(&g, 640);
    wte_model *m = write_model(&dir);
    const wte_model_config *c = wte_model_config_of(m);
    if (c->factor != factor || strcmp(c->factor_rule, rule) != 0)
        fail_msg("%s: %.17g (%s)", architecture, c->factor, c->factor_rule);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void factors_are_llama_cpps(void **state)
{
    (void)state;
    const float twelve = 12.5f, none = 0, one = 1;
    /* sqrt(640) = 25.29822128134704 is 0x1.94c584p+4 as f32, not 25.25 as bf16 would be */
    check_factor("gemma3", NULL, 25.298221588134766, "gemma3: sqrt(embedding_length), in f32");
    check_factor("gemma", &twelve, 25.298221588134766, "gemma: sqrt(embedding_length), in f32");
    check_factor("granite", &twelve, 12.5, "granite: embedding_scale");
    check_factor("granite", &none, 1, "");
    check_factor("granite", &one, 1, "");
    check_factor("llama", NULL, 1, "");
    check_factor("minicpm", NULL, 12, "minicpm: what llama.cpp takes");
    check_factor("minicpm", &twelve, 12.5, "minicpm: embedding_scale");
    check_factor("minicpm3", &twelve, 12, "minicpm3: what llama.cpp takes");
    check_factor("grok", NULL, (double)78.38367176906169f, "grok: what llama.cpp takes");
}

/* What is done around the product in a file of this architecture that has these numbers, or none
 * (0). */
static void check_chain(const char *architecture, float logit_scale, float cap,
                        wte_logit_transform chain, const char *why)
{
    const char *dir;
    char key[64];
    g_begin(&g, 1, 2u + (logit_scale != 0) + (cap != 0));
    g_pair_text(&g, "general.architecture", architecture);
    snprintf(key, sizeof key, "%s.embedding_length", architecture);
    g_pair_u32(&g, key, 640);
    snprintf(key, sizeof key, "%s.logit_scale", architecture);
    if (logit_scale != 0) g_key(&g, key, WTE__GGUF_F32);
    if (logit_scale != 0) g_float(&g, logit_scale);
    snprintf(key, sizeof key, "%s.final_logit_softcapping", architecture);
    if (cap != 0) g_key(&g, key, WTE__GGUF_F32);
    if (cap != 0) g_float(&g, cap);
    g_tensor(&g, "token_embd.weight", 640, 1, 24, 0);
    g_data(&g, 640);
    wte_model *m = write_model(&dir);
    const wte_model_output *output = wte_model_output_of(m);
    if (memcmp(&output->chain, &chain, sizeof chain) != 0 || strcmp(output->why, why) != 0)
        fail_msg("%s: %s", architecture, output->why);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void chains_are_llama_cpps(void **state)
{
    (void)state;
    const wte_logit_transform none = { 0 };
    check_chain("llama", 0, 0, none, "");
    check_chain("gemma2", 0, 0, (wte_logit_transform){ .softcap = 30 },
                "gemma2: 30 * tanh(logits / 30)");
    check_chain("gemma2", 0, 20, (wte_logit_transform){ .softcap = 20 },
                "gemma2: 20 * tanh(logits / 20)");
    check_chain("command-r", 0.0625f, 0, (wte_logit_transform){ .scale = 0.0625f },
                "command-r: logits * 0.0625");
    check_chain("granite", 8, 0, (wte_logit_transform){ .divisor = 8 }, "granite: logits / 8");
    check_chain("granitemoe", 6, 0, (wte_logit_transform){ .divisor = 6 },
                "granitemoe: logits / 6");
    check_chain("minicpm", 9, 0, (wte_logit_transform){ .hidden_divisor = 9 },
                "minicpm: hidden / 9");
    check_chain("minicpm", 0, 0, (wte_logit_transform){ .hidden_divisor = 0.4f },
                "minicpm: hidden / 0.4");
    check_chain("minicpm3", 0, 0, (wte_logit_transform){ .hidden_divisor = 2.5f },
                "minicpm3: hidden / 2.5");
    check_chain("minicpm3", 9, 0, (wte_logit_transform){ .hidden_divisor = 2.5f },
                "minicpm3: hidden / 2.5");
    check_chain("grok", 0, 0, (wte_logit_transform){ .scale = 0.5773502691896257f },
                "grok: logits * 0.577350269");
    check_chain("grok", 0.5f, 50, (wte_logit_transform){ .scale = 0.5f, .softcap = 50 },
                "grok: logits * 0.5; grok: 50 * tanh(logits / 50)");
}

static wte_tie judge(const wte_model *m)
{
    wte_tie tie;
    wte_error err = { 0 };
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    return tie;
}

/* PAINS A6: exactly one table stored is a tie, whichever it is. */
static void one_table_serves_both_roles(void **state)
{
    (void)state;
    const char *dir;
    for (unsigned tables = INPUT; tables <= HEAD; tables++) {
        put_model("llama", tables, 0);
        wte_model *m = write_model(&dir);
        const wte_tie tie = judge(m);
        assert_int_equal(tie.verdict, WTE_TIE_SAME_STORAGE);
        assert_true(tie.tied && tie.flag_agrees);
        assert_non_null(strstr(tie.why, tables == INPUT ? "'token_embd.weight' is the only table"
                                                        : "'output.weight', serves both roles"));
        assert_true(tie.experiment_ran && tie.head_changed);
        /* element [3, 0] is 30, and another after one byte of its block has changed */
        assert_true(tie.before == 30 && tie.after != 30);
        assert_true(tie.head_before == tie.before && tie.head_after == tie.after);
        const wte_model_table *input;
        wte_error err = { 0 };
        assert_ok(wte_model_input(m, &input, &err), err);
        assert_int_equal(input->rows, 4);
        assert_int_equal(input->dim, 32);
        assert_int_equal(input->dtype, WTE_F32);
        assert_int_equal(input->block, WTE_BLOCK_Q8_0);
        assert_int_equal(input->row_bytes, 34);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void the_head_alone_needs_no_vocabulary(void **state)
{
    (void)state;
    const char *dir;
    g_begin(&g, 1, 0);
    g_tensor(&g, "output.weight", 8, 3, 0, 0);
    g_data(&g, 96);
    wte_model *m = write_model(&dir);
    assert_int_equal(judge(m).verdict, WTE_TIE_SAME_STORAGE);
    assert_true(wte_model_config_of(m)->tied);
    assert_string_equal(wte_model_config_of(m)->tie_rule,
                        "a GGUF file with output.weight alone is tied");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void two_tables_are_compared(void **state)
{
    (void)state;
    const char *dir;
    put_model("llama", INPUT | HEAD, 0);
    wte_model *m = write_model(&dir);
    wte_tie tie = judge(m);
    assert_int_equal(tie.verdict, WTE_TIE_EQUAL_BYTES);
    assert_int_equal(tie.wasted_bytes, 4 * 34);
    assert_true(tie.flag_agrees && tie.experiment_ran && !tie.head_changed);
    wte_model_free(m);
    test_scratch_remove(dir);

    put_model("llama", INPUT | HEAD, 5);
    m = write_model(&dir);
    tie = judge(m);
    assert_int_equal(tie.verdict, WTE_TIE_INDEPENDENT);
    assert_int_equal(tie.rows_different, 1);
    assert_int_equal(tie.first_different, 3);
    assert_true(tie.max_difference == 5 && tie.max_row == 3 && tie.flag_agrees);
    wte_model_free(m);
    test_scratch_remove(dir);

    /* the scale of the head's last row halved, its numbers doubled: other bytes, the same values */
    put_model("llama", INPUT | HEAD, 0);
    uint8_t *last = g.data + g.n - 34;
    last[1] = 0x38;
    for (int c = 0; c < 32; c++) last[2 + c] = (uint8_t)(2 * (30 + c));
    m = write_model(&dir);
    tie = judge(m);
    assert_int_equal(tie.verdict, WTE_TIE_EQUAL_VALUES);
    assert_false(tie.tied);
    assert_non_null(strstr(tie.why, "stored as q8_0 and as q8_0 in other bytes"));
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void encoders_have_no_head(void **state)
{
    (void)state;
    const char *dir;
    put_model("bert", INPUT, 0);
    wte_model *m = write_model(&dir);
    const wte_tie tie = judge(m);
    assert_int_equal(tie.verdict, WTE_TIE_HEADLESS);
    assert_non_null(strstr(tie.why, "the architecture is an encoder"));
    wte_model_free(m);
    test_scratch_remove(dir);
    /* a classifier is no head */
    g_begin(&g, 2, 1);
    g_pair_text(&g, "general.architecture", "bert");
    g_tensor(&g, "token_embd.weight", 8, 3, 0, 0);
    g_tensor(&g, "cls.output.weight", 8, 3, 0, 96);
    g_data(&g, 192);
    m = write_model(&dir);
    assert_null(wte_model_head(m));
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_trace_shows_the_blocks(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        const char *dir;
        wte_error err = { 0 };
        wte_trace *t;
        g.big = big != 0;
        put_model("llama", INPUT, 0);
        g.big = false;
        wte_model *m = write_model(&dir);
        assert_ok(wte_model_trace(m, 2, NULL, &t, &err), err);
        assert_int_equal(t->dtype, WTE_F32);
        assert_int_equal(t->block, WTE_BLOCK_Q8_0);
        assert_int_equal(t->n_bytes, 34);
        assert_int_equal(t->end - t->begin, 34);
        assert_int_equal(t->begin, g.n - 2 * 34);
        const uint8_t *bytes = t->bytes;
        assert_int_equal(bytes[0], 0);
        assert_int_equal(bytes[1], 0x3c);
        for (int c = 0; c < 32; c++) {
            assert_int_equal(bytes[2 + c], 20 + c);
            assert_true(t->f64[c] == 20 + c);
        }
        assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
        assert_non_null(
            strstr(t->same_bytes_why, "all 32 values equal those of the 1 q8_0 block "));
        assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
        wte_trace_free(t);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void a_broken_vocabulary_does_not_stop_the_model(void **state)
{
    (void)state;
    const char *dir;
    g_begin(&g, 1, 2);
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, 1);
    g_text(&g, "a");
    g_array(&g, "tokenizer.ggml.token_type", WTE__GGUF_U8, 1);
    g_raw(&g, "\1", 1);
    g_tensor(&g, "token_embd.weight", 8, 3, 0, 0);
    g_data(&g, 96);
    wte_model *m = write_model(&dir);
    assert_null(wte_model_vocab(m));
    assert_non_null(strstr(wte_model_vocab_problem(m), "token_type' is an array of u8"));
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void metadata_of_another_type_are_refused(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_model *m;
    const char *dir = test_scratch(), *path = in_folder(dir, "m.gguf");
    g_begin(&g, 1, 2);
    g_pair_text(&g, "general.architecture", "llama");
    g_key(&g, "llama.embedding_length", WTE__GGUF_STRING);
    g_mark(&g);
    g_text(&g, "640");
    g_tensor(&g, "token_embd.weight", 8, 3, 0, 0);
    g_data(&g, 96);
    test_write_file(path, g.data, g.n);
    assert_fails(wte_model_open(path, NULL, &m, &err), err, WTE_E_FORMAT, g.mark + 8,
                 "key 'llama.embedding_length' is string, but must be an integer");
    test_scratch_remove(dir);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    const char *dir = test_scratch(), *path = in_folder(dir, "m.gguf");
    wte_status status = WTE_E_MEMORY;
    size_t failed = 0;
    put_model("gemma3", INPUT | HEAD, 0);
    test_write_file(path, g.data, g.n);
    for (; status == WTE_E_MEMORY; failed++) {
        test_memory memory;
        wte_error err = { 0 };
        wte_model *m;
        wte_tie tie;
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_tie_options tie_opt = WTE_TIE_OPTIONS_INIT;
        test_memory_init(&memory, failed);
        opt.allocator = tie_opt.allocator = &memory.allocator;
        status = wte_model_open(path, &opt, &m, &err);
        if (status == WTE_OK) status = wte_model_tie(m, &tie_opt, &tie, &err);
        if (status != WTE_OK) assert_int_equal(err.status, WTE_E_MEMORY);
        wte_model_free(m);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failed > 20);
    test_scratch_remove(dir);
}

/* A table of 4 x 32 in a model of 32 tokens and width 4: dim x rows, and 32 of a row are one block.
 */
static void a_table_of_blocks_is_not_turned(void **state)
{
    (void)state;
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m;
    wte_error err = { 0 };
    g_begin(&g, 1, 3);
    g_pair_text(&g, "general.architecture", "llama");
    g_pair_u32(&g, "llama.embedding_length", 4);
    g_pair_u32(&g, "llama.vocab_size", 32);
    g_tensor(&g, "token_embd.weight", 32, 4, WTE_BLOCK_Q8_0, 0);
    g_pad(&g, 32);
    for (int i = 0; i < 4 * 34; i++) g_number(&g, 0, 1);
    const char *dir = test_scratch(), *path = in_folder(dir, "m.gguf");
    test_write_file(path, g.data, g.n);
    opt.tensor = "token_embd.weight";
    assert_fails(wte_model_open(path, &opt, &m, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "'token_embd.weight' is stored dim x rows, in blocks of q8_0 along the rows");
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("the metadata are the config, and no other file is", metadata_are_the_config),
    TEST("factors are those of llama.cpp", factors_are_llama_cpps),
    TEST("chains are those of llama.cpp", chains_are_llama_cpps),
    TEST("the one table that is stored serves both roles, whichever it is",
         one_table_serves_both_roles),
    TEST("the head alone serves both roles without a vocabulary too",
         the_head_alone_needs_no_vocabulary),
    TEST("two tables of blocks are compared by value, then by byte", two_tables_are_compared),
    TEST("encoders have no head, nor is their classifier one", encoders_have_no_head),
    TEST("a trace shows the blocks of the row", a_trace_shows_the_blocks),
    TEST("a broken vocabulary does not stop the model",
         a_broken_vocabulary_does_not_stop_the_model),
    TEST("metadata of another type are refused", metadata_of_another_type_are_refused),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
    TEST("a table of blocks is not turned", a_table_of_blocks_is_not_turned),
};
TEST_MAIN(tests)
