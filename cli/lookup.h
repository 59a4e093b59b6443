/* lookup.h - one run of `wte lookup`, shared by its files. */
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
    char **unknown; /* --oov: words without a row; their ids go on behind those of the table */
    size_t n_unknown;
    wte_row_source known;     /* rows of the table */
    wte_model_table extended; /* what `table` is then: theirs are behind these */
} lookup_job;

/* Ids of words of a fastText model, known or not. 0, or the exit code after a message. */
int lookup_unknown(lookup_job *job, char **words, size_t n, int64_t *ids);
/* The word that this id was given for; NULL: the id is one of the table. */
const char *lookup_unknown_word(const lookup_job *job, int64_t id);

/* Rows for ids at .. at + n - 1, tight; values gets the ids themselves. 0, or the exit code after a
 * message. */
int lookup_rows(lookup_job *job, uint64_t at, size_t n, int64_t *values, void *rows);
/* Whether the rows fit the type that --dtype names: all are read once when it is narrower. 0, or
 * the exit code after a message; with --allow-overflow a note. */
int lookup_check_narrow(lookup_job *job);
/* How many rows are fetched at once. */
size_t lookup_batch(const lookup_job *job);
/* The whole answer, as text or as JSON. */
int lookup_print_text(lookup_job *job, bool full);
int lookup_print_json(lookup_job *job);
#endif
