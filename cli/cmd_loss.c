/* wte loss - the cross-entropy of targets under the logits of hidden vectors, and its gradients,
 * without ever holding those logits. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "head.h"
#include "ids.h"
#include "open.h"
#include "opt.h"
#include "out.h"
#include "outputs.h"

static const cli_option options[] = {
    { "hidden", '\0', false, CLI_READ_FILE, "NUMBERS|FILE",
      "hidden vectors: 0.1,-2,3 or a file with one tensor, a vector in each row ('-' = stdin)",
      NULL },
    { "targets", '\0', false, CLI_READ_FILE, "FILE",
      "the id that each vector is to predict ('-' = stdin)", NULL },
    { "ids-type", '\0', false, CLI_CHOICE, "u16|u32|i32|i64",
      "the targets are raw numbers of this type, little-endian", NULL },
    { "ignore-id", '\0', false, CLI_SIGNED, "N", "a target that takes no part", "-100" },
    { "label-smoothing", '\0', false, CLI_REAL, "S",
      "share of the target that is spread over all rows", "0" },
    { "z-loss", '\0', false, CLI_REAL, "Z", "add Z * lse^2 to each loss", "0" },
    { "sum", '\0', false, CLI_FLAG, NULL, "the sum over the targets, not the mean", NULL },
    { "each", '\0', false, CLI_FLAG, NULL, "print the loss at each position", NULL },
    { "d-hidden", '\0', false, CLI_WRITE_BINARY, "FILE", "write d loss / d hidden as FILE.npy, f32",
      NULL },
    { "d-table", '\0', false, CLI_WRITE_BINARY, "FILE", "write d loss / d head as FILE.npy, f32",
      NULL },
    CLI_HEAD_OPTIONS,
    { "force", '\0', false, CLI_FLAG, NULL, "let gradients take more than 1 GiB", NULL },
    CLI_OPTIONS_END,
};

#define MOST_Z        1e38         /* which f32 still holds */
#define GRADIENT_MOST (1ull << 30) /* more is asked for by mistake more often than not */

typedef struct job {
    cli *c;
    cli_head head;
    int64_t *targets; /* rows of the head, or the id that is ignored */
    int64_t *tokens;  /* the same as ids of tokens */
    uint64_t n;
    const char *from; /* of the targets */
    wte_loss_options options;
    wte_loss loss;
    double nll; /* mean of -logprob: the loss without smoothing and z */
} job;

static int no_memory(const cli *c, const char *what)
{
    return cli_say_fail(c, CLI_OUTPUT, "out of memory for %s", what);
}

/* Targets ---------------------------------------------------------------------------------------
 */

static int refuse_targets(const job *j, const cli_ids *ids, const wte_bad_ids *bad)
{
    return cli_say_fail(j->c, CLI_INPUT,
                        "%s: %" PRIu64 " of %" PRIu64 " targets have no row, the first is %" PRId64
                        " at position %" PRIu64 "; the head has %" PRIu64 " rows, and %" PRId64
                        " is ignored",
                        ids->from, bad->count, ids->count, bad->first[0].value,
                        bad->first[0].position, j->head.table->rows, j->options.ignore_id);
}

/* A target that is left out would have an infinite loss. */
static int refuse_masked(const job *j)
{
    for (uint64_t i = 0; i < j->n; i++) {
        if (j->targets[i] == j->options.ignore_id) continue;
        if (!cli_head_masks(&j->head, (uint64_t)j->targets[i])) continue;
        return cli_say_fail(j->c, CLI_INPUT,
                            "%s: target %" PRId64 " at position %" PRIu64
                            " is a row without a token, which is left out; --with-padding keeps it",
                            j->from, j->tokens[i], i);
    }
    return CLI_DONE;
}

