/* What scatter_vectors.h asks for, and squares in f64. For kernel_avx512.c, behind bag_avx512.h. */
#ifndef WTE_SRC_NUM_SCATTER_AVX512_H
#define WTE_SRC_NUM_SCATTER_AVX512_H
#include <immintrin.h>

typedef struct wide {
    __m512d low, high;
} wide;

ALWAYS_INLINE wide wide_load(const double *from)
{
    return (wide){ _mm512_loadu_pd(from), _mm512_loadu_pd(from + 8) };
}
ALWAYS_INLINE void wide_store(double *to, wide x)
{
    _mm512_storeu_pd(to, x.low);
    _mm512_storeu_pd(to + 8, x.high);
}
ALWAYS_INLINE __m512d lower_as_f64(vec x)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(x));
}
ALWAYS_INLINE __m512d upper_as_f64(vec x)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}
ALWAYS_INLINE wide wide_plus(wide sum, vec x)
{
    return (wide){ _mm512_add_pd(sum.low, lower_as_f64(x)),
                   _mm512_add_pd(sum.high, upper_as_f64(x)) };
}
ALWAYS_INLINE vec wide_round(wide x)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.low)),
                              _mm512_cvtpd_ps(x.high), 1);
}
ALWAYS_INLINE vec vec_where(vec x, const uint64_t *at, uint64_t member, size_t n)
{
    const __m512i wanted = _mm512_set1_epi64((int64_t)member);
    const __mmask16 lanes = lanes_of(n);
    const __mmask8 few = (__mmask8)lanes, more = (__mmask8)(lanes >> 8);
    const __mmask8 low =
        _mm512_mask_cmpeq_epi64_mask(few, _mm512_maskz_loadu_epi64(few, at), wanted);
    const __mmask8 high =
        _mm512_mask_cmpeq_epi64_mask(more, _mm512_maskz_loadu_epi64(more, at + 8), wanted);
    return _mm512_maskz_mov_ps((__mmask16)(low | high << 8), x);
}

#include "num/scatter_vectors.h"

SCATTER_KERNELS(avx512)

/* Fused or not: the square is exact. */
ALWAYS_INLINE wide wide_plus_square(wide sum, vec x)
{
    const __m512d low = lower_as_f64(x), high = upper_as_f64(x);
    return (wide){ _mm512_fmadd_pd(low, low, sum.low), _mm512_fmadd_pd(high, high, sum.high) };
}
static double sumsq_f64acc_avx512(const float *x, size_t n)
{
    wide sum = { _mm512_setzero_pd(), _mm512_setzero_pd() };
    for (; n >= VEC_LANES; n -= VEC_LANES, x += VEC_LANES)
        sum = wide_plus_square(sum, _mm512_loadu_ps(x));
    if (n) sum = wide_plus_square(sum, _mm512_maskz_loadu_ps(lanes_of(n), x));
    const __m512d eight = _mm512_add_pd(sum.low, sum.high);
    const __m256d four =
        _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
#endif
