/* .npz archives from any bytes.
 *
 * Properties: the arrays of an accepted archive lie inside it, or inside what is unpacked of it;
 * each has the size that its shape and type give, is found by its name, and can be read to its end.
 */
#include "fuzz.h"

#include <string.h>

#include "base/checked.h"

static void check_array(const wte_file *f, uint64_t i, uint64_t size)
{
    wte_tensor t;
    wte_error err = { 0 };
    uint64_t bytes, found;
    uint8_t last;
    HOLDS(wte_file_tensor(f, i, &t, &err) == WTE_OK);
    HOLDS(wte_file_find(f, t.name, t.name_bytes, &found, &err) == WTE_OK && found == i);
    const uint64_t part = wte_file_shard_bytes(f, t.shard);
    HOLDS(t.shard < wte_file_n_shards(f) && t.offset <= part && t.bytes <= part - t.offset);
    HOLDS(t.shard > 0 || part == size);
    HOLDS(wte__shape_bytes(t.shape, t.rank, wte_dtype_bytes(t.dtype), &bytes) || t.bytes == 0);
    HOLDS(bytes == t.bytes);
    if (t.bytes) HOLDS(wte_file_read(f, i, t.bytes - 1, &last, 1, &err) == WTE_OK);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    (void)data;
    if (wte_file_format(f) != WTE_FORMAT_NPZ) return;
    for (uint64_t i = 0; i < wte_file_n_tensors(f); i++) check_array(f, i, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    return 0;
}
