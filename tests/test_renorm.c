/* Rows multiplied and shortened on their way, and shortened in place. */
#include "test.h"

#include "lookup_help.h"

#include <math.h>

static wte_error err;

/* One row of two f32 through a lookup with these norms. */
static void shorten(const float *row, double max_norm, double norm_type, float *out)
{
    const wte_row_source rows = view_of(row, 1, 2, WTE_F32);
    const uint16_t id = 0;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.max_norm = max_norm;
    opt.norm_type = norm_type;
    assert_ok(wte_lookup(&rows, ids_of(&id, WTE_U16, 1), &opt, out, 0, &err), err);
}

static void norms_are_those_of_pytorch(void **state)
{
    (void)state;
    const float row[] = { 3, 4 };
    float out[2];
    shorten(row, 1, 0, out);
    assert_true(out[0] == 0.6000000238418579f && out[1] == 0.800000011920929f);
    shorten(row, 1, 2, out);
    assert_true(out[0] == 0.6000000238418579f && out[1] == 0.800000011920929f);
    shorten(row, 1, 1, out);
    assert_true(out[0] == 0.4285714030265808f && out[1] == 0.5714285373687744f);
    shorten(row, 1, HUGE_VAL, out);
    assert_true(out[0] == 0.75f && out[1] == 1.0f);
    shorten(row, 1, 3, out); /* (27 + 64)^(1/3) = 4.4979414... */
    assert_true(fabsf(out[0] - 0.66697175f) < 1e-6f && fabsf(out[1] - 0.88929567f) < 1e-6f);
}

static void a_norm_that_is_just_reached_changes_nothing(void **state)
{
    (void)state;
    const float row[] = { 3, 4 }, odd[] = { NAN, 1 }, far[] = { INFINITY, 1 };
    float out[2];
    shorten(row, 5, 2, out);
    assert_memory_equal(out, row, sizeof row);
    shorten(row, HUGE_VAL, 2, out);
    assert_memory_equal(out, row, sizeof row);
    shorten(odd, 0.5, 2, out); /* a norm that is no number is not larger */
    assert_true(isnan(out[0]) && out[1] == 1);
    shorten(odd, 0.5, HUGE_VAL, out);
    assert_true(isnan(out[0]) && out[1] == 1);
    shorten(far, 2, 2, out);
    assert_true(isnan(out[0]) && out[1] == 0);
}

static void the_order_is_that_of_the_ids(void **state)
{
    (void)state;
    const float table[] = { 0, 0, 1, 0, 0, 0, 0, 0, 6, 8 };
    const int64_t ids[] = { 4, 1, 4 };
    float out[6], copy[10];
    const wte_row_source rows = view_of(table, 5, 2, WTE_F32);
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.max_norm = 5;
    memcpy(copy, table, sizeof copy);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I64, 3), &opt, out, 0, &err), err);
    assert_true(fabsf(out[0] - 3) < 1e-6f && fabsf(out[1] - 4) < 1e-6f);
    assert_true(out[2] == 1 && out[3] == 0 && out[4] == out[0] && out[5] == out[1]);
    assert_memory_equal(table, copy, sizeof copy);
}

/* For each type: what a lookup shortens in the copy is what the call makes of the table. */
static void the_copy_is_what_the_table_would_be(void **state)
{
    (void)state;
    enum { ROWS = 6, COLS = 300 };
    static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16, WTE_F64 };
    const int32_t ids[] = { 5, 0, 5, 2 };
    for (size_t k = 0; k < 4; k++) {
        wte_table *t;
        wte_init_options init = WTE_INIT_OPTIONS_INIT;
        wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
        static uint8_t copied[4 * COLS * 8], after[4 * COLS * 8], before[COLS * 8];
        const size_t row = COLS * wte_dtype_bytes(types[k]);
        uint64_t changed = 9;
        init.seed = 4;
        assert_ok(wte_table_create(ROWS, COLS, types[k], NULL, &t, &err), err);
        assert_ok(wte_table_init(t, &init, &err), err);
        memcpy(before, (uint8_t *)wte_table_data(t) + row, row);
        opt.max_norm = 3;
        opt.norm_type = k == 1 ? 1 : 2;
        const wte_row_source *rows = wte_table_source(t);
        assert_ok(wte_lookup(rows, ids_of(ids, WTE_I32, 4), &opt, copied, 0, &err), err);
        assert_ok(
            wte_table_renorm(t, ids_of(ids, WTE_I32, 4), 3, opt.norm_type, NULL, &changed, &err),
            err);
        assert_int_equal(changed, 3); /* the two times that row 5 is named are one */
        assert_ok(wte_lookup(rows, ids_of(ids, WTE_I32, 4), NULL, after, 0, &err), err);
        assert_memory_equal(copied, after, 4 * row);
        assert_memory_equal(before, (uint8_t *)wte_table_data(t) + row, row); /* was not named */
        double sum = 0, x[COLS];
        assert_ok(wte_convert(types[k], after, WTE_F64, x, COLS, NULL, &err), err);
        for (size_t i = 0; i < COLS; i++) sum += k == 1 ? fabs(x[i]) : x[i] * x[i];
        assert_true(fabs((k == 1 ? sum : sqrt(sum)) - 3) < (k == 2 ? 0.02 : k == 1 ? 0.002 : 1e-6));
        wte_table_free(t);
    }
}

