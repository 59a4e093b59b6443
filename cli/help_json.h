/* help_json.h - the table of commands as JSON. */
#ifndef WTE_CLI_HELP_JSON_H
#define WTE_CLI_HELP_JSON_H
#include "opt.h"

/* One command, or all for NULL. */
void cli_help_json(FILE *out, const cli_command *only);
#endif
