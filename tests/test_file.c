/* Reading, mapping, listing and replacing files, and what happens when each goes wrong. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/replace.h"

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

static void expect_content(const char *path, const char *text)
{
    wte_error err;
    char *data;
    uint64_t bytes;
    assert_ok(wte__file_load(path, 1000, WTE__FIXED_LIMIT, NULL, &data, &bytes, &err), err);
    assert_int_equal(bytes, strlen(text));
    assert_string_equal(data, text);
    wte__free(NULL, data, (size_t)bytes + 1);
}

static uint64_t files_in(const char *path)
{
    char command[4200];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
    FILE *f = popen(command, "r");
    unsigned n = 9999;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%u", &n), 1);
    pclose(f);
    return n;
}

static void bytes_are_read_where_they_lie(void **state)
{
    (void)state;
    wte_error err;
    wte__file f;
    char out[8] = "-------";
    test_write_file(in("a"), "0123456789", 10);
    assert_ok(wte__file_open(&f, in("a"), &err), err);
    assert_int_equal(f.size, 10);
    assert_ok(wte__file_read_at(&f, 7, out, 3, "a", &err), err);
    assert_memory_equal(out, "789----", 7);
    assert_ok(wte__file_read_at(&f, 10, out, 0, "a", &err), err);
    assert_fails(wte__file_read_at(&f, 8, out, 3, "a", &err), err, WTE_E_FORMAT, 8,
                 "a: 3 bytes wanted at byte 8, but it ends at 10");
    assert_fails(wte__file_read_at(&f, 11, out, 0, "a", &err), err, WTE_E_FORMAT, 11, NULL);
    assert_fails(wte__file_read_at(&f, UINT64_MAX, out, 3, "a", &err), err, WTE_E_FORMAT,
                 UINT64_MAX, NULL);
    assert_ok(wte__file_map(&f, "a", &err), err);
    assert_memory_equal(f.map, "0123456789", 10);
    const uint8_t *map = f.map;
    assert_ok(wte__file_map(&f, "a", &err), err); /* a second time: nothing */
    assert_ptr_equal(f.map, map);
    wte__file_close(&f);
    assert_int_equal(f.fd, -1);
    wte__file_close(&f); /* a second time: nothing */
}

static void memory_is_read_like_a_file(void **state)
{
    (void)state;
    wte_error err;
    wte__file f;
    char out[4] = "---";
    wte__file_over(&f, "abcd", 4);
    assert_ok(wte__file_map(&f, "m", &err), err);
    assert_ok(wte__file_read_at(&f, 1, out, 2, "m", &err), err);
    assert_memory_equal(out, "bc-", 3);
    assert_fails(wte__file_read_at(&f, 3, out, 2, "m", &err), err, WTE_E_FORMAT, 3, "m: 2 bytes");
    wte__file_close(&f);
}

static void a_private_map_changes_nothing_but_itself(void **state)
{
    (void)state;
    wte_error err;
    uint8_t *data;
    uint64_t bytes;
    test_write_file(in("a"), "0123456789", 10);
    assert_ok(wte__file_map_private(in("a"), &data, &bytes, &err), err);
    assert_int_equal(bytes, 10);
    data[3] = 'x';
    assert_memory_equal(data, "012x456789", 10);
    expect_content(in("a"), "0123456789");
    wte__file_unmap_private(data, bytes);
    expect_content(in("a"), "0123456789");
    wte__file_unmap_private(NULL, 0);
    test_write_file(in("e"), "", 0);
    assert_fails(wte__file_map_private(in("e"), &data, &bytes, &err), err, WTE_E_FORMAT,
                 WTE_NO_INDEX, "0 bytes cannot be mapped");
    assert_null(data);
    assert_fails(wte__file_map_private(in("none"), &data, &bytes, &err), err, WTE_E_IO,
                 WTE_NO_INDEX, "No such file");
}

