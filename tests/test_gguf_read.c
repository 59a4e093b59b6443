/* What comes out of GGUF files: rows of every kind of type, metadata as texts and by type, tokens.
 */
#include "gguf_files.h"

static gguf_file g;

static wte_tensor tensor_of(const wte_file *f, uint64_t i)
{
    wte_error err = { 0 };
    wte_tensor t;
    assert_ok(wte_file_tensor(f, i, &t, &err), err);
    return t;
}

static wte_row_source rows_of(const wte_file *f, uint64_t i)
{
    wte_error err = { 0 };
    wte_row_source rows;
    assert_ok(wte_file_row_source(f, i, &rows, &err), err);
    assert_ok(wte_check_rows(&rows, &err), err);
    return rows;
}

/* ne0 is the width: PAINS F3 asks for [8, 3] and [8, 3, 1]. */
static void the_first_dimension_is_the_width(void **state)
{
    (void)state;
    void *memory;
    wte_error err;
    for (uint32_t rank = 2; rank <= 4; rank++) {
        float row[8];
        g_begin(&g, 1, 0);
        g_shape(&g, "token_embd.weight", rank, 8, 3);
        g_u32(&g, 0);
        g_u64(&g, 0);
        g_pad(&g, 32);
        for (int i = 0; i < 24; i++) g_float(&g, (float)i);
        wte_file *f = g_opened(&g, &memory);
        const wte_tensor t = tensor_of(f, 0);
        assert_int_equal(t.rank, rank);
        assert_int_equal(t.shape[rank - 1], 8);
        assert_int_equal(t.shape[rank - 2], 3);
        for (uint32_t i = 0; i + 2 < rank; i++) assert_int_equal(t.shape[i], 1);
        assert_int_equal(t.bytes, 96);
        assert_string_equal(t.name, "token_embd.weight");
        assert_int_equal(t.name_bytes, 17);
        assert_string_equal(wte_type_name(t.dtype, t.block), "f32");
        const wte_row_source rows = rows_of(f, 0);
        assert_int_equal(rows.rows, 3);
        assert_int_equal(rows.cols, 8);
        assert_ok(wte_row_source_read(&rows, 2, row, &err), err);
        for (int i = 0; i < 8; i++) assert_true(row[i] == (float)(16 + i));
        wte_file_free(f);
        g_free(&g, memory);
    }
}

static void other_shapes_are_listed(void **state)
{
    (void)state;
    void *memory;
    wte_error err = { 0 };
    wte_row_source rows;
    g_begin(&g, 4, 0);
    g_shape(&g, "scalar", 0, 0, 0);
    g_u32(&g, 0);
    g_u64(&g, 0);
    g_shape(&g, "bias", 1, 5, 0);
    g_u32(&g, 24);
    g_u64(&g, 32);
    g_text(&g, "cube");
    g_u32(&g, 3);
    g_u64(&g, 2);
    g_u64(&g, 2);
    g_u64(&g, 2);
    g_u32(&g, 24);
    g_u64(&g, 64);
    g_tensor(&g, "none", 8, 0, 0, 96);
    g_data(&g, 96);
    wte_file *f = g_opened(&g, &memory);
    assert_int_equal(tensor_of(f, 0).rank, 0);
    assert_int_equal(tensor_of(f, 0).bytes, 4);
    assert_fails(wte_file_row_source(f, 0, &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "'scalar'");
    rows = rows_of(f, 1);
    assert_int_equal(rows.rows, 5);
    assert_int_equal(rows.cols, 1);
    assert_fails(wte_file_row_source(f, 2, &rows, &err), err, WTE_E_SHAPE, WTE_NO_INDEX,
                 "[2, 2, 2]");
    rows = rows_of(f, 3);
    assert_int_equal(rows.rows, 0);
    assert_int_equal(rows.cols, 8);
    wte_file_free(f);
    g_free(&g, memory);
}

/* Types without blocks: id, our type, -1 as stored in up to 8 bytes. */
static const struct {
    uint32_t id;
    wte_dtype dtype;
    uint64_t minus_one;
} plain[] = {
    { 0, WTE_F32, 0xbf800000 },          { 1, WTE_F16, 0xbc00 },      { 30, WTE_BF16, 0xbf80 },
    { 28, WTE_F64, 0xbff0000000000000 }, { 24, WTE_I8, 0xff },        { 25, WTE_I16, 0xffff },
    { 26, WTE_I32, 0xffffffff },         { 27, WTE_I64, UINT64_MAX },
};

static void plain_types_come_out_in_either_byte_order(void **state)
{
    (void)state;
    void *memory;
    wte_error err;
    for (int big = 0; big < 2; big++)
        for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
            const uint32_t size = wte_dtype_bytes(plain[i].dtype);
            uint8_t row[24];
            double value[3];
            g.big = big != 0;
            g_begin(&g, 1, 0);
            g_tensor(&g, "t", 3, 2, plain[i].id, 0);
            g_pad(&g, 32);
            for (int k = 0; k < 6; k++) g_number(&g, k == 4 ? plain[i].minus_one : 0, size);
            wte_file *f = g_opened(&g, &memory);
            const wte_tensor t = tensor_of(f, 0);
            assert_int_equal(t.dtype, plain[i].dtype);
            assert_int_equal(t.block, WTE_BLOCK_NONE);
            assert_int_equal(t.big_endian, big != 0 && size > 1);
            assert_string_equal(wte_type_name(t.dtype, t.block), wte_dtype_name(plain[i].dtype));
            const wte_row_source rows = rows_of(f, 0);
            assert_int_equal(rows.data == NULL, big != 0 && size > 1);
            assert_ok(wte_row_source_read(&rows, 1, row, &err), err);
            assert_ok(wte_convert(rows.dtype, row, WTE_F64, value, 3, NULL, &err), err);
            assert_true(value[0] == 0 && value[1] == -1 && value[2] == 0);
            wte_file_free(f);
            g_free(&g, memory);
        }
    g.big = false;
}

