/* Surveying the first lines of a text: under which separator they agree, or what else the text is.
 */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "format/text_decide.h"
#include "format/text_number.h"

/* Bytes in which a file that is not text shows it; words further on may hold any byte. */
#define TELLING_BYTES 4096u

void wte__text_start_at(wte__text_decision *d, const uint8_t *data, size_t n)
{
    const size_t mark = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    d->text.data = data + mark;
    d->text.size = n - mark;
    d->l->first = mark;
    d->l->first_line = 1;
    d->l->line_end = '\n';
    if (n > mark && !memchr(data, '\n', n) && memchr(data, '\r', n)) d->l->line_end = '\r';
}

static bool is_number(wte__bytes field, uint8_t separator, bool *comma)
{
    uint8_t buf[WTE__TEXT_NUMBER_MAX];
    *comma = false;
    if (wte__text_kind_of(field.data, (size_t)field.size) != WTE__TEXT_WORD) return true;
    if (separator == ',' || !wte__text_with_point(field.data, (size_t)field.size, buf))
        return false;
    *comma = true;
    return wte__text_kind_of(buf, (size_t)field.size) == WTE__TEXT_FLOAT;
}

bool wte__text_is_number(wte__bytes field, uint8_t separator)
{
    bool comma;
    return is_number(field, separator, &comma);
}

/* "3:0.25", an index and its value. */
static bool is_pair(wte__bytes field)
{
    uint64_t value;
    const size_t n = (size_t)field.size, at = wte__text_integer(field.data, n, 0, &value);
    return at > 0 && at + 1 < n && field.data[at] == ':' &&
           wte__text_kind_of(field.data + at + 1, n - at - 1) != WTE__TEXT_WORD;
}

static bool ends_with_number(wte__bytes field)
{
    size_t at = (size_t)field.size;
    while (at && !wte__text_is_blank(field.data[at - 1])) at--;
    return at > 0 && wte__text_kind_of(field.data + at, (size_t)field.size - at) != WTE__TEXT_WORD;
}

static void look_at_number(wte__text_look *seen, wte__bytes field, bool quoted, bool comma)
{
    float value;
    seen->numbers++;
    seen->integers += wte__text_kind_of(field.data, (size_t)field.size) == WTE__TEXT_INTEGER;
    seen->wholes +=
        !comma && wte__text_f32(field.data, (size_t)field.size, &value) && value == truncf(value);
    seen->quoted += quoted;
    seen->commas += comma;
    seen->points += memchr(field.data, '.', (size_t)field.size) != NULL;
}

static void look_at_field(wte__text_look *seen, wte__bytes field, bool quoted, uint8_t separator)
{
    bool comma;
    const bool first = seen->fields++ == 0, number = is_number(field, separator, &comma);
    seen->pairs += is_pair(field);
    if (first) {
        seen->first_quoted = quoted;
        seen->first_holds_number = ends_with_number(field);
        seen->first_integer =
            wte__text_kind_of(field.data, (size_t)field.size) == WTE__TEXT_INTEGER;
    }
    if (number)
        look_at_number(seen, field, quoted, comma);
    else
        seen->numbers = seen->integers = seen->wholes = seen->quoted = seen->commas = seen->points =
            0;
}

static wte__text_look look_at_list(wte__bytes line)
{
    wte__text_look seen = { 0 };
    wte__text_list list;
    seen.list = wte__text_find_list(line, &list);
    seen.numbers = seen.list ? list.numbers : 0;
    seen.fields = seen.numbers;
    return seen;
}

wte__text_look wte__text_look_at(uint8_t separator, wte__bytes line)
{
    wte__text_look seen = { 0 };
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    if (separator == WTE__TEXT_LIST) return look_at_list(line);
    wte__text_fields_start(&it, separator, line);
    while (wte__text_fields_next(&it, &field, &quoted)) {
        /* an empty field at the end of the line belongs to a separator there */
        seen.ends_empty = !it.more && field.size == 0 && !quoted && seen.fields > 0;
        if (!seen.ends_empty) look_at_field(&seen, field, quoted, separator);
    }
    return seen;
}

static bool is_empty(wte__bytes line)
{
    for (uint64_t i = 0; i < line.size; i++)
        if (!wte__text_is_blank(line.data[i])) return false;
    return true;
}

/* The one line there is, without its last field, which may be cut. */
static wte__bytes without_last(wte__bytes line)
{
    uint64_t n = line.size;
    while (n && !wte__text_is_blank(line.data[n - 1]) && !strchr(",;|", line.data[n - 1])) n--;
    line.size = n ? n - 1 : 0;
    return line;
}

static void take_lines(wte__text_survey *s, const wte__text_decision *d, wte__bytes text)
{
    const size_t n = (size_t)text.size;
    size_t next;
    s->n = 0;
    for (size_t at = 0; at < n && s->n < WTE__TEXT_SURVEY_LINES; at += next) {
        wte__bytes line = wte__text_line_at(text.data + at, n - at, d->l->line_end, &next);
        const bool cut = !d->whole && at + next == n && text.data[n - 1] != d->l->line_end;
        if (cut && s->n) return;
        if (cut) line = without_last(line);
        if (!is_empty(line) && !wte__text_is_comment(line))
            s->line[s->n++] = wte__text_look_at(s->separator, line);
    }
}

