/* The bounded cursor, checked sizes and UTF-8, up to the ends of their ranges. */
#include "test.h"

#include "base/checked.h"
#include "base/span.h"
#include "base/utf8.h"

static void bytes_come_in_order(void **state)
{
    (void)state;
    static const uint8_t data[] = { 1, 2, 3, 4, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 9 };
    wte__span s = wte__span_make(data, sizeof data);
    assert_int_equal(wte__span_left(&s), 13);
    assert_true(wte__span_u32le(&s) == 0x04030201u);
    assert_true(wte__span_u64le(&s) == UINT64_C(0xf8f7f6f5f4f3f2f1));
    wte__bytes rest = wte__span_take(&s, 1);
    assert_ptr_equal(rest.data, data + 12);
    assert_int_equal(rest.size, 1);
    assert_int_equal(wte__span_left(&s), 0);
    assert_true(wte__span_ok(&s));
}

static void the_first_failure_sticks(void **state)
{
    (void)state;
    static const uint8_t data[6] = { 1, 1, 1, 1, 1, 1 };
    wte__span s = wte__span_make(data, sizeof data);
    (void)wte__span_u32le(&s);
    assert_true(wte__span_u32le(&s) == 0); /* two bytes are left */
    assert_false(wte__span_ok(&s));
    assert_int_equal(s.failed_at, 4);
    assert_null(wte__span_take(&s, 1).data); /* one byte would be there, but no more is given */
    assert_null(wte__span_take(&s, 0).data);
    assert_int_equal(wte__span_left(&s), 0);
    assert_int_equal(s.failed_at, 4);
}

static void a_huge_length_is_a_failure_and_no_wrap(void **state)
{
    (void)state;
    static const uint8_t data[8] = { 0 };
    wte__span s = wte__span_make(data, sizeof data);
    (void)wte__span_u32le(&s);
    assert_null(wte__span_take(&s, UINT64_MAX - 2).data);
    assert_int_equal(s.failed_at, 4);
    s = wte__span_make(NULL, 0);
    assert_true(wte__span_u64le(&s) == 0);
    assert_int_equal(s.failed_at, 0);
}

