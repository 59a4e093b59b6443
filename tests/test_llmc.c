/* Checkpoints of llm.c: the tensors and where they lie, what `wte tied` and `wte check` make of
 * them, and every header that is refused. */
#include <wte/check.h>

#include "format_files.h"
#include "model_files.h"

/* A header of the smallest GPT-2: 5 tokens in 8 rows, 3 positions, 2 layers, 2 heads, width 4. */
static const int32_t small[8] = { 20240326, 3, 3, 5, 2, 2, 4, 8 };

enum { HEADER = 1024, PLACES = 8, N_TENSORS = 16 };
static const struct {
    const char *name;
    uint32_t rank;
    uint64_t shape[3];
} expected[N_TENSORS] = {
    { "wte", 2, { 8, 4 } },         { "wpe", 2, { 3, 4 } },      { "ln1w", 2, { 2, 4 } },
    { "ln1b", 2, { 2, 4 } },        { "qkvw", 3, { 2, 12, 4 } }, { "qkvb", 2, { 2, 12 } },
    { "attprojw", 3, { 2, 4, 4 } }, { "attprojb", 2, { 2, 4 } }, { "ln2w", 2, { 2, 4 } },
    { "ln2b", 2, { 2, 4 } },        { "fcw", 3, { 2, 16, 4 } },  { "fcb", 2, { 2, 16 } },
    { "fcprojw", 3, { 2, 4, 16 } }, { "fcprojb", 2, { 2, 4 } },  { "lnfw", 1, { 4 } },
    { "lnfb", 1, { 4 } },
};
enum { NUMBERS = 32 + 12 + 16 + 96 + 24 + 32 + 8 + 16 + 128 + 32 + 128 + 8 + 8 };

static uint8_t file[HEADER + 4 * NUMBERS + 8];

/* The file with element number k of 1 + k / 8 as f32, or as the upper half of that; the padding
 * rows 5 to 7 are zero, as llm.c's own exporter leaves them. */
static size_t make(const int32_t fields[8])
{
    size_t at = HEADER;
    memset(file, 0, sizeof file);
    for (size_t i = 0; i < PLACES; i++)
        for (unsigned b = 0; b < 4; b++) file[4 * i + b] = (uint8_t)((uint32_t)fields[i] >> 8 * b);
    for (size_t k = 0; k < NUMBERS; k++) {
        const float value = k >= 20 && k < 32 ? 0 : 1 + (float)k / 8;
        uint32_t bits;
        memcpy(&bits, &value, 4);
        for (unsigned b = fields[1] == 5 ? 2 : 0; b < 4; b++) file[at++] = (uint8_t)(bits >> 8 * b);
    }
    return at;
}

static wte_status open_bytes(size_t n, wte_file **f, wte_error *err)
{
    return wte_file_open_memory(file, n, "gpt2.bin", NULL, f, err);
}

