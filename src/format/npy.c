/* Reading NumPy's .npy: magic, version, a Python literal as header, one array.
 *
 * The header is read as the grammar it is (any spacing, comments, key order, quotes), but only as
 * far as an array of plain numbers needs it: Python objects and records are told and refused, and
 * nothing nests, so there is no recursion. An array has no name in such a file; it is "array". */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/format.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6u

enum { KEY_DESCR, KEY_ORDER, KEY_SHAPE, N_KEYS };
static const char *const key_names[N_KEYS] = { "descr", "fortran_order", "shape" };

typedef struct reader {
    const char *path;
    const wte__npy_place *place;
    uint8_t *data; /* the array's first bytes; offsets count from there */
    uint64_t size, at;
    uint32_t major;
    uint32_t seen; /* bit per key */
    uint64_t value_at[N_KEYS];
    wte__tensor_entry entry;
    uint64_t shape[WTE_MAX_RANK];
    wte__npy_texts *texts; /* where texts are asked for, else NULL */
    wte_error *err;
} reader;

wte__match wte__npy_match(const wte__head *head)
{
    bool same = head->n >= MAGIC_BYTES && memcmp(head->bytes, MAGIC, MAGIC_BYTES) == 0;
    return same ? WTE__MATCH_YES : WTE__MATCH_NO;
}

/* The offset in the file of a byte of the array. */
static uint64_t where(const reader *r, uint64_t at)
{
    return r->place->where == WTE_NO_INDEX ? r->place->at + at : r->place->where;
}

static wte_status bad_at(const reader *r, wte_status status, uint64_t at, const char *what)
{
    return wte__fail(r->err, status, where(r, at), "%s: .npy header, byte %" PRIu64 ": %s", r->path,
                     at, what);
}

static wte_status bad(const reader *r, const char *what)
{
    return bad_at(r, WTE_E_FORMAT, r->at, what);
}

/* The next byte after white space and comments, or 0 at the end. */
static uint8_t peek(reader *r)
{
    bool comment = false;
    for (; r->at < r->size; r->at++) {
        uint8_t c = r->data[r->at];
        if (c == '\n' || c == '\r')
            comment = false;
        else if (c == '#')
            comment = true;
        else if (!comment && c != ' ' && c != '\t' && c != '\f')
            return c;
    }
    return 0;
}

static bool take(reader *r, char c)
{
    if (peek(r) != (uint8_t)c || r->at >= r->size) return false;
    r->at++;
    return true;
}

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c >= 0x80;
}

/* A name or number: all that follows without a break. */
static wte__bytes read_word(reader *r)
{
    (void)peek(r);
    wte__bytes word = { r->data + r->at, 0 };
    while (r->at < r->size && is_word(r->data[r->at])) {
        r->at++;
        word.size++;
    }
    return word;
}

static bool is(wte__bytes text, const char *word)
{
    size_t n = strlen(word);
    return text.size == n && memcmp(text.data, word, n) == 0;
}

/* 'text', "text" or either with u before it; no escapes, which no type or key needs. */
static wte_status read_string(reader *r, wte__bytes *out)
{
    uint8_t c = peek(r);
    if (c == 'u' || c == 'U') {
        r->at++;
        c = r->at < r->size ? r->data[r->at] : 0;
    }
    if (c != '\'' && c != '"') return bad(r, "a text in quotes was expected");
    uint64_t start = ++r->at;
    while (r->at < r->size && r->data[r->at] != c) {
        uint8_t got = r->data[r->at];
        if (got == '\\') return bad(r, "an escape in a text is not read");
        if (got == '\n' || got == '\r') return bad(r, "a text does not end on its line");
        r->at++;
    }
    if (r->at == r->size) return bad_at(r, WTE_E_FORMAT, start - 1, "a text without an end");
    out->data = r->data + start;
    out->size = r->at - start;
    r->at++;
    return WTE_OK;
}

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

