/* Roles by name: every family's input table and head, among what stands beside them in such files.
 */
#include "find_models.h"

#define MARIAN                                                                                     \
    "{\"vocab_size\": 40, \"d_model\": 8, \"model_type\": \"marian\","                             \
    "\"architectures\": [\"MarianMTModel\"]}"
/* Every row of the table of names, with what stands beside the table in such files. */
static const struct family families[] = {
    /* translation */
    { NULL, "Wemb 40x8; decoder_ff_logit_out_b 1x40; encoder_l1_self_Wq 8x8", "Wemb", NULL },
    { NULL,
      "encoder_Wemb 40x8; decoder_Wemb 30x8; decoder_ff_logit_out_W 8x30; encoder_l1_self_Wq 8x8",
      "encoder_Wemb", "decoder_ff_logit_out_W" },
    { NULL, "Wemb 40x8; Wemb_dec 30x8; ff_logit_W 8x30; ff_logit_b 30; encoder_W 8x8", "Wemb",
      "ff_logit_W" },
    { NULL,
      "encoder.embedding.weight 40x8; decoder.embedding.weight 30x8; decoder.out.weight 30x6; "
      "decoder.attn.out.weight 6x6",
      "encoder.embedding.weight", "decoder.out.weight" },
    { NULL,
      "encoder.embedding.weight 40x8; decoder.embedding.weight 30x8; "
      "decoder.fc_out.weight 30x12",
      "encoder.embedding.weight", "decoder.fc_out.weight" },
    { NULL,
      "encoder.embeddings.make_embedding.emb_luts.0.weight 40x8; generator.0.weight 30x8; "
      "decoder.embeddings.make_embedding.emb_luts.0.weight 30x8",
      "encoder.embeddings.make_embedding.emb_luts.0.weight", "generator.0.weight" },
    { NULL,
      "encoder.embed_tokens.weight 40x8; decoder.embed_tokens.weight 30x8; "
      "decoder.output_projection.weight 30x8",
      "encoder.embed_tokens.weight", "decoder.output_projection.weight" },
    { NULL, "src_embed.0.lut.weight 40x8; tgt_embed.0.lut.weight 30x8; generator.proj.weight 30x8",
      "src_embed.0.lut.weight", "generator.proj.weight" },
    { NULL,
      "tgt_tok_emb.embedding.weight 30x8; src_tok_emb.embedding.weight 40x8; "
      "generator.weight 30x8",
      "src_tok_emb.embedding.weight", "generator.weight" },
    { NULL,
      "encoder.src_word_emb.weight 40x8; decoder.trg_word_emb.weight 30x8; "
      "trg_word_prj.weight 30x8",
      "encoder.src_word_emb.weight", "trg_word_prj.weight" },
    /* skip-gram: words and contexts */
    { NULL, "v_embeddings.weight 40x8; u_embeddings.weight 40x8", "u_embeddings.weight",
      "v_embeddings.weight" },
    { NULL, "out_embed.weight 40x8; in_embed.weight 40x8", "in_embed.weight", "out_embed.weight" },
    { NULL, "syn1neg 40x8; syn0 40x8", "syn0", "syn1neg" },
    { NULL, "syn1 39x8; syn0 40x8", "syn0", NULL },
    { NULL, "embedding.ivectors.weight 40x8; embedding.ovectors.weight 40x8",
      "embedding.ivectors.weight", "embedding.ovectors.weight" },
    /* a head stored dim x rows, without a config: flax */
    { NULL, "embed_tokens.embedding 40x8; lm_head.kernel 8x40", "embed_tokens.embedding",
      "lm_head.kernel" },
    /* JAX and TensorFlow part the names with slashes */
    { NULL, "transformer/wte/embedding 40x8; transformer/wpe/embedding 16x8; lm_head/kernel 8x40",
      "transformer/wte/embedding", "lm_head/kernel" },
    { NULL, "params/embedder/input_embedding 40x8; params/layer_0/mlp/linear 8x16",
      "params/embedder/input_embedding", NULL },
    { NULL,
      "target/token_embedder/embedding 40x8; target/decoder/logits_dense/kernel 8x40; "
      "target/decoder/layers_0/self_attention/query/kernel 8x8",
      "target/token_embedder/embedding", "target/decoder/logits_dense/kernel" },
    { NULL,
      "bert/embeddings/word_embeddings 40x8; bert/embeddings/position_embeddings 16x8; "
      "bert/embeddings/token_type_embeddings 2x8; cls/predictions/output_bias 40",
      "bert/embeddings/word_embeddings", NULL },
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
    /* diffusion models in one file */
    { NULL,
      "cond_stage_model.transformer.text_model.embeddings.token_embedding.weight 40x8;"
      "cond_stage_model.transformer.text_model.embeddings.position_embedding.weight 77x8;"
      "model.diffusion_model.input_blocks.1.1.proj_out.weight 8x8;"
      "model.diffusion_model.time_embed.0.weight 32x8; first_stage_model.decoder.conv_out.weight "
      "3x8",
      "cond_stage_model.transformer.text_model.embeddings.token_embedding.weight", NULL },
    { NULL,
      "cond_stage_model.model.token_embedding.weight 40x8;"
      "cond_stage_model.model.positional_embedding 77x8",
      "cond_stage_model.model.token_embedding.weight", NULL },
    { NULL,
      "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight 40x8;"
      "conditioner.embedders.0.transformer.text_model.embeddings.position_embedding.weight 77x8;"
      "conditioner.embedders.1.model.token_embedding.weight 40x12;"
      "conditioner.embedders.1.model.positional_embedding 77x12",
      "conditioner.embedders.0.transformer.text_model.embeddings.token_embedding.weight", NULL },
    { NULL,
      "text_encoders.clip_l.transformer.text_model.embeddings.token_embedding.weight 40x8;"
      "text_encoders.clip_g.transformer.text_model.embeddings.token_embedding.weight 40x12",
      "text_encoders.clip_l.transformer.text_model.embeddings.token_embedding.weight", NULL },
    { NULL, "text_encoders.t5xxl.transformer.shared.weight 40x8; joint_blocks.0.x.weight 8x8",
      "text_encoders.t5xxl.transformer.shared.weight", NULL },
    { CFG,
      "shared.weight 40x8; encoder.embed_tokens.weight 40x8;"
      "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 32x8",
      "shared.weight", NULL },
    { NULL, "string_to_param.* 4x8", "string_to_param.*", NULL },
    /* families with names of their own */
    { "{\"vocab_size\": 40, \"hidden_size\": 32, \"input_embedding_size\": 8}",
      "rembert.embeddings.word_embeddings.weight 40x8; cls.predictions.decoder.weight 40x48;"
      "cls.predictions.dense.weight 48x32",
      "rembert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight" },
    { CFG, "funnel.embeddings.word_embeddings.weight 40x8; lm_head.weight 40x8",
      "funnel.embeddings.word_embeddings.weight", "lm_head.weight" },
    { CFG, "transformer.wte.weight 40x8; lm_head.weight 39x8", "transformer.wte.weight",
      "lm_head.weight" },
    { CFG,
      "backbone_model.embed_tokens.embed_audio_tokens.weight 90x8; embed_text_tokens.weight 40x8",
      "embed_text_tokens.weight", NULL },
    { CFG,
      "semantic.input_embeds_layer.weight 40x8; semantic.lm_head.weight 40x8;"
      "semantic.position_embeds_layer.weight 16x8",
      "semantic.input_embeds_layer.weight", "semantic.lm_head.weight" },
    { CFG,
      "model.language_model.embed_tokens.weight 40x8; model.visual.pos_embed.weight 40x8;"
      "model.visual.patch_embed.proj.weight 40x8; lm_head.weight 40x8",
      "model.language_model.embed_tokens.weight", "lm_head.weight" },
    { CFG,
      "visual.patch_embed.proj.weight 40x8; visual.embeddings.weight 40x8;"
      "model.embed_tokens.weight 40x8; lm_head.weight 40x8",
      "model.embed_tokens.weight", "lm_head.weight" },
    { CFG,
      "vision_model.gated_positional_embedding.embedding 40x8;"
      "language_model.model.embed_tokens.weight 48x8; language_model.lm_head.weight 40x8",
      "language_model.model.embed_tokens.weight", "language_model.lm_head.weight" },
    { CFG,
      "encoder.embeddings.word_embeddings.weight 40x8;"
      "decoder.bert.embeddings.word_embeddings.weight 40x8;"
      "decoder.cls.predictions.decoder.weight 40x8",
      "encoder.embeddings.word_embeddings.weight", "decoder.cls.predictions.decoder.weight" },
    { CFG,
      "encoder.embeddings.patch_embeddings.projection.weight 40x8;"
      "decoder.model.decoder.embed_tokens.weight 40x8; decoder.output_projection.weight 40x8",
      "decoder.model.decoder.embed_tokens.weight", "decoder.output_projection.weight" },
    { CFG,
      "model.decoder.embed_tokens.weight 40x8; model.encoder.embed_tokens.weight 40x8;"
      "lm_head.out_proj.weight 40x8",
      "model.encoder.embed_tokens.weight", "lm_head.out_proj.weight" },
    { CFG,
      "base_model.model.model.embed_tokens.modules_to_save.mine.weight 40x8;"
      "base_model.model.model.embed_tokens.original_module.weight 40x8;"
      "base_model.model.lm_head.lora_A.weight 4x8; base_model.model.lm_head.lora_B.weight 40x4",
      "base_model.model.model.embed_tokens.modules_to_save.mine.weight", NULL },
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
        { CFG, "encoder.embed_tokens.weight 40x8; decoder.embed_tokens.weight 40x8",
          "encoder.embed_tokens.weight", NULL },
        { CFG,
          "encoder.embed_tokens.weight 40x8; decoder.embed_tokens.weight 40x8;"
          "lm_head.weight 40x8",
          "encoder.embed_tokens.weight", "lm_head.weight" },
        { CFG, "shared.weight 40x8; decoder.embed_tokens.weight 40x8", "shared.weight", NULL },
        { CFG, "shared.weight 40x8; encoder.embed_tokens.weight 40x8; lm_head.weight 40x8",
          "shared.weight", "lm_head.weight" },
        { CFG, "decoder.embed_tokens.weight 40x8", "decoder.embed_tokens.weight", NULL },
        { CFG, "encoder.embed_tokens.weight 40x8", "encoder.embed_tokens.weight", NULL },
        { CFG, "shared.weight 40x8", "shared.weight", NULL },
        { CFG, "shared.weight 40x8; lm_head.weight 40x8", "shared.weight", "lm_head.weight" },
        /* a tied head, and no head stored, is the decoder's table */
        { MARIAN, "model.encoder.embed_tokens.weight 40x8; model.decoder.embed_tokens.weight 30x8",
          "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight" },
        { MARIAN, "model.shared.weight 40x8; model.decoder.embed_tokens.weight 40x8",
          "model.shared.weight", NULL },
        { "{\"vocab_size\": 40, \"hidden_size\": 8, \"tie_word_embeddings\": false,"
          "\"architectures\": [\"MarianMTModel\"]}",
          "model.encoder.embed_tokens.weight 40x8; model.decoder.embed_tokens.weight 40x8",
          "model.encoder.embed_tokens.weight", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_family(&cases[i]);
}

static const struct CMUnitTest tests[] = {
    TEST("every family of the table of names has its input table and head found",
         every_family_has_its_tables_found),
    TEST("wrappers of trainers and compilers do not hide the table",
         wrappers_do_not_hide_the_table),
    TEST("encoder-decoder tables are chosen by role", encoder_decoder_tables_are_chosen_by_role),
};
TEST_MAIN(tests)
