/* The metadata of a GGUF file, by type: who reads a value names the type that it must have. */
#include "format/gguf.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"

static const struct {
    const char *name;
    uint8_t bytes;
} types[WTE__GGUF_N_TYPES] = {
    [WTE__GGUF_U8] = { "u8", 1 },         [WTE__GGUF_I8] = { "i8", 1 },
    [WTE__GGUF_U16] = { "u16", 2 },       [WTE__GGUF_I16] = { "i16", 2 },
    [WTE__GGUF_U32] = { "u32", 4 },       [WTE__GGUF_I32] = { "i32", 4 },
    [WTE__GGUF_F32] = { "f32", 4 },       [WTE__GGUF_BOOL] = { "bool", 1 },
    [WTE__GGUF_STRING] = { "string", 0 }, [WTE__GGUF_ARRAY] = { "array", 0 },
    [WTE__GGUF_U64] = { "u64", 8 },       [WTE__GGUF_I64] = { "i64", 8 },
    [WTE__GGUF_F64] = { "f64", 8 },
};

const char *wte__gguf_type_name(uint32_t type)
{
    return type < WTE__GGUF_N_TYPES ? types[type].name : NULL;
}

uint32_t wte__gguf_type_bytes(uint32_t type)
{
    return type < WTE__GGUF_N_TYPES ? types[type].bytes : 0;
}

const wte__gguf *wte__file_gguf(const wte_file *f)
{
    return f->gguf;
}

const wte__gguf_pair *wte__gguf_find(const wte__gguf *g, const char *key)
{
    const wte__bytes text = { (const uint8_t *)key, strlen(key) };
    uint64_t number = 0;
    return wte__names_find(&g->keys, text, &number) ? &g->pairs[number] : NULL;
}

static const uint8_t *bytes_of(const wte__gguf *g, const wte__gguf_pair *pair)
{
    return g->header + pair->at;
}

static wte_status refuse(const wte__gguf *g, const char *key, const wte__gguf_pair *pair,
                         const char *wanted, wte_error *err)
{
    return wte__fail(err, WTE_E_FORMAT, pair->at,
                     "%s: key '%s' is %s, but must be %s (byte %" PRIu64 ")", g->path, key,
                     wte__gguf_type_name(pair->type), wanted, pair->at);
}

wte_status wte__gguf_once(const wte__gguf *g, const wte__gguf_pair *pair, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (pair->again != WTE__GGUF_OTHER) return WTE_OK;
    const uint8_t *key = g->header + pair->key_at;
    size_t i = (size_t)(pair - g->pairs) + 1;
    while (i < g->n && (g->pairs[i].key_bytes != pair->key_bytes ||
                        memcmp(g->header + g->pairs[i].key_at, key, pair->key_bytes) != 0))
        i++;
    return wte__fail(err, WTE_E_FORMAT, pair->at,
                     "%s: key '%s' comes twice with different values (bytes %" PRIu64
                     " and %" PRIu64 "): readers differ in which they take",
                     g->path, wte__show(shown, key, pair->key_bytes), pair->at,
                     i < g->n ? g->pairs[i].at : pair->at);
}

/* A stored integer: its bits widened by its sign. False for other types. */
static bool load_integer_at(const wte__gguf *g, uint32_t type, uint64_t at, uint64_t *bits,
                            bool *negative)
{
    const uint32_t n = wte__gguf_type_bytes(type);
    *negative = false;
    switch (type) {
    case WTE__GGUF_U8:
    case WTE__GGUF_U16:
    case WTE__GGUF_U32:
    case WTE__GGUF_U64: *bits = wte__gguf_load(g->header + at, n, g->big); return true;
    case WTE__GGUF_I8:
    case WTE__GGUF_I16:
    case WTE__GGUF_I32:
    case WTE__GGUF_I64:
        *bits = wte__gguf_load(g->header + at, n, g->big);
        *negative = (*bits >> (8 * n - 1) & 1) != 0;
        if (*negative && n < 8) *bits |= UINT64_MAX << (8 * n);
        return true;
    default: return false;
    }
}

static bool load_integer(const wte__gguf *g, const wte__gguf_pair *pair, uint64_t *bits,
                         bool *negative)
{
    return load_integer_at(g, pair->type, pair->at, bits, negative);
}

bool wte__gguf_integer(const wte__gguf *g, const wte__gguf_pair *pair, uint64_t i, int64_t *out)
{
    const uint32_t type = pair->type == WTE__GGUF_ARRAY ? pair->element : pair->type;
    uint64_t bits = 0;
    bool negative;
    if (!load_integer_at(g, type, pair->at + i * wte__gguf_type_bytes(type), &bits, &negative))
        return false;
    *out = (int64_t)bits;
    return negative || bits <= INT64_MAX;
}

