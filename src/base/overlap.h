/* Output must not overlap input: input that is still to be read would be corrupted silently. */
#ifndef WTE_SRC_BASE_OVERLAP_H
#define WTE_SRC_BASE_OVERLAP_H
#include <wte/base.h>

/* Memory of the caller: rows of row_bytes, stride bytes from one to the next (0 = tight); sizes are
 * checked against overflow. Empty when `at` is NULL or it has no bytes. */
typedef struct wte__piece {
    const char *name; /* "the output", "the table" */
    const void *at;
    uint64_t rows, row_bytes, stride;
} wte__piece;

/* E_ARGUMENT, "<what>: <written> and <read> overlap by N bytes", when they do. Rows that
 * interleave at one stride do not overlap. */
wte_status wte__no_overlap(const char *what, wte__piece written, wte__piece read, wte_error *err);
#endif
