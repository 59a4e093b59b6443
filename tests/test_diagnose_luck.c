/* Diagnose: what fits by luck is no explanation, and one that explains exactly comes first. */
#include "diagnose_help.h"

/* Whole numbers in -most .. most. */
static void fill_whole(float *x, size_t n, int most, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((int)(test_noise(seed) % (uint64_t)(2 * most + 1)) - most);
}

/* Random vectors of small whole numbers against tables of whole numbers and of noise: multiples of
 * each other are everywhere, and are nobody's doing. */
static void random_whole_numbers_stay_unknown(void **state)
{
    (void)state;
    enum { ROWS = 500, MOST_COLS = 6, TRIALS = 40 };
    static float table[ROWS * MOST_COLS];
    uint64_t seed = 5;
    for (int whole = 0; whole < 2; whole++)
        for (size_t cols = 2; cols <= MOST_COLS; cols++) {
            if (whole)
                fill_whole(table, ROWS * cols, 9, &seed);
            else
                fill_noise(table, ROWS * cols, 7);
            const wte_row_source rows = rows_of(table, ROWS, cols, WTE_F32);
            for (int trial = 0; trial < TRIALS; trial++) {
                float got[MOST_COLS];
                double typed[MOST_COLS];
                fill_whole(got, cols, 20, &seed);
                for (size_t c = 0; c < cols; c++) typed[c] = (double)got[c];
                const wte_diagnosis file = diagnose_floats(&rows, trial, got, NULL);
                const wte_diagnosis hand = diagnose_typed(&rows, trial, typed, 0.5);
                assert_true(file.best.change != WTE_LABEL_SCALED || file.best.power != 0);
                assert_true(hand.best.change != WTE_LABEL_SCALED || hand.best.power != 0);
            }
        }
}

/* Many columns of whole numbers are no luck: the factor is found. */
static void a_factor_of_many_whole_numbers_is_told(void **state)
{
    (void)state;
    enum { ROWS = 50, COLS = 64 };
    static float table[ROWS * COLS], got[COLS];
    uint64_t seed = 6;
    fill_whole(table, ROWS * COLS, 9, &seed);
    for (size_t c = 0; c < COLS; c++) got[c] = 7 * table[3 * COLS + c];
    const wte_row_source rows = rows_of(table, ROWS, COLS, WTE_F32);
    const wte_diagnosis d = diagnose_floats(&rows, 3, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_SCALED);
    assert_int_equal(d.best.power, 0);
    assert_float_equal(d.best.factor, 7, 1e-6);
}

/* The head has the very row; a row of the table comes near it by a factor that nobody knows. */
static void another_table_comes_before_an_unknown_factor(void **state)
{
    (void)state;
    enum { ROWS = 8, COLS = 48 };
    static float table[ROWS * COLS], head[ROWS * COLS], more[ROWS * COLS];
    fill_noise(table, ROWS * COLS, 1);
    fill_noise(head, ROWS * COLS, 2);
    fill_noise(more, ROWS * COLS, 3);
    const wte_row_source rows = rows_of(table, ROWS, COLS, WTE_F32);
    for (int where = 0; where < 2; where++) {
        float *exact = where ? more : head;
        for (size_t c = 0; c < COLS; c++) exact[5 * COLS + c] = 1.375f * table[2 * COLS + c];
        const wte_named_source of_head = { "lm_head.weight", rows_of(head, ROWS, COLS, WTE_F32) };
        const wte_named_source other = { "other.weight", rows_of(more, ROWS, COLS, WTE_F32) };
        wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
        opt.head = &of_head;
        opt.others = &other;
        opt.n_others = 1;
        const wte_diagnosis d = diagnose_floats(&rows, 2, exact + 5 * COLS, &opt);
        assert_int_equal(d.best.label, where ? WTE_LABEL_OTHER_TENSOR : WTE_LABEL_HEAD_ROW);
        assert_int_equal(d.best.change, WTE_LABEL_UNKNOWN);
        assert_int_equal(d.best.row, 5);
        assert_int_equal(d.runner_up.label, WTE_LABEL_SCALED);
        /* without them the factor is all there is */
        const wte_diagnosis alone = diagnose_floats(&rows, 2, exact + 5 * COLS, NULL);
        assert_int_equal(alone.best.label, WTE_LABEL_SCALED);
        assert_float_equal(alone.best.factor, 1.375, 1e-6);
        fill_noise(exact, ROWS * COLS, 9);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("random whole numbers stay unknown", random_whole_numbers_stay_unknown),
    TEST("a factor of many whole numbers is told", a_factor_of_many_whole_numbers_is_told),
    TEST("another table comes before an unknown factor",
         another_table_comes_before_an_unknown_factor),
};
TEST_MAIN(tests)
