/* From the value that a checkpoint holds to named tensors: dicts inside dicts, and the one that is
 * the model's among those that training leaves. */
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/torch.h"

/* Where training keeps the model beside optimizers and counters; the first that holds tensors. */
static const char *const containers[] = { "state_dict", "model_state_dict", "model", "module" };

/* A dict or list at work. */
typedef struct frame {
    const wte__pickle_value *items;
    uint32_t n, at;
    uint32_t name_bytes; /* of what is in front of its keys */
    bool dict;
} frame;

typedef struct walker {
    wte__torch *t;
    wte__torch_list *list; /* NULL: only look whether there is a tensor */
    frame stack[WTE_LIMIT_PICKLE_DEPTH];
    uint32_t depth, visits;
    uint64_t work; /* bytes of keys, and items that were gone through */
    uint64_t name_total, name_most;
    char name[WTE_LIMIT_NAME + 1];
    uint32_t name_bytes;
    bool found;
} walker;

static wte_status limit(const walker *w, const char *what)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(w->t->err, WTE_E_LIMIT, WTE_NO_INDEX, "%s: below '%s': %s", w->t->path,
                     wte__show(shown, w->name, w->name_bytes), what);
}

static wte_status push(walker *w, const wte__pickle_value *v)
{
    const bool dict = v->kind != WTE__PICKLE_LIST && v->kind != WTE__PICKLE_TUPLE;
    const wte__pickle_items *list = dict                          ? wte__pickle_entries(v)
                                    : v->kind == WTE__PICKLE_LIST ? v->as.list
                                                                  : NULL;
    frame f = { v->as.items, v->n, 0, w->name_bytes, dict };
    if (list) {
        f.items = list->items;
        f.n = list->n;
    }
    if (w->depth == WTE_LIMIT_PICKLE_DEPTH)
        return limit(w, "more than 256 dicts, one in the other");
    w->stack[w->depth++] = f;
    return WTE_OK;
}

static bool holds_values(const wte__pickle_value *v)
{
    return v->kind == WTE__PICKLE_LIST || v->kind == WTE__PICKLE_TUPLE || wte__pickle_entries(v);
}

/* One key or value can be met again and again: what is looked at counts, not how often. */
static wte_status spend(walker *w, uint64_t bytes)
{
    char what[120];
    w->work += bytes;
    if (w->work <= WTE_LIMIT_PICKLE_WORK) return WTE_OK;
    snprintf(what, sizeof what, "keys that are met again come to over %u bytes, a fixed limit",
             WTE_LIMIT_PICKLE_WORK);
    return limit(w, what);
}

/* The name so far, a dot, and a key: a text, or a number in digits. False when it is neither. */
static wte_status add_key(walker *w, const frame *f, const wte__pickle_value *key, bool *fits)
{
    char digits[24];
    const void *text = digits;
    uint32_t n = 0;
    *fits = true;
    w->name_bytes = f->name_bytes;
    if (!f->dict)
        n = (uint32_t)snprintf(digits, sizeof digits, "%" PRIu32, f->at);
    else if (key->kind == WTE__PICKLE_INT)
        n = (uint32_t)snprintf(digits, sizeof digits, "%" PRId64, key->as.integer);
    else if (key->kind == WTE__PICKLE_TEXT) {
        text = key->as.bytes;
        n = key->n;
    } else
        *fits = false;
    if (!*fits) return WTE_OK;
    const uint32_t dot = f->name_bytes > 0;
    if (n > WTE_LIMIT_NAME - w->name_bytes - dot)
        return limit(w, "a name of more than 65535 bytes");
    WTE_TRY(spend(w, n + 1));
    if (dot) w->name[w->name_bytes++] = '.';
    if (n) memcpy(w->name + w->name_bytes, text, n);
    w->name_bytes += n;
    w->name[w->name_bytes] = '\0';
    return WTE_OK;
}

