/* Reading GGUF: every rule of the format, hostile counts and sizes, and what comes out as rows. */
#include "gguf_files.h"

#include "base/limits.h"

static gguf_file g; /* 64 KiB; tests run one after the other */

/* Magic and version alone, the rest of a header of nothing. */
static void with_version(uint32_t version, bool big)
{
    g.big = big;
    g_begin(&g, 0, 0);
    g.n = 4;
    g.mark = 4;
    g_u32(&g, version);
    g_u64(&g, 0);
    g_u64(&g, 0);
    g.big = false;
}

static void versions_2_and_3_are_read(void **state)
{
    (void)state;
    void *memory;
    for (uint32_t version = 2; version <= 3; version++) {
        with_version(version, false);
        wte_file *f = g_opened(&g, &memory);
        assert_int_equal(wte_file_format(f), WTE_FORMAT_GGUF);
        assert_string_equal(wte_format_name(WTE_FORMAT_GGUF), "gguf");
        assert_int_equal(wte_file_n_tensors(f), 0);
        wte_file_free(f);
        g_free(&g, memory);
    }
    with_version(3, true);
    wte_file_free(g_opened(&g, &memory));
    g_free(&g, memory);
    with_version(0, false);
    g_refused("version 0", &g, WTE_E_FORMAT, "GGUF version 0, but 2, 3 and big-endian 3 are read");
    with_version(1, false);
    g_refused("version 1", &g, WTE_E_UNSUPPORTED, "GGUF version 1, which nothing reads any more");
    with_version(4, false);
    g_refused("version 4", &g, WTE_E_UNSUPPORTED, "GGUF version 4, but 2, 3");
    with_version(2, true);
    g_refused("version 2", &g, WTE_E_UNSUPPORTED, "GGUF version 2, big-endian, but 2, 3");
}

static void a_cut_file_is_told_at_every_byte(void **state)
{
    (void)state;
    gguf_file whole;
    g_begin(&g, 1, 3);
    g_pair_text(&g, "general.name", "table");
    g_pair_u32(&g, "a.b", 7);
    g_array(&g, "list", WTE__GGUF_STRING, 2);
    g_text(&g, "x");
    g_text(&g, "yz");
    g_tensor(&g, "t", 2, 3, 0, 0);
    const size_t header = g.n;
    g_data(&g, 24);
    whole = g;
    for (size_t n = 4; n < whole.n; n++) {
        void *memory;
        wte_error err = { 0 };
        wte_file *f;
        g.n = n;
        const wte_status status = g_open(&g, NULL, &memory, &f, &err);
        assert_int_equal(status, WTE_E_FORMAT);
        if (n > header) assert_non_null(strstr(err.message, "truncated: tensor 't' has 24 bytes"));
        if (n > header) assert_int_equal(err.where, n);
        if (n <= 8 && !strstr(err.message, "truncated: the header needs"))
            fail_msg("%zu: %s", n, err.message);
        assert_true(err.where <= n);
        g_free(&g, memory);
    }
}

static void counts_are_compared_with_the_file(void **state)
{
    (void)state;
    g_begin(&g, 1, 0);
    g.mark = 8;
    g_refused("a tensor takes 24 bytes", &g, WTE_E_FORMAT,
              "says it has 1 tensors, but only 0 bytes follow");
    g_begin(&g, UINT64_MAX, 0);
    g.mark = 8;
    g_refused("2^64 - 1 tensors", &g, WTE_E_FORMAT, "says it has 18446744073709551615 tensors");
    g_begin(&g, 1, 2);
    g.n += 51;
    g.mark = 16;
    g_refused("a pair takes 14 bytes", &g, WTE_E_FORMAT,
              "says it has 2 metadata pairs and 1 tensors, but only 51 bytes follow");
    g_begin(&g, 0, UINT64_C(1) << 63);
    g.mark = 16;
    g_refused("2^63 pairs", &g, WTE_E_FORMAT, "says it has 9223372036854775808 metadata pairs");
}

