/* Rows of a tensor that lies in several parts: found in the part that has them, or pieced together
 * of all. Also where they lie. */
#include <inttypes.h>

#include "base/error.h"
#include "format/parallel.h"

/* Ids that are renumbered at once, on the stack. */
#define IDS_AT_ONCE 256u
/* Pieces of rows that are read at once before they are spread out, on the stack. */
#define PIECE_BYTES 32768u

static const wte__parallel *parts_of(const wte__tensor_entry *e)
{
    return e->file->made;
}

static size_t number_of(const wte__tensor_entry *e)
{
    return (size_t)(e - e->file->entries);
}

static const wte__tensor_entry *piece_of(const wte__tensor_entry *e, uint64_t part)
{
    const wte__parallel *p = parts_of(e);
    return &p->pieces[(size_t)part * p->n_tensors + number_of(e)];
}

static wte__join join_of(const wte__tensor_entry *e)
{
    return (wte__join)parts_of(e)->join[number_of(e)];
}

/* Rows, one part after the other --------------------------------------------------------------- */

static uint64_t rows_of_piece(const wte__tensor_entry *e)
{
    return e->file->dims[piece_of(e, 0)->shape_at];
}

static wte_status read_block_below(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte__tensor_entry *e = ctx;
    const uint64_t each = rows_of_piece(e);
    uint8_t *to = out;
    while (n > 0) {
        wte_row_source piece;
        WTE_TRY(wte__entry_rows(piece_of(e, first / each), &piece, err));
        const uint64_t local = first % each, left = each - local;
        const size_t now = n < left ? n : (size_t)left;
        WTE_TRY(piece.read_block(piece.ctx, local, now, to, err));
        to += now * piece.cols * wte_dtype_bytes(piece.dtype);
        first += now;
        n -= now;
    }
    return WTE_OK;
}

/* Ids of one part that follow each other are one request of it. */
static wte_status read_rows_below(void *ctx, const uint64_t *ids, size_t n, void *out,
                                  wte_error *err)
{
    const wte__tensor_entry *e = ctx;
    const uint64_t each = rows_of_piece(e);
    uint64_t local[IDS_AT_ONCE];
    uint8_t *to = out;
    for (size_t i = 0; i < n;) {
        const uint64_t part = ids[i] / each;
        size_t run = 0;
        wte_row_source piece;
        for (; run < IDS_AT_ONCE && i + run < n && ids[i + run] / each == part; run++)
            local[run] = ids[i + run] % each;
        WTE_TRY(wte__entry_rows(piece_of(e, part), &piece, err));
        WTE_TRY(piece.read_rows(piece.ctx, local, run, to, err));
        to += run * piece.cols * wte_dtype_bytes(piece.dtype);
        i += run;
    }
    return WTE_OK;
}

/* Columns, one part beside the other ------------------------------------------------------------
 */

/* Rows by ids, or n from `first` on when ids is NULL. */
static wte_status read_piece(const wte_row_source *piece, const uint64_t *ids, uint64_t first,
                             size_t n, void *out, wte_error *err)
{
    if (ids) return piece->read_rows(piece->ctx, ids, n, out, err);
    return piece->read_block(piece->ctx, first, n, out, err);
}

/* The same of one part, to every `spread` bytes of out. */
static wte_status read_beside(const wte_row_source *piece, const uint64_t *ids, uint64_t first,
                              size_t n, uint8_t *out, size_t spread, wte_error *err)
{
    uint8_t buffer[PIECE_BYTES];
    const size_t bytes = (size_t)piece->cols * wte_dtype_bytes(piece->dtype);
    const size_t at_once = bytes && n > 1 && bytes <= PIECE_BYTES / 2 ? PIECE_BYTES / bytes : 1;
    for (size_t done = 0; done < n; done += at_once) {
        const size_t now = n - done < at_once ? n - done : at_once;
        const uint64_t *some = ids ? ids + done : NULL;
        uint8_t *to = at_once == 1 ? out + done * spread : buffer;
        WTE_TRY(read_piece(piece, some, first + done, now, to, err));
        for (size_t i = 0; to == buffer && i < now; i++)
            memcpy(out + (done + i) * spread, buffer + i * bytes, bytes);
    }
    return WTE_OK;
}

