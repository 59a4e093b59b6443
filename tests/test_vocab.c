/* Vocabularies that are read: ids and texts both ways, holes, and the spellings. */
#include "test.h"

#include <wte/vocab.h>

#include "base/utf8.h"
#include "vocab/spelling.h"

static wte_vocab *open_text(const char *text, wte_vocab_source source)
{
    wte_error err;
    wte_vocab *v;
    assert_ok(wte_vocab_open_memory(text, strlen(text), "t", source, NULL, &v, &err), err);
    return v;
}

static wte_vocab *open_path(const char *path)
{
    wte_error err;
    wte_vocab *v;
    assert_ok(wte_vocab_open(path, NULL, &v, &err), err);
    return v;
}

/* The token of an id: as spelled, as written (NULL = the same), and its kind. */
static void expect(const wte_vocab *v, uint64_t id, const char *spelled, const char *written,
                   wte_token_kind kind)
{
    char buf[64];
    uint64_t n;
    const char *text = wte_vocab_raw_text(v, id, &n);
    assert_non_null(text);
    assert_int_equal(n, strlen(spelled));
    assert_memory_equal(text, spelled, n);
    if (!written) written = spelled;
    assert_int_equal(wte_vocab_text(v, id, NULL, 0), strlen(written));
    assert_int_equal(wte_vocab_text(v, id, buf, sizeof buf), strlen(written));
    assert_memory_equal(buf, written, strlen(written));
    assert_int_equal(wte_vocab_kind(v, id), kind);
}

static void expect_hole(const wte_vocab *v, uint64_t id)
{
    uint64_t n = 1;
    assert_null(wte_vocab_raw_text(v, id, &n));
    assert_int_equal(n, 0);
    assert_int_equal(wte_vocab_text(v, id, NULL, 0), 0);
    assert_int_equal(wte_vocab_kind(v, id), WTE_TOKEN_NONE);
}

static void finds(const wte_vocab *v, const char *text, uint64_t id, uint64_t others)
{
    wte_error err;
    uint64_t got, other;
    assert_ok(wte_vocab_find(v, text, strlen(text), &got, &other, &err), err);
    assert_int_equal(got, id);
    assert_int_equal(other, others);
    assert_ok(wte_vocab_find(v, text, strlen(text), &got, NULL, &err), err);
    assert_int_equal(got, id);
}

static void finds_none(const wte_vocab *v, const char *text, const char *message)
{
    wte_error err;
    uint64_t id = 7, other = 7;
    assert_fails(wte_vocab_find(v, text, strlen(text), &id, &other, &err), err, WTE_E_NOT_FOUND,
                 WTE_NO_INDEX, message);
    assert_int_equal(id, 0);
    assert_int_equal(other, 0);
}

static void sizes(const wte_vocab *v, uint64_t count, uint64_t size)
{
    assert_int_equal(wte_vocab_count(v), count);
    assert_int_equal(wte_vocab_size(v), size);
    assert_int_equal(wte_vocab_n_holes(v), size - count);
}

/* The rule of GPT-2's code in its own words: printable bytes stand for themselves, the others get
 * the next free code from 256 on, in order. */
static void alphabet(uint32_t code[256])
{
    uint32_t next = 256;
    for (uint32_t b = 0; b < 256; b++) {
        bool printable =
            (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff);
        code[b] = printable ? b : next++;
    }
    assert_int_equal(next, 256 + 68);
}

static void the_alphabet_follows_its_rule(void **state)
{
    (void)state;
    uint32_t code[256], letters = 0;
    alphabet(code);
    for (uint32_t b = 0; b < 256; b++) {
        uint8_t back = 1;
        assert_int_equal(wte__alphabet_code((uint8_t)b), code[b]);
        assert_true(wte__alphabet_byte(code[b], &back));
        assert_int_equal(back, b);
    }
    for (uint32_t c = 0; c < 0x3000; c++) {
        uint8_t byte;
        letters += wte__alphabet_byte(c, &byte);
    }
    assert_int_equal(letters, 256);
    assert_int_equal(wte__alphabet_code(' '), 0x120);
    assert_int_equal(wte__alphabet_code('\n'), 0x10a);
    assert_int_equal(wte__alphabet_code('\t'), 0x109);
    assert_int_equal(wte__alphabet_code(0x7f), 0x121);
    assert_int_equal(wte__alphabet_code(0xad), 0x143);
}

