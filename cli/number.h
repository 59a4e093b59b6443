/* number.h - numbers and lists as they are typed: the one place that reads them. */
#ifndef WTE_CLI_NUMBER_H
#define WTE_CLI_NUMBER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opt.h"

/* Whole text, independent of the locale; false when it is no number, or too large for one. */
bool cli_read_unsigned(const char *text, uint64_t *out);
bool cli_read_signed(const char *text, int64_t *out);
/* decimal; also inf and nan; of what is beyond f64 *out is infinite though it returns false */
bool cli_read_real(const char *text, double *out);

/* The fields of a list: parted by one comma each, or by blanks.
 *     cli_fields f = { .at = text, .blanks = " ", .what = "--ids" };
 *     while (cli_fields_next(&f)) ... f.text, f.n ...
 *     if (f.missing) return cli_fields_refuse(c, &f); */
typedef struct cli_fields {
    const char *at;
    const char *blanks; /* what else parts fields, and may stand around them; not NULL */
    bool brackets;      /* [ and ] group fields */
    const char *what;   /* for messages */
    const char *text;   /* the field at hand ... */
    size_t n;           /* ... and its bytes */
    uint64_t count;     /* fields so far */
    bool missing;       /* ended at a comma that has no field before or behind it */
    char before;        /* private */
} cli_fields;
bool cli_fields_next(cli_fields *f);
/* A usage error that names the place. */
int cli_fields_refuse(const cli *c, const cli_fields *f);

/* Bytes of the dash or minus at the start that is not '-' but looks like it; else 0. */
size_t cli_false_dash(const char *text);
/* "; did you mean '-1'? (it begins with U+2212)" for a text that begins so, else "". */
typedef struct cli_hint {
    char text[128];
} cli_hint;
const char *cli_dash_hint(cli_hint *buf, const char *text, size_t n);
#endif
