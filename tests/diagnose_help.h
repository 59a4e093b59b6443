/* Tables and vectors for the tests of diagnose: noise that repeats, and rounding done by hand, so
 * that nothing is checked with the code under test. */
#ifndef WTE_TESTS_DIAGNOSE_HELP_H
#define WTE_TESTS_DIAGNOSE_HELP_H
#include <math.h>
#include <wte/inspect.h>

#include "test.h"

/* Evenly spread in -1 .. 1, on a grid of 2^-23. */
static inline float noise(uint64_t *state)
{
    return (float)((double)(test_noise(state) >> 40) * 0x1p-23 - 1.0);
}
static inline void fill_noise(float *x, size_t n, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++) x[i] = noise(&state);
}

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* To bf16, ties to even; finite numbers only. */
static inline uint16_t to_bf16(float x)
{
    const uint32_t bits = bits_of(x);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
static inline float from_bf16(uint16_t bits)
{
    return from_bits((uint32_t)bits << 16);
}
static inline float round_bf16(float x)
{
    return from_bf16(to_bf16(x));
}
/* To f16's normal numbers: 11 binary digits, ties to even by rintf's default rounding. */
static inline float round_f16(float x)
{
    int exponent;
    const float m = frexpf(x, &exponent);
    return ldexpf(rintf(ldexpf(m, 11)), exponent - 11);
}
static inline float swap_bytes(float x)
{
    return from_bits(__builtin_bswap32(bits_of(x)));
}

static inline wte_row_source rows_of(const void *data, uint64_t rows, uint64_t cols,
                                     wte_dtype dtype)
{
    const wte_row_source made = { .rows = rows,
                                  .cols = cols,
                                  .dtype = dtype,
                                  .data = data,
                                  .row_bytes = cols * wte_dtype_bytes(dtype) };
    return made;
}

/* One vector from a file, f32. */
static inline wte_diagnosis diagnose_floats(const wte_row_source *table, int64_t id,
                                            const float *got, const wte_diagnose_options *opt)
{
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { got, WTE_F32, 0, 1, table->cols, NULL };
    wte_diagnosis d;
    wte_error err;
    assert_ok(wte_diagnose_rows(table, ids, &given, opt, &d, &err), err);
    return d;
}

/* One typed vector: every number with half a unit of its last digit. */
static inline wte_diagnosis diagnose_typed(const wte_row_source *table, int64_t id,
                                           const double *got, double half_unit)
{
    double half[64];
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { got, WTE_F64, 0, 1, table->cols, half };
    wte_diagnosis d;
    wte_error err;
    assert_true(table->cols <= 64);
    for (size_t i = 0; i < table->cols; i++) half[i] = half_unit;
    assert_ok(wte_diagnose_rows(table, ids, &given, NULL, &d, &err), err);
    return d;
}

/* torch.manual_seed(123); torch.nn.Embedding(6, 3): the table of the worked example. */
static const float demo_table[6][3] = {
    { 0x1.5977920p-2f, -0x1.6c16760p-3f, -0x1.5a05c00p-3f },
    { 0x1.d5e53e0p-1f, 0x1.94ba6c0p+0f, 0x1.4d10f40p+0f },
    { 0x1.467a240p+0f, -0x1.9b8d4c0p-3f, -0x1.48d5aa0p-3f },
    { -0x1.9b1fac0p-2f, 0x1.eee2780p-1f, -0x1.25ecc40p+0f },
    { -0x1.28ab900p+0f, 0x1.4d48460p-2f, -0x1.4354ac0p-1f },
    { -0x1.6b84ec0p+1f, -0x1.91d84c0p-1f, -0x1.68d9be0p+0f },
};
static inline wte_row_source demo_rows(void)
{
    return rows_of(demo_table, 6, 3, WTE_F32);
}
#endif
