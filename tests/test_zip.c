/* Reading zip archives: every way of writing one, every fault, and how much one may unpack to. */
#include "zip_files.h"

#include "base/limits.h"
#include "format/zip.h"

static const char hello[] = "hello, hello, hello, hello, hello";
#define HELLO_BYTES (sizeof hello - 1)

/* Two entries, "a/one" and "two". */
static made_zip make_two(unsigned one, unsigned two, unsigned end)
{
    made_zip z;
    zip_begin(&z);
    zip_add(&z, "a/one", hello, HELLO_BYTES, one);
    zip_add(&z, "two", "12345", 5, two);
    zip_end(&z, end, "");
    return z;
}

static wte_status open_zip(wte__zip *z, const uint8_t *data, size_t n, const wte_allocator *a,
                           wte_error *err)
{
    wte__file file;
    wte__file_over(&file, data, n);
    return wte__zip_open(z, &file, "t.zip", a, err);
}

static void check_two(const made_zip *made, uint64_t one_at)
{
    uint8_t *data = zip_guarded(made);
    wte__zip z;
    wte_error err = { 0 };
    char out[64];
    size_t i;
    uint64_t at;
    assert_ok(open_zip(&z, data, made->n, NULL, &err), err);
    assert_int_equal(z.n, 2);
    assert_true(wte__zip_find(&z, "a/one", 5, &i));
    assert_int_equal(i, 0);
    assert_string_equal(z.entries[0].name, "a/one");
    assert_int_equal(z.entries[0].bytes, HELLO_BYTES);
    assert_ok(wte__zip_data(&z, 0, &at, &err), err);
    assert_int_equal(at, one_at);
    assert_ok(wte__zip_read(&z, 0, out, &err), err);
    assert_memory_equal(out, hello, HELLO_BYTES);
    assert_true(wte__zip_find(&z, "two", 3, &i));
    assert_int_equal(i, 1);
    assert_ok(wte__zip_read(&z, 1, out, &err), err);
    assert_memory_equal(out, "12345", 5);
    assert_false(wte__zip_find(&z, "three", 5, &i));
    wte__zip_close(&z);
    test_guarded_free(data, made->n);
}

static void every_way_of_writing_is_read(void **state)
{
    (void)state;
    for (unsigned one = 0; one < 16; one++)
        for (unsigned end = 0; end <= ZIP_WIDE; end += ZIP_WIDE) {
            made_zip z = make_two(one, one ^ ZIP_DEFLATE, end);
            check_two(&z, 30 + 5 + (one & ZIP_PAD ? 23 : 0));
            zip_free(&z);
        }
}

static void the_order_of_the_directory_is_free(void **state)
{
    (void)state;
    made_zip z;
    zip_begin(&z);
    zip_add(&z, "a/one", hello, HELLO_BYTES, 0);
    const size_t first = z.n_directory;
    zip_add(&z, "two", "12345", 5, ZIP_DEFLATE);
    uint8_t turned[256];
    const size_t second = z.n_directory - first;
    memcpy(turned, z.directory + first, second);
    memcpy(turned + second, z.directory, first);
    memcpy(z.directory, turned, z.n_directory);
    zip_end(&z, 0, "");
    check_two(&z, 35);
    zip_free(&z);
}

static void a_comment_may_hold_an_end_record(void **state)
{
    (void)state;
    made_zip z;
    zip_begin(&z);
    zip_add(&z, "a/one", hello, HELLO_BYTES, 0);
    zip_add(&z, "two", "12345", 5, ZIP_DEFLATE);
    zip_end(&z, 0, "PK\5\6 is how the end of an archive begins");
    check_two(&z, 35);
    zip_free(&z);
}

static void an_archive_may_be_empty(void **state)
{
    (void)state;
    made_zip made;
    wte__zip z;
    wte_error err = { 0 };
    zip_begin(&made);
    zip_end(&made, 0, "");
    assert_ok(open_zip(&z, made.data, made.n, NULL, &err), err);
    assert_int_equal(z.n, 0);
    wte__zip_close(&z);
    zip_free(&made);
}

