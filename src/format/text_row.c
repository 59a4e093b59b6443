/* Looking for a row's word before its numbers. How words are parted from numbers, and whether they
 * stand in quotes, differs from layout to layout; what is compared here is the same in all: the
 * bytes of the word, with nothing but marks between it and the numbers, and a line's beginning
 * before it. */
#include "format/text_row.h"

#include "base/error.h"

/* Of what stands before the numbers. A longer word is compared by its end. */
#define BACK_BYTES ((size_t)512)

/* What may stand between a line's beginning, a word and numbers. */
static bool is_mark(uint8_t c)
{
    return wte__text_is_blank(c) || (c && strchr(",;|\"'[(", c));
}

/* Whether a word ends at p[end], where a quote inside it may be doubled or have a backslash before
 * it; *begin gets where it begins, or where the compared end of it does. */
static bool word_ends(const uint8_t *p, size_t end, wte__bytes word, size_t *begin)
{
    size_t at = end;
    for (uint64_t i = word.size; i > 0 && at > 0; i--) {
        const uint8_t c = word.data[i - 1];
        if (p[--at] != c) return false;
        const bool escaped = at > 0 && (p[at - 1] == '"' || p[at - 1] == '\\');
        if (c == '"' && escaped && (i < 2 || word.data[i - 2] != p[at - 1])) at--;
    }
    *begin = at;
    return true;
}

/* Whether a line begins at p[at], but for marks. */
static bool line_begins(const uint8_t *p, size_t at, bool from_first, uint8_t line_end)
{
    while (at > 0 && is_mark(p[at - 1])) at--;
    return at == 0 ? from_first : p[at - 1] == line_end;
}

/* Whether the word is somewhere between the beginning of the line and p[n]. */
static bool line_holds(const uint8_t *p, size_t n, wte__bytes word, bool from_first,
                       uint8_t line_end)
{
    size_t begin = n, at;
    while (begin > 0 && p[begin - 1] != line_end) begin--;
    if (begin == 0 && !from_first) return true; /* the line begins further back */
    for (size_t end = n;; end--) {
        if (word_ends(p, end, word, &at) && at >= begin) return true;
        if (end == begin) return false;
    }
}

wte_status wte__text_row_find(const wte_file *f, const wte__text_index *x,
                              const wte__text_layout *l, wte__window *w, uint64_t row, bool *there,
                              wte_error *err)
{
    const uint64_t at = x->row_at[row], first = l->first;
    const uint8_t *p;
    size_t n, begin;
    wte__bytes word = { (const uint8_t *)"", 0 };
    *there = false;
    if (at < first || at > x->end) return WTE_OK;
    const bool whole = at - first <= BACK_BYTES;
    const size_t back = whole ? (size_t)(at - first) : BACK_BYTES;
    WTE_TRY(wte__window_see(w, at - back, back, &p, &n, err));
    if (n < back) return WTE_OK;
    if (f->tokens.n) word = wte__token_list_text(&f->tokens, row);
    if (l->before > (uint64_t)l->tokens) {
        *there = line_holds(p, back, word, whole, l->line_end);
        return WTE_OK;
    }
    for (size_t end = back;; end--) {
        const bool cut = word_ends(p, end, word, &begin) && !whole && begin == 0;
        if (cut || (word_ends(p, end, word, &begin) && line_begins(p, begin, whole, l->line_end)))
            break;
        if (end == 0) return WTE_OK;
        if (!is_mark(p[end - 1])) return WTE_OK;
    }
    *there = true;
    return WTE_OK;
}
