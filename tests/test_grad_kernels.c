/* The kernels of gradients: every instruction set against a statement of its own here, bit for bit.
 */
#include "test.h"

#include <math.h>
#include <wte/dtype.h>

#include "num/kernels.h"

/* Two vectors of the longest kind and a bit; then widths around the steps and blocks of columns. */
#define WIDE 36u
static const size_t more_widths[] = { 64, 96, 100, 128, 129, 1023, 1024, 1025, 1100, 2080 };
#define N_WIDTHS (WIDE + sizeof more_widths / sizeof *more_widths)
#define VECTORS  9u
#define ROWS     6u
#define PARTS    24u

static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16 };

static size_t width(size_t i)
{
    return i < WIDE ? 1 + i : more_widths[i - WIDE];
}

static void run(const wte__kernels *set, wte_dtype type, const wte__scatter *job)
{
    if (type == WTE_F16)
        set->scatter_f16(job);
    else if (type == WTE_BF16)
        set->scatter_bf16(job);
    else
        set->scatter_f32(job);
}

/* One job with all that belongs to it; d_out and out end at unreadable pages. */
typedef struct scene {
    wte_dtype type;
    wte__scatter job;
    size_t d_out_bytes, out_floats;
    uint8_t *d_out;
    float *out, *want;
    uint64_t *max_at;
    uint32_t from[PARTS];
    float factor[PARTS];
    uint64_t first[ROWS + 1], rows[ROWS], member[PARTS];
} scene;

static float some_number(uint64_t *seed, int kind)
{
    const uint32_t bits = (uint32_t)test_noise(seed);
    float x = (float)(int32_t)bits * 0x1p-31f;
    if (kind == 1) memcpy(&x, &bits, sizeof x); /* NaN and infinities among them */
    return x;
}

static void fill_d_out(scene *s, int kind, uint64_t *seed)
{
    const size_t size = wte_dtype_bytes(s->type);
    wte_error err;
    memset(s->d_out, 0x5a, s->d_out_bytes);
    for (size_t v = 0; v < VECTORS; v++)
        for (size_t c = 0; c < s->job.cols; c++) {
            float x = some_number(seed, kind);
            uint8_t narrow[4];
            if (s->type == WTE_F32)
                memcpy(narrow, &x, sizeof x);
            else
                assert_ok(wte_convert(WTE_F32, &x, s->type, narrow, 1, NULL, &err), err);
            memcpy(s->d_out + v * s->job.stride + c * size, narrow, size);
        }
}

/* flags: bit 0 rows, 1 add, 2 f64, 3 max, 4 factors, 5 cold, 6 strides with something between */
static void make_scene(scene *s, wte_dtype type, size_t cols, unsigned flags, int kind,
                       uint64_t *seed)
{
    const size_t tight = cols * wte_dtype_bytes(type), pad = flags >> 6 & 1 ? 6 : 0;
    *s = (scene){ .type = type };
    s->job = (wte__scatter){ .stride = tight + pad,
                             .from = s->from,
                             .factor = flags >> 4 & 1 ? s->factor : NULL,
                             .first = s->first,
                             .n = ROWS,
                             .cols = cols,
                             .out_stride = cols + pad,
                             .rows = flags & 1 ? s->rows : NULL,
                             .rows_prefetch_end = flags & 1 ? ROWS : 0,
                             .add = flags >> 1 & 1,
                             .f64_sums = flags >> 2 & 1,
                             .cold = flags >> 5 & 1 };
    s->d_out_bytes = (VECTORS - 1) * s->job.stride + tight;
    s->out_floats = (2 * ROWS - 1) * s->job.out_stride + cols;
    s->d_out = test_guarded(s->d_out_bytes);
    s->out = test_guarded(s->out_floats * sizeof(float));
    s->want = malloc(s->out_floats * sizeof(float));
    s->max_at = malloc(VECTORS * (cols + pad) * sizeof(uint64_t));
    assert_non_null(s->want);
    assert_non_null(s->max_at);
    fill_d_out(s, kind, seed);
    for (size_t i = 0; i < s->out_floats; i++) s->want[i] = s->out[i] = some_number(seed, kind);
    for (size_t i = 0; i < VECTORS * (cols + pad); i++) s->max_at[i] = test_noise(seed) % 3;
    for (size_t i = 0; i < PARTS; i++) {
        s->from[i] = (uint32_t)(test_noise(seed) % VECTORS);
        s->factor[i] = some_number(seed, 0) * 3;
        s->member[i] = test_noise(seed) % 3;
    }
    for (size_t u = 0; u < ROWS; u++) {
        s->first[u + 1] = s->first[u] + (test_noise(seed) % 3 ? 1 : 1 + test_noise(seed) % 6);
        if (s->first[u + 1] > PARTS - ROWS + u + 1) s->first[u + 1] = s->first[u] + 1;
        s->rows[u] = 2 * u + test_noise(seed) % 2;
    }
    s->job.prefetch_end = PARTS;
    s->job.d_out = s->d_out;
    s->job.out = s->out;
    s->job.max_at = flags >> 3 & 1 ? s->max_at : NULL;
    s->job.max_stride = cols + pad;
    s->job.member = s->member;
}

static void free_scene(scene *s)
{
    test_guarded_free(s->d_out, s->d_out_bytes);
    test_guarded_free(s->out, s->out_floats * sizeof(float));
    free(s->want);
    free(s->max_at);
}

