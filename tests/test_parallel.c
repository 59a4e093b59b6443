/* consolidated.00.pth and the parts beside it, joined: by rows, by columns, and what is told when
 * they cannot be. */
#include "parallel_files.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_scratch());
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_scratch_remove(folder);
    return 0;
}

static const char *in_scratch(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_params(const char *text)
{
    test_write_file(in_scratch("params.json"), text, strlen(text));
}

static const piece norm = { "norm.weight", 8, 0, ones, false, 1 };

static wte_file *open_parts(unsigned number)
{
    wte_error err = { 0 };
    wte_file *f = NULL;
    assert_ok(wte_file_open(part_path(folder, number), NULL, &f, &err), err);
    return f;
}

static void refused(wte_status status, const char *message)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(wte_file_open(part_path(folder, 0), NULL, &f, &err), err, status, WTE_NO_INDEX,
                 message);
    assert_null(f);
}

static uint64_t number_of(const wte_file *f, const char *name)
{
    wte_error err = { 0 };
    uint64_t i;
    assert_ok(wte_file_find(f, name, strlen(name), &i, &err), err);
    return i;
}

/* The whole table, row by row, in one pass and by ids in any order. */
static void check_table(const wte_file *f)
{
    static const uint64_t ids[] = { 15, 0, 1, 2, 3, 4, 4, 11, 8, 9, 7, 15, 14, 0 };
    enum { N = sizeof ids / sizeof ids[0] };
    const uint64_t i = number_of(f, "tok_embeddings.weight");
    const wte_tensor t = tensor_at(f, i);
    float out[WHOLE_ROWS * WHOLE_COLS];
    wte_error err = { 0 };
    wte_row_source rows;
    assert_int_equal(t.rank, 2);
    assert_int_equal(t.shape[0], WHOLE_ROWS);
    assert_int_equal(t.shape[1], WHOLE_COLS);
    assert_int_equal(t.bytes, sizeof out);
    assert_true(t.derived);
    assert_int_equal(t.storage, WTE_NO_INDEX);
    assert_ok(wte_file_row_source(f, i, &rows, &err), err);
    assert_ok(wte_check_rows(&rows, &err), err);
    assert_int_equal(rows.rows, WHOLE_ROWS);
    assert_int_equal(rows.cols, WHOLE_COLS);
    assert_null(rows.data);
    assert_ok(rows.read_block(rows.ctx, 0, WHOLE_ROWS, out, &err), err);
    for (uint64_t k = 0; k < WHOLE_ROWS * WHOLE_COLS; k++)
        assert_true(out[k] == whole_at(k / WHOLE_COLS, k % WHOLE_COLS));
    assert_ok(rows.read_block(rows.ctx, 3, 7, out, &err), err);
    for (uint64_t k = 0; k < 7 * WHOLE_COLS; k++)
        assert_true(out[k] == whole_at(3 + k / WHOLE_COLS, k % WHOLE_COLS));
    assert_ok(rows.read_rows(rows.ctx, ids, N, out, &err), err);
    for (uint64_t k = 0; k < N * WHOLE_COLS; k++)
        assert_true(out[k] == whole_at(ids[k / WHOLE_COLS], k % WHOLE_COLS));
    for (uint64_t k = 0; k < WHOLE_ROWS; k++) {
        assert_ok(wte_row_source_read(&rows, k, out, &err), err);
        assert_true(out[7] == whole_at(k, 7));
    }
}

