/* Tables of numbers as text: word2vec's text form (fastText's .vec too), GloVe's, CSV, TSV and what
 * else programs print. How one is to be read is decided first (text_decide.h).
 *
 * One pass finds where each row's numbers begin and copies the tokens out; numbers are parsed when
 * a row is read. Memory is the index and the tokens, whatever the file's size. */
#include <inttypes.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/limits.h"
#include "format/text_decide.h"
#include "format/text_index.h"
#include "format/text_number.h"
#include "format/text_row.h"

/* The first piece of a file that its layout is told from, if it holds two lines. */
#define SAMPLE_BYTES ((size_t)65536)
/* What the pass reads at once. */
#define PASS_BYTES ((size_t)1 << 20)
/* What a row is read through; on the stack. */
#define ROW_BYTES ((size_t)16384)

typedef struct vectors {
    wte__text_layout layout;
    wte__text_reading reading;
    wte__text_index index;
} vectors;

/* Telling ------------------------------------------------------------------------------------- */

static wte_format format_of(const wte__text_layout *l)
{
    if (l->counted) return WTE_FORMAT_WORD2VEC_TEXT;
    if (l->separator == WTE__TEXT_BLANKS && l->tokens) return WTE_FORMAT_GLOVE;
    if (l->separator == '\t') return WTE_FORMAT_TSV;
    return l->separator == ',' || l->separator == ';' ? WTE_FORMAT_CSV : WTE_FORMAT_TEXT_TABLE;
}

wte__match wte__text_table_match(const wte__head *head)
{
    return wte__text_may_be_table(head->bytes, (size_t)head->n, head->n == head->size)
               ? WTE__MATCH_YES
               : WTE__MATCH_NO;
}

/* Rows ---------------------------------------------------------------------------------------- */

typedef struct reader {
    const wte__tensor_entry *entry;
    const vectors *v;
    wte__window window;
} reader;

static reader reader_of(const wte__tensor_entry *e, uint8_t *buf, size_t cap)
{
    const vectors *v = e->file->made;
    const reader r = { e, v, { &e->file->parts[e->part], v->index.end, 0, 0, cap, buf } };
    return r;
}

/* The number of the line at byte `at`, from 1; counted when a fault is to be told. */
static uint64_t line_at(const reader *r, uint64_t at)
{
    const wte__part *part = r->window.part;
    const uint8_t line_end = r->v->layout.line_end;
    uint8_t buf[4096];
    uint64_t n = 1;
    for (uint64_t from = 0; from < at;) {
        const uint64_t bytes = at - from < sizeof buf ? at - from : sizeof buf;
        if (wte__file_read_at(&part->file, from, buf, bytes, part->path, NULL) != WTE_OK) break;
        for (uint64_t i = 0; i < bytes; i++) n += buf[i] == line_end;
        from += bytes;
    }
    return n;
}

static wte_status refuse_number(const reader *r, uint64_t number, wte__bytes text, uint64_t at,
                                wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    return wte__fail(err, WTE_E_FORMAT, at,
                     "%s: line %" PRIu64 " (byte %" PRIu64 "): '%s' stands where number %" PRIu64
                     " of %" PRIu64 " is expected",
                     r->window.part->path, line_at(r, at), at,
                     wte__show(shown, text.data, text.size), number + 1, r->v->layout.dim);
}

static bool separates(const wte__text_layout *l, uint8_t c)
{
    if (l->separator == WTE__TEXT_BLANKS) return wte__text_is_blank(c);
    if (l->separator != WTE__TEXT_LIST) return c == l->separator;
    return wte__text_is_blank(c) || c == ',' || c == ']' || c == ')';
}

/* The number in the quotes at p; its length with them, or 0. */
static size_t quoted_number(const uint8_t *p, size_t n)
{
    const uint8_t *end = n && p[0] == '"' ? memchr(p + 1, '"', n - 1) : NULL;
    return end ? (size_t)(end - p) + 1 : 0;
}

