/* Logits that are no numbers. -infinity is none of them: it is what a row that is left out has. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "logits.h"
#include "open.h"

static bool is_bad(float logit)
{
    return isnan(logit) || logit == INFINITY;
}

static void add(logits_bad *bad, uint64_t row)
{
    if (bad->count++ < LOGITS_NAMED) bad->row[bad->n++] = row;
}

/* In the logits of one hidden vector; rows are those of --ids, or all. */
static void look(const logits_job *j, const float *logits, uint64_t columns, const int64_t *rows,
                 logits_bad *bad)
{
    *bad = (logits_bad){ .count = 0 };
    for (uint64_t i = 0; i < columns; i++) {
        const uint64_t row = rows ? (uint64_t)rows[i] : i;
        if (is_bad(logits[i]) && !cli_head_masks(&j->head, row)) add(bad, row);
    }
}

/* Of the vectors for which the largest logits alone were kept. */
static int look_again(logits_job *j, uint64_t vector, logits_bad *bad)
{
    const wte_row_source *table = &j->head.table->source;
    const wte_hidden one = cli_head_part(&j->head, vector, 1);
    float *logits = calloc((size_t)table->rows + 1, sizeof *logits);
    wte_error err;
    if (!logits) return cli_say_fail(j->c, CLI_OUTPUT, "out of memory");
    const wte_status status = wte_head_logits(table, &one, &j->head.options, logits, 0, &err);
    if (status == WTE_OK) look(j, logits, table->rows, NULL, bad);
    free(logits);
    return status == WTE_OK ? CLI_DONE : cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
}

int logits_look(logits_job *j, uint64_t first, uint64_t n)
{
    const uint64_t columns = logits_columns(j);
    const bool matrix = j->kind == LOGITS_CHOSEN || cli_given(j->c, "output");
    for (uint64_t i = 0; i < n; i++) {
        logits_bad *bad = &j->bad[i];
        int code = CLI_DONE;
        *bad = (logits_bad){ .count = 0 };
        if (matrix)
            look(j, j->logits + i * columns, columns, j->chosen, bad);
        else if (j->kind == LOGITS_TOP && j->sums[i].not_finite)
            code = look_again(j, first + i, bad);
        if (code) return code;
        if (!bad->count) continue;
        if (j->n_bad++ == 0) {
            j->first_bad = *bad;
            j->first_bad_vector = first + i;
        }
    }
    return CLI_DONE;
}

int logits_tell(const logits_job *j)
{
    char *text = NULL;
    size_t bytes, text_bytes;
    if (!j->n_bad) return CLI_DONE;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return cli_say_fail(j->c, CLI_OUTPUT, "out of memory");
    for (uint32_t i = 0; i < j->first_bad.n; i++) {
        const int64_t token = cli_head_token(&j->head, j->first_bad.row[i]);
        fprintf(out, "%s%" PRId64, i ? ", " : "", token);
        if (wte_model_vocab(j->head.model) && !j->head.nameless &&
            cli_vocab_text(j->head.model, token, &text_bytes))
            fputc(' ', out);
        cli_head_put_token(&j->head, token, out);
    }
    fputs(j->first_bad.count > j->first_bad.n ? ", ..." : "", out);
    const bool written = fclose(out) == 0;
    const int code =
        written ? cli_say_fail(j->c, CLI_NO,
                               "%s: %" PRIu64 " of %" PRIu64
                               " vectors have logits that are NaN or infinite; vector %" PRIu64
                               " has %" PRIu64 ": ids %s",
                               j->head.table->name, j->n_bad, j->head.hidden.n, j->first_bad_vector,
                               j->first_bad.count, text)
                : cli_say_fail(j->c, CLI_OUTPUT, "out of memory");
    free(text);
    return code;
}
