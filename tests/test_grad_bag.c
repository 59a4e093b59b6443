/* Gradients of bags and of their weights: values by PyTorch, by hand and by naive loops. */
#include "grad_help.h"

#include <wte/rowwise.h>

static wte_error err;

static wte_grad *bag_gradient(uint64_t rows, uint64_t cols, wte_ids ids, wte_ids offsets,
                              const wte_bag_options *bag, const float *d_out,
                              const wte_backward_options *back)
{
    wte_grad *g = new_grad(rows, cols, WTE_GRAD_SPARSE, NULL);
    assert_ok(wte_grad_bag(g, ids, offsets, bag, d_out, 0, back, &err), err);
    return g;
}

/* A7, with one bag of one column and ones coming back. */
static void check_golden(const char *name, wte_bag_mode mode, const int64_t *ids, uint64_t n,
                         const int64_t *padding, uint32_t freq)
{
    const int64_t zero = 0;
    const float one = 1;
    float want[5];
    const size_t rows = golden_gradient(name, want, 5);
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
    bag.mode = mode;
    bag.ignore_ids = padding;
    bag.n_ignore_ids = padding != NULL;
    back.scale_by_freq = freq;
    wte_grad *g = bag_gradient(rows, 1, ids_of(ids, WTE_I64, n), ids_of(&zero, WTE_I64, 1), &bag,
                               &one, &back);
    assert_grad(g, want, rows, 1);
    wte_grad_free(g);
}

static void sums_and_means_have_pytorchs_gradients(void **state)
{
    (void)state;
    const int64_t one = 1;
    check_golden("sum freq [0,1,1,1]", WTE_BAG_SUM, (int64_t[]){ 0, 1, 1, 1 }, 4, NULL, 1);
    check_golden("mean padding 1", WTE_BAG_MEAN, (int64_t[]){ 1, 1, 2, 3 }, 4, &one, 0);
}

/* PyTorch divides by the count of another id here: 1, 1/3 and 0, 1, 0, 1/2, 3. */
static void frequencies_are_those_of_the_id_itself(void **state)
{
    (void)state;
    const int64_t first[] = { 0, 0, 0, 1 }, second[] = { 3, 1, 1, 4, 4, 4 }, zero = 0;
    const float one = 1, want[] = { 1, 1, 0, 0, 0 }, want_second[] = { 0, 1, 0, 1, 1 };
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
    back.scale_by_freq = 1;
    const wte_ids offsets = ids_of(&zero, WTE_I64, 1);
    wte_grad *g = bag_gradient(5, 1, ids_of(first, WTE_I64, 4), offsets, &bag, &one, &back);
    for (uint64_t i = 0; i < 5; i++) assert_float_equal(grad_at(g, i, 0), want[i], 1e-7f);
    wte_grad_free(g);
    g = bag_gradient(5, 1, ids_of(second, WTE_I64, 6), offsets, &bag, &one, &back);
    for (uint64_t i = 0; i < 5; i++) assert_float_equal(grad_at(g, i, 0), want_second[i], 1e-7f);
    wte_grad_free(g);
}

static void maxima_send_it_to_the_member_taken(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 1, 2, 0, 3 }, ones[] = { 1, 1 };
    const int64_t ids[] = { 0, 1, 2 }, zero = 0;
    float out[2], want[6];
    uint64_t at[2];
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    const wte_row_source rows = view_of(table, 3, 2, WTE_F32);
    const wte_ids all = ids_of(ids, WTE_I64, 3), offsets = ids_of(&zero, WTE_I64, 1);
    bag.mode = WTE_BAG_MAX;
    bag.argmax = at;
    assert_ok(wte_bag_reduce(&rows, all, offsets, &bag, out, 0, &err), err);
    assert_int_equal(golden_gradient("max tie", want, 6), 6);
    wte_grad *g = bag_gradient(3, 2, all, offsets, &bag, ones, NULL);
    assert_grad(g, want, 3, 2);
    wte_grad_free(g);
}

/* max_norm shortens rows, and is then forgotten. */
static void norms_have_no_gradient(void **state)
{
    (void)state;
    const int64_t zero = 0;
    const float ones[] = { 1, 1 };
    float want[2];
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    bag.max_norm = 1;
    assert_int_equal(golden_gradient("max_norm", want, 2), 2);
    wte_grad *g =
        bag_gradient(1, 2, ids_of(&zero, WTE_I64, 1), ids_of(&zero, WTE_I64, 1), &bag, ones, NULL);
    assert_grad(g, want, 1, 2);
    wte_grad_free(g);
}