/* The number that most of them are; of several, the one that comes first. */
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

/* Whether a line has that many fields and numbers, or with blanks at least that many numbers. */
static bool agrees(const wte__text_survey *s, const wte__text_look *k, bool keyed)
{
    const bool blanks = s->separator == WTE__TEXT_BLANKS;
    return k->numbers >= s->numbers && (k->fields == s->fields || (blanks && keyed));
}

/* The numbers of fields and of last numbers that most lines have. The first line may be a title: it
 * comes last, and only when it has numbers. */
static void find_commonest(wte__text_survey *s)
{
    uint64_t fields[WTE__TEXT_SURVEY_LINES], numbers[WTE__TEXT_SURVEY_LINES];
    size_t n = 0;
    for (size_t i = 1; i <= s->n; i++) {
        const wte__text_look *k = &s->line[i % s->n];
        if (i == s->n && s->n > 1 && k->numbers == 0) break;
        if (k->fields == 0) continue;
        fields[n] = k->fields;
        numbers[n++] = k->numbers < k->fields ? k->numbers : k->fields - 1;
    }
    s->fields = commonest(fields, n);
    s->numbers = commonest(numbers, n);
}

/* Whether most lines agree on how many numbers end them; all, when it is one number after a word.
 */
static bool settle(wte__text_survey *s)
{
    const bool blanks = s->separator == WTE__TEXT_BLANKS;
    const size_t first = s->n > 1;
    size_t keyed = 0, fit = 0;
    if (s->n == 0) return false;
    find_commonest(s);
    /* a row that is no number before its last ones has a key; one with a word among them has not */
    for (size_t i = first; i < s->n; i++)
        keyed += s->line[i].numbers < s->line[i].fields && s->line[i].numbers == s->numbers;
    if (keyed == 0) s->numbers = s->fields;
    s->even = true;
    for (size_t i = first; i < s->n; i++) {
        s->even &= s->line[i].fields == s->fields;
        fit += agrees(s, &s->line[i], keyed > 0);
    }
    if (s->numbers == 0 || (s->fields < 2 && !blanks)) return false;
    if (s->numbers == 1 && keyed) return fit == s->n - first && (blanks || s->fields == 2);
    const size_t with_first = first && agrees(s, &s->line[0], keyed > 0);
    return 2 * (fit + with_first) > s->n - first + with_first;
}

void wte__text_survey_lines(wte__text_decision *d, uint8_t separator, wte__bytes text)
{
    const wte__text_survey none = { .separator = separator };
    d->survey = none;
    take_lines(&d->survey, d, text);
    (void)settle(&d->survey);
}

/* What separates the cells before a list: the byte before the bracket. */
static uint8_t cell_separator(const wte__text_decision *d, wte__bytes text)
{
    size_t next;
    wte__text_list list;
    for (size_t at = 0; at < text.size; at += next) {
        const wte__bytes line =
            wte__text_line_at(text.data + at, (size_t)text.size - at, d->l->line_end, &next);
        if (!wte__text_find_list(line, &list)) continue;
        const uint8_t c = list.open ? line.data[list.open - 1] : ' ';
        if (c == '\t' || c == ';' || c == ',' || c == '|') return c;
        size_t end = list.open; /* "the, [0.1, 0.2]" */
        while (end && line.data[end - 1] == ' ') end--;
        return end && strchr(",;|\t", line.data[end - 1]) ? line.data[end - 1] : WTE__TEXT_BLANKS;
    }
    return WTE__TEXT_BLANKS;
}

static bool survey_lists(wte__text_decision *d, wte__bytes text)
{
    wte__text_survey *s = &d->survey;
    size_t lists = 0;
    uint64_t numbers[WTE__TEXT_SURVEY_LINES];
    s->separator = WTE__TEXT_LIST;
    take_lines(s, d, text);
    for (size_t i = 0; i < s->n; i++)
        if (s->line[i].list) numbers[lists++] = s->line[i].numbers;
    if (lists == 0 || 2 * lists <= s->n - (s->n > 1)) return false;
    s->numbers = s->fields = commonest(numbers, lists);
    s->cell_separator = cell_separator(d, text);
    return true;
}

/* Any column of numbers, where the last one holds words. */
static bool survey_columns(wte__text_decision *d, wte__bytes text)
{
    static const uint8_t separators[] = { '\t', ';', ',', '|' };
    wte__text_survey *s = &d->survey;
    if (!d->wish->first_column) return false;
    for (size_t i = 0; i <= sizeof separators; i++) {
        uint64_t fields[WTE__TEXT_SURVEY_LINES];
        s->separator = i < sizeof separators ? separators[i] : WTE__TEXT_BLANKS;
        take_lines(s, d, text);
        for (size_t k = 0; k < s->n; k++) fields[k] = s->line[k].fields;
        s->fields = s->numbers = commonest(fields, s->n);
        s->even = true;
        if (s->fields > 1) return true;
    }
    return false;
}