static void check_tensors(wte_dtype type)
{
    const uint64_t element = wte_dtype_bytes(type);
    wte_error err = { 0 };
    wte_file *f;
    uint64_t at = HEADER, found;
    int32_t fields[8];
    memcpy(fields, small, sizeof fields);
    fields[1] = type == WTE_F32 ? 3 : 5;
    assert_ok(open_bytes(make(fields), &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_LLMC);
    assert_string_equal(wte_format_name(WTE_FORMAT_LLMC), "llm.c");
    assert_int_equal(wte_file_n_tensors(f), N_TENSORS);
    for (uint64_t i = 0; i < N_TENSORS; i++) {
        const wte_tensor t = tensor_at(f, i);
        uint64_t numbers = 1;
        assert_string_equal(t.name, expected[i].name);
        assert_int_equal(t.rank, expected[i].rank);
        for (uint32_t k = 0; k < t.rank; k++) {
            assert_int_equal(t.shape[k], expected[i].shape[k]);
            numbers *= t.shape[k];
        }
        assert_int_equal(t.dtype, type);
        assert_int_equal(t.offset, at);
        assert_int_equal(t.bytes, numbers * element);
        at += t.bytes;
        assert_ok(wte_file_find(f, t.name, t.name_bytes, &found, &err), err);
        assert_int_equal(found, i);
    }
    wte_file_free(f);
}

static void sixteen_tensors_follow_the_header(void **state)
{
    (void)state;
    check_tensors(WTE_F32);
    check_tensors(WTE_BF16);
}

static void rows_are_the_numbers_that_were_written(void **state)
{
    (void)state;
    static const int32_t bf16[8] = { 20240326, 5, 3, 5, 2, 2, 4, 8 };
    wte_error err = { 0 };
    wte_file *f;
    wte_row_source rows;
    float row[4];
    uint16_t half[4];
    assert_ok(open_bytes(make(small), &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_ok(wte_row_source_read(&rows, 2, row, &err), err);
    for (unsigned c = 0; c < 4; c++) assert_true(row[c] == 2 + (float)c / 8);
    assert_ok(wte_file_row_source(f, 1, &rows, &err), err);
    assert_ok(wte_row_source_read(&rows, 0, row, &err), err);
    assert_true(row[0] == 5); /* number 32 */
    wte_file_free(f);
    assert_ok(open_bytes(make(bf16), &f, &err), err);
    assert_ok(wte_file_row_source(f, 0, &rows, &err), err);
    assert_ok(wte_row_source_read(&rows, 1, half, &err), err);
    assert_int_equal(half[0], 0x3fc0); /* 1.5 */
    wte_file_free(f);
}

static void the_header_is_told_as_metadata(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        { "version", "3" },           { "max_seq_len", "3" }, { "vocab_size", "5" },
        { "num_layers", "2" },        { "num_heads", "2" },   { "channels", "4" },
        { "padded_vocab_size", "8" },
    };
    enum { N = sizeof pairs / sizeof pairs[0] };
    wte_error err = { 0 };
    wte_file *f;
    const char *value;
    assert_ok(open_bytes(make(small), &f, &err), err);
    for (uint64_t i = 0; i < N; i++) {
        assert_string_equal(wte_file_metadata(f, i, &value), pairs[i][0]);
        assert_string_equal(value, pairs[i][1]);
    }
    assert_null(wte_file_metadata(f, N, &value));
    wte_file_free(f);
}

/* Refusals --------------------------------------------------------------------------------------
 */

static void refused(size_t n, wte_status status, uint64_t where, const char *message)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_fails(open_bytes(n, &f, &err), err, status, where, message);
    assert_null(f);
}

static void refused_field(size_t place, int32_t value, wte_status status, const char *message)
{
    int32_t fields[8];
    memcpy(fields, small, sizeof fields);
    fields[place] = value;
    refused(make(fields), status, 4 * place, message);
}

static void headers_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    refused_field(1, 1, WTE_E_UNSUPPORTED,
                  "gpt2.bin: llm.c: a checkpoint of version 1, but 3 (f32) and 5 (bf16) are read");
    refused_field(1, 4, WTE_E_UNSUPPORTED, "version 4");
    refused_field(2, 0, WTE_E_FORMAT, "max_seq_len is 0, but it counts something (byte 8)");
    refused_field(3, -1, WTE_E_FORMAT, "vocab_size is -1, but it counts something (byte 12)");
    refused_field(4, 0, WTE_E_FORMAT, "num_layers is 0");
    refused_field(5, 0, WTE_E_FORMAT, "num_heads is 0");
    refused_field(6, INT32_MIN, WTE_E_FORMAT, "channels is -2147483648");
    refused_field(7, 0, WTE_E_FORMAT, "padded_vocab_size is 0");
    refused_field(7, 4, WTE_E_FORMAT, "padded_vocab_size is 4, but vocab_size is 5 (byte 28)");
}

static void sizes_must_be_those_of_the_file(void **state)
{
    (void)state;
    const size_t n = make(small);
    refused(1023, WTE_E_FORMAT, 1023, "llm.c: has 1023 bytes, but the header takes 1024");
    refused(n - 1, WTE_E_FORMAT, n - 16, "tensor 'lnfb' ends at byte 3184 but the file has 3183");
    refused(HEADER, WTE_E_FORMAT, HEADER, "tensor 'wte' ends at byte 1152 but the file has 1024");
    refused(n + 4, WTE_E_FORMAT, n, "the last tensor ends at byte 3184 but the file has 3188");
}

/* Of one token, position and layer, but wide: what comes before qkvw takes 32 GiB. */
static void a_size_that_overflows_is_refused(void **state)
{
    (void)state;
    static const int32_t wide[8] = { 20240326, 3, 1, 1, 1, 1, INT32_MAX, 1 };
    const char *dir = test_scratch(), *path = in_folder(dir, "wide.bin");
    const uint64_t before = HEADER + UINT64_C(4) * 4 * INT32_MAX;
    wte_error err = { 0 };
    wte_file *f;
    make(wide);
    write_sparse(path, file, HEADER, UINT64_C(40) << 30);
    assert_fails(wte_file_open(path, NULL, &f, &err), err, WTE_E_FORMAT, before,
                 "tensor 'qkvw': its size overflows 64 bits");
    test_scratch_remove(dir);
}

