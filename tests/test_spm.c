/* sentencepiece models as vocabularies: real ones, and every fault of a message. */
#include "test.h"

#include <wte/vocab.h>

#include "spm_help.h"

static void p_flag(proto *p, unsigned part, unsigned field, bool value)
{
    proto inner = { .n = 0 };
    p_number(&inner, field, value);
    p_bytes(p, part, inner.data, inner.n);
}

static wte_status open_proto(const proto *p, const wte_vocab_options *opt, wte_vocab **v,
                             wte_error *err)
{
    uint8_t *memory = test_guarded(p->n);
    memcpy(memory, p->data, p->n);
    const wte_status status =
        wte_vocab_open_memory(memory, p->n, "m.model", WTE_VOCAB_PIECES, opt, v, err);
    test_guarded_free(memory, p->n);
    return status;
}

static void check_text(const wte_vocab *v, uint64_t id, const char *spelled, const char *written)
{
    uint64_t bytes;
    char buf[64];
    const char *text = wte_vocab_raw_text(v, id, &bytes);
    assert_int_equal(bytes, strlen(spelled));
    assert_memory_equal(text, spelled, bytes);
    assert_int_equal(wte_vocab_text(v, id, buf, sizeof buf), strlen(written));
    assert_memory_equal(buf, written, strlen(written));
}

static void pieces_are_tokens(void **state)
{
    (void)state;
    proto p = { .n = 0 };
    wte_vocab *v;
    wte_error err = { 0 };
    uint64_t id;
    p_piece(&p, "<unk>", 2);
    p_piece(&p, "<s>", 3);
    p_piece(&p, "\xe2\x96\x81the", 1);
    p_piece(&p, "<mask>", 4);
    p_piece(&p, "<extra>", 5);
    /* fields of no interest, in every type */
    p_number(&p, 99, UINT64_MAX);
    p_bytes(&p, 4, "self test", 9);
    p_varint(&p, 100 << 3 | 1);
    p.n += 8;
    p_varint(&p, 101 << 3 | 5);
    p.n += 4;
    assert_ok(open_proto(&p, NULL, &v, &err), err);
    assert_int_equal(wte_vocab_source_of(v), WTE_VOCAB_PIECES);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_METASPACE);
    assert_int_equal(wte_vocab_size(v), 5);
    static const wte_token_kind kinds[] = { WTE_TOKEN_SPECIAL, WTE_TOKEN_SPECIAL, WTE_TOKEN_NORMAL,
                                            WTE_TOKEN_ADDED, WTE_TOKEN_UNUSED };
    for (uint64_t i = 0; i < 5; i++) assert_int_equal(wte_vocab_kind(v, i), kinds[i]);
    check_text(v, 2, "\xe2\x96\x81the", " the");
    assert_ok(wte_vocab_find(v, " the", 4, &id, NULL, &err), err);
    assert_int_equal(id, 2);
    wte_vocab_free(v);
    /* a model whose spaces stay spaces */
    p_flag(&p, 3, 5, false);
    assert_ok(open_proto(&p, NULL, &v, &err), err);
    assert_int_equal(wte_vocab_spelling_of(v), WTE_SPELLING_PLAIN);
    check_text(v, 2, "\xe2\x96\x81the", "\xe2\x96\x81the");
    wte_vocab_free(v);
}

/* tests/data/spm/NAME.model against its list of pieces (make_golden_spm.py). */
static void check_golden(const char *name, uint64_t count)
{
    char path[256], line[512];
    wte_vocab *v;
    wte_error err = { 0 };
    snprintf(path, sizeof path, "spm/%s.model", name);
    assert_ok(wte_vocab_open(test_data(path), NULL, &v, &err), err);
    assert_int_equal(wte_vocab_size(v), count);
    assert_int_equal(wte_vocab_n_holes(v), 0);
    snprintf(path, sizeof path, "spm/%s.txt", name);
    FILE *f = fopen(test_data(path), "r");
    assert_non_null(f);
    static const wte_token_kind kinds[] = { WTE_TOKEN_NONE,    WTE_TOKEN_NORMAL, WTE_TOKEN_SPECIAL,
                                            WTE_TOKEN_SPECIAL, WTE_TOKEN_ADDED,  WTE_TOKEN_UNUSED,
                                            WTE_TOKEN_BYTE };
    for (uint64_t id = 0; id < count; id++) {
        uint64_t bytes;
        assert_non_null(fgets(line, sizeof line, f));
        assert_int_equal(wte_vocab_kind(v, id), kinds[line[0] - '0']);
        const char *text = wte_vocab_raw_text(v, id, &bytes);
        assert_int_equal(strlen(line), 3 + 2 * bytes);
        for (uint64_t i = 0; i < bytes; i++) {
            char hex[3];
            snprintf(hex, sizeof hex, "%02x", (uint8_t)text[i]);
            assert_memory_equal(hex, line + 2 + 2 * i, 2);
        }
    }
    assert_null(fgets(line, sizeof line, f));
    assert_int_equal(fclose(f), 0);
    wte_vocab_free(v);
}

