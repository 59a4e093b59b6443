/* wte/gradcheck.h - are the gradients right? Those of wte/grad.h and wte/head.h against differences
 * of a plain forward computation in f64, for a table and ids of the caller's. */
#ifndef WTE_GRADCHECK_H
#define WTE_GRADCHECK_H
#include <wte/row_source.h>
#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, value, "name"): append only. docs/gradcheck.md defines what each computes. */
#define WTE_GRADCHECK_LIST(X)                                                                      \
    X(LOOKUP, 0, "lookup") /* wte_grad_lookup, dense and sparse */                                 \
    X(BAG, 1, "bag")       /* wte_grad_bag: sum, mean, max, weighted sum; wte_bag_weights_grad */  \
    X(HEAD, 2, "head")     /* wte_head_loss, mean of plain cross-entropies: its three gradients */ \
    X(LOSS, 3, "loss")     /* the same with smoothing, z-loss, a soft cap, and as a sum */         \
    X(TIED, 4, "tied")     /* one table as input and head: both parts in one gradient */
typedef enum wte_gradcheck_op {
#define X(name, value, text) WTE_GRADCHECK_##name = (value),
    WTE_GRADCHECK_LIST(X)
#undef X
        WTE_GRADCHECK_FORCE_INT = 0x7fffffff
} wte_gradcheck_op;
WTE_API const char *wte_gradcheck_name(wte_gradcheck_op op); /* never NULL */

typedef struct wte_gradcheck_options {
    size_t struct_size;
    wte_ids targets;      /* HEAD, LOSS, TIED: what each id is to predict, or -100 = none; no data =
                             the id that follows, of the last one the first */
    uint64_t ids_per_bag; /* BAG: ids in each bag; 0 = two bags. An empty bag comes last */
    const float *d_out;   /* LOOKUP: ids x cols; BAG: bags x cols; NULL = drawn from -1 to 1 */
    uint64_t d_out_rows;  /* E_SHAPE when it is another number */
    uint32_t has_padding; /* 1: padding_id is the table's padding id. Lookups send no gradient to
                             its row, which is constant there for the differences too; it is no
                             member of a bag; a head trains it like any row (as in PyTorch) */
    uint32_t reserved;
    int64_t padding_id;
    uint64_t columns; /* that are compared of each row, drawn; 0 = 16 */
    uint64_t seed;    /* of what is drawn */
    double tolerance; /* of the relative error; 0 = 1e-3 */
    wte_pool *pool;
    const wte_progress *progress; /* entries, of one gradient after the other */
    const wte_allocator *allocator;
} wte_gradcheck_options;
#define WTE_GRADCHECK_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(wte_gradcheck_options), { NULL, WTE_DTYPE_NONE, 0, 0 }, 0, NULL, 0, 0, 0, 0, 0, 0,  \
            0, NULL, NULL, NULL                                                                    \
    }

typedef struct wte_gradcheck_place {
    uint64_t row, col; /* d_hidden: position, column; d_bias: row, 0; d_weights: position, 0 */
    double gradient, difference;
} wte_gradcheck_place;
#define WTE_GRADCHECK_TIES    4
#define WTE_GRADCHECK_RESULTS 5
/** One gradient that was compared. */
typedef struct wte_gradcheck_result {
    const char *gradient; /* "d_table, sparse", "d_table of means", ... */
    uint64_t compared, wrong;
    double largest;  /* |gradient - difference| */
    double relative; /* the same over the larger of both, and of `floor` */
    double floor;    /* a thousandth of what entries of this gradient are made from */
    wte_gradcheck_place at, relative_at; /* where these are; row WTE_NO_INDEX = nothing compared */
    uint64_t
        tied; /* maxima with a second one within a step: they have no slope, and are left out */
    wte_gradcheck_place ties[WTE_GRADCHECK_TIES]; /* the first of these */
} wte_gradcheck_result;

/** Compare every gradient of one operation.
 *
 *  table    any that converts, with finite rows where it is looked at
 *  ids      1 to 256 of them
 *  results  WTE_GRADCHECK_RESULTS; *n gets how many were made. A gradient that disagrees is no
 *           failure of the call: results[i].wrong
 *  returns  E_RANGE for an id or target without a row (where = position), a padding id without one,
 *           or a number that is not finite (where = row); E_ARGUMENT for ids or targets of no type
 *           of ids; E_LIMIT for too many ids
 *  cost     LOOKUP, BAG: the rows named; HEAD, LOSS, TIED: dense gradients of the whole table, and
 *           logits of all ids in f64 */
WTE_API WTE_MUST_CHECK wte_status wte_gradcheck(const wte_row_source *table, wte_ids ids,
                                                wte_gradcheck_op op,
                                                const wte_gradcheck_options *opt,
                                                wte_gradcheck_result *results, size_t *n,
                                                wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
