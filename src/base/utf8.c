/* Characters that are not seen, and the one function on UTF-8 that programs outside the library
 * need as well. */
#include "base/utf8.h"

#include <wte/base.h>

/* First and last; in ascending order. The default-ignorable ones (Unicode 15), and with them C1,
 * spaces that are not U+0020, separators, and blanks that have a category of letters or symbols. */
static const uint32_t invisible[][2] = {
    { 0x80, 0xa0 },       /* C1, no-break space */
    { 0xad, 0xad },       /* soft hyphen */
    { 0x34f, 0x34f },     /* combining grapheme joiner */
    { 0x61c, 0x61c },     /* Arabic letter mark */
    { 0x115f, 0x1160 },   /* Hangul fillers */
    { 0x1680, 0x1680 },   /* Ogham space */
    { 0x17b4, 0x17b5 },   /* inherent vowels of Khmer */
    { 0x180b, 0x180f },   /* Mongolian variation selectors and vowel separator */
    { 0x2000, 0x200f },   /* spaces, zero width characters, marks of direction */
    { 0x2028, 0x202f },   /* separators, embeddings and overrides, narrow space */
    { 0x205f, 0x206f },   /* mathematical space, word joiner, isolates, operators */
    { 0x2800, 0x2800 },   /* blank pattern of Braille */
    { 0x3000, 0x3000 },   /* ideographic space */
    { 0x3164, 0x3164 },   /* Hangul filler */
    { 0xfdd0, 0xfdef },   /* noncharacters */
    { 0xfe00, 0xfe0f },   /* variation selectors */
    { 0xfeff, 0xfeff },   /* byte order mark */
    { 0xffa0, 0xffa0 },   /* half width Hangul filler */
    { 0xfff0, 0xfffb },   /* annotations, and what is reserved before them */
    { 0xfffe, 0xffff },   /* noncharacters */
    { 0x13430, 0x1343f }, /* joiners of Egyptian hieroglyphs */
    { 0x16fe4, 0x16fe4 }, /* Khitan filler */
    { 0x1bca0, 0x1bca3 }, /* controls of shorthand */
    { 0x1d159, 0x1d159 }, /* null notehead */
    { 0x1d173, 0x1d17a }, /* controls of musical notation */
    { 0xe0000, 0xe0fff }, /* tags, variation selectors, what is reserved between */
};

bool wte__utf8_invisible(uint32_t code)
{
    uint32_t low = 0, high = sizeof invisible / sizeof invisible[0];
    if ((code & 0xfffe) == 0xfffe) return true; /* the last two of every plane */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (code > invisible[middle][1])
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof invisible / sizeof invisible[0] && code >= invisible[low][0];
}

uint32_t wte_utf8_next(const void *text, uint64_t bytes, bool *safe)
{
    uint32_t code;
    if (!text) bytes = 0;
    if (safe) *safe = bytes && wte__utf8_printable(text, bytes) != 0;
    if (!bytes) return 0;
    return wte__utf8_get(text, bytes, &code);
}
