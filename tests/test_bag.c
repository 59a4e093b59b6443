/* Bags by hand: what members are, what each mode makes of them, and every error. Random cases
 * against a naive loop, sources and threads: test_bag_random.c. */
#include "test.h"

#include "bag_help.h"

static wte_error err;

/* 4 rows: 0 1 2, 3 4 5, 6 7 8, 9 10 11 */
static const float twelve[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

/* Bags of rows of `twelve`. */
static wte_status bags(const int64_t *ids, size_t n_ids, const int64_t *offsets, size_t n_offsets,
                       const wte_bag_options *opt, float *out)
{
    const wte_row_source rows = view_of(twelve, 4, 3, WTE_F32);
    return wte_bag_reduce(&rows, ids_of(ids, WTE_I64, n_ids), ids_of(offsets, WTE_I64, n_offsets),
                          opt, out, 0, &err);
}

static void sum_mean_and_maximum_of_two_bags(void **state)
{
    (void)state;
    const int64_t ids[] = { 1, 2, 1, 3 }, offsets[] = { 0, 3 };
    const float sum[] = { 12, 15, 18, 9, 10, 11 }, mean[] = { 4, 5, 6, 9, 10, 11 };
    const float max[] = { 6, 7, 8, 9, 10, 11 };
    const float *expected[] = { sum, mean, max };
    for (int mode = WTE_BAG_SUM; mode <= WTE_BAG_MAX; mode++) {
        float out[6];
        uint64_t sizes[2] = { 9, 9 };
        wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
        opt.mode = (wte_bag_mode)mode;
        opt.sizes = sizes;
        assert_ok(bags(ids, 4, offsets, 2, &opt, out), err);
        assert_memory_equal(out, expected[mode], sizeof out);
        assert_true(sizes[0] == 3 && sizes[1] == 1);
    }
}

static void padding_counts_for_nothing(void **state)
{
    (void)state;
    const int64_t ids[] = { 1, 1, 2, 1, 1 }, offsets[] = { 0, 3 }, padding = 1;
    const float expected[] = { 6, 7, 8, 0, 0, 0 }; /* row 2 itself; a bag of padding is zeros */
    for (int mode = WTE_BAG_SUM; mode <= WTE_BAG_MAX; mode++) {
        float out[6];
        uint64_t sizes[2];
        wte_bad_ids report;
        wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
        opt.mode = (wte_bag_mode)mode;
        opt.ignore_ids = &padding;
        opt.n_ignore_ids = 1;
        opt.sizes = sizes;
        opt.report = &report;
        assert_ok(bags(ids, 5, offsets, 2, &opt, out), err);
        assert_memory_equal(out, expected, sizeof out);
        assert_true(sizes[0] == 1 && sizes[1] == 0 && report.ignored == 4 && report.count == 0);
    }
}

static void an_empty_bag_is_zeros_in_every_mode(void **state)
{
    (void)state;
    const float negative[] = { -5, -6 };
    const wte_row_source rows = view_of(negative, 1, 2, WTE_F32);
    const uint16_t ids[] = { 0 }, offsets[] = { 0, 0, 1, 1 };
    for (int mode = WTE_BAG_SUM; mode <= WTE_BAG_MAX; mode++) {
        const float expected[] = { 0, 0, -5, -6, 0, 0, 0, 0 };
        float out[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
        wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
        opt.mode = (wte_bag_mode)mode;
        assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 1), ids_of(offsets, WTE_U16, 4), &opt,
                                 out, 0, &err),
                  err);
        assert_memory_equal(out, expected, sizeof out);
    }
}

static void weights_multiply_their_rows(void **state)
{
    (void)state;
    const int64_t ids[] = { 1, 2, 3 }, offsets[] = { 0, 2 }, padding = 2;
    const float weights[] = { 1, 2, -3 };
    const float expected[] = { 15, 18, 21, -27, -30, -33 };
    const float without[] = { 3, 4, 5, -27, -30, -33 };
    float out[6];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.weights = weights;
    assert_ok(bags(ids, 3, offsets, 2, &opt, out), err);
    assert_memory_equal(out, expected, sizeof out);
    opt.ignore_ids = &padding;
    opt.n_ignore_ids = 1;
    assert_ok(bags(ids, 3, offsets, 2, &opt, out), err);
    assert_memory_equal(out, without, sizeof out);
}

