/* Traces: facts of one lookup, where its bytes lie, and the two proofs, each made to hold, to be
 * left out and to fail. */
#include <inttypes.h>
#include <math.h>

#include "diagnose_help.h"
#include "model_files.h"

static wte_trace *trace_rows(const wte_row_source *rows, uint64_t id, const wte_trace_options *opt)
{
    wte_trace *t;
    wte_error err;
    assert_ok(wte_trace_row(rows, id, opt, &t, &err), err);
    return t;
}

static void ordinals_end_as_they_are_spoken(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *text;
    } want[] = { { 1, "1st" },       { 2, "2nd" },
                 { 3, "3rd" },       { 4, "4th" },
                 { 10, "10th" },     { 11, "11th" },
                 { 12, "12th" },     { 13, "13th" },
                 { 14, "14th" },     { 20, "20th" },
                 { 21, "21st" },     { 22, "22nd" },
                 { 23, "23rd" },     { 101, "101st" },
                 { 111, "111th" },   { 112, "112th" },
                 { 113, "113th" },   { 121, "121st" },
                 { 1002, "1002nd" }, { UINT64_MAX, "18446744073709551615th" } };
    char buf[32];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_string_equal(wte_ordinal(want[i].n, buf, sizeof buf), want[i].text);
}

static void row_3_of_the_demo_is_the_fourth(void **state)
{
    (void)state;
    const wte_row_source rows = demo_rows();
    wte_trace *t = trace_rows(&rows, 3, NULL);
    assert_int_equal(t->row, 3);
    assert_string_equal(t->ordinal, "the 4th of 6 rows");
    assert_int_equal(t->rows, 6);
    assert_int_equal(t->dim, 3);
    assert_int_equal(t->dtype, WTE_F32);
    assert_int_equal(t->n_bytes, 12);
    assert_memory_equal(t->bytes, demo_table[3], 12);
    assert_memory_equal(t->f32, demo_table[3], 12);
    assert_true(t->f32_exact);
    for (size_t i = 0; i < 3; i++) assert_true(t->f64[i] == (double)demo_table[3][i]);
    /* numpy.linalg.norm of the row in float64 */
    assert_true(fabs(t->norm - 1.5536048011309684) < 1e-15);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
    assert_string_equal(t->one_hot_why, "all 3 values are equal");
    assert_true(t->factor == 1);
    assert_null(t->scaled);
    assert_null(t->token);
    assert_int_equal(t->begin, WTE_NO_INDEX);
    wte_trace_free(t);
}

static void narrow_types_are_widened_exactly(void **state)
{
    (void)state;
    /* bf16 1.5, -2; f16 65504, 2^-24; i64 2^53 + 1 is no f64 */
    const uint16_t bf16[] = { 0x3fc0, 0xc000 }, f16[] = { 0x7bff, 0x0001 };
    const int64_t i64[] = { 9007199254740993, -7 };
    wte_row_source rows = rows_of(bf16, 1, 2, WTE_BF16);
    wte_trace *t = trace_rows(&rows, 0, NULL);
    assert_true(t->f32[0] == 1.5f && t->f32[1] == -2 && t->norm == 2.5 && t->f32_exact);
    assert_string_equal(t->ordinal, "the 1st of 1 row");
    wte_trace_free(t);
    rows = rows_of(f16, 1, 2, WTE_F16);
    t = trace_rows(&rows, 0, NULL);
    assert_true(t->f64[0] == 65504 && t->f64[1] == 0x1p-24);
    wte_trace_free(t);
    rows = rows_of(i64, 1, 2, WTE_I64);
    t = trace_rows(&rows, 0, NULL);
    assert_false(t->f32_exact);
    assert_memory_equal(t->bytes, i64, sizeof i64);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    wte_trace_free(t);
}

/* Proofs --------------------------------------------------------------------------------------- */

static void a_negative_zero_loses_its_sign_in_the_product(void **state)
{
    (void)state;
    const float table[3][3] = { { 1, 2, 3 }, { -0.0f, 0, -5 }, { 4, -0.0f, 6 } };
    const wte_row_source rows = rows_of(table, 3, 3, WTE_F32);
    wte_trace *t = trace_rows(&rows, 1, NULL);
    assert_int_equal(t->zeros, 2);
    assert_int_equal(t->negative_zeros, 1);
    assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
    assert_int_equal(t->one_hot_sign_lost, 1);
    assert_non_null(strstr(t->one_hot_why, "-0 in the row and +0 in the product"));
    wte_trace_free(t);
}

