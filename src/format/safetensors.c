/* Reading safetensors: 8 bytes of length, a JSON header, the data.
 *
 * One pass over the header, which is read once and whole; names are decoded where they lie. Every
 * rule of the format is checked here, before anybody can reach a tensor: the ranges tile the data
 * exactly, so no two tensors share a byte and none lies outside. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "format/format.h"

#define LENGTH_BYTES 8u

typedef struct reader {
    wte_file *f;
    wte__part *part;
    uint32_t part_number;
    uint64_t data_at; /* of the data in the file */
    wte__json json;   /* over the file's first bytes, so that its offsets are the file's */
    wte_error *err;
} reader;

/* A tensor while its entry is read. */
typedef struct draft {
    wte__tensor_entry entry;
    char shown[WTE__NAME_SHOWN];
    uint64_t at;                             /* of its key */
    uint64_t shape[WTE_MAX_RANK + 1];        /* and the place of an unknown type's name */
    const char *foreign;                     /* that name, or NULL */
    uint64_t dtype_at, shape_at, offsets_at; /* 0 = not seen */
    uint64_t begin, end;
} draft;

static uint64_t length_of(const uint8_t *p)
{
    wte__span s = wte__span_make(p, LENGTH_BYTES);
    return wte__span_u64le(&s);
}

wte__match wte__safetensors_match(const wte__head *head)
{
    if (head->size < LENGTH_BYTES || head->n < LENGTH_BYTES) return WTE__MATCH_NO;
    uint64_t n = length_of(head->bytes), left = head->size - LENGTH_BYTES;
    bool brace = head->n > LENGTH_BYTES && head->bytes[LENGTH_BYTES] == '{';
    /* A length below 4 GiB leaves four zero bytes before the brace. No other format begins so,
     * whatever the length's low bytes look like: they may be the magic of gzip or zip. */
    if (brace && (n <= left || n <= UINT32_MAX)) return WTE__MATCH_YES;
    if (brace) return WTE__MATCH_PERHAPS;
    /* without it: a broken header, if what is in its place is text of a length that fits */
    if (n < 2 || n > (left ? left : WTE_LIMIT_SAFETENSORS_HEADER)) return WTE__MATCH_NO;
    uint64_t first = LENGTH_BYTES; /* blanks before the brace: other readers take them */
    while (first < head->n && head->bytes[first] && strchr(" \t\r\n", head->bytes[first])) first++;
    if (first < head->n && head->bytes[first] == '{') return WTE__MATCH_PERHAPS;
    for (uint64_t i = first; i < head->n && i < LENGTH_BYTES + n; i++)
        if ((head->bytes[i] < ' ' && !strchr("\t\r\n", head->bytes[i])) || head->bytes[i] > '~' ||
            head->bytes[i] == 0)
            return WTE__MATCH_NO;
    return WTE__MATCH_PERHAPS;
}

static wte_status bad_json(const reader *r)
{
    return wte__fail(r->err, WTE_E_FORMAT, r->json.error_at,
                     "%s: the header is not valid JSON at byte %" PRIu64 ": %s", r->part->path,
                     r->json.error_at, r->json.error ? r->json.error : "it ends too early");
}

/* A rule broken at the current token (or broken JSON, when there is none). */
static wte_status refuse(const reader *r, const draft *d, const char *what)
{
    if (r->json.kind == WTE__JSON_ERROR) return bad_json(r);
    return wte__fail(r->err, WTE_E_FORMAT, r->json.token_at,
                     "%s: tensor '%s': %s (byte %" PRIu64 ")", r->part->path, d->shown, what,
                     r->json.token_at);
}

/* The current key or string, decoded and NUL-terminated where it lies: text only gets shorter by
 * decoding, and the closing quote makes room for the NUL. */
static char *settle(reader *r, uint64_t *bytes)
{
    char *text = r->part->header + (r->json.raw.data - (const uint8_t *)r->part->header);
    *bytes = wte__json_decode(&r->json, text);
    text[*bytes] = '\0';
    return text;
}

static wte_dtype dtype_of(const char *text, uint64_t bytes)
{
    static const struct {
        const char *name;
        uint8_t bytes;
        uint8_t type;
    } known[] = {
#define X(NAME, value, text, bits) { #NAME, sizeof #NAME - 1, value },
        WTE_DTYPE_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].bytes == bytes && memcmp(known[i].name, text, known[i].bytes) == 0)
            return (wte_dtype)known[i].type;
    return WTE_DTYPE_NONE;
}

/* Types of later versions are written like those of today: F4, F8_E8M0, ... */
static bool is_type_name(const char *text, uint64_t bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return bytes > 0 && bytes <= 32 && strspn(text, letters) == bytes;
}

