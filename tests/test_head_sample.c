/* Draws: how often each row comes, against its probability; which rows stay after top k, top p and
 * min p, against their definition; always the same for the same seed. */
#include "head_cases.h"

#include "base/limits.h"
#include "num/philox.h"

static wte_error err;

/* n equal hidden vectors, so that n draws are from one distribution. */
static head_case repeated(uint64_t rows, uint64_t dim, uint64_t n, uint64_t seed)
{
    head_case c = head_case_make(rows, dim, n, seed);
    for (uint64_t i = 1; i < n; i++) memcpy(c.h + i * dim, c.h, dim * sizeof *c.h);
    return c;
}

typedef struct ranked {
    double p;
    uint64_t id;
} ranked;

static int by_probability(const void *a, const void *b)
{
    ranked x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    if (x.p != y.p) return x.p < y.p ? 1 : -1;
    return x.id < y.id ? -1 : 1;
}

/* The definition: temperature, top k, top p, min p, each on what the one before left. Masked logits
 * are -infinity. Probability of every row. */
static double *probabilities(const float *logits, uint64_t rows, const wte_sample_options *how)
{
    ranked *list = malloc((size_t)rows * sizeof *list);
    double *p = calloc((size_t)rows, sizeof *p), sum = 0, walked = 0;
    assert_true(list && p);
    const double lse = head_lse(logits, rows, 1 / (double)how->temperature);
    for (uint64_t r = 0; r < rows; r++)
        list[r] = (ranked){ exp((double)logits[r] / (double)how->temperature - lse), r };
    qsort(list, (size_t)rows, sizeof *list, by_probability);
    uint64_t n = how->top_k && how->top_k < rows ? how->top_k : rows, stay = 0;
    for (uint64_t i = 0; i < n; i++) sum += list[i].p;
    const double share = how->top_p > 0 ? how->top_p : 1;
    while (stay < n && (how->top_p == 0 || how->top_p == 1 || walked < share * sum))
        walked += list[stay++].p;
    while (stay > 1 && list[stay - 1].p < how->min_p * list[0].p) walked -= list[--stay].p;
    for (uint64_t i = 0; i < stay; i++) p[list[i].id] = list[i].p / walked;
    free(list);
    return p;
}

/* Pearson's chi-square over rows that are expected at least 5 times, the others together. A sum of
 * f degrees of freedom exceeds f + 4 sqrt(2 f) + 8 once in some ten thousand times, and the seeds
 * are fixed. */
static void check_counts(const double *p, uint64_t rows, const uint64_t *ids, uint64_t n)
{
    uint64_t *count = calloc((size_t)rows + 1, sizeof *count);
    assert_non_null(count);
    for (uint64_t i = 0; i < n; i++) {
        assert_true(ids[i] < rows);
        if (p[ids[i]] == 0) fail_msg("row %llu was drawn, but cannot", (unsigned long long)ids[i]);
        count[ids[i]]++;
    }
    double chi = 0, rare = 0, rare_count = 0;
    int freedom = -1;
    for (uint64_t r = 0; r < rows; r++) {
        const double expected = p[r] * (double)n, apart = (double)count[r] - expected;
        if (expected < 5) {
            rare += expected;
            rare_count += (double)count[r];
            continue;
        }
        chi += apart * apart / expected;
        freedom++;
    }
    if (rare >= 5) chi += (rare_count - rare) * (rare_count - rare) / rare;
    freedom += rare >= 5;
    free(count);
    if (chi > freedom + 4 * sqrt(2.0 * freedom) + 8)
        fail_msg("chi-square is %g at %d degrees of freedom", chi, freedom);
}

static void check_how(const head_case *c, const wte_head_options *opt,
                      const wte_sample_options *how)
{
    uint64_t *ids = malloc((size_t)c->n * sizeof *ids);
    float *logits = head_logits(c, opt);
    assert_non_null(ids);
    assert_ok(wte_head_sample(&c->table, &c->hidden, opt, how, ids, &err), err);
    double *p = probabilities(logits, c->rows, how);
    check_counts(p, c->rows, ids, c->n);
    free(p);
    free(logits);
    free(ids);
}

