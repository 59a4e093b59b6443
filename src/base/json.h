/* A strict, bounded pull reader for JSON (RFC 8259): no tree, no recursion, every token with its
 * byte offset.
 *
 *     wte__json j;
 *     wte__json_init(&j, data, size, "config.json", 0);
 *     while ((kind = wte__json_next(&j)) != WTE__JSON_END && kind != WTE__JSON_ERROR) ...
 *
 * UTF-8 is validated inside strings (the input must be UTF-8), depth is limited to
 * WTE_LIMIT_JSON_DEPTH, lone surrogates are errors, `\u0000` is legal. The first error sticks. */
#ifndef WTE_SRC_BASE_JSON_H
#define WTE_SRC_BASE_JSON_H
#include "base/alloc.h"
#include "base/limits.h"
#include "base/span.h"

typedef enum wte__json_kind {
    WTE__JSON_ERROR = 0,
    WTE__JSON_OBJECT,     /* { */
    WTE__JSON_OBJECT_END, /* } */
    WTE__JSON_ARRAY,      /* [ */
    WTE__JSON_ARRAY_END,  /* ] */
    WTE__JSON_KEY,        /* "name": in an object; the value follows */
    WTE__JSON_STRING,
    WTE__JSON_NUMBER,
    WTE__JSON_TRUE,
    WTE__JSON_FALSE,
    WTE__JSON_NULL,
    WTE__JSON_END /* the one value is complete and only white space follows */
} wte__json_kind;

#define WTE__JSON_PYTHON                                                                           \
    1u /* also NaN, Infinity, -Infinity as numbers, which Python's writer emits */

/* No shortest, %.17g or exact decimal form of a double is longer. */
#define WTE__JSON_NUMBER_MAX 1100u

typedef struct wte__json {
    const uint8_t *data;
    uint64_t size, at; /* next unread byte */
    const char *name;  /* for messages */
    uint32_t flags, depth;
    uint8_t stack[WTE_LIMIT_JSON_DEPTH]; /* 1 = object, 0 = array */
    uint8_t state;                       /* private */
    wte__json_kind kind;                 /* of the current token */
    wte__bytes raw;    /* KEY, STRING: between the quotes, undecoded; NUMBER: its characters */
    uint64_t token_at; /* offset of the token's first byte */
    bool escaped;      /* raw holds a backslash: decode before use */
    uint64_t error_at; /* WTE_NO_INDEX while all is well */
    const char *error; /* constant text */
} wte__json;

void wte__json_init(wte__json *j, const void *data, uint64_t size, const char *name,
                    uint32_t flags);
wte__json_kind wte__json_next(wte__json *j);
/* After KEY or before any value: pass over the whole next value. After OBJECT or ARRAY just
 * returned: pass over its rest (to its end). False on error. */
bool wte__json_skip_value(wte__json *j); /* reads the next value whole */
bool wte__json_skip_rest(wte__json *j);  /* inside a container: to its end token */
/* Length of the current KEY or STRING when decoded; writes it (no NUL) when out is not NULL. */
uint64_t wte__json_decode(const wte__json *j, char *out);
/* The current KEY or STRING, decoded into the arena (NUL after it) only when needed or `copy`;
 * {NULL,0} = out of memory. */
wte__bytes wte__json_text(const wte__json *j, wte__arena *arena, bool copy);
bool wte__json_is(const wte__json *j, const char *text); /* current KEY or STRING decodes to text */
bool wte__json_u64(const wte__json *j,
                   uint64_t *out); /* NUMBER: a non-negative integer without . or e that fits */
bool wte__json_i64(const wte__json *j, int64_t *out);
/* Any NUMBER of at most WTE__JSON_NUMBER_MAX characters; independent of the locale. Too large ones
 * become infinite. */
bool wte__json_f64(const wte__json *j, double *out);
/* E_FORMAT "NAME: not valid JSON at line L column C (byte N): what"; where = N. */
wte_status wte__json_fail(const wte__json *j, wte_error *err);
/* E_FORMAT "NAME: line L column C (byte N): <what>" at the current token, for callers' own rules.
 */
wte_status wte__json_refuse(const wte__json *j, wte_error *err, const char *what);
#ifdef __clang_analyzer__ /* see wte__fail */
#define wte__json_fail(j, err)         ((void)(wte__json_fail)(j, err), WTE_E_FORMAT)
#define wte__json_refuse(j, err, what) ((void)(wte__json_refuse)(j, err, what), WTE_E_FORMAT)
#endif
#endif
