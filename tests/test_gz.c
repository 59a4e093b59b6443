/* Files packed by gzip: unpacked once and read as what they hold; broken ones and bombs. */
#include "words_help.h"

#include <zlib.h>

#include "base/limits.h"

/* One gzip member of the data, into out; its length. */
static size_t pack(const void *data, size_t bytes, void *out, size_t cap)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    uint8_t *copy = malloc(bytes + 1); /* zlib's input is not const */
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    z.next_in = copy;
    z.avail_in = (uInt)bytes;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n = cap - z.avail_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    free(copy);
    return n;
}

static const char text[] = "2 2\nking 1 2\nqueen 3 4\n";
static const float values[] = { 1, 2, 3, 4 };

static void packed_word_vectors_are_read(void **state)
{
    (void)state;
    uint8_t packed[256];
    static const char *const tokens[] = { "king", "queen" };
    uint64_t offset, bytes;
    wte_error err = { 0 };
    const size_t n = pack(text, sizeof text - 1, packed, sizeof packed);
    words w = open_words(packed, n);
    assert_int_equal(wte_file_format(w.f), WTE_FORMAT_WORD2VEC_TEXT);
    check_values(&w, 2, 2, values);
    check_tokens(&w, tokens, 2);
    /* places are those of the text that was packed */
    assert_ok(wte_file_row_offset(w.f, 0, 1, &offset, &bytes, &err), err);
    assert_int_equal(offset, 19);
    assert_int_equal(wte_file_shard_bytes(w.f, 0), sizeof text - 1);
    free_words(&w);
}

static void members_in_a_row_are_one_file(void **state)
{
    (void)state;
    uint8_t packed[512];
    size_t n = pack(text, 9, packed, sizeof packed);
    n += pack("", 0, packed + n, sizeof packed - n);
    n += pack(text + 9, sizeof text - 10, packed + n, sizeof packed - n);
    words w = open_words(packed, n);
    check_values(&w, 2, 2, values);
    free_words(&w);
}

static void other_formats_are_read_from_a_packed_file_too(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[96];
    uint8_t npy[256], packed[256];
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    size_t n;
    const uint64_t shape[] = { 2, 2 };
    assert_ok(wte_npy_header(WTE_F32, shape, 2, (char *)npy, sizeof npy - 16, &n, &err), err);
    memcpy(npy + n, values, sizeof values);
    n = pack(npy, n + sizeof values, packed, sizeof packed);
    snprintf(path, sizeof path, "%s/a.npy.gz", dir);
    test_write_file(path, packed, n);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_NPY);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_non_null(rows.data);
    assert_memory_equal(rows.data, values, sizeof values);
    assert_string_equal(wte_file_shard_path(f, 0), path);
    wte_file_free(f);
    test_scratch_remove(dir);
}

/* Where exactly zlib sees that data are broken is its affair: near the place, inside the file. */
static void check_broken(const uint8_t *data, size_t n, uint64_t near)
{
    words w;
    wte_error err = { 0 };
    assert_int_equal(try_words(&w, data, n, NULL, &err), WTE_E_FORMAT);
    assert_non_null(strstr(err.message, "t.vec: gzip: the packed data are broken at byte"));
    assert_in_range(err.where, near, near + 8 < n ? near + 8 : n);
    free_words(&w);
}

static void broken_ones_are_named(void **state)
{
    (void)state;
    uint8_t packed[256], bad[300];
    const size_t n = pack(text, sizeof text - 1, packed, sizeof packed);
    for (size_t cut = 3; cut < n; cut++)
        check_refused(packed, cut, WTE_E_FORMAT, cut, "t.vec: gzip: the packed data end at byte");
    memcpy(bad, packed, n);
    bad[n - 6] ^= 1; /* the checksum */
    check_broken(bad, n, n - 6);
    memcpy(bad, packed, n);
    memcpy(bad + n, "more", 4);
    check_refused(bad, n + 4, WTE_E_FORMAT, n, "something else follows the packed data at byte");
    bad[n] = 0x1f;
    check_broken(bad, n + 4, n);
    bad[3] = 0xff; /* reserved flags */
    check_broken(bad, n, 3);
}

static void what_is_packed_is_judged_as_ever(void **state)
{
    (void)state;
    uint8_t packed[256], twice[300];
    size_t n = pack("", 0, packed, sizeof packed);
    check_refused(packed, n, WTE_E_FORMAT, 0, "t.vec: is empty");
    n = pack("nothing", 7, packed, sizeof packed);
    check_refused(packed, n, WTE_E_FORMAT, 7, NULL);
    n = pack(text, sizeof text - 1, packed, sizeof packed);
    n = pack(packed, n, twice, sizeof twice);
    check_refused(twice, n, WTE_E_UNSUPPORTED, 0, "in it is gzip again (1f 8b 08 at byte 0)");
    n = pack("3 1\na 1\n", 8, packed, sizeof packed);
    check_refused(packed, n, WTE_E_FORMAT, 8, "line 1 says 3 words, but the file holds 1");
}

