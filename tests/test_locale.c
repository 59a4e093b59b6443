/* Numbers in a program whose locale writes a decimal comma. The locale is made here with localedef,
 * so that none need be installed; without that tool the whole program counts as skipped. */
#include "test.h"

#include <locale.h>

#include "base/json.h"
#include "format/text_number.h"

static void numbers_are_read_as_ever(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = { { "1234.5", 1234.5 }, { "-0.25e1", -2.5 }, { "7", 7 }, { "1e-2", 0.01 } };
    char printed[16];
    snprintf(printed, sizeof printed, "%.1f", 0.5);
    assert_string_equal(printed, "0,5"); /* the locale is in force */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wte__json j;
        double x;
        wte__json_init(&j, cases[i].text, strlen(cases[i].text), "t.json", 0);
        assert_int_equal(wte__json_next(&j), WTE__JSON_NUMBER);
        assert_true(wte__json_f64(&j, &x));
        assert_true(x == cases[i].value);
    }
}

static void a_comma_is_no_point(void **state)
{
    (void)state;
    wte__json j;
    wte__json_init(&j, "1,5", 3, "t.json", 0);
    assert_int_equal(wte__json_next(&j), WTE__JSON_NUMBER);
    assert_int_equal(wte__json_next(&j), WTE__JSON_ERROR);
    assert_int_equal(j.error_at, 1);
}

static void numbers_of_text_files_are_read_as_ever(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        float value;
    } cases[] = { { "1234.5", 1234.5f }, { "0.30000001192092896", 0.3f }, { "1e-45", 1e-45f } };
    float x;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].text;
        assert_true(wte__text_f32((const uint8_t *)text, strlen(text), &x));
        assert_true(x == cases[i].value);
    }
    assert_false(wte__text_f32((const uint8_t *)"1,5", 3, &x));
}

static bool use_comma_locale(void)
{
    static const char source[] = "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
                                 "grouping 3;3\nEND LC_NUMERIC\n";
    const char *dir = test_scratch();
    char path[4096], command[3 * 4096], here[2048];
    snprintf(path, sizeof path, "%s/comma.src", dir);
    test_write_file(path, source, sizeof source - 1);
    /* -c: the other categories are missing, which it warns about and reports as status 1 */
    snprintf(command, sizeof command, "localedef -c -i '%s' '%s/xx_XX' >/dev/null 2>&1", path, dir);
    bool made = system(command) >= 0 && getcwd(here, sizeof here) != NULL;
    snprintf(path, sizeof path, "%s/%s", here, dir);
    setenv("LOCPATH", path, 1);
    bool set = made && setlocale(LC_ALL, "xx_XX") != NULL;
    test_scratch_remove(dir);
    return set;
}

static const struct CMUnitTest tests[] = {
    TEST("numbers are read the same where people write a comma", numbers_are_read_as_ever),
    TEST("numbers of text files are read the same", numbers_of_text_files_are_read_as_ever),
    TEST("a comma does not become a decimal point", a_comma_is_no_point),
};

int main(void)
{
    if (!use_comma_locale()) {
        print_message("skipped: localedef made no locale with a decimal comma\n");
        return TEST_SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
