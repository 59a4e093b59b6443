/* wte logits - hidden vectors to logits, probabilities, draws: through the output head as the model
 * does it, or as a plain product. Printing is in logits_print.c. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logits.h"
#include "number.h"
#include "open.h"
#include "opt.h"
#include "outputs.h"

static const cli_option options[] = {
    { "hidden", '\0', false, CLI_READ_FILE, "NUMBERS|FILE",
      "hidden vectors: 0.1,-2,3 or a file with one tensor, a vector in each row ('-' = stdin)",
      NULL },
    { "id", '\0', true, CLI_TEXT, "ID|TOKEN", "the hidden vector is the input row of this token",
      NULL },
    { "token", '\0', false, CLI_FLAG, NULL, "take --id as the text of a token, digits too", NULL },
    { "top", 'k', false, CLI_UNSIGNED, "K", "show so many rows of each vector, at most 65536",
      "10" },
    { "ids", '\0', false, CLI_READ_FILE, "IDS|FILE",
      "the logits of these rows alone: 3,5 or a file of ids ('-' = stdin)", NULL },
    { "ids-type", '\0', false, CLI_CHOICE, "u16|u32|i32|i64",
      "FILE is raw numbers of this type, little-endian", NULL },
    CLI_HEAD_OPTIONS,
    { "precision", '\0', false, CLI_CHOICE, "exact|fast",
      "sums of f32, or of narrower types within a stated bound", "exact" },
    { "sample", '\0', false, CLI_FLAG, NULL, "draw one row for each vector", NULL },
    { "temperature", '\0', false, CLI_REAL, "T", "logits are divided by it; 0 takes the largest",
      "1" },
    { "top-k", '\0', false, CLI_UNSIGNED, "K", "draw from the K largest alone", NULL },
    { "top-p", '\0', false, CLI_REAL, "P",
      "draw from the fewest of the largest that make up this probability", NULL },
    { "min-p", '\0', false, CLI_REAL, "P",
      "draw from those of at least P times the largest probability", NULL },
    { "seed", '\0', false, CLI_SEED, "S", "seed of the draws", "0" },
    { "output", 'o', false, CLI_WRITE_BINARY, "FILE",
      "write the logits as FILE.npy, f32, a row for each vector; '-' = stdout", NULL },
    { "force", '\0', false, CLI_FLAG, NULL, "write more than 1 GiB", NULL },
    CLI_OPTIONS_END,
};

#define LEAST_TEMPERATURE 1e-38 /* below, 1 / T is no f32 */
#define MOST_TEMPERATURE  1e38
#define TOP_MOST          65536u       /* as wte_head_topk says */
#define OUTPUT_MOST       (1ull << 30) /* more is asked for by mistake more often than not */
#define ANSWER_BYTES      (64u << 20)  /* of a block */
#define BLOCK_VECTORS     512u         /* more at once are no faster */

static int no_memory(const logits_job *j)
{
    return cli_say_fail(j->c, CLI_OUTPUT, "out of memory for the answers to %" PRIu64 " vectors",
                        j->block);
}

/* What is asked ---------------------------------------------------------------------------------
 */

/* The rows that --id names, as the model hands them on: in f32, times its factor. */
static int read_row(logits_job *j, int64_t id, void *stored, float *out)
{
    const wte_row_source *rows = &j->input->source;
    wte_error err;
    uint64_t row;
    const bool known = id >= 0 && (uint64_t)id < j->input->rows;
    if (!known)
        return cli_say_fail(j->c, CLI_USAGE,
                            "%s: id %" PRId64 " has no row; there are %" PRIu64
                            " rows, counted from zero",
                            wte_model_path(j->head.model), id, j->input->rows);
    wte_status status = wte_model_row(j->head.model, (uint64_t)id, &row, &err);
    if (status == WTE_OK) status = wte_row_source_read(rows, row, stored, &err);
    if (status == WTE_OK)
        status = wte_convert(rows->dtype, stored, WTE_F32, out, (size_t)rows->cols, NULL, &err);
    if (status != WTE_OK) return cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
    for (uint64_t k = 0; k < rows->cols && j->factor != 1; k++) out[k] *= (float)j->factor;
    return CLI_DONE;
}

