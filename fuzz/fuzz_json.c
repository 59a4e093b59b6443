/* The JSON reader. What it accepts it accepts again, token by token, when the tokens are written
 * out anew; containers balance; lengths, decoding and numbers agree with one another; skipping a
 * value accepts what reading it accepts; and the leniency for Python's numbers takes nothing away.
 */
#include "fuzz.h"

#include "base/json.h"
#include "base/utf8.h"

typedef struct text {
    char *data;
    size_t n, cap;
} text;

static void put(text *t, const void *data, size_t n)
{
    HOLDS(n <= t->cap - t->n);
    if (n) memcpy(t->data + t->n, data, n);
    t->n += n;
}

static void check_string(const wte__json *j)
{
    uint64_t n = wte__json_decode(j, NULL);
    HOLDS(n <= j->raw.size);
    uint8_t *out = malloc((size_t)n + 1);
    HOLDS(out);
    out[n] = 0x55;
    HOLDS(wte__json_decode(j, (char *)out) == n && out[n] == 0x55);
    HOLDS(j->escaped || (n == j->raw.size && memcmp(out, j->raw.data, (size_t)n) == 0));
    uint32_t code, bytes;
    for (uint64_t at = 0; at < n; at += bytes) {
        bytes = wte__utf8_get(out + at, n - at, &code);
        HOLDS(bytes);
    }
    free(out);
}

static void check_number(const wte__json *j)
{
    uint64_t u;
    int64_t i;
    double x;
    bool is_u = wte__json_u64(j, &u), is_i = wte__json_i64(j, &i);
    HOLDS(!is_u || is_i == (u <= INT64_MAX));
    HOLDS(!is_u || !is_i || (uint64_t)i == u);
    if (!wte__json_f64(j, &x)) {
        HOLDS(j->raw.size > WTE__JSON_NUMBER_MAX);
        return;
    }
    if (is_u) HOLDS(x == (double)u);
    if (is_i) HOLDS(x == (double)i);
}

/* Writes a token so that reading it gives the same: only white space may differ. */
static void write_token(text *t, const wte__json *j, wte__json_kind before)
{
    static const char *const fixed[] = {
        "", "{", "}", "[", "]", "", "", "", "true", "false", "null"
    };
    bool first = before == WTE__JSON_OBJECT || before == WTE__JSON_ARRAY ||
                 before == WTE__JSON_KEY || before == WTE__JSON_ERROR; /* ERROR: there was none */
    bool closes = j->kind == WTE__JSON_OBJECT_END || j->kind == WTE__JSON_ARRAY_END;
    if (!first && !closes) put(t, ",", 1);
    if (j->kind == WTE__JSON_KEY || j->kind == WTE__JSON_STRING) {
        put(t, "\"", 1);
        put(t, j->raw.data, (size_t)j->raw.size);
        put(t, "\":", j->kind == WTE__JSON_KEY ? 2 : 1);
    } else if (j->kind == WTE__JSON_NUMBER) {
        put(t, j->raw.data, (size_t)j->raw.size);
    } else {
        put(t, fixed[j->kind], strlen(fixed[j->kind]));
    }
}

/* Reads all; what is accepted is in *t afterwards. */
static bool read_all(const uint8_t *data, size_t size, uint32_t flags, text *t)
{
    wte__json j;
    wte__json_kind kind, before = WTE__JSON_ERROR;
    uint64_t last = 0;
    uint32_t depth = 0;
    wte__json_init(&j, data, size, "f", flags);
    while ((kind = wte__json_next(&j)) != WTE__JSON_END && kind != WTE__JSON_ERROR) {
        HOLDS(kind == j.kind && j.token_at >= last && j.token_at < j.at && j.at <= size);
        last = j.at;
        depth += kind == WTE__JSON_OBJECT || kind == WTE__JSON_ARRAY;
        depth -= kind == WTE__JSON_OBJECT_END || kind == WTE__JSON_ARRAY_END;
        HOLDS(depth == j.depth && depth <= WTE_LIMIT_JSON_DEPTH);
        if (kind == WTE__JSON_KEY || kind == WTE__JSON_STRING) check_string(&j);
        if (kind == WTE__JSON_NUMBER) check_number(&j);
        write_token(t, &j, before);
        before = kind;
    }
    wte_error err;
    if (kind == WTE__JSON_ERROR) fuzz_check_error(&err, wte__json_fail(&j, &err), size);
    HOLDS(wte__json_next(&j) == kind); /* both ends are final */
    HOLDS(kind == WTE__JSON_ERROR || depth == 0);
    return kind == WTE__JSON_END;
}

static bool skip_all(const uint8_t *data, size_t size, uint32_t flags)
{
    wte__json j;
    wte__json_init(&j, data, size, "f", flags);
    return wte__json_skip_value(&j) && wte__json_next(&j) == WTE__JSON_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t cap = 2 * size + 16; /* every token has a byte, and gets a comma at most */
    char *room = malloc(3 * cap);
    HOLDS(room);
    text out[3] = { { room, 0, cap }, { room + cap, 0, cap }, { room + 2 * cap, 0, cap } };
    bool strict = read_all(data, size, 0, &out[0]);
    bool python = read_all(data, size, WTE__JSON_PYTHON, &out[1]);
    HOLDS(strict == skip_all(data, size, 0));
    HOLDS(python == skip_all(data, size, WTE__JSON_PYTHON));
    HOLDS(!strict || python);
    if (python) {
        /* the analyser does not see that the loop at the end frees all three */
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        HOLDS(read_all((const uint8_t *)out[1].data, out[1].n, WTE__JSON_PYTHON, &out[2]));
        HOLDS(out[1].n == out[2].n && memcmp(out[1].data, out[2].data, out[1].n) == 0);
        HOLDS(out[1].n <= size);
    }
    free(room);
    return 0;
}
