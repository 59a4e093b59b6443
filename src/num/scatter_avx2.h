/* What scatter_vectors.h asks for, and squares in f64. For kernel_avx2.c, behind bag_avx2.h. */
#ifndef WTE_SRC_NUM_SCATTER_AVX2_H
#define WTE_SRC_NUM_SCATTER_AVX2_H
#include <immintrin.h>

typedef struct wide {
    __m256d low, high;
} wide;

ALWAYS_INLINE wide wide_load(const double *from)
{
    return (wide){ _mm256_loadu_pd(from), _mm256_loadu_pd(from + 4) };
}
ALWAYS_INLINE void wide_store(double *to, wide x)
{
    _mm256_storeu_pd(to, x.low);
    _mm256_storeu_pd(to + 4, x.high);
}
ALWAYS_INLINE __m256d lower_as_f64(vec x)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}
ALWAYS_INLINE __m256d upper_as_f64(vec x)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
ALWAYS_INLINE wide wide_plus(wide sum, vec x)
{
    return (wide){ _mm256_add_pd(sum.low, lower_as_f64(x)),
                   _mm256_add_pd(sum.high, upper_as_f64(x)) };
}
ALWAYS_INLINE vec wide_round(wide x)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(x.low)),
                                _mm256_cvtpd_ps(x.high), 1);
}
/* Comparisons give two words for each lane, of which the even ones are kept. */
ALWAYS_INLINE vec vec_where(vec x, const uint64_t *at, uint64_t member, size_t n)
{
    const __m256i wanted = _mm256_set1_epi64x((int64_t)member);
    uint64_t part[VEC_LANES];
    for (size_t k = n; k < VEC_LANES; k++) part[k] = 0;
    memcpy(part, at, n * sizeof *part);
    const __m256i low = _mm256_cmpeq_epi64(load_32_bytes((const char *)part), wanted);
    const __m256i high = _mm256_cmpeq_epi64(load_32_bytes((const char *)(part + 4)), wanted);
    const __m256 even =
        _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88);
    const __m256d in_order = _mm256_permute4x64_pd(_mm256_castps_pd(even), 0xd8);
    return _mm256_and_ps(x, _mm256_castpd_ps(in_order));
}

#include "num/scatter_vectors.h"

SCATTER_KERNELS(avx2)

/* Lanes 0 to 7, and 8 to 15. Fused or not: the square is exact. */
ALWAYS_INLINE wide wide_plus_square(wide sum, vec x)
{
    const __m256d low = lower_as_f64(x), high = upper_as_f64(x);
    return (wide){ _mm256_fmadd_pd(low, low, sum.low), _mm256_fmadd_pd(high, high, sum.high) };
}
static double sumsq_f64acc_avx2(const float *x, size_t n)
{
    const wide zero = { _mm256_setzero_pd(), _mm256_setzero_pd() };
    wide sum = zero, more = zero;
    for (; n >= 16; n -= 16, x += 16) {
        sum = wide_plus_square(sum, _mm256_loadu_ps(x));
        more = wide_plus_square(more, _mm256_loadu_ps(x + 8));
    }
    if (n) {
        float last[16] = { 0 };
        memcpy(last, x, n * sizeof *last);
        sum = wide_plus_square(sum, _mm256_loadu_ps(last));
        more = wide_plus_square(more, _mm256_loadu_ps(last + 8));
    }
    const __m256d low = _mm256_add_pd(sum.low, more.low), high = _mm256_add_pd(sum.high, more.high);
    const __m256d four = _mm256_add_pd(low, high);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
#endif
