/* The state of optimizers: saved, loaded, grown, measured, and allocated by the caller's allocator.
 */
#include "optim_help.h"

#include "optim/optim.h"

#define ROWS 12u
#define COLS 5u
#define IDS  4u

static wte_optim_options with(wte_optim_options opt)
{
    opt.struct_size = sizeof opt;
    return own_for_zero(opt);
}
#define SETTING(...) with((wte_optim_options){ __VA_ARGS__ })

/* One of each kind of state. */
static size_t all_settings(wte_optim_options out[16])
{
    const wte_optim_options all[] = {
        SETTING(.lr = 0.1),
        SETTING(.momentum = 0.9, .dampening = 0.5),
        SETTING(.kind = WTE_OPTIM_ADAM, .amsgrad = 1, .lr = 0.1),
        SETTING(.kind = WTE_OPTIM_ADAMW, .weight_decay = 0.1),
        SETTING(.kind = WTE_OPTIM_LAZY_ADAM),
        SETTING(.kind = WTE_OPTIM_ADAGRAD, .initial_accumulator = 0.5, .lr_decay = 0.1),
        SETTING(.kind = WTE_OPTIM_ROWWISE_ADAGRAD, .initial_accumulator = 0.5),
        SETTING(.kind = WTE_OPTIM_ADAFACTOR),
    };
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof *all;
}

static path path_of(const wte_optim_options *opt)
{
    return opt->kind == WTE_OPTIM_ADAFACTOR ? BY_DENSE : BY_LOOKUP;
}

/* Steps begin .. end - 1 of one history, by ids below `rows`. */
static wte_status run_steps(wte_optim *o, wte_table *t, path by, uint64_t rows, uint32_t begin,
                            uint32_t end, wte_error *err)
{
    for (uint32_t s = begin; s < end; s++) {
        int64_t ids[IDS];
        float d_out[IDS * COLS];
        uint64_t noise = s + 1;
        for (size_t i = 0; i < IDS; i++) ids[i] = (int64_t)(test_noise(&noise) % rows);
        for (size_t i = 0; i < IDS * COLS; i++)
            d_out[i] = (float)(int32_t)test_noise(&noise) * 0x1p-31f;
        const wte_status status = step_by(o, t, by, some_ids(ids, IDS), d_out, err);
        if (status != WTE_OK) return status;
    }
    return WTE_OK;
}
static void run(wte_optim *o, wte_table *t, path by, uint32_t begin, uint32_t end)
{
    wte_error err;
    assert_ok(run_steps(o, t, by, ROWS, begin, end, &err), err);
}

/* Saving ----------------------------------------------------------------------------------------
 */

static void copy_state(const wte_optim *from, wte_optim *to)
{
    const char *name;
    wte_row_source rows;
    wte_error err;
    uint32_t i = 0;
    for (; wte_optim_state(from, i, &name, &rows, &err) == WTE_OK; i++)
        assert_ok(wte_optim_load(to, name, &rows, &err), err);
    assert_int_equal(err.status, WTE_E_RANGE);
    assert_int_equal(err.where, i);
}

static void check_saved(const wte_optim_options *opt, wte_dtype dtype)
{
    const path by = path_of(opt);
    wte_table *whole = noise_table(ROWS, COLS, dtype, 3), *half = noise_table(ROWS, COLS, dtype, 3);
    wte_table *rest = table_of(ROWS, COLS, dtype);
    wte_optim *o = optim_of(whole, opt), *first = optim_of(half, opt);
    run(o, whole, by, 0, 20);
    finish(o);
    run(first, half, by, 0, 9);
    finish(first);
    memcpy(wte_table_data(rest), wte_table_data(half), table_bytes(half));
    wte_optim *second = optim_of(rest, opt);
    copy_state(first, second);
    wte_optim_free(first);
    assert_int_equal(wte_optim_n_steps(second), 9);
    run(second, rest, by, 9, 20);
    finish(second);
    assert_memory_equal(wte_table_data(whole), wte_table_data(rest), table_bytes(whole));
    wte_optim_free(o);
    wte_optim_free(second);
    wte_table_free(whole);
    wte_table_free(half);
    wte_table_free(rest);
}

