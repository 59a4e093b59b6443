/* Rows with one scale and one bias each: layouts and codes by hand, the row source, and every
 * error. Random rows against NumPy: oracle_rowwise.py; the kernels: test_row_kernels.c. */
#include "lookup_help.h"

#include <math.h>
#include <wte/rowwise.h>

static wte_error err;

static const wte_rowwise all_types[] = { WTE_ROW8_F32, WTE_ROW8, WTE_ROW4, WTE_ROW2,
                                         WTE_TBE8,     WTE_TBE4, WTE_TBE2 };
#define N_TYPES (sizeof all_types / sizeof *all_types)

/* Encodes one row and compares its bytes. */
static void check_row(wte_rowwise type, const float *row, size_t cols, const uint8_t *bytes,
                      size_t n)
{
    uint8_t out[64];
    assert_int_equal(wte_packed_bytes((uint32_t)type, cols), n);
    memset(out, 0xa5, sizeof out);
    assert_ok(wte_rowwise_encode(type, row, 1, cols, out, 0, &err), err);
    for (size_t i = 0; i < n; i++)
        if (out[i] != bytes[i])
            fail_msg("%s: byte %zu is %02x, not %02x", wte_rowwise_name(type), i, out[i], bytes[i]);
    assert_int_equal(out[n], 0xa5);
}

static void codes_of_8_bits_lie_before_scale_and_bias(void **state)
{
    (void)state;
    const float row[] = { -64, -3, 62, 191 }, flat[] = { 1, 1, 1 };
    const uint8_t bytes[] = { 0, 61, 126, 255, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xc2 }; /* 1, -64 */
    const uint8_t same[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3f }; /* scale 0, bias 1 */
    const uint8_t half[] = { 0, 61, 126, 255, 0, 0x3c, 0, 0xd4 };
    const uint8_t flat_half[] = { 0, 0, 0, 0, 0x3c, 0, 0x3c }; /* here the scale becomes 1 */
    check_row(WTE_ROW8_F32, row, 4, bytes, sizeof bytes);
    check_row(WTE_ROW8_F32, flat, 3, same, sizeof same);
    check_row(WTE_ROW8, row, 4, half, sizeof half);
    check_row(WTE_ROW8, flat, 3, flat_half, sizeof flat_half);
}

static void narrow_codes_begin_in_the_low_bits(void **state)
{
    (void)state;
    const float row4[] = { 0, 5, 10, 15, 15 }, row2[] = { 0, 1, 2, 3, 3 };
    const uint8_t bytes4[] = { 0x50, 0xfa, 0x0f, 0, 0x3c, 0, 0 };
    const uint8_t bytes2[] = { 0xe4, 0x03, 0, 0x3c, 0, 0 };
    check_row(WTE_ROW4, row4, 5, bytes4, sizeof bytes4);
    check_row(WTE_ROW2, row2, 5, bytes2, sizeof bytes2);
}

static void halves_go_to_the_even_code(void **state)
{
    (void)state;
    const float row[] = { 0, 0.5f, 1.5f, 2.5f, 15 };
    const uint8_t bytes[] = { 0x00, 0x22, 0x0f, 0, 0x3c, 0, 0 };
    check_row(WTE_ROW4, row, 5, bytes, sizeof bytes);
}

static void tbe_rows_begin_with_scale_and_bias(void **state)
{
    (void)state;
    const float row[] = { -64, -3, 62, 191 }, flat[] = { 1, 1 }, nibbles[] = { 15, 0, 1 };
    const uint8_t bytes[] = { 0, 0x3c, 0, 0xd4, 0, 61, 126, 255 };
    const uint8_t same[] = { 0, 0, 0, 0x3c, 0, 0 }; /* of 8 bits: scale 0 as in row8_f32 */
    const uint8_t bytes4[] = { 0, 0x3c, 0, 0, 0x0f, 0x01 };
    check_row(WTE_TBE8, row, 4, bytes, sizeof bytes);
    check_row(WTE_TBE8, flat, 2, same, sizeof same);
    check_row(WTE_TBE4, nibbles, 3, bytes4, sizeof bytes4);
}

/* The bias is rounded first, and the range begins there; a scale too small for f16 becomes 1. */
static void the_stored_bias_is_what_codes_count_from(void **state)
{
    (void)state;
    const float row[] = { 0.1f, 0.1f }, tiny[] = { 0, 1e-8f };
    const uint8_t bytes[] = { 0xff, 0x1b, 0, 0x66, 0x2e }; /* bias 0.09997559, 0.1 is the most */
    const uint8_t one[] = { 0x00, 0, 0x3c, 0, 0 };
    check_row(WTE_ROW4, row, 2, bytes, sizeof bytes);
    check_row(WTE_ROW4, tiny, 2, one, sizeof one);
}

