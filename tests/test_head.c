/* Logits: values against sums stated once more and against double, for every type, source and
 * shape; the same bits whatever the number of vectors and threads; the chains of real models by
 * hand; masks and chosen rows. */
#include "head_help.h"

static wte_head_options with(wte_precision precision, wte_pool *pool)
{
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    opt.precision = precision;
    opt.pool = pool;
    return opt;
}

static bool same_bits(const float *a, const float *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* Values --------------------------------------------------------------------------------------- */

static void check_exact(const head_table *t, uint64_t n)
{
    const size_t rows = (size_t)t->rows.rows, dim = (size_t)t->rows.cols;
    float *h, *got = head_alloc((size_t)n * rows * sizeof *got);
    wte_error err;
    const wte_hidden hidden = head_hidden(&h, n, dim);
    assert_ok(wte_head_logits(&t->rows, &hidden, NULL, got, 0, &err), err);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) {
            double all;
            const float *w = t->wide + r * dim;
            const float want = head_sum(w, h + i * dim, dim);
            if (!same_bits(&got[i * rows + r], &want, 1))
                fail_msg("row %zu, vector %zu of %u: %a, not %a", r, i, (unsigned)n,
                         (double)got[i * rows + r], (double)want);
            const double exact = head_exact(w, h + i * dim, dim, &all);
            const double bound = (double)(dim / 16 + 5) * 0x1p-24 * all;
            assert_true(fabs((double)want - exact) <= bound);
        }
    free(h);
    free(got);
}

static void logits_are_sums_in_the_stated_order_for_every_type(void **state)
{
    (void)state;
    static const wte_dtype dtypes[] = { WTE_F32, WTE_F16, WTE_BF16, WTE_F64, WTE_I8, WTE_F8_E4M3 };
    static const wte_block_type blocks[] = { WTE_BLOCK_Q8_0, WTE_BLOCK_Q4_0, WTE_BLOCK_Q4_K,
                                             WTE_BLOCK_Q6_K, WTE_BLOCK_Q5_K, WTE_BLOCK_IQ4_XS };
    head_table t;
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        for (uint64_t n = 1; n <= 11; n += 5) {
            head_table_make(&t, dtypes[i], WTE_BLOCK_NONE, 67, 130, 8 * (i % 2));
            check_exact(&t, n);
            head_table_free(&t);
        }
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        for (uint64_t n = 1; n <= 11; n += 5) {
            head_table_make(&t, WTE_F32, blocks[i], 67, 256, 2 * (i % 2));
            check_exact(&t, n);
            head_table_free(&t);
        }
}

static void odd_shapes_are_served(void **state)
{
    (void)state;
    static const uint64_t shapes[][2] = { { 1, 1 },    { 3, 7 },     { 13, 33 },   { 5000, 3 },
                                          { 200, 77 }, { 9, 40000 }, { 25, 12345 } };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        head_table t;
        head_table_make(&t, i % 2 ? WTE_BF16 : WTE_F32, WTE_BLOCK_NONE, shapes[i][0], shapes[i][1],
                        0);
        check_exact(&t, 1);
        check_exact(&t, 7);
        head_table_free(&t);
    }
}

/* Through read_rows alone, as rows of files come. */
static wte_status copy_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const head_table *t = ctx;
    const size_t bytes = (size_t)t->rows.cols * wte_dtype_bytes(t->rows.dtype);
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)out + i * bytes, t->bytes + ids[i] * t->rows.row_bytes, bytes);
    return WTE_OK;
}
static wte_status copy_packed(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const head_table *t = ctx;
    const size_t bytes = (size_t)wte_packed_bytes(t->rows.packing, t->rows.cols);
    (void)err;
    memcpy(out, t->bytes + first * bytes, n * bytes);
    return WTE_OK;
}
static wte_status decode_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const head_table *t = ctx;
    const size_t dim = (size_t)t->rows.cols;
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy((float *)out + i * dim, t->wide + ids[i] * dim, dim * sizeof(float));
    return WTE_OK;
}

