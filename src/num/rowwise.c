/* Rows with one scale and one bias each: names and sizes, rows of them as a row source, and their
 * quantisation, which is FBGEMM's reference bit for bit. Decoding is in the kernels. */
#include <wte/block.h>
#include <wte/rowwise.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/overlap.h"
#include "num/stored.h"

/* Row numbers of one call of a kernel when a block of rows is read; they lie on the stack. */
#define ROWS_AT_ONCE 256u

typedef struct rowwise_type {
    const char *name;
    wte_rowwise value;
    uint32_t bits, extra; /* of one element; bytes of scale and bias */
    bool front;
} rowwise_type;

static const rowwise_type types[] = {
#define X(NAME, name, value, bits, scale, front)                                                   \
    { #name, WTE_##NAME, (bits), (scale) == WTE_F32 ? 8 : 4, (front) },
    WTE_ROWWISE_LIST(X)
#undef X
};

static const rowwise_type *find(uint32_t packing)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((uint32_t)types[i].value == packing) return &types[i];
    return NULL;
}

const char *wte_rowwise_name(wte_rowwise type)
{
    const rowwise_type *t = find((uint32_t)type);
    return t ? t->name : type == WTE_ROWWISE_NONE ? "none" : "unknown";
}

uint64_t wte_packed_bytes(uint32_t packing, uint64_t cols)
{
    const rowwise_type *t = find(packing);
    const uint32_t elements = wte_block_elements((wte_block_type)packing);
    uint64_t bytes;
    if (t) {
        if (!wte__mul_u64(cols, t->bits, &bytes) || !wte__add_u64(bytes, 7, &bytes) ||
            !wte__add_u64(bytes / 8, t->extra, &bytes))
            return 0;
        return bytes;
    }
    if (!elements || cols % elements ||
        !wte__mul_u64(cols / elements, wte_block_bytes((wte_block_type)packing), &bytes))
        return 0;
    return bytes;
}

/* Row source --------------------------------------------------------------------------------- */

static void decode_rows(const wte_rowwise_source *s, const uint64_t *ids, size_t n, char *out)
{
    const size_t out_bytes = (size_t)s->cols * sizeof(float);
    wte__lookup job = {
        .rows = ids, .n = n, .prefetch_end = n, .out = out, .out_stride = out_bytes
    };
    wte__row_kernels kernels;
    job.scale = 1.0f;
    if (s->cols && n &&
        wte__stored_packed((uint32_t)s->type, s->cols, s->data, s->row_bytes, &job.from, &kernels))
        kernels.lookup(&job);
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    (void)err; /* nothing here can fail */
    decode_rows(ctx, ids, n, out);
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte_rowwise_source *s = ctx;
    uint64_t ids[ROWS_AT_ONCE];
    (void)err;
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < ROWS_AT_ONCE ? n - done : ROWS_AT_ONCE;
        for (size_t i = 0; i < some; i++) ids[i] = first + done + i;
        decode_rows(s, ids, some, (char *)out + done * (size_t)s->cols * sizeof(float));
    }
    return WTE_OK;
}

static wte_status check_type(wte_rowwise type, wte_error *err)
{
    if (find((uint32_t)type)) return WTE_OK;
    return wte__fail(err, WTE_E_UNSUPPORTED, (uint64_t)type,
                     "no rowwise type has the number %" PRIu32, (uint32_t)type);
}

/* Bytes of one row, and from one to the next: row_bytes as given, or tight. */
static wte_status check_row(wte_rowwise type, uint64_t cols, uint64_t row_bytes, uint64_t *tight,
                            uint64_t *stride, wte_error *err)
{
    *tight = wte_packed_bytes((uint32_t)type, cols);
    *stride = row_bytes ? row_bytes : *tight;
    if (!*tight)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "rows of %" PRIu64 " numbers are more than memory can hold", cols);
    if (*stride >= *tight) return WTE_OK;
    return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                     "rows are %" PRIu64 " bytes apart, but one of %" PRIu64 " %s takes %" PRIu64,
                     *stride, cols, wte_rowwise_name(type), *tight);
}

wte_status wte_row_source_from_rowwise(wte_rowwise type, uint64_t rows, uint64_t cols,
                                       const void *data, uint64_t row_bytes,
                                       wte_rowwise_source *storage, wte_row_source *out,
                                       wte_error *err)
{
    uint64_t tight, stride;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_row_source_from_rowwise: out", err));
    WTE_TRY(check_type(type, err));
    if (!storage || (!data && rows))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%" PRIu64 " rows of %s: data or storage is NULL", rows,
                         wte_rowwise_name(type));
    WTE_TRY(check_row(type, cols, row_bytes, &tight, &stride, err));
    const wte_row_source source = {
        .rows = rows,
        .cols = cols,
        .dtype = WTE_F32,
        .packing = (uint32_t)type,
        .read_rows = read_rows,
        .read_block = read_block,
        .ctx = storage,
        .packed = data,
        .packed_row_bytes = stride,
    };
    WTE_TRY(wte_check_rows(&source, err));
    *storage =
        (wte_rowwise_source){ .type = type, .data = data, .row_bytes = stride, .cols = cols };
    *out = source;
    return WTE_OK;
}

/* Quantisation ------------------------------------------------------------------------------- */

