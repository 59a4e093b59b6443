/* Products of rows with hidden vectors: the order of the sum stated once more, every instruction
 * set against it bit for bit, any shape, nothing read or written outside. */
#include "test.h"

#include <math.h>
#include <wte/block.h>

#include "num/kernels.h"

typedef void (*dots_kernel)(const wte__dots *job);

static dots_kernel kernel_of(const wte__kernels *set, wte_dtype type)
{
    return type == WTE_F32 ? set->dots_f32 : type == WTE_F16 ? set->dots_f16 : set->dots_bf16;
}

static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16 };
#define N_TYPES (sizeof types / sizeof types[0])

typedef enum filling { PLAIN, TINY, SPECIAL } filling;

/* Numbers around 1; numbers whose products are subnormal or nothing; NaN and infinities among them.
 */
static float number(filling kind, uint64_t *seed)
{
    const uint64_t noise = test_noise(seed);
    const float x = (float)(int32_t)(uint32_t)noise * 0x1p-31f;
    if (kind == TINY) return x * 0x1p-74f;
    if (kind == SPECIAL && (noise >> 32) % 7 == 0) return noise >> 40 & 1 ? INFINITY : -INFINITY;
    if (kind == SPECIAL && (noise >> 32) % 11 == 0) return NAN;
    return x;
}

static void put_number(char *at, wte_dtype type, float x)
{
    if (type == WTE_F32) memcpy(at, &x, sizeof x);
    if (type == WTE_F16) wte__kernels_get()->f32_to_f16(&x, at, 1);
    if (type == WTE_BF16) wte__kernels_get()->f32_to_bf16(&x, at, 1);
}

static float element(const char *at, wte_dtype type)
{
    float x;
    wte_error err;
    assert_ok(wte_convert(type, at, WTE_F32, &x, 1, NULL, &err), err);
    return x;
}

/* Lane k mod 16 takes element k by one fused multiply-add; missing ones are zeros; the upper half
 * of the lanes is added to the lower half, four times. */
static float in_order(const float *w, const float *h, size_t dim)
{
    float lane[16] = { 0 };
    for (size_t k = 0; k < (dim + 15) / 16 * 16; k++)
        lane[k % 16] = k < dim ? fmaf(w[k], h[k], lane[k % 16]) : fmaf(0, 0, lane[k % 16]);
    for (size_t j = 0; j < 8; j++) lane[j] += lane[j + 8];
    for (size_t j = 0; j < 4; j++) lane[j] += lane[j + 4];
    for (size_t j = 0; j < 2; j++) lane[j] += lane[j + 2];
    return lane[0] + lane[1];
}

typedef struct shape {
    size_t rows, n, dim, w_pad, h_pad, out_pad;
} shape;

/* A job whose arrays end at unreadable pages. */
typedef struct job {
    wte_dtype type;
    shape s;
    wte__dots dots;
    size_t w_bytes, h_bytes, out_bytes;
    char *w;
    float *h, *out;
} job;

static void fill(job *j, filling kind)
{
    uint64_t seed = j->s.dim + 31 * j->s.rows + 1;
    const size_t size = wte_dtype_bytes(j->type);
    memset(j->w, 0x7f, j->w_bytes); /* between the rows: large numbers */
    memset(j->h, 0x7f, j->h_bytes);
    for (size_t r = 0; r < j->s.rows; r++)
        for (size_t k = 0; k < j->s.dim; k++)
            put_number(j->w + r * j->dots.w_stride + k * size, j->type, number(kind, &seed));
    for (size_t i = 0; i < j->s.n; i++)
        for (size_t k = 0; k < j->s.dim; k++)
            j->h[i * j->dots.h_stride + k] = number(kind == TINY ? kind : PLAIN, &seed);
}

static void make_job(job *j, wte_dtype type, const shape *s, filling kind)
{
    const size_t size = wte_dtype_bytes(type);
    j->type = type;
    j->s = *s;
    j->dots = (wte__dots){ .w_stride = (s->dim + s->w_pad) * size,
                           .n_w = s->rows,
                           .h_stride = s->dim + s->h_pad,
                           .n_h = s->n,
                           .dim = s->dim,
                           .out_stride = s->rows + s->out_pad };
    j->w_bytes = s->rows * j->dots.w_stride - s->w_pad * size;
    j->h_bytes = (s->n * j->dots.h_stride - s->h_pad) * sizeof(float);
    j->out_bytes = (s->n * j->dots.out_stride - s->out_pad) * sizeof(float);
    j->w = test_guarded(j->w_bytes);
    j->h = test_guarded(j->h_bytes);
    j->out = test_guarded(j->out_bytes);
    fill(j, kind);
    j->dots.w = j->w;
    j->dots.h = j->h;
    j->dots.out = j->out;
}

static void free_job(job *j)
{
    test_guarded_free(j->w, j->w_bytes);
    test_guarded_free(j->h, j->h_bytes);
    test_guarded_free(j->out, j->out_bytes);
}