static void byte_level_texts_read_as_people_write_them(void **state)
{
    (void)state;
    wte_vocab *v = open_path(test_data("vocab/byte_level.json"));
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_TOKENIZER_JSON);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_BYTE_LEVEL);
    assert_string_equal(wte_vocab_path(v), test_data("vocab/byte_level.json"));
    sizes(v, 20, 21);
    expect(v, 13, "Hello", NULL, WTE_TOKEN_NORMAL);
    expect(v, 14, "\xc4\xa0Hello", " Hello", WTE_TOKEN_NORMAL);
    expect(v, 6, "\xc4\x8a", "\n", WTE_TOKEN_NORMAL);
    expect(v, 7, "\xc3\x83", "\xc3", WTE_TOKEN_NORMAL); /* one byte of two */
    expect(v, 9, "\xc5\x83", "\xad", WTE_TOKEN_NORMAL);
    expect(v, 15, "\xc3\x83\xc2\xa9", "\xc3\xa9", WTE_TOKEN_NORMAL);
    expect(v, 17, "\xe6\x97\xa5", NULL, WTE_TOKEN_NORMAL); /* outside the alphabet: as it is */
    expect_hole(v, 18);
    expect(v, 19, "<|\xc3\xa9|>", NULL, WTE_TOKEN_ADDED); /* never in the alphabet */
    expect(v, 20, "<|endoftext|>", NULL, WTE_TOKEN_SPECIAL);
    expect_hole(v, 21);
    expect_hole(v, UINT64_MAX);

    finds(v, " Hello", 14, 0);
    finds(v, "\xc4\xa0Hello", 14, 0);
    finds(v, "Hello", 13, 0);
    finds(v, "\n", 6, 0);
    finds(v, "\xc3\xa9", 15, 0);
    finds(v, "\xc3", 7, 0);
    finds(v, "\xad", 9, 0);
    finds(v, "\xe6\x97\xa5", 17, 0);
    finds(v, "<|endoftext|>", 20, 0);
    finds(v, "<|\xc3\xa9|>", 19, 0);
    finds_none(v, "hello", "no token 'hello'; near it: 'Hello' (id 13), ' Hello' (id 14)");
    finds_none(v, "\xc4\xa0hello", "near it: 'Hello' (id 13), ' Hello' (id 14)");
    finds_none(v, "", "no token ''");
    wte_vocab_free(v);
}

static void both_spellings_may_name_different_tokens(void **state)
{
    (void)state;
    /* U+0120 as people write it is bytes C4 A0, spelled U+00C4 U+0142 */
    wte_vocab *v = open_text("{\"model\":{\"vocab\":{\"\\u0120\":0,\"\\u00c4\\u0142\":1}},"
                             "\"decoder\":{\"type\":\"ByteLevel\"}}",
                             WTE_VOCAB_TOKENIZER_JSON);
    expect(v, 1, "\xc3\x84\xc5\x82", "\xc4\xa0", WTE_TOKEN_NORMAL);
    finds(v, "\xc4\xa0", 0, 1); /* as spelled first */
    finds(v, " ", 0, 0);
    finds(v, "\xc3\x84\xc5\x82", 1, 0);
    wte_vocab_free(v);
}

