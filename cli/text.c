/* Bytes and numbers as text for people: nothing of it depends on the locale. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "out.h"

static const char hex[] = "0123456789abcdef";

/* The escape of one byte that may not be shown as it is; returns its length. */
static size_t escape(unsigned char byte, char out[8])
{
    static const char from[] = "\n\t\r\\", to[] = "ntr\\";
    const char *short_form = byte ? strchr(from, byte) : NULL;
    out[0] = '\\';
    if (short_form) {
        out[1] = to[short_form - from];
        return 2;
    }
    out[1] = 'x';
    out[2] = hex[byte >> 4];
    out[3] = hex[byte & 15];
    return 4;
}

static void put_escaped(FILE *out, const void *text, size_t bytes, char quote)
{
    const char *at = text;
    for (size_t left = bytes; left;) {
        char buf[8];
        bool safe;
        size_t n = wte_utf8_next(at, left, &safe);
        if (n == 0) n = 1;
        if (!safe)
            for (size_t i = 0; i < n; i++) fwrite(buf, 1, escape((unsigned char)at[i], buf), out);
        else {
            if (quote && *at == quote) fputc('\\', out);
            fwrite(at, 1, n, out);
        }
        at += n;
        left -= n;
    }
}

void cli_put_safe(FILE *out, const void *text, size_t bytes)
{
    put_escaped(out, text, bytes, '\0');
}

void cli_put_quoted(FILE *out, const void *text, size_t bytes)
{
    fputc('"', out);
    put_escaped(out, text, bytes, '"');
    fputc('"', out);
}

size_t cli_escape(char *out, size_t cap, const void *text, size_t bytes)
{
    const char *at = text;
    size_t used = 0;
    for (size_t left = bytes; left;) {
        char buf[8];
        bool safe;
        size_t n = wte_utf8_next(at, left, &safe);
        const char *from = at;
        if (!safe) {
            n = escape((unsigned char)*at, buf);
            from = buf;
        }
        if (used + n >= cap) break;
        memcpy(out + used, from, n);
        used += n;
        at += safe ? n : 1;
        left -= safe ? n : 1;
    }
    out[used] = '\0';
    return used;
}

size_t cli_quoted_width(const void *text, size_t bytes)
{
    const char *at = text;
    size_t width = 2;
    for (size_t left = bytes; left;) {
        char buf[8];
        bool safe;
        size_t n = wte_utf8_next(at, left, &safe);
        if (n == 0) n = 1;
        for (size_t i = 0; i < n && !safe; i++) width += escape((unsigned char)at[i], buf);
        if (safe) width += *at == '"' ? 2 : 1;
        at += n;
        left -= n;
    }
    return width;
}

const char *cli_grouped(char buf[32], uint64_t n)
{
    char plain[24];
    int len = snprintf(plain, sizeof plain, "%" PRIu64, n), used = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) buf[used++] = ',';
        buf[used++] = plain[i];
    }
    buf[used] = '\0';
    return buf;
}

const char *cli_size(char buf[32], uint64_t bytes)
{
    static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < 1024) {
        snprintf(buf, 32, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
        return buf;
    }
    double size = (double)bytes / 1024;
    size_t u = 0;
    for (; size >= 1023.95 && u + 1 < sizeof unit / sizeof *unit; u++) size /= 1024;
    snprintf(buf, 32, "%.1f %s", size, unit[u]);
    return buf;
}

/* Four decimals say enough of numbers between these. */
#define FIXED_FROM 1e-2
#define FIXED_TO   1e5

void cli_digits_look(cli_digits *d, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (signbit(values[i])) d->negative = true;
        if (isfinite(values[i]) && fabs(values[i]) > d->largest) d->largest = fabs(values[i]);
    }
}

#define NUMBER_TEXT 64 /* integers have at most 20 digits; the other styles are short */
static int format_number(char text[NUMBER_TEXT], const cli_digits *d, double value)
{
    bool fixed = d->largest == 0 || (d->largest >= FIXED_FROM && d->largest < FIXED_TO);
    if (d->type >= WTE_I8 && d->type <= WTE_BOOL) return snprintf(text, NUMBER_TEXT, "%.0f", value);
    if (fixed) return snprintf(text, NUMBER_TEXT, "%.4f", value);
    return snprintf(text, NUMBER_TEXT, "%.4e", value);
}

void cli_put_number(FILE *out, const cli_digits *d, double value, const void *stored)
{
    char text[NUMBER_TEXT];
    int64_t whole;
    uint64_t natural;
    int width = format_number(text, d, d->largest) + d->negative;
    format_number(text, d, value);
    /* these may have more digits than a double */
    if (d->type == WTE_I64) {
        memcpy(&whole, stored, sizeof whole);
        snprintf(text, sizeof text, "%" PRId64, whole);
    } else if (d->type == WTE_U64) {
        memcpy(&natural, stored, sizeof natural);
        snprintf(text, sizeof text, "%" PRIu64, natural);
    }
    fprintf(out, "%*s", width, text);
}