/* 40 rows of two q8_0 blocks: scale 2^-row, numbers row - column. */
static void put_q8_0_table(bool big)
{
    g.big = big;
    g_begin(&g, 1, 0);
    g_tensor(&g, "token_embd.weight", 64, 40, WTE_BLOCK_Q8_0, 0);
    g_pad(&g, 32);
    for (int row = 0; row < 40; row++)
        for (int block = 0; block < 2; block++) {
            g_number(&g, (uint64_t)(15 - row % 8) << 10, 2);
            for (int c = 0; c < 32; c++) g_number(&g, (uint8_t)(row - 32 * block - c), 1);
        }
    g.big = false;
}

static float q8_0_at(uint64_t row, int col)
{
    return (float)((int)row - col) / (float)(1 << row % 8);
}

static void check_q8_0(const wte_file *f)
{
    static float out[40 * 64];
    static uint64_t ids[40];
    wte_error err;
    const wte_tensor t = tensor_of(f, 0);
    assert_int_equal(t.dtype, WTE_DTYPE_NONE);
    assert_int_equal(t.block, WTE_BLOCK_Q8_0);
    assert_int_equal(t.bytes, 40 * 2 * 34);
    assert_string_equal(wte_type_name(t.dtype, t.block), "q8_0");
    const wte_row_source rows = rows_of(f, 0);
    assert_int_equal(rows.rows, 40);
    assert_int_equal(rows.cols, 64);
    assert_int_equal(rows.dtype, WTE_F32);
    assert_null(rows.data);
    assert_ok(rows.read_block(rows.ctx, 0, 40, out, &err), err);
    for (uint64_t r = 0; r < 40; r++)
        for (int c = 0; c < 64; c++) assert_true(out[r * 64 + (uint64_t)c] == q8_0_at(r, c));
    /* few rows (out of a map, if there is one) and many */
    for (size_t n = 1; n <= 40; n += 13) {
        for (size_t i = 0; i < n; i++) ids[i] = (i * 7 + i / 3) % 40;
        memset(out, 0x7f, sizeof out);
        assert_ok(rows.read_rows(rows.ctx, ids, n, out, &err), err);
        for (size_t i = 0; i < n; i++)
            for (int c = 0; c < 64; c++) assert_true(out[i * 64 + (size_t)c] == q8_0_at(ids[i], c));
    }
}

static void blocks_come_out_decoded(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[256];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    for (int big = 0; big < 2; big++) {
        void *memory;
        put_q8_0_table(big != 0);
        wte_file *f = g_opened(&g, &memory);
        check_q8_0(f);
        wte_file_free(f);
        g_free(&g, memory);
        test_write_file(path, g.data, g.n);
        for (uint32_t copy = 0; copy < 2; copy++) {
            wte_error err;
            wte_file_options opt = WTE_FILE_OPTIONS_INIT;
            opt.copy = copy;
            assert_ok(wte_file_open(path, &opt, &f, &err), err);
            check_q8_0(f);
            wte_file_free(f);
        }
    }
    test_scratch_remove(dir);
}

