/* Rows without a token: those beyond the tokenizer and those in its holes. What is in them, whether
 * they could win a draw, and whether they are padding at all. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"

typedef struct padding {
    wte__seen seen;  /* all rows without a token */
    uint64_t beyond; /* of these: past the last token */
    uint64_t zero, constant, alike, small, noise, trained, longer;
    wte__seen sampled;
} padding;

static void classify(const wte__checking *k, padding *p, uint64_t row)
{
    const double median = k->report->facts.norm_median, norm = (double)k->table.norm[row];
    wte__seen_add(&p->seen, row);
    p->beyond += row >= k->named;
    switch (k->state[row]) {
    case WTE__ZERO: p->zero++; return;
    case WTE__CONSTANT: p->constant++; return;
    case WTE__SMALL: p->small++; return;
    case WTE__DUPLICATE:
    case WTE__COLLAPSED:
    case WTE__MEAN: p->alike++; return;
    default: break;
    }
    if (norm < WTE__SAMPLED * median)
        p->noise++;
    else if (norm <= median / WTE__SAMPLED)
        p->trained++;
    else
        p->longer++;
}

/* The head whose rows decide what is drawn: its own tensor, or the table when that serves as head.
 */
static const wte__check_scan *head_of(const wte__checking *k, double *median)
{
    if (k->head) {
        *median = k->report->facts.head_median;
        return k->head_scan.rows ? &k->head_scan : NULL;
    }
    *median = k->report->facts.norm_median;
    return k->has_tie && k->tie.verdict == WTE_TIE_SAME_STORAGE && !k->input->mapped ? &k->table
                                                                                     : NULL;
}

static void find_sampled(const wte__checking *k, padding *p)
{
    double median;
    const wte__check_scan *head = head_of(k, &median);
    /* rows past the input table's are told as head-only-ids */
    const uint64_t rows = !head ? 0 : head->rows < k->stored.rows ? head->rows : k->stored.rows;
    for (uint64_t row = 0; median > 0 && row < rows; row++) {
        if (wte__check_has_token(k, row) || (head->flags[row] & WTE__ROW_NONFINITE)) continue;
        if ((double)head->norm[row] >= WTE__SAMPLED * median) wte__seen_add(&p->sampled, row);
    }
}

static wte_status tell(wte__checking *k, const char *name, const padding *p)
{
    char parts[300];
    const struct {
        uint64_t n;
        const char *what;
    } kinds[] = { { p->zero, "zero" },
                  { p->constant, "of one number" },
                  { p->small, "almost zero" },
                  { p->alike, "equal or nearly equal to each other" },
                  { p->noise, "noise" },
                  { p->trained, "as long as trained rows" },
                  { p->longer, "longer than trained rows" } };
    size_t used = 0;
    parts[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n && used < sizeof parts)
            used += (size_t)snprintf(parts + used, sizeof parts - used, "%s%" PRIu64 " %s",
                                     used ? ", " : "", kinds[i].n, kinds[i].what);
    return wte__check_add(k, WTE__CODE_PADDING_ROWS, name, &p->seen, "",
                          "%" PRIu64 " of %" PRIu64 " rows have no token (%" PRIu64
                          " beyond the last one): %s",
                          p->seen.count, k->stored.rows, p->beyond, parts);
}

/* Padding may be there on purpose, and dropping it changes the shape: the ids are kept from being
 * drawn instead, and the table stays as it is. */
static const char *repair_sampled(wte__checking *k)
{
    const bool gguf = k->file && wte_file_format(k->file) == WTE_FORMAT_GGUF;
    return wte__repair_model(k,
                             "v = t.AutoTokenizer.from_pretrained(sys.argv[1]%s).get_vocab(); "
                             "m.generation_config.suppress_tokens = "
                             "sorted(set(range(%" PRIu64 ")) - set(v.values()))",
                             gguf ? ", gguf_file=sys.argv[3]" : "",
                             k->head ? k->report->facts.head_rows : k->stored.rows);
}

wte_status wte__check_padding(wte__checking *k)
{
    const char *name = wte__check_table_name(k);
    padding p;
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    memset(&p, 0, sizeof p);
    for (uint64_t row = 0; row < k->stored.rows; row++)
        if (!wte__check_has_token(k, row)) classify(k, &p, row);
    find_sampled(k, &p);
    if (p.seen.count) WTE_TRY(tell(k, name, &p));
    if (k->names && p.beyond > WTE__TRUNCATED_ROWS && p.beyond > k->stored.rows / 10 &&
        p.trained > p.beyond / 2)
        return wte__check_add(k, WTE__CODE_VOCAB_TRUNCATED, name, &p.seen, wte__repair_fetch(k),
                              "the tokenizer ends at id %" PRIu64 ", the table at %" PRIu64
                              ": %" PRIu64 " of the rows beyond are as long as trained ones",
                              k->named - 1, k->stored.rows - 1, p.trained);
    if (!p.sampled.count) return WTE_OK;
    return wte__check_add(k, WTE__CODE_PADDING_SAMPLED, name, &p.sampled, repair_sampled(k),
                          "%" PRIu64 " head row%s without a token %s at least half as long as the "
                          "median of the others",
                          p.sampled.count, p.sampled.count == 1 ? "" : "s",
                          p.sampled.count == 1 ? "is" : "are");
}
