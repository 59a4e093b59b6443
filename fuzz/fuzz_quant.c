/* Quantised tables: a config and a safetensors file in one input, cut at the first NUL byte. Every
 * tensor is asked whether it is the codes of a table.
 *
 * Properties: what is accepted has rows that can all be read, the same in blocks, one by one and
 * without the map; what is refused says so in one line; memory stays proportional. */
#include "fuzz.h"

#include <string.h>
#include <wte/format.h>

#include "model/quant.h"

#define ROWS_MOST   160u
#define VALUES_MOST 65536u

static void check_rows(const wte_row_source *rows, const wte_row_source *unmapped)
{
    wte_error err = { 0 };
    const uint64_t most = VALUES_MOST / rows->cols;
    const uint64_t n = rows->rows < ROWS_MOST ? rows->rows : ROWS_MOST;
    const size_t bytes = (size_t)rows->cols * 4;
    if (most == 0) return;
    const size_t now = (size_t)(n < most ? n : most);
    const uint64_t first = rows->rows - now;
    uint8_t *all = malloc(2 * now * bytes), *again = all + now * bytes;
    HOLDS(all != NULL);
    HOLDS(rows->read_block(rows->ctx, first, now, all, &err) == WTE_OK);
    for (size_t i = now; i-- > 0;) {
        const uint64_t id = first + i;
        HOLDS(rows->read_rows(rows->ctx, &id, 1, again + i * bytes, &err) == WTE_OK);
    }
    HOLDS(memcmp(all, again, now * bytes) == 0);
    HOLDS(unmapped->read_block(unmapped->ctx, first, now, again, &err) == WTE_OK);
    HOLDS(memcmp(all, again, now * bytes) == 0);
    free(all);
}

static void check_table(const wte_file *f, uint64_t i, const wte__quant_said *said, fuzz_memory *m)
{
    wte__quant q, unmapped;
    wte_error err = { 0 };
    const wte_status status = wte__quant_open(f, i, said, "fuzz", &m->allocator, &q, &err);
    if (status != WTE_OK) {
        HOLDS(status == WTE_E_FORMAT || status == WTE_E_UNSUPPORTED || status == WTE_E_LIMIT ||
              status == WTE_E_MEMORY);
        fuzz_check_error(&err, status, UINT64_MAX);
        HOLDS(q.order == NULL && q.first == NULL);
        return;
    }
    if (q.dim) {
        HOLDS(q.rows > 0 && q.scheme[0] && q.n_parts > 1);
        const wte_row_source rows = wte__quant_rows(&q);
        unmapped = q;
        unmapped.packed.map = unmapped.scale.map = unmapped.zero.map = NULL;
        unmapped.nested_scale.map = NULL;
        const wte_row_source read = wte__quant_rows(&unmapped);
        HOLDS(wte_check_rows(&rows, &err) == WTE_OK);
        check_rows(&rows, &read);
    }
    wte__quant_clear(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_memory memory;
    wte__arena arena;
    wte__quant_said said;
    wte_error err = { 0 };
    wte_file *f = NULL;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    if (!nul) return 0;
    const size_t text = (size_t)(nul - data);
    fuzz_memory_init(&memory);
    wte__arena_init(&arena, &memory.allocator);
    opt.allocator = &memory.allocator;
    const bool whole = text && data[text - 1] == ' ';
    const wte_status status =
        wte__quant_said_parse(&said, data, text, "fuzz.json", whole, &arena, &err);
    if (status != WTE_OK) {
        HOLDS(status == WTE_E_FORMAT);
        fuzz_check_error(&err, status, text);
        said = (wte__quant_said){ .method = "", .version = "", .format = "", .mode = "" };
    }
    if (wte_file_open_memory(nul + 1, size - text - 1, "fuzz", &opt, &f, &err) == WTE_OK)
        for (uint64_t i = 0; i < wte_file_n_tensors(f); i++) check_table(f, i, &said, &memory);
    wte_file_free(f);
    wte__arena_clear(&arena);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
