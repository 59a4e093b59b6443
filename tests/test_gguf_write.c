/* Writing GGUF: what is written is read back, byte by byte where it matters, and what cannot be
 * written is refused before the old file is touched. */
#include "test.h"

#include <float.h>
#include <math.h>
#include <wte/format.h>

#include "base/tokens.h"

static const uint64_t shape[] = { 3, 64 };

static const wte_gguf_options usual = { sizeof usual, "llama", NULL, 0,    0,    0, 0,
                                        NULL,         0,       NULL, NULL, NULL, 0 };

static wte_file *opened(const char *path)
{
    wte_file *f = NULL;
    wte_error err = { 0 };
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    return f;
}

static const char *in(const char *dir, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void a_small_file_is_these_bytes(void **state)
{
    (void)state;
    static const uint64_t one[] = { 1, 2 };
    static const float data[] = { 1, -2 };
    static const uint8_t want[] =
        "GGUF\3\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
        "\x14\0\0\0\0\0\0\0general.architecture\x08\0\0\0"
        "\5\0\0\0\0\0\0\0llama"
        "\1\0\0\0\0\0\0\0t\2\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0" /* ends at byte 110 */
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\x80\x3f\0\0\0\xc0"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"; /* and its NUL */
    const char *dir = test_scratch();
    wte_error err = { 0 };
    uint8_t got[sizeof want + 1];
    const wte_tensor_out t = { "t", WTE_F32, 2, one, data, NULL };
    assert_ok(wte_gguf_write(in(dir, "t.gguf"), &t, NULL, 1, &usual, &err), err);
    FILE *f = fopen(in(dir, "t.gguf"), "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got, f), sizeof want);
    assert_int_equal(fclose(f), 0);
    assert_memory_equal(got, want, sizeof want);
    test_scratch_remove(dir);
}

/* Every type without blocks: bytes 1, 2, 3, ... come back as they are. */
static void plain_types_come_back(void **state)
{
    (void)state;
    static const wte_dtype types[] = { WTE_F32, WTE_F16, WTE_BF16, WTE_F64,
                                       WTE_I8,  WTE_I16, WTE_I32,  WTE_I64 };
    enum { N = sizeof types / sizeof types[0] };
    static const char *const names[N] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    static uint8_t data[3 * 64 * 8], back[3 * 64 * 8];
    const char *dir = test_scratch();
    wte_error err = { 0 };
    wte_tensor_out t[N];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 31 + 1);
    for (size_t i = 0; i < N; i++) {
        const wte_tensor_out one = { names[i], types[i], 2, shape, data, NULL };
        t[i] = one;
    }
    assert_ok(wte_gguf_write(in(dir, "t.gguf"), t, NULL, N, &usual, &err), err);
    wte_file *f = opened(in(dir, "t.gguf"));
    assert_int_equal(wte_file_n_tensors(f), N);
    for (uint64_t i = 0; i < N; i++) {
        wte_tensor got;
        assert_ok(wte_file_tensor(f, i, &got, &err), err);
        assert_string_equal(got.name, names[i]);
        assert_int_equal(got.dtype, types[i]);
        assert_int_equal(got.rank, 2);
        assert_int_equal(got.shape[0], 3);
        assert_int_equal(got.shape[1], 64);
        assert_int_equal(got.bytes, 3 * 64 * wte_dtype_bytes(types[i]));
        assert_ok(wte_file_read(f, i, 0, back, got.bytes, &err), err);
        assert_memory_equal(back, data, got.bytes);
    }
    wte_file_free(f);
    test_scratch_remove(dir);
}

static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy((float *)out + i * 64, (const float *)ctx + ids[i] * 64, 64 * sizeof(float));
    return WTE_OK;
}

/* q8_0 by its definition: the scale is the largest magnitude over 127, rounded to f16; numbers are
 * rounded to multiples of it (of the unrounded one, as ggml does). */
