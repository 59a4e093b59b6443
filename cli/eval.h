/* eval.h - what wte eval has found out about a table: files of words, agreement, isotropy. */
#ifndef WTE_CLI_EVAL_H
#define WTE_CLI_EVAL_H
#include <wte/eval.h>
#include <wte/model.h>

#include "json.h"
#include "opt.h"

/* Words that no token is, each once. */
typedef struct eval_missing {
    wte_word *words;
    size_t n;
} eval_missing;

typedef struct eval_similarity {
    const char *path;
    wte_pairs *pairs;
    wte_similarity result;
    eval_missing missing;
} eval_similarity;

typedef struct eval_tally {
    uint64_t right, asked, questions;
} eval_tally;

typedef struct eval_analogies {
    const char *path;
    wte_analogies *analogies;
    eval_tally *sections;
    eval_tally semantic, syntactic, total;
    uint64_t rows; /* among which answers were looked for */
    eval_missing missing;
} eval_analogies;

typedef struct eval_job {
    cli *c;
    wte_model *model[2]; /* MODEL, and that of --against */
    const wte_model_table *table[2];
    eval_similarity *similarity;
    int n_similarity;
    eval_analogies *analogies;
    int n_analogies;
    wte_agreement agreement;
    uint64_t not_shared; /* tokens of MODEL that the other lacks */
    bool by_token;       /* tokens were matched by their texts; else rows by number */
    bool with_isotropy;
    wte_isotropy isotropy;
    double *singular, *centred; /* dim each */
    char both[2 * 4096];        /* the two paths, should one of the files shrink */
} eval_job;

/* eval_words.c: read the files, find the words, score. 0, or the exit code after a message. */
int eval_words_run(eval_job *j);
void eval_words_print(const eval_job *j);
void eval_words_json(const eval_job *j, cli_json *json);
void eval_words_clear(eval_job *j);

/* eval_print.c */
#define EVAL_NUMBER 400 /* the longest f64 with four decimals */
/* Four decimals, or "-" for NaN. */
const char *eval_number(char buf[EVAL_NUMBER], double x);
void eval_print(const eval_job *j);
void eval_json(const eval_job *j);
#endif
