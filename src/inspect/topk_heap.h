/* The best few of many: a heap with the worst of them on top. The order is total (greater score,
 * then lower row), so what is kept does not depend on the order in which rows are offered. */
#ifndef WTE_SRC_TOOLS_BEST_H
#define WTE_SRC_TOOLS_BEST_H
#include <stdbool.h>
#include <wte/near.h>

static inline bool wte__topk_heap_before(const wte_near_hit *a, const wte_near_hit *b)
{
    return a->score != b->score ? a->score > b->score : a->row < b->row;
}
/* Whether a heap of n, with room for `top` > 0, would take the hit. */
static inline bool wte__topk_heap_takes(const wte_near_hit *heap, uint64_t n, uint64_t top,
                                        const wte_near_hit *hit)
{
    return n < top || wte__topk_heap_before(hit, &heap[0]);
}
/* Put a hit in that the heap takes. */
void wte__topk_heap_put(wte_near_hit *heap, uint64_t *n, uint64_t top, wte_near_hit hit);
/* The heap becomes a list, best first. */
void wte__topk_heap_sort(wte_near_hit *heap, uint64_t n);
#endif
