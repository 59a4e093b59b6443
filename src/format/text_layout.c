/* Cutting lines into a token and numbers, and telling from a few lines how that must be done.
 *
 * Fields are counted from the right, since words may hold spaces; only ASCII spaces and tabs
 * separate. Numbers are not looked at here beyond the lines that a guess is made of. */
#include "format/text_layout.h"

#include "format/text_number.h"

/* Lines that a guess is made of. */
#define SAMPLE_LINES 32u
/* Bytes in which one of no text tells that it is none; words further on may hold any. */
#define TELLING_BYTES 4096u

wte_bytes wte__text_line_at(const uint8_t *data, size_t n, size_t *next)
{
    const uint8_t *end = n ? memchr(data, '\n', n) : NULL;
    wte_bytes line = { data, end ? (size_t)(end - data) : n };
    *next = (size_t)line.size + (end != NULL);
    if (line.size && line.data[line.size - 1] == '\r') line.size--;
    return line;
}

/* A byte 0x80 for each byte of x that is c (pattern: c in every byte), exactly. */
static uint64_t bytes_equal(uint64_t x, uint64_t pattern)
{
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    x ^= pattern;
    return ~(((x & low) + low) | x | low);
}

static uint64_t load8(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* Fields between runs of blanks, eight bytes at a time: a field begins after a blank. */
static uint64_t count_blank_fields(const uint8_t *p, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t fields = 0, before = 1; /* whether a blank (or nothing) lies before */
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint64_t x = load8(p + i);
        const uint64_t blank = (bytes_equal(x, ones * ' ') | bytes_equal(x, ones * '\t')) >> 7;
        const uint64_t starts = ~blank & (blank << 8 | before) & ones;
        fields += (starts * ones) >> 56;
        before = blank >> 56;
    }
    for (; i < n; i++) {
        const bool blank = wte__text_is_blank(p[i]);
        fields += !blank && before;
        before = blank;
    }
    return fields;
}

static uint64_t count_bytes(const uint8_t *p, size_t n, uint8_t c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) count += ((bytes_equal(load8(p + i), ones * c) >> 7) * ones) >> 56;
    for (; i < n; i++) count += p[i] == c;
    return count;
}

/* Where the last field of line[0, end) begins, and where it ends. */
static size_t last_field(const uint8_t *p, size_t end, size_t *field_end)
{
    while (end && wte__text_is_blank(p[end - 1])) end--;
    *field_end = end;
    while (end && !wte__text_is_blank(p[end - 1])) end--;
    return end;
}

static uint8_t separator_of(const wte__text_layout *l)
{
    return l->separator == WTE__TEXT_TABS ? '\t' : ',';
}

/* What stands before the numbers is the token, without the blanks between; of blanks alone, all but
 * the last one are. */
static wte_bytes token_before(wte_bytes line, size_t numbers_at)
{
    size_t end = numbers_at;
    while (end && wte__text_is_blank(line.data[end - 1])) end--;
    if (end == 0 && numbers_at) end = numbers_at - 1;
    const wte_bytes token = { line.data, end };
    return token;
}

/* The numbers from the right, the token is the rest. Fields between the word and the numbers belong
 * to the word, unless all of them look like numbers of this table. */
static wte__text_cut cut_from_right(const wte__text_layout *l, wte_bytes line, uint64_t fields,
                                    wte__text_line *out)
{
    size_t at = (size_t)line.size, end;
    for (uint64_t i = 0; i < l->dim; i++) at = last_field(line.data, at, &end);
    out->numbers_at = at;
    out->token = token_before(line, at);
    bool too_many = fields - 1 > l->dim;
    for (uint64_t i = l->dim + 1; i < fields && too_many; i++) {
        at = last_field(line.data, at, &end);
        too_many = wte__text_kind_of(line.data + at, end - at) == WTE__TEXT_FLOAT;
    }
    out->found = fields - 1;
    return too_many ? WTE__TEXT_UNEVEN : WTE__TEXT_ROW;
}

