/* Small models on disk for the tests of the model room: safetensors files built byte by byte, so
 * that they do not depend on the library's writer, and the files beside them. */
#ifndef WTE_TESTS_MODEL_FILES_H
#define WTE_TESTS_MODEL_FILES_H
#include <inttypes.h>
#include <wte/model.h>

#include "test.h"

typedef struct stored {
    const char *name;
    const char *dtype;   /* as safetensors spells it */
    uint64_t rows, cols; /* cols 0: a list of `rows` */
    const void *data;    /* NULL = zeros */
    unsigned element;    /* bytes */
} stored;

static inline size_t stored_bytes(const stored *t)
{
    return (size_t)(t->rows * (t->cols ? t->cols : 1) * t->element);
}

/* Writes n tensors, in this order, to path. */
static inline void write_safetensors(const char *path, const stored *t, size_t n)
{
    static char header[1 << 16];
    size_t used = 0, at = 0;
    used += (size_t)snprintf(header, sizeof header, "{");
    for (size_t i = 0; i < n; i++) {
        char shape[64];
        if (t[i].cols)
            snprintf(shape, sizeof shape, "%" PRIu64 ",%" PRIu64, t[i].rows, t[i].cols);
        else
            snprintf(shape, sizeof shape, "%" PRIu64, t[i].rows);
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":["
                                 "%zu,%zu]}",
                                 i ? "," : "", t[i].name, t[i].dtype, shape, at,
                                 at + stored_bytes(&t[i]));
        at += stored_bytes(&t[i]);
        assert_true(used < sizeof header - 8);
    }
    header[used++] = '}';
    while (used % 8) header[used++] = ' ';
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (unsigned i = 0; i < 8; i++) fputc((int)(used >> (8 * i) & 255), f);
    assert_int_equal(fwrite(header, 1, used, f), used);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < stored_bytes(&t[i]); k++)
            fputc(t[i].data ? ((const unsigned char *)t[i].data)[k] : 0, f);
    assert_int_equal(fclose(f), 0);
}

/* "dir/name" in one of four static buffers, in turn. */
static inline const char *in_folder(const char *dir, const char *name)
{
    static char path[4][512];
    static unsigned turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static inline void write_text(const char *dir, const char *name, const char *text)
{
    test_write_file(in_folder(dir, name), text, strlen(text));
}

/* A model directory: model.safetensors, and config.json unless config is NULL. Remove it with
 * test_scratch_remove. */
static inline const char *make_model(const char *config, const stored *t, size_t n)
{
    const char *dir = test_scratch();
    write_safetensors(in_folder(dir, "model.safetensors"), t, n);
    if (config) write_text(dir, "config.json", config);
    return dir;
}

static inline wte_model *open_model(const char *path)
{
    wte_model *m = NULL;
    wte_error err;
    assert_ok(wte_model_open(path, NULL, &m, &err), err);
    return m;
}
#endif
