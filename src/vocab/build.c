/* From the tokens that a file lists to entries by id: ids and texts that clash, holes, the spelling
 * in use, and the name set. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "vocab/vocab.h"

wte__bytes wte__vocab_entry_text(const wte__vocab_entry *entry)
{
    wte__bytes text = { entry->text, entry->bytes };
    return text;
}

static bool same_text(wte__bytes a, wte__bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, (size_t)a.size) == 0;
}

/* The table of entries: as long as the largest id asks, if not far beyond the tokens there are. */
static wte_status make_entries(wte__vocab_reader *r)
{
    wte_vocab *v = r->v;
    const wte__vocab_token *last = &r->tokens[0];
    for (size_t i = 1; i < r->n; i++)
        if (r->tokens[i].id > last->id) last = &r->tokens[i];
    uint64_t size = (uint64_t)last->id + 1;
    if (size > r->n + (uint64_t)WTE_LIMIT_VOCAB_HOLES)
        return wte__fail(
            r->err, WTE_E_LIMIT, last->at,
            "%s: byte %" PRIu64 ": id %" PRIu32
            ", but only %zu tokens are listed and at most %u ids may be unnamed between them",
            r->name[last->file], last->at, last->id, r->n, WTE_LIMIT_VOCAB_HOLES);
    v->entries = wte__alloc_zeroed(v->allocator, (size_t)size * sizeof *v->entries);
    if (!v->entries) return wte__no_memory(r->err, size * sizeof *v->entries, "token texts");
    v->size = size;
    return WTE_OK;
}

/* What is said of a token twice: the more particular counts. "Unused" says no more than "normal".
 */
static bool says_more(uint8_t kind, uint8_t before)
{
    if (kind == WTE_TOKEN_UNUSED) return before <= WTE_TOKEN_NORMAL;
    return kind > (before == WTE_TOKEN_UNUSED ? WTE_TOKEN_NORMAL : before);
}

static wte_status refuse_moved(const wte__vocab_reader *r, const wte__vocab_token *token,
                               uint64_t before)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(
        r->err, WTE_E_UNSUPPORTED, token->at,
        "%s: '%s' is id %" PRIu32 " here (byte %" PRIu64 "), but %" PRIu64
        " in %s: this class of tokenizer moves ids in a way that is not known, so that no token is "
        "named; with the model's tokenizer.json here they would be",
        r->name[token->file], wte__show(shown, token->text.data, token->text.size), token->id,
        token->at, before, r->name[WTE__VOCAB_MAIN]);
}

/* Tokens that replace others may not contradict where the special pieces are: if they do, all ids
 * are other ones than was thought. */
static wte_status check_moved(const wte__vocab_reader *r, wte__names *specials)
{
    for (size_t i = 0; i < r->n; i++) {
        const wte__vocab_token *token = &r->tokens[i];
        uint64_t id = token->id;
        bool found = false;
        if (token->replaces) {
            if (wte__names_find(specials, token->text, &id) && id != token->id)
                return refuse_moved(r, token, id);
        } else if (token->kind == WTE_TOKEN_SPECIAL &&
                   !wte__names_add(specials, token->text, &id, &found)) {
            return wte__no_memory(r->err, i, "token names");
        }
    }
    return WTE_OK;
}

static wte_status check_replacing(const wte__vocab_reader *r)
{
    wte__names specials;
    if (r->n == 0 || !r->tokens[r->n - 1].replaces) return WTE_OK; /* they come last */
    wte__names_init(&specials, r->v->allocator);
    const wte_status status = check_moved(r, &specials);
    wte__names_clear(&specials);
    return status;
}

static void replace(wte__vocab_entry *entry, const wte__vocab_token *token)
{
    entry->text = token->text.data;
    entry->bytes = (uint32_t)token->text.size;
    entry->kind = token->kind;
    entry->in_model = false;
}

/* Two tokens may share an id only if they are one: an added token repeats its vocabulary entry. */
static wte_status place_tokens(wte__vocab_reader *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const wte__vocab_token *token = &r->tokens[i];
        wte__vocab_entry *entry = &r->v->entries[token->id];
        if (entry->text && token->replaces &&
            !same_text(wte__vocab_entry_text(entry), token->text)) {
            replace(entry, token);
            continue;
        }
        if (!entry->text) {
            entry->text = token->text.data;
            entry->bytes = (uint32_t)token->text.size;
            r->v->count++;
        } else if (!same_text(wte__vocab_entry_text(entry), token->text)) {
            char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN], what[3 * WTE__NAME_SHOWN];
            snprintf(what, sizeof what, "id %" PRIu32 " is '%s' here, but '%s' before", token->id,
                     wte__show(a, token->text.data, token->text.size),
                     wte__show(b, entry->text, entry->bytes));
            return wte__vocab_refuse(r, token->file, token->at, what);
        }
        if (says_more(token->kind, entry->kind)) entry->kind = token->kind;
        entry->in_model |= token->in_model;
    }
    return WTE_OK;
}

