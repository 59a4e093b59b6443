/* wte/head.h - the output head: logits = hidden x table^T, and what is made of logits (top k,
 * probabilities, samples, loss) without holding all of them. The table may be the input table.
 *
 * docs/head.md has the formulas and their sources, the orders of sums, errors and costs. All calls:
 * table    rows x dim of f32, f16, bf16 or anything that converts or decodes to f32; borrowed and
 *          never copied as a whole
 * outputs  the caller's; none may overlap table, hidden, bias, ids or targets (E_ARGUMENT)
 * returns  E_SHAPE when hidden.dim is not the table's; E_UNSUPPORTED for a table, hidden or bias
 *          of another type; E_LIMIT for sizes beyond memory or beyond work_bytes; E_MEMORY,
 *          E_CANCELLED, the failures of a row source that reads a file; E_ARGUMENT for the rest
 * cost     one read of the table for up to 1024 hidden vectors (fewer with less work memory), and
 *          n x rows x dim products, on all threads of the pool */
#ifndef WTE_HEAD_H
#define WTE_HEAD_H
#include <wte/row_source.h>
#ifdef __cplusplus
extern "C" {
#endif

/** n vectors of `dim` numbers, row_bytes apart (0 = tight). */
typedef struct wte_hidden {
    const void *data;
    wte_dtype dtype; /* F32, F16 or BF16: widened exactly */
    uint32_t reserved;
    uint64_t n, dim;
    size_t row_bytes;
} wte_hidden;

typedef enum wte_precision {
    /** Hidden and table in f32, each logit one sum in a fixed order (docs/kernels.md, "Dots"): the
     *  same bits for any n, any number of threads and any instruction set. */
    WTE_PRECISION_EXACT = 0,
    /** Hidden (and a table of f32) rounded to bf16, or to int8 blocks of 32 where the table is of
     *  blocks. docs/kernels.md states the error's bound. The same bits for any number of threads.
     */
    WTE_PRECISION_FAST = 1
} wte_precision;

/** What a model does to hidden and logits around the product, in this order; 0 = not done (a number
 *  that is not finite, or a cap below 0, is E_ARGUMENT). Each is one f32 operation. */
typedef struct wte_logit_transform {
    float hidden_scale;   /* T5, tied: d_model^-0.5 */
    float hidden_divisor; /* MiniCPM: hidden_size / dim_model_base */
    float scale;          /* Cohere: logit_scale; HyperCLOVA X: logits_scaling */
    float divisor;        /* Granite: logits_scaling */
    float softcap;        /* Gemma 2: cap * tanh(l / cap) */
    uint32_t reserved;
} wte_logit_transform;

typedef struct wte_head_options {
    size_t struct_size;
    wte_precision precision;
    wte_dtype bias_dtype; /* of bias: F32, F16 or BF16 */
    const void *bias;     /* rows numbers, added to the product before the chain goes on; or NULL */
    wte_logit_transform chain;
    /* Rows that no token has: their logits become -infinity. */
    uint64_t n_valid;     /* > 0: rows from this one on */
    const uint8_t *valid; /* or rows whose bit (valid[r / 8] >> r % 8 & 1) is 0; NULL = none */
    uint64_t work_bytes;  /* what may be allocated; 0 = 64 MiB; E_LIMIT when it is less than needed:
                             wte_head_workspace_size */
    wte_pool *pool;
    /* In products of a hidden vector and a row; gradients of hidden and of table are as many again
     * each. Stopped within gradients, d_table has part of what was to be added. */
    const wte_progress *progress;
    const wte_allocator *allocator;
} wte_head_options;
#define WTE_HEAD_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_head_options), WTE_PRECISION_EXACT, WTE_DTYPE_NONE, NULL, { 0, 0, 0, 0, 0, 0 }, \
            0, NULL, 0, NULL, NULL, NULL                                                           \
    }

/** The work_bytes, at least, with which every function below but the loss (wte_loss_workspace_size)
 * does its work for these hidden vectors, and beyond which more makes no difference. */
