/* The check of gradients: right ones agree, and every wrong one is found. */
#include "lookup_help.h"

#include <math.h>
#include <wte/gradcheck.h>

#include "train/gradcheck.h"

enum { ROWS = 9, COLS = 5, IDS = 7, OPS = 5 };

static wte_error err;
static const int64_t some_ids[IDS] = { 0, 3, 8, 3, 1, 0, 5 };

static void fill(float *t, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) t[i] = (float)(int64_t)test_noise(&seed) * 0x1p-63f;
}

static void assert_near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound)) fail_msg("%.17g, not %.17g", got, want);
}

static void assert_agree(const wte_gradcheck_result *r, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i].wrong)
            fail_msg("%s, %s: [%llu, %llu] %.9g, not %.9g", what, r[i].gradient,
                     (unsigned long long)r[i].relative_at.row,
                     (unsigned long long)r[i].relative_at.col, r[i].relative_at.gradient,
                     r[i].relative_at.difference);
        assert_true(r[i].compared + r[i].tied > 0);
        assert_true(r[i].relative < 2e-5);
    }
}

static const size_t gradients[OPS] = { 2, 5, 3, 3, 1 };

/* Right gradients ----------------------------------------------------------------------------- */

static void gradients_of_every_type_of_table_agree(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F32, WTE_F64, WTE_F16, WTE_BF16 };
    float t[ROWS * COLS];
    uint8_t stored[ROWS * COLS * 8];
    fill(t, ROWS * COLS, 4);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        assert_ok(wte_convert(WTE_F32, t, types[k], stored, ROWS * COLS, NULL, &err), err);
        const wte_row_source table = view_of(stored, ROWS, COLS, types[k]);
        for (int op = 0; op < OPS; op++) {
            wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
            wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
            size_t n;
            opt.has_padding = k % 2;
            opt.padding_id = 3;
            opt.seed = k;
            assert_ok(wte_gradcheck(&table, ids_of(some_ids, WTE_I64, IDS), (wte_gradcheck_op)op,
                                    &opt, r, &n, &err),
                      err);
            assert_int_equal(n, gradients[op]);
            assert_agree(r, n, wte_gradcheck_name((wte_gradcheck_op)op));
        }
    }
}

static void threads_and_types_of_ids_change_nothing(void **state)
{
    (void)state;
    static const uint16_t narrow[IDS] = { 0, 3, 8, 3, 1, 0, 5 };
    float t[ROWS * COLS];
    fill(t, ROWS * COLS, 11);
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    for (int op = 0; op < OPS; op++) {
        wte_gradcheck_result one[WTE_GRADCHECK_RESULTS], three[WTE_GRADCHECK_RESULTS];
        wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
        size_t n, m;
        assert_ok(wte_gradcheck(&table, ids_of(some_ids, WTE_I64, IDS), (wte_gradcheck_op)op, &opt,
                                one, &n, &err),
                  err);
        assert_ok(wte_pool_create(3, &opt.pool, &err), err);
        assert_ok(wte_gradcheck(&table, ids_of(narrow, WTE_U16, IDS), (wte_gradcheck_op)op, &opt,
                                three, &m, &err),
                  err);
        wte_pool_free(opt.pool);
        assert_int_equal(n, m);
        for (size_t i = 0; i < n; i++) {
            assert_true(one[i].largest == three[i].largest);
            assert_true(one[i].relative == three[i].relative);
            assert_int_equal(one[i].at.row, three[i].at.row);
            assert_int_equal(one[i].compared, three[i].compared);
        }
    }
}

static void columns_are_drawn_from_wide_rows(void **state)
{
    (void)state;
    enum { WIDE = 100 };
    static float t[ROWS * WIDE];
    fill(t, ROWS * WIDE, 2);
    const wte_row_source table = view_of(t, ROWS, WIDE, WTE_F32);
    wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    size_t n;
    assert_ok(wte_gradcheck(&table, ids_of(some_ids, WTE_I64, 3), WTE_GRADCHECK_LOOKUP, &opt, r, &n,
                            &err),
              err);
    assert_int_equal(r[0].compared, 3 * 16);
    opt.columns = 7;
    assert_ok(
        wte_gradcheck(&table, ids_of(some_ids, WTE_I64, 3), WTE_GRADCHECK_HEAD, &opt, r, &n, &err),
        err);
    assert_int_equal(r[0].compared, 3 * 7);
    assert_true(r[1].compared % 7 == 0 && r[1].compared >= 3 * 7);
    assert_int_equal(r[2].compared, r[1].compared / 7);
    assert_agree(r, n, "head");
}

