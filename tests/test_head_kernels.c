/* The kernels behind softmax, top k and gradients: every instruction set against a plain statement
 * bit for bit, against doubles within a bound, at unreadable pages, with NaN and infinities. */
#include "test.h"

#include <math.h>

#include "num/kernels.h"

#define LONGEST 70u

static const wte__kernels *sets[WTE__MAX_ISAS];
static size_t n_sets;

static int find_sets(void **state)
{
    (void)state;
    n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    return 0;
}

static float number(uint64_t *noise, float size)
{
    return (float)((double)(test_noise(noise) >> 11) * 0x1p-52 - 1) * size;
}

/* Same bits, or NaN both. */
static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void assert_same(const float *a, const float *b, size_t n, const char *isa, size_t length)
{
    for (size_t j = 0; j < n; j++)
        if (!same(a[j], b[j]))
            fail_msg("%s, length %zu: number %zu is %a, not %a", isa, length, j, (double)a[j],
                     (double)b[j]);
}

/* Two arrays of n floats that end at unreadable pages, one of noise. */
typedef struct arrays {
    float *x, *out;
    size_t n;
} arrays;

static arrays make_arrays(size_t n, uint64_t seed, float size)
{
    arrays a = { test_guarded(n * sizeof(float)), test_guarded(n * sizeof(float)), n };
    for (size_t j = 0; j < n; j++) a.x[j] = number(&seed, size);
    return a;
}
static void free_arrays(arrays *a)
{
    test_guarded_free(a->x, a->n * sizeof(float));
    test_guarded_free(a->out, a->n * sizeof(float));
}

static void exp_is_near_that_of_doubles(void **state)
{
    (void)state;
    float x[1024], zero[1024] = { 0 }, out[1024];
    double worst = 0, near = 0; /* of all, and of those from -8 on */
    for (int quarter = 0; quarter < 348; quarter++) {
        const float from = -86.99f + 0.25f * (float)quarter;
        for (size_t j = 0; j < 1024; j++) x[j] = from + (float)j / 4096;
        wte__kernels_get()->exp_f32(out, x, zero, 1, 1024);
        for (size_t j = 0; j < 1024; j++) {
            const double exact = exp((double)x[j]);
            const double error = fabs((double)out[j] - exact) / exact;
            worst = fmax(worst, error);
            if (x[j] >= -8) near = fmax(near, error);
        }
    }
    assert_true(near < 1.4e-7 && near > 1e-9);
    assert_true(worst < 3.6e-7);
}

static void exp_of_special_numbers(void **state)
{
    (void)state;
    const float x[] = { 0, -0.0f, -87.0f, -87.001f, -1e30f, -INFINITY, NAN, 5, 1 };
    const float minus[] = { 0, 0, 0, 0, 0, 0, 0, 5, 2 };
    for (size_t s = 0; s < n_sets; s++) {
        float out[9];
        sets[s]->exp_f32(out, x, minus, 1, 9);
        assert_true(out[0] == 1 && out[1] == 1 && out[7] == 1);
        assert_true(out[2] > 1.6e-38f && out[2] < 1.7e-38f);
        assert_true(out[3] == 0 && out[4] == 0 && out[5] == 0);
        assert_true(isnan(out[6]));
        assert_float_equal(out[8], 0.36787944f, 1e-7f);
    }
}

static void exp_is_the_same_on_every_set(void **state)
{
    (void)state;
    for (size_t n = 0; n <= LONGEST; n++) {
        float minus[LONGEST], expected[LONGEST];
        uint64_t seed = n + 1;
        arrays a = make_arrays(n, n + 1, 60);
        for (size_t j = 0; j < n; j++) minus[j] = 60 + number(&seed, 30);
        sets[0]->exp_f32(expected, a.x, minus, 0.7f, n);
        for (size_t s = 0; s < n_sets; s++) {
            sets[s]->exp_f32(a.out, a.x, minus, 0.7f, n);
            assert_same(a.out, expected, n, sets[s]->isa, n);
        }
        free_arrays(&a);
    }
}

/* Lane j mod 16 takes number j; the upper half of the lanes is added to the lower, four times. */
static void sums_in_order(const float *x, size_t n, float times, float out[3])
{
    float lane[16] = { 0 }, all[16] = { 0 }, most = -INFINITY;
    for (size_t j = 0; j < n; j++)
        if (x[j] > most) most = x[j];
    if (most == 0) most = 0; /* not -0 */
    for (size_t j = 0; j < n; j++) {
        float e;
        sets[0]->exp_f32(&e, x + j, &most, times, 1);
        lane[j % 16] += e;
        all[j % 16] += x[j];
    }
    for (size_t half = 8; half; half /= 2)
        for (size_t j = 0; j < half; j++) {
            lane[j] += lane[j + half];
            all[j] += all[j + half];
        }
    out[0] = most;
    out[1] = lane[0];
    out[2] = all[0];
}

