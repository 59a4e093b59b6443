/* Bags: the weighted sum of the rows of each bag of ids, as torch.nn.EmbeddingBag computes it. */
#include <stdio.h>
#include <wte/all.h>

int main(void)
{
    static const float table[4][2] = { { 1, 2 }, { 10, 20 }, { 100, 200 }, { 1000, 2000 } };
    const wte_row_source rows = {
        .rows = 4, .cols = 2, .dtype = WTE_F32, .data = table, .row_bytes = sizeof table[0]
    };
    const int64_t ids[] = { 0, 1, 3, 2 }, offsets[] = { 0, 3 }; /* bags {0, 1, 3} and {2} */
    const float weights[] = { 1, 0.5f, 2, 4 };
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_error err = { 0 };
    float out[2][2] = { { 0 } };
    bag.mode = WTE_BAG_SUM;
    bag.weights = weights;
    if (wte_bag_reduce(&rows, wte_ids_i64(ids, 4), wte_ids_i64(offsets, 2), &bag, out, 0, &err) !=
        WTE_OK)
        fprintf(stderr, "weighted_bag: %s\n", err.message);
    for (int b = 0; b < 2; b++)
        printf("bag %d -> [%6.1f %6.1f]\n", b, (double)out[b][0], (double)out[b][1]);
    return out[0][0] != 1 + 5 + 2000 || out[1][1] != 800;
}
