/* What optim_vectors.h wants of vectors of 8 f32, besides bag_avx2.h. For kernel_avx2.c. */
#ifndef WTE_SRC_NUM_OPTIM_AVX2_H
#define WTE_SRC_NUM_OPTIM_AVX2_H
#include <immintrin.h>

#include "num/bag_avx2.h"

#define OPTIM_GROUP 2

ALWAYS_INLINE vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}
ALWAYS_INLINE vec vec_sqrt(vec a)
{
    return _mm256_sqrt_ps(a);
}
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}
ALWAYS_INLINE vec vec_abs(vec a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
ALWAYS_INLINE bool vec_all_le(vec a, vec b)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)) == 0xff;
}
ALWAYS_INLINE vec vec_differ(vec seen, vec a, vec b)
{
    return _mm256_or_ps(seen, _mm256_xor_ps(a, b));
}
ALWAYS_INLINE bool vec_any(vec seen)
{
    const __m256i bits = _mm256_castps_si256(seen);
    return !_mm256_testz_si256(bits, bits);
}
/* Halves of 4, 2 and 1 lanes. */
ALWAYS_INLINE float vec_total(vec x)
{
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

#include "num/optim_vectors.h"

OPTIM_KERNELS(avx2)
#endif