static void check_sums(const wte__kernels *set, const arrays *a, size_t n_x, size_t stride,
                       size_t n, float times)
{
    float most[6], sum[6], all[6], expected[3];
    float most_alone[6], sum_alone[6];
    const wte__softmax job = { a->x, stride, n, n_x, times, most, sum, all };
    const wte__softmax alone = { a->x, stride, n, n_x, times, most_alone, sum_alone, NULL };
    set->softmax_sums(&job);
    set->softmax_sums(&alone);
    assert_same(most_alone, most, n_x, set->isa, n);
    assert_same(sum_alone, sum, n_x, set->isa, n);
    for (size_t i = 0; i < n_x; i++) {
        sums_in_order(a->x + i * stride, n, times, expected);
        const float got[3] = { most[i], sum[i], all[i] };
        assert_same(got, expected, 3, set->isa, n);
    }
}

static void sums_are_made_in_the_stated_order(void **state)
{
    (void)state;
    for (size_t s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= LONGEST; n++) {
            arrays a = make_arrays(6 * n + 25, n, 20);
            check_sums(sets[s], &a, 6, n + 5, n, 0.9f);
            check_sums(sets[s], &a, 6, n + 5, n, 1);
            free_arrays(&a);
        }
}

static void sums_of_special_numbers(void **state)
{
    (void)state;
    for (size_t s = 0; s < n_sets; s++)
        for (size_t n = 1; n <= LONGEST; n += 3) {
            arrays a = make_arrays(n, n, 20);
            float most, sum;
            const wte__softmax job = { a.x, n, n, 1, 1, &most, &sum, NULL };
            a.x[n / 2] = NAN;
            sets[s]->softmax_sums(&job);
            assert_true(isnan(sum));
            assert_true(n == 1 || isfinite(most));
            a.x[n / 2] = INFINITY;
            sets[s]->softmax_sums(&job);
            assert_true(isnan(sum) && most == INFINITY);
            a.x[n / 2] = -INFINITY;
            sets[s]->softmax_sums(&job);
            assert_true(n == 1 ? isnan(sum) : sum >= 1 && isfinite(most));
            for (size_t j = 0; j < n; j++) a.x[j] = j % 2 ? 0.0f : -0.0f;
            sets[s]->softmax_sums(&job);
            assert_true(sum == (float)n && same(most, 0.0f));
            free_arrays(&a);
        }
}

static void slopes_are_the_same_on_every_set(void **state)
{
    (void)state;
    const float minus[2] = { 21, 25 }, scale[2] = { 0.5f, -3 };
    for (size_t n = 1; n <= LONGEST; n++)
        for (int cap = 0; cap < 2; cap++) {
            float expected[2 * LONGEST + 3];
            arrays a = make_arrays(2 * n + 3, n, 20);
            wte__softmax_grad job = { expected, n + 3, n,     2,
                                      minus,    scale, 0.01f, cap ? 1 / 30.0f : 0 };
            memcpy(expected, a.x, a.n * sizeof *expected);
            sets[0]->softmax_grad(&job);
            for (size_t s = 0; s < n_sets; s++) {
                memcpy(a.out, a.x, a.n * sizeof *a.out);
                job.x = a.out;
                sets[s]->softmax_grad(&job);
                assert_same(a.out, expected, a.n, sets[s]->isa, n);
            }
            const double x = (double)a.x[n + 3], part = x / 30;
            const double slope = (-3 * exp(x - 25) + 0.01) * (cap ? 1 - part * part : 1);
            assert_float_equal(expected[n + 3], (float)slope, 1e-7f);
            free_arrays(&a);
        }
}

static void what_reaches_a_bound_is_picked(void **state)
{
    (void)state;
    for (size_t s = 0; s < n_sets; s++)
        for (size_t n = 0; n <= LONGEST; n++) {
            arrays a = make_arrays(n, n + 7, 4);
            uint32_t *at = (uint32_t *)(void *)a.out;
            if (n > 3) a.x[3] = NAN;
            if (n > 5) a.x[5] = INFINITY;
            if (n > 6) a.x[6] = -INFINITY;
            for (size_t j = 7; j < n; j += 9) a.x[j] = 1.5f;
            const size_t found = sets[s]->select_ge_f32(a.x, n, 1.5f, at);
            size_t expected = 0;
            for (size_t j = 0; j < n; j++) {
                if (!(a.x[j] >= 1.5f)) continue;
                assert_true(expected < found);
                assert_int_equal(at[expected], j);
                expected++;
            }
            assert_int_equal(found, expected);
            assert_int_equal(sets[s]->select_ge_f32(a.x, n, NAN, at), 0);
            free_arrays(&a);
        }
}

typedef struct shape {
    size_t rows, cols, steps, group, b_pad, c_pad;
    bool across; /* a(s, i) lies at s * a_step + i, not at i * a_row + s */
} shape;