static void a_metaspace_is_a_space(void **state)
{
    (void)state;
    wte_vocab *v = open_path(test_data("vocab/metaspace.json"));
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_METASPACE);
    sizes(v, 13, 13);
    expect(v, 0, "<unk>", NULL, WTE_TOKEN_SPECIAL);
    expect(v, 7, "\xe2\x96\x81hello", " hello", WTE_TOKEN_NORMAL);
    expect(v, 9, "\xe2\x96\x81\xe2\x96\x81", "  ", WTE_TOKEN_NORMAL);
    expect(v, 10, "wor\xe2\x96\x81ld", "wor ld", WTE_TOKEN_NORMAL);
    expect(v, 12, "\xe2\x96\x81<pre>", " <pre>", WTE_TOKEN_ADDED);
    expect(v, 4, "<0x0A>", "\n", WTE_TOKEN_BYTE);
    expect(v, 5, "<0xE2>", "\xe2", WTE_TOKEN_BYTE);
    char byte = 1;
    assert_int_equal(wte_vocab_text(v, 3, &byte, 1), 1);
    assert_int_equal(byte, 0);
    finds(v, " hello", 7, 0);
    finds(v, "\xe2\x96\x81hello", 7, 0);
    finds(v, "hello", 8, 0);
    finds(v, "\n", 4, 0);
    finds(v, "<0x0A>", 4, 0);
    finds(v, "wor ld", 10, 0);
    finds(v, " <pre>", 12, 0);
    finds_none(v, "HELLO", "near it: ' hello' (id 7), 'hello' (id 8)");
    finds_none(v, " ld", "near it: 'ld' (id 11)");
    finds_none(
        v, "hello <pre> ld",
        "; its words are tokens of their own: 'hello' (id 8), ' <pre>' (id 12), 'ld' (id 11)");
    finds_none(v, "hello none", "no token 'hello none'");
    wte_vocab_free(v);
    v = open_path(test_data("vocab/llama2.json"));
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_METASPACE);
    expect(v, 1, "<0x41>", "A", WTE_TOKEN_BYTE);
    finds(v, "A", 1, 0);
    finds(v, " a", 4, 0);
    wte_vocab_free(v);
}

static void spaces_spelled_in_two_ways_are_found(void **state)
{
    (void)state;
    wte_vocab *v = open_text("{\"model\":{\"vocab\":{\"\xe2\x96\x81"
                             "a\":0,\" a\":1,\"\xe2\x96\x81"
                             "b c\":2}},"
                             "\"pre_tokenizer\":{\"type\":\"Metaspace\"}}",
                             WTE_VOCAB_TOKENIZER_JSON);
    finds(v, " a", 1, 1); /* as spelled, and one more as written */
    finds(v,
          "\xe2\x96\x81"
          "a",
          0, 0);
    finds(v, " b c", 2, 0);
    finds(v,
          "\xe2\x96\x81"
          "b c",
          2, 0);
    wte_vocab_free(v);
}

static void plain_words_stay_as_they_are(void **state)
{
    (void)state;
    wte_vocab *v = open_path(test_data("vocab/words.json"));
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    expect(v, 2, "\xc4\xa0world", NULL, WTE_TOKEN_NORMAL);
    expect(v, 3, "say \"hi\"\n", NULL, WTE_TOKEN_NORMAL); /* escaped in the file */
    expect(v, 4, "<0x0A>", NULL, WTE_TOKEN_NORMAL);       /* a word like any other here */
    expect(v, 5, "\xe2\x96\x81x", NULL, WTE_TOKEN_NORMAL);
    finds(v, "say \"hi\"\n", 3, 0);
    finds_none(v, "\n", "no token '\\x0a'");
    finds_none(v, " world", "no token ' world'");
    wte_vocab_free(v);
}

static void a_real_wordpiece_vocabulary(void **state)
{
    (void)state;
    wte_vocab *v = open_path(test_data("static-f32"));
    assert_string_equal(wte_vocab_path(v), test_data("static-f32/tokenizer.json"));
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_WORDPIECE);
    sizes(v, 29528, 29528);
    /* the ids that the reference gives "Hello wörld! foo‑bar 你好 $5" */
    finds(v, "hello", 6598, 0);
    finds(v, "!", 5, 0);
    finds(v, "foo", 28385, 0);
    finds(v, "[UNK]", 1, 0);
    expect(v, 0, "[PAD]", NULL, WTE_TOKEN_SPECIAL);
    expect(v, 29527, "##\xef\xbd\x9e", NULL, WTE_TOKEN_NORMAL);
    finds_none(v, "Hello", "no token 'Hello'; near it: 'hello' (id 6598)");
    finds_none(v, "##HELLO", "near it: 'hello' (id 6598)");
    wte_vocab_free(v);
}