static void real_models_are_read(void **state)
{
    (void)state;
    check_golden("unigram", 60);
    check_golden("bytes", 320);
}

static void a_folder_leads_to_its_model(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[256];
    wte_vocab *v;
    wte_error err = { 0 };
    proto p = { .n = 0 };
    static const char added[] = "{\"<extra>\": 3, \"<unk>\": 0, \"b\": 2}";
    p_piece(&p, "<unk>", 2);
    p_piece(&p, "a", 1);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, i ? "tokenizer.model" : "spiece.model");
        test_write_file(path, p.data, p.n);
        assert_ok(wte_vocab_open(dir, NULL, &v, &err), err);
        assert_string_equal(wte_vocab_path(v), path);
        assert_int_equal(wte_vocab_size(v), 2 + i);
        assert_int_equal(wte_vocab_kind(v, 2), i ? WTE_TOKEN_UNUSED : WTE_TOKEN_NONE);
        wte_vocab_free(v);
        p_piece(&p, "b", 5);
    }
    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    test_write_file(path, added, sizeof added - 1);
    assert_ok(wte_vocab_open(dir, NULL, &v, &err), err);
    assert_int_equal(wte_vocab_size(v), 4);
    check_text(v, 3, "<extra>", "<extra>");
    assert_int_equal(wte_vocab_kind(v, 3), WTE_TOKEN_ADDED);
    assert_int_equal(wte_vocab_kind(v, 2), WTE_TOKEN_ADDED); /* says more than that it is unused */
    wte_vocab_free(v);
    test_scratch_remove(dir);
}

/* What a model is refused for. */
static void refused(const proto *p, wte_status status, uint64_t where, const char *message)
{
    wte_vocab *v = (wte_vocab *)&status;
    wte_error err = { 0 };
    assert_fails(open_proto(p, NULL, &v, &err), err, status, where, message);
    assert_non_null(strstr(err.message, "m.model"));
    assert_null(v);
}

static void begin(proto *p)
{
    p->n = 0;
    p_piece(p, "<unk>", 2);
}

static void broken_pieces_are_refused(void **state)
{
    (void)state;
    proto p;
    begin(&p);
    const size_t at = p.n;
    p_piece(&p, "", 1);
    refused(&p, WTE_E_FORMAT, at + 4, "piece 1 (byte 20): it has no text");
    begin(&p);
    p_bytes(&p, 1, "", 0);
    refused(&p, WTE_E_FORMAT, at, "piece 1 (byte 16): it has no text");
    begin(&p);
    p_piece(&p, "a", 7);
    refused(&p, WTE_E_FORMAT, at + 4, "its kind is 7, but kinds go from 1 to 6");
    begin(&p);
    p_piece(&p, "a", 0);
    refused(&p, WTE_E_FORMAT, at + 4, "its kind is 0, but kinds");
    begin(&p);
    p_piece(&p, "a", 2);
    refused(&p, WTE_E_FORMAT, at + 4, "a second piece for what is unknown");
    begin(&p);
    p_piece(&p, "a", 1);
    const size_t third = p.n;
    p_piece(&p, "a", 4);
    refused(&p, WTE_E_FORMAT, third + 4, "piece 2 (byte 30): 'a' is piece 1 already");
    begin(&p);
    p_piece(&p, "<unk>", 3);
    refused(&p, WTE_E_FORMAT, at + 4, "'<unk>' is piece 0 already");
    begin(&p);
    p_piece(&p, "<unk>", 1); /* of the other kind: allowed */
    wte_vocab *v;
    wte_error err = { 0 };
    assert_ok(open_proto(&p, NULL, &v, &err), err);
    wte_vocab_free(v);
    p.n = 0;
    p_piece(&p, "a", 1);
    refused(&p, WTE_E_FORMAT, p.n, "none of its 1 pieces is for what is unknown");
    p.n = 0;
    p_flag(&p, 2, 35, false);
    refused(&p, WTE_E_FORMAT, 0, "holds no tokens");
}

