/* Token ids from the command line or a file. Nothing is narrowed or rounded: a number that is no id
 * is an error that names its place. */
#include "ids.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "number.h"
#include "open.h"
#include "out.h"

#define PIECE 16384 /* bytes read at once */

static int no_memory(const cli *c, const cli_ids *ids)
{
    return cli_say_fail(c, CLI_OUTPUT, "out of memory for the ids of %s", ids->from);
}

int cli_ids_typed(const cli *c, const int64_t *values, size_t n, cli_ids *out)
{
    *out = (cli_ids){ .typed = true, .from = "the command line", .type = WTE_I64 };
    out->memory = malloc(n ? n * sizeof *values : 1);
    if (!out->memory) return no_memory(c, out);
    if (n) memcpy(out->memory, values, n * sizeof *values);
    out->count = n;
    out->rank = 1;
    out->shape[0] = n;
    return CLI_DONE;
}

int cli_ids_list(const cli *c, const char *what, const char *text, int64_t **out, uint64_t *n)
{
    cli_fields f = { .at = text, .blanks = " \t\n\r", .what = what };
    cli_hint hint;
    *n = 0;
    *out = calloc(strlen(text) / 2 + 1, sizeof **out);
    if (!*out) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    while (cli_fields_next(&f)) {
        char word[32];
        const bool fits = f.n < sizeof word;
        memcpy(word, f.text, fits ? f.n : 0);
        word[fits ? f.n : 0] = '\0';
        if (!cli_read_signed(word, &(*out)[(*n)++]))
            return cli_usage(c, "%s: '%.*s' is no id: a whole number below 2^63%s", what, (int)f.n,
                             f.text, cli_dash_hint(&hint, f.text, f.n));
    }
    return f.missing ? cli_fields_refuse(c, &f) : CLI_DONE;
}

/* All of a stream that cannot be read twice, after the n bytes of `start`. */
static int slurp(const cli *c, cli_ids *ids, FILE *stream, const char *start, size_t n,
                 size_t *bytes)
{
    size_t cap = PIECE, used = n;
    char *all = malloc(cap);
    if (all) memcpy(all, start, n);
    while (all) {
        used += fread(all + used, 1, cap - used, stream);
        if (used < cap) break;
        char *more = cap > SIZE_MAX / 2 ? NULL : realloc(all, cap * 2);
        if (!more) free(all);
        all = more;
        cap *= 2;
    }
    if (!all) return no_memory(c, ids);
    ids->memory = all;
    *bytes = used;
    if (ferror(stream)) return cli_say_fail(c, CLI_INPUT, "%s: cannot read", ids->from);
    return CLI_DONE;
}

/* Reading text, one byte at a time. */
typedef struct text_reader {
    const cli *c;
    cli_ids *ids;
    int64_t *values;
    size_t cap;
    uint64_t at, line;
    char word[32];
    size_t n_word;
    char before; /* ',' or '1', a number; blanks do not count */
} text_reader;

/* A comma that no number stands before, or behind. */
static int refuse_comma(const text_reader *r)
{
    return cli_say_fail(r->c, CLI_INPUT,
                        "%s: line %" PRIu64 ": an empty field: nothing stands %s the comma",
                        r->ids->from, r->line, r->before == ',' ? "behind" : "before");
}

static int end_word(text_reader *r)
{
    if (r->n_word == 0) return CLI_DONE;
    r->word[r->n_word] = '\0';
    r->n_word = 0;
    cli_ids *ids = r->ids;
    if (ids->count == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 1024;
        int64_t *more =
            cap > SIZE_MAX / sizeof *more ? NULL : realloc(r->values, cap * sizeof *more);
        if (!more) return no_memory(r->c, ids);
        r->values = more;
        r->cap = cap;
    }
    if (!cli_read_signed(r->word, &r->values[ids->count]))
        return cli_say_fail(
            r->c, CLI_INPUT, "%s: line %" PRIu64 ": '%s' is no id (ids are whole numbers)%s",
            ids->from, r->line, r->word, ids->count ? "" : "; for raw numbers give --ids-type");
    ids->count++;
    r->before = '1';
    return CLI_DONE;
}

static int take_byte(text_reader *r, char byte)
{
    if (isspace((unsigned char)byte) || byte == ',') {
        int code = end_word(r);
        if (!code && byte == ',') {
            if (r->before != '1') return refuse_comma(r);
            r->before = ',';
        }
        if (byte == '\n') r->line++;
        return code;
    }
    if (byte < ' ' || byte > '~')
        return cli_say_fail(r->c, CLI_INPUT,
                            "%s: line %" PRIu64 ": byte 0x%02x is no text of numbers; for raw "
                            "numbers give --ids-type",
                            r->ids->from, r->line, (unsigned)(unsigned char)byte);
    if (r->n_word + 1 < sizeof r->word) {
        r->word[r->n_word++] = byte;
        return CLI_DONE;
    }
    r->word[r->n_word] = '\0';
    return cli_say_fail(r->c, CLI_INPUT,
                        "%s: line %" PRIu64 ": '%s...' is no id (ids are whole numbers)",
                        r->ids->from, r->line, r->word);
}

