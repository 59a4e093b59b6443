/* Reading .npz: archives that NumPy wrote, stored and deflated, and what else may be in one. */
#include "format_npy.h"
#include "zip_files.h"

#include "base/limits.h"
#include "format/format.h"

#define HEADER(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n"

static const struct npy_type *type_of(const char *code)
{
    size_t i = 0;
    while (strcmp(npy_types[i].code, code) != 0) i++;
    return &npy_types[i];
}

/* An array of NumPy's, by its name, holds 0, 1, 2, ... less 2. */
static void check_array(const wte_file *f, const char *name, const char *code, uint64_t n_rows,
                        uint64_t n_cols, bool view)
{
    wte_error err = { 0 };
    uint64_t i;
    wte_row_source rows;
    uint8_t want[48], got[48];
    const struct npy_type *type = type_of(code);
    const size_t bytes = (size_t)(n_rows * n_cols) * wte_dtype_bytes(type->type);
    assert_ok(wte_file_find(f, name, strlen(name), &i, &err), err);
    assert_string_equal(tensor_at(f, i).name, name);
    assert_int_equal(tensor_at(f, i).dtype, type->type);
    assert_ok(wte_file_row_source(f, i, &rows, &err), err);
    assert_int_equal(rows.rows, n_rows);
    assert_int_equal(rows.cols, n_cols);
    npy_values(type, 0, (int)(n_rows * n_cols), want);
    assert_ok(rows.read_block(rows.ctx, 0, (size_t)n_rows, got, &err), err);
    assert_memory_equal(got, want, bytes);
    assert_int_equal(rows.data != NULL, view);
    if (view) assert_memory_equal(rows.data, want, bytes);
}

static void check_golden(const char *name, uint32_t parts)
{
    wte_error err = { 0 };
    wte_file *f;
    const char *value = NULL;
    assert_ok(wte_file_open(test_data(name), NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_NPZ);
    assert_string_equal(wte_format_name(wte_file_format(f)), "npz");
    assert_int_equal(wte_file_n_shards(f), parts);
    assert_int_equal(wte_file_n_tensors(f), 4);
    assert_string_equal(tensor_at(f, 0).name, "big");
    assert_string_equal(tensor_at(f, 2).name, "inner/table");
    check_array(f, "big", "i2", 2, 3, false);
    check_array(f, "fortran", "f4", 2, 3, false);
    check_array(f, "inner/table", "f4", 2, 3, true);
    check_array(f, "one", "f8", 5, 1, true);
    assert_string_equal(wte_file_metadata(f, 0, &value), "words.npy");
    assert_string_equal(value, "not read: no array of numbers");
    assert_null(wte_file_metadata(f, 1, &value));
    wte_file_free(f);
}

static void what_numpy_stored_is_read_in_place(void **state)
{
    (void)state;
    check_golden("npy/stored.npz", 1);
    wte_error err = { 0 };
    wte_file *f;
    char *file;
    assert_ok(wte_file_open(test_data("npy/stored.npz"), NULL, &f, &err), err);
    assert_int_equal(tensor_at(f, 2).shard, 0);
    float want[6];
    npy_values(type_of("f4"), 0, 6, want);
    FILE *in = fopen(test_data("npy/stored.npz"), "rb");
    assert_non_null(in);
    file = calloc(1, 4096);
    assert_non_null(file);
    assert_true(fread(file, 1, 4096, in) < 4096);
    assert_memory_equal(file + tensor_at(f, 2).offset, want, sizeof want);
    assert_int_equal(fclose(in), 0);
    free(file);
    wte_file_free(f);
}

static void what_numpy_deflated_is_unpacked_once(void **state)
{
    (void)state;
    check_golden("npy/deflated.npz", 2);
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open(test_data("npy/deflated.npz"), NULL, &f, &err), err);
    assert_int_equal(tensor_at(f, 2).shard, 1);
    assert_non_null(strstr(wte_file_shard_path(f, 1), "npy/deflated.npz (unpacked)"));
    assert_int_equal(tensor_at(f, 0).offset % 64, 0);
    wte_file_free(f);
}

/* An .npy file with that header, and n bytes 0, 1, 2, ...; returns its length. */
static size_t npy_bytes(uint8_t *out, const char *header, size_t n)
{
    const size_t text = strlen(header);
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (uint8_t)text;
    out[9] = 0;
    memcpy(out + 10, header, text);
    for (size_t i = 0; i < n; i++) out[10 + text + i] = (uint8_t)i;
    return 10 + text + n;
}

static wte_status open_bytes(const made_zip *z, wte_file **f, wte_error *err)
{
    return wte_file_open_memory(z->data, z->n, "t.npz", NULL, f, err);
}

