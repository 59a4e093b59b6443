/* The kernels that sum products: every instruction set against a plain statement of the order in
 * which they add (docs/kernels.md), bit for bit, and against sums in f64. */
#include "test.h"

#include <float.h>
#include <math.h>

#include "num/kernels.h"

#define LANES   32u
#define LONGEST 140u
#define ROWS    9u

typedef void (*sums_kernel)(const void *rows, size_t n_rows, const float *q, size_t dim,
                            size_t squared, float *out);

typedef struct variant {
    const char *name;
    size_t slot, bytes;
    wte_dtype type;
    bool distances;
} variant;
#define VARIANT(kernel, bytes, type, distances)                                                    \
    {                                                                                              \
#kernel, offsetof(wte__kernels, kernel), bytes, type, distances                            \
    }
static const variant variants[] = {
    VARIANT(products_f32, 4, WTE_F32, false),   VARIANT(products_f16, 2, WTE_F16, false),
    VARIANT(products_bf16, 2, WTE_BF16, false), VARIANT(distances_f32, 4, WTE_F32, true),
    VARIANT(distances_f16, 2, WTE_F16, true),   VARIANT(distances_bf16, 2, WTE_BF16, true),
};
#define N_VARIANTS (sizeof variants / sizeof *variants)

static wte_error err;

static sums_kernel kernel_of(const wte__kernels *set, const variant *v)
{
    sums_kernel kernel;
    memcpy(&kernel, (const char *)set + v->slot, sizeof kernel);
    return kernel;
}

static float number(uint64_t *noise)
{
    return (float)((double)(test_noise(noise) >> 11) * 0x1p-52 - 1);
}

/* Element i belongs to lane i mod 32; then the upper half of the lanes is added to the lower. */
static void sum_plainly(const float *x, const float *q, size_t dim, size_t squared, bool distances,
                        float out[2])
{
    float lane[2][LANES] = { { 0 }, { 0 } };
    for (size_t i = 0; i < dim; i++) {
        const float apart = x[i] - q[i];
        lane[0][i % LANES] = distances ? fmaf(apart, apart, lane[0][i % LANES])
                                       : fmaf(x[i], q[i], lane[0][i % LANES]);
        if (i < squared) lane[1][i % LANES] = fmaf(x[i], x[i], lane[1][i % LANES]);
    }
    for (size_t i = dim; i % LANES; i++) lane[0][i % LANES] += 0.0f;
    for (int s = 0; s < 2; s++) {
        for (size_t n = LANES / 2; n; n /= 2)
            for (size_t i = 0; i < n; i++) lane[s][i] += lane[s][i + n];
        out[s] = lane[s][0];
    }
}

/* Rows end at an unreadable page, and so do q and the sums. */
static void check_sums(const wte__kernels *set, const variant *v, size_t n_rows, size_t dim,
                       size_t squared)
{
    const size_t bytes = n_rows * dim * v->bytes, q_bytes = dim * sizeof(float);
    float values[ROWS * LONGEST], expected[2];
    char *rows = test_guarded(bytes), *q_page = test_guarded(q_bytes);
    char *out_page = test_guarded(2 * n_rows * sizeof(float));
    float *q = (float *)(void *)q_page, *out = (float *)(void *)out_page;
    uint64_t noise = dim * 31 + n_rows;
    for (size_t i = 0; i < n_rows * dim; i++) values[i] = number(&noise);
    for (size_t i = 0; i < dim; i++) q[i] = number(&noise);
    assert_ok(wte_convert(WTE_F32, values, v->type, rows, n_rows * dim, NULL, &err), err);
    assert_ok(wte_convert(v->type, rows, WTE_F32, values, n_rows * dim, NULL, &err), err);
    kernel_of(set, v)(rows, n_rows, q, dim, squared, out);
    for (size_t r = 0; r < n_rows; r++) {
        sum_plainly(values + r * dim, q, dim, squared, v->distances, expected);
        if (memcmp(expected, out + 2 * r, sizeof expected) != 0)
            fail_msg("%s %s, row %zu of %zu, %zu elements, %zu squared: %a %a, not %a %a", set->isa,
                     v->name, r, n_rows, dim, squared, (double)out[2 * r], (double)out[2 * r + 1],
                     (double)expected[0], (double)expected[1]);
    }
    test_guarded_free(rows, bytes);
    test_guarded_free(q_page, q_bytes);
    test_guarded_free(out_page, 2 * n_rows * sizeof(float));
}

