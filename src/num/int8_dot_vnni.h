/* Products of integers: rows of blocks as they are stored times hidden vectors of signed bytes,
 * with AVX-512 VNNI. kernel_avx512_bf16_vnni.c includes this.
 *
 * The instruction multiplies unsigned bytes with signed ones and adds four products to each of 16
 * integers. A step of a row, 256 elements or eight blocks of 32, is unpacked to four registers of
 * bytes, of which each lane has four of the same half of a block: so four products are added before
 * they are converted and scaled. A block's integers are made unsigned by adding a constant; the
 * sums start from what that adds, with the sign turned. What belongs to a row alone is done once
 * for up to eight vectors, and the order of the elements costs vectors nothing: they come in it. */
#ifndef WTE_SRC_NUM_FAST_X86_H
#define WTE_SRC_NUM_FAST_X86_H
#include <immintrin.h>
#include <string.h>

#include "num/dots_avx512.h"

#define FAST_STEP_BYTES ((size_t)272) /* no step takes more of a row */

DOTS_INLINE uint32_t fast_u32(const uint8_t *b)
{
    uint32_t value;
    memcpy(&value, b, sizeof value);
    return value;
}
DOTS_INLINE float fast_half(const uint8_t *b)
{
    uint16_t value;
    memcpy(&value, b, sizeof value);
    return _cvtsh_ss(value);
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
DOTS_INLINE __m512i fast_low_nibbles(__m512i x)
{
    return _mm512_and_si512(x, _mm512_set1_epi8(15));
}
DOTS_INLINE __m512i fast_high_nibbles(__m512i x)
{
    return fast_low_nibbles(_mm512_srli_epi16(x, 4));
}

/* A step of a row: unsigned integers in the order of the vectors', and what the sums of each lane
 * are multiplied with. */
typedef struct fast_step {
    __m512i w[4];
    __m512 scale, minimum;
} fast_step;

/* Eight blocks, two in each register, to the order of vectors. */
DOTS_INLINE void fast_turn(const __m512i *blocks, __m512i *w)
{
    const __m512i first =
        _mm512_set_epi32(29, 25, 21, 17, 13, 9, 5, 1, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i other =
        _mm512_set_epi32(31, 27, 23, 19, 15, 11, 7, 3, 30, 26, 22, 18, 14, 10, 6, 2);
    const __m512i a = _mm512_permutex2var_epi32(blocks[0], first, blocks[1]);
    const __m512i b = _mm512_permutex2var_epi32(blocks[2], first, blocks[3]);
    const __m512i c = _mm512_permutex2var_epi32(blocks[0], other, blocks[1]);
    const __m512i d = _mm512_permutex2var_epi32(blocks[2], other, blocks[3]);
    w[0] = _mm512_shuffle_i64x2(a, b, 0x44);
    w[1] = _mm512_shuffle_i64x2(a, b, 0xee);
    w[2] = _mm512_shuffle_i64x2(c, d, 0x44);
    w[3] = _mm512_shuffle_i64x2(c, d, 0xee);
}

/* q8_0: the codes + 128 are unsigned. ------------------------------------------------------------
 */

DOTS_INLINE fast_step fast_q8_0_unpack(const uint8_t *b, __mmask16 lanes)
{
    const __m512i above = _mm512_set1_epi8((char)0x80);
    /* words 0 and 17 of every 68 bytes are the scales of two blocks */
    const __m512i words = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 49 << 16 | 49,
                                           32 << 16 | 32, 17 << 16 | 17, 0);
    const __m512i low = _mm512_permutex2var_epi16(fast_64(b), words, fast_64(b + 68));
    const __m512i high = _mm512_permutex2var_epi16(fast_64(b + 136), words, fast_64(b + 204));
    const __m256i scales =
        _mm256_inserti128_si256(_mm512_castsi512_si256(low), _mm512_castsi512_si128(high), 1);
    __m512i blocks[4];
    fast_step out;
    DOTS_UNROLL
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *two = b + 68 * i;
        blocks[i] = _mm512_xor_si512(fast_2x32(two + 2, two + 36), above);
    }
    fast_turn(blocks, out.w);
    out.scale = _mm512_maskz_cvtph_ps(lanes, scales);
    return out;
}

