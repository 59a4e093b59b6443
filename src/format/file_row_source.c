/* A tensor as rows: by view where the file is mapped, by pread for many rows. */
#include <inttypes.h>

#include "base/error.h"
#include "format/gguf.h"

typedef struct matrix {
    const wte__tensor_entry *entry;
    const wte__part *part;
    uint64_t rows, cols;
    uint32_t element, unit;      /* bytes; unit: of what big-endian storage reverses */
    uint64_t row_step, col_step; /* elements from a row to the next, from a column to the next */
} matrix;

static bool must_swap(const wte__tensor_entry *e, uint32_t unit)
{
    return unit > 1 && ((e->flags & WTE__BIG_ENDIAN) != 0) != wte__host_is_big();
}

void wte__swap_units(void *data, uint64_t bytes, uint32_t unit)
{
    uint8_t *p = data;
    for (uint64_t at = 0; at + unit <= bytes; at += unit)
        for (uint32_t i = 0; i < unit / 2; i++) {
            uint8_t swap = p[at + i];
            p[at + i] = p[at + unit - 1 - i];
            p[at + unit - 1 - i] = swap;
        }
}

/* Rows are all dimensions but the last, of which only one may differ from 1; *dimension is that. */
static bool shape_of(const wte__tensor_entry *e, uint64_t *rows, uint64_t *cols,
                     uint32_t *dimension)
{
    *rows = *cols = 1;
    *dimension = 0;
    if (e->rank == 0) return false;
    const uint64_t *shape = e->file->dims + e->shape_at;
    if (e->rank == 1) {
        *(e->block ? cols : rows) = shape[0];
        return true;
    }
    bool found = false;
    for (uint32_t i = 0; i + 1 < e->rank; i++) {
        if (shape[i] == 1) continue;
        if (found) return false;
        found = true;
        *rows = shape[i];
        *dimension = i;
    }
    *cols = shape[e->rank - 1];
    return true;
}

bool wte__entry_matrix(const wte__tensor_entry *e, uint64_t *rows, uint64_t *cols)
{
    uint32_t dimension;
    return shape_of(e, rows, cols, &dimension);
}

/* Of a matrix with rows and columns; where there is one only, its step is as if they were tight. */
static matrix matrix_of(const wte__tensor_entry *e)
{
    matrix m = { e, &e->file->parts[e->part], 0, 0, 0, 0, 0, 0 };
    uint64_t stride[WTE_MAX_RANK];
    uint32_t dimension = 0;
    (void)shape_of(e, &m.rows, &m.cols, &dimension); /* was true when the row source was made */
    wte__entry_strides(e, stride);
    m.element = wte_dtype_bytes((wte_dtype)e->dtype);
    m.unit = wte__unit_bytes((wte_dtype)e->dtype);
    m.col_step = m.cols > 1 ? stride[e->rank - 1] : 1;
    m.row_step = m.rows > 1 ? stride[dimension] : m.cols;
    return m;
}

static wte_status read_bytes(const matrix *m, uint64_t at, void *out, uint64_t n, wte_error *err)
{
    return wte__file_read_at(&m->part->file, m->entry->offset + at, out, n, m->part->path, err);
}

/* n elements, `step` apart, from number `at` on, to every `spread` bytes of out; in pieces, each of
 * which is read with what lies between. */
static wte_status read_run(const matrix *m, uint64_t at, uint64_t step, uint64_t n, uint8_t *out,
                           size_t spread, wte_error *err)
{
    uint8_t piece[8192];
    const uint64_t room = sizeof piece / m->element;
    uint64_t per = step == 0 ? n : step < room ? (room - 1) / step + 1 : 1;
    for (uint64_t done = 0; done < n; done += per) {
        if (per > n - done) per = n - done;
        WTE_TRY(read_bytes(m, (at + done * step) * m->element, piece,
                           ((per - 1) * step + 1) * m->element, err));
        for (uint64_t i = 0; i < per; i++)
            memcpy(out + (done + i) * spread, piece + i * step * m->element, m->element);
    }
    return WTE_OK;
}

