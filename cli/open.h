/* open.h - the MODEL argument: opening it, and resolving ids and token texts typed beside it. */
#ifndef WTE_CLI_OPEN_H
#define WTE_CLI_OPEN_H
#include <wte/model.h>

#include "opt.h"

/* Whether token texts are wanted. */
typedef enum cli_vocab {
    CLI_VOCAB_NONE,
    CLI_VOCAB_ALL,
    CLI_VOCAB_NEEDED /* the command itself tells what is wrong with it */
} cli_vocab;

/* What --columns, --keys and --skip say (the command must be CLI_WITH_MODEL). 0, or the exit code
 * after a message. */
int cli_text_options(const cli *c, wte_text_options *out);
/* What the options say of how MODEL is opened; its parts point to each other. 0, or the exit code
 * after a message. */
typedef struct cli_model_how {
    wte_model_options model;
    wte_file_options file;
    wte_text_options text;
} cli_model_how;
int cli_model_options(const cli *c, cli_model_how *how);
/* Open MODEL with what --tensor, --head and the options of text tables say (the command must be
 * CLI_WITH_MODEL). It is kept until the command ends. A vocabulary that was wanted but cannot be
 * read is noted, and how a text table was read. 0, or the exit
 * code after a message. */
int cli_open_model(cli *c, const char *path, cli_vocab vocab, wte_model **out);
/* What the options say of how files are opened, for any command. */
void cli_file_options(const cli *c, wte_file_options *out);
/* Keep a model that was opened in another way: it is freed when the command ends. */
void cli_keep_model(cli *c, wte_model *m);
/* When all was well so far: whether the files of the models that are kept are what they were when
 * they were opened. The code, or CLI_INPUT after a message. */
int cli_check_models(const cli *c, int code);
void cli_free_models(cli *c);
/* A note when the input table is one that ZeRO-3 left empty, [0]. */
void cli_note_empty(const cli *c, const wte_model *m);
/* Its input table. 0, or the exit code after a message. */
int cli_input_table(const cli *c, const wte_model *m, const wte_model_table **out);

/* How its rows are stored: "bf16", "q4_0", "gptq 4 bits, groups of 128". */
const char *cli_stored_as(const wte_model_table *t);

/* CLI_VOCAB_NEEDED when one of the words is the text of a token, else `other`. */
cli_vocab cli_vocab_for(char *const *words, int n, bool as_text, cli_vocab other);
/* The id that a word names: itself when it is one and as_text is false, else the token of that
 * text. Negative and too large ids are passed on. 0, or the exit code after a message. */
int cli_word_id(const cli *c, const wte_model *m, const char *word, bool as_text, int64_t *id);
/* The text of a token as people write it, NUL-terminated, until the next call; NULL when it has
 * none. Takes no memory: a text that is lost for want of it would look like a token without one. */
const char *cli_token_text(const wte_model *m, int64_t id, size_t *bytes);
/* The same of an id of the vocabulary: where the input table is a draft head, its ids are others.
 */
const char *cli_vocab_text(const wte_model *m, int64_t token, size_t *bytes);
/* The same in quotes and safe for a terminal; nothing when it has none. Returns the columns taken;
 * out NULL = only these. */
size_t cli_put_token(FILE *out, const wte_model *m, int64_t id);
/* Text or numbers that are read once, from their beginning: a file, a pipe, a device; "-" is
 * standard input. 0, or the exit code after a message. */
int cli_open_stream(const cli *c, const char *path, FILE **out);
#endif
