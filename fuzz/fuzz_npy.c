/* The .npy reader over any bytes, as a file and as the header of one.
 *
 * Properties: the array of an accepted file lies inside it and has the size that shape and type
 * give; every element that comes out by row is the one that its order and byte order put there; the
 * header that our writer makes of it is read again as the same shape and type. */
#include "fuzz.h"

#include <string.h>

#include "base/checked.h"

/* Element (row, col) as stored, brought into this machine's order by the plainest means. */
static void element_at(const wte_tensor *t, const wte_row_source *rows, const uint8_t *data,
                       uint64_t row, uint64_t col, uint8_t *out)
{
    const uint32_t element = wte_dtype_bytes(t->dtype), unit = t->dtype == WTE_C64 ? 4 : element;
    const uint64_t k = t->column_major ? col * rows->rows + row : row * rows->cols + col;
    const uint8_t *p = data + t->offset + k * element;
    for (uint32_t i = 0; i < element; i++) {
        const uint32_t in = i % unit, start = i - in;
        out[i] = p[t->big_endian != wte__host_is_big() && unit > 1 ? start + unit - 1 - in : i];
    }
}

static void check_row(const wte_tensor *t, const wte_row_source *rows, const uint8_t *data,
                      uint64_t row, const uint8_t *got)
{
    const uint32_t element = wte_dtype_bytes(t->dtype);
    uint8_t want[16];
    for (uint64_t col = 0; col < rows->cols; col++) {
        element_at(t, rows, data, row, col, want);
        HOLDS(memcmp(got + col * element, want, element) == 0);
    }
}

static void check_rows(const wte_file *f, const wte_tensor *t, const uint8_t *data)
{
    enum { ROWS = 6 };
    wte_row_source rows;
    wte_error err = { 0 };
    const wte_status status = wte_file_row_source(f, 0, &rows, &err);
    if (status != WTE_OK) {
        HOLDS(status == WTE_E_SHAPE);
        return;
    }
    if (t->bytes == 0 || rows.row_bytes > 4096) return;
    uint64_t ids[ROWS];
    uint8_t *out = malloc(ROWS * (size_t)rows.row_bytes);
    HOLDS(out != NULL);
    for (uint64_t k = 0; k < ROWS; k++) ids[k] = (k + k / 3 * 5) % rows.rows;
    HOLDS(rows.read_rows(rows.ctx, ids, ROWS, out, &err) == WTE_OK);
    for (uint64_t k = 0; k < ROWS; k++) check_row(t, &rows, data, ids[k], out + k * rows.row_bytes);
    const uint64_t n = rows.rows < ROWS ? rows.rows : ROWS, first = rows.rows - n;
    HOLDS(rows.read_block(rows.ctx, first, (size_t)n, out, &err) == WTE_OK);
    for (uint64_t k = 0; k < n; k++) {
        check_row(t, &rows, data, first + k, out + k * rows.row_bytes);
        if (rows.data)
            check_row(t, &rows, data, first + k,
                      (const uint8_t *)rows.data + (first + k) * rows.row_bytes);
    }
    free(out);
}

/* Our header of the same shape and type, over the same bytes as if they were in row order. */
static void check_header(const wte_tensor *t, const uint8_t *data)
{
    char header[128 + 32 * WTE_MAX_RANK];
    size_t n;
    wte_error err = { 0 };
    wte_file *f;
    wte_tensor again;
    if (t->bytes > 65536) return;
    HOLDS(wte_npy_header(t->dtype, t->shape, t->rank, header, 128 + 32 * t->rank, &n, &err) ==
          WTE_OK);
    HOLDS(n % 64 == 0 && header[n - 1] == '\n');
    uint8_t *file = malloc(n + t->bytes);
    HOLDS(file != NULL);
    memcpy(file, header, n);
    memcpy(file + n, data + t->offset, t->bytes);
    HOLDS(wte_file_open_memory(file, n + t->bytes, "again", NULL, &f, &err) == WTE_OK);
    HOLDS(wte_file_tensor(f, 0, &again, &err) == WTE_OK);
    HOLDS(again.dtype == t->dtype && again.rank == t->rank && again.bytes == t->bytes);
    HOLDS(memcmp(again.shape, t->shape, sizeof again.shape) == 0);
    HOLDS(!again.big_endian && !again.column_major && again.offset == n);
    wte_file_free(f);
    free(file);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    wte_error err = { 0 };
    wte_tensor t;
    uint64_t bytes;
    if (wte_file_format(f) != WTE_FORMAT_NPY) return;
    HOLDS(wte_file_n_tensors(f) == 1 && wte_file_tensor(f, 0, &t, &err) == WTE_OK);
    HOLDS(t.offset <= size && t.bytes <= size - t.offset);
    HOLDS(wte__shape_bytes(t.shape, t.rank, wte_dtype_bytes(t.dtype), &bytes) || t.bytes == 0);
    HOLDS(bytes == t.bytes);
    check_rows(f, &t, data);
    check_header(&t, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 4) return 0;
    /* the first byte chooses the version, the last two how many bytes of data follow the header */
    const uint32_t major = data[0] % 3 + 1, lead = major == 1 ? 10 : 12;
    const size_t n = size - 3, values = ((size_t)data[n + 1] | (size_t)data[n + 2] << 8) % 2048;
    if (n > 65535) return 0;
    uint8_t *file = malloc(lead + n + values);
    HOLDS(file != NULL);
    memset(file, 0, lead);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)major;
    file[8] = (uint8_t)n;
    file[9] = (uint8_t)(n >> 8);
    memcpy(file + lead, data + 1, n);
    for (size_t i = 0; i < values; i++) file[lead + n + i] = (uint8_t)(i * 37 + i / 256);
    fuzz_open(file, lead + n + values, check_file);
    free(file);
    return 0;
}
