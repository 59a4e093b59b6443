/* The pickle machine over any bytes.
 *
 * Properties: nothing is called; what comes out is made of bytes of the pickle, in tuples, lists
 * and dicts of the lengths that they say; a pickle that is cut where it was used up fails as cut,
 * and one with more behind it gives the same. */
#include "fuzz.h"

#include <string.h>

#include "format/pickle.h"

static const wte__pickle_allowed allowed[] = { { "collections", "OrderedDict", 1 },
                                               { "torch._utils", "_rebuild_tensor_v2", 2 },
                                               { "torch", "FloatStorage", 3 },
                                               { "omegaconf", "*", 0 } };

static wte__pickle pickle_of(const uint8_t *data, size_t size, wte__arena *arena)
{
    wte__pickle p;
    memset(&p, 0, sizeof p);
    p.data = data;
    p.size = size;
    p.path = "fuzz";
    p.allowed = allowed;
    p.n_allowed = sizeof allowed / sizeof allowed[0];
    p.arena = arena;
    return p;
}

/* The values directly below one. */
static const wte__pickle_value *below(const wte__pickle_value *v, uint32_t *n)
{
    const wte__pickle_items *entries = wte__pickle_entries(v);
    *n = 0;
    if (v->kind == WTE__PICKLE_LIST) entries = v->as.list;
    if (entries) {
        HOLDS(entries->n <= entries->cap);
        *n = entries->n;
        return entries->items;
    }
    if (v->kind == WTE__PICKLE_PERSISTENT) *n = 1;
    if (v->kind == WTE__PICKLE_TUPLE) *n = v->n;
    return v->as.items;
}

static void check_value(const wte__pickle *p, const wte__pickle_value *v)
{
    HOLDS(v->kind > WTE__PICKLE_UNSET && v->kind <= WTE__PICKLE_PERSISTENT);
    if (v->kind == WTE__PICKLE_TEXT || v->kind == WTE__PICKLE_BYTES || v->kind == WTE__PICKLE_LONG)
        HOLDS(v->as.bytes >= p->data && v->n <= p->used && v->as.bytes + v->n <= p->data + p->used);
    if (v->kind == WTE__PICKLE_GLOBAL)
        HOLDS(v->n <= 3 && (v->n > 0 || v->as.global->passed || v->as.global->setting));
    if (v->kind == WTE__PICKLE_DICT) HOLDS(v->as.list->n % 2 == 0);
    if (v->kind != WTE__PICKLE_CALL) return;
    HOLDS(v->as.call->callee.kind == WTE__PICKLE_GLOBAL);
    HOLDS(v->as.call->callee.n > 0 || v->as.call->callee.as.global->passed);
    HOLDS(v->as.call->arguments.kind == WTE__PICKLE_TUPLE);
}

/* As far as a budget goes: what is shared may be met without end. */
static void check_all(const wte__pickle *p)
{
    enum { MOST = 4096 };
    const wte__pickle_value *todo[MOST];
    size_t n = 0;
    todo[n++] = &p->root;
    for (size_t steps = 0; n > 0 && steps < MOST; steps++) {
        const wte__pickle_value *v = todo[--n];
        uint32_t k;
        check_value(p, v);
        const wte__pickle_value *items = below(v, &k);
        for (uint32_t i = 0; i < k && n < MOST; i++) todo[n++] = &items[i];
        if (v->kind == WTE__PICKLE_CALL && n < MOST) todo[n++] = &v->as.call->arguments;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_memory memory;
    wte__arena arena;
    wte_error err = { 0 };
    fuzz_memory_init(&memory);
    wte__arena_init(&arena, &memory.allocator);
    wte__pickle p = pickle_of(data, size, &arena);
    const wte_status status = wte__pickle_read(&p, &err);
    if (status != WTE_OK)
        fuzz_check_error(&err, status, size);
    else {
        HOLDS(p.used > 0 && p.used <= size && data[p.used - 1] == '.');
        check_all(&p);
        wte__pickle same = pickle_of(data, (size_t)p.used, &arena);
        HOLDS(wte__pickle_read(&same, &err) == WTE_OK && same.root.kind == p.root.kind);
        same = pickle_of(data, (size_t)p.used - 1, &arena);
        HOLDS(wte__pickle_read(&same, &err) != WTE_OK && same.cut);
    }
    wte__arena_clear(&arena);
    HOLDS(memory.live == 0 && memory.live_bytes == 0);
    return 0;
}