#define MARK "\xef\xbb\xbf" /* of UTF-8, as some editors put it before a text */

/* Numbers parted by white space or by one comma each. */
static int read_text(const cli *c, cli_ids *ids, FILE *stream, const char *start, size_t n)
{
    text_reader r = { .c = c, .ids = ids, .line = 1 };
    char piece[PIECE];
    int code = CLI_DONE;
    memcpy(piece, start, n);
    size_t skip = n >= strlen(MARK) && memcmp(start, MARK, strlen(MARK)) == 0 ? strlen(MARK) : 0;
    do {
        for (size_t i = skip; i < n && !code; i++) code = take_byte(&r, piece[i]);
        n = code ? 0 : fread(piece, 1, sizeof piece, stream);
        skip = 0;
    } while (n && !code);
    if (!code) code = end_word(&r);
    if (!code && r.before == ',') code = refuse_comma(&r);
    if (!code && ferror(stream)) code = cli_say_fail(c, CLI_INPUT, "%s: cannot read", ids->from);
    ids->memory = r.values;
    ids->type = WTE_I64;
    ids->rank = 1;
    ids->shape[0] = ids->count;
    return code;
}

static int take_raw(const cli *c, cli_ids *ids, uint64_t bytes)
{
    uint32_t each = wte_dtype_bytes(ids->type);
    if (bytes % each)
        return cli_say_fail(c, CLI_INPUT,
                            "%s: %" PRIu64 " bytes are no whole number of %s ids of %" PRIu32
                            " bytes",
                            ids->from, bytes, wte_dtype_name(ids->type), each);
    ids->count = bytes / each;
    ids->rank = 1;
    ids->shape[0] = ids->count;
    return CLI_DONE;
}

static bool is_id_type(wte_dtype type)
{
    switch (type) {
    case WTE_F64:
    case WTE_F32:
    case WTE_F16:
    case WTE_I8:
    case WTE_U8:
    case WTE_I16:
    case WTE_U16:
    case WTE_I32:
    case WTE_U32:
    case WTE_I64:
    case WTE_U64: return true;
    default: return false;
    }
}

/* Ids of a column-ordered array, once and for all in the order of rows. */
static int turn(const cli *c, cli_ids *ids)
{
    uint64_t n = ids->count, step[WTE_MAX_RANK];
    int64_t *stored = n > SIZE_MAX / 8 ? NULL : malloc(n ? (size_t)n * 8 : 1);
    int64_t *turned = stored ? malloc(n ? (size_t)n * 8 : 1) : NULL;
    if (!turned) {
        free(stored);
        return no_memory(c, ids);
    }
    int code = cli_ids_read(c, ids, 0, (size_t)n, stored);
    step[0] = 1;
    for (uint32_t d = 1; d < ids->rank; d++) step[d] = step[d - 1] * ids->shape[d - 1];
    for (uint64_t i = 0; i < n && !code; i++) {
        uint64_t left = i, at = 0;
        for (uint32_t d = ids->rank; d-- > 0;) {
            at += left % ids->shape[d] * step[d];
            left /= ids->shape[d];
        }
        turned[i] = stored[at];
    }
    free(stored);
    wte_file_free(ids->file);
    ids->file = NULL;
    ids->memory = turned;
    ids->type = ids->type == WTE_U64 ? WTE_U64 : WTE_I64;
    ids->swapped = false;
    return code;
}