static void a_norm_too_large_for_f16_is_used_as_it_is(void **state)
{
    (void)state;
    const uint16_t row[] = { 0x7bff, 0x7bff }, id = 0; /* 65504 twice: 92637 */
    const wte_row_source rows = view_of(row, 1, 2, WTE_F16);
    float out[2];
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.max_norm = 1;
    opt.out_dtype = WTE_F32;
    assert_ok(wte_lookup(&rows, ids_of(&id, WTE_U16, 1), &opt, out, 0, &err), err);
    assert_true(fabsf(out[0] - 0.70710678f) < 0.0005f && out[1] == out[0]);
}

/* Every stored type, kind of source and output type: numbers are widened, multiplied, rounded. */
static void rows_are_multiplied_on_their_way(void **state)
{
    (void)state;
    enum { ROWS = 40, COLS = 77, IDS = 90 };
    static const wte_dtype stored[] = { WTE_F32, WTE_F16, WTE_BF16, WTE_I8, WTE_F64, WTE_U16 };
    static const wte_dtype outs[] = { WTE_F32, WTE_F16, WTE_BF16 };
    static float plain[ROWS * COLS], want[COLS];
    static uint8_t table[ROWS * COLS * 8], out[IDS * COLS * 4 + IDS * 8], expected[COLS * 4];
    int64_t ids[IDS];
    uint64_t seed = 5;
    for (size_t i = 0; i < IDS; i++) ids[i] = (int64_t)(test_noise(&seed) % (ROWS + 2)) - 1;
    for (size_t i = 0; i < ROWS * COLS; i++)
        plain[i] = (float)(int32_t)(uint32_t)test_noise(&seed) * 0x1p-25f;
    for (size_t k = 0; k < 6 * 3 * 4; k++) {
        const wte_dtype type = stored[k % 6], to = outs[k / 6 % 3];
        const size_t pad = k / 18 % 2 * 8, size = wte_dtype_bytes(to), stride = COLS * size + pad;
        const float scale = k % 4 ? 1.7f : 1.0f;
        reader r;
        wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
        assert_ok(wte_convert(WTE_F32, plain, type, table, ROWS * COLS, NULL, &err), err);
        const wte_row_source rows =
            k / 36 ? reader_of(&r, table, ROWS, COLS, type) : view_of(table, ROWS, COLS, type);
        opt.out_dtype = to;
        opt.scale = scale;
        opt.bad_ids = WTE_BAD_ID_ZERO;
        memset(out, 0x5a, sizeof out);
        assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I64, IDS), &opt, out, stride, &err), err);
        for (size_t i = 0; i < IDS; i++) {
            memset(want, 0, sizeof want);
            if (ids[i] >= 0 && ids[i] < ROWS)
                assert_ok(wte_convert(type, table + (size_t)ids[i] * COLS * wte_dtype_bytes(type),
                                      WTE_F32, want, COLS, NULL, &err),
                          err);
            for (size_t c = 0; c < COLS; c++) want[c] *= scale;
            assert_ok(wte_convert(WTE_F32, want, to, expected, COLS, NULL, &err), err);
            assert_memory_equal(out + i * stride, expected, COLS * size);
            for (size_t c = COLS * size; c < stride; c++)
                assert_int_equal(out[i * stride + c], 0x5a);
        }
    }
}

static void both_scratch_pieces_may_be_refused(void **state)
{
    (void)state;
    const double table[] = { 3, 4 };
    const uint16_t id = 0;
    const wte_row_source rows = view_of(table, 1, 2, WTE_F64);
    uint16_t out[2] = { 7, 7 };
    test_memory m;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.allocator = &m.allocator;
    opt.max_norm = 1;
    opt.scale = 10;
    opt.out_dtype = WTE_F16;
    test_memory_init(&m, 0);
    assert_fails(wte_lookup(&rows, ids_of(&id, WTE_U16, 1), &opt, out, 0, &err), err, WTE_E_MEMORY,
                 WTE_NO_INDEX, "rows on their way");
    assert_true(out[0] == 7 && m.live == 0);
    test_memory_init(&m, 1);
    assert_ok(wte_lookup(&rows, ids_of(&id, WTE_U16, 1), &opt, out, 0, &err), err);
    assert_true(out[0] == 0x4600 && out[1] == 0x4800 && m.live == 0); /* 6 and 8 */
}

