/* Judgements of tables: by hand, against plain sums in f64, and what must hold of any table. */
#include "lookup_help.h"

#include <math.h>
#include <wte/eval.h>

#include "train/eval.h"

static wte_error err;

static void assert_near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound)) fail_msg("%.17g, not %.17g", got, want);
}

static double noise(uint64_t *state)
{
    return (double)(test_noise(state) >> 11) * 0x1p-52 - 1;
}

static float *random_table(uint64_t rows, uint64_t cols, uint64_t seed)
{
    float *t = malloc((size_t)(rows * cols) * sizeof *t);
    assert_non_null(t);
    for (uint64_t i = 0; i < rows * cols; i++) t[i] = (float)noise(&seed);
    return t;
}

/* Words --------------------------------------------------------------------------------------- */

static void assert_row(const wte_vocab *v, const char *word, uint32_t forms, uint64_t rows,
                       uint64_t want)
{
    const wte_word w = { word, strlen(word) };
    assert_int_equal(wte_word_row(v, w, forms, rows), want);
}

static void words_are_looked_for_in_several_forms(void **state)
{
    (void)state;
    static const char json[] =
        "{\"King\": 0, \"king\": 1, \" queen\": 2, \"queen\": 3, \"oslo\": 4}";
    wte_vocab *v;
    assert_ok(wte_vocab_open_memory(json, sizeof json - 1, "v", WTE_VOCAB_JSON, NULL, &v, &err),
              err);
    assert_row(v, "King", WTE_WORD_LOWER, 5, 0);
    assert_row(v, "king", 0, 5, 1);
    assert_row(v, "KING", 0, 5, WTE_NO_INDEX);
    assert_row(v, "KING", WTE_WORD_LOWER, 5, 1);
    assert_row(v, "queen", 0, 5, 3);
    assert_row(v, "queen", WTE_WORD_SPACED, 5, 2);
    assert_row(v, "Queen", WTE_WORD_SPACED | WTE_WORD_LOWER, 5, 2);
    assert_row(v, "king", WTE_WORD_SPACED, 5, 1);
    assert_row(v, "Oslo", WTE_WORD_LOWER, 5, 4);
    assert_row(v, "Oslo", WTE_WORD_LOWER, 4, WTE_NO_INDEX);
    assert_row(v, "", WTE_WORD_LOWER, 5, WTE_NO_INDEX);
    assert_row(NULL, "king", 0, 5, WTE_NO_INDEX);
    wte_vocab_free(v);
}

/* Correlation --------------------------------------------------------------------------------- */

static void equal_numbers_share_their_mean_rank(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 2, 3 }, y[] = { 10, 3000, 200, 40000 }, down[] = { 9, 7, 7, -1 };
    double r;
    assert_ok(wte_spearman(x, y, 4, NULL, &r, &err), err);
    assert_near(r, 4.5 / sqrt(4.5 * 5), 1e-15);
    assert_ok(wte_spearman(x, down, 4, NULL, &r, &err), err);
    assert_near(r, -1, 1e-15);
    assert_ok(wte_pearson(x, down, 4, &r, &err), err);
    assert_near(r, -10 / sqrt(2 * 59.0), 1e-15);
}

static void a_constant_side_has_no_correlation(void **state)
{
    (void)state;
    const double x[] = { 1, 2, 3 }, flat[] = { 5, 5, 5 }, bad[] = { 1, (double)NAN, 2 };
    double r = 0;
    assert_ok(wte_spearman(x, flat, 3, NULL, &r, &err), err);
    assert_true(isnan(r));
    assert_ok(wte_spearman(x, x, 1, NULL, &r, &err), err);
    assert_true(isnan(r));
    assert_fails(wte_pearson(x, bad, 3, &r, &err), err, WTE_E_ARGUMENT, 1, "pair 1 (2, nan)");
    assert_fails(wte_spearman(bad, x, 3, NULL, &r, &err), err, WTE_E_ARGUMENT, 1, "pair 1");
}

