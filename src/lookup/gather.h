/* Copy the rows that ids name out of a row source. The ids have been judged before. */
#ifndef WTE_SRC_LOOKUP_GATHER_H
#define WTE_SRC_LOOKUP_GATHER_H
#include "lookup/fetch.h"
#include "lookup/ids.h"

typedef struct wte__gather_job {
    const wte_row_source *rows;
    wte_ids ids;
    wte__id_rules rules;
    bool zeros; /* some ids are bad or ignored and yield zero vectors */
    wte_dtype out_type;
    uint8_t *out;
    size_t out_stride; /* bytes from one output row to the next */
    size_t out_bytes;  /* of one output row, > 0 */
    float scale;
    wte__norm_limit limit;
    wte_pool *pool;
    const wte_allocator *allocator;
} wte__gather_job;

/* Whether n rows of a source are copied from its data; else they are read. */
bool wte__gather_views(const wte_row_source *rows, uint64_t n_ids);
/* E_MEMORY, or what the row source says: then of the first block that failed, so that the error too
 * does not depend on the number of threads. */
wte_status wte__gather(const wte__gather_job *job, wte_error *err);
#endif
