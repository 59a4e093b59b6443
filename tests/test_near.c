/* Nearest rows: by hand, against a full ranking by plain sums in the order that docs/kernels.md
 * states (bit for bit), and against f64. Runs once for each instruction set. */
#include "test.h"

#include <math.h>

#include "lookup_help.h"
#include <wte/near.h>

#define LANES 32u

static wte_error err;
static const wte_metric metrics[] = { WTE_METRIC_COSINE, WTE_METRIC_DOT, WTE_METRIC_EUCLID };

static wte_near_options options_of(wte_metric metric, uint32_t top)
{
    wte_near_options opt = WTE_NEAR_OPTIONS_INIT;
    opt.metric = metric;
    opt.top = top;
    return opt;
}

static void assert_hit(wte_near_hit hit, uint64_t row, double score)
{
    assert_int_equal(hit.row, row);
    if (fabs(hit.score - score) > 1e-15 * fabs(score))
        fail_msg("row %llu: %.17g, not %.17g", (unsigned long long)row, hit.score, score);
}

/* By hand ------------------------------------------------------------------------------------- */

static const float four[] = { 3, 4, 4, 3, -3, -4, 0, 10 };

static void four_rows_are_ranked_as_by_hand(void **state)
{
    (void)state;
    const wte_row_source table = view_of(four, 4, 2, WTE_F32);
    const float q[] = { 3, 4 };
    wte_near_options opt = options_of(WTE_METRIC_COSINE, 4);
    wte_near_hit hits[4];
    assert_ok(wte_nearest(&table, q, 1, 2, &opt, hits, &err), err);
    assert_hit(hits[0], 0, 1);
    assert_hit(hits[1], 1, 24.0 / 25);
    assert_hit(hits[2], 3, 40.0 / 50);
    assert_hit(hits[3], 2, -1);
    opt.metric = WTE_METRIC_DOT;
    assert_ok(wte_nearest(&table, q, 1, 2, &opt, hits, &err), err);
    assert_hit(hits[0], 3, 40);
    assert_hit(hits[1], 0, 25);
    assert_hit(hits[2], 1, 24);
    assert_hit(hits[3], 2, -25);
    opt.metric = WTE_METRIC_EUCLID;
    assert_ok(wte_nearest(&table, q, 1, 2, &opt, hits, &err), err);
    assert_hit(hits[0], 0, 0);
    assert_hit(hits[1], 1, sqrt(2));
    assert_hit(hits[2], 3, sqrt(45));
    assert_hit(hits[3], 2, 10);
}

static void of_equal_rows_the_lower_comes_first(void **state)
{
    (void)state;
    float table[40];
    for (size_t i = 0; i < 20; i++) {
        table[2 * i] = i % 3 == 0 ? 1 : 2;
        table[2 * i + 1] = i % 3 == 0 ? 1 : 3;
    }
    const wte_row_source rows = view_of(table, 20, 2, WTE_F32);
    const float q[] = { 1, 1 };
    for (size_t m = 0; m < 3; m += 2) {
        wte_near_options opt = options_of(metrics[m], 5);
        wte_near_hit hits[5];
        assert_ok(wte_nearest(&rows, q, 1, 2, &opt, hits, &err), err);
        for (uint64_t i = 0; i < 5; i++) assert_int_equal(hits[i].row, 3 * i);
    }
}

static void what_is_excluded_is_no_answer(void **state)
{
    (void)state;
    const wte_row_source table = view_of(four, 4, 2, WTE_F32);
    const float q[] = { 3, 4, 0, 1 };
    const uint64_t exclude[] = { 1, 2, 17 }, own[] = { 0, WTE_NO_INDEX };
    wte_near_options opt = options_of(WTE_METRIC_COSINE, 2);
    wte_near_hit hits[4];
    opt.exclude = exclude;
    opt.n_exclude = 3;
    opt.own = own;
    assert_ok(wte_nearest(&table, q, 2, 2, &opt, hits, &err), err);
    assert_hit(hits[0], 3, 0.8);
    assert_int_equal(hits[1].row, WTE_NO_INDEX);
    assert_true(isnan(hits[1].score));
    assert_hit(hits[2], 3, 1);
    assert_hit(hits[3], 0, 0.8);
}