static void pairs_without_a_cosine_are_left_out(void **state)
{
    (void)state;
    const double table[] = { 1, 0, 0, 2, 3, 3, 0, 0, (double)NAN, 1, -1e-3, 0 };
    const wte_row_source rows = view_of(table, 6, 2, WTE_F64);
    const uint64_t pairs[] = { 0, 1, 0, 2, 0, 3, 4, 0, 0, 5, WTE_NO_INDEX, 1, 2, 2 };
    const double judged[] = { 2, 7, 9, 9, 1, 9, 10 };
    double cosines[7];
    wte_similarity_options opt = WTE_SIMILARITY_OPTIONS_INIT;
    wte_similarity s;
    opt.cosines = cosines;
    assert_ok(wte_eval_similarity(&rows, pairs, judged, 7, &opt, &s, &err), err);
    assert_int_equal(s.pairs, 7);
    assert_int_equal(s.missing, 1);
    assert_int_equal(s.covered, 4);
    assert_near(cosines[0], 0, 0);
    assert_near(cosines[1], sqrt(0.5), 1e-15);
    assert_true(isnan(cosines[2]) && isnan(cosines[3]) && isnan(cosines[5]));
    assert_near(cosines[4], -1, 0);
    assert_near(cosines[6], 1, 1e-15);
    assert_near(s.spearman, 1, 1e-15);
    const double x[] = { 0, sqrt(0.5), -1, 1 }, y[] = { 2, 7, 1, 10 };
    double want;
    assert_ok(wte_pearson(x, y, 4, &want, &err), err);
    assert_near(s.pearson, want, 1e-15);
    const uint64_t beyond[] = { 0, 6 };
    assert_fails(wte_eval_similarity(&rows, beyond, judged, 1, NULL, &s, &err), err, WTE_E_RANGE, 1,
                 "row 6 at position 1, but there are 6 rows");
    assert_ok(wte_eval_similarity(&rows, NULL, NULL, 0, NULL, &s, &err), err);
    assert_true(s.covered == 0 && isnan(s.spearman) && isnan(s.pearson));
}

/* Analogies ----------------------------------------------------------------------------------- */

enum { MAN, WOMAN, KING, QUEEN, APPLE, ZEROS, QUEEN_AGAIN, WORDS };
static const float royal[] = { 1, 0, 0, 0, 2, 0, 3, 0, 3, 0, 1, 1, -1, -1, 0, 0, 0, 0, 0, 5, 5 };

static void king_less_man_and_woman_is_queen(void **state)
{
    (void)state;
    const wte_row_source table = view_of(royal, WORDS, 3, WTE_F32);
    const uint64_t questions[] = { MAN,   KING,  WOMAN, QUEEN, /* the lower of two equal rows */
                                   QUEEN, WOMAN, KING,  MAN,   /* king itself would be nearest */
                                   MAN,   KING,  WOMAN, WTE_NO_INDEX, ZEROS, KING, WOMAN, QUEEN };
    uint64_t answers[4];
    assert_ok(wte_eval_analogies(&table, questions, 4, NULL, answers, &err), err);
    assert_int_equal(answers[0], QUEEN);
    assert_int_equal(answers[1], MAN);
    assert_int_equal(answers[2], WTE_NO_INDEX);
    assert_int_equal(answers[3], WTE_NO_INDEX);
    wte_analogy_options opt = WTE_ANALOGY_OPTIONS_INIT;
    opt.first_rows = QUEEN; /* which is beyond then */
    assert_ok(wte_eval_analogies(&table, questions, 1, &opt, answers, &err), err);
    assert_int_equal(answers[0], WTE_NO_INDEX);
    const uint64_t same[] = { MAN, KING, WOMAN, MAN };
    assert_ok(wte_eval_analogies(&table, same, 1, &opt, answers, &err), err);
    assert_int_equal(answers[0], WTE_NO_INDEX); /* three rows, all of them asked about */
    const uint64_t beyond[] = { 0, 1, 2, WORDS };
    assert_fails(wte_eval_analogies(&table, beyond, 1, NULL, answers, &err), err, WTE_E_RANGE, 3,
                 "row 7 at position 3");
}

