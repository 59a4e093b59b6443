/* Vocabularies in the forms of other tools: tekken.json, spaCy's keys, words of
 * sentence-transformers. */
#include "vocab_folder.h"

#define TEKKEN(version, vocab, rest)                                                               \
    "{\"config\":{\"pattern\":\"x\",\"default_vocab_size\":25,\"default_num_special_tokens\":22,"  \
    "\"version\":\"" version "\"},\"vocab\":" vocab "," rest "\"type\":\"Tekken\"}"
#define RANKS                                                                                      \
    "[{\"rank\":0,\"token_bytes\":\"AA==\",\"token_str\":\"\\u0000\"},"                            \
    "{\"rank\":1,\"token_bytes\":\"4pY=\",\"token_str\":null},"                                    \
    "{\"rank\":2,\"token_bytes\":\"IHRo\"},{\"rank\":3,\"token_bytes\":\"YQ==\"}]"

static void tekken_begins_with_its_specials(void **state)
{
    (void)state;
    put("tekken.json", TEKKEN("v3", RANKS, ""));
    put("vocab.json", "{\"a\":0}"); /* not asked */
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_TEKKEN);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    assert_int_equal(wte_vocab_size(v), 25);
    assert_int_equal(wte_vocab_n_invalid_utf8(v), 1);
    has(v, 1, "<s>", WTE_TOKEN_SPECIAL);
    has(v, 10, "[IMG]", WTE_TOKEN_SPECIAL);
    has(v, 19, "[TOOL_CONTENT]", WTE_TOKEN_SPECIAL);
    has(v, 20, "<SPECIAL_20>", WTE_TOKEN_UNUSED);
    has(v, 21, "<SPECIAL_21>", WTE_TOKEN_UNUSED);
    uint64_t bytes;
    assert_memory_equal(wte_vocab_raw_text(v, 22, &bytes), "", 1);
    assert_int_equal(bytes, 1);
    has(v, 23, "\xe2\x96", WTE_TOKEN_NORMAL);
    has(v, 24, " th", WTE_TOKEN_NORMAL); /* and rank 3 is not in use */
    finds(v, " th", 24);
    wte_vocab_free(v);
    put("tekken.json",
        TEKKEN("v13", RANKS,
               "\"special_tokens\":[{\"rank\":1,\"token_str\":\"<s>\",\"is_control\":true},"
               "{\"rank\":0,\"token_str\":\"plain\",\"is_control\":false}],"));
    v = open_folder();
    has(v, 0, "plain", WTE_TOKEN_ADDED);
    has(v, 1, "<s>", WTE_TOKEN_SPECIAL);
    has(v, 2, "<SPECIAL_2>", WTE_TOKEN_UNUSED);
    has(v, 24, " th", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
}

static void a_tekken_file_may_run_out_of_memory(void **state)
{
    (void)state;
    put("tekken.json", TEKKEN("v3", RANKS, ""));
    starve();
}

