/* wte near - the tokens whose rows are nearest to a token, to a sum of tokens, or to a vector. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wte/near.h>

#include "json.h"
#include "number.h"
#include "observed.h"
#include "open.h"
#include "opt.h"
#include "out.h"

static const cli_option options[] = {
    { "vector", '\0', false, CLI_READ_FILE, "NUMBERS|FILE",
      "look for this: -0.4,0.9,-1.1 or a file with one tensor, a vector in each row", NULL },
    { "token", '\0', false, CLI_FLAG, NULL, "take the one word as the text of a token", NULL },
    { "metric", '\0', false, CLI_CHOICE, "cosine|dot|euclid", "what near means", "cosine" },
    { "top", 'k', false, CLI_UNSIGNED, "K", "show so many rows", "10" },
    { "exclude-special", '\0', false, CLI_FLAG, NULL, "leave special tokens out of the answer",
      NULL },
    { "include-terms", '\0', false, CLI_FLAG, NULL, "keep the tokens asked about in the answer",
      NULL },
    CLI_OPTIONS_END,
};

typedef struct term {
    double weight;
    uint64_t id;
} term;

typedef struct job {
    cli *c;
    wte_model *model;
    const wte_model_table *table;
    term *terms;
    int n_terms;
    cli_observed vector;
    float *queries;
    uint64_t n, cols; /* of queries */
    uint64_t *exclude, n_exclude, n_special;
    uint64_t top;
    wte_metric metric;
    wte_near_report report;
    wte_near_hit *hits; /* n x top */
} job;

static int no_memory(const cli *c)
{
    return cli_say_fail(c, CLI_OUTPUT, "out of memory");
}

/* What is asked ------------------------------------------------------------------------------- */

/* "2*king": the weight, and what follows it; 1 and the whole word when there is none. */
static const char *split_weight(const char *word, double *weight)
{
    char number[64];
    const char *star = strchr(word, '*');
    *weight = 1;
    if (!star || star == word || !star[1] || (size_t)(star - word) >= sizeof number) return word;
    memcpy(number, word, (size_t)(star - word));
    number[star - word] = '\0';
    if (!cli_read_real(number, weight) || !isfinite(*weight)) {
        *weight = 1;
        return word;
    }
    return star + 1;
}

static int add_term(job *j, const char *word, double sign)
{
    const cli *c = j->c;
    const bool as_text = cli_given(c, "token");
    term *t = &j->terms[j->n_terms++];
    int64_t id;
    const char *name = as_text ? word : split_weight(word, &t->weight);
    if (as_text) t->weight = 1;
    t->weight *= sign;
    const int code = cli_word_id(c, j->model, name, as_text, &id);
    if (code) return code;
    t->id = (uint64_t)id;
    if (id >= 0 && t->id < j->table->rows) return CLI_DONE;
    return cli_say_fail(c, CLI_USAGE,
                        "%s: id %" PRId64 " has no row; there are %" PRIu64
                        " rows, counted from zero",
                        wte_model_path(j->model), id, j->table->rows);
}

static double operator_of(const char *word)
{
    if (strcmp(word, "+") == 0) return 1;
    return strcmp(word, "-") == 0 ? -1 : 0;
}

/* [+|-] TERM { +|- TERM } */
static int read_terms(job *j)
{
    const cli *c = j->c;
    double sign = 1; /* of the next term; 0 = an operator must come first */
    bool operator_seen = false;
    j->terms = calloc((size_t)c->n_words, sizeof *j->terms);
    if (!j->terms) return no_memory(c);
    for (int i = 1; i < c->n_words; i++) {
        const char *word = c->words[i];
        const double op = cli_given(c, "token") ? 0 : operator_of(word);
        if (op != 0) {
            if (operator_seen) return cli_usage(c, "two operators before '%s'", word);
            operator_seen = true;
            sign = op;
            continue;
        }
        if (sign == 0)
            return cli_usage(c, "'%s' and '%s': put + or - between them", c->words[i - 1], word);
        const int code = add_term(j, word, sign);
        if (code) return code;
        operator_seen = false;
        sign = 0;
    }
    if (operator_seen) return cli_usage(c, "a token or id is missing at the end");
    return CLI_DONE;
}