WTE_API WTE_MUST_CHECK wte_status wte_head_workspace_size(const wte_row_source *table,
                                                          const wte_hidden *hidden,
                                                          const wte_head_options *opt,
                                                          uint64_t *least, uint64_t *best,
                                                          wte_error *err);

/** logits[i, r] = chain(sum over k of hidden[i, k] * table[r, k] + bias[r]), f32.
 *
 *  logits  hidden.n rows of table->rows f32, row_bytes apart (0 = tight; else a multiple of 4) */
WTE_API WTE_MUST_CHECK wte_status wte_head_logits(const wte_row_source *table,
                                                  const wte_hidden *hidden,
                                                  const wte_head_options *opt, float *logits,
                                                  size_t row_bytes, wte_error *err);
/** The same of chosen rows alone: logits[i, j] is that of row ids[j], hidden.n x ids.count. Masked
 *  rows stay masked.
 *
 *  ids      U16, I32, U32 or I64 (else E_ARGUMENT), read in place
 *  returns  E_RANGE for an id outside (where = position); logits are then untouched
 *  cost     one read of the rows that are chosen */
WTE_API WTE_MUST_CHECK wte_status wte_head_logits_at(const wte_row_source *table,
                                                     const wte_hidden *hidden, wte_ids ids,
                                                     const wte_head_options *opt, float *logits,
                                                     size_t row_bytes, wte_error *err);

/** What a softmax over one hidden vector's logits sums up to. */
typedef struct wte_softmax_stats {
    float max_logit;   /* the largest logit; -infinity when all rows are masked */
    float logsumexp;   /* ln of the sum of exp(logit) over the rows that are not masked */
    float masked_prob; /* share of the probability that masked rows would take if they were not */
    uint32_t
        not_finite; /* logits that are NaN or +infinity (counted up to 2^32 - 1); they rank last */
} wte_softmax_stats;
typedef struct wte_ranked {
    uint64_t id;
    float logit;
    float logprob; /* logit - lse */
} wte_ranked;
/** The k rows of largest logit for each hidden vector, largest first, equal ones by id; without
 *  holding the logits. k = 1 is greedy decoding.
 *
 *  k     up to 65536 (E_LIMIT), of a table of less than 2^32 rows (E_LIMIT); 0 = sums alone
 *  out   hidden.n x k entries; where there are fewer rows (masked ones never count) the rest has id
 *        WTE_NO_INDEX and -infinity
 *  sums  NULL, or hidden.n of them */
WTE_API WTE_MUST_CHECK wte_status wte_head_topk(const wte_row_source *table,
                                                const wte_hidden *hidden,
                                                const wte_head_options *opt, uint32_t k,
                                                wte_ranked *out, wte_softmax_stats *sums,
                                                wte_error *err);
/** Log-softmax of one row for each hidden vector: logprob[i] = logit(i, targets[i]) - lse(i), in
 *  nats; -infinity where the row is masked.
 *
 *  targets  hidden.n of U16, I32, U32 or I64 (E_SHAPE, E_ARGUMENT), all of them rows
 *           (E_RANGE, where = position)
 *  sums     NULL, or hidden.n of them */
WTE_API WTE_MUST_CHECK wte_status wte_head_logprobs(const wte_row_source *table,
                                                    const wte_hidden *hidden, wte_ids targets,
                                                    const wte_head_options *opt, float *logprob,
                                                    wte_softmax_stats *sums, wte_error *err);

typedef struct wte_sample_options {
    size_t struct_size;
    float temperature; /* > 0; 0 = greedy */
    uint32_t top_k;    /* 0 = all rows, else the k largest logits stay */
    double top_p;      /* 0 or 1 = off: the fewest of the largest whose probabilities reach p stay;
                        * among equal logits those of smaller ids. Sums that differ by less than
                        * 1e-12 are equal, so that 7 of 100 alike reach 0.07 */
    double min_p;      /* 0 = off: those of at least min_p times the largest probability stay */
    uint64_t seed;     /* hidden vector i draws with a stream of its own: seed and first + i */
    uint64_t first;
} wte_sample_options;
#define WTE_SAMPLE_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(wte_sample_options), 1, 0, 0, 0, 0, 0                                               \
    }
