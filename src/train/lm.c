/* Training a language model: mini-batch after mini-batch, validation, when to stop, what is told on
 * the way. The arithmetic is in lm_model.c, the words come from lm_text.c, and lm_state.c is what
 * a kill leaves behind. */
#include "train/lm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/thread.h"
#include "train/corpus.h"

/* A model that knows nothing loses ln of its rows, one that has gone wrong far more: twice as much
 * in the mean of so many steps, ten times in one. */
#define WINDOW       64u
#define WINDOW_TIMES 2.0
#define STEP_TIMES   10.0

/* A model ----------------------------------------------------------------------------------------
 */

void wte_lm_free(wte_lm *lm)
{
    if (!lm) return;
    const wte_allocator *a = lm->plan.o.allocator;
    wte__checkpoint_free(lm->last);
    wte__lm_stream_close(&lm->stream);
    wte__lm_weights_free(lm);
    wte__strfree(a, lm->checkpoint);
    wte__strfree(a, lm->settings);
    wte__free(a, lm, sizeof *lm);
}

/* What is kept of the options must not point to what the caller may free. */
static wte_status keep_options(wte_lm *lm, wte_error *err)
{
    wte_lm_options *o = &lm->plan.o;
    WTE_TRY(wte__lm_settings(&lm->plan, &lm->settings, err));
    if (o->checkpoint) {
        lm->checkpoint = wte__strdup(o->allocator, o->checkpoint);
        if (!lm->checkpoint) return wte__no_memory(err, strlen(o->checkpoint), "a path");
    }
    o->checkpoint = NULL;
    return WTE_OK;
}

static wte_status make(wte_lm *lm, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    const double nan = (double)NAN;
    lm->losses = (wte__lm_losses){ 0, nan, 0, nan, nan, nan };
    lm->stream = (wte__lm_stream){ .rows = p->rows,
                                   .unknown = p->unknown,
                                   .end = p->train_end,
                                   .parts = p->train_parts,
                                   .allocator = p->o.allocator };
    WTE_TRY(keep_options(lm, err));
    WTE_TRY(wte__lm_weights_make(lm, err));
    WTE_TRY(wte__lm_stream_open(&lm->stream, p->train, p->o.context, p->o.shuffle, err));
    if (p->o.resume) WTE_TRY(wte__lm_resume(lm, err));
    lm->plan.o.init_from = NULL;
    lm->plan.o.trainable = NULL;
    return WTE_OK;
}

wte_status wte_lm_create(const wte_corpus *train, const wte_corpus *valid,
                         const wte_lm_options *opt, wte_lm **out, wte_error *err)
{
    wte__lm_plan plan;
    WTE_TRY(wte__need(out, "wte_lm_create: out", err));
    *out = NULL;
    WTE_TRY(wte__lm_plan_make(&plan, train, valid, opt, err));
    wte_lm *lm = wte__alloc_zeroed(plan.o.allocator, sizeof *lm);
    if (!lm) return wte__no_memory(err, sizeof *lm, "a language model");
    lm->plan = plan;
    const wte_status status = make(lm, err);
    if (status == WTE_OK)
        *out = lm;
    else
        wte_lm_free(lm);
    return status;
}

static void tell_plan(const wte__lm_plan *p, wte_lm_info *out)
{
    memset(out, 0, sizeof *out);
    out->rows = p->rows;
    out->dim = p->o.dim;
    out->context = p->o.context;
    out->hidden = p->o.hidden;
    out->oov = p->unknown;
    out->parameters = p->parameters;
    out->bytes = p->bytes;
    out->train_words = p->train_words;
    out->valid_words = p->valid_words;
    out->steps = p->steps;
    out->valid_loss = out->best_loss = out->train_loss = (double)NAN;
}

wte_status wte_lm_plan(const wte_corpus *train, const wte_corpus *valid, const wte_lm_options *opt,
                       wte_lm_info *out, wte_error *err)
{
    wte__lm_plan plan;
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_lm_plan: out", err));
    WTE_TRY(wte__lm_plan_make(&plan, train, valid, opt, err));
    tell_plan(&plan, out);
    return WTE_OK;
}

static double mean_loss(const wte_lm *lm)
{
    const uint64_t words = lm->counts.report_words;
    return words ? lm->losses.report / (double)words : lm->losses.told;
}

