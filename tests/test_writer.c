/* The public writer: what it leaves behind when it commits, and when it does not. */
#include "test.h"

#include <dirent.h>

/* The scratch folder holds no dot files of its own, so anything but "." and ".." counts. */
static size_t files_in(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    size_t n = 0;
    for (const struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void read_text(const char *path, char *buf, size_t cap)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, cap - 1, f);
    buf[n] = '\0';
    fclose(f);
}

static void old_until_commit(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    char path[96], text[32];
    const char *dir = test_scratch();
    snprintf(path, sizeof path, "%s/f", dir);
    test_write_file(path, "old", 3);
    assert_ok(wte_writer_create(path, &w, &err), err);
    assert_ok(wte_writer_write(w, "new ", 4, &err), err);
    assert_ok(wte_writer_write(w, "text", 4, &err), err);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "old");
    assert_ok(wte_writer_commit(w, &err), err);
    wte_writer_free(w);
    read_text(path, text, sizeof text);
    assert_string_equal(text, "new text");
    assert_int_equal(files_in(dir), 1);
    test_scratch_remove(dir);
}

static void nothing_without_commit(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    char path[96];
    const char *dir = test_scratch();
    snprintf(path, sizeof path, "%s/f", dir);
    assert_ok(wte_writer_create(path, &w, &err), err);
    assert_int_equal(write(wte_writer_fd(w), "x", 1), 1);
    assert_int_equal(files_in(dir), 1);
    wte_writer_free(w);
    assert_int_equal(files_in(dir), 0);
    wte_writer_free(NULL);
    test_scratch_remove(dir);
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    wte_error err;
    wte_writer *w;
    const char *dir = test_scratch();
    char path[96];
    assert_fails(wte_writer_create(dir, &w, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "is a directory");
    assert_null(w);
    snprintf(path, sizeof path, "%s/none/f", dir);
    assert_fails(wte_writer_create(path, &w, &err), err, WTE_E_IO, WTE_NO_INDEX, "none/f");
    assert_null(w);
    assert_fails(wte_writer_create("", &w, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no file is named");
    test_scratch_remove(dir);
}

static const struct {
    const char *bytes;
    size_t n;
    uint32_t length;
    bool safe;
} characters[] = {
    { "a", 1, 1, true },
    { "\n", 1, 1, false },
    { "\\", 1, 1, false },
    { "\xc3\xa9", 2, 2, true },
    { "\xc3\xa9", 1, 0, false },     /* cut */
    { "\xe2\x80\xae", 3, 3, false }, /* right-to-left override */
    { "\xf0\x9f\x98\x80", 4, 4, true },
    { "\xff", 1, 0, false },
    { "", 0, 0, false },
};

static void tells_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        bool safe = !characters[i].safe;
        assert_int_equal(wte_utf8_next(characters[i].bytes, characters[i].n, &safe),
                         characters[i].length);
        assert_int_equal(safe, characters[i].safe);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("the old file stands until commit, then the new one does", old_until_commit),
    TEST("without commit nothing is left behind", nothing_without_commit),
    TEST("a directory, a missing folder and an empty name are refused", refuses_what_is_no_file),
    TEST("a character is measured, and told safe for a terminal or not", tells_characters),
};
TEST_MAIN(tests)
