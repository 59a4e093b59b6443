/* Quantised tables that are read: values by hand and by the packages that packed them, ties between
 * them, traces, and what happens when memory is out. tests/oracle_quant.py has every scheme at
 * other sizes; test_quant_bad.c what is refused. */
#include "quant_help.h"

#include <math.h>
#include <wte/inspect.h>

static void assert_values(const quantised *q, const char *scheme, uint64_t rows, uint64_t dim,
                          const float *want)
{
    float got[256];
    wte_error err = { 0 };
    wte_model *m = q_open(q);
    const wte_model_table *t = q_input(m);
    assert_string_equal(t->scheme, scheme);
    assert_int_equal(t->rows, rows);
    assert_int_equal(t->dim, dim);
    assert_int_equal(t->dtype, WTE_F32);
    assert_int_equal(t->block, WTE_BLOCK_NONE);
    assert_int_equal(t->row_bytes, 0);
    assert_true(rows * dim <= 256);
    assert_ok(wte_row_source_read_block(&t->source, 0, rows, got, &err), err);
    assert_memory_equal(got, want, rows * dim * sizeof *got);
    memset(got, 0, sizeof got);
    for (uint64_t i = rows; i-- > 0;)
        assert_ok(wte_row_source_read(&t->source, i, got + i * dim, &err), err);
    assert_memory_equal(got, want, rows * dim * sizeof *got);
    wte_model_free(m);
}

static void gptq_by_hand(void **state)
{
    (void)state;
    float want[64];
    /* of the last row the stored zero is 15: one more is 0 again; and its first code is 15 */
    for (int v = 0; v < 8; v++)
        for (int d = 0; d < 8; d++) want[v * 8 + d] = 0.5F * (float)(d - (v == 7 ? 0 : 7));
    want[56] = 7.5F;
    quantised q = q_gptq();
    assert_values(&q, "gptq 4 bits, one scale a row", 8, 8, want);
    q.n = 3; /* without g_idx */
    assert_values(&q, "gptq 4 bits, one scale a row", 8, 8, want);
    for (int i = 0; i < 56; i++) want[i] += 0.5F;
    for (int i = 56; i < 64; i++) want[i] -= 7.5F;
    q.config = "{\"quantization_config\":{\"bits\":4,\"quant_method\":\"gptq\",\"group_size\":8,"
               "\"checkpoint_format\":\"gptq_v2\"}}";
    assert_values(&q, "gptq v2 4 bits, one scale a row", 8, 8, want);
}

static void awq_by_hand(void **state)
{
    (void)state;
    /* the fields of a word are its rows 0 2 4 6 1 3 5 7; zeros 1 0 0 0 0 0 0 1 */
    static const float want[16] = { -1, 0, 4, 1, 1, 1, 5, 1, 2, 1, 6, 1, 3, 1, 12, 0 };
    const quantised q = q_awq();
    assert_values(&q, "awq gemm 4 bits, one scale a row", 8, 2, want);
}

static void nf4_by_hand(void **state)
{
    (void)state;
    static const float want[6] = { -2, 1.75F, -0.25F, 0, -1.75F, 1.5F };
    const quantised q = q_nf4(NF4_STATE);
    assert_values(&q, "bitsandbytes nf4, blocks of 64", 2, 3, want);
}

static void mlx_by_hand(void **state)
{
    (void)state;
    float want[128];
    for (int i = 0; i < 128; i++) want[i] = i < 96 ? 0 : -2;
    quantised q = q_mlx();
    assert_values(&q, "mlx affine 2 bits, groups of 32", 2, 64, want);
    q.config =
        "{\"quantization\":{\"bits\":8,\"model.embed_tokens\":{\"bits\":2,\"group_size\":32},"
        "\"model.norm\":{\"bits\":3}}}";
    assert_values(&q, "mlx affine 2 bits, groups of 32", 2, 64, want);
    /* no config: 4 words and 2 scales a row are two bits of 32 columns, and nothing else */
    q.config = NULL;
    assert_values(&q, "mlx affine 2 bits, groups of 32", 2, 64, want);
}

