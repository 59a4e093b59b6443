/* Several files that replace their targets together: what stands after a commit, a failure, a kill,
 * and what a signal handler removes. */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wte/model.h>

#include "base/file.h"
#include "base/limits.h"

static const char *dir;

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

static const char *in(const char *name)
{
    static char path[4][WTE_LIMIT_PATH];
    static unsigned turn;
    char *out = path[turn++ % 4];
    assert_true(wte__path_join(out, dir, name));
    return out;
}

static bool is_there(const char *name)
{
    struct stat st;
    return lstat(in(name), &st) == 0;
}

static void expect(const char *name, const char *text)
{
    char buf[64];
    FILE *f = fopen(in(name), "rb");
    if (!f) fail_msg("%s is not there", name);
    buf[fread(buf, 1, sizeof buf - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(buf, text);
}

static size_t files(void)
{
    DIR *d = opendir(dir);
    size_t n = 0;
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void begin(const char *name, const char *text)
{
    test_write_file(in(name), text, strlen(text));
}

static void put(wte_transaction *t, const char *name, const char *text, bool commit)
{
    wte_writer *w;
    wte_error err;
    assert_ok(wte_transaction_writer(t, in(name), &w, &err), err);
    assert_ok(wte_writer_write(w, text, strlen(text), &err), err);
    if (commit) assert_ok(wte_writer_commit(w, &err), err);
    wte_writer_free(w); /* it is the transaction's */
}

static void all_appear_together(void **state)
{
    (void)state;
    wte_error err;
    wte_transaction *t;
    begin("a", "old");
    assert_ok(wte_transaction_create(&t, &err), err);
    put(t, "a", "new a", true);
    put(t, "b", "new b", true);
    put(t, "c", "half", false); /* given up */
    expect("a", "old");
    assert_false(is_there("b"));
    assert_ok(wte_transaction_commit(t, &err), err);
    wte_transaction_free(t);
    expect("a", "new a");
    expect("b", "new b");
    assert_int_equal(files(), 2);
}

static void none_without_commit(void **state)
{
    (void)state;
    wte_error err;
    wte_transaction *t;
    begin("a", "old");
    assert_ok(wte_transaction_create(&t, &err), err);
    put(t, "a", "new", true);
    put(t, "b", "new", true);
    wte_transaction_free(t);
    wte_transaction_free(NULL);
    expect("a", "old");
    assert_int_equal(files(), 1);
}

/* The rename of `c` fails: it became a folder meanwhile. */
static void a_rename_that_fails_is_undone(void **state)
{
    (void)state;
    wte_error err;
    wte_transaction *t;
    begin("a", "old a");
    begin("d", "old d");
    assert_ok(wte_transaction_create(&t, &err), err);
    static const char *const names[] = { "d", "c", "b", "a" };
    for (size_t i = 0; i < 4; i++) put(t, names[i], "new", true);
    assert_int_equal(mkdir(in("c"), 0700), 0);
    assert_fails(wte_transaction_commit(t, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "c: cannot rename over it");
    wte_transaction_free(t);
    expect("a", "old a");
    expect("d", "old d");
    assert_false(is_there("b"));
    assert_int_equal(files(), 3); /* with c */
    assert_int_equal(rmdir(in("c")), 0);
}

static void one_file_has_one_writer(void **state)
{
    (void)state;
    wte_error err;
    wte_transaction *t;
    wte_writer *first, *again;
    assert_int_equal(symlink("a", in("link")), 0);
    begin("a", "old");
    assert_ok(wte_transaction_create(&t, &err), err);
    assert_ok(wte_transaction_writer(t, in("a"), &first, &err), err);
    assert_ok(wte_transaction_writer(t, in("./a"), &again, &err), err);
    assert_ptr_equal(first, again);
    assert_ok(wte_transaction_writer(t, in("link"), &again, &err), err);
    assert_ptr_equal(first, again);
    assert_ok(wte_transaction_writer(t, in("new"), &first, &err), err);
    assert_ok(wte_transaction_writer(t, in(".//new"), &again, &err), err);
    assert_ptr_equal(first, again);
    assert_ok(wte_writer_write(first, "x", 1, &err), err);
    assert_ok(wte_writer_commit(first, &err), err);
    assert_fails(wte_writer_write(first, "y", 1, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "it is committed");
    assert_fails(wte_writer_commit(first, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "it is committed");
    assert_fails(wte_transaction_writer(t, in("none/a"), &again, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "none/a");
    assert_null(again);
    assert_ok(wte_transaction_commit(t, &err), err);
    wte_transaction_free(t);
    expect("new", "x");
    expect("a", "old");
    assert_int_equal(files(), 3);
    assert_int_equal(unlink(in("link")), 0);
}

/* Recovery: the journal as a killed process leaves it -------------------------------------------
 */

#define TEXT(s) s, sizeof(s) - 1

/* b was renamed already, a was not; the old a has a second name. */
static void leave_half(const char *journal, size_t n)
{
    begin(".a.00000001.tmp", "new a");
    begin("a", "old a");
    begin("b", "new b");
    assert_int_equal(link(in("a"), in(".a.0000000a.tmp")), 0);
    test_write_file(in(".wte-commit"), journal, n);
}

static const char whole[] =
    "wte-commit 1\0.b.00000002.tmp\0b\0.a.00000001.tmp\0a\0end"; /* and its NUL */

static void the_next_write_goes_on(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    leave_half(whole, sizeof whole);
    assert_ok(wte_writer_create(in("a"), &w, &err), err);
    expect("a", "new a");
    assert_false(is_there(".wte-commit"));
    assert_false(is_there(".a.0000000a.tmp")); /* swept, as it is the old file's only name */
    wte_writer_free(w);
    assert_int_equal(files(), 2);
}

static void opening_a_model_goes_on(void **state)
{
    (void)state;
    wte_error err;
    wte_model *m;
    leave_half(whole, sizeof whole);
    assert_int_equal(wte_model_open(dir, NULL, &m, &err), WTE_E_FORMAT); /* it is no model */
    expect("a", "new a");
    assert_false(is_there(".wte-commit"));
    assert_int_equal(wte_writer_remove_stale(in("a")), 1);
    assert_int_equal(files(), 2);
}

static void a_cut_journal_decides_nothing(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    for (size_t n = 0; n < sizeof whole; n += 3) {
        leave_half(whole, n);
        assert_ok(wte_writer_create(in("c"), &w, &err), err);
        wte_writer_free(w);
        assert_false(is_there(".wte-commit"));
        expect("a", "old a");
        assert_int_equal(wte_writer_remove_stale(in("a")),
                         2); /* the second name of the old one, too */
        expect("a", "old a");
        assert_int_equal(files(), 2);
    }
}

/* What is not a journal, or would lead out of the folder, is left alone. */
static void what_is_no_journal_is_left(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        bool stays;
    } others[] = {
        { TEXT("notes"), true },
        { TEXT("wte-commit 1\0.a.00000001.tmp\0../a\0end\0"), false },
        { TEXT("wte-commit 1\0.a.00000001.tmp\0b\0end\0"), false },
        { TEXT("wte-commit 1\0.a.0000000g.tmp\0a\0end\0"), false },
        { TEXT("wte-commit 1\0.a.00000001.tmp\0a\0end\0more"), false },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        wte_error err;
        wte_writer *w;
        leave_half(others[i].text, others[i].n);
        assert_ok(wte_writer_create(in("c"), &w, &err), err);
        wte_writer_free(w);
        expect("a", "old a");
        expect("b", "new b");
        assert_int_equal(is_there(".wte-commit"), others[i].stays);
        if (others[i].stays) assert_int_equal(unlink(in(".wte-commit")), 0);
        assert_int_equal(wte_writer_remove_stale(in("a")), 2);
    }
    assert_int_equal(mkdir(in(".wte-commit"), 0700), 0);
    begin("a", "old a");
    wte_error err;
    wte_writer *w;
    assert_ok(wte_writer_create(in("a"), &w, &err), err);
    wte_writer_free(w);
    assert_int_equal(rmdir(in(".wte-commit")), 0);
}

/* Signals -------------------------------------------------------------------------------------- */

static void on_signal(int n)
{
    wte_writers_abandon();
    _exit(n);
}

static void a_handler_removes_what_is_unfinished(void **state)
{
    (void)state;
    begin("a", "old");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wte_error err;
        wte_writer *w, *done;
        wte_transaction *t;
        const struct sigaction action = { .sa_handler = on_signal };
        if (sigaction(SIGTERM, &action, NULL) != 0) _exit(97);
        if (wte_writer_create(in("done"), &done, &err) != WTE_OK ||
            wte_writer_commit(done, &err) != WTE_OK ||
            wte_writer_create(in("a"), &w, &err) != WTE_OK ||
            wte_transaction_create(&t, &err) != WTE_OK ||
            wte_transaction_writer(t, in("b"), &w, &err) != WTE_OK ||
            wte_writer_commit(w, &err) != WTE_OK || files() != 4)
            _exit(99);
        raise(SIGTERM);
        _exit(98);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(WEXITSTATUS(result), SIGTERM);
    expect("a", "old");
    assert_true(is_there("done"));
    assert_int_equal(files(), 2);
}

/* A forked child does not remove its parent's files. */
static void a_fork_owns_nothing(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    assert_ok(wte_writer_create(in("a"), &w, &err), err);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wte_writers_abandon();
        _exit(files() == 1 ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(files(), 1);
    wte_writers_abandon();
    assert_int_equal(files(), 0);
    assert_fails(wte_writer_commit(w, &err), err, WTE_E_IO, WTE_NO_INDEX, "cannot rename over it");
    wte_writer_free(w);
    assert_ok(wte_writer_create(in("a"), &w, &err), err); /* and others can be written */
    assert_ok(wte_writer_commit(w, &err), err);
    wte_writer_free(w);
    assert_int_equal(files(), 1);
}

/* Direct targets ------------------------------------------------------------------------------- */

static void devices_pipes_and_descriptors_are_written_to(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    char name[32], text[8] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    const char *const paths[] = { "/dev/null", name, in("fifo") };
    assert_int_equal(mkfifo(in("fifo"), 0600), 0);
    const int reader = open(in("fifo"), O_RDONLY | O_NONBLOCK);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(wte_writer_create(paths[i], &w, &err), err);
        assert_ok(wte_writer_write(w, "text", 4, &err), err);
        assert_ok(wte_writer_commit(w, &err), err);
        wte_writer_free(w);
    }
    assert_int_equal(read(ends[0], text, 8), 4);
    assert_memory_equal(text, "text", 4);
    assert_int_equal(read(reader, text, 8), 4);
    close(reader);
    close(ends[0]);
    close(ends[1]);
    assert_fails(wte_writer_create("/dev/fd/987654", &w, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "/dev/fd/987654: cannot write to it");
    assert_ok(wte_writer_create("/dev/full", &w, &err), err);
    assert_fails(wte_writer_write(w, "text", 4, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "/dev/full: cannot write: No space");
    wte_writer_free(w);
    assert_int_equal(files(), 1);
}

/* A descriptor of a file goes on where the file ends, instead of replacing it. */
static void a_descriptor_of_a_file_goes_on(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    wte_transaction *t;
    char name[32];
    begin("a", "first ");
    const int fd = open(in("a"), O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    assert_ok(wte_transaction_create(&t, &err), err);
    assert_ok(wte_transaction_writer(t, name, &w, &err), err);
    assert_ok(wte_writer_write(w, "second", 6, &err), err);
    assert_ok(wte_writer_commit(w, &err), err);
    assert_ok(wte_writer_commit(w, &err), err); /* two outputs may be one device */
    assert_ok(wte_transaction_commit(t, &err), err);
    wte_transaction_free(t);
    close(fd);
    expect("a", "first second");
}

static void nothing_given(void **state)
{
    (void)state;
    wte_error err;
    wte_transaction *t;
    wte_writer *w;
    assert_fails(wte_transaction_create(NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "out");
    assert_fails(wte_transaction_commit(NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the transaction");
    assert_fails(wte_transaction_writer(NULL, in("a"), &w, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the transaction");
    assert_null(w);
    assert_ok(wte_transaction_create(&t, &err), err);
    assert_fails(wte_transaction_writer(t, NULL, &w, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "path");
    assert_fails(wte_transaction_writer(t, "", &w, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no file is named");
    assert_fails(wte_transaction_writer(t, in("a"), NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "out");
    assert_ok(wte_transaction_commit(t, &err), err); /* of no files */
    wte_transaction_free(t);
    assert_int_equal(files(), 0);
}

#define HERE(name, function)                                                                       \
    {                                                                                              \
        name, function, set_up, tear_down, NULL                                                    \
    }
static const struct CMUnitTest tests[] = {
    HERE("all files of a transaction appear together", all_appear_together),
    HERE("without commit none appears", none_without_commit),
    HERE("a rename that fails is undone", a_rename_that_fails_is_undone),
    HERE("one file has one writer, however it is named", one_file_has_one_writer),
    HERE("the next write finishes what a killed process began", the_next_write_goes_on),
    HERE("opening a model finishes it too", opening_a_model_goes_on),
    HERE("a cut journal decides nothing", a_cut_journal_decides_nothing),
    HERE("what is not a journal is left alone", what_is_no_journal_is_left),
    HERE("a signal handler removes what is unfinished", a_handler_removes_what_is_unfinished),
    HERE("a forked child owns nothing", a_fork_owns_nothing),
    HERE("devices, pipes and descriptors are written to",
         devices_pipes_and_descriptors_are_written_to),
    HERE("a descriptor of a file goes on where it ends", a_descriptor_of_a_file_goes_on),
    HERE("NULL and empty names are refused", nothing_given),
};
TEST_MAIN(tests)
