/* wte_convert: a kernel where one serves the pair of types, two with exact f32 between where that
 * rounds once, else one element at a time through an exact number (number.c). */
#include <math.h>
#include <string.h>
#include <wte/dtype.h>

#include "base/error.h"
#include "base/overlap.h"
#include "num/kernels.h"
#include "num/number.h"

/* Elements converted at once, so that f32 between lies on the stack and in the L1 cache: 8 KiB. */
#define CHUNK 1024u

typedef void (*convert_kernel)(const void *src, void *dst, size_t n);

static convert_kernel widening(const wte__kernels *k, wte_dtype from)
{
    switch (from) {
    case WTE_F64: return k->f64_to_f32;
    case WTE_F16: return k->f16_to_f32;
    case WTE_BF16: return k->bf16_to_f32;
    case WTE_F8_E4M3: return k->f8_e4m3_to_f32;
    case WTE_F8_E5M2: return k->f8_e5m2_to_f32;
    case WTE_I8: return k->i8_to_f32;
    case WTE_U8: return k->u8_to_f32;
    case WTE_I16: return k->i16_to_f32;
    case WTE_U16: return k->u16_to_f32;
    case WTE_I32: return k->i32_to_f32;
    case WTE_U32: return k->u32_to_f32;
    case WTE_I64: return k->i64_to_f32;
    case WTE_U64: return k->u64_to_f32;
    case WTE_BOOL: return k->bool_to_f32;
    default: return NULL;
    }
}

/* From f32 to any other type; f64 is wider, but the steps are the same. */
static convert_kernel narrowing(const wte__kernels *k, wte_dtype to)
{
    switch (to) {
    case WTE_F16: return k->f32_to_f16;
    case WTE_BF16: return k->f32_to_bf16;
    case WTE_F64: return k->f32_to_f64;
    default: return NULL;
    }
}

/* How kernels serve a pair of types: widened to f32, narrowed from it, or both in turn. */
typedef struct fast_way {
    convert_kernel widen;  /* NULL: the source is f32 */
    convert_kernel narrow; /* NULL: the target is f32 */
    convert_kernel back;   /* narrow's inverse, to see what it lost */
    bool exact_f32;        /* every value of the source is one of f32 */
} fast_way;

static bool find_way(wte_dtype from, wte_dtype to, fast_way *way)
{
    const wte__kernels *k = wte__kernels_get();
    way->widen = widening(k, from);
    way->narrow = narrowing(k, to);
    way->back = widening(k, to);
    way->exact_f32 = wte_dtype_fits(from, WTE_F32);
    if (from == WTE_F32) return way->narrow != NULL;
    if (to == WTE_F32) return true;
    /* With both steps one value could be rounded twice, unless the first one is exact. */
    return way->narrow && way->exact_f32;
}

/* What became of f32 values; `after` are the narrowed ones widened again. */
static void count_losses(const float *before, const float *after, size_t n,
                         wte_convert_report *report)
{
    uint64_t nan = 0, changed = 0, overflow = 0, underflow = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_nan = isnan(before[i]);
        nan += is_nan;
        changed += !is_nan && before[i] != after[i];
        overflow += isinf(after[i]) && !isinf(before[i]);
        underflow += after[i] == 0.0f && before[i] != 0.0f;
    }
    report->nan += nan;
    report->overflow += overflow;
    report->underflow += underflow;
    report->inexact += changed - overflow - underflow;
}

/* By way of f32 between; n <= CHUNK. */
static void convert_chunk(const fast_way *way, const char *src, char *dst, size_t n,
                          wte_convert_report *report)
{
    float between[CHUNK], after[CHUNK];
    if (way->widen)
        way->widen(src, between, n);
    else
        memcpy(between, src, n * sizeof *between);
    if (way->narrow)
        way->narrow(between, dst, n);
    else
        memcpy(dst, between, n * sizeof *between);
    if (!report) return;
    if (way->narrow) way->back(dst, after, n);
    count_losses(between, way->narrow ? after : between, n, report);
}

/* False when no kernels serve this pair, or they would not show what is lost. */
static bool convert_fast(wte_dtype from, const char *src, wte_dtype to, char *dst, size_t n,
                         wte_convert_report *report)
{
    fast_way way;
    if (!find_way(from, to, &way) || (report && !way.exact_f32)) return false;
    if (!report && !(way.widen && way.narrow)) {
        (way.widen ? way.widen : way.narrow)(src, dst, n);
        return true;
    }
    const size_t from_bytes = wte_dtype_bytes(from), to_bytes = wte_dtype_bytes(to);
    for (size_t done = 0; done < n;) {
        const size_t now = n - done < CHUNK ? n - done : CHUNK;
        convert_chunk(&way, src + done * from_bytes, dst + done * to_bytes, now, report);
        done += now;
    }
    return true;
}

static void convert_each(wte_dtype from, const char *src, wte_dtype to, char *dst, size_t n,
                         uint64_t losses[WTE__N_LOSSES])
{
    const size_t from_bytes = wte_dtype_bytes(from), to_bytes = wte_dtype_bytes(to);
    for (size_t i = 0; i < n; i++) {
        const wte__number number = wte__number_load(from, src + i * from_bytes);
        losses[wte__number_store(number, to, dst + i * to_bytes)]++;
    }
}

static wte_status check_type(wte_dtype type, wte_error *err)
{
    if (wte_dtype_converts(type)) return WTE_OK;
    return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "elements of type %s (number %d) cannot be converted", wte_dtype_name(type),
                     (int)type);
}

wte_status wte_convert(wte_dtype from, const void *src, wte_dtype to, void *dst, size_t n,
                       wte_convert_report *report, wte_error *err)
{
    WTE_TRY(check_type(from, err));
    WTE_TRY(check_type(to, err));
    if (n == 0) return WTE_OK;
    if (!src || !dst)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s is NULL, but %zu elements are wanted", src ? "dst" : "src", n);
    const wte__piece written = { "dst", dst, n, wte_dtype_bytes(to), 0 };
    const wte__piece read = { "src", src, n, wte_dtype_bytes(from), 0 };
    WTE_TRY(wte__no_overlap("wte_convert", written, read, err));
    if (from != to && convert_fast(from, src, to, dst, n, report)) return WTE_OK;
    uint64_t losses[WTE__N_LOSSES] = { 0 };
    if (from != to || report) convert_each(from, src, to, dst, n, losses);
    /* The same type on both sides keeps every bit, also those that make a NaN a signalling one. */
    if (from == to) memcpy(dst, src, n * wte_dtype_bytes(to));
    if (report) {
        report->overflow += losses[WTE__OVERFLOW];
        report->underflow += losses[WTE__UNDERFLOW];
        report->inexact += losses[WTE__INEXACT];
        report->nan += losses[WTE__WAS_NAN];
    }
    return WTE_OK;
}
