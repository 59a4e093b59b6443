/* Vectors that come from nowhere: whatever the table and however they are written, no factor and no
 * other change is named for them, and a row only where it stands there. */
#include "diagnose_help.h"

#define ROWS 100u
#define MOST 24u
#define PER  64u /* vectors at a time */

typedef enum grid { REAL, BF16, TENTHS, WHOLE, SIGNS, GRIDS } grid;

static double draw(uint64_t *state, grid g)
{
    const double x = (double)noise(state);
    switch (g) {
    case BF16: return (double)round_bf16((float)x);
    case TENTHS: return (double)(float)(rint(x * 20) / 10);
    case WHOLE: return rint(x * 9);
    case SIGNS: return rint(x);
    default: return x;
    }
}

/* How a vector of short numbers is given: as typed with so many decimals, or in a file. */
static const struct {
    grid numbers;
    double half_unit; /* 0: a file of f32 */
} writings[] = {
    { WHOLE, 0.5 }, { WHOLE, 0.05 },  { WHOLE, 0.00005 }, { WHOLE, 0 },  { SIGNS, 0.5 },
    { SIGNS, 0 },   { TENTHS, 0.05 }, { TENTHS, 0.0005 }, { TENTHS, 0 }, { SIGNS, 0.00005 },
};

static float table[ROWS * MOST];

/* Whether row `row` of the table is that vector, within its digits. */
static bool stands_there(const double *x, size_t dim, uint64_t row, double half_unit)
{
    for (size_t c = 0; c < dim; c++)
        if (fabs((double)table[row * dim + c] - x[c]) > half_unit + 1e-6) return false;
    return true;
}

/* How many of PER vectors are told to be what they are not. */
static uint64_t count_wrong(size_t dim, grid rows, size_t writing, uint64_t *state)
{
    static double got[PER * MOST], half[PER * MOST];
    static float narrow[PER * MOST];
    static wte_diagnosis d[PER];
    static int64_t id[PER];
    const double unit = writings[writing].half_unit;
    uint64_t wrong = 0;
    wte_error err;
    for (size_t i = 0; i < ROWS * dim; i++) table[i] = (float)draw(state, rows);
    for (size_t i = 0; i < PER * dim; i++) {
        got[i] = draw(state, writings[writing].numbers);
        narrow[i] = (float)got[i];
        half[i] = unit;
    }
    for (size_t i = 0; i < PER; i++) id[i] = (int64_t)(i % ROWS);
    const wte_row_source source = rows_of(table, ROWS, dim, WTE_F32);
    const wte_ids ids = { id, WTE_I64, 0, PER };
    const wte_observed typed = { got, WTE_F64, 0, PER, dim, half };
    const wte_observed file = { narrow, WTE_F32, 0, PER, dim, NULL };
    assert_ok(wte_diagnose_rows(&source, ids, unit > 0 ? &typed : &file, NULL, d, &err), err);
    for (size_t i = 0; i < PER; i++) {
        const wte_hypothesis *g = &d[i].best;
        const bool row = g->change == WTE_LABEL_UNKNOWN &&
                         (g->label == WTE_LABEL_MATCH || g->label == WTE_LABEL_OTHER_ROW) &&
                         stands_there(got + i * dim, dim, g->row, unit);
        wrong += g->label != WTE_LABEL_UNKNOWN && g->label != WTE_LABEL_ZEROS && !row;
    }
    return wrong;
}

static void short_numbers_are_no_changed_row(void **state)
{
    (void)state;
    uint64_t seed = 42, all = 0;
    static const size_t dims[] = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24 };
    for (size_t n = 0; n < sizeof dims / sizeof *dims; n++)
        for (grid rows = REAL; rows < GRIDS; rows++)
            for (size_t w = 0; w < sizeof writings / sizeof *writings; w++) {
                const uint64_t wrong = count_wrong(dims[n], rows, w, &seed);
                if (wrong)
                    print_error("dim %zu, rows %d, writing %zu: %d of %u\n", dims[n], (int)rows, w,
                                (int)wrong, PER);
                all += wrong;
            }
    assert_int_equal(all, 0);
}

static const struct CMUnitTest tests[] = {
    TEST("random short numbers are no changed row", short_numbers_are_no_changed_row),
};
TEST_MAIN(tests)