/* The same table through readers: of its elements, or decoded beside read_packed. */
static head_table read_only(const head_table *t)
{
    head_table reader = *t;
    reader.rows.data = NULL;
    reader.rows.row_bytes = 0;
    reader.rows.read_block = NULL;
    reader.rows.read_rows = t->rows.packing ? decode_rows : copy_rows;
    reader.rows.packed = NULL;
    reader.rows.packed_row_bytes = 0;
    reader.rows.read_packed = t->rows.packing ? copy_packed : NULL;
    reader.rows.ctx = NULL; /* set where it stays */
    return reader;
}

static const struct {
    wte_dtype dtype;
    wte_block_type block;
} sorts[] = {
    { WTE_F32, WTE_BLOCK_NONE }, { WTE_F16, WTE_BLOCK_NONE }, { WTE_BF16, WTE_BLOCK_NONE },
    { WTE_I8, WTE_BLOCK_NONE },  { WTE_F32, WTE_BLOCK_Q8_0 }, { WTE_F32, WTE_BLOCK_Q4_0 },
    { WTE_F32, WTE_BLOCK_Q4_K }, { WTE_F32, WTE_BLOCK_Q6_K }, { WTE_F32, WTE_BLOCK_Q5_K },
};
#define N_SORTS (sizeof sorts / sizeof sorts[0])

static void rows_that_are_read_give_the_logits_of_rows_in_memory(void **state)
{
    (void)state;
    enum { ROWS = 200, DIM = 512, N = 30 };
    static const uint64_t numbers[] = { 1, 5, N };
    wte_error err;
    float *h, *a = head_alloc(N * ROWS * sizeof *a), *b = head_alloc(N * ROWS * sizeof *b);
    wte_hidden hidden = head_hidden(&h, N, DIM);
    for (size_t i = 0; i < N_SORTS * 6; i++) {
        const wte_head_options opt = with((wte_precision)(i % 2), NULL);
        head_table t;
        hidden.n = numbers[i / 2 % 3];
        head_table_make(&t, sorts[i / 6].dtype, sorts[i / 6].block, ROWS, DIM, 0);
        head_table reader = read_only(&t);
        reader.rows.ctx = &t;
        assert_ok(wte_head_logits(&t.rows, &hidden, &opt, a, 0, &err), err);
        assert_ok(wte_head_logits(&reader.rows, &hidden, &opt, b, 0, &err), err);
        assert_true(same_bits(a, b, (size_t)hidden.n * ROWS));
        head_table_free(&t);
    }
    free(h);
    free(a);
    free(b);
}

static void bits_do_not_depend_on_vectors_or_threads(void **state)
{
    (void)state;
    enum { ROWS = 390, DIM = 512, N = 26 }; /* three tiles; more vectors than are few */
    wte_error err;
    float *h, *all = head_alloc(N * ROWS * sizeof *all), *one = head_alloc(N * ROWS * sizeof *one);
    wte_hidden hidden = head_hidden(&h, N, DIM), single = hidden;
    for (size_t s = 0; s < N_SORTS; s++) {
        head_table t;
        head_table_make(&t, sorts[s].dtype, sorts[s].block, ROWS, DIM, 0);
        assert_ok(wte_head_logits(&t.rows, &hidden, NULL, all, 0, &err), err);
        single.n = 1;
        for (size_t i = 0; i < N; i += 7) {
            single.data = h + i * DIM;
            assert_ok(wte_head_logits(&t.rows, &single, NULL, one, 0, &err), err);
            assert_true(same_bits(one, all + i * ROWS, ROWS));
        }
        for (int fast = 0; fast < 2; fast++) {
            wte_head_options opt = with((wte_precision)fast, NULL);
            assert_ok(wte_head_logits(&t.rows, &hidden, &opt, all, 0, &err), err);
            for (uint32_t threads = 2; threads <= 8; threads += 6) {
                assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
                memset(one, 0, N * ROWS * sizeof *one);
                assert_ok(wte_head_logits(&t.rows, &hidden, &opt, one, 0, &err), err);
                assert_true(same_bits(one, all, N * ROWS));
                wte_pool_free(opt.pool);
            }
        }
        head_table_free(&t);
    }
    free(h);
    free(all);
    free(one);
}

