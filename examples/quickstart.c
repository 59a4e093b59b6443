/* Rows of a model's input table: opens a model, looks four ids up, prints one row a line. README.md
 * has the lines between the two markers; scripts/dev/check_install.sh builds this file against an
 * installed library.
 *
 * usage: quickstart [MODEL]
 */
#include <stdio.h>
#include <stdlib.h>
#include <wte/wte.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "demo";
    /* README begins */
    const int64_t ids[] = { 2, 3, 5, 1 };
    wte_model *model = wte_open(path); /* safetensors, GGUF, PyTorch, word vectors, a folder, ... */
    const uint64_t dim = wte_dim(model);
    float *rows = calloc(4 * dim + 1, sizeof *rows);
    int failed = !model || !rows || wte_lookup_i64(model, ids, 4, rows) != WTE_OK;
    for (uint64_t i = 0; !failed && i < 4 * dim; i++)
        printf("%7.4f%c", (double)rows[i], (i + 1) % dim ? ' ' : '\n');
    if (failed) fprintf(stderr, "%s\n", wte_last_error()); /* what, where, which values disagree */
    free(rows);
    wte_close(model);
    /* README ends */
    return failed;
}
