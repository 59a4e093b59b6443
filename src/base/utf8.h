/* One UTF-8 character at a time, strictly (no overlong forms, no surrogates, nothing above
 * U+10FFFF). */
#ifndef WTE_SRC_BASE_UTF8_H
#define WTE_SRC_BASE_UTF8_H
#include <stdint.h>

#include "base/span.h"

/* Length of the character at p (1..4) and its code point, or 0 when the bytes there are not
 * a valid character. */
static inline uint32_t wte__utf8_get(const uint8_t *p, uint64_t left, uint32_t *code)
{
    *code = 0;
    if (left == 0) return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    uint32_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n > left) return 0;
    uint32_t c = p[0] & (0x7fu >> n);
    for (uint32_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if ((n == 3 && c < 0x800) || (n == 4 && (c < 0x10000 || c > 0x10ffff)) ||
        (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return n;
}

/* Whether text is whole characters throughout. */
static inline bool wte__utf8_valid(wte__bytes text)
{
    uint32_t code, n;
    for (uint64_t i = 0; i < text.size; i += n) {
        n = wte__utf8_get(text.data + i, text.size - i, &code);
        if (n == 0) return false;
    }
    return true;
}

/* Writes code (a valid scalar value) as 1..4 bytes. */
static inline uint32_t wte__utf8_put(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    uint32_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (uint32_t i = n - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80u | (code & 0x3fu));
        code >>= 6;
    }
    out[0] = (uint8_t)((0xf00u >> n & 0xffu) | code);
    return n;
}

/* Whether a character above ASCII shows nothing, or changes how others are shown: default-ignorable
 * characters, blanks of every width, controls of direction and of format, line separators,
 * noncharacters. Two texts that differ only in these look the same. */
bool wte__utf8_invisible(uint32_t code);

/* Length of the character at p when a terminal may be given it as it is: valid, no control
 * character (C0, DEL, C1), no backslash, nothing invisible. Else 0. */
static inline uint32_t wte__utf8_printable(const uint8_t *p, uint64_t left)
{
    uint32_t c, n = wte__utf8_get(p, left, &c);
    if (n == 1) return c >= 0x20 && c != '\\' && c != 0x7f;
    return n == 0 || wte__utf8_invisible(c) ? 0 : n;
}
#endif
