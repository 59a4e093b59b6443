/* The output head of a model: whether it is the input table, and the three tokens of largest logit
 * for a hidden state. Here the hidden state is a row of the head, so its own id ranks first.
 *
 * usage: tied_topk [MODEL]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <wte/wte.h>

int main(int argc, char **argv)
{
    wte_model *model = wte_open(argc > 1 ? argv[1] : "examples/data/tied");
    wte_head *head = model ? wte_head_open(model) : NULL;
    const wte_head_info *info = wte_head_info_of(head);
    wte_ranked best[3] = { { 0, 0, 0 } };
    const int64_t id = 3;
    float *hidden = info ? calloc(info->hidden_dim + 1, sizeof *hidden) : NULL;
    int failed = !hidden || info->hidden_dim != wte_dim(model) ||
                 wte_lookup_i64(model, &id, 1, hidden) != WTE_OK ||
                 wte_topk(head, hidden, 1, 3, best) != WTE_OK;
    if (!failed) {
        char text[64];
        printf("%s, %" PRIu64 " logits, %s\n", info->name, info->n_rows,
               info->tied ? "tied" : "untied");
        for (int i = 0; i < 3; i++) {
            wte_token_text(model, best[i].id, text, sizeof text);
            printf("%4" PRIu64 " %-10s logit %8.4f\n", best[i].id, text, (double)best[i].logit);
        }
    } else {
        fprintf(stderr, "tied_topk: %s\n", wte_last_error());
    }
    free(hidden);
    wte_head_close(head);
    wte_close(model);
    return failed || best[0].id != 3;
}
