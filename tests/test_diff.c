/* Differences between two tables: each kind of change by hand, types, partners, threads, errors. */
#include "test.h"

#include <math.h>

#include "lookup_help.h"
#include <wte/near.h>

static wte_error err;

#define KEPT 16u
typedef struct result {
    wte_diff diff;
    uint8_t changes[64];
    wte_row_change most[KEPT];
} result;

static result compare(const wte_row_source *a, const wte_row_source *b, const uint64_t *b_of)
{
    result r;
    wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
    memset(&r, 0xee, sizeof r);
    assert_true(a->rows <= sizeof r.changes);
    opt.b_of = b_of;
    opt.changes = r.changes;
    opt.largest = r.most;
    opt.max_largest = KEPT;
    assert_ok(wte_diff_rows(a, b, &opt, &r.diff, &err), err);
    return r;
}

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, not %.17g", got, expected);
}

/* Kinds of change ----------------------------------------------------------------------------- */

static void equal_tables_are_bit_equal(void **state)
{
    (void)state;
    const uint32_t bits[] = { 0x3f800000u, 0x7fc00001u, 0x80000000u, 0x00000001u };
    uint32_t copy[4];
    reader reads;
    memcpy(copy, bits, sizeof bits);
    const wte_row_source a = view_of(bits, 2, 2, WTE_F32),
                         b = reader_of(&reads, copy, 2, 2, WTE_F32);
    const result r = compare(&a, &b, NULL);
    assert_true(r.diff.same);
    assert_int_equal(r.diff.count[WTE_CHANGE_SAME_BITS], 2);
    assert_int_equal(r.diff.compared, 2);
    assert_int_equal(r.diff.changed, 0);
    assert_int_equal(r.diff.first_changed, WTE_NO_INDEX);
    assert_int_equal(r.diff.n_largest, 0);
}

/* -0 and 0, NaN and another NaN: no bits, but values. */
static void other_bits_of_equal_values_are_told(void **state)
{
    (void)state;
    const uint32_t a_bits[] = { 0, 0x3f800000u, 0x7fc00001u, 0x40000000u };
    const uint32_t b_bits[] = { 0x80000000u, 0x3f800000u, 0xffc00000u, 0x40000000u };
    const wte_row_source a = view_of(a_bits, 2, 2, WTE_F32), b = view_of(b_bits, 2, 2, WTE_F32);
    const result r = compare(&a, &b, NULL);
    assert_false(r.diff.same);
    assert_int_equal(r.diff.count[WTE_CHANGE_SAME_VALUES], 2);
    assert_int_equal(r.diff.changed, 0);
}

static void equal_values_in_two_types_are_not_bit_equal(void **state)
{
    (void)state;
    const uint16_t bf16[] = { 0x3f80, 0xc000, 0x4040, 0x4080 }; /* 1 -2 3 4 */
    const float f32[] = { 1, -2, 3, 4.25f };
    const double f64[] = { 1, -2, 3, 4 };
    const int8_t i8[] = { 1, -2, 3, 4 };
    wte_row_source a = view_of(bf16, 2, 2, WTE_BF16), b = view_of(f32, 2, 2, WTE_F32);
    result r = compare(&a, &b, NULL);
    assert_int_equal(r.changes[0], WTE_CHANGE_SAME_VALUES);
    assert_int_equal(r.changes[1], WTE_CHANGE_MOVED);
    assert_near(r.most[0].distance, 0.25);
    a = view_of(f64, 2, 2, WTE_F64);
    b = view_of(i8, 2, 2, WTE_I8);
    r = compare(&a, &b, NULL);
    assert_int_equal(r.diff.count[WTE_CHANGE_SAME_VALUES], 2);
    assert_false(r.diff.same);
}

