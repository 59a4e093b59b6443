/* The table that plays a role, as rows: a stored matrix as it lies, one reached through a mapping,
 * or one stored dim x rows and turned while it is read. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/format.h"
#include "model/model.h"

/* Ids that are mapped at once, on the stack. */
#define IDS_AT_ONCE 256u
/* Columns of a turned matrix that are read at once, on the stack, in bytes. */
#define COLUMNS_AT_ONCE 4096u

static wte_status read_mapped(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte__mapping *map = ctx;
    const uint64_t tight = map->stored.cols * wte_dtype_bytes(map->stored.dtype);
    uint64_t rows[IDS_AT_ONCE];
    for (size_t done = 0; done < n;) {
        size_t now = n - done < IDS_AT_ONCE ? n - done : IDS_AT_ONCE;
        char *to = (char *)out + done * tight;
        for (size_t i = 0; i < now; i++) rows[i] = map->row[ids[done + i]];
        /* every source that a file gives has read_rows */
        WTE_TRY(map->stored.read_rows(map->stored.ctx, rows, now, to, err));
        done += now;
    }
    return WTE_OK;
}

/* The integers of the mapping tensor, widened and checked against the rows there are. */
static wte_status load_mapping(wte_model *m, const wte_tensor *t, const wte_row_source *source,
                               wte__mapping *map, wte_error *err)
{
    unsigned char stored[IDS_AT_ONCE * 8];
    int64_t value[IDS_AT_ONCE];
    for (uint64_t at = 0; at < map->count; at += IDS_AT_ONCE) {
        size_t now = map->count - at < IDS_AT_ONCE ? (size_t)(map->count - at) : IDS_AT_ONCE;
        WTE_TRY(wte_row_source_read_block(source, at, now, stored, err));
        WTE_TRY(wte_convert(t->dtype, stored, WTE_I64, value, now, NULL, err));
        for (size_t i = 0; i < now; i++) {
            if (map->stored.rows == 0)
                return wte__fail(err, WTE_E_FORMAT, at + i,
                                 "%s: mapping[%" PRIu64 "] is %" PRId64 ", but the table is empty",
                                 m->path, at + i, value[i]);
            if (value[i] < 0 || (uint64_t)value[i] >= map->stored.rows)
                return wte__fail(err, WTE_E_FORMAT, at + i,
                                 "%s: mapping[%" PRIu64 "] is %" PRId64 ", but the table has rows "
                                 "0..%" PRIu64,
                                 m->path, at + i, value[i], map->stored.rows - 1);
            map->row[at + i] = (uint32_t)value[i];
        }
    }
    return WTE_OK;
}

static bool is_index_type(wte_dtype type)
{
    return type == WTE_I32 || type == WTE_I64 || type == WTE_U32 || type == WTE_U16 ||
           type == WTE_I16 || type == WTE_U8 || type == WTE_U64;
}

static wte_status open_mapping(wte_model *m, uint64_t tensor, const wte_row_source *stored,
                               wte_error *err)
{
    wte__mapping *map = &m->mapping;
    wte_tensor t;
    wte_row_source source;
    WTE_TRY(wte_file_tensor(m->file, tensor, &t, err));
    if (t.rank != 1 || !is_index_type(t.dtype))
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: 'mapping' must be a list of whole numbers, but has type %s and rank "
                         "%" PRIu32,
                         m->path, wte_dtype_name(t.dtype), t.rank);
    if (t.shape[0] > WTE_LIMIT_VOCAB_IDS || stored->rows > UINT32_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: 'mapping' names %" PRIu64 " ids, but at most %u are read", m->path,
                         t.shape[0], WTE_LIMIT_VOCAB_IDS);
    WTE_TRY(wte_file_row_source(m->file, tensor, &source, err));
    map->stored = *stored;
    map->count = t.shape[0];
    if (map->count == 0) return WTE_OK;
    map->row = wte__alloc_array(m->allocator, map->count, sizeof *map->row);
    if (!map->row) return wte__no_memory(err, map->count * sizeof *map->row, "the mapping");
    wte_status status = load_mapping(m, &t, &source, map, err);
    if (status == WTE_OK) return WTE_OK;
    wte__free(m->allocator, map->row, (size_t)map->count * sizeof *map->row);
    memset(map, 0, sizeof *map);
    return status;
}

