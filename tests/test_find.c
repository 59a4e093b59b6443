/* Roles: which tensor of a model is its input table and which its output head, by family. */
#include "model/rules.h"
#include "model_files.h"

#define CFG "{\"vocab_size\": 40, \"hidden_size\": 8, \"model_type\": \"none\"}"

/* A model written as "name rows x cols; name rows; ...", zeros in f32. */
static const char *model_of(const char *config, const char *text)
{
    static char copy[2048];
    static stored list[32];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = copy; *at && n < 32;) {
        char *name = at, *space = strchr(at, ' '), *end = strchr(at, ';');
        assert_non_null(space);
        *space = '\0';
        uint64_t rows = strtoull(space + 1, &at, 10), cols = 0;
        if (*at == 'x') cols = strtoull(at + 1, &at, 10);
        stored t = { name, "F32", rows, cols, NULL, 4 };
        list[n++] = t;
        if (!end) break;
        at = end + 1 + (end[1] == ' ');
    }
    return make_model(config, list, n);
}

struct family {
    const char *config, *tensors;
    const char *input, *head; /* names; NULL = none */
};

static void check_family(const struct family *f)
{
    const char *dir = model_of(f->config, f->tensors);
    wte_model *m = open_model(dir);
    const wte_model_table *input = NULL, *head = wte_model_head(m);
    wte_error err;
    wte_status status = wte_model_input(m, &input, &err);
    if (status != WTE_OK && f->input) fail_msg("%s: %s", f->tensors, err.message);
    if (!f->input && status == WTE_OK) fail_msg("%s: found '%s'", f->tensors, input->name);
    if (f->input && strcmp(input->name, f->input) != 0)
        fail_msg("input is '%s', not '%s' (%s)", input->name, f->input, input->why);
    const char *name = head ? head->name : "none", *want = f->head ? f->head : "none";
    if (strcmp(name, want) != 0) fail_msg("%s: head is '%s', not '%s'", f->tensors, name, want);
    wte_model_free(m);
    test_scratch_remove(dir);
}

