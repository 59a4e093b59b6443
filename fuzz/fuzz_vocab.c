/* Token names. The first byte chooses the kind of file, the rest is the file. Of what is accepted:
 * the counts add up; every text, as spelled and as written, leads back to an id that has it; and
 * the number of other ids that match is what counting them one by one gives. */
#include "fuzz.h"

#include <string.h>
#include <wte/vocab.h>

#define COUNTED 64 /* compared one by one in vocabularies no larger; so many tokens are checked */
#define MISSED  4  /* so many tokens are changed and looked for: the search for near ones is long */

static char *written(const wte_vocab *v, uint64_t id, uint64_t *n)
{
    *n = wte_vocab_text(v, id, NULL, 0);
    char *out = malloc((size_t)*n + 1);
    HOLDS(out);
    out[*n] = 0x55;
    HOLDS(wte_vocab_text(v, id, out, *n) == *n && out[*n] == 0x55);
    return out;
}

static bool matches(const wte_vocab *v, uint64_t id, const char *text, uint64_t n)
{
    uint64_t bytes;
    const char *spelled = wte_vocab_raw_text(v, id, &bytes);
    if (!spelled) return false;
    if (bytes == n && memcmp(spelled, text, (size_t)n) == 0) return true;
    char *other = written(v, id, &bytes);
    bool same = bytes == n && memcmp(other, text, (size_t)n) == 0;
    free(other);
    return same;
}

static void check_find(const wte_vocab *v, const char *text, uint64_t n)
{
    wte_error err;
    uint64_t id, others, count = 0;
    HOLDS(wte_vocab_find(v, text, n, &id, &others, &err) == WTE_OK);
    HOLDS(id < wte_vocab_size(v) && matches(v, id, text, n));
    if (wte_vocab_size(v) > COUNTED) return;
    for (uint64_t k = 0; k < wte_vocab_size(v); k++) count += matches(v, k, text, n);
    HOLDS(count == others + 1);
}

static void check_missing(const wte_vocab *v, const char *text, uint64_t n)
{
    wte_error err;
    uint64_t id;
    wte_status status = wte_vocab_find(v, text, n, &id, NULL, &err);
    if (status == WTE_OK)
        HOLDS(matches(v, id, text, n));
    else
        fuzz_check_error(&err, status, 0);
}

static void check_vocab(const wte_vocab *v)
{
    uint64_t count = 0, checked = 0;
    for (uint64_t id = 0; id < wte_vocab_size(v); id++) {
        uint64_t n, m;
        const char *spelled = wte_vocab_raw_text(v, id, &n);
        HOLDS((spelled == NULL) == (wte_vocab_kind(v, id) == WTE_TOKEN_NONE));
        count += spelled != NULL;
        if (!spelled || ++checked > COUNTED) continue;
        char *text = written(v, id, &m);
        HOLDS(m <= n);
        check_find(v, spelled, n);
        check_find(v, text, m);
        if (m && checked <= MISSED) {
            check_missing(v, text, m - 1);
            text[m / 2] ^= 0x20; /* the other case */
            check_missing(v, text, m);
        }
        free(text);
    }
    HOLDS(count == wte_vocab_count(v));
    HOLDS(wte_vocab_n_holes(v) == wte_vocab_size(v) - count);
    HOLDS(wte_vocab_kind(v, wte_vocab_size(v) - 1) != WTE_TOKEN_NONE);
    HOLDS(wte_vocab_kind(v, wte_vocab_size(v)) == WTE_TOKEN_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    fuzz_memory m;
    wte_error err;
    wte_vocab *v = NULL;
    wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
    fuzz_memory_init(&m);
    opt.allocator = &m.allocator;
    static const wte_vocab_source sources[] = {
        WTE_VOCAB_TOKENIZER_JSON, WTE_VOCAB_JSON,  WTE_VOCAB_TXT,     WTE_VOCAB_TEKKEN,
        WTE_VOCAB_WORDS,          WTE_VOCAB_SPACY, WTE_VOCAB_METADATA
    };
    const wte_vocab_source source = sources[data[0] % 7];
    wte_status status = wte_vocab_open_memory(data + 1, size - 1, "f", source, &opt, &v, &err);
    HOLDS((status == WTE_OK) == (v != NULL));
    if (v)
        check_vocab(v);
    else
        fuzz_check_error(&err, status, size - 1);
    wte_vocab_free(v);
    HOLDS(m.live == 0 && m.live_bytes == 0);
    return 0;
}