/* Spelling, as the texts themselves show it. */
typedef struct signs {
    bool letter[256]; /* the alphabet's characters that are tokens */
    bool space_word;  /* a token that begins with the alphabet's space and goes on */
    bool lone_mark, literal_space, continuation;
    uint32_t byte_tokens;
} signs;

static void look_at(signs *s, wte__bytes text)
{
    uint32_t code, n = wte__utf8_get(text.data, text.size, &code);
    uint8_t byte;
    if (n && n == text.size && wte__alphabet_byte(code, &byte)) s->letter[byte] = true;
    if (n && n < text.size && code == wte__alphabet_code(' ')) s->space_word = true;
    if (text.size == WTE__METASPACE_BYTES &&
        memcmp(text.data, WTE__METASPACE, WTE__METASPACE_BYTES) == 0)
        s->lone_mark = true;
    if (text.size && memchr(text.data, ' ', (size_t)text.size)) s->literal_space = true;
    if (text.size > 2 && memcmp(text.data, "##", 2) == 0 && text.data[2] != '#')
        s->continuation = true;
    if (wte__byte_token(text, &byte)) s->byte_tokens++;
}

static wte_vocab_spelling guess_spelling(const signs *s)
{
    bool alphabet = s->space_word;
    for (uint32_t i = 0; i < 256; i++) alphabet &= s->letter[i];
    if (alphabet) return WTE_SPELLING_BYTE_LEVEL;
    if (s->lone_mark && !s->literal_space) return WTE_SPELLING_METASPACE;
    return s->continuation ? WTE_SPELLING_WORDPIECE : WTE_SPELLING_PLAIN;
}

static void settle_spelling(wte__vocab_reader *r)
{
    wte_vocab *v = r->v;
    signs s = { .byte_tokens = 0 };
    const bool plain = r->told && !r->byte_level && !r->metaspace && !r->wordpiece;
    for (uint64_t id = 0; id < v->size && !plain; id++)
        if (v->entries[id].in_model) look_at(&s, wte__vocab_entry_text(&v->entries[id]));
    if (!r->told)
        v->spelling = guess_spelling(&s);
    else if (r->byte_level)
        v->spelling = WTE_SPELLING_BYTE_LEVEL;
    else if (r->metaspace)
        v->spelling = WTE_SPELLING_METASPACE;
    else
        v->spelling = r->wordpiece ? WTE_SPELLING_WORDPIECE : WTE_SPELLING_PLAIN;

    bool bytes = r->byte_fallback || s.byte_tokens == 256;
    for (uint64_t id = 0; id < v->size; id++) {
        wte__vocab_entry *entry = &v->entries[id];
        wte__bytes text = wte__vocab_entry_text(entry);
        uint8_t byte;
        if (entry->kind == WTE_TOKEN_NORMAL && bytes && wte__byte_token(text, &byte))
            entry->kind = WTE_TOKEN_BYTE;
        /* added tokens are kept out of the byte alphabet by every tokenizer that has one */
        const bool ordinary = entry->kind == WTE_TOKEN_NORMAL || entry->kind == WTE_TOKEN_UNUSED;
        if (v->spelling == WTE_SPELLING_METASPACE || ordinary)
            entry->translated = wte__spelling_applies(v->spelling, text);
        entry->translated |= entry->kind == WTE_TOKEN_BYTE;
    }
}

/* Another id of a text that is there. */
static wte_status enter_again(wte__vocab_reader *r, uint64_t id, wte__bytes text)
{
    wte_vocab *v = r->v;
    const unsigned form = wte__vocab_form(&v->entries[id]);
    uint64_t at = v->n_again;
    bool found;
    if (!wte__grow(v->allocator, (void **)&v->again, &v->again_cap, v->n_again + 1,
                   sizeof *v->again) ||
        !wte__names_add(&v->again_names, text, &at, &found))
        return wte__no_memory(r->err, (v->n_again + 1) * sizeof *v->again, "token names");
    if (!found) memset(&v->again[v->n_again++], 0, sizeof *v->again);
    if (v->again[at].count[form]++ == 0) v->again[at].first[form] = id;
    return WTE_OK;
}