static wte__text_cut cut_blanks(const wte__text_layout *l, wte_bytes line, wte__text_line *out)
{
    const uint64_t fields = count_blank_fields(line.data, (size_t)line.size);
    size_t at = 0;
    if (fields == 0) return WTE__TEXT_EMPTY;
    if (!l->tokens) {
        while (wte__text_is_blank(line.data[at])) at++;
        out->numbers_at = at;
        out->found = fields;
        return fields == l->dim ? WTE__TEXT_ROW : WTE__TEXT_UNEVEN;
    }
    const bool blank_first = wte__text_is_blank(line.data[0]);
    if (fields - 1 > l->dim || (blank_first && fields >= l->dim))
        return cut_from_right(l, line, fields, out);
    out->found = fields - 1;
    if (fields <= l->dim) return WTE__TEXT_UNEVEN;
    while (!wte__text_is_blank(line.data[at])) at++;
    out->token.data = line.data;
    out->token.size = at;
    while (wte__text_is_blank(line.data[at])) at++;
    out->numbers_at = at;
    return WTE__TEXT_ROW;
}

/* Length of a token in quotes that ends before a separator, quotes included; 0 = it is none. */
static size_t quoted_length(const uint8_t *p, size_t n, uint8_t separator)
{
    if (n < 2 || p[0] != '"') return 0;
    for (size_t i = 1; i < n; i++) {
        if (p[i] != '"') continue;
        if (i + 1 < n && p[i + 1] == '"') {
            i++;
            continue;
        }
        return i + 1 < n && p[i + 1] == separator ? i + 1 : 0;
    }
    return 0;
}

static wte__text_cut cut_separated(const wte__text_layout *l, wte_bytes line, wte__text_line *out)
{
    const uint8_t c = separator_of(l);
    size_t at = 0, n = (size_t)line.size;
    if (count_blank_fields(line.data, n) == 0) return WTE__TEXT_EMPTY;
    if (l->tokens) {
        const size_t quoted = quoted_length(line.data, n, c);
        const uint8_t *end = quoted ? line.data + quoted : memchr(line.data, c, n);
        if (!end) return WTE__TEXT_UNEVEN;
        at = (size_t)(end - line.data) + 1;
        out->quoted = quoted != 0;
        out->token.data = line.data + out->quoted;
        out->token.size = at - 1 - 2 * (size_t)out->quoted;
    }
    out->numbers_at = at;
    out->found = count_bytes(line.data + at, n - at, c) + 1;
    return out->found == l->dim ? WTE__TEXT_ROW : WTE__TEXT_UNEVEN;
}

wte__text_cut wte__text_cut_line(const wte__text_layout *l, wte_bytes line, wte__text_line *out)
{
    memset(out, 0, sizeof *out);
    return l->separator == WTE__TEXT_BLANKS ? cut_blanks(l, line, out)
                                            : cut_separated(l, line, out);
}

/* Guessing ------------------------------------------------------------------------------------ */

/* One too large for 64 bits is the largest of them. */
static size_t take_integer(const uint8_t *p, size_t n, size_t at, uint64_t *out)
{
    *out = 0;
    for (; at < n && p[at] >= '0' && p[at] <= '9'; at++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (uint64_t)(p[at] - '0'), out))
            *out = UINT64_MAX;
    return at;
}

size_t wte__text_counts(const uint8_t *data, size_t n, uint64_t *rows, uint64_t *dim)
{
    size_t next;
    const wte_bytes line = wte__text_line_at(data, n, &next);
    const size_t end = (size_t)line.size;
    if (next <= end) return 0; /* no end of a line: more digits may follow */
    size_t at = take_integer(line.data, end, 0, rows), second = at;
    while (second < end && wte__text_is_blank(line.data[second])) second++;
    if (at == 0 || second == at) return 0;
    at = take_integer(line.data, end, second, dim);
    if (at == second) return 0;
    while (at < end && wte__text_is_blank(line.data[at])) at++;
    return at == end ? next : 0;
}