static wte_status add_tensor(walker *w, const wte__pickle_value *v)
{
    wte__torch *t = w->t;
    wte__torch_list *list = w->list;
    wte__torch_tensor tensor;
    w->found = true;
    if (!list) return WTE_OK;
    if (list->n == WTE_LIMIT_TENSORS) return limit(w, "more than 4000000 tensors");
    w->name_total += w->name_bytes + 1;
    if (w->name_total > w->name_most)
        return limit(w,
                     "the names of all tensors are over 64 MiB, or 16 times the pickle and 1 MiB, "
                     "a fixed limit");
    WTE_TRY(wte__torch_tensor_of(t, v, w->name, &tensor));
    void *items = list->items;
    const bool ok =
        wte__grow(t->f->allocator, &items, &list->cap, list->n + 1, sizeof *list->items);
    list->items = items;
    wte__torch_named named = { NULL, w->name_bytes, NULL };
    if (ok) named.name = wte__arena_text(&t->arena, w->name, w->name_bytes);
    if (ok) named.tensor = wte__arena_take(&t->arena, sizeof tensor);
    if (!ok || !named.name || !named.tensor)
        return wte__no_memory(t->err, w->name_bytes + sizeof tensor, "the list of tensors");
    *named.tensor = tensor;
    t->storages[tensor.storage].used = true;
    list->items[list->n++] = named;
    return WTE_OK;
}

/* The first that is passed over is told; others are counted. */
static wte_status note_passed(walker *w, const wte__pickle_value *v)
{
    char is[WTE__TORCH_PASSED];
    wte__torch_list *list = w->list;
    if (!list || !wte__torch_passed(v, is) || list->n_passed++ > 0) return WTE_OK;
    list->passed = wte__arena_text(&w->t->arena, w->name, w->name_bytes);
    list->is = wte__arena_text(&w->t->arena, is, strlen(is));
    if (list->passed && list->is) return WTE_OK;
    return wte__no_memory(w->t->err, w->name_bytes + sizeof is, w->t->path);
}

static wte_status visit(walker *w, const wte__pickle_value *v)
{
    /* one dict under many keys is visited under each, and so may be without end */
    if (w->visits++ == WTE_LIMIT_PICKLE_OPCODES) return limit(w, "more than 4000000 values");
    if (wte__torch_is_tensor(w->t, v)) return add_tensor(w, v);
    WTE_TRY(note_passed(w, v));
    return holds_values(v) ? push(w, v) : WTE_OK;
}

static wte_status walk(walker *w, const wte__pickle_value *root)
{
    w->depth = w->name_bytes = 0;
    w->name[0] = '\0';
    w->found = false;
    WTE_TRY(push(w, root));
    while (w->depth > 0 && (w->list || !w->found)) {
        frame *f = &w->stack[w->depth - 1];
        if (f->at >= f->n) {
            w->depth--;
            continue;
        }
        bool fits;
        WTE_TRY(add_key(w, f, &f->items[f->at], &fits));
        const wte__pickle_value *v = &f->items[f->at + f->dict];
        f->at += f->dict ? 2 : 1;
        if (fits) WTE_TRY(visit(w, v));
    }
    return WTE_OK;
}

/* The value of the dict under a key; NULL when it has none. */
static const wte__pickle_value *under(const wte__pickle_items *dict, const char *key)
{
    for (uint32_t i = 0; i + 1 < dict->n; i += 2)
        if (wte__pickle_is(&dict->items[i], key)) return &dict->items[i + 1];
    return NULL;
}

/* One step towards the model: a container of the known ones that holds tensors, in a dict that
 * holds none itself. */
static wte_status step_down(walker *w, const wte__pickle_value **root)
{
    const wte__pickle_items *dict = wte__pickle_entries(*root);
    if (!dict) return WTE_OK;
    WTE_TRY(spend(w, (uint64_t)dict->n * sizeof *dict->items));
    for (uint32_t i = 1; i < dict->n; i += 2)
        if (wte__torch_is_tensor(w->t, &dict->items[i])) return WTE_OK;
    for (size_t k = 0; k < sizeof containers / sizeof containers[0]; k++) {
        WTE_TRY(spend(w, (uint64_t)dict->n * sizeof *dict->items));
        const wte__pickle_value *v = under(dict, containers[k]);
        if (!v || !wte__pickle_entries(v) || wte__torch_is_tensor(w->t, v)) continue;
        WTE_TRY(walk(w, v));
        if (!w->found) continue;
        *root = v;
        return WTE_OK;
    }
    return WTE_OK;
}

