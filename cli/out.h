/* out.h - what a command prints: text, exit codes, progress. Facts go to stdout, everything else to
 * stderr. JSON is in json.h.
 *
 * Names and texts that come from files or from the command line are printed through cli_put_safe,
 * so that no control byte reaches a terminal.
 */
#ifndef WTE_CLI_OUT_H
#define WTE_CLI_OUT_H
#include <stdio.h>
#include <wte/dtype.h>

#include "opt.h"

/* Exit codes. */
#define CLI_DONE   0
#define CLI_NO     1 /* ran well, the answer is no */
#define CLI_USAGE  2 /* unknown option, or an id or name typed that does not exist */
#define CLI_INPUT  3 /* input missing, unreadable or malformed */
#define CLI_CANNOT 4 /* input fine, but unsupported or over a limit */
#define CLI_OUTPUT 5 /* output or system failed */

/* The same, by what happened: CLI_IS_NO_FILE is CLI_INPUT. */
enum cli_situation {
#define STATUS(status, typed, input, output)
#define SITUATION(name, code, text) CLI_IS_##name = CLI_##code,
#include "situations.def"
#undef SITUATION
#undef STATUS
};

/* On which side of the command a failure arose. */
typedef enum cli_side { CLI_SIDE_INPUT, CLI_SIDE_OUTPUT, CLI_SIDE_TYPED } cli_side;

/* stderr gets its buffer. */
void cli_say_start(void);
/* The one place where a status becomes an exit code. */
int cli_exit_code(wte_status status, cli_side side);
/* Messages: stderr is written in whole lines, so that those of parallel runs do not mix, and
 * without memory. Names that the library put into a message are escaped already; what else a
 * terminal should not see is escaped as it is printed.
 *
 * "wte lookup: <err's message>" on stderr; returns the exit code. */
int cli_fail(const cli *c, wte_status status, cli_side side, const wte_error *err);
/* The same for a message made here (no newline); returns `code`. */
__attribute__((format(printf, 3, 4))) int cli_say_fail(const cli *c, int code, const char *fmt,
                                                       ...);
/* An input that the system does not let us read, errno being `why`; returns the exit code. */
int cli_read_fail(const cli *c, const char *path, int why);
/* A usage error: the message and a line that points to --help; returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_usage(const cli *c, const char *fmt, ...);
/* The same for the value of an option: "--name 'value': wants ...". */
__attribute__((format(printf, 3, 4))) int cli_refuse_value(const cli *c, const char *option,
                                                           const char *fmt, ...);
/* The same for a number that is beyond a limit that nothing raises; returns CLI_IS_LIMIT. */
int cli_over_limit(const cli *c, const char *option, uint64_t most);
/* A remark on stderr, unless --quiet. */
__attribute__((format(printf, 2, 3))) void cli_note(const cli *c, const char *fmt, ...);

/* Descriptors 0 to 2 are made valid, signals set up. First thing in main. */
void cli_out_start(cli *c);
/* Flush and check stdout: a full disk or a closed stdout is CLI_OUTPUT with a message, else `code`.
 */
int cli_out_finish(const cli *c, int code);
/* What the SIGBUS message names: the file or directory being read. Must outlive the reading. */
void cli_reading(const char *path);

/* Bytes as text for a terminal: valid printable UTF-8 as it is, the rest (control bytes, broken
 * UTF-8, backslash, invisible and direction-changing characters) as \n, \t, \\ or \xNN. */
void cli_put_safe(FILE *out, const void *text, size_t bytes);
/* The same into a buffer, always ended; whole characters and escapes, as many as there is room for.
 * Returns its length. */
size_t cli_escape(char *out, size_t cap, const void *text, size_t bytes);
/* The same in double quotes, with " as \". */
void cli_put_quoted(FILE *out, const void *text, size_t bytes);
/* Columns that cli_put_quoted takes on a terminal (wide characters count 1). */
size_t cli_quoted_width(const void *text, size_t bytes);
/* "1,234,567" */
const char *cli_grouped(char buf[32], uint64_t n);
/* "1.5 GiB"; exact below 1024: "512 bytes" */
const char *cli_size(char buf[32], uint64_t bytes);

/* How the numbers of one vector or matrix are printed: all the same way. { type } to start. */
typedef struct cli_digits {
    wte_dtype type;
    bool negative;
    double largest;
} cli_digits;
/* Look at n values; may be called again with more before the first is printed. */
void cli_digits_look(cli_digits *d, const double *values, size_t n);
/* Four decimals, or an exponent where these say nothing; padded to one width. Integers of 64 bits
 * are taken from `stored`, which may be NULL for other types. */
void cli_put_number(FILE *out, const cli_digits *d, double value, const void *stored);

/* Escape sequences for stdout, or "" when it takes no colours: it is no terminal, NO_COLOR is set,
 * or TERM is dumb. cli_plain ends the others. */
const char *cli_plain(const cli *c);
const char *cli_bold(const cli *c);
const char *cli_dim(const cli *c);
const char *cli_red(const cli *c);
const char *cli_green(const cli *c);

/* Whether binary may be written to `path` ("-" or NULL = stdout): not to a terminal. 0, or
 * CLI_USAGE after a message. */
int cli_binary_ok(const cli *c, const char *path);

/* Where a command writes what -o names: stdout for "-" or NULL, else a file that takes its place
 * when it is complete. */
typedef struct cli_sink {
    FILE *stream;
    wte_writer *writer; /* NULL for stdout */
    const char *path;
} cli_sink;
/* 0, or the exit code after a message. */
int cli_sink_open(const cli *c, const char *path, cli_sink *out);
int cli_sink_put(const cli *c, const cli_sink *sink, const void *data, size_t bytes);
/* Commit when code is 0, else give up what was written. Returns the exit code. */
int cli_sink_close(const cli *c, cli_sink *sink, int code);

/* The threads that --threads asks for (default: one per core); made at the first call. 0, or the
 * exit code after a message. */
int cli_pool(cli *c, wte_pool **out);

/* A bar on stderr, when that is a terminal, not --quiet, and the work lasts over two seconds.
 *     cli_progress p;
 *     options.progress = cli_progress_start(&p, c, "comparing");
 *     ...
 *     cli_progress_stop(&p); */
typedef struct cli_progress {
    wte_progress callback;
    const char *label;
    bool wanted, shown;
    int64_t started_ms, last_ms;
} cli_progress;
const wte_progress *cli_progress_start(cli_progress *p, const cli *c, const char *label);
void cli_progress_stop(cli_progress *p);
#endif
