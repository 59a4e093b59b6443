/* How the layout of a text table is decided.
 *
 * 1. Survey (text_survey.c): the first 32 lines under each separator; the separator whose lines
 *    agree is taken, or the text is recognised as something else.
 * 2. First line (text_titles.c): counts, titles, comments, or a row.
 * 3. Columns (text_columns.c) and keys (text_keys.c): where every column holds numbers, up to
 * 10,000 lines and the last ones are counted to tell a key column from a number of the row. Options
 * of the caller come before evidence. Two readings that are alike are refused. */
#ifndef WTE_SRC_FORMAT_TEXT_DECIDE_H
#define WTE_SRC_FORMAT_TEXT_DECIDE_H
#include <wte/format.h>

#include "base/alloc.h"
#include "format/text_dialect.h"

/* What the decision looks at. Lines beyond this do not change it. */
#define WTE__TEXT_SURVEY_LINES 32u
#define WTE__TEXT_SAMPLE_LINES 10000u
#define WTE__TEXT_SAMPLE_BYTES ((size_t)8 << 20)
#define WTE__TEXT_TAIL_BYTES   ((size_t)65536)

/* One line under one separator. */
typedef struct wte__text_look {
    uint64_t fields;   /* without an empty last one */
    uint64_t numbers;  /* how many of the last fields are numbers, in a row */
    uint64_t integers; /* of these: digits alone, perhaps with a sign */
    uint64_t wholes;   /* of these: whole by value */
    uint64_t quoted;   /* of these: in quotes */
    uint64_t commas;   /* of these: with a decimal comma */
    uint64_t points;   /* of these: with a point */
    uint64_t pairs;    /* fields "index:value" */
    bool ends_empty;   /* the line ends with a separator */
    bool first_quoted; /* the first field is in quotes */
    bool first_integer;
    bool first_holds_number; /* the first field ends with a blank and a number */
    bool list;               /* the numbers are a list in brackets */
} wte__text_look;

typedef struct wte__text_survey {
    uint8_t separator, cell_separator;
    wte__text_look line[WTE__TEXT_SURVEY_LINES]; /* comments and empty lines are left out */
    size_t n;
    uint64_t fields, numbers; /* of most lines but the first; numbers: that end them */
    bool even;                /* with blanks: all lines have that many fields */
} wte__text_survey;

/* One column under the separator that was taken, over the sample. */
typedef struct wte__text_column {
    uint64_t words, numbers;
    uint64_t missing;  /* of the words: ways to write a missing value */
    uint64_t integers; /* digits alone, perhaps with a sign */
    uint64_t wholes;   /* whole by value */
    uint64_t negatives;
    uint64_t decimals; /* the most digits after the point */
    double size;       /* the greatest magnitude */
    double first, last;
    double step; /* from the first value to the second */
    bool steps;  /* so far from each value to the next, and not 0 */
} wte__text_column;

#define WTE__TEXT_COLUMNS 256u
/* The evidence table: what up to 10,000 lines and the last ones hold. */
typedef struct wte__text_evidence {
    wte__text_column column[WTE__TEXT_COLUMNS];
    uint64_t columns; /* of the table, of which at most WTE__TEXT_COLUMNS are counted */
    uint64_t rows;    /* lines with as many fields */
    uint64_t uneven;  /* lines with another number */
    bool distinct;    /* no value of the first column comes twice */
} wte__text_evidence;

/* What the first line says of the columns, when it is a title. */
typedef struct wte__text_titles {
    uint64_t n;              /* titles; 0: there is no title line */
    uint64_t shift;          /* 1: the first column has no title (R) */
    uint64_t run_first, run; /* columns with numbered titles (d0, d1, ..), and how many */
    bool other_run;          /* there are two such runs */
    bool first_is_key;       /* the first title is a usual name of keys, or empty */
    uint64_t key_named;      /* a column with such a title, or WTE_NO_INDEX */
    char first[48];          /* the first title */
} wte__text_titles;

typedef struct wte__text_reading {
    bool plain;     /* words and then numbers, or as the counts line states: nothing to report */
    uint64_t lines; /* that were looked at */
    char what[240]; /* how the text is read, one line */
    char why[240];  /* and why */
} wte__text_reading;

typedef struct wte__text_decision {
    wte__text_layout *l;
    const wte_text_options *wish;
    wte__bytes text; /* the beginning of the file, after a byte order mark */
    wte__bytes tail; /* whole lines at its end, none of which is in text; or nothing */
    bool whole;      /* text is all of the file */
    bool sampled;    /* text is as long as it will get */
    bool wants_more; /* set when a longer text is needed to decide */
    wte__text_survey survey;
    wte__text_titles titles;
    wte__text_evidence *evidence; /* NULL: there was no need of it */
    wte__text_reading *reading;
    const wte_allocator *allocator;
    const char *path;
    wte_error *err;
} wte__text_decision;

/* Surveying (text_survey.c) */

/* Whether a text may be a table of vectors, or something that the reader refuses by name. */
bool wte__text_may_be_table(const uint8_t *data, size_t n, bool whole);
/* Line ends, and the text from which the survey starts. */
void wte__text_start_at(wte__text_decision *d, const uint8_t *data, size_t n);
/* Finds the separator; false when lines agree under none. */
bool wte__text_survey_all(wte__text_decision *d, wte__bytes text);
/* The lines of a text under one separator, whether they agree or not. */
void wte__text_survey_lines(wte__text_decision *d, uint8_t separator, wte__bytes text);
wte__text_look wte__text_look_at(uint8_t separator, wte__bytes line);
/* A number, perhaps with a decimal comma when that is not the separator. */
bool wte__text_is_number(wte__bytes field, uint8_t separator);
/* Texts that are recognised, and are no table of vectors; WTE_OK when it is none of them. */
wte_status wte__text_named(const wte__text_decision *d);

/* Titles (text_titles.c): takes the lines before the first row. */
wte_status wte__text_take_first(wte__text_decision *d);

/* How missing values are written: "", NA, null, ... */
bool wte__text_is_missing(wte__bytes field);

/* Columns (text_columns.c): which is the key, and which hold the numbers. */
wte_status wte__text_take_keys(wte__text_decision *d);
/* Keys (text_keys.c): whether the first of columns that all hold numbers is one. */
wte_status wte__text_keys_of_numbers(wte__text_decision *d, bool *key);

/* All of it (text_decide.c). */
wte_status wte__text_decide(wte__text_decision *d, const uint8_t *data, size_t n);
void wte__text_because(wte__text_decision *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#endif
