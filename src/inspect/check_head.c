/* The head's rows, where it is a tensor of its own: what the first pass shows of them, and which of
 * them are equal. The steps are those of the input table; they see the head in its place. Also the
 * numbers of the head's bias. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"
#include "model/model.h"

/* Rows of the head are ids, unless a list says which tokens they stand for, or they are another
 * vocabulary's. */
static const wte_vocab *names_of_rows(const wte__checking *k)
{
    return k->m->output.map || *k->m->output.map_problem || k->two_vocabularies ? NULL : k->vocab;
}

/* Numbers, equal rows, and the rows of tokens; what is near, or the mean, is the table's affair. */
static wte_status look(wte__checking *h)
{
    const char *name = wte__check_table_name(h);
    if (!name) return wte__no_memory(h->err, WTE__NAME_SHOWN, "a name");
    WTE_TRY(wte__check_numbers(h));
    if (h->one_value) return WTE_OK;
    WTE_TRY(wte__check_same(h));
    return wte__check_states(h, name);
}

/* A second copy of the table has the table's faults, which are told once. */
static bool is_copy(const wte__checking *k)
{
    return k->has_tie && k->input &&
           (k->tie.verdict == WTE_TIE_EQUAL_BYTES || k->tie.verdict == WTE_TIE_EQUAL_VALUES);
}

wte_status wte__check_head(wte__checking *k)
{
    const wte_model_table *head = k->input ? k->head : wte_model_head(k->m);
    wte_check_facts facts = { 0 };
    wte__checking h = *k;
    if (!head || head->source.rows == 0 || head->source.cols == 0) return WTE_OK;
    if (!wte_dtype_converts(head->source.dtype)) return WTE_OK;
    h.of_head = true;
    h.lie = NULL; /* no mapping leads to its rows */
    h.input = head;
    h.head = NULL;
    h.stored = head->source;
    h.facts = &facts;
    h.pad = WTE_NO_INDEX;
    h.names = names_of_rows(k);
    h.named = h.stored.rows;
    if (h.names && wte_vocab_size(h.names) < h.named) h.named = wte_vocab_size(h.names);
    WTE_TRY(wte__check_scan_init(&h, &k->head_scan, h.stored.rows));
    WTE_TRY(wte__check_scan_run(&h, &h.stored, &k->head_scan));
    k->report->facts.head_median = wte__check_scan_median(&k->head_scan);
    if (is_copy(k)) return WTE_OK;
    h.table = k->head_scan;
    h.state = h.table.flags + h.stored.rows;
    h.used = h.state + h.stored.rows;
    const wte_status status = look(&h);
    wte__free(k->opt.allocator, h.same, (size_t)h.stored.rows * sizeof *h.same);
    return status;
}

/* The bias --------------------------------------------------------------------------------------
 */

/* Numbers that spoil a softmax: NaN and +Inf. A -Inf keeps a token from being drawn, on purpose. */
static void look_at_bias(const double *x, uint64_t n, uint64_t first, wte__seen *seen)
{
    for (uint64_t i = 0; i < n; i++)
        if (isnan(x[i]) || (isinf(x[i]) && x[i] > 0)) wte__seen_add(seen, first + i);
}

/* A bias is one row of all its numbers, or as many rows of one. */
static wte_status read_bias(wte__checking *k, const wte_row_source *rows, wte__seen *seen)
{
    const wte_allocator *a = k->opt.allocator;
    const uint64_t cols = rows->cols, each = wte_dtype_bytes(rows->dtype) + sizeof(double);
    double *x = wte__alloc_array(a, cols, each);
    if (!x) return wte__no_memory(k->err, cols * each, "a bias");
    void *raw = x + cols;
    wte_status status = WTE_OK;
    for (uint64_t row = 0; status == WTE_OK && row < rows->rows; row++) {
        status = wte_row_source_read(rows, row, raw, k->err);
        if (status == WTE_OK)
            status = wte_convert(rows->dtype, raw, WTE_F64, x, (size_t)cols, NULL, k->err);
        if (status == WTE_OK) look_at_bias(x, cols, row * cols, seen);
    }
    wte__free(a, x, (size_t)(cols * each));
    return status;
}

wte_status wte__check_bias_numbers(wte__checking *k)
{
    const wte_model_output *o = wte_model_output_of(k->m);
    wte__seen seen = { 0 };
    wte_row_source rows;
    char shown[WTE__NAME_SHOWN];
    if (!k->file || !o || o->bias == WTE_NO_INDEX) return WTE_OK;
    if (wte_file_row_source(k->file, o->bias, &rows, NULL) != WTE_OK) return WTE_OK;
    if (!rows.rows || !rows.cols || !wte_dtype_converts(rows.dtype)) return WTE_OK;
    WTE_TRY(read_bias(k, &rows, &seen));
    if (!seen.count) return WTE_OK;
    return wte__check_add(
        k, WTE__CODE_BIAS_NONFINITE, wte__show(shown, o->bias_name, strlen(o->bias_name)), &seen,
        wte__repair_fetch(k),
        "%" PRIu64 " of %" PRIu64 " numbers %s NaN or +Inf, the first that of row %" PRIu64,
        seen.count, rows.rows * rows.cols, seen.count == 1 ? "is" : "are", seen.id[0]);
}
