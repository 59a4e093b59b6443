/* Reading fastText's .bin and .ftz: arguments, dictionary, matrices; and the words' vectors.
 *
 * Three tensors: "vectors" (made of rows of the input matrix), "input" and "output". Only the
 * dictionary is read through; rows of matrices are read when asked for. */
#include "format/fasttext.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "format/text_index.h"

#define PASS_BYTES ((size_t)1 << 20)

/* floret writes two more arguments before the last: how words are made, and hashes of each n-gram.
 */
#define FLORET_BYTES 8u
enum { FLORET_AS_FASTTEXT = 1, FLORET_HASHED = 2 };

typedef struct header {
    uint32_t version;
    uint32_t more; /* bytes of floret's arguments */
    int32_t mode, hashes;
    int32_t arg[WTE__FT_ARGS];
    int32_t entries, words, labels;
    int64_t tokens, pruned; /* pruned: pairs, or -1 */
} header;

wte__match wte__fasttext_match(const wte__head *head)
{
    wte__span s = wte__span_make(head->bytes, head->n);
    return wte__span_u32le(&s) == WTE__FT_MAGIC && wte__span_ok(&s) ? WTE__MATCH_YES
                                                                    : WTE__MATCH_NO;
}

/* Rows ---------------------------------------------------------------------------------------- */

/* As fastText does it: rows are added in f32, then the sum is multiplied by 1 / n in f32. A word
 * that is not known has no row of its own (WTE_NO_INDEX). */
static wte_status word_vector(const wte_file *f, uint64_t word, wte__bytes text, float *out,
                              wte_error *err)
{
    const wte__fasttext *t = f->made;
    const wte__part *part = &f->parts[0];
    const bool end = text.size == 4 && memcmp(text.data, "</s>", 4) == 0;
    uint64_t n = 0, row;
    for (uint64_t i = 0; i < t->input.dim; i++) out[i] = 0;
    if (word != WTE_NO_INDEX) {
        WTE_TRY(wte__ft_matrix_add(&t->input, part, word, out, err));
        n = 1;
    }
    wte__ngrams it;
    wte__ngrams_start(&it, &t->ngrams, text);
    for (; !end && wte__ngrams_next(&it, &row); n++) {
        if (n > WTE_LIMIT_NGRAMS)
            return wte__fail(err, WTE_E_LIMIT, word,
                             "%s: fastText: a word of %" PRIu64 " bytes has more than %u n-grams",
                             f->path, text.size, WTE_LIMIT_NGRAMS);
        WTE_TRY(wte__ft_matrix_add(&t->input, part, row, out, err));
    }
    const float scale = n ? (float)(1.0 / (double)n) : 0;
    for (uint64_t i = 0; i < t->input.dim; i++) out[i] *= scale;
    return WTE_OK;
}

static bool is_vectors(const wte__tensor_entry *e)
{
    return e == e->file->entries;
}

static wte_status read_row(const wte__tensor_entry *e, uint64_t row, float *out, wte_error *err)
{
    const wte__fasttext *t = e->file->made;
    if (is_vectors(e))
        return word_vector(e->file, row, wte__token_list_text(&e->file->tokens, row), out, err);
    const wte__ft_matrix *m = e->name == t->input.name ? &t->input : &t->output;
    for (uint64_t i = 0; i < m->dim; i++) out[i] = 0;
    return wte__ft_matrix_add(m, &e->file->parts[0], row, out, err);
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte__tensor_entry *e = ctx;
    const uint64_t dim = e->file->dims[e->shape_at + 1];
    for (size_t i = 0; i < n; i++) WTE_TRY(read_row(e, ids[i], (float *)out + i * dim, err));
    return WTE_OK;
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte__tensor_entry *e = ctx;
    const uint64_t dim = e->file->dims[e->shape_at + 1];
    for (size_t i = 0; i < n; i++) WTE_TRY(read_row(e, first + i, (float *)out + i * dim, err));
    return WTE_OK;
}

