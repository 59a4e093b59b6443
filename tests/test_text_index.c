/* The index of a large text, kept in the cache folder: used when it fits, ignored when it does not,
 * and never needed. */
#include "words_help.h"

#include <dirent.h>
#include <fcntl.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define N_ROWS 40000u
#define DIM    50u

static char dir[64], path[256], cache[256];

/* 18 MB of text, above what is worth keeping. */
static void write_text(const char *first_word)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fprintf(f, "%u %u\n", N_ROWS, DIM);
    for (unsigned r = 0; r < N_ROWS; r++) {
        fprintf(f, "%s%u", r ? "word" : first_word, r);
        for (unsigned c = 0; c < DIM; c++) fprintf(f, " %u.125", r * 3 + c);
        fputc('\n', f);
    }
    assert_int_equal(fclose(f), 0);
}

static void check_row(const wte_file *f, unsigned r, const char *word)
{
    wte_error err = { 0 };
    wte_row_source rows;
    float row[DIM];
    const wte_token_list *tokens;
    uint64_t n;
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_int_equal(rows.rows, N_ROWS);
    assert_ok(wte_row_source_read(&rows, r, row, &err), err);
    for (unsigned c = 0; c < DIM; c++) assert_true(row[c] == (float)(r * 3 + c) + 0.125f);
    assert_ok(wte_file_tokens(f, &tokens, &err), err);
    const char *text = wte_token_list_text(tokens, r, &n);
    assert_int_equal(n, strlen(word));
    assert_memory_equal(text, word, n);
}

/* How many allocations opening took: a pass needs many, the cache a few. */
static size_t open_and_check(const char *first)
{
    wte_error err = { 0 };
    wte_file *f;
    test_memory memory;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    test_memory_init(&memory, SIZE_MAX);
    opt.allocator = &memory.allocator;
    assert_ok(wte_file_open(path, &opt, &f, &err), err);
    const size_t calls = memory.calls;
    check_row(f, 0, first);
    check_row(f, 17, "word17");
    check_row(f, N_ROWS - 1, "word39999");
    wte_file_free(f);
    assert_int_equal(memory.live, 0);
    return calls;
}

/* The one file of the cache; false when it is empty. */
static bool cache_file(char *out, size_t cap)
{
    char folder[300];
    snprintf(folder, sizeof folder, "%s/wte", cache);
    DIR *d = opendir(folder);
    bool found = false;
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        assert_false(found);
        found = true;
        snprintf(out, cap, "%s/%s", folder, e->d_name);
    }
    closedir(d);
    return found;
}

static void clear_cache(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    char here[128];
    (void)state;
    snprintf(dir, sizeof dir, "%s", test_scratch());
    snprintf(path, sizeof path, "%s/t.vec", dir);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(cache, sizeof cache, "%s/%s/cache", here, dir);
    setenv("XDG_CACHE_HOME", cache, 1);
    write_text("word");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_scratch_remove(dir);
    return 0;
}

static void the_second_time_it_is_there(void **state)
{
    (void)state;
    char file[600];
    clear_cache();
    const size_t first = open_and_check("word0");
    assert_true(cache_file(file, sizeof file));
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    const size_t text = 4 * N_ROWS + 10 + 90 * 2 + 900 * 3 + 9000 * 4 + 30000 * 5;
    assert_int_equal(st.st_size, 14 * 8 + 2 * 8 * N_ROWS + text);
    const size_t second = open_and_check("word0");
    assert_true(second < first);
    const size_t third = open_and_check("word0");
    assert_int_equal(third, second);
}

static void another_name_of_the_file_uses_it_too(void **state)
{
    (void)state;
    char other[200];
    clear_cache();
    const size_t first = open_and_check("word0");
    snprintf(other, sizeof other, "%s/other.txt", dir);
    assert_int_equal(symlink("t.vec", other), 0);
    snprintf(path, sizeof path, "%s", other);
    assert_true(open_and_check("word0") < first);
    snprintf(path, sizeof path, "%s/t.vec", dir);
    assert_int_equal(unlink(other), 0);
}