/* q4_0: the codes are 8 too large; low nibbles are the first half of a block. ---------------------
 */

DOTS_INLINE fast_step fast_q4_0_unpack(const uint8_t *b, __mmask16 lanes)
{
    /* words of 72 bytes: a block is nine, the first of which is its scale */
    const __m512i codes =
        _mm512_set_epi16(63, 62, 61, 60, 59, 58, 57, 56, 26, 25, 24, 23, 22, 21, 20, 19, 17, 16, 15,
                         14, 13, 12, 11, 10, 8, 7, 6, 5, 4, 3, 2, 1);
    const __m512i words =
        _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 59 << 16 | 59, 50 << 16 | 50, 41 << 16 | 41,
                         32 << 16 | 32, 27 << 16 | 27, 18 << 16 | 18, 9 << 16 | 9, 0);
    const __m512i half = _mm512_set_epi32(4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0);
    const __m512i a = fast_64(b), c = fast_64(b + 72);
    const __m512i low = _mm512_permutex2var_epi16(a, codes, fast_64(b + 8));
    const __m512i high = _mm512_permutex2var_epi16(c, codes, fast_64(b + 80));
    const __m512i scales = _mm512_permutex2var_epi16(a, words, c);
    __m512i from = _mm512_set_epi32(28, 28, 24, 24, 20, 20, 16, 16, 12, 12, 8, 8, 4, 4, 0, 0);
    fast_step out;
    DOTS_UNROLL
    for (size_t i = 0; i < 4; i++) {
        out.w[i] = _mm512_permutex2var_epi32(low, from, high);
        out.w[i] = fast_low_nibbles(_mm512_srlv_epi32(out.w[i], half));
        from = _mm512_add_epi32(from, _mm512_set1_epi32(1));
    }
    out.scale = _mm512_maskz_cvtph_ps(lanes, _mm512_castsi512_si256(scales));
    return out;
}

/* q4_k: of every two blocks the first has the low nibbles of 32 bytes, the other the high ones. ---
 */

/* Eight scales or minima of 6 bits as floats, twice each, times `by`. */
DOTS_INLINE __m512 fast_8_codes(uint32_t low, uint32_t high, float by)
{
    const __m128i codes = _mm_cvtsi64_si128((long long)((uint64_t)high << 32 | low));
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_unpacklo_epi8(codes, codes));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(wide), _mm512_set1_ps(by));
}
DOTS_INLINE fast_step fast_q4_k_unpack(const uint8_t *b, __mmask16 lanes)
{
    const uint32_t first = fast_u32(b + 4), second = fast_u32(b + 8), third = fast_u32(b + 12);
    const uint32_t high = (third & 0x0f0f0f0f) | (first >> 2 & 0x30303030);
    const uint32_t high_minimum = (third >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030);
    const __m512i half = _mm512_set_epi32(4, 4, 0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 4, 4, 0, 0);
    const __m512i q0 = fast_64(b + 16), q1 = fast_64(b + 80);
    __m512i from = _mm512_set_epi32(28, 24, 28, 24, 20, 16, 20, 16, 12, 8, 12, 8, 4, 0, 4, 0);
    fast_step out;
    (void)lanes; /* rows are whole steps */
    DOTS_UNROLL
    for (size_t i = 0; i < 4; i++) {
        out.w[i] = _mm512_permutex2var_epi32(q0, from, q1);
        out.w[i] = fast_low_nibbles(_mm512_srlv_epi32(out.w[i], half));
        from = _mm512_add_epi32(from, _mm512_set1_epi32(1));
    }
    out.scale = fast_8_codes(first & 0x3f3f3f3f, high, fast_half(b));
    out.minimum = fast_8_codes(second & 0x3f3f3f3f, high_minimum, fast_half(b + 2));
    return out;
}

