/* Fused steps of bags: rows that are named once go straight from their bag's gradient, others are
 * summed first; the bits are those of a summed gradient, whatever is named how often, and for any
 * number of threads. */
#include "optim_help.h"

#define ROWS 3001u
#define BAG  10u
#define BAGS 220u
#define IDS  (BAG * BAGS)
#define MOST 128u

/* Who is named again: nobody, all, each from far away, neighbours at borders, by chance, one row by
 * half of all. */
enum { NOBODY, ALL, FAR, BORDERS, CHANCE, HALF, PATTERNS };

static void fill(int64_t *ids, int pattern, uint64_t step)
{
    uint64_t seed = step + 1;
    for (uint64_t i = 0; i < IDS; i++) {
        const uint64_t once = (i * 1009 + step) % ROWS;
        ids[i] = (int64_t)once;
        if (pattern == ALL) ids[i] = 77;
        if (pattern == FAR) ids[i] = (int64_t)((i % (IDS / 2) * 1009) % ROWS);
        if (pattern == BORDERS && i && i % 32 == 0) ids[i] = ids[i - 1];
        if (pattern == CHANCE) ids[i] = (int64_t)(test_noise(&seed) % ROWS);
        if (pattern == HALF && i % 2) ids[i] = 5;
    }
}

typedef struct trained {
    wte_table *table;
    wte_optim *optim;
} trained;

static trained make(const wte_optim_options *opt, uint64_t cols, wte_pool *pool)
{
    wte_optim_options o = *opt;
    trained t = { .table = noise_table(ROWS, cols, WTE_F32, 3) };
    o.pool = pool;
    t.optim = optim_of(t.table, &o);
    return t;
}
static void end(trained *t)
{
    wte_optim_free(t->optim);
    wte_table_free(t->table);
}

static wte_ids no_offsets(void)
{
    return (wte_ids){ .type = WTE_I64 };
}

/* By a gradient that was summed before. */
static wte_status step_summed(const trained *t, const int64_t *ids, const wte_bag_options *bag,
                              const float *d_out, wte_error *err)
{
    wte_grad *g = grad_of(t->table, WTE_GRAD_SPARSE);
    assert_ok(wte_grad_bag(g, some_ids(ids, IDS), no_offsets(), bag, d_out, 0, NULL, err), *err);
    const wte_status status = wte_optim_step(t->optim, g, err);
    wte_grad_free(g);
    return status;
}

static void assert_same(const trained *a, const trained *b)
{
    uint8_t changed[2][ROWS / 8 + 1] = { { 0 } };
    wte_error err;
    assert_memory_equal(wte_table_data(a->table), wte_table_data(b->table), table_bytes(a->table));
    assert_int_equal(wte_optim_changed(a->optim, changed[0]),
                     wte_optim_changed(b->optim, changed[1]));
    assert_memory_equal(changed[0], changed[1], sizeof changed[0]);
    for (uint32_t i = 0;; i++) {
        const char *name;
        wte_row_source x, y;
        const wte_status status = wte_optim_state(a->optim, i, &name, &x, &err);
        assert_int_equal(wte_optim_state(b->optim, i, &name, &y, &err), status);
        if (status != WTE_OK) break;
        assert_memory_equal(x.data, y.data, (size_t)(x.rows * x.row_bytes));
    }
}