/* Opening an archive that has been tampered with must fail at that byte. */
static void check_opening(const made_zip *made, size_t n, wte_status status, uint64_t where,
                          const char *part)
{
    wte__zip z;
    wte_error err = { 0 };
    uint8_t *data = test_guarded(n ? n : 1);
    if (n) memcpy(data, made->data, n);
    wte_status got = open_zip(&z, data, n, NULL, &err);
    if (got != status || err.where != where || !strstr(err.message, part) ||
        !strstr(err.message, "t.zip"))
        fail_msg("status %d, where %llu (not %d, %llu, '%s'): %s", (int)got,
                 (unsigned long long)err.where, (int)status, (unsigned long long)where, part,
                 err.message);
    wte__zip_close(&z);
    test_guarded_free(data, n ? n : 1);
}

static void a_cut_archive_is_told(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, 0);
    check_opening(&z, 21, WTE_E_FORMAT, 21, "a zip archive has at least 22 bytes, but it has 21");
    for (size_t n = 22; n < z.n; n++)
        check_opening(&z, n, WTE_E_FORMAT, n, "do not end as one (no end record)");
    zip_free(&z);
}

static void zeros_after_an_archive_are_told(void **state)
{
    (void)state;
    static const size_t zeros[] = { 1, 20, 4096, 70000 };
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        char part[96];
        made_zip z = make_two(0, 0, 0);
        const size_t end = z.n;
        z.data = realloc(z.data, end + zeros[i]);
        assert_non_null(z.data);
        memset(z.data + end, 0, zeros[i]);
        snprintf(part, sizeof part, "and %zu zeros after it; cut them off (truncate -s %zu)",
                 zeros[i], end);
        check_opening(&z, end + zeros[i], WTE_E_FORMAT, end, part);
        /* without the record the archive is cut, whatever follows */
        memset(z.data + end - 22, 0, 22);
        check_opening(&z, end + zeros[i], WTE_E_FORMAT, end + zeros[i], "(no end record)");
        zip_free(&z);
    }
}

/* One number of the archive that make_two(0, 0, end) gives, changed. */
typedef struct change {
    enum { IN_END, IN_END64, IN_RECORD, IN_LOCAL } in;
    size_t at;
    unsigned bytes;
    uint64_t value;
    wte_status status;
    const char *part;
} change;

static const change changes[] = {
    { IN_END, 4, 2, 1, WTE_E_UNSUPPORTED, "is one of several volumes" },
    { IN_END, 6, 2, 1, WTE_E_UNSUPPORTED, "is one of several volumes" },
    { IN_END, 8, 2, 1, WTE_E_UNSUPPORTED, "is one of several volumes" },
    { IN_END, 16, 4, 77, WTE_E_FORMAT, "does not end where its end record is" },
    { IN_END, 12, 4, 77, WTE_E_FORMAT, "does not end where its end record is" },
    { IN_END64, 0, 1, 'Q', WTE_E_FORMAT, "no zip64 end record at byte" },
    { IN_END64, 4, 8, 43, WTE_E_FORMAT, "no zip64 end record at byte" },
    { IN_END64, 16, 4, 1, WTE_E_UNSUPPORTED, "is one of several volumes" },
    { IN_END64, 24, 8, 1, WTE_E_UNSUPPORTED, "is one of several volumes" },
    { IN_END64, 40, 8, UINT64_MAX, WTE_E_FORMAT, "does not end where its end record is" },
    { IN_RECORD, 0, 1, 'Q', WTE_E_FORMAT, "no entry begins here" },
    { IN_RECORD, 8, 2, 1, WTE_E_UNSUPPORTED, "'two' is encrypted" },
    { IN_RECORD, 20, 4, 100, WTE_E_FORMAT, "does not end before the directory" },
    { IN_RECORD, 20, 4, 4, WTE_E_FORMAT, "'two' is stored, but in 4 bytes, not its 5" },
    { IN_RECORD, 24, 4, 0xffffffff, WTE_E_FORMAT, "an entry's zip64 numbers are cut" },
    { IN_RECORD, 28, 2, 400, WTE_E_FORMAT, "an entry is cut" },
    { IN_RECORD, 28, 2, 0, WTE_E_FORMAT, "the name '' is no UTF-8 text" },
    { IN_RECORD, 34, 2, 3, WTE_E_UNSUPPORTED, "is one of several volumes" },
    { IN_RECORD, 42, 4, 0x7fffffff, WTE_E_FORMAT, "does not end before the directory" },
    { IN_RECORD, 46, 1, 0xff, WTE_E_FORMAT, "the name '\\xffwo' is no UTF-8 text" },
    { IN_RECORD, 47, 1, 0, WTE_E_FORMAT, "the name 't\\x00o' is no UTF-8 text" },
};

