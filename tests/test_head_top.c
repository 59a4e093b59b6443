/* The largest logits and log-probabilities, without the logits: against the logits themselves,
 * sorted and summed in doubles. */
#include "head_cases.h"

#include <float.h>

#include "base/limits.h"
#include "head/rank.h"

static wte_error err;

/* Sorted as the contract says: largest first, equal ones by row. */
static const float *sorted_logits;
static int by_logit(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    const float p = sorted_logits[x], q = sorted_logits[y];
    if (p != q) return p < q ? 1 : -1;
    return x < y ? -1 : 1;
}

/* Rows in that order; those that are masked (-infinity) come last. */
static uint64_t *order_of(const float *logits, uint64_t rows)
{
    uint64_t *order = malloc((size_t)(rows + 1) * sizeof *order);
    assert_non_null(order);
    for (uint64_t r = 0; r < rows; r++) order[r] = r;
    sorted_logits = logits;
    qsort(order, (size_t)rows, sizeof *order, by_logit);
    return order;
}

static void check_vector(const float *logits, uint64_t rows, uint64_t taking, const wte_ranked *got,
                         uint32_t k)
{
    uint64_t *order = order_of(logits, rows);
    const double lse = head_lse(logits, rows, 1);
    for (uint32_t i = 0; i < k; i++) {
        if (i >= taking) {
            assert_true(got[i].id == WTE_NO_INDEX && got[i].logit == -INFINITY);
            assert_true(got[i].logprob == -INFINITY);
            continue;
        }
        if (got[i].id != order[i])
            fail_msg("rank %u is row %llu, not %llu", i, (unsigned long long)got[i].id,
                     (unsigned long long)order[i]);
        assert_true(got[i].logit == logits[order[i]]);
        assert_float_equal(got[i].logprob, (float)((double)got[i].logit - lse), 2e-5f);
    }
    free(order);
}

/* Every vector's k largest and sums; `taking` rows are not masked, and those are the first. */
static void check_case(const head_case *c, wte_head_options *opt, uint32_t k, uint64_t taking)
{
    wte_ranked *out = malloc((size_t)(c->n * k + 1) * sizeof *out);
    wte_softmax_stats *sums = malloc((size_t)(c->n + 1) * sizeof *sums);
    float *logits = head_logits(c, opt);
    assert_true(out && sums);
    assert_ok(wte_head_topk(&c->table, &c->hidden, opt, k, out, sums, &err), err);
    for (uint64_t i = 0; i < c->n; i++) {
        const float *x = logits + i * c->rows;
        check_vector(x, c->rows, taking, out + i * k, k);
        float most = -INFINITY;
        for (uint64_t r = 0; r < c->rows; r++) most = x[r] > most ? x[r] : most;
        assert_true(sums[i].max_logit == most && sums[i].not_finite == 0);
        if (taking) assert_float_equal(sums[i].logsumexp, (float)head_lse(x, c->rows, 1), 2e-5f);
    }
    free(out);
    free(sums);
    free(logits);
}

static void the_largest_are_those_of_the_sorted_logits(void **state)
{
    (void)state;
    static const uint64_t shapes[][3] = {
        { 1, 1, 1 }, { 5, 3, 2 }, { 300, 7, 3 }, { 5000, 16, 4 }, { 9000, 40, 70 }, { 9000, 1, 2 },
    };
    static const uint32_t ks[] = { 1, 2, 7, 50, 6000 };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
            head_case c = head_case_make(shapes[s][0], shapes[s][1], shapes[s][2], s + 1);
            if (ks[i] <= 50 || s < 4) check_case(&c, &opt, ks[i], c.rows);
            head_case_free(&c);
        }
}

static void equal_logits_rank_by_row(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    head_case c = head_case_make(20000, 2, 2, 1);
    for (uint64_t i = 0; i < c.rows * c.dim; i++) c.w[i] = (float)(i * 7 % 5);
    check_case(&c, &opt, 40, c.rows);
    for (uint64_t i = 0; i < c.rows * c.dim; i++) c.w[i] = i % 3 ? 0.0f : -0.0f;
    check_case(&c, &opt, 40, c.rows);
    head_case_free(&c);
}

