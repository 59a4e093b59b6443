/* Products of integers: rows of blocks as they are stored times hidden vectors of signed bytes,
 * with AVX-512 VNNI. kernel_avx512_bf16_vnni.c includes this.
 *
 * The instruction multiplies unsigned bytes with signed ones and adds four products to each of 16
 * integers. A block's integers are made unsigned by adding a constant; the sums start from what
 * that adds, with the sign turned, which is a product of the constant and the vector. Four rows are
 * unpacked and multiplied with up to four vectors, so that what belongs to a row or to a vector
 * alone is done once for all. */
#ifndef WTE_SRC_NUM_FAST_X86_H
#define WTE_SRC_NUM_FAST_X86_H
#include <immintrin.h>
#include <string.h>

#include "num/dots_avx512.h"

/* Bytes ahead of which rows are fetched, no less than the four rows at hand. */
#define FAST_AHEAD      ((size_t)8 << 10)
#define FAST_STEP_BYTES ((size_t)216) /* no step takes more of a row */

DOTS_INLINE uint16_t fast_u16(const uint8_t *b)
{
    uint16_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
DOTS_INLINE uint32_t fast_u32(const uint8_t *b)
{
    uint32_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
DOTS_INLINE float fast_half(const uint8_t *b)
{
    return _cvtsh_ss(fast_u16(b));
}
DOTS_INLINE __m256i fast_32(const void *b)
{
    return _mm256_loadu_si256(b);
}
DOTS_INLINE __m512i fast_64(const void *b)
{
    return _mm512_loadu_si512(b);
}
/* Two halves of 32 bytes, from two places. */
DOTS_INLINE __m512i fast_2x32(const void *a, const void *b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(fast_32(a)), fast_32(b), 1);
}
/* The lanes of x that are named, four of the result for each, or eight. */
DOTS_INLINE __m512 fast_by_4(__m512 x, int a, int b, int c, int d)
{
    return _mm512_permutexvar_ps(_mm512_set_epi32(d, d, d, d, c, c, c, c, b, b, b, b, a, a, a, a),
                                 x);
}
DOTS_INLINE __m512 fast_by_8(__m512 x, int a, int b)
{
    return fast_by_4(x, a, a, b, b);
}
DOTS_INLINE __m512 fast_8_floats(const float *x)
{
    return _mm512_zextps256_ps512(_mm256_loadu_ps(x));
}
DOTS_INLINE __m512 fast_4_floats(const float *x)
{
    return _mm512_zextps128_ps512(_mm_loadu_ps(x));
}
DOTS_INLINE __m512 fast_2_floats(const float *x)
{
    return _mm512_zextps128_ps512(_mm_castsi128_ps(_mm_loadl_epi64((const void *)x)));
}
DOTS_INLINE __m512i fast_low_nibbles(__m512i x)
{
    return _mm512_and_si512(x, _mm512_set1_epi8(15));
}
DOTS_INLINE __m512i fast_high_nibbles(__m512i x)
{
    return fast_low_nibbles(_mm512_srli_epi16(x, 4));
}
DOTS_INLINE __m512 fast_add(__m512i dots, __m512 scale, __m512 sum)
{
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), scale, sum);
}

/* Some blocks of a row, unpacked: unsigned integers, and what they are multiplied with. */
typedef struct fast_blocks {
    __m512i w[4];
    __m512 scale, minimum;
} fast_blocks;

/* A vector's elements and scales from some element on. */
typedef struct fast_vector {
    const int8_t *h;
    const float *scales, *sums;
} fast_vector;

/* What integers that are `above` too large add to a sum, negative. */
DOTS_INLINE __m512i fast_start(__m512i h, int above)
{
    const __m512i zero = _mm512_setzero_si512();
    return _mm512_sub_epi32(zero, _mm512_dpbusd_epi32(zero, _mm512_set1_epi8((char)above), h));
}

/* q8_0: two blocks; the codes + 128 are unsigned. ------------------------------------------------
 */

DOTS_INLINE fast_blocks fast_q8_0_unpack(const uint8_t *b)
{
    const __m256i d = _mm256_mask_set1_epi16(_mm256_set1_epi16((short)fast_u16(b)), 0xff00,
                                             (short)fast_u16(b + 34));
    fast_blocks out;
    out.w[0] = _mm512_xor_si512(fast_2x32(b + 2, b + 36), _mm512_set1_epi8((char)0x80));
    out.scale = _mm512_cvtph_ps(d);
    return out;
}
DOTS_INLINE __m512 fast_q8_0_add(const fast_blocks *b, fast_vector v, __m512 sum)
{
    const __m512i h = fast_64(v.h);
    const __m512 scale = fast_by_8(fast_2_floats(v.scales), 0, 1);
    return fast_add(_mm512_dpbusd_epi32(fast_start(h, 128), b->w[0], h),
                    _mm512_mul_ps(b->scale, scale), sum);
}

