/* An embedding table in memory: owned and zeroed, or borrowed. Values come from init.c. */
#include <wte/table.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"

struct wte_table {
    const wte_allocator *allocator;
    wte_row_source source;
    void *data;        /* NULL for a borrowed table */
    size_t data_bytes; /* as allocated */
};

static wte_status table_options(const wte_table_options *given, wte_table_options *opt,
                                wte_error *err)
{
    *opt = (wte_table_options)WTE_TABLE_OPTIONS_INIT;
    WTE_TRY(wte__options(opt, sizeof *opt, given, err));
    WTE_TRY(wte__need_functions(opt->allocator, NULL, err));
    if (opt->max_bytes == 0) opt->max_bytes = WTE_LIMIT_TABLE_BYTES;
    return WTE_OK;
}

/* Bytes of a rows x dim table of `type`, refused beyond the limit. */
static wte_status table_bytes(uint64_t rows, uint64_t dim, wte_dtype type, uint64_t max_bytes,
                              uint64_t *bytes, wte_error *err)
{
    const uint64_t shape[2] = { rows, dim };
    const uint32_t element = wte_dtype_bytes(type);
    if (element == 0)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "a table of type %s (%d): its elements are not whole bytes",
                         wte_dtype_name(type), (int)type);
    if (!wte__shape_bytes(shape, 2, element, bytes))
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "a table of %" PRIu64 " x %" PRIu64 " %s has 2^64 bytes or more", rows,
                         dim, wte_dtype_name(type));
    if (*bytes > max_bytes || *bytes > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "a table of %" PRIu64 " x %" PRIu64 " %s takes %" PRIu64
                         " bytes, but the limit is %" PRIu64 " (" WTE__RAISE_BYTES ")",
                         rows, dim, wte_dtype_name(type), *bytes, max_bytes);
    return WTE_OK;
}

wte_status wte_table_create(uint64_t rows, uint64_t dim, wte_dtype dtype,
                            const wte_table_options *opt, wte_table **out, wte_error *err)
{
    wte_table_options o;
    uint64_t bytes = 0;
    WTE_TRY(wte__need(out, "wte_table_create: out", err));
    *out = NULL;
    WTE_TRY(table_options(opt, &o, err));
    WTE_TRY(table_bytes(rows, dim, dtype, o.max_bytes, &bytes, err));
    wte_table *t = wte__alloc_zeroed(o.allocator, sizeof *t);
    if (!t) return wte__no_memory(err, sizeof *t, "a table handle");
    t->allocator = o.allocator;
    t->data_bytes = bytes ? (size_t)bytes : 1; /* so that an empty table too has an address */
    t->data = wte__alloc_zeroed(o.allocator, t->data_bytes);
    if (!t->data) {
        wte_table_free(t);
        return wte__no_memory(err, bytes, "a table");
    }
    t->source.rows = rows;
    t->source.cols = dim;
    t->source.dtype = dtype;
    t->source.data = t->data;
    t->source.row_bytes = rows ? bytes / rows : 0;
    *out = t;
    return WTE_OK;
}

wte_status wte_table_wrap(const wte_row_source *rows, const wte_table_options *opt, wte_table **out,
                          wte_error *err)
{
    wte_table_options o;
    WTE_TRY(wte__need(out, "wte_table_wrap: out", err));
    *out = NULL;
    WTE_TRY(table_options(opt, &o, err));
    WTE_TRY(wte_check_rows(rows, err));
    wte_table *t = wte__alloc_zeroed(o.allocator, sizeof *t);
    if (!t) return wte__no_memory(err, sizeof *t, "a table handle");
    t->allocator = o.allocator;
    t->source = *rows;
    *out = t;
    return WTE_OK;
}

void wte_table_free(wte_table *t)
{
    if (!t) return;
    wte__free(t->allocator, t->data, t->data_bytes);
    wte__free(t->allocator, t, sizeof *t);
}

const wte_row_source *wte_table_source(const wte_table *t)
{
    return t ? &t->source : NULL;
}

uint64_t wte_table_n_rows(const wte_table *t)
{
    return t ? t->source.rows : 0;
}

uint64_t wte_table_dim(const wte_table *t)
{
    return t ? t->source.cols : 0;
}

wte_dtype wte_table_dtype(const wte_table *t)
{
    return t ? t->source.dtype : WTE_DTYPE_NONE;
}

void *wte_table_data(wte_table *t)
{
    return t ? t->data : NULL;
}