static void an_empty_file_maps_to_nothing(void **state)
{
    (void)state;
    wte_error err;
    wte__file f;
    test_write_file(in("e"), "", 0);
    assert_ok(wte__file_open(&f, in("e"), &err), err);
    assert_ok(wte__file_map(&f, "e", &err), err);
    assert_null(f.map);
    wte__file_close(&f);
    expect_content(in("e"), "");
}

static void a_file_that_shrinks_is_told(void **state)
{
    (void)state;
    wte_error err;
    wte__file f;
    char out[10];
    test_write_file(in("a"), "0123456789", 10);
    assert_ok(wte__file_open(&f, in("a"), &err), err);
    assert_int_equal(truncate(in("a"), 4), 0);
    assert_fails(wte__file_read_at(&f, 2, out, 8, "a", &err), err, WTE_E_FORMAT, 4,
                 "a: ends at byte 4, but had 10 when it was opened");
    wte__file_close(&f);
}

static void what_is_no_file_is_refused_by_its_kind(void **state)
{
    (void)state;
    wte_error err;
    wte__file f;
    assert_fails(wte__file_open(&f, in("none"), &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "none: No such file");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(f.fd, -1);
    assert_fails(wte__file_open(&f, dir, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a directory, not a file");
    assert_int_equal(mkfifo(in("pipe"), 0600), 0);
    assert_fails(wte__file_open(&f, in("pipe"), &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a pipe, not a file");
    assert_fails(wte__file_open(&f, "/dev/null", &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a device, not a file");
}

static void loading_keeps_to_its_limit_and_its_memory(void **state)
{
    (void)state;
    wte_error err;
    test_memory m;
    char *data;
    uint64_t bytes;
    test_write_file(in("a"), "12345", 5);
    test_memory_init(&m, SIZE_MAX);
    assert_ok(wte__file_load(in("a"), 5, WTE__FIXED_LIMIT, &m.allocator, &data, &bytes, &err), err);
    assert_string_equal(data, "12345");
    wte__free(&m.allocator, data, 6);
    assert_int_equal(m.live_bytes, 0);
    assert_fails(wte__file_load(in("a"), 4, WTE__FIXED_LIMIT, &m.allocator, &data, &bytes, &err),
                 err, WTE_E_LIMIT, WTE_NO_INDEX, "5 bytes, but at most 4 are read (a fixed limit)");
    assert_null(data);
    test_memory_init(&m, 0);
    assert_fails(wte__file_load(in("a"), 5, WTE__FIXED_LIMIT, &m.allocator, &data, &bytes, &err),
                 err, WTE_E_MEMORY, WTE_NO_INDEX, "6 bytes");
    assert_null(data);
    assert_int_equal(bytes, 0);
}

static void paths_join(void **state)
{
    (void)state;
    char out[WTE_LIMIT_PATH], name[WTE_LIMIT_PATH];
    assert_true(wte__path_join(out, "a", "b"));
    assert_string_equal(out, "a/b");
    assert_true(wte__path_join(out, "a/", "b"));
    assert_string_equal(out, "a/b");
    assert_true(wte__path_join(out, "/", "b"));
    assert_string_equal(out, "/b");
    assert_true(wte__path_join(out, "", "b"));
    assert_string_equal(out, "b");
    assert_true(wte__path_join(out, "a", "/b"));
    assert_string_equal(out, "/b");
    memset(name, 'n', sizeof name);
    name[WTE_LIMIT_PATH - 3] = '\0';
    assert_true(wte__path_join(out, "a", name));
    assert_int_equal(strlen(out), WTE_LIMIT_PATH - 1);
    assert_false(wte__path_join(out, "aa", name));
    assert_string_equal(wte__path_base("a/b/c"), "c");
    assert_string_equal(wte__path_base("c"), "c");
    assert_string_equal(wte__path_base("a/"), "");
}

typedef struct list {
    char text[64];
    size_t left; /* names to take */
} list;
static bool take_name(void *ctx, const char *name)
{
    list *l = ctx;
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, "%s ", name);
    return --l->left > 0;
}

static void a_directory_is_listed_in_the_order_of_bytes(void **state)
{
    (void)state;
    static const char *const names[] = { "b", "B", "a2", "a10", ".x", "\xc3\xa9" };
    wte_error err;
    for (size_t i = 0; i < 6; i++) test_write_file(in(names[i]), "", 0);
    list l = { "", 100 };
    assert_ok(wte__path_list(dir, take_name, &l, &err), err);
    assert_string_equal(l.text, ".x B a10 a2 b \xc3\xa9 ");
    list two = { "", 2 };
    assert_ok(wte__path_list(dir, take_name, &two, &err), err);
    assert_string_equal(two.text, ".x B ");
    assert_fails(wte__path_list(in("none"), take_name, &l, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "No such file");
}

static void write_all(const char *path, const char *text)
{
    wte_error err;
    wte__replace r;
    assert_ok(wte__replace_begin(&r, path, &err), err);
    assert_ok(wte__replace_write(&r, text, strlen(text), &err), err);
    assert_ok(wte__replace_commit(&r, &err), err);
    wte__replace_abort(&r); /* after a commit: nothing */
}

static void a_new_file_has_the_mode_of_the_umask(void **state)
{
    (void)state;
    struct stat st;
    mode_t mask = umask(0027);
    write_all(in("new"), "hello");
    assert_int_equal(umask(mask), 0027); /* and is left as it was */
    assert_int_equal(stat(in("new"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    expect_content(in("new"), "hello");
    assert_int_equal(files_in(dir), 1);
}

static void a_replaced_file_keeps_its_mode(void **state)
{
    (void)state;
    struct stat st;
    test_write_file(in("a"), "old and longer", 14);
    assert_int_equal(chmod(in("a"), 0604), 0);
    write_all(in("a"), "new");
    assert_int_equal(stat(in("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
    expect_content(in("a"), "new");
    assert_int_equal(files_in(dir), 1);
}

static void a_name_of_255_bytes_can_be_replaced(void **state)
{
    (void)state;
    char name[256];
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    write_all(in(name), "long");
    expect_content(in(name), "long");
}

static void a_link_is_followed(void **state)
{
    (void)state;
    struct stat st;
    wte_error err;
    wte__replace r;
    assert_int_equal(mkdir(in("d"), 0700), 0);
    test_write_file(in("d/real"), "old", 3);
    assert_int_equal(symlink("d/real", in("link")), 0);
    write_all(in("link"), "new");
    expect_content(in("d/real"), "new");
    assert_int_equal(lstat(in("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("nowhere", in("dead")), 0);
    assert_fails(wte__replace_begin(&r, in("dead"), &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "a link to a file that is not there");
    wte__replace_abort(&r); /* after a failed begin: nothing */
    assert_int_equal(files_in(dir), 3);
}

static void a_given_up_write_leaves_the_old_file(void **state)
{
    (void)state;
    wte_error err;
    wte__replace r;
    test_write_file(in("a"), "old", 3);
    assert_ok(wte__replace_begin(&r, in("a"), &err), err);
    assert_int_equal(files_in(dir), 2);
    assert_ok(wte__replace_write(&r, "new", 3, &err), err);
    wte__replace_abort(&r);
    expect_content(in("a"), "old");
    assert_int_equal(files_in(dir), 1);
}

/* A process that is killed while it writes, and one that goes on. */
static pid_t writing_child(const char *path, int *told)
{
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wte__replace r;
        wte_error err;
        const bool good = wte__replace_begin(&r, path, &err) == WTE_OK &&
                          wte__replace_write(&r, "half", 4, &err) == WTE_OK;
        if (!good || write(pipes[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    *told = pipes[0];
    return child;
}

static void what_a_killed_writer_leaves_is_swept_away(void **state)
{
    (void)state;
    static const char *const others[] = { ".a.0123456.tmp",   ".a.0123456g.tmp", ".ab.01234567.tmp",
                                          ".b.01234567.tmp",  ".a.01234567.tm",  "a.01234567.tmp",
                                          ".a.01234567.tmpx", ".a-01234567.tmp" };
    wte_error err;
    wte__replace r;
    int told;
    test_write_file(in("a"), "old", 3);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        test_write_file(in(others[i]), "", 0);
    const uint64_t before = files_in(dir);
    const pid_t child = writing_child(in("a"), &told);
    assert_ok(wte__replace_begin(&r, in("a"), &err), err);
    assert_int_equal(files_in(dir), before + 2);
    assert_int_equal(wte__replace_sweep(in("a")), 0); /* both are being written */
    assert_int_equal(files_in(dir), before + 2);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(told);
    assert_int_equal(wte__replace_sweep(in("b")), 1); /* ".b.01234567.tmp" is one of b's */
    assert_int_equal(wte__replace_sweep(in("a")), 1);
    assert_int_equal(wte__replace_sweep(in("a")), 0);
    assert_int_equal(files_in(dir), before);
    assert_ok(wte__replace_write(&r, "new", 3, &err), err);
    assert_ok(wte__replace_commit(&r, &err), err);
    expect_content(in("a"), "new");
    assert_int_equal(wte__replace_sweep(in("none/a")), 0);
    assert_int_equal(wte__replace_sweep(dir), 0);
}

/* The folder through which a link leads, and links and folders that only look like left-overs. */
static void what_only_looks_like_a_left_over_stays(void **state)
{
    (void)state;
    test_write_file(in("a"), "old", 3);
    test_write_file(in(".a.00000000.tmp"), "", 0);
    assert_int_equal(symlink("a", in(".a.00000001.tmp")), 0);
    assert_int_equal(mkdir(in(".a.00000002.tmp"), 0700), 0);
    assert_int_equal(mkfifo(in(".a.00000003.tmp"), 0600), 0);
    test_write_file(in("b"), "mine", 4);
    assert_int_equal(link(in("b"), in(".a.00000004.tmp")), 0); /* it has another name too */
    assert_int_equal(link(in("a"), in(".a.00000005.tmp")), 0); /* a's own second name is one */
    assert_int_equal(mkdir(in("links"), 0700), 0);
    assert_int_equal(symlink("../a", in("links/to")), 0);
    assert_int_equal(wte__replace_sweep(in("links/to")), 2);
    assert_int_equal(wte__replace_sweep(in("a")), 0);
    assert_int_equal(files_in(dir), 7);
    expect_content(in("a"), "old");
    assert_int_equal(rmdir(in(".a.00000002.tmp")), 0);
    assert_int_equal(unlink(in("links/to")), 0);
    assert_int_equal(rmdir(in("links")), 0);
}

static void make_socket(const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0 && strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
    close(fd);
}

static void what_cannot_be_replaced_is_refused(void **state)
{
    (void)state;
    wte_error err;
    wte__replace r;
    char path[5000];
    assert_fails(wte__replace_begin(&r, dir, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a directory");
    make_socket(in("socket"));
    assert_fails(wte__replace_begin(&r, in("socket"), &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a socket");
    assert_int_equal(unlink(in("socket")), 0);
    assert_fails(wte__replace_begin(&r, in("none/a"), &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "cannot write next to it: No such file");
    for (size_t i = 0; i < sizeof path; i++) path[i] = i % 2 ? '/' : 'p';
    path[sizeof path - 1] = '\0';
    assert_fails(wte__replace_begin(&r, path, &err), err, WTE_E_IO, WTE_NO_INDEX, "name too long");
    path[4095] = '\0'; /* fits, but with a temporary name it does not */
    assert_fails(wte__replace_begin(&r, path, &err), err, WTE_E_IO, WTE_NO_INDEX, "name too long");
    assert_int_equal(files_in(dir), 0);
}

/* A full disk, as a limit on the size of files makes it: in a child, which keeps the limit. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    test_write_file(in("a"), "old", 3);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static char block[8192];
        const struct rlimit limit = { 10000, 10000 };
        wte__replace r;
        wte_error err;
        signal(SIGXFSZ, SIG_IGN);
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                    wte__replace_begin(&r, in("a"), &err) == WTE_OK &&
                    wte__replace_write(&r, block, sizeof block, &err) == WTE_OK &&
                    wte__replace_write(&r, block, sizeof block, &err) == WTE_E_IO &&
                    err.sys_errno == EFBIG && strstr(err.message, "cannot write");
        wte__replace_abort(&r);
        _exit(good ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    expect_content(in("a"), "old");
    assert_int_equal(files_in(dir), 1);
}

static void a_target_that_became_a_directory_keeps_it(void **state)
{
    (void)state;
    wte_error err;
    wte__replace r;
    assert_ok(wte__replace_begin(&r, in("a"), &err), err);
    assert_int_equal(mkdir(in("a"), 0700), 0);
    assert_fails(wte__replace_commit(&r, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "cannot rename over it");
    assert_int_equal(files_in(dir), 1);
    wte__path_kind kind;
    assert_ok(wte__path_look(in("a"), &kind, NULL, &err), err);
    assert_int_equal(kind, WTE__PATH_DIRECTORY);
}

static void seeds_differ(void **state)
{
    (void)state;
    uint64_t a = wte__random_seed(), b = wte__random_seed();
    assert_true(a != b); /* equal once in 2^64 runs */
}

#define FILE_TEST(name, function)                                                                  \
    {                                                                                              \
        name, function, set_up, tear_down, NULL                                                    \
    }
static const struct CMUnitTest tests[] = {
    FILE_TEST("bytes are read where they lie", bytes_are_read_where_they_lie),
    FILE_TEST("memory is read like a file", memory_is_read_like_a_file),
    FILE_TEST("a private map changes nothing but itself", a_private_map_changes_nothing_but_itself),
    FILE_TEST("an empty file maps to nothing", an_empty_file_maps_to_nothing),
    FILE_TEST("a file that shrinks is told, with where it ends now", a_file_that_shrinks_is_told),
    FILE_TEST("what is no file is refused by its kind", what_is_no_file_is_refused_by_its_kind),
    FILE_TEST("loading keeps to its limit and its memory",
              loading_keeps_to_its_limit_and_its_memory),
    FILE_TEST("paths join with one slash, up to their limit", paths_join),
    FILE_TEST("a directory is listed in the order of bytes",
              a_directory_is_listed_in_the_order_of_bytes),
    FILE_TEST("a new file has the mode of the umask", a_new_file_has_the_mode_of_the_umask),
    FILE_TEST("a replaced file keeps its mode", a_replaced_file_keeps_its_mode),
    FILE_TEST("a name of 255 bytes can be replaced", a_name_of_255_bytes_can_be_replaced),
    FILE_TEST("a link is followed, unless to nothing", a_link_is_followed),
    FILE_TEST("a write given up leaves the old file", a_given_up_write_leaves_the_old_file),
    FILE_TEST("what a killed writer leaves is swept away, and nothing else is",
              what_a_killed_writer_leaves_is_swept_away),
    FILE_TEST("what only looks like a left-over stays", what_only_looks_like_a_left_over_stays),
    FILE_TEST("what cannot be replaced is refused", what_cannot_be_replaced_is_refused),
    FILE_TEST("a full disk leaves the old file", a_full_disk_leaves_the_old_file),
    FILE_TEST("a target that became a directory keeps it",
              a_target_that_became_a_directory_keeps_it),
    FILE_TEST("seeds differ", seeds_differ),
};
TEST_MAIN(tests)
