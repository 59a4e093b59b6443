/* got.h - the vectors that a person got: typed numbers, or a file of tensors. */
#ifndef WTE_CLI_GOT_H
#define WTE_CLI_GOT_H
#include <wte/inspect.h>

#include "opt.h"

typedef struct cli_observed {
    wte_observed got;
    bool typed;
    const char *from;  /* what messages name: "--hidden" when typed, else the file */
    void *data;        /* private */
    double *half_unit; /* private */
    char option[32];   /* private */
} cli_observed;

/* Read the value of that option: numbers parted by commas or spaces, in brackets or not, also as
 * PyTorch and NumPy print them ("tensor([[1, 2]], ...)"); else a file with one tensor, '-' = stdin.
 * 0, or the exit code after a message. */
int cli_observed_read(const cli *c, const char *option, cli_observed *out);
/* Whether a vector has as many numbers as a row of that table. */
int cli_observed_width(const cli *c, const cli_observed *got, const char *table, uint64_t dim);
/* All of its numbers as f32, from malloc, also when it fails; a number beyond f32 is an error, an
 * infinity is none. 0, or the exit code after a message. */
int cli_observed_f32(const cli *c, const cli_observed *got, float **out);
void cli_observed_clear(cli_observed *got); /* also of a zeroed one */
#endif
