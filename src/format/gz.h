/* Files packed by gzip: unpacked into memory once, and then read as what they hold. */
#ifndef WTE_SRC_FORMAT_GZ_H
#define WTE_SRC_FORMAT_GZ_H
#include "format/format.h"

bool wte__gz_is(const wte__head *head);
/* All members, one behind the other, in a buffer of *cap bytes that is released with wte__free.
 * E_LIMIT when they unpack to more than a file of this size may. */
wte_status wte__gz_unpack(const wte_file *f, const wte__part *part, uint8_t **out, uint64_t *bytes,
                          size_t *cap, wte_error *err);

/* What a packed file of this size may take in memory when it is unpacked. max_expansion as in
 * wte_file_options. */
uint64_t wte__unpacked_most(uint64_t packed, uint64_t max_expansion);
/* E_LIMIT when f was unpacked and there is no room for `more` bytes beside what came out. */
wte_status wte__gz_room(const wte_file *f, uint64_t more, wte_error *err);

/* zlib's memory, from the allocator that is its opaque pointer (unzip.c). */
void *wte__zlib_alloc(void *allocator, unsigned items, unsigned size);
void wte__zlib_free(void *allocator, void *p);
#endif
