/* Rounding of f32 to f16 and bf16 up or down by chance, without branches, so that a compiler can
 * take several numbers at once. Included by every instruction set's file: static, so that no code
 * of one can be linked into another's. */
#ifndef WTE_SRC_NUM_CHANCE_H
#define WTE_SRC_NUM_CHANCE_H
#include <stdint.h>
#include <string.h>

#define CHANCE_INLINE static inline __attribute__((always_inline))
#define CHANCE_BLOCK  16u

/* A number of 32 random bits for element i: a bijection of 32 bits that mixes well (shifts and
 * multiplications, as in hash functions), with half of the key before and half after. */
CHANCE_INLINE uint32_t chance_bits(uint64_t key, uint32_t i)
{
    uint32_t x = i * 0x9e3779b9u + (uint32_t)key;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x += (uint32_t)(key >> 32);
    x *= 0x846ca68bu;
    x ^= x >> 16;
    x *= 0x9e485565u;
    return x ^ x >> 15;
}

/* bits / 2^shift, up with the probability of what is cut off; 1 <= shift <= 31 */
CHANCE_INLINE uint32_t chance_shift(uint32_t bits, uint32_t shift, uint32_t random)
{
    return (bits + (random & ((1u << shift) - 1))) >> shift;
}

/* Infinity and NaN are as with rounding to nearest. Numbers beyond the largest may become infinite.
 */
CHANCE_INLINE uint16_t stochastic_round_bf16(uint32_t bits, uint32_t random)
{
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t cut = bits >> 16 | (magnitude > 0x7f800000u ? 0x40u : 0);
    const uint32_t rounded = chance_shift(bits, 16, random >> 16);
    return (uint16_t)(magnitude >= 0x7f800000u ? cut : rounded);
}
/* Below 2^-14 the result is a multiple of 2^-24: the significand is shifted by what its exponent
 * asks for, at most 31, after which only bits that chance has not are cut. */
CHANCE_INLINE uint16_t stochastic_round_f16(uint32_t bits, uint32_t random)
{
    const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    const uint32_t exponent = magnitude >> 23;
    const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x1ffu);
    const uint32_t special = magnitude > 0x7f800000u ? nan : 0x7c00u;
    const uint32_t usual = chance_shift(magnitude - (112u << 23), 13, random >> 19);
    const uint32_t wanted = 126 - (exponent < 113 ? exponent : 112);
    const uint32_t shift = wanted < 31 ? wanted : 31, before = wanted - shift;
    const uint32_t whole = (magnitude & 0x7fffffu) | (exponent ? 0x800000u : 0);
    const uint32_t cut = before < 31 ? whole >> (before & 31) : 0;
    const uint32_t small = chance_shift(cut, shift, random >> 1);
    const uint32_t code = exponent < 113 ? small : usual;
    return (uint16_t)(sign | (magnitude >= 0x47800000u ? special : code));
}

typedef uint16_t (*chance_number)(uint32_t bits, uint32_t random);

CHANCE_INLINE void chance_some(const float *src, char *out, uint32_t n, uint64_t key, uint32_t at,
                               chance_number number)
{
    uint32_t bits[CHANCE_BLOCK] = { 0 };
    uint16_t code[CHANCE_BLOCK];
    memcpy(bits, src + at, n * sizeof *bits);
    for (uint32_t i = 0; i < CHANCE_BLOCK; i++) code[i] = number(bits[i], chance_bits(key, at + i));
    memcpy(out + at * sizeof *code, code, n * sizeof *code);
}
CHANCE_INLINE void chance_row(const float *src, void *dst, size_t n, uint64_t key,
                              chance_number number)
{
    size_t at = 0;
    for (; n - at >= CHANCE_BLOCK; at += CHANCE_BLOCK)
        chance_some(src, dst, CHANCE_BLOCK, key, (uint32_t)at, number);
    if (at < n) chance_some(src, dst, (uint32_t)(n - at), key, (uint32_t)at, number);
}

#define CHANCE_KERNELS(isa)                                                                        \
    static void stochastic_round_f16_##isa(const float *src, void *dst, size_t n, uint64_t key)    \
    {                                                                                              \
        chance_row(src, dst, n, key, stochastic_round_f16);                                        \
    }                                                                                              \
    static void stochastic_round_bf16_##isa(const float *src, void *dst, size_t n, uint64_t key)   \
    {                                                                                              \
        chance_row(src, dst, n, key, stochastic_round_bf16);                                       \
    }
#endif
