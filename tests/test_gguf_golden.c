/* Files that the format's own Python package wrote (make_golden_gguf.py): what we read of them is
 * what it says of them. */
#include "test.h"

#include <inttypes.h>
#include <wte/format.h>
#include <wte/vocab.h>

static wte_file *opened(const char *name)
{
    wte_file *f = NULL;
    wte_error err = { 0 };
    assert_ok(wte_file_open(test_data(name), NULL, &f, &err), err);
    return f;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* A line "TYPE ROW HEX" of types.txt: the row's 256 numbers. */
static void parse(const char *line, char type[16], uint64_t *row, float *values)
{
    int at = 0;
    assert_int_equal(sscanf(line, "%15s %" SCNu64 " %n", type, row, &at), 2);
    for (size_t i = 0; i < 256; i++) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *hex = line + at + 8 * i + 2 * k;
            bits |= (digit(hex[0]) << 4 | digit(hex[1])) << (8 * k);
        }
        memcpy(&values[i], &bits, sizeof bits);
    }
}

/* Every row of every type of a file; lines of types that it does not have are passed over. */
static void check_types(const char *name, uint64_t count)
{
    static char line[4096];
    wte_file *f = opened(name);
    wte_error err = { 0 };
    FILE *list = fopen(test_data("gguf/types.txt"), "r");
    assert_non_null(list);
    assert_int_equal(wte_file_n_tensors(f), count);
    uint64_t seen = 0;
    while (fgets(line, sizeof line, list)) {
        char type[16];
        uint64_t row, i;
        float want[256], got[256];
        uint8_t raw[256 * 8];
        wte_row_source rows;
        parse(line, type, &row, want);
        if (wte_file_find(f, type, strlen(type), &i, NULL) != WTE_OK) continue;
        assert_ok(wte_file_row_source(f, i, &rows, &err), err);
        assert_int_equal(rows.rows, 2);
        assert_int_equal(rows.cols, 256);
        assert_ok(wte_row_source_read(&rows, row, raw, &err), err);
        assert_ok(wte_convert(rows.dtype, raw, WTE_F32, got, 256, NULL, &err), err);
        if (memcmp(got, want, sizeof got) != 0) fail_msg("%s: %s, row %d", name, type, (int)row);
        seen++;
    }
    assert_int_equal(seen, 2 * count);
    assert_int_equal(fclose(list), 0);
    wte_file_free(f);
}

static void values_are_the_packages(void **state)
{
    (void)state;
    check_types("gguf/types.gguf", 15);
    check_types("gguf/big.gguf", 7);
}

static void metadata_and_tokens_are_the_packages(void **state)
{
    (void)state;
    static const char *const want[][2] = {
        { "general.architecture", "llama" },          { "general.name", "golden" },
        { "llama.embedding_length", "256" },          { "tokenizer.ggml.model", "llama" },
        { "tokenizer.ggml.tokens", "[8 x string]" },  { "tokenizer.ggml.scores", "[8 x f32]" },
        { "tokenizer.ggml.token_type", "[8 x i32]" }, { "tokenizer.ggml.padding_token_id", "2" },
    };
    static const char *const written[] = { "<unk>", "<s>", "</s>",    "\n",
                                           " the",  "ing", "<extra>", "[PAD7]" };
    wte_file *f = opened("gguf/tokens.gguf");
    wte_error err = { 0 };
    for (uint64_t i = 0; i < 8; i++) {
        const char *value = NULL;
        assert_string_equal(wte_file_metadata(f, i, &value), want[i][0]);
        assert_string_equal(value, want[i][1]);
    }
    assert_null(wte_file_metadata(f, 8, NULL));
    const wte_token_list *tokens;
    wte_vocab *v;
    assert_ok(wte_file_tokens(f, &tokens, &err), err);
    assert_ok(wte_vocab_from_tokens(tokens, "tokens.gguf", NULL, &v, &err), err);
    assert_int_equal(wte_vocab_size(v), 8);
    for (uint64_t id = 0; id < 8; id++) {
        char text[16];
        float score;
        const uint64_t bytes = wte_vocab_text(v, id, text, sizeof text);
        assert_int_equal(bytes, strlen(written[id]));
        assert_memory_equal(text, written[id], bytes);
        assert_true(wte_token_list_score(tokens, id, &score) && score == -(float)id);
    }
    wte_vocab_free(v);
    wte_file_free(f);
}

static const struct CMUnitTest tests[] = {
    TEST("the numbers of every type are those of the package", values_are_the_packages),
    TEST("metadata and tokens are those of the package", metadata_and_tokens_are_the_packages),
};
TEST_MAIN(tests)
