/* Checkpoints of PyTorch built by hand: pickles from opcodes, storages, and the archive around
 * them. */
#ifndef WTE_TESTS_TORCH_FILES_H
#define WTE_TESTS_TORCH_FILES_H
#include "format_files.h"
#include "zip_files.h"

/* Bytes that grow; static, so that tests need not release them. */
typedef struct bytes {
    uint8_t data[8192];
    size_t n;
} bytes;

static inline void put(bytes *b, const void *data, size_t n)
{
    assert_true(b->n + n <= sizeof b->data);
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

/* Opcodes as written, with these within: %s a text, %d an integer of 32 bits, %q one of 64. */
static inline void put_pickle(bytes *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    for (const char *c = fmt; *c; c++) {
        uint8_t op[10];
        if (*c != '%') {
            put(b, c, 1);
            continue;
        }
        c++;
        if (*c == 's') {
            const char *text = va_arg(ap, const char *);
            op[0] = 'X';
            zip_put(op + 1, strlen(text), 4);
            put(b, op, 5);
            put(b, text, strlen(text));
        } else if (*c == 'd') {
            op[0] = 'J';
            zip_put(op + 1, (uint32_t)va_arg(ap, int), 4);
            put(b, op, 5);
        } else {
            op[0] = 0x8a;
            op[1] = 8;
            zip_put(op + 2, va_arg(ap, uint64_t), 8);
            put(b, op, 10);
        }
    }
    va_end(ap);
}

/* ('storage', torch.FloatStorage, key, 'cpu', count) as what is kept outside. */
static inline void put_storage(bytes *b, const char *key, uint64_t count)
{
    put_pickle(b, "(%sctorch\nFloatStorage\n%s%s%qtQ", "storage", key, "cpu", count);
}

/* A tensor of two dimensions over storage '0' of `count` elements. */
typedef struct made_tensor {
    uint64_t count, offset, rows, cols, row_stride, col_stride;
} made_tensor;

static inline void put_tensor(bytes *b, const made_tensor *t)
{
    put_pickle(b, "ctorch._utils\n_rebuild_tensor_v2\n(");
    put_storage(b, "0", t->count);
    put_pickle(b,
               "%q%q%q\x86%q%q\x86\x89"
               "ccollections\nOrderedDict\n)RtR",
               t->offset, t->rows, t->cols, t->row_stride, t->col_stride);
}

/* An archive of the pickle and storage '0' of n bytes 0, 1, 2, ... */
static inline made_zip zip_checkpoint(const bytes *pickle, size_t n)
{
    uint8_t storage[1024];
    made_zip z;
    assert_true(n <= sizeof storage);
    for (size_t i = 0; i < n; i++) storage[i] = (uint8_t)i;
    zip_begin(&z);
    zip_add(&z, "top/data.pkl", pickle->data, pickle->n, 0);
    zip_add(&z, "top/data/0", storage, n, ZIP_PAD);
    zip_add(&z, "top/version", "3\n", 2, 0);
    zip_end(&z, 0, "");
    return z;
}

/* {'w': that tensor} in an archive. */
static inline made_zip zip_tensor(const made_tensor *t, size_t n)
{
    bytes b = { { 0 }, 0 };
    put_pickle(&b, "\x80\x02}%s", "w");
    put_tensor(&b, t);
    put_pickle(&b, "s.");
    return zip_checkpoint(&b, n);
}

static inline wte_status open_zip_bytes(const made_zip *z, const wte_file_options *opt,
                                        wte_file **f, wte_error *err)
{
    return wte_file_open_memory(z->data, z->n, "t.pt", opt, f, err);
}
#endif
