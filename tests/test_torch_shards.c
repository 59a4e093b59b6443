/* PyTorch checkpoints in shards: pytorch_model.bin.index.json and the files that it names. */
#include "torch_files.h"

#define SHARD_1 "pytorch_model-00001-of-00002.bin"
#define SHARD_2 "pytorch_model-00002-of-00002.bin"
#define INDEX   "{\"weight_map\":{\"a\":\"" SHARD_1 "\",\"b\":\"" SHARD_2 "\"}}"

static char folder[64], index_path[128];

static const char *in_scratch(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* {name: 2 x 3 over 24 bytes, "stray": the same} in a file; its storage may be deflated. */
static void write_shard(const char *file, const char *name, unsigned flags)
{
    static const made_tensor t = { 6, 0, 2, 3, 3, 1 };
    bytes b = { { 0 }, 0 };
    uint8_t storage[24];
    made_zip z;
    put_pickle(&b, "\x80\x02}%s", name);
    put_tensor(&b, &t);
    put_pickle(&b, "s%s", "stray");
    put_tensor(&b, &t);
    put_pickle(&b, "s.");
    memset(storage, name[0], sizeof storage);
    zip_begin(&z);
    zip_add(&z, "top/data.pkl", b.data, b.n, 0);
    zip_add(&z, "top/data/0", storage, sizeof storage, flags);
    zip_end(&z, 0, "");
    test_write_file(in_scratch(file), z.data, z.n);
    zip_free(&z);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(index_path, sizeof index_path, "%s/pytorch_model.bin.index.json", folder);
    write_shard(SHARD_1, "a", 0);
    write_shard(SHARD_2, "b", 0);
    test_write_file(index_path, INDEX, sizeof INDEX - 1);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static void check_open(uint32_t parts)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open(index_path, NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_TORCH_INDEX);
    assert_string_equal(wte_format_name(WTE_FORMAT_TORCH_INDEX), "PyTorch index");
    assert_int_equal(wte_file_n_shards(f), parts);
    assert_int_equal(wte_file_n_tensors(f), 2);
    assert_int_equal(wte_file_n_unlisted_tensors(f), 2);
    for (uint64_t i = 0; i < 2; i++) {
        const wte_tensor t = tensor_at(f, i);
        wte_row_source rows;
        char row[12], want[12];
        memset(want, 'a' + (int)i, sizeof want);
        assert_int_equal(t.name[0], 'a' + (int)i);
        assert_ok(wte_file_row_source(f, i, &rows, &err), err);
        assert_ok(wte_row_source_read(&rows, 1, row, &err), err);
        assert_memory_equal(row, want, sizeof row);
    }
    assert_int_not_equal(tensor_at(f, 0).storage, tensor_at(f, 1).storage);
    wte_tensor stray;
    assert_ok(wte_file_unlisted_tensor(f, 0, &stray, &err), err);
    assert_string_equal(stray.name, "stray");
    assert_int_equal(stray.storage, tensor_at(f, 0).storage);
    wte_file_free(f);
}

static void shards_are_one_file(void **state)
{
    (void)state;
    check_open(2);
}

static void a_deflated_shard_is_unpacked_beside_the_others(void **state)
{
    (void)state;
    write_shard(SHARD_1, "a", ZIP_DEFLATE);
    check_open(3);
    write_shard(SHARD_1, "a", 0);
}

static void check_index(uint64_t where, const char *part)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open(index_path, NULL, &f, &err), err, WTE_E_FORMAT, where, part);
}

static void index_and_shards_must_agree(void **state)
{
    (void)state;
    write_shard(SHARD_2, "c", 0);
    check_index(54, "tensor 'b' should be in '" SHARD_2 "', but no shard has it");
    made_file other = make_safetensors("{}", 0);
    test_write_file(in_scratch(SHARD_2), other.data, (size_t)other.bytes);
    check_index(0, SHARD_2 ": is a safetensors file, but the first shard is not");
    made_file_free(&other);
    made_zip z;
    zip_begin(&z);
    zip_add(&z, "x", "1", 1, 0);
    zip_end(&z, 0, "");
    test_write_file(in_scratch(SHARD_2), z.data, z.n);
    check_index(0, SHARD_2 ": is a zip archive, but no PyTorch checkpoint (no data.pkl)");
    zip_free(&z);
    write_shard(SHARD_2, "b", 0);
}

static const struct CMUnitTest tests[] = {
    TEST("shards are one file", shards_are_one_file),
    TEST("a deflated shard is unpacked beside the others",
         a_deflated_shard_is_unpacked_beside_the_others),
    TEST("index and shards must agree", index_and_shards_must_agree),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