/* Every row of the table of names, with what stands beside the table in such files. */
static const struct family families[] = {
    { CFG, "wpe.weight 16x8; wte.weight 40x8; h.0.attn.c_attn.weight 8x24", "wte.weight", NULL },
    { CFG, "lm_head.weight 40x8; transformer.wte.weight 40x8; lm_head.bias 40",
      "transformer.wte.weight", "lm_head.weight" },
    { CFG, "lm_head.weight 40x8; model.embed_tokens.weight 40x8; model.norm.weight 8",
      "model.embed_tokens.weight", "lm_head.weight" },
    { CFG, "tok_embeddings.weight 40x8; output.weight 40x8; layers.0.attention.wo.weight 8x8",
      "tok_embeddings.weight", "output.weight" },
    { CFG,
      "language_model.model.embed_tokens.weight 40x8; language_model.lm_head.weight 40x8;"
      "vision_tower.patch_embed.proj.weight 8x12",
      "language_model.model.embed_tokens.weight", "language_model.lm_head.weight" },
    { CFG, "model.language_model.embed_tokens.weight 40x8; lm_head.weight 40x8",
      "model.language_model.embed_tokens.weight", "lm_head.weight" },
    { CFG, "embed_tokens.weight 40x8; layers.0.mlp.up_proj.weight 40x8", "embed_tokens.weight",
      NULL },
    { CFG, "model.tok_embeddings.weight 40x8; output.weight 40x8", "model.tok_embeddings.weight",
      "output.weight" },
    { CFG, "transformer.embd.wte.weight 40x8; lm_head.linear.weight 40x8; lm_head.linear.bias 40",
      "transformer.embd.wte.weight", "lm_head.linear.weight" },
    { CFG, "gpt_neox.embed_in.weight 40x8; embed_out.weight 40x8", "gpt_neox.embed_in.weight",
      "embed_out.weight" },
    { CFG, "transformer.word_embeddings.weight 40x8; lm_head.weight 40x8",
      "transformer.word_embeddings.weight", "lm_head.weight" },
    { CFG, "word_embeddings.weight 40x8; word_embeddings_layernorm.weight 8",
      "word_embeddings.weight", NULL },
    { CFG,
      "language_model.embedding.word_embeddings.weight 40x8;"
      "word_embeddings_for_head.weight 40x8",
      "language_model.embedding.word_embeddings.weight", "word_embeddings_for_head.weight" },
    { CFG,
      "transformer.embedding.word_embeddings.weight 40x8;"
      "transformer.output_layer.weight 40x8",
      "transformer.embedding.word_embeddings.weight", "transformer.output_layer.weight" },
    { CFG, "backbone.embeddings.weight 40x8; lm_head.weight 40x8", "backbone.embeddings.weight",
      "lm_head.weight" },
    { CFG, "backbone.embedding.weight 40x8; lm_head.weight 40x8", "backbone.embedding.weight",
      "lm_head.weight" },
    { CFG, "rwkv.embeddings.weight 40x8; head.weight 40x8", "rwkv.embeddings.weight",
      "head.weight" },
    { CFG, "emb.weight 40x8; head.weight 40x8; blocks.0.ln0.weight 8", "emb.weight",
      "head.weight" },
    { CFG, "model.embeddings.weight 40x8; lm_head.weight 40x8", "model.embeddings.weight",
      "lm_head.weight" },
    { CFG, "transformer.token_embeddings.weight 40x8", "transformer.token_embeddings.weight",
      NULL },
    { CFG, "transformer.in_out_embed.weight 40x8", "transformer.in_out_embed.weight",
      "transformer.in_out_embed.weight" },
    { CFG, "model.word_embeddings.weight 40x8; lm_head.weight 40x8", "model.word_embeddings.weight",
      "lm_head.weight" },
    { CFG,
      "model.transformer.wte.weight 40x8; model.transformer.ff_out.weight 40x8;"
      "model.transformer.blocks.0.ff_out.weight 40x8",
      "model.transformer.wte.weight", "model.transformer.ff_out.weight" },
    { CFG, "transformer.blocks.0.ff_out.weight 40x8; transformer.wte.weight 40x8",
      "transformer.wte.weight", NULL },
    { CFG,
      "encoder.embed_tokens.weight 40x8; decoder.embed_tokens.weight 40x8;"
      "shared.weight 40x8; lm_head.weight 40x8;"
      "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 32x8",
      "shared.weight", "lm_head.weight" },
    { CFG,
      "model.shared.weight 40x8; model.encoder.embed_positions.weight 18x8;"
      "final_logits_bias 1x40",
      "model.shared.weight", NULL },
    { CFG, "led.shared.weight 40x8; lm_head.weight 40x8", "led.shared.weight", "lm_head.weight" },
    { CFG, "model.decoder.embed_tokens.weight 40x8; model.decoder.embed_positions.weight 42x8",
      "model.decoder.embed_tokens.weight", NULL },
    { CFG, "model.decoder.embed_tokens.weight 40x8; proj_out.weight 40x8",
      "model.decoder.embed_tokens.weight", "proj_out.weight" },
    { CFG, "decoder.token_embedding.weight 40x8; decoder.positional_embedding 16x8",
      "decoder.token_embedding.weight", NULL },
    { CFG, "model.decoder.embed_tokens.weight 40x8; model.decoder.output_projection.weight 40x8",
      "model.decoder.embed_tokens.weight", "model.decoder.output_projection.weight" },
    { CFG, "biogpt.embed_tokens.weight 40x8; output_projection.weight 40x8",
      "biogpt.embed_tokens.weight", "output_projection.weight" },
    { CFG, "model.decoder.embed_tokens.weight 40x8; lm_head.out_proj.weight 40x8",
      "model.decoder.embed_tokens.weight", "lm_head.out_proj.weight" },
    { CFG,
      "model.encoder.text_model.embed_tokens.weight 40x8;"
      "model.encoder.text_model.embed_tokens.eoi_embedding 8",
      "model.encoder.text_model.embed_tokens.weight", NULL },
    { CFG,
      "bert.embeddings.word_embeddings.weight 40x8;"
      "bert.embeddings.position_embeddings.weight 16x8;"
      "bert.embeddings.token_type_embeddings.weight 2x8;"
      "cls.predictions.decoder.weight 40x8; cls.predictions.bias 40;"
      "cls.seq_relationship.weight 2x8",
      "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight" },
    { CFG, "embeddings.word_embeddings.weight 40x8; embeddings.LayerNorm.weight 8",
      "embeddings.word_embeddings.weight", NULL },
    { CFG,
      "roberta.embeddings.word_embeddings.weight 40x8; lm_head.dense.weight 8x8;"
      "lm_head.decoder.weight 40x8; lm_head.bias 40",
      "roberta.embeddings.word_embeddings.weight", "lm_head.decoder.weight" },
    { CFG,
      "distilbert.embeddings.word_embeddings.weight 40x8; vocab_transform.weight 8x8;"
      "vocab_projector.weight 40x8",
      "distilbert.embeddings.word_embeddings.weight", "vocab_projector.weight" },
    { "{\"vocab_size\": 40, \"hidden_size\": 32, \"embedding_size\": 8}",
      "albert.embeddings.word_embeddings.weight 40x8; predictions.decoder.weight 40x8;"
      "albert.encoder.embedding_hidden_mapping_in.weight 32x8; predictions.dense.weight 8x32",
      "albert.embeddings.word_embeddings.weight", "predictions.decoder.weight" },
    { CFG,
      "electra.embeddings.word_embeddings.weight 40x8; generator_lm_head.weight 40x8;"
      "generator_predictions.dense.weight 8x8",
      "electra.embeddings.word_embeddings.weight", "generator_lm_head.weight" },
    { CFG,
      "deberta.embeddings.word_embeddings.weight 40x8; lm_predictions.lm_head.dense.weight 8x8;"
      "deberta.encoder.rel_embeddings.weight 32x8; lm_predictions.lm_head.bias 40",
      "deberta.embeddings.word_embeddings.weight", NULL },
    { CFG,
      "model.embeddings.tok_embeddings.weight 40x8; decoder.weight 40x8; decoder.bias 40;"
      "head.dense.weight 8x8; model.embeddings.norm.weight 8",
      "model.embeddings.tok_embeddings.weight", "decoder.weight" },
    { CFG, "model.embeddings.tok_embeddings.weight 40x8; head.decoder.weight 40x8",
      "model.embeddings.tok_embeddings.weight", "head.decoder.weight" },
    { CFG, "encoder.weight 40x8; transformer_encoder.0.qkv.weight 24x8", "encoder.weight", NULL },
    { CFG, "encoder.weight 40x8; decoder.weight 40x8; rnn.weight_ih_l0 32x8", "encoder.weight",
      "decoder.weight" },
    { CFG, "transformer.word_embedding.weight 40x8; lm_loss.weight 40x8; lm_loss.bias 40",
      "transformer.word_embedding.weight", "lm_loss.weight" },
    { CFG,
      "transformer.embeddings.weight 40x8; pred_layer.proj.weight 40x8;"
      "transformer.position_embeddings.weight 16x8",
      "transformer.embeddings.weight", "pred_layer.proj.weight" },
    { CFG, "transformer.w.weight 40x8; lm_head.weight 40x8; lm_head.bias 40",
      "transformer.w.weight", "lm_head.weight" },
    { CFG, "transformer.tokens_embed.weight 40x8; transformer.positions_embed.weight 16x8",
      "transformer.tokens_embed.weight", NULL },
    { CFG,
      "git.embeddings.word_embeddings.weight 40x8; output.weight 40x8;"
      "git.image_encoder.vision_model.embeddings.position_embedding.weight 10x8",
      "git.embeddings.word_embeddings.weight", "output.weight" },
    { CFG, "model.embed.weight 40x8; lm_head.weight 40x8; lm_head_gain.w_g 1", "model.embed.weight",
      "lm_head.weight" },
    { CFG, "model.llm.embed.weight 40x8; model.llm.unembed.weight 40x8", "model.llm.embed.weight",
      "model.llm.unembed.weight" },
    { CFG, "embed.weight 40x8; head.weight 40x8; layers.0.attn.wq.weight 8x8", "embed.weight",
      "head.weight" },
    { CFG, "model.embedding.weight 40x8", "model.embedding.weight", NULL },
    { CFG,
      "text_model.embeddings.token_embedding.weight 40x8;"
      "text_model.embeddings.position_embedding.weight 77x8;"
      "vision_model.embeddings.patch_embedding.weight 8x12",
      "text_model.embeddings.token_embedding.weight", NULL },
    { CFG, "cond_stage_model.transformer.text_model.embeddings.token_embedding.weight 40x8",
      "cond_stage_model.transformer.text_model.embeddings.token_embedding.weight", NULL },
    { CFG, "token_embedding.weight 40x8; positional_embedding 77x8", "token_embedding.weight",
      NULL },
    { NULL, "emb_params 4x8", "emb_params", NULL },
    { CFG, "model.text_model.embed_tokens.weight 40x8; lm_head.weight 40x8",
      "model.text_model.embed_tokens.weight", "lm_head.weight" },
    { CFG, "text_model.model.embed_tokens.weight 40x8; text_model.lm_head.weight 40x8",
      "text_model.model.embed_tokens.weight", "text_model.lm_head.weight" },
    { CFG,
      "thinker.model.embed_tokens.weight 40x8; thinker.lm_head.weight 40x8;"
      "talker.model.embed_tokens.weight 40x8",
      "thinker.model.embed_tokens.weight", "thinker.lm_head.weight" },
    { CFG,
      "model.language_model.embed_tokens.weight 40x8;"
      "model.language_model.embed_tokens_per_layer.weight 40x8;"
      "model.embed_vision.embedding.weight 40x8; model.embed_audio.embedding.weight 40x8",
      "model.language_model.embed_tokens.weight", NULL },
    { CFG,
      "model.embed_tokens.weight 40x8; model.embed_tokens.additional_embedding.weight 2x8;"
      "lm_head.weight 40x8; lm_head.additional_fc.weight 2x8",
      "model.embed_tokens.weight", "lm_head.weight" },
    { CFG,
      "model.embed_tokens.weight 40x8; model.layers.61.embed_tokens.weight 40x8;"
      "model.layers.61.shared_head.head.weight 40x8; lm_head.weight 40x8",
      "model.embed_tokens.weight", "lm_head.weight" },
    { CFG,
      "token_embd.weight 40x8; output.weight 40x8; output_norm.weight 8;"
      "blk.1.nextn.embed_tokens.weight 40x8",
      "token_embd.weight", "output.weight" },
    { CFG,
      "luke.embeddings.word_embeddings.weight 40x8;"
      "luke.entity_embeddings.entity_embeddings.weight 40x8",
      "luke.embeddings.word_embeddings.weight", NULL },
    { CFG, "decoder.embed_tokens.weight 40x8; decoder.encoder_hash_tok_embedding.weight 40x8",
      "decoder.embed_tokens.weight", NULL },
    { CFG,
      "base_model.model.model.embed_tokens.lora_embedding_A 4x40;"
      "base_model.model.model.embed_tokens.lora_embedding_B 8x4",
      NULL, NULL },
    { CFG,
      "base_model.model.model.embed_tokens.weight 40x8;"
      "base_model.model.lm_head.weight 40x8",
      "base_model.model.model.embed_tokens.weight", "base_model.model.lm_head.weight" },
    { CFG,
      "base_model.model.model.embed_tokens.original_module.weight 40x8;"
      "base_model.model.model.embed_tokens.modules_to_save.default.weight 40x8",
      "base_model.model.model.embed_tokens.modules_to_save.default.weight", NULL },
    { CFG,
      "base_model.model.model.embed_tokens.base_layer.weight 40x8;"
      "base_model.model.model.embed_tokens.trainable_tokens_delta 2x8",
      "base_model.model.model.embed_tokens.base_layer.weight", NULL },
    { CFG,
      "decoder.model.decoder.embed_tokens.0.weight 40x8;"
      "decoder.model.decoder.embed_tokens.1.weight 40x8; text_encoder.shared.weight 40x8",
      "text_encoder.shared.weight", NULL },
    { CFG, "tok_emb.weight 40x8; pos_emb.weight 16x8; out_head.weight 40x8", "tok_emb.weight",
      "out_head.weight" },
    { CFG,
      "position_embedding_table.weight 16x8; token_embedding_table.weight 40x8;"
      "lm_head.weight 40x8",
      "token_embedding_table.weight", "lm_head.weight" },
    { NULL, "embeddings 40x8", "embeddings", NULL },
    { NULL, "embedding.weight 40x8", "embedding.weight", NULL },
    { NULL, "0 40x8", "0", NULL },
    { NULL, "weight 40x8", "weight", NULL },
    { CFG, "0.auto_model.embeddings.word_embeddings.weight 40x8",
      "0.auto_model.embeddings.word_embeddings.weight", NULL },
    { NULL, "params.embed_tokens.embedding 40x8; x 3x3", "params.embed_tokens.embedding", NULL },
    { NULL, "embedding 40x8; x 3x3", "embedding", NULL },
};

