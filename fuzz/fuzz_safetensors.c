/* The safetensors reader over any bytes, as a file and as the header of one.
 *
 * Properties: what is accepted tiles its file without hole or overlap, every size follows from
 * shape and type, every name finds its tensor; rows read are the rows of the view; what our writer
 * makes of it is read again as the same, and written again as the same bytes. */
#include "fuzz.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

#define ROWS 8u

static wte_tensor tensor_at(const wte_file *f, uint64_t i)
{
    wte_tensor t;
    wte_error err;
    HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
    return t;
}

static void check_rows(const wte_file *f, uint64_t i, const uint8_t *data, const wte_tensor *t)
{
    wte_row_source rows;
    wte_error err = { 0 };
    const wte_status status = wte_file_row_source(f, i, &rows, &err);
    if (status != WTE_OK) {
        HOLDS(status == WTE_E_SHAPE || status == WTE_E_UNSUPPORTED);
        return;
    }
    HOLDS(rows.dtype == t->dtype && rows.data == data + t->offset);
    const uint64_t shape[] = { rows.rows, rows.row_bytes };
    uint64_t bytes;
    HOLDS(wte__shape_bytes(shape, 2, 1, &bytes) && bytes == t->bytes);
    if (bytes == 0 || rows.row_bytes > 4096) return;
    uint64_t ids[ROWS];
    uint8_t *out = malloc(ROWS * (size_t)rows.row_bytes);
    HOLDS(out != NULL);
    for (uint64_t k = 0; k < ROWS; k++) ids[k] = k * k * 7 % rows.rows;
    HOLDS(rows.read_rows(rows.ctx, ids, ROWS, out, &err) == WTE_OK);
    for (uint64_t k = 0; k < ROWS; k++)
        HOLDS(memcmp(out + k * rows.row_bytes, data + t->offset + ids[k] * rows.row_bytes,
                     rows.row_bytes) == 0);
    const uint64_t n = rows.rows < ROWS ? rows.rows : ROWS, first = rows.rows - n;
    HOLDS(rows.read_block(rows.ctx, first, (size_t)n, out, &err) == WTE_OK);
    HOLDS(memcmp(out, data + t->offset + first * rows.row_bytes, n * rows.row_bytes) == 0);
    free(out);
}

static void check_tensors(const wte_file *f, const uint8_t *data, size_t size)
{
    uint64_t at = 0, bits, found;
    wte_error err;
    HOLDS(wte_file_format(f) == WTE_FORMAT_SAFETENSORS && wte_file_n_unlisted_tensors(f) == 0);
    for (uint64_t i = 0; i < wte_file_n_tensors(f); i++) {
        const wte_tensor t = tensor_at(f, i);
        HOLDS(t.offset >= 10 && t.offset <= size && t.bytes <= size - t.offset);
        HOLDS(i == 0 || t.offset == at);
        at = t.offset + t.bytes;
        HOLDS(wte__shape_bits(t.shape, t.rank, t.dtype, &bits) && bits == t.bytes * 8);
        HOLDS(t.name[t.name_bytes] == '\0' && t.shard == 0);
        HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
        check_rows(f, i, data, &t);
    }
    HOLDS(wte_file_n_tensors(f) == 0 || at == size);
}

/* The file that our writer makes: text, then data. Length in *size; NULL when a name holds a NUL,
 * which a writer's names cannot. */