static void q8_0_is_written_from_data_and_from_rows(void **state)
{
    (void)state;
    static const uint64_t tall[] = { 5000, 64 };
    static float values[5000 * 64], row[64];
    static const wte_block_type q8_0[] = { WTE_BLOCK_Q8_0, WTE_BLOCK_Q8_0 };
    const char *dir = test_scratch();
    wte_error err = { 0 };
    uint64_t noise = 1;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        values[i] = (float)(test_noise(&noise) >> 40) / (1 << 23) - 1;
    wte_row_source rows = {
        .rows = 5000, .cols = 64, .dtype = WTE_F32, .read_rows = read_rows, .ctx = values
    };
    const wte_tensor_out t[] = { { "data", WTE_F32, 2, tall, values, NULL },
                                 { "rows", WTE_F32, 2, tall, NULL, &rows } };
    assert_ok(wte_gguf_write(in(dir, "t.gguf"), t, q8_0, 2, &usual, &err), err);
    wte_file *f = opened(in(dir, "t.gguf"));
    const char *value;
    assert_string_equal(wte_file_metadata(f, 1, &value), "general.quantization_version");
    assert_string_equal(value, "2");
    for (uint64_t i = 0; i < 2; i++) {
        wte_row_source stored;
        wte_tensor got;
        assert_ok(wte_file_tensor(f, i, &got, &err), err);
        assert_int_equal(got.block, WTE_BLOCK_Q8_0);
        assert_int_equal(got.bytes, 5000 * 2 * 34);
        assert_ok(wte_file_row_source(f, i, &stored, &err), err);
        for (uint64_t r = 0; r < 5000; r += 499) {
            assert_ok(wte_row_source_read(&stored, r, row, &err), err);
            for (size_t c = 0; c < 64; c++) {
                float most = 0;
                for (size_t k = c / 32 * 32; k < c / 32 * 32 + 32; k++)
                    most = fmaxf(most, fabsf(values[r * 64 + k]));
                /* half a step, and what the rounding of the scale moves 127 steps by */
                const float bound = most / 127 * (0.5f + 127.0f / 2048);
                assert_true(fabsf(row[c] - values[r * 64 + c]) <= bound);
            }
        }
    }
    wte_file_free(f);
    test_scratch_remove(dir);
}

/* Tokens --------------------------------------------------------------------------------------- */

static const char *token(void *ctx, uint64_t id, uint64_t *bytes, uint32_t *kind)
{
    static const char *const texts[] = { "[CLS]", "the", "##ing", NULL };
    (void)ctx;
    if (id == 0) *kind = WTE_TAG_CONTROL;
    if (texts[id]) *bytes = strlen(texts[id]);
    return texts[id];
}

static void metadata_and_tokens_come_back(void **state)
{
    (void)state;
    static const char *const extra[][2] = { { "wte.note", "a table" } };
    static const char *const want[][2] = {
        { "general.architecture", "bert" },
        { "general.name", "a name" },
        { "general.alignment", "64" },
        { "bert.embedding_length", "64" },
        { "bert.vocab_size", "3" },
        { "tokenizer.ggml.model", "bert" },
        { "tokenizer.ggml.tokens", "[4 x string]" },
        { "tokenizer.ggml.token_type", "[4 x i32]" },
        { "wte.note", "a table" },
    };
    static const char *const texts[] = { "[CLS]", "the", "##ing", "[PAD3]" };
    static const uint8_t kinds[] = { WTE_TAG_CONTROL, WTE_TAG_NORMAL, WTE_TAG_NORMAL,
                                     WTE_TAG_UNUSED };
    static uint8_t data[3 * 64];
    const char *dir = test_scratch();
    wte_error err = { 0 };
    wte_gguf_options opt = WTE_GGUF_OPTIONS_INIT;
    opt.architecture = opt.tokenizer = "bert";
    opt.name = "a name";
    opt.alignment = 64;
    opt.embedding_length = 64;
    opt.vocab_size = 3;
    opt.n_tokens = 4;
    opt.token = token;
    opt.metadata = extra;
    opt.n_metadata = 1;
    const wte_tensor_out t = { "token_embd.weight", WTE_I8, 2, shape, data, NULL };
    assert_ok(wte_gguf_write(in(dir, "t.gguf"), &t, NULL, 1, &opt, &err), err);
    wte_file *f = opened(in(dir, "t.gguf"));
    for (uint64_t i = 0; i < 9; i++) {
        const char *value = NULL;
        assert_string_equal(wte_file_metadata(f, i, &value), want[i][0]);
        assert_string_equal(value, want[i][1]);
    }
    assert_null(wte_file_metadata(f, 9, NULL));
    wte_tensor got;
    assert_ok(wte_file_tensor(f, 0, &got, &err), err);
    assert_int_equal(got.offset % 64, 0);
    const wte_token_list *tokens;
    assert_ok(wte_file_tokens(f, &tokens, &err), err);
    assert_int_equal(tokens->n, 4);
    for (uint64_t i = 0; i < 4; i++) {
        const wte__bytes text = wte__token_list_text(tokens, i);
        assert_int_equal(text.size, strlen(texts[i]));
        assert_memory_equal(text.data, texts[i], text.size);
        assert_int_equal(tokens->tag[i], kinds[i]);
    }
    wte_file_free(f);
    test_scratch_remove(dir);
}

