/* A safetensors tensor of a type that this build does not know: it is listed by name, refused when
 * its rows are asked for, and closes no other tensor. */
#include <wte/model.h>

#include "format_files.h"

#define HEADER(more)                                                                               \
    "{\"new\":{\"dtype\":\"F3_E1\",\"shape\":[4,8],\"data_offsets\":[0,12]}," more                 \
    "\"old\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[12,20]}}"

static void other_tensors_are_read(void **state)
{
    (void)state;
    made_file made = make_safetensors(HEADER(""), 20);
    wte_file *f;
    wte_tensor t;
    wte_row_source rows;
    wte_error err = { 0 };
    uint64_t number;
    char bytes[12];
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t.safetensors", NULL, &f, &err), err);
    assert_int_equal(wte_file_n_tensors(f), 2);
    assert_ok(wte_file_find(f, "new", 3, &number, &err), err);
    assert_ok(wte_file_tensor(f, number, &t, &err), err);
    assert_string_equal(t.foreign_name, "F3_E1");
    assert_int_equal(t.foreign_type, 0);
    assert_int_equal(t.dtype, WTE_DTYPE_NONE);
    assert_int_equal(t.rank, 2);
    assert_true(t.shape[0] == 4 && t.shape[1] == 8 && t.bytes == 12);
    assert_fails(wte_file_row_source(f, number, &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "t.safetensors: tensor 'new': unknown dtype 'F3_E1'");
    assert_ok(wte_file_read(f, number, 0, bytes, sizeof bytes, &err), err); /* as stored */
    assert_ok(wte_file_find(f, "old", 3, &number, &err), err);
    assert_ok(wte_file_tensor(f, number, &t, &err), err);
    assert_null(t.foreign_name);
    assert_ok(wte_file_row_source(f, number, &rows, &err), err);
    assert_true(rows.rows == 1 && rows.cols == 2);
    wte_file_free(f);
    made_file_free(&made);
}

static void places_are_checked_as_ever(void **state)
{
    (void)state;
    static const fault faults[] = {
        { "tensors do not overlap",
          "{@\"a\":{\"dtype\":\"F3\",\"shape\":[1],\"data_offsets\":[0,8]},"
          "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
          8, WTE_E_FORMAT, "a" },
        { "no hole is left", "{@\"a\":{\"dtype\":\"F3\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8,
          WTE_E_FORMAT, "a" },
        { "offsets are in order",
          "{\"a\":{\"dtype\":\"F3\",\"shape\":[1],\"data_offsets\":@[8,0]}}", 8, WTE_E_FORMAT,
          "reversed" },
        { "a shape is given", "{@\"a\":{\"dtype\":\"F3\",\"data_offsets\":[0,8]}}", 8, WTE_E_FORMAT,
          "has no 'shape'" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        made_file made = make_safetensors(faults[i].header, faults[i].data_bytes);
        wte_error err = { 0 };
        wte_file *f = NULL;
        const wte_status status =
            wte_file_open_memory(made.data, made.bytes, "t.safetensors", NULL, &f, &err);
        if (status != faults[i].status || !strstr(err.message, faults[i].message))
            fail_msg("%s: %d %s", faults[i].rule, (int)status, err.message);
        made_file_free(&made);
    }
}

/* 16 dimensions leave no room for more: the name's place comes after them. */
static void the_largest_rank_has_a_name_too(void **state)
{
    (void)state;
    made_file made = make_safetensors(
        "{\"a\":{\"data_offsets\":[0,4],\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
        "\"dtype\":\"Q_9\"},\"b\":{\"dtype\":\"U8\",\"shape\":[1],"
        "\"data_offsets\":[4,5]}}",
        5);
    wte_file *f;
    wte_tensor t;
    wte_error err = { 0 };
    assert_ok(wte_file_open_memory(made.data, made.bytes, "t.safetensors", NULL, &f, &err), err);
    assert_ok(wte_file_tensor(f, 0, &t, &err), err);
    assert_int_equal(t.rank, 16);
    assert_string_equal(t.foreign_name, "Q_9");
    wte_file_free(f);
    made_file_free(&made);
}

static const struct CMUnitTest tests[] = {
    TEST("other tensors are read", other_tensors_are_read),
    TEST("places are checked as ever", places_are_checked_as_ever),
    TEST("the largest rank has a name too", the_largest_rank_has_a_name_too),
};
TEST_MAIN(tests)
