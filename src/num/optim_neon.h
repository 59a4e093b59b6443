/* What optim_vectors.h wants of vectors of 8 f32, besides bag_neon.h. For kernel_neon.c. */
#ifndef WTE_SRC_NUM_OPTIM_NEON_H
#define WTE_SRC_NUM_OPTIM_NEON_H
#include <arm_neon.h>

#include "num/bag_neon.h"

#define OPTIM_GROUP 2

ALWAYS_INLINE vec vec_sub(vec a, vec b)
{
    return (vec){ vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high) };
}
ALWAYS_INLINE vec vec_sqrt(vec a)
{
    return (vec){ vsqrtq_f32(a.low), vsqrtq_f32(a.high) };
}
/* As vec_max: the instruction treats NaN and zeros in another way. */
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return (vec){ vbslq_f32(vcltq_f32(a.low, b.low), a.low, b.low),
                  vbslq_f32(vcltq_f32(a.high, b.high), a.high, b.high) };
}
ALWAYS_INLINE vec vec_abs(vec a)
{
    return (vec){ vabsq_f32(a.low), vabsq_f32(a.high) };
}
ALWAYS_INLINE bool vec_all_le(vec a, vec b)
{
    const uint32x4_t both = vandq_u32(vcleq_f32(a.low, b.low), vcleq_f32(a.high, b.high));
    return vminvq_u32(both) != 0;
}
ALWAYS_INLINE float32x4_t four_differ(float32x4_t seen, float32x4_t a, float32x4_t b)
{
    const uint32x4_t bits = veorq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b));
    return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(seen), bits));
}
ALWAYS_INLINE vec vec_differ(vec seen, vec a, vec b)
{
    return (vec){ four_differ(seen.low, a.low, b.low), four_differ(seen.high, a.high, b.high) };
}
ALWAYS_INLINE bool vec_any(vec seen)
{
    return vmaxvq_u32(
               vorrq_u32(vreinterpretq_u32_f32(seen.low), vreinterpretq_u32_f32(seen.high))) != 0;
}
/* Halves of 4, 2 and 1 lanes. */
ALWAYS_INLINE float vec_total(vec x)
{
    const float32x4_t four = vaddq_f32(x.low, x.high);
    const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}

#include "num/optim_vectors.h"

OPTIM_KERNELS(neon)
#endif
