/* What check tells of the metadata of a GGUF file, and of tokens that look like special ones. */
#include "check_models.h"
#include "gguf_files.h"

static gguf_file g; /* tests run one after the other */

#define N_TOKENS 6u
static const char *const texts[N_TOKENS] = { "<unk>", "<s>", "</s>", "<|user|>", "a", "b" };

/* A model of N_TOKENS x 32 with `more` pairs, which the caller writes between the two. */
static void begin(const char *const *tokens, uint64_t more)
{
    g_begin(&g, 1, 3 + more);
    g_pair_text(&g, "general.architecture", "llama");
    g_pair_text(&g, "tokenizer.ggml.model", "llama");
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, N_TOKENS);
    for (size_t i = 0; i < N_TOKENS; i++) g_text(&g, tokens[i]);
}

static void numbers(const char *key, wte__gguf_type type, const int32_t *values, uint64_t n)
{
    g_array(&g, key, type, n);
    for (uint64_t i = 0; i < n; i++) g_u32(&g, (uint32_t)values[i]);
}

static const char *end(const char *dir)
{
    const char *path = in_folder(dir, "m.gguf");
    g_tensor(&g, "token_embd.weight", 32, N_TOKENS, 0, 0);
    g_pad(&g, 32);
    for (uint32_t i = 0; i < N_TOKENS * 32; i++) g_float(&g, (float)(i * i % 101) - 50.0f);
    test_write_file(path, g.data, g.n);
    return path;
}

/* Of several findings of a code the one on a subject. */
static const wte_finding *finding_on(const wte_check *c, const char *code, const char *subject)
{
    const wte_finding *f;
    for (uint64_t i = 0; (f = wte_check_finding(c, i)); i++)
        if (strcmp(f->code, code) == 0 && strcmp(f->subject, subject) == 0) return f;
    fail_msg("no %s on %s", code, subject);
    return NULL;
}

static uint64_t count_of(const wte_check *c, const char *prefix)
{
    const wte_finding *f;
    uint64_t n = 0;
    for (uint64_t i = 0; (f = wte_check_finding(c, i)); i++)
        n += strncmp(f->code, prefix, strlen(prefix)) == 0;
    return n;
}