/** Draw one row for each hidden vector, in the order temperature, top k, top p, min p. The same
 *  seed draws the same rows whatever the number of threads.
 *
 *  sample   NULL = INIT: temperature 1, seed 0
 *  ids      hidden.n rows
 *  returns  E_ARGUMENT (where = hidden vector) for logits that are NaN or +infinity, and where
 *           every row is masked; ids before that one may have been written */
WTE_API WTE_MUST_CHECK wte_status wte_head_sample(const wte_row_source *table,
                                                  const wte_hidden *hidden,
                                                  const wte_head_options *opt,
                                                  const wte_sample_options *sample, uint64_t *ids,
                                                  wte_error *err);

/* Draft heads ---------------------------------------------------------------------------------- */

/** Whether n token ids, one for each row of a head, can be what these rows stand for: all of them
 *  0 .. n_tokens - 1 (n_tokens 0: of unknown number, not negative), and none twice.
 *
 *  returns  E_RANGE (where = row) for an id outside, E_FORMAT (where = the later row) for one twice
 *  cost     a sort of n pairs of 16 bytes */
WTE_API WTE_MUST_CHECK wte_status wte_head_map_check(const int64_t *tokens, size_t n,
                                                     uint64_t n_tokens,
                                                     const wte_allocator *allocator,
                                                     wte_error *err);

/* Cross-entropy -------------------------------------------------------------------------------- */

typedef struct wte_loss_options {
    size_t struct_size;
    int64_t ignore_id;     /* a target that takes no part; INIT sets -100 */
    uint32_t sum;          /* 0 = mean over the targets that take part (NaN when none), 1 = sum */
    float label_smoothing; /* s: (1 - s) * nll + s * mean over all (unmasked) rows of -logprob */
    float z_loss;          /* z: + z * lse^2 */
    float skip_below;      /* > 0: tiles whose every |softmax - target| is below are left out of the
                              gradients; the error of a d_table row is at most n times this times
                              the largest |hidden|; 0 = nothing is left out */
    float grad_scale;      /* the gradients are multiplied by this; INIT sets 1 */
    float *per_target;     /* NULL, or hidden.n losses (0 where ignored) */
    float *d_hidden;       /* NULL, or hidden.n x dim, tight: set */
    float *d_table;        /* NULL, or rows x dim, tight: ADDED to, as gradients accumulate */
    float *d_bias;         /* NULL, or rows: ADDED to */
} wte_loss_options;
#define WTE_LOSS_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_loss_options), -100, 0, 0, 0, 0, 1, NULL, NULL, NULL, NULL                      \
    }
typedef struct wte_loss {
    double loss; /* mean or sum over the targets that take part */
    double lse_mean;
    uint64_t n_targets, n_ignored;
    uint64_t n_correct; /* targets that are the row of the largest logit */
} wte_loss;
/** Work bytes that wte_head_loss needs at least, and then spends, and beyond which more does not
 *  help. */
WTE_API WTE_MUST_CHECK wte_status wte_loss_workspace_size(
    const wte_row_source *table, const wte_hidden *hidden, const wte_head_options *opt,
    const wte_loss_options *loss, uint64_t *least, uint64_t *best, wte_error *err);
/** Softmax cross-entropy of hidden.n targets, in nats, and its gradients, without ever holding n x
 *  rows logits (forward by tiles of rows; with gradients by chunks of hidden vectors). All bits are
 *  the same for any number of threads and any work_bytes.
 *
 *  targets  hidden.n of I64, I32, U32 or U16: rows, or ignore_id
 *  returns  E_RANGE (where = position) for a target that is neither; E_UNSUPPORTED for the fast
 *           precision. After a failure d_table and d_bias may hold part of what was to be added
 *  cost     one product for the loss, one more for d_hidden, one for d_table */
WTE_API WTE_MUST_CHECK wte_status wte_head_loss(const wte_row_source *table,
                                                const wte_hidden *hidden, wte_ids targets,
                                                const wte_head_options *opt,
                                                const wte_loss_options *loss, wte_loss *out,
                                                wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
