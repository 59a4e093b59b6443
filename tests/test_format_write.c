/* Writing safetensors and .npy: the very bytes of the reference writers, and what happens when
 * writing fails. */
#include "format_npy.h"

#include "base/error.h"

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}
static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

/* The whole of a file; free it. */
static uint8_t *content(const char *name, size_t *n)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*n + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *n, f), *n);
    assert_int_equal(fclose(f), 0);
    return data;
}

static void check_content(const char *name, const void *want, size_t n)
{
    size_t have;
    uint8_t *data = content(name, &have);
    assert_int_equal(have, n);
    assert_memory_equal(data, want, n);
    free(data);
}

static void check_same(const char *a, const char *b)
{
    size_t n;
    uint8_t *data = content(b, &n);
    check_content(a, data, n);
    free(data);
}

/* Nothing but `out` (when it may exist) is in the folder. */
static void check_no_litter(bool out)
{
    char command[300];
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = '%s'", folder, out ? "out" : "");
    assert_int_equal(system(command), 0);
}

static void bytes_are_the_reference_writer_s(void **state)
{
    (void)state;
    static const uint64_t two[] = { 2 }, pair[] = { 1, 2 };
    const wte_tensor_out tensors[] = {
        { "b", WTE_F16, 1, two, "\1\2\3\4", NULL },
        { "a\"\\\n\x1f/\x7f\xc3\xa9", WTE_F16, 2, pair, "\5\6\7\10", NULL },
        { "z", WTE_I64, 0, NULL, "\x11\x12\x13\x14\x15\x16\x17\x18", NULL },
        { "u", WTE_U8, 1, two, "\x21\x22", NULL },
        { "f", WTE_BOOL, 1, two, "\0\1", NULL },
        { "e", WTE_F32, 1, (const uint64_t[]){ 0 }, NULL, NULL },
    };
    static const char *const metadata[][2] = { { "x", "1" }, { "format", "pt" } };
    static const char want[] =
        "\x80\1\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\",\"x\":\"1\"},"
        "\"z\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
        "\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]},"
        "\"a\\\"\\\\\\n\\u001f/\x7f\xc3\xa9\":{\"dtype\":\"F16\",\"shape\":[1,2],\"data_offsets\":[8,12]},"
        "\"b\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[12,16]},"
        "\"u\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[16,18]},"
        "\"f\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[18,20]}}  "
        "\x11\x12\x13\x14\x15\x16\x17\x18\5\6\7\10\1\2\3\4\x21\x22\0\1";
    wte_error err = { 0 };
    assert_ok(wte_safetensors_write(path, tensors, 6, metadata, 2, &err), err);
    check_content(path, want, sizeof want - 1);
    check_no_litter(true);
}

static void a_real_model_is_written_as_it_was(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    char source[4096];
    snprintf(source, sizeof source, "%s", test_data("format/static-f16.safetensors"));
    assert_ok(wte_file_open(source, NULL, &f, &err), err);
    wte_tensor t = tensor_at(f, 0);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    wte_tensor_out out = { t.name, t.dtype, t.rank, t.shape, rows.data, NULL };
    assert_ok(wte_safetensors_write(path, &out, 1, NULL, 0, &err), err);
    check_same(path, source);
    out.data = NULL; /* the same through a row source that is read, over several blocks */
    rows.data = NULL;
    out.rows = &rows;
    assert_ok(wte_safetensors_write(path, &out, 1, NULL, 0, &err), err);
    check_same(path, source);
    wte_file_free(f);
}

static void no_tensor_at_all_is_a_file(void **state)
{
    (void)state;
    wte_error err = { 0 };
    assert_ok(wte_safetensors_write(path, NULL, 0, NULL, 0, &err), err);
    check_content(path, "\x08\0\0\0\0\0\0\0{}      ", 16);
}

/* A row source of 3000 x 1000 u16 whose rows are r, r, r, ...; fails at row fail_at. */
enum { BIG_ROWS = 3000, BIG_COLS = 1000 };
static wte_status read_big(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const uint64_t *fail_at = ctx;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == *fail_at)
            return wte__fail(err, WTE_E_IO, ids[i], "row %d is gone", (int)ids[i]);
        for (size_t c = 0; c < BIG_COLS; c++) {
            uint16_t v = (uint16_t)ids[i];
            memcpy((uint8_t *)out + 2 * (i * BIG_COLS + c), &v, 2);
        }
    }
    return WTE_OK;
}

