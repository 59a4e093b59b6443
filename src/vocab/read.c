/* Readers of tokenizer.json, of a JSON map from text to id, and of one token a line. Each makes one
 * pass and collects tokens; what they mean together is build.c's affair. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/utf8.h"
#include "vocab/vocab.h"

wte_status wte__vocab_refuse(const wte__vocab_reader *r, uint8_t file, uint64_t at,
                             const char *what)
{
    wte__json place;
    wte__json_init(&place, r->v->data[file], r->v->data_bytes[file], r->name[file], 0);
    place.token_at = at;
    return wte__json_refuse(&place, r->err, what);
}

static wte_status refuse(const wte__vocab_reader *r, const wte__json *j, const char *what)
{
    if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
    return wte__json_refuse(j, r->err, what);
}

static void open_json(wte__json *j, const wte__vocab_reader *r, uint8_t file)
{
    wte__json_init(j, r->v->data[file], r->v->data_bytes[file], r->name[file], 0);
}

wte_status wte__vocab_add(wte__vocab_reader *r, const wte__vocab_token *token)
{
    if (token->text.size > WTE_LIMIT_TOKEN_TEXT)
        return wte__fail(r->err, WTE_E_LIMIT, token->at,
                         "%s: the token at byte %" PRIu64 " has %" PRIu64
                         " bytes, but at most %u are taken",
                         r->name[token->file], token->at, token->text.size, WTE_LIMIT_TOKEN_TEXT);
    if (!wte__grow(r->v->allocator, (void **)&r->tokens, &r->cap, r->n + 1, sizeof *r->tokens))
        return wte__no_memory(r->err, (uint64_t)(r->n + 1) * sizeof *r->tokens,
                              "the tokens of a vocabulary");
    r->tokens[r->n++] = *token;
    return WTE_OK;
}

/* The number just read as the id of a token. */
static wte_status take_id(const wte__vocab_reader *r, const wte__json *j, wte__bytes text,
                          uint32_t *id)
{
    char shown[WTE__NAME_SHOWN], what[2 * WTE__NAME_SHOWN];
    uint64_t value;
    const char *name = wte__show(shown, text.data, text.size);
    if (!wte__json_u64(j, &value)) {
        snprintf(what, sizeof what, "the id of '%s' is not a whole number from 0 to %u", name,
                 WTE_LIMIT_VOCAB_IDS - 1);
        return refuse(r, j, what);
    }
    if (value >= WTE_LIMIT_VOCAB_IDS)
        return wte__fail(r->err, WTE_E_LIMIT, j->token_at,
                         "%s: byte %" PRIu64 ": '%s' has id %" PRIu64 ", but ids end at %u",
                         j->name, j->token_at, name, value, WTE_LIMIT_VOCAB_IDS - 1);
    *id = (uint32_t)value;
    return WTE_OK;
}

static wte_status take_text(const wte__vocab_reader *r, const wte__json *j, wte__bytes *text)
{
    *text = wte__json_text(j, &r->v->arena, false);
    if (!text->data) return wte__no_memory(r->err, j->raw.size, "the text of a token");
    return WTE_OK;
}

/* The rest of an object of ids, whose { has been read. */
static wte_status read_ids(wte__vocab_reader *r, wte__json *j, uint8_t file, bool added)
{
    wte__vocab_token token = { .kind = added ? WTE_TOKEN_ADDED : WTE_TOKEN_NORMAL,
                               .file = file,
                               .in_model = !added };
    while (wte__json_next(j) == WTE__JSON_KEY) {
        token.at = j->token_at;
        WTE_TRY(take_text(r, j, &token.text));
        wte__json_next(j);
        if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
        WTE_TRY(take_id(r, j, token.text, &token.id));
        WTE_TRY(wte__vocab_add(r, &token));
    }
    return j->kind == WTE__JSON_ERROR ? wte__json_fail(j, r->err) : WTE_OK;
}

