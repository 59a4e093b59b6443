/* Every label of diagnose, provoked with tables and vectors made by hand; tolerances at their
 * edges. */
#include "diagnose_help.h"

#define DIM  24
#define ROWS 40

static float noise_table[ROWS][DIM];

static wte_row_source noise_rows(void)
{
    fill_noise(&noise_table[0][0], (size_t)ROWS * DIM, 7);
    return rows_of(noise_table, ROWS, DIM, WTE_F32);
}

/* Rows ----------------------------------------------------------------------------------------- */

static void the_right_row_matches_bit_for_bit(void **state)
{
    (void)state;
    const wte_row_source table = demo_rows();
    for (int64_t id = 0; id < 6; id++) {
        const wte_diagnosis d = diagnose_floats(&table, id, demo_table[id], NULL);
        assert_int_equal(d.best.label, WTE_LABEL_MATCH);
        assert_int_equal(d.first_difference, WTE_STEP_NONE);
        assert_true(d.best.bit_for_bit);
        assert_int_equal(d.best.row, id);
        assert_int_equal(d.best.n_matching, 3);
        assert_true(d.id_ok && d.row_ok && d.vector_ok);
        assert_true(d.runner_up.n == 3 && d.runner_up.label == WTE_LABEL_OTHER_ROW);
    }
}

static void the_worked_example_is_row_3(void **state)
{
    (void)state;
    const wte_row_source table = demo_rows();
    const double got[] = { -0.4015, 0.9666, -1.1481 };
    const wte_diagnosis d = diagnose_typed(&table, 5, got, 0.00005);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.row, 3);
    assert_int_equal(d.best.offset, -2);
    assert_int_equal(d.first_difference, WTE_STEP_ROW);
    assert_false(d.best.bit_for_bit);
    assert_true(d.id_ok && !d.row_ok && d.vector_ok);
    assert_string_equal(d.verdict, "that is row 3 of the table: 2 rows before row 5");
    assert_string_equal(d.row_text, "5 (the 6th of 6) was asked for; that is 3 (the 4th)");
    /* three chances of 0.00005 in the root mean square of the vector, for each of 6 rows */
    const double square = (0.4015 * 0.4015 + 0.9666 * 0.9666 + 1.1481 * 1.1481) / 3;
    const double chance = 6 * pow(0.00005 / sqrt(square), 3);
    assert_true(fabs(d.best.expected_false_matches / chance - 1) < 1e-6);
    assert_true(fabs(d.best.confidence - 1 / (1 + chance)) < 1e-12);
}

static void every_row_is_known_among_the_others(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    for (int64_t row = 0; row < ROWS; row++) {
        const int64_t id = (row * 7 + 3) % ROWS;
        const wte_diagnosis d = diagnose_floats(&table, id, noise_table[row], NULL);
        assert_int_equal(d.best.label, id == row ? WTE_LABEL_MATCH : WTE_LABEL_OTHER_ROW);
        assert_int_equal(d.best.row, row);
        assert_true(d.best.bit_for_bit);
        assert_int_equal(d.best.n_same, 1);
    }
}

static void neighbours_are_told_as_counting_from_one(void **state)
{
    (void)state;
    const wte_row_source table = demo_rows();
    const wte_diagnosis before = diagnose_floats(&table, 4, demo_table[3], NULL);
    assert_int_equal(before.best.offset, -1);
    assert_non_null(strstr(before.advice, "counted from one"));
    const wte_diagnosis after = diagnose_floats(&table, 4, demo_table[5], NULL);
    assert_int_equal(after.best.offset, 1);
    assert_non_null(strstr(after.advice, "one was added"));
}

static void rows_that_are_equal_are_counted(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    static const size_t copies[] = { 9, 11, 20, 33, 39 };
    for (size_t i = 0; i < 5; i++)
        memcpy(noise_table[copies[i]], noise_table[4], sizeof *noise_table);
    const wte_diagnosis d = diagnose_floats(&table, 2, noise_table[4], NULL);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.row, 4);
    assert_int_equal(d.best.n_same, 6);
    static const uint64_t first[] = { 4, 9, 11, 20 };
    assert_memory_equal(d.best.same, first, sizeof first);
    assert_true(fabs(d.best.confidence - 1.0 / 6) < 1e-9);
    /* the row asked for among them is simply right */
    const wte_diagnosis own = diagnose_floats(&table, 20, noise_table[4], NULL);
    assert_int_equal(own.best.label, WTE_LABEL_MATCH);
    assert_int_equal(own.runner_up.row, 4);
    assert_int_equal(own.runner_up.n_matching, DIM);
}

