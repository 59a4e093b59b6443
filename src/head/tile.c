/* A tile of rows times the hidden vectors of a block: rows are used in place, or read, converted
 * and rounded into the slot of the thread, some at a time, and multiplied there. */
#include <string.h>

#include "base/error.h"
#include "head/tile.h"
#include "num/source.h"

/* Up to this many vectors, rows that are decoded are multiplied while they are in the first-level
 * cache; with more of them a whole tile is decoded, which the second-level cache holds. */
#define NEAR_VECTORS 8u
/* Rows at once there, in f32: half of a first-level cache; four at least, else a tile is better. */
#define NEAR_BYTES ((uint64_t)24 << 10)
#define NEAR_COLS  (NEAR_BYTES / sizeof(float) / 4)
/* Vectors up to which reading the table bounds the time of an exact product, so that rounding wins
 * nothing; and from which on vectors are interleaved. Measured: docs/kernels.md, "Fast dots". */
#define FEW_VECTORS  4u
#define MANY_VECTORS 24u
/* Rows of f32 and f16 are rounded anew for every block of vectors: that pays from here on. */
#define ROUND_VECTORS 16u
/* Vectors up to which blocks are multiplied as they are stored. */
#define BYTES_VECTORS 64u
/* Ids of one call of read_rows, on the stack. */
#define IDS_AT_ONCE 256u
/* The same, decoded in registers, exactly. */
#define BLOCKS_VECTORS 2u

static uint64_t whole_of(const wte__logit_tiles *s)
{
    return s->whole ? s->whole : s->hidden->n;
}

static bool has_integers(const wte_row_source *t)
{
    switch (t->packing) {
    case WTE_BLOCK_Q8_0:
    case WTE_BLOCK_Q4_0:
    case WTE_BLOCK_Q4_K:
    case WTE_BLOCK_Q6_K: return true;
    default: return false;
    }
}

/* Kernels that the plain version alone serves are slower than decoding, or exact products. */
static wte__form choose_form(const wte__logit_tiles *s)
{
    const wte_row_source *t = s->table;
    const uint64_t n = whole_of(s);
    const wte__kernels *k = wte__kernels_get(), *plain = &wte__kernels_scalar;
    const bool blocks = has_integers(t);
    const bool fast = s->o.precision == WTE_PRECISION_FAST && k->fast_few != plain->fast_few;
    const bool stored = !t->packing && (t->dtype == WTE_F32 || t->dtype == WTE_F16);
    if (fast && n <= BYTES_VECTORS && blocks) return WTE__FORM_BYTES;
    if (n <= BLOCKS_VECTORS && blocks && k->dots_q8_0 != plain->dots_q8_0) return WTE__FORM_BLOCKS;
    if (!fast || t->cols % 2 || n < (stored ? ROUND_VECTORS : FEW_VECTORS)) return WTE__FORM_EXACT;
    return n < MANY_VECTORS ? WTE__FORM_FEW : WTE__FORM_MANY;
}

static bool as_stored(const wte__tile_pass *p)
{
    return p->form == WTE__FORM_BLOCKS || p->form == WTE__FORM_BYTES;
}

/* A source with both data and read_rows is a mapped file: it is read in blocks, not through the
 * map. */
static bool in_memory(const wte__logit_tiles *s)
{
    return s->table->data && !s->table->read_rows && !s->chosen;
}

static void choose_way(wte__tile_pass *p)
{
    const wte_row_source *t = p->s->table;
    const bool native = t->dtype == WTE_F32 || t->dtype == WTE_F16 || t->dtype == WTE_BF16;
    p->in_memory = in_memory(p->s);
    p->type = native ? t->dtype : WTE_F32;
    if (as_stored(p)) {
        p->way = t->packed && !p->s->chosen ? WTE__WAY_IN_PLACE : WTE__WAY_READ;
        return;
    }
    if (p->form != WTE__FORM_EXACT) p->type = WTE_BF16;
    if (t->dtype == p->type)
        p->way = p->in_memory ? WTE__WAY_IN_PLACE : WTE__WAY_READ;
    else
        p->way = p->form == WTE__FORM_EXACT ? WTE__WAY_WIDEN : WTE__WAY_ROUND;
}

static uint32_t rows_of(uint64_t bytes, uint64_t dim, uint32_t most)
{
    const uint64_t fits = dim ? bytes / (dim * sizeof(float)) / 4 * 4 : most;
    return fits < 4 ? (most < 4 ? most : 4) : fits < most ? (uint32_t)fits : most;
}

