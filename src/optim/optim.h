/* What an optimizer is made of: its settings, its blocks of memory, and how one row moves on.
 *
 * A row is named by its number in the table; what is kept of it by its number among the trainable
 * rows, its rank, so that frozen rows have nothing. */
#ifndef WTE_SRC_TRAIN_OPTIM_H
#define WTE_SRC_TRAIN_OPTIM_H
#include <wte/optim.h>

#include "num/kernels.h"
#include "optim/contributions.h"

/* Maximum steps that a row may have missed: after this many, all rows are synchronised. One pass
 * over the table in 4096 steps is cheap, and the list of steps stays in the second-level cache. */
#define WTE__OPTIM_LOG 4096u

/* Blocks of memory; those that a kind has not are empty. FIRST to BY_COLUMN are its state. */
typedef enum wte__optim_block {
    WTE__OPTIM_FIRST,     /* momentum, first moments: trainable x cols */
    WTE__OPTIM_SECOND,    /* second moments, sums of squares */
    WTE__OPTIM_MOST,      /* amsgrad: the largest second moments so far */
    WTE__OPTIM_MASTER,    /* the rows themselves in f32 */
    WTE__OPTIM_BY_ROW,    /* one number for each trainable row */
    WTE__OPTIM_BY_COLUMN, /* one number for each column */
    WTE__OPTIM_NOTED,     /* u32 for each trainable row: how many noted steps it has taken */
    WTE__OPTIM_MARKS,     /* u8 for each: enum wte__optim_mark */
    WTE__OPTIM_MASK,      /* u64 for each 64 rows: which are trainable */
    WTE__OPTIM_RANKS,     /* u64 for each 64 rows: how many trainable ones come before */
    WTE__OPTIM_STEPS,     /* the noted steps */
    WTE__OPTIM_SCRATCH,   /* of each thread */
    WTE__OPTIM_BLOCKS
} wte__optim_block;

enum wte__optim_mark {
    WTE__OPTIM_CHANGED = WTE__ROW_CHANGED, /* kernels set it */
    WTE__OPTIM_LEFT_OUT = 2                /* of the step that is being taken */
};

/* Set in a row's NOTED while it is in the list of those to be brought up to date. */
#define WTE__OPTIM_LISTED 0x80000000u

/* The sizes that the blocks follow from. */
typedef struct wte__optim_shape {
    uint64_t rows, cols, trainable;
    wte_dtype dtype;
    uint32_t threads;
} wte__optim_shape;

struct wte_optim {
    wte_optim_options opt; /* as given, defaults put in; `trainable` is not kept */
    wte__optim_shape shape;
    char *data; /* of the table */
    size_t row_bytes;
    bool dense; /* rows without a gradient move on, too */
    bool masked, narrow;
    void *block[WTE__OPTIM_BLOCKS];
    uint64_t bytes[WTE__OPTIM_BLOCKS];
    uint64_t steps;
    /* of the steps that not all rows have taken */
    uint32_t noted;
    uint32_t decay_only_from; /* from here on no step was larger than the one before */
    float last_lr;
    /* arguments of kernels that hold for every row */
    wte__update rule;
    const wte__kernels *kernels;
    void (*step)(const wte__update *job);
    bool (*idle)(const wte__update *job, size_t n, size_t decay_only_from);
    void (*widen)(const void *src, void *dst, size_t n);
    void (*round)(const void *src, void *dst, size_t n);
    void (*chance)(const float *src, void *dst, size_t n, uint64_t key);
    wte__contributions parts; /* of the last fused step: their memory is kept */
    uint64_t *listed;         /* rows, for wte_optim_sync_rows */
    size_t listed_cap;
};

/* Settings: defaults put in, and refused where they make no sense. */
wte_status wte__optim_settings(const wte_optim_options *given, wte_optim_options *out,
                               wte_error *err);
/* Whether rows without a gradient change under these settings. */
bool wte__optim_is_dense(const wte_optim_options *opt);
/* Bytes of each block; E_LIMIT when they are more than the settings allow. */
wte_status wte__optim_plan(const wte_optim_options *opt, const wte__optim_shape *shape,
                           uint64_t bytes[WTE__OPTIM_BLOCKS], wte_error *err);
/* The blocks of a plan, zeroed. On failure none is left. */
wte_status wte__optim_blocks(const wte_allocator *a, const uint64_t bytes[WTE__OPTIM_BLOCKS],
                             void *block[WTE__OPTIM_BLOCKS], wte_error *err);