/* Tolerances ----------------------------------------------------------------------------------- */

static void a_typed_number_fits_within_half_a_unit(void **state)
{
    (void)state;
    /* 0.125 is written 0.13 or 0.12, and nothing else in two decimals */
    const float rows[2][2] = { { 0.125f, 8 }, { 3, -5 } };
    const wte_row_source table = rows_of(rows, 2, 2, WTE_F32);
    const double above[] = { 0.13, 8 }, below[] = { 0.12, 8 }, beyond[] = { 0.14, 8 };
    assert_int_equal(diagnose_typed(&table, 0, above, 0.005).best.label, WTE_LABEL_MATCH);
    assert_int_equal(diagnose_typed(&table, 0, below, 0.005).best.label, WTE_LABEL_MATCH);
    assert_int_equal(diagnose_typed(&table, 0, beyond, 0.005).best.label, WTE_LABEL_UNKNOWN);
    const float less[2][2] = { { 0.125f - 0x1p-20f, 8 }, { 3, -5 } };
    const wte_row_source other = rows_of(less, 2, 2, WTE_F32);
    assert_int_equal(diagnose_typed(&other, 0, above, 0.005).best.label, WTE_LABEL_UNKNOWN);
    assert_int_equal(diagnose_typed(&other, 0, below, 0.005).best.label, WTE_LABEL_MATCH);
}

static void a_number_from_a_file_fits_within_one_ulp(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    memcpy(got, noise_table[8], sizeof got);
    for (size_t i = 0; i < DIM; i++) got[i] = from_bits(bits_of(got[i]) + (i % 2 ? 1 : 0));
    const wte_diagnosis one = diagnose_floats(&table, 8, got, NULL);
    assert_int_equal(one.best.label, WTE_LABEL_MATCH);
    assert_false(one.best.bit_for_bit);
    assert_true(one.best.max_error <= 1 && one.best.max_error > 0.49);
    got[5] = from_bits(bits_of(noise_table[8][5]) + 2);
    const wte_diagnosis two = diagnose_floats(&table, 8, got, NULL);
    assert_int_equal(two.best.label, WTE_LABEL_UNKNOWN);
    assert_int_equal(two.best.confidence, 0);
    assert_int_equal(two.runner_up.row, 8);
    assert_int_equal(two.runner_up.n_matching, DIM - 1);
}

static void few_digits_name_no_change(void **state)
{
    (void)state;
    /* 2 x row 0 in whole numbers: many rows times something would give that */
    const wte_row_source table = demo_rows();
    const double got[] = { 1, 0, 0 };
    const wte_diagnosis d = diagnose_typed(&table, 3, got, 0.5);
    assert_true(d.best.label == WTE_LABEL_OTHER_ROW || d.best.label == WTE_LABEL_UNKNOWN);
    assert_int_equal(d.best.change, WTE_LABEL_UNKNOWN);
}

static void random_vectors_are_unknown(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    uint64_t seed = 99;
    for (size_t trial = 0; trial < 300; trial++) {
        float got[DIM];
        for (size_t i = 0; i < DIM; i++) got[i] = 3 * noise(&seed);
        const wte_diagnosis d = diagnose_floats(&table, (int64_t)(trial % ROWS), got, NULL);
        assert_int_equal(d.best.label, WTE_LABEL_UNKNOWN);
        assert_int_equal(d.first_difference, WTE_STEP_VECTOR);
        assert_true(d.runner_up.n == DIM && d.runner_up.n_matching < DIM);
    }
}

static void random_typed_vectors_are_unknown(void **state)
{
    (void)state;
    const wte_row_source table = demo_rows();
    uint64_t seed = 5;
    size_t named = 0;
    for (size_t trial = 0; trial < 1000; trial++) {
        double got[3];
        for (size_t i = 0; i < 3; i++) got[i] = rint(20000.0 * (double)noise(&seed)) / 10000;
        named += diagnose_typed(&table, 2, got, 0.00005).best.label != WTE_LABEL_UNKNOWN;
    }
    /* a measured factor alone could fit by luck: at most one in a hundred of them may */
    assert_true(named <= 10);
}

