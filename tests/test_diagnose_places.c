/* Diagnose beyond the rows of the table: heads, other tensors, exchanged axes, many vectors at
 * once, models on disk, and everything that can go wrong with the call itself. */
#include <inttypes.h>

#include "diagnose_help.h"

#define DIM  12
#define ROWS 30

static float noise_table[ROWS][DIM];
static float other_table[20][DIM];

static wte_row_source noise_rows(void)
{
    fill_noise(&noise_table[0][0], (size_t)ROWS * DIM, 7);
    fill_noise(&other_table[0][0], (size_t)20 * DIM, 8);
    return rows_of(noise_table, ROWS, DIM, WTE_F32);
}

/* Other tensors -------------------------------------------------------------------------------- */

static void the_heads_row_is_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source head = { "lm_head.weight", rows_of(other_table, 20, DIM, WTE_F32) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.head = &head;
    opt.name = "wte.weight";
    const wte_diagnosis d = diagnose_floats(&table, 6, other_table[6], &opt);
    assert_int_equal(d.best.label, WTE_LABEL_HEAD_ROW);
    assert_int_equal(d.best.row, 6);
    assert_string_equal(d.best.tensor, "lm_head.weight");
    assert_int_equal(d.first_difference, WTE_STEP_ROW);
    assert_string_equal(d.verdict, "that is row 6 of lm_head.weight");
    assert_string_equal(d.row_text, "6 was asked for; that is row 6 of lm_head.weight");
}

static void another_tensors_row_is_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source others[] = {
        { "narrow", rows_of(other_table, 40, DIM / 2, WTE_F32) }, /* another width: left out */
        { "wpe.weight", rows_of(other_table, 20, DIM, WTE_F32) },
    };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.others = others;
    opt.n_others = 2;
    const wte_diagnosis d = diagnose_floats(&table, 6, other_table[13], &opt);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_TENSOR);
    assert_string_equal(d.best.tensor, "wpe.weight");
    assert_int_equal(d.best.row, 13);
    assert_int_equal(d.first_difference, WTE_STEP_ROW);
    assert_int_equal(d.not_searched, 0);
}

/* A row of another tensor as it stands explains more than a row times a number that nobody knows.
 */
