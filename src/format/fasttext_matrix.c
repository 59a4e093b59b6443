/* Matrices of fastText files: dense f32, or product-quantised. Dense numbers and codes stay in the
 * file; only centroids, 1 KiB a dimension, are read when it is opened. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/fasttext.h"

#define CENTROIDS 256u
/* Numbers that a row is read through at once; on the stack. */
#define PIECE 1024u

typedef struct reader {
    const wte__ft_matrix *m;
    wte_file *f;
    uint64_t at;
    wte_error *err;
} reader;

static wte_status take(reader *r, void *out, uint64_t n)
{
    const wte__part *part = &r->f->parts[0];
    const uint64_t left = part->file.size - r->at;
    if (n > left)
        return wte__fail(r->err, WTE_E_FORMAT, r->at,
                         "%s: fastText: the %s matrix needs %" PRIu64 " bytes at byte %" PRIu64
                         ", but %" PRIu64 " are left",
                         part->path, r->m->name, n, r->at, left);
    if (out) WTE_TRY(wte__file_read_at(&part->file, r->at, out, n, part->path, r->err));
    r->at += n;
    return WTE_OK;
}

/* Sizes are signed in the file; negative ones are no sizes. */
static wte_status take_sizes(reader *r, uint64_t *out, size_t n, uint32_t bytes)
{
    uint8_t raw[4 * 8];
    const uint64_t begin = r->at;
    WTE_TRY(take(r, raw, (uint64_t)n * bytes));
    wte__span s = wte__span_make(raw, (uint64_t)n * bytes);
    for (size_t i = 0; i < n; i++) {
        out[i] = bytes == 8 ? wte__span_u64le(&s) : wte__span_u32le(&s);
        if (out[i] >> (8 * bytes - 1))
            return wte__fail(r->err, WTE_E_FORMAT, begin + i * bytes,
                             "%s: fastText: the %s matrix has a negative size at byte %" PRIu64,
                             r->f->path, r->m->name, begin + i * bytes);
    }
    return WTE_OK;
}

static wte_status refuse(const reader *r, uint64_t where, const char *what, uint64_t is,
                         uint64_t must)
{
    return wte__fail(r->err, WTE_E_FORMAT, where,
                     "%s: fastText: the %s matrix has %s %" PRIu64 ", but %" PRIu64 " is right",
                     r->f->path, r->m->name, what, is, must);
}

static void floats_of_file(float *numbers, size_t n)
{
    if (wte__host_is_big()) wte__swap_units(numbers, n * sizeof *numbers, sizeof *numbers);
}

static wte_status read_product(reader *r, wte__product *p, uint64_t dim)
{
    const uint64_t begin = r->at;
    uint64_t s[4], whole;
    WTE_TRY(take_sizes(r, s, 4, 4));
    if (s[0] != dim) return refuse(r, begin, "codes of width", s[0], dim);
    const bool fits = s[1] > 0 && s[3] > 0 && s[3] <= s[2] &&
                      wte__mul_u64(s[1] - 1, s[2], &whole) && whole + s[3] == dim;
    if (!fits)
        return wte__fail(r->err, WTE_E_FORMAT, begin + 4,
                         "%s: fastText: the %s matrix is cut into %" PRIu64 " parts of %" PRIu64
                         " and a last of %" PRIu64 ", but rows have %" PRIu64 " numbers",
                         r->f->path, r->m->name, s[1], s[2], s[3], dim);
    p->dim = (uint32_t)s[0];
    p->parts = (uint32_t)s[1];
    p->part_dim = (uint32_t)s[2];
    p->last_dim = (uint32_t)s[3];
    const uint64_t n = dim * CENTROIDS, at = r->at;
    WTE_TRY(take(r, NULL, n * sizeof(float)));
    p->centroids = wte__alloc_array(r->f->allocator, n, sizeof(float));
    if (!p->centroids) return wte__no_memory(r->err, n * sizeof(float), "centroids");
    WTE_TRY(wte__file_read_at(&r->f->parts[0].file, at, p->centroids, n * sizeof(float), r->f->path,
                              r->err));
    floats_of_file(p->centroids, (size_t)n);
    return WTE_OK;
}

