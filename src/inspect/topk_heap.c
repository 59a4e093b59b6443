/* The best few of many. */
#include "inspect/topk_heap.h"

/* Let the hit at the top of a heap of n sink to its place. */
static void sink(wte_near_hit *heap, uint64_t n)
{
    uint64_t at = 0;
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= n) return;
        if (child + 1 < n && wte__topk_heap_before(&heap[child], &heap[child + 1])) child++;
        if (!wte__topk_heap_before(&heap[at], &heap[child])) return;
        const wte_near_hit hit = heap[at];
        heap[at] = heap[child];
        heap[child] = hit;
        at = child;
    }
}

void wte__topk_heap_put(wte_near_hit *heap, uint64_t *n, uint64_t top, wte_near_hit hit)
{
    if (*n == top) {
        heap[0] = hit;
        sink(heap, top);
        return;
    }
    uint64_t at = (*n)++;
    for (; at && wte__topk_heap_before(&heap[(at - 1) / 2], &hit); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = hit;
}

void wte__topk_heap_sort(wte_near_hit *heap, uint64_t n)
{
    while (n > 1) {
        const wte_near_hit worst = heap[0];
        heap[0] = heap[--n];
        heap[n] = worst;
        sink(heap, n);
    }
}
