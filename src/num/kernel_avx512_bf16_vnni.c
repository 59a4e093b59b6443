/* AVX-512 with products of bf16 pairs and of bytes (BF16, VNNI): the head's fast precision. Holds
 * static functions only: nothing compiled here may be called by others but through the table at the
 * end. */
#include <immintrin.h>

#include "num/int8_dot_vnni.h"
#include "num/kernels.h"

FAST_KERNEL(q8_0, 32, 34, 7)
FAST_KERNEL(q4_0, 32, 18, 3)
FAST_KERNEL(q4_k, 256, 144, 0)
FAST_KERNEL(q6_k, 256, 210, 5)

/* A few vectors: pairs stand where the exact kernels have floats --------------------------------
 */

DOTS_INLINE __m512 add_pairs(__m512 x, __m512 h, __m512 sum)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)h);
}
DOTS_INLINE __m512 last_pairs(const char *src, __mmask16 lanes)
{
    return _mm512_maskz_loadu_ps(lanes, src);
}
DOTS_KERNEL(pairs, 4, half_f32, last_pairs, add_pairs, DOTS_LINE_VECTORS)

static void fast_few_avx512_bf16_vnni(const wte__pairs *job)
{
    const wte__dots pairs = {
        .w = job->w,
        .w_stride = job->w_stride,
        .n_w = job->n_w,
        .h = (const float *)(const void *)job->h,
        .h_stride = job->dim / 2,
        .n_h = job->n_h,
        .dim = job->dim / 2,
        .out = job->out,
        .out_stride = job->out_stride,
        .prefetch_rows = job->prefetch_rows,
    };
    dots_pairs(&pairs);
}

/* Many vectors: a lane is a vector. Eight rows, of which a pair is broadcast from memory, times
 * three registers of vectors, 24 sums. Nothing is joined at the end, but lanes and rows change
 * places. -- */

#define MANY_ROWS ((size_t)8)
#define MANY_REGS ((size_t)3)

/* Four rows of 16 vectors: each vector's four rows side by side. */
DOTS_INLINE void put_turned(float *out, size_t stride, const __m512 *sum, size_t n_h)
{
    const __m512 a = _mm512_unpacklo_ps(sum[0], sum[1]), b = _mm512_unpackhi_ps(sum[0], sum[1]);
    const __m512 c = _mm512_unpacklo_ps(sum[2], sum[3]), d = _mm512_unpackhi_ps(sum[2], sum[3]);
    const __m512 turned[4] = { _mm512_shuffle_ps(a, c, 0x44), _mm512_shuffle_ps(a, c, 0xee),
                               _mm512_shuffle_ps(b, d, 0x44), _mm512_shuffle_ps(b, d, 0xee) };
    DOTS_UNROLL
    for (size_t i = 0; i < 4; i++) {
        if (i < n_h) _mm_storeu_ps(out + i * stride, _mm512_castps512_ps128(turned[i]));
        if (i + 4 < n_h)
            _mm_storeu_ps(out + (i + 4) * stride, _mm512_extractf32x4_ps(turned[i], 1));
        if (i + 8 < n_h)
            _mm_storeu_ps(out + (i + 8) * stride, _mm512_extractf32x4_ps(turned[i], 2));
        if (i + 12 < n_h)
            _mm_storeu_ps(out + (i + 12) * stride, _mm512_extractf32x4_ps(turned[i], 3));
    }
}