/* Targets are ids of tokens; of a draft head the rows of some of them. */
static int find_rows(job *j)
{
    const int64_t ignore = j->options.ignore_id;
    for (uint64_t i = 0; i < j->n; i++) {
        j->targets[i] = j->tokens[i];
        if (!j->head.map || j->tokens[i] == ignore) continue;
        const int code = cli_head_row(&j->head, j->tokens[i], &j->targets[i]);
        if (code) return code;
        if (j->targets[i] >= 0) continue;
        return cli_say_fail(j->c, CLI_INPUT,
                            "%s: target %" PRId64 " at position %" PRIu64 " is none of the %" PRIu64
                            " tokens of the head (%s); %" PRId64 " in its place is ignored",
                            j->from, j->tokens[i], i, j->head.table->rows, j->head.map_from,
                            ignore);
    }
    return refuse_masked(j);
}

static int read_targets(job *j)
{
    const cli *c = j->c;
    const int64_t ignore = j->options.ignore_id;
    cli_ids ids;
    wte_bad_ids bad = { 0 };
    int code = cli_ids_open_as(c, "targets", &ids);
    j->n = ids.count;
    j->from = ids.from;
    if (!code && ids.count != j->head.hidden.n)
        code =
            cli_say_fail(c, CLI_INPUT, "%s: %" PRIu64 " target%s for %" PRIu64 " hidden vector%s",
                         ids.from, ids.count, ids.count == 1 ? "" : "s", j->head.hidden.n,
                         j->head.hidden.n == 1 ? "" : "s");
    if (!code && !j->head.map) code = cli_ids_check(c, &ids, j->head.table->rows, &ignore, 1, &bad);
    if (!code && bad.count) code = refuse_targets(j, &ids, &bad);
    if (!code) {
        j->targets = calloc((size_t)ids.count + 1, sizeof *j->targets);
        j->tokens = calloc((size_t)ids.count + 1, sizeof *j->tokens);
        code = j->targets && j->tokens ? cli_ids_read(c, &ids, 0, (size_t)ids.count, j->tokens)
                                       : no_memory(c, "the targets");
    }
    cli_ids_close(&ids);
    return code || !j->targets || !j->tokens ? code : find_rows(j);
}

/* The loss --------------------------------------------------------------------------------------
 */

/* Zeroed room for rows x dim gradients; *out stays NULL when the option is not given. */
static int gradient_room(const job *j, const char *option, uint64_t rows, uint64_t dim, float **out)
{
    const cli *c = j->c;
    const uint64_t most = cli_given(c, "force") ? SIZE_MAX / 4 - 1 : GRADIENT_MOST / 4;
    char size[32];
    if (!cli_given(c, option)) return CLI_DONE;
    if (dim && rows > most / dim)
        return cli_say_fail(c, CLI_CANNOT,
                            "--%s: %" PRIu64 " x %" PRIu64 " gradients take more than %s; --force "
                            "makes them",
                            option, rows, dim, cli_size(size, most * 4));
    *out = calloc((size_t)(rows * dim) + 1, sizeof **out);
    return *out ? CLI_DONE : no_memory(c, "the gradients");
}

/* Numbers of a hidden vector as it was given. */
static uint64_t hidden_width(const job *j)
{
    return j->head.projected ? j->head.projected : j->head.table->dim;
}

/* The gradient by the hidden vectors as they were given. */
static int project_back(job *j)
{
    float *back = NULL;
    int code = gradient_room(j, "d-hidden", j->n, hidden_width(j), &back);
    if (!code && back) code = cli_head_project_back(&j->head, j->options.d_hidden, back);
    free(j->options.d_hidden);
    j->options.d_hidden = back;
    return code;
}

static int compute(job *j)
{
    const cli *c = j->c;
    const wte_row_source *table = &j->head.table->source;
    const wte_ids targets = { j->targets, WTE_I64, 0, j->n };
    wte_loss_options *o = &j->options;
    wte_error err;
    if (cli_given(c, "each")) {
        o->per_target = calloc((size_t)j->n + 1, sizeof *o->per_target);
        if (!o->per_target) return no_memory(c, "the losses");
    }
    int code = gradient_room(j, "d-hidden", j->n, table->cols, &o->d_hidden);
    if (!code) code = gradient_room(j, "d-table", table->rows, table->cols, &o->d_table);
    if (code) return code;
    wte_status status =
        wte_head_loss(table, &j->head.hidden, targets, &j->head.options, o, &j->loss, &err);
    j->nll = o->sum && j->loss.n_targets ? j->loss.loss / (double)j->loss.n_targets : j->loss.loss;
    if (status == WTE_OK && (o->label_smoothing != 0 || o->z_loss != 0)) {
        wte_loss_options plain = WTE_LOSS_OPTIONS_INIT;
        wte_loss nll;
        plain.ignore_id = o->ignore_id;
        status =
            wte_head_loss(table, &j->head.hidden, targets, &j->head.options, &plain, &nll, &err);
        if (status == WTE_OK) j->nll = nll.loss;
    }
    cli_progress_stop(&j->head.bar);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    return o->d_hidden && j->head.projected ? project_back(j) : CLI_DONE;
}