static void masked_rows_never_rank(void **state)
{
    (void)state;
    head_case c = head_case_make(6000, 24, 3, 9);
    static const uint64_t valid[] = { 5990, 4092, 4000, 30, 1 };
    for (size_t i = 0; i < 5; i++) {
        wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
        opt.n_valid = valid[i];
        check_case(&c, &opt, 40, valid[i]);
    }
    head_case_free(&c);
}

static void masked_rows_take_their_share(void **state)
{
    (void)state;
    head_case c = head_case_make(6000, 24, 3, 11);
    uint8_t bits[750];
    memset(bits, 0xff, sizeof bits);
    for (size_t r = 0; r < 6000; r += 3) bits[r / 8] = (uint8_t)(bits[r / 8] & ~(1u << r % 8));
    float *logits = head_logits(&c, NULL);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    opt.valid = bits;
    wte_softmax_stats sums[3];
    wte_ranked out[3 * 5];
    assert_ok(wte_head_topk(&c.table, &c.hidden, &opt, 5, out, sums, &err), err);
    for (uint64_t i = 0; i < 3; i++) {
        double in = 0, all = 0, best = -(double)INFINITY;
        for (uint64_t r = 0; r < 6000; r++) {
            const double x = (double)logits[i * 6000 + r];
            all += exp(x);
            if (r % 3) in += exp(x);
            if (r % 3) best = fmax(best, x);
        }
        assert_float_equal(sums[i].masked_prob, (float)(1 - in / all), 1e-5f);
        assert_float_equal(sums[i].logsumexp, (float)log(in), 2e-5f);
        assert_true(out[i * 5].id % 3 != 0 && (double)out[i * 5].logit == best);
    }
    free(logits);
    head_case_free(&c);
}

static void a_head_without_rows_has_nothing(void **state)
{
    (void)state;
    head_case c = head_case_make(4, 2, 1, 3);
    const uint8_t none = 0;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_ranked out[2];
    wte_softmax_stats sums;
    opt.valid = &none;
    assert_ok(wte_head_topk(&c.table, &c.hidden, &opt, 2, out, &sums, &err), err);
    assert_true(out[0].id == WTE_NO_INDEX && out[1].id == WTE_NO_INDEX);
    assert_true(sums.max_logit == -INFINITY && sums.logsumexp == -INFINITY &&
                sums.masked_prob == 1);
    c.table.rows = 0;
    assert_ok(wte_head_topk(&c.table, &c.hidden, NULL, 2, out, &sums, &err), err);
    assert_true(out[0].id == WTE_NO_INDEX && sums.logsumexp == -INFINITY && sums.masked_prob == 0);
    c.hidden.n = 0;
    assert_ok(wte_head_topk(&c.table, &c.hidden, NULL, 2, NULL, NULL, &err), err);
    head_case_free(&c);
}

/* Rows of one column times 1: the logits are what is written there. */
static void what_is_not_finite_ranks_last(void **state)
{
    (void)state;
    head_case c = head_case_make(7, 1, 1, 3);
    const float logits[] = { INFINITY, -INFINITY, 3, NAN, -FLT_MAX, 5, INFINITY };
    memcpy(c.w, logits, sizeof logits);
    c.h[0] = 1;
    wte_ranked out[8];
    wte_softmax_stats sums;
    assert_ok(wte_head_topk(&c.table, &c.hidden, NULL, 8, out, &sums, &err), err);
    const uint64_t expected[] = { 5, 2, 4, 1, 0, 6, 3, WTE_NO_INDEX };
    for (size_t i = 0; i < 8; i++) assert_true(out[i].id == expected[i]);
    assert_true(sums.not_finite == 3 && sums.max_logit == 5 && isnan(sums.logsumexp));
    assert_true(isnan(out[0].logprob));
    head_case_free(&c);
}

