/* wte/optim.h - optimizers: update a table by its gradient; their state. */
#ifndef WTE_OPTIM_H
#define WTE_OPTIM_H
#include <wte/grad.h>
#ifdef __cplusplus
extern "C" {
#endif

/** Formulas: docs/training.md (those of PyTorch and FBGEMM). "Dense semantics": every row changes
 * at every step, also by momentum and decay alone. "Touched rows": rows without a gradient keep
 * their bytes and state. */
typedef enum wte_optim_kind {
    WTE_OPTIM_SGD = 0,   /* momentum, Nesterov; dense semantics where there is momentum */
    WTE_OPTIM_ADAM = 1,  /* dense semantics, also with sparse gradients (wte_optim_sync_rows) */
    WTE_OPTIM_ADAMW = 2, /* Adam with decoupled decay */
    WTE_OPTIM_LAZY_ADAM =
        3, /* touched rows; PyTorch's SparseAdam: one step counter, eps as there */
    WTE_OPTIM_ADAGRAD = 4,
    WTE_OPTIM_ROWWISE_ADAGRAD = 5, /* one number of state for a row: FBGEMM's */
    WTE_OPTIM_ADAFACTOR = 6        /* second moments as row and column means (dense gradients) */
} wte_optim_kind;

typedef enum wte_optim_decay {
    WTE_DECAY_DEFAULT = 0,  /* decoupled for ADAMW, L2 for all others */
    WTE_DECAY_L2 = 1,       /* gradient + weight_decay * row */
    WTE_DECAY_DECOUPLED = 2 /* row * (1 - lr * weight_decay), apart from the gradient */
} wte_optim_decay;

/** How tables of F16 and BF16 take steps that are smaller than their spacing. */
typedef enum wte_optim_rounding {
    WTE_ROUND_NEAREST = 0,
    WTE_ROUND_STOCHASTIC = 1, /* up or down by chance, drawn from (seed, step, row, column) */
    WTE_ROUND_MASTER = 2      /* an f32 copy of the trainable rows is kept as state */
} wte_optim_rounding;

/** For lr, eps, beta1 and beta2: the kind's own. Every other number is taken as it is, 0 too. */
#define WTE_OPTIM_DEFAULT (-1.0)

typedef struct wte_optim_options {
    size_t struct_size;
    wte_optim_kind kind;
    wte_optim_decay decay;
    wte_optim_rounding rounding;
    uint32_t nesterov, amsgrad;
    uint32_t
        decay_touched; /* 1: weight_decay reaches only the rows of a sparse gradient; without it
                          a kind without dense semantics refuses sparse gradients with decay */
    double lr;         /* DEFAULT = SGD, ADAM, ADAMW, LAZY_ADAM 1e-3, the rest 1e-2 */
    double momentum, dampening;
    double beta1, beta2; /* DEFAULT = 0.9, 0.999 */
    double eps;          /* DEFAULT = 1e-8; Adagrad 1e-10 */
    double weight_decay, lr_decay, initial_accumulator;
    uint64_t seed; /* of stochastic rounding */
    const uint8_t
        *trainable;     /* a bit for each row (bit r % 8 of byte r / 8; copied): rows whose bit is
                           0 keep their bytes whatever comes, and have no state; NULL = all */
    uint64_t max_bytes; /* of state; E_LIMIT; 0 = 1 TiB */
    wte_pool *pool;
    const wte_allocator *allocator;
} wte_optim_options;
#define WTE_OPTIM_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(wte_optim_options), WTE_OPTIM_SGD, WTE_DECAY_DEFAULT, WTE_ROUND_NEAREST, 0, 0, 0,   \
            WTE_OPTIM_DEFAULT, 0, 0, WTE_OPTIM_DEFAULT, WTE_OPTIM_DEFAULT, WTE_OPTIM_DEFAULT, 0,   \
            0, 0, 0, NULL, 0, NULL, NULL                                                           \
    }

/** Optimizer of one table. Only the optimizer may write to the table while both exist. A tied
 *  table has one optimizer: it is one tensor and takes one step. */
