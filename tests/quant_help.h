/* Tables of every scheme, as small as they can be, for the tests of quantised tables. */
#ifndef WTE_TESTS_QUANT_HELP_H
#define WTE_TESTS_QUANT_HELP_H
#include "model_files.h"

#define GPTQ "{\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,\"group_size\":8}}"
#define MOST 8u

/* A model of up to eight tensors, and its config. */
typedef struct quantised {
    stored t[MOST];
    size_t n;
    const char *config;
} quantised;

static inline void q_put(quantised *q, const char *name, const char *dtype, uint64_t rows,
                         uint64_t cols, const void *data)
{
    const unsigned element = dtype[1] == '8'       ? 1
                             : strstr(dtype, "16") ? 2
                             : dtype[1] == '6'     ? 8
                                                   : 4;
    const stored t = { name, dtype, rows, cols, data, element };
    assert_true(q->n < MOST);
    q->t[q->n++] = t;
}

static inline stored *q_find(quantised *q, const char *end)
{
    for (size_t i = 0; i < q->n; i++) {
        const size_t n = strlen(q->t[i].name), k = strlen(end);
        if (n >= k && strcmp(q->t[i].name + n - k, end) == 0) return &q->t[i];
    }
    fail_msg("no tensor ends in %s", end);
    return NULL;
}

/* Opens it; the folder is gone by then, its files are mapped. */
static inline wte_model *q_open(const quantised *q)
{
    const char *dir = make_model(q->config, q->t, q->n);
    wte_model *m = open_model(dir);
    test_scratch_remove(dir);
    return m;
}

static inline const wte_model_table *q_input(const wte_model *m)
{
    const wte_model_table *t = NULL;
    wte_error err = { 0 };
    assert_ok(wte_model_input(m, &t, &err), err);
    return t;
}

/* The table is not read: the status and a part of the message. */
static inline void q_refused(const quantised *q, wte_status status, const char *part)
{
    wte_model *m = q_open(q);
    const wte_model_table *t;
    wte_error err = { 0 };
    assert_fails(wte_model_input(m, &t, &err), err, status, WTE_NO_INDEX, part);
    wte_model_free(m);
}

/* 8 x 8: row v is 0 .. 7 in four bits, less the zero 7 (stored 6), times 0.5. */
static inline quantised q_gptq(void)
{
    static const uint32_t words[8] = { 0x76543210, 0x76543210, 0x76543210, 0x76543210,
                                       0x76543210, 0x76543210, 0x76543210, 0x7654321f };
    static const uint32_t zeros[1] = { 0xf6666666 };
    static const uint16_t scales[8] = { 0x3800, 0x3800, 0x3800, 0x3800,
                                        0x3800, 0x3800, 0x3800, 0x3800 };
    static const int32_t index[8] = { 0 };
    quantised q = { { { 0 } }, 0, GPTQ };
    q_put(&q, "lm_head.qweight", "I32", 1, 8, words);
    q_put(&q, "lm_head.qzeros", "I32", 1, 1, zeros);
    q_put(&q, "lm_head.scales", "F16", 1, 8, scales);
    q_put(&q, "lm_head.g_idx", "I32", 8, 0, index);
    return q;
}

/* 8 x 2 of one group: every word holds 0 .. 7. */
static inline quantised q_awq(void)
{
    static const uint32_t words[2] = { 0x76543210, 0x11111111 };
    static const uint32_t zeros[1] = { 0x10000001 };
    static const uint16_t scales[8] = { 0x3c00, 0x3c00, 0x3c00, 0x3c00,
                                        0x3c00, 0x3c00, 0x3c00, 0x4000 };
    quantised q = { { { 0 } },
                    0,
                    "{\"quantization_config\":{\"quant_method\":\"awq\",\"version\":\"GEMM\","
                    "\"bits\":4,\"group_size\":-1}}" };
    q_put(&q, "lm_head.qweight", "I32", 2, 1, words);
    q_put(&q, "lm_head.qzeros", "I32", 1, 1, zeros);
    q_put(&q, "lm_head.scales", "F16", 1, 8, scales);
    return q;
}

