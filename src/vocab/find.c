/* From text to id: the text as the file spells it, then as people write it; suggestions for an
 * unknown text. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "vocab/vocab.h"

#define NEAR_BYTES 64u /* longer texts get no suggestions: they would not fit the message */
#define NEAR_SHOWN 4u

/* The byte of the written text that begins at *at of the spelled one. */
static uint8_t next_written(const wte_vocab *v, const wte__vocab_entry *entry, uint64_t *at)
{
    wte__bytes text = wte__vocab_entry_text(entry);
    uint8_t byte;
    if (!entry->translated) return text.data[(*at)++];
    if (entry->kind == WTE_TOKEN_BYTE && wte__byte_token(text, &byte)) {
        *at = text.size;
        return byte;
    }
    return wte__spelling_next(v->spelling, text, at);
}

uint64_t wte__vocab_written(const wte_vocab *v, const wte__vocab_entry *entry, uint8_t *out,
                            uint64_t cap)
{
    uint64_t used = 0;
    for (uint64_t at = 0; at < entry->bytes; used++) {
        uint8_t byte = next_written(v, entry, &at);
        if (used < cap) out[used] = byte;
    }
    return used;
}

static bool written_is(const wte_vocab *v, const wte__vocab_entry *entry, wte__bytes text)
{
    uint64_t used = 0, at = 0;
    for (; at < entry->bytes && used < text.size; used++)
        if (next_written(v, entry, &at) != text.data[used]) return false;
    return at == entry->bytes && used == text.size;
}

static bool same_text(wte__bytes a, wte__bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, (size_t)a.size) == 0);
}

static bool spelled_is(const wte__vocab_entry *entry, wte__bytes text)
{
    return same_text(wte__vocab_entry_text(entry), text);
}

/* Matches in the order of preference; an id that matches in two ways counts once. */
typedef struct matches {
    uint64_t id[3]; /* by name: as spelled, as written, as a byte */
    uint32_t n;
    uint64_t others; /* that no name led to */
    uint64_t first_other;
} matches;

unsigned wte__vocab_form(const wte__vocab_entry *entry)
{
    if (!entry->translated) return WTE__FORM_AS_SPELLED;
    return entry->kind == WTE_TOKEN_BYTE ? WTE__FORM_BYTE : WTE__FORM_TRANSLATED;
}

static void add_others(matches *m, uint64_t first, uint64_t count)
{
    if (m->others == 0) m->first_other = first;
    m->others += count;
}

/* Further ids of a name: those of one form match together, or not at all. */
static void match_again(const wte_vocab *v, wte__bytes name, wte__bytes text, matches *m)
{
    uint64_t at;
    if (!wte__names_find(&v->again_names, name, &at)) return;
    const wte__vocab_again *again = &v->again[at];
    for (unsigned form = 0; form < WTE__FORMS; form++) {
        const wte__vocab_entry *entry = &v->entries[again->first[form]];
        if (again->count[form] && (spelled_is(entry, text) || written_is(v, entry, text)))
            add_others(m, again->first[form], again->count[form]);
    }
}

static void match_name(const wte_vocab *v, wte__bytes name, wte__bytes text, matches *m)
{
    uint64_t id;
    if (!wte__names_find(&v->names, name, &id)) return;
    match_again(v, name, text, m);
    const wte__vocab_entry *entry = &v->entries[id];
    if (!spelled_is(entry, text) && !written_is(v, entry, text)) return;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->id[i] == id) return;
    m->id[m->n++] = id;
}

/* As the file spells it, then as people write it. */
static void match_text(const wte_vocab *v, wte__bytes text, matches *m)
{
    uint8_t spelled[3 * WTE__VOCAB_LONG];
    match_name(v, text, text, m);
    if (text.size > WTE__VOCAB_LONG) return;
    wte__bytes name = { spelled, wte__spelling_apply(v->spelling, text, spelled) };
    if (!same_text(name, text)) match_name(v, name, text, m);
}

static void match_odd(const wte_vocab *v, wte__bytes text, matches *m)
{
    uint64_t at;
    uint32_t kept = 0;
    if (!wte__names_find(&v->odd_names, text, &at)) return;
    const wte__vocab_odd *odd = &v->odd[at];
    uint64_t others = odd->count;
    for (uint32_t k = 0; k < m->n; k++)
        if (wte__vocab_is_odd(v, &v->entries[m->id[k]])) others--; /* it matches, so it is there */
    if (!others) return;
    /* of more ids than names lead to, one is another */
    for (uint32_t i = 0; i < WTE__ODD_KEPT && i < odd->count; i++, kept++) {
        bool known = false;
        for (uint32_t k = 0; k < m->n; k++) known |= m->id[k] == odd->id[i];
        if (!known) break;
    }
    add_others(m, odd->id[kept], others);
}

