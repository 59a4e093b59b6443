/* Element types: names, sizes, and what wte_convert makes of every kind of value. Expected bits are
 * from make_golden_dtype.py (exact fractions, numpy, torch) or worked out by hand. */
#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "num/number.h"

#define COPIES 37 /* of an element: two vectors of the widest kind, and a bit */

static const wte_dtype converting[] = { WTE_F64,     WTE_F32, WTE_F16, WTE_BF16, WTE_F8_E4M3,
                                        WTE_F8_E5M2, WTE_I8,  WTE_U8,  WTE_I16,  WTE_U16,
                                        WTE_I32,     WTE_U32, WTE_I64, WTE_U64,  WTE_BOOL };
#define N_CONVERTING (sizeof converting / sizeof converting[0])

/* Convert one element, many times over, with and without a report; all must agree. */
static uint64_t convert_bits(wte_dtype from, uint64_t bits, wte_dtype to,
                             wte_convert_report *report)
{
    char src[COPIES * 8], dst[COPIES * 8];
    const size_t from_bytes = wte_dtype_bytes(from), to_bytes = wte_dtype_bytes(to);
    wte_error err;
    uint64_t out = 0, plain;
    for (size_t i = 0; i < COPIES; i++) memcpy(src + i * from_bytes, &bits, from_bytes);
    memset(report, 0, sizeof *report);
    assert_ok(wte_convert(from, src, to, &out, 1, report, &err), err);
    assert_ok(wte_convert(from, src, to, dst, COPIES, NULL, &err), err);
    for (size_t i = 0; i < COPIES; i++) {
        plain = 0;
        memcpy(&plain, dst + i * to_bytes, to_bytes);
        if (plain != out)
            fail_msg("%s %" PRIx64 " to %s: element %zu is %" PRIx64 " without a report, %" PRIx64
                     " with one",
                     wte_dtype_name(from), bits, wte_dtype_name(to), i, plain, out);
    }
    return out;
}

static char loss_letter(const wte_convert_report *report)
{
    const uint64_t all = report->overflow + report->underflow + report->inexact + report->nan;
    assert_true(all <= 1);
    return report->overflow    ? 'o'
           : report->underflow ? 'u'
           : report->inexact   ? 'i'
           : report->nan       ? 'n'
                               : '-';
}

static void check(wte_dtype from, uint64_t bits, wte_dtype to, uint64_t expected, char loss)
{
    wte_convert_report report;
    const uint64_t got = convert_bits(from, bits, to, &report);
    if (got != expected || loss_letter(&report) != loss)
        fail_msg("%s %" PRIx64 " to %s: got %" PRIx64 " (%c), not %" PRIx64 " (%c)",
                 wte_dtype_name(from), bits, wte_dtype_name(to), got, loss_letter(&report),
                 expected, loss);
}

static uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void golden_conversions_are_met(void **state)
{
    (void)state;
    FILE *file = fopen(test_data("golden_dtype.txt"), "r");
    assert_non_null(file);
    char from[16], to[16], loss;
    uint64_t bits, expected;
    size_t lines = 0;
    while (fscanf(file, "%15s %15s %" SCNx64 " %" SCNx64 " %c", from, to, &bits, &expected,
                  &loss) == 5) {
        check(wte_dtype_from_name(from), bits, wte_dtype_from_name(to), expected, loss);
        lines++;
    }
    assert_true(feof(file));
    assert_true(lines > 1900);
    assert_int_equal(fclose(file), 0);
}

