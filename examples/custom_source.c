/* A row source of one's own: rows that are computed when they are read. Every function that takes a
 * wte_row_source (lookups, bags, heads, neighbours, writers) takes this one. */
#include <stdio.h>
#include <wte/all.h>

/* Row r of the one-hot table of 1000 x 4: element r mod 4 is 1. */
static wte_status read_one_hot(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    float *row = out;
    (void)ctx;
    (void)err;
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < 4; k++) *row++ = ids[i] % 4 == k ? 1.0f : 0.0f;
    return WTE_OK;
}

int main(void)
{
    const wte_row_source rows = {
        .rows = 1000, .cols = 4, .dtype = WTE_F32, .read_rows = read_one_hot
    };
    const uint32_t ids[] = { 7, 998 };
    float out[2][4] = { { 0 } };
    wte_error err = { 0 };
    if (wte_lookup(&rows, wte_ids_u32(ids, 2), NULL, out, 0, &err) != WTE_OK)
        fprintf(stderr, "custom_source: %s\n", err.message);
    for (int i = 0; i < 2; i++)
        printf("row %3u -> %g %g %g %g\n", ids[i], (double)out[i][0], (double)out[i][1],
               (double)out[i][2], (double)out[i][3]);
    return out[0][3] != 1 || out[1][2] != 1;
}
