/* Kernels that read rows as they are stored, lookups and bags: every instruction set against the
 * plain one bit for bit, and that against a statement of its own here. */
#include "test.h"

#include <math.h>
#include <wte/block.h>
#include <wte/rowwise.h>

#include "num/stored.h"

/* Two vectors of the longest kind and a bit; beyond, some widths that kernels treat in their own
 * way, and rows that are several lines long in each type. */
#define NARROWEST 1u
#define WIDE      40u
static const size_t more_widths[] = { 64, 100, 127, 128, 129, 200, 256, 300, 520, 1030 };
#define N_WIDTHS   (WIDE + sizeof more_widths / sizeof *more_widths)
#define TABLE_ROWS 23u
#define MEMBERS    150u

static size_t width(size_t i)
{
    return i < WIDE ? NARROWEST + i : more_widths[i - WIDE];
}

/* A stored type: a dtype or a packing. */
typedef struct stored_type {
    const char *name;
    wte_dtype dtype;
    uint32_t packing;
} stored_type;
static const stored_type types[] = {
    { "f32", WTE_F32, 0 },         { "f16", WTE_F16, 0 },           { "bf16", WTE_BF16, 0 },
    { "i8", WTE_I8, 0 },           { "row8_f32", 0, WTE_ROW8_F32 }, { "row8", 0, WTE_ROW8 },
    { "row4", 0, WTE_ROW4 },       { "row2", 0, WTE_ROW2 },         { "tbe8", 0, WTE_TBE8 },
    { "tbe4", 0, WTE_TBE4 },       { "tbe2", 0, WTE_TBE2 },         { "q8_0", 0, WTE_BLOCK_Q8_0 },
    { "q4_0", 0, WTE_BLOCK_Q4_0 },
};
#define N_TYPES (sizeof types / sizeof *types)

/* Bytes of a block of 32 elements; 0: none. */
static size_t block_bytes(const stored_type *type)
{
    return type->packing == WTE_BLOCK_Q8_0 ? 34 : type->packing == WTE_BLOCK_Q4_0 ? 18 : 0;
}
static bool has_width(const stored_type *type, size_t cols)
{
    return !block_bytes(type) || cols % 32 == 0;
}

/* A table that ends at an unreadable page. */
typedef struct table {
    const stored_type *type;
    wte__stored stored;
    size_t bytes;
    char *data;
} table;

static void describe(const table *t, wte__stored *out, wte__row_kernels *kernels)
{
    const wte__stored *s = &t->stored;
    const bool known =
        block_bytes(t->type)
            ? wte__stored_blocks(t->type->packing, s->cols, s->table, s->stride, out, kernels)
        : t->type->packing
            ? wte__stored_packed(t->type->packing, s->cols, s->table, s->stride, out, kernels)
            : wte__stored_plain(t->type->dtype, s->cols, s->table, s->stride, out, kernels);
    assert_true(known);
}

/* The kernels of one set, which wte__stored_... choose of the best. */
static wte__row_kernels of_set(const wte__kernels *set, const stored_type *type)
{
    if (type->packing == WTE_BLOCK_Q8_0) return (wte__row_kernels){ NULL, set->bags_q8_0 };
    if (type->packing == WTE_BLOCK_Q4_0) return (wte__row_kernels){ NULL, set->bags_q4_0 };
    switch (type->packing ? type->packing : (uint32_t)type->dtype) {
    case WTE_F32: return (wte__row_kernels){ set->lookup_f32, set->bags_f32 };
    case WTE_F16: return (wte__row_kernels){ set->lookup_f16, set->bags_f16 };
    case WTE_BF16: return (wte__row_kernels){ set->lookup_bf16, set->bags_bf16 };
    case WTE_I8: return (wte__row_kernels){ set->lookup_i8, set->bags_i8 };
    case WTE_ROW4:
    case WTE_TBE4: return (wte__row_kernels){ set->lookup_row4, set->bags_row4 };
    case WTE_ROW2:
    case WTE_TBE2: return (wte__row_kernels){ set->lookup_row2, set->bags_row2 };
    default: return (wte__row_kernels){ set->lookup_row8, set->bags_row8 };
    }
}