static void a_moved_row_is_measured(void **state)
{
    (void)state;
    const float a_rows[] = { 3, 4, 1, 1, 6, 8 }, b_rows[] = { 3, 4, 1, 1, 9, 12 };
    const wte_row_source a = view_of(a_rows, 3, 2, WTE_F32), b = view_of(b_rows, 3, 2, WTE_F32);
    const result r = compare(&a, &b, NULL);
    const wte_row_change *most = &r.most[0];
    assert_int_equal(r.diff.n_largest, 1);
    assert_int_equal(r.diff.first_changed, 2);
    assert_int_equal(most->a, 2);
    assert_int_equal(most->b, 2);
    assert_int_equal(most->change, WTE_CHANGE_MOVED);
    assert_near(most->distance, 5);
    assert_near(most->relative, 0.5);
    assert_near(most->largest, 4);
    assert_near(most->cosine, 1);
    assert_near(most->norm_a, 10);
    assert_near(most->norm_b, 15);
    assert_int_equal(r.diff.decade[6], 1); /* 0.1 up to 1 */
}

/* The limit for 2 numbers is 0.5; 1, sqrt(3) has the cosine 0.5 with 1, 0. */
static void reinitialised_rows_point_elsewhere_and_have_another_length(void **state)
{
    (void)state;
    const double a_rows[] = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 };
    const double b_rows[] = { 0, 2, 0, 1.005, 0, -0.98, 2, 2, -0.9, 1.7 };
    const wte_change expected[] = { WTE_CHANGE_REINITIALISED, WTE_CHANGE_MOVED,
                                    WTE_CHANGE_REINITIALISED, WTE_CHANGE_MOVED,
                                    WTE_CHANGE_REINITIALISED };
    const wte_row_source a = view_of(a_rows, 5, 2, WTE_F64), b = view_of(b_rows, 5, 2, WTE_F64);
    const result r = compare(&a, &b, NULL);
    assert_near(r.diff.cosine_limit, 0.5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(r.changes[i], expected[i]);
    assert_int_equal(r.diff.count[WTE_CHANGE_REINITIALISED], 3);
}

static void the_limit_of_the_cosine_shrinks_with_the_width(void **state)
{
    (void)state;
    enum { DIM = 1600 };
    static float a_row[DIM], b_row[DIM];
    const wte_row_source a = view_of(a_row, 1, DIM, WTE_F32), b = view_of(b_row, 1, DIM, WTE_F32);
    a_row[0] = 1;
    b_row[0] = 0.099f; /* cosine 0.099 with a norm of 1 */
    b_row[1] = 1.2f;
    assert_int_equal(compare(&a, &b, NULL).changes[0], WTE_CHANGE_REINITIALISED);
    b_row[0] = 0.2f;
    const result r = compare(&a, &b, NULL);
    assert_near(r.diff.cosine_limit, 0.1);
    assert_int_equal(r.changes[0], WTE_CHANGE_MOVED);
}

static void zero_and_nonfinite_rows_have_kinds_of_their_own(void **state)
{
    (void)state;
    const float a_rows[] = { 0, 0, 1, 1, 1, NAN, 2, 2, 0, 0, NAN, 5 };
    const float b_rows[] = { 0, 3, 0, 0, 1, 1, 2, INFINITY, 0, 0, NAN, 5 };
    const wte_change expected[] = { WTE_CHANGE_WAS_ZERO,  WTE_CHANGE_BECAME_ZERO,
                                    WTE_CHANGE_NONFINITE, WTE_CHANGE_NONFINITE,
                                    WTE_CHANGE_SAME_BITS, WTE_CHANGE_SAME_BITS };
    const wte_row_source a = view_of(a_rows, 6, 2, WTE_F32), b = view_of(b_rows, 6, 2, WTE_F32);
    const result r = compare(&a, &b, NULL);
    for (size_t i = 0; i < 6; i++) assert_int_equal(r.changes[i], expected[i]);
    assert_int_equal(r.diff.changed, 4);
    assert_int_equal(r.diff.decade[7], 1); /* became zero: its distance is its norm */
    assert_int_equal(r.most[0].a, 2);      /* infinite distances first, the lower row before */
    assert_int_equal(r.most[1].a, 3);
    assert_true(r.most[1].distance == (double)INFINITY && isnan(r.most[1].cosine));
    assert_int_equal(r.most[2].a, 0);
    assert_true(r.most[2].distance == 3 && r.most[2].relative == (double)INFINITY);
    assert_true(r.most[3].relative == 1 && isnan(r.most[3].cosine));
}

