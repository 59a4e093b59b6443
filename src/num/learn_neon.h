/* What learn_vectors.h asks for of vectors of 8 f32, besides optim_neon.h. For kernel_neon.c. */
#ifndef WTE_SRC_NUM_LEARN_NEON_H
#define WTE_SRC_NUM_LEARN_NEON_H
#include <arm_neon.h>

#include "num/head_neon.h"
#include "num/optim_neon.h"

#define LEARN_SIDE ((size_t)1)
#define LEARN_BOTH false

ALWAYS_INLINE vec vec_exp(vec x)
{
    return (vec){ exp_4(x.low), exp_4(x.high) };
}
/* Lanes 4 and then 2 apart are added, of two sums: those of a, then those of b. */
ALWAYS_INLINE float32x4_t learn_join(vec a, vec b)
{
    const float64x2_t x = vreinterpretq_f64_f32(vaddq_f32(a.low, a.high));
    const float64x2_t y = vreinterpretq_f64_f32(vaddq_f32(b.low, b.high));
    return vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(x, y)),
                     vreinterpretq_f32_f64(vzip2q_f64(x, y)));
}
ALWAYS_INLINE vec learn_totals(vec sums[][WTE__LEARN_GROUP])
{
    const vec *of = sums[0];
    return (vec){ vpaddq_f32(learn_join(of[0], of[1]), learn_join(of[2], of[3])),
                  vpaddq_f32(learn_join(of[4], of[5]), learn_join(of[6], of[7])) };
}

#include "num/learn_vectors.h"

LEARN_KERNELS(neon)
#endif