/* The field at *at, without blanks around it; *at gets where the next one may begin. */
static wte_status next_field(reader *r, uint64_t *at, wte__bytes *field, wte_error *err)
{
    const wte__text_layout *l = &r->v->layout;
    const bool runs = l->separator == WTE__TEXT_BLANKS || l->separator == WTE__TEXT_LIST;
    const uint8_t *p;
    size_t n, i = 0, end;
    for (;;) { /* blanks in front may be more than a window holds */
        WTE_TRY(wte__window_see(&r->window, *at, WTE__TEXT_NUMBER_MAX + 2, &p, &n, err));
        while (i < n &&
               (runs ? separates(l, p[i]) : wte__text_is_blank(p[i]) && p[i] != l->separator))
            i++;
        if (i == 0 || n == 0) break;
        *at += i;
        i = 0;
    }
    const size_t quoted = l->quoted_numbers ? quoted_number(p, n) : 0;
    for (end = quoted; end < n && p[end] != l->line_end; end++)
        if (separates(l, p[end])) break;
    *at += end + (end < n && !runs && separates(l, p[end]));
    if (end && p[end - 1] == '\r' && (end == n || p[end] == '\n')) end--;
    while (end && wte__text_is_blank(p[end - 1])) end--;
    const bool inside = quoted > 0 && end == quoted;
    field->data = p + inside;
    field->size = end - 2 * (size_t)inside;
    return WTE_OK;
}

static bool row_is_there(const wte_file *f, uint64_t row)
{
    uint8_t buf[1024];
    const vectors *v = f->made;
    reader r = { NULL, v, { &f->parts[0], v->index.end, 0, 0, sizeof buf, buf } };
    bool there;
    return wte__text_row_find(f, &v->index, &v->layout, &r.window, row, &there, NULL) == WTE_OK &&
           there;
}

/* In a file that was changed, the numbers of another row may lie at the row's place. */
static wte_status check_place(reader *r, uint64_t row, wte_error *err)
{
    const wte_file *f = r->entry->file;
    bool there;
    if (r->window.part->file.memory) return WTE_OK;
    WTE_TRY(wte__text_row_find(f, &r->v->index, &r->v->layout, &r->window, row, &there, err));
    return there ? WTE_OK : wte__text_index_stale(&r->v->index, f, row, err);
}

/* Whether a row ends at byte `at`: after it are blanks alone, up to the end of its line; or other
 * columns. */
static wte_status check_end(reader *r, uint64_t row, uint64_t at, wte_error *err)
{
    const wte__text_layout *l = &r->v->layout;
    const uint8_t *p;
    if (l->after > 0 || l->separator == WTE__TEXT_LIST) return WTE_OK;
    size_t n, i = 0;
    do {
        at += i;
        WTE_TRY(wte__window_see(&r->window, at, 2, &p, &n, err));
        for (i = 0; i < n && wte__text_is_blank(p[i]);) i++;
    } while (i > 0 && i == n);
    if (i == n || p[i] == l->line_end || p[i] == '\r') return WTE_OK;
    return wte__text_index_stale(&r->v->index, r->entry->file, row, err);
}

static bool read_number(const wte__text_layout *l, wte__bytes field, float *out)
{
    uint8_t buf[WTE__TEXT_NUMBER_MAX];
    const size_t n = (size_t)field.size;
    if (l->decimal_comma && wte__text_with_point(field.data, n, buf))
        return wte__text_f32(buf, n, out);
    return wte__text_f32(field.data, n, out);
}

static wte_status read_row(reader *r, uint64_t row, float *out, wte_error *err)
{
    uint64_t at = r->v->index.row_at[row];
    WTE_TRY(check_place(r, row, err));
    for (uint64_t i = 0; i < r->v->layout.dim; i++) {
        const uint64_t begin = at;
        wte__bytes field;
        WTE_TRY(next_field(r, &at, &field, err));
        if (!read_number(&r->v->layout, field, &out[i]))
            return refuse_number(r, i, field, begin, err);
    }
    return check_end(r, row, at, err);
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    uint8_t buf[ROW_BYTES];
    reader r = reader_of(ctx, buf, sizeof buf);
    float *to = out;
    for (size_t i = 0; i < n; i++) WTE_TRY(read_row(&r, ids[i], to + i * r.v->layout.dim, err));
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    uint8_t buf[ROW_BYTES];
    reader r = reader_of(ctx, buf, sizeof buf);
    float *to = out;
    for (size_t i = 0; i < n; i++) WTE_TRY(read_row(&r, first + i, to + i * r.v->layout.dim, err));
    return WTE_OK;
}

static wte_status make_rows(const wte__tensor_entry *e, wte_row_source *out, wte_error *err)
{
    const vectors *v = e->file->made;
    const wte_row_source rows = { .rows = v->index.n,
                                  .cols = v->layout.dim,
                                  .dtype = WTE_F32,
                                  .read_rows = read_rows,
                                  .read_block = read_block,
                                  .ctx = (void *)(uintptr_t)e };
    (void)err;
    *out = rows;
    return WTE_OK;
}

