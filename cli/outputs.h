/* outputs.h - what a command writes besides stdout. main.c calls open before the command runs and
 * close after it, so that every option of a CLI_WRITE_... kind has this:
 *
 * - Before anything is read, each file to be written is compared with each that is read and with
 * each other one, and refused when it would replace it. The temporary files are made, so that a
 * name that cannot be written is known before the work begins.
 * - All of them appear together when the command succeeds, or none does.
 * - "-", pipes and devices are written to directly. */
#ifndef WTE_CLI_OUTPUTS_H
#define WTE_CLI_OUTPUTS_H
#include <wte/model.h>

#include "opt.h"

/* 0, or the exit code after a message. */
int cli_outputs_open(cli *c);
/* Give the files their names: for commands that report them afterwards. 0, or the exit code after a
 * message. */
int cli_outputs_commit(cli *c);
/* Commit when code is CLI_DONE or CLI_NO, else give up everything. Returns the exit code. */
int cli_outputs_close(cli *c, int code);
/* An open model may consist of more files than could be known before: none of them is to be
 * replaced. 0, or CLI_USAGE after a message. */
int cli_outputs_check_model(const cli *c, const wte_model *m);

/* The writer of `path`, which an option named or a folder gets. 0, or the exit code after a
 * message. */
int cli_outputs_writer(const cli *c, const char *path, wte_writer **out);
wte_transaction *cli_outputs_transaction(const cli *c); /* of a command with such an option */
/* The stream of an output whose path is "-" or leads to stdout. */
FILE *cli_outputs_stdout(const cli *c);
/* Whether the path leads to stdout: "-", NULL, /dev/stdout, /dev/fd/1. */
bool cli_is_stdout(const char *path);
/* Whether it is replaced as a whole: not stdout, not a pipe or a device. */
bool cli_is_file(const char *path);
#endif
