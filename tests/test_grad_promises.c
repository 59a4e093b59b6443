/* What gradients promise: the same bits for any number of threads and however they are kept,
 * nothing changed by a call that fails, memory that may fail, and every error. */
#include "grad_help.h"

static wte_error err;

/* Threads -------------------------------------------------------------------------------------- */

/* Ids of a table, what comes back, and the gradient's numbers by one thread. */
typedef struct load {
    uint64_t rows, cols, n;
    uint32_t *ids;
    float *d_out;
} load;

/* law 0: uniform, 1: Zipf's, 2: one id is every second */
static load make_load(uint64_t rows, uint64_t cols, uint64_t n, int law)
{
    load l = { rows, cols, n, malloc(n * sizeof(uint32_t)), malloc(n * cols * sizeof(float)) };
    uint64_t seed = 31 + rows;
    assert_true(l.ids && l.d_out);
    fill_noise(l.d_out, (size_t)(n * cols), &seed);
    for (uint64_t i = 0; i < n; i++) {
        const double uniform = (double)(test_noise(&seed) >> 11) * 0x1p-53;
        const uint64_t zipf = (uint64_t)pow((double)rows, uniform) - 1;
        l.ids[i] = (uint32_t)(law == 1 ? zipf : test_noise(&seed) % rows);
        if (law == 2 && test_noise(&seed) >> 63) l.ids[i] = (uint32_t)(rows / 2);
    }
    return l;
}

static void free_load(load *l)
{
    free(l->ids);
    free(l->d_out);
}

/* FNV-1a over the rows of a gradient and their numbers; rows of zeros are left out. */
static uint64_t hash_of(const wte_grad *g)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    wte_grad_rows v;
    wte_grad_view(g, &v);
    for (uint64_t i = 0; i < v.n; i++) {
        bool zero = true;
        for (uint64_t c = 0; c < v.cols; c++) zero = zero && v.values[i * v.cols + c] == 0;
        if (zero) continue;
        hash = (hash ^ (v.ids ? v.ids[i] : i)) * UINT64_C(1099511628211);
        for (uint64_t c = 0; c < v.cols; c++) {
            uint32_t bits;
            memcpy(&bits, v.values + i * v.cols + c, sizeof bits);
            hash = (hash ^ bits) * UINT64_C(1099511628211);
        }
    }
    return hash;
}

static uint64_t hash_of_load(const load *l, wte_grad_kind kind, uint32_t threads)
{
    wte_pool *pool = NULL;
    if (threads > 1) assert_ok(wte_pool_create(threads, &pool, &err), err);
    wte_grad *g = new_grad(l->rows, l->cols, kind, pool);
    assert_ok(wte_grad_lookup(g, ids_of(l->ids, WTE_U32, l->n), l->d_out, 0, NULL, &err), err);
    const uint64_t hash = hash_of(g);
    wte_grad_free(g);
    wte_pool_free(pool);
    return hash;
}

static void check_threads(uint64_t rows, uint64_t cols, uint64_t n, int law)
{
    load l = make_load(rows, cols, n, law);
    const uint64_t want = hash_of_load(&l, WTE_GRAD_DENSE, 1);
    for (uint32_t threads = 1; threads <= 8; threads += threads == 2 ? 6 : 1) {
        assert_true(hash_of_load(&l, WTE_GRAD_DENSE, threads) == want);
        assert_true(hash_of_load(&l, WTE_GRAD_SPARSE, threads) == want);
    }
    /* and it is the right one */
    wte_grad *g = new_grad(rows, cols, WTE_GRAD_SPARSE, NULL);
    assert_ok(wte_grad_lookup(g, ids_of(l.ids, WTE_U32, n), l.d_out, 0, NULL, &err), err);
    for (uint64_t c = 0; c < cols; c += 1 + cols / 3) {
        float sum = 0;
        for (uint64_t i = 0; i < n; i++)
            if (l.ids[i] == rows / 2) sum += l.d_out[i * cols + c];
        assert_float_equal(grad_at(g, rows / 2, c), sum, 0);
    }
    wte_grad_free(g);
    free_load(&l);
}

