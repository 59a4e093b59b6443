/* wte diagnose - a vector that is not the expected one: where does it part from the lookup? */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ids.h"
#include "json.h"
#include "observed.h"
#include "open.h"
#include "opt.h"
#include "out.h"

static const cli_option options[] = {
    { "id", '\0', false, CLI_TEXT, "ID|TOKEN", "the id that was looked up", NULL },
    { "token", '\0', false, CLI_FLAG, NULL, "take --id as the text of a token, digits too", NULL },
    CLI_IDS_OPTIONS,
    { "observed", '\0', false, CLI_READ_FILE, "NUMBERS|FILE",
      "what came back: -0.4015,0.9666,-1.1481 or a file with one tensor", NULL },
    CLI_OPTIONS_END,
};

/* Vectors of a matrix that are shown one by one. */
#define SHOWN 20

typedef struct job {
    cli *c;
    wte_model *model;
    const wte_model_table *table;
    cli_ids ids;
    int64_t *values; /* ids.count */
    cli_observed got;
    wte_diagnosis *found; /* ids.count */
} job;

static void put_text(const char *text)
{
    /* names in it were made safe by the library */
    fputs(text, stdout);
}

static void print_step(const cli *c, const char *name, bool ok, const char *text)
{
    printf("  %-8s%s%-9s%s", name, ok ? cli_green(c) : cli_red(c), ok ? "ok" : "DIFFERS",
           cli_plain(c));
    put_text(text);
    putchar('\n');
}

static void print_token(const job *j, const char *what, uint64_t id)
{
    size_t bytes;
    const char *token = cli_token_text(j->model, (int64_t)id, &bytes);
    if (!token) return;
    printf("  %-8s%s", what, "token ");
    cli_put_quoted(stdout, token, bytes);
    putchar('\n');
}

static void print_tokens(const job *j, const wte_diagnosis *d)
{
    print_token(j, "asked", d->id);
    if (d->best.label == WTE_LABEL_OTHER_ROW && !j->table->mapped)
        print_token(j, "got", d->best.row);
}

static void print_same(const wte_hypothesis *g)
{
    if (g->n_same < 2) return;
    printf("  same       %" PRIu64 " rows fit equally well:", g->n_same);
    for (uint64_t i = 0; i < g->n_same && i < WTE_SAME_SHOWN; i++) printf(" %" PRIu64, g->same[i]);
    puts(g->n_same > WTE_SAME_SHOWN ? " ..." : "");
}

static void print_confidence(const wte_diagnosis *d)
{
    const wte_hypothesis *g = &d->best;
    char text[256];
    char luck[32];
    snprintf(luck, sizeof luck, g->expected_false_matches < 1 ? "%.1g" : "%.0f",
             g->expected_false_matches);
    if (g->n_matching == g->n && g->n)
        printf("  confidence %.3f: %" PRIu64 " of %" PRIu64
               " numbers fit, and %s such fits are expected by luck\n",
               g->confidence, g->n_matching, g->n, luck);
    else if (g->label == WTE_LABEL_ZEROS || g->label == WTE_LABEL_NONFINITE)
        printf("  confidence none: %s\n", g->label == WTE_LABEL_ZEROS
                                              ? "zeros are seen, and tell nothing of a row"
                                              : "seen in the numbers themselves");
    else
        printf("  confidence 0: nothing fits all %" PRIu64 " numbers\n", g->n);
    print_same(g);
    const wte_hypothesis *r = &d->runner_up;
    if (r->n == 0) {
        puts("  runner-up  none");
        return;
    }
    printf("  runner-up  %s: ", wte_hypothesis_text(r, text, sizeof text));
    if (r->n_matching == r->n)
        printf("fits too, confidence %.3f\n", r->confidence);
    else if (isfinite(r->distance))
        printf("%" PRIu64 " of %" PRIu64 " numbers fit, %.3g%% of the vector's length away\n",
               r->n_matching, r->n, 100 * r->distance);
    else
        printf("%" PRIu64 " of %" PRIu64 " numbers fit\n", r->n_matching, r->n);
}

static void print_one(const job *j)
{
    const wte_diagnosis *d = &j->found[0];
    const cli *c = j->c;
    const char *path = wte_model_path(j->model);
    fputs(cli_bold(c), stdout);
    cli_put_safe(stdout, path, strlen(path));
    printf(": %s%s\n", d->verdict, cli_plain(c));
    puts("check id, then row, then vector:");
    print_step(c, "id", d->id_ok, d->id_text);
    print_step(c, "row", d->row_ok, d->row_text);
    print_step(c, "vector", d->vector_ok, d->vector_text);
    print_tokens(j, d);
    print_confidence(d);
    printf("  next       %s\n", d->advice);
    if (d->not_searched)
        printf("  note       %" PRIu64 " other tensors were not searched: together too large\n",
               d->not_searched);
}

