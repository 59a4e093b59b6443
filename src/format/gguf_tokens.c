/* The vocabulary in the metadata of a GGUF file: tokens, their kinds and scores, as a token list.
 * Every array is taken only with the element type and the length that it must have. */
#include "format/gguf.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"

#define TOKENS "tokenizer.ggml.tokens"
#define SCORES "tokenizer.ggml.scores"
#define TYPES  "tokenizer.ggml.token_type"
#define MODEL  "tokenizer.ggml.model"

#define MARK       "\xe2\x96\x81" /* U+2581 */
#define MARK_BYTES 3u

/* How the texts of each tokenizer are spelled. */
static const struct {
    const char *model;
    wte__token_form form;
} forms[] = {
    { "gpt2", WTE_FORM_BYTE_LEVEL },  { "llama", WTE_FORM_METASPACE }, { "t5", WTE_FORM_METASPACE },
    { "gemma4", WTE_FORM_METASPACE }, { "bert", WTE_FORM_WORDPIECE },  { "rwkv", WTE_FORM_PLAIN },
};

static const uint8_t *bytes_at(const wte__gguf *g, uint64_t at)
{
    return g->header + at;
}

/* An array of `count` elements of one of two types; *out NULL when the key is absent. */
static wte_status find_array(const wte__gguf *g, const char *key, uint64_t count,
                             wte__gguf_type type, wte__gguf_type other, const wte__gguf_pair **out,
                             wte_error *err)
{
    const wte__gguf_pair *pair = wte__gguf_find(g, key);
    *out = NULL;
    if (!pair) return WTE_OK;
    WTE_TRY(wte__gguf_once(g, pair, err));
    const bool array = pair->type == WTE__GGUF_ARRAY;
    if (!array || (pair->element != (uint8_t)type && pair->element != (uint8_t)other))
        return wte__fail(err, WTE_E_FORMAT, pair->at,
                         "%s: key '%s' is %s%s, but must be an array of %s (byte %" PRIu64 ")",
                         g->path, key, array ? "an array of " : "",
                         wte__gguf_type_name(array ? pair->element : pair->type),
                         wte__gguf_type_name(type), pair->at);
    if (pair->count != count)
        return wte__fail(err, WTE_E_FORMAT, pair->at,
                         "%s: key '%s' has %" PRIu64 " elements, but there are %" PRIu64
                         " tokens (byte %" PRIu64 ")",
                         g->path, key, pair->count, count, pair->at);
    *out = pair;
    return WTE_OK;
}

/* Text number i of an array of them, of which *at is the place; moves on. The reader has walked
 * over it once, so the lengths are known to stay inside the header. */
static wte__bytes next_text(const wte__gguf *g, uint64_t *at)
{
    const wte__bytes text = { bytes_at(g, *at + 8), wte__gguf_load(bytes_at(g, *at), 8, g->big) };
    *at += 8 + text.size;
    return text;
}

static wte_status copy_texts(const wte__gguf *g, const wte__gguf_pair *tokens, wte_token_list *out,
                             wte_error *err)
{
    uint64_t at = tokens->at, bytes = 0;
    for (uint64_t i = 0; i < tokens->count; i++) bytes += next_text(g, &at).size;
    WTE_TRY(wte__token_list_reserve(out, tokens->count, bytes, err));
    at = tokens->at;
    for (uint64_t i = 0; i < tokens->count; i++)
        WTE_TRY(wte__token_list_add(out, next_text(g, &at), WTE_TAG_NORMAL, err));
    return WTE_OK;
}

static wte_status read_tags(const wte__gguf *g, wte_token_list *out, wte_error *err)
{
    const wte__gguf_pair *types;
    WTE_TRY(find_array(g, TYPES, out->n, WTE__GGUF_I32, WTE__GGUF_U32, &types, err));
    for (uint64_t i = 0; types && i < out->n; i++) {
        const uint64_t at = types->at + 4 * i;
        const int64_t tag = (int32_t)wte__gguf_load(bytes_at(g, at), 4, g->big);
        if (tag < 0 || tag > WTE_TAG_BYTE)
            return wte__fail(err, WTE_E_FORMAT, at,
                             "%s: %s[%" PRIu64 "] is %" PRId64 ", but kinds go from 1 to %d (byte "
                             "%" PRIu64 ")",
                             g->path, TYPES, i, tag, WTE_TAG_BYTE, at);
        if (tag > 0) out->tag[i] = (uint8_t)tag; /* 0: some writers leave normal ones so */
    }
    return WTE_OK;
}