static void the_last_offset_may_be_the_end(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 3, 1 }, offsets[] = { 0, 1, 3 };
    const float expected[] = { 0, 1, 2, 12, 14, 16, -1 };
    float out[7] = { 9, 9, 9, 9, 9, 9, -1 };
    uint64_t n;
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.include_last_offset = 1;
    assert_ok(bags(ids, 3, offsets, 3, &opt, out), err);
    assert_memory_equal(out, expected, sizeof out);
    assert_ok(wte_bag_count(ids_of(ids, WTE_I64, 3), ids_of(offsets, WTE_I64, 3), &opt, &n, &err),
              err);
    assert_int_equal(n, 2);
    assert_ok(wte_bag_count(ids_of(ids, WTE_I64, 3), ids_of(offsets, WTE_I64, 3), NULL, &n, &err),
              err);
    assert_int_equal(n, 3);
}

static void a_matrix_of_ids_needs_no_offsets(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 1, 2, 3, 3, 3 };
    const float expected[] = { 3, 5, 7, 15, 17, 19, 18, 20, 22 };
    float out[9];
    uint64_t n;
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.ids_per_bag = 2;
    assert_ok(bags(ids, 6, NULL, 0, &opt, out), err);
    assert_memory_equal(out, expected, sizeof out);
    assert_ok(wte_bag_count(ids_of(ids, WTE_I64, 6), no_ids(), &opt, &n, &err), err);
    assert_int_equal(n, 3);
}

/* An attention mask of each type; masked positions may hold anything. */
static void masked_positions_are_not_looked_at(void **state)
{
    (void)state;
    const int64_t ids[] = { 1, 3, 999, 0, 2, -7 };
    const uint8_t bytes[] = { 1, 1, 0, 0, 255, 0 };
    const int32_t words[] = { 1, -1, 0, 0, 256, 0 };
    const int64_t longs[] = { 1, INT64_MIN, 0, 0, INT64_C(1) << 40, 0 };
    const float floats[] = { 1, 0.5f, 0, -0.0f, NAN, 0 };
    const struct {
        const void *mask;
        wte_dtype type;
    } masks[] = { { bytes, WTE_BOOL }, { bytes, WTE_U8 },  { bytes, WTE_I8 },
                  { words, WTE_I32 },  { longs, WTE_I64 }, { floats, WTE_F32 } };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        const float expected[] = { 6, 7, 8, 6, 7, 8 };
        float out[6];
        uint64_t sizes[2];
        wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
        opt.mode = WTE_BAG_MEAN;
        opt.ids_per_bag = 3;
        opt.mask = masks[i].mask;
        opt.mask_dtype = masks[i].type;
        opt.sizes = sizes;
        assert_ok(bags(ids, 6, NULL, 0, &opt, out), err);
        assert_memory_equal(out, expected, sizeof out);
        assert_true(sizes[0] == 2 && sizes[1] == 1);
    }
}

static void a_bad_id_may_be_no_member(void **state)
{
    (void)state;
    const int64_t ids[] = { 4, 1, -1 }, offsets[] = { 0 };
    const float expected[] = { 3, 4, 5 };
    float out[3];
    uint64_t size;
    wte_bad_ids report;
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.mode = WTE_BAG_MEAN;
    opt.bad_ids = WTE_BAD_ID_ZERO;
    opt.sizes = &size;
    opt.report = &report;
    assert_ok(bags(ids, 3, offsets, 1, &opt, out), err);
    assert_memory_equal(out, expected, sizeof out);
    assert_true(size == 1 && report.count == 2 && report.first[1].position == 2);
}

