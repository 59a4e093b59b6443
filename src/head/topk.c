/* The largest logits of each hidden vector, and log-probabilities of chosen rows, without holding
 * the logits. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "head/logit_stats.h"

typedef struct wanted {
    uint32_t k;
    wte_ranked *out;
    float *logprob;
    wte_softmax_stats *sums;
} wanted;

static void put_sums(const wanted *w, uint64_t hidden, const wte__found *f)
{
    if (!w->sums) return;
    w->sums[hidden] = (wte_softmax_stats){ f->most, (float)f->lse, f->masked, f->not_finite };
}

/* -infinity wherever the logit is, also when the sum is. */
static float logprob_of(float logit, const wte__found *f)
{
    if (logit == -INFINITY && !isnan(f->lse)) return logit;
    return (float)((double)logit - (double)f->most - f->log_sum);
}

static void put_ranked(void *ctx, uint64_t hidden, const wte__found *f)
{
    const wanted *w = ctx;
    wte_ranked *out = w->k ? w->out + hidden * w->k : NULL; /* sums alone may be wanted */
    for (uint32_t i = 0; i < w->k; i++) {
        out[i] = (wte_ranked){ WTE_NO_INDEX, -INFINITY, -INFINITY };
        if (i >= f->n_list) continue;
        const float logit = wte__key_logit(f->list[i]);
        out[i] = (wte_ranked){ wte__key_row(f->list[i]), logit, logprob_of(logit, f) };
    }
    put_sums(w, hidden, f);
}

static wte_status sums_apart(const wte__logit_tiles *s, const wte_softmax_stats *sums,
                             wte_error *err)
{
    return wte__head_no_overlap(s, (wte__piece){ "sums", sums, s->hidden->n, sizeof *sums, 0 },
                                err);
}

wte_status wte_head_topk(const wte_row_source *table, const wte_hidden *hidden,
                         const wte_head_options *opt, uint32_t k, wte_ranked *out,
                         wte_softmax_stats *sums, wte_error *err)
{
    wanted w = { .k = k, .out = out, .sums = sums };
    wte__logit_stats s = { .sweep = { .table = table, .hidden = hidden },
                           .k = k,
                           .times = 1,
                           .emit = put_ranked,
                           .ctx = &w };
    WTE_TRY(wte__head_check(table, hidden, opt, &s.sweep.o, err));
    if (k > WTE_LIMIT_TOP)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "head: the %" PRIu32 " largest logits, but at most %u are kept", k,
                         WTE_LIMIT_TOP);
    if (k && hidden->n) WTE_TRY(wte__need(out, "wte_head_topk: out", err));
    WTE_TRY(wte__head_no_overlap(
        &s.sweep, (wte__piece){ "the output", out, hidden->n, k * sizeof *out, 0 }, err));
    WTE_TRY(sums_apart(&s.sweep, sums, err));
    return wte__logit_stats_all(&s, err);
}

static void put_logprob(void *ctx, uint64_t hidden, const wte__found *f)
{
    const wanted *w = ctx;
    w->logprob[hidden] = logprob_of(f->target, f);
    put_sums(w, hidden, f);
}

wte_status wte_head_logprobs(const wte_row_source *table, const wte_hidden *hidden, wte_ids targets,
                             const wte_head_options *opt, float *logprob, wte_softmax_stats *sums,
                             wte_error *err)
{
    wanted w = { .logprob = logprob, .sums = sums };
    wte__logit_stats s = { .sweep = { .table = table, .hidden = hidden },
                           .times = 1,
                           .targets = targets,
                           .ignore = -1, /* not a row */
                           .emit = put_logprob,
                           .ctx = &w };
    WTE_TRY(wte__head_check(table, hidden, opt, &s.sweep.o, err));
    WTE_TRY(wte__targets_check(table, hidden, targets, NULL, err));
    if (hidden->n) WTE_TRY(wte__need(logprob, "wte_head_logprobs: logprob", err));
    const wte__piece written = { "the output", logprob, hidden->n, sizeof *logprob, 0 };
    WTE_TRY(wte__head_no_overlap(&s.sweep, written, err));
    WTE_TRY(wte__no_overlap_with_ids("head", written, targets, err));
    WTE_TRY(sums_apart(&s.sweep, sums, err));
    return wte__logit_stats_all(&s, err);
}