/* Rows so long that a piece of the file holds only a part of one. */
static void long_rows_of_blocks_are_read_in_pieces(void **state)
{
    (void)state;
    enum { COLS = 32 * 1200 };
    static float out[COLS];
    void *memory;
    wte_error err;
    g_begin(&g, 1, 0);
    g_shape(&g, "t", 1, COLS, 0); /* one row, since blocks lie along it */
    g_u32(&g, WTE_BLOCK_Q8_0);
    g_u64(&g, 0);
    g_pad(&g, 32);
    for (int block = 0; block < 1200; block++) {
        g_number(&g, 0x3c00, 2);
        for (int c = 0; c < 32; c++) g_number(&g, (uint8_t)(block + c), 1);
    }
    wte_file *f = g_opened(&g, &memory);
    const wte_row_source rows = rows_of(f, 0);
    assert_int_equal(rows.rows, 1);
    assert_int_equal(rows.cols, COLS);
    assert_ok(rows.read_block(rows.ctx, 0, 1, out, &err), err);
    for (int i = 0; i < COLS; i++) assert_true(out[i] == (float)(int8_t)(uint8_t)(i / 32 + i % 32));
    wte_file_free(f);
    g_free(&g, memory);
}

static void a_file_cut_later_is_told(void **state)
{
    (void)state;
    const char *dir = test_scratch();
    char path[256];
    float out[64 * 20];
    uint64_t ids[20];
    wte_error err = { 0 };
    wte_file *f;
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    put_q8_0_table(false);
    test_write_file(path, g.data, g.n);
    assert_ok(wte_file_open(path, NULL, &f, &err), err);
    const wte_row_source rows = rows_of(f, 0);
    assert_int_equal(truncate(path, (off_t)g.n - 68), 0);
    for (uint64_t i = 0; i < 20; i++) ids[i] = 20 + i;
    assert_fails(rows.read_rows(rows.ctx, ids, 20, out, &err), err, WTE_E_FORMAT, g.n - 68,
                 "t.gguf");
    wte_file_free(f);
    test_scratch_remove(dir);
}

/* Metadata ------------------------------------------------------------------------------------- */

static void put_metadata(void)
{
    static const float real = -0.1f;
    uint64_t bits = 0x3fb999999999999a; /* 0.1 */
    g_begin(&g, 1, 14);
    g_key(&g, "u8", WTE__GGUF_U8);
    g_number(&g, 200, 1);
    g_key(&g, "i8", WTE__GGUF_I8);
    g_number(&g, 0x80, 1);
    g_key(&g, "u16", WTE__GGUF_U16);
    g_number(&g, 65535, 2);
    g_key(&g, "i16", WTE__GGUF_I16);
    g_number(&g, 0xfffe, 2);
    g_pair_u32(&g, "u32", 4000000000);
    g_key(&g, "i32", WTE__GGUF_I32);
    g_u32(&g, 0xffffffff);
    g_key(&g, "f32", WTE__GGUF_F32);
    g_float(&g, real);
    g_key(&g, "yes", WTE__GGUF_BOOL);
    g_number(&g, 1, 1);
    g_pair_text(&g, "text", "a longer one");
    g_pair_text(&g, "empty", "");
    g_array(&g, "list", WTE__GGUF_STRING, 2);
    g_text(&g, "x");
    g_text(&g, "");
    g_key(&g, "u64", WTE__GGUF_U64);
    g_u64(&g, UINT64_MAX);
    g_key(&g, "i64", WTE__GGUF_I64);
    g_u64(&g, UINT64_C(1) << 63);
    g_key(&g, "f64", WTE__GGUF_F64);
    g_u64(&g, bits);
    g_tensor(&g, "t", 1, 1, 24, 0);
    g_data(&g, 1);
}