/* The rest of a list of [text, score], whose [ has been read: the place is the id. */
static wte_status read_scored(wte__vocab_reader *r, wte__json *j)
{
    static const char form[] = "a piece of the vocabulary is [text, score]";
    wte__vocab_token token = { .kind = WTE_TOKEN_NORMAL, .in_model = true };
    while (wte__json_next(j) == WTE__JSON_ARRAY) {
        if (wte__json_next(j) != WTE__JSON_STRING) return refuse(r, j, form);
        token.at = j->token_at;
        WTE_TRY(take_text(r, j, &token.text));
        if (wte__json_next(j) != WTE__JSON_NUMBER) return refuse(r, j, form);
        if (wte__json_next(j) != WTE__JSON_ARRAY_END) return refuse(r, j, form);
        if (token.id >= WTE_LIMIT_VOCAB_IDS)
            return wte__fail(r->err, WTE_E_LIMIT, token.at, "%s: more than %u tokens", j->name,
                             WTE_LIMIT_VOCAB_IDS);
        WTE_TRY(wte__vocab_add(r, &token));
        token.id++;
    }
    return j->kind == WTE__JSON_ARRAY_END ? WTE_OK : refuse(r, j, form);
}

/* The next value, whole; j->kind is its scalar kind, or the end of its container. */
static wte_status read_any(const wte__vocab_reader *r, wte__json *j)
{
    wte__json_kind kind = wte__json_next(j);
    if (kind == WTE__JSON_OBJECT || kind == WTE__JSON_ARRAY) (void)wte__json_skip_rest(j);
    return j->kind == WTE__JSON_ERROR ? wte__json_fail(j, r->err) : WTE_OK;
}

/* One object of added_tokens, whose { has been read. */
static wte_status read_added(wte__vocab_reader *r, wte__json *j)
{
    wte__vocab_token token = { .kind = WTE_TOKEN_ADDED, .at = j->token_at };
    wte__json id = { .kind = WTE__JSON_NULL };
    while (wte__json_next(j) == WTE__JSON_KEY) {
        bool is_id = wte__json_is(j, "id"), is_content = wte__json_is(j, "content");
        bool is_special = wte__json_is(j, "special");
        WTE_TRY(read_any(r, j));
        if (is_content && j->kind != WTE__JSON_STRING)
            return refuse(r, j, "the content of an added token is a string");
        if (is_id && j->kind != WTE__JSON_NUMBER)
            return refuse(r, j, "the id of an added token is a number");
        if (is_content) token.at = j->token_at;
        if (is_content) WTE_TRY(take_text(r, j, &token.text));
        if (is_id) id = *j;
        if (is_special && j->kind == WTE__JSON_TRUE) token.kind = WTE_TOKEN_SPECIAL;
    }
    if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
    if (!token.text.data || id.kind != WTE__JSON_NUMBER)
        return wte__vocab_refuse(r, 0, token.at, "an added token needs an id and a content");
    WTE_TRY(take_id(r, &id, token.text, &token.id));
    return wte__vocab_add(r, &token);
}

static wte_status read_added_list(wte__vocab_reader *r, wte__json *j)
{
    static const char form[] = "added_tokens is a list of objects";
    if (wte__json_next(j) == WTE__JSON_NULL) return WTE_OK;
    if (j->kind != WTE__JSON_ARRAY) return refuse(r, j, form);
    while (wte__json_next(j) == WTE__JSON_OBJECT) WTE_TRY(read_added(r, j));
    return j->kind == WTE__JSON_ARRAY_END ? WTE_OK : refuse(r, j, form);
}

/* A normalizer, pre-tokenizer or decoder, however nested: only what it says about spelling. */
static wte_status read_part(wte__vocab_reader *r, wte__json *j)
{
    bool type_metaspace = false, other_mark = false, next_is_type = false, next_is_mark = false;
    uint32_t depth = j->depth;
    do {
        wte__json_next(j);
        if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
        if (j->kind == WTE__JSON_STRING && next_is_type) {
            r->byte_level |= wte__json_is(j, "ByteLevel");
            r->wordpiece |= wte__json_is(j, "WordPiece");
            r->byte_fallback |= wte__json_is(j, "ByteFallback");
            type_metaspace |= wte__json_is(j, "Metaspace");
        } else if (j->kind == WTE__JSON_STRING) {
            bool mark = wte__json_is(j, WTE__METASPACE);
            r->metaspace |= mark;
            other_mark |= next_is_mark && !mark;
        }
        next_is_type = j->kind == WTE__JSON_KEY && wte__json_is(j, "type");
        next_is_mark = j->kind == WTE__JSON_KEY && wte__json_is(j, "replacement");
    } while (j->depth > depth || j->kind == WTE__JSON_KEY);
    r->metaspace |= type_metaspace && !other_mark;
    return WTE_OK;
}