static void packed_by_hand(void **state)
{
    (void)state;
    float want[16];
    for (int i = 0; i < 8; i++) {
        want[i] = (float)(i - 8);
        want[8 + i] = (float)(2 * i);
    }
    const quantised q = q_packed();
    assert_values(&q, "compressed-tensors 4 bits, one scale a row", 2, 8, want);
}

static void hqq_by_hand(void **state)
{
    (void)state;
    static const float want[8] = { 1, 2, 3, 4, 5, 6, 0, 2 };
    const quantised q = q_hqq();
    assert_values(&q, "hqq 4 bits, groups of 2", 4, 2, want);
}

/* Tables that a package packed, against what it makes of them. */
static void assert_golden(const char *kind, const char *suffix, const char *const *names, size_t n)
{
    wte_error err = { 0 };
    char dir[64], tensor[64], expected[64];
    float got[1024], want[1024];
    snprintf(dir, sizeof dir, "quant/%s", kind);
    for (size_t i = 0; i < 2 * n; i++) {
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m;
        uint64_t at;
        snprintf(tensor, sizeof tensor, "%s%s", names[i / 2], suffix);
        snprintf(expected, sizeof expected, "%s.expected", names[i / 2]);
        opt.tensor = tensor;
        opt.copy = i % 2;
        assert_ok(wte_model_open(test_data(dir), &opt, &m, &err), err);
        const wte_model_table *t = q_input(m);
        const uint64_t bytes = t->rows * t->dim * sizeof *got;
        assert_non_null(t->scheme);
        assert_true(bytes <= sizeof got && bytes > 0);
        assert_ok(wte_row_source_read_block(&t->source, 0, t->rows, got, &err), err);
        const wte_file *f = wte_model_file(m);
        assert_ok(wte_file_find(f, expected, strlen(expected), &at, &err), err);
        assert_ok(wte_file_read(f, at, 0, want, bytes, &err), err);
        for (size_t k = 0; k < bytes / sizeof *got; k++)
            if (got[k] != want[k])
                fail_msg("%s %s: value %zu is %g, not %g", kind, tensor, k, (double)got[k],
                         (double)want[k]);
        wte_model_free(m);
    }
}

static void tables_of_packages(void **state)
{
    (void)state;
    static const char *const mlx[] = { "affine2", "affine3", "affine4", "affine5", "affine6",
                                       "affine8", "mxfp4",   "mxfp8",   "nvfp4" };
    static const char *const all[] = { "b1", "b2", "b3", "b4", "b5", "b6", "b8" };
    static const char *const hqq[] = { "b1", "b2", "b3", "b4", "b8" };
    static const char *const one[] = { "t" };
    assert_golden("mlx", ".weight", mlx, 9);
    assert_golden("awq", ".qweight", one, 1);
    assert_golden("compressed", ".weight_packed", all, 7);
    assert_golden("hqq", ".W_q", hqq, 5);
}