/* The greatest and the next product with b - a + c among rows of length 1, in f64. */
static uint64_t best_of(const float *t, uint64_t rows, uint64_t cols, const uint64_t *q,
                        double *margin)
{
    double norm[3], best = -INFINITY, next = -INFINITY;
    uint64_t answer = WTE_NO_INDEX;
    for (uint64_t r = 0; r < rows + 3; r++) {
        const float *x = t + (r < 3 ? q[r] : r - 3) * cols;
        double square = 0, sum = 0;
        for (uint64_t c = 0; c < cols; c++) square += (double)x[c] * (double)x[c];
        if (r < 3) {
            norm[r] = sqrt(square);
            continue;
        }
        if (r - 3 == q[0] || r - 3 == q[1] || r - 3 == q[2]) continue;
        for (uint64_t c = 0; c < cols; c++)
            sum += (double)x[c] *
                   ((double)t[q[1] * cols + c] / norm[1] - (double)t[q[0] * cols + c] / norm[0] +
                    (double)t[q[2] * cols + c] / norm[2]);
        sum /= sqrt(square);
        if (sum > best) answer = r - 3;
        next = fmax(next, fmin(sum, best));
        best = fmax(best, sum);
    }
    *margin = best - next;
    return answer;
}

static void answers_are_those_of_plain_sums_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { ROWS = 700, COLS = 33, QUESTIONS = 1500 };
    float *t = random_table(ROWS, COLS, 5);
    uint64_t *q = malloc(4 * QUESTIONS * sizeof *q), *answers = malloc(QUESTIONS * sizeof *answers);
    uint64_t seed = 9, compared = 0;
    assert_true(q && answers);
    for (size_t i = 0; i < 4 * QUESTIONS; i++) q[i] = test_noise(&seed) % ROWS;
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        wte_analogy_options opt = WTE_ANALOGY_OPTIONS_INIT;
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        assert_ok(wte_eval_analogies(&table, q, QUESTIONS, &opt, answers, &err), err);
        wte_pool_free(opt.pool);
        for (size_t i = 0; i < QUESTIONS; i++) {
            double margin;
            const uint64_t want = best_of(t, ROWS, COLS, q + 4 * i, &margin);
            if (margin < 1e-5) continue;
            assert_int_equal(answers[i], want);
            compared++;
        }
    }
    assert_true(compared > 4400);
    free(t);
    free(q);
    free(answers);
}

/* Agreement ----------------------------------------------------------------------------------- */

static void turned_to(const double *degrees, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = (float)cos(degrees[i] * 3.14159265358979 / 180);
        out[2 * i + 1] = (float)sin(degrees[i] * 3.14159265358979 / 180);
    }
}

static void common_neighbours_are_counted_as_by_hand(void **state)
{
    (void)state;
    const double angles_a[] = { 0, 10, 50, 61 }, angles_b[] = { 0, 50, 10, 61 };
    float a[8], b[8];
    turned_to(angles_a, 4, a);
    turned_to(angles_b, 4, b);
    const wte_row_source rows_a = view_of(a, 4, 2, WTE_F32), rows_b = view_of(b, 4, 2, WTE_F32);
    wte_agreement_options opt = WTE_AGREEMENT_OPTIONS_INIT;
    wte_agreement out;
    opt.top = 1;
    assert_ok(wte_eval_agreement(&rows_a, &rows_b, &opt, &out, &err), err);
    assert_near(out.common, 0, 0);
    assert_near(out.by_chance, 1.0 / 3, 1e-15);
    opt.top = 2;
    assert_ok(wte_eval_agreement(&rows_a, &rows_b, &opt, &out, &err), err);
    assert_near(out.common, 6.0 / 8, 1e-15);
    opt.top = 9;
    assert_ok(wte_eval_agreement(&rows_a, &rows_b, &opt, &out, &err), err);
    assert_int_equal(out.top, 3);
    assert_near(out.common, 1, 0);
    assert_int_equal(out.shared, 4);
    assert_int_equal(out.sampled, 4);
    assert_int_equal(out.pairs, 100000);
}

