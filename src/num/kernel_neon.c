/* NEON, which every little-endian AArch64 processor has. Holds static functions only: nothing
 * compiled here may be called by others but through the table at the end. */
#include <arm_neon.h>
#include <float.h>
#include <string.h>

#include "num/kernels.h"
#include "num/row_hash.h"
#include "num/simd_macros.h"

/* Loops take eight f32 at a time, in two registers: as many as there are f16 in one. */
typedef struct eight {
    float32x4_t low, high;
} eight;
typedef uint16x8_t halves;

/* Loads and stores go by bytes, which may lie anywhere. */
ALWAYS_INLINE uint8x16_t load_16(const void *src)
{
    return vld1q_u8(src);
}
ALWAYS_INLINE uint8x8_t load_8(const void *src)
{
    return vld1_u8(src);
}
ALWAYS_INLINE float32x4_t load_4_floats(const void *src)
{
    return vreinterpretq_f32_u8(load_16(src));
}
ALWAYS_INLINE void put_4_floats(void *dst, float32x4_t x)
{
    vst1q_u8(dst, vreinterpretq_u8_f32(x));
}
ALWAYS_INLINE void put_8(char *dst, eight x)
{
    put_4_floats(dst, x.low);
    put_4_floats(dst + 16, x.high);
}

/* Widening: eight elements at a time --------------------------------------------------------- */

ALWAYS_INLINE eight eight_f32(const char *src)
{
    return (eight){ load_4_floats(src), load_4_floats(src + 16) };
}
ALWAYS_INLINE void put_halves(char *out, halves values)
{
    vst1q_u8((uint8_t *)out, vreinterpretq_u8_u16(values));
}
ALWAYS_INLINE void four_to_f64(const char *from, char *to)
{
    const float32x4_t x = load_4_floats(from);
    vst1q_u8((uint8_t *)to, vreinterpretq_u8_f64(vcvt_f64_f32(vget_low_f32(x))));
    vst1q_u8((uint8_t *)to + 16, vreinterpretq_u8_f64(vcvt_high_f64_f32(x)));
}

#include "num/vec8.h"

ALWAYS_INLINE eight eight_of_s16(int16x8_t x)
{
    return (eight){ vcvtq_f32_s32(vmovl_s16(vget_low_s16(x))), vcvtq_f32_s32(vmovl_high_s16(x)) };
}
ALWAYS_INLINE eight eight_of_u16(uint16x8_t x)
{
    return (eight){ vcvtq_f32_u32(vmovl_u16(vget_low_u16(x))), vcvtq_f32_u32(vmovl_high_u16(x)) };
}
ALWAYS_INLINE eight eight_of_f16(uint16x8_t x)
{
    const float16x8_t f16 = vreinterpretq_f16_u16(x);
    return (eight){ vcvt_f32_f16(vget_low_f16(f16)), vcvt_high_f32_f16(f16) };
}
ALWAYS_INLINE float32x4_t four_f64(const char *src)
{
    const float64x2_t low = vreinterpretq_f64_u8(load_16(src));
    const float64x2_t high = vreinterpretq_f64_u8(load_16(src + 16));
    return vcvt_high_f32_f64(vcvt_f32_f64(low), high);
}

