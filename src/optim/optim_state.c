/* What an optimizer remembers, as named rows to be saved and loaded; and its growth with a table.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "optim/optim.h"

/* A part of the state, with its name in this kind (PyTorch's, where it has one). */
typedef struct state_part {
    const char *name;
    wte__optim_block block;
} state_part;

#define STEPS WTE__OPTIM_BLOCKS /* the entry that is not a state block */

static const char *name_of(const wte_optim *o, wte__optim_block block)
{
    const wte_optim_kind kind = o->opt.kind;
    switch (block) {
    case WTE__OPTIM_FIRST: return kind == WTE_OPTIM_SGD ? "momentum_buffer" : "exp_avg";
    case WTE__OPTIM_SECOND: return kind == WTE_OPTIM_ADAGRAD ? "sum" : "exp_avg_sq";
    case WTE__OPTIM_MOST: return "max_exp_avg_sq";
    case WTE__OPTIM_MASTER: return "master";
    case WTE__OPTIM_BY_ROW: return kind == WTE_OPTIM_ADAFACTOR ? "exp_avg_sq_row" : "sum";
    default: return "exp_avg_sq_col";
    }
}

/* Part number i, or false past the last one. */
static bool part_at(const wte_optim *o, uint32_t i, state_part *out)
{
    *out = (state_part){ "steps", STEPS };
    for (int b = WTE__OPTIM_FIRST; i > 0; b++) {
        if (b > WTE__OPTIM_BY_COLUMN) return false;
        if (!o->block[b]) continue;
        *out = (state_part){ name_of(o, (wte__optim_block)b), (wte__optim_block)b };
        i--;
    }
    return true;
}

static wte_row_source rows_of(const wte_optim *o, wte__optim_block block)
{
    if (block == STEPS)
        return (wte_row_source){ 1, 1, WTE_U64, .data = &o->steps, .row_bytes = sizeof o->steps };
    wte_row_source rows = { .rows = o->shape.trainable, .cols = o->shape.cols, .dtype = WTE_F32 };
    rows.data = o->block[block];
    if (block == WTE__OPTIM_BY_ROW) rows.cols = 1;
    if (block == WTE__OPTIM_BY_COLUMN) rows.rows = 1;
    rows.row_bytes = rows.cols * sizeof(float);
    return rows;
}

static wte_status check_finished(const wte_optim *o, wte_error *err)
{
    if (o->noted == 0) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                     "optimizer: rows have missed up to %" PRIu32
                     " steps; wte_optim_sync_all applies them",
                     o->noted);
}

wte_status wte_optim_state(const wte_optim *o, uint32_t i, const char **name, wte_row_source *rows,
                           wte_error *err)
{
    state_part part;
    if (name) *name = NULL;
    WTE_TRY(wte__need_out(rows, sizeof *rows, "wte_optim_state: rows", err));
    if (!name) return wte__need(NULL, "wte_optim_state: name", err);
    WTE_TRY(wte__need(o, "wte_optim_state: o", err));
    WTE_TRY(check_finished(o, err));
    if (!part_at(o, i, &part))
        return wte__fail(err, WTE_E_RANGE, i, "optimizer: its state has no part %" PRIu32, i);
    *name = part.name;
    *rows = rows_of(o, part.block);
    return WTE_OK;
}

static wte_status find_part(const wte_optim *o, const char *name, state_part *part, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    for (uint32_t i = 0; part_at(o, i, part); i++)
        if (strcmp(part->name, name) == 0) return WTE_OK;
    return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                     "optimizer: '%s' is not in the state of this kind",
                     wte__show(shown, name, strlen(name)));
}

/* Maximum values that are validated together, unless a row has more. */
#define LOOKED_AT UINT64_C(16384)

static bool is_square(wte__optim_block block)
{
    return block != WTE__OPTIM_FIRST && block != WTE__OPTIM_MASTER;
}

