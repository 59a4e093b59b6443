/* The norm of gradients, and clipping by it. Sums are of f64, made row by row in a fixed number of
 * slices of the table, so that threads, and rows that a sparse gradient leaves out, change no bit.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "optim/grad.h"

#define SLICES 256u

typedef struct walk {
    const wte_grad *g;
    float by; /* what scale_slice multiplies by */
    double sum[SLICES];
} walk;

/* The first of the rows with values that belongs to a slice; of slice SLICES: the end. */
static uint64_t slice_begin(const wte_grad *g, uint64_t slice)
{
    const uint64_t over = g->rows % SLICES;
    const uint64_t row = g->rows / SLICES * slice + (slice < over ? slice : over);
    uint64_t low = 0, high = g->n;
    if (!g->ids) return row < g->n ? row : g->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (g->ids[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sum_slice(void *ctx, uint64_t slice)
{
    walk *w = ctx;
    const wte_grad *g = w->g;
    const wte__kernels *kernels = wte__kernels_get();
    const uint64_t end = slice_begin(g, slice + 1);
    double sum = 0;
    for (uint64_t i = slice_begin(g, slice); i < end; i++)
        sum += kernels->sumsq_f64acc(g->values + i * g->cols, (size_t)g->cols);
    w->sum[slice] = sum;
}

static void scale_slice(void *ctx, uint64_t slice)
{
    const walk *w = ctx;
    const wte_grad *g = w->g;
    const uint64_t begin = slice_begin(g, slice), end = slice_begin(g, slice + 1);
    const wte__logit_epilogue after = { .scale = w->by };
    const size_t n = (size_t)((end - begin) * g->cols);
    if (n == 0) return;
    if (w->by != 0)
        wte__kernels_get()->logit_epilogue(g->values + begin * g->cols, n, NULL, &after);
    else
        memset(g->values + begin * g->cols, 0, n * sizeof(float));
}

static bool stands_before(wte_grad *const *grads, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (grads[k] == grads[i]) return true;
    return false;
}

/* Which row it is that made a sum of squares not finite. No square of a finite f32 does. */
static wte_status not_finite(const wte_grad *g, size_t number, wte_error *err)
{
    const wte__kernels *kernels = wte__kernels_get();
    uint64_t i = 0;
    while (i + 1 < g->n &&
           isfinite(kernels->sumsq_f64acc(g->values + i * g->cols, (size_t)g->cols)) != 0)
        i++;
    const uint64_t row = g->ids ? g->ids[i] : i;
    return wte__fail(err, WTE_E_RANGE, row, "gradient %zu: row %" PRIu64 " holds NaN or infinity",
                     number, row);
}

wte_status wte_grad_norm(wte_grad *const *grads, size_t n, double *norm, wte_error *err)
{
    double sum = 0;
    WTE_TRY(wte__need(norm, "wte_grad_norm: norm", err));
    *norm = 0;
    WTE_TRY(wte__need_array(grads, n, sizeof *grads, "wte_grad_norm: grads", err));
    for (size_t i = 0; i < n; i++) WTE_TRY(wte__need(grads[i], "wte_grad_norm: a gradient", err));
    for (size_t i = 0; i < n; i++) {
        walk w = { .g = grads[i] };
        if (stands_before(grads, i) || !w.g->values) continue;
        wte__parallel(w.g->o.pool, SLICES, sum_slice, &w);
        for (size_t k = 0; k < SLICES; k++) sum += w.sum[k];
        if (!isfinite(sum)) return not_finite(w.g, i, err);
    }
    *norm = sqrt(sum);
    return WTE_OK;
}

wte_status wte_grad_clip(wte_grad *const *grads, size_t n, double max_norm, double *norm,
                         wte_error *err)
{
    double before;
    if (norm) *norm = 0;
    if (!(max_norm >= 0))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "gradient: clipped to a norm of %g",
                         max_norm);
    WTE_TRY(wte_grad_norm(grads, n, &before, err));
    if (norm) *norm = before;
    const double by = max_norm / (before + 1e-6);
    if (!(by < 1)) return WTE_OK;
    for (size_t i = 0; i < n; i++) {
        walk w = { .g = grads[i], .by = (float)by };
        if (!stands_before(grads, i) && w.g->values)
            wte__parallel(w.g->o.pool, SLICES, scale_slice, &w);
    }
    return WTE_OK;
}