static void broken_tekken_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        wte_status status;
    } cases[] = {
        { "{\"config\":", "not valid JSON", WTE_E_FORMAT },
        { "{\"config\":1}", "the config is not an object", WTE_E_FORMAT },
        { "{\"config\":{\"default_vocab_size\":-1}}", "vocab_size is not a count", WTE_E_FORMAT },
        { "{\"config\":{\"default_num_special_tokens\":[]}}", "tokens is not a count",
          WTE_E_FORMAT },
        { "{\"config\":{},\"vocab\":[]}", "a tekken file needs vocab", WTE_E_FORMAT },
        { "{\"vocab\":{}}", "are lists of objects", WTE_E_FORMAT },
        { "{\"vocab\":[1]}", "are lists of objects", WTE_E_FORMAT },
        { "{\"vocab\":[],\"vocab\":[]}", "a second list", WTE_E_FORMAT },
        { TEKKEN("v3", "[{\"rank\":0}]", ""), "needs a rank and token_bytes", WTE_E_FORMAT },
        { TEKKEN("v3", "[{\"rank\":-1}]", ""), "a rank is not a whole number from 0 to 16777215",
          WTE_E_FORMAT },
        { TEKKEN("v3", "[{\"rank\":0,\"token_bytes\":1}]", ""), "is a string", WTE_E_FORMAT },
        { TEKKEN("v3", "[{\"rank\":0,\"token_bytes\":\"AAA\"}]", ""), "not base64", WTE_E_FORMAT },
        { TEKKEN("v3", "[{\"rank\":0,\"token_bytes\":\"A?==\"}]", ""), "not base64", WTE_E_FORMAT },
        { TEKKEN("v3", "[]", "\"special_tokens\":[{\"rank\":1}],"), "and a token_str",
          WTE_E_FORMAT },
        { TEKKEN("v3", "[]", "\"special_tokens\":[{\"rank\":22,\"token_str\":\"x\"}],"),
          "is not below default_num", WTE_E_FORMAT },
        { TEKKEN("v11", "[]", ""), "it lists no special_tokens", WTE_E_UNSUPPORTED },
        { "{\"config\":{\"version\":\"v3\",\"default_vocab_size\":1,"
          "\"default_num_special_tokens\":2},\"vocab\":[]}",
          "1 ids and 2 special tokens", WTE_E_FORMAT },
        { "{\"config\":{\"version\":\"v3\",\"default_vocab_size\":99999999,"
          "\"default_num_special_tokens\":2},\"vocab\":[]}",
          "at most 16777216 and 65536", WTE_E_LIMIT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wte_vocab *v;
        wte_error err;
        put("tekken.json", cases[i].text);
        assert_int_equal(wte_vocab_open(scratch, NULL, &v, &err), cases[i].status);
        if (!strstr(err.message, cases[i].message)) fail_msg("%zu: %s", i, err.message);
        assert_null(v);
    }
}

static void put_bytes(const char *name, const void *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    test_write_file(path, bytes, n);
}

/* The hashes are those of spaCy's own documentation. */
static const uint8_t key2row[] = {
    0x84,                                                             /* four keys */
    0xcf, 0x2c, 0x61, 0x52, 0xfc, 0x13, 0x42, 0xce, 0x91, 0x02,       /* coffee: 2 */
    0xcf, 0xd8, 0x33, 0x49, 0xe5, 0x2e, 0x52, 0x54, 0x71, 0xd1, 0, 1, /* HelloWorld: 1, an i16 */
    0xcd, 0x01, 0x90, 0x00,                                           /* a symbol of spaCy: 0 */
    0xcf, 0,    0,    0,    0,    0,    0,    0,    5,    0xff        /* no row */
};

static void rows_of_spacy_have_names(void **state)
{
    (void)state;
    put_bytes("key2row", key2row, sizeof key2row);
    refused(WTE_E_UNSUPPORTED, WTE_NO_INDEX, "their texts are in strings.json, which is missing");
    put("strings.json", "[\"other\", \"\\u0063offee\", \"HelloWorld\", \"coffee\"]");
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_SPACY);
    assert_int_equal(wte_vocab_size(v), 3);
    assert_int_equal(wte_vocab_n_holes(v), 1);
    has(v, 2, "coffee", WTE_TOKEN_NORMAL);
    has(v, 1, "HelloWorld", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    starve();
    put("strings.json", "{}");
    refused(WTE_E_FORMAT, 0, "a list of texts was expected");
    put("strings.json", "[1]");
    refused(WTE_E_FORMAT, 1, "strings.json is a list of texts");
    put("strings.json", "[]");
    put_bytes("key2row", "\x80", 1);
    refused(WTE_E_UNSUPPORTED, 0, "it has no keys");
    put_bytes("key2row", "\x95", 1);
    refused(WTE_E_FORMAT, 0, "no msgpack map");
    put_bytes("key2row", "\xdf\0\0", 3);
    refused(WTE_E_FORMAT, 0, "the count of keys is cut");
    put_bytes("key2row", "\xde\0\2\1\1", 5);
    refused(WTE_E_FORMAT, 5, "a key and its row, two whole numbers, are cut");
    put_bytes("key2row", "\x81\1\xc0", 3);
    refused(WTE_E_FORMAT, 1, "a key and its row, two whole numbers, are cut");
    put_bytes("key2row", "\x81\xcf\1\1\1\1\1\1\1\1\xce\1\0\0\0", 15);
    refused(WTE_E_LIMIT, 1, "row 16777216, but at most 16777216");
}

