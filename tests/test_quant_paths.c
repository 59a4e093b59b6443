/* Quantised tables whose settings stand under another name, a pattern or a class; and those whose
 * settings reach no tensor. */
#include <string.h>

#include "model/pattern.h"
#include "quant_help.h"

static void patterns_match_as_python_does(void **state)
{
    static const struct {
        const char *pattern, *text;
        wte__pattern want;
    } cases[] = {
        { "lm_head", "lm_head", WTE__PATTERN_YES },
        { "lm_head", "lm_head.x", WTE__PATTERN_YES }, /* re.match looks at the beginning */
        { "lm_head$", "lm_head.x", WTE__PATTERN_NO },
        { "lm_head", "model.lm_head", WTE__PATTERN_NO },
        { ".*lm_head", "model.lm_head", WTE__PATTERN_YES },
        { ".*?lm_head", "model.lm_head", WTE__PATTERN_YES },
        { "^.*\\.embed_tokens$", "model.embed_tokens", WTE__PATTERN_YES },
        { "^.*\\.embed_tokens$", "model_embed_tokens", WTE__PATTERN_NO },
        { "a.c", "abc", WTE__PATTERN_YES },
        { "a.c", "ac", WTE__PATTERN_NO },
        { "ab+c", "abbbc", WTE__PATTERN_YES },
        { "ab+c", "ac", WTE__PATTERN_NO },
        { "ab?c", "ac", WTE__PATTERN_YES },
        { "x[0-9]y", "x7y", WTE__PATTERN_YES },
        { "x[^0-9]y", "x7y", WTE__PATTERN_NO },
        { "x[^ab\\.]y", "xcy", WTE__PATTERN_YES },
        { "\\d\\w$", "1_", WTE__PATTERN_YES },
        { "\\d\\w$", "x_", WTE__PATTERN_NO },
        { "", "anything", WTE__PATTERN_YES },
        { "$", "", WTE__PATTERN_YES },
        { "$", "x", WTE__PATTERN_NO },
        { "(a|b)", "a", WTE__PATTERN_UNKNOWN },
        { "a{2}", "aa", WTE__PATTERN_UNKNOWN },
        { "[ab", "a", WTE__PATTERN_UNKNOWN },
        { "[]", "a", WTE__PATTERN_UNKNOWN },
        { "a**", "a", WTE__PATTERN_UNKNOWN },
        { "a*+", "a", WTE__PATTERN_UNKNOWN },
        { "*", "a", WTE__PATTERN_UNKNOWN },
        { "\\s", "a", WTE__PATTERN_UNKNOWN },
        { "\\", "a", WTE__PATTERN_UNKNOWN },
        { "a$b", "a", WTE__PATTERN_UNKNOWN },
    };
    char most[80];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wte__pattern got =
            wte__pattern_match(cases[i].pattern, cases[i].text, strlen(cases[i].text));
        if (got != cases[i].want) fail_msg("%s on %s: %d", cases[i].pattern, cases[i].text, got);
    }
    memset(most, 'a', sizeof most);
    most[63] = '\0';
    assert_int_equal(wte__pattern_match(most, most, 63), WTE__PATTERN_YES);
    most[63] = 'a';
    most[64] = '\0';
    assert_int_equal(wte__pattern_match(most, most, 64), WTE__PATTERN_UNKNOWN);
}

/* MLX of 8 bits in groups of 32 whose shapes fit 4 bits in groups of 64 as well: 2 x 64. */
static quantised mlx_of(const char *stem, const char *config)
{
    static uint32_t words[2 * 16];
    static uint16_t scales[2 * 2], biases[2 * 2];
    static char names[3][80];
    static const char *const ends[3] = { ".weight", ".scales", ".biases" };
    quantised q = { { { 0 } }, 0, config };
    for (size_t i = 0; i < 3; i++) snprintf(names[i], sizeof names[i], "%s%s", stem, ends[i]);
    for (uint32_t i = 0; i < 32; i++) words[i] = 0x03020100u + i * 0x04040404u;
    for (size_t i = 0; i < 4; i++) scales[i] = 0x3800; /* 0.5 */
    q_put(&q, names[0], "U32", 2, 16, words);
    q_put(&q, names[1], "F16", 2, 2, scales);
    q_put(&q, names[2], "F16", 2, 2, biases);
    return q;
}

#define MLX(entries)                                                                                      \
    "{\"model_type\":\"llama\",\"hidden_size\":64,\"quantization\":{\"group_size\":64,\"bits\":4" entries \
    "}}"
#define EIGHT "{\"group_size\":32,\"bits\":8}"

