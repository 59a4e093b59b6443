/* Vocabularies that are refused: every rule with its place and message, limits, and memory that
 * runs out at each of its requests. */
#include "test.h"

#include <wte/vocab.h>

#include "base/limits.h"

#define M "{\"model\":{\"vocab\":"

static const struct {
    wte_vocab_source source;
    wte_status status;
    const char *text;
    uint64_t at;
    const char *what;
} bad[] = {
    /* no file of this kind */
    { WTE_VOCAB_TXT, WTE_E_FORMAT, "", 0, "t: the file is empty" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "", 0, "t: the file is empty" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{}", 0, "t: holds no tokens" },
    { WTE_VOCAB_TXT, WTE_E_FORMAT, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", 0,
      "t: a Git LFS pointer of 56 bytes, not the file: that has ? bytes and oid sha256:0" },
    { WTE_VOCAB_TXT, WTE_E_FORMAT, "\n<?xml version='1.0'?><Error>", 0,
      "t: is XML text of a server, <Error>, not tokens: the download went wrong" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "<!DOCTYPE html>", 0,
      "is a web page (HTML), not tokens: the download went wrong" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "<!doctype html>", 0,
      "is a web page (HTML), not tokens: the download went wrong" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "<html lang='en'>", 0,
      "is a web page (HTML), not tokens: the download went wrong" },
    /* lines */
    { WTE_VOCAB_TXT, WTE_E_FORMAT, "ok\nb\xe9\n", 4,
      "t: line 2 column 2 (byte 4): not valid UTF-8" },
    { WTE_VOCAB_TXT, WTE_E_FORMAT, "ok\n\nx\0z\n", 5, "line 3 column 2 (byte 5): a NUL byte" },
    { WTE_VOCAB_TXT, WTE_E_FORMAT, "\xe2\x96", 0, "not valid UTF-8" },
    /* maps */
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "[1]", 0, "an object was expected" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "x", 0, "not valid JSON at line 1 column 1" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":0", 6, "the text ends too early" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":0}}", 7, "something follows" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":", 5, "the text ends too early" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":\"0\"}", 5,
      "t: line 1 column 6 (byte 5): the id of 'a' is not a whole number from 0 to 16777215" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":-1}", 5, "the id of 'a' is not a whole number" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":1.0}", 5, "the id of 'a' is not a whole number" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":null}", 5, "the id of 'a' is not a whole number" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":{\"b\":1}}", 5, "the id of 'a' is not a whole number" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":99999999999999999999}", 5, "not a whole number" },
    { WTE_VOCAB_JSON, WTE_E_LIMIT, "{\"a\":4000000000}", 5,
      "t: byte 5: 'a' has id 4000000000, but ids end at 16777215" },
    { WTE_VOCAB_JSON, WTE_E_LIMIT, "{\"a\":1152921504606846976}", 5, "id 1152921504606846976" },
    { WTE_VOCAB_JSON, WTE_E_LIMIT, "{\"a\":16777216}", 5, "id 16777216" },
    { WTE_VOCAB_JSON, WTE_E_LIMIT, "{\"a\":0,\"b\":16777215}", 7,
      "t: byte 7: id 16777215, but only 2 tokens are listed and at most 1048576 ids" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":3,\n\"b\":3}", 8,
      "t: line 2 column 1 (byte 8): id 3 is 'b' here, but 'a' before" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"a\":\xff}", 5, "a value was expected" },
    { WTE_VOCAB_JSON, WTE_E_FORMAT, "{\"\xff\":1}", 2, "not valid UTF-8" },
    /* tokenizer.json */
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "[]", 0, "an object was expected" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{}", 1, "without a model with a vocab" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"model\":{}}", 11,
      "without a model with a vocab" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"model\":null}", 9, "the model is not an object" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"model\":{\"x\":[1,]}}", 17, "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"model\":{\"x\":1", 15, "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"x\":[1,]}", 8, "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"x\":1", 6, "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_UNSUPPORTED, "{\"version\":\"2.0\"}", 11,
      "t: version '2.0' of tokenizer.json, but only 1.0 is known" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"version\":1}", 11,
      "the version is not a string" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "3}}", 18, "neither an object nor a list" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "{}}}", 0, "holds no tokens" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "{\"a\":0},\"vocab\":{}}}", 26, "a second vocab" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "{\"a\":0}},\"model\":{\"vocab\":{}}}", 36,
      "a second vocab" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "{\"a\":0}}}x", 27, "something follows" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "[[\"a\",0],[\"b\"]]}}", 31, "[text, score]" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "[[\"a\",0],[1,2]]}}", 28, "[text, score]" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "[[\"a\",0,1]]}}", 26, "[text, score]" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "[\"a\"]}}", 19, "[text, score]" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, M "[[\"a\",0]", 26, "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":{}}", 16, "list of objects" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[1]}", 17, "list of objects" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{}]}", 17,
      "an added token needs an id and a content" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{\"id\":1}]}", 17,
      "an added token needs an id and a content" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{\"content\":\"x\"}]}", 28,
      "an added token needs an id and a content" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{\"content\":1}]}", 28,
      "the content of an added token is a string" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{\"id\":\"1\"}]}", 23,
      "the id of an added token is a number" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{\"id\":-1,\"content\":\"x\"}]}",
      23, "the id of 'x' is not a whole number" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[],\"added_tokens\":[]}", 19,
      "a second added_tokens" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"added_tokens\":[{\"id\":0", 24,
      "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT, "{\"decoder\":{\"type\":", 19, "not valid JSON" },
    { WTE_VOCAB_TOKENIZER_JSON, WTE_E_FORMAT,
      "{\"added_tokens\":[{\"id\":0,\"content\":\"x\"}],"
      "\"model\":{\"vocab\":{\"a\":0}}}",
      59, "id 0 is 'a' here, but 'x' before" },
};

static size_t length(size_t i)
{
    /* one text has a NUL inside */
    return bad[i].at == 5 && bad[i].source == WTE_VOCAB_TXT ? 8 : strlen(bad[i].text);
}

static void every_broken_rule_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wte_error err;
        test_memory m;
        test_memory_init(&m, SIZE_MAX);
        wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
        opt.allocator = &m.allocator;
        wte_vocab *v = (wte_vocab *)&m;
        wte_status status =
            wte_vocab_open_memory(bad[i].text, length(i), "t", bad[i].source, &opt, &v, &err);
        if (status != bad[i].status || err.where != bad[i].at || !strstr(err.message, bad[i].what))
            fail_msg("'%s': %s at %d", bad[i].text, status ? err.message : "was read",
                     (int)err.where);
        assert_null(v);
        assert_int_equal(m.live, 0);
        assert_true(m.peak_bytes < 1000000); /* a large id costs nothing */
    }
}

static void names_in_messages_are_fit_for_a_terminal(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    const char *text = "{\"\\u001b[31m\":0.5}";
    assert_fails(wte_vocab_open_memory(text, strlen(text), "t", WTE_VOCAB_JSON, NULL, &v, &err),
                 err, WTE_E_FORMAT, 14, "the id of '\\x1b[31m' is not a whole number");
}

static void a_file_over_its_limit_is_not_read(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
    opt.max_bytes = 9;
    assert_ok(wte_vocab_open_memory("{\"abc\":0}", 9, "t", WTE_VOCAB_JSON, &opt, &v, &err), err);
    wte_vocab_free(v);
    opt.max_bytes = 8;
    assert_fails(wte_vocab_open_memory("{\"abc\":0}", 9, "t", WTE_VOCAB_JSON, &opt, &v, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "t: 9 bytes, but at most 8 are read");
    assert_fails(wte_vocab_open(test_data("static-f32"), &opt, &v, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "683666 bytes, but at most 8 are read");
}

static void a_token_over_its_limit_is_refused(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    const size_t n = WTE_LIMIT_TOKEN_TEXT + 1;
    char *text = malloc(n + 2);
    assert_non_null(text);
    memset(text, 'x', n + 2);
    memcpy(text, "a\n", 2);
    assert_ok(wte_vocab_open_memory(text, n + 1, "t", WTE_VOCAB_TXT, NULL, &v, &err), err);
    wte_vocab_free(v);
    assert_fails(wte_vocab_open_memory(text, n + 2, "t", WTE_VOCAB_TXT, NULL, &v, &err), err,
                 WTE_E_LIMIT, 2, "the token at byte 2 has 1048577 bytes, but at most 1048576");
    free(text);
}

static void holes_are_allowed_up_to_their_limit(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    char text[64];
    snprintf(text, sizeof text, "{\"a\":%u}", WTE_LIMIT_VOCAB_HOLES);
    assert_ok(wte_vocab_open_memory(text, strlen(text), "t", WTE_VOCAB_JSON, NULL, &v, &err), err);
    assert_int_equal(wte_vocab_n_holes(v), WTE_LIMIT_VOCAB_HOLES);
    wte_vocab_free(v);
    snprintf(text, sizeof text, "{\"a\":%u}", WTE_LIMIT_VOCAB_HOLES + 1);
    assert_fails(wte_vocab_open_memory(text, strlen(text), "t", WTE_VOCAB_JSON, NULL, &v, &err),
                 err, WTE_E_LIMIT, 1, "id 1048577, but only 1 tokens are listed");
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    const char *dir = test_scratch();
    char path[256], longest[WTE_LIMIT_PATH];
    snprintf(path, sizeof path, "%s/none.json", dir);
    assert_fails(wte_vocab_open(path, NULL, &v, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "none.json: No such file");
    assert_null(v);
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    test_write_file(path, "", 0);
    assert_fails(wte_vocab_open(path, NULL, &v, &err), err, WTE_E_FORMAT, 0, "the file is empty");
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "(tokenizer.model, spiece.model, ...) here (vocab.json is empty)");
    memset(longest, '/', sizeof longest); /* the root, however many slashes */
    longest[sizeof longest - 1] = '\0';
    longest[sizeof longest - 5] = '\0';
    assert_fails(wte_vocab_open(longest, NULL, &v, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "path longer than 4095 bytes");
    assert_fails(wte_vocab_open_memory("a", 1, "t", (wte_vocab_source)10, NULL, &v, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "no vocabulary source is numbered 10");
    test_scratch_remove(dir);
}

static void a_null_argument_is_the_caller_s_mistake(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    assert_fails(wte_vocab_open(NULL, NULL, &v, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL");
    assert_fails(wte_vocab_open("x", NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL");
    assert_fails(wte_vocab_open_memory(NULL, 1, "t", WTE_VOCAB_TXT, NULL, &v, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL");
    assert_fails(wte_vocab_open_memory("a", 1, NULL, WTE_VOCAB_TXT, NULL, &v, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL");
    assert_fails(wte_vocab_open_memory("a", 1, "t", WTE_VOCAB_TXT, NULL, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL");
}

static void a_bad_second_file_is_named(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v;
    const char *dir = test_scratch();
    char path[256];
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    test_write_file(path, "{\"a\":0,\"b\":1}", 13);
    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    test_write_file(path, "{\"x\":1}", 7);
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_FORMAT, 1,
                 "added_tokens.json: line 1 column 2 (byte 1): id 1 is 'x' here, but 'b' before");
    test_write_file(path, "{\"x\":", 5);
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_FORMAT, 5,
                 "added_tokens.json: not valid JSON");
    test_scratch_remove(dir);
}

/* Opens with the i-th allocation failing, for every i until it succeeds. */
static void starve(const char *path, const char *text, wte_vocab_source source)
{
    for (size_t i = 0;; i++) {
        wte_error err;
        test_memory m;
        wte_vocab *v;
        wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
        test_memory_init(&m, i);
        opt.allocator = &m.allocator;
        wte_status status =
            path ? wte_vocab_open(path, &opt, &v, &err)
                 : wte_vocab_open_memory(text, strlen(text), "t", source, &opt, &v, &err);
        if (status == WTE_OK) {
            assert_true(i > 4); /* the handle, its path, file, tokens, entries, names */
            wte_vocab_free(v);
            assert_int_equal(m.live, 0);
            assert_int_equal(m.live_bytes, 0);
            return;
        }
        assert_int_equal(status, WTE_E_MEMORY);
        assert_non_null(strstr(err.message, "out of memory: "));
        assert_null(v);
        assert_int_equal(m.live, 0);
    }
}

static void running_out_of_memory_is_an_error_and_no_leak(void **state)
{
    (void)state;
    starve(NULL, "a\nb\na\n", WTE_VOCAB_TXT);
    starve(NULL, "{\"\\u0041\":0,\"b\":1,\"A\":2}", WTE_VOCAB_JSON);
    starve(NULL,
           "{\"added_tokens\":[{\"id\":9,\"content\":\"\\n\"},{\"id\":8,\"content\":\"x\"}],"
           "\"model\":{\"vocab\":[[\"x\",0],[\"\\t\",1]]}}",
           WTE_VOCAB_TOKENIZER_JSON);
    starve(test_data("static-f32"), NULL, 0);
    const char *dir = test_scratch();
    char path[256];
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    test_write_file(path, "{\"a\":0}", 7);
    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    test_write_file(path, "{\"x\":1}", 7);
    starve(dir, NULL, 0);
    test_scratch_remove(dir);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    wte_vocab_free(NULL);
}

static const struct CMUnitTest tests[] = {
    TEST("every broken rule is told with its place", every_broken_rule_is_told_with_its_place),
    TEST("names in messages are fit for a terminal", names_in_messages_are_fit_for_a_terminal),
    TEST("a file over its limit is not read", a_file_over_its_limit_is_not_read),
    TEST("a token over its limit is refused", a_token_over_its_limit_is_refused),
    TEST("holes are allowed up to their limit", holes_are_allowed_up_to_their_limit),
    TEST("what is not there is said", what_is_not_there_is_said),
    TEST("a NULL argument is the caller's mistake", a_null_argument_is_the_caller_s_mistake),
    TEST("a bad second file is named", a_bad_second_file_is_named),
    TEST("running out of memory is an error and no leak",
         running_out_of_memory_is_an_error_and_no_leak),
    TEST("freeing nothing is fine", freeing_nothing_is_fine),
};
TEST_MAIN(tests)
