/* First values of a table: PyTorch's numbers from its golden files, the generator's known outputs,
 * and what the kinds promise. Live PyTorch is asked by oracle_torch_init.py. */
#include "test.h"

#include <float.h>
#include <math.h>

#include <wte/table.h>

#include "num/kernels.h"
#include "table/draw.h"

static wte_error err;

static wte_table *made(uint64_t rows, uint64_t dim, wte_dtype type, const wte_init_options *opt)
{
    wte_table *t;
    assert_ok(wte_table_create(rows, dim, type, NULL, &t, &err), err);
    assert_ok(wte_table_init(t, opt, &err), err);
    return t;
}

static wte_init_options with_seed(wte_init_kind kind, uint64_t seed)
{
    wte_init_options opt = WTE_INIT_OPTIONS_INIT;
    opt.kind = kind;
    opt.seed = seed;
    return opt;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The next hexadecimal number of a golden line; *at moves behind it. */
static double next_hex(char **at)
{
    *at += strcspn(*at, "-0");
    char *end;
    const double value = strtod(*at, &end);
    assert_true(end > *at);
    *at = end;
    return value;
}

static void the_demo_table_is_the_golden_one(void **state)
{
    (void)state;
    FILE *f = fopen(test_data("init/demo_table.txt"), "r");
    assert_non_null(f);
    char line[512];
    const wte_init_options opt = with_seed(WTE_INIT_TORCH_AVX2, 123);
    wte_table *t = made(6, 3, WTE_F32, &opt);
    const float *values = wte_table_data(t);
    size_t seen = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') continue;
        char *at = line;
        for (int i = 0; i < 3; i++)
            assert_int_equal(bits_of(values[seen++]), bits_of((float)next_hex(&at)));
    }
    assert_int_equal(seen, 18);
    fclose(f);
    wte_table_free(t);
}

/* "seed S V D [four values] last [two values] sum X" */
static void check_golden_line(char *line, wte_init_kind kind)
{
    unsigned seed, rows, dim;
    int used = 0;
    assert_int_equal(sscanf(line, "seed %u %u %u [%n", &seed, &rows, &dim, &used), 3);
    assert_true(used > 0);
    const wte_init_options opt = with_seed(kind, seed);
    wte_table *t = made(rows, dim, WTE_F32, &opt);
    const float *values = wte_table_data(t);
    const size_t n = (size_t)rows * dim;
    char *at = line + used;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(bits_of(values[i]), bits_of((float)next_hex(&at)));
    for (size_t i = n - 2; i < n; i++)
        assert_int_equal(bits_of(values[i]), bits_of((float)next_hex(&at)));
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)values[i];
    assert_true(fabs(sum - next_hex(&at)) < 1e-12); /* the order of PyTorch's sum is its own */
    wte_table_free(t);
}

static void check_golden_small_std(char *line, wte_init_kind kind)
{
    wte_init_options opt = with_seed(kind, 0);
    opt.std = 0.02;
    wte_table *t = made(4, 5, WTE_F32, &opt);
    const float *values = wte_table_data(t);
    char *at = strchr(line, '[');
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(bits_of(values[i]), bits_of((float)next_hex(&at)));
    wte_table_free(t);
}

static void check_golden_f64(char *line, wte_init_kind kind)
{
    const wte_init_options opt = with_seed(kind, 3);
    wte_table *t = made(4, 4, WTE_F64, &opt);
    const double *values = wte_table_data(t);
    char *at = strchr(line, '[');
    for (size_t i = 0; i < 3; i++) assert_true(values[i] == next_hex(&at));
    wte_table_free(t);
}

static void check_golden_file(const char *name, wte_init_kind kind)
{
    FILE *f = fopen(test_data(name), "r");
    assert_non_null(f);
    char line[1024];
    int checked = 0;
    while (fgets(line, sizeof line, f)) {
        checked++;
        if (strncmp(line, "seed ", 5) == 0)
            check_golden_line(line, kind);
        else if (strncmp(line, "std .02 ", 8) == 0)
            check_golden_small_std(line, kind);
        else if (strncmp(line, "f64 ", 4) == 0)
            check_golden_f64(line, kind);
        else
            checked--;
    }
    fclose(f);
    assert_int_equal(checked, 7);
}

