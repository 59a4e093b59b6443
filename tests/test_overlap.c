/* Outputs that overlap what is read, in every call of lookups, bags, heads and conversions. */
#include "test.h"

#include <wte/bag.h>
#include <wte/block.h>
#include <wte/grad.h>
#include <wte/head.h>
#include <wte/rowwise.h>

#include "base/overlap.h"

static wte_error err;

#define REFUSED(call, part) assert_fails(call, err, WTE_E_ARGUMENT, WTE_NO_INDEX, part)

static wte_status apart(uint64_t at, uint64_t rows, uint64_t row_bytes, uint64_t stride,
                        wte__piece read)
{
    const wte__piece written = { "this", (const void *)(uintptr_t)at, rows, row_bytes, stride };
    return wte__no_overlap("call", written, read, &err);
}

static void pieces_overlap_where_their_bytes_do(void **state)
{
    (void)state;
    const wte__piece read = { "that", (const void *)(uintptr_t)1000, 10, 10, 0 };
    assert_ok(apart(990, 1, 10, 0, read), err);
    assert_ok(apart(1100, 5, 10, 0, read), err);
    assert_ok(apart(1000, 0, 10, 0, read), err);
    assert_ok(apart(1000, 3, 0, 0, read), err);
    assert_ok(apart(0, 3, 10, 0, read), err); /* NULL is nothing */
    REFUSED(apart(990, 1, 11, 0, read), "call: this and that overlap by 1 bytes");
    REFUSED(apart(1099, 1, 1, 0, read), "call: this and that overlap by 1 bytes");
    REFUSED(apart(900, 10, 100, 0, read), "call: this and that overlap by 100 bytes");
}

static void rows_may_lie_between_rows(void **state)
{
    (void)state;
    const wte__piece read = { "that", (const void *)(uintptr_t)1000, 10, 8, 20 };
    assert_ok(apart(1008, 10, 12, 20, read), err);
    assert_ok(apart(988, 10, 12, 20, read), err);
    assert_ok(apart(1028, 3, 4, 20, read), err);
    REFUSED(apart(1008, 10, 13, 20, read), "this and that overlap");
    REFUSED(apart(1007, 10, 1, 20, read), "this and that overlap");
    REFUSED(apart(987, 10, 14, 20, read), "this and that overlap");
    REFUSED(apart(1008, 10, 12, 24, read), "this and that overlap");
}

/* A table of 4 x 4, ids and hidden vectors in one piece of memory. */
typedef struct ground {
    float table[16], hidden[8], bias[4], free[64];
    int64_t ids[4];
} ground;

static wte_row_source rows_of(ground *g)
{
    return (wte_row_source){
        .rows = 4, .cols = 4, .dtype = WTE_F32, .data = g->table, .row_bytes = 16
    };
}

static void lookups_and_bags_refuse_an_output_in_their_input(void **state)
{
    (void)state;
    ground g = { .ids = { 0, 1, 2, 3 } };
    const wte_row_source rows = rows_of(&g);
    const wte_ids ids = { g.ids, WTE_I64, 0, 4 };
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    bag.ids_per_bag = 2;
    const wte_ids none = { 0 };
    assert_ok(wte_lookup(&rows, ids, NULL, g.free, 0, &err), err);
    REFUSED(wte_lookup(&rows, ids, NULL, g.table + 12, 0, &err),
            "lookup: the output and the table overlap by 16 bytes");
    REFUSED(wte_lookup(&rows, ids, NULL, g.ids, 0, &err),
            "lookup: the output and the ids overlap by 32 bytes");
    REFUSED(wte_bag_reduce(&rows, ids, none, &bag, g.table, 0, &err),
            "bags: the output and the table overlap by 32 bytes");
    REFUSED(wte_bag_reduce(&rows, ids, none, &bag, g.ids + 3, 0, &err),
            "bags: the output and the ids overlap by 8 bytes");
    REFUSED(wte_bag_weights_grad(&rows, ids, none, &bag, g.free, NULL, g.table, &err),
            "backward: d_weights and the table overlap by 16 bytes");
    uint8_t packed[4 * 34] = { 0 };
    wte_block_source source;
    wte_row_source blocks;
    assert_ok(wte_row_source_from_blocks(WTE_BLOCK_Q8_0, 4, 32, packed, 0, &source, &blocks, &err),
              err);
    REFUSED(wte_lookup(&blocks, ids, NULL, packed, 512, &err),
            "lookup: the output and the table overlap by 136 bytes");
}

