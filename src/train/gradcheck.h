/* What the checks of gradients share: the table's rows in f64, what is drawn, and how two numbers
 * are compared. Private to this room. */
#ifndef WTE_SRC_LEARN_GRADCHECK_H
#define WTE_SRC_LEARN_GRADCHECK_H
#include <wte/gradcheck.h>

#include "base/alloc.h"
#include "base/error.h"

/* For tests: change a gradient before it is compared, to see that this is found. n numbers. */
typedef void wte__gradcheck_spoil(void *ctx, const char *gradient, float *values, uint64_t n);

typedef struct wte__gradcheck {
    const wte_row_source *table;
    wte_gradcheck_options o; /* defaults filled in */
    uint64_t n, cols;
    int64_t *ids;    /* n */
    int64_t *target; /* n, or below 0 */
    uint64_t *rows;  /* those whose entries are compared, ascending, each once */
    uint64_t n_rows;
    double *x;         /* n_rows x cols */
    uint64_t *columns; /* those that are compared, ascending */
    uint64_t n_columns;
    double largest; /* number of x */
    wte_gradcheck_result *results;
    size_t *n_results;
    uint64_t told, total; /* entries, for the progress */
    wte__gradcheck_spoil *spoil;
    void *spoil_ctx;
} wte__gradcheck;

/* Place of a row among those compared. */
uint64_t wte__gradcheck_place(const wte__gradcheck *g, uint64_t row);
static inline bool wte__gradcheck_is_padding(const wte__gradcheck *g, int64_t id)
{
    return g->o.has_padding && id == g->o.padding_id;
}
/* n numbers from -1 to 1, exact in f32, of stream `stream`. */
void wte__gradcheck_draw(const wte__gradcheck *g, uint64_t stream, float *out, uint64_t n);

/* The next gradient; `unit` is the size of what its entries are made from. */
wte_gradcheck_result *wte__gradcheck_begin(wte__gradcheck *g, const char *name, double unit);
void wte__gradcheck_compare(const wte__gradcheck *g, wte_gradcheck_result *r, uint64_t row,
                            uint64_t col, double gradient, double difference);
/* More entries are done; E_CANCELLED. */
wte_status wte__gradcheck_tell(wte__gradcheck *g, uint64_t entries, wte_error *err);

wte_status wte__gradcheck_lookup(wte__gradcheck *g, wte_error *err);
wte_status wte__gradcheck_bag(wte__gradcheck *g, wte_error *err);
wte_status wte__gradcheck_loss(wte__gradcheck *g, wte_gradcheck_op op, wte_error *err);

/* As wte_gradcheck; spoil NULL = nothing is changed. */
wte_status wte__gradcheck_run(wte__gradcheck *g, wte_ids ids, wte_gradcheck_op op,
                              const wte_gradcheck_options *opt, wte_error *err);
#endif
