/* Isotropy and spectrum: by hand, and eigenvectors by what defines them. */
#include "lookup_help.h"

#include <math.h>
#include <wte/eval.h>

#include "train/eval.h"

static wte_error err;

static void assert_near(double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound)) fail_msg("%.17g, not %.17g", got, want);
}

/* Eigenvectors -------------------------------------------------------------------------------- */

/* A = B B^T for a random B of n x rank. */
static double *random_square(size_t n, size_t rank, uint64_t seed)
{
    double *b = malloc(n * rank * sizeof *b), *a = calloc(n * n, sizeof *a);
    assert_true(a && b);
    for (size_t i = 0; i < n * rank; i++) b[i] = (double)(int64_t)test_noise(&seed) * 0x1p-63;
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < rank; k++) a[r * n + c] += b[r * rank + k] * b[c * rank + k];
    free(b);
    return a;
}

/* a v = s^2 v for each; vectors are orthogonal and of length 1 (or zeros); values fall. */
static void assert_eigen(const double *a, const double *v, const double *root, size_t n,
                         size_t rank)
{
    const double bound = 1e-13 * (root[0] * root[0] + 1) * (double)n;
    for (size_t i = 0; i < n; i++) {
        if (i) assert_true(root[i] <= root[i - 1]);
        if (i >= rank) assert_near(root[i], 0, 1e-6 * root[0]);
        for (size_t r = 0; r < n; r++) {
            double sum = 0;
            for (size_t c = 0; c < n; c++) sum += a[r * n + c] * v[i * n + c];
            assert_near(sum, root[i] * root[i] * v[i * n + r], bound);
        }
        for (size_t k = 0; k <= i && i < rank; k++) {
            double dot = 0;
            for (size_t c = 0; c < n; c++) dot += v[i * n + c] * v[k * n + c];
            assert_near(dot, i == k ? 1 : 0, 1e-11);
        }
    }
}

static void eigenvectors_are_what_defines_them(void **state)
{
    (void)state;
    static const size_t sizes[][2] = { { 1, 1 },   { 2, 2 },   { 3, 3 },    { 5, 2 },    { 17, 17 },
                                       { 40, 11 }, { 64, 64 }, { 101, 90 }, { 230, 230 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i][0], bytes = n * n * sizeof(double);
        double *a = random_square(n, sizes[i][1], i + 1), *v[3], root[3][256], alone[256];
        for (uint32_t threads = 1; threads <= 3; threads++) {
            wte_pool *pool;
            double **to = &v[threads - 1];
            *to = malloc(bytes);
            assert_non_null(*to);
            memcpy(*to, a, bytes);
            assert_ok(wte_pool_create(threads, &pool, &err), err);
            assert_ok(wte__eigen(*to, n, true, root[threads - 1], pool, NULL, &err), err);
            wte_pool_free(pool);
            assert_memory_equal(*to, v[0], bytes);
            assert_memory_equal(root[threads - 1], root[0], n * sizeof(double));
        }
        assert_eigen(a, v[0], root[0], n, sizes[i][1]);
        memcpy(v[1], a, bytes);
        assert_ok(wte__eigen(v[1], n, false, alone, NULL, NULL, &err), err);
        assert_memory_equal(alone, root[0], n * sizeof(double));
        for (size_t k = 0; k < 3; k++) free(v[k]);
        free(a);
    }
}

static void eigenvalues_of_a_diagonal_are_its_numbers(void **state)
{
    (void)state;
    double a[16] = { 0 }, root[4];
    a[0] = 4;
    a[5] = 1e-8;
    a[10] = 9;
    assert_ok(wte__eigen(a, 4, true, root, NULL, NULL, &err), err);
    assert_near(root[0], 3, 1e-15);
    assert_near(root[1], 2, 1e-15);
    assert_near(root[2], 1e-4, 1e-18);
    assert_near(root[3], 0, 0);
    assert_near(fabs(a[2]), 1, 1e-15);     /* the first vector */
    assert_near(fabs(a[4 + 0]), 1, 1e-15); /* the second */
    assert_near(fabs(a[8 + 1]), 1, 1e-15);
    for (size_t c = 0; c < 4; c++) assert_near(a[12 + c], 0, 0);
}

/* Eigenvalues that are equal have vectors that are orthogonal all the same; and zeros have none. */
static void equal_eigenvalues_have_orthogonal_vectors(void **state)
{
    (void)state;
    enum { N = 48 };
    static double a[N * N], v[N * N], root[N];
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            a[i * N + k] = (i == k ? 3 : 0) + 2.0 / N; /* 5, and 3 often */
    memcpy(v, a, sizeof a);
    assert_ok(wte__eigen(v, N, true, root, NULL, NULL, &err), err);
    assert_near(root[0], sqrt(5), 1e-14);
    for (size_t i = 1; i < N; i++) assert_near(root[i], sqrt(3), 1e-14);
    assert_eigen(a, v, root, N, N);
    memset(a, 0, sizeof a);
    assert_ok(wte__eigen(a, N, true, root, NULL, NULL, &err), err);
    for (size_t i = 0; i < N; i++) assert_near(root[i], 0, 0);
    for (size_t i = 0; i < N * N; i++) assert_near(a[i], 0, 0);
    assert_ok(wte__eigen(NULL, 0, true, NULL, NULL, NULL, &err), err);
}

