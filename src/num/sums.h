/* What every instruction set's sums of products have in common: the job, and the functions that the
 * table of kernels names. */
#ifndef WTE_SRC_NUM_SUMS_H
#define WTE_SRC_NUM_SUMS_H
#include <stdbool.h>
#include <stddef.h>

#define LANES 32u /* of each sum */

typedef struct sums_job {
    const char *rows;
    size_t n_rows, dim, squared;
    const float *q;
    float *out;
} sums_job;

/* run(job, size, read, distances): `read` reads elements of `size` bytes, as run wants them. */
#define SUMS_KERNELS(type, isa, run, size, read)                                                   \
    static void products_##type##_##isa(const void *rows, size_t n_rows, const float *q,           \
                                        size_t dim, size_t squared, float *out)                    \
    {                                                                                              \
        const sums_job job = { rows, n_rows, dim, squared, q, out };                               \
        run(&job, size, read, false);                                                              \
    }                                                                                              \
    static void distances_##type##_##isa(const void *rows, size_t n_rows, const float *q,          \
                                         size_t dim, size_t squared, float *out)                   \
    {                                                                                              \
        const sums_job job = { rows, n_rows, dim, squared, q, out };                               \
        run(&job, size, read, true);                                                               \
    }
#endif