/* Changes -------------------------------------------------------------------------------------- */

static float wide_row[2][3072], wide_got[3072];

/* One row of 2048 or 3072 numbers in bf16, times what `times` makes of it. */
static wte_diagnosis scaled_bf16(size_t dim, float (*times)(float x), bool f32_table)
{
    static uint16_t narrow[2][3072];
    fill_noise(&wide_row[0][0], 2 * 3072, 21);
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < dim; i++) {
            narrow[r][i] = to_bf16(wide_row[r][i]);
            if (!f32_table) wide_row[r][i] = from_bf16(narrow[r][i]);
        }
    static uint16_t tight[2 * 3072];
    static float tight_f32[2 * 3072];
    for (size_t i = 0; i < 2 * dim; i++) {
        tight[i] = narrow[i / dim][i % dim];
        tight_f32[i] = wide_row[i / dim][i % dim];
    }
    for (size_t i = 0; i < dim; i++) wide_got[i] = times(wide_row[1][i]);
    const wte_row_source table =
        f32_table ? rows_of(tight_f32, 2, dim, WTE_F32) : rows_of(tight, 2, dim, WTE_BF16);
    return diagnose_floats(&table, 1, wide_got, NULL);
}

static void assert_scaled(const wte_diagnosis *d, int32_t power, wte_dtype type, double factor)
{
    assert_int_equal(d->best.label, WTE_LABEL_SCALED);
    assert_int_equal(d->best.change, WTE_LABEL_SCALED);
    assert_int_equal(d->best.row, d->row);
    assert_int_equal(d->first_difference, WTE_STEP_VECTOR);
    assert_true(d->id_ok && d->row_ok && !d->vector_ok);
    assert_int_equal(d->best.power, power);
    assert_int_equal(d->best.dtype, type);
    if (fabs(d->best.factor / factor - 1) > 1e-7)
        fail_msg("factor %.9g, not %.9g", d->best.factor, factor);
}

static float by_4525_in_bf16(float x)
{
    return round_bf16(x * 45.25f);
}
static float by_4525_in_f32(float x)
{
    return x * 45.25f;
}
static float by_sqrt_2048(float x)
{
    return x * 45.254834f;
}
static float by_sqrt_3072(float x)
{
    return x * 55.425625f;
}
static float by_555(float x)
{
    return round_bf16(x * 55.5f);
}
static float by_554375(float x)
{
    return x * 55.4375f;
}
static float twice(float x)
{
    return x * 45.254834f * 45.254834f;
}
static float twice_in_bf16(float x)
{
    return round_bf16(round_bf16(x * 55.5f) * 55.5f);
}
static float divided(float x)
{
    return x / 45.254834f;
}
static float by_inverse(float x)
{
    return x * (1.0f / 45.254834f);
}
static float by_12(float x)
{
    return x * 12;
}

static void a_factor_tells_how_it_was_rounded(void **state)
{
    (void)state;
    const double root = sqrt(2048), root3 = sqrt(3072);
    wte_diagnosis d = scaled_bf16(2048, by_4525_in_bf16, false);
    assert_scaled(&d, 1, WTE_BF16, 45.25);
    assert_true(d.best.bit_for_bit);
    d = scaled_bf16(2048, by_4525_in_f32, true);
    assert_scaled(&d, 1, WTE_BF16, 45.25);
    d = scaled_bf16(2048, by_sqrt_2048, true);
    assert_scaled(&d, 1, WTE_F64, root);
    d = scaled_bf16(3072, by_sqrt_3072, false);
    assert_scaled(&d, 1, WTE_F64, root3);
    d = scaled_bf16(3072, by_555, false);
    assert_scaled(&d, 1, WTE_BF16, 55.5);
    assert_non_null(strstr(d.verdict, "multiplied once by sqrt(dim) = 55.5, rounded to bf16"));
    d = scaled_bf16(3072, by_554375, true);
    assert_scaled(&d, 1, WTE_F16, 55.4375);
}

