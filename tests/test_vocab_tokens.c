/* The vocabulary made of the list of tokens that a file of tensors carries. */
#include "test.h"

#include <wte/vocab.h>

#include "base/limits.h"
#include "base/tokens.h"

static wte__bytes bytes_of(const char *text)
{
    wte__bytes b = { (const uint8_t *)text, strlen(text) };
    return b;
}

static wte_token_list list_of(const char *const *texts, size_t n)
{
    wte_token_list t;
    wte_error err = { 0 };
    wte__token_list_init(&t, NULL);
    for (size_t i = 0; i < n; i++)
        assert_ok(wte__token_list_add(&t, bytes_of(texts[i]), WTE_TAG_NORMAL, &err), err);
    return t;
}

static wte_vocab *vocab_of(const wte_token_list *t)
{
    wte_error err = { 0 };
    wte_vocab *v = NULL;
    assert_ok(wte_vocab_from_tokens(t, "dir/t.gguf", NULL, &v, &err), err);
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_TOKENS);
    assert_string_equal(wte_vocab_path(v), "dir/t.gguf");
    return v;
}

static uint64_t id_of(const wte_vocab *v, const char *text, uint64_t *other)
{
    wte_error err = { 0 };
    uint64_t id = WTE_NO_INDEX;
    assert_ok(wte_vocab_find(v, text, strlen(text), &id, other, &err), err);
    return id;
}

static void a_caller_may_look_at_the_list(void **state)
{
    (void)state;
    static const char *const texts[] = { "a b", "", "\xff\x80", ". . .", "42" };
    wte_token_list t = list_of(texts, 5);
    uint64_t n = 99;
    float score = 7;
    assert_int_equal(wte_token_list_count(&t), 5);
    for (uint64_t i = 0; i < 5; i++) {
        const char *text = wte_token_list_text(&t, i, &n);
        assert_non_null(text);
        assert_int_equal(n, strlen(texts[i]));
        assert_memory_equal(text, texts[i], n);
    }
    assert_null(wte_token_list_text(&t, 5, &n));
    assert_int_equal(n, 0);
    t.score[1] = -2.5f;
    assert_false(wte_token_list_score(&t, 1, &score));
    assert_true(score == 0);
    t.scored = true;
    assert_true(wte_token_list_score(&t, 1, &score));
    assert_true(score == -2.5f);
    assert_false(wte_token_list_score(&t, 5, &score));
    wte__token_list_clear(&t);
}

