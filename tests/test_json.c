/* The JSON reader: every kind of token with its place, every rule of RFC 8259 that a text can
 * break, numbers and texts decoded, and limits. Every input ends at an unreadable page. */
#include "test.h"

#include <float.h>
#include <math.h>

#include "base/json.h"

/* A copy of the input whose end is guarded; at most one at a time. */
static void *guarded;
static size_t guarded_bytes;

static void begin(wte__json *j, const char *text, size_t bytes, uint32_t flags)
{
    if (guarded) test_guarded_free(guarded, guarded_bytes);
    guarded_bytes = bytes;
    guarded = test_guarded(bytes ? bytes : 1);
    if (bytes) memcpy(guarded, text, bytes);
    if (bytes == 0) guarded_bytes = 1;
    wte__json_init(j, guarded, bytes, "t.json", flags);
}

static wte__json_kind run(wte__json *j)
{
    wte__json_kind kind;
    do kind = wte__json_next(j);
    while (kind != WTE__JSON_END && kind != WTE__JSON_ERROR);
    return kind;
}

static void expect(wte__json *j, wte__json_kind kind, uint64_t at)
{
    assert_int_equal(wte__json_next(j), kind);
    assert_int_equal(j->kind, kind);
    assert_int_equal(j->token_at, at);
}

static void every_kind_has_its_place(void **state)
{
    (void)state;
    wte__json j;
    const char *text = " {\"a\" : [ 1,true, false ,null,\"x\" ] , \"b\":{} }\n";
    begin(&j, text, strlen(text), 0);
    expect(&j, WTE__JSON_OBJECT, 1);
    expect(&j, WTE__JSON_KEY, 2);
    assert_true(wte__json_is(&j, "a"));
    expect(&j, WTE__JSON_ARRAY, 8);
    expect(&j, WTE__JSON_NUMBER, 10);
    assert_int_equal(j.raw.size, 1);
    expect(&j, WTE__JSON_TRUE, 12);
    expect(&j, WTE__JSON_FALSE, 18);
    expect(&j, WTE__JSON_NULL, 25);
    expect(&j, WTE__JSON_STRING, 30);
    assert_true(wte__json_is(&j, "x"));
    assert_false(wte__json_is(&j, "xx"));
    expect(&j, WTE__JSON_ARRAY_END, 34);
    expect(&j, WTE__JSON_KEY, 38);
    expect(&j, WTE__JSON_OBJECT, 42);
    expect(&j, WTE__JSON_OBJECT_END, 43);
    expect(&j, WTE__JSON_OBJECT_END, 45);
    expect(&j, WTE__JSON_END, 47);
    expect(&j, WTE__JSON_END, 47);
}

static void what_the_standard_allows_is_read(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0",
        "-0",
        "10",
        "1.5",
        "-1.5e10",
        "1E+2",
        "1e-2",
        "0.0",
        "0e0",
        "true",
        "false",
        "null",
        "\"\"",
        "[]",
        "{}",
        " [ ] ",
        "\t{\r}\n",
        "[[]]",
        "[1,2]",
        "[{}]",
        "{\"\":0}",
        "\"\\/\"",
        "\"\\u0000\"",
        "\"\\uD83D\\uDe00\"",
        "\"\x7f\"",
        "{\"a\":1,\"a\":2}",
        "\"\xef\xbf\xbf\"",
        "\"\xf4\x8f\xbf\xbf\"",
        "\"\\b\\f\\n\\r\\t\\\"\\\\\"",
        "123456789012345678901234567890",
        "\"\xed\x9f\xbf\xee\x80\x80\"",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        wte__json j;
        begin(&j, good[i], strlen(good[i]), 0);
        if (run(&j) != WTE__JSON_END) fail_msg("%s: %s at %d", good[i], j.error, (int)j.error_at);
    }
}