static wte_status make_rows(const wte__tensor_entry *e, wte_row_source *out, wte_error *err)
{
    const uint64_t *shape = e->file->dims + e->shape_at;
    const wte_row_source rows = { .rows = shape[0],
                                  .cols = shape[1],
                                  .dtype = WTE_F32,
                                  .read_rows = read_rows,
                                  .read_block = read_block,
                                  .ctx = (void *)(uintptr_t)e };
    (void)err;
    *out = rows;
    return WTE_OK;
}

static void release(wte_file *f)
{
    wte__fasttext *t = f->made;
    if (!t) return;
    wte__ft_matrix_clear(&t->input, f->allocator);
    wte__ft_matrix_clear(&t->output, f->allocator);
    wte__free(f->allocator, t->ngrams.kept, t->ngrams.kept_cap * sizeof *t->ngrams.kept);
    wte__free(f->allocator, t, sizeof *t);
    f->made = NULL;
}

static const wte__maker maker = { .rows = make_rows, .release = release };

/* Reading ------------------------------------------------------------------------------------- */

typedef struct reader {
    wte_file *f;
    wte__fasttext *t;
    header h;
    wte__window window;
    uint64_t at;
    wte_error *err;
} reader;

static wte_status bad(const reader *r, uint64_t where, const char *what, int64_t is)
{
    return wte__fail(r->err, WTE_E_FORMAT, where, "%s: fastText: %s %" PRId64 " at byte %" PRIu64,
                     r->f->path, what, is, where);
}

static wte_status ends(const reader *r, const char *inside)
{
    return wte__fail(r->err, WTE_E_FORMAT, r->window.end,
                     "%s: fastText: truncated: it ends at byte %" PRIu64 ", inside %s", r->f->path,
                     r->window.end, inside);
}

