/* The tensors of a GGUF file: their entries, one behind the other, and where their data lie.
 *
 * Dimensions are stored with the contiguous one first; here they are turned, so that a token table
 * is rows x dim like everywhere else: ne = [dim, rows] and ne = [dim, rows, 1] both. */
#include "format/gguf.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"

#define MAX_DIMS   4u
#define NAME_BYTES 63u /* ggml keeps 64 with its NUL */

static const char *path_of(const wte__gguf_reader *r)
{
    return r->f->parts[r->part].path;
}

/* Types whose elements stand alone, and their numbers in the format. */
static const struct {
    uint8_t id, dtype;
} plain[] = {
    { 0, WTE_F32 }, { 1, WTE_F16 },  { 30, WTE_BF16 }, { 28, WTE_F64 },
    { 24, WTE_I8 }, { 25, WTE_I16 }, { 26, WTE_I32 },  { 27, WTE_I64 },
};

bool wte__gguf_id_of(wte_dtype type, uint32_t *id)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (plain[i].dtype == (uint8_t)type) {
            *id = plain[i].id;
            return true;
        }
    return false;
}

/* Numbers that ggml gives to nothing that is stored: taken back, or only in use while computing. */
static const struct {
    uint32_t id;
    const char *why;
} withdrawn[] = {
    { 4, "q4_2, which ggml has removed" },
    { 5, "q4_3, which ggml has removed" },
    { 9, "q8_1, which exists only while computing" },
    { 15, "q8_k, which exists only while computing" },
    { 31, "q4_0_4_4, which ggml has removed: convert to q4_0 again" },
    { 32, "q4_0_4_8, which ggml has removed: convert to q4_0 again" },
    { 33, "q4_0_8_8, which ggml has removed: convert to q4_0 again" },
    { 36, "iq4_nl_4_4, which ggml has removed, or another program's own" },
    { 37, "iq4_nl_4_8, which ggml has removed" },
    { 38, "iq4_nl_8_8, which ggml has removed" },
};

/* From here on ggml and the programs made from it have given the same numbers to different types:
 * what the file's own places say decides. */
#define UNSETTLED 34u

/* The type's number follows the name, the number of dimensions and these in the header, which
 * stays in memory. */
static const uint8_t *type_at(const wte__tensor_entry *e)
{
    return (const uint8_t *)e->name + e->name_bytes + 4 + (size_t)8 * e->rank;
}

uint32_t wte__gguf_foreign_type(const wte__tensor_entry *e)
{
    if (!(e->flags & WTE__FOREIGN)) return 0;
    return (uint32_t)wte__gguf_load(type_at(e), 4, e->file->gguf->big);
}

wte_status wte__gguf_refuse_type(const wte__tensor_entry *e, wte_error *err)
{
    const wte__part *part = &e->file->parts[e->part];
    const uint64_t at = (uint64_t)(type_at(e) - (const uint8_t *)part->header);
    const uint32_t id = wte__gguf_foreign_type(e);
    const wte_block_type block = id <= UINT8_MAX ? (wte_block_type)id : WTE_BLOCK_NONE;
    char shown[WTE__NAME_SHOWN];
    wte__show(shown, e->name, e->name_bytes);
    for (size_t i = 0; i < sizeof withdrawn / sizeof withdrawn[0]; i++)
        if (withdrawn[i].id == id)
            return wte__fail(err, WTE_E_UNSUPPORTED, at,
                             "%s: tensor '%s': type id %" PRIu32 " is %s (byte %" PRIu64 ")",
                             part->path, shown, id, withdrawn[i].why, at);
    if (e->file->gguf->big && wte_block_elements(block))
        return wte__fail(err, WTE_E_UNSUPPORTED, at,
                         "%s: tensor '%s': %s in a big-endian file, where only q8_0 and types "
                         "without blocks are read (byte %" PRIu64 ")",
                         part->path, shown, wte_block_name(block), at);
    if (wte_block_elements(block))
        return wte__fail(err, WTE_E_UNSUPPORTED, at,
                         "%s: tensor '%s': type id %" PRIu32
                         " is %s in ggml, which does not fit its shape and the %" PRIu64
                         " bytes it takes: another program's own type (byte %" PRIu64 ")",
                         part->path, shown, id, wte_block_name(block), e->bytes, at);
    return wte__fail(err, WTE_E_UNSUPPORTED, at,
                     "%s: tensor '%s': type id %" PRIu32
                     ", which this build does not know (byte %" PRIu64 ")",
                     part->path, shown, id, at);
}

