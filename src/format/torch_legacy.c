/* PyTorch's container before 1.6: pickles one behind the other (a magic number, a version, facts
 * about the machine, the object, the keys of the storages), then the bytes of each storage. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/torch.h"

#define VERSION 1001

/* 0x1950a86a20f9469cfc6c, as a pickle writes it: 10 bytes, least significant first. */
static const uint8_t magic[] = { 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19 };

bool wte__torch_legacy_match(const wte__head *head)
{
    enum { REACH = 16 }; /* behind the opcodes of protocol, frame and long */
    if (head->n < 3 || head->bytes[0] != 0x80) return false;
    for (uint64_t at = 2; at < REACH && at + sizeof magic <= head->n; at++)
        if (memcmp(head->bytes + at, magic, sizeof magic) == 0) return true;
    return false;
}

typedef struct reader {
    wte__torch *t;
    uint64_t at, size;
} reader;

static wte_status bad(const reader *r, const char *what)
{
    return wte__fail(r->t->err, WTE_E_FORMAT, r->at, "%s: PyTorch file, byte %" PRIu64 ": %s",
                     r->t->path, r->at, what);
}

static wte_status next(reader *r, wte__pickle *p)
{
    return wte__torch_pickle_at(r->t, r->at, r->size, p);
}

static wte_status read_facts(reader *r)
{
    wte__pickle p;
    WTE_TRY(next(r, &p)); /* the magic number, which has been seen */
    r->at += p.used;
    WTE_TRY(next(r, &p));
    if (p.root.kind != WTE__PICKLE_INT || p.root.as.integer != VERSION)
        return bad(r, "its version is not 1001");
    r->at += p.used;
    WTE_TRY(next(r, &p));
    const wte__pickle_items *facts = wte__pickle_entries(&p.root);
    bool told = false;
    for (uint32_t i = 0; facts && i + 1 < facts->n; i += 2) {
        const wte__pickle_value *v = &facts->items[i + 1];
        if (!wte__pickle_is(&facts->items[i], "little_endian") || v->kind != WTE__PICKLE_BOOL)
            continue;
        told = true;
        r->t->big = v->as.integer == 0;
    }
    if (!told) return bad(r, "does not say whether it is little-endian");
    r->at += p.used;
    return WTE_OK;
}

/* The count before the bytes must be the one that the pickle gives. */
static wte_status place(reader *r, wte__bytes key)
{
    wte__torch *t = r->t;
    const wte__file *file = &t->f->parts[t->part].file;
    char shown[WTE__NAME_SHOWN];
    uint8_t number[8];
    uint64_t i;
    wte__show(shown, key.data, key.size);
    if (!wte__names_find(&t->keys, key, &i))
        return wte__fail(t->err, WTE_E_FORMAT, r->at,
                         "%s: the bytes of storage '%s' are there, but nothing names it", t->path,
                         shown);
    wte__torch_storage *s = &t->storages[i];
    if (s->placed)
        return wte__fail(t->err, WTE_E_FORMAT, r->at, "%s: storage '%s' is listed twice", t->path,
                         shown);
    uint64_t end;
    if (!wte__add_u64(r->at, 8, &end) || !wte__add_u64(end, s->bytes, &end) || end > r->size)
        return wte__fail(t->err, WTE_E_FORMAT, r->size,
                         "%s: truncated: storage '%s' of %" PRIu64 " bytes begins at byte %" PRIu64
                         ", but the file has %" PRIu64,
                         t->path, shown, s->bytes, r->at + 8, r->size);
    WTE_TRY(wte__file_read_at(file, r->at, number, sizeof number, t->path, t->err));
    wte__span span = wte__span_make(number, sizeof number);
    const uint64_t count = wte__span_u64le(&span);
    if (count != s->count)
        return wte__fail(t->err, WTE_E_FORMAT, r->at,
                         "%s: storage '%s' has %" PRIu64 " elements, but its pickle says %" PRIu64,
                         t->path, shown, count, s->count);
    s->offset = r->at + 8;
    s->part = t->part;
    s->placed = true;
    r->at = end;
    return WTE_OK;
}

static wte_status place_storages(reader *r, const wte__pickle_value *keys)
{
    wte__torch *t = r->t;
    if (keys->kind != WTE__PICKLE_LIST) return bad(r, "the keys of its storages are no list");
    for (uint32_t i = 0; i < keys->as.list->n; i++) {
        wte__bytes key;
        if (!wte__torch_key(t, &keys->as.list->items[i], &key))
            return bad(r, "a key of a storage is no text");
        WTE_TRY(place(r, key));
    }
    for (size_t i = 0; i < t->n_storages; i++) {
        const wte__torch_storage *s = &t->storages[i];
        char shown[WTE__NAME_SHOWN];
        if (!s->used || s->placed) continue;
        return wte__fail(t->err, WTE_E_FORMAT, r->at,
                         "%s: storage '%s' is missing: its key is not listed", t->path,
                         wte__show(shown, s->key.data, s->key.size));
    }
    return WTE_OK;
}

static wte_status read_all(reader *r, wte__torch_list *list, wte__names *names)
{
    wte__pickle object, keys;
    WTE_TRY(read_facts(r));
    WTE_TRY(next(r, &object));
    WTE_TRY(wte__torch_walk(r->t, &object.root, object.used, list));
    r->at += object.used;
    WTE_TRY(next(r, &keys));
    r->at += keys.used;
    WTE_TRY(place_storages(r, &keys.root));
    return wte__torch_list_entries(r->t, list, names);
}

wte_status wte__torch_legacy_read(wte_file *f, uint32_t part, wte__names *names, wte_error *err)
{
    wte__torch t;
    wte__torch_list list = { 0 };
    wte__torch_begin(&t, f, part, err);
    reader r = { &t, 0, f->parts[part].file.size };
    const wte_status status = read_all(&r, &list, names);
    wte__free(f->allocator, list.items, list.cap * sizeof *list.items);
    wte__torch_end(&t);
    return status;
}
