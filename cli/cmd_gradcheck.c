/* wte gradcheck - are the gradients of this table right? Each is compared with differences of a
 * plain forward computation in f64. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wte/gradcheck.h>

#include "ids.h"
#include "json.h"
#include "number.h"
#include "observed.h"
#include "open.h"
#include "out.h"

static const cli_option options[] = {
    { "op", '\0', false, CLI_CHOICE, "lookup|bag|head|loss|tied|all", "what is checked", "all" },
    CLI_IDS_OPTIONS,
    { "token", '\0', false, CLI_FLAG, NULL, "take every word as the text of a token, digits too",
      NULL },
    { "targets", '\0', false, CLI_READ_FILE, "IDS|FILE",
      "what each id is to predict: 3,5,1 or a file; -100 = nothing (default: the next id)", NULL },
    { "padding-id", '\0', false, CLI_SIGNED, "N", "the table's padding id", NULL },
    { "bag", '\0', false, CLI_UNSIGNED, "N", "ids in each bag (default: half of them)", NULL },
    { "d-out", '\0', false, CLI_READ_FILE, "NUMBERS|FILE",
      "what comes back to lookup or bag, a vector for each of its outputs (default: drawn)", NULL },
    { "max-columns", '\0', false, CLI_UNSIGNED, "N", "compare so many columns of each row, drawn",
      "16" },
    { "tolerance", '\0', false, CLI_REAL, "X", "largest relative error that is agreement",
      "0.001" },
    { "seed", '\0', false, CLI_SEED, "S", "seed of what is drawn", "0" },
    CLI_OPTIONS_END,
};

#define OPS      5
#define IDS_MOST 4096 /* that are read; the library takes fewer, and says so */

typedef struct job {
    cli *c;
    wte_model *model;
    const wte_model_table *table;
    int64_t *ids, *targets;
    uint64_t n, n_targets;
    cli_observed got;
    float *d_out;
    wte_gradcheck_options o;
    bool wanted[OPS];
    wte_gradcheck_result results[OPS][WTE_GRADCHECK_RESULTS];
    size_t n_results[OPS];
    uint64_t gradients, wrong; /* of all */
} job;

static int no_memory(const cli *c)
{
    return cli_say_fail(c, CLI_OUTPUT, "out of memory");
}

/* What is asked ------------------------------------------------------------------------------- */

/* Ids through the model's mapping, when it has one: rows of the table. Others are the library's to
 * refuse. */
static void map_ids(const job *j, int64_t *ids, uint64_t n)
{
    uint64_t row;
    for (uint64_t i = 0; i < n; i++)
        if (ids[i] >= 0 && wte_model_row(j->model, (uint64_t)ids[i], &row, NULL) == WTE_OK)
            ids[i] = (int64_t)row;
}

static int read_file(const cli *c, cli_ids *ids, int64_t **out, uint64_t *n)
{
    if (ids->count > IDS_MOST)
        return cli_say_fail(c, CLI_CANNOT,
                            "%s: %" PRIu64 " ids, but gradients of at most a few "
                            "hundred can be checked",
                            ids->from, ids->count);
    *n = ids->count;
    *out = calloc((size_t)ids->count + 1, sizeof **out);
    if (!*out) return no_memory(c);
    return cli_ids_read(c, ids, 0, (size_t)ids->count, *out);
}

static int read_ids(job *j)
{
    const cli *c = j->c;
    static const int64_t worked[] = { 2, 3, 5, 1 };
    if (cli_given(c, "ids")) {
        cli_ids ids = { 0 };
        int code = cli_ids_open(c, &ids);
        if (!code) code = read_file(c, &ids, &j->ids, &j->n);
        cli_ids_close(&ids);
        return code;
    }
    j->ids = calloc((size_t)c->n_words + sizeof worked / sizeof *worked, sizeof *j->ids);
    if (!j->ids) return no_memory(c);
    if (c->n_words == 1) {
        memcpy(j->ids, worked, sizeof worked);
        j->n = sizeof worked / sizeof *worked;
    }
    for (int i = 1; i < c->n_words; i++) {
        const int code =
            cli_word_id(c, j->model, c->words[i], cli_given(c, "token"), &j->ids[j->n++]);
        if (code) return code;
    }
    return CLI_DONE;
}

