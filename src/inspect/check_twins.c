/* Tokens that look like a special token and are another: <|user|> beside one with full-width bars,
 * letters of another alphabet, or characters that show nothing. A template or a prompt that has the
 * one where the model knows the other goes unnoticed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/names.h"
#include "base/utf8.h"
#include "inspect/check.h"

#define MOST_BYTES 96u /* of a token that is compared; marks of roles are short */
#define SHOWN      3u

/* Characters that look like one of ASCII. Full-width forms (U+FF01 to U+FF5E) are a rule. */
static const struct {
    uint32_t code;
    char looks;
} alike[] = {
    { 0x01c0, '|' }, { 0x2223, '|' }, { 0x2502, '|' }, { 0x2503, '|' }, { 0x23d0, '|' },
    { 0xffe8, '|' }, { 0x2581, '_' }, { 0x2039, '<' }, { 0x203a, '>' }, { 0x2329, '<' },
    { 0x232a, '>' }, { 0x27e8, '<' }, { 0x27e9, '>' }, { 0x3008, '<' }, { 0x3009, '>' },
    { 0x2215, '/' }, { 0x2044, '/' }, { 0x2010, '-' }, { 0x2011, '-' }, { 0x2212, '-' },
    { 0x0430, 'a' }, { 0x0435, 'e' }, { 0x043e, 'o' }, { 0x0440, 'p' }, { 0x0441, 'c' },
    { 0x0443, 'y' }, { 0x0445, 'x' }, { 0x0455, 's' }, { 0x0456, 'i' }, { 0x0458, 'j' },
    { 0x0410, 'A' }, { 0x0412, 'B' }, { 0x0415, 'E' }, { 0x041a, 'K' }, { 0x041c, 'M' },
    { 0x041d, 'H' }, { 0x041e, 'O' }, { 0x0420, 'P' }, { 0x0421, 'C' }, { 0x0422, 'T' },
    { 0x0425, 'X' }, { 0x0405, 'S' }, { 0x0406, 'I' }, { 0x03bf, 'o' }, { 0x0391, 'A' },
    { 0x0392, 'B' }, { 0x0395, 'E' }, { 0x0399, 'I' }, { 0x039d, 'N' }, { 0x039f, 'O' },
    { 0x03a1, 'P' }, { 0x03a4, 'T' },
};

static uint32_t looks_like(uint32_t code)
{
    if (code >= 0xff01 && code <= 0xff5e) return code - 0xff01 + 0x21;
    for (size_t i = 0; code >= 0x80 && i < sizeof alike / sizeof *alike; i++)
        if (alike[i].code == code) return (uint32_t)alike[i].looks;
    return code;
}

/* The text as it looks, when that is <...> or [...]; 0: it is no mark. */
static size_t fold(const char *text, uint64_t bytes, uint8_t out[MOST_BYTES])
{
    size_t n = 0;
    const uint8_t *p = (const uint8_t *)text;
    if (bytes < 3 || bytes > MOST_BYTES) return 0;
    for (uint64_t i = 0; i < bytes;) {
        uint8_t one[4];
        uint32_t code;
        const uint32_t length = wte__utf8_get(p + i, bytes - i, &code);
        if (!length) return 0;
        i += length;
        if (code >= 0x80 && wte__utf8_invisible(code)) continue;
        const uint32_t put = wte__utf8_put(looks_like(code), one); /* never longer */
        memcpy(out + n, one, put);
        n += put;
    }
    if (n < 3) return 0;
    return (out[0] == '<' && out[n - 1] == '>') || (out[0] == '[' && out[n - 1] == ']') ? n : 0;
}

typedef struct twins {
    wte__names looks; /* how a special token looks -> its id */
    wte__arena texts;
    uint64_t count;
    wte__seen seen;
    char text[400];
    size_t used;
} twins;

static bool is_mark(const wte_vocab *v, uint64_t id)
{
    const wte_token_kind kind = wte_vocab_kind(v, id);
    return kind == WTE_TOKEN_SPECIAL || kind == WTE_TOKEN_ADDED;
}