static void make_foreign(wte__tensor_entry *e)
{
    e->dtype = WTE_DTYPE_NONE;
    e->block = WTE_BLOCK_NONE;
    e->flags |= WTE__FOREIGN;
}

/* A type that is not read here does not close the file: the tensor is listed, and refused when its
 * numbers are asked for. */
static wte_status read_type(wte__gguf_reader *r, wte__tensor_entry *e)
{
    uint32_t id = 0;
    WTE_TRY(wte__gguf_take_u32(r, &id));
    e->dtype = WTE_DTYPE_NONE;
    e->block = WTE_BLOCK_NONE;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (plain[i].id == id) e->dtype = plain[i].dtype;
    if (e->dtype == WTE_DTYPE_NONE) {
        if (id <= UINT8_MAX && wte_block_elements((wte_block_type)id) != 0)
            e->block = (uint8_t)id;
        else
            make_foreign(e);
    }
    if (r->big && wte_dtype_bytes((wte_dtype)e->dtype) != 1) e->flags |= WTE__BIG_ENDIAN;
    if (r->big && e->block != WTE_BLOCK_NONE && e->block != WTE_BLOCK_Q8_0) make_foreign(e);
    return WTE_OK;
}

/* ne, turned; *elements gets their product, which fits 63 bits. */
static wte_status read_shape(wte__gguf_reader *r, wte__tensor_entry *e, uint64_t *shape,
                             uint64_t *elements)
{
    uint32_t rank = 0;
    uint64_t at = r->at, ne[MAX_DIMS] = { 0 };
    WTE_TRY(wte__gguf_take_u32(r, &rank));
    if (rank > MAX_DIMS)
        return wte__fail(r->err, WTE_E_FORMAT, at,
                         "%s: %s: %" PRIu32 " dimensions, but the format has at most %u (byte "
                         "%" PRIu64 ")",
                         path_of(r), r->what, rank, MAX_DIMS, at);
    e->rank = (uint8_t)rank;
    at = r->at;
    for (uint32_t i = 0; i < rank; i++) {
        WTE_TRY(wte__gguf_take_u64(r, &ne[i]));
        shape[rank - 1 - i] = ne[i];
        if (ne[i] > INT64_MAX)
            return wte__fail(r->err, WTE_E_FORMAT, r->at - 8,
                             "%s: %s: dimension %" PRIu32 " is negative (%" PRId64 ", byte "
                             "%" PRIu64 ")",
                             path_of(r), r->what, i, (int64_t)ne[i], r->at - 8);
    }
    if (wte__shape_bytes(ne, rank, 1, elements) && *elements <= INT64_MAX) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, at,
                     "%s: %s: ne = [%" PRIu64 ", %" PRIu64 "%s] is more than 2^63 elements (byte "
                     "%" PRIu64 ")",
                     path_of(r), r->what, ne[0], ne[1], rank > 2 ? ", ..." : "", at);
}

/* Bytes from elements and type; blocks must fill rows. Those of a foreign type are told by where
 * the next tensor begins. */