/* A Python integer: 12, 1_000, 0x1f, 0o17, 0b11, 3L (of Python 2, up to version 2.0). */
static wte_status read_integer(reader *r, uint64_t *out)
{
    if (peek(r) == '-') return bad(r, "a dimension is negative");
    uint64_t start = r->at;
    wte__bytes word = read_word(r);
    uint64_t value = 0, i = 0;
    int base = 10;
    if (word.size == 0 || word.data[0] < '0' || word.data[0] > '9' ||
        (r->at < r->size && r->data[r->at] == '.'))
        return bad_at(r, WTE_E_FORMAT, start, "a dimension is no integer");
    if (word.data[word.size - 1] == 'L' && word.size > 1 && r->major <= 2) word.size--;
    if (word.size > 2 && word.data[0] == '0') {
        uint8_t kind = word.data[1] | 0x20;
        base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
        if (base != 10) i = 2;
    }
    bool underscore = i == 0; /* one may stand between digits and after the prefix */
    for (uint64_t k = i; k < word.size; k++) {
        if (word.data[k] == '_' && !underscore && k + 1 < word.size) {
            underscore = true;
            continue;
        }
        int digit = digit_of(word.data[k]);
        if (digit >= base) return bad_at(r, WTE_E_FORMAT, start, "a dimension is no integer");
        if (!wte__mul_u64(value, (uint64_t)base, &value) ||
            !wte__add_u64(value, (uint64_t)digit, &value))
            return bad_at(r, WTE_E_FORMAT, start, "a dimension is over 2^64 - 1");
        underscore = false;
    }
    if (base == 10 && word.size > 1 && word.data[0] == '0' && value != 0)
        return bad_at(r, WTE_E_FORMAT, start, "a dimension begins with 0");
    *out = value;
    return WTE_OK;
}

static wte_status read_shape(reader *r)
{
    r->entry.rank = 0;
    if (peek(r) == '[') return bad(r, "shape is a list, not a tuple");
    if (!take(r, '(')) return bad(r, "shape is no tuple");
    uint64_t at = r->at;
    bool comma = true;
    while (!take(r, ')')) {
        if (!comma) return bad(r, "a comma or ')' was expected in shape");
        if (r->entry.rank == WTE_MAX_RANK)
            return bad_at(r, WTE_E_LIMIT, r->at, "more than 16 dimensions");
        uint64_t size = 0;
        WTE_TRY(read_integer(r, &size));
        r->shape[r->entry.rank++] = size;
        comma = take(r, ',');
    }
    if (r->entry.rank == 1 && !comma)
        return bad_at(r, WTE_E_FORMAT, at,
                      "shape is a number in parentheses, not a tuple (no comma)");
    return WTE_OK;
}

/* NumPy's names and one-letter codes whose size does not depend on the machine. */
static const struct {
    const char *name;
    uint8_t type;
} codes[] = {
    { "f2", WTE_F16 },      { "f4", WTE_F32 },        { "f8", WTE_F64 },      { "i1", WTE_I8 },
    { "i2", WTE_I16 },      { "i4", WTE_I32 },        { "i8", WTE_I64 },      { "u1", WTE_U8 },
    { "u2", WTE_U16 },      { "u4", WTE_U32 },        { "u8", WTE_U64 },      { "b1", WTE_BOOL },
    { "c8", WTE_C64 },      { "e", WTE_F16 },         { "f", WTE_F32 },       { "d", WTE_F64 },
    { "b", WTE_I8 },        { "B", WTE_U8 },          { "h", WTE_I16 },       { "H", WTE_U16 },
    { "i", WTE_I32 },       { "I", WTE_U32 },         { "q", WTE_I64 },       { "Q", WTE_U64 },
    { "?", WTE_BOOL },      { "F", WTE_C64 },         { "float16", WTE_F16 }, { "half", WTE_F16 },
    { "float32", WTE_F32 }, { "single", WTE_F32 },    { "float64", WTE_F64 }, { "double", WTE_F64 },
    { "int8", WTE_I8 },     { "int16", WTE_I16 },     { "int32", WTE_I32 },   { "int64", WTE_I64 },
    { "uint8", WTE_U8 },    { "uint16", WTE_U16 },    { "uint32", WTE_U32 },  { "uint64", WTE_U64 },
    { "bool", WTE_BOOL },   { "complex64", WTE_C64 },
};