/* q4_0: four blocks, their 16 bytes each side by side; low nibbles are the first 16 elements of a
 * block, high ones the others, and both go to the same four sums. --------------------------------
 */

DOTS_INLINE fast_blocks fast_q4_0_unpack(const uint8_t *b)
{
    /* words of the 72 bytes: a block is nine, the first of which is d */
    const __m512i first = fast_64(b), last = fast_64(b + 8);
    const __m512i scales =
        _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 27 << 16 | 27, 27 << 16 | 27, 18 << 16 | 18,
                         18 << 16 | 18, 9 << 16 | 9, 9 << 16 | 9, 0, 0);
    const __m512i codes =
        _mm512_set_epi16(63, 62, 61, 60, 59, 58, 57, 56, 26, 25, 24, 23, 22, 21, 20, 19, 17, 16, 15,
                         14, 13, 12, 11, 10, 8, 7, 6, 5, 4, 3, 2, 1);
    const __m512i q = _mm512_permutex2var_epi16(first, codes, last);
    const __m512i d = _mm512_permutexvar_epi16(scales, first);
    fast_blocks out;
    out.w[0] = fast_low_nibbles(q);
    out.w[1] = fast_high_nibbles(q);
    out.scale = _mm512_cvtph_ps(_mm512_castsi512_si256(d));
    return out;
}
DOTS_INLINE __m512 fast_q4_0_add(const fast_blocks *b, fast_vector v, __m512 sum)
{
    const __m512i h0 = fast_64(v.h), h1 = fast_64(v.h + 64);
    const __m512i low =
        _mm512_permutex2var_epi64(h0, _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0), h1);
    const __m512i high =
        _mm512_permutex2var_epi64(h0, _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2), h1);
    const __m512 scale = fast_by_4(fast_4_floats(v.scales), 0, 1, 2, 3);
    const __m512i start = _mm512_add_epi32(fast_start(low, 8), fast_start(high, 8));
    const __m512i dots =
        _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(start, b->w[0], low), b->w[1], high);
    return fast_add(dots, _mm512_mul_ps(b->scale, scale), sum);
}

/* q4_k: one block; of every 64 elements the first 32 are low nibbles, the others high ones. -------
 */

/* Eight scales or minima of 6 bits as floats, times `by`. */
DOTS_INLINE __m512 fast_8_codes(uint32_t low, uint32_t high, float by)
{
    const __m128i codes = _mm_cvtsi64_si128((long long)((uint64_t)high << 32 | low));
    const __m256 eight = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
    return _mm512_zextps256_ps512(_mm256_mul_ps(eight, _mm256_set1_ps(by)));
}
DOTS_INLINE fast_blocks fast_q4_k_unpack(const uint8_t *b)
{
    const uint32_t first = fast_u32(b + 4), second = fast_u32(b + 8), third = fast_u32(b + 12);
    const uint32_t high = (third & 0x0f0f0f0f) | (first >> 2 & 0x30303030);
    const uint32_t high_minimum = (third >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030);
    const __m512i q0 = fast_64(b + 16), q1 = fast_64(b + 80);
    fast_blocks out;
    out.w[0] = fast_low_nibbles(q0);
    out.w[1] = fast_high_nibbles(q0);
    out.w[2] = fast_low_nibbles(q1);
    out.w[3] = fast_high_nibbles(q1);
    out.scale = fast_8_codes(first & 0x3f3f3f3f, high, fast_half(b));
    out.minimum = fast_8_codes(second & 0x3f3f3f3f, high_minimum, fast_half(b + 2));
    return out;
}
DOTS_INLINE __m512 fast_q4_k_add(const fast_blocks *b, fast_vector v, __m512 sum)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512 scale = _mm512_mul_ps(b->scale, fast_8_floats(v.scales));
    sum = _mm512_fnmadd_ps(b->minimum, fast_8_floats(v.sums), sum);
    DOTS_UNROLL
    for (size_t half = 0; half < 2; half++) {
        const int8_t *const h = v.h + 128 * half;
        const int first = 4 * (int)half;
        const __m512i low = _mm512_dpbusd_epi32(zero, b->w[2 * half], fast_2x32(h, h + 64));
        const __m512i high =
            _mm512_dpbusd_epi32(zero, b->w[2 * half + 1], fast_2x32(h + 32, h + 96));
        sum = fast_add(low, fast_by_8(scale, first, first + 2), sum);
        sum = fast_add(high, fast_by_8(scale, first + 1, first + 3), sum);
    }
    return sum;
}

