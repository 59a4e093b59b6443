/* Words cut out of a text. A line may be of any length, since only a word has to fit the window. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "train/corpus.h"

const uint8_t wte__line_end[4] = { '<', '/', 's', '>' };

/* What stands between words, as fastText has it. */
static const bool is_space[256] = {
    [' '] = true,  ['\t'] = true, ['\r'] = true, ['\v'] = true,
    ['\f'] = true, ['\0'] = true, ['\n'] = true,
};

static bool is_last_block(const wte__corpus_scan *s)
{
    return s->base + s->filled == s->file->size;
}

static wte_status too_long(const wte__corpus_scan *s, uint64_t at, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(err, WTE_E_LIMIT, at,
                     "%s: the word at byte %" PRIu64 " has over %u bytes: is it a text?",
                     wte__show_path(shown, s->path), at, WTE_LIMIT_CORPUS_WORD);
}

/* What is left in the window goes to its front, and the file goes on behind it. */
static wte_status refill(wte__corpus_scan *s, wte_error *err)
{
    const size_t left = s->filled - s->next;
    if (left > WTE_LIMIT_CORPUS_WORD) return too_long(s, wte__corpus_scan_at(s), err);
    memmove(s->buf, s->buf + s->next, left);
    s->base += s->next;
    s->next = 0;
    s->filled = left;
    const uint64_t more = s->file->size - (s->base + left);
    const size_t room = WTE__SCAN_BYTES - left;
    const size_t n = more < room ? (size_t)more : room;
    WTE_TRY(wte__file_read_at(s->file, s->base + left, s->buf + left, n, s->path, err));
    s->content = wte__corpus_content(s->content, s->buf + left, n);
    s->filled += n;
    return WTE_OK;
}

/* What some programs put before a text to say that it is UTF-8: no part of its first word. */
static const uint8_t mark[3] = { 0xef, 0xbb, 0xbf };

static wte_status has_mark(const wte__corpus_scan *s, bool *has, wte_error *err)
{
    uint8_t head[sizeof mark];
    *has = s->file->size >= sizeof mark;
    if (*has) WTE_TRY(wte__file_read_at(s->file, 0, head, sizeof head, s->path, err));
    *has = *has && memcmp(head, mark, sizeof mark) == 0;
    return WTE_OK;
}

wte_status wte__corpus_scan_start(wte__corpus_scan *s, uint64_t at, bool whole, wte_error *err)
{
    bool marked = false;
    if (at <= sizeof mark) WTE_TRY(has_mark(s, &marked, err));
    if (marked && (whole || at == 0)) at = sizeof mark; /* a word begins there */
    const bool behind_word = whole && at > 0 && !marked;
    s->base = at - behind_word; /* the byte before tells whether a word goes on */
    s->next = s->filled = 0;
    WTE_TRY(refill(s, err));
    if (!behind_word) return WTE_OK;
    while (!is_space[s->buf[s->next]]) {
        if (++s->next < s->filled) continue;
        if (is_last_block(s)) return WTE_OK;
        WTE_TRY(refill(s, err));
    }
    /* a white space in front of the part is not its own */
    if (wte__corpus_scan_at(s) < at) s->next++;
    return WTE_OK;
}

/* The words that end inside the window. */
static wte_status take_words(wte__corpus_scan *s, wte__bytes *words, size_t cap, size_t *n,
                             wte_error *err)
{
    const uint64_t before = s->stop > s->base ? s->stop - s->base : 0;
    const size_t stop = before < s->filled ? (size_t)before : s->filled;
    const bool last = is_last_block(s);
    const uint8_t *buf = s->buf;
    size_t i = s->next;
    while (*n < cap) {
        while (i < stop && is_space[buf[i]] && !(buf[i] == '\n' && s->lines)) i++;
        s->next = i;
        if (i >= stop) break;
        if (buf[i] == '\n') {
            words[(*n)++] = (wte__bytes){ wte__line_end, sizeof wte__line_end };
            s->next = ++i;
            continue;
        }
        const size_t begin = i;
        while (i < s->filled && !is_space[buf[i]]) i++;
        if (i == s->filled && !last) break; /* it may go on */
        if (i - begin > WTE_LIMIT_CORPUS_WORD) return too_long(s, s->base + begin, err);
        words[(*n)++] = (wte__bytes){ buf + begin, i - begin };
        s->next = i;
    }
    return WTE_OK;
}

wte_status wte__corpus_scan_words(wte__corpus_scan *s, wte__bytes *words, size_t cap, size_t *n,
                                  wte_error *err)
{
    *n = 0;
    for (;;) {
        WTE_TRY(take_words(s, words, cap, n, err));
        if (*n > 0 || cap == 0) return WTE_OK;
        if (is_last_block(s) || wte__corpus_scan_at(s) >= s->stop) return WTE_OK;
        WTE_TRY(refill(s, err));
    }
}
