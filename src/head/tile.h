/* One pass of a sweep: how hidden vectors and rows are prepared for a kernel, and the work memory
 * of both. Private to sweep.c, hidden.c, tile.c and chain.c. */
#ifndef WTE_SRC_HEAD_TILE_H
#define WTE_SRC_HEAD_TILE_H
#include <wte/block.h>

#include "base/checked.h"
#include "head/head.h"

/* What is multiplied with what. */
typedef enum wte__form {
    WTE__FORM_EXACT,  /* hidden f32; rows f32, f16 or bf16 */
    WTE__FORM_BLOCKS, /* hidden f32; rows of blocks as they are stored */
    WTE__FORM_FEW,    /* both bf16 */
    WTE__FORM_MANY,   /* the same, hidden interleaved */
    WTE__FORM_BYTES   /* hidden integers; rows of blocks as they are stored */
} wte__form;
static inline bool wte__form_is_exact(wte__form form)
{
    return form <= WTE__FORM_BLOCKS;
}

/* How rows come to be in the kernel's type. */
typedef enum wte__way {
    WTE__WAY_IN_PLACE, /* rows are in memory in this type */
    WTE__WAY_READ,     /* they are read in it */
    WTE__WAY_WIDEN,    /* rows are read, or in memory, and are converted to f32 */
    WTE__WAY_ROUND     /* the same, and rounded to bf16 */
} wte__way;

typedef struct wte__tile_pass {
    const wte__logit_tiles *s;
    uint64_t rows; /* of the table, or of the list */
    wte__form form;
    wte__way way;
    wte_dtype type; /* the kernel's rows: F32, F16 or BF16; not of blocks */
    bool in_memory; /* the rows to convert are in memory */
    uint32_t chunk; /* rows that are prepared and multiplied at once */
    uint32_t threads;
    /* Work memory: a slot for each thread, with what is read, a row in f32, a chunk, bias and
     * logits; then the hidden vectors of a block. */
    uint8_t *work;
    size_t slot_bytes, wide_at, chunk_at, bias_at, logits_at;
    size_t hidden_at, hidden_bytes;
    uint64_t block; /* hidden vectors at most */
    /* the block at hand */
    uint64_t first, n;
    const float *h; /* of exact forms */
    size_t h_stride;
} wte__tile_pass;

/* Sizes that are too large to be counted are UINT64_MAX, which no budget allows. */
static inline uint64_t wte__times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return wte__mul_u64(a, b, &product) ? product : UINT64_MAX;
}
static inline uint64_t wte__plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return wte__add_u64(a, b, &sum) ? sum : UINT64_MAX;
}
/* The next multiple of a line of the caches. */
static inline uint64_t wte__aligned(uint64_t at)
{
    return wte__plus(at, 63) / 64 * 64;
}

/* Form, way and sizes that do not depend on the block. */
void wte__tile_pass_choose(wte__tile_pass *p);
/* Bytes of one slot with blocks of `block` hidden vectors; sets the places in it. */
uint64_t wte__slot_plan(wte__tile_pass *p, uint64_t block);
/* Prepares and multiplies n rows from `row` on; out as in wte__dots. */
wte_status wte__tile_logits(const wte__tile_pass *p, uint64_t row, uint32_t n, uint8_t *slot,
                            float *out, size_t stride, wte_error *err);

/* Bytes that `block` hidden vectors take in work memory. */
uint64_t wte__hidden_plan(const wte__tile_pass *p, uint64_t block);
/* Prepares hidden vectors p->first to p->first + p->n - 1. */
wte_status wte__hidden_load(wte__tile_pass *p, wte_error *err);

/* Whether anything comes after the product; and that, for n rows from `row` on and all vectors of
 * the block. */
bool wte__logit_transform_any(const wte_head_options *o);
wte_status wte__logit_transform_run(const wte__tile_pass *p, uint64_t row, uint32_t n,
                                    uint8_t *slot, float *out, size_t stride, wte_error *err);
#endif
