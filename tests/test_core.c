/* The short API of wte/wte.h: rows, tokens, resolved heads and the last error. */
#include <math.h>
#include <wte/wte.h>

#include "model_files.h"

#define V 4
#define D 2

static const float table[V * D] = { 1, 0, 0, 2, -1, 1, 3, 3 };
#define CONFIG(type, class, more)                                                                  \
    "{\"model_type\":\"" type "\",\"architectures\":[\"" class "\"],\"vocab_size\":4,"             \
                                                               "\"hidden_size\":2" more "}"

static void rows_and_sizes(void **state)
{
    (void)state;
    wte_model *m = wte_open("demo");
    const int64_t ids[] = { 3, 0 }, bad[] = { 1, 6 };
    const int32_t narrow[] = { 3, 0 };
    float rows[6] = { 0 }, again[6] = { 0 }, untouched[6] = { 0 };
    assert_non_null(m);
    assert_int_equal(wte_n_rows(m), 6);
    assert_int_equal(wte_dim(m), 3);
    assert_string_equal(wte_type(m), "f32");
    assert_int_equal(wte_lookup_i64(m, ids, 2, rows), WTE_OK);
    assert_true(rows[0] == -0x1.9b1facp-2f); /* row 3 of torch's table for seed 123 */
    assert_int_equal(wte_lookup_i32(m, narrow, 2, again), WTE_OK);
    assert_memory_equal(rows, again, sizeof rows);
    assert_int_equal(wte_lookup_i64(m, bad, 2, untouched), WTE_E_RANGE);
    assert_non_null(strstr(wte_last_error(), "id 6 at position 1"));
    for (int i = 0; i < 6; i++) assert_true(untouched[i] == 0);
    assert_int_equal(wte_token_id(m, "a"), -1);
    assert_non_null(strstr(wte_last_error(), "no vocabulary"));
    assert_int_equal(wte_token_text(m, 0, NULL, 0), 0);
    assert_null(wte_head_open(m));
    assert_non_null(strstr(wte_last_error(), "no output head"));
    wte_close(m);
    assert_null(wte_open("not/there"));
    assert_non_null(strstr(wte_last_error(), "not/there"));
    wte_close(NULL);
    wte_head_close(NULL);
    assert_int_equal(wte_n_rows(NULL), 0);
    assert_string_equal(wte_type(NULL), "");
}

static void tokens_by_text_and_id(void **state)
{
    (void)state;
    const stored t = { "wte.weight", "F32", V, D, table, 4 };
    const char *dir = make_model(CONFIG("gpt2", "GPT2LMHeadModel", ""), &t, 1);
    write_text(dir, "vocab.json", "{\"a\":0,\"long word\":1,\"c\":3}");
    wte_model *m = wte_open(dir);
    char text[5];
    assert_int_equal(wte_token_id(m, "long word"), 1);
    assert_int_equal(wte_token_id(m, "C"), -1);
    assert_non_null(strstr(wte_last_error(), "'c'"));
    assert_int_equal(wte_token_text(m, 1, text, sizeof text), 9);
    assert_string_equal(text, "long");
    assert_int_equal(wte_token_text(m, 2, text, sizeof text), 0); /* a hole */
    assert_string_equal(text, "");
    assert_int_equal(wte_token_text(m, 99, text, sizeof text), 0);
    wte_close(m);
    test_scratch_remove(dir);
}

/* Opens the head of such a model, checks the facts, and ranks two hidden states. */
static wte_head *head_of(const char *config, const stored *t, size_t n, const char *vocab,
                         wte_model **m)
{
    const char *dir = make_model(config, t, n);
    if (vocab) write_text(dir, "vocab.json", vocab);
    *m = wte_open(dir);
    assert_non_null(*m);
    wte_head *h = wte_head_open(*m);
    test_scratch_remove(dir); /* mapped files stay readable */
    return h;
}

static void close_both(wte_head *h, wte_model *m)
{
    wte_head_close(h);
    wte_close(m);
}

static void a_tied_head_masks_rows_without_a_token(void **state)
{
    (void)state;
    wte_model *m;
    const stored t = { "wte.weight", "F32", V, D, table, 4 };
    const float hidden[] = { 1, 1, 0, 1 };
    wte_ranked best[2 * 3];
    wte_head *h =
        head_of(CONFIG("gpt2", "GPT2LMHeadModel", ""), &t, 1, "{\"a\":0,\"b\":1,\"c\":2}", &m);
    assert_non_null(h);
    const wte_head_info *info = wte_head_info_of(h);
    assert_true(info->tied && !info->has_bias);
    assert_string_equal(info->name, "wte.weight");
    assert_int_equal(info->n_rows, 4);
    assert_int_equal(info->n_valid, 3); /* row 3 has no token */
    assert_int_equal(info->hidden_dim, 2);
    assert_int_equal(wte_topk(h, hidden, 2, 3, best), WTE_OK);
    const uint64_t ids[] = { 1, 0, 2, 1, 2, 0 };
    const float logits[] = { 2, 1, 0, 2, 1, 0 };
    for (int i = 0; i < 6; i++) {
        assert_int_equal(best[i].id, ids[i]);
        assert_true(best[i].logit == logits[i]);
    }
    close_both(h, m);
    /* a hole in the middle of the vocabulary */
    h = head_of(CONFIG("gpt2", "GPT2LMHeadModel", ""), &t, 1, "{\"a\":0,\"c\":2,\"d\":3}", &m);
    assert_int_equal(wte_head_info_of(h)->n_valid, 3);
    assert_int_equal(wte_topk(h, hidden, 1, 3, best), WTE_OK);
    assert_int_equal(best[0].id, 3);
    assert_int_equal(best[1].id, 0);
    assert_int_equal(best[2].id, 2);
    close_both(h, m);
}