static const struct {
    const char *text;
    uint64_t at;
    const char *what;
} bad[] = {
    { "", 0, "the text ends too early" },
    { "  ", 2, "the text ends too early" },
    { "[", 1, "the text ends too early" },
    { "[1", 2, "the text ends too early" },
    { "[1,", 3, "the text ends too early" },
    { "{", 1, "the text ends too early" },
    { "{\"a\"", 4, "a colon was expected" },
    { "{\"a\":", 5, "the text ends too early" },
    { "{\"a\":1", 6, "the text ends too early" },
    { "{\"a\":1,", 7, "the text ends too early" },
    { "{\"a\" 1}", 5, "a colon was expected" },
    { "{\"a\"=1}", 4, "a colon was expected" },
    { "{a:1}", 1, "a key in quotes" },
    { "{1:1}", 1, "a key in quotes" },
    { "{,}", 1, "a key in quotes" },
    { "{\"a\":1,}", 7, "a key in quotes" },
    { "{\"a\":}", 5, "a value was expected" },
    { "{\"a\":1 \"b\":2}", 7, "a comma or the end" },
    { "[1,]", 3, "a value was expected" },
    { "[,1]", 1, "a value was expected" },
    { "[1,,2]", 3, "a value was expected" },
    { "[1 2]", 3, "a comma or the end" },
    { "[1;2]", 2, "a comma or the end" },
    { "[1}", 2, "wrong kind of bracket" },
    { "[}", 1, "wrong kind of bracket" },
    { "{]", 1, "wrong kind of bracket" },
    { "{\"a\":1]", 6, "wrong kind of bracket" },
    { "]", 0, "a value was expected" },
    { "}", 0, "a value was expected" },
    { "1 2", 2, "something follows" },
    { "{} x", 3, "something follows" },
    { "[]]", 2, "something follows" },
    { "tru", 0, "a value was expected" },
    { "True", 0, "a value was expected" },
    { "nullx", 4, "something follows" },
    { "'a'", 0, "a value was expected" },
    { "// c\n1", 0, "a value was expected" },
    { "[1]/**/", 3, "something follows" },
    { "01", 1, "something follows" },
    { "-01", 2, "something follows" },
    { "[01]", 2, "a comma or the end" },
    { "1.", 0, "not a number" },
    { "[-]", 1, "not a number" },
    { ".5", 0, "a value was expected" },
    { "+1", 0, "a value was expected" },
    { "1e", 0, "not a number" },
    { "1e+", 0, "not a number" },
    { "1.e1", 0, "not a number" },
    { "0x10", 1, "something follows" },
    { "--1", 0, "not a number" },
    { "NaN", 0, "not a number" },
    { "Infinity", 0, "not a number" },
    { "-Infinity", 0, "not a number" },
    { "\"a", 0, "string without an end" },
    { "[\"a", 1, "string without an end" },
    { "\"a\\", 2, "ends inside a string" },
    { "\"a\nb\"", 2, "control character" },
    { "\"\t\"", 1, "control character" },
    { "\"\x1f\"", 1, "control character" },
    { "\"\\x41\"", 1, "unknown escape" },
    { "\"\\'\"", 1, "unknown escape" },
    { "\"\\U0041\"", 1, "unknown escape" },
    { "\"\\u12\"", 1, "\\u escape" },
    { "\"\\u12", 1, "\\u escape" },
    { "\"\\u123g\"", 1, "\\u escape" },
    { "\"\\ud800\"", 1, "\\u escape" },
    { "\"\\udc00\"", 1, "\\u escape" },
    { "\"\\ud800\\ud800\"", 1, "\\u escape" },
    { "\"\\ud800x\"", 1, "\\u escape" },
    { "\"\\ud800\\n\"", 1, "\\u escape" },
    { "\"\\ud800\\u0041\"", 1, "\\u escape" },
    { "\"ab\x80\"", 3, "not valid UTF-8" },           /* a continuation alone */
    { "\"\xc3\"", 1, "not valid UTF-8" },             /* cut by the quote */
    { "\"\xc3", 1, "not valid UTF-8" },               /* cut by the end */
    { "\"\xc0\xaf\"", 1, "not valid UTF-8" },         /* overlong */
    { "\"\xe0\x80\x80\"", 1, "not valid UTF-8" },     /* overlong */
    { "\"\xf0\x80\x80\x80\"", 1, "not valid UTF-8" }, /* overlong */
    { "\"\xed\xa0\x80\"", 1, "not valid UTF-8" },     /* a surrogate */
    { "\"\xf4\x90\x80\x80\"", 1, "not valid UTF-8" }, /* above U+10FFFF */
    { "\"\xff\"", 1, "not valid UTF-8" },
    { "\xef\xbb\xbf{}", 0, "byte order mark" },
    { "{\"a\xff\":1}", 3, "not valid UTF-8" },
    { "\xc2\xa0"
      "1",
      0, "a value was expected" }, /* no white space of JSON */
    { "\f1", 0, "a value was expected" },
};

