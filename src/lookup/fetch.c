/* Rows in the type that is wanted. Where a kernel reads the table as it is stored, one pass does
 * all; else rows go through scratch that stays in the caches: as they are stored (from a reader, or
 * to be shortened), as f32 (to be rounded to a narrow type), or both. */
#include "lookup/fetch.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "lookup/ids.h"
#include "num/source.h"

/* Scratch of one thread for rows that a source reads: many at once amortise its calls ... */
#define READ_BYTES ((size_t)256 << 10)
/* ... and for rows that are only converted: half of the first-level cache. */
#define CONVERT_BYTES ((size_t)16 << 10)

static bool shortens(const wte__fetch *f)
{
    return f->limit.max_norm > 0;
}

static bool is_narrow(wte_dtype type)
{
    return type == WTE_F16 || type == WTE_BF16;
}

/* Every number of the type is one of f32, so that a narrow type can be rounded to from f32. */
static bool through_f32(const wte__fetch *f)
{
    return is_narrow(f->out_type) && f->rows->dtype != f->out_type &&
           wte_dtype_fits(f->rows->dtype, WTE_F32);
}

/* Whether, and how, kernels read the rows: those of the table, else rows staged one by one. */
static void choose_kernels(wte__fetch *f)
{
    const wte_row_source *r = f->rows;
    f->direct = !shortens(f) &&
                ((r->packing && r->packed &&
                  wte__stored_packed(r->packing, r->cols, r->packed, r->packed_row_bytes,
                                     &f->stored, &f->kernels)) ||
                 (f->from_view && wte__stored_plain(r->dtype, r->cols, r->data, r->row_bytes,
                                                    &f->stored, &f->kernels)));
    if (f->direct ||
        wte__stored_plain(r->dtype, r->cols, NULL, f->in_bytes, &f->stored, &f->kernels))
        return;
    f->kernels = (wte__row_kernels){ NULL, NULL };
    f->stored = (wte__stored){ .table = r->data, .stride = (size_t)r->row_bytes };
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

void wte__fetch_init(wte__fetch *f, size_t out_stride)
{
    const wte_row_source *r = f->rows;
    f->in_bytes = (size_t)r->cols * wte_dtype_bytes(r->dtype);
    f->out_bytes = (size_t)r->cols * wte_dtype_bytes(f->out_type);
    choose_kernels(f);
    const bool as_is = r->dtype == f->out_type && f->scale == 1.0f && !shortens(f);
    f->decodes = as_is && !f->from_view && wte__is_block_source(r);
    f->copies = as_is && !f->decodes && !(f->direct && r->packing && r->packed);
    const bool in_place = f->copies && out_stride == f->out_bytes;
    const bool from_table = f->direct || f->decodes || (f->from_view && !shortens(f));
    f->staged = !from_table && !in_place;
    const bool kernel = f->kernels.lookup != NULL;
    f->widened =
        !(kernel && f->out_type == WTE_F32) && (f->scale != 1.0f || (kernel && through_f32(f)));
    const size_t row =
        (f->staged ? f->in_bytes : 0) + (f->widened ? (size_t)r->cols * sizeof(float) : 0);
    const size_t most = f->staged && !f->from_view ? READ_BYTES : CONVERT_BYTES;
    f->step_rows = WTE__IDS_BLOCK;
    if (row) f->step_rows = most / row < f->step_rows ? most / row : f->step_rows;
    if (f->step_rows == 0) f->step_rows = 1;
    f->staged_bytes = f->staged ? whole_lines(f->step_rows * f->in_bytes) : 0;
    f->scratch_bytes =
        f->staged_bytes +
        (f->widened ? whole_lines(f->step_rows * (size_t)r->cols * sizeof(float)) : 0);
}

/* Rows that are to be converted, and where they are now. */
typedef struct source {
    wte__stored from;
    const uint64_t *row;
    size_t n, known;
} source;

/* One row; bits are copied also where the type does not convert. */
static wte_status convert(wte_dtype from, const void *src, wte_dtype to, void *dst, size_t n,
                          wte_error *err)
{
    if (from != to) return wte_convert(from, src, to, dst, n, NULL, err);
    memcpy(dst, src, n * wte_dtype_bytes(to));
    return WTE_OK;
}

/* Into scratch, as f32 and multiplied; then rounded to the type that is wanted. */
static wte_status by_way_of_f32(const wte__fetch *f, const source *s, uint8_t *out,
                                size_t out_stride, float *wide, wte_error *err)
{
    const size_t cols = (size_t)f->rows->cols;
    if (f->kernels.lookup) {
        const wte__lookup job = { .from = s->from,
                                  .rows = s->row,
                                  .n = s->n,
                                  .prefetch_end = s->known,
                                  .out = wide,
                                  .out_stride = cols * sizeof *wide,
                                  .scale = f->scale };
        f->kernels.lookup(&job);
    }
    for (size_t i = 0; i < s->n; i++) {
        float *row = wide + i * cols;
        if (!f->kernels.lookup) {
            const char *from = (const char *)s->from.table + s->row[i] * s->from.stride;
            WTE_TRY(convert(f->rows->dtype, from, WTE_F32, row, cols, err));
            for (size_t c = 0; c < cols; c++) row[c] *= f->scale;
        }
        WTE_TRY(convert(WTE_F32, row, f->out_type, out + i * out_stride, cols, err));
    }
    return WTE_OK;
}

static wte_status convert_rows(const wte__fetch *f, const source *s, uint8_t *out,
                               size_t out_stride, float *wide, wte_error *err)
{
    if (f->widened) return by_way_of_f32(f, s, out, out_stride, wide, err);
    if (f->kernels.lookup && f->out_type == WTE_F32 && !f->copies) {
        const wte__lookup job = { .from = s->from,
                                  .rows = s->row,
                                  .n = s->n,
                                  .prefetch_end = s->known,
                                  .out = out,
                                  .out_stride = out_stride,
                                  .scale = f->scale,
                                  .stream = f->stream };
        f->kernels.lookup(&job);
        return WTE_OK;
    }
    for (size_t i = 0; i < s->n; i++) {
        const char *from = (const char *)s->from.table + s->row[i] * s->from.stride;
        WTE_TRY(convert(f->rows->dtype, from, f->out_type, out + i * out_stride,
                        (size_t)f->rows->cols, err));
    }
    return WTE_OK;
}

/* n rows into scratch as they are stored, side by side, and shortened there. */
static wte_status stage(const wte__fetch *f, const uint64_t *row, size_t n, uint8_t *to,
                        wte_error *err)
{
    const wte_row_source *r = f->rows;
    if (f->from_view)
        wte__kernels_get()->gather_rows(to, f->in_bytes, r->data, (size_t)r->row_bytes, row, n,
                                        f->in_bytes, false);
    else
        WTE_TRY(wte__source_rows(r, row, n, to, err));
    for (size_t i = 0; shortens(f) && i < n; i++)
        (void)wte__renorm_row(&f->limit, r->dtype, to + i * f->in_bytes, (size_t)r->cols);
    return WTE_OK;
}

static wte_status fetch_step(const wte__fetch *f, source s, uint8_t *out, size_t out_stride,
                             uint8_t *scratch, wte_error *err)
{
    uint64_t counting[WTE__IDS_BLOCK];
    uint8_t *wide = scratch;
    if (f->staged) {
        WTE_TRY(stage(f, s.row, s.n, scratch, err));
        for (size_t i = 0; i < s.n; i++) counting[i] = i;
        wide += f->staged_bytes;
        s.from.table = s.from.codes = scratch;
        s.from.stride = f->in_bytes;
        s.row = counting;
        s.known = s.n;
    }
    return convert_rows(f, &s, out, out_stride, (float *)(void *)wide, err);
}

wte_status wte__fetch_rows(const wte__fetch *f, const uint64_t *row, size_t n, size_t known,
                           uint8_t *out, size_t out_stride, uint8_t *scratch, wte_error *err)
{
    const wte_row_source *r = f->rows;
    if (f->copies && f->from_view) {
        wte__kernels_get()->gather_rows(out, out_stride, r->data, (size_t)r->row_bytes, row, n,
                                        f->out_bytes, f->stream);
        return WTE_OK;
    }
    if (f->copies && !f->staged) return wte__source_rows(r, row, n, out, err);
    if (f->decodes) {
        const wte__lookup job = { .rows = row,
                                  .n = n,
                                  .prefetch_end = known,
                                  .out = out,
                                  .out_stride = out_stride,
                                  .stream = f->stream };
        wte__block_lookup(r, &job);
        return WTE_OK;
    }
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < f->step_rows ? n - done : f->step_rows;
        const source s = { f->stored, row + done, some, known - done };
        WTE_TRY(fetch_step(f, s, out + done * out_stride, out_stride, scratch, err));
    }
    return WTE_OK;
}
