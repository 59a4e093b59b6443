/* wte train --method lm: a neural n-gram language model, tied or not. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wte/lm.h>

#include "ids.h"
#include "out.h"
#include "outputs.h"
#include "train.h"

/* A table that is shown while it learns has at most so many numbers. */
#define SHOWN_MOST 256u

/* What a run needs and leaves behind; all of it is freed in one place. */
typedef struct run {
    cli *c;
    const char *folder;
    char checkpoint[4096];
    wte_model *start;
    wte_row_source start_rows;
    wte_corpus *corpus, *valid;
    wte_lm *lm;
    wte_lm_options opt;
    uint8_t *trainable;
    cli_train_log log;
} run;

/* Options ----------------------------------------------------------------------------------------
 */

static int read_numbers(run *r)
{
    const cli *c = r->c;
    wte_lm_options *o = &r->opt;
    const struct {
        const char *name;
        uint64_t *to;
        bool may_be_0;
    } counts[] = {
        { "dim", &o->dim, false },         { "epochs", &o->epochs, false },
        { "context", &o->context, false }, { "hidden", &o->hidden, false },
        { "batch", &o->batch, false },     { "log-every", &o->log_every, false },
        { "warmup", &o->warmup, true },    { "valid-every", &o->valid_every, false },
        { "seed", &o->seed, true },        { "patience", &o->patience, false },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (cli_unsigned(c, counts[i].name, 0, counts[i].to) && !counts[i].may_be_0 &&
            *counts[i].to == 0) /* what the library takes for "not given" */
            return cli_usage(c, "--%s must be above 0", counts[i].name);
    cli_real(c, "lr", 0, &o->lr);
    cli_real(c, "momentum", 0, &o->momentum);
    cli_real(c, "weight-decay", 0, &o->weight_decay);
    cli_real(c, "time-limit", 0, &o->seconds);
    cli_unsigned(c, "max-bytes", 0, &o->max_bytes);
    cli_real(c, "checkpoint-every", 0, &o->checkpoint_seconds);
    if (cli_real(c, "clip", 0, &o->clip) && o->clip == 0) o->clip = -1;
    if (cli_real(c, "projection-decay", 0, &o->projection_decay) && o->projection_decay == 0)
        o->projection_decay = -1;
    return CLI_DONE;
}

/* The last part of the corpus is held out: a share is one part of a whole number of them. */
static int read_validation(run *r)
{
    const cli *c = r->c;
    double share;
    if (cli_real(c, "valid-fraction", 0, &share)) {
        if (cli_given(c, "valid"))
            return cli_usage(c, "--valid and --valid-fraction are two texts");
        if (!(share > 0 && share <= 0.5))
            return cli_refuse_value(c, "valid-fraction",
                                    "a share above 0 and at most 0.5 is needed");
        if (share < 1e-6) share = 1e-6;
        r->opt.hold_out = (uint64_t)floor(1 / share + 0.5);
        const double held = 1 / (double)r->opt.hold_out;
        if (fabs(held - share) > 0.01 * share)
            cli_note(c, "%.4g of the corpus is held out: the whole part of it nearest to %g", held,
                     share);
    } else if (!cli_given(c, "valid")) {
        static const char *const idle[] = { "patience", "valid-every" };
        for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
            if (cli_given(c, idle[i]))
                return cli_usage(c, "--%s says nothing without --valid or --valid-fraction",
                                 idle[i]);
    }
    return CLI_DONE;
}

static int read_kinds(run *r)
{
    static const struct {
        const char *name;
        wte_optim_kind kind;
    } optimizers[] = { { "adam", WTE_OPTIM_ADAM },
                       { "adamw", WTE_OPTIM_ADAMW },
                       { "adagrad", WTE_OPTIM_ADAGRAD },
                       { "rowwise-adagrad", WTE_OPTIM_ROWWISE_ADAGRAD },
                       { "sgd", WTE_OPTIM_SGD } };
    const cli *c = r->c;
    const char *optimizer = cli_text(c, "optimizer"), *schedule = cli_text(c, "schedule");
    const char *head = cli_text(c, "output-layer");
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        if (strcmp(optimizer, optimizers[i].name) == 0) r->opt.optim = optimizers[i].kind;
    if (strcmp(schedule, "linear") == 0) r->opt.schedule = WTE_LM_LINEAR;
    if (strcmp(schedule, "cosine") == 0) r->opt.schedule = WTE_LM_COSINE;
    r->opt.projected = strstr(head, "projected") != NULL;
    r->opt.tied = strncmp(head, "untied", 6) != 0;
    r->opt.resume = cli_given(c, "resume");
    if (!r->opt.projected && cli_given(c, "projection-decay"))
        return cli_usage(c, "--projection-decay says nothing about --output-layer '%s'", head);
    if (r->opt.optim != WTE_OPTIM_SGD && cli_given(c, "momentum"))
        return cli_usage(c, "--momentum says nothing about --optimizer '%s'", optimizer);
    return cli_pool(r->c, &r->opt.pool);
}

/* The rows that --train-ids names learn, all others keep their bytes. */
static int read_trainable(run *r, uint64_t rows)
{
    cli *c = r->c;
    cli_ids ids;
    wte_bad_ids bad;
    if (!cli_given(c, "train-ids")) return CLI_DONE;
    int code = cli_ids_open_plain(c, "train-ids", &ids);
    if (!code) code = cli_ids_check(c, &ids, rows, NULL, 0, &bad);
    if (!code && bad.count)
        code = cli_say_fail(c, CLI_INPUT,
                            "%s: id %" PRId64 " at position %" PRIu64
                            " has no row; the table has %" PRIu64,
                            ids.from, bad.first[0].value, bad.first[0].position, rows);
    if (!code) {
        r->trainable = calloc((size_t)(rows + 7) / 8, 1);
        if (!r->trainable) code = cli_say_fail(c, CLI_OUTPUT, "out of memory");
    }
    for (uint64_t i = 0; r->trainable && !code && i < ids.count; i++) {
        int64_t id = 0;
        code = cli_ids_read(c, &ids, i, 1, &id);
        if (!code) r->trainable[id / 8] |= (uint8_t)(1u << (id % 8));
    }
    cli_ids_close(&ids);
    r->opt.trainable = r->trainable;
    return code;
}

/* A run --------------------------------------------------------------------------------------- */

static int open_texts(run *r, const char *corpus)
{
    const wte_vocab *vocab;
    const char *valid = cli_text(r->c, "valid");
    int code = cli_train_start(r->c, corpus, &r->start, &r->start_rows, &vocab);
    if (code) return code;
    if (r->start) {
        r->opt.init_from = &r->start_rows;
        if (r->opt.dim == 0) r->opt.dim = r->start_rows.cols;
    }
    code = cli_train_corpus(r->c, corpus, NULL, vocab, r->start_rows.rows, &r->corpus);
    if (code || !valid) return code;
    return cli_train_corpus(r->c, valid, wte_corpus_words(r->corpus), NULL, 0, &r->valid);
}

static int tell_plan(run *r, const wte_lm_info *plan)
{
    wte_corpus_info corpus;
    char a[32], b[32], d[32];
    wte_corpus_get(r->corpus, &corpus);
    cli_note(r->c, "%s words of the text, %s different ones kept, %s not known",
             cli_grouped(a, corpus.tokens), cli_grouped(b, corpus.words),
             cli_grouped(d, corpus.oov));
    cli_note(r->c, "%" PRIu64 " x %" PRIu64 ", %s parameters, %s of memory", plan->rows, plan->dim,
             cli_grouped(a, plan->parameters), cli_size(b, plan->bytes));
    const uint64_t shown = plan->rows * plan->dim;
    if (cli_given(r->c, "show-table") && (r->c->json || shown > SHOWN_MOST))
        return cli_usage(r->c,
                         "--show-table is for tables of at most %u numbers, and not for --json",
                         SHOWN_MOST);
    return CLI_DONE;
}

static int make(run *r, const char *corpus)
{
    wte_lm_info plan;
    wte_error err;
    int code = cli_path_in(r->c, r->folder, "checkpoint", r->checkpoint);
    if (!code) code = cli_train_checkpoint(r->c, r->checkpoint);
    if (!code) code = open_texts(r, corpus);
    if (code) return code;
    r->opt.checkpoint = r->checkpoint;
    wte_status status = wte_lm_plan(r->corpus, r->valid, &r->opt, &plan, &err);
    const bool typed = status == WTE_E_ARGUMENT || status == WTE_E_LIMIT;
    if (status != WTE_OK)
        return cli_fail(r->c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
    code = tell_plan(r, &plan);
    if (!code) code = read_trainable(r, plan.rows);
    if (code) return code;
    status = wte_lm_create(r->corpus, r->valid, &r->opt, &r->lm, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(r->c, status, CLI_SIDE_INPUT, &err);
}

/* The input table, a row a line behind its word. */
static void show_table(const run *r)
{
    const wte_token_list *words = wte_corpus_words(r->corpus);
    wte_row_source rows;
    if (wte_lm_tensor(r->lm, 0, NULL, &rows, NULL) != WTE_OK) return;
    const float *row = rows.data;
    for (uint64_t i = 0; i < rows.rows; i++, row += rows.cols) {
        uint64_t bytes;
        const char *word = wte_token_list_text(words, i, &bytes);
        printf("  %2" PRIu64, i);
        for (uint64_t k = 0; k < rows.cols; k++) printf(" %8.4f", (double)row[k]);
        fputs("  ", stdout);
        if (word)
            cli_put_safe(stdout, word, (size_t)bytes);
        else
            fputs("<unk>", stdout);
        fputc('\n', stdout);
    }
}

static bool report(void *ctx, const wte_train_status *now)
{
    run *r = ctx;
    if (cli_given(r->c, "show-table")) {
        printf("step %" PRIu64 ", loss %.4f\n", now->step, now->loss);
        show_table(r);
    }
    return r->log.watch.report(r->log.watch.ctx, now);
}

static const char *end_text(wte_lm_stop_reason end)
{
    switch (end) {
    case WTE_LM_PATIENCE: return "no better validation";
    case WTE_LM_TIME: return "time limit";
    case WTE_LM_STOPPED: return "stopped";
    default: return "all epochs";
    }
}

static void print_json(const run *r, const wte_lm_info *info)
{
    const wte_train_status *s = &r->log.last;
    cli_json j;
    cli_json_begin_line(&j, stdout, "wte.train/1");
    cli_json_text(&j, "event", "end");
    cli_json_text(&j, "why", end_text(info->stop_reason));
    cli_json_bytes(&j, "folder", r->folder, strlen(r->folder));
    cli_json_unsigned(&j, "rows", info->rows);
    cli_json_unsigned(&j, "dim", info->dim);
    cli_json_bool(&j, "tied", r->opt.tied);
    cli_json_bool(&j, "projected", r->opt.projected);
    cli_json_unsigned(&j, "parameters", info->parameters);
    cli_json_unsigned(&j, "steps", info->step);
    cli_json_f64(&j, "seconds", s->seconds);
    cli_json_f64(&j, "words_per_second", s->words_per_second);
    cli_json_f64(&j, "loss", info->train_loss);
    if (info->best_step) {
        cli_json_unsigned(&j, "best_step", info->best_step);
        cli_json_f64(&j, "valid_loss", info->best_loss);
        cli_json_f64(&j, "perplexity", exp(info->best_loss));
    }
    cli_json_end(&j);
}

static void print_text(const run *r, const wte_lm_info *info)
{
    char parameters[32];
    cli_put_safe(stdout, r->folder, strlen(r->folder));
    printf(": %" PRIu64 " x %" PRIu64 " f32, %s%s head, %s parameters; %s, %" PRIu64
           " steps, loss %.4f",
           info->rows, info->dim, r->opt.tied ? "tied" : "untied",
           r->opt.projected ? " projected" : "", cli_grouped(parameters, info->parameters),
           end_text(info->stop_reason), info->step, info->train_loss);
    if (info->best_step)
        printf(", validation %.4f (perplexity %.2f) at step %" PRIu64, info->best_loss,
               exp(info->best_loss), info->best_step);
    fputc('\n', stdout);
}

static int save(run *r)
{
    wte_lm_info info;
    wte_error err;
    wte_lm_get(r->lm, &info);
    wte_corpus_info corpus;
    wte_corpus_get(r->corpus, &corpus);
    const wte_status status = wte_lm_save_to(r->lm, cli_outputs_transaction(r->c), r->folder, &err);
    if (status != WTE_OK) return cli_fail(r->c, status, CLI_SIDE_OUTPUT, &err);
    const char *more = info.oov == corpus.words ? "<unk>" : NULL;
    int code = cli_train_vocab(r->c, r->folder, wte_corpus_words(r->corpus), more);
    if (!code) code = cli_train_log_picture(&r->log, r->folder, "Language model");
    if (!code) code = cli_outputs_commit(r->c);
    if (code) return code;
    /* the result is there; a run that is out of time may be gone on with */
    if (info.stop_reason != WTE_LM_TIME) (void)unlink(r->checkpoint);
    if (r->trainable)
        cli_note(r->c, "%" PRIu64 " rows of the input table have changed%s",
                 wte_lm_changed(r->lm, NULL), r->opt.resume ? " since the checkpoint" : "");
    if (r->c->json)
        print_json(r, &info);
    else
        print_text(r, &info);
    return CLI_DONE;
}

static int train(run *r, const char *corpus)
{
    wte_error err;
    int code = read_numbers(r);
    if (!code) code = read_validation(r);
    if (!code) code = read_kinds(r);
    if (!code) code = make(r, corpus);
    if (code) return code;
    cli_train_log_start(&r->log, r->c);
    if (cli_given(r->c, "show-table") && !r->opt.resume) {
        puts("step 0");
        show_table(r);
    }
    const wte_train_callback watch = { report, r };
    const wte_status status = wte_lm_train(r->lm, &watch, &err);
    cli_train_log_stop(&r->log);
    if (status != WTE_OK)
        return cli_fail(r->c, status, status == WTE_E_IO ? CLI_SIDE_OUTPUT : CLI_SIDE_INPUT, &err);
    return save(r);
}

static int run_lm(cli *c, const char *corpus, const char *folder)
{
    const wte_lm_options defaults = WTE_LM_OPTIONS_INIT;
    run *r = calloc(1, sizeof *r);
    if (!r) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    r->c = c;
    r->folder = folder;
    r->opt = defaults;
    const int code = train(r, corpus);
    wte_lm_free(r->lm);
    wte_corpus_free(r->valid);
    wte_corpus_free(r->corpus);
    free(r->trainable);
    free(r);
    return code;
}

static const char *const own[] = { "output-layer",
                                   "context",
                                   "hidden",
                                   "projection-decay",
                                   "optimizer",
                                   "momentum",
                                   "weight-decay",
                                   "schedule",
                                   "warmup",
                                   "batch",
                                   "clip",
                                   "valid",
                                   "valid-fraction",
                                   "valid-every",
                                   "patience",
                                   "train-ids",
                                   "log-every",
                                   "show-table",
                                   NULL };
const cli_train_method cli_train_lm = { "lm", own, run_lm };