typedef struct seen {
    const char *name;
    float values[ROWS * COLS];
    uint64_t n;
} seen;

static void look(void *ctx, const char *gradient, float *values, uint64_t n)
{
    seen *s = ctx;
    if (strcmp(gradient, s->name) != 0) return;
    assert_true(n <= ROWS * COLS);
    memcpy(s->values, values, (size_t)n * sizeof *values);
    s->n = n;
}

static wte_status run_spoiled(const wte_row_source *table, wte_ids ids, wte_gradcheck_op op,
                              const wte_gradcheck_options *opt, wte__gradcheck_spoil *spoil,
                              void *ctx, wte_gradcheck_result *r, size_t *n)
{
    wte__gradcheck g = {
        .table = table, .results = r, .n_results = n, .spoil = spoil, .spoil_ctx = ctx
    };
    *n = 0;
    return wte__gradcheck_run(&g, ids, op, opt, &err);
}

/* PyTorch's numbers for W = [[1, 2], [3, 4], [5, 6]], ids 0 2, targets 1 0. */
static void a_tied_table_has_pytorchs_gradient(void **state)
{
    (void)state;
    static const float w[] = { 1, 2, 3, 4, 5, 6 };
    static const int64_t ids[] = { 0, 2 }, targets[] = { 1, 0 };
    static const double want[] = { -1.5024819374, -2.0024788380, -0.4987637103,
                                   -0.9975274205, 4.9987607002,  5.9975214005 };
    const wte_row_source table = view_of(w, 3, 2, WTE_F32);
    wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    seen s = { .name = "d_table" };
    size_t n;
    opt.targets = ids_of(targets, WTE_I64, 2);
    assert_ok(
        run_spoiled(&table, ids_of(ids, WTE_I64, 2), WTE_GRADCHECK_TIED, &opt, look, &s, r, &n),
        err);
    assert_int_equal(s.n, 6);
    for (size_t i = 0; i < 6; i++) assert_near((double)s.values[i], want[i], 2e-6);
    assert_agree(r, 1, "tied");
    assert_int_equal(r[0].compared, 6);
    /* the padding id's row, 2, gets the head's part alone; so does the difference */
    opt.has_padding = 1;
    opt.padding_id = 2;
    assert_ok(
        run_spoiled(&table, ids_of(ids, WTE_I64, 2), WTE_GRADCHECK_TIED, &opt, look, &s, r, &n),
        err);
    assert_agree(r, 1, "tied, padding");
    assert_near((double)s.values[0], want[0], 2e-6);
    assert_true(fabs((double)s.values[4]) < 3.1); /* half of 1 x 1 and of 5 x 1 at most */
}

static void what_comes_back_may_be_given(void **state)
{
    (void)state;
    static const float w[] = { 1, 2, 3, 4, 5, 6 }, d_out[] = { 1, 0, 10, 0, 100, 0 };
    static const int64_t ids[] = { 2, 0, 2 };
    const wte_row_source table = view_of(w, 3, 2, WTE_F32);
    wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    seen s = { .name = "d_table, sparse" };
    size_t n;
    opt.d_out = d_out;
    opt.d_out_rows = 3;
    assert_ok(
        run_spoiled(&table, ids_of(ids, WTE_I64, 3), WTE_GRADCHECK_LOOKUP, &opt, look, &s, r, &n),
        err);
    assert_int_equal(s.n, 4);
    assert_near((double)s.values[0], 10, 0);
    assert_near((double)s.values[2], 101, 0);
    assert_agree(r, n, "lookup");
    s.name = "d_table of means"; /* bags {2, 0}, {2}, {} */
    assert_ok(
        run_spoiled(&table, ids_of(ids, WTE_I64, 3), WTE_GRADCHECK_BAG, &opt, look, &s, r, &n),
        err);
    assert_near((double)s.values[0], 0.5, 0);
    assert_near((double)s.values[2], 10.5, 0);
    assert_agree(r, n, "bag");
    s.name = "d_table of maxima";
    opt.ids_per_bag = 3; /* {2, 0, 2}, {} */
    opt.d_out_rows = 2;
    assert_ok(
        run_spoiled(&table, ids_of(ids, WTE_I64, 3), WTE_GRADCHECK_BAG, &opt, look, &s, r, &n),
        err);
    assert_near((double)s.values[s.n - 2], 1, 0);
}

/* Wrong gradients ----------------------------------------------------------------------------- */

typedef struct change {
    const char *name;
    uint64_t at;
    float times, plus;
    bool done;
} change;

