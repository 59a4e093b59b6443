/* Which kernels read rows as they are stored, and what they have to know of them. */
#ifndef WTE_SRC_NUM_STORED_H
#define WTE_SRC_NUM_STORED_H
#include <wte/rowwise.h>

#include "num/kernels.h"

typedef struct wte__row_kernels {
    void (*lookup)(const wte__lookup *job);
    bool (*bags)(const wte__bags *job);
} wte__row_kernels;

/* Rows of elements that lie side by side; false for a type that no kernel reads. */
bool wte__stored_plain(wte_dtype type, uint64_t cols, const void *data, uint64_t row_bytes,
                       wte__stored *out, wte__row_kernels *kernels);
/* Rows of a packing; false for one that no kernel reads, or bags alone (blocks). */
bool wte__stored_packed(uint32_t packing, uint64_t cols, const void *data, uint64_t row_bytes,
                        wte__stored *out, wte__row_kernels *kernels);
/* Rows of blocks that bags are made of as they are stored, without a kernel for lookups. */
bool wte__stored_blocks(uint32_t packing, uint64_t cols, const void *data, uint64_t row_bytes,
                        wte__stored *out, wte__row_kernels *kernels);
/* Whether rows are those of wte_row_source_from_blocks; and such rows to f32 as a kernel of lookups
 * does it, with job->from and job->scale left out of account. */
bool wte__is_block_source(const wte_row_source *rows);
void wte__block_lookup(const wte_row_source *rows, const wte__lookup *job);
#endif