static wte_status read_scores(const wte__gguf *g, wte_token_list *out, wte_error *err)
{
    const wte__gguf_pair *scores;
    WTE_TRY(find_array(g, SCORES, out->n, WTE__GGUF_F32, WTE__GGUF_F32, &scores, err));
    out->scored = scores != NULL;
    for (uint64_t i = 0; scores && i < out->n; i++) {
        const uint32_t bits = (uint32_t)wte__gguf_load(bytes_at(g, scores->at + 4 * i), 4, g->big);
        memcpy(&out->score[i], &bits, sizeof bits);
    }
    return WTE_OK;
}

static wte_status read_form(const wte__gguf *g, wte_token_list *out, wte_error *err)
{
    wte__bytes model;
    bool found;
    WTE_TRY(wte__gguf_text(g, MODEL, &model, &found, err));
    for (size_t i = 0; found && i < sizeof forms / sizeof forms[0]; i++)
        if (model.size == strlen(forms[i].model) &&
            memcmp(model.data, forms[i].model, (size_t)model.size) == 0)
            out->form = forms[i].form;
    return WTE_OK;
}

static bool begins(wte__bytes text, const char *with, uint64_t n)
{
    return text.size >= n && memcmp(text.data, with, (size_t)n) == 0;
}

/* Converters mark the texts of BERT: U+2581 stands before what begins a word, and "##" is taken off
 * what continues one. Whether this was done: some text has the mark and none the "##". */
static bool is_marked(const wte_token_list *list)
{
    bool marked = false;
    if (list->form != WTE_FORM_WORDPIECE) return false;
    for (uint64_t i = 0; i < list->n; i++) {
        const wte__bytes text = wte__token_list_text(list, i);
        if (list->tag[i] == WTE_TAG_CONTROL) continue;
        if (text.size > 2 && begins(text, "##", 2)) return false;
        marked |= text.size > MARK_BYTES && begins(text, MARK, MARK_BYTES);
    }
    return marked;
}

/* BERT's own spelling again. The mark alone stands for "##" and the mark: nothing begins a word
 * with no text. */
static wte_status unmark(const wte_token_list *marked, wte_token_list *out, wte_error *err)
{
    static const wte__bytes hashes = { (const uint8_t *)"##", 2 };
    out->form = marked->form;
    out->scored = marked->scored;
    for (uint64_t i = 0; i < marked->n; i++) {
        wte__bytes text = wte__token_list_text(marked, i);
        const wte__token_tag tag = (wte__token_tag)marked->tag[i];
        const bool word = text.size > MARK_BYTES && begins(text, MARK, MARK_BYTES);
        if (word) {
            text.data += MARK_BYTES;
            text.size -= MARK_BYTES;
        }
        const bool whole = word || tag == WTE_TAG_CONTROL;
        WTE_TRY(wte__token_list_add(out, whole ? text : hashes, tag, err));
        if (!whole) WTE_TRY(wte__token_list_extend(out, text, err));
        out->score[i] = marked->score[i];
    }
    return WTE_OK;
}

wte_status wte__gguf_tokens(const wte__gguf *g, wte_token_list *out, wte_error *err)
{
    const wte__gguf_pair *named = wte__gguf_find(g, TOKENS), *tokens = NULL;
    const wte__gguf_type texts = WTE__GGUF_STRING;
    if (named) WTE_TRY(find_array(g, TOKENS, named->count, texts, texts, &tokens, err));
    if (!tokens) return WTE_OK;
    if (tokens->count > WTE_LIMIT_GGUF_TOKENS)
        return wte__fail(err, WTE_E_LIMIT, tokens->at,
                         "%s: key '%s' has %" PRIu64 " elements, but at most %u are taken (byte "
                         "%" PRIu64 ")",
                         g->path, TOKENS, tokens->count, WTE_LIMIT_GGUF_TOKENS, tokens->at);
    WTE_TRY(copy_texts(g, tokens, out, err));
    WTE_TRY(read_tags(g, out, err));
    WTE_TRY(read_scores(g, out, err));
    WTE_TRY(read_form(g, out, err));
    if (!is_marked(out)) return WTE_OK;
    wte_token_list plain;
    wte__token_list_init(&plain, out->allocator);
    const wte_status status = unmark(out, &plain, err);
    wte__token_list_clear(status == WTE_OK ? out : &plain);
    if (status == WTE_OK) *out = plain;
    return status;
}
