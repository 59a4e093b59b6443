/* word2vec's binary form over any bytes, and with counts in front that may fit.
 *
 * Properties: a row is the bytes at its place, in whatever order rows are read; its token and one
 * space stand before it; rows follow each other inside the file. */
#include "words.h"

/* One row: its place, its bytes there, its token before them. before = where the one before ended.
 */
static uint64_t check_row(const wte_file *f, uint64_t row, const float *values, uint64_t row_bytes,
                          wte__bytes data, uint64_t before)
{
    uint64_t at, bytes, token_bytes;
    HOLDS(wte_file_row_offset(f, 0, row, &at, &bytes, NULL) == WTE_OK);
    HOLDS(bytes == row_bytes && bytes <= data.size && at <= data.size - bytes);
    HOLDS(memcmp(data.data + at, values, (size_t)bytes) == 0);
    const char *token = fuzz_token(f, row, &token_bytes);
    HOLDS(token != NULL && at >= before + token_bytes + 1 && data.data[at - 1] == ' ');
    HOLDS(memcmp(data.data + at - 1 - token_bytes, token, (size_t)token_bytes) == 0);
    return at + bytes;
}

static void check_rows(const wte_file *f, wte__bytes data)
{
    wte_row_source rows;
    bool ok[FUZZ_ROWS];
    HOLDS(wte_file_row_source(f, 0, &rows, NULL) == WTE_OK &&
          wte_check_rows(&rows, NULL) == WTE_OK);
    HOLDS(rows.rows <= data.size && (rows.rows == 0 || rows.cols <= data.size / 4));
    uint64_t before = 0;
    const uint64_t row_bytes = rows.cols * sizeof(float);
    for (uint64_t first = 0; first < rows.rows; first += FUZZ_ROWS) {
        const uint64_t left = rows.rows - first;
        const size_t n = left < FUZZ_ROWS ? (size_t)left : FUZZ_ROWS;
        float *out = fuzz_read_rows(&rows, first, n, ok);
        for (size_t k = 0; k < n && ok[k]; k++)
            before = check_row(f, first + k, out + k * rows.cols, row_bytes, data, before);
        free(out);
    }
    const bool line = before + 1 == data.size && data.data[before] == '\n';
    HOLDS(rows.rows == 0 || before == data.size || line);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    if (wte_file_format(f) == WTE_FORMAT_WORD2VEC) check_rows(f, (wte__bytes){ data, size });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 2 || size > 65536) return 0;
    /* the first two bytes choose the counts, the rest are the records */
    char counts[32];
    const int n = snprintf(counts, sizeof counts, "%d %d\n", data[0] % 16, data[1] % 8);
    uint8_t *file = malloc((size_t)n + size);
    HOLDS(file != NULL);
    memcpy(file, counts, (size_t)n);
    memcpy(file + n, data + 2, size - 2);
    fuzz_open(file, (size_t)n + size - 2, check_file);
    free(file);
    return 0;
}
