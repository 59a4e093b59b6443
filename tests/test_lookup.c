/* Lookup: every id type, element type, stride and policy, against hand-made numbers and a loop that
 * does one id at a time. Row sources that read, threads and sizes: test_lookup_sources.c. */
#include "lookup_help.h"

static wte_error err;

static void rows_come_in_the_order_of_ids(void **state)
{
    (void)state;
    const float table[] = { 0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52 };
    const float expected[] = { 20, 21, 22, 30, 31, 32, 50, 51, 52, 10, 11, 12 };
    const int64_t ids[] = { 2, 3, 5, 1 };
    float out[12];
    const wte_row_source rows = view_of(table, 6, 3, WTE_F32);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I64, 4), NULL, out, 0, &err), err);
    assert_memory_equal(out, expected, sizeof out);
}

static void nan_payloads_and_zero_signs_survive(void **state)
{
    (void)state;
    const uint32_t table[] = { 0x7f800001u, 0xffc12345u, 0x80000000u, 0x00000001u, 0, 0x7fffffffu };
    const uint32_t expected[] = { 0, 0x7fffffffu, 0x7f800001u, 0xffc12345u };
    const uint16_t ids[] = { 2, 0 };
    uint32_t out[4];
    const wte_row_source rows = view_of(table, 3, 2, WTE_F32);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U16, 2), NULL, out, 0, &err), err);
    assert_memory_equal(out, expected, sizeof out);
}

static void narrow_rows_widen_exactly(void **state)
{
    (void)state;
    const uint16_t f16[] = { 0x3c00, 0xc000, 0x0001, 0x7c00 }; /* 1, -2, 2^-24, inf */
    const uint16_t bf16[] = { 0x3f80, 0xc000, 0x0001, 0xff80 };
    const int64_t i64[] = { 1, -1, (INT64_C(1) << 24) + 1, INT64_MIN };
    const uint32_t ids[] = { 1, 0, 1 };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    float out[6];
    opt.out_dtype = WTE_F32;
    wte_row_source rows = view_of(f16, 2, 2, WTE_F16);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U32, 3), &opt, out, 0, &err), err);
    assert_true(out[0] == 0x1p-24f && out[1] == (float)(1.0 / 0.0) && out[2] == 1 && out[3] == -2);
    rows = view_of(bf16, 2, 2, WTE_BF16);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U32, 3), &opt, out, 0, &err), err);
    assert_true(out[0] == 0x1p-133f && out[1] == -(float)(1.0 / 0.0) && out[2] == 1);
    rows = view_of(i64, 2, 2, WTE_I64);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U32, 3), &opt, out, 0, &err), err);
    assert_true(out[0] == 16777216.0f && out[1] == -0x1p63f && out[2] == 1 && out[3] == -1);
}

/* One id at a time, with the plain calls. */
static void naive(const uint8_t *table, size_t table_stride, const wte_row_source *rows,
                  wte_ids ids, wte_dtype type, uint8_t *out, size_t out_stride)
{
    for (uint64_t i = 0; i < ids.count; i++) {
        const uint8_t *row = table + (uint64_t)wte_ids_at(ids, i) * table_stride;
        assert_ok(wte_convert(rows->dtype, row, type, out + i * out_stride, (size_t)rows->cols,
                              NULL, &err),
                  err);
    }
}

/* A table of noise, and as many ids of one type; looked up as a view, a reader, and both at once,
 * with padding between rows on both sides or without. */