typedef struct wte_optim wte_optim;
/** t  owns its rows (else E_ARGUMENT), of F32, F16 or BF16 (else E_UNSUPPORTED); outlives *out.
 *  E_ARGUMENT for settings that make no sense, with PyTorch's reasons. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_create(wte_table *t, const wte_optim_options *opt,
                                                   wte_optim **out, wte_error *err);
WTE_API void wte_optim_free(wte_optim *o); /* NULL is fine */
/** Bytes of state that create allocates for a table of rows x cols; for an estimate beforehand. The
 *  errors of create. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_state_bytes(uint64_t rows, uint64_t cols,
                                                        wte_dtype dtype,
                                                        const wte_optim_options *opt,
                                                        uint64_t *bytes, wte_error *err);

/** One step by the gradient g of the table's shape (E_SHAPE). Arithmetic is f32, factors of a step
 *  (lr, bias corrections) are computed in f64 and rounded once.
 *
 *  A row whose gradient is not finite is left as it is, with its state; the others take their step,
 *  and E_RANGE comes back (where = the first such row, the message says how many). Bits do not
 *  depend on threads or instruction set.
 *  returns  E_ARGUMENT for a sparse gradient where the settings need a dense one */
WTE_API WTE_MUST_CHECK wte_status wte_optim_step(wte_optim *o, const wte_grad *g, wte_error *err);
/** The same bits as wte_grad_lookup on an empty sparse gradient and wte_optim_step, in one pass and
 * without holding the gradient. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_step_lookup(wte_optim *o, wte_ids ids,
                                                        const void *d_out, size_t row_bytes,
                                                        const wte_backward_options *back,
                                                        wte_error *err);
/** The same of wte_grad_bag. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_step_bag(wte_optim *o, wte_ids ids, wte_ids offsets,
                                                     const wte_bag_options *bag, const void *d_out,
                                                     size_t row_bytes,
                                                     const wte_backward_options *back,
                                                     wte_error *err);
/** Bring the rows of ids up to date. Kinds with dense semantics defer the update of rows that a
 *  sparse gradient does not touch; call this before such rows are read. Steps update the rows they
 *  touch. The bits are those of dense steps with zero gradients. No effect for other kinds. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_sync_rows(wte_optim *o, wte_ids ids, wte_error *err);
/** Bring every row up to date: before the table is saved, or read by a head. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_sync_all(wte_optim *o, wte_error *err);

WTE_API WTE_MUST_CHECK wte_status wte_optim_set_lr(wte_optim *o, double lr, wte_error *err);
WTE_API uint64_t wte_optim_n_steps(const wte_optim *o); /* taken so far */
/** Rows whose bytes have changed since create: a bit for each into bits ((rows + 7) / 8 bytes, or
 * NULL); returns how many. */
WTE_API uint64_t wte_optim_changed(const wte_optim *o, uint8_t *bits);

/** State, to be saved with the table and loaded into an optimizer made with the same options over
 *  the same table. Part i (0, 1, ... until E_RANGE) has a name ("steps", "exp_avg", "exp_avg_sq",
 * "sum", "momentum_buffer", "master", ...) and rows, borrowed until the next step. Call
 * wte_optim_sync_all first. Of masked tables the parts have a row for each trainable row. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_state(const wte_optim *o, uint32_t i, const char **name,
                                                  wte_row_source *rows, wte_error *err);
/** E_NOT_FOUND for a name that this kind has not, E_SHAPE for a part of another shape,
 * E_UNSUPPORTED for one of another type; E_RANGE (where = its row) for a number that is not finite,
 * for a sum of squares below 0, and for more than 2^53 steps. The state is then as it was. */
WTE_API WTE_MUST_CHECK wte_status wte_optim_load(wte_optim *o, const char *name,
                                                 const wte_row_source *rows, wte_error *err);
/** Go on with a table that has more rows: t's first rows are those of the table so far (copied
 * there by the caller), state comes along, new rows are trainable and begin without state. E_SHAPE.
 */
WTE_API WTE_MUST_CHECK wte_status wte_optim_grow(wte_optim *o, wte_table *t, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
