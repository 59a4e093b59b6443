/* .npz archives from any bytes.
 *
 * Properties: the arrays of an accepted archive lie inside it, or inside what is unpacked of it;
 * each has the size that its shape and type give, is found by its name, and can be read to its end.
 */
#include "fuzz.h"

#include <string.h>
#include <wte/format.h>

#include "base/checked.h"

static void check_array(const wte_file *f, uint64_t i, uint64_t size)
{
    wte_tensor t;
    wte_error err = { 0 };
    uint64_t bytes, found;
    uint8_t last;
    HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
    HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
    const uint64_t part = wte_file_part_bytes(f, t.part);
    HOLDS(t.part < wte_file_parts(f) && t.offset <= part && t.bytes <= part - t.offset);
    HOLDS(t.part > 0 || part == size);
    HOLDS(wte_shape_bytes(t.shape, t.rank, wte_dtype_bytes(t.dtype), &bytes) || t.bytes == 0);
    HOLDS(bytes == t.bytes);
    if (t.bytes) HOLDS(wte_file_read(f, i, t.bytes - 1, &last, 1, &err) == WTE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_memory memory;
    wte_error err = { 0 };
    wte_file *f;
    wte_file_options opt = WTE_FILE_OPTIONS_INIT;
    fuzz_memory_init(&memory);
    opt.allocator = &memory.allocator;
    const wte_status status = wte_file_open_memory(data, size, "fuzz", &opt, &f, &err);
    if (status != WTE_OK)
        fuzz_check_error(&err, status, size);
    else if (wte_file_format(f) == WTE_FORMAT_NPZ)
        for (uint64_t i = 0; i < wte_file_tensors(f); i++) check_array(f, i, size);
    wte_file_free(f);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