static void rows_are_streamed_in_blocks(void **state)
{
    (void)state;
    static const uint64_t shape[] = { BIG_ROWS, BIG_COLS };
    uint64_t never = UINT64_MAX;
    wte_row_source rows = {
        .rows = BIG_ROWS, .cols = BIG_COLS, .dtype = WTE_U16, .read_rows = read_big, .ctx = &never
    };
    const wte_tensor_out out = { "big", WTE_U16, 2, shape, NULL, &rows };
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_safetensors_write(path, &out, 1, NULL, 0, &err), err);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    for (size_t r = 0; r < BIG_ROWS; r += 7) {
        uint16_t first, last;
        memcpy(&first, (const uint8_t *)rows.data + r * rows.row_bytes, 2);
        memcpy(&last, (const uint8_t *)rows.data + (r + 1) * rows.row_bytes - 2, 2);
        assert_int_equal(first, r);
        assert_int_equal(last, r);
    }
    wte_file_free(f);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    static const uint64_t shape[] = { BIG_ROWS, BIG_COLS };
    uint64_t late = 2999;
    const wte_row_source rows = {
        .rows = BIG_ROWS, .cols = BIG_COLS, .dtype = WTE_U16, .read_rows = read_big, .ctx = &late
    };
    const wte_tensor_out out = { "big", WTE_U16, 2, shape, NULL, &rows };
    wte_error err = { 0 };
    test_write_file(path, "old", 3);
    assert_fails(wte_safetensors_write(path, &out, 1, NULL, 0, &err), err, WTE_E_IO, 2999,
                 "row 2999 is gone");
    check_content(path, "old", 3);
    assert_fails(wte_npy_write(path, &out, &err), err, WTE_E_IO, 2999, "row 2999 is gone");
    check_content(path, "old", 3);
    check_no_litter(true);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    const wte_tensor_out out = { "s", WTE_U8, 0, NULL, "x", NULL };
    wte_error err = { 0 };
    assert_fails(wte_safetensors_write("no such folder/out", &out, 1, NULL, 0, &err), err, WTE_E_IO,
                 WTE_NO_INDEX, "no such folder/out");
    assert_fails(wte_npy_write("no such folder/out", &out, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "no such folder/out");
}

