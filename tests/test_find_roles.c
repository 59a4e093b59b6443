/* Roles by all evidence: what a head, a dummy or a projection is not, and what is offered then. */
#include "find_models.h"

/* The message of a model without an input table holds each of the parts. */
static void check_none(const char *config, const char *text, const char *head,
                       const char *const *parts)
{
    const char *dir = model_of(config, text);
    wte_model *m = open_model(dir);
    const wte_model_table *input;
    wte_error err;
    assert_int_equal(wte_model_input(m, &input, &err), WTE_E_NOT_FOUND);
    assert_null(input);
    for (; *parts; parts++)
        if (!strstr(err.message, *parts)) fail_msg("'%s' is not in '%s'", *parts, err.message);
    const wte_model_table *found = wte_model_head(m);
    if (head)
        assert_string_equal(found ? found->name : "none", head);
    else
        assert_null(found);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void a_head_beside_a_matrix_of_its_shape_is_no_input_table(void **state)
{
    static const char tied[] = "{\"model_type\": \"llama\", \"tie_word_embeddings\": true}";
    (void)state;
    check_none(
        NULL, "net.symbol_table.weight 4x2; lm_head.weight 4x2", "lm_head.weight",
        (const char *const[]){ "no input table found; candidates: 'net.symbol_table.weight' 4 x 2, "
                               "'lm_head.weight' 4 x 2; name it with --tensor",
                               "'net.symbol_table.weight' has its rows", NULL });
    /* the flag says tied, but there are two of them */
    check_none(tied, "net.symbols 4x2; lm_head.weight 4x2", "lm_head.weight",
               (const char *const[]){ "candidates: 'net.symbols' 4 x 2", NULL });
    /* a factorised table */
    check_none(NULL, "codes_in 40x3; embed_out.weight 40x8", "embed_out.weight",
               (const char *const[]){ "'codes_in' 40 x 3, 'embed_out.weight' 40 x 8", NULL });
    /* layers alone: the shard of a model whose table is in another */
    check_none(NULL, "model.layers.9.q_proj.weight 8x8; lm_head.weight 40x8", "lm_head.weight",
               (const char *const[]){ "candidates: 'lm_head.weight' 40 x 8",
                                      "nothing says that it is tied", NULL });
    check_none(NULL, "wpe.weight 16x8; lm_head.weight 40x8", "lm_head.weight",
               (const char *const[]){ "nothing says that it is tied", NULL });
}

static void a_tied_head_serves_and_so_does_a_lone_one(void **state)
{
    static const char tied[] = "{\"model_type\": \"llama\", \"tie_word_embeddings\": true}";
    static const struct family cases[] = {
        { tied, "model.layers.9.q_proj.weight 8x8; lm_head.weight 40x8", "lm_head.weight",
          "lm_head.weight" },
        { NULL, "model.norm.weight 8; lm_head.weight 40x8", "lm_head.weight", "lm_head.weight" },
        /* its own scales are no other matrix */
        { NULL, "lm_head.weight 40x8; lm_head.extra 40x2", "lm_head.weight", "lm_head.weight" },
        /* positions are known by their name */
        { tied, "wpe.weight 40x8; lm_head.weight 40x8", "lm_head.weight", "lm_head.weight" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
}

static void classes_that_read_no_tokens_have_no_input_table(void **state)
{
    static const struct {
        const char *config, *tensors, *head, *part;
    } cases[] = {
        { "{\"architectures\": [\"Wav2Vec2ForCTC\"], \"vocab_size\": 32, \"hidden_size\": 8}",
          "lm_head.weight 32x8; lm_head.bias 32", "lm_head.weight", "Wav2Vec2ForCTC reads sounds" },
        { "{\"architectures\": [\"HubertForCTC\"], \"vocab_size\": 32, \"hidden_size\": 8, "
          "\"tie_word_embeddings\": true}",
          "hubert.feature_projection.projection.weight 8x5; lm_head.weight 32x8", "lm_head.weight",
          "HubertForCTC reads sounds" },
        { "{\"model_type\": \"wavlm\", \"vocab_size\": 32, \"hidden_size\": 8}",
          "lm_head.weight 32x8", "lm_head.weight", "wavlm reads sounds" },
        { "{\"architectures\": [\"ViTForImageClassification\"], \"hidden_size\": 8}",
          "vit.pooler.dense.weight 8x8", NULL,
          "'vit.pooler.dense.weight' 8 x 8; name it with --tensor (ViTForImageClassification reads "
          "pictures)" },
        { "{\"architectures\": [\"ASTForAudioClassification\"], \"hidden_size\": 8}",
          "classifier.dense.weight 3x8", NULL, "candidates: 'classifier.dense.weight' 3 x 8" },
        /* of the table's shape by the config, and yet no table */
        { "{\"architectures\": [\"SEWForCTC\"], \"vocab_size\": 32, \"hidden_size\": 8}",
          "codebook 32x8; lm_head.weight 32x8", "lm_head.weight", "SEWForCTC reads sounds" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_none(cases[i].config, cases[i].tensors, cases[i].head,
                   (const char *const[]){ cases[i].part, NULL });
    /* a strong name stays: OWL-ViT finds objects by their names */
    const struct family owl = { "{\"architectures\": [\"OwlViTForObjectDetection\"]}",
                                "owlvit.text_model.embeddings.token_embedding.weight 40x8",
                                "owlvit.text_model.embeddings.token_embedding.weight", NULL };
    check_family(&owl);
}

static void projections_and_foreign_heads_are_no_output_heads(void **state)
{
    static const char siglip[] = "{\"architectures\": [\"SiglipTextModel\"], \"vocab_size\": 8, "
                                 "\"hidden_size\": 8}";
    static const struct family cases[] = {
        /* hidden x hidden */
        { CFG, "token_embedding.weight 40x8; text_model.head.weight 8x8", "token_embedding.weight",
          NULL },
        { NULL, "token_embedding.weight 40x8; text_model.head.weight 8x8", "token_embedding.weight",
          NULL },
        { NULL, "embed_tokens.weight 40x8; attn.output_projection.weight 8x8",
          "embed_tokens.weight", NULL },
        { siglip, "token_embedding.weight 8x8; text_model.head.weight 8x8",
          "token_embedding.weight", NULL },
        /* of another vocabulary and width: a depth decoder's, a codec's */
        { CFG, "embed_tokens.weight 40x8; codes.lm_head.weight 16x4", "embed_tokens.weight", NULL },
        /* a classifier of the table's width */
        { NULL, "word_embeddings.weight 40x8; head.weight 3x8", "word_embeddings.weight", NULL },
        { CFG, "word_embeddings.weight 40x8; output.weight 5x8", "word_embeddings.weight", NULL },
        /* RemBERT: rows of another width, but of the same ids */
        { CFG, "word_embeddings.weight 40x4; cls.predictions.decoder.weight 40x16",
          "word_embeddings.weight", "cls.predictions.decoder.weight" },
        /* a resize that forgot the head: its rows differ, it is one all the same */
        { CFG, "embed_tokens.weight 40x8; lm_head.weight 12x8", "embed_tokens.weight",
          "lm_head.weight" },
        /* a decoder with a vocabulary of its own */
        { NULL,
          "encoder.embed_tokens.weight 90x8; decoder.embed_tokens.weight 40x8; "
          "output.weight 40x8",
          "encoder.embed_tokens.weight", "output.weight" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
    const char *dir = model_of(CFG, "token_embedding.weight 40x8; text_model.head.weight 8x8; "
                                    "text_model.head.bias 8");
    wte_model *m = open_model(dir);
    const wte_candidate *c = wte_model_candidate(m, 2);
    assert_int_equal(c->role, WTE_ROLE_OTHER);
    assert_non_null(strstr(c->why, "as many rows as columns: a projection"));
    assert_int_equal(wte_model_candidate(m, 1)->kind, WTE_KIND_OTHER); /* its bias */
    assert_non_null(strstr(wte_model_candidate(m, 1)->why, "not of the output head"));
    assert_int_equal(wte_model_output_of(m)->bias, WTE_NO_INDEX);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* The name of the input table beside a tokenizer of n tokens. */
static void check_with_tokens(const char *config, const char *text, unsigned n, const char *want)
{
    char tokens[512] = "{";
    size_t used = 1;
    for (unsigned i = 0; i < n; i++)
        used += (size_t)snprintf(tokens + used, sizeof tokens - used, "\"t%u\": %u%s", i, i,
                                 i + 1 < n ? ", " : "}");
    const char *dir = model_of(config, text);
    write_text(dir, "vocab.json", tokens);
    wte_model *m = open_model(dir);
    const wte_model_table *input;
    wte_error err;
    const wte_status status = wte_model_input(m, &input, &err);
    const char *name = status == WTE_OK ? input->name : err.message;
    if (!strstr(name, want)) fail_msg("%s: '%s', not '%s'", text, name, want);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void the_tokenizers_rows_beat_a_dummy(void **state)
{
    (void)state;
    check_with_tokens(NULL, "embed_tokens.weight 8x4; net.symbols 20x4; third 20x4x1", 20,
                      "net.symbols");
    check_with_tokens(NULL, "embed_tokens.weight 8x4; embeddings.weight 20x4", 20,
                      "embeddings.weight");
    check_with_tokens("{\"vocab_size\": 20, \"hidden_size\": 4}",
                      "embed_tokens.weight 8x4; net.symbols 20x4", 20, "net.symbols");
    /* the only one stays, however short, and so does one that a few added tokens outgrow */
    check_with_tokens(NULL, "embed_tokens.weight 8x4; net.other 9x4", 20, "embed_tokens.weight");
    check_with_tokens(NULL, "embed_tokens.weight 17x4; net.symbols 20x4", 20,
                      "embed_tokens.weight");
    /* two that fit: neither is taken */
    check_with_tokens(
        NULL, "embed_tokens.weight 8x4; net.one 20x4; net.two 20x4", 20,
        "candidates: 'embed_tokens.weight' 8 x 4, 'net.one' 20 x 4, 'net.two' 20 x 4");
    /* without tokenizer and config, the head's rows speak */
    static const struct family f = { NULL,
                                     "embed_tokens.weight 8x4; text.token_embedding.weight 40x4; "
                                     "lm_head.weight 40x4",
                                     "text.token_embedding.weight", "lm_head.weight" };
    check_family(&f);
}

static void linear_layers_are_no_tables(void **state)
{
    (void)state;
    /* the classifier of an image model, whose other weights are no matrices */
    check_none(NULL, "fc.weight 10x6; fc.bias 10; bn1.weight 6", NULL,
               (const char *const[]){ "candidates: 'fc.weight' 10 x 6", NULL });
    check_none(NULL, "encoder.embedding.weight 8x3; encoder.embedding.bias 8; a.weight 3x8", NULL,
               (const char *const[]){ "no input table found", NULL });
    static const struct family cases[] = {
        { NULL, "fc.weight 10x6; bn1.bias 10", "fc.weight", NULL }, /* another's bias */
        { CFG, "lookup 40x8; linear.weight 40x8; linear.bias 40", "lookup", "linear.weight" },
        { CFG, "wte.weight 40x8; embed.weight 40x8; embed.bias 40", "wte.weight", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
    check_none(NULL, "entity_embeddings.weight 30x4; rel_embeddings.weight 5x4", NULL,
               (const char *const[]){ "'rel_embeddings.weight' 5 x 4",
                                      "'entity_embeddings.weight' 30 x 4", NULL });
}

static void factor_models_name_their_tables(void **state)
{
    static const struct {
        const char *tensors, *part;
    } cases[] = {
        { "user_factors.weight 9x4; item_factors.weight 12x4; user_biases.weight 9x1",
          "candidates: 'item_factors.weight' 12 x 4, 'user_factors.weight' 9 x 4; name" },
        { "embed_user_GMF.weight 9x4; embed_item_GMF.weight 12x4; MLP_layers.1.weight 8x16",
          "candidates: 'embed_item_GMF.weight' 12 x 4, 'embed_user_GMF.weight' 9 x 4; name" },
        { "P.weight 9x4; Q.weight 12x4", "candidates: 'P.weight' 9 x 4, 'Q.weight' 12 x 4; name" },
        { "emb_l.0.weight 5x4; emb_l.1.weight 6x4; emb_l.2.weight 7x4; emb_l.3.weight 8x4; "
          "bot_l.0.weight 8x3",
          "'emb_l.0.weight' 5 x 4, 'emb_l.1.weight' 6 x 4, 'emb_l.2.weight' 7 x 4, ...; name" },
        { "embeddings.0.weight 5x4; embeddings.1.weight 6x4; mlp.0.weight 8x3",
          "candidates: 'embeddings.0.weight' 5 x 4, 'embeddings.1.weight' 6 x 4; name" },
        { "model.sparse_arch.embedding_bag_collection.embedding_bags.t_cat_0.weight 5x4; "
          "model.sparse_arch.embedding_bag_collection.embedding_bags.t_cat_1.weight 6x4",
          "'...lection.embedding_bags.t_cat_1.weight' 6 x 4" },
        /* skip-gram by its names, but the two have other ids */
        { "u_embeddings.weight 9x4; v_embeddings.weight 12x4",
          "candidates: 'u_embeddings.weight' 9 x 4, 'v_embeddings.weight' 12 x 4: as likely" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dir = model_of(NULL, cases[i].tensors);
        wte_model *m = open_model(dir);
        const wte_model_table *input;
        wte_error err;
        assert_fails(wte_model_input(m, &input, &err), err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                     cases[i].part);
        /* and they are listed, each once */
        for (uint64_t a = 0; a < wte_model_n_candidates(m); a++)
            for (uint64_t b = 0; b < a; b++)
                assert_int_not_equal(wte_model_candidate(m, a)->tensor,
                                     wte_model_candidate(m, b)->tensor);
        assert_true(wte_model_n_candidates(m) >= 2);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static void a_name_alone_makes_no_static_model(void **state)
{
    static const struct {
        const char *config, *tensors, *why;
    } cases[] = {
        { NULL, "embeddings 40x8", "a table called embeddings" },
        { NULL, "0 40x8", "a table called 0" },
        { CFG, "embeddings 40x8", "a table called embeddings; rows = vocab_size" },
        { "{\"model_type\": \"model2vec\", \"hidden_dim\": 8}", "embeddings 40x8",
          "token table of a model2vec static model" },
        { "{\"architectures\": [\"StaticModel\"]}", "embeddings 40x8",
          "token table of a model2vec static model" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dir = model_of(cases[i].config, cases[i].tensors);
        wte_model *m = open_model(dir);
        const wte_model_table *input;
        wte_error err;
        assert_ok(wte_model_input(m, &input, &err), err);
        if (strncmp(input->why, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("%s", input->why);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

/* "ok", or why there is no input table, of two tables under two names. */
static void check_two(const stored *t, const char *want)
{
    const char *dir = make_model(NULL, t, 2);
    wte_model *m = open_model(dir);
    const wte_model_table *input;
    wte_error err;
    const wte_status status = wte_model_input(m, &input, &err);
    const char *got = status == WTE_OK ? input->name : err.message;
    if (!strstr(got, want)) fail_msg("'%s' is not in '%s'", want, got);
    wte_model_free(m);
    test_scratch_remove(dir);
}

static void two_tables_of_equal_evidence_are_refused(void **state)
{
    static const float one[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, other[8] = { 1, 2, 3, 4, 5, 6, 7, 9 };
    (void)state;
    const stored apart[] = { { "student.embed_tokens.weight", "F32", 4, 2, one, 4 },
                             { "teacher.embed_tokens.weight", "F32", 4, 2, other, 4 } };
    check_two(apart, "candidates: 'student.embed_tokens.weight' 4 x 2, "
                     "'teacher.embed_tokens.weight' 4 x 2: as likely one as the other");
    const stored copies[] = { { "student.embed_tokens.weight", "F32", 4, 2, one, 4 },
                              { "teacher.embed_tokens.weight", "F32", 4, 2, one, 4 } };
    check_two(copies, "student.embed_tokens.weight");
    const stored shapes[] = { { "user.embedding.weight", "F32", 4, 2, one, 4 },
                              { "item.embedding.weight", "F32", 2, 2, one, 4 } };
    check_two(shapes,
              "candidates: 'item.embedding.weight' 2 x 2, 'user.embedding.weight' 4 x 2: as");
    /* a name that is nearer to the model's own decides */
    const stored nearer[] = { { "model.embed_tokens.weight", "F32", 4, 2, one, 4 },
                              { "ema.embed_tokens.weight", "F32", 4, 2, other, 4 } };
    check_two(nearer, "model.embed_tokens.weight");
}

static void memory_that_fails_is_told(void **state)
{
    (void)state;
    const char *dir = model_of(NULL, "a.symbols 40x4; b.symbols 40x4; embed_tokens.weight 8x4; "
                                     "lm_head.weight 40x4; text_model.head.weight 4x4");
    size_t fail_at = 0;
    for (wte_status status = WTE_E_MEMORY; status == WTE_E_MEMORY; fail_at++) {
        test_memory mem;
        wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
        wte_model *m = NULL;
        test_memory_init(&mem, fail_at);
        opt.allocator = &mem.allocator;
        status = wte_model_open(dir, &opt, &m, NULL);
        assert_true(status == WTE_OK ? m != NULL : status == WTE_E_MEMORY && !m);
        wte_model_free(m);
        assert_int_equal(mem.live, 0);
    }
    assert_true(fail_at > 5);
    test_scratch_remove(dir);
}

static const struct CMUnitTest tests[] = {
    TEST("a head beside a matrix of its shape is no input table",
         a_head_beside_a_matrix_of_its_shape_is_no_input_table),
    TEST("a tied head serves both roles, and so does a lone one",
         a_tied_head_serves_and_so_does_a_lone_one),
    TEST("classes that read no tokens have no input table",
         classes_that_read_no_tokens_have_no_input_table),
    TEST("projections and foreign heads are no output heads",
         projections_and_foreign_heads_are_no_output_heads),
    TEST("a table of the tokenizer's rows beats a dummy", the_tokenizers_rows_beat_a_dummy),
    TEST("linear layers are no tables", linear_layers_are_no_tables),
    TEST("factor models name their tables", factor_models_name_their_tables),
    TEST("a name alone makes no static model", a_name_alone_makes_no_static_model),
    TEST("two tables of equal evidence are refused", two_tables_of_equal_evidence_are_refused),
    TEST("memory that fails is told", memory_that_fails_is_told),
};
TEST_MAIN(tests)
