/* wte/lm.h - train a table with a neural n-gram language model. The output head is a separate table
 * or the input table (weight tying); a projection before the head is optional.
 *
 *     x = rows of the `context` previous words, concatenated
 *     h = tanh(hidden x + b)
 *     v = down h + a             only when hidden differs from dim
 *     u = projection v           only with a projection
 *     logits = head u + bias     head: the input table itself when tied
 *
 * Bengio et al., "A neural probabilistic language model" (2003), without its direct connections;
 * tying and projection as Press and Wolf, "Using the output embedding to improve language models"
 * (2017). docs/training.md has the formulas and results. */
#ifndef WTE_LM_H
#define WTE_LM_H
#include <wte/corpus.h>
#include <wte/optim.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_lm_schedule {
    WTE_LM_CONSTANT = 0,
    WTE_LM_LINEAR = 1, /* to 0 at the last step */
    WTE_LM_COSINE = 2  /* to 0 along half a cosine */
} wte_lm_schedule;

typedef struct wte_lm_options {
    size_t struct_size;
    uint32_t tied;      /* 1: the head is the input table: one tensor, one gradient, one step */
    uint32_t projected; /* 1: a dim x dim matrix before the head */
    uint64_t context;   /* words that predict the next one; 0 = 4 */
    uint64_t dim;       /* of the table; 0 = 100 */
    uint64_t hidden;    /* width of the hidden layer; 0 = dim */
    double projection_decay; /* factor of the projection's norm in the mean loss of a word;
                                0 = 0.0075, below 0 = none */
    wte_optim_kind optim;    /* ADAM (INIT), ADAMW, SGD, ADAGRAD or ROWWISE_ADAGRAD */
    wte_lm_schedule schedule;
    double lr;            /* 0 = ADAM, ADAMW 0.001; ADAGRAD, ROWWISE_ADAGRAD 0.05; SGD 0.5 */
    double momentum;      /* of SGD */
    double weight_decay;  /* of all weights except biases, as the optimizer defines it */
    double clip;          /* maximum global gradient norm; 0 = 5, below 0 = none */
    uint64_t warmup;      /* steps of linear rise of the learning rate from 0 */
    uint64_t batch;       /* words predicted per step; 0 = 256 */
    uint64_t epochs;      /* 0 = 5 */
    uint64_t shuffle;     /* size of the shuffle window in words; 0 = 2^20 */
    uint64_t hold_out;    /* N: the last Nth of the corpus is for validation; 0 = none. Excludes a
                             validation corpus */
    uint64_t valid_every; /* steps; 0 = after each epoch */
    uint64_t patience;    /* validations without improvement before training stops; 0 = never */
    double seconds;       /* time limit of training; 0 = no limit */
    uint64_t seed;        /* of initial values and of the order of words */
    double init;          /* initial values of tables are uniform in [-init, init); 0 = 0.1 */
    const wte_row_source *init_from; /* initial rows of the input table, dim wide; or NULL */
    const uint8_t *trainable;  /* one bit per row of the input table (wte_optim_options): other
                                  rows keep their bytes, also in a tied head; or NULL */
    const char *checkpoint;    /* file; NULL = no checkpoint, the last weights are the result */
    double checkpoint_seconds; /* interval; 0 = 60. A best validation and the time limit also
                                  write one */
    uint64_t checkpoint_every; /* interval in steps, for tests; 0 = by seconds only */
    uint32_t resume;           /* 1: continue from the checkpoint */
    uint64_t log_every;        /* steps; 0 = 100 */
    uint64_t max_bytes;        /* E_LIMIT when more is needed; 0 = 1 TiB */
    wte_pool *pool;            /* results do not depend on it */
    const wte_allocator *allocator;
} wte_lm_options;
#define WTE_LM_OPTIONS_INIT                                                                        \
    {                                                                                              \
        sizeof(wte_lm_options), 0, 0, 0, 0, 0, 0, WTE_OPTIM_ADAM, WTE_LM_CONSTANT, 0, 0, 0, 0, 0,  \
            0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL                 \
    }

typedef enum wte_lm_stop_reason {
    WTE_LM_UNFINISHED = 0,
    WTE_LM_ALL_STEPS = 1,
    WTE_LM_PATIENCE = 2, /* validation has not improved */
    WTE_LM_TIME = 3,     /* options.seconds have passed */
    WTE_LM_STOPPED = 4   /* the callback returned false */
} wte_lm_stop_reason;