/* Weights -------------------------------------------------------------------------------------- */

static void weights_have_pytorchs_gradient(void **state)
{
    (void)state;
    const float table[] = { 0, 1, 2, 3 }, weights[] = { 1, 2, 3 }, one = 1;
    const int64_t ids[] = { 1, 2, 3 }, zero = 0, padding = 2;
    float want[4], got[3] = { 9, 9, 9 };
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    bag.weights = weights;
    bag.ignore_ids = &padding;
    bag.n_ignore_ids = 1;
    const wte_row_source rows = view_of(table, 4, 1, WTE_F32);
    const wte_ids all = ids_of(ids, WTE_I64, 3), offsets = ids_of(&zero, WTE_I64, 1);
    assert_ok(wte_bag_weights_grad(&rows, all, offsets, &bag, &one, NULL, got, &err), err);
    assert_int_equal(golden_gradient("weights", want, 3), 3);
    assert_memory_equal(got, want, sizeof got);
    wte_grad *g = bag_gradient(4, 1, all, offsets, &bag, &one, NULL);
    assert_int_equal(golden_gradient("weighted sum", want, 4), 4);
    assert_grad(g, want, 4, 1);
    wte_grad_free(g);
}

/* 16 lanes, joined by halves: docs/kernels.md, "Dots". */
static float naive_dot(const float *a, const float *b, size_t n)
{
    float lane[16] = { 0 };
    for (size_t k = 0; k < n; k++) lane[k % 16] = fmaf(a[k], b[k], lane[k % 16]);
    for (size_t half = 8; half; half /= 2)
        for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

#define ROWS 60u
#define COLS 37u
#define BAGS 14u
#define IDS  1500u

typedef struct weighted {
    float table[ROWS * COLS], d_out[BAGS * COLS], weights[IDS], want[IDS], got[IDS + 1];
    int64_t ids[IDS], offsets[BAGS], padding[2];
    uint8_t mask[IDS];
    wte_bag_options bag;
    wte_backward_options back;
} weighted;

static void make_weighted(weighted *w, uint64_t *seed)
{
    *w = (weighted){ .bag = WTE_BAG_OPTIONS_INIT, .back = WTE_BACKWARD_OPTIONS_INIT };
    fill_noise(w->table, ROWS * COLS, seed);
    fill_noise(w->d_out, BAGS * COLS, seed);
    fill_noise(w->weights, IDS, seed);
    w->padding[0] = -1;
    w->padding[1] = 8;
    for (size_t i = 0; i < IDS; i++) {
        w->ids[i] = i % 11 == 4 ? -1 : (int64_t)(test_noise(seed) % ROWS);
        w->mask[i] = test_noise(seed) % 4 != 0;
    }
    for (size_t b = 1; b < BAGS; b++) /* one bag is long, some are empty */
        w->offsets[b] = w->offsets[b - 1] + (b % 3 ? (int64_t)(test_noise(seed) % 30) : 0) +
                        (b == 5 ? 1100 : 0);
    w->bag.weights = w->weights;
    w->bag.ignore_ids = w->padding;
    w->bag.n_ignore_ids = 1;
    w->bag.mask = w->mask;
    w->bag.mask_dtype = WTE_U8;
    w->back.ignore_ids = w->padding + 1;
    w->back.n_ignore_ids = 1;
    w->back.scale = 1.5f;
}

/* table: the rows as f32. */
static void check_weighted(weighted *w, const wte_row_source *rows, const float *table)
{
    for (size_t b = 0; b < BAGS; b++) {
        const size_t end = b + 1 < BAGS ? (size_t)w->offsets[b + 1] : IDS;
        for (size_t i = (size_t)w->offsets[b]; i < end; i++) {
            const bool member = w->ids[i] >= 0 && w->mask[i] && w->ids[i] != 8;
            const float *row = member ? table + w->ids[i] * (int64_t)COLS : NULL;
            w->want[i] = member ? naive_dot(row, w->d_out + b * COLS, COLS) * 1.5f : 0;
        }
    }
    w->got[IDS] = 42;
    assert_ok(wte_bag_weights_grad(rows, ids_of(w->ids, WTE_I64, IDS),
                                   ids_of(w->offsets, WTE_I64, BAGS), &w->bag, w->d_out, &w->back,
                                   w->got, &err),
              err);
    assert_memory_equal(w->got, w->want, sizeof w->want);
    assert_float_equal(w->got[IDS], 42, 0);
}

static void weights_of_any_table_are_taken(void **state)
{
    (void)state;
    static weighted w;
    static uint8_t stored[ROWS * (COLS * 4 + 8)];
    static float widened[ROWS * COLS];
    uint64_t seed = 6;
    wte_pool *pool;
    reader source;
    wte_rowwise_source rowwise;
    assert_ok(wte_pool_create(3, &pool, &err), err);
    make_weighted(&w, &seed);
    const wte_row_source plain = view_of(w.table, ROWS, COLS, WTE_F32);
    check_weighted(&w, &plain, w.table);
    w.bag.pool = pool;
    check_weighted(&w, &plain, w.table);
    assert_ok(wte_convert(WTE_F32, w.table, WTE_F16, stored, ROWS * COLS, NULL, &err), err);
    assert_ok(wte_convert(WTE_F16, stored, WTE_F32, widened, ROWS * COLS, NULL, &err), err);
    const wte_row_source halves = view_of(stored, ROWS, COLS, WTE_F16);
    check_weighted(&w, &halves, widened);
    const wte_row_source read = reader_of(&source, stored, ROWS, COLS, WTE_F16);
    check_weighted(&w, &read, widened);
    wte_row_source packed;
    assert_ok(wte_rowwise_encode(WTE_ROW8_F32, w.table, ROWS, COLS, stored, 0, &err), err);
    assert_ok(
        wte_row_source_from_rowwise(WTE_ROW8_F32, ROWS, COLS, stored, 0, &rowwise, &packed, &err),
        err);
    assert_ok(wte_row_source_read_block(&packed, 0, ROWS, widened, &err), err);
    check_weighted(&w, &packed, widened);
    wte_pool_free(pool);
}

/* As the forward call would have shortened them. */
static void weights_see_shortened_rows(void **state)
{
    (void)state;
    const float table[] = { 3, 4, 0.3f, 0.4f }, d_out[] = { 10, 100 };
    const int64_t ids[] = { 0, 1 }, zero = 0;
    float got[2];
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    bag.max_norm = 1;
    const wte_row_source rows = view_of(table, 2, 2, WTE_F32);
    assert_ok(wte_bag_weights_grad(&rows, ids_of(ids, WTE_I64, 2), ids_of(&zero, WTE_I64, 1), &bag,
                                   d_out, NULL, got, &err),
              err);
    assert_float_equal(got[0], 86.0f, 1e-4f);
    assert_float_equal(got[1], 43.0f, 1e-5f);
}

static void bags_of_nothing_are_fine(void **state)
{
    (void)state;
    const int64_t offsets[] = { 0, 0 };
    const float d_out[6] = { 0 };
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_grad_rows v;
    wte_grad *g = bag_gradient(4, 3, no_ids(), ids_of(offsets, WTE_I64, 2), &bag, d_out, NULL);
    wte_grad_view(g, &v);
    assert_int_equal(v.n, 0);
    assert_ok(wte_grad_bag(g, no_ids(), no_ids(), NULL, NULL, 0, NULL, &err), err);
    wte_grad_free(g);
    const wte_row_source rows = view_of(d_out, 2, 3, WTE_F32), thin = view_of(d_out, 2, 0, WTE_F32);
    assert_ok(wte_bag_weights_grad(&rows, no_ids(), no_ids(), NULL, NULL, NULL, NULL, &err), err);
    float got = 7;
    assert_ok(wte_bag_weights_grad(&thin, ids_of(offsets, WTE_I64, 1), ids_of(offsets, WTE_I64, 1),
                                   NULL, NULL, NULL, &got, &err),
              err);
    assert_float_equal(got, 0, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("gradients of sums and means are PyTorch's", sums_and_means_have_pytorchs_gradients),
    TEST("frequencies are those of the id itself, where PyTorch takes another's",
         frequencies_are_those_of_the_id_itself),
    TEST("a maximum sends its gradient to the first member that reached it",
         maxima_send_it_to_the_member_taken),
    TEST("max_norm counts as done before", norms_have_no_gradient),
    TEST("the gradient of weights is PyTorch's, also of padding", weights_have_pytorchs_gradient),
    TEST("weights of any table: f32, f16, read, packed; threads, masks, scale",
         weights_of_any_table_are_taken),
    TEST("the gradient of weights sees rows as max_norm has left them", weights_see_shortened_rows),
    TEST("bags of nothing are fine", bags_of_nothing_are_fine),
};
TEST_MAIN(tests)