static void a_changed_file_is_read_anew(void **state)
{
    (void)state;
    char file[600];
    clear_cache();
    const size_t first = open_and_check("word0");
    write_text("Word"); /* as long as before, and another time of change */
    assert_true(open_and_check("Word0") == first);
    write_text("word");
    /* the same time and size: the first bytes tell */
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    clear_cache();
    open_and_check("word0");
    assert_true(cache_file(file, sizeof file));
    write_text("Ward");
    struct timespec times[2] = { st.st_atim, st.st_mtim };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_true(open_and_check("Ward0") == first);
    write_text("word");
}

/* Any byte of it changed, and any length but the right one: it is made again. */
static void a_broken_index_is_ignored(void **state)
{
    (void)state;
    char file[600];
    clear_cache();
    const size_t first = open_and_check("word0");
    assert_true(cache_file(file, sizeof file));
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    const off_t places[] = {
        0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 104, 112 + 8 * 100, st.st_size - 1
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        FILE *f = fopen(file, "r+b");
        assert_non_null(f);
        fseeko(f, places[i], SEEK_SET);
        const int c = fgetc(f);
        fseeko(f, places[i], SEEK_SET);
        fputc(c ^ 1, f);
        assert_int_equal(fclose(f), 0);
        assert_true(open_and_check("word0") >= first);
        assert_true(open_and_check("word0") < first);
    }
    static const int shorter[] = { 1, 8, 500000 };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(truncate(file, st.st_size - shorter[i]), 0);
        assert_true(open_and_check("word0") >= first);
        assert_true(open_and_check("word0") < first);
    }
    assert_int_equal(truncate(file, 0), 0);
    assert_int_equal(open_and_check("word0"), first);
    assert_int_equal(truncate(file, st.st_size + 8), 0);
    assert_true(open_and_check("word0") >= first);
    assert_true(open_and_check("word0") < first);
}

/* Exchange the beginnings of two words in place; size and time of change stay. */
static void swap_words(const char *a, const char *b)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    char *data = malloc((size_t)st.st_size + 1);
    FILE *f = fopen(path, "r+b");
    assert_non_null(data);
    assert_non_null(f);
    assert_int_equal(fread(data, 1, (size_t)st.st_size, f), st.st_size);
    data[st.st_size] = '\0';
    char *at_a = strstr(data, a), *at_b = strstr(data, b);
    assert_true(at_a && at_b);
    memcpy(at_a, b, strlen(b));
    memcpy(at_b, a, strlen(a));
    rewind(f);
    assert_int_equal(fwrite(data, 1, (size_t)st.st_size, f), st.st_size);
    assert_int_equal(fclose(f), 0);
    free(data);
    const struct timespec times[2] = { st.st_atim, st.st_mtim };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* "word10000" gets two letters more and "word30000" two less: what lies between moves. */
static void move_rows(void)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    FILE *f = fopen(path, "r+b");
    char *data = malloc((size_t)st.st_size + 1);
    assert_non_null(data);
    assert_non_null(f);
    assert_int_equal(fread(data, 1, (size_t)st.st_size, f), st.st_size);
    data[st.st_size] = '\0';
    char *from = strstr(data, "word10000 "), *to = strstr(data, "word30000 ");
    assert_true(from && to);
    memmove(from + 6, from + 4, (size_t)(to - from));
    memcpy(from + 4, "yy", 2);
    rewind(f);
    assert_int_equal(fwrite(data, 1, (size_t)st.st_size, f), st.st_size);
    assert_int_equal(fclose(f), 0);
    free(data);
    const struct timespec times[2] = { st.st_atim, st.st_mtim };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Make the kept index fit the file's stamps, as if they had come out the same by chance. */