static void spoil_one(void *ctx, const char *gradient, float *values, uint64_t n)
{
    change *c = ctx;
    if (strcmp(gradient, c->name) != 0) return;
    assert_true(c->at < n);
    values[c->at] = values[c->at] * c->times + c->plus;
    c->done = true;
}

static void every_wrong_gradient_is_found(void **state)
{
    (void)state;
    static const struct {
        wte_gradcheck_op op;
        const char *name;
    } all[] = { { WTE_GRADCHECK_LOOKUP, "d_table, dense" },
                { WTE_GRADCHECK_LOOKUP, "d_table, sparse" },
                { WTE_GRADCHECK_BAG, "d_table of sums" },
                { WTE_GRADCHECK_BAG, "d_table of means" },
                { WTE_GRADCHECK_BAG, "d_table of maxima" },
                { WTE_GRADCHECK_BAG, "d_table of weighted sums" },
                { WTE_GRADCHECK_BAG, "d_weights" },
                { WTE_GRADCHECK_HEAD, "d_hidden" },
                { WTE_GRADCHECK_HEAD, "d_table" },
                { WTE_GRADCHECK_HEAD, "d_bias" },
                { WTE_GRADCHECK_LOSS, "d_hidden" },
                { WTE_GRADCHECK_LOSS, "d_table" },
                { WTE_GRADCHECK_LOSS, "d_bias" },
                { WTE_GRADCHECK_TIED, "d_table" } };
    static const change ways[] = { { .times = 1, .plus = 0.01f },
                                   { .times = 1, .plus = -0.01f },
                                   { .times = 1, .plus = NAN },
                                   { .times = 1, .plus = INFINITY } };
    float t[ROWS * COLS];
    fill(t, ROWS * COLS, 21);
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
            change c = ways[way];
            size_t n, wrong = 0;
            c.name = all[k].name;
            c.at = strcmp(c.name, "d_bias") != 0 && strcmp(c.name, "d_weights") != 0 ? 2 : 0;
            assert_ok(run_spoiled(&table, ids_of(some_ids, WTE_I64, IDS), all[k].op, NULL,
                                  spoil_one, &c, r, &n),
                      err);
            assert_true(c.done);
            for (size_t i = 0; i < n; i++) {
                if (r[i].wrong == 0) continue;
                wrong++;
                assert_string_equal(r[i].gradient, c.name);
                assert_int_equal(r[i].wrong, 1);
                assert_int_equal(r[i].relative_at.row, 0);
                assert_int_equal(r[i].relative_at.col, c.at);
                assert_int_equal(r[i].at.col, c.at);
                if (way < 2) assert_near(r[i].largest, 0.01, 1e-5);
                if (way >= 2) assert_true(isinf(r[i].relative));
            }
            assert_int_equal(wrong, 1);
        }
}

static void nothing_of_the_head(void *ctx, const char *gradient, float *values, uint64_t n)
{
    (void)gradient;
    (void)n;
    memset(values + *(const int64_t *)ctx * COLS, 0, COLS * sizeof *values);
}

static void a_mask_over_the_heads_part_of_the_padding_row_is_found(void **state)
{
    (void)state;
    float t[ROWS * COLS];
    int64_t padding = 3;
    fill(t, ROWS * COLS, 8);
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    size_t n;
    opt.has_padding = 1;
    opt.padding_id = padding;
    assert_ok(run_spoiled(&table, ids_of(some_ids, WTE_I64, IDS), WTE_GRADCHECK_TIED, &opt,
                          nothing_of_the_head, &padding, r, &n),
              err);
    assert_int_equal(r[0].wrong, COLS);
    assert_int_equal(r[0].relative_at.row, padding);
}

/* Maxima -------------------------------------------------------------------------------------- */

static void maxima_that_are_tied_are_named_and_left_out(void **state)
{
    (void)state;
    /* rows 0 and 1 are tied in column 0, 1 and 2 nearly in column 1; 3 is nowhere near */
    static const float w[] = { 1, 0, 1, 0.5f, 0, 0.50001f, -3, -3 };
    static const int64_t ids[] = { 0, 1, 2, 3, 0 };
    const wte_row_source table = view_of(w, 4, 2, WTE_F32);
    wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    size_t n;
    opt.ids_per_bag = 5;
    assert_ok(wte_gradcheck(&table, ids_of(ids, WTE_I64, 5), WTE_GRADCHECK_BAG, &opt, r, &n, &err),
              err);
    assert_agree(r, n, "bag");
    assert_int_equal(r[2].tied, 4);
    assert_int_equal(r[2].compared, 4);
    static const uint64_t want[][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 1 } };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(r[2].ties[i].row, want[i][0]);
        assert_int_equal(r[2].ties[i].col, want[i][1]);
    }
    assert_int_equal(r[0].tied, 0);
    /* one row twice in a bag is no tie */
    static const int64_t twice[] = { 3, 3 };
    opt.ids_per_bag = 2;
    assert_ok(
        wte_gradcheck(&table, ids_of(twice, WTE_I64, 2), WTE_GRADCHECK_BAG, &opt, r, &n, &err),
        err);
    assert_int_equal(r[2].tied, 0);
    assert_int_equal(r[2].compared, 2);
}

