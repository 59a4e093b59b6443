/* Opening MODEL, and the ids and token texts that are typed beside it. */
#include "open.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "number.h"
#include "out.h"
#include "outputs.h"

void cli_file_options(const cli *c, wte_file_options *out)
{
    *out = (wte_file_options)WTE_FILE_OPTIONS_INIT;
    out->no_cache = c->no_cache;
    if (!(c->command->common & (CLI_WITH_MODEL | CLI_WITH_LIMITS))) return;
    cli_unsigned(c, "max-expansion", 0, &out->max_expansion);
    cli_unsigned(c, "max-header", 0, &out->max_header_bytes);
}

void cli_keep_model(cli *c, wte_model *m)
{
    assert(c->n_models < CLI_MODELS);
    c->models[c->n_models++] = m;
}

int cli_check_models(const cli *c, int code)
{
    wte_error err;
    for (int i = 0; i < c->n_models && (code == CLI_DONE || code == CLI_NO); i++) {
        const wte_file *f = wte_model_file(c->models[i]);
        const wte_status status = f ? wte_file_check_unchanged(f, &err) : WTE_OK;
        if (status != WTE_OK) code = cli_fail(c, status, CLI_SIDE_INPUT, &err);
    }
    return code;
}

void cli_free_models(cli *c)
{
    while (c->n_models) wte_model_free(c->models[--c->n_models]);
}

/* Digits at *text, which moves past them. */
static bool read_count(const char **text, uint64_t *out)
{
    const char *p = *text;
    *out = 0;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
            return false;
    const bool any = p > *text;
    *text = p;
    return any;
}

/* "A-B", "A-" or "A", columns from 1. */
static int read_columns(const cli *c, const char *text, wte_text_options *out)
{
    const char *rest = text;
    bool ok = read_count(&rest, &out->first_column) && out->first_column > 0;
    out->last_column = out->first_column;
    if (ok && *rest == '-') {
        rest++;
        out->last_column = 0;
        ok = !*rest ||
             (read_count(&rest, &out->last_column) && out->last_column >= out->first_column);
    }
    if (ok && !*rest) return CLI_DONE;
    return cli_usage(c, "--columns %s: wants A-B, A- or A, columns from 1", text);
}

int cli_text_options(const cli *c, wte_text_options *out)
{
    *out = (wte_text_options)WTE_TEXT_OPTIONS_INIT;
    const char *columns = cli_text(c, "columns"), *keys = cli_text(c, "keys");
    if (keys) out->keys = strcmp(keys, "none") == 0 ? WTE_TEXT_KEYS_NONE : WTE_TEXT_KEYS_FIRST;
    out->has_skip = cli_unsigned(c, "skip", 0, &out->skip);
    return columns ? read_columns(c, columns, out) : CLI_DONE;
}

/* How a text table was read, where that was judged or asked for. */
static void report_reading(const cli *c, const wte_model *m)
{
    wte_text_reading r;
    const wte_file *f = wte_model_file(m);
    if (!f || wte_file_text_reading(f, &r, NULL) != WTE_OK || r.plain) return;
    cli_note(c, "%s: %s (%s); --columns, --keys and --skip change that", wte_model_path(m), r.what,
             r.why);
}

void cli_note_empty(const cli *c, const wte_model *m)
{
    const wte_model_table *table;
    wte_tensor t;
    if (wte_model_input(m, &table, NULL) != WTE_OK || !wte_model_file(m) ||
        wte_file_tensor(wte_model_file(m), table->tensor, &t, NULL) != WTE_OK || t.rank != 1 ||
        t.shape[0] != 0)
        return;
    cli_note(c,
             "%s: '%.80s' is [0], as ZeRO-3 of DeepSpeed leaves a tensor whose rows are in other "
             "files: python3 zero_to_fp32.py . whole",
             wte_model_path(m), table->name);
}

int cli_model_options(const cli *c, cli_model_how *how)
{
    const int code = cli_text_options(c, &how->text);
    how->model = (wte_model_options)WTE_MODEL_OPTIONS_INIT;
    cli_file_options(c, &how->file);
    how->file.text = &how->text;
    how->model.file = &how->file;
    how->model.tensor = cli_text(c, "tensor");
    how->model.head = cli_text(c, "head");
    cli_unsigned(c, "max-vocab", 0, &how->model.max_vocab_bytes);
    return code;
}

