/* For the tests of .npy: the values that make_golden_npy.py puts into its files. */
#ifndef WTE_TESTS_FORMAT_NPY_H
#define WTE_TESTS_FORMAT_NPY_H
#include "format_files.h"

#include <wte/dtype.h>

/* NumPy's code and ours. */
static const struct npy_type {
    const char *code;
    wte_dtype type;
    bool has_sign;
} npy_types[] = {
    { "f2", WTE_F16, true },  { "f4", WTE_F32, true },  { "f8", WTE_F64, true },
    { "i1", WTE_I8, true },   { "i2", WTE_I16, true },  { "i4", WTE_I32, true },
    { "i8", WTE_I64, true },  { "u1", WTE_U8, false },  { "u2", WTE_U16, false },
    { "u4", WTE_U32, false }, { "u8", WTE_U64, false }, { "b1", WTE_BOOL, false },
    { "c8", WTE_C64, true },
};
#define N_NPY_TYPES (sizeof npy_types / sizeof npy_types[0])

/* Element k of a golden array, in this machine's order, at out. */
static inline void npy_value(const struct npy_type *t, int k, void *out)
{
    double v = t->has_sign ? k - 2 : k;
    if (t->type == WTE_BOOL) v = k % 2;
    if (t->type == WTE_C64) {
        const float pair[2] = { (float)v, (float)(v / 2) };
        memcpy(out, pair, sizeof pair);
        return;
    }
    wte_error err = { 0 };
    assert_ok(wte_convert(WTE_F64, &v, t->type, out, 1, NULL, &err), err);
}

/* n elements of a golden array from element `first` on. */
static inline void npy_values(const struct npy_type *t, int first, int n, void *out)
{
    for (int k = 0; k < n; k++)
        npy_value(t, first + k, (char *)out + (size_t)k * wte_dtype_bytes(t->type));
}
#endif
