/* The kernels of the head's fast precision on every instruction set, against sums in double: within
 * the bound that docs/kernels.md states, any shape, nothing read or written outside. */
#include "test.h"

#include <math.h>
#include <wte/block.h>

#include "num/kernels.h"

/* Rounding of sums of n terms: each addition is wrong by 2^-24 at most; the instruction for pairs
 * rounds a pair more than once. */
static double sum_error(size_t n)
{
    return 2 * (double)n * 0x1p-24;
}

/* Pairs of bf16 ------------------------------------------------------------------------------ */

static float noise_number(uint64_t *seed)
{
    return (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-31f;
}
static uint16_t to_bf16(float x)
{
    uint16_t code;
    wte__kernels_get()->f32_to_bf16(&x, &code, 1);
    return code;
}
static double of_bf16(uint16_t code)
{
    const uint32_t bits = (uint32_t)code << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

typedef struct pairs_case {
    bool many;
    size_t rows, n, dim, w_pad, out_pad;
} pairs_case;

typedef struct pairs_job {
    pairs_case c;
    wte__pairs job;
    size_t w_bytes, h_bytes, out_bytes;
    uint16_t *w, *h;
    float *out;
} pairs_job;

static size_t h_at(const pairs_case *c, size_t i, size_t k)
{
    return c->many ? wte__pairs_at(c->dim, i, k) : i * c->dim + k;
}

static void make_pairs(pairs_job *j, const pairs_case *c)
{
    uint64_t seed = c->rows + 100 * c->n + c->dim;
    const size_t w_stride = c->dim + c->w_pad, out_stride = c->rows + c->out_pad;
    const size_t n_held = c->many ? (c->n + 15) / 16 * 16 : c->n;
    j->c = *c;
    j->w_bytes = (c->rows * w_stride - c->w_pad) * 2;
    j->h_bytes = n_held * c->dim * 2;
    j->out_bytes = (c->n * out_stride - c->out_pad) * sizeof(float);
    j->w = test_guarded(j->w_bytes);
    j->h = test_guarded(j->h_bytes);
    j->out = test_guarded(j->out_bytes);
    for (size_t i = 0; i < j->w_bytes / 2; i++) j->w[i] = to_bf16(noise_number(&seed));
    memset(j->h, 0, j->h_bytes);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->dim; k++) j->h[h_at(c, i, k)] = to_bf16(noise_number(&seed));
    j->job = (wte__pairs){ .w = j->w,
                           .w_stride = w_stride * 2,
                           .n_w = c->rows,
                           .h = j->h,
                           .n_h = c->n,
                           .dim = c->dim,
                           .out = j->out,
                           .out_stride = out_stride };
}

static void check_pair_sum(const pairs_job *j, const char *isa, size_t i, size_t r)
{
    const pairs_case *c = &j->c;
    double sum = 0, all = 0;
    for (size_t k = 0; k < c->dim; k++) {
        const double x = of_bf16(j->w[r * (c->dim + c->w_pad) + k]) * of_bf16(j->h[h_at(c, i, k)]);
        sum += x;
        all += fabs(x);
    }
    const double got = (double)j->out[i * (c->rows + c->out_pad) + r];
    if (!(fabs(got - sum) <= sum_error(c->dim) * all))
        fail_msg("%s: %zu rows, %zu vectors, dim %zu: row %zu, vector %zu is %g, not %g", isa,
                 c->rows, c->n, c->dim, r, i, got, sum);
}

static void check_pairs(const pairs_case *c)
{
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const size_t stride = c->rows + c->out_pad;
    pairs_job j;
    make_pairs(&j, c);
    for (size_t s = 0; s < n_sets; s++) {
        for (size_t at = 0; at < j.out_bytes / 4; at++) j.out[at] = 12345;
        (c->many ? sets[s]->fast_many : sets[s]->fast_few)(&j.job);
        for (size_t at = 0; at < j.out_bytes / 4; at++) {
            if (at % stride < c->rows)
                check_pair_sum(&j, sets[s]->isa, at / stride, at % stride);
            else
                assert_true(j.out[at] == 12345);
        }
    }
    test_guarded_free(j.w, j.w_bytes);
    test_guarded_free(j.h, j.h_bytes);
    test_guarded_free(j.out, j.out_bytes);
}

static void pairs_are_summed_whatever_the_shape(void **state)
{
    (void)state;
    for (size_t dim = 2; dim <= 80; dim += 2) {
        check_pairs(&(pairs_case){ false, 5, 2, dim, 0, 0 });
        check_pairs(&(pairs_case){ true, 9, 17, dim, 0, 0 });
    }
    for (size_t rows = 1; rows <= 17; rows++)
        for (size_t n = 1; n <= 100; n += n < 18 ? 1 : 13) {
            check_pairs(&(pairs_case){ false, rows, n, 34, 0, 0 });
            check_pairs(&(pairs_case){ true, rows, n, 34, 0, 0 });
        }
    check_pairs(&(pairs_case){ false, 6, 7, 130, 3, 5 });
    check_pairs(&(pairs_case){ true, 11, 50, 130, 3, 5 });
    check_pairs(&(pairs_case){ true, 8, 16, 4096, 0, 0 });
    /* stretch by stretch */
    for (size_t n = 2; n <= 8; n++) check_pairs(&(pairs_case){ false, 21, n, 12000 / n * 2, 0, 0 });
}

static void rounding_to_pairs_is_to_nearest(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t n = 0; n <= 70; n++) {
        float *x = test_guarded(n * 4 + 4);
        uint16_t *got = test_guarded(n * 2 + 2);
        uint64_t seed = n + 1;
        for (size_t i = 0; i <= n; i++) x[i] = noise_number(&seed) * ldexpf(1, (int)(i % 200) - 90);
        if (n > 3) x[3] = INFINITY;
        if (n > 5) x[5] = -0.0f;
        for (size_t s = 0; s < n_sets; s++) {
            got[0] = 7;
            sets[s]->fast_round(x + 1, got + 1, n);
            assert_int_equal(got[0], 7);
            for (size_t i = 1; i <= n; i++) assert_int_equal(got[i], to_bf16(x[i]));
        }
        test_guarded_free(x, n * 4 + 4);
        test_guarded_free(got, n * 2 + 2);
    }
    const float nan = NAN;
    for (size_t s = 0; s < n_sets; s++) {
        uint16_t got;
        sets[s]->fast_round(&nan, &got, 1);
        assert_true(isnan(of_bf16(got)));
    }
}

