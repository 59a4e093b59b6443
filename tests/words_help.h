/* For the tests of word vectors: files in memory, what their rows and tokens must be. */
#ifndef WTE_TESTS_WORDS_HELP_H
#define WTE_TESTS_WORDS_HELP_H
#include "test.h"

#include <wte/format.h>

/* A whole file of tests/data/fasttext. */
typedef struct whole_file {
    uint8_t *data;
    size_t n;
} whole_file;

static inline whole_file load_model(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "fasttext/%s", name);
    FILE *f = fopen(test_data(path), "rb");
    assert_non_null(f);
    whole_file b = { malloc(1 << 20), 0 };
    assert_non_null(b.data);
    b.n = fread(b.data, 1, (1 << 20) - 1, f);
    b.data[b.n] = '\0';
    assert_int_equal(fclose(f), 0);
    return b;
}

/* A copy at the edge of an unreadable page; freed with free_words. */
typedef struct words {
    wte_file *f;
    void *data;
    size_t bytes;
} words;

static inline wte_status try_words(words *w, const void *data, size_t bytes,
                                   const wte_file_options *opt, wte_error *err)
{
    w->f = (wte_file *)w; /* must become NULL when opening fails */
    w->bytes = bytes;
    w->data = test_guarded(bytes ? bytes : 1);
    if (bytes) memcpy(w->data, data, bytes);
    return wte_file_open_memory(w->data, bytes, "t.vec", opt, &w->f, err);
}

static inline void free_words(words *w)
{
    wte_file_free(w->f);
    test_guarded_free(w->data, w->bytes ? w->bytes : 1);
}

static inline words open_words(const void *data, size_t bytes)
{
    words w;
    wte_error err = { 0 };
    assert_ok(try_words(&w, data, bytes, NULL, &err), err);
    return w;
}

static inline words open_text(const char *text)
{
    return open_words(text, strlen(text));
}

static inline wte_row_source words_rows(const words *w)
{
    wte_error err = { 0 };
    wte_row_source rows;
    assert_int_equal(wte_file_n_tensors(w->f), 1);
    assert_ok(wte_file_row_source(w->f, 0, &rows, &err), err);
    assert_ok(wte_check_rows(&rows, &err), err);
    return rows;
}

/* The table is rows x dim with these values, however it is read. */
static inline void check_values(const words *w, uint64_t rows, uint64_t dim, const float *values)
{
    wte_error err = { 0 };
    const wte_row_source got = words_rows(w);
    assert_int_equal(got.rows, rows);
    assert_int_equal(got.cols, dim);
    assert_int_equal(got.dtype, WTE_F32);
    float *out = malloc((size_t)(rows * dim + 1) * sizeof *out);
    assert_non_null(out);
    assert_ok(wte_row_source_read_block(&got, 0, (size_t)rows, out, &err), err);
    assert_memory_equal(out, values, rows * dim * sizeof *out);
    for (uint64_t r = rows; r-- > 0;) {
        assert_ok(wte_row_source_read(&got, r, out, &err), err);
        assert_memory_equal(out, values + r * dim, dim * sizeof *out);
    }
    free(out);
}

static inline void check_token(const words *w, uint64_t i, const char *text, size_t bytes)
{
    wte_error err = { 0 };
    const wte_token_list *tokens;
    uint64_t n;
    assert_ok(wte_file_tokens(w->f, &tokens, &err), err);
    const char *got = wte_token_list_text(tokens, i, &n);
    if (!got || n != bytes || memcmp(got, text, bytes) != 0)
        fail_msg("token %llu is '%.*s', not '%s'", (unsigned long long)i, (int)n, got ? got : "",
                 text);
}

/* All tokens, and no more; NULL: the file lists none. */
static inline void check_tokens(const words *w, const char *const *texts, size_t n)
{
    wte_error err = { 0 };
    const wte_token_list *tokens;
    if (!texts) {
        assert_fails(wte_file_tokens(w->f, &tokens, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                     "t.vec: lists no tokens");
        assert_null(tokens);
        return;
    }
    for (size_t i = 0; i < n; i++) check_token(w, i, texts[i], strlen(texts[i]));
    assert_ok(wte_file_tokens(w->f, &tokens, &err), err);
    assert_int_equal(wte_token_list_count(tokens), n);
}

/* Opening fails so; nothing is left behind. */
static inline void check_refused(const void *data, size_t bytes, wte_status status, uint64_t where,
                                 const char *message)
{
    words w;
    wte_error err = { 0 };
    test_memory memory;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    test_memory_init(&memory, SIZE_MAX);
    opt.allocator = &memory.allocator;
    assert_fails(try_words(&w, data, bytes, &opt, &err), err, status, where, message);
    assert_non_null(strstr(err.message, "t.vec"));
    assert_null(w.f);
    free_words(&w);
    assert_int_equal(memory.live, 0);
}

/* Opens, reads a row and closes with every allocation failing once. */
static inline void check_starved(const void *data, size_t bytes)
{
    wte_status status = WTE_E_MEMORY;
    size_t i = 0;
    for (; status == WTE_E_MEMORY; i++) {
        words w;
        wte_error err = { 0 };
        test_memory memory;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = try_words(&w, data, bytes, &opt, &err);
        assert_int_equal(err.status, status);
        free_words(&w);
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(i > 5);
}

/* Reports of progress: counts them, and stops at the given one. */
typedef struct watcher {
    wte_progress progress;
    uint64_t calls, stop_at, last, total;
} watcher;
static inline bool watch(void *ctx, uint64_t done, uint64_t total)
{
    watcher *w = ctx;
    assert_true(done <= total && (w->calls == 0 || done > w->last));
    w->last = done;
    w->total = total;
    return ++w->calls != w->stop_at;
}

/* Opening tells how far it is, in bytes, and stops when it is told to. */
static inline void check_progress(const void *data, size_t bytes)
{
    words w;
    wte_error err = { 0 };
    watcher see = { .progress = { watch, &see } };
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    opt.progress = &see.progress;
    assert_ok(try_words(&w, data, bytes, &opt, &err), err);
    free_words(&w);
    assert_true(see.calls > 1);
    assert_int_equal(see.total, bytes);
    const uint64_t calls = see.calls;
    for (uint64_t stop = 1; stop <= calls; stop++) {
        see.calls = 0;
        see.stop_at = stop;
        assert_int_equal(try_words(&w, data, bytes, &opt, &err), WTE_E_CANCELLED);
        assert_int_equal(err.where, see.last);
        assert_non_null(strstr(err.message, "t.vec: opening was stopped at byte"));
        free_words(&w);
    }
}
#endif