static float expected(const job *j, size_t i, size_t r)
{
    static float row[5000];
    const size_t size = wte_dtype_bytes(j->type);
    assert_in_range(j->s.dim, 0, 5000);
    for (size_t k = 0; k < j->s.dim; k++)
        row[k] = element(j->w + r * j->dots.w_stride + k * size, j->type);
    return in_order(row, j->h + i * j->dots.h_stride, j->s.dim);
}

/* Same bits, or NaN both: of which NaN nothing is said. */
static bool same(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void check_job(const job *j)
{
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const float mark = 12345;
    for (size_t s = 0; s < n_sets; s++) {
        for (size_t at = 0; at < j->out_bytes / sizeof(float); at++) j->out[at] = mark;
        kernel_of(sets[s], j->type)(&j->dots);
        for (size_t at = 0; at < j->out_bytes / sizeof(float); at++) {
            const size_t i = at / j->dots.out_stride, r = at % j->dots.out_stride;
            const float want = r < j->s.rows ? expected(j, i, r) : mark;
            if (!same(j->out[at], want))
                fail_msg(
                    "%s dots of %s: %zu rows, %zu vectors, dim %zu: row %zu, vector %zu is %a, "
                    "not %a",
                    sets[s]->isa, wte_dtype_name(j->type), j->s.rows, j->s.n, j->s.dim, r, i,
                    (double)j->out[at], (double)want);
        }
    }
}

static void check_shape(const shape *s, filling kind)
{
    for (size_t t = 0; t < N_TYPES; t++) {
        job j;
        make_job(&j, types[t], s, kind);
        check_job(&j);
        free_job(&j);
    }
}

static void every_dim_is_summed_in_order(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= 80; dim++) check_shape(&(shape){ 5, 2, dim, 0, 0, 0 }, PLAIN);
    check_shape(&(shape){ 3, 1, 4096, 0, 0, 0 }, PLAIN);
    check_shape(&(shape){ 3, 7, 4099, 0, 0, 0 }, PLAIN);
}

static void every_number_of_rows_and_vectors_is_served(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 14; rows++)
        for (size_t n = 1; n <= 14; n++) check_shape(&(shape){ rows, n, 37, 0, 0, 0 }, PLAIN);
    check_shape(&(shape){ 130, 23, 64, 0, 0, 0 }, PLAIN);
    check_shape(&(shape){ 9, 40, 300, 0, 0, 0 }, PLAIN);  /* more than stays near */
    check_shape(&(shape){ 33, 1, 1500, 0, 0, 0 }, PLAIN); /* two lines, far apart */
    /* two lines, stretch by stretch */
    for (size_t n = 2; n <= 8; n++) check_shape(&(shape){ 21, n, 9000 / n, 0, 0, 0 }, PLAIN);
    check_shape(&(shape){ 1, 8, 1700, 0, 0, 0 }, PLAIN);
}

/* Part of a table, whose other rows follow: the fetching of these must not show. */
static void rows_that_come_next_change_nothing(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++)
        for (size_t n = 1; n <= 9; n += 4) {
            job j;
            make_job(&j, types[t], &(shape){ 41, n, 700, 3, 0, 0 }, PLAIN);
            j.s.rows = j.dots.n_w = j.dots.out_stride = 17;
            j.dots.prefetch_rows = 24;
            j.out_bytes = 17 * n * sizeof(float);
            check_job(&j);
            j.out_bytes = 41 * n * sizeof(float);
            free_job(&j);
        }
}

static void strides_are_honoured(void **state)
{
    (void)state;
    check_shape(&(shape){ 6, 3, 33, 1, 0, 0 }, PLAIN);
    check_shape(&(shape){ 6, 3, 33, 0, 5, 0 }, PLAIN);
    check_shape(&(shape){ 6, 9, 48, 3, 2, 7 }, PLAIN);
}

static void subnormal_numbers_are_kept(void **state)
{
    (void)state;
    check_shape(&(shape){ 7, 8, 50, 0, 0, 0 }, TINY);
}

static void nan_and_infinity_reach_their_sums(void **state)
{
    (void)state;
    check_shape(&(shape){ 9, 8, 50, 0, 0, 0 }, SPECIAL);
}

static void the_sum_is_near_that_of_doubles(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++) {
        job j;
        make_job(&j, types[t], &(shape){ 12, 12, 777, 0, 0, 0 }, PLAIN);
        kernel_of(wte__kernels_get(), types[t])(&j.dots);
        for (size_t i = 0; i < 12; i++)
            for (size_t r = 0; r < 12; r++) {
                double sum = 0, all = 0;
                for (size_t k = 0; k < 777; k++) {
                    const char *at = j.w + r * j.dots.w_stride + k * wte_dtype_bytes(types[t]);
                    const double x = (double)element(at, types[t]) * (double)j.h[i * 777 + k];
                    sum += x;
                    all += fabs(x);
                }
                /* 49 additions in a lane, 4 of lanes, each wrong by 2^-24 at most */
                const double error = fabs((double)j.out[i * 12 + r] - sum);
                assert_true(error <= 53 * 0x1p-24 * all);
                assert_true(all > 100);
            }
        free_job(&j);
    }
}