static void check_against_naive(uint64_t cols, wte_dtype type, wte_dtype out_type, uint64_t *noise)
{
    enum { ROWS = 37, COUNT = 60 };
    const size_t size = wte_dtype_bytes(type), out_size = wte_dtype_bytes(out_type);
    static uint8_t table[ROWS * 80 * 8], expected[COUNT * 81 * 8], out[COUNT * 81 * 8];
    uint8_t id_bytes[COUNT * 8 + 1];
    const size_t tight = (size_t)cols * out_size;
    for (size_t i = 0; i < sizeof table; i++) table[i] = (uint8_t)(test_noise(noise) >> 40);
    for (size_t pad = 0; pad <= 5; pad += 5)
        for (size_t k = 0; k < 4; k++) {
            reader r;
            wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
            const wte_ids ids = ids_of(id_bytes + (pad & 1), id_types[k], COUNT);
            wte_row_source rows = view_of(table, ROWS, cols, type);
            opt.out_dtype = out_type;
            for (uint64_t i = 0; i < COUNT; i++)
                put_id(id_bytes + (pad & 1), id_types[k], i, (int64_t)(test_noise(noise) % ROWS));
            memset(expected, 0xee, sizeof expected);
            memset(out, 0xee, sizeof out);
            rows.row_bytes += pad;
            naive(table, (size_t)cols * size + pad, &rows, ids, out_type, expected, tight + pad);
            assert_ok(wte_lookup(&rows, ids, &opt, out, tight + pad, &err), err);
            assert_memory_equal(out, expected, sizeof out);
            memset(expected, 0xee, sizeof expected);
            memset(out, 0xee, sizeof out);
            rows = reader_of(&r, table, ROWS, cols, type);
            naive(table, r.row_bytes, &rows, ids, out_type, expected, tight + pad);
            assert_ok(wte_lookup(&rows, ids, &opt, out, tight + pad, &err), err);
            assert_memory_equal(out, expected, sizeof out);
        }
}

static void lookup_equals_a_plain_loop(void **state)
{
    (void)state;
    uint64_t noise = 3;
    for (int from = WTE_F64; from <= WTE_BOOL; from++)
        for (int to = WTE_F64; to <= WTE_BOOL; to++)
            check_against_naive(1 + test_noise(&noise) % 80, (wte_dtype)from, (wte_dtype)to,
                                &noise);
}

static void types_that_do_not_convert_are_copied(void **state)
{
    (void)state;
    const uint8_t table[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    const int32_t ids[] = { 1, 1, 0 };
    uint8_t out[24];
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_row_source rows = view_of(table, 2, 1, WTE_C64);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, out, 0, &err), err);
    assert_memory_equal(out, table + 8, 8);
    assert_memory_equal(out + 8, table + 8, 8);
    assert_memory_equal(out + 16, table, 8);
    opt.out_dtype = WTE_F32;
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), &opt, out, 0, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX, "type c64 cannot be converted to f32");
}

/* Every row length from 0 to 200 bytes, all buffers ending at an unreadable page. */
static void nothing_is_read_or_written_beyond_the_end(void **state)
{
    (void)state;
    uint64_t noise = 9;
    for (uint64_t cols = 0; cols <= 200; cols++) {
        const size_t table_bytes = (size_t)cols * 5, out_bytes = (size_t)cols * 9;
        uint8_t *table = test_guarded(table_bytes + 1) /* one more, as cols may be 0 */,
                *out = test_guarded(out_bytes + 1), *id = test_guarded(18);
        for (size_t i = 0; i < table_bytes; i++) table[1 + i] = (uint8_t)test_noise(&noise);
        for (uint64_t i = 0; i < 9; i++) put_id(id, WTE_U16, i, (int64_t)((i * 2) % 5));
        const wte_row_source rows = view_of(table + 1, 5, cols, WTE_U8);
        assert_ok(wte_lookup(&rows, ids_of(id, WTE_U16, 9), NULL, out + 1, 0, &err), err);
        for (size_t i = 0; i < 9; i++)
            assert_memory_equal(out + 1 + i * cols, table + 1 + ((i * 2) % 5) * cols, cols);
        test_guarded_free(table, table_bytes + 1);
        test_guarded_free(out, out_bytes + 1);
        test_guarded_free(id, 18);
    }
}

