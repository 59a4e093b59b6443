/* Lookup from row sources that read, with threads, without memory, and from a huge table. */
#include "lookup_help.h"

#include <wte/block.h>

static wte_error err;

/* Zero rows between good ones, through a reader, with padding in the output left alone. */
static void zero_rows_work_with_any_source(void **state)
{
    (void)state;
    const uint16_t table[] = { 0x3c00, 0x4000, 0x4200 }; /* 1, 2, 3 */
    const int32_t ids[] = { 9, 0, 1, -5, -5, 2, 7 };
    const float expected[] = { 0, -9, 1, -9, 2, -9, 0, -9, 0, -9, 3, -9, 0, -9 };
    float out[14];
    reader r;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_row_source rows = reader_of(&r, table, 3, 1, WTE_F16);
    for (int i = 0; i < 14; i++) out[i] = -9;
    opt.bad_ids = WTE_BAD_ID_ZERO;
    opt.out_dtype = WTE_F32;
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 7), &opt, out, 8, &err), err);
    assert_memory_equal(out, expected, sizeof out);
}

static void a_source_with_both_is_viewed_for_few_and_read_for_many(void **state)
{
    (void)state;
    const uint8_t viewed[] = { 1, 2 }, read[] = { 3, 4 };
    const uint16_t ids[64] = { 1, 0 };
    uint8_t out[64];
    reader r;
    wte_row_source rows = reader_of(&r, read, 2, 1, WTE_U8);
    rows.data = viewed;
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U16, 63), NULL, out, 0, &err), err);
    assert_true(out[0] == 2 && out[1] == 1 && r.calls == 0);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_U16, 64), NULL, out, 0, &err), err);
    assert_true(out[0] == 4 && out[1] == 3 && r.calls == 1);
}

static void the_scratch_buffer_may_be_refused(void **state)
{
    (void)state;
    const uint16_t table[] = { 0x3c00, 0x4000 };
    const int32_t ids[] = { 1, 0 };
    float out[2] = { 7, 7 };
    reader r;
    test_memory m;
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    const wte_row_source rows = reader_of(&r, table, 2, 1, WTE_F16);
    opt.out_dtype = WTE_F32;
    opt.allocator = &m.allocator;
    test_memory_init(&m, 0);
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, 2), &opt, out, 0, &err), err, WTE_E_MEMORY,
                 WTE_NO_INDEX, "rows on their way");
    assert_true(out[0] == 7 && out[1] == 7 && m.live == 0);
    test_memory_init(&m, 1);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, 2), &opt, out, 0, &err), err);
    assert_true(out[0] == 2 && out[1] == 1);
    assert_int_equal(m.calls, 1);
    assert_int_equal(m.live, 0);
    const wte_row_source view = view_of(table, 2, 1, WTE_F16); /* a view needs no memory at all */
    test_memory_init(&m, 0);
    assert_ok(wte_lookup(&view, ids_of(ids, WTE_I32, 2), &opt, out, 0, &err), err);
    assert_int_equal(m.calls, 0);
}

static void a_source_that_fails_is_heard(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 3 };
    const int32_t ids[] = { 0, 2, 1 };
    float out[6];
    reader r;
    const wte_row_source rows = reader_of(&r, table, 3, 1, WTE_F32);
    r.bad = 2;
    for (size_t stride = 4; stride <= 8; stride += 4) {
        r.silent = false;
        assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, out, stride, &err), err,
                     WTE_E_IO, 2, "the disk is gone");
        assert_int_equal(err.sys_errno, 5);
        r.silent = true;
        assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, out, stride, &err), err,
                     WTE_E_IO, WTE_NO_INDEX, "gave no reason");
    }
    assert_int_equal(wte_lookup(&rows, ids_of(ids, WTE_I32, 3), NULL, out, 0, NULL), WTE_E_IO);
}

enum { ROWS = 500, COLS = 24, COUNT = 20000, BYTES = COUNT * COLS * 4 };
static float noise_table[ROWS * COLS];
static int32_t noise_ids[COUNT];

/* One lookup with threads: kind 0 a view, 1 a view that converts, 2 a reader, 3 a reader that
 * converts. Id 77 is ignored. */
static void lookup_of_kind(int kind, wte_pool *pool, uint8_t *out)
{
    static const int64_t ignore = 77;
    reader r;
    const wte_row_source view = view_of(noise_table, ROWS, COLS, WTE_F32),
                         read = reader_of(&r, noise_table, ROWS, COLS, WTE_F32);
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    opt.pool = pool;
    opt.out_dtype = kind & 1 ? WTE_BF16 : WTE_F32;
    opt.ignore_ids = &ignore;
    opt.n_ignore_ids = 1;
    assert_ok(
        wte_lookup(kind & 2 ? &read : &view, ids_of(noise_ids, WTE_I32, COUNT), &opt, out, 0, &err),
        err);
}

static void threads_do_not_show(void **state)
{
    (void)state;
    uint8_t *out[4];
    uint64_t noise = 5;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++)
        noise_table[i] = (float)(test_noise(&noise) >> 40);
    for (size_t i = 0; i < COUNT; i++) noise_ids[i] = (int32_t)(test_noise(&noise) % ROWS);
    for (uint32_t t = 0; t < 4; t++) {
        wte_pool *pool;
        assert_ok(wte_pool_create(1 + t, &pool, &err), err);
        out[t] = calloc(4, BYTES);
        assert_non_null(out[t]);
        for (int kind = 0; kind < 4; kind++)
            lookup_of_kind(kind, pool, out[t] + (size_t)kind * BYTES);
        assert_memory_equal(out[t], out[0], (size_t)4 * BYTES);
        wte_pool_free(pool);
    }
    assert_memory_equal(out[0], out[0] + (size_t)2 * BYTES, (size_t)2 * BYTES);
    for (size_t i = 0; i < COUNT; i++) {
        static const float zeros[COLS];
        const size_t row = (size_t)noise_ids[i] * COLS;
        assert_memory_equal(out[0] + i * sizeof zeros,
                            row == (size_t)77 * COLS ? zeros : noise_table + row, sizeof zeros);
    }
    for (int t = 0; t < 4; t++) free(out[t]);
}

