/* Checkpoints of llama2.c: the tensors of both versions and where they lie, which table is the
 * head, and every header that is refused. */
#include <wte/model.h>

#include "format_files.h"
#include "model_files.h"

/* dim 8, hidden 12, 2 layers, 4 heads, 2 of keys and values, 5 tokens, 3 positions. */
enum { D = 8, F = 12, L = 2, H = 4, K = 2, V = 5, T = 3, EACH = D / H };
static const int32_t small[7] = { D, F, L, H, K, V, T };
enum {
    BODY = V * D + L * D + 2 * L * D * D + 2 * L * K * EACH * D + L * D + 3 * L * F * D + D,
    FREQUENCIES = T * EACH,
    NUMBERS = BODY + FREQUENCIES + V * D
};
static uint8_t file[256 + 4 * NUMBERS + 16];

static void put_u32(size_t at, uint32_t value)
{
    for (unsigned b = 0; b < 4; b++) file[at + b] = (uint8_t)(value >> 8 * b);
}

/* Number k of the parameters is 1 + k / 8. */
static size_t put_numbers(size_t at, size_t n)
{
    for (size_t k = 0; k < n; k++, at += 4) {
        const float value = 1 + (float)k / 8;
        uint32_t bits;
        memcpy(&bits, &value, 4);
        put_u32(at, bits);
    }
    return at;
}

static size_t make_version0(const int32_t fields[7], bool apart)
{
    memset(file, 0, sizeof file);
    for (size_t i = 0; i < 7; i++) put_u32(4 * i, (uint32_t)fields[i]);
    if (apart) put_u32(20, (uint32_t)-fields[5]);
    return put_numbers(28, BODY + FREQUENCIES + (apart ? V * D : 0));
}

static size_t make_version1(uint32_t version, bool apart)
{
    memset(file, 0, sizeof file);
    put_u32(0, 0x616b3432);
    put_u32(4, version);
    for (size_t i = 0; i < 7; i++) put_u32(8 + 4 * i, (uint32_t)small[i]);
    file[36] = !apart;
    return put_numbers(256, BODY + (apart ? V * D : 0));
}

static wte_status open_bytes(size_t n, wte_file **f, wte_error *err)
{
    return wte_file_open_memory(file, n, "stories.bin", NULL, f, err);
}

typedef struct expected {
    const char *name;
    uint32_t rank;
    uint64_t shape[3];
} expected;

static void check_tensors(const expected *want, size_t n, size_t size, uint64_t at)
{
    wte_error err = { 0 };
    wte_file *f;
    assert_ok(open_bytes(size, &f, &err), err);
    assert_int_equal(wte_file_format(f), WTE_FORMAT_LLAMA2C);
    assert_string_equal(wte_format_name(WTE_FORMAT_LLAMA2C), "llama2.c");
    assert_int_equal(wte_file_n_tensors(f), n);
    for (uint64_t i = 0; i < n; i++) {
        const wte_tensor t = tensor_at(f, i);
        uint64_t numbers = 1, found;
        assert_string_equal(t.name, want[i].name);
        assert_int_equal(t.rank, want[i].rank);
        for (uint32_t k = 0; k < t.rank; k++) {
            assert_int_equal(t.shape[k], want[i].shape[k]);
            numbers *= t.shape[k];
        }
        assert_int_equal(t.dtype, WTE_F32);
        assert_int_equal(t.offset, at);
        assert_int_equal(t.bytes, 4 * numbers);
        at += t.bytes;
        assert_ok(wte_file_find(f, t.name, t.name_bytes, &found, &err), err);
        assert_int_equal(found, i);
    }
    assert_int_equal(at, size);
    wte_file_free(f);
}

static void parameters_follow_the_header(void **state)
{
    (void)state;
    static const expected all[] = {
        { "token_embedding_table", 2, { V, D } },
        { "rms_att_weight", 2, { L, D } },
        { "wq", 3, { L, D, D } },
        { "wk", 3, { L, K * EACH, D } },
        { "wv", 3, { L, K * EACH, D } },
        { "wo", 3, { L, D, D } },
        { "rms_ffn_weight", 2, { L, D } },
        { "w1", 3, { L, F, D } },
        { "w2", 3, { L, D, F } },
        { "w3", 3, { L, F, D } },
        { "rms_final_weight", 1, { D } },
        { "freq_cis_real", 2, { T, EACH / 2 } },
        { "freq_cis_imag", 2, { T, EACH / 2 } },
        { "wcls", 2, { V, D } },
    };
    check_tensors(all, 13, make_version0(small, false), 28);
    check_tensors(all, 14, make_version0(small, true), 28);
}

