/* Files packed by gzip: unpacked into memory once, and then read as what they hold. */
#ifndef WTE_SRC_FORMAT_GZ_H
#define WTE_SRC_FORMAT_GZ_H
#include "format/format.h"

bool wte__gz_is(const wte__head *head);
/* All members, one behind the other, in a buffer of *cap bytes that is released with wte__free.
 * E_LIMIT when they unpack to more than a file of this size may. */
wte_status wte__gz_unpack(const wte_file *f, const wte__part *part, uint8_t **out, uint64_t *bytes,
                          size_t *cap, wte_error *err);

/* zlib's memory, from the allocator that is its opaque pointer (unzip.c). */
void *wte__zlib_alloc(void *allocator, unsigned items, unsigned size);
void wte__zlib_free(void *allocator, void *p);
#endif
