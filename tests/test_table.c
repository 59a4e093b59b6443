/* Tables: what is made, what is refused, who owns the memory. */
#include "test.h"

#include <wte/table.h>

static wte_error err;

static void a_new_table_is_zero(void **state)
{
    (void)state;
    wte_table *t;
    assert_ok(wte_table_create(7, 5, WTE_F32, NULL, &t, &err), err);
    assert_int_equal(wte_table_n_rows(t), 7);
    assert_int_equal(wte_table_dim(t), 5);
    assert_int_equal(wte_table_dtype(t), WTE_F32);
    const uint8_t *bytes = wte_table_data(t);
    for (size_t i = 0; i < (size_t)7 * 5 * 4; i++) assert_int_equal(bytes[i], 0);
    const wte_row_source *source = wte_table_source(t);
    assert_int_equal(source->rows, 7);
    assert_int_equal(source->cols, 5);
    assert_int_equal(source->dtype, WTE_F32);
    assert_int_equal(source->row_bytes, 20);
    assert_ptr_equal(source->data, bytes);
    assert_ok(wte_check_rows(source, &err), err);
    wte_table_free(t);
}

static void check_type(wte_dtype type)
{
    wte_table *t;
    const uint32_t size = wte_dtype_bytes(type);
    if (size == 0) {
        assert_fails(wte_table_create(2, 2, type, NULL, &t, &err), err, WTE_E_UNSUPPORTED,
                     WTE_NO_INDEX, wte_dtype_name(type));
        assert_null(t);
        return;
    }
    assert_ok(wte_table_create(2, 3, type, NULL, &t, &err), err);
    assert_int_equal(wte_table_source(t)->row_bytes, 3 * size);
    wte_table_free(t);
}

static void every_type_of_whole_bytes_makes_a_table(void **state)
{
    (void)state;
    for (int type = WTE_F64; type <= WTE_F4; type++) check_type((wte_dtype)type);
}