static int hidden_from_ids(logits_job *j)
{
    const cli *c = j->c;
    int n = 0, code = cli_input_table(c, j->head.model, &j->input);
    if (code) return code;
    n = (int)cli_times(c, "id");
    const size_t cols = (size_t)j->input->source.cols;
    void *stored = malloc(cols * wte_dtype_bytes(j->input->source.dtype) + 1);
    float *vectors = calloc((size_t)n * cols + 1, sizeof *vectors);
    j->origin = calloc((size_t)n + 1, sizeof *j->origin);
    j->factor = j->head.as_model ? wte_model_config_of(j->head.model)->factor : 1;
    const bool room = stored && vectors && j->origin;
    if (!room) code = no_memory(j);
    const cli_value *v = cli_first(c, "id");
    for (int i = 0; i < n && room && !code; i++, v = cli_next(c, v)) {
        code = cli_word_id(c, j->head.model, v->text, cli_given(c, "token"), &j->origin[i]);
        if (!code) code = read_row(j, j->origin[i], stored, vectors + (size_t)i * cols);
    }
    free(stored);
    if (code) {
        free(vectors);
        return code;
    }
    return cli_head_take(&j->head, vectors, (uint64_t)n, cols);
}

/* "3,5", "-1"; "-" alone is standard input. */
static bool looks_typed(const char *text)
{
    for (const char *at = text; *at; at++) {
        const bool begins = at == text || at[-1] == ',' || at[-1] == ' ';
        const size_t dash = begins ? cli_false_dash(at) : 0; /* refused with a word about it */
        if (dash) at += dash;
        if (!strchr("0123456789, ", *at) && !(*at == '-' && begins && at[1])) return false;
    }
    return text[strcspn(text, "0123456789")] != '\0';
}

static int typed_ids(const cli *c, const char *text, cli_ids *out)
{
    int64_t *values = NULL;
    uint64_t n = 0;
    int code = cli_ids_list(c, "--ids", text, &values, &n);
    if (!code) code = cli_ids_typed(c, values, (size_t)n, out);
    free(values);
    return code;
}

static int refuse_chosen(const logits_job *j, const cli_ids *ids, const wte_bad_ids *bad)
{
    const int code = ids->typed ? CLI_USAGE : CLI_INPUT;
    return cli_say_fail(j->c, code,
                        "--ids: %s%s%" PRIu64 " of %" PRIu64
                        " have no row, the first is id %" PRId64 " at position %" PRIu64
                        "; the head has %" PRIu64 " rows",
                        ids->typed ? "" : ids->from, ids->typed ? "" : ": ", bad->count, ids->count,
                        bad->first[0].value, bad->first[0].position, j->head.table->rows);
}

static int read_chosen(logits_job *j)
{
    const cli *c = j->c;
    const char *text = cli_text(c, "ids");
    cli_ids ids = { .count = 0 };
    wte_bad_ids bad;
    int code = looks_typed(text) && !cli_given(c, "ids-type") ? typed_ids(c, text, &ids)
                                                              : cli_ids_open(c, &ids);
    if (!code) code = cli_ids_check(c, &ids, j->head.table->rows, NULL, 0, &bad);
    if (!code && bad.count) code = refuse_chosen(j, &ids, &bad);
    if (!code) {
        j->n_chosen = ids.count;
        j->chosen = calloc((size_t)ids.count + 1, sizeof *j->chosen);
        code = j->chosen ? cli_ids_read(c, &ids, 0, (size_t)ids.count, j->chosen) : no_memory(j);
    }
    cli_ids_close(&ids);
    return code;
}

/* The answers -----------------------------------------------------------------------------------
 */

/* How many hidden vectors are worked on at once, and room for what comes out of them. */
static int make_room(logits_job *j)
{
    const bool matrix = j->kind == LOGITS_CHOSEN || cli_given(j->c, "output");
    const uint64_t columns = matrix ? logits_columns(j) : 1;
    const uint64_t each = columns * sizeof(float) + (matrix ? 0 : j->top * sizeof(wte_ranked)) + 64;
    j->block = ANSWER_BYTES / each;
    if (j->block > BLOCK_VECTORS) j->block = BLOCK_VECTORS;
    if (j->block > j->head.hidden.n) j->block = j->head.hidden.n;
    if (j->block == 0) j->block = 1;
    const size_t n = (size_t)j->block;
    j->logits = calloc(n * (size_t)columns + 1, sizeof *j->logits);
    j->sums = calloc(n, sizeof *j->sums);
    j->drawn = calloc(n, sizeof *j->drawn);
    j->ranked = calloc(matrix ? 1 : n * j->top + 1, sizeof *j->ranked);
    j->bad = calloc(n, sizeof *j->bad);
    return j->logits && j->sums && j->drawn && j->ranked && j->bad ? CLI_DONE : no_memory(j);
}

