/* Writing NumPy's .npy, byte for byte as NumPy 1.24 does: keys in order, room to grow the first
 * dimension to 21 digits, padding to a multiple of 64. */
#include <inttypes.h>

#include "base/error.h"
#include "format/format.h"

#define PREFIX_BYTES 10u /* magic, version, length */

/* Data are written little-endian on any machine. NULL: NumPy has no code for the type. */
static const char *descr_of(wte_dtype type)
{
    switch (type) {
    case WTE_F64: return "<f8";
    case WTE_F32: return "<f4";
    case WTE_F16: return "<f2";
    case WTE_I8: return "|i1";
    case WTE_U8: return "|u1";
    case WTE_I16: return "<i2";
    case WTE_U16: return "<u2";
    case WTE_I32: return "<i4";
    case WTE_U32: return "<u4";
    case WTE_I64: return "<i8";
    case WTE_U64: return "<u8";
    case WTE_BOOL: return "|b1";
    case WTE_C64: return "<c8";
    default: return NULL;
    }
}

static size_t put(char *buf, size_t cap, size_t at, const char *text)
{
    size_t n = strlen(text);
    if (n <= cap - at) memcpy(buf + at, text, n);
    return at + n;
}

wte_status wte_npy_header(wte_dtype dtype, const uint64_t *shape, uint32_t rank, char *buf,
                          size_t cap, size_t *n, wte_error *err)
{
    if (n) *n = 0;
    if (!n || !buf || rank > WTE_MAX_RANK || (rank && !shape) || cap < 128 + 32 * (size_t)rank)
        return wte__fail(
            err, WTE_E_ARGUMENT, WTE_NO_INDEX,
            "wte_npy_header: %u dimensions (at most %d) need a buffer of %zu bytes, not "
            "%zu",
            rank, WTE_MAX_RANK, 128 + 32 * (size_t)rank, cap);
    const char *descr = descr_of(dtype);
    if (!descr)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "NumPy has no code for %s: convert it to f32, or write safetensors",
                         wte_dtype_name(dtype));
    char number[32];
    size_t at = PREFIX_BYTES, first = 0;
    at = put(buf, cap, at, "{'descr': '");
    at = put(buf, cap, at, descr);
    at = put(buf, cap, at, "', 'fortran_order': False, 'shape': (");
    for (uint32_t i = 0; i < rank; i++) {
        int digits = snprintf(number, sizeof number, "%" PRIu64, shape[i]);
        if (i == 0) first = (size_t)digits;
        if (i) at = put(buf, cap, at, ", ");
        at = put(buf, cap, at, number);
    }
    at = put(buf, cap, at, rank == 1 ? ",), }" : "), }");
    if (rank) at = put(buf, cap, at, &"                     "[first]);
    size_t total = (at + 1) / 64 * 64 + 64; /* 1 to 64 bytes more, the newline among them */
    memset(buf + at, ' ', total - at);
    buf[total - 1] = '\n';
    memcpy(buf, "\x93NUMPY\x01", 8); /* its NUL is the minor version */
    buf[8] = (char)((total - PREFIX_BYTES) & 0xff);
    buf[9] = (char)((total - PREFIX_BYTES) >> 8);
    *n = total;
    return WTE_OK;
}

wte_status wte_npy_write(const char *path, const wte_tensor_out *tensor, wte_error *err)
{
    char header[128 + 32 * WTE_MAX_RANK];
    uint64_t bytes;
    size_t n;
    wte__replace to;
    WTE_TRY(wte__need(path, "wte_npy_write: path", err));
    WTE_TRY(wte__need(tensor, "wte_npy_write: tensor", err));
    WTE_TRY(wte__tensor_out_check(tensor, path, &bytes, err));
    WTE_TRY(
        wte_npy_header(tensor->dtype, tensor->shape, tensor->rank, header, sizeof header, &n, err));
    WTE_TRY(wte__replace_begin(&to, path, err));
    wte_status status = wte__replace_write(&to, header, n, err);
    if (status == WTE_OK) status = wte__tensor_out_write(&to, tensor, bytes, err);
    if (status == WTE_OK) return wte__replace_commit(&to, err);
    wte__replace_abort(&to);
    return status;
}