bool wte__vocab_is_odd(const wte_vocab *v, const wte__vocab_entry *entry)
{
    return entry->bytes > WTE__VOCAB_LONG ||
           (v->spelling == WTE_SPELLING_METASPACE && entry->translated &&
            memchr(entry->text, ' ', entry->bytes));
}

static wte_status add_odd(wte__vocab_reader *r, uint64_t id, wte__bytes text)
{
    wte_vocab *v = r->v;
    uint64_t at = v->n_odd;
    bool found;
    if (!wte__grow(v->allocator, (void **)&v->odd, &v->odd_cap, v->n_odd + 1, sizeof *v->odd) ||
        !wte__names_add(&v->odd_names, text, &at, &found))
        return wte__no_memory(r->err, (uint64_t)(v->n_odd + 1) * sizeof *v->odd, "token names");
    if (!found) memset(&v->odd[v->n_odd++], 0, sizeof *v->odd);
    wte__vocab_odd *odd = &v->odd[at];
    if (odd->count < WTE__ODD_KEPT) odd->id[odd->count] = (uint32_t)id;
    odd->count++;
    return WTE_OK;
}

/* Under its spelled text, and under the written one when that is another. */
static wte_status enter_odd(wte__vocab_reader *r, uint64_t id, wte__bytes text)
{
    wte_vocab *v = r->v;
    const wte__vocab_entry *entry = &v->entries[id];
    WTE_TRY(add_odd(r, id, text));
    if (!entry->translated) return WTE_OK;
    const uint64_t n = wte__vocab_written(v, entry, NULL, 0);
    uint8_t *out = wte__arena_take(&v->arena, (size_t)n + 1);
    if (!out) return wte__no_memory(r->err, n, "token names");
    (void)wte__vocab_written(v, entry, out, n);
    const wte__bytes written = { out, n };
    return same_text(written, text) ? WTE_OK : add_odd(r, id, written);
}

static wte_status enter_name(wte__vocab_reader *r, uint64_t id)
{
    wte_vocab *v = r->v;
    wte__bytes text = wte__vocab_entry_text(&v->entries[id]);
    uint64_t first = id;
    bool found;
    if (!wte__names_add(&v->names, text, &first, &found))
        return wte__no_memory(r->err, v->count, "token names");
    v->entries[id].repeated = found;
    v->duplicates += found;
    if (!wte__utf8_valid(text)) v->not_utf8++;
    if (!wte__vocab_is_odd(v, &v->entries[id])) return found ? enter_again(r, id, text) : WTE_OK;
    return enter_odd(r, id, text);
}

/* How many tokens ahead of the one that is entered the place of another is asked for. */
#define AHEAD 16u

static void expect_name(const wte__vocab_reader *r, uint64_t id)
{
    const wte_vocab *v = r->v;
    if (id < v->size && v->entries[id].in_model)
        wte__names_expect(&v->names, wte__vocab_entry_text(&v->entries[id]));
}

/* A text with several ids means the last one the model's own vocabulary gives it, as where a later
 * line overwrites an earlier one in the reference (of word vectors the first); after those come ids
 * of added tokens. */
static wte_status enter_names(wte__vocab_reader *r)
{
    wte_vocab *v = r->v;
    if (!wte__names_reserve(&v->names, v->count))
        return wte__no_memory(r->err, v->count, "token names");
    for (uint64_t i = 0; i < v->size; i++) {
        const uint64_t id = r->first_wins ? i : v->size - 1 - i;
        expect_name(r, r->first_wins ? id + AHEAD
                                     : id - AHEAD); /* below 0 it wraps, and is not an id either */
        if (v->entries[id].in_model) WTE_TRY(enter_name(r, id));
    }
    for (uint64_t id = 0; id < v->size; id++)
        if (v->entries[id].text && !v->entries[id].in_model) WTE_TRY(enter_name(r, id));
    return WTE_OK;
}

wte_status wte__vocab_settle(wte__vocab_reader *r)
{
    settle_spelling(r);
    return enter_names(r);
}

wte_status wte__vocab_build(wte__vocab_reader *r)
{
    if (r->n == 0) return wte__fail(r->err, WTE_E_FORMAT, 0, "%s: holds no tokens", r->name[0]);
    WTE_TRY(check_replacing(r));
    WTE_TRY(make_entries(r));
    WTE_TRY(place_tokens(r));
    return wte__vocab_settle(r);
}
