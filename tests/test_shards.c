/* Reading an index and its shards: the index and the files must agree. */
#include "format_files.h"

#define ENTRY(name, begin, end)                                                                    \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[" begin "," end "]}"
#define SHARD_1 "model-00001-of-00002.safetensors"
#define SHARD_2 "model-00002-of-00002.safetensors"

static char folder[64], index_path[128];

/* A folder with two shards: a and b in the first, c and a stray copy of a in the second. */
static int make_folder(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{" ENTRY("b", "2", "4") "," ENTRY("a", "0", "2") ",\"__metadata__\":{\"format\":\"pt\"}}",
        "{" ENTRY("a", "0", "2") "," ENTRY("c", "2", "4") "}",
    };
    static const char *const names[] = { SHARD_1, SHARD_2 };
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(index_path, sizeof index_path, "%s/model.safetensors.index.json", folder);
    for (int i = 0; i < 2; i++) {
        char path[128];
        made_file made = make_safetensors(headers[i], 4);
        for (uint64_t k = 1; k <= 4; k++) made.data[made.bytes - k] += (uint8_t)(i * 10);
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        test_write_file(path, made.data, (size_t)made.bytes);
        made_file_free(&made);
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

/* Write the index ('@' marks a byte) and open it; *mark gets the place of '@'. */
static wte_status open_index(const char *text, const wte_file_options *opt, uint64_t *mark,
                             wte_file **f, wte_error *err)
{
    char buf[2048];
    size_t n = 0;
    *mark = WTE_NO_INDEX;
    for (const char *c = text; *c; c++) {
        if (*c == '@')
            *mark = n;
        else
            buf[n++] = *c;
    }
    test_write_file(index_path, buf, n);
    return wte_file_open(index_path, opt, f, err);
}

static void check_index_fault(const char *text, wte_status expected, const char *part)
{
    wte_error err = { 0 };
    wte_file *f;
    uint64_t mark;
    wte_status status = open_index(text, NULL, &mark, &f, &err);
    if (status != expected || err.where != mark || !strstr(err.message, part) ||
        !strstr(err.message, "model.safetensors.index.json"))
        fail_msg("%s: status %d, where %llu (not %llu, '%s'): %s", text, (int)status,
                 (unsigned long long)err.where, (unsigned long long)mark, part, err.message);
    assert_null(f);
}

static const char good_index[] =
    "{\"metadata\":{\"total_size\":8,\"total_parameters\":8}, \"weight_map\": {"
    "\"c\": \"" SHARD_2 "\", \"a\": \"" SHARD_1 "\", \"\\u0062\": \"" SHARD_1 "\"}}\n";

static void shards_are_one_file(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    uint64_t mark, i;
    const char *value;
    assert_ok(open_index(good_index, NULL, &mark, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_SAFETENSORS_INDEX);
    assert_string_equal(wte_format_name(wte_file_format(f)), "safetensors index");
    assert_int_equal(wte_file_n_shards(f), 2);
    assert_string_equal(wte_file_shard_path(f, 0) + strlen(folder) + 1, SHARD_1);
    assert_string_equal(wte_file_shard_path(f, 1) + strlen(folder) + 1, SHARD_2);
    assert_null(wte_file_shard_path(f, 2));
    assert_int_equal(wte_file_shard_bytes(f, 2), 0);
    assert_int_equal(wte_file_n_tensors(f), 3);
    static const char *const names[] = { "a", "b", "c" };
    static const uint8_t first[] = { 0, 2, 12 };
    for (uint64_t k = 0; k < 3; k++) {
        wte_tensor t = tensor_at(f, k);
        wte_row_source rows;
        uint8_t bytes[2];
        assert_string_equal(t.name, names[k]);
        assert_int_equal(t.shard, k == 2);
        assert_int_equal(t.offset + (k == 0 ? 4 : 2), wte_file_shard_bytes(f, t.shard));
        assert_ok(wte_file_find(f, names[k], 1, &i, &err), err);
        assert_int_equal(i, k);
        assert_ok(wte_file_read(f, k, 0, bytes, 2, &err), err);
        assert_int_equal(bytes[0], first[k]);
        assert_ok(wte_file_row_source(f, k, &rows, &err), err);
        assert_int_equal(((const uint8_t *)rows.data)[1], first[k] + 1);
    }
    assert_string_equal(wte_file_metadata(f, 0, &value), "format");
    assert_string_equal(value, "pt");
    wte_file_free(f);
}

static void a_tensor_that_is_not_listed_is_a_stray(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    uint64_t mark, i;
    wte_tensor t;
    assert_ok(open_index("{\"weight_map\":{\"a\":\"" SHARD_2 "\",\"b\":\"" SHARD_1 "\"}}", NULL,
                         &mark, &f, &err),
              err);
    assert_int_equal(wte_file_n_tensors(f), 2);
    assert_string_equal(tensor_at(f, 0).name, "b");
    assert_string_equal(tensor_at(f, 1).name, "a");
    assert_int_equal(tensor_at(f, 1).shard, 1);
    assert_int_equal(wte_file_n_unlisted_tensors(f), 2);
    assert_ok(wte_file_unlisted_tensor(f, 0, &t, &err), err);
    assert_string_equal(t.name, "a"); /* the copy in the first shard */
    assert_int_equal(t.shard, 0);
    assert_ok(wte_file_unlisted_tensor(f, 1, &t, &err), err);
    assert_string_equal(t.name, "c");
    assert_fails(wte_file_unlisted_tensor(f, 2, &t, &err), err, WTE_E_RANGE, 2,
                 "tensor number 2, but it has 2");
    assert_fails(wte_file_find(f, "c", 1, &i, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "no tensor 'c'");
    wte_file_free(f);
}

static void a_tensor_in_another_shard_is_said_to_be_there(void **state)
{
    (void)state;
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\",@\"c\":\"" SHARD_1
                      "\",\"b\":\"" SHARD_1 "\",\"a2\":\"" SHARD_2 "\"}}",
                      WTE_E_FORMAT,
                      "tensor 'c' should be in '" SHARD_1 "', but lies in '" SHARD_2 "'");
}

static void a_tensor_in_no_shard_is_named(void **state)
{
    (void)state;
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\",@\"lm_head\":\"" SHARD_2 "\"}}",
                      WTE_E_FORMAT,
                      "tensor 'lm_head' should be in '" SHARD_2 "', but no shard has it");
}

static void a_missing_shard_is_named(void **state)
{
    (void)state;
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\",@\"x\":\"model-00003.safetensors\"}}",
                      WTE_E_FORMAT,
                      "shard 'model-00003.safetensors' is missing, which should hold 'x'");
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\",@\"x\":\"model-00003.safetensors\","
                      "\"y\":\"model-00004.safetensors\",\"z\":\"model-00003.safetensors\"}}",
                      WTE_E_FORMAT,
                      "shard 'model-00003.safetensors' is missing, which should hold 'x' (2 shards "
                      "of 3, 3 tensors)");
}

