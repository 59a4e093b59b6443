/* Checkpoints: what is written is read back, what does not fit is told, and a write that fails
 * leaves the one before. */
#include <signal.h>
#include <sys/resource.h>

#include "test.h"
#include "train/checkpoint.h"

#include <wte/dtype.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    return 0;
}
static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static const float numbers[6] = { 1, -2, 3.5f, 1e-30f, -0.0f, 6 };
static const uint64_t steps[1] = { UINT64_C(1) << 60 };

static wte_row_source view(const void *data, wte_dtype dtype, uint64_t rows, uint64_t cols)
{
    return (wte_row_source){ .rows = rows,
                             .cols = cols,
                             .dtype = dtype,
                             .data = data,
                             .row_bytes = cols * wte_dtype_bytes(dtype) };
}

static void write_one(const char *settings)
{
    wte_error err;
    const wte__checkpoint_part parts[] = { { "table", view(numbers, WTE_F32, 2, 3) },
                                           { "table.steps", view(steps, WTE_U64, 1, 1) },
                                           { "row", view(numbers, WTE_F32, 1, 6) },
                                           { "empty", view(numbers, WTE_F32, 0, 3) } };
    assert_ok(wte__checkpoint_write(path, parts, 4, settings, &err), err);
}

static wte__checkpoint *open_one(void)
{
    wte_error err;
    wte__checkpoint *c;
    assert_ok(wte__checkpoint_open(path, &c, &err), err);
    return c;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    wte_error err;
    const char *const settings = "{\"a\": \"\xc3\xa9 \\\" \\n\", \"step\": 7}";
    write_one(settings);
    wte__checkpoint *c = open_one();
    float got[6], row[6];
    uint64_t count = 0;
    assert_string_equal(wte__checkpoint_settings(c), settings);
    assert_ok(wte__checkpoint_read(c, "table", WTE_F32, 2, 3, got, &err), err);
    assert_memory_equal(got, numbers, sizeof got);
    assert_ok(wte__checkpoint_read(c, "row", WTE_F32, 1, 6, row, &err), err);
    assert_memory_equal(row, numbers, sizeof row);
    assert_ok(wte__checkpoint_read(c, "table.steps", WTE_U64, 1, 1, &count, &err), err);
    assert_true(count == steps[0]);
    assert_ok(wte__checkpoint_read(c, "empty", WTE_F32, 0, 3, NULL, &err), err);
    wte__checkpoint_free(c);
}

