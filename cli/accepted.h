/* accepted.h - a baseline: findings of wte check that are known and accepted, one a line as code,
 * tab, subject. Empty lines and lines that begin with '#' count for nothing. */
#ifndef WTE_CLI_ACCEPTED_H
#define WTE_CLI_ACCEPTED_H
#include <wte/check.h>

#include "opt.h"

typedef struct cli_accepted {
    char *text; /* the file, cut into lines */
    const char **lines;
    size_t n;
} cli_accepted;

/* path NULL = nothing is accepted. 0, or the exit code after a message. */
int cli_accepted_read(const cli *c, const char *path, cli_accepted *out);
void cli_accepted_clear(cli_accepted *a); /* also of a zeroed one */
bool cli_accepts(const cli_accepted *a, const wte_finding *f);
/* Every finding that is no mere remark, as accepted. 0, or the exit code after a message. */
int cli_accepted_write(const cli *c, const char *path, const wte_check *report);

/* The whole of a file of at most `most` bytes, NUL-terminated, from malloc; path "-" = stdin. 0, or
 * the exit code after a message. */
int cli_read_text(const cli *c, const char *path, uint64_t most, char **out, uint64_t *bytes);
#endif