/* What docs/kernels.md promises of the fast precision. */
static double fast_bound(const head_table *t, size_t r, const float *h)
{
    const size_t dim = (size_t)t->rows.cols;
    const float *w = t->wide + r * dim;
    double all, blocks = 0;
    (void)head_exact(w, h, dim, &all);
    for (size_t b = 0; b < dim / 32; b++) {
        double most = 0, sum = 0;
        for (size_t k = 32 * b; k < 32 * b + 32; k++) {
            most = fmax(most, fabs((double)h[k]));
            sum += fabs((double)w[k]);
        }
        blocks += sum * most / 254;
    }
    const double pairs = (0x1p-7 + (double)dim * 0x1p-23) * all;
    const double integers = blocks * (1 + 0x1p-20) + (double)dim * 0x1p-23 * (all + 8 * blocks);
    return fmax(pairs, t->rows.packing ? integers : 0);
}

static void fast_logits_are_within_their_bound(void **state)
{
    (void)state;
    enum { ROWS = 130, DIM = 768, N = 60 };
    static const uint64_t numbers[] = { 1, 2, 8, 14, 20, N };
    wte_error err;
    float *h, *got = head_alloc(N * ROWS * sizeof *got);
    wte_hidden hidden = head_hidden(&h, N, DIM);
    for (size_t s = 0; s < N_SORTS; s++) {
        head_table t;
        head_table_make(&t, sorts[s].dtype, sorts[s].block, ROWS, DIM, 0);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            const wte_head_options opt = with(WTE_PRECISION_FAST, NULL);
            hidden.n = numbers[k];
            assert_ok(wte_head_logits(&t.rows, &hidden, &opt, got, 0, &err), err);
            for (size_t i = 0; i < hidden.n; i++)
                for (size_t r = 0; r < ROWS; r++) {
                    double all;
                    const double want = head_exact(t.wide + r * DIM, h + i * DIM, DIM, &all);
                    const double error = fabs((double)got[i * ROWS + r] - want);
                    if (!(error <= fast_bound(&t, r, h + i * DIM)))
                        fail_msg("sort %zu, n %u: row %zu, vector %zu is %g, not %g (bound %g)", s,
                                 (unsigned)hidden.n, r, i, (double)got[i * ROWS + r], want,
                                 fast_bound(&t, r, h + i * DIM));
                }
        }
        head_table_free(&t);
    }
    free(h);
    free(got);
}

static void hidden_vectors_may_be_narrow_and_apart(void **state)
{
    (void)state;
    enum { ROWS = 21, DIM = 50, N = 9, APART = 120 }; /* bytes of padding */
    static const wte_dtype narrow[] = { WTE_F32, WTE_F16, WTE_BF16 };
    wte_error err;
    head_table t;
    head_table_make(&t, WTE_F32, WTE_BLOCK_NONE, ROWS, DIM, 0);
    for (size_t d = 0; d < 3; d++)
        for (size_t odd = 0; odd < 2; odd++) { /* rows that are not aligned as floats are */
            float *h, got[N * ROWS], want[N * ROWS];
            const size_t size = wte_dtype_bytes(narrow[d]), stride = DIM * size + APART + odd;
            char *apart = head_alloc(N * stride + 1);
            wte_hidden hidden = head_hidden(&h, N, DIM);
            for (size_t i = 0; i < N; i++) {
                char *at = apart + odd + i * stride;
                assert_ok(wte_convert(WTE_F32, h + i * DIM, narrow[d], at, DIM, NULL, &err), err);
                assert_ok(wte_convert(narrow[d], at, WTE_F32, h + i * DIM, DIM, NULL, &err), err);
            }
            assert_ok(wte_head_logits(&t.rows, &hidden, NULL, want, 0, &err), err);
            hidden.data = apart + odd;
            hidden.dtype = narrow[d];
            hidden.row_bytes = stride;
            assert_ok(wte_head_logits(&t.rows, &hidden, NULL, got, 0, &err), err);
            assert_true(same_bits(got, want, N * ROWS));
            free(apart);
            free(h);
        }
    head_table_free(&t);
}

