/* fastText models over any bytes, and behind a header that is made to fit.
 *
 * Properties: a vector is the mean of its word's and its n-grams' rows of the tensor "input", added
 * in that order, of an unknown word of the latter alone; words lie inside the file; no two tensors
 * share a byte; a text's n-grams are as many as its characters allow. */
#include "words.h"

#include "format/fasttext.h"

#define MOST_NGRAMS 2000u

/* The vector from rows of the tensor; of an unknown word (WTE_NO_INDEX) without one of its own.
 * False when it takes too long. */
static bool vector_of(const wte_file *f, const wte_row_source *input, uint64_t word,
                      wte__bytes text, float *out)
{
    const wte__fasttext *t = f->made;
    const bool end = text.size == 4 && memcmp(text.data, "</s>", 4) == 0;
    const size_t dim = (size_t)input->cols;
    float *row = malloc(dim * sizeof *row);
    wte__ngrams it;
    uint64_t n = 0, id = word;
    HOLDS(row != NULL);
    for (size_t c = 0; c < dim; c++) out[c] = 0;
    wte__ngrams_start(&it, &t->ngrams, text);
    bool more = word != WTE_NO_INDEX || (!end && wte__ngrams_next(&it, &id));
    while (more && n < MOST_NGRAMS) {
        HOLDS(id < input->rows && wte_row_source_read(input, id, row, NULL) == WTE_OK);
        for (size_t c = 0; c < dim; c++) out[c] += row[c];
        n++;
        more = !end && wte__ngrams_next(&it, &id);
    }
    const float scale = n ? (float)(1.0 / (double)n) : 0;
    for (size_t c = 0; c < dim; c++) out[c] *= scale;
    free(row);
    HOLDS(n <= (text.size + 2) * t->ngrams.max + 1);
    return n < MOST_NGRAMS;
}

static bool same_numbers(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool nan = a[i] != a[i] && b[i] != b[i]; /* its bits are not fixed by a sum */
        if (!nan && memcmp(&a[i], &b[i], sizeof *a) != 0) return false;
    }
    return true;
}

static void check_vectors(const wte_file *f, wte__bytes data)
{
    wte_row_source vectors, input;
    HOLDS(wte_file_row_source(f, 0, &vectors, NULL) == WTE_OK);
    HOLDS(wte_file_row_source(f, 1, &input, NULL) == WTE_OK);
    HOLDS(vectors.cols == input.cols && vectors.rows <= input.rows);
    if (vectors.cols > 4096) return;
    float *want = malloc(2 * (size_t)vectors.cols * sizeof *want), *got = want + vectors.cols;
    HOLDS(want != NULL);
    for (uint64_t i = 0; i < vectors.rows && i < FUZZ_ROWS; i++) {
        const uint64_t word = i * 7 % vectors.rows;
        const wte_status status = wte_row_source_read(&vectors, word, got, NULL);
        const wte__bytes text = wte__token_list_text(&f->tokens, word);
        if (status == WTE_E_LIMIT || !vector_of(f, &input, word, text, want)) continue;
        HOLDS(status == WTE_OK && same_numbers(got, want, (size_t)vectors.cols));
    }
    const wte__bytes text = { data.data + data.size / 2, data.size - data.size / 2 };
    const char *word = (const char *)text.data;
    const wte_status status = wte_fasttext_oov_vector(f, word, text.size, got, NULL);
    if (status != WTE_E_LIMIT && vector_of(f, &input, WTE_NO_INDEX, text, want))
        HOLDS(status == WTE_OK && same_numbers(got, want, (size_t)vectors.cols));
    free(want);
}

static void check_tensors(const wte_file *f, wte__bytes data)
{
    uint64_t end = 0;
    wte_tensor t;
    HOLDS(wte_file_n_tensors(f) == 3);
    for (uint64_t i = 0; i < 3; i++) {
        HOLDS(wte_file_tensor(f, i, &t, NULL) == WTE_OK);
        HOLDS(t.offset >= end && t.bytes <= data.size && t.offset <= data.size - t.bytes);
        end = t.offset + t.bytes;
    }
    HOLDS(end == data.size);
    uint64_t bytes, at = 92; /* of the first word */
    const char *word;
    for (uint64_t i = 0; (word = fuzz_token(f, i, &bytes)) != NULL; i++) {
        HOLDS(bytes < data.size - at && memcmp(data.data + at, word, (size_t)bytes) == 0);
        at += bytes + 10;
        if (i + 1 == f->tokens.n) break;
    }
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    if (wte_file_format(f) != WTE_FORMAT_FASTTEXT) return;
    check_tensors(f, (wte__bytes){ data, size });
    check_vectors(f, (wte__bytes){ data, size });
}

/* Magic number and version are given, sizes are small, what follows is the input's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 92 || size > 65536) return 0;
    uint8_t *file = malloc(size);
    HOLDS(file != NULL);
    memcpy(file, data, size);
    memcpy(file, "\xba\x16\x4f\x2f\x0c\0\0\0", 8);
    static const struct {
        uint8_t at, most;
    } small[] = { { 8, 15 }, { 40, 31 }, { 44, 7 }, { 48, 7 }, { 64, 15 }, { 68, 15 }, { 72, 15 } };
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        file[small[i].at] &= small[i].most;
        memset(file + small[i].at + 1, 0, 3);
    }
    file[64] = (uint8_t)(file[68] + file[72]);
    fuzz_open(file, size, check_file);
    free(file);
    return 0;
}