static wte_status walk_all(walker *w, const wte__pickle_value *root, wte__torch_list *list)
{
    const wte__pickle_value *before = NULL;
    if (wte__torch_is_tensor(w->t, root)) { /* torch.save(tensor): it has no name */
        w->list = list;
        w->name_bytes = sizeof "tensor" - 1;
        memcpy(w->name, "tensor", sizeof "tensor");
        return add_tensor(w, root);
    }
    if (!holds_values(root))
        return wte__fail(w->t->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: its pickle holds neither tensors nor a dict of them", w->t->path);
    for (uint32_t depth = 0; root != before && depth < WTE_LIMIT_PICKLE_DEPTH; depth++) {
        before = root;
        WTE_TRY(step_down(w, &root));
    }
    w->list = list;
    WTE_TRY(walk(w, root));
    if (list->n > 0 || list->n_passed == 0) return WTE_OK;
    char shown[WTE__NAME_SHOWN];
    return wte__fail(w->t->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "%s: holds no tensors; '%s' is %s, which is not read: save it as a tensor "
                     "(torch.from_numpy) or with numpy.save",
                     w->t->path, wte__show(shown, list->passed, strlen(list->passed)), list->is);
}

wte_status wte__torch_walk(wte__torch *t, const wte__pickle_value *root, uint64_t pickle_bytes,
                           wte__torch_list *list)
{
    walker *w = wte__alloc_zeroed(t->f->allocator, sizeof *w);
    if (!w) return wte__no_memory(t->err, sizeof *w, t->path);
    w->t = t;
    wte__torch_said(t->f, root);
    w->name_most =
        WTE_LIMIT_PICKLE_NAMES_FREE + (uint64_t)WTE_LIMIT_PICKLE_NAMES_RATIO * pickle_bytes;
    if (w->name_most > WTE_LIMIT_PICKLE) w->name_most = WTE_LIMIT_PICKLE;
    const wte_status status = walk_all(w, root, list);
    wte__free(t->f->allocator, w, sizeof *w);
    return status;
}

/* The catalogue -------------------------------------------------------------------------------- */

/* How elements follow one another, where dimensions of 1 do not count. */
static uint32_t order_of(const wte__torch_tensor *a)
{
    uint64_t by_row = 1, by_column = 1;
    bool row = true, column = true;
    for (uint32_t i = 0; i < a->rank; i++) {
        const uint32_t last = a->rank - 1 - i;
        if (a->shape[last] != 1) row = row && a->stride[last] == by_row;
        if (a->shape[i] != 1) column = column && a->stride[i] == by_column;
        by_row *= a->shape[last]; /* cannot wrap: the product has been checked */
        by_column *= a->shape[i];
    }
    return row ? 0 : column ? WTE__COLUMN_MAJOR : WTE__STRIDED;
}

static wte_status add_entry(wte__torch *t, const wte__torch_named *named, const char *name)
{
    const wte__torch_tensor *a = named->tensor;
    const wte__torch_storage *s = &t->storages[a->storage];
    const uint64_t element = wte_dtype_bytes(a->dtype);
    uint64_t dims[2 * WTE_MAX_RANK + 1], elements = 1, last = 0;
    wte__tensor_entry e;
    memset(&e, 0, sizeof e);
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] == 0) elements = 0;
        dims[i] = a->shape[i];
        dims[a->rank + 1 + i] = a->stride[i];
    }
    e.flags = WTE__HAS_STORAGE;
    if (elements) {
        for (uint32_t i = 0; i < a->rank; i++) last += (a->shape[i] - 1) * a->stride[i];
        e.flags |= (uint8_t)order_of(a);
        e.bytes = (last + 1) * element;
    }
    dims[a->rank] = s->listed;
    e.offset = s->offset + (elements ? a->offset * element : 0);
    if (t->big && wte__unit_bytes(a->dtype) > 1) e.flags |= WTE__BIG_ENDIAN;
    e.name = name;
    e.name_bytes = named->name_bytes;
    e.part = (uint16_t)s->part;
    e.dtype = (uint8_t)a->dtype;
    e.rank = (uint8_t)a->rank;
    return wte__entry_add(t->f, &e, dims, t->err);
}