void wte__tile_pass_choose(wte__tile_pass *p)
{
    const wte__logit_tiles *s = p->s;
    const wte_row_source *t = s->table;
    const uint32_t tile = wte__tile_rows(t->cols);
    p->rows = s->chosen ? s->chosen->count : t->rows;
    p->threads = wte_pool_n_threads(s->o.pool);
    p->form = choose_form(s);
    choose_way(p);
    /* rows that are computed, not read, can be had in any number */
    const bool decoded = p->way > WTE__WAY_READ || (t->packing && p->way == WTE__WAY_READ);
    const bool near = decoded && whole_of(s) <= NEAR_VECTORS && t->cols <= NEAR_COLS &&
                      !as_stored(p) && (p->in_memory || t->packed);
    p->chunk = near ? rows_of(NEAR_BYTES, t->cols, tile) : tile;
}

static uint64_t stored_bytes(const wte__tile_pass *p)
{
    const wte_row_source *t = p->s->table;
    return as_stored(p) ? wte_packed_bytes(t->packing, t->cols)
                        : wte__times(t->cols, wte_dtype_bytes(t->dtype));
}

uint64_t wte__slot_plan(wte__tile_pass *p, uint64_t block)
{
    const uint64_t dim = p->s->table->cols, tile = wte__tile_rows(dim);
    const uint64_t wide = wte__times(dim, sizeof(float)), narrow = wte__times(dim, 2);
    const bool reads = p->way == WTE__WAY_READ || (p->way > WTE__WAY_READ && !p->in_memory);
    uint64_t at = reads ? wte__times(p->chunk, stored_bytes(p)) : 0;
    p->wide_at = (size_t)(at = wte__aligned(at));
    if (p->way == WTE__WAY_ROUND && p->s->table->dtype != WTE_F32) at = wte__plus(at, wide);
    p->chunk_at = (size_t)(at = wte__aligned(at));
    if (p->way == WTE__WAY_WIDEN) at = wte__plus(at, wte__times(p->chunk, wide));
    if (p->way == WTE__WAY_ROUND) at = wte__plus(at, wte__times(p->chunk, narrow));
    p->bias_at = (size_t)(at = wte__aligned(at));
    if (p->s->o.bias) at = wte__plus(at, tile * sizeof(float));
    p->logits_at = (size_t)(at = wte__aligned(at));
    if (p->s->take && !p->s->keeps) at = wte__plus(at, wte__times(block, tile * sizeof(float)));
    at = wte__plus(at, 4095) / 4096 * 4096; /* threads do not share pages */
    p->slot_bytes = (size_t)at;
    return at;
}

/* Chosen rows, as they are stored, to the slot. */
static wte_status read_chosen(const wte__tile_pass *p, uint64_t row, uint32_t n, uint8_t *slot,
                              wte_error *err)
{
    const wte_row_source *t = p->s->table;
    const size_t tight = (size_t)stored_bytes(p);
    uint64_t rows[IDS_AT_ONCE];
    for (uint32_t done = 0, now; done < n; done += now, slot += now * tight) {
        now = n - done < IDS_AT_ONCE ? n - done : IDS_AT_ONCE;
        for (uint32_t i = 0; i < now; i++) rows[i] = wte__logit_tiles_row(p->s, row + done + i);
        WTE_TRY(wte__source_rows(t, rows, now, slot, err));
    }
    return WTE_OK;
}

/* Stored rows, as they are, `stride` apart. */
static wte_status take_rows(const wte__tile_pass *p, uint64_t row, uint32_t n, uint8_t *slot,
                            const uint8_t **from, size_t *stride, wte_error *err)
{
    const wte__logit_tiles *s = p->s;
    const wte_row_source *t = s->table;
    const bool packed = as_stored(p);
    const uint8_t *data = packed ? t->packed : t->data;
    const size_t apart = (size_t)(packed ? t->packed_row_bytes : t->row_bytes);
    const size_t tight = (size_t)stored_bytes(p);
    *from = slot;
    *stride = tight;
    if (!s->chosen && (packed ? t->packed != NULL : p->in_memory)) {
        *from = data + row * apart;
        *stride = apart;
        return WTE_OK;
    }
    if (!s->chosen)
        return packed ? wte__source_packed(t, row, n, slot, err)
                      : wte_row_source_read_block(t, row, n, slot, err);
    if (!packed && t->read_rows) return read_chosen(p, row, n, slot, err);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t one = wte__logit_tiles_row(s, row + i);
        if (packed && !data)
            WTE_TRY(wte__source_packed(t, one, 1, slot + i * tight, err));
        else
            memcpy(slot + i * tight, data + one * apart, tight);
    }
    return WTE_OK;
}