static void what_is_stored_comes_before_what_is_unpacked(void **state)
{
    (void)state;
    uint8_t npy[256];
    const size_t n = npy_bytes(npy, HEADER("(2, 3)"), 24);
    made_zip z;
    wte_error err = { 0 };
    wte_file *f;
    zip_begin(&z);
    zip_add(&z, "a.npy", npy, n, ZIP_DEFLATE | ZIP_STREAM);
    zip_add(&z, "folder/", "", 0, 0);
    zip_add(&z, "b.npy", npy, n, ZIP_STREAM | ZIP_PAD);
    zip_add(&z, "notes.txt", "x", 1, 0);
    zip_add(&z, ".npy", npy, n, 0); /* has no name */
    zip_end(&z, 0, "");
    assert_ok(open_bytes(&z, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 2);
    assert_string_equal(tensor_at(f, 0).name, "b");
    assert_string_equal(tensor_at(f, 1).name, "a");
    for (uint64_t i = 0; i < 2; i++) {
        uint8_t got[24];
        assert_ok(wte_file_read(f, i, 0, got, 24, &err), err);
        assert_memory_equal(got, npy + n - 24, 24);
    }
    const char *value;
    assert_string_equal(wte_file_metadata(f, 0, &value), "notes.txt");
    assert_string_equal(wte_file_metadata(f, 1, &value), ".npy");
    assert_null(wte_file_metadata(f, 2, &value));
    wte_file_free(f);
    zip_free(&z);
}

/* One member whose header text is `header` ('@' marks the byte to be named); stored, and then
 * deflated, where the member's own place is named. */
static void check_member(const char *header, size_t data, wte_status status, const char *part)
{
    char text[256];
    const char *mark = strchr(header, '@');
    assert_non_null(mark);
    snprintf(text, sizeof text, "%.*s%s", (int)(mark - header), header, mark + 1);
    uint8_t npy[512];
    const size_t n = npy_bytes(npy, text, data);
    for (unsigned flags = 0; flags <= ZIP_DEFLATE; flags += ZIP_DEFLATE) {
        made_zip z;
        wte_error err = { 0 };
        wte_file *f;
        zip_begin(&z);
        zip_add(&z, "table.npy", npy, n, flags);
        zip_end(&z, 0, "");
        const uint64_t where = flags ? 0 : 30 + 9 + 10 + (uint64_t)(mark - header);
        assert_fails(open_bytes(&z, &f, &err), err, status, where, part);
        assert_non_null(strstr(err.message, "t.npz: 'table.npy': "));
        zip_free(&z);
    }
}

static void faults_of_members_name_member_and_byte(void **state)
{
    (void)state;
    check_member("{'descr': @'<f3', 'fortran_order': False, 'shape': (2, 3)}", 24, WTE_E_FORMAT,
                 "is no NumPy type of numbers");
    check_member("{'descr': '<f4', 'fortran_order': False, 'shape': (2, @-3)}", 24, WTE_E_FORMAT,
                 "a dimension is negative");
    check_member("{'descr': '<f4', 'fortran_order': False, 'shape': @(4294967296, 4294967296)}", 24,
                 WTE_E_FORMAT, "overflows 64 bits");
    /* the last of the data that are missing: behind 24 of 28 bytes */
    check_member("{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}@", 0, WTE_E_FORMAT,
                 "needs 28 bytes of data, but it has 0");
    check_member("{'descr': @'|O', 'fortran_order': False, 'shape': (7,)}", 24, WTE_E_UNSUPPORTED,
                 "Python objects (a pickle), which are never read");
}

static void members_that_are_no_arrays_are_told(void **state)
{
    (void)state;
    made_zip z;
    wte_error err = { 0 };
    wte_file *f;
    zip_begin(&z);
    zip_add(&z, "table.npy", "PK no array", 11, 0);
    zip_end(&z, 0, "");
    assert_fails(open_bytes(&z, &f, &err), err, WTE_E_FORMAT, 39,
                 "t.npz: 'table.npy': no .npy file: it does not begin with its magic bytes");
    zip_free(&z);
    zip_begin(&z);
    zip_add(&z, "readme.md", "x", 1, 0);
    zip_end(&z, 0, "");
    assert_fails(open_bytes(&z, &f, &err), err, WTE_E_UNSUPPORTED, 0,
                 "is a zip archive, but neither a PyTorch checkpoint nor NumPy's .npz: it begins "
                 "with 'readme.md'");
    zip_free(&z);
}

static void a_bomb_is_refused_before_it_is_unpacked(void **state)
{
    (void)state;
    const size_t n = WTE_LIMIT_UNPACKED_FREE + (1u << 20);
    uint8_t *zeros = calloc(n, 1);
    made_zip z;
    wte_error err = { 0 };
    wte_file *f;
    test_memory memory;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    assert_non_null(zeros);
    zip_begin(&z);
    zip_add(&z, "table.npy", zeros, n, ZIP_DEFLATE);
    zip_end(&z, 0, "");
    test_memory_init(&memory, SIZE_MAX);
    opt.allocator = &memory.allocator;
    assert_fails(wte_file_open_memory(z.data, z.n, "t.npz", &opt, &f, &err), err, WTE_E_LIMIT,
                 z.directory_at, "would unpack to 34603008 bytes, but at most");
    assert_true(memory.peak_bytes < 100000);
    zip_free(&z);
    zip_begin(&z);
    zip_add(&z, "table.npy", zeros, n, ZIP_DEFLATE);
    zip_put(z.directory + 24, 1u << 20, 4);
    zip_end(&z, 0, "");
    assert_fails(wte_file_open_memory(z.data, z.n, "t.npz", &opt, &f, &err), err, WTE_E_FORMAT,
                 err.where, "it unpacks to more after 1048576 of its 1048576 bytes");
    assert_int_equal(memory.live, 0);
    zip_free(&z);
    free(zeros);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        wte_error err = { 0 };
        wte_file *f;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_file_open(test_data("npy/deflated.npz"), &opt, &f, &err);
        assert_true(status == WTE_OK || status == WTE_E_MEMORY);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        assert_true(i < 100);
    }
}

