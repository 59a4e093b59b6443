/* Numbers in text: which texts are numbers, and that each becomes the nearest f32. */
#include "test.h"

#include <math.h>

#include "format/text_number.h"

static bool parse(const char *text, float *out)
{
    return wte__text_f32((const uint8_t *)text, strlen(text), out);
}

static void check_like_strtof(const char *text)
{
    float got = 7, want = strtof(text, NULL);
    if (!parse(text, &got)) fail_msg("'%s' is no number", text);
    if (memcmp(&got, &want, sizeof got) != 0)
        fail_msg("'%s' is %.9g (%a), not %.9g (%a)", text, (double)got, (double)got, (double)want,
                 (double)want);
}

static void texts_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        wte__text_kind kind;
    } rules[] = {
        { "0", WTE__TEXT_INTEGER }, { "-17", WTE__TEXT_INTEGER },     { "+3", WTE__TEXT_INTEGER },
        { "1.", WTE__TEXT_FLOAT },  { ".5", WTE__TEXT_FLOAT },        { "-.5e-3", WTE__TEXT_FLOAT },
        { "1E5", WTE__TEXT_FLOAT }, { "nan", WTE__TEXT_FLOAT },       { "-NaN", WTE__TEXT_FLOAT },
        { "inf", WTE__TEXT_FLOAT }, { "-Infinity", WTE__TEXT_FLOAT }, { "", WTE__TEXT_WORD },
        { "-", WTE__TEXT_WORD },    { ".", WTE__TEXT_WORD },          { "e5", WTE__TEXT_WORD },
        { "1e", WTE__TEXT_WORD },   { "1e+", WTE__TEXT_WORD },        { "0x10", WTE__TEXT_WORD },
        { "1,5", WTE__TEXT_WORD },  { "1.5.2", WTE__TEXT_WORD },      { "1 ", WTE__TEXT_WORD },
        { "--1", WTE__TEXT_WORD },  { "infinit", WTE__TEXT_WORD },    { "nan(1)", WTE__TEXT_WORD },
        { "1f", WTE__TEXT_WORD },   { "1e5.0", WTE__TEXT_WORD },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const uint8_t *text = (const uint8_t *)rules[i].text;
        float out = 3;
        assert_int_equal(wte__text_kind_of(text, strlen(rules[i].text)), rules[i].kind);
        assert_int_equal(parse(rules[i].text, &out), rules[i].kind != WTE__TEXT_WORD);
        if (rules[i].kind == WTE__TEXT_WORD) assert_true(out == 0);
    }
}

static void values_are_those_of_the_library(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "-0.0e9",
        "1",
        "0.1",
        "-0.418",
        "3.4028235e38",
        "3.4028236e38",
        "1e39",
        "-1e400",
        "1e-45",
        "7.0e-46",
        "7.1e-46",
        "1.1754943e-38",
        "1.17549421e-38",
        "1e-400",
        "16777217",
        "16777219",
        "9007199254740993",
        "33554433.9999999999999999999",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000000000000001",
        "1e22",
        "1e23",
        "8.589973e9",
        "1e-22",
        "1.00000017881393432617187499",
        "1.00000017881393432617187500",
        "1.00000017881393432617187501",
        "0.30000001192092896",
        "99999999999999999999e-20",
        "1e99999999999",
        "1e-99999999999",
        "00000000000000000000000000000001.5",
        "inf",
        "-INF",
        "Infinity",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) check_like_strtof(texts[i]);
    float nan = 0;
    assert_true(parse("nan", &nan));
    assert_true(isnan(nan));
}

static void halfway_cases_are_rounded_once(void **state)
{
    (void)state;
    uint64_t noise = 5;
    char text[160];
    for (int i = 0; i < 20000; i++) {
        /* between two neighbouring floats, and a hair to either side */
        const uint32_t bits = (uint32_t)(test_noise(&noise) % 0x7f000000u);
        float low, high;
        const uint32_t next = bits + 1;
        memcpy(&low, &bits, 4);
        memcpy(&high, &next, 4);
        const double middle = ((double)low + (double)high) / 2;
        snprintf(text, sizeof text, "%.17g", middle);
        check_like_strtof(text);
        snprintf(text, sizeof text, "%.70g", middle);
        check_like_strtof(text);
        snprintf(text, sizeof text, "%.17g", nextafter(middle, 0));
        check_like_strtof(text);
    }
}

static void any_digits_are_rounded_once(void **state)
{
    (void)state;
    uint64_t noise = 9;
    char text[64];
    for (int i = 0; i < 100000; i++) {
        const uint64_t x = test_noise(&noise);
        const int digits = 1 + (int)(x >> 40) % 19, scale = (int)(x >> 50) % 60 - 50;
        const uint64_t value = test_noise(&noise) % (uint64_t)pow(10, digits);
        snprintf(text, sizeof text, "%s%llue%d", x & 1 ? "-" : "", (unsigned long long)value,
                 scale);
        check_like_strtof(text);
        snprintf(text, sizeof text, "%.*f", 1 + (int)(x >> 20) % 9,
                 (double)(int64_t)test_noise(&noise) / 9e18);
        check_like_strtof(text);
    }
}

static void a_text_of_any_length_has_an_end(void **state)
{
    (void)state;
    char text[WTE__TEXT_NUMBER_MAX + 2];
    float out;
    memset(text, '1', sizeof text);
    text[1] = '.';
    assert_true(wte__text_f32((const uint8_t *)text, WTE__TEXT_NUMBER_MAX, &out));
    assert_true(out == 1.11111111f);
    assert_false(wte__text_f32((const uint8_t *)text, WTE__TEXT_NUMBER_MAX + 1, &out));
    char *edge = test_guarded(3);
    memcpy(edge, "1.5", 3);
    assert_true(wte__text_f32((const uint8_t *)edge, 3, &out));
    assert_true(out == 1.5f);
    test_guarded_free(edge, 3);
}

static const struct CMUnitTest tests[] = {
    TEST("integers, other numbers and words are told apart", texts_are_told_apart),
    TEST("values are those of the C library", values_are_those_of_the_library),
    TEST("halfway cases are rounded once", halfway_cases_are_rounded_once),
    TEST("any digits are rounded once", any_digits_are_rounded_once),
    TEST("a text of any length has an end", a_text_of_any_length_has_an_end),
};
TEST_MAIN(tests)
