/* outputs_check.h - the inside of outputs.h: the list of outputs, and what they must not replace.
 */
#ifndef WTE_CLI_OUTPUTS_CHECK_H
#define WTE_CLI_OUTPUTS_CHECK_H
#include "file_id.h"
#include "outputs.h"

typedef struct cli_output {
    const cli_option *option; /* that named it, or the folder it is in */
    char path[4096];
    cli_file_id id, parent;
    bool begun; /* its writer is made before the command runs */
} cli_output;

typedef struct cli_outputs {
    wte_transaction *transaction;
    cli_output *list;
    size_t n;
    int lock;         /* of the folder that is written; -1 = none */
    const char *made; /* the folder, when it was not there before; it is the option's text */
    FILE *stream;     /* stdout, when an output has taken it; else NULL */
} cli_outputs;

bool cli_writes(cli_kind kind);
/* Compare all outputs with all inputs and with each other. 0, or CLI_USAGE after a message. */
int cli_outputs_check(cli *c);
#endif
