/* Open addressing with linear probing over XXH3 hashes; at most 5/8 full. */
#include "base/names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"

struct wte__name_slot {
    const uint8_t *text; /* NULL = free */
    uint64_t bytes, value;
    uint64_t hash;
};

static uint64_t hash_of(const wte__names *n, wte__bytes text)
{
    return XXH3_64bits_withSeed(text.data, (size_t)text.size, n->seed);
}

static struct wte__name_slot *slot_of(const wte__names *n, wte__bytes text, uint64_t hash)
{
    uint64_t i = hash & (n->cap - 1);
    for (;; i = (i + 1) & (n->cap - 1)) {
        struct wte__name_slot *slot = &n->slots[i];
        if (!slot->text) return slot;
        if (slot->hash == hash && slot->bytes == text.size &&
            (text.size == 0 || memcmp(slot->text, text.data, (size_t)text.size) == 0))
            return slot;
    }
}

void wte__names_init(wte__names *n, const wte_allocator *a)
{
    wte__names empty = { a, NULL, 0, 0, wte__random_seed() };
    *n = empty;
}

bool wte__names_reserve(wte__names *n, uint64_t count)
{
    if (count <= n->cap / 8 * 5) return true;
    uint64_t cap = n->cap ? n->cap : 64;
    while (cap / 8 * 5 < count) {
        if (cap > (UINT64_C(1) << 40)) return false;
        cap *= 2;
    }
    struct wte__name_slot *slots =
        wte__alloc_zeroed(n->allocator, (size_t)cap * sizeof(struct wte__name_slot));
    if (!slots) return false;
    wte__names bigger = { n->allocator, slots, cap, n->count, n->seed };
    for (uint64_t i = 0; i < n->cap; i++) {
        const struct wte__name_slot *old = &n->slots[i];
        if (!old->text) continue;
        wte__bytes text = { old->text, old->bytes };
        *slot_of(&bigger, text, old->hash) = *old;
    }
    wte__free(n->allocator, n->slots, (size_t)n->cap * sizeof *n->slots);
    *n = bigger;
    return true;
}

bool wte__names_add(wte__names *n, wte__bytes text, uint64_t *value, bool *found)
{
    if (!wte__names_reserve(n, n->count + 1)) return false;
    if (!text.data) text.data = (const uint8_t *)"";
    uint64_t hash = hash_of(n, text);
    struct wte__name_slot *slot = slot_of(n, text, hash);
    *found = slot->text != NULL;
    if (*found) {
        *value = slot->value;
        return true;
    }
    struct wte__name_slot filled = { text.data, text.size, *value, hash };
    *slot = filled;
    n->count++;
    return true;
}

void wte__names_expect(const wte__names *n, wte__bytes text)
{
    if (n->cap && text.data) __builtin_prefetch(&n->slots[hash_of(n, text) & (n->cap - 1)], 1);
}

bool wte__names_find(const wte__names *n, wte__bytes text, uint64_t *value)
{
    if (n->count == 0) return false;
    if (!text.data) text.data = (const uint8_t *)"";
    const struct wte__name_slot *slot = slot_of(n, text, hash_of(n, text));
    if (slot->text) *value = slot->value;
    return slot->text != NULL;
}

void wte__names_clear(wte__names *n)
{
    wte__free(n->allocator, n->slots, (size_t)n->cap * sizeof *n->slots);
    n->slots = NULL;
    n->cap = n->count = 0;
}