static void an_exact_row_comes_before_a_measured_factor(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    static double got[DIM];
    double half[DIM];
    const int64_t id = 6;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { got, WTE_F64, 0, 1, DIM, half };
    const wte_named_source other = { "lm_head.weight", rows_of(other_table, 20, DIM, WTE_F32) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    wte_diagnosis d;
    wte_error err;
    for (size_t c = 0; c < DIM; c++) {
        got[c] = rint(1000 * 1.37 * (double)noise_table[6][c]) / 1000;
        half[c] = 0.0005;
        other_table[2][c] = (float)got[c];
    }
    assert_ok(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_SCALED);
    assert_int_equal(d.best.power, 0);
    opt.head = &other;
    assert_ok(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_HEAD_ROW);
    assert_int_equal(d.best.change, WTE_LABEL_UNKNOWN);
    assert_int_equal(d.best.row, 2);
    assert_int_equal(d.runner_up.label, WTE_LABEL_SCALED);
    opt.head = NULL;
    opt.others = &other;
    opt.n_others = 1;
    assert_ok(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_TENSOR);
    assert_int_equal(d.best.change, WTE_LABEL_UNKNOWN);
    assert_int_equal(d.best.row, 2);
    /* a factor that is known does come before a row of some other tensor */
    for (size_t c = 0; c < DIM; c++) {
        got[c] = rint(1000 * sqrt(DIM) * (double)noise_table[6][c]) / 1000;
        other_table[2][c] = (float)got[c];
    }
    assert_ok(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_SCALED);
    assert_int_equal(d.best.power, 1);
    /* another row with such a factor comes after the head as well */
    for (size_t c = 0; c < DIM; c++) {
        got[c] = rint(1000 * 1.37 * (double)noise_table[10][c]) / 1000;
        other_table[2][c] = (float)got[c];
    }
    assert_ok(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_TENSOR);
    opt.n_others = 0;
    assert_ok(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_ROW);
    assert_int_equal(d.best.row, 10);
    assert_int_equal(d.best.change, WTE_LABEL_SCALED);
}

static void an_added_position_row_is_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source other = { "wpe.weight", rows_of(other_table, 20, DIM, WTE_F32) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.others = &other;
    opt.n_others = 1;
    float got[DIM];
    for (size_t i = 0; i < DIM; i++) got[i] = noise_table[6][i] + other_table[17][i];
    const wte_diagnosis d = diagnose_floats(&table, 6, got, &opt);
    assert_int_equal(d.best.label, WTE_LABEL_PLUS_ROW);
    assert_int_equal(d.best.row, 6);
    assert_string_equal(d.best.plus, "wpe.weight");
    assert_int_equal(d.best.plus_row, 17);
    assert_int_equal(d.first_difference, WTE_STEP_VECTOR);
    assert_string_equal(d.verdict, "that is row 6 of the table plus row 17 of wpe.weight");
}

static void a_sum_in_bf16_is_told(void **state)
{
    (void)state;
    uint16_t words[ROWS][DIM], position[20][DIM];
    float got[DIM];
    noise_rows();
    for (size_t i = 0; i < DIM; i++) {
        for (size_t r = 0; r < ROWS; r++) words[r][i] = to_bf16(noise_table[r][i]);
        for (size_t r = 0; r < 20; r++) position[r][i] = to_bf16(other_table[r][i] / 16);
        got[i] = round_bf16(from_bf16(words[6][i]) + from_bf16(position[3][i]));
    }
    const wte_row_source table = rows_of(words, ROWS, DIM, WTE_BF16);
    const wte_named_source other = { "wpe", rows_of(position, 20, DIM, WTE_BF16) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.others = &other;
    opt.n_others = 1;
    const wte_diagnosis d = diagnose_floats(&table, 6, got, &opt);
    assert_int_equal(d.best.label, WTE_LABEL_PLUS_ROW);
    assert_int_equal(d.best.plus_row, 3);
    assert_true(d.best.bit_for_bit);
}

static void rows_of_other_tensors_may_be_changed_too(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source other = { "other", rows_of(other_table, 20, DIM, WTE_F32) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    float got[DIM];
    for (size_t i = 0; i < DIM; i++) got[i] = other_table[6][i] * sqrtf(DIM);
    opt.head = &other;
    wte_diagnosis d = diagnose_floats(&table, 6, got, &opt);
    assert_int_equal(d.best.label, WTE_LABEL_HEAD_ROW);
    assert_int_equal(d.best.change, WTE_LABEL_SCALED);
    assert_true(!d.row_ok && !d.vector_ok);
    opt.head = NULL;
    opt.others = &other;
    opt.n_others = 1;
    d = diagnose_floats(&table, 3, got, &opt);
    assert_int_equal(d.best.label, WTE_LABEL_OTHER_TENSOR);
    assert_int_equal(d.best.change, WTE_LABEL_SCALED);
    assert_int_equal(d.best.row, 6);
}

static void of_equal_rows_of_a_head_the_one_asked_for_is_named(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source head = { "head", rows_of(other_table, 20, DIM, WTE_F32) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.head = &head;
    memcpy(other_table[2], other_table[11], sizeof other_table[2]);
    memcpy(other_table[19], other_table[11], sizeof other_table[19]);
    const wte_diagnosis d = diagnose_floats(&table, 11, other_table[11], &opt);
    assert_int_equal(d.best.label, WTE_LABEL_HEAD_ROW);
    assert_int_equal(d.best.row, 11);
    assert_int_equal(d.best.n_same, 3);
    static const uint64_t same[] = { 2, 11, 19 };
    assert_memory_equal(d.best.same, same, sizeof same);
}

static void tensors_too_large_are_counted_not_searched(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source other = { "wpe.weight", rows_of(other_table, 20, DIM, WTE_F32) };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    opt.others = &other;
    opt.n_others = 1;
    opt.max_other_bytes = 20 * DIM * 4 - 1;
    const wte_diagnosis d = diagnose_floats(&table, 6, other_table[13], &opt);
    assert_int_equal(d.best.label, WTE_LABEL_UNKNOWN);
    assert_int_equal(d.not_searched, 1);
}

/* Axes ----------------------------------------------------------------------------------------- */

static void a_column_is_told_by_its_length(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float got[ROWS];
    const int64_t id = 4;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { got, WTE_F32, 0, 1, ROWS, NULL };
    wte_diagnosis d;
    wte_error err;
    for (size_t r = 0; r < ROWS; r++) got[r] = noise_table[r][9];
    assert_ok(wte_diagnose_rows(&table, ids, &given, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_COLUMN_NOT_ROW);
    assert_int_equal(d.best.row, 9);
    assert_true(d.best.bit_for_bit);
    assert_int_equal(d.first_difference, WTE_STEP_ROW);
    /* the reshaped table's row: 30 numbers from number 4 x 30 on */
    memcpy(got, &noise_table[0][0] + 4 * ROWS, sizeof got);
    assert_ok(wte_diagnose_rows(&table, ids, &given, NULL, &d, &err), err);
    assert_int_equal(d.best.label, WTE_LABEL_RESHAPED);
    assert_int_equal(d.best.row, 4);
    got[0] += 1;
    assert_fails(wte_diagnose_rows(&table, ids, &given, NULL, &d, &err), err, WTE_E_SHAPE, ROWS,
                 "none of its columns");
}

static void a_column_of_a_square_table_is_told(void **state)
{
    (void)state;
    noise_rows();
    const wte_row_source table = rows_of(noise_table, DIM, DIM, WTE_F32);
    float got[DIM];
    for (size_t r = 0; r < DIM; r++) got[r] = noise_table[r][4];
    const wte_diagnosis d = diagnose_floats(&table, 4, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_COLUMN_NOT_ROW);
    assert_int_equal(d.best.row, 4);
    assert_string_equal(d.verdict, "that is column 4 of the table");
}

static void misread_axes_are_told(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    float turned[ROWS * DIM], got[DIM];
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < DIM; c++) turned[c * ROWS + r] = noise_table[r][c];
    /* the transposed memory, cut into rows of DIM */
    memcpy(got, turned + 7 * DIM, sizeof got);
    wte_diagnosis d = diagnose_floats(&table, 7, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_TRANSPOSED_MEMORY);
    assert_int_equal(d.best.row, 7);
    /* E.reshape(dim, rows).T[7] */
    for (size_t j = 0; j < DIM; j++) got[j] = (&noise_table[0][0])[j * ROWS + 7];
    d = diagnose_floats(&table, 7, got, NULL);
    assert_int_equal(d.best.label, WTE_LABEL_RESHAPED);
    assert_non_null(strstr(d.advice, "a reshape moves no number"));
}

/* Many ----------------------------------------------------------------------------------------- */

static void ids_that_are_off_by_one_are_told_together(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const int32_t asked[] = { 1, 5, 9, 29, 12 };
    float got[5][DIM];
    wte_diagnosis d[5];
    wte_diagnosis_summary sum;
    wte_error err;
    const wte_ids ids = { asked, WTE_I32, 0, 5 };
    const wte_observed given = { got, WTE_F32, 0, 5, DIM, NULL };
    for (size_t i = 0; i < 5; i++) memcpy(got[i], noise_table[asked[i] - 1], sizeof got[i]);
    assert_ok(wte_diagnose_rows(&table, ids, &given, NULL, d, &err), err);
    wte_diagnosis_summarize(d, 5, &sum);
    assert_true(sum.off_by);
    assert_int_equal(sum.offset, -1);
    assert_int_equal(sum.n_offset, 5);
    assert_int_equal(sum.label[WTE_LABEL_OTHER_ROW], 5);
    assert_int_equal(sum.first_bad, 0);
    assert_non_null(strstr(sum.text, "the ids are off by -1"));
    /* one of them by something else: no longer all */
    memcpy(got[2], noise_table[20], sizeof got[2]);
    assert_ok(wte_diagnose_rows(&table, ids, &given, NULL, d, &err), err);
    wte_diagnosis_summarize(d, 5, &sum);
    assert_false(sum.off_by);
    assert_int_equal(sum.offset, -1);
    assert_int_equal(sum.n_offset, 4);
}

static void more_vectors_than_one_pass_takes_are_all_told(void **state)
{
    (void)state;
    enum { N = 200 };
    const wte_row_source table = noise_rows();
    static float got[N][DIM];
    static wte_diagnosis d[N];
    uint16_t asked[N];
    uint64_t seed = 4;
    wte_diagnosis_summary sum;
    wte_error err;
    for (size_t i = 0; i < N; i++) {
        asked[i] = (uint16_t)(i % ROWS);
        memcpy(got[i], noise_table[asked[i]], sizeof got[i]);
        if (i % 2) memcpy(got[i], noise_table[(asked[i] + 2) % ROWS], sizeof got[i]);
        if (i == 150)
            for (size_t c = 0; c < DIM; c++) got[i][c] = noise(&seed);
    }
    const wte_ids ids = { asked, WTE_U16, 0, N };
    const wte_observed given = { got, WTE_F32, 0, N, DIM, NULL };
    assert_ok(wte_diagnose_rows(&table, ids, &given, NULL, d, &err), err);
    for (size_t i = 0; i < N; i++) {
        const wte_label want = i == 150 ? WTE_LABEL_UNKNOWN
                               : i % 2  ? WTE_LABEL_OTHER_ROW
                                        : WTE_LABEL_MATCH;
        assert_int_equal(d[i].best.label, want);
        assert_int_equal(d[i].id, asked[i]);
        if (i % 2) assert_int_equal(d[i].best.row, (asked[i] + 2) % ROWS);
    }
    wte_diagnosis_summarize(d, N, &sum);
    assert_int_equal(sum.label[WTE_LABEL_MATCH], 99);
    assert_int_equal(sum.label[WTE_LABEL_OTHER_ROW], 100);
    assert_int_equal(sum.offset, 2);
    assert_int_equal(sum.first_bad, 1);
}

static void all_that_match_add_up_to_a_match(void **state)
{
    (void)state;
    wte_diagnosis_summary sum;
    wte_diagnosis d[2] = { { .best.label = WTE_LABEL_MATCH }, { .best.label = WTE_LABEL_MATCH } };
    wte_diagnosis_summarize(d, 2, &sum);
    assert_int_equal(sum.first_bad, WTE_NO_INDEX);
    assert_false(sum.off_by);
    assert_string_equal(sum.text, "all 2 vectors match");
}

/* Threads, memory, errors ---------------------------------------------------------------------- */

static void shown(char *out, size_t cap, const wte_diagnosis *d)
{
    char best[256], next[256];
    snprintf(out, cap, "%s|%s|%s|%s|%.17g|%.17g|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64,
             d->verdict, d->vector_text, wte_hypothesis_text(&d->best, best, sizeof best),
             wte_hypothesis_text(&d->runner_up, next, sizeof next), d->best.confidence,
             d->runner_up.distance, d->best.n_same, d->best.same[1], d->n_hypotheses,
             d->runner_up.row);
}

static void threads_do_not_change_the_answer(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static float table_data[MANY][DIM];
    fill_noise(&table_data[0][0], (size_t)MANY * DIM, 17);
    /* equal rows far apart, and rows at the same distance from the vector */
    for (size_t r = 100; r < MANY; r += 700)
        memcpy(table_data[r], table_data[42], sizeof *table_data);
    const wte_row_source table = rows_of(table_data, MANY, DIM, WTE_F32);
    float unknown[DIM];
    uint64_t seed = 3;
    for (size_t i = 0; i < DIM; i++) unknown[i] = noise(&seed);
    const float *vectors[] = { table_data[42], table_data[4999], unknown };
    for (size_t v = 0; v < 3; v++) {
        char first[1024] = "", now[1024];
        for (uint32_t threads = 1; threads <= 5; threads++) {
            wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
            wte_error err;
            assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
            const wte_diagnosis d = diagnose_floats(&table, 7, vectors[v], &opt);
            wte_pool_free(opt.pool);
            shown(threads == 1 ? first : now, sizeof now, &d);
            if (threads > 1) assert_string_equal(now, first);
        }
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_named_source other = { "wpe.weight", rows_of(other_table, 20, DIM, WTE_F32) };
    const int64_t id = 3;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    float got[ROWS];
    fill_noise(got, ROWS, 55);
    for (uint64_t cols = DIM; cols <= ROWS; cols += ROWS - DIM) {
        const wte_observed given = { got, WTE_F32, 0, 1, cols, NULL };
        wte_status status = WTE_E_MEMORY;
        size_t failures = 0;
        for (; status == WTE_E_MEMORY; failures++) {
            test_memory m;
            wte_error err;
            wte_diagnosis d;
            wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
            test_memory_init(&m, failures);
            opt.allocator = &m.allocator;
            opt.head = opt.others = &other;
            opt.n_others = 1;
            status = wte_diagnose_rows(&table, ids, &given, &opt, &d, &err);
            assert_int_equal(m.live, 0);
        }
        assert_int_equal(status, cols == DIM ? WTE_OK : WTE_E_SHAPE);
        assert_true(failures > 5);
    }
}

static wte_status unreadable(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    (void)out;
    (void)ids;
    *(size_t *)ctx += n;
    if (err) {
        memset(err, 0, sizeof *err);
        err->status = WTE_E_IO;
        err->where = 9;
        snprintf(err->message, sizeof err->message, "the disk is gone");
    }
    return WTE_E_IO;
}

static void errors_of_the_source_are_passed_on(void **state)
{
    (void)state;
    size_t asked = 0;
    const wte_row_source table = {
        .rows = 8, .cols = 4, .dtype = WTE_F32, .read_rows = unreadable, .ctx = &asked
    };
    const int64_t id = 1;
    const float got[4] = { 1, 2, 3, 4 };
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { got, WTE_F32, 0, 1, 4, NULL };
    wte_diagnosis d;
    wte_error err;
    assert_fails(wte_diagnose_rows(&table, ids, &given, NULL, &d, &err), err, WTE_E_IO, 9,
                 "the disk is gone");
    assert_true(asked > 0);
}

static wte_status readable(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy((float *)out + i * DIM, (const float *)ctx + ids[i] * DIM, DIM * sizeof(float));
    return WTE_OK;
}
static wte_status broken_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    size_t calls = 0;
    (void)ctx;
    return unreadable(&calls, &first, n, out, err);
}

static void an_error_in_the_search_ends_it(void **state)
{
    (void)state;
    noise_rows();
    const wte_row_source table = { .rows = ROWS,
                                   .cols = DIM,
                                   .dtype = WTE_F32,
                                   .read_rows = readable,
                                   .read_block = broken_block,
                                   .ctx = noise_table };
    const int64_t id = 1;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { noise_table[0], WTE_F32, 0, 1, DIM, NULL };
    wte_diagnosis d;
    wte_error err;
    assert_fails(wte_diagnose_rows(&table, ids, &given, NULL, &d, &err), err, WTE_E_IO, 9,
                 "the disk is gone");
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    assert_true(done <= total);
    return false;
}

static void a_search_can_be_stopped(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const wte_progress progress = { stop_at_once, NULL };
    const int64_t id = 1;
    const wte_ids ids = { &id, WTE_I64, 0, 1 };
    const wte_observed given = { noise_table[0], WTE_F32, 0, 1, DIM, NULL };
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    wte_diagnosis d;
    wte_error err;
    opt.progress = &progress;
    assert_fails(wte_diagnose_rows(&table, ids, &given, &opt, &d, &err), err, WTE_E_CANCELLED, ROWS,
                 "stopped after");
}

static void calls_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const wte_row_source table = noise_rows();
    const int64_t values[] = { 3, 30, -1 };
    wte_ids ids = { values, WTE_I64, 0, 1 };
    wte_observed got = { noise_table, WTE_F32, 0, 1, 3, NULL };
    wte_diagnosis d[3];
    wte_error err;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_SHAPE, 3,
                 "the vector has 3 numbers, but a row of the table has 12");
    got.cols = DIM;
    got.n = 2;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_SHAPE,
                 WTE_NO_INDEX, "2 vectors were given for 1 id");
    ids.count = got.n = 3;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_RANGE, 1,
                 "id 30 at position 1 has no row; valid ids are 0..29");
    ids.data = values + 2;
    ids.count = got.n = 1;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_RANGE, 0,
                 "id -1 at position 0 has no row; valid ids are 0..29");
    ids.type = WTE_F32;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "f32");
    ids = (wte_ids){ values, WTE_I64, 0, 1 };
    got.dtype = WTE_C64;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "c64");
    got.dtype = WTE_F32;
    got.data = NULL;
    assert_fails(wte_diagnose_rows(&table, ids, &got, NULL, d, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "no numbers");
    const wte_row_source empty = rows_of(noise_table, 0, DIM, WTE_F32);
    assert_fails(wte_diagnose_rows(&empty, ids, &got, NULL, d, &err), err, WTE_E_RANGE, 0,
                 "id 3 at position 0 has no row; the table is empty");
    const wte_row_source flat = rows_of(noise_table, 5, 0, WTE_F32);
    assert_fails(wte_diagnose_rows(&flat, ids, &got, NULL, d, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "no columns");
}

static const struct CMUnitTest tests[] = {
    TEST("the head's row is told", the_heads_row_is_told),
    TEST("another tensor's row is told", another_tensors_row_is_told),
    TEST("a row as it stands comes before a measured factor",
         an_exact_row_comes_before_a_measured_factor),
    TEST("an added position row is told", an_added_position_row_is_told),
    TEST("a sum in bf16 is told", a_sum_in_bf16_is_told),
    TEST("rows of other tensors may be changed too", rows_of_other_tensors_may_be_changed_too),
    TEST("of equal rows of a head the one asked for is named",
         of_equal_rows_of_a_head_the_one_asked_for_is_named),
    TEST("tensors too large are counted, not searched", tensors_too_large_are_counted_not_searched),
    TEST("a column is told by its length", a_column_is_told_by_its_length),
    TEST("a column of a square table is told", a_column_of_a_square_table_is_told),
    TEST("misread axes are told", misread_axes_are_told),
    TEST("ids that are off by one are told together", ids_that_are_off_by_one_are_told_together),
    TEST("more vectors than one pass takes are all told",
         more_vectors_than_one_pass_takes_are_all_told),
    TEST("all that match add up to a match", all_that_match_add_up_to_a_match),
    TEST("threads do not change the answer", threads_do_not_change_the_answer),
    TEST("every failed allocation is reported", every_failed_allocation_is_reported),
    TEST("errors of the source are passed on", errors_of_the_source_are_passed_on),
    TEST("an error in the search ends it", an_error_in_the_search_ends_it),
    TEST("a search can be stopped", a_search_can_be_stopped),
    TEST("calls that make no sense are refused", calls_that_make_no_sense_are_refused),
};
TEST_MAIN(tests)