/* One pair, with the faulty thing marked by the caller. */
static void begin_pair(const char *key, wte__gguf_type type)
{
    g_begin(&g, 0, 1);
    g_key(&g, key, type);
    g_mark(&g);
}

static void a_broken_key_is_refused(void **state)
{
    (void)state;
    g_begin(&g, 0, 1);
    g_mark(&g);
    g_key(&g, "", WTE__GGUF_U64);
    g_u64(&g, 0);
    g_refused("a key has a text", &g, WTE_E_FORMAT, "metadata pair 0 has an empty key (byte 24)");
    g_begin(&g, 0, 1);
    g_mark(&g);
    g_u64(&g, 65536);
    g_raw(&g, "0123456789", 10);
    g_refused("a key has at most 65535 bytes", &g, WTE_E_FORMAT,
              "metadata pair 0 has a key of 65536 bytes, but at most 65535 are allowed");
    g_begin(&g, 0, 1);
    g_u64(&g, 60000);
    g_mark(&g);
    g_raw(&g, "0123456789", 10);
    g_refused("a key lies in the file", &g, WTE_E_FORMAT,
              "truncated: metadata pair 0 needs 60000 bytes from byte 32 on, but the file has 42");
    g_begin(&g, 0, 1);
    g_u64(&g, 2);
    g_mark(&g);
    g_raw(&g, "a\xff\7\0\0\0\1", 7);
    g_refused("a key is UTF-8", &g, WTE_E_FORMAT, "the name of key 'a\\xff' is not UTF-8");
}

static void a_broken_value_is_refused(void **state)
{
    (void)state;
    begin_pair("k", (wte__gguf_type)13);
    g.mark -= 4;
    g_u32(&g, 1);
    g_refused("types go to 12", &g, WTE_E_FORMAT,
              "key 'k': value type 13, but the format has 0 to 12 (byte 33)");
    begin_pair("k", WTE__GGUF_BOOL);
    g_raw(&g, "\2", 1);
    g_refused("a bool is 0 or 1", &g, WTE_E_FORMAT, "key 'k': a bool is 0 or 1, not 2 (byte 37)");
    begin_pair("k", WTE__GGUF_ARRAY);
    g_u32(&g, WTE__GGUF_ARRAY);
    g_u64(&g, 0);
    g_refused("arrays do not nest", &g, WTE_E_UNSUPPORTED, "key 'k' is an array of arrays");
    begin_pair("k", WTE__GGUF_ARRAY);
    g_u32(&g, 99);
    g_u64(&g, 0);
    g_refused("an array's type is one", &g, WTE_E_FORMAT, "key 'k': value type 99");
    begin_pair("k", WTE__GGUF_ARRAY);
    g_u32(&g, WTE__GGUF_U16);
    g_mark(&g);
    g_u64(&g, UINT64_MAX);
    g_raw(&g, "abcde", 5);
    g_refused("an array lies in the file", &g, WTE_E_FORMAT,
              "key 'k': an array of 18446744073709551615 x u16, but only 5 bytes follow");
    begin_pair("k", WTE__GGUF_ARRAY);
    g_u32(&g, WTE__GGUF_STRING);
    g_mark(&g);
    g_u64(&g, 3);
    g_text(&g, "abcdefgh");
    g_refused("a text takes 8 bytes", &g, WTE_E_FORMAT,
              "key 'k': an array of 3 x string, but only 16 bytes follow");
    begin_pair("k", WTE__GGUF_STRING);
    g_u64(&g, UINT64_C(1) << 62);
    g_mark(&g);
    g_refused("a text lies in the file", &g, WTE_E_FORMAT,
              "truncated: key 'k' needs 4611686018427387904 bytes from byte 45 on");
    g_begin(&g, 0, 1);
    g_array(&g, "k", WTE__GGUF_BOOL, 3);
    g_raw(&g, "\0\1", 2);
    g_mark(&g);
    g_raw(&g, "\7", 1);
    g_refused("every bool is 0 or 1", &g, WTE_E_FORMAT, "a bool is 0 or 1, not 7");
}