static void a_run_that_was_saved_ends_like_an_unbroken_one(void **state)
{
    (void)state;
    static const uint8_t mask[2] = { 0xb5, 0x0e };
    wte_optim_options all[16];
    const size_t n = all_settings(all);
    for (size_t k = 0; k < n; k++) {
        check_saved(&all[k], WTE_F32);
        all[k].trainable = mask;
        all[k].rounding = WTE_ROUND_MASTER;
        check_saved(&all[k], WTE_BF16);
        all[k].rounding = WTE_ROUND_STOCHASTIC;
        check_saved(&all[k], WTE_F16);
    }
}

static void parts_have_pytorchs_names(void **state)
{
    (void)state;
    static const char *const names[][4] = {
        { "steps" },
        { "steps", "momentum_buffer" },
        { "steps", "exp_avg", "exp_avg_sq", "max_exp_avg_sq" },
        { "steps", "exp_avg", "exp_avg_sq" },
        { "steps", "exp_avg", "exp_avg_sq" },
        { "steps", "sum" },
        { "steps", "sum" },
        { "steps", "exp_avg_sq_row", "exp_avg_sq_col" },
    };
    wte_optim_options all[16];
    const size_t n = all_settings(all);
    wte_table *t = table_of(ROWS, COLS, WTE_F32);
    for (size_t k = 0; k < n; k++) {
        wte_optim *o = optim_of(t, &all[k]);
        for (uint32_t i = 0; i < 5; i++) {
            const char *name = "";
            wte_row_source rows;
            wte_error err;
            if (i == 4 || !names[k][i]) {
                assert_fails(wte_optim_state(o, i, &name, &rows, &err), err, WTE_E_RANGE, i,
                             "no part");
                assert_null(name);
                break;
            }
            assert_ok(wte_optim_state(o, i, &name, &rows, &err), err);
            assert_string_equal(name, names[k][i]);
        }
        wte_optim_free(o);
    }
    wte_table_free(t);
}

