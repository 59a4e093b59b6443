/* Writing fastText's .bin, version 12: arguments, dictionary, two dense matrices, as fastText
 * itself writes an unsupervised model, so that it and whoever reads its files can go on with one.
 */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/names.h"
#include "format/fasttext.h"

#define BUFFER_BYTES      ((size_t)1 << 16)
#define PIECE_BYTES       ((uint64_t)16 << 20)  /* of a matrix, between two reports */
#define MATRIX_HEAD_BYTES ((size_t)(1 + 2 * 8)) /* not quantised; rows, columns */

typedef struct output {
    const wte__fasttext_model *m;
    const char *path;
    wte_writer *to;
    size_t n; /* bytes of the buffer */
    uint64_t done, total;
    uint8_t buffer[BUFFER_BYTES];
} output;

/* Checking ------------------------------------------------------------------------------------ */

static wte_status check_matrix(const char *path, const char *name, const wte_row_source *rows,
                               uint64_t must, uint64_t dim, wte_error *err)
{
    WTE_TRY(wte_check_rows(rows, err));
    if (rows->rows != must || rows->cols != dim || rows->dtype != WTE_F32 || !rows->data)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s: fastText: the %s matrix is %" PRIu64 " x %" PRIu64 " %s, but %" PRIu64
                         " x %" PRIu64 " f32 in memory is written",
                         path, name, rows->rows, rows->cols, wte_dtype_name(rows->dtype), must,
                         dim);
    return WTE_OK;
}

static wte_status check_words(const char *path, const wte__fasttext_model *m, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    for (uint64_t i = 0; i < m->words->n; i++) {
        const wte__bytes text = wte__token_list_text(m->words, i);
        if (memchr(text.data, '\0', (size_t)text.size))
            return wte__fail(err, WTE_E_UNSUPPORTED, i,
                             "%s: fastText: word %" PRIu64
                             ", '%s', holds a NUL, which ends words in its files",
                             path, i, wte__show(shown, text.data, text.size));
        if (m->counts[i] > INT64_MAX)
            return wte__fail(err, WTE_E_LIMIT, i,
                             "%s: fastText: word %" PRIu64 " comes %" PRIu64
                             " times, but counts are below 2^63",
                             path, i, m->counts[i]);
        /* its tree is made of the counts from the last word on, of which it has none of 0 */
        const uint64_t before = i ? m->counts[i - 1] : m->counts[i];
        if (m->tree && (m->counts[i] > before || m->counts[i] == 0))
            return wte__fail(err, WTE_E_UNSUPPORTED, i,
                             "%s: fastText: '%s' comes %" PRIu64
                             " times and the word before it %" PRIu64
                             ", but its tree needs words of the text in the order of their counts",
                             path, wte__show(shown, text.data, text.size), m->counts[i], before);
    }
    return WTE_OK;
}

/* Its readers find a word by its text. */
static wte_status check_repeats(const char *path, const wte__fasttext_model *m, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte__names names;
    wte_status status = WTE_OK;
    wte__names_init(&names, NULL);
    if (!wte__names_reserve(&names, m->words->n))
        status = wte__no_memory(err, m->words->n * 24, "a set of words");
    for (uint64_t i = 0; i < m->words->n && status == WTE_OK; i++) {
        const wte__bytes text = wte__token_list_text(m->words, i);
        uint64_t first = i;
        bool found;
        if (!wte__names_add(&names, text, &first, &found))
            status = wte__no_memory(err, text.size, "a set of words");
        else if (found)
            status = wte__fail(err, WTE_E_UNSUPPORTED, i,
                               "%s: fastText: '%s' is word %" PRIu64 " and word %" PRIu64
                               ", but its files have one row for each text",
                               path, wte__show(shown, text.data, text.size), first, i);
    }
    wte__names_clear(&names);
    return status;
}

