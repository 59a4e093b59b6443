/* What a head refuses and what it needs: every error with its place and message, the budget of work
 * memory, allocations that fail, rows that cannot be read. */
#include "head_help.h"

static const float numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static wte_row_source table_of(uint64_t rows, uint64_t cols)
{
    return (wte_row_source){
        .rows = rows, .cols = cols, .dtype = WTE_F32, .data = numbers, .row_bytes = cols * 4
    };
}
static wte_hidden hidden_of(uint64_t n, uint64_t dim)
{
    return (wte_hidden){ .data = numbers, .dtype = WTE_F32, .n = n, .dim = dim };
}

/* The same refusal from all functions that check. */
static void refuses(const wte_row_source *table, const wte_hidden *hidden,
                    const wte_head_options *opt, wte_status status, const char *part)
{
    float out[64];
    uint64_t least, best;
    const int32_t id = 0;
    const wte_ids ids = { .data = &id, .type = WTE_I32, .count = 1 };
    wte_error err;
    assert_fails(wte_head_logits(table, hidden, opt, out, 0, &err), err, status, WTE_NO_INDEX,
                 part);
    assert_fails(wte_head_logits_at(table, hidden, ids, opt, out, 0, &err), err, status,
                 WTE_NO_INDEX, part);
    assert_fails(wte_head_workspace_size(table, hidden, opt, &least, &best, &err), err, status,
                 WTE_NO_INDEX, part);
}

static void shapes_and_types_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    wte_row_source t = table_of(2, 2);
    wte_hidden h = hidden_of(1, 3);
    refuses(&t, &h, NULL, WTE_E_SHAPE, "hidden vectors have 3 numbers, but the table's rows 2");
    h = hidden_of(1, 2);
    h.dtype = WTE_F64;
    refuses(&t, &h, NULL, WTE_E_UNSUPPORTED, "hidden of type f64, but f32, f16 or bf16 is taken");
    h = hidden_of(1, 2);
    h.row_bytes = 7;
    refuses(&t, &h, NULL, WTE_E_ARGUMENT,
            "the stride of hidden vectors is 7 bytes, but one takes 8");
    h = hidden_of(1, 2);
    h.data = NULL;
    refuses(&t, &h, NULL, WTE_E_ARGUMENT, "no address for 1 hidden vectors");
    h = hidden_of(UINT64_MAX / 4, 2);
    refuses(&t, &h, NULL, WTE_E_LIMIT, "hidden vectors of 2 numbers are more than memory can hold");
    refuses(&t, NULL, NULL, WTE_E_ARGUMENT, "hidden");
    h = hidden_of(1, 2);
    refuses(NULL, &h, NULL, WTE_E_ARGUMENT, NULL);
    t.dtype = WTE_C64;
    t.row_bytes = 16;
    refuses(&t, &h, NULL, WTE_E_UNSUPPORTED, "has no numbers to multiply with");
}

static void options_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    const wte_row_source t = table_of(2, 2);
    const wte_hidden h = hidden_of(1, 2);
    const wte_head_options init = WTE_HEAD_OPTIONS_INIT;
    static const char *const names[] = { "chain.hidden_times is inf", "chain.hidden_over is inf",
                                         "chain.times is inf", "chain.over is inf",
                                         "chain.cap is inf" };
    for (size_t i = 0; i < 5; i++) {
        wte_head_options opt = init;
        float *const at[] = { &opt.chain.hidden_scale, &opt.chain.hidden_divisor, &opt.chain.scale,
                              &opt.chain.divisor, &opt.chain.softcap };
        *at[i] = INFINITY;
        refuses(&t, &h, &opt, WTE_E_ARGUMENT, names[i]);
        *at[i] = NAN;
        refuses(&t, &h, &opt, WTE_E_ARGUMENT, "nan");
    }
    wte_head_options opt = init;
    opt.chain.softcap = -1;
    refuses(&t, &h, &opt, WTE_E_ARGUMENT, "chain.cap is -1");
    opt = init;
    opt.bias = numbers;
    opt.bias_dtype = WTE_I8;
    refuses(&t, &h, &opt, WTE_E_UNSUPPORTED, "a bias of type i8, but f32, f16 or bf16 is taken");
    opt = init;
    opt.precision = (wte_precision)7;
    refuses(&t, &h, &opt, WTE_E_ARGUMENT, "no precision has the number 7");
    opt = init;
    opt.struct_size = 3;
    refuses(&t, &h, &opt, WTE_E_ARGUMENT, NULL);
}