/* What c[i, k] becomes. */
static float added(const wte__outer *job, size_t i, size_t k, float c)
{
    for (size_t from = 0; from < job->steps; from += job->group) {
        float sum = 0;
        for (size_t s = from; s < job->steps && s < from + job->group; s++)
            sum =
                fmaf(job->a[s * job->a_step + i * job->a_row], job->b[s * job->b_stride + k], sum);
        c += sum;
    }
    return c;
}

static void check_outer(const shape *sh)
{
    const size_t a_n = sh->rows * sh->steps, b_n = sh->steps * (sh->cols + sh->b_pad) - sh->b_pad;
    const size_t c_n = sh->rows * (sh->cols + sh->c_pad) - sh->c_pad;
    arrays a = make_arrays(a_n, 1, 1), b = make_arrays(b_n, 2, 1), c = make_arrays(c_n, 3, 1);
    const wte__outer job = { .a = a.x,
                             .a_step = sh->across ? sh->rows : 1,
                             .a_row = sh->across ? 1 : sh->steps,
                             .b = b.x,
                             .b_stride = sh->cols + sh->b_pad,
                             .steps = sh->steps,
                             .group = sh->group,
                             .c = c.out,
                             .c_stride = sh->cols + sh->c_pad,
                             .rows = sh->rows,
                             .cols = sh->cols,
                             .wanted = { { c.x, 4, c_n }, { b.x, 0, 1 } } };
    for (size_t s = 0; s < n_sets; s++) {
        memcpy(c.out, c.x, c_n * sizeof *c.out);
        sets[s]->outer_f32(&job);
        for (size_t at = 0; at < c_n; at++) {
            const size_t i = at / job.c_stride, k = at % job.c_stride;
            const float expected = k < sh->cols ? added(&job, i, k, c.x[at]) : c.x[at];
            if (!same(c.out[at], expected))
                fail_msg("%s outer: %zu rows, %zu columns, %zu steps: row %zu, column %zu is %a, "
                         "not %a",
                         sets[s]->isa, sh->rows, sh->cols, sh->steps, i, k, (double)c.out[at],
                         (double)expected);
        }
    }
    free_arrays(&a);
    free_arrays(&b);
    free_arrays(&c);
}

static void outer_products_are_added_in_order(void **state)
{
    (void)state;
    for (size_t cols = 1; cols <= 140; cols += cols < 36 ? 1 : 13)
        for (int across = 0; across < 2; across++)
            check_outer(&(shape){ 7, cols, 3, 3, 0, 0, across });
    for (size_t rows = 1; rows <= 14; rows++) check_outer(&(shape){ rows, 70, 5, 9, 2, 3, true });
    check_outer(&(shape){ 13, 130, WTE__OUTER_STEPS, WTE__OUTER_STEPS, 1, 1, false });
    check_outer(&(shape){ 4, 20, 0, 1, 0, 0, false });
}

static void outer_products_are_added_group_by_group(void **state)
{
    (void)state;
    for (size_t group = 1; group <= 6; group++) {
        check_outer(&(shape){ 9, 30, 5, group, 1, 2, true });
        check_outer(&(shape){ 9, WTE__OUTER_COLS, 5, group, 0, 0, false });
    }
    /* b side by side, at the start of a line and not */
    check_outer(&(shape){ 14, WTE__OUTER_COLS, 100, 24, 0, 5, true });
    check_outer(&(shape){ 14, WTE__OUTER_COLS + 1, 100, 24, 0, 5, true });
}

static void nothing_to_do_touches_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < n_sets; s++) {
        sets[s]->exp_f32(NULL, NULL, NULL, 1, 0);
        sets[s]->softmax_sums(&(wte__softmax){ .n = 3 });
        sets[s]->softmax_grad(&(wte__softmax_grad){ .n = 3 });
        assert_int_equal(sets[s]->select_ge_f32(NULL, 0, 0, NULL), 0);
        sets[s]->outer_f32(&(wte__outer){ .rows = 0, .cols = 4, .steps = 1, .group = 1 });
        sets[s]->outer_f32(&(wte__outer){ .rows = 4, .cols = 0, .steps = 1, .group = 1 });
    }
}

static const struct CMUnitTest tests[] = {
    TEST("exp is near that of doubles", exp_is_near_that_of_doubles),
    TEST("exp of special numbers is what it should be", exp_of_special_numbers),
    TEST("exp is the same on every set", exp_is_the_same_on_every_set),
    TEST("sums are made in the stated order", sums_are_made_in_the_stated_order),
    TEST("sums show that a number is not finite", sums_of_special_numbers),
    TEST("slopes are the same on every set", slopes_are_the_same_on_every_set),
    TEST("what reaches a bound is picked", what_reaches_a_bound_is_picked),
    TEST("outer products are added in order", outer_products_are_added_in_order),
    TEST("outer products are added group by group", outer_products_are_added_group_by_group),
    TEST("nothing to do touches nothing", nothing_to_do_touches_nothing),
};
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, find_sets, NULL);
}