int cli_open_model(cli *c, const char *path, cli_vocab vocab, wte_model **out)
{
    wte_error err;
    cli_model_how how;
    const int code = cli_model_options(c, &how);
    if (code) return code;
    wte_model_options opt = how.model;
    const wte_text_options text = how.text;
    opt.without_vocab = vocab == CLI_VOCAB_NONE;
    cli_reading(path);
    cli_progress progress;
    opt.progress = cli_progress_start(&progress, c, "indexing");
    wte_status status = wte_model_open(path, &opt, out, &err);
    cli_progress_stop(&progress);
    if (status == WTE_OK) {
        cli_keep_model(c, *out);
        report_reading(c, *out);
        cli_note_empty(c, *out);
        const char *problem = wte_model_vocab_problem(*out);
        if (*problem && vocab != CLI_VOCAB_NEEDED)
            cli_note(c, "%s; token texts, and what goes by them, are left out", problem);
        return cli_outputs_check_model(c, *out);
    }
    /* a name that is not there was typed; a file that is not there is input */
    bool typed = (status == WTE_E_NOT_FOUND && (opt.tensor || opt.head)) ||
                 (status == WTE_E_ARGUMENT && (text.keys || text.first_column));
    return cli_fail(c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
}

int cli_input_table(const cli *c, const wte_model *m, const wte_model_table **out)
{
    wte_error err;
    wte_status status = wte_model_input(m, out, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

int cli_open_stream(const cli *c, const char *path, FILE **out)
{
    struct stat st;
    *out = strcmp(path, "-") == 0 ? stdin : NULL;
    if (*out) return CLI_DONE;
    if (stat(path, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode)))
        return cli_say_fail(c, CLI_IS_NOT_A_FILE, "%s: is a %s, not a file", path,
                            S_ISDIR(st.st_mode) ? "directory" : "socket");
    *out = fopen(path, "rb");
    const int why = errno;
    if (*out) return CLI_DONE;
    return cli_read_fail(c, path, why);
}

/* Digits, or '-' and digits. */
static bool is_id(const char *word)
{
    if (*word == '-') word++;
    if (!*word) return false;
    for (; *word; word++)
        if (!isdigit((unsigned char)*word)) return false;
    return true;
}

cli_vocab cli_vocab_for(char *const *words, int n, bool as_text, cli_vocab other)
{
    for (int i = 0; i < n; i++)
        if (as_text || !is_id(words[i])) return CLI_VOCAB_NEEDED;
    return other;
}

/* An id of more than 63 bits: it cannot be counted like the others, but is told like them. */
static int beyond(const cli *c, const wte_model *m, const char *word)
{
    const wte_model_table *table;
    const int code = cli_input_table(c, m, &table);
    if (code) return code;
    if (table->rows == 0)
        return cli_say_fail(c, CLI_USAGE, "%s: id %s has no row; the table is empty",
                            wte_model_path(m), word);
    return cli_say_fail(c, CLI_USAGE, "%s: id %s has no row; valid ids are 0..%" PRIu64,
                        wte_model_path(m), word, table->rows - 1);
}

/* The id of the input table that stands for a token: of a draft head, the row that has it. */
static int find_row(const cli *c, const wte_model *m, const char *word, uint64_t token, int64_t *id)
{
    const wte_model_output *o = wte_model_output_of(m);
    const wte_model_table *input;
    const bool draft = o->map && wte_model_input(m, &input, NULL) == WTE_OK &&
                       input->tensor == wte_model_head(m)->tensor;
    *id = (int64_t)token;
    if (!draft) return CLI_DONE;
    for (uint64_t row = 0; row < o->n_map; row++) {
        *id = (int64_t)row;
        if ((uint64_t)o->map[row] == token) return CLI_DONE;
    }
    return cli_say_fail(c, CLI_IS_TYPED_TOKEN,
                        "'%s' is token %llu, which no row of %s stands for (%s)", word,
                        (unsigned long long)token, input->name, o->map_why);
}

int cli_word_id(const cli *c, const wte_model *m, const char *word, bool as_text, int64_t *id)
{
    *id = 0;
    if (!as_text && is_id(word)) {
        if (cli_read_signed(word, id)) return CLI_DONE;
        return beyond(c, m, word);
    }
    cli_hint hint;
    cli_dash_hint(&hint, word, strlen(word));
    const wte_vocab *vocab = wte_model_vocab(m);
    if (!vocab) {
        const char *problem = wte_model_vocab_problem(m);
        if (*problem) return cli_say_fail(c, CLI_INPUT, "%s", problem);
        return cli_say_fail(c, CLI_IS_TYPED_TOKEN,
                            "'%s' is no id (whole numbers are), and %s has no vocabulary in which "
                            "to find a token%s",
                            word, wte_model_path(m), hint.text);
    }
    wte_error err;
    uint64_t found, others;
    wte_status status = wte_vocab_find(vocab, word, strlen(word), &found, &others, &err);
    if (status == WTE_E_NOT_FOUND && hint.text[0])
        return cli_say_fail(c, CLI_IS_TYPED_TOKEN, "%s%s", err.message, hint.text);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_TYPED, &err);
    if (others)
        cli_note(c, "'%s' is the text of %llu more token%s; id %llu is taken", word,
                 (unsigned long long)others, others == 1 ? "" : "s", (unsigned long long)found);
    return find_row(c, m, word, found, id);
}

#define TEXT_MOST ((size_t)1 << 20) /* WTE_LIMIT_TOKEN_TEXT: no vocabulary has a longer one */

const char *cli_vocab_text(const wte_model *m, int64_t id, size_t *bytes)
{
    static char text[TEXT_MOST + 1];
    const wte_vocab *vocab = wte_model_vocab(m);
    *bytes = 0;
    const uint64_t n = vocab && id >= 0 ? wte_vocab_text(vocab, (uint64_t)id, text, TEXT_MOST) : 0;
    if (n == 0 || n > TEXT_MOST) return NULL;
    *bytes = (size_t)n;
    text[n] = '\0';
    return text;
}

const char *cli_token_text(const wte_model *m, int64_t id, size_t *bytes)
{
    return cli_vocab_text(m, id < 0 ? id : (int64_t)wte_model_token(m, (uint64_t)id), bytes);
}

size_t cli_put_token(FILE *out, const wte_model *m, int64_t id)
{
    size_t bytes;
    const char *text = cli_token_text(m, id, &bytes);
    if (!text) return 0;
    size_t width = cli_quoted_width(text, bytes);
    if (out) cli_put_quoted(out, text, bytes);
    return width;
}

const char *cli_stored_as(const wte_model_table *t)
{
    return t->scheme ? t->scheme : wte_type_name(t->dtype, t->block);
}
