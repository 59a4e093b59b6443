/* Bags of every kind of row source against a naive loop, bit for bit: random ids, offsets, masks,
 * padding and weights; any number of threads; memory that is refused, and sources that fail. */
#include "test.h"

#include "bag_help.h"

#include <wte/block.h>
#include <wte/rowwise.h>

#define TABLE_ROWS 50u
#define MOST_IDS   20000u
#define MOST_BAGS  3000u

static wte_error err;

/* A table in one of its forms, and the same numbers as f32. */
typedef struct form {
    const char *name;
    wte_dtype type;   /* of a view or a reader */
    uint32_t packing; /* or a block type or rowwise type */
    bool reads;
} form;
static const form forms[] = {
    { "f32", WTE_F32, 0, false },         { "f16", WTE_F16, 0, false },
    { "bf16", WTE_BF16, 0, false },       { "i8", WTE_I8, 0, false },
    { "f64", WTE_F64, 0, false },         { "u16", WTE_U16, 0, false },
    { "f32 read", WTE_F32, 0, true },     { "bf16 read", WTE_BF16, 0, true },
    { "i64 read", WTE_I64, 0, true },     { "q8_0", 0, WTE_BLOCK_Q8_0, false },
    { "q4_0", 0, WTE_BLOCK_Q4_0, false }, { "row8_f32", 0, WTE_ROW8_F32, false },
    { "row8", 0, WTE_ROW8, false },       { "row4", 0, WTE_ROW4, false },
    { "tbe4", 0, WTE_TBE4, false },       { "tbe2", 0, WTE_TBE2, false },
};
#define N_FORMS (sizeof forms / sizeof *forms)

typedef struct made {
    wte_row_source rows;
    char *data;
    float *plain;
    reader reader;
    wte_block_source block;
    wte_rowwise_source rowwise;
} made;

static void make_packed(const form *f, size_t cols, made *m, uint64_t *seed)
{
    const size_t bytes = (size_t)wte_packed_bytes(f->packing, cols);
    m->data = malloc(TABLE_ROWS * bytes);
    assert_non_null(m->data);
    for (size_t i = 0; i < TABLE_ROWS * bytes; i++) m->data[i] = (char)(test_noise(seed) % 63);
    if (f->packing < 1000)
        assert_ok(wte_row_source_from_blocks((wte_block_type)f->packing, TABLE_ROWS, cols, m->data,
                                             0, &m->block, &m->rows, &err),
                  err);
    else
        assert_ok(wte_row_source_from_rowwise((wte_rowwise)f->packing, TABLE_ROWS, cols, m->data, 0,
                                              &m->rowwise, &m->rows, &err),
                  err);
}

