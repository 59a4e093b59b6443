/* Small makers of ids and row sources for the tests of lookups. */
#ifndef WTE_TESTS_LOOKUP_HELP_H
#define WTE_TESTS_LOOKUP_HELP_H
#include "test.h"

#include <wte/lookup.h>

static const wte_dtype id_types[] = { WTE_U16, WTE_I32, WTE_U32, WTE_I64 };

static inline wte_ids ids_of(const void *data, wte_dtype type, uint64_t count)
{
    return (wte_ids){ .data = data, .type = type, .count = count };
}

static inline wte_row_source view_of(const void *data, uint64_t rows, uint64_t cols, wte_dtype type)
{
    return (wte_row_source){ .rows = rows,
                             .cols = cols,
                             .dtype = type,
                             .data = data,
                             .row_bytes = cols * wte_dtype_bytes(type) };
}

/* A row source that reads: it notes its calls, and fails for the row `bad`. */
typedef struct reader {
    const uint8_t *data;
    size_t row_bytes;
    uint64_t bad;
    bool silent; /* fails without filling the error */
    uint32_t calls;
} reader;
static inline wte_status reader_rows(void *ctx, const uint64_t *ids, size_t n, void *out,
                                     wte_error *error)
{
    reader *r = ctx;
    __atomic_fetch_add(&r->calls, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == r->bad) {
            if (!r->silent) *error = (wte_error){ WTE_E_IO, 5, ids[i], "the disk is gone" };
            return WTE_E_IO;
        }
        memcpy((uint8_t *)out + i * r->row_bytes, r->data + ids[i] * r->row_bytes, r->row_bytes);
    }
    return WTE_OK;
}
static inline wte_row_source reader_of(reader *r, const void *data, uint64_t rows, uint64_t cols,
                                       wte_dtype type)
{
    wte_row_source source = view_of(NULL, rows, cols, type);
    *r = (reader){ .data = data, .row_bytes = (size_t)source.row_bytes, .bad = UINT64_MAX };
    source.read_rows = reader_rows;
    source.ctx = r;
    return source;
}

/* Write id number i of any type at any address. */
static inline void put_id(uint8_t *at, wte_dtype type, uint64_t i, int64_t id)
{
    const uint16_t u16 = (uint16_t)id;
    const uint32_t u32 = (uint32_t)id;
    const size_t size = wte_dtype_bytes(type);
    if (type == WTE_U16)
        memcpy(at + i * size, &u16, size);
    else if (type == WTE_I64)
        memcpy(at + i * size, &id, size);
    else
        memcpy(at + i * size, &u32, size);
}
#endif
