/* First values of a table: PyTorch's own numbers for a seed, a uniform range, or zeros.
 *
 * Values are drawn into a small buffer, transformed there and converted into the table, so every
 * type takes the same road and nothing is allocated. */
#include <wte/table.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "num/kernels.h"
#include "table/draw.h"

/* Values drawn at a time; a multiple of the block, and small enough for the first-level cache. */
#define CHUNK ((uint64_t)1024)
#define BLOCK ((uint64_t)WTE__NORMAL_BLOCK)

typedef struct filling {
    wte_init_options opt; /* checked, defaults filled in */
    wte_dtype type;
    uint32_t element;
    bool wide;  /* drawn in double precision: f64 tables */
    bool fused; /* PyTorch's AVX2 kernels, which fuse multiplications and additions */
    uint8_t *data;
    uint64_t n; /* elements */
    wte__mt generator;
    union {
        float f32[CHUNK];
        double f64[CHUNK];
    } drawn;
} filling;

static void draw_uniforms(filling *f, uint64_t n)
{
    if (f->wide)
        for (uint64_t i = 0; i < n; i++) f->drawn.f64[i] = wte__mt_f64(&f->generator);
    else
        for (uint64_t i = 0; i < n; i++) f->drawn.f32[i] = wte__mt_f32(&f->generator);
}

/* Convert the first n drawn values into the table from element `first` on. */
static wte_status store(filling *f, uint64_t first, uint64_t n, wte_error *err)
{
    return wte_convert(f->wide ? WTE_F64 : WTE_F32, &f->drawn, f->type,
                       f->data + first * f->element, (size_t)n, NULL, err);
}

/* Turn n drawn uniforms, a multiple of the block, into normal numbers. */
static void make_normal(filling *f, uint64_t n)
{
    const double mean = f->opt.mean, std = f->opt.std;
    if (f->fused && !f->wide) {
        wte__kernels_get()->normal_f32(f->drawn.f32, (size_t)n, (float)mean, (float)std);
        return;
    }
    for (uint64_t i = 0; i < n; i += BLOCK) {
        if (f->wide)
            wte__normal_block_f64(f->drawn.f64 + i, mean, std, f->fused);
        else
            wte__normal_block_scalar(f->drawn.f32 + i, (float)mean, (float)std);
    }
}

/* Fewer elements than a block: PyTorch then draws pair by pair in double precision; of an odd last
 * pair the second is dropped. */
static wte_status fill_few(filling *f, wte_error *err)
{
    for (uint64_t i = 0; i < f->n; i += 2) {
        double pair[2];
        wte__normal_pair(&f->generator, pair, f->opt.mean, f->opt.std, f->fused);
        for (uint32_t k = 0; k < 2; k++) {
            if (f->wide)
                f->drawn.f64[i + k] = pair[k];
            else
                f->drawn.f32[i + k] = (float)pair[k];
        }
    }
    return store(f, 0, f->n, err);
}

static wte_status fill_normal(filling *f, wte_error *err)
{
    const uint64_t ragged = f->n % BLOCK, whole = f->n - ragged;
    if (f->n < BLOCK) return fill_few(f, err);
    for (uint64_t first = 0; first < whole; first += CHUNK) {
        const uint64_t n = whole - first < CHUNK ? whole - first : CHUNK;
        draw_uniforms(f, n);
        make_normal(f, n);
        WTE_TRY(store(f, first, n, err));
    }
    if (ragged == 0) return WTE_OK;
    /* PyTorch draws the ragged tail, drops it, and fills the last 16 elements anew */
    draw_uniforms(f, ragged);
    draw_uniforms(f, BLOCK);
    make_normal(f, BLOCK);
    return store(f, f->n - BLOCK, BLOCK, err);
}

/* The width is rounded first, the rest is one fma: as PyTorch's AVX2 build does it. */
static void make_range(filling *f, uint64_t n)
{
    const double low = f->opt.low, width = f->opt.high - low;
    const float low32 = f->wide ? 0.0f : (float)low;
    const float width32 = f->wide ? 0.0f : (float)f->opt.high - low32;
    for (uint64_t i = 0; i < n; i++) {
        if (f->wide)
            f->drawn.f64[i] = fma(f->drawn.f64[i], width, low);
        else
            f->drawn.f32[i] = fmaf(f->drawn.f32[i], width32, low32);
    }
}

