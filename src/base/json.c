/* The pull reader: one state per place in the grammar, one stack bit per open container. */
#include "base/json.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"

enum state {
    WANT_VALUE,        /* at the start, after a key's colon, after a comma in an array */
    WANT_VALUE_OR_END, /* just after [ */
    WANT_KEY,          /* after a comma in an object */
    WANT_KEY_OR_END,   /* just after { */
    AFTER_VALUE,       /* a comma or the container's end */
    DONE
};

void wte__json_init(wte__json *j, const void *data, uint64_t size, const char *name, uint32_t flags)
{
    memset(j, 0, sizeof *j);
    j->data = data;
    j->size = size;
    j->name = name;
    j->flags = flags;
    j->error_at = WTE_NO_INDEX;
    j->state = WANT_VALUE;
}

static wte__json_kind stop(wte__json *j, uint64_t at, const char *what)
{
    if (j->error_at == WTE_NO_INDEX) {
        j->error_at = at;
        j->error = what;
    }
    j->at = j->size;
    return j->kind = WTE__JSON_ERROR;
}

static void skip_space(wte__json *j)
{
    while (j->at < j->size) {
        uint8_t c = j->data[j->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
        j->at++;
    }
}

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hex digits at p as a number, or -1. */
static int32_t hex4(const uint8_t *p, uint64_t left)
{
    int32_t v = 0;
    if (left < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int h = hex_value(p[i]);
        if (h < 0) return -1;
        v = v << 4 | h;
    }
    return v;
}

/* The \uXXXX (or surrogate pair) whose first hex digit is at p: its code point and how many bytes
 * follow the u. */
static uint32_t unicode_escape(const uint8_t *p, uint64_t left, uint32_t *code)
{
    int32_t hi = hex4(p, left);
    *code = 0;
    if (hi < 0 || (hi >= 0xdc00 && hi < 0xe000)) return 0;
    if (hi < 0xd800 || hi > 0xdbff) {
        *code = (uint32_t)hi;
        return 4;
    }
    if (left < 10 || p[4] != '\\' || p[5] != 'u') return 0;
    int32_t lo = hex4(p + 6, left - 6);
    if (lo < 0xdc00 || lo > 0xdfff) return 0;
    *code = 0x10000u + (((uint32_t)hi - 0xd800u) << 10) + ((uint32_t)lo - 0xdc00u);
    return 10;
}

/* Checks the escape whose backslash is at `at`; bytes of it, or 0 after stop(). */
static uint32_t check_escape(wte__json *j, uint64_t at)
{
    uint64_t left = j->size - at;
    uint32_t code;
    if (left < 2) {
        stop(j, at, "the text ends inside a string");
        return 0;
    }
    switch (j->data[at + 1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return 2;
    case 'u': {
        uint32_t n = unicode_escape(j->data + at + 2, left - 2, &code);
        if (n) return n + 2;
        stop(j, at, "bad \\u escape (four hex digits, surrogates only in pairs)");
        return 0;
    }
    default: stop(j, at, "unknown escape"); return 0;
    }
}

/* The string whose opening quote is at j->at; sets raw and escaped. */
static bool read_string(wte__json *j)
{
    uint64_t start = j->at + 1, at = start;
    j->escaped = false;
    for (;;) {
        if (at >= j->size) {
            stop(j, j->token_at, "string without an end");
            return false;
        }
        uint8_t c = j->data[at];
        if (c == '"') break;
        if (c == '\\') {
            uint32_t n = check_escape(j, at);
            if (n == 0) return false;
            j->escaped = true;
            at += n;
        } else if (c < 0x20) {
            stop(j, at, "control character inside a string");
            return false;
        } else if (c < 0x80) {
            at++;
        } else {
            uint32_t code, n = wte__utf8_get(j->data + at, j->size - at, &code);
            if (n == 0) {
                stop(j, at, "not valid UTF-8");
                return false;
            }
            at += n;
        }
    }
    if (at - start > WTE_LIMIT_JSON_STRING) {
        stop(j, j->token_at, "string longer than the limit of 64 MiB");
        return false;
    }
    j->raw.data = j->data + start;
    j->raw.size = at - start;
    j->at = at + 1;
    return true;
}

static bool digits(wte__json *j)
{
    uint64_t start = j->at;
    while (j->at < j->size && j->data[j->at] >= '0' && j->data[j->at] <= '9') j->at++;
    return j->at > start;
}

static bool take(wte__json *j, char c)
{
    if (j->at >= j->size || j->data[j->at] != (uint8_t)c) return false;
    j->at++;
    return true;
}

static bool take_word(wte__json *j, const char *word)
{
    size_t n = strlen(word);
    if (j->size - j->at < n || memcmp(j->data + j->at, word, n) != 0) return false;
    j->at += n;
    return true;
}

static bool read_number(wte__json *j)
{
    uint64_t start = j->at;
    bool minus = take(j, '-');
    bool ok;
    if ((j->flags & WTE__JSON_PYTHON) &&
        (take_word(j, "Infinity") || (!minus && take_word(j, "NaN")))) {
        ok = true;
    } else {
        ok = take(j, '0') || digits(j);
        if (ok && take(j, '.')) ok = digits(j);
        if (ok && (take(j, 'e') || take(j, 'E'))) {
            if (!take(j, '+')) (void)take(j, '-');
            ok = digits(j);
        }
    }
    if (!ok) {
        stop(j, start, "not a number");
        return false;
    }
    j->raw.data = j->data + start;
    j->raw.size = j->at - start;
    return true;
}

static wte__json_kind open_container(wte__json *j, bool object)
{
    if (j->depth == WTE_LIMIT_JSON_DEPTH) return stop(j, j->at, "nested more than 64 levels deep");
    j->stack[j->depth++] = object;
    j->at++;
    j->state = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
    return j->kind = object ? WTE__JSON_OBJECT : WTE__JSON_ARRAY;
}

static wte__json_kind close_container(wte__json *j)
{
    bool object = j->stack[--j->depth];
    j->at++;
    j->state = j->depth ? AFTER_VALUE : DONE;
    return j->kind = object ? WTE__JSON_OBJECT_END : WTE__JSON_ARRAY_END;
}

static wte__json_kind read_value(wte__json *j)
{
    uint8_t c = j->data[j->at];
    wte__json_kind kind;
    if (c == '{' || c == '[') return open_container(j, c == '{');
    if (c == '"') {
        if (!read_string(j)) return WTE__JSON_ERROR;
        kind = WTE__JSON_STRING;
    } else if (take_word(j, "true")) {
        kind = WTE__JSON_TRUE;
    } else if (take_word(j, "false")) {
        kind = WTE__JSON_FALSE;
    } else if (take_word(j, "null")) {
        kind = WTE__JSON_NULL;
    } else if (c == '-' || (c >= '0' && c <= '9') || c == 'N' || c == 'I') {
        if (!read_number(j)) return WTE__JSON_ERROR;
        kind = WTE__JSON_NUMBER;
    } else {
        bool mark = j->at == 0 && take_word(j, "\xef\xbb\xbf");
        return stop(j, mark ? 0 : j->at,
                    mark ? "a byte order mark, which JSON must not have" : "a value was expected");
    }
    j->state = j->depth ? AFTER_VALUE : DONE;
    return j->kind = kind;
}

static wte__json_kind read_key(wte__json *j)
{
    if (j->data[j->at] != '"') return stop(j, j->at, "a key in quotes was expected");
    if (!read_string(j)) return WTE__JSON_ERROR;
    skip_space(j);
    if (!take(j, ':')) return stop(j, j->at, "a colon was expected after the key");
    j->state = WANT_VALUE;
    return j->kind = WTE__JSON_KEY;
}

wte__json_kind wte__json_next(wte__json *j)
{
    if (j->error_at != WTE_NO_INDEX) return WTE__JSON_ERROR;
    skip_space(j);
    if (j->state == AFTER_VALUE && j->at < j->size && j->data[j->at] == ',') {
        j->at++;
        skip_space(j);
        j->state = j->stack[j->depth - 1] ? WANT_KEY : WANT_VALUE;
    } else if (j->state == AFTER_VALUE && j->at < j->size && j->data[j->at] != '}' &&
               j->data[j->at] != ']') {
        return stop(j, j->at, "a comma or the end of the list was expected");
    }
    j->token_at = j->at;
    if (j->state == DONE) {
        if (j->at < j->size) return stop(j, j->at, "something follows after the value");
        return j->kind = WTE__JSON_END;
    }
    if (j->at >= j->size) return stop(j, j->at, "the text ends too early");
    uint8_t c = j->data[j->at];
    if ((c == '}' || c == ']') && j->depth && j->state != WANT_VALUE && j->state != WANT_KEY) {
        if ((c == '}') != (j->stack[j->depth - 1] == 1))
            return stop(j, j->at, "the wrong kind of bracket closes here");
        return close_container(j);
    }
    if (j->state == WANT_KEY || j->state == WANT_KEY_OR_END) return read_key(j);
    return read_value(j);
}

bool wte__json_skip_rest(wte__json *j)
{
    uint32_t depth = j->depth; /* of the open container */
    while (j->depth >= depth && depth > 0) {
        wte__json_kind kind = wte__json_next(j);
        if (kind == WTE__JSON_ERROR || kind == WTE__JSON_END) return false;
    }
    return true;
}

bool wte__json_skip_value(wte__json *j)
{
    wte__json_kind kind = wte__json_next(j);
    if (kind == WTE__JSON_OBJECT || kind == WTE__JSON_ARRAY) return wte__json_skip_rest(j);
    return kind >= WTE__JSON_STRING && kind <= WTE__JSON_NULL;
}

uint64_t wte__json_decode(const wte__json *j, char *out)
{
    const uint8_t *p = j->raw.data;
    uint64_t n = j->raw.size, used = 0;
    if (!j->escaped) {
        if (out && n) memcpy(out, p, (size_t)n);
        return n;
    }
    for (uint64_t i = 0; i < n;) {
        uint8_t put[4];
        uint32_t bytes = 1;
        if (p[i] != '\\') {
            put[0] = p[i++];
        } else {
            static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
            uint8_t c = p[i + 1];
            const char *hit = strchr(from, c);
            i += 2;
            put[0] = hit && c ? (uint8_t)to[hit - from] : c;
            if (c == 'u') {
                uint32_t code;
                i += unicode_escape(p + i, n - i, &code);
                bytes = wte__utf8_put(code, put);
            }
        }
        if (out) memcpy(out + used, put, bytes);
        used += bytes;
    }
    return used;
}

wte__bytes wte__json_text(const wte__json *j, wte__arena *arena, bool copy)
{
    wte__bytes none = { NULL, 0 };
    if (!j->escaped && !copy) return j->raw;
    uint64_t n = wte__json_decode(j, NULL);
    char *text = wte__arena_take(arena, (size_t)n + 1);
    if (!text) return none;
    wte__json_decode(j, text);
    text[n] = '\0';
    wte__bytes got = { (const uint8_t *)text, n };
    return got;
}

bool wte__json_is(const wte__json *j, const char *text)
{
    size_t n = strlen(text);
    if (!j->escaped) return j->raw.size == n && memcmp(j->raw.data, text, n) == 0;
    char buf[256];
    if (n > sizeof buf || j->raw.size > 6 * sizeof buf || wte__json_decode(j, NULL) != n)
        return false;
    wte__json_decode(j, buf);
    return memcmp(buf, text, n) == 0;
}

bool wte__json_u64(const wte__json *j, uint64_t *out)
{
    uint64_t v = 0;
    *out = 0;
    if (j->kind != WTE__JSON_NUMBER || j->raw.size == 0) return false;
    for (uint64_t i = 0; i < j->raw.size; i++) {
        uint8_t c = j->raw.data[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(c - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

bool wte__json_i64(const wte__json *j, int64_t *out)
{
    *out = 0;
    if (j->kind != WTE__JSON_NUMBER || j->raw.size == 0) return false;
    bool minus = j->raw.data[0] == '-';
    wte__json magnitude = *j;
    magnitude.raw.data += minus;
    magnitude.raw.size -= minus;
    uint64_t v;
    if (!wte__json_u64(&magnitude, &v) || v > (uint64_t)INT64_MAX + (minus ? 1u : 0u)) return false;
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

bool wte__json_f64(const wte__json *j, double *out)
{
    char buf[WTE__JSON_NUMBER_MAX + 1];
    *out = 0;
    if (j->kind != WTE__JSON_NUMBER || j->raw.size >= sizeof buf) return false;
    memcpy(buf, j->raw.data, (size_t)j->raw.size);
    buf[j->raw.size] = '\0';
    /* strtod goes by the program's locale, where the point may be a comma */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return false;
    char *end;
    *out = strtod_l(buf, &end, plain);
    freelocale(plain);
    return *end == '\0';
}

static wte_status fail_at(const wte__json *j, wte_error *err, uint64_t at, const char *lead,
                          const char *what)
{
    uint64_t line = 1, column = 1;
    for (uint64_t i = 0; i < at && i < j->size; i++) {
        column++;
        if (j->data[i] == '\n') {
            line++;
            column = 1;
        }
    }
    return wte__fail(err, WTE_E_FORMAT, at,
                     "%s: %sline %" PRIu64 " column %" PRIu64 " (byte %" PRIu64 "): %s", j->name,
                     lead, line, column, at, what);
}

wte_status(wte__json_fail)(const wte__json *j, wte_error *err)
{
    return fail_at(j, err, j->error_at, "not valid JSON at ", j->error ? j->error : "no value");
}

wte_status(wte__json_refuse)(const wte__json *j, wte_error *err, const char *what)
{
    return fail_at(j, err, j->token_at, "", what);
}