ALWAYS_INLINE eight eight_f64(const char *src)
{
    return (eight){ four_f64(src), four_f64(src + 32) };
}
ALWAYS_INLINE eight eight_f16(const char *src)
{
    return eight_of_f16(vreinterpretq_u16_u8(load_16(src)));
}
/* Without making NaN quiet, where what follows does that. */
ALWAYS_INLINE eight eight_bf16_as_is(const char *src)
{
    const uint16x8_t upper = vreinterpretq_u16_u8(load_16(src)), zero = vdupq_n_u16(0);
    return (eight){ vreinterpretq_f32_u16(vzip1q_u16(zero, upper)),
                    vreinterpretq_f32_u16(vzip2q_u16(zero, upper)) };
}
ALWAYS_INLINE float32x4_t four_quiet(float32x4_t x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t quiet = vbicq_u32(vdupq_n_u32(0x00400000), vceqq_f32(x, x));
    return vreinterpretq_f32_u32(vorrq_u32(bits, quiet));
}
ALWAYS_INLINE eight eight_bf16(const char *src)
{
    const eight x = eight_bf16_as_is(src);
    return (eight){ four_quiet(x.low), four_quiet(x.high) };
}
/* The code's exponent and fraction moved into an f16 are the value / 256 there, subnormals too. */
ALWAYS_INLINE eight eight_f8_e4m3(const char *src)
{
    const uint16x8_t code = vmovl_u8(load_8(src));
    const uint16x8_t magnitude = vandq_u16(code, vdupq_n_u16(0x7f));
    const uint16x8_t sign = vshlq_n_u16(vbicq_u16(code, vdupq_n_u16(0x7f)), 8);
    const uint16x8_t is_nan = vceqq_u16(magnitude, vdupq_n_u16(0x7f));
    const uint16x8_t half = vbslq_u16(is_nan, vdupq_n_u16(0x7e00), vshlq_n_u16(magnitude, 7));
    const eight x = eight_of_f16(vorrq_u16(half, sign));
    return (eight){ vmulq_n_f32(x.low, 256.0f), vmulq_n_f32(x.high, 256.0f) };
}
/* The code is the upper half of an f16. */
ALWAYS_INLINE eight eight_f8_e5m2(const char *src)
{
    const uint8x8_t code = load_8(src);
    return eight_of_f16(vreinterpretq_u16_u8(vzip1q_u8(vdupq_n_u8(0), vcombine_u8(code, code))));
}
ALWAYS_INLINE eight eight_i8(const char *src)
{
    return eight_of_s16(vmovl_s8(vreinterpret_s8_u8(load_8(src))));
}
ALWAYS_INLINE eight eight_u8(const char *src)
{
    return eight_of_u16(vmovl_u8(load_8(src)));
}
ALWAYS_INLINE eight eight_i16(const char *src)
{
    return eight_of_s16(vreinterpretq_s16_u8(load_16(src)));
}
ALWAYS_INLINE eight eight_u16(const char *src)
{
    return eight_of_u16(vreinterpretq_u16_u8(load_16(src)));
}
ALWAYS_INLINE eight eight_i32(const char *src)
{
    return (eight){ vcvtq_f32_s32(vreinterpretq_s32_u8(load_16(src))),
                    vcvtq_f32_s32(vreinterpretq_s32_u8(load_16(src + 16))) };
}
ALWAYS_INLINE eight eight_u32(const char *src)
{
    return (eight){ vcvtq_f32_u32(vreinterpretq_u32_u8(load_16(src))),
                    vcvtq_f32_u32(vreinterpretq_u32_u8(load_16(src + 16))) };
}
ALWAYS_INLINE eight eight_bool(const char *src)
{
    return eight_of_u16(vmovl_u8(vmin_u8(load_8(src), vdup_n_u8(1))));
}
/* One instruction each, which rounds once; there is none for several. */
#define X(name, type)                                                                              \
    ALWAYS_INLINE eight eight_##name(const char *src)                                              \
    {                                                                                              \
        type value[8];                                                                             \
        float x[8];                                                                                \
        memcpy(value, src, sizeof value);                                                          \
        for (size_t i = 0; i < 8; i++) x[i] = (float)value[i];                                     \
        return eight_f32((const char *)x);                                                         \
    }
X(i64, int64_t)
X(u64, uint64_t)
#undef X