/* A 2 x 2 matrix and a list of texts, "a" and "bc". */
static made_zip with_words(const char *header, const void *texts, size_t n)
{
    uint8_t npy[300];
    made_zip z;
    zip_begin(&z);
    const size_t table =
        npy_bytes(npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", 16);
    zip_add(&z, "v.npy", npy, table, 0);
    const size_t bytes = npy_bytes(npy, header, 0);
    memcpy(npy + bytes, texts, n);
    zip_add(&z, "words.npy", npy, bytes + n, ZIP_DEFLATE);
    zip_end(&z, 0, "");
    return z;
}

static void a_list_of_texts_is_the_matrixs_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        const char *texts;
        size_t n;
        bool used;
    } cases[] = {
        { "{'descr': '<U2', 'fortran_order': False, 'shape': (2,)}",
          "a\0\0\0\0\0\0\0b\0\0\0c\0\0\0", 16, true },
        { "{'descr': '>U2', 'fortran_order': False, 'shape': (2,)}",
          "\0\0\0a\0\0\0\0\0\0\0b\0\0\0c", 16, true },
        { "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", "a\0\0bc\0", 6, true },
        { "{'descr': '|S3', 'fortran_order': False, 'shape': (3,)}", "a\0\0bc\0d\0\0", 9, false },
        { "{'descr': '|S3', 'fortran_order': False, 'shape': (2, 1)}", "a\0\0bc\0", 6, false },
        { "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}", "a\0\0bc", 5, false },
        { "{'descr': '|S0', 'fortran_order': False, 'shape': (2,)}", "", 0, false },
        { "{'descr': '|S99999', 'fortran_order': False, 'shape': (2,)}", "", 0, false },
        { "{'descr': '|S3x', 'fortran_order': False, 'shape': (2,)}", "a\0\0bc\0", 6, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_zip z = with_words(cases[i].header, cases[i].texts, cases[i].n);
        wte_error err = { 0 };
        wte_file *f;
        const wte_token_list *list;
        const char *value;
        assert_ok(open_bytes(&z, &f, &err), err);
        assert_int_equal(wte_file_n_tensors(f), 1);
        if (cases[i].used) {
            assert_ok(wte_file_tokens(f, &list, &err), err);
            assert_int_equal(list->n, 2);
            assert_int_equal(list->end[0], 1);
            assert_memory_equal(list->text, "abc", 3);
            assert_null(wte_file_metadata(f, 0, &value));
        } else {
            assert_int_equal(wte_file_tokens(f, &list, &err), WTE_E_NOT_FOUND);
            assert_string_equal(wte_file_metadata(f, 0, &value), "words.npy");
        }
        wte_file_free(f);
        zip_free(&z);
    }
}

static void texts_must_be_characters_and_memory_may_fail(void **state)
{
    (void)state;
    static const char header[] = "{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}";
    wte_error err = { 0 };
    wte_file *f;
    made_zip z = with_words(header, "a\0\0\0\0\0\x11", 8);
    assert_fails(open_bytes(&z, &f, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "'words.npy': text 1 holds 0x110000, which is no character");
    zip_free(&z);
    z = with_words(header, "a\0\0\0b\0\0", 8);
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_file_open_memory(z.data, z.n, "t.npz", &opt, &f, &err);
        assert_true(status == WTE_OK || status == WTE_E_MEMORY);
        if (status == WTE_OK) assert_int_equal(f->tokens.n, 2);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        assert_true(i < 100);
    }
    zip_free(&z);
}

static const struct CMUnitTest tests[] = {
    TEST("a list of texts is the matrix's tokens", a_list_of_texts_is_the_matrixs_tokens),
    TEST("texts must be characters, and memory may fail",
         texts_must_be_characters_and_memory_may_fail),
    TEST("what NumPy stored is read in place", what_numpy_stored_is_read_in_place),
    TEST("what NumPy deflated is unpacked once", what_numpy_deflated_is_unpacked_once),
    TEST("what is stored comes before what is unpacked",
         what_is_stored_comes_before_what_is_unpacked),
    TEST("faults of members name member and byte", faults_of_members_name_member_and_byte),
    TEST("members that are no arrays are told", members_that_are_no_arrays_are_told),
    TEST("a bomb is refused before it is unpacked", a_bomb_is_refused_before_it_is_unpacked),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
