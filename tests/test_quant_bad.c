/* Quantised tables that are refused: schemes that are named and not read, shapes that fit two
 * readings, parts that are missing or do not fit each other. */
#include "quant_help.h"

#define FORMAT      WTE_E_FORMAT
#define UNSUPPORTED WTE_E_UNSUPPORTED

static const char *method(const char *text)
{
    static char config[256];
    snprintf(config, sizeof config, "{\"quantization_config\":{%s}}", text);
    return config;
}

static void refused_with(quantised q, const char *said, const char *part)
{
    q.config = method(said);
    q_refused(&q, UNSUPPORTED, part);
}

static void schemes_that_are_named(void **state)
{
    (void)state;
    refused_with(q_gptq(), "\"quant_method\":\"gptq\",\"checkpoint_format\":\"gptq_p\"",
                 "'lm_head.qweight': unsupported: gptq_p");
    refused_with(q_gptq(), "\"quant_method\":\"gptq\",\"checkpoint_format\":\"marlin\"",
                 "unsupported: gptq in the form marlin");
    refused_with(q_gptq(), "\"quant_method\":\"auto-round\"", "unsupported: auto-round");
    refused_with(q_awq(), "\"quant_method\":\"awq\",\"version\":\"gemv_fast\"",
                 "unsupported: awq gemv_fast");
    refused_with(q_awq(), "\"quant_method\":\"awq\",\"version\":\"gemm\",\"bits\":8",
                 "unsupported: awq with 8 bits");
    refused_with(q_packed(), "\"quant_method\":\"modelopt\"", "unsupported: modelopt");
    refused_with(q_mlx(), "\"mode\":\"mxfp4\"", "unsupported: mlx mxfp4 with biases");
    refused_with(q_mlx(), "\"bits\":7", "unsupported: mlx affine with 7 bits");
    quantised q = q_gptq();
    q_find(&q, ".qzeros")->name = "lm_head.other";
    q_refused(&q, UNSUPPORTED, "unsupported: gptq qweight without qzeros");
    q = q_gptq();
    q_find(&q, ".qweight")->dtype = "I16";
    q_find(&q, ".qweight")->element = 2;
    q_refused(&q, UNSUPPORTED, "with words of 16 bits (gemv_fast)");
}

/* Counts of columns that agree once rounded, though no whole groups come of them. */
static void mlx_columns_that_make_no_groups_are_refused(void **state)
{
    (void)state;
    quantised q = q_mlx();
    q.config = NULL;
    q_find(&q, ".weight")->cols = 9;
    q_find(&q, ".weight")->data = NULL;
    q_refused(&q, FORMAT,
              "'model.embed_tokens.weight' has 9 columns, which with 2 of "
              "'model.embed_tokens.scales' make no whole table");
    q.config = "{\"quantization\":{\"bits\":2,\"group_size\":65}}";
    q_find(&q, ".weight")->cols = 8;
    q_refused(&q, FORMAT,
              "'model.embed_tokens.weight' has 8 columns, which with 2 of "
              "'model.embed_tokens.scales' make no whole table");
}

/* One tensor of codes, and perhaps one beside it. */
static void assert_codes(const char *name, const char *dtype, const char *beside,
                         const char *config, const char *part)
{
    quantised q = { { { 0 } }, 0, config };
    q_put(&q, name, dtype, 8, 8, NULL);
    if (beside) q_put(&q, beside, "F32", 8, 1, NULL);
    q_refused(&q, UNSUPPORTED, part);
}

static void assert_blocks(const char *dtype, uint64_t scale_rows, wte_status status,
                          const char *part)
{
    quantised q = { { { 0 } }, 0, NULL };
    q_put(&q, "lm_head.weight", dtype, 64, 96, NULL);
    q_put(&q, "lm_head.weight_scale", "F32", scale_rows, 3, NULL);
    q_refused(&q, status, part);
}

static void one_scale_for_several_rows_is_named(void **state)
{
    (void)state;
    assert_blocks("F8_E4M3", 2, UNSUPPORTED,
                  "'lm_head.weight': unsupported: compressed-tensors float-quantized, one scale "
                  "per block");
    assert_blocks("I8", 2, UNSUPPORTED, "compressed-tensors int-quantized, one scale per block");
    assert_blocks("I8", 63, FORMAT,
                  "'lm_head.weight_scale' has 63 rows, but by 'lm_head.weight' it must be 64");
}

