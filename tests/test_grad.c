/* Gradients of lookups and of tied tables: values by PyTorch and by hand, and what people have
 * suffered from elsewhere. */
#include "grad_help.h"

#include <wte/head.h>

static wte_error err;
static const wte_grad_kind kinds[] = { WTE_GRAD_DENSE, WTE_GRAD_SPARSE };

/* Values --------------------------------------------------------------------------------------- */

static void lookups_have_pytorchs_gradients(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 0, 0, 1 }, padding = 0;
    const float ones[4] = { 1, 1, 1, 1 };
    const float plain[5] = { 3, 1, 0, 0, 0 };
    float want[5];
    for (size_t k = 0; k < 2; k++) {
        wte_grad *g = new_grad(5, 1, kinds[k], NULL);
        wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
        const wte_ids all = ids_of(ids, WTE_I64, 4);
        assert_ok(wte_grad_lookup(g, all, ones, 0, NULL, &err), err);
        assert_grad(g, plain, 5, 1);
        wte_grad_zero(g);
        o.scale_by_freq = 1;
        assert_int_equal(golden_gradient("lookup freq", want, 5), 5);
        assert_ok(wte_grad_lookup(g, all, ones, 0, &o, &err), err);
        assert_grad(g, want, 5, 1);
        wte_grad_zero(g);
        o.ignore_ids = &padding;
        o.n_ignore_ids = 1;
        assert_int_equal(golden_gradient("lookup freq padding 0", want, 5), 5);
        assert_ok(wte_grad_lookup(g, all, ones, 0, &o, &err), err);
        assert_grad(g, want, 5, 1);
        wte_grad_free(g);
    }
}

/* PyTorch lists the rows as they come; ours are its coalesced ones. */
static void sparse_rows_are_those_named(void **state)
{
    (void)state;
    const int64_t ids[] = { 2, 2, 1, 0 }, padding = 1;
    const float ones[4] = { 1, 1, 1, 1 };
    float rows[3], values[3];
    wte_grad *g = new_grad(4, 1, WTE_GRAD_SPARSE, NULL);
    wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
    wte_grad_rows v;
    o.ignore_ids = &padding;
    o.n_ignore_ids = 1;
    assert_int_equal(golden_gradient("sparse rows", rows, 3), 3);
    assert_int_equal(golden_gradient("sparse values", values, 3), 3);
    assert_null(wte_grad_data(g));
    wte_grad_view(g, &v);
    assert_int_equal(v.n, 0);
    assert_ok(wte_grad_lookup(g, ids_of(ids, WTE_I64, 4), ones, 0, &o, &err), err);
    wte_grad_view(g, &v);
    assert_int_equal(v.n, 2);
    for (uint64_t i = 0; i < v.n; i++) {
        float sum = 0;
        for (size_t k = 0; k < 3; k++)
            if ((uint64_t)rows[k] == v.ids[i]) sum += values[k];
        assert_float_equal(v.values[i], sum, 0);
    }
    assert_int_equal(v.ids[0], 0);
    assert_int_equal(v.ids[1], 2);
    /* padding alone: no row at all */
    wte_grad_zero(g);
    assert_ok(wte_grad_lookup(g, ids_of(ids + 2, WTE_I64, 1), ones, 0, &o, &err), err);
    wte_grad_view(g, &v);
    assert_int_equal(v.n, 0);
    wte_grad_free(g);
}