/* Rows of blocks: as the sum of what wte_block_decode makes of them. */

static const struct {
    wte_block_type type;
    size_t slot;
} blocks[] = {
    { WTE_BLOCK_Q8_0, offsetof(wte__kernels, dots_q8_0) },
    { WTE_BLOCK_Q4_0, offsetof(wte__kernels, dots_q4_0) },
    { WTE_BLOCK_Q4_K, offsetof(wte__kernels, dots_q4_k) },
    { WTE_BLOCK_Q6_K, offsetof(wte__kernels, dots_q6_k) },
};

/* Random bits: scales of every size, NaN and infinities too. */
static void check_blocks(size_t b, size_t rows, size_t n, size_t dim)
{
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const size_t n_blocks = dim / wte_block_elements(blocks[b].type);
    const size_t row_bytes = n_blocks * wte_block_bytes(blocks[b].type);
    uint8_t *w = test_guarded(rows * row_bytes);
    float *h = test_guarded(n * dim * 4), *out = test_guarded(rows * n * 4), row[1024];
    uint64_t seed = rows + n + dim;
    wte_error err;
    for (size_t i = 0; i < rows * row_bytes; i++) w[i] = (uint8_t)test_noise(&seed);
    for (size_t i = 0; i < n * dim; i++) h[i] = number(PLAIN, &seed);
    const wte__dots dots = { w, row_bytes, rows, h, dim, n, dim, out, rows, 0 };
    for (size_t s = 0; s < n_sets; s++) {
        dots_kernel kernel;
        memcpy(&kernel, (const char *)sets[s] + blocks[b].slot, sizeof kernel);
        kernel(&dots);
        for (size_t at = 0; at < rows * n; at++) {
            assert_ok(
                wte_block_decode(blocks[b].type, w + at % rows * row_bytes, row, n_blocks, &err),
                err);
            const float want = in_order(row, h + at / rows * dim, dim);
            if (!same(out[at], want))
                fail_msg("%s %s, %zu rows, %zu vectors, dim %zu: %zu is %a, not %a", sets[s]->isa,
                         wte_block_name(blocks[b].type), rows, n, dim, at, (double)out[at],
                         (double)want);
        }
    }
    test_guarded_free(w, rows * row_bytes);
    test_guarded_free(h, n * dim * 4);
    test_guarded_free(out, rows * n * 4);
}

static void rows_of_blocks_are_summed_as_they_are_decoded(void **state)
{
    (void)state;
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        const size_t elements = wte_block_elements(blocks[b].type);
        for (size_t rows = 1; rows <= 11; rows++) check_blocks(b, rows, 1 + rows % 3, 256);
        for (size_t n = 1; n <= 9 && n * elements <= 1024; n++) check_blocks(b, 5, 1, n * elements);
    }
}

static void nothing_to_do_touches_nothing(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    float out[2] = { 7, 7 };
    const wte__dots none[] = {
        { .n_w = 0, .n_h = 3, .dim = 5, .out = out },
        { .n_w = 3, .n_h = 0, .dim = 5, .out = out },
    };
    const float some = 1;
    const wte__dots empty = {
        .w = &some, .n_w = 2, .h = &some, .n_h = 1, .out = out, .out_stride = 2
    };
    for (size_t s = 0; s < n_sets; s++)
        for (size_t t = 0; t < N_TYPES; t++) {
            out[0] = out[1] = 7;
            kernel_of(sets[s], types[t])(&none[0]);
            kernel_of(sets[s], types[t])(&none[1]);
            assert_true(out[0] == 7 && out[1] == 7);
            kernel_of(sets[s], types[t])(&empty); /* sums of nothing */
            assert_true(out[0] == 0 && out[1] == 0);
        }
}

static const struct CMUnitTest tests[] = {
    TEST("every dim is summed in the stated order", every_dim_is_summed_in_order),
    TEST("every number of rows and vectors is served", every_number_of_rows_and_vectors_is_served),
    TEST("rows that come next change nothing", rows_that_come_next_change_nothing),
    TEST("strides are honoured, and nothing is written between", strides_are_honoured),
    TEST("subnormal numbers are kept", subnormal_numbers_are_kept),
    TEST("NaN and infinity reach their sums", nan_and_infinity_reach_their_sums),
    TEST("the sum is near that of doubles", the_sum_is_near_that_of_doubles),
    TEST("rows of blocks are summed as they are decoded",
         rows_of_blocks_are_summed_as_they_are_decoded),
    TEST("nothing to do touches nothing", nothing_to_do_touches_nothing),
};
TEST_MAIN(tests)
