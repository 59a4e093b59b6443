/* How training goes: a line that is written over on a terminal, or one now and then elsewhere;
 * records of JSON; points of the picture. */
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "out.h"
#include "train.h"

/* Seconds between two lines, on a terminal and elsewhere. */
#define LINE_EVERY  0.2
#define PLAIN_EVERY 10.0

static void put_time(FILE *out, double seconds)
{
    const uint64_t s = seconds > 0 && seconds < 1e9 ? (uint64_t)seconds : 0;
    fprintf(out, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

static void put_progress(cli_train_log *log, const wte_train_status *s)
{
    const double part = s->total ? (double)s->done / (double)s->total : 0;
    const double left =
        s->words_per_second > 0 ? (double)(s->total - s->done) / s->words_per_second : 0;
    fprintf(stderr, "%s%5.1f%%  %9.0f words/s", log->terminal ? "\r\033[K" : "", part * 100,
            s->words_per_second);
    if (isfinite(s->loss)) fprintf(stderr, "  loss %.4f", s->loss);
    if (isfinite(s->valid_loss))
        fprintf(stderr, "  validation %.4f, perplexity %.1f", s->valid_loss, exp(s->valid_loss));
    fprintf(stderr, "  lr %.6f  ETA ", s->lr);
    put_time(stderr, left);
    if (!log->terminal) fputc('\n', stderr);
    fflush(stderr);
    log->shown = true;
}

static void put_record(const wte_train_status *s)
{
    cli_json j;
    cli_json_begin_line(&j, stdout, "wte.train/1");
    cli_json_text(&j, "event", "progress");
    cli_json_unsigned(&j, "step", s->step);
    cli_json_unsigned(&j, "epoch", s->epoch);
    cli_json_unsigned(&j, "done", s->done);
    cli_json_unsigned(&j, "total", s->total);
    cli_json_f64(&j, "seconds", s->seconds);
    cli_json_f64(&j, "words_per_second", s->words_per_second);
    cli_json_f64(&j, "loss", s->loss);
    cli_json_f64(&j, "valid_loss", s->valid_loss);
    cli_json_f64(&j, "lr", s->lr);
    cli_json_end(&j);
    fflush(stdout);
}

static bool take_report(void *ctx, const wte_train_status *s)
{
    cli_train_log *log = ctx;
    cli_curve_add(&log->loss, (double)s->done, s->loss);
    const bool validated = isfinite(s->valid_loss) && !(s->valid_loss == log->last.valid_loss);
    if (validated) cli_curve_add(&log->valid, (double)s->done, s->valid_loss);
    log->last = *s;
    if (log->c->json) put_record(s);
    const double every = log->terminal ? LINE_EVERY : PLAIN_EVERY;
    if (log->c->quiet || s->seconds - log->told < every) return true;
    log->told = s->seconds;
    put_progress(log, s);
    return true;
}

void cli_train_log_start(cli_train_log *log, const cli *c)
{
    log->watch = (wte_train_callback){ take_report, log };
    log->c = c;
    cli_curve_start(&log->loss, "training loss");
    cli_curve_start(&log->valid, "validation loss");
    log->last = (wte_train_status){ .loss = NAN, .valid_loss = NAN };
    log->told = 0;
    log->terminal = isatty(STDERR_FILENO);
    log->shown = false;
}

void cli_train_log_stop(cli_train_log *log)
{
    if (log->shown && log->terminal) fputs("\r\033[K", stderr);
    log->shown = false;
}

int cli_train_log_picture(const cli_train_log *log, const char *folder, const char *title)
{
    char path[4096];
    const cli_curve_line lines[2] = { log->loss, log->valid };
    const int code = cli_path_in(log->c, folder, "curve.svg", path);
    return code ? code : cli_curve_write(log->c, path, title, "words trained on", lines, 2);
}