static wte_status read_dtype(reader *r, draft *d)
{
    if (d->dtype_at) return refuse(r, d, "duplicate key 'dtype'");
    if (wte__json_next(&r->json) != WTE__JSON_STRING) return refuse(r, d, "dtype is not a string");
    d->dtype_at = r->json.token_at;
    uint64_t bytes;
    const char *text = settle(r, &bytes);
    d->entry.dtype = (uint8_t)dtype_of(text, bytes);
    if (d->entry.dtype != WTE_DTYPE_NONE) return WTE_OK;
    char shown[WTE__NAME_SHOWN];
    if (is_type_name(text, bytes)) { /* it closes its tensor, not the file */
        d->foreign = text;
        d->entry.flags |= WTE__FOREIGN;
        return WTE_OK;
    }
    return wte__fail(r->err, WTE_E_FORMAT, d->dtype_at,
                     "%s: tensor '%s': unknown dtype '%s' (byte %" PRIu64 ")", r->part->path,
                     d->shown, wte__show(shown, text, bytes), d->dtype_at);
}

static wte_status read_shape(reader *r, draft *d)
{
    wte__json *j = &r->json;
    if (d->shape_at) return refuse(r, d, "duplicate key 'shape'");
    if (wte__json_next(j) != WTE__JSON_ARRAY) return refuse(r, d, "shape is not a list");
    d->shape_at = j->token_at;
    while (wte__json_next(j) != WTE__JSON_ARRAY_END) {
        uint64_t size;
        if (j->kind != WTE__JSON_NUMBER || !wte__json_u64(j, &size))
            return refuse(r, d, "shape holds something else than integers from 0 to 2^64 - 1");
        if (d->entry.rank == WTE_MAX_RANK)
            return wte__fail(r->err, WTE_E_LIMIT, j->token_at,
                             "%s: tensor '%s': more than %d dimensions (byte %" PRIu64 ")",
                             r->part->path, d->shown, WTE_MAX_RANK, j->token_at);
        d->shape[d->entry.rank++] = size;
    }
    return WTE_OK;
}

static wte_status read_offsets(reader *r, draft *d)
{
    wte__json *j = &r->json;
    uint64_t value[2];
    uint32_t n = 0;
    if (d->offsets_at) return refuse(r, d, "duplicate key 'data_offsets'");
    if (wte__json_next(j) != WTE__JSON_ARRAY) return refuse(r, d, "data_offsets is not a list");
    d->offsets_at = j->token_at;
    while (wte__json_next(j) != WTE__JSON_ARRAY_END) {
        if (n == 2) return refuse(r, d, "data_offsets has more than 2 numbers");
        if (j->kind != WTE__JSON_NUMBER || !wte__json_u64(j, &value[n]))
            return refuse(r, d,
                          "data_offsets holds something else than integers from 0 to 2^64 - 1");
        n++;
    }
    if (n != 2)
        return refuse(r, d, n ? "data_offsets has 1 number, not 2" : "data_offsets is empty");
    d->begin = value[0];
    d->end = value[1];
    if (d->begin <= d->end) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, d->offsets_at,
                     "%s: tensor '%s': data_offsets are reversed: begin %" PRIu64 ", end %" PRIu64
                     " (byte %" PRIu64 ")",
                     r->part->path, d->shown, d->begin, d->end, d->offsets_at);
}

/* The size that type and shape ask for must be the size that the offsets give. */
static wte_status check_size(const reader *r, draft *d)
{
    static const char *const keys[] = { "dtype", "shape", "data_offsets" };
    const uint64_t seen[] = { d->dtype_at, d->shape_at, d->offsets_at };
    for (size_t i = 0; i < 3; i++)
        if (!seen[i])
            return wte__fail(r->err, WTE_E_FORMAT, d->at,
                             "%s: tensor '%s' has no '%s' (byte %" PRIu64 ")", r->part->path,
                             d->shown, keys[i], d->at);
    d->entry.offset = d->begin; /* of the file once all is known to lie inside it */
    if (d->foreign) {
        d->shape[d->entry.rank] = (uint64_t)(d->foreign - r->part->header);
        d->entry.bytes = d->end - d->begin;
        return WTE_OK;
    }
    const char *type = wte_dtype_name((wte_dtype)d->entry.dtype);
    uint64_t bits;
    if (!wte__shape_bits(d->shape, d->entry.rank, (wte_dtype)d->entry.dtype, &bits))
        return wte__fail(r->err, WTE_E_FORMAT, d->shape_at,
                         "%s: tensor '%s': shape x %s overflows 64 bits, but its data_offsets span "
                         "%" PRIu64 " bytes (byte %" PRIu64 ")",
                         r->part->path, d->shown, type, d->end - d->begin, d->shape_at);
    if (bits % 8)
        return wte__fail(r->err, WTE_E_FORMAT, d->shape_at,
                         "%s: tensor '%s': shape x %s is %" PRIu64
                         " bits, which is not a whole number of bytes (byte %" PRIu64 ")",
                         r->part->path, d->shown, type, bits, d->shape_at);
    d->entry.bytes = bits / 8;
    if (d->entry.bytes != d->end - d->begin)
        return wte__fail(r->err, WTE_E_FORMAT, d->offsets_at,
                         "%s: tensor '%s': shape x %s is %" PRIu64
                         " bytes, but its data_offsets span %" PRIu64 " (byte %" PRIu64 ")",
                         r->part->path, d->shown, type, d->entry.bytes, d->end - d->begin,
                         d->offsets_at);
    return WTE_OK;
}

