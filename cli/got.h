/* got.h - the vectors that a person got: typed numbers, or a file of tensors. */
#ifndef WTE_CLI_GOT_H
#define WTE_CLI_GOT_H
#include <wte/tools.h>

#include "opt.h"

typedef struct cli_got {
    wte_got got;
    bool typed;
    const char *from;  /* what messages name: "--hidden" when typed, else the file */
    void *data;        /* private */
    double *half_unit; /* private */
    char option[32];   /* private */
} cli_got;

/* Read the value of that option: numbers parted by commas or spaces, in brackets or not, also as
 * PyTorch and NumPy print them ("tensor([[1, 2]], ...)"); else a file with one tensor, '-' = stdin.
 * 0, or the exit code after a message. */
int cli_got_read(const cli *c, const char *option, cli_got *out);
/* Whether a vector has as many numbers as a row of that table. */
int cli_got_width(const cli *c, const cli_got *got, const char *table, uint64_t dim);
/* All of its numbers as f32, from malloc, also when it fails; a number beyond f32 is an error, an
 * infinity is none. 0, or the exit code after a message. */
int cli_got_f32(const cli *c, const cli_got *got, float **out);
void cli_got_clear(cli_got *got); /* also of a zeroed one */
#endif
