/* The parts of a gradient in order: what optimizers consume. */
#include "grad_help.h"

#include "optim/contributions.h"

#define ROWS 23u
#define COLS 5u
#define IDS  97u

static const wte_grad_options plain = WTE_GRAD_OPTIONS_INIT;

static void parts_are_in_order(void **state)
{
    (void)state;
    const int32_t ids[] = { 4, 2, 4, 0, 2, 4 };
    const float d_out[6] = { 1, 2, 4, 8, 16, 32 };
    wte__contributions p;
    wte_error err;
    assert_ok(wte__contributions_of_lookup(
                  5, 1, &(wte__bag_back){ .ids = ids_of(ids, WTE_I32, 6), .d_out = d_out }, NULL,
                  &plain, &p, &err),
              err);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.count, 6);
    assert_memory_equal(p.rows, ((uint64_t[]){ 0, 2, 4 }), 24);
    assert_memory_equal(p.first, ((uint64_t[]){ 0, 1, 3, 6 }), 32);
    assert_memory_equal(p.from, ((uint32_t[]){ 3, 1, 4, 0, 2, 5 }), 24);
    assert_null(p.factor);
    assert_null(p.member);
    const float want[] = { 8, 18, 37 };
    for (uint64_t u = 0; u < 3; u++) {
        float sum = -1;
        wte__contributions_sum(&p, u, 0, 1, &sum);
        assert_float_equal(sum, want[u], 0);
    }
    wte__contributions_free(&p);
    assert_null(p.block);
    wte__contributions_free(&p);
}

/* Tables of so many rows: the number of passes differs, and with it where the keys end. */
static void any_number_of_rows_is_sorted(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 1,
                                      2,
                                      3,
                                      2048,
                                      2049,
                                      4194304,
                                      4194305,
                                      UINT64_C(1) << 33,
                                      (UINT64_C(1) << 44) + 1,
                                      UINT64_C(1) << 57 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int64_t ids[IDS];
        float d_out[IDS] = { 0 };
        uint64_t seed = k + 1;
        wte__contributions p;
        wte_error err;
        for (size_t i = 0; i < IDS; i++)
            ids[i] = (int64_t)(i % 3 ? test_noise(&seed) % sizes[k] : sizes[k] - 1);
        assert_ok(wte__contributions_of_lookup(
                      sizes[k], 1,
                      &(wte__bag_back){ .ids = ids_of(ids, WTE_I64, IDS), .d_out = d_out }, NULL,
                      &plain, &p, &err),
                  err);
        assert_int_equal(p.count, IDS);
        for (uint64_t u = 0; u < p.n; u++) {
            assert_true(u == 0 || p.rows[u - 1] < p.rows[u]);
            assert_true(p.first[u] < p.first[u + 1]);
            for (uint64_t i = p.first[u]; i < p.first[u + 1]; i++) {
                assert_true((uint64_t)ids[p.from[i]] == p.rows[u]);
                assert_true(i == p.first[u] || p.from[i - 1] < p.from[i]);
            }
        }
        assert_int_equal(p.first[p.n], IDS);
        wte__contributions_free(&p);
    }
}

/* Sums of all rows against the naive ones. */
static void check_sums(const wte__contributions *p, const naive_part *part, size_t n,
                       const float *d_out, const uint64_t *max_at)
{
    uint64_t u = 0;
    for (int64_t row = 0; row < (int64_t)ROWS; row++) {
        float sum[COLS];
        if (!naive_count(part, n, row)) continue;
        assert_true(u < p->n);
        assert_int_equal(p->rows[u], row);
        wte__contributions_sum(p, u, 0, COLS, sum);
        for (size_t c = 0; c < COLS; c++) {
            const float want = naive_sum(part, n, row, d_out, COLS, c, max_at, p->f64_sums);
            float one;
            assert_memory_equal(&sum[c], &want, sizeof want);
            wte__contributions_sum(p, u, c, c + 1, &one);
            assert_memory_equal(&one, &want, sizeof want);
        }
        u++;
    }
    assert_int_equal(u, p->n);
}