static void a_factor_is_told_twice_and_divided(void **state)
{
    (void)state;
    const double root = sqrt(2048);
    wte_diagnosis d = scaled_bf16(2048, twice, true);
    assert_scaled(&d, 2, WTE_F64, root * root);
    d = scaled_bf16(3072, twice_in_bf16, false);
    assert_scaled(&d, 2, WTE_BF16, 55.5 * 55.5);
    assert_non_null(strstr(d.advice, "multiply once"));
    d = scaled_bf16(2048, divided, true);
    assert_scaled(&d, -1, WTE_F64, 1 / root);
    d = scaled_bf16(2048, by_inverse, true);
    assert_scaled(&d, -1, WTE_F64, 1 / root);
}

static void a_factor_that_no_rule_has_is_measured(void **state)
{
    (void)state;
    const wte_diagnosis d = scaled_bf16(2048, by_12, true);
    assert_scaled(&d, 0, WTE_DTYPE_NONE, 12);
    assert_false(d.best.model_factor);
    assert_non_null(strstr(d.verdict, "multiplied by 12, which is no factor known here"));
}

static void the_models_own_factor_is_named(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.factor = 12;
    for (size_t i = 0; i < DIM; i++) got[i] = noise_table[6][i] * 12;
    const wte_diagnosis d = diagnose_floats(&table, 6, got, &opt);
    assert_scaled(&d, 1, WTE_DTYPE_NONE, 12);
    assert_true(d.best.model_factor);
    assert_non_null(strstr(d.verdict, "by the model's factor = 12"));
}

static void another_row_may_be_scaled_too(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    const float root = sqrtf(DIM);
    for (size_t i = 0; i < DIM; i++) got[i] = noise_table[31][i] * root;
    const wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.change, WTE_LABEL_SCALED);
    assert_int_equal(d.best.row, 31);
    assert_int_equal(d.best.power, 1);
    assert_int_equal(d.first_difference, WTE_STEP_ROW);
    assert_true(!d.row_ok && !d.vector_ok);
}

static void a_unit_vector_is_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    double square = 0;
    for (size_t i = 0; i < DIM; i++)
        square += (double)noise_table[6][i] * (double)noise_table[6][i];
    for (size_t i = 0; i < DIM; i++) got[i] = noise_table[6][i] / (float)sqrt(square);
    const wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NORMALISED);
    assert_int_equal(d.first_difference, WTE_STEP_VECTOR);
}

static void swapped_bytes_are_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    for (size_t i = 0; i < DIM; i++) got[i] = swap_bytes(noise_table[6][i]);
    wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_BYTE_SWAPPED);
    assert_int_equal(d.best.dtype, WTE_F32);
    assert_true(d.best.bit_for_bit);
    d = diagnose_floats(&table, 9, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.change, WTE_LABEL_BYTE_SWAPPED);
    assert_int_equal(d.best.row, 6);
}

static void bytes_swapped_before_widening_are_told(void **state)
{
    (void)state;
    uint16_t stored[ROWS][DIM];
    float got[DIM];
    noise_rows();
    for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
        stored[i / DIM][i % DIM] = to_bf16(noise_table[i / DIM][i % DIM]);
    for (size_t i = 0; i < DIM; i++) got[i] = from_bf16(__builtin_bswap16(stored[6][i]));
    const wte_row_source table = rows_of(stored, ROWS, DIM, WTE_BF16);
    wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_BYTE_SWAPPED);
    assert_int_equal(d.best.dtype, WTE_BF16);
    d = diagnose_floats(&table, 0, got, NULL);
    assert_int_equal(d.best.row, 6);
    assert_int_equal(d.best.change, WTE_LABEL_BYTE_SWAPPED);
}

static void a_smaller_type_is_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    for (size_t i = 0; i < DIM; i++) got[i] = round_bf16(noise_table[6][i]);
    wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NARROWED);
    assert_int_equal(d.best.dtype, WTE_BF16);
    d = diagnose_floats(&table, 7, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.change, WTE_LABEL_NARROWED);
    assert_int_equal(d.best.row, 6);
    for (size_t i = 0; i < DIM; i++) got[i] = round_f16(noise_table[6][i]);
    d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NARROWED);
    assert_int_equal(d.best.dtype, WTE_F16);
}

