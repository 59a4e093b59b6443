/* Token ids and row sources: what every room that takes wte_ids or wte_row_source needs. Reads rows
 * in the stored type only; conversion is the caller's. */
#include <wte/row_source.h>

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "num/source.h"

/* Ids of one call of read_rows when a block has to go through it; they lie on the stack. */
#define IDS_AT_ONCE 256u

int64_t wte_ids_at(wte_ids ids, uint64_t i)
{
    const char *base = ids.data;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    if (!base || i >= ids.count) return -1;
    switch (ids.type) {
    case WTE_U16: memcpy(&u16, base + i * sizeof u16, sizeof u16); return u16;
    case WTE_I32: memcpy(&i32, base + i * sizeof i32, sizeof i32); return i32;
    case WTE_U32: memcpy(&u32, base + i * sizeof u32, sizeof u32); return u32;
    case WTE_I64: memcpy(&i64, base + i * sizeof i64, sizeof i64); return i64;
    default: return -1;
    }
}

/* Bytes of one row without padding; wte_check_rows has shown that they fit. */
static uint64_t tight_bytes(const wte_row_source *rows)
{
    return rows->cols * wte_dtype_bytes(rows->dtype);
}

static wte_status check_view(const wte_row_source *rows, uint64_t tight, wte_error *err)
{
    uint64_t last;
    if (rows->row_bytes < tight)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "rows are %" PRIu64 " bytes apart, but one takes %" PRIu64,
                         rows->row_bytes, tight);
    if (!wte__mul_u64(rows->rows - 1, rows->row_bytes, &last) ||
        !wte__add_u64(last, tight, &last) || last > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%" PRIu64 " rows, %" PRIu64 " bytes apart, are more than memory can hold",
                         rows->rows, rows->row_bytes);
    return WTE_OK;
}

/* Rows come out decoded, and are said to lie packed somewhere. */
static wte_status check_packing(const wte_row_source *rows, wte_error *err)
{
    const uint64_t bytes = wte_packed_bytes(rows->packing, rows->cols);
    uint64_t last;
    if (!bytes && rows->cols)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "rows of %" PRIu64 " elements cannot be stored in packing %" PRIu32,
                         rows->cols, rows->packing);
    if (rows->dtype != WTE_F32)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "packed rows come out as f32, but the row source says %s",
                         wte_dtype_name(rows->dtype));
    if (rows->rows == 0) return WTE_OK;
    if (!rows->packed && !rows->read_packed)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "a row source of packing %" PRIu32 " has neither packed nor read_packed",
                         rows->packing);
    if (!rows->packed) return WTE_OK;
    if (rows->packed_row_bytes < bytes ||
        !wte__mul_u64(rows->rows - 1, rows->packed_row_bytes, &last) ||
        !wte__add_u64(last, bytes, &last) || last > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%" PRIu64 " packed rows, %" PRIu64 " bytes apart, but one takes %" PRIu64,
                         rows->rows, rows->packed_row_bytes, bytes);
    return WTE_OK;
}

wte_status wte_check_rows(const wte_row_source *rows, wte_error *err)
{
    if (!rows) return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "the row source is NULL");
    const uint32_t element = wte_dtype_bytes(rows->dtype);
    const uint64_t shape[] = { rows->rows, rows->cols };
    uint64_t bytes;
    if (!element)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "a row source cannot have elements of type %s (number %d)",
                         wte_dtype_name(rows->dtype), (int)rows->dtype);
    if (rows->packing) WTE_TRY(check_packing(rows, err));
    if (rows->rows && !rows->data && !rows->read_rows)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "a row source of %" PRIu64 " rows has neither data nor read_rows",
                         rows->rows);
    if (!wte__shape_bytes(shape, 2, element, &bytes) ||
        bytes / (rows->rows + !rows->rows) > SIZE_MAX)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%" PRIu64 " x %" PRIu64 " elements of %s are more than memory can hold",
                         rows->rows, rows->cols, wte_dtype_name(rows->dtype));
    if (rows->rows && rows->data) return check_view(rows, tight_bytes(rows), err);
    return WTE_OK;
}

