/* The GGUF reader over any bytes.
 *
 * Properties: every tensor of an accepted file lies inside it, none overlaps the next, each begins
 * at its alignment, and has the size that shape and type give; names lead to their tensors; rows
 * read one by one are those read as a block; tokens take no more than the file has. */
#include "fuzz.h"

#include <string.h>

#include "base/checked.h"
#include "format/gguf.h"

static void check_bytes_of(const wte_tensor *t)
{
    const uint64_t per = t->block ? wte_block_elements(t->block) : 1;
    const uint64_t each = t->block ? wte_block_bytes(t->block) : wte_dtype_bytes(t->dtype);
    uint64_t elements;
    if (t->foreign_type) { /* its size is what lies up to the next one */
        HOLDS(t->dtype == WTE_DTYPE_NONE && t->block == WTE_BLOCK_NONE);
        return;
    }
    HOLDS((t->dtype == WTE_DTYPE_NONE) == (t->block != WTE_BLOCK_NONE));
    HOLDS(each > 0 && wte__shape_bytes(t->shape, t->rank, 1, &elements));
    HOLDS(elements % per == 0 && elements / per * each == t->bytes);
}

static void check_rows(const wte_file *f, uint64_t i, bool foreign)
{
    enum { ROWS = 20 }; /* more than are decoded out of a map */
    wte_row_source rows;
    wte_error err = { 0 };
    const wte_status status = wte_file_row_source(f, i, &rows, &err);
    if (status != WTE_OK) {
        HOLDS(status == (foreign ? WTE_E_UNSUPPORTED : WTE_E_SHAPE));
        return;
    }
    HOLDS(!foreign);
    const uint64_t size = rows.cols * wte_dtype_bytes(rows.dtype);
    if (rows.rows == 0 || size == 0 || rows.cols > 65536) return;
    const uint64_t n = rows.rows < ROWS ? rows.rows : ROWS;
    uint64_t ids[ROWS];
    uint8_t *block = malloc((size_t)(n * size)), *single = malloc((size_t)(n * size));
    HOLDS(block && single);
    for (uint64_t k = 0; k < n; k++) ids[k] = rows.rows - 1 - k;
    HOLDS(rows.read_block(rows.ctx, rows.rows - n, (size_t)n, block, &err) == WTE_OK);
    HOLDS(rows.read_rows(rows.ctx, ids, (size_t)n, single, &err) == WTE_OK);
    for (uint64_t k = 0; k < n; k++)
        HOLDS(memcmp(block + (n - 1 - k) * size, single + k * size, (size_t)size) == 0);
    for (uint64_t k = 0; k < n && k < 3; k++) {
        HOLDS(wte_row_source_read(&rows, ids[k], single, &err) == WTE_OK);
        HOLDS(memcmp(block + (n - 1 - k) * size, single, (size_t)size) == 0);
    }
    free(block);
    free(single);
}

static void check_tensors(const wte_file *f, uint64_t size)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < wte_file_n_tensors(f); i++) {
        wte_tensor t;
        wte_error err = { 0 };
        uint64_t found = 0;
        HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
        HOLDS(t.offset >= end && t.offset <= size && t.bytes <= size - t.offset);
        HOLDS(t.name[t.name_bytes] == '\0' && t.name_bytes < 64 && t.rank <= 4);
        HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
        end = t.offset + t.bytes;
        check_bytes_of(&t);
        if (i < 8) check_rows(f, i, t.foreign_type != 0);
    }
}

static void check_tokens(const wte_file *f, uint64_t size)
{
    const wte_token_list *tokens;
    wte_error err = { 0 };
    const wte_status status = wte_file_tokens(f, &tokens, &err);
    if (status != WTE_OK) {
        HOLDS(tokens == NULL && (status == WTE_E_NOT_FOUND || status == WTE_E_FORMAT));
        return;
    }
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < tokens->n; i++) {
        const wte__bytes text = wte__token_list_text(tokens, i);
        HOLDS(text.data != NULL && tokens->tag[i] >= WTE_TAG_NORMAL &&
              tokens->tag[i] <= WTE_TAG_BYTE);
        bytes += text.size;
    }
    HOLDS(tokens->n <= size / 8 && bytes <= size);
}

static void check_metadata(const wte_file *f)
{
    const char *value, *key;
    uint64_t i = 0;
    for (; (key = wte_file_metadata(f, i, &value)) != NULL; i++) {
        bool found;
        uint64_t n;
        HOLDS(value != NULL && strlen(value) < (size_t)64 << 20);
        const wte_status status = wte__gguf_count(wte__file_gguf(f), key, &n, &found, NULL);
        HOLDS(status == WTE_OK || status == WTE_E_FORMAT);
    }
    HOLDS(i == wte__file_gguf(f)->n);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    (void)data;
    check_tensors(f, size);
    check_tokens(f, size);
    check_metadata(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 4 && memcmp(data, "GGUF", 4) == 0) fuzz_open(data, size, check_file);
    return 0;
}