static void decades_hold_relative_distances(void **state)
{
    (void)state;
    double a_rows[8], b_rows[8];
    const double step[] = { 5e-7, 1e-6, 5e-5, 5e-4, 5e-3, 5e-2, 0.5, 5 };
    for (int i = 0; i < 8; i++) {
        a_rows[i] = 1;
        b_rows[i] = 1 + step[i];
    }
    b_rows[1] = 1 + 0x1.1p-20; /* a little above 1e-6, without a rounding */
    const wte_row_source a = view_of(a_rows, 8, 1, WTE_F64), b = view_of(b_rows, 8, 1, WTE_F64);
    const result r = compare(&a, &b, NULL);
    for (int i = 0; i < WTE_DECADES; i++) assert_int_equal(r.diff.decade[i], 1);
}

/* Rows and partners --------------------------------------------------------------------------- */

static void rows_that_one_table_lacks_are_counted(void **state)
{
    (void)state;
    const float rows[] = { 1, 2, 3, 4, 5 };
    const wte_row_source three = view_of(rows, 3, 1, WTE_F32), five = view_of(rows, 5, 1, WTE_F32);
    const wte_row_source none = view_of(NULL, 0, 1, WTE_F32);
    result r = compare(&five, &three, NULL);
    assert_int_equal(r.diff.count[WTE_CHANGE_ONLY_IN_A], 2);
    assert_int_equal(r.diff.only_in_b, 0);
    assert_int_equal(r.changes[3], WTE_CHANGE_ONLY_IN_A);
    assert_false(r.diff.same);
    r = compare(&three, &five, NULL);
    assert_int_equal(r.diff.only_in_b, 2);
    assert_int_equal(r.diff.count[WTE_CHANGE_SAME_BITS], 3);
    assert_false(r.diff.same);
    r = compare(&none, &three, NULL);
    assert_int_equal(r.diff.compared, 0);
    assert_int_equal(r.diff.only_in_b, 3);
    assert_true(compare(&none, &none, NULL).diff.same);
}

static void rows_are_compared_with_their_partners(void **state)
{
    (void)state;
    reader reads;
    const float a_rows[] = { 1, 2, 3, 4 }, b_rows[] = { 3, 9, 1, 8, 2 };
    const uint64_t b_of[] = { 2, 4, 0, WTE_NO_INDEX };
    const wte_row_source a = view_of(a_rows, 4, 1, WTE_F32), view = view_of(b_rows, 5, 1, WTE_F32);
    const wte_row_source source = reader_of(&reads, b_rows, 5, 1, WTE_F32);
    const wte_row_source *tables[] = { &view, &source };
    for (int i = 0; i < 2; i++) {
        const result r = compare(&a, tables[i], b_of);
        assert_int_equal(r.diff.count[WTE_CHANGE_SAME_BITS], 3);
        assert_int_equal(r.diff.count[WTE_CHANGE_ONLY_IN_A], 1);
        assert_int_equal(r.diff.only_in_b, 2);
    }
}

static void permuted_tables_are_bit_equal_by_their_partners(void **state)
{
    (void)state;
    const float a_rows[] = { 1, 2, 3 }, b_rows[] = { 3, 1, 2 };
    const uint64_t b_of[] = { 1, 2, 0 }, twice[] = { 1, 1, 1 };
    const wte_row_source a = view_of(a_rows, 3, 1, WTE_F32), b = view_of(b_rows, 3, 1, WTE_F32);
    assert_true(compare(&a, &b, b_of).diff.same);
    assert_false(compare(&a, &b, NULL).diff.same);
    assert_int_equal(compare(&a, &b, twice).diff.only_in_b, 2);
}