static void an_unknown_type_is_refused(void **state)
{
    (void)state;
    wte_table *t;
    assert_fails(wte_table_create(2, 2, (wte_dtype)999, NULL, &t, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "999");
    assert_fails(wte_table_create(2, 2, WTE_DTYPE_NONE, NULL, &t, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "none");
}

static void tables_without_rows_or_columns_exist(void **state)
{
    (void)state;
    static const uint64_t shapes[][2] = { { 0, 0 }, { 0, 5 }, { 5, 0 }, { UINT64_C(1) << 40, 0 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        wte_table *t;
        assert_ok(wte_table_create(shapes[i][0], shapes[i][1], WTE_F64, NULL, &t, &err), err);
        assert_int_equal(wte_table_n_rows(t), shapes[i][0]);
        assert_int_equal(wte_table_dim(t), shapes[i][1]);
        assert_non_null(wte_table_data(t));
        assert_ok(wte_check_rows(wte_table_source(t), &err), err);
        wte_table_free(t);
    }
}

static void a_table_over_the_limit_is_refused(void **state)
{
    (void)state;
    wte_table *t;
    wte_table_options opt = WTE_TABLE_OPTIONS_INIT;
    const uint64_t two_32 = UINT64_C(1) << 32;
    assert_fails(wte_table_create(two_32, two_32, WTE_F32, NULL, &t, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "4294967296 x 4294967296 f32 has 2^64 bytes or more");
    assert_null(t);
    assert_fails(wte_table_create(two_32, 65, WTE_F32, NULL, &t, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "takes 1116691496960 bytes, but the limit is 1099511627776");
    opt.max_bytes = 100;
    assert_fails(wte_table_create(26, 1, WTE_F32, &opt, &t, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "takes 104 bytes, but the limit is 100 (raise max_bytes, or --max-bytes)");
    assert_ok(wte_table_create(25, 1, WTE_F32, &opt, &t, &err), err);
    wte_table_free(t);
}

static void a_wrapped_table_borrows(void **state)
{
    (void)state;
    const float values[] = { 1, 2, 3, 4, 5, 6 };
    const wte_row_source rows = {
        .rows = 2, .cols = 2, .dtype = WTE_F32, .data = values, .row_bytes = 12
    };
    wte_table *t;
    assert_ok(wte_table_wrap(&rows, NULL, &t, &err), err);
    assert_int_equal(wte_table_n_rows(t), 2);
    assert_int_equal(wte_table_dim(t), 2);
    assert_int_equal(wte_table_dtype(t), WTE_F32);
    assert_null(wte_table_data(t));
    assert_ptr_equal(wte_table_source(t)->data, values);
    float row[2];
    assert_ok(wte_row_source_read(wte_table_source(t), 1, row, &err), err);
    assert_true(row[0] == 4 && row[1] == 5);
    wte_table_free(t);
}

static void rows_that_make_no_sense_are_not_wrapped(void **state)
{
    (void)state;
    const float values[] = { 1, 2 };
    const wte_row_source rows = {
        .rows = 2, .cols = 2, .dtype = WTE_F32, .data = values, .row_bytes = 4
    };
    wte_table *t;
    assert_fails(wte_table_wrap(&rows, NULL, &t, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, "4 bytes");
    assert_null(t);
    assert_fails(wte_table_wrap(NULL, NULL, &t, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "NULL");
}

static void options_of_a_newer_program_are_refused(void **state)
{
    (void)state;
    struct {
        wte_table_options known;
        uint64_t newer;
    } opt = { WTE_TABLE_OPTIONS_INIT, 1 };
    wte_table *t;
    opt.known.struct_size = sizeof opt;
    assert_fails(wte_table_create(1, 1, WTE_F32, &opt.known, &t, &err), err, WTE_E_UNSUPPORTED,
                 sizeof opt.known, "this library knows only");
    assert_null(t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const float values[] = { 1, 2 };
    const wte_row_source rows = {
        .rows = 1, .cols = 2, .dtype = WTE_F32, .data = values, .row_bytes = 8
    };
    for (size_t i = 0; i < 3; i++) {
        test_memory m;
        wte_table_options opt = WTE_TABLE_OPTIONS_INIT;
        wte_table *made, *wrapped;
        test_memory_init(&m, i);
        opt.allocator = &m.allocator;
        const wte_status status = wte_table_create(300, 4, WTE_F32, &opt, &made, &err);
        assert_int_equal(status, i < 2 ? WTE_E_MEMORY : WTE_OK);
        assert_true((made != NULL) == (status == WTE_OK));
        wte_table_free(made);
        assert_int_equal(m.live, 0);
        test_memory_init(&m, i);
        assert_int_equal(wte_table_wrap(&rows, &opt, &wrapped, &err),
                         i < 1 ? WTE_E_MEMORY : WTE_OK);
        wte_table_free(wrapped);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.live_bytes, 0);
    }
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    wte_table_free(NULL);
}

static const struct CMUnitTest tests[] = {
    TEST("a new table is zero and has the shape asked for", a_new_table_is_zero),
    TEST("every type of whole bytes makes a table, no other",
         every_type_of_whole_bytes_makes_a_table),
    TEST("an unknown type is refused", an_unknown_type_is_refused),
    TEST("tables without rows or columns exist", tables_without_rows_or_columns_exist),
    TEST("a table over the limit is refused, with both numbers", a_table_over_the_limit_is_refused),
    TEST("a wrapped table borrows and cannot be written through", a_wrapped_table_borrows),
    TEST("rows that make no sense are not wrapped", rows_that_make_no_sense_are_not_wrapped),
    TEST("options of a newer program are refused", options_of_a_newer_program_are_refused),
    TEST("every allocation may fail, and nothing leaks", every_allocation_may_fail),
    TEST("freeing nothing is fine", freeing_nothing_is_fine),
};
TEST_MAIN(tests)
