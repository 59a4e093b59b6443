/* What a call writes against the rows and ids that it reads. */
#ifndef WTE_SRC_NUM_APART_H
#define WTE_SRC_NUM_APART_H
#include <wte/row_source.h>

#include "base/error.h"
#include "base/overlap.h"

/* Rows that a reader brings lie nowhere that could be compared. Both have been checked. */
static inline wte_status wte__no_overlap_with_source(const char *what, wte__piece written,
                                                     const wte_row_source *r, wte_error *err)
{
    const wte__piece view = { "the table", r->data, r->rows, r->cols * wte_dtype_bytes(r->dtype),
                              r->row_bytes };
    const wte__piece packed = { "the table", r->packing ? r->packed : NULL, r->rows,
                                wte_packed_bytes(r->packing, r->cols), r->packed_row_bytes };
    WTE_TRY(wte__no_overlap(what, written, view, err));
    return wte__no_overlap(what, written, packed, err);
}

static inline wte_status wte__no_overlap_with_ids(const char *what, wte__piece written, wte_ids ids,
                                                  wte_error *err)
{
    const wte__piece list = { "the ids", ids.data, ids.count, wte_dtype_bytes(ids.type), 0 };
    return wte__no_overlap(what, written, list, err);
}
#endif