static void eigenvectors_may_find_no_memory(void **state)
{
    (void)state;
    double a[9] = { 2, 1, 0, 1, 2, 1, 0, 1, 2 }, root[3];
    wte_status status = WTE_E_MEMORY;
    size_t i = 0;
    for (; status != WTE_OK; i++) {
        test_memory memory;
        test_memory_init(&memory, i);
        status = wte__eigen(a, 3, true, root, NULL, &memory.allocator, &err);
        assert_int_equal(memory.live, 0);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
    }
    assert_int_equal(i, 3);
    assert_near(root[0], sqrt(2 + sqrt(2)), 1e-15);
    assert_near(root[2], sqrt(2 - sqrt(2)), 1e-15);
}

/* Isotropy ------------------------------------------------------------------------------------ */

static double entropy_rank(const double *s, size_t n)
{
    double sum = 0, entropy = 0;
    for (size_t i = 0; i < n; i++) sum += s[i];
    for (size_t i = 0; i < n; i++)
        if (s[i] > 0) entropy -= s[i] / sum * log(s[i] / sum);
    return exp(entropy);
}

static void a_cross_is_described_as_by_hand(void **state)
{
    (void)state;
    const float t[] = { 3, 0, 0, 4, -3, 0, 0, -4 };
    const wte_row_source table = view_of(t, 4, 2, WTE_F32);
    double s[2], centred[2];
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    wte_isotropy i;
    opt.singular = s;
    opt.centred = centred;
    assert_ok(wte_eval_isotropy(&table, &opt, &i, &err), err);
    assert_int_equal(i.rows, 4);
    assert_int_equal(i.n_zero, 0);
    assert_near(i.norm_mean, 3.5, 1e-15);
    assert_near(i.norm_sd, 0.5, 1e-15);
    assert_near(i.mean_norm, 0, 0);
    assert_near(i.cosine, -1.0 / 3, 1e-15);
    assert_near(i.pair_mean, -1.0 / 3, 0.01);
    assert_near(i.pair_sd, sqrt(2.0 / 9), 0.01);
    assert_int_equal(i.pairs, 100000);
    assert_near(s[0], sqrt(32), 1e-12);
    assert_near(s[1], sqrt(18), 1e-12);
    assert_memory_equal(s, centred, sizeof s);
    assert_near(i.raw.effective_rank, entropy_rank(s, 2), 1e-12);
    assert_near(i.raw.condition, 4.0 / 3, 1e-12);
    assert_near(i.raw.share_1, 0.64, 1e-12);
    assert_near(i.raw.share_10, 1, 1e-12);
    assert_int_equal(i.raw.half, 1);
    assert_int_equal(i.raw.most, 2);
    assert_near(i.partition, (2 + 2 * cosh(3)) / (2 + 2 * cosh(4)), 1e-6);
}

static void equal_rows_have_one_direction(void **state)
{
    (void)state;
    const float t[] = { 1, 1, 1, 1, 1, 1, 0, 0, INFINITY, 1 };
    const wte_row_source table = view_of(t, 5, 2, WTE_F32);
    double s[2], centred[2];
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    wte_isotropy i;
    opt.singular = s;
    opt.centred = centred;
    assert_ok(wte_eval_isotropy(&table, &opt, &i, &err), err);
    assert_int_equal(i.rows, 4);
    assert_int_equal(i.n_zero, 1);
    assert_int_equal(i.n_nonfinite, 1);
    assert_near(i.cosine, 1, 1e-15);
    assert_near(i.mean_norm, 0.75 * sqrt(2), 1e-15);
    assert_near(s[0], sqrt(6), 1e-7);
    assert_near(s[1], 0, 1e-6);
    assert_near(centred[0], sqrt(6 - 4 * 0.75 * 0.75 * 2), 1e-7); /* less the mean row's part */
    assert_near(i.raw.effective_rank, 1, 1e-5);
    assert_near(i.partition, (1 + 3 * exp(-sqrt(2))) / (1 + 3 * exp(sqrt(2))), 1e-6);
}

