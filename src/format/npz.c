/* Reading NumPy's .npz: a zip archive of .npy files.
 *
 * Each array is a tensor named for its member, without ".npy". Members that are stored are reached
 * where they lie; deflated ones are unpacked into memory once. Members that are no .npy, and arrays
 * of what NumPy knows but we do not (texts, objects, records), are left out and told as metadata.
 * One list of texts beside one matrix of as many rows is its tokens. */
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/zip.h"

#define ENDING       ".npy"
#define ENDING_BYTES 4u

typedef struct reader {
    wte_file *f;
    const wte__zip *zip;
    char path[WTE_LIMIT_PATH + WTE__NAME_SHOWN + 16]; /* of the member at hand, for messages */
    wte_error refusal;                                /* the first array that is left out */
    wte__npy_texts texts; /* of the last list of texts; leads to `list` */
    const wte__zip_entry *list;
    uint32_t n_lists;
    wte_error *err;
} reader;

static bool is_array(const wte__zip_entry *e)
{
    return e->name_bytes > ENDING_BYTES &&
           memcmp(e->name + e->name_bytes - ENDING_BYTES, ENDING, ENDING_BYTES) == 0;
}

static wte_status leave_out(reader *r, const wte__zip_entry *e)
{
    return wte__metadata_add(r->f, e->name, "not read: no array of numbers", r->err);
}

/* An array at `at` of a part; its name then ends before ".npy". */
static wte_status read_array(reader *r, size_t i, uint32_t part, uint64_t at)
{
    char shown[WTE__NAME_SHOWN];
    const wte__zip_entry *e = &r->zip->entries[i];
    wte__npy_place place = {
        r->path, e->name, at, e->bytes, WTE_NO_INDEX, part, e->name_bytes - ENDING_BYTES
    };
    if (part) place.where = e->header_at;
    snprintf(r->path, sizeof r->path, "%s: '%s'", r->f->path,
             wte__show(shown, e->name, e->name_bytes));
    wte_error why = { 0 };
    const wte_status status = wte__npy_read_at(r->f, &place, &why);
    if (status == WTE_OK) {
        char *name = r->zip->directory + (e->name - r->zip->directory);
        name[place.name_bytes] = '\0';
        return WTE_OK;
    }
    if (status == WTE_E_UNSUPPORTED) {
        wte__npy_texts texts;
        if (r->refusal.status == 0) r->refusal = why;
        const wte_status listed = wte__npy_read_texts(r->f, &place, &texts, &why);
        if (listed == WTE_E_MEMORY) {
            if (r->err) *r->err = why;
            return listed;
        }
        if (listed != WTE_OK || texts.count == 0) return leave_out(r, e);
        if (r->n_lists++ > 0) WTE_TRY(leave_out(r, r->list));
        r->texts = texts;
        r->list = e;
        return WTE_OK;
    }
    if (r->err) *r->err = why;
    return status;
}

/* What is stored, in order of its data; *packed counts the others. */
static wte_status read_stored(reader *r, size_t *packed)
{
    *packed = 0;
    for (size_t i = 0; i < r->zip->n; i++) {
        const wte__zip_entry *e = &r->zip->entries[i];
        if (!is_array(e)) {
            if (e->name[e->name_bytes - 1] != '/') WTE_TRY(leave_out(r, e));
            continue;
        }
        if (e->method != WTE__ZIP_STORED) {
            ++*packed;
            continue;
        }
        uint64_t at;
        WTE_TRY(wte__zip_data(r->zip, i, &at, r->err));
        WTE_TRY(read_array(r, i, 0, at));
    }
    return WTE_OK;
}

static wte_status read_packed(reader *r, size_t n)
{
    const wte_allocator *a = r->f->allocator;
    size_t *list = wte__alloc_array(a, n, sizeof *list);
    uint64_t *at = wte__alloc_array(a, n, sizeof *at);
    wte_status status = WTE_OK;
    if (!list || !at) status = wte__no_memory(r->err, n * sizeof *at, r->f->path);
    for (size_t i = 0, k = 0; status == WTE_OK && k < n; i++) {
        const wte__zip_entry *e = &r->zip->entries[i];
        if (is_array(e) && e->method != WTE__ZIP_STORED) list[k++] = i;
    }
    if (status == WTE_OK) status = wte__zip_unpack(r->f, 0, r->zip, list, n, at, r->err);
    for (size_t k = 0; status == WTE_OK && k < n; k++)
        status = read_array(r, list[k], (uint32_t)r->f->n_parts - 1, at[k]);
    wte__free(a, list, n * sizeof *list);
    wte__free(a, at, n * sizeof *at);
    return status;
}

