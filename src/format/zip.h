/* Zip archives: what is in them and where; whole entries, unpacked and checked.
 *
 * Read only. Sizes come from the central directory, since writers that stream leave zeros in the
 * local headers; where an entry's data begin is told by its local header alone, whose extra field
 * the directory need not repeat. */
#ifndef WTE_SRC_FORMAT_ZIP_H
#define WTE_SRC_FORMAT_ZIP_H
#include "format/format.h"

#define WTE__ZIP_STORED   0u
#define WTE__ZIP_DEFLATED 8u

typedef struct wte__zip_entry {
    const char *name; /* UTF-8 without a NUL inside, and NUL-terminated */
    uint64_t header_at, packed, bytes;
    uint32_t name_bytes, crc;
    uint16_t method;
} wte__zip_entry;

typedef struct wte__zip {
    wte__file file; /* borrowed */
    const char *path;
    const wte_allocator *allocator;
    uint64_t max_expansion; /* as in wte_file_options; 0 after wte__zip_open */
    char *directory;        /* as read; names point into it */
    bool owned;             /* the directory is freed by wte__zip_close */
    uint64_t directory_at, directory_bytes;
    wte__zip_entry *entries; /* in order of their data; none overlaps another */
    size_t n, cap;
    wte__names names; /* -> number of an entry */
} wte__zip;

/* Reads and checks the directory. *z is to be closed whatever comes back. The path must outlive it;
 * the file is not owned. */
wte_status wte__zip_open(wte__zip *z, const wte__file *file, const char *path,
                         const wte_allocator *a, wte_error *err);
void wte__zip_close(wte__zip *z);
bool wte__zip_find(const wte__zip *z, const char *name, size_t bytes, size_t *i);
/* Where the data of entry i begin in the file; its `packed` bytes are shown to lie inside it. */
wte_status wte__zip_data(const wte__zip *z, size_t i, uint64_t *at, wte_error *err);
/* Entry i, unpacked, into `bytes` bytes at out; its CRC is checked. */
wte_status wte__zip_read(const wte__zip *z, size_t i, void *out, wte_error *err);
/* Refuses (E_LIMIT) unpacked bytes, of all entries that are wanted, beyond what the archive's own
 * size justifies. */
wte_status wte__zip_justified(const wte__zip *z, uint64_t unpacked, wte_error *err);
/* Unpacks entries of the archive that is part `of` into one new part of f, which gets the memory;
 * at[k] gets where entry number list[k] begins there. n > 0. */
wte_status wte__zip_unpack(wte_file *f, uint32_t of, const wte__zip *z, const size_t *list,
                           size_t n, uint64_t *at, wte_error *err);
#endif