static void avx2_values_are_golden(void **state)
{
    (void)state;
    check_golden_file("init/torch_1.13_avx2.txt", WTE_INIT_TORCH_AVX2);
}

static void scalar_values_are_golden(void **state)
{
    (void)state;
    check_golden_file("init/torch_1.13_scalar.txt", WTE_INIT_TORCH_SCALAR);
}

/* Seed 5489 is the one whose outputs the C++ standard and the authors' own page give. */
static void the_generator_is_mt19937(void **state)
{
    (void)state;
    wte__mt g;
    wte__mt_seed(&g, 5489);
    uint32_t last = wte__mt_u32(&g);
    assert_int_equal(last, 3499211612u);
    assert_int_equal(wte__mt_u32(&g), 581869302u);
    for (int i = 2; i < 10000; i++) last = wte__mt_u32(&g);
    assert_int_equal(last, 4123659995u);
}

static void uniforms_are_the_low_bits_of_draws(void **state)
{
    (void)state;
    wte__mt g;
    wte__mt_seed(&g, 5489);
    assert_true(wte__mt_f32(&g) == (float)(3499211612u & 0xffffffu) / 16777216.0f);
    wte__mt_seed(&g, 5489);
    const uint64_t both = (UINT64_C(3499211612) << 32 | 581869302u) & ((UINT64_C(1) << 53) - 1);
    assert_true(wte__mt_f64(&g) == (double)both / 9007199254740992.0);
}

static void seeds_count_modulo_two_to_the_32(void **state)
{
    (void)state;
    const wte_init_options a = with_seed(WTE_INIT_TORCH_AVX2, 5),
                           b = with_seed(WTE_INIT_TORCH_AVX2, (UINT64_C(1) << 32) + 5),
                           c = with_seed(WTE_INIT_TORCH_AVX2, 6);
    wte_table *ta = made(9, 9, WTE_F32, &a), *tb = made(9, 9, WTE_F32, &b),
              *tc = made(9, 9, WTE_F32, &c);
    assert_memory_equal(wte_table_data(ta), wte_table_data(tb), (size_t)81 * 4);
    assert_true(memcmp(wte_table_data(ta), wte_table_data(tc), (size_t)81 * 4) != 0);
    wte_table_free(ta);
    wte_table_free(tb);
    wte_table_free(tc);
}

/* The scalar kernel is the reference whatever WTE_ISA says. */
static void naive_block(float *x, bool avx2)
{
    if (avx2)
        wte__kernels_scalar.normal_f32(x, 16, 0.5f, 2.0f);
    else
        wte__normal_block_scalar(x, 0.5f, 2.0f);
}

/* As PyTorch does it: all uniforms first, then the blocks in place, then a ragged tail anew. */
static void naive_normal(float *x, size_t n, uint64_t seed, bool avx2)
{
    wte__mt g;
    wte__mt_seed(&g, seed);
    for (size_t i = 0; i < n; i++) x[i] = wte__mt_f32(&g);
    for (size_t i = 0; i + 16 <= n; i += 16) naive_block(x + i, avx2);
    if (n % 16 == 0) return;
    for (size_t i = n - 16; i < n; i++) x[i] = wte__mt_f32(&g);
    naive_block(x + n - 16, avx2);
}

static void tails_and_chunks_do_not_show(void **state)
{
    (void)state;
    static const size_t sizes[] = { 16,   17,   31,   32,   33,   47,   100,  1007, 1008, 1009,
                                    1023, 1024, 1025, 1039, 1040, 1041, 2047, 2049, 5000, 5008 };
    static float expected[5008];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int avx2 = 0; avx2 < 2; avx2++) {
            wte_init_options opt =
                with_seed(avx2 ? WTE_INIT_TORCH_AVX2 : WTE_INIT_TORCH_SCALAR, 40 + i);
            opt.mean = 0.5;
            opt.std = 2.0;
            wte_table *t = made(sizes[i], 1, WTE_F32, &opt);
            naive_normal(expected, sizes[i], 40 + i, avx2);
            assert_memory_equal(wte_table_data(t), expected, sizes[i] * sizeof *expected);
            wte_table_free(t);
        }
}

