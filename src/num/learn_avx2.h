/* What learn_vectors.h asks for of vectors of 8 f32, besides optim_avx2.h. For kernel_avx2.c. */
#ifndef WTE_SRC_NUM_LEARN_AVX2_H
#define WTE_SRC_NUM_LEARN_AVX2_H
#include "num/dots_avx2.h"
#include "num/head_avx2.h"
#include "num/optim_avx2.h"

#define LEARN_SIDE ((size_t)1)
#define LEARN_BOTH false

ALWAYS_INLINE vec vec_exp(vec x)
{
    return exp_8(x);
}
ALWAYS_INLINE vec learn_totals(vec sums[][WTE__LEARN_GROUP])
{
    return _mm256_set_m128(sum_of_eights(sums[0] + DOTS_ROWS), sum_of_eights(sums[0]));
}

#include "num/learn_vectors.h"

LEARN_KERNELS(avx2)
#endif
