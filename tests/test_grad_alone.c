/* Parts whose rows may come in any order: those that are named once stay as their ids stand, and
 * all else is as in the ascending order. */
#include "grad_help.h"

#include "optim/contributions.h"

#define MANY  70000u /* ids: eight threads have a slice each */
#define FEW   1500u  /* some blocks of ids */
#define SMALL 100003u
#define LARGE (UINT64_C(1) << 40) /* rows that share slots */

static const wte_grad_options plain = WTE_GRAD_OPTIONS_INIT;

/* Who is named again: nobody, all, each from far away, neighbours at the borders of blocks and of
 * slices, by chance, by chance with many that get nothing. */
enum { NOBODY, ALL, FAR, BORDERS, CHANCE, HOLES, PATTERNS };

/* Of different numbers: each row once, spread over the table. */
static int64_t spread(uint64_t i, uint64_t rows)
{
    return (int64_t)((i * 7919 + 5) % (rows == SMALL ? rows : rows - 1));
}

static void fill(int64_t *ids, uint64_t n, uint64_t rows, int pattern)
{
    uint64_t seed = n + (uint64_t)pattern;
    for (uint64_t i = 0; i < n; i++) {
        ids[i] = spread(i, rows);
        if (pattern == ALL) ids[i] = 77;
        if (pattern == FAR) ids[i] = spread(i % (n / 2), rows);
        if (pattern >= CHANCE) ids[i] = spread(test_noise(&seed) % n, rows);
        if (pattern == HOLES && test_noise(&seed) % 3 == 0) ids[i] = -1;
    }
    for (uint64_t at = 512; at < n && pattern == BORDERS; at += 512) ids[at] = ids[at - 1];
    for (uint64_t k = 1; k < 8 && pattern == BORDERS; k++)
        if (n * k >= 8) ids[n * k / 8] = ids[n * k / 8 - 1];
}

static void parts_of(const int64_t *ids, uint64_t n, uint64_t rows, wte_pool *pool,
                     wte__contributions *p)
{
    static const float d_out[1];
    static const int64_t hole = -1;
    wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
    wte_grad_options how = WTE_GRAD_OPTIONS_INIT;
    wte_error err;
    how.pool = pool;
    o.ignore_ids = &hole;
    o.n_ignore_ids = 1;
    o.scale_by_freq = 1;
    /* no columns: the vectors are never looked at */
    const wte__bag_back back = { .ids = ids_of(ids, WTE_I64, n), .d_out = d_out };
    assert_ok(wte__contributions_again_lookup(rows, 0, &back, &o, &how, p, &err), err);
}

/* The row's number among ascending ones. */
static uint64_t find(const wte__contributions *p, uint64_t row)
{
    uint64_t low = 0, high = p->n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    assert_true(low < p->n && p->rows[low] == row);
    return low;
}

/* Every row of both, with the same parts in the same order. */
static void assert_same_parts(const wte__contributions *any, const wte__contributions *sorted)
{
    assert_int_equal(any->n, sorted->n);
    assert_int_equal(any->count, sorted->count);
    assert_int_equal(any->first[any->n], any->count);
    assert_true(any->alone <= any->n);
    for (uint64_t u = 0; u < any->n; u++) {
        const uint64_t v = find(sorted, any->rows[u]), parts = any->first[u + 1] - any->first[u];
        const uint64_t a = any->first[u], b = sorted->first[v];
        assert_int_equal(parts, sorted->first[v + 1] - b);
        assert_memory_equal(any->from + a, sorted->from + b, parts * sizeof *any->from);
        assert_true(!any->factor == !sorted->factor && !any->member == !sorted->member);
        if (any->factor) assert_memory_equal(any->factor + a, sorted->factor + b, parts * 4);
        if (any->member) assert_memory_equal(any->member + a, sorted->member + b, parts * 8);
        if (u < any->alone) {
            assert_int_equal(a, u);
            assert_int_equal(parts, 1);
            assert_true(u == 0 || any->from[u - 1] <= any->from[u]);
        } else {
            assert_true(u == any->alone || any->rows[u - 1] < any->rows[u]);
        }
    }
}

static uint64_t count_once(const wte__contributions *sorted)
{
    uint64_t n = 0;
    for (uint64_t u = 0; u < sorted->n; u++) n += sorted->first[u + 1] - sorted->first[u] == 1;
    return n;
}

static void check(const int64_t *ids, uint64_t n, uint64_t rows)
{
    wte__contributions sorted = { 0 }, one = { .any_order = true };
    parts_of(ids, n, rows, NULL, &sorted);
    parts_of(ids, n, rows, NULL, &one);
    assert_int_equal(sorted.alone, 0);
    assert_same_parts(&one, &sorted);
    const uint64_t once = count_once(&sorted);
    if (rows <= 8 * n)
        assert_int_equal(one.alone, once);
    else /* of 8 to 16 slots one is taken, so that a row in 9 to 17 seems to be named again */
        assert_true(one.alone <= once && one.alone + once / 6 + 1 >= once);
    for (uint32_t threads = 2; threads <= 8; threads *= 4) {
        wte__contributions p = { .any_order = true };
        wte_pool *pool;
        wte_error err;
        assert_ok(wte_pool_create(threads, &pool, &err), err);
        parts_of(ids, n, rows, pool, &p);
        assert_int_equal(p.n, one.n);
        assert_int_equal(p.alone, one.alone);
        assert_memory_equal(p.rows, one.rows, p.n * sizeof *p.rows);
        assert_memory_equal(p.first, one.first, (p.n + 1) * sizeof *p.first);
        assert_memory_equal(p.from, one.from, p.count * sizeof *p.from);
        assert_memory_equal(p.factor, one.factor, p.count * sizeof *p.factor);
        wte__contributions_free(&p);
        wte_pool_free(pool);
    }
    wte__contributions_free(&sorted);
    wte__contributions_free(&one);
}