static void print_many(const job *j, const wte_diagnosis_summary *sum)
{
    const cli *c = j->c;
    const char *path = wte_model_path(j->model);
    uint64_t shown = 0, bad = 0;
    fputs(cli_bold(c), stdout);
    cli_put_safe(stdout, path, strlen(path));
    printf(": %s%s\n", sum->text, cli_plain(c));
    for (uint32_t l = 0; l < WTE_LABELS; l++)
        if (sum->label[l]) printf("  %8" PRIu64 "  %s\n", sum->label[l], wte_label_name(l));
    for (uint64_t i = 0; i < j->ids.count; i++) {
        const wte_diagnosis *d = &j->found[i];
        if (d->best.label == WTE_LABEL_MATCH) continue;
        bad++;
        if (shown == SHOWN) continue;
        shown++;
        printf("  number %" PRIu64 ", id %" PRIu64 ": %s\n", i, d->id, d->verdict);
    }
    if (bad > shown) printf("  ... and %" PRIu64 " more; --json prints all\n", bad - shown);
    if (bad) printf("  next       %s\n", j->found[sum->first_bad].advice);
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_guess(cli_json *j, const char *key, const wte_hypothesis *g)
{
    char text[256];
    if (g->n == 0) {
        cli_json_null(j, key);
        return;
    }
    cli_json_object(j, key);
    cli_json_text(j, "label", wte_label_name(g->label));
    cli_json_text(j, "text", wte_hypothesis_text(g, text, sizeof text));
    cli_json_text(j, "change", g->change ? wte_label_name(g->change) : NULL);
    if (g->tensor) cli_json_bytes(j, "tensor", g->tensor, strlen(g->tensor));
    if (g->row != WTE_NO_INDEX) cli_json_unsigned(j, "row", g->row);
    if (g->label == WTE_LABEL_OTHER_ROW) cli_json_signed(j, "offset", g->offset);
    if (g->plus) {
        cli_json_bytes(j, "plus", g->plus, strlen(g->plus));
        cli_json_unsigned(j, "plus_row", g->plus_row);
    }
    if (g->change == WTE_LABEL_SCALED) {
        cli_json_f64(j, "factor", g->factor);
        cli_json_signed(j, "power", g->power);
        cli_json_bool(j, "model_factor", g->model_factor);
    }
    if (g->dtype) cli_json_text(j, "dtype", wte_dtype_name(g->dtype));
    cli_json_bool(j, "bit_for_bit", g->bit_for_bit);
    cli_json_unsigned(j, "fits", g->n_matching);
    cli_json_unsigned(j, "numbers", g->n);
    cli_json_f64(j, "distance", g->distance);
    cli_json_unsigned(j, "same", g->n_same);
    cli_json_f64(j, "chance", g->expected_false_matches);
    cli_json_f64(j, "confidence", g->confidence);
    cli_json_close(j);
}

static void json_step(cli_json *j, const char *key, bool ok, const char *text)
{
    cli_json_short(j, key);
    cli_json_bool(j, "ok", ok);
    cli_json_text(j, "text", text);
    cli_json_close(j);
}

static void json_diagnosis(cli_json *j, const wte_diagnosis *d)
{
    static const char *const step[] = { NULL, "id", "row", "vector" };
    cli_json_object(j, NULL);
    cli_json_unsigned(j, "id", d->id);
    cli_json_unsigned(j, "row", d->row);
    cli_json_text(j, "parts_at", step[d->first_difference]);
    cli_json_text(j, "verdict", d->verdict);
    json_step(j, "id_step", d->id_ok, d->id_text);
    json_step(j, "row_step", d->row_ok, d->row_text);
    json_step(j, "vector_step", d->vector_ok, d->vector_text);
    json_guess(j, "best", &d->best);
    json_guess(j, "runner_up", &d->runner_up);
    cli_json_unsigned(j, "tried", d->n_hypotheses);
    cli_json_unsigned(j, "tensors_not_searched", d->not_searched);
    cli_json_text(j, "advice", d->advice);
    cli_json_close(j);
}

static void print_json(const job *j, const wte_diagnosis_summary *sum)
{
    cli_json json;
    const char *path = wte_model_path(j->model);
    cli_json_begin(&json, stdout, "wte.diagnose/1");
    cli_json_bytes(&json, "model", path, strlen(path));
    cli_json_bytes(&json, "tensor", j->table->name, strlen(j->table->name));
    cli_json_unsigned(&json, "vectors", sum->n);
    cli_json_unsigned(&json, "match", sum->label[WTE_LABEL_MATCH]);
    if (sum->off_by)
        cli_json_signed(&json, "ids_off_by", sum->offset);
    else
        cli_json_null(&json, "ids_off_by");
    cli_json_text(&json, "summary", sum->text);
    cli_json_list(&json, "diagnoses");
    for (uint64_t i = 0; i < j->ids.count; i++) json_diagnosis(&json, &j->found[i]);
    cli_json_close(&json);
    cli_json_end(&json);
}

/* ---------------------------------------------------------------------------------------------- */

static int read_ids(job *j)
{
    cli *c = j->c;
    int code;
    if (cli_given(c, "ids")) {
        code = cli_ids_open(c, &j->ids);
    } else {
        int64_t id;
        code = cli_word_id(c, j->model, cli_text(c, "id"), cli_given(c, "token"), &id);
        if (!code) code = cli_ids_typed(c, &id, 1, &j->ids);
    }
    if (code) return code;
    if (j->ids.count == 0) return cli_say_fail(c, CLI_INPUT, "%s: there are no ids", j->ids.from);
    j->values = calloc((size_t)j->ids.count, sizeof *j->values);
    j->found = calloc((size_t)j->ids.count, sizeof *j->found);
    if (!j->values || !j->found)
        return cli_say_fail(c, CLI_OUTPUT, "out of memory for %" PRIu64 " diagnoses", j->ids.count);
    code = cli_ids_read(c, &j->ids, 0, (size_t)j->ids.count, j->values);
    for (uint64_t i = 0; i < j->ids.count && !code; i++) {
        char text[32];
        if (!cli_ids_beyond(&j->ids, j->values[i])) continue;
        code = cli_say_fail(c, CLI_INPUT,
                            "%s: id %s at position %" PRIu64 " has no row: ids end below 2^63",
                            j->ids.from, cli_ids_text(&j->ids, j->values[i], text), i);
    }
    return code;
}

static int answer(job *j)
{
    cli *c = j->c;
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    const wte_ids ids = { j->values, WTE_I64, 0, j->ids.count };
    wte_diagnosis_summary sum;
    cli_progress progress;
    wte_error err;
    const int code = cli_pool(c, &opt.pool);
    if (code) return code;
    opt.progress = cli_progress_start(&progress, c, "searching rows");
    const wte_status status = wte_model_diagnose(j->model, ids, &j->got.got, &opt, j->found, &err);
    cli_progress_stop(&progress);
    if (status != WTE_OK) {
        const bool typed = status == WTE_E_RANGE ? j->ids.typed : j->got.typed;
        return cli_fail(c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
    }
    wte_diagnosis_summarize(j->found, j->ids.count, &sum);
    if (c->json)
        print_json(j, &sum);
    else if (j->ids.count == 1)
        print_one(j);
    else
        print_many(j, &sum);
    return sum.first_bad == WTE_NO_INDEX ? CLI_DONE : CLI_NO;
}

static int check_usage(const cli *c)
{
    if (cli_given(c, "id") == cli_given(c, "ids"))
        return cli_usage(c, "which id was looked up? give --id ID, or --ids FILE for many");
    if (!cli_given(c, "observed"))
        return cli_usage(c, "what came back? give --observed NUMBERS or --observed FILE");
    if (cli_given(c, "ids") && cli_given(c, "token")) return cli_usage(c, "--token is about --id");
    if (!cli_given(c, "ids") && cli_given(c, "ids-type"))
        return cli_usage(c, "--ids-type belongs to --ids");
    return CLI_DONE;
}

static int run(cli *c)
{
    job j = { .c = c };
    int code = check_usage(c);
    if (code) return code;
    code = cli_open_model(c, c->words[0], CLI_VOCAB_ALL, &j.model);
    if (!code) code = cli_input_table(c, j.model, &j.table);
    if (!code) code = read_ids(&j);
    if (!code) code = cli_observed_read(c, "observed", &j.got);
    if (!code) code = answer(&j);
    free(j.values);
    free(j.found);
    cli_observed_clear(&j.got);
    cli_ids_close(&j.ids);
    return code;
}

const cli_command cmd_diagnose = {
    .name = "diagnose",
    .group = CLI_LOOK,
    .synopsis = "MODEL --id ID|TOKEN --observed NUMBERS|FILE",
    .summary = "tell where a vector parts from the lookup it should have come from",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 1,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Follows id, row and vector in that order and names the first that differs:\n"
             "another row, the output head's row, another tensor's, a column, a reshaped\n"
             "table, a factor, a norm, swapped bytes, a smaller type, an added row; else\n"
             "'unknown'. A typed number fits within half a unit of its last digit, a file's\n"
             "within 1 ulp. --observed FILE is .npy or safetensors with one tensor; with --ids it\n"
             "is a matrix with one row an id. Exit 0 when all match, else 1.",
    .run = run,
};