/* The same where the list fills up with them before finite ones come. */
static void many_that_are_not_finite_are_counted(void **state)
{
    (void)state;
    head_case c = head_case_make(20000, 1, 2, 3);
    for (uint64_t r = 0; r < c.rows; r++) c.w[r] = r < 15000 ? (r % 2 ? NAN : INFINITY) : (float)r;
    c.h[0] = c.h[1] = 1;
    for (uint32_t k = 1; k <= 100; k += 33) {
        wte_ranked out[200];
        wte_softmax_stats sums[2];
        assert_ok(wte_head_topk(&c.table, &c.hidden, NULL, k, out, sums, &err), err);
        for (uint32_t i = 0; i < k; i++) assert_true(out[k + i].id == 19999 - i);
        assert_true(sums[1].not_finite == 15000 && sums[1].max_logit == 19999);
    }
    for (uint64_t r = 0; r < c.rows; r++) c.w[r] = r == 300 ? 1 : -INFINITY;
    wte_ranked out[6];
    assert_ok(wte_head_topk(&c.table, &c.hidden, NULL, 3, out, NULL, &err), err);
    assert_true(out[0].id == 300 && out[1].id == 0 && out[2].id == 1);
    assert_true(out[0].logprob == 0 && out[1].logprob == -INFINITY);
    head_case_free(&c);
}

static void threads_and_memory_change_no_bit(void **state)
{
    (void)state;
    head_case c = head_case_make(30000, 20, 130, 17);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    const size_t bytes = c.n * 20 * sizeof(wte_ranked),
                 sums_bytes = c.n * sizeof(wte_softmax_stats);
    wte_ranked *one = malloc(bytes), *other = malloc(bytes);
    wte_softmax_stats *sums = malloc(2 * sums_bytes);
    assert_true(one && other && sums);
    opt.n_valid = 29000;
    assert_ok(wte_head_topk(&c.table, &c.hidden, &opt, 20, one, sums, &err), err);
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        opt.work_bytes = threads == 4 ? 2000000 * threads : 0;
        assert_ok(wte_head_topk(&c.table, &c.hidden, &opt, 20, other, sums + c.n, &err), err);
        assert_memory_equal(one, other, bytes);
        assert_memory_equal(sums, sums + c.n, sums_bytes);
        wte_pool_free(opt.pool);
    }
    free(one);
    free(other);
    free(sums);
    head_case_free(&c);
}

static void types_and_chain_are_those_of_the_logits(void **state)
{
    (void)state;
    head_case c = head_case_make(700, 32, 3, 21);
    uint16_t half[700 * 32];
    assert_ok(wte_convert(WTE_F32, c.w, WTE_BF16, half, 700 * 32, NULL, &err), err);
    c.table.data = half;
    c.table.dtype = WTE_BF16;
    c.table.row_bytes = 64;
    float bias[700];
    uint64_t noise = 5;
    for (size_t r = 0; r < 700; r++) bias[r] = head_number(&noise, 2);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    opt.bias = bias;
    opt.bias_dtype = WTE_F32;
    opt.chain =
        (wte_logit_transform){ .hidden_scale = 0.5f, .scale = 3, .divisor = 1.5f, .softcap = 4 };
    check_case(&c, &opt, 30, c.rows);
    head_case_free(&c);
}

static void log_probabilities_of_targets(void **state)
{
    (void)state;
    head_case c = head_case_make(5000, 24, 90, 31);
    int32_t targets[90];
    float logprob[90];
    wte_softmax_stats sums[90];
    float *logits = head_logits(&c, NULL);
    for (int32_t i = 0; i < 90; i++) targets[i] = i * 55;
    const wte_ids ids = { .data = targets, .type = WTE_I32, .count = 90 };
    assert_ok(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, logprob, sums, &err), err);
    for (size_t i = 0; i < 90; i++) {
        const float *x = logits + i * 5000;
        const double lse = head_lse(x, 5000, 1);
        assert_float_equal(logprob[i], (float)((double)x[targets[i]] - lse), 2e-5f);
        assert_float_equal(sums[i].logsumexp, (float)lse, 2e-5f);
    }
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    opt.n_valid = 1000; /* targets from 1045 on are masked */
    assert_ok(wte_head_logprobs(&c.table, &c.hidden, ids, &opt, logprob, NULL, &err), err);
    assert_true(isfinite(logprob[18]) && logprob[19] == -INFINITY);
    free(logits);
    head_case_free(&c);
}

