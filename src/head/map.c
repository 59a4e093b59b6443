/* Heads of fewer rows than there are tokens: which token each row is. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "head/head.h"

typedef struct pair {
    int64_t token;
    size_t row;
} pair;

static int by_token(const void *va, const void *vb)
{
    const pair *a = va, *b = vb;
    if (a->token != b->token) return a->token < b->token ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

wte_status wte_head_map_check(const int64_t *tokens, size_t n, uint64_t n_tokens,
                              const wte_allocator *allocator, wte_error *err)
{
    wte_status status = WTE_OK;
    if (n) WTE_TRY(wte__need(tokens, "wte_head_map_check: tokens", err));
    WTE_TRY(wte__need_functions(allocator, NULL, err));
    for (size_t row = 0; row < n; row++) {
        if (tokens[row] >= 0 && (!n_tokens || (uint64_t)tokens[row] < n_tokens)) continue;
        if (!n_tokens)
            return wte__fail(err, WTE_E_RANGE, row, "row %zu of the head is token %" PRId64, row,
                             tokens[row]);
        return wte__fail(err, WTE_E_RANGE, row,
                         "row %zu of the head is token %" PRId64 ", but tokens are 0..%" PRIu64,
                         row, tokens[row], n_tokens - 1);
    }
    if (n < 2) return WTE_OK;
    pair *sorted = wte__alloc_array(allocator, n, sizeof *sorted);
    if (!sorted) return wte__no_memory(err, n * sizeof *sorted, "the tokens of a head");
    for (size_t row = 0; row < n; row++) sorted[row] = (pair){ tokens[row], row };
    qsort(sorted, n, sizeof *sorted, by_token);
    for (size_t i = 1; i < n && status == WTE_OK; i++)
        if (sorted[i].token == sorted[i - 1].token)
            status = wte__fail(err, WTE_E_FORMAT, sorted[i].row,
                               "rows %zu and %zu of the head are both token %" PRId64,
                               sorted[i - 1].row, sorted[i].row, sorted[i].token);
    wte__free(allocator, sorted, n * sizeof *sorted);
    return status;
}