static void lookups_have_their_parts(void **state)
{
    (void)state;
    int64_t ids[IDS], padding = 3;
    float d_out[IDS * COLS];
    uint64_t seed = 17;
    fill_noise(d_out, IDS * COLS, &seed);
    for (int flags = 0; flags < 16; flags++) {
        wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
        wte_grad_options how = WTE_GRAD_OPTIONS_INIT;
        naive_part part[IDS];
        wte__contributions p;
        wte_error err;
        for (size_t i = 0; i < IDS; i++) ids[i] = (int64_t)(test_noise(&seed) % ROWS / 2);
        if (flags & 1) o.scale = 0.3f;
        o.scale_by_freq = flags >> 1 & 1;
        if (flags & 4) o.ignore_ids = &padding, o.n_ignore_ids = 1;
        how.f64_sums = flags >> 3 & 1;
        for (size_t i = 0; i < IDS; i++)
            part[i] = (naive_part){ (flags & 4) && ids[i] == padding ? -1 : ids[i], i, i, 1 };
        for (size_t i = 0; i < IDS; i++) {
            const double count = o.scale_by_freq ? (double)naive_count(part, IDS, ids[i]) : 1;
            part[i].factor = (float)((double)(o.scale != 0 ? o.scale : 1) / count);
        }
        assert_ok(wte__contributions_of_lookup(
                      ROWS, COLS,
                      &(wte__bag_back){ .ids = ids_of(ids, WTE_I64, IDS), .d_out = d_out }, &o,
                      &how, &p, &err),
                  err);
        check_sums(&p, part, IDS, d_out, NULL);
        wte__contributions_free(&p);
    }
}

#define BAGS 11u

/* Ids, offsets and weights of bags of all lengths, some empty; masked and ignored members. */
typedef struct bags {
    int64_t ids[IDS], offsets[BAGS], bag_padding, own_padding;
    uint8_t mask[IDS];
    float weights[IDS], d_out[BAGS * COLS];
    uint64_t max_at[BAGS * COLS];
    wte_bag_options bag;
    wte_backward_options own;
    naive_part part[IDS];
} bags;

static void make_bags(bags *b, wte_bag_mode mode, int flags, uint64_t *seed)
{
    *b = (bags){ .bag = WTE_BAG_OPTIONS_INIT, .own = WTE_BACKWARD_OPTIONS_INIT };
    b->bag_padding = -7;
    b->own_padding = 4;
    for (size_t i = 0; i < IDS; i++) {
        b->ids[i] = i % 13 == 5 ? -7 : (int64_t)(test_noise(seed) % ROWS / 2);
        b->mask[i] = test_noise(seed) % 5 != 0;
    }
    fill_noise(b->weights, IDS, seed);
    fill_noise(b->d_out, BAGS * COLS, seed);
    for (size_t i = 1; i < BAGS; i++) {
        b->offsets[i] = b->offsets[i - 1] + (int64_t)(test_noise(seed) % 12);
        if (i % 4 == 3) b->offsets[i] = b->offsets[i - 1];
    }
    b->bag.mode = mode;
    b->bag.ignore_ids = &b->bag_padding;
    b->bag.n_ignore_ids = 1;
    if (flags & 1) b->bag.mask = b->mask, b->bag.mask_dtype = WTE_BOOL;
    if ((flags & 2) && mode == WTE_BAG_SUM) b->bag.weights = b->weights;
    if (flags & 4) b->own.ignore_ids = &b->own_padding, b->own.n_ignore_ids = 1;
    b->own.scale_by_freq = flags >> 3 & 1;
    if (flags & 16) b->own.scale = 1.7f;
    if (mode == WTE_BAG_MAX) b->bag.argmax = b->max_at;
}

static void naive_parts_of(bags *b)
{
    for (size_t bag = 0; bag < BAGS; bag++) {
        const size_t begin = (size_t)b->offsets[bag];
        const size_t end = bag + 1 < BAGS ? (size_t)b->offsets[bag + 1] : IDS;
        double members = 0;
        for (size_t i = begin; i < end; i++) {
            const bool member = b->ids[i] >= 0 && (!b->bag.mask || b->mask[i]);
            const bool cut = b->own.n_ignore_ids && b->ids[i] == b->own_padding;
            members += member;
            b->part[i] = (naive_part){ member && !cut ? b->ids[i] : -1, bag, i, 0 };
        }
        for (size_t i = begin; i < end; i++)
            b->part[i].factor = b->bag.mode == WTE_BAG_MEAN ? (float)members : 1;
    }
    for (size_t i = 0; i < IDS; i++) {
        const double count =
            b->own.scale_by_freq ? (double)naive_count(b->part, IDS, b->part[i].id) : 1;
        const double scale = (double)(b->own.scale != 0 ? b->own.scale : 1);
        const double weight = b->bag.weights ? (double)b->weights[i] : 1;
        b->part[i].factor = (float)(scale * weight / ((double)b->part[i].factor * count));
    }
}