static void codes_are_never_shown_as_numbers(void **state)
{
    (void)state;
    const char *other = "{\"quantization_config\":{\"quant_method\":\"other\"}}";
    assert_codes("lm_head.weight", "I8", NULL, other, "'lm_head.weight': unsupported: other");
    assert_codes("lm_head.weight", "U8", "lm_head.weight_scale", NULL,
                 "unsupported: a scheme of quantised weights that is not known here");
    assert_codes("lm_head.weight", "I8", "lm_head.weight_scale", other, "unsupported: other");
    assert_codes("lm_head.weight", "I8", "lm_head.weight_scales", NULL, "unsupported: eetq");
    assert_codes("lm_head.weight", "F8_E4M3", "lm_head.weight_scale_inv", NULL,
                 "unsupported: fp8 in square blocks");
    assert_codes("lm_head.weight", "I8", "lm_head.scale", NULL, "that is not known here");
    assert_codes("lm_head.weight._data", "U8", "lm_head.weight._scale", NULL,
                 "unsupported: quanto");
    assert_codes("lm_head._weight_qdata", "I8", "lm_head._weight_scale", NULL,
                 "unsupported: torchao");
    assert_codes("lm_head.weight:qdata", "I8", "lm_head.weight:scale", NULL,
                 "unsupported: torchao");
    assert_codes("lm_head._weight_qdata", "I8", NULL, other, "unsupported: other");
    assert_codes("lm_head.codes", "I16", "lm_head.codebooks", NULL, "unsupported: aqlm");
    assert_codes("lm_head.Qidxs", "I16", "lm_head.SU", NULL, "unsupported: quip#");
    assert_codes("lm_head.indices", "I16", "lm_head.centroids.weight", NULL, "unsupported: vptq");
    assert_codes("lm_head.q_weight", "I32", "lm_head.q_scale_max", NULL, "unsupported: exl2");
    assert_codes("lm_head.trellis", "I16", "lm_head.suh", NULL, "unsupported: exl3");
}

static void shapes_that_fit_twice(void **state)
{
    (void)state;
    quantised q = q_gptq();
    q.n = 3;
    q.config = NULL;
    q_refused(&q, UNSUPPORTED, "'quant_method' of quantization_config in config.json is needed");
    static const uint32_t words[32] = { 0 };
    q.config = method("\"quant_method\":\"gptq\"");
    q_find(&q, ".qweight")->rows = 9; /* 72 columns in 4 groups: of 18 to 23 */
    q_find(&q, ".qweight")->data = NULL;
    q_find(&q, ".qzeros")->rows = q_find(&q, ".scales")->rows = 4;
    q_find(&q, ".qzeros")->data = q_find(&q, ".scales")->data = words;
    q_refused(&q, UNSUPPORTED,
              "'group_size' of quantization_config in config.json is needed, and "
              "is missing");
    q = q_mlx();
    q.config = NULL;
    q_find(&q, ".weight")->cols = 8; /* two bits of 128 columns, or four of 64 */
    q_find(&q, ".weight")->data = NULL;
    q_refused(&q, UNSUPPORTED, "'bits' of quantization_config in config.json is needed");
    q = q_packed();
    q.config = NULL; /* 8 columns in one word are 1, 2, 3 or 4 bits */
    q_refused(&q, UNSUPPORTED, "'num_bits' of quantization_config in config.json is needed");
    static const int64_t shape[2] = { 2, 11 };
    q = q_packed();
    q.config =
        "{\"quantization_config\":{\"config_groups\":{\"a\":{\"weights\":{\"num_bits\":3}}}}}";
    q_find(&q, "_packed")->cols = 2; /* 33 bits: two words, be they dense or ten fields each */
    q_find(&q, "_packed")->data = NULL;
    q_find(&q, "_shape")->data = shape;
    q_refused(&q, UNSUPPORTED, "compressed-tensors 3 bits whose two packings both fit");
}

/* A part of another size, name or type, and what is said of it. */
typedef struct fault {
    quantised (*make)(void);
    const char *part;
    const char *name, *dtype; /* NULL: as it is */
    uint64_t rows, cols;      /* 0, 0: as they are; rows UINT64_MAX stands for none */
    const char *message;
} fault;