void wte_lm_get(const wte_lm *lm, wte_lm_info *out)
{
    if (!out) return;
    memset(out, 0, sizeof *out);
    if (!lm) return;
    tell_plan(&lm->plan, out);
    out->step = lm->counts.step;
    out->best_step = lm->counts.best_step;
    out->valid_loss = lm->losses.valid;
    out->best_loss = lm->losses.best;
    out->train_loss = mean_loss(lm);
    out->stop_reason = lm->end;
}

wte_status wte_lm_tensor(wte_lm *lm, uint32_t i, const char **name, wte_row_source *rows,
                         wte_error *err)
{
    if (name) *name = NULL;
    if (rows) memset(rows, 0, sizeof *rows);
    WTE_TRY(wte__need(lm, "wte_lm_tensor: lm", err));
    uint32_t at = 0;
    for (int part = 0; part < WTE__LM_PARTS; part++) {
        if (!lm->weight[part].rows || at++ != i) continue;
        WTE_TRY(wte_optim_sync_all(lm->weight[part].optim, err));
        if (name) *name = wte__lm_name((wte__lm_part)part);
        if (rows) *rows = *wte_table_source(lm->weight[part].table);
        return WTE_OK;
    }
    return wte__fail(err, WTE_E_RANGE, i, "tensor %" PRIu32 ", but the model has %" PRIu32, i, at);
}

uint64_t wte_lm_changed(const wte_lm *lm, uint8_t *bits)
{
    if (!lm) return 0;
    return wte_optim_changed(lm->weight[WTE__LM_TABLE].optim, bits);
}

/* Loss of a text ---------------------------------------------------------------------------------
 */

/* Example `at` of a block becomes number i of the mini-batch. */
static void take_example(wte_lm *lm, const wte__lm_stream *s, uint64_t at, uint64_t i)
{
    const size_t context = (size_t)s->context;
    memcpy(lm->ids + i * context, s->words + at, context * sizeof *lm->ids);
    lm->targets[i] = s->words[at + context];
}

/* All losses of a stream from its beginning. */
static wte_status score_stream(wte_lm *lm, wte__lm_stream *s, double *loss, uint64_t *words,
                               wte_error *err)
{
    double sum = 0, one;
    *words = 0;
    WTE_TRY(wte__lm_settle(lm, err));
    for (;;) {
        WTE_TRY(wte__lm_stream_fill(s, err));
        if (s->n == 0) break;
        for (uint64_t i = 0; i < s->n; i++) take_example(lm, s, i, i);
        WTE_TRY(wte__lm_score(lm, s->n, &one, err));
        sum += one;
        *words += s->n;
    }
    *loss = *words ? sum / (double)*words : (double)NAN;
    return WTE_OK;
}

static wte_status score(wte_lm *lm, const wte_corpus *text, const uint32_t part[3], double *loss,
                        uint64_t *words, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    wte__lm_stream s = { .rows = p->rows,
                         .unknown = p->unknown,
                         .first = part[0],
                         .end = part[1],
                         .parts = part[2],
                         .allocator = p->o.allocator };
    wte_status status = wte__lm_stream_open(&s, text, p->o.context, p->o.batch, err);
    if (status == WTE_OK) status = score_stream(lm, &s, loss, words, err);
    wte__lm_stream_close(&s);
    return status;
}

wte_status wte_lm_loss(wte_lm *lm, const wte_corpus *text, uint32_t part, uint32_t parts,
                       double *loss, uint64_t *words, wte_error *err)
{
    uint64_t count;
    if (words) *words = 0;
    WTE_TRY(wte__need_out(loss, sizeof *loss, "wte_lm_loss: loss", err));
    WTE_TRY(wte__need(lm, "wte_lm_loss: lm", err));
    WTE_TRY(wte__need(text, "wte_lm_loss: text", err));
    if (part >= parts)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "wte_lm_loss: part %" PRIu32 " of %" PRIu32, part, parts);
    WTE_TRY(wte__lm_check_text(lm->plan.train, text, err));
    const uint32_t parts_of[3] = { part, part + 1, parts };
    double mean;
    WTE_TRY(score(lm, text, parts_of, &mean, &count, err));
    if (count) {
        *loss = mean;
        if (words) *words = count;
        return WTE_OK;
    }
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "the text has no more words than the %" PRIu64 " that predict the next one",
                     lm->plan.o.context);
}

/* Training ---------------------------------------------------------------------------------------
 */

static double rate(const wte__lm_plan *p, uint64_t step)
{
    const wte_lm_options *o = &p->o;
    if (step < o->warmup) return o->lr * (double)(step + 1) / (double)o->warmup;
    if (o->schedule == WTE_LM_CONSTANT || p->steps <= o->warmup) return o->lr;
    const double done = (double)(step - o->warmup) / (double)(p->steps - o->warmup);
    if (o->schedule == WTE_LM_LINEAR) return o->lr * (1 - done);
    return o->lr * (1 + cos(acos(-1.0) * done)) / 2;
}

