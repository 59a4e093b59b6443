/* The head's rows, where it is a tensor of its own: what the first pass shows of them, and which of
 * them are equal. The steps are those of the input table; they see the head in its place. */
#include "base/error.h"
#include "model/model.h"
#include "tools/check.h"

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
    h.pad = WTE_NOWHERE;
    h.names = names_of_rows(k);
    h.named = h.stored.rows;
    if (h.names && wte_vocab_size(h.names) < h.named) h.named = wte_vocab_size(h.names);
    WTE_TRY(wte__scan_init(&h, &k->head_scan, h.stored.rows));
    WTE_TRY(wte__scan_run(&h, &h.stored, &k->head_scan));
    k->report->facts.head_median = wte__scan_median(&k->head_scan);
    if (is_copy(k)) return WTE_OK;
    h.table = k->head_scan;
    h.state = h.table.flags + h.stored.rows;
    h.used = h.state + h.stored.rows;
    const wte_status status = look(&h);
    wte__free(k->opt.allocator, h.same, (size_t)h.stored.rows * sizeof *h.same);
    return status;
}