static wte_status read_across(const wte__tensor_entry *e, const uint64_t *ids, uint64_t first,
                              size_t n, uint8_t *out, wte_error *err)
{
    const uint32_t parts = parts_of(e)->n;
    for (uint32_t part = 0; part < parts; part++) {
        wte_row_source piece;
        WTE_TRY(wte__entry_rows(piece_of(e, part), &piece, err));
        const size_t bytes = (size_t)piece.cols * wte_dtype_bytes(piece.dtype);
        WTE_TRY(read_beside(&piece, ids, first, n, out + part * bytes, parts * bytes, err));
    }
    return WTE_OK;
}

static wte_status read_block_across(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    return read_across(ctx, NULL, first, n, out, err);
}

static wte_status read_rows_across(void *ctx, const uint64_t *ids, size_t n, void *out,
                                   wte_error *err)
{
    return read_across(ctx, ids, 0, n, out, err);
}

/* The maker ------------------------------------------------------------------------------------ */

static wte_status make_rows(const wte__tensor_entry *e, wte_row_source *out, wte_error *err)
{
    const wte__join join = join_of(e);
    if (join == WTE__JOIN_UNKNOWN)
        return wte__parallel_refuse(e->file, parts_of(e), piece_of(e, 0), err);
    const bool below = join == WTE__JOIN_ROWS;
    out->rows = e->file->dims[e->shape_at];
    out->cols = e->file->dims[e->shape_at + 1];
    out->dtype = (wte_dtype)e->dtype; /* whole bytes: PyTorch has no others */
    out->row_bytes = out->cols * wte_dtype_bytes(out->dtype);
    out->read_rows = below ? read_rows_below : read_rows_across;
    out->read_block = below ? read_block_below : read_block_across;
    out->ctx = (void *)(uintptr_t)e; /* never written through */
    return WTE_OK;
}

static wte_status place(const wte__tensor_entry *e, uint64_t row, uint64_t *offset, uint64_t *bytes,
                        wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte_row_source rows;
    if (join_of(e) != WTE__JOIN_ROWS)
        return wte__fail(err, WTE_E_UNSUPPORTED, row,
                         "%s: row %" PRIu64
                         " of tensor '%s' lies in several places: a piece in each of %u parts",
                         e->file->path, row, wte__show(shown, e->name, e->name_bytes),
                         parts_of(e)->n);
    const uint64_t each = rows_of_piece(e);
    const wte__tensor_entry *piece = piece_of(e, row / each);
    WTE_TRY(wte__entry_rows(piece, &rows, err));
    return wte__entry_place(piece, &rows, row % each, offset, bytes, err);
}

static uint32_t part(const wte__tensor_entry *e, uint64_t row)
{
    return join_of(e) == WTE__JOIN_ROWS ? piece_of(e, row / rows_of_piece(e))->part : e->part;
}

/* As stored: the bytes of one part after those of another. */
static wte_status read_bytes(const wte__tensor_entry *e, uint64_t at, void *out, uint64_t n,
                             wte_error *err)
{
    uint8_t *to = out;
    for (uint32_t i = 0; i < parts_of(e)->n && n > 0; i++) {
        const wte__tensor_entry *piece = piece_of(e, i);
        const wte__part *file = &e->file->parts[piece->part];
        if (at >= piece->bytes) {
            at -= piece->bytes;
            continue;
        }
        const uint64_t left = piece->bytes - at, now = n < left ? n : left;
        WTE_TRY(wte__file_read_at(&file->file, piece->offset + at, to, now, file->path, err));
        to += now;
        n -= now;
        at = 0;
    }
    return WTE_OK;
}

static void release(wte_file *f)
{
    wte__parallel *p = f->made;
    wte__free(f->allocator, p->pieces, p->pieces_cap * sizeof *p->pieces);
    wte__free(f->allocator, p->join, p->n_tensors);
    wte__free(f->allocator, p, sizeof *p);
    f->made = NULL;
}

const wte__maker wte__parallel_maker = {
    .rows = make_rows, .place = place, .release = release, .part = part, .read = read_bytes
};