static void explicit_ids_are_kept_with_their_holes(void **state)
{
    (void)state;
    wte_vocab *v = open_text(
        "{\"added_tokens\":[{\"id\":20,\"content\":\"<b>\",\"special\":true},"
        "{\"id\":12,\"content\":\"<a>\"}],\"model\":{\"vocab\":{\"t0\":0,\"t1\":1,\"t2\":2,"
        "\"t3\":3,\"t9\":9,\"t8\":8,\"t7\":7,\"t6\":6,\"t5\":5,\"t4\":4}}}",
        WTE_VOCAB_TOKENIZER_JSON);
    sizes(v, 12, 21);
    expect(v, 9, "t9", NULL, WTE_TOKEN_NORMAL);
    expect(v, 12, "<a>", NULL, WTE_TOKEN_ADDED);
    expect(v, 20, "<b>", NULL, WTE_TOKEN_SPECIAL);
    for (uint64_t id = 10; id < 20; id++)
        if (id != 12) expect_hole(v, id);
    finds(v, "<b>", 20, 0);
    wte_vocab_free(v);
}

static void a_text_with_two_ids_is_the_vocabulary_s(void **state)
{
    (void)state;
    wte_vocab *v =
        open_text("{\"added_tokens\":[{\"id\":5,\"content\":\"x\"},{\"id\":0,\"content\":\"y\"},"
                  "{\"id\":3,\"content\":\"z\"},{\"id\":4,\"content\":\"z\"}],"
                  "\"model\":{\"vocab\":{\"y\":0,\"x\":1}}}",
                  WTE_VOCAB_TOKENIZER_JSON);
    finds(v, "x", 1, 1);
    finds(v, "y", 0, 0); /* listed twice under one id: one token */
    finds(v, "z", 3, 1);
    expect(v, 5, "x", NULL, WTE_TOKEN_ADDED);
    expect(v, 0, "y", NULL, WTE_TOKEN_ADDED);
    sizes(v, 5, 6);
    wte_vocab_free(v);
    v = open_text("a\nb\na\na\n", WTE_VOCAB_TXT);
    finds(v, "a", 3, 2); /* a later line overwrites, in the reference */
    sizes(v, 4, 4);
    wte_vocab_free(v);
}

static void lines_are_tokens_from_zero(void **state)
{
    (void)state;
    wte_vocab *v = open_text("[PAD]\nthe\r\n ##x \n\n##ing\nlast", WTE_VOCAB_TXT);
    sizes(v, 6, 6);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_WORDPIECE);
    expect(v, 0, "[PAD]", NULL, WTE_TOKEN_NORMAL);
    expect(v, 1, "the", NULL, WTE_TOKEN_NORMAL);
    expect(v, 2, " ##x ", NULL, WTE_TOKEN_NORMAL); /* only the line end is taken off */
    expect(v, 3, "", NULL, WTE_TOKEN_NORMAL);
    expect(v, 5, "last", NULL, WTE_TOKEN_NORMAL);
    finds(v, "", 3, 0);
    finds_none(v, "ing", "near it: '##ing' (id 4)");
    wte_vocab_free(v);
    v = open_text("a\rb\n\r\n", WTE_VOCAB_TXT);
    sizes(v, 2, 2);
    expect(v, 0, "a\rb", NULL, WTE_TOKEN_NORMAL);
    expect(v, 1, "", NULL, WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
}

/* A map of the alphabet's characters and one word after a space, as GPT-2's vocab.json; `leave` is
 * a byte to leave out, or 256. */
static wte_vocab *open_alphabet(uint32_t leave)
{
    static char text[8192];
    uint32_t code[256];
    size_t used = 0;
    alphabet(code);
    used += (size_t)snprintf(text, sizeof text, "{\"\xc4\xa0the\":256");
    for (uint32_t b = 0; b < 256; b++)
        if (b != leave)
            used += (size_t)snprintf(text + used, sizeof text - used, ",\"\\u%04x\":%u",
                                     (unsigned)code[b], (unsigned)b);
    snprintf(text + used, sizeof text - used, "}");
    return open_text(text, WTE_VOCAB_JSON);
}

static void a_map_with_the_whole_alphabet_is_byte_level(void **state)
{
    (void)state;
    wte_error err;
    wte_vocab *v = open_alphabet(256);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_BYTE_LEVEL);
    finds(v, " the", 256, 0);
    for (uint32_t b = 0; b < 256; b++) {
        uint64_t id;
        char text = (char)b, back = 0;
        assert_int_equal(wte_vocab_text(v, b, &back, 1), 1);
        assert_int_equal((uint8_t)back, b);
        /* bytes 80 and up are found as written only: alone they are no UTF-8 */
        assert_ok(wte_vocab_find(v, &text, 1, &id, NULL, &err), err);
        assert_int_equal(id, b);
    }
    wte_vocab_free(v);
    v = open_alphabet(7);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    expect_hole(v, 7);
    finds_none(v, " the", NULL);
    wte_vocab_free(v);
}

