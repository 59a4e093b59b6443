/* The parts of a gradient: which row each belongs to, row by row. What wte_grad adds up and what
 * the fused steps of optimizers consume, so that both make the same sums. */
#ifndef WTE_SRC_TRAIN_PARTS_H
#define WTE_SRC_TRAIN_PARTS_H
#include <wte/grad.h>

#include "num/kernels.h"

/* Rows that are named, each once, with its parts in the order of ids. Part p of row u, with
 * first[u] <= p < first[u + 1], is vector from[p] of d_out times factor[p]. Rows are ascending;
 * with any_order there may come rows of one part before, in the order of their ids, which costs
 * less. */
typedef struct wte__contributions {
    bool any_order; /* asked for, before the calls below */
    uint64_t n;     /* rows named, */
    uint64_t alone; /* rows with a single contribution, which come first, in the order of their
                       contributions */
    uint64_t count; /* parts in all */
    const uint64_t *rows;       /* n of them */
    const uint64_t *first;      /* n + 1 */
    const uint32_t *from;       /* count; fewer than 2^32 vectors in a call (E_LIMIT) */
    const float *factor;        /* count, or NULL: all 1 */
    const uint64_t *columns_of; /* max bags: part p takes the columns d with max_at[from[p] * cols +
                                   d] == member[p]; NULL elsewhere */
    const uint64_t *member;
    const void *d_out;
    size_t row_bytes;
    wte_dtype d_out_dtype;
    uint64_t cols;
    bool f64_sums;
    /* memory of the above, and scratch of the ordering */
    void *block, *scratch;
    size_t bytes, scratch_bytes;
    const wte_allocator *allocator;
} wte__contributions;

/* What a backward call was given, in one, to stay within a handful of arguments. */
typedef struct wte__bag_back {
    wte_ids ids, offsets;       /* lookups have no offsets, */
    const wte_bag_options *bag; /* and no bags */
    const void *d_out;
    size_t row_bytes;
} wte__bag_back;
wte_status wte__contributions_of_lookup(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                        const wte_backward_options *opt,
                                        const wte_grad_options *how, wte__contributions *out,
                                        wte_error *err);
wte_status wte__contributions_of_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                     const wte_backward_options *opt, const wte_grad_options *how,
                                     wte__contributions *out, wte_error *err);
/* The same in the memory of earlier parts, where it is enough: *p is zeros but for any_order, or
 * what one of these four has left, also by failing. Step after step in fresh memory costs as much
 * as the sums.
 */
wte_status wte__contributions_again_lookup(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                           const wte_backward_options *opt,
                                           const wte_grad_options *how, wte__contributions *p,
                                           wte_error *err);
wte_status wte__contributions_again_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                        const wte_backward_options *opt,
                                        const wte_grad_options *how, wte__contributions *p,
                                        wte_error *err);
void wte__contributions_free(wte__contributions *p);

/* The sum of the parts of row number u (below n), columns [begin, end), into sum[0 .. end - begin):
 * from 0, part by part, rounded to f32 once. Thread-safe. */
void wte__contributions_sum(const wte__contributions *p, uint64_t u, uint64_t begin, uint64_t end,
                            float *sum);

/* All columns of n consecutive rows from index u on. */
void wte__contributions_sums(const wte__contributions *p, uint64_t u, uint64_t n, float *sums);

/* The same of n rows from number u on by one call of a kernel: the caller says where the sums go,
 * and runs it. */
wte__scatter wte__contributions_job(const wte__contributions *p, uint64_t u, uint64_t n,
                                    uint64_t begin, uint64_t end);
void wte__contributions_run(const wte__contributions *p, const wte__scatter *job);
#endif