static void zero_and_nonfinite_rows_are_passed_over_and_counted(void **state)
{
    (void)state;
    const float table[] = { 0, 0, 1, NAN, INFINITY, 0, -0.0f, 0, 2, 2, 0, -INFINITY };
    const wte_row_source rows = view_of(table, 6, 2, WTE_F32);
    const float q[] = { 1, 0, 0, 1 };
    for (size_t m = 0; m < 3; m++) {
        wte_near_options opt = options_of(metrics[m], 6);
        wte_near_report report;
        wte_near_hit hits[12];
        const bool cosine = metrics[m] == WTE_METRIC_COSINE;
        opt.report = &report;
        assert_ok(wte_nearest(&rows, q, 2, 2, &opt, hits, &err), err);
        assert_int_equal(report.n_zero, cosine ? 2 : 0);
        assert_int_equal(report.n_nonfinite, 3);
        assert_int_equal(hits[cosine ? 1 : 3].row, WTE_NO_INDEX);
        assert_int_equal(hits[cosine ? 0 : 2].row, metrics[m] == WTE_METRIC_DOT ? 3 : 4);
    }
}

static void values_beyond_f32s_squares_are_ranked_all_the_same(void **state)
{
    (void)state;
    const float table[] = { 1e30f, 1e30f, 3e-30f, 4e-30f, 2e38f, 0, 1e-44f, 0 };
    const wte_row_source rows = view_of(table, 4, 2, WTE_F32);
    const float big[] = { 3e25f, 4e25f }, small[] = { 3e-40f, 4e-40f };
    wte_near_options opt = options_of(WTE_METRIC_COSINE, 4);
    wte_near_hit hits[4];
    for (int i = 0; i < 2; i++) {
        assert_ok(wte_nearest(&rows, i ? small : big, 1, 2, &opt, hits, &err), err);
        assert_int_equal(hits[0].row, 1);
        assert_true(fabs(hits[0].score - 1) < 1e-5); /* 3e-40 is no longer exact */
        assert_int_equal(hits[1].row, 0);
        assert_true(fabs(hits[1].score - 7 / (5 * sqrt(2))) < 1e-5);
        assert_int_equal(hits[2].row, 2); /* of equal cosines the lower */
        assert_int_equal(hits[3].row, 3);
        assert_true(fabs(hits[3].score - 0.6) < 1e-5);
    }
    opt.metric = WTE_METRIC_DOT;
    assert_ok(wte_nearest(&rows, big, 1, 2, &opt, hits, &err), err);
    assert_int_equal(hits[0].row, 2);
    assert_true(fabs(hits[0].score / 6e63 - 1) < 1e-6);
    opt.metric = WTE_METRIC_EUCLID;
    assert_ok(wte_nearest(&rows, small, 1, 2, &opt, hits, &err), err);
    assert_int_equal(hits[0].row, 3);
    assert_int_equal(hits[3].row, 2);
    assert_true(fabs(hits[3].score / 2e38 - 1) < 1e-6);
}

static void fewer_rows_than_asked_for_end_the_list(void **state)
{
    (void)state;
    wte_row_source table = view_of(four, 2, 2, WTE_F32);
    const float q[] = { 1, 1 };
    wte_near_hit hits[10];
    assert_ok(wte_nearest(&table, q, 1, 2, NULL, hits, &err), err);
    assert_int_equal(hits[1].row, 1);
    for (size_t i = 2; i < 10; i++) assert_int_equal(hits[i].row, WTE_NO_INDEX);
    table.rows = 0;
    assert_ok(wte_nearest(&table, q, 1, 2, NULL, hits, &err), err);
    assert_int_equal(hits[0].row, WTE_NO_INDEX);
    hits[0].row = 77;
    assert_ok(wte_nearest(&table, NULL, 0, 2, NULL, hits, &err), err);
    assert_int_equal(hits[0].row, 77);
}

/* Against a full ranking ---------------------------------------------------------------------- */