static quantised q_nf4_plain(void)
{
    return q_nf4(NF4_STATE);
}

static const fault faults[] = {
    { q_gptq, ".scales", NULL, NULL, 1, 9,
      "'lm_head.scales' has 9 columns, but by 'lm_head.qweight' it must be 8" },
    { q_gptq, ".qzeros", NULL, NULL, 2, 1,
      "'lm_head.qzeros' has 2 rows, but by 'lm_head.scales' it must be 1" },
    { q_gptq, ".g_idx", NULL, NULL, 7, 0,
      "'lm_head.g_idx' has 7 entries, but by 'lm_head.qweight' it must be 8" },
    { q_gptq, ".g_idx", NULL, "F32", 0, 0,
      "'lm_head.g_idx' has type f32, but fields are packed in words of 32 bits" },
    { q_gptq, ".scales", NULL, "C64", 1, 8, "'lm_head.scales' has type c64, but holds numbers" },
    { q_gptq, ".scales", NULL, NULL, UINT64_MAX, 8, "'lm_head.scales' is 0 x 8: it holds nothing" },
    { q_awq, ".qzeros", NULL, NULL, 1, 2,
      "'lm_head.qzeros' has 2 columns, but by 'lm_head.qweight' it must be 1" },
    { q_awq, ".qzeros", NULL, NULL, 2, 1,
      "'lm_head.qzeros' has 2 rows, but by 'lm_head.scales' it must be 1" },
    { q_awq, ".scales", NULL, NULL, 1, 16,
      "'lm_head.scales' has 16 columns, but by 'lm_head.qweight' it must be 8" },
    { q_mlx, ".scales", NULL, NULL, 1, 2,
      "'model.embed_tokens.scales' has 1 rows, but by 'model.embed_tokens.weight' it must be 2" },
    { q_mlx, ".scales", NULL, NULL, 2, 3,
      "'model.embed_tokens.scales' has 3 columns, but by 'model.embed_tokens.weight' it must be 2" },
    { q_mlx, ".biases", NULL, NULL, 2, 1,
      "'model.embed_tokens.biases' has 1 columns, but by 'model.embed_tokens.scales' it must be 2" },
    { q_mlx, ".weight", NULL, NULL, 2, 3,
      "'model.embed_tokens.weight' has 3 columns, but by 'model.embed_tokens.scales' it must be 4" },
    { q_packed, "_shape", NULL, NULL, 2, 3,
      "'embed_tokens.weight_shape' has 6 entries, but by 'embed_tokens.weight_packed' it must be 2" },
    { q_packed, "_shape", "embed_tokens.other", NULL, 0, 0,
      "'embed_tokens.weight_packed' is packed, but 'embed_tokens.weight_shape', which it needs, is "
      "not there" },
    { q_packed, "_shape", NULL, NULL, 1, 0,
      "'embed_tokens.weight_shape' has 1 entries, but by 'embed_tokens.weight_packed' it must be 2" },
    { q_packed, "_packed", NULL, NULL, 3, 1,
      "'embed_tokens.weight_packed' has 3 rows, but by 'embed_tokens.weight_shape' it must be 2" },
    { q_packed, "_packed", NULL, NULL, 2, 2,
      "'embed_tokens.weight_packed' has 2 words a row, in which no width that the config names puts "
      "8 fields" },
    { q_packed, "_scale", NULL, NULL, 2, 3,
      "'embed_tokens.weight_scale' has 3 columns, which do not divide the 8 of the table" },
    { q_packed, "_scale", NULL, NULL, 3, 1,
      "'embed_tokens.weight_scale' has 3 rows, but by 'embed_tokens.weight_packed' it must be 2" },
    { q_nf4_plain, ".weight", NULL, NULL, 4, 1,
      "'embed_tokens.weight' has 4 bytes, but by "
      "'embed_tokens.weight.quant_state.bitsandbytes__nf4' it must be 3" },
    { q_nf4_plain, ".absmax", NULL, NULL, 2, 0,
      "'embed_tokens.weight.absmax' has 2 entries, but by 'embed_tokens.weight' it must be 1" },
    { q_nf4_plain, ".quant_map", NULL, NULL, 15, 0,
      "'embed_tokens.weight.quant_map' has 15 entries, but by 'embed_tokens.weight' it must be 16" },
    { q_nf4_plain, "__nf4", "embed_tokens.other", NULL, 0, 0,
      "but 'embed_tokens.weight.quant_state', which it needs, is not there" },
    { q_hqq, ".nbits", "lm_head.other", NULL, 0, 0, "but 'lm_head.nbits', which it needs, is not" },
    { q_hqq, ".W_q", NULL, NULL, 3, 2,
      "'lm_head.W_q' has 6 bytes, but by 'lm_head.shape' it must be 4" },
    { q_hqq, ".scale", NULL, NULL, 3, 1,
      "'lm_head.scale' has 3 rows, but by 'lm_head.W_q' it must be 4" },
    { q_hqq, ".zero", NULL, NULL, 4, 2,
      "'lm_head.zero' has 2 columns, but by 'lm_head.W_q' it must be 1" },
};