static wte_status measure(const wte__gguf_reader *r, wte__tensor_entry *e, const uint64_t *shape,
                          uint64_t elements, uint64_t at)
{
    const wte_block_type block = (wte_block_type)e->block;
    const uint64_t per = block ? wte_block_elements(block) : 1;
    const uint64_t each = block ? wte_block_bytes(block) : wte_dtype_bytes((wte_dtype)e->dtype);
    const uint64_t row = e->rank ? shape[e->rank - 1] : 1;
    if (row % per && e->block >= UNSETTLED) make_foreign(e);
    if (e->flags & WTE__FOREIGN) return WTE_OK;
    if (row % per)
        return wte__fail(r->err, WTE_E_FORMAT, at,
                         "%s: %s: rows of %" PRIu64 " elements, but %s comes in blocks of "
                         "%" PRIu64 " (byte %" PRIu64 ")",
                         path_of(r), r->what, row, wte_block_name(block), per, at);
    if (wte__mul_u64(elements / per, each, &e->bytes)) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, at,
                     "%s: %s: %" PRIu64 " elements of %" PRIu64
                     " bytes overflow 64 bits (byte %" PRIu64 ")",
                     path_of(r), r->what, elements, each, at);
}

/* n up to the next multiple of the alignment, a power of two; false when it does not fit. */
static bool padded(const wte__gguf_reader *r, uint64_t n, uint64_t *out)
{
    if (!wte__add_u64(n, r->alignment - 1, out)) return false;
    *out &= ~(r->alignment - 1);
    return true;
}

/* Whether the tensor before this one may end where this one begins, though its type says otherwise
 * or nothing: that gives it its size. */
static bool ends_at(wte__gguf_reader *r, uint64_t offset)
{
    if (r->f->n_entries == r->first) return false;
    wte__tensor_entry *before = &r->f->entries[r->f->n_entries - 1];
    if (!(before->flags & WTE__FOREIGN) && before->block < UNSETTLED) return false;
    if (offset < before->offset) return false;
    make_foreign(before);
    before->bytes = offset - before->offset;
    return true;
}

/* Where the tensor begins must be where the one before it ends, padded: *end moves on. */
static wte_status read_offset(wte__gguf_reader *r, wte__tensor_entry *e, uint64_t *end)
{
    const uint64_t at = r->at;
    WTE_TRY(wte__gguf_take_u64(r, &e->offset));
    if (e->offset & (r->alignment - 1))
        return wte__fail(r->err, WTE_E_FORMAT, at,
                         "%s: %s begins at data byte %" PRIu64
                         ", which is no multiple of the alignment %" PRIu64 " (byte %" PRIu64 ")",
                         path_of(r), r->what, e->offset, r->alignment, at);
    if (e->offset != *end && !ends_at(r, e->offset))
        return wte__fail(r->err, WTE_E_FORMAT, at,
                         "%s: %s begins at data byte %" PRIu64 ", but the tensors before it end "
                         "at %" PRIu64 " (byte %" PRIu64 "): %s",
                         path_of(r), r->what, e->offset, *end, at,
                         e->offset < *end ? "they overlap, or are out of order"
                                          : "a gap, or out of order");
    uint64_t after;
    if (wte__add_u64(e->offset, e->bytes, &after) && padded(r, after, end)) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, at,
                     "%s: %s: data byte %" PRIu64 " and %" PRIu64
                     " bytes more overflow 64 bits (byte %" PRIu64 ")",
                     path_of(r), r->what, e->offset, e->bytes, at);
}

static wte_status read_name(wte__gguf_reader *r, wte__tensor_entry *e)
{
    uint64_t bytes = 0;
    const uint64_t start = r->at;
    WTE_TRY(wte__gguf_take_u64(r, &bytes));
    if (bytes > NAME_BYTES)
        return wte__fail(r->err, WTE_E_FORMAT, start,
                         "%s: %s has a name of %" PRIu64 " bytes, but ggml takes at most %u (byte "
                         "%" PRIu64 ")",
                         path_of(r), r->what, bytes, NAME_BYTES, start);
    WTE_TRY(wte__gguf_need(r, bytes));
    e->name_bytes = (uint32_t)bytes;
    r->at += bytes;
    return wte__gguf_check_name(r, "tensor", r->at - bytes, bytes);
}

