/* Mistral's tekken.json: special tokens have the ids from 0 on, ranked tokens follow.
 *
 *     { "config": { "default_vocab_size", "default_num_special_tokens", "version", ... },
 *       "vocab": [ { "rank", "token_bytes" (base64), "token_str" }, ... ],
 *       "special_tokens": [ { "rank", "token_str", "is_control" }, ... ] }
 *
 * Ranks from default_vocab_size - default_num_special_tokens on are in the file but not in use. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "vocab/vocab.h"

/* What files up to version 7 do not list, in the order of ids. */
static const char *const early_specials[] = { "<unk>",
                                              "<s>",
                                              "</s>",
                                              "[INST]",
                                              "[/INST]",
                                              "[AVAILABLE_TOOLS]",
                                              "[/AVAILABLE_TOOLS]",
                                              "[TOOL_RESULTS]",
                                              "[/TOOL_RESULTS]",
                                              "[TOOL_CALLS]",
                                              "[IMG]",
                                              "<pad>",
                                              "[IMG_BREAK]",
                                              "[IMG_END]",
                                              "[PREFIX]",
                                              "[MIDDLE]",
                                              "[SUFFIX]",
                                              "[SYSTEM_PROMPT]",
                                              "[/SYSTEM_PROMPT]",
                                              "[TOOL_CONTENT]" };
#define N_EARLY (sizeof early_specials / sizeof *early_specials)

typedef struct tekken {
    wte__vocab_reader *r;
    wte__json j;
    bool has_size, has_specials, has_vocab, listed; /* listed: special_tokens is there */
    uint64_t size, specials;                        /* of the config */
    uint64_t n_special;                             /* listed */
    bool early;                                     /* version 7 or before */
} tekken;

static wte_status refuse(const tekken *t, const char *what)
{
    if (t->j.kind == WTE__JSON_ERROR) return wte__json_fail(&t->j, t->r->err);
    return wte__json_refuse(&t->j, t->r->err, what);
}

static wte_status refuse_rank(const tekken *t)
{
    char what[64];
    snprintf(what, sizeof what, "a rank is not a whole number from 0 to %u",
             WTE_LIMIT_VOCAB_IDS - 1);
    return refuse(t, what);
}

static wte_status next_scalar(tekken *t)
{
    wte__json_next(&t->j);
    if (t->j.kind == WTE__JSON_OBJECT || t->j.kind == WTE__JSON_ARRAY)
        (void)wte__json_skip_rest(&t->j);
    return t->j.kind == WTE__JSON_ERROR ? wte__json_fail(&t->j, t->r->err) : WTE_OK;
}

static wte_status read_config(tekken *t)
{
    wte__json *j = &t->j;
    static const char *const early[] = { "v1", "v2", "v3", "v7" };
    if (wte__json_next(j) != WTE__JSON_OBJECT) return refuse(t, "the config is not an object");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        const bool size = wte__json_is(j, "default_vocab_size");
        const bool specials = wte__json_is(j, "default_num_special_tokens");
        const bool version = wte__json_is(j, "version");
        WTE_TRY(next_scalar(t));
        if (size && !(t->has_size = wte__json_u64(j, &t->size)))
            return refuse(t, "default_vocab_size is not a count");
        if (specials && !(t->has_specials = wte__json_u64(j, &t->specials)))
            return refuse(t, "default_num_special_tokens is not a count");
        for (size_t i = 0; version && i < sizeof early / sizeof *early; i++)
            t->early |= j->kind == WTE__JSON_STRING && wte__json_is(j, early[i]);
    }
    return j->kind == WTE__JSON_ERROR ? refuse(t, "") : WTE_OK;
}