static void every_fault_of_a_directory_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const change *c = &changes[i];
        made_zip z = make_two(0, 0, c->in == IN_END64 ? ZIP_WIDE : 0);
        const size_t places[] = { z.end_at, z.end_at - 76, z.directory_at + z.record, z.local };
        uint64_t where = places[c->in];
        zip_put(z.data + places[c->in] + c->at, c->value, c->bytes);
        if (c->in == IN_END64 && c->at == 40) where = z.end_at - 76;
        check_opening(&z, z.n, c->status, where, c->part);
        zip_free(&z);
    }
}

static void the_pointer_to_a_zip64_end_is_checked(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, ZIP_WIDE);
    zip_put(z.data + z.end_at - 20 + 8, z.end_at, 8);
    check_opening(&z, z.n, WTE_E_FORMAT, z.end_at - 20, "its zip64 end record is said to be at");
    zip_free(&z);
}

static void counts_beyond_the_directory_are_refused(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, ZIP_WIDE);
    zip_put(z.data + z.end_at - 76 + 24, UINT64_C(1) << 60, 8);
    zip_put(z.data + z.end_at - 76 + 32, UINT64_C(1) << 60, 8);
    check_opening(&z, z.n, WTE_E_FORMAT, z.end_at - 76,
                  "1152921504606846976 entries are said to be in a directory of 100 bytes");
    zip_free(&z);
    z = make_two(0, 0, 0);
    zip_put(z.data + z.end_at + 8, 1, 2);
    zip_put(z.data + z.end_at + 10, 1, 2);
    check_opening(&z, z.n, WTE_E_FORMAT, z.directory_at + z.record,
                  "its 1 entries take 51 bytes of directory, but that has 100");
    zip_free(&z);
}

static void junk_before_an_archive_is_refused(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, 0);
    memmove(z.data + 7, z.data, z.n);
    z.n += 7;
    check_opening(&z, z.n, WTE_E_FORMAT, z.end_at + 7, "(cut, or something before it)");
    zip_free(&z);
}

static void names_that_come_twice_are_refused(void **state)
{
    (void)state;
    made_zip z;
    zip_begin(&z);
    zip_add(&z, "x", "1", 1, 0);
    zip_add(&z, "x", "2", 1, 0);
    zip_end(&z, 0, "");
    check_opening(&z, z.n, WTE_E_FORMAT, 32, "two entries are named 'x', at bytes 0 and 32");
    zip_free(&z);
}

static void entries_that_overlap_are_refused(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, 0);
    zip_put(z.data + z.directory_at + z.record + 42, 40, 4);
    check_opening(&z, z.n, WTE_E_FORMAT, 40,
                  "overlap: 'a/one' ends at byte 68 or later, but 'two' begins at 40");
    zip_free(&z);
}