/* Blocks ------------------------------------------------------------------------------------- */

typedef void (*bytes_kernel)(const wte__int8_dots *job);
typedef struct bytes_type {
    wte_block_type block;
    size_t scale_at[2], scales; /* f16 numbers of a block */
    size_t slot;
} bytes_type;

static const bytes_type bytes_types[] = {
    { WTE_BLOCK_Q8_0, { 0 }, 1, offsetof(wte__kernels, fast_q8_0) },
    { WTE_BLOCK_Q4_0, { 0 }, 1, offsetof(wte__kernels, fast_q4_0) },
    { WTE_BLOCK_Q4_K, { 0, 2 }, 2, offsetof(wte__kernels, fast_q4_k) },
    { WTE_BLOCK_Q6_K, { 208 }, 1, offsetof(wte__kernels, fast_q6_k) },
};

static bytes_kernel bytes_kernel_of(const wte__kernels *set, const bytes_type *type)
{
    bytes_kernel kernel;
    memcpy(&kernel, (const char *)set + type->slot, sizeof kernel);
    return kernel;
}

typedef struct bytes_case {
    const bytes_type *type;
    size_t rows, n, dim, w_pad, out_pad;
} bytes_case;

typedef struct bytes_job {
    bytes_case c;
    wte__int8_dots job;
    size_t row_bytes, w_stride, w_bytes, h_bytes, out_bytes;
    uint8_t *w;
    wte__int8_dots_step *h;
    float *out;
} bytes_job;

static void fill_w(bytes_job *j)
{
    uint64_t seed = j->c.rows + j->c.dim;
    const bytes_type *type = j->c.type;
    const size_t block_bytes = wte_block_bytes(type->block);
    for (size_t i = 0; i < j->w_bytes; i++) j->w[i] = (uint8_t)test_noise(&seed);
    for (size_t r = 0; r < j->c.rows; r++)
        for (size_t at = 0; at < j->row_bytes; at += block_bytes)
            for (size_t i = 0; i < type->scales; i++) {
                const uint16_t half = (uint16_t)(0x2000 + test_noise(&seed) % 0x1000);
                memcpy(j->w + r * j->w_stride + at + type->scale_at[i], &half, 2);
            }
}