static int digit_of(uint8_t c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The bytes that the current string spells in base64. */
static wte_status take_bytes(tekken *t, wte__bytes *out)
{
    static const char form[] = "token_bytes is not base64";
    const wte__bytes text = wte__json_text(&t->j, &t->r->v->arena, false);
    if (!text.data) return wte__no_memory(t->r->err, t->j.raw.size, "the text of a token");
    uint64_t n = text.size, used = 0;
    if (n % 4) return refuse(t, form);
    for (int i = 0; i < 2 && n && text.data[n - 1] == '='; i++) n--;
    if (n % 4 == 1) return refuse(t, form);
    uint8_t *bytes = wte__arena_take(&t->r->v->arena, (size_t)(n / 4 * 3 + 3));
    if (!bytes) return wte__no_memory(t->r->err, n, "the text of a token");
    uint32_t bits = 0;
    for (uint64_t i = 0; i < n; i++) {
        const int digit = digit_of(text.data[i]);
        if (digit < 0) return refuse(t, form);
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        if (i % 4 == 1) bytes[used++] = (uint8_t)(bits >> 4);
        if (i % 4 == 2) bytes[used++] = (uint8_t)(bits >> 2);
        if (i % 4 == 3) bytes[used++] = (uint8_t)bits;
    }
    out->data = bytes;
    out->size = used;
    return WTE_OK;
}

/* One object of either list, whose { has been read. Its id is its rank as yet. */
static wte_status read_token(tekken *t, bool special)
{
    wte__json *j = &t->j;
    const char *key = special ? "token_str" : "token_bytes";
    wte__vocab_token token = { .at = j->token_at, .in_model = !special };
    uint64_t rank = UINT64_MAX;
    token.kind = special ? WTE_TOKEN_SPECIAL : WTE_TOKEN_NORMAL;
    while (wte__json_next(j) == WTE__JSON_KEY) {
        const bool is_rank = wte__json_is(j, "rank"), is_text = wte__json_is(j, key);
        const bool control = wte__json_is(j, "is_control");
        WTE_TRY(next_scalar(t));
        if (is_rank && (!wte__json_u64(j, &rank) || rank >= WTE_LIMIT_VOCAB_IDS))
            return refuse_rank(t);
        if (special && control && j->kind == WTE__JSON_FALSE) token.kind = WTE_TOKEN_ADDED;
        if (!is_text) continue;
        if (j->kind != WTE__JSON_STRING) return refuse(t, "the text of a token is a string");
        if (!special) {
            WTE_TRY(take_bytes(t, &token.text));
            continue;
        }
        token.text = wte__json_text(j, &t->r->v->arena, false);
        if (!token.text.data) return wte__no_memory(t->r->err, j->raw.size, "the text of a token");
    }
    if (j->kind == WTE__JSON_ERROR) return refuse(t, "");
    if (rank == UINT64_MAX || !token.text.data)
        return wte__vocab_refuse(t->r, WTE__VOCAB_MAIN, token.at,
                                 special ? "a special token needs a rank and a token_str"
                                         : "a token needs a rank and token_bytes");
    token.id = (uint32_t)rank;
    t->n_special += special;
    return wte__vocab_add(t->r, &token);
}

static wte_status read_list(tekken *t, bool special, bool *there)
{
    static const char form[] = "vocab and special_tokens are lists of objects";
    if (wte__json_next(&t->j) == WTE__JSON_NULL) return WTE_OK;
    if (*there) return refuse(t, "a second list of this name");
    if (t->j.kind != WTE__JSON_ARRAY) return refuse(t, form);
    *there = true;
    while (wte__json_next(&t->j) == WTE__JSON_OBJECT) WTE_TRY(read_token(t, special));
    return t->j.kind == WTE__JSON_ARRAY_END ? WTE_OK : refuse(t, form);
}

static wte_status read_parts(tekken *t)
{
    wte__json *j = &t->j;
    wte__json_init(j, t->r->v->data[0], t->r->v->data_bytes[0], t->r->name[0], 0);
    if (wte__json_next(j) != WTE__JSON_OBJECT) return refuse(t, "an object was expected");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        if (wte__json_is(j, "config"))
            WTE_TRY(read_config(t));
        else if (wte__json_is(j, "vocab"))
            WTE_TRY(read_list(t, false, &t->has_vocab));
        else if (wte__json_is(j, "special_tokens"))
            WTE_TRY(read_list(t, true, &t->listed));
        else if (!wte__json_skip_value(j))
            return refuse(t, "");
    }
    if (j->kind == WTE__JSON_ERROR) return refuse(t, "");
    if (!t->has_vocab || !t->has_size || !t->has_specials)
        return refuse(t, "a tekken file needs vocab, and in config default_vocab_size and "
                         "default_num_special_tokens");
    return wte__json_next(j) == WTE__JSON_END ? WTE_OK : refuse(t, "");
}

/* A special token that the file does not list. */
static wte_status add_special(tekken *t, uint32_t id)
{
    char text[32];
    const bool early = !t->listed && id < N_EARLY;
    const int n = early ? 0 : snprintf(text, sizeof text, "<SPECIAL_%" PRIu32 ">", id);
    const char *kept =
        early ? early_specials[id] : wte__arena_text(&t->r->v->arena, text, (size_t)n);
    if (!kept) return wte__no_memory(t->r->err, sizeof text, "the text of a token");
    const wte__vocab_token token = { .text = { (const uint8_t *)kept, strlen(kept) },
                                     .id = id,
                                     .kind = early ? WTE_TOKEN_SPECIAL : WTE_TOKEN_UNUSED };
    return wte__vocab_add(t->r, &token);
}

/* Ids from ranks. */
static wte_status place(tekken *t)
{
    wte__vocab_reader *r = t->r;
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        wte__vocab_token token = r->tokens[i];
        if (!token.in_model && token.id >= t->specials)
            return wte__vocab_refuse(r, WTE__VOCAB_MAIN, token.at,
                                     "a special token's rank is not below "
                                     "default_num_special_tokens");
        if (token.in_model && token.id >= t->size - t->specials) continue;
        if (token.in_model) token.id += (uint32_t)t->specials;
        r->tokens[kept++] = token;
    }
    r->n = kept;
    for (uint64_t id = t->listed ? t->n_special : 0; id < t->specials; id++)
        WTE_TRY(add_special(t, (uint32_t)id));
    return WTE_OK;
}

wte_status wte__vocab_read_tekken(wte__vocab_reader *r)
{
    tekken t = { .r = r };
    WTE_TRY(read_parts(&t));
    if (!t.listed && !t.early)
        return wte__fail(r->err, WTE_E_UNSUPPORTED, 0,
                         "%s: it lists no special_tokens, and its version is not one whose special "
                         "tokens are known (v7 and before)",
                         r->name[0]);
    if (t.specials > WTE_LIMIT_TEKKEN_SPECIALS || t.size < t.specials ||
        t.size > WTE_LIMIT_VOCAB_IDS)
        return wte__fail(r->err, t.size < t.specials ? WTE_E_FORMAT : WTE_E_LIMIT, 0,
                         "%s: %" PRIu64 " ids and %" PRIu64
                         " special tokens among them, but at most %u and %u are taken",
                         r->name[0], t.size, t.specials, WTE_LIMIT_VOCAB_IDS,
                         WTE_LIMIT_TEKKEN_SPECIALS);
    return place(&t);
}