static void metadata_are_texts(void **state)
{
    (void)state;
    static const char *const want[][2] = {
        { "u8", "200" },
        { "i8", "-128" },
        { "u16", "65535" },
        { "i16", "-2" },
        { "u32", "4000000000" },
        { "i32", "-1" },
        { "f32", "-0.100000001" },
        { "yes", "true" },
        { "text", "a longer one" },
        { "empty", "" },
        { "list", "[2 x string]" },
        { "u64", "18446744073709551615" },
        { "i64", "-9223372036854775808" },
        { "f64", "0.10000000000000001" },
    };
    for (int big = 0; big < 2; big++) {
        void *memory;
        g.big = big != 0;
        put_metadata();
        g.big = false;
        wte_file *f = g_opened(&g, &memory);
        for (uint64_t i = 0; i < 14; i++) {
            const char *value = NULL;
            assert_string_equal(wte_file_metadata(f, i, &value), want[i][0]);
            assert_string_equal(value, want[i][1]);
        }
        assert_null(wte_file_metadata(f, 14, NULL));
        assert_string_equal(tensor_of(f, 0).name, "t");
        wte_file_free(f);
        g_free(&g, memory);
    }
}

static void metadata_are_read_by_type(void **state)
{
    (void)state;
    void *memory;
    wte_error err = { 0 };
    uint64_t n;
    double x;
    wte__bytes text;
    bool found;
    put_metadata();
    wte_file *f = g_opened(&g, &memory);
    const wte__gguf *m = wte__file_gguf(f);
    assert_ok(wte__gguf_count(m, "u8", &n, &found, &err), err);
    assert_true(found && n == 200);
    assert_ok(wte__gguf_count(m, "u64", &n, &found, &err), err);
    assert_true(found && n == UINT64_MAX);
    assert_ok(wte__gguf_count(m, "absent", &n, &found, &err), err);
    assert_true(!found && n == 0);
    assert_fails(wte__gguf_count(m, "i16", &n, &found, &err), err, WTE_E_FORMAT,
                 wte__gguf_find(m, "i16")->at, "key 'i16' is -2, but must not be negative");
    assert_fails(wte__gguf_count(m, "f32", &n, &found, &err), err, WTE_E_FORMAT,
                 wte__gguf_find(m, "f32")->at, "key 'f32' is f32, but must be an integer");
    assert_fails(wte__gguf_count(m, "list", &n, &found, &err), err, WTE_E_FORMAT,
                 wte__gguf_find(m, "list")->at, "key 'list' is array, but must be an integer");
    assert_ok(wte__gguf_number(m, "f32", &x, &found, &err), err);
    assert_true(found && x == (double)-0.1f);
    assert_ok(wte__gguf_number(m, "f64", &x, &found, &err), err);
    assert_true(found && x == 0.1);
    assert_fails(wte__gguf_number(m, "u8", &x, &found, &err), err, WTE_E_FORMAT,
                 wte__gguf_find(m, "u8")->at, "key 'u8' is u8, but must be f32 or f64");
    assert_ok(wte__gguf_text(m, "text", &text, &found, &err), err);
    assert_true(found && text.size == 12);
    assert_memory_equal(text.data, "a longer one", 12);
    assert_fails(wte__gguf_text(m, "yes", &text, &found, &err), err, WTE_E_FORMAT,
                 wte__gguf_find(m, "yes")->at, "key 'yes' is bool, but must be a string");
    wte_file_free(f);
    g_free(&g, memory);
    g_begin(&g, 0, 1);
    g_key(&g, "nan", WTE__GGUF_F32);
    g_u32(&g, 0x7fc00000);
    f = g_opened(&g, &memory);
    assert_fails(wte__gguf_number(wte__file_gguf(f), "nan", &x, &found, &err), err, WTE_E_FORMAT,
                 39, "key 'nan' is no finite number");
    wte_file_free(f);
    g_free(&g, memory);
}

/* Tokens --------------------------------------------------------------------------------------- */

/* Four tokens, their scores and kinds. */
static void put_tokens(const char *model, const char *const *texts, const uint32_t *kinds)
{
    g_begin(&g, 0, 4);
    g_pair_text(&g, "tokenizer.ggml.model", model);
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, 4);
    for (int i = 0; i < 4; i++) g_text(&g, texts[i]);
    g_array(&g, "tokenizer.ggml.scores", WTE__GGUF_F32, 4);
    for (int i = 0; i < 4; i++) g_float(&g, (float)-i);
    g_array(&g, "tokenizer.ggml.token_type", WTE__GGUF_I32, 4);
    for (int i = 0; i < 4; i++) g_u32(&g, kinds[i]);
}

