/* wte check - every fault of the embedding of a model, each with its one repair. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wte/check.h>

#include "baseline.h"
#include "json.h"
#include "number.h"
#include "open.h"
#include "opt.h"
#include "out.h"
#include "outputs.h"

static const cli_option options[] = {
    { "only", '\0', true, CLI_TEXT, "CODE,...", "look for these faults alone", NULL },
    { "fail-on", '\0', false, CLI_CHOICE, "error|warn", "exit 1 from this level on", "error" },
    { "tokens", '\0', true, CLI_TEXT, "ID|TOKEN,...",
      "these are going to be used: their rows must be trained", NULL },
    { "template", '\0', false, CLI_READ_FILE, "FILE",
      "a chat template: special tokens in it are going to be used", NULL },
    { "adapter", '\0', false, CLI_READ_MODEL, "DIR", "whether this adapter fits: rows, tokens, tie",
      NULL },
    { "glitch", '\0', false, CLI_UNSIGNED, "N", "rank N tokens that training hardly saw", NULL },
    { "baseline", '\0', false, CLI_READ_FILE, "FILE", "findings in FILE are accepted", NULL },
    { "write-baseline", '\0', false, CLI_WRITE_TEXT, "FILE",
      "write the findings to FILE, as accepted", NULL },
    { "codes", '\0', false, CLI_FLAG, NULL, "list every fault that is known, and stop", NULL },
    CLI_OPTIONS_END,
};

typedef struct job {
    cli *c;
    wte_model *model, *adapter; /* adapter: or NULL */
    wte_check *report;
    cli_baseline accepted;
    const char **only; /* pieces of text */
    char *text, *text_end;
    size_t n_only;
    uint64_t *tokens;
    size_t n_tokens;
    char *chat;
    uint64_t chat_bytes;
    uint64_t n[4]; /* findings that are not accepted, by level */
    uint64_t n_accepted;
} job;

/* Text ----------------------------------------------------------------------------------------- */

static const wte_model *model_of(const job *j, const wte_finding *f)
{
    return f->of_adapter ? j->adapter : j->model;
}

static void put_ids(const job *j, const wte_finding *f)
{
    const wte_model *m = model_of(j, f);
    if (!f->count) return;
    printf("    %s%-7s%s", cli_dim(j->c), f->rows ? "rows" : "ids", cli_plain(j->c));
    for (uint32_t i = 0; i < f->n_ids; i++) {
        printf("%s%" PRIu64, i ? ", " : "", f->ids[i]);
        if (f->rows || !cli_put_token(NULL, m, (int64_t)f->ids[i])) continue;
        putchar(' ');
        cli_put_token(stdout, m, (int64_t)f->ids[i]);
    }
    if (f->count > f->n_ids) printf(", ... %" PRIu64 " in all", f->count);
    putchar('\n');
}

static void put_line(const cli *c, const char *name, const char *text)
{
    if (*text) printf("    %s%-7s%s%s\n", cli_dim(c), name, cli_plain(c), text);
}

static void put_finding(const job *j, const wte_finding *f)
{
    const cli *c = j->c;
    const char *colour = f->level == WTE_CHECK_ERROR  ? cli_red(c)
                         : f->level == WTE_CHECK_WARN ? cli_bold(c)
                                                      : "";
    printf("\n%s%-6s%s%s  %s\n", colour, wte_check_level_name(f->level), f->code,
           *colour ? cli_plain(c) : "", f->subject);
    put_line(c, "fact", f->fact);
    put_ids(j, f);
    put_line(c, "why", f->why);
    put_line(c, "repair", f->repair);
}

static void put_sizes(const job *j)
{
    const wte_check_facts *f = wte_check_facts_of(j->report);
    fputs("  config vocab_size  ", stdout);
    if (f->config_vocab)
        printf("%" PRIu64 "\n", f->config_vocab);
    else
        puts("not said");
    fputs("  table rows         ", stdout);
    if (!f->has_table)
        puts("no table");
    else if (f->stored_rows != f->table_rows)
        printf("%" PRIu64 ", reached by %" PRIu64 " ids\n", f->stored_rows, f->table_rows);
    else
        printf("%" PRIu64 "\n", f->table_rows);
    fputs("  head rows          ", stdout);
    if (f->head_rows)
        printf("%" PRIu64 "\n", f->head_rows);
    else
        puts(*wte_model_head_problem(j->model) ? "not read" : "none stored");
    fputs("  tokenizer          ", stdout);
    if (f->has_vocab)
        printf("%" PRIu64 " token%s, largest id %" PRIu64 ", %" PRIu64 " hole%s\n", f->n_tokens,
               f->n_tokens == 1 ? "" : "s", f->token_ids ? f->token_ids - 1 : 0, f->n_holes,
               f->n_holes == 1 ? "" : "s");
    else
        puts("none");
    if (f->has_adapter)
        printf("  adapter rows       %" PRIu64 ", the base needs %" PRIu64 "\n", f->adapter_rows,
               f->adapter_needs);
    if (f->scanned)
        printf("  norms              %.4g to %.4g, median %.4g\n", f->norm_min, f->norm_max,
               f->norm_median);
}

