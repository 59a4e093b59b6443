/* The table read with its axes exchanged: the classic mistakes of people and loaders.
 *
 *     column              E[:, id], as long as the table has rows
 *     transposed memory   the memory of E transposed, taken for rows x dim
 *     reshaped            E.reshape(dim, rows) taken for E transposed */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "inspect/diagnose.h"
#include "inspect/row_scan.h"

typedef enum layout { LAYOUT_TURNED, LAYOUT_RESHAPED_COLUMN, LAYOUT_RESHAPED_ROW } layout;

/* Row and column of E that position j of the misread vector number id comes from. */
static void source_of(const wte_row_source *e, layout how, uint64_t id, uint64_t j, uint64_t *row,
                      uint64_t *column)
{
    uint64_t at = id * e->cols + j;
    if (how == LAYOUT_RESHAPED_COLUMN) at = j * e->rows + id;
    if (how == LAYOUT_RESHAPED_ROW) at = id * e->rows + j;
    *row = how == LAYOUT_TURNED ? at % e->rows : at / e->cols;
    *column = how == LAYOUT_TURNED ? at / e->rows : at % e->cols;
}

static wte_status read_element(const wte_row_source *e, layout how, uint64_t id, uint64_t j,
                               uint8_t *raw, double *out, wte_error *err)
{
    uint64_t row, column;
    source_of(e, how, id, j, &row, &column);
    WTE_TRY(wte_row_source_read(e, row, raw, err));
    return wte_convert(e->dtype, raw + column * wte_dtype_bytes(e->dtype), WTE_F64, out, 1, NULL,
                       err);
}

/* A rule that stands for a way of reading, so that it is weighed and ordered as others are. */
static const wte__hypothesis_rule read_otherwise = { .change = WTE_LABEL_RESHAPED };

static void offer(wte__case *k, const wte_row_source *e, const wte__fit *fit, wte_label label,
                  uint64_t row, const char *tensor)
{
    const wte__row where = { .dtype = e->dtype, .tensor = tensor, .index = row };
    wte__search_entry entry = wte__entry_make(&k->given, &where, &read_otherwise, 0, fit);
    entry.guess.label = label;
    entry.guess.change = WTE_LABEL_UNKNOWN;
    entry.asked = row == k->row;
    entry.log_chance = k->given.log_chance;
    wte__hypotheses_offer(&k->tally, &entry);
}

/* The few telling columns first: each costs the reading of a row. */
static wte_status try_layout(const wte_row_source *e, wte__case *k, layout how, uint8_t *raw,
                             const char *tensor, wte_error *err)
{
    const wte__observed *g = &k->given;
    const wte__grid grid = wte__grid_of(wte__tolerance_type(e->dtype, g->dtype));
    k->tried++;
    for (size_t i = 0; i < g->n_probes; i++) {
        double x;
        WTE_TRY(read_element(e, how, k->row, g->probe[i], raw, &x, err));
        if (!(fabs(x - g->value[g->probe[i]]) <= wte__tolerance(g, &grid, g->probe[i])))
            return WTE_OK;
    }
    wte__fit fit;
    wte__fit_start(&fit, g);
    for (size_t j = 0; j < g->n; j++) {
        double x;
        WTE_TRY(read_element(e, how, k->row, j, raw, &x, err));
        wte__fit_numbers(&fit, g, &grid, j, &x, 1);
        if (fit.fits < j + 1) return WTE_OK;
    }
    offer(k, e, &fit, how == LAYOUT_TURNED ? WTE_LABEL_TRANSPOSED_MEMORY : WTE_LABEL_RESHAPED,
          k->row, tensor);
    return WTE_OK;
}

/* Columns -------------------------------------------------------------------------------------- */

typedef struct columns {
    const wte__observed *given;
    wte__grid grid;
    size_t dim;
    uint32_t lanes;
    uint8_t *dead; /* lanes x dim */
    uint8_t *bits; /* lanes x dim: 1 = some number differs in its bits */
} columns;

