/* Zip archives from any bytes.
 *
 * Properties: the entries of an accepted archive lie inside it, in order, and do not overlap; each
 * is found by its name; what can be read has the checksum that the directory says, and reading it
 * again gives the same bytes. */
#include "fuzz.h"

#include <string.h>
#include <zlib.h>

#include "format/zip.h"

static void check_entry(const wte__zip *z, size_t i, const wte_allocator *a, uint64_t size)
{
    const wte__zip_entry *e = &z->entries[i];
    wte_error err = { 0 };
    uint64_t at;
    size_t found;
    HOLDS(strlen(e->name) == e->name_bytes);
    HOLDS(wte__zip_find(z, e->name, e->name_bytes, &found) && found == i);
    wte_status status = wte__zip_data(z, i, &at, &err);
    if (status != WTE_OK) {
        fuzz_check_error(&err, status, size);
        return;
    }
    const uint64_t end = i + 1 < z->n ? e[1].header_at : z->directory_at;
    HOLDS(at > e->header_at && at <= end && e->packed <= end - at);
    if (wte__zip_justified(z, e->bytes, &err) != WTE_OK) return;
    const size_t n = (size_t)e->bytes;
    uint8_t *out = wte__alloc_array(a, 2 * e->bytes + 1, 1);
    if (!out) return;
    status = wte__zip_read(z, i, out, &err);
    if (status != WTE_OK)
        fuzz_check_error(&err, status, size);
    else {
        HOLDS(crc32_z(crc32_z(0, NULL, 0), out, n) == e->crc);
        HOLDS(wte__zip_read(z, i, out + n, &err) == WTE_OK && memcmp(out, out + n, n) == 0);
    }
    wte__free(a, out, 2 * n + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_memory memory;
    wte_error err = { 0 };
    wte__zip z;
    wte__file file;
    fuzz_memory_init(&memory);
    wte__file_over(&file, data, size);
    const wte_status status = wte__zip_open(&z, &file, "fuzz", &memory.allocator, &err);
    if (status != WTE_OK)
        fuzz_check_error(&err, status, size);
    else
        for (size_t i = 0; i < z.n && i < 64; i++) check_entry(&z, i, &memory.allocator, size);
    wte__zip_close(&z);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