static void version_1_has_its_norms_first(void **state)
{
    (void)state;
    static const expected all[] = {
        { "rms_att_weight", 2, { L, D } }, { "rms_ffn_weight", 2, { L, D } },
        { "rms_final_weight", 1, { D } },  { "token_embedding_table", 2, { V, D } },
        { "wq", 3, { L, D, D } },          { "wk", 3, { L, K * EACH, D } },
        { "wv", 3, { L, K * EACH, D } },   { "wo", 3, { L, D, D } },
        { "w1", 3, { L, F, D } },          { "w2", 3, { L, D, F } },
        { "w3", 3, { L, F, D } },          { "wcls", 2, { V, D } },
    };
    check_tensors(all, 11, make_version1(1, false), 256);
    check_tensors(all, 12, make_version1(1, true), 256);
}

/* As a model: the header is its config, and says whether the table is the head. */
static void the_header_says_which_table_is_the_head(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        const size_t size = make_version0(small, apart);
        const char *dir = test_scratch();
        char path[600];
        wte_tie tie;
        wte_error err;
        float row[D];
        snprintf(path, sizeof path, "%s/stories.bin", dir);
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(file, 1, size, out), size);
        assert_int_equal(fclose(out), 0);
        wte_model *m = open_model(path);
        const wte_model_table *t;
        assert_ok(wte_model_input(m, &t, &err), err);
        assert_string_equal(t->name, "token_embedding_table");
        assert_int_equal(t->rows, V);
        assert_int_equal(t->dim, D);
        assert_ok(wte_row_source_read(&t->source, 2, row, &err), err);
        for (int c = 0; c < D; c++) assert_true(row[c] == 1 + (float)(2 * D + c) / 8);
        const wte_model_config *config = wte_model_config_of(m);
        assert_int_equal(config->vocab_size, V);
        assert_int_equal(config->hidden_size, D);
        assert_int_equal(config->tied, !apart);
        assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
        assert_int_equal(tie.verdict, apart ? WTE_TIE_INDEPENDENT : WTE_TIE_SAME_STORAGE);
        if (apart) assert_string_equal(wte_model_head(m)->name, "wcls");
        wte_model_free(m);
        test_scratch_remove(dir);
    }
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

static void sizes_that_disagree_are_told(void **state)
{
    (void)state;
    size_t n = make_version0(small, false);
    refused(n + 4, WTE_E_FORMAT, n,
            "begins like a checkpoint of llama2.c (vocab_size 5, dim 8), of 4212 bytes, but the "
            "file has 4216");
    n = make_version1(1, false);
    refused(n + 4, WTE_E_FORMAT, n, "is a checkpoint of llama2.c (vocab_size 5, dim 8)");
    refused(n - 1, WTE_E_FORMAT, n - 1, "but the file has");
    refused(255, WTE_E_FORMAT, 255, "has 255 bytes, but the header takes 256");
    make_version1(2, false);
    refused(n, WTE_E_UNSUPPORTED, 4,
            "a checkpoint of version 2 (int8), but 0 and 1 (f32) are read");
    make_version1(7, false);
    refused(n, WTE_E_UNSUPPORTED, 4, "a checkpoint of version 7, but");
}

/* Without a magic number, what no Llama can have is some other file; with one it is told. */
static void fields_that_no_llama_has_are_refused(void **state)
{
    (void)state;
    static const int32_t wrong[][2] = {
        { 0, 0 },
        { 0, -8 },
        { 0, 9 },
        { 0, (1 << 20) + 4 },
        { 1, 0 },
        { 2, 0 },
        { 2, 4097 },
        { 3, 0 },
        { 3, 3 },
        { 4, 0 },
        { 4, 3 },
        { 5, 0 },
        { 5, (1 << 24) + 1 },
        { 6, 0 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wte_error err = { 0 };
        wte_file *f;
        size_t n = make_version1(1, false);
        put_u32(8 + 4 * (size_t)wrong[i][0], (uint32_t)wrong[i][1]);
        refused(n, WTE_E_FORMAT, 8, "llama2.c: no Llama has dim ");
        n = make_version0(small, false);
        put_u32(4 * (size_t)wrong[i][0], (uint32_t)wrong[i][1]);
        assert_true(open_bytes(n, &f, &err) != WTE_OK);
        assert_null(strstr(err.message, "llama2.c"));
    }
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    const size_t n = make_version0(small, true);
    wte_status status = WTE_E_MEMORY;
    for (size_t i = 0; status != WTE_OK; i++) {
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory memory;
        wte_file *f;
        wte_error err;
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        status = wte_file_open_memory(file, n, "stories.bin", &opt, &f, &err);
        if (status != WTE_OK) assert_int_equal(status, WTE_E_MEMORY);
        wte_file_free(f);
        assert_int_equal(memory.live, 0);
        assert_true(i < 60);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("parameters follow the header", parameters_follow_the_header),
    TEST("version 1 has its norms first", version_1_has_its_norms_first),
    TEST("the header says which table is the head", the_header_says_which_table_is_the_head),
    TEST("sizes that disagree are told", sizes_that_disagree_are_told),
    TEST("fields that no Llama has are refused", fields_that_no_llama_has_are_refused),
    TEST("every failed allocation is told", every_failed_allocation_is_told),
};
TEST_MAIN(tests)
