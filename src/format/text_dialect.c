/* Cutting the lines of a text table into a key and numbers.
 *
 * With blanks, fields are counted from the right, since words may hold spaces; only ASCII spaces
 * and tabs separate. Numbers are not looked at here. */
#include "format/text_dialect.h"

#include "format/text_number.h"

wte__bytes wte__text_line_at(const uint8_t *data, size_t n, uint8_t line_end, size_t *next)
{
    const uint8_t *end = n ? memchr(data, line_end, n) : NULL;
    wte__bytes line = { data, end ? (size_t)(end - data) : n };
    *next = (size_t)line.size + (end != NULL);
    if (line.size && line.data[line.size - 1] == '\r') line.size--;
    return line;
}

bool wte__text_is_comment(wte__bytes line)
{
    uint64_t at = 0;
    while (at < line.size && wte__text_is_blank(line.data[at])) at++;
    return at < line.size && (line.data[at] == '#' || line.data[at] == '%');
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

/* Offset after field number n (from 0) of blanks, from the left, and the blanks after it. */
static size_t skip_blank_fields(const uint8_t *p, size_t size, uint64_t n)
{
    size_t at = 0;
    while (at < size && wte__text_is_blank(p[at])) at++;
    for (uint64_t i = 0; i < n && at < size; i++) {
        while (at < size && !wte__text_is_blank(p[at])) at++;
        while (at < size && wte__text_is_blank(p[at])) at++;
    }
    return at;
}

/* What is before the numbers is the token, without the blanks between; of blanks alone, all but
 * the last one are. */
static wte__bytes token_before(wte__bytes line, size_t numbers_at)
{
    size_t end = numbers_at;
    while (end && wte__text_is_blank(line.data[end - 1])) end--;
    if (end == 0 && numbers_at) end = numbers_at - 1;
    const wte__bytes token = { line.data, end };
    return token;
}

/* The token in double quotes; false when it is not. */
static bool strip_quotes(wte__text_line *out)
{
    const wte__bytes t = out->token;
    if (t.size < 2 || t.data[0] != '"' || t.data[t.size - 1] != '"') return false;
    out->token.data++;
    out->token.size -= 2;
    out->quoted = true;
    return true;
}

/* The numbers from the right, the token is the rest. Fields between the word and the numbers belong
 * to the word, unless all of them look like numbers of this table. */
static wte__text_cut cut_from_right(const wte__text_layout *l, wte__bytes line, uint64_t fields,
                                    wte__text_line *out)
{
    const uint64_t beside = l->after + l->before - 1; /* columns that are neither key nor numbers */
    size_t at = (size_t)line.size, end;
    out->found = fields > beside ? fields - 1 - beside : 0;
    for (uint64_t i = 0; i < l->after; i++) at = last_field(line.data, at, &end);
    for (uint64_t i = 0; i < l->dim; i++) at = last_field(line.data, at, &end);
    out->numbers_at = at;
    for (uint64_t i = 1; i < l->before; i++) at = last_field(line.data, at, &end);
    out->token = token_before(line, at);
    bool too_many = fields - 1 > l->dim + beside && !l->quoted_key;
    for (uint64_t i = l->dim + beside + 1; i < fields && too_many; i++) {
        at = last_field(line.data, at, &end);
        too_many = wte__text_kind_of(line.data + at, end - at) == WTE__TEXT_FLOAT;
    }
    if (l->quoted_key && !strip_quotes(out)) return WTE__TEXT_UNEVEN;
    return too_many ? WTE__TEXT_UNEVEN : WTE__TEXT_ROW;
}

static wte__text_cut cut_blanks(const wte__text_layout *l, wte__bytes line, wte__text_line *out)
{
    const uint64_t fields = count_blank_fields(line.data, (size_t)line.size);
    const uint64_t beside = l->before + l->after;
    size_t at = 0;
    if (fields == 0) return WTE__TEXT_EMPTY;
    if (!l->tokens) {
        out->numbers_at = skip_blank_fields(line.data, (size_t)line.size, l->before);
        out->found = fields > beside ? fields - beside : 0;
        return out->found == l->dim ? WTE__TEXT_ROW : WTE__TEXT_UNEVEN;
    }
    const bool blank_first = wte__text_is_blank(line.data[0]);
    if (fields > l->dim + beside || (blank_first && fields + 1 >= l->dim + beside) ||
        (fields == l->dim + beside && (beside > 1 || l->quoted_key)))
        return cut_from_right(l, line, fields, out);
    out->found = fields > beside ? fields - beside : 0;
    if (fields < l->dim + beside) return WTE__TEXT_UNEVEN;
    while (!wte__text_is_blank(line.data[at])) at++;
    out->token.data = line.data;
    out->token.size = at;
    while (wte__text_is_blank(line.data[at])) at++;
    out->numbers_at = at;
    return WTE__TEXT_ROW;
}

/* Length of a field in quotes that ends before a separator or the line's end, quotes included; 0 =
 * it is not quoted. A quote inside is doubled, or has a backslash before it (R). */
static size_t quoted_length(const uint8_t *p, size_t n, uint8_t separator)
{
    if (n < 2 || p[0] != '"') return 0;
    for (size_t i = 1; i < n; i++) {
        if (p[i] != '"') continue;
        if (i + 1 == n || p[i + 1] == separator || (separator == ' ' && p[i + 1] == '\t'))
            return i + 1;
        if (p[i + 1] == '"')
            i++;
        else if (p[i - 1] != '\\')
            return 0;
    }
    return 0;
}

void wte__text_fields_start(wte__text_fields *it, uint8_t separator, wte__bytes line)
{
    const wte__text_fields first = { line, 0, separator, line.size > 0 };
    *it = first;
}

bool wte__text_fields_next(wte__text_fields *it, wte__bytes *field, bool *quoted)
{
    const uint8_t *p = it->line.data;
    const size_t n = (size_t)it->line.size;
    const bool blanks = it->separator == WTE__TEXT_BLANKS;
    size_t at = it->at;
    while (at < n && wte__text_is_blank(p[at]) && (blanks || p[at] != it->separator)) at++;
    if (!it->more || (blanks && at == n)) return false;
    const size_t length = quoted_length(p + at, n - at, it->separator);
    size_t end = at + length;
    while (end < n && (blanks ? !wte__text_is_blank(p[end]) : p[end] != it->separator)) end++;
    it->more = end < n;
    it->at = end + !blanks;
    while (end > at && wte__text_is_blank(p[end - 1])) end--;
    *quoted = length > 0;
    field->data = p + at + *quoted;
    field->size = end - at - 2 * (size_t)*quoted;
    return true;
}

/* Fields of what is left, each of which may be in quotes. */
static uint64_t count_fields(uint8_t separator, wte__bytes line)
{
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    uint64_t n = 0;
    wte__text_fields_start(&it, separator, line);
    it.more = true; /* an empty rest is one empty field */
    while (wte__text_fields_next(&it, &field, &quoted)) n++;
    return n;
}

/* The columns before the numbers, the key among them; *at gets where the numbers begin. */
static bool take_columns(const wte__text_layout *l, wte__bytes line, wte__text_line *out,
                         size_t *at)
{
    const uint8_t *p = line.data;
    const size_t n = (size_t)line.size;
    for (uint64_t i = 0; i < l->before; i++) {
        const size_t begin = *at;
        const size_t quoted = quoted_length(p + begin, n - begin, l->separator);
        const uint8_t *end = quoted      ? p + begin + quoted
                             : begin < n ? memchr(p + begin, l->separator, n - begin)
                                         : NULL;
        if (!end || end == p + n) return false;
        *at = (size_t)(end - p) + 1;
        if (!l->tokens || i != l->key) continue;
        out->quoted = quoted != 0;
        out->token.data = p + begin + out->quoted;
        out->token.size = *at - 1 - begin - 2 * (size_t)out->quoted;
    }
    return true;
}

static wte__text_cut cut_separated(const wte__text_layout *l, wte__bytes line, wte__text_line *out)
{
    size_t at = 0;
    const size_t n = (size_t)line.size;
    if (count_blank_fields(line.data, n) == 0) return WTE__TEXT_EMPTY;
    if (!take_columns(l, line, out, &at)) return WTE__TEXT_UNEVEN;
    out->numbers_at = at;
    const wte__bytes rest = { line.data + at, n - at };
    const bool may_be_quoted = l->quoted_numbers || l->after > 0;
    const uint64_t fields = may_be_quoted ? count_fields(l->separator, rest)
                                          : count_bytes(rest.data, n - at, l->separator) + 1;
    out->found = fields > l->after ? fields - l->after : 0;
    return fields == l->dim + l->after ? WTE__TEXT_ROW : WTE__TEXT_UNEVEN;
}

/* Lists in brackets --------------------------------------------------------------------------- */

static bool separates_in_list(uint8_t c)
{
    return wte__text_is_blank(c) || c == ',';
}

bool wte__text_find_list(wte__bytes line, wte__text_list *out)
{
    const uint8_t *p = line.data;
    const size_t n = (size_t)line.size;
    size_t close = n, open;
    while (close && p[close - 1] != ']' && p[close - 1] != ')') close--;
    if (close-- == 0) return false;
    const uint8_t bracket = p[close] == ']' ? '[' : '(';
    for (open = close; open > 0 && p[open - 1] != bracket;) open--;
    if (open-- == 0) return false;
    out->numbers = 0;
    out->numbers_at = open + 1;
    out->close = close;
    for (size_t at = open + 1; at < close;) {
        size_t end = at;
        while (end < close && !separates_in_list(p[end])) end++;
        if (end > at && wte__text_kind_of(p + at, end - at) == WTE__TEXT_WORD) return false;
        if (end > at && out->numbers++ == 0) out->numbers_at = at;
        at = end + 1;
    }
    out->open = open > 0 && p[open - 1] == '"' ? open - 1 : open;
    return out->numbers > 0;
}

/* The cells before a list: `before` of them, each followed by a separator. */
static wte__text_cut cut_list(const wte__text_layout *l, wte__bytes line, wte__text_line *out)
{
    wte__text_list list;
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    uint64_t cells = 0;
    if (count_blank_fields(line.data, (size_t)line.size) == 0) return WTE__TEXT_EMPTY;
    if (!wte__text_find_list(line, &list)) return WTE__TEXT_UNEVEN;
    wte__bytes cell = { line.data, list.open };
    const bool blanks = l->cell_separator == WTE__TEXT_BLANKS;
    while (cell.size && wte__text_is_blank(cell.data[cell.size - 1]) &&
           (blanks || cell.data[cell.size - 1] != l->cell_separator))
        cell.size--;
    const bool any = cell.size > 0;
    if (any && cell.data[cell.size - 1] == l->cell_separator && !blanks) cell.size--;
    if (any && blanks && l->tokens) { /* a word may hold blanks */
        out->token = cell;
        cells = 1;
    } else if (any) {
        wte__text_fields_start(&it, l->cell_separator, cell);
        it.more = true;
        for (; wte__text_fields_next(&it, &field, &quoted); cells++) {
            if (!l->tokens || cells != l->key) continue;
            out->token = field;
            out->quoted = quoted;
        }
    }
    out->numbers_at = list.numbers_at;
    out->found = list.numbers;
    return list.numbers == l->dim && cells == l->before ? WTE__TEXT_ROW : WTE__TEXT_UNEVEN;
}

wte__text_cut wte__text_cut_line(const wte__text_layout *l, wte__bytes line, wte__text_line *out)
{
    memset(out, 0, sizeof *out);
    if (l->comments && wte__text_is_comment(line)) return WTE__TEXT_COMMENT;
    if (l->separator == WTE__TEXT_BLANKS) return cut_blanks(l, line, out);
    if (l->separator == WTE__TEXT_LIST) return cut_list(l, line, out);
    return cut_separated(l, line, out);
}

/* One too large for 64 bits is the largest of them. */
size_t wte__text_integer(const uint8_t *p, size_t n, size_t at, uint64_t *out)
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
    const wte__bytes line = wte__text_line_at(data, n, '\n', &next);
    const size_t end = (size_t)line.size;
    if (next <= end) return 0; /* no end of a line: more digits may follow */
    size_t at = wte__text_integer(line.data, end, 0, rows), second = at;
    while (second < end && wte__text_is_blank(line.data[second])) second++;
    if (at == 0 || second == at) return 0;
    at = wte__text_integer(line.data, end, second, dim);
    if (at == second) return 0;
    while (at < end && wte__text_is_blank(line.data[at])) at++;
    return at == end ? next : 0;
}
