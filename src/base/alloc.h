/* Memory through the caller's allocator, and a bump arena for many small strings. */
#ifndef WTE_SRC_BASE_ALLOC_H
#define WTE_SRC_BASE_ALLOC_H
#include <stdbool.h>
#include <wte/base.h>

/* NULL or the C library's allocator; blocks of 2 MiB and more are aligned to and advised for huge
 * pages. */
void *wte__alloc(const wte_allocator *a,
                 size_t bytes); /* 16-aligned; NULL when none, or bytes is 0 */
void *wte__alloc_zeroed(const wte_allocator *a, size_t bytes);
/* count * size with an overflow check; NULL when it overflows. */
void *wte__alloc_array(const wte_allocator *a, uint64_t count, size_t size);
void wte__free(const wte_allocator *a, void *block, size_t bytes); /* NULL is fine */
/* Grow *block from *cap to at least `need` elements (doubling); contents kept; false when out of
 * memory, and then nothing has changed. */
bool wte__grow(const wte_allocator *a, void **block, size_t *cap, size_t need, size_t size);
char *wte__strdup(const wte_allocator *a, const char *text); /* release with wte__strfree */
void wte__strfree(const wte_allocator *a, char *text);
wte_status wte__no_memory(wte_error *err, uint64_t bytes,
                          const char *what); /* the usual E_MEMORY message */
#ifdef __clang_analyzer__                    /* see wte__fail */
#define wte__no_memory(err, bytes, what) ((void)(wte__no_memory)(err, bytes, what), WTE_E_MEMORY)
#endif

/* Pieces stay where they are until the arena is cleared. */
typedef struct wte__arena {
    const wte_allocator *allocator;
    struct wte__arena_block *blocks;
    size_t next_block; /* size of the next block: doubles up to 1 MiB */
} wte__arena;
void wte__arena_init(wte__arena *arena, const wte_allocator *a);
void *wte__arena_take(wte__arena *arena, size_t bytes); /* 8-aligned; NULL when none */
char *wte__arena_text(wte__arena *arena, const void *text, size_t bytes); /* copy + NUL */
void wte__arena_clear(wte__arena *arena);
#endif