/* X(name, bytes of an element) */
#define WIDENED(X)                                                                                 \
    X(f64, 8)                                                                                      \
    X(f16, 2)                                                                                      \
    X(bf16, 2)                                                                                     \
    X(f8_e4m3, 1)                                                                                  \
    X(f8_e5m2, 1)                                                                                  \
    X(i8, 1)                                                                                       \
    X(u8, 1)                                                                                       \
    X(i16, 2)                                                                                      \
    X(u16, 2)                                                                                      \
    X(i32, 4)                                                                                      \
    X(u32, 4)                                                                                      \
    X(i64, 8)                                                                                      \
    X(u64, 8)                                                                                      \
    X(bool, 1)
#define X(name, size)                                                                              \
    static void name##_to_f32_neon(const void *src, void *dst, size_t n)                           \
    {                                                                                              \
        widen(src, dst, n, size, eight_##name);                                                    \
    }
WIDENED(X)
#undef X

/* Narrowing to 16 bits ----------------------------------------------------------------------- */

ALWAYS_INLINE uint16x8_t eight_to_f16(eight x)
{
    return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(x.low), x.high));
}
ALWAYS_INLINE uint32x4_t four_to_bf16(float32x4_t x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    /* Half of the last bit that stays, less one unit unless that bit is odd: ties go to even. */
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(vdupq_n_u32(0x7fff), odd));
    /* Rounding a NaN could carry it into infinity or past the sign: it is cut and made quiet. */
    const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x00400000));
    return vbslq_u32(vceqq_f32(x, x), rounded, quiet);
}
ALWAYS_INLINE uint16x8_t eight_to_bf16(eight x)
{
    return vshrn_high_n_u32(vshrn_n_u32(four_to_bf16(x.low), 16), four_to_bf16(x.high), 16);
}

NARROW_KERNELS(neon)

/* Blocks ------------------------------------------------------------------------------------- */

#include "num/block_neon.h"

#define X(NAME, name, value, elements, bytes) BLOCK_KERNEL(name, neon, elements, bytes)
WTE_BLOCK_LIST(X)
#undef X

ALWAYS_INLINE void encode_q8_0(const char *src, uint8_t *block)
{
    float32x4_t x[8], max = vdupq_n_f32(0);
    int16x4_t q[8];
    UNROLLED
    for (size_t i = 0; i < 8; i++) {
        x[i] = load_4_floats(src + 16 * i);
        max = vmaxq_f32(max, vabsq_f32(x[i]));
    }
    const float d = vmaxvq_f32(max) / 127.0f, reciprocal = 1.0f / d;
    const uint16_t half = vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(d))), 0);
    /* For d = 0, or so small that its reciprocal is infinite, all is zero. */
    const float by = reciprocal <= FLT_MAX ? reciprocal : 0.0f;
    UNROLLED
    for (size_t i = 0; i < 8; i++) /* halves away from zero */
        q[i] = vmovn_s32(vcvtaq_s32_f32(vmulq_n_f32(x[i], by)));
    memcpy(block, &half, sizeof half);
    UNROLLED
    for (size_t i = 0; i < 4; i++)
        vst1_u8(block + 2 + 8 * i,
                vreinterpret_u8_s8(vmovn_s16(vcombine_s16(q[2 * i], q[2 * i + 1]))));
}
Q8_0_KERNEL(neon)

/* Gathering rows ----------------------------------------------------------------------------- */

/* Cores of this kind see by themselves that whole lines are written, and then do not read them
 * first: there is nothing to do for `stream`. */
ALWAYS_INLINE void copy_line(char *to, const char *from, bool stream)
{
    const uint8x16_t a = load_16(from), b = load_16(from + 16);
    const uint8x16_t c = load_16(from + 32), d = load_16(from + 48);
    uint8_t *line = (uint8_t *)to;
    (void)stream;
    vst1q_u8(line, a);
    vst1q_u8(line + 16, b);
    vst1q_u8(line + 32, c);
    vst1q_u8(line + 48, d);
}

#include "num/gather_tmpl.h"
#include "num/normal.h"

GATHER_KERNEL(neon, (void)0)

static void normal_f32_neon(float *x, size_t n, float mean, float std)
{
    normal_blocks(x, n, mean, std);
}

