/* opt.h - commands and their options.
 *
 * A command is one constant: its name, group, one-line summary, options and function. From it come
 * the parser, `--help`, the man page and the texts of usage errors, so that they cannot disagree.
 * To add a command: cli/cmd_<name>.c with `const cli_command cmd_<name> = { ... }`, and one line in
 * commands.def.
 */
#ifndef WTE_CLI_OPT_H
#define WTE_CLI_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum cli_kind {
    CLI_FLAG = 0,
    CLI_TEXT,
    CLI_UNSIGNED, /* 0 .. 2^64 - 1 */
    CLI_SIGNED,   /* -2^63 .. 2^63 - 1 */
    CLI_SEED,     /* -2^63 .. 2^64 - 1; a negative one counts from 2^64, as torch takes it */
    CLI_REAL,
    CLI_CHOICE, /* one of the words in metavar, which are parted by '|' */
    /* Paths. outputs.h checks those that are written against those that are read, and against each
     * other, before the command runs. */
    CLI_READ_FILE,    /* "-" = stdin; also what may be typed in place of a file (numbers, ids) */
    CLI_READ_MODEL,   /* a file or folder that wte_model_open takes */
    CLI_WRITE_ANSWER, /* a file in place of stdout, or "-" */
    CLI_WRITE_TEXT,   /* a file besides what is printed; "-": what is printed goes to stderr */
    CLI_WRITE_BINARY, /* the same, never to a terminal */
    CLI_WRITE_FOLDER  /* gets the files that the command lists */
} cli_kind;

typedef struct cli_option {
    const char *name; /* without the dashes; NULL ends an array */
    char letter;      /* '\0' = none */
    bool repeats;     /* may be given more than once */
    cli_kind kind;
    const char *metavar;  /* NULL for a flag */
    const char *help;     /* one sentence, lower case, no full stop */
    const char *fallback; /* the default as help shows it, and as cli_text gives it; may be NULL */
} cli_option;
#define CLI_OPTIONS_END                                                                            \
    {                                                                                              \
        NULL, '\0', false, CLI_FLAG, NULL, NULL, NULL                                              \
    }

typedef enum cli_group {
    CLI_LOOK,
    CLI_USE,
    CLI_LEARN,
    CLI_CHANGE,
    CLI_SERVE,
    CLI_ABOUT,
    CLI_GROUPS
} cli_group;

/* Which of the common options a command takes beside --help, --quiet and --verbose. */
#define CLI_WITH_JSON    1u /* --json: prints facts */
#define CLI_WITH_MODEL   2u /* --tensor, --head, limits, text tables: takes a MODEL */
#define CLI_WITH_THREADS 4u /* --threads */
#define CLI_WITH_LIMITS  8u /* --max-header, --max-vocab: opens a model without taking a MODEL */

typedef struct cli cli;

typedef struct cli_command {
    const char *name;
    cli_group group;
    const char *synopsis;      /* what follows the options: "MODEL ID|TOKEN..." */
    const char *summary;       /* lower case, no full stop */
    const cli_option *options; /* its own, up to CLI_OPTIONS_END; NULL = none */
    unsigned common;           /* CLI_WITH_... */
    int min_words, max_words;  /* how many words (no options) it takes; max -1 = any number */
    int paths;                 /* how many words, from the first on, are paths; -1 = all */
    cli_kind path_kind;        /* of these: CLI_READ_... */
    const char *const *files;  /* what CLI_WRITE_FOLDER gets, up to NULL; of these the first ones,
                                * up to an empty name, together */
    const char *notes;         /* paragraphs below the options in --help and the man page; lines of
                                * at most 78 columns; NULL = none */
    int (*run)(cli *c);        /* returns the exit code */
} cli_command;

typedef struct cli_value {
    const cli_option *option;
    const char *text; /* as typed; NULL for a flag */
    uint64_t bits;    /* UNSIGNED, SEED; SIGNED as two's complement */
    double real;
    int next; /* value of the same option; 0 = there is none */
} cli_value;

/* Models that one run has open at most. */
#define CLI_MODELS 4

/* Of each option that was given: where its values begin and end. */
typedef struct cli_given_option {
    const cli_option *option;
    int first, last, times;
} cli_given_option;
#define CLI_OPTIONS_MOST 128 /* that one command has, with the common ones */

/* One run of the command. */
struct cli {
    const cli_command *command; /* NULL before it is known */
    char **words;               /* what is no option, in order */
    int n_words;
    cli_value *values; /* options as given, in order */
    int n_values;
    cli_given_option given[CLI_OPTIONS_MOST];
    int n_given;
    bool json, quiet, verbose;
    bool colours;          /* stdout takes them */
    bool no_cache;         /* models are read themselves, no kept index of theirs */
    struct wte_pool *pool; /* made by cli_pool, freed by main */
    /* kept by cli_keep_model, freed by main */
    struct wte_model *models[CLI_MODELS];
    int n_models;
    struct cli_outputs *outputs; /* outputs.c; NULL = none is given */
};

/* Read the words after the command's name. 0, or the exit code after a message on stderr.
 * `--` ends options; "-", "-1" and the like are words. No word and no value is empty. */
int cli_parse(cli *c, int argc, char **argv);
void cli_parse_clear(cli *c);

/* What was given. The name must be one of the command's options and of that kind (asserted). */
bool cli_given(const cli *c, const char *name);
/* The last text given for the option, else its fallback (which may be NULL). */
const char *cli_text(const cli *c, const char *name);
/* False, and *out = other, when the option was not given. */
bool cli_unsigned(const cli *c, const char *name, uint64_t other, uint64_t *out); /* also SEED */
bool cli_real(const cli *c, const char *name, double other, double *out);
/* The values of an option that repeats, in order; NULL past the last. */
const cli_value *cli_first(const cli *c, const char *name);
const cli_value *cli_next(const cli *c, const cli_value *v);
/* How many times it was given. */
size_t cli_times(const cli *c, const char *name);

/* Command i of commands.def, NULL past the last. */
const cli_command *cli_command_at(size_t i);
const cli_command *cli_command_find(const char *name);
/* Option i of a command, the common ones after its own; NULL past the last. */
const cli_option *cli_option_at(const cli_command *command, size_t i);
/* The usage error for a name that is no command, with the nearest one. */
int cli_no_command(const cli *c, const char *name);

/* The help of a command, or the overview for NULL. */
void cli_print_help(const cli *c, FILE *out, const cli_command *command);
#endif