/* What is seen in one line of a sample under one separator. */
typedef struct look {
    uint64_t fields;
    uint64_t numbers;     /* how many of the last fields are numbers, in a row */
    wte__text_kind first; /* of the first field */
    bool unnamed;         /* the first field is empty */
    bool integers;        /* all fields after the first are integers */
    bool counting;        /* and they are 0, 1, 2, ... */
} look;

static void look_at_field(look *seen, const uint8_t *p, size_t n)
{
    while (n && wte__text_is_blank(p[n - 1])) n--;
    while (n && wte__text_is_blank(p[0])) {
        p++;
        n--;
    }
    const wte__text_kind kind = wte__text_kind_of(p, n);
    uint64_t value;
    seen->numbers = kind == WTE__TEXT_WORD ? 0 : seen->numbers + 1;
    if (seen->fields++ == 0) {
        seen->first = kind;
        seen->unnamed = n == 0;
        return;
    }
    seen->integers &= kind == WTE__TEXT_INTEGER;
    seen->counting &= take_integer(p, n, 0, &value) == n && value == seen->fields - 2;
}

/* Field by field from the left; the first one may stand in quotes. */
static look look_at(wte__text_separator separator, wte_bytes line)
{
    look seen = { 0, 0, WTE__TEXT_WORD, false, true, true };
    const uint8_t *p = line.data;
    const size_t n = (size_t)line.size;
    const uint8_t c = separator == WTE__TEXT_TABS ? '\t' : ',';
    const bool blanks = separator == WTE__TEXT_BLANKS;
    size_t at = 0;
    for (bool more = n > 0; more;) {
        while (blanks && at < n && wte__text_is_blank(p[at])) at++;
        if (blanks && at == n) break;
        size_t end = at + (seen.fields == 0 && !blanks ? quoted_length(p, n, c) : 0);
        while (end < n && (blanks ? !wte__text_is_blank(p[end]) : p[end] != c)) end++;
        look_at_field(&seen, p + at, end - at);
        more = end < n;
        at = end + !blanks;
    }
    return seen;
}

typedef struct sample {
    look lines[SAMPLE_LINES];
    size_t n;
} sample;

/* The one line there is, without its last field, which may be cut. */
static wte_bytes without_last(wte_bytes line)
{
    uint64_t n = line.size;
    while (n && !wte__text_is_blank(line.data[n - 1]) && line.data[n - 1] != ',') n--;
    line.size = n ? n - 1 : 0;
    return line;
}

static void take_sample(sample *s, wte__text_separator separator, wte_bytes data, bool whole)
{
    const size_t n = (size_t)data.size;
    size_t next;
    s->n = 0;
    for (size_t at = 0; at < n && s->n < SAMPLE_LINES; at += next) {
        wte_bytes line = wte__text_line_at(data.data + at, n - at, &next);
        const bool cut = !whole && at + next == n && data.data[n - 1] != '\n';
        if (cut && s->n) return;
        if (cut) line = without_last(line);
        if (count_blank_fields(line.data, (size_t)line.size))
            s->lines[s->n++] = look_at(separator, line);
    }
}

/* The number that most lines agree on; of several, the one that comes first. */
static uint64_t commonest(const uint64_t *value, size_t n)
{
    uint64_t best = 0;
    size_t best_count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        for (size_t k = 0; k < n; k++) count += value[k] == value[i];
        if (count <= best_count) continue;
        best = value[i];
        best_count = count;
    }
    return best;
}

/* Whether a token stands in front of the numbers, and how many these are; true when most lines
 * agree with that (all, where there is but one number). */
