/* What the targets of word vectors share: the rows of an accepted file, read in several ways. */
#ifndef WTE_FUZZ_WORDS_H
#define WTE_FUZZ_WORDS_H
#include "fuzz.h"

#include <string.h>
#include <wte/format.h>

#include "base/span.h"

#define FUZZ_ROWS 24u

/* Row twice at once is what it was alone: the same bytes, or the same refusal. */
static inline bool fuzz_read_row(const wte_row_source *rows, uint64_t row, float *out, float *twice)
{
    wte_error err = { 0 }, err_again = { 0 };
    const uint64_t ids[2] = { row, row };
    const size_t bytes = (size_t)rows->cols * sizeof *out;
    const wte_status status = wte_row_source_read(rows, row, out, &err);
    HOLDS(status == rows->read_rows(rows->ctx, ids, 2, twice, &err_again));
    if (status == WTE_OK)
        HOLDS(memcmp(twice, out, bytes) == 0 && memcmp(twice + rows->cols, out, bytes) == 0);
    else
        HOLDS(err.where == err_again.where && strcmp(err.message, err_again.message) == 0);
    return status == WTE_OK;
}

/* n rows from `first` on, to be freed: out of order, and as a block, which must be the same.
 * ok[k] tells whether row first + k could be read. */
static inline float *fuzz_read_rows(const wte_row_source *rows, uint64_t first, size_t n, bool *ok)
{
    const size_t dim = (size_t)rows->cols, bytes = n * dim * sizeof(float);
    float *out = malloc(bytes + 1), *block = malloc(bytes + 1);
    float *twice = malloc(2 * dim * sizeof *twice + 1);
    HOLDS(out && block && twice);
    bool all = true;
    for (size_t k = n; k-- > 0;) {
        ok[k] = fuzz_read_row(rows, first + k, out + k * dim, twice);
        all &= ok[k];
    }
    HOLDS((wte_row_source_read_block(rows, first, n, block, NULL) == WTE_OK) == all);
    HOLDS(!all || memcmp(block, out, bytes) == 0);
    free(twice);
    free(block);
    return out;
}

static inline const char *fuzz_token(const wte_file *f, uint64_t i, uint64_t *bytes)
{
    const wte_token_list *tokens;
    if (wte_file_tokens(f, &tokens, NULL) != WTE_OK) return NULL;
    const char *text = wte_token_list_text(tokens, i, bytes);
    HOLDS(text != NULL);
    return text;
}
#endif