/* What is refused ------------------------------------------------------------------------------ */

/* The file that stands there stays. */
static void refused(const wte_tensor_out *t, const wte_block_type *blocks, size_t n,
                    const wte_gguf_options *opt, wte_status status, uint64_t where,
                    const char *message)
{
    const char *dir = test_scratch();
    wte_error err = { 0 };
    char old[4] = "";
    test_write_file(in(dir, "t.gguf"), "old", 3);
    assert_fails(wte_gguf_write(in(dir, "t.gguf"), t, blocks, n, opt, &err), err, status, where,
                 message);
    FILE *f = fopen(in(dir, "t.gguf"), "rb");
    assert_non_null(f);
    assert_int_equal(fread(old, 1, sizeof old, f), 3);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(old, "old");
    test_scratch_remove(dir);
}

static void what_has_no_place_is_refused(void **state)
{
    (void)state;
    static const uint64_t narrow[] = { 2, 96 }, five[] = { 1, 1, 1, 1, 32 }, odd[] = { 2, 33 };
    static const wte_block_type q4_k = WTE_BLOCK_Q4_K, q8_0 = WTE_BLOCK_Q8_0;
    static float data[3 * 64];
    const wte_tensor_out good = { "t", WTE_F32, 2, shape, data, NULL };
    wte_tensor_out t = good;
    t.shape = narrow;
    refused(&t, &q4_k, 1, &usual, WTE_E_UNSUPPORTED, 0,
            "tensor 't': q4_k is read, but not written; q8_0 is the block type that can be");
    t.shape = odd;
    refused(&t, &q8_0, 1, &usual, WTE_E_SHAPE, 0,
            "tensor 't': rows of 33 elements, but q8_0 comes in blocks of 32");
    t = good;
    t.dtype = WTE_F16;
    refused(&t, &q8_0, 1, &usual, WTE_E_ARGUMENT, 0, "q8_0 is made from f32, not from f16");
    t.dtype = WTE_F8_E4M3;
    refused(&t, NULL, 1, &usual, WTE_E_UNSUPPORTED, 0, "the format has no number for f8_e4m3");
    t.dtype = WTE_F32;
    t.shape = five;
    t.rank = 5;
    refused(&t, NULL, 1, &usual, WTE_E_UNSUPPORTED, 0,
            "tensor 't' has 5 dimensions, but the format has at most 4");
    data[70] = (float)NAN;
    refused(&good, &q8_0, 1, &usual, WTE_E_UNSUPPORTED, 70,
            "tensor 't', row 1, column 6: nan cannot be written as q8_0");
    data[70] = FLT_MAX;
    refused(&good, &q8_0, 1, &usual, WTE_E_UNSUPPORTED, 70, "3.40282e+38 cannot be written as");
    data[70] = 0;
}