wte__steps wte__steps_of(const wte_tensor *t, bool transposed)
{
    uint32_t dimension = 0; /* of the stored rows: the one that is not 1 */
    for (uint32_t i = 0; i + 1 < t->rank; i++)
        if (t->shape[i] != 1) dimension = i;
    const bool list = t->rank == 1;
    const uint64_t rows = t->rank ? t->shape[dimension] : 1;
    const uint64_t cols = t->rank && !list ? t->shape[t->rank - 1] : 1;
    const wte__steps stored = { rows > 1 ? t->stride[dimension] : cols,
                                cols > 1 ? t->stride[t->rank - 1] : 1 };
    const wte__steps turned = { stored.col, stored.row };
    return transposed ? turned : stored;
}

/* Of a matrix whose stored rows are columns too: rows as they are wanted, one by one. */
static wte_status read_straight(const wte__turned *t, uint64_t first, size_t n, char *out,
                                wte_error *err)
{
    const uint64_t row = t->dim * t->element;
    for (size_t i = 0; i < n; i++)
        WTE_TRY(wte_file_read(t->file, t->tensor, (first + i) * t->steps.row * t->element,
                              out + i * row, row, err));
    return WTE_OK;
}

/* Rows first .. first + n - 1 of a turned matrix: a piece of every stored row, spread out. */
static wte_status read_spread(const wte__turned *t, uint64_t first, size_t n, char *out,
                              wte_error *err)
{
    unsigned char piece[COLUMNS_AT_ONCE];
    const size_t at_once = t->steps.row == 1 ? COLUMNS_AT_ONCE / t->element : 1;
    for (size_t done = 0; done < n;) {
        size_t now = n - done < at_once ? n - done : at_once;
        for (uint64_t d = 0; d < t->dim; d++) {
            uint64_t at = (d * t->steps.col + (first + done) * t->steps.row) * t->element;
            WTE_TRY(wte_file_read(t->file, t->tensor, at, piece, now * t->element, err));
            for (size_t i = 0; i < now; i++)
                memcpy(out + ((done + i) * t->dim + d) * t->element, piece + i * t->element,
                       t->element);
        }
        done += now;
    }
    return WTE_OK;
}

static wte_status read_turned_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte__turned *t = ctx;
    if (t->steps.col == 1)
        WTE_TRY(read_straight(t, first, n, out, err));
    else
        WTE_TRY(read_spread(t, first, n, out, err));
    if (t->swap) wte__swap_units(out, n * t->dim * t->element, t->swap);
    return WTE_OK;
}

static wte_status read_turned(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte__turned *t = ctx;
    for (size_t i = 0; i < n; i++)
        WTE_TRY(read_turned_block(ctx, ids[i], 1, (char *)out + i * t->dim * t->element, err));
    return WTE_OK;
}

static wte_status turn(wte_model *m, const wte_tensor *t, wte__turned *turned, wte_model_table *out,
                       wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (t->block)
        return wte__fail(
            err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
            "%s: '%s' is stored dim x rows, in blocks of %s along the rows: no row can be "
            "taken out of them",
            m->path, wte__show(shown, t->name, t->name_bytes), wte_block_name(t->block));
    if (t->derived)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: '%s' is stored dim x rows, and in pieces besides", m->path,
                         wte__show(shown, t->name, t->name_bytes));
    const uint32_t element = wte_dtype_bytes(t->dtype);
    const wte__steps steps = wte__steps_of(t, true);
    const uint32_t unit = wte__unit_bytes(t->dtype);
    const bool swap = unit > 1 && t->big_endian != wte__host_is_big();
    wte__turned made = { m->file, out->tensor, out->source.cols, out->source.rows,
                         steps,   element,     swap ? unit : 0 };
    *turned = made;
    out->rows = made.rows;
    out->dim = made.dim;
    out->row_bytes = steps.col == 1 ? steps.row * element : 0;
    out->transposed = true;
    wte_row_source source = { .rows = made.rows,
                              .cols = made.dim,
                              .dtype = t->dtype,
                              .read_rows = read_turned,
                              .read_block = read_turned_block,
                              .ctx = turned };
    out->source = source;
    return WTE_OK;
}