/* 2 x 3 in one block of 64: the codes 0 15 7, 8 1 14. */
static inline quantised q_nf4(const char *state)
{
    static const uint8_t codes[3] = { 0x0f, 0x78, 0x1e };
    static const float absmax[1] = { 2 };
    static float map[16];
    for (int i = 0; i < 16; i++) map[i] = (float)(i - 8) / 8;
    quantised q = { { { 0 } }, 0, NULL };
    q_put(&q, "embed_tokens.weight", "U8", 3, 1, codes);
    q_put(&q, "embed_tokens.weight.absmax", "F32", 1, 0, absmax);
    q_put(&q, "embed_tokens.weight.quant_map", "F32", 16, 0, map);
    q_put(&q, "embed_tokens.weight.quant_state.bitsandbytes__nf4", "U8", strlen(state), 0, state);
    return q;
}
#define NF4_STATE "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[2,3],\"dtype\":\"bfloat16\"}"

/* 2 x 64 in two bits, groups of 32: all codes 2, scales 0.5, biases -1. */
static inline quantised q_mlx(void)
{
    static uint32_t words[8];
    static float scales[4], biases[4];
    for (int i = 0; i < 8; i++) words[i] = 0xaaaaaaaa;
    for (int i = 0; i < 4; i++) {
        scales[i] = 0.5F;
        biases[i] = i == 3 ? -3 : -1;
    }
    quantised q = { { { 0 } }, 0, "{\"quantization\":{\"bits\":2,\"group_size\":32}}" };
    q_put(&q, "model.embed_tokens.weight", "U32", 2, 4, words);
    q_put(&q, "model.embed_tokens.scales", "F32", 2, 2, scales);
    q_put(&q, "model.embed_tokens.biases", "F32", 2, 2, biases);
    return q;
}

/* 2 x 8 in four bits and one group, stored as q + 8. */
static inline quantised q_packed(void)
{
    static const uint32_t words[2] = { 0x76543210, 0xfedcba98 };
    static const float scales[2] = { 1, 2 };
    static const int64_t shape[2] = { 2, 8 };
    quantised q = { { { 0 } },
                    0,
                    "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\","
                    "\"config_groups\":{\"group_0\":{\"weights\":{\"num_bits\":4}}}}}" };
    q_put(&q, "embed_tokens.weight_packed", "I32", 2, 1, words);
    q_put(&q, "embed_tokens.weight_scale", "F32", 2, 1, scales);
    q_put(&q, "embed_tokens.weight_shape", "I64", 2, 0, shape);
    return q;
}

/* 4 x 2 as 4 rows of 2: rows 0, 1 in the high halves, 2, 3 in the low ones. */
static inline quantised q_hqq(void)
{
    static const uint8_t codes[4] = { 0x15, 0x26, 0x37, 0x48 };
    static const float scales[4] = { 1, 1, 1, 2 }, zeros[4] = { 0, 0, 0, 7 };
    static const int32_t bits = 4, axis = 1, group = 2;
    static const int64_t shape[2] = { 4, 2 };
    quantised q = { { { 0 } }, 0, NULL };
    q_put(&q, "lm_head.W_q", "U8", 2, 2, codes);
    q_put(&q, "lm_head.scale", "F32", 4, 1, scales);
    q_put(&q, "lm_head.zero", "F32", 4, 1, zeros);
    q_put(&q, "lm_head.nbits", "I32", 1, 0, &bits);
    q_put(&q, "lm_head.axis", "I32", 1, 0, &axis);
    q_put(&q, "lm_head.group_size", "I32", 1, 0, &group);
    q_put(&q, "lm_head.shape", "I64", 2, 0, shape);
    return q;
}
#endif