/* Sums of squares are never negative, and nothing is NaN or infinite. */
static wte_status check_values(const state_part *part, const float *x, uint64_t n, uint64_t first,
                               uint64_t cols, wte_error *err)
{
    const bool square = is_square(part->block);
    for (uint64_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && !(square && x[i] < 0)) continue;
        return wte__fail(err, WTE_E_RANGE, first + i / cols,
                         "optimizer: '%s' is %g in row %" PRIu64 ", column %" PRIu64
                         ", but must be %s",
                         part->name, (double)x[i], first + i / cols, i % cols,
                         square ? "finite, and 0 or more" : "finite");
    }
    return WTE_OK;
}

static wte_status check_steps(const wte_row_source *rows, uint64_t *steps, wte_error *err)
{
    WTE_TRY(wte_row_source_read_block(rows, 0, 1, steps, err));
    if (*steps <= WTE_LIMIT_OPTIM_STEPS) return WTE_OK;
    return wte__fail(err, WTE_E_RANGE, 0,
                     "optimizer: 'steps' is %" PRIu64 ", but at most %" PRIu64
                     " can be counted; a negative number?",
                     *steps, (uint64_t)WTE_LIMIT_OPTIM_STEPS);
}

/* All numbers are looked at before the first is taken, some rows at a time. */
static wte_status check_block(const wte_optim *o, const state_part *part,
                              const wte_row_source *rows, wte_error *err)
{
    if (rows->rows == 0 || rows->cols == 0) return WTE_OK;
    const wte_allocator *a = o->opt.allocator;
    const uint64_t at_once = rows->cols < LOOKED_AT ? LOOKED_AT / rows->cols : 1;
    const uint64_t most = at_once < rows->rows ? at_once : rows->rows;
    float *x = wte__alloc_array(a, most * rows->cols, sizeof *x);
    if (!x) return wte__no_memory(err, most * rows->cols * sizeof *x, "the state of an optimizer");
    wte_status status = WTE_OK;
    for (uint64_t r = 0; r < rows->rows && status == WTE_OK; r += most) {
        const uint64_t n = rows->rows - r < most ? rows->rows - r : most;
        status = wte_row_source_read_block(rows, r, (size_t)n, x, err);
        if (status == WTE_OK) status = check_values(part, x, n * rows->cols, r, rows->cols, err);
    }
    wte__free(a, x, (size_t)(most * rows->cols) * sizeof *x);
    return status;
}

wte_status wte_optim_load(wte_optim *o, const char *name, const wte_row_source *rows,
                          wte_error *err)
{
    state_part part;
    WTE_TRY(wte__need(o, "wte_optim_load: o", err));
    WTE_TRY(wte__need(name, "wte_optim_load: name", err));
    WTE_TRY(wte__need(rows, "wte_optim_load: rows", err));
    WTE_TRY(wte_check_rows(rows, err));
    WTE_TRY(check_finished(o, err));
    WTE_TRY(find_part(o, name, &part, err));
    const wte_row_source own = rows_of(o, part.block);
    if (rows->rows != own.rows || rows->cols != own.cols)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "optimizer: '%s' is %" PRIu64 " x %" PRIu64 ", but this state has %" PRIu64
                         " x %" PRIu64,
                         part.name, rows->rows, rows->cols, own.rows, own.cols);
    if (rows->dtype != own.dtype)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "optimizer: '%s' is of %s, but this state is of %s", part.name,
                         wte_dtype_name(rows->dtype), wte_dtype_name(own.dtype));
    if (part.block == STEPS) {
        uint64_t steps;
        WTE_TRY(check_steps(rows, &steps, err));
        o->steps = steps;
        return WTE_OK;
    }
    WTE_TRY(check_block(o, &part, rows, err));
    return wte_row_source_read_block(rows, 0, (size_t)own.rows, o->block[part.block], err);
}

/* Growing -------------------------------------------------------------------------------------- */

