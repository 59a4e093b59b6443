/* wte tied - are input table and output head one matrix? A verdict from the stored bytes for each
 * model, and the experiment: change one, look at the other. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wte/model.h>

#include "json.h"
#include "open.h"
#include "opt.h"
#include "out.h"

static void label(const cli *c, const char *name)
{
    printf("  %s%-10s%s ", cli_dim(c), name, cli_plain(c));
}

static void put_text(const char *text)
{
    cli_put_safe(stdout, text, strlen(text));
}

static void print_table(const cli *c, const char *role, const wte_model_table *t)
{
    label(c, role);
    if (!t) {
        puts("none is stored");
        return;
    }
    put_text(t->name);
    printf(", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim, cli_stored_as(t));
}

static void print_numbers(const cli *c, const wte_tie *t)
{
    char tied[32], untied[32], saved[32];
    label(c, "numbers");
    printf("%s parameters as one matrix", cli_grouped(tied, t->params_tied));
    if (t->params_untied == t->params_tied) {
        puts("; there is no second one");
        return;
    }
    printf(", %s as two", cli_grouped(untied, t->params_untied));
    if (t->params_untied - t->params_tied == t->params_tied)
        printf(": tying %s %" PRIu64 " x %" PRIu64 " = %s",
               t->verdict == WTE_TIE_SAME_STORAGE ? "saves" : "would save", t->input_rows,
               t->input_dim, cli_grouped(saved, t->params_tied));
    putchar('\n');
}

static void print_flag(const cli *c, const wte_model_config *config, const wte_tie *t)
{
    label(c, "flag");
    printf("%s: ", !config->tie_decided ? "unknown" : config->tied ? "tied" : "untied");
    put_text(config->tie_rule);
    if (!t->flag_agrees) printf("; %swhat is stored says otherwise%s", cli_red(c), cli_plain(c));
    putchar('\n');
    if (!t->flag_agrees && t->verdict == WTE_TIE_INDEPENDENT) {
        label(c, "loaders");
        puts("transformers up to 4.49 load the last of the two into both, 4.50 to 4.57 drop\n"
             "             the head, later ones keep both: set the flag to false");
    }
}

static void print_experiment(const cli *c, const wte_tie *t)
{
    label(c, "experiment");
    if (!t->experiment_ran) {
        printf("not run: ");
        put_text(t->skip_reason);
        puts(t->verdict == WTE_TIE_HEADLESS ? "; a model with a head shows it: wte tied MODEL"
                                            : "");
        return;
    }
    printf("input[%" PRIu64 ", %" PRIu64 "] is changed from %.9g to %.9g, in memory only\n",
           t->experiment_row, t->experiment_col, t->before, t->after);
    label(c, "");
    printf("head[%" PRIu64 ", %" PRIu64 "] was %.9g and is now %.9g: %s%s%s\n", t->experiment_row,
           t->experiment_col, t->head_before, t->head_after,
           t->head_changed ? cli_green(c) : cli_bold(c),
           t->head_changed ? "it moved, they are one" : "it did not move, they are two",
           cli_plain(c));
}

/* The whole report of one model. */
static void print_report(const cli *c, const wte_model *m, const wte_model_table *input,
                         const wte_tie *t)
{
    const wte_model_table *head = wte_model_head(m);
    put_text(wte_model_path(m));
    printf(": %s%s%s\n", t->tied ? cli_green(c) : cli_bold(c), wte_tie_name(t->verdict),
           cli_plain(c));
    label(c, "why");
    put_text(t->why);
    putchar('\n');
    print_table(c, "input", input);
    if (head && head->tensor == input->tensor) {
        label(c, "head");
        puts("the same tensor");
    } else {
        print_table(c, "head", head);
    }
    const wte_file *f = wte_model_file(m);
    if (!head && f && wte_file_n_unlisted_tensors(f)) {
        label(c, "");
        puts("but the files hold tensors that the index does not list: see wte inspect");
    }
    print_numbers(c, t);
    print_flag(c, wte_model_config_of(m), t);
    print_experiment(c, t);
}

