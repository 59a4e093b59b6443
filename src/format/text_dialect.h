/* Layout of a text table: what separates fields, which columns hold the key and the numbers. Lines
 * are cut by it; text_decide.h finds it. */
#ifndef WTE_SRC_FORMAT_TEXT_LAYOUT_H
#define WTE_SRC_FORMAT_TEXT_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

#define WTE__TEXT_BLANKS ' ' /* separator: runs of spaces and tabs */
#define WTE__TEXT_LIST   '[' /* separator: the numbers are a list in brackets within one cell */

typedef struct wte__text_layout {
    uint8_t separator;      /* one of the above, or a byte: exactly one of it between fields */
    uint8_t line_end;       /* '\n'; '\r' in a text that has no '\n' */
    uint8_t cell_separator; /* of a list: what separates the cells before it */
    bool counted;           /* a line before the rows is "rows dim" */
    bool titled;            /* a line before the rows names the columns */
    bool comments;          /* lines that begin with # are not rows */
    bool tokens;            /* column `key` names the row */
    bool decimal_comma;
    bool quoted_key;     /* with blanks: the key is in double quotes */
    bool quoted_numbers; /* numbers may be in double quotes */
    uint64_t rows;       /* stated by the counts line, when counted */
    uint64_t key;        /* column of the key, from 0; with blanks always 0 */
    uint64_t before;     /* columns before the numbers, the key included */
    uint64_t dim;
    uint64_t after;      /* columns after the numbers */
    uint64_t first;      /* offset of the first row's line */
    uint64_t first_line; /* its number, from 1 */
} wte__text_layout;

/* "rows dim" as the whole of the line at data; its length with the line's end, or 0. */
size_t wte__text_counts(const uint8_t *data, size_t n, uint64_t *rows, uint64_t *dim);
/* Decimal digits at p[at]; the place after them. A value over 64 bits becomes UINT64_MAX. */
size_t wte__text_integer(const uint8_t *p, size_t n, size_t at, uint64_t *out);

typedef enum wte__text_cut {
    WTE__TEXT_ROW,
    WTE__TEXT_EMPTY,   /* nothing but blanks */
    WTE__TEXT_COMMENT, /* begins with #, in a layout that has comments */
    WTE__TEXT_UNEVEN   /* another number of fields */
} wte__text_cut;
typedef struct wte__text_line {
    wte__bytes token;    /* within the line, or {NULL, 0} */
    bool quoted;         /* the token stood in quotes: "" and \" in it are one quote */
    uint64_t numbers_at; /* offset of the first number in the line */
    uint64_t found;      /* numbers, when uneven */
} wte__text_line;
/* A line without its end. */
wte__text_cut wte__text_cut_line(const wte__text_layout *l, wte__bytes line, wte__text_line *out);

static inline bool wte__text_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}
/* Whether the line, leading blanks aside, begins with # or %. */
bool wte__text_is_comment(wte__bytes line);
/* The line at data without its end (line_end, and a \r before it); *next gets where the following
 * one begins. */
wte__bytes wte__text_line_at(const uint8_t *data, size_t n, uint8_t line_end, size_t *next);

/* Fields of a line from the left. A field in double quotes may hold separators; blanks around
 * fields do not belong to them. */
typedef struct wte__text_fields {
    wte__bytes line;
    size_t at;
    uint8_t separator;
    bool more;
} wte__text_fields;
void wte__text_fields_start(wte__text_fields *it, uint8_t separator, wte__bytes line);
/* *field gets the field without its quotes. False: there are no more. */
bool wte__text_fields_next(wte__text_fields *it, wte__bytes *field, bool *quoted);

/* A list in brackets: [0.1, 0.2] or (0.1 0.2), perhaps in quotes. */
typedef struct wte__text_list {
    size_t open, numbers_at, close; /* offsets of the bracket (or the quote before it), of the first
                                     * number, of the closing bracket */
    uint64_t numbers;
} wte__text_list;
/* The only list of a line; false when there is none, or several, or it holds anything but numbers.
 */
bool wte__text_find_list(wte__bytes line, wte__text_list *out);
#endif