/* From the first number to the end of the line. */
static wte_status place(const wte__tensor_entry *e, uint64_t row, uint64_t *offset, uint64_t *bytes,
                        wte_error *err)
{
    uint8_t buf[ROW_BYTES];
    reader r = reader_of(e, buf, sizeof buf);
    const uint64_t begin = r.v->index.row_at[row];
    for (uint64_t at = begin; at < r.v->index.end;) {
        const uint8_t *p, *line_end;
        size_t n;
        WTE_TRY(wte__window_see(&r.window, at, 1, &p, &n, err));
        line_end = memchr(p, r.v->layout.line_end, n);
        at += line_end ? (size_t)(line_end - p) : n;
        *bytes = at - begin;
        if (line_end) break;
    }
    *offset = begin;
    return WTE_OK;
}

static void release(wte_file *f)
{
    vectors *v = f->made;
    if (!v) return;
    wte__text_index_clear(&v->index, f->allocator);
    wte__free(f->allocator, v, sizeof *v);
    f->made = NULL;
}

static const wte__maker maker = { .rows = make_rows, .place = place, .release = release };

/* The pass ------------------------------------------------------------------------------------ */

typedef struct pass {
    wte_file *f;
    vectors *v;
    wte_error *err;
    wte__window window;
    uint64_t at, line; /* of the line to come; from 1 */
} pass;

static wte_status grow_window(pass *p, size_t cap)
{
    wte__window *w = &p->window;
    uint8_t *buf = wte__alloc(p->f->allocator, cap);
    if (!buf) return wte__no_memory(p->err, cap, "a line of text");
    if (w->n) memcpy(buf, w->buf, w->n);
    wte__free(p->f->allocator, w->buf, w->cap);
    w->buf = buf;
    w->cap = cap;
    return WTE_OK;
}

/* The line at p->at without its end; *bytes gets its length with it. */
static wte_status next_line(pass *p, wte__bytes *line, size_t *bytes)
{
    const uint8_t *data, *end = NULL;
    size_t n, seen = 0;
    for (size_t want = 1;; want = n + 1) {
        if (want > p->window.cap) {
            if (p->window.cap >= WTE_LIMIT_TEXT_LINE)
                return wte__fail(p->err, WTE_E_LIMIT, p->at,
                                 "%s: line %" PRIu64 " (byte %" PRIu64
                                 ") has more than %u bytes, the most of a line of vectors",
                                 p->f->path, p->line, p->at, WTE_LIMIT_TEXT_LINE);
            WTE_TRY(grow_window(p, p->window.cap * 2));
        }
        WTE_TRY(wte__window_see(&p->window, p->at, want, &data, &n, p->err));
        if (n > seen) end = memchr(data + seen, p->v->layout.line_end, n - seen);
        if (end || p->at + n >= p->window.end) break;
        seen = n;
    }
    const size_t length = end ? (size_t)(end - data) + 1 : n;
    *line = wte__text_line_at(data, length, p->v->layout.line_end, bytes);
    return WTE_OK;
}

/* The token just added has "" or \" for every quote inside. */
static void undouble_quotes(wte_token_list *t)
{
    uint8_t *text = t->text;
    size_t to = t->n > 1 ? (size_t)t->end[t->n - 2] : 0;
    const size_t end = (size_t)t->end[t->n - 1];
    for (size_t from = to; from < end; from++) {
        const uint8_t next = from + 1 < end ? text[from + 1] : 0;
        const bool escaped =
            text[from] == '\\' && next == '"' && (from + 2 == end || text[from + 2] != '"');
        from += escaped;
        text[to++] = text[from];
        from += !escaped && text[from] == '"' && next == '"';
    }
    t->end[t->n - 1] = to;
}

static wte_status add_row(pass *p, const wte__text_line *cut)
{
    const wte__text_layout *l = &p->v->layout;
    if (l->counted && p->v->index.n == l->rows)
        return wte__fail(p->err, WTE_E_FORMAT, p->at,
                         "%s: line %" PRIu64 " (byte %" PRIu64 "): a word more than the %" PRIu64
                         " that line 1 says",
                         p->f->path, p->line, p->at, l->rows);
    WTE_TRY(wte__text_index_add(&p->v->index, p->f, p->at + cut->numbers_at, p->err));
    if (!l->tokens) return WTE_OK;
    if (cut->token.size > WTE_LIMIT_TOKEN_TEXT)
        return wte__fail(p->err, WTE_E_LIMIT, p->at,
                         "%s: line %" PRIu64 " (byte %" PRIu64 "): a word of %" PRIu64
                         " bytes, but at most %u are taken",
                         p->f->path, p->line, p->at, cut->token.size, WTE_LIMIT_TOKEN_TEXT);
    WTE_TRY(wte__token_list_add(&p->f->tokens, cut->token, WTE_TAG_NORMAL, p->err));
    if (cut->quoted) undouble_quotes(&p->f->tokens);
    return WTE_OK;
}