static void nothing_is_told_of_a_sound_file(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    const int32_t types[N_TOKENS] = { 2, 3, 3, 4, 1, 0 };
    begin(texts, 5);
    numbers("tokenizer.ggml.token_type", WTE__GGUF_I32, types, N_TOKENS);
    g_pair_u32(&g, "tokenizer.ggml.bos_token_id", 1);
    g_pair_u32(&g, "tokenizer.ggml.eos_token_id", 5);
    g_pair_u32(&g, "tokenizer.ggml.padding_token_id", UINT32_MAX);
    g_key(&g, "tokenizer.ggml.add_bos_token", WTE__GGUF_BOOL);
    g_number(&g, 1, 1);
    wte_check *c = check_model(end(dir));
    assert_int_equal(count_of(c, "gguf-"), 0);
    assert_int_equal(count_of(c, "vocab-"), 0);
    assert_int_equal(count_of(c, "pad-"), 0);
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void special_ids_beyond_the_vocabulary(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    begin(texts, 5);
    g_pair_u32(&g, "tokenizer.ggml.eos_token_id", N_TOKENS);
    g_pair_u32(&g, "tokenizer.ggml.fim_pre_token_id", 128009);
    g_key(&g, "tokenizer.ggml.mask_token_id", WTE__GGUF_I32);
    g_u32(&g, (uint32_t)-7);
    g_key(&g, "tokenizer.ggml.cls_token_id", WTE__GGUF_I32);
    g_u32(&g, (uint32_t)-1);
    g_key(&g, "tokenizer.ggml.padding_token_id", WTE__GGUF_I32);
    g_u32(&g, (uint32_t)-1);
    wte_check *c = check_model(end(dir));
    assert_int_equal(count_of(c, "gguf-"), 3);
    const char *const code = "gguf-special-id";
    assert_string_equal(finding_on(c, code, "tokenizer.ggml.eos_token_id")->fact,
                        "the id is 6, but tokens have ids 0..5");
    assert_string_equal(finding_on(c, code, "tokenizer.ggml.fim_pre_token_id")->fact,
                        "the id is 128009, but tokens have ids 0..5");
    assert_string_equal(finding_on(c, code, "tokenizer.ggml.mask_token_id")->fact,
                        "the id is -7, but tokens have ids 0..5");
    assert_int_equal(finding_on(c, code, "tokenizer.ggml.eos_token_id")->level, WTE_CHECK_ERROR);
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void arrays_of_another_length(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    const int32_t values[N_TOKENS + 1] = { 1, 1, 1, 1, 1, 1, 1 };
    begin(texts, 2);
    numbers("tokenizer.ggml.scores", WTE__GGUF_F32, values, N_TOKENS - 1);
    numbers("tokenizer.ggml.token_type", WTE__GGUF_I32, values, N_TOKENS + 1);
    wte_check *c = check_model(end(dir));
    assert_int_equal(count_of(c, "gguf-"), 2);
    assert_string_equal(finding_on(c, "gguf-array-length", "tokenizer.ggml.scores")->fact,
                        "5 elements for 6 tokens");
    assert_string_equal(finding_on(c, "gguf-array-length", "tokenizer.ggml.token_type")->fact,
                        "7 elements for 6 tokens");
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void types_outside_of_their_enum(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    const int32_t types[N_TOKENS] = { 2, 3, 7, -1, 0, 1 };
    begin(texts, 1);
    numbers("tokenizer.ggml.token_type", WTE__GGUF_I32, types, N_TOKENS);
    wte_check *c = check_model(end(dir));
    const wte_finding *f = finding_on(c, "gguf-token-type", "tokenizer.ggml.token_type");
    assert_string_equal(f->fact, "2 of 6 tokens have a type that there is not, the first 7: types "
                                 "go from 1 to 6");
    assert_int_equal(f->n_ids, 2);
    assert_int_equal(f->ids[0], 2);
    assert_int_equal(f->ids[1], 3);
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void flag(const char *key, uint8_t value)
{
    g_key(&g, key, WTE__GGUF_BOOL);
    g_number(&g, value, 1);
}

static void flags_without_an_id(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    begin(texts, 5);
    flag("tokenizer.ggml.add_bos_token", 1);
    flag("tokenizer.ggml.add_eos_token", 1);
    flag("tokenizer.ggml.add_sep_token", 1);
    g_pair_u32(&g, "tokenizer.ggml.eos_token_id", UINT32_MAX);
    g_pair_u32(&g, "tokenizer.ggml.seperator_token_id", 2); /* as llama.cpp spells it */
    wte_check *c = check_model(end(dir));
    assert_int_equal(count_of(c, "gguf-"), 2);
    const char *const code = "gguf-add-without-id";
    assert_string_equal(finding_on(c, code, "tokenizer.ggml.add_bos_token")->fact,
                        "true, but tokenizer.ggml.bos_token_id is not there");
    assert_string_equal(finding_on(c, code, "tokenizer.ggml.add_eos_token")->fact,
                        "true, but tokenizer.ggml.eos_token_id says that there is no such token");
    assert_int_equal(finding_on(c, code, "tokenizer.ggml.add_bos_token")->level, WTE_CHECK_WARN);
    wte_check_free(c);
    begin(texts, 2);
    flag("tokenizer.ggml.add_bos_token", 0);
    flag("tokenizer.ggml.add_sep_token", 1);
    c = check_model(end(dir));
    assert_int_equal(count_of(c, "gguf-"), 1);
    assert_string_equal(finding_on(c, code, "tokenizer.ggml.add_sep_token")->fact,
                        "true, but tokenizer.ggml.separator_token_id is not there");
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void keys_that_come_twice(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    begin(texts, 5);
    const uint64_t at = g.n + 8 + 12 + 4 + 8;
    g_pair_text(&g, "general.name", "a");
    g_pair_text(&g, "general.name", "a");
    const uint64_t other = g.n + 8 + 23 + 4 + 8;
    g_pair_text(&g, "tokenizer.chat_template", "one");
    g_pair_text(&g, "tokenizer.chat_template", "one");
    g_pair_text(&g, "tokenizer.chat_template", "two");
    wte_check *c = check_model(end(dir));
    char fact[160];
    assert_int_equal(count_of(c, "gguf-"), 2);
    snprintf(fact, sizeof fact,
             "the key comes more than once, the first value at byte %" PRIu64
             ", each time with the same value",
             at);
    assert_string_equal(finding_on(c, "gguf-key-twice", "general.name")->fact, fact);
    snprintf(fact, sizeof fact,
             "the key comes more than once, the first value at byte %" PRIu64
             ", and later with another one",
             other);
    assert_string_equal(finding_on(c, "gguf-key-twice", "tokenizer.chat_template")->fact, fact);
    wte_check_free(c);
    test_scratch_remove(dir);
}

/* The value is needed: no model is opened by one of two, and check tells both. */
static void a_key_of_two_values_that_is_needed(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    wte_model *m = NULL;
    wte_check *c = NULL;
    wte_error err = { 0 };
    begin(texts, 2);
    const uint64_t at = g.n + 8 + 27 + 4;
    g_pair_u32(&g, "tokenizer.ggml.bos_token_id", 1);
    g_pair_u32(&g, "tokenizer.ggml.bos_token_id", 2);
    const char *path = end(dir);
    char part[160];
    snprintf(part, sizeof part,
             "key 'tokenizer.ggml.bos_token_id' comes twice with different values (bytes %" PRIu64
             " and %" PRIu64 ")",
             at, at + 4 + 8 + 27 + 4);
    assert_fails(wte_model_open(path, NULL, &m, &err), err, WTE_E_FORMAT, at, part);
    assert_ok(wte_check_unopened(path, NULL, NULL, &c, &err), err);
    assert_int_equal(wte_check_n_findings(c), 2);
    (void)finding_on(c, "gguf-key-twice", "tokenizer.ggml.bos_token_id");
    assert_true(strstr(finding_on(c, "model-unreadable", "m.gguf")->fact, part) != NULL);
    wte_check_free(c);

    begin(texts, 2); /* the places of all tensors depend on it */
    g_pair_u32(&g, "general.alignment", 32);
    g_mark(&g);
    g.mark += 8 + 17 + 4;
    g_pair_u32(&g, "general.alignment", 64);
    g_refused("an alignment", &g, WTE_E_FORMAT, "key 'general.alignment' comes twice, as 32 (byte");
    test_scratch_remove(dir);
}

static void tokens_that_look_alike(void **state)
{
    (void)state;
    static const struct {
        const char *twin;
        bool told;
    } cases[] = {
        { "<\xef\xbd\x9cuser\xef\xbd\x9c>", true }, /* full-width bars */
        { "\xef\xbc\x9c|user|\xef\xbc\x9e", true }, /* full-width < and > */
        { "<\xe2\x94\x82user\xe2\x94\x82>", true }, /* box drawing */
        { "<|us\xd0\xb5r|>", true },                /* a Cyrillic e */
        { "<|us\xe2\x80\x8b"
          "er|>",
          true }, /* a zero-width space */
        { "<|User|>", false },
        { "<|user|> ", false },
        { "\xef\xbd\x9cuser\xef\xbd\x9c", false },
        { "<|us\xff"
          "er|>",
          false },
    };
    const int32_t types[N_TOKENS] = { 2, 3, 3, 3, 1, 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dir = test_scratch();
        const char *own[N_TOKENS];
        memcpy(own, texts, sizeof own);
        own[4] = cases[i].twin;
        begin(own, 1);
        numbers("tokenizer.ggml.token_type", WTE__GGUF_I32, types, N_TOKENS);
        wte_check *c = check_model(end(dir));
        assert_int_equal(count_of(c, "vocab-confusable"), cases[i].told);
        if (cases[i].told) {
            const wte_finding *f = finding_on(c, "vocab-confusable", "m.gguf");
            assert_int_equal(f->level, WTE_CHECK_WARN);
            assert_int_equal(f->n_ids, 1);
            assert_int_equal(f->ids[0], 4);
            assert_true(strstr(f->fact, "1 token looks like a special one and is not: 3 "
                                        "'<|user|>' and 4 '") == f->fact);
        }
        wte_check_free(c);
        test_scratch_remove(dir);
    }
}

/* Where a converter calls every token normal, the form <|...|> tells. A special one is the mark,
 * wherever it stands. */
static void twins_whose_kinds_are_not_told(void **state)
{
    (void)state;
    static const struct {
        const char *three, *four, *fact; /* fact NULL: none */
        int32_t kind_of_four;
    } cases[] = {
        { "<|user|>", "<\xef\xbd\x9cuser\xef\xbd\x9c>",
          "like a special one and is not: 3 '<|user|>' and 4 '<\xef\xbd\x9cuser", 1 },
        { "<|user|>", "<\xef\xbd\x9cuser\xef\xbd\x9c>",
          "like a special one and is not: 4 '<\xef\xbd\x9cuser\xef\xbd\x9c>' and 3 '<|user|>'", 3 },
        { "<|user|>", "<|us\xd0\xb5r|>", "3 '<|user|>' and 4 '<|us\xd0\xb5r|>'", 1 },
        { "<|user|>", "<|system|>", NULL, 1 },
        { "<user>", "<us\xd0\xb5r>", NULL, 1 },
        { "<||>", "<\xef\xbd\x9c|>", NULL, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t types[N_TOKENS] = { 2, 3, 3, 1, cases[i].kind_of_four, 1 };
        const char *dir = test_scratch();
        const char *own[N_TOKENS];
        memcpy(own, texts, sizeof own);
        own[3] = cases[i].three;
        own[4] = cases[i].four;
        begin(own, 1);
        numbers("tokenizer.ggml.token_type", WTE__GGUF_I32, types, N_TOKENS);
        wte_check *c = check_model(end(dir));
        assert_int_equal(count_of(c, "vocab-confusable"), cases[i].fact != NULL);
        if (cases[i].fact)
            assert_non_null(
                strstr(finding_on(c, "vocab-confusable", "m.gguf")->fact, cases[i].fact));
        wte_check_free(c);
        test_scratch_remove(dir);
    }
}

/* In a tokenizer of another format as well; ordinary tokens among themselves are free. */
static void twins_of_any_tokenizer(void **state)
{
    (void)state;
    float *t = trained_table(8, DIM, 5);
    const stored table = table_of("model.embed_tokens.weight", 8, DIM, t);
    const char *dir = make_model("{\"model_type\":\"llama\",\"vocab_size\":8}", &table, 1);
    write_tokenizer(dir, 4,
                    SPECIAL(4, "[INST]") "," SPECIAL(5, "[\\uff29NST]") "," SPECIAL(6, "[EOT]"));
    wte_check *c = check_model(dir);
    assert_string_equal(finding_on(c, "vocab-confusable", "tokenizer.json")->fact,
                        "1 token looks like a special one and is not: 4 '[INST]' and 5 "
                        "'[\xef\xbc\xa9NST]'");
    wte_check_free(c);
    free(t);
    test_scratch_remove(dir);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    const char *own[N_TOKENS];
    const int32_t types[N_TOKENS] = { 2, 3, 3, 3, 1, 1 };
    memcpy(own, texts, sizeof own);
    own[4] = "<\xef\xbd\x9cuser\xef\xbd\x9c>";
    begin(own, 5);
    numbers("tokenizer.ggml.token_type", WTE__GGUF_I32, types, N_TOKENS);
    g_pair_u32(&g, "tokenizer.ggml.eos_token_id", N_TOKENS);
    flag("tokenizer.ggml.add_bos_token", 1);
    g_pair_text(&g, "general.name", "a");
    g_pair_text(&g, "general.name", "b");
    wte_model *m = open_model(end(dir));
    for (uint64_t n = 0;; n++) {
        test_memory memory;
        wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
        wte_check *c = NULL;
        wte_error err = { 0 };
        test_memory_init(&memory, n);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_model_check(m, &opt, &c, &err);
        if (status == WTE_OK) {
            assert_int_equal(count_of(c, "gguf-"), 3);
            assert_int_equal(count_of(c, "vocab-confusable"), 1);
        } else {
            assert_int_equal(status, WTE_E_MEMORY);
        }
        wte_check_free(c);
        assert_int_equal(memory.live, 0);
        if (status == WTE_OK) break;
    }
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("nothing is told of a sound file", nothing_is_told_of_a_sound_file),
    TEST("special ids beyond the vocabulary are told", special_ids_beyond_the_vocabulary),
    TEST("scores and types are as many as the tokens", arrays_of_another_length),
    TEST("types outside of their enum are told", types_outside_of_their_enum),
    TEST("a flag that adds a token needs its id", flags_without_an_id),
    TEST("keys that come twice are told", keys_that_come_twice),
    TEST("a key of two values that is needed is refused", a_key_of_two_values_that_is_needed),
    TEST("tokens that look like special ones are told", tokens_that_look_alike),
    TEST("twins are looked for where kinds are not told", twins_whose_kinds_are_not_told),
    TEST("twins are looked for in any tokenizer", twins_of_any_tokenizer),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
};
TEST_MAIN(tests)
