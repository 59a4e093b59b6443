/* wte train --method skip-gram|cbow. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wte/wordvec.h>

#include "ids.h"
#include "open.h"
#include "out.h"
#include "outputs.h"
#include "train.h"

/* What a run needs and leaves behind; all of it is freed in one place. */
typedef struct run {
    cli *c;
    const char *folder;
    char checkpoint[4096];
    wte_model *start;
    wte_corpus *corpus;
    wte_wordvec *words;
    wte_wordvec_options opt;
    wte_row_source start_rows, start_out, start_in;
    cli_train_log log;
} run;

static int read_options(run *r)
{
    const cli *c = r->c;
    wte_wordvec_options *o = &r->opt;
    cli_unsigned(c, "dim", 0, &o->dim);
    cli_unsigned(c, "window", 0, &o->window);
    cli_unsigned(c, "negative", 0, &o->negative);
    cli_unsigned(c, "max-n", 0, &o->max_n);
    cli_unsigned(c, "min-n", o->max_n ? 3 : 0, &o->min_n);
    cli_unsigned(c, "buckets", 0, &o->buckets);
    cli_unsigned(c, "epochs", 0, &o->epochs);
    cli_unsigned(c, "seed", 0, &o->seed);
    cli_real(c, "lr", 0, &o->lr);
    cli_real(c, "sample", 0, &o->sample);
    cli_real(c, "negative-power", 0, &o->power);
    cli_real(c, "time-limit", 0, &o->seconds);
    cli_unsigned(c, "max-bytes", 0, &o->max_bytes);
    cli_real(c, "checkpoint-every", 0, &o->checkpoint_seconds);
    o->hierarchical = cli_given(c, "hierarchical");
    o->deterministic = cli_given(c, "deterministic");
    o->resume = cli_given(c, "resume");
    /* what the library takes for "not given" */
    static const char *const above_zero[] = { "dim",     "window", "negative",
                                              "buckets", "epochs", "min-n" };
    for (size_t i = 0; i < sizeof above_zero / sizeof *above_zero; i++) {
        uint64_t value;
        if (cli_unsigned(c, above_zero[i], 1, &value) && value == 0)
            return cli_usage(c, "--%s must be above 0", above_zero[i]);
    }
    if (cli_given(c, "sample") && o->sample == 0) o->sample = -1; /* never */
    static const char *const drawn[] = { "negative", "negative-power" };
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        if (o->hierarchical && cli_given(c, drawn[i]))
            return cli_usage(c, "--%s says nothing beside --hierarchical", drawn[i]);
    return cli_pool(r->c, &o->pool);
}

/* n-grams of the file to start from are gone on with: other ones cannot be asked for. */
static int take_ngrams(run *r, const wte_fasttext_info *info)
{
    static const char *const names[] = { "min-n", "max-n", "buckets" };
    const uint64_t have[] = { info->min_n, info->max_n, info->buckets };
    wte_wordvec_options *o = &r->opt;
    const char *path = cli_text(r->c, "init-from");
    if (info->pruned)
        return cli_say_fail(r->c, CLI_CANNOT,
                            "%s: some of its n-grams were pruned, so that training cannot go on "
                            "with them; --max-n 0 begins with its vectors alone",
                            path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t asked;
        if (cli_unsigned(r->c, names[i], have[i], &asked) && asked != have[i])
            return cli_usage(r->c,
                             "--%s %" PRIu64 ", but %s has n-grams of %" PRIu64 " to %" PRIu64
                             " characters in %" PRIu64
                             " buckets, which training goes on with; --max-n 0 begins with its "
                             "vectors alone",
                             names[i], asked, path, info->min_n, info->max_n, info->buckets);
    }
    o->min_n = info->min_n;
    o->max_n = info->max_n;
    o->buckets = info->buckets;
    return CLI_DONE;
}