static uint8_t *write_again(const wte_file *f, const uint8_t *data, size_t *size)
{
    enum { PAIRS = 64 };
    const uint64_t n = wte_file_n_tensors(f);
    const char *pairs[PAIRS][2];
    size_t n_pairs = 0;
    wte_error err = { 0 };
    wte__plan plan;
    wte_tensor *tensors = calloc((size_t)n + 1, sizeof *tensors);
    wte_tensor_out *outs = calloc((size_t)n + 1, sizeof *outs);
    HOLDS(tensors && outs);
    bool has_nul = false;
    for (; n_pairs < PAIRS; n_pairs++) {
        pairs[n_pairs][0] = wte_file_metadata(f, n_pairs, &pairs[n_pairs][1]);
        if (!pairs[n_pairs][0]) break;
    }
    for (uint64_t i = 0; i < n; i++) {
        const wte_tensor t = tensors[i] = tensor_at(f, i);
        const wte_tensor_out out = { t.name,           t.dtype,         t.rank,
                                     tensors[i].shape, data + t.offset, NULL };
        outs[i] = out;
        has_nul = has_nul || strlen(t.name) != t.name_bytes;
    }
    wte_status status = wte__plan_make(&plan, "again", outs, (size_t)n,
                                       (const char *const(*)[2])pairs, n_pairs, &err);
    uint8_t *text = NULL;
    if (status == WTE_OK) {
        *size = plan.n;
        for (size_t i = 0; i < n; i++) *size += plan.items[i].bytes;
        text = malloc(*size);
        HOLDS(text != NULL);
        memcpy(text, plan.text, plan.n);
        size_t at = plan.n;
        for (size_t i = 0; i < n; at += plan.items[i++].bytes)
            memcpy(text + at, plan.items[i].out->data, plan.items[i].bytes);
    } else {
        /* cut at a NUL, names or keys may be equal */
        HOLDS(status == WTE_E_ARGUMENT &&
              (has_nul || n_pairs > 1 || strstr(err.message, "'__metadata__'")));
    }
    wte__plan_free(&plan);
    free(tensors);
    free(outs);
    if (!has_nul) return text;
    free(text);
    return NULL;
}

static void check_same(const wte_file *a, const uint8_t *data_a, const wte_file *b,
                       const uint8_t *data_b)
{
    HOLDS(wte_file_n_tensors(a) == wte_file_n_tensors(b));
    for (uint64_t i = 0; i < wte_file_n_tensors(a); i++) {
        const wte_tensor t = tensor_at(a, i);
        uint64_t k;
        wte_error err;
        HOLDS(wte_file_find(b, t.name, t.name_bytes, &k, &err) == WTE_OK);
        const wte_tensor u = tensor_at(b, k);
        HOLDS(t.dtype == u.dtype && t.rank == u.rank && t.bytes == u.bytes);
        HOLDS(memcmp(t.shape, u.shape, sizeof t.shape) == 0);
        HOLDS(memcmp(data_a + t.offset, data_b + u.offset, t.bytes) == 0);
    }
}

static void check_writing(const wte_file *f, const uint8_t *data)
{
    size_t n, n_again;
    wte_error err = { 0 };
    wte_file *read;
    uint8_t *written = write_again(f, data, &n);
    if (!written) return;
    HOLDS(wte_file_open_memory(written, n, "again", NULL, &read, &err) == WTE_OK);
    check_same(f, data, read, written);
    uint8_t *twice = write_again(read, written, &n_again);
    HOLDS(twice && n_again == n && memcmp(twice, written, n) == 0);
    free(twice);
    wte_file_free(read);
    free(written);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    if (wte_file_format(f) != WTE_FORMAT_SAFETENSORS) return;
    check_tensors(f, data, size);
    check_writing(f, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 3) return 0;
    /* all but two bytes are a header, the two say how many bytes of data follow */
    const size_t n = size - 2, values = ((size_t)data[n] | (size_t)data[n + 1] << 8) % 512;
    uint8_t *file = malloc(8 + n + values);
    HOLDS(file != NULL);
    for (uint32_t i = 0; i < 8; i++) file[i] = (uint8_t)((uint64_t)n >> (8 * i));
    memcpy(file + 8, data, n);
    for (size_t i = 0; i < values; i++) file[8 + n + i] = (uint8_t)i;
    fuzz_open(file, 8 + n + values, check_file);
    free(file);
    return 0;
}