static void a_million_ids_have_the_same_bits(void **state)
{
    (void)state;
    check_threads(50257, 2, 1000000, 1);
}

static void half_of_the_ids_may_be_one(void **state)
{
    (void)state;
    check_threads(5000, 200, 3000, 2);
    check_threads(5000, 1100, 500, 2);
    check_threads(5000, 3, 40000, 2);
}

static void uniform_ids_have_the_same_bits(void **state)
{
    (void)state;
    check_threads(3000, 65, 4000, 0);
}

/* Bags of all lengths, some empty, some ids no members: so many that several threads sort them. */
static void bags_have_the_same_bits(void **state)
{
    (void)state;
    enum { COLS = 9, BAGS = 3000, ROWS = 800, IDS = 40000 };
    load l = make_load(ROWS, COLS, IDS, 2);
    static float table[ROWS * COLS], out[BAGS * COLS];
    static uint64_t at[BAGS * COLS];
    static uint32_t starts[BAGS];
    const int64_t padding = 17;
    uint64_t seed = 2;
    fill_noise(table, ROWS * COLS, &seed);
    for (size_t b = 1; b < BAGS; b++)
        starts[b] = starts[b - 1] + (b % 5 ? (uint32_t)(test_noise(&seed) % 30) : 0);
    for (int mode = 0; mode < 3; mode++) {
        wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
        const wte_row_source rows = view_of(table, ROWS, COLS, WTE_F32);
        const wte_ids ids = ids_of(l.ids, WTE_U32, IDS), offsets = ids_of(starts, WTE_U32, BAGS);
        uint64_t want = 0;
        bag.mode = (wte_bag_mode)mode;
        bag.ignore_ids = &padding;
        bag.n_ignore_ids = 1;
        if (mode == WTE_BAG_MAX) bag.argmax = at;
        assert_ok(wte_bag_reduce(&rows, ids, offsets, &bag, out, 0, &err), err);
        for (uint32_t threads = 1; threads <= 8; threads *= 2) {
            wte_pool *pool;
            assert_ok(wte_pool_create(threads, &pool, &err), err);
            wte_grad *g = new_grad(ROWS, COLS, WTE_GRAD_SPARSE, pool);
            assert_ok(wte_grad_bag(g, ids, offsets, &bag, l.d_out, 0, NULL, &err), err);
            if (threads == 1) want = hash_of(g);
            assert_true(hash_of(g) == want);
            wte_grad_free(g);
            wte_pool_free(pool);
        }
    }
    free_load(&l);
}

/* Sparse against dense ------------------------------------------------------------------------- */

/* Many calls over changing rows: rows come in between, before and behind those that are there. */
static void merged_rows_are_those_of_a_dense_gradient(void **state)
{
    (void)state;
    enum { ROWS = 500, COLS = 7 };
    wte_grad *dense = new_grad(ROWS, COLS, WTE_GRAD_DENSE, NULL);
    wte_grad *sparse = new_grad(ROWS, COLS, WTE_GRAD_SPARSE, NULL);
    wte_grad *both[] = { dense, sparse };
    uint64_t seed = 9;
    for (int round = 0; round < 2; round++) {
        for (uint64_t call = 0; call < 12; call++) {
            load l = make_load(20 + call * 40, COLS, 1 + test_noise(&seed) % 60, 0);
            uint64_t before = UINT64_MAX;
            wte_grad_rows v;
            for (uint64_t i = 0; i < l.n; i++) l.ids[i] = ROWS - 1 - l.ids[i];
            for (size_t k = 0; k < 2; k++)
                assert_ok(
                    wte_grad_lookup(both[k], ids_of(l.ids, WTE_U32, l.n), l.d_out, 0, NULL, &err),
                    err);
            assert_grad(sparse, wte_grad_data(dense), ROWS, COLS);
            wte_grad_view(sparse, &v);
            for (uint64_t i = 0; i < v.n; before = v.ids[i++])
                assert_true(v.ids[i] > before || i == 0);
            free_load(&l);
        }
        double norm, other;
        assert_ok(wte_grad_norm(both, 1, &norm, &err), err);
        assert_ok(wte_grad_norm(both + 1, 1, &other, &err), err);
        assert_memory_equal(&norm, &other, sizeof norm);
        wte_grad_zero(dense);
        wte_grad_zero(sparse);
        assert_ok(wte_grad_norm(both, 2, &norm, &err), err);
        assert_true(norm == 0);
    }
    wte_grad_free(dense);
    wte_grad_free(sparse);
}

