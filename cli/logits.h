/* logits.h - one run of `wte logits`, shared by its files. */
#ifndef WTE_CLI_LOGITS_H
#define WTE_CLI_LOGITS_H
#include "head.h"
#include "ids.h"
#include "out.h"

typedef enum logits_kind {
    LOGITS_TOP,    /* the largest of each hidden vector */
    LOGITS_CHOSEN, /* of the rows that --ids names */
    LOGITS_SAMPLE  /* one row drawn for each */
} logits_kind;

/* Logits of one hidden vector that are NaN or infinite: how many, and the first of their rows. */
#define LOGITS_NAMED 8u
typedef struct logits_bad {
    uint64_t count, row[LOGITS_NAMED];
    uint32_t n;
} logits_bad;

typedef struct logits_job {
    cli *c;
    cli_head head;
    logits_kind kind;
    const wte_model_table *input; /* of --id */
    int64_t *origin;              /* NULL, or the ids whose rows the hidden vectors are */
    double factor;                /* that these rows were multiplied by; 1 = none */
    uint32_t top;
    wte_sample_options sample;
    int64_t *chosen;
    uint64_t n_chosen;
    uint64_t block; /* hidden vectors that are worked on at once */
    /* answers for one block */
    wte_ranked *ranked;
    wte_softmax_stats *sums;
    float *logits; /* block x columns; of LOGITS_SAMPLE log-probabilities */
    uint64_t *drawn;
    logits_bad *bad;
    /* of all blocks so far: vectors with such logits, and the first of them */
    uint64_t n_bad, first_bad_vector;
    logits_bad first_bad;
} logits_job;

/* Columns of the logits of one hidden vector. */
static inline uint64_t logits_columns(const logits_job *j)
{
    return j->chosen ? j->n_chosen : j->head.table->rows;
}
/* The answers are computed block by block, into j's buffers. 0, or the exit code after a message.
 */
int logits_block(logits_job *j, uint64_t first, uint64_t n);
/* logits_finite.c: which of a block's logits are no numbers. 0, or the exit code after a message.
 */
int logits_look(logits_job *j, uint64_t first, uint64_t n);
/* CLI_DONE when all were numbers, else CLI_NO after a message that names the first. */
int logits_tell(const logits_job *j);
/* All of them, as text or as JSON. */
int logits_print(logits_job *j);
#endif