static void the_first_or_the_last_of_equal_texts_is_found(void **state)
{
    (void)state;
    static const char *const texts[] = { "x", "y", "x", "x" };
    uint64_t other;
    wte_token_list t = list_of(texts, 4);
    wte_vocab *v = vocab_of(&t);
    assert_int_equal(id_of(v, "x", &other), 3);
    assert_int_equal(other, 2);
    wte_vocab_free(v);
    t.first_wins = true;
    v = vocab_of(&t);
    assert_int_equal(id_of(v, "x", &other), 0);
    assert_int_equal(other, 2);
    assert_int_equal(id_of(v, "y", &other), 1);
    assert_int_equal(other, 0);
    assert_int_equal(wte_vocab_count(v), 4);
    assert_int_equal(wte_vocab_n_holes(v), 0);
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

static void kinds_become_those_of_a_vocabulary(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "<unk>", "<s>", "a", "[INST]", "<0x0A>", "<unused0>", "q"
    };
    static const uint8_t kinds[] = { WTE_TAG_UNKNOWN,
                                     WTE_TAG_CONTROL,
                                     WTE_TAG_NORMAL,
                                     WTE_TAG_USER,
                                     WTE_TAG_BYTE,
                                     WTE_TAG_UNUSED,
                                     99 };
    static const wte_token_kind want[] = { WTE_TOKEN_SPECIAL, WTE_TOKEN_SPECIAL, WTE_TOKEN_NORMAL,
                                           WTE_TOKEN_ADDED,   WTE_TOKEN_BYTE,    WTE_TOKEN_UNUSED,
                                           WTE_TOKEN_NORMAL };
    wte_token_list t = list_of(texts, 7);
    memcpy(t.tag, kinds, 7);
    wte_vocab *v = vocab_of(&t);
    for (uint64_t i = 0; i < 7; i++) assert_int_equal(wte_vocab_kind(v, i), want[i]);
    assert_int_equal(id_of(v, "\n", NULL), 4);
    assert_int_equal(id_of(v, "<unk>", NULL), 0);
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

static void an_unused_token_keeps_its_kind_and_is_spelled_like_a_normal_one(void **state)
{
    (void)state;
    static const char *const texts[] = { "\xc4\xa0the", "\xc4\xa0of", "<0x41>" };
    wte_token_list t = list_of(texts, 3);
    t.form = WTE_FORM_BYTE_LEVEL;
    memset(t.tag, WTE_TAG_UNUSED, 2);
    wte_vocab *v = vocab_of(&t);
    char text[8];
    assert_int_equal(wte_vocab_kind(v, 0), WTE_TOKEN_UNUSED);
    assert_int_equal(wte_vocab_kind(v, 1), WTE_TOKEN_UNUSED);
    assert_int_equal(wte_vocab_text(v, 1, text, sizeof text), 3);
    assert_memory_equal(text, " of", 3);
    assert_int_equal(id_of(v, " the", NULL), 0);
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

static void texts_that_are_no_utf8_are_counted_and_kept(void **state)
{
    (void)state;
    static const char *const texts[] = { "caf\xe9", "caf\xc3\xa9", "\xed\xa0\x80",
                                         "",        "x",           "\xf0\x9f\x98" };
    wte_token_list t = list_of(texts, 6);
    wte_vocab *v = vocab_of(&t);
    assert_int_equal(wte_vocab_n_invalid_utf8(v), 3);
    for (uint64_t i = 0; i < 6; i++) {
        uint64_t n = 99;
        const char *text = wte_vocab_raw_text(v, i, &n);
        assert_int_equal(n, strlen(texts[i]));
        assert_memory_equal(text, texts[i], n);
        assert_int_equal(id_of(v, texts[i], NULL), i);
    }
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

static void tokens_that_their_text_does_not_find_are_counted(void **state)
{
    (void)state;
    static const char *const texts[] = { "x", "y", "x", "x", "", "" };
    wte_token_list t = list_of(texts, 6);
    for (int first = 0; first < 2; first++) {
        t.first_wins = first;
        wte_vocab *v = vocab_of(&t);
        assert_int_equal(wte_vocab_n_duplicates(v), 3);
        for (uint64_t i = 0; i < 6; i++)
            assert_int_equal(wte_vocab_is_duplicate(v, i), id_of(v, texts[i], NULL) != i);
        assert_false(wte_vocab_is_duplicate(v, 6));
        wte_vocab_free(v);
    }
    wte__token_list_clear(&t);
}

/* Of equal texts, those that the text stands for in the same way count. */
static void ids_of_one_text_are_counted_by_how_they_are_written(void **state)
{
    (void)state;
    static const char *const texts[] = { "\xc4\xa0the", "\xc4\xa0the", "\xc4\xa0the", "b", "b" };
    wte_token_list t = list_of(texts, 5);
    uint64_t other = 99;
    t.form = WTE_FORM_BYTE_LEVEL;
    t.tag[1] = WTE_TAG_CONTROL; /* kept out of the byte alphabet */
    wte_vocab *v = vocab_of(&t);
    assert_int_equal(id_of(v, " the", &other), 2);
    assert_int_equal(other, 1); /* 0 */
    assert_int_equal(id_of(v, "\xc4\xa0the", &other), 2);
    assert_int_equal(other, 2); /* 0 and 1 */
    assert_int_equal(id_of(v, "b", &other), 4);
    assert_int_equal(other, 1);
    wte_vocab_free(v);
    /* where only a further id is written so */
    t.tag[1] = WTE_TAG_NORMAL;
    t.tag[0] = t.tag[2] = WTE_TAG_CONTROL;
    v = vocab_of(&t);
    assert_int_equal(id_of(v, " the", &other), 1);
    assert_int_equal(other, 0);
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

/* A search that passes over all duplicates would take minutes here. */
static void looking_for_each_of_many_equal_texts_is_no_pass_over_them(void **state)
{
    (void)state;
    enum { MANY = 300000, TEXTS = 100 };
    wte_error err = { 0 };
    wte_token_list t;
    char text[16];
    wte__token_list_init(&t, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "w%u", i % TEXTS);
        assert_ok(wte__token_list_add(&t, bytes_of(text), WTE_TAG_NORMAL, &err), err);
    }
    t.first_wins = true;
    wte_vocab *v = vocab_of(&t);
    for (unsigned i = 0; i < MANY; i++) {
        uint64_t other = 0;
        snprintf(text, sizeof text, "w%u", i % TEXTS);
        assert_int_equal(id_of(v, text, &other), i % TEXTS);
        assert_int_equal(other, MANY / TEXTS - 1);
    }
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

static void the_spelling_told_is_the_spelling_taken(void **state)
{
    (void)state;
    static const char *const texts[] = { "\xc4\xa0the", "\xe2\x96\x81the", "##the" };
    static const struct {
        wte__token_form told;
        wte_vocab_spelling is;
        uint64_t id; /* of " the", if any */
    } rules[] = {
        { WTE_FORM_PLAIN, WTE_SPELLING_PLAIN, WTE_NO_INDEX },
        { WTE_FORM_BYTE_LEVEL, WTE_SPELLING_BYTE_LEVEL, 0 },
        { WTE_FORM_METASPACE, WTE_SPELLING_METASPACE, 1 },
        { WTE_FORM_WORDPIECE, WTE_SPELLING_WORDPIECE, WTE_NO_INDEX },
        { WTE_FORM_GUESS, WTE_SPELLING_WORDPIECE, WTE_NO_INDEX },
    };
    wte_token_list t = list_of(texts, 3);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        wte_error err = { 0 };
        uint64_t id = 0;
        t.form = rules[i].told;
        wte_vocab *v = vocab_of(&t);
        assert_int_equal(wte_vocab_spelling_of(v), rules[i].is);
        const wte_status found = wte_vocab_find(v, " the", 4, &id, NULL, &err);
        assert_int_equal(found, rules[i].id == WTE_NO_INDEX ? WTE_E_NOT_FOUND : WTE_OK);
        if (found == WTE_OK) assert_int_equal(id, rules[i].id);
        wte_vocab_free(v);
    }
    wte__token_list_clear(&t);
}

static void an_empty_list_is_no_vocabulary(void **state)
{
    (void)state;
    wte_token_list t = list_of(NULL, 0);
    wte_error err = { 0 };
    wte_vocab *v = (wte_vocab *)&err;
    assert_fails(wte_vocab_from_tokens(&t, "t.vec", NULL, &v, &err), err, WTE_E_FORMAT, 0,
                 "t.vec: holds no tokens");
    assert_null(v);
    assert_fails(wte_vocab_from_tokens(NULL, "t.vec", NULL, &v, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "NULL");
}

static void too_many_tokens_are_no_vocabulary(void **state)
{
    (void)state;
    wte_token_list t = list_of(NULL, 0);
    wte_error err = { 0 };
    wte_vocab *v = NULL;
    t.n = WTE_LIMIT_VOCAB_IDS + (size_t)1; /* as if they were there */
    assert_fails(wte_vocab_from_tokens(&t, "t.vec", NULL, &v, &err), err, WTE_E_LIMIT,
                 WTE_LIMIT_VOCAB_IDS,
                 "lists 16777217 tokens, but ids of a vocabulary end at 16777215");
    assert_null(v);
}

static void a_text_over_the_limit_is_refused(void **state)
{
    (void)state;
    static char text[WTE_LIMIT_TOKEN_TEXT + 2];
    memset(text, 'x', sizeof text - 1);
    const char *const texts[] = { "a", text };
    wte_token_list t = list_of(texts, 2);
    wte_error err = { 0 };
    wte_vocab *v = NULL;
    assert_fails(wte_vocab_from_tokens(&t, "t.vec", NULL, &v, &err), err, WTE_E_LIMIT, 1,
                 "t.vec: token 1 has 1048577 bytes, but at most 1048576 are taken");
    assert_null(v);
    text[WTE_LIMIT_TOKEN_TEXT] = '\0';
    wte__token_list_clear(&t);
    t = list_of(texts, 2);
    v = vocab_of(&t);
    wte_vocab_free(v);
    wte__token_list_clear(&t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status == WTE_E_MEMORY; i++) {
        test_memory m;
        wte_token_list t;
        wte_error err = { 0 };
        wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
        wte_vocab *v = NULL;
        test_memory_init(&m, i);
        opt.allocator = &m.allocator;
        wte__token_list_init(&t, &m.allocator);
        status = wte__token_list_add(&t, bytes_of("a"), WTE_TAG_NORMAL, &err);
        if (status == WTE_OK) status = wte__token_list_add(&t, bytes_of("a"), WTE_TAG_NORMAL, &err);
        if (status == WTE_OK) status = wte_vocab_from_tokens(&t, "t", &opt, &v, &err);
        wte_vocab_free(v);
        wte__token_list_clear(&t);
        assert_int_equal(m.live, 0);
        assert_true(i < 100);
    }
    assert_int_equal(status, WTE_OK);
}

static const struct CMUnitTest tests[] = {
    TEST("a caller may look at the list", a_caller_may_look_at_the_list),
    TEST("a text over the limit is refused", a_text_over_the_limit_is_refused),
    TEST("the first or the last of equal texts is found",
         the_first_or_the_last_of_equal_texts_is_found),
    TEST("kinds become those of a vocabulary", kinds_become_those_of_a_vocabulary),
    TEST("an unused token keeps its kind and is spelled like a normal one",
         an_unused_token_keeps_its_kind_and_is_spelled_like_a_normal_one),
    TEST("texts that are no UTF-8 are counted and kept",
         texts_that_are_no_utf8_are_counted_and_kept),
    TEST("tokens that their text does not find are counted",
         tokens_that_their_text_does_not_find_are_counted),
    TEST("ids of one text are counted by how they are written",
         ids_of_one_text_are_counted_by_how_they_are_written),
    TEST("looking for each of many equal texts is no pass over them",
         looking_for_each_of_many_equal_texts_is_no_pass_over_them),
    TEST("the spelling told is the spelling taken", the_spelling_told_is_the_spelling_taken),
    TEST("an empty list is no vocabulary", an_empty_list_is_no_vocabulary),
    TEST("too many tokens are no vocabulary", too_many_tokens_are_no_vocabulary),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