bool wte__text_survey_all(wte__text_decision *d, wte__bytes text)
{
    static const uint8_t separators[] = { '\t', ';', ',', '|', WTE__TEXT_BLANKS };
    wte__text_survey *s = &d->survey;
    const wte__text_survey none = { 0 };
    *s = none;
    if (memchr(text.data, ']', (size_t)text.size) || memchr(text.data, ')', (size_t)text.size))
        if (survey_lists(d, text)) return true;
    for (size_t i = 0; i < sizeof separators; i++) {
        *s = none;
        s->separator = separators[i];
        take_lines(s, d, text);
        if (settle(s)) return true;
    }
    *s = none;
    return survey_columns(d, text);
}

/* Recognised texts ---------------------------------------------------------------------------- */

static wte_status refuse(const wte__text_decision *d, const char *what)
{
    return wte__fail(d->err, WTE_E_UNSUPPORTED, 0, "%s: is %s", d->path, what);
}

/* floret's own form: "buckets dim minn maxn hashes seed < >", then a bucket a line. */
static bool is_floret(wte__bytes line)
{
    wte__text_fields it;
    wte__bytes field;
    bool quoted;
    size_t n = 0, numbers = 0;
    wte__text_fields_start(&it, WTE__TEXT_BLANKS, line);
    for (; wte__text_fields_next(&it, &field, &quoted); n++)
        if (n < 6 && wte__text_kind_of(field.data, (size_t)field.size) == WTE__TEXT_INTEGER)
            numbers++;
    return n == 8 && numbers == 6;
}

static bool is_libsvm(const wte__text_survey *s)
{
    size_t pairs = 0;
    for (size_t i = 0; i < s->n; i++)
        pairs += s->line[i].pairs > 0 && s->line[i].pairs + 2 > s->line[i].fields;
    return s->n > 0 && pairs == s->n;
}

wte_status wte__text_named(const wte__text_decision *d)
{
    static const char market[] = "%%MatrixMarket";
    wte__text_decision pairs = *d;
    size_t next;
    const wte__bytes line =
        wte__text_line_at(d->text.data, (size_t)d->text.size, d->l->line_end, &next);
    if (line.size >= sizeof market - 1 && memcmp(line.data, market, sizeof market - 1) == 0)
        return refuse(d, "a Matrix Market file, which lists a matrix by columns or by places; this "
                         "build does not read it (scipy.io.mmread does; numpy.save what it gives)");
    if (is_floret(line))
        return refuse(d, "floret's table of hash buckets (.floret): its rows are not words, and no "
                         "word has a row of its own; this build does not read it: give the .bin or "
                         ".vec file that floret writes beside it");
    pairs.survey.separator = WTE__TEXT_BLANKS;
    take_lines(&pairs.survey, d, d->text);
    if (is_libsvm(&pairs.survey))
        return refuse(d, "a text of index:value pairs (LIBSVM, SVMlight), not a table; this build "
                         "does not read it (sklearn.datasets.load_svmlight_file does)");
    return WTE_OK;
}

static bool has_control(wte__bytes data)
{
    for (uint64_t i = 0; i < data.size && i < TELLING_BYTES; i++)
        if (data.data[i] < ' ' && !strchr("\t\n\r", data.data[i])) return true;
    return false;
}

/* A first line that opens a list or an object of JSON; "[PAD] 0.1" and "[ 0.1" do not. */
static bool is_json(wte__bytes line)
{
    const uint8_t next = line.size > 1 ? line.data[1] : '\0';
    if (line.data[0] == '{') return next == '\0' || next == '"';
    return line.data[0] == '[' && (next == '\0' || strchr("-0123456789\"[{", next));
}

bool wte__text_may_be_table(const uint8_t *data, size_t n, bool whole)
{
    wte__text_layout l = { 0 };
    const wte_text_options wish = WTE_TEXT_OPTIONS_INIT;
    wte__text_decision d = { .l = &l, .wish = &wish, .whole = whole, .path = "" };
    size_t next;
    wte__text_start_at(&d, data, n);
    const wte__bytes line = wte__text_line_at(d.text.data, (size_t)d.text.size, l.line_end, &next);
    if (is_empty(line) || memchr(data, '\0', n < TELLING_BYTES ? n : TELLING_BYTES)) return false;
    if (wte__text_named(&d) != WTE_OK) return true;
    const size_t counts = wte__text_counts(d.text.data, (size_t)d.text.size, &l.rows, &l.dim);
    const wte__bytes rest = { d.text.data + counts, d.text.size - counts };
    if (counts && l.dim) {
        if (rest.size == 0) return whole;
        d.survey.separator = WTE__TEXT_BLANKS;
        take_lines(&d.survey, &d, rest);
        const wte__text_look *second = &d.survey.line[0];
        if (d.survey.n && second->numbers >= l.dim && second->fields > l.dim) return true;
        if (has_control(rest)) return false;
        return true;
    }
    return !is_json(line) && wte__text_survey_all(&d, d.text);
}
