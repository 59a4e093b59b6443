/* Token ids of every type, and row sources: views and readers, what is refused and where. */
#include "test.h"

#include <wte/row_source.h>

#include "base/error.h"

static void ids_are_read_in_place_whatever_their_type(void **state)
{
    (void)state;
    const uint16_t u16[] = { 0, 7, 65535 };
    const int32_t i32[] = { 5, -1, INT32_MIN };
    const uint32_t u32[] = { 5, UINT32_MAX, 2147483648u };
    const int64_t i64[] = { 3, -100, INT64_MIN };
    assert_int_equal(wte_ids_at((wte_ids){ u16, WTE_U16, 0, 3 }, 1), 7);
    assert_int_equal(wte_ids_at((wte_ids){ u16, WTE_U16, 0, 3 }, 2), 65535);
    assert_int_equal(wte_ids_at((wte_ids){ i32, WTE_I32, 0, 3 }, 1), -1);
    assert_int_equal(wte_ids_at((wte_ids){ i32, WTE_I32, 0, 3 }, 2), INT32_MIN);
    assert_int_equal(wte_ids_at((wte_ids){ u32, WTE_U32, 0, 3 }, 1), INT64_C(4294967295));
    assert_int_equal(wte_ids_at((wte_ids){ u32, WTE_U32, 0, 3 }, 2), INT64_C(2147483648));
    assert_int_equal(wte_ids_at((wte_ids){ i64, WTE_I64, 0, 3 }, 0), 3);
    assert_int_equal(wte_ids_at((wte_ids){ i64, WTE_I64, 0, 3 }, 2), INT64_MIN);
    assert_int_equal(wte_ids_at((wte_ids){ i64, WTE_F32, 0, 3 }, 0), -1); /* no type for ids */
}

static void ids_need_no_alignment(void **state)
{
    (void)state;
    char bytes[1 + 2 * 8];
    const int64_t i64[] = { -2, 1234567890123 };
    memcpy(bytes + 1, i64, sizeof i64);
    assert_int_equal(wte_ids_at((wte_ids){ bytes + 1, WTE_I64, 0, 2 }, 0), -2);
    assert_int_equal(wte_ids_at((wte_ids){ bytes + 1, WTE_I64, 0, 2 }, 1), 1234567890123);
}

/* A reader of rows whose elements are 100 * row + column, that counts its calls. */
typedef struct counting_reader {
    size_t calls, most_ids, block_calls;
    uint64_t fails_at; /* this row cannot be read */
} counting_reader;

static void make_row(uint64_t row, float *out)
{
    for (uint64_t c = 0; c < 3; c++) out[c] = (float)(100 * row + c);
}

static wte_status read_counted(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    counting_reader *reader = ctx;
    reader->calls++;
    if (n > reader->most_ids) reader->most_ids = n;
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == reader->fails_at)
            return wte__fail(err, WTE_E_IO, ids[i], "the disk is on fire");
        make_row(ids[i], (float *)out + 3 * i);
    }
    return WTE_OK;
}

static wte_status block_counted(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    (void)err;
    ((counting_reader *)ctx)->block_calls++;
    for (size_t i = 0; i < n; i++) make_row(first + i, (float *)out + 3 * i);
    return WTE_OK;
}

static wte_row_source reader_rows(counting_reader *reader, uint64_t rows)
{
    wte_row_source r = { 0 };
    *reader = (counting_reader){ 0, 0, 0, UINT64_MAX };
    r.rows = rows;
    r.cols = 3;
    r.dtype = WTE_F32;
    r.read_rows = read_counted;
    r.ctx = reader;
    return r;
}

static wte_row_source view_rows(const void *data, uint64_t rows, uint64_t row_bytes)
{
    wte_row_source r = { 0 };
    r.rows = rows;
    r.cols = 3;
    r.dtype = WTE_F32;
    r.data = data;
    r.row_bytes = row_bytes;
    return r;
}

static void assert_rows(const float *got, uint64_t first, size_t n)
{
    float expected[3];
    for (size_t i = 0; i < n; i++) {
        make_row(first + i, expected);
        assert_memory_equal(got + 3 * i, expected, sizeof expected);
    }
}

