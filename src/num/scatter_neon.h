/* What scatter_vectors.h asks for, and squares in f64. For kernel_neon.c, behind bag_neon.h. */
#ifndef WTE_SRC_NUM_SCATTER_NEON_H
#define WTE_SRC_NUM_SCATTER_NEON_H
#include <arm_neon.h>

typedef struct wide {
    float64x2_t part[4];
} wide;

ALWAYS_INLINE wide wide_load(const double *from)
{
    return (
        wide){ { vld1q_f64(from), vld1q_f64(from + 2), vld1q_f64(from + 4), vld1q_f64(from + 6) } };
}
ALWAYS_INLINE void wide_store(double *to, wide x)
{
    for (size_t k = 0; k < 4; k++) vst1q_f64(to + 2 * k, x.part[k]);
}
ALWAYS_INLINE wide wide_of(vec x)
{
    return (wide){ { vcvt_f64_f32(vget_low_f32(x.low)), vcvt_high_f64_f32(x.low),
                     vcvt_f64_f32(vget_low_f32(x.high)), vcvt_high_f64_f32(x.high) } };
}
ALWAYS_INLINE wide wide_plus(wide sum, vec x)
{
    const wide more = wide_of(x);
    for (size_t k = 0; k < 4; k++) sum.part[k] = vaddq_f64(sum.part[k], more.part[k]);
    return sum;
}
ALWAYS_INLINE vec wide_round(wide x)
{
    return (vec){ vcvt_high_f32_f64(vcvt_f32_f64(x.part[0]), x.part[1]),
                  vcvt_high_f32_f64(vcvt_f32_f64(x.part[2]), x.part[3]) };
}
ALWAYS_INLINE vec vec_where(vec x, const uint64_t *at, uint64_t member, size_t n)
{
    uint32_t word[VEC_LANES];
    for (size_t k = 0; k < VEC_LANES; k++) word[k] = k < n && at[k] == member ? UINT32_MAX : 0;
    return (vec){ vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x.low), vld1q_u32(word))),
                  vreinterpretq_f32_u32(
                      vandq_u32(vreinterpretq_u32_f32(x.high), vld1q_u32(word + 4))) };
}

#include "num/scatter_vectors.h"

SCATTER_KERNELS(neon)

/* Lanes 0 to 7, and 8 to 15. Fused or not: the square is exact. */
ALWAYS_INLINE wide wide_plus_square(wide sum, vec x)
{
    const wide more = wide_of(x);
    for (size_t k = 0; k < 4; k++) sum.part[k] = vfmaq_f64(sum.part[k], more.part[k], more.part[k]);
    return sum;
}
static double sumsq_f64acc_neon(const float *x, size_t n)
{
    const float64x2_t zero = vdupq_n_f64(0);
    wide sum = { { zero, zero, zero, zero } }, more = sum;
    for (; n >= 16; n -= 16, x += 16) {
        sum = wide_plus_square(sum, vec_load((const char *)x, VEC_LANES));
        more = wide_plus_square(more, vec_load((const char *)(x + 8), VEC_LANES));
    }
    if (n) {
        float last[16] = { 0 };
        memcpy(last, x, n * sizeof *last);
        sum = wide_plus_square(sum, vec_load((const char *)last, VEC_LANES));
        more = wide_plus_square(more, vec_load((const char *)(last + 8), VEC_LANES));
    }
    for (size_t k = 0; k < 4; k++) sum.part[k] = vaddq_f64(sum.part[k], more.part[k]);
    for (size_t k = 0; k < 2; k++) sum.part[k] = vaddq_f64(sum.part[k], sum.part[k + 2]);
    return vpaddd_f64(vaddq_f64(sum.part[0], sum.part[1]));
}
#endif