static int64_t signed_of(uint64_t bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int32_t take_i32(wte__span *s)
{
    const uint32_t bits = wte__span_u32le(s);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A hashed word has no row of its own: its vector is made of rows that all words share. */
static wte_status refuse_hashed(const reader *r)
{
    return wte__fail(r->err, WTE_E_UNSUPPORTED, 52,
                     "%s: a floret model of %" PRId32 " words, each made of rows that all share "
                     "(%" PRId32 " hashes of each n-gram into %" PRId32
                     " rows), which this build does not make: use the .vec beside it, or floret's "
                     "save_vectors",
                     r->f->path, r->h.words, r->h.hashes, r->h.arg[WTE__FT_BUCKET]);
}

static wte_status check_arguments(const reader *r)
{
    const header *h = &r->h;
    if (h->version > WTE__FT_LAST_VERSION)
        return wte__fail(r->err, WTE_E_UNSUPPORTED, 4,
                         "%s: fastText file of version %" PRIu32 ", but %u is the last one known",
                         r->f->path, h->version, WTE__FT_LAST_VERSION);
    if (h->arg[WTE__FT_DIM] <= 0) return bad(r, 8, "the dimension is", h->arg[WTE__FT_DIM]);
    if (h->arg[WTE__FT_BUCKET] < 0)
        return bad(r, 40, "the number of buckets is", h->arg[WTE__FT_BUCKET]);
    if (h->arg[WTE__FT_MIN] < 0) return bad(r, 44, "minn is", h->arg[WTE__FT_MIN]);
    if (h->arg[WTE__FT_MAX] < 0) return bad(r, 48, "maxn is", h->arg[WTE__FT_MAX]);
    if (h->arg[WTE__FT_MAX] > (int32_t)WTE_LIMIT_NGRAM)
        return wte__fail(r->err, WTE_E_LIMIT, 48,
                         "%s: fastText: n-grams of up to %" PRId32
                         " characters, but at most %u are taken",
                         r->f->path, h->arg[WTE__FT_MAX], WTE_LIMIT_NGRAM);
    return WTE_OK;
}

static wte_status check_header(const reader *r)
{
    const header *h = &r->h;
    WTE_TRY(check_arguments(r));
    if (h->entries < 0) return bad(r, 64 + h->more, "the number of entries is", h->entries);
    if (h->words < 0 || h->labels < 0 || (int64_t)h->words + h->labels != h->entries)
        return wte__fail(r->err, WTE_E_FORMAT, 68 + h->more,
                         "%s: fastText: %" PRId32 " words and %" PRId32 " labels at byte %" PRIu32
                         ", but %" PRId32 " entries",
                         r->f->path, h->words, h->labels, 68 + h->more, h->entries);
    if (h->pruned < -1) return bad(r, 84 + h->more, "the number of n-grams kept is", h->pruned);
    return h->mode == FLORET_HASHED ? refuse_hashed(r) : WTE_OK;
}

/* Behind the arguments, `more` bytes later than in a file of fastText. */
static void take_sizes(header *h, const uint8_t *raw, uint32_t more)
{
    const size_t at = (size_t)2 * 4 + (size_t)WTE__FT_ARGS * 4 + more;
    wte__span s = wte__span_make(raw + at, WTE__FT_HEAD_BYTES + FLORET_BYTES - at);
    (void)wte__span_u64le(&s); /* sampling threshold */
    h->entries = take_i32(&s);
    h->words = take_i32(&s);
    h->labels = take_i32(&s);
    h->tokens = signed_of(wte__span_u64le(&s));
    h->pruned = signed_of(wte__span_u64le(&s));
    h->more = more;
}

static bool sizes_agree(const header *h)
{
    return h->entries >= 0 && h->words >= 0 && h->labels >= 0 && h->pruned >= -1 &&
           (int64_t)h->words + h->labels == h->entries;
}

/* The file has the same magic number and version: sizes that only agree 8 bytes later, behind two
 * arguments that floret knows, are its own. */
static void look_for_floret(header *h, const uint8_t *raw)
{
    const header before = *h;
    wte__span s = wte__span_make(raw + (size_t)(WTE__FT_ARGS + 1) * 4, 12);
    const int32_t mode = take_i32(&s), hashes = take_i32(&s), update = take_i32(&s);
    if (sizes_agree(h) || mode < FLORET_AS_FASTTEXT || mode > FLORET_HASHED || hashes < 1 ||
        hashes > 4)
        return;
    take_sizes(h, raw, FLORET_BYTES);
    if (!sizes_agree(h)) {
        *h = before;
        return;
    }
    h->mode = mode;
    h->hashes = hashes;
    h->arg[WTE__FT_UPDATE] = update;
}

static wte_status read_header(reader *r)
{
    uint8_t raw[WTE__FT_HEAD_BYTES + FLORET_BYTES] = { 0 };
    header *h = &r->h;
    const wte__part *part = &r->f->parts[0];
    const size_t n = r->window.end < sizeof raw ? (size_t)r->window.end : sizeof raw;
    if (n < WTE__FT_HEAD_BYTES) return ends(r, "its header");
    WTE_TRY(wte__file_read_at(&part->file, 0, raw, n, part->path, r->err));
    wte__span s = wte__span_make(raw, WTE__FT_HEAD_BYTES);
    (void)wte__span_u32le(&s); /* the magic number */
    h->version = wte__span_u32le(&s);
    for (size_t i = 0; i < WTE__FT_ARGS; i++) h->arg[i] = take_i32(&s);
    take_sizes(h, raw, 0);
    if (n == sizeof raw) look_for_floret(h, raw);
    r->at = WTE__FT_HEAD_BYTES + h->more;
    return check_header(r);
}

/* A word, its count and its kind. Labels come after the words and are passed over. */
static wte_status read_entry(reader *r, int32_t i)
{
    const uint8_t *p, *end = NULL;
    size_t n;
    wte_token_list *tokens = &r->f->tokens;
    for (size_t want = 256;; want = n + 1) {
        WTE_TRY(wte__window_see(&r->window, r->at, want, &p, &n, r->err));
        end = memchr(p, '\0', n);
        if (end ? n - (size_t)(end - p) >= WTE__FT_ENTRY_BYTES : n > WTE_LIMIT_TOKEN_TEXT) break;
        if (r->at + n == r->window.end) return ends(r, "the dictionary");
    }
    if (!end || (uint64_t)(end - p) > WTE_LIMIT_TOKEN_TEXT)
        return wte__fail(r->err, WTE_E_LIMIT, r->at,
                         "%s: fastText: entry %" PRId32 ", at byte %" PRIu64
                         ", has more than %u bytes of text",
                         r->f->path, i, r->at, WTE_LIMIT_TOKEN_TEXT);
    const wte__bytes text = { p, (uint64_t)(end - p) };
    wte__span s = wte__span_make(end + 1, WTE__FT_ENTRY_BYTES - 1);
    const int64_t count = signed_of(wte__span_u64le(&s));
    const uint8_t kind = end[WTE__FT_ENTRY_BYTES - 1];
    if (kind != (i >= r->h.words))
        return wte__fail(r->err, WTE_E_FORMAT, r->at + text.size + WTE__FT_ENTRY_BYTES - 1,
                         "%s: fastText: entry %" PRId32 " is of kind %u, but %" PRId32
                         " words (0) come first, then %" PRId32 " labels (1)",
                         r->f->path, i, kind, r->h.words, r->h.labels);
    r->at += text.size + WTE__FT_ENTRY_BYTES;
    if (kind) return WTE_OK;
    WTE_TRY(wte__token_list_add(tokens, text, WTE_TAG_NORMAL, r->err));
    tokens->score[tokens->n - 1] = (float)count;
    return WTE_OK;
}

static wte_status read_kept(reader *r)
{
    wte__ngram_rule *rule = &r->t->ngrams;
    rule->pruned = r->h.pruned >= 0;
    if (r->h.pruned <= 0) return WTE_OK;
    const uint64_t n = (uint64_t)r->h.pruned;
    if (n > (r->window.end - r->at) / 8) return ends(r, "the list of n-grams kept");
    rule->kept = wte__alloc_array(r->f->allocator, n, sizeof *rule->kept);
    if (!rule->kept) return wte__no_memory(r->err, n * sizeof *rule->kept, "n-grams kept");
    rule->n_kept = rule->kept_cap = (size_t)n;
    for (uint64_t i = 0; i < n; i++, r->at += 8) {
        const uint8_t *p;
        size_t left;
        WTE_TRY(wte__window_see(&r->window, r->at, 8, &p, &left, r->err));
        wte__span s = wte__span_make(p, 8);
        rule->kept[i].bucket = take_i32(&s);
        rule->kept[i].row = take_i32(&s);
        if (rule->kept[i].row < 0)
            return bad(r, r->at + 4, "the row of an n-gram is", rule->kept[i].row);
    }
    if (!wte__ngram_rule_settle(rule, r->f->allocator))
        return wte__no_memory(r->err, n * sizeof *rule->kept, "n-grams kept");
    return WTE_OK;
}

static wte_status read_dictionary(reader *r)
{
    const int32_t n = r->h.entries;
    if ((uint64_t)n > (r->window.end - r->at) / WTE__FT_ENTRY_BYTES)
        return ends(r, "the dictionary");
    for (int32_t i = 0; i < n; i++) WTE_TRY(read_entry(r, i));
    return read_kept(r);
}

static wte_status read_flag(reader *r, bool *flag)
{
    const wte__part *part = &r->f->parts[0];
    uint8_t byte;
    if (r->at == r->window.end) return ends(r, "the matrices");
    WTE_TRY(wte__file_read_at(&part->file, r->at, &byte, 1, part->path, r->err));
    if (byte > 1) return bad(r, r->at, "the mark of a quantised matrix is", byte);
    r->at++;
    *flag = byte != 0;
    return WTE_OK;
}

/* All rows that words and n-grams can lead to are there. */
static wte_status check_rows(const reader *r)
{
    const wte__ft_matrix *in = &r->t->input;
    const wte__ngram_rule *rule = &r->t->ngrams;
    uint64_t need = rule->words;
    if (in->dim != (uint64_t)r->h.arg[WTE__FT_DIM])
        return wte__fail(r->err, WTE_E_FORMAT, in->at,
                         "%s: fastText: the input matrix has rows of %" PRIu64
                         " numbers, but the dimension is %" PRId32,
                         r->f->path, in->dim, r->h.arg[WTE__FT_DIM]);
    if (!rule->pruned && rule->max > 0) need += rule->buckets;
    for (size_t i = 0; i < rule->n_kept; i++)
        if (rule->words + (uint64_t)rule->kept[i].row >= need)
            need = rule->words + (uint64_t)rule->kept[i].row + 1;
    if (in->rows >= need) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, in->at,
                     "%s: fastText: the input matrix has %" PRIu64
                     " rows, but words and n-grams need %" PRIu64,
                     r->f->path, in->rows, need);
}

static wte_status read_matrices(reader *r)
{
    bool quantised, output_too;
    wte__fasttext *t = r->t;
    WTE_TRY(read_flag(r, &quantised));
    if (!quantised && t->ngrams.pruned)
        return wte__fail(r->err, WTE_E_FORMAT, r->at - 1,
                         "%s: fastText: n-grams are pruned, but the input matrix is not quantised: "
                         "an early form of file that fastText refuses too",
                         r->f->path);
    WTE_TRY(wte__ft_matrix_read(&t->input, r->f, quantised, &r->at, r->err));
    WTE_TRY(check_rows(r));
    WTE_TRY(read_flag(r, &output_too));
    WTE_TRY(wte__ft_matrix_read(&t->output, r->f, quantised && output_too, &r->at, r->err));
    if (r->at == r->window.end) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, r->at,
                     "%s: fastText: %" PRIu64 " bytes follow the output matrix, at byte %" PRIu64,
                     r->f->path, r->window.end - r->at, r->at);
}

