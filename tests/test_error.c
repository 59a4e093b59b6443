/* Status texts, messages, names made safe to print, and options of another age. */
#include "test.h"

#include <errno.h>

#include "base/error.h"

static void every_status_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(wte_status_text(WTE_OK), "success");
    for (int s = WTE_OK; s <= WTE_E_CANCELLED; s++)
        assert_string_not_equal(wte_status_text((wte_status)s), "unknown status");
    assert_string_equal(wte_status_text((wte_status)(WTE_E_CANCELLED + 1)), "unknown status");
    assert_string_equal(wte_status_text(WTE_STATUS_FORCE_INT), "unknown status");
}

static void the_struct_is_frozen(void **state)
{
    (void)state;
    assert_int_equal(sizeof(wte_error), 256);
    assert_int_equal(offsetof(wte_error, where), 8);
    assert_int_equal(offsetof(wte_error, message), 16);
}

static void a_failure_fills_all_fields(void **state)
{
    (void)state;
    wte_error err;
    memset(&err, 0x55, sizeof err);
    assert_fails(wte__fail(&err, WTE_E_RANGE, 7, "id %d of %d", 9, 6), err, WTE_E_RANGE, 7,
                 "id 9 of 6");
    assert_int_equal(err.sys_errno, 0);
    assert_int_equal(wte__fail(NULL, WTE_E_SHAPE, 0, "nobody listens"), WTE_E_SHAPE);
    assert_fails(wte__fail_os(&err, WTE_E_IO, ENOENT, "%s", "some/file"), err, WTE_E_IO,
                 WTE_NO_INDEX, "some/file: No such file or directory");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(wte__fail_os(NULL, WTE_E_IO, ENOENT, "x"), WTE_E_IO);
}

static void a_long_message_is_cut_and_ended(void **state)
{
    (void)state;
    wte_error err;
    char text[500];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(wte__fail(&err, WTE_E_IO, 0, "%s", text), WTE_E_IO);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(wte__fail_os(&err, WTE_E_IO, EIO, "%s", text), WTE_E_IO);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    wte__error_prefix(&err, "model");
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_memory_equal(err.message, "model: xxx", 10);
    wte__error_prefix(&err, text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    wte__error_prefix(NULL, "nobody");
}

static void a_prefix_goes_before_the_message(void **state)
{
    (void)state;
    wte_error err;
    (void)wte__fail(&err, WTE_E_FORMAT, 3, "ends early");
    wte__error_prefix(&err, "a.npy");
    assert_string_equal(err.message, "a.npy: ends early");
    assert_int_equal(err.where, 3);
}

static void a_message_is_one_line_fit_for_a_terminal(void **state)
{
    (void)state;
    wte_error err;
    (void)wte__fail(&err, WTE_E_IO, 0, "%s", "a\x1b[31mred\nline \\ \xc4\xa0 \x9b \xff");
    assert_string_equal(err.message, "a?[31mred?line \\ \xc4\xa0 ? ?");
    char text[sizeof err.message + 1];
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof err.message - 2, "\xc4\xa0", 3); /* cut in the middle */
    (void)wte__fail(&err, WTE_E_IO, 0, "%s", text);
    assert_int_equal(err.message[sizeof err.message - 2], '?');
}