static void the_first_bad_id_is_named(void **state)
{
    (void)state;
    const float table[12] = { 0 };
    const int64_t ids[] = { 0, 3, 6, 7, -1 };
    float out[10], before[10];
    const wte_row_source rows = view_of(table, 6, 2, WTE_F32);
    memset(out, 0x77, sizeof out);
    memcpy(before, out, sizeof out);
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I64, 5), NULL, out, 0, &err), err, WTE_E_RANGE,
                 2,
                 "id 6 at position 2 is out of range: valid ids 0..5; 3 of 5 ids bad; equal to the "
                 "number of rows: ids count from zero");
    assert_memory_equal(out, before, sizeof out);
    assert_fails(wte_lookup(&rows, ids_of(ids + 3, WTE_I64, 2), NULL, out, 0, &err), err,
                 WTE_E_RANGE, 0, "id 7 at position 0 is out of range: valid ids 0..5; 2 of 2 ids");
    assert_null(strstr(err.message, "equal"));
    assert_fails(wte_lookup(&rows, ids_of(ids + 4, WTE_I64, 1), NULL, out, 0, &err), err,
                 WTE_E_RANGE, 0, "id -1 at position 0");
    assert_non_null(strstr(err.message, "never count from the end"));
    assert_memory_equal(out, before, sizeof out);
}

static void a_table_without_rows_has_no_valid_id(void **state)
{
    (void)state;
    const uint16_t id = 0;
    float out[2];
    const wte_row_source rows = view_of(NULL, 0, 2, WTE_F32);
    assert_fails(wte_lookup(&rows, ids_of(&id, WTE_U16, 1), NULL, out, 0, &err), err, WTE_E_RANGE,
                 0, "the table is empty");
    assert_ok(wte_lookup(&rows, ids_of(&id, WTE_U16, 0), NULL, NULL, 0, &err), err);
}

/* The id just past the end fails for every element type and id type, though a row lies there. */
static void the_bound_is_exact(void **state)
{
    (void)state;
    static const uint8_t two_tables[2 * 4 * 8] = { 0 };
    for (int type = WTE_F64; type <= WTE_F8_E5M2FNUZ; type++)
        for (size_t k = 0; k < 4; k++) {
            uint8_t id[8], out[8];
            const wte_row_source rows = view_of(two_tables, 4, 1, (wte_dtype)type);
            put_id(id, id_types[k], 0, 4);
            assert_fails(wte_lookup(&rows, ids_of(id, id_types[k], 1), NULL, out, 0, &err), err,
                         WTE_E_RANGE, 0, "valid ids 0..3");
            put_id(id, id_types[k], 0, 3);
            assert_ok(wte_lookup(&rows, ids_of(id, id_types[k], 1), NULL, out, 0, &err), err);
        }
}

static void extreme_ids_neither_wrap_nor_narrow(void **state)
{
    (void)state;
    static const struct {
        wte_dtype type;
        int64_t id;
        const char *shown;
    } cases[] = {
        { WTE_I64, INT64_MIN, "id -9223372036854775808 at" },
        { WTE_I64, INT64_MAX, "id 9223372036854775807 at" },
        { WTE_I64, INT64_C(1) << 32, "id 4294967296 at" }, /* row 0 if cut to 32 bits */
        { WTE_I64, -3, "id -3 at" },
        { WTE_I32, INT32_MIN, "id -2147483648 at" },
        { WTE_I32, INT32_MAX, "id 2147483647 at" },
        { WTE_U32, UINT32_MAX, "id 4294967295 at" },
        { WTE_U16, UINT16_MAX, "id 65535 at" },
    };
    const float table[] = { 1, 2, 3 };
    const wte_row_source rows = view_of(table, 3, 1, WTE_F32);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t id[8];
        float out = 9;
        put_id(id, cases[i].type, 0, cases[i].id);
        assert_fails(wte_lookup(&rows, ids_of(id, cases[i].type, 1), NULL, &out, 0, &err), err,
                     WTE_E_RANGE, 0, cases[i].shown);
        assert_true(out == 9);
    }
}

