/* What a file is when it is no file of tensors, and the calls that all formats share. */
#include "format_files.h"

#include <sys/resource.h>

static wte_status open_bytes(const void *data, size_t n, wte_error *err)
{
    wte_file *f = NULL;
    uint8_t *exact = test_guarded(n ? n : 1);
    if (n) memcpy(exact, data, n);
    wte_status status = wte_file_open_memory(exact, n, "w.safetensors", NULL, &f, err);
    assert_true((f != NULL) == (status == WTE_OK));
    wte_file_free(f);
    test_guarded_free(exact, n ? n : 1);
    return status;
}

#define FOREIGN(bytes, status, part)                                                               \
    {                                                                                              \
        bytes, sizeof bytes - 1, status, part                                                      \
    }
static const struct {
    const char *bytes;
    size_t n;
    wte_status status;
    const char *part;
} foreign[] = {
    FOREIGN(
        "version https://git-lfs.github.com/spec/v1\noid sha256:4665\nsize 438\n", WTE_E_FORMAT,
        "w.safetensors: a Git LFS pointer of 68 bytes, not the file: that has 438 bytes and oid sha256:4665"),
    FOREIGN("version https://git-lfs.github.com/spec/v1\n", WTE_E_FORMAT, "has ? bytes and oid ?"),
    FOREIGN("<!DOCTYPE html>\n<html>", WTE_E_FORMAT, "is a web page (HTML)"),
    FOREIGN("\xef\xbb\xbf \n<HTML lang", WTE_E_FORMAT, "is a web page (HTML)"),
    FOREIGN("<?xml version=\"1.0\"?><Error>", WTE_E_FORMAT, "is XML text"),
    FOREIGN("[1, 2, 3, 4, 5]", WTE_E_UNSUPPORTED, "is JSON text with vectors"),
    FOREIGN("[\"a\", \"b\"]", WTE_E_FORMAT, "is JSON text (a list of values), not tensors"),
    FOREIGN("<?xml version=\"1.0\"?>\n<!-- net --><svg><net/></svg>", WTE_E_FORMAT,
            "is XML text (its root is <svg>), not tensors"),
    FOREIGN("{\"error\":\"Entry not found\"}", WTE_E_FORMAT,
            "is JSON text, not tensors, and no index"),
    FOREIGN("{\"err", WTE_E_FORMAT, "has 5 bytes, but a file of tensors has at least 8"),
    FOREIGN("PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0x.npy", WTE_E_FORMAT,
            "begins as a zip archive, but its 35 bytes do not end as one"),
    FOREIGN("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", WTE_E_UNSUPPORTED,
            "neither a PyTorch checkpoint nor NumPy's .npz: it is empty"),
    FOREIGN("\x80\x02\x8a\x0al\xfc\x9c", WTE_E_UNSUPPORTED, "is a Python pickle"),
    FOREIGN("\x80\x04\x95\x10\0\0\0\0\0\0\0}", WTE_E_UNSUPPORTED, "is a Python pickle"),
    FOREIGN("BZh91AY&SY", WTE_E_UNSUPPORTED, "is bzip2-compressed"),
    FOREIGN("\x28\xb5\x2f\xfd\x04\0\0\0\0", WTE_E_UNSUPPORTED, "is zstd-compressed"),
    FOREIGN("\xfd"
            "7zXZ\0\0\4\xe6",
            WTE_E_UNSUPPORTED, "is xz-compressed"),
    FOREIGN("\x89HDF\r\n\x1a\n\0\0", WTE_E_UNSUPPORTED, "is an HDF5 file"),
    FOREIGN("\x7f"
            "ELF\2\1\1\0\0\0",
            WTE_E_FORMAT, "is a program or library, ELF"),
    FOREIGN("\x89PNG\r\n\x1a\n\0\0\0\x0d", WTE_E_FORMAT, "is a PNG image"),
    FOREIGN("%PDF-1.7\n%", WTE_E_FORMAT, "is a PDF document"),
    FOREIGN("\x08\x07\x12\x07pytorch\x1a\x03"
            "1.9:\x04\n\0\n\0",
            WTE_E_UNSUPPORTED, "is an ONNX model"),
    FOREIGN("\x08\x08:\x04\n\0\n\0B\x02\x10\x0d", WTE_E_UNSUPPORTED, "is an ONNX model"),
    FOREIGN("\x08\x01\x12\x42\n\x40"
            "0123456789012345678901234567890123456789012345678901234567890123",
            WTE_E_UNSUPPORTED, "is a TensorFlow saved model"),
    FOREIGN("\0\0\x06\x08\x01\x1a\x02\x08\x01\0\x0d", WTE_E_UNSUPPORTED,
            "is the index of a TensorFlow checkpoint"),
    FOREIGN("\x1c\0\0\0TFL3\x14\0 \0", WTE_E_UNSUPPORTED, "is a TensorFlow Lite model"),
    FOREIGN("\x82\xa6params\x81\xa3wte", WTE_E_UNSUPPORTED, "is a msgpack file"),
    FOREIGN("\xde\x00\x10\xd9\x06"
            "params\x81",
            WTE_E_UNSUPPORTED, "is a msgpack file"),
    FOREIGN("the end is here\n", WTE_E_FORMAT, "it begins with 'the end is here'"),
    FOREIGN(
        "Entry not found", WTE_E_FORMAT,
        "is text, not tensors (an error reply: the download went wrong); it begins with 'Entry not "
        "found'"),
    FOREIGN("Acc\xc3\xa8s refus\xc3\xa9", WTE_E_FORMAT, "begins with 'Acc\xc3\xa8s refus\xc3\xa9'"),
    FOREIGN("\x08\x07\x12\x07pytorch", WTE_E_FORMAT,
            "unknown: it begins with the bytes 08 07 12 07 70 79 74 6f"),
    FOREIGN("pytorch\xff", WTE_E_FORMAT, "it begins with the bytes 70 79 74 6f 72 63 68 ff"),
};

