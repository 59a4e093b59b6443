/* Where the time goes: the words of one line, each with those around it.
 *
 * A word's vector is made of its rows once, when the word comes into the window; it is learned in
 * there, by all words that it is near to, and what it has learned is added to its rows when it
 * leaves. So rows of n-grams are read and written once for each word of the text, not once for each
 * pair. All vectors of a window and all rows that a word is told by (itself, its negative samples)
 * are learned at once, as products of matrices: each vector has as many samples as if they were its
 * own, but they are the same for the window (Ji et al., "Parallelizing word2vec in shared and
 * distributed memory", 2016).
 *
 * Rows lie anywhere. Those of the next word are chosen before the word at hand is learned, so that
 * they are on their way meanwhile. */
#include <math.h>
#include <string.h>

#include "train/wordvec.h"

/* What a word is learned with. */
typedef struct lesson {
    size_t begin, end; /* its window in the sentence, itself inside */
    size_t n_out;
    const float *labels;
    float *out[WTE__WORDS_OUT];
    float ways[WTE__WORDS_OUT]; /* labels of a way through the tree */
} lesson;

typedef struct line {
    wte_wordvec *w;
    wte__wordvec_worker *k;
    size_t n;
    float lr;
    lesson lessons[2];
} line;

/* Of the word itself and its negative samples. */
static const float sampled_labels[WTE__WORDS_OUT] = { 1 };

static void fetch(const float *row, size_t floats)
{
    for (size_t c = 0; c < floats; c += 16) __builtin_prefetch(row + c, 1);
}

/* Ways of drawing ------------------------------------------------------------------------------ */

static uint32_t draw_sample(const wte_wordvec *w, wte__wordvec_worker *k)
{
    const uint64_t drawn = wte__wordvec_draw(&k->place.random);
    const uint32_t i = wte__wordvec_below(drawn, w->plan.rows);
    const wte__wordvec_alias *slot = &w->tables.alias[i];
    return (uint32_t)drawn < slot->keep ? i : slot->other;
}

/* Rows are all different: a sample that is the word itself or another sample is left out. */
static void choose_samples(const wte_wordvec *w, wte__wordvec_worker *k, uint32_t word, lesson *l)
{
    uint32_t chosen[1 + WTE_LIMIT_WORDS_NEGATIVE];
    size_t n = 0;
    chosen[n++] = word;
    for (uint64_t i = 0; i < w->plan.o.negative; i++) {
        const uint32_t sample = draw_sample(w, k);
        size_t same = 0;
        while (same < n && chosen[same] != sample) same++;
        if (same == n) chosen[n++] = sample;
    }
    for (size_t i = 0; i < n; i++) l->out[i] = w->out + chosen[i] * w->plan.stride;
    l->labels = sampled_labels;
    l->n_out = n;
}

static void choose_way(const wte_wordvec *w, uint32_t word, lesson *l)
{
    const wte__wordvec_tables *t = &w->tables;
    const uint64_t begin = word ? t->way_end[word - 1] : 0;
    l->n_out = (size_t)(t->way_end[word] - begin);
    for (size_t i = 0; i < l->n_out; i++) {
        const uint32_t step = t->way[begin + i];
        l->out[i] = w->out + step / 2 * w->plan.stride;
        l->ways[i] = (float)(step % 2);
    }
    l->labels = l->ways;
}

static void choose_lesson(line *s, size_t at)
{
    const wte_wordvec *w = s->w;
    const uint64_t drawn = wte__wordvec_draw(&s->k->place.random);
    const size_t reach = 1 + wte__wordvec_below(drawn, w->plan.o.window);
    lesson *l = &s->lessons[at % 2];
    l->begin = at < reach ? 0 : at - reach;
    l->end = s->n - at <= reach ? s->n : at + reach + 1;
    if (w->tables.way_end)
        choose_way(w, s->k->sentence[at], l);
    else
        choose_samples(w, s->k, s->k->sentence[at], l);
    for (size_t i = 0; i < l->n_out; i++) fetch(l->out[i], w->plan.stride);
}

/* The window ----------------------------------------------------------------------------------- */

static size_t slot_of(const line *s, size_t at)
{
    return (at & (s->w->plan.ring - 1)) * s->w->plan.stride;
}

static wte__learn_rows rows_at(const line *s, size_t at)
{
    const wte_wordvec *w = s->w;
    wte__learn_rows job = { w->in, w->plan.stride, w->plan.stride, NULL, 0, NULL };
    job.n = wte__wordvec_rows_of(w, &s->k->sentence[at], &job.rows);
    return job;
}

static void expect(const line *s, size_t at)
{
    if (at >= s->n) return;
    const wte__learn_rows job = rows_at(s, at);
    for (size_t i = 0; i < job.n; i++) fetch(job.table + job.rows[i] * job.stride, job.cols);
}

