/* json.h - writes one JSON value to a stream, indented, independent of the locale.
 *
 *     cli_json j;
 *     cli_json_begin(&j, stdout, "wte.lookup/1");     {"schema": "wte.lookup/1",
 *     cli_json_unsigned(&j, "rows", 6);                "rows": 6,
 *     cli_json_list(&j, "shape");                      "shape": [
 *     cli_json_unsigned(&j, NULL, 6);                           6
 *     cli_json_close(&j);                                      ]
 *     cli_json_end(&j);                               }
 *
 * key is NULL inside a list. NaN and infinities are the strings "NaN", "Infinity" and "-Infinity".
 */
#ifndef WTE_CLI_JSON_H
#define WTE_CLI_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CLI_JSON_DEPTH 16
typedef struct cli_json {
    FILE *out;
    unsigned depth;
    struct {
        bool list, line, empty;
    } open[CLI_JSON_DEPTH];
} cli_json;

void cli_json_begin(cli_json *j, FILE *out, const char *schema); /* opens the outermost object */
/* The same on one line, for streams of records. */
void cli_json_begin_line(cli_json *j, FILE *out, const char *schema);
void cli_json_end(cli_json *j); /* closes it, newline */

void cli_json_object(cli_json *j, const char *key);
void cli_json_short(cli_json *j, const char *key); /* an object on one line */
void cli_json_list(cli_json *j, const char *key);  /* one item a line */
void cli_json_line(cli_json *j, const char *key);  /* a list on one line: shapes, vectors */
void cli_json_close(cli_json *j);                  /* the innermost of these */

void cli_json_text(cli_json *j, const char *key, const char *text); /* NULL = null */
/* Bytes that should be UTF-8. Broken bytes become U+FFFD; in an object a field `key`_bytes with all
 * bytes in hex is then added. */
void cli_json_bytes(cli_json *j, const char *key, const void *text, size_t bytes);
void cli_json_unsigned(cli_json *j, const char *key, uint64_t value);
void cli_json_signed(cli_json *j, const char *key, int64_t value);
void cli_json_bool(cli_json *j, const char *key, bool value);
void cli_json_null(cli_json *j, const char *key);
/* With the digits that are needed to read the same value back: 9 and 17. */
void cli_json_f32(cli_json *j, const char *key, float value);
void cli_json_f64(cli_json *j, const char *key, double value);
#endif