static void a_vector_of_a_wider_copy_is_told(void **state)
{
    (void)state;
    uint16_t words[ROWS][DIM];
    noise_rows();
    for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
        words[i / DIM][i % DIM] = to_bf16(noise_table[i / DIM][i % DIM]);
    const wte_row_source table = rows_of(words, ROWS, DIM, WTE_BF16);
    wte_diagnosis d = diagnose_floats(&table, 6, noise_table[6], NULL);
    assert_int_equal(d.best.label, WTE_LABEL_UNROUNDED);
    assert_int_equal(d.best.dtype, WTE_BF16);
    assert_string_equal(d.verdict, "that is row 6 of the table, before it was rounded to bf16");
    d = diagnose_floats(&table, 0, noise_table[6], NULL);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.change, WTE_LABEL_UNROUNDED);
    assert_int_equal(d.best.row, 6);
    /* one number that rounds elsewhere */
    noise_table[6][3] += 0.01f;
    d = diagnose_floats(&table, 6, noise_table[6], NULL);
    assert_int_equal(d.best.label, WTE_LABEL_UNKNOWN);
}

static void a_rounding_that_no_digit_shows_is_not_told(void **state)
{
    (void)state;
    const wte_row_source table = demo_rows();
    double got[3];
    /* bf16 moves these numbers in the third decimal: four decimals show it, one does not */
    for (size_t i = 0; i < 3; i++)
        got[i] = rint(10000 * (double)round_bf16(demo_table[5][i])) / 10000;
    wte_diagnosis d = diagnose_typed(&table, 5, got, 0.00005);
    assert_int_equal(d.best.label, WTE_LABEL_NARROWED);
    assert_int_equal(d.best.dtype, WTE_BF16);
    for (size_t i = 0; i < 3; i++) got[i] = rint(10 * got[i]) / 10;
    d = diagnose_typed(&table, 5, got, 0.05);
    assert_int_equal(d.best.label, WTE_LABEL_MATCH);
}

static void eight_bits_are_told_for_the_row_asked_for(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM];
    /* f8_e5m2: 3 binary digits; the noise is well above its smallest normal number 2^-14 */
    for (size_t i = 0; i < DIM; i++) {
        int exponent;
        const float m = frexpf(noise_table[6][i], &exponent);
        got[i] = ldexpf(rintf(ldexpf(m, 3)), exponent - 3);
    }
    wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NARROWED);
    assert_int_equal(d.best.dtype, WTE_F8_E5M2);
    for (size_t i = 0; i < DIM; i++) noise_table[6][i] *= 100;
    for (size_t i = 0; i < DIM; i++) got[i] = rintf(noise_table[6][i]);
    d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NARROWED);
    assert_int_equal(d.best.dtype, WTE_I8);
}

/* No row at all -------------------------------------------------------------------------------- */

static void zeros_and_nan_are_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[DIM] = { 0 };
    wte_diagnosis d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_ZEROS);
    assert_int_equal(d.first_difference, WTE_STEP_VECTOR);
    memcpy(got, noise_table[6], sizeof got);
    got[3] = NAN;
    d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NONFINITE);
    assert_int_equal(d.runner_up.row, 6);
    assert_int_equal(d.runner_up.n_matching, DIM - 1);
    for (size_t i = 0; i < DIM; i++) got[i] = INFINITY;
    d = diagnose_floats(&table, 6, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_NONFINITE);
}

static void a_stored_row_of_zeros_or_nan_matches(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    memset(noise_table[3], 0, sizeof noise_table[3]);
    noise_table[5][2] = NAN;
    noise_table[5][4] = -INFINITY;
    assert_int_equal(diagnose_floats(&table, 3, noise_table[3], NULL).best.label, WTE_LABEL_MATCH);
    assert_int_equal(diagnose_floats(&table, 5, noise_table[5], NULL).best.label, WTE_LABEL_MATCH);
    const wte_diagnosis d = diagnose_floats(&table, 0, noise_table[5], NULL);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.row, 5);
}

