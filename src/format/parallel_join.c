/* How the tensors of a model in parts are joined: told from its width, never from a guess. */
#include "format/parallel.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"

/* Of copies that should be alike, what is compared of each: lists are short, and opening must stay
 * cheap. */
#define COMPARE_BYTES 4096u

static const wte__tensor_entry *piece_of(const wte__parallel *p, uint32_t part, size_t i)
{
    return &p->pieces[(size_t)part * p->n_tensors + i];
}

/* The first part's tensor of a name; NULL when there is none. */
static const wte__tensor_entry *find(const wte_file *f, const wte__parallel *p, const char *name)
{
    const wte__bytes text = { (const uint8_t *)name, strlen(name) };
    uint64_t i;
    return wte__names_find(&f->names, text, &i) ? piece_of(p, 0, (size_t)i) : NULL;
}

/* Llama's own parts, of which the width alone tells all. */
static bool own_names(const wte__parallel *p)
{
    return !p->scheme->by_name && !p->scheme->safetensors;
}

/* What says how wide the model is: params.json, a list that is as long, or the token table against
 * the head, of which one is cut across and the other along. */
static wte_status find_dim(const wte_file *f, wte__parallel *p, wte_error *err)
{
    const uint64_t told = p->said.dim ? p->said.dim : WTE_NO_INDEX;
    static const char norm[] = "norm.weight";
    const wte__tensor_entry *list = find(f, p, norm);
    const wte__tensor_entry *table = find(f, p, "tok_embeddings.weight");
    const wte__tensor_entry *head = find(f, p, "output.weight");
    p->dim = told;
    p->dim_from = p->said.by;
    if (!own_names(p)) return WTE_OK;
    if (list && list->rank == 1) {
        const uint64_t n = f->dims[list->shape_at];
        if (told != WTE_NO_INDEX && told != n)
            return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: params.json says dim %" PRIu64 ", but '%s' has %" PRIu64
                             " numbers",
                             f->path, told, norm, n);
        if (told != WTE_NO_INDEX) return WTE_OK;
        p->dim = n;
        p->dim_from = "'norm.weight'";
        return WTE_OK;
    }
    uint64_t whole;
    if (told != WTE_NO_INDEX || !table || !head || table->rank != 2 || head->rank != 2)
        return WTE_OK;
    if (wte__mul_u64(f->dims[table->shape_at + 1], p->n, &whole) && whole > 0 &&
        whole == f->dims[head->shape_at + 1]) {
        p->dim = whole;
        p->dim_from = "'output.weight'";
    }
    return WTE_OK;
}

/* Of a piece of r x c of n. Where both readings fit the width, it tells nothing. */
static wte__join join_of(const wte_file *f, const wte__parallel *p, const wte__tensor_entry *piece)
{
    uint64_t whole;
    if (piece->rank < 2 || piece->flags & WTE__FOREIGN) return WTE__JOIN_ALIKE;
    if (piece->rank > 2 || p->dim == WTE_NO_INDEX) return WTE__JOIN_UNKNOWN;
    const uint64_t rows = f->dims[piece->shape_at], cols = f->dims[piece->shape_at + 1];
    const bool by_rows = cols == p->dim;
    const bool by_cols = (wte__mul_u64(cols, p->n, &whole) && whole == p->dim) || rows == p->dim;
    if (by_rows == by_cols) return WTE__JOIN_UNKNOWN;
    return by_rows ? WTE__JOIN_ROWS : WTE__JOIN_COLUMNS;
}

wte_status wte__parallel_refuse(const wte_file *f, const wte__parallel *p,
                                const wte__tensor_entry *piece, wte_error *err)
{
    char a[WTE__NAME_SHOWN], shape[WTE__SHAPE_TEXT], width[128];
    wte__show(a, piece->name, piece->name_bytes);
    wte__shape_text(f, piece, shape);
    if (piece->rank != 2)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: tensor '%s' is %s in each of %u parts: only matrices are joined",
                         f->path, a, shape, p->n);
    const uint64_t rows = f->dims[piece->shape_at], cols = f->dims[piece->shape_at + 1];
    if (p->dim == WTE_NO_INDEX)
        snprintf(width, sizeof width, "nothing tells which (%s is missing)",
                 own_names(p) ? "params.json with its dim" : "config.json with its hidden_size");
    else if (p->said.vocab && p->dim == cols && wte__parallel_is_vocab(piece))
        snprintf(width, sizeof width, "vocab_size %" PRIu64 " (%s) fits neither", p->said.vocab,
                 p->dim_from);
    else
        snprintf(width, sizeof width, "the width %" PRIu64 " (%s) does not tell which", p->dim,
                 p->dim_from);
    return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "%s: tensor '%s' is %s in each of %u parts: [%" PRIu64 ", %" PRIu64
                     "] joined by rows or [%" PRIu64 ", %" PRIu64 "] by columns; %s",
                     f->path, a, shape, p->n, rows * p->n, cols, rows, cols * p->n, width);
}

