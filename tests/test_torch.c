/* Reading PyTorch checkpoints that PyTorch wrote, in each of their containers: names, shapes, every
 * element, shared storages, nested dicts; and those that it wrote but that hold no state dict. */
#include "torch_files.h"

#include <wte/dtype.h>

static wte_file *open_data(const char *name)
{
    char path[64];
    wte_error err = { 0 };
    wte_file *f;
    snprintf(path, sizeof path, "torch/%s", name);
    assert_ok(wte_file_open(test_data(path), NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_TORCH);
    return f;
}

static uint64_t index_of(const wte_file *f, const char *name)
{
    wte_error err = { 0 };
    uint64_t i;
    assert_ok(wte_file_find(f, name, strlen(name), &i, &err), err);
    return i;
}

/* What make_golden_torch.py puts under each name: element [r, c] of the table is 3 r + c. */
typedef struct view {
    const char *name;
    wte_dtype type;
    uint64_t rows, cols;
    float values[12];
    bool column_major, strided;
} view;

#define TABLE                                                                                      \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11                                                       \
    }
static const view views[] = {
    { "wte.weight", WTE_F32, 4, 3, TABLE, false, false },
    { "lm_head.weight", WTE_F32, 4, 3, TABLE, false, false },
    { "rows", WTE_F32, 2, 3, { 3, 4, 5, 6, 7, 8 }, false, false },
    { "turned", WTE_F32, 3, 4, { 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11 }, true, false },
    { "columns", WTE_F32, 4, 2, { 1, 2, 4, 5, 7, 8, 10, 11 }, false, true },
    { "every_row", WTE_F32, 2, 3, { 0, 1, 2, 6, 7, 8 }, false, true },
    { "every_column", WTE_F32, 4, 2, { 0, 2, 3, 5, 6, 8, 9, 11 }, false, true },
    { "spread", WTE_F32, 3, 3, { 3, 4, 5, 3, 4, 5, 3, 4, 5 }, false, true },
    { "half", WTE_F16, 4, 3, TABLE, false, false },
    { "bfloat", WTE_BF16, 4, 3, TABLE, false, false },
    { "long", WTE_I64, 4, 3, TABLE, false, false },
    { "flag", WTE_BOOL, 4, 3, { 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1 }, false, false },
    { "none", WTE_F32, 0, 4, { 0 }, false, false },
    { "parameter", WTE_F32, 4, 3, { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 }, false, false },
};
#define N_VIEWS (sizeof views / sizeof views[0])

static void check_values(const wte_row_source *rows, const view *want)
{
    wte_error err = { 0 };
    uint8_t stored[12 * 8];
    float got[12];
    const size_t n = (size_t)(want->rows * want->cols), element = wte_dtype_bytes(want->type);
    assert_ok(rows->read_block(rows->ctx, 0, (size_t)want->rows, stored, &err), err);
    assert_ok(wte_convert(want->type, stored, WTE_F32, got, n, NULL, &err), err);
    assert_memory_equal(got, want->values, n * sizeof *got);
    for (uint64_t r = want->rows; r > 0; r--) {
        const uint64_t id = r - 1;
        uint8_t one[12 * 8];
        assert_ok(rows->read_rows(rows->ctx, &id, 1, one, &err), err);
        assert_memory_equal(one, stored + id * want->cols * element, want->cols * element);
        if (rows->data)
            assert_memory_equal((const uint8_t *)rows->data + id * rows->row_bytes, one,
                                want->cols * element);
    }
}

