/* Tokens that training hardly saw, ranked. With a head of its own the input row of such a token
 * stays short; a tied row is pushed by the head's gradient along the direction of all tokens that
 * never occur, which the known unused ones show. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"
#include "inspect/row_scan.h"

typedef struct ranking {
    wte__checking *k;
    size_t cols;
    double *unused, length; /* mean direction of the known unused rows */
    float *indicator;       /* of each row */
    uint64_t n_unused;
} ranking;

static bool is_unused(const wte__checking *k, uint64_t row)
{
    return !wte__check_has_token(k, row) || wte__check_is_reserved(k, row);
}

static bool has_direction(const wte__checking *k, uint64_t row)
{
    return !(k->table.flags[row] & (WTE__ROW_ZERO | WTE__ROW_NONFINITE));
}

static wte_status mean_unused(ranking *r, float *row, void *raw)
{
    wte__checking *k = r->k;
    for (uint64_t i = 0; i < k->stored.rows; i++) {
        if (!is_unused(k, i) || !has_direction(k, i)) continue;
        WTE_TRY(wte_row_source_read(&k->stored, i, raw, k->err));
        WTE_TRY(wte_convert(k->stored.dtype, raw, WTE_F32, row, r->cols, NULL, k->err));
        for (size_t c = 0; c < r->cols; c++)
            r->unused[c] += (double)row[c] / (double)k->table.norm[i];
        r->n_unused++;
    }
    for (size_t c = 0; c < r->cols; c++) r->length += r->unused[c] * r->unused[c];
    r->length = sqrt(r->length);
    return WTE_OK;
}

static void visit(void *ctx, uint32_t lane, uint64_t first, size_t n, const void *raw,
                  const void *values)
{
    const ranking *r = ctx;
    (void)lane;
    (void)raw;
    for (size_t i = 0; i < n; i++) {
        const float *x = (const float *)values + i * r->cols;
        const double norm = (double)r->k->table.norm[first + i];
        double dot = 0;
        for (size_t c = 0; c < r->cols; c++) dot += (double)x[c] * r->unused[c];
        r->indicator[first + i] = norm > 0 ? (float)(1 - dot / norm / r->length) : 0;
    }
}

static wte_status measure(ranking *r)
{
    wte__checking *k = r->k;
    const wte_allocator *a = k->opt.allocator;
    const size_t raw_bytes = r->cols * wte_dtype_bytes(k->stored.dtype);
    float *row = wte__alloc_array(a, r->cols, sizeof *row);
    void *raw = wte__alloc(a, raw_bytes);
    wte_status status =
        row && raw ? WTE_OK : wte__no_memory(k->err, r->cols * sizeof *row, "a row");
    if (status == WTE_OK) status = mean_unused(r, row, raw);
    wte__free(a, row, r->cols * sizeof *row);
    wte__free(a, raw, raw_bytes);
    if (status != WTE_OK || !r->n_unused || !(r->length > 0)) return status;
    const wte__row_scan pass = { &k->stored, WTE_F32,     visit,           NULL,
                                 r,          k->opt.pool, k->opt.progress, k->opt.allocator };
    return wte__row_scan_run(&pass, k->err);
}

static bool is_whole_utf8(const wte_vocab *v, uint64_t id)
{
    char text[64];
    const uint64_t n = wte_vocab_text(v, id, text, sizeof text);
    if (n > sizeof text) return true; /* nothing so long is a piece of one character */
    for (uint64_t at = 0; at < n;) {
        bool safe;
        const uint32_t step = wte_utf8_next(text + at, n - at, &safe);
        if (!step) return false;
        at += step;
    }
    return true;
}

static wte_token_class class_of(const wte__checking *k, uint64_t id)
{
    if (is_unused(k, id)) return WTE_CLASS_UNUSED;
    if (!k->names) return WTE_CLASS_NORMAL;
    switch (wte_vocab_kind(k->names, id)) {
    case WTE_TOKEN_SPECIAL: return WTE_CLASS_SPECIAL;
    case WTE_TOKEN_BYTE: return WTE_CLASS_BYTE;
    default: return is_whole_utf8(k->names, id) ? WTE_CLASS_NORMAL : WTE_CLASS_PARTIAL_UTF8;
    }
}

