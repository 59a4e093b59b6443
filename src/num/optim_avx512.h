/* What optim_vectors.h wants of vectors of 16 f32, besides bag_avx512.h. For kernel_avx512.c. */
#ifndef WTE_SRC_NUM_OPTIM_AVX512_H
#define WTE_SRC_NUM_OPTIM_AVX512_H
#include <immintrin.h>

#include "num/bag_avx512.h"

#define OPTIM_GROUP 4

ALWAYS_INLINE vec vec_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}
ALWAYS_INLINE vec vec_sqrt(vec a)
{
    return _mm512_sqrt_ps(a);
}
ALWAYS_INLINE vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}
ALWAYS_INLINE vec vec_abs(vec a)
{
    return _mm512_abs_ps(a);
}
ALWAYS_INLINE bool vec_all_le(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ) == 0xffff;
}
ALWAYS_INLINE vec vec_differ(vec seen, vec a, vec b)
{
    /* 0xf6 is the truth table of seen | (a ^ b) */
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(seen), _mm512_castps_si512(a), _mm512_castps_si512(b), 0xf6));
}
ALWAYS_INLINE bool vec_any(vec seen)
{
    const __m512i bits = _mm512_castps_si512(seen);
    return _mm512_test_epi32_mask(bits, bits) != 0;
}
/* Halves of 8, 4, 2 and 1 lanes. */
ALWAYS_INLINE float vec_total(vec x)
{
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

#include "num/optim_vectors.h"

OPTIM_KERNELS(avx512)
#endif
