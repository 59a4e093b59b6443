/* wte/lm.h - a table learned by predicting: a neural n-gram language model, whose output head is a
 * table of its own, or the input table once more (weight tying), and perhaps behind a projection.
 *
 *     x = rows of the `context` words before, one behind the other
 *     h = tanh(hidden x + b)
 *     v = down h + a             only where hidden is not as wide as the table
 *     u = projection v           only where there is one
 *     logits = head u + bias     head: the input table itself when tied
 *
 * Bengio et al., "A neural probabilistic language model" (2003), without its direct connections;
 * tying and projection as Press and Wolf, "Using the output embedding to improve language models"
 * (2017). docs/training.md has the formulas and what comes of them. */
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
    WTE_LM_COSINE = 2  /* the same along half a cosine */
} wte_lm_schedule;

typedef struct wte_lm_options {
    size_t struct_size;
    uint32_t tied;      /* 1: the head is the input table: one tensor, one gradient, one step */
    uint32_t projected; /* 1: a dim x dim matrix before the head */
    uint64_t context;   /* words that predict the next one; 0 = 4 */
    uint64_t dim;       /* of the table; 0 = 100 */
    uint64_t hidden;    /* numbers of the hidden layer; 0 = dim */
    double projection_decay; /* times the norm of the projection, added to the mean loss of a word;
                                0 = 0.0075, below 0 = none */
    wte_optim_kind optim;    /* ADAM (INIT), ADAMW, SGD, ADAGRAD or ROWWISE_ADAGRAD */
    wte_lm_schedule schedule;
    double lr;            /* 0 = ADAM, ADAMW 0.001; ADAGRAD, ROWWISE_ADAGRAD 0.05; SGD 0.5 */
    double momentum;      /* of SGD */
    double weight_decay;  /* of all weights but biases; of the optimizer's own kind */
    double clip;          /* norm of all gradients together; 0 = 5, below 0 = none */
    uint64_t warmup;      /* steps in which the rate rises from 0 */
    uint64_t batch;       /* words predicted in a step; 0 = 256 */
    uint64_t epochs;      /* 0 = 5 */
    uint64_t shuffle;     /* words that are drawn from in random order at a time; 0 = 2^20 */
    uint64_t hold_out;    /* N: the last Nth of the corpus is for validation; 0 = none. Not beside
                             a validation corpus */
    uint64_t valid_every; /* steps; 0 = after each epoch */
    uint64_t patience;    /* validations without a better one until training ends; 0 = never */
    double seconds;       /* training ends after so many; 0 = no limit */
    uint64_t seed;        /* of first values and of the order of words */
    double init;          /* first values of tables are uniform in [-init, init); 0 = 0.1 */
    const wte_row_source *init_from; /* first rows of the input table, of width dim; or NULL */
    const uint8_t *trainable;  /* a bit for each row of the input table (wte_optim_options): the
                                  others keep their bytes, also where they are the head's; or NULL */
    const char *checkpoint;    /* file; NULL = none is kept, and the last weights are the result */
    double checkpoint_seconds; /* between two of them; 0 = 60. A best validation and the end of
                                  a run in time make one too */
    uint64_t checkpoint_every; /* the same in steps, for tests; 0 = by seconds alone */
    uint32_t resume;           /* 1: go on from the checkpoint */
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
    WTE_LM_PATIENCE = 2, /* validation has not become better */
    WTE_LM_TIME = 3,     /* options.seconds are over */
    WTE_LM_STOPPED = 4   /* the watch asked for it */
} wte_lm_stop_reason;