static int write_gradient(const job *j, const char *option, const float *values, uint64_t rows,
                          uint64_t dim)
{
    const uint64_t shape[2] = { rows, dim };
    char header[1024];
    size_t bytes;
    cli_sink sink;
    wte_error err;
    if (!values) return CLI_DONE;
    const wte_status status =
        wte_npy_header(WTE_F32, shape, 2, header, sizeof header, &bytes, &err);
    if (status != WTE_OK) return cli_fail(j->c, status, CLI_SIDE_OUTPUT, &err);
    int code = cli_sink_open(j->c, cli_text(j->c, option), &sink);
    if (code) return code;
    code = cli_sink_put(j->c, &sink, header, bytes);
    if (!code) code = cli_sink_put(j->c, &sink, values, (size_t)(rows * shape[1] * 4));
    return cli_sink_close(j->c, &sink, code);
}

/* The answer ------------------------------------------------------------------------------------
 */

static double accuracy(const job *j)
{
    return (double)j->loss.n_correct / (double)j->loss.n_targets; /* NaN when none is taken */
}

static void print_each(const job *j)
{
    if (!j->options.per_target) return;
    printf("\nposition    target        loss%s\n", wte_model_vocab(j->head.model) ? "  token" : "");
    for (uint64_t i = 0; i < j->n; i++) {
        printf("%8" PRIu64 "  %8" PRId64, i, j->tokens[i]);
        if (j->tokens[i] == j->options.ignore_id) {
            fputs("           -  ignored\n", stdout);
            continue;
        }
        printf("  %10.4f", (double)j->options.per_target[i]);
        if (wte_model_vocab(j->head.model)) fputs("  ", stdout);
        cli_head_put_token(&j->head, j->tokens[i], stdout);
        putchar('\n');
    }
}

static void print_gradient(const job *j, const char *option, uint64_t rows, uint64_t dim)
{
    const char *path = cli_text(j->c, option);
    if (!path) return;
    printf("  written     d loss / d %s, %" PRIu64 " x %" PRIu64 " f32: ", option + 2, rows, dim);
    cli_put_safe(stdout, path, strlen(path));
    putchar('\n');
}

static void print_text(const job *j)
{
    const wte_loss *l = &j->loss;
    cli_head_print(&j->head, stdout);
    printf("  targets   %" PRIu64, l->n_targets);
    if (l->n_ignored)
        printf(", %" PRIu64 " more ignored (%" PRId64 ")", l->n_ignored, j->options.ignore_id);
    putchar('\n');
    if (j->options.label_smoothing != 0)
        printf("  smoothed  %g of each target over all rows\n", (double)j->options.label_smoothing);
    if (j->options.z_loss != 0) printf("  z-loss    %g * lse^2\n", (double)j->options.z_loss);
    if (l->n_targets == 0) {
        fputs("\n  loss        none: every target is ignored\n", stdout);
    } else {
        printf("\n  loss        %.6f (%s)\n", l->loss, j->options.sum ? "sum" : "mean");
        printf("  perplexity  %.6g\n", exp(j->nll));
        printf("  accuracy    %.4f (%" PRIu64 " of %" PRIu64 ")\n", accuracy(j), l->n_correct,
               l->n_targets);
        printf("  mean lse    %.6f\n", l->lse_mean);
    }
    print_gradient(j, "d-hidden", j->n, hidden_width(j));
    print_gradient(j, "d-table", j->head.table->rows, j->head.table->dim);
    print_each(j);
}