static void tokens_come_with_kind_and_score(void **state)
{
    (void)state;
    static const char *const texts[] = { "<unk>", "\xe2\x96\x81the", "", "<0x0A>" };
    static const uint32_t kinds[] = { 2, 1, 0, 6 };
    for (int big = 0; big < 2; big++) {
        void *memory;
        wte_error err;
        const wte_token_list *tokens;
        g.big = big != 0;
        put_tokens("llama", texts, kinds);
        g.big = false;
        wte_file *f = g_opened(&g, &memory);
        assert_ok(wte_file_tokens(f, &tokens, &err), err);
        assert_int_equal(tokens->n, 4);
        assert_int_equal(tokens->form, WTE_FORM_METASPACE);
        assert_true(tokens->scored);
        for (uint64_t i = 0; i < 4; i++) {
            const wte__bytes text = wte__token_list_text(tokens, i);
            assert_int_equal(text.size, strlen(texts[i]));
            assert_memory_equal(text.data, texts[i], text.size);
            assert_int_equal(tokens->tag[i], kinds[i] ? kinds[i] : WTE_TAG_NORMAL);
            assert_true(tokens->score[i] == -(float)i);
        }
        wte_file_free(f);
        g_free(&g, memory);
    }
}

static void berts_own_spelling_comes_back(void **state)
{
    (void)state;
    static const uint32_t kinds[] = { 3, 1, 1, 1 };
    static const struct {
        const char *stored[4], *own[4];
    } cases[] = {
        { { "[CLS]", "\xe2\x96\x81the", "ing", "\xe2\x96\x81" },
          { "[CLS]", "the", "##ing", "##\xe2\x96\x81" } },
        { { "[CLS]", "the", "##ing", "a" }, { "[CLS]", "the", "##ing", "a" } },
        { { "[CLS]", "the", "ing", "a" }, { "[CLS]", "the", "ing", "a" } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        void *memory;
        wte_error err;
        const wte_token_list *tokens;
        put_tokens("bert", cases[k].stored, kinds);
        wte_file *f = g_opened(&g, &memory);
        assert_ok(wte_file_tokens(f, &tokens, &err), err);
        assert_int_equal(tokens->form, WTE_FORM_WORDPIECE);
        for (uint64_t i = 0; i < 4; i++) {
            const wte__bytes text = wte__token_list_text(tokens, i);
            assert_int_equal(text.size, strlen(cases[k].own[i]));
            assert_memory_equal(text.data, cases[k].own[i], text.size);
            assert_int_equal(tokens->tag[i], kinds[i]);
            assert_true(tokens->score[i] == -(float)i);
        }
        wte_file_free(f);
        g_free(&g, memory);
    }
}

static void every_tokenizer_has_its_spelling(void **state)
{
    (void)state;
    static const char *const texts[] = { "a", "b", "c", "d" };
    static const uint32_t kinds[] = { 1, 1, 1, 1 };
    static const struct {
        const char *model;
        wte__token_form form;
    } cases[] = {
        { "gpt2", WTE_FORM_BYTE_LEVEL }, { "llama", WTE_FORM_METASPACE },
        { "t5", WTE_FORM_METASPACE },    { "gemma4", WTE_FORM_METASPACE },
        { "rwkv", WTE_FORM_PLAIN },      { "something else", WTE_FORM_GUESS },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        void *memory;
        wte_error err;
        const wte_token_list *tokens;
        put_tokens(cases[k].model, texts, kinds);
        wte_file *f = g_opened(&g, &memory);
        assert_ok(wte_file_tokens(f, &tokens, &err), err);
        assert_int_equal(tokens->form, cases[k].form);
        wte_file_free(f);
        g_free(&g, memory);
    }
}

/* Tokens of a file with one array more, which the caller has put. The file opens all the same. */
static void tokens_refused(const char *message)
{
    void *memory;
    wte_error err = { 0 };
    const wte_token_list *tokens;
    wte_file *f = g_opened(&g, &memory);
    assert_fails(wte_file_tokens(f, &tokens, &err), err, WTE_E_FORMAT, g.mark, message);
    assert_null(tokens);
    wte_file_free(f);
    g_free(&g, memory);
}

static void begin_tokens(void)
{
    g_begin(&g, 0, 2);
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_STRING, 2);
    g_text(&g, "a");
    g_text(&g, "b");
}

