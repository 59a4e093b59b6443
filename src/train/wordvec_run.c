/* Training: each thread takes its part of the corpus block by block; between rounds of some tenths
 * of a second all of them stand still, and the caller's thread reports, looks for divergence and
 * writes checkpoints. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/thread.h"
#include "train/corpus.h"
#include "train/wordvec.h"

#define REPORT_SECONDS 0.25
/* A mean loss of more than so many times that of one who knows nothing is no learning. */
#define DIVERGED 4.0

bool wte__wordvec_is_done(const wte_wordvec *w, const wte__wordvec_worker *k)
{
    return k->place.epoch >= w->plan.o.epochs;
}

/* The words of a block that stay, line by line. */
static void learn_block(wte_wordvec *w, wte__wordvec_worker *k, size_t n)
{
    const wte__wordvec_plan *p = &w->plan;
    const double all = (double)p->corpus_info.tokens * (double)p->o.epochs;
    size_t i = 0;
    while (i < n) {
        const uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
        const double gone = (double)done / all;
        const double left = 1 - (gone > w->time_gone ? gone : w->time_gone);
        const size_t begin = i;
        size_t kept = 0;
        bool ended = false;
        while (i < n && !ended && i - begin < WTE__WORDS_SENTENCE) {
            const uint32_t word = k->block[i++];
            if (word == WTE_CORPUS_UNKNOWN) continue;
            const uint32_t coin = (uint32_t)(wte__wordvec_draw(&k->place.random) >> 32);
            if (coin <= w->tables.keep[word]) k->sentence[kept++] = word;
            ended = word == p->line_end;
        }
        wte__wordvec_learn(w, k, kept, (float)(p->o.lr * (left > 0 ? left : 0)));
        atomic_fetch_add_explicit(&w->done, i - begin, memory_order_relaxed);
    }
}

/* Where the checkpoint says that this part was. */
static wte_status go_to_place(const wte_wordvec *w, const wte__wordvec_worker *k, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const wte_status status = wte_corpus_reader_seek(k->reader, k->place.at, err);
    if (status != WTE_OK && w->checkpoint)
        wte__error_prefix(err, wte__show_path(shown, w->checkpoint));
    return status;
}

wte_status wte__wordvec_run(wte_wordvec *w, wte__wordvec_worker *k, uint32_t part, uint64_t words,
                            wte_error *err)
{
    const uint64_t until = k->place.words + words;
    if (!k->reader) {
        WTE_TRY(wte_corpus_reader_create(w->plan.corpus, part, w->plan.parts, &k->reader, err));
        if (k->place.at) WTE_TRY(go_to_place(w, k, err));
    }
    while (k->place.words < until && !wte__wordvec_is_done(w, k)) {
        size_t n;
        WTE_TRY(wte_corpus_read(k->reader, k->block, WTE__WORDS_BLOCK, &n, err));
        if (n == 0) {
            k->place.epoch++;
            k->place.finished = k->place.running;
            k->place.running = (wte__wordvec_loss){ 0, 0 };
            WTE_TRY(wte_corpus_reader_seek(k->reader, 0, err));
        }
        learn_block(w, k, n);
        k->place.words += n;
        k->place.at = wte_corpus_reader_at(k->reader);
    }
    return WTE_OK;
}

/* Rounds --------------------------------------------------------------------------------------- */

typedef struct stretch {
    wte_wordvec *w;
    uint64_t words; /* of each part */
} stretch;

static wte_status run_part(void *ctx, uint64_t i, uint32_t slot, wte_error *err)
{
    stretch *r = ctx;
    (void)slot;
    return wte__wordvec_run(r->w, &r->w->worker[i], (uint32_t)i, r->words, err);
}

/* How a call of train goes on. */
typedef struct course {
    wte_wordvec *w;
    const wte_train_callback *watch;
    double started, reported, kept; /* seconds */
    uint64_t done_before, done_reported, done_kept;
    wte__wordvec_loss recent; /* since the last report */
    double mean_loss;         /* of the interval before that; NaN = none yet */
    stretch round;
} course;

static uint64_t total_of(const wte_wordvec *w)
{
    return w->plan.corpus_info.tokens * w->plan.o.epochs;
}

static void gather_losses(course *c)
{
    for (uint32_t i = 0; i < c->w->plan.parts; i++) {
        wte__wordvec_worker *k = &c->w->worker[i];
        c->recent.sum += k->recent.sum;
        c->recent.examples += k->recent.examples;
        k->recent = (wte__wordvec_loss){ 0, 0 };
    }
}

static bool all_done(const wte_wordvec *w)
{
    for (uint32_t i = 0; i < w->plan.parts; i++)
        if (!wte__wordvec_is_done(w, &w->worker[i])) return false;
    return true;
}

