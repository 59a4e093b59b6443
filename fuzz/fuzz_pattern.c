/* Patterns of quantisation settings: a pattern and a text, cut at the first NUL byte.
 *
 * Properties: a text, each of its characters escaped, matches itself and whatever begins with it,
 * and with '$' itself alone; ".*" before a pattern takes no match away; what is not understood is
 * so for every text. */
#include "fuzz.h"

#include <ctype.h>
#include <string.h>

#include "model/pattern.h"

#define TEXT_MOST 60u /* a pattern has at most 63 elements */

static void check_escaped(const char *text, size_t n)
{
    char pattern[2 * TEXT_MOST + 2], longer[TEXT_MOST + 2];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)text[i])) pattern[used++] = '\\';
        pattern[used++] = text[i];
    }
    pattern[used] = '\0';
    memcpy(longer, text, n);
    longer[n] = 'x';
    HOLDS(wte__pattern_match(pattern, text, n) == WTE__PATTERN_YES);
    HOLDS(wte__pattern_match(pattern, longer, n + 1) == WTE__PATTERN_YES);
    pattern[used++] = '$';
    pattern[used] = '\0';
    HOLDS(wte__pattern_match(pattern, text, n) == WTE__PATTERN_YES);
    HOLDS(wte__pattern_match(pattern, longer, n + 1) == WTE__PATTERN_NO);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
    if (!cut || size > 4096) return 0;
    const size_t n = (size_t)(cut - data);
    const char *text = (const char *)cut + 1;
    const size_t bytes = size - n - 1;
    char pattern[4100] = ".*";
    memcpy(pattern + 2, data, n + 1);
    const wte__pattern got = wte__pattern_match(pattern + 2, text, bytes);
    HOLDS((got == WTE__PATTERN_UNKNOWN) ==
          (wte__pattern_match(pattern + 2, "", 0) == WTE__PATTERN_UNKNOWN));
    if (got == WTE__PATTERN_YES && pattern[2] != '^')
        HOLDS(wte__pattern_match(pattern, text, bytes) != WTE__PATTERN_NO);
    if (bytes <= TEXT_MOST && !memchr(text, 0, bytes)) check_escaped(text, bytes);
    return 0;
}