/* q6_k: one block; of every 128 elements the low nibbles of 64 bytes are the first 64. Two more
 * bits of each are in 32 bytes, those of the first 32 lowest.
 * ------------------------------------------ */

DOTS_INLINE fast_blocks fast_q6_k_unpack(const uint8_t *b)
{
    const __m128i scales = _mm_loadu_si128((const __m128i *)(const void *)(b + 192));
    const __m512i bits = _mm512_set1_epi8(0x30);
    fast_blocks out;
    out.scale = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(scales)),
                              _mm512_set1_ps(fast_half(b + 208)));
    DOTS_UNROLL
    for (size_t half = 0; half < 2; half++) {
        const __m512i q = fast_64(b + 64 * half);
        const __m512i two = _mm512_broadcast_i64x4(fast_32(b + 128 + 32 * half));
        /* to bits 4 and 5 of every byte: what comes from other bytes is masked */
        const __m512i first = _mm512_rolv_epi64(two, _mm512_set_epi64(2, 2, 2, 2, 4, 4, 4, 4));
        const __m512i other = _mm512_rorv_epi64(two, _mm512_set_epi64(2, 2, 2, 2, 0, 0, 0, 0));
        out.w[2 * half] = _mm512_or_si512(fast_low_nibbles(q), _mm512_and_si512(first, bits));
        out.w[2 * half + 1] = _mm512_or_si512(fast_high_nibbles(q), _mm512_and_si512(other, bits));
    }
    return out;
}
DOTS_INLINE __m512 fast_q6_k_add(const fast_blocks *b, fast_vector v, __m512 sum)
{
    const __m512i twice = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    const __m512 scale =
        _mm512_mul_ps(b->scale, _mm512_permutexvar_ps(twice, fast_8_floats(v.scales)));
    DOTS_UNROLL
    for (int i = 0; i < 4; i++) {
        const __m512i h = fast_64(v.h + (size_t)64 * (size_t)i);
        sum = fast_add(_mm512_dpbusd_epi32(fast_start(h, 32), b->w[i], h),
                       fast_by_4(scale, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3), sum);
    }
    return sum;
}

/* Rows ------------------------------------------------------------------------------------------
 */

typedef struct fast_type {
    size_t elements, bytes; /* of what is unpacked at once */
    size_t block_elements, block_bytes;
    fast_blocks (*unpack)(const uint8_t *b);
    __m512 (*add)(const fast_blocks *b, fast_vector v, __m512 sum);
} fast_type;

/* The vectors and rows of a call. */
typedef struct fast_tile {
    const wte__bytes *job;
    size_t first; /* vector */
    size_t w_stride, out_stride;
    const uint8_t *end; /* nothing is fetched from here on */
} fast_tile;

/* Vector i from element k on; all that belongs to it lies h_stride bytes behind the one before. */
DOTS_INLINE fast_vector fast_vector_of(const wte__bytes *job, size_t i, size_t k)
{
    const size_t at = i * job->h_stride;
    const fast_vector v = {
        job->h + at + k,
        (const float *)(const void *)((const char *)job->scales + at) + k / 32,
        (const float *)(const void *)((const char *)job->sums + at) + k / 32,
    };
    return v;
}

DOTS_INLINE void fast_step(const fast_tile *t, const uint8_t *w, size_t stride, size_t k,
                           size_t n_h, fast_type type, __m512 sums[][DOTS_ROWS])
{
    fast_blocks b[DOTS_ROWS];
    DOTS_UNROLL
    for (size_t r = 0; r < DOTS_ROWS; r++) b[r] = type.unpack(w + r * stride);
    DOTS_UNROLL
    for (size_t i = 0; i < n_h; i++) {
        const fast_vector v = fast_vector_of(t->job, t->first + i, k);
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++) sums[i][r] = type.add(&b[r], v, sums[i][r]);
    }
}

/* Four rows times a constant number of vectors. What is left of the rows when no whole step is goes
 * into blocks of zeros: the vectors go on with zeros too. */
