/* Makers of ids, offsets and row sources for the tests of bags, and the reduction said once more: a
 * naive loop over double loops. */
#ifndef WTE_TESTS_BAG_HELP_H
#define WTE_TESTS_BAG_HELP_H
#include "lookup_help.h"

#include <math.h>
#include <wte/bag.h>

static inline wte_ids no_ids(void)
{
    return ids_of(NULL, WTE_I64, 0);
}

/* What a naive bag is made of. */
typedef struct naive_bags {
    const float *table; /* rows x cols */
    uint64_t rows;
    size_t cols;
    const int64_t *ids;
    const int64_t *offsets; /* n_bags + 1 */
    size_t n_bags;
    const wte_bag_options *o;
} naive_bags;

static inline bool naive_is_member(const naive_bags *n, size_t i)
{
    const uint8_t *mask = n->o->mask; /* of bytes */
    if (mask && !mask[i]) return false;
    for (size_t k = 0; k < n->o->n_ignore_ids; k++)
        if (n->o->ignore_ids[k] == n->ids[i]) return false;
    return n->ids[i] >= 0 && (uint64_t)n->ids[i] < n->rows;
}

/* Column c of bag b in f32; *count and *at get its members and whose maximum it is. */
static inline float naive_bag(const naive_bags *n, size_t b, size_t c, uint64_t *count,
                              uint64_t *at)
{
    float result = 0;
    *count = 0;
    *at = WTE_NO_INDEX;
    for (size_t i = (size_t)n->offsets[b]; i < (size_t)n->offsets[b + 1]; i++) {
        if (!naive_is_member(n, i)) continue;
        const float x = n->table[(size_t)n->ids[i] * n->cols + c];
        const bool first = (*count)++ == 0;
        if (n->o->mode != WTE_BAG_MAX)
            result = n->o->weights ? fmaf(n->o->weights[i], x, result) : result + x;
        else if (first || x > result) {
            result = x;
            *at = i;
        }
    }
    if (n->o->mode == WTE_BAG_MEAN && *count) result /= (float)*count;
    return result;
}
#endif
