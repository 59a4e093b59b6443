/* Statistics of a row, for any vector width. An instruction set's file defines
 *
 *     row_sums                                   64 lanes, as docs/kernels.md names them
 *     static inline row_sums no_sums(void)       all of them 0
 *     static inline void add_squares_<type>(row_sums *sums, const char *group)
 *         adds the squares of 64 elements, each rounded before it is added
 *     static inline void finish_stats(const row_sums *sums, wte__row_stats *out)
 *
 * and then includes this and names ROW_STATS_KERNELS. Everything is static, so that no code of one
 * instruction set can be linked into another's; and inlined, so that the sums stay in registers. */
#ifndef WTE_SRC_NUM_ROW_STATS_H
#define WTE_SRC_NUM_ROW_STATS_H
#include <string.h>

#include "num/kernels.h"

#define STATS_GROUP 64u /* elements: as many as there are lanes */

typedef void (*stats_add)(row_sums *sums, const char *group);

/* The last elements go through a buffer of zeros, whose squares add nothing. */
static inline __attribute__((always_inline)) void row_stats(const char *row, size_t n, size_t size,
                                                            stats_add add, wte__row_stats *out)
{
    row_sums sums = no_sums();
    for (; n >= STATS_GROUP; n -= STATS_GROUP, row += STATS_GROUP * size) add(&sums, row);
    if (n) {
        char last[STATS_GROUP * sizeof(float)] = { 0 };
        memcpy(last, row, n * size);
        add(&sums, last);
    }
    finish_stats(&sums, out);
}

#define ROW_STATS_KERNEL(type, size, isa)                                                          \
    static void type##_row_stats_##isa(const void *row, size_t n, wte__row_stats *out)             \
    {                                                                                              \
        row_stats(row, n, size, add_squares_##type, out);                                          \
    }
#define ROW_STATS_KERNELS(isa)                                                                     \
    ROW_STATS_KERNEL(f32, 4, isa)                                                                  \
    ROW_STATS_KERNEL(f16, 2, isa)                                                                  \
    ROW_STATS_KERNEL(bf16, 2, isa)
#endif