static void logits_may_lie_apart(void **state)
{
    (void)state;
    enum { ROWS = 30, DIM = 20, N = 4, STRIDE = 37 };
    wte_error err;
    head_table t;
    float *h, tight[N * ROWS], apart[N * STRIDE];
    head_table_make(&t, WTE_F16, WTE_BLOCK_NONE, ROWS, DIM, 0);
    const wte_hidden hidden = head_hidden(&h, N, DIM);
    for (size_t i = 0; i < N * STRIDE; i++) apart[i] = 77;
    assert_ok(wte_head_logits(&t.rows, &hidden, NULL, tight, 0, &err), err);
    assert_ok(wte_head_logits(&t.rows, &hidden, NULL, apart, STRIDE * 4, &err), err);
    for (size_t i = 0; i < N; i++) {
        assert_true(same_bits(apart + i * STRIDE, tight + i * ROWS, ROWS));
        for (size_t r = ROWS; r < STRIDE; r++) assert_true(apart[i * STRIDE + r] == 77);
    }
    free(h);
    head_table_free(&t);
}

static void nothing_gives_nothing(void **state)
{
    (void)state;
    wte_error err;
    float logit = 5;
    const float one[] = { 1, 2 };
    const wte_row_source none = { .cols = 2, .dtype = WTE_F32 };
    const wte_row_source some = {
        .rows = 1, .cols = 2, .dtype = WTE_F32, .data = one, .row_bytes = sizeof one
    };
    const wte_row_source empty = { .rows = 1, .dtype = WTE_F32, .data = one };
    const wte_hidden nobody = { .dtype = WTE_F32, .dim = 2 };
    const wte_hidden h = { .data = one, .dtype = WTE_F32, .n = 1, .dim = 2 };
    const wte_hidden no_dim = { .data = one, .dtype = WTE_F32, .n = 1 };
    assert_ok(wte_head_logits(&none, &h, NULL, NULL, 0, &err), err);
    assert_ok(wte_head_logits(&some, &nobody, NULL, NULL, 0, &err), err);
    assert_ok(wte_head_logits_at(&some, &h, (wte_ids){ .type = WTE_I64 }, NULL, NULL, 0, &err),
              err);
    assert_true(logit == 5);
    assert_ok(wte_head_logits(&empty, &no_dim, NULL, &logit, 0, &err), err);
    assert_true(logit == 0); /* a sum of nothing */
}

/* The chains of models, on hidden (1, 2) and rows (3, 4), (-1, 0.5), (0, 0): products 11, 0, 0; and
 * hidden (8, -4): 8, -10, 0 ----------------------------------------------------------------------
 */

static const float chain_rows[] = { 3, 4, -1, 0.5f, 0, 0 };
static const float chain_hidden[] = { 1, 2, 8, -4 };

static void run_chain(const wte_head_options *opt, float out[6])
{
    wte_error err;
    const wte_row_source rows = {
        .rows = 3, .cols = 2, .dtype = WTE_F32, .data = chain_rows, .row_bytes = 8
    };
    const wte_hidden hidden = { .data = chain_hidden, .dtype = WTE_F32, .n = 2, .dim = 2 };
    assert_ok(wte_head_logits(&rows, &hidden, opt, out, 0, &err), err);
}

static void expect(const float *got, const float *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(got[i] == want[i])) fail_msg("%zu: %a, not %a", i, (double)got[i], (double)want[i]);
}

static void cohere_multiplies_logits(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.chain.scale = 0.0625f; /* logit_scale */
    run_chain(&opt, got);
    expect(got, (float[]){ 11 * 0.0625f, 0, 0, 0.5f, -0.625f, 0 }, 6);
}

static void granite_divides_logits(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.chain.divisor = 12; /* logits_scaling: a division, not a product with 1 / 12 */
    run_chain(&opt, got);
    expect(got, (float[]){ 11.0f / 12, 0, 0, 8.0f / 12, -10.0f / 12, 0 }, 6);
}