static wte_status draw(logits_job *j, const wte_hidden *hidden, uint64_t first, wte_error *err)
{
    const wte_row_source *table = &j->head.table->source;
    wte_head_options *o = &j->head.options;
    wte_sample_options sample = j->sample;
    sample.first = first;
    wte_status status = wte_head_sample(table, hidden, o, &sample, j->drawn, err);
    if (status != WTE_OK) return status;
    const wte_ids ids = { j->drawn, WTE_I64, 0, hidden->n }; /* rows are below 2^63 */
    return wte_head_logprobs(table, hidden, ids, o, j->logits, j->sums, err);
}

/* No row can be drawn for it. */
static int refuse_vector(const logits_job *j, uint64_t vector)
{
    const char *from = j->head.got.from ? j->head.got.from : "--id";
    const bool typed = j->origin || j->head.got.typed;
    return cli_say_fail(j->c, typed ? CLI_USAGE : CLI_INPUT,
                        "%s: vector %" PRIu64
                        " has logits that are NaN or infinity, or only rows that are left out: "
                        "nothing can be drawn",
                        from, vector);
}

int logits_block(logits_job *j, uint64_t first, uint64_t n)
{
    const wte_row_source *table = &j->head.table->source;
    const wte_head_options *o = &j->head.options;
    const wte_hidden hidden = cli_head_part(&j->head, first, n);
    const wte_ids ids = { j->chosen, WTE_I64, 0, j->n_chosen };
    wte_error err;
    wte_status status;
    switch (j->kind) {
    case LOGITS_SAMPLE: status = draw(j, &hidden, first, &err); break;
    case LOGITS_CHOSEN:
        status = wte_head_logits_at(table, &hidden, ids, o, j->logits, 0, &err);
        break;
    default:
        if (cli_given(j->c, "output"))
            status = wte_head_logits(table, &hidden, o, j->logits, 0, &err);
        else
            status = wte_head_topk(table, &hidden, o, j->top, j->ranked, j->sums, &err);
        break;
    }
    if (status == WTE_OK) return logits_look(j, first, n);
    if (status == WTE_E_ARGUMENT && err.where != WTE_NO_INDEX)
        return refuse_vector(j, first + err.where);
    return cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
}

/* The logits themselves, block by block. */
static int write_matrix(logits_job *j)
{
    const cli *c = j->c;
    const char *path = cli_text(c, "output");
    const uint64_t n = j->head.hidden.n, columns = logits_columns(j), shape[2] = { n, columns };
    const uint64_t most = cli_given(c, "force") ? SIZE_MAX / 4 : OUTPUT_MOST;
    cli_sink sink;
    char header[1024], size[32];
    size_t bytes;
    wte_error err;
    if (columns && n > most / 4 / columns)
        return cli_say_fail(c, CLI_CANNOT,
                            "%" PRIu64 " x %" PRIu64 " logits take more than %s; --force writes "
                            "them, --ids takes fewer",
                            n, columns, cli_size(size, most));
    const wte_status status =
        wte_npy_header(WTE_F32, shape, 2, header, sizeof header, &bytes, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_OUTPUT, &err);
    int code = cli_sink_open(c, path, &sink);
    if (code) return code;
    code = cli_sink_put(c, &sink, header, bytes);
    for (uint64_t at = 0; at < n && !code; at += j->block) {
        const uint64_t part = n - at < j->block ? n - at : j->block;
        code = logits_block(j, at, part);
        if (!code) code = cli_sink_put(c, &sink, j->logits, (size_t)(part * columns * 4));
    }
    const bool to_file = sink.writer != NULL;
    code = cli_sink_close(c, &sink, code);
    if (!code) code = cli_outputs_commit(j->c);
    if (code || !to_file) return code;
    cli_head_print(&j->head, stdout);
    fputs("  written   ", stdout);
    cli_put_safe(stdout, path, strlen(path));
    printf(", %" PRIu64 " x %" PRIu64 " f32 (%s)\n", n, columns,
           cli_size(size, n * columns * 4 + bytes));
    return CLI_DONE;
}

/* -----------------------------------------------------------------------------------------------
 */

static int check_sampling(cli *c, logits_job *j)
{
    static const char *const names[] = { "temperature", "top-k", "top-p", "min-p", "seed" };
    double temperature, top_p, min_p;
    uint64_t top_k;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cli_given(c, names[i]) && !cli_given(c, "sample"))
            return cli_usage(c, "--%s belongs to --sample", names[i]);
    j->sample = (wte_sample_options)WTE_SAMPLE_OPTIONS_INIT;
    cli_real(c, "temperature", 1, &temperature);
    cli_real(c, "top-p", 0, &top_p);
    cli_real(c, "min-p", 0, &min_p);
    cli_unsigned(c, "top-k", 0, &top_k);
    cli_unsigned(c, "seed", 0, &j->sample.seed);
    if (!(temperature == 0 ||
          (temperature >= LEAST_TEMPERATURE && temperature <= MOST_TEMPERATURE)))
        return cli_refuse_value(c, "temperature", "wants 0, or %g to %g", LEAST_TEMPERATURE,
                                MOST_TEMPERATURE);
    if (!(top_p >= 0 && top_p <= 1)) return cli_refuse_value(c, "top-p", "wants 0 to 1");
    if (!(min_p >= 0 && min_p <= 1)) return cli_refuse_value(c, "min-p", "wants 0 to 1");
    j->sample.temperature = (float)temperature;
    j->sample.top_p = top_p;
    j->sample.min_p = min_p;
    j->sample.top_k = top_k > UINT32_MAX ? 0 : (uint32_t)top_k;
    return CLI_DONE;
}