typedef struct wte_lm_info {
    uint64_t rows, dim, context, hidden;
    uint64_t oov;        /* row of unknown words, or WTE_NO_INDEX; the last row when the corpus does
                                not contain "<unk>" */
    uint64_t parameters; /* trained weights; a tied table counts once */
    uint64_t bytes;      /* upper bound of training memory: weights, gradients, optimizer state, a
                            mini-batch and temporary buffers (mostly the loss); excludes the words of
                            the corpora */
    uint64_t train_words, valid_words; /* predicted per epoch and per validation */
    uint64_t steps, step;              /* total and completed */
    uint64_t best_step;                /* of the best validation; 0 = none yet */
    double valid_loss, best_loss;      /* latest and best, nats per word; NaN = none */
    double train_loss;                 /* mean since the last report; NaN = none */
    wte_lm_stop_reason stop_reason;
} wte_lm_info;

/** A model and its training. One thread at a time. */
typedef struct wte_lm wte_lm;
/** Create a model with initial weights, or with those of the checkpoint.
 *
 *  train, valid  outlive *out. valid is NULL or was opened with the words of train as its vocab
 *  returns  E_FORMAT for a corpus of at most `context` words; E_NOT_FOUND for a missing checkpoint;
 *           E_SHAPE for a checkpoint of another shape or other settings (the message has both);
 *           E_RANGE for NaN or infinity in init_from (where = its row); E_ARGUMENT when one corpus
 *           is text and the other ids; E_LIMIT */
WTE_API WTE_MUST_CHECK wte_status wte_lm_create(const wte_corpus *train, const wte_corpus *valid,
                                                const wte_lm_options *opt, wte_lm **out,
                                                wte_error *err);
WTE_API void wte_lm_free(wte_lm *lm); /* NULL is fine */
/** Compute shape, parameters and bytes of wte_lm_info without allocating the model. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_plan(const wte_corpus *train, const wte_corpus *valid,
                                              const wte_lm_options *opt, wte_lm_info *out,
                                              wte_error *err);
WTE_API void wte_lm_get(const wte_lm *lm, wte_lm_info *out);

/** Train to the end, or continue training. The result is bit-identical for any number of threads,
 *  and after any number of kills and resumes (without options.seconds): mini-batches, their order
 *  and the order of every sum are fixed.
 *
 *  With validation and a checkpoint, the final weights are those of the best validation.
 *  watch    NULL, or called every log_every steps, after validations and at the end
 *  returns  E_RANGE when training diverges (the message has loss, step and learning rate); the last
 *           checkpoint is kept. E_IO for a failed write of a checkpoint; the previous one is kept
 */
WTE_API WTE_MUST_CHECK wte_status wte_lm_train(wte_lm *lm, const wte_train_callback *watch,
                                               wte_error *err);
/** Mean loss in nats over the words of part `part` of `parts` of a text, except its first `context`
 *  words; its exponential is the perplexity. The text is opened with the words of train as vocab.
 *  words    NULL, or gets the number of predicted words
 *  returns  E_FORMAT when no word is predicted */
WTE_API WTE_MUST_CHECK wte_status wte_lm_loss(wte_lm *lm, const wte_corpus *text, uint32_t part,
                                              uint32_t parts, double *loss, uint64_t *words,
                                              wte_error *err);
/** Tensor i (0, 1, ... until E_RANGE) and its name in files; tensor 0 is the input table.
 *  Borrowed; valid until training continues. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_tensor(wte_lm *lm, uint32_t i, const char **name,
                                                wte_row_source *rows, wte_error *err);
/** Write `folder`/model.safetensors and config.json: a model that wte_model_open reads. The
 *  caller writes the words. The folder must exist. Both files are replaced together, or neither. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_save(wte_lm *lm, const char *folder, wte_error *err);
/** Save as part of transaction `t`, which the caller commits. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_save_to(wte_lm *lm, wte_transaction *t, const char *folder,
                                                 wte_error *err);
/** Rows of the input table whose bytes changed since create; after a resume, since the checkpoint.
 * Arguments as for wte_optim_changed. */
WTE_API uint64_t wte_lm_changed(const wte_lm *lm, uint8_t *bits);

#ifdef __cplusplus
}
#endif
#endif