static void a_directory_beyond_its_limit_is_refused(void **state)
{
    (void)state;
    made_zip z;
    zip_begin(&z);
    zip_end(&z, 0, "");
    const size_t n = WTE_LIMIT_ZIP_DIRECTORY + 1 + 22;
    wte__zip opened;
    wte_error err = { 0 };
    uint8_t *data = calloc(n, 1);
    assert_non_null(data);
    memcpy(data + n - 22, z.data, 22);
    zip_put(data + n - 22 + 12, n - 22, 4);
    assert_fails(open_zip(&opened, data, n, NULL, &err), err, WTE_E_LIMIT, 0,
                 "a directory of 67108865 bytes, but at most 67108864 are read");
    wte__zip_close(&opened);
    free(data);
    zip_free(&z);
}

/* Entry `i` of an archive that opens cannot be read. */
static void check_reading(const made_zip *made, size_t i, wte_status status, uint64_t where,
                          const char *part)
{
    wte__zip z;
    wte_error err = { 0 };
    char out[256];
    uint8_t *data = zip_guarded(made);
    assert_ok(open_zip(&z, data, made->n, NULL, &err), err);
    assert_fails(wte__zip_read(&z, i, out, &err), err, status, where, part);
    wte__zip_close(&z);
    test_guarded_free(data, made->n);
}

static void faults_of_local_headers_are_told(void **state)
{
    (void)state;
    static const change locals[] = {
        { IN_LOCAL, 0, 1, 'Q', WTE_E_FORMAT, "byte 68 is not where 'two' begins" },
        { IN_LOCAL, 8, 2, 8, WTE_E_FORMAT, "byte 68 is not where 'two' begins" },
        { IN_LOCAL, 26, 2, 4, WTE_E_FORMAT, "byte 68 is not where 'two' begins" },
        { IN_LOCAL, 28, 2, 9, WTE_E_FORMAT,
          "'two' of 5 bytes at byte 110 reaches beyond byte 106" },
    };
    for (size_t i = 0; i < sizeof locals / sizeof locals[0]; i++) {
        made_zip z = make_two(0, 0, 0);
        zip_put(z.data + z.local + locals[i].at, locals[i].value, locals[i].bytes);
        check_reading(&z, 1, locals[i].status, 68, locals[i].part);
        zip_free(&z);
    }
}

static void other_methods_are_named(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, 0);
    zip_put(z.data + z.local + 8, 14, 2);
    zip_put(z.data + z.directory_at + z.record + 10, 14, 2);
    check_reading(&z, 1, WTE_E_UNSUPPORTED, 68, "'two' is packed by method 14");
    zip_free(&z);
}

static void checksums_are_checked(void **state)
{
    (void)state;
    made_zip z = make_two(0, 0, 0);
    z.data[35] ^= 1;
    check_reading(&z, 0, WTE_E_FORMAT, 35, "but the directory says");
    zip_free(&z);
    z = make_two(ZIP_DEFLATE, 0, 0);
    zip_put(z.data + z.directory_at + 16, 0x1234, 4);
    check_reading(&z, 0, WTE_E_FORMAT, 35, "but the directory says 00001234");
    zip_free(&z);
}

/* What a deflated entry claims to unpack to, against what it does. */
static void claims_of_deflated_entries_are_checked(void **state)
{
    (void)state;
    made_zip z = make_two(ZIP_DEFLATE, 0, 0);
    const uint64_t packed = z.data[z.directory_at + 20];
    zip_put(z.data + z.directory_at + 24, HELLO_BYTES - 1, 4);
    check_reading(&z, 0, WTE_E_FORMAT, 35 + packed, "it unpacks to more after 32 of its 32 bytes");
    zip_put(z.data + z.directory_at + 24, HELLO_BYTES + 1, 4);
    check_reading(&z, 0, WTE_E_FORMAT, 35 + packed, "the packed data end after 33 of its 34");
    zip_put(z.data + z.directory_at + 24, HELLO_BYTES, 4);
    zip_put(z.data + z.directory_at + 20, packed - 1, 4);
    check_reading(&z, 0, WTE_E_FORMAT, 34 + packed, "the packed data end after");
    z.data[35] = 0xff;
    check_reading(&z, 0, WTE_E_FORMAT, 34 + packed, "the packed data are broken after 0 of its");
    zip_free(&z);
    uint8_t longer[64] = { 0 };
    size_t n;
    uint8_t *stream = zip_deflate(hello, HELLO_BYTES, &n);
    memcpy(longer, stream, n);
    free(stream);
    zip_begin(&z);
    zip_add(&z, "l", longer, n + 1, 0);
    zip_put(z.data + 8, 8, 2);
    zip_put(z.directory + 10, 8, 2);
    zip_put(z.directory + 24, HELLO_BYTES, 4);
    zip_end(&z, 0, "");
    check_reading(&z, 0, WTE_E_FORMAT, 31 + n + 1, "packed data are left over after 33");
    zip_free(&z);
}

