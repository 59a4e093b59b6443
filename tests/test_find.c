/* Roles: how candidates are scored and told, and how a caller names a tensor. */
#include "find_models.h"
#include "model/name_rules.h"

static void shape_decides_between_names_that_both_fit(void **state)
{
    static const struct family cases[] = {
        /* a table of another vocabulary, nearer to the root of the name */
        { CFG, "embed_tokens.weight 6x8; text.embed_tokens.weight 40x8", "text.embed_tokens.weight",
          NULL },
        /* no known name at all */
        { CFG, "lookup_matrix 40x8; other 7x8; third 8x8", "lookup_matrix", NULL },
        { CFG, "lookup_matrix 40x8; logits_matrix 40x8", "lookup_matrix", "logits_matrix" },
        /* a padded vocabulary */
        { CFG, "embed_tokens.weight 64x8; lm_head.weight 64x8", "embed_tokens.weight",
          "lm_head.weight" },
        /* the head of a classifier is not the head of this table */
        { NULL, "embeddings.word_embeddings.weight 40x8; head.weight 3x16",
          "embeddings.word_embeddings.weight", NULL },
        { NULL, "one.thing 8x8; another.thing 9x9", NULL, NULL },
        { NULL, "some.thing 40x8; a.bias 8", "some.thing", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
}

static void only_a_head_serves_both_roles(void **state)
{
    static const struct family f = { CFG, "lm_head.weight 40x8; model.norm.weight 8",
                                     "lm_head.weight", "lm_head.weight" };
    (void)state;
    check_family(&f);
}

static void candidates_are_sorted_and_say_why(void **state)
{
    (void)state;
    const char *dir = model_of(CFG, "wpe.weight 16x8; wte.weight 40x8; lm_head.weight 40x8;"
                                    "text.wte.weight 12x8");
    wte_model *m = open_model(dir);
    assert_int_equal(wte_model_n_candidates(m), 4);
    const wte_candidate *c = wte_model_candidate(m, 0);
    assert_int_equal(c->role, WTE_ROLE_INPUT);
    assert_int_equal(c->score, 100 + 30 + 20);
    assert_non_null(strstr(c->why, "gpt2"));
    assert_non_null(strstr(c->why, "rows = vocab_size; width = hidden_size"));
    c = wte_model_candidate(m, 1);
    assert_int_equal(c->role, WTE_ROLE_INPUT);
    assert_int_equal(c->score, 100 - 1 - 30 + 20);
    assert_non_null(strstr(c->why, "rows are not vocab_size"));
    c = wte_model_candidate(m, 2);
    assert_int_equal(c->role, WTE_ROLE_HEAD);
    assert_int_equal(c->score, 100 + 30 + 20 + 10);
    assert_non_null(strstr(c->why, "shape of the input table"));
    c = wte_model_candidate(m, 3);
    assert_int_equal(c->role, WTE_ROLE_OTHER);
    assert_int_equal(c->score, 0);
    assert_string_equal(c->why, "position table");
    assert_null(wte_model_candidate(m, 4));
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void other_parts_say_which_part_they_are(void **state)
{
    static const struct {
        const char *name, *outside;
    } cases[] = {
        { "model.layers.61.embed_tokens.weight", "numbered block" },
        { "model.layers.61.shared_head.head.weight", "multi-token predictor" },
        { "talker.model.embed_tokens.weight", "speech part" },
        { "model.embed_vision.embedding.weight", "vision part" },
        { "decoder.embed_tokens.3.weight", "numbered list" },
        { "transformer.blocks.7.ff_out.weight", "numbered block" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wte__name n = wte__name_judge(cases[i].name, strlen(cases[i].name));
        assert_non_null(n.rule);
        if (!n.outside || !strstr(n.outside, cases[i].outside))
            fail_msg("%s: %s", cases[i].name, n.outside ? n.outside : "inside");
    }
}

static void a_name_that_only_ends_in_letters_is_no_table(void **state)
{
    static const char *const names[] = { "model.notwte.weight",
                                         "xembed_tokens.weight",
                                         "wte",
                                         "wte.weight.scale",
                                         "",
                                         ".",
                                         ".weight",
                                         "model.layers.0.w1.weight" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wte__name n = wte__name_judge(names[i], strlen(names[i]));
        bool found = n.rule && n.rule->kind == WTE_KIND_INPUT;
        assert_int_equal(found, strcmp(names[i], "wte") == 0);
    }
}

static void a_caller_names_a_tensor_whole_or_by_its_end(void **state)
{
    (void)state;
    const char *dir = model_of(CFG, "a.wte.weight 40x8; b.table 12x4; c.head.weight 40x8;"
                                    "d.head.weight 40x8; list 5");
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_model *m = NULL;
    wte_error err;
    const wte_model_table *input;
    opt.tensor = "table";
    opt.head = "c.head.weight";
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_string_equal(input->name, "b.table");
    assert_int_equal(input->rows, 12);
    assert_int_equal(input->dim, 4);
    assert_string_equal(wte_model_head(m)->name, "c.head.weight");
    wte_model_free(m);
    opt.tensor = "wte"; /* without its .weight */
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    assert_ok(wte_model_input(m, &input, &err), err);
    assert_string_equal(input->name, "a.wte.weight");
    wte_model_free(m);
    opt.tensor = "head.weight";
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "'head.weight' is the end of 2 tensor names, 'c.head.weight' and 'd.head.weight'");
    assert_null(m);
    opt.tensor = "";
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "''");
    opt.tensor = "no.such";
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "no.such");
    opt.tensor = NULL;
    opt.head = "able"; /* not on a dot */
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "able");
    test_scratch_remove(dir);
}