/* Eight rows, `stride` apart, times `regs` registers of vectors, n_h of which are wanted. */
DOTS_INLINE void many_eight(const wte__pairs *job, const char *w, size_t stride, const uint16_t *h,
                            float *out, size_t out_stride, size_t n_h, size_t regs)
{
    __m512 sums[MANY_REGS][MANY_ROWS];
    const size_t pairs = job->dim / 2;
    DOTS_UNROLL
    for (size_t v = 0; v < regs; v++) {
        DOTS_UNROLL
        for (size_t r = 0; r < MANY_ROWS; r++) sums[v][r] = _mm512_setzero_ps();
    }
    for (size_t k = 0; k < pairs; k++, w += 4, h += 2 * WTE__PAIRS_LANES) {
        __m512 x[MANY_REGS];
        DOTS_UNROLL
        for (size_t v = 0; v < regs; v++)
            x[v] = _mm512_loadu_ps(h + v * pairs * 2 * WTE__PAIRS_LANES);
        DOTS_UNROLL
        for (size_t r = 0; r < MANY_ROWS; r++) {
            float pair;
            memcpy(&pair, w + r * stride, sizeof pair);
            DOTS_UNROLL
            for (size_t v = 0; v < regs; v++)
                sums[v][r] = add_pairs(_mm512_set1_ps(pair), x[v], sums[v][r]);
        }
    }
    DOTS_UNROLL
    for (size_t v = 0; v < regs; v++) {
        const size_t done = v * WTE__PAIRS_LANES;
        if (done >= n_h) return;
        put_turned(out + done * out_stride, out_stride, sums[v], n_h - done);
        put_turned(out + done * out_stride + 4, out_stride, sums[v] + 4, n_h - done);
    }
}

/* The registers of vectors that go together, times eight rows. */
static void many_group(const wte__pairs *job, const char *w, size_t stride, size_t first,
                       float *out, size_t out_stride)
{
    const uint16_t *h = job->h + wte__pairs_at(job->dim, first, 0);
    const size_t n_h = job->n_h - first;
    if (n_h > 2 * WTE__PAIRS_LANES)
        many_eight(job, w, stride, h, out, out_stride, n_h, 3);
    else if (n_h > WTE__PAIRS_LANES)
        many_eight(job, w, stride, h, out, out_stride, n_h, 2);
    else
        many_eight(job, w, stride, h, out, out_stride, n_h, 1);
}

/* Fewer than eight rows: each of them eight times. */
static void many_single(const wte__pairs *job, size_t first)
{
    float spare[MANY_REGS * WTE__PAIRS_LANES * MANY_ROWS];
    const size_t most = MANY_REGS * WTE__PAIRS_LANES, left = job->n_h - first;
    for (size_t r = 0; r < job->n_w; r++) {
        many_group(job, (const char *)job->w + r * job->w_stride, 0, first, spare, MANY_ROWS);
        for (size_t i = 0; i < left && i < most; i++)
            job->out[(first + i) * job->out_stride + r] = spare[i * MANY_ROWS];
    }
}

static void fast_many_avx512_bf16_vnni(const wte__pairs *job)
{
    for (size_t row = 0; row < job->n_w; row += MANY_ROWS) {
        /* the last rows are done together with some that were done before */
        const size_t at = job->n_w - row < MANY_ROWS && row ? job->n_w - MANY_ROWS : row;
        const char *w = (const char *)job->w + at * job->w_stride;
        for (size_t i = 0; i < job->n_h; i += MANY_REGS * WTE__PAIRS_LANES) {
            if (job->n_w < MANY_ROWS)
                many_single(job, i);
            else
                many_group(job, w, job->w_stride, i, job->out + i * job->out_stride + at,
                           job->out_stride);
        }
    }
}

/* Subnormal numbers become zeros of their sign. */
static void fast_round_avx512_bf16_vnni(const void *src, void *dst, size_t n)
{
    const char *in = src;
    char *out = dst;
    for (; n >= 32; n -= 32, in += 128, out += 64) {
        const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(in + 64), _mm512_loadu_ps(in));
        _mm512_storeu_si512(out, (__m512i)both);
    }
    for (; n; n -= n < 16 ? n : 16, in += 64, out += 32) {
        const __mmask16 lanes = (__mmask16)(n < 16 ? (1u << n) - 1 : 0xffffu);
        const __m256bh some = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, in));
        _mm256_mask_storeu_epi16(out, lanes, (__m256i)some);
    }
}

const wte__kernels wte__kernels_avx512_bf16_vnni = {
    .isa = "avx512_bf16_vnni",
    .fast_few = fast_few_avx512_bf16_vnni,
    .fast_many = fast_many_avx512_bf16_vnni,
    .fast_round = fast_round_avx512_bf16_vnni,
    .fast_q8_0 = fast_q8_0_avx512_bf16_vnni,
    .fast_q4_0 = fast_q4_0_avx512_bf16_vnni,
    .fast_q4_k = fast_q4_k_avx512_bf16_vnni,
    .fast_q6_k = fast_q6_k_avx512_bf16_vnni,
};