/* Why a type that NumPy knows is not read, or NULL when it knows no such type. */
static const char *refusal(wte__bytes code)
{
    if (is(code, "O") || is(code, "object") || is(code, "O8"))
        return "Python objects (a pickle), which are never read";
    if (is(code, "V2"))
        return "2 raw bytes: ml_dtypes writes bfloat16 so, but the file does not say it; save "
               "float32 or safetensors";
    if (is(code, "complex128") || is(code, "c16") || is(code, "c32"))
        return "complex numbers of that size";
    if (is(code, "f16") || is(code, "f12") || is(code, "longdouble"))
        return "extended precision, which differs between machines";
    if (is(code, "l") || is(code, "L") || is(code, "int") || is(code, "p") || is(code, "P"))
        return "a type whose size differs between machines";
    switch (code.size ? code.data[0] : 0) {
    case 'S':
    case 'a':
    case 'U': return "text, not numbers";
    case 'M':
    case 'm': return "dates or times";
    case 'V': return "raw bytes without a type";
    default: return NULL;
    }
}

/* 'U7' and 'S7': texts of 7 characters of 4 bytes, and of 7 bytes. */
static bool read_text_descr(const reader *r, wte__bytes code, bool big)
{
    const uint8_t kind = code.size ? code.data[0] : 0;
    uint64_t n = 0;
    if (!r->texts || (kind != 'U' && kind != 'S' && kind != 'a')) return false;
    for (uint64_t i = 1; i < code.size; i++) {
        const int digit = digit_of(code.data[i]);
        if (digit < 0 || digit > 9) return false;
        n = 10 * n + (uint64_t)digit;
        if (n > WTE_LIMIT_NAME) return false;
    }
    r->texts->unit = kind == 'U' ? 4 : 1;
    r->texts->chars = (uint32_t)n;
    r->texts->big = big;
    return n > 0;
}

static wte_status read_descr(reader *r)
{
    uint8_t c = peek(r);
    uint64_t at = r->at;
    if (c == '[' || c == '(')
        return bad_at(r, WTE_E_UNSUPPORTED, at,
                      "descr is a record or sub-array type; only arrays of plain numbers are read");
    wte__bytes text;
    WTE_TRY(read_string(r, &text));
    wte__bytes code = text;
    uint8_t order = code.size && strchr("<>=|", code.data[0]) ? code.data[0] : '=';
    if (code.size && code.data[0] != '\0' && order == code.data[0]) {
        code.data++;
        code.size--;
    }
    r->entry.dtype = WTE_DTYPE_NONE;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (is(code, codes[i].name)) r->entry.dtype = codes[i].type;
    bool big = order == '>' || (order != '<' && wte__host_is_big());
    r->entry.flags &= (uint8_t)~WTE__BIG_ENDIAN;
    if (big && wte__unit_bytes((wte_dtype)r->entry.dtype) > 1) r->entry.flags |= WTE__BIG_ENDIAN;
    if (r->entry.dtype != WTE_DTYPE_NONE || read_text_descr(r, code, big)) return WTE_OK;
    char shown[WTE__NAME_SHOWN];
    const char *why = refusal(code);
    return wte__fail(r->err, why ? WTE_E_UNSUPPORTED : WTE_E_FORMAT, where(r, at),
                     "%s: .npy header, byte %" PRIu64 ": descr '%s' is %s", r->path, at,
                     wte__show(shown, text.data, text.size),
                     why ? why : "no NumPy type of numbers");
}

static wte_status read_order(reader *r)
{
    (void)peek(r);
    uint64_t at = r->at;
    wte__bytes word = read_word(r);
    bool column = is(word, "True");
    if (!column && !is(word, "False"))
        return bad_at(r, WTE_E_FORMAT, at, "fortran_order is neither True nor False");
    r->entry.flags &= (uint8_t)~WTE__COLUMN_MAJOR;
    if (column) r->entry.flags |= WTE__COLUMN_MAJOR;
    return WTE_OK;
}

static wte_status read_pair(reader *r)
{
    (void)peek(r);
    uint64_t at = r->at;
    wte__bytes key;
    WTE_TRY(read_string(r, &key));
    uint32_t k = 0;
    while (k < N_KEYS && !is(key, key_names[k])) k++;
    if (k == N_KEYS) {
        char shown[WTE__NAME_SHOWN];
        return wte__fail(r->err, WTE_E_FORMAT, where(r, at),
                         "%s: .npy header, byte %" PRIu64
                         ": does not contain the correct keys: '%s' is none of them",
                         r->path, at, wte__show(shown, key.data, key.size));
    }
    if (!take(r, ':')) return bad(r, "a colon was expected after a key");
    (void)peek(r);
    r->value_at[k] = r->at;
    r->seen |= 1u << k; /* of a repeated key the last counts, as in Python */
    return k == KEY_DESCR ? read_descr(r) : k == KEY_ORDER ? read_order(r) : read_shape(r);
}