/* Statistics of a row ------------------------------------------------------------------------ */

/* Lanes 4h to 4h + 3 of vector v are at 4v + h. */
typedef struct row_sums {
    float32x4_t four[16];
} row_sums;

ALWAYS_INLINE row_sums no_sums(void)
{
    row_sums sums;
    UNROLLED
    for (size_t i = 0; i < 16; i++) sums.four[i] = vdupq_n_f32(0);
    return sums;
}
ALWAYS_INLINE void add_square(row_sums *sums, size_t at, float32x4_t x)
{
    sums->four[at] = vaddq_f32(sums->four[at], vmulq_f32(x, x));
}
ALWAYS_INLINE void add_squares(row_sums *sums, const char *group, size_t size, eight_to_f32 read)
{
    UNROLLED
    for (size_t i = 0; i < 8; i++) {
        const eight x = read(group + 8 * i * size);
        add_square(sums, 2 * i, x.low);
        add_square(sums, 2 * i + 1, x.high);
    }
}
ALWAYS_INLINE void add_squares_f32(row_sums *sums, const char *group)
{
    add_squares(sums, group, sizeof(float), eight_f32);
}
ALWAYS_INLINE void add_squares_f16(row_sums *sums, const char *group)
{
    add_squares(sums, group, sizeof(uint16_t), eight_f16);
}
/* A shift and a mask widen the even elements and the odd ones, which are a vector apart. */
ALWAYS_INLINE void add_squares_bf16(row_sums *sums, const char *group)
{
    UNROLLED
    for (size_t i = 0; i < 8; i++) {
        const uint32x4_t words = vreinterpretq_u32_u8(load_16(group + 16 * i));
        const uint32x4_t odd = vandq_u32(words, vdupq_n_u32(0xffff0000u));
        const size_t at = i / 4 * 8 + i % 4;
        add_square(sums, at, vreinterpretq_f32_u32(vshlq_n_u32(words, 16)));
        add_square(sums, at + 4, vreinterpretq_f32_u32(odd));
    }
}