/* What is cut is told at its end, everything else at its start. */
static uint64_t where_of(size_t i)
{
    const bool cut =
        strstr(foreign[i].part, "has 5 bytes") || strstr(foreign[i].part, "do not end");
    return cut ? foreign[i].n : 0;
}

static void what_is_no_file_of_tensors_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        wte_error err = { 0 };
        wte_status status = open_bytes(foreign[i].bytes, foreign[i].n, &err);
        const uint64_t where = where_of(i);
        if (status != foreign[i].status || err.where != where ||
            !strstr(err.message, foreign[i].part))
            fail_msg("number %zu: status %d, where %llu (not '%s'): %s", i, (int)status,
                     (unsigned long long)err.where, foreign[i].part, err.message);
    }
}

/* A long text may be cut inside a character where the look at its start ends. */
static void a_long_text_is_told_as_text(void **state)
{
    (void)state;
    char text[600];
    wte_error err = { 0 };
    memset(text, 'x', sizeof text);
    memcpy(text, "Sorry\r\n", 7);
    memcpy(text + 511, "\xc3\xa8", 2);
    assert_fails(open_bytes(text, sizeof text, &err), err, WTE_E_FORMAT, 0, "begins with 'Sorry'");
    text[500] = '\1';
    assert_fails(open_bytes(text, sizeof text, &err), err, WTE_E_FORMAT, 0,
                 "begins with the bytes");
}

static void an_archive_of_tar_is_named(void **state)
{
    (void)state;
    uint8_t tar[512] = "model.bin";
    wte_error err = { 0 };
    memcpy(tar + 257, "ustar", 5);
    assert_fails(open_bytes(tar, sizeof tar, &err), err, WTE_E_UNSUPPORTED, 0, "is a tar archive");
}

static void an_empty_file_is_called_empty(void **state)
{
    (void)state;
    wte_error err = { 0 };
    assert_fails(open_bytes("", 0, &err), err, WTE_E_FORMAT, 0,
                 "w.safetensors: is empty (0 bytes)");
}