static void an_index_reaches_no_file_outside_its_folder(void **state)
{
    (void)state;
    static const char *const names[] = {
        "../x", "/etc/passwd", "a/../../x", "..", "", "a\\u0000b"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"weight_map\":{\"a\":@\"%s\"}}", names[i]);
        check_index_fault(text, WTE_E_FORMAT, "does not lie in the folder of the index");
    }
    /* two dots inside a name are no way out */
    check_index_fault("{\"weight_map\":{@\"a\":\"x..y/..z\"}}", WTE_E_FORMAT,
                      "shard 'x..y/..z' is missing");
}

static void a_broken_index_is_refused(void **state)
{
    (void)state;
    check_index_fault("{\"weight_map\":{@}}", WTE_E_FORMAT, "weight_map is empty");
    check_index_fault("{\"weight_map\":@[\"a\"]}", WTE_E_FORMAT, "weight_map is not an object");
    check_index_fault("{\"weight_map\":{\"a\":@1}}", WTE_E_FORMAT, "not a file name in quotes");
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\",@\"a\":\"" SHARD_2 "\"}}",
                      WTE_E_FORMAT, "duplicate tensor name");
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\"},@\"weight_map\":{}}", WTE_E_FORMAT,
                      "duplicate key 'weight_map'");
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\"@", WTE_E_FORMAT, "not valid JSON");
    check_index_fault("{\"weight_map\":{\"a\":@x}}", WTE_E_FORMAT, "not valid JSON");
    check_index_fault("{\"weight_map\":{\"a\":\"" SHARD_1 "\"}} @x", WTE_E_FORMAT,
                      "not valid JSON");
    check_index_fault("{\"metadata\":@x}", WTE_E_FORMAT, "not valid JSON");
    check_index_fault("@{\"error\":\n  \"Repository not found\"}", WTE_E_FORMAT,
                      "is JSON text, not tensors, and no index of shards (no \"weight_map\"): "
                      "{\"error\": \"Repository not found\"}");
}

