/* Names of rows in folders of two tools: spaCy's key2row, a msgpack map from the hash of a text to
 * its row, with strings.json; and the list of words of a WordEmbeddings module of
 * sentence-transformers. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "vocab/vocab.h"

/* Words ---------------------------------------------------------------------------------------- */

static wte_status refuse(const wte__vocab_reader *r, const wte__json *j, const char *what)
{
    if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, r->err);
    return wte__json_refuse(j, r->err, what);
}

/* The rest of a list of texts, whose [ has been read: the place is the id. */
static wte_status read_words(wte__vocab_reader *r, wte__json *j)
{
    wte__vocab_token token = { .kind = WTE_TOKEN_NORMAL, .in_model = true };
    for (; wte__json_next(j) == WTE__JSON_STRING; token.id++) {
        token.at = j->token_at;
        token.text = wte__json_text(j, &r->v->arena, false);
        if (!token.text.data) return wte__no_memory(r->err, j->raw.size, "the text of a token");
        if (token.id >= WTE_LIMIT_VOCAB_IDS)
            return wte__fail(r->err, WTE_E_LIMIT, token.at, "%s: more than %u words", r->name[0],
                             WTE_LIMIT_VOCAB_IDS);
        WTE_TRY(wte__vocab_add(r, &token));
    }
    return j->kind == WTE__JSON_ARRAY_END ? WTE_OK : refuse(r, j, "vocab is a list of words");
}

wte_status wte__vocab_read_words(wte__vocab_reader *r)
{
    wte__json j;
    wte__json_init(&j, r->v->data[0], r->v->data_bytes[0], r->name[0], 0);
    if (wte__json_next(&j) != WTE__JSON_OBJECT) return refuse(r, &j, "an object was expected");
    while (wte__json_next(&j) == WTE__JSON_KEY) {
        if (wte__json_is(&j, "vocab")) {
            if (r->n) return refuse(r, &j, "a second vocab");
            if (wte__json_next(&j) != WTE__JSON_ARRAY)
                return refuse(r, &j, "vocab is a list of words");
            WTE_TRY(read_words(r, &j));
        } else if (!wte__json_skip_value(&j)) {
            break;
        }
    }
    return j.kind == WTE__JSON_ERROR ? wte__json_fail(&j, r->err) : WTE_OK;
}

/* spaCy ---------------------------------------------------------------------------------------- */

/* MurmurHash64A of seed 1, with which spaCy numbers texts. */
static uint64_t hash_of(wte__bytes text)
{
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t h = UINT64_C(1) ^ (text.size * m);
    wte__span s = wte__span_make(text.data, (size_t)text.size);
    for (uint64_t i = 0; i < text.size / 8; i++) {
        uint64_t k = wte__span_u64le(&s) * m;
        k = (k ^ k >> 47) * m;
        h = (h ^ k) * m;
    }
    const uint8_t *tail = text.data + text.size / 8 * 8;
    for (uint64_t i = 0; i < text.size % 8; i++) h ^= (uint64_t)tail[i] << (8 * i);
    if (text.size % 8) h *= m;
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

typedef struct keys {
    const wte__vocab_reader *r;
    const uint8_t *data;
    uint64_t at, end;
} keys;

static wte_status broken(const keys *k, uint64_t at, const char *what)
{
    return wte__fail(k->r->err, WTE_E_FORMAT, at, "%s: byte %" PRIu64 ": %s", k->r->name[0], at,
                     what);
}

/* An integer of msgpack, unsigned or of one byte; *bytes: address of a 64-bit key, else NULL. */
static bool next_number(keys *k, uint64_t *value, const uint8_t **bytes)
{
    static const uint8_t sizes[] = { 1, 2, 4, 8 };
    *bytes = NULL;
    if (k->at >= k->end) return false;
    const uint8_t tag = k->data[k->at++];
    *value = tag;
    if (tag < 0x80) return true;
    const bool plain = tag >= 0xcc && tag <= 0xcf, negative = tag >= 0xd0 && tag <= 0xd3;
    if (!plain && !negative) return tag >= 0xe0 && (*value = UINT64_MAX);
    const uint64_t n = sizes[(tag - 0xcc) & 3];
    if (n > k->end - k->at) return false;
    if (tag == 0xcf) *bytes = k->data + k->at;
    *value = 0;
    const bool below = negative && k->data[k->at] >= 0x80; /* the sign: big-endian */
    for (uint64_t i = 0; i < n; i++) *value = *value << 8 | k->data[k->at++];
    if (below) *value = UINT64_MAX;
    return true;
}

/* Rows by the bytes of their keys. Keys that are small numbers are spaCy's own symbols. */
static wte_status read_keys(keys *k, wte__names *rows)
{
    uint64_t n = 0, key, row;
    const uint8_t *bytes, *none;
    const uint8_t tag = k->data[0];
    k->at = 1;
    const uint64_t wide = tag == 0xde ? 2 : tag == 0xdf ? 4 : 0;
    if ((tag & 0xf0) != 0x80 && !wide) return broken(k, 0, "no msgpack map of keys and rows");
    if (wide > k->end - k->at) return broken(k, 0, "the count of keys is cut");
    for (uint64_t i = 0; i < wide; i++) n = n << 8 | k->data[k->at++];
    if (!wide) n = tag & 15;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = k->at;
        bool found;
        if (!next_number(k, &key, &bytes) || !next_number(k, &row, &none))
            return broken(k, at, "here a key and its row, two whole numbers, are cut or missing");
        if (!bytes || row == UINT64_MAX) continue;
        if (row >= WTE_LIMIT_VOCAB_IDS)
            return wte__fail(k->r->err, WTE_E_LIMIT, at,
                             "%s: byte %" PRIu64 ": row %" PRIu64 ", but at most %u are named",
                             k->r->name[0], at, row, WTE_LIMIT_VOCAB_IDS);
        const wte__bytes name = { bytes, 8 };
        if (!wte__names_add(rows, name, &row, &found))
            return wte__no_memory(k->r->err, n * 32, "the keys of rows");
    }
    if (n == 0)
        return wte__fail(k->r->err, WTE_E_UNSUPPORTED, 0,
                         "%s: it has no keys: the vectors are of floret's mode, whose rows all "
                         "words share, or this is a small model without vectors",
                         k->r->name[0]);
    return WTE_OK;
}

