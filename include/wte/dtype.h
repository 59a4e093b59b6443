/* wte/dtype.h - element types and conversion between them. */
#ifndef WTE_DTYPE_H
#define WTE_DTYPE_H
#include <wte/base.h>
#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, value, "name", bits): values are part of the ABI, append only. Little-endian in memory.
 * Types after BOOL are known by size and name; only some of them convert (wte_dtype_converts). */
#define WTE_DTYPE_LIST(X)                                                                          \
    X(F64, 1, "f64", 64)                                                                           \
    X(F32, 2, "f32", 32)                                                                           \
    X(F16, 3, "f16", 16)                                                                           \
    X(BF16, 4, "bf16", 16)                                                                         \
    X(F8_E4M3, 5, "f8_e4m3", 8)                                                                    \
    X(F8_E5M2, 6, "f8_e5m2", 8)                                                                    \
    X(I8, 7, "i8", 8)                                                                              \
    X(U8, 8, "u8", 8)                                                                              \
    X(I16, 9, "i16", 16)                                                                           \
    X(U16, 10, "u16", 16)                                                                          \
    X(I32, 11, "i32", 32)                                                                          \
    X(U32, 12, "u32", 32)                                                                          \
    X(I64, 13, "i64", 64)                                                                          \
    X(U64, 14, "u64", 64)                                                                          \
    X(BOOL, 15, "bool", 8)                                                                         \
    X(C64, 16, "c64", 64)                                                                          \
    X(F8_E8M0, 17, "f8_e8m0", 8)                                                                   \
    X(F8_E4M3FNUZ, 18, "f8_e4m3fnuz", 8)                                                           \
    X(F8_E5M2FNUZ, 19, "f8_e5m2fnuz", 8)                                                           \
    X(F6_E2M3, 20, "f6_e2m3", 6)                                                                   \
    X(F6_E3M2, 21, "f6_e3m2", 6)                                                                   \
    X(F4, 22, "f4", 4)

typedef enum wte_dtype {
    WTE_DTYPE_NONE = 0,
#define X(name, value, text, bits) WTE_##name = (value),
    WTE_DTYPE_LIST(X)
#undef X
        WTE_DTYPE_FORCE_INT = 0x7fffffff
} wte_dtype;

/** "f32" and so on; "none" for WTE_DTYPE_NONE, "unknown" for anything else. */
WTE_API const char *wte_dtype_name(wte_dtype type);
/** Size of one element in bits; 0 for WTE_DTYPE_NONE and unknown values. */
WTE_API uint32_t wte_dtype_bits(wte_dtype type);
/** Size of one element in bytes; 0 when it is not a whole number of bytes (F4, F6) or unknown. */
WTE_API uint32_t wte_dtype_bytes(wte_dtype type);
/** By name, upper or lower case, with the usual synonyms (float32, half, bfloat16, int64, ...);
 *  WTE_DTYPE_NONE when there is no such type. */
WTE_API wte_dtype wte_dtype_from_name(const char *name);
/** True for the types that wte_convert takes: F64 to BOOL in the list. */
WTE_API bool wte_dtype_converts(wte_dtype type);
/** True when every value of `from` is a value of `to`, so that widening is exact
 *  (f16 -> f32 yes; i32 -> f32 no: above 2^24 it is rounded to nearest, ties to even). */
WTE_API bool wte_dtype_fits(wte_dtype from, wte_dtype to);

/** What a conversion lost. Counts of elements. */
typedef struct wte_convert_report {
    uint64_t overflow;  /* beyond the target's range (became inf, NaN or the limit): a finite value,
                           or an infinity where the target has none */
    uint64_t underflow; /* not zero, but became zero */
    uint64_t inexact; /* in range and not zero afterwards, but rounded; to bool: neither 0 nor 1 */
    uint64_t nan;     /* NaN on the way in (kept NaN where the target has one, else 0) */
} wte_convert_report;

/** Convert n elements.
 *
 *  Exact where the value fits; else rounded to nearest, ties to even. NaN stays NaN (sign and upper
 *  payload bits kept where the target has room, always quiet). Beyond the range: f16, bf16, f32,
 *  f8_e5m2 get an infinity of the sign, f8_e4m3 (which has none) NaN, integers their nearest limit,
 *  NaN to an integer 0; bool is value != 0. All of these are counted in `report`.
 *  f64 -> f16/bf16/f8 rounds once, not through f32. The same type on both sides copies the bits,
 *  whatever they are. Assumes the default floating-point environment (rounding to nearest,
 *  subnormal numbers kept).
 *
 *  src, dst  n elements, any alignment, not overlapping; report may be NULL (it is added to)
 *  returns   E_UNSUPPORTED for a type that does not convert; E_ARGUMENT for NULL with n > 0
 *  cost      one pass, no allocation; fastest without a report and for f16, bf16, f32 */
WTE_API WTE_MUST_CHECK wte_status wte_convert(wte_dtype from, const void *src, wte_dtype to,
                                              void *dst, size_t n, wte_convert_report *report,
                                              wte_error *err);

/** The instruction set that serves a kernel here, after WTE_ISA: "scalar", "avx2", "avx512", ...
 *  i counts from 0; *kernel gets the kernel's name. Returns NULL past the last one. */
WTE_API const char *wte_kernel_isa(size_t i, const char **kernel);
/** WTE_OK, or E_UNSUPPORTED when the environment's WTE_ISA names a set that this build or machine
 *  does not have (then the best one is used; programs should refuse instead). */
WTE_API WTE_MUST_CHECK wte_status wte_isa_check(wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
