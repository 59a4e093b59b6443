/* Norms of rows, and rows shortened to one: in a copy for lookups and bags, in place by an explicit
 * call. Sums are of doubles in eight lanes, so that they do not depend on the instruction set. */
#include "lookup/renorm.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "lookup/ids.h"

/* Elements converted at a time: 2 KiB of doubles on the stack. */
#define PIECE 256u
#define LANES 8u

wte_status wte__norm_numbers_check(double max_norm, double norm_type, const char *what,
                                   wte_error *err)
{
    if (!(max_norm >= 0))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%s: max_norm is %g", what, max_norm);
    if (!(norm_type >= 0))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: norm_type is %g, but norms are 1, 2, infinite or any positive number",
                         what, norm_type);
    return WTE_OK;
}

wte_status wte__norm_limit_init(wte__norm_limit *limit, double max_norm, double norm_type,
                                wte_dtype type, const char *what, wte_error *err)
{
    WTE_TRY(wte__norm_numbers_check(max_norm, norm_type, what, err));
    if (type != WTE_F64 && type != WTE_F32 && type != WTE_F16 && type != WTE_BF16)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: rows of %s have no norm; those of f64, f32, f16 and bf16 do", what,
                         wte_dtype_name(type));
    *limit = (wte__norm_limit){ max_norm, norm_type == 0 ? 2 : norm_type };
    return WTE_OK;
}

/* Adds |x|^p of n numbers to lanes, or takes their largest for an infinite p. */
static void add_powers(double lane[LANES], const double *x, size_t n, double p)
{
    size_t i = 0;
    for (; p == 2 && n - i >= LANES; i += LANES) /* the usual norm, as vectors */
        for (size_t k = 0; k < LANES; k++) lane[k] += x[i + k] * x[i + k];
    for (; i < n; i++) {
        const double size = fabs(x[i]);
        double *to = &lane[i % LANES];
        if (p == 2)
            *to += size * size;
        else if (p == 1)
            *to += size;
        else if (isinf(p))
            *to = size > *to || isnan(size) ? size : *to;
        else
            *to += pow(size, p);
    }
}

static double joined(const double lane[LANES], double p)
{
    double all = lane[0];
    for (size_t i = 1; i < LANES; i++) {
        if (!isinf(p))
            all += lane[i];
        else if (lane[i] > all || isnan(lane[i]))
            all = lane[i];
    }
    if (p == 2) return sqrt(all);
    return p == 1 || isinf(p) ? all : pow(all, 1 / p);
}

/* These types convert into each other: there is nothing to fail. */
static void convert(wte_dtype from, const void *src, wte_dtype to, void *dst, size_t n)
{
    const wte_status status = wte_convert(from, src, to, dst, n, NULL, NULL);
    (void)status;
}

/* Rounded to the type, as PyTorch has it; but where that would be infinite it is left alone, or the
 * row would become zero. */
static double rounded(double norm, wte_dtype type)
{
    unsigned char narrow[sizeof(double)];
    double back;
    convert(WTE_F64, &norm, type, narrow, 1);
    convert(type, narrow, WTE_F64, &back, 1);
    return isinf(back) ? norm : back;
}

static double norm_of(double p, wte_dtype type, const unsigned char *row, size_t cols)
{
    double lane[LANES] = { 0 }, piece[PIECE];
    const size_t size = wte_dtype_bytes(type);
    for (size_t done = 0, some; done < cols; done += some) {
        some = cols - done < PIECE ? cols - done : PIECE;
        convert(type, row + done * size, WTE_F64, piece, some);
        add_powers(lane, piece, some, p);
    }
    return joined(lane, p);
}

double wte__norm_f32(const void *x, size_t n)
{
    return norm_of(2, WTE_F32, x, n);
}

static void multiply(wte_dtype type, unsigned char *row, size_t cols, double factor)
{
    double piece[PIECE];
    float narrow[PIECE];
    const size_t size = wte_dtype_bytes(type);
    for (size_t done = 0, some; done < cols; done += some) {
        unsigned char *at = row + done * size;
        some = cols - done < PIECE ? cols - done : PIECE;
        if (type == WTE_F64) {
            convert(type, at, WTE_F64, piece, some);
            for (size_t i = 0; i < some; i++) piece[i] *= factor;
            convert(WTE_F64, piece, type, at, some);
        } else {
            convert(type, at, WTE_F32, narrow, some);
            for (size_t i = 0; i < some; i++) narrow[i] *= (float)factor;
            convert(WTE_F32, narrow, type, at, some);
        }
    }
}

bool wte__renorm_row(const wte__norm_limit *limit, wte_dtype type, void *row, size_t cols)
{
    const double norm = rounded(norm_of(limit->p, type, row, cols), type);
    if (!(norm > limit->max_norm)) return false;
    multiply(type, row, cols, limit->max_norm / (norm + 1e-7));
    return true;
}

wte_status wte_table_renorm(wte_table *t, wte_ids ids, double max_norm, double norm_type,
                            const wte_allocator *allocator, uint64_t *changed, wte_error *err)
{
    wte__norm_limit limit;
    wte__id_rules rules;
    wte_bad_ids bad;
    uint64_t shortened = 0;
    if (changed) *changed = 0;
    WTE_TRY(wte__need(t, "wte_table_renorm: t", err));
    WTE_TRY(wte__need_functions(allocator, NULL, err));
    unsigned char *data = wte_table_data(t);
    const wte_row_source *rows = wte_table_source(t);
    if (!data)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "renorm: the table borrows its rows, and cannot be written through");
    WTE_TRY(wte__norm_limit_init(&limit, max_norm, norm_type, rows->dtype, "renorm", err));
    WTE_TRY(wte__ids_check(ids, "renorm", err));
    wte__id_rules_init(&rules, rows->rows, NULL, 0);
    wte__ids_judge(ids, &rules, &bad);
    if (bad.count) return wte__bad_ids_error(&bad, ids.count, rows->rows, err);
    if (ids.count == 0 || rows->cols == 0) return WTE_OK;
    const size_t seen_bytes = (size_t)(rows->rows / 8 + 1);
    uint8_t *seen = wte__alloc_zeroed(allocator, seen_bytes);
    if (!seen) return wte__no_memory(err, seen_bytes, "which rows were shortened");
    for (uint64_t i = 0; i < ids.count; i++) {
        const uint64_t row = (uint64_t)wte_ids_at(ids, i);
        const uint8_t bit = (uint8_t)(1u << row % 8);
        if (seen[row / 8] & bit) continue;
        seen[row / 8] |= bit;
        shortened +=
            wte__renorm_row(&limit, rows->dtype, data + row * rows->row_bytes, (size_t)rows->cols);
    }
    wte__free(allocator, seen, seen_bytes);
    if (changed) *changed = shortened;
    return WTE_OK;
}
