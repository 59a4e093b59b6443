/* Tensors of GGUF files whose type is not read here: they are listed and refused, and the file with
 * its table stays open. */
#include "gguf_files.h"
#include "model_files.h"

#include <wte/model.h>

static gguf_file g; /* tests run one after the other */

/* A table of 2 x 32 f16, 128 bytes, at data byte `offset`. */
static void table(uint64_t offset)
{
    g_tensor(&g, "token_embd.weight", 32, 2, 1, offset);
}

static uint64_t number_of(const wte_file *f, const char *name)
{
    uint64_t i = 0;
    wte_error err = { 0 };
    assert_ok(wte_file_find(f, name, strlen(name), &i, &err), err);
    return i;
}

/* Listed with its number and bytes; its rows and nothing else are refused, at byte `where`. */
static void check_foreign(const wte_file *f, uint32_t id, uint64_t bytes, uint64_t where,
                          const char *part)
{
    const uint64_t i = number_of(f, "odd");
    wte_tensor t;
    wte_row_source rows;
    wte_error err = { 0 };
    uint64_t offset, n;
    assert_ok(wte_file_tensor(f, i, &t, &err), err);
    assert_int_equal(t.foreign_type, id);
    assert_int_equal(t.dtype, WTE_DTYPE_NONE);
    assert_int_equal(t.block, WTE_BLOCK_NONE);
    assert_int_equal(t.bytes, bytes);
    assert_fails(wte_file_row_source(f, i, &rows, &err), err, WTE_E_UNSUPPORTED, where, part);
    assert_fails(wte_file_row_offset(f, i, 0, &offset, &n, &err), err, WTE_E_UNSUPPORTED, where,
                 part);
}

/* Row 1 of the table begins with the 65th byte of it. */
static void check_table(const wte_file *f, uint64_t offset)
{
    const uint64_t i = number_of(f, "token_embd.weight");
    wte_tensor t;
    wte_row_source rows;
    wte_error err = { 0 };
    assert_ok(wte_file_tensor(f, i, &t, &err), err);
    assert_int_equal(t.foreign_type, 0);
    assert_int_equal(t.offset, offset);
    assert_ok(wte_file_row_source(f, i, &rows, &err), err);
    assert_int_equal(rows.rows, 2);
    assert_int_equal(rows.row_bytes, 64);
    assert_memory_equal(rows.data, g.data + offset, 128);
}

static void types_are_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t id;
        const char *message;
    } ids[] = {
        { 4, "t.gguf: tensor 'odd': type id 4 is q4_2, which ggml has removed (byte " },
        { 5, "type id 5 is q4_3" },
        { 9, "type id 9 is q8_1, which exists only while computing" },
        { 15, "type id 15 is q8_k" },
        { 31, "type id 31 is q4_0_4_4" },
        { 32, "type id 32 is q4_0_4_8" },
        { 33, "type id 33 is q4_0_8_8" },
        { 36, "type id 36 is iq4_nl_4_4, which ggml has removed, or another program's own" },
        { 37, "type id 37 is iq4_nl_4_8" },
        { 38, "type id 38 is iq4_nl_8_8" },
        { 43, "tensor 'odd': type id 43, which this build does not know" },
        { 97, "type id 97, which" },
        { 258, "type id 258, which" },
        { UINT32_MAX, "type id 4294967295, which" },
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        void *memory;
        g_begin(&g, 2, 0);
        const uint64_t at = g.n + 11 + 4 + 16;
        g_tensor(&g, "odd", 256, 1, ids[i].id, 0);
        table(96);
        g_data(&g, 96 + 128);
        const uint64_t data = g.n - 96 - 128;
        wte_file *f = g_opened(&g, &memory);
        check_foreign(f, ids[i].id, 96, at, ids[i].message);
        check_table(f, data + 96);
        wte_file_free(f);
        g_free(&g, memory);
    }
}

static void the_place_of_the_table_does_not_matter(void **state)
{
    (void)state;
    void *memory;
    g_begin(&g, 2, 0);
    table(0);
    const uint64_t at = g.n + 11 + 4 + 16;
    g_tensor(&g, "odd", 32, 3, 200, 128);
    g_data(&g, 128 + 40);
    wte_file *f = g_opened(&g, &memory);
    check_foreign(f, 200, 40, at, "type id 200, which this build does not know");
    check_table(f, g.n - 40 - 128);
    wte_file_free(f);
    g_free(&g, memory);

    g_begin(&g, 3, 0); /* two in a row; the first takes no bytes */
    g_tensor(&g, "none", 0, 3, 201, 0);
    const uint64_t second = g.n + 11 + 4 + 16;
    g_tensor(&g, "odd", 32, 3, 200, 0);
    table(64);
    g_data(&g, 64 + 128);
    f = g_opened(&g, &memory);
    check_foreign(f, 200, 64, second, "type id 200");
    check_table(f, g.n - 128);
    wte_file_free(f);
    g_free(&g, memory);
}