static void check_six_rows(const wte_row_source *view)
{
    float out[6 * 3];
    wte_error err;
    assert_ok(wte_check_rows(view, &err), err);
    for (uint64_t r = 0; r < 6; r++) {
        assert_ok(wte_row_source_read(view, r, out, &err), err);
        assert_rows(out, r, 1);
    }
    assert_ok(wte_row_source_read_block(view, 2, 4, out, &err), err);
    assert_rows(out, 2, 4);
    assert_ok(wte_row_source_read_block(view, 6, 0, NULL, &err), err);
}

static void a_view_gives_rows_and_blocks(void **state)
{
    (void)state;
    float tight[6 * 3], wide[6 * 5];
    for (uint64_t r = 0; r < 6; r++) {
        make_row(r, tight + 3 * r);
        make_row(r, wide + 5 * r);
        wide[5 * r + 3] = wide[5 * r + 4] = -1; /* padding, to be skipped */
    }
    const wte_row_source tight_rows = view_rows(tight, 6, 12), wide_rows = view_rows(wide, 6, 20);
    check_six_rows(&tight_rows);
    check_six_rows(&wide_rows);
}

static void a_block_goes_through_the_reader_in_pieces(void **state)
{
    (void)state;
    enum { N = 700 };
    static float out[N * 3];
    counting_reader reader;
    const wte_row_source rows = reader_rows(&reader, 1000);
    wte_error err;
    assert_ok(wte_row_source_read(&rows, 999, out, &err), err);
    assert_rows(out, 999, 1);
    assert_int_equal(reader.calls, 1);
    assert_ok(wte_row_source_read_block(&rows, 300, N, out, &err), err);
    assert_rows(out, 300, N);
    assert_true(reader.calls <= 1 + 3 && reader.most_ids <= 256);
}

static void a_block_prefers_read_block_and_one_row_the_view(void **state)
{
    (void)state;
    float data[4 * 3], out[4 * 3];
    counting_reader reader;
    wte_row_source rows = reader_rows(&reader, 4);
    wte_error err;
    for (uint64_t r = 0; r < 4; r++) make_row(r, data + 3 * r);
    rows.data = data;
    rows.row_bytes = 12;
    assert_ok(wte_row_source_read(&rows, 2, out, &err), err);
    assert_rows(out, 2, 1);
    assert_int_equal(reader.calls, 0);
    assert_ok(wte_row_source_read_block(&rows, 0, 4, out, &err), err);
    assert_rows(out, 0, 4);
    assert_int_equal(reader.calls, 1);
    rows.read_block = block_counted;
    assert_ok(wte_row_source_read_block(&rows, 1, 3, out, &err), err);
    assert_rows(out, 1, 3);
    assert_int_equal(reader.calls, 1);
    assert_int_equal(reader.block_calls, 1);
}

static void a_readers_failure_is_passed_on(void **state)
{
    (void)state;
    enum { N = 600 };
    static float out[N * 3];
    counting_reader reader;
    const wte_row_source rows = reader_rows(&reader, 1000);
    wte_error err;
    reader.fails_at = 520;
    assert_fails(wte_row_source_read_block(&rows, 0, N, out, &err), err, WTE_E_IO, 520, "on fire");
    assert_fails(wte_row_source_read(&rows, 520, out, &err), err, WTE_E_IO, 520, "on fire");
}

static void rows_past_the_end_are_out_of_range(void **state)
{
    (void)state;
    float data[6 * 3] = { 0 }, out[6 * 3];
    const wte_row_source rows = view_rows(data, 6, 12);
    wte_error err;
    assert_fails(wte_row_source_read(&rows, 6, out, &err), err, WTE_E_RANGE, 6, "there are only 6");
    assert_fails(wte_row_source_read(&rows, UINT64_MAX, out, &err), err, WTE_E_RANGE, UINT64_MAX,
                 "there are only 6");
    assert_fails(wte_row_source_read_block(&rows, 4, 3, out, &err), err, WTE_E_RANGE, 4,
                 "3 rows from row 4, but there are only 6");
    assert_fails(wte_row_source_read_block(&rows, 1, SIZE_MAX, out, &err), err, WTE_E_RANGE, 1,
                 "from row 1, but there are only 6");
    assert_fails(wte_row_source_read_block(&rows, 7, 0, out, &err), err, WTE_E_RANGE, 7,
                 "0 rows from row 7");
}