/* "3,-100,1" */
static bool are_typed(const char *text)
{
    for (const char *at = text; *at; at++) {
        const size_t dash = cli_false_dash(at); /* refused with a word about it */
        if (!dash && !isdigit((unsigned char)*at) && *at != ',' && *at != '-') return false;
        if (dash) at += dash - 1;
    }
    return strpbrk(text, "0123456789") != NULL;
}

static int read_typed(job *j, const char *text)
{
    const cli *c = j->c;
    return cli_ids_list(c, "--targets", text, &j->targets, &j->n_targets);
}

static int read_targets(job *j)
{
    const char *text = cli_text(j->c, "targets");
    if (!text) return CLI_DONE;
    if (are_typed(text)) return read_typed(j, text);
    cli_ids ids = { 0 };
    int code = cli_ids_open_as(j->c, "targets", &ids);
    if (!code) code = read_file(j->c, &ids, &j->targets, &j->n_targets);
    cli_ids_close(&ids);
    return code;
}

static int read_d_out(job *j)
{
    const cli *c = j->c;
    if (!cli_given(c, "d-out")) return CLI_DONE;
    const int code = cli_observed_read(c, "d-out", &j->got);
    if (code) return code;
    const wte_observed *got = &j->got.got;
    const size_t n = (size_t)(got->n * got->cols);
    const uint64_t dim = j->table->dim, rows = dim ? n / dim : 0;
    /* what is typed is one list of numbers, however many vectors they are */
    if (dim == 0 || !j->got.typed || n % dim != 0) {
        const int refused = cli_observed_width(c, &j->got, j->table->name, dim);
        if (refused) return refused;
    }
    const int refused = cli_observed_f32(c, &j->got, &j->d_out);
    j->o.d_out = j->d_out;
    j->o.d_out_rows = rows;
    return refused;
}

static int check_usage(const cli *c)
{
    const char *op = cli_text(c, "op");
    const bool all = strcmp(op, "all") == 0;
    const bool head = !all && strcmp(op, "lookup") != 0 && strcmp(op, "bag") != 0;
    double tolerance;
    uint64_t number;
    if (cli_given(c, "head"))
        return cli_usage(c, "--head says nothing here: checked is one table, which --tensor names");
    if (cli_given(c, "token") && c->n_words == 1)
        return cli_usage(c, "--token says something only about tokens that are typed");
    if (cli_given(c, "ids-type") && !cli_given(c, "ids") &&
        (!cli_given(c, "targets") || are_typed(cli_text(c, "targets"))))
        return cli_usage(c, "--ids-type belongs to --ids, and to --targets of a file");
    if (cli_given(c, "padding-id") && head && strcmp(op, "tied") != 0)
        return cli_usage(c, "--padding-id says nothing about --op '%s': a head trains every row",
                         op);
    if (cli_given(c, "ids") && c->n_words > 1)
        return cli_usage(c, "both --ids and '%s' say what to look up", c->words[1]);
    if (!cli_given(c, "ids") && c->n_words == 1 && strcmp(c->words[0], "demo") != 0)
        return cli_usage(c, "which ids? give some, or --ids FILE");
    if (cli_given(c, "d-out") && (all || head))
        return cli_usage(c, "--d-out is what comes back to one of them: --op lookup or --op bag");
    if (cli_given(c, "targets") && !all && !head)
        return cli_usage(c, "--targets are predicted by a head: not by --op '%s'", op);
    if (cli_given(c, "bag") && !all && strcmp(op, "bag") != 0)
        return cli_usage(c, "--bag says something only for --op bag");
    if (cli_unsigned(c, "bag", 1, &number) && number == 0)
        return cli_usage(c, "--bag 0: a bag of no ids has no gradient");
    if (cli_unsigned(c, "max-columns", 1, &number) && number == 0)
        return cli_usage(c, "--max-columns 0 compares nothing");
    if (cli_real(c, "tolerance", 1, &tolerance) && !(tolerance > 0 && isfinite(tolerance)))
        return cli_refuse_value(c, "tolerance", "wants a number above 0");
    return CLI_DONE;
}

