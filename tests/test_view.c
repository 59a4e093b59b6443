/* Tables that are turned while they are read, from arrays in column order. */
#include "model_files.h"

#define CFG "{\"vocab_size\": 6, \"hidden_size\": 4}"

static const wte_model_table *input_of(const wte_model *m)
{
    const wte_model_table *t = NULL;
    wte_error err;
    assert_ok(wte_model_input(m, &t, &err), err);
    return t;
}

/* A 4 x 6 array of that byte order, by column or by row, whose elements are 0, 1, 2, ... as they
 * lie.
 */
static const char *make_turned(char order, bool by_column)
{
    unsigned char file[128 + 96] = { 0 };
    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    const int n = snprintf((char *)file + 10, 100,
                           "{'descr': '%cf4', 'fortran_order': %s, 'shape': (4, 6), }", order,
                           by_column ? "True" : "False");
    file[10 + n] = ' ';
    file[127] = '\n';
    for (uint32_t i = 0; i < 24; i++) {
        const float value = (float)i;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        for (uint32_t k = 0; k < 4; k++)
            file[128 + 4 * i + (order == '>' ? 3 - k : k)] = (uint8_t)(bits >> 8 * k);
    }
    const char *dir = test_scratch();
    test_write_file(in_folder(dir, "t.npy"), file, sizeof file);
    write_text(dir, "config.json", CFG);
    return dir;
}

/* The columns of a table in column order are rows that lie together. */
static void columns_that_are_turned_twice_are_rows(void **state)
{
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m;
    wte_error err;
    const char *dir = make_turned('<', true);
    (void)state;
    m = open_model(dir); /* as it lies: the array is the table */
    assert_int_equal(input_of(m)->rows, 4);
    wte_model_free(m);
    opt.tensor = "array";
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    const wte_model_table *input = input_of(m);
    assert_true(input->transposed);
    assert_int_equal(input->rows, 6);
    assert_int_equal(input->row_bytes, 16);
    for (uint64_t r = 0; r < 6; r++) {
        float row[4];
        assert_ok(wte_row_source_read(&input->source, r, row, &err), err);
        for (uint64_t c = 0; c < 4; c++) assert_true(row[c] == (float)(4 * r + c));
    }
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* Rows one by one, and all of them. */
static void a_turned_table_of_the_other_byte_order_comes_out_as_rows(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        const bool by_column = way & 1;
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m;
        wte_error err;
        float row[4], all[24];
        const char *dir = make_turned(way & 2 ? '>' : '<', by_column);
        opt.tensor = "array";
        assert_ok(wte_model_open(dir, &opt, &m, &err), err);
        const wte_model_table *input = input_of(m);
        assert_true(input->transposed);
        assert_int_equal(input->rows, 6);
        assert_int_equal(input->row_bytes, by_column ? 16 : 0);
        assert_ok(wte_row_source_read_block(&input->source, 0, 6, all, &err), err);
        for (uint64_t r = 0; r < 6; r++) {
            assert_ok(wte_row_source_read(&input->source, r, row, &err), err);
            assert_memory_equal(row, all + 4 * r, sizeof row);
            for (uint64_t c = 0; c < 4; c++)
                assert_true(row[c] == (float)(by_column ? 4 * r + c : 6 * c + r));
        }
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("columns that are turned twice are rows", columns_that_are_turned_twice_are_rows),
    TEST("a turned table of the other byte order comes out as rows",
         a_turned_table_of_the_other_byte_order_comes_out_as_rows),
};
TEST_MAIN(tests)