static void rows_come_as_often_as_their_probability_says(void **state)
{
    (void)state;
    wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
    head_case small = repeated(12, 3, 2000, 1), large = repeated(2000, 8, 1000, 2);
    check_how(&small, NULL, &how);
    check_how(&large, NULL, &how);
    how.temperature = 0.3f;
    check_how(&small, NULL, &how);
    check_how(&large, NULL, &how);
    how.temperature = 2;
    how.seed = 5;
    check_how(&small, NULL, &how);
    head_case_free(&small);
    head_case_free(&large);
}

static void top_k_top_p_and_min_p_leave_what_they_should(void **state)
{
    (void)state;
    static const double shares[][2] = { { 0, 0 },      { 0.5, 0 },  { 0.9, 0 },  { 0, 0.3 },
                                        { 0.95, 0.2 }, { 1, 0.05 }, { 1e-6, 0 }, { 0, 1 } };
    static const uint32_t ks[] = { 0, 1, 3, 40, 9000 };
    head_case c = repeated(1000, 6, 300, 3);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (size_t k = 0; k < sizeof ks / sizeof *ks; k++) {
            wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
            how.temperature = 0.8f;
            how.top_k = ks[k];
            how.top_p = shares[i][0];
            how.min_p = shares[i][1];
            how.seed = i * 10 + k;
            check_how(&c, NULL, &how);
        }
    head_case_free(&c);
}

/* Logits so alike that what stays is more than a list of the largest. */
static void flat_distributions_are_drawn_from_in_full(void **state)
{
    (void)state;
    head_case c = repeated(30000, 4, 3, 4);
    wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
    for (uint64_t i = 0; i < c.dim * c.n; i++) c.h[i] *= 0.01f;
    float *logits = head_logits(&c, NULL);
    how.top_p = 0.6;
    double *p = probabilities(logits, c.rows, &how);
    bool low = false;
    for (how.seed = 0; how.seed < 12; how.seed++) {
        uint64_t ids[3];
        assert_ok(wte_head_sample(&c.table, &c.hidden, NULL, &how, ids, &err), err);
        for (size_t i = 0; i < 3; i++) {
            assert_true(p[ids[i]] > 0);
            uint64_t before = 0;
            for (uint64_t r = 0; r < c.rows; r++) before += logits[r] > logits[ids[i]];
            low = low || before > 10000;
        }
    }
    assert_true(low);
    free(p);
    free(logits);
    head_case_free(&c);
}

static void masked_rows_are_never_drawn(void **state)
{
    (void)state;
    head_case c = repeated(4000, 8, 300, 5);
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
    opt.n_valid = 100;
    for (int i = 0; i < 4; i++) {
        how.top_p = i & 1 ? 0.7 : 0;
        how.top_k = i & 2 ? 900 : 0;
        check_how(&c, &opt, &how);
    }
    head_case_free(&c);
}

/* As many ranks as p says, typed as a decimal: k of n alike have k / n of all, whatever f32 and f64
 * make of that number, and rows behind them are no better for being alike. */
static void top_p_ends_at_the_rank_that_reaches_it(void **state)
{
    (void)state;
    enum { DRAWS = 4000, MOST = 5000 };
    static const uint64_t sizes[] = { 10, 100, 1000, MOST };
    static float ones[MOST], vectors[DRAWS];
    static uint64_t ids[DRAWS];
    for (size_t i = 0; i < MOST; i++) ones[i] = 1;
    for (size_t i = 0; i < DRAWS; i++) vectors[i] = 0.25f;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint64_t n = sizes[s], step = n <= 100 ? 1 : n / 10;
        const wte_row_source table = {
            .data = ones, .rows = n, .cols = 1, .row_bytes = sizeof *ones, .dtype = WTE_F32
        };
        const wte_hidden hidden = {
            .data = vectors, .dtype = WTE_F32, .n = n <= 1000 ? DRAWS : 20, .dim = 1
        };
        for (uint64_t k = step; k < n; k += step) {
            wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
            char typed[32];
            uint64_t most = 0;
            snprintf(typed, sizeof typed, "%.4f", (double)k / (double)n);
            how.top_p = strtod(typed, NULL);
            assert_ok(wte_head_sample(&table, &hidden, NULL, &how, ids, &err), err);
            for (size_t i = 0; i < hidden.n; i++) most = ids[i] > most ? ids[i] : most;
            assert_true(most < k);
            assert_true(n > 100 || most == k - 1);
        }
    }
}

