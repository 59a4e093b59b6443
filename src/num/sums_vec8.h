/* Sums of products over vectors of 8 f32, for AVX2 and NEON; behind optim_<set>.h. */
#ifndef WTE_SRC_NUM_SUMS_EIGHTS_H
#define WTE_SRC_NUM_SUMS_EIGHTS_H
#include <string.h>

#include "num/simd_macros.h"
#include "num/sums.h"

/* Lanes 8k to 8k + 7 of both sums of a row. Eight chains of additions keep both units busy. */
typedef struct product_sums {
    vec first[4], square[4];
} product_sums;

/* How the elements of a group are taken. */
typedef struct taking {
    bool distances, squares;
} taking;

ALWAYS_INLINE void add_group(product_sums *sums, const char *row, const float *q, size_t size,
                             eight_to_f32 read, taking t)
{
    UNROLLED
    for (size_t k = 0; k < 4; k++) {
        const vec x = read(row + 8 * k * size), other = eight_f32((const char *)(q + 8 * k));
        const vec apart = vec_sub(x, other);
        sums->first[k] =
            t.distances ? vec_fma(apart, apart, sums->first[k]) : vec_fma(x, other, sums->first[k]);
        if (t.squares) sums->square[k] = vec_fma(x, x, sums->square[k]);
    }
}

ALWAYS_INLINE float sum_of_lanes(const vec lane[4])
{
    return vec_total(vec_add(vec_add(lane[0], lane[2]), vec_add(lane[1], lane[3])));
}

/* The last elements go through buffers of zeros. */
ALWAYS_INLINE void sum_rows(const sums_job *job, size_t size, eight_to_f32 read, bool distances)
{
    const size_t whole = job->dim - job->dim % LANES, left = job->dim - whole;
    const size_t squared = job->squared < whole ? job->squared : whole;
    const taking with = { distances, true }, without = { distances, false };
    float q_left[LANES] = { 0 };
    char row_left[LANES * sizeof(float)] = { 0 };
    if (left) memcpy(q_left, job->q + whole, left * sizeof(float));
    for (size_t r = 0; r < job->n_rows; r++) {
        const char *row = job->rows + r * job->dim * size;
        product_sums sums;
        UNROLLED
        for (size_t k = 0; k < 4; k++) sums.first[k] = sums.square[k] = vec_zero();
        for (size_t i = 0; i < squared; i += LANES)
            add_group(&sums, row + i * size, job->q + i, size, read, with);
        for (size_t i = squared; i < whole; i += LANES)
            add_group(&sums, row + i * size, job->q + i, size, read, without);
        if (left) {
            memcpy(row_left, row + whole * size, left * size);
            if (job->squared > whole)
                add_group(&sums, row_left, q_left, size, read, with);
            else
                add_group(&sums, row_left, q_left, size, read, without);
        }
        job->out[2 * r] = sum_of_lanes(sums.first);
        job->out[2 * r + 1] = sum_of_lanes(sums.square);
    }
}
#endif