static wte_status list_names(reader *r)
{
    wte_file *f = r->f;
    if (!wte__names_reserve(&f->names, f->n_entries))
        return wte__no_memory(r->err, f->n_entries * sizeof(uint64_t), "the names of the arrays");
    for (size_t i = 0; i < f->n_entries; i++) {
        const wte__bytes text = { (const uint8_t *)f->entries[i].name, f->entries[i].name_bytes };
        uint64_t number = i;
        bool found; /* never: no two members have one name */
        if (!wte__names_add(&f->names, text, &number, &found))
            return wte__no_memory(r->err, text.size, "the names of the arrays");
    }
    f->n_listed = f->n_entries;
    return WTE_OK;
}

/* The rows of the only matrix; 0 when there is none, or more than one. */
static uint64_t matrix_rows(const wte_file *f)
{
    uint64_t rows = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->n_entries; i++) {
        if (f->entries[i].rank != 2) continue;
        rows = f->dims[f->entries[i].shape_at];
        n++;
    }
    return n == 1 ? rows : 0;
}

/* One text, of units that end in NULs. */
static wte_status add_token(reader *r, const uint8_t *units, uint64_t row)
{
    const wte__npy_texts *t = &r->texts;
    uint32_t n = t->chars;
    WTE_TRY(wte__token_list_add(&r->f->tokens, (wte__bytes){ units, 0 }, WTE_TAG_NORMAL, r->err));
    while (n > 0 && memcmp(units + (size_t)(n - 1) * t->unit, "\0\0\0", t->unit) == 0) n--;
    if (t->unit == 1)
        return wte__token_list_extend(&r->f->tokens, (wte__bytes){ units, n }, r->err);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *u = units + (size_t)i * 4;
        const uint32_t code = t->big ? (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 |
                                           (uint32_t)u[2] << 8 | (uint32_t)u[3]
                                     : (uint32_t)u[3] << 24 | (uint32_t)u[2] << 16 |
                                           (uint32_t)u[1] << 8 | (uint32_t)u[0];
        uint8_t text[4];
        const bool surrogate = code >= 0xd800 && code <= 0xdfff;
        if (code > 0x10ffff || surrogate)
            return wte__fail(r->err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: '%s': text %" PRIu64 " holds 0x%" PRIx32
                             ", which is no character",
                             r->f->path, r->list->name, row, code);
        const wte__bytes bytes = { text, wte__utf8_put(code, text) };
        WTE_TRY(wte__token_list_extend(&r->f->tokens, bytes, r->err));
    }
    return WTE_OK;
}

#define BLOCK (1u << 20)
static wte_status read_tokens(reader *r)
{
    const wte__npy_texts *t = &r->texts;
    const wte__file *file = &r->f->parts[t->part].file;
    const uint64_t each = (uint64_t)t->chars * t->unit, most = BLOCK / each + 1;
    uint8_t *block = wte__alloc_array(r->f->allocator, (size_t)(most * each), 1);
    if (!block) return wte__no_memory(r->err, most * each, r->f->path);
    wte_status status = WTE_OK;
    for (uint64_t row = 0; status == WTE_OK && row < t->count; row += most) {
        const uint64_t n = t->count - row < most ? t->count - row : most;
        status = wte__file_read_at(file, t->at + row * each, block, n * each, r->f->path, r->err);
        for (uint64_t i = 0; status == WTE_OK && i < n; i++)
            status = add_token(r, block + i * each, row + i);
    }
    wte__free(r->f->allocator, block, (size_t)(most * each));
    r->f->tokens.first_wins = true;
    r->f->tokens.form = WTE_FORM_PLAIN;
    return status;
}

/* A list of texts is the matrix's, if it is the only one and as long, else it is left out. */
static wte_status settle_texts(reader *r)
{
    if (r->n_lists == 0) return WTE_OK;
    if (r->n_lists > 1 || r->texts.count != matrix_rows(r->f)) return leave_out(r, r->list);
    return read_tokens(r);
}

wte_status wte__npz_read(wte_file *f, wte__zip *z, wte_error *err)
{
    reader r = { .f = f, .zip = z, .err = err };
    size_t packed;
    /* names point into the directory, which becomes f's */
    f->parts[0].header = z->directory;
    f->parts[0].header_bytes = (size_t)z->directory_bytes;
    z->owned = false;
    WTE_TRY(read_stored(&r, &packed));
    if (packed) WTE_TRY(read_packed(&r, packed));
    if (f->n_entries == 0) {
        if (err) *err = r.refusal;
        return (wte_status)r.refusal.status;
    }
    WTE_TRY(settle_texts(&r));
    return list_names(&r);
}
