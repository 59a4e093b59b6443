/* PyTorch's container since 1.6: a zip archive with one folder, in which data.pkl holds names and
 * shapes, and data/KEY the bytes of each storage. */
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/torch.h"
#include "format/zip.h"

#define PICKLE       "data.pkl"
#define PICKLE_BYTES (sizeof PICKLE - 1)

/* The pickle is in a folder at the top; *i gets its number. False when there is none. */
bool wte__torch_zip_is(const wte__zip *z, size_t *i)
{
    for (*i = 0; *i < z->n; ++*i) {
        const wte__zip_entry *e = &z->entries[*i];
        const char *slash = strchr(e->name, '/');
        if (slash && slash > e->name && strcmp(slash + 1, PICKLE) == 0) return true;
    }
    return false;
}

/* "FOLDER/NAME" in out; false when it is too long to be a name here. */
static bool inside(const wte__zip_entry *pickle, const char *name, size_t name_bytes, char *out,
                   size_t cap, size_t *n)
{
    const size_t folder = pickle->name_bytes - PICKLE_BYTES;
    *n = folder + name_bytes;
    if (*n >= cap) return false;
    memcpy(out, pickle->name, folder);
    memcpy(out + folder, name, name_bytes);
    return true;
}

static bool find(const wte__zip *z, const wte__zip_entry *pickle, const char *name, size_t *i)
{
    char whole[WTE_LIMIT_PATH];
    size_t n;
    return inside(pickle, name, strlen(name), whole, sizeof whole, &n) &&
           wte__zip_find(z, whole, n, i);
}

/* All else must lie in the pickle's folder, as PyTorch has it: nothing hides beside it. */
static wte_status check_folder(const wte__torch *t, const wte__zip *z, const wte__zip_entry *pickle)
{
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    const size_t n = pickle->name_bytes - PICKLE_BYTES;
    for (size_t i = 0; i < z->n; i++) {
        const wte__zip_entry *e = &z->entries[i];
        if (e->name_bytes >= n && memcmp(e->name, pickle->name, n) == 0) continue;
        return wte__fail(t->err, WTE_E_FORMAT, e->header_at,
                         "%s: '%s' lies outside of the folder '%s' of its pickle", t->path,
                         wte__show(a, e->name, e->name_bytes), wte__show(b, pickle->name, n));
    }
    return WTE_OK;
}

static wte_status read_byteorder(wte__torch *t, const wte__zip *z, const wte__zip_entry *pickle)
{
    char text[16] = "";
    size_t i;
    if (!find(z, pickle, "byteorder", &i)) return WTE_OK; /* before 2.1: little */
    const uint64_t n = z->entries[i].bytes;
    if (n < sizeof text) WTE_TRY(wte__zip_read(z, i, text, t->err));
    t->big = strcmp(text, "big") == 0;
    if (t->big || strcmp(text, "little") == 0) return WTE_OK;
    return wte__fail(t->err, WTE_E_FORMAT, z->entries[i].header_at,
                     "%s: its byteorder is neither 'little' nor 'big'", t->path);
}