static wte_status read_dictionary(reader *r)
{
    uint64_t start = r->at;
    if (!take(r, '{')) return bad(r, "is not a dictionary: '{' was expected");
    bool comma = true;
    while (!take(r, '}')) {
        if (!comma) return bad(r, "a comma or '}' was expected");
        WTE_TRY(read_pair(r));
        comma = take(r, ',');
    }
    (void)peek(r);
    if (r->at < r->size) return bad(r, "something follows after the dictionary");
    for (uint32_t k = 0; k < N_KEYS; k++)
        if (!(r->seen & 1u << k))
            return wte__fail(r->err, WTE_E_FORMAT, where(r, start),
                             "%s: .npy header, byte %" PRIu64
                             ": does not contain the correct keys: '%s' is missing",
                             r->path, start, key_names[k]);
    return WTE_OK;
}

/* Version 3.0 is UTF-8 and its limit counts characters; before, every byte is one. */
static wte_status check_text(const reader *r, uint64_t limit)
{
    uint64_t n = 0, at = r->at;
    while (at < r->size) {
        uint32_t code, bytes = 1;
        if (r->major == 3) bytes = wte__utf8_get(r->data + at, r->size - at, &code);
        if (bytes == 0) return bad_at(r, WTE_E_FORMAT, at, "not valid UTF-8");
        if (r->data[at] == 0) return bad_at(r, WTE_E_FORMAT, at, "a NUL byte");
        at += bytes;
        n++;
    }
    if (n <= limit) return WTE_OK;
    return wte__fail(r->err, WTE_E_LIMIT, where(r, r->at),
                     "%s: .npy header of %" PRIu64 " characters, but at most %" PRIu64
                     " are read (" WTE__RAISE_HEADER ")",
                     r->path, n, limit);
}

/* The header's length is checked against the file and the limit before it is read. */
static wte_status load_header(reader *r, wte_file *f)
{
    const wte__file *file = &f->parts[r->place->part].file;
    uint8_t start[MAGIC_BYTES + 6] = { 0 };
    uint64_t size = r->place->bytes,
             limit = f->max_header_bytes ? f->max_header_bytes : WTE_LIMIT_NPY_HEADER;
    uint64_t got = size < sizeof start ? size : sizeof start;
    WTE_TRY(wte__file_read_at(file, r->place->at, start, got, r->path, r->err));
    uint32_t major = start[MAGIC_BYTES], minor = start[MAGIC_BYTES + 1];
    uint64_t text_at = MAGIC_BYTES + (major == 1 ? 4u : 6u);
    if (got >= MAGIC_BYTES && memcmp(start, MAGIC, MAGIC_BYTES) != 0)
        return wte__fail(r->err, WTE_E_FORMAT, where(r, 0),
                         "%s: no .npy file: it does not begin with its magic bytes", r->path);
    if (got < MAGIC_BYTES + 2 || (major >= 1 && major <= 3 && got < text_at))
        return wte__fail(r->err, WTE_E_FORMAT, where(r, size),
                         "%s: truncated: an .npy file has at least %" PRIu64
                         " bytes before its header, but it has %" PRIu64,
                         r->path, got < MAGIC_BYTES + 2 ? MAGIC_BYTES + 2 : text_at, size);
    if (major < 1 || major > 3 || minor != 0)
        return wte__fail(r->err, WTE_E_UNSUPPORTED, where(r, MAGIC_BYTES),
                         "%s: .npy version %u.%u, but only 1.0, 2.0 and 3.0 exist", r->path, major,
                         minor);
    uint64_t n = (uint64_t)start[8] | (uint64_t)start[9] << 8;
    if (major > 1) n |= (uint64_t)start[10] << 16 | (uint64_t)start[11] << 24;
    if (n > size - text_at)
        return wte__fail(r->err, WTE_E_FORMAT, where(r, 8),
                         "%s: truncated: needs %" PRIu64 " bytes for its header, but has %" PRIu64,
                         r->path, text_at + n, size);
    if (n / (major == 3 ? 4 : 1) > limit)
        return wte__fail(r->err, WTE_E_LIMIT, where(r, 8),
                         "%s: .npy header of %" PRIu64 " bytes, but at most %" PRIu64
                         " characters are read (" WTE__RAISE_HEADER ")",
                         r->path, n, limit);
    r->size = text_at + n;
    r->data = wte__alloc_array(f->allocator, r->size, 1);
    if (!r->data) return wte__no_memory(r->err, r->size, r->path);
    WTE_TRY(wte__file_read_at(file, r->place->at, r->data, r->size, r->path, r->err));
    r->at = text_at;
    r->major = major;
    return check_text(r, limit);
}