static void a_table_agrees_with_itself_turned_scaled_and_in_another_order(void **state)
{
    (void)state;
    enum { ROWS = 300, COLS = 16, WIDE = 20 };
    float *a = random_table(ROWS, COLS, 3), b[ROWS * WIDE] = { 0 };
    uint64_t rows_a[ROWS], rows_b[ROWS];
    for (uint64_t i = 0; i < ROWS; i++) { /* columns change places and sign, rows their order */
        rows_a[i] = i;
        rows_b[i] = (i * 7 + 5) % ROWS;
        for (uint64_t c = 0; c < COLS; c++)
            b[rows_b[i] * WIDE + (c + 3) % WIDE] = (c % 2 ? -2 : 2) * a[i * COLS + c];
    }
    memset(a + 10 * COLS, 0, COLS * sizeof *a);
    b[rows_b[20] * WIDE] = NAN;
    const wte_row_source x = view_of(a, ROWS, COLS, WTE_F32), y = view_of(b, ROWS, WIDE, WTE_F32);
    wte_agreement_options opt = WTE_AGREEMENT_OPTIONS_INIT;
    wte_agreement out, again;
    opt.rows_a = rows_a;
    opt.rows_b = rows_b;
    opt.n = ROWS;
    opt.sample = 100;
    opt.seed = 4;
    opt.pairs = 2000;
    assert_ok(wte_eval_agreement(&x, &y, &opt, &out, &err), err);
    assert_int_equal(out.shared, ROWS - 2);
    assert_int_equal(out.left_out, 2);
    assert_int_equal(out.sampled, 100);
    assert_near(out.common, 1, 0);
    assert_near(out.pearson, 1, 1e-12);
    assert_true(out.spearman > 0.999999);
    opt.n = 0;
    opt.rows_a = opt.rows_b = NULL;
    opt.sample = WTE_NO_INDEX;
    assert_ok(wte_eval_agreement(&x, &y, &opt, &out, &err), err);
    assert_int_equal(out.sampled, ROWS - 2);
    assert_true(out.common < 0.1 && fabs(out.pearson) < 0.1);
    assert_ok(wte_pool_create(3, &opt.pool, &err), err);
    assert_ok(wte_eval_agreement(&x, &y, &opt, &again, &err), err);
    wte_pool_free(opt.pool);
    assert_memory_equal(&out.common, &again.common, 4 * sizeof(double));
    free(a);
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    const float t[] = { 1, 2, 3, 4 };
    const wte_row_source x = view_of(t, 2, 2, WTE_F32);
    const uint64_t rows[] = { 0, 2 };
    wte_agreement_options opt = WTE_AGREEMENT_OPTIONS_INIT;
    wte_agreement out;
    opt.rows_a = rows;
    assert_fails(wte_eval_agreement(&x, &x, &opt, &out, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "rows_b is NULL");
    opt.rows_b = rows;
    opt.n = 2;
    assert_fails(wte_eval_agreement(&x, &x, &opt, &out, &err), err, WTE_E_RANGE, 1,
                 "row 2 at position 1");
    opt.n = 1;
    assert_ok(wte_eval_agreement(&x, &x, &opt, &out, &err), err);
    assert_true(out.shared == 1 && isnan(out.common) && isnan(out.pearson));
    opt = (wte_agreement_options)WTE_AGREEMENT_OPTIONS_INIT;
    opt.top = 70000;
    assert_fails(wte_eval_agreement(&x, &x, &opt, &out, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "70000 neighbours");
}

/* Failures ------------------------------------------------------------------------------------ */

static bool stop_later(void *ctx, uint64_t done, uint64_t total)
{
    (void)total;
    return done <= *(uint64_t *)ctx;
}

static void progress_may_stop_the_work(void **state)
{
    (void)state;
    const wte_row_source table = view_of(royal, WORDS, 3, WTE_F32);
    const uint64_t q[] = { MAN, KING, WOMAN, QUEEN };
    uint64_t answer, first = 0;
    const wte_progress stop = { stop_later, &first };
    wte_analogy_options analogy = WTE_ANALOGY_OPTIONS_INIT;
    wte_agreement_options agreement = WTE_AGREEMENT_OPTIONS_INIT;
    wte_agreement out;
    analogy.progress = agreement.progress = &stop;
    assert_fails(wte_eval_analogies(&table, q, 1, &analogy, &answer, &err), err, WTE_E_CANCELLED, 1,
                 "stopped after 1 of 1");
    assert_fails(wte_eval_agreement(&table, &table, &agreement, &out, &err), err, WTE_E_CANCELLED,
                 WORDS - 1, "stopped after 6 of 12");
}

static wte_status run_with(int kind, const wte_allocator *a)
{
    const wte_row_source table = view_of(royal, WORDS, 3, WTE_F32);
    const uint64_t q[] = { MAN, KING, WOMAN, QUEEN };
    const double judged[] = { 1, 2 };
    uint64_t answer;
    wte_similarity_options similarity = WTE_SIMILARITY_OPTIONS_INIT;
    wte_analogy_options analogy = WTE_ANALOGY_OPTIONS_INIT;
    wte_agreement_options agreement = WTE_AGREEMENT_OPTIONS_INIT;
    wte_similarity s;
    wte_agreement out;
    similarity.allocator = analogy.allocator = agreement.allocator = a;
    agreement.pairs = 10;
    switch (kind) {
    case 0: return wte_eval_similarity(&table, q, judged, 2, &similarity, &s, &err);
    case 1: return wte_eval_analogies(&table, q, 1, &analogy, &answer, &err);
    default: return wte_eval_agreement(&table, &table, &agreement, &out, &err);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        wte_status status = WTE_E_MEMORY;
        for (size_t fail = 0; status != WTE_OK; fail++) {
            test_memory m;
            test_memory_init(&m, fail);
            status = run_with(kind, &m.allocator);
            if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
            assert_int_equal(m.live, 0);
            assert_true(fail < 60);
        }
    }
}

static void tables_that_do_not_convert_are_refused(void **state)
{
    (void)state;
    const uint8_t bytes[4] = { 0 };
    const wte_row_source table = view_of(bytes, 2, 2, WTE_F8_E8M0);
    const uint64_t q[4] = { 0 };
    uint64_t answer;
    double judged = 1;
    wte_similarity s;
    wte_agreement out;
    wte_isotropy i;
    assert_fails(wte_eval_similarity(&table, q, &judged, 1, NULL, &s, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "have no numbers");
    assert_fails(wte_eval_analogies(&table, q, 1, NULL, &answer, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "have no numbers");
    assert_fails(wte_eval_agreement(&table, &table, NULL, &out, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "have no numbers");
    assert_fails(wte_eval_isotropy(&table, NULL, &i, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "have no numbers");
}

static const struct CMUnitTest tests[] = {
    TEST("words are looked for as written, with a space, in small letters",
         words_are_looked_for_in_several_forms),
    TEST("equal numbers share their mean rank", equal_numbers_share_their_mean_rank),
    TEST("a constant side has no correlation, NaN is refused", a_constant_side_has_no_correlation),
    TEST("pairs without a cosine are left out", pairs_without_a_cosine_are_left_out),
    TEST("king less man and woman is queen, never one of the three, the lower of equal ones",
         king_less_man_and_woman_is_queen),
    TEST("answers are those of plain sums for any number of threads",
         answers_are_those_of_plain_sums_for_any_number_of_threads),
    TEST("common neighbours are counted as by hand", common_neighbours_are_counted_as_by_hand),
    TEST("a table agrees with itself turned, scaled and in another order",
         a_table_agrees_with_itself_turned_scaled_and_in_another_order),
    TEST("what cannot be compared is refused", what_cannot_be_compared_is_refused),
    TEST("progress may stop the work", progress_may_stop_the_work),
    TEST("every allocation may fail, and nothing leaks", every_allocation_may_fail),
    TEST("tables that do not convert are refused", tables_that_do_not_convert_are_refused),
};
TEST_MAIN(tests)
