/* accepted.h - a baseline: findings of wte check that are known and accepted, one a line as code,
 * tab, subject. Empty lines and lines that begin with '#' count for nothing. */
#ifndef WTE_CLI_ACCEPTED_H
#define WTE_CLI_ACCEPTED_H
#include <wte/check.h>

#include "opt.h"

typedef struct cli_baseline {
    char *text; /* the file, cut into lines */
    const char **lines;
    size_t n;
} cli_baseline;

/* path NULL = nothing is accepted. 0, or the exit code after a message. */
int cli_baseline_read(const cli *c, const char *path, cli_baseline *out);
void cli_baseline_clear(cli_baseline *a); /* also of a zeroed one */
bool cli_baseline_has(const cli_baseline *a, const wte_finding *f);
/* Every finding that is no mere remark, as accepted. 0, or the exit code after a message. */
int cli_baseline_write(const cli *c, const char *path, const wte_check *report);

/* The whole of a file of at most `most` bytes, NUL-terminated, from malloc; path "-" = stdin. 0, or
 * the exit code after a message. */
int cli_read_text(const cli *c, const char *path, uint64_t most, char **out, uint64_t *bytes);
#endif