static wte_status read_vocab(wte__vocab_reader *r, wte__json *j)
{
    switch (wte__json_next(j)) {
    case WTE__JSON_OBJECT: return read_ids(r, j, 0, false);
    case WTE__JSON_ARRAY: return read_scored(r, j);
    default: return refuse(r, j, "the model's vocab is neither an object nor a list");
    }
}

static wte_status read_model(wte__vocab_reader *r, wte__json *j, bool *found)
{
    if (wte__json_next(j) != WTE__JSON_OBJECT) return refuse(r, j, "the model is not an object");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        if (wte__json_is(j, "vocab")) {
            if (*found) return refuse(r, j, "a second vocab of the model");
            *found = true;
            WTE_TRY(read_vocab(r, j));
            continue;
        }
        bool type = wte__json_is(j, "type"), prefix = wte__json_is(j, "continuing_subword_prefix");
        bool fallback = wte__json_is(j, "byte_fallback");
        WTE_TRY(read_any(r, j));
        if (j->kind == WTE__JSON_STRING)
            r->wordpiece |=
                (type && wte__json_is(j, "WordPiece")) || (prefix && wte__json_is(j, "##"));
        r->byte_fallback |= fallback && j->kind == WTE__JSON_TRUE;
    }
    return j->kind == WTE__JSON_ERROR ? wte__json_fail(j, r->err) : WTE_OK;
}

static wte_status read_version(wte__vocab_reader *r, wte__json *j)
{
    char shown[WTE__NAME_SHOWN];
    wte__json_next(j);
    if (j->kind == WTE__JSON_STRING && wte__json_is(j, "1.0")) return WTE_OK;
    if (j->kind != WTE__JSON_STRING) return refuse(r, j, "the version is not a string");
    return wte__fail(r->err, WTE_E_UNSUPPORTED, j->token_at,
                     "%s: version '%s' of tokenizer.json, but only 1.0 is known", j->name,
                     wte__show(shown, j->raw.data, j->raw.size));
}

wte_status wte__vocab_read_tokenizer(wte__vocab_reader *r)
{
    wte__json j;
    bool model = false, added = false;
    open_json(&j, r, 0);
    if (wte__json_next(&j) != WTE__JSON_OBJECT) return refuse(r, &j, "an object was expected");
    while (wte__json_next(&j) == WTE__JSON_KEY) {
        if (wte__json_is(&j, "model")) {
            WTE_TRY(read_model(r, &j, &model));
        } else if (wte__json_is(&j, "added_tokens")) {
            if (added) return refuse(r, &j, "a second added_tokens");
            added = true;
            WTE_TRY(read_added_list(r, &j));
        } else if (wte__json_is(&j, "normalizer") || wte__json_is(&j, "pre_tokenizer") ||
                   wte__json_is(&j, "decoder")) {
            WTE_TRY(read_part(r, &j));
        } else if (wte__json_is(&j, "version")) {
            WTE_TRY(read_version(r, &j));
        } else if (!wte__json_skip_value(&j)) {
            return wte__json_fail(&j, r->err);
        }
    }
    if (j.kind == WTE__JSON_ERROR) return wte__json_fail(&j, r->err);
    if (!model) return refuse(r, &j, "the tokenizer ends without a model with a vocab");
    return wte__json_next(&j) == WTE__JSON_END ? WTE_OK : wte__json_fail(&j, r->err);
}

