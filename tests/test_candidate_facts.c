/* Candidates against each other: equal bytes, the hash of the bytes, and the tables of
 * encoder-decoder models. */
#include "model_files.h"

#define T5                                                                                         \
    "{\"vocab_size\": 4, \"d_model\": 2, \"model_type\": \"t5\", \"tie_word_embeddings\": false}"
#define MARIAN                                                                                     \
    "{\"vocab_size\": 4, \"d_model\": 2, \"model_type\": \"marian\","                              \
    "\"architectures\": [\"MarianMTModel\"]}"

static const float P[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, Q[8] = { 1, 2, 3, 4, 5, 6, 7, 9 };

static void assert_facts(const wte_model *m, uint64_t i, const char *name, uint64_t like)
{
    wte_candidate_facts facts;
    wte_error err;
    wte_tensor t;
    assert_ok(wte_file_tensor(wte_model_file(m), wte_model_candidate(m, i)->tensor, &t, &err), err);
    assert_string_equal(t.name, name);
    assert_ok(wte_model_candidate_facts(m, i, NULL, &facts, &err), err);
    assert_int_equal(facts.bytes, 32);
    assert_int_equal(facts.duplicate_of, like);
    assert_false(facts.same_storage);
}

static uint64_t hash_of(const wte_model *m, uint64_t i)
{
    wte_candidate_facts facts;
    wte_error err;
    assert_ok(wte_model_candidate_facts(m, i, NULL, &facts, &err), err);
    return facts.hash;
}

static void copies_and_others_are_told_apart(void **state)
{
    (void)state;
    const stored list[] = {
        { "shared.weight", "F32", 4, 2, P, 4 },
        { "encoder.embed_tokens.weight", "F32", 4, 2, P, 4 },
        { "decoder.embed_tokens.weight", "F32", 4, 2, Q, 4 },
        { "lm_head.weight", "F32", 4, 2, Q, 4 },
    };
    const char *dir = make_model(T5, list, 4);
    wte_model *m = open_model(dir);
    assert_facts(m, 0, "shared.weight", 0);
    assert_facts(m, 1, "encoder.embed_tokens.weight", 0);
    assert_facts(m, 2, "decoder.embed_tokens.weight", 2);
    assert_facts(m, 3, "lm_head.weight", 2);
    assert_int_equal(wte_model_candidate(m, 0)->side, WTE_SIDE_NONE);
    assert_int_equal(wte_model_candidate(m, 1)->side, WTE_SIDE_ENCODER);
    assert_int_equal(wte_model_candidate(m, 2)->side, WTE_SIDE_DECODER);
    assert_non_null(strstr(wte_model_candidate(m, 2)->why, "; the decoder's"));
    assert_true(hash_of(m, 0) == hash_of(m, 1));
    assert_true(hash_of(m, 0) != hash_of(m, 2));
    wte_candidate_facts facts;
    wte_error err;
    assert_fails(wte_model_candidate_facts(m, 4, NULL, &facts, &err), err, WTE_E_RANGE, 4,
                 "candidate 4 of 4");
    for (size_t i = 0;; i++) {
        test_memory memory;
        test_memory_init(&memory, i);
        const wte_status status = wte_model_candidate_facts(m, 3, &memory.allocator, &facts, &err);
        assert_int_equal(memory.live, 0);
        if (status == WTE_OK) break;
        assert_int_equal(status, WTE_E_MEMORY);
    }
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* XXH3 of 64 bits as xxhsum -H3 prints it, over more than one block of reading. */
static void the_hash_is_that_of_the_bytes(void **state)
{
    (void)state;
    const uint64_t rows = 40000; /* 1.28 MB of zeros */
    const stored zeros = { "wte.weight", "F32", rows, 8, NULL, 4 };
    const char *dir = make_model(NULL, &zeros, 1);
    wte_model *m = open_model(dir);
    assert_true(hash_of(m, 0) == UINT64_C(0x2100e406b148fabc));
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* The decoder's table serves a tied head: that it differs from the encoder's is no lie. */
static void two_tables_that_differ_agree_with_a_tied_flag(void **state)
{
    (void)state;
    stored list[] = {
        { "model.encoder.embed_tokens.weight", "F32", 4, 2, P, 4 },
        { "model.decoder.embed_tokens.weight", "F32", 4, 2, Q, 4 },
    };
    for (int heights = 0; heights < 2; heights++) {
        wte_tie tie;
        wte_error err;
        list[1].rows = heights ? 3 : 4;
        const char *dir = make_model(MARIAN, list, 2);
        wte_model *m = open_model(dir);
        assert_string_equal(wte_model_head(m)->why,
                            "no head is stored: the decoder's table serves it");
        assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
        assert_int_equal(tie.verdict, WTE_TIE_INDEPENDENT);
        assert_true(tie.flag_agrees);
        assert_int_equal(tie.head_rows, heights ? 3 : 4);
        assert_int_equal(tie.rows_different, heights ? 0 : 1);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void another_table_that_fits_is_noted(void **state)
{
    (void)state;
    const stored list[] = {
        { "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight", "F32",
          4, 2, NULL, 4 },
        { "conditioner.embedders.1.model.token_embedding.weight", "F32", 4, 3, NULL, 4 },
    };
    const char *dir = make_model(NULL, list, 2);
    wte_model *m = open_model(dir);
    assert_string_equal(wte_model_note(m),
                        "another table can be the input: "
                        "conditioner.embedders.1.model.token_embedding.weight, 4 x 3 (--tensor)");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("copies of the same bytes and tables that differ are told apart",
         copies_and_others_are_told_apart),
    TEST("the hash is XXH3 of the stored bytes", the_hash_is_that_of_the_bytes),
    TEST("two tables of an encoder-decoder model that differ agree with a tied flag",
         two_tables_that_differ_agree_with_a_tied_flag),
    TEST("another table that can be the input is noted", another_table_that_fits_is_noted),
};
TEST_MAIN(tests)
