/* The default allocator, growing arrays, and the bump arena. */
#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"
#include "base/error.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define ALIGN     ((size_t)16)

static void *system_alloc(size_t bytes, size_t align)
{
    if (bytes < HUGE_PAGE)
        return align <= ALIGN ? malloc(bytes)
                              : aligned_alloc(align, (bytes + align - 1) / align * align);
    if (bytes > SIZE_MAX - HUGE_PAGE) return NULL;
    /* whole pages: the rest of the last one would come in small pages, each with a fault of its own
     */
    const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *block = aligned_alloc(HUGE_PAGE, whole);
#ifdef MADV_HUGEPAGE
    if (block) (void)madvise(block, whole, MADV_HUGEPAGE);
#endif
    return block;
}

void *wte__alloc(const wte_allocator *a, size_t bytes)
{
    if (bytes == 0) return NULL;
    if (!a) return system_alloc(bytes, ALIGN);
    return a->alloc(a->ctx, bytes, bytes < HUGE_PAGE ? ALIGN : HUGE_PAGE);
}

void *wte__alloc_zeroed(const wte_allocator *a, size_t bytes)
{
    void *block = wte__alloc(a, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void *wte__alloc_array(const wte_allocator *a, uint64_t count, size_t size)
{
    uint64_t bytes;
    if (!wte__mul_u64(count, size, &bytes) || bytes > SIZE_MAX) return NULL;
    return wte__alloc(a, (size_t)bytes);
}

void wte__free(const wte_allocator *a, void *block, size_t bytes)
{
    if (!block) return;
    if (a)
        a->release(a->ctx, block, bytes);
    else
        free(block);
}

bool wte__grow(const wte_allocator *a, void **block, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) return true;
    size_t want = *cap < 8 ? 8 : *cap;
    while (want < need) {
        if (want > SIZE_MAX / 2) return false;
        want *= 2;
    }
    void *bigger = wte__alloc_array(a, want, size);
    if (!bigger) return false;
    if (*cap) memcpy(bigger, *block, *cap * size);
    wte__free(a, *block, *cap * size);
    *block = bigger;
    *cap = want;
    return true;
}

char *wte__strdup(const wte_allocator *a, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = wte__alloc(a, bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

void wte__strfree(const wte_allocator *a, char *text)
{
    if (text) wte__free(a, text, strlen(text) + 1);
}

wte_status(wte__no_memory)(wte_error *err, uint64_t bytes, const char *what)
{
    return wte__fail(err, WTE_E_MEMORY, WTE_NO_INDEX, "out of memory: %" PRIu64 " bytes for %s",
                     bytes, what);
}

struct wte__arena_block {
    struct wte__arena_block *next;
    size_t size, used; /* of the whole block, this header included */
};

/* Bytes before the first piece, which starts at a multiple of 8 even with pointers of four bytes.
 */
#define ARENA_HEAD ((sizeof(struct wte__arena_block) + 7) & ~(size_t)7)

void wte__arena_init(wte__arena *arena, const wte_allocator *a)
{
    arena->allocator = a;
    arena->blocks = NULL;
    arena->next_block = 4096;
}

void *wte__arena_take(wte__arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + 7) & ~(size_t)7;
    struct wte__arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) {
        size_t size = arena->next_block;
        if (size < bytes + ARENA_HEAD) size = bytes + ARENA_HEAD;
        block = wte__alloc(arena->allocator, size);
        if (!block) return NULL;
        block->size = size;
        block->used = ARENA_HEAD;
        /* a block for one large piece goes after the current one, which may still have room */
        if (size > arena->next_block && arena->blocks) {
            block->next = arena->blocks->next;
            arena->blocks->next = block;
        } else {
            block->next = arena->blocks;
            arena->blocks = block;
        }
        if (arena->next_block < ((size_t)1 << 20)) arena->next_block *= 2;
    }
    void *piece = (char *)block + block->used;
    block->used += bytes;
    return piece;
}

char *wte__arena_text(wte__arena *arena, const void *text, size_t bytes)
{
    if (bytes == SIZE_MAX) return NULL;
    char *copy = wte__arena_take(arena, bytes + 1);
    if (!copy) return NULL;
    if (bytes) memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return copy;
}

void wte__arena_clear(wte__arena *arena)
{
    while (arena->blocks) {
        struct wte__arena_block *block = arena->blocks;
        arena->blocks = block->next;
        wte__free(arena->allocator, block, block->size);
    }
}