/* The value of the current key, which is a tensor's name. */
static wte_status read_tensor(reader *r)
{
    wte__json *j = &r->json;
    draft d;
    memset(&d, 0, offsetof(draft, shape));
    d.foreign = NULL;
    d.dtype_at = d.shape_at = d.offsets_at = 0;
    d.at = j->token_at;
    uint64_t bytes;
    d.entry.name = settle(r, &bytes);
    wte__show(d.shown, d.entry.name, bytes);
    if (bytes > WTE_LIMIT_NAME)
        return wte__fail(r->err, WTE_E_LIMIT, d.at,
                         "%s: the name of tensor '%s' has %" PRIu64
                         " bytes, but at most %u are read (byte %" PRIu64 ")",
                         r->part->path, d.shown, bytes, WTE_LIMIT_NAME, d.at);
    d.entry.name_bytes = (uint32_t)bytes;
    d.entry.part = (uint16_t)r->part_number;
    if (wte__json_next(j) != WTE__JSON_OBJECT) return refuse(r, &d, "its entry is not an object");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        if (wte__json_is(j, "dtype"))
            WTE_TRY(read_dtype(r, &d));
        else if (wte__json_is(j, "shape"))
            WTE_TRY(read_shape(r, &d));
        else if (wte__json_is(j, "data_offsets"))
            WTE_TRY(read_offsets(r, &d));
        else if (!wte__json_skip_value(j))
            return bad_json(r);
    }
    if (j->kind != WTE__JSON_OBJECT_END) return bad_json(r);
    WTE_TRY(check_size(r, &d));
    if (r->f->n_entries == WTE_LIMIT_TENSORS)
        return wte__fail(r->err, WTE_E_LIMIT, d.at, "%s: more than %u tensors (byte %" PRIu64 ")",
                         r->part->path, WTE_LIMIT_TENSORS, d.at);
    return wte__entry_add(r->f, &d.entry, d.shape, r->err);
}

static wte_status bad_metadata(const reader *r, const char *what)
{
    if (r->json.kind == WTE__JSON_ERROR) return bad_json(r);
    return wte__fail(r->err, WTE_E_FORMAT, r->json.token_at,
                     "%s: __metadata__: %s (byte %" PRIu64 ")", r->part->path, what,
                     r->json.token_at);
}

static wte_status read_pairs(reader *r, wte__names *names)
{
    wte__json *j = &r->json;
    while (wte__json_next(j) == WTE__JSON_KEY) {
        uint64_t bytes, at = j->token_at, first = at;
        const char *key = settle(r, &bytes);
        const wte__bytes text = { (const uint8_t *)key, bytes };
        bool found;
        if (!wte__names_add(names, text, &first, &found))
            return wte__no_memory(r->err, 0, "the metadata");
        if (found) return bad_metadata(r, "duplicate key");
        if (wte__json_next(j) != WTE__JSON_STRING)
            return bad_metadata(r, "a value is not a string");
        WTE_TRY(wte__metadata_add(r->f, key, settle(r, &bytes), r->err));
    }
    return j->kind == WTE__JSON_OBJECT_END ? WTE_OK : bad_json(r);
}

static wte_status read_metadata(reader *r)
{
    wte__json_kind kind = wte__json_next(&r->json);
    if (kind == WTE__JSON_NULL) return WTE_OK; /* as the reference takes it */
    if (kind != WTE__JSON_OBJECT) return bad_metadata(r, "is not an object of strings");
    wte__names names;
    wte__names_init(&names, r->f->allocator);
    wte_status status = read_pairs(r, &names);
    wte__names_clear(&names);
    return status;
}