static void settle(job *j)
{
    const cli *c = j->c;
    const char *op = cli_text(c, "op");
    for (int i = 0; i < OPS; i++)
        j->wanted[i] =
            strcmp(op, "all") == 0 || strcmp(op, wte_gradcheck_name((wte_gradcheck_op)i)) == 0;
    if (j->targets) j->o.targets = (wte_ids){ j->targets, WTE_I64, 0, j->n_targets };
    cli_unsigned(c, "bag", 0, &j->o.ids_per_bag);
    cli_unsigned(c, "max-columns", 0, &j->o.columns);
    cli_unsigned(c, "seed", 0, &j->o.seed);
    cli_real(c, "tolerance", 0, &j->o.tolerance);
    j->o.has_padding = cli_given(c, "padding-id");
    if (j->o.has_padding) cli_read_signed(cli_text(c, "padding-id"), &j->o.padding_id);
}

static int run_op(job *j, int op)
{
    cli *c = j->c;
    cli_progress progress;
    wte_error err;
    const wte_ids ids = { j->ids, WTE_I64, 0, j->n };
    j->o.progress = cli_progress_start(&progress, c, "differences");
    const wte_status status = wte_gradcheck(&j->table->source, ids, (wte_gradcheck_op)op, &j->o,
                                            j->results[op], &j->n_results[op], &err);
    cli_progress_stop(&progress);
    if (status != WTE_OK) {
        const bool typed = (status == WTE_E_RANGE || status == WTE_E_SHAPE) &&
                           !cli_given(c, "ids") &&
                           (!j->targets || are_typed(cli_text(c, "targets")));
        return cli_fail(c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
    }
    for (size_t i = 0; i < j->n_results[op]; i++) {
        j->gradients++;
        j->wrong += j->results[op][i].wrong != 0;
    }
    return CLI_DONE;
}

/* The answer ---------------------------------------------------------------------------------- */

static bool is_position(const char *gradient)
{
    return strcmp(gradient, "d_hidden") == 0 || strcmp(gradient, "d_weights") == 0;
}

/* "row 3, column 1", "position 2" */
static void put_place(char *buf, size_t cap, const wte_gradcheck_result *r,
                      const wte_gradcheck_place *at)
{
    const char *what = is_position(r->gradient) ? "position" : "row";
    const bool flat = strcmp(r->gradient, "d_weights") == 0 || strcmp(r->gradient, "d_bias") == 0;
    int used = snprintf(buf, cap, "%s %" PRIu64, what, at->row);
    if (at->row == WTE_NO_INDEX) used = snprintf(buf, cap, "-");
    if (!flat && at->row != WTE_NO_INDEX && used > 0 && (size_t)used < cap)
        snprintf(buf + used, cap - (size_t)used, ", column %" PRIu64, at->col);
}

static void print_result(const job *j, const char *op, const wte_gradcheck_result *r)
{
    char place[64], largest[64], tie[64];
    put_place(place, sizeof place, r, &r->relative_at);
    put_place(largest, sizeof largest, r, &r->at);
    printf("%-6s  %-24s  %8" PRIu64 "  %8.0e  %8.0e  %-22s  %s%s%s\n", op, r->gradient, r->compared,
           r->largest, r->relative, place, r->wrong ? cli_red(j->c) : cli_green(j->c),
           r->compared == 0 ? "nothing compared"
           : r->wrong       ? "DISAGREES"
                            : "agrees",
           cli_plain(j->c));
    if (r->wrong) {
        printf("        %" PRIu64 " of %" PRIu64 " are off; %s: gradient %.9g, difference %.9g\n",
               r->wrong, r->compared, place, r->relative_at.gradient, r->relative_at.difference);
        if (strcmp(place, largest) != 0)
            printf("        the largest error, %s: gradient %.9g, difference %.9g\n", largest,
                   r->at.gradient, r->at.difference);
    }
    if (r->tied == 0) return;
    printf("        %" PRIu64 " left out, where a second row is within a step of the maximum:",
           r->tied);
    for (uint64_t i = 0; i < r->tied && i < WTE_GRADCHECK_TIES; i++) {
        put_place(tie, sizeof tie, r, &r->ties[i]);
        printf("%s %s", i ? ";" : "", tie);
    }
    puts(r->tied > WTE_GRADCHECK_TIES ? "; ..." : "");
}

static void print_text(const job *j)
{
    const wte_model_table *t = j->table;
    const char *path = wte_model_path(j->model);
    cli_put_safe(stdout, path, strlen(path));
    if (strcmp(path, t->name) != 0) {
        fputs(": ", stdout);
        cli_put_safe(stdout, t->name, strlen(t->name));
    }
    printf(", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim, cli_stored_as(t));
    printf("%" PRIu64 " id%s; gradients against central differences in f64\n", j->n,
           j->n == 1 ? "" : "s");
    if (j->o.has_padding)
        printf("padding id %" PRId64 ": lookups send its row nothing, bags leave it out, a head "
               "trains it\n",
               j->o.padding_id);
    printf("\n%-6s  %-24s  %8s  %8s  %8s  %-22s  %s\n", "op", "gradient", "compared", "largest",
           "relative", "at", "verdict");
    for (int op = 0; op < OPS; op++)
        for (size_t i = 0; i < j->n_results[op]; i++)
            print_result(j, wte_gradcheck_name((wte_gradcheck_op)op), &j->results[op][i]);
    if (j->wrong)
        printf("\n%" PRIu64 " of %" PRIu64 " gradient%s\n", j->wrong, j->gradients,
               j->gradients == 1 ? " disagrees" : "s disagree");
    else
        printf("\n%" PRIu64 " of %" PRIu64 " gradient%s, to a relative %g\n", j->gradients,
               j->gradients, j->gradients == 1 ? " agrees" : "s agree",
               j->o.tolerance > 0 ? j->o.tolerance : 1e-3);
}

static void json_place(cli_json *json, const char *key, const wte_gradcheck_result *r,
                       const wte_gradcheck_place *at)
{
    if (at->row == WTE_NO_INDEX) {
        cli_json_null(json, key);
        return;
    }
    cli_json_short(json, key);
    cli_json_unsigned(json, is_position(r->gradient) ? "position" : "row", at->row);
    cli_json_unsigned(json, "column", at->col);
    if (!isnan(at->difference)) {
        cli_json_f64(json, "gradient", at->gradient);
        cli_json_f64(json, "difference", at->difference);
    }
    cli_json_close(json);
}

static void json_result(cli_json *json, const char *op, const wte_gradcheck_result *r)
{
    cli_json_object(json, NULL);
    cli_json_text(json, "op", op);
    cli_json_text(json, "gradient", r->gradient);
    cli_json_bool(json, "agrees", r->wrong == 0);
    cli_json_unsigned(json, "compared", r->compared);
    cli_json_unsigned(json, "wrong", r->wrong);
    cli_json_f64(json, "largest_error", r->largest);
    json_place(json, "largest_at", r, &r->at);
    cli_json_f64(json, "relative_error", r->relative);
    json_place(json, "relative_at", r, &r->relative_at);
    cli_json_f64(json, "floor", r->floor);
    cli_json_unsigned(json, "left_out", r->tied);
    cli_json_list(json, "ties");
    for (uint64_t i = 0; i < r->tied && i < WTE_GRADCHECK_TIES; i++)
        json_place(json, NULL, r, &r->ties[i]);
    cli_json_close(json);
    cli_json_close(json);
}

static void print_json(const job *j)
{
    cli_json json;
    const char *path = wte_model_path(j->model);
    cli_json_begin(&json, stdout, "wte.gradcheck/1");
    cli_json_bytes(&json, "model", path, strlen(path));
    cli_json_bytes(&json, "tensor", j->table->name, strlen(j->table->name));
    cli_json_unsigned(&json, "rows", j->table->rows);
    cli_json_unsigned(&json, "dim", j->table->dim);
    cli_json_line(&json, "ids");
    for (uint64_t i = 0; i < j->n; i++) cli_json_signed(&json, NULL, j->ids[i]);
    cli_json_close(&json);
    if (j->o.has_padding)
        cli_json_signed(&json, "padding_id", j->o.padding_id);
    else
        cli_json_null(&json, "padding_id");
    cli_json_f64(&json, "tolerance", j->o.tolerance > 0 ? j->o.tolerance : 1e-3);
    cli_json_bool(&json, "agree", j->wrong == 0);
    cli_json_list(&json, "gradients");
    for (int op = 0; op < OPS; op++)
        for (size_t i = 0; i < j->n_results[op]; i++)
            json_result(&json, wte_gradcheck_name((wte_gradcheck_op)op), &j->results[op][i]);
    cli_json_close(&json);
    cli_json_end(&json);
}

/* ---------------------------------------------------------------------------------------------- */

static int run(cli *c)
{
    const wte_gradcheck_options init = WTE_GRADCHECK_OPTIONS_INIT;
    job j = { .c = c, .o = init };
    int code = check_usage(c);
    if (code) return code;
    code = cli_open_model(
        c, c->words[0],
        cli_vocab_for(c->words + 1, c->n_words - 1, cli_given(c, "token"), CLI_VOCAB_NONE),
        &j.model);
    if (!code) code = cli_input_table(c, j.model, &j.table);
    if (!code) code = read_ids(&j);
    if (!code) code = read_targets(&j);
    if (!code) code = read_d_out(&j);
    if (!code) code = cli_pool(c, &j.o.pool);
    if (!code) {
        map_ids(&j, j.ids, j.n);
        map_ids(&j, j.targets, j.n_targets);
        settle(&j);
    }
    for (int op = 0; !code && op < OPS; op++)
        if (j.wanted[op]) code = run_op(&j, op);
    if (!code) {
        (c->json ? print_json : print_text)(&j);
        code = j.wrong ? CLI_NO : CLI_DONE;
    }
    free(j.ids);
    free(j.targets);
    free(j.d_out);
    cli_observed_clear(&j.got);
    return code;
}

const cli_command cmd_gradcheck = {
    .name = "gradcheck",
    .group = CLI_LEARN,
    .synopsis = "MODEL ID|TOKEN...",
    .summary = "compare the gradients of a table with differences of a plain computation",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = -1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Checked are the gradients of lookups (dense, sparse), of bags (sums, means,\n"
             "maxima, weighted sums, and of the weights), of the head under cross-entropy\n"
             "(hidden vectors, table, bias), of the fused loss with smoothing, z-loss and soft\n"
             "cap, and of one table that is input and head. Compared are the rows that ids and\n"
             "targets name (for heads some others too), in --max-columns of their columns.\n"
             "An error is relative to the larger number, but to no less than a thousandth of\n"
             "what the entry is made from. `demo` alone takes ids 2 3 5 1.\n"
             "Exit 1: a gradient disagrees.",
    .run = run,
};