/* Logits beside whose size ln 2 is nothing, in f32 and in f64. */
static void logits_of_any_size_have_their_probability(void **state)
{
    (void)state;
    const float sizes[] = { 1, 1e8f, 3e18f, 3e38f, -3e38f };
    const int32_t target = 1;
    const wte_ids ids = { .data = &target, .type = WTE_I32, .count = 1 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const float rows[] = { sizes[i], sizes[i], -INFINITY }, one = 1;
        const wte_row_source table = {
            .rows = 3, .cols = 1, .dtype = WTE_F32, .data = rows, .row_bytes = 4
        };
        const wte_hidden hidden = { .data = &one, .dtype = WTE_F32, .n = 1, .dim = 1 };
        wte_ranked top[2];
        float logprob;
        assert_ok(wte_head_topk(&table, &hidden, NULL, 2, top, NULL, &err), err);
        assert_ok(wte_head_logprobs(&table, &hidden, ids, NULL, &logprob, NULL, &err), err);
        assert_true(top[0].id == 0 && top[1].id == 1 && top[1].logit == sizes[i]);
        assert_float_equal(top[0].logprob, -logf(2), 1e-6f);
        assert_float_equal(logprob, -logf(2), 1e-6f);
    }
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    head_case c = head_case_make(10, 4, 2, 1);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_ranked out[4];
    float logprob[2];
    int64_t targets[] = { 3, 10 };
    wte_ids ids = { .data = targets, .type = WTE_I64, .count = 2 };
    assert_fails(wte_head_topk(&c.table, &c.hidden, NULL, WTE_LIMIT_TOP + 1, out, NULL, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "the 65537 largest logits, but at most 65536");
    assert_fails(wte_head_topk(&c.table, &c.hidden, NULL, 1, NULL, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "wte_head_topk: out is NULL");
    assert_fails(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, logprob, NULL, &err), err,
                 WTE_E_RANGE, 1, "target 10 at position 1, but the table has 10 rows");
    targets[1] = -1;
    assert_fails(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, logprob, NULL, &err), err,
                 WTE_E_RANGE, 1, "target -1 at position 1");
    targets[1] = 9;
    assert_fails(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, NULL, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_head_logprobs: logprob is NULL");
    ids.count = 1;
    assert_fails(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, logprob, NULL, &err), err,
                 WTE_E_SHAPE, WTE_NO_INDEX, "1 targets for 2 hidden vectors");
    ids.count = 2;
    ids.type = WTE_F32;
    assert_fails(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, logprob, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "targets of type f32");
    ids = (wte_ids){ .type = WTE_I64, .count = 2 };
    assert_fails(wte_head_logprobs(&c.table, &c.hidden, ids, NULL, logprob, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "head: targets is NULL");
    c.hidden.dim = 3;
    assert_fails(wte_head_topk(&c.table, &c.hidden, &opt, 1, out, NULL, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "3 numbers");
    head_case_free(&c);
}

static void memory_is_what_was_said(void **state)
{
    (void)state;
    head_case c = head_case_make(40000, 30, 40, 1);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_ranked *out = malloc(40 * 65536 * sizeof *out);
    uint64_t least, best;
    test_memory memory;
    assert_non_null(out);
    test_memory_init(&memory, SIZE_MAX);
    opt.allocator = &memory.allocator;
    assert_ok(wte_head_workspace_size(&c.table, &c.hidden, &opt, &least, &best, &err), err);
    assert_true(least <= best);
    opt.work_bytes = least;
    assert_ok(wte_head_topk(&c.table, &c.hidden, &opt, 65536, out, NULL, &err), err);
    assert_true(memory.peak_bytes <= least && memory.live == 0);
    opt.work_bytes = 1000;
    assert_fails(wte_head_topk(&c.table, &c.hidden, &opt, 1, out, NULL, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "1000 bytes of work memory, but ");
    free(out);
    head_case_free(&c);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    head_case c = head_case_make(200, 4, 3, 1);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_ranked out[6];
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        test_memory memory;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_head_topk(&c.table, &c.hidden, &opt, 2, out, NULL, &err);
        assert_true(memory.live == 0 && i < 10);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        if (status == WTE_OK) assert_true(i >= 1);
    }
    head_case_free(&c);
}

static void lists_are_selected_and_sorted(void **state)
{
    (void)state;
    uint64_t noise = 77;
    for (size_t n = 1; n < 300; n += 1 + n / 9)
        for (size_t k = 1; k <= n; k += 1 + n / 5) {
            uint64_t list[300], sum = 0;
            for (size_t i = 0; i < n; i++) {
                list[i] = wte__key((float)(test_noise(&noise) % (n / 2 + 1)), i);
                sum += list[i];
            }
            wte__rank_select(list, n, k);
            for (size_t i = 0; i + 1 < k; i++) assert_true(list[i] > list[k - 1]);
            for (size_t i = k; i < n; i++) assert_true(list[k - 1] > list[i]);
            wte__rank_sort(list, n);
            for (size_t i = 0; i < n; i++) {
                assert_true(i == 0 || list[i - 1] > list[i]);
                sum -= list[i];
            }
            assert_int_equal(sum, 0);
        }
}

static void keys_have_the_order_of_logits_and_rows(void **state)
{
    (void)state;
    const float x[] = { NAN, INFINITY, -INFINITY, -FLT_MAX, -1, -1e-40f, 0, 1e-40f, 2, FLT_MAX };
    for (size_t i = 0; i < 10; i++) {
        const uint64_t key = wte__key(x[i], 7);
        assert_true(i == 0 || key > wte__key(x[i - 1], 0));
        assert_true(wte__key(x[i], 6) > key);
        assert_int_equal(wte__key_row(key), 7);
        assert_true(wte__key_logit(key) == x[i] || (i == 0 && isnan(wte__key_logit(key))));
    }
    assert_true(wte__key(-0.0f, 3) == wte__key(0, 3));
    assert_true(wte__key(-FLT_MAX, UINT32_MAX) == WTE__KEY_FINITE);
    assert_int_equal(wte__key_row(wte__key(1, UINT32_MAX)), UINT32_MAX);
}

static wte_status no_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *e)
{
    (void)ctx, (void)ids, (void)n, (void)out, (void)e;
    return WTE_E_IO;
}

static void more_rows_than_can_be_ranked_are_refused(void **state)
{
    (void)state;
    const float one = 1;
    wte_ranked out;
    const wte_row_source rows = {
        .rows = (uint64_t)UINT32_MAX + 1, .cols = 1, .dtype = WTE_F32, .read_rows = no_rows
    };
    const wte_hidden hidden = { .data = &one, .dtype = WTE_F32, .n = 1, .dim = 1 };
    assert_fails(wte_head_topk(&rows, &hidden, NULL, 1, &out, NULL, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "4294967296 rows, but at most 4294967295 are ranked");
}

static const struct CMUnitTest tests[] = {
    TEST("the largest are those of the sorted logits", the_largest_are_those_of_the_sorted_logits),
    TEST("equal logits rank by row", equal_logits_rank_by_row),
    TEST("masked rows never rank", masked_rows_never_rank),
    TEST("masked rows take their share of the probability", masked_rows_take_their_share),
    TEST("a head without rows has nothing", a_head_without_rows_has_nothing),
    TEST("what is not finite ranks last", what_is_not_finite_ranks_last),
    TEST("many that are not finite are counted", many_that_are_not_finite_are_counted),
    TEST("threads and memory change no bit", threads_and_memory_change_no_bit),
    TEST("types and chain are those of the logits", types_and_chain_are_those_of_the_logits),
    TEST("log-probabilities of targets are those of the logits", log_probabilities_of_targets),
    TEST("logits of any size have their probability", logits_of_any_size_have_their_probability),
    TEST("bad calls are refused", bad_calls_are_refused),
    TEST("memory is what was said", memory_is_what_was_said),
    TEST("every failed allocation is reported", every_failed_allocation_is_reported),
    TEST("lists are selected and sorted by rank", lists_are_selected_and_sorted),
    TEST("keys have the order of logits and rows", keys_have_the_order_of_logits_and_rows),
    TEST("more rows than can be ranked are refused", more_rows_than_can_be_ranked_are_refused),
};
TEST_MAIN(tests)