static void parts_that_do_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const fault *f = &faults[i];
        quantised q = f->make();
        stored *t = q_find(&q, f->part);
        if (f->name) t->name = f->name;
        if (f->dtype) t->dtype = f->dtype;
        if (f->dtype && strcmp(f->dtype, "C64") == 0) t->element = 8;
        if (f->rows) {
            t->rows = f->rows == UINT64_MAX ? 0 : f->rows;
            t->cols = f->cols;
            t->data = NULL;
        }
        q_refused(&q, FORMAT, f->message);
    }
}

static void groups_that_are_not_there(void **state)
{
    (void)state;
    static const int32_t beyond[8] = { 0, 0, 1 }, mixed[8] = { -1, -1, 0 };
    quantised q = q_gptq();
    wte_error err = { 0 };
    const wte_model_table *t;
    q_find(&q, ".g_idx")->data = beyond;
    wte_model *m = q_open(&q);
    assert_fails(wte_model_input(m, &t, &err), err, FORMAT, 2,
                 "'lm_head.g_idx'[2] is 1, but there are groups 0..0");
    wte_model_free(m);
    q_find(&q, ".g_idx")->data = mixed;
    m = q_open(&q);
    assert_fails(wte_model_input(m, &t, &err), err, FORMAT, 2,
                 "'lm_head.g_idx'[2] is 0, but there are groups 0..0, and [0] is -1 for none");
    wte_model_free(m);
}

/* The text beside a four-bit table of bitsandbytes. */
static void assert_state(const char *text, wte_status status, uint64_t where, const char *part)
{
    const quantised q = q_nf4(text);
    wte_model *m = q_open(&q);
    wte_error err = { 0 };
    const wte_model_table *t;
    assert_fails(wte_model_input(m, &t, &err), err, status, where, part);
    wte_model_free(m);
}

static void states_of_bitsandbytes(void **state)
{
    (void)state;
    assert_state("[]", FORMAT, 0, "an object in braces was expected");
    assert_state("{", FORMAT, 1, "not valid JSON");
    assert_state("{}", FORMAT, WTE_NO_INDEX, "says shape [0, 0] of 0 sizes and blocksize 0");
    assert_state("{\"shape\":3}", FORMAT, 9, "a list of sizes was expected");
    assert_state("{\"shape\":[1,2,3]}", FORMAT, 14, "two whole numbers were expected");
    assert_state("{\"shape\":[1,-2]}", FORMAT, 12, "two whole numbers were expected");
    assert_state("{\"shape\":[1,", FORMAT, 12, "not valid JSON");
    assert_state("{\"blocksize\":\"64\"}", FORMAT, 13, "a number was expected");
    assert_state("{\"x\":[", FORMAT, 6, "not valid JSON");
    assert_state("{\"shape\":[2,3],\"blocksize\":8}", FORMAT, WTE_NO_INDEX,
                 "says shape [2, 3] of 2 sizes and blocksize 8");
    assert_state("{\"shape\":[4294967296,4294967296],\"blocksize\":64}", FORMAT, WTE_NO_INDEX,
                 "'embed_tokens.weight' has 3 bytes");
    static char large[65538];
    memset(large, ' ', sizeof large - 1);
    assert_state(large, WTE_E_LIMIT, WTE_NO_INDEX, "has 65537 bytes, but at most 65536 are read");
    quantised q = q_nf4(NF4_STATE);
    q_find(&q, ".absmax")->dtype = "U8";
    q_find(&q, ".absmax")->element = 1;
    q_refused(&q, UNSUPPORTED, "unsupported: scales quantised in blocks of 0");
}