static wte_status read_entry(wte__gguf_reader *r, uint64_t number, uint64_t *end)
{
    wte__tensor_entry e = { .part = (uint16_t)r->part };
    uint64_t shape[MAX_DIMS], elements = 0;
    snprintf(r->what, sizeof r->what, "tensor number %" PRIu64, number);
    WTE_TRY(read_name(r, &e));
    const uint64_t shape_at = r->at;
    WTE_TRY(read_shape(r, &e, shape, &elements));
    WTE_TRY(read_type(r, &e));
    WTE_TRY(measure(r, &e, shape, elements, shape_at + 4));
    WTE_TRY(read_offset(r, &e, end));
    return wte__entry_add(r->f, &e, shape, r->err);
}

/* The data follow the header at the next multiple of the alignment. */
static wte_status place_data(const wte__gguf_reader *r, wte__tensor_entry *entries, size_t n)
{
    const uint64_t size = r->f->parts[r->part].file.size;
    uint64_t data_at = 0;
    if (n == 0) return WTE_OK;
    const bool fits = padded(r, r->at, &data_at);
    for (size_t i = 0; i < n; i++) {
        wte__tensor_entry *e = &entries[i];
        char shown[WTE__NAME_SHOWN];
        uint64_t end = 0;
        /* the last of a foreign type takes what is left */
        if (fits && i + 1 == n && e->flags & WTE__FOREIGN &&
            wte__add_u64(data_at, e->offset, &end) && end <= size)
            e->bytes = size - end;
        if (fits && wte__add_u64(data_at, e->offset + e->bytes, &end) && end <= size) {
            e->offset += data_at;
            continue;
        }
        return wte__fail(r->err, WTE_E_FORMAT, size,
                         "%s: truncated: tensor '%s' has %" PRIu64 " bytes from byte %" PRIu64
                         " on, but the file has %" PRIu64,
                         path_of(r), wte__show(shown, e->name, e->name_bytes), e->bytes,
                         data_at + e->offset, size);
    }
    return WTE_OK;
}

/* The header is complete and stays where it is: names can point into it. A name is ended by a NUL
 * over the first byte of what follows, the number of dimensions, which has been read. */
static wte_status name_entries(wte__gguf_reader *r, wte__tensor_entry *entries, size_t n)
{
    wte_file *f = r->f;
    uint8_t *header = (uint8_t *)f->parts[r->part].header;
    uint64_t at = r->tensors_at;
    if (!wte__names_reserve(&f->names, f->n_entries))
        return wte__no_memory(r->err, n * 32, "the names of the tensors");
    for (size_t i = 0; i < n; i++) {
        wte__tensor_entry *e = &entries[i];
        const wte__bytes text = { header + at + 8, e->name_bytes };
        uint64_t number = (uint64_t)(e - f->entries);
        bool found;
        e->name = (const char *)text.data;
        header[at + 8 + e->name_bytes] = '\0';
        if (!wte__names_add(&f->names, text, &number, &found))
            return wte__no_memory(r->err, n * 32, "the names of the tensors");
        const wte__tensor_entry *first = &f->entries[number];
        char shown[WTE__NAME_SHOWN];
        if (found)
            return wte__fail(
                r->err, WTE_E_FORMAT, at + 8, "%s: duplicate tensor '%s' (byte %" PRIu64 ")%s%s",
                path_of(r), wte__show(shown, e->name, e->name_bytes), at + 8,
                first->part == r->part ? "" : ", which is also in ",
                first->part == r->part ? "" : wte__path_base(f->parts[first->part].path));
        at += 8 + e->name_bytes + 4 + 8u * e->rank + 4 + 8;
    }
    return WTE_OK;
}

wte_status wte__gguf_read_tensors(wte__gguf_reader *r)
{
    wte_file *f = r->f;
    const size_t first = f->n_entries;
    uint64_t end = 0;
    r->first = first;
    r->tensors_at = r->at;
    for (uint64_t i = 0; i < r->n_tensors; i++) WTE_TRY(read_entry(r, i, &end));
    const size_t n = f->n_entries - first;
    if (n == 0) return WTE_OK;
    WTE_TRY(name_entries(r, f->entries + first, n));
    return place_data(r, f->entries + first, n);
}