static void other_files_of_llm_c_are_named(void **state)
{
    (void)state;
    static const struct {
        int32_t magic;
        const char *what;
    } others[] = { { 20240803, "is a Llama checkpoint of llm.c" },
                   { 20240327, "is a debug state of llm.c" },
                   { 20240328, "is a tokenizer of llm.c" },
                   { 20240520, "is a file of token ids of llm.c" } };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int32_t fields[8];
        memcpy(fields, small, sizeof fields);
        fields[0] = others[i].magic;
        refused(make(fields), WTE_E_UNSUPPORTED, 0, others[i].what);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const size_t n = make(small);
    wte_error err = { 0 };
    wte_file *f;
    for (size_t i = 0;; i++) {
        test_memory memory;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_file_open_memory(file, n, "gpt2.bin", &opt, &f, &err);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        if (status == WTE_OK) break;
        assert_int_equal(status, WTE_E_MEMORY);
        assert_true(i < 200);
    }
}

/* As a model ------------------------------------------------------------------------------------
 */

static void the_table_is_tied_by_design(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    const wte_model_table *input;
    const wte_candidate *c;
    wte_error err = { 0 };
    wte_tie tie;
    test_write_file(in_folder(dir, "gpt2.bin"), file, make(small));
    wte_model *m = open_model(in_folder(dir, "gpt2.bin"));
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_string_equal(input->name, "wte");
    assert_int_equal(input->rows, 8);
    assert_int_equal(input->dim, 4);
    assert_null(wte_model_head(m));
    const wte_model_config *said = wte_model_config_of(m);
    assert_string_equal(said->model_type, "gpt2");
    assert_int_equal(said->vocab_size, 5);
    assert_int_equal(said->hidden_size, 4);
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_int_equal(tie.verdict, WTE_TIE_SAME_STORAGE);
    assert_true(tie.tied && tie.flag_agrees && tie.experiment_ran && tie.head_changed);
    assert_non_null(strstr(tie.why, "llm.c computes its logits with wte: tied by design"));
    bool positions = false;
    for (uint64_t i = 0; (c = wte_model_candidate(m, i)); i++)
        positions = positions || (c->tensor == 1 && c->role == WTE_ROLE_OTHER);
    assert_true(positions);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const wte_finding *finding_of(const wte_check *c, const char *code)
{
    const wte_finding *f;
    for (uint64_t i = 0; (f = wte_check_finding(c, i)); i++)
        if (strcmp(f->code, code) == 0) return f;
    return NULL;
}

static void rows_past_the_vocabulary_are_padding(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    wte_error err = { 0 };
    wte_check *check;
    test_write_file(in_folder(dir, "gpt2.bin"), file, make(small));
    wte_model *m = open_model(in_folder(dir, "gpt2.bin"));
    assert_ok(wte_model_check(m, NULL, &check, &err), err);
    const wte_finding *padding = finding_of(check, "padding-rows");
    assert_non_null(padding);
    assert_int_equal(padding->n_ids, 3);
    assert_int_equal(padding->ids[0], 5);
    assert_null(finding_of(check, "config-vocab-smaller"));
    assert_null(finding_of(check, "tie-flag-absent"));
    wte_check_free(check);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("sixteen tensors follow the header", sixteen_tensors_follow_the_header),
    TEST("rows are the numbers that were written", rows_are_the_numbers_that_were_written),
    TEST("the header is told as metadata", the_header_is_told_as_metadata),
    TEST("headers that make no sense are refused", headers_that_make_no_sense_are_refused),
    TEST("sizes must be those of the file", sizes_must_be_those_of_the_file),
    TEST("a size that overflows is refused", a_size_that_overflows_is_refused),
    TEST("other files of llm.c are named", other_files_of_llm_c_are_named),
    TEST("every failed allocation is reported", every_failed_allocation_is_reported),
    TEST("the table is tied by design", the_table_is_tied_by_design),
    TEST("rows past the vocabulary are padding", rows_past_the_vocabulary_are_padding),
};
TEST_MAIN(tests)
