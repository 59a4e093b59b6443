/* Numbers are rounded to steps of 1/127 of their row's largest. How far that turns the row is
 * known, so the angle between two copies says how near the rows can be at most. */
#include "inspect/int8_copy.h"

#include <math.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"

#define MOST_COLUMNS 131072u   /* a sum of as many products of two steps fits an int32 */
#define HALF_TURN    3.1415927 /* a row that has no direction is anywhere */

wte_status wte__int8_copy_make(wte__int8_copy *r, uint64_t rows, size_t cols,
                               const wte_allocator *allocator, wte_error *err)
{
    uint64_t bytes = 0;
    *r = (wte__int8_copy){ .allocator = allocator, .rows = rows, .cols = cols };
    if (!wte__mul_u64(rows, cols, &bytes) || bytes > WTE_LIMIT_ROUGH_COPY || cols > MOST_COLUMNS)
        return WTE_OK;
    r->off = wte__alloc_array(allocator, rows, sizeof *r->off);
    r->steps = wte__alloc_array(allocator, rows, cols);
    if (r->off && r->steps) return WTE_OK;
    wte__int8_copy_free(r);
    return wte__no_memory(err, bytes, "a rough copy of the rows");
}

void wte__int8_copy_free(wte__int8_copy *r)
{
    wte__free(r->allocator, r->off, (size_t)r->rows * sizeof *r->off);
    wte__free(r->allocator, r->steps, (size_t)r->rows * r->cols);
    r->off = NULL;
    r->steps = NULL;
}

void wte__int8_copy_set(const wte__int8_copy *r, uint64_t row, const float *x)
{
    int8_t *to = r->steps + (size_t)row * r->cols;
    float most = 0;
    double lost = 0, all = 0;
    for (size_t c = 0; c < r->cols; c++) most = fmaxf(most, fabsf(x[c]));
    const float step = most / 127;
    for (size_t c = 0; c < r->cols; c++) {
        const float whole = step > 0 ? rintf(fminf(fmaxf(x[c] / step, -127), 127)) : 0;
        const double off = (double)x[c] - (double)whole * (double)step;
        to[c] = (int8_t)whole;
        lost += off * off;
        all += (double)x[c] * (double)x[c];
    }
    const double part = all > 0 ? sqrt(lost / all) : 1;
    r->off[row] = (float)(part < 1 ? asin(part) + 1e-6 : HALF_TURN);
}

bool wte__int8_copy_apart(const wte__int8_copy *r, uint64_t a, uint64_t b, double cosine)
{
    if (!r->steps) return false;
    const int8_t *x = r->steps + (size_t)a * r->cols, *y = r->steps + (size_t)b * r->cols;
    int32_t xy = 0, xx = 0, yy = 0;
    for (size_t c = 0; c < r->cols; c++) {
        xy += x[c] * y[c];
        xx += x[c] * x[c];
        yy += y[c] * y[c];
    }
    if (!xx || !yy) return false;
    const double turned = (double)r->off[a] + (double)r->off[b];
    const double between = acos(fmax(-1, fmin(1, xy / sqrt((double)xx * (double)yy))));
    return between - turned > acos(cosine) + 1e-6;
}