static wte_status read_header(reader *r)
{
    wte__json *j = &r->json;
    bool metadata = false;
    if (wte__json_next(j) != WTE__JSON_OBJECT) return bad_json(r);
    while (wte__json_next(j) == WTE__JSON_KEY) {
        if (!wte__json_is(j, "__metadata__")) {
            WTE_TRY(read_tensor(r));
            continue;
        }
        if (metadata) return bad_metadata(r, "duplicate key");
        metadata = true;
        WTE_TRY(read_metadata(r));
    }
    return wte__json_next(j) == WTE__JSON_END ? WTE_OK : bad_json(r);
}

static int by_place(const void *a, const void *b)
{
    const wte__tensor_entry *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* the empty ones first */
}

static wte_status sort_entries(const reader *r, wte__tensor_entry *entries, size_t n)
{
    size_t i = 1;
    while (i < n && by_place(&entries[i - 1], &entries[i]) <= 0) i++;
    if (i >= n) return WTE_OK; /* as nearly every writer leaves them */
    wte__tensor_entry *scratch = wte__alloc_array(r->f->allocator, n, sizeof *scratch);
    if (!scratch) return wte__no_memory(r->err, n * sizeof *scratch, "sorting the tensors");
    wte__sort(entries, n, sizeof *entries, by_place, scratch);
    wte__free(r->f->allocator, scratch, n * sizeof *scratch);
    return WTE_OK;
}

/* Where the entry's key stands in the file. */
static uint64_t key_at(const reader *r, const wte__tensor_entry *e)
{
    return (uint64_t)(e->name - r->part->header) - 1;
}

static wte_status check_names(const reader *r, wte__tensor_entry *entries, size_t n,
                              wte__names *names)
{
    if (!wte__names_reserve(names, n))
        return wte__no_memory(r->err, n * 32, "the names of the tensors");
    for (size_t i = 0; i < n; i++) {
        const wte__tensor_entry *e = &entries[i];
        const wte__bytes text = { (const uint8_t *)e->name, e->name_bytes };
        uint64_t number = (uint64_t)(e - r->f->entries), second = key_at(r, e);
        bool found;
        if (!wte__names_add(names, text, &number, &found))
            return wte__no_memory(r->err, n * 32, "the names of the tensors");
        if (!found) continue;
        uint64_t first = key_at(r, &r->f->entries[number]);
        if (first > second) second = first;
        char shown[WTE__NAME_SHOWN];
        return wte__fail(r->err, WTE_E_FORMAT, second,
                         "%s: duplicate tensor '%s' (byte %" PRIu64 ")", r->part->path,
                         wte__show(shown, e->name, e->name_bytes), second);
    }
    return WTE_OK;
}

static wte_status bad_seam(const reader *r, const wte__tensor_entry *before,
                           const wte__tensor_entry *e, uint64_t expected)
{
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    uint64_t where = key_at(r, e);
    wte__show(a, e->name, e->name_bytes);
    if (!before)
        return wte__fail(r->err, WTE_E_FORMAT, where,
                         "%s: hole: the first tensor '%s' begins at data byte %" PRIu64 ", not 0",
                         r->part->path, a, e->offset);
    wte__show(b, before->name, before->name_bytes);
    if (e->offset > expected)
        return wte__fail(r->err, WTE_E_FORMAT, where,
                         "%s: hole: '%s' ends at data byte %" PRIu64
                         ", but the next tensor '%s' begins at %" PRIu64,
                         r->part->path, b, expected, a, e->offset);
    bool same = e->offset == before->offset && e->bytes == before->bytes;
    return wte__fail(r->err, WTE_E_FORMAT, where,
                     "%s: overlap: '%s' ends at data byte %" PRIu64 ", but '%s' begins at %" PRIu64
                     "%s",
                     r->part->path, b, expected, a, e->offset, same ? " (the same bytes)" : "");
}

/* The ranges must tile the data: no hole, no overlap, nothing after the last. Then offsets become
 * the file's. */