static bool front(const table *t)
{
    return t->type->packing >= WTE_TBE8;
}
/* Where in a row its scale lies. */
static size_t scale_of(const table *t)
{
    return front(t) ? 0 : t->stored.row_bytes - (t->stored.f32_scale ? 8 : 4);
}

/* An f16 or f32 that is a usual scale or bias. */
static void put_scales(table *t, char *row, uint64_t *seed)
{
    const size_t block = block_bytes(t->type);
    for (size_t at = 0; block && at < t->stored.row_bytes; at += block) {
        const float x = (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-33f;
        wte__kernels_get()->f32_to_f16(&x, row + at, 1);
    }
    if (block) return;
    for (size_t i = 0; i < 2; i++) {
        const float x = (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-33f;
        if (t->stored.f32_scale)
            memcpy(row + scale_of(t) + 4 * i, &x, 4);
        else
            wte__kernels_get()->f32_to_f16(&x, row + scale_of(t) + 2 * i, 1);
    }
}

/* kind 0: usual numbers; 1: any bits, NaN and infinities among them. */
static table make_table(const stored_type *type, size_t cols, size_t pad, int kind)
{
    table t = { .type = type, .stored = { .cols = cols } };
    wte__row_kernels unused;
    uint64_t seed = cols + 77;
    describe(&t, &t.stored, &unused);
    const size_t stride = t.stored.row_bytes + pad;
    t.bytes = (TABLE_ROWS - 1) * stride + t.stored.row_bytes;
    t.data = test_guarded(t.bytes);
    t.stored.stride = stride;
    t.stored.table = t.data;
    describe(&t, &t.stored, &unused);
    for (size_t i = 0; i < t.bytes; i++) t.data[i] = (char)test_noise(&seed);
    for (size_t r = 0; r < TABLE_ROWS && kind == 0; r++) {
        char *row = t.data + r * t.stored.stride;
        if (type->packing) put_scales(&t, row, &seed);
        for (size_t c = 0; c < cols && !type->packing && type->dtype != WTE_I8; c++) {
            const float x = (float)(int32_t)(uint32_t)test_noise(&seed) * 0x1p-31f;
            wte_error err;
            assert_ok(wte_convert(WTE_F32, &x, type->dtype, row + c * wte_dtype_bytes(type->dtype),
                                  1, NULL, &err),
                      err);
        }
    }
    return t;
}

static void free_table(table *t)
{
    test_guarded_free(t->data, t->bytes);
}

/* Element c of a row of blocks. */
static float element_of_block(const table *t, const char *row, size_t c)
{
    const char *block = row + c / 32 * block_bytes(t->type), *codes = block + 2;
    float scale;
    wte_error err;
    char aligned[2];
    memcpy(aligned, block, sizeof aligned);
    assert_ok(wte_convert(WTE_F16, aligned, WTE_F32, &scale, 1, NULL, &err), err);
    if (t->type->packing == WTE_BLOCK_Q8_0) return (float)(int8_t)codes[c % 32] * scale;
    const unsigned byte = (unsigned char)codes[c % 16];
    return (float)((int)(c % 32 < 16 ? byte & 15 : byte >> 4) - 8) * scale;
}

/* Element c of a row: said once more, without the kernels. */
static float element(const table *t, uint64_t row, size_t c)
{
    const wte__stored *s = &t->stored;
    const char *at = t->data + row * s->stride;
    float x, pair[2];
    wte_error err;
    if (block_bytes(t->type)) return element_of_block(t, at, c);
    if (!t->type->packing) {
        const size_t size = wte_dtype_bytes(t->type->dtype);
        char aligned[8];
        memcpy(aligned, at + c * size, size);
        if (t->type->dtype == WTE_F32)
            memcpy(&x, aligned, sizeof x);
        else
            assert_ok(wte_convert(t->type->dtype, aligned, WTE_F32, &x, 1, NULL, &err), err);
        return x;
    }
    const wte_dtype scale = s->f32_scale ? WTE_F32 : WTE_F16;
    assert_ok(wte_convert(scale, at + scale_of(t), WTE_F32, pair, 2, NULL, &err), err);
    const uint64_t tail = s->f32_scale ? 8 : 4, codes = s->row_bytes - tail;
    const unsigned bits = t->type->packing == WTE_ROW4 || t->type->packing == WTE_TBE4   ? 4
                          : t->type->packing == WTE_ROW2 || t->type->packing == WTE_TBE2 ? 2
                                                                                         : 8;
    assert_int_equal(codes, (s->cols * bits + 7) / 8);
    const unsigned char byte = (unsigned char)at[(front(t) ? 4 : 0) + c * bits / 8];
    const unsigned code = byte >> (c * bits % 8) & ((1u << bits) - 1u);
    return fmaf((float)code, pair[0], pair[1]);
}

static bool same(const float *a, const float *b, size_t n, bool any_nan)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(any_nan && isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

/* Lookups ------------------------------------------------------------------------------------- */

typedef struct lookup_case {
    size_t n, known, out_pad, shift;
    float scale;
    bool stream;
} lookup_case;

static void check_lookup(const wte__kernels *set, const table *t, const lookup_case *c,
                         const uint64_t *rows)
{
    const size_t cols = t->stored.cols, tight = cols * sizeof(float), stride = tight + c->out_pad;
    const size_t bytes = (c->n - 1) * stride + tight + c->shift;
    char *out = test_guarded(bytes), *want = malloc(bytes);
    assert_non_null(want);
    memset(out, 0x5a, bytes);
    memset(want, 0x5a, bytes);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < cols; k++) {
            const float x = element(t, rows[i], k) * c->scale;
            memcpy(want + i * stride + k * sizeof x, &x, sizeof x);
        }
    const wte__lookup job = { t->stored, rows, c->n, c->known, out, stride, c->scale, c->stream };
    of_set(set, t->type).lookup(&job);
    for (size_t i = 0; i < c->n; i++) {
        float got[1030], expected[1030];
        memcpy(got, out + i * stride, tight);
        memcpy(expected, want + i * stride, tight);
        if (!same(got, expected, cols, true))
            fail_msg("%s lookup of %s differs: %zu columns, row %zu of %zu, stream %d", set->isa,
                     t->type->name, cols, i, c->n, c->stream);
        memcpy(out + i * stride, want + i * stride, tight);
    }
    assert_memory_equal(out, want, bytes); /* between the rows nothing has changed */
    free(want);
    test_guarded_free(out, bytes);
}

static void lookups_of(const wte__kernels *set, const stored_type *type, size_t cols)
{
    static const size_t pads[] = { 0, 1, 16, 60 };
    uint64_t rows[MEMBERS], seed = cols + 5;
    for (int kind = 0; kind < 2; kind++) {
        table t = make_table(type, cols, pads[(cols + (size_t)kind) % 4], kind);
        for (size_t i = 0; i < MEMBERS; i++)
            rows[i] = i ? test_noise(&seed) % TABLE_ROWS : TABLE_ROWS - 1;
        for (int i = 0; i < 4; i++) {
            const uint64_t noise = test_noise(&seed);
            const size_t n = 1 + noise % 9;
            const lookup_case c = {
                n,
                n + (noise >> 4 & 1) * 60,
                pads[noise >> 5 & 3],
                (noise >> 7 & 3) * 16,
                i ? 1 : -2.5f,
                noise >> 9 & 1,
            };
            check_lookup(set, &t, &c, rows);
        }
        free_table(&t);
    }
}

static void rows_are_looked_up_alike(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++)
        for (size_t t = 0; t < N_TYPES; t++)
            for (size_t w = 0; w < N_WIDTHS && !block_bytes(&types[t]); w++)
                lookups_of(sets[s], &types[t], width(w));
}

/* Bags ---------------------------------------------------------------------------------------- */

#define N_BAGS 7u

typedef struct bag_case {
    int mode; /* 0: sum, 1: weighted, 2: maximum, 3: mean, 4: maximum and whose it is */
    bool go_on;
    size_t out_pad;
} bag_case;

static float next_sum(const bag_case *c, float so_far, float x, float weight, bool first)
{
    if (c->mode == 1) return fmaf(weight, x, so_far);
    if (c->mode != 2 && c->mode != 4) return so_far + x;
    if (!first) return x > so_far ? x : so_far;
    if (!isnan(x)) return x;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= 0x400000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Column k of bag b, and the number of the member that it is. */
static float expected_of(const table *t, const wte__bags *job, const bag_case *c, size_t b,
                         size_t k, uint32_t *whose)
{
    const bool goes_on = b == 0 && c->go_on;
    const size_t begin = b ? job->ends[b - 1] : 0;
    float sum = goes_on ? 0.25f : 0.0f;
    *whose = UINT32_MAX;
    for (size_t m = begin; m < job->ends[b]; m++) {
        const float x = element(t, job->rows[m], k);
        const bool first = m == begin && !goes_on;
        if (first || x > sum) *whose = (uint32_t)m;
        sum = next_sum(c, sum, x, job->weights ? job->weights[m] : 1, first);
    }
    return c->mode == 3 ? sum / job->divisors[b] : sum;
}

static void check_bags(const wte__kernels *set, const table *t, const bag_case *c, uint64_t *seed)
{
    const size_t cols = t->stored.cols, stride = cols * sizeof(float) + c->out_pad;
    const size_t bytes = (N_BAGS - 1) * stride + cols * sizeof(float);
    uint64_t rows[MEMBERS];
    uint32_t ends[N_BAGS];
    float weights[MEMBERS], divisors[N_BAGS];
    const size_t at_bytes = N_BAGS * cols * sizeof(uint32_t);
    uint32_t *at = (uint32_t *)(void *)test_guarded(at_bytes);
    char *out = test_guarded(bytes);
    uint32_t n = 0;
    for (size_t b = 0; b < N_BAGS; b++) {
        n += (uint32_t)(test_noise(seed) % (b == 3 ? 80 : 5)); /* some are empty, one is long */
        ends[b] = n;
        divisors[b] = (float)(1 + test_noise(seed) % 7);
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        rows[i] = i ? test_noise(seed) % TABLE_ROWS : TABLE_ROWS - 1;
        weights[i] = (float)(int32_t)(uint32_t)test_noise(seed) * 0x1p-31f;
    }
    memset(out, 0x5a, bytes);
    for (size_t k = 0; k < cols && c->go_on; k++) memcpy(out + k * 4, &(float){ 0.25f }, 4);
    const wte__bags job = { .from = t->stored,
                            .n_rows = TABLE_ROWS,
                            .rows = rows,
                            .prefetch_end = n + (n % 2) * 20,
                            .ends = ends,
                            .n_bags = N_BAGS,
                            .weights = c->mode == 1 ? weights : NULL,
                            .divisors = c->mode == 3 ? divisors : NULL,
                            .out = out,
                            .out_stride = stride,
                            .max_at = c->mode == 4 ? at : NULL,
                            .max = c->mode == 2 || c->mode == 4,
                            .resume_first = c->go_on };
    assert_true(of_set(set, t->type).bags(&job));
    for (size_t b = 0; b < N_BAGS; b++) {
        for (size_t k = 0; k < cols; k++) {
            uint32_t whose;
            float got, want = expected_of(t, &job, c, b, k, &whose);
            memcpy(&got, out + b * stride + k * sizeof got, sizeof got);
            if (c->mode == 4) assert_int_equal(at[b * cols + k], whose);
            if (!same(&got, &want, 1, !job.max || t->type->packing))
                fail_msg("%s bags of %s differ: %zu columns, mode %d, bag %zu, column %zu: %a, "
                         "not %a",
                         set->isa, t->type->name, cols, c->mode, b, k, (double)got, (double)want);
        }
        for (size_t k = 0; k < c->out_pad && b + 1 < N_BAGS; k++)
            assert_int_equal(out[b * stride + cols * sizeof(float) + k], 0x5a);
    }
    test_guarded_free(out, bytes);
    test_guarded_free((char *)at, at_bytes);
}

static void rows_are_reduced_alike(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t seed = 3;
    for (size_t s = 0; s < n_sets; s++)
        for (size_t t = 0; t < N_TYPES; t++)
            for (size_t w = 0; w < N_WIDTHS; w++)
                for (int kind = 0; kind < 2 && has_width(&types[t], width(w)); kind++) {
                    table of = make_table(&types[t], width(w), w % 3, kind);
                    const bag_case c = { (int)((w + t) % 5), (w + (size_t)kind) % 2, w % 2 * 4 };
                    const bag_case d = { (int)((w + t + 1 + (size_t)kind) % 5), w % 2, 0 };
                    check_bags(sets[s], &of, &c, &seed);
                    check_bags(sets[s], &of, &d, &seed);
                    free_table(&of);
                }
}

/* Rows that are none lie anywhere among the members, also where only prefetching goes before. */
static void rows_that_are_none_are_found(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    uint64_t rows[MEMBERS] = { 0 };
    const uint32_t ends[2] = { 7, MEMBERS };
    float out[2 * 160];
    for (size_t s = 0; s < n_sets; s++)
        for (size_t t = 0; t < N_TYPES; t++)
            for (size_t w = 0; w < 3; w++) {
                const size_t cols = w == 2 ? 160 : 64 * (w + 1); /* in registers or in memory */
                table of = make_table(&types[t], cols, 0, 0);
                wte__bags job = { .from = of.stored,
                                  .n_rows = TABLE_ROWS,
                                  .rows = rows,
                                  .prefetch_end = MEMBERS,
                                  .ends = ends,
                                  .n_bags = 2,
                                  .out = out,
                                  .out_stride = cols * sizeof *out };
                assert_true(of_set(sets[s], &types[t]).bags(&job));
                for (size_t i = 0; i < MEMBERS; i++) {
                    rows[i] = i % 2 ? TABLE_ROWS : UINT64_MAX;
                    job.max = i % 3 == 0;
                    assert_false(of_set(sets[s], &types[t]).bags(&job));
                    rows[i] = 0;
                }
                free_table(&of);
            }
}

static void nothing_to_do_touches_nothing(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    const wte__lookup none = { .from = { .cols = 3, .row_bytes = 12 } };
    const wte__bags no_bags = { .from = { .cols = 3, .row_bytes = 12 }, .n_rows = 1 };
    const uint32_t end = 0;
    float out[4] = { 7, 7, 7, 7 };
    wte__bags empty = no_bags;
    empty.ends = &end;
    empty.n_bags = 1;
    empty.out = out;
    for (size_t s = 0; s < n_sets; s++)
        for (size_t t = 0; t < N_TYPES; t++) {
            if (!block_bytes(&types[t])) of_set(sets[s], &types[t]).lookup(&none);
            assert_true(of_set(sets[s], &types[t]).bags(&no_bags));
            for (int max = 0; max < 2; max++) {
                empty.max = max;
                out[0] = out[1] = out[2] = 5;
                /* a bag without members is zeros */
                assert_true(of_set(sets[s], &types[t]).bags(&empty));
                assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 7);
            }
        }
}

/* Source and target end at unreadable pages, and begin anywhere. */
static void check_copy(const wte__kernels *set, size_t bytes, size_t shift)
{
    char *from = test_guarded(bytes + shift), *to = test_guarded(bytes + shift);
    uint64_t seed = bytes;
    for (size_t i = 0; i < bytes + shift; i++) from[i] = (char)test_noise(&seed);
    memset(to, 0x5a, bytes + shift);
    set->copy_nontemporal(to + shift / 2, from, bytes, true);
    assert_memory_equal(to + shift / 2, from, bytes);
    for (size_t i = 0; i < shift / 2; i++) assert_int_equal(to[i], 0x5a);
    for (size_t i = shift / 2 + bytes; i < bytes + shift; i++) assert_int_equal(to[i], 0x5a);
    test_guarded_free(from, bytes + shift);
    test_guarded_free(to, bytes + shift);
}

static void copies_past_the_caches_are_copies(void **state)
{
    (void)state;
    const wte__kernels *sets[WTE__MAX_ISAS];
    const size_t n_sets = wte__kernels_all(sets, WTE__MAX_ISAS);
    for (size_t s = 0; s < n_sets; s++) {
        sets[s]->copy_nontemporal(NULL, NULL, 0, true);
        for (size_t bytes = 1; bytes < 200; bytes++) check_copy(sets[s], bytes, bytes % 7 * 8);
        for (size_t shift = 0; shift < 130; shift++) check_copy(sets[s], 1000 + shift, shift);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("rows of every stored type are looked up alike", rows_are_looked_up_alike),
    TEST("rows of every stored type are reduced alike", rows_are_reduced_alike),
    TEST("rows that are none are found", rows_that_are_none_are_found),
    TEST("copies past the caches are copies", copies_past_the_caches_are_copies),
    TEST("nothing to do touches nothing", nothing_to_do_touches_nothing),
};
TEST_MAIN(tests)