static void every_family_has_its_tables_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) check_family(&families[i]);
}

static void wrappers_do_not_hide_the_table(void **state)
{
    static const struct family wrapped[] = {
        { CFG,
          "module._orig_mod.embeddings.position_embeddings.weight 16x8;"
          "module._orig_mod.embeddings.token_type_embeddings.weight 2x8;"
          "module._orig_mod.embeddings.word_embeddings.weight 40x8",
          "module._orig_mod.embeddings.word_embeddings.weight", NULL },
        { CFG, "_orig_mod.transformer.wte.weight 40x8; _orig_mod.lm_head.weight 40x8",
          "_orig_mod.transformer.wte.weight", "_orig_mod.lm_head.weight" },
        { CFG, "module.model.embed_tokens.weight 40x8; module.lm_head.weight 40x8",
          "module.model.embed_tokens.weight", "module.lm_head.weight" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) check_family(&wrapped[i]);
}

static void encoder_decoder_tables_are_chosen_by_role(void **state)
{
    static const struct family cases[] = {
        /* only the decoder's table and a different head: the input role is the decoder's table */
        { "{\"vocab_size\": 40, \"d_model\": 8, \"tie_word_embeddings\": false}",
          "lm_head.weight 40x8; decoder.embed_tokens.weight 40x8", "decoder.embed_tokens.weight",
          "lm_head.weight" },
        { CFG, "encoder.embed_tokens.weight 40x8; lm_head.weight 40x8",
          "encoder.embed_tokens.weight", "lm_head.weight" },
        /* the one that the head is tied to comes first */
        { CFG, "encoder.embed_tokens.weight 40x8; decoder.embed_tokens.weight 40x8",
          "decoder.embed_tokens.weight", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
}

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
    assert_int_equal(wte_model_candidates(m), 4);
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
        bool found = n.rule && n.rule->role == WTE_ROLE_INPUT;
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
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NOWHERE,
                 "'head.weight' is the end of 2 tensor names, 'c.head.weight' and 'd.head.weight'");
    assert_null(m);
    opt.tensor = "";
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NOWHERE, "''");
    opt.tensor = "no.such";
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NOWHERE, "no.such");
    opt.tensor = NULL;
    opt.head = "able"; /* not on a dot */
    assert_fails(wte_model_open(dir, &opt, &m, &err), err, WTE_E_NOT_FOUND, WTE_NOWHERE, "able");
    test_scratch_remove(dir);
}