wte_status wte__fasttext_check(const char *path, const wte__fasttext_model *m, wte_error *err)
{
    const uint64_t words = m->words->n, rows = words + m->buckets;
    if (m->buckets > INT32_MAX || words > INT32_MAX || rows > INT32_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: fastText: %" PRIu64 " words and %" PRIu64
                         " buckets, but rows are numbered below 2^31",
                         path, words, m->buckets);
    if (words < 2 || m->input.cols > INT32_MAX || m->max_n > WTE_LIMIT_NGRAM ||
        (m->max_n > 0) != (m->buckets > 0))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s: fastText: %" PRIu64 " words of %" PRIu64
                         " numbers, n-grams of %" PRIu64 " characters in %" PRIu64 " buckets",
                         path, words, m->input.cols, m->max_n, m->buckets);
    WTE_TRY(check_matrix(path, "input", &m->input, rows, m->input.cols, err));
    WTE_TRY(check_matrix(path, "output", &m->output, words - m->tree, m->input.cols, err));
    WTE_TRY(check_words(path, m, err));
    return check_repeats(path, m, err);
}

/* Writing ------------------------------------------------------------------------------------- */

static wte_status flush(output *o, wte_error *err)
{
    const size_t n = o->n;
    o->n = 0;
    return wte_writer_write(o->to, o->buffer, n, err);
}

static wte_status put(output *o, const void *data, size_t n, wte_error *err)
{
    const uint8_t *from = data;
    o->done += n;
    while (n > 0) {
        const size_t room = BUFFER_BYTES - o->n, now = n < room ? n : room;
        memcpy(o->buffer + o->n, from, now);
        o->n += now;
        from += now;
        n -= now;
        if (o->n == BUFFER_BYTES) WTE_TRY(flush(o, err));
    }
    return WTE_OK;
}

/* Little-endian, on any machine. */
static wte_status put_number(output *o, uint64_t value, size_t bytes, wte_error *err)
{
    uint8_t raw[8];
    for (size_t i = 0; i < bytes; i++) raw[i] = (uint8_t)(value >> (8 * i));
    return put(o, raw, bytes, err);
}

/* What only says how a model was made may be cut to what its field holds. */
static uint64_t at_most(uint64_t value)
{
    return value < INT32_MAX ? value : INT32_MAX;
}

static wte_status put_header(output *o, wte_error *err)
{
    const wte__fasttext_model *m = o->m;
    const uint64_t arg[WTE__FT_ARGS] = {
        [WTE__FT_DIM] = m->input.cols,
        [WTE__FT_WINDOW] = at_most(m->window),
        [WTE__FT_EPOCH] = at_most(m->epochs),
        [WTE__FT_MIN_COUNT] = at_most(m->min_count),
        [WTE__FT_NEGATIVE] = at_most(m->negative),
        [WTE__FT_WORD_NGRAMS] = 1,
        [WTE__FT_LOSS] = m->tree ? WTE__FT_TREE : WTE__FT_SAMPLES,
        [WTE__FT_MODEL] = m->cbow ? WTE__FT_CBOW : WTE__FT_SKIP_GRAM,
        [WTE__FT_BUCKET] = m->buckets,
        [WTE__FT_MIN] = m->min_n,
        [WTE__FT_MAX] = m->max_n,
        [WTE__FT_UPDATE] = 100, /* its default; words between two looks at the rate */
    };
    uint64_t sample;
    memcpy(&sample, &m->sample, sizeof sample);
    WTE_TRY(put_number(o, WTE__FT_MAGIC, 4, err));
    WTE_TRY(put_number(o, WTE__FT_LAST_VERSION, 4, err));
    for (size_t i = 0; i < WTE__FT_ARGS; i++) WTE_TRY(put_number(o, arg[i], 4, err));
    WTE_TRY(put_number(o, sample, 8, err));
    WTE_TRY(put_number(o, m->words->n, 4, err));
    WTE_TRY(put_number(o, m->words->n, 4, err));
    WTE_TRY(put_number(o, 0, 4, err)); /* labels */
    WTE_TRY(put_number(o, m->tokens, 8, err));
    return put_number(o, UINT64_MAX, 8, err); /* -1: n-grams are not pruned */
}

