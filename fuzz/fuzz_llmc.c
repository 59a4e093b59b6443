/* Checkpoints of llm.c over any bytes, and over a header of small sizes that the input chooses.
 *
 * Properties: the sixteen tensors of an accepted file tile it from the header to its end, with the
 * shapes that the header gives; rows of wte are the bytes that lie there; a file whose sizes agree
 * is accepted, and no other. */
#include "fuzz.h"

#include <string.h>

#include "base/checked.h"

enum { HEADER = 1024, TENSORS = 16 };

static uint64_t field(const uint8_t *data, unsigned i)
{
    const uint8_t *p = data + (size_t)4 * i;
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

/* How many numbers each tensor has, by another reading of the format than the library's. */
static void numbers_of(const uint8_t *data, uint64_t n[TENSORS])
{
    const uint64_t positions = field(data, 2), layers = field(data, 4), width = field(data, 6);
    const uint64_t of_layer[] = { 1, 1, 3 * width, 3, width, 1, 1, 1, 4 * width, 4, 4 * width, 1 };
    n[0] = field(data, 7) * width;
    n[1] = positions * width;
    for (unsigned i = 0; i < 12; i++) n[2 + i] = layers * width * of_layer[i];
    n[14] = n[15] = width;
}

static void check_rows(const wte_file *f, const uint8_t *data, const wte_tensor *t)
{
    wte_row_source rows;
    wte_error err = { 0 };
    uint8_t row[4096];
    HOLDS(wte_file_row_source(f, 0, &rows, &err) == WTE_OK);
    HOLDS(rows.rows == t->shape[0] && rows.cols == t->shape[1]);
    for (uint64_t k = 0; k < rows.rows && rows.row_bytes <= sizeof row && k < 8; k++) {
        HOLDS(rows.read_block(rows.ctx, k, 1, row, &err) == WTE_OK);
        HOLDS(memcmp(row, data + HEADER + k * rows.row_bytes, rows.row_bytes) == 0);
    }
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    uint64_t at = HEADER, n[TENSORS], found;
    wte_error err = { 0 };
    if (wte_file_format(f) != WTE_FORMAT_LLMC) return;
    HOLDS(size > HEADER && wte_file_n_tensors(f) == TENSORS);
    HOLDS(field(data, 3) <= field(data, 7));
    numbers_of(data, n);
    for (uint64_t i = 0; i < TENSORS; i++) {
        wte_tensor t;
        uint64_t bytes;
        HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
        HOLDS(t.dtype == (field(data, 1) == 3 ? WTE_F32 : WTE_BF16));
        HOLDS(wte__shape_bytes(t.shape, t.rank, wte_dtype_bytes(t.dtype), &bytes));
        HOLDS(bytes == t.bytes && bytes == n[i] * wte_dtype_bytes(t.dtype) && t.offset == at);
        HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
        at += bytes;
        if (i == 0) check_rows(f, data, &t);
    }
    HOLDS(at == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[4] = { 0xc6, 0xd7, 0x34, 0x01 };
    uint64_t n[TENSORS], bytes = HEADER;
    fuzz_open(data, size, check_file);
    if (size < 8) return 0;
    /* the first seven bytes are sizes, the eighth is added to the file's length */
    uint8_t header[HEADER] = { 0 };
    memcpy(header, magic, sizeof magic);
    header[4] = data[0] & 1 ? 3 : 5;
    for (unsigned i = 2; i < 8; i++) header[(size_t)4 * i] = data[i - 1] % 12;
    numbers_of(header, n);
    for (unsigned i = 0; i < TENSORS; i++) bytes += n[i] * (data[0] & 1 ? 4 : 2);
    const uint64_t more = data[7] & 128 ? data[7] % 4 : 0;
    bool sound = more == 0 && header[12] <= header[28];
    for (unsigned i = 2; i < 8; i++) sound = sound && field(header, i) > 0;
    bytes += more;
    uint8_t *file = malloc(bytes);
    HOLDS(file != NULL);
    memcpy(file, header, HEADER);
    for (uint64_t i = HEADER; i < bytes; i++) file[i] = (uint8_t)(i * 37 + i / 256);
    HOLDS(fuzz_open(file, bytes, check_file) == sound);
    if (bytes > HEADER) fuzz_open(file, bytes - 1, check_file);
    free(file);
    return 0;
}