static wte_status check_tiles(const reader *r, wte__tensor_entry *entries, size_t n)
{
    const uint64_t have = r->part->file.size - r->data_at;
    const wte__tensor_entry *before = NULL, *cut = NULL;
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        wte__tensor_entry *e = &entries[i];
        if (e->offset != end) return bad_seam(r, before, e, end);
        end += e->bytes; /* cannot wrap: it is the entry's own data_offsets[1] */
        if (end > have && !cut) cut = e;
        before = e;
    }
    char shown[WTE__NAME_SHOWN];
    if (cut)
        return wte__fail(r->err, WTE_E_FORMAT, r->part->file.size,
                         "%s: truncated: its tensors need %" PRIu64
                         " bytes of data, but it has %" PRIu64 "; '%s' is the first that is cut",
                         r->part->path, end, have, wte__show(shown, cut->name, cut->name_bytes));
    if (end < have)
        return wte__fail(r->err, WTE_E_FORMAT, r->data_at + end,
                         "%s: the tensors end at byte %" PRIu64 ", but the file has %" PRIu64
                         ": trailing bytes",
                         r->part->path, r->data_at + end, r->part->file.size);
    for (size_t i = 0; i < n; i++) entries[i].offset += r->data_at;
    return WTE_OK;
}

/* Length, cap and first byte; then the header is in memory. */
static wte_status load_header(reader *r)
{
    wte_file *f = r->f;
    wte__part *part = r->part;
    uint64_t cap = f->max_header_bytes ? f->max_header_bytes : WTE_LIMIT_SAFETENSORS_HEADER;
    uint8_t start[LENGTH_BYTES + 1] = { 0 };
    if (part->file.size < LENGTH_BYTES)
        return wte__fail(r->err, WTE_E_FORMAT, part->file.size,
                         "%s: has %" PRIu64 " bytes, but a safetensors file has at least 8",
                         part->path, part->file.size);
    uint64_t left = part->file.size - LENGTH_BYTES;
    WTE_TRY(
        wte__file_read_at(&part->file, 0, start, LENGTH_BYTES + (left > 0), part->path, r->err));
    uint64_t n = length_of(start);
    if (n > left) /* whatever the cap is */
        return wte__fail(r->err, WTE_E_FORMAT, 0,
                         "%s: truncated: needs %" PRIu64 " bytes for its header, but has %" PRIu64,
                         part->path, n > UINT64_MAX - LENGTH_BYTES ? UINT64_MAX : n + LENGTH_BYTES,
                         part->file.size);
    if (n > cap)
        return wte__fail(r->err, WTE_E_LIMIT, 0,
                         "%s: a header of %" PRIu64 " bytes, but at most %" PRIu64
                         " are read (" WTE__RAISE_HEADER ")",
                         part->path, n, cap);
    if (n == 0 || start[LENGTH_BYTES] != '{')
        return wte__fail(r->err, WTE_E_FORMAT, LENGTH_BYTES,
                         "%s: no safetensors file (or a broken one): its header of %" PRIu64
                         " bytes does not begin with '{'",
                         part->path, n);
    r->data_at = LENGTH_BYTES + n;
    return wte__part_header(f, part, r->data_at, r->err);
}

wte_status wte__safetensors_read_part(wte_file *f, uint32_t part, wte__names *names, wte_error *err)
{
    reader r = { f, &f->parts[part], part, 0, { 0 }, err };
    size_t first = f->n_entries;
    WTE_TRY(load_header(&r));
    wte__json_init(&r.json, r.part->header, r.data_at, r.part->path, 0);
    r.json.at = LENGTH_BYTES;
    WTE_TRY(read_header(&r));
    size_t n = f->n_entries - first;
    if (n == 0) return check_tiles(&r, NULL, 0);
    WTE_TRY(sort_entries(&r, f->entries + first, n));
    WTE_TRY(check_names(&r, f->entries + first, n, names));
    return check_tiles(&r, f->entries + first, n);
}

/* A file in which every type is unknown has nothing to read: its first tensor is reported. */
static wte_status refuse_foreign(const wte_file *f, wte_error *err)
{
    const wte__tensor_entry *first = NULL;
    char shown[WTE__NAME_SHOWN];
    for (size_t i = 0; i < f->n_entries; i++) {
        if (!(f->entries[i].flags & WTE__FOREIGN)) return WTE_OK;
        if (!first || f->entries[i].name < first->name) first = &f->entries[i];
    }
    if (!first) return WTE_OK;
    const char *type = wte__entry_foreign_name(first);
    const uint64_t at = (uint64_t)(type - f->parts[0].header) - 1; /* of the opening quote */
    return wte__fail(err, WTE_E_FORMAT, at,
                     "%s: tensor '%s': unknown dtype '%s' (byte %" PRIu64 ")", f->parts[0].path,
                     wte__show(shown, first->name, first->name_bytes), type, at);
}

wte_status wte__safetensors_read(wte_file *f, wte_error *err)
{
    WTE_TRY(wte__safetensors_read_part(f, 0, &f->names, err));
    WTE_TRY(refuse_foreign(f, err));
    f->n_listed = f->n_entries;
    return WTE_OK;
}
