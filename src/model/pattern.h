/* The regular expressions that quantisation settings name modules with. Private to this room. */
#ifndef WTE_SRC_MODEL_PATTERN_H
#define WTE_SRC_MODEL_PATTERN_H
#include <stdbool.h>
#include <stddef.h>

typedef enum wte__pattern {
    WTE__PATTERN_NO = 0,
    WTE__PATTERN_YES,
    WTE__PATTERN_UNKNOWN /* it has something that is not understood here */
} wte__pattern;

/* Whether the pattern matches a beginning of the text, as Python's re.match does. Understood are
 * characters, '.', '\', sets in brackets, '*', '+', '?', '^' at the beginning, '$' at the end. */
wte__pattern wte__pattern_match(const char *pattern, const char *text, size_t bytes);
#endif