/* The name as text. One that holds a NUL would be cut there, and be another's: it is shown with the
 * symbol for it, U+2400. */
static const char *name_of(wte_model *m, const wte_tensor *t)
{
    static const char symbol[] = "\xe2\x90\x80";
    char text[3 * WTE__NAME_SHOWN + 1];
    size_t used = 0;
    if (strlen(t->name) == t->name_bytes) return t->name;
    for (uint64_t i = 0; i < t->name_bytes && i < WTE__NAME_SHOWN; i++) {
        if (t->name[i]) {
            text[used++] = t->name[i];
            continue;
        }
        memcpy(text + used, symbol, 3);
        used += 3;
    }
    text[used] = '\0';
    return wte__arena_print(&m->arena, "%s", text);
}

/* A quantised table: its rows are made of several tensors. */
static wte_status view_packed(wte_model *m, unsigned slot, const wte__view_want *want,
                              wte_model_table *out, wte_error *err)
{
    wte__quant *q = &m->quant[slot];
    wte_tensor t;
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(wte_file_tensor(m->file, want->tensor, &t, err));
    wte__show(shown, t.name, t.name_bytes);
    const bool mapped = want->mapping != WTE_NO_INDEX && slot == 0;
    if (want->transposed || mapped)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: '%s' is quantised (%s) and %s besides", m->path, shown, q->scheme,
                         mapped ? "reached through a mapping" : "stored dim x rows");
    const char *name = name_of(m, &t);
    if (!name) return wte__no_memory(err, WTE__NAME_SHOWN, "the name of a tensor");
    const wte_model_table made = {
        name,           want->why, WTE_F32,         q->rows, q->dim, want->tensor,
        t.offset,       0,         t.shard,         false,   false,  wte__quant_rows(q),
        WTE_BLOCK_NONE, q->scheme, q->stored_bytes, q->bits
    };
    *out = made;
    return WTE_OK;
}

wte_status wte__model_view(wte_model *m, unsigned slot, const wte__view_want *want,
                           wte_model_table *out, wte_error *err)
{
    wte_tensor t;
    wte_row_source stored;
    if (!want->why) return wte__no_memory(err, 400, "the reason of a choice");
    wte__quant *q = &m->quant[slot];
    WTE_TRY(wte__quant_open(m->file, want->tensor, &m->said, m->path, m->allocator, q, err));
    if (q->dim) return view_packed(m, slot, want, out, err);
    WTE_TRY(wte_file_tensor(m->file, want->tensor, &t, err));
    WTE_TRY(wte_file_row_source(m->file, want->tensor, &stored, err));
    const char *name = name_of(m, &t);
    if (!name) return wte__no_memory(err, WTE__NAME_SHOWN, "the name of a tensor");
    const wte__steps steps = wte__steps_of(&t, false);
    uint64_t apart = steps.col == 1 ? steps.row * wte_dtype_bytes(t.dtype) : 0;
    if (t.block) apart = stored.cols / wte_block_elements(t.block) * wte_block_bytes(t.block);
    if (t.derived) apart = 0;
    wte_model_table made = {
        name,    want->why, stored.dtype, stored.rows, stored.cols, want->tensor, t.offset, apart,
        t.shard, false,     false,        stored,      t.block,     NULL,         0,        0
    };
    if (want->transposed) WTE_TRY(turn(m, &t, &m->turned[slot], &made, err));
    if (want->mapping != WTE_NO_INDEX && slot == 0) {
        WTE_TRY(open_mapping(m, want->mapping, &stored, err));
        wte_row_source source = { .rows = m->mapping.count,
                                  .cols = stored.cols,
                                  .dtype = stored.dtype,
                                  .read_rows = read_mapped,
                                  .ctx = &m->mapping };
        made.rows = m->mapping.count;
        made.mapped = true;
        made.source = source;
    }
    *out = made;
    return WTE_OK;
}