static void bias_and_soft_cap_are_applied(void **state)
{
    (void)state;
    wte_model *m;
    static const float head[V * D] = { 1, 0, 0, 1, 1, 1, 0, 0 }, bias[V] = { 0, 0, 0, 9 };
    const float hidden[] = { 1, 2 };
    wte_ranked best[2];
    const stored t[] = { { "model.embed_tokens.weight", "F32", V, D, table, 4 },
                         { "lm_head.weight", "F32", V, D, head, 4 },
                         { "lm_head.bias", "F32", V, 0, bias, 4 } };
    wte_head *h =
        head_of(CONFIG("phi", "PhiForCausalLM", ",\"tie_word_embeddings\":false"), t, 3, NULL, &m);
    assert_non_null(h);
    assert_true(!wte_head_info_of(h)->tied && wte_head_info_of(h)->has_bias);
    assert_int_equal(wte_topk(h, hidden, 1, 2, best), WTE_OK);
    assert_int_equal(best[0].id, 3); /* 0 + 9 */
    assert_true(best[0].logit == 9);
    assert_int_equal(best[1].id, 2); /* 1 + 2 */
    close_both(h, m);
    h = head_of(CONFIG("gemma2", "Gemma2ForCausalLM", ",\"final_logit_softcapping\":2"), t, 1, NULL,
                &m);
    assert_non_null(h);
    assert_true(wte_head_info_of(h)->transform.softcap == 2);
    assert_int_equal(wte_topk(h, hidden, 1, 1, best), WTE_OK);
    assert_int_equal(best[0].id, 3);
    assert_float_equal(best[0].logit, 2 * tanhf(9.0f / 2), 1e-6f);
    close_both(h, m);
}

static void a_projection_widens_what_is_taken(void **state)
{
    (void)state;
    wte_model *m;
    static const float out[D * 3] = { 1, 0, 0, 0, 0, 1 }; /* 2 x 3: elements 0 and 2 */
    const float hidden[] = { 0, 5, 1 };
    wte_ranked best[1];
    const stored t[] = { { "model.decoder.embed_tokens.weight", "F32", V, D, table, 4 },
                         { "model.decoder.project_out.weight", "F32", D, 3, out, 4 } };
    wte_head *h = head_of("{\"model_type\":\"opt\",\"architectures\":[\"OPTForCausalLM\"],"
                          "\"vocab_size\":4,\"hidden_size\":3,\"word_embed_proj_dim\":2}",
                          t, 2, NULL, &m);
    assert_non_null(h);
    assert_int_equal(wte_head_info_of(h)->hidden_dim, 3);
    assert_int_equal(wte_topk(h, hidden, 1, 1, best), WTE_OK);
    assert_int_equal(best[0].id, 3);
    assert_true(best[0].logit == 3);
    close_both(h, m);
}

static void a_draft_head_ranks_tokens_of_the_target(void **state)
{
    (void)state;
    wte_model *m;
    static const float head[2 * D] = { 1, 0, 0, 1 };
    static const int64_t d2t[] = { 1, 1 }; /* offsets: rows 0 and 1 are tokens 1 and 2 */
    const float hidden[] = { 1, 2 };
    wte_ranked best[3];
    const stored t[] = { { "embed_tokens.weight", "F32", V, D, table, 4 },
                         { "lm_head.weight", "F32", 2, D, head, 4 },
                         { "d2t", "I64", 2, 0, d2t, 8 } };
    wte_head *h =
        head_of(CONFIG("llama", "LlamaForCausalLMEagle3", ",\"tie_word_embeddings\":false"), t, 3,
                NULL, &m);
    assert_non_null(h);
    assert_int_equal(wte_topk(h, hidden, 1, 3, best), WTE_OK);
    assert_int_equal(best[0].id, 2);
    assert_int_equal(best[1].id, 1);
    assert_int_equal(best[2].id, WTE_NO_INDEX);
    close_both(h, m);
}

static void heads_that_are_not_understood_are_refused(void **state)
{
    (void)state;
    wte_model *m;
    static const float bias[3] = { 1, 2, 3 };
    const stored t[] = { { "wte.weight", "F32", V, D, table, 4 },
                         { "lm_head.bias", "F32", 3, 0, bias, 4 } };
    assert_null(head_of(CONFIG("gpt2", "GPT2LMHeadModel", ""), t, 2, NULL, &m));
    assert_non_null(strstr(wte_last_error(), "lm_head.bias"));
    wte_close(m);
    assert_null(head_of(CONFIG("gpt2", "GPT2LMHeadModel", ""), t, 1, "{", &m));
    assert_non_null(strstr(wte_last_error(), "vocab.json"));
    wte_close(m);
    assert_null(head_of(CONFIG("bert", "BertModel", ""), t, 1, NULL, &m));
    assert_non_null(strstr(wte_last_error(), "no output head"));
    wte_close(m);
}

static const struct CMUnitTest tests[] = {
    TEST("rows and sizes", rows_and_sizes),
    TEST("tokens by text and id", tokens_by_text_and_id),
    TEST("a tied head masks rows without a token", a_tied_head_masks_rows_without_a_token),
    TEST("bias and soft cap are applied", bias_and_soft_cap_are_applied),
    TEST("a projection widens what is taken", a_projection_widens_what_is_taken),
    TEST("a draft head ranks tokens of the target", a_draft_head_ranks_tokens_of_the_target),
    TEST("heads that are not understood are refused", heads_that_are_not_understood_are_refused),
};
TEST_MAIN(tests)