static void four_parts_by_rows_are_one_table(void **state)
{
    (void)state;
    write_parts(folder, false, &norm, 1, 0);
    wte_file *f = open_parts(0);
    wte_error err = { 0 };
    assert_int_equal(wte_file_format(f), WTE_FORMAT_TORCH_PARALLEL);
    assert_string_equal(wte_format_name(WTE_FORMAT_TORCH_PARALLEL), "PyTorch parts");
    assert_int_equal(wte_file_n_shards(f), 4);
    assert_int_equal(wte_file_n_tensors(f), 2);
    assert_int_equal(wte_file_n_unlisted_tensors(f), 0);
    check_table(f);
    /* each row is in one part, and is the very bytes there */
    const uint64_t i = number_of(f, "tok_embeddings.weight");
    for (uint64_t row = 0; row < WHOLE_ROWS; row++) {
        uint64_t offset, size;
        float stored[WHOLE_COLS];
        const uint32_t part = wte_file_row_shard(f, i, row);
        assert_int_equal(part, row / 4);
        assert_ok(wte_file_row_offset(f, i, row, &offset, &size, &err), err);
        assert_int_equal(size, sizeof stored);
        FILE *from = fopen(wte_file_shard_path(f, part), "rb");
        assert_non_null(from);
        assert_int_equal(fseeko(from, (off_t)offset, SEEK_SET), 0);
        assert_int_equal(fread(stored, 1, sizeof stored, from), sizeof stored);
        fclose(from);
        for (uint64_t c = 0; c < WHOLE_COLS; c++) assert_true(stored[c] == whole_at(row, c));
    }
    assert_int_equal(wte_file_row_shard(f, i, WHOLE_ROWS), 0);
    assert_int_equal(wte_file_row_shard(f, 2, 0), 0);
    wte_file_free(f);
}

static void four_parts_by_columns_are_one_table(void **state)
{
    (void)state;
    write_parts(folder, true, &norm, 1, 0);
    wte_file *f = open_parts(0);
    wte_error err = { 0 };
    uint64_t offset, size;
    assert_int_equal(wte_file_n_shards(f), 4);
    check_table(f);
    const uint64_t i = number_of(f, "tok_embeddings.weight");
    assert_fails(wte_file_row_offset(f, i, 5, &offset, &size, &err), err, WTE_E_UNSUPPORTED, 5,
                 "row 5 of tensor 'tok_embeddings.weight' lies in several places: a piece in each "
                 "of 4 parts");
    assert_int_equal(wte_file_row_shard(f, i, 5), 0);
    wte_file_free(f);
}

static void many_rows_by_columns_are_read_in_pieces(void **state)
{
    (void)state;
    enum { ROWS = 3000, EACH = 5, PARTS = 2 };
    static float data[ROWS * EACH], out[ROWS * EACH * PARTS];
    static uint64_t ids[ROWS];
    wte_error err = { 0 };
    wte_row_source rows;
    write_params("{\"dim\": 10}");
    for (unsigned part = 0; part < PARTS; part++) {
        const piece p = { "w", ROWS, EACH, data, false, 2 };
        for (unsigned k = 0; k < ROWS * EACH; k++)
            data[k] = (float)(k / EACH * 16 + part * EACH + k % EACH);
        write_pieces(part_path(folder, part), &p, 1, 0);
    }
    remove(part_path(folder, 2));
    remove(part_path(folder, 3));
    wte_file *f = open_parts(0);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_ok(rows.read_block(rows.ctx, 0, ROWS, out, &err), err);
    for (unsigned k = 0; k < ROWS * 10; k++) assert_true(out[k] == (float)(k / 10 * 16 + k % 10));
    for (unsigned k = 0; k < ROWS; k++) ids[k] = ROWS - 1 - k;
    assert_ok(rows.read_rows(rows.ctx, ids, ROWS, out, &err), err);
    for (unsigned k = 0; k < ROWS * 10; k++)
        assert_true(out[k] == (float)((ROWS - 1 - k / 10) * 16 + k % 10));
    wte_file_free(f);
    remove(in_scratch("params.json"));
}

static void any_part_stands_for_all(void **state)
{
    (void)state;
    write_parts(folder, false, &norm, 1, 0);
    for (unsigned i = 0; i < 4; i++) {
        wte_file *f = open_parts(i);
        assert_int_equal(wte_file_n_shards(f), 4);
        check_table(f);
        wte_file_free(f);
    }
}

