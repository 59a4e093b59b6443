/* Looking for a row's word before its numbers. How words are parted from numbers, and whether they
 * stand in quotes, differs from layout to layout; what is compared here is the same in all: the
 * bytes of the word, with nothing but marks between it and the numbers, and a line's beginning
 * before it. */
#include "format/text_row.h"

#include "base/error.h"
#include "format/text_layout.h"

/* Of what stands before the numbers. A longer word is compared by its end. */
#define BACK_BYTES ((size_t)512)

/* What may stand between a line's beginning, a word and numbers. */
static bool is_mark(uint8_t c)
{
    return wte__text_is_blank(c) || c == ',' || c == ';' || c == '"' || c == '\'';
}

/* Whether a word ends at p[end], where a quote inside it may be doubled; *begin gets where it
 * begins, or where the compared end of it does. */
static bool word_ends(const uint8_t *p, size_t end, wte_bytes word, size_t *begin)
{
    size_t at = end;
    for (uint64_t i = word.size; i > 0 && at > 0; i--) {
        const uint8_t c = word.data[i - 1];
        if (p[--at] != c) return false;
        if (c == '"' && at > 0 && p[at - 1] == '"' && (i < 2 || word.data[i - 2] != '"')) at--;
    }
    *begin = at;
    return true;
}

/* Whether a line begins at p[at], but for marks. */
static bool line_begins(const uint8_t *p, size_t at, bool from_first)
{
    while (at > 0 && is_mark(p[at - 1])) at--;
    return at == 0 ? from_first : p[at - 1] == '\n';
}

wte_status wte__text_row_find(const wte_file *f, const wte__text_index *x, wte__window *w,
                              uint64_t row, uint64_t first, bool *there, wte_error *err)
{
    const uint64_t at = x->row_at[row];
    const uint8_t *p;
    size_t n, begin;
    wte_bytes word = { (const uint8_t *)"", 0 };
    *there = false;
    if (at < first || at > x->end) return WTE_OK;
    const bool whole = at - first <= BACK_BYTES;
    const size_t back = whole ? (size_t)(at - first) : BACK_BYTES;
    WTE_TRY(wte__window_see(w, at - back, back, &p, &n, err));
    if (n < back) return WTE_OK;
    if (f->tokens.n) word = wte__token_list_text(&f->tokens, row);
    for (size_t end = back;; end--) {
        const bool cut = word_ends(p, end, word, &begin) && !whole && begin == 0;
        if (cut || (word_ends(p, end, word, &begin) && line_begins(p, begin, whole))) break;
        if (end == 0) return WTE_OK;
        if (!is_mark(p[end - 1])) return WTE_OK;
    }
    *there = true;
    return WTE_OK;
}
