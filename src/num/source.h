/* Calls of a row source's functions, which may be the caller's own. The error is filled whatever
 * the function did with it: a failure without a reason gets one, and the status in it is the one
 * returned. */
#ifndef WTE_SRC_NUM_SOURCE_H
#define WTE_SRC_NUM_SOURCE_H
#include <wte/row_source.h>

/* rows->read_rows, which must be set. */
wte_status wte__source_rows(const wte_row_source *rows, const uint64_t *ids, size_t n, void *out,
                            wte_error *err);
/* rows->read_packed, which must be set. */
wte_status wte__source_packed(const wte_row_source *rows, uint64_t first, size_t n, void *out,
                              wte_error *err);
#endif
