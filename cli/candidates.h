/* The tensors that were considered for a role, as inspect lists them. */
#ifndef WTE_CLI_CANDIDATES_H
#define WTE_CLI_CANDIDATES_H
#include <wte/model.h>

#include "json.h"
#include "opt.h"

/* Reads the bytes of each, to tell which are equal. */
int cli_print_candidates(const cli *c, const wte_model *m);
int cli_json_candidates(const cli *c, cli_json *j, const wte_model *m, bool with_bytes);
#endif