static void minicpm_divides_hidden(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.chain.hidden_divisor = 9; /* hidden_size 2304 / dim_model_base 256 */
    run_chain(&opt, got);
    const float a = 1.0f / 9, b = 2.0f / 9, c = 8.0f / 9, d = -4.0f / 9;
    expect(got,
           (float[]){ 3 * a + 4 * b, -a + 0.5f * b, 0, fmaf(3, c, 0) + 4 * d, -c + 0.5f * d, 0 },
           6);
}

static void tied_t5_multiplies_hidden(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.chain.hidden_scale = 0.03125f; /* 1024^-0.5 */
    run_chain(&opt, got);
    expect(got, (float[]){ 11 * 0.03125f, 0, 0, 0.25f, -0.3125f, 0 }, 6);
}

static void gemma_2_caps_logits(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    const double exact[] = { 30 * tanh(11.0 / 30),  0, 0, 30 * tanh(8.0 / 30),
                             30 * tanh(-10.0 / 30), 0 };
    opt.chain.softcap = 30;
    run_chain(&opt, got);
    for (size_t i = 0; i < 6; i++)
        assert_true(fabs((double)got[i] - exact[i]) <= 5 * 0x1p-24 * fabs(exact[i]));
}

static void the_chain_has_the_stated_order(void **state)
{
    (void)state;
    static const float bias[] = { 0.5f, -2, 3 };
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.bias = bias;
    opt.bias_dtype = WTE_F32;
    opt.chain =
        (wte_logit_transform){ .hidden_scale = 2, .hidden_divisor = 4, .scale = 3, .divisor = 2 };
    run_chain(&opt, got); /* hidden halved, bias, * 3, / 2 */
    expect(got,
           (float[]){ (5.5f + 0.5f) * 1.5f, -2 * 1.5f, 3 * 1.5f, (4 + 0.5f) * 1.5f, (-5 - 2) * 1.5f,
                      3 * 1.5f },
           6);
    opt.chain.softcap = 1e6f; /* far from it, tanh is its argument */
    run_chain(&opt, got);
    assert_true(fabsf(got[0] - 9) < 1e-4f && fabsf(got[4] + 10.5f) < 1e-4f);
    opt.chain = (wte_logit_transform){ .softcap = 0.25f };
    run_chain(&opt, got); /* the bias comes before the cap: -2 is capped, not -0.25 - 2 */
    assert_true(fabsf(got[1] + 0.25f) < 1e-4f);
}

static void the_bias_may_be_narrow(void **state)
{
    (void)state;
    static const uint16_t f16[] = { 0x3800, 0xc000, 0x4200 }, bf16[] = { 0x3f00, 0xc000, 0x4040 };
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    const float want[] = { 11.5f, -2, 3, 8.5f, -12, 3 };
    opt.bias = f16;
    opt.bias_dtype = WTE_F16;
    run_chain(&opt, got);
    expect(got, want, 6);
    opt.bias = bf16;
    opt.bias_dtype = WTE_BF16;
    run_chain(&opt, got);
    expect(got, want, 6);
}

/* Masks and chosen rows -------------------------------------------------------------------------
 */

static void rows_without_a_token_are_minus_infinity(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.n_valid = 2;
    run_chain(&opt, got);
    expect(got, (float[]){ 11, 0, -INFINITY, 8, -10, -INFINITY }, 6);
    const uint8_t bits = 5; /* rows 0 and 2 */
    opt.n_valid = 0;
    opt.valid = &bits;
    run_chain(&opt, got);
    expect(got, (float[]){ 11, -INFINITY, 0, 8, -INFINITY, 0 }, 6);
    opt.n_valid = 1; /* both */
    run_chain(&opt, got);
    expect(got, (float[]){ 11, -INFINITY, -INFINITY, 8, -INFINITY, -INFINITY }, 6);
    opt.n_valid = 5; /* more than there are rows */
    opt.valid = NULL;
    run_chain(&opt, got);
    expect(got, (float[]){ 11, 0, 0, 8, -10, 0 }, 6);
}