static bool tell(const wte_lm *lm, const wte_train_callback *watch)
{
    const wte__lm_plan *p = &lm->plan;
    const wte__lm_counts *at = &lm->counts;
    if (!watch) return true;
    uint64_t done = at->step / p->epoch_steps * p->train_words;
    done += at->step % p->epoch_steps * p->o.batch;
    const double seconds = wte__seconds() - lm->started;
    const wte_train_status now = {
        .step = at->step,
        .epoch = at->epoch,
        .done = done,
        .total = p->train_words * p->o.epochs,
        .seconds = seconds,
        .words_per_second = seconds > 0 ? (double)lm->run_words / seconds : 0,
        .loss = mean_loss(lm),
        .valid_loss = lm->losses.valid,
        .lr = rate(p, at->step ? at->step - 1 : 0),
    };
    return watch->report(watch->ctx, &now);
}

static wte_status diverged(const wte_lm *lm, double loss, wte_error *err)
{
    const uint64_t step = lm->counts.step;
    return wte__fail(err, WTE_E_RANGE, step,
                     "training diverges at step %" PRIu64 ": the loss of a word is %.3g, at the "
                     "start it was %.3g (that of a guess is %.3g); the rate %g is too large%s",
                     step, loss, lm->losses.first, log((double)lm->plan.rows),
                     rate(&lm->plan, step ? step - 1 : 0),
                     lm->kept ? "; the last checkpoint stands as it was" : "");
}

/* The loss that others are held against. */
static double at_first(const wte_lm *lm)
{
    const double guess = log((double)lm->plan.rows), first = lm->losses.first;
    return first > guess ? first : guess;
}

static double most_in_one_step(const wte_lm *lm)
{
    return STEP_TIMES * at_first(lm) + STEP_TIMES;
}

/* Whether the mean of the last steps, or the last of them alone, is out of all bounds. */
static wte_status check_loss(const wte_lm *lm, double last, uint64_t steps, wte_error *err)
{
    const double mean = lm->losses.window / (double)steps;
    if (!(last <= most_in_one_step(lm))) return diverged(lm, last, err);
    const bool whole = steps == WINDOW || lm->counts.step == lm->plan.steps;
    if (whole && mean > WINDOW_TIMES * at_first(lm) + 1) return diverged(lm, mean, err);
    return WTE_OK;
}

/* Add up the loss of a step, and look whether it goes where it should. */
static wte_status watch_loss(wte_lm *lm, double loss, uint64_t n, wte_error *err)
{
    wte__lm_counts *at = &lm->counts;
    wte__lm_losses *sum = &lm->losses;
    if (at->step == 0) sum->first = loss;
    if (!isfinite(loss)) return diverged(lm, loss, err);
    at->step++;
    at->report_words += n;
    lm->run_words += n;
    sum->report += loss * (double)n;
    if (at->step % WINDOW == 1) sum->window = 0;
    sum->window += loss;
    return check_loss(lm, loss, (at->step - 1) % WINDOW + 1, err);
}

/* The next block of words, from the beginning again when an epoch is over. */
static wte_status next_block(wte_lm *lm, wte_error *err)
{
    wte__lm_stream *s = &lm->stream;
    WTE_TRY(wte__lm_stream_fill(s, err));
    if (s->n == 0) {
        wte__lm_stream_rewind(s);
        WTE_TRY(wte__lm_stream_fill(s, err));
    }
    if (s->n == 0)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX, "the corpus has become too short");
    lm->counts.block++;
    lm->counts.cursor = 0;
    wte__lm_shuffle(lm->order, s->n, lm->plan.o.seed, lm->counts.block);
    return WTE_OK;
}

static wte_status one_step(wte_lm *lm, wte_error *err)
{
    wte__lm_counts *at = &lm->counts;
    const wte__lm_plan *p = &lm->plan;
    double loss = (double)NAN;
    if (at->cursor == lm->stream.n) WTE_TRY(next_block(lm, err));
    uint64_t n = lm->stream.n - at->cursor;
    if (n > p->o.batch) n = p->o.batch;
    for (uint64_t i = 0; i < n; i++) take_example(lm, &lm->stream, lm->order[at->cursor + i], i);
    const wte_status status = wte__lm_step(lm, n, rate(p, at->step), &loss, err);
    /* a gradient that is not finite */
    if (status == WTE_E_RANGE) return diverged(lm, loss, err);
    WTE_TRY(status);
    at->cursor += n;
    WTE_TRY(watch_loss(lm, loss, n, err));
    at->epoch = at->step / p->epoch_steps;
    return WTE_OK;
}