/* Norms ---------------------------------------------------------------------------------------- */

static void norms_are_those_of_all_numbers(void **state)
{
    (void)state;
    enum { ROWS = 700, COLS = 13 };
    wte_pool *pool;
    assert_ok(wte_pool_create(4, &pool, &err), err);
    wte_grad *one = new_grad(ROWS, COLS, WTE_GRAD_DENSE, NULL);
    wte_grad *four = new_grad(ROWS, COLS, WTE_GRAD_DENSE, pool);
    uint64_t seed = 5;
    double sum = 0, norm, same;
    fill_noise(wte_grad_data(one), ROWS * COLS, &seed);
    memcpy(wte_grad_data(four), wte_grad_data(one), ROWS * COLS * sizeof(float));
    for (size_t i = 0; i < ROWS * COLS; i++)
        sum += (double)wte_grad_data(one)[i] * (double)wte_grad_data(one)[i];
    assert_ok(wte_grad_norm(&one, 1, &norm, &err), err);
    assert_ok(wte_grad_norm(&four, 1, &same, &err), err);
    assert_float_equal(norm, sqrt(sum), 1e-10);
    assert_memory_equal(&norm, &same, sizeof norm);
    /* what is short enough stays as it is; a norm of 0 clears */
    assert_ok(wte_grad_clip(&four, 1, norm + 1e-3, NULL, &err), err);
    assert_memory_equal(wte_grad_data(four), wte_grad_data(one), ROWS * COLS * sizeof(float));
    assert_ok(wte_grad_clip(&four, 1, norm / 2, NULL, &err), err);
    const float by = (float)(norm / 2 / (norm + 1e-6));
    for (size_t i = 0; i < ROWS * COLS; i++)
        assert_float_equal(wte_grad_data(four)[i], wte_grad_data(one)[i] * by, 0);
    assert_ok(wte_grad_clip(&four, 1, 0, &same, &err), err);
    assert_float_equal(same, norm / 2, 1e-4);
    for (size_t i = 0; i < ROWS * COLS; i++) assert_float_equal(wte_grad_data(four)[i], 0, 0);
    assert_ok(wte_grad_norm(NULL, 0, &norm, &err), err);
    assert_true(norm == 0);
    wte_grad_free(one);
    wte_grad_free(four);
    wte_pool_free(pool);
}

static void numbers_that_are_none_are_told(void **state)
{
    (void)state;
    const float bad[] = { NAN, INFINITY, -INFINITY };
    const uint32_t rows[] = { 7, 3 };
    const float d_out[] = { 1, 2, 3, 4 };
    double norm = 5;
    for (size_t k = 0; k < 6; k++) {
        wte_grad *good = new_grad(4, 1, WTE_GRAD_DENSE, NULL);
        wte_grad *g = new_grad(9, 2, k % 2 ? WTE_GRAD_SPARSE : WTE_GRAD_DENSE, NULL);
        wte_grad *both[] = { good, g };
        float come[4];
        memcpy(come, d_out, sizeof come);
        come[1] = bad[k / 2]; /* of row 7 */
        wte_grad_data(good)[0] = 100;
        assert_ok(wte_grad_lookup(g, ids_of(rows, WTE_U32, 2), come, 0, NULL, &err), err);
        assert_fails(wte_grad_norm(both, 2, &norm, &err), err, WTE_E_RANGE, 7,
                     "gradient 1: row 7 holds NaN or infinity");
        assert_true(norm == 0);
        assert_fails(wte_grad_clip(both, 2, 1, &norm, &err), err, WTE_E_RANGE, 7, "row 7");
        assert_float_equal(wte_grad_data(good)[0], 100, 0);
        assert_float_equal(grad_at(g, 3, 1), 4, 0);
        wte_grad_free(good);
        wte_grad_free(g);
    }
}

