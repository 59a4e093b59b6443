/* One pass over the logits of a block of hidden vectors, and what is kept of it: sums of
 * exponentials, the largest logits, the logit of a target. What top k, log-probabilities, samples
 * and the loss are made from. Private to this room.
 *
 * Whatever is kept is kept by tile of rows and joined in their order, or does not depend on an
 * order: the results have the same bits for any number of threads and any block. */
#ifndef WTE_SRC_HEAD_SURVEY_H
#define WTE_SRC_HEAD_SURVEY_H
#include <stdatomic.h>

#include "head/head.h"
#include "head/rank.h"

/* Hidden vectors of a block at most: more at once make no difference. */
#define WTE__SURVEY_MOST ((uint64_t)1024)

/* Of one hidden vector. */
typedef struct wte__found {
    double lse;     /* of logits * times; NaN when not_finite, -infinity when no row takes part */
    double log_sum; /* lse = most * times + log_sum: what lse itself may be too large to hold */
    double all;     /* sum of the logits of rows that take part */
    float most;     /* largest logit, not multiplied */
    float masked;
    uint32_t not_finite;
    float target;         /* logit of the target */
    bool right;           /* which is the largest, equal ones by id */
    const uint64_t *list; /* the k first by rank, in order; while `emit` runs */
    uint32_t n_list;
} wte__found;

typedef struct wte__logit_stats {
    /* set by the caller */
    wte__logit_tiles sweep; /* table, hidden and o; the rest is set here */
    uint32_t k;             /* largest logits that are wanted */
    float times;            /* 1 / temperature */
    bool want_all;
    uint64_t step;   /* blocks are multiples of this, when there are several; 0 = any */
    wte_ids targets; /* data NULL = none; else one for each hidden vector, checked */
    int64_t ignore;  /* a target that takes no part */
    /* of all hidden vectors of the block, from any thread */
    void (*emit)(void *ctx, uint64_t hidden, const wte__found *found);
    void *ctx;
    wte__progress_state told; /* of one pass over the logits, unless the caller has more to do */

    /* set here */
    wte_hidden part; /* the block */
    uint64_t first, block, tiles, k_kept;
    uint32_t tile_rows, room; /* keys for each hidden vector */
    bool can_mask;
    uint8_t *memory;
    size_t bytes;
    /* tiles x part.n */
    float *most, *sum, *masked_most, *masked_sum, *all;
    /* part.n of them */
    struct wte__topk_heap *best;
    _Atomic(uint64_t) *last; /* keys that are not above it are not among the largest */
    uint64_t *keys;
    uint64_t *target;
    float *target_logit;
    _Atomic(uint32_t) *not_finite;
    uint8_t *target_leads; /* no row before it in its tile has so large a logit */
} wte__logit_stats;

/* Bytes for each hidden vector of a block. */
uint64_t wte__logit_stats_bytes(wte__logit_stats *s);
/* Chooses the largest block that work_bytes allows, after the `fixed` bytes and the `each` bytes of
 * a hidden vector that the caller allocates itself, and allocates. */
wte_status wte__logit_stats_open(wte__logit_stats *s, uint64_t fixed, uint64_t each,
                                 wte_error *err);
/* Hidden vectors first to first + n - 1, n <= block. */
wte_status wte__logit_stats_run(wte__logit_stats *s, uint64_t first, uint64_t n, wte_error *err);
/* All hidden vectors, block by block; opens and closes. */
wte_status wte__logit_stats_all(wte__logit_stats *s, wte_error *err);
void wte__logit_stats_close(wte__logit_stats *s);

/* What wte__logit_stats_open needs at least, and with which more does not help. */
void wte__logit_stats_sizes(wte__logit_stats *s, uint64_t fixed, uint64_t each, uint64_t *least,
                            uint64_t *best);
/* What any function of this room that works by surveys needs. */
void wte__logit_stats_need(const wte_row_source *table, const wte_hidden *hidden,
                           const wte_head_options *o, uint64_t *least, uint64_t *best);
/* Bytes of wte_head_sample besides its statistics, and for each hidden vector (sample.c). */
#define WTE__SAMPLE_EACH 40u
uint64_t wte__sample_bytes(const wte__logit_tiles *s);

/* Checks that there is a target for each hidden vector and that all are rows, or `ignore`. */
wte_status wte__targets_check(const wte_row_source *table, const wte_hidden *hidden,
                              wte_ids targets, const int64_t *ignore, wte_error *err);
#endif