static void the_cap_does_not_lift_what_is_masked(void **state)
{
    (void)state;
    wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
    float got[6];
    opt.n_valid = 1;
    opt.chain.softcap = 30;
    run_chain(&opt, got);
    assert_true(got[1] == -INFINITY && got[2] == -INFINITY);
}

static void chosen_rows_have_their_logits(void **state)
{
    (void)state;
    enum { ROWS = 300, DIM = 256, N = 14, IDS = 170 };
    static const uint64_t numbers[] = { 1, 6, N };
    wte_error err;
    float *h, *all = head_alloc(N * ROWS * sizeof *all), *some = head_alloc(N * IDS * sizeof *some);
    float bias[ROWS];
    int32_t ids[IDS];
    wte_hidden hidden = head_hidden(&h, N, DIM);
    for (size_t r = 0; r < ROWS; r++) bias[r] = (float)r;
    for (size_t j = 0; j < IDS; j++) ids[j] = (int32_t)(j * 7919 % ROWS);
    for (size_t i = 0; i < N_SORTS * 6; i++) {
        wte_head_options opt = WTE_HEAD_OPTIONS_INIT;
        head_table t;
        hidden.n = numbers[i / 2 % 3];
        opt.bias = bias;
        opt.bias_dtype = WTE_F32;
        opt.n_valid = 290;
        head_table_make(&t, sorts[i / 6].dtype, sorts[i / 6].block, ROWS, DIM, 0);
        head_table reader = read_only(&t);
        reader.rows.ctx = &t;
        const wte_row_source *rows = i % 2 ? &reader.rows : &t.rows;
        const wte_ids list = { .data = ids, .type = WTE_I32, .count = IDS };
        assert_ok(wte_head_logits(rows, &hidden, &opt, all, 0, &err), err);
        assert_ok(wte_head_logits_at(rows, &hidden, list, &opt, some, 0, &err), err);
        for (size_t k = 0; k < hidden.n; k++)
            for (size_t j = 0; j < IDS; j++)
                assert_true(same_bits(&some[k * IDS + j], &all[k * ROWS + (size_t)ids[j]], 1));
        opt.precision = WTE_PRECISION_FAST;
        assert_ok(wte_head_logits_at(rows, &hidden, list, &opt, some, 0, &err), err);
        assert_true(fabsf(some[3] - all[ids[3]]) <=
                    1e-4f + (float)fast_bound(&t, (size_t)ids[3], h));
        head_table_free(&t);
    }
    free(h);
    free(all);
    free(some);
}

static const struct CMUnitTest tests[] = {
    TEST("logits are sums in the stated order for every type",
         logits_are_sums_in_the_stated_order_for_every_type),
    TEST("odd shapes are served", odd_shapes_are_served),
    TEST("rows that are read give the logits of rows in memory",
         rows_that_are_read_give_the_logits_of_rows_in_memory),
    TEST("bits do not depend on vectors or threads", bits_do_not_depend_on_vectors_or_threads),
    TEST("fast logits are within their bound", fast_logits_are_within_their_bound),
    TEST("hidden vectors may be narrow and apart", hidden_vectors_may_be_narrow_and_apart),
    TEST("logits may lie apart", logits_may_lie_apart),
    TEST("nothing gives nothing", nothing_gives_nothing),
    TEST("Cohere multiplies logits", cohere_multiplies_logits),
    TEST("Granite divides logits", granite_divides_logits),
    TEST("MiniCPM divides hidden", minicpm_divides_hidden),
    TEST("tied T5 multiplies hidden", tied_t5_multiplies_hidden),
    TEST("Gemma 2 caps logits", gemma_2_caps_logits),
    TEST("the chain has the stated order", the_chain_has_the_stated_order),
    TEST("the bias may be narrow", the_bias_may_be_narrow),
    TEST("rows without a token are minus infinity", rows_without_a_token_are_minus_infinity),
    TEST("the cap does not lift what is masked", the_cap_does_not_lift_what_is_masked),
    TEST("chosen rows have their logits", chosen_rows_have_their_logits),
};
TEST_MAIN(tests)
