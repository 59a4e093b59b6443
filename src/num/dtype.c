/* Names and sizes of the element types, and which of them hold every value of another. */
#include <wte/dtype.h>

#include "num/dtype.h"

const char *wte_dtype_name(wte_dtype type)
{
    switch (type) {
    case WTE_DTYPE_NONE: return "none";
#define X(name, value, text, bits)                                                                 \
    case WTE_##name: return text;
        WTE_DTYPE_LIST(X)
#undef X
    case WTE_DTYPE_FORCE_INT: break;
    }
    return "unknown";
}

uint32_t wte_dtype_bits(wte_dtype type)
{
    switch (type) {
#define X(name, value, text, bits)                                                                 \
    case WTE_##name: return bits;
        WTE_DTYPE_LIST(X)
#undef X
    case WTE_DTYPE_NONE:
    case WTE_DTYPE_FORCE_INT: break;
    }
    return 0;
}

uint32_t wte_dtype_bytes(wte_dtype type)
{
    const uint32_t bits = wte_dtype_bits(type);
    return bits % 8 == 0 ? bits / 8 : 0;
}

bool wte_dtype_converts(wte_dtype type)
{
    return type >= WTE_F64 && type <= WTE_BOOL;
}

/* Other people's names: PyTorch, NumPy, Keras, GGUF, safetensors, C. */
static const struct {
    const char *name;
    wte_dtype type;
} synonyms[] = {
    { "float64", WTE_F64 },
    { "fp64", WTE_F64 },
    { "double", WTE_F64 },
    { "float32", WTE_F32 },
    { "fp32", WTE_F32 },
    { "float", WTE_F32 },
    { "single", WTE_F32 },
    { "float16", WTE_F16 },
    { "fp16", WTE_F16 },
    { "half", WTE_F16 },
    { "bfloat16", WTE_BF16 },
    { "float8_e4m3fn", WTE_F8_E4M3 },
    { "float8_e4m3", WTE_F8_E4M3 },
    { "fp8_e4m3", WTE_F8_E4M3 },
    { "f8_e4m3fn", WTE_F8_E4M3 },
    { "float8_e5m2", WTE_F8_E5M2 },
    { "fp8_e5m2", WTE_F8_E5M2 },
    { "int8", WTE_I8 },
    { "uint8", WTE_U8 },
    { "byte", WTE_U8 },
    { "int16", WTE_I16 },
    { "short", WTE_I16 },
    { "uint16", WTE_U16 },
    { "int32", WTE_I32 },
    { "int", WTE_I32 },
    { "uint32", WTE_U32 },
    { "int64", WTE_I64 },
    { "long", WTE_I64 },
    { "uint64", WTE_U64 },
    { "boolean", WTE_BOOL },
    { "complex64", WTE_C64 },
    { "float8_e8m0fnu", WTE_F8_E8M0 },
    { "float8_e8m0", WTE_F8_E8M0 },
    { "float8_e4m3fnuz", WTE_F8_E4M3FNUZ },
    { "float8_e5m2fnuz", WTE_F8_E5M2FNUZ },
    { "float6_e2m3", WTE_F6_E2M3 },
    { "float6_e3m2", WTE_F6_E3M2 },
    { "float4_e2m1", WTE_F4 },
};

/* ASCII only: the answer may not depend on the locale. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool wte__same_name(const char *typed, const char *name)
{
    while (*typed && lower(*typed) == *name) {
        typed++;
        name++;
    }
    return *typed == '\0' && *name == '\0';
}

wte_dtype wte_dtype_from_name(const char *name)
{
    if (!name) return WTE_DTYPE_NONE;
#define X(id, value, text, bits)                                                                   \
    if (wte__same_name(name, text)) return WTE_##id;
    WTE_DTYPE_LIST(X)
#undef X
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (wte__same_name(name, synonyms[i].name)) return synonyms[i].type;
    return WTE_DTYPE_NONE;
}

/* The values a type holds: integers of `digits` bits besides the sign, or floats. */
static const wte__layout layouts[] = {
    [WTE_F64] = { WTE__FLOAT, true, 53, 11, true },
    [WTE_F32] = { WTE__FLOAT, true, 24, 8, true },
    [WTE_F16] = { WTE__FLOAT, true, 11, 5, true },
    [WTE_BF16] = { WTE__FLOAT, true, 8, 8, true },
    [WTE_F8_E4M3] = { WTE__FLOAT, true, 4, 4, false },
    [WTE_F8_E5M2] = { WTE__FLOAT, true, 3, 5, true },
    [WTE_I8] = { WTE__INTEGER, true, 7, 0, false },
    [WTE_U8] = { WTE__INTEGER, false, 8, 0, false },
    [WTE_I16] = { WTE__INTEGER, true, 15, 0, false },
    [WTE_U16] = { WTE__INTEGER, false, 16, 0, false },
    [WTE_I32] = { WTE__INTEGER, true, 31, 0, false },
    [WTE_U32] = { WTE__INTEGER, false, 32, 0, false },
    [WTE_I64] = { WTE__INTEGER, true, 63, 0, false },
    [WTE_U64] = { WTE__INTEGER, false, 64, 0, false },
    [WTE_BOOL] = { WTE__BOOL, false, 1, 0, false },
};

const wte__layout *wte__dtype_layout(wte_dtype type)
{
    return wte_dtype_converts(type) ? &layouts[type] : NULL;
}

bool wte_dtype_fits(wte_dtype from, wte_dtype to)
{
    if (from == to) return wte_dtype_bits(from) > 0;
    if (!wte_dtype_converts(from) || !wte_dtype_converts(to)) return false;
    const wte__layout *a = &layouts[from], *b = &layouts[to];
    if (a->kind == WTE__FLOAT)
        return b->kind == WTE__FLOAT && a->digits <= b->digits &&
               a->exponent_bits <= b->exponent_bits && a->has_infinity <= b->has_infinity;
    /* A float with enough digits also has the range: even e4m3, with 4, goes up to 448. */
    return a->digits <= b->digits && (b->is_signed || !a->is_signed);
}
