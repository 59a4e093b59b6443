/* Vectors of 16 f32 for bag_vectors.h, and how they are read from stored rows. For kernel_avx512.c,
 * which has sixteen_<type> and lanes_of. */
#ifndef WTE_SRC_NUM_BAG_AVX512_H
#define WTE_SRC_NUM_BAG_AVX512_H
#include <immintrin.h>
#include <string.h>

#define VEC_LANES ((size_t)16)
typedef __m512 vec;

/* A row of 4 or 2 bits has 16 or 4 values: they are made once, and looked up in a register, which
 * takes the four lowest bits of a lane and does not mind the others. */
typedef struct row_params {
    vec scale, bias; /* of 8 bits */
    vec values;      /* of 4 and 2 bits */
} row_params;

ALWAYS_INLINE vec vec_zero(void)
{
    return _mm512_setzero_ps();
}
ALWAYS_INLINE vec vec_set(float x)
{
    return _mm512_set1_ps(x);
}
ALWAYS_INLINE vec vec_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}
ALWAYS_INLINE vec vec_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}
ALWAYS_INLINE vec vec_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}
ALWAYS_INLINE vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}
/* Lanes of `by` where a > b, else those of c; by and c may be integers. */
ALWAYS_INLINE vec vec_pick(vec a, vec b, vec by, vec c)
{
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), c, by);
}
ALWAYS_INLINE vec vec_number(uint32_t x)
{
    return _mm512_castsi512_ps(_mm512_set1_epi32((int)x));
}
ALWAYS_INLINE vec vec_quiet(vec x)
{
    const __m512i bits = _mm512_castps_si512(x);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_castsi512_ps(
        _mm512_mask_or_epi32(bits, nan, bits, _mm512_set1_epi32(0x00400000)));
}
ALWAYS_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}
ALWAYS_INLINE vec vec_load(const char *from, size_t n)
{
    return n == VEC_LANES ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(lanes_of(n), from);
}
ALWAYS_INLINE void vec_store(char *to, vec x, size_t n)
{
    if (n == VEC_LANES)
        _mm512_storeu_ps(to, x);
    else
        _mm512_mask_storeu_ps(to, lanes_of(n), x);
}
ALWAYS_INLINE void vec_stream(char *to, vec x)
{
    _mm512_stream_ps((float *)(void *)to, x);
}
ALWAYS_INLINE void vec_fence(void)
{
    _mm_sfence();
}

ALWAYS_INLINE row_params params_row8(const wte__stored *s, const char *codes)
{
    const __m128 pair = s->f32_scale
                            ? _mm_castsi128_ps(_mm_loadl_epi64((const void *)(codes + s->scale_at)))
                            : _mm_cvtph_ps(_mm_loadu_si32(codes + s->scale_at));
    return (row_params){ _mm512_broadcastss_ps(pair), _mm512_broadcastss_ps(_mm_movehdup_ps(pair)),
                         vec_zero() };
}
ALWAYS_INLINE row_params params_row4(const wte__stored *s, const char *codes)
{
    const vec each = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    row_params p = params_row8(s, codes);
    p.values = vec_fma(each, p.scale, p.bias);
    return p;
}
ALWAYS_INLINE row_params params_row2(const wte__stored *s, const char *codes)
{
    const vec each = _mm512_set_ps(3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0);
    row_params p = params_row8(s, codes);
    p.values = vec_fma(each, p.scale, p.bias);
    return p;
}

#define X(name)                                                                                    \
    ALWAYS_INLINE vec read_##name(const char *from, size_t n, const row_params *p)                 \
    {                                                                                              \
        (void)p;                                                                                   \
        return sixteen_##name(from, lanes_of(n));                                                  \
    }
X(f32)
X(f16)
X(i8)
#undef X
ALWAYS_INLINE vec read_bf16(const char *from, size_t n, const row_params *p)
{
    (void)p;
    return sixteen_bf16_as_is(from, lanes_of(n)); /* what follows makes a NaN quiet */
}
ALWAYS_INLINE vec read_row8(const char *from, size_t n, const row_params *p)
{
    return vec_fma(sixteen_u8(from, lanes_of(n)), p->scale, p->bias);
}
/* A byte's nibbles go to two lanes: one as it is, one moved by 32 - 4 bits. */
ALWAYS_INLINE vec read_row4(const char *from, size_t n, const row_params *p)
{
    const __m128i bytes = n == VEC_LANES ? _mm_loadl_epi64((const void *)from)
                                         : _mm_maskz_loadu_epi8(lanes_of((n + 1) / 2), from);
    const __m512i low = _mm512_cvtepu8_epi64(bytes);
    const __m512i both = _mm512_or_si512(low, _mm512_slli_epi64(low, 28));
    return _mm512_permutexvar_ps(both, p->values);
}
ALWAYS_INLINE vec read_row2(const char *from, size_t n, const row_params *p)
{
    const __m512i by = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    uint32_t word = 0;
    if (n == VEC_LANES)
        memcpy(&word, from, sizeof word);
    else
        memcpy(&word, from, (n + 3) / 4);
    return _mm512_permutexvar_ps(_mm512_srlv_epi32(_mm512_set1_epi32((int)word), by), p->values);
}

/* Blocks of 32: an f16, then their integers. */
ALWAYS_INLINE vec at_q8_0(const char *codes, size_t c, size_t n, const row_params *p)
{
    const char *block = codes + c / 32 * 34;
    const __m128 scale = _mm_cvtph_ps(_mm_loadu_si16(block));
    (void)n;
    (void)p;
    return vec_mul(sixteen_i8(block + 2 + c % 32, lanes_of(VEC_LANES)),
                   _mm512_broadcastss_ps(scale));
}
/* Elements 0 to 15 are in the low nibbles, 16 to 31 in the high ones; looked up as those of rows of
 * 4 bits are. */
ALWAYS_INLINE vec at_q4_0(const char *codes, size_t c, size_t n, const row_params *p)
{
    const vec each = _mm512_set_ps(7, 6, 5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8);
    const char *block = codes + c / 32 * 18;
    const __m128 scale = _mm_cvtph_ps(_mm_loadu_si16(block));
    const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(block + 2)));
    (void)n;
    (void)p;
    return _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, (unsigned)(c / 16 % 2 * 4)),
                                 vec_mul(each, _mm512_broadcastss_ps(scale)));
}

#include "num/bag_vectors.h"

#define X(name, bits) BAG_KERNELS(name, bits, avx512)
WTE__STORED_LIST(X)
#undef X
#define X(name, bits) BLOCK_BAGS(name, bits, avx512)
WTE__STORED_BLOCKS(X)
#undef X
#endif
