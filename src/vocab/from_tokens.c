/* A vocabulary from the list of tokens that a file of tensors carries: token i has id i. The texts
 * stay in the list. */
#include <inttypes.h>

#include "base/error.h"
#include "vocab/vocab.h"

static uint8_t kind_of(uint8_t tag)
{
    switch (tag) {
    case WTE_TAG_UNKNOWN:
    case WTE_TAG_CONTROL: return WTE_TOKEN_SPECIAL;
    case WTE_TAG_USER: return WTE_TOKEN_ADDED;
    case WTE_TAG_UNUSED: return WTE_TOKEN_UNUSED;
    case WTE_TAG_BYTE: return WTE_TOKEN_BYTE;
    default: return WTE_TOKEN_NORMAL;
    }
}

static wte_status take_entries(wte_vocab *v, const wte_token_list *tokens, const char *name,
                               wte_error *err)
{
    if (tokens->n == 0) return wte__fail(err, WTE_E_FORMAT, 0, "%s: holds no tokens", name);
    if (tokens->n > WTE_LIMIT_VOCAB_IDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_LIMIT_VOCAB_IDS,
                         "%s: lists %" PRIu64 " tokens, but ids of a vocabulary end at %u", name,
                         tokens->n, WTE_LIMIT_VOCAB_IDS - 1);
    v->entries = wte__alloc_array(v->allocator, tokens->n, sizeof *v->entries);
    if (!v->entries) return wte__no_memory(err, tokens->n * sizeof *v->entries, "token texts");
    v->size = v->count = tokens->n;
    for (uint64_t id = 0; id < tokens->n; id++) {
        const uint8_t kind = kind_of(tokens->tag[id]);
        const wte__bytes text = wte__token_list_text(tokens, id);
        if (text.size > WTE_LIMIT_TOKEN_TEXT)
            return wte__fail(err, WTE_E_LIMIT, id,
                             "%s: token %" PRIu64 " has %" PRIu64
                             " bytes, but at most %u are taken",
                             name, id, text.size, WTE_LIMIT_TOKEN_TEXT);
        const bool added = kind == WTE_TOKEN_ADDED || kind == WTE_TOKEN_SPECIAL;
        const wte__vocab_entry entry = {
            .text = text.data, .bytes = (uint32_t)text.size, .kind = kind, .in_model = !added
        };
        v->entries[id] = entry;
    }
    return WTE_OK;
}

wte_status wte_vocab_from_tokens(const wte_token_list *tokens, const char *name,
                                 const wte_vocab_options *opt, wte_vocab **out, wte_error *err)
{
    wte_vocab_options o;
    wte_vocab *v = NULL;
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(wte__need(out, "wte_vocab_from_tokens: out", err));
    *out = NULL;
    WTE_TRY(wte__need(name, "wte_vocab_from_tokens: name", err));
    WTE_TRY(wte__need(tokens, "wte_vocab_from_tokens: tokens", err));
    WTE_TRY(wte__vocab_options_take(&o, opt, err));
    wte_status status = wte__vocab_create(&o, name, WTE_VOCAB_TOKENS, &v, err);
    if (status == WTE_OK) status = take_entries(v, tokens, wte__show_path(shown, name), err);
    if (status == WTE_OK) {
        wte__vocab_reader r = { .v = v, .err = err };
        r.told = tokens->form != WTE_FORM_GUESS;
        r.byte_level = tokens->form == WTE_FORM_BYTE_LEVEL;
        r.metaspace = tokens->form == WTE_FORM_METASPACE;
        r.wordpiece = tokens->form == WTE_FORM_WORDPIECE;
        r.first_wins = tokens->first_wins;
        status = wte__vocab_settle(&r);
    }
    if (status != WTE_OK) {
        wte_vocab_free(v);
        return status;
    }
    *out = v;
    return WTE_OK;
}