static void make(const form *f, size_t cols, made *m, uint64_t *seed)
{
    m->plain = malloc(TABLE_ROWS * cols * sizeof *m->plain);
    assert_non_null(m->plain);
    if (f->packing) {
        make_packed(f, cols, m, seed);
        assert_ok(wte_row_source_read_block(&m->rows, 0, TABLE_ROWS, m->plain, &err), err);
        return;
    }
    const size_t size = wte_dtype_bytes(f->type);
    m->data = malloc(TABLE_ROWS * cols * size);
    assert_non_null(m->data);
    for (size_t i = 0; i < TABLE_ROWS * cols; i++)
        m->plain[i] = (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-24f;
    assert_ok(wte_convert(WTE_F32, m->plain, f->type, m->data, TABLE_ROWS * cols, NULL, &err), err);
    assert_ok(wte_convert(f->type, m->data, WTE_F32, m->plain, TABLE_ROWS * cols, NULL, &err), err);
    m->rows = f->reads ? reader_of(&m->reader, m->data, TABLE_ROWS, cols, f->type)
                       : view_of(m->data, TABLE_ROWS, cols, f->type);
}

static void unmake(made *m)
{
    free(m->data);
    free(m->plain);
}

/* Ids and what goes with each of them. */
typedef struct batch {
    int64_t ids[MOST_IDS], offsets[MOST_BAGS + 1];
    float weights[MOST_IDS];
    uint8_t mask[MOST_IDS];
    size_t n_ids, n_bags;
} batch;

/* Clean: every id is a good one. */
static void make_batch(batch *b, size_t longest, bool clean, uint64_t *seed)
{
    b->n_bags = 1 + (size_t)(test_noise(seed) % MOST_BAGS);
    b->n_ids = 0;
    for (size_t i = 0; i < b->n_bags; i++) {
        const uint64_t noise = test_noise(seed);
        size_t n = (size_t)(noise >> 8) % (1 + longest);
        if (noise & 1) n = 0;
        if (n > MOST_IDS - b->n_ids) n = MOST_IDS - b->n_ids;
        b->offsets[i] = (int64_t)b->n_ids;
        b->n_ids += n;
    }
    b->offsets[b->n_bags] = (int64_t)b->n_ids;
    for (size_t i = 0; i < b->n_ids; i++) {
        const uint64_t noise = test_noise(seed);
        b->ids[i] = (int64_t)(noise % TABLE_ROWS);
        if (noise >> 32 & 1 && noise >> 33 & 1) b->ids[i] = 3;
        if (!clean && (noise >> 40) % 40 == 0) b->ids[i] = -100;
        if (!clean && (noise >> 48) % 60 == 0) b->ids[i] = TABLE_ROWS;
        b->weights[i] = (float)(int16_t)(uint16_t)(noise >> 16) * 0x1p-15f;
        b->mask[i] = (noise >> 60) != 0;
    }
}

static const int64_t ignored[] = { -100, 3 };

static wte_bag_options random_options(const batch *b, bool clean, uint64_t *seed)
{
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    const uint64_t noise = test_noise(seed);
    opt.mode = (wte_bag_mode)(noise % 3);
    opt.bad_ids = clean ? WTE_BAD_ID_ERROR : WTE_BAD_ID_ZERO;
    opt.include_last_offset = noise >> 8 & 1;
    opt.out_dtype = noise >> 9 & 1 ? WTE_F32 : noise >> 10 & 1 ? WTE_F16 : WTE_BF16;
    if (opt.mode == WTE_BAG_SUM && noise >> 11 & 1) opt.weights = b->weights;
    if (!clean && noise >> 12 & 1) opt.mask = b->mask;
    opt.mask_dtype = WTE_BOOL;
    opt.ignore_ids = ignored;
    opt.n_ignore_ids = !clean && noise >> 13 & 1 ? 2 : 0;
    return opt;
}

/* The result of a call against the naive loop: bags, sizes, and whose the maxima are. */
static void compare(const naive_bags *n, const char *name, const uint8_t *out)
{
    const size_t size = wte_dtype_bytes(n->o->out_dtype);
    for (size_t b = 0; b < n->n_bags; b++)
        for (size_t c = 0; c < n->cols; c++) {
            uint64_t count, at;
            uint32_t want = 0, got = 0;
            const float x = naive_bag(n, b, c, &count, &at);
            assert_ok(wte_convert(WTE_F32, &x, n->o->out_dtype, &want, 1, NULL, &err), err);
            memcpy(&got, out + (b * n->cols + c) * size, size);
            if (got != want)
                fail_msg("%s, mode %d, %zu columns: bag %zu column %zu is %x, not %x (%a)", name,
                         (int)n->o->mode, n->cols, b, c, got, want, (double)x);
            assert_int_equal(n->o->sizes[b], count);
            if (n->o->argmax) assert_int_equal(n->o->argmax[b * n->cols + c], at);
        }
}

/* The same again with several threads, and with maxima traced. */
static void check_batch(const made *m, const char *name, const batch *b, wte_bag_options opt,
                        wte_pool *pool)
{
    const size_t cols = (size_t)m->rows.cols, size = b->n_bags * cols;
    float *out = malloc(size * sizeof *out);
    uint64_t *sizes = malloc(b->n_bags * sizeof *sizes), *at = malloc(size * sizeof *at);
    assert_true(out && sizes && at);
    opt.sizes = sizes;
    const naive_bags n = { m->plain, m->rows.rows, cols, b->ids, b->offsets, b->n_bags, &opt };
    const wte_ids ids = ids_of(b->ids, WTE_I64, b->n_ids);
    const wte_ids offsets = ids_of(b->offsets, WTE_I64, b->n_bags + opt.include_last_offset);
    for (int round = 0; round < 3; round++) {
        opt.pool = round == 1 ? pool : NULL;
        if (round == 2 && opt.mode != WTE_BAG_MAX) break;
        if (round == 2) opt.argmax = at;
        memset(out, 0x5a, size * sizeof *out);
        assert_ok(wte_bag_reduce(&m->rows, ids, offsets, &opt, out, 0, &err), err);
        compare(&n, name, (const uint8_t *)out);
    }
    free(out);
    free(sizes);
    free(at);
}

static void bags_are_what_a_naive_loop_makes(void **state)
{
    (void)state;
    static const size_t widths[] = { 1, 3, 8, 64, 128, 37 }, block_widths[] = { 32, 64, 128 };
    static const size_t longest[] = { 3, 40, 700, 7000 };
    static batch b;
    wte_pool *pool;
    uint64_t seed = 11;
    assert_ok(wte_pool_create(3, &pool, &err), err);
    for (size_t f = 0; f < N_FORMS; f++)
        for (size_t i = 0; i < 8; i++) {
            const bool clean = i >= 4;
            const bool block = forms[f].packing && forms[f].packing < 1000;
            made m;
            make(&forms[f], block ? block_widths[i % 3] : widths[(f + i) % 6], &m, &seed);
            make_batch(&b, longest[i % 4], clean, &seed);
            check_batch(&m, forms[f].name, &b, random_options(&b, clean, &seed), pool);
            unmake(&m);
        }
    wte_pool_free(pool);
}

/* Enough work for several threads, of bags of one length. */
static void the_number_of_threads_does_not_show(void **state)
{
    (void)state;
    enum { BAGS = 400, EACH = 40, COLS = 200 };
    static float table[TABLE_ROWS * COLS], one[BAGS * COLS], out[BAGS * COLS];
    static uint32_t ids[BAGS * EACH];
    const wte_row_source rows = view_of(table, TABLE_ROWS, COLS, WTE_F32);
    const wte_ids all = ids_of(ids, WTE_U32, BAGS * EACH);
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    uint64_t seed = 9;
    opt.ids_per_bag = EACH;
    opt.normalize = 1;
    for (size_t i = 0; i < TABLE_ROWS * COLS; i++) table[i] = (float)(uint8_t)test_noise(&seed);
    for (size_t i = 0; i < BAGS * EACH; i++) ids[i] = (uint32_t)(test_noise(&seed) % TABLE_ROWS);
    assert_ok(wte_bag_reduce(&rows, all, no_ids(), &opt, one, 0, &err), err);
    for (uint32_t threads = 2; threads <= 5; threads++) {
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        memset(out, 0, sizeof out);
        assert_ok(wte_bag_reduce(&rows, all, no_ids(), &opt, out, 0, &err), err);
        assert_memory_equal(out, one, sizeof out);
        wte_pool_free(opt.pool);
    }
}

static void output_rows_may_lie_apart(void **state)
{
    (void)state;
    const uint16_t table[] = { 0x3c00, 0x4000 }, ids[] = { 0, 1, 1 }, offsets[] = { 0, 1 };
    const wte_row_source rows = view_of(table, 2, 1, WTE_F16);
    uint8_t out[12];
    const float want[] = { 1, 4 };
    memset(out, 0x5a, sizeof out);
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 3), ids_of(offsets, WTE_U16, 2), NULL,
                             out + 1, 7, &err),
              err);
    assert_memory_equal(out + 1, &want[0], 4);
    assert_memory_equal(out + 8, &want[1], 4);
    assert_true(out[0] == 0x5a && out[5] == 0x5a && out[6] == 0x5a && out[7] == 0x5a);
}