static void sum_plainly(const float *x, const float *q, size_t dim, bool distances, float out[2])
{
    float lane[2][LANES] = { { 0 }, { 0 } };
    for (size_t i = 0; i < dim; i++) {
        const float a = distances ? x[i] - q[i] : x[i], b = distances ? a : q[i];
        lane[0][i % LANES] = fmaf(a, b, lane[0][i % LANES]);
        lane[1][i % LANES] = fmaf(x[i], x[i], lane[1][i % LANES]);
    }
    for (int s = 0; s < 2; s++) {
        for (size_t n = LANES / 2; n; n /= 2)
            for (size_t i = 0; i < n; i++) lane[s][i] += lane[s][i + n];
        out[s] = lane[s][0];
    }
}

static double score_plainly(const float *x, const float *q, size_t dim, wte_metric metric)
{
    float sums[2], own[2];
    sum_plainly(x, q, dim, metric == WTE_METRIC_EUCLID, sums);
    if (metric == WTE_METRIC_DOT) return (double)sums[0];
    if (metric == WTE_METRIC_EUCLID) return sqrt((double)sums[0]);
    sum_plainly(q, q, dim, false, own);
    return fmax(-1, fmin(1, (double)sums[0] / sqrt((double)sums[1] * (double)own[1])));
}

static bool comes_first(const wte_near_hit *a, const wte_near_hit *b, wte_metric metric)
{
    if (a->score == b->score) return a->row < b->row;
    return metric == WTE_METRIC_EUCLID ? a->score < b->score : a->score > b->score;
}

/* Each row is put into its place among the best `top`. */
static void rank_plainly(const float *values, uint64_t rows, size_t dim, const float *q,
                         wte_metric metric, uint32_t top, wte_near_hit *best)
{
    uint32_t n = 0;
    for (uint64_t r = 0; r < rows; r++) {
        const wte_near_hit hit = { r, score_plainly(values + r * dim, q, dim, metric) };
        uint32_t at = n;
        if (n == top && !comes_first(&hit, &best[n - 1], metric)) continue;
        if (n < top)
            n++;
        else
            at = n - 1;
        for (; at && comes_first(&hit, &best[at - 1], metric); at--) best[at] = best[at - 1];
        best[at] = hit;
    }
}

static float gauss(uint64_t *noise)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += (double)(test_noise(noise) >> 11) * 0x1p-53;
    return (float)sum;
}

typedef struct noisy {
    uint64_t rows;
    size_t dim;
    void *stored;
    float *values; /* widened */
} noisy;

/* offset: added to every element, so that all rows point in much the same direction. */
static noisy noisy_of(uint64_t rows, size_t dim, wte_dtype type, float offset)
{
    uint64_t noise = rows + dim;
    noisy t = { rows, dim, NULL, NULL };
    const size_t n = (size_t)rows * dim;
    t.values = malloc(n * sizeof *t.values);
    t.stored = malloc(n * wte_dtype_bytes(type));
    assert_true(t.values && t.stored);
    for (size_t i = 0; i < n; i++) t.values[i] = 8 * gauss(&noise) + offset;
    assert_ok(wte_convert(WTE_F32, t.values, type, t.stored, n, NULL, &err), err);
    assert_ok(wte_convert(type, t.stored, WTE_F32, t.values, n, NULL, &err), err);
    return t;
}
static void noisy_free(noisy *t)
{
    free(t->stored);
    free(t->values);
}

static void check_ranking(const noisy *t, wte_dtype type)
{
    enum { TOP = 12, QUERIES = 2 };
    reader r;
    const wte_row_source view = view_of(t->stored, t->rows, t->dim, type);
    const wte_row_source source = reader_of(&r, t->stored, t->rows, t->dim, type);
    for (size_t m = 0; m < 3; m++) {
        wte_near_options opt = options_of(metrics[m], TOP);
        wte_near_hit hits[QUERIES * TOP], best[QUERIES * TOP];
        for (size_t q = 0; q < QUERIES; q++)
            rank_plainly(t->values, t->rows, t->dim, t->values + q * t->dim, metrics[m], TOP,
                         best + q * TOP);
        assert_ok(wte_nearest(&view, t->values, QUERIES, t->dim, &opt, hits, &err), err);
        assert_memory_equal(hits, best, sizeof hits);
        assert_ok(wte_nearest(&source, t->values, QUERIES, t->dim, &opt, hits, &err), err);
        assert_memory_equal(hits, best, sizeof hits);
    }
}