/* Lines between two reports of progress. */
#define REPORT_LINES 4096u

static wte_status take_lines(pass *p)
{
    const wte__text_layout *l = &p->v->layout;
    uint64_t empty = 0; /* the first of the empty lines before, or 0 */
    for (size_t bytes; p->at < p->window.end; p->at += bytes, p->line++) {
        wte__bytes line;
        wte__text_line cut;
        if (p->line % REPORT_LINES == 0) WTE_TRY(wte__file_report(p->f, p->at, p->err));
        WTE_TRY(next_line(p, &line, &bytes));
        const wte__text_cut kind = wte__text_cut_line(l, line, &cut);
        if (kind == WTE__TEXT_COMMENT) continue;
        if (kind == WTE__TEXT_EMPTY) {
            if (!empty) empty = p->line;
            continue;
        }
        if (empty)
            return wte__fail(p->err, WTE_E_FORMAT, p->at,
                             "%s: line %" PRIu64 " is empty, but rows follow at byte %" PRIu64,
                             p->f->path, empty, p->at);
        if (kind == WTE__TEXT_UNEVEN)
            return wte__fail(p->err, WTE_E_FORMAT, p->at,
                             "%s: line %" PRIu64 " (byte %" PRIu64 ") has %" PRIu64
                             " number%s, but %" PRIu64 " expected",
                             p->f->path, p->line, p->at, cut.found, cut.found == 1 ? "" : "s",
                             l->dim);
        WTE_TRY(add_row(p, &cut));
    }
    if (!l->counted || p->v->index.n == l->rows) return WTE_OK;
    return wte__fail(p->err, WTE_E_FORMAT, p->window.end,
                     "%s: line 1 says %" PRIu64 " words, but the file holds %zu", p->f->path,
                     l->rows, p->v->index.n);
}

static wte_status make_pass(wte_file *f, vectors *v, wte_error *err)
{
    pass p = { .f = f, .v = v, .err = err, .at = v->layout.first };
    p.line = v->layout.first_line;
    p.window.part = &f->parts[0];
    p.window.end = v->index.end = f->parts[0].file.size;
    const size_t cap = p.window.end < PASS_BYTES ? (size_t)p.window.end : PASS_BYTES;
    wte_status status = grow_window(&p, cap);
    if (status == WTE_OK) status = take_lines(&p);
    wte__free(f->allocator, p.window.buf, p.window.cap);
    return status;
}

/* Lines that a decision needs at least, beyond those to skip, unless there are fewer. */
#define LINES_TO_DECIDE 4u

static bool has_lines(const uint8_t *data, size_t n, uint64_t lines)
{
    for (size_t at = 0; lines > 0; lines--) {
        const uint8_t *end = at < n ? memchr(data + at, '\n', n - at) : NULL;
        if (!end && at < n) end = memchr(data + at, '\r', n - at);
        if (!end) return false;
        at = (size_t)(end - data) + 1;
    }
    return true;
}

/* Whole lines at the end of the file, after `from`. */
static wte_status load_tail(const wte_file *f, wte__text_decision *d, uint64_t from, uint8_t **buf,
                            wte_error *err)
{
    const wte__part *part = &f->parts[0];
    const uint64_t size = part->file.size;
    uint64_t at = size > WTE__TEXT_TAIL_BYTES ? size - WTE__TEXT_TAIL_BYTES : 0;
    if (at < from) at = from;
    *buf = wte__alloc(f->allocator, WTE__TEXT_TAIL_BYTES);
    if (!*buf) return wte__no_memory(err, WTE__TEXT_TAIL_BYTES, "the last lines of a text");
    WTE_TRY(wte__file_read_at(&part->file, at, *buf, size - at, part->path, err));
    const uint8_t *line = memchr(*buf, d->l->line_end, (size_t)(size - at));
    const size_t skip = line ? (size_t)(line - *buf) + 1 : (size_t)(size - at);
    d->tail = (wte__bytes){ *buf + skip, size - at - skip };
    return WTE_OK;
}