static void bad_norms_and_scales_are_refused(void **state)
{
    (void)state;
    const float table[] = { 1 };
    const uint16_t id = 0;
    const wte_ids ids = ids_of(&id, WTE_U16, 1);
    const wte_row_source rows = view_of(table, 1, 1, WTE_F32),
                         whole = view_of(table, 1, 1, WTE_I32);
    double out;
    const wte_lookup_options good = WTE_LOOKUP_OPTIONS_INIT;
    wte_lookup_options opt = good;
    opt.max_norm = -2;
    assert_fails(wte_lookup(&rows, ids, &opt, &out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "lookup: max_norm is -2");
    opt.max_norm = 1;
    opt.norm_type = -1;
    assert_fails(wte_lookup(&rows, ids, &opt, &out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "lookup: norm_type is -1");
    opt.norm_type = 2;
    assert_fails(wte_lookup(&whole, ids, &opt, &out, 0, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "lookup: rows of i32 have no norm");
    opt = good;
    opt.scale = INFINITY;
    assert_fails(wte_lookup(&rows, ids, &opt, &out, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the scale is inf");
    opt.scale = 2;
    opt.out_dtype = WTE_F64;
    assert_fails(wte_lookup(&rows, ids, &opt, &out, 0, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "rows of f32 that become f64 cannot be multiplied");
    opt.out_dtype = WTE_DTYPE_NONE;
    assert_fails(wte_lookup(&whole, ids, &opt, &out, 0, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "rows of i32 that become i32 cannot be multiplied");
}

static void a_table_that_cannot_be_shortened_is_left_alone(void **state)
{
    (void)state;
    const float values[] = { 3, 4 };
    const uint16_t ids[] = { 0, 1 };
    const wte_row_source view = view_of(values, 1, 2, WTE_F32);
    wte_table *borrowed, *t, *whole;
    uint64_t changed = 5;
    test_memory m;
    assert_ok(wte_table_wrap(&view, NULL, &borrowed, &err), err);
    assert_ok(wte_table_create(1, 2, WTE_F32, NULL, &t, &err), err);
    assert_ok(wte_table_create(1, 2, WTE_I8, NULL, &whole, &err), err);
    memcpy(wte_table_data(t), values, sizeof values);
    const wte_ids one = ids_of(ids, WTE_U16, 1), two = ids_of(ids, WTE_U16, 2);
    assert_fails(wte_table_renorm(NULL, one, 1, 2, NULL, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "t is NULL");
    assert_fails(wte_table_renorm(borrowed, one, 1, 2, NULL, &changed, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "borrows its rows");
    assert_int_equal(changed, 0);
    assert_fails(wte_table_renorm(whole, one, 1, 2, NULL, NULL, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "renorm: rows of i8 have no norm");
    assert_fails(wte_table_renorm(t, one, (double)NAN, 2, NULL, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "renorm: max_norm");
    assert_fails(wte_table_renorm(t, ids_of(ids, WTE_F32, 1), 1, 2, NULL, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "renorm: ids of type f32");
    assert_fails(wte_table_renorm(t, two, 1, 2, NULL, NULL, &err), err, WTE_E_RANGE, 1,
                 "id 1 at position 1 is out of range");
    test_memory_init(&m, 0);
    assert_fails(wte_table_renorm(t, one, 1, 2, &m.allocator, NULL, &err), err, WTE_E_MEMORY,
                 WTE_NO_INDEX, "which rows were shortened");
    assert_memory_equal(wte_table_data(t), values, sizeof values);
    assert_ok(wte_table_renorm(t, ids_of(NULL, WTE_U16, 0), 1, 2, NULL, &changed, &err), err);
    assert_ok(wte_table_renorm(t, one, 0, 2, NULL, &changed, &err), err); /* to nothing at all */
    assert_true(changed == 1 && ((float *)wte_table_data(t))[0] == 0);
    wte_table_free(borrowed);
    wte_table_free(t);
    wte_table_free(whole);
}

static const struct CMUnitTest tests[] = {
    TEST("norms are those of PyTorch", norms_are_those_of_pytorch),
    TEST("a norm that is just reached changes nothing",
         a_norm_that_is_just_reached_changes_nothing),
    TEST("the order is that of the ids", the_order_is_that_of_the_ids),
    TEST("the copy is what the table would be", the_copy_is_what_the_table_would_be),
    TEST("a norm too large for f16 is used as it is", a_norm_too_large_for_f16_is_used_as_it_is),
    TEST("rows are multiplied on their way", rows_are_multiplied_on_their_way),
    TEST("both scratch pieces may be refused", both_scratch_pieces_may_be_refused),
    TEST("bad norms and scales are refused", bad_norms_and_scales_are_refused),
    TEST("a table that cannot be shortened is left alone",
         a_table_that_cannot_be_shortened_is_left_alone),
};
TEST_MAIN(tests)