static void a_product_with_nan_or_infinity_is_left_out(void **state)
{
    (void)state;
    enum { ROWS = 9000, DIM = 17 };
    static float table[ROWS][DIM];
    fill_noise(&table[0][0], (size_t)ROWS * DIM, 2);
    table[8999][16] = NAN;
    table[7777][3] = -INFINITY;
    const wte_row_source rows = rows_of(table, ROWS, DIM, WTE_F32);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
        wte_error err;
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        wte_trace *t = trace_rows(&rows, 12, &opt);
        assert_int_equal(t->one_hot, WTE_PROOF_NOT_RUN);
        assert_non_null(strstr(t->one_hot_why, "row 7777, column 3 is NaN or infinite"));
        assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
        assert_int_equal(t->nonfinite, 0);
        wte_trace_free(t);
        /* also when it stands in the row itself, where the product would come out right */
        t = trace_rows(&rows, 7777, &opt);
        assert_int_equal(t->one_hot, WTE_PROOF_NOT_RUN);
        assert_int_equal(t->nonfinite, 1);
        wte_trace_free(t);
        wte_pool_free(opt.pool);
    }
}

static void a_large_product_is_left_out_and_says_so(void **state)
{
    (void)state;
    const wte_row_source rows = demo_rows();
    wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
    opt.max_one_hot_bytes = 71;
    wte_trace *t = trace_rows(&rows, 3, &opt);
    assert_int_equal(t->one_hot, WTE_PROOF_NOT_RUN);
    assert_string_equal(t->one_hot_why, "not run: the table has 72 bytes, more than 71");
    wte_trace_free(t);
    opt.max_one_hot_bytes = 72;
    t = trace_rows(&rows, 3, &opt);
    assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
    wte_trace_free(t);
}

static void the_product_is_the_row_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { ROWS = 5000, DIM = 33 };
    static float table[ROWS][DIM];
    fill_noise(&table[0][0], (size_t)ROWS * DIM, 4);
    const wte_row_source rows = rows_of(table, ROWS, DIM, WTE_F32);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
        wte_error err;
        assert_ok(wte_pool_create(threads, &opt.pool, &err), err);
        for (uint64_t id = 0; id < ROWS; id += 1663) {
            wte_trace *t = trace_rows(&rows, id, &opt);
            assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
            wte_trace_free(t);
        }
        wte_pool_free(opt.pool);
    }
}

/* A source that does not give the same bytes twice, or by row and by block. */
static wte_status fickle_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    uint32_t *calls = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const uint16_t row[2] = { (uint16_t)ids[i], (uint16_t)(7 + *calls) };
        memcpy((uint16_t *)out + 2 * i, row, sizeof row);
    }
    ++*calls;
    return WTE_OK;
}
static wte_status other_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    (void)ctx;
    (void)first;
    (void)err;
    memset(out, 0, n * 2 * sizeof(uint16_t));
    return WTE_OK;
}

static void proofs_fail_when_the_source_is_not_true(void **state)
{
    (void)state;
    uint32_t calls = 0;
    const wte_row_source rows = { .rows = 4,
                                  .cols = 2,
                                  .dtype = WTE_U16,
                                  .read_rows = fickle_rows,
                                  .read_block = other_block,
                                  .ctx = &calls };
    wte_trace *t = trace_rows(&rows, 2, NULL);
    assert_int_equal(t->same_bytes, WTE_PROOF_FAILS);
    assert_string_equal(t->same_bytes_why, "byte 2 is 07, but 08 that the source gives");
    assert_int_equal(t->one_hot, WTE_PROOF_FAILS);
    assert_string_equal(t->one_hot_why, "2 of 2 values differ, the first in column 0");
    wte_trace_free(t);
}

/* Errors --------------------------------------------------------------------------------------- */