/* <|user|>: what no text has by chance. Some converters call every token normal. */
static bool has_form(const uint8_t *look, size_t n)
{
    return n > 4 && memcmp(look, "<|", 2) == 0 && memcmp(look + n - 2, "|>", 2) == 0;
}

/* The marks, each under its looks: of two that look the same the first, and a special one before
 * those that have but the form of one. */
static wte_status gather(const wte__checking *k, twins *t, bool by_form)
{
    uint8_t out[MOST_BYTES];
    uint64_t bytes;
    for (uint64_t id = 0; id < wte_vocab_size(k->vocab); id++) {
        const char *text =
            by_form || is_mark(k->vocab, id) ? wte_vocab_raw_text(k->vocab, id, &bytes) : NULL;
        const size_t n = text ? fold(text, bytes, out) : 0;
        uint64_t first = id;
        bool found;
        if (!n || (by_form && !has_form(out, n))) continue;
        const char *copy = wte__arena_text(&t->texts, out, n);
        const wte__bytes look = { (const uint8_t *)copy, n };
        if (!copy || !wte__names_add(&t->looks, look, &first, &found))
            return wte__no_memory(k->err, n, "the looks of tokens");
    }
    return WTE_OK;
}

static void put(const wte__checking *k, twins *t, uint64_t mark, uint64_t twin)
{
    char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN];
    uint64_t na, nb;
    if (t->count++ >= SHOWN || t->used >= sizeof t->text) return;
    const char *ta = wte_vocab_raw_text(k->vocab, mark, &na);
    const char *tb = wte_vocab_raw_text(k->vocab, twin, &nb);
    const int n = snprintf(t->text + t->used, sizeof t->text - t->used,
                           "%s%" PRIu64 " '%s' and %" PRIu64 " '%s'", t->used ? "; " : "", mark,
                           wte__show(a, ta, na), twin, wte__show(b, tb, nb));
    t->used += n > 0 ? (size_t)n : 0;
}

static void compare(const wte__checking *k, twins *t)
{
    uint8_t out[MOST_BYTES];
    for (uint64_t id = 0; id < wte_vocab_size(k->vocab); id++) {
        uint64_t bytes, other_bytes, mark;
        const char *text = wte_vocab_raw_text(k->vocab, id, &bytes);
        const size_t n = text ? fold(text, bytes, out) : 0;
        const wte__bytes look = { out, n };
        if (!n || !wte__names_find(&t->looks, look, &mark) || mark == id) continue;
        const char *other = wte_vocab_raw_text(k->vocab, mark, &other_bytes);
        /* the same text under two ids is another finding */
        if (other_bytes == bytes && memcmp(text, other, (size_t)bytes) == 0) continue;
        wte__seen_add(&t->seen, id);
        put(k, t, mark, id);
    }
}

wte_status wte__check_twins(wte__checking *k)
{
    const wte__code code = WTE__CODE_VOCAB_CONFUSABLE;
    twins t = { .count = 0 };
    char shown[WTE__NAME_SHOWN];
    if (!k->vocab || !wte__check_wants(k, &code, 1)) return WTE_OK;
    const char *base = wte__path_base(wte_vocab_path(k->vocab));
    wte__names_init(&t.looks, k->opt.allocator);
    wte__arena_init(&t.texts, k->opt.allocator);
    wte_status status = gather(k, &t, false);
    if (status == WTE_OK) status = gather(k, &t, true);
    if (status == WTE_OK && t.looks.count) compare(k, &t);
    if (t.count)
        status = wte__check_add(k, code, wte__show(shown, base, strlen(base)), &t.seen, "",
                                "%" PRIu64 " token%s like a special one and %s not: %s%s", t.count,
                                t.count == 1 ? " looks" : "s look", t.count == 1 ? "is" : "are",
                                t.text, t.count > SHOWN ? "; ..." : "");
    wte__names_clear(&t.looks);
    wte__arena_clear(&t.texts);
    return status;
}