static void maxima_tell_whose_they_are(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 1, 2, 0, 3 }; /* ties go to the first, even to the very end */
    const wte_row_source rows = view_of(table, 3, 2, WTE_F32);
    const int32_t ids[] = { 2, 1, 0, 0, 1 }, offsets[] = { 0, 0, 3 };
    const float expected[] = { 0, 0, 1, 3, 1, 2 };
    const uint64_t where[] = { WTE_NO_INDEX, WTE_NO_INDEX, 1, 0, 3, 3 };
    float out[6];
    uint64_t at[6];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.mode = WTE_BAG_MAX;
    opt.argmax = at;
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_I32, 5), ids_of(offsets, WTE_I32, 3), &opt, out,
                             0, &err),
              err);
    assert_memory_equal(out, expected, sizeof out);
    assert_memory_equal(at, where, sizeof at);
}

static void nan_in_a_maximum_stays_only_from_the_first(void **state)
{
    (void)state;
    const uint32_t signalling = 0xff800001u;
    float table[] = { 0, 1 }, out[2];
    memcpy(table, &signalling, 4);
    const wte_row_source rows = view_of(table, 2, 1, WTE_F32);
    const uint16_t ids[] = { 0, 1, 1, 0 }, offsets[] = { 0, 2 };
    uint64_t at[2];
    for (int traced = 0; traced < 2; traced++) {
        uint32_t bits;
        wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
        opt.mode = WTE_BAG_MAX;
        opt.argmax = traced ? at : NULL;
        assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 4), ids_of(offsets, WTE_U16, 2), &opt,
                                 out, 0, &err),
                  err);
        memcpy(&bits, out, sizeof bits);
        assert_int_equal(bits, 0xffc00001u); /* quiet */
        assert_true(out[1] == 1);
    }
    assert_true(at[0] == 0 && at[1] == 2);
}

static void results_are_rounded_once(void **state)
{
    (void)state;
    const float table[] = { 1, 0x1p-11f, 0x1p-24f };
    const wte_row_source rows = view_of(table, 3, 1, WTE_F32);
    const uint16_t ids[] = { 0, 1, 2 }, offsets[] = { 0 };
    uint16_t out[3] = { 7, 7, 7 };
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.out_dtype = WTE_F16; /* 1 + 2^-11 lies between two, and goes to the even one: 1 */
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 3), ids_of(offsets, WTE_U16, 1), &opt,
                             out + 1, 0, &err),
              err);
    assert_true(out[0] == 7 && out[1] == 0x3c00 && out[2] == 7);
    const float other[] = { 1, 0x1p-11f, 0x1p-12f }; /* rounded at each step it would stay 1 */
    const wte_row_source more = view_of(other, 3, 1, WTE_F32);
    assert_ok(wte_bag_reduce(&more, ids_of(ids, WTE_U16, 3), ids_of(offsets, WTE_U16, 1), &opt,
                             out + 1, 0, &err),
              err);
    assert_int_equal(out[1], 0x3c01);
    opt.out_dtype = WTE_BF16;
    assert_ok(wte_bag_reduce(&more, ids_of(ids, WTE_U16, 3), ids_of(offsets, WTE_U16, 1), &opt, out,
                             0, &err),
              err);
    assert_int_equal(out[0], 0x3f80);
}

static void results_are_normalized(void **state)
{
    (void)state;
    const float table[] = { 3, 4, 0, 0, 1e-30f, 0, NAN, 1 };
    const wte_row_source rows = view_of(table, 4, 2, WTE_F32);
    const uint16_t ids[] = { 0, 1, 2, 3 }, offsets[] = { 0, 1, 2, 3 };
    const float small = 1e-30f / 1e-12f;
    float out[8];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.normalize = 1;
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 4), ids_of(offsets, WTE_U16, 4), &opt, out,
                             0, &err),
              err);
    assert_true(out[0] == 3.0f / 5 && out[1] == 4.0f / 5);
    assert_true(out[2] == 0 && out[3] == 0 && out[4] == small && out[5] == 0);
    assert_true(isnan(out[6]) && isnan(out[7]));
}