static wte_status put_dictionary(output *o, wte_error *err)
{
    for (uint64_t i = 0; i < o->m->words->n; i++) {
        const wte__bytes text = wte__token_list_text(o->m->words, i);
        WTE_TRY(put(o, text.data, (size_t)text.size, err));
        WTE_TRY(put_number(o, 0, 1, err));
        WTE_TRY(put_number(o, o->m->counts[i], 8, err));
        WTE_TRY(put_number(o, 0, 1, err)); /* a word, no label */
    }
    return WTE_OK;
}

static wte_status report(const output *o, wte_error *err)
{
    const wte_progress *progress = o->m->progress;
    if (!progress || progress->report(progress->ctx, o->done, o->total)) return WTE_OK;
    return wte__fail(err, WTE_E_CANCELLED, o->done, "%s: writing was stopped at byte %" PRIu64,
                     o->path, o->done);
}

/* "Not quantised", the shape, the numbers; rows that are not there are zeros. */
static wte_status put_matrix(output *o, const wte_row_source *rows, uint64_t count, wte_error *err)
{
    const uint64_t row_bytes = rows->cols * sizeof(float);
    const uint64_t per = row_bytes < PIECE_BYTES ? PIECE_BYTES / row_bytes : 1;
    WTE_TRY(put_number(o, 0, 1, err));
    WTE_TRY(put_number(o, count, 8, err));
    WTE_TRY(put_number(o, rows->cols, 8, err));
    WTE_TRY(flush(o, err));
    for (uint64_t at = 0; at < rows->rows; at += per) {
        wte_row_source piece = *rows;
        piece.rows = rows->rows - at < per ? rows->rows - at : per;
        piece.data = (const uint8_t *)rows->data + at * rows->row_bytes;
        const uint64_t shape[2] = { piece.rows, piece.cols };
        const wte_tensor_out tensor = { "matrix", WTE_F32, 2, shape, NULL, &piece };
        WTE_TRY(wte__tensor_out_write(&o->to->replace, &tensor, piece.rows * row_bytes, err));
        o->done += piece.rows * row_bytes;
        WTE_TRY(report(o, err));
    }
    const uint64_t zeros = (count - rows->rows) * rows->cols;
    for (uint64_t i = 0; i < zeros; i++) WTE_TRY(put_number(o, 0, sizeof(float), err));
    return flush(o, err);
}

static wte_status put_all(output *o, wte_error *err)
{
    const wte__fasttext_model *m = o->m;
    WTE_TRY(put_header(o, err));
    WTE_TRY(put_dictionary(o, err));
    WTE_TRY(put_matrix(o, &m->input, m->input.rows, err));
    return put_matrix(o, &m->output, m->words->n, err);
}

/* Bytes of the whole file; false when 64 bits do not count them. */
static bool count_bytes(const wte__fasttext_model *m, uint64_t *bytes)
{
    const uint64_t words = m->words->n, rows = m->input.rows + words;
    uint64_t text = 0, numbers;
    for (uint64_t i = 0; i < words; i++) text += wte__token_list_text(m->words, i).size;
    return wte__mul_u64(rows, m->input.cols * sizeof(float), &numbers) &&
           wte__add_u64(numbers, text + words * WTE__FT_ENTRY_BYTES, bytes) &&
           wte__add_u64(*bytes, WTE__FT_HEAD_BYTES + 2 * MATRIX_HEAD_BYTES, bytes);
}

wte_status wte__fasttext_write(wte_writer *to, const wte__fasttext_model *m, wte_error *err)
{
    const char *path = to->replace.path;
    WTE_TRY(wte__fasttext_check(path, m, err));
    output *o = wte__alloc(NULL, sizeof *o);
    if (!o) return wte__no_memory(err, sizeof *o, "what is written");
    o->m = m;
    o->path = path;
    o->to = to;
    o->n = 0;
    o->done = 0;
    wte_status status = WTE_OK;
    if (!count_bytes(m, &o->total))
        status = wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX, "%s: fastText: over 2^64 bytes", path);
    if (status == WTE_OK) status = put_all(o, err);
    wte__free(NULL, o, sizeof *o);
    return status;
}
