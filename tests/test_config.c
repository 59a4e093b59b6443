/* config.json: what it says about the table, and which rule decided. */
#include <math.h>

#include "base/alloc.h"
#include "model/model.h"
#include "test.h"

static wte__arena arena;

static wte_status parse(wte__config *c, const char *text, wte_error *err)
{
    return wte__config_parse(c, text, strlen(text), "config.json", &arena, err);
}

static wte__config parsed(const char *text)
{
    wte__config c;
    wte_error err;
    assert_ok(parse(&c, text, &err), err);
    return c;
}

static int start(void **state)
{
    (void)state;
    wte__arena_init(&arena, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    wte__arena_clear(&arena);
    return 0;
}

static void sizes_are_read_under_all_their_names(void **state)
{
    static const struct {
        const char *text;
        uint64_t vocab, hidden, embedding;
    } cases[] = {
        { "{\"vocab_size\": 7, \"hidden_size\": 3}", 7, 3, 0 },
        { "{\"vocab_size\": 50257, \"n_embd\": 768}", 50257, 768, 0 },
        { "{\"vocab_size\": 32128, \"d_model\": 512, \"d_kv\": 64}", 32128, 512, 0 },
        { "{\"n_words\": 30145, \"emb_dim\": 2048}", 30145, 2048, 0 },
        { "{\"vocab_size\": 9, \"n_embed\": 4}", 9, 4, 0 },
        { "{\"vocab_size\": 9, \"model_dim\": 4}", 9, 4, 0 },
        { "{\"hidden_dim\": 3072, \"dim\": 768, \"vocab_size\": 30522}", 30522, 768, 0 },
        { "{\"dim\": 768, \"hidden_dim\": 3072, \"vocab_size\": 30522}", 30522, 768, 0 },
        { "{\"hidden_dim\": 64}", 0, 64, 0 },
        { "{\"vocab_size\": 30000, \"hidden_size\": 4096, \"embedding_size\": 128}", 30000, 4096,
          128 },
        { "{\"vocab_size\": 50272, \"hidden_size\": 1024, \"word_embed_proj_dim\": 512}", 50272,
          1024, 512 },
        { "{\"vocab_size\": null, \"hidden_size\": [1, 2], \"n_embd\": {\"a\": 3}}", 0, 0, 0 },
        { "{\"vocab_size\": 5, \"vocab_size\": 6}", 6, 0, 0 },
        { "{\"vocab_size\": 1, \"text_config\": {\"vocab_size\": 2, \"hidden_size\": 3}}", 2, 3,
          0 },
        { "{\"vocab_size\": 1, \"text_config\": {\"hidden_size\": 3}}", 1, 3, 0 },
        { "{\"vision_config\": {\"hidden_size\": 1152}, \"hidden_size\": 8}", 0, 8, 0 },
        { "{\"thinker_config\": {\"vocab_size\": 1, \"text_config\": {\"vocab_size\": 5}}}", 5, 0,
          0 },
        { "{}", 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wte__config c = parsed(cases[i].text);
        assert_int_equal(c.said.vocab_size, cases[i].vocab);
        assert_int_equal(c.said.hidden_size, cases[i].hidden);
        assert_int_equal(c.said.embedding_size, cases[i].embedding);
    }
}

static void names_and_ids_are_read(void **state)
{
    (void)state;
    wte__config c =
        parsed("{\"model_type\": \"gemma3\", \"architectures\": [\"A\\u0042C\", \"D\"],"
               "\"pad_token_id\": 0, \"text_config\": {\"model_type\": \"gemma3_text\"}}");
    assert_string_equal(c.said.path, "config.json");
    assert_string_equal(c.said.model_type, "gemma3");
    assert_string_equal(c.said.text_model_type, "gemma3_text");
    assert_string_equal(c.said.architecture, "ABC");
    assert_int_equal(c.said.pad_token_id, 0);
    c = parsed("{\"architectures\": [], \"pad_token_id\": null, \"temperature\": NaN}");
    assert_string_equal(c.said.architecture, "");
    assert_int_equal(c.said.pad_token_id, -1);
    c = parsed("{\"architectures\": [[\"inner\"], \"B\"], \"pad_token_id\": 7}");
    assert_string_equal(c.said.architecture, "");
    assert_int_equal(c.said.pad_token_id, 7);
    c = parsed("{\"bos_token_id\": 1, \"eos_token_id\": [2, 9, 3], \"pad_token_id\": [5],"
               "\"text_config\": {\"bos_token_id\": []}}");
    assert_int_equal(c.said.bos_token_id, -1);
    assert_int_equal(c.said.eos_token_id, 9);
    assert_int_equal(c.said.pad_token_id, -1);
    c = parsed("{\"bos_token_id\": 1}");
    assert_int_equal(c.said.bos_token_id, 1);
    assert_int_equal(c.said.eos_token_id, -1);
    c = parsed("{\"architectures\": null}");
    assert_string_equal(c.said.architecture, "");
    wte__config_none(&c);
    assert_string_equal(c.said.path, "");
    assert_string_equal(c.said.tie_rule, "no config.json");
    assert_int_equal(c.said.pad_token_id, -1);
}

struct tie {
    const char *text;
    wte_flag top, nested;
    bool tied, conflict, decided;
    const char *at, *rule;
};

static void check_tie(const struct tie *t)
{
    wte__config c = parsed(t->text);
    assert_int_equal(c.said.tie_top, t->top);
    assert_int_equal(c.said.tie_nested, t->nested);
    assert_int_equal(c.said.tied, t->tied);
    assert_int_equal(c.said.tie_conflict, t->conflict);
    assert_int_equal(c.said.tie_decided, t->decided);
    assert_string_equal(c.said.tie_nested_at, t->at);
    if (!strstr(c.said.tie_rule, t->rule)) fail_msg("%s\nnot: %s", c.said.tie_rule, t->rule);
}

static void the_flag_is_resolved_nested_top_family(void **state)
{
    static const struct tie cases[] = {
        { "{\"model_type\": \"x\", \"text_config\": {\"tie_word_embeddings\": true}}",
          WTE_FLAG_ABSENT, WTE_FLAG_TRUE, true, false, true, "text_config",
          "text_config.tie_word_embeddings is true" },
        { "{\"model_type\": \"llama\", \"tie_word_embeddings\": true}", WTE_FLAG_TRUE,
          WTE_FLAG_ABSENT, true, false, true, "", "tie_word_embeddings is true" },
        { "{\"model_type\": \"gemma2\"}", WTE_FLAG_ABSENT, WTE_FLAG_ABSENT, true, false, true, "",
          "absent; the default of family 'gemma2' is true" },
        { "{\"model_type\": \"llama\"}", WTE_FLAG_ABSENT, WTE_FLAG_ABSENT, false, false, true, "",
          "absent; the default of family 'llama' is false" },
        { "{\"tie_word_embeddings\": false, \"llm_config\": {\"tie_word_embeddings\": true}}",
          WTE_FLAG_FALSE, WTE_FLAG_TRUE, true, true, true, "llm_config", "against the top level" },
        { "{\"language_config\": {\"tie_word_embeddings\": true},"
          " \"text_config\": {\"tie_word_embeddings\": false}}",
          WTE_FLAG_ABSENT, WTE_FLAG_FALSE, false, false, true, "text_config",
          "text_config.tie_word_embeddings is false" },
        { "{\"thinker_config\": {\"text_config\": {\"tie_word_embeddings\": false}}}",
          WTE_FLAG_ABSENT, WTE_FLAG_FALSE, false, false, true, "thinker_config.text_config",
          "thinker_config.text_config.tie_word_embeddings is false" },
        { "{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\"}}",
          WTE_FLAG_ABSENT, WTE_FLAG_ABSENT, false, false, true, "", "family 'llama' is false" },
        { "{\"model_type\": \"llava\"}", WTE_FLAG_ABSENT, WTE_FLAG_ABSENT, true, false, true, "",
          "family 'llava' is true (transformers 4.57; false in 5.16)" },
        { "{\"model_type\": \"mt5\"}", WTE_FLAG_ABSENT, WTE_FLAG_ABSENT, false, false, true, "",
          "family 'mt5' is false (transformers 4.57; true in 5.16)" },
        { "{\"model_type\": \"unheard_of\"}", WTE_FLAG_ABSENT, WTE_FLAG_ABSENT, true, false, false,
          "", "no default is known for 'unheard_of'" },
        { "{\"tie_word_embeddings\": null, \"model_type\": \"gpt2\"}", WTE_FLAG_ABSENT,
          WTE_FLAG_ABSENT, true, false, true, "", "family 'gpt2' is true" },
        { "{\"weight_tying\": false}", WTE_FLAG_FALSE, WTE_FLAG_ABSENT, false, false, true, "",
          "weight_tying is false" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_tie(&cases[i]);
}

static void a_class_says_whether_it_has_a_head(void **state)
{
    static const struct {
        const char *class;
        wte__head_class has_head;
    } cases[] = {
        { "GPT2LMHeadModel", WTE__HEAD_EXPECTED },
        { "LlamaForCausalLM", WTE__HEAD_EXPECTED },
        { "BertForMaskedLM", WTE__HEAD_EXPECTED },
        { "BertForPreTraining", WTE__HEAD_EXPECTED },
        { "T5ForConditionalGeneration", WTE__HEAD_EXPECTED },
        { "MarianMTModel", WTE__HEAD_EXPECTED },
        { "ChatGLMModel", WTE__HEAD_EXPECTED },
        { "VisionEncoderDecoderModel", WTE__HEAD_EXPECTED },
        { "XLMWithLMHeadModel", WTE__HEAD_EXPECTED },
        { "GPT2Model", WTE__HEAD_NONE },
        { "BertModel", WTE__HEAD_NONE },
        { "T5EncoderModel", WTE__HEAD_NONE },
        { "StaticModel", WTE__HEAD_NONE },
        { "BertForSequenceClassification", WTE__HEAD_NONE },
        { "RobertaForQuestionAnswering", WTE__HEAD_NONE },
        { "CLIPTextModelWithProjection", WTE__HEAD_NONE },
        { "Something", WTE__HEAD_UNKNOWN },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (wte__class_has_head(cases[i].class) != cases[i].has_head)
            fail_msg("%s", cases[i].class);
    assert_int_equal(parsed("{\"model_type\": \"bert\"}").head_class, WTE__HEAD_NONE);
    assert_int_equal(parsed("{\"model_type\": \"llama\"}").head_class, WTE__HEAD_EXPECTED);
    assert_int_equal(parsed("{\"model_type\": \"x\"}").head_class, WTE__HEAD_UNKNOWN);
    /* a stored flag that says tied is enough for a language model without a default of its own */
#define TIED "\"tie_word_embeddings\": true"
    assert_int_equal(parsed("{\"model_type\": \"minicpm\", " TIED "}").head_class,
                     WTE__HEAD_EXPECTED);
    assert_int_equal(parsed("{\"model_type\": \"RefinedWeb\", " TIED "}").head_class,
                     WTE__HEAD_EXPECTED);
    assert_int_equal(
        parsed("{\"model_type\": \"x\", \"text_config\": {\"model_type\": \"qwen3_5_text\", " TIED
               "}}")
            .head_class,
        WTE__HEAD_EXPECTED);
    assert_int_equal(
        parsed("{\"model_type\": \"x\", \"text_config\": {\"model_type\": \"ministral3\"}, " TIED
               "}")
            .head_class,
        WTE__HEAD_EXPECTED);
    assert_int_equal(
        parsed("{\"model_type\": \"kimi_vl\", \"text_config\": {\"model_type\": \"y\"}, " TIED "}")
            .head_class,
        WTE__HEAD_EXPECTED); /* the outer one is known */
    assert_int_equal(parsed("{\"model_type\": \"minicpm\"}").head_class, WTE__HEAD_UNKNOWN);
    assert_int_equal(parsed("{\"model_type\": \"x\", " TIED "}").head_class, WTE__HEAD_UNKNOWN);
    assert_int_equal(parsed("{\"model_type\": \"bert\", " TIED "}").head_class, WTE__HEAD_NONE);
    assert_int_equal(
        parsed("{\"model_type\": \"minicpm\", \"architectures\": [\"MiniCPMModel\"], " TIED "}")
            .head_class,
        WTE__HEAD_NONE);
#undef TIED
}

struct factor {
    const char *text;
    wte_dtype table;
    double factor, exact;
    const char *rule;
};

static void check_factor(const struct factor *f)
{
    wte__config c = parsed(f->text);
    wte_error err;
    assert_ok(wte__embed_scale_finish(&c, f->table, 64, &arena, &err), err);
    if (c.said.factor != f->factor)
        fail_msg("%s: %.17g, not %.17g", f->text, c.said.factor, f->factor);
    assert_true(fabs(c.said.factor_exact - f->exact) <= 1e-12 * fabs(f->exact));
    assert_string_equal(c.said.factor_rule, f->rule);
}

static void the_factor_is_the_familys(void **state)
{
    static const struct factor cases[] = {
        { "{\"model_type\": \"gemma\", \"hidden_size\": 3072}", WTE_BF16, 55.5, 55.42562584220407,
          "gemma: sqrt(hidden_size), rounded to bf16" },
        { "{\"model_type\": \"gemma\", \"hidden_size\": 3072}", WTE_F16, 55.4375, 55.42562584220407,
          "gemma: sqrt(hidden_size), rounded to f16" },
        { "{\"model_type\": \"gemma\", \"hidden_size\": 3072}", WTE_F32, 55.42562484741211,
          55.42562584220407, "gemma: sqrt(hidden_size), rounded to f32" },
        { "{\"model_type\": \"gemma2\", \"hidden_size\": 2304}", WTE_BF16, 48, 48,
          "gemma2: sqrt(hidden_size), rounded to bf16" },
        { "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\","
          " \"hidden_size\": 5376}}",
          WTE_BF16, 73.5, 73.32121111929344, "gemma3_text: sqrt(hidden_size), rounded to bf16" },
        { "{\"model_type\": \"recurrent_gemma\", \"hidden_size\": 2560}", WTE_F32, 50.5,
          50.596442562694074, "recurrent_gemma: sqrt(hidden_size), rounded to bf16" },
        { "{\"model_type\": \"gemma\"}", WTE_I8, 8, 8, "gemma: sqrt(hidden_size)" },
        { "{\"model_type\": \"granite\", \"embedding_multiplier\": 12}", WTE_BF16, 12, 12,
          "granite: embedding_multiplier" },
        { "{\"model_type\": \"granite\"}", WTE_BF16, 1, 1, "" },
        { "{\"model_type\": \"falcon_h1\", \"embedding_multiplier\": 5.656854249492381}", WTE_F32,
          5.656854249492381, 5.656854249492381, "falcon_h1: embedding_multiplier" },
        { "{\"model_type\": \"minicpm\", \"scale_emb\": 12}", WTE_F32, 12, 12,
          "minicpm: scale_emb" },
        { "{\"model_type\": \"minicpm3\"}", WTE_F32, 12, 12, "minicpm3: scale_emb" },
        { "{\"model_type\": \"bart\", \"d_model\": 16, \"scale_embedding\": true}", WTE_F32, 4, 4,
          "bart: sqrt(hidden_size), as scale_embedding is true" },
        { "{\"model_type\": \"bart\", \"d_model\": 16}", WTE_F32, 1, 1, "" },
        { "{\"model_type\": \"m2m_100\", \"d_model\": 1024}", WTE_F32, 32, 32,
          "m2m_100: sqrt(hidden_size), as scale_embedding is true" },
        { "{\"model_type\": \"m2m_100\", \"d_model\": 1024, \"scale_embedding\": false}", WTE_F32,
          1, 1, "" },
        { "{\"model_type\": \"whisper\", \"d_model\": 16, \"scale_embedding\": true}", WTE_F32, 1,
          1, "" },
        { "{\"model_type\": \"ctrl\", \"n_embd\": 1280}", WTE_F32, 35.77708763999664,
          35.77708763999664, "ctrl: sqrt(hidden_size)" },
        { "{\"model_type\": \"grok-1\"}", WTE_F32, 78.38367176906169, 78.38367176906169,
          "grok-1: embedding_multiplier_scale" },
        { "{\"model_type\": \"afmoe\", \"hidden_size\": 4, \"mup_enabled\": true}", WTE_F32, 2, 2,
          "afmoe: sqrt(hidden_size), as mup_enabled is true" },
        { "{\"model_type\": \"hrm_text\", \"initializer_range\": 0.125}", WTE_F32, 8, 8,
          "hrm_text: embedding_scale" },
        { "{\"model_type\": \"llama\", \"hidden_size\": 4096}", WTE_F32, 1, 1, "" },
        { "{\"model_type\": \"qwen2\", \"embedding_multiplier\": 3}", WTE_F32, 1, 1, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_factor(&cases[i]);
}

static void the_chain_around_the_head_is_the_familys(void **state)
{
    static const struct {
        const char *text;
        wte_logit_transform chain; /* hidden_times, hidden_over, times, over, cap */
        const char *why;
    } cases[] = {
        { "{\"model_type\": \"cohere\", \"logit_scale\": 0.8333333333333334}",
          { 0, 0, 0.8333333333333334F, 0, 0, 0 },
          "cohere: logits * 0.833333333" },
        { "{\"model_type\": \"cohere2\"}", { 0, 0, 0.0625F, 0, 0, 0 }, "cohere2: logits * 0.0625" },
        { "{\"model_type\": \"granite\", \"logits_scaling\": 10}",
          { 0, 0, 0, 10, 0, 0 },
          "granite: logits / 10" },
        { "{\"model_type\": \"granite\"}", { 0, 0, 0, 0, 0, 0 }, NULL },
        { "{\"model_type\": \"hyperclovax\", \"logits_scaling\": 0.125}",
          { 0, 0, 0.125F, 0, 0, 0 },
          "hyperclovax: logits * 0.125" },
        { "{\"model_type\": \"minicpm\", \"hidden_size\": 2304, \"dim_model_base\": 256}",
          { 0, 9, 0, 0, 0, 0 },
          "minicpm: hidden / 9" },
        { "{\"model_type\": \"t5\", \"d_model\": 1024}",
          { 0.03125F, 0, 0, 0, 0, 0 },
          "t5: hidden * 0.03125" },
        { "{\"model_type\": \"t5\", \"d_model\": 1024, \"tie_word_embeddings\": false}",
          { 0, 0, 0, 0, 0, 0 },
          NULL },
        { "{\"model_type\": \"t5\", \"d_model\": 1024, \"tie_word_embeddings\": true,"
          " \"scale_decoder_outputs\": false}",
          { 0, 0, 0, 0, 0, 0 },
          NULL },
        { "{\"model_type\": \"gemma2\"}", { 0, 0, 0, 0, 30, 0 }, "gemma2: 30 * tanh(logits / 30)" },
        { "{\"model_type\": \"gemma2\", \"final_logit_softcapping\": null}",
          { 0, 0, 0, 0, 0, 0 },
          NULL },
        { "{\"model_type\": \"minicpm3\", \"hidden_size\": 2560, \"dim_model_base\": null}",
          { 0, 0, 0, 0, 0, 0 },
          NULL },
        { "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\"}}",
          { 0, 0, 0, 0, 0, 0 },
          NULL },
        { "{\"model_type\": \"grok-2\", \"final_logit_softcapping\": 50}",
          { 0, 0, 0.5773502691896257F, 0, 50, 0 },
          "grok-2: logits * 0.577350269; grok-2: 50 * tanh(logits / 50)" },
        { "{\"model_type\": \"jais\", \"mup_output_alpha\": 2, \"mup_width_scale\": 0.25}",
          { 0, 0, 0.5F, 0, 0, 0 },
          "jais: logits * 0.5" },
        { "{\"model_type\": \"llama\", \"logit_scale\": 3}", { 0, 0, 0, 0, 0, 0 }, NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wte__config c = parsed(cases[i].text);
        if (memcmp(&c.chain.chain, &cases[i].chain, sizeof(wte_logit_transform)) != 0)
            fail_msg("%s: another chain", cases[i].text);
        if (cases[i].why)
            assert_string_equal(c.chain.why, cases[i].why);
        else
            assert_null(c.chain.why);
        assert_null(c.chain.unknown);
    }
    const char *norm = "{\"model_type\": \"baichuan\", \"vocab_size\": 125696}";
    assert_string_equal(parsed(norm).chain.unknown,
                        "the model divides each row of its head by the row's length");
    assert_null(parsed("{\"model_type\": \"baichuan\", \"vocab_size\": 64000}").chain.unknown);
    assert_non_null(parsed("{\"model_type\": \"bailing_moe\", \"norm_head\": true}").chain.unknown);
}

/* sqrt(hidden) rounded to bf16 and f16, as transformers' own classes gave them. */
static void roots_are_rounded_as_the_models_round_them(void **state)
{
    static const struct {
        unsigned hidden;
        double bf16, f16;
    } cases[] = {
        { 640, 25.25, 25.296875 }, { 768, 27.75, 27.71875 }, { 1152, 34, 33.9375 },
        { 1536, 39.25, 39.1875 },  { 2048, 45.25, 45.25 },   { 2304, 48, 48 },
        { 2560, 50.5, 50.59375 },  { 3072, 55.5, 55.4375 },  { 3584, 59.75, 59.875 },
        { 3840, 62, 61.96875 },    { 4608, 68, 67.875 },     { 5376, 73.5, 73.3125 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[96];
        wte_error err;
        snprintf(text, sizeof text, "{\"model_type\": \"gemma2\", \"hidden_size\": %u}",
                 cases[i].hidden);
        wte__config c = parsed(text);
        assert_ok(wte__embed_scale_finish(&c, WTE_BF16, 1, &arena, &err), err);
        assert_true(c.said.factor == cases[i].bf16);
        assert_ok(wte__embed_scale_finish(&c, WTE_F16, 1, &arena, &err), err);
        assert_true(c.said.factor == cases[i].f16);
    }
}

static void wrong_values_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text;
        uint64_t where;
        const char *part;
    } cases[] = {
        { "[1]", 0, "a config is an object" },
        { "{\"vocab_size\": -3}", 15, "a whole number, not negative, was expected" },
        { "{\"vocab_size\": 1.5}", 15, "a whole number, not negative, was expected" },
        { "{\"hidden_size\": \"768\"}", 16, "a whole number, not negative, was expected" },
        { "{\"pad_token_id\": \"x\"}", 17, "a whole number was expected" },
        { "{\"eos_token_id\": [2, null]}", 21, "a whole number was expected" },
        { "{\"eos_token_id\": [2, [3]]}", 21, "a whole number was expected" },
        { "{\"eos_token_id\": [2", 19, "" },
        { "{\"tie_word_embeddings\": \"false\"}", 24, "true or false was expected" },
        { "{\"tie_word_embeddings\": 0}", 24, "true or false was expected" },
        { "{\"scale_emb\": NaN}", 14, "a finite number was expected" },
        { "{\"scale_emb\": 1e999}", 14, "a finite number was expected" },
        { "{\"model_type\": 3}", 15, "a name was expected" },
        { "{\"architectures\": 3}", 18, "a list of names was expected" },
        { "{\"a\": 1,}", 8, "not valid JSON at line 1 column 9" },
        { "{\"text_config\": {\"vocab_size\": 1", 32, "not valid JSON" },
        { "{\"architectures\": [\"a\", }", 24, "not valid JSON" },
        { "{\"vocab_size\": [1, }", 19, "not valid JSON" },
        { "{\"vision_config\": {\"a\": }}", 24, "not valid JSON" },
        { "{\"decoder\": [1, }", 16, "not valid JSON" },
        { "{\"decoder\": ", 12, "not valid JSON" },
        { "{\"vocab_size\": ", 15, "not valid JSON" },
        { "", 0, "not valid JSON" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wte__config c;
        wte_error err;
        assert_fails(parse(&c, cases[i].text, &err), err, WTE_E_FORMAT, cases[i].where,
                     cases[i].part);
    }
}

static void out_of_memory_is_told_wherever_it_strikes(void **state)
{
    static const char text[] =
        "{\"model_type\": \"gemma3\", \"architectures\": [\"X\"],"
        " \"thinker_config\": {\"text_config\": {\"tie_word_embeddings\": true}}}";
    (void)state;
    size_t i = 0;
    wte_status status = WTE_E_MEMORY;
    for (; status != WTE_OK; i++) {
        test_memory memory;
        wte__config c;
        wte__arena starved;
        wte_error err;
        test_memory_init(&memory, i);
        wte__arena_init(&starved, &memory.allocator);
        status = wte__config_parse(&c, text, sizeof text - 1, "c", &starved, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        wte__arena_clear(&starved);
        assert_int_equal(memory.live, 0);
    }
    assert_true(i >= 2);
}

static const struct CMUnitTest tests[] = {
    TEST("sizes are read under all their names, the nested ones first",
         sizes_are_read_under_all_their_names),
    TEST("model type, class and padding id are read", names_and_ids_are_read),
    TEST("the tie flag is resolved: nested, top level, family default",
         the_flag_is_resolved_nested_top_family),
    TEST("a class says whether it has a head", a_class_says_whether_it_has_a_head),
    TEST("the factor after lookup is the family's", the_factor_is_the_familys),
    TEST("the chain around the head is the family's", the_chain_around_the_head_is_the_familys),
    TEST("sqrt(hidden) is rounded as the models round it",
         roots_are_rounded_as_the_models_round_them),
    TEST("values of a wrong kind are refused with their place",
         wrong_values_are_refused_with_their_place),
    TEST("running out of memory is told wherever it strikes",
         out_of_memory_is_told_wherever_it_strikes),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, start, stop);
}