static bool settle_columns(wte__text_layout *l, const sample *s, bool index)
{
    uint64_t dim[SAMPLE_LINES];
    bool all_numbers = true, floats = true, integers = true;
    const bool blanks = l->separator == WTE__TEXT_BLANKS;
    for (size_t i = 0; i < s->n; i++) {
        const look *k = &s->lines[i];
        all_numbers &= k->numbers == k->fields;
        floats &= k->first == WTE__TEXT_FLOAT;
        integers &= k->first == WTE__TEXT_INTEGER && k->integers;
    }
    /* Words may be digits: where blanks separate, a first column is one of numbers only if it looks
     * like the others. */
    l->tokens = !all_numbers || index || (blanks && !floats && !integers);
    for (size_t i = 0; i < s->n; i++) {
        const look *k = &s->lines[i];
        dim[i] = l->tokens && k->numbers == k->fields ? k->fields - 1 : k->numbers;
    }
    l->dim = commonest(dim, s->n);
    size_t fit = 0;
    for (size_t i = 0; i < s->n; i++)
        fit +=
            s->lines[i].numbers >= l->dim && (blanks || s->lines[i].fields == l->dim + l->tokens);
    return l->dim > 0 &&
           (l->dim == 1 ? fit == s->n : 2 * fit > s->n || (!blanks && 2 * fit == s->n));
}

static bool guess_separated(wte__text_layout *l, wte_bytes data, bool whole)
{
    sample s;
    size_t next;
    take_sample(&s, l->separator, data, whole);
    if (s.n == 0 || s.lines[0].fields < 2) return false;
    const look first = s.lines[0];
    /* names of columns; or their numbers from 0 on, as pandas writes them */
    const bool names = s.n > 1 && first.numbers == 0;
    const bool numbered = s.n > 1 && first.first == WTE__TEXT_WORD && first.counting &&
                          first.integers && !s.lines[1].counting;
    l->titled = names || numbered;
    if (l->titled) {
        wte__text_line_at(data.data, (size_t)data.size, &next);
        l->first += next;
        memmove(s.lines, s.lines + 1, --s.n * sizeof s.lines[0]);
    }
    return settle_columns(l, &s, l->titled && (numbered || first.unnamed));
}

static bool has_control(wte_bytes data)
{
    for (uint64_t i = 0; i < data.size && i < TELLING_BYTES; i++)
        if (data.data[i] < ' ' && !strchr("\t\n\r", data.data[i])) return true;
    return false;
}

/* "rows dim", and then text: a second line that has that many numbers, or at least no binary ones.
 * Two integers may also be the first row of a table of two columns. */
static bool guess_counted(wte__text_layout *l, wte_bytes data, bool whole)
{
    sample s;
    const size_t next = wte__text_counts(data.data, (size_t)data.size, &l->rows, &l->dim);
    if (next == 0 || l->dim == 0) return false;
    const wte_bytes rest = { data.data + next, data.size - next };
    l->counted = l->tokens = true;
    l->first += next;
    take_sample(&s, WTE__TEXT_BLANKS, rest, whole);
    if (s.n == 0) return whole;
    const look *second = &s.lines[0];
    if (second->numbers >= l->dim && second->fields > l->dim) return true;
    return !has_control(rest) && (second->fields != 2 || second->numbers != 2);
}

bool wte__text_layout_guess(wte__text_layout *l, const uint8_t *data, size_t n, bool whole)
{
    static const wte__text_separator separators[] = { WTE__TEXT_TABS, WTE__TEXT_COMMAS };
    const wte__text_layout none = { WTE__TEXT_BLANKS, false, false, false, 0, 0, 0 };
    const size_t mark = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const wte_bytes text = { data + mark, n - mark };
    *l = none;
    l->first = mark;
    size_t next;
    const wte_bytes line = wte__text_line_at(text.data, (size_t)text.size, &next);
    if (count_blank_fields(line.data, (size_t)line.size) == 0) return false;
    if (memchr(data, '\0', n < TELLING_BYTES ? n : TELLING_BYTES)) return false;
    if (guess_counted(l, text, whole)) return true;
    if (l->counted && has_control(text)) return false; /* counts, and then no text */
    for (size_t i = 0; i < 2; i++) {
        *l = none;
        l->separator = separators[i];
        l->first = mark;
        if (guess_separated(l, text, whole)) return true;
    }
    sample s;
    *l = none;
    l->first = mark;
    take_sample(&s, WTE__TEXT_BLANKS, text, whole);
    return s.n > 0 && settle_columns(l, &s, false);
}
