/* Properties of optimizers: sparse steps with dense semantics equal dense ones bit for bit, and so
 * do fused steps and any number of threads; masks, and tables of 16 bits. Instruction sets are
 * compared by test_optim_kernels.c, all in one program. */
#include "optim_help.h"
#include "test.h"

#include "optim/optim.h"

#define ROWS  60u
#define COLS  37u
#define IDS   9u
#define STEPS 40u

/* A history: ids and gradients of each step, and how the learning rate goes. */
typedef struct history {
    uint64_t seed;
    double lr, fall; /* lr times fall after each step; beyond 1 it rises */
    bool prepares;   /* rows are brought up to date now and then */
} history;

static double lr_at(const history *h, uint32_t s)
{
    return h->lr * pow(h->fall, s % 7); /* falls or rises, and jumps back */
}

static void step_of(const history *h, uint32_t s, int64_t ids[IDS], float d_out[IDS * COLS])
{
    uint64_t noise = h->seed * 1000 + s + 1;
    for (size_t i = 0; i < IDS; i++) {
        const uint64_t x = test_noise(&noise);
        ids[i] = (int64_t)(x % (x >> 32 & 1 ? 5 : ROWS)); /* some come often */
    }
    for (size_t i = 0; i < IDS * COLS; i++)
        d_out[i] = (float)(int32_t)test_noise(&noise) * 0x1p-31f;
}

/* Runs steps begin .. end - 1. */
static void run_steps(wte_optim *o, wte_table *t, path by, const history *h, uint32_t begin,
                      uint32_t end)
{
    int64_t ids[IDS];
    float d_out[IDS * COLS];
    wte_error err;
    for (uint32_t s = begin; s < end; s++) {
        step_of(h, s, ids, d_out);
        assert_ok(wte_optim_set_lr(o, lr_at(h, s), &err), err);
        if (h->prepares && s % 3 == 0)
            assert_ok(wte_optim_sync_rows(o, some_ids(ids, IDS), &err), err);
        assert_ok(step_by(o, t, by, some_ids(ids, IDS), d_out, &err), err);
    }
}

static void assert_same_state(const wte_optim *a, const wte_optim *b)
{
    wte_error err;
    for (uint32_t i = 0;; i++) {
        const char *name[2];
        wte_row_source rows[2];
        const wte_status status = wte_optim_state(a, i, &name[0], &rows[0], &err);
        assert_int_equal(wte_optim_state(b, i, &name[1], &rows[1], &err), status);
        if (status != WTE_OK) {
            assert_int_equal(status, WTE_E_RANGE);
            return;
        }
        assert_string_equal(name[0], name[1]);
        assert_int_equal(rows[0].rows, rows[1].rows);
        if (memcmp(rows[0].data, rows[1].data, (size_t)(rows[0].rows * rows[0].row_bytes)) != 0)
            fail_msg("other bits in %s", name[0]);
    }
}

static void assert_same_table(wte_table *a, wte_table *b)
{
    const size_t n = table_bytes(a) / wte_dtype_bytes(wte_table_dtype(a));
    for (size_t i = 0; i < n; i++)
        if (value_at(a, i) != value_at(b, i))
            fail_msg("row %zu, column %zu: %.9g is not %.9g", i / COLS, i % COLS,
                     (double)value_at(a, i), (double)value_at(b, i));
    assert_memory_equal(wte_table_data(a), wte_table_data(b), table_bytes(a));
}

/* The same history by two paths, each with its own threads. */
static void compare_paths(const wte_optim_options *opt, wte_dtype dtype, const history *h, path one,
                          path two, uint32_t threads)
{
    wte_optim_options with_pool = *opt;
    wte_error err;
    wte_table *t[2] = { noise_table(ROWS, COLS, dtype, h->seed),
                        noise_table(ROWS, COLS, dtype, h->seed) };
    assert_ok(wte_pool_create(threads, &with_pool.pool, &err), err);
    wte_optim *o[2] = { optim_of(t[0], opt), optim_of(t[1], &with_pool) };
    run_steps(o[0], t[0], one, h, 0, STEPS);
    run_steps(o[1], t[1], two, h, 0, STEPS);
    for (int i = 0; i < 2; i++) finish(o[i]);
    assert_same_table(t[0], t[1]);
    assert_same_state(o[0], o[1]);
    for (int i = 0; i < 2; i++) {
        wte_optim_free(o[i]);
        wte_table_free(t[i]);
    }
    wte_pool_free(with_pool.pool);
}

static wte_optim_options with(wte_optim_options opt)
{
    opt.struct_size = sizeof opt;
    return own_for_zero(opt);
}
#define SETTING(...) with((wte_optim_options){ __VA_ARGS__ })

