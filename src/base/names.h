/* A set of names that maps each to a number: open addressing, seeded per process so that no file
 * can choose collisions. */
#ifndef WTE_SRC_BASE_NAMES_H
#define WTE_SRC_BASE_NAMES_H
#include "base/alloc.h"
#include "base/span.h"

typedef struct wte__names {
    const wte_allocator *allocator;
    struct wte__name_slot *slots;
    uint64_t cap, count, seed;
} wte__names;
void wte__names_init(wte__names *n, const wte_allocator *a);
bool wte__names_reserve(wte__names *n, uint64_t count); /* false = out of memory */
/* Adds text -> value unless text is there: then *value gets the stored number and *found is true.
 * The text is not copied: it must outlive the set. False = out of memory. */
bool wte__names_add(wte__names *n, wte__bytes text, uint64_t *value, bool *found);
/* Prefetch hint: `text` is added or looked up soon. A large set does not fit in the caches. */
void wte__names_expect(const wte__names *n, wte__bytes text);
bool wte__names_find(const wte__names *n, wte__bytes text, uint64_t *value);
void wte__names_clear(wte__names *n);
#endif
