/* What a call writes against the rows and ids that it reads. */
#ifndef WTE_SRC_NUM_APART_H
#define WTE_SRC_NUM_APART_H
#include <wte/rows.h>

#include "base/apart.h"
#include "base/error.h"

/* Rows that a reader brings lie nowhere that could be compared. Both have been checked. */
static inline wte_status wte__apart_from_rows(const char *what, wte__piece written,
                                              const wte_rows *r, wte_error *err)
{
    const wte__piece view = { "the table", r->data, r->rows, r->cols * wte_dtype_bytes(r->dtype),
                              r->row_bytes };
    const wte__piece packed = { "the table", r->packing ? r->packed : NULL, r->rows,
                                wte_packed_bytes(r->packing, r->cols), r->packed_row_bytes };
    WTE_TRY(wte__apart(what, written, view, err));
    return wte__apart(what, written, packed, err);
}

static inline wte_status wte__apart_from_ids(const char *what, wte__piece written, wte_ids ids,
                                             wte_error *err)
{
    const wte__piece list = { "the ids", ids.data, ids.count, wte_dtype_bytes(ids.type), 0 };
    return wte__apart(what, written, list, err);
}
#endif