static const history histories[] = {
    { 1, 1e-2, 1.0, false },
    { 2, 1e-2, 0.7, true },
    { 3, 1e-3, 1.9, false },
    { 4, 3.0, 0.9, true },
};
#define N_HISTORIES (sizeof histories / sizeof *histories)

static void sparse_steps_of_dense_semantics_equal_dense_ones(void **state)
{
    (void)state;
    const wte_optim_options all[] = {
        SETTING(.momentum = 0.9),
        SETTING(.momentum = 0.3, .dampening = 0.5),
        SETTING(.momentum = 0.9, .nesterov = 1),
        SETTING(.momentum = 0.9, .nesterov = 1, .weight_decay = 0.1),
        SETTING(.momentum = 0.9, .weight_decay = 0.1, .decay = WTE_DECAY_DECOUPLED),
        SETTING(.kind = WTE_OPTIM_ADAM),
        SETTING(.kind = WTE_OPTIM_ADAM, .weight_decay = 0.01),
        SETTING(.kind = WTE_OPTIM_ADAM, .amsgrad = 1),
        SETTING(.kind = WTE_OPTIM_ADAM, .beta1 = 1e-300),
        SETTING(.kind = WTE_OPTIM_ADAM, .beta1 = 0.5, .beta2 = 0.3),
        SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.01),
        SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.01, .amsgrad = 1),
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t h = 0; h < N_HISTORIES; h++) {
            compare_paths(&all[k], WTE_F32, &histories[h], BY_DENSE, BY_SPARSE, 1);
            compare_paths(&all[k], WTE_F32, &histories[h], BY_DENSE, BY_LOOKUP, 2);
        }
}

/* So low at first that nothing moves, though the moments are not small; then they come to count. */
static double long_lr(int s)
{
    return s < 48 ? 1e-11 : s < 600 ? 1e-2 : 1e-3;
}

/* Rows that no step touches for so long that their idle steps are cut short. */
static void rows_that_rest_for_long_equal_dense_ones(void **state)
{
    (void)state;
    const wte_optim_options all[] = {
        SETTING(.kind = WTE_OPTIM_ADAM, .lr = 1e-2),
        SETTING(.kind = WTE_OPTIM_ADAMW, .lr = 1e-2, .weight_decay = 1e-3),
        SETTING(.momentum = 0.9, .lr = 1e-2),
    };
    enum { LONG = 3 * WTE__OPTIM_LOG / 2 };
    static const int64_t first[2] = { 0, 1 }, later = 1;
    float d_out[2 * COLS];
    wte_error err;
    for (size_t i = 0; i < 2 * COLS; i++) d_out[i] = 1.0f / (float)(i + 1);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        wte_table *t[2] = { noise_table(2, COLS, WTE_F32, 9), noise_table(2, COLS, WTE_F32, 9) };
        wte_optim *o[2] = { optim_of(t[0], &all[k]), optim_of(t[1], &all[k]) };
        for (int s = 0; s < LONG; s++)
            for (int i = 0; i < 2; i++) {
                const wte_ids ids = s ? some_ids(&later, 1) : some_ids(first, 2);
                assert_ok(wte_optim_set_lr(o[i], long_lr(s), &err), err);
                assert_ok(step_by(o[i], t[i], i ? BY_LOOKUP : BY_DENSE, ids, d_out, &err), err);
            }
        for (int i = 0; i < 2; i++) finish(o[i]);
        assert_same_table(t[0], t[1]);
        assert_same_state(o[0], o[1]);
        for (int i = 0; i < 2; i++) {
            wte_optim_free(o[i]);
            wte_table_free(t[i]);
        }
    }
}

