/* What comes after a product, on every instruction set: values by hand, the same bits everywhere,
 * the error of its tanh, any length. */
#include "test.h"

#include <math.h>

#include "num/kernels.h"

enum { LONGEST = 50 };

static void each_step_is_one_operation_in_order(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const wte__logit_epilogue after = { 3, 7, 0 };
    for (size_t s = 0; s < n_sets; s++)
        for (size_t n = 0; n <= LONGEST; n++) {
            float *x = test_guarded(n * 4 + 4), *bias = test_guarded(n * 4);
            float want[LONGEST];
            uint64_t seed = n + 1;
            x[0] = 5;
            for (size_t i = 0; i < n; i++) {
                x[i + 1] = (float)(int32_t)test_noise(&seed) * 0x1p-20f;
                bias[i] = (float)(int32_t)test_noise(&seed) * 0x1p-22f;
                volatile float y = x[i + 1] + bias[i];
                y = y * 3;
                want[i] = y / 7;
            }
            sets[s]->logit_epilogue(x + 1, n, bias, &after);
            assert_true(x[0] == 5);
            assert_memory_equal(x + 1, want, n * 4);
            test_guarded_free(x, n * 4 + 4);
            test_guarded_free(bias, n * 4);
        }
}

static void what_is_not_asked_for_is_not_done(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const wte__logit_epilogue nothing = { 0, 0, 0 };
    for (size_t s = 0; s < n_sets; s++) {
        float x[LONGEST], before[LONGEST];
        for (size_t i = 0; i < LONGEST; i++) before[i] = x[i] = i % 5 ? (float)i : -0.0f;
        x[3] = before[3] = INFINITY;
        sets[s]->logit_epilogue(x, LONGEST, NULL, &nothing);
        assert_memory_equal(x, before, sizeof x);
    }
}

/* Every exponent from tiny to huge, both signs, and around where the two formulas meet. */
static size_t arguments(float *x)
{
    size_t n = 0;
    for (uint32_t bits = 0; bits < 0x7f800000u; bits += 0x4567u) {
        const uint32_t signed_bits = bits | (n & 1) << 31;
        memcpy(&x[n++], &signed_bits, 4);
    }
    for (int i = -2000; i < 2000; i++) x[n++] = 0.625f + (float)i * 0x1p-20f;
    for (int i = -2000; i < 2000; i++) x[n++] = -10.0f + (float)i * 0x1p-12f;
    return n;
}

static void the_cap_is_near_tanh_and_has_the_same_bits_everywhere(void **state)
{
    (void)state;
    enum { MOST = 150000 };
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const wte__logit_epilogue after = { 0, 0, 1 };
    static float x[MOST], first[MOST], got[MOST];
    const size_t n = arguments(x);
    assert_in_range(n, 100000, MOST);
    for (size_t s = 0; s < n_sets; s++) {
        memcpy(got, x, sizeof got);
        sets[s]->logit_epilogue(got, n, NULL, &after);
        if (s == 0) memcpy(first, got, sizeof got);
        assert_memory_equal(got, first, n * sizeof *got);
    }
    for (size_t i = 0; i < n; i++) {
        const double want = tanh((double)x[i]);
        const double bound = 2.5 * 0x1p-24 * fabs(want) + 0x1p-149; /* or one subnormal step */
        if (!(fabs((double)got[i] - want) <= bound))
            fail_msg("tanh %a is %a, not %a", (double)x[i], (double)got[i], want);
        assert_true(fabsf(got[i]) <= 1);
        assert_int_equal(signbit(got[i]) != 0, signbit(x[i]) != 0);
    }
}

static void nan_and_infinity_are_kept_and_capped(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const wte__logit_epilogue after = { 0, 0, 30 };
    for (size_t s = 0; s < n_sets; s++) {
        float x[] = { NAN, INFINITY, -INFINITY, -0.0f, 0 };
        sets[s]->logit_epilogue(x, 5, NULL, &after);
        assert_true(isnan(x[0]) && x[1] == 30 && x[2] == -30);
        assert_true(x[3] == 0 && signbit(x[3]) && x[4] == 0 && !signbit(x[4]));
    }
}

static const struct CMUnitTest tests[] = {
    TEST("each step is one operation, in order", each_step_is_one_operation_in_order),
    TEST("what is not asked for is not done", what_is_not_asked_for_is_not_done),
    TEST("the cap is near tanh and has the same bits everywhere",
         the_cap_is_near_tanh_and_has_the_same_bits_everywhere),
    TEST("NaN and infinity are kept, and capped", nan_and_infinity_are_kept_and_capped),
};
TEST_MAIN(tests)