static void sums_and_products_say_when_they_wrap(void **state)
{
    (void)state;
    uint64_t out = 1;
    assert_true(wte__mul_u64(UINT32_MAX, UINT32_MAX, &out));
    assert_true(out == UINT64_C(0xfffffffe00000001));
    assert_false(wte__mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_true(out == 0);
    assert_true(wte__add_u64(UINT64_MAX - 1, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_false(wte__add_u64(UINT64_MAX, 1, &out));
    assert_true(out == 0);
}

static void a_shape_becomes_a_size_only_if_it_fits(void **state)
{
    (void)state;
    const uint64_t table[] = { 128000, 4096 }, wraps[] = { UINT64_C(1) << 32, UINT64_C(1) << 32 };
    const uint64_t empty[] = { UINT64_C(1) << 40, 0, 3 };
    const uint64_t hidden[] = { UINT64_C(1) << 40, 0, UINT64_C(1) << 40 };
    uint64_t out = 1;
    assert_true(wte__shape_bytes(table, 2, 4, &out));
    assert_int_equal(out, UINT64_C(2097152000));
    assert_true(wte__shape_bytes(table, 0, 4, &out)); /* a scalar */
    assert_int_equal(out, 4);
    assert_true(wte__shape_bytes(empty, 3, 8, &out));
    assert_int_equal(out, 0);
    assert_false(wte__shape_bytes(wraps, 2, 4, &out));
    assert_int_equal(out, 0);
    assert_false(wte__shape_bytes(wraps, 2, 1, &out));
    assert_false(wte__shape_bytes(hidden, 3, 1, &out)); /* a zero does not hide what wraps */
}

static void every_character_survives_utf8(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        if (c == 0xd800) c = 0xe000;
        uint8_t bytes[4];
        uint32_t back, n = wte__utf8_put(c, bytes);
        if (wte__utf8_get(bytes, n, &back) != n || back != c) fail_msg("U+%04X", (unsigned)c);
        if (n > 1 && wte__utf8_get(bytes, n - 1, &back) != 0) fail_msg("U+%04X cut", (unsigned)c);
    }
}

/* Of all sequences of three bytes, exactly so many begin with a character of one, two or three. */
static void nothing_else_is_utf8(void **state)
{
    (void)state;
    uint32_t accepted[5] = { 0, 0, 0, 0, 0 };
    for (uint32_t v = 0; v < 0x1000000u; v++) {
        const uint8_t bytes[3] = { (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
        uint32_t code;
        accepted[wte__utf8_get(bytes, 3, &code)]++;
    }
    assert_int_equal(accepted[1], 0x80 * 0x10000);
    assert_int_equal(accepted[2], (0x800 - 0x80) * 0x100);
    assert_int_equal(accepted[3], 0x10000 - 0x800 - 0x800); /* no surrogates */
    assert_int_equal(accepted[4], 0);
}

static void a_terminal_gets_printable_characters_only(void **state)
{
    (void)state;
    static const uint32_t unsafe[] = { 0,      7,      0x1b,   0x1f,   '\\',   0x7f,   0x80,  0x9b,
                                       0x200b, 0x200f, 0x2028, 0x202e, 0x2066, 0xfeff, 0x061c };
    static const uint32_t safe[] = { ' ', '~', 0xa1, 0x120, 0x2581, 0x4f60, 0x1f600 };
    uint8_t bytes[4];
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        assert_int_equal(wte__utf8_printable(bytes, wte__utf8_put(unsafe[i], bytes)), 0);
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++) {
        uint32_t n = wte__utf8_put(safe[i], bytes);
        assert_int_equal(wte__utf8_printable(bytes, n), n);
    }
    assert_int_equal(wte__utf8_printable((const uint8_t *)"\x9b", 1), 0);
    assert_int_equal(wte__utf8_printable(bytes, 0), 0);
}

static uint32_t printable(uint32_t code)
{
    uint8_t bytes[4];
    return wte__utf8_printable(bytes, wte__utf8_put(code, bytes));
}

/* Unicode's default-ignorable characters, blanks that are not U+0020, controls, noncharacters. */
static void what_shows_nothing_is_not_printable(void **state)
{
    (void)state;
    static const uint32_t hidden[][2] = {
        { 0x7f, 0xa0 },       { 0xad, 0xad },       { 0x34f, 0x34f },      { 0x61c, 0x61c },
        { 0x115f, 0x1160 },   { 0x1680, 0x1680 },   { 0x17b4, 0x17b5 },    { 0x180b, 0x180f },
        { 0x2000, 0x200f },   { 0x2028, 0x202f },   { 0x205f, 0x206f },    { 0x2800, 0x2800 },
        { 0x3000, 0x3000 },   { 0x3164, 0x3164 },   { 0xfdd0, 0xfdef },    { 0xfe00, 0xfe0f },
        { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },    { 0xfffe, 0xffff },
        { 0x13430, 0x1343f }, { 0x16fe4, 0x16fe4 }, { 0x1bca0, 0x1bca3 },  { 0x1d159, 0x1d159 },
        { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff }, { 0x10fffe, 0x10ffff }
    };
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        for (uint32_t code = hidden[i][0]; code <= hidden[i][1]; code++)
            assert_int_equal(printable(code), 0);
        if (hidden[i][0] != 0xe0000) /* before it lie noncharacters of the plane below */
            assert_int_not_equal(printable(hidden[i][0] - 1), 0);
        if (hidden[i][1] < 0x10ffff && hidden[i][1] != 0xffff)
            assert_int_not_equal(printable(hidden[i][1] + 1), 0);
    }
    assert_int_not_equal(printable(0x10000), 0);
    assert_int_equal(printable(0x5fffe), 0);
}

static const struct CMUnitTest tests[] = {
    TEST("bytes come in order, little end first", bytes_come_in_order),
    TEST("the first failure sticks", the_first_failure_sticks),
    TEST("a huge length is a failure and does not wrap", a_huge_length_is_a_failure_and_no_wrap),
    TEST("sums and products say when they wrap", sums_and_products_say_when_they_wrap),
    TEST("a shape becomes a size only if it fits", a_shape_becomes_a_size_only_if_it_fits),
    TEST("every character survives UTF-8", every_character_survives_utf8),
    TEST("nothing else is UTF-8", nothing_else_is_utf8),
    TEST("a terminal gets printable characters only", a_terminal_gets_printable_characters_only),
    TEST("what shows nothing is not printable", what_shows_nothing_is_not_printable),
};
TEST_MAIN(tests)