static void steps_of_touched_rows_are_the_same_by_every_path_and_number_of_threads(void **state)
{
    (void)state;
    const wte_optim_options all[] = {
        SETTING(.weight_decay = 0.1, .decay_touched = 1),
        SETTING(.kind = WTE_OPTIM_LAZY_ADAM),
        SETTING(.kind = WTE_OPTIM_LAZY_ADAM, .weight_decay = 0.1, .decay_touched = 1),
        SETTING(.kind = WTE_OPTIM_ADAGRAD, .lr_decay = 0.1),
        SETTING(.kind = WTE_OPTIM_ROWWISE_ADAGRAD, .weight_decay = 0.1, .decay_touched = 1),
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (uint32_t threads = 1; threads <= 8; threads *= 2)
            compare_paths(&all[k], WTE_F32, &histories[1], BY_SPARSE, BY_LOOKUP, threads);
    /* where a gradient of zero changes nothing, dense ones are the same, too */
    const wte_optim_options plain[] = {
        SETTING(.lr = 0.1),
        SETTING(.kind = WTE_OPTIM_ADAGRAD, .initial_accumulator = 0.25),
        SETTING(.kind = WTE_OPTIM_ROWWISE_ADAGRAD),
    };
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        compare_paths(&plain[k], WTE_F32, &histories[1], BY_DENSE, BY_LOOKUP, 8);
}

/* So much that threads share it, and half of it for one row, which is summed by all of them. */
typedef struct amount {
    uint64_t ids, rows, cols;
} amount;
/* many rows; rows that all have many parts, more than a thread has room for at once */
static const amount amounts[] = { { 3000, 700, 70 }, { 400, 80, 1100 } };

static void fill_step(const amount *a, int64_t *ids, float *d_out, uint64_t *noise)
{
    for (size_t i = 0; i < a->ids; i++)
        ids[i] = i % 2 ? 77 : (int64_t)(test_noise(noise) % a->rows);
    for (size_t i = 0; i < a->ids * a->cols; i++)
        d_out[i] = (float)(int32_t)test_noise(noise) * 0x1p-31f;
}

static void check_shared(const wte_optim_options *opt, const amount *a, bool dense, wte_pool *pool)
{
    static int64_t ids[3000];
    static float d_out[400 * 1100];
    uint64_t noise = 6;
    wte_optim_options with_pool = *opt;
    wte_error err;
    with_pool.pool = pool;
    wte_table *t[2] = { noise_table(a->rows, a->cols, WTE_F32, 1),
                        noise_table(a->rows, a->cols, WTE_F32, 1) };
    wte_optim *o[2] = { optim_of(t[0], opt), optim_of(t[1], &with_pool) };
    for (int s = 0; s < 3; s++) {
        fill_step(a, ids, d_out, &noise);
        if (s == 1) d_out[a->cols * 3] = NAN; /* in the heavy row */
        for (int i = 0; i < 2; i++) {
            const path by = dense ? BY_DENSE : i ? BY_LOOKUP : BY_SPARSE;
            const wte_status status = step_by(o[i], t[i], by, some_ids(ids, a->ids), d_out, &err);
            if (s == 1)
                assert_fails(status, err, WTE_E_RANGE, 77, "1 rows");
            else
                assert_ok(status, err);
        }
    }
    for (int i = 0; i < 2; i++) finish(o[i]);
    assert_memory_equal(wte_table_data(t[0]), wte_table_data(t[1]), table_bytes(t[0]));
    assert_same_state(o[0], o[1]);
    for (int i = 0; i < 2; i++) {
        wte_optim_free(o[i]);
        wte_table_free(t[i]);
    }
}

static void large_steps_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const wte_optim_options all[] = {
        SETTING(.momentum = 0.9),
        SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.1),
        SETTING(.kind = WTE_OPTIM_LAZY_ADAM),
        SETTING(.kind = WTE_OPTIM_ROWWISE_ADAGRAD),
        SETTING(.kind = WTE_OPTIM_ADAFACTOR),
    };
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        wte_pool *pool;
        wte_error err;
        assert_ok(wte_pool_create(threads, &pool, &err), err);
        for (size_t k = 0; k < 2 * (sizeof all / sizeof *all); k++) {
            const wte_optim_options *opt = &all[k / 2];
            const amount *a = &amounts[k % 2];
            if (opt->kind != WTE_OPTIM_ADAFACTOR) check_shared(opt, a, false, pool);
            if (opt->kind != WTE_OPTIM_LAZY_ADAM) check_shared(opt, a, true, pool);
        }
        wte_pool_free(pool);
    }
}

static void dense_steps_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const wte_optim_options all[] = {
        SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.1),
        SETTING(.kind = WTE_OPTIM_ADAFACTOR, .weight_decay = 0.1),
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (uint32_t threads = 2; threads <= 8; threads *= 4)
            compare_paths(&all[k], WTE_F32, &histories[0], BY_DENSE, BY_DENSE, threads);
}

static void tables_of_16_bits_catch_up_bit_for_bit(void **state)
{
    (void)state;
    for (int rounding = 0; rounding < 3; rounding++)
        for (int half = 0; half < 2; half++) {
            const wte_optim_options all[] = {
                SETTING(.momentum = 0.9, .rounding = (wte_optim_rounding)rounding, .seed = 7),
                SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.1, .seed = 7,
                        .rounding = (wte_optim_rounding)rounding),
            };
            for (size_t k = 0; k < 2; k++)
                compare_paths(&all[k], half ? WTE_F16 : WTE_BF16, &histories[k], BY_DENSE,
                              BY_LOOKUP, 2);
        }
}

