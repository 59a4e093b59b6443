/* adapter_config.json: any bytes are either refused at a place inside them, or give the same facts
 * every time. */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

/* Ids take 8 bytes each, at least 2 of the input, and doubling; names are copied. */
#define MEMORY_CAP ((size_t)64 << 20)

static void *take(void *ctx, size_t bytes, size_t align)
{
    size_t *used = ctx;
    (void)align;
    if (bytes > MEMORY_CAP - *used) abort();
    *used += bytes;
    return malloc(bytes);
}

static void give(void *ctx, void *block, size_t bytes)
{
    *(size_t *)ctx -= bytes;
    free(block);
}

static void compare(const wte_model_adapter *a, const wte_model_adapter *b, size_t size)
{
    if (a->n_token_ids != b->n_token_ids || a->rank != b->rank) abort();
    if (strcmp(a->kind, b->kind) != 0 || strcmp(a->base, b->base) != 0) abort();
    if (a->n_token_ids > size) abort();
    for (uint64_t i = 0; i < a->n_token_ids; i++)
        if (a->token_ids[i] != b->token_ids[i]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wte__adapter one, two;
    wte__arena arena;
    wte_error err;
    size_t used = 0;
    const wte_allocator capped = { take, give, &used };
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    wte__arena_init(&arena, &capped);
    wte_status status = wte__adapter_parse(&one, data, size, "fuzz", &capped, &arena, &err);
    if (status == WTE_OK) {
        if (wte__adapter_parse(&two, data, size, "fuzz", &capped, &arena, &err) != WTE_OK) abort();
        compare(&one.said, &two.said, size);
    } else if (status != WTE_E_FORMAT || err.where > size) {
        abort();
    }
    wte__adapter_clear(&one, &capped);
    wte__adapter_clear(&two, &capped);
    wte__arena_clear(&arena);
    if (used) abort();
    return 0;
}