/* All types of ids and of what comes back, scale, rows with gaps, against the naive sums. */
static void every_type_of_input_is_taken(void **state)
{
    (void)state;
    enum { ROWS = 40, COLS = 19, IDS = 300, PAD = 6 };
    static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16 };
    static float numbers[IDS * COLS], want[ROWS * COLS];
    static uint8_t d_out[IDS * (COLS * 4 + PAD)], packed[IDS * 8];
    uint64_t seed = 77;
    for (size_t t = 0; t < 12; t++) {
        const wte_dtype id_type = id_types[t % 4], type = types[t % 3];
        const size_t size = wte_dtype_bytes(type), stride = COLS * size + PAD;
        naive_part part[IDS];
        fill_noise(numbers, IDS * COLS, &seed);
        for (size_t i = 0; i < IDS; i++) {
            uint8_t row[COLS * 4];
            part[i] = (naive_part){ (int64_t)(test_noise(&seed) % ROWS), i, i, 0.7f };
            put_id(packed, id_type, i, part[i].id);
            assert_ok(wte_convert(WTE_F32, numbers + i * COLS, type, row, COLS, NULL, &err), err);
            assert_ok(wte_convert(type, row, WTE_F32, numbers + i * COLS, COLS, NULL, &err), err);
            memcpy(d_out + i * stride, row, COLS * size);
        }
        for (int64_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < COLS; c++)
                want[r * COLS + (int64_t)c] =
                    naive_sum(part, IDS, r, numbers, COLS, c, NULL, false);
        wte_grad *g = new_grad(ROWS, COLS, kinds[t % 2], NULL);
        wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
        o.d_out_dtype = type;
        o.scale = 0.7f;
        assert_ok(wte_grad_lookup(g, ids_of(packed, id_type, IDS), d_out, stride, &o, &err), err);
        assert_grad(g, want, ROWS, COLS);
        wte_grad_free(g);
    }
}

/* Weight tying --------------------------------------------------------------------------------- */

/* One lookup and the head over the same table; both parts into one gradient. Returns the loss. */
typedef struct tied_case {
    float *table; /* rows x cols */
    uint64_t rows, cols, n;
    const int64_t *ids, *targets;
    const int64_t *padding; /* or NULL */
} tied_case;

static double tied_step(const tied_case *t, wte_grad *g)
{
    const wte_row_source rows = view_of(t->table, t->rows, t->cols, WTE_F32);
    const size_t numbers = (size_t)(t->n * t->cols);
    const wte_ids ids = ids_of(t->ids, WTE_I64, t->n);
    float *hidden = malloc(numbers * sizeof *hidden), *d_hidden = malloc(numbers * sizeof *hidden);
    wte_loss_options how = WTE_LOSS_OPTIONS_INIT;
    wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
    wte_loss loss;
    assert_true(hidden && d_hidden);
    assert_ok(wte_lookup(&rows, ids, NULL, hidden, 0, &err), err);
    const wte_hidden h = { .data = hidden, .dtype = WTE_F32, .n = t->n, .dim = t->cols };
    if (g) {
        how.d_hidden = d_hidden;
        how.d_table = wte_grad_data(g);
    }
    assert_ok(wte_head_loss(&rows, &h, ids_of(t->targets, WTE_I64, t->n), NULL, &how, &loss, &err),
              err);
    back.ignore_ids = t->padding;
    back.n_ignore_ids = t->padding != NULL;
    if (g) assert_ok(wte_grad_lookup(g, ids, d_hidden, 0, &back, &err), err);
    free(hidden);
    free(d_hidden);
    return loss.loss;
}

static float tied_table[] = { 1, 2, 3, 4, 5, 6 };
static const int64_t tied_ids[] = { 0, 2 }, tied_targets[] = { 1, 0 };
static const tied_case tied = { tied_table, 3, 2, 2, tied_ids, tied_targets, NULL };

static void tied_tables_have_pytorchs_gradient(void **state)
{
    (void)state;
    float want[6];
    wte_grad *g = new_grad(3, 2, WTE_GRAD_DENSE, NULL);
    assert_float_equal(tied_step(&tied, g), 25.00124168395996, 2e-6);
    assert_int_equal(golden_gradient("tied", want, 6), 6);
    for (uint64_t i = 0; i < 6; i++) assert_float_equal(wte_grad_data(g)[i], want[i], 2e-6f);
    wte_grad_free(g);
}

/* The derivative of the loss in each number of the table, by two losses. */
static void tied_gradients_are_the_slopes_of_the_loss(void **state)
{
    (void)state;
    enum { ROWS = 7, COLS = 5, N = 9 };
    float table[ROWS * COLS];
    int64_t ids[N], targets[N];
    uint64_t seed = 4;
    fill_noise(table, ROWS * COLS, &seed);
    for (size_t i = 0; i < N; i++) {
        ids[i] = (int64_t)(test_noise(&seed) % ROWS);
        targets[i] = (int64_t)(test_noise(&seed) % ROWS);
    }
    const tied_case t = { table, ROWS, COLS, N, ids, targets, NULL };
    wte_grad *g = new_grad(ROWS, COLS, WTE_GRAD_DENSE, NULL);
    (void)tied_step(&t, g);
    for (size_t i = 0; i < ROWS * COLS; i++) {
        const float before = table[i], step = 0x1p-7f;
        table[i] = before + step;
        const double above = tied_step(&t, NULL);
        table[i] = before - step;
        const double below = tied_step(&t, NULL);
        table[i] = before;
        const double slope = (above - below) / (2 * (double)step);
        if (fabs(slope - (double)wte_grad_data(g)[i]) > 2e-4)
            fail_msg("number %zu: the loss changes by %g, the gradient is %g", i, slope,
                     (double)wte_grad_data(g)[i]);
    }
    wte_grad_free(g);
}