/* q6_k: the codes are 32 too large; of every 128 elements the low nibbles of 64 bytes are the first
 * 64. Two more bits of each are in 32 bytes, those of the first 32 lowest. -----------------------
 */

DOTS_INLINE fast_step fast_q6_k_unpack(const uint8_t *b, __mmask16 lanes)
{
    const __m128i scales = _mm_loadu_si128((const __m128i *)(const void *)(b + 192));
    const __m512i bits = _mm512_set1_epi8(0x30);
    __m512i blocks[4];
    fast_step out;
    (void)lanes;
    out.scale = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(scales)),
                              _mm512_set1_ps(fast_half(b + 208)));
    DOTS_UNROLL
    for (size_t half = 0; half < 2; half++) {
        const __m512i q = fast_64(b + 64 * half);
        const __m512i two = _mm512_broadcast_i64x4(fast_32(b + 128 + 32 * half));
        /* to bits 4 and 5 of every byte: what comes from other bytes is masked */
        const __m512i first = _mm512_rolv_epi64(two, _mm512_set_epi64(2, 2, 2, 2, 4, 4, 4, 4));
        const __m512i other = _mm512_rorv_epi64(two, _mm512_set_epi64(2, 2, 2, 2, 0, 0, 0, 0));
        blocks[2 * half] = _mm512_or_si512(fast_low_nibbles(q), _mm512_and_si512(first, bits));
        blocks[2 * half + 1] = _mm512_or_si512(fast_high_nibbles(q), _mm512_and_si512(other, bits));
    }
    fast_turn(blocks, out.w);
    return out;
}

/* Rows ------------------------------------------------------------------------------------------
 */

typedef struct fast_type {
    size_t block_elements, block_bytes;
    fast_step (*unpack)(const uint8_t *b, __mmask16 lanes);
    unsigned above; /* 2^above is what the integers are too large by; 0: they have minima */
} fast_type;

/* A step of two rows, `far` bytes apart, times a constant number of vectors. */
DOTS_INLINE void fast_two(const uint8_t *w, size_t far, __mmask16 lanes,
                          const wte__int8_dots_step *h, size_t n_h, fast_type type, lines_sums sums)
{
    fast_step step[DOTS_LINES];
    DOTS_UNROLL
    for (size_t r = 0; r < DOTS_LINES; r++) step[r] = type.unpack(w + r * far, lanes);
    DOTS_UNROLL
    for (size_t i = 0; i < n_h; i++, h++) {
        __m512i less = fast_64(h->less), dots[DOTS_LINES];
        __m512 scale = _mm512_loadu_ps(h->scale);
        DOTS_KEEP(scale);
        dots[0] = type.above ? _mm512_slli_epi32(less, type.above) : _mm512_setzero_si512();
        dots[1] = dots[0];
        DOTS_UNROLL
        for (size_t j = 0; j < 4; j++) {
            __m512i q = fast_64(h->q + 64 * j);
            DOTS_KEEP(q);
            DOTS_UNROLL
            for (size_t r = 0; r < DOTS_LINES; r++)
                dots[r] = _mm512_dpbusd_epi32(dots[r], step[r].w[j], q);
        }
        DOTS_UNROLL
        for (size_t r = 0; r < DOTS_LINES; r++) {
            __m512 *const sum = &sums[i / 2][i % 2 * 2 + r], by = step[r].scale;
            __m512 x = _mm512_cvtepi32_ps(dots[r]);
            if (type.above) {
                *sum = _mm512_fmadd_ps(x, _mm512_mul_ps(by, scale), *sum);
                continue;
            }
            x = _mm512_fmadd_ps(x, by, _mm512_mul_ps(step[r].minimum, _mm512_cvtepi32_ps(less)));
            *sum = _mm512_fmadd_ps(x, scale, *sum);
        }
    }
}

typedef struct fast_lines {
    const wte__int8_dots *job;
    size_t first; /* vector */
    fast_type type;
} fast_lines;