static void states_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const wte_optim_options opt = SETTING(.kind = WTE_OPTIM_ADAM);
    static const float values[ROWS * COLS] = { 0 };
    static const uint64_t count = 3;
    wte_table *t = table_of(ROWS, COLS, WTE_F32);
    wte_optim *o = optim_of(t, &opt);
    const char *name;
    wte_error err;
    wte_row_source rows = { ROWS, COLS, WTE_F32, .data = values, .row_bytes = COLS * 4 };
    const wte_row_source steps = { 1, 1, WTE_U64, .data = &count, .row_bytes = 8 };
    assert_fails(wte_optim_load(o, "sum\n", &rows, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "'sum\\x0a' is not in the state");
    assert_fails(wte_optim_load(o, "steps", &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "'steps' is 12 x 5, but this state has 1 x 1");
    rows.rows--;
    assert_fails(wte_optim_load(o, "exp_avg", &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "'exp_avg' is 11 x 5, but this state has 12 x 5");
    rows.rows++;
    rows.dtype = WTE_BF16;
    assert_fails(wte_optim_load(o, "exp_avg", &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "of bf16, but this state is of f32");
    assert_fails(wte_optim_load(o, NULL, &rows, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "name is NULL");
    assert_ok(wte_optim_load(o, "steps", &steps, &err), err);
    assert_int_equal(wte_optim_n_steps(o), 3);
    run(o, t, BY_LOOKUP, 0, 2);
    assert_fails(wte_optim_state(o, 0, &name, &rows, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "have missed up to 2 steps");
    assert_fails(wte_optim_load(o, "steps", &steps, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "have missed up to 2 steps");
    wte_optim_free(o);
    wte_table_free(t);
}

/* A part of numbers that cannot have been saved is refused as a whole. */
static void numbers_that_no_state_has_are_refused(void **state)
{
    (void)state;
    static const struct {
        wte_optim_kind kind;
        const char *part;
        float value;
        const char *message;
    } bad[] = {
        { WTE_OPTIM_ADAM, "exp_avg", NAN, "'exp_avg' is nan in row 7, column 2, but must be" },
        { WTE_OPTIM_ADAM, "exp_avg", INFINITY, "'exp_avg' is inf in row 7, column 2, but must be" },
        { WTE_OPTIM_ADAM, "exp_avg_sq", -1, "'exp_avg_sq' is -1 in row 7, column 2, but must be" },
        { WTE_OPTIM_ADAM, "max_exp_avg_sq", -1, "'max_exp_avg_sq' is -1 in row 7, column 2" },
        { WTE_OPTIM_ADAM, "master", NAN, "'master' is nan in row 7, column 2, but must be" },
        { WTE_OPTIM_SGD, "momentum_buffer", -INFINITY, "'momentum_buffer' is -inf in row 7" },
        { WTE_OPTIM_ADAGRAD, "sum", -0.5f, "'sum' is -0.5 in row 7, column 2" },
        { WTE_OPTIM_ROWWISE_ADAGRAD, "sum", -0.5f, "'sum' is -0.5 in row 7, column 0" },
        { WTE_OPTIM_ADAFACTOR, "exp_avg_sq_row", -1, "'exp_avg_sq_row' is -1 in row 7, column 0" },
        { WTE_OPTIM_ADAFACTOR, "exp_avg_sq_col", NAN,
          "'exp_avg_sq_col' is nan in row 0, column 2" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const bool adam = bad[i].kind == WTE_OPTIM_ADAM;
        const wte_optim_options opt =
            SETTING(.kind = bad[i].kind, .amsgrad = adam, .rounding = WTE_ROUND_MASTER,
                    .momentum = bad[i].kind == WTE_OPTIM_SGD ? 0.9 : 0);
        wte_table *t = noise_table(ROWS, COLS, adam ? WTE_BF16 : WTE_F32, 3);
        wte_optim *o = optim_of(t, &opt);
        float values[ROWS * COLS], before[ROWS * COLS];
        const char *name;
        wte_row_source rows;
        wte_error err;
        uint32_t k = 0;
        do {
            assert_ok(wte_optim_state(o, k++, &name, &rows, &err), err);
        } while (strcmp(name, bad[i].part) != 0);
        const size_t n = (size_t)(rows.rows * rows.cols);
        const size_t at = rows.cols == 1 ? 7 : rows.rows == 1 ? 2 : 7 * COLS + 2;
        memcpy(before, rows.data, n * sizeof *before);
        for (size_t c = 0; c < n; c++) values[c] = 3;
        wte_row_source given = rows;
        given.data = values;
        assert_ok(wte_optim_load(o, name, &given, &err), err);
        assert_memory_equal(rows.data, values, n * sizeof *values);
        given.data = before;
        assert_ok(wte_optim_load(o, name, &given, &err), err);
        given.data = values;
        values[at] = bad[i].value;
        assert_fails(wte_optim_load(o, name, &given, &err), err, WTE_E_RANGE,
                     rows.rows == 1 ? 0 : 7, bad[i].message);
        assert_memory_equal(rows.data, before, n * sizeof *before);
        wte_optim_free(o);
        wte_table_free(t);
    }
}

static void steps_that_cannot_be_counted_are_refused(void **state)
{
    (void)state;
    const wte_optim_options opt = SETTING(.kind = WTE_OPTIM_ADAM);
    wte_table *t = noise_table(ROWS, COLS, WTE_F32, 3);
    wte_optim *o = optim_of(t, &opt);
    static const double half = 2.5;
    uint64_t steps = UINT64_C(1) << 53;
    wte_row_source rows = { 1, 1, WTE_U64, .data = &steps, .row_bytes = 8 };
    wte_error err;
    assert_ok(wte_optim_load(o, "steps", &rows, &err), err);
    run(o, t, BY_LOOKUP, 0, 2); /* bias corrections are 1 */
    finish(o);
    assert_int_equal(wte_optim_n_steps(o), steps + 2);
    const float *row = wte_table_data(t);
    for (size_t i = 0; i < ROWS * COLS; i++) assert_true(isfinite(row[i]));
    steps++;
    assert_fails(wte_optim_load(o, "steps", &rows, &err), err, WTE_E_RANGE, 0,
                 "'steps' is 9007199254740993, but at most 9007199254740992 can be counted");
    steps = (uint64_t)-1; /* as a signed number -1 */
    assert_fails(wte_optim_load(o, "steps", &rows, &err), err, WTE_E_RANGE, 0,
                 "'steps' is 18446744073709551615, but at most");
    rows.dtype = WTE_I64;
    assert_fails(wte_optim_load(o, "steps", &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "'steps' is of i64, but this state is of u64");
    rows.dtype = WTE_F64;
    rows.data = &half;
    assert_fails(wte_optim_load(o, "steps", &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "'steps' is of f64, but this state is of u64");
    assert_int_equal(wte_optim_n_steps(o), (UINT64_C(1) << 53) + 2);
    wte_optim_free(o);
    wte_table_free(t);
}

/* Growing ---------------------------------------------------------------------------------------
 */

/* A table that grows equals one that was longer from the start, if only old rows were named before.
 */
static void check_grown(const wte_optim_options *opt, wte_dtype dtype, bool finished)
{
    enum { MORE = 70 };
    wte_table *longer = noise_table(MORE, COLS, dtype, 3),
              *begun = noise_table(ROWS, COLS, dtype, 3);
    wte_table *grown = table_of(MORE, COLS, dtype);
    uint8_t mask[MORE / 8 + 1], changed[MORE / 8 + 1], also[MORE / 8 + 1];
    wte_optim_options all = *opt;
    wte_error err;
    memset(mask, 0xff, sizeof mask);
    if (opt->trainable) {
        memcpy(mask, opt->trainable, ROWS / 8);
        mask[ROWS / 8] = (uint8_t)(opt->trainable[ROWS / 8] | 0xff << ROWS % 8);
        all.trainable = mask;
    }
    wte_optim *o = optim_of(longer, &all), *g = optim_of(begun, opt);
    run(o, longer, BY_LOOKUP, 0, 6);
    run(g, begun, BY_LOOKUP, 0, 6);
    if (finished) finish(g);
    memcpy(wte_table_data(grown), wte_table_data(longer), table_bytes(longer));
    memcpy(wte_table_data(grown), wte_table_data(begun), table_bytes(begun));
    assert_ok(wte_optim_grow(g, grown, &err), err);
    wte_table_free(begun);
    assert_ok(run_steps(o, longer, BY_LOOKUP, MORE, 6, 30, &err), err);
    assert_ok(run_steps(g, grown, BY_LOOKUP, MORE, 6, 30, &err), err);
    finish(o);
    finish(g);
    assert_memory_equal(wte_table_data(longer), wte_table_data(grown), table_bytes(longer));
    assert_int_equal(wte_optim_changed(o, changed), wte_optim_changed(g, also));
    assert_memory_equal(changed, also, sizeof also - 1);
    wte_optim_free(o);
    wte_optim_free(g);
    wte_table_free(longer);
    wte_table_free(grown);
}

static void state_comes_along_when_rows_are_added(void **state)
{
    (void)state;
    static const uint8_t mask[2] = { 0xb5, 0x0e };
    wte_optim_options all[16];
    const size_t n = all_settings(all);
    for (size_t k = 0; k < n; k++) {
        if (all[k].kind == WTE_OPTIM_ADAFACTOR || all[k].weight_decay > 0) continue;
        check_grown(&all[k], WTE_F32, false);
        all[k].rounding = WTE_ROUND_MASTER;
        check_grown(&all[k], WTE_BF16, true);
        all[k].trainable = mask;
        check_grown(&all[k], WTE_F16, false);
        check_grown(&all[k], WTE_F32, true);
    }
}

static void tables_that_are_not_the_same_but_longer_are_refused(void **state)
{
    (void)state;
    wte_table *t = table_of(ROWS, COLS, WTE_F32), *wide = table_of(ROWS, COLS + 1, WTE_F32),
              *half = table_of(ROWS, COLS, WTE_F16), *less = table_of(ROWS - 1, COLS, WTE_F32);
    wte_table *borrowed;
    wte_optim *o = optim_of(t, NULL);
    wte_error err;
    assert_ok(wte_table_wrap(wte_table_source(t), NULL, &borrowed, &err), err);
    assert_fails(wte_optim_grow(o, wide, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "from 12 x 5 f32 to 12 x 6 f32");
    assert_fails(wte_optim_grow(o, half, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, "12 x 5 f16");
    assert_fails(wte_optim_grow(o, less, &err), err, WTE_E_SHAPE, WTE_NO_INDEX, "11 x 5 f32");
    assert_fails(wte_optim_grow(o, borrowed, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "borrows its rows");
    run(o, t, BY_LOOKUP, 0, 2); /* goes on as before */
    wte_optim_free(o);
    wte_table_free(borrowed);
    wte_table_free(t);
    wte_table_free(wide);
    wte_table_free(half);
    wte_table_free(less);
}

/* Memory ----------------------------------------------------------------------------------------
 */

static void need_is_what_is_allocated(void **state)
{
    (void)state;
    static const uint8_t mask[2] = { 0xb5, 0x0e };
    wte_optim_options all[16];
    const size_t n = all_settings(all);
    for (size_t k = 0; k < 2 * n; k++) {
        wte_optim_options opt = all[k % n];
        test_memory memory;
        uint64_t bytes;
        wte_optim *o;
        wte_error err;
        wte_table *t = table_of(ROWS, COLS, WTE_BF16);
        test_memory_init(&memory, SIZE_MAX);
        opt.allocator = &memory.allocator;
        opt.rounding = WTE_ROUND_MASTER;
        if (k >= n) opt.trainable = mask;
        assert_ok(wte_optim_state_bytes(ROWS, COLS, WTE_BF16, &opt, &bytes, &err), err);
        assert_ok(wte_optim_create(t, &opt, &o, &err), err);
        assert_int_equal(memory.live_bytes, bytes + sizeof *o);
        wte_optim_free(o);
        assert_int_equal(memory.live, 0);
        opt.max_bytes = bytes;
        assert_ok(wte_optim_create(t, &opt, &o, &err), err);
        wte_optim_free(o);
        opt.max_bytes = bytes - 1;
        assert_fails(wte_optim_create(t, &opt, &o, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "(max_bytes)");
        wte_table_free(t);
    }
}

static void states_beyond_any_memory_are_refused(void **state)
{
    (void)state;
    const wte_optim_options opt = SETTING(.kind = WTE_OPTIM_ADAM);
    uint64_t bytes;
    wte_error err;
    assert_fails(wte_optim_state_bytes(UINT64_MAX / 64, 1024, WTE_F32, &opt, &bytes, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "2^64 bytes or more");
    assert_fails(wte_optim_state_bytes(1, UINT64_MAX / 4, WTE_F32, &opt, &bytes, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "2^64 bytes or more");
    assert_fails(wte_optim_state_bytes(UINT64_C(1) << 30, 1024, WTE_F32, &opt, &bytes, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "but the limit is 1099511627776");
    assert_fails(wte_optim_state_bytes(10, 10, WTE_I8, &opt, &bytes, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "the table is of i8; those of f32, f16 and bf16 can be trained");
    /* 8 bytes of moments a number, 5 a row, the list of steps, the scratch of a thread */
    assert_ok(wte_optim_state_bytes(1000, 768, WTE_F32, &opt, &bytes, &err), err);
    assert_true(bytes >= 1000 * 768 * 8 + 1000 * 5 && bytes < 1000 * 768 * 8 + 1000 * 5 + 150000);
}

/* Everything once, until a call fails. */
static wte_status do_all(const wte_optim_options *opt, wte_error *err)
{
    static const int64_t ids[3] = { 1, 2, 1 };
    wte_table *t = noise_table(ROWS, COLS, WTE_BF16, 3), *more = noise_table(70, COLS, WTE_BF16, 3);
    wte_optim *o;
    wte_status status = wte_optim_create(t, opt, &o, err);
    if (status == WTE_OK) status = run_steps(o, t, BY_LOOKUP, ROWS, 0, 3, err);
    if (status == WTE_OK) status = wte_optim_sync_rows(o, some_ids(ids, 3), err);
    if (status == WTE_OK) status = wte_optim_grow(o, more, err);
    if (status == WTE_OK) status = run_steps(o, more, BY_LOOKUP, 70, 3, 5, err);
    if (status == WTE_OK) status = wte_optim_sync_all(o, err);
    wte_optim_free(o);
    wte_table_free(t);
    wte_table_free(more);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const uint8_t mask[2] = { 0xb5, 0x0e };
    const wte_optim_options settings[] = {
        SETTING(.kind = WTE_OPTIM_ADAM, .rounding = WTE_ROUND_MASTER, .trainable = mask),
        SETTING(.kind = WTE_OPTIM_ADAM, .amsgrad = 1),
    };
    for (size_t k = 0; k < 2; k++) {
        wte_status status = WTE_E_MEMORY;
        size_t i = 0;
        for (; status != WTE_OK; i++) {
            wte_optim_options opt = settings[k];
            test_memory memory;
            wte_error err;
            test_memory_init(&memory, i);
            opt.allocator = &memory.allocator;
            status = do_all(&opt, &err);
            assert_int_equal(memory.live, 0);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        }
        assert_true(i > 10);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_was_saved_ends_like_an_unbroken_one),
        cmocka_unit_test(parts_have_pytorchs_names),
        cmocka_unit_test(states_that_do_not_fit_are_refused),
        cmocka_unit_test(numbers_that_no_state_has_are_refused),
        cmocka_unit_test(steps_that_cannot_be_counted_are_refused),
        cmocka_unit_test(state_comes_along_when_rows_are_added),
        cmocka_unit_test(tables_that_are_not_the_same_but_longer_are_refused),
        cmocka_unit_test(need_is_what_is_allocated),
        cmocka_unit_test(states_beyond_any_memory_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