/* What becomes of one number. */
static float expected(const scene *s, size_t u, size_t c, float before)
{
    const wte__scatter *job = &s->job;
    float sum = 0;
    double wide = 0;
    for (uint64_t p = job->first[u]; p < job->first[u + 1]; p++) {
        const size_t v = job->from[p], size = wte_dtype_bytes(s->type);
        char aligned[4];
        float x;
        wte_error err;
        memcpy(aligned, s->d_out + v * job->stride + c * size, size);
        if (s->type == WTE_F32)
            memcpy(&x, aligned, sizeof x);
        else
            assert_ok(wte_convert(s->type, aligned, WTE_F32, &x, 1, NULL, &err), err);
        if (job->max_at && job->max_at[v * job->max_stride + c] != job->member[p]) continue;
        const float part = job->factor ? x * job->factor[p] : x;
        sum = sum + part;
        wide = wide + (double)part;
    }
    if (job->f64_sums) sum = (float)wide;
    return job->add ? before + sum : sum;
}

static void check_scene(const wte__kernels *set, scene *s)
{
    const wte__scatter *job = &s->job;
    run(set, s->type, job);
    for (size_t u = 0; u < job->n; u++) {
        float *want = s->want + (job->rows ? job->rows[u] : u) * job->out_stride;
        for (size_t c = 0; c < job->cols; c++) want[c] = expected(s, u, c, want[c]);
    }
    for (size_t i = 0; i < s->out_floats; i++)
        if (memcmp(&s->out[i], &s->want[i], sizeof(float)) != 0 &&
            !(isnan(s->out[i]) && isnan(s->want[i])))
            fail_msg("%s scatter of %s differs: %zu columns, column %zu of row %zu: %a, not %a",
                     set->isa, wte_dtype_name(s->type), job->cols, i % job->out_stride,
                     i / job->out_stride, (double)s->out[i], (double)s->want[i]);
}

static void parts_are_summed_alike(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t seed = 11;
    for (size_t i = 0; i < n_sets; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (size_t w = 0; w < N_WIDTHS; w++)
                for (unsigned k = 0; k < 8; k++) {
                    /* each of the first four flags in all combinations, over widths */
                    const unsigned flags =
                        (unsigned)(k * 2 + w % 2) | (unsigned)(test_noise(&seed) & 7) << 4;
                    scene s;
                    make_scene(&s, types[t], width(w), flags, k % 4 == 3, &seed);
                    check_scene(sets[i], &s);
                    free_scene(&s);
                }
}

static void rows_are_summed_one_by_one(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t seed = 5;
    for (size_t i = 0; i < n_sets; i++) {
        scene s;
        make_scene(&s, WTE_F32, 70, 0x30, 0, &seed);
        float *all = malloc(ROWS * 70 * sizeof *all), one[70];
        assert_non_null(all);
        run(sets[i], WTE_F32, &s.job);
        memcpy(all, s.out, ROWS * 70 * sizeof *all);
        wte__scatter job = s.job;
        job.n = 1;
        job.out = one;
        for (size_t u = 0; u < ROWS; u++, job.first++) {
            run(sets[i], WTE_F32, &job);
            assert_memory_equal(one, all + u * 70, sizeof one);
        }
        free(all);
        free_scene(&s);
    }
}

static void nothing_is_done_for_nothing(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const uint64_t first[2] = { 0, 1 };
    for (size_t i = 0; i < n_sets; i++) {
        const wte__scatter no_rows = { .cols = 5, .cold = true };
        const wte__scatter no_cols = { .n = 1, .first = first, .prefetch_end = 1, .cold = true };
        run(sets[i], WTE_F32, &no_rows);
        run(sets[i], WTE_BF16, &no_cols);
        assert_true(sets[i]->sumsq_f64acc(NULL, 0) == 0);
    }
}

/* Said once more: 16 lanes, joined by halves. */
static double naive_squares(const float *x, size_t n)
{
    double lane[16] = { 0 };
    for (size_t k = 0; k < n; k++) lane[k % 16] += (double)x[k] * (double)x[k];
    for (size_t half = 8; half; half /= 2)
        for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

static void squares_are_summed_alike(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t seed = 8;
    for (size_t i = 0; i < n_sets; i++)
        for (size_t n = 1; n < 100; n++) {
            float *x = test_guarded(n * sizeof *x);
            for (size_t k = 0; k < n; k++) x[k] = some_number(&seed, 0) * (k % 3 ? 1e-3f : 1e30f);
            const double got = sets[i]->sumsq_f64acc(x, n), want = naive_squares(x, n);
            if (memcmp(&got, &want, sizeof got) != 0)
                fail_msg("%s squares of %zu: %a, not %a", sets[i]->isa, n, got, want);
            x[n / 2] = n % 2 ? NAN : INFINITY;
            assert_true(isfinite(sets[i]->sumsq_f64acc(x, n)) == 0);
            test_guarded_free(x, n * sizeof *x);
        }
}

static const struct CMUnitTest tests[] = {
    TEST("every set sums parts of rows to the same bits, and touches nothing else",
         parts_are_summed_alike),
    TEST("a row's sum does not depend on the rows of the same job", rows_are_summed_one_by_one),
    TEST("a job without rows or columns does nothing", nothing_is_done_for_nothing),
    TEST("every set sums squares to the same bits", squares_are_summed_alike),
};
TEST_MAIN(tests)