static void what_makes_no_sense_is_not_written(void **state)
{
    (void)state;
    static const uint64_t two[] = { 2 }, three[] = { 3 },
                          huge[] = { UINT64_C(1) << 32, UINT64_C(1) << 32 };
    wte_error err = { 0 };
    uint8_t data[16] = { 0 };
    const wte_row_source rows = {
        .rows = 2, .cols = 1, .dtype = WTE_U8, .data = data, .row_bytes = 1
    };
    const wte_row_source broken = { .rows = 2, .cols = 1, .dtype = WTE_U8 };
    const struct {
        wte_tensor_out out;
        uint64_t where;
        const char *part;
    } cases[] = {
        { { NULL, WTE_U8, 1, two, data, NULL }, 1, "tensor number 1 has no name" },
        { { "__metadata__", WTE_U8, 1, two, data, NULL },
          1,
          "a tensor cannot be called '__metadata__'" },
        { { "\xff", WTE_U8, 1, two, data, NULL },
          1,
          "a tensor cannot be called '\\xff', which is not UTF-8" },
        { { "first", WTE_U8, 1, two, data, NULL },
          1,
          "tensors number 0 and 1 are both called 'first'" },
        { { "t", WTE_DTYPE_NONE, 1, two, data, NULL },
          WTE_NO_INDEX,
          "tensor 't' has no element type (0)" },
        { { "t", (wte_dtype)99, 1, two, data, NULL },
          WTE_NO_INDEX,
          "tensor 't' has no element type (99)" },
        { { "t", WTE_U8, 17, two, data, NULL }, WTE_NO_INDEX, "tensor 't' has 17 dimensions" },
        { { "t", WTE_U8, 1, NULL, data, NULL }, WTE_NO_INDEX, "a shape is needed" },
        { { "t", WTE_F32, 2, huge, data, NULL },
          WTE_NO_INDEX,
          "tensor 't': shape x f32 overflows 64 bits" },
        { { "t", WTE_F4, 1, three, data, NULL },
          WTE_NO_INDEX,
          "tensor 't': 12 bits are not a whole number" },
        { { "t", WTE_U8, 1, two, NULL, NULL },
          WTE_NO_INDEX,
          "tensor 't' has neither data nor rows" },
        { { "t", WTE_I8, 1, two, NULL, &rows },
          WTE_NO_INDEX,
          "tensor 't' is i8, but its rows are u8" },
        { { "t", WTE_U8, 1, three, NULL, &rows },
          WTE_NO_INDEX,
          "tensor 't' has 3 bytes, but its 2 rows of 1 do not" },
        { { "t", WTE_U8, 1, two, NULL, &broken }, WTE_NO_INDEX, "neither data nor read_rows" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const wte_tensor_out both[] = { { "first", WTE_U8, 0, NULL, data, NULL }, cases[i].out };
        assert_fails(wte_safetensors_write(path, both, 2, NULL, 0, &err), err, WTE_E_ARGUMENT,
                     cases[i].where, cases[i].part);
    }
    assert_fails(wte_safetensors_write(NULL, NULL, 0, NULL, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "path is NULL");
    assert_fails(wte_safetensors_write(path, NULL, 1, NULL, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "tensors is NULL, but has 1 elements");
    check_no_litter(false);
}

static void metadata_that_makes_no_sense_is_not_written(void **state)
{
    (void)state;
    static const char *const twice[][2] = { { "b", "1" }, { "a", "2" }, { "b", "3" } };
    static const char *const no_text[][2] = { { "b", "1" }, { "a", "\xff" } };
    static const char *const none[][2] = { { "b", NULL } };
    wte_error err = { 0 };
    assert_fails(wte_safetensors_write(path, NULL, 0, twice, 3, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "metadata key 'b' comes twice");
    assert_fails(wte_safetensors_write(path, NULL, 0, no_text, 2, &err), err, WTE_E_ARGUMENT, 1,
                 "metadata number 1 is no UTF-8 text");
    assert_fails(wte_safetensors_write(path, NULL, 0, none, 1, &err), err, WTE_E_ARGUMENT, 0,
                 "metadata number 0 is no UTF-8 text");
    check_no_litter(false);
}

static void npy_bytes_are_numpy_s(void **state)
{
    (void)state;
    static const uint64_t shape[] = { 2, 3 };
    for (size_t i = 0; i < N_NPY_TYPES; i++) {
        const struct npy_type *t = &npy_types[i];
        uint8_t data[6 * 8];
        char name[32];
        wte_error err = { 0 };
        npy_values(t, 0, 6, data);
        const wte_tensor_out out = { NULL, t->type, 2, shape, data, NULL };
        assert_ok(wte_npy_write(path, &out, &err), err);
        snprintf(name, sizeof name, "npy/%s.npy", t->code);
        check_same(path, test_data(name));
    }
}

static void npy_shapes_other_than_matrices_are_numpy_s(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t shape[3];
        uint32_t rank;
        int n;
    } cases[] = {
        { "scalar", { 0 }, 0, 1 },       { "one", { 5 }, 1, 5 },         { "none", { 0, 4 }, 2, 0 },
        { "three", { 2, 3, 4 }, 3, 24 }, { "inner", { 3, 1, 2 }, 3, 6 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float data[24];
        char name[32];
        wte_error err = { 0 };
        npy_values(&npy_types[1], 0, cases[i].n, data);
        const wte_tensor_out out = { NULL, WTE_F32, cases[i].rank, cases[i].shape, data, NULL };
        assert_ok(wte_npy_write(path, &out, &err), err);
        snprintf(name, sizeof name, "npy/%s.npy", cases[i].name);
        check_same(path, test_data(name));
    }
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void npy_headers_of_any_shape_are_numpy_s(void **state)
{
    (void)state;
    FILE *f = fopen(test_data("npy/headers.txt"), "r");
    assert_non_null(f);
    char code[8], hex[4096];
    unsigned rank;
    int lines = 0;
    for (; fscanf(f, "%7s %u", code, &rank) == 2; lines++) {
        uint64_t shape[16];
        char header[1024];
        size_t n, i = 0;
        wte_error err = { 0 };
        for (unsigned d = 0; d < rank; d++) {
            unsigned long long size; /* what scanf knows */
            assert_int_equal(fscanf(f, "%llu", &size), 1);
            shape[d] = size;
        }
        assert_int_equal(fscanf(f, "%4095s", hex), 1);
        while (strcmp(npy_types[i].code, code + 1) != 0) i++;
        assert_ok(wte_npy_header(npy_types[i].type, shape, rank, header, 128 + 32 * rank, &n, &err),
                  err);
        assert_int_equal(2 * n, strlen(hex));
        for (size_t k = 0; k < n; k++)
            assert_int_equal((uint8_t)header[k],
                             hex_digit(hex[2 * k]) << 4 | hex_digit(hex[2 * k + 1]));
    }
    fclose(f);
    assert_int_equal(lines, 9);
}

static void types_that_numpy_lacks_are_refused(void **state)
{
    (void)state;
    static const wte_dtype lacking[] = { WTE_BF16,    WTE_F8_E4M3,     WTE_F8_E5M2,
                                         WTE_F8_E8M0, WTE_F8_E4M3FNUZ, WTE_F8_E5M2FNUZ,
                                         WTE_F6_E2M3, WTE_F6_E3M2,     WTE_F4 };
    static const uint64_t shape[] = { 8 };
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        const wte_tensor_out out = { NULL, lacking[i], 1, shape, "0123456789abcdef", NULL };
        wte_error err = { 0 };
        assert_fails(wte_npy_write(path, &out, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "NumPy has no code for");
        assert_non_null(strstr(err.message, wte_dtype_name(lacking[i])));
    }
    check_no_litter(false);
}

static void a_header_needs_room(void **state)
{
    (void)state;
    static const uint64_t shape[] = { 3 };
    char buf[160];
    size_t n;
    wte_error err = { 0 };
    assert_fails(wte_npy_header(WTE_F32, shape, 1, buf, 159, &n, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "need a buffer of 160 bytes, not 159");
    assert_int_equal(n, 0);
    assert_ok(wte_npy_header(WTE_F32, shape, 1, buf, 160, &n, &err), err);
    assert_int_equal(n, 128);
    assert_fails(wte_npy_header(WTE_F32, NULL, 1, buf, 160, &n, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, NULL);
    assert_fails(wte_npy_header(WTE_F32, shape, 17, buf, 160, &n, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "17 dimensions (at most 16)");
    assert_fails(wte_npy_write(NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "path is NULL");
}

#define WRITE_TEST(name, function)                                                                 \
    {                                                                                              \
        name, function, make_folder, remove_folder, NULL                                           \
    }
static const struct CMUnitTest tests[] = {
    WRITE_TEST("bytes are the reference writer's", bytes_are_the_reference_writer_s),
    WRITE_TEST("a real model is written as it was", a_real_model_is_written_as_it_was),
    WRITE_TEST("no tensor at all is a file", no_tensor_at_all_is_a_file),
    WRITE_TEST("rows are streamed in blocks", rows_are_streamed_in_blocks),
    WRITE_TEST("a failed write leaves the old file", a_failed_write_leaves_the_old_file),
    WRITE_TEST("a folder that is not there is named", a_folder_that_is_not_there_is_named),
    WRITE_TEST("what makes no sense is not written", what_makes_no_sense_is_not_written),
    WRITE_TEST("metadata that makes no sense is not written",
               metadata_that_makes_no_sense_is_not_written),
    WRITE_TEST("npy bytes are NumPy's", npy_bytes_are_numpy_s),
    WRITE_TEST("npy shapes other than matrices are NumPy's",
               npy_shapes_other_than_matrices_are_numpy_s),
    WRITE_TEST("npy headers of any shape are NumPy's", npy_headers_of_any_shape_are_numpy_s),
    WRITE_TEST("types that NumPy lacks are refused", types_that_numpy_lacks_are_refused),
    WRITE_TEST("a header needs room", a_header_needs_room),
};
TEST_MAIN(tests)