wte_status wte__gguf_count(const wte__gguf *g, const char *key, uint64_t *out, bool *found,
                           wte_error *err)
{
    const wte__gguf_pair *pair = wte__gguf_find(g, key);
    bool negative;
    *out = 0;
    *found = pair != NULL;
    if (!pair) return WTE_OK;
    WTE_TRY(wte__gguf_once(g, pair, err));
    if (!load_integer(g, pair, out, &negative)) return refuse(g, key, pair, "an integer", err);
    if (!negative) return WTE_OK;
    const int64_t value = (int64_t)*out;
    *out = 0;
    return wte__fail(err, WTE_E_FORMAT, pair->at,
                     "%s: key '%s' is %" PRId64 ", but must not be negative (byte %" PRIu64 ")",
                     g->path, key, value, pair->at);
}

static double load_real(const wte__gguf *g, const wte__gguf_pair *pair)
{
    const uint64_t bits =
        wte__gguf_load(bytes_of(g, pair), wte__gguf_type_bytes(pair->type), g->big);
    if (pair->type == WTE__GGUF_F64) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    const uint32_t half = (uint32_t)bits;
    float narrow;
    memcpy(&narrow, &half, sizeof narrow);
    return (double)narrow;
}

wte_status wte__gguf_number(const wte__gguf *g, const char *key, double *out, bool *found,
                            wte_error *err)
{
    const wte__gguf_pair *pair = wte__gguf_find(g, key);
    *out = 0;
    *found = pair != NULL;
    if (!pair) return WTE_OK;
    WTE_TRY(wte__gguf_once(g, pair, err));
    if (pair->type != WTE__GGUF_F32 && pair->type != WTE__GGUF_F64)
        return refuse(g, key, pair, "f32 or f64", err);
    const double value = load_real(g, pair);
    if (!isfinite(value))
        return wte__fail(err, WTE_E_FORMAT, pair->at,
                         "%s: key '%s' is no finite number (byte %" PRIu64 ")", g->path, key,
                         pair->at);
    *out = value;
    return WTE_OK;
}

wte_status wte__gguf_text(const wte__gguf *g, const char *key, wte__bytes *out, bool *found,
                          wte_error *err)
{
    const wte__gguf_pair *pair = wte__gguf_find(g, key);
    const wte__bytes none = { NULL, 0 };
    *out = none;
    *found = pair != NULL;
    if (!pair) return WTE_OK;
    WTE_TRY(wte__gguf_once(g, pair, err));
    if (pair->type != WTE__GGUF_STRING) return refuse(g, key, pair, "a string", err);
    const wte__bytes text = { bytes_of(g, pair), pair->count };
    *out = text;
    return WTE_OK;
}

/* As texts --------------------------------------------------------------------------------------
 */

/* The program's locale may write another decimal point: whatever no number has becomes one. */
static void point(char *text)
{
    char *to = text;
    bool inside = false;
    for (const char *p = text; *p; p++) {
        const bool own = strchr("0123456789+-einfa", *p) != NULL;
        if (own || !inside) *to++ = own ? *p : '.';
        inside = !own;
    }
    *to = '\0';
}

static void print_scalar(const wte__gguf *g, const wte__gguf_pair *pair, char *buf, size_t cap)
{
    uint64_t bits = 0;
    bool negative = false;
    if (pair->type == WTE__GGUF_BOOL) {
        snprintf(buf, cap, "%s", *bytes_of(g, pair) ? "true" : "false");
    } else if (load_integer(g, pair, &bits, &negative)) {
        if (negative)
            snprintf(buf, cap, "%" PRId64, (int64_t)bits);
        else
            snprintf(buf, cap, "%" PRIu64, bits);
    } else {
        snprintf(buf, cap, pair->type == WTE__GGUF_F64 ? "%.17g" : "%.9g", load_real(g, pair));
        point(buf);
    }
}

wte_status wte__gguf_publish(wte_file *f, wte_error *err)
{
    wte__gguf *g = f->gguf;
    char *header = f->parts[0].header;
    char buf[64];
    for (size_t i = 0; i < g->n; i++) {
        const wte__gguf_pair *pair = &g->pairs[i];
        const char *value = header + pair->at;
        /* ended by NULs over the type and over the next key's length, both of which are known */
        header[pair->key_at + pair->key_bytes] = '\0';
        if (pair->type == WTE__GGUF_STRING) {
            header[pair->at + pair->count] = '\0';
        } else {
            if (pair->type == WTE__GGUF_ARRAY)
                snprintf(buf, sizeof buf, "[%" PRIu64 " x %s]", pair->count,
                         wte__gguf_type_name(pair->element));
            else
                print_scalar(g, pair, buf, sizeof buf);
            value = wte__arena_text(&g->texts, buf, strlen(buf));
            if (!value) return wte__no_memory(err, sizeof buf, "the metadata");
        }
        WTE_TRY(wte__metadata_add(f, header + pair->key_at, value, err));
    }
    return WTE_OK;
}
