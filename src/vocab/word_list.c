/* Reader of the word tokenizers of sentence-transformers (whitespacetokenizer_config.json,
 * phrasetokenizer_config.json): the place of a word in the list "vocab" is its id. */
#include <stdio.h>

#include "base/error.h"
#include "vocab/vocab.h"

static wte_status refuse(const wte__vocab_reader *r, const wte__json *j, const char *what)
{
    return j->kind == WTE__JSON_ERROR ? wte__json_fail(j, r->err)
                                      : wte__json_refuse(j, r->err, what);
}

static wte_status read_words(wte__vocab_reader *r, wte__json *j)
{
    wte__vocab_token token = { .kind = WTE_TOKEN_NORMAL, .in_model = true };
    if (wte__json_next(j) != WTE__JSON_ARRAY) return refuse(r, j, "vocab is a list of words");
    while (wte__json_next(j) == WTE__JSON_STRING) {
        if (token.id >= WTE_LIMIT_VOCAB_IDS)
            return wte__fail(r->err, WTE_E_LIMIT, j->token_at, "%s: more than %u words", j->name,
                             WTE_LIMIT_VOCAB_IDS);
        token.at = j->token_at;
        token.text = wte__json_text(j, &r->v->arena, false);
        if (!token.text.data) return wte__no_memory(r->err, j->raw.size, "the text of a word");
        WTE_TRY(wte__vocab_add(r, &token));
        token.id++;
    }
    return j->kind == WTE__JSON_ARRAY_END ? WTE_OK : refuse(r, j, "a word is a string");
}

wte_status wte__vocab_read_word_list(wte__vocab_reader *r)
{
    wte__json j;
    bool found = false;
    wte__json_init(&j, r->v->data[0], r->v->data_bytes[0], r->name[0], 0);
    if (wte__json_next(&j) != WTE__JSON_OBJECT) return refuse(r, &j, "an object was expected");
    while (wte__json_next(&j) == WTE__JSON_KEY) {
        if (wte__json_is(&j, "vocab")) {
            if (found) return refuse(r, &j, "a second vocab");
            found = true;
            WTE_TRY(read_words(r, &j));
        } else if (!wte__json_skip_value(&j)) {
            return wte__json_fail(&j, r->err);
        }
    }
    if (j.kind == WTE__JSON_ERROR) return wte__json_fail(&j, r->err);
    if (!found) return refuse(r, &j, "the tokenizer ends without a vocab");
    return wte__json_next(&j) == WTE__JSON_END ? WTE_OK : wte__json_fail(&j, r->err);
}