/* Dense matrices are plain tensors; their numbers alone are their bytes. */
static wte_status add_matrix(const reader *r, const wte__ft_matrix *m)
{
    const uint64_t shape[2] = { m->rows, m->dim };
    wte__tensor_entry e = { .name = m->name, .dtype = WTE_F32, .rank = 2 };
    e.name_bytes = (uint32_t)strlen(m->name);
    e.flags = m->quantised ? WTE__MADE : 0;
    e.offset = m->quantised ? m->at : m->data_at;
    e.bytes = m->at + m->bytes - e.offset;
    const wte__bytes text = { (const uint8_t *)m->name, e.name_bytes };
    uint64_t number = r->f->n_entries, bits;
    bool found;
    if (!wte__shape_bits(shape, 2, WTE_F32, &bits))
        return wte__fail(r->err, WTE_E_LIMIT, m->at,
                         "%s: fastText: the %s matrix has more numbers than 64 bits can count",
                         r->f->path, m->name);
    WTE_TRY(wte__entry_add(r->f, &e, shape, r->err));
    r->f->n_listed = r->f->n_entries;
    if (!wte__names_add(&r->f->names, text, &number, &found))
        return wte__no_memory(r->err, e.name_bytes, "the name of a matrix");
    return WTE_OK;
}