/* Shape and bytes of the whole of piece number i. */
static wte_status size_whole(const wte_file *f, const wte__parallel *p, size_t i, uint64_t *shape,
                             wte__tensor_entry *whole, wte_error *err)
{
    const wte__tensor_entry *piece = piece_of(p, 0, i);
    const wte__join join = (wte__join)p->join[i];
    const uint32_t more = join == WTE__JOIN_UNKNOWN ? 1 : 0;
    char shown[WTE__NAME_SHOWN], text[WTE__SHAPE_TEXT];
    uint64_t bits;
    if (piece->rank + more > WTE_MAX_RANK)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: tensor '%s' has %u dimensions in each of %u parts, but at most %d "
                         "are read of all",
                         f->path, wte__show(shown, piece->name, piece->name_bytes), piece->rank,
                         p->n, WTE_MAX_RANK - 1);
    shape[0] = p->n;
    memcpy(shape + more, f->dims + piece->shape_at, piece->rank * sizeof *shape);
    bool ok = true;
    if (join == WTE__JOIN_ROWS) ok = wte__mul_u64(shape[0], p->n, &shape[0]);
    if (join == WTE__JOIN_COLUMNS) ok = wte__mul_u64(shape[1], p->n, &shape[1]);
    whole->rank = (uint8_t)(piece->rank + more);
    whole->bytes = 0;
    for (uint32_t k = 0; ok && k < p->n; k++)
        ok = wte__add_u64(whole->bytes, piece_of(p, k, i)->bytes, &whole->bytes);
    if (ok && wte__shape_bits(shape, whole->rank, (wte_dtype)piece->dtype, &bits)) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: tensor '%s' is %s in each of %u parts, which overflows 64 bits", f->path,
                     wte__show(shown, piece->name, piece->name_bytes),
                     wte__shape_text(f, piece, text), p->n);
}

/* Entry i becomes the whole of its pieces. */
static wte_status join_entry(wte_file *f, const wte__parallel *p, size_t i, wte_error *err)
{
    uint64_t shape[WTE_MAX_RANK];
    wte__tensor_entry whole = *piece_of(p, 0, i);
    WTE_TRY(size_whole(f, p, i, shape, &whole, err));
    whole.flags = (uint8_t)(WTE__MADE | (whole.flags & WTE__BIG_ENDIAN));
    const size_t last = f->n_entries;
    WTE_TRY(wte__entry_add(f, &whole, shape, err));
    f->entries[i] = f->entries[last];
    f->n_entries = last;
    return WTE_OK;
}

/* Copies that differ: told, not refused, since the table is none of them. */
static wte_status compare_copies(wte_file *f, const wte__parallel *p, size_t i, wte_error *err)
{
    static const char differ[] = "differs from part to part; it is shown as the first part has it";
    uint8_t a[COMPARE_BYTES], b[COMPARE_BYTES];
    const wte__tensor_entry *first = piece_of(p, 0, i);
    const uint64_t n = first->bytes < COMPARE_BYTES ? first->bytes : COMPARE_BYTES;
    const wte__part *part = &f->parts[first->part];
    WTE_TRY(wte__file_read_at(&part->file, first->offset, a, n, part->path, err));
    for (uint32_t k = 1; k < p->n; k++) {
        const wte__tensor_entry *other = piece_of(p, k, i);
        part = &f->parts[other->part];
        /* of another layout: no bytes to compare */
        if (other->bytes != first->bytes || other->flags != first->flags) continue;
        WTE_TRY(wte__file_read_at(&part->file, other->offset, b, n, part->path, err));
        if (memcmp(a, b, (size_t)n) != 0) return wte__metadata_add(f, first->name, differ, err);
    }
    return WTE_OK;
}

wte_status wte__parallel_join(wte_file *f, wte__parallel *p, wte_error *err)
{
    const wte__tensor_entry *refused = NULL;
    bool joined = false;
    WTE_TRY(find_dim(f, p, err));
    if (p->n_tensors == 0) return WTE_OK;
    p->join = wte__alloc_array(f->allocator, p->n_tensors, 1);
    if (!p->join) return wte__no_memory(err, p->n_tensors, "the list of tensors");
    for (size_t i = 0; i < p->n_tensors; i++) {
        wte__join join = WTE__JOIN_UNKNOWN;
        if (own_names(p))
            join = join_of(f, p, piece_of(p, 0, i));
        else
            WTE_TRY(wte__parallel_join_named(f, p, i, &join, err));
        p->join[i] = (uint8_t)join;
        if (join == WTE__JOIN_ROWS || join == WTE__JOIN_COLUMNS) joined = true;
        if (join == WTE__JOIN_UNKNOWN && !refused) refused = piece_of(p, 0, i);
        WTE_TRY(join == WTE__JOIN_ALIKE ? compare_copies(f, p, i, err) : join_entry(f, p, i, err));
    }
    /* where some are known, the others are told when their rows are asked for */
    return refused && !joined ? wte__parallel_refuse(f, p, refused, err) : WTE_OK;
}