static void an_alignment_is_a_small_power_of_two(void **state)
{
    (void)state;
    static const struct {
        uint32_t value;
        wte_status status;
        const char *message;
    } bad[] = {
        { 0, WTE_E_FORMAT, "an alignment of 0, which is no power of two" },
        { 24, WTE_E_FORMAT, "an alignment of 24, which is no power of two" },
        { UINT32_MAX, WTE_E_FORMAT, "an alignment of 4294967295, which is no power of two" },
        { UINT32_C(1) << 30, WTE_E_LIMIT,
          "an alignment of 1073741824, but at most 1048576 is taken" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        begin_pair("general.alignment", WTE__GGUF_U32);
        g_u32(&g, bad[i].value);
        g_refused("alignment", &g, bad[i].status, bad[i].message);
    }
    begin_pair("general.alignment", WTE__GGUF_U64);
    g_u64(&g, 32);
    g_refused("alignment is u32", &g, WTE_E_FORMAT,
              "key 'general.alignment' is u64, but must be u32");
    for (uint32_t alignment = 1; alignment <= 4096; alignment *= 8) {
        void *memory;
        g_begin(&g, 1, 1);
        g_pair_u32(&g, "general.alignment", alignment);
        g_tensor(&g, "t", 1, 1, 24, 0);
        g_pad(&g, alignment);
        const size_t at = g.n;
        g_raw(&g, "x", 1);
        wte_file *f = g_opened(&g, &memory);
        wte_tensor t;
        wte_error err;
        assert_ok(wte_file_tensor(f, 0, &t, &err), err);
        assert_int_equal(t.offset, at);
        wte_file_free(f);
        g_free(&g, memory);
    }
}

static void a_broken_tensor_is_refused(void **state)
{
    (void)state;
    char name[65];
    g_begin(&g, 1, 0);
    g_mark(&g);
    memset(name, 'n', 64);
    name[64] = '\0';
    g_tensor(&g, name, 1, 1, 0, 0);
    g_refused("a name has under 64 bytes", &g, WTE_E_FORMAT,
              "tensor number 0 has a name of 64 bytes, but ggml takes at most 63 (byte 24)");
    g_begin(&g, 1, 0);
    g.mark = g.n + 8;
    g_tensor(&g, "\xc0\x80", 1, 1, 0, 0);
    g_refused("a name is UTF-8", &g, WTE_E_FORMAT, "the name of tensor '\\xc0\\x80' is not UTF-8");
    g_begin(&g, 1, 0);
    g.mark = g.n + 9;
    g_shape(&g, "t", 5, 1, 1);
    g_refused("at most 4 dimensions", &g, WTE_E_FORMAT,
              "tensor 't': 5 dimensions, but the format has at most 4");
    g_begin(&g, 1, 0);
    g.mark = g.n + 9 + 4 + 8;
    g_tensor(&g, "t", 1, UINT64_C(1) << 63, 0, 0);
    g_refused("dimensions are not negative", &g, WTE_E_FORMAT,
              "tensor 't': dimension 1 is negative (-9223372036854775808");
    g_begin(&g, 1, 0);
    g.mark = g.n + 9 + 4;
    g_tensor(&g, "t", (UINT64_C(1) << 42) + 1, UINT64_C(1) << 22, 0, 0);
    g_refused("dimensions do not wrap", &g, WTE_E_FORMAT,
              "tensor 't': ne = [4398046511105, 4194304] is more than 2^63 elements");
    g_begin(&g, 1, 0);
    g.mark = g.n + 9 + 4;
    g_tensor(&g, "t", UINT64_C(1) << 61, 2, 27, 0);
    g_refused("bytes do not wrap", &g, WTE_E_FORMAT,
              "tensor 't': 4611686018427387904 elements of 8 bytes overflow 64 bits");
    g_begin(&g, 1, 0);
    g.mark = g.n + 9 + 4;
    g_tensor(&g, "t", 96, 2, WTE_BLOCK_Q4_K, 0);
    g_refused("blocks fill rows (PAINS F4: 96 in blocks of 256)", &g, WTE_E_FORMAT,
              "tensor 't': rows of 96 elements, but q4_k comes in blocks of 256");
    g_begin(&g, 1, 0);
    g.mark = g.n + 9 + 4;
    g_shape(&g, "t", 0, 0, 0);
    g_u32(&g, WTE_BLOCK_Q8_0);
    g_u64(&g, 0);
    g_refused("a scalar is no block", &g, WTE_E_FORMAT, "rows of 1 elements, but q8_0 comes in");
}

/* Two tensors of 24 and 4 bytes, the second at `offset`. */
static void two_tensors(const char *first, const char *second, uint64_t offset0, uint64_t offset1)
{
    g_begin(&g, 2, 0);
    g_tensor(&g, first, 2, 3, 0, offset0);
    g_tensor(&g, second, 1, 1, 0, offset1);
    g_data(&g, 36);
}

static void tensors_follow_each_other(void **state)
{
    (void)state;
    const size_t entry = 9 + 4 + 16 + 4 + 8;
    two_tensors("a", "b", 0, 24);
    g.mark = 24 + 2 * entry - 8;
    g_refused("offsets are aligned", &g, WTE_E_FORMAT,
              "tensor 'b' begins at data byte 24, which is no multiple of the alignment 32");
    two_tensors("a", "b", 0, 64);
    g.mark = 24 + 2 * entry - 8;
    g_refused("no gap", &g, WTE_E_FORMAT,
              "tensor 'b' begins at data byte 64, but the tensors before it end at 32 (byte 98): "
              "a gap, or out of order");
    two_tensors("a", "b", 0, 0);
    g.mark = 24 + 2 * entry - 8;
    g_refused("no overlap", &g, WTE_E_FORMAT,
              "tensor 'b' begins at data byte 0, but the tensors before it end at 32 (byte 98): "
              "they overlap, or are out of order");
    two_tensors("a", "b", 32, 0);
    g.mark = 24 + entry - 8;
    g_refused("in order (PAINS F5: two tables stored in reverse)", &g, WTE_E_FORMAT,
              "tensor 'a' begins at data byte 32, but the tensors before it end at 0");
    two_tensors("a", "a", 0, 32);
    g.mark = 24 + entry + 8;
    g_refused("a name comes once", &g, WTE_E_FORMAT, "duplicate tensor 'a' (byte 73)");
    two_tensors("a", "b", 0, 32);
    g.n -= 1;
    g.mark = g.n;
    g_refused("the last byte is there", &g, WTE_E_FORMAT,
              "truncated: tensor 'b' has 4 bytes from byte 160 on, but the file has 163");
    g_begin(&g, 2, 0);
    g_tensor(&g, "a", INT64_MAX, 1, 24, 0);
    g_tensor(&g, "b", INT64_MAX, 1, 24, UINT64_C(1) << 63);
    g.mark = 24 + 2 * entry - 8;
    g_refused("ends do not wrap", &g, WTE_E_FORMAT,
              "tensor 'b': data byte 9223372036854775808 and 9223372036854775807 bytes more "
              "overflow 64 bits");
    g_begin(&g, 1, 0);
    g_tensor(&g, "a", INT64_MAX, 1, 24, 0);
    g.mark = g.n;
    g_refused("a table of 2^63 bytes is not there", &g, WTE_E_FORMAT,
              "truncated: tensor 'a' has 9223372036854775807 bytes from byte 96 on");
}

static void limits_are_told(void **state)
{
    (void)state;
    void *memory;
    wte_error err = { 0 };
    wte_file *f;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    g_begin(&g, 0, 1);
    g_key(&g, "k", WTE__GGUF_STRING);
    g_text(&g, "0123456789");
    opt.max_header_bytes = 50;
    assert_fails(g_open(&g, &opt, &memory, &f, &err), err, WTE_E_LIMIT, 45,
                 "t.gguf: a header of over 50 bytes, but no more are read (raise max_header_bytes, "
                 "or --max-header);"
                 " it is at key 'k'");
    g_free(&g, memory);
    opt.max_header_bytes = 55;
    assert_ok(g_open(&g, &opt, &memory, &f, &err), err);
    wte_file_free(f);
    g_free(&g, memory);

    const char *dir = test_scratch();
    char path[256];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    g_begin(&g, 0, WTE_LIMIT_GGUF_PAIRS + 1);
    test_write_file(path, g.data, g.n);
    assert_int_equal(truncate(path, 14 * (WTE_LIMIT_GGUF_PAIRS + 3)), 0);
    assert_fails(wte_file_open(path, NULL, &f, &err), err, WTE_E_LIMIT, 16,
                 "65537 metadata pairs, but at most 65536 are read");
    g_begin(&g, WTE_LIMIT_TENSORS + 1, 0);
    test_write_file(path, g.data, g.n);
    assert_int_equal(truncate(path, 24 * ((off_t)WTE_LIMIT_TENSORS + 3)), 0);
    assert_fails(wte_file_open(path, NULL, &f, &err), err, WTE_E_LIMIT, 8,
                 "4000001 tensors, but at most 4000000 are read");
    test_scratch_remove(dir);
}

static void too_many_tokens_are_none(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[256];
    wte_error err = { 0 };
    wte_file *f;
    const wte_token_list *tokens;
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    g_begin(&g, 0, 1);
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, WTE_LIMIT_GGUF_TOKENS + 1);
    test_write_file(path, g.data, g.n);
    assert_int_equal(truncate(path, (off_t)g.n + 8 * ((off_t)WTE_LIMIT_GGUF_TOKENS + 1)), 0);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    assert_fails(wte_file_tokens(f, &tokens, &err), err, WTE_E_LIMIT, g.n,
                 "key 'tokenizer.ggml.tokens' has 1048577 elements, but at most 1048576 are taken");
    wte_file_free(f);
    test_scratch_remove(dir);
}

