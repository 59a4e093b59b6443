/* PyTorch checkpoints from any bytes: as a file in whichever container, and as the pickle of an
 * archive that is built around it.
 *
 * Properties: the tensors of an accepted file lie inside their part, as far as their strides reach;
 * rows are the very elements that shape, strides, offset and byte order name. */
#include "archive.h"

/* Element number k of a tensor's bytes, in this machine's order, by the plainest means. */
static void element_at(const wte_file *f, uint64_t i, const wte_tensor *t, uint64_t k, uint8_t *out)
{
    const uint32_t element = wte_dtype_bytes(t->dtype), unit = t->dtype == WTE_C64 ? 4 : element;
    uint8_t stored[16];
    wte_error err = { 0 };
    HOLDS(wte_file_read(f, i, k * element, stored, element, &err) == WTE_OK);
    for (uint32_t b = 0; b < element; b++) {
        const uint32_t in = b % unit;
        const bool turn = t->big_endian != wte__host_is_big() && unit > 1;
        out[b] = stored[turn ? b - in + unit - 1 - in : b];
    }
}

static void check_rows(const wte_file *f, uint64_t i, const wte_tensor *t)
{
    enum { ROWS = 4 };
    wte_row_source rows;
    wte_error err = { 0 };
    const wte_status status = wte_file_row_source(f, i, &rows, &err);
    if (status != WTE_OK) {
        HOLDS(status == WTE_E_SHAPE);
        return;
    }
    HOLDS(wte_check_rows(&rows, &err) == WTE_OK);
    const uint32_t element = wte_dtype_bytes(t->dtype);
    if (t->rank > 2 || rows.rows == 0 || rows.cols == 0 || rows.cols > 512) return;
    const uint64_t col_step = t->rank == 2 ? t->stride[1] : 0;
    const uint64_t n = rows.rows < ROWS ? rows.rows : ROWS, first = rows.rows - n;
    uint8_t *out = malloc((size_t)(n * rows.cols) * element), want[16];
    HOLDS(out != NULL);
    HOLDS(rows.read_block(rows.ctx, first, (size_t)n, out, &err) == WTE_OK);
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c < rows.cols; c++) {
            const uint8_t *got = out + (r * rows.cols + c) * element;
            element_at(f, i, t, (first + r) * t->stride[0] + c * col_step, want);
            HOLDS(memcmp(got, want, element) == 0);
            if (rows.data)
                HOLDS(
                    memcmp((const uint8_t *)rows.data + (first + r) * rows.row_bytes + c * element,
                           want, element) == 0);
        }
    free(out);
}

/* The elements that shape and strides reach, from the first to the last; 0 for an empty tensor. */
static uint64_t reach(const wte_tensor *t)
{
    uint64_t last = 0;
    for (uint32_t k = 0; k < t->rank; k++) {
        if (t->shape[k] == 0) return 0;
        last += (t->shape[k] - 1) * t->stride[k];
    }
    return last + 1;
}

static void check_tensor(const wte_file *f, uint64_t i)
{
    wte_tensor t;
    wte_error err = { 0 };
    uint64_t found;
    HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
    HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
    HOLDS(t.shard < wte_file_n_shards(f) && t.storage != WTE_NO_INDEX);
    const uint64_t part = wte_file_shard_bytes(f, t.shard);
    HOLDS(t.offset <= part && t.bytes <= part - t.offset);
    HOLDS(reach(&t) * wte_dtype_bytes(t.dtype) == t.bytes);
    if (t.bytes > 0) check_rows(f, i, &t);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    if (wte_file_format(f) != WTE_FORMAT_TORCH) return;
    for (uint64_t i = 0; i < wte_file_n_tensors(f) && i < 64; i++) check_tensor(f, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 2 || size > 8192) return 0;
    /* the first byte: how large storage '0' is, and the byte order */
    uint8_t storage[128];
    fuzz_zip z;
    for (size_t i = 0; i < sizeof storage; i++) storage[i] = (uint8_t)(i * 37 + 1);
    fuzz_zip_begin(&z, size + 2048);
    fuzz_zip_add(&z, "t/data.pkl", data + 1, size - 1);
    fuzz_zip_add(&z, "t/data/0", storage, data[0] % sizeof storage);
    if (data[0] & 128) fuzz_zip_add(&z, "t/byteorder", "big", 3);
    fuzz_zip_end(&z);
    fuzz_open(z.data, z.n, check_file);
    free(z.data);
    return 0;
}
