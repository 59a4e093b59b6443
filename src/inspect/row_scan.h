/* One pass over all rows of a table, in blocks, by the threads of a pool. */
#ifndef WTE_SRC_TOOLS_PASS_H
#define WTE_SRC_TOOLS_PASS_H
#include <wte/row_source.h>

/* A lane is a share of the blocks with buffers of its own; one thread at a time works on it, and it
 * sees its blocks in ascending order. There are wte_pool_n_threads(pool) lanes. Which lane gets
 * which blocks is a matter of time: what is made of the lanes must not depend on it. */
typedef struct wte__row_scan {
    const wte_row_source *rows; /* cols > 0 */
    wte_dtype wide;             /* F32 or F64: what `values` is made of; NONE: nothing is widened */
    /* Rows first .. first + n - 1: raw in the stored type, values widened (for NONE raw again);
     * both tight. */
    void (*visit)(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                  const void *values);
    /* May be NULL. Asked between rounds, by the calling thread: true ends the pass early. */
    bool (*enough)(void *ctx);
    void *ctx;
    wte_pool *pool;
    const wte_progress *progress; /* rows */
    const wte_allocator *allocator;
} wte__row_scan;

wte_status wte__row_scan_run(const wte__row_scan *pass, wte_error *err);
#endif
