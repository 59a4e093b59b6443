/* wte lookup - ids to rows: as a matrix for people, JSON, .npy or raw bytes. Printing is in
 * lookup_print.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "open.h"
#include "opt.h"

static const cli_option options[] = {
    CLI_IDS_OPTIONS,
    { "token", '\0', false, CLI_FLAG, NULL, "take every word as the text of a token, digits too",
      NULL },
    { "oov", '\0', false, CLI_FLAG, NULL,
      "the same, and words without a row get the vectors that a fastText model makes of n-grams",
      NULL },
    { "dtype", '\0', false, CLI_TEXT, "T", "convert the vectors to this element type",
      "as stored" },
    { "allow-overflow", '\0', false, CLI_FLAG, NULL,
      "with --dtype: numbers that the type cannot hold become infinite, its limit, or 0", NULL },
    { "full", '\0', false, CLI_FLAG, NULL, "print every row and every number", NULL },
    { "npy", '\0', false, CLI_FLAG, NULL, "write an .npy file: the ids' shape, then the dimension",
      NULL },
    { "raw", '\0', false, CLI_FLAG, NULL, "write the vectors' bytes alone", NULL },
    { "output", 'o', false, CLI_WRITE_ANSWER, "FILE", "write to FILE instead of stdout", NULL },
    { "bad-ids", '\0', false, CLI_CHOICE, "error|zero",
      "what an id without a row does: refuse all, or give zeros", "error" },
    { "ignore-id", '\0', true, CLI_SIGNED, "N", "this id gives a vector of zeros", NULL },
    CLI_OPTIONS_END,
};

#define BATCH_BYTES   (4u << 20)
#define THREADS_BYTES (32u << 20) /* below this, starting threads costs more than it saves */

size_t lookup_batch(const lookup_job *job)
{
    uint64_t row = job->table->source.cols * wte_dtype_bytes(job->type);
    uint64_t n = row ? BATCH_BYTES / row : BATCH_BYTES;
    if (n > 65536) n = 65536; /* the ids take memory too */
    if (n > job->ids.count) n = job->ids.count;
    return n ? (size_t)n : 1;
}