static void hits_are_those_of_a_full_ranking_bit_for_bit(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16, WTE_F64, WTE_I8 };
    static const size_t dims[] = { 1, 7, 31, 64, 150, 300 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
            for (int offset = 0; offset < 2; offset++) {
                noisy table = noisy_of(150, dims[d], types[t], offset ? 20.0f : 0.0f);
                check_ranking(&table, types[t]);
                noisy_free(&table);
            }
}

/* Also of queries together and apart, so that nothing depends on blocks, lanes or heaps. */
static void threads_and_queries_do_not_change_a_bit(void **state)
{
    (void)state;
    enum { TOP = 20, QUERIES = 3, DIM = 200 };
    static const uint32_t threads[] = { 1, 2, 3, 7 };
    for (int offset = 0; offset < 2; offset++) {
        noisy t = noisy_of(4000, DIM, WTE_BF16, offset ? 16.0f : 0.0f);
        const wte_row_source rows = view_of(t.stored, t.rows, t.dim, WTE_BF16);
        wte_near_options opt = options_of(WTE_METRIC_COSINE, TOP);
        wte_near_hit hits[QUERIES * TOP], best[QUERIES * TOP];
        for (size_t q = 0; q < QUERIES; q++)
            rank_plainly(t.values, t.rows, DIM, t.values + q * DIM, opt.metric, TOP,
                         best + q * TOP);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            assert_ok(wte_pool_create(threads[i], &opt.pool, &err), err);
            assert_ok(wte_nearest(&rows, t.values, QUERIES, DIM, &opt, hits, &err), err);
            assert_memory_equal(hits, best, sizeof hits);
            for (size_t q = 0; q < QUERIES; q++) {
                const float *one = t.values + q * DIM;
                assert_ok(wte_nearest(&rows, one, 1, DIM, &opt, hits, &err), err);
                assert_memory_equal(hits, best + q * TOP, TOP * sizeof *hits);
            }
            wte_pool_free(opt.pool);
        }
        noisy_free(&t);
    }
}

static void a_row_is_nearest_to_itself_with_cosine_1(void **state)
{
    (void)state;
    noisy t = noisy_of(60, 333, WTE_F16, 0);
    const wte_row_source rows = view_of(t.stored, t.rows, t.dim, WTE_F16);
    wte_near_options opt = options_of(WTE_METRIC_COSINE, 1);
    wte_near_hit hits[60];
    assert_ok(wte_nearest(&rows, t.values, 60, t.dim, &opt, hits, &err), err);
    for (uint64_t i = 0; i < 60; i++) {
        assert_int_equal(hits[i].row, i);
        assert_true(hits[i].score == 1);
    }
    opt.metric = WTE_METRIC_EUCLID;
    assert_ok(wte_nearest(&rows, t.values, 60, t.dim, &opt, hits, &err), err);
    for (uint64_t i = 0; i < 60; i++) assert_true(hits[i].row == i && hits[i].score == 0);
    noisy_free(&t);
}

static void cosine_does_not_depend_on_lengths(void **state)
{
    (void)state;
    enum { TOP = 15, DIM = 140 };
    noisy t = noisy_of(90, DIM, WTE_F32, 3);
    const wte_row_source rows = view_of(t.values, t.rows, DIM, WTE_F32);
    wte_near_options opt = options_of(WTE_METRIC_COSINE, TOP);
    wte_near_hit hits[TOP], scaled[TOP];
    float q[DIM];
    memcpy(q, t.values, sizeof q);
    assert_ok(wte_nearest(&rows, q, 1, DIM, &opt, hits, &err), err);
    for (uint64_t r = 0; r < t.rows; r++) /* powers of two: nothing is rounded */
        for (size_t i = 0; i < DIM; i++) t.values[r * DIM + i] *= r % 2 ? 0x1p9f : 0x1p-20f;
    for (size_t i = 0; i < DIM; i++) q[i] *= 0x1p30f;
    assert_ok(wte_nearest(&rows, q, 1, DIM, &opt, scaled, &err), err);
    assert_memory_equal(hits, scaled, sizeof hits);
    noisy_free(&t);
}