static void temperature_zero_takes_the_largest(void **state)
{
    (void)state;
    head_case c = head_case_make(700, 8, 50, 6);
    wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
    uint64_t ids[50];
    wte_ranked top[50];
    how.temperature = 0;
    c.w[3] = NAN; /* row 0 ranks last */
    assert_ok(wte_head_sample(&c.table, &c.hidden, NULL, &how, ids, &err), err);
    assert_ok(wte_head_topk(&c.table, &c.hidden, NULL, 1, top, NULL, &err), err);
    for (size_t i = 0; i < 50; i++) assert_true(ids[i] == top[i].id && ids[i] != 0);
    head_case_free(&c);
}

static void draws_do_not_depend_on_threads_memory_or_company(void **state)
{
    (void)state;
    head_case c = head_case_make(6000, 12, 150, 7);
    for (int i = 0; i < 3; i++) {
        wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
        wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
        how.top_k = i == 1 ? 20 : 0;
        how.min_p = i == 2 ? 0.001 : 0;
        how.seed = UINT64_C(0x123456789abcdef0);
        uint64_t one[150], other[150], alone;
        assert_ok(wte_head_sample(&c.table, &c.hidden, &opt, &how, one, &err), err);
        for (uint32_t threads = 2; threads <= 8; threads *= 4) {
            assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
            opt.work_bytes = threads == 8 ? 8000000 : 0;
            assert_ok(wte_head_sample(&c.table, &c.hidden, &opt, &how, other, &err), err);
            assert_memory_equal(one, other, sizeof one);
            wte_pool_free(opt.pool);
        }
        opt = (wte_head_options)WTE_HEAD_OPTIONS_INIT;
        wte_hidden last = c.hidden;
        last.data = c.h + 149 * 12;
        last.n = 1;
        how.first = 149; /* its stream in the call above */
        assert_ok(wte_head_sample(&c.table, &last, &opt, &how, &alone, &err), err);
        assert_true(alone == one[149]);
        how.seed++;
        how.first = 0;
        assert_ok(wte_head_sample(&c.table, &c.hidden, &opt, &how, other, &err), err);
        assert_memory_not_equal(one, other, sizeof one);
    }
    head_case_free(&c);
}

/* From the authors' own list of known answers, Random123's kat_vectors. */
static void philox_gives_the_known_answers(void **state)
{
    (void)state;
    static const uint32_t known[3][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
          0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
          0x94fdcceb, 0x5001e420, 0x24126ea1 },
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        wte__philox(known[i], known[i] + 4, out);
        assert_memory_equal(out, known[i] + 6, sizeof out);
    }
    assert_true(wte__uniform(0, 0) ==
                (double)((UINT64_C(0x6627e8d5) >> 5 << 26) + (0xe169c58d >> 6)) / 0x1p53);
}