static void logits_need_a_place(void **state)
{
    (void)state;
    const wte_row_source t = table_of(2, 2);
    wte_hidden h = hidden_of(2, 2);
    wte_error err;
    float out[8];
    uint64_t need;
    assert_fails(wte_head_logits(&t, &h, NULL, NULL, 0, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no address for the logits");
    assert_fails(wte_head_logits(&t, &h, NULL, out, 4, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the stride of logits is 4 bytes, but one takes 8");
    assert_fails(wte_head_logits(&t, &h, NULL, out, 10, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "floats are at multiples of 4");
    h = hidden_of(UINT64_C(1) << 59, 0);
    const wte_row_source wide = { .rows = UINT64_C(1) << 40, .dtype = WTE_F32, .data = numbers };
    assert_fails(wte_head_logits(&wide, &h, NULL, out, 0, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "logits are more than memory can hold");
    h = hidden_of(2, 2);
    assert_fails(wte_head_workspace_size(&t, &h, NULL, NULL, &need, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "wte_head_workspace_size: least");
    assert_fails(wte_head_workspace_size(&t, &h, NULL, &need, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "wte_head_workspace_size: best");
}

static void ids_outside_the_table_are_refused(void **state)
{
    (void)state;
    const wte_row_source t = table_of(2, 2);
    const wte_hidden h = hidden_of(1, 2);
    const int64_t ids[] = { 1, 0, -1, 2 };
    float out[4];
    wte_error err;
    wte_ids list = { .data = ids, .type = WTE_I64, .count = 3 };
    assert_fails(wte_head_logits_at(&t, &h, list, NULL, out, 0, &err), err, WTE_E_RANGE, 2,
                 "id -1 at position 2 is out of range: the table has 2 rows");
    list = (wte_ids){ .data = ids + 3, .type = WTE_I64, .count = 1 };
    assert_fails(wte_head_logits_at(&t, &h, list, NULL, out, 0, &err), err, WTE_E_RANGE, 0,
                 "id 2 at position 0");
    list.type = WTE_F32;
    assert_fails(wte_head_logits_at(&t, &h, list, NULL, out, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "ids of type f32, but ids are u16, i32, u32 or i64");
    list = (wte_ids){ .type = WTE_I64, .count = 1 };
    assert_fails(wte_head_logits_at(&t, &h, list, NULL, out, 0, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "head: ids");
}

/* Work memory -----------------------------------------------------------------------------------
 */

typedef struct sort {
    wte_dtype dtype;
    wte_block_type block;
    wte_precision precision;
    uint64_t n;
} sort;

static const sort sorts[] = {
    { WTE_F32, WTE_BLOCK_NONE, WTE_PRECISION_EXACT, 5 },
    { WTE_I8, WTE_BLOCK_NONE, WTE_PRECISION_EXACT, 40 },
    { WTE_F32, WTE_BLOCK_Q4_K, WTE_PRECISION_EXACT, 2 },
    { WTE_F32, WTE_BLOCK_Q8_0, WTE_PRECISION_EXACT, 40 },
    { WTE_F32, WTE_BLOCK_Q8_0, WTE_PRECISION_FAST, 5 },
    { WTE_F32, WTE_BLOCK_Q8_0, WTE_PRECISION_FAST, 40 },
    { WTE_F16, WTE_BLOCK_NONE, WTE_PRECISION_FAST, 20 },
    { WTE_BF16, WTE_BLOCK_NONE, WTE_PRECISION_FAST, 40 },
};
#define N_SORTS (sizeof sorts / sizeof sorts[0])
enum { ROWS = 100, DIM = 512 };

/* A hidden vector that has to be copied, and a bias. */
static wte_head_options all_options(const sort *s, const float *bias)
{
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    opt.precision = s->precision;
    opt.chain.hidden_scale = 0.5f;
    opt.bias = bias;
    opt.bias_dtype = WTE_F32;
    return opt;
}

static void the_budget_is_kept_and_less_is_refused(void **state)
{
    (void)state;
    float *h, bias[ROWS] = { 1 };
    float *want = head_alloc(40 * ROWS * sizeof *want), *got = head_alloc(40 * ROWS * sizeof *got);
    for (size_t i = 0; i < N_SORTS; i++) {
        head_table t;
        test_memory m;
        uint64_t least, best;
        wte_error err;
        head_table_make(&t, sorts[i].dtype, sorts[i].block, ROWS, DIM, 0);
        const wte_hidden hidden = head_hidden(&h, sorts[i].n, DIM);
        wte_head_options opt = all_options(&sorts[i], bias);
        assert_ok(wte_pool_create(i % 2 ? 3 : 1, &opt.pool, &err), err);
        assert_ok(wte_head_workspace_size(&t.rows, &hidden, &opt, &least, &best, &err), err);
        assert_true(least < best);
        test_memory_init(&m, SIZE_MAX);
        opt.allocator = &m.allocator;
        const uint64_t budgets[] = { best, (least + best) / 2, least };
        for (size_t b = 0; b < 3; b++) {
            float *out = b ? got : want;
            opt.work_bytes = budgets[b];
            m.peak_bytes = 0;
            assert_ok(wte_head_logits(&t.rows, &hidden, &opt, out, 0, &err), err);
            assert_true(m.peak_bytes > 0 && m.peak_bytes <= budgets[b]);
            /* exact logits do not depend on how vectors are parted */
            if (b && opt.precision == WTE_PRECISION_EXACT)
                assert_memory_equal(got, want, sorts[i].n * ROWS * sizeof *got);
        }
        opt.work_bytes = 1;
        assert_fails(wte_head_logits(&t.rows, &hidden, &opt, got, 0, &err), err, WTE_E_LIMIT,
                     WTE_NO_INDEX, "head: 1 bytes of work memory, but ");
        const uint64_t needed = strtoull(err.message + 34, NULL, 10);
        assert_true(needed > 1 && needed <= least); /* which is for all functions of heads */
        opt.work_bytes = needed - 1;
        assert_fails(wte_head_logits(&t.rows, &hidden, &opt, got, 0, &err), err, WTE_E_LIMIT,
                     WTE_NO_INDEX, "bytes of work memory, but");
        opt.work_bytes = needed;
        assert_ok(wte_head_logits(&t.rows, &hidden, &opt, got, 0, &err), err);
        assert_int_equal(m.live, 0);
        wte_pool_free(opt.pool);
        head_table_free(&t);
        free(h);
    }
    free(want);
    free(got);
}

/* The ids are read where they lie: many take no more work memory than few. */
static void chosen_rows_keep_the_budget(void **state)
{
    (void)state;
    enum { CHOSEN = 200000 };
    uint16_t *list = head_alloc(CHOSEN * sizeof *list);
    float *all = head_alloc(ROWS * sizeof *all), *out = head_alloc(CHOSEN * sizeof *out), *h;
    for (size_t i = 0; i < CHOSEN; i++) list[i] = (uint16_t)(i * 7 % ROWS);
    const wte_ids ids = { list, WTE_U16, 0, CHOSEN };
    const wte_hidden hidden = head_hidden(&h, 1, DIM);
    for (size_t i = 0; i < N_SORTS; i++) {
        head_table t;
        test_memory m;
        uint64_t best;
        wte_error err;
        head_table_make(&t, sorts[i].dtype, sorts[i].block, ROWS, DIM, 0);
        wte_head_options opt = all_options(&sorts[i], NULL);
        test_memory_init(&m, SIZE_MAX);
        opt.allocator = &m.allocator;
        assert_ok(wte_head_workspace_size(&t.rows, &hidden, &opt, &opt.work_bytes, &best, &err),
                  err);
        assert_ok(wte_head_logits(&t.rows, &hidden, &opt, all, 0, &err), err);
        m.peak_bytes = 0;
        assert_ok(wte_head_logits_at(&t.rows, &hidden, ids, &opt, out, 0, &err), err);
        assert_true(m.peak_bytes > 0 && m.peak_bytes <= opt.work_bytes);
        for (size_t k = 0; k < CHOSEN; k++) assert_memory_equal(out + k, all + list[k], 4);
        opt.work_bytes = 1;
        assert_fails(wte_head_logits_at(&t.rows, &hidden, ids, &opt, out, 0, &err), err,
                     WTE_E_LIMIT, WTE_NO_INDEX, "head: 1 bytes of work memory, but ");
        head_table_free(&t);
    }
    free(list);
    free(all);
    free(out);
    free(h);
}

/* Sizes beyond 64 bits are not wrapped to small ones. */
static void what_cannot_be_counted_is_over_every_budget(void **state)
{
    (void)state;
    const uint64_t dim = UINT64_C(1) << 60;
    const wte_row_source table = {
        .rows = 1, .cols = dim, .dtype = WTE_F32, .data = numbers, .row_bytes = dim * 4
    };
    const wte_hidden hidden = { .data = numbers, .dtype = WTE_F16, .n = 1, .dim = dim };
    uint64_t least, best;
    /* behind all of the table, and never written */
    float *out = (float *)(UINTPTR_MAX / 4 * 4 - 64);
    wte_error err;
    assert_ok(wte_head_workspace_size(&table, &hidden, NULL, &least, &best, &err), err);
    assert_true(least >= dim * 4);
    assert_fails(wte_head_logits(&table, &hidden, NULL, out, 0, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "bytes of work memory, but");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { IDS = 3 };
    const uint16_t ids[IDS] = { 7, 99, 7 };
    const wte_ids list = { .data = ids, .type = WTE_U16, .count = IDS };
    float *h, bias[ROWS] = { 1 }, *out = head_alloc(40 * ROWS * sizeof *out);
    for (size_t i = 0; i < N_SORTS * 2; i++) {
        const sort *s = &sorts[i / 2];
        head_table t;
        test_memory m;
        wte_error err;
        size_t fail_at = 0;
        head_table_make(&t, s->dtype, s->block, ROWS, DIM, 0);
        const wte_hidden hidden = head_hidden(&h, s->n, DIM);
        wte_head_options opt = all_options(s, bias);
        for (;; fail_at++) {
            test_memory_init(&m, fail_at);
            opt.allocator = &m.allocator;
            const wte_status status =
                i % 2 ? wte_head_logits_at(&t.rows, &hidden, list, &opt, out, 0, &err)
                      : wte_head_logits(&t.rows, &hidden, &opt, out, 0, &err);
            assert_int_equal(m.live, 0);
            if (status == WTE_OK) break;
            assert_int_equal(status, WTE_E_MEMORY);
        }
        assert_int_equal(fail_at, 1);
        head_table_free(&t);
        free(h);
    }
    free(out);
}

/* Readers that fail: what the lowest rows say is what comes back --------------------------------
 */

static wte_status fail_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    (void)ctx;
    memset(out, 0, n * 4096 * sizeof(float));
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= 30) {
            err->status = WTE_E_IO;
            err->where = ids[i];
            snprintf(err->message, sizeof err->message, "row %u is lost", (unsigned)ids[i]);
            return WTE_E_IO;
        }
    return WTE_OK;
}

static void a_row_that_cannot_be_read_is_reported(void **state)
{
    (void)state;
    enum { LONG = 4096, MANY = 200 }; /* 24 rows a tile */
    const wte_row_source table = {
        .rows = MANY, .cols = LONG, .dtype = WTE_F32, .read_rows = fail_rows
    };
    float *h, *out = head_alloc(MANY * sizeof *out);
    const wte_hidden hidden = head_hidden(&h, 1, LONG);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_error err;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        assert_fails(wte_head_logits(&table, &hidden, &opt, out, 0, &err), err, WTE_E_IO, 30,
                     "row 30 is lost");
        wte_pool_free(opt.pool);
    }
    free(out);
    free(h);
}

static const struct CMUnitTest tests[] = {
    TEST("shapes and types that do not fit are refused",
         shapes_and_types_that_do_not_fit_are_refused),
    TEST("options that mean nothing are refused", options_that_mean_nothing_are_refused),
    TEST("logits need a place", logits_need_a_place),
    TEST("ids outside the table are refused", ids_outside_the_table_are_refused),
    TEST("the budget is kept, and less is refused", the_budget_is_kept_and_less_is_refused),
    TEST("chosen rows keep the budget, however many", chosen_rows_keep_the_budget),
    TEST("what cannot be counted is over every budget",
         what_cannot_be_counted_is_over_every_budget),
    TEST("every allocation may fail", every_allocation_may_fail),
    TEST("a row that cannot be read is reported", a_row_that_cannot_be_read_is_reported),
};
TEST_MAIN(tests)