/* What is wrong with a file matters more than in which of many folders it lies. */
static void a_long_path_does_not_hide_the_fault(void **state)
{
    (void)state;
    static const char fault[] = ": tensor 'wte.weight': shape x f32 is 40000 bytes, but its "
                                "data_offsets span 24 (byte 77)";
    wte_error err;
    char path[4096];
    for (size_t lead = 0; lead < 4000; lead += lead < 300 ? 1 : 97) {
        for (size_t i = 0; i < lead; i++) path[i] = "\xc4\xa0"[i % 2];
        memcpy(path + lead, "/snapshots/0e9e39f2/model.safetensors", 38);
        (void)wte__fail(&err, WTE_E_FORMAT, 77, "%s%s", path, fault);
        const size_t n = strlen(err.message), tail = strlen(fault);
        assert_true(n >= tail + 37);
        assert_string_equal(err.message + n - tail, fault);
        assert_memory_equal(err.message + n - tail - 37, path + lead, 37);
        if (lead > 200) assert_memory_equal(err.message, "...", 3);
        (void)wte__fail_os(&err, WTE_E_IO, ENOENT, "%s", path);
        assert_non_null(strstr(err.message, "/model.safetensors: No such file or directory"));
        (void)wte__fail(&err, WTE_E_FORMAT, 0, "truncated: needs 8 bytes, but has 7");
        wte__error_prefix(&err, path);
        assert_non_null(strstr(err.message, "/model.safetensors: truncated: needs 8 bytes"));
    }
    assert_null(strchr(err.message, '?')); /* shortened at a whole character */
    /* both too long: some of the path stays, and the end of the message goes */
    char text[400];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    (void)wte__fail(&err, WTE_E_FORMAT, 0, "%s: %s", path, text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_non_null(strstr(err.message, "/snapshots/0e9e39f2/model.safetensors: xxx"));
}

static const char *show(const char *text, size_t n)
{
    static char buf[WTE__NAME_SHOWN + 8];
    memset(buf, 'Z', sizeof buf);
    wte__show(buf, text, n);
    assert_int_equal(buf[WTE__NAME_SHOWN], 'Z'); /* nothing beyond its room */
    return buf;
}

static void names_are_shown_safely(void **state)
{
    (void)state;
    assert_string_equal(show("wte.weight", 10), "wte.weight");
    assert_string_equal(show("", 0), "");
    assert_string_equal(show("a\0b", 3), "a\\x00b");
    assert_string_equal(show("\x1b[2J", 4), "\\x1b[2J");
    assert_string_equal(show("a\\b", 3), "a\\x5cb");
    assert_string_equal(show("\xc4\xa0Hello", 7), "\xc4\xa0Hello");
    assert_string_equal(show("\xff", 1), "\\xff");
    assert_string_equal(show("\xe2\x80\xae", 3), "\\xe2\\x80\\xae"); /* right-to-left override */
    char text[400];
    for (size_t width = 1; width <= 4; width++) {
        static const char *const unit[] = { "", "x", "\xc4\xa0", "\xe2\x96\x81",
                                            "\xf0\x9f\x98\x80" };
        for (size_t i = 0; i < sizeof text; i++) text[i] = unit[width][i % width];
        const char *shown = show(text, sizeof text / width * width);
        size_t n = strlen(shown);
        assert_in_range(n, 60, WTE__NAME_SHOWN - 1);
        assert_string_equal(shown + n - 3, "...");
        assert_int_equal((n - 3) % width, 0); /* whole characters */
    }
    memset(text, 1, sizeof text);
    assert_in_range(strlen(show(text, sizeof text)), 60, WTE__NAME_SHOWN - 1);
}

static void a_long_path_keeps_its_end(void **state)
{
    (void)state;
    char buf[WTE__NAME_SHOWN], path[300];
    assert_string_equal(wte__show_path(buf, "models/gpt2"), "models/gpt2");
    for (size_t lead = 0; lead < 200; lead++) {
        memset(path, 'd', lead);
        memcpy(path + lead, "\xf0\x9f\x98\x80/gpt2/tokenizer.json", 25);
        const char *shown = wte__show_path(buf, path);
        size_t n = strlen(shown);
        assert_true(n < WTE__NAME_SHOWN);
        assert_string_equal(shown + n - 20, "/gpt2/tokenizer.json");
        if (strlen(path) > WTE__NAME_SHOWN) assert_memory_equal(shown, "...", 3);
    }
    memset(path, 1, sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_true(strlen(wte__show_path(buf, path)) < WTE__NAME_SHOWN);
}

typedef struct options {
    size_t struct_size;
    uint64_t a, b;
} options;

static void options_of_the_same_age_are_copied(void **state)
{
    (void)state;
    wte_error err;
    options given = { sizeof given, 5, 6 }, taken = { sizeof taken, 1, 2 };
    assert_ok(wte__options(&taken, sizeof taken, NULL, &err), err);
    assert_int_equal(taken.a, 1);
    assert_ok(wte__options(&taken, sizeof taken, &given, &err), err);
    assert_int_equal(taken.a, 5);
    assert_int_equal(taken.b, 6);
    assert_int_equal(taken.struct_size, sizeof taken);
}

static void older_options_leave_the_new_defaults(void **state)
{
    (void)state;
    wte_error err;
    options given = { offsetof(options, b), 5, 6 }, taken = { sizeof taken, 1, 2 };
    assert_ok(wte__options(&taken, sizeof taken, &given, &err), err);
    assert_int_equal(taken.a, 5);
    assert_int_equal(taken.b, 2);
    assert_int_equal(taken.struct_size, sizeof taken);
}

static void newer_options_must_be_zero_where_we_know_nothing(void **state)
{
    (void)state;
    wte_error err;
    struct {
        options known;
        uint64_t later;
    } given = { { sizeof given, 5, 6 }, 0 };
    options taken = { sizeof taken, 1, 2 };
    assert_ok(wte__options(&taken, sizeof taken, &given, &err), err);
    assert_int_equal(taken.b, 6);
    given.later = 1;
    assert_fails(wte__options(&taken, sizeof taken, &given, &err), err, WTE_E_UNSUPPORTED,
                 sizeof taken, "this library knows only 24");
}

static void options_without_a_size_are_refused(void **state)
{
    (void)state;
    wte_error err;
    options given = { 0, 5, 6 }, taken = { sizeof taken, 1, 2 };
    assert_fails(wte__options(&taken, sizeof taken, &given, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "use the _INIT macro");
    given.struct_size = (size_t)1 << 40; /* never set: whatever lay on the stack */
    assert_fails(wte__options(&taken, sizeof taken, &given, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "use the _INIT macro");
    assert_int_equal(taken.a, 1);
}

static void the_version_is_the_header_s(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", WTE_VERSION_MAJOR, WTE_VERSION_MINOR,
             WTE_VERSION_PATCH);
    assert_string_equal(wte_version(), text);
}

static const struct CMUnitTest tests[] = {
    TEST("every status has a text", every_status_has_a_text),
    TEST("the error struct has 256 bytes and its fields stay", the_struct_is_frozen),
    TEST("a failure fills all fields", a_failure_fills_all_fields),
    TEST("a long message is cut and ended", a_long_message_is_cut_and_ended),
    TEST("a prefix goes before the message", a_prefix_goes_before_the_message),
    TEST("a message is one line fit for a terminal", a_message_is_one_line_fit_for_a_terminal),
    TEST("names are shown without control bytes, cut at whole characters", names_are_shown_safely),
    TEST("a long path does not hide the fault", a_long_path_does_not_hide_the_fault),
    TEST("a long path keeps its end", a_long_path_keeps_its_end),
    TEST("options of the same age are copied", options_of_the_same_age_are_copied),
    TEST("older options leave the new defaults", older_options_leave_the_new_defaults),
    TEST("newer options must be zero where we know nothing",
         newer_options_must_be_zero_where_we_know_nothing),
    TEST("options without a size are refused", options_without_a_size_are_refused),
    TEST("the version is the header's", the_version_is_the_header_s),
};
TEST_MAIN(tests)