static void refuse(const head_case *c, const wte_sample_options *how, wte_status status,
                   uint64_t where, const char *part)
{
    uint64_t ids[2];
    assert_fails(wte_head_sample(&c->table, &c->hidden, NULL, how, ids, &err), err, status, where,
                 part);
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    const wte_sample_options init = WTE_SAMPLE_OPTIONS_INIT;
    static const float temperatures[] = { -1, NAN, INFINITY, 1e-39f };
    head_case c = head_case_make(70000, 1, 2, 1);
    wte_sample_options how = init;
    for (size_t i = 0; i < 4; i++) {
        how.temperature = temperatures[i];
        refuse(&c, &how, WTE_E_ARGUMENT, WTE_NO_INDEX, "a temperature of ");
    }
    how = init;
    how.top_p = 1.5;
    refuse(&c, &how, WTE_E_ARGUMENT, WTE_NO_INDEX, "top_p is 1.5, but a share is from 0 to 1");
    how = init;
    how.min_p = NAN;
    refuse(&c, &how, WTE_E_ARGUMENT, WTE_NO_INDEX, "min_p is nan");
    how = init;
    how.top_k = WTE_LIMIT_TOP + 1;
    refuse(&c, &how, WTE_E_LIMIT, WTE_NO_INDEX, "top_k is 65537, but at most 65536");
    assert_fails(wte_head_sample(&c.table, &c.hidden, NULL, NULL, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "wte_head_sample: ids is NULL");
    c.h[0] = 1;
    c.h[1] = NAN;
    refuse(&c, NULL, WTE_E_ARGUMENT, 1, "hidden vector 1 has logits that are NaN or infinity");
    c.h[1] = 1;
    for (size_t r = 0; r < 70000; r++) c.w[r] = -INFINITY;
    refuse(&c, NULL, WTE_E_ARGUMENT, 0, "hidden vector 0 cannot be sampled");
    c.table.rows = 0;
    refuse(&c, NULL, WTE_E_ARGUMENT, 0, "hidden vector 0 cannot be sampled");
    c.hidden.n = 0;
    assert_ok(wte_head_sample(&c.table, &c.hidden, NULL, NULL, NULL, &err), err);
    head_case_free(&c);
}

/* Each of the three ways, with the least memory and with every allocation failing. */
static void memory_is_what_was_said_and_may_fail(void **state)
{
    (void)state;
    head_case c = head_case_make(30000, 4, 3, 8);
    for (uint64_t i = 0; i < c.dim * c.n; i++) c.h[i] *= 0.01f;
    for (int way = 0; way < 3; way++) {
        wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
        wte_sample_options how = WTE_SAMPLE_OPTIONS_INIT;
        wte_status status = WTE_E_MEMORY;
        uint64_t ids[3], least, best;
        how.top_p = way == 1 ? 0.5 : 0;
        how.top_k = way == 2 ? 5 : 0;
        assert_ok(wte_head_workspace_size(&c.table, &c.hidden, &opt, &least, &best, &err), err);
        for (size_t i = 0; status != WTE_OK; i++) {
            test_memory memory;
            test_memory_init(&memory, i);
            opt.allocator = &memory.allocator;
            opt.work_bytes = least;
            status = wte_head_sample(&c.table, &c.hidden, &opt, &how, ids, &err);
            assert_true(memory.live == 0 && memory.peak_bytes <= least && i < 30);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
            if (status == WTE_OK) assert_true(i >= (way == 1 ? 4u : 2u));
        }
    }
    head_case_free(&c);
}

static const struct CMUnitTest tests[] = {
    TEST("rows come as often as their probability says",
         rows_come_as_often_as_their_probability_says),
    TEST("top k, top p and min p leave what they should",
         top_k_top_p_and_min_p_leave_what_they_should),
    TEST("flat distributions are drawn from in full", flat_distributions_are_drawn_from_in_full),
    TEST("top p ends at the rank that reaches it", top_p_ends_at_the_rank_that_reaches_it),
    TEST("masked rows are never drawn", masked_rows_are_never_drawn),
    TEST("temperature 0 takes the largest", temperature_zero_takes_the_largest),
    TEST("draws do not depend on threads, memory or company",
         draws_do_not_depend_on_threads_memory_or_company),
    TEST("Philox gives the known answers", philox_gives_the_known_answers),
    TEST("bad calls are refused", bad_calls_are_refused),
    TEST("memory is what was said, and may fail", memory_is_what_was_said_and_may_fail),
};
TEST_MAIN(tests)