static void what_breaks_the_standard_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wte__json j;
        wte_error err;
        begin(&j, bad[i].text, strlen(bad[i].text), 0);
        if (run(&j) != WTE__JSON_ERROR) fail_msg("'%s' was read", bad[i].text);
        if (j.error_at != bad[i].at || !strstr(j.error, bad[i].what))
            fail_msg("'%s': '%s' at %d", bad[i].text, j.error, (int)j.error_at);
        assert_fails(wte__json_fail(&j, &err), err, WTE_E_FORMAT, bad[i].at, bad[i].what);
        assert_int_equal(wte__json_next(&j), WTE__JSON_ERROR); /* the first error sticks */
        assert_int_equal(j.error_at, bad[i].at);
    }
}

static void a_nul_byte_is_no_white_space(void **state)
{
    (void)state;
    wte__json j;
    begin(&j, "1\0", 2, 0);
    assert_int_equal(run(&j), WTE__JSON_ERROR);
    assert_int_equal(j.error_at, 1);
    begin(&j, "\"\0\"", 3, 0);
    assert_int_equal(run(&j), WTE__JSON_ERROR);
    assert_int_equal(j.error_at, 1);
}

static void an_error_names_line_and_column(void **state)
{
    (void)state;
    wte__json j;
    wte_error err;
    const char *text = "{\n  \"a\": 1,\n  \"b\": x\n}";
    begin(&j, text, strlen(text), 0);
    assert_int_equal(run(&j), WTE__JSON_ERROR);
    assert_fails(wte__json_fail(&j, &err), err, WTE_E_FORMAT, 19,
                 "t.json: not valid JSON at line 3 column 8 (byte 19): a value was expected");
    begin(&j, text, strlen(text), 0);
    for (int i = 0; i < 3; i++) (void)wte__json_next(&j);
    assert_fails(wte__json_refuse(&j, &err, "no such thing"), err, WTE_E_FORMAT, 9,
                 "t.json: line 2 column 8 (byte 9): no such thing");
}

static void nested(char *text, size_t depth)
{
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
}

static void nesting_stops_at_64_levels(void **state)
{
    (void)state;
    wte__json j;
    char text[2 * (WTE_LIMIT_JSON_DEPTH + 1)];
    nested(text, WTE_LIMIT_JSON_DEPTH);
    begin(&j, text, 2 * (size_t)WTE_LIMIT_JSON_DEPTH, 0);
    assert_int_equal(run(&j), WTE__JSON_END);
    nested(text, WTE_LIMIT_JSON_DEPTH + 1);
    begin(&j, text, sizeof text, 0);
    assert_int_equal(run(&j), WTE__JSON_ERROR);
    assert_int_equal(j.error_at, WTE_LIMIT_JSON_DEPTH);
    assert_non_null(strstr(j.error, "64 levels"));
}

static void python_numbers_only_when_asked_for(void **state)
{
    (void)state;
    static const char *const text[] = { "NaN", "Infinity", "-Infinity" };
    wte__json j;
    double x;
    for (size_t i = 0; i < 3; i++) {
        begin(&j, text[i], strlen(text[i]), WTE__JSON_PYTHON);
        assert_int_equal(wte__json_next(&j), WTE__JSON_NUMBER);
        assert_true(wte__json_f64(&j, &x));
        assert_true(i == 0 ? isnan(x) : isinf(x) && signbit(x) == (i == 2 ? signbit(-1.0) : 0));
        assert_int_equal(wte__json_next(&j), WTE__JSON_END);
    }
    static const char *const never[] = { "-NaN", "Inf", "nan", "Infinit", "+Infinity" };
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        begin(&j, never[i], strlen(never[i]), WTE__JSON_PYTHON);
        assert_int_equal(run(&j), WTE__JSON_ERROR);
    }
}

static void integers_end_where_their_types_end(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool u, i;
        uint64_t u64;
        int64_t i64;
    } cases[] = {
        { "0", true, true, 0, 0 },
        { "-0", false, true, 0, 0 },
        { "42", true, true, 42, 42 },
        { "9223372036854775807", true, true, INT64_MAX, INT64_MAX },
        { "9223372036854775808", true, false, UINT64_C(1) << 63, 0 },
        { "18446744073709551615", true, false, UINT64_MAX, 0 },
        { "18446744073709551616", false, false, 0, 0 },
        { "184467440737095516150", false, false, 0, 0 },
        { "-9223372036854775808", false, true, 0, INT64_MIN },
        { "-9223372036854775809", false, false, 0, 0 },
        { "1.0", false, false, 0, 0 },
        { "1e3", false, false, 0, 0 },
        { "\"1\"", false, false, 0, 0 },
        { "true", false, false, 0, 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wte__json j;
        uint64_t u = 7;
        int64_t i = 7;
        begin(&j, cases[k].text, strlen(cases[k].text), 0);
        (void)wte__json_next(&j);
        assert_int_equal(wte__json_u64(&j, &u), cases[k].u);
        assert_true(u == cases[k].u64);
        assert_int_equal(wte__json_i64(&j, &i), cases[k].i);
        assert_true(i == cases[k].i64);
    }
}