/* Decides by the first n bytes; *again: that was not enough. */
static wte_status decide_by(const wte_file *f, wte__text_decision *d, size_t n, bool *again)
{
    const wte__part *part = &f->parts[0];
    const uint64_t size = part->file.size;
    const uint64_t skip = d->wish->has_skip && d->wish->skip < n ? d->wish->skip : 0;
    uint8_t *tail = NULL, *data = wte__alloc(f->allocator, n);
    *again = false;
    if (!data) return wte__no_memory(d->err, n, "the first lines of a text");
    wte_status status = wte__file_read_at(&part->file, 0, data, n, part->path, d->err);
    d->whole = n == size;
    const bool most = d->whole || n >= WTE_LIMIT_TEXT_LINE;
    if (status == WTE_OK && !most && !has_lines(data, n, LINES_TO_DECIDE + skip)) {
        *again = true;
    } else if (status == WTE_OK) {
        d->sampled = most || n >= WTE__TEXT_SAMPLE_BYTES;
        if (d->sampled && !d->whole) status = load_tail(f, d, n, &tail, d->err);
        if (status == WTE_OK) status = wte__text_decide(d, data, n);
        *again = d->wants_more;
    }
    d->tail = (wte__bytes){ NULL, 0 };
    wte__free(f->allocator, tail, WTE__TEXT_TAIL_BYTES);
    wte__free(f->allocator, data, n);
    return status;
}

/* The layout, from as much of the file as that takes. */
static wte_status find_layout(const wte_file *f, vectors *v, wte_error *err)
{
    const uint64_t size = f->parts[0].file.size;
    wte__text_decision d = { .l = &v->layout, .wish = &f->text_wish, .reading = &v->reading };
    d.allocator = f->allocator;
    d.path = f->path;
    d.err = err;
    wte_status status = WTE_OK;
    bool again = true;
    for (size_t want = SAMPLE_BYTES; again && status == WTE_OK;) {
        status = decide_by(f, &d, want < size ? want : (size_t)size, &again);
        const bool all = d.wants_more && want < WTE__TEXT_SAMPLE_BYTES;
        want = all ? WTE__TEXT_SAMPLE_BYTES : want * 4;
    }
    wte__free(f->allocator, d.evidence, sizeof *d.evidence);
    return status;
}

/* All that the index depends on, as one number. */
static uint32_t layout_code(const wte__text_layout *l)
{
    const uint64_t words[] = {
        2, /* raised when the meaning of the others changes */
        l->separator,
        l->line_end,
        l->cell_separator,
        (uint64_t)l->counted | (uint64_t)l->comments << 1 | (uint64_t)l->tokens << 2 |
            (uint64_t)l->quoted_key << 3 | (uint64_t)l->quoted_numbers << 4,
        l->key,
        l->before,
        l->after,
        l->first,
    };
    return (uint32_t)XXH3_64bits(words, sizeof words);
}

wte_status wte__word_vectors_read(wte_file *f, wte_error *err)
{
    vectors *v = wte__alloc_zeroed(f->allocator, sizeof *v);
    if (!v) return wte__no_memory(err, sizeof *v, "the index of a text");
    f->made = v;
    f->maker = &maker;
    WTE_TRY(find_layout(f, v, err));
    if (v->layout.dim > WTE_LIMIT_TEXT_LINE / 2)
        return wte__fail(err, WTE_E_LIMIT, 0,
                         "%s: line 1 says %" PRIu64
                         " numbers a row, but no line has room for more than %u",
                         f->path, v->layout.dim, WTE_LIMIT_TEXT_LINE / 2);
    f->format = format_of(&v->layout);
    f->tokens.first_wins = true;
    f->tokens.form = WTE_FORM_PLAIN;
    v->index.key.kind = (uint32_t)f->format;
    v->index.key.layout = layout_code(&v->layout);
    v->index.key.dim = v->layout.dim;
    if (!wte__text_index_load(&v->index, f, row_is_there)) {
        WTE_TRY(make_pass(f, v, err));
        wte__text_index_store(&v->index, f);
    }
    return wte__vectors_add(f, v->index.n, v->layout.dim, v->layout.first, err);
}

wte_status wte_file_text_reading(const wte_file *f, wte_text_reading *out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_file_text_reading: out", err));
    memset(out, 0, sizeof *out);
    WTE_TRY(wte__need(f, "wte_file_text_reading: f", err));
    if (f->maker != &maker)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "%s: is %s, not a text table",
                         f->path, wte_format_name(f->format));
    const vectors *v = f->made;
    const wte__text_layout *l = &v->layout;
    out->separator = (char)l->separator;
    out->decimal_comma = l->decimal_comma;
    out->counted = l->counted;
    out->titled = l->titled;
    out->plain = v->reading.plain;
    out->first_line = l->first_line;
    out->key_column = l->tokens ? l->key + 1 : 0;
    out->first_column = l->before + 1;
    out->dim = l->dim;
    out->lines_seen = v->reading.lines;
    out->what = v->reading.what;
    out->why = v->reading.why;
    return WTE_OK;
}
