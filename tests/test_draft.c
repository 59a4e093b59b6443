/* Draft heads: what d2t and t2d say of the tokens that a head of fewer rows stands for. */
#include <wte/head.h>

#include "model_files.h"

#define V 12
#define K 5
#define D 4

static const float table[V * D], head[K * D];

/* A model with a table of V rows, a head of K, and up to two lists. */
static const char *draft_of(const stored *a, const stored *b)
{
    stored t[4] = { { "embed_tokens.weight", "F32", V, D, table, 4 },
                    { "lm_head.weight", "F32", K, D, head, 4 } };
    size_t n = 2;
    if (a) t[n++] = *a;
    if (b) t[n++] = *b;
    return make_model("{\"vocab_size\": 12, \"hidden_size\": 4, \"model_type\": \"llama\"}", t, n);
}

/* The map of such a model, or what is told in its place. */
static void check_map(const stored *a, const stored *b, const int64_t *want, const char *said)
{
    const char *dir = draft_of(a, b);
    wte_model *m = open_model(dir);
    const wte_model_output *o = wte_model_output_of(m);
    const char *got = want ? o->map_why : o->map_problem;
    if (!strstr(got, said)) fail_msg("'%s' is not in '%s' ('%s')", said, got, o->map_problem);
    if (want) {
        assert_non_null(o->map);
        assert_int_equal(o->n_map, K);
        assert_memory_equal(o->map, want, K * sizeof *want);
        assert_string_equal(o->map_problem, "");
    } else {
        assert_null(o->map);
        assert_string_equal(o->map_why, "");
    }
    wte_model_free(m);
    test_scratch_remove(dir);
}

