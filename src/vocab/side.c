/* Files next to a vocabulary that define ids: a few scalars of tokenizer_config.json and
 * config.json, and added_tokens_decoder, which overrides vocabularies other than tokenizer.json. */
#include <string.h>

#include "base/error.h"
#include "vocab/layout.h"

static void keep(const wte__json *j, char *out, size_t cap)
{
    const uint64_t n = wte__json_decode(j, NULL);
    out[0] = '\0';
    if (n >= cap) return; /* longer than any name that is known here */
    wte__json_decode(j, out);
    out[n] = '\0';
}

static void cut_end(char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    if (n > k && strcmp(name + n - k, end) == 0) name[n - k] = '\0';
}

static void keep_class(const wte__json *j, wte__vocab_side *side)
{
    keep(j, side->class_name, sizeof side->class_name);
    cut_end(side->class_name, "Fast");
    cut_end(side->class_name, "Tokenizer");
}

static void keep_id(const wte__json *j, int64_t *id)
{
    if (j->kind != WTE__JSON_NUMBER || !wte__json_i64(j, id)) *id = -1;
}

/* The value just read, of one key of the outermost object. */
static void take(const wte__json *j, const wte__json *key, wte__vocab_side *side, bool model)
{
    const bool text = j->kind == WTE__JSON_STRING, number = j->kind == WTE__JSON_NUMBER;
    if (text && wte__json_is(key, "tokenizer_class") && !side->class_name[0]) keep_class(j, side);
    if (model) {
        if (text && wte__json_is(key, "model_type"))
            keep(j, side->model_type, sizeof side->model_type);
        if (wte__json_is(key, "pad_token_id")) keep_id(j, &side->pad);
        if (wte__json_is(key, "bos_token_id")) keep_id(j, &side->bos);
        if (wte__json_is(key, "eos_token_id")) keep_id(j, &side->eos);
        if (wte__json_is(key, "vocab_size")) keep_id(j, &side->vocab_size);
        return;
    }
    if (text && wte__json_is(key, "language_codes")) keep(j, side->codes, sizeof side->codes);
    if (number && wte__json_is(key, "offset")) side->has_offset = wte__json_u64(j, &side->offset);
    if (number && wte__json_is(key, "extra_ids"))
        side->has_extra = wte__json_u64(j, &side->extra_ids);
}

static wte_status read_scalars(const wte__vocab_reader *r, uint8_t file, wte__vocab_side *side)
{
    wte__json j, key;
    if (!r->v->data[file]) return WTE_OK;
    wte__json_init(&j, r->v->data[file], r->v->data_bytes[file], r->name[file], WTE__JSON_PYTHON);
    if (wte__json_next(&j) != WTE__JSON_OBJECT)
        return j.kind == WTE__JSON_ERROR ? wte__json_fail(&j, r->err)
                                         : wte__json_refuse(&j, r->err, "an object was expected");
    while (wte__json_next(&j) == WTE__JSON_KEY) {
        key = j;
        wte__json_next(&j);
        if (j.kind == WTE__JSON_OBJECT || j.kind == WTE__JSON_ARRAY)
            (void)wte__json_skip_rest(&j);
        else
            take(&j, &key, side, file == WTE__VOCAB_MODEL_CONFIG);
        if (j.kind == WTE__JSON_ERROR) break;
    }
    return j.kind == WTE__JSON_ERROR ? wte__json_fail(&j, r->err) : WTE_OK;
}

wte_status wte__vocab_side_read(const wte__vocab_reader *r, wte__vocab_side *side)
{
    const wte__vocab_side nothing = { .pad = -1, .bos = -1, .eos = -1, .vocab_size = -1 };
    *side = nothing;
    WTE_TRY(read_scalars(r, WTE__VOCAB_CONFIG, side));
    return read_scalars(r, WTE__VOCAB_MODEL_CONFIG, side);
}