/* One line of many. */
static void print_line(const wte_model *m, const wte_tie *t)
{
    const wte_model_config *k = wte_model_config_of(m);
    const bool stored = k->tie_top != WTE_FLAG_ABSENT || k->tie_nested != WTE_FLAG_ABSENT;
    char tied[32], untied[32];
    printf("%-13s  %-7s %-5s %-6s  %-8s  %13s / %13s  ", wte_tie_name(t->verdict),
           stored           ? "flag"
           : k->tie_decided ? "default"
                            : "no flag",
           !k->tie_decided ? ""
           : k->tied       ? "true"
                           : "false",
           t->flag_agrees ? "" : "(lies)", wte_model_head(m) ? "head" : "no head",
           cli_grouped(tied, t->params_tied), cli_grouped(untied, t->params_untied));
    put_text(wte_model_path(m));
    putchar('\n');
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_table(cli_json *j, const char *key, const wte_model_table *t)
{
    if (!t) {
        cli_json_null(j, key);
        return;
    }
    cli_json_object(j, key);
    cli_json_bytes(j, "tensor", t->name, strlen(t->name));
    cli_json_text(j, "dtype", wte_type_name(t->dtype, t->block));
    if (t->scheme) cli_json_text(j, "scheme", t->scheme);
    cli_json_line(j, "shape");
    cli_json_unsigned(j, NULL, t->rows);
    cli_json_unsigned(j, NULL, t->dim);
    cli_json_close(j);
    cli_json_close(j);
}

/* [row, col], or null. */
static void json_place(cli_json *j, const char *key, bool known, uint64_t row, uint64_t col)
{
    if (!known) {
        cli_json_null(j, key);
        return;
    }
    cli_json_line(j, key);
    cli_json_unsigned(j, NULL, row);
    cli_json_unsigned(j, NULL, col);
    cli_json_close(j);
}

static void json_difference(cli_json *j, const wte_tie *t)
{
    cli_json_unsigned(j, "rows_different", t->rows_different);
    if (t->first_different == WTE_NO_INDEX)
        cli_json_null(j, "first_different");
    else
        cli_json_unsigned(j, "first_different", t->first_different);
    cli_json_f64(j, "max_difference", t->max_difference);
    json_place(j, "max_at", t->rows_different > 0 && !isnan(t->max_difference), t->max_row,
               t->max_col);
    cli_json_unsigned(j, "nan", t->n_nan);
    json_place(j, "nan_at", t->n_nan > 0, t->nan_row, t->nan_col);
}

static void json_flag(cli_json *j, const wte_model_config *config, const wte_tie *t)
{
    static const char *const word[] = { NULL, "false", "true" };
    cli_json_object(j, "flag");
    cli_json_text(j, "top_level", word[config->tie_top]);
    cli_json_text(j, "nested", word[config->tie_nested]);
    cli_json_bool(j, "tied", config->tied);
    cli_json_bool(j, "decided", config->tie_decided);
    cli_json_bool(j, "conflict", config->tie_conflict);
    cli_json_bool(j, "agrees", t->flag_agrees);
    cli_json_bytes(j, "rule", config->tie_rule, strlen(config->tie_rule));
    cli_json_close(j);
}

static void json_experiment(cli_json *j, const wte_tie *t)
{
    cli_json_object(j, "experiment");
    cli_json_bool(j, "tried", t->experiment_ran);
    if (t->experiment_ran) {
        cli_json_bool(j, "moved", t->head_changed);
        cli_json_unsigned(j, "row", t->experiment_row);
        cli_json_unsigned(j, "column", t->experiment_col);
        cli_json_f64(j, "input_before", t->before);
        cli_json_f64(j, "input_after", t->after);
        cli_json_f64(j, "head_before", t->head_before);
        cli_json_f64(j, "head_after", t->head_after);
    } else {
        cli_json_bytes(j, "why_not", t->skip_reason, strlen(t->skip_reason));
    }
    cli_json_close(j);
}

static void json_model(cli_json *j, const wte_model *m, const wte_model_table *input,
                       const wte_tie *t)
{
    const char *path = wte_model_path(m);
    cli_json_object(j, NULL);
    cli_json_bytes(j, "model", path, strlen(path));
    cli_json_text(j, "verdict", wte_tie_name(t->verdict));
    cli_json_bool(j, "tied", t->tied);
    cli_json_bytes(j, "why", t->why, strlen(t->why));
    json_table(j, "input", input);
    json_table(j, "head", wte_model_head(m));
    cli_json_unsigned(j, "parameters_tied", t->params_tied);
    cli_json_unsigned(j, "parameters_untied", t->params_untied);
    cli_json_unsigned(j, "wasted_bytes", t->wasted_bytes);
    json_difference(j, t);
    json_flag(j, wte_model_config_of(m), t);
    json_experiment(j, t);
    cli_json_close(j);
}

static void json_error(cli_json *j, const char *path, const wte_error *err)
{
    cli_json_object(j, NULL);
    cli_json_bytes(j, "model", path, strlen(path));
    cli_json_null(j, "verdict");
    cli_json_bool(j, "tied", false);
    cli_json_bytes(j, "error", err->message, strlen(err->message));
    cli_json_close(j);
}

/* ---------------------------------------------------------------------------------------------- */

static wte_status open_and_judge(cli *c, const char *path, wte_pool *pool, wte_model **m,
                                 wte_tie *t, wte_error *err)
{
    wte_model_options model_opt = WTE_MODEL_OPTIONS_INIT;
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    cli_progress progress;
    wte_file_options file;
    cli_file_options(c, &file);
    model_opt.file = &file;
    model_opt.tensor = cli_text(c, "tensor");
    model_opt.head = cli_text(c, "head");
    opt.pool = pool;
    cli_unsigned(c, "max-vocab", 0, &model_opt.max_vocab_bytes);
    cli_reading(path);
    wte_status status = wte_model_open(path, &model_opt, m, err);
    if (status != WTE_OK) return status;
    opt.progress = cli_progress_start(&progress, c, "comparing");
    status = wte_model_tie(*m, &opt, t, err);
    cli_progress_stop(&progress);
    return status;
}

/* One model: its exit code. */
static int judge(cli *c, const char *path, wte_pool *pool, cli_json *j)
{
    wte_model *m = NULL;
    const wte_model_table *input = NULL;
    wte_tie t;
    wte_error err;
    wte_status status = open_and_judge(c, path, pool, &m, &t, &err);
    if (status == WTE_OK) status = wte_model_input(m, &input, &err);
    if (status != WTE_OK) {
        bool typed = status == WTE_E_NOT_FOUND && (cli_given(c, "tensor") || cli_given(c, "head"));
        if (j) json_error(j, path, &err);
        wte_model_free(m);
        return cli_fail(c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
    }
    cli_note_empty(c, m);
    if (j)
        json_model(j, m, input, &t);
    else if (c->n_words == 1 || c->verbose)
        print_report(c, m, input, &t);
    else
        print_line(m, &t);
    wte_model_free(m);
    return t.tied ? CLI_DONE : CLI_NO;
}

static int run(cli *c)
{
    wte_pool *pool;
    cli_json json;
    int worst = cli_pool(c, &pool);
    if (worst) return worst;
    if (c->json) {
        cli_json_begin(&json, stdout, "wte.tied/1");
        cli_json_list(&json, "models");
    }
    for (int i = 0; i < c->n_words; i++) {
        if (i && c->verbose && !c->json) putchar('\n');
        const int code = judge(c, c->words[i], pool, c->json ? &json : NULL);
        if (code > worst) worst = code;
    }
    if (c->json) {
        cli_json_close(&json);
        cli_json_bool(&json, "all_tied", worst == CLI_DONE);
        cli_json_end(&json);
    }
    return worst;
}

const cli_command cmd_tied = {
    .name = "tied",
    .group = CLI_LOOK,
    .synopsis = "MODEL...",
    .summary = "tell whether input table and output head are one matrix",
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = -1,
    .paths = -1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Verdicts: same storage (one stored tensor serves both), equal bytes (two copies),\n"
             "equal values (in two types), independent, headless (no head, and none expected),\n"
             "broken export (a head is missing), impossible (the flag says tied, the shapes do\n"
             "not fit). The stored bytes decide first, then numbers, tie_word_embeddings last.\n"
             "One model is reported in full, several in one line each (-v: in full): verdict,\n"
             "flag or the family's default, whether a head is stored, parameters as one matrix\n"
             "and as two, name. The files are never changed: the experiment runs on a private\n"
             "copy in memory.\n"
             "Exit 0 when every model is tied (same storage or equal bytes), else 1.",
    .run = run,
};