static void check_views(const char *name, bool unpacked)
{
    wte_file *f = open_data(name);
    wte_error err = { 0 };
    assert_int_equal(wte_file_n_tensors(f), N_VIEWS + 1);
    for (size_t i = 0; i < N_VIEWS; i++) {
        const view *want = &views[i];
        const uint64_t k = index_of(f, want->name);
        const wte_tensor t = tensor_at(f, k);
        wte_row_source rows;
        assert_string_equal(t.name, want->name);
        assert_int_equal(t.dtype, want->type);
        assert_int_equal(t.rank, 2);
        assert_int_equal(t.column_major, want->column_major);
        assert_int_equal(t.strided, want->strided);
        assert_int_equal(t.decompressed, unpacked);
        assert_ok(wte_file_row_source(f, k, &rows, &err), err);
        assert_ok(wte_check_rows(&rows, &err), err);
        assert_int_equal(rows.rows, want->rows);
        assert_int_equal(rows.cols, want->cols);
        check_values(&rows, want);
    }
    const wte_tensor scalar = tensor_at(f, index_of(f, "scalar"));
    float value;
    assert_int_equal(scalar.rank, 0);
    assert_ok(wte_file_read(f, index_of(f, "scalar"), 0, &value, sizeof value, &err), err);
    assert_true(value == 3.5f);
    wte_file_free(f);
}

static void a_zip_archive_is_read(void **state)
{
    (void)state;
    check_views("views.pt", false);
}

static void a_deflated_archive_is_read(void **state)
{
    (void)state;
    check_views("views-deflated.pt", true);
}

static void the_form_before_1_6_is_read(void **state)
{
    (void)state;
    check_views("views-legacy.pt", false);
}

static void the_oldest_form_in_tar_is_read(void **state)
{
    (void)state;
    check_views("views-tar.pt", false);
}

static void pickles_of_protocol_4_are_read(void **state)
{
    (void)state;
    check_views("views-protocol4.pt", false);
}

static void views_of_one_storage_know_it(void **state)
{
    (void)state;
    static const char *const files[] = { "views.pt", "views-legacy.pt", "views-tar.pt" };
    static const char *const shared[] = { "lm_head.weight", "rows", "turned", "columns", "spread" };
    for (size_t k = 0; k < 3; k++) {
        wte_file *f = open_data(files[k]);
        const wte_tensor table = tensor_at(f, index_of(f, "wte.weight"));
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(tensor_at(f, index_of(f, shared[i])).storage, table.storage);
        assert_int_not_equal(tensor_at(f, index_of(f, "half")).storage, table.storage);
        assert_int_equal(tensor_at(f, index_of(f, "rows")).offset, table.offset + 12);
        const wte_tensor columns = tensor_at(f, index_of(f, "columns"));
        assert_int_equal(columns.offset, table.offset + 4);
        assert_int_equal(columns.stride[0], 3);
        assert_int_equal(columns.stride[1], 1);
        assert_int_equal(columns.bytes, 11 * 4); /* from its first to its last element */
        assert_int_equal(tensor_at(f, index_of(f, "spread")).bytes, 3 * 4);
        assert_int_equal(tensor_at(f, index_of(f, "turned")).stride[0], 1);
        assert_int_equal(tensor_at(f, index_of(f, "turned")).stride[1], 3);
        wte_file_free(f);
    }
}

/* PyTorch's numbers, as it printed them when the files were made (emb.weight, 5 x 3). */
static void both_forms_of_one_dict_hold_the_same(void **state)
{
    (void)state;
    static const char *const files[] = { "tied.pt", "legacy.pt" };
    static const float first[] = { -1.422017216682434f, 0.7506715059280396f, 0.4545671045780182f,
                                   -0.3738528788089752f };
    for (size_t k = 0; k < 2; k++) {
        wte_file *f = open_data(files[k]);
        wte_error err = { 0 };
        float got[4];
        assert_int_equal(wte_file_n_tensors(f), 8);
        assert_ok(wte_file_read(f, index_of(f, "emb.weight"), 0, got, sizeof got, &err), err);
        assert_memory_equal(got, first, sizeof got);
        assert_ok(wte_file_read(f, index_of(f, "view"), 0, got, 4, &err), err);
        assert_memory_equal(got, first + 3, 4);
        assert_int_equal(tensor_at(f, index_of(f, "t")).column_major, true);
        assert_int_equal(tensor_at(f, index_of(f, "scalar")).dtype, WTE_I64);
        wte_file_free(f);
    }
}

