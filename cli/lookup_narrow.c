/* What --dtype would lose of the rows that are asked for: numbers beyond the range of the type,
 * which become infinite or its limit, and NaN where it has none. They are counted before anything
 * is written. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lookup.h"

typedef struct narrowing {
    lookup_job *job;
    wte_dtype from;
    bool keeps_nan;
    char *stored, *narrow;
    size_t cols;
    uint64_t beyond, nan; /* numbers */
    int64_t first_id;     /* of the first of them, and its column; -1: none yet */
    size_t first_column;
    double first;
} narrowing;

/* Whether NaN stays NaN. */
static bool type_has_nan(wte_dtype type)
{
    const double nan = (double)NAN;
    double back = 0;
    char stored[16];
    return wte_convert(WTE_F64, &nan, type, stored, 1, NULL, NULL) == WTE_OK &&
           wte_convert(type, stored, WTE_F64, &back, 1, NULL, NULL) == WTE_OK && isnan(back);
}

/* What is lost of n numbers. */
static uint64_t lost(const narrowing *n, const void *stored, size_t count, uint64_t *nan)
{
    wte_convert_report report = { 0, 0, 0, 0 };
    if (wte_convert(n->from, stored, n->job->type, n->narrow, count, &report, NULL) != WTE_OK)
        return 0; /* both types convert: it was asked before */
    if (!n->keeps_nan) *nan += report.nan;
    return report.overflow;
}

static void look_at_row(narrowing *n, int64_t id, const char *row)
{
    uint64_t nan = 0;
    const uint64_t beyond = lost(n, row, n->cols, &nan);
    const size_t each = wte_dtype_bytes(n->from);
    n->beyond += beyond;
    n->nan += nan;
    for (size_t k = 0; n->first_id < 0 && beyond + nan > 0 && k < n->cols; k++) {
        uint64_t none = 0;
        if (lost(n, row + k * each, 1, &none) + none == 0) continue;
        n->first_id = id;
        n->first_column = k;
        if (wte_convert(n->from, row + k * each, WTE_F64, &n->first, 1, NULL, NULL) != WTE_OK)
            n->first = 0; /* cannot be: both types convert */
    }
}

static int look(narrowing *n)
{
    lookup_job *job = n->job;
    const wte_dtype type = job->type;
    const size_t cap = lookup_batch(job), row_bytes = n->cols * wte_dtype_bytes(n->from);
    int64_t *ids = malloc(cap * sizeof *ids);
    int code = CLI_DONE;
    n->stored = malloc(cap * row_bytes + 1);
    n->narrow = malloc(n->cols * 16 + 1);
    if (!ids || !n->stored || !n->narrow)
        code = cli_say_fail(job->c, CLI_OUTPUT, "out of memory for rows of %zu bytes", row_bytes);
    job->type = n->from; /* the rows as they are stored */
    for (uint64_t at = 0; ids && at < job->ids.count && !code; at += cap) {
        const uint64_t left = job->ids.count - at;
        const size_t now = left < cap ? (size_t)left : cap;
        code = lookup_rows(job, at, now, ids, n->stored);
        job->type = type;
        for (size_t i = 0; i < now && !code; i++) look_at_row(n, ids[i], n->stored + i * row_bytes);
        job->type = n->from;
    }
    job->type = type;
    free(ids);
    free(n->stored);
    free(n->narrow);
    return code;
}

int lookup_check_narrow(lookup_job *job)
{
    narrowing n = { .job = job, .from = job->table->source.dtype, .first_id = -1 };
    char nans[64] = "", text[300];
    n.cols = (size_t)job->table->source.cols;
    n.keeps_nan = type_has_nan(job->type);
    if (wte_dtype_fits(n.from, job->type)) return CLI_DONE;
    const int code = look(&n);
    if (code || n.beyond + n.nan == 0) return code;
    if (n.nan)
        snprintf(nans, sizeof nans, "%s%" PRIu64 " NaN, which it has not", n.beyond ? " and " : "",
                 n.nan);
    char beyond[64] = "";
    if (n.beyond)
        snprintf(beyond, sizeof beyond, "%" PRIu64 " number%s beyond its range", n.beyond,
                 n.beyond == 1 ? "" : "s");
    snprintf(text, sizeof text, "--dtype %s: %s%s, the first in row %" PRId64 ", column %zu: %.9g",
             wte_dtype_name(job->type), beyond, nans, n.first_id, n.first_column, n.first);
    if (cli_given(job->c, "allow-overflow")) {
        cli_note(job->c, "%s", text);
        return CLI_DONE;
    }
    return cli_say_fail(job->c, CLI_INPUT, "%s (--allow-overflow converts them all the same)",
                        text);
}