wte_status wte__vocab_read_map(wte__vocab_reader *r, uint8_t file, bool added)
{
    wte__json j;
    open_json(&j, r, file);
    if (wte__json_next(&j) != WTE__JSON_OBJECT) return refuse(r, &j, "an object was expected");
    WTE_TRY(read_ids(r, &j, file, added));
    return wte__json_next(&j) == WTE__JSON_END ? WTE_OK : wte__json_fail(&j, r->err);
}

/* Offset of the first byte that is invalid UTF-8 or NUL. */
static uint64_t first_bad(wte__bytes text)
{
    uint32_t code, n;
    for (uint64_t at = 0; at < text.size; at += n) {
        n = 1;
        if (text.data[at] > 0 && text.data[at] < 0x80) continue;
        n = wte__utf8_get(text.data + at, text.size - at, &code);
        if (n == 0 || code == 0) return at;
    }
    return text.size;
}

/* Field number `column` of a line, between tabs; empty where the line has fewer. */
static wte__bytes field_of(wte__bytes line, size_t column)
{
    const uint8_t *end = line.data + line.size, *tab;
    for (; column; column--) {
        tab = memchr(line.data, '\t', (size_t)(end - line.data));
        if (!tab) return (wte__bytes){ end, 0 };
        line.data = tab + 1;
    }
    tab = memchr(line.data, '\t', (size_t)(end - line.data));
    line.size = (uint64_t)((tab ? tab : end) - line.data);
    return line;
}

/* One token a line from byte `at`: the whole line, or one of its fields. */
static wte_status read_lines(wte__vocab_reader *r, uint64_t at, bool fields, size_t column)
{
    const uint8_t *data = (const uint8_t *)r->v->data[0];
    uint64_t size = r->v->data_bytes[0], next;
    wte__vocab_token token = { .kind = WTE_TOKEN_NORMAL, .in_model = true };
    for (; at < size; at = next) {
        const uint8_t *end = memchr(data + at, '\n', (size_t)(size - at));
        wte__bytes line = { data + at, end ? (uint64_t)(end - data) - at : size - at };
        next = at + line.size + (end != NULL);
        if (end && line.size && line.data[line.size - 1] == '\r') line.size--;
        uint64_t bad = first_bad(line);
        if (bad < line.size)
            return wte__vocab_refuse(r, 0, at + bad,
                                     line.data[bad] ? "not valid UTF-8, so this is not a vocabulary"
                                                    : "a NUL byte, so this is not a vocabulary");
        if (token.id >= WTE_LIMIT_VOCAB_IDS)
            return wte__fail(r->err, WTE_E_LIMIT, at, "%s: more than %u lines", r->name[0],
                             WTE_LIMIT_VOCAB_IDS);
        token.at = at;
        token.text = fields ? field_of(line, column) : line;
        WTE_TRY(wte__vocab_add(r, &token));
        token.id++;
    }
    return WTE_OK;
}

wte_status wte__vocab_read_lines(wte__vocab_reader *r)
{
    return read_lines(r, 0, false, 0);
}

static bool is_label(wte__bytes title)
{
    static const char *const labels[] = { "label", "word", "token", "name", "text" };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (title.size == strlen(labels[i]) &&
            strncasecmp((const char *)title.data, labels[i], (size_t)title.size) == 0)
            return true;
    return false;
}

/* The first line is a title where there are several columns, as in TensorFlow's projector; texts
 * are in the column called label, word, ..., or in the first. */
wte_status wte__vocab_read_metadata(wte__vocab_reader *r)
{
    const uint8_t *data = (const uint8_t *)r->v->data[0];
    const uint64_t size = r->v->data_bytes[0];
    const uint8_t *end = memchr(data, '\n', (size_t)size);
    wte__bytes title = { data, end ? (uint64_t)(end - data) : size };
    if (!memchr(data, '\t', (size_t)title.size)) return wte__vocab_read_lines(r);
    const uint64_t first = title.size + (end != NULL);
    if (title.data[title.size - 1] == '\r') title.size--;
    size_t column = 0, columns = 1;
    for (uint64_t i = 0; i < title.size; i++) columns += title.data[i] == '\t';
    for (size_t i = columns; i-- > 0;)
        if (is_label(field_of(title, i))) column = i;
    return read_lines(r, first, true, column);
}
