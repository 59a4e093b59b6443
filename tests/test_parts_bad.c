/* Parts that disagree, that are something else, or whose params.json is broken; and every
 * allocation that can fail while they are joined. */
#include <sys/resource.h>

#include "parallel_files.h"

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

static void write_params(const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/params.json", folder);
    test_write_file(path, text, strlen(text));
}

static void remove_params(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/params.json", folder);
    remove(path);
}

static const piece norm = { "norm.weight", 8, 0, ones, false, 1 };

/* Two parts of one matrix each and the norm; the second may differ. */
static void write_two(const piece *other, size_t n_other)
{
    const piece first[] = { { "w", 2, 8, ones, false, 2 }, norm };
    write_pieces(part_path(folder, 0), first, 2, 0);
    write_pieces(part_path(folder, 1), other, n_other, 0);
}

static void refused_at(wte_status status, uint64_t where, const char *message)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open(part_path(folder, 0), NULL, &f, &err), err, status, where, message);
    assert_null(f);
}

static void refused(wte_status status, const char *message)
{
    refused_at(status, WTE_NO_INDEX, message);
}

static void parts_must_have_the_same_tensors(void **state)
{
    (void)state;
    const piece w = { "w", 2, 8, ones, false, 2 }, v = { "v", 2, 8, ones, false, 2 };
    const piece less[] = { norm }, more[] = { norm, w, v };
    write_two(less, 1);
    refused(WTE_E_FORMAT, "consolidated.01.pth: has no tensor 'w', which consolidated.00.pth has");
    write_two(more, 3);
    refused(WTE_E_FORMAT,
            "consolidated.01.pth: has a tensor 'v', which consolidated.00.pth has not");
}

static void parts_must_have_tensors_of_one_form(void **state)
{
    (void)state;
    const piece integers[] = { norm, { "w", 2, 8, ones, true, 2 } };
    const piece shorter[] = { norm, { "w", 1, 8, ones, false, 2 } };
    const piece deeper[] = { norm, { "w", 2, 8, ones, false, 3 } };
    write_two(integers, 2);
    refused(WTE_E_FORMAT,
            "consolidated.01.pth: tensor 'w' is i32 [2, 8], but f32 [2, 8] in consolidated.00.pth");
    write_two(shorter, 2);
    refused(WTE_E_FORMAT, "tensor 'w' is f32 [1, 8], but f32 [2, 8] in consolidated.00.pth");
    write_two(deeper, 2);
    refused(WTE_E_FORMAT, "tensor 'w' is f32 [1, 2, 8], but f32 [2, 8] in consolidated.00.pth");
}

static void what_is_no_checkpoint_is_named(void **state)
{
    (void)state;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n"
                                  "oid sha256:4665a5ea\nsize 438400\n";
    const piece same[] = { norm, { "w", 2, 8, ones, false, 2 } };
    write_two(same, 2);
    test_write_file(part_path(folder, 1), pointer, sizeof pointer - 1);
    refused_at(WTE_E_FORMAT, 0, "consolidated.01.pth: a Git LFS pointer");
    made_file other = make_safetensors("{}", 0);
    test_write_file(part_path(folder, 1), other.data, (size_t)other.bytes);
    refused_at(WTE_E_FORMAT, 0,
               "consolidated.01.pth: is a safetensors file, but a part is PyTorch's");
    made_file_free(&other);
    made_zip z;
    zip_begin(&z);
    zip_add(&z, "x", "1", 1, 0);
    zip_end(&z, 0, "");
    test_write_file(part_path(folder, 1), z.data, z.n);
    zip_free(&z);
    refused_at(WTE_E_FORMAT, 0, "consolidated.01.pth: is a zip archive, but no PyTorch checkpoint");
}