/* Ids above 2^24, which a float would merge, each reach their own row. */
static void large_ids_stay_apart(void **state)
{
    (void)state;
    enum { ROWS = (1 << 24) + 8 };
    uint8_t *table = mmap(NULL, ROWS, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(table != MAP_FAILED);
    int32_t ids[8];
    uint8_t out[8];
    for (int32_t i = 0; i < 8; i++) {
        ids[i] = (1 << 24) + i;
        table[ids[i]] = (uint8_t)(100 + i);
    }
    const wte_row_source rows = view_of(table, ROWS, 1, WTE_U8);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 8), NULL, out, 0, &err), err);
    for (int i = 0; i < 8; i++) assert_int_equal(out[i], 100 + i);
    munmap(table, ROWS);
}

static void every_bad_id_is_counted_and_eight_are_shown(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    const float table[] = { 1, 2, 3 };
    static int32_t ids[COUNT];
    static float out[COUNT];
    wte_bad_ids report;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_row_source rows = view_of(table, 3, 1, WTE_F32);
    opt.report = &report;
    for (int i = 0; i < COUNT; i++) ids[i] = i % 100 == 50 ? -i : i % 3;
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, COUNT), &opt, out, 0, &err), err,
                 WTE_E_RANGE, 50, "id -50 at position 50 is out of range: valid ids 0..2; 20 of");
    assert_int_equal(report.count, 20);
    assert_int_equal(report.ignored, 0);
    assert_int_equal(report.n_first, WTE_BAD_IDS_SHOWN);
    for (uint64_t i = 0; i < WTE_BAD_IDS_SHOWN; i++) {
        assert_int_equal(report.first[i].position, 50 + 100 * i);
        assert_int_equal(report.first[i].value, -(int64_t)(50 + 100 * i));
    }
    opt.bad_ids = WTE_BAD_ID_ZERO;
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, COUNT), &opt, out, 0, &err), err);
    assert_int_equal(report.count, 20);
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == (i % 100 == 50 ? 0.0f : (float)(i % 3 + 1)));
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 50), &opt, out, 0, &err), err);
    assert_int_equal(report.count, 0);
    assert_int_equal(report.n_first, 0);
}

static void ignored_ids_yield_zeros_and_are_no_error(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 3, 4, 5, 6 };
    const int64_t ids[] = { 2, -1, -100, 1, -1, 0 }, ignore[] = { -100, -1, 1 };
    const float expected[] = { 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2 };
    float out[12];
    wte_bad_ids report;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_row_source rows = view_of(table, 3, 2, WTE_F32);
    memset(out, 0x55, sizeof out);
    opt.ignore_ids = ignore;
    opt.n_ignore_ids = 3;
    opt.report = &report;
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I64, 6), &opt, out, 0, &err), err);
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(report.ignored, 4);
    assert_int_equal(report.count, 0);
    opt.n_ignore_ids = 1; /* -100 only */
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I64, 6), &opt, out, 0, &err), err, WTE_E_RANGE,
                 1, "id -1 at position 1 is out of range: valid ids 0..2; 2 of 6");
    assert_int_equal(report.ignored, 1);
    assert_int_equal(report.count, 2);
}

static void empty_lookups_are_fine(void **state)
{
    (void)state;
    const float table[] = { 1, 2 };
    const int32_t ids[] = { 0, 1, 2 };
    wte_row_source rows = view_of(table, 2, 1, WTE_F32);
    assert_ok(wte_lookup(&rows, ids_of(NULL, WTE_I32, 0), NULL, NULL, 0, &err), err);
    rows = view_of(table, 3, 0, WTE_F32);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, NULL, 0, &err), err);
    rows.rows = 2; /* ids are judged even where there is nothing to copy */
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, NULL, 0, &err), err, WTE_E_RANGE,
                 2, "id 2 at position 2");
}