static const wte_optim_options kinds[] = {
    { .struct_size = sizeof(wte_optim_options), .kind = WTE_OPTIM_SGD, .lr = 0.1 },
    { .struct_size = sizeof(wte_optim_options), .kind = WTE_OPTIM_LAZY_ADAM, .lr = 0.1 },
    { .struct_size = sizeof(wte_optim_options), .kind = WTE_OPTIM_ADAGRAD, .lr = 0.1 },
    { .struct_size = sizeof(wte_optim_options), .kind = WTE_OPTIM_ROWWISE_ADAGRAD, .lr = 0.1 },
    { .struct_size = sizeof(wte_optim_options),
      .kind = WTE_OPTIM_ROWWISE_ADAGRAD,
      .lr = 0.1,
      .weight_decay = 0.1,
      .decay_touched = 1 },
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* Three steps of a pattern; a NaN comes in the second. */
static void check(const wte_optim_options *opt, uint64_t cols, int pattern, bool weighted,
                  wte_pool *pool)
{
    static int64_t ids[IDS];
    static float d_out[BAGS * MOST], weights[IDS];
    uint64_t seed = 9;
    trained want = make(opt, cols, NULL), got = make(opt, cols, pool);
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    bag.ids_per_bag = BAG;
    bag.weights = weighted ? weights : NULL;
    for (uint64_t step = 0; step < 3; step++) {
        wte_error err[2];
        fill(ids, pattern, step);
        for (size_t i = 0; i < BAGS * cols; i++)
            d_out[i] = (float)(int32_t)test_noise(&seed) * 0x1p-31f;
        for (size_t i = 0; i < IDS; i++) weights[i] = 0.25f + (float)(i % 5);
        if (step == 1) d_out[7 * cols + cols - 1] = NAN;
        const wte_status summed = step_summed(&want, ids, &bag, d_out, &err[0]);
        const wte_status fused = wte_optim_step_bag(got.optim, some_ids(ids, IDS), no_offsets(),
                                                    &bag, d_out, 0, NULL, &err[1]);
        assert_int_equal(summed, step == 1 ? WTE_E_RANGE : WTE_OK);
        assert_int_equal(fused, summed);
        if (step == 1) {
            assert_int_equal(err[1].where, err[0].where);
            assert_string_equal(err[1].message, err[0].message);
        }
        assert_same(&got, &want);
    }
    end(&want);
    end(&got);
}

static void fused_steps_have_the_bits_of_summed_gradients(void **state)
{
    (void)state;
    static const uint64_t widths[] = { 20, 64, 128 };
    for (uint32_t threads = 1; threads <= 8; threads += threads == 1 ? 1 : 6) {
        wte_pool *pool;
        wte_error err;
        assert_ok(wte_pool_create(threads, &pool, &err), err);
        for (size_t k = 0; k < N_KINDS; k++)
            for (size_t w = 0; w < 3; w++)
                for (int pattern = 0; pattern < PATTERNS; pattern++)
                    check(&kinds[k], widths[w], pattern, (k + w) % 2, pool);
        wte_pool_free(pool);
    }
}

/* One step of row-wise Adagrad in f64, from a zero state. */
static void steps_are_those_of_plain_arithmetic(void **state)
{
    (void)state;
    enum { COLS = 128 };
    static int64_t ids[IDS];
    static float d_out[BAGS * COLS], before[ROWS * COLS];
    static double sum[ROWS * COLS];
    uint64_t seed = 2;
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        trained t = make(&kinds[3], COLS, NULL);
        const float *after = wte_table_data(t.table);
        wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
        wte_error err;
        bag.ids_per_bag = BAG;
        memset(sum, 0, sizeof sum);
        memcpy(before, after, sizeof before);
        fill(ids, pattern, 4);
        for (size_t i = 0; i < BAGS * COLS; i++)
            d_out[i] = (float)(int32_t)test_noise(&seed) * 0x1p-31f;
        for (size_t i = 0; i < IDS; i++)
            for (size_t c = 0; c < COLS; c++)
                sum[(size_t)ids[i] * COLS + c] += (double)d_out[i / BAG * COLS + c];
        assert_ok(wte_optim_step_bag(t.optim, some_ids(ids, IDS), no_offsets(), &bag, d_out, 0,
                                     NULL, &err),
                  err);
        for (size_t r = 0; r < ROWS; r++) {
            double squares = 0;
            for (size_t c = 0; c < COLS; c++)
                squares += sum[r * COLS + c] * sum[r * COLS + c] / COLS;
            for (size_t c = 0; c < COLS; c++) {
                const double by = squares > 0 ? 0.1 / (sqrt(squares) + 1e-8) : 0;
                const double want = (double)before[r * COLS + c] - by * sum[r * COLS + c];
                assert_true(fabs((double)after[r * COLS + c] - want) < 1e-5);
            }
        }
        end(&t);
    }
}

/* A step that has no memory changes nothing. */
static void memory_may_fail_at_any_time(void **state)
{
    (void)state;
    static int64_t ids[IDS];
    static float d_out[BAGS * MOST];
    fill(ids, CHANCE, 0);
    for (size_t i = 0; i < BAGS * MOST; i++) d_out[i] = 1;
    size_t fail = 0;
    for (wte_status status = WTE_E_MEMORY; status != WTE_OK; fail++) {
        wte_optim_options opt = kinds[3];
        wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
        test_memory m;
        wte_error err;
        test_memory_init(&m, SIZE_MAX);
        opt.allocator = &m.allocator;
        bag.ids_per_bag = BAG;
        trained t = make(&opt, MOST, NULL), untouched = make(&kinds[3], MOST, NULL);
        m.fail_at = m.calls + fail;
        status = wte_optim_step_bag(t.optim, some_ids(ids, IDS), no_offsets(), &bag, d_out, 0, NULL,
                                    &err);
        if (status != WTE_OK) {
            assert_int_equal(status, WTE_E_MEMORY);
            assert_same(&t, &untouched);
        }
        end(&t);
        end(&untouched);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(fail, 3); /* the parts, what ordering needs */
}

static const struct CMUnitTest tests[] = {
    TEST("fused steps have the bits of summed gradients, by 1, 2 and 8 threads",
         fused_steps_have_the_bits_of_summed_gradients),
    TEST("steps are those of plain arithmetic", steps_are_those_of_plain_arithmetic),
    TEST("memory that fails at any time is told, and nothing has changed",
         memory_may_fail_at_any_time),
};
TEST_MAIN(tests)