static void put_glitches(const job *j)
{
    const wte_glitch *g;
    if (!wte_check_glitch(j->report, 0)) return;
    printf("\nby %s, the likeliest first:\n", wte_check_glitch_indicator(j->report));
    fputs("  rank       id  indicator  class          token\n", stdout);
    for (uint64_t i = 0; (g = wte_check_glitch(j->report, i)); i++) {
        printf("  %4" PRIu64 " %8" PRIu64 "  %9.4g  %-13s  ", i + 1, g->id, g->indicator,
               wte_token_class_name(g->token_class));
        if (!cli_put_token(stdout, j->model, (int64_t)g->id)) putchar('-');
        putchar('\n');
    }
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_text(const job *j)
{
    const cli *c = j->c;
    const char *path = c->words[0];
    fputs(cli_bold(c), stdout);
    cli_put_safe(stdout, path, strlen(path));
    printf(": %" PRIu64 " error%s, %" PRIu64 " warning%s, %" PRIu64 " remark%s",
           j->n[WTE_CHECK_ERROR], plural(j->n[WTE_CHECK_ERROR]), j->n[WTE_CHECK_WARN],
           plural(j->n[WTE_CHECK_WARN]), j->n[WTE_CHECK_INFO], plural(j->n[WTE_CHECK_INFO]));
    if (j->n_accepted) printf(", %" PRIu64 " accepted", j->n_accepted);
    printf("%s\n", cli_plain(c));
    if (j->model) put_sizes(j);
    const wte_finding *f;
    for (uint64_t i = 0; (f = wte_check_finding(j->report, i)); i++) {
        const bool hidden = c->quiet && f->level == WTE_CHECK_INFO;
        if (!hidden && !cli_baseline_has(&j->accepted, f)) put_finding(j, f);
    }
    put_glitches(j);
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_token(const wte_model *m, cli_json *json, uint64_t id)
{
    size_t bytes;
    const char *token = cli_token_text(m, (int64_t)id, &bytes);
    if (token)
        cli_json_bytes(json, "token", token, bytes);
    else
        cli_json_null(json, "token");
}

static void json_finding(const job *j, cli_json *json, const wte_finding *f)
{
    cli_json_object(json, NULL);
    cli_json_text(json, "code", f->code);
    cli_json_text(json, "level", wte_check_level_name(f->level));
    cli_json_text(json, "subject", f->subject);
    cli_json_bool(json, "accepted", cli_baseline_has(&j->accepted, f));
    cli_json_text(json, "fact", f->fact);
    cli_json_text(json, "why", f->why);
    cli_json_text(json, "repair", *f->repair ? f->repair : NULL);
    cli_json_unsigned(json, "count", f->count);
    if (f->rows) cli_json_unsigned(json, "tokens", f->tokens);
    cli_json_list(json, f->rows ? "rows" : "ids");
    for (uint32_t i = 0; i < f->n_ids; i++) {
        cli_json_short(json, NULL);
        cli_json_unsigned(json, f->rows ? "row" : "id", f->ids[i]);
        if (!f->rows) json_token(model_of(j, f), json, f->ids[i]);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

static void json_sizes(const job *j, cli_json *json)
{
    const wte_check_facts *f = wte_check_facts_of(j->report);
    cli_json_object(json, "sizes");
    cli_json_unsigned(json, "config_vocab_size", f->config_vocab);
    cli_json_unsigned(json, "table_rows", f->table_rows);
    cli_json_unsigned(json, "stored_rows", f->stored_rows);
    cli_json_unsigned(json, "dim", f->dim);
    cli_json_unsigned(json, "head_rows", f->head_rows);
    cli_json_unsigned(json, "tokens", f->n_tokens);
    cli_json_unsigned(json, "token_ids", f->token_ids);
    cli_json_unsigned(json, "holes", f->n_holes);
    if (f->has_adapter) {
        cli_json_unsigned(json, "adapter_rows", f->adapter_rows);
        cli_json_unsigned(json, "adapter_dim", f->adapter_dim);
        cli_json_unsigned(json, "adapter_head_rows", f->adapter_head_rows);
        cli_json_unsigned(json, "adapter_needs", f->adapter_needs);
    }
    cli_json_close(json);
    if (!f->scanned) {
        cli_json_null(json, "rows");
        return;
    }
    cli_json_object(json, "rows");
    cli_json_unsigned(json, "zero", f->n_zero);
    cli_json_unsigned(json, "constant", f->n_constant);
    cli_json_unsigned(json, "nonfinite", f->n_nonfinite);
    cli_json_unsigned(json, "duplicate", f->n_duplicates);
    cli_json_unsigned(json, "near_duplicate", f->n_near_duplicates);
    cli_json_unsigned(json, "nan", f->n_nan);
    cli_json_unsigned(json, "inf", f->n_inf);
    cli_json_unsigned(json, "beyond_f16", f->beyond_f16);
    cli_json_f64(json, "norm_least", f->norm_min);
    cli_json_f64(json, "norm_median", f->norm_median);
    cli_json_f64(json, "norm_most", f->norm_max);
    cli_json_close(json);
}

static void json_glitches(const job *j, cli_json *json)
{
    const wte_glitch *g;
    cli_json_text(json, "indicator", wte_check_glitch_indicator(j->report));
    cli_json_list(json, "glitch");
    for (uint64_t i = 0; (g = wte_check_glitch(j->report, i)); i++) {
        cli_json_short(json, NULL);
        cli_json_unsigned(json, "rank", i + 1);
        cli_json_unsigned(json, "id", g->id);
        cli_json_f64(json, "indicator", g->indicator);
        cli_json_text(json, "class", wte_token_class_name(g->token_class));
        json_token(j->model, json, g->id);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void print_json(const job *j)
{
    cli_json json;
    const wte_finding *f;
    const char *path = j->c->words[0];
    cli_json_begin(&json, stdout, "wte.check/1");
    cli_json_bytes(&json, "model", path, strlen(path));
    cli_json_unsigned(&json, "errors", j->n[WTE_CHECK_ERROR]);
    cli_json_unsigned(&json, "warnings", j->n[WTE_CHECK_WARN]);
    cli_json_unsigned(&json, "remarks", j->n[WTE_CHECK_INFO]);
    cli_json_unsigned(&json, "accepted", j->n_accepted);
    cli_json_bool(&json, "opened", j->model != NULL);
    if (j->model) {
        json_sizes(j, &json);
    } else {
        cli_json_null(&json, "sizes");
        cli_json_null(&json, "rows");
    }
    cli_json_list(&json, "findings");
    for (uint64_t i = 0; (f = wte_check_finding(j->report, i)); i++) json_finding(j, &json, f);
    cli_json_close(&json);
    if (wte_check_glitch(j->report, 0)) json_glitches(j, &json);
    cli_json_end(&json);
}

/* Options -------------------------------------------------------------------------------------- */

/* How many pieces the values of an option have at most. */
static size_t count_pieces(const cli *c, const char *name)
{
    size_t n = 0;
    for (const cli_value *v = cli_first(c, name); v; v = cli_next(c, v)) {
        n++;
        for (const char *at = v->text; *at; at++) n += *at == ',';
    }
    return n;
}

/* Each piece of the values of an option, copied and ended; `take` may keep the text, which is the
 * job's. */
static int take_pieces(job *j, const char *name, const char *shown,
                       int (*take)(job *j, const char *text))
{
    int code = CLI_DONE;
    for (const cli_value *v = cli_first(j->c, name); v && !code; v = cli_next(j->c, v)) {
        cli_fields f = { .at = v->text, .blanks = "", .what = shown };
        while (!code && cli_fields_next(&f)) {
            char *text = j->text_end;
            memcpy(text, f.text, f.n);
            text[f.n] = '\0';
            j->text_end += f.n + 1;
            code = take(j, text);
        }
        if (!code && f.missing) code = cli_fields_refuse(j->c, &f);
    }
    return code;
}

static int take_only(job *j, const char *text)
{
    j->only[j->n_only++] = text;
    return CLI_DONE;
}

static int take_token(job *j, const char *text)
{
    int64_t id;
    const int code = cli_word_id(j->c, j->model, text, false, &id);
    if (code) return code;
    if (id < 0) return cli_usage(j->c, "--tokens: id %" PRId64 " is negative", id);
    j->tokens[j->n_tokens++] = (uint64_t)id;
    return CLI_DONE;
}

/* Room for what --only and --tokens name. */
static int make_lists(job *j)
{
    static const char *const names[] = { "only", "tokens" };
    size_t bytes = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const cli_value *v = cli_first(j->c, names[i]); v; v = cli_next(j->c, v))
            bytes += strlen(v->text) + 1;
    j->text = j->text_end = malloc(bytes);
    j->only = calloc(count_pieces(j->c, "only") + 1, sizeof *j->only);
    j->tokens = calloc(count_pieces(j->c, "tokens") + 1, sizeof *j->tokens);
    if (!j->text || !j->only || !j->tokens) return cli_say_fail(j->c, CLI_OUTPUT, "out of memory");
    return take_pieces(j, "only", "--only", take_only);
}

#define TEMPLATE_BYTES (16u << 20) /* templates have some kilobytes */

static bool stands_in(const char *text, uint64_t n, const char *token, uint64_t bytes)
{
    for (uint64_t at = 0; at + bytes <= n; at++)
        if (memcmp(text + at, token, (size_t)bytes) == 0) return true;
    return false;
}

/* Without a token of the template nothing of it is checked: that is no all-clear. */
static void note_template(const job *j, const char *path)
{
    const wte_vocab *v = wte_model_vocab(j->model);
    for (uint64_t id = 0; id < wte_vocab_size(v); id++) {
        const wte_token_kind kind = wte_vocab_kind(v, id);
        uint64_t bytes;
        const char *token = wte_vocab_raw_text(v, id, &bytes);
        if (kind != WTE_TOKEN_SPECIAL && kind != WTE_TOKEN_ADDED) continue;
        if (bytes > 1 && stands_in(j->chat, j->chat_bytes, token, bytes)) return;
    }
    cli_note(j->c,
             "--template: no special or added token of the tokenizer stands in %s: no row was "
             "checked for it (--tokens names tokens)",
             path);
}

static int read_template(job *j)
{
    const char *path = cli_text(j->c, "template");
    if (!path) return CLI_DONE;
    const char *problem = wte_model_vocab_problem(j->model);
    if (*problem) return cli_say_fail(j->c, CLI_INPUT, "--template: %s", problem);
    if (!wte_model_vocab(j->model))
        return cli_usage(j->c, "--template: the model has no tokenizer to find its tokens in");
    const int code = cli_read_text(j->c, path, TEMPLATE_BYTES, &j->chat, &j->chat_bytes);
    if (code == CLI_DONE) note_template(j, path);
    return code;
}

static int read_adapter(job *j)
{
    const char *path = cli_text(j->c, "adapter");
    wte_error err;
    if (!path) return CLI_DONE;
    cli_reading(path);
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_file_options file;
    cli_file_options(j->c, &file);
    opt.file = &file;
    cli_unsigned(j->c, "max-vocab", 0, &opt.max_vocab_bytes);
    const wte_status status = wte_model_open(path, &opt, &j->adapter, &err);
    if (status != WTE_OK) return cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
    cli_keep_model(j->c, j->adapter);
    if (wte_model_adapter_of(j->adapter)) return cli_outputs_check_model(j->c, j->adapter);
    return cli_say_fail(j->c, CLI_INPUT, "%s: is no adapter: neither its name nor a tensor says so",
                        path);
}

static int list_codes(void)
{
    wte_check_level level;
    const char *code, *why;
    for (size_t i = 0; (code = wte_check_code(i, &level, &why)); i++)
        printf("%-6s%-21s %s\n", wte_check_level_name(level), code, why);
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------- */

static int check(job *j)
{
    cli *c = j->c;
    wte_check_options opt = WTE_CHECK_OPTIONS_INIT;
    cli_progress progress;
    wte_error err;
    const int code = cli_pool(c, &opt.pool);
    if (code) return code;
    opt.only = j->only;
    opt.n_only = j->n_only;
    opt.tokens = j->tokens;
    opt.n_tokens = j->n_tokens;
    opt.template_text = j->chat;
    opt.template_bytes = j->chat_bytes;
    opt.adapter = j->adapter;
    cli_unsigned(c, "glitch", 0, &opt.glitch);
    opt.progress = cli_progress_start(&progress, c, "checking rows");
    const wte_status status = wte_model_check(j->model, &opt, &j->report, &err);
    cli_progress_stop(&progress);
    if (status == WTE_OK) return CLI_DONE;
    const bool typed = status == WTE_E_NOT_FOUND || status == WTE_E_RANGE;
    return cli_fail(c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
}

static void count_findings(job *j)
{
    const wte_finding *f;
    for (uint64_t i = 0; (f = wte_check_finding(j->report, i)); i++) {
        if (cli_baseline_has(&j->accepted, f))
            j->n_accepted++;
        else
            j->n[f->level]++;
    }
}

static int answer(job *j)
{
    count_findings(j);
    if (j->c->json)
        print_json(j);
    else
        print_text(j);
    const char *path = cli_text(j->c, "write-baseline");
    const int code = path ? cli_baseline_write(j->c, path, j->report) : CLI_DONE;
    if (code) return code;
    const bool warn = strcmp(cli_text(j->c, "fail-on"), "warn") == 0;
    return j->n[WTE_CHECK_ERROR] || (warn && j->n[WTE_CHECK_WARN]) ? CLI_NO : CLI_DONE;
}

/* What was asked could not be looked at, which was said; the answer is JSON all the same. */
static void print_failed(const job *j, int code)
{
    cli_json json;
    const char *path = j->c->words[0];
    cli_json_begin(&json, stdout, "wte.check/1");
    cli_json_bytes(&json, "model", path, strlen(path));
    cli_json_bool(&json, "opened", j->model != NULL);
    cli_json_signed(&json, "exit", code);
    cli_json_null(&json, "findings");
    cli_json_end(&json);
}

/* The model did not open, which was said: the report tells all that is wrong with its files. */
static int explain(job *j, int code)
{
    cli_model_how how;
    wte_error err;
    if (code == CLI_CANNOT && !j->c->json) return code; /* one file alone, and it was said */
    if (cli_model_options(j->c, &how)) return code;
    if (wte_check_unopened(j->c->words[0], &how.model, NULL, &j->report, &err) != WTE_OK)
        return code;
    const uint64_t n = wte_check_n_findings(j->report);
    const bool known =
        n == 1 && strcmp(wte_check_finding(j->report, 0)->code, "model-unreadable") == 0;
    count_findings(j);
    if (j->c->json)
        print_json(j);
    else if (!known) /* else it was said */
        print_text(j);
    return code;
}

static int run(cli *c)
{
    job j = { .c = c };
    if (cli_given(c, "codes") && c->n_words)
        return cli_usage(c, "--codes lists the faults, whatever the model: '%s' says nothing",
                         c->words[0]);
    if (cli_given(c, "codes")) return list_codes();
    if (c->n_words == 0) return cli_usage(c, "too few arguments; it takes MODEL");
    int code = make_lists(&j);
    if (!code) {
        code = cli_open_model(c, c->words[0], CLI_VOCAB_NEEDED, &j.model);
        if (code && !j.model) code = explain(&j, code);
    }
    if (!code) code = cli_baseline_read(c, cli_text(c, "baseline"), &j.accepted);
    if (!code) code = take_pieces(&j, "tokens", "--tokens", take_token);
    if (!code) code = read_template(&j);
    if (!code) code = read_adapter(&j);
    if (!code) code = check(&j);
    if (!code)
        code = answer(&j);
    else if (c->json && !j.report && code != CLI_USAGE && code != CLI_OUTPUT)
        print_failed(&j, code);
    wte_check_free(j.report);
    cli_baseline_clear(&j.accepted);
    free(j.only);
    free(j.text);
    free(j.tokens);
    free(j.chat);
    return code;
}

const cli_command cmd_check = {
    .name = "check",
    .group = CLI_LOOK,
    .synopsis = "MODEL",
    .summary = "name every fault of a model's embedding, each with its one repair",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 0,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Compares the sizes of config, table, head and tokenizer, the tied flag with the\n"
             "bytes, the index with its shards, and looks at every row: zero, constant, not\n"
             "finite, equal, nearly equal, untrained. Nothing is written to the model; the\n"
             "repairs are commands to run. --quiet leaves remarks out. A baseline has a line\n"
             "for each accepted finding: its code, a tab, its subject.\n"
             "Exit 1 when there is an error (--fail-on warn: or a warning) not accepted.",
    .run = run,
};