static int file_rows(const run *r, const char *name, wte_row_source *out)
{
    const wte_file *file = wte_model_file(r->start);
    uint64_t tensor;
    wte_error err;
    wte_status status = wte_file_find(file, name, strlen(name), &tensor, &err);
    if (status == WTE_OK) status = wte_file_row_source(file, tensor, out, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(r->c, status, CLI_SIDE_INPUT, &err);
}

/* A fastText model is more than its vectors: what they are made of, and the other table. Ids have
 * no characters to go on with n-grams. */
static int open_fasttext(run *r, const char *corpus)
{
    const wte_file *file = wte_model_file(r->start);
    wte_wordvec_options *o = &r->opt;
    wte_fasttext_info info;
    int code = CLI_DONE;
    if (!file || wte_file_fasttext(file, &info, NULL) != WTE_OK) return CLI_DONE;
    const bool ids = cli_given(r->c, "ids-type") || cli_ids_is_npy(corpus);
    if (info.max_n && !ids && (o->max_n || !cli_given(r->c, "max-n"))) {
        code = take_ngrams(r, &info);
        if (!code) code = file_rows(r, "input", &r->start_in);
        o->init_from = NULL;
        o->init_input_from = &r->start_in;
    }
    if (code || info.supervised || info.tree || o->hierarchical) return code;
    o->init_output_from = &r->start_out;
    return file_rows(r, "output", &r->start_out);
}

/* The table of --init-from, its words, and its head when that is as large. */
static int open_start(run *r, const char *corpus, const wte_vocab **vocab)
{
    const wte_model_table *input;
    int code = cli_train_start(r->c, corpus, &r->start, &r->start_rows, vocab);
    if (code || !r->start) return code;
    r->opt.init_from = &r->start_rows;
    if (r->opt.dim == 0) r->opt.dim = r->start_rows.cols;
    code = open_fasttext(r, corpus);
    if (code || r->opt.init_output_from) return code;
    const wte_model_table *head = wte_model_head(r->start);
    const uint64_t rows = r->start_rows.rows;
    if (!head || wte_model_input(r->start, &input, NULL) != WTE_OK ||
        head->tensor == input->tensor || head->rows < rows || head->dim != input->dim ||
        r->opt.hierarchical)
        return CLI_DONE;
    r->start_out = head->source;
    r->start_out.rows = rows;
    r->opt.init_output_from = &r->start_out;
    return CLI_DONE;
}

static int make_words(run *r)
{
    wte_corpus_info corpus;
    wte_wordvec_info plan;
    wte_error err;
    char tokens[32], words[32], unknown[32], bytes[32];
    wte_corpus_get(r->corpus, &corpus);
    wte_status status = wte_wordvec_plan(r->corpus, &r->opt, &plan, &err);
    const bool typed = status == WTE_E_ARGUMENT || status == WTE_E_LIMIT;
    if (status != WTE_OK)
        return cli_fail(r->c, status, typed ? CLI_SIDE_TYPED : CLI_SIDE_INPUT, &err);
    cli_note(r->c, "%s words of the text, %s different ones kept, %s not known",
             cli_grouped(tokens, corpus.tokens), cli_grouped(words, plan.rows),
             cli_grouped(unknown, corpus.oov));
    cli_note(r->c, "%" PRIu64 " x %" PRIu64 ", %s of memory", plan.rows, plan.dim,
             cli_size(bytes, plan.bytes));
    if (corpus.invalid)
        cli_note(r->c,
                 "%" PRIu64 " different words are no UTF-8: vocab.txt has their bytes as \\xNN",
                 corpus.invalid);
    status = wte_wordvec_create(r->corpus, &r->opt, &r->words, &err);
    /* what cannot be written in the end is told now */
    if (status == WTE_OK && cli_given(r->c, "fasttext"))
        status = wte_wordvec_save_fasttext(r->words, NULL, NULL, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(r->c, status, CLI_SIDE_INPUT, &err);
}

/* "rows dim", then a word and its numbers a line, as word2vec writes them. */
static int write_word2vec(const run *r, const char *path)
{
    const wte_token_list *words = wte_corpus_words(r->corpus);
    cli_sink sink;
    wte_row_source rows;
    wte_error err;
    wte_status status = WTE_OK;
    wte_wordvec_vectors(r->words, &rows);
    float *row = malloc((size_t)rows.cols * sizeof *row);
    if (!row) return cli_say_fail(r->c, CLI_OUTPUT, "out of memory");
    int code = cli_sink_open(r->c, path, &sink);
    if (!code) {
        fprintf(sink.stream, "%" PRIu64 " %" PRIu64 "\n", rows.rows, rows.cols);
        for (uint64_t i = 0; i < rows.rows && status == WTE_OK; i++) {
            uint64_t bytes;
            const char *word = wte_token_list_text(words, i, &bytes);
            status = wte_row_source_read(&rows, i, row, &err);
            fwrite(word, 1, (size_t)bytes, sink.stream);
            for (uint64_t k = 0; k < rows.cols; k++) fprintf(sink.stream, " %.9g", (double)row[k]);
            fputc('\n', sink.stream);
        }
        if (status != WTE_OK) code = cli_fail(r->c, status, CLI_SIDE_OUTPUT, &err);
        code = cli_sink_close(r->c, &sink, code);
    }
    free(row);
    return code;
}

static int write_fasttext(const run *r, const char *path)
{
    cli_progress progress;
    wte_error err;
    wte_writer *to;
    int code = cli_outputs_writer(r->c, path, &to);
    if (code) return code;
    wte_status status = wte_wordvec_save_fasttext_to(
        r->words, to, cli_progress_start(&progress, r->c, "writing"), &err);
    cli_progress_stop(&progress);
    if (status == WTE_OK) status = wte_writer_commit(to, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(r->c, status, CLI_SIDE_OUTPUT, &err);
}

static int save(const run *r)
{
    const char *text = cli_text(r->c, "word2vec"), *binary = cli_text(r->c, "fasttext");
    wte_error err;
    const wte_status status =
        wte_wordvec_save_to(r->words, cli_outputs_transaction(r->c), r->folder, &err);
    if (status != WTE_OK) return cli_fail(r->c, status, CLI_SIDE_OUTPUT, &err);
    int code = cli_train_vocab(r->c, r->folder, wte_corpus_words(r->corpus), NULL);
    if (!code) code = cli_train_log_picture(&r->log, r->folder, "Word vectors");
    if (!code && text) code = write_word2vec(r, text);
    if (!code && binary) code = write_fasttext(r, binary);
    if (!code) code = cli_outputs_commit(r->c);
    /* the result is there: what it came from is of no more use */
    if (!code && r->opt.checkpoint) (void)unlink(r->opt.checkpoint);
    return code;
}

static const char *end_text(wte_wordvec_stop_reason end)
{
    return end == WTE_WORDVEC_TIME      ? "time limit"
           : end == WTE_WORDVEC_STOPPED ? "stopped"
                                        : "all epochs";
}

static void print_result(const run *r)
{
    wte_wordvec_info info;
    const wte_train_status *s = &r->log.last;
    wte_wordvec_get(r->words, &info);
    if (isnan(info.loss))
        cli_note(r->c,
                 "nothing was learned: no two words stood together among those that were kept; "
                 "--sample 0 leaves no frequent ones out");
    if (r->c->json) {
        cli_json j;
        cli_json_begin_line(&j, stdout, "wte.train/1");
        cli_json_text(&j, "event", "end");
        cli_json_text(&j, "why", end_text(info.stop_reason));
        cli_json_bytes(&j, "folder", r->folder, strlen(r->folder));
        cli_json_unsigned(&j, "rows", info.rows);
        cli_json_unsigned(&j, "dim", info.dim);
        cli_json_unsigned(&j, "done", info.done);
        cli_json_unsigned(&j, "total", info.total);
        cli_json_f64(&j, "seconds", s->seconds);
        cli_json_f64(&j, "words_per_second", s->words_per_second);
        cli_json_f64(&j, "loss", info.loss);
        cli_json_end(&j);
        return;
    }
    char done[32];
    cli_put_safe(stdout, r->folder, strlen(r->folder));
    printf(": %" PRIu64 " x %" PRIu64 " f32, %s, %s words in %.1f s (%.0f words/s), loss %.4f\n",
           info.rows, info.dim, end_text(info.stop_reason), cli_grouped(done, info.done),
           s->seconds, s->words_per_second, info.loss);
}

static int train(run *r, const char *corpus)
{
    const wte_vocab *vocab = NULL;
    wte_error err;
    int code = read_options(r);
    if (!code) code = open_start(r, corpus, &vocab);
    if (!code && r->opt.max_n == 0 && (cli_given(r->c, "min-n") || cli_given(r->c, "buckets")))
        code = cli_usage(r->c, "--min-n and --buckets say nothing without --max-n");
    if (!code) code = cli_path_in(r->c, r->folder, "checkpoint", r->checkpoint);
    if (cli_given(r->c, "checkpoint-every") || cli_given(r->c, "resume"))
        r->opt.checkpoint = r->checkpoint;
    if (!code && r->opt.checkpoint) code = cli_train_checkpoint(r->c, r->checkpoint);
    if (!code) code = cli_train_corpus(r->c, corpus, NULL, vocab, r->start_rows.rows, &r->corpus);
    if (!code) code = make_words(r);
    if (code) return code;
    cli_train_log_start(&r->log, r->c);
    const wte_status status = wte_wordvec_train(r->words, &r->log.watch, &err);
    cli_train_log_stop(&r->log);
    if (status != WTE_OK)
        return cli_fail(r->c, status, status == WTE_E_IO ? CLI_SIDE_OUTPUT : CLI_SIDE_INPUT, &err);
    code = save(r);
    if (!code) print_result(r);
    return code;
}

static int run_words(cli *c, const char *corpus, const char *folder, wte_wordvec_method method)
{
    const wte_wordvec_options defaults = WTE_WORDVEC_OPTIONS_INIT;
    run *r = calloc(1, sizeof *r);
    if (!r) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    r->c = c;
    r->folder = folder;
    r->opt = defaults;
    r->opt.method = method;
    const int code = train(r, corpus);
    wte_wordvec_free(r->words);
    wte_corpus_free(r->corpus);
    free(r);
    return code;
}

static int run_skip_gram(cli *c, const char *corpus, const char *folder)
{
    return run_words(c, corpus, folder, WTE_WORDVEC_SKIP_GRAM);
}
static int run_cbow(cli *c, const char *corpus, const char *folder)
{
    return run_words(c, corpus, folder, WTE_WORDVEC_CBOW);
}

static const char *const own[] = { "window",        "negative", "negative-power", "hierarchical",
                                   "sample",        "min-n",    "max-n",          "buckets",
                                   "deterministic", "word2vec", "fasttext",       NULL };
const cli_train_method cli_train_skip_gram = { "skip-gram", own, run_skip_gram };
const cli_train_method cli_train_cbow = { "cbow", own, run_cbow };