/* Memory --------------------------------------------------------------------------------------- */

/* Two calls and some; true when all of it had memory. After a failure the gradient is as before. */
static bool try_all(test_memory *m, wte_grad_kind kind)
{
    static const uint32_t first[] = { 5, 1, 5 }, second[] = { 0, 5, 9 };
    static const float d_out[] = { 1, 2, 4, 8, 16, 32 };
    const int64_t zero = 0, nowhere = -1;
    wte_grad_options o = WTE_GRAD_OPTIONS_INIT;
    wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_grad *g = NULL;
    o.kind = kind;
    o.allocator = &m->allocator;
    back.ignore_ids = &nowhere;
    back.n_ignore_ids = 1;
    bag.mode = WTE_BAG_MEAN;
    float want[20] = { 0 };
    wte_status status = wte_grad_create(10, 2, &o, &g, &err);
    assert_true((g != NULL) == (status == WTE_OK));
    if (status == WTE_OK)
        status = wte_grad_lookup(g, ids_of(first, WTE_U32, 3), d_out, 0, NULL, &err);
    if (status == WTE_OK) {
        want[10] = 17, want[11] = 34, want[2] = 4, want[3] = 8;
        status = wte_grad_bag(g, ids_of(second, WTE_U32, 3), ids_of(&zero, WTE_I64, 1), &bag,
                              (float[]){ 3, 6 }, 0, &back, &err);
    }
    if (status == WTE_OK) {
        want[10] += 1, want[11] += 2, want[0] = 1, want[1] = 2, want[18] = 1, want[19] = 2;
    } else {
        assert_int_equal(err.status, WTE_E_MEMORY);
    }
    if (g) assert_grad(g, want, 10, 2);
    wte_grad_free(g);
    assert_int_equal(m->live, 0);
    return status == WTE_OK;
}

static void memory_may_fail_at_any_time(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        test_memory m;
        size_t fail = 0;
        for (bool done = false; !done; fail++) {
            test_memory_init(&m, fail);
            done = try_all(&m, (wte_grad_kind)kind);
        }
        assert_int_equal(fail - 1, m.calls);
        assert_true(fail > 5);
    }
}

