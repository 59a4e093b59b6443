/* What a backward call was given, checked: the way back through lookups and bags has the same
 * questions to ask whatever is made of the answers. */
#ifndef WTE_SRC_TRAIN_BACKWARD_H
#define WTE_SRC_TRAIN_BACKWARD_H
#include "lookup/bag.h"
#include "optim/contributions.h"

typedef struct wte__backward {
    uint64_t rows, cols; /* of the table */
    wte_ids ids;
    wte_backward_options o; /* defaults filled in */
    const void *d_out;
    size_t stride;    /* bytes */
    uint64_t vectors; /* of d_out */
    bool bags;
    wte__bag_job bag;  /* ids, offsets, options and rules of bags; `rows` is not used */
    wte__id_rules cut; /* ids that get nothing, whether they are members or not */
    bool some_cut;
} wte__backward;

/* Everything but memory: options, types, sizes, the range of ids (E_RANGE, and o.report). */
wte_status wte__backward_lookup(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                                const wte_backward_options *opt, wte__backward *out,
                                wte_error *err);
/* E_MEMORY: ignored ids of both options are judged together, in memory of the allocator, or else of
 * the bag's own. */
wte_status wte__backward_bag(uint64_t rows, uint64_t cols, const wte__bag_back *back,
                             const wte_backward_options *opt, const wte_allocator *allocator,
                             wte__backward *out, wte_error *err);
#endif
