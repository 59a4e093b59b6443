/* Writing JSON. Strings hold no raw control, invisible or direction-changing character, so that the
 * text may go to a terminal. */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <wte/base.h>

/* The code point of a valid character of n bytes. */
static unsigned code_of(const char *at, size_t n)
{
    static const unsigned first_bits[4] = { 0x7f, 0x1f, 0x0f, 0x07 };
    unsigned code = (unsigned char)at[0] & first_bits[n - 1];
    for (size_t i = 1; i < n; i++) code = code << 6 | ((unsigned char)at[i] & 0x3fu);
    return code;
}

/* \uXXXX, from U+10000 on as a surrogate pair. */
static void put_escape(FILE *out, unsigned code)
{
    if (code < 0x10000)
        fprintf(out, "\\u%04x", code);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

static void put_string(FILE *out, const void *text, size_t bytes)
{
    const char *at = text;
    fputc('"', out);
    for (size_t left = bytes; left;) {
        bool safe;
        size_t n = wte_utf8_next(at, left, &safe);
        if (n == 0) {
            fputs("\\ufffd", out);
            n = 1;
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (safe) {
            fwrite(at, 1, n, out);
        } else {
            put_escape(out, code_of(at, n));
        }
        at += n;
        left -= n;
    }
    fputc('"', out);
}

static void indent(const cli_json *j)
{
    fputc('\n', j->out);
    for (unsigned i = 0; i < j->depth; i++) fputs("  ", j->out);
}

/* Comma, line and key before a value. */
static void lead(cli_json *j, const char *key)
{
    if (j->depth == 0) return;
    bool line = j->open[j->depth - 1].line, empty = j->open[j->depth - 1].empty;
    assert(j->open[j->depth - 1].list == !key);
    if (!empty) fputc(',', j->out);
    if (!line)
        indent(j);
    else if (!empty)
        fputc(' ', j->out);
    j->open[j->depth - 1].empty = false;
    if (!key) return;
    put_string(j->out, key, strlen(key));
    fputs(": ", j->out);
}

static void open_container(cli_json *j, const char *key, bool list, bool line)
{
    lead(j, key);
    assert(j->depth < CLI_JSON_DEPTH);
    fputc(list ? '[' : '{', j->out);
    j->open[j->depth].list = list;
    j->open[j->depth].line = line || (j->depth && j->open[j->depth - 1].line);
    j->open[j->depth].empty = true;
    j->depth++;
}

void cli_json_begin(cli_json *j, FILE *out, const char *schema)
{
    j->out = out;
    j->depth = 0;
    open_container(j, NULL, false, false);
    cli_json_text(j, "schema", schema);
}

void cli_json_begin_line(cli_json *j, FILE *out, const char *schema)
{
    j->out = out;
    j->depth = 0;
    open_container(j, NULL, false, true);
    cli_json_text(j, "schema", schema);
}

void cli_json_end(cli_json *j)
{
    assert(j->depth == 1);
    cli_json_close(j);
    fputc('\n', j->out);
}

void cli_json_object(cli_json *j, const char *key)
{
    open_container(j, key, false, false);
}

void cli_json_short(cli_json *j, const char *key)
{
    open_container(j, key, false, true);
}

void cli_json_list(cli_json *j, const char *key)
{
    open_container(j, key, true, false);
}

void cli_json_line(cli_json *j, const char *key)
{
    open_container(j, key, true, true);
}

void cli_json_close(cli_json *j)
{
    assert(j->depth > 0);
    j->depth--;
    if (!j->open[j->depth].line && !j->open[j->depth].empty) indent(j);
    fputc(j->open[j->depth].list ? ']' : '}', j->out);
}

void cli_json_text(cli_json *j, const char *key, const char *text)
{
    lead(j, key);
    if (text)
        put_string(j->out, text, strlen(text));
    else
        fputs("null", j->out);
}

void cli_json_bytes(cli_json *j, const char *key, const void *text, size_t bytes)
{
    const unsigned char *at = text;
    bool valid = true, safe;
    for (size_t i = 0, n; i < bytes && valid; i += n) {
        n = wte_utf8_next(at + i, bytes - i, &safe);
        valid = n > 0;
    }
    lead(j, key);
    put_string(j->out, text, bytes);
    if (valid || !key) return;
    fputc(',', j->out);
    if (j->open[j->depth - 1].line)
        fputc(' ', j->out);
    else
        indent(j);
    fprintf(j->out, "\"%s_bytes\": \"", key);
    for (size_t i = 0; i < bytes; i++) fprintf(j->out, "%02x", at[i]);
    fputc('"', j->out);
}

void cli_json_unsigned(cli_json *j, const char *key, uint64_t value)
{
    lead(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void cli_json_signed(cli_json *j, const char *key, int64_t value)
{
    lead(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void cli_json_bool(cli_json *j, const char *key, bool value)
{
    lead(j, key);
    fputs(value ? "true" : "false", j->out);
}

void cli_json_null(cli_json *j, const char *key)
{
    lead(j, key);
    fputs("null", j->out);
}

static void put_real(cli_json *j, const char *key, double value, int digits)
{
    lead(j, key);
    if (isnan(value))
        fputs("\"NaN\"", j->out);
    else if (isinf(value))
        fputs(value > 0 ? "\"Infinity\"" : "\"-Infinity\"", j->out);
    else
        fprintf(j->out, "%.*g", digits, value);
}

void cli_json_f32(cli_json *j, const char *key, float value)
{
    put_real(j, key, (double)value, 9);
}

void cli_json_f64(cli_json *j, const char *key, double value)
{
    put_real(j, key, value, 17);
}