/* What quantising tools write beside the config stands in for it. */
static void files_beside_the_config(void **state)
{
    (void)state;
    const quantised q = q_gptq();
    const char *dir = make_model("{\"model_type\":\"llama\"}", q.t, q.n);
    wte_error err = { 0 };
    const wte_model_table *t;
    wte_model *m = open_model(dir);
    assert_fails(wte_model_input(m, &t, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "'checkpoint_format' of quantization_config in config.json is needed, and nothing "
                 "is said");
    wte_model_free(m);
    write_text(dir, "quantize_config.json", "{\"bits\":4,\"group_size\":128}");
    m = open_model(dir);
    assert_string_equal(q_input(m)->scheme, "gptq 4 bits, one scale a row");
    wte_model_free(m);
    write_text(dir, "quantize_config.json", "{\"bits\":4,");
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, 10,
                 "quantize_config.json: not valid JSON");
    write_text(dir, "quantize_config.json", "[]");
    assert_fails(wte_model_open(dir, NULL, &m, &err), err, WTE_E_FORMAT, 0,
                 "a config is an object in braces");
    test_scratch_remove(dir);
    dir = make_model("{\"text_config\":{\"quantization_config\":{\"quant_method\":\"gptq\"}},"
                     "\"quantization\":[{}],\"llm_config\":3}",
                     q.t, 3);
    m = open_model(dir);
    assert_string_equal(q_input(m)->scheme, "gptq 4 bits, one scale a row");
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* Ties ----------------------------------------------------------------------------------------- */

/* Two mlx tables; the head's own scales and biases, or NULL for the input's. */
static void assert_tie(const void *words, const float *scales, const float *biases,
                       wte_tie_verdict verdict, const char *why)
{
    quantised q = q_mlx();
    const quantised input = q;
    q_put(&q, "lm_head.weight", "U32", 2, 4, words ? words : input.t[0].data);
    q_put(&q, "lm_head.scales", "F32", 2, 2, scales ? scales : input.t[1].data);
    q_put(&q, "lm_head.biases", "F32", 2, 2, biases ? biases : input.t[2].data);
    wte_model *m = q_open(&q);
    wte_error err = { 0 };
    wte_tie tie;
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_string_equal(wte_tie_name(tie.verdict), wte_tie_name(verdict));
    if (!strstr(tie.why, why)) fail_msg("'%s' does not contain '%s'", tie.why, why);
    assert_false(tie.experiment_ran);
    assert_string_equal(tie.skip_reason,
                        "elements of type mlx affine 2 bits, groups of 32 are not changed here");
    if (verdict == WTE_TIE_EQUAL_BYTES) assert_int_equal(tie.wasted_bytes, 32 + 16 + 16);
    wte_model_free(m);
}

static void ties_by_every_part(void **state)
{
    (void)state;
    static const float other[4] = { -1, -1, -1, -2 };
    /* codes 1 and scales 1 mean what codes 2 and scales 0.5 do */
    static const float one[4] = { 1, 1, 1, 1 };
    static uint32_t words[8];
    for (int i = 0; i < 8; i++) words[i] = 0x55555555;
    assert_tie(NULL, NULL, NULL, WTE_TIE_EQUAL_BYTES,
               "two copies of the same bytes: 64 are wasted");
    assert_tie(NULL, NULL, other, WTE_TIE_INDEPENDENT,
               "1 of 2 rows differ, the first is row 1, the largest difference 1 at [1, 32]");
    assert_tie(
        words, one, NULL, WTE_TIE_EQUAL_VALUES,
        "stored as mlx affine 2 bits, groups of 32 and as mlx affine 2 bits, groups of 32 in "
        "other bytes");
}

static void tie_with_a_plain_head(void **state)
{
    (void)state;
    static float plain[128];
    for (int i = 96; i < 128; i++) plain[i] = -2;
    quantised q = q_mlx();
    q_put(&q, "lm_head.weight", "F32", 2, 64, plain);
    wte_model *m = q_open(&q);
    wte_error err = { 0 };
    wte_tie tie;
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_int_equal(tie.verdict, WTE_TIE_EQUAL_VALUES);
    assert_non_null(strstr(tie.why, "stored as mlx affine 2 bits, groups of 32 and as f32"));
    wte_model_free(m);
}

/* A head that is not read leaves the input table as it is. */
static void a_head_that_is_not_read(void **state)
{
    (void)state;
    static const float table[64] = { 1 };
    quantised q = q_gptq();
    q.config = "{\"quantization_config\":{\"quant_method\":\"gptq\",\"checkpoint_format\":"
               "\"gptq_p\"}}";
    q_put(&q, "model.embed_tokens.weight", "F32", 8, 8, table);
    wte_model *m = q_open(&q);
    wte_error err = { 0 };
    wte_tie tie;
    assert_null(q_input(m)->scheme);
    assert_null(wte_model_head(m));
    assert_non_null(strstr(wte_model_head_problem(m), "'lm_head.qweight': unsupported: gptq_p"));
    assert_fails(wte_model_tie(m, NULL, &tie, &err), err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                 "unsupported: gptq_p");
    wte_model_free(m);
    q = q_gptq();
    q_put(&q, "model.embed_tokens.weight", "F32", 8, 8, table);
    m = q_open(&q);
    assert_string_equal(wte_model_head_problem(m), "");
    assert_string_equal(wte_model_head(m)->scheme, "gptq 4 bits, one scale a row");
    wte_model_free(m);
}

/* Trace ---------------------------------------------------------------------------------------- */

static void a_row_is_traced(void **state)
{
    (void)state;
    const quantised q = q_nf4(NF4_STATE);
    const char *dir = make_model(NULL, q.t, q.n);
    wte_model *m = open_model(dir);
    wte_error err = { 0 };
    wte_trace *t;
    assert_ok(wte_model_trace(m, 1, NULL, &t, &err), err);
    assert_string_equal(t->scheme, "bitsandbytes nf4, blocks of 64");
    assert_true(t->begin == WTE_NO_INDEX && t->f32[2] == 1.5F);
    assert_int_equal(t->same_bytes, WTE_PROOF_HOLDS);
    assert_int_equal(t->one_hot, WTE_PROOF_HOLDS);
    assert_non_null(strstr(t->same_bytes_why, "made again of several places of model.safetensors"));
    wte_trace_free(t);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* Memory --------------------------------------------------------------------------------------- */

/* Opening with every single allocation failing in turn; nothing leaks, and the table is read when
 * none fails. */
static void assert_survives(const quantised *q)
{
    const char *dir = make_model(q->config, q->t, q->n);
    bool done = false;
    for (size_t i = 0; !done; i++) {
        test_memory memory;
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m = NULL;
        wte_error err = { 0 };
        test_memory_init(&memory, i);
        opt.allocator = &memory.allocator;
        const wte_status status = wte_model_open(dir, &opt, &m, &err);
        done = memory.calls <= i;
        if (!done) assert_int_equal(status, WTE_E_MEMORY);
        if (done) assert_non_null(q_input(m)->scheme);
        wte_model_free(m);
        assert_int_equal(memory.live, 0);
        assert_true(i < 200);
    }
    test_scratch_remove(dir);
}

static void memory_that_is_out(void **state)
{
    (void)state;
    static const int32_t index[8] = { 1, 0, 1, 0, 1, 0, 1, 0 };
    static const uint32_t zeros[2] = { 0x66666666, 0x66666666 };
    quantised q = q_gptq();
    q_find(&q, ".g_idx")->data = index;
    q_find(&q, ".qzeros")->rows = 2;
    q_find(&q, ".qzeros")->data = zeros;
    stored *scales = q_find(&q, ".scales");
    scales->rows = 2;
    scales->data = NULL;
    assert_survives(&q);
    q = q_nf4(NF4_STATE);
    assert_survives(&q);
    q = q_mlx();
    q.config =
        "{\"quantization\":{\"bits\":8,\"mode\":\"affine\",\"model.embed_tokens\":{\"bits\":2,"
        "\"group_size\":32,\"mode\":\"affine\"}}}";
    assert_survives(&q);
}

static const struct CMUnitTest tests[] = {
    TEST("gptq: fields run down a column, zeros are one less than meant", gptq_by_hand),
    TEST("awq: a word holds eight rows in an order of its own", awq_by_hand),
    TEST("nf4: the high half of a byte comes first", nf4_by_hand),
    TEST("mlx: a row is one stream, and the config may name the module", mlx_by_hand),
    TEST("compressed-tensors: a field is stored half its range higher", packed_by_hand),
    TEST("hqq: a byte holds rows that lie half a table apart", hqq_by_hand),
    TEST("tables packed by the packages themselves mean what these say", tables_of_packages),
    TEST("a quantiser's own config stands in for config.json", files_beside_the_config),
    TEST("tables are equal in bytes only when all their parts are", ties_by_every_part),
    TEST("a quantised table can equal a plain one in values", tie_with_a_plain_head),
    TEST("a head that is not read is told, and hides nothing else", a_head_that_is_not_read),
    TEST("a row is traced to the several places it is made of", a_row_is_traced),
    TEST("memory that is out at any point is told, and none leaks", memory_that_is_out),
};
TEST_MAIN(tests)