static void rows_come_back_decoded(void **state)
{
    (void)state;
    const float values[] = { 0, 5, 10, 15, 15, -30, 0, 15, -15, 0 };
    for (size_t t = 0; t < N_TYPES; t++) {
        const bool two_bits = all_types[t] == WTE_ROW2 || all_types[t] == WTE_TBE2;
        uint8_t table[64];
        float out[10], again[5];
        wte_rowwise_source storage;
        wte_row_source rows;
        assert_ok(wte_rowwise_encode(all_types[t], values, 2, 5, table, 32, &err), err);
        assert_ok(wte_row_source_from_rowwise(all_types[t], 2, 5, table, 32, &storage, &rows, &err),
                  err);
        assert_true(rows.packing == (uint32_t)all_types[t] && rows.packed == table);
        assert_true(rows.packed_row_bytes == 32 && rows.dtype == WTE_F32 && !rows.data);
        assert_ok(wte_row_source_read_block(&rows, 0, 2, out, &err), err);
        for (size_t i = 0; i < 10; i++) { /* half a step, which is 5 or 15 with two bits */
            const float step = two_bits ? (i < 5 ? 5.0f : 15.0f) : (i < 5 ? 1.0f : 3.0f);
            assert_true(fabsf(out[i] - values[i]) <= step * 0.51f);
        }
        assert_ok(wte_row_source_read(&rows, 1, again, &err), err);
        assert_memory_equal(again, out + 5, sizeof again);
    }
}

static void a_lookup_reads_rows_as_they_are_stored(void **state)
{
    (void)state;
    const float values[] = { 0, 1, 15, 30, 0, 2 };
    const int32_t ids[] = { 1, 0, 1 };
    const float expected[] = { 30, 0, 2, 0, 1, 15, 30, 0, 2 };
    uint8_t table[32];
    float out[9];
    wte_rowwise_source storage;
    wte_row_source rows;
    assert_ok(wte_rowwise_encode(WTE_TBE4, values, 2, 3, table, 16, &err), err);
    assert_ok(wte_row_source_from_rowwise(WTE_TBE4, 2, 3, table, 16, &storage, &rows, &err), err);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, out, 0, &err), err);
    assert_memory_equal(out, expected, sizeof out);
    uint16_t half[9];
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.out_dtype = WTE_F16;
    opt.scale = 0.5f;
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), &opt, half, 0, &err), err);
    assert_true(half[0] == 0x4b80 && half[1] == 0 && half[2] == 0x3c00 && half[5] == 0x4780);
}

static void many_rows_are_read_in_order(void **state)
{
    (void)state;
    enum { ROWS = 700 };
    static float values[ROWS * 2], out[ROWS * 2];
    static uint8_t table[ROWS * 10];
    wte_rowwise_source storage;
    wte_row_source rows;
    for (size_t i = 0; i < ROWS; i++) {
        values[2 * i] = (float)i;
        values[2 * i + 1] = (float)i + 255;
    }
    assert_ok(wte_rowwise_encode(WTE_ROW8_F32, values, ROWS, 2, table, 0, &err), err);
    assert_ok(wte_row_source_from_rowwise(WTE_ROW8_F32, ROWS, 2, table, 0, &storage, &rows, &err),
              err);
    assert_ok(wte_row_source_read_block(&rows, 0, ROWS, out, &err), err);
    assert_memory_equal(out, values, sizeof out);
}

static void rows_without_numbers_have_a_scale(void **state)
{
    (void)state;
    uint8_t row[4];
    wte_rowwise_source storage;
    wte_row_source rows;
    assert_ok(wte_rowwise_encode(WTE_ROW2, NULL, 1, 0, row, 0, &err), err);
    assert_ok(wte_row_source_from_rowwise(WTE_ROW2, 1, 0, row, 0, &storage, &rows, &err), err);
    assert_ok(wte_row_source_read(&rows, 0, NULL, &err), err);
    assert_ok(wte_row_source_from_rowwise(WTE_ROW2, 0, 5, NULL, 0, &storage, &rows, &err), err);
}

static void names_and_sizes_are_told(void **state)
{
    (void)state;
    assert_string_equal(wte_rowwise_name(WTE_ROW8_F32), "row8_f32");
    assert_string_equal(wte_rowwise_name(WTE_TBE2), "tbe2");
    assert_string_equal(wte_rowwise_name(WTE_ROWWISE_NONE), "none");
    assert_string_equal(wte_rowwise_name((wte_rowwise)999), "unknown");
    assert_int_equal(wte_packed_bytes(WTE_ROW8_F32, 128), 136);
    assert_int_equal(wte_packed_bytes(WTE_ROW4, 127), 68);
    assert_int_equal(wte_packed_bytes(WTE_TBE2, 9), 7);
    assert_int_equal(wte_packed_bytes(WTE_ROW8, UINT64_MAX), 0);
}