static wte_status check_larger(const wte_optim *o, wte_table *t, wte_error *err)
{
    if (!wte_table_data(t))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "grow: the table borrows its rows, and cannot be written through");
    if (wte_table_dim(t) == o->shape.cols && wte_table_dtype(t) == o->shape.dtype &&
        wte_table_n_rows(t) >= o->shape.rows)
        return WTE_OK;
    return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                     "grow: from %" PRIu64 " x %" PRIu64 " %s to %" PRIu64 " x %" PRIu64
                     " %s: only rows can be added",
                     o->shape.rows, o->shape.cols, wte_dtype_name(o->shape.dtype),
                     wte_table_n_rows(t), wte_table_dim(t), wte_dtype_name(wte_table_dtype(t)));
}

/* The mask of the rows so far, as wte_optim_options have it; all rows after them are trainable. */
static uint8_t *longer_mask(const wte_optim *o, uint64_t rows, size_t *bytes)
{
    *bytes = (size_t)(rows / 8 + 1);
    uint8_t *mask = wte__alloc_zeroed(o->opt.allocator, *bytes);
    for (uint64_t r = 0; mask && r < rows; r++)
        if (r >= o->shape.rows || wte__optim_trains(o, r)) mask[r / 8] |= (uint8_t)(1u << r % 8);
    return mask;
}

/* Old state first, then what new rows begin with. */
static void take_over(wte_optim *o, wte_table *t, void *block[WTE__OPTIM_BLOCKS],
                      const uint64_t bytes[WTE__OPTIM_BLOCKS], const uint8_t *mask)
{
    const uint64_t before = o->shape.trainable;
    for (int b = 0; b < WTE__OPTIM_BLOCKS; b++) {
        const bool made_anew =
            b == WTE__OPTIM_MASK || b == WTE__OPTIM_RANKS || b == WTE__OPTIM_SCRATCH;
        if (o->block[b] && !made_anew) memcpy(block[b], o->block[b], (size_t)o->bytes[b]);
    }
    wte__optim_release(o->opt.allocator, o->bytes, o->block);
    memcpy(o->block, block, sizeof o->block);
    memcpy(o->bytes, bytes, sizeof o->bytes);
    o->shape.trainable += wte_table_n_rows(t) - o->shape.rows;
    o->shape.rows = wte_table_n_rows(t);
    o->data = wte_table_data(t);
    wte__optim_rank(o, mask);
    wte__optim_begin(o, before);
    uint32_t *noted = o->block[WTE__OPTIM_NOTED];
    for (uint64_t i = before; noted && i < o->shape.trainable; i++) noted[i] = o->noted;
}

wte_status wte_optim_grow(wte_optim *o, wte_table *t, wte_error *err)
{
    WTE_TRY(wte__need(o, "wte_optim_grow: o", err));
    WTE_TRY(wte__need(t, "wte_optim_grow: t", err));
    WTE_TRY(check_larger(o, t, err));
    uint64_t bytes[WTE__OPTIM_BLOCKS];
    void *block[WTE__OPTIM_BLOCKS];
    wte__optim_shape shape = o->shape;
    wte_optim_options opt = o->opt;
    uint8_t *mask = NULL;
    size_t mask_bytes = 0;
    shape.rows = wte_table_n_rows(t);
    shape.trainable += shape.rows - o->shape.rows;
    if (o->masked) {
        mask = longer_mask(o, shape.rows, &mask_bytes);
        if (!mask) return wte__no_memory(err, mask_bytes, "which rows are trainable");
    }
    opt.trainable = mask;
    wte_status status = wte__optim_plan(&opt, &shape, bytes, err);
    if (status == WTE_OK) status = wte__optim_blocks(o->opt.allocator, bytes, block, err);
    if (status == WTE_OK) take_over(o, t, block, bytes, mask);
    wte__free(o->opt.allocator, mask, mask_bytes);
    return status;
}