/* Refusals ------------------------------------------------------------------------------------ */

static wte_status zeros(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *error)
{
    (void)ctx;
    (void)ids;
    (void)error;
    memset(out, 0, n * sizeof(float));
    return WTE_OK;
}

/* Types that are none of ids, addresses that are not there, a padding id without a row. */
static void ids_of_no_type_of_ids_are_refused(void **state)
{
    (void)state;
    static const float w[] = { 1, 2, 3, 4 };
    static const int64_t ids[] = { 0, 1 };
    static const wte_dtype types[] = { WTE_DTYPE_NONE, WTE_F32, WTE_I16, WTE_U64 };
    const wte_row_source table = view_of(w, 2, 2, WTE_F32);
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    size_t n;
    for (int op = 0; op < OPS; op++) {
        const wte_gradcheck_op kind = (wte_gradcheck_op)op;
        wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            char message[80];
            snprintf(message, sizeof message, "ids of type %s, but ids are u16, i32, u32 or i64",
                     wte_dtype_name(types[k]));
            opt.targets = ids_of(NULL, WTE_I64, 0);
            assert_fails(wte_gradcheck(&table, ids_of(ids, types[k], 1), kind, &opt, r, &n, &err),
                         err, WTE_E_ARGUMENT, WTE_NO_INDEX, message);
            opt.targets = ids_of(ids, types[k], 1);
            assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), kind, &opt, r, &n, &err),
                         err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_gradcheck: targets: ids of type");
        }
        opt.targets = ids_of(NULL, WTE_I64, 2);
        assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 2), kind, &opt, r, &n, &err), err,
                     WTE_E_ARGUMENT, WTE_NO_INDEX, "targets: 2 ids, but no address of them");
        opt.targets.count = 0;
        opt.has_padding = 1;
        for (opt.padding_id = -1; opt.padding_id < 4; opt.padding_id += 3) /* -1, 2 */
            assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 2), kind, &opt, r, &n, &err),
                         err, WTE_E_RANGE, WTE_NO_INDEX, "has no row; there are 2 rows");
        opt.padding_id = 1;
        assert_ok(wte_gradcheck(&table, ids_of(ids, WTE_I64, 2), kind, &opt, r, &n, &err), err);
    }
}

static void bad_ids_and_sizes_are_refused(void **state)
{
    (void)state;
    static const float w[] = { 1, 2, 3, NAN }, d_out[] = { 1, 2, NAN, 1 };
    static const int64_t ids[] = { 0, 2, 0 }, targets[] = { 0, -100, -1 }, ignored[] = { -100 };
    static int64_t many[257];
    wte_row_source table = view_of(w, 2, 2, WTE_F32);
    wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
    wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
    size_t n = 9;
    const wte_gradcheck_op op = WTE_GRADCHECK_LOOKUP, head = WTE_GRADCHECK_HEAD;
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 3), op, NULL, r, &n, &err), err,
                 WTE_E_RANGE, 1, "id 2 at position 1 has no row; there are 2");
    assert_int_equal(n, 0);
    assert_fails(wte_gradcheck(&table, ids_of(many, WTE_I64, 257), op, NULL, r, &n, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "257 ids, but gradients of at most 256");
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 0), op, NULL, r, &n, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "0 ids and 2 columns");
    assert_fails(
        wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), (wte_gradcheck_op)9, NULL, r, &n, &err), err,
        WTE_E_ARGUMENT, WTE_NO_INDEX, "no operation has the number 9");
    opt.targets = ids_of(targets, WTE_I64, 2);
    assert_fails(wte_gradcheck(&table, ids_of(many, WTE_I64, 3), head, &opt, r, &n, &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX, "2 targets, but 3 ids");
    opt.targets.count = 3;
    assert_fails(wte_gradcheck(&table, ids_of(many, WTE_I64, 3), head, &opt, r, &n, &err), err,
                 WTE_E_RANGE, 2, "target -1 at position 2");
    opt.targets = ids_of(NULL, WTE_I64, 0);
    opt.d_out = d_out;
    opt.d_out_rows = 2;
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), op, &opt, r, &n, &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX, "d_out has 2 rows, but the output 1");
    assert_fails(wte_gradcheck(&table, ids_of(many, WTE_I64, 2), op, &opt, r, &n, &err), err,
                 WTE_E_RANGE, 1, "row 1 of d_out has nan");
    opt.d_out = NULL;
    static const int64_t second[] = { 1 };
    assert_fails(wte_gradcheck(&table, ids_of(second, WTE_I64, 1), op, &opt, r, &n, &err), err,
                 WTE_E_RANGE, 1, "row 1, column 1: nan has no slope");
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), head, &opt, r, &n, &err), err,
                 WTE_E_RANGE, 1, NULL);
    table.rows = 1;
    opt.targets = ids_of(ignored, WTE_I64, 1);
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), head, &opt, r, &n, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "every target is ignored");
    opt.tolerance = -1;
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), op, &opt, r, &n, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "a tolerance of -1");
    table.dtype = WTE_F8_E8M0;
    assert_fails(wte_gradcheck(&table, ids_of(ids, WTE_I64, 1), op, NULL, r, &n, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX, "have no numbers");
    const wte_row_source vast = {
        .rows = UINT64_C(1) << 40, .cols = 1, .dtype = WTE_F32, .read_rows = zeros
    };
    assert_fails(
        wte_gradcheck(&vast, ids_of(ids, WTE_I64, 1), WTE_GRADCHECK_TIED, NULL, r, &n, &err), err,
        WTE_E_LIMIT, WTE_NO_INDEX, "1 ids and 1099511627776 rows: their logits in f64");
}

