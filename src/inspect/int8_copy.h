/* A rough copy of rows, one byte a number, for rows that are dear to read: those of columns,
 * joined pieces, n-grams, packed lines. It tells of most pairs that they are not near, and of none
 * that is. */
#ifndef WTE_SRC_TOOLS_ROUGH_H
#define WTE_SRC_TOOLS_ROUGH_H
#include <wte/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wte__int8_copy {
    const wte_allocator *allocator;
    uint64_t rows;
    size_t cols;
    int8_t *steps; /* rows x cols; NULL: there is no copy */
    float *off;    /* of each row: the angle between it and its copy, at most */
} wte__int8_copy;

/* E_MEMORY, or WTE_OK; no copy is made, and all stays as it is, of what is over the limit. */
wte_status wte__int8_copy_make(wte__int8_copy *r, uint64_t rows, size_t cols,
                               const wte_allocator *allocator, wte_error *err);
void wte__int8_copy_free(wte__int8_copy *r);

/* Rows may be set by several threads, each row once. */
void wte__int8_copy_set(const wte__int8_copy *r, uint64_t row, const float *x);

/* Surely the cosine of the two rows is below `cosine`. */
bool wte__int8_copy_apart(const wte__int8_copy *r, uint64_t a, uint64_t b, double cosine);
#endif