static void a_deflated_part_is_unpacked_beside_the_others(void **state)
{
    (void)state;
    for (int columns = 0; columns < 2; columns++) {
        write_parts(folder, columns, &norm, 1, ZIP_DEFLATE);
        wte_file *f = open_parts(0);
        assert_int_equal(wte_file_n_shards(f), 8);
        check_table(f);
        wte_file_free(f);
    }
}

static void stored_bytes_are_those_of_one_part_after_another(void **state)
{
    (void)state;
    wte_error err = { 0 };
    float got[32], want[32], across[4];
    write_parts(folder, true, &norm, 1, 0);
    wte_file *f = open_parts(0);
    const uint64_t i = number_of(f, "tok_embeddings.weight");
    cut_columns(want, 2);
    assert_ok(wte_file_read(f, i, 2 * sizeof want, got, sizeof got, &err), err);
    assert_memory_equal(got, want, sizeof got);
    /* the last two of the first part, and the first two of the second */
    assert_ok(wte_file_read(f, i, sizeof want - 8, across, sizeof across, &err), err);
    assert_true(across[0] == whole_at(15, 0) && across[1] == whole_at(15, 1));
    assert_true(across[2] == whole_at(0, 2) && across[3] == whole_at(0, 3));
    assert_fails(wte_file_read(f, i, 511, got, 2, &err), err, WTE_E_RANGE, 511, "512 bytes");
    wte_file_free(f);
}

static void lists_are_alike_in_all_parts(void **state)
{
    (void)state;
    wte_error err = { 0 };
    float got[8];
    write_parts(folder, false, &norm, 1, 0);
    wte_file *f = open_parts(0);
    const uint64_t i = number_of(f, "norm.weight");
    const wte_tensor t = tensor_at(f, i);
    assert_int_equal(t.rank, 1);
    assert_int_equal(t.shape[0], 8);
    assert_false(t.derived);
    assert_ok(wte_file_read(f, i, 0, got, sizeof got, &err), err);
    assert_memory_equal(got, ones, sizeof got);
    assert_null(wte_file_metadata(f, 0, NULL));
    wte_file_free(f);
}

static void a_list_that_differs_is_told(void **state)
{
    (void)state;
    float data[32], other[8] = { 1, 1, 1, 1, 1, 1, 1, 2 };
    const char *value;
    write_parts(folder, false, &norm, 1, 0);
    cut_rows(data, 3);
    const piece list[] = { { "tok_embeddings.weight", 4, 8, data, false, 2 },
                           { "norm.weight", 8, 0, other, false, 1 } };
    write_pieces(part_path(folder, 3), list, 2, 0);
    wte_file *f = open_parts(0);
    assert_string_equal(wte_file_metadata(f, 0, &value), "norm.weight");
    assert_string_equal(value, "differs from part to part; it is shown as the first part has it");
    assert_null(wte_file_metadata(f, 1, NULL));
    check_table(f);
    wte_file_free(f);
}

/* What tells the width --------------------------------------------------------------------------
 */

static void the_width_is_told_by_params_json(void **state)
{
    (void)state;
    for (int columns = 0; columns < 2; columns++) {
        write_params("{\"n_layers\": 1, \"dim\": 8, \"vocab_size\": -1, \"x\": {\"dim\": 3}}");
        write_parts(folder, columns, NULL, 0, 0);
        wte_file *f = open_parts(0);
        check_table(f);
        wte_file_free(f);
    }
    remove(in_scratch("params.json"));
}

static void the_width_is_told_by_the_head(void **state)
{
    (void)state;
    const piece head = { "output.weight", 2, 8, ones, false, 2 };
    write_parts(folder, true, &head, 1, 0);
    wte_file *f = open_parts(0);
    check_table(f);
    const wte_tensor t = tensor_at(f, number_of(f, "output.weight"));
    assert_int_equal(t.shape[0], 8);
    assert_int_equal(t.shape[1], 8);
    wte_file_free(f);
}

