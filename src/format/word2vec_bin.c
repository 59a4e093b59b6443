/* word2vec's binary form: "rows dim\n", then for each word its bytes, a space, dim little-endian
 * f32 and, as some writers have it, a line's end. Words are of any length, so one pass finds the
 * rows. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "format/text_decide.h"
#include "format/text_index.h"

#define PASS_BYTES ((size_t)1 << 20)
/* Records between two reports of progress. */
#define REPORT_RECORDS 4096u

wte__match wte__word2vec_match(const wte__head *head)
{
    uint64_t rows, dim;
    const size_t n = (size_t)head->n;
    if (wte__text_counts(head->bytes, n, &rows, &dim) == 0) return WTE__MATCH_NO;
    return wte__text_may_be_table(head->bytes, n, head->n == head->size) ? WTE__MATCH_NO
                                                                         : WTE__MATCH_YES;
}

/* Rows ---------------------------------------------------------------------------------------- */

/* Of a word, what is compared. */
#define WORD_BYTES 256u
#define ROW_BYTES  8192u

/* Whether the word of a row, with the space behind it, ends the n bytes at p. */
static bool word_ends(const wte_file *f, uint64_t row, const uint8_t *p, size_t n)
{
    const wte__bytes word = wte__token_list_text(&f->tokens, row);
    return p[n - 1] == ' ' && memcmp(p, word.data + (word.size - (n - 1)), n - 1) == 0;
}

/* How many bytes before a row's numbers are its word and the space, as far as they are compared. */
static size_t word_before(const wte_file *f, uint64_t row)
{
    const uint64_t size = wte__token_list_text(&f->tokens, row).size;
    return 1 + (size < WORD_BYTES ? (size_t)size : WORD_BYTES);
}

static bool row_is_there(const wte_file *f, uint64_t row)
{
    uint8_t before[WORD_BYTES + 1];
    const wte__text_index *x = f->made;
    const wte__part *part = &f->parts[0];
    const size_t n = word_before(f, row);
    if (x->row_at[row] < n) return false;
    return wte__file_read_at(&part->file, x->row_at[row] - n, before, n, part->path, NULL) ==
               WTE_OK &&
           word_ends(f, row, before, n);
}

/* With its word in one read where both are short. In a file that was changed, the numbers of
 * another row may lie at the row's place. */
static wte_status read_row(const wte__tensor_entry *e, uint64_t row, uint8_t *out, wte_error *err)
{
    const wte_file *f = e->file;
    const wte__text_index *x = f->made;
    const wte__part *part = &f->parts[e->part];
    const uint64_t bytes = x->key.dim * sizeof(float), at = x->row_at[row];
    uint8_t piece[WORD_BYTES + 1 + ROW_BYTES];
    const size_t n = word_before(f, row);
    if (bytes <= ROW_BYTES && at >= n) {
        WTE_TRY(wte__file_read_at(&part->file, at - n, piece, n + bytes, part->path, err));
        if (!word_ends(f, row, piece, n)) return wte__text_index_stale(x, f, row, err);
        memcpy(out, piece + n, (size_t)bytes);
    } else {
        if (!row_is_there(f, row)) return wte__text_index_stale(x, f, row, err);
        WTE_TRY(wte__file_read_at(&part->file, at, out, bytes, part->path, err));
    }
    if (wte__host_is_big()) wte__swap_units(out, bytes, sizeof(float));
    return WTE_OK;
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte__tensor_entry *e = ctx;
    const wte__text_index *x = e->file->made;
    for (size_t i = 0; i < n; i++)
        WTE_TRY(read_row(e, ids[i], (uint8_t *)out + i * x->key.dim * sizeof(float), err));
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte__tensor_entry *e = ctx;
    const wte__text_index *x = e->file->made;
    for (size_t i = 0; i < n; i++)
        WTE_TRY(read_row(e, first + i, (uint8_t *)out + i * x->key.dim * sizeof(float), err));
    return WTE_OK;
}

static wte_status make_rows(const wte__tensor_entry *e, wte_row_source *out, wte_error *err)
{
    const wte__text_index *x = e->file->made;
    const wte_row_source rows = { .rows = x->n,
                                  .cols = x->key.dim,
                                  .dtype = WTE_F32,
                                  .read_rows = read_rows,
                                  .read_block = read_block,
                                  .ctx = (void *)(uintptr_t)e };
    (void)err;
    *out = rows;
    return WTE_OK;
}

static wte_status place(const wte__tensor_entry *e, uint64_t row, uint64_t *offset, uint64_t *bytes,
                        wte_error *err)
{
    const wte__text_index *x = e->file->made;
    (void)err;
    *offset = x->row_at[row];
    *bytes = x->key.dim * sizeof(float);
    return WTE_OK;
}

static void release(wte_file *f)
{
    wte__text_index *x = f->made;
    if (!x) return;
    wte__text_index_clear(x, f->allocator);
    wte__free(f->allocator, x, sizeof *x);
    f->made = NULL;
}

static const wte__maker maker = { .rows = make_rows, .place = place, .release = release };

/* The pass ------------------------------------------------------------------------------------ */

typedef struct pass {
    wte_file *f;
    wte__text_index *x;
    wte_error *err;
    wte__window window;
    uint64_t at, rows; /* of the record to come; how many there must be */
} pass;

static wte_status bad_record(const pass *p, const char *what)
{
    return wte__fail(p->err, WTE_E_FORMAT, p->at,
                     "%s: record %zu of %" PRIu64 ", at byte %" PRIu64 ", %s", p->f->path,
                     p->x->n + 1, p->rows, p->at, what);
}