static void scores_are_within_their_roundings_of_f64(void **state)
{
    (void)state;
    enum { DIM = 1000 };
    noisy t = noisy_of(40, DIM, WTE_BF16, 0);
    const wte_row_source rows = view_of(t.stored, t.rows, DIM, WTE_BF16);
    wte_near_options opt = options_of(WTE_METRIC_COSINE, 40);
    wte_near_hit hits[40];
    assert_ok(wte_nearest(&rows, t.values, 1, DIM, &opt, hits, &err), err);
    for (size_t h = 0; h < 40; h++) {
        const float *x = t.values + hits[h].row * DIM;
        double xq = 0, xx = 0, qq = 0;
        for (size_t i = 0; i < DIM; i++) {
            xq += (double)x[i] * (double)t.values[i];
            xx += (double)x[i] * (double)x[i];
            qq += (double)t.values[i] * (double)t.values[i];
        }
        /* 32 + 5 roundings in each of three sums, of terms whose magnitudes sum to at most 1 */
        assert_true(fabs(hits[h].score - xq / sqrt(xx * qq)) <= 2 * 37 * 0x1p-24);
        assert_true(h == 0 || hits[h].score <= hits[h - 1].score);
    }
    noisy_free(&t);
}

/* Errors -------------------------------------------------------------------------------------- */

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    wte_row_source table = view_of(four, 4, 2, WTE_F32);
    const float q[] = { 1, 1, 0, 0, 2, NAN, INFINITY, 0 };
    const uint64_t twice[] = { 1, 3, 3 };
    wte_near_hit hits[40];
    wte_near_options opt = options_of(WTE_METRIC_COSINE, 1);
    assert_fails(wte_nearest(&table, q, 1, 3, &opt, hits, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "a query has 3 numbers, but a row of the table 2");
    assert_fails(wte_nearest(&table, q, 2, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, 1,
                 "query 1 is all zeros");
    assert_fails(wte_nearest(&table, q + 2, 4, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, 0,
                 "query 0 is all zeros");
    opt.metric = WTE_METRIC_DOT;
    assert_ok(wte_nearest(&table, q, 2, 2, &opt, hits, &err), err);
    assert_fails(wte_nearest(&table, q, 4, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, 2,
                 "query 2 has NaN or an infinity");
    assert_fails(wte_nearest(&table, q + 6, 1, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, 0,
                 "query 0 has NaN or an infinity");
    opt.exclude = twice;
    opt.n_exclude = 3;
    assert_fails(wte_nearest(&table, q, 1, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, 2,
                 "row 3 at position 2 does not ascend from 3");
    opt = options_of((wte_metric)3, 1);
    assert_fails(wte_nearest(&table, q, 1, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "metric 3 is none");
    opt.struct_size = 3;
    assert_fails(wte_nearest(&table, q, 1, 2, &opt, hits, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "struct_size is 3");
    assert_fails(wte_nearest(NULL, q, 1, 2, NULL, hits, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "NULL");
    assert_fails(wte_nearest(&table, NULL, 1, 2, NULL, hits, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "queries is NULL");
    assert_fails(wte_nearest(&table, q, 1, 2, NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "hits is NULL");
    table = view_of(four, 2, 2, WTE_C64);
    assert_fails(wte_nearest(&table, q, 1, 2, NULL, hits, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "rows of type c64");
    table = view_of(four, 4, 0, WTE_F32);
    assert_fails(wte_nearest(&table, q, 1, 0, NULL, hits, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "0 numbers");
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    const wte_row_source table = view_of(four, 4, 2, WTE_F32);
    wte_near_options opt = options_of(WTE_METRIC_DOT, 4);
    wte_near_hit hit;
    assert_fails(wte_nearest(&table, four, UINT64_MAX / 4, 2, &opt, &hit, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "more than memory can hold");
    assert_fails(wte_nearest(&table, four, UINT64_MAX / 8, 2, &opt, &hit, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "the best 4 rows");
}

static void a_source_that_fails_ends_the_search(void **state)
{
    (void)state;
    reader r;
    const wte_row_source table = reader_of(&r, four, 4, 2, WTE_F32);
    wte_near_hit hits[10];
    r.bad = 2;
    assert_fails(wte_nearest(&table, four, 1, 2, NULL, hits, &err), err, WTE_E_IO, 2,
                 "the disk is gone");
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    *(uint64_t *)ctx = total;
    return done > total;
}

static void the_caller_may_stop_it(void **state)
{
    (void)state;
    const wte_row_source table = view_of(four, 4, 2, WTE_F32);
    uint64_t total = 0;
    const wte_progress progress = { stop_at_once, &total };
    wte_near_options opt = options_of(WTE_METRIC_DOT, 1);
    wte_near_hit hit;
    opt.progress = &progress;
    assert_fails(wte_nearest(&table, four, 1, 2, &opt, &hit, &err), err, WTE_E_CANCELLED, 4,
                 "stopped");
    assert_int_equal(total, 4);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    reader r;
    const double values[] = { 1, 2, 3, 4, 5, 6 };
    const wte_row_source table = reader_of(&r, values, 3, 2, WTE_F64);
    size_t i = 0;
    for (wte_status status = WTE_E_MEMORY; status != WTE_OK; i++) {
        test_memory memory;
        wte_near_options opt = options_of(WTE_METRIC_COSINE, 2);
        wte_near_hit hits[2];
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_nearest(&table, four, 1, 2, &opt, hits, &err);
        assert_true(status == WTE_OK || (status == WTE_E_MEMORY && err.status == WTE_E_MEMORY));
        assert_int_equal(memory.live, 0);
    }
    assert_int_equal(i, 8); /* queries, lanes, counts, heaps; lanes and two blocks of the pass */
}

static void metrics_have_names(void **state)
{
    (void)state;
    assert_string_equal(wte_metric_name(WTE_METRIC_COSINE), "cosine");
    assert_string_equal(wte_metric_name(WTE_METRIC_DOT), "dot");
    assert_string_equal(wte_metric_name(WTE_METRIC_EUCLID), "euclid");
    assert_string_equal(wte_metric_name((wte_metric)9), "unknown");
}

static const struct CMUnitTest tests[] = {
    TEST("four rows are ranked as by hand", four_rows_are_ranked_as_by_hand),
    TEST("of equal rows the lower comes first", of_equal_rows_the_lower_comes_first),
    TEST("what is excluded is no answer", what_is_excluded_is_no_answer),
    TEST("zero and non-finite rows are passed over and counted",
         zero_and_nonfinite_rows_are_passed_over_and_counted),
    TEST("values whose squares f32 cannot hold are ranked all the same",
         values_beyond_f32s_squares_are_ranked_all_the_same),
    TEST("fewer rows than asked for end the list", fewer_rows_than_asked_for_end_the_list),
    TEST("hits are those of a full ranking, bit for bit",
         hits_are_those_of_a_full_ranking_bit_for_bit),
    TEST("threads and queries do not change a bit", threads_and_queries_do_not_change_a_bit),
    TEST("a row is nearest to itself, with cosine 1", a_row_is_nearest_to_itself_with_cosine_1),
    TEST("a cosine does not depend on lengths", cosine_does_not_depend_on_lengths),
    TEST("scores are within their roundings of f64", scores_are_within_their_roundings_of_f64),
    TEST("what cannot be compared is refused", what_cannot_be_compared_is_refused),
    TEST("sizes that overflow are refused", sizes_that_overflow_are_refused),
    TEST("a source that fails ends the search", a_source_that_fails_ends_the_search),
    TEST("the caller may stop it", the_caller_may_stop_it),
    TEST("every allocation may fail", every_allocation_may_fail),
    TEST("metrics have names", metrics_have_names),
};
TEST_MAIN(tests)