static void senseless_arguments_are_refused(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 3, 4 };
    const int64_t id = 0;
    float out[2];
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_row_source rows = view_of(table, 2, 2, WTE_F32);
    const wte_ids one = ids_of(&id, WTE_I64, 1);
    assert_fails(wte_lookup(NULL, one, NULL, out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "NULL");
    assert_fails(wte_lookup(&rows, ids_of(&id, WTE_F32, 1), NULL, out, 0, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "ids of type f32, but ids are u16, i32, u32 or i64");
    assert_fails(wte_lookup(&rows, ids_of(&id, WTE_U64, 1), NULL, out, 0, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "ids of type u64");
    assert_fails(wte_lookup(&rows, ids_of(NULL, WTE_I64, 3), NULL, out, 0, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "3 ids, but no address");
    assert_fails(wte_lookup(&rows, one, NULL, NULL, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no address for 8 bytes");
    assert_fails(wte_lookup(&rows, one, NULL, out, 7, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the output stride is 7 bytes, but 2 f32 take 8");
    assert_fails(wte_lookup(&rows, ids_of(&id, WTE_I64, UINT64_MAX), NULL, out, 0, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "18446744073709551615 of 8 bytes are more than memory");
    opt.bad_ids = (wte_bad_id_policy)2;
    assert_fails(wte_lookup(&rows, one, &opt, out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no policy for bad ids has the number 2");
    opt.bad_ids = WTE_BAD_ID_ERROR;
    opt.n_ignore_ids = 2;
    assert_fails(wte_lookup(&rows, one, &opt, out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "ignore_ids is NULL, but has 2 elements");
    opt.n_ignore_ids = 0;
    opt.out_dtype = WTE_F4;
    assert_fails(wte_lookup(&rows, one, &opt, out, 0, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "f32 cannot be converted to f4");
    opt.out_dtype = WTE_F32;
    opt.struct_size = 3;
    assert_fails(wte_lookup(&rows, one, &opt, out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "struct_size is 3");
}

/* Outputs that are written past the caches, all by one thread and in part by two, at addresses that
 * no vector likes. */
static void a_large_output_is_right(void **state)
{
    (void)state;
    enum { ROWS = 300, BYTES = 4097, COUNT = 12000 }; /* 49 MB */
    uint8_t *table = malloc((size_t)ROWS * BYTES), *out = malloc((size_t)COUNT * BYTES + 3);
    static uint16_t ids[COUNT];
    uint64_t noise = 11;
    assert_true(table && out);
    for (size_t i = 0; i < (size_t)ROWS * BYTES; i++) table[i] = (uint8_t)(i * 7 + i / BYTES);
    for (size_t i = 0; i < COUNT; i++) ids[i] = (uint16_t)(test_noise(&noise) % ROWS);
    const wte_row_source rows = view_of(table, ROWS, BYTES, WTE_U8);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        memset(out, 0xa5, (size_t)COUNT * BYTES + 3);
        assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U16, COUNT), &opt, out + 3, 0, &err), err);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(memcmp(out + 3 + i * BYTES, table + (size_t)ids[i] * BYTES, BYTES), 0);
        wte_pool_free(opt.pool);
    }
    free(table);
    free(out);
}

static const struct CMUnitTest tests[] = {
    TEST("rows come in the order of ids", rows_come_in_the_order_of_ids),
    TEST("NaN payloads and signs of zero survive", nan_payloads_and_zero_signs_survive),
    TEST("narrow rows widen exactly, wide ones round", narrow_rows_widen_exactly),
    TEST("lookup equals a plain loop for every type and stride", lookup_equals_a_plain_loop),
    TEST("types that do not convert are copied", types_that_do_not_convert_are_copied),
    TEST("nothing is read or written beyond the end", nothing_is_read_or_written_beyond_the_end),
    TEST("the first bad id is named and nothing is written", the_first_bad_id_is_named),
    TEST("a table without rows has no valid id", a_table_without_rows_has_no_valid_id),
    TEST("the bound is exact for every type", the_bound_is_exact),
    TEST("extreme ids neither wrap nor narrow", extreme_ids_neither_wrap_nor_narrow),
    TEST("ids above 2^24 stay apart", large_ids_stay_apart),
    TEST("all bad ids are counted, eight are shown", every_bad_id_is_counted_and_eight_are_shown),
    TEST("ignored ids yield zeros and no error", ignored_ids_yield_zeros_and_are_no_error),
    TEST("empty lookups are fine", empty_lookups_are_fine),
    TEST("senseless arguments are refused", senseless_arguments_are_refused),
    TEST("a large output is right", a_large_output_is_right),
};
TEST_MAIN(tests)