static void rows_that_are_not_there_are_refused(void **state)
{
    (void)state;
    const wte_row_source rows = demo_rows();
    wte_trace *t;
    wte_error err;
    assert_fails(wte_trace_row(&rows, 6, NULL, &t, &err), err, WTE_E_RANGE, 6,
                 "token id 6, but the table has 6 rows");
    assert_null(t);
    const wte_row_source odd = rows_of(demo_table, 2, 3, WTE_C64);
    assert_fails(wte_trace_row(&odd, 0, NULL, &t, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "c64");
    wte_trace_free(NULL);
    const wte_row_source flat = rows_of(demo_table, 4, 0, WTE_F32);
    t = trace_rows(&flat, 2, NULL);
    assert_true(t->norm == 0 && t->n_bytes == 0);
    assert_string_equal(t->one_hot_why, "not run: the table has no columns");
    wte_trace_free(t);
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    ++*(int *)ctx;
    return false;
}

static void the_product_can_be_stopped(void **state)
{
    (void)state;
    const wte_row_source rows = demo_rows();
    int calls = 0;
    const wte_progress progress = { stop_at_once, &calls };
    wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
    wte_trace *t;
    wte_error err;
    opt.progress = &progress;
    assert_fails(wte_trace_row(&rows, 1, &opt, &t, &err), err, WTE_E_CANCELLED, 6, "stopped");
    assert_int_equal(calls, 1);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    wte_row_source rows = demo_rows();
    rows.row_bytes = 12;
    wte_status status = WTE_E_MEMORY;
    size_t failures = 0;
    for (; status == WTE_E_MEMORY; failures++) {
        test_memory m;
        wte_error err;
        wte_trace *t;
        wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
        test_memory_init(&m, failures);
        opt.allocator = &m.allocator;
        status = wte_trace_row(&rows, 3, &opt, &t, &err);
        if (status != WTE_OK) assert_null(t);
        wte_trace_free(t);
        assert_int_equal(m.live, 0);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failures > 4);
}

/* Models --------------------------------------------------------------------------------------- */

static wte_trace *trace_model(const wte_model *m, uint64_t id)
{
    wte_trace *t;
    wte_error err;
    assert_ok(wte_model_trace(m, id, NULL, &t, &err), err);
    return t;
}

/* The bytes begin .. end - 1 of the file, read without the library. */
static void assert_file_holds(const wte_trace *t)
{
    uint8_t raw[256];
    FILE *f = fopen(t->file, "rb");
    assert_non_null(f);
    assert_int_equal(t->pieces, 1);
    assert_int_equal(t->end - t->begin, t->n_bytes);
    assert_true(t->n_bytes <= sizeof raw);
    assert_int_equal(fseek(f, (int32_t)t->begin, SEEK_SET), 0);
    assert_int_equal(fread(raw, 1, (size_t)t->n_bytes, f), t->n_bytes);
    assert_memory_equal(raw, t->bytes, t->n_bytes);
    assert_int_equal(fclose(f), 0);
}

static void the_built_in_model_lies_in_memory(void **state)
{
    (void)state;
    wte_model *m = open_model("demo");
    wte_trace *t = trace_model(m, 3);
    assert_string_equal(t->tensor, "demo");
    assert_string_equal(t->file, "");
    assert_memory_equal(t->f32, demo_table[3], 12);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    wte_trace_free(t);
    wte_trace *none;
    wte_error err;
    assert_fails(wte_model_trace(m, 6, NULL, &none, &err), err, WTE_E_RANGE, 6, "6");
    wte_model_free(m);
}

static void the_byte_range_in_the_file_holds_the_row(void **state)
{
    (void)state;
    const float positions[2][3] = { { 9, 9, 9 }, { 8, 8, 8 } };
    const stored tensors[] = { { "wpe.weight", "F32", 2, 3, positions, 4 },
                               { "wte.weight", "F32", 6, 3, demo_table, 4 } };
    const char *dir = make_model("{\"model_type\":\"gpt2\"}", tensors, 2);
    write_text(dir, "vocab.txt", "zero\none\ntwo\nthree\nfour\nfive\n");
    wte_model *m = open_model(dir);
    wte_trace *t = trace_model(m, 3);
    assert_file_holds(t);
    assert_string_equal(t->tensor, "wte.weight");
    assert_int_equal(t->token_bytes, 5);
    assert_memory_equal(t->token, "three", 5);
    assert_int_equal(t->token_kind, WTE_TOKEN_NORMAL);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    assert_non_null(strstr(t->same_bytes_why, "of model.safetensors"));
    wte_trace_free(t);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void the_models_factor_is_rounded_and_applied(void **state)
{
    (void)state;
    enum { DIM = 8 };
    /* gemma: sqrt(8) = 2.8284 is 2.828125 in bf16; 1.0078125 x 2.828125 = 2.85022 -> 2.84375 */
    uint16_t table[4][DIM];
    for (size_t i = 0; i < 4 * DIM; i++) table[i / DIM][i % DIM] = to_bf16(1.0078125f);
    const stored tensors[] = { { "model.embed_tokens.weight", "BF16", 4, DIM, table, 2 } };
    const char *dir = make_model("{\"model_type\":\"gemma\",\"hidden_size\":8}", tensors, 1);
    wte_model *m = open_model(dir);
    wte_trace *t = trace_model(m, 2);
    assert_true(t->factor == 2.828125);
    assert_true(fabs(t->factor_exact - sqrt(8)) < 1e-12);
    assert_non_null(t->scaled);
    assert_true(t->scaled[0] == (double)round_bf16(1.0078125f * 2.828125f));
    assert_true(t->scaled[0] == 2.84375);
    assert_non_null(strstr(t->factor_rule, "gemma"));
    wte_trace_free(t);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_mapped_id_names_its_stored_row(void **state)
{
    (void)state;
    const int32_t mapping[4] = { 5, 3, 0, 3 };
    const stored tensors[] = { { "embeddings", "F32", 6, 3, demo_table, 4 },
                               { "mapping", "I32", 4, 0, mapping, 4 } };
    const char *dir = make_model("{\"model_type\":\"model2vec\"}", tensors, 2);
    wte_model *m = open_model(dir);
    wte_trace *t = trace_model(m, 1);
    assert_true(t->mapped);
    assert_int_equal(t->id, 1);
    assert_int_equal(t->row, 3);
    assert_string_equal(t->ordinal, "the 4th of 6 rows");
    assert_memory_equal(t->f32, demo_table[3], 12);
    assert_file_holds(t);
    assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
    wte_trace_free(t);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* A version 1.0 .npy file of 6 x 3. */
static void write_npy(const char *path, const char *type, const char *order, const void *data)
{
    char file[128 + 72];
    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    const int used = snprintf(file + 10, 100,
                              "{'descr': '%s', 'fortran_order': %s, "
                              "'shape': (6, 3), }",
                              type, order);
    file[10 + used] = ' ';
    file[127] = '\n';
    memcpy(file + 128, data, 72);
    test_write_file(path, file, sizeof file);
}

static void a_row_in_pieces_is_found_piece_by_piece(void **state)
{
    (void)state;
    float columns[3][6];
    for (size_t r = 0; r < 6; r++)
        for (size_t c = 0; c < 3; c++) columns[c][r] = demo_table[r][c];
    const char *dir = test_scratch();
    const char *path = in_folder(dir, "t.npy");
    write_npy(path, "<f4", "True", columns);
    wte_model *m = open_model(path);
    wte_trace *t = trace_model(m, 3);
    assert_int_equal(t->pieces, 3);
    assert_int_equal(t->stride, 24);
    assert_int_equal(t->begin, 128 + 12);
    assert_int_equal(t->end, 128 + 12 + 48 + 4);
    assert_memory_equal(t->f32, demo_table[3], 12);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    wte_trace_free(t);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_big_endian_row_is_turned_before_it_is_compared(void **state)
{
    (void)state;
    uint32_t swapped[6][3];
    for (size_t i = 0; i < 18; i++)
        swapped[i / 3][i % 3] = __builtin_bswap32(bits_of(demo_table[i / 3][i % 3]));
    const char *dir = test_scratch();
    const char *path = in_folder(dir, "t.npy");
    write_npy(path, ">f4", "False", swapped);
    wte_model *m = open_model(path);
    wte_trace *t = trace_model(m, 3);
    assert_int_equal(t->begin, 128 + 36);
    assert_memory_equal(t->f32, demo_table[3], 12);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    wte_trace_free(t);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("ordinals end as they are spoken", ordinals_end_as_they_are_spoken),
    TEST("row 3 of the demo is the fourth", row_3_of_the_demo_is_the_fourth),
    TEST("narrow types are widened exactly", narrow_types_are_widened_exactly),
    TEST("a negative zero loses its sign in the product",
         a_negative_zero_loses_its_sign_in_the_product),
    TEST("a product with NaN or infinity is left out", a_product_with_nan_or_infinity_is_left_out),
    TEST("a large product is left out and says so", a_large_product_is_left_out_and_says_so),
    TEST("the product is the row for any number of threads",
         the_product_is_the_row_for_any_number_of_threads),
    TEST("proofs fail when the source is not true", proofs_fail_when_the_source_is_not_true),
    TEST("rows that are not there are refused", rows_that_are_not_there_are_refused),
    TEST("the product can be stopped", the_product_can_be_stopped),
    TEST("every failed allocation is reported", every_failed_allocation_is_reported),
    TEST("the built-in model lies in memory", the_built_in_model_lies_in_memory),
    TEST("the byte range in the file holds the row", the_byte_range_in_the_file_holds_the_row),
    TEST("the model's factor is rounded and applied", the_models_factor_is_rounded_and_applied),
    TEST("a mapped id names its stored row", a_mapped_id_names_its_stored_row),
    TEST("a row in pieces is found piece by piece", a_row_in_pieces_is_found_piece_by_piece),
    TEST("a big-endian row is turned before it is compared",
         a_big_endian_row_is_turned_before_it_is_compared),
};
TEST_MAIN(tests)
