/* A table in memory with PyTorch's initial values for seed 123, and a lookup in it: ids 2 3 5 1
 * give rows 2, 3, 5 and 1, counted from zero, in that order. */
#include <stdio.h>
#include <wte/all.h>

int main(void)
{
    const int64_t id[] = { 2, 3, 5, 1 };
    wte_init_options init = WTE_INIT_OPTIONS_INIT;
    wte_error err = { 0 };
    wte_table *table;
    float vector[4][3] = { { 0 } };
    init.seed = 123;
    wte_status status = wte_table_create(6, 3, WTE_F32, NULL, &table, &err);
    if (status == WTE_OK) status = wte_table_init(table, &init, &err);
    if (status == WTE_OK)
        status = wte_lookup(wte_table_source(table), wte_ids_i64(id, 4), NULL, vector, 0, &err);
    for (int i = 0; i < 4; i++)
        printf("id %d -> [%7.4f %7.4f %7.4f]\n", (int)id[i], (double)vector[i][0],
               (double)vector[i][1], (double)vector[i][2]);
    wte_table_free(table);
    if (status != WTE_OK) fprintf(stderr, "lookup: %s\n", err.message);
    return vector[1][0] != -0x1.9b1facp-2f; /* row 3 begins with this number on every machine */
}
