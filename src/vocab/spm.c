/* sentencepiece's .model: a protobuf message without a header. Read are the
 * pieces and two flags of the spelling. A bounded cursor walks over fields and skips unknown ones;
 * messages nest two deep here, so nothing recurses.
 *
 *     ModelProto      1 pieces (repeated), 2 trainer, 3 normalizer
 *     Piece           1 text, 2 score (float), 3 kind (1 when absent)
 *     TrainerSpec     35 byte_fallback
 *     NormalizerSpec  5 escape_whitespaces (true when absent) */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "vocab/vocab.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* A message, or what is left of one. Offsets are the file's. */
typedef struct message {
    const uint8_t *file;
    uint64_t at, end;
    uint64_t bad_at; /* of what could not be read, when bad is set */
    const char *bad;
} message;

typedef struct field {
    uint32_t number;
    enum wire wire;
    uint64_t at;    /* of its tag */
    uint64_t value; /* VARINT */
    message body;   /* BYTES */
} field;

static bool broken(message *m, uint64_t at, const char *what)
{
    m->bad_at = at;
    m->bad = what;
    return false;
}

static bool read_varint(message *m, uint64_t *out)
{
    const uint64_t start = m->at;
    *out = 0;
    for (uint32_t shift = 0; shift < 70; shift += 7) {
        if (m->at == m->end) return broken(m, start, "a number is cut");
        const uint8_t byte = m->file[m->at++];
        if (shift == 63 && byte > 1) break;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return broken(m, start, "a number has more than 64 bits");
}

static bool skip(message *m, uint64_t n)
{
    if (n > m->end - m->at) return broken(m, m->at, "a field reaches past the end");
    m->at += n;
    return true;
}

/* The next field; false at the end (m->bad NULL) or where it is broken. */
static bool next_field(message *m, field *f)
{
    uint64_t tag, bytes;
    if (m->at == m->end) return false;
    f->at = m->at;
    if (!read_varint(m, &tag)) return false;
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return broken(m, f->at, "no field has this number");
    f->number = (uint32_t)(tag >> 3);
    f->wire = (enum wire)(tag & 7);
    switch (f->wire) {
    case VARINT: return read_varint(m, &f->value);
    case FIXED64: return skip(m, 8);
    case FIXED32: return skip(m, 4);
    case BYTES:
        if (!read_varint(m, &bytes)) return false;
        f->body = *m;
        if (!skip(m, bytes)) return false;
        f->body.end = m->at;
        return true;
    default: return broken(m, f->at, "no field has this type");
    }
}

bool wte__vocab_is_pieces(const void *data, uint64_t bytes)
{
    message m = { data, 0, bytes, 0, NULL };
    field piece, text;
    if (!next_field(&m, &piece) || piece.number != 1 || piece.wire != BYTES) return false;
    return next_field(&piece.body, &text) && text.number == 1 && text.wire == BYTES;
}

typedef struct pieces {
    wte__vocab_reader *r;
    wte__names real, odd; /* pieces of text, and all others: each set must be unique */
    uint64_t n, unknown;  /* pieces; id of the unknown one plus one */
    uint32_t bytes;       /* byte pieces */
    uint64_t byte_at;     /* the first of them */
    bool escapes, fallback;
} pieces;

static wte_status refuse(const pieces *p, uint64_t at, const char *what)
{
    return wte__fail(p->r->err, WTE_E_FORMAT, at, "%s: piece %" PRIu64 " (byte %" PRIu64 "): %s",
                     p->r->name[0], p->n, at, what);
}

static wte_status refuse_broken(const pieces *p, const message *m)
{
    return wte__fail(p->r->err, WTE_E_FORMAT, m->bad_at,
                     "%s: no sentencepiece model, or a broken one: %s (byte %" PRIu64 ")",
                     p->r->name[0], m->bad, m->bad_at);
}

/* No two pieces of one kind have the same text. */
static wte_status check_unique(pieces *p, const wte__vocab_token *token, uint64_t kind)
{
    const bool real = kind == WTE_TAG_NORMAL || kind == WTE_TAG_USER || kind == WTE_TAG_UNUSED;
    uint64_t first = token->id;
    bool found;
    char shown[WTE__NAME_SHOWN], what[WTE__NAME_SHOWN + 64];
    if (!wte__names_add(real ? &p->real : &p->odd, token->text, &first, &found))
        return wte__no_memory(p->r->err, p->n * 32, "the pieces of a vocabulary");
    if (!found) return WTE_OK;
    snprintf(what, sizeof what, "'%s' is piece %" PRIu64 " already",
             wte__show(shown, token->text.data, token->text.size), first);
    return refuse(p, token->at, what);
}

static uint8_t kind_of(uint64_t kind)
{
    switch (kind) {
    case WTE_TAG_UNKNOWN:
    case WTE_TAG_CONTROL: return WTE_TOKEN_SPECIAL;
    case WTE_TAG_USER: return WTE_TOKEN_ADDED;
    case WTE_TAG_UNUSED: return WTE_TOKEN_UNUSED;
    case WTE_TAG_BYTE: return WTE_TOKEN_BYTE;
    default: return WTE_TOKEN_NORMAL;
    }
}

static wte_status count_kind(pieces *p, const wte__vocab_token *token, uint64_t kind)
{
    uint8_t byte;
    if (kind == WTE_TAG_UNKNOWN && p->unknown)
        return refuse(p, token->at, "a second piece for what is unknown");
    if (kind == WTE_TAG_UNKNOWN) p->unknown = p->n + 1;
    if (kind != WTE_TAG_BYTE) return WTE_OK;
    if (!wte__byte_token(token->text, &byte))
        return refuse(p, token->at, "a byte is spelled like <0x0A>");
    if (p->bytes++ == 0) p->byte_at = token->at;
    return WTE_OK;
}

/* One piece, whose message the field holds. */
static wte_status read_piece(pieces *p, const field *holder)
{
    message m = holder->body;
    field f;
    wte__vocab_token token = { .at = holder->at, .in_model = true };
    uint64_t kind = WTE_TAG_NORMAL;
    while (next_field(&m, &f)) {
        if (f.number == 1 && f.wire == BYTES) {
            token.text.data = f.body.file + f.body.at;
            token.text.size = f.body.end - f.body.at;
            token.at = f.body.at;
        }
        if (f.number == 3 && f.wire == VARINT) kind = f.value;
    }
    if (m.bad) return refuse_broken(p, &m);
    if (token.text.size == 0) return refuse(p, token.at, "it has no text");
    if (kind < WTE_TAG_NORMAL || kind > WTE_TAG_BYTE) {
        char what[64];
        snprintf(what, sizeof what, "its kind is %" PRIu64 ", but kinds go from 1 to 6", kind);
        return refuse(p, token.at, what);
    }
    if (p->n >= WTE_LIMIT_VOCAB_IDS)
        return wte__fail(p->r->err, WTE_E_LIMIT, token.at, "%s: more than %u pieces", p->r->name[0],
                         WTE_LIMIT_VOCAB_IDS);
    token.id = (uint32_t)p->n;
    token.kind = kind_of(kind);
    WTE_TRY(check_unique(p, &token, kind));
    WTE_TRY(count_kind(p, &token, kind));
    WTE_TRY(wte__vocab_add(p->r, &token));
    p->n++;
    return WTE_OK;
}

/* A flag of a part of the model: field `number`, the last one counts. */
static wte_status read_flag(const pieces *p, const field *holder, uint32_t number, bool *flag)
{
    message m = holder->body;
    field f;
    while (next_field(&m, &f))
        if (f.number == number && f.wire == VARINT) *flag = f.value != 0;
    return m.bad ? refuse_broken(p, &m) : WTE_OK;
}

static wte_status check_whole(const pieces *p)
{
    const wte__vocab_reader *r = p->r;
    const uint64_t end = r->v->data_bytes[0];
    if (p->n == 0) return WTE_OK; /* reported with all other empty vocabularies */
    if (!p->unknown)
        return wte__fail(r->err, WTE_E_FORMAT, end,
                         "%s: none of its %" PRIu64 " pieces is for what is unknown", r->name[0],
                         p->n);
    if (p->bytes && !p->fallback)
        return wte__fail(r->err, WTE_E_FORMAT, p->byte_at,
                         "%s: has pieces for bytes, but its byte_fallback is false (byte %" PRIu64
                         ")",
                         r->name[0], p->byte_at);
    if (p->fallback && p->bytes != 256)
        return wte__fail(r->err, WTE_E_FORMAT, end,
                         "%s: its byte_fallback is true, but there are pieces for %" PRIu32
                         " of 256 bytes",
                         r->name[0], p->bytes);
    return WTE_OK;
}

/* Base64, a space, a rank: what Llama 3 and others keep under the same file name. */
static bool is_ranks(const uint8_t *data, uint64_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    uint64_t at = 0;
    while (at < n && data[at] && strchr(letters, data[at])) at++;
    if (at < 4 || at + 2 >= n || data[at] != ' ') return false;
    const uint64_t digits = ++at;
    while (at < n && data[at] >= '0' && data[at] <= '9') at++;
    return at > digits && at < n && data[at] == '\n';
}

static wte_status read_all(pieces *p)
{
    const wte__vocab_reader *r = p->r;
    message m = { (const uint8_t *)r->v->data[0], 0, r->v->data_bytes[0], 0, NULL };
    field f;
    if (is_ranks(m.file, m.end))
        return wte__fail(r->err, WTE_E_UNSUPPORTED, 0,
                         "%s: is a list of tiktoken's ranks, which this build does not read",
                         r->name[0]);
    while (next_field(&m, &f)) {
        if (f.wire != BYTES) continue;
        if (f.number == 1) WTE_TRY(read_piece(p, &f));
        if (f.number == 2) WTE_TRY(read_flag(p, &f, 35, &p->fallback));
        if (f.number == 3) WTE_TRY(read_flag(p, &f, 5, &p->escapes));
    }
    return m.bad ? refuse_broken(p, &m) : check_whole(p);
}

wte_status wte__vocab_read_pieces(wte__vocab_reader *r)
{
    pieces p = { .r = r, .escapes = true };
    wte__names_init(&p.real, r->v->allocator);
    wte__names_init(&p.odd, r->v->allocator);
    const wte_status status = read_all(&p);
    wte__names_clear(&p.real);
    wte__names_clear(&p.odd);
    r->metaspace = p.escapes;
    r->byte_fallback = p.fallback;
    return status;
}