static wte_status add_row(const job *j, const term *t, uint8_t *row, double *values, double *sum,
                          wte_error *err)
{
    const wte_row_source *rows = &j->table->source;
    wte_status status = wte_row_source_read(rows, t->id, row, err);
    if (status == WTE_OK)
        status = wte_convert(rows->dtype, row, WTE_F64, values, (size_t)rows->cols, NULL, err);
    for (uint64_t i = 0; status == WTE_OK && i < rows->cols; i++) sum[i] += t->weight * values[i];
    return status;
}

/* The weighted sum of the terms' rows, made in f64 and rounded once. */
static int query_from_terms(job *j)
{
    const cli *c = j->c;
    const wte_row_source *rows = &j->table->source;
    const size_t cols = (size_t)rows->cols;
    wte_error err = { WTE_OK, 0, WTE_NO_INDEX, "" };
    uint8_t *row = malloc(cols * wte_dtype_bytes(rows->dtype) + 1);
    double *values = calloc(cols + 1, sizeof *values), *sum = calloc(cols + 1, sizeof *sum);
    j->queries = calloc(cols + 1, sizeof *j->queries);
    const bool ready = row && values && sum && j->queries;
    int code = ready ? CLI_DONE : no_memory(c);
    for (int i = 0; ready && !code && i < j->n_terms; i++) {
        const wte_status status = add_row(j, &j->terms[i], row, values, sum, &err);
        if (status != WTE_OK) code = cli_fail(c, status, CLI_SIDE_INPUT, &err);
    }
    for (size_t i = 0; ready && !code && i < cols; i++) {
        j->queries[i] = (float)sum[i];
        if (isinf(j->queries[i]) && isfinite(sum[i]))
            code = cli_say_fail(c, CLI_IS_TYPED_SHAPE,
                                "the sum has %.9g as number %zu, but f32 ends at 3.4028235e38; "
                                "smaller weights point the same way",
                                sum[i], i);
    }
    j->n = 1;
    j->cols = cols;
    free(row);
    free(values);
    free(sum);
    return code;
}

static int queries_from_vectors(job *j)
{
    const cli *c = j->c;
    int code = cli_observed_read(c, "vector", &j->vector);
    if (!code) code = cli_observed_width(c, &j->vector, j->table->name, j->table->dim);
    if (code) return code;
    const wte_observed *got = &j->vector.got;
    j->n = got->n;
    j->cols = got->cols;
    return cli_observed_f32(c, &j->vector, &j->queries);
}

/* Rows that are no answer: the terms, and special tokens. */
static int collect_excluded(job *j)
{
    const cli *c = j->c;
    const wte_vocab *vocab = wte_model_vocab(j->model);
    const uint64_t rows = j->table->rows;
    uint8_t *marked = calloc((size_t)rows + 1, 1);
    j->exclude = calloc((size_t)rows + 1, sizeof *j->exclude);
    if (!marked || !j->exclude) {
        free(marked);
        return no_memory(c);
    }
    for (uint64_t id = 0; id < rows && vocab && cli_given(c, "exclude-special"); id++) {
        marked[id] = wte_vocab_kind(vocab, id) == WTE_TOKEN_SPECIAL;
        j->n_special += marked[id];
    }
    for (int i = 0; j->terms && i < j->n_terms && !cli_given(c, "include-terms"); i++)
        marked[j->terms[i].id] = 1;
    for (uint64_t id = 0; id < rows; id++)
        if (marked[id]) j->exclude[j->n_exclude++] = id;
    free(marked);
    return CLI_DONE;
}