/* Every 257th of the 2^24 uniforms there are, the first and last among them, in both places. */
static void every_instruction_set_draws_the_same(void **state)
{
    (void)state;
    enum { N = (1 << 24) / 257 / 8 * 16 };
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    static float expected[N], got[N];
    assert_true(n_sets >= 1);
    for (size_t s = 0; s < n_sets; s++) {
        for (uint32_t i = 0; i < N / 2; i++) {
            const uint32_t u = i * 257;
            got[i / 8 * 16 + i % 8] = (float)(0xffffffu - u) * 0x1p-24f;
            got[i / 8 * 16 + i % 8 + 8] = (float)u * 0x1p-24f;
        }
        sets[s]->normal_f32(got, N, 0.25f, 3.0f);
        if (s == 0) memcpy(expected, got, sizeof got);
        assert_memory_equal(got, expected, sizeof got);
    }
    /* u = 1 - 2^-24 and 0: sqrt(-2 ln 2^-24) = 5.768..., angle 0 */
    assert_true(fabs((double)expected[0] - (0.25 + 3 * sqrt(48 * log(2)))) < 1e-5);
    assert_true(expected[8] == 0.25f);
}

static void normal_values_have_their_moments(void **state)
{
    (void)state;
    enum { N = 1 << 17 };
    wte_init_options opt = with_seed(WTE_INIT_TORCH_AVX2, 2024);
    opt.mean = -3;
    opt.std = 0.5;
    wte_table *t = made(N / 128, 128, WTE_F32, &opt);
    const float *values = wte_table_data(t);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < N; i++) {
        sum += (double)values[i] + 3;
        squares += ((double)values[i] + 3) * ((double)values[i] + 3);
    }
    /* five standard errors: 0.5 / sqrt(N) of the mean, 0.25 * sqrt(2 / N) of the variance */
    assert_true(fabs(sum / N) < 5 * 0.5 / sqrt(N));
    assert_true(fabs(squares / N - 0.25) < 5 * 0.25 * sqrt(2.0 / N));
    wte_table_free(t);
}

static void a_padding_row_is_zero_and_moves_no_other(void **state)
{
    (void)state;
    wte_init_options opt = with_seed(WTE_INIT_TORCH_AVX2, 77);
    wte_table *plain = made(5, 4, WTE_F32, &opt);
    opt.has_padding_id = 1;
    for (uint64_t padding = 0; padding < 5; padding++) {
        opt.padding_id = padding;
        wte_table *t = made(5, 4, WTE_F32, &opt);
        const float *got = wte_table_data(t), *all = wte_table_data(plain);
        for (uint64_t i = 0; i < 20; i++)
            assert_int_equal(bits_of(got[i]), i / 4 == padding ? 0 : bits_of(all[i]));
        wte_table_free(t);
    }
    wte_table_free(plain);
}

static void narrow_types_round_the_f32_draw(void **state)
{
    (void)state;
    static const wte_dtype narrow[] = { WTE_F16, WTE_BF16, WTE_F8_E4M3, WTE_F8_E5M2 };
    static const wte_init_kind kinds[] = { WTE_INIT_TORCH_AVX2, WTE_INIT_TORCH_SCALAR,
                                           WTE_INIT_UNIFORM };
    for (size_t k = 0; k < 3; k++)
        for (uint64_t n = 1; n < 60; n += 7)
            for (size_t i = 0; i < 4; i++) {
                const wte_init_options opt = with_seed(kinds[k], n);
                wte_table *wide = made(n, 1, WTE_F32, &opt), *t = made(n, 1, narrow[i], &opt);
                uint16_t expected[60];
                assert_ok(
                    wte_convert(WTE_F32, wte_table_data(wide), narrow[i], expected, n, NULL, &err),
                    err);
                assert_memory_equal(wte_table_data(t), expected, n * wte_dtype_bytes(narrow[i]));
                wte_table_free(wide);
                wte_table_free(t);
            }
}

