/* What loss.c and loss_grad.c share. Private to them. */
#ifndef WTE_SRC_HEAD_LOSS_H
#define WTE_SRC_HEAD_LOSS_H
#include "head/logit_stats.h"

/* Hidden vectors whose outer products are summed before they are added to d_table: fixed, so that
 * the sums do not depend on the work memory; blocks are multiples of it. */
#define WTE__LOSS_GROUP 24u

/* Of one hidden vector of the block. */
typedef struct wte__term {
    double loss, lse, log_sum;
    float logit, most; /* of the target; the largest: lse = most + log_sum */
    bool taken, right;
} wte__term;

typedef struct wte__loss_job {
    wte__logit_stats s;
    wte_loss_options how;
    uint64_t taken, unmasked;
    wte__term *terms;
    /* with gradients: */
    double unit;            /* what a change of the loss of one target counts */
    double after;           /* factor of the transform after the product: scale / divisor */
    double before;          /* and before it: hidden_times / hidden_over */
    float *minus, *scale;   /* of each hidden vector: gradient = scale * exp(logit - minus) + ... */
    float *hidden;          /* of the block, as they are multiplied, in f32: WTE__OUTER_COLS columns
                               of all, then the next */
    float *one;             /* hidden vector, with room for whole panels */
    uint8_t *hidden_memory; /* of both */
    uint8_t *scratch;       /* a tile for each thread, when it is not in memory as f32 */
    size_t scratch_bytes;   /* of each */
} wte__loss_job;

bool wte__loss_wants_gradients(const wte_loss_options *how);
/* Work memory besides that of the statistics: once, and for each hidden vector of a block. */
void wte__gradient_bytes(const wte__loss_job *job, uint64_t *fixed, uint64_t *each);
wte_status wte__gradient_open(wte__loss_job *job, wte_error *err);
void wte__gradient_close(wte__loss_job *job);
/* After the survey of a block: its part of all gradients. */
wte_status wte__gradient_block(wte__loss_job *job, wte_error *err);
#endif