static void long_rows_are_shortened_in_the_copy(void **state)
{
    (void)state;
    const float table[] = { 3, 4, 0.5f, 0 };
    const wte_row_source rows = view_of(table, 2, 2, WTE_F32);
    const uint16_t ids[] = { 0, 1, 0 }, offsets[] = { 0 };
    float out[2];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.max_norm = 1;
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 3), ids_of(offsets, WTE_U16, 1), &opt, out,
                             0, &err),
              err);
    const float x = 0.6000000238418579f, y = 0.800000011920929f; /* PyTorch's */
    assert_true(out[0] == x + 0.5f + x && out[1] == y + 0 + y);
    assert_true(table[0] == 3 && table[1] == 4);
    opt.norm_type = 1;
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 1), ids_of(offsets, WTE_U16, 1), &opt, out,
                             0, &err),
              err);
    assert_true(out[0] == 0.4285714030265808f && out[1] == 0.5714285373687744f);
}

static void no_bags_and_no_columns_are_fine(void **state)
{
    (void)state;
    const wte_row_source rows = view_of(twelve, 4, 3, WTE_F32),
                         narrow = view_of(twelve, 4, 0, WTE_F32);
    const uint16_t ids[] = { 0, 1 }, offsets[] = { 0 };
    uint64_t size = 9, n = 9;
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    assert_ok(wte_bag_reduce(&rows, no_ids(), no_ids(), &opt, NULL, 0, &err), err);
    assert_ok(wte_bag_count(no_ids(), no_ids(), NULL, &n, &err), err);
    assert_int_equal(n, 0);
    opt.sizes = &size;
    assert_ok(wte_bag_reduce(&narrow, ids_of(ids, WTE_U16, 2), ids_of(offsets, WTE_U16, 1), &opt,
                             NULL, 0, &err),
              err);
    assert_int_equal(size, 2);
}

static void a_bad_id_is_named(void **state)
{
    (void)state;
    const int64_t ids[] = { 1, 4, 2 }, offsets[] = { 0 };
    float out[3] = { 0 };
    assert_fails(bags(ids, 3, offsets, 1, NULL, out), err, WTE_E_RANGE, 1,
                 "id 4 at position 1 is out of range: valid ids 0..3");
}

/* Of any type and alignment, on any thread, in any bag: the first one, and how many. */
static void the_first_of_many_bad_ids_is_named(void **state)
{
    (void)state;
    enum { N = 40000, EACH = 40, FIRST = 31 * 997, AGAIN = 39999 };
    static int32_t narrow[N];
    static int64_t ids[N];
    static char shifted[sizeof ids + 1];
    static float out[N / EACH * 3];
    const float table[4][3] = { { 1 }, { 2 }, { 3 }, { 4 } };
    const wte_row_source rows = view_of(table, 4, 3, WTE_F32);
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    wte_bad_ids report;
    opt.ids_per_bag = EACH;
    opt.report = &report;
    for (size_t i = 0; i < N; i++) ids[i] = (int64_t)(i % 4);
    ids[FIRST] = -7;
    ids[AGAIN] = 4;
    for (size_t i = 0; i < N; i++) narrow[i] = (int32_t)ids[i];
    memcpy(shifted + 1, ids, sizeof ids);
    const wte_ids forms[] = { ids_of(ids, WTE_I64, N), ids_of(shifted + 1, WTE_I64, N),
                              ids_of(narrow, WTE_I32, N) };
    for (size_t f = 0; f < 3; f++)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
            assert_fails(wte_bag_reduce(&rows, forms[f], no_ids(), &opt, out, 0, &err), err,
                         WTE_E_RANGE, FIRST, "id -7 at position 30907 is out of range");
            assert_true(report.count == 2 && report.first[1].position == AGAIN);
            wte_pool_free(opt.pool);
        }
}