static void memory_of_weights_may_fail(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 3, 4 }, d_out[] = { 1, 1 };
    const uint32_t ids[] = { 0, 1 }, zero = 0;
    const int64_t nowhere = -1;
    const wte_row_source rows = view_of(table, 2, 2, WTE_F32);
    wte_status status = WTE_E_MEMORY;
    size_t fail = 0;
    for (; status != WTE_OK; fail++) {
        float got[2] = { 7, 7 };
        test_memory m;
        test_memory_init(&m, fail);
        wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
        wte_backward_options back = WTE_BACKWARD_OPTIONS_INIT;
        bag.allocator = &m.allocator;
        back.ignore_ids = &nowhere;
        back.n_ignore_ids = 1;
        status = wte_bag_weights_grad(&rows, ids_of(ids, WTE_U32, 2), ids_of(&zero, WTE_U32, 1),
                                      &bag, d_out, &back, got, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        assert_float_equal(got[0], status == WTE_OK ? 3 : 7, 0);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(fail, 3);
}

/* Errors --------------------------------------------------------------------------------------- */

static void gradients_have_limits(void **state)
{
    (void)state;
    wte_grad *g = (wte_grad *)&err;
    wte_grad_options o = WTE_GRAD_OPTIONS_INIT;
    o.kind = (wte_grad_kind)2;
    assert_fails(wte_grad_create(1, 1, &o, &g, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no kind has the number 2");
    assert_null(g);
    o.kind = WTE_GRAD_DENSE;
    assert_fails(wte_grad_create(1, 1, &o, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "out");
    assert_fails(wte_grad_create(UINT64_C(1) << 40, 1, &o, &g, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX,
                 "1099511627776 rows of 1 numbers take 4398046511104 bytes, but max_bytes is "
                 "1099511627776");
    assert_fails(wte_grad_create(UINT64_C(1) << 40, UINT64_C(1) << 40, &o, &g, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "more than memory can hold");
    o.max_bytes = 23;
    assert_fails(wte_grad_create(3, 2, &o, &g, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "take 24 bytes, but max_bytes is 23");
    o.kind = WTE_GRAD_SPARSE;
    assert_fails(wte_grad_create(3, UINT64_MAX / 4, &o, &g, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "more than memory can hold");
    /* a sparse one grows until it may not */
    const uint32_t ids[] = { 4, 0, 7 };
    const float d_out[] = { 1, 2, 3, 4, 5, 6 };
    const float want[] = { 3, 4 };
    o.max_bytes = 32;
    assert_ok(wte_grad_create(1000, 2, &o, &g, &err), err);
    assert_fails(wte_grad_lookup(g, ids_of(ids, WTE_U32, 3), d_out, 0, NULL, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "3 rows of 2 numbers take 48 bytes");
    assert_ok(wte_grad_lookup(g, ids_of(ids, WTE_U32, 2), d_out, 0, NULL, &err), err);
    assert_fails(wte_grad_lookup(g, ids_of(ids + 2, WTE_U32, 1), d_out, 0, NULL, &err), err,
                 WTE_E_LIMIT, WTE_NO_INDEX, "48 bytes");
    assert_grad(g, want, 1, 2);
    wte_grad_free(g);
    wte_grad_free(NULL);
}

static void bad_ids_change_nothing(void **state)
{
    (void)state;
    const int64_t ids[] = { 0, 3, -1, 2 }, zero = 0, one = 1;
    const float d_out[4] = { 1, 1, 1, 1 };
    wte_bad_ids report;
    wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_grad *g = new_grad(3, 1, WTE_GRAD_DENSE, NULL);
    const float nothing[3] = { 0, 0, 0 };
    const wte_ids all = ids_of(ids, WTE_I64, 4), offsets = ids_of(&zero, WTE_I64, 1);
    o.report = &report;
    assert_fails(wte_grad_lookup(g, all, d_out, 0, &o, &err), err, WTE_E_RANGE, 1,
                 "id 3 at position 1 is out of range: valid ids 0..2; 2 of 4 ids bad");
    assert_int_equal(report.count, 2);
    assert_int_equal(report.first[1].position, 2);
    assert_fails(wte_grad_bag(g, all, offsets, &bag, d_out, 0, &o, &err), err, WTE_E_RANGE, 1,
                 "id 3");
    assert_int_equal(report.count, 2);
    o.ignore_ids = ids + 1; /* 3 and -1 */
    o.n_ignore_ids = 1;
    assert_fails(wte_grad_bag(g, all, offsets, &bag, d_out, 0, &o, &err), err, WTE_E_RANGE, 2,
                 "id -1");
    assert_int_equal(report.ignored, 1);
    assert_grad(g, nothing, 3, 1);
    /* ignored by one and by the other; or no members at all */
    bag.ignore_ids = ids + 2;
    bag.n_ignore_ids = 1;
    const float want[3] = { 1, 0, 1 }, twice[3] = { 2, 0, 2 };
    assert_ok(wte_grad_bag(g, all, offsets, &bag, d_out, 0, &o, &err), err);
    assert_int_equal(report.ignored, 2);
    assert_grad(g, want, 3, 1);
    bag.bad_ids = WTE_BAD_ID_ZERO;
    bag.n_ignore_ids = o.n_ignore_ids = 0;
    assert_ok(wte_grad_bag(g, all, offsets, &bag, d_out, 0, &o, &err), err);
    assert_int_equal(report.count, 2);
    assert_grad(g, twice, 3, 1);
    assert_fails(wte_grad_bag(g, all, ids_of(&one, WTE_I64, 1), &bag, d_out, 0, &o, &err), err,
                 WTE_E_ARGUMENT, 0, "the first offset is 1");
    wte_grad_free(g);
}

static void options_that_make_no_sense_are_told(void **state)
{
    (void)state;
    const uint32_t ids[] = { 0, 1 }, zero = 0;
    const float d_out[4] = { 0 };
    const wte_ids all = ids_of(ids, WTE_U32, 2);
    wte_grad *g = new_grad(2, 2, WTE_GRAD_DENSE, NULL);
    wte_backward_options o = WTE_BACKWARD_OPTIONS_INIT;
    assert_fails(wte_grad_lookup(NULL, all, d_out, 0, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "g is NULL");
    assert_fails(wte_grad_lookup(g, ids_of(ids, WTE_F32, 2), d_out, 0, &o, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "ids of type f32");
    assert_fails(wte_grad_lookup(g, all, NULL, 0, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "no address for 16 bytes of d_out");
    assert_fails(wte_grad_lookup(g, all, d_out, 7, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the stride of d_out is 7 bytes, but 2 f32 take 8");
    assert_fails(wte_grad_lookup(g, all, d_out, SIZE_MAX / 2, &o, &err), err, WTE_E_LIMIT,
                 WTE_NO_INDEX, "more than memory can hold");
    o.scale = NAN;
    assert_fails(wte_grad_lookup(g, all, d_out, 0, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "the scale is nan");
    o.scale = 1;
    o.d_out_dtype = WTE_F64;
    assert_fails(wte_grad_lookup(g, all, d_out, 0, &o, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "d_out is f32, f16 or bf16, not f64");
    o.d_out_dtype = WTE_DTYPE_NONE;
    o.n_ignore_ids = 3;
    assert_fails(wte_grad_lookup(g, all, d_out, 0, &o, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "ignore_ids is NULL, but has 3 elements");
    assert_fails(wte_grad_lookup(g, ids_of(ids, WTE_U32, UINT64_C(1) << 32), d_out, 0, NULL, &err),
                 err, WTE_E_LIMIT, WTE_NO_INDEX, "4294967296 ids in one call, but 4294967295");
    const wte_grad_kind sparse = WTE_GRAD_SPARSE;
    wte_grad *huge = new_grad(UINT64_MAX, 0, sparse, NULL);
    assert_fails(wte_grad_lookup(huge, all, NULL, 0, NULL, &err), err, WTE_E_LIMIT, WTE_NO_INDEX,
                 "2 ids in one call are too many for a table of 18446744073709551615 rows");
    wte_grad_free(huge);
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    const wte_ids offsets = ids_of(&zero, WTE_U32, 1);
    assert_fails(wte_grad_bag(NULL, all, offsets, &bag, d_out, 0, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "g is NULL");
    bag.normalize = 1;
    assert_fails(wte_grad_bag(g, all, offsets, &bag, d_out, 0, NULL, &err), err, WTE_E_UNSUPPORTED,
                 WTE_NO_INDEX, "normalized");
    bag.normalize = 0;
    bag.mode = WTE_BAG_MAX;
    assert_fails(wte_grad_bag(g, all, offsets, &bag, d_out, 0, NULL, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "needs max_at");
    /* two bags of one id each */
    const uint32_t one_each[] = { 0, 1 };
    const wte_ids apart = ids_of(one_each, WTE_U32, 2);
    uint64_t at[] = { 0, WTE_NO_INDEX, 1, 0 };
    bag.argmax = at;
    assert_fails(wte_grad_bag(g, all, apart, &bag, d_out, 0, NULL, &err), err, WTE_E_ARGUMENT, 1,
                 "max_at of bag 1, column 1 is 0, but the bag has 1 ids from 1 on");
    at[3] = 2;
    assert_fails(wte_grad_bag(g, all, apart, &bag, d_out, 0, NULL, &err), err, WTE_E_ARGUMENT, 1,
                 "max_at of bag 1, column 1 is 2");
    at[3] = 1;
    assert_ok(wte_grad_bag(g, all, apart, &bag, d_out, 0, NULL, &err), err);
    wte_grad_free(g);
}

static void weights_and_norms_have_their_errors(void **state)
{
    (void)state;
    const uint32_t ids[] = { 0, 1 }, zero = 0;
    const float table[4] = { 0 };
    float got[2];
    double norm;
    const wte_ids all = ids_of(ids, WTE_U32, 2), offsets = ids_of(&zero, WTE_U32, 1);
    wte_bag_options bag = WTE_BAG_OPTIONS_INIT;
    wte_row_source rows = view_of(table, 2, 2, WTE_F32);
    assert_fails(wte_bag_weights_grad(&rows, all, offsets, &bag, table, NULL, NULL, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "d_weights is NULL");
    bag.mode = WTE_BAG_MEAN;
    assert_fails(wte_bag_weights_grad(&rows, all, offsets, &bag, table, NULL, got, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "weights are for sums, not for the mean");
    bag.mode = WTE_BAG_MAX;
    assert_fails(wte_bag_weights_grad(&rows, all, offsets, &bag, table, NULL, got, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "not for the maximum");
    bag.mode = WTE_BAG_SUM;
    bag.max_norm = -1;
    assert_fails(wte_bag_weights_grad(&rows, all, offsets, &bag, table, NULL, got, &err), err,
                 WTE_E_ARGUMENT, WTE_NO_INDEX, "max_norm is -1");
    rows.dtype = WTE_C64;
    rows.row_bytes = 16;
    assert_fails(wte_bag_weights_grad(&rows, all, offsets, &bag, table, NULL, got, &err), err,
                 WTE_E_UNSUPPORTED, WTE_NO_INDEX, "rows of type c64");
    reader source;
    const wte_row_source broken = reader_of(&source, table, 2, 2, WTE_F32);
    source.bad = 1;
    assert_fails(wte_bag_weights_grad(&broken, all, offsets, NULL, table, NULL, got, &err), err,
                 WTE_E_IO, 1, "the disk is gone");
    wte_grad *g = new_grad(1, 1, WTE_GRAD_DENSE, NULL), *none[] = { g, NULL };
    assert_fails(wte_grad_norm(none, 2, &norm, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "a gradient is NULL");
    assert_fails(wte_grad_norm(NULL, 2, &norm, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "grads");
    assert_fails(wte_grad_norm(none, 1, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "norm");
    assert_fails(wte_grad_clip(none, 1, -1, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "clipped to a norm of -1");
    assert_fails(wte_grad_clip(none, 1, NAN, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX, "nan");
    wte_grad_free(g);
}

static const struct CMUnitTest tests[] = {
    TEST("a million ids of Zipf's law have the same gradient for 1, 2 and 8 threads (H5)",
         a_million_ids_have_the_same_bits),
    TEST("one id may be half of all: the same bits for 1, 2 and 8 threads (H5)",
         half_of_the_ids_may_be_one),
    TEST("uniform ids have the same gradient for 1, 2 and 8 threads (H5)",
         uniform_ids_have_the_same_bits),
    TEST("bags have the same gradient for any number of threads", bags_have_the_same_bits),
    TEST("a sparse gradient that many calls have added to equals the dense one",
         merged_rows_are_those_of_a_dense_gradient),
    TEST("norms are of f64 and the same for any number of threads; clipping is one factor",
         norms_are_those_of_all_numbers),
    TEST("NaN and infinities are told with their row, and nothing is clipped",
         numbers_that_are_none_are_told),
    TEST("memory that fails at any time leaves the gradient as it was",
         memory_may_fail_at_any_time),
    TEST("memory of the gradient of weights may fail", memory_of_weights_may_fail),
    TEST("gradients keep to max_bytes", gradients_have_limits),
    TEST("bad ids are told before anything is changed", bad_ids_change_nothing),
    TEST("options that make no sense are told", options_that_make_no_sense_are_told),
    TEST("weights and norms have their errors", weights_and_norms_have_their_errors),
};
TEST_MAIN(tests)