static void bytes_and_their_flag_agree(void **state)
{
    (void)state;
    static proto p;
    begin(&p);
    const size_t at = p.n;
    p_piece(&p, "<0x0A>", 6);
    refused(&p, WTE_E_FORMAT, at + 4, "has pieces for bytes, but its byte_fallback is false");
    p_flag(&p, 2, 35, true);
    refused(&p, WTE_E_FORMAT, p.n, "its byte_fallback is true, but there are pieces for 1 of 256");
    begin(&p);
    p_piece(&p, "<0x0a>", 6);
    refused(&p, WTE_E_FORMAT, at + 4, "a byte is spelled like <0x0A>");
}

static void broken_messages_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t where;
        const char *message;
    } bad[] = {
        { "\x0a", 1, 1, "a number is cut" },
        { "\x80", 1, 0, "a number is cut" },
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10, 0, "a number has more than 64 bits" },
        { "\x0a\x05\x0a", 3, 2, "a field reaches past the end" },
        { "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 11, "a field reaches past the end" },
        { "\x0d\0\0\0", 4, 1, "a field reaches past the end" },
        { "\x09\0\0\0\0\0\0\0", 8, 1, "a field reaches past the end" },
        { "\x02\0", 2, 0, "no field has this number" },
        { "\x0b", 1, 0, "no field has this type" },
        { "\x0f", 1, 0, "no field has this type" },
        { "\x0a\x03\x0a\x05\x61", 5, 4, "a field reaches past the end" },
        { "\x12\x02\x98\x02", 4, 4, "a number is cut" },
        { "\x1a\x01\x28", 3, 3, "a number is cut" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        proto p = { .n = bad[i].n };
        memcpy(p.data, bad[i].bytes, bad[i].n);
        refused(&p, WTE_E_FORMAT, bad[i].where, bad[i].message);
    }
}

static void other_files_of_that_name_are_told(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[256];
    wte_vocab *v;
    wte_error err = { 0 };
    static const char ranks[] = "IQ== 0\nIg== 1\n";
    snprintf(path, sizeof path, "%s/tokenizer.model", dir);
    test_write_file(path, ranks, sizeof ranks - 1);
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_UNSUPPORTED, 0,
                 "is a list of tiktoken's ranks, which this build does not read");
    test_write_file(path, "hello\nworld\n", 12);
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_FORMAT, 2,
                 "no sentencepiece model, or a broken one: no field has this type");
    test_write_file(path, "version https://git-lfs.github.com/spec/v1\n", 43);
    assert_fails(wte_vocab_open(dir, NULL, &v, &err), err, WTE_E_FORMAT, 0, "a Git LFS pointer");
    test_scratch_remove(dir);
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    proto p = { .n = 0 };
    wte_status status = WTE_E_MEMORY;
    size_t failed = 0;
    begin(&p);
    p_piece(&p, "\xe2\x96\x81the", 1);
    p_piece(&p, "a", 1);
    for (; status == WTE_E_MEMORY; failed++) {
        test_memory m;
        wte_error err = { 0 };
        wte_vocab *v;
        wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
        test_memory_init(&m, failed);
        opt.allocator = &m.allocator;
        status = open_proto(&p, &opt, &v, &err);
        if (status != WTE_OK) assert_int_equal(err.status, WTE_E_MEMORY);
        wte_vocab_free(v);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failed > 6);
}

static const struct CMUnitTest tests[] = {
    TEST("pieces are tokens, and fields of no interest are passed over", pieces_are_tokens),
    TEST("models that sentencepiece made are read piece by piece", real_models_are_read),
    TEST("a folder leads to its model, and to tokens added to it", a_folder_leads_to_its_model),
    TEST("a piece that breaks a rule is refused", broken_pieces_are_refused),
    TEST("pieces for bytes and the flag for them agree", bytes_and_their_flag_agree),
    TEST("a broken message is refused where it breaks", broken_messages_are_refused),
    TEST("other files of that name are told", other_files_of_that_name_are_told),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
};
TEST_MAIN(tests)
