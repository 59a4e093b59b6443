/* ids.h - token ids from the command line, or from a file of numbers: .npy of any integer type and
 * any shape, text, or raw u16, u32, i32, i64. Files are read piece by piece. */
#ifndef WTE_CLI_IDS_H
#define WTE_CLI_IDS_H
#include <wte/format.h>
#include <wte/lookup.h>

#include "opt.h"

typedef struct cli_ids {
    uint64_t count;
    uint32_t rank; /* shape of the ids: [count] unless an .npy file says otherwise */
    uint64_t shape[WTE_MAX_RANK];
    bool typed;       /* on the command line */
    const char *from; /* file name, or "standard input", or "the command line" */
    /* Where they lie: one of memory, a stream of raw numbers, an .npy file. Private. */
    void *memory;
    FILE *stream;
    wte_file *file;
    wte_dtype type; /* of one number there */
    bool swapped;   /* stored with the most significant byte first */
} cli_ids;

/* The options for this, to be put into a command's array. */
#define CLI_IDS_OPTIONS                                                                            \
    { "ids", '\0', false, CLI_TEXT, "FILE", "read ids from FILE ('-' = stdin)", NULL },            \
    {                                                                                              \
        "ids-type", '\0', false, CLI_CHOICE, "u16|u32|i32|i64",                                    \
            "FILE is raw numbers of this type, little-endian", NULL                                \
    }

/* Take n ids that cli_word_id gave; they are copied. All return 0, or the exit code after a
 * message. */
int cli_ids_typed(const cli *c, const int64_t *values, size_t n, cli_ids *out);
/* A typed list of whole numbers, parted by commas or blanks; *out is from malloc, also on failure.
 */
int cli_ids_list(const cli *c, const char *what, const char *text, int64_t **out, uint64_t *n);
/* What --ids and --ids-type name. */
int cli_ids_open(const cli *c, cli_ids *out);
/* The same for another option than --ids, in text or .npy (raw only with --ids-type). */
int cli_ids_open_as(const cli *c, const char *option, cli_ids *out);
/* The same, in text or .npy, whatever --ids-type says of another file. */
int cli_ids_open_plain(const cli *c, const char *option, cli_ids *out);
/* Whether the file begins as .npy does; false when it cannot be read. */
bool cli_ids_is_npy(const char *path);
/* Ids at .. at + n - 1. Floating point numbers must be whole and below what their type tells apart.
 * u64 ids from 2^63 on come with their bits, as negative numbers: cli_ids_beyond tells them. */
int cli_ids_read(const cli *c, const cli_ids *ids, uint64_t at, size_t n, int64_t *out);
/* Whether the value stands for a u64 id that no signed number holds. No table has such a row. */
bool cli_ids_beyond(const cli_ids *ids, int64_t value);
/* The id in digits. */
const char *cli_ids_text(const cli_ids *ids, int64_t value, char buf[32]);
/* Ascending, each once; returns how many are left. */
size_t cli_ids_sort(int64_t *ids, size_t n);
bool cli_ids_among(const int64_t *sorted, size_t n, int64_t id);
/* Read all; count those outside 0 .. rows - 1 that ignore, which ascends, does not name, and note
 * the first few. */
int cli_ids_check(const cli *c, const cli_ids *ids, uint64_t rows, const int64_t *ignore,
                  size_t n_ignore, wte_bad_ids *report);
void cli_ids_close(cli_ids *ids); /* also of a zeroed one */
#endif