static wte_status read_all(reader *r)
{
    wte__fasttext *t = r->t;
    WTE_TRY(read_header(r));
    const header *h = &r->h;
    /* supervised models of version 11 were made without n-grams of characters */
    const bool none = h->version == 11 && h->arg[WTE__FT_MODEL] == WTE__FT_SUPERVISED;
    t->ngrams.min = (uint32_t)h->arg[WTE__FT_MIN];
    t->ngrams.max = none ? 0 : (uint32_t)h->arg[WTE__FT_MAX];
    t->ngrams.buckets = (uint32_t)h->arg[WTE__FT_BUCKET];
    t->ngrams.words = (uint64_t)h->words;
    t->loss = h->arg[WTE__FT_LOSS];
    t->model = h->arg[WTE__FT_MODEL];
    WTE_TRY(read_dictionary(r));
    const uint64_t dictionary_at = WTE__FT_HEAD_BYTES + h->more, dictionary_end = r->at;
    WTE_TRY(read_matrices(r));
    r->f->tokens.scored = true; /* how often each word was met */
    WTE_TRY(wte__vectors_add(r->f, t->ngrams.words, t->input.dim, dictionary_at, r->err));
    r->f->entries[0].bytes = dictionary_end - dictionary_at;
    WTE_TRY(add_matrix(r, &t->input));
    return add_matrix(r, &t->output);
}

