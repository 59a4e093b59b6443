/* Files that take the place for a missing one, recognised by content: a Git LFS pointer, an error
 * page. */
#ifndef WTE_SRC_BASE_SNIFF_H
#define WTE_SRC_BASE_SNIFF_H
#include <wte/base.h>

#include "base/span.h"

/* Where text starts: past a byte order mark and white space. */
uint64_t wte__text_start(wte__bytes start);
/* The name of the root element of an XML text that begins with "<?xml"; empty when it is not XML or
 * the element starts after the given bytes. */
wte__bytes wte__xml_root(wte__bytes start);
/* E_FORMAT when a file of `size` bytes with this beginning is a Git LFS pointer, a web page or XML;
 * `wanted` is what it should be ("tensors", "tokens"). Else WTE_OK. */
wte_status wte__stand_in(wte__bytes start, uint64_t size, const char *path, const char *wanted,
                         wte_error *err);
#endif