/* 42 is q2_0 to ggml: 18 bytes for each 64 numbers. */
static void a_number_that_another_program_took(void **state)
{
    (void)state;
    void *memory;
    static const char *const message =
        "type id 42 is q2_0 in ggml, which does not fit its shape and "
        "the 64 bytes it takes: another program's own type";
    g_begin(&g, 2, 0);
    uint64_t at = g.n + 11 + 4 + 16;
    g_tensor(&g, "odd", 32, 4, 42, 0); /* rows that are no whole blocks */
    table(64);
    g_data(&g, 64 + 128);
    wte_file *f = g_opened(&g, &memory);
    check_foreign(f, 42, 64, at, message);
    check_table(f, g.n - 128);
    wte_file_free(f);
    g_free(&g, memory);

    g_begin(&g, 2, 0);
    at = g.n + 11 + 4 + 16;
    g_tensor(&g, "odd", 256, 1, 42, 0); /* 72 bytes of blocks where 64 are */
    table(64);
    g_data(&g, 64 + 128);
    f = g_opened(&g, &memory);
    check_foreign(f, 42, 64, at, message);
    check_table(f, g.n - 128);
    wte_file_free(f);
    g_free(&g, memory);
}

static void what_is_broken_stays_refused(void **state)
{
    (void)state;
    g_begin(&g, 2, 0); /* below 34 a number has one meaning */
    g_tensor(&g, "odd", 32, 1, WTE_BLOCK_Q8_0, 0);
    table(32);
    g.mark = g.n - 8;
    g_data(&g, 256);
    g_refused("a settled type", &g, WTE_E_FORMAT,
              "begins at data byte 32, but the tensors before it end at 64");
    g_begin(&g, 3, 0); /* backwards */
    table(0);
    g_tensor(&g, "odd", 32, 1, 200, 128);
    g_tensor(&g, "b", 32, 1, 1, 64);
    g.mark = g.n - 8;
    g_data(&g, 512);
    g_refused("an order", &g, WTE_E_FORMAT, "they overlap, or are out of order");
    g_begin(&g, 2, 0);
    table(0);
    g_tensor(&g, "odd", 32, 1, 200, 128);
    g_data(&g, 96);
    g.mark = g.n;
    g_refused("a table that is cut", &g, WTE_E_FORMAT, "truncated: tensor 'token_embd.weight'");
    g_begin(&g, 1, 0);
    g_tensor(&g, "odd", 32, 1, 200, 4096);
    g.mark = g.n - 8;
    g_refused("a first one that begins later", &g, WTE_E_FORMAT,
              "begins at data byte 4096, but the tensors before it end at 0");
    g_begin(&g, 2, 0);
    g_tensor(&g, "odd", 32, 1, 200, 0);
    g_tensor(&g, "more", 32, 1, 201, 4096);
    g_pad(&g, 32);
    g.mark = g.n;
    g_refused("one that begins beyond the file", &g, WTE_E_FORMAT, "truncated: tensor 'odd'");
}

static void big_endian_blocks(void **state)
{
    (void)state;
    void *memory;
    g.big = true;
    g_begin(&g, 1, 0);
    const uint64_t at = g.n + 11 + 4 + 16;
    g_tensor(&g, "odd", 256, 1, WTE_BLOCK_Q4_0, 0);
    g_data(&g, 144);
    wte_file *f = g_opened(&g, &memory);
    check_foreign(f, WTE_BLOCK_Q4_0, 144, at,
                  "tensor 'odd': q4_0 in a big-endian file, where only q8_0");
    wte_file_free(f);
    g_free(&g, memory);
    g.big = false;
}

/* The table itself, and a head: said with the name and the number, never "no table found". */
static void a_table_of_such_a_type_is_refused_by_name(void **state)
{
    (void)state;
    const char *dir = test_scratch(), *path = in_folder(dir, "m.gguf");
    const wte_model_table *input;
    wte_model *m;
    wte_error err = { 0 };
    g_begin(&g, 1, 0);
    const uint64_t at = g.n + 25 + 4 + 16;
    g_tensor(&g, "token_embd.weight", 32, 2, 139, 0);
    g_data(&g, 64);
    test_write_file(path, g.data, g.n);
    assert_ok(wte_model_open(path, NULL, &m, &err), err);
    assert_fails(wte_model_input(m, &input, &err), err, WTE_E_UNSUPPORTED, at,
                 "tensor 'token_embd.weight': type id 139, which this build does not know");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("a type that is not read is named when its rows are asked for", types_are_named),
    TEST("before the table or after it, the table is read", the_place_of_the_table_does_not_matter),
    TEST("a number that two programs gave is told by the places",
         a_number_that_another_program_took),
    TEST("gaps, overlaps and cut files stay refused", what_is_broken_stays_refused),
    TEST("blocks of a big-endian file close themselves alone", big_endian_blocks),
    TEST("a table of such a type is refused by name", a_table_of_such_a_type_is_refused_by_name),
};
TEST_MAIN(tests)