static wte_status fill_uniform(filling *f, wte_error *err)
{
    for (uint64_t first = 0; first < f->n; first += CHUNK) {
        const uint64_t n = f->n - first < CHUNK ? f->n - first : CHUNK;
        draw_uniforms(f, n);
        make_range(f, n);
        WTE_TRY(store(f, first, n, err));
    }
    return WTE_OK;
}

static bool is_float(wte_dtype type)
{
    return type == WTE_F64 || type == WTE_F32 || type == WTE_F16 || type == WTE_BF16 ||
           type == WTE_F8_E4M3 || type == WTE_F8_E5M2;
}

/* A parameter must be a number that the type it is drawn in can hold. */
static wte_status check_number(const char *name, double value, wte_dtype type, wte_error *err)
{
    const double most = type == WTE_F64 ? DBL_MAX : (double)FLT_MAX;
    if (fabs(value) <= most) return WTE_OK; /* false for NaN */
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "init: %s is %g, but values are drawn within -%g..%g", name, value, most,
                     most);
}

static wte_status check_numbers(const wte_init_options *o, wte_dtype type, wte_error *err)
{
    const struct {
        const char *name;
        double value;
    } all[] = { { "mean", o->mean }, { "std", o->std }, { "low", o->low }, { "high", o->high } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (isnan(all[i].value)) return check_number(all[i].name, all[i].value, type, err);
    if (o->kind == WTE_INIT_ZEROS) return WTE_OK;
    if (o->kind == WTE_INIT_UNIFORM) {
        WTE_TRY(check_number("low", o->low, type, err));
        WTE_TRY(check_number("high", o->high, type, err));
        if (o->low > o->high)
            return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                             "init: low is %g, but high is only %g", o->low, o->high);
        return check_number("high - low", o->high - o->low, type, err);
    }
    WTE_TRY(check_number("mean", o->mean, type, err));
    WTE_TRY(check_number("std", o->std, type, err));
    if (o->std < 0)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "init: std is %g, but a standard deviation is not below 0", o->std);
    return WTE_OK;
}

/* Everything that can be wrong, before the table is touched. */
static wte_status check_init(wte_table *t, const wte_init_options *o, wte_error *err)
{
    const wte_dtype type = wte_table_dtype(t);
    if (!wte_table_data(t))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "init: the table borrows its rows, which are not to be written");
    if (o->kind < WTE_INIT_TORCH_AVX2 || o->kind > WTE_INIT_ZEROS)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "init: no kind has the number %d",
                         (int)o->kind);
    if (o->kind != WTE_INIT_ZEROS && !is_float(type))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "init: a table of type %s takes zeros only", wte_dtype_name(type));
    if (o->has_padding_id && o->padding_id >= wte_table_n_rows(t))
        return wte__fail(err, WTE_E_RANGE, o->padding_id,
                         "init: padding id %" PRIu64 ", but the table has %" PRIu64 " rows",
                         o->padding_id, wte_table_n_rows(t));
    return check_numbers(o, type, err);
}

wte_status wte_table_init(wte_table *t, const wte_init_options *opt, wte_error *err)
{
    filling f;
    f.opt = (wte_init_options)WTE_INIT_OPTIONS_INIT;
    WTE_TRY(wte__options(&f.opt, sizeof f.opt, opt, err));
    if (!t) return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "init: no table");
    if (f.opt.std == 0) f.opt.std = 1.0;
    if (f.opt.low == 0 && f.opt.high == 0) {
        f.opt.low = -0.05;
        f.opt.high = 0.05;
    }
    WTE_TRY(check_init(t, &f.opt, err));
    f.type = wte_table_dtype(t);
    f.element = wte_dtype_bytes(f.type);
    f.wide = f.type == WTE_F64;
    f.fused = f.opt.kind != WTE_INIT_TORCH_SCALAR;
    f.data = wte_table_data(t);
    f.n = wte_table_n_rows(t) * wte_table_dim(t);
    wte__mt_seed(&f.generator, f.opt.seed);
    const size_t row_bytes = (size_t)(wte_table_dim(t) * f.element);
    if (f.opt.kind == WTE_INIT_ZEROS)
        memset(f.data, 0, (size_t)f.n * f.element);
    else if (f.opt.kind == WTE_INIT_UNIFORM)
        WTE_TRY(fill_uniform(&f, err));
    else
        WTE_TRY(fill_normal(&f, err));
    if (f.opt.has_padding_id) memset(f.data + f.opt.padding_id * row_bytes, 0, row_bytes);
    return WTE_OK;
}