static double rate_of(const wte_wordvec *w, uint64_t done)
{
    const double gone = (double)done / (double)total_of(w);
    const double left = 1 - (gone > w->time_gone ? gone : w->time_gone);
    return w->plan.o.lr * (left > 0 ? left : 0);
}

/* False when the watch wants no more. */
static bool report(course *c, double now)
{
    wte_wordvec *w = c->w;
    const uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    wte_train_status s = { .done = done, .total = total_of(w), .valid_loss = NAN };
    s.epoch = done / w->plan.corpus_info.tokens;
    s.seconds = now - c->started;
    s.words_per_second = s.seconds > 0 ? (double)(done - c->done_before) / s.seconds : 0;
    s.loss = c->mean_loss;
    s.lr = rate_of(w, done);
    return !c->watch || c->watch->report(c->watch->ctx, &s);
}

static wte_status look_at_loss(course *c, wte_error *err)
{
    wte_wordvec *w = c->w;
    if (c->recent.examples == 0) return WTE_OK;
    c->mean_loss = c->recent.sum / (double)c->recent.examples;
    c->recent = (wte__wordvec_loss){ 0, 0 };
    if (c->mean_loss <= DIVERGED * w->nothing) return WTE_OK;
    const uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    char loss[32];
    snprintf(loss, sizeof loss, isnan(c->mean_loss) ? "no number" : "%.4g", c->mean_loss);
    return wte__fail(err, WTE_E_RANGE, done,
                     "training diverges: after %" PRIu64 " words the loss is %s, that of knowing "
                     "nothing is %.4g; the learning rate was %g at first: take a smaller one",
                     done, loss, w->nothing, w->plan.o.lr);
}

static wte_status keep_if_due(course *c, double now, bool in_the_end, wte_error *err)
{
    wte_wordvec *w = c->w;
    const wte_wordvec_options *o = &w->plan.o;
    const uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    if (!w->checkpoint) return WTE_OK;
    const bool by_words = o->checkpoint_words && done - c->done_kept >= o->checkpoint_words;
    if (!in_the_end && !by_words && now - c->kept < o->checkpoint_seconds) return WTE_OK;
    WTE_TRY(look_at_loss(c, err)); /* what diverges does not take the place of what did not */
    WTE_TRY(wte__wordvec_checkpoint(w, err));
    c->kept = wte__seconds();
    c->done_kept = done;
    return WTE_OK;
}

/* One round; *ended when there is to be no other. */
static wte_status train_on(course *c, bool *ended, wte_error *err)
{
    wte_wordvec *w = c->w;
    const double began = wte__seconds();
    WTE_TRY(wte__parallel_try(w->plan.parts > 1 ? w->plan.o.pool : NULL, w->plan.parts, run_part,
                              &c->round, err));
    const double now = wte__seconds(), seconds = now - began;
    /* what a result is made of does not depend on where rounds end */
    if (seconds < REPORT_SECONDS / 2 && c->round.words < UINT32_MAX) c->round.words *= 2;
    if (seconds > REPORT_SECONDS * 2 && c->round.words > WTE__WORDS_BLOCK) c->round.words /= 2;
    if (w->plan.o.checkpoint_words && c->round.words > w->plan.o.checkpoint_words)
        c->round.words = w->plan.o.checkpoint_words;
    gather_losses(c);
    if (all_done(w)) w->end = WTE_WORDVEC_ALL;
    if (w->plan.o.seconds > 0) w->time_gone = (now - c->started) / w->plan.o.seconds;
    if (w->time_gone >= 1 && w->end == WTE_WORDVEC_UNFINISHED) w->end = WTE_WORDVEC_TIME;
    if (w->end != WTE_WORDVEC_UNFINISHED || now - c->reported >= REPORT_SECONDS) {
        WTE_TRY(look_at_loss(c, err));
        if (!report(c, now) && w->end == WTE_WORDVEC_UNFINISHED) w->end = WTE_WORDVEC_STOPPED;
        c->reported = now;
    }
    *ended = w->end != WTE_WORDVEC_UNFINISHED;
    return keep_if_due(c, now, *ended, err);
}

wte_status wte_wordvec_train(wte_wordvec *w, const wte_train_callback *watch, wte_error *err)
{
    WTE_TRY(wte__need(w, "wte_wordvec_train: w", err));
    WTE_TRY(wte__callback_check(watch, err));
    course c = { .w = w, .watch = watch, .mean_loss = (double)NAN };
    c.started = c.reported = c.kept = wte__seconds();
    c.done_before = c.done_kept = atomic_load_explicit(&w->done, memory_order_relaxed);
    c.round = (stretch){ w, WTE__WORDS_BLOCK };
    w->end = WTE_WORDVEC_UNFINISHED;
    bool ended = false;
    while (!ended) WTE_TRY(train_on(&c, &ended, err));
    return WTE_OK;
}
