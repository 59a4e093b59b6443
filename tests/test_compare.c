/* Two tables element by element: differences of numbers, and elements that are NaN in one alone. */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "test.h"

#define ROWS 3
#define COLS 2

static wte__difference compare(float a[ROWS * COLS], float b[ROWS * COLS])
{
    const wte_row_source x = {
        .rows = ROWS, .cols = COLS, .dtype = WTE_F32, .data = a, .row_bytes = COLS * sizeof *a
    };
    wte_row_source y = x;
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    wte__difference d;
    y.data = b;
    assert_int_equal(wte__rows_compare(&x, &y, ROWS, &opt, &d, NULL), WTE_OK);
    return d;
}

static void nan_and_infinity_are_told_apart(void **state)
{
    (void)state;
    float a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 2, 3, 4, 5, 6 };
    wte__difference d = compare(a, b);
    assert_true(d.rows == 0 && d.first == WTE_NO_INDEX && d.max == 0 && d.n_nan == 0);
    b[1] = NAN; /* against a number: a difference of no size */
    b[4] = NAN;
    b[3] = 4.5f;
    d = compare(a, b);
    assert_int_equal(d.rows, 3);
    assert_true(d.max == 0.5 && d.max_row == 1 && d.max_col == 1);
    assert_true(d.n_nan == 2 && d.nan_row == 0 && d.nan_col == 1);
    d = compare(b, a);
    assert_true(d.n_nan == 2 && d.nan_row == 0 && d.nan_col == 1);
    a[1] = a[4] = NAN; /* NaN in both */
    d = compare(a, b);
    assert_true(d.rows == 1 && d.n_nan == 0 && d.max == 0.5);
    a[3] = INFINITY; /* against a number */
    d = compare(a, b);
    assert_true(isinf(d.max) && d.max_row == 1 && d.n_nan == 0);
    b[3] = NAN; /* infinity against NaN */
    d = compare(a, b);
    assert_true(d.max == 0 && d.rows == 1 && d.n_nan == 1 && d.nan_row == 1 && d.nan_col == 1);
    a[3] = b[3] = -INFINITY; /* equal infinities */
    d = compare(a, b);
    assert_true(d.rows == 0 && d.n_nan == 0);
}

static const struct CMUnitTest tests[] = {
    TEST("nan and infinity are told apart", nan_and_infinity_are_told_apart),
};
TEST_MAIN(tests)
