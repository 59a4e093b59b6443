/* lookup.h - one run of `wte lookup`, shared by its two files. */
#ifndef WTE_CLI_LOOKUP_H
#define WTE_CLI_LOOKUP_H
#include <wte/lookup.h>
#include <wte/model.h>

#include "ids.h"
#include "out.h"

typedef struct lookup_job {
    cli *c;
    wte_model *model;
    const wte_model_table *table;
    cli_ids ids;
    int64_t *ignore; /* --ignore-id */
    size_t n_ignore;
    bool zero_bad;      /* --bad-ids zero */
    wte_dtype type;     /* of what comes out */
    wte_bad_ids report; /* of all ids */
    cli_sink sink;
    FILE *out; /* the sink's stream */
    cli_progress bar;
} lookup_job;

/* Rows for ids at .. at + n - 1, tight; values gets the ids themselves. 0, or the exit code after a
 * message. */
int lookup_rows(lookup_job *job, uint64_t at, size_t n, int64_t *values, void *rows);
/* How many rows are fetched at once. */
size_t lookup_batch(const lookup_job *job);
/* The whole answer, as text or as JSON. */
int lookup_print_text(lookup_job *job, bool full);
int lookup_print_json(lookup_job *job);
#endif