static void compare_rows(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                         const void *values)
{
    columns *s = ctx;
    const double *x = values;
    uint8_t *dead = s->dead + lane * s->dim, *bits = s->bits + lane * s->dim;
    (void)raw;
    for (size_t r = 0; r < n; r++, x += s->dim) {
        const size_t at = (size_t)(first + r);
        const double got = s->given->value[at];
        const double room = wte__tolerance(s->given, &s->grid, at);
        for (size_t c = 0; c < s->dim; c++) {
            const bool equal = x[c] == got || (isnan(x[c]) && isnan(got));
            if (!equal && !(fabs(x[c] - got) <= room)) dead[c] = 1;
            if (!equal || signbit(x[c]) != signbit(got)) bits[c] = 1;
        }
    }
}

static bool dead_everywhere(const columns *s, size_t c)
{
    for (uint32_t l = 0; l < s->lanes; l++)
        if (s->dead[l * s->dim + c]) return true;
    return false;
}

static bool none_left(void *ctx)
{
    const columns *s = ctx;
    for (size_t c = 0; c < s->dim; c++)
        if (!dead_everywhere(s, c)) return false;
    return true;
}

static void offer_columns(const columns *s, wte__case *k, const wte_row_source *e,
                          const char *tensor)
{
    for (size_t c = 0; c < s->dim; c++) {
        if (dead_everywhere(s, c)) continue;
        wte__fit fit;
        wte__fit_start(&fit, &k->given);
        fit.fits = k->given.n;
        for (uint32_t l = 0; l < s->lanes; l++)
            if (s->bits[l * s->dim + c]) fit.same_bits = false;
        if (!fit.same_bits) fit.worst = 1; /* at most: the pass keeps no distances */
        offer(k, e, &fit, WTE_LABEL_COLUMN_NOT_ROW, c, tensor);
    }
}

static wte_status search_columns(const wte_row_source *e, wte__case *k, const char *tensor,
                                 const wte_diagnose_options *opt, wte_error *err)
{
    const wte__observed *g = &k->given;
    columns s = { .given = g,
                  .grid = wte__grid_of(wte__tolerance_type(e->dtype, g->dtype)),
                  .dim = (size_t)e->cols,
                  .lanes = wte_pool_n_threads(opt->pool) };
    const size_t bytes = s.lanes * s.dim;
    k->tried += e->cols;
    if (!wte__rule_allowed(g, &read_otherwise, (double)e->cols)) return WTE_OK;
    s.dead = wte__alloc_zeroed(opt->allocator, bytes);
    s.bits = wte__alloc_zeroed(opt->allocator, bytes);
    wte_status status = WTE_OK;
    if (s.dead && s.bits) {
        const wte__row_scan pass = { e,  WTE_F64,   compare_rows,  none_left,
                                     &s, opt->pool, opt->progress, opt->allocator };
        status = wte__row_scan_run(&pass, err);
        if (status == WTE_OK) offer_columns(&s, k, e, tensor);
    } else {
        status = wte__no_memory(err, 2 * bytes, "a search of columns");
    }
    wte__free(opt->allocator, s.dead, bytes);
    wte__free(opt->allocator, s.bits, bytes);
    return status;
}

/* Public to the room --------------------------------------------------------------------------- */

wte_status wte__try_layouts(const wte_row_source *table, wte__case *k, const char *tensor,
                            const wte_diagnose_options *opt, wte_error *err)
{
    const bool square = table->rows == table->cols;
    const bool long_one = k->given.n == table->rows && !square;
    if (square || long_one) WTE_TRY(search_columns(table, k, tensor, opt, err));
    /* in a square table both other ways read the column that was searched for */
    if (square || (long_one && k->row >= table->cols)) return WTE_OK;
    if (!wte__rule_allowed(&k->given, &read_otherwise, 2)) return WTE_OK;
    const size_t bytes = (size_t)table->cols * wte_dtype_bytes(table->dtype);
    uint8_t *raw = wte__alloc(opt->allocator, bytes);
    if (!raw) return wte__no_memory(err, bytes, "a row");
    wte_status status;
    if (long_one) {
        status = try_layout(table, k, LAYOUT_RESHAPED_ROW, raw, tensor, err);
    } else {
        status = try_layout(table, k, LAYOUT_TURNED, raw, tensor, err);
        if (status == WTE_OK)
            status = try_layout(table, k, LAYOUT_RESHAPED_COLUMN, raw, tensor, err);
    }
    wte__free(opt->allocator, raw, bytes);
    return status;
}
