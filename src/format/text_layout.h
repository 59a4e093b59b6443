/* How a text file of vectors is laid out: what separates fields, whether a token stands in front,
 * how many numbers follow. Told from its first lines; then every line is cut by it. */
#ifndef WTE_SRC_FORMAT_TEXT_LAYOUT_H
#define WTE_SRC_FORMAT_TEXT_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

typedef enum wte__text_separator {
    WTE__TEXT_BLANKS, /* runs of spaces and tabs */
    WTE__TEXT_TABS,   /* exactly one tab */
    WTE__TEXT_COMMAS  /* exactly one comma */
} wte__text_separator;

typedef struct wte__text_layout {
    wte__text_separator separator;
    bool counted;  /* the first line is "rows dim" */
    bool titled;   /* the first line names the columns */
    bool tokens;   /* a token stands before the numbers */
    uint64_t rows; /* that the first line promises, when counted */
    uint64_t dim;
    uint64_t first; /* offset of the first row's line */
} wte__text_layout;

/* The layout of a file that begins so. whole: nothing follows. False: no text of vectors. */
bool wte__text_layout_guess(wte__text_layout *l, const uint8_t *data, size_t n, bool whole);
/* "rows dim" as the whole of the line at data; its length with the line's end, or 0. */
size_t wte__text_counts(const uint8_t *data, size_t n, uint64_t *rows, uint64_t *dim);

typedef enum wte__text_cut {
    WTE__TEXT_ROW,
    WTE__TEXT_EMPTY, /* nothing but blanks */
    WTE__TEXT_UNEVEN /* another number of fields */
} wte__text_cut;
typedef struct wte__text_line {
    wte_bytes token;     /* within the line, or {NULL, 0} */
    bool quoted;         /* token has "" for each quote in it */
    uint64_t numbers_at; /* offset of the first number in the line */
    uint64_t found;      /* numbers, when uneven */
} wte__text_line;
/* A line without its end. */
wte__text_cut wte__text_cut_line(const wte__text_layout *l, wte_bytes line, wte__text_line *out);

static inline bool wte__text_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}
/* The line at data without its end (\n or \r\n); *next gets where the following one begins. */
wte_bytes wte__text_line_at(const uint8_t *data, size_t n, size_t *next);
#endif