/* PAINS ---------------------------------------------------------------------------------------- */

/* H3: the same tensor under two names. */
static void tied_tables_count_once(void **state)
{
    (void)state;
    wte_grad *g = new_grad(3, 2, WTE_GRAD_DENSE, NULL),
             *other = new_grad(2, 1, WTE_GRAD_SPARSE, NULL);
    wte_grad *both[] = { g, g, other, g };
    const int64_t row = 1;
    const float twelve = 12;
    double norm, clipped;
    float want[6];
    double squares = 0;
    assert_int_equal(golden_gradient("tied", want, 6), 6);
    for (int i = 0; i < 6; i++) squares += (double)want[i] * (double)want[i];
    (void)tied_step(&tied, g);
    assert_ok(wte_grad_norm(both, 2, &norm, &err), err);
    assert_float_equal(norm, sqrt(squares), 1e-5);
    wte_grad_zero(g);
    wte_grad_data(g)[0] = 3;
    wte_grad_data(g)[5] = -4;
    assert_ok(wte_grad_norm(both, 2, &norm, &err), err);
    assert_true(norm == 5);
    assert_ok(wte_grad_lookup(other, ids_of(&row, WTE_I64, 1), &twelve, 0, NULL, &err), err);
    assert_ok(wte_grad_norm(both, 4, &norm, &err), err);
    assert_true(norm == 13);
    /* each number is scaled once, too */
    assert_ok(wte_grad_clip(both, 4, 6.5, &clipped, &err), err);
    assert_true(clipped == 13);
    const float by = (float)(6.5 / (13 + 1e-6));
    assert_float_equal(wte_grad_data(g)[0], 3 * by, 0);
    assert_float_equal(wte_grad_data(g)[5], -4 * by, 0);
    assert_float_equal(grad_at(other, 1, 0), 12 * by, 0);
    wte_grad_free(g);
    wte_grad_free(other);
}

/* H4: one id 4096 times. A bf16 that is added to stops at 256, an f16 at 2048. */
static void frequent_ids_keep_their_counts(void **state)
{
    (void)state;
    enum { N = 4096 };
    static int64_t ids[N];
    static uint16_t ones[N];
    wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
    o.d_out_dtype = WTE_BF16;
    for (size_t i = 0; i < N; i++) ids[i] = 3, ones[i] = 0x3f80;
    for (size_t k = 0; k < 2; k++) {
        wte_grad *g = new_grad(5, 1, kinds[k], NULL);
        assert_ok(wte_grad_lookup(g, ids_of(ids, WTE_I64, N), ones, 0, &o, &err), err);
        assert_float_equal(grad_at(g, 3, 0), 4096, 0);
        wte_grad_free(g);
    }
}

/* Beyond 2^24 an f32 stops, too. */
static void sums_in_f64_go_further(void **state)
{
    (void)state;
    enum { N = 1025 };
    static float d_out[N];
    static int64_t ids[N];
    wte_grad_options o = WTE_GRAD_OPTIONS_INIT;
    for (size_t i = 0; i < N; i++) d_out[i] = i ? 1 : 0x1p24f;
    for (uint32_t f64 = 0; f64 < 2; f64++) {
        wte_grad *g;
        o.f64_sums = f64;
        assert_ok(wte_grad_create(1, 1, &o, &g, &err), err);
        assert_ok(wte_grad_lookup(g, ids_of(ids, WTE_I64, N), d_out, 0, NULL, &err), err);
        assert_float_equal(wte_grad_data(g)[0], f64 ? 0x1p24f + 1024 : 0x1p24f, 0);
        wte_grad_free(g);
    }
}