static void print_json(const job *j)
{
    const wte_loss *l = &j->loss;
    cli_json json;
    cli_json_begin(&json, stdout, "wte.loss/1");
    cli_head_json(&j->head, &json);
    cli_json_signed(&json, "ignore_id", j->options.ignore_id);
    cli_json_f32(&json, "label_smoothing", j->options.label_smoothing);
    cli_json_f32(&json, "z_loss", j->options.z_loss);
    cli_json_text(&json, "reduction", j->options.sum ? "sum" : "mean");
    cli_json_unsigned(&json, "taken", l->n_targets);
    cli_json_unsigned(&json, "ignored", l->n_ignored);
    cli_json_f64(&json, "loss", l->loss);
    cli_json_f64(&json, "perplexity", exp(j->nll));
    cli_json_f64(&json, "accuracy", accuracy(j));
    cli_json_unsigned(&json, "right", l->n_correct);
    cli_json_f64(&json, "mean_lse", l->lse_mean);
    if (j->options.per_target) {
        cli_json_line(&json, "each");
        for (uint64_t i = 0; i < j->n; i++) cli_json_f32(&json, NULL, j->options.per_target[i]);
        cli_json_close(&json);
    }
    cli_json_end(&json);
}

/* -----------------------------------------------------------------------------------------------
 */

static int check_usage(cli *c, job *j)
{
    double smoothing, z;
    const char *hidden = cli_text(c, "hidden"), *targets = cli_text(c, "targets");
    if (!hidden) return cli_usage(c, "the loss of what? give --hidden NUMBERS|FILE");
    if (!targets) return cli_usage(c, "which ids are right? give --targets FILE");
    if (strcmp(hidden, "-") == 0 && strcmp(targets, "-") == 0)
        return cli_usage(c, "--hidden and --targets both read standard input");
    j->options = (wte_loss_options)WTE_LOSS_OPTIONS_INIT;
    cli_real(c, "label-smoothing", 0, &smoothing);
    cli_real(c, "z-loss", 0, &z);
    if (!(smoothing >= 0 && smoothing <= 1))
        return cli_refuse_value(c, "label-smoothing", "wants 0 to 1");
    if (!(z >= 0 && z <= MOST_Z)) return cli_refuse_value(c, "z-loss", "wants 0 to %g", MOST_Z);
    j->options.label_smoothing = (float)smoothing;
    j->options.z_loss = (float)z;
    j->options.sum = cli_given(c, "sum");
    if (cli_given(c, "ignore-id")) j->options.ignore_id = (int64_t)cli_first(c, "ignore-id")->bits;
    return CLI_DONE;
}

static int run(cli *c)
{
    job j = { .c = c };
    int code = check_usage(c, &j);
    if (code) return code;
    code = cli_head_open(c, &j.head);
    if (!code) code = cli_head_hidden(&j.head);
    if (!code) code = read_targets(&j);
    if (!code) code = compute(&j);
    if (!code) code = write_gradient(&j, "d-hidden", j.options.d_hidden, j.n, hidden_width(&j));
    if (!code)
        code =
            write_gradient(&j, "d-table", j.options.d_table, j.head.table->rows, j.head.table->dim);
    if (!code) code = cli_outputs_commit(c);
    if (!code && c->json) print_json(&j);
    if (!code && !c->json) print_text(&j);
    free(j.targets);
    free(j.tokens);
    free(j.options.per_target);
    free(j.options.d_hidden);
    free(j.options.d_table);
    cli_head_close(&j.head);
    return code;
}

const cli_command cmd_loss = {
    .name = "loss",
    .group = CLI_USE,
    .synopsis = "MODEL",
    .summary = "tell how well hidden vectors predict their targets: cross-entropy, gradients",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Target i is what vector i is to predict: nothing is shifted. The logits are those\n"
             "of wte logits, in exact precision, made tile by tile and never held. Perplexity\n"
             "is that of the targets alone, without smoothing and z-loss. Accuracy counts the\n"
             "targets that are the row of the largest logit. Gradients are of the loss as\n"
             "printed; d-table is the part that comes through the head, which in a tied model\n"
             "the input side adds to.",
    .run = run,
};
