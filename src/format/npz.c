/* Reading NumPy's .npz: a zip archive of .npy files.
 *
 * Each array is a tensor named for its member, without ".npy". Members that are stored are reached
 * where they lie; deflated ones are unpacked into memory once. Members that are no .npy, and arrays
 * of what NumPy knows but we do not (texts, objects, records), are left out and told as metadata.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/zip.h"

#define ENDING       ".npy"
#define ENDING_BYTES 4u

typedef struct reader {
    wte_file *f;
    const wte__zip *zip;
    char path[WTE_LIMIT_PATH + WTE__NAME_SHOWN + 16]; /* of the member at hand, for messages */
    wte_error refusal;                                /* the first array that is left out */
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
        r->path, e->name, at, e->bytes, WTE_NOWHERE, part, e->name_bytes - ENDING_BYTES
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
        if (r->refusal.status == 0) r->refusal = why;
        return leave_out(r, e);
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
        const wte_bytes text = { (const uint8_t *)f->entries[i].name, f->entries[i].name_bytes };
        uint64_t number = i;
        bool found; /* never: no two members have one name */
        if (!wte__names_add(&f->names, text, &number, &found))
            return wte__no_memory(r->err, text.size, "the names of the arrays");
    }
    f->n_listed = f->n_entries;
    return WTE_OK;
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
    return list_names(&r);
}
