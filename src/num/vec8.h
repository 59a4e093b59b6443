/* Loops over eight f32 at a time, for AVX2 and NEON. An instruction set's file defines
 *
 *     eight, halves          8 f32, and 8 elements of 16 bits
 *     eight_f32(from)        eight f32 in memory
 *     put_8(to, x), put_halves(to, x)
 *     four_to_f64(from, to)  four f32 to f64
 *
 * and then includes this. What is fewer than eight goes through buffers of zeros: nothing beyond
 * it is touched. */
#ifndef WTE_SRC_NUM_EIGHTS_H
#define WTE_SRC_NUM_EIGHTS_H
#include <stdint.h>
#include <string.h>

#include "num/kernels.h"
#include "num/simd_macros.h"

typedef eight (*eight_to_f32)(const char *src);
typedef halves (*eight_from_f32)(eight x);

/* The first n lanes, zeros behind them, of elements of `size` bytes. */
ALWAYS_INLINE eight some_of_eight(const char *from, size_t n, size_t size, eight_to_f32 read)
{
    char part[8 * sizeof(double)];
    if (n == 8) return read(from);
    memset(part, 0, 8 * size);
    memcpy(part, from, n * size);
    return read(part);
}
ALWAYS_INLINE void put_some_of_8(char *to, eight x, size_t n)
{
    char part[8 * sizeof(float)];
    if (n == 8) {
        put_8(to, x);
        return;
    }
    put_8(part, x);
    memcpy(to, part, n * sizeof(float));
}

/* Inlined, so that each kernel becomes its own loop. */
ALWAYS_INLINE void widen(const char *src, char *dst, size_t n, size_t size, eight_to_f32 read)
{
    for (; n >= 8; n -= 8, src += 8 * size, dst += 8 * sizeof(float)) put_8(dst, read(src));
    if (n) put_some_of_8(dst, some_of_eight(src, n, size, read), n);
}
ALWAYS_INLINE void narrow(const char *src, char *dst, size_t n, eight_from_f32 round)
{
    for (; n >= 8; n -= 8, src += 8 * sizeof(float), dst += 8 * sizeof(uint16_t))
        put_halves(dst, round(eight_f32(src)));
    if (n == 0) return;
    char out[8 * sizeof(uint16_t)];
    put_halves(out, round(some_of_eight(src, n, sizeof(float), eight_f32)));
    memcpy(dst, out, n * sizeof(uint16_t));
}
ALWAYS_INLINE void widen_to_f64(const char *src, char *dst, size_t n)
{
    for (; n >= 4; n -= 4, src += 4 * sizeof(float), dst += 4 * sizeof(double))
        four_to_f64(src, dst);
    if (n == 0) return;
    char in[4 * sizeof(float)] = { 0 }, out[4 * sizeof(double)];
    memcpy(in, src, n * sizeof(float));
    four_to_f64(in, out);
    memcpy(dst, out, n * sizeof(double));
}

#define NARROW_KERNELS(isa)                                                                        \
    static void f32_to_f16_##isa(const void *src, void *dst, size_t n)                             \
    {                                                                                              \
        narrow(src, dst, n, eight_to_f16);                                                         \
    }                                                                                              \
    static void f32_to_bf16_##isa(const void *src, void *dst, size_t n)                            \
    {                                                                                              \
        narrow(src, dst, n, eight_to_bf16);                                                        \
    }                                                                                              \
    static void f32_to_f64_##isa(const void *src, void *dst, size_t n)                             \
    {                                                                                              \
        widen_to_f64(src, dst, n);                                                                 \
    }
/* encode_q8_0(from, block) does 32 f32. */
#define Q8_0_KERNEL(isa)                                                                           \
    static void f32_to_q8_0_##isa(const void *src, void *dst, size_t n)                            \
    {                                                                                              \
        const char *in = src;                                                                      \
        uint8_t *block = dst;                                                                      \
        for (; n; n--, in += 32 * sizeof(float), block += 34) encode_q8_0(in, block);              \
    }
#endif