static void names_are_checked(void **state)
{
    (void)state;
    static float data[3 * 64];
    const wte_tensor_out t[2] = { { "t", WTE_F32, 2, shape, data, NULL },
                                  { "t", WTE_F32, 2, shape, data, NULL } };
    wte_tensor_out one = t[0];
    refused(t, NULL, 2, &usual, WTE_E_ARGUMENT, 1, "tensors number 0 and 1 are both called 't'");
    one.name = NULL;
    refused(&one, NULL, 1, &usual, WTE_E_ARGUMENT, 0, "tensor number 0 has no name");
    one.name = "\xff";
    refused(&one, NULL, 1, &usual, WTE_E_ARGUMENT, 0, "a tensor cannot be called '\\xff'");
    one.name = "0123456789012345678901234567890123456789012345678901234567890123";
    refused(&one, NULL, 1, &usual, WTE_E_ARGUMENT, 0,
            "at most 63 bytes of UTF-8 are read back, "
            "it has 64");
    one.name = "t";
    one.data = NULL;
    refused(&one, NULL, 1, &usual, WTE_E_ARGUMENT, WTE_NO_INDEX, "has neither data nor rows");
}

static const char *bad_kind(void *ctx, uint64_t id, uint64_t *bytes, uint32_t *kind)
{
    (void)ctx;
    (void)id;
    *bytes = 1;
    *kind = 7;
    return "x";
}

static void options_are_checked(void **state)
{
    (void)state;
    static const char *const twice[][2] = { { "general.architecture", "x" } };
    static const char *const none[][2] = { { "k", NULL } };
    static const char *const empty[][2] = { { "", "x" } };
    static const uint32_t alignments[] = { 4, 24, UINT32_C(1) << 21 };
    wte_error err;
    refused(NULL, NULL, 0, NULL, WTE_E_ARGUMENT, WTE_NO_INDEX, "an architecture of 1 to 64 bytes");
    assert_fails(wte_gguf_write(NULL, NULL, NULL, 0, &usual, &err), err, WTE_E_ARGUMENT,
                 WTE_NO_INDEX, "path is NULL");
    wte_gguf_options opt = usual;
    for (size_t i = 0; i < 3; i++) {
        opt.alignment = alignments[i];
        refused(NULL, NULL, 0, &opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "it is a power of two from 8");
    }
    opt = usual;
    opt.n_metadata = 1;
    opt.metadata = twice;
    refused(NULL, NULL, 0, &opt, WTE_E_ARGUMENT, WTE_NO_INDEX,
            "key 'general.architecture' comes twice");
    opt.metadata = none;
    refused(NULL, NULL, 0, &opt, WTE_E_ARGUMENT, 0, "metadata number 0 is NULL");
    opt.metadata = empty;
    refused(NULL, NULL, 0, &opt, WTE_E_ARGUMENT, WTE_NO_INDEX, "'' is no key");
    opt = usual;
    opt.vocab_size = UINT64_C(1) << 32;
    refused(NULL, NULL, 0, &opt, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
            "key 'llama.vocab_size' is 4294967296, but the format has 32 bits for it");
    opt = usual;
    opt.n_tokens = 1;
    refused(NULL, NULL, 0, &opt, WTE_E_ARGUMENT, WTE_NO_INDEX,
            "tokens need a function and a tokenizer");
    opt.tokenizer = "llama";
    opt.token = bad_kind;
    refused(NULL, NULL, 0, &opt, WTE_E_ARGUMENT, 0, "token 0 is of kind 7");
}

static const struct CMUnitTest tests[] = {
    TEST("a small file is these bytes", a_small_file_is_these_bytes),
    TEST("types without blocks come back", plain_types_come_back),
    TEST("q8_0 is written from data and from rows", q8_0_is_written_from_data_and_from_rows),
    TEST("metadata and tokens come back", metadata_and_tokens_come_back),
    TEST("what the format has no place for is refused, and the old file stays",
         what_has_no_place_is_refused),
    TEST("names are checked", names_are_checked),
    TEST("options are checked", options_are_checked),
};
TEST_MAIN(tests)