static void tables_of_nothing_have_no_numbers(void **state)
{
    (void)state;
    const float t[] = { 0, 0, 0, 0, 0, 0 };
    wte_row_source table = view_of(t, 3, 2, WTE_F32);
    wte_isotropy i;
    assert_ok(wte_eval_isotropy(&table, NULL, &i, &err), err);
    assert_int_equal(i.n_zero, 3);
    assert_true(isnan(i.cosine) && isnan(i.pair_mean) && i.pairs == 0);
    assert_near(i.raw.effective_rank, 0, 0);
    assert_true(isinf(i.raw.condition));
    assert_near(i.partition, 1, 1e-6);
    table.rows = 0;
    assert_ok(wte_eval_isotropy(&table, NULL, &i, &err), err);
    assert_int_equal(i.rows, 0);
    assert_true(isnan(i.norm_mean) && isnan(i.partition) && isnan(i.raw.largest));
    table.rows = 1;
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    opt.without_spectrum = 1;
    assert_ok(wte_eval_isotropy(&table, &opt, &i, &err), err);
    assert_true(isnan(i.partition) && isnan(i.raw.largest) && i.norm_mean == 0);
}

static void every_type_and_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    enum { ROWS = 1500, COLS = 24 };
    static float t[ROWS * COLS];
    static double wide[ROWS * COLS];
    uint64_t seed = 7;
    for (size_t i = 0; i < ROWS * COLS; i++) {
        t[i] = (float)(int64_t)test_noise(&seed) * 0x1p-63f + (i % COLS == 3 ? 2 : 0);
        wide[i] = (double)t[i];
    }
    wte_isotropy first, other;
    double s[2][COLS], squares = 0, values = 0;
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    const wte_row_source table = view_of(t, ROWS, COLS, WTE_F32);
    const wte_row_source same = view_of(wide, ROWS, COLS, WTE_F64);
    opt.pairs = 1000;
    opt.singular = s[0];
    assert_ok(wte_eval_isotropy(&table, &opt, &first, &err), err);
    opt.singular = s[1];
    assert_ok(wte_pool_create(3, &opt.pool, &err), err);
    assert_ok(wte_eval_isotropy(&same, &opt, &other, &err), err);
    wte_pool_free(opt.pool);
    assert_memory_equal(&first, &other, sizeof first);
    assert_memory_equal(s[0], s[1], sizeof s[0]);
    for (size_t i = 0; i < ROWS * COLS; i++) squares += wide[i] * wide[i];
    for (size_t i = 0; i < COLS; i++) values += s[0][i] * s[0][i];
    assert_near(values / squares, 1, 1e-6);
}

static bool stop_later(void *ctx, uint64_t done, uint64_t total)
{
    (void)total;
    return done < *(uint64_t *)ctx;
}

static void work_may_be_stopped_at_every_step(void **state)
{
    (void)state;
    const float t[] = { 1, 2, 3, 4 };
    const wte_row_source table = view_of(t, 2, 2, WTE_F32);
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    wte_isotropy i;
    for (uint64_t step = 0; step < 6; step++) {
        const wte_progress stop = { stop_later, &step };
        opt.progress = &stop;
        assert_fails(wte_eval_isotropy(&table, &opt, &i, &err), err, WTE_E_CANCELLED, step,
                     "stopped");
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const float t[] = { 1, 2, 3, 4 };
    const wte_row_source table = view_of(t, 2, 2, WTE_F32);
    wte_isotropy_options opt = WTE_ISOTROPY_OPTIONS_INIT;
    wte_isotropy i;
    wte_status status = WTE_E_MEMORY;
    opt.pairs = 10;
    for (size_t fail = 0; status != WTE_OK; fail++) {
        test_memory m;
        test_memory_init(&m, fail);
        opt.allocator = &m.allocator;
        status = wte_eval_isotropy(&table, &opt, &i, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        assert_int_equal(m.live, 0);
        assert_true(fail < 60);
    }
    const wte_row_source vast = {
        .rows = 0, .cols = UINT64_C(1) << 40, .dtype = WTE_F32, .row_bytes = UINT64_C(1) << 42
    };
    assert_fails(wte_eval_isotropy(&vast, NULL, &i, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "products of columns");
}

static const struct CMUnitTest tests[] = {
    TEST("eigenvectors are what defines them, for any number of threads",
         eigenvectors_are_what_defines_them),
    TEST("eigenvalues of a diagonal are its numbers", eigenvalues_of_a_diagonal_are_its_numbers),
    TEST("equal eigenvalues have orthogonal vectors", equal_eigenvalues_have_orthogonal_vectors),
    TEST("eigenvectors may find no memory", eigenvectors_may_find_no_memory),
    TEST("a cross is described as by hand", a_cross_is_described_as_by_hand),
    TEST("equal rows have one direction; zeros and infinities are told",
         equal_rows_have_one_direction),
    TEST("tables of zeros or of no rows have no numbers", tables_of_nothing_have_no_numbers),
    TEST("every type and number of threads gives the same bits",
         every_type_and_number_of_threads_gives_the_same),
    TEST("work may be stopped at every step", work_may_be_stopped_at_every_step),
    TEST("every allocation may fail, and nothing leaks", every_allocation_may_fail),
};
TEST_MAIN(tests)