/* Whoever meets a failure first: the one of the lowest block is reported. */
static void the_error_does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { ALL = 9000, WIDTH = 64 };
    static int32_t ids[ALL];
    uint8_t *table = calloc(ALL, WIDTH), *out = malloc((size_t)ALL * WIDTH);
    reader r;
    wte_pool *pool;
    assert_true(table && out);
    const wte_row_source rows = reader_of(&r, table, ALL, WIDTH, WTE_U8);
    wte_lookup_options opt = WTE_LOOKUP_OPTIONS_INIT;
    assert_ok(wte_pool_create(4, &pool, &err), err);
    opt.pool = pool;
    r.bad = 4000;
    for (int i = 0; i < ALL; i++) ids[i] = i;
    ids[8999] = 4000; /* fails in the last block as well */
    for (int i = 0; i < 20; i++)
        assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I32, ALL), &opt, out, 0, &err), err,
                     WTE_E_IO, 4000, "the disk is gone");
    wte_pool_free(pool);
    free(table);
    free(out);
}

/* 2.2 G elements, 8.8 GB of address space of which two pages are touched. */
static void the_last_row_of_a_huge_table_is_reached(void **state)
{
    (void)state;
    const uint64_t n_rows = 4400000, cols = 500;
    const size_t bytes = (size_t)(n_rows * cols) * sizeof(float);
    float *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(table != MAP_FAILED);
    const int64_t ids[] = { 4399999, 0, 4400000 };
    static float out[2 * 500];
    for (uint64_t i = 0; i < cols; i++) table[(n_rows - 1) * cols + i] = (float)i + 0.5f;
    const wte_row_source rows = view_of(table, n_rows, cols, WTE_F32);
    assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I64, 2), NULL, out, 0, &err), err);
    for (size_t i = 0; i < 500; i++) assert_true(out[i] == (float)i + 0.5f && out[500 + i] == 0);
    assert_fails(wte_lookup(&rows, ids_of(ids, WTE_I64, 3), NULL, out, 0, &err), err, WTE_E_RANGE,
                 2, "valid ids 0..4399999");
    munmap(table, bytes);
}

/* Rows of blocks in memory, to outputs that stay in the caches and that do not, side by side and
 * apart, at addresses that no vector likes. */
static void rows_of_blocks_are_decoded_wherever_they_go(void **state)
{
    (void)state;
    enum { N = 9, BLOCKS = 130, WIDTH = 32 * BLOCKS, MANY = 1200 }; /* 20 MB */
    static uint8_t table[N * BLOCKS * 34];
    static float expected[N][WIDTH];
    static int32_t ids[MANY];
    const size_t row = WIDTH * sizeof(float), apart = row + 36;
    uint8_t *out = malloc(MANY * apart + 8);
    wte_block_source storage;
    wte_row_source rows;
    uint64_t noise = 3;
    assert_non_null(out);
    for (size_t i = 0; i < sizeof table; i++) table[i] = (uint8_t)test_noise(&noise);
    for (size_t i = 1; i < sizeof table; i += 34) table[i] &= 0x3f; /* no scale is NaN */
    for (size_t i = 0; i < MANY; i++) ids[i] = (int32_t)(test_noise(&noise) % N);
    assert_ok(wte_block_decode(WTE_BLOCK_Q8_0, table, expected[0], (size_t)N * BLOCKS, &err), err);
    assert_ok(wte_row_source_from_blocks(WTE_BLOCK_Q8_0, N, WIDTH, table, 0, &storage, &rows, &err),
              err);
    for (size_t n = 100; n <= MANY; n += MANY - 100)
        for (size_t stride = row; stride <= apart; stride += 36) {
            memset(out, 0x5a, MANY * apart + 8);
            assert_ok(wte_lookup(&rows, ids_of(ids, WTE_I32, n), NULL, out + 4, stride, &err), err);
            for (size_t i = 0; i < n; i++) {
                const uint8_t *at = out + 4 + i * stride;
                assert_memory_equal(at, expected[ids[i]], row);
                for (size_t k = row; k < stride; k++) assert_int_equal(at[k], 0x5a);
            }
            assert_int_equal(out[4 + n * stride], 0x5a);
        }
    free(out);
}

static const struct CMUnitTest tests[] = {
    TEST("zero rows work with any source", zero_rows_work_with_any_source),
    TEST("a source with view and reader is viewed for few ids and read for many",
         a_source_with_both_is_viewed_for_few_and_read_for_many),
    TEST("the scratch buffer may be refused", the_scratch_buffer_may_be_refused),
    TEST("a source that fails is heard", a_source_that_fails_is_heard),
    TEST("the number of threads does not show in the rows", threads_do_not_show),
    TEST("the number of threads does not show in the error", the_error_does_not_depend_on_threads),
    TEST("rows of blocks are decoded wherever they go",
         rows_of_blocks_are_decoded_wherever_they_go),
    TEST("the last row of a huge table is reached", the_last_row_of_a_huge_table_is_reached),
};
TEST_MAIN(tests)
