/* Kernels of learning: every set against the scalar one, bit for bit, and that one against plain
 * sums in f64. */
#include <math.h>

#include "num/kernels.h"
#include "test.h"

#define MOST_ROWS (WTE__LEARN_IN + 70)
#define MOST_COLS 320u

/* Vectors and rows that end at unreadable pages. */
typedef struct fixture {
    size_t cols, n_in, n_out;
    float *in[MOST_ROWS], *out[MOST_ROWS];
    float labels[MOST_ROWS], logits[MOST_ROWS * MOST_ROWS];
} fixture;

static float noise(uint64_t *seed)
{
    return (float)(int64_t)(test_noise(seed) % 20001) / 10000.0f - 1.0f;
}

static void make(fixture *f, size_t cols, size_t n_in, size_t n_out, uint64_t seed)
{
    f->cols = cols;
    f->n_in = n_in;
    f->n_out = n_out;
    for (size_t i = 0; i < n_in + n_out; i++) {
        float *row = test_guarded(cols * sizeof *row);
        for (size_t c = 0; c < cols; c++) row[c] = noise(&seed);
        *(i < n_in ? &f->in[i] : &f->out[i - n_in]) = row;
    }
    for (size_t k = 0; k < n_out; k++) f->labels[k] = (float)(test_noise(&seed) % 2);
    memset(f->logits, 0, sizeof f->logits);
}

static void clear(fixture *f)
{
    for (size_t i = 0; i < f->n_in; i++) test_guarded_free(f->in[i], f->cols * sizeof(float));
    for (size_t k = 0; k < f->n_out; k++) test_guarded_free(f->out[k], f->cols * sizeof(float));
}

static void learn(const wte__kernels *kernels, fixture *f, float lr)
{
    const wte__learn_pairs job = { f->in,   f->out,    f->n_in, f->n_out,
                                   f->cols, f->labels, lr,      f->logits };
    kernels->learn_pairs(&job);
}

static void assert_same(const fixture *a, const fixture *b, const char *isa)
{
    for (size_t i = 0; i < a->n_in; i++)
        if (memcmp(a->in[i], b->in[i], a->cols * sizeof(float)) != 0)
            fail_msg("%s: vector %zu of %zu x %zu, %zu columns", isa, i, a->n_in, a->n_out,
                     a->cols);
    for (size_t k = 0; k < a->n_out; k++)
        if (memcmp(a->out[k], b->out[k], a->cols * sizeof(float)) != 0)
            fail_msg("%s: row %zu of %zu x %zu, %zu columns", isa, k, a->n_in, a->n_out, a->cols);
    if (memcmp(a->logits, b->logits, sizeof a->logits) != 0)
        fail_msg("%s: logits of %zu x %zu, %zu columns", isa, a->n_in, a->n_out, a->cols);
}

static void all_sets_give_the_same_bits(void **state)
{
    static const size_t cols[] = { 16, 32, 48, 112, 304, 320 };
    const wte__kernels *sets[8];
    const size_t n_sets = wte__kernels_all(sets, 8);
    (void)state;
    for (size_t n_in = 1; n_in <= 12; n_in++) {
        for (size_t n_out = 1; n_out <= 18; n_out++) {
            if (n_in == 12) n_in = WTE__LEARN_IN; /* the most there are, in the end */
            const uint64_t seed = n_in * 100 + n_out;
            fixture expected, got;
            make(&expected, cols[seed % 6], n_in, n_out, seed);
            learn(sets[0], &expected, 0.25f);
            for (size_t s = 1; s < n_sets; s++) {
                make(&got, cols[seed % 6], n_in, n_out, seed);
                learn(sets[s], &got, 0.25f);
                assert_same(&got, &expected, sets[s]->isa);
                clear(&got);
            }
            clear(&expected);
        }
    }
}

/* One group: gradients of all pairs at the values before. */
static void a_step_is_that_of_logistic_regression(void **state)
{
    const wte__kernels *sets[8];
    fixture old, now;
    (void)state;
    wte__kernels_all(sets, 8);
    make(&old, 48, 3, 5, 9);
    make(&now, 48, 3, 5, 9);
    learn(sets[0], &now, 0.1f);
    double slope[3][5];
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 5; k++) {
            double x = 0;
            for (size_t c = 0; c < 48; c++) x += (double)old.in[i][c] * (double)old.out[k][c];
            assert_true(fabs(x - (double)now.logits[i * 5 + k]) < 1e-5);
            slope[i][k] = ((double)old.labels[k] - 1 / (1 + exp(-x))) * 0.1;
        }
    }
    for (size_t c = 0; c < 48; c++) {
        for (size_t i = 0; i < 3; i++) {
            double x = (double)old.in[i][c];
            for (size_t k = 0; k < 5; k++) x += slope[i][k] * (double)old.out[k][c];
            assert_true(fabs(x - (double)now.in[i][c]) < 1e-6);
        }
        for (size_t k = 0; k < 5; k++) {
            double x = (double)old.out[k][c];
            for (size_t i = 0; i < 3; i++) x += slope[i][k] * (double)old.in[i][c];
            assert_true(fabs(x - (double)now.out[k][c]) < 1e-6);
        }
    }
    clear(&old);
    clear(&now);
}