/* Rotated to the left. */
#define TURNED(x, bits) vsriq_n_u32(vshlq_n_u32(x, bits), x, 32 - (bits))
/* Lanes 4h to 4h + 3. */
ALWAYS_INLINE uint64_t mark_quarter(const row_sums *sums, size_t h)
{
    const uint32x4_t a = vreinterpretq_u32_f32(sums->four[h]);
    const uint32x4_t b = vreinterpretq_u32_f32(sums->four[h + 4]);
    const uint32x4_t c = vreinterpretq_u32_f32(sums->four[h + 8]);
    const uint32x4_t d = vreinterpretq_u32_f32(sums->four[h + 12]);
    const uint32x4_t word =
        veorq_u32(veorq_u32(a, TURNED(b, 8)), veorq_u32(TURNED(c, 16), TURNED(d, 24)));
    const uint64x2_t both = vreinterpretq_u64_u32(word);
    uint64_t pair[2], mark = 0;
    vst1q_u64(pair, veorq_u64(both, vshrq_n_u64(both, 29)));
    for (size_t i = 0; i < 2; i++) {
        pair[i] *= row_mark_factor[2 * h + i];
        mark += pair[i] ^ pair[i] >> 32;
    }
    return mark;
}
ALWAYS_INLINE float add_4(float32x4_t x)
{
    const float32x2_t two = vadd_f32(vget_low_f32(x), vget_high_f32(x));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
/* Lanes 8, then 4, 2 and 1 apart. */
ALWAYS_INLINE float add_16(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d)
{
    return add_4(vaddq_f32(vaddq_f32(a, c), vaddq_f32(b, d)));
}
ALWAYS_INLINE void finish_stats(const row_sums *sums, wte__row_stats *out)
{
    const float32x4_t *v = sums->four;
    float32x4_t least = v[0], most = v[0], sum[4];
    UNROLLED
    for (size_t i = 1; i < 16; i++) {
        least = vminq_f32(least, v[i]);
        most = vmaxq_f32(most, v[i]);
    }
    UNROLLED
    for (size_t h = 0; h < 4; h++)
        sum[h] = vaddq_f32(vaddq_f32(v[h], v[h + 8]), vaddq_f32(v[h + 4], v[h + 12]));
    out->squares = add_16(sum[0], sum[1], sum[2], sum[3]);
    out->min = vminvq_f32(least);
    out->max = vmaxvq_f32(most);
    out->mark = 0;
    UNROLLED
    for (size_t h = 0; h < 4; h++) out->mark += mark_quarter(sums, h);
}

#include "num/row_stats.h"
ROW_STATS_KERNELS(neon)

#include "num/bag_neon.h"
#include "num/dots_neon.h"
#include "num/optim_neon.h"
#include "num/scatter_neon.h"
#include "num/stochastic_round.h"
#include "num/sums_vec8.h"

SUMS_KERNELS(f32, neon, sum_rows, 4, eight_f32)
SUMS_KERNELS(f16, neon, sum_rows, 2, eight_f16)
SUMS_KERNELS(bf16, neon, sum_rows, 2, eight_bf16_as_is)

CHANCE_KERNELS(neon)

DOTS_KERNEL(f32, 4, eight_f32)
DOTS_KERNEL(f16, 2, eight_f16)
DOTS_KERNEL(bf16, 2, eight_bf16_as_is)

#include "num/head_neon.h"
#include "num/learn_neon.h"

const wte__kernels wte__kernels_neon = {
    .isa = "neon",
#define X(name, size) .name##_to_f32 = name##_to_f32_neon,
    WIDENED(X)
#undef X
#define X(NAME, name, value, elements, bytes) .name##_to_f32 = name##_to_f32_neon,
        WTE_BLOCK_LIST(X)
#undef X
#define X(name, bits) .lookup_##name = lookup_##name##_neon, .bags_##name = bags_##name##_neon,
            WTE__STORED_LIST(X)
#undef X
#define X(name, bits) .bags_##name = bags_##name##_neon,
                WTE__STORED_BLOCKS(X)
#undef X
                    .f32_to_f16 = f32_to_f16_neon,
    .f32_to_bf16 = f32_to_bf16_neon,
    .f32_to_f64 = f32_to_f64_neon,
    .f32_to_q8_0 = f32_to_q8_0_neon,
    .gather_rows = gather_rows_neon,
    .normal_f32 = normal_f32_neon,
    .f32_row_stats = f32_row_stats_neon,
    .f16_row_stats = f16_row_stats_neon,
    .bf16_row_stats = bf16_row_stats_neon,
    .products_f32 = products_f32_neon,
    .products_f16 = products_f16_neon,
    .products_bf16 = products_bf16_neon,
    .distances_f32 = distances_f32_neon,
    .distances_f16 = distances_f16_neon,
    .distances_bf16 = distances_bf16_neon,
    .dots_f32 = dots_f32_neon,
    .dots_f16 = dots_f16_neon,
    .dots_bf16 = dots_bf16_neon,
    .logit_epilogue = logit_epilogue_neon,
    .exp_f32 = exp_f32_neon,
    .softmax_sums = softmax_sums_neon,
    .softmax_grad = softmax_grad_neon,
    .select_ge_f32 = select_ge_f32_neon,
    .outer_f32 = outer_f32_neon,
    .scatter_f32 = scatter_f32_neon,
    .scatter_f16 = scatter_f16_neon,
    .scatter_bf16 = scatter_bf16_neon,
    .sumsq_f64acc = sumsq_f64acc_neon,
    LEARN_TABLE(neon),
    OPTIM_TABLE(neon),
    .stochastic_round_f16 = stochastic_round_f16_neon,
    .stochastic_round_bf16 = stochastic_round_bf16_neon,
};