static void params_json_must_be_json_and_agree(void **state)
{
    (void)state;
    const piece same[] = { norm, { "w", 2, 8, ones, false, 2 } };
    write_two(same, 2);
    write_params("{\"dim\": 16}");
    refused(WTE_E_FORMAT, "params.json says dim 16, but 'norm.weight' has 8 numbers");
    write_params("{\"dim\": 8");
    refused_at(WTE_E_FORMAT, 9, "params.json: not valid JSON");
    write_params("{\"dim\": 8} {");
    refused_at(WTE_E_FORMAT, 11, "params.json: not valid JSON");
    write_params("{\"x\": [}");
    refused_at(WTE_E_FORMAT, 7, "params.json: not valid JSON");
    write_params("[8]");
    refused_at(WTE_E_FORMAT, 0, "params.json: line 1 column 1 (byte 0): an object was expected");
    write_params("");
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open(part_path(folder, 0), NULL, &f, &err),
              err); /* as if it were not there */
    wte_file_free(f);
    remove_params();
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    bytes b = { { 0 }, 0 };
    for (unsigned part = 0; part < 8; part++) {
        b.n = 0;
        put_pickle(&b, "\x80\x02}%sctorch._utils\n_rebuild_tensor_v2\n(", "empty");
        put_storage(&b, "0", 0);
        put_pickle(&b,
                   "%q%q%q\x86%q%q\x86\x89"
                   "ccollections\nOrderedDict\n)RtRs.",
                   UINT64_C(0), UINT64_C(1) << 61, UINT64_C(0), UINT64_C(1), UINT64_C(1));
        made_zip z = zip_checkpoint(&b, 0);
        test_write_file(part_path(folder, part), z.data, z.n);
        zip_free(&z);
    }
    write_params("{\"dim\": 8}");
    refused(WTE_E_FORMAT, "tensor 'empty' is [2305843009213693952, 0] in each of 8 parts, which "
                          "overflows 64 bits");
    for (unsigned part = 2; part < 8; part++) remove(part_path(folder, part));
    remove_params();
}

static void pieces_of_sixteen_dimensions_are_over_the_limit(void **state)
{
    (void)state;
    const piece deep[] = { norm, { "w", 2, 8, ones, false, 16 } };
    for (unsigned part = 0; part < 2; part++) write_pieces(part_path(folder, part), deep, 2, 0);
    refused(WTE_E_LIMIT, "tensor 'w' has 16 dimensions in each of 2 parts, but at most 15 are read "
                         "of all");
}

static void too_few_file_descriptors_are_told(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    struct rlimit old;
    for (unsigned part = 0; part < 20; part++) write_pieces(part_path(folder, part), &norm, 1, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit few = { 15, old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    wte_status status = wte_file_open(part_path(folder, 0), NULL, &f, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(status, WTE_E_LIMIT);
    assert_non_null(strstr(err.message, "of 20: one file each is kept open (raise ulimit -n)"));
    for (unsigned part = 2; part < 20; part++) remove(part_path(folder, part));
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    const piece more[] = { norm, { "gate", 2, 3, ones, false, 2 } };
    write_parts(folder, false, more, 2, 0);
    write_params("{\"dim\": 8}");
    for (size_t i = 0;; i++) {
        test_memory memory;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_file_open(part_path(folder, 0), &opt, &f, &err);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        if (status == WTE_OK) break;
        assert_int_equal(status, WTE_E_MEMORY);
        assert_true(i < 1000);
    }
    remove_params();
}

static const struct CMUnitTest tests[] = {
    TEST("parts must have the same tensors", parts_must_have_the_same_tensors),
    TEST("parts must have tensors of one form", parts_must_have_tensors_of_one_form),
    TEST("what is no checkpoint is named", what_is_no_checkpoint_is_named),
    TEST("params.json must be JSON and agree", params_json_must_be_json_and_agree),
    TEST("sizes that overflow are refused", sizes_that_overflow_are_refused),
    TEST("pieces of sixteen dimensions are over the limit",
         pieces_of_sixteen_dimensions_are_over_the_limit),
    TEST("too few file descriptors are told", too_few_file_descriptors_are_told),
    TEST("every failed allocation is reported", every_failed_allocation_is_reported),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