/* added_tokens_decoder ------------------------------------------------------------------------- */

static wte_status refuse(const wte__vocab_reader *r, const wte__json *j, const char *what)
{
    if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
    return wte__json_refuse(j, r->err, what);
}

/* The key of a token is its id in decimal. */
static bool key_id(const wte__json *j, uint32_t *id)
{
    uint64_t value = 0;
    if (j->raw.size == 0 || j->raw.size > 9) return false;
    for (uint64_t i = 0; i < j->raw.size; i++) {
        if (j->raw.data[i] < '0' || j->raw.data[i] > '9') return false;
        value = value * 10 + (uint64_t)(j->raw.data[i] - '0');
    }
    *id = (uint32_t)value;
    return value < WTE_LIMIT_VOCAB_IDS;
}

/* {"content": text, "special": bool, ...}, or the text alone. */
static wte_status read_token(wte__vocab_reader *r, wte__json *j, wte__vocab_token *token)
{
    static const char form[] = "a token of added_tokens_decoder has a content, a string";
    wte__json_next(j);
    if (j->kind == WTE__JSON_STRING) {
        token->text = wte__json_text(j, &r->v->arena, false);
        return token->text.data ? WTE_OK
                                : wte__no_memory(r->err, j->raw.size, "the text of a token");
    }
    if (j->kind != WTE__JSON_OBJECT) return refuse(r, j, form);
    while (wte__json_next(j) == WTE__JSON_KEY) {
        const bool content = wte__json_is(j, "content"), special = wte__json_is(j, "special");
        wte__json_next(j);
        if (j->kind == WTE__JSON_OBJECT || j->kind == WTE__JSON_ARRAY) (void)wte__json_skip_rest(j);
        if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
        if (special && j->kind == WTE__JSON_TRUE) token->kind = WTE_TOKEN_SPECIAL;
        if (!content) continue;
        if (j->kind != WTE__JSON_STRING) return refuse(r, j, form);
        token->text = wte__json_text(j, &r->v->arena, false);
        if (!token->text.data) return wte__no_memory(r->err, j->raw.size, "the text of a token");
    }
    if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
    return token->text.data ? WTE_OK : refuse(r, j, form);
}

static wte_status read_decoder(wte__vocab_reader *r, wte__json *j)
{
    if (wte__json_next(j) == WTE__JSON_NULL) return WTE_OK;
    if (j->kind != WTE__JSON_OBJECT)
        return refuse(r, j, "added_tokens_decoder is an object of ids and tokens");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        wte__vocab_token token = {
            .kind = WTE_TOKEN_ADDED, .file = WTE__VOCAB_CONFIG, .at = j->token_at, .replaces = true
        };
        if (!key_id(j, &token.id))
            return refuse(r, j, "a key of added_tokens_decoder is not the id of a token");
        WTE_TRY(read_token(r, j, &token));
        WTE_TRY(wte__vocab_add(r, &token));
    }
    return j->kind == WTE__JSON_ERROR ? wte__json_fail(j, r->err) : WTE_OK;
}

wte_status wte__vocab_read_decoder(wte__vocab_reader *r)
{
    const uint8_t file = WTE__VOCAB_CONFIG;
    wte__json j;
    if (!r->v->data[file]) return WTE_OK;
    wte__json_init(&j, r->v->data[file], r->v->data_bytes[file], r->name[file], WTE__JSON_PYTHON);
    if (wte__json_next(&j) != WTE__JSON_OBJECT) return refuse(r, &j, "an object was expected");
    while (wte__json_next(&j) == WTE__JSON_KEY) {
        if (wte__json_is(&j, "added_tokens_decoder"))
            WTE_TRY(read_decoder(r, &j));
        else if (!wte__json_skip_value(&j))
            break;
    }
    return j.kind == WTE__JSON_ERROR ? wte__json_fail(&j, r->err) : WTE_OK;
}