wte_status wte__fasttext_read(wte_file *f, wte_error *err)
{
    wte__fasttext *t = wte__alloc_zeroed(f->allocator, sizeof *t);
    if (!t) return wte__no_memory(err, sizeof *t, "a fastText model");
    f->made = t;
    f->maker = &maker;
    f->tokens.first_wins = true;
    f->tokens.form = WTE_FORM_PLAIN;
    t->input.name = "input";
    t->output.name = "output";
    reader r = { .f = f, .t = t, .err = err };
    const size_t cap = PASS_BYTES + WTE_LIMIT_TOKEN_TEXT;
    r.window.part = &f->parts[0];
    r.window.end = f->parts[0].file.size;
    r.window.cap = cap < r.window.end ? cap : (size_t)r.window.end;
    r.window.buf = wte__alloc(f->allocator, r.window.cap);
    if (!r.window.buf) return wte__no_memory(err, r.window.cap, "the dictionary");
    const wte_status status = read_all(&r);
    wte__free(f->allocator, r.window.buf, r.window.cap);
    return status;
}

/* What the whole library may ask of such a file -------------------------------------------------
 */

static wte_status need_fasttext(const wte_file *f, wte_error *err)
{
    WTE_TRY(wte__need(f, "wte_file_fasttext: f", err));
    if (f->format == WTE_FORMAT_FASTTEXT) return WTE_OK;
    return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                     "%s: is %s, which holds no n-grams: fastText's own files do", f->path,
                     wte_format_name(f->format));
}

wte_status wte_file_fasttext(const wte_file *f, wte_fasttext_info *out, wte_error *err)
{
    WTE_TRY(wte__need_out(out, sizeof *out, "wte_file_fasttext: out", err));
    WTE_TRY(need_fasttext(f, err));
    const wte__fasttext *t = f->made;
    const wte__ngram_rule *rule = &t->ngrams;
    const bool any = rule->max > 0 && rule->min <= rule->max && rule->buckets > 0;
    *out = (wte_fasttext_info){ .words = rule->words, .pruned = rule->pruned };
    if (any) {
        out->min_n = rule->min;
        out->max_n = rule->max;
        out->buckets = rule->buckets;
    }
    out->supervised = t->model == WTE__FT_SUPERVISED;
    out->cbow = t->model == WTE__FT_CBOW;
    out->tree = t->loss == WTE__FT_TREE;
    return WTE_OK;
}

wte_status wte_fasttext_oov_vector(const wte_file *f, const char *word, uint64_t bytes, float *out,
                                   wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_fasttext_oov_vector: out", err));
    WTE_TRY(need_fasttext(f, err));
    WTE_TRY(wte__need_array(word, bytes, 1, "wte_fasttext_oov_vector: word", err));
    const wte__bytes text = { (const uint8_t *)(bytes ? word : ""), bytes };
    return word_vector(f, WTE_NO_INDEX, text, out, err);
}
