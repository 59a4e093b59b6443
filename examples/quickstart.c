/* Ids to vectors in one call: opens a model, looks up four ids, prints one row a line. The part
 * between the two markers stands in README.md, line for line; scripts/dev/check_install.sh builds
 * this file against an installed library.
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
    const wte_ids ids = { (int32_t[]){ 2, 3, 5, 1 }, WTE_I32, 0, 4 }; /* read in place */
    wte_lookup_options options = WTE_LOOKUP_OPTIONS_INIT;
    const wte_model_table *table = NULL;
    wte_model *model = NULL;
    float *rows = NULL;
    wte_error err = { 0 };
    options.out_dtype = WTE_F32; /* the default is the type that is stored */
    if (wte_model_open(path, NULL, &model, &err) == WTE_OK &&
        wte_model_input(model, &table, &err) == WTE_OK &&
        (rows = calloc(table->dim, 4 * sizeof *rows)) != NULL &&
        wte_lookup(&table->source, ids, &options, rows, 0, &err) == WTE_OK) {
        for (uint64_t i = 0; i < 4 * table->dim; i++)
            printf("%7.4f%c", (double)rows[i], (i + 1) % table->dim ? ' ' : '\n');
    } else {
        fprintf(stderr, "%s\n", err.message); /* says what, where, and which numbers disagree */
    }
    free(rows);
    wte_model_free(model);
    /* README ends */
    return !rows || err.status != WTE_OK;
}
