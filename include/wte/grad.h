/* wte/grad.h - the gradient of a table: the sum of the gradients of lookups, bags and the head. */
#ifndef WTE_GRAD_H
#define WTE_GRAD_H
#include <wte/bag.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_grad_kind {
    WTE_GRAD_DENSE = 0, /* rows x cols: what a head needs, which reaches every row */
    WTE_GRAD_SPARSE = 1 /* the rows that ids have named, each once, in ascending order */
} wte_grad_kind;

typedef struct wte_grad_options {
    size_t struct_size;
    wte_grad_kind kind;
    uint32_t
        f64_sums; /* 1: the parts of a row that one call adds are summed in f64, then rounded */
    uint64_t max_bytes; /* E_LIMIT when it would take more; 0 = 1 TiB */
    wte_pool *pool;     /* of every call below; results do not depend on it */
    const wte_allocator *allocator;
} wte_grad_options;
#define WTE_GRAD_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_grad_options), WTE_GRAD_DENSE, 0, 0, NULL, NULL                                 \
    }

/** Gradients add up until wte_grad_zero: two backward calls give twice the gradient of one, and a
 *  tied table has one wte_grad, to which the lookup's part and the head's part are both added. Not
 *  to be used by two threads at a time. */
typedef struct wte_grad wte_grad;
/** A gradient of zeros for a table of rows x cols. E_LIMIT, E_MEMORY. */
WTE_API WTE_MUST_CHECK wte_status wte_grad_create(uint64_t rows, uint64_t cols,
                                                  const wte_grad_options *opt, wte_grad **out,
                                                  wte_error *err);
WTE_API void wte_grad_free(wte_grad *g); /* NULL is fine */
/** Back to zeros (a sparse one to no rows); keeps its memory. */
WTE_API void wte_grad_zero(wte_grad *g);
/** A dense gradient's rows x cols f32, tight: what wte_loss_options.d_table adds to. NULL for a
 * sparse one. */
WTE_API float *wte_grad_data(wte_grad *g);

typedef struct wte_grad_rows {
    uint64_t n, cols;
    const uint64_t *ids; /* n ascending rows, or NULL: all n rows in order */
    const float *values; /* n x cols, tight */
} wte_grad_rows;
/** What has been added up so far; borrowed until the next call that changes g. */
WTE_API void wte_grad_view(const wte_grad *g, wte_grad_rows *out);

typedef struct wte_backward_options {
    size_t struct_size;
    wte_dtype d_out_dtype;  /* of what comes back: NONE = F32; F16, BF16 are widened exactly */
    uint32_t scale_by_freq; /* 1: each contribution is divided by the count of its id among the ids
                               of the call that are not ignored (PyTorch's scale_grad_by_freq; in a
                               bag too the id's own count, which PyTorch's CPU bag gets wrong) */
    const int64_t
        *ignore_ids; /* ids without a gradient and without an error: the padding id, -100. Only
                        the way through the lookup is cut: a tied head still trains the row */
    size_t n_ignore_ids;
    float scale; /* what the lookup multiplied rows by, or the loss scale; 0 = 1 */
    wte_bad_ids *report;
} wte_backward_options;
#define WTE_BACKWARD_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(wte_backward_options), WTE_DTYPE_NONE, 0, NULL, 0, 0, NULL                          \
    }

/** g[ids[i], :] += scale * d_out[i, :] for every i: the way back through wte_lookup.
 *
 *  The parts of a row are added in the order of ids, into a sum that starts from 0 (f32, or f64
 *  with f64_sums), is rounded once and added to the gradient once; a part is rounded to f32 once,
 *  after its multiplication by all of its factors, which are one number (made in f64, rounded to
 *  f32). So the bits depend on neither the number of threads nor the instruction set.
 *
 *  d_out      ids.count rows of cols numbers, row_bytes apart (0 = tight)
 *  returns    E_RANGE for a bad id (where = position), E_LIMIT for more than 2^32 - 1 ids or a
 *             sparse gradient beyond max_bytes, E_MEMORY; g is then as it was
 *  cost       ids are sorted (radix), d_out is read once, each row named is written once */
WTE_API WTE_MUST_CHECK wte_status wte_grad_lookup(wte_grad *g, wte_ids ids, const void *d_out,
                                                  size_t row_bytes, const wte_backward_options *opt,
                                                  wte_error *err);
/** The way back through wte_bag_reduce, with the ids, offsets and options of the forward call: sum
 *  (times the weight), mean (over the bag's members), or max (bag->argmax as the forward call has
 *  filled it: the member that was taken; E_ARGUMENT for NULL, and for a position outside its bag,
 *  where = bag). Members that the forward call left out, by ignore_ids or mask, get nothing.
 *  bag->normalize is E_UNSUPPORTED; bag->max_norm counts as done in place (no gradient of the
 *  norm), as in PyTorch.
 *
 *  d_out      bags rows of cols numbers; the rest as wte_grad_lookup */
WTE_API WTE_MUST_CHECK wte_status wte_grad_bag(wte_grad *g, wte_ids ids, wte_ids offsets,
                                               const wte_bag_options *bag, const void *d_out,
                                               size_t row_bytes, const wte_backward_options *opt,
                                               wte_error *err);
/** d_weights[i] = sum over d of d_out[bag of i, d] * rows[ids[i], d]; 0 where ids[i] is skipped.
 * The gradient of bag->weights (sums only). Sums as wte_head's exact products ("Dots"), times
 * scale. SET, not added. bag->pool and bag->allocator serve.
 *
 *  d_out      bags rows of cols numbers, tight */
WTE_API WTE_MUST_CHECK wte_status wte_bag_weights_grad(const wte_row_source *rows, wte_ids ids,
                                                       wte_ids offsets, const wte_bag_options *bag,
                                                       const void *d_out,
                                                       const wte_backward_options *opt,
                                                       float *d_weights, wte_error *err);

/** The 2-norm of n gradients together, in f64; one that is given twice (a tied table under two
 *  names) counts once. E_RANGE when a number is NaN or infinite (where = its row). */
WTE_API WTE_MUST_CHECK wte_status wte_grad_norm(wte_grad *const *grads, size_t n, double *norm,
                                                wte_error *err);
/** Multiply all of them by max_norm / (norm + 1e-6) when that is below 1 (clip_grad_norm_). *norm
 * NULL, or gets the norm before. On failure nothing is changed. */
WTE_API WTE_MUST_CHECK wte_status wte_grad_clip(wte_grad *const *grads, size_t n, double max_norm,
                                                double *norm, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