/* A row that several texts share is named by the first of them. */
static wte_status name_rows(wte__vocab_reader *r, const wte__names *rows)
{
    const uint8_t file = WTE__VOCAB_STRINGS;
    wte__names named;
    wte__json j;
    wte_status status = WTE_OK;
    if (!r->v->data[file])
        return wte__fail(
            r->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
            "%s: it has hashes of texts alone: their texts are in strings.json, which is missing",
            r->name[0]);
    wte__json_init(&j, r->v->data[file], r->v->data_bytes[file], r->name[file], 0);
    if (wte__json_next(&j) != WTE__JSON_ARRAY) return refuse(r, &j, "a list of texts was expected");
    wte__names_init(&named, r->v->allocator);
    while (status == WTE_OK && wte__json_next(&j) == WTE__JSON_STRING) {
        wte__vocab_token token = {
            .kind = WTE_TOKEN_NORMAL, .in_model = true, .file = file, .at = j.token_at
        };
        uint64_t row;
        bool found = true;
        token.text = wte__json_text(&j, &r->v->arena, false);
        if (!token.text.data) status = wte__no_memory(r->err, j.raw.size, "the text of a token");
        if (status != WTE_OK) break;
        const uint64_t hash = hash_of(token.text);
        uint8_t key[8], *kept = NULL;
        for (int i = 0; i < 8; i++) key[i] = (uint8_t)(hash >> (56 - 8 * i));
        const wte__bytes name = { key, 8 };
        if (!wte__names_find(rows, name, &row)) continue;
        token.id = (uint32_t)row;
        kept = wte__arena_take(&r->v->arena, 4);
        const wte__bytes place = { kept, 4 };
        for (int i = 0; kept && i < 4; i++) kept[i] = (uint8_t)(row >> (8 * i));
        if (!kept || !wte__names_add(&named, place, &row, &found))
            status = wte__no_memory(r->err, 32, "the names of rows");
        else if (!found)
            status = wte__vocab_add(r, &token);
    }
    wte__names_clear(&named);
    if (status != WTE_OK) return status;
    return j.kind == WTE__JSON_ARRAY_END ? WTE_OK
                                         : refuse(r, &j, "strings.json is a list of texts");
}

wte_status wte__vocab_read_spacy(wte__vocab_reader *r)
{
    keys k = { r, (const uint8_t *)r->v->data[0], 0, r->v->data_bytes[0] };
    wte__names rows;
    wte__names_init(&rows, r->v->allocator);
    wte_status status = read_keys(&k, &rows);
    if (status == WTE_OK) status = name_rows(r, &rows);
    wte__names_clear(&rows);
    return status;
}