/* A file that holds tensors of exactly these names. */
static void check_names(const char *file, const char *const *names, size_t n)
{
    wte_file *f = open_data(file);
    assert_int_equal(wte_file_n_tensors(f), n);
    for (size_t i = 0; i < n; i++) (void)index_of(f, names[i]);
    wte_file_free(f);
}

static void the_models_container_is_entered_and_the_rest_left_out(void **state)
{
    (void)state;
    check_names("lightning.ckpt", (const char *const[]){ "model.wte.weight" }, 1);
    check_names("containers.pt", (const char *const[]){ "wte.weight" }, 1);
}

static void names_of_nested_values_are_joined(void **state)
{
    (void)state;
    check_names("lists.pt", (const char *const[]){ "layers.0", "layers.1.bias", "7.0" }, 3);
    check_names("tensor.pt", (const char *const[]){ "tensor" }, 1);
}

static void a_dict_of_1500_names_is_read(void **state)
{
    (void)state;
    wte_file *f = open_data("many.pt");
    assert_int_equal(wte_file_n_tensors(f), 1500);
    char name[32];
    const uint64_t storage = tensor_at(f, 0).storage;
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "layer.%d", i);
        assert_int_equal(tensor_at(f, index_of(f, name)).storage, storage);
    }
    wte_file_free(f);
}

static void what_is_no_state_dict_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t where; /* of the opcode that creates or calls */
        const char *part;
    } cases[] = {
        { "module.pt", 104, "a pickled module of class 'torch.nn.modules.sparse.Embedding'" },
        { "hostile.pt", 303, "tries to import 'posix.system': refused, nothing was run" },
        { "hostile-legacy.pt", 196, "tries to import 'posix.system': refused, nothing was run" },
        { "script.pt", 1433, "is a TorchScript program (constants.pkl), not a checkpoint" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[64];
        wte_error err = { 0 };
        wte_file *f;
        snprintf(path, sizeof path, "torch/%s", cases[i].file);
        assert_fails(wte_file_open(test_data(path), NULL, &f, &err), err, WTE_E_UNSUPPORTED,
                     cases[i].where, cases[i].part);
        assert_non_null(strstr(err.message, cases[i].file));
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const files[] = { "torch/views.pt", "torch/views-deflated.pt",
                                         "torch/views-legacy.pt", "torch/views-tar.pt" };
    for (size_t k = 0; k < 4; k++) {
        wte_status status = WTE_E_MEMORY;
        for (size_t i = 0; status != WTE_OK; i++) {
            test_memory memory;
            wte_error err = { 0 };
            wte_file *f;
            wte_file_options opt = WTE_FILE_OPTIONS_INIT;
            test_memory_init(&memory, i);
            opt.allocator = &memory.allocator;
            status = wte_file_open(test_data(files[k]), &opt, &f, &err);
            assert_true(status == WTE_OK || status == WTE_E_MEMORY);
            wte_file_free(f);
            assert_int_equal(memory.live, 0);
            assert_true(i < 300);
        }
    }
}

static const struct CMUnitTest tests[] = {
    TEST("a zip archive is read", a_zip_archive_is_read),
    TEST("a deflated archive is read", a_deflated_archive_is_read),
    TEST("the form before 1.6 is read", the_form_before_1_6_is_read),
    TEST("the oldest form, in tar, is read", the_oldest_form_in_tar_is_read),
    TEST("pickles of protocol 4 are read", pickles_of_protocol_4_are_read),
    TEST("views of one storage know it", views_of_one_storage_know_it),
    TEST("both forms of one dict hold the same", both_forms_of_one_dict_hold_the_same),
    TEST("the model's container is entered, and the rest left out",
         the_models_container_is_entered_and_the_rest_left_out),
    TEST("names of nested values are joined", names_of_nested_values_are_joined),
    TEST("a dict of 1500 names is read", a_dict_of_1500_names_is_read),
    TEST("what is no state dict is refused by name", what_is_no_state_dict_is_refused_by_name),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