static wte_status read_array(reader *r, wte_file *f)
{
    WTE_TRY(load_header(r, f));
    WTE_TRY(read_dictionary(r));
    const char *type = wte_dtype_name((wte_dtype)r->entry.dtype);
    uint64_t bits, left = r->place->bytes - r->size;
    if (!wte__shape_bits(r->shape, r->entry.rank, (wte_dtype)r->entry.dtype, &bits))
        return wte__fail(r->err, WTE_E_FORMAT, where(r, r->value_at[KEY_SHAPE]),
                         "%s: shape x %s overflows 64 bits, but the file has %" PRIu64
                         " bytes of data",
                         r->path, type, left);
    const uint64_t bytes = bits / 8;
    if (bytes > left)
        return wte__fail(r->err, WTE_E_FORMAT, where(r, r->place->bytes),
                         "%s: truncated: shape x %s needs %" PRIu64
                         " bytes of data, but it has %" PRIu64,
                         r->path, type, bytes, left);
    r->entry.name = r->place->name;
    r->entry.name_bytes = r->place->name_bytes;
    r->entry.offset = r->place->at + r->size;
    r->entry.bytes = bytes;
    r->entry.part = (uint16_t)r->place->part;
    return wte__entry_add(f, &r->entry, r->shape, r->err);
}

wte_status wte__npy_read_at(wte_file *f, const wte__npy_place *place, wte_error *err)
{
    reader r = { .path = place->path, .place = place, .err = err };
    const wte_status status = read_array(&r, f);
    wte__free(f->allocator, r.data, (size_t)r.size);
    return status;
}

static wte_status read_texts(reader *r, wte_file *f)
{
    wte__npy_texts *t = r->texts;
    WTE_TRY(load_header(r, f));
    WTE_TRY(read_dictionary(r));
    t->count = r->entry.rank == 1 && t->chars ? r->shape[0] : 0;
    t->at = r->place->at + r->size;
    t->part = r->place->part;
    uint64_t bytes;
    if (wte__mul_u64(t->count, (uint64_t)t->chars * t->unit, &bytes) &&
        bytes <= r->place->bytes - r->size)
        return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, where(r, r->place->bytes),
                     "%s: truncated: %" PRIu64 " texts of %u bytes, but it has %" PRIu64
                     " bytes of data",
                     r->path, t->count, t->chars * t->unit, r->place->bytes - r->size);
}

wte_status wte__npy_read_texts(wte_file *f, const wte__npy_place *place, wte__npy_texts *out,
                               wte_error *err)
{
    memset(out, 0, sizeof *out);
    reader r = { .path = place->path, .place = place, .texts = out, .err = err };
    const wte_status status = read_texts(&r, f);
    wte__free(f->allocator, r.data, (size_t)r.size);
    return status;
}

wte_status wte__npy_read(wte_file *f, wte_error *err)
{
    static const char name[] = "array";
    const wte__npy_place place = { f->path, name,           0, f->parts[0].file.size, WTE_NO_INDEX,
                                   0,       sizeof name - 1 };
    WTE_TRY(wte__npy_read_at(f, &place, err));
    f->n_listed = 1;
    const wte__bytes text = { (const uint8_t *)name, sizeof name - 1 };
    uint64_t number = 0;
    bool found;
    if (!wte__names_add(&f->names, text, &number, &found))
        return wte__no_memory(err, sizeof name, "the name of the array");
    return WTE_OK;
}