/* 1 - 2^-10 rounds to 1 in bf16: rounded to nearest such steps are lost, by chance they add up. */
static void small_steps_add_up_by_chance_or_in_a_master_copy(void **state)
{
    (void)state;
    static const int64_t id = 0;
    float d_out[2048], start[2048];
    const double steps = 100, want = 1 - 100 * 0x1p-10;
    for (size_t i = 0; i < 2048; i++) d_out[i] = start[i] = 1;
    for (int rounding = 0; rounding < 3; rounding++) {
        const wte_optim_options opt =
            SETTING(.lr = 0x1p-10, .seed = 3, .rounding = (wte_optim_rounding)rounding);
        wte_table *t = table_of(1, 2048, WTE_BF16);
        double sum = 0;
        wte_error err;
        set_values(t, start);
        wte_optim *o = optim_of(t, &opt);
        for (int s = 0; s < (int)steps; s++)
            assert_ok(step_by(o, t, BY_LOOKUP, some_ids(&id, 1), d_out, &err), err);
        for (size_t i = 0; i < 2048; i++) sum += (double)value_at(t, i);
        const double mean = sum / 2048;
        /* a step goes down by 2^-8 with a chance of 1/4: variance 3/16 2^-16; 2^-10 per row of
           2048, and five standard deviations of the mean */
        const double bound = 5 * sqrt(steps * 3 / 16 / 2048) * 0x1p-8;
        if (rounding == WTE_ROUND_NEAREST) assert_true(mean == 1);
        if (rounding == WTE_ROUND_STOCHASTIC)
            assert_true(fabs(mean - want) < bound && mean != want);
        if (rounding == WTE_ROUND_MASTER) assert_true(fabs(mean - want) <= 0x1p-9);
        assert_int_equal(wte_optim_changed(o, NULL), rounding != WTE_ROUND_NEAREST);
        wte_optim_free(o);
        wte_table_free(t);
    }
}

/* Masks -----------------------------------------------------------------------------------------
 */

static void masked_rows_take_the_steps_of_unmasked_ones(void **state)
{
    (void)state;
    const wte_optim_options all[] = {
        SETTING(.lr = 0.1),
        SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.1),
        SETTING(.kind = WTE_OPTIM_LAZY_ADAM),
        SETTING(.kind = WTE_OPTIM_ADAGRAD),
        SETTING(.kind = WTE_OPTIM_ROWWISE_ADAGRAD),
    };
    uint8_t mask[(ROWS + 7) / 8], changed[(ROWS + 7) / 8];
    uint64_t noise = 5;
    for (size_t i = 0; i < sizeof mask; i++) mask[i] = (uint8_t)test_noise(&noise);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        wte_optim_options masked = all[k];
        masked.trainable = mask;
        wte_table *t[2] = { noise_table(ROWS, COLS, WTE_F32, 2),
                            noise_table(ROWS, COLS, WTE_F32, 2) };
        wte_table *start = noise_table(ROWS, COLS, WTE_F32, 2);
        wte_optim *o[2] = { optim_of(t[0], &all[k]), optim_of(t[1], &masked) };
        for (int i = 0; i < 2; i++) {
            run_steps(o[i], t[i], BY_LOOKUP, &histories[1], 0, STEPS);
            finish(o[i]);
        }
        (void)wte_optim_changed(o[1], changed);
        for (size_t r = 0; r < ROWS; r++) {
            const bool trains = mask[r / 8] >> r % 8 & 1;
            const char *row = (char *)wte_table_data(t[1]) + r * COLS * 4;
            const char *want = (char *)wte_table_data(trains ? t[0] : start) + r * COLS * 4;
            assert_memory_equal(row, want, COLS * 4);
            const bool differs =
                memcmp(row, (char *)wte_table_data(start) + r * COLS * 4, COLS * 4);
            assert_int_equal(changed[r / 8] >> r % 8 & 1, differs);
        }
        wte_table_free(start);
        for (int i = 0; i < 2; i++) {
            wte_optim_free(o[i]);
            wte_table_free(t[i]);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_steps_of_dense_semantics_equal_dense_ones),
        cmocka_unit_test(rows_that_rest_for_long_equal_dense_ones),
        cmocka_unit_test(steps_of_touched_rows_are_the_same_by_every_path_and_number_of_threads),
        cmocka_unit_test(large_steps_have_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(dense_steps_have_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(tables_of_16_bits_catch_up_bit_for_bit),
        cmocka_unit_test(small_steps_add_up_by_chance_or_in_a_master_copy),
        cmocka_unit_test(masked_rows_take_the_steps_of_unmasked_ones),
    };
    if (test_isa_missing()) return TEST_SKIPPED;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