static void other_maps_show_their_spelling_too(void **state)
{
    (void)state;
    wte_vocab *v = open_text("{\"\xe2\x96\x81\":0,\"\xe2\x96\x81the\":1}", WTE_VOCAB_JSON);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_METASPACE);
    finds(v, " the", 1, 0);
    wte_vocab_free(v);
    v = open_text("{\"\xe2\x96\x81\":0,\"a b\":1}", WTE_VOCAB_JSON);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    wte_vocab_free(v);
    v = open_text("{\"##\":0,\"###\":1}", WTE_VOCAB_JSON); /* marks, not continuations */
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    wte_vocab_free(v);
}

static void the_parts_of_a_tokenizer_tell_the_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *parts;
        wte_vocab_spelling spelling;
    } cases[] = {
        { "\"normalizer\":null,\"decoder\":null", WTE_SPELLING_PLAIN },
        { "\"decoder\":{\"type\":\"ByteLevel\"}", WTE_SPELLING_BYTE_LEVEL },
        { "\"normalizer\":{\"type\":\"ByteLevel\"}", WTE_SPELLING_BYTE_LEVEL },
        { "\"pre_tokenizer\":{\"pretokenizers\":[{\"x\":[1]},{\"type\":\"ByteLevel\"}],"
          "\"type\":\"Sequence\"}",
          WTE_SPELLING_BYTE_LEVEL },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\"}",
          WTE_SPELLING_METASPACE },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\"}", WTE_SPELLING_METASPACE },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\"}", WTE_SPELLING_PLAIN },
        { "\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\u2581\"},\"content\":\" "
          "\"}",
          WTE_SPELLING_METASPACE },
        { "\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"\\u2581\"}", WTE_SPELLING_METASPACE },
        { "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\"}", WTE_SPELLING_WORDPIECE },
        { "\"post_processor\":{\"type\":\"ByteLevel\"}", WTE_SPELLING_PLAIN },
        { "\"decoder\":{\"type\":\"BPEDecoder\",\"name\":\"ByteLevel\"}", WTE_SPELLING_PLAIN },
        { "\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}},\"x\":0",
          WTE_SPELLING_WORDPIECE },
        { "\"model\":{\"continuing_subword_prefix\":\"##\",\"vocab\":{\"a\":0}},\"x\":{}",
          WTE_SPELLING_WORDPIECE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        bool model = strncmp(cases[i].parts, "\"model\"", 7) == 0;
        snprintf(text, sizeof text, "{\"version\":\"1.0\",%s%s}", cases[i].parts,
                 model ? "" : ",\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}");
        wte_vocab *v = open_text(text, WTE_VOCAB_TOKENIZER_JSON);
        if (wte_vocab_spelling_of(v) != cases[i].spelling) fail_msg("%s", text);
        wte_vocab_free(v);
    }
}

static void all_256_byte_tokens_are_bytes_without_being_told(void **state)
{
    (void)state;
    static char text[8192];
    for (int n = 255; n <= 256; n++) {
        size_t used = 0;
        for (int b = 0; b < n; b++)
            used += (size_t)snprintf(text + used, sizeof text - used, "<0x%02X>\n", (unsigned)b);
        wte_vocab *v = open_text(text, WTE_VOCAB_TXT);
        assert_int_equal(wte_vocab_kind(v, 10), n == 256 ? WTE_TOKEN_BYTE : WTE_TOKEN_NORMAL);
        if (n == 256) finds(v, "\n", 10, 0);
        wte_vocab_free(v);
    }
}

static void very_long_texts_are_found_as_well(void **state)
{
    (void)state;
    enum { LONG = 5000 };
    static char text[3 * LONG + 64], asked[LONG + 1];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"\xe2\x96\x81\":0,\"");
    for (int i = 0; i < LONG; i++) {
        asked[i] = i % 2 ? 'x' : ' ';
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s", i % 2 ? "x" : "\xe2\x96\x81");
    }
    snprintf(text + used, sizeof text - used, "\":1}");
    wte_vocab *v = open_text(text, WTE_VOCAB_JSON);
    finds(v, asked, 1, 0);
    asked[LONG - 1] = 'y';
    finds_none(v, asked, "...'"); /* and the message is cut */
    wte_vocab_free(v);
}

