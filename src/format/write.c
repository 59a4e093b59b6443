/* What both writers share: checking a tensor to write, and writing its data in blocks, so that a
 * table larger than memory can be written from a row source. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/format.h"

#define BLOCK_BYTES ((uint64_t)4 << 20)

/* Rows x cols of a row source as bytes must be what the shape says. */
static wte_status check_rows(const wte_tensor_out *t, const char *path, uint64_t bytes,
                             wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const char *name = t->name ? t->name : "";
    wte__show(shown, name, strlen(name));
    WTE_TRY(wte_check_rows(t->rows, err));
    if (t->rows->dtype != t->dtype)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tensor '%s' is %s, but its rows are %s", path, shown,
                         wte_dtype_name(t->dtype), wte_dtype_name(t->rows->dtype));
    const uint64_t shape[2] = { t->rows->rows, t->rows->cols };
    uint64_t have;
    if (!wte__shape_bytes(shape, 2, wte_dtype_bytes(t->dtype), &have) || have != bytes)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tensor '%s' has %" PRIu64 " bytes, but its %" PRIu64
                         " rows of %" PRIu64 " do not",
                         path, shown, bytes, shape[0], shape[1]);
    return WTE_OK;
}

wte_status wte__tensor_out_check(const wte_tensor_out *t, const char *path, uint64_t *bytes,
                                 wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const char *name = t->name ? t->name : "";
    wte__show(shown, name, strlen(name));
    *bytes = 0;
    if (wte_dtype_bits(t->dtype) == 0)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tensor '%s' has no element type (%d)", path, shown, (int)t->dtype);
    if (t->rank > WTE_MAX_RANK || (t->rank && !t->shape))
        return wte__fail(
            err, WTE_E_ARGUMENT, WTE_NO_INDEX,
            "%s: tensor '%s' has %u dimensions, but at most %d are written, and a shape "
            "is needed",
            path, shown, t->rank, WTE_MAX_RANK);
    uint64_t total;
    if (!wte__shape_bits(t->shape, t->rank, t->dtype, &total))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tensor '%s': shape x %s overflows 64 bits", path, shown,
                         wte_dtype_name(t->dtype));
    if (total % 8)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tensor '%s': %" PRIu64 " bits are not a whole number of bytes", path,
                         shown, total);
    *bytes = total / 8;
    if (t->rows) return check_rows(t, path, *bytes, err);
    if (*bytes && !t->data)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: tensor '%s' has neither data nor rows", path, shown);
    return WTE_OK;
}

/* Bytes of this machine to the file, whose order is little-endian; block is spoilt. */
static wte_status write_block(wte__replace *to, void *block, uint64_t bytes, uint32_t unit,
                              wte_error *err)
{
    if (wte__host_is_big() && unit > 1) wte__swap_units(block, bytes, unit);
    return wte__replace_write(to, block, bytes, err);
}

static wte_status write_rows(wte__replace *to, const wte_tensor_out *t, uint8_t *block,
                             uint64_t per, wte_error *err)
{
    const wte_row_source *rows = t->rows;
    const uint64_t row_bytes = rows->cols * wte_dtype_bytes(t->dtype);
    for (uint64_t at = 0; at < rows->rows; at += per) {
        uint64_t n = rows->rows - at < per ? rows->rows - at : per;
        WTE_TRY(wte_row_source_read_block(rows, at, (size_t)n, block, err));
        WTE_TRY(write_block(to, block, n * row_bytes, wte__unit_bytes(t->dtype), err));
    }
    return WTE_OK;
}

static wte_status write_data(wte__replace *to, const wte_tensor_out *t, uint64_t bytes,
                             uint8_t *block, wte_error *err)
{
    for (uint64_t at = 0; at < bytes; at += BLOCK_BYTES) {
        uint64_t n = bytes - at < BLOCK_BYTES ? bytes - at : BLOCK_BYTES;
        memcpy(block, (const uint8_t *)t->data + at, (size_t)n);
        WTE_TRY(write_block(to, block, n, wte__unit_bytes(t->dtype), err));
    }
    return WTE_OK;
}

wte_status wte__tensor_out_write(wte__replace *to, const wte_tensor_out *t, uint64_t bytes,
                                 wte_error *err)
{
    if (bytes == 0) return WTE_OK;
    if (!t->rows && !wte__host_is_big()) return wte__replace_write(to, t->data, bytes, err);
    uint64_t per = 1, size = BLOCK_BYTES;
    if (t->rows) {
        const uint64_t row_bytes = bytes / t->rows->rows;
        if (row_bytes < BLOCK_BYTES) per = BLOCK_BYTES / row_bytes;
        if (per > t->rows->rows) per = t->rows->rows;
        size = per * row_bytes;
    }
    uint8_t *block = wte__alloc_array(NULL, size, 1);
    if (!block) return wte__no_memory(err, size, "a block of rows");
    wte_status status =
        t->rows ? write_rows(to, t, block, per, err) : write_data(to, t, bytes, block, err);
    wte__free(NULL, block, (size_t)size);
    return status;
}
