/* Texts of vectors over any bytes, and with counts in front that fit or not.
 *
 * Properties: a row read at random is the row of a sequential parse, by the C library, of the bytes
 * that are named as its place; those lie inside the file; its token stands before them. */
#include "words.h"

static bool separates(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || (c && strchr(",;|\"[]()", c));
}

/* The field at *at as the C library reads it; *at moves behind it. */
static float next_number(const uint8_t **at, const uint8_t *end)
{
    char number[1200], *rest;
    size_t n = 0;
    const uint8_t *p = *at;
    while (p < end && separates(*p)) p++;
    for (; p < end && !separates(*p) && n + 1 < sizeof number; p++) number[n++] = (char)*p;
    number[n] = '\0';
    *at = p;
    const float value = strtof(number, &rest);
    HOLDS(n > 0 && *rest == '\0');
    return value;
}

static void check_numbers(const uint8_t *at, const uint8_t *end, const float *row, uint64_t dim)
{
    for (uint64_t c = 0; c < dim; c++) {
        const float want = next_number(&at, end);
        HOLDS(memcmp(&want, &row[c], sizeof want) == 0);
    }
}

/* The token ends where blanks or a separator lead to the numbers; its bytes are the file's. */
static void check_token(const wte_file *f, uint64_t i, const uint8_t *data, uint64_t at)
{
    uint64_t bytes;
    const char *token = fuzz_token(f, i, &bytes);
    if (!token || memchr(token, '"', bytes)) return;
    uint64_t end = at;
    while (end > bytes && separates(data[end - 1]) &&
           (bytes == 0 || memcmp(data + end - bytes, token, bytes) != 0))
        end--;
    if (end >= 1 && data[end - 1] == '"' && end > bytes) end--; /* was in quotes */
    HOLDS(end >= bytes && (bytes == 0 || memcmp(data + end - bytes, token, bytes) == 0));
}

static void check_some(const wte_file *f, const wte_row_source *rows, uint64_t first, size_t n,
                       wte__bytes data)
{
    bool ok[FUZZ_ROWS];
    float *out = fuzz_read_rows(rows, first, n, ok);
    for (size_t k = 0; k < n; k++) {
        uint64_t at, bytes;
        HOLDS(wte_file_row_offset(f, 0, first + k, &at, &bytes, NULL) == WTE_OK);
        HOLDS(at <= data.size && bytes <= data.size - at);
        const uint8_t *begin = data.data + at;
        if (ok[k]) check_numbers(begin, begin + bytes, out + k * rows->cols, rows->cols);
        check_token(f, first + k, data.data, at);
    }
    free(out);
}

/* The first rows and the last. */
static void check_rows(const wte_file *f, wte__bytes data)
{
    wte_row_source rows;
    HOLDS(wte_file_row_source(f, 0, &rows, NULL) == WTE_OK &&
          wte_check_rows(&rows, NULL) == WTE_OK);
    HOLDS(rows.rows <= data.size);
    if (rows.rows == 0) return;
    HOLDS(rows.cols <= data.size);
    const size_t n = rows.rows < FUZZ_ROWS ? (size_t)rows.rows : FUZZ_ROWS;
    check_some(f, &rows, 0, n, data);
    check_some(f, &rows, rows.rows - n, n, data);
}

static void check_file(const wte_file *f, const uint8_t *data, size_t size)
{
    wte_text_reading r;
    if (wte_file_text_reading(f, &r, NULL) != WTE_OK) return;
    HOLDS(r.dim > 0 && r.first_column > 0 && r.key_column < r.first_column + (r.separator == '['));
    HOLDS(*r.what && *r.why);
    if (!r.decimal_comma) check_rows(f, (wte__bytes){ data, size });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_open(data, size, check_file);
    if (size < 2 || size > 65536) return 0;
    /* the last two bytes as counts before the rest */
    char counts[32];
    const int n =
        snprintf(counts, sizeof counts, "%d %d\n", data[size - 1] % 8, data[size - 2] % 8);
    uint8_t *file = malloc((size_t)n + size);
    HOLDS(file != NULL);
    memcpy(file, counts, (size_t)n);
    memcpy(file + n, data, size - 2);
    fuzz_open(file, (size_t)n + size - 2, check_file);
    free(file);
    return 0;
}