static void a_claim_costs_no_memory(void **state)
{
    (void)state;
    /* a text of 90 MB in a file of 80 bytes, and one of 1 GB in a sparse file of 2 GB */
    test_memory m;
    void *memory;
    wte_error err = { 0 };
    wte_file *f;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    test_memory_init(&m, SIZE_MAX);
    opt.allocator = &m.allocator;
    g_begin(&g, 0, 1);
    g_key(&g, "k", WTE__GGUF_STRING);
    g_u64(&g, 90000000);
    const size_t n = g.n;
    assert_fails(g_open(&g, &opt, &memory, &f, &err), err, WTE_E_FORMAT, n, "truncated: key 'k'");
    g_free(&g, memory);
    assert_true(m.peak_bytes < 4096);
    const char *dir = test_scratch();
    char path[256];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    g.n -= 8;
    g_u64(&g, 1000000000);
    test_write_file(path, g.data, g.n);
    assert_int_equal(truncate(path, 2000000000), 0);
    assert_fails(wte_file_open(path, &opt, &f, &err), err, WTE_E_LIMIT, n,
                 "a header of over 100000000 bytes");
    assert_true(m.peak_bytes < 200000);
    assert_int_equal(m.live, 0);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("versions 2 and 3 are read, and 3 in both byte orders", versions_2_and_3_are_read),
    TEST("a file cut at any byte is refused", a_cut_file_is_told_at_every_byte),
    TEST("counts are compared with the bytes that follow", counts_are_compared_with_the_file),
    TEST("a broken key is refused", a_broken_key_is_refused),
    TEST("a broken value is refused", a_broken_value_is_refused),
    TEST("an alignment is a power of two, and small", an_alignment_is_a_small_power_of_two),
    TEST("a broken tensor is refused", a_broken_tensor_is_refused),
    TEST("tensors follow each other without gaps or overlaps", tensors_follow_each_other),
    TEST("limits are told with their numbers", limits_are_told),
    TEST("more tokens than the limit are none, and the file is read", too_many_tokens_are_none),
    TEST("what a file claims costs no memory before it is there", a_claim_costs_no_memory),
};
TEST_MAIN(tests)