static void uniform_values_follow_the_generator(void **state)
{
    (void)state;
    wte__mt g;
    wte_init_options opt = with_seed(WTE_INIT_UNIFORM, 9);
    opt.low = -2; /* powers of two: exact, whatever is fused */
    opt.high = 2;
    wte_table *t = made(300, 7, WTE_F32, &opt), *wide = made(300, 7, WTE_F64, &opt);
    const float *f32 = wte_table_data(t);
    const double *f64 = wte_table_data(wide);
    wte__mt_seed(&g, 9);
    for (size_t i = 0; i < 2100; i++) assert_true(f32[i] == wte__mt_f32(&g) * 4.0f - 2.0f);
    wte__mt_seed(&g, 9);
    for (size_t i = 0; i < 2100; i++) assert_true(f64[i] == wte__mt_f64(&g) * 4.0 - 2.0);
    wte_table_free(t);
    wte_table_free(wide);
}

static void the_default_range_is_that_of_keras(void **state)
{
    (void)state;
    const wte_init_options opt = with_seed(WTE_INIT_UNIFORM, 1);
    wte_table *t = made(1000, 10, WTE_F32, &opt);
    const float *values = wte_table_data(t);
    float least = 1, most = -1;
    for (size_t i = 0; i < 10000; i++) {
        if (values[i] < least) least = values[i];
        if (values[i] > most) most = values[i];
    }
    assert_true(least >= -0.05f && least < -0.0499f);
    assert_true(most < 0.05f && most > 0.0499f);
    wte_table_free(t);
}

static void zeros_clear_what_was_there(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F32, WTE_I32, WTE_U8, WTE_C64 };
    const wte_init_options opt = with_seed(WTE_INIT_ZEROS, 1);
    for (size_t i = 0; i < 4; i++) {
        wte_table *t;
        const size_t bytes = (size_t)3 * 3 * wte_dtype_bytes(types[i]);
        assert_ok(wte_table_create(3, 3, types[i], NULL, &t, &err), err);
        memset(wte_table_data(t), 0x5a, bytes);
        assert_ok(wte_table_init(t, &opt, &err), err);
        for (size_t k = 0; k < bytes; k++) assert_int_equal(((uint8_t *)wte_table_data(t))[k], 0);
        wte_table_free(t);
    }
}

static void empty_tables_are_filled_with_nothing(void **state)
{
    (void)state;
    const wte_init_options opt = with_seed(WTE_INIT_TORCH_AVX2, 1);
    wte_table_free(made(0, 5, WTE_F32, &opt));
    wte_table_free(made(5, 0, WTE_F64, &opt));
}

static void no_options_mean_seed_zero(void **state)
{
    (void)state;
    wte_table *t;
    const wte_init_options opt = with_seed(WTE_INIT_TORCH_AVX2, 0);
    wte_table *expected = made(3, 5, WTE_F32, &opt);
    assert_ok(wte_table_create(3, 5, WTE_F32, NULL, &t, &err), err);
    assert_ok(wte_table_init(t, NULL, &err), err);
    assert_memory_equal(wte_table_data(t), wte_table_data(expected), 60);
    wte_table_free(t);
    wte_table_free(expected);
}

/* What is refused leaves the table as it was. */
static void check_refused(wte_dtype type, wte_init_options opt, wte_status status, uint64_t where,
                          const char *part)
{
    wte_table *t;
    uint8_t before[64];
    assert_ok(wte_table_create(2, 4, type, NULL, &t, &err), err);
    const size_t bytes = (size_t)8 * wte_dtype_bytes(type);
    memset(wte_table_data(t), 0x11, bytes);
    memset(before, 0x11, sizeof before);
    assert_fails(wte_table_init(t, &opt, &err), err, status, where, part);
    assert_memory_equal(wte_table_data(t), before, bytes);
    wte_table_free(t);
}

