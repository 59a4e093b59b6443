/* A pass over the logits, tile by tile, without holding them: what logits, top k, samples and the
 * loss are made from. Private to this room. */
#ifndef WTE_SRC_HEAD_HEAD_H
#define WTE_SRC_HEAD_HEAD_H
#include <wte/head.h>

#include "base/alloc.h"
#include "head/progress.h"
#include "num/kernels.h"
#include "num/overlap.h"

/* Logits of consecutive rows for consecutive hidden vectors, transformed but not masked (see
 * wte__head_masks). Valid, and writable, while `take` runs. */
typedef struct wte__tile {
    uint64_t number; /* of the tile of rows, from 0; row = number * tile_rows of the sweep */
    uint64_t row, hidden;
    uint32_t n_rows, n_hidden;
    float *logits; /* of row r and hidden h: logits[(h - hidden) * stride + (r - row)] */
    size_t stride;
} wte__tile;

typedef struct wte__logit_tiles {
    const wte_row_source *table;
    const wte_hidden *hidden;
    wte_head_options o; /* as resolved by wte__head_check */
    /* Called once for each tile of rows and each block of hidden vectors, from any thread, at the
     * same time for different tiles. Which tiles there are depends on the table and on hidden.dim
     * alone, never on the threads: partial results that are kept by tile number and joined in that
     * order have the same bits for any number of threads. NULL = logits are what is wanted: */
    wte_status (*take)(void *ctx, const wte__tile *tile, wte_error *err);
    void *ctx;
    bool keeps;  /* with take: the logits of all tiles stay, in */
    float *keep; /* tile t from t * tile rows * hidden->n on, row after row of its hidden vectors */
    float *logits; /* with take == NULL: where logit (h, r) goes, stride floats apart */
    size_t stride;
    /* Rows instead of all of the table, checked (take's tiles count within this list); NULL = all.
     */
    const wte_ids *chosen;
    /* How many hidden vectors the whole has that these are a part of; 0 = these are all. The fast
     * precision chooses by that how to round, so that parts have the bits of the whole. */
    uint64_t whole;
    wte__progress_state *told; /* NULL, or progress reported after each round of tiles */
} wte__logit_tiles;

/* Row of the table that is number i of the sweep. */
static inline uint64_t wte__logit_tiles_row(const wte__logit_tiles *s, uint64_t i)
{
    return s->chosen ? (uint64_t)wte_ids_at(*s->chosen, i) : i;
}

#define WTE__TILE_ROWS_MOST 4092u /* of a tile */
/* Rows of a tile, and tiles, of a table of this many columns and rows. */
uint32_t wte__tile_rows(uint64_t dim);
uint64_t wte__tiles(uint64_t rows, uint64_t dim);

/* Copies opt, checks table, hidden and options against each other. */
wte_status wte__head_check(const wte_row_source *table, const wte_hidden *hidden,
                           const wte_head_options *opt, wte_head_options *out, wte_error *err);
/* What is written must not overlap table, hidden vectors and bias. */
wte_status wte__head_no_overlap(const wte__logit_tiles *s, wte__piece written, wte_error *err);
/* Whether row r takes no part. */
static inline bool wte__head_masks(const wte_head_options *o, uint64_t row)
{
    return (o->n_valid && row >= o->n_valid) || (o->valid && !(o->valid[row / 8] >> row % 8 & 1));
}

/* Hidden vector i in f32, with what the chain does before the product. */
wte_status wte__hidden_widen(const wte_hidden *h, const wte_logit_transform *c, uint64_t i,
                             float *out, wte_error *err);

/* Work memory that a sweep needs at least, and beyond which more does not help. What its caller
 * allocates besides is the caller's to add, and to take off work_bytes before. */
void wte__logit_tiles_need(const wte__logit_tiles *s, uint64_t *least, uint64_t *best);
wte_status wte__logit_tiles_run(const wte__logit_tiles *s, wte_error *err);
#endif