static int check_usage(cli *c, logits_job *j)
{
    uint64_t top;
    const bool ids = cli_given(c, "ids"), sample = cli_given(c, "sample");
    const bool output = cli_given(c, "output");
    if (cli_given(c, "hidden") == cli_given(c, "id"))
        return cli_usage(c, cli_given(c, "id")
                                ? "--hidden and --id exclude each other"
                                : "logits of what? give --hidden NUMBERS|FILE or --id ID|TOKEN");
    if (cli_given(c, "token") && !cli_given(c, "id"))
        return cli_usage(c, "--token belongs to --id");
    if (ids + sample + cli_given(c, "top") > 1)
        return cli_usage(c, "--top, --ids and --sample exclude each other");
    if (output && (sample || cli_given(c, "top") || c->json))
        return cli_usage(c, "-o writes logits; --top, --sample and --json print");
    if (cli_given(c, "force") && !output) return cli_usage(c, "--force belongs to -o");
    if (cli_given(c, "ids-type") && !ids && !cli_given(c, "map"))
        return cli_usage(c, "--ids-type belongs to --ids and --map");
    if (ids && strcmp(cli_text(c, "ids"), "-") == 0 && cli_given(c, "hidden") &&
        strcmp(cli_text(c, "hidden"), "-") == 0)
        return cli_usage(c, "--hidden and --ids both read standard input");
    cli_unsigned(c, "top", 10, &top);
    if (top == 0) return cli_refuse_value(c, "top", "wants 1 to %u", TOP_MOST);
    if (top > TOP_MOST) return cli_over_limit(c, "top", TOP_MOST);
    j->top = (uint32_t)top;
    j->kind = sample ? LOGITS_SAMPLE : ids ? LOGITS_CHOSEN : LOGITS_TOP;
    if (output && cli_binary_ok(c, cli_text(c, "output"))) return CLI_USAGE;
    return check_sampling(c, j);
}

static int answer(logits_job *j)
{
    cli *c = j->c;
    int code = cli_given(c, "id") ? hidden_from_ids(j) : cli_head_hidden(&j->head);
    if (strcmp(cli_text(c, "precision"), "fast") == 0)
        j->head.options.precision = WTE_PRECISION_FAST;
    if (j->top > j->head.table->rows) j->top = (uint32_t)j->head.table->rows;
    if (j->top == 0) j->top = 1; /* of a table without rows */
    if (!code && j->kind == LOGITS_CHOSEN) code = read_chosen(j);
    if (!code) code = make_room(j);
    if (code) return code;
    if (cli_given(c, "output")) return write_matrix(j);
    return logits_print(j);
}

static int run(cli *c)
{
    logits_job j = { .c = c, .factor = 1 };
    int code = check_usage(c, &j);
    if (code) return code;
    code = cli_head_open(c, &j.head);
    if (!code) code = answer(&j);
    if (!code) code = logits_tell(&j);
    free(j.bad);
    free(j.origin);
    free(j.chosen);
    free(j.ranked);
    free(j.sums);
    free(j.logits);
    free(j.drawn);
    cli_head_close(&j.head);
    return code;
}

const cli_command cmd_logits = {
    .name = "logits",
    .group = CLI_USE,
    .synopsis = "MODEL",
    .summary = "turn hidden vectors into logits and probabilities of tokens",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "logits = hidden x head^T. The head is the stored one, the input table where the\n"
             "two are tied, or what --head names. --as-model adds what the model does around\n"
             "the product: its bias, factors, divisors and soft-cap; the lines above the\n"
             "answer say which. A model without a head is multiplied plainly, as by --raw.\n"
             "Rows that no token has are left out, and the probability that they would have\n"
             "taken is told. Probabilities are over the rows that take part.\n"
             "--id shows what the head predicts from a token's own row, times the factor of\n"
             "the model: the answer of a model without layers. --sample: temperature, then\n"
             "top-k, top-p, min-p; the same seed draws the same rows with any number of threads.",
    .run = run,
};
