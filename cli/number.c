/* Numbers and lists as they are typed. Nothing is cut, wrapped or left out: what is not a number as
 * a whole is none, and a comma without a field beside it is an error. */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

bool cli_read_unsigned(const char *text, uint64_t *out)
{
    *out = 0;
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || errno) return false;
    *out = value;
    return true;
}

bool cli_read_signed(const char *text, int64_t *out)
{
    *out = 0;
    if (!isdigit((unsigned char)text[text[0] == '-'])) return false;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end || errno) return false;
    *out = value;
    return true;
}

bool cli_read_real(const char *text, double *out)
{
    *out = 0;
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    const bool finite = isdigit((unsigned char)digits[0]) || digits[0] == '.';
    const bool starts = finite || strncmp(digits, "inf", 3) == 0 || strncmp(digits, "nan", 3) == 0;
    if (!starts || strpbrk(digits, "xX(")) return false;
    char *end;
    double value = strtod(text, &end); /* the locale is never set, so the point is a point */
    if (end == text || *end) return false;
    *out = value;
    return !finite || isfinite(value);
}

bool cli_fields_next(cli_fields *f)
{
    for (; *f->at; f->at++) {
        const char c = *f->at;
        if (strchr(f->blanks, c)) continue;
        if (c != ',' && !(f->brackets && (c == '[' || c == ']'))) break;
        f->missing =
            (c == ',' && f->before != '1' && f->before != ']') || (c == ']' && f->before == ',');
        if (f->missing) return false;
        f->before = c;
    }
    f->missing = !*f->at && f->before == ',';
    if (!*f->at) return false;
    f->text = f->at;
    while (*f->at && *f->at != ',' && !strchr(f->blanks, *f->at) &&
           !(f->brackets && (*f->at == '[' || *f->at == ']')))
        f->at++;
    f->n = (size_t)(f->at - f->text);
    f->before = '1'; /* a field */
    f->count++;
    return true;
}

int cli_fields_refuse(const cli *c, const cli_fields *f)
{
    return cli_usage(c, "%s: an empty field at position %" PRIu64 ": nothing stands %s the comma",
                     f->what, f->count, f->before == ',' ? "behind" : "before");
}

/* Characters that people and editors put where a minus or a dash is meant. */
static const struct {
    const char *bytes;
    unsigned code;
} dashes[] = { { "\xe2\x80\x90", 0x2010 }, { "\xe2\x80\x91", 0x2011 }, { "\xe2\x80\x92", 0x2012 },
               { "\xe2\x80\x93", 0x2013 }, { "\xe2\x80\x94", 0x2014 }, { "\xe2\x80\x95", 0x2015 },
               { "\xe2\x88\x92", 0x2212 }, { "\xef\xb9\x98", 0xfe58 }, { "\xef\xb9\xa3", 0xfe63 },
               { "\xef\xbc\x8d", 0xff0d } };

static size_t which_dash(const char *text)
{
    size_t i = 0;
    while (i < sizeof dashes / sizeof *dashes && strncmp(text, dashes[i].bytes, 3) != 0) i++;
    return i;
}

size_t cli_false_dash(const char *text)
{
    return which_dash(text) < sizeof dashes / sizeof *dashes ? 3 : 0;
}

const char *cli_dash_hint(cli_hint *buf, const char *text, size_t n)
{
    const size_t i = which_dash(text);
    buf->text[0] = '\0';
    if (i == sizeof dashes / sizeof *dashes || n < 4) return buf->text;
    snprintf(buf->text, sizeof buf->text, "; did you mean '-%.*s'? (it begins with U+%04X)",
             (int)(n - 3 < 64 ? n - 3 : 64), text + 3, dashes[i].code);
    return buf->text;
}
