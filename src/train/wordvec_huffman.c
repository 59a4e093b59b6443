/* The Huffman tree of hierarchical softmax: frequent words have short ways. Among trees that are
 * equally good it is fastText's, so that the other table means the same to it: of equal counts the
 * last word comes first, and an inner node before a word; to the right is what was taken second. */
#include "base/error.h"
#include "format/format.h"
#include "train/corpus.h"
#include "train/wordvec.h"

typedef struct leaf {
    uint64_t count;
    uint32_t word;
} leaf;

/* While the tree grows: leaves by ascending count, then the inner nodes in the order in which they
 * are made, which ascends too, so that the two least are always at one of two places. */
typedef struct growth {
    uint64_t n; /* leaves */
    leaf *leaves;
    uint64_t *count;  /* of inner nodes */
    uint32_t *parent; /* of leaves, then of inner nodes: an inner node times 2, + 1 for the right */
    uint64_t leaf, inner;
} growth;

static int by_count(const void *a, const void *b)
{
    const leaf *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return x->word > y->word ? -1 : x->word < y->word;
}

/* The least that has no parent, out of those made before `made`. */
static uint64_t take_least(growth *g, uint64_t made, uint64_t *count)
{
    const uint64_t of_leaf = g->leaf < g->n ? g->leaves[g->leaf].count : UINT64_MAX;
    /* words that the text lacks come together first: a chain of nodes of 0 would have no end */
    const bool is_leaf =
        g->leaf < g->n && (g->inner == made || of_leaf == 0 || of_leaf < g->count[g->inner]);
    *count = is_leaf ? of_leaf : g->count[g->inner];
    return is_leaf ? g->leaf++ : g->n + g->inner++;
}

static void grow_tree(growth *g)
{
    for (uint64_t made = 0; made + 1 < g->n; made++) {
        uint64_t left, right;
        const uint64_t a = take_least(g, made, &left), b = take_least(g, made, &right);
        g->count[made] = left + right;
        g->parent[a] = (uint32_t)made * 2;
        g->parent[b] = (uint32_t)made * 2 + 1;
    }
}

/* Steps from leaf i up to the root, which is the last inner node. */
static uint64_t walk_up(const growth *g, uint64_t i, uint32_t way[WTE__WORDS_OUT])
{
    uint64_t n = 0;
    for (uint64_t at = i; at != 2 * g->n - 2; at = g->n + g->parent[at] / 2)
        way[n++] = g->parent[at];
    return n;
}

static wte_status lay_ways(const growth *g, const wte_allocator *a, wte__wordvec_tables *t,
                           wte_error *err)
{
    uint32_t way[WTE__WORDS_OUT];
    for (uint64_t i = 0; i < g->n; i++) t->way_end[g->leaves[i].word] = walk_up(g, i, way);
    for (uint64_t i = 1; i < g->n; i++) t->way_end[i] += t->way_end[i - 1];
    t->n_way = t->way_end[g->n - 1];
    t->way = wte__alloc_array(a, t->n_way, sizeof *t->way);
    if (!t->way) return wte__no_memory(err, t->n_way * sizeof *t->way, "ways through the tree");
    for (uint64_t i = 0; i < g->n; i++) {
        const uint64_t n = walk_up(g, i, way), end = t->way_end[g->leaves[i].word];
        for (uint64_t k = 0; k < n; k++) t->way[end - 1 - k] = way[k];
    }
    return WTE_OK;
}

wte_status wte__wordvec_make_tree(const wte__wordvec_plan *p, wte__wordvec_tables *t,
                                  wte_error *err)
{
    const wte_allocator *a = p->o.allocator;
    growth g = { .n = p->rows };
    wte_status status = WTE_OK;
    leaf *scratch = wte__alloc_array(a, g.n, sizeof *scratch);
    g.leaves = wte__alloc_array(a, g.n, sizeof *g.leaves);
    g.count = wte__alloc_array(a, g.n, sizeof *g.count);
    g.parent = wte__alloc_array(a, 2 * g.n, sizeof *g.parent);
    t->way_end = wte__alloc_array(a, g.n, sizeof *t->way_end);
    if (!scratch || !g.leaves || !g.count || !g.parent || !t->way_end) {
        status = wte__no_memory(err, g.n * 56, "a tree of words");
    } else {
        for (uint64_t i = 0; i < g.n; i++)
            g.leaves[i] = (leaf){ p->corpus->counts[i], (uint32_t)i };
        wte__sort(g.leaves, (size_t)g.n, sizeof *g.leaves, by_count, scratch);
        grow_tree(&g);
        status = lay_ways(&g, a, t, err);
    }
    wte__free(a, scratch, (size_t)g.n * sizeof *scratch);
    wte__free(a, g.leaves, (size_t)g.n * sizeof *g.leaves);
    wte__free(a, g.count, (size_t)g.n * sizeof *g.count);
    wte__free(a, g.parent, (size_t)(2 * g.n) * sizeof *g.parent);
    return status;
}