static void a_matrix_as_high_as_the_width_is_joined_by_columns(void **state)
{
    (void)state;
    const piece more[] = { norm, { "layers.0.feed_forward.w2.weight", 8, 1, ones, false, 2 } };
    write_parts(folder, false, more, 2, 0);
    wte_file *f = open_parts(0);
    const wte_tensor t = tensor_at(f, number_of(f, more[1].name));
    assert_int_equal(t.shape[0], 8);
    assert_int_equal(t.shape[1], 4);
    wte_file_free(f);
}

static void without_a_width_nothing_is_guessed(void **state)
{
    (void)state;
    write_parts(folder, false, NULL, 0, 0);
    refused(WTE_E_UNSUPPORTED, "tensor 'tok_embeddings.weight' is [4, 8] in each of 4 parts: "
                               "[16, 8] joined by rows or [4, 32] by columns; nothing tells which "
                               "(params.json with its dim is missing)");
    write_parts(folder, true, NULL, 0, 0);
    refused(WTE_E_UNSUPPORTED, "[64, 2] joined by rows or [16, 8] by columns");
    /* the head is as wide as a piece of the table: it may be cut the same way */
    const piece head = { "output.weight", 4, 8, ones, false, 2 };
    write_parts(folder, false, &head, 1, 0);
    refused(WTE_E_UNSUPPORTED, "nothing tells which");
    write_params("{\"dim\": -1}");
    refused(WTE_E_UNSUPPORTED, "nothing tells which");
    remove(in_scratch("params.json"));
}

static void a_width_that_fits_neither_or_both_tells_nothing(void **state)
{
    (void)state;
    write_parts(folder, false, NULL, 0, 0);
    write_params("{\"dim\": 7}");
    refused(WTE_E_UNSUPPORTED, "[16, 8] joined by rows or [4, 32] by columns; the width 7 "
                               "(params.json) does not tell which");
    remove(in_scratch("params.json"));
    float square[64] = { 0 };
    const piece both[] = { { "w", 8, 8, square, false, 2 }, norm };
    for (unsigned i = 0; i < 4; i++) write_pieces(part_path(folder, i), both, 2, 0);
    refused(WTE_E_UNSUPPORTED, "[32, 8] joined by rows or [8, 32] by columns; the width 8 "
                               "('norm.weight') does not tell which");
}