static int take_npy(const cli *c, cli_ids *ids)
{
    wte_tensor t;
    wte_error err;
    wte_status status = wte_file_tensor(ids->file, 0, &t, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    if (!is_id_type(t.dtype))
        return cli_say_fail(c, CLI_INPUT, "%s: holds %s, but ids are integers", ids->from,
                            wte_dtype_name(t.dtype));
    ids->type = t.dtype;
    ids->swapped = t.big_endian;
    ids->rank = t.rank;
    ids->count = t.bytes / wte_dtype_bytes(t.dtype);
    memcpy(ids->shape, t.shape, sizeof t.shape);
    return t.column_major && t.rank > 1 ? turn(c, ids) : CLI_DONE;
}

#define MAGIC_BYTES 6
static bool is_npy(const char *start, size_t n)
{
    return n == MAGIC_BYTES && memcmp(start, "\x93NUMPY", MAGIC_BYTES) == 0;
}

static int open_pipe(const cli *c, cli_ids *ids, FILE *stream, const char *start, size_t n)
{
    size_t bytes = 0;
    int code = slurp(c, ids, stream, start, n, &bytes);
    if (code) return code;
    if (!is_npy(start, n)) return take_raw(c, ids, bytes);
    wte_error err;
    wte_file_options opt;
    cli_file_options(c, &opt);
    wte_status status = wte_file_open_memory(ids->memory, bytes, ids->from, &opt, &ids->file, &err);
    return status == WTE_OK ? take_npy(c, ids) : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

static int open_stream(const cli *c, cli_ids *ids, FILE *stream)
{
    char start[MAGIC_BYTES];
    size_t n = fread(start, 1, sizeof start, stream);
    if (ferror(stream)) return cli_read_fail(c, ids->from, errno);
    bool raw = ids->type != WTE_DTYPE_NONE;
    if (!raw && !is_npy(start, n)) return read_text(c, ids, stream, start, n);
    if (stream == stdin || fseeko(stream, 0, SEEK_END) != 0)
        return open_pipe(c, ids, stream, start, n);
    if (!is_npy(start, n)) {
        ids->stream = stream;
        return take_raw(c, ids, (uint64_t)ftello(stream));
    }
    wte_error err;
    wte_file_options opt;
    cli_file_options(c, &opt);
    wte_status status = wte_file_open(ids->from, &opt, &ids->file, &err);
    return status == WTE_OK ? take_npy(c, ids) : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

static int open_named(const cli *c, const char *option, const char *type, cli_ids *out)
{
    const char *path = cli_text(c, option);
    bool from_stdin = strcmp(path, "-") == 0;
    *out = (cli_ids){ .from = from_stdin ? "standard input" : path };
    if (type) out->type = wte_dtype_from_name(type);
    FILE *stream;
    int code = cli_open_stream(c, path, &stream);
    if (code) return code;
    code = open_stream(c, out, stream);
    if (stream != out->stream && stream != stdin) fclose(stream);
    return code;
}

int cli_ids_open_as(const cli *c, const char *option, cli_ids *out)
{
    return open_named(c, option, cli_text(c, "ids-type"), out);
}

int cli_ids_open_plain(const cli *c, const char *option, cli_ids *out)
{
    return open_named(c, option, NULL, out);
}

bool cli_ids_is_npy(const char *path)
{
    char start[MAGIC_BYTES];
    struct stat st;
    /* what is no file would be read from twice */
    FILE *stream = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!stream) return false;
    const size_t n = fread(start, 1, sizeof start, stream);
    fclose(stream);
    return is_npy(start, n);
}

int cli_ids_open(const cli *c, cli_ids *out)
{
    return cli_ids_open_as(c, "ids", out);
}

/* Stored numbers at .. at + n - 1, as they are stored. */
static int read_stored(const cli *c, const cli_ids *ids, uint64_t at, size_t n, void *out)
{
    uint32_t each = wte_dtype_bytes(ids->type);
    if (ids->file) {
        wte_error err;
        wte_status status = wte_file_read(ids->file, 0, at * each, out, n * each, &err);
        return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
    }
    if (ids->memory) {
        memcpy(out, (const char *)ids->memory + at * each, n * each);
        return CLI_DONE;
    }
    if (fseeko(ids->stream, (off_t)(at * each), SEEK_SET) != 0 ||
        fread(out, each, n, ids->stream) != n)
        return cli_say_fail(c, CLI_INPUT, "%s: cannot read %zu ids at position %" PRIu64, ids->from,
                            n, at);
    return CLI_DONE;
}

static void swap_bytes(unsigned char *at, size_t n, uint32_t each)
{
    for (size_t i = 0; i < n; i++, at += each) {
        for (uint32_t k = 0; k < each / 2; k++) {
            unsigned char byte = at[k];
            at[k] = at[each - 1 - k];
            at[each - 1 - k] = byte;
        }
    }
}

/* First value of a floating point type at which neighbouring whole numbers fall together. */
static double exact_below(wte_dtype type)
{
    return type == WTE_F16 ? 0x1p11 : type == WTE_F32 ? 0x1p24 : 0x1p53;
}

static int from_reals(const cli *c, const cli_ids *ids, uint64_t at, size_t n, const void *stored,
                      int64_t *out)
{
    double real[PIECE / 2];
    wte_error err;
    wte_status status = wte_convert(ids->type, stored, WTE_F64, real, n, NULL, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    double end = exact_below(ids->type);
    for (size_t i = 0; i < n; i++) {
        const char *name = wte_dtype_name(ids->type);
        if (!isfinite(real[i]) || real[i] != rint(real[i]))
            return cli_say_fail(c, CLI_INPUT, "%s: position %" PRIu64 ": %.17g (%s) is no id",
                                ids->from, at + i, real[i], name);
        if (fabs(real[i]) >= end)
            return cli_say_fail(c, CLI_INPUT,
                                "%s: position %" PRIu64
                                ": %.0f, but %s tells ids apart only below %.0f; store integers",
                                ids->from, at + i, real[i], name, end);
        out[i] = (int64_t)real[i];
    }
    return CLI_DONE;
}

#define FROM_INTEGERS(type)                                                                        \
    for (size_t i = 0; i < n; i++) {                                                               \
        type value;                                                                                \
        memcpy(&value, (const char *)stored + i * sizeof value, sizeof value);                     \
        out[i] = (int64_t)value;                                                                   \
    }                                                                                              \
    return CLI_DONE

static int from_stored(const cli *c, const cli_ids *ids, uint64_t at, size_t n, const void *stored,
                       int64_t *out)
{
    switch (ids->type) {
    case WTE_I8: FROM_INTEGERS(int8_t);
    case WTE_U8: FROM_INTEGERS(uint8_t);
    case WTE_I16: FROM_INTEGERS(int16_t);
    case WTE_U16: FROM_INTEGERS(uint16_t);
    case WTE_I32: FROM_INTEGERS(int32_t);
    case WTE_U32: FROM_INTEGERS(uint32_t);
    case WTE_I64:
    case WTE_U64: break;
    default: return from_reals(c, ids, at, n, stored, out);
    }
    memcpy(out, stored, n * sizeof *out);
    return CLI_DONE;
}

int cli_ids_read(const cli *c, const cli_ids *ids, uint64_t at, size_t n, int64_t *out)
{
    unsigned char stored[PIECE];
    uint32_t each = wte_dtype_bytes(ids->type);
    int code = CLI_DONE;
    while (n && !code) {
        size_t take = n < PIECE / each ? n : PIECE / each;
        code = read_stored(c, ids, at, take, stored);
        if (ids->swapped) swap_bytes(stored, take, each);
        if (!code) code = from_stored(c, ids, at, take, stored, out);
        at += take;
        out += take;
        n -= take;
    }
    return code;
}

bool cli_ids_beyond(const cli_ids *ids, int64_t value)
{
    return ids->type == WTE_U64 && value < 0;
}

const char *cli_ids_text(const cli_ids *ids, int64_t value, char buf[32])
{
    if (cli_ids_beyond(ids, value))
        snprintf(buf, 32, "%" PRIu64, (uint64_t)value);
    else
        snprintf(buf, 32, "%" PRId64, value);
    return buf;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t cli_ids_sort(int64_t *ids, size_t n)
{
    size_t kept = 0;
    qsort(ids, n, sizeof *ids, by_value);
    for (size_t i = 0; i < n; i++)
        if (!i || ids[i] != ids[i - 1]) ids[kept++] = ids[i];
    return kept;
}

bool cli_ids_among(const int64_t *sorted, size_t n, int64_t id)
{
    return n && bsearch(&id, sorted, n, sizeof id, by_value);
}

int cli_ids_check(const cli *c, const cli_ids *ids, uint64_t rows, const int64_t *ignore,
                  size_t n_ignore, wte_bad_ids *report)
{
    int64_t piece[PIECE / 8] = { 0 };
    memset(report, 0, sizeof *report);
    for (uint64_t at = 0; at < ids->count;) {
        uint64_t left = ids->count - at;
        size_t n = left < PIECE / 8 ? (size_t)left : PIECE / 8;
        int code = cli_ids_read(c, ids, at, n, piece);
        if (code) return code;
        for (size_t i = 0; i < n; i++) {
            if (!cli_ids_beyond(ids, piece[i]) && cli_ids_among(ignore, n_ignore, piece[i])) {
                report->ignored++;
                continue;
            }
            if (piece[i] >= 0 && (uint64_t)piece[i] < rows) continue;
            report->count++;
            if (report->n_first == WTE_BAD_IDS_SHOWN) continue;
            report->first[report->n_first].position = at + i;
            report->first[report->n_first++].value = piece[i];
        }
        at += n;
    }
    return CLI_DONE;
}

void cli_ids_close(cli_ids *ids)
{
    wte_file_free(ids->file);
    if (ids->stream && ids->stream != stdin) fclose(ids->stream);
    free(ids->memory);
    *ids = (cli_ids){ .count = 0 };
}
