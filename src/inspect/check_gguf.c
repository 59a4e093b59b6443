/* What the metadata of a GGUF file say of its tokenizer, against each other: ids, arrays, flags and
 * keys that loaders believe without a look. No row is read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/tokens.h"
#include "format/gguf.h"
#include "inspect/check.h"

#define PREFIX "tokenizer.ggml."
#define TOKENS PREFIX "tokens"
#define TYPES  PREFIX "token_type"
#define SUFFIX "_token_id"
#define UNSET  ((int64_t)UINT32_MAX) /* what exporters write for no id */

typedef struct audit {
    wte__checking *k;
    const wte__gguf *g;
    const char *repair; /* for what only another conversion mends */
    uint64_t tokens;    /* how many there are; 0: no list of them */
} audit;

static const char *key_of(const audit *a, const wte__gguf_pair *pair, char shown[WTE__NAME_SHOWN])
{
    return wte__show(shown, a->g->header + pair->key_at, pair->key_bytes);
}

/* Pairs that lead nowhere, as an earlier one has their key, are not looked at for themselves. */
static bool is_first(const audit *a, const wte__gguf_pair *pair)
{
    const wte__bytes key = { a->g->header + pair->key_at, pair->key_bytes };
    uint64_t number = 0;
    return wte__names_find(&a->g->keys, key, &number) && &a->g->pairs[number] == pair;
}

static bool is_id_key(const audit *a, const wte__gguf_pair *pair)
{
    const char *key = (const char *)a->g->header + pair->key_at;
    const size_t n = pair->key_bytes, prefix = sizeof PREFIX - 1, suffix = sizeof SUFFIX - 1;
    return n > prefix + suffix && memcmp(key, PREFIX, prefix) == 0 &&
           memcmp(key + n - suffix, SUFFIX, suffix) == 0;
}

/* tokenizer.ggml.bos_token_id and all its kin. */
static wte_status check_ids(const audit *a)
{
    char shown[WTE__NAME_SHOWN];
    for (size_t i = 0; a->tokens && i < a->g->n; i++) {
        const wte__gguf_pair *pair = &a->g->pairs[i];
        int64_t id;
        if (!is_id_key(a, pair) || pair->type == WTE__GGUF_ARRAY || !is_first(a, pair)) continue;
        if (!wte__gguf_integer(a->g, pair, 0, &id) || id == -1 || id == UNSET) continue;
        if (id >= 0 && (uint64_t)id < a->tokens) continue;
        WTE_TRY(wte__check_add(a->k, WTE__CODE_GGUF_SPECIAL, key_of(a, pair, shown), NULL,
                               a->repair, "the id is %" PRId64 ", but tokens have ids 0..%" PRIu64,
                               id, a->tokens - 1));
    }
    return WTE_OK;
}

/* Arrays that go with the tokens, one element each. */
static wte_status check_lengths(const audit *a)
{
    static const char *const keys[] = { PREFIX "scores", TYPES };
    for (size_t i = 0; a->tokens && i < sizeof keys / sizeof *keys; i++) {
        const wte__gguf_pair *pair = wte__gguf_find(a->g, keys[i]);
        if (!pair || pair->type != WTE__GGUF_ARRAY || pair->count == a->tokens) continue;
        WTE_TRY(wte__check_add(a->k, WTE__CODE_GGUF_LENGTH, keys[i], NULL, a->repair,
                               "%" PRIu64 " elements for %" PRIu64 " tokens", pair->count,
                               a->tokens));
    }
    return WTE_OK;
}

static wte_status check_types(const audit *a)
{
    const wte__gguf_pair *pair = wte__gguf_find(a->g, TYPES);
    wte__seen seen = { 0 };
    int64_t type = 0, first = 0;
    if (!pair || pair->type != WTE__GGUF_ARRAY) return WTE_OK;
    for (uint64_t i = 0; i < pair->count; i++) {
        if (!wte__gguf_integer(a->g, pair, i, &type)) continue;
        if (type >= 0 && type <= WTE_TAG_BYTE) continue; /* 0: some writers leave normal ones so */
        if (!seen.count) first = type;
        wte__seen_add(&seen, i);
    }
    if (!seen.count) return WTE_OK;
    return wte__check_add(a->k, WTE__CODE_GGUF_TYPE, TYPES, &seen, a->repair,
                          "%" PRIu64 " of %" PRIu64 " tokens have a type that there is not, the "
                          "first %" PRId64 ": types go from 1 to %d",
                          seen.count, pair->count, first, WTE_TAG_BYTE);
}

/* A flag that adds a token of which no id is said. */
static wte_status check_flags(const audit *a)
{
    static const struct {
        const char *flag, *id, *other; /* other: a second spelling of the id */
    } flags[] = {
        { PREFIX "add_bos_token", PREFIX "bos_token_id", NULL },
        { PREFIX "add_eos_token", PREFIX "eos_token_id", NULL },
        { PREFIX "add_sep_token", PREFIX "seperator_token_id", PREFIX "separator_token_id" },
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const wte__gguf_pair *flag = wte__gguf_find(a->g, flags[i].flag);
        const wte__gguf_pair *pair = wte__gguf_find(a->g, flags[i].id);
        int64_t id;
        if (!flag || flag->type != WTE__GGUF_BOOL || !a->g->header[flag->at]) continue;
        if (!pair && flags[i].other) pair = wte__gguf_find(a->g, flags[i].other);
        const bool said = pair && pair->type != WTE__GGUF_ARRAY &&
                          wte__gguf_integer(a->g, pair, 0, &id) && id != -1 && id != UNSET;
        if (said) continue;
        WTE_TRY(wte__check_add(a->k, WTE__CODE_GGUF_FLAG, flags[i].flag, NULL, a->repair,
                               "true, but %s %s", flags[i].other ? flags[i].other : flags[i].id,
                               pair ? "says that there is no such token" : "is not there"));
    }
    return WTE_OK;
}

static wte_status check_keys(const audit *a)
{
    char shown[WTE__NAME_SHOWN];
    for (size_t i = 0; i < a->g->n; i++) {
        const wte__gguf_pair *pair = &a->g->pairs[i];
        if (pair->again == WTE__GGUF_ONCE) continue;
        WTE_TRY(wte__check_add(
            a->k, WTE__CODE_GGUF_KEY_TWICE, key_of(a, pair, shown), NULL, a->repair,
            "the key comes more than once, the first value at byte %" PRIu64 ", %s", pair->at,
            pair->again == WTE__GGUF_SAME ? "each time with the same value"
                                          : "and later with another one"));
    }
    return WTE_OK;
}

wte_status wte__check_gguf(wte__checking *k, const wte_file *f, const char *repair)
{
    audit a = { .k = k, .g = f ? wte__file_gguf(f) : NULL, .repair = repair };
    if (!a.g) return WTE_OK;
    if (!repair) return wte__no_memory(k->err, 64, "a repair");
    const wte__gguf_pair *tokens = wte__gguf_find(a.g, TOKENS);
    if (tokens && tokens->type == WTE__GGUF_ARRAY) a.tokens = tokens->count;
    WTE_TRY(check_ids(&a));
    WTE_TRY(check_lengths(&a));
    WTE_TRY(check_types(&a));
    WTE_TRY(check_flags(&a));
    return check_keys(&a);
}
