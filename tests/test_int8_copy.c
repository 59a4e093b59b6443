/* Rough copies of rows: what they say is apart must be, and they must say so of most that are. */
#include "check_models.h"

#include "inspect/int8_copy.h"

#define ROWS_MADE 200u
#define NEAR      0.95

static double cosine(const float *a, const float *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

/* Row 0, and others turned away from it further and further: cosines from 1 to 0.7 or so. */
static float *fan(size_t dim, float peak)
{
    float *t = trained_table(ROWS_MADE, dim, 7);
    t[dim / 2] += peak;
    for (size_t r = 1; r < ROWS_MADE; r++)
        for (size_t c = 0; c < dim; c++)
            t[r * dim + c] = t[c] + t[r * dim + c] * (float)r / (ROWS_MADE / 2);
    return t;
}

static void what_is_told_apart_is_apart(void **state)
{
    (void)state;
    static const size_t dims[] = { 1, 16, 50, 300, 1024 };
    static const float peaks[] = { 0, 3, 1000 };
    for (size_t i = 0; i < 15; i++) {
        const size_t dim = dims[i % 5];
        float *t = fan(dim, peaks[i / 5]);
        wte__int8_copy r;
        assert_int_equal(wte__int8_copy_make(&r, ROWS_MADE, dim, NULL, NULL), WTE_OK);
        for (size_t row = 0; row < ROWS_MADE; row++) wte__int8_copy_set(&r, row, t + row * dim);
        size_t far = 0, told = 0;
        for (size_t row = 1; row < ROWS_MADE; row++) {
            const double cos = cosine(t, t + row * dim, dim);
            const bool apart = wte__int8_copy_apart(&r, 0, row, NEAR);
            if (apart) assert_true(cos < NEAR);
            far += cos < NEAR - 0.02;
            told += apart && cos < NEAR - 0.02;
        }
        if (peaks[i / 5] == 0) assert_int_equal(told, far);
        if (peaks[i / 5] == 0 && dim > 1) assert_true(far > ROWS_MADE / 4);
        wte__int8_copy_free(&r);
        free(t);
    }
}

static void rows_without_a_direction_are_never_told_apart(void **state)
{
    (void)state;
    static const float rows[4][2] = { { 0, 0 }, { 1, 0 }, { 0x1p-149f, 0 }, { 0, -0x1p127f } };
    wte__int8_copy r;
    assert_int_equal(wte__int8_copy_make(&r, 4, 2, NULL, NULL), WTE_OK);
    for (size_t i = 0; i < 4; i++) wte__int8_copy_set(&r, i, rows[i]);
    for (size_t i = 1; i < 4; i++) assert_false(wte__int8_copy_apart(&r, 0, i, NEAR));
    assert_false(wte__int8_copy_apart(&r, 1, 2, NEAR)); /* one direction, however short */
    assert_true(wte__int8_copy_apart(&r, 1, 3, NEAR));
    wte__int8_copy_free(&r);
}

static void no_copy_is_made_of_what_is_over_the_limit(void **state)
{
    (void)state;
    wte__int8_copy r;
    assert_int_equal(wte__int8_copy_make(&r, UINT64_MAX, 3, NULL, NULL), WTE_OK);
    assert_null(r.steps);
    assert_false(wte__int8_copy_apart(&r, 0, 1, NEAR));
    wte__int8_copy_free(&r);
    assert_int_equal(wte__int8_copy_make(&r, 2, 131073, NULL, NULL), WTE_OK);
    assert_null(r.steps);
}

static void memory_that_is_refused_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        test_memory memory;
        wte__int8_copy r;
        test_memory_init(&memory, i);
        const wte_status status = wte__int8_copy_make(&r, 10, 3, &memory.allocator, NULL);
        assert_int_equal(status, i < 2 ? WTE_E_MEMORY : WTE_OK);
        wte__int8_copy_free(&r);
        assert_int_equal(memory.live, 0);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("what is told apart is apart, and nearly all that is", what_is_told_apart_is_apart),
    TEST("rows without a direction are never told apart",
         rows_without_a_direction_are_never_told_apart),
    TEST("no copy is made of what is over the limit", no_copy_is_made_of_what_is_over_the_limit),
    TEST("memory that is refused leaves nothing", memory_that_is_refused_leaves_nothing),
};
TEST_MAIN(tests)