/* Farther rows first, the lower of equal ones; `most` holds only what there is room for. */
static void the_rows_that_moved_farthest_are_listed(void **state)
{
    (void)state;
    float a_rows[40] = { 0 }, b_rows[40];
    for (int i = 0; i < 40; i++) {
        a_rows[i] = 100;
        b_rows[i] = 100 + (float)(i * 7 % 20);
    }
    const wte_row_source a = view_of(a_rows, 40, 1, WTE_F32), b = view_of(b_rows, 40, 1, WTE_F32);
    const result r = compare(&a, &b, NULL);
    assert_int_equal(r.diff.n_largest, KEPT);
    assert_int_equal(r.diff.changed, 38);
    for (uint64_t i = 0; i < KEPT; i++) {
        assert_true(r.most[i].distance == 19 - (double)(i / 2));
        if (i % 2) assert_int_equal(r.most[i].a, r.most[i - 1].a + 20);
    }
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    enum { ROWS = 3000, DIM = 150 };
    float *a_rows = malloc(ROWS * DIM * sizeof(float)), *b_rows = malloc(ROWS * DIM * 4);
    uint64_t noise = 9;
    assert_true(a_rows && b_rows);
    for (size_t i = 0; i < ROWS * DIM; i++) {
        a_rows[i] = (float)(test_noise(&noise) >> 40);
        b_rows[i] = i / DIM % 3 ? a_rows[i] : a_rows[i] + (float)(test_noise(&noise) >> 44);
    }
    const wte_row_source a = view_of(a_rows, ROWS, DIM, WTE_F32),
                         b = view_of(b_rows, ROWS, DIM, WTE_F32);
    static const uint32_t threads[] = { 1, 2, 5 };
    static uint8_t changes[3][ROWS];
    wte_diff diff[3];
    wte_row_change most[3][KEPT];
    memset(most, 0, sizeof most);
    memset(diff, 0, sizeof diff);
    for (size_t i = 0; i < 3; i++) {
        wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
        opt.changes = changes[i];
        opt.largest = most[i];
        opt.max_largest = KEPT;
        assert_ok(wte_pool_create(threads[i], &opt.pool, &err), err);
        assert_ok(wte_diff_rows(&a, &b, &opt, &diff[i], &err), err);
        wte_pool_free(opt.pool);
        assert_memory_equal(&diff[i], &diff[0], sizeof diff[0]);
        assert_memory_equal(changes[i], changes[0], ROWS);
        assert_memory_equal(most[i], most[0], sizeof most[0]);
    }
    assert_int_equal(diff[0].changed, ROWS / 3);
    free(a_rows);
    free(b_rows);
}