static void another_shape_names_both(void **state)
{
    (void)state;
    wte_error err;
    float got[6] = { 9 };
    write_one("{}");
    wte__checkpoint *c = open_one();
    assert_fails(wte__checkpoint_read(c, "table", WTE_F32, 3, 2, got, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX,
                 "part 'table' of the checkpoint is f32 [2, 3], but this run has f32 [3, 2]");
    assert_fails(wte__checkpoint_read(c, "table", WTE_U32, 2, 3, got, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "is f32 [2, 3], but this run has u32 [2, 3]");
    assert_fails(wte__checkpoint_read(c, "head", WTE_F32, 2, 3, got, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "the checkpoint has no part 'head', which is to be f32 [2, 3]");
    assert_true(got[0] == 9);
    wte__checkpoint_free(c);
}

static void no_file_is_not_found(void **state)
{
    (void)state;
    wte_error err;
    wte__checkpoint *c = (void *)&err;
    char none[160];
    snprintf(none, sizeof none, "%s/none", folder);
    assert_fails(wte__checkpoint_open(none, &c, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "none: there is no checkpoint");
    assert_null(c);
}

static void other_files_are_no_checkpoints(void **state)
{
    (void)state;
    wte_error err;
    wte__checkpoint *c = (void *)&err;
    const uint64_t shape[1] = { 6 };
    const wte_tensor_out tensor = { "table", WTE_F32, 1, shape, numbers, NULL };
    assert_ok(wte_safetensors_write(path, &tensor, 1, NULL, 0, &err), err);
    assert_fails(wte__checkpoint_open(path, &c, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "this is no checkpoint: its metadata have no 'wte.checkpoint'");
    assert_null(c);
    assert_ok(wte_npy_write(path, &tensor, &err), err);
    assert_fails(wte__checkpoint_open(path, &c, &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "this is no checkpoint");
    test_write_file(path, "hello\n", 6);
    assert_int_equal(wte__checkpoint_open(path, &c, &err), WTE_E_FORMAT);
    assert_null(c);
}

/* A disk that is full after some bytes: what a limit on the size of files looks like to write(2).
 */
static void a_full_disk_leaves_the_one_before(void **state)
{
    (void)state;
    static float many[65536];
    wte_error err;
    struct rlimit before, small;
    write_one("old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const wte__checkpoint_part part = { "table", view(many, WTE_F32, 256, 256) };
    const wte_status status = wte__checkpoint_write(path, &part, 1, "new", &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, WTE_E_IO);
    assert_non_null(strstr(err.message, "checkpoint"));
    wte__checkpoint *c = open_one();
    float got[6];
    assert_string_equal(wte__checkpoint_settings(c), "old");
    assert_ok(wte__checkpoint_read(c, "table", WTE_F32, 2, 3, got, &err), err);
    assert_memory_equal(got, numbers, sizeof got);
    wte__checkpoint_free(c);
}

static void parts_of_one_name_are_refused(void **state)
{
    (void)state;
    wte_error err;
    write_one("old");
    const wte__checkpoint_part parts[] = { { "a", view(numbers, WTE_F32, 2, 3) },
                                           { "a", view(numbers, WTE_F32, 2, 3) } };
    assert_fails(wte__checkpoint_write(path, parts, 2, "new", &err), err, WTE_E_ARGUMENT, 1,
                 "are both called 'a'");
    wte__checkpoint *c = open_one();
    assert_string_equal(wte__checkpoint_settings(c), "old");
    wte__checkpoint_free(c);
}

static void what_a_killed_run_left_goes_with_the_next_one(void **state)
{
    (void)state;
    char left[200];
    snprintf(left, sizeof left, "%s/.checkpoint.0123abcd.tmp", folder);
    test_write_file(left, "half", 4);
    write_one("old");
    assert_int_equal(access(left, F_OK), -1);
    wte__checkpoint_free(open_one());
}

static void other_settings_are_named(void **state)
{
    (void)state;
    wte_error err;
    const char *const have = "\"dim\": 3,\n\"lr\": 0.5\n";
    assert_ok(wte__checkpoint_belongs("run", have, have, &err), err);
    assert_fails(wte__checkpoint_belongs("run", have, "\"dim\": 3,\n\"lr\": 0.25,\n", &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX,
                 "run: the checkpoint was made with \"lr\": 0.5 but this run has \"lr\": 0.25");
    assert_fails(wte__checkpoint_belongs("run", have, "\"dim\": 30,\n\"lr\": 0.5\n", &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX, "made with \"dim\": 3, but this run has \"dim\": 30");
    assert_fails(wte__checkpoint_belongs("run", "", have, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "but this run has \"dim\": 3");
}

/* A file that another one has replaced is read to its end. */
static void rows_outlive_the_file_s_place(void **state)
{
    (void)state;
    wte_error err;
    wte_row_source rows;
    float row[3];
    write_one("old");
    wte__checkpoint *c = open_one();
    const wte__checkpoint_part part = { "table", view(numbers + 3, WTE_F32, 1, 3) };
    assert_ok(wte__checkpoint_write(path, &part, 1, "new", &err), err);
    assert_ok(wte__checkpoint_rows(c, "table", &rows, &err), err);
    assert_int_equal(rows.rows, 2);
    assert_ok(wte_row_source_read(&rows, 0, row, &err), err);
    assert_memory_equal(row, numbers, sizeof row);
    assert_fails(wte__checkpoint_rows(c, "tabel", &rows, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "table");
    wte__checkpoint_free(c);
}

static void equal_states_give_equal_bytes(void **state)
{
    (void)state;
    struct stat first, second;
    write_one("x");
    assert_int_equal(stat(path, &first), 0);
    char copy[200], command[600];
    snprintf(copy, sizeof copy, "%s.copy", path);
    snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
    assert_int_equal(system(command), 0);
    write_one("x");
    assert_int_equal(stat(path, &second), 0);
    assert_true(first.st_size == second.st_size);
    snprintf(command, sizeof command, "cmp '%s' '%s'", path, copy);
    assert_int_equal(system(command), 0);
}

static const struct CMUnitTest tests[] = {
    TEST("checkpoint: what is written is read back", what_is_written_is_read_back),
    TEST("checkpoint: a part of another shape or type is an error that names both",
         another_shape_names_both),
    TEST("checkpoint: no file is E_NOT_FOUND", no_file_is_not_found),
    TEST("checkpoint: a file of tensors without settings, and other files, are no checkpoints",
         other_files_are_no_checkpoints),
    TEST("checkpoint: a full disk leaves the one before", a_full_disk_leaves_the_one_before),
    TEST("checkpoint: parts of one name are refused and leave the one before",
         parts_of_one_name_are_refused),
    TEST("checkpoint: what a killed run left goes with the next one",
         what_a_killed_run_left_goes_with_the_next_one),
    TEST("checkpoint: other settings are named, both", other_settings_are_named),
    TEST("checkpoint: rows outlive the file's place", rows_outlive_the_file_s_place),
    TEST("checkpoint: equal states give equal bytes", equal_states_give_equal_bytes),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