static double number(const char *text)
{
    wte__json j;
    double x = -1;
    begin(&j, text, strlen(text), 0);
    assert_int_equal(wte__json_next(&j), WTE__JSON_NUMBER);
    assert_true(wte__json_f64(&j, &x));
    return x;
}

static void doubles_are_the_nearest_ones(void **state)
{
    (void)state;
    assert_true(number("0.1") == 0.1);
    assert_true(number("-1.5e3") == -1500.0);
    assert_true(number("1e-7") == 1e-7);
    assert_true(number("1.7976931348623157e308") == DBL_MAX);
    assert_true(number("5e-324") == 4.9406564584124654e-324);
    assert_true(isinf(number("1e999")));
    assert_true(number("-0") == 0 && signbit(number("-0")));
    char digits[WTE__JSON_NUMBER_MAX + 2];
    memset(digits, '3', sizeof digits);
    digits[0] = '0';
    digits[1] = '.';
    digits[WTE__JSON_NUMBER_MAX] = '\0';
    assert_true(number(digits) == 1.0 / 3.0);
    wte__json j;
    double x;
    digits[WTE__JSON_NUMBER_MAX] = '3';
    begin(&j, digits, WTE__JSON_NUMBER_MAX + 1, 0);
    assert_int_equal(wte__json_next(&j), WTE__JSON_NUMBER);
    assert_false(wte__json_f64(&j, &x));
    begin(&j, "true", 4, 0);
    (void)wte__json_next(&j);
    assert_false(wte__json_f64(&j, &x));
}

static void strings_decode(void **state)
{
    (void)state;
    static const struct {
        const char *text, *decoded;
        size_t bytes;
    } cases[] = {
        { "\"plain\"", "plain", 5 },
        { "\"\"", "", 0 },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8 },
        { "\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", 6 },
        { "\"\\ud83d\\ude00x\"", "\xf0\x9f\x98\x80x", 5 },
        { "\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 4 },
        { "\"a\\u0000b\"", "a\0b", 3 },
        { "\"\\u0120Hello\"", "\xc4\xa0Hello", 7 },
        { "\"\xc4\xa0Hello\"", "\xc4\xa0Hello", 7 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wte__json j;
        char out[16];
        test_memory m;
        wte__arena arena;
        test_memory_init(&m, SIZE_MAX);
        wte__arena_init(&arena, &m.allocator);
        begin(&j, cases[i].text, strlen(cases[i].text), 0);
        assert_int_equal(wte__json_next(&j), WTE__JSON_STRING);
        assert_int_equal(wte__json_decode(&j, NULL), cases[i].bytes);
        assert_int_equal(wte__json_decode(&j, out), cases[i].bytes);
        assert_memory_equal(out, cases[i].decoded, cases[i].bytes);
        wte__bytes text = wte__json_text(&j, &arena, false);
        assert_int_equal(text.size, cases[i].bytes);
        assert_memory_equal(text.data, cases[i].decoded, cases[i].bytes);
        assert_int_equal(m.calls != 0, j.escaped); /* copied only when it must be */
        text = wte__json_text(&j, &arena, true);
        assert_memory_equal(text.data, cases[i].decoded, cases[i].bytes + 1); /* with a NUL */
        wte__arena_clear(&arena);
        assert_int_equal(m.live, 0);
    }
}

static void a_text_without_memory_is_null(void **state)
{
    (void)state;
    wte__json j;
    test_memory m;
    wte__arena arena;
    test_memory_init(&m, 0);
    wte__arena_init(&arena, &m.allocator);
    begin(&j, "\"\\n\"", 4, 0);
    assert_int_equal(wte__json_next(&j), WTE__JSON_STRING);
    assert_null(wte__json_text(&j, &arena, false).data);
}

static void comparing_sees_through_escapes(void **state)
{
    (void)state;
    wte__json j;
    begin(&j, "{\"mod\\u0065l\":1}", 15, 0);
    (void)wte__json_next(&j);
    assert_int_equal(wte__json_next(&j), WTE__JSON_KEY);
    assert_true(wte__json_is(&j, "model"));
    assert_false(wte__json_is(&j, "mod"));
    assert_false(wte__json_is(&j, "mod\\u0065l"));
    begin(&j, "\"model\\u0000\"", 13, 0); /* longer than model by a NUL */
    (void)wte__json_next(&j);
    assert_false(wte__json_is(&j, "model"));
}

static void skipping_ends_where_the_value_ends(void **state)
{
    (void)state;
    wte__json j;
    const char *text = "{\"a\":{\"x\":[1,{\"y\":2}]},\"b\":[[],[3]],\"c\":\"z\",\"d\":4}";
    begin(&j, text, strlen(text), 0);
    (void)wte__json_next(&j);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(wte__json_next(&j), WTE__JSON_KEY);
        assert_int_equal(j.raw.data[0], "abcd"[i]);
        assert_true(wte__json_skip_value(&j));
        assert_int_equal(j.depth, 1);
    }
    assert_int_equal(wte__json_next(&j), WTE__JSON_OBJECT_END);
    assert_int_equal(wte__json_next(&j), WTE__JSON_END);
    assert_false(wte__json_skip_value(&j)); /* there is none */

    begin(&j, text, strlen(text), 0);
    for (int i = 0; i < 5; i++) (void)wte__json_next(&j); /* inside "x" */
    assert_int_equal(j.depth, 3);
    assert_true(wte__json_skip_rest(&j));
    assert_int_equal(j.kind, WTE__JSON_ARRAY_END);
    assert_int_equal(j.depth, 2);
    assert_true(wte__json_skip_rest(&j));
    assert_int_equal(j.kind, WTE__JSON_OBJECT_END);
    assert_int_equal(j.depth, 1);

    begin(&j, "[[1,[2", 6, 0);
    assert_false(wte__json_skip_value(&j));
    assert_int_equal(j.error_at, 6);
}