static int search(job *j)
{
    cli *c = j->c;
    wte_near_options opt = WTE_NEAR_OPTIONS_INIT;
    cli_progress progress;
    wte_error err;
    const int code = cli_pool(c, &opt.pool);
    if (code) return code;
    j->hits = calloc((size_t)(j->n * j->top) + 1, sizeof *j->hits);
    if (!j->hits) return no_memory(c);
    opt.metric = j->metric;
    opt.top = (uint32_t)j->top;
    opt.exclude = j->exclude;
    opt.n_exclude = j->n_exclude;
    opt.report = &j->report;
    opt.progress = cli_progress_start(&progress, c, "comparing rows");
    const wte_status status =
        wte_nearest(&j->table->source, j->queries, j->n, j->cols, &opt, j->hits, &err);
    cli_progress_stop(&progress);
    if (status == WTE_OK) return CLI_DONE;
    const bool typed = j->terms || j->vector.typed;
    return cli_fail(c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
}

/* The answer ---------------------------------------------------------------------------------- */

static void print_term(const job *j, int i)
{
    const term *t = &j->terms[i];
    const double size = fabs(t->weight);
    if (i || t->weight < 0) printf(" %c", t->weight < 0 ? '-' : '+');
    putchar(' ');
    if (size != 1) printf("%g*", size);
    if (cli_put_token(stdout, j->model, (int64_t)t->id))
        printf(" (id %" PRIu64 ")", t->id);
    else
        printf("id %" PRIu64, t->id);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_head(const job *j)
{
    const wte_model_table *t = j->table;
    const char *path = wte_model_path(j->model);
    cli_put_safe(stdout, path, strlen(path));
    if (strcmp(path, t->name) != 0) {
        fputs(": ", stdout);
        cli_put_safe(stdout, t->name, strlen(t->name));
    }
    printf(", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim, cli_stored_as(t));
    printf("nearest by %s to", wte_metric_name(j->metric));
    for (int i = 0; j->terms && i < j->n_terms; i++) print_term(j, i);
    if (!j->terms) printf(j->n == 1 ? " the vector given" : " each of %" PRIu64 " vectors", j->n);
    if (j->terms && !cli_given(j->c, "include-terms"))
        fputs(j->n_terms == 1 ? "; itself left out" : "; the terms left out", stdout);
    putchar('\n');
    if (j->n_special)
        printf("%" PRIu64 " special token%s left out\n", j->n_special, plural(j->n_special));
    if (j->report.n_zero)
        printf("%" PRIu64 " row%s of zeros passed over: no direction\n", j->report.n_zero,
               plural(j->report.n_zero));
    if (j->report.n_nonfinite)
        printf("%" PRIu64 " row%s with NaN or infinity passed over\n", j->report.n_nonfinite,
               plural(j->report.n_nonfinite));
}

static void print_hits(const job *j, uint64_t query)
{
    const wte_near_hit *hits = j->hits + query * j->top;
    cli_digits digits = { .type = WTE_F64 };
    if (j->n > 1) printf("\nvector %" PRIu64, query);
    printf(wte_model_vocab(j->model) ? "\n%6s  %8s  %-6s     token\n" : "\n%6s  %8s  %s\n", "rank",
           "id", wte_metric_name(j->metric));
    for (uint64_t i = 0; i < j->top && hits[i].row != WTE_NO_INDEX; i++)
        cli_digits_look(&digits, &hits[i].score, 1);
    for (uint64_t i = 0; i < j->top && hits[i].row != WTE_NO_INDEX; i++) {
        printf("%6" PRIu64 "  %8" PRIu64 "  ", i + 1, hits[i].row);
        cli_put_number(stdout, &digits, hits[i].score, NULL);
        if (wte_model_vocab(j->model)) fputs("    ", stdout);
        cli_put_token(stdout, j->model, (int64_t)hits[i].row);
        putchar('\n');
    }
}

static void json_token(cli_json *json, const job *j, uint64_t id)
{
    size_t bytes;
    const char *text = cli_token_text(j->model, (int64_t)id, &bytes);
    if (text)
        cli_json_bytes(json, "token", text, bytes);
    else
        cli_json_null(json, "token");
}

static void json_answer(cli_json *json, const job *j, uint64_t query)
{
    const wte_near_hit *hits = j->hits + query * j->top;
    cli_json_list(json, NULL);
    for (uint64_t i = 0; i < j->top && hits[i].row != WTE_NO_INDEX; i++) {
        cli_json_short(json, NULL);
        cli_json_unsigned(json, "id", hits[i].row);
        cli_json_f64(json, "score", hits[i].score);
        json_token(json, j, hits[i].row);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void print_json(const job *j)
{
    cli_json json;
    const char *path = wte_model_path(j->model);
    cli_json_begin(&json, stdout, "wte.near/1");
    cli_json_bytes(&json, "model", path, strlen(path));
    cli_json_bytes(&json, "tensor", j->table->name, strlen(j->table->name));
    cli_json_unsigned(&json, "rows", j->table->rows);
    cli_json_unsigned(&json, "dim", j->table->dim);
    cli_json_text(&json, "metric", wte_metric_name(j->metric));
    cli_json_text(&json, "precision", "exact");
    cli_json_list(&json, "terms");
    for (int i = 0; j->terms && i < j->n_terms; i++) {
        cli_json_short(&json, NULL);
        cli_json_f64(&json, "weight", j->terms[i].weight);
        cli_json_unsigned(&json, "id", j->terms[i].id);
        json_token(&json, j, j->terms[i].id);
        cli_json_close(&json);
    }
    cli_json_close(&json);
    cli_json_unsigned(&json, "left_out", j->n_exclude);
    cli_json_unsigned(&json, "zero_rows", j->report.n_zero);
    cli_json_unsigned(&json, "nonfinite_rows", j->report.n_nonfinite);
    cli_json_list(&json, "nearest");
    for (uint64_t i = 0; i < j->n; i++) json_answer(&json, j, i);
    cli_json_close(&json);
    cli_json_end(&json);
}

/* ---------------------------------------------------------------------------------------------- */

static int check_usage(const cli *c)
{
    uint64_t top;
    const bool vector = cli_given(c, "vector"), token = cli_given(c, "token");
    if (vector && c->n_words > 1)
        return cli_usage(c, "both --vector and '%s' say what to look for", c->words[1]);
    if (!vector && c->n_words < 2)
        return cli_usage(c, "near what? give a token, an id, or --vector NUMBERS|FILE");
    if (token && c->n_words != 2)
        return cli_usage(c, "--token takes one word as a text, so there can be no sum");
    if (vector && cli_given(c, "include-terms"))
        return cli_usage(c, "--include-terms is about tokens; a vector leaves none out");
    if (!token && c->n_words == 2 && (strstr(c->words[1], " + ") || strstr(c->words[1], " - ")))
        return cli_usage(c,
                         "'%s' is one word: leave the quotes away, or take it as a text with "
                         "--token",
                         c->words[1]);
    cli_unsigned(c, "top", 10, &top);
    if (top == 0) return cli_usage(c, "--top 0 shows nothing");
    return CLI_DONE;
}

static void read_options(job *j)
{
    static const wte_metric metrics[] = { WTE_METRIC_COSINE, WTE_METRIC_DOT, WTE_METRIC_EUCLID };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strcmp(cli_text(j->c, "metric"), wte_metric_name(metrics[i])) == 0)
            j->metric = metrics[i];
    cli_unsigned(j->c, "top", 10, &j->top);
    if (j->top > j->table->rows) j->top = j->table->rows ? j->table->rows : 1;
    if (j->top > UINT32_MAX) j->top = UINT32_MAX;
}

static void print(const job *j)
{
    if (j->c->json) {
        print_json(j);
        return;
    }
    print_head(j);
    for (uint64_t i = 0; i < j->n; i++) print_hits(j, i);
}

static int run(cli *c)
{
    job j = { .c = c };
    int code = check_usage(c);
    if (code) return code;
    code = cli_open_model(c, c->words[0], CLI_VOCAB_ALL, &j.model);
    if (!code) code = cli_input_table(c, j.model, &j.table);
    const bool special = !code && cli_given(c, "exclude-special");
    const char *problem = special ? wte_model_vocab_problem(j.model) : "";
    if (*problem) code = cli_say_fail(c, CLI_INPUT, "--exclude-special: %s", problem);
    if (special && !code && !wte_model_vocab(j.model))
        code = cli_say_fail(c, CLI_USAGE, "%s has no vocabulary that tells special tokens",
                            wte_model_path(j.model));
    if (!code) read_options(&j);
    if (!code && cli_given(c, "vector")) code = queries_from_vectors(&j);
    if (!code && !cli_given(c, "vector")) code = read_terms(&j);
    if (!code && j.terms) code = query_from_terms(&j);
    if (!code) code = collect_excluded(&j);
    if (!code) code = search(&j);
    if (!code) print(&j);
    free(j.terms);
    free(j.queries);
    free(j.exclude);
    free(j.hits);
    cli_observed_clear(&j.vector);
    return code;
}

const cli_command cmd_near = {
    .name = "near",
    .group = CLI_LOOK,
    .synopsis = "MODEL ID|TOKEN [+|- [N*]ID|TOKEN]...",
    .summary = "list the tokens whose rows are nearest to a token, a sum of tokens, or a vector",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = -1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "A sum is written in words of its own: king - man + woman, or with weights:\n"
             "king - 0.5*man. What is asked about is left out of the answer, unless\n"
             "--include-terms. cosine and dot: greater is nearer; euclid: less is. Of equal\n"
             "scores the lower id comes first. Every row is compared, in f32 with one order\n"
             "of additions: any machine and any number of threads give the same answer.\n"
             "Rows of zeros have no cosine, rows with NaN or infinity no score at all: both\n"
             "are passed over and counted.",
    .run = run,
};