static void enter(const line *s, size_t at)
{
    if (at >= s->n) return;
    const wte__learn_rows job = rows_at(s, at);
    float *vector = s->k->ring + slot_of(s, at);
    s->w->kernels->learn_mean(&job, vector);
    memcpy(s->k->before + slot_of(s, at), vector, job.cols * sizeof *vector);
}

static void leave(const line *s, size_t at)
{
    const wte__learn_rows job = rows_at(s, at);
    s->w->kernels->learn_add(&job, s->k->ring + slot_of(s, at), s->k->before + slot_of(s, at));
}

/* Learning ------------------------------------------------------------------------------------- */

/* Mean over the vectors of the sum of -log(probability) over the rows. */
static void note_loss(wte__wordvec_worker *k, const wte__learn_pairs *job)
{
    double sum = 0;
    for (size_t i = 0; i < job->n_in; i++) {
        for (size_t r = 0; r < job->n_out; r++) {
            const float x = job->logits[i * job->n_out + r];
            const double against = job->labels[r] > 0 ? -(double)x : (double)x;
            sum += against > 0 ? against + log1p(exp(-against)) : log1p(exp(against));
        }
    }
    sum /= (double)job->n_in;
    k->recent.sum += sum;
    k->recent.examples++;
    k->place.running.sum += sum;
    k->place.running.examples++;
}

static void learn_pairs(const line *s, const lesson *l, float *const *in, size_t n_in)
{
    float logits[2 * WTE_LIMIT_WORDS_WINDOW * WTE__WORDS_OUT];
    wte__wordvec_worker *k = s->k;
    const bool looked_at = k->place.until_loss == 0;
    const wte__learn_pairs job = {
        in, l->out, n_in, l->n_out, s->w->plan.stride, l->labels, s->lr, looked_at ? logits : NULL
    };
    s->w->kernels->learn_pairs(&job);
    if (looked_at) note_loss(k, &job);
    k->place.until_loss = looked_at ? WTE__WORDS_LOSS_EVERY - 1 : k->place.until_loss - 1;
}

static void learn_skip_gram(const line *s, size_t at, const lesson *l)
{
    float *in[2 * WTE_LIMIT_WORDS_WINDOW];
    size_t n = 0;
    for (size_t i = l->begin; i < l->end; i++)
        if (i != at) in[n++] = s->k->ring + slot_of(s, i);
    learn_pairs(s, l, in, n);
}

/* The mean is over all rows of all words, so that a word counts by the number of its rows. */
static void learn_cbow(const line *s, size_t at, const lesson *l)
{
    const wte_wordvec *w = s->w;
    const size_t stride = w->plan.stride;
    uint32_t slots[2 * WTE_LIMIT_WORDS_WINDOW];
    float weights[2 * WTE_LIMIT_WORDS_WINDOW], all = 0;
    wte__learn_rows job = { s->k->ring, stride, stride, slots, 0, NULL };
    for (size_t i = l->begin; i < l->end; i++) {
        const uint32_t *rows;
        if (i == at) continue;
        weights[job.n] = (float)wte__wordvec_rows_of(w, &s->k->sentence[i], &rows);
        all += weights[job.n];
        slots[job.n++] = (uint32_t)(i & (w->plan.ring - 1));
    }
    if (w->tables.gram_end) {
        for (size_t i = 0; i < job.n; i++) weights[i] /= all;
        job.weights = weights;
    }
    float *mean = s->k->before + w->plan.ring * stride, *old = mean + stride;
    w->kernels->learn_mean(&job, mean);
    memcpy(old, mean, stride * sizeof *mean);
    learn_pairs(s, l, &mean, 1);
    w->kernels->learn_add(&job, mean, old);
}

void wte__wordvec_learn(wte_wordvec *w, wte__wordvec_worker *k, size_t n, float lr)
{
    const size_t window = (size_t)w->plan.o.window;
    if (n < 2) return;
    line s = { .w = w, .k = k, .n = n, .lr = lr };
    expect(&s, 0);
    expect(&s, 1);
    for (size_t i = 0; i < window; i++) {
        expect(&s, i + 2);
        enter(&s, i);
    }
    choose_lesson(&s, 0);
    for (size_t at = 0; at < n; at++) {
        expect(&s, at + window + 2);
        enter(&s, at + window);
        if (at + 1 < n) choose_lesson(&s, at + 1);
        const lesson *l = &s.lessons[at % 2];
        if (w->plan.o.method == WTE_WORDVEC_CBOW)
            learn_cbow(&s, at, l);
        else
            learn_skip_gram(&s, at, l);
        if (at >= window) leave(&s, at - window);
    }
    for (size_t at = n > window ? n - window : 0; at < n; at++) leave(&s, at);
}