static void forge_stamps(const char *file)
{
    struct stat st, text;
    uint64_t head[14];
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(stat(path, &text), 0);
    const size_t n = (size_t)st.st_size;
    uint8_t *data = malloc(n);
    FILE *f = fopen(file, "r+b");
    assert_non_null(data);
    assert_non_null(f);
    assert_int_equal(fread(data, 1, n, f), n);
    memcpy(head, data, sizeof head);
    head[8] = (uint64_t)text.st_ctim.tv_sec * 1000000000u + (uint64_t)text.st_ctim.tv_nsec;
    head[13] = 0;
    uint64_t hash = XXH3_64bits(head, sizeof head);
    const uint8_t *rows = data + sizeof head, *ends = rows + head[10] * 8;
    hash = XXH3_64bits_withSeed(rows, (size_t)head[10] * 8, hash);
    hash = XXH3_64bits_withSeed(ends, (size_t)head[11] * 8, hash);
    head[13] = XXH3_64bits_withSeed(ends + head[11] * 8, (size_t)head[12], hash);
    rewind(f);
    assert_int_equal(fwrite(head, sizeof head, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    free(data);
}

static void a_change_in_the_middle_is_noticed(void **state)
{
    (void)state;
    char file[600];
    clear_cache();
    const size_t first = open_and_check("word0");
    assert_true(open_and_check("word0") < first);
    swap_words("word20000 ", "word20001 ");
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    check_row(f, 20000, "word20001");
    check_row(f, 20001, "word20000");
    wte_file_free(f);
    assert_true(open_and_check("word0") < first);

    /* no stamp tells it, nor the rows that are looked at when it is opened */
    assert_true(cache_file(file, sizeof file));
    swap_words("word20000 ", "word20001 ");
    forge_stamps(file);
    wte_row_source rows;
    float row[DIM];
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    check_row(f, 20002, "word20002");
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_fails(wte_row_source_read(&rows, 20000, row, &err), err, WTE_E_FORMAT, err.where,
                 "row 20000 ('word20001') no longer lies at byte");
    assert_non_null(strstr(err.message, "open it again"));
    wte_file_free(f);
    assert_false(cache_file(file, sizeof file));
    assert_int_equal(open_and_check("word0"), first);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    check_row(f, 20000, "word20000");
    wte_file_free(f);
}

/* A word is longer by what another one is shorter: all rows between lie elsewhere, and those that
 * are looked at when the file is opened tell, though no stamp does. */
static void an_index_whose_rows_have_moved_is_made_again(void **state)
{
    (void)state;
    char file[600];
    wte_error err = { 0 };
    wte_file *f;
    clear_cache();
    const size_t first = open_and_check("word0");
    assert_true(cache_file(file, sizeof file));
    move_rows();
    forge_stamps(file);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    check_row(f, 20000, "word20000");
    check_row(f, 10000, "wordyy10000");
    wte_file_free(f);
    assert_true(open_and_check("word0") < first);
    write_text("word");
}

static void the_folder_keeps_to_its_size(void **state)
{
    (void)state;
    char file[600], names[2][64];
    wte_error err = { 0 };
    wte_file *f;
    struct stat st;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    clear_cache();
    open_and_check("word0");
    assert_true(cache_file(file, sizeof file));
    assert_int_equal(stat(file, &st), 0);
    const uint64_t one = (uint64_t)st.st_size;
    snprintf(names[0], sizeof names[0], "%s", strrchr(file, '/') + 1);
    clear_cache();
    opt.max_cache_bytes = one - 1;
    assert_ok(wte_file_open(path, &opt, &f, &err), err);
    wte_file_free(f);
    assert_false(cache_file(file, sizeof file)); /* it alone is too large */
    opt.max_cache_bytes = one + one / 2;
    assert_ok(wte_file_open(path, &opt, &f, &err), err);
    wte_file_free(f);
    assert_true(cache_file(file, sizeof file));
    assert_string_equal(strrchr(file, '/') + 1, names[0]);
    /* another file: the older one makes room; what is no index stays */
    char kept[300], aside[300];
    snprintf(kept, sizeof kept, "%s", path);
    snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    write_text("word");
    assert_ok(wte_file_open(path, &opt, &f, &err), err);
    wte_file_free(f);
    assert_true(cache_file(file, sizeof file)); /* one alone */
    assert_string_not_equal(strrchr(file, '/') + 1, names[0]);
    assert_int_equal(unlink(aside), 0);
}

/* Rows of few bytes: their index would be larger than a quarter of the text. */
static void an_index_that_is_no_gain_is_not_kept(void **state)
{
    (void)state;
    char file[600], short_rows[300];
    wte_error err = { 0 };
    wte_file *f;
    clear_cache();
    snprintf(short_rows, sizeof short_rows, "%s/short.vec", dir);
    FILE *out = fopen(short_rows, "wb");
    assert_non_null(out);
    for (unsigned i = 0; i < 800000; i++) fprintf(out, "w%06u 0.1234 0.56\n", i);
    assert_int_equal(fclose(out), 0);
    assert_ok(wte_file_open(short_rows, NULL, &f, &err), err);
    wte_file_free(f);
    assert_false(cache_file(file, sizeof file));
    assert_int_equal(unlink(short_rows), 0);
}

static void who_wants_no_index_gets_none(void **state)
{
    (void)state;
    char file[600];
    wte_error err = { 0 };
    wte_file *f;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    opt.no_cache = 1;
    clear_cache();
    assert_ok(wte_file_open(path, &opt, &f, &err), err);
    check_row(f, 5, "word5");
    wte_file_free(f);
    assert_false(cache_file(file, sizeof file));
}

static void without_a_folder_nothing_is_kept(void **state)
{
    (void)state;
    char file[600];
    clear_cache();
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    const size_t first = open_and_check("word0");
    assert_int_equal(open_and_check("word0"), first);
    setenv("XDG_CACHE_HOME", "relative", 1); /* is ignored, as its specification says */
    char *home = getenv("HOME"), *kept = home ? strdup(home) : NULL;
    unsetenv("HOME");
    assert_int_equal(open_and_check("word0"), first);
    setenv("HOME", cache, 1); /* then ~/.cache is the place */
    open_and_check("word0");
    snprintf(file, sizeof file, "%s/.cache/wte", cache);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    if (kept)
        setenv("HOME", kept, 1);
    else
        unsetenv("HOME");
    free(kept);
    setenv("XDG_CACHE_HOME", cache, 1);
}

static void every_allocation_may_fail_with_an_index(void **state)
{
    (void)state;
    clear_cache();
    open_and_check("word0");
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status == WTE_E_MEMORY; i++) {
        wte_error err = { 0 };
        wte_file *f;
        test_memory memory;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_file_open(path, &opt, &f, &err);
        if (status == WTE_OK) check_row(f, 3, "word3");
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        assert_true(i < 1000);
    }
    assert_int_equal(status, WTE_OK);
}

static const struct CMUnitTest tests[] = {
    TEST("the second time the index is there", the_second_time_it_is_there),
    TEST("another name of the file uses it too", another_name_of_the_file_uses_it_too),
    TEST("a changed file is read anew", a_changed_file_is_read_anew),
    TEST("a broken index is ignored and replaced", a_broken_index_is_ignored),
    TEST("a change in the middle is noticed", a_change_in_the_middle_is_noticed),
    TEST("an index whose rows have moved is made again",
         an_index_whose_rows_have_moved_is_made_again),
    TEST("the folder keeps to its size", the_folder_keeps_to_its_size),
    TEST("an index that is no gain is not kept", an_index_that_is_no_gain_is_not_kept),
    TEST("who wants no index gets none", who_wants_no_index_gets_none),
    TEST("without a folder nothing is kept", without_a_folder_nothing_is_kept),
    TEST("every allocation may fail", every_allocation_may_fail_with_an_index),
};

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