static void numbers_that_no_row_holds_are_refused(void **state)
{
    (void)state;
    float two[] = { 0, 1, 2, NAN };
    const float wide[] = { -3e38f, 3e38f }, far[] = { -1e6f, 0 }, steep[] = { 0, 1e6f };
    uint8_t out[64];
    for (size_t t = 0; t < N_TYPES; t++) {
        two[3] = t % 2 ? NAN : -INFINITY;
        assert_fails(wte_rowwise_encode(all_types[t], two, 2, 2, out, 0, &err), err,
                     WTE_E_UNSUPPORTED, 1, "row 1 holds NaN or infinity");
        assert_fails(wte_rowwise_encode(all_types[t], wide, 1, 2, out, 0, &err), err,
                     WTE_E_UNSUPPORTED, 0, "row 0 reaches from -3e+38 to 3e+38: too far");
        if (all_types[t] != WTE_ROW8_F32)
            assert_fails(wte_rowwise_encode(all_types[t], far, 1, 2, out, 0, &err), err,
                         WTE_E_UNSUPPORTED, 0, "too far for the scale or the bias");
    }
    assert_fails(wte_rowwise_encode(WTE_ROW2, steep, 1, 2, out, 0, &err), err, WTE_E_UNSUPPORTED, 0,
                 "reaches from 0 to 1e+06");
    assert_ok(wte_rowwise_encode(WTE_ROW4, steep, 0, 2, out, 0, &err), err);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    const float x[] = { 1 };
    uint8_t out[16];
    wte_rowwise_source storage;
    wte_row_source rows;
    assert_fails(wte_rowwise_encode((wte_rowwise)5, x, 1, 1, out, 0, &err), err, WTE_E_UNSUPPORTED,
                 5, "no rowwise type has the number 5");
    assert_fails(wte_row_source_from_rowwise((wte_rowwise)0, 1, 1, out, 0, &storage, &rows, &err),
                 err, WTE_E_UNSUPPORTED, 0, "no rowwise type has the number 0");
    assert_fails(wte_rowwise_encode(WTE_ROW8, x, 1, 1, NULL, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the target is NULL");
    assert_fails(wte_rowwise_encode(WTE_ROW8, NULL, 1, 1, out, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the source is NULL");
    assert_fails(wte_row_source_from_rowwise(WTE_ROW8, 1, 1, NULL, 0, &storage, &rows, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "data or storage is NULL");
    assert_fails(wte_rowwise_encode(WTE_ROW8, x, 1, 1, out, 4, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "4 bytes apart, but one of 1 row8 takes 5");
    assert_fails(wte_row_source_from_rowwise(WTE_TBE4, 1, 1, out, 4, &storage, &rows, &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX, "4 bytes apart, but one of 1 tbe4 takes 5");
    assert_fails(
        wte_row_source_from_rowwise(WTE_ROW8, 1, UINT64_MAX, out, 0, &storage, &rows, &err), err,
        WTE_E_SHAPE, WTE_NO_INDEX, "are more than memory can hold");
    assert_fails(wte_rowwise_encode(WTE_ROW8, x, UINT64_MAX, 1, out, 0, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "5 bytes apart, are more than memory can hold");
    assert_fails(wte_row_source_from_rowwise(WTE_ROW2, (uint64_t)1 << 40, 4, out, (uint64_t)1 << 30,
                                             &storage, &rows, &err),
                 err, WTE_E_SHAPE, WTE_NO_INDEX, "packed rows");
}

static const struct CMUnitTest tests[] = {
    TEST("codes of 8 bits lie before scale and bias", codes_of_8_bits_lie_before_scale_and_bias),
    TEST("narrow codes begin in the low bits", narrow_codes_begin_in_the_low_bits),
    TEST("halves go to the even code", halves_go_to_the_even_code),
    TEST("tbe rows begin with scale and bias", tbe_rows_begin_with_scale_and_bias),
    TEST("the stored bias is what codes count from", the_stored_bias_is_what_codes_count_from),
    TEST("rows come back decoded", rows_come_back_decoded),
    TEST("a lookup reads rows as they are stored", a_lookup_reads_rows_as_they_are_stored),
    TEST("many rows are read in order", many_rows_are_read_in_order),
    TEST("rows without numbers have a scale", rows_without_numbers_have_a_scale),
    TEST("names and sizes are told", names_and_sizes_are_told),
    TEST("numbers that no row holds are refused", numbers_that_no_row_holds_are_refused),
    TEST("bad arguments are refused", bad_arguments_are_refused),
};
TEST_MAIN(tests)