static void bad_offsets_are_refused(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 1, 2 };
    const int64_t late[] = { 1, 2 }, back[] = { 0, 2, 1 }, far[] = { 0, 4 }, low[] = { 0, -1 };
    const int64_t early_end[] = { 0, 2 };
    float out[9];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    assert_fails(bags(ids, 3, late, 2, NULL, out), err, WTE_E_ARGUMENT, 0,
                 "the first offset is 1, but the first bag begins at 0");
    assert_fails(bags(ids, 3, back, 3, NULL, out), err, WTE_E_ARGUMENT, 2,
                 "offset 2 is 1, less than the 2 before it");
    assert_fails(bags(ids, 3, low, 2, NULL, out), err, WTE_E_ARGUMENT, 1,
                 "offset 1 is -1, less than the 0 before it");
    assert_fails(bags(ids, 3, far, 2, NULL, out), err, WTE_E_ARGUMENT, 1,
                 "offset 1 is 4, but there are 3 ids");
    assert_fails(bags(ids, 3, NULL, 0, NULL, out), err, WTE_E_ARGUMENT, 0, "no offsets, but 3 ids");
    opt.include_last_offset = 1;
    assert_fails(bags(ids, 3, early_end, 2, &opt, out), err, WTE_E_ARGUMENT, 1,
                 "the last offset is 2, but there are 3 ids");
    assert_fails(bags(ids, 0, NULL, 0, &opt, out), err, WTE_E_ARGUMENT, 0,
                 "the last offset is to be their end");
    uint64_t n = 5;
    assert_fails(wte_bag_count(ids_of(ids, WTE_I64, 3), ids_of(far, WTE_I64, 2), NULL, &n, &err),
                 err, WTE_E_ARGUMENT, 1, "but there are 3 ids");
    assert_int_equal(n, 0);
}

static void a_matrix_must_be_whole(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 1, 2 }, offsets[] = { 0 };
    float out[9];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.ids_per_bag = 2;
    assert_fails(bags(ids, 3, NULL, 0, &opt, out), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "3 ids are not a multiple of 2");
    assert_fails(bags(ids, 2, offsets, 1, &opt, out), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "bags of 2 ids each need no offsets, but there are 1");
    opt.include_last_offset = 1;
    assert_fails(bags(ids, 2, NULL, 0, &opt, out), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "need no offsets");
}