static wte_status validate(wte_lm *lm, wte_error *err)
{
    const wte__lm_plan *p = &lm->plan;
    wte__lm_counts *at = &lm->counts;
    const uint32_t part[3] = { p->valid_first, p->valid_end, p->valid_parts };
    uint64_t words;
    double loss;
    if (at->valid_step == at->step) return WTE_OK;
    WTE_TRY(score(lm, p->valid_text, part, &loss, &words, err));
    if (!(loss <= most_in_one_step(lm))) return diverged(lm, loss, err);
    lm->losses.valid = loss;
    at->valid_step = at->step;
    at->worse++;
    if (at->best_step && !(lm->losses.valid < lm->losses.best)) return WTE_OK;
    lm->losses.best = lm->losses.valid;
    at->best_step = at->step;
    at->worse = 0;
    return WTE_OK;
}

static bool due(uint64_t step, uint64_t every)
{
    return every && step % every == 0;
}

static wte_lm_stop_reason end_of(const wte_lm *lm)
{
    const wte__lm_plan *p = &lm->plan;
    if (lm->counts.step >= p->steps) return WTE_LM_ALL_STEPS;
    if (p->o.patience && lm->counts.worse >= p->o.patience) return WTE_LM_PATIENCE;
    if (p->o.seconds > 0 && wte__seconds() - lm->started >= p->o.seconds) return WTE_LM_TIME;
    return WTE_LM_UNFINISHED;
}

/* What comes after a step: validation, a checkpoint, a report. *go_on false: the watch says stop.
 */
static wte_status after_step(wte_lm *lm, const wte_train_callback *watch, bool *go_on,
                             wte_error *err)
{
    const wte_lm_options *o = &lm->plan.o;
    const uint64_t step = lm->counts.step;
    const uint64_t every = o->valid_every ? o->valid_every : lm->plan.epoch_steps;
    const bool valid = lm->plan.valid_text && due(step, every);
    const bool report = valid || due(step, o->log_every);
    *go_on = true;
    if (valid) WTE_TRY(validate(lm, err));
    if (report) *go_on = tell(lm, watch);
    if (report) {
        lm->losses.told = mean_loss(lm);
        lm->counts.report_words = 0;
        lm->losses.report = 0;
    }
    /* a best validation is kept at once: its weights change with the next step */
    const bool best = valid && lm->counts.best_step == step;
    const bool save = best || !*go_on || due(step, o->checkpoint_every) ||
                      wte__seconds() - lm->saved >= o->checkpoint_seconds;
    if (!lm->checkpoint || !save) return WTE_OK;
    WTE_TRY(wte__lm_checkpoint(lm, err));
    lm->saved = wte__seconds();
    return WTE_OK;
}

/* The last validation, and the best weights. */
static wte_status finish(wte_lm *lm, const wte_train_callback *watch, wte_error *err)
{
    const bool valid =
        lm->plan.valid_text && lm->counts.step && lm->counts.valid_step != lm->counts.step;
    WTE_TRY(wte__lm_settle(lm, err));
    if (valid) WTE_TRY(validate(lm, err));
    if (valid || lm->counts.report_words) (void)tell(lm, watch);
    /* a run that is out of time may be gone on with */
    if (lm->checkpoint && (valid || lm->end == WTE_LM_TIME)) WTE_TRY(wte__lm_checkpoint(lm, err));
    return wte__lm_take_best(lm, err);
}

wte_status wte_lm_train(wte_lm *lm, const wte_train_callback *watch, wte_error *err)
{
    WTE_TRY(wte__need(lm, "wte_lm_train: lm", err));
    WTE_TRY(wte__callback_check(watch, err));
    bool go_on = true;
    if (lm->end != WTE_LM_UNFINISHED && lm->end != WTE_LM_STOPPED) return WTE_OK;
    lm->started = lm->saved = wte__seconds();
    lm->run_words = 0;
    while ((lm->end = end_of(lm)) == WTE_LM_UNFINISHED) {
        WTE_TRY(one_step(lm, err));
        WTE_TRY(after_step(lm, watch, &go_on, err));
        if (go_on) continue;
        lm->end = WTE_LM_STOPPED;
        return WTE_OK;
    }
    return finish(lm, watch, err);
}