/* PAINS F2: arrays read with another element's size. */
static void arrays_have_their_type_and_length(void **state)
{
    (void)state;
    begin_tokens();
    g_array(&g, "tokenizer.ggml.token_type", WTE__GGUF_U8, 2);
    g_mark(&g);
    g_raw(&g, "\1\1", 2);
    tokens_refused(
        "key 'tokenizer.ggml.token_type' is an array of u8, but must be an array of i32");
    begin_tokens();
    g_array(&g, "tokenizer.ggml.token_type", WTE__GGUF_I32, 1);
    g_mark(&g);
    g_u32(&g, 1);
    tokens_refused("key 'tokenizer.ggml.token_type' has 1 elements, but there are 2 tokens");
    begin_tokens();
    g_array(&g, "tokenizer.ggml.token_type", WTE__GGUF_I32, 2);
    g_u32(&g, 1);
    g_mark(&g);
    g_u32(&g, 7);
    tokens_refused("tokenizer.ggml.token_type[1] is 7, but kinds go from 1 to 6");
    begin_tokens();
    g_array(&g, "tokenizer.ggml.scores", WTE__GGUF_F64, 2);
    g_mark(&g);
    g_u64(&g, 0);
    g_u64(&g, 0);
    tokens_refused("key 'tokenizer.ggml.scores' is an array of f64, but must be an array of f32");
    begin_tokens();
    g_key(&g, "tokenizer.ggml.scores", WTE__GGUF_F32);
    g_mark(&g);
    g_u32(&g, 0);
    tokens_refused("key 'tokenizer.ggml.scores' is f32, but must be an array of f32");
    begin_tokens();
    g_key(&g, "tokenizer.ggml.model", WTE__GGUF_U32);
    g_mark(&g);
    g_u32(&g, 0);
    tokens_refused("key 'tokenizer.ggml.model' is u32, but must be a string");
    g_begin(&g, 0, 1);
    g_array(&g, "tokenizer.ggml.tokens", WTE__GGUF_U8, 2);
    g_mark(&g);
    g_raw(&g, "ab", 2);
    tokens_refused("key 'tokenizer.ggml.tokens' is an array of u8, but must be an array of string");
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    static const char *const texts[] = { "[CLS]", "\xe2\x96\x81the", "ing", "\xe2\x96\x81" };
    static const uint32_t kinds[] = { 3, 1, 1, 1 };
    wte_status status = WTE_E_MEMORY;
    size_t failed = 0;
    put_tokens("bert", texts, kinds);
    g.data[8] = 2; /* and two tensors */
    g_tensor(&g, "a", 32, 2, WTE_BLOCK_Q8_0, 0);
    g_tensor(&g, "b", 3, 1, 0, 96);
    g_data(&g, 128);
    for (; status == WTE_E_MEMORY; failed++) {
        void *memory;
        test_memory m;
        wte_error err = { 0 };
        wte_file *f;
        wte_file_options opt = WTE_FILE_OPTIONS_INIT;
        test_memory_init(&m, failed);
        opt.allocator = &m.allocator;
        status = g_open(&g, &opt, &memory, &f, &err);
        if (status != WTE_OK) assert_int_equal(err.status, WTE_E_MEMORY);
        wte_file_free(f);
        assert_int_equal(m.live, 0);
        g_free(&g, memory);
    }
    assert_int_equal(status, WTE_OK);
    assert_true(failed > 15);
}

static const struct CMUnitTest tests[] = {
    TEST("the first dimension is the width, and dimensions of 1 do not matter",
         the_first_dimension_is_the_width),
    TEST("scalars, lists, cubes and empty tables are listed", other_shapes_are_listed),
    TEST("types without blocks come out in either byte order",
         plain_types_come_out_in_either_byte_order),
    TEST("blocks come out decoded, by row and by block, mapped and read", blocks_come_out_decoded),
    TEST("long rows of blocks are read in pieces", long_rows_of_blocks_are_read_in_pieces),
    TEST("a file that is cut after it was opened is told", a_file_cut_later_is_told),
    TEST("metadata are texts", metadata_are_texts),
    TEST("metadata are read by type, and by no other", metadata_are_read_by_type),
    TEST("tokens come with their kinds and scores", tokens_come_with_kind_and_score),
    TEST("BERT's own spelling comes back", berts_own_spelling_comes_back),
    TEST("every tokenizer has its spelling", every_tokenizer_has_its_spelling),
    TEST("arrays of tokens have the type and the length that they must have",
         arrays_have_their_type_and_length),
    TEST("every allocation may fail, and nothing leaks", memory_may_end_anywhere),
};
TEST_MAIN(tests)