static void every_type_of_table_matches_itself(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F64,     WTE_F32, WTE_F16, WTE_BF16, WTE_F8_E4M3,
                                       WTE_F8_E5M2, WTE_I8,  WTE_U8,  WTE_I16,  WTE_U16,
                                       WTE_I32,     WTE_U32, WTE_I64, WTE_U64 };
    float numbers[ROWS * DIM];
    uint64_t stored[ROWS * DIM];
    fill_noise(numbers, (size_t)ROWS * DIM, 3);
    for (size_t i = 0; i < (size_t)ROWS * DIM; i++) numbers[i] = fabsf(numbers[i]) * 120 + 1;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        wte_error err;
        assert_ok(wte_convert(WTE_F32, numbers, types[t], stored, (size_t)ROWS * DIM, NULL, &err),
                  err);
        const wte_row_source table = rows_of(stored, ROWS, DIM, types[t]);
        const uint8_t *row = (const uint8_t *)stored + 9 * DIM * wte_dtype_bytes(types[t]);
        for (int64_t id = 8; id < 10; id++) {
            const wte_ids ids = { &id, WTE_I64, 0, 1 };
            const wte_observed got = { row, types[t], 0, 1, DIM, NULL };
            wte_diagnosis d;
            assert_ok(wte_diagnose_rows(&table, ids, &got, NULL, &d, &err), err);
            assert_int_equal(d.best.label, id == 9 ? WTE_LABEL_MATCH : WTE_LABEL_OTHER_ROW);
            assert_int_equal(d.best.row, 9);
            assert_true(d.best.bit_for_bit);
        }
    }
}

static void labels_have_names(void **state)
{
    (void)state;
    for (uint32_t l = 0; l < WTE_LABELS; l++) assert_true(strlen(wte_label_name(l)) > 4);
    assert_string_equal(wte_label_name(WTE_LABEL_OTHER_ROW), "another row");
    assert_string_equal(wte_label_name((wte_label)99), "unknown");
    char text[64];
    const wte_hypothesis none = { .row = WTE_NO_INDEX };
    assert_string_equal(wte_hypothesis_text(&none, text, sizeof text), "nothing known here");
}

static const struct CMUnitTest tests[] = {
    TEST("the right row matches bit for bit", the_right_row_matches_bit_for_bit),
    TEST("the worked example is row 3, with its chance and confidence",
         the_worked_example_is_row_3),
    TEST("every row is known among the others", every_row_is_known_among_the_others),
    TEST("neighbours are told as counting from one", neighbours_are_told_as_counting_from_one),
    TEST("rows that are equal are counted", rows_that_are_equal_are_counted),
    TEST("a typed number fits within half a unit of its last digit",
         a_typed_number_fits_within_half_a_unit),
    TEST("a number from a file fits within one ulp", a_number_from_a_file_fits_within_one_ulp),
    TEST("few digits name no change", few_digits_name_no_change),
    TEST("random vectors are unknown", random_vectors_are_unknown),
    TEST("random typed vectors are unknown", random_typed_vectors_are_unknown),
    TEST("a factor tells how it was rounded", a_factor_tells_how_it_was_rounded),
    TEST("a factor is told twice and divided", a_factor_is_told_twice_and_divided),
    TEST("a factor that no rule has is measured", a_factor_that_no_rule_has_is_measured),
    TEST("the model's own factor is named", the_models_own_factor_is_named),
    TEST("another row may be scaled too", another_row_may_be_scaled_too),
    TEST("a unit vector is told", a_unit_vector_is_told),
    TEST("swapped bytes are told", swapped_bytes_are_told),
    TEST("bytes swapped before widening are told", bytes_swapped_before_widening_are_told),
    TEST("a smaller type is told", a_smaller_type_is_told),
    TEST("a vector of a wider copy is told", a_vector_of_a_wider_copy_is_told),
    TEST("a rounding that no digit shows is not told", a_rounding_that_no_digit_shows_is_not_told),
    TEST("eight bits are told for the row asked for", eight_bits_are_told_for_the_row_asked_for),
    TEST("zeros and NaN are told", zeros_and_nan_are_told),
    TEST("a stored row of zeros or NaN matches", a_stored_row_of_zeros_or_nan_matches),
    TEST("every type of table matches itself", every_type_of_table_matches_itself),
    TEST("labels have names", labels_have_names),
};
TEST_MAIN(tests)
