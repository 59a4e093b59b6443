/* Check: models that do not open, and all that is wrong with an index and its shards. */
#include "check_models.h"

/* A shard of tensors of one f32 each. */
static void write_shard(const char *dir, const char *name, const char *const *tensors, size_t n)
{
    char header[600] = "{", path[600], bytes[8] = { 0 };
    size_t used = 1;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%zu,"
                                 "%zu]}",
                                 i ? "," : "", tensors[i], 4 * i, 4 * i + 4);
    used += (size_t)snprintf(header + used, sizeof header - used, "}");
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    bytes[0] = (char)(used & 0xff);
    bytes[1] = (char)(used >> 8);
    assert_int_equal(fwrite(bytes, 1, 8, f), 8);
    assert_int_equal(fwrite(header, 1, used, f), used);
    for (size_t i = 0; i < n; i++) assert_int_equal(fwrite("\0\0\x80\x3f", 1, 4, f), 4);
    assert_int_equal(fclose(f), 0);
}

/* a lies where it should, b in the other shard, c in none, d in both, e is not listed, f's shard is
 * not there. */
static const char *broken_model(void)
{
    static const char *const one[] = { "a", "d" }, *const two[] = { "b", "d", "e" };
    const char *dir = test_scratch();
    write_shard(dir, "1.safetensors", one, 2);
    write_shard(dir, "2.safetensors", two, 3);
    write_text(dir, "model.safetensors.index.json",
               "{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"1.safetensors\",\"c\":"
               "\"2.safetensors\",\"d\":\"1.safetensors\",\"f\":\"3.safetensors\"}}");
    return dir;
}

static void all_faults_of_shards_are_told(void **state)
{
    (void)state;
    const char *dir = broken_model();
    wte_check *c;
    wte_error err;
    assert_ok(wte_check_unopened(dir, NULL, NULL, &c, &err), err);
    assert_faults(c, "index-tensor-lacking index-tensor-misplaced index-tensor-twice shard-missing "
                     "index-stray-tensor");
    assert_finding(c, "index-tensor-lacking", "index", 0, 0,
                   "1 tensor in the index that no shard which can be read has: 'c' (listed in "
                   "2.safetensors)",
                   "download");
    assert_finding(c, "index-tensor-misplaced", "index", 0, 0,
                   "'b' in 2.safetensors (listed in 1.safetensors)", "download");
    assert_finding(c, "index-tensor-twice", "index", 0, 0,
                   "'d' in 2.safetensors (listed in 1.safetensors)", "download");
    assert_finding(c, "index-stray-tensor", "index", 0, 0, "'e' in 2.safetensors", "download");
    assert_finding(c, "shard-missing", "3.safetensors", 0, 0, "which should hold 'f'", "download");
    assert_false(wte_check_facts_of(c)->has_table);
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void opening_gives_the_first_fault_as_before(void **state)
{
    (void)state;
    const char *dir = broken_model();
    wte_model *m;
    wte_error err;
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, err.where,
                 "shard '3.safetensors' is missing, which should hold 'f'");
    test_scratch_remove(dir);
}

static void other_files_are_told_as_unreadable(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[600];
    wte_check *c;
    wte_error err;
    write_text(dir, "model.safetensors", "too short");
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    assert_ok(wte_check_unopened(path, NULL, NULL, &c, &err), err);
    assert_faults(c, "model-unreadable");
    assert_finding(c, "model-unreadable", "model.safetensors", 0, 0, "model.safetensors", "");
    wte_check_free(c);
    test_scratch_remove(dir);
}

static void calls_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    float *table = trained_table(40, DIM, 1);
    const char *dir = tied_model(table, 40, 40, "");
    const wte_shard_callback nothing = { NULL, NULL };
    wte_file_options file = WTE_FILE_OPTIONS_INIT;
    wte_file *f;
    wte_check *c;
    wte_error err;
    assert_fails(wte_check_unopened(dir, NULL, NULL, &c, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "opens");
    assert_null(c);
    file.shards = &nothing;
    assert_fails(wte_file_open(dir, &file, &f, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the watch of shards has no function");
    test_scratch_remove(dir);
    free(table);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    const char *dir = broken_model();
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        wte_check *c = NULL;
        wte_error err;
        test_memory_init(&memory, i);
        status = wte_check_unopened(dir, NULL, &memory.allocator, &c, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        wte_check_free(c);
        assert_int_equal(memory.live, 0);
        assert_true(i < 100);
    }
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("all faults of shards are told", all_faults_of_shards_are_told),
    TEST("opening gives the first fault as before", opening_gives_the_first_fault_as_before),
    TEST("other files are told as unreadable", other_files_are_told_as_unreadable),
    TEST("calls that make no sense are refused", calls_that_make_no_sense_are_refused),
    TEST("every failed allocation is told", every_failed_allocation_is_told),
};
TEST_MAIN(tests)