static void bags_have_their_parts(void **state)
{
    (void)state;
    uint64_t seed = 29;
    float table[ROWS * COLS], out[BAGS * COLS];
    fill_noise(table, ROWS * COLS, &seed);
    const wte_row_source rows = view_of(table, ROWS, COLS, WTE_F32);
    for (int mode = 0; mode < 3; mode++)
        for (int flags = 0; flags < 32; flags++) {
            static bags b;
            wte__contributions p;
            wte_error err;
            make_bags(&b, (wte_bag_mode)mode, flags, &seed);
            const wte_ids ids = ids_of(b.ids, WTE_I64, IDS);
            const wte_ids offsets = ids_of(b.offsets, WTE_I64, BAGS);
            assert_ok(wte_bag_reduce(&rows, ids, offsets, &b.bag, out, 0, &err), err);
            naive_parts_of(&b);
            const wte__bag_back back = { ids, offsets, &b.bag, b.d_out, 0 };
            assert_ok(wte__contributions_of_bag(ROWS, COLS, &back, &b.own, &plain, &p, &err), err);
            check_sums(&p, b.part, IDS, b.d_out, mode == WTE_BAG_MAX ? b.max_at : NULL);
            wte__contributions_free(&p);
        }
}

static void memory_may_fail_at_any_time(void **state)
{
    (void)state;
    static bags b;
    uint64_t seed = 3;
    make_bags(&b, WTE_BAG_MEAN, 4, &seed);
    wte_status status = WTE_E_MEMORY;
    size_t fail = 0;
    for (; status != WTE_OK; fail++) {
        test_memory m;
        test_memory_init(&m, fail);
        wte_grad_options how = WTE_GRAD_OPTIONS_INIT;
        how.allocator = &m.allocator;
        const wte__bag_back back = { ids_of(b.ids, WTE_I64, IDS), ids_of(b.offsets, WTE_I64, BAGS),
                                     &b.bag, b.d_out, 0 };
        wte__contributions p;
        wte_error err;
        status = wte__contributions_of_bag(ROWS, COLS, &back, &b.own, &how, &p, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        wte__contributions_free(&p);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(fail, 4); /* the ids to ignore, the parts, what sorting needs */
}

/* Large, small, with more arrays: each as if it were the first; after a failure, too. */
static void memory_serves_again(void **state)
{
    (void)state;
    static bags b;
    static const uint64_t counts[] = { 90, 10, 90, 97 };
    int64_t ids[IDS];
    float d_out[IDS * COLS];
    uint64_t seed = 41;
    test_memory m;
    test_memory_init(&m, SIZE_MAX);
    wte_grad_options how = WTE_GRAD_OPTIONS_INIT;
    wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
    wte__contributions p = { 0 };
    wte_error err;
    how.allocator = &m.allocator;
    fill_noise(d_out, IDS * COLS, &seed);
    for (size_t i = 0; i < IDS; i++) ids[i] = (int64_t)(test_noise(&seed) % ROWS);
    for (size_t k = 0; k < 4; k++) {
        naive_part part[IDS];
        o.scale = k > 2 ? 0.25f : 1;
        for (size_t i = 0; i < IDS; i++) part[i] = (naive_part){ ids[i], i, i, o.scale };
        assert_ok(wte__contributions_again_lookup(
                      ROWS, COLS,
                      &(wte__bag_back){ .ids = ids_of(ids, WTE_I64, counts[k]), .d_out = d_out },
                      &o, &how, &p, &err),
                  err);
        check_sums(&p, part, counts[k], d_out, NULL);
        assert_int_equal(m.calls, k > 2 ? 4 : 2);
    }
    make_bags(&b, WTE_BAG_MEAN, 0, &seed);
    naive_parts_of(&b);
    const wte__bag_back back = { ids_of(b.ids, WTE_I64, IDS), ids_of(b.offsets, WTE_I64, BAGS),
                                 &b.bag, b.d_out, 0 };
    assert_fails(wte__contributions_again_bag(3, COLS, &back, &b.own, &how, &p, &err), err,
                 WTE_E_RANGE, err.where, "out of range");
    assert_int_equal(p.n, 0);
    assert_ok(wte__contributions_again_bag(ROWS, COLS, &back, &b.own, &how, &p, &err), err);
    check_sums(&p, b.part, IDS, b.d_out, NULL);
    wte__contributions_free(&p);
    assert_int_equal(m.live, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("rows come in ascending order, their parts in the order of ids", parts_are_in_order),
    TEST("any number of rows is sorted", any_number_of_rows_is_sorted),
    TEST("the parts of a lookup: scale, frequency, padding, sums in f64", lookups_have_their_parts),
    TEST("the parts of bags: sums, weights, means, maxima; members masked, ignored, cut",
         bags_have_their_parts),
    TEST("memory that fails at any time is told, and nothing leaks", memory_may_fail_at_any_time),
    TEST("the memory of earlier parts serves again", memory_serves_again),
};
TEST_MAIN(tests)