static void a_broken_shard_is_named_itself(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    uint64_t mark;
    char path[128];
    snprintf(path, sizeof path, "%s/" SHARD_2, folder);
    assert_int_equal(truncate(path, 100), 0);
    assert_fails(open_index(good_index, NULL, &mark, &f, &err), err, WTE_E_FORMAT, 0,
                 SHARD_2 ": truncated: needs 113 bytes for its header, but has 100");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_fails(open_index(good_index, NULL, &mark, &f, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, SHARD_2 ": is a directory");
}

/* What lies where a shard should: the same things are named as for a file alone. */
static void what_is_no_shard_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        wte_status status;
        const char *part;
    } wrong[] = {
        { "version https://git-lfs.github.com/spec/v1\noid sha256:4665\nsize 4378912\n", 72,
          WTE_E_FORMAT, "a Git LFS pointer of 72 bytes, not the file: that has 4378912 bytes" },
        { "<!DOCTYPE html><html>", 21, WTE_E_FORMAT, "is a web page (HTML)" },
        { "Entry not found", 15, WTE_E_FORMAT, "is text, not tensors" },
        { "PK\x03\x04\x14\0\0\0\x08\0", 10, WTE_E_FORMAT,
          "is a PyTorch file, but the first shard is not" },
        { "GGUF\x03\0\0\0\1\0\0\0\0\0\0\0", 16, WTE_E_FORMAT,
          "is a file of kind gguf, but a shard is safetensors" },
        { "\x93NUMPY\1\0\x76\0{'descr'", 18, WTE_E_FORMAT,
          "is a file of kind npy, but a shard is safetensors" },
        { "{\"weight_map\":{}}", 17, WTE_E_FORMAT,
          "is a file of kind safetensors index, but a shard is safetensors" },
        { "", 0, WTE_E_FORMAT, "is empty (0 bytes)" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        wte_error err = { 0 };
        wte_file *f;
        uint64_t mark;
        char path[128], part[160];
        snprintf(path, sizeof path, "%s/" SHARD_2, folder);
        snprintf(part, sizeof part, SHARD_2 ": %s", wrong[i].part);
        test_write_file(path, wrong[i].bytes, wrong[i].n);
        assert_fails(open_index(good_index, NULL, &mark, &f, &err), err, wrong[i].status, 0, part);
        assert_null(f);
    }
}

static void an_index_in_memory_has_no_folder(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open_memory(good_index, sizeof good_index - 1, "i", NULL, &f, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX, "has no folder to find its shards in");
}

static void the_cap_on_shards_is_exact(void **state)
{
    (void)state;
    enum { CAP = 4096, EACH = 20 };
    static char text[(CAP + 2) * EACH];
    wte_error err = { 0 };
    wte_file *f;
    size_t n = (size_t)snprintf(text, sizeof text, "{\"weight_map\":{");
    for (int i = 0; i < CAP; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"%d\":\"s%d\"", i ? "," : "", i, i);
    text[n] = text[n + 1] = '}'; /* read as far as it goes without a folder */
    assert_fails(wte_file_open_memory(text, n + 2, "i", NULL, &f, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "has no folder");
    n += (size_t)snprintf(text + n, sizeof text - n, ",\"x\":\"y\"}}");
    assert_fails(wte_file_open_memory(text, n, "i", NULL, &f, &err), err, WTE_E_LIMIT, n - 5,
                 "more than 4096 shard files");
}

static void a_large_index_is_refused_by_size(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    write_sparse(index_path, "{\"weight_map\"", 13, 67108865);
    assert_fails(wte_file_open(index_path, NULL, &f, &err), err, WTE_E_LIMIT, 0,
                 "JSON text of 67108865 bytes, but at most 67108864 are read");
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    wte_status status = WTE_E_MEMORY;
    size_t failures = 0;
    while (status == WTE_E_MEMORY) {
        test_memory m;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        wte_error err = { 0 };
        wte_file *f;
        uint64_t mark;
        test_memory_init(&m, failures);
        opt.allocator = &m.allocator;
        status = open_index(good_index, &opt, &mark, &f, &err);
        failures += status != WTE_OK;
        if (status == WTE_OK) assert_int_equal(wte_file_n_unlisted_tensors(f), 1);
        wte_file_free(f);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.live_bytes, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failures > 20);
}

#define SHARD_TEST(name, function)                                                                 \
    {                                                                                              \
        name, function, make_folder, remove_folder, NULL                                           \
    }
static const struct CMUnitTest tests[] = {
    SHARD_TEST("shards are one file", shards_are_one_file),
    SHARD_TEST("a tensor that is not listed is a stray", a_tensor_that_is_not_listed_is_a_stray),
    SHARD_TEST("a tensor in another shard is said to be there",
               a_tensor_in_another_shard_is_said_to_be_there),
    SHARD_TEST("a tensor in no shard is named", a_tensor_in_no_shard_is_named),
    SHARD_TEST("a missing shard is named", a_missing_shard_is_named),
    SHARD_TEST("an index reaches no file outside its folder",
               an_index_reaches_no_file_outside_its_folder),
    SHARD_TEST("a broken index is refused", a_broken_index_is_refused),
    SHARD_TEST("a broken shard is named itself", a_broken_shard_is_named_itself),
    SHARD_TEST("what is no shard is named", what_is_no_shard_is_named),
    SHARD_TEST("an index in memory has no folder", an_index_in_memory_has_no_folder),
    TEST("the cap on shards is exact", the_cap_on_shards_is_exact),
    SHARD_TEST("a large index is refused by size", a_large_index_is_refused_by_size),
    SHARD_TEST("every failing allocation is survived", every_failing_allocation_is_survived),
};
TEST_MAIN(tests)
