/* What lies at a path, what of it counts as absent, and files that change while they are open. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

static const char *dir; /* made afresh for each test */

static int set_up(void **state)
{
    (void)state;
    dir = test_scratch();
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    test_scratch_remove(dir);
    return 0;
}

/* dir/name, in one of four buffers that take turns. */
static const char *in(const char *name)
{
    static char path[4][WTE_LIMIT_PATH];
    static unsigned turn;
    char *out = path[turn++ % 4];
    assert_true(wte__path_join(out, dir, name));
    return out;
}

static wte__path_kind kind_of(const char *path, uint64_t *bytes)
{
    wte_error err;
    wte__path_kind kind;
    assert_ok(wte__path_look(path, &kind, bytes, &err), err);
    return kind;
}

static void paths_have_kinds(void **state)
{
    (void)state;
    uint64_t bytes = 1;
    test_write_file(in("a"), "12345", 5);
    assert_int_equal(mkfifo(in("pipe"), 0600), 0);
    assert_int_equal(symlink("a", in("link")), 0);
    assert_int_equal(kind_of(in("a"), &bytes), WTE__PATH_FILE);
    assert_int_equal(bytes, 5);
    assert_int_equal(kind_of(in("link"), NULL), WTE__PATH_FILE);
    assert_int_equal(kind_of(dir, &bytes), WTE__PATH_DIRECTORY);
    assert_int_equal(bytes, 0);
    assert_int_equal(kind_of(in("pipe"), NULL), WTE__PATH_OTHER);
    assert_int_equal(kind_of(in("none"), NULL), WTE__PATH_NONE);
    assert_int_equal(kind_of(in("a/below"), NULL), WTE__PATH_NONE);
}

/* Only what is not there is absent: all else that cannot be read is an error, also for root. */
static void what_cannot_be_looked_at_is_not_absent(void **state)
{
    (void)state;
    wte_error err;
    wte__path_kind kind;
    assert_int_equal(symlink("loop", in("loop")), 0);
    assert_int_equal(symlink("gone", in("dangling")), 0);
    assert_fails(wte__path_look(in("loop"), &kind, NULL, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "Too many levels of symbolic links");
    assert_fails(wte__path_look(in("loop/below"), &kind, NULL, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "Too many levels of symbolic links");
    assert_fails(wte__path_look(in("dangling"), &kind, NULL, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "is a link to 'gone', which is not there");
    bool there = true;
    test_write_file(in("a"), "12345", 5);
    assert_ok(wte__path_folder(dir, &there, &err), err);
    assert_true(there);
    assert_ok(wte__path_folder(in("a"), &there, &err), err);
    assert_false(there);
    assert_fails(wte__path_folder(in("loop"), &there, &err), err, WTE_E_IO, WTE_NO_INDEX, NULL);
}

static void a_file_that_may_be_left_out(void **state)
{
    (void)state;
    wte_error err;
    bool there;
    uint64_t bytes;
    test_write_file(in("a"), "12345", 5);
    test_write_file(in("empty"), "", 0);
    assert_int_equal(symlink("loop", in("loop")), 0);
    assert_int_equal(mkfifo(in("pipe"), 0600), 0);
    assert_ok(wte__path_optional(in("a"), &there, &bytes, &err), err);
    assert_true(there);
    assert_int_equal(bytes, 5);
    assert_ok(wte__path_optional(in("none"), &there, &bytes, &err), err);
    assert_false(there);
    assert_int_equal(bytes, 0);
    assert_ok(wte__path_optional(in("a/below"), &there, NULL, &err), err);
    assert_false(there);
    assert_ok(wte__path_optional(in("empty"), &there, NULL, &err), err);
    assert_false(there);
    assert_fails(wte__path_optional(in("pipe"), &there, NULL, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "is a pipe, not a file");
    assert_fails(wte__path_optional(dir, &there, NULL, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a directory, not a file");
    assert_fails(wte__path_optional(in("loop"), &there, NULL, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 NULL);
    assert_false(there);
}

/* Zeros that a map shows behind a new end are no data, though no signal tells of them. */
static void a_file_that_changes_while_it_is_open_is_told(void **state)
{
    (void)state;
    wte_error err;
    wte__file f;
    test_write_file(in("a"), "0123456789", 10);
    assert_ok(wte__file_open(&f, in("a"), &err), err);
    assert_ok(wte__file_map(&f, in("a"), &err), err);
    assert_ok(wte__file_check_unchanged(&f, in("a"), &err), err);
    assert_int_equal(truncate(in("a"), 4), 0);
    assert_int_equal(f.map[7], 0);
    assert_fails(wte__file_check_unchanged(&f, in("a"), &err), err, WTE_E_FORMAT, 4,
                 "ends at byte 4, but had 10 when it was opened: it shrank while it was read");
    assert_int_equal(truncate(in("a"), 12), 0);
    assert_fails(wte__file_check_unchanged(&f, in("a"), &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "was written to while it was read (10 bytes when it was opened, now 12)");
    const struct timespec past[2] = { { 1, 0 }, { 1, 0 } };
    assert_int_equal(truncate(in("a"), 10), 0);
    assert_int_equal(utimensat(AT_FDCWD, in("a"), past, 0), 0);
    assert_fails(wte__file_check_unchanged(&f, in("a"), &err), err, WTE_E_FORMAT, WTE_NO_INDEX,
                 "was written to while it was read");
    wte__file_close(&f);
    wte__file_over(&f, "1234", 4);
    assert_ok(wte__file_check_unchanged(&f, "memory", &err), err);
}

static void memory_that_the_system_has_not_is_told_as_memory(void **state)
{
    (void)state;
    wte_error err;
    assert_fails(wte__fail_os(&err, WTE_E_IO, ENOMEM, "a"), err, WTE_E_MEMORY, WTE_NO_INDEX,
                 "a: Cannot allocate memory");
    assert_int_equal(err.sys_errno, ENOMEM);
    assert_fails(wte__fail_os(&err, WTE_E_IO, EIO, "a"), err, WTE_E_IO, WTE_NO_INDEX, NULL);
}

#define PATH_TEST(name, function)                                                                  \
    {                                                                                              \
        name, function, set_up, tear_down, NULL                                                    \
    }
static const struct CMUnitTest tests[] = {
    PATH_TEST("paths have kinds", paths_have_kinds),
    PATH_TEST("what cannot be looked at is not absent", what_cannot_be_looked_at_is_not_absent),
    PATH_TEST("a file that may be left out is absent only when it is", a_file_that_may_be_left_out),
    PATH_TEST("a file that changes while it is open is told",
              a_file_that_changes_while_it_is_open_is_told),
    PATH_TEST("memory that the system has not is told as memory",
              memory_that_the_system_has_not_is_told_as_memory),
};
TEST_MAIN(tests)