static void what_cannot_be_joined_stays_in_pieces(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_row_source rows;
    float got[12];
    const piece more[] = { norm,
                           { "gate", 2, 3, ones, false, 2 },
                           { "patches", 2, 3, ones, false, 3 } };
    write_parts(folder, false, more, 3, 0);
    wte_file *f = open_parts(0);
    check_table(f);
    const uint64_t gate = number_of(f, "gate"), patches = number_of(f, "patches");
    const wte_tensor t = tensor_at(f, gate), u = tensor_at(f, patches);
    assert_int_equal(t.rank, 3);
    assert_int_equal(t.shape[0], 4);
    assert_int_equal(t.shape[1], 2);
    assert_int_equal(t.shape[2], 3);
    assert_int_equal(t.bytes, 4 * 24);
    assert_int_equal(u.rank, 4);
    assert_ok(wte_file_read(f, gate, 12, got, sizeof got, &err), err);
    assert_memory_equal(got, ones, sizeof got);
    assert_fails(wte_file_row_source(f, gate, &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "tensor 'gate' is [2, 3] in each of 4 parts: [8, 3] joined by rows or [2, 12] by "
                 "columns; the width 8 ('norm.weight') does not tell which");
    assert_fails(wte_file_row_source(f, patches, &rows, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "tensor 'patches' is [1, 2, 3] in each of 4 parts: only matrices are joined");
    assert_int_equal(wte_file_row_shard(f, gate, 0), 0);
    wte_file_free(f);
}

/* Which files are parts -------------------------------------------------------------------------
 */

static void one_alone_is_a_checkpoint(void **state)
{
    (void)state;
    write_parts(folder, false, NULL, 0, 0);
    for (unsigned i = 1; i < 4; i++) remove(part_path(folder, i));
    test_write_file(in_scratch("consolidated.1.pth"), "no part", 7);
    test_write_file(in_scratch("consolidated.001.pth"), "no part", 7);
    test_write_file(in_scratch("consolidated.0x.pth"), "no part", 7);
    wte_file *f = open_parts(0);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_TORCH);
    assert_int_equal(tensor_at(f, 0).shape[0], 4);
    wte_file_free(f);
}

static void other_names_are_read_alone(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    write_parts(folder, false, &norm, 1, 0);
    write_pieces(in_scratch("model.00.pth"), &norm, 1, 0);
    assert_ok(wte_file_open(in_scratch("model.00.pth"), NULL, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_TORCH);
    wte_file_free(f);
}

static void a_missing_part_is_named(void **state)
{
    (void)state;
    wte_error err = { 0 };
    wte_file *f;
    write_parts(folder, false, &norm, 1, 0);
    remove(part_path(folder, 2));
    refused(WTE_E_FORMAT, "consolidated.00.pth: part 2 of 4 is missing: no 'consolidated.02.pth' "
                          "beside it");
    remove(part_path(folder, 0));
    assert_fails(wte_file_open(part_path(folder, 3), NULL, &f, &err), err, WTE_E_FORMAT,
                 WTE_NO_INDEX, "part 0 of 4 is missing: no 'consolidated.00.pth' beside it");
    assert_fails(wte_file_open(part_path(folder, 2), NULL, &f, &err), err, WTE_E_IO, WTE_NO_INDEX,
                 "consolidated.02.pth");
}

static void numbers_have_a_limit(void **state)
{
    (void)state;
    write_parts(folder, false, &norm, 1, 0);
    test_write_file(in_scratch("consolidated.4096.pth"), "", 0);
    refused(WTE_E_LIMIT, "there is a part 4096 beside it, but at most 4096 are joined");
    remove(in_scratch("consolidated.4096.pth"));
}

static const struct CMUnitTest tests[] = {
    TEST("four parts by rows are one table", four_parts_by_rows_are_one_table),
    TEST("four parts by columns are one table", four_parts_by_columns_are_one_table),
    TEST("many rows by columns are read in pieces", many_rows_by_columns_are_read_in_pieces),
    TEST("any part stands for all", any_part_stands_for_all),
    TEST("a deflated part is unpacked beside the others",
         a_deflated_part_is_unpacked_beside_the_others),
    TEST("stored bytes are those of one part after another",
         stored_bytes_are_those_of_one_part_after_another),
    TEST("lists are alike in all parts", lists_are_alike_in_all_parts),
    TEST("a list that differs is told", a_list_that_differs_is_told),
    TEST("the width is told by params.json", the_width_is_told_by_params_json),
    TEST("the width is told by the head", the_width_is_told_by_the_head),
    TEST("a matrix as high as the width is joined by columns",
         a_matrix_as_high_as_the_width_is_joined_by_columns),
    TEST("without a width nothing is guessed", without_a_width_nothing_is_guessed),
    TEST("a width that fits neither or both tells nothing",
         a_width_that_fits_neither_or_both_tells_nothing),
    TEST("what cannot be joined stays in pieces", what_cannot_be_joined_stays_in_pieces),
    TEST("one alone is a checkpoint", one_alone_is_a_checkpoint),
    TEST("other names are read alone", other_names_are_read_alone),
    TEST("a missing part is named", a_missing_part_is_named),
    TEST("numbers have a limit", numbers_have_a_limit),
};

int main(void)
{
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