static int by_place(const void *a, const void *b)
{
    const wte__tensor_entry *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static wte_status sort_entries(wte__torch *t, size_t first, size_t n)
{
    if (n == 0) return WTE_OK;
    wte__tensor_entry *scratch = wte__alloc_array(t->f->allocator, n, sizeof *scratch);
    if (!scratch) return wte__no_memory(t->err, n * sizeof *scratch, "the list of tensors");
    wte__sort(t->f->entries + first, n, sizeof *scratch, by_place, scratch);
    wte__free(t->f->allocator, scratch, n * sizeof *scratch);
    return WTE_OK;
}

/* Storages that tensors are views of become the file's; their names go to *texts, which moves. */
static wte_status list_storages(wte__torch *t, char **texts)
{
    wte_file *f = t->f;
    for (size_t i = 0; i < t->n_storages; i++) {
        wte__torch_storage *s = &t->storages[i];
        void *storages = f->storages;
        if (!s->used) continue;
        const bool ok = wte__grow(f->allocator, &storages, &f->storages_cap, f->n_storages + 1,
                                  sizeof *f->storages);
        f->storages = storages;
        if (!ok) return wte__no_memory(t->err, sizeof *f->storages, "the list of storages");
        const wte_storage storage = { *texts, s->key.size, s->offset, s->bytes, s->part, false };
        s->listed = f->n_storages;
        f->storages[f->n_storages++] = storage;
        if (s->key.size) memcpy(*texts, s->key.data, (size_t)s->key.size);
        (*texts)[s->key.size] = '\0';
        *texts += s->key.size + 1;
    }
    return WTE_OK;
}

/* What was passed over becomes metadata, in texts: the first by name, the others by number. */
#define PASSED_MORE 64u
static wte_status tell_passed(wte__torch *t, const wte__torch_list *list, char *texts,
                              size_t name_bytes, size_t value_bytes)
{
    char *value = texts + name_bytes;
    memcpy(texts, list->passed, name_bytes);
    if (list->n_passed == 1)
        snprintf(value, value_bytes, "not read: %s", list->is);
    else
        snprintf(value, value_bytes, "not read: %s; and %" PRIu64 " more", list->is,
                 list->n_passed - 1);
    return wte__metadata_add(t->f, texts, value, t->err);
}

wte_status wte__torch_list_entries(wte__torch *t, const wte__torch_list *list, wte__names *names)
{
    wte_file *f = t->f;
    const size_t first = f->n_entries;
    uint64_t bytes = 0;
    for (size_t i = 0; i < list->n; i++) bytes += list->items[i].name_bytes + 1u;
    for (size_t i = 0; i < t->n_storages; i++)
        if (t->storages[i].used) bytes += t->storages[i].key.size + 1;
    const bool tell = list->n_passed > 0 && t->part == 0;
    const size_t passed_bytes = tell ? strlen(list->passed) + 1 : 0;
    const size_t note_bytes = tell ? passed_bytes + strlen(list->is) + PASSED_MORE : 0;
    bytes += note_bytes;
    char *texts = wte__alloc_array(f->allocator, bytes + 1, 1);
    if (!texts) return wte__no_memory(t->err, bytes, "the names of the tensors");
    f->parts[t->part].header = texts;
    f->parts[t->part].header_bytes = (size_t)bytes;
    if (tell) WTE_TRY(tell_passed(t, list, texts, passed_bytes, note_bytes - passed_bytes));
    texts += note_bytes;
    WTE_TRY(list_storages(t, &texts));
    for (size_t i = 0; i < list->n; i++) {
        const wte__torch_named *named = &list->items[i];
        memcpy(texts, named->name, named->name_bytes + 1u);
        WTE_TRY(add_entry(t, named, texts));
        texts += named->name_bytes + 1u;
    }
    WTE_TRY(sort_entries(t, first, list->n));
    if (!wte__names_reserve(names, list->n)) return wte__no_memory(t->err, bytes, "names");
    for (size_t i = 0; i < list->n; i++) {
        const wte__tensor_entry *e = &f->entries[first + i];
        const wte__bytes text = { (const uint8_t *)e->name, e->name_bytes };
        char shown[WTE__NAME_SHOWN];
        uint64_t number = i;
        bool found;
        if (!wte__names_add(names, text, &number, &found))
            return wte__no_memory(t->err, bytes, "the names of the tensors");
        if (found)
            return wte__fail(t->err, WTE_E_FORMAT, WTE_NO_INDEX, "%s: two tensors are named '%s'",
                             t->path, wte__show(shown, e->name, e->name_bytes));
    }
    return WTE_OK;
}