/* n rows to the chunk, in the kernel's type. */
static wte_status convert_rows(const wte__tile_pass *p, const uint8_t *from, size_t stride,
                               uint32_t n, uint8_t *slot, wte_error *err)
{
    const wte_row_source *t = p->s->table;
    const size_t dim = (size_t)t->cols, size = p->way == WTE__WAY_WIDEN ? 4 : 2;
    const wte__kernels *k = wte__kernels_get();
    float *spare = (float *)(void *)(slot + p->wide_at);
    for (uint32_t r = 0; r < n; r++) {
        uint8_t *to = slot + p->chunk_at + r * dim * size;
        if (p->way == WTE__WAY_WIDEN) {
            WTE_TRY(wte_convert(t->dtype, from + r * stride, WTE_F32, to, dim, NULL, err));
            continue;
        }
        const void *wide = from + r * stride;
        if (t->dtype != WTE_F32) {
            WTE_TRY(wte_convert(t->dtype, wide, WTE_F32, spare, dim, NULL, err));
            wide = spare;
        }
        k->fast_round(wide, to, dim);
    }
    return WTE_OK;
}

/* Rows and output of a product. */
typedef struct product {
    const uint8_t *w;
    size_t w_stride;
    uint32_t n;
    float *out;
    size_t stride;
    size_t more; /* rows that follow these in memory and are used next */
} product;

static void multiply_exact(const wte__tile_pass *p, const product *x)
{
    const wte__kernels *k = wte__kernels_get();
    const wte__dots job = {
        x->w,   x->w_stride, x->n,   p->h, p->h_stride, (size_t)p->n, (size_t)p->s->table->cols,
        x->out, x->stride,   x->more
    };
    const uint32_t packing = p->form == WTE__FORM_BLOCKS ? p->s->table->packing : 0;
    if (packing == WTE_BLOCK_Q8_0)
        k->dots_q8_0(&job);
    else if (packing == WTE_BLOCK_Q4_0)
        k->dots_q4_0(&job);
    else if (packing == WTE_BLOCK_Q4_K)
        k->dots_q4_k(&job);
    else if (packing == WTE_BLOCK_Q6_K)
        k->dots_q6_k(&job);
    else if (p->type == WTE_F32)
        k->dots_f32(&job);
    else
        (p->type == WTE_F16 ? k->dots_f16 : k->dots_bf16)(&job);
}

static void multiply_pairs(const wte__tile_pass *p, const product *x)
{
    const wte__kernels *k = wte__kernels_get();
    const wte__pairs job = { x->w,         x->w_stride,
                             x->n,         (const uint16_t *)(const void *)(p->work + p->hidden_at),
                             (size_t)p->n, (size_t)p->s->table->cols,
                             x->out,       x->stride,
                             x->more };
    (p->form == WTE__FORM_MANY ? k->fast_many : k->fast_few)(&job);
}

static void multiply_bytes(const wte__tile_pass *p, const product *x)
{
    const wte__kernels *k = wte__kernels_get();
    const void *hidden = p->work + p->hidden_at;
    const wte__int8_dots job = { x->w,   x->w_stride,  x->n,   (size_t)p->s->table->cols,
                                 hidden, (size_t)p->n, x->out, x->stride,
                                 x->more };
    switch (p->s->table->packing) {
    case WTE_BLOCK_Q8_0: k->fast_q8_0(&job); break;
    case WTE_BLOCK_Q4_0: k->fast_q4_0(&job); break;
    case WTE_BLOCK_Q4_K: k->fast_q4_k(&job); break;
    default: k->fast_q6_k(&job);
    }
}

wte_status wte__tile_logits(const wte__tile_pass *p, uint64_t row, uint32_t n, uint8_t *slot,
                            float *out, size_t stride, wte_error *err)
{
    const size_t dim = (size_t)p->s->table->cols;
    for (uint32_t at = 0, now; at < n; at += now) {
        const uint8_t *w;
        size_t w_stride;
        now = n - at < p->chunk ? n - at : p->chunk;
        WTE_TRY(take_rows(p, row + at, now, slot, &w, &w_stride, err));
        if (p->way > WTE__WAY_READ) {
            WTE_TRY(convert_rows(p, w, w_stride, now, slot, err));
            w = slot + p->chunk_at;
            w_stride = dim * (p->way == WTE__WAY_WIDEN ? 4 : 2);
        }
        const uint64_t behind = p->way == WTE__WAY_IN_PLACE ? p->rows - row - at - now : 0;
        const product x = { w, w_stride, now, out + at, stride, (size_t)behind };
        if (wte__form_is_exact(p->form))
            multiply_exact(p, &x);
        else if (p->form == WTE__FORM_BYTES)
            multiply_bytes(p, &x);
        else
            multiply_pairs(p, &x);
    }
    return WTE_OK;
}