static void rows_that_are_named_once_come_first(void **state)
{
    (void)state;
    static int64_t ids[MANY];
    static const uint64_t counts[] = { 1, 2, 511, 512, 513, FEW, MANY };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            if (pattern == FAR && counts[k] < 2) continue;
            fill(ids, counts[k], SMALL, pattern);
            check(ids, counts[k], SMALL);
        }
}

static void rows_may_share_slots(void **state)
{
    (void)state;
    static int64_t ids[MANY];
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        fill(ids, MANY, LARGE, pattern);
        for (size_t i = 0; i < MANY; i++) /* far from each other, multiples of a power of two */
            if (ids[i] >= 0) ids[i] <<= 10;
        check(ids, MANY, LARGE);
    }
}

static void few_rows_and_none_are_ordered(void **state)
{
    (void)state;
    static const int64_t ids[] = { 2, 0, 2, 1 };
    wte__contributions p = { .any_order = true };
    parts_of(ids, 4, 3, NULL, &p);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.alone, 2);
    assert_memory_equal(p.rows, ((uint64_t[]){ 0, 1, 2 }), 24);
    assert_memory_equal(p.first, ((uint64_t[]){ 0, 1, 2, 4 }), 32);
    assert_memory_equal(p.from, ((uint32_t[]){ 1, 3, 0, 2 }), 16);
    assert_memory_equal(p.factor, ((float[]){ 1, 1, 0.5f, 0.5f }), 16);
    parts_of(ids, 0, 3, NULL, &p);
    assert_int_equal(p.n, 0);
    assert_int_equal(p.count, 0);
    parts_of(ids, 1, 3, NULL, &p);
    assert_int_equal(p.alone, 1);
    assert_int_equal(p.rows[0], 2);
    wte__contributions_free(&p);
}

#define BAGS 9000u

/* Bags of 0 to 15 members, of which some are masked or padding. */
typedef struct load {
    int64_t ids[MANY], offsets[BAGS], padding;
    uint8_t mask[MANY];
    float weights[MANY], d_out[BAGS];
    uint64_t max_at[BAGS];
    uint64_t n;
} load;

static void make_load(load *l)
{
    uint64_t seed = 5;
    l->padding = 9;
    l->n = 0;
    for (size_t b = 0; b < BAGS; b++) {
        l->offsets[b] = (int64_t)l->n;
        l->n += test_noise(&seed) % 16;
        l->max_at[b] = l->n > (uint64_t)l->offsets[b] ? l->n - 1 : WTE_NO_INDEX;
    }
    assert_true(l->n <= MANY);
    for (size_t i = 0; i < l->n; i++) {
        l->ids[i] = (int64_t)(test_noise(&seed) % SMALL);
        if (i % 11 == 0) l->ids[i] = l->padding;
        l->mask[i] = test_noise(&seed) % 7 != 0;
        l->weights[i] = (float)(int32_t)test_noise(&seed) * 0x1p-31f;
    }
}

static void bags_keep_their_factors_and_members(void **state)
{
    (void)state;
    static load l;
    make_load(&l);
    wte_pool *pool;
    wte_error err;
    assert_ok(wte_pool_create(8, &pool, &err), err);
    for (int flags = 0; flags < 24; flags++) {
        wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
        wte_grad_options how = WTE_GRAD_OPTIONS_INIT;
        const wte__bag_back back = { ids_of(l.ids, WTE_I64, l.n), ids_of(l.offsets, WTE_I64, BAGS),
                                     &bag, l.d_out, 0 };
        wte__contributions sorted = { 0 }, any = { .any_order = true };
        bag.mode = (wte_bag_mode)(flags / 8);
        bag.argmax = bag.mode == WTE_BAG_MAX ? l.max_at : NULL;
        if (flags & 1) bag.ignore_ids = &l.padding, bag.n_ignore_ids = 1;
        if (flags & 2) bag.mask = l.mask, bag.mask_dtype = WTE_BOOL;
        if ((flags & 4) && bag.mode == WTE_BAG_SUM) bag.weights = l.weights;
        assert_ok(wte__contributions_again_bag(SMALL, 1, &back, NULL, &plain, &sorted, &err), err);
        how.pool = pool;
        assert_ok(wte__contributions_again_bag(SMALL, 1, &back, NULL, &how, &any, &err), err);
        assert_same_parts(&any, &sorted);
        assert_true(any.alone > any.n / 3);
        wte__contributions_free(&sorted);
        wte__contributions_free(&any);
    }
    wte_pool_free(pool);
}

static const struct CMUnitTest tests[] = {
    TEST("rows that are named once come first, by any number of threads",
         rows_that_are_named_once_come_first),
    TEST("rows may share slots: some that are named once are sorted then", rows_may_share_slots),
    TEST("few rows are ordered, and none", few_rows_and_none_are_ordered),
    TEST("bags keep their factors and members", bags_keep_their_factors_and_members),
};
TEST_MAIN(tests)