static void extremes_are_learned_alike(void **state)
{
    static const float large[] = { 0, 30, -30, 1e4f, -1e4f, INFINITY, NAN };
    const wte__kernels *sets[8];
    const size_t n_sets = wte__kernels_all(sets, 8);
    (void)state;
    for (size_t v = 0; v < sizeof large / sizeof *large; v++) {
        for (size_t s = 0; s < n_sets; s++) {
            fixture f;
            make(&f, 16, 2, 1, 1);
            for (size_t i = 0; i < 2; i++) memset(f.in[i], 0, 16 * sizeof(float));
            memset(f.out[0], 0, 16 * sizeof(float));
            f.in[0][3] = large[v];
            f.out[0][3] = 1;
            f.labels[0] = 1;
            learn(sets[s], &f, 1);
            const double x = (double)large[v], slope = 1 - 1 / (1 + exp(-x));
            if (isnan(x))
                assert_true(isnan(f.in[0][3]) && isnan(f.out[0][3]));
            else
                assert_true(f.in[0][3] == large[v] || fabs((double)f.in[0][3] - x - slope) < 1e-3);
            assert_true(f.in[1][3] == 0.5f); /* of a logit of 0 */
            clear(&f);
        }
    }
}

static void nothing_is_learned_of_nothing(void **state)
{
    const wte__kernels *sets[8];
    const size_t n_sets = wte__kernels_all(sets, 8);
    (void)state;
    for (size_t s = 0; s < n_sets; s++) {
        const wte__learn_pairs none = { 0 };
        const wte__learn_rows rows = { 0 };
        sets[s]->learn_pairs(&none);
        sets[s]->learn_mean(&rows, NULL);
        sets[s]->learn_add(&rows, NULL, NULL);
    }
}

static void means_and_changes_of_rows_agree(void **state)
{
    static const uint32_t rows[] = { 2, 0, 5, 2, 3 };
    static const float weights[] = { 0.5f, 0.25f, -1, 2, 0.1f };
    const wte__kernels *sets[8];
    const size_t n_sets = wte__kernels_all(sets, 8);
    (void)state;
    for (size_t cols = 16; cols <= MOST_COLS; cols += 16) {
        const size_t stride = cols + 16 * (cols % 3), bytes = (5 * stride + cols) * sizeof(float);
        for (size_t n = 1; n <= 5; n++) {
            float mean[MOST_COLS], expected[MOST_COLS], added = 0;
            for (size_t s = 0; s < n_sets; s++) {
                uint64_t seed = cols + n;
                float *table = test_guarded(bytes), before[MOST_COLS];
                for (size_t i = 0; i < bytes / sizeof *table; i++) table[i] = noise(&seed);
                for (size_t i = 0; i < cols; i++) before[i] = noise(&seed);
                wte__learn_rows job = { table, stride, cols, rows, n, n % 2 ? weights : NULL };
                sets[s]->learn_mean(&job, mean);
                double plain = 0;
                for (size_t i = 0; i < n; i++)
                    plain += (job.weights ? (double)weights[i] : 1 / (double)n) *
                             (double)table[rows[i] * stride + 7];
                assert_true(fabs(plain - (double)mean[7]) < 1e-6);
                if (s == 0) memcpy(expected, mean, sizeof expected);
                assert_memory_equal(mean, expected, cols * sizeof *mean);
                const float old = table[2 * stride + 5];
                sets[s]->learn_add(&job, mean, before);
                const float d = mean[5] - before[5], once = old + d, twice = once + d;
                assert_true(table[2 * stride + 5] == (n > 3 ? twice : once));
                if (s == 0) added = table[2 * stride + 5];
                assert_true(table[2 * stride + 5] == added);
                test_guarded_free(table, bytes);
            }
        }
    }
}

static const struct CMUnitTest tests[] = {
    TEST("all sets give the same bits", all_sets_give_the_same_bits),
    TEST("a step is that of logistic regression", a_step_is_that_of_logistic_regression),
    TEST("extremes are learned alike", extremes_are_learned_alike),
    TEST("nothing is learned of nothing", nothing_is_learned_of_nothing),
    TEST("means and changes of rows agree", means_and_changes_of_rows_agree),
};
TEST_MAIN(tests)