static void every_set_adds_in_the_order_that_is_stated(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t v = 0; v < N_VARIANTS; v++)
            for (size_t dim = 1; dim <= LONGEST; dim++) {
                const size_t n_rows = 1 + dim % ROWS;
                check_sums(sets[s], &variants[v], n_rows, dim, dim);
                check_sums(sets[s], &variants[v], n_rows, dim, dim / LANES / 2 * LANES);
                check_sums(sets[s], &variants[v], n_rows, dim, 0);
            }
}

static void sums_are_within_the_bound_of_their_roundings(void **state)
{
    (void)state;
    enum { DIM = 4099 };
    static float x[DIM], q[DIM];
    uint64_t noise = 5;
    double product = 0, distance = 0, square = 0, magnitude = 0;
    for (size_t i = 0; i < DIM; i++) {
        x[i] = number(&noise);
        q[i] = number(&noise);
        product += (double)x[i] * (double)q[i];
        magnitude += fabs((double)x[i] * (double)q[i]);
        distance += ((double)x[i] - (double)q[i]) * ((double)x[i] - (double)q[i]);
        square += (double)x[i] * (double)x[i];
    }
    float out[2];
    const double roundings = (DIM / LANES + 1 + 5 + 2) * 0x1p-24; /* of each element, at most */
    wte__kernels_get()->products_f32(x, 1, q, DIM, DIM, out);
    assert_true(fabs((double)out[0] - product) <= roundings * magnitude);
    assert_true(fabs((double)out[1] - square) <= roundings * square);
    wte__kernels_get()->distances_f32(x, 1, q, DIM, DIM, out);
    assert_true(fabs((double)out[0] - distance) <= roundings * distance);
}

static void nan_and_infinities_reach_their_sums(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t v = 0; v < N_VARIANTS; v++)
            for (size_t at = 0; at < 70; at += 23) {
                float values[4 * 70] = { 0 }, q[70] = { 0 }, out[8];
                char rows[sizeof values];
                values[70 + at] = NAN;
                values[2 * 70 + at] = -INFINITY;
                assert_ok(wte_convert(WTE_F32, values, variants[v].type, rows, 4 * 70, NULL, &err),
                          err);
                kernel_of(sets[s], &variants[v])(rows, 4, q, 70, 70, out);
                assert_true(out[0] == 0 && out[1] == 0 && out[6] == 0 && out[7] == 0);
                assert_true(isnan(out[2]) && isnan(out[3]));
                assert_true(!isfinite(out[4]) && out[5] == INFINITY);
            }
}

/* Products that are nothing but a sign: lanes of -0, unless zeros stand for missing elements. */
static void vanishing_products_have_one_sign_on_every_set(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t dim = LANES; dim <= 3 * LANES; dim++) {
            float x[3 * LANES], q[3 * LANES], out[2];
            for (size_t i = 0; i < dim; i++) x[i] = -(q[i] = 0x1p-100f);
            sets[s]->products_f32(x, 1, q, dim, dim, out);
            assert_true(out[0] == 0 && out[1] == 0 && !signbit(out[1]));
            if (!signbit(out[0]) != (dim % LANES != 0))
                fail_msg("%s, %zu elements: %a", sets[s]->isa, dim, (double)out[0]);
        }
}

static void no_rows_touch_nothing(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    float q[3] = { 1, 2, 3 };
    for (size_t s = 0; s < n_sets; s++)
        for (size_t v = 0; v < N_VARIANTS; v++)
            kernel_of(sets[s], &variants[v])(NULL, 0, q, 3, 3, NULL);
    assert_true(q[0] == 1 && q[2] == 3);
}

static const struct CMUnitTest tests[] = {
    TEST("every set adds in the order that is stated, within its arrays",
         every_set_adds_in_the_order_that_is_stated),
    TEST("sums are within the bound of their roundings",
         sums_are_within_the_bound_of_their_roundings),
    TEST("NaN and infinities reach the sums of their row", nan_and_infinities_reach_their_sums),
    TEST("vanishing products have one sign on every set",
         vanishing_products_have_one_sign_on_every_set),
    TEST("no rows touch nothing", no_rows_touch_nothing),
};
TEST_MAIN(tests)