/* Of one row: its extremes, of equal ones the first; and how it is quantised. */
typedef struct row_range {
    float least, most;
} row_range;

static bool find_range(const float *x, uint64_t n, row_range *out)
{
    *out = n ? (row_range){ x[0], x[0] } : (row_range){ 0, 0 };
    uint64_t finite = 0;
    for (uint64_t i = 0; i < n; i++) {
        finite += isfinite(x[i]) != 0;
        if (x[i] < out->least) out->least = x[i];
        if (x[i] > out->most) out->most = x[i];
    }
    return finite == n;
}

static float rounded_to_half(float x, uint16_t *half)
{
    float back;
    wte__kernels_get()->f32_to_f16(&x, half, 1);
    wte__kernels_get()->f16_to_f32(half, &back, 1);
    return back;
}

/* What a row is stored with; `offset` and `by` make a code: (x - offset) * by. */
typedef struct quantiser {
    uint8_t scale_bias[8];
    float offset, by;
    bool fits;
} quantiser;

/* 8 bits after FBGEMM's form with a scale of f32: the scale is not rounded, but a constant row is
 * kept from a division by zero. Its TBE keeps the same codes with scale and bias rounded to f16. */
static quantiser of_full_scale(row_range r, bool halves)
{
    const float range = r.most - r.least, pair[2] = { range / 255.0f, r.least };
    quantiser q = { .offset = r.least, .by = 255.0f / (range + 1e-8f), .fits = isfinite(range) };
    uint16_t half[2];
    for (size_t i = 0; i < 2 && halves; i++)
        q.fits = q.fits && isfinite(rounded_to_half(pair[i], &half[i]));
    if (halves)
        memcpy(q.scale_bias, half, sizeof half);
    else
        memcpy(q.scale_bias, pair, sizeof pair);
    return q;
}

/* Codes are made with the scale and the bias that are stored, which are of f16. */
static quantiser of_half_scale(row_range r, uint32_t bits)
{
    uint16_t half[2];
    quantiser q = { .offset = rounded_to_half(r.least, &half[1]) };
    const float range = r.most - q.offset;
    float scale = rounded_to_half(range == 0 ? 1.0f : range / (float)((1u << bits) - 1), &half[0]);
    if (scale == 0 || isinf(1.0f / scale)) scale = rounded_to_half(1.0f, &half[0]);
    q.by = 1.0f / scale;
    q.fits = isfinite(q.offset) && isfinite(range) && isfinite(scale);
    memcpy(q.scale_bias, half, sizeof half);
    return q;
}

static void put_codes(const float *x, uint64_t n, const quantiser *q, uint32_t bits, uint8_t *out)
{
    const int64_t most = (INT64_C(1) << bits) - 1;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t nearest = llrintf((x[i] - q->offset) * q->by);
        const int64_t code = nearest < 0 ? 0 : nearest > most ? most : nearest;
        uint8_t *byte = out + i * bits / 8;
        const uint32_t at = (uint32_t)(i * bits % 8);
        *byte = (uint8_t)((at ? *byte : 0) | (uint32_t)code << at);
    }
}

wte_status wte_rowwise_encode(wte_rowwise type, const float *values, uint64_t rows, uint64_t cols,
                              void *out, uint64_t row_bytes, wte_error *err)
{
    uint64_t tight, stride, end;
    WTE_TRY(check_type(type, err));
    WTE_TRY(check_row(type, cols, row_bytes, &tight, &stride, err));
    if (rows && (!out || (!values && cols)))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%" PRIu64 " rows of %s, but the %s is NULL", rows, wte_rowwise_name(type),
                         out ? "source" : "target");
    if (!wte__mul_u64(rows, stride, &end) || end > PTRDIFF_MAX)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%" PRIu64 " rows, %" PRIu64 " bytes apart, are more than memory can hold",
                         rows, stride);
    const wte__piece written = { "the output", out, rows, tight, stride };
    const wte__piece read = { "the numbers", values, rows, cols * sizeof *values, 0 };
    WTE_TRY(wte__no_overlap(wte_rowwise_name(type), written, read, err));
    const rowwise_type *t = find((uint32_t)type);
    const bool full = t->bits == 8 && (t->front || t->extra == 8);
    for (uint64_t r = 0; r < rows; r++) {
        const float *x = cols ? values + r * cols : NULL;
        uint8_t *row = (uint8_t *)out + r * stride;
        row_range range;
        if (!find_range(x, cols, &range))
            return wte__fail(err, WTE_E_UNSUPPORTED, r,
                             "row %" PRIu64 " holds NaN or infinity, which %s cannot", r, t->name);
        const quantiser q =
            full ? of_full_scale(range, t->extra == 4) : of_half_scale(range, t->bits);
        if (!q.fits)
            return wte__fail(err, WTE_E_UNSUPPORTED, r,
                             "row %" PRIu64 " reaches from %g to %g: too far for the scale or the "
                             "bias of %s",
                             r, (double)range.least, (double)range.most, t->name);
        memcpy(row + (t->front ? 0 : tight - t->extra), q.scale_bias, t->extra);
        put_codes(x, cols, &q, t->bits, row + (t->front ? t->extra : 0));
    }
    return WTE_OK;
}
