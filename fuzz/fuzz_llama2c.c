/* Checkpoints of llama2.c over any bytes, and over a header of small sizes that the input chooses.
 *
 * Properties: the tensors of an accepted file tile it from the header to its end; the rows of the
 * table are the bytes that lie there; a file of which the sizes agree is accepted, and no other. */
#include "fuzz.h"

#include <string.h>

#include "base/checked.h"

static uint64_t header_bytes(const uint8_t *data)
{
    static const uint8_t magic[4] = { 0x32, 0x34, 0x6b, 0x61 };
    return memcmp(data, magic, 4) == 0 ? 256 : 28;
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    wte_error err = { 0 };
    if (wte_file_format(f) != WTE_FORMAT_LLAMA2C) return;
    HOLDS(size > 28);
    uint64_t at = header_bytes(data), number;
    for (uint64_t i = 0; i < wte_file_n_tensors(f); i++) {
        wte_tensor t;
        uint64_t bytes;
        HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
        HOLDS(t.dtype == WTE_F32 && t.offset == at);
        HOLDS(wte__shape_bytes(t.shape, t.rank, 4, &bytes) && bytes == t.bytes);
        at += bytes;
    }
    HOLDS(at == size);
    wte_row_source rows;
    wte_tensor table;
    uint8_t row[4096];
    HOLDS(wte_file_find(f, "token_embedding_table", 21, &number, &err) == WTE_OK);
    HOLDS(wte_file_tensor(f, number, &table, &err) == WTE_OK);
    HOLDS(wte_file_row_source(f, number, &rows, &err) == WTE_OK);
    for (uint64_t k = 0; k < rows.rows && rows.row_bytes <= sizeof row && k < 8; k++) {
        HOLDS(rows.read_block(rows.ctx, k, 1, row, &err) == WTE_OK);
        HOLDS(memcmp(row, data + table.offset + k * rows.row_bytes, rows.row_bytes) == 0);
    }
}

/* How many numbers follow the header, by another reading of the format than the library's. */
static uint64_t numbers_of(const int32_t f[7], bool apart)
{
    const uint64_t dim = (uint64_t)f[0], hidden = (uint64_t)f[1], layers = (uint64_t)f[2];
    const uint64_t each = dim / (uint64_t)f[3], kv = each * (uint64_t)f[4];
    const uint64_t table = (uint64_t)f[5] * dim;
    const uint64_t layer = 2 * dim + 2 * dim * dim + 2 * kv * dim + 3 * hidden * dim;
    return table + layers * layer + dim + 2 * ((uint64_t)f[6] * (each / 2)) + (apart ? table : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 8) return 0;
    /* seven bytes choose the sizes, the eighth whether the head is apart and what is missing */
    int32_t f[7];
    f[4] = 1 + data[4] % 3;
    f[3] = f[4] * (1 + data[3] % 3);
    f[0] = f[3] * (1 + data[0] % 4);
    f[1] = 1 + data[1] % 12;
    f[2] = 1 + data[2] % 3;
    f[5] = 1 + data[5] % 16;
    f[6] = 1 + data[6] % 8;
    const bool apart = data[7] & 1;
    const uint64_t bytes = 28 + 4 * numbers_of(f, apart),
                   more = data[7] & 128 ? data[7] >> 1 & 3 : 0;
    uint8_t *file = malloc(bytes + more);
    HOLDS(file != NULL);
    for (uint64_t i = 28; i < bytes + more; i++) file[i] = (uint8_t)(i * 37 + i / 256);
    for (size_t i = 0; i < 7; i++) {
        const uint32_t value = (uint32_t)(i == 5 && apart ? -f[i] : f[i]);
        for (unsigned b = 0; b < 4; b++) file[4 * i + b] = (uint8_t)(value >> 8 * b);
    }
    HOLDS(fuzz_open(file, bytes + more, check_file) == (more == 0));
    fuzz_open(file, bytes - 1, check_file);
    free(file);
    return 0;
}
