/* What the judgements of a table are made from: rows of length 1, cosines of pairs, draws, and
 * eigenvectors. Private to this room. */
#ifndef WTE_SRC_LEARN_EVAL_H
#define WTE_SRC_LEARN_EVAL_H
#include <wte/eval.h>

#include "base/alloc.h"
#include "base/error.h"

/* Rows of a table (all, or some in an order of their own) scaled to length 1, as a row source of
 * f32: nothing of the table is held but a length and a number for each row. */
typedef struct wte__unit {
    const wte_row_source *table;
    const wte_allocator *allocator;
    uint64_t *pick; /* n rows of the table */
    double *norm;   /* their lengths; NaN or infinite for one with NaN or an infinity in f32 */
    uint64_t n, cap;
    wte_row_source rows; /* n x cols; ctx is this struct, which must stay where it is */
} wte__unit;
/* pick NULL = rows 0 .. n - 1; it is copied. E_RANGE for a row beyond the table. */
wte_status wte__unit_make(wte__unit *u, const wte_row_source *table, const uint64_t *pick,
                          uint64_t n, const wte_allocator *a, wte_error *err);
void wte__unit_free(wte__unit *u); /* also of a zeroed one */
/* Drop rows that have no direction, in u or (when it is given, with as many rows) in other, from
 * both. Call it before rows are read. */
void wte__unit_settle(wte__unit *u, wte__unit *other);
/* The number of a row of the table among those picked, which must ascend; WTE_NO_INDEX. */
uint64_t wte__unit_find(const wte__unit *u, uint64_t row);

/* Cosines of n pairs of rows, in f64; NaN where a row is WTE_NO_INDEX, or has no direction. Rows
 * must be below the table's. */
typedef struct wte__cosines {
    const wte_row_source *table;
    const uint64_t *pairs; /* 2 n rows */
    uint64_t n;
    double *out;
    wte_pool *pool;
    const wte_allocator *allocator;
} wte__cosines;
wte_status wte__cosines_run(const wte__cosines *c, wte_error *err);
/* Pairs of different numbers below n (>= 2), drawn: 2 count numbers. */
void wte__draw_pairs(uint64_t seed, uint64_t n, uint64_t count, uint64_t *out);

/* Tell how far it is; E_CANCELLED when that is answered with false. progress may be NULL. */
wte_status wte__eval_tell(const wte_progress *progress, uint64_t done, uint64_t total,
                          wte_error *err);

/* Eigenvalues of a symmetric matrix without negative ones, and its eigenvectors if they are wanted.
 *
 *  a        n x n, by rows; is used up, and becomes the unit eigenvectors, a row each, in the order
 *           of `root`; a row of zeros where the eigenvalue is 0
 *  root     n square roots of the eigenvalues, falling: the singular values of X for X^T X; what is
 *           n roundings of the largest eigenvalue or less is 0
 *  The same bits for any number of threads. Time grows with n^3; eigenvectors take three times as
 *  long as eigenvalues alone, and n x n numbers more. */
wte_status wte__eigen(double *a, size_t n, bool vectors, double *root, wte_pool *pool,
                      const wte_allocator *al, wte_error *err);
#endif