static void no_table_is_told_with_the_nearest_names(void **state)
{
    (void)state;
    const char *dir = model_of(CFG, "wpe.weight 16x8; a 3x3; b 4x4");
    wte_model *m = open_model(dir);
    const wte_model_table *input;
    wte_error err;
    assert_fails(wte_model_input(m, &input, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                 "no input table found; candidates: 'a' 3 x 3, 'b' 4 x 4; name it with --tensor");
    assert_null(input);
    assert_null(wte_model_head(m));
    assert_int_equal(wte_file_n_tensors(wte_model_file(m)), 3);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void the_order_in_the_file_does_not_matter(void **state)
{
    static const struct family cases[] = {
        { CFG, "b.wte.weight 40x8; a.wte.weight 40x8", "a.wte.weight", NULL },
        { CFG, "a.wte.weight 40x8; b.wte.weight 40x8", "a.wte.weight", NULL },
        { CFG, "aa.wte.weight 40x8; b.wte.weight 40x8", "b.wte.weight", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
}

static void very_many_lookalikes_keep_only_the_best(void **state)
{
    enum { N = 700 };
    static char name[N][40];
    static stored list[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "part%zu.wpe.weight", i);
        stored t = { name[i], "F32", 1, 1, NULL, 4 };
        list[i] = t;
    }
    const char *dir = make_model(NULL, list, N);
    wte_model *m = open_model(dir);
    assert_int_equal(wte_model_n_candidates(m), 256);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* Cut at the NUL it would be the name of the other tensor. */
static void a_name_that_holds_a_nul_is_shown_whole(void **state)
{
    (void)state;
    const stored list[] = { { "wte\\u0000.weight", "F32", 3, 2, NULL, 4 },
                            { "wte", "F32", 5, 7, NULL, 4 } };
    const char *dir = make_model(NULL, list, 2);
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    const wte_model_table *table;
    wte_model *m;
    wte_error err;
    m = open_model(dir);
    for (uint64_t i = 0; i < 2; i++) {
        wte_tensor t;
        assert_ok(wte_file_tensor(wte_model_file(m), i, &t, &err), err);
        assert_int_equal(t.name_bytes, i ? 3 : 11);
    }
    wte_model_free(m);
    opt.tensor = "wte";
    assert_ok(wte_model_open(dir, &opt, &m, &err), err);
    assert_ok(wte_model_input(m, &table, &err), err);
    assert_int_equal(table->rows, 5);
    assert_string_equal(table->name, "wte");
    wte_model_free(m);
    test_scratch_remove(dir);
    dir = make_model(NULL, list, 1);
    m = open_model(dir);
    assert_ok(wte_model_input(m, &table, &err), err);
    assert_string_equal(table->name, "wte\xe2\x90\x80.weight");
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_single_tensor_that_is_no_table_is_described(void **state)
{
    (void)state;
    static const struct {
        stored tensor;
        const char *part;
    } cases[] = {
        { { "a", "F32", 3, 0, NULL, 4 }, "its one tensor is 'a' of shape [3] f32, but a table is" },
        { { "mask", "BOOL", 3, 2, NULL, 1 }, "'mask' of shape [3, 2] bool" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *dir = make_model(NULL, &cases[i].tensor, 1);
        const wte_model_table *table;
        wte_error err;
        wte_model *m = open_model(dir);
        assert_fails(wte_model_input(m, &table, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                     cases[i].part);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("a name that holds a NUL is shown whole", a_name_that_holds_a_nul_is_shown_whole),
    TEST("a single tensor that is no table is described",
         a_single_tensor_that_is_no_table_is_described),
    TEST("shape decides where names do not", shape_decides_between_names_that_both_fit),
    TEST("a lone head serves both roles", only_a_head_serves_both_roles),
    TEST("candidates are sorted by role and score and say why", candidates_are_sorted_and_say_why),
    TEST("tables of other parts say which part", other_parts_say_which_part_they_are),
    TEST("names match on dots only", a_name_that_only_ends_in_letters_is_no_table),
    TEST("a caller's name counts whole or by a unique end",
         a_caller_names_a_tensor_whole_or_by_its_end),
    TEST("a model without a table opens, and tells the nearest names when asked",
         no_table_is_told_with_the_nearest_names),
    TEST("the order in the file does not matter", the_order_in_the_file_does_not_matter),
    TEST("of very many candidates the best 256 of a role are kept",
         very_many_lookalikes_keep_only_the_best),
};
TEST_MAIN(tests)
