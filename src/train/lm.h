/* The inside of wte_lm: its weights and layers, the words it is fed with, and how far it is. */
#ifndef WTE_SRC_LEARN_LM_H
#define WTE_SRC_LEARN_LM_H
#include <wte/lm.h>

#include "train/checkpoint.h"

/* Words ------------------------------------------------------------------------------------------
 */

/* Where a block of words begins. */
typedef struct wte__lm_place {
    uint64_t part;  /* of the corpus, */
    uint64_t at;    /* and of its reader */
    uint64_t begun; /* 0: the carried words are still to be read */
} wte__lm_place;

/* Parts [first, end) of `parts` of a corpus, block by block. words[context + i] is predicted from
 * the `context` words before it; those of the first are carried from the block before. */
typedef struct wte__lm_stream {
    const wte_corpus *corpus;
    uint64_t rows;    /* of the table: numbers from there on are unknown */
    uint64_t unknown; /* their row, or WTE_NO_INDEX */
    uint32_t first, end, parts;
    uint64_t context, cap;     /* cap: words predicted in a block, at most */
    wte__lm_place block;       /* where the block at hand begins */
    wte__lm_place next;        /* what follows */
    wte_corpus_reader *reader; /* of part next.part, or NULL */
    uint32_t *words;           /* context + cap */
    uint64_t n;                /* words predicted in the block at hand; 0 = the end */
    const wte_allocator *allocator;
} wte__lm_stream;

/* rows, unknown, first, end and parts are set, the others are made. */
wte_status wte__lm_stream_open(wte__lm_stream *s, const wte_corpus *corpus, uint64_t context,
                               uint64_t cap, wte_error *err);
void wte__lm_stream_close(wte__lm_stream *s);
/* Back to the beginning. */
void wte__lm_stream_rewind(wte__lm_stream *s);
/* To a block that began at `place`, with these carried words; wte__lm_stream_fill reads it. */
wte_status wte__lm_stream_seek(wte__lm_stream *s, const wte__lm_place *place,
                               const uint32_t *carried, wte_error *err);
/* The next block. */
wte_status wte__lm_stream_fill(wte__lm_stream *s, wte_error *err);
/* How many words there are in all; the stream is at its end then. */
wte_status wte__lm_stream_count(wte__lm_stream *s, uint64_t *words, wte_error *err);

/* The numbers below n in an order that (seed, block) decide. */
void wte__lm_shuffle(uint32_t *order, uint64_t n, uint64_t seed, uint64_t block);

/* Weights ----------------------------------------------------------------------------------------
 */

typedef enum wte__lm_part {
    WTE__LM_TABLE,
    WTE__LM_HIDDEN,
    WTE__LM_HIDDEN_BIAS,
    WTE__LM_DOWN,
    WTE__LM_DOWN_BIAS,
    WTE__LM_PROJECTION,
    WTE__LM_HEAD, /* of an untied model alone */
    WTE__LM_HEAD_BIAS,
    WTE__LM_PARTS
} wte__lm_part;

typedef struct wte__lm_weight {
    uint64_t rows, cols; /* rows 0: this model has none */
    wte_table *table;
    wte_grad *grad;
    wte_optim *optim;
} wte__lm_weight;

/* out = in w^T + b, and tanh of it. */
typedef struct wte__lm_layer {
    wte__lm_part w, b; /* b WTE__LM_PARTS: no bias */
    bool bent;
    uint64_t in, out;
} wte__lm_layer;
#define WTE__LM_LAYERS 3

/* What a run is, as far as it can be told before anything is allocated. */
typedef struct wte__lm_plan {
    wte_lm_options o; /* all defaults filled in */
    const wte_corpus *train, *valid;
    uint64_t rows, unknown;
    uint32_t train_end, valid_first, valid_end, train_parts, valid_parts;
    const wte_corpus *valid_text; /* NULL: no validation */
    uint64_t train_words, valid_words, epoch_steps, steps;
    uint64_t shape[WTE__LM_PARTS][2];
    wte__lm_layer layer[WTE__LM_LAYERS];
    uint32_t n_layers;
    uint64_t widest, largest; /* numbers between layers, of a layer's matrix */
    uint64_t parameters, bytes;
} wte__lm_plan;