DOTS_INLINE void fast_four(const fast_tile *t, const uint8_t *w, float *out, size_t n_h,
                           fast_type type)
{
    const wte__bytes *job = t->job;
    const size_t stride = t->w_stride;
    __m512 sums[DOTS_MOST][DOTS_ROWS];
    DOTS_UNROLL
    for (size_t i = 0; i < n_h; i++) {
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_ROWS; r++) sums[i][r] = _mm512_setzero_ps();
    }
    const size_t ahead = DOTS_ROWS * stride < FAST_AHEAD ? FAST_AHEAD : DOTS_ROWS * stride;
    const uint8_t *fetch = (size_t)(t->end - w) >= ahead + DOTS_ROWS * stride ? w + ahead : w;
    size_t k = 0;
    for (; job->dim - k >= type.elements; k += type.elements, w += type.bytes) {
        fast_step(t, w, stride, k, n_h, type, sums);
        for (size_t at = 0; at < DOTS_ROWS * type.bytes; at += 64)
            _mm_prefetch((const char *)fetch + at, _MM_HINT_T0);
        fetch += DOTS_ROWS * type.bytes;
    }
    if (k < job->dim) {
        const size_t left = (job->dim - k) / type.block_elements * type.block_bytes;
        uint8_t rest[DOTS_ROWS * FAST_STEP_BYTES] = { 0 };
        for (size_t r = 0; r < DOTS_ROWS; r++)
            memcpy(rest + r * FAST_STEP_BYTES, w + r * stride, left);
        fast_step(t, rest, FAST_STEP_BYTES, k, n_h, type, sums);
    }
    put_dots(out, t->out_stride, sums, n_h);
}

/* Rows that are left over are done together with some that were done before; fewer than four are
 * done four times each. */
DOTS_INLINE void fast_rows(const wte__bytes *job, const uint8_t *end, size_t first, size_t n_h,
                           fast_type type)
{
    const uint8_t *const w = job->w;
    float *const out = job->out + first * job->out_stride;
    const size_t stride = job->w_stride, n = job->n_w;
    const fast_tile tile = { job, first, stride, job->out_stride, end };
    for (size_t row = 0; row + DOTS_ROWS <= n; row += DOTS_ROWS)
        fast_four(&tile, w + row * stride, out + row, n_h, type);
    if (n % DOTS_ROWS && n > DOTS_ROWS) {
        const size_t row = n - DOTS_ROWS;
        fast_four(&tile, w + row * stride, out + row, n_h, type);
    } else if (n < DOTS_ROWS) {
        float spare[DOTS_MOST * DOTS_ROWS];
        const fast_tile one = { job, first, 0, DOTS_ROWS, end };
        for (size_t row = 0; row < n; row++) {
            fast_four(&one, w + row * stride, spare, n_h, type);
            for (size_t i = 0; i < n_h; i++) out[i * job->out_stride + row] = spare[i * DOTS_ROWS];
        }
    }
}

/* Rows that stay in the first-level cache for all groups of vectors. */
#define FAST_NEAR_ROWS ((size_t)8)

DOTS_INLINE void fast_run(const wte__bytes *job, fast_type type)
{
    const uint8_t *const end = (const uint8_t *)job->w + job->n_w * job->w_stride;
    for (size_t row = 0; row < job->n_w; row += FAST_NEAR_ROWS) {
        wte__bytes some = *job;
        const size_t left = job->n_w - row;
        some.w = (const uint8_t *)job->w + row * job->w_stride;
        some.n_w = left < 2 * FAST_NEAR_ROWS ? left : FAST_NEAR_ROWS;
        some.out = job->out + row;
        for (size_t i = 0; i < job->n_h;) {
            if (job->n_h - i >= 4) {
                fast_rows(&some, end, i, 4, type);
                i += 4;
            } else if (job->n_h - i >= 2) {
                fast_rows(&some, end, i, 2, type);
                i += 2;
            } else {
                fast_rows(&some, end, i, 1, type);
                i++;
            }
        }
        if (some.n_w == left) return;
    }
}

#define FAST_KERNEL(name, elements, bytes, block_elements, block_bytes)                            \
    static void fast_##name##_avx512_bf16_vnni(const wte__bytes *job)                              \
    {                                                                                              \
        const fast_type type = {                                                                   \
            elements, bytes, block_elements, block_bytes, fast_##name##_unpack, fast_##name##_add  \
        };                                                                                         \
        fast_run(job, type);                                                                       \
    }
#endif