/* The step of vector i that element k is in for the first time, and where it is in it. */
static wte__int8_dots_step *step_of(const bytes_job *j, size_t i, size_t k, size_t *at)
{
    const size_t dim = j->c.dim, s = k / 256;
    const size_t first = dim >= 256 && dim - 256 * s < 256 ? dim - 256 : 256 * s;
    *at = k - first;
    return j->h + s * j->c.n + i;
}
/* Of every half of a block of 32 four elements, then the next four of each. */
static int8_t *integer_of(wte__int8_dots_step *step, size_t at)
{
    return &step->q[at / 4 % 4 * 64 + at / 32 * 8 + at / 16 % 2 * 4 + at % 4];
}

static double h_number(const bytes_job *j, size_t i, size_t k)
{
    size_t at;
    wte__int8_dots_step *step = step_of(j, i, k, &at);
    return (double)*integer_of(step, at) * (double)step->scale[at / 32 * 2];
}

static void fill_h(bytes_job *j, size_t i)
{
    uint64_t seed = j->c.dim + i;
    for (size_t k = 0; k < j->c.dim; k++) {
        size_t at;
        wte__int8_dots_step *step = step_of(j, i, k, &at);
        const int8_t h = (int8_t)(test_noise(&seed) % 255 - 127);
        *integer_of(step, at) = h;
        step->less[at / 16] -= h;
        step->scale[at / 16] = (float)((k / 32 + i) % 7 + 1) * 0.125f;
    }
}

static void make_bytes(bytes_job *j, const bytes_case *c)
{
    *j = (bytes_job){ .c = *c };
    j->row_bytes = wte_packed_bytes(c->type->block, c->dim);
    j->w_stride = j->row_bytes + c->w_pad;
    j->w_bytes = c->rows * j->w_stride - c->w_pad;
    j->h_bytes = c->n * ((c->dim + 255) / 256) * sizeof *j->h;
    j->out_bytes = (c->n * (c->rows + c->out_pad) - c->out_pad) * sizeof(float);
    j->w = test_guarded(j->w_bytes);
    j->h = memset(test_guarded(j->h_bytes), 0, j->h_bytes);
    j->out = test_guarded(j->out_bytes);
    fill_w(j);
    for (size_t i = 0; i < c->n; i++) fill_h(j, i);
    j->job = (wte__int8_dots){ .w = j->w,
                               .w_stride = j->w_stride,
                               .n_w = c->rows,
                               .dim = c->dim,
                               .h = j->h,
                               .n_h = c->n,
                               .out = j->out,
                               .out_stride = c->rows + c->out_pad };
}

static void check_bytes_sum(const bytes_job *j, const char *isa, size_t i, size_t r)
{
    float row[4352];
    double sum = 0, all = 0;
    wte_error err;
    const wte_block_type block = j->c.type->block;
    assert_ok(wte_block_decode(block, j->w + r * j->w_stride, row,
                               j->c.dim / wte_block_elements(block), &err),
              err);
    for (size_t k = 0; k < j->c.dim; k++) {
        const double h = h_number(j, i, k);
        sum += (double)row[k] * h;
        all += fabs((double)row[k] * h);
        if (block == WTE_BLOCK_Q4_K)
            all += fabs(h); /* its two parts are larger than what is left */
    }
    const double got = (double)j->out[i * (j->c.rows + j->c.out_pad) + r];
    if (!(fabs(got - sum) <= sum_error(j->c.dim) * all))
        fail_msg("%s %s: %zu rows of %zu: row %zu, vector %zu is %g, not %g", isa,
                 wte_block_name(block), j->c.rows, j->c.dim, r, i, got, sum);
}

static void check_bytes(const bytes_case *c)
{
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS), stride = c->rows + c->out_pad;
    bytes_job j;
    make_bytes(&j, c);
    for (size_t s = 0; s < n_sets; s++) {
        for (size_t at = 0; at < j.out_bytes / 4; at++) j.out[at] = 12345;
        bytes_kernel_of(sets[s], c->type)(&j.job);
        for (size_t at = 0; at < j.out_bytes / 4; at++) {
            if (at % stride < c->rows)
                check_bytes_sum(&j, sets[s]->isa, at / stride, at % stride);
            else
                assert_true(j.out[at] == 12345);
        }
    }
    test_guarded_free(j.w, j.w_bytes);
    test_guarded_free(j.h, j.h_bytes);
    test_guarded_free(j.out, j.out_bytes);
}

