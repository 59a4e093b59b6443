/* The n-grams of a word as fastText finds them: characters of UTF-8 as far as the bytes are any, a
 * hash of signed bytes (whatever a char is on this machine), and rows by bucket. */
#include "format/fasttext.h"

static uint8_t byte_at(const wte__ngrams *it, uint64_t i)
{
    if (i == 0) return '<';
    return i <= it->word.size ? it->word.data[i - 1] : '>';
}

static bool continues(const wte__ngrams *it, uint64_t i)
{
    return (byte_at(it, i) & 0xc0) == 0x80;
}

#define HASH_START UINT32_C(2166136261)
#define HASH_PRIME UINT32_C(16777619)

void wte__ngrams_start(wte__ngrams *it, const wte__ngram_rule *rule, wte__bytes word)
{
    const wte__ngrams first = { rule, word, 0, 0, 0, HASH_START };
    *it = first;
}

/* One character more, if there is one and it may; else the next n-gram begins. */
static void grow(wte__ngrams *it, uint64_t size)
{
    if (it->end == size || it->length == it->rule->max) {
        do it->begin++;
        while (it->begin < size && continues(it, it->begin));
        it->end = it->begin;
        it->length = 0;
        it->hash = HASH_START;
        if (it->begin >= size) return;
    }
    do {
        const uint8_t byte = byte_at(it, it->end++);
        it->hash = (it->hash ^ (byte | (byte & 0x80 ? UINT32_C(0xffffff00) : 0))) * HASH_PRIME;
    } while (it->end < size && continues(it, it->end));
    it->length++;
}

/* The row of a bucket; false when pruning left it without one. */
static bool row_of(const wte__ngram_rule *rule, uint32_t bucket, uint64_t *row)
{
    *row = rule->words + bucket;
    if (!rule->pruned) return true;
    size_t low = 0, high = rule->n_kept;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rule->kept[middle].bucket < (int32_t)bucket)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == rule->n_kept || rule->kept[low].bucket != (int32_t)bucket) return false;
    *row = rule->words + (uint64_t)rule->kept[low].row;
    return true;
}

bool wte__ngrams_next(wte__ngrams *it, uint64_t *row)
{
    const wte__ngram_rule *rule = it->rule;
    const uint64_t size = it->word.size + 2;
    if (rule->max == 0 || rule->buckets == 0 || (rule->pruned && rule->n_kept == 0)) return false;
    for (;;) {
        grow(it, size);
        if (it->begin >= size) return false;
        const bool bracket = it->length == 1 && (it->begin == 0 || it->end == size);
        if (it->length >= rule->min && !bracket && row_of(rule, it->hash % rule->buckets, row))
            return true;
    }
}

static int by_bucket(const void *a, const void *b)
{
    const wte__ngram_pair *x = a, *y = b;
    return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

bool wte__ngram_rule_settle(wte__ngram_rule *rule, const wte_allocator *a)
{
    const size_t bytes = rule->n_kept * sizeof *rule->kept;
    if (rule->n_kept == 0) return true;
    void *scratch = wte__alloc(a, bytes);
    if (!scratch) return false;
    wte__sort(rule->kept, rule->n_kept, sizeof *rule->kept, by_bucket, scratch);
    wte__free(a, scratch, bytes);
    size_t n = 0;
    for (size_t i = 0; i < rule->n_kept; i++) { /* the sort is stable */
        const bool again = n > 0 && rule->kept[n - 1].bucket == rule->kept[i].bucket;
        rule->kept[again ? n - 1 : n++] = rule->kept[i];
    }
    rule->n_kept = n;
    return true;
}