static wte_status take_record(pass *p)
{
    const uint64_t row_bytes = p->x->key.dim * sizeof(float);
    const uint8_t *data, *space = NULL;
    size_t n;
    if (p->at == p->window.end) return bad_record(p, "is missing: the file ends");
    WTE_TRY(wte__window_see(&p->window, p->at, 1, &data, &n, p->err));
    /* the end of the record before it */
    if (data[0] == '\n' && p->x->n > 0 && ++p->at == p->window.end)
        return bad_record(p, "is missing: the file ends");
    for (size_t want = 64;; want = n + 1) {
        WTE_TRY(wte__window_see(&p->window, p->at, want, &data, &n, p->err));
        space = memchr(data, ' ', n);
        if (space || n > WTE_LIMIT_TOKEN_TEXT || p->at + n == p->window.end) break;
    }
    if (space ? (uint64_t)(space - data) > WTE_LIMIT_TOKEN_TEXT : n > WTE_LIMIT_TOKEN_TEXT)
        return bad_record(p, "has no space within 1 MiB that ends a word");
    if (!space) return bad_record(p, "has no space that ends its word: the file ends");
    const wte__bytes word = { data, (uint64_t)(space - data) };
    if (memchr(word.data, '\0', (size_t)word.size) || memchr(word.data, '\n', (size_t)word.size))
        return bad_record(p, "has a NUL or a line's end in its word: numbers before it are missing "
                             "or too many");
    const uint64_t numbers = p->at + word.size + 1;
    if (row_bytes > p->window.end - numbers)
        return wte__fail(p->err, WTE_E_FORMAT, p->at,
                         "%s: record %zu of %" PRIu64 ", at byte %" PRIu64 ", needs %" PRIu64
                         " bytes of numbers, but %" PRIu64 " are left",
                         p->f->path, p->x->n + 1, p->rows, p->at, row_bytes,
                         p->window.end - numbers);
    WTE_TRY(wte__token_list_add(&p->f->tokens, word, WTE_TAG_NORMAL, p->err));
    WTE_TRY(wte__text_index_add(p->x, p->f, numbers, p->err));
    p->at = numbers + row_bytes;
    return WTE_OK;
}

static wte_status take_records(pass *p)
{
    while (p->x->n < p->rows) {
        if (p->x->n % REPORT_RECORDS == 0) WTE_TRY(wte__file_report(p->f, p->at, p->err));
        WTE_TRY(take_record(p));
    }
    const uint8_t *data = NULL;
    size_t n;
    WTE_TRY(wte__window_see(&p->window, p->at, 1, &data, &n, p->err));
    p->at += n && data[0] == '\n';
    if (p->at == p->window.end) return WTE_OK;
    return wte__fail(p->err, WTE_E_FORMAT, p->at,
                     "%s: %" PRIu64 " bytes follow after the last of %" PRIu64
                     " records, at byte %" PRIu64,
                     p->f->path, p->window.end - p->at, p->rows, p->at);
}

static wte_status make_pass(wte_file *f, wte__text_index *x, uint64_t rows, uint64_t first,
                            wte_error *err)
{
    /* a word of the longest, its space and the line's end before it must fit */
    const size_t cap = PASS_BYTES + WTE_LIMIT_TOKEN_TEXT;
    pass p = { .f = f, .x = x, .err = err, .at = first, .rows = rows };
    p.window.part = &f->parts[0];
    p.window.end = x->end = f->parts[0].file.size;
    p.window.cap = cap < p.window.end ? cap : (size_t)p.window.end;
    p.window.buf = wte__alloc(f->allocator, p.window.cap);
    if (!p.window.buf) return wte__no_memory(err, cap, "records of words");
    const wte_status status = take_records(&p);
    wte__free(f->allocator, p.window.buf, p.window.cap);
    return status;
}

wte_status wte__word2vec_read(wte_file *f, wte_error *err)
{
    const wte__part *part = &f->parts[0];
    const uint64_t size = part->file.size;
    uint8_t head[64];
    uint64_t rows, dim, least, row_bytes;
    const size_t n = size < sizeof head ? (size_t)size : sizeof head;
    WTE_TRY(wte__file_read_at(&part->file, 0, head, n, part->path, err));
    const size_t first = wte__text_counts(head, n, &rows, &dim);
    if (first != 0 && dim == 0)
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: line 1 says %" PRIu64 " words of 0 dimensions: nothing is stored",
                         f->path, rows);
    if (first == 0)
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: line 1 of a word2vec file has two numbers, words and dimensions",
                         f->path);
    if (!wte__mul_u64(dim, sizeof(float), &row_bytes) || row_bytes == UINT64_MAX ||
        !wte__mul_u64(rows, row_bytes + 1, &least) || least > size - first)
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: %" PRIu64 " words of %" PRIu64 " numbers need more than the %" PRIu64
                         " bytes that follow line 1",
                         f->path, rows, dim, size - first);
    wte__text_index *x = wte__alloc_zeroed(f->allocator, sizeof *x);
    if (!x) return wte__no_memory(err, sizeof *x, "the index of words");
    f->made = x;
    f->maker = &maker;
    f->tokens.first_wins = true;
    f->tokens.form = WTE_FORM_PLAIN;
    x->key.kind = WTE_FORMAT_WORD2VEC;
    x->key.dim = dim;
    if (!wte__text_index_load(x, f, row_is_there)) {
        WTE_TRY(make_pass(f, x, rows, first, err));
        wte__text_index_store(x, f);
    }
    return wte__vectors_add(f, x->n, dim, first, err);
}