static void settings_reach_the_table_under_other_names(void **state)
{
    static const struct {
        const char *stem, *config;
    } cases[] = {
        { "model.embed_tokens", MLX(",\"model.embed_tokens\":" EIGHT) },
        { "language_model.model.embed_tokens", MLX(",\"model.embed_tokens\":" EIGHT) },
        { "model.embed_tokens", MLX(",\"language_model.model.embed_tokens\":" EIGHT) },
        { "model.embed_tokens", MLX(",\"embed_tokens\":" EIGHT) },
        { "model.embed_tokens", MLX(",\"model.embed_tokens.weight\":" EIGHT) },
        { "model.embed_tokens", MLX(",\"model\":{\"embed_tokens\":" EIGHT "}") },
        { "model.embed_tokens", MLX(",\"extra_config\":{\"model.embed_tokens\":" EIGHT "}") },
        { "lm_head", MLX(",\"overrides\":{\"language_model\":{\"lm_head\":" EIGHT "}}") },
        { "transformer.wte", MLX(",\"model.transformer.wte\":" EIGHT) },
        { "lm_head", MLX(",\"language_model.lm_head\":" EIGHT) },
        /* the exact path is surer than the same module under another prefix */
        { "model.embed_tokens",
          MLX(",\"embed_tokens\":{\"bits\":4},\"model.embed_tokens\":" EIGHT) },
        { "model.embed_tokens",
          MLX(",\"model.embed_tokens\":" EIGHT ",\"embed_tokens\":{\"bits\":4}") },
        /* of two objects the one that has entries lends them */
        { "model.embed_tokens",
          "{\"hidden_size\":64,\"quantization\":{\"bits\":4,\"model.embed_tokens\":" EIGHT
          "},\"quantization_config\":{\"bits\":4,\"group_size\":64}}" },
        { "language_model.model.embed_tokens",
          "{\"text_config\":{\"hidden_size\":64,\"quantization\":{\"bits\":4,"
          "\"group_size\":64,\"model.embed_tokens\":" EIGHT "}}}" },
        /* nothing is said but the width */
        { "model.embed_tokens", "{\"model_type\":\"llama\",\"hidden_size\":64}" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quantised q = mlx_of(cases[i].stem, cases[i].config);
        wte_model *m = q_open(&q);
        const wte_model_table *t = q_input(m);
        float row[64];
        wte_error err;
        if (strcmp(t->scheme, "mlx affine 8 bits, groups of 32") != 0)
            fail_msg("%s: %s", cases[i].config, t->scheme);
        assert_int_equal(t->dim, 64);
        assert_ok(wte_row_source_read(&t->source, 1, row, &err), err);
        for (unsigned c = 0; c < 64; c++) assert_true(row[c] == (float)(64 + c) / 2);
        wte_model_free(m);
    }
}

static void settings_that_reach_nothing_are_told(void **state)
{
    static const struct {
        const char *config, *part;
        wte_status status;
    } cases[] = {
        { MLX(""),
          "'model.embed_tokens.weight' would have rows of 128 numbers, but hidden_size is 64 (4 "
          "bits, groups of 64)",
          WTE_E_FORMAT },
        { MLX(",\"model.wte\":" EIGHT),
          "(4 bits, groups of 64); 'model.wte' of the config (8 bits, groups of 32) is the name of "
          "no tensor",
          WTE_E_FORMAT },
        /* the likelier one of two */
        { MLX(",\"talker.embed_tokens\":" EIGHT ",\"model.wte\":{\"bits\":6}"),
          "'talker.embed_tokens' of the config (8 bits, groups of 32)", WTE_E_FORMAT },
        { "{\"hidden_size\":64,\"quantization\":{\"group_size\":64,\"bits\":8,"
          "\"model.wte\":" EIGHT "}}",
          "'model.embed_tokens.scales' has 2 columns, but by 'model.embed_tokens.weight' it must "
          "be 1 (8 bits, groups of 64); 'model.wte' of the config",
          WTE_E_FORMAT },
        { MLX(",\"embed_tokens\":{\"bits\":4},\"language_model.embed_tokens\":" EIGHT),
          "the config's entries 'embed_tokens' and 'language_model.embed_tokens' can both be its "
          "own",
          WTE_E_UNSUPPORTED },
        /* no width is known, and another setting fits as well */
        { "{\"quantization\":{\"group_size\":64,\"bits\":4,\"model.wte\":" EIGHT "}}",
          "4 bits in groups of 64, or those of 'model.wte', which is the name of no tensor, 8 bits "
          "in groups of 32",
          WTE_E_UNSUPPORTED },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quantised q = mlx_of("model.embed_tokens", cases[i].config);
        q_refused(&q, cases[i].status, cases[i].part);
    }
    /* an entry that says the same makes no doubt, nor does one of a tensor that is there */
    quantised q = mlx_of("model.embed_tokens",
                         "{\"quantization\":{\"group_size\":64,\"bits\":4,\"model.wte\":{\"bits\":"
                         "4,\"group_size\":64}}}");
    wte_model *m = q_open(&q);
    assert_int_equal(q_input(m)->dim, 128);
    wte_model_free(m);
}

#define DYNAMIC(entries)                                                                           \
    "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":4,"             \
    "\"dynamic\":{" entries "}}}"

static void dynamic_patterns_of_gptq_count(void **state)
{
    (void)state;
    quantised q = q_gptq();
    q.n = 3; /* without g_idx the size of groups counts */
    q.config = DYNAMIC("\"+:.*lm_head.*\":{\"group_size\":8},\"+:.*\":{\"group_size\":2}");
    wte_model *m = q_open(&q);
    assert_string_equal(q_input(m)->scheme, "gptq 4 bits, one scale a row");
    wte_model_free(m);
    q.config = DYNAMIC("\"-:.*\":{\"group_size\":8}");
    q_refused(&q, WTE_E_FORMAT,
              "'lm_head.scales' has 1 groups, but by 'lm_head.qweight' it must be 2 (4 bits, "
              "groups of 4)");
    q.config = DYNAMIC("\"+:model.*\":{\"group_size\":8}");
    q_refused(&q, WTE_E_FORMAT, "it must be 2 (4 bits, groups of 4)");
}

/* 2 x 4: one word a row, of four bits or of eight. */
static quantised packed(const char *config)
{
    static const uint32_t words[2] = { 0x00009876, 0x0000ba98 };
    static const int64_t shape[2] = { 2, 4 };
    static const float scales[2] = { 1, 2 };
    quantised q = { { { 0 } }, 0, config };
    q_put(&q, "model.embed_tokens.weight_packed", "I32", 2, 1, words);
    q_put(&q, "model.embed_tokens.weight_shape", "I64", 2, 0, shape);
    q_put(&q, "model.embed_tokens.weight_scale", "F32", 2, 1, scales);
    q.t[1].element = 8;
    return q;
}

#define GROUPS(one, other)                                                                         \
    "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"config_groups\":{"        \
    "\"group_0\":{" one "},\"group_1\":{" other "}}}}"
#define BITS(n) "\"weights\":{\"num_bits\":" #n ",\"type\":\"int\"}"

static void targets_of_compressed_tensors_count(void **state)
{
    static const char *const configs[] = {
        GROUPS("\"targets\":[\"Linear\"]," BITS(8), "\"targets\":[\"Embedding\"]," BITS(4)),
        GROUPS("\"targets\":[\"Linear\"]," BITS(8), BITS(4) ",\"targets\":[\"re:.*embed_tokens\"]"),
        GROUPS("\"targets\":[\"Embedding\"]," BITS(8),
               "\"targets\":[\"Linear\",\"model.embed_tokens\"]," BITS(4)),
        GROUPS("\"targets\":[\"re:.*embed.*\"]," BITS(8),
               "\"targets\":[\"language_model.model.embed_tokens\"]," BITS(4)),
    };
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        quantised q = packed(configs[i]);
        wte_model *m = q_open(&q);
        const wte_model_table *t = q_input(m);
        float row[4];
        wte_error err;
        assert_string_equal(t->scheme, "compressed-tensors 4 bits, one scale a row");
        assert_ok(wte_row_source_read(&t->source, 1, row, &err), err);
        assert_true(row[0] == 0 && row[1] == 2 && row[2] == 4 && row[3] == 6);
        wte_model_free(m);
    }
    quantised q = packed(GROUPS("\"targets\":[\"Linear\"]," BITS(8), BITS(4)));
    q_refused(&q, WTE_E_UNSUPPORTED, "num_bits");
    q = packed(GROUPS("\"targets\":[1, \"Embedding\"]," BITS(8), "\"targets\":7," BITS(4)));
    q_refused(&q, WTE_E_UNSUPPORTED, "num_bits");
}

static const struct CMUnitTest tests[] = {
    TEST("patterns match as Python's re.match does", patterns_match_as_python_does),
    TEST("settings reach the table under other names", settings_reach_the_table_under_other_names),
    TEST("settings that reach nothing are told", settings_that_reach_nothing_are_told),
    TEST("dynamic patterns of GPTQ count", dynamic_patterns_of_gptq_count),
    TEST("targets of compressed-tensors count", targets_of_compressed_tensors_count),
};
TEST_MAIN(tests)
