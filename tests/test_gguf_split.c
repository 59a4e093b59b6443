/* GGUF models in several files, joined as one; and sets that are not whole. */
#include "gguf_files.h"
#include "model_files.h"

static gguf_file g;

/* Part `number` of `count` with one table of `rows` x 2 bytes, all of them 10 * number + row. */
static void write_part(const char *dir, const char *name, uint16_t number, uint16_t count,
                       const char *tensor, uint64_t rows, int32_t total)
{
    g_begin(&g, tensor ? 1 : 0, total < 0 ? 2 : 3);
    g_key(&g, "split.no", WTE__GGUF_U16);
    g_number(&g, number, 2);
    g_key(&g, "split.count", WTE__GGUF_U16);
    g_number(&g, count, 2);
    if (total >= 0) {
        g_key(&g, "split.tensors.count", WTE__GGUF_I32);
        g_u32(&g, (uint32_t)total);
    }
    if (tensor) {
        g_tensor(&g, tensor, 2, rows, 24, 0);
        g_pad(&g, 32);
        for (uint64_t i = 0; i < 2 * rows; i++) g_number(&g, 10 * number + i / 2, 1);
    }
    test_write_file(in_folder(dir, name), g.data, g.n);
}

static void write_three(const char *dir)
{
    write_part(dir, "m-00001-of-00003.gguf", 0, 3, "a", 2, 3);
    write_part(dir, "m-00002-of-00003.gguf", 1, 3, "b", 3, 3);
    write_part(dir, "m-00003-of-00003.gguf", 2, 3, "c", 4, 3);
}

static void parts_are_one_file(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    wte_error err = { 0 };
    wte_file *f;
    write_three(dir);
    assert_ok(wte_file_open(in_folder(dir, "m-00001-of-00003.gguf"), NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 3);
    assert_int_equal(wte_file_n_shards(f), 3);
    for (uint64_t i = 0; i < 3; i++) {
        wte_tensor t;
        wte_row_source rows;
        uint8_t row[2];
        const char name[] = { (char)('a' + i), '\0' };
        assert_ok(wte_file_tensor(f, i, &t, &err), err);
        assert_string_equal(t.name, name);
        assert_int_equal(t.shard, i);
        assert_ok(wte_file_row_source(f, i, &rows, &err), err);
        assert_int_equal(rows.rows, 2 + i);
        assert_ok(wte_row_source_read(&rows, 1 + i, row, &err), err);
        assert_int_equal(row[0], 10 * i + 1 + i);
    }
    wte_file_free(f);
    /* the first file may hold no tensor at all */
    write_part(dir, "m-00001-of-00003.gguf", 0, 3, NULL, 0, 2);
    assert_ok(wte_file_open(in_folder(dir, "m-00001-of-00003.gguf"), NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 2);
    wte_file_free(f);
    /* a folder leads to the first part, if that is all it holds */
    wte_model *m = open_model(dir);
    assert_int_equal(wte_file_n_shards(wte_model_file(m)), 3);
    wte_model_free(m);
    /* one of one is not split, whatever it is called */
    write_part(dir, "single.gguf", 0, 1, "a", 2, -1);
    assert_ok(wte_file_open(in_folder(dir, "single.gguf"), NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 1);
    wte_file_free(f);
    test_scratch_remove(dir);
}

static void refused(const char *dir, const char *name, wte_status status, uint64_t where,
                    const char *message)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open(in_folder(dir, name), NULL, &f, &err), err, status, where, message);
    assert_null(f);
}

static void a_broken_set_is_refused(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    static const char first[] = "m-00001-of-00003.gguf";
    write_three(dir);
    refused(dir, "m-00002-of-00003.gguf", WTE_E_FORMAT, WTE_NO_INDEX,
            "is part 2 of 3: open the first, whose name ends in -00001-of-00003.gguf");
    assert_int_equal(rename(in_folder(dir, first), in_folder(dir, "renamed.gguf")), 0);
    refused(dir, "renamed.gguf", WTE_E_FORMAT, WTE_NO_INDEX,
            "is the first of 3 parts, which are found by its name");
    write_three(dir);
    write_part(dir, "m-00003-of-00003.gguf", 1, 3, "c", 4, 3);
    refused(dir, first, WTE_E_FORMAT, 44, "m-00003-of-00003.gguf: split.no is 1, but should be 2");
    write_part(dir, "m-00003-of-00003.gguf", 2, 4, "c", 4, 3);
    refused(dir, first, WTE_E_FORMAT, 69,
            "m-00003-of-00003.gguf: split.count is 4, but should be 3");
    g_begin(&g, 0, 0);
    test_write_file(in_folder(dir, "m-00003-of-00003.gguf"), g.data, g.n);
    refused(dir, first, WTE_E_FORMAT, WTE_NO_INDEX,
            "m-00003-of-00003.gguf: has no split.no, which "
            "should be 2");
    write_part(dir, "m-00003-of-00003.gguf", 2, 3, "a", 4, 3);
    refused(dir, first, WTE_E_FORMAT, 114,
            "duplicate tensor 'a' (byte 114), which is also in m-00001-of-00003.gguf");
    write_part(dir, "m-00003-of-00003.gguf", 2, 3, NULL, 0, 3);
    refused(dir, first, WTE_E_FORMAT, WTE_NO_INDEX,
            "split.tensors.count is 3, but the 3 parts hold 2 tensors");
    assert_int_equal(unlink(in_folder(dir, "m-00002-of-00003.gguf")), 0);
    refused(dir, first, WTE_E_FORMAT, WTE_NO_INDEX,
            "part 2 of 3 is missing: no 'm-00002-of-00003.gguf' beside it");
    test_write_file(in_folder(dir, "m-00002-of-00003.gguf"), "x", 1);
    refused(dir, first, WTE_E_FORMAT, 0, "m-00002-of-00003.gguf: truncated");
    test_write_file(in_folder(dir, "m-00002-of-00003.gguf"), "what is this", 12);
    refused(dir, first, WTE_E_FORMAT, 0, "m-00002-of-00003.gguf: does not begin with GGUF");
    write_part(dir, "n-00001-of-05000.gguf", 0, 5000, "a", 2, -1);
    refused(dir, "n-00001-of-05000.gguf", WTE_E_LIMIT, WTE_NO_INDEX,
            "split.count is 5000, but at most 4096 files are joined");
    test_scratch_remove(dir);
}

static void a_part_in_memory_has_no_neighbours(void **state)
{
    (void)state;
    g_begin(&g, 0, 2);
    g_key(&g, "split.no", WTE__GGUF_U16);
    g_number(&g, 0, 2);
    g_key(&g, "split.count", WTE__GGUF_U16);
    g_number(&g, 2, 2);
    g_refused("in memory", &g, WTE_E_UNSUPPORTED,
              "is part 1 of 2, and in memory there is no folder");
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    wte_status status = WTE_E_MEMORY;
    size_t failed = 0;
    write_three(dir);
    for (; status == WTE_E_MEMORY; failed++) {
        test_memory m;
        wte_error err = { 0 };
        wte_file *f;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&m, failed);
        opt.allocator = &m.allocator;
        status = wte_file_open(in_folder(dir, "m-00001-of-00003.gguf"), &opt, &f, &err);
        if (status != WTE_OK) assert_int_equal(err.status, WTE_E_MEMORY);
        wte_file_free(f);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failed > 15);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("the parts of a model are one file", parts_are_one_file),
    TEST("a set that is not whole is refused", a_broken_set_is_refused),
    TEST("a part in memory has no neighbours", a_part_in_memory_has_no_neighbours),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
};
TEST_MAIN(tests)