static void names_of_files_prove_nothing(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[128];
    made_file made =
        make_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
    wte_error err = { 0 };
    wte_file *f;
    snprintf(path, sizeof path, "%s/weights.gguf", dir);
    test_write_file(path, made.data, (size_t)made.bytes);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_SAFETENSORS);
    wte_file_free(f);
    made_file_free(&made);
    test_scratch_remove(dir);
}

static void what_is_no_file_at_all_is_said(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open("no such file", NULL, &f, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "no such file: No such file or directory");
    assert_fails(wte_file_open(".", NULL, &f, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 ".: is a directory");
    assert_fails(wte_file_open(NULL, NULL, &f, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "path is NULL");
    assert_fails(wte_file_open("x", NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "out is NULL");
    assert_fails(wte_file_open_memory(NULL, 1, "x", NULL, &f, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "data is NULL");
    assert_fails(wte_file_open_memory("", 0, "x", NULL, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "out is NULL");
}

static void options_of_another_age_are_understood_or_refused(void **state)
{
    (void)state;
    struct {
        wte_file_options now;
        uint64_t later;
    } opt = { WTE_FILE_OPTIONS_INIT, 0 };
    wte_error err = { 0 };
    wte_file *f;
    opt.now.struct_size = sizeof opt;
    assert_fails(wte_file_open_memory("x", 1, "x", &opt.now, &f, &err), err, WTE_E_FORMAT, 1,
                 "has 1 bytes");
    opt.later = 1;
    assert_fails(wte_file_open_memory("x", 1, "x", &opt.now, &f, &err), err, WTE_E_UNSUPPORTED,
                 sizeof opt.now, "options");
}

/* The U8 tensor "m" of the given shape over 24 bytes 0, 1, 2, ... */
static wte_file *open_shape(const char *shape, made_file *made)
{
    char header[128];
    wte_error err = { 0 };
    wte_file *f;
    snprintf(header, sizeof header,
             "{\"m\":{\"dtype\":\"U8\",\"shape\":%s,\"data_offsets\":[0,24]}}", shape);
    *made = make_safetensors(header, 24);
    assert_ok(wte_file_open_memory(made->data, made->bytes, "t", NULL, &f, &err), err);
    return f;
}

/* Its rows and columns, and the first element of the last row; rows 0: it is no matrix. */
static void check_shape(const char *shape, uint64_t n_rows, uint64_t n_cols)
{
    made_file made;
    wte_file *f = open_shape(shape, &made);
    wte_error err = { 0 };
    wte_row_source rows;
    uint8_t row[24];
    if (n_rows == 0) {
        assert_fails(wte_file_row_source(f, 0, &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                     "t: tensor 'm' of shape [");
    } else {
        assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
        assert_int_equal(rows.rows, n_rows);
        assert_int_equal(rows.cols, n_cols);
        assert_int_equal(rows.row_bytes, n_cols);
        assert_ok(wte_row_source_read(&rows, n_rows - 1, row, &err), err);
        assert_int_equal(row[0], 24 - n_cols);
    }
    wte_file_free(f);
    made_file_free(&made);
}

static void dimensions_of_one_are_skipped_before_the_last(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        uint64_t rows, cols; /* 0: no matrix */
    } cases[] = {
        { "[24]", 24, 1 },       { "[6,4]", 6, 4 },   { "[1,24]", 1, 24 },   { "[24,1]", 24, 1 },
        { "[1,6,4]", 6, 4 },     { "[6,1,4]", 6, 4 }, { "[1,1,24]", 1, 24 }, { "[24,1,1]", 24, 1 },
        { "[1,6,1,1,4]", 6, 4 }, { "[2,3,4]", 0, 0 }, { "[6,4,1]", 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_shape(cases[i].shape, cases[i].rows, cases[i].cols);
}

static void rows_in_any_order_are_the_view_s_rows(void **state)
{
    (void)state;
    made_file made;
    wte_file *f = open_shape("[6,4]", &made);
    wte_error err = { 0 };
    wte_row_source rows;
    const uint64_t ids[] = { 5, 0, 1, 2, 2, 1, 3, 4, 5 };
    uint8_t out[9 * 4];
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_ok(rows.read_rows(rows.ctx, ids, 9, out, &err), err);
    for (size_t i = 0; i < 9; i++)
        assert_memory_equal(out + 4 * i, (const uint8_t *)rows.data + 4 * ids[i], 4);
    assert_ok(rows.read_rows(rows.ctx, ids, 0, NULL, &err), err);
    assert_ok(rows.read_block(rows.ctx, 2, 3, out, &err), err);
    for (int i = 0; i < 12; i++) assert_int_equal(out[i], 8 + i);
    wte_file_free(f);
    made_file_free(&made);
}

static void elements_of_part_of_a_byte_are_no_rows(void **state)
{
    (void)state;
    made_file made =
        make_safetensors("{\"q\":{\"dtype\":\"F4\",\"shape\":[2,4],\"data_offsets\":[0,4]}}", 4);
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    uint8_t bytes[4];
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    assert_fails(wte_file_row_source(f, 0, &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "t: tensor 'q': an element of type f4 is 4 bits, not whole bytes");
    assert_ok(wte_file_read(f, 0, 1, bytes, 3, &err), err); /* but its bytes can be had */
    assert_int_equal(bytes[2], 3);
    wte_file_free(f);
    made_file_free(&made);
}

static void reading_stays_inside_the_tensor(void **state)
{
    (void)state;
    made_file made;
    wte_file *f = open_shape("[6,4]", &made);
    wte_error err = { 0 };
    uint8_t out[24];
    wte_tensor t;
    wte_row_source rows;
    assert_ok(wte_file_read(f, 0, 24, out, 0, &err), err);
    assert_fails(wte_file_read(f, 0, 24, out, 1, &err), err, WTE_E_RANGE, 24,
                 "tensor 'm' has 24 bytes; 1 from byte 24 on are not all there");
    assert_fails(wte_file_read(f, 0, 1, out, UINT64_MAX, &err), err, WTE_E_RANGE, 1,
                 "not all there");
    assert_fails(wte_file_read(f, 1, 0, out, 1, &err), err, WTE_E_RANGE, 1,
                 "tensor number 1, but it has 1");
    assert_fails(wte_file_tensor(f, 1, &t, &err), err, WTE_E_RANGE, 1,
                 "tensor number 1, but it has 1");
    assert_fails(wte_file_row_source(f, 7, &rows, &err), err, WTE_E_RANGE, 7,
                 "tensor number 7, but it has 1");
    wte_file_free(f);
    made_file_free(&made);
}

static void a_file_that_shrinks_is_an_error_of_reading(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[128];
    made_file made =
        make_safetensors("{\"m\":{\"dtype\":\"U8\",\"shape\":[6,4],\"data_offsets\":[0,24]}}", 24);
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    uint8_t row[4];
    opt.copy = 1;
    snprintf(path, sizeof path, "%s/m", dir);
    test_write_file(path, made.data, (size_t)made.bytes);
    assert_ok(wte_file_open(path, &opt, &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_null(rows.data);
    assert_int_equal(truncate(path, (off_t)made.bytes - 3), 0);
    assert_ok(wte_row_source_read(&rows, 3, row, &err), err);
    assert_fails(wte_row_source_read(&rows, 5, row, &err), err, WTE_E_FORMAT, made.bytes - 3,
                 "it shrank");
    wte_file_free(f);
    made_file_free(&made);
    test_scratch_remove(dir);
}

static void a_name_that_is_not_there_brings_the_nearest(void **state)
{
    (void)state;
    made_file made = make_safetensors(
        "{\"model.embed_tokens.weight\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},"
        "\"model.layers.0.mlp.weight\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[1,2]},"
        "\"lm_head.weight\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[2,3]},"
        "\"wte.weight\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[3,4]}}",
        4);
    static const char *const cases[][2] = {
        { "embed_tokens.weight", "; nearest: 'model.embed_tokens.weight'" },
        { "transformer.wte.weight", "; nearest: 'wte.weight'" },
        { "LM_head.weigth", "; nearest: 'lm_head.weight'" },
        { "model.layers.1.mlp.weight", "; nearest: 'model.layers.0.mlp.weight'" },
        { "something else", "has no tensor 'something else'" },
    };
    wte_error err = { 0 };
    wte_file *f;
    uint64_t i;
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t", NULL, &f, &err), err);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        assert_fails(wte_file_find(f, cases[k][0], strlen(cases[k][0]), &i, &err), err,
                     WTE_E_NOT_FOUND, WTE_NO_INDEX, cases[k][1]);
    assert_null(strstr(err.message, "nearest"));
    assert_ok(wte_file_find(f, "wte.weight+", 10, &i, &err), err); /* by length, not by NUL */
    assert_int_equal(i, 3);
    wte_file_free(f);
    made_file_free(&made);
}

static void names_from_files_are_escaped_in_messages(void **state)
{
    (void)state;
    const fault bad = { "an escape sequence", "{\"\\u001b[31m\":{\"dtype\":@\"f7\"}}", 0,
                        WTE_E_FORMAT, "tensor '\\x1b[31m'" };
    check_fault(&bad, NULL);
}

static void too_many_open_shards_are_told_with_the_remedy(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[128], text[1024] = "{\"weight_map\":{";
    made_file made = make_safetensors("{}", 0);
    wte_error err = { 0 };
    wte_file *f;
    for (int i = 0; i < 20; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s\"t%d\":\"s%02d\"", i ? "," : "", i, i);
        snprintf(path, sizeof path, "%s/s%02d", dir, i);
        test_write_file(path, made.data, (size_t)made.bytes);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "}}");
    snprintf(path, sizeof path, "%s/index.json", dir);
    test_write_file(path, text, strlen(text));
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit few = { 15, old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    wte_status status = wte_file_open(path, NULL, &f, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(status, WTE_E_LIMIT);
    assert_non_null(strstr(err.message, "of 20: one file each is kept open (raise ulimit -n)"));
    made_file_free(&made);
    test_scratch_remove(dir);
}

static void formats_have_names(void **state)
{
    (void)state;
    assert_string_equal(wte_format_name(WTE_FORMAT_SAFETENSORS), "safetensors");
    assert_string_equal(wte_format_name(WTE_FORMAT_NPY), "npy");
    assert_string_equal(wte_format_name(WTE_FORMAT_UNKNOWN), "unknown");
}

static const struct CMUnitTest tests[] = {
    TEST("what is no file of tensors is named", what_is_no_file_of_tensors_is_named),
    TEST("a long text is told as text", a_long_text_is_told_as_text),
    TEST("a tar archive is named", an_archive_of_tar_is_named),
    TEST("an empty file is called empty", an_empty_file_is_called_empty),
    TEST("names of files prove nothing", names_of_files_prove_nothing),
    TEST("what is no file at all is said", what_is_no_file_at_all_is_said),
    TEST("options of another age are understood or refused",
         options_of_another_age_are_understood_or_refused),
    TEST("dimensions of one are skipped before the last",
         dimensions_of_one_are_skipped_before_the_last),
    TEST("rows in any order are the view's rows", rows_in_any_order_are_the_view_s_rows),
    TEST("elements of part of a byte are no rows", elements_of_part_of_a_byte_are_no_rows),
    TEST("reading stays inside the tensor", reading_stays_inside_the_tensor),
    TEST("a file that shrinks is an error of reading", a_file_that_shrinks_is_an_error_of_reading),
    TEST("a name that is not there brings the nearest",
         a_name_that_is_not_there_brings_the_nearest),
    TEST("names from files are escaped in messages", names_from_files_are_escaped_in_messages),
    TEST("too many open shards are told with the remedy",
         too_many_open_shards_are_told_with_the_remedy),
    TEST("formats have names", formats_have_names),
};
TEST_MAIN(tests)