/* Options that make no sense, one after the other: set, called, and set back. */
static void bad_options_are_refused(void **state)
{
    (void)state;
    const int64_t ids[] = { 0 }, offsets[] = { 0 };
    const float weight = 1;
    uint64_t at[3];
    float out[3];
    const wte_bag_options good = WTE_BAG_OPTIONS_INIT;
    wte_bag_options opt = good;
#define REFUSED(set, status, part)                                                                 \
    opt = good;                                                                                    \
    set;                                                                                           \
    assert_fails(bags(ids, 1, offsets, 1, &opt, out), err, status, WTE_NO_INDEX, part)
    REFUSED(opt.mode = (wte_bag_mode)3, WTE_E_ARGUMENT, "no mode has the number 3");
    REFUSED(opt.bad_ids = (wte_bad_id_policy)2, WTE_E_ARGUMENT, "has the number 2");
    REFUSED(opt.n_ignore_ids = 1, WTE_E_ARGUMENT, "ignore_ids is NULL, but has 1 elements");
    REFUSED((opt.weights = &weight, opt.mode = WTE_BAG_MEAN), WTE_E_ARGUMENT,
            "weights are for sums, not for the mean");
    REFUSED((opt.weights = &weight, opt.mode = WTE_BAG_MAX), WTE_E_ARGUMENT,
            "weights are for sums, not for the maximum");
    REFUSED(opt.argmax = at, WTE_E_ARGUMENT, "max_at is for the maximum, not for the sum");
    REFUSED((opt.argmax = at, opt.mode = WTE_BAG_MEAN), WTE_E_ARGUMENT, "not for the mean");
    REFUSED(opt.out_dtype = WTE_F64, WTE_E_UNSUPPORTED, "not as f64");
    REFUSED((opt.mask = ids, opt.mask_dtype = WTE_F64), WTE_E_ARGUMENT, "a mask of type f64");
    REFUSED(opt.max_norm = -1, WTE_E_ARGUMENT, "max_norm is -1");
    REFUSED(opt.max_norm = (double)NAN, WTE_E_ARGUMENT, "max_norm is");
    REFUSED((opt.max_norm = 1, opt.norm_type = -2), WTE_E_ARGUMENT, "norm_type is -2");
#undef REFUSED
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 0 }, offsets[] = { 0 };
    const wte_row_source rows = view_of(twelve, 4, 3, WTE_F32),
                         odd = view_of(twelve, 4, 3, WTE_C64);
    const wte_row_source whole = view_of(twelve, 4, 3, WTE_I8);
    const wte_ids good = ids_of(ids, WTE_I64, 2), at = ids_of(offsets, WTE_I64, 1);
    float out[3];
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    assert_fails(wte_bag_reduce(NULL, good, at, NULL, out, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the row source is NULL");
    assert_fails(wte_bag_reduce(&odd, good, at, NULL, out, 0, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "rows of type c64 cannot be converted");
    assert_fails(wte_bag_reduce(&rows, ids_of(ids, WTE_U8, 2), at, NULL, out, 0, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "bags: ids of type u8");
    assert_fails(wte_bag_reduce(&rows, good, ids_of(ids, WTE_F32, 1), NULL, out, 0, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "bags, offsets: ids of type f32");
    assert_fails(wte_bag_reduce(&rows, good, ids_of(NULL, WTE_I64, 1), NULL, out, 0, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "1 ids, but no address of them");
    assert_fails(wte_bag_reduce(&rows, good, at, NULL, NULL, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "no address for 12 bytes of output");
    assert_fails(wte_bag_reduce(&rows, good, at, NULL, out, 11, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "the output stride is 11 bytes, but 3 f32 take 12");
    opt.max_norm = 1;
    assert_fails(wte_bag_reduce(&whole, good, at, &opt, out, 0, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "rows of i8 have no norm");
    assert_fails(wte_bag_count(good, at, NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "bags is NULL");
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const wte_row_source none = { .rows = 0, .cols = UINT64_MAX / 4, .dtype = WTE_I8 };
    const wte_row_source wide = { .rows = 0, .cols = (uint64_t)1 << 40, .dtype = WTE_I8 };
    const uint16_t offsets[70000] = { 0 };
    float out[1];
    const wte_ids many = ids_of(offsets, WTE_U16, 70000), empty = ids_of(NULL, WTE_I64, 0);
    assert_fails(wte_bag_reduce(&none, empty, many, NULL, out, 0, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "more bytes than memory can hold");
    assert_fails(wte_bag_reduce(&wide, empty, many, NULL, out, SIZE_MAX / 2, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "more than memory can hold");
}

static const struct CMUnitTest tests[] = {
    TEST("sum, mean and maximum of two bags", sum_mean_and_maximum_of_two_bags),
    TEST("padding counts for nothing, not in the mean's divisor either",
         padding_counts_for_nothing),
    TEST("an empty bag is zeros in every mode", an_empty_bag_is_zeros_in_every_mode),
    TEST("weights multiply their rows", weights_multiply_their_rows),
    TEST("the last offset may be the end", the_last_offset_may_be_the_end),
    TEST("a matrix of ids needs no offsets", a_matrix_of_ids_needs_no_offsets),
    TEST("masked positions are not looked at", masked_positions_are_not_looked_at),
    TEST("a bad id may be no member", a_bad_id_may_be_no_member),
    TEST("maxima tell whose they are", maxima_tell_whose_they_are),
    TEST("NaN stays in a maximum only from the first member",
         nan_in_a_maximum_stays_only_from_the_first),
    TEST("results are rounded once", results_are_rounded_once),
    TEST("results are normalized", results_are_normalized),
    TEST("long rows are shortened in the copy", long_rows_are_shortened_in_the_copy),
    TEST("no bags and no columns are fine", no_bags_and_no_columns_are_fine),
    TEST("a bad id is named", a_bad_id_is_named),
    TEST("the first of many bad ids is named", the_first_of_many_bad_ids_is_named),
    TEST("bad offsets are refused", bad_offsets_are_refused),
    TEST("a matrix must be whole", a_matrix_must_be_whole),
    TEST("bad options are refused", bad_options_are_refused),
    TEST("bad arguments are refused", bad_arguments_are_refused),
    TEST("sizes that cannot be are refused", sizes_that_cannot_be_are_refused),
};
TEST_MAIN(tests)