static wte_status read_quantised(reader *r, wte__ft_matrix *m)
{
    uint8_t normed;
    uint64_t size[2], code_bytes;
    WTE_TRY(take(r, &normed, 1));
    WTE_TRY(take_sizes(r, size, 2, 8));
    const uint64_t codes_at = r->at;
    WTE_TRY(take_sizes(r, &code_bytes, 1, 4));
    m->rows = size[0];
    m->dim = size[1];
    m->normed = normed != 0;
    m->data_at = r->at;
    WTE_TRY(take(r, NULL, code_bytes));
    WTE_TRY(read_product(r, &m->codes, m->dim));
    uint64_t need;
    if (!wte__mul_u64(m->rows, m->codes.parts, &need) || need != code_bytes)
        return refuse(r, codes_at, "bytes of codes", code_bytes, need);
    if (!m->normed) return WTE_OK;
    m->norm_at = r->at;
    WTE_TRY(take(r, NULL, m->rows));
    return read_product(r, &m->norms, 1);
}

static wte_status read_dense(reader *r, wte__ft_matrix *m)
{
    uint64_t size[2], numbers, bytes;
    const uint64_t begin = r->at;
    WTE_TRY(take_sizes(r, size, 2, 8));
    m->rows = size[0];
    m->dim = size[1];
    m->data_at = r->at;
    if (!wte__mul_u64(m->rows, m->dim, &numbers) || !wte__mul_u64(numbers, sizeof(float), &bytes))
        return wte__fail(r->err, WTE_E_FORMAT, begin,
                         "%s: fastText: the %s matrix has %" PRIu64 " x %" PRIu64
                         " numbers, more than 64 bits can count",
                         r->f->path, r->m->name, m->rows, m->dim);
    return take(r, NULL, bytes);
}

wte_status wte__ft_matrix_read(wte__ft_matrix *m, wte_file *f, bool quantised, uint64_t *at,
                               wte_error *err)
{
    reader r = { m, f, *at, err };
    m->quantised = quantised;
    m->at = *at;
    WTE_TRY(quantised ? read_quantised(&r, m) : read_dense(&r, m));
    m->bytes = r.at - m->at;
    *at = r.at;
    return WTE_OK;
}

void wte__ft_matrix_clear(wte__ft_matrix *m, const wte_allocator *a)
{
    wte__free(a, m->codes.centroids, (size_t)m->codes.dim * CENTROIDS * sizeof(float));
    wte__free(a, m->norms.centroids, (size_t)m->norms.dim * CENTROIDS * sizeof(float));
    m->codes.centroids = m->norms.centroids = NULL;
}

static wte_status add_dense(const wte__ft_matrix *m, const wte__part *part, uint64_t row,
                            float *sum, wte_error *err)
{
    float piece[PIECE];
    for (uint64_t done = 0; done < m->dim;) {
        const uint64_t left = m->dim - done;
        const size_t n = left < PIECE ? (size_t)left : PIECE;
        WTE_TRY(wte__file_read_at(&part->file, m->data_at + (row * m->dim + done) * sizeof(float),
                                  piece, n * sizeof(float), part->path, err));
        floats_of_file(piece, n);
        for (size_t i = 0; i < n; i++) sum[done + i] += piece[i];
        done += n;
    }
    return WTE_OK;
}

static const float *centroid(const wte__product *p, uint32_t part, uint8_t code)
{
    const size_t before = (size_t)part * CENTROIDS * p->part_dim;
    const size_t width = part + 1 == p->parts ? p->last_dim : p->part_dim;
    return p->centroids + before + code * width;
}

static wte_status add_quantised(const wte__ft_matrix *m, const wte__part *part, uint64_t row,
                                float *sum, wte_error *err)
{
    const wte__product *p = &m->codes;
    uint8_t codes[PIECE], norm_code;
    float norm = 1;
    if (m->normed) {
        WTE_TRY(wte__file_read_at(&part->file, m->norm_at + row, &norm_code, 1, part->path, err));
        norm = *centroid(&m->norms, 0, norm_code);
    }
    for (uint32_t done = 0; done < p->parts;) {
        const uint32_t n = p->parts - done < PIECE ? p->parts - done : PIECE;
        WTE_TRY(wte__file_read_at(&part->file, m->data_at + row * p->parts + done, codes, n,
                                  part->path, err));
        for (uint32_t i = 0; i < n; i++, done++) {
            const float *c = centroid(p, done, codes[i]);
            const uint32_t width = done + 1 == p->parts ? p->last_dim : p->part_dim;
            float *to = sum + (size_t)done * p->part_dim;
            for (uint32_t k = 0; k < width; k++) to[k] += norm * c[k];
        }
    }
    return WTE_OK;
}

wte_status wte__ft_matrix_add(const wte__ft_matrix *m, const wte__part *part, uint64_t row,
                              float *sum, wte_error *err)
{
    return m->quantised ? add_quantised(m, part, row, sum, err) : add_dense(m, part, row, sum, err);
}
