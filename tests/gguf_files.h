/* For the tests of GGUF: files put together in memory, value by value, so that every single one can
 * be wrong. Numbers are stored in either byte order; a mark remembers the place that an error
 * should name. */
#ifndef WTE_TESTS_GGUF_FILES_H
#define WTE_TESTS_GGUF_FILES_H
#include "test.h"

#include <wte/format.h>

#include "format/gguf.h"

typedef struct gguf_file {
    uint8_t data[1 << 16];
    size_t n;
    bool big;
    uint64_t mark; /* WTE_NO_INDEX without one */
} gguf_file;

static inline void g_mark(gguf_file *g)
{
    g->mark = g->n;
}
static inline void g_number(gguf_file *g, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        g->data[g->n++] = (uint8_t)(v >> (8 * (g->big ? bytes - 1 - i : i)));
}
static inline void g_u32(gguf_file *g, uint64_t v)
{
    g_number(g, v, 4);
}
static inline void g_u64(gguf_file *g, uint64_t v)
{
    g_number(g, v, 8);
}
static inline void g_raw(gguf_file *g, const void *bytes, size_t n)
{
    memcpy(g->data + g->n, bytes, n);
    g->n += n;
}
static inline void g_text(gguf_file *g, const char *text)
{
    g_u64(g, strlen(text));
    g_raw(g, text, strlen(text));
}
static inline void g_begin(gguf_file *g, uint64_t tensors, uint64_t pairs)
{
    const bool big = g->big;
    memset(g, 0, sizeof *g);
    g->big = big;
    g->mark = WTE_NO_INDEX;
    g_raw(g, "GGUF", 4);
    g_u32(g, 3);
    g_u64(g, tensors);
    g_u64(g, pairs);
}
static inline void g_key(gguf_file *g, const char *key, wte__gguf_type type)
{
    g_text(g, key);
    g_u32(g, type);
}
static inline void g_pair_u32(gguf_file *g, const char *key, uint32_t value)
{
    g_key(g, key, WTE__GGUF_U32);
    g_u32(g, value);
}
static inline void g_pair_text(gguf_file *g, const char *key, const char *value)
{
    g_key(g, key, WTE__GGUF_STRING);
    g_text(g, value);
}
static inline void g_array(gguf_file *g, const char *key, wte__gguf_type element, uint64_t count)
{
    g_key(g, key, WTE__GGUF_ARRAY);
    g_u32(g, element);
    g_u64(g, count);
}
static inline void g_float(gguf_file *g, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    g_u32(g, bits);
}
/* ne0 of 0 dimensions ends the list. */
static inline void g_shape(gguf_file *g, const char *name, uint32_t rank, uint64_t ne0,
                           uint64_t ne1)
{
    g_text(g, name);
    g_u32(g, rank);
    if (rank > 0) g_u64(g, ne0);
    if (rank > 1) g_u64(g, ne1);
    for (uint32_t i = 2; i < rank; i++) g_u64(g, 1);
}
static inline void g_tensor(gguf_file *g, const char *name, uint64_t ne0, uint64_t ne1,
                            uint32_t type, uint64_t offset)
{
    g_shape(g, name, 2, ne0, ne1);
    g_u32(g, type);
    g_u64(g, offset);
}
/* Zeros up to the alignment. */
static inline void g_pad(gguf_file *g, size_t alignment)
{
    while (g->n % alignment) g->data[g->n++] = 0;
}
/* Padding, then n bytes 1, 2, ... 250, 1, ... */
static inline void g_data(gguf_file *g, size_t n)
{
    g_pad(g, 32);
    for (size_t i = 0; i < n; i++) g->data[g->n++] = (uint8_t)(i % 250 + 1);
}

/* The file lies at the edge of an unreadable page; *memory is to be freed with g_free. */
static inline wte_status g_open(const gguf_file *g, const wte_file_options *opt, void **memory,
                                wte_file **out, wte_error *err)
{
    *memory = test_guarded(g->n);
    memcpy(*memory, g->data, g->n);
    return wte_file_open_memory(*memory, g->n, "t.gguf", opt, out, err);
}
static inline void g_free(const gguf_file *g, void *memory)
{
    test_guarded_free(memory, g->n);
}
static inline wte_file *g_opened(const gguf_file *g, void **memory)
{
    wte_file *f = NULL;
    wte_error err = { 0 };
    assert_ok(g_open(g, NULL, memory, &f, &err), err);
    return f;
}

/* Refused with this status and part of the message, at the mark. */
static inline void g_refused(const char *rule, const gguf_file *g, wte_status expected,
                             const char *part)
{
    void *memory;
    wte_error err = { 0 };
    wte_file *f = (wte_file *)&err;
    const wte_status status = g_open(g, NULL, &memory, &f, &err);
    if (status != expected || err.where != g->mark || !strstr(err.message, part) ||
        !strstr(err.message, "t.gguf") || f != NULL) {
        print_error("%s: status %d, where %llu (not %d, %llu, '%s'): %s\n", rule, (int)status,
                    (unsigned long long)err.where, (int)expected, (unsigned long long)g->mark, part,
                    err.message);
        fail();
    }
    g_free(g, memory);
}
#endif
