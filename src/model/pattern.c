/* A regular expression as a row of elements, each of which takes one character; the text is read
 * once, with the set of elements that could be next. No recursion, no memory, no backtracking. */
#include "model/pattern.h"

#include <stdint.h>
#include <string.h>

#define ELEMENTS_MOST 63u /* their set, and the end, are bits of one word */

struct element {
    uint64_t set[4]; /* bit c: the character c */
    bool many;       /* it may come again */
    bool optional;   /* it need not come */
};

struct pattern {
    struct element element[ELEMENTS_MOST];
    size_t n;
    bool to_end; /* ends in '$' */
};

static void add(struct element *e, unsigned char c)
{
    e->set[c / 64] |= UINT64_C(1) << c % 64;
}

static void add_range(struct element *e, unsigned first, unsigned last)
{
    for (unsigned c = first; c <= last; c++) add(e, (unsigned char)c);
}

/* \d, \w, or a character that is escaped; false for what has another meaning. */
static bool add_escaped(struct element *e, char c)
{
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!c) return false;
    if (!letter) {
        add(e, (unsigned char)c);
        return true;
    }
    if (c != 'd' && c != 'w') return false;
    add_range(e, '0', '9');
    if (c == 'd') return true;
    add_range(e, 'a', 'z');
    add_range(e, 'A', 'Z');
    add(e, '_');
    return true;
}

/* After '[': to its end, or NULL. */
static const char *read_set(const char *at, struct element *e)
{
    const bool inverted = *at == '^';
    at += inverted;
    if (*at == ']') return NULL;
    while (*at && *at != ']') {
        if (*at == '\\') {
            if (!add_escaped(e, at[1])) return NULL;
            at += 2;
        } else if (at[1] == '-' && at[2] && at[2] != ']') {
            add_range(e, (unsigned char)at[0], (unsigned char)at[2]);
            at += 3;
        } else {
            add(e, (unsigned char)*at++);
        }
    }
    for (size_t i = 0; i < 4 && inverted; i++) e->set[i] = ~e->set[i];
    return *at ? at + 1 : NULL;
}

/* One element without its sign of repetition; where it ends, or NULL. */
static const char *read_element(const char *at, struct element *e)
{
    memset(e, 0, sizeof *e);
    switch (*at) {
    case '\\': return add_escaped(e, at[1]) ? at + 2 : NULL;
    case '[': return read_set(at + 1, e);
    case '.': memset(e->set, 0xff, sizeof e->set); return at + 1;
    case '(':
    case ')':
    case '|':
    case '{':
    case '}':
    case '*':
    case '+':
    case '?':
    case '^':
    case '$': return NULL;
    default: add(e, (unsigned char)*at); return at + 1;
    }
}

static bool compile(const char *at, struct pattern *p)
{
    memset(p, 0, sizeof *p);
    if (*at == '^') at++;
    while (*at) {
        if (at[0] == '$' && !at[1]) {
            p->to_end = true;
            return true;
        }
        if (p->n == ELEMENTS_MOST) return false;
        struct element *e = &p->element[p->n++];
        at = read_element(at, e);
        if (!at) return false;
        e->many = *at == '*' || *at == '+';
        e->optional = *at == '*' || *at == '?';
        at += e->many || e->optional;
        at += e->many && *at == '?'; /* the shortest: whether it matches is the same */
        if (*at == '?' || *at == '*' || *at == '+') return false; /* possessive */
    }
    return true;
}

/* With those that can be left out: what may follow them. */
static uint64_t follow(const struct pattern *p, uint64_t next)
{
    for (size_t i = 0; i < p->n; i++)
        if ((next >> i & 1) && p->element[i].optional) next |= UINT64_C(1) << (i + 1);
    return next;
}

wte__pattern wte__pattern_match(const char *pattern, const char *text, size_t bytes)
{
    struct pattern p;
    if (!compile(pattern, &p)) return WTE__PATTERN_UNKNOWN;
    const uint64_t end = UINT64_C(1) << p.n;
    uint64_t next = follow(&p, 1);
    for (size_t at = 0; at < bytes && next && (p.to_end || !(next & end)); at++) {
        const unsigned char c = (unsigned char)text[at];
        uint64_t after = 0;
        for (size_t i = 0; i < p.n; i++) {
            const struct element *e = &p.element[i];
            if (!(next >> i & 1) || !(e->set[c / 64] >> c % 64 & 1)) continue;
            after |= UINT64_C(1) << (i + 1);
            if (e->many) after |= UINT64_C(1) << i;
        }
        next = follow(&p, after);
    }
    return next & end ? WTE__PATTERN_YES : WTE__PATTERN_NO;
}