static void a_value_is_rounded_once(void **state)
{
    (void)state;
    /* Each lies just above a tie, by less than f32 can show: through f32 it would become the tie
     * itself and fall to the even neighbour below. */
    check(WTE_F64, f64_bits(1 + 0x1p-11 + 0x1p-40), WTE_F16, 0x3c01, 'i');
    check(WTE_F64, f64_bits(1 + 0x1p-8 + 0x1p-40), WTE_BF16, 0x3f81, 'i');
    check(WTE_F64, f64_bits(1 + 0x1p-4 + 0x1p-40), WTE_F8_E4M3, 0x39, 'i');
    check(WTE_F64, f64_bits(1 + 0x1p-3 + 0x1p-40), WTE_F8_E5M2, 0x3d, 'i');
    /* Below a tie in the same way; f32 would round it up to 65520, which overflows. */
    check(WTE_F64, f64_bits(65520 - 0x1p-30), WTE_F16, 0x7bff, 'i');
    check(WTE_F64, f64_bits(65520), WTE_F16, 0x7c00, 'o');
    /* 2^40 + 2^32 + 1: bf16 steps by 2^33 there, f32 by 2^17. */
    check(WTE_I64, (UINT64_C(1) << 40) + (UINT64_C(1) << 32) + 1, WTE_BF16, 0x5381, 'i');
    /* 2^63 + 2^39 + 1: f32 steps by 2^40 there, f64 by 2^11. */
    check(WTE_U64, (UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1, WTE_F32, 0x5f000001, 'i');
    check(WTE_U64, (UINT64_C(1) << 63) + (UINT64_C(1) << 39), WTE_F32, 0x5f000000, 'i');
}

static void a_nan_stays_a_nan(void **state)
{
    (void)state;
    /* Rounding 7fffffff to bf16 would carry into the sign, 7f80ffff into the infinity's code. */
    check(WTE_F32, 0x7fffffff, WTE_BF16, 0x7fff, 'n');
    check(WTE_F32, 0x7f80ffff, WTE_BF16, 0x7fc0, 'n');
    check(WTE_F32, 0xff800001, WTE_BF16, 0xffc0, 'n');
    check(WTE_F32, 0x7f800001, WTE_F16, 0x7e00, 'n');
    check(WTE_F32, 0xff802000, WTE_F16, 0xfe01, 'n');
    check(WTE_F32, 0xffa00000, WTE_F8_E5M2, 0xff, 'n');
    check(WTE_F32, 0x7fc12345, WTE_F8_E4M3, 0x7f, 'n');
    check(WTE_F32, 0x7fa00000, WTE_F64, 0x7ffc000000000000, 'n');
    check(WTE_F64, 0xfff0000000000001, WTE_F32, 0xffc00000, 'n');
    check(WTE_F64, 0x7ff0000020000000, WTE_F32, 0x7fc00001, 'n');
    check(WTE_F16, 0x7c01, WTE_F32, 0x7fc02000, 'n');
    check(WTE_BF16, 0xff81, WTE_F32, 0xffc10000, 'n');
    check(WTE_F8_E4M3, 0x7f, WTE_F32, 0x7fc00000, 'n');
    check(WTE_F8_E4M3, 0xff, WTE_F32, 0xffc00000, 'n');
    check(WTE_F8_E5M2, 0x7d, WTE_F32, 0x7fe00000, 'n');
    check(WTE_F8_E5M2, 0xfe, WTE_F32, 0xffc00000, 'n');
    check(WTE_F16, 0x7c01, WTE_BF16, 0x7fc0, 'n');
}

static void a_nan_has_no_integer_but_0(void **state)
{
    (void)state;
    check(WTE_F32, 0x7fc00000, WTE_I32, 0, 'n');
    check(WTE_F64, 0xfff8000000000000, WTE_U64, 0, 'n');
    check(WTE_F8_E4M3, 0xff, WTE_I8, 0, 'n');
    check(WTE_F16, 0x7e00, WTE_BOOL, 1, 'n'); /* NaN != 0 */
}

static void infinities_stay_where_there_are_any(void **state)
{
    (void)state;
    check(WTE_F32, 0x7f800000, WTE_F16, 0x7c00, '-');
    check(WTE_F32, 0xff800000, WTE_BF16, 0xff80, '-');
    check(WTE_F64, 0xfff0000000000000, WTE_F8_E5M2, 0xfc, '-');
    check(WTE_F8_E5M2, 0xfc, WTE_F32, 0xff800000, '-');
    check(WTE_F32, 0x7f800000, WTE_F8_E4M3, 0x7f, 'o');
    check(WTE_F32, 0xff800000, WTE_F8_E4M3, 0xff, 'o');
    check(WTE_F32, 0x7f800000, WTE_I16, 0x7fff, 'o');
    check(WTE_F32, 0xff800000, WTE_I16, 0x8000, 'o');
    check(WTE_F32, 0xff800000, WTE_U32, 0, 'o');
}

static void beyond_the_range_is_infinity_nan_or_the_limit(void **state)
{
    (void)state;
    check(WTE_F32, f32_bits(70000), WTE_F16, 0x7c00, 'o');
    check(WTE_F32, 0xff7fffff, WTE_BF16, 0xff80, 'o'); /* -FLT_MAX rounds past bf16's largest */
    check(WTE_F64, f64_bits(-1e300), WTE_F32, 0xff800000, 'o');
    check(WTE_F32, f32_bits(464), WTE_F8_E4M3, 0x7e, 'i'); /* the tie goes to 448 */
    check(WTE_F32, f32_bits(-465), WTE_F8_E4M3, 0xff, 'o');
    check(WTE_F32, f32_bits(61440), WTE_F8_E5M2, 0x7c, 'o');
    check(WTE_F32, f32_bits(-129), WTE_I8, 0x80, 'o');
    check(WTE_F32, f32_bits(-0.6f), WTE_U8, 0, 'o');
    check(WTE_F64, f64_bits(0x1p63), WTE_I64, INT64_MAX, 'o');
    check(WTE_F64, f64_bits(-0x1p63), WTE_I64, (uint64_t)INT64_MIN, '-');
    check(WTE_U64, UINT64_MAX, WTE_I8, 127, 'o');
    check(WTE_I8, 0xff, WTE_U64, 0, 'o');
}

static void zero_keeps_its_sign_and_small_values_are_counted(void **state)
{
    (void)state;
    check(WTE_F32, 0x80000000, WTE_F16, 0x8000, '-');
    check(WTE_F64, f64_bits(-0.0), WTE_BF16, 0x8000, '-');
    check(WTE_F64, f64_bits(-0.0), WTE_F8_E4M3, 0x80, '-');
    check(WTE_F32, 0x80000000, WTE_I32, 0, '-');
    check(WTE_F32, f32_bits(-1e-30f), WTE_F16, 0x8000, 'u');
    check(WTE_F32, f32_bits(0x1p-25f), WTE_F16, 0, 'u'); /* the tie between 0 and 2^-24 */
    check(WTE_F32, 0x33000001, WTE_F16, 1, 'i');
    check(WTE_F32, f32_bits(0.5f), WTE_I32, 0, 'u');
    check(WTE_F32, f32_bits(1.5f), WTE_I32, 2, 'i');
    check(WTE_F64, 1, WTE_F32, 0, 'u');
}

static void a_bool_is_whether_the_value_is_not_0(void **state)
{
    (void)state;
    check(WTE_F32, f32_bits(0.0f), WTE_BOOL, 0, '-');
    check(WTE_F32, 0x80000000, WTE_BOOL, 0, '-');
    check(WTE_F32, f32_bits(1.0f), WTE_BOOL, 1, '-');
    check(WTE_F32, f32_bits(0.3f), WTE_BOOL, 1, 'i');
    check(WTE_F32, f32_bits(-1.0f), WTE_BOOL, 1, 'i');
    check(WTE_I64, UINT64_C(1) << 40, WTE_BOOL, 1, 'i');
    check(WTE_F32, 0x7f800000, WTE_BOOL, 1, 'i');
    check(WTE_BOOL, 7, WTE_F32, f32_bits(1.0f), '-');
    check(WTE_BOOL, 0, WTE_F32, 0, '-');
    check(WTE_BOOL, 255, WTE_F16, 0x3c00, '-');
    check(WTE_BOOL, 1, WTE_I64, 1, '-');
}

static void the_same_type_keeps_every_bit(void **state)
{
    (void)state;
    check(WTE_F32, 0x7f800001, WTE_F32, 0x7f800001, 'n');
    check(WTE_F16, 0xfc01, WTE_F16, 0xfc01, 'n');
    check(WTE_BOOL, 7, WTE_BOOL, 7, '-');
    check(WTE_U64, UINT64_MAX, WTE_U64, UINT64_MAX, '-');
}

static void a_report_is_added_to(void **state)
{
    (void)state;
    const float src[] = { 1e9f, -1e9f, 1e-9f, 1.0003f, NAN, 0.0f, 3.0f, INFINITY };
    uint16_t dst[8];
    wte_convert_report report = { 10, 20, 30, 40 };
    wte_error err;
    assert_ok(wte_convert(WTE_F32, src, WTE_F16, dst, 8, &report, &err), err);
    assert_int_equal(report.overflow, 12);
    assert_int_equal(report.underflow, 21);
    assert_int_equal(report.inexact, 31);
    assert_int_equal(report.nan, 41);
}

static void types_that_do_not_convert_are_refused(void **state)
{
    (void)state;
    char src[8] = { 0 }, dst[8];
    wte_error err;
    assert_fails(wte_convert(WTE_C64, src, WTE_F32, dst, 1, NULL, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "type c64");
    assert_fails(wte_convert(WTE_F32, src, WTE_F4, dst, 1, NULL, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "type f4");
    assert_fails(wte_convert(WTE_DTYPE_NONE, src, WTE_F32, dst, 0, NULL, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX, "type none");
    assert_fails(wte_convert((wte_dtype)99, src, WTE_F32, dst, 1, NULL, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX, "unknown (number 99)");
}

static void null_is_refused_unless_there_is_nothing_to_convert(void **state)
{
    (void)state;
    char some[16] = { 0 };
    wte_error err;
    assert_fails(wte_convert(WTE_F32, NULL, WTE_F16, some, 2, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "src is NULL, but 2 elements");
    assert_fails(wte_convert(WTE_F32, some, WTE_F16, NULL, 2, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "dst is NULL, but 2 elements");
    assert_ok(wte_convert(WTE_F32, NULL, WTE_F16, NULL, 0, NULL, &err), err);
    assert_ok(wte_convert(WTE_F32, NULL, WTE_F32, NULL, 0, NULL, &err), err);
}

static void names_lead_back_to_their_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        wte_dtype type;
    } cases[] = {
        { "float32", WTE_F32 },     { "F32", WTE_F32 },
        { "Float", WTE_F32 },       { "double", WTE_F64 },
        { "half", WTE_F16 },        { "FLOAT16", WTE_F16 },
        { "bfloat16", WTE_BF16 },   { "int64", WTE_I64 },
        { "long", WTE_I64 },        { "int", WTE_I32 },
        { "uint8", WTE_U8 },        { "byte", WTE_U8 },
        { "boolean", WTE_BOOL },    { "float8_e4m3fn", WTE_F8_E4M3 },
        { "F8_E5M2", WTE_F8_E5M2 }, { "float8_e4m3fnuz", WTE_F8_E4M3FNUZ },
        { "complex64", WTE_C64 },   { "f4", WTE_F4 },
        { "f3", WTE_DTYPE_NONE },   { "f322", WTE_DTYPE_NONE },
        { "", WTE_DTYPE_NONE },     { " f32", WTE_DTYPE_NONE },
        { "none", WTE_DTYPE_NONE }, { "unknown", WTE_DTYPE_NONE },
    };
#define X(id, value, text, bits) assert_int_equal(wte_dtype_from_name(text), WTE_##id);
    WTE_DTYPE_LIST(X)
#undef X
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (wte_dtype_from_name(cases[i].name) != cases[i].type)
            fail_msg("'%s' is %s, not %s", cases[i].name,
                     wte_dtype_name(wte_dtype_from_name(cases[i].name)),
                     wte_dtype_name(cases[i].type));
    assert_int_equal(wte_dtype_from_name(NULL), WTE_DTYPE_NONE);
    assert_string_equal(wte_dtype_name(WTE_F8_E4M3), "f8_e4m3");
    assert_string_equal(wte_dtype_name(WTE_DTYPE_NONE), "none");
    assert_string_equal(wte_dtype_name((wte_dtype)23), "unknown");
    assert_string_equal(wte_dtype_name((wte_dtype)-1), "unknown");
}

static void sizes_are_those_of_the_formats(void **state)
{
    (void)state;
    static const uint32_t bits[] = { 0,  64, 32, 16, 16, 8, 8, 8, 8, 16, 16, 32,
                                     32, 64, 64, 8,  64, 8, 8, 8, 6, 6,  4,  0 };
    static const uint32_t bytes[] = { 0, 8, 4, 2, 2, 1, 1, 1, 1, 2, 2, 4,
                                      4, 8, 8, 1, 8, 1, 1, 1, 0, 0, 0, 0 };
    for (int type = 0; type < 24; type++) {
        assert_int_equal(wte_dtype_bits((wte_dtype)type), bits[type]);
        assert_int_equal(wte_dtype_bytes((wte_dtype)type), bytes[type]);
        assert_int_equal(wte_dtype_converts((wte_dtype)type), type >= 1 && type <= 15);
    }
}

/* Whether every value of a type of at most 16 bits survives. */
static bool every_code_fits(wte_dtype from, wte_dtype to)
{
    const uint64_t codes = UINT64_C(1) << wte_dtype_bits(from);
    bool fits = true;
    for (uint64_t code = 0; code < codes && fits; code++) {
        uint64_t out;
        wte_convert_report report = { 0 };
        wte_error err;
        assert_ok(wte_convert(from, &code, to, &out, 1, &report, &err), err);
        const bool nan_kept = !report.nan || to < WTE_I8;
        fits = nan_kept && report.overflow + report.underflow + report.inexact == 0;
    }
    return fits;
}

static void a_type_fits_when_no_value_of_it_is_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CONVERTING; i++)
        for (size_t j = 0; j < N_CONVERTING; j++) {
            const wte_dtype from = converting[i], to = converting[j];
            if (wte_dtype_bits(from) > 16) continue;
            if (wte_dtype_fits(from, to) != every_code_fits(from, to))
                fail_msg("%s into %s: fits says %d", wte_dtype_name(from), wte_dtype_name(to),
                         wte_dtype_fits(from, to));
        }
}

static void wide_types_fit_into_few(void **state)
{
    (void)state;
    static const wte_dtype wide[] = { WTE_F64, WTE_F32, WTE_I32, WTE_U32, WTE_I64, WTE_U64 };
    static const struct {
        wte_dtype from, to;
    } fitting[] = { { WTE_F32, WTE_F64 }, { WTE_I32, WTE_I64 }, { WTE_I32, WTE_F64 },
                    { WTE_U32, WTE_I64 }, { WTE_U32, WTE_U64 }, { WTE_U32, WTE_F64 } };
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        for (size_t j = 0; j < N_CONVERTING; j++) {
            bool expected = wide[i] == converting[j];
            for (size_t k = 0; k < sizeof fitting / sizeof fitting[0]; k++)
                expected |= fitting[k].from == wide[i] && fitting[k].to == converting[j];
            assert_int_equal(wte_dtype_fits(wide[i], converting[j]), expected);
        }
    assert_true(wte_dtype_fits(WTE_C64, WTE_C64));
    assert_false(wte_dtype_fits(WTE_C64, WTE_F64));
    assert_false(wte_dtype_fits(WTE_F8_E8M0, WTE_F32)); /* it does not convert */
    assert_false(wte_dtype_fits(WTE_DTYPE_NONE, WTE_DTYPE_NONE));
    assert_false(wte_dtype_fits((wte_dtype)99, (wte_dtype)99));
}

/* 3000 elements, more than one chunk and no multiple of it, against one at a time. */
static void check_long_array(wte_dtype from, wte_dtype to)
{
    enum { N = 3000 };
    static char src[N * 8], fast[N * 8], counted[N * 8], plain[N * 8];
    const size_t from_bytes = wte_dtype_bytes(from), to_bytes = wte_dtype_bytes(to);
    uint64_t seed = 5, losses[WTE__N_LOSSES] = { 0 };
    wte_error err;
    wte_convert_report report = { 0 };
    for (size_t i = 0; i < N * from_bytes; i++) src[i] = (char)test_noise(&seed);
    for (size_t i = 0; i < N; i++)
        losses[wte__number_store(wte__number_load(from, src + i * from_bytes), to,
                                 plain + i * to_bytes)]++;
    assert_ok(wte_convert(from, src, to, fast, N, NULL, &err), err);
    assert_ok(wte_convert(from, src, to, counted, N, &report, &err), err);
    assert_memory_equal(fast, plain, N * to_bytes);
    assert_memory_equal(counted, plain, N * to_bytes);
    assert_int_equal(report.overflow, losses[WTE__OVERFLOW]);
    assert_int_equal(report.underflow, losses[WTE__UNDERFLOW]);
    assert_int_equal(report.inexact, losses[WTE__INEXACT]);
    assert_int_equal(report.nan, losses[WTE__WAS_NAN]);
}

static void long_arrays_are_converted_as_each_element_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CONVERTING; i++)
        for (size_t j = 0; j < N_CONVERTING; j++)
            if (i != j) check_long_array(converting[i], converting[j]);
}

static const struct CMUnitTest tests[] = {
    TEST("golden conversions are met, with their losses", golden_conversions_are_met),
    TEST("a value is rounded once, not through f32 or f64", a_value_is_rounded_once),
    TEST("a NaN stays a NaN: sign and upper bits kept, quiet", a_nan_stays_a_nan),
    TEST("a NaN has no integer but 0", a_nan_has_no_integer_but_0),
    TEST("infinities stay where there are any", infinities_stay_where_there_are_any),
    TEST("beyond the range is an infinity, a NaN or the limit",
         beyond_the_range_is_infinity_nan_or_the_limit),
    TEST("zero keeps its sign and small values are counted",
         zero_keeps_its_sign_and_small_values_are_counted),
    TEST("a bool is whether the value is not 0", a_bool_is_whether_the_value_is_not_0),
    TEST("the same type on both sides keeps every bit", the_same_type_keeps_every_bit),
    TEST("a report is added to", a_report_is_added_to),
    TEST("types that do not convert are refused", types_that_do_not_convert_are_refused),
    TEST("NULL is refused unless there is nothing to convert",
         null_is_refused_unless_there_is_nothing_to_convert),
    TEST("names in any case, and synonyms, lead to their types", names_lead_back_to_their_types),
    TEST("sizes are those of the formats", sizes_are_those_of_the_formats),
    TEST("a narrow type fits exactly when no value of it is lost",
         a_type_fits_when_no_value_of_it_is_lost),
    TEST("wide types fit into few others", wide_types_fit_into_few),
    TEST("long arrays are converted as each element is",
         long_arrays_are_converted_as_each_element_is),
};
TEST_MAIN(tests)