static void numbers_that_cannot_be(void **state)
{
    (void)state;
    static const int64_t none[2] = { 0, 8 }, huge[2] = { INT64_MAX, 2 };
    static const int32_t seven = 7, three = 3, axis = 2, one = 1;
    static const uint8_t layout = 2;
    quantised q = q_packed();
    q_find(&q, "_shape")->data = none;
    q_refused(&q, FORMAT, "'embed_tokens.weight_shape' is [0, 8]");
    q = q_hqq();
    q_find(&q, ".shape")->data = huge;
    q_refused(&q, FORMAT, "'lm_head.shape' is [9.2233720368547758e+18, 2]");
    q = q_hqq();
    q_find(&q, ".nbits")->data = &seven;
    q_refused(&q, UNSUPPORTED, "unsupported: hqq with 7 bits");
    q = q_hqq();
    q_find(&q, ".axis")->data = &axis;
    q_refused(&q, UNSUPPORTED, "unsupported: hqq with 4 bits, axis 2, groups of 2");
    q = q_hqq();
    q_find(&q, ".group_size")->data = &three;
    q_refused(&q, UNSUPPORTED, "unsupported: hqq with groups of 3 of 8 numbers");
    q = q_hqq();
    q_find(&q, ".nbits")->data = &one;
    q_refused(&q, FORMAT, "'lm_head.W_q' of 4 x 2 numbers cannot be cut into 8 parts");
    q = q_hqq();
    q_put(&q, "lm_head.quant_zero", "U8", 1, 0, &layout);
    q_refused(&q, UNSUPPORTED, "unsupported: hqq with quantised or joined scales and zeros");
    quantised i8 = { { { 0 } }, 0, NULL };
    q_put(&i8, "lm_head.weight", "I8", 2, 2, NULL);
    q_put(&i8, "lm_head.SCB", "F32", 2, 0, NULL);
    q_put(&i8, "lm_head.weight_format", "U8", 1, 0, &layout);
    q_refused(&i8, UNSUPPORTED, "unsupported: bitsandbytes int8 in the order of columns 2");
    i8.t[2].data = NULL;
    i8.t[1].rows = 3;
    q_refused(&i8, FORMAT, "'lm_head.SCB' has 3 entries, but by 'lm_head.weight' it must be 2");
}

static void nvfp4_needs_its_global_scale(void **state)
{
    (void)state;
    static const float nothing = 0;
    quantised q = { { { 0 } }, 0, NULL };
    q_put(&q, "lm_head.weight_packed", "U8", 2, 8, NULL);
    q_put(&q, "lm_head.weight_scale", "F8_E4M3", 2, 1, NULL);
    q_put(&q, "lm_head.weight_global_scale", "F32", 1, 0, &nothing);
    q.t[1].element = 1;
    q_refused(&q, FORMAT, "'lm_head.weight_global_scale' is 0: no scale can be divided by it");
    q.t[1].cols = 2;
    q_refused(&q, FORMAT,
              "'lm_head.weight_scale' has 2 columns, but by 'lm_head.weight_packed' it must be 1");
}

static const struct CMUnitTest tests[] = {
    TEST("mlx columns that make no groups are refused",
         mlx_columns_that_make_no_groups_are_refused),
    TEST("one scale for several rows is named", one_scale_for_several_rows_is_named),
    TEST("a scheme that is not read is named", schemes_that_are_named),
    TEST("packed codes are never shown as the table", codes_are_never_shown_as_numbers),
    TEST("shapes that fit two readings need the config", shapes_that_fit_twice),
    TEST("parts that do not fit are named with both numbers", parts_that_do_not_fit),
    TEST("a column in a group that is not there is refused", groups_that_are_not_there),
    TEST("a broken state of bitsandbytes is told with its place", states_of_bitsandbytes),
    TEST("sizes and layouts that cannot be are refused", numbers_that_cannot_be),
    TEST("nvfp4: the global scale must be a number to divide by", nvfp4_needs_its_global_scale),
};
TEST_MAIN(tests)