/* What every reading call checks first: the source, the range, the buffer. */
static wte_status check_read(const wte_row_source *rows, uint64_t first, uint64_t n,
                             const void *out, wte_error *err)
{
    WTE_TRY(wte_check_rows(rows, err));
    if (first > rows->rows || n > rows->rows - first)
        return wte__fail(err, WTE_E_RANGE, first,
                         "%" PRIu64 " rows from row %" PRIu64 ", but there are only %" PRIu64, n,
                         first, rows->rows);
    if (!out && n && rows->cols)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "the buffer for %" PRIu64 " rows is NULL", n);
    return WTE_OK;
}

/* What a function of a row source returned, with the error that it had to fill. */
static wte_status answer(wte_status status, const wte_error *reason, wte_error *err)
{
    if (status == WTE_OK || !err) return status;
    if (!reason->message[0])
        return wte__fail(err, status, WTE_NO_INDEX,
                         "the row source failed and gave no reason: %s (status %d)",
                         wte_status_text(status), (int)status);
    *err = *reason;
    err->status = (int32_t)status;
    err->message[sizeof err->message - 1] = '\0';
    return status;
}

/* An error for the function to fill; all of it is defined, and little of it is written. */
#define UNFILLED(e)                                                                                \
    do {                                                                                           \
        (e).status = WTE_OK;                                                                       \
        (e).sys_errno = 0;                                                                         \
        (e).where = WTE_NO_INDEX;                                                                  \
        (e).message[0] = '\0';                                                                     \
    } while (0)

wte_status wte__source_rows(const wte_row_source *rows, const uint64_t *ids, size_t n, void *out,
                            wte_error *err)
{
    wte_error reason;
    UNFILLED(reason);
    return answer(rows->read_rows(rows->ctx, ids, n, out, &reason), &reason, err);
}

static wte_status source_block(const wte_row_source *rows, uint64_t first, size_t n, void *out,
                               wte_error *err)
{
    wte_error reason;
    UNFILLED(reason);
    return answer(rows->read_block(rows->ctx, first, n, out, &reason), &reason, err);
}

wte_status wte__source_packed(const wte_row_source *rows, uint64_t first, size_t n, void *out,
                              wte_error *err)
{
    wte_error reason;
    UNFILLED(reason);
    return answer(rows->read_packed(rows->ctx, first, n, out, &reason), &reason, err);
}

wte_status wte_row_source_read(const wte_row_source *rows, uint64_t row, void *out, wte_error *err)
{
    WTE_TRY(check_read(rows, row, 1, out, err));
    if (rows->cols == 0) return WTE_OK;
    if (!rows->data) return wte__source_rows(rows, &row, 1, out, err);
    memcpy(out, (const char *)rows->data + row * rows->row_bytes, (size_t)tight_bytes(rows));
    return WTE_OK;
}

static void copy_view(const wte_row_source *rows, uint64_t first, size_t n, char *out)
{
    const size_t tight = (size_t)tight_bytes(rows), stride = (size_t)rows->row_bytes;
    const char *src = (const char *)rows->data + first * stride;
    if (stride == tight) {
        memcpy(out, src, n * tight);
        return;
    }
    for (size_t i = 0; i < n; i++) memcpy(out + i * tight, src + i * stride, tight);
}

static wte_status read_by_ids(const wte_row_source *rows, uint64_t first, size_t n, char *out,
                              wte_error *err)
{
    uint64_t ids[IDS_AT_ONCE];
    for (size_t done = 0; done < n;) {
        const size_t now = n - done < IDS_AT_ONCE ? n - done : IDS_AT_ONCE;
        for (size_t i = 0; i < now; i++) ids[i] = first + done + i;
        WTE_TRY(wte__source_rows(rows, ids, now, out + done * tight_bytes(rows), err));
        done += now;
    }
    return WTE_OK;
}

wte_status wte_row_source_read_block(const wte_row_source *rows, uint64_t first, size_t n,
                                     void *out, wte_error *err)
{
    WTE_TRY(check_read(rows, first, n, out, err));
    if (n == 0 || rows->cols == 0) return WTE_OK;
    /* A source with both has its data in a mapped file, where many rows are better read. */
    if (rows->read_block) return source_block(rows, first, n, out, err);
    if (rows->read_rows) return read_by_ids(rows, first, n, out, err);
    copy_view(rows, first, n, out);
    return WTE_OK;
}