/* A thousand bytes for each one: refused before memory runs out. */
static void a_bomb_is_refused(void **state)
{
    (void)state;
    const size_t most = WTE_LIMIT_UNPACKED_FREE, n = most + 1;
    char *zeros = calloc(1, n);
    uint8_t *packed = malloc(n / 100);
    words w;
    wte_error err = { 0 };
    test_memory memory;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    assert_non_null(zeros);
    assert_non_null(packed);
    memset(zeros, '\n', n);
    memcpy(zeros, "a 1 2\n", 6);
    size_t bytes = pack(zeros, most - WTE_LIMIT_TEXT_ROW, packed, n / 100); /* of one row */
    w = open_words(packed, bytes);
    assert_int_equal(words_rows(&w).rows, 1);
    free_words(&w);
    bytes = pack(zeros, n, packed, n / 100);
    test_memory_init(&memory, SIZE_MAX);
    opt.allocator = &memory.allocator;
    assert_fails(try_words(&w, packed, bytes, &opt, &err), err, WTE_E_LIMIT, bytes,
                 "gzip: unpacks to more than 33554432 bytes");
    assert_non_null(strstr(err.message, "unpack it first: gunzip"));
    free_words(&w);
    assert_int_equal(memory.live, 0);
    assert_true(memory.peak_bytes < (size_t)52 << 20);
    free(zeros);
    free(packed);
}

/* Noise, which packs to its own size: more than one report. */
static void unpacking_tells_how_far_it_is(void **state)
{
    (void)state;
    const size_t n = (size_t)9 << 20;
    uint8_t *noise = malloc(n), *packed = malloc(n + (n >> 4));
    uint64_t seed = 3;
    words w;
    wte_error err = { 0 };
    watcher see = { .progress = { watch, &see }, .stop_at = 3 };
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    opt.progress = &see.progress;
    assert_non_null(noise);
    assert_non_null(packed);
    for (size_t i = 0; i < n; i++) noise[i] = (uint8_t)test_noise(&seed);
    const size_t bytes = pack(noise, n, packed, n + (n >> 4));
    assert_fails(try_words(&w, packed, bytes, &opt, &err), err, WTE_E_CANCELLED, (uint64_t)8 << 20,
                 "t.vec: opening was stopped at byte 8388608");
    assert_int_equal(see.total, bytes);
    free_words(&w);
    free(noise);
    free(packed);
}

/* Rows of few bytes: their index and tokens take many times the text. */
static void short_rows_count_with_their_index(void **state)
{
    (void)state;
    const size_t rows = 400000, n = 6 * rows;
    char *lines = malloc(n);
    uint8_t *packed = malloc(n);
    words w;
    wte_error err = { 0 };
    test_memory memory;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    assert_non_null(lines);
    assert_non_null(packed);
    for (size_t i = 0; i < rows; i++) memcpy(lines + 6 * i, "a 1 2\n", 6);
    const size_t bytes = pack(lines, n, packed, n);
    assert_in_range(bytes, 1, 9000);
    test_memory_init(&memory, SIZE_MAX);
    opt.allocator = &memory.allocator;
    assert_fails(try_words(&w, packed, bytes, &opt, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "t.vec: gzip: 2400000 bytes of text and the index of its rows take more than "
                 "33554432 in memory");
    assert_non_null(strstr(err.message, "raise max_expansion"));
    free_words(&w);
    assert_int_equal(memory.live, 0);
    assert_true(memory.peak_bytes < (size_t)40 << 20);
    opt.max_expansion = 100000;
    assert_ok(try_words(&w, packed, bytes, &opt, &err), err);
    assert_int_equal(words_rows(&w).rows, rows);
    free_words(&w);
    opt.max_expansion = 10; /* a bound of the caller's own, also below the limit */
    assert_fails(try_words(&w, packed, bytes, &opt, &err), err, WTE_E_LIMIT, bytes,
                 "gzip: unpacks to more than");
    free_words(&w);
    free(packed);
    free(lines);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint8_t packed[256];
    const size_t n = pack(text, sizeof text - 1, packed, sizeof packed);
    check_starved(packed, n);
}

static const struct CMUnitTest tests[] = {
    TEST("packed word vectors are read", packed_word_vectors_are_read),
    TEST("short rows count with their index", short_rows_count_with_their_index),
    TEST("members in a row are one file", members_in_a_row_are_one_file),
    TEST("other formats are read from a packed file too",
         other_formats_are_read_from_a_packed_file_too),
    TEST("broken ones are named", broken_ones_are_named),
    TEST("what is packed is judged as ever", what_is_packed_is_judged_as_ever),
    TEST("a bomb is refused", a_bomb_is_refused),
    TEST("unpacking tells how far it is, and can be stopped", unpacking_tells_how_far_it_is),
    TEST("every allocation may fail", every_allocation_may_fail),
};
TEST_MAIN(tests)
