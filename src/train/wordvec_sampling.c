/* What is decided before training: which words stay, which are drawn as negative samples, which
 * rows a word has. */
#include <math.h>

#include "base/error.h"
#include "train/corpus.h"
#include "train/wordvec.h"

/* A word of share f of the text stays with probability sqrt(s / f) + s / f, as in word2vec's
 * program and fastText. */
wte_status wte__wordvec_make_keep(const wte__wordvec_plan *p, uint32_t *keep)
{
    const uint64_t *counts = p->corpus->counts;
    double all = 0;
    for (uint64_t i = 0; i < p->rows; i++) all += (double)counts[i];
    for (uint64_t i = 0; i < p->rows; i++) {
        keep[i] = UINT32_MAX;
        if (p->o.sample < 0 || counts[i] == 0) continue;
        const double ratio = p->o.sample / ((double)counts[i] / all);
        const double stays = sqrt(ratio) + ratio;
        if (stays < 1) keep[i] = (uint32_t)(stays * 0x1p32);
    }
    return WTE_OK;
}

/* Walker's alias method, with Vose's lists: words that weigh less than the mean are filled up by
 * one that weighs more. */
wte_status wte__wordvec_make_alias(const wte__wordvec_plan *p, wte__wordvec_alias *out,
                                   wte_error *err)
{
    const wte_allocator *a = p->o.allocator;
    const uint64_t n = p->rows;
    double *weight = wte__alloc_array(a, n, sizeof *weight);
    uint32_t *list = wte__alloc_array(a, n, sizeof *list); /* light ones in front, others behind */
    wte_status status = WTE_OK;
    if (!weight || !list) {
        status = wte__no_memory(err, n * (sizeof *weight + sizeof *list), "negative samples");
        goto done;
    }
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        weight[i] = p->corpus->counts[i] ? pow((double)p->corpus->counts[i], p->o.power) : 0;
        sum += weight[i];
    }
    uint64_t light = 0, heavy = n;
    for (uint64_t i = 0; i < n; i++) {
        weight[i] *= (double)n / sum;
        out[i] = (wte__wordvec_alias){ UINT32_MAX, (uint32_t)i };
        list[weight[i] < 1 ? light++ : --heavy] = (uint32_t)i;
    }
    while (light > 0 && heavy < n) {
        const uint32_t small = list[--light], large = list[heavy];
        out[small].keep = (uint32_t)(weight[small] * 0x1p32);
        out[small].other = large;
        weight[large] -= 1 - weight[small];
        if (weight[large] < 1) {
            heavy++;
            list[light++] = large;
        }
    }
done:
    wte__free(a, weight, (size_t)n * sizeof *weight);
    wte__free(a, list, (size_t)n * sizeof *list);
    return status;
}

void wte__wordvec_make_grams(const wte__wordvec_plan *p, wte__wordvec_tables *t)
{
    uint64_t n = 0, row;
    for (uint64_t i = 0; i < p->rows; i++) {
        t->gram[n++] = (uint32_t)i;
        if (wte__wordvec_has_grams(p, i)) {
            wte__ngrams it;
            wte__ngrams_start(&it, &p->rule, wte__token_list_text(&p->corpus->words.list, i));
            while (wte__ngrams_next(&it, &row)) t->gram[n++] = (uint32_t)row;
        }
        t->gram_end[i] = n;
    }
}
