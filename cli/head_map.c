/* Draft heads have fewer rows than there are tokens: which tokens these are is said by tensors of
 * the model (wte_model_output) or by --map, and is never guessed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "head.h"
#include "ids.h"
#include "open.h"
#include "opt.h"

/* A token and the row that stands for it. */
struct cli_row {
    int64_t token, row;
};

int64_t cli_head_token(const cli_head *h, uint64_t row)
{
    return h->map ? h->map[row] : (int64_t)row;
}

static int by_token(const void *va, const void *vb)
{
    const struct cli_row *a = va, *b = vb;
    return a->token < b->token ? -1 : a->token > b->token;
}

int cli_head_row(cli_head *h, int64_t token, int64_t *row)
{
    const uint64_t rows = h->table->rows;
    *row = token >= 0 && (uint64_t)token < rows ? token : -1;
    if (!h->map) return CLI_DONE;
    if (!h->map_found) {
        h->map_found = calloc((size_t)rows + 1, sizeof *h->map_found);
        if (!h->map_found) return cli_say_fail(h->c, CLI_OUTPUT, "out of memory for a map");
        for (uint64_t r = 0; r < rows; r++)
            h->map_found[r] = (struct cli_row){ h->map[r], (int64_t)r };
        qsort(h->map_found, (size_t)rows, sizeof *h->map_found, by_token);
    }
    const struct cli_row key = { token, 0 };
    const struct cli_row *found = bsearch(&key, h->map_found, (size_t)rows, sizeof key, by_token);
    *row = found ? found->row : -1;
    return CLI_DONE;
}

/* Ids that can be what a row stands for, 0 = of unknown number. */
static uint64_t tokens_of(const cli_head *h)
{
    const wte_vocab *vocab = wte_model_vocab(h->model);
    const wte_model_table *input = NULL;
    uint64_t n = wte_model_output_of(h->model)->map_tokens;
    if (n) return n;
    n = wte_model_config_of(h->model)->vocab_size;
    if (vocab && wte_vocab_size(vocab) > n) n = wte_vocab_size(vocab);
    const bool known = wte_model_input(h->model, &input, NULL) == WTE_OK;
    if (known && input->tensor != h->table->tensor && input->rows > n) n = input->rows;
    return n < h->table->rows ? 0 : n;
}

/* Numbers as a map, into h->map_read; `name`: where they come from. */
static int take(cli_head *h, const char *name, const int64_t *number, bool offsets)
{
    const cli *c = h->c;
    const uint64_t rows = h->table->rows, tokens = tokens_of(h);
    wte_error err, unused;
    wte_status way[2]; /* as is asked for, and the other way */
    int64_t *map = calloc((size_t)rows + 1, sizeof *map);
    free(h->map_read);
    h->map_read = map;
    if (!map) return cli_say_fail(c, CLI_OUTPUT, "out of memory for a map");
    for (int i = 1; i >= 0; i--) {
        const bool add = offsets == (i == 0);
        for (uint64_t r = 0; r < rows; r++) map[r] = (int64_t)((uint64_t)number[r] + (add ? r : 0));
        way[i] = wte_head_map_check(map, (size_t)rows, tokens, NULL, i ? &unused : &err);
    }
    h->map = map;
    h->map_from = name;
    if (way[0] == WTE_OK) return CLI_DONE;
    if (way[0] == WTE_E_MEMORY) return cli_fail(c, WTE_E_MEMORY, CLI_SIDE_OUTPUT, &err);
    const char *hint = way[1] != WTE_OK ? ""
                       : offsets        ? "; --map-as ids takes the numbers as they are"
                                        : "; --map-as offsets adds each to its row";
    return cli_say_fail(c, CLI_INPUT, "--map: %s: %s%s", name, err.message, hint);
}

static void take_own(cli_head *h)
{
    const wte_model_output *o = wte_model_output_of(h->model);
    h->map = o->map;
    h->map_from = o->map_name;
    h->map_why = o->map_why;
}

static bool wants_offsets(const cli *c)
{
    return cli_given(c, "map-as") && strcmp(cli_text(c, "map-as"), "offsets") == 0;
}

/* The numbers of --map, one for each row, from malloc; NULL after a message and *code. */
static int64_t *read_numbers(const cli_head *h, cli_ids *ids, int *code)
{
    const cli *c = h->c;
    const uint64_t rows = h->table->rows;
    /* --ids-type of wte loss is about the targets */
    *code = cli_given(c, "targets") ? cli_ids_open_plain(c, "map", ids)
                                    : cli_ids_open_as(c, "map", ids);
    if (*code) return NULL;
    if (ids->count != rows) {
        *code = cli_say_fail(c, CLI_INPUT,
                             "--map: %s: %" PRIu64 " ids for %" PRIu64 " rows of the head",
                             ids->from, ids->count, rows);
        return NULL;
    }
    int64_t *number = calloc((size_t)rows + 1, sizeof *number);
    if (!number) {
        *code = cli_say_fail(c, CLI_OUTPUT, "out of memory for a map");
        return NULL;
    }
    *code = cli_ids_read(c, ids, 0, (size_t)rows, number);
    if (!*code) return number;
    free(number);
    return NULL;
}

static int from_file(cli_head *h)
{
    const wte_model_output *o = wte_model_output_of(h->model);
    const uint64_t rows = h->table->rows;
    cli_ids ids;
    int code;
    int64_t *number = read_numbers(h, &ids, &code);
    if (number) {
        /* a copy of the model's own list means what that means */
        const bool own = o->map && o->map_stored && o->n_map == rows &&
                         !cli_given(h->c, "map-as") &&
                         memcmp(number, o->map_stored, (size_t)rows * sizeof *number) == 0;
        if (own)
            take_own(h);
        else
            code = take(h, ids.from, number, wants_offsets(h->c));
        free(number);
    }
    cli_ids_close(&ids);
    return code;
}

int cli_head_map(cli_head *h)
{
    cli *c = h->c;
    const wte_model_output *o = wte_model_output_of(h->model);
    const wte_vocab *vocab = wte_model_vocab(h->model);
    const uint64_t rows = h->table->rows;
    if (cli_given(c, "map") && strcmp(cli_text(c, "map"), "none") != 0) return from_file(h);
    if (cli_given(c, "map")) {
        h->nameless = o->n_map || *o->map_problem || (vocab && rows < wte_vocab_count(vocab));
        return CLI_DONE;
    }
    if (cli_given(c, "map-as") && (!o->map_stored || o->n_map != rows))
        return cli_usage(c, "--map-as belongs to --map: the model has no map of its own");
    if (cli_given(c, "map-as")) return take(h, o->map_name, o->map_stored, wants_offsets(c));
    if (*o->map_problem)
        return cli_say_fail(
            c, CLI_CANNOT,
            "%s: which tokens the rows of the head are cannot be told: %s; --map FILE "
            "or --map-as ids|offsets tells it, --map none shows rows",
            wte_model_path(h->model), o->map_problem);
    if (o->map && o->n_map == rows) {
        take_own(h);
        return CLI_DONE;
    }
    if (vocab && rows < wte_vocab_count(vocab))
        cli_note(c,
                 "the head has %" PRIu64 " rows for %" PRIu64
                 " tokens: ids are rows of the head; --map tells which tokens they are",
                 rows, wte_vocab_count(vocab));
    return CLI_DONE;
}