static void a_string_stops_at_64_mib(void **state)
{
    (void)state;
    const size_t most = WTE_LIMIT_JSON_STRING;
    char *text = malloc(most + 3);
    wte__json j;
    assert_non_null(text);
    memset(text, 'x', most + 3);
    text[0] = text[most + 1] = text[most + 2] = '"';
    wte__json_init(&j, text, most + 2, "t.json", 0);
    assert_int_equal(run(&j), WTE__JSON_END);
    text[most + 1] = 'x';
    wte__json_init(&j, text, most + 3, "t.json", 0);
    assert_int_equal(run(&j), WTE__JSON_ERROR);
    assert_int_equal(j.error_at, 0);
    assert_non_null(strstr(j.error, "64 MiB"));
    free(text);
}

static void keys_may_hold_nul_and_repeat(void **state)
{
    (void)state;
    wte__json j;
    char out[4];
    begin(&j, "{\"\\u0000\":1,\"\\u0000\":2}", 23, 0);
    (void)wte__json_next(&j);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wte__json_next(&j), WTE__JSON_KEY);
        assert_int_equal(wte__json_decode(&j, out), 1);
        assert_int_equal(out[0], 0);
        assert_true(wte__json_skip_value(&j));
    }
    assert_int_equal(wte__json_next(&j), WTE__JSON_OBJECT_END);
}

static const struct CMUnitTest tests[] = {
    TEST("every kind of token comes with its place", every_kind_has_its_place),
    TEST("what the standard allows is read", what_the_standard_allows_is_read),
    TEST("what breaks the standard is refused with its place",
         what_breaks_the_standard_is_refused_with_its_place),
    TEST("a NUL byte is neither white space nor an end", a_nul_byte_is_no_white_space),
    TEST("an error names line, column and byte", an_error_names_line_and_column),
    TEST("nesting stops at 64 levels", nesting_stops_at_64_levels),
    TEST("a string stops at 64 MiB", a_string_stops_at_64_mib),
    TEST("Python's NaN and Infinity are numbers only when asked for",
         python_numbers_only_when_asked_for),
    TEST("integers end where their types end", integers_end_where_their_types_end),
    TEST("doubles are the nearest ones", doubles_are_the_nearest_ones),
    TEST("strings decode, and are copied only when escaped", strings_decode),
    TEST("a text for which there is no memory is NULL", a_text_without_memory_is_null),
    TEST("comparing a key sees through escapes", comparing_sees_through_escapes),
    TEST("skipping ends where the value ends", skipping_ends_where_the_value_ends),
    TEST("keys may hold NUL and may repeat", keys_may_hold_nul_and_repeat),
};
TEST_MAIN(tests)