static void memory_may_be_refused(void **state)
{
    (void)state;
    const double table[] = { 1, 2, 3 };
    const uint16_t ids[] = { 0, 2 }, offsets[] = { 0 };
    const wte_row_source rows = view_of(table, 3, 1, WTE_F64);
    uint16_t out = 7;
    test_memory m;
    wte_bag_options opt = WTE_BAG_OPTIONS_INIT;
    opt.allocator = &m.allocator;
    opt.out_dtype = WTE_F16;
    test_memory_init(&m, 0);
    assert_fails(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 2), ids_of(offsets, WTE_U16, 1), &opt,
                                &out, 0, &err),
                 err, WTE_E_MEMORY, WTE_NO_INDEX, "rows of bags");
    assert_true(out == 7 && m.live == 0);
    test_memory_init(&m, 1);
    assert_ok(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 2), ids_of(offsets, WTE_U16, 1), &opt,
                             &out, 0, &err),
              err);
    assert_true(out == 0x4400 && m.calls == 1 && m.live == 0);
    const float plain[] = { 1, 2, 3 }; /* a view that is reduced as it lies needs none */
    const wte_row_source view = view_of(plain, 3, 1, WTE_F32);
    float sum;
    opt.out_dtype = WTE_F32;
    test_memory_init(&m, 0);
    assert_ok(wte_bag_reduce(&view, ids_of(ids, WTE_U16, 2), ids_of(offsets, WTE_U16, 1), &opt,
                             &sum, 0, &err),
              err);
    assert_true(sum == 4 && m.calls == 0);
}

static void a_source_that_fails_is_heard(void **state)
{
    (void)state;
    const float table[] = { 1, 2, 3 };
    const uint16_t ids[] = { 0, 2 }, offsets[] = { 0 };
    float out[1];
    reader r;
    const wte_row_source rows = reader_of(&r, table, 3, 1, WTE_F32);
    r.bad = 2;
    assert_fails(wte_bag_reduce(&rows, ids_of(ids, WTE_U16, 2), ids_of(offsets, WTE_U16, 1), NULL,
                                out, 0, &err),
                 err, WTE_E_IO, 2, "the disk is gone");
}

static const struct CMUnitTest tests[] = {
    TEST("bags are what a naive loop makes", bags_are_what_a_naive_loop_makes),
    TEST("the number of threads does not show", the_number_of_threads_does_not_show),
    TEST("output rows may lie apart", output_rows_may_lie_apart),
    TEST("memory may be refused", memory_may_be_refused),
    TEST("a source that fails is heard", a_source_that_fails_is_heard),
};
TEST_MAIN(tests)