static void no_table_is_told_with_the_nearest_names(void **state)
{
    (void)state;
    const char *dir = model_of(CFG, "wpe.weight 16x8; a 3x3; b 4x4");
    wte_model *m = open_model(dir);
    const wte_model_table *input;
    wte_error err;
    assert_fails(wte_model_input(m, &input, &err), err, WTE_E_NOT_FOUND, WTE_NOWHERE,
                 "no token table among 3 tensors; nearest: 'wpe.weight'; name it with --tensor");
    assert_null(input);
    assert_null(wte_model_head(m));
    assert_int_equal(wte_file_tensors(wte_model_file(m)), 3);
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
    assert_int_equal(wte_model_candidates(m), 256);
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
        assert_fails(wte_model_input(m, &table, &err), err, WTE_E_NOT_FOUND, WTE_NOWHERE,
                     cases[i].part);
        wte_model_free(m);
        test_scratch_remove(dir);
    }
}

static const struct CMUnitTest tests[] = {
    TEST("a name that holds a NUL is shown whole", a_name_that_holds_a_nul_is_shown_whole),
    TEST("a single tensor that is no table is described",
         a_single_tensor_that_is_no_table_is_described),
    TEST("every family of the table of names has its input table and head found",
         every_family_has_its_tables_found),
    TEST("wrappers of trainers and compilers do not hide the table",
         wrappers_do_not_hide_the_table),
    TEST("encoder-decoder tables are chosen by role", encoder_decoder_tables_are_chosen_by_role),
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