/* The storage's member, of the very size that the pickle says. */
static wte_status member_of(const wte__torch *t, const wte__zip *z, const wte__zip_entry *pickle,
                            const wte__torch_storage *s, size_t *i)
{
    char whole[WTE_LIMIT_PATH], key[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN];
    size_t n = 0;
    wte__show(shown, s->key.data, s->key.size);
    const int k = snprintf(key, sizeof key, "data/%.*s", (int)(s->key.size & 0xfff),
                           (const char *)s->key.data);
    if (s->key.size > 0xfff || k < 0 ||
        !inside(pickle, key, (size_t)k < sizeof key ? (size_t)k : 0, whole, sizeof whole, &n) ||
        !wte__zip_find(z, whole, n, i))
        return wte__fail(t->err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: storage '%s' is missing: no member 'data/%s'", t->path, shown, shown);
    const wte__zip_entry *e = &z->entries[*i];
    if (e->bytes == s->bytes) return WTE_OK;
    return wte__fail(t->err, WTE_E_FORMAT, e->header_at,
                     "%s: storage '%s' of %" PRIu64 " elements of %s takes %" PRIu64
                     " bytes, but its member has %" PRIu64,
                     t->path, shown, s->count, wte_dtype_name(s->dtype), s->bytes, e->bytes);
}

/* Storages that are used, one by one; *packed counts those that are not simply there. */
static wte_status place_stored(wte__torch *t, const wte__zip *z, const wte__zip_entry *pickle,
                               size_t *list, uint32_t *of, size_t *packed)
{
    *packed = 0;
    for (size_t k = 0; k < t->n_storages; k++) {
        wte__torch_storage *s = &t->storages[k];
        size_t i;
        if (!s->used) continue;
        WTE_TRY(member_of(t, z, pickle, s, &i));
        s->part = t->part;
        if (z->entries[i].method == WTE__ZIP_STORED) {
            WTE_TRY(wte__zip_data(z, i, &s->offset, t->err));
            continue;
        }
        list[*packed] = i;
        of[(*packed)++] = (uint32_t)k;
    }
    return WTE_OK;
}

static wte_status place_storages(wte__torch *t, const wte__zip *z, const wte__zip_entry *pickle)
{
    const wte_allocator *a = t->f->allocator;
    const size_t n = t->n_storages;
    size_t packed = 0;
    if (n == 0) return WTE_OK;
    size_t *list = wte__alloc_array(a, n, sizeof *list);
    uint32_t *of = wte__alloc_array(a, n, sizeof *of);
    uint64_t *at = wte__alloc_array(a, n, sizeof *at);
    wte_status status = WTE_OK;
    if (!list || !of || !at) status = wte__no_memory(t->err, n * sizeof *at, t->path);
    if (status == WTE_OK) status = place_stored(t, z, pickle, list, of, &packed);
    if (status == WTE_OK && packed)
        status = wte__zip_unpack(t->f, t->part, z, list, packed, at, t->err);
    for (size_t k = 0; status == WTE_OK && k < packed; k++) {
        t->storages[of[k]].offset = at[k];
        t->storages[of[k]].part = (uint32_t)t->f->n_parts - 1;
    }
    wte__free(a, list, n * sizeof *list);
    wte__free(a, of, n * sizeof *of);
    wte__free(a, at, n * sizeof *at);
    return status;
}

static wte_status read_pickle(wte__torch *t, const wte__zip *z, size_t i, wte__pickle *p)
{
    const wte__zip_entry *e = &z->entries[i];
    if (e->bytes > WTE_LIMIT_PICKLE)
        return wte__fail(t->err, WTE_E_LIMIT, e->header_at,
                         "%s: a pickle of %" PRIu64 " bytes, but at most %u are read", t->path,
                         e->bytes, WTE_LIMIT_PICKLE);
    WTE_TRY(wte__zip_justified(z, e->bytes, t->err));
    uint8_t *data = wte__arena_take(&t->arena, (size_t)e->bytes + 1);
    if (!data) return wte__no_memory(t->err, e->bytes, t->path);
    WTE_TRY(wte__zip_read(z, i, data, t->err));
    memset(p, 0, sizeof *p);
    p->data = data;
    p->size = e->bytes;
    p->packed = e->method != WTE__ZIP_STORED;
    WTE_TRY(wte__zip_data(z, i, &p->at, t->err));
    return wte__torch_pickle(t, p);
}

static wte_status read_all(wte__torch *t, const wte__zip *z, wte__torch_list *list,
                           wte__names *names)
{
    size_t i, constants;
    wte__pickle p;
    (void)wte__torch_zip_is(z, &i); /* was true */
    const wte__zip_entry *pickle = &z->entries[i];
    if (find(z, pickle, "constants.pkl", &constants))
        return wte__fail(t->err, WTE_E_UNSUPPORTED, z->entries[constants].header_at,
                         "%s: is a TorchScript program (constants.pkl), not a checkpoint: save its "
                         "state_dict()",
                         t->path);
    WTE_TRY(check_folder(t, z, pickle));
    WTE_TRY(read_byteorder(t, z, pickle));
    WTE_TRY(read_pickle(t, z, i, &p));
    WTE_TRY(wte__torch_walk(t, &p.root, p.used, list));
    WTE_TRY(place_storages(t, z, pickle));
    return wte__torch_list_entries(t, list, names);
}

wte_status wte__torch_zip_read(wte_file *f, uint32_t part, const wte__zip *z, wte__names *names,
                               wte_error *err)
{
    wte__torch t;
    wte__torch_list list = { 0 };
    wte__torch_begin(&t, f, part, err);
    const wte_status status = read_all(&t, z, &list, names);
    wte__free(f->allocator, list.items, list.cap * sizeof *list.items);
    wte__torch_end(&t);
    return status;
}