int lookup_rows(lookup_job *job, uint64_t at, size_t n, int64_t *values, void *rows)
{
    int code = cli_ids_read(job->c, &job->ids, at, n, values);
    if (code) return code;
    const wte_ids ids = { values, WTE_I64, 0, n };
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.out_dtype = job->type;
    opt.bad_ids = job->zero_bad ? WTE_BAD_ID_ZERO : WTE_BAD_ID_ERROR;
    opt.ignore_ids = job->ignore;
    opt.n_ignore_ids = job->n_ignore;
    opt.pool = job->c->pool;
    job->bar.callback.report(job->bar.callback.ctx, at, job->ids.count);
    wte_error err;
    wte_status status = wte_lookup(&job->table->source, ids, &opt, rows, 0, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(job->c, status, CLI_SIDE_INPUT, &err);
}

/* Binary: a header or none, then rows batch by batch. */
static int write_binary(lookup_job *job, bool npy)
{
    size_t cap = lookup_batch(job);
    size_t row_bytes = (size_t)job->table->source.cols * wte_dtype_bytes(job->type);
    int64_t *ids = malloc(cap * sizeof *ids);
    char *rows = malloc(cap * row_bytes + 1);
    int code = CLI_DONE;
    if (!ids || !rows)
        code = cli_say_fail(job->c, CLI_OUTPUT, "out of memory for rows of %zu bytes", row_bytes);
    if (!code && npy) {
        char header[1024];
        size_t n;
        uint64_t shape[WTE_MAX_RANK + 1];
        wte_error err;
        memcpy(shape, job->ids.shape, job->ids.rank * sizeof *shape);
        shape[job->ids.rank] = job->table->source.cols;
        wte_status status =
            wte_npy_header(job->type, shape, job->ids.rank + 1, header, sizeof header, &n, &err);
        code = status == WTE_OK ? cli_sink_put(job->c, &job->sink, header, n)
                                : cli_fail(job->c, status, CLI_SIDE_TYPED, &err);
    }
    for (uint64_t at = 0; at < job->ids.count && !code;) {
        uint64_t left = job->ids.count - at;
        size_t n = left < cap ? (size_t)left : cap;
        code = lookup_rows(job, at, n, ids, rows);
        if (!code) code = cli_sink_put(job->c, &job->sink, rows, n * row_bytes);
        at += n;
    }
    free(ids);
    free(rows);
    return code;
}

/* Why there may be no such row: what a person would look for next. */
static void put_hint(FILE *out, const lookup_job *job, int64_t id)
{
    const wte_model_config *config = wte_model_config_of(job->model);
    size_t bytes;
    const char *token = cli_token_text(job->model, id, &bytes); /* none for negative ones */
    if (cli_ids_beyond(&job->ids, id)) {
        if (id >= -1000) fputs(" (a negative number, stored as u64?)", out);
    } else if (id < 0) {
        fputs(" (negative ids do not count from the end; --ignore-id gives zeros)", out);
    } else if (token) {
        fputs(" (the vocabulary has token ", out);
        cli_put_quoted(out, token, bytes);
        fputs(" for it, but the table was not resized)", out);
    } else if ((uint64_t)id == job->table->source.rows && id > 0) {
        fputs(" (one past the last row: ids count from zero)", out);
    } else if (config && (uint64_t)id < config->vocab_size) {
        fprintf(out, " (config.json says vocab_size %" PRIu64 ", but the table has fewer rows)",
                config->vocab_size);
    }
}

static int refuse_bad_ids(const lookup_job *job)
{
    const wte_bad_ids *bad = &job->report;
    uint64_t rows = job->table->source.rows;
    char valid[64] = "the table is empty", id[32], *text = NULL;
    if (rows) snprintf(valid, sizeof valid, "valid ids are 0..%" PRIu64, rows - 1);
    int code = job->ids.typed ? CLI_USAGE : CLI_INPUT;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return cli_say_fail(job->c, CLI_OUTPUT, "out of memory");
    fprintf(out, "%s: ", job->ids.typed ? wte_model_path(job->model) : job->ids.from);
    if (bad->count == 1) {
        fprintf(out, "id %s at position %" PRIu64 " has no row; %s",
                cli_ids_text(&job->ids, bad->first[0].value, id), bad->first[0].position, valid);
        put_hint(out, job, bad->first[0].value);
    } else {
        fprintf(out, "%" PRIu64 " of %" PRIu64 " ids have no row; %s", bad->count, job->ids.count,
                valid);
    }
    const bool whole = fclose(out) == 0 && text;
    code = whole ? cli_say_fail(job->c, code, "%s", text)
                 : cli_say_fail(job->c, CLI_OUTPUT, "out of memory");
    free(text);
    if (!whole) return code;
    for (uint32_t i = 0; i < bad->n_first && bad->count > 1; i++) {
        fprintf(stderr, "  position %" PRIu64 ": id %s", bad->first[i].position,
                cli_ids_text(&job->ids, bad->first[i].value, id));
        put_hint(stderr, job, bad->first[i].value);
        fputc('\n', stderr);
    }
    if (bad->count > bad->n_first)
        fprintf(stderr, "  and %" PRIu64 " more\n", bad->count - bad->n_first);
    return code;
}

static int resolve_words(lookup_job *job)
{
    cli *c = job->c;
    size_t n = (size_t)c->n_words - 1;
    int64_t *ids = malloc((n ? n : 1) * sizeof *ids);
    if (!ids) return cli_say_fail(c, CLI_OUTPUT, "out of memory for %zu ids", n);
    bool as_text = cli_given(c, "token");
    int code = CLI_DONE;
    if (cli_given(c, "oov"))
        code = lookup_unknown(job, c->words + 1, n, ids);
    else
        for (size_t i = 0; i < n && !code; i++)
            code = cli_word_id(c, job->model, c->words[i + 1], as_text, &ids[i]);
    if (!code) code = cli_ids_typed(c, ids, n, &job->ids);
    free(ids);
    return code;
}

static int read_ignored(lookup_job *job)
{
    const size_t n = cli_times(job->c, "ignore-id");
    job->ignore = malloc((n + 1) * sizeof *job->ignore);
    if (!job->ignore) return cli_say_fail(job->c, CLI_OUTPUT, "out of memory");
    for (const cli_value *v = cli_first(job->c, "ignore-id"); v; v = cli_next(job->c, v))
        job->ignore[job->n_ignore++] = (int64_t)v->bits;
    job->n_ignore = cli_ids_sort(job->ignore, job->n_ignore);
    return CLI_DONE;
}

static int check_usage(cli *c)
{
    bool npy = cli_given(c, "npy"), raw = cli_given(c, "raw");
    bool ids = cli_given(c, "ids");
    if (npy + raw + c->json > 1) return cli_usage(c, "--json, --npy and --raw exclude each other");
    if (cli_given(c, "full") && (npy || raw || c->json))
        return cli_usage(c, "--full is about text; the other forms are always full");
    if (ids && c->n_words > 1)
        return cli_usage(c, "ids come from the words or from --ids, not both");
    if (!ids && c->n_words < 2) return cli_usage(c, "no ids: give some, or --ids FILE");
    if (ids && cli_given(c, "oov"))
        return cli_usage(c, "--oov is about words; ids of --ids have rows");
    if (cli_given(c, "oov") && cli_given(c, "tensor"))
        return cli_usage(c, "--oov is about the vectors of words, no other --tensor");
    if (cli_given(c, "allow-overflow") && !cli_given(c, "dtype"))
        return cli_usage(c, "--allow-overflow belongs to --dtype");
    if (!ids && cli_given(c, "ids-type")) return cli_usage(c, "--ids-type belongs to --ids");
    return npy || raw ? cli_binary_ok(c, cli_text(c, "output")) : CLI_DONE;
}

static int open_all(lookup_job *job)
{
    cli *c = job->c;
    bool binary = cli_given(c, "npy") || cli_given(c, "raw");
    cli_vocab vocab = cli_vocab_for(c->words + 1, c->n_words - 1,
                                    cli_given(c, "token") || cli_given(c, "oov"), CLI_VOCAB_ALL);
    if (binary && vocab == CLI_VOCAB_ALL) vocab = CLI_VOCAB_NONE;
    int code = cli_open_model(c, c->words[0], vocab, &job->model);
    if (!code) code = cli_input_table(c, job->model, &job->table);
    if (code) return code;
    job->type = job->table->source.dtype;
    if (cli_given(c, "dtype")) {
        job->type = wte_dtype_from_name(cli_text(c, "dtype"));
        if (!wte_dtype_converts(job->type))
            return cli_refuse_value(c, "dtype", "no element type that vectors are converted to");
    }
    code = read_ignored(job);
    if (!code) code = cli_given(c, "ids") ? cli_ids_open(c, &job->ids) : resolve_words(job);
    return code;
}

/* Types that are known by size and name alone have no numbers to show or convert: said before
 * anything is written. */
static int check_types(const lookup_job *job)
{
    const wte_dtype stored = job->table->source.dtype;
    if (wte_dtype_converts(stored)) return CLI_DONE;
    const bool binary = cli_given(job->c, "npy") || cli_given(job->c, "raw");
    if (binary && job->type == stored) return CLI_DONE;
    return cli_say_fail(job->c, CLI_CANNOT,
                        "%s: the elements of %s are %s, which this build takes for no numbers; "
                        "--raw writes their bytes",
                        wte_model_path(job->model), job->table->name, wte_dtype_name(stored));
}

static int answer(lookup_job *job)
{
    cli *c = job->c;
    job->zero_bad = strcmp(cli_text(c, "bad-ids"), "zero") == 0;
    int code = cli_ids_check(c, &job->ids, job->table->source.rows, job->ignore, job->n_ignore,
                             &job->report);
    if (code) return code;
    if (job->report.count && !job->zero_bad) return refuse_bad_ids(job);
    code = check_types(job);
    if (code) return code;
    cli_progress_start(&job->bar, c, "looking at numbers");
    code = lookup_check_narrow(job);
    cli_progress_stop(&job->bar);
    if (code) return code;
    uint64_t row_bytes = job->table->source.cols * wte_dtype_bytes(job->type);
    if (row_bytes && job->ids.count > THREADS_BYTES / row_bytes) {
        wte_pool *pool;
        code = cli_pool(c, &pool);
        if (code) return code;
    }
    code = cli_sink_open(c, cli_text(c, "output"), &job->sink);
    if (code) return code;
    job->out = job->sink.stream;
    cli_progress_start(&job->bar, c, "looking up");
    if (c->json)
        code = lookup_print_json(job);
    else if (cli_given(c, "npy") || cli_given(c, "raw"))
        code = write_binary(job, cli_given(c, "npy"));
    else
        code = lookup_print_text(job, cli_given(c, "full"));
    cli_progress_stop(&job->bar);
    code = cli_sink_close(c, &job->sink, code);
    if (!code && job->report.count)
        cli_note(c, "%" PRIu64 " of %" PRIu64 " ids have no row; they gave zeros",
                 job->report.count, job->ids.count);
    return code;
}

static int run(cli *c)
{
    int code = check_usage(c);
    if (code) return code;
    lookup_job job = { .c = c };
    code = open_all(&job);
    if (!code) code = answer(&job);
    free(job.ignore);
    free(job.unknown);
    cli_ids_close(&job.ids);
    return code;
}

const cli_command cmd_lookup = {
    .name = "lookup",
    .group = CLI_LOOK,
    .synopsis = "MODEL ID|TOKEN...",
    .summary = "print the vectors that ids or tokens name",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = -1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "A word of digits (or '-' and digits) is an id; anything else is the text of a\n"
             "token. n ids give n rows: one id gives the shape [1, dim], one vector.\n"
             "Ids in an .npy file may have any shape; the dimension is appended to it.\n"
             "Every id is checked before anything is written. A bad id on the command line\n"
             "is exit 2, in a file exit 3.",
    .run = run,
};