void wte__optim_release(const wte_allocator *a, const uint64_t bytes[WTE__OPTIM_BLOCKS],
                        void *block[WTE__OPTIM_BLOCKS]);
/* What state begins with, from rank `first` on: accumulators, and the master copy of the table. */
void wte__optim_begin(wte_optim *o, uint64_t first);
/* MASK and RANKS, from a bit for each row; NULL: all are trainable. */
void wte__optim_rank(wte_optim *o, const uint8_t *trainable);

/* Rows ---------------------------------------------------------------------------------------- */

static inline bool wte__optim_trains(const wte_optim *o, uint64_t row)
{
    const uint64_t *mask = o->block[WTE__OPTIM_MASK];
    return !o->masked || mask[row / 64] >> row % 64 & 1;
}
/* The rank of a trainable row; of a frozen one that of the next. */
static inline uint64_t wte__optim_rank_of(const wte_optim *o, uint64_t row)
{
    if (!o->masked) return row;
    const uint64_t *mask = o->block[WTE__OPTIM_MASK], *ranks = o->block[WTE__OPTIM_RANKS];
    const uint64_t below = mask[row / 64] & ((UINT64_C(1) << row % 64) - 1);
    return ranks[row / 64] + (uint64_t)__builtin_popcountll(below);
}
static inline float *wte__optim_floats(const wte_optim *o, wte__optim_block block)
{
    return o->block[block];
}
/* Row `rank` of a block of trainable x cols; NULL where the block is empty. */
static inline float *wte__optim_at(const wte_optim *o, wte__optim_block block, uint64_t rank)
{
    return o->block[block] ? (float *)o->block[block] + rank * o->shape.cols : NULL;
}

/* Rows that a thread takes a step with at a time; more of them are known, to be prefetched. */
#define WTE__OPTIM_GROUP 16u
#define WTE__OPTIM_AHEAD 16u

/* Rows whose gradients a thread sums at a time: as many as stay in its own caches. */
static inline uint64_t wte__optim_room(uint64_t cols)
{
    const uint64_t rows = cols ? 4096 / cols : WTE__OPTIM_GROUP;
    return rows < 1 ? 1 : rows < WTE__OPTIM_GROUP ? rows : WTE__OPTIM_GROUP;
}

/* What a thread has for itself. */
typedef struct wte__optim_scratch {
    wte__update job; /* the optimizer's rule, to be filled in */
    wte__optim_row place[WTE__OPTIM_GROUP + WTE__OPTIM_AHEAD];
    float *g;     /* wte__optim_room rows */
    float *p;     /* one row */
    void *narrow; /* one row in the table's type */
} wte__optim_scratch;
/* Fills one in, whose job refers to its places: it must stay where it is. */
void wte__optim_scratch_init(const wte_optim *o, uint32_t slot, wte__optim_scratch *scratch);

/* The factors of step number t (from 1); `decays`: those of a row that weight decay reaches. */
wte__factors wte__optim_factors(const wte_optim *o, uint64_t t, bool decays);
/* Addresses of a row and its state; p is NULL when the row must be widened. */
wte__optim_row wte__optim_row_of(const wte_optim *o, uint64_t row, uint64_t rank);
/* The first row of the scratch's job takes the recorded steps that it has missed; true when it has
 * changed. */
bool wte__optim_catch_up(const wte_optim *o, uint64_t row, uint64_t rank,
                         wte__optim_scratch *scratch);
/* One row takes the recorded steps that it has missed and then, unless g is NULL, the step of `by`.
 * False when the gradient contains NaN or Inf: the row is skipped. */
bool wte__optim_move(wte_optim *o, uint64_t row, uint64_t rank, const float *g,
                     const wte__factors *by, wte__optim_scratch *scratch);
/* Note a step that not all rows have taken; there is room for it. */
void wte__optim_note(wte_optim *o, const wte__factors *by);

/* Gradients by row: already summed, or contributions that are summed here. */
typedef struct wte__optim_source {
    uint64_t n;
    const uint64_t *rows;            /* n ascending ones; NULL: all */
    const float *values;             /* n x cols; NULL: */
    const wte__contributions *parts; /* these */
} wte__optim_source;

/* Rows whose gradient was not finite. */
typedef struct wte__optim_bad {
    uint64_t count, first;
} wte__optim_bad;
/* A step of Adafactor by a gradient of all rows. */
void wte__optim_adafactor(wte_optim *o, const float *g, wte__optim_bad *bad);
#endif
