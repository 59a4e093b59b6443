/* The words that a language model is fed with: a corpus block by block, never as a whole, and an
 * order of the words of a block that depends on nothing but a seed. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "num/philox.h"
#include "train/lm.h"

void wte__lm_stream_close(wte__lm_stream *s)
{
    wte_corpus_reader_free(s->reader);
    s->reader = NULL;
    wte__free(s->allocator, s->words, (size_t)(s->context + s->cap) * sizeof *s->words);
    s->words = NULL;
}

void wte__lm_stream_rewind(wte__lm_stream *s)
{
    wte_corpus_reader_free(s->reader);
    s->reader = NULL;
    s->n = 0;
    s->next = (wte__lm_place){ s->first, 0, 0 };
    s->block = s->next;
}

wte_status wte__lm_stream_open(wte__lm_stream *s, const wte_corpus *corpus, uint64_t context,
                               uint64_t cap, wte_error *err)
{
    s->corpus = corpus;
    s->context = context;
    s->cap = cap;
    s->words = wte__alloc_array(s->allocator, context + cap, sizeof *s->words);
    if (!s->words)
        return wte__no_memory(err, (context + cap) * sizeof *s->words, "a block of words");
    memset(s->words, 0, (size_t)context * sizeof *s->words);
    wte__lm_stream_rewind(s);
    return WTE_OK;
}

wte_status wte__lm_stream_seek(wte__lm_stream *s, const wte__lm_place *place,
                               const uint32_t *carried, wte_error *err)
{
    wte__lm_stream_rewind(s);
    s->next = *place;
    if (place->part >= s->end) return WTE_OK;
    /* where the next block looks for them: behind the words of the one before */
    memcpy(s->words, carried, (size_t)s->context * sizeof *carried);
    WTE_TRY(wte_corpus_reader_create(s->corpus, (uint32_t)place->part, s->parts, &s->reader, err));
    return wte_corpus_reader_seek(s->reader, place->at, err);
}

/* Up to `want` words to `to`, out of as many parts as it takes. */
static wte_status take(wte__lm_stream *s, uint32_t *to, uint64_t want, uint64_t *got,
                       wte_error *err)
{
    *got = 0;
    while (*got < want && s->next.part < s->end) {
        size_t n = 0;
        if (!s->reader)
            WTE_TRY(wte_corpus_reader_create(s->corpus, (uint32_t)s->next.part, s->parts,
                                             &s->reader, err));
        WTE_TRY(wte_corpus_read(s->reader, to + *got, (size_t)(want - *got), &n, err));
        *got += n;
        s->next.at = wte_corpus_reader_at(s->reader);
        if (n) continue;
        wte_corpus_reader_free(s->reader);
        s->reader = NULL;
        s->next.part++;
        s->next.at = 0;
    }
    for (uint64_t i = 0; i < *got; i++) {
        if (to[i] < s->rows) continue;
        if (s->unknown == WTE_NO_INDEX)
            return wte__fail(err, WTE_E_RANGE, WTE_NO_INDEX,
                             "the text has words that the model does not know, and no row for "
                             "them: train with a corpus that has some (a least count of 2)");
        to[i] = (uint32_t)s->unknown;
    }
    return WTE_OK;
}

wte_status wte__lm_stream_fill(wte__lm_stream *s, wte_error *err)
{
    uint64_t got;
    if (s->n) memmove(s->words, s->words + s->n, (size_t)s->context * sizeof *s->words);
    s->n = 0;
    s->block = s->next;
    if (!s->next.begun) {
        WTE_TRY(take(s, s->words, s->context, &got, err));
        if (got < s->context) return WTE_OK;
        s->next.begun = 1;
        s->block = s->next;
    }
    return take(s, s->words + s->context, s->cap, &s->n, err);
}

wte_status wte__lm_stream_count(wte__lm_stream *s, uint64_t *words, wte_error *err)
{
    *words = 0;
    do {
        WTE_TRY(wte__lm_stream_fill(s, err));
        *words += s->n;
    } while (s->n);
    return WTE_OK;
}

void wte__lm_shuffle(uint32_t *order, uint64_t n, uint64_t seed, uint64_t block)
{
    for (uint64_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    for (uint64_t i = n; i > 1; i--) {
        const uint64_t j = (uint64_t)(wte__uniform(seed, block << 32 | i) * (double)i);
        const uint32_t other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
}