/* Steps of rows w and w + far. Rows shorter than one are filled up with blocks of zeros. */
DOTS_INLINE void fast_steps(const void *kernel, const char *w, size_t far, size_t ahead,
                            const size_t range[2], size_t n_h, lines_sums sums)
{
    const fast_lines *const f = kernel;
    const fast_type type = f->type;
    const size_t bytes = WTE__BYTES_STEP / type.block_elements * type.block_bytes;
    const size_t left = type.block_elements < WTE__BYTES_STEP ? f->job->dim % WTE__BYTES_STEP : 0;
    const size_t left_bytes = left / type.block_elements * type.block_bytes;
    const wte__int8_dots_step *h = f->job->h + range[0] * f->job->n_h + f->first;
    const uint8_t *from = (const uint8_t *)w + range[0] * bytes;
    uint8_t rest[DOTS_LINES * FAST_STEP_BYTES];
    __mmask16 lanes = 0xffff;
    if (left == f->job->dim && left) {
        memset(rest, 0, sizeof rest);
        for (size_t r = 0; r < DOTS_LINES; r++)
            memcpy(rest + r * FAST_STEP_BYTES, w + r * far, left_bytes);
        fast_two(rest, FAST_STEP_BYTES, lanes, h, n_h, type, sums);
        return;
    }
    for (size_t k = range[0] * WTE__BYTES_STEP; k < range[1] * WTE__BYTES_STEP;
         k += WTE__BYTES_STEP, h += f->job->n_h, from += bytes) {
        if (left && f->job->dim - k == left) { /* a whole step of which the one before had a part */
            from -= bytes - left_bytes;
            lanes = (__mmask16)(0xffffu << (16 - left / 16));
        }
        fast_two(from, far, lanes, h, n_h, type, sums);
        for (size_t r = 0; r < DOTS_LINES; r++)
            for (size_t line = 0; line < bytes; line += 64)
                _mm_prefetch((const char *)from + r * far + ahead + line, _MM_HINT_T0);
    }
}

/* How many vectors go together. */
DOTS_INLINE size_t fast_next(size_t left)
{
    return left >= 8 ? 8 : left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}
/* Steps of all vectors that stay in the first-level cache beside two lines. */
#define FAST_NEAR_STEPS ((size_t)64)

DOTS_INLINE void fast_run(const wte__int8_dots *job, fast_type type)
{
    const size_t halves = (job->n_w + 1) / DOTS_LINES, steps = wte__int8_dots_steps(job->dim);
    for (size_t row = 0; row < halves; row += DOTS_LINE_ROWS) {
        const size_t to = halves - row < DOTS_LINE_ROWS ? halves : row + DOTS_LINE_ROWS;
        for (size_t i = 0, n; i < job->n_h; i += n) {
            n = fast_next(job->n_h - i);
            const fast_lines kernel = { job, i, type };
            const size_t near = FAST_NEAR_STEPS / n;
            const lines_walk t = { job->w,
                                   job->w_stride,
                                   job->n_w,
                                   job->prefetch_rows,
                                   job->out + i * job->out_stride,
                                   job->out_stride,
                                   steps,
                                   steps > near ? near : steps,
                                   DOTS_LINE_ROWS,
                                   i == 0 };
            switch (n) {
            case 1: lines_rows(&t, row, to, 1, fast_steps, &kernel); break;
            case 2: lines_rows(&t, row, to, 2, fast_steps, &kernel); break;
            case 4: lines_rows(&t, row, to, 4, fast_steps, &kernel); break;
            case 6: lines_rows(&t, row, to, 6, fast_steps, &kernel); break;
            default: lines_rows(&t, row, to, 8, fast_steps, &kernel);
            }
        }
    }
}

#define FAST_KERNEL(name, block_elements, block_bytes, above)                                      \
    static void fast_##name##_avx512_bf16_vnni(const wte__int8_dots *job)                          \
    {                                                                                              \
        const fast_type type = { block_elements, block_bytes, fast_##name##_unpack, above };       \
        fast_run(job, type);                                                                       \
    }
#endif