typedef struct wte_lm_info {
    uint64_t rows, dim, context, hidden;
    uint64_t oov; /* row of the words without a number, or WTE_NO_INDEX; the last row when the
                         corpus has no word "<unk>" */
    uint64_t parameters; /* numbers that are learned; a tied table counts once */
    uint64_t bytes; /* that training takes at most: weights, gradients, optimizers, a mini-batch,
                       and what calls take while they work, the loss above all; the corpora's words
                       are not among them */
    uint64_t train_words, valid_words; /* that are predicted in an epoch, and in a validation */
    uint64_t steps, step;              /* in all, taken */
    uint64_t best_step;                /* of the best validation; 0 = there was none */
    double valid_loss, best_loss;      /* newest and best, nats for a word; NaN = none */
    double train_loss;                 /* mean since the last report; NaN = none */
    wte_lm_stop_reason stop_reason;
} wte_lm_info;

/** A model and its training. One thread at a time. */
typedef struct wte_lm wte_lm;
/** The model with its first weights, or with those of the checkpoint.
 *
 *  train, valid  outlive *out. valid, or NULL, has been opened with the words of train as its vocab
 *  returns  E_FORMAT for a corpus of no more words than `context`; E_NOT_FOUND for a checkpoint
 *           that is not there; E_SHAPE for one of another shape or with other settings, both named;
 *           E_RANGE for a start that holds NaN or infinity (where = its row); E_ARGUMENT for a
 *           text beside a corpus of ids, and for ids beside a text; E_LIMIT */
WTE_API WTE_MUST_CHECK wte_status wte_lm_create(const wte_corpus *train, const wte_corpus *valid,
                                                const wte_lm_options *opt, wte_lm **out,
                                                wte_error *err);
WTE_API void wte_lm_free(wte_lm *lm); /* NULL is fine */
/** What create would make, of which nothing is allocated: info's first lines, parameters, bytes. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_plan(const wte_corpus *train, const wte_corpus *valid,
                                              const wte_lm_options *opt, wte_lm_info *out,
                                              wte_error *err);
WTE_API void wte_lm_get(const wte_lm *lm, wte_lm_info *out);

/** Train to the end, or go on with it. Mini-batches, their order and every sum are the same for any
 *  number of threads, and so is the result; it is also the same after any number of kills and
 *  resumes (of a run without options.seconds).
 *
 *  With validation and a checkpoint the weights are in the end those of the best validation.
 *  watch    NULL, or told every report_every steps, after validations and in the end
 *  returns  E_RANGE when training diverges: the loss, the step and the rate are in the message, and
 *           the last checkpoint stays; E_IO for a checkpoint that cannot be written, the one before
 *           stays */
WTE_API WTE_MUST_CHECK wte_status wte_lm_train(wte_lm *lm, const wte_train_callback *watch,
                                               wte_error *err);
/** Mean loss in nats over the words of a text (of part `part` of `parts`) but its first `context`
 *  ones; exp of it is the perplexity. The text was opened with the words of train as its vocab.
 *  words  NULL, or gets how many were predicted
 *  returns  E_FORMAT when there are none */
WTE_API WTE_MUST_CHECK wte_status wte_lm_loss(wte_lm *lm, const wte_corpus *text, uint32_t part,
                                              uint32_t parts, double *loss, uint64_t *words,
                                              wte_error *err);
/** Tensor i (0, 1, ... until E_RANGE) by the name that it has in files: the input table first.
 *  Borrowed; valid until training goes on. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_tensor(wte_lm *lm, uint32_t i, const char **name,
                                                wte_row_source *rows, wte_error *err);
/** Write `folder`/model.safetensors and config.json: a model that every other call can read. The
 *  words are the caller's to write. The folder must be there. Both files appear together, or the
 *  old ones stay. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_save(wte_lm *lm, const char *folder, wte_error *err);
/** The same as part of a transaction, which commits it. */
WTE_API WTE_MUST_CHECK wte_status wte_lm_save_to(wte_lm *lm, wte_transaction *t, const char *folder,
                                                 wte_error *err);
/** Rows of the input table whose bytes have changed since create, which of a run that is resumed
 * means since its checkpoint: wte_optim_changed. */
WTE_API uint64_t wte_lm_changed(const wte_lm *lm, uint8_t *bits);

#ifdef __cplusplus
}
#endif
#endif