static const int64_t kept[K] = { 0, 3, 4, 8, 11 }, offsets[K] = { 0, 2, 2, 5, 7 };
static const uint8_t mask[V] = { 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
static const int64_t rows_of[V] = { 0, -1, -1, 1, 2, -1, -1, -1, 3, -1, -1, 4 };

static void offsets_and_ids_are_told_apart(void **state)
{
    (void)state;
    static const int32_t narrow[K] = { 0, 2, 2, 5, 7 };
    static const int64_t jumbled[K] = { 11, 0, 8, 3, 4 };
    const stored d2t = { "d2t", "I64", K, 0, offsets, 8 };
    const stored ids = { "d2t", "I64", K, 0, kept, 8 };
    const stored t2d = { "t2d", "BOOL", V, 0, mask, 1 };
    check_map(&d2t, NULL, kept, "d2t holds offsets: row r is token r + d2t[r]");
    check_map(&d2t, &t2d, kept, "d2t holds offsets");
    check_map(&ids, &t2d, kept, "d2t holds token ids: row r is token d2t[r]");
    /* as offsets 11, 4, ... they would leave the vocabulary */
    check_map(&ids, NULL, kept, "holds token ids");
    const stored hot = { "hot_token_ids", "I64", K, 1, jumbled, 8 };
    check_map(&hot, &t2d, jumbled, "hot_token_ids holds token ids");
    static const int64_t few[K] = { 0, 2, 4, 3, 1 };
    const stored open = { "hot_token_ids", "I64", K, 0, few, 8 };
    check_map(&open, NULL, few, "hot_token_ids holds token ids"); /* as offsets it fits as well */
    const stored named = { "model.draft_id_to_target_id", "I32", K, 0, narrow, 4 };
    check_map(&named, NULL, kept, "model.draft_id_to_target_id holds offsets");
}

static void t2d_alone_is_a_mask_or_rows(void **state)
{
    (void)state;
    const stored bools = { "model.t2d", "BOOL", V, 0, mask, 1 };
    const stored bytes = { "t2d", "U8", V, 0, mask, 1 };
    const stored rows = { "t2d", "I64", V, 0, rows_of, 8 };
    check_map(&bools, NULL, kept, "model.t2d marks the tokens of the head, in their order");
    check_map(&bytes, NULL, kept, "marks the tokens");
    check_map(&rows, NULL, kept, "t2d holds the row of each token");
    const stored d2t = { "d2t", "I64", K, 0, offsets, 8 };
    check_map(&d2t, &rows, kept, "d2t holds offsets");
}

static void what_contradicts_itself_is_told(void **state)
{
    static const int64_t doubtful[K] = { 0, 1, 2, 3, 4 }, twice[K] = { 9, 9, 9, 9, 8 };
    static const int64_t negative[K] = { -1, 0, 0, 0, 0 };
    static const int64_t gives_twice[V] = { 0, 0, 1, 2, 3, 4, -1, -1, -1, -1, -1, -1 };
    static const int64_t beyond[V] = { 0, 7, 1, 2, 3, 4, -1, -1, -1, -1, -1, -1 };
    static const int64_t lacks[V] = { 0, -1, 1, 2, 4, -1, -1, -1, -1, -1, -1, -1 };
    static const uint8_t more[V] = { 1, 1, 1, 1, 1, 1 };
    static const float numbers[K];
    const stored t2d = { "t2d", "BOOL", V, 0, mask, 1 };
    static const struct {
        const stored a;
        const char *said;
    } cases[] = {
        { { "d2t", "I64", K, 0, doubtful, 8 },
          "'d2t' can be read as offsets (row r is token r + its number) and as token ids" },
        { { "d2t", "I64", K, 0, twice, 8 },
          "'d2t' is no map: as token ids, rows 0 and 1 of the head are both token 9; as offsets, "
          "row 3 of the head is token 12, but tokens are 0..11" },
        { { "d2t", "I64", K, 0, negative, 8 }, "row 0 of the head is token -1" },
        { { "d2t", "I64", K - 1, 0, offsets, 8 }, "'d2t' has 4 numbers, but the head has 5 rows" },
        { { "d2t", "F32", K, 0, numbers, 4 }, "'d2t' is no list of whole numbers" },
        { { "d2t", "I64", 0, 0, offsets, 8 }, "'d2t' is no list of whole numbers" },
        { { "t2d", "BOOL", V, 0, more, 1 }, "'t2d' marks 6 tokens, but the head has 5 rows" },
        { { "t2d", "I64", V, 0, gives_twice, 8 }, "'t2d' gives row 0 to tokens 0 and 1" },
        { { "t2d", "I64", V, 0, beyond, 8 }, "'t2d'[1] is 7, but the head has 5 rows" },
        { { "t2d", "I64", V, 0, lacks, 8 }, "'t2d' gives row 3 to no token" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_map(&cases[i].a, NULL, NULL, cases[i].said);
    /* the mask decides between two readings, and against both */
    static const int64_t first[K] = { 0, 1, 2, 3, 4 };
    static const uint8_t low[V] = { 1, 1, 1, 1, 1 };
    const stored d2t = { "d2t", "I64", K, 0, first, 8 }, five = { "t2d", "BOOL", V, 0, low, 1 };
    check_map(&d2t, &five, first, "d2t holds token ids");
    check_map(&d2t, &t2d, NULL, "as token ids, 't2d' says otherwise; as offsets, 't2d' says");
}

static void models_without_a_draft_head_have_no_map(void **state)
{
    (void)state;
    const stored d2t = { "d2t", "I64", K, 0, offsets, 8 };
    const char *dir = draft_of(NULL, NULL);
    wte_model *m = open_model(dir);
    const wte_model_output *o = wte_model_output_of(m);
    assert_null(o->map);
    assert_int_equal(o->n_map, 0);
    assert_string_equal(o->map_problem, "");
    assert_int_equal(wte_model_token(m, 3), 3);
    assert_int_equal(wte_model_token(NULL, 3), 3);
    wte_model_free(m);
    test_scratch_remove(dir);
    /* the target's own head, of all tokens */
    const stored t[] = { { "embed_tokens.weight", "F32", V, D, table, 4 },
                         { "lm_head.weight", "F32", V, D, table, 4 },
                         d2t };
    dir = make_model(NULL, t, 3);
    m = open_model(dir);
    o = wte_model_output_of(m);
    assert_null(o->map);
    assert_string_equal(o->map_problem, "");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_draft_head_as_input_names_tokens_by_its_map(void **state)
{
    (void)state;
    const stored d2t = { "d2t", "I64", K, 0, offsets, 8 };
    const char *dir = draft_of(&d2t, NULL);
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m = NULL;
    wte_error err;
    opt.tensor = "lm_head.weight";
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    assert_int_equal(wte_model_token(m, 4), 11);
    assert_int_equal(wte_model_token(m, 5), 5); /* no such row */
    wte_model_free(m);
    m = open_model(dir);
    assert_int_equal(wte_model_token(m, 4), 4); /* of the table */
    assert_int_equal(wte_model_output_of(m)->map_tokens, V);
    wte_tie tie;
    assert_ok(wte_model_tie(m, NULL, &tie, &err), err);
    assert_int_equal(tie.verdict, WTE_TIE_INDEPENDENT);
    assert_non_null(strstr(tie.why, "a draft head of 5 rows: which tokens these are, 'd2t' says"));
    assert_memory_equal(wte_model_output_of(m)->map_stored, offsets, sizeof offsets);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void maps_are_checked(void **state)
{
    static const int64_t outside[] = { 0, 12 }, twice[] = { 3, 1, 7, 1, 3 }, below[] = { -1 };
    wte_error err;
    (void)state;
    assert_ok(wte_head_map_check(kept, K, V, NULL, &err), err);
    assert_ok(wte_head_map_check(kept, K, 0, NULL, &err), err);
    assert_ok(wte_head_map_check(NULL, 0, 0, NULL, &err), err);
    assert_fails(wte_head_map_check(outside, 2, V, NULL, &err), err, WTE_E_RANGE, 1,
                 "row 1 of the head is token 12, but tokens are 0..11");
    assert_fails(wte_head_map_check(below, 1, 0, NULL, &err), err, WTE_E_RANGE, 0,
                 "row 0 of the head is token -1");
    assert_fails(wte_head_map_check(twice, 5, V, NULL, &err), err, WTE_E_FORMAT, 3,
                 "rows 1 and 3 of the head are both token 1");
    assert_fails(wte_head_map_check(NULL, 1, V, NULL, &err), err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                 "tokens");
    test_memory mem;
    test_memory_init(&mem, 0);
    assert_int_equal(wte_head_map_check(kept, K, V, &mem.allocator, &err), WTE_E_MEMORY);
    assert_int_equal(mem.live, 0);
}

static void memory_that_fails_is_told(void **state)
{
    (void)state;
    const stored d2t = { "d2t", "I64", K, 0, offsets, 8 }, t2d = { "t2d", "BOOL", V, 0, mask, 1 };
    const char *dir = draft_of(&d2t, &t2d);
    size_t fail_at = 0;
    for (wte_status status = WTE_E_MEMORY; status == WTE_E_MEMORY; fail_at++) {
        test_memory mem;
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m = NULL;
        test_memory_init(&mem, fail_at);
        opt.allocator = &mem.allocator;
        status = wte_model_open(dir, &opt, &m, NULL);
        assert_true(status == WTE_OK ? m != NULL : status == WTE_E_MEMORY && !m);
        if (m) assert_non_null(wte_model_output_of(m)->map);
        wte_model_free(m);
        assert_int_equal(mem.live, 0);
        assert_int_equal(mem.live_bytes, 0);
    }
    assert_true(fail_at > 5);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("offsets and ids are told apart by what they mean", offsets_and_ids_are_told_apart),
    TEST("t2d alone is a mask or rows", t2d_alone_is_a_mask_or_rows),
    TEST("what contradicts itself is told", what_contradicts_itself_is_told),
    TEST("models without a draft head have no map", models_without_a_draft_head_have_no_map),
    TEST("a draft head as input names tokens by its map",
         a_draft_head_as_input_names_tokens_by_its_map),
    TEST("maps are checked", maps_are_checked),
    TEST("memory that fails is told", memory_that_fails_is_told),
};
TEST_MAIN(tests)
