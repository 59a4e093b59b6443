/* Keys, and selecting and sorting them, in place. */
#include "head/rank.h"

#include <math.h>
#include <string.h>

uint64_t wte__key_row(uint64_t key)
{
    return UINT32_MAX - (key & UINT32_MAX);
}

float wte__key_logit(uint64_t key)
{
    float logit;
    const uint32_t rank = (uint32_t)(key >> 32);
    const uint32_t bits = rank >> 31 ? rank & 0x7fffffffu : ~rank;
    if (rank <= WTE__RANK_INFINITY) return rank ? INFINITY : NAN;
    memcpy(&logit, &bits, sizeof logit);
    return logit;
}

static void swap(uint64_t *a, uint64_t *b)
{
    const uint64_t c = *a;
    *a = *b;
    *b = c;
}

/* Parts list[low .. high] by one of its keys; returns where that one is. Which one it is looks
 * random, so that no order of the input is a bad one. */
static size_t part_list(uint64_t *list, size_t low, size_t high)
{
    const uint64_t noise = (low + high + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 33;
    if (low < high) swap(&list[low + noise % (high - low)], &list[high]);
    const uint64_t pivot = list[high];
    size_t at = low;
    for (size_t i = low; i < high; i++) {
        const uint64_t key = list[i];
        list[i] = list[at]; /* no branch: half of all comparisons would be guessed wrong */
        list[at] = key;
        at += key > pivot;
    }
    swap(&list[at], &list[high]);
    return at;
}

void wte__rank_select(uint64_t *list, size_t n, size_t k)
{
    if (n == 0) return;
    size_t low = 0, high = n - 1;
    while (low < high) {
        const size_t at = part_list(list, low, high);
        if (at + 1 == k) return;
        if (at < k)
            low = at + 1;
        else
            high = at - 1; /* at >= k >= 1 */
    }
}

/* Shell's sort, with the gaps of Gonnet and Baeza-Yates: short lists are the usual ones. */
void wte__rank_sort(uint64_t *list, size_t n)
{
    for (size_t gap = n; gap > 1;) {
        gap = gap < 3 ? 1 : (5 * gap - 1) / 11;
        for (size_t i = gap; i < n; i++) {
            const uint64_t key = list[i];
            size_t at = i;
            for (; at >= gap && key > list[at - gap]; at -= gap) list[at] = list[at - gap];
            list[at] = key;
        }
    }
}