static void a_null_buffer_is_refused(void **state)
{
    (void)state;
    float data[6 * 3] = { 0 };
    const wte_row_source rows = view_rows(data, 6, 12);
    wte_error err;
    assert_fails(wte_row_source_read(&rows, 0, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the buffer for 1 rows is NULL");
    assert_fails(wte_row_source_read_block(&rows, 0, 2, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the buffer for 2 rows is NULL");
}

static void rows_without_columns_are_read_as_nothing(void **state)
{
    (void)state;
    counting_reader reader;
    wte_row_source rows = reader_rows(&reader, 5);
    wte_error err;
    rows.cols = 0;
    assert_ok(wte_check_rows(&rows, &err), err);
    assert_ok(wte_row_source_read(&rows, 4, NULL, &err), err);
    assert_ok(wte_row_source_read_block(&rows, 0, 5, NULL, &err), err);
    assert_int_equal(reader.calls, 0);
}

static void a_source_of_no_rows_needs_nothing(void **state)
{
    (void)state;
    wte_row_source rows = view_rows(NULL, 0, 0);
    wte_error err;
    assert_ok(wte_check_rows(&rows, &err), err);
    assert_fails(wte_row_source_read(&rows, 0, NULL, &err), err, WTE_E_RANGE, 0,
                 "there are only 0");
}

static void broken_sources_are_refused(void **state)
{
    (void)state;
    float data[6] = { 0 };
    const wte_row_source good = view_rows(data, 2, 12);
    wte_row_source bad;
    wte_error err;
    assert_fails(wte_check_rows(NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "is NULL");
    bad = good;
    bad.data = NULL;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "2 rows has neither data nor read_rows");
    bad = good;
    bad.dtype = WTE_F4;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "type f4");
    bad.dtype = (wte_dtype)77;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "number 77");
    bad = good;
    bad.packing = 9;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "3 elements cannot be stored in packing 9");
    bad = good;
    bad.row_bytes = 11;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "11 bytes apart, but one takes 12");
    assert_fails(wte_row_source_read(&bad, 0, data, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "11 bytes");
}

static void shapes_beyond_memory_are_refused(void **state)
{
    (void)state;
    float data[6] = { 0 };
    const wte_row_source good = view_rows(data, 2, 12);
    counting_reader reader;
    wte_row_source bad = good;
    wte_error err;
    bad.row_bytes = UINT64_MAX;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, "2 rows, 1844674");
    bad = good;
    bad.rows = UINT64_C(1) << 60;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "1152921504606846976 rows, 12 bytes apart");
    bad = reader_rows(&reader, UINT64_C(1) << 32);
    bad.cols = UINT64_C(1) << 32;
    assert_fails(wte_check_rows(&bad, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "4294967296 x 4294967296 elements of f32");
    assert_fails(wte_row_source_read(&bad, 0, data, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, NULL);
    assert_int_equal(reader.calls, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("ids are read in place, whatever their type", ids_are_read_in_place_whatever_their_type),
    TEST("ids need no alignment", ids_need_no_alignment),
    TEST("a view gives rows and blocks, padding left out", a_view_gives_rows_and_blocks),
    TEST("a block goes through the reader in pieces", a_block_goes_through_the_reader_in_pieces),
    TEST("a block prefers read_block, one row the view",
         a_block_prefers_read_block_and_one_row_the_view),
    TEST("a reader's failure is passed on", a_readers_failure_is_passed_on),
    TEST("rows past the end are out of range", rows_past_the_end_are_out_of_range),
    TEST("a NULL buffer is refused", a_null_buffer_is_refused),
    TEST("rows without columns are read as nothing", rows_without_columns_are_read_as_nothing),
    TEST("a source of no rows needs nothing", a_source_of_no_rows_needs_nothing),
    TEST("broken sources are refused", broken_sources_are_refused),
    TEST("shapes beyond memory are refused", shapes_beyond_memory_are_refused),
};
TEST_MAIN(tests)