static void a_bad_normal_is_refused(void **state)
{
    (void)state;
    wte_init_options opt = WTE_INIT_OPTIONS_INIT;
    opt.std = -0.5;
    check_refused(WTE_F32, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "std is -0.5");
    opt.std = (double)INFINITY;
    check_refused(WTE_F64, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "std is inf");
    opt.std = (double)NAN;
    check_refused(WTE_F32, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "std is nan");
    opt.std = 1e39;
    check_refused(WTE_F16, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "std is 1e+39");
    opt.std = 1;
    opt.mean = (double)NAN;
    check_refused(WTE_F32, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "mean is nan");
}

static void a_bad_range_is_refused(void **state)
{
    (void)state;
    wte_init_options opt = with_seed(WTE_INIT_UNIFORM, 0);
    opt.low = 2;
    opt.high = 1;
    check_refused(WTE_F32, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "low is 2, but high is only 1");
    opt.high = (double)NAN;
    check_refused(WTE_F32, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "high is nan");
    opt.high = 3;
    opt.low = -(double)INFINITY;
    check_refused(WTE_F64, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "low is -inf");
    opt.low = -DBL_MAX;
    opt.high = DBL_MAX;
    check_refused(WTE_F64, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "high - low is inf");
}

static void a_bad_request_is_refused(void **state)
{
    (void)state;
    wte_init_options opt = with_seed((wte_init_kind)4, 0);
    check_refused(WTE_F32, opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "no kind has the number 4");
    opt = with_seed(WTE_INIT_TORCH_AVX2, 0);
    check_refused(WTE_I32, opt, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "type i32 takes zeros only");
    check_refused(WTE_C64, opt, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "type c64 takes zeros only");
    opt.has_padding_id = 1;
    opt.padding_id = 2;
    check_refused(WTE_F32, opt, WTE_E_RANGE, 2, "padding id 2, but the table has 2 rows");
    assert_fails(wte_table_init(NULL, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "no table");
}

static void a_borrowed_table_is_not_written(void **state)
{
    (void)state;
    const float values[] = { 1, 2 };
    const wte_row_source rows = {
        .rows = 1, .cols = 2, .dtype = WTE_F32, .data = values, .row_bytes = 8
    };
    wte_table *t;
    assert_ok(wte_table_wrap(&rows, NULL, &t, &err), err);
    assert_fails(wte_table_init(t, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "borrows");
    assert_true(values[0] == 1 && values[1] == 2);
    wte_table_free(t);
}

static const struct CMUnitTest tests[] = {
    TEST("the demo table has the golden bits", the_demo_table_is_the_golden_one),
    TEST("torch-avx2 values have the golden bits", avx2_values_are_golden),
    TEST("torch-scalar values have the golden bits", scalar_values_are_golden),
    TEST("the generator is mt19937", the_generator_is_mt19937),
    TEST("uniforms are the low bits of one draw or two", uniforms_are_the_low_bits_of_draws),
    TEST("seeds count modulo 2^32", seeds_count_modulo_two_to_the_32),
    TEST("tails are drawn anew and chunks do not show", tails_and_chunks_do_not_show),
    TEST("every instruction set draws the same", every_instruction_set_draws_the_same),
    TEST("normal values have the mean and deviation asked for", normal_values_have_their_moments),
    TEST("a padding row is zero and moves no other", a_padding_row_is_zero_and_moves_no_other),
    TEST("narrow types round the f32 draw", narrow_types_round_the_f32_draw),
    TEST("uniform values follow the generator", uniform_values_follow_the_generator),
    TEST("the default range is -0.05 to 0.05", the_default_range_is_that_of_keras),
    TEST("zeros clear what was there, in any type", zeros_clear_what_was_there),
    TEST("empty tables are filled with nothing", empty_tables_are_filled_with_nothing),
    TEST("no options mean seed 0", no_options_mean_seed_zero),
    TEST("a normal with a senseless mean or deviation is refused", a_bad_normal_is_refused),
    TEST("a senseless range is refused", a_bad_range_is_refused),
    TEST("a senseless kind, type or padding id is refused", a_bad_request_is_refused),
    TEST("a borrowed table is not written", a_borrowed_table_is_not_written),
};
TEST_MAIN(tests)