static int by_indicator(const void *va, const void *vb)
{
    const wte_glitch *a = va, *b = vb;
    if (a->indicator != b->indicator) return a->indicator < b->indicator ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* The lowest ones, best first, kept in an array that is sorted when it has filled up twice over. */
static void keep_best(ranking *r, wte_glitch *list, size_t cap, size_t *kept)
{
    const wte__checking *k = r->k;
    size_t n = 0;
    for (uint64_t row = 0; row < k->stored.rows; row++) {
        if (k->table.flags[row] & WTE__ROW_NONFINITE) continue;
        list[n++] = (wte_glitch){ row, (double)r->indicator[row], WTE_CLASS_NORMAL };
        if (n < 2 * cap) continue;
        qsort(list, n, sizeof *list, by_indicator);
        n = cap;
    }
    if (n > 1) qsort(list, n, sizeof *list, by_indicator);
    *kept = n < cap ? n : cap;
    for (size_t i = 0; i < *kept; i++) list[i].token_class = class_of(k, list[i].id);
}

static wte_status tell(ranking *r)
{
    wte__checking *k = r->k;
    wte_check *report = k->report;
    wte__seen seen = { .lie = k->lie };
    const char *name = wte__check_table_name(k);
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    for (size_t i = 0; i < report->n_glitch; i++) wte__seen_add(&seen, report->glitch[i].id);
    return wte__check_add(k, WTE__CODE_GLITCH, name, &seen, "",
                          "the %zu lowest of %" PRIu64 " by %s", report->n_glitch, k->stored.rows,
                          report->glitch_indicator);
}

static wte_status rank(ranking *r)
{
    wte__checking *k = r->k;
    const wte_allocator *a = k->opt.allocator;
    const uint64_t rows = k->stored.rows;
    const size_t cap = (size_t)(k->opt.glitch < rows ? k->opt.glitch : rows);
    const bool tied = !k->head;
    if (tied) WTE_TRY(measure(r));
    const bool by_direction = tied && r->n_unused && r->length > 0;
    if (!by_direction) memcpy(r->indicator, k->table.norm, (size_t)rows * sizeof *r->indicator);
    k->report->glitch_indicator =
        by_direction ? "cosine distance to the mean direction of the known unused rows"
        : tied       ? "input norm (tied, but no unused row is known to measure from)"
                     : "input norm";
    wte_glitch *list = wte__alloc_array(a, 2 * (uint64_t)cap, sizeof *list);
    k->report->glitch = wte__alloc_array(a, cap, sizeof *list);
    k->report->glitch_cap = k->report->glitch ? cap : 0;
    if (!list || !k->report->glitch) {
        wte__free(a, list, 2 * cap * sizeof *list);
        return wte__no_memory(k->err, 3 * cap * sizeof *list, "a ranking");
    }
    keep_best(r, list, cap, &k->report->n_glitch);
    memcpy(k->report->glitch, list, k->report->n_glitch * sizeof *list);
    wte__free(a, list, 2 * cap * sizeof *list);
    return tell(r);
}

wte_status wte__check_glitch_rank(wte__checking *k)
{
    const wte_allocator *a = k->opt.allocator;
    const uint64_t rows = k->stored.rows;
    ranking r = { .k = k, .cols = (size_t)k->stored.cols };
    if (!k->opt.glitch || !k->wanted[WTE__CODE_GLITCH]) return WTE_OK;
    r.indicator = wte__alloc_array(a, rows, sizeof *r.indicator);
    r.unused = wte__alloc_zeroed(a, r.cols * sizeof *r.unused);
    const wte_status status =
        r.indicator && r.unused ? rank(&r) : wte__no_memory(k->err, rows * 4, "indicators");
    wte__free(a, r.indicator, (size_t)rows * sizeof *r.indicator);
    wte__free(a, r.unused, r.cols * sizeof *r.unused);
    return status;
}
