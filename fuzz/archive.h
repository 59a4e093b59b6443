/* Zip archives of stored members, for the targets that put a checkpoint of PyTorch around their
 * input. */
#ifndef WTE_FUZZ_ARCHIVE_H
#define WTE_FUZZ_ARCHIVE_H
#include "fuzz.h"

#include <string.h>
#include <zlib.h>

typedef struct fuzz_zip {
    uint8_t *data; /* to be freed */
    size_t n, cap, n_directory, members;
    uint8_t directory[1024];
} fuzz_zip;

static inline void fuzz_put(uint8_t *at, uint64_t v, int n)
{
    for (int i = 0; i < n; i++) at[i] = (uint8_t)(v >> (8 * i));
}

/* With room for `cap` bytes in all. */
static inline void fuzz_zip_begin(fuzz_zip *z, size_t cap)
{
    memset(z, 0, sizeof *z);
    z->cap = cap;
    z->data = malloc(cap);
    HOLDS(z->data != NULL);
}

static inline void fuzz_zip_add(fuzz_zip *z, const char *name, const void *content, size_t n)
{
    const size_t name_bytes = strlen(name);
    uint8_t *local = z->data + z->n, *entry = z->directory + z->n_directory;
    HOLDS(z->n + 30 + name_bytes + n <= z->cap);
    HOLDS(z->n_directory + 46 + name_bytes <= sizeof z->directory);
    memset(local, 0, 30);
    memcpy(local, "PK\3\4", 4);
    fuzz_put(local + 26, name_bytes, 2);
    memcpy(local + 30, name, name_bytes);
    if (n) memcpy(local + 30 + name_bytes, content, n);
    memset(entry, 0, 46);
    memcpy(entry, "PK\1\2", 4);
    fuzz_put(entry + 16, n ? crc32(0, content, (uInt)n) : 0, 4);
    fuzz_put(entry + 20, n, 4);
    fuzz_put(entry + 24, n, 4);
    fuzz_put(entry + 28, name_bytes, 2);
    fuzz_put(entry + 42, z->n, 4);
    memcpy(entry + 46, name, name_bytes);
    z->n += 30 + name_bytes + n;
    z->n_directory += 46 + name_bytes;
    z->members++;
}

static inline void fuzz_zip_end(fuzz_zip *z)
{
    const size_t at = z->n;
    HOLDS(at + z->n_directory + 22 <= z->cap);
    memcpy(z->data + at, z->directory, z->n_directory);
    z->n += z->n_directory;
    uint8_t *end = z->data + z->n;
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    fuzz_put(end + 8, z->members, 2);
    fuzz_put(end + 10, z->members, 2);
    fuzz_put(end + 12, z->n_directory, 4);
    fuzz_put(end + 16, at, 4);
    z->n += 22;
}
#endif