static void a_directory_gives_its_best_file(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[256];
    wte_error err;
    wte_vocab *v;
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "(tokenizer.model, spiece.model, ...) here");
    snprintf(path, sizeof path, "%s/vocab.txt", dir);
    test_write_file(path, "line\n", 5);
    v = open_path(dir);
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_TXT);
    assert_string_equal(wte_vocab_path(v), path);
    wte_vocab_free(v);
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    test_write_file(path, "{\"map\":0}", 9);
    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    test_write_file(path, "{\"<add>\": 4}", 12);
    v = open_path(dir);
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_JSON);
    sizes(v, 2, 5);
    expect(v, 0, "map", NULL, WTE_TOKEN_NORMAL);
    expect(v, 4, "<add>", NULL, WTE_TOKEN_ADDED);
    wte_vocab_free(v);
    snprintf(path, sizeof path, "%s/tokenizer.json", dir);
    test_write_file(path, "", 0); /* counts as absent */
    v = open_path(dir);
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_JSON);
    wte_vocab_free(v);
    test_write_file(path, "{\"model\":{\"vocab\":[[\"p\",-1.5]]}}", 32);
    v = open_path(dir);
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_TOKENIZER_JSON);
    expect(v, 0, "p", NULL, WTE_TOKEN_NORMAL);
    wte_vocab_free(v);
    test_scratch_remove(dir);
}

static void a_file_is_known_by_its_content(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        wte_vocab_source source;
    } cases[] = {
        { "x", "{\"a\":0}", WTE_VOCAB_JSON },
        { "x.txt", " {\"a\" : 0}", WTE_VOCAB_JSON },
        { "x", "{\"model\":{\"vocab\":{\"a\":0}}}", WTE_VOCAB_TOKENIZER_JSON },
        { "x", "{\n}\n\"\n", WTE_VOCAB_TXT }, /* tokens of a program, it seems */
        { "x", "{\n|\n", WTE_VOCAB_TXT },
        { "x", "[PAD]\n", WTE_VOCAB_TXT },
    };
    const char *dir = test_scratch();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[256];
        wte_error err;
        wte_vocab *v;
        snprintf(path, sizeof path, "%s/%s", dir, cases[i].name);
        test_write_file(path, cases[i].text, strlen(cases[i].text));
        assert_ok(wte_vocab_open(path, NULL, &v, &err), err);
        assert_int_equal(wte_vocab_source_of(v), cases[i].source);
        wte_vocab_free(v);
    }
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("the byte alphabet follows its rule", the_alphabet_follows_its_rule),
    TEST("byte-level texts read as people write them", byte_level_texts_read_as_people_write_them),
    TEST("the two spellings may name different tokens", both_spellings_may_name_different_tokens),
    TEST("a metaspace is a space, a byte token its byte", a_metaspace_is_a_space),
    TEST("spaces spelled in two ways are found", spaces_spelled_in_two_ways_are_found),
    TEST("plain words stay as they are", plain_words_stay_as_they_are),
    TEST("a real WordPiece vocabulary has the reference's ids", a_real_wordpiece_vocabulary),
    TEST("explicit ids are kept with their holes", explicit_ids_are_kept_with_their_holes),
    TEST("a text with two ids is the vocabulary's", a_text_with_two_ids_is_the_vocabulary_s),
    TEST("lines are tokens from zero, whatever ends them", lines_are_tokens_from_zero),
    TEST("a map with the whole alphabet is byte-level",
         a_map_with_the_whole_alphabet_is_byte_level),
    TEST("other maps show their spelling too", other_maps_show_their_spelling_too),
    TEST("the parts of a tokenizer tell the spelling", the_parts_of_a_tokenizer_tell_the_spelling),
    TEST("256 byte tokens are bytes without being told",
         all_256_byte_tokens_are_bytes_without_being_told),
    TEST("very long texts are found as well", very_long_texts_are_found_as_well),
    TEST("a directory gives its best file", a_directory_gives_its_best_file),
    TEST("a file is known by its content", a_file_is_known_by_its_content),
};
TEST_MAIN(tests)
