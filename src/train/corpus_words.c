/* The table of words: at most 5/8 full, so that a search ends soon. */
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"
#include "train/corpus.h"

void wte__words_init(wte__words *w, const wte_allocator *a)
{
    memset(w, 0, sizeof *w);
    w->allocator = a;
    w->seed = wte__random_seed();
    wte__token_list_init(&w->list, a);
}

void wte__words_clear(wte__words *w)
{
    wte__token_list_clear(&w->list);
    wte__free(w->allocator, w->slots, (size_t)w->cap * sizeof *w->slots);
    w->slots = NULL;
    w->cap = 0;
}

uint64_t wte__words_hash(const wte__words *w, wte__bytes word)
{
    return XXH3_64bits_withSeed(word.data, (size_t)word.size, w->seed);
}

/* Where the word is, or would be. */
static wte__word_slot *slot_of(const wte__words *w, wte__bytes word, uint64_t hash)
{
    const uint32_t upper = (uint32_t)(hash >> 32);
    for (uint64_t i = hash & (w->cap - 1);; i = (i + 1) & (w->cap - 1)) {
        wte__word_slot *slot = &w->slots[i];
        if (slot->value == 0) return slot;
        if (slot->hash != upper) continue;
        const wte__bytes text = wte__token_list_text(&w->list, slot->value - 1);
        if (text.size == word.size && memcmp(text.data, word.data, (size_t)word.size) == 0)
            return slot;
    }
}

uint32_t wte__words_find(const wte__words *w, wte__bytes word, uint64_t hash)
{
    const uint32_t value = slot_of(w, word, hash)->value;
    return value ? value - 1 : WTE_CORPUS_UNKNOWN;
}

uint64_t wte__corpus_hash(const wte_corpus *c)
{
    uint64_t hash = 0;
    for (uint64_t i = 0; i < c->info.words; i++) {
        const wte__bytes text = wte__token_list_text(&c->words.list, i);
        hash = XXH3_64bits_withSeed(text.data, (size_t)text.size, hash);
    }
    return XXH3_64bits_withSeed(c->counts, (size_t)c->info.words * sizeof *c->counts, hash);
}

uint64_t wte__corpus_content(uint64_t before, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, before);
}

/* Slots for at least n words, filled with those of the list. */
static wte_status make_slots(wte__words *w, uint64_t n, wte_error *err)
{
    uint64_t cap = 1024;
    while (cap / 8 * 5 < n) cap *= 2;
    const size_t bytes = (size_t)cap * sizeof *w->slots;
    wte__word_slot *slots = wte__alloc_zeroed(w->allocator, bytes);
    if (!slots) return wte__no_memory(err, bytes, "a table of words");
    wte__free(w->allocator, w->slots, (size_t)w->cap * sizeof *w->slots);
    w->slots = slots;
    w->cap = cap;
    for (uint64_t i = 0; i < w->list.n; i++) {
        const wte__bytes text = wte__token_list_text(&w->list, i);
        const uint64_t hash = wte__words_hash(w, text);
        wte__word_slot *slot = slot_of(w, text, hash);
        if (slot->value) continue;
        slot->hash = (uint32_t)(hash >> 32);
        slot->value = (uint32_t)i + 1;
    }
    return WTE_OK;
}

wte_status wte__words_index(wte__words *w, wte_error *err)
{
    return make_slots(w, w->list.n, err);
}

wte_status wte__words_add(wte__words *w, wte__bytes word, uint64_t hash, uint64_t limit,
                          uint32_t *number, wte_error *err)
{
    if (w->list.n + 1 > w->cap / 8 * 5) WTE_TRY(make_slots(w, 2 * w->list.n + 1, err));
    wte__word_slot *slot = slot_of(w, word, hash);
    if (!slot->value) {
        if (w->list.n == limit)
            return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "over %" PRIu64 " different words",
                             limit);
        WTE_TRY(wte__token_list_add(&w->list, word, WTE_TAG_NORMAL, err));
        slot->hash = (uint32_t)(hash >> 32);
        slot->value = (uint32_t)w->list.n;
    }
    *number = slot->value - 1;
    return WTE_OK;
}
