/* train.h - what the ways of training share: the corpus, the folder that is written, the log.
 *
 * cmd_train.c holds all options and hands over to the method that --method names. An option that
 * says nothing to a method is refused there: each method lists those that are its own. */
#ifndef WTE_CLI_TRAIN_H
#define WTE_CLI_TRAIN_H
#include <wte/corpus.h>
#include <wte/model.h>

#include "json.h"
#include "loss_svg.h"
#include "opt.h"

typedef struct cli_train_method {
    const char *name;
    const char *const *own; /* options that some methods alone have, up to NULL */
    /* The folder is there; returns the exit code. */
    int (*run)(cli *c, const char *corpus, const char *folder);
} cli_train_method;

extern const cli_train_method cli_train_skip_gram, cli_train_cbow, cli_train_lm;

/* A corpus as the options --ids-type, --no-eos, --min-count and --max-words say, with the words
 * of `words`, or of `vocab`, unless both are NULL; without words, ids are below `rows` unless that
 * is 0. 0, or the exit code after a message. */
int cli_train_corpus(cli *c, const char *path, const wte_token_list *words, const wte_vocab *vocab,
                     uint64_t rows, wte_corpus **out);
/* The model that --init-from names, or NULL: rows of its input table that have a word, and these. A
 * corpus of ids needs no words: where there is no vocabulary, *vocab is NULL and all rows are
 * taken. Both live as long as the model. 0, or the exit code after a message. */
int cli_train_start(cli *c, const char *corpus, wte_model **out, wte_row_source *rows,
                    const wte_vocab **vocab);
/* A checkpoint of an earlier run is not lost by mistake: CLI_USAGE after a message when there is
 * one and --resume does not go on from it. */
int cli_train_checkpoint(cli *c, const char *path);
/* Write folder/vocab.txt, a word a line, `more` (or NULL) behind them; what no line of text can
 * hold is written as \xNN. */
int cli_train_vocab(const cli *c, const char *folder, const wte_token_list *words,
                    const char *more);

/* Progress: a line on stderr, with --json a record a line on stdout, and points for the picture. */
typedef struct cli_train_log {
    wte_train_callback watch; /* what trainers are given */
    const cli *c;
    cli_curve_line loss, valid; /* over words */
    wte_train_status last;
    double told; /* seconds, of the line on stderr */
    bool terminal, shown;
} cli_train_log;
void cli_train_log_start(cli_train_log *log, const cli *c);
/* Takes the line from the terminal. */
void cli_train_log_stop(cli_train_log *log);
/* folder/curve.svg */
int cli_train_log_picture(const cli_train_log *log, const char *folder, const char *title);
#endif
