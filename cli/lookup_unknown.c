/* wte lookup --oov: words that a fastText model has no row for get ids behind those of its
 * table, and vectors made of their n-grams. */
#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "open.h"

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const lookup_job *job = ctx;
    const wte_row_source *known = &job->known;
    float *row = out;
    for (size_t i = 0; i < n; i++, row += known->cols) {
        wte_status status;
        if (ids[i] < known->rows) {
            status = wte_row_source_read(known, ids[i], row, err);
        } else {
            const char *word = job->unknown[ids[i] - known->rows];
            status =
                wte_fasttext_oov_vector(wte_model_file(job->model), word, strlen(word), row, err);
        }
        if (status != WTE_OK) return status;
    }
    return WTE_OK;
}

static int check_model(const lookup_job *job)
{
    const wte_file *file = wte_model_file(job->model);
    const char *path = wte_model_path(job->model);
    wte_fasttext_info info;
    wte_error err;
    if (!file)
        return cli_say_fail(job->c, CLI_CANNOT, "%s: holds no n-grams: fastText's own files do",
                            path);
    const wte_status status = wte_file_fasttext(file, &info, &err);
    if (status != WTE_OK) return cli_fail(job->c, status, CLI_SIDE_INPUT, &err);
    if (info.max_n == 0)
        return cli_say_fail(job->c, CLI_CANNOT,
                            "%s: was trained without n-grams: words that it has no row for have no "
                            "vector",
                            path);
    return CLI_DONE;
}

int lookup_unknown(lookup_job *job, char **words, size_t n, int64_t *ids)
{
    const int code = check_model(job);
    if (code) return code;
    const wte_vocab *vocab = wte_model_vocab(job->model);
    const char *problem = wte_model_vocab_problem(job->model);
    if (*problem) /* every word would be taken for an unknown one */
        return cli_say_fail(job->c, CLI_INPUT, "%s", problem);
    job->known = job->table->source;
    job->extended = *job->table;
    job->unknown = malloc((n ? n : 1) * sizeof *job->unknown);
    if (!job->unknown) return cli_say_fail(job->c, CLI_OUTPUT, "out of memory for %zu words", n);
    for (size_t i = 0; i < n; i++) {
        uint64_t id;
        if (!vocab ||
            wte_vocab_find(vocab, words[i], strlen(words[i]), &id, NULL, NULL) != WTE_OK) {
            id = job->known.rows + job->n_unknown;
            job->unknown[job->n_unknown++] = words[i];
        }
        ids[i] = (int64_t)id;
    }
    job->extended.source = (wte_row_source){ .rows = job->known.rows + job->n_unknown,
                                             .cols = job->known.cols,
                                             .dtype = WTE_F32,
                                             .read_rows = read_rows,
                                             .ctx = job };
    job->table = &job->extended;
    return CLI_DONE;
}

const char *lookup_unknown_word(const lookup_job *job, int64_t id)
{
    const uint64_t at = (uint64_t)id - job->known.rows;
    return job->n_unknown && id >= 0 && at < job->n_unknown ? job->unknown[at] : NULL;
}
