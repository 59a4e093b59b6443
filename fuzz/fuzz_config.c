/* config.json: any bytes are either refused at a place inside them, or give facts that hang
 * together, and the same facts every time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

/* Memory must stay proportional to the input: under 64 MiB for anything the fuzzer writes. */
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

static void check(const wte__config *c)
{
    const wte_model_config *said = &c->said;
    bool both = said->tie_top != WTE_FLAG_ABSENT && said->tie_nested != WTE_FLAG_ABSENT;
    if (!said->tie_rule || !said->tie_rule[0] || !c->head_why || !c->head_why[0]) abort();
    if (said->tie_conflict != (both && said->tie_top != said->tie_nested)) abort();
    if (said->tie_nested != WTE_FLAG_ABSENT && said->tied != (said->tie_nested == WTE_FLAG_TRUE))
        abort();
    if ((said->tie_nested != WTE_FLAG_ABSENT) != (said->tie_nested_at[0] != '\0')) abort();
    if (!isfinite(said->factor) || !isfinite(said->factor_exact) || said->factor_exact <= 0)
        abort();
    if (!said->factor_rule[0] && (said->factor != 1 || said->factor_exact != 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wte__config one, two;
    wte__arena arena;
    wte_error err;
    size_t used = 0;
    const wte_allocator capped = { take, give, &used };
    wte__arena_init(&arena, &capped);
    wte_status status = wte__config_parse(&one, data, size, "fuzz", &arena, &err);
    if (status == WTE_OK) {
        if (wte__config_parse(&two, data, size, "fuzz", &arena, &err) != WTE_OK) abort();
        if (wte__embed_scale_finish(&one, WTE_BF16, 8, &arena, &err) != WTE_OK) abort();
        check(&one);
        if (one.said.vocab_size != two.said.vocab_size || one.said.tied != two.said.tied ||
            strcmp(one.said.tie_rule, two.said.tie_rule) != 0)
            abort();
    } else if (status != WTE_E_FORMAT || err.where > size) {
        abort();
    }
    wte__arena_clear(&arena);
    if (used) abort();
    return 0;
}