/* In runs along whichever way elements lie closer together. */
static wte_status read_apart(const matrix *m, uint64_t first, size_t n, uint8_t *out,
                             wte_error *err)
{
    const size_t row_bytes = (size_t)m->cols * m->element;
    if (n > 1 && m->row_step < m->col_step) {
        for (uint64_t col = 0; col < m->cols; col++)
            WTE_TRY(read_run(m, first * m->row_step + col * m->col_step, m->row_step, n,
                             out + col * m->element, row_bytes, err));
        return WTE_OK;
    }
    for (size_t i = 0; i < n; i++)
        WTE_TRY(read_run(m, (first + i) * m->row_step, m->col_step, m->cols, out + i * row_bytes,
                         m->element, err));
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const matrix m = matrix_of(ctx);
    const uint64_t row_bytes = m.cols * m.element;
    uint8_t *to = out;
    if (m.col_step != 1)
        WTE_TRY(read_apart(&m, first, n, to, err));
    else if (m.row_step == m.cols)
        WTE_TRY(read_bytes(&m, first * row_bytes, out, n * row_bytes, err));
    else
        for (size_t i = 0; i < n; i++)
            WTE_TRY(read_bytes(&m, (first + i) * m.row_step * m.element, to + i * row_bytes,
                               row_bytes, err));
    if (must_swap(m.entry, m.unit)) wte__swap_units(out, n * row_bytes, m.unit);
    return WTE_OK;
}

/* Runs of neighbouring ids are one request each. */
static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const matrix m = matrix_of(ctx);
    uint8_t *to = out;
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && ids[i + run] == ids[i] + run) run++;
        WTE_TRY(read_block(ctx, ids[i], run, to, err));
        to += run * m.cols * m.element;
        i += run;
    }
    return WTE_OK;
}

/* "[2, 3, 4]", cut when long. */
static void show_shape(const wte__tensor_entry *e, char *buf, size_t cap)
{
    size_t used = 0;
    for (uint32_t i = 0; i <= e->rank && used < cap; i++) {
        int n = i < e->rank ? snprintf(buf + used, cap - used, "%s%" PRIu64, i ? ", " : "[",
                                       e->file->dims[e->shape_at + i])
                            : snprintf(buf + used, cap - used, "%s", e->rank ? "]" : "[]");
        if (n > 0) used += (size_t)n;
    }
}

wte_status wte__entry_rows(const wte__tensor_entry *e, wte_row_source *out, wte_error *err)
{
    const wte_file *f = e->file;
    const char *path = f->parts[e->part].path;
    char shown[WTE__NAME_SHOWN], shape[96];
    memset(out, 0, sizeof *out);
    const uint32_t element = wte_dtype_bytes((wte_dtype)e->dtype);
    uint64_t rows, cols;
    uint32_t dimension;
    const char *foreign = wte__entry_foreign_name(e);
    if (foreign)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: tensor '%s': unknown dtype '%s': save it as a type that is known "
                         "(F32, BF16, ...) to read it",
                         path, wte__show(shown, e->name, e->name_bytes), foreign);
    if (e->flags & WTE__FOREIGN) return wte__gguf_refuse_type(e, err);
    if (e->flags & WTE__MADE) return f->maker->rows(e, out, err);
    if (element == 0 && !e->block)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: tensor '%s': an element of type %s is %u bits, not whole bytes", path,
                         wte__show(shown, e->name, e->name_bytes),
                         wte_dtype_name((wte_dtype)e->dtype), wte_dtype_bits((wte_dtype)e->dtype));
    if (!shape_of(e, &rows, &cols, &dimension)) {
        show_shape(e, shape, sizeof shape);
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s: tensor '%s' of shape %s is no matrix: 1 or 2 dimensions are needed",
                         path, wte__show(shown, e->name, e->name_bytes), shape);
    }
    if (e->block) {
        wte__entry_block_rows(e, out);
        return WTE_OK;
    }
    out->rows = rows;
    out->cols = cols;
    out->dtype = (wte_dtype)e->dtype;
    out->row_bytes = cols * element;
    out->read_rows = read_rows;
    out->read_block = read_block;
    out->ctx = (void *)(uintptr_t)e; /* never written through */
    const matrix m = matrix_of(e);
    const uint8_t *map = m.part->file.map;
    if (map && m.col_step == 1 && m.row_step >= cols && !must_swap(e, m.unit)) {
        out->data = map + e->offset;
        out->row_bytes = m.row_step * element;
    }
    return WTE_OK;
}

wte_status wte__entry_place(const wte__tensor_entry *e, const wte_row_source *rows, uint64_t row,
                            uint64_t *offset, uint64_t *bytes, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const bool made = e->flags & WTE__MADE;
    if (made && e->file->maker->place) return e->file->maker->place(e, row, offset, bytes, err);
    const matrix m = matrix_of(e);
    if (made || m.col_step != 1)
        return wte__fail(err, WTE_E_UNSUPPORTED, row,
                         "%s: row %" PRIu64 " of tensor '%s' lies in several places",
                         e->file->parts[e->part].path, row,
                         wte__show(shown, e->name, e->name_bytes));
    const wte_block_type block = (wte_block_type)e->block;
    *bytes = block ? rows->cols / wte_block_elements(block) * wte_block_bytes(block)
                   : rows->cols * m.element;
    *offset = e->offset + row * (block ? *bytes : m.row_step * m.element);
    return WTE_OK;
}