/* ASCII letters without case; other bytes as they are. */
static uint8_t folded(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* The core of a text for likeness: without a space or ## before it, and without case. */
static wte__bytes core_of(wte__bytes text)
{
    uint64_t skip = 0;
    if (text.size > 1 && text.data[0] == ' ')
        skip = 1;
    else if (text.size > 2 && memcmp(text.data, "##", 2) == 0)
        skip = 2;
    wte__bytes core = { text.data + skip, text.size - skip };
    return core;
}

static bool alike(wte__bytes a, wte__bytes b)
{
    if (a.size != b.size) return false;
    for (uint64_t i = 0; i < a.size; i++)
        if (folded(a.data[i]) != folded(b.data[i])) return false;
    return true;
}

/* Appends up to NEAR_SHOWN tokens that differ in case or in what comes before. */
static void list_near(const wte_vocab *v, wte__bytes text, char *out, size_t cap)
{
    uint8_t asked[NEAR_BYTES + 2], buf[NEAR_BYTES + 2];
    uint32_t shown = 0;
    size_t used = 0;
    out[0] = '\0';
    if (text.size == 0 || text.size > NEAR_BYTES) return;
    /* the query may be spelled as the file does: undo that, as for the tokens */
    wte__vocab_entry query = { .text = text.data,
                               .bytes = (uint32_t)text.size,
                               .kind = WTE_TOKEN_NORMAL,
                               .translated = wte__spelling_applies(v->spelling, text) };
    wte__bytes want = { asked, wte__vocab_written(v, &query, asked, sizeof asked) };
    want = core_of(want);
    for (uint64_t id = 0; id < v->size && shown < NEAR_SHOWN; id++) {
        const wte__vocab_entry *entry = &v->entries[id];
        if (!entry->text || entry->bytes > 3 * NEAR_BYTES) continue;
        wte__bytes got = { buf, wte__vocab_written(v, entry, buf, sizeof buf) };
        if (got.size > sizeof buf || !alike(core_of(got), want)) continue;
        char name[WTE__NAME_SHOWN];
        int put = snprintf(out + used, cap - used, "%s'%s' (id %" PRIu64 ")",
                           shown++ ? ", " : "; near it: ", wte__show(name, got.data, got.size), id);
        if (put < 0 || (size_t)put >= cap - used) return;
        used += (size_t)put;
    }
}

/* Lists the tokens of the words of a text that is not a token; nothing when a word is unknown. */
static void list_words(const wte_vocab *v, wte__bytes text, char *out, size_t cap)
{
    size_t used = 0;
    uint32_t words = 0;
    out[0] = '\0';
    for (uint64_t at = 0, end; at < text.size; at = end) {
        for (end = at + 1; end < text.size && text.data[end] != ' ';) end++;
        const uint64_t bare = at + (text.data[at] == ' '); /* without the space before it */
        const wte__bytes forms[] = { { text.data + at, end - at },
                                     { text.data + bare, end - bare } };
        matches m = { .n = 0 };
        size_t form = 0; /* the one that is a token */
        match_text(v, forms[form], &m);
        if (m.n == 0) match_text(v, forms[++form], &m);
        char name[WTE__NAME_SHOWN];
        int put = m.n == 0 ? -1
                           : snprintf(out + used, cap - used, "%s'%s' (id %" PRIu64 ")",
                                      words++ ? ", " : "; its words are tokens of their own: ",
                                      wte__show(name, forms[form].data, forms[form].size), m.id[0]);
        if (put < 0 || (size_t)put >= cap - used) {
            out[0] = '\0';
            return;
        }
        used += (size_t)put;
    }
    if (words < 2) out[0] = '\0';
}

static wte_status not_found(const wte_vocab *v, wte__bytes text, wte_error *err)
{
    char path[WTE__NAME_SHOWN], name[WTE__NAME_SHOWN], near[160];
    if (!err) return WTE_E_NOT_FOUND; /* looking for near texts takes a pass over all */
    list_near(v, text, near, sizeof near);
    if (!near[0]) list_words(v, text, near, sizeof near);
    return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s: no token '%s'%s",
                     wte__show_path(path, v->path), wte__show(name, text.data, text.size), near);
}

wte_status wte_vocab_find(const wte_vocab *v, const char *text, uint64_t bytes, uint64_t *id,
                          uint64_t *other, wte_error *err)
{
    wte__bytes asked = { (const uint8_t *)text, bytes };
    matches m = { .n = 0 };
    if (other) *other = 0;
    WTE_TRY(wte__need_out(id, sizeof *id, "wte_vocab_find: id", err));
    WTE_TRY(wte__need(v, "wte_vocab_find: the vocabulary", err));
    WTE_TRY(wte__need_array(text, bytes, 1, "wte_vocab_find: text", err));
    match_text(v, asked, &m);
    if (bytes == 1) {
        static const char hex[] = "0123456789ABCDEF";
        const uint8_t name[] = {
            '<', '0', 'x', (uint8_t)hex[asked.data[0] >> 4], (uint8_t)hex[asked.data[0] & 15], '>'
        };
        wte__bytes byte = { name, sizeof name };
        match_name(v, byte, asked, &m);
    }
    match_odd(v, asked, &m);
    if (m.n == 0 && m.others == 0) return not_found(v, asked, err);
    *id = m.n ? m.id[0] : m.first_other;
    if (other) *other = m.n + m.others - 1;
    return WTE_OK;
}