static void what_an_archive_may_unpack_to_is_bounded(void **state)
{
    (void)state;
    wte__zip z = { .path = "t.zip", .directory_at = 7 };
    wte_error err = { 0 };
    const uint64_t free_bytes = WTE_LIMIT_UNPACKED_FREE;
    assert_ok(wte__zip_justified(&z, free_bytes, &err), err);
    assert_fails(
        wte__zip_justified(&z, free_bytes + 1, &err), err, WTE_E_LIMIT, 7,
        "would unpack to 33554433 bytes, but at most 33554432 are unpacked from an archive of 0");
    z.file.size = 1000000;
    assert_ok(wte__zip_justified(&z, 64000000, &err), err);
    assert_fails(wte__zip_justified(&z, 64000001, &err), err, WTE_E_LIMIT, 7,
                 "would unpack to 64000001 bytes, but at most 64000000");
    z.file.size = UINT64_MAX;
    assert_ok(wte__zip_justified(&z, WTE_LIMIT_UNPACKED, &err), err);
    assert_fails(wte__zip_justified(&z, (uint64_t)WTE_LIMIT_UNPACKED + 1, &err), err, WTE_E_LIMIT,
                 7, "but at most 4294967296");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    made_zip made = make_two(ZIP_DEFLATE, ZIP_DEFLATE, 0);
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        wte__zip z;
        wte_error err = { 0 };
        char out[64];
        test_memory_init(&memory, i);
        status = open_zip(&z, made.data, made.n, &memory.allocator, &err);
        if (status == WTE_OK) status = wte__zip_read(&z, 0, out, &err);
        assert_true(status == WTE_OK || status == WTE_E_MEMORY);
        wte__zip_close(&z);
        assert_int_equal(memory.live, 0);
        assert_true(i < 40);
    }
    zip_free(&made);
}

static const struct CMUnitTest tests[] = {
    TEST("every way of writing an archive is read", every_way_of_writing_is_read),
    TEST("the order of the directory is free", the_order_of_the_directory_is_free),
    TEST("a comment may hold an end record", a_comment_may_hold_an_end_record),
    TEST("an archive may be empty", an_archive_may_be_empty),
    TEST("a cut archive is told, wherever it is cut", a_cut_archive_is_told),
    TEST("zeros after an archive are told", zeros_after_an_archive_are_told),
    TEST("every fault of a directory is told", every_fault_of_a_directory_is_told),
    TEST("the pointer to a zip64 end is checked", the_pointer_to_a_zip64_end_is_checked),
    TEST("counts beyond the directory are refused", counts_beyond_the_directory_are_refused),
    TEST("junk before an archive is refused", junk_before_an_archive_is_refused),
    TEST("names that come twice are refused", names_that_come_twice_are_refused),
    TEST("entries that overlap are refused", entries_that_overlap_are_refused),
    TEST("a directory beyond its limit is refused", a_directory_beyond_its_limit_is_refused),
    TEST("faults of local headers are told", faults_of_local_headers_are_told),
    TEST("other methods of packing are named", other_methods_are_named),
    TEST("checksums are checked", checksums_are_checked),
    TEST("claims of deflated entries are checked", claims_of_deflated_entries_are_checked),
    TEST("what an archive may unpack to is bounded", what_an_archive_may_unpack_to_is_bounded),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
