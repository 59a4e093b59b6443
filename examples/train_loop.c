/* A training loop: a tied table learns to predict the next id of a cycle. Hidden states are rows of
 * the table, the loss is cross-entropy over all rows, row-wise Adagrad updates the rows. */
#include <stdio.h>
#include <wte/all.h>

#define ROWS 8
#define DIM  16

static wte_status step(wte_table *table, wte_optim *optim, double *loss, wte_error *err)
{
    static const int64_t now[ROWS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    static const int64_t next[ROWS] = { 1, 2, 3, 4, 5, 6, 7, 0 };
    static float hidden[ROWS][DIM], d_hidden[ROWS][DIM];
    const wte_row_source *rows = wte_table_source(table);
    const wte_hidden states = { hidden, WTE_F32, 0, ROWS, DIM, 0 };
    wte_loss_options options = WTE_LOSS_OPTIONS_INIT;
    wte_loss result;
    wte_grad *grad = NULL;
    wte_status s = wte_grad_create(ROWS, DIM, NULL, &grad, err); /* dense: every row has a logit */
    if (s == WTE_OK) s = wte_lookup(rows, wte_ids_i64(now, ROWS), NULL, hidden, 0, err);
    options.d_hidden = &d_hidden[0][0];
    options.d_table = grad ? wte_grad_data(grad) : NULL;
    if (s == WTE_OK)
        s = wte_head_loss(rows, &states, wte_ids_i64(next, ROWS), NULL, &options, &result, err);
    if (s == WTE_OK) s = wte_grad_lookup(grad, wte_ids_i64(now, ROWS), d_hidden, 0, NULL, err);
    if (s == WTE_OK) s = wte_optim_step(optim, grad, err);
    if (s == WTE_OK) *loss = result.loss;
    wte_grad_free(grad);
    return s;
}

int main(void)
{
    wte_optim_options options = WTE_OPTIM_OPTIONS_INIT;
    wte_init_options init = WTE_INIT_OPTIONS_INIT;
    wte_table *table = NULL;
    wte_optim *optim = NULL;
    wte_error err = { 0 };
    double first = 0, loss = 0;
    options.kind = WTE_OPTIM_ROWWISE_ADAGRAD;
    options.lr = 0.5;
    init.seed = 1;
    wte_status s = wte_table_create(ROWS, DIM, WTE_F32, NULL, &table, &err);
    if (s == WTE_OK) s = wte_table_init(table, &init, &err);
    if (s == WTE_OK) s = wte_optim_create(table, &options, &optim, &err);
    for (int i = 0; s == WTE_OK && i < 200; i++) {
        s = step(table, optim, &loss, &err);
        if (i == 0) first = loss;
    }
    if (s == WTE_OK)
        printf("loss %.4f -> %.4f\n", first, loss);
    else
        fprintf(stderr, "train_loop: %s\n", err.message);
    wte_optim_free(optim);
    wte_table_free(table);
    return s != WTE_OK || !(loss < first / 4);
}