static void words_of_sentence_transformers(void **state)
{
    (void)state;
    static const char name[] = "whitespacetokenizer_config.json";
    put(name,
        "{\"stop_words\":[],\"vocab\":[\"the\",\"\\u0063at\",\"a b\"],\"do_lower_case\":false}");
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_WORDS);
    assert_int_equal(wte_vocab_size(v), 3);
    has(v, 1, "cat", WTE_TOKEN_NORMAL);
    has(v, 2, "a b", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    starve();
    put(name, "[]");
    refused(WTE_E_FORMAT, 0, "an object was expected");
    put(name, "{\"vocab\":{}}");
    refused(WTE_E_FORMAT, 9, "vocab is a list of words");
    put(name, "{\"vocab\":[\"a\",1]}");
    refused(WTE_E_FORMAT, 14, "vocab is a list of words");
    put(name, "{\"vocab\":[\"a\"],\"vocab\":[]}");
    refused(WTE_E_FORMAT, 15, "a second vocab");
    put(name, "{}");
    refused(WTE_E_FORMAT, 0, "holds no tokens");
    put(name, "{\"vocab\":[\"a\"]");
    refused(WTE_E_FORMAT, 14, "not valid JSON");
}

static void lines_of_metadata_name_rows(void **state)
{
    (void)state;
    static const char name[] = "metadata.tsv";
    put(name, "word\nking\r\nold man\n"); /* one column has no title */
    wte_vocab *v = open_folder();
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_METADATA);
    assert_int_equal(wte_vocab_size(v), 3);
    has(v, 0, "word", WTE_TOKEN_NORMAL);
    has(v, 1, "king", WTE_TOKEN_NORMAL);
    has(v, 2, "old man", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    put(name, "count\tWord\tlabels\r\n3\tking\tx\r\n2\told man\ty\n1\n");
    v = open_folder();
    assert_int_equal(wte_vocab_size(v), 3);
    has(v, 0, "king", WTE_TOKEN_NORMAL);
    has(v, 1, "old man", WTE_TOKEN_NORMAL);
    has(v, 2, "", WTE_TOKEN_NORMAL); /* a line of fewer fields */
    wte_vocab_free(v);
    put(name, "a\tb\nking\t1\nman\t2"); /* no title is known: the first column */
    v = open_folder();
    assert_int_equal(wte_vocab_size(v), 2);
    has(v, 1, "man", WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    put(name, "a\tb\nking\t\xff\n");
    refused(WTE_E_FORMAT, 9, "not valid UTF-8");
    put(name, "a\tb\n");
    refused(WTE_E_FORMAT, 0, "holds no tokens");
    put(name, "");
    refused(WTE_E_FORMAT, WTE_NO_INDEX, "metadata.tsv is empty");
}

static const struct CMUnitTest tests[] = {
    IN_FOLDER("tekken.json begins with its special tokens", tekken_begins_with_its_specials),
    IN_FOLDER("broken tekken.json files are refused", broken_tekken_files_are_refused),
    IN_FOLDER("rows of spaCy have names", rows_of_spacy_have_names),
    IN_FOLDER("words of sentence-transformers", words_of_sentence_transformers),
    IN_FOLDER("lines of metadata.tsv name rows", lines_of_metadata_name_rows),
    IN_FOLDER("tekken.json: every allocation may fail", a_tekken_file_may_run_out_of_memory),
};
TEST_MAIN(tests)