wte_status wte__lm_plan_make(wte__lm_plan *p, const wte_corpus *train, const wte_corpus *valid,
                             const wte_lm_options *opt, wte_error *err);
/* Work memory of the loss: bits do not depend on it, and more makes no difference in speed. */
#define WTE__LM_LOSS_WORK ((uint64_t)64 << 20)
/* Parameters and bytes of a plan whose shapes are known; E_LIMIT when there are too many. */
wte_status wte__lm_memory(wte__lm_plan *p, wte_error *err);
/* Whether the words of another text have the numbers of those that are trained on. */
wte_status wte__lm_check_text(const wte_corpus *train, const wte_corpus *text, wte_error *err);
const char *wte__lm_name(wte__lm_part part); /* of a tensor in files */
bool wte__lm_is_bias(wte__lm_part part);
wte__lm_part wte__lm_head_of(const wte__lm_plan *p);
/* Whether the gradient of the input table holds the rows alone that the words name. */
bool wte__lm_sparse(const wte__lm_plan *p);
/* Options of the optimizer of a weight. */
wte_optim_options wte__lm_optim(const wte__lm_plan *p, wte__lm_part part);
/* One "key": value a line: what decides over the result. Two runs of the same are the same.
 * Release with wte__strfree. */
wte_status wte__lm_settings(const wte__lm_plan *p, char **out, wte_error *err);

/* A run ------------------------------------------------------------------------------------------
 */

/* How far a run is: what a checkpoint holds beside weights and optimizers. */
typedef struct wte__lm_counts {
    uint64_t step, epoch;
    uint64_t block, cursor; /* blocks begun, examples of the block at hand that are done */
    wte__lm_place place;    /* of the block at hand */
    uint64_t report_words;
    uint64_t valid_step, best_step, worse; /* worse: validations since the best */
} wte__lm_counts;
typedef struct wte__lm_losses {
    double report; /* sum since the last report */
    double told;   /* the mean of that report */
    double window; /* the same for the watch over divergence */
    double first;  /* of the first step */
    double valid, best;
} wte__lm_losses;

struct wte_lm {
    wte__lm_plan plan;
    wte__lm_weight weight[WTE__LM_PARTS];
    float *between[WTE__LM_LAYERS + 1];   /* batch x width: what layers are given and give */
    float *d_between[WTE__LM_LAYERS + 1]; /* the loss by these */
    float *turned[3];                     /* of both sides of a layer, and of its matrix */
    uint32_t *ids, *targets;              /* batch x context, batch */
    uint32_t *order;                      /* of the examples of a block */
    wte__lm_stream stream;
    wte__lm_counts counts;
    wte__lm_losses losses;
    wte__checkpoint *last; /* that holds the best weights */
    char *checkpoint, *settings;
    bool kept; /* there is a checkpoint of this run */
    wte_lm_stop_reason end;
    double started, saved; /* seconds: since when, and the last checkpoint */
    uint64_t run_words;    /* trained on since then */
};

/* The model's own arithmetic. */
wte_status wte__lm_weights_make(wte_lm *lm, wte_error *err);
void wte__lm_weights_free(wte_lm *lm);
/* The n words that precede each of lm->targets, in lm->ids, to the vectors given to the head. */
wte_status wte__lm_forward(wte_lm *lm, uint64_t n, wte_error *err);
/* The sum of the losses of n examples. */
wte_status wte__lm_score(wte_lm *lm, uint64_t n, double *loss, wte_error *err);
/* Forward, backward, clip, and one step of every optimizer at rate lr; *loss = mean. */
wte_status wte__lm_step(wte_lm *lm, uint64_t n, double lr, double *loss, wte_error *err);
/* Rows that sparse gradients have left behind, before a table is read as a whole. */
wte_status wte__lm_settle(wte_lm *lm, wte_error *err);

/* Checkpoints. */
wte_status wte__lm_checkpoint(wte_lm *lm, wte_error *err);
wte_status wte__lm_resume(wte_lm *lm, wte_error *err);
/* The weights of the best validation, when they are not those at hand. */
wte_status wte__lm_take_best(wte_lm *lm, wte_error *err);
#endif