/* H6: what comes second is added, into zeros that somebody has put there. */
static void two_calls_give_twice_the_gradient(void **state)
{
    (void)state;
    enum { ROWS = 9, COLS = 3, N = 20 };
    float d_out[N * COLS], want[ROWS * COLS];
    int64_t ids[N];
    uint64_t seed = 12;
    fill_noise(d_out, N * COLS, &seed);
    for (size_t i = 0; i < N; i++) ids[i] = (int64_t)(test_noise(&seed) % ROWS);
    const wte_ids all = ids_of(ids, WTE_I64, N);
    for (size_t k = 0; k < 2; k++) {
        wte_grad *g = new_grad(ROWS, COLS, kinds[k], NULL);
        assert_ok(wte_grad_lookup(g, all, d_out, 0, NULL, &err), err);
        for (uint64_t i = 0; i < ROWS * COLS; i++) want[i] = 2 * grad_at(g, i / COLS, i % COLS);
        assert_ok(wte_grad_lookup(g, all, d_out, 0, NULL, &err), err);
        assert_grad(g, want, ROWS, COLS);
        wte_grad_zero(g);
        for (uint64_t i = 0; i < ROWS * COLS; i++) want[i] /= 2;
        assert_ok(wte_grad_lookup(g, all, d_out, 0, NULL, &err), err);
        assert_grad(g, want, ROWS, COLS);
        wte_grad_free(g);
    }
    wte_grad *g = new_grad(3, 2, WTE_GRAD_DENSE, NULL);
    float once[6];
    (void)tied_step(&tied, g);
    memcpy(once, wte_grad_data(g), sizeof once);
    (void)tied_step(&tied, g);
    for (int i = 0; i < 6; i++) assert_float_equal(wte_grad_data(g)[i], 2 * once[i], 2e-6f);
    wte_grad_free(g);
}

/* H7: the mask is on the lookup's path alone. */
static void padding_ids_are_cut_from_the_lookup_alone(void **state)
{
    (void)state;
    const int64_t padding = 2;
    float want[6];
    assert_int_equal(golden_gradient("tied", want, 6), 6);
    wte_grad *whole = new_grad(3, 2, WTE_GRAD_DENSE, NULL);
    wte_grad *cut = new_grad(3, 2, WTE_GRAD_DENSE, NULL);
    tied_case t = tied;
    (void)tied_step(&t, whole);
    t.padding = &padding;
    (void)tied_step(&t, cut);
    /* Missing is what the lookup sends back for id 2, whose target is 0: half of row 2 - row 0. The
     * head's part is still there: the row is a class for both hidden vectors. */
    for (int i = 4; i < 6; i++) {
        assert_float_equal(wte_grad_data(whole)[i] - wte_grad_data(cut)[i], 2, 2e-6f);
        assert_float_equal(wte_grad_data(cut)[i], want[i] - 2, 2e-6f);
    }
    for (int i = 0; i < 4; i++)
        assert_float_equal(wte_grad_data(cut)[i], wte_grad_data(whole)[i], 0);
    wte_grad_free(whole);
    wte_grad_free(cut);
}

static const struct CMUnitTest tests[] = {
    TEST("gradients of lookups are PyTorch's: frequencies, padding",
         lookups_have_pytorchs_gradients),
    TEST("a sparse gradient has the rows that were named, each once", sparse_rows_are_those_named),
    TEST("ids and vectors of every type are taken, rows with gaps, a scale",
         every_type_of_input_is_taken),
    TEST("the gradient of a tied table is PyTorch's", tied_tables_have_pytorchs_gradient),
    TEST("the gradient of a tied table is the slope of its loss",
         tied_gradients_are_the_slopes_of_the_loss),
    TEST("a tied table counts once in norms, and is clipped once (H3)", tied_tables_count_once),
    TEST("an id that stands 4096 times gets 4096 (H4)", frequent_ids_keep_their_counts),
    TEST("sums in f64 count beyond 2^24", sums_in_f64_go_further),
    TEST("two calls give exactly twice the gradient (H6)", two_calls_give_twice_the_gradient),
    TEST("a padding id is cut from the lookup's path alone (H7)",
         padding_ids_are_cut_from_the_lookup_alone),
};
TEST_MAIN(tests)
