/* How a text begins: marks of its encoding. */
#include <wte/corpus.h>

#include "test.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    return 0;
}
static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static wte_status open_bytes(const void *data, size_t bytes, wte_corpus **out, wte_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/text", folder);
    test_write_file(path, data, bytes);
    return wte_corpus_open(path, NULL, out, err);
}

static wte_status open_text(const char *text, wte_corpus **out, wte_error *err)
{
    return open_bytes(text, strlen(text), out, err);
}

/* A mark of UTF-8 is no part of the first word, wherever parts begin. */
static void a_mark_of_utf8_is_passed_over(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "the cat the";
    wte_corpus_info info;
    wte_corpus *c;
    wte_error err;
    assert_ok(open_text(text, &c, &err), err);
    wte_corpus_get(c, &info);
    assert_int_equal(info.bytes, 14);
    assert_int_equal(info.words, 2);
    assert_int_equal(info.tokens, 3);
    assert_int_equal(info.invalid, 0);
    assert_int_equal(wte_corpus_counts(c)[0], 2);
    for (uint32_t parts = 1; parts < 20; parts++) {
        uint32_t all[8];
        size_t n = 0, got = 1;
        for (uint32_t part = 0; part < parts; part++) {
            wte_corpus_reader *r;
            assert_ok(wte_corpus_reader_create(c, part, parts, &r, &err), err);
            for (got = 1; got; n += got) {
                assert_true(n < 8);
                assert_ok(wte_corpus_read(r, all + n, 1, &got, &err), err);
                const uint64_t at = wte_corpus_reader_at(r);
                if (at) assert_ok(wte_corpus_reader_seek(r, at, &err), err);
            }
            wte_corpus_reader_free(r);
        }
        assert_int_equal(n, 3);
        assert_int_equal(all[0], 0);
        assert_int_equal(all[1], 1);
        assert_int_equal(all[2], 0);
    }
    wte_corpus_free(c);
    /* elsewhere, and when it is cut, it is bytes like others */
    assert_ok(open_text("a \xef\xbb\xbf"
                        "b",
                        &c, &err),
              err);
    wte_corpus_get(c, &info);
    assert_int_equal(info.words, 2);
    wte_corpus_free(c);
    assert_ok(open_text("\xef\xbb", &c, &err), err);
    wte_corpus_get(c, &info);
    assert_int_equal(info.invalid, 1);
    wte_corpus_free(c);
    assert_fails(open_text("\xef\xbb\xbf", &c, &err), err, WTE_E_FORMAT, 0, "no words");
}

static void utf16_is_no_text(void **state)
{
    (void)state;
    static const char little[] = { '\xff', '\xfe', 'a', 0, ' ', 0 };
    static const char big[] = { '\xfe', '\xff', 0, 'a', 0, ' ' };
    wte_corpus *c;
    wte_error err;
    assert_fails(open_bytes(little, sizeof little, &c, &err), err, WTE_E_UNSUPPORTED, 0,
                 "begins as UTF-16 does, but words are cut out of UTF-8");
    assert_fails(open_bytes(big, sizeof big, &c, &err), err, WTE_E_UNSUPPORTED, 0,
                 "begins as UTF-16 does");
}

static const struct CMUnitTest tests[] = {
    TEST("a mark of UTF-8 is passed over", a_mark_of_utf8_is_passed_over),
    TEST("UTF-16 is no text", utf16_is_no_text),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