static void rows_of_blocks_are_multiplied_as_they_are_stored(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof bytes_types / sizeof bytes_types[0]; t++) {
        const size_t elements = wte_block_elements(bytes_types[t].block);
        for (size_t blocks = 1; blocks <= 17 && blocks * elements <= 2048; blocks++)
            check_bytes(&(bytes_case){ &bytes_types[t], 5, 3, blocks * elements, 0, 0 });
        for (size_t rows = 1; rows <= 19; rows++)
            check_bytes(&(bytes_case){ &bytes_types[t], rows, 1 + rows % 9, 256, 0, 0 });
        for (size_t n = 1; n <= 18; n++)
            check_bytes(&(bytes_case){ &bytes_types[t], 3, n, 256, 0, 0 });
        check_bytes(&(bytes_case){ &bytes_types[t], 6, 5, 768, 7, 3 });
        check_bytes(&(bytes_case){ &bytes_types[t], 37, 8, 2048, 0, 0 });
        /* several stretches of a row */
        check_bytes(&(bytes_case){ &bytes_types[t], 19, 9, 4352, 0, 0 });
    }
    check_bytes(&(bytes_case){ &bytes_types[0], 21, 5, 2048 + 96, 0, 0 });
    check_bytes(&(bytes_case){ &bytes_types[1], 21, 8, 4096 + 32, 0, 0 });
}

static float sum_with(bytes_job *j, const wte__kernels *set)
{
    bytes_kernel_of(set, j->c.type)(&j->job);
    return j->out[0];
}

/* Also where a block is in two steps, of which the second counts nothing of it. */
static void scales_that_are_not_finite_reach_their_sums(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const uint16_t infinity = 0x7c00, nan = 0x7e00;
    for (size_t t = 0; t < 2; t++)
        for (size_t block = 0; block < 11; block++) {
            bytes_job j;
            make_bytes(&j, &(bytes_case){ &bytes_types[t], 2, 2, 11 * 32, 0, 0 });
            uint8_t *const at = j.w + block * wte_block_bytes(bytes_types[t].block);
            for (size_t s = 0; s < n_sets; s++) {
                memset(at + 2, 0x11, j.row_bytes / 11 - 2); /* no code is zero, all signs equal */
                memcpy(at, &infinity, 2);
                for (size_t k = 0; k < 32; k++) {
                    size_t place;
                    wte__int8_dots_step *step = step_of(&j, 0, 32 * block + k, &place);
                    step->less[place / 16] = -16;
                    *integer_of(step, place) = 1;
                }
                assert_true(isinf(sum_with(&j, sets[s])));
                memcpy(at, &nan, 2);
                assert_true(isnan(sum_with(&j, sets[s])));
                assert_true(isfinite(j.out[1]));
            }
            test_guarded_free(j.w, j.w_bytes);
            test_guarded_free(j.h, j.h_bytes);
            test_guarded_free(j.out, j.out_bytes);
        }
}

static void nothing_to_do_touches_nothing(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const wte__pairs pairs = { .n_w = 0, .n_h = 1, .dim = 2 },
                     none = { .n_w = 1, .n_h = 0, .dim = 2 };
    const wte__int8_dots bytes = { .n_w = 0, .n_h = 1, .dim = 32 };
    for (size_t s = 0; s < n_sets; s++) {
        sets[s]->fast_few(&pairs);
        sets[s]->fast_many(&pairs);
        sets[s]->fast_few(&none);
        sets[s]->fast_many(&none);
        for (size_t t = 0; t < sizeof bytes_types / sizeof bytes_types[0]; t++)
            bytes_kernel_of(sets[s], &bytes_types[t])(&bytes);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("pairs are summed whatever the shape", pairs_are_summed_whatever_the_shape),
    TEST("rounding to pairs is to nearest", rounding_to_pairs_is_to_nearest),
    TEST("rows of blocks are multiplied as they are stored",
         rows_of_blocks_are_multiplied_as_they_are_stored),
    TEST("scales that are not finite reach their sums",
         scales_that_are_not_finite_reach_their_sums),
    TEST("nothing to do touches nothing", nothing_to_do_touches_nothing),
};
TEST_MAIN(tests)