/* Errors -------------------------------------------------------------------------------------- */

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    const float rows[] = { 1, 2, 3, 4 };
    const uint64_t b_of[] = { 0, 2 };
    wte_row_source a = view_of(rows, 2, 2, WTE_F32), b = view_of(rows, 4, 1, WTE_F32);
    wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
    wte_diff diff;
    assert_fails(wte_diff_rows(&a, &b, NULL, &diff, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "rows of 2 numbers cannot be compared with rows of 1");
    a = b = view_of(rows, 4, 0, WTE_F32);
    assert_fails(wte_diff_rows(&a, &b, NULL, &diff, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "rows of 0 numbers");
    a = b = view_of(rows, 2, 2, WTE_F32);
    opt.b_of = b_of;
    assert_fails(wte_diff_rows(&a, &b, &opt, &diff, &err), err, WTE_E_RANGE, 1,
                 "row 1 of A is to be compared with row 2 of B, which has 2 rows");
    opt = (wte_diff_options)WTE_DIFF_OPTIONS_INIT;
    opt.max_largest = 3;
    assert_fails(wte_diff_rows(&a, &b, &opt, &diff, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "most is NULL, with room for 3 rows");
    opt.struct_size = 1;
    assert_fails(wte_diff_rows(&a, &b, &opt, &diff, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "struct_size is 1");
    assert_fails(wte_diff_rows(&a, NULL, NULL, &diff, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "NULL");
    b = view_of(rows, 1, 2, WTE_C64);
    assert_fails(wte_diff_rows(&a, &b, NULL, &diff, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "rows of type c64");
}

static void a_source_that_fails_ends_the_comparison(void **state)
{
    (void)state;
    reader reads;
    const float rows[] = { 1, 2, 3, 4 };
    const wte_row_source good = view_of(rows, 4, 1, WTE_F32),
                         bad = reader_of(&reads, rows, 4, 1, WTE_F32);
    wte_diff diff;
    reads.bad = 3;
    assert_fails(wte_diff_rows(&good, &bad, NULL, &diff, &err), err, WTE_E_IO, 3,
                 "the disk is gone");
    assert_fails(wte_diff_rows(&bad, &good, NULL, &diff, &err), err, WTE_E_IO, 3,
                 "the disk is gone");
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    *(uint64_t *)ctx = total;
    return done > total;
}

static void the_caller_may_stop_it(void **state)
{
    (void)state;
    const float rows[] = { 1, 2, 3, 4 };
    const wte_row_source table = view_of(rows, 4, 1, WTE_F32);
    uint64_t total = 0;
    const wte_progress progress = { stop_at_once, &total };
    wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
    wte_diff diff;
    opt.progress = &progress;
    assert_fails(wte_diff_rows(&table, &table, &opt, &diff, &err), err, WTE_E_CANCELLED, 4,
                 "stopped");
    assert_int_equal(total, 4);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    reader reads;
    const float a_rows[] = { 1, 2, 3 }, b_rows[] = { 3, 1, 2 };
    const uint64_t b_of[] = { 1, 2, 1 };
    const wte_row_source a = reader_of(&reads, a_rows, 3, 1, WTE_F32);
    const wte_row_source b = view_of(b_rows, 3, 1, WTE_F32);
    size_t i = 0;
    for (wte_status status = WTE_E_MEMORY; status != WTE_OK; i++) {
        test_memory memory;
        wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
        wte_row_change most[2];
        wte_diff diff;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        opt.b_of = b_of;
        opt.largest = most;
        opt.max_largest = 2;
        status = wte_diff_rows(&a, &b, &opt, &diff, &err);
        assert_true(status == WTE_OK || (status == WTE_E_MEMORY && err.status == WTE_E_MEMORY));
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(i, 11); /* lanes, six of a lane, used rows; lanes and a block of the pass */
}

/* Tokens -------------------------------------------------------------------------------------- */

static wte_vocab *opened(const char *json, wte_vocab_source source)
{
    wte_vocab *v;
    assert_ok(wte_vocab_open_memory(json, strlen(json), "tokens", source, NULL, &v, &err), err);
    return v;
}
static wte_vocab *vocab_of(const char *json)
{
    return opened(json, WTE_VOCAB_JSON);
}

static void tokens_are_matched_by_their_text(void **state)
{
    (void)state;
    wte_vocab *a = vocab_of("{\"the\": 0, \"cat\": 1, \"sat\": 2, \"on\": 4, \"mat\": 6}");
    wte_vocab *b = vocab_of("{\"the\": 0, \"sat\": 1, \"cat\": 2, \"dog\": 4, \"on\": 5}");
    const uint64_t expected[] = {
        0, 2, 1, WTE_NO_INDEX, WTE_NO_INDEX, WTE_NO_INDEX, WTE_NO_INDEX, 7
    };
    uint64_t b_of[8];
    wte_vocab_match match;
    b_of[7] = 7;
    wte_vocab_align(a, b, 7, 5, b_of, &match); /* "on" has no row in B */
    assert_memory_equal(b_of, expected, sizeof b_of);
    assert_int_equal(match.same_id, 1);
    assert_int_equal(match.other_id, 3);
    assert_int_equal(match.only_a, 1);
    assert_int_equal(match.conflicts, 3);
    assert_int_equal(match.first_conflict, 1);
    wte_vocab_align(a, a, 0, 0, NULL, &match);
    assert_int_equal(match.same_id, 5);
    assert_int_equal(match.conflicts, 0);
    assert_int_equal(match.first_conflict, WTE_NO_INDEX);
    wte_vocab_free(a);
    wte_vocab_free(b);
}

/* "Ġcat" in the one file and " cat" in the other are one token. */
static void spellings_do_not_part_tokens(void **state)
{
    (void)state;
    wte_vocab *a = opened("{\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"vocab\":"
                          "{\"cat\":0,\"\\u0120cat\":1,\"\\u0120dog\":2,\"\\u010a\":3}}}",
                          WTE_VOCAB_TOKENIZER_JSON);
    wte_vocab *b = vocab_of("{\" cat\": 0, \"cat\": 1, \"dog\": 2, \"\\n\": 3}");
    const uint64_t expected[] = { 1, 0, WTE_NO_INDEX, 3 };
    uint64_t b_of[4];
    wte_vocab_match match;
    assert_int_equal(wte_vocab_spelling_of(a), WTE_SPELLING_BYTE_LEVEL);
    assert_int_equal(wte_vocab_spelling_of(b), WTE_SPELLING_PLAIN);
    wte_vocab_align(a, b, 4, 4, b_of, &match);
    assert_memory_equal(b_of, expected, sizeof b_of);
    assert_int_equal(match.only_a, 1);
    wte_vocab_free(a);
    wte_vocab_free(b);
}

static void changes_have_names(void **state)
{
    (void)state;
    assert_string_equal(wte_change_name(WTE_CHANGE_SAME_BITS), "bit-equal");
    assert_string_equal(wte_change_name(WTE_CHANGE_ONLY_IN_A), "only in A");
    assert_string_equal(wte_change_name((wte_change)WTE_CHANGES), "unknown");
}

static const struct CMUnitTest tests[] = {
    TEST("equal tables are bit-equal", equal_tables_are_bit_equal),
    TEST("other bits of equal values are told", other_bits_of_equal_values_are_told),
    TEST("equal values in two types are not bit-equal",
         equal_values_in_two_types_are_not_bit_equal),
    TEST("a moved row is measured", a_moved_row_is_measured),
    TEST("re-initialised rows point elsewhere and have another length",
         reinitialised_rows_point_elsewhere_and_have_another_length),
    TEST("the limit of the cosine shrinks with the width",
         the_limit_of_the_cosine_shrinks_with_the_width),
    TEST("zero and non-finite rows have kinds of their own",
         zero_and_nonfinite_rows_have_kinds_of_their_own),
    TEST("decades hold relative distances", decades_hold_relative_distances),
    TEST("rows that one table lacks are counted", rows_that_one_table_lacks_are_counted),
    TEST("rows are compared with their partners", rows_are_compared_with_their_partners),
    TEST("permuted tables are bit-equal by their partners",
         permuted_tables_are_bit_equal_by_their_partners),
    TEST("the rows that moved farthest are listed", the_rows_that_moved_farthest_are_listed),
    TEST("threads do not change a bit", threads_do_not_change_a_bit),
    TEST("what cannot be compared is refused", what_cannot_be_compared_is_refused),
    TEST("a source that fails ends the comparison", a_source_that_fails_ends_the_comparison),
    TEST("the caller may stop it", the_caller_may_stop_it),
    TEST("every allocation may fail", every_allocation_may_fail),
    TEST("tokens are matched by their text", tokens_are_matched_by_their_text),
    TEST("spellings do not part tokens", spellings_do_not_part_tokens),
    TEST("changes have names", changes_have_names),
};
TEST_MAIN(tests)
