/* What a call writes must be apart from what it reads: the caller's slip would change numbers that
 * are still to be read, without a word. */
#ifndef WTE_SRC_BASE_APART_H
#define WTE_SRC_BASE_APART_H
#include <wte/base.h>

/* Memory of the caller's: rows of row_bytes, stride apart (0 = tight); sizes that have been checked
 * to fit. Nothing, where at is NULL or there are no bytes. */
typedef struct wte__piece {
    const char *name; /* "the output", "the table" */
    const void *at;
    uint64_t rows, row_bytes, stride;
} wte__piece;

/* E_ARGUMENT, "<what>: <written> and <read> overlap by N bytes", when they do. Rows that lie
 * between each other's, at one stride, are apart. */
wte_status wte__no_overlap(const char *what, wte__piece written, wte__piece read, wte_error *err);
#endif
