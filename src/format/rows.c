/* A tensor as rows: by view where the file is mapped, by pread for many rows. */
#include <inttypes.h>

#include "base/error.h"
#include "format/format.h"

typedef struct matrix {
    const wte__entry *entry;
    const wte__part *part;
    uint64_t rows, cols;
    uint32_t element, unit; /* bytes; unit: of what big-endian storage reverses */
    bool by_column;
} matrix;

static bool must_swap(const wte__entry *e, uint32_t unit)
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

bool wte__entry_matrix(const wte__entry *e, uint64_t *rows, uint64_t *cols)
{
    *rows = *cols = 1;
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
    }
    *cols = shape[e->rank - 1];
    return true;
}

static matrix matrix_of(const wte__entry *e)
{
    matrix m = { e, &e->file->parts[e->part], 0, 0, 0, 0, false };
    (void)wte__entry_matrix(e, &m.rows, &m.cols); /* was true when the row source was made */
    m.element = wte_dtype_bytes((wte_dtype)e->dtype);
    m.unit = wte__unit_bytes((wte_dtype)e->dtype);
    m.by_column = (e->flags & WTE__COLUMN_MAJOR) && m.rows > 1 && m.cols > 1;
    return m;
}

static wte_status read_bytes(const matrix *m, uint64_t at, void *out, uint64_t n, wte_error *err)
{
    return wte__file_read_at(&m->part->file, m->entry->offset + at, out, n, m->part->path, err);
}

/* A column's elements first .. first + n - 1 into every cols-th element of out, in pieces. */
static wte_status read_column_run(const matrix *m, uint64_t col, uint64_t first, size_t n,
                                  uint8_t *out, wte_error *err)
{
    uint8_t piece[8192];
    const size_t per = sizeof piece / m->element, stride = (size_t)m->cols * m->element;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < per ? n - done : per;
        WTE_TRY(read_bytes(m, (col * m->rows + first + done) * m->element, piece,
                           (uint64_t)now * m->element, err));
        for (size_t i = 0; i < now; i++)
            memcpy(out + (done + i) * stride, piece + i * m->element, m->element);
        done += now;
    }
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const matrix m = matrix_of(ctx);
    const uint64_t row_bytes = m.cols * m.element;
    if (!m.by_column)
        WTE_TRY(read_bytes(&m, first * row_bytes, out, n * row_bytes, err));
    else
        for (uint64_t col = 0; col < m.cols; col++)
            WTE_TRY(read_column_run(&m, col, first, n, (uint8_t *)out + col * m.element, err));
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
static void show_shape(const wte__entry *e, char *buf, size_t cap)
{
    size_t used = 0;
    for (uint32_t i = 0; i <= e->rank && used < cap; i++) {
        int n = i < e->rank ? snprintf(buf + used, cap - used, "%s%" PRIu64, i ? ", " : "[",
                                       e->file->dims[e->shape_at + i])
                            : snprintf(buf + used, cap - used, "%s", e->rank ? "]" : "[]");
        if (n > 0) used += (size_t)n;
    }
}

wte_status wte__entry_rows(const wte__entry *e, wte_rows *out, wte_error *err)
{
    const wte_file *f = e->file;
    const char *path = f->parts[e->part].path;
    char shown[WTE__NAME_SHOWN], shape[96];
    memset(out, 0, sizeof *out);
    const uint32_t element = wte_dtype_bytes((wte_dtype)e->dtype);
    uint64_t rows, cols;
    if (e->flags & WTE__MADE) return f->maker->rows(e, out, err);
    if (element == 0 && !e->block)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NOWHERE,
                         "%s: tensor '%s': an element of type %s is %u bits, not whole bytes", path,
                         wte__show(shown, e->name, e->name_bytes),
                         wte_dtype_name((wte_dtype)e->dtype), wte_dtype_bits((wte_dtype)e->dtype));
    if (!wte__entry_matrix(e, &rows, &cols)) {
        show_shape(e, shape, sizeof shape);
        return wte__fail(err, WTE_E_SHAPE, WTE_NOWHERE,
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
    if (map && !m.by_column && !must_swap(e, m.unit)) out->data = map + e->offset;
    return WTE_OK;
}

wte_status wte__entry_place(const wte__entry *e, const wte_rows *rows, uint64_t row,
                            uint64_t *offset, uint64_t *bytes, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const bool made = e->flags & WTE__MADE;
    if (made && e->file->maker->place) return e->file->maker->place(e, row, offset, bytes, err);
    if (made || matrix_of(e).by_column)
        return wte__fail(err, WTE_E_UNSUPPORTED, row,
                         "%s: row %" PRIu64 " of tensor '%s' lies in several places",
                         e->file->parts[e->part].path, row,
                         wte__show(shown, e->name, e->name_bytes));
    const wte_block_type block = (wte_block_type)e->block;
    *bytes =
        block ? rows->cols / wte_block_elements(block) * wte_block_bytes(block) : rows->row_bytes;
    *offset = e->offset + row * *bytes;
    return WTE_OK;
}