static void heads_refuse_an_output_in_their_input(void **state)
{
    (void)state;
    ground g = { .ids = { 0, 1, 2, 3 } };
    const wte_row_source rows = rows_of(&g);
    const wte_hidden hidden = { g.hidden, WTE_F32, 0, 2, 4, 0 };
    wte_head_options o = WTE_HEAD_OPTIONS_INIT;
    o.bias = g.bias;
    o.bias_dtype = WTE_F32;
    const wte_ids two = { g.ids, WTE_I64, 0, 2 };
    void *const id = g.ids;
    REFUSED(wte_head_logits(&rows, &hidden, &o, g.hidden + 4, 0, &err),
            "head: the output and hidden overlap by 16 bytes");
    REFUSED(wte_head_logits(&rows, &hidden, &o, g.table, 0, &err),
            "head: the output and the table overlap by 32 bytes");
    REFUSED(wte_head_logits_at(&rows, &hidden, two, &o, g.bias, 0, &err),
            "head: the output and the bias overlap by 16 bytes");
    REFUSED(wte_head_logits_at(&rows, &hidden, two, &o, id, 0, &err),
            "head: the output and the ids overlap by 16 bytes");
    REFUSED(wte_head_topk(&rows, &hidden, &o, 1, (void *)g.hidden, NULL, &err),
            "head: the output and hidden overlap by 32 bytes");
    REFUSED(wte_head_topk(&rows, &hidden, &o, 1, (void *)g.free, (void *)g.table, &err),
            "head: sums and the table overlap by 32 bytes");
    REFUSED(wte_head_logprobs(&rows, &hidden, two, &o, id, NULL, &err),
            "head: the output and the ids overlap by 8 bytes");
    REFUSED(wte_head_sample(&rows, &hidden, &o, NULL, (void *)g.hidden, &err),
            "head: the output and hidden overlap by 16 bytes");
}

static void losses_refuse_gradients_in_their_input(void **state)
{
    (void)state;
    ground g = { .ids = { 0, 1, 2, 3 } };
    const wte_row_source rows = rows_of(&g);
    const wte_hidden hidden = { g.hidden, WTE_F32, 0, 2, 4, 0 };
    const wte_ids two = { g.ids, WTE_I64, 0, 2 };
    const wte_loss_options init = WTE_LOSS_OPTIONS_INIT;
    wte_loss_options how = init;
    wte_loss out;
    how.d_hidden = g.hidden;
    REFUSED(wte_head_loss(&rows, &hidden, two, NULL, &how, &out, &err),
            "head: d_hidden and hidden overlap by 32 bytes");
    how = init;
    how.d_table = g.table;
    REFUSED(wte_head_loss(&rows, &hidden, two, NULL, &how, &out, &err),
            "head: d_table and the table overlap by 64 bytes");
    how = init;
    how.d_hidden = g.free;
    how.d_table = g.free + 7;
    REFUSED(wte_head_loss(&rows, &hidden, two, NULL, &how, &out, &err),
            "head: d_table and d_hidden overlap by 4 bytes");
    how = init;
    how.per_target = (void *)g.ids;
    REFUSED(wte_head_loss(&rows, &hidden, two, NULL, &how, &out, &err),
            "head: each and the ids overlap by 8 bytes");
}

static void conversions_refuse_an_output_in_their_input(void **state)
{
    (void)state;
    float number[64] = { 0 };
    REFUSED(wte_convert(WTE_F32, number, WTE_F16, number, 8, NULL, &err),
            "wte_convert: dst and src overlap by 16 bytes");
    REFUSED(wte_block_decode(WTE_BLOCK_Q8_0, number, number + 8, 1, &err),
            "q8_0: the blocks and the numbers overlap by 2 bytes");
    REFUSED(wte_block_encode(WTE_BLOCK_Q8_0, number, number, 1, &err),
            "q8_0: the blocks and the numbers overlap by 34 bytes");
    REFUSED(wte_rowwise_encode(WTE_ROW8, number, 2, 16, number, 0, &err),
            "row8: the output and the numbers overlap by 40 bytes");
}

static const struct CMUnitTest tests[] = {
    TEST("pieces overlap where their bytes do", pieces_overlap_where_their_bytes_do),
    TEST("rows may lie between rows", rows_may_lie_between_rows),
    TEST("lookups and bags refuse an output in their input",
         lookups_and_bags_refuse_an_output_in_their_input),
    TEST("heads refuse an output in their input", heads_refuse_an_output_in_their_input),
    TEST("losses refuse gradients in their input", losses_refuse_gradients_in_their_input),
    TEST("conversions refuse an output in their input",
         conversions_refuse_an_output_in_their_input),
};
TEST_MAIN(tests)
