/* For the tests of file formats: safetensors files in memory from a header text in which '@' marks
 * the byte that an error should name. */
#ifndef WTE_TESTS_FORMAT_FILES_H
#define WTE_TESTS_FORMAT_FILES_H
#include "test.h"

#include <fcntl.h>
#include <wte/format.h>

typedef struct made_file {
    uint8_t *data;
    uint64_t bytes;
    uint64_t mark; /* offset of the byte that '@' stood before; WTE_NO_INDEX without one */
} made_file;

static inline void put_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (8 * i));
}

/* Length, header (without its '@'), then data_bytes bytes 0, 1, 2, ... 255, 0, ... The copy is
 * exactly as long as it says, at the edge of an unreadable page. */
static inline made_file make_safetensors_of(const char *header, size_t n, uint64_t data_bytes)
{
    const char *at = memchr(header, '@', n);
    size_t text = n - (at != NULL);
    made_file f = { NULL, 8 + text + data_bytes, at ? 8 + (uint64_t)(at - header) : WTE_NO_INDEX };
    f.data = test_guarded((size_t)f.bytes);
    put_u64(f.data, text);
    uint8_t *to = f.data + 8;
    for (size_t i = 0; i < n; i++)
        if (header + i != at) *to++ = (uint8_t)header[i];
    for (uint64_t i = 0; i < data_bytes; i++) *to++ = (uint8_t)i;
    return f;
}
static inline made_file make_safetensors(const char *header, uint64_t data_bytes)
{
    return make_safetensors_of(header, strlen(header), data_bytes);
}
static inline void made_file_free(made_file *f)
{
    test_guarded_free(f->data, (size_t)f->bytes);
}

/* A file whose last bytes are a hole: `bytes` long, beginning with the n given ones. */
static inline void write_sparse(const char *path, const void *start, size_t n, uint64_t bytes)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, start, n), (ssize_t)n);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(close(fd), 0);
}

static inline wte_tensor tensor_at(const wte_file *f, uint64_t i)
{
    wte_error err = { 0 };
    wte_tensor t;
    assert_ok(wte_file_tensor(f, i, &t, &err), err);
    return t;
}

/* One fault of a header: what the reader must say of it. */
typedef struct fault {
    const char *rule;   /* a sentence, shown when it does not hold */
    const char *header; /* with '@' before the byte to be named */
    uint64_t data_bytes;
    wte_status status;
    const char *message;
} fault;

static inline void check_fault(const fault *bad, const wte_file_options *opt)
{
    made_file made = make_safetensors(bad->header, bad->data_bytes);
    wte_error err = { 0 };
    wte_file *f = (wte_file *)&err;
    wte_status status = wte_file_open_memory(made.data, made.bytes, "t.safetensors", opt, &f, &err);
    if (status != bad->status || err.where != made.mark || !strstr(err.message, bad->message) ||
        !strstr(err.message, "t.safetensors") || f != NULL) {
        print_error("%s: status %d, where %llu (not %d, %llu, '%s'): %s\n", bad->rule, (int)status,
                    (unsigned long long)err.where, (int)bad->status, (unsigned long long)made.mark,
                    bad->message, err.message);
        fail();
    }
    made_file_free(&made);
}
#endif