static bool stop(void *ctx, uint64_t done, uint64_t total)
{
    *(bool *)ctx = done > 0 && done <= total;
    return false;
}

static void work_may_be_stopped(void **state)
{
    (void)state;
    float t[ROWS * COLS];
    fill(t, ROWS * COLS, 1);
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    for (int op = 0; op < OPS; op++) {
        bool sound = false;
        const wte_progress progress = { stop, &sound };
        wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
        wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
        size_t n;
        opt.progress = &progress;
        const wte_status status = wte_gradcheck(&table, ids_of(some_ids, WTE_I64, IDS),
                                                (wte_gradcheck_op)op, &opt, r, &n, &err);
        assert_int_equal(status, WTE_E_CANCELLED);
        assert_true(sound);
        assert_int_equal(n, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    float t[ROWS * COLS];
    fill(t, ROWS * COLS, 1);
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    for (int op = 0; op < OPS; op++) {
        wte_status status = WTE_E_MEMORY;
        for (size_t fail = 0; status != WTE_OK; fail++) {
            wte_gradcheck_options opt = WTE_GRADCHECK_OPTIONS_INIT;
            wte_gradcheck_result r[WTE_GRADCHECK_RESULTS];
            test_memory m;
            size_t n;
            test_memory_init(&m, fail);
            opt.allocator = &m.allocator;
            status = wte_gradcheck(&table, ids_of(some_ids, WTE_I64, IDS), (wte_gradcheck_op)op,
                                   &opt, r, &n, &err);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
            assert_int_equal(m.live, 0);
            assert_true(fail < 120);
        }
    }
}

static const struct CMUnitTest tests[] = {
    TEST("gradients of every type of table agree, with a padding id and without",
         gradients_of_every_type_of_table_agree),
    TEST("threads and types of ids change nothing", threads_and_types_of_ids_change_nothing),
    TEST("columns are drawn from wide rows", columns_are_drawn_from_wide_rows),
    TEST("a tied table has PyTorch's gradient; its padding row the head's part (H7)",
         a_tied_table_has_pytorchs_gradient),
    TEST("what comes back may be given", what_comes_back_may_be_given),
    TEST("every wrong gradient is found, with its place", every_wrong_gradient_is_found),
    TEST("a mask over the head's part of the padding row is found (H7)",
         a_mask_over_the_heads_part_of_the_padding_row_is_found),
    TEST("maxima that are tied are named and left out",
         maxima_that_are_tied_are_named_and_left_out),
    TEST("ids of no type of ids, and padding without a row, are refused",
         ids_of_no_type_of_ids_are_refused),
    TEST("bad ids, targets, sizes and numbers are refused", bad_ids_and_sizes_are_refused),
    TEST("work may be stopped", work_may_be_stopped),
    TEST("every allocation may fail, and nothing leaks", every_allocation_may_fail),
};
TEST_MAIN(tests)
