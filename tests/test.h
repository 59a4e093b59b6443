/* What every unit test uses: cmocka, a scratch folder, an allocator that fails on purpose, guarded
 * buffers.
 *
 *     static void reads_one_row(void **state) { (void)state; assert_int_equal(...); }
 *     static const struct CMUnitTest tests[] = { TEST("a row read is the row written",
 * reads_one_row) }; TEST_MAIN(tests)
 */
#ifndef WTE_TESTS_TEST_H
#define WTE_TESTS_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka wants the five above first */
#include <cmocka.h>
#include <wte/base.h>
#include <wte/dtype.h>

#define TEST(name, function)                                                                       \
    {                                                                                              \
        name, function, NULL, NULL, NULL                                                           \
    }
/* Whether this machine lacks the instruction set that WTE_ISA names (ctest sets it,
 * tests/CMakeLists.txt); prints why. Without this check the best set would run in its place. */
static inline bool test_isa_missing(void)
{
    wte_error err;
    if (wte_isa_check(&err) == WTE_OK) return false;
    print_message("skipped: %s\n", err.message);
    return true;
}

/* A first argument is a pattern (* and ?) of test names. Exit 77 = skipped as a whole. */
#define TEST_MAIN(tests)                                                                           \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        if (test_isa_missing()) return TEST_SKIPPED;                                               \
        if (argc > 1) cmocka_set_test_filter(argv[1]);                                             \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }
#define TEST_SKIPPED 77

/* A call must succeed; on failure the message is shown. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        wte_status status_ = (call);                                                               \
        if (status_ != WTE_OK)                                                                     \
            fail_msg("%s: %s (%s)", #call, wte_status_text(status_), (err).message);               \
    } while (0)
/* A call must fail with this status, place and part of the message (NULL = any). */
#define assert_fails(call, err, expected, place, part)                                             \
    do {                                                                                           \
        wte_status status_ = (call);                                                               \
        if (status_ != (expected))                                                                 \
            fail_msg("%s: got '%s' (%s), not '%s'", #call, wte_status_text(status_),               \
                     status_ == WTE_OK ? "" : (err).message, wte_status_text(expected));           \
        assert_int_equal((err).status, (expected));                                                \
        test_check_error(&(err), (place), (part), __FILE__, __LINE__);                             \
    } while (0)

static inline void test_check_error(const wte_error *err, uint64_t where, const char *part,
                                    const char *file, int line)
{
    if (err->where != where) {
        print_error("where is %llu, not %llu: %s\n", (unsigned long long)err->where,
                    (unsigned long long)where, err->message);
        _fail(file, line);
    }
    if (part && !strstr(err->message, part)) {
        print_error("'%s' does not contain '%s'\n", err->message, part);
        _fail(file, line);
    }
}

/* Path of a file in tests/data; in a static buffer that the next call overwrites. */
static inline const char *test_data(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", WTE_TEST_DATA, name);
    return path;
}

/* A fresh folder below the current one, where ctest runs; removed with test_scratch_remove. */
static inline const char *test_scratch(void)
{
    static char path[64];
    snprintf(path, sizeof path, "scratch-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}
static inline void test_scratch_remove(const char *path)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}
static inline void test_write_file(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

/* An allocator that counts, and fails allocation number fail_at (from 0; SIZE_MAX = never). After
 * use live must be 0. */
typedef struct test_memory {
    wte_allocator allocator;
    size_t calls, fail_at, live, live_bytes, peak_bytes;
} test_memory;
static inline void *test_memory_alloc(void *ctx, size_t bytes, size_t align)
{
    test_memory *m = ctx;
    if (m->calls++ == m->fail_at) return NULL;
    m->live++;
    m->live_bytes += bytes;
    if (m->live_bytes > m->peak_bytes) m->peak_bytes = m->live_bytes;
    return align <= 16 ? malloc(bytes) : aligned_alloc(align, (bytes + align - 1) / align * align);
}
static inline void test_memory_release(void *ctx, void *block, size_t bytes)
{
    test_memory *m = ctx;
    m->live--;
    m->live_bytes -= bytes;
    free(block);
}
static inline void test_memory_init(test_memory *m, size_t fail_at)
{
    memset(m, 0, sizeof *m);
    m->allocator.alloc = test_memory_alloc;
    m->allocator.release = test_memory_release;
    m->allocator.ctx = m;
    m->fail_at = fail_at;
}

/* `bytes` bytes whose last one touches an unreadable page: any over-read crashes. Release with
 * test_guarded_free. */
static inline void *test_guarded(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (bytes + page - 1) / page * page;
    char *p = mmap(NULL, n + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + n, page, PROT_NONE), 0);
    return p + n - bytes;
}
static inline void test_guarded_free(void *block, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (bytes + page - 1) / page * page;
    munmap((char *)block + bytes - n, n + page);
}

/* Repeatable noise: xorshift64*, never the C library's. */
static inline uint64_t test_noise(uint64_t *state)
{
    uint64_t x = *state ? *state : 88172645463325252u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545F4914F6CDD1D);
}
#endif
