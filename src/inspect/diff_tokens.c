/* Rows of two tables that stand for the same token, where two vocabularies number them in two
 * ways. */
#include <wte/near.h>

#include <string.h>

/* Texts spelled in two ways are compared as people write them; longer ones are taken as different.
 * The longest token in public vocabularies has some hundred bytes. */
#define TEXT_BYTES 4096u

typedef struct text {
    char bytes[TEXT_BYTES];
    uint64_t n; /* 0: a hole, or too long */
} text;

typedef struct pair {
    const wte_vocab *a, *b;
    bool one_spelling;
} pair;

/* The text by which a token is known in both vocabularies. */
static void read_text(const pair *p, const wte_vocab *v, uint64_t id, text *out)
{
    uint64_t n = 0;
    if (!p->one_spelling) {
        n = wte_vocab_text(v, id, out->bytes, TEXT_BYTES);
    } else {
        const char *spelled = wte_vocab_raw_text(v, id, &n);
        if (spelled && n <= TEXT_BYTES) memcpy(out->bytes, spelled, (size_t)n);
    }
    out->n = n <= TEXT_BYTES ? n : 0;
}

static bool has_text(const pair *p, uint64_t id, const text *wanted)
{
    text other;
    if (wte_vocab_kind(p->b, id) == WTE_TOKEN_NONE) return false;
    read_text(p, p->b, id, &other);
    return other.n == wanted->n && memcmp(other.bytes, wanted->bytes, (size_t)other.n) == 0;
}

/* The id in b, or WTE_NO_INDEX. */
static uint64_t find(const pair *p, uint64_t id, const text *wanted)
{
    uint64_t found;
    if (wanted->n == 0) return WTE_NO_INDEX;
    if (has_text(p, id, wanted)) return id;
    if (wte_vocab_find(p->b, wanted->bytes, wanted->n, &found, NULL, NULL) != WTE_OK)
        return WTE_NO_INDEX;
    return has_text(p, found, wanted) ? found : WTE_NO_INDEX;
}

void wte_vocab_align(const wte_vocab *a, const wte_vocab *b, uint64_t rows_a, uint64_t rows_b,
                     uint64_t *b_of, wte_vocab_match *out)
{
    wte_vocab_match unused;
    if (!out) out = &unused;
    const pair p = { a, b, wte_vocab_spelling_of(a) == wte_vocab_spelling_of(b) };
    text wanted;
    *out = (wte_vocab_match){ .first_conflict = WTE_NO_INDEX };
    if (!a || !b || rows_a > PTRDIFF_MAX / sizeof *b_of) return; /* no array is so long */
    for (uint64_t i = 0; b_of && i < rows_a; i++) b_of[i] = WTE_NO_INDEX;
    for (uint64_t id = 0; id < wte_vocab_size(a); id++) {
        if (wte_vocab_kind(a, id) == WTE_TOKEN_NONE) continue;
        read_text(&p, a, id, &wanted);
        const uint64_t found = find(&p, id, &wanted);
        out->same_id += found == id;
        out->other_id += found != id && found != WTE_NO_INDEX;
        out->only_a += found == WTE_NO_INDEX;
        if (found != id && wte_vocab_kind(b, id) != WTE_TOKEN_NONE && out->conflicts++ == 0)
            out->first_conflict = id;
        if (b_of && id < rows_a && found < rows_b) b_of[id] = found;
    }
}
