/* The names of token tables and output heads, by family, as data; and the one function that reads
 * them. A name is cut at its dots and slashes:  wrapper . wrapper . unknown . STEM . weight
 * The longest rule that ends the stem counts; what stands before it adds to the score or says that
 * the tensor belongs to another part of the model. */
#include "model/name_rules.h"

#include <string.h>

#define INPUT WTE_KIND_INPUT
#define HEAD  WTE_KIND_HEAD
#define OTHER WTE_KIND_OTHER
#define WEAK  WTE__RULE_WEAK
#define WHOLE WTE__RULE_WHOLE
#define BARE  WTE__RULE_BARE
#define BIAS  WTE__RULE_BIAS
#define BOTH  WTE__RULE_BOTH
#define MAP   WTE__RULE_MAP
#define ENC   WTE__RULE_ENCODER
#define DEC   WTE__RULE_DECODER
#define PAIR  WTE__RULE_PAIR

#define S(stem) stem, sizeof(stem) - 1
static const wte__name_rule rules[] = {
    /* input tables */
    { S("embed_tokens"), INPUT, 100, 0, "token table of llama, qwen, gemma, opt and kin" },
    { S("wte"), INPUT, 100, 0, "token table of gpt2, gptj, mpt, olmo and kin" },
    { S("tok_embeddings"), INPUT, 100, 0,
      "token table of llama's own files, internlm2, modernbert" },
    { S("word_embeddings"), INPUT, 100, 0, "token table of bert, roberta, bloom, falcon, chatglm" },
    { S("embed_in"), INPUT, 100, 0, "token table of gpt-neox" },
    { S("shared"), INPUT, 104, 0, "token table shared by encoder and decoder (t5, bart)" },
    { S("in_out_embed"), INPUT, 100, BOTH, "one table for both roles (grok-1)" },
    { S("token_embeddings"), INPUT, 100, 0, "token table of openelm" },
    { S("token_embedding"), INPUT, 100, 0, "token table of clip, whisper's own files" },
    { S("token_embedding_table"), INPUT, 100, 0, "token table of a teaching model" },
    { S("token_embedding_table"), INPUT, 100, BARE | WHOLE, "token table of llama2.c" },
    { S("tok_emb"), INPUT, 100, 0, "token table of a teaching model" },
    { S("tokens_embed"), INPUT, 100, 0, "token table of openai-gpt" },
    { S("word_embedding"), INPUT, 100, 0, "token table of xlnet" },
    { S("token_embd"), INPUT, 100, 0, "token table under its GGUF name" },
    { S("input_embedding"), INPUT, 90, 0, "token table of a JAX model" },
    { S("embeddings"), INPUT, 80, 0, "token table of mamba, rwkv, xlm" },
    { S("embedding"), INPUT, 80, 0,
      "a table called embedding, as in static models and mamba's own files" },
    { S("embeddings"), INPUT, 100, WHOLE | BARE | MAP, "a table called embeddings" },
    { S("0"), INPUT, 60, WHOLE | BARE | MAP, "a table called 0" },
    { S("emb_params"), INPUT, 90, WHOLE | BARE, "rows of a textual inversion" },
    { S("*"), INPUT, 90, WHOLE | BARE, "rows of a textual inversion" },
    { S("embed_text_tokens"), INPUT, 100, 0, "text tokens of csm" },
    { S("input_embeds_layer"), INPUT, 100, 0, "token table of bark" },
    { S("emb"), INPUT, 80, WEAK, "token table of rwkv's own files" },
    { S("embed"), INPUT, 80, WEAK, "token table of deepseek-v4, talkie, inkling" },
    { S("w"), INPUT, 70, WEAK, "token table of ctrl" },
    { S("encoder"), INPUT, 60, WEAK | WHOLE, "token table of neobert or of a plain encoder" },
    { S("weight"), INPUT, 60, WHOLE | BARE, "the weight of a lone embedding layer" },
    /* translation: marian, nematus, opennmt, the annotated transformer, tutorials */
    { S("Wemb"), INPUT, 104, WHOLE | BARE, "token table of marian, nematus" },
    { S("encoder_Wemb"), INPUT, 100, WHOLE | BARE | ENC, "token table of marian" },
    { S("decoder_Wemb"), INPUT, 94, WHOLE | BARE | DEC, "token table of marian" },
    { S("Wemb_dec"), INPUT, 94, WHOLE | BARE | DEC, "token table of nematus" },
    { S("emb_luts.0"), INPUT, 100, 0, "token table of opennmt" },
    { S("src_embed.0.lut"), INPUT, 100, ENC, "token table of the annotated transformer" },
    { S("tgt_embed.0.lut"), INPUT, 94, DEC, "token table of the annotated transformer" },
    { S("src_word_emb"), INPUT, 100, ENC, "token table of a translator" },
    { S("trg_word_emb"), INPUT, 94, DEC, "token table of a translator" },
    { S("src_tok_emb.embedding"), INPUT, 100, ENC, "token table of a translator" },
    { S("tgt_tok_emb.embedding"), INPUT, 94, DEC, "token table of a translator" },
    { S("src_embedding"), INPUT, 100, ENC, "token table of a translator" },
    { S("tgt_embedding"), INPUT, 94, DEC, "token table of a translator" },
    { S("trg_embedding"), INPUT, 94, DEC, "token table of a translator" },
    /* skip-gram: vectors of words, and of contexts, which serve as its head */
    { S("u_embeddings"), INPUT, 90, WEAK | PAIR, "vectors of words (skip-gram)" },
    { S("in_embed"), INPUT, 90, WEAK | PAIR, "vectors of words (skip-gram)" },
    { S("in_embedding"), INPUT, 90, WEAK | PAIR, "vectors of words (skip-gram)" },
    { S("in_embeddings"), INPUT, 90, WEAK | PAIR, "vectors of words (skip-gram)" },
    { S("input_embeddings"), INPUT, 90, 0, "vectors of words (skip-gram)" },
    { S("center_embeddings"), INPUT, 90, WEAK | PAIR, "vectors of words (skip-gram)" },
    { S("ivectors"), INPUT, 90, WEAK | PAIR, "vectors of words (skip-gram)" },
    { S("syn0"), INPUT, 90, WHOLE | BARE, "vectors of words (skip-gram)" },
    /* output heads */
    { S("lm_head"), HEAD, 100, 0, "output head of most decoders" },
    { S("wcls"), HEAD, 100, BARE | WHOLE, "output head of llama2.c" },
    { S("lm_head.linear"), HEAD, 100, 0, "output head of phi-2's old files" },
    { S("lm_head.decoder"), HEAD, 100, 0, "output head of roberta and kin" },
    { S("lm_head.out_proj"), HEAD, 100, 0, "output head of t5gemma" },
    { S("predictions.decoder"), HEAD, 100, 0, "output head of bert, albert and kin" },
    { S("embed_out"), HEAD, 100, 0, "output head of gpt-neox" },
    { S("vocab_projector"), HEAD, 100, 0, "output head of distilbert" },
    { S("generator_lm_head"), HEAD, 100, 0, "output head of electra" },
    { S("word_embeddings_for_head"), HEAD, 100, 0, "output head of persimmon" },
    { S("output_layer"), HEAD, 100, 0, "output head of chatglm" },
    { S("output_projection"), HEAD, 100, 0, "output head of fsmt, trocr, biogpt" },
    { S("lm_loss"), HEAD, 100, 0, "output head of xlnet" },
    { S("pred_layer.proj"), HEAD, 100, 0, "output head of xlm" },
    { S("unembed"), HEAD, 100, 0, "output head of inkling" },
    { S("out_head"), HEAD, 100, 0, "output head of a teaching model" },
    { S("proj_out"), HEAD, 90, WEAK, "output head of whisper" },
    { S("output"), HEAD, 90, WEAK, "output head of llama's own files, internlm2, git, GGUF" },
    { S("ff_out"), HEAD, 90, WEAK, "output head of olmo's own files, llada" },
    { S("head.decoder"), HEAD, 90, WEAK, "output head of modernbert" },
    { S("decoder"), HEAD, 80, WEAK | WHOLE, "output head of modernbert" },
    { S("head"), HEAD, 80, WEAK, "output head of rwkv, deepseek-v4" },
    { S("decoder_ff_logit_out_W"), HEAD, 100, WHOLE | BARE, "output head of marian" },
    { S("ff_logit_W"), HEAD, 100, WHOLE | BARE, "output head of nematus" },
    { S("generator"), HEAD, 80, WEAK, "output head of opennmt and translators" },
    { S("generator.0"), HEAD, 90, WEAK, "output head of opennmt" },
    { S("generator.proj"), HEAD, 90, WEAK, "output head of the annotated transformer" },
    { S("trg_word_prj"), HEAD, 90, 0, "output head of a translator" },
    { S("out"), HEAD, 80, WEAK, "output head of a decoder" },
    { S("fc_out"), HEAD, 80, WEAK, "output head of a decoder" },
    { S("v_embeddings"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("out_embed"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("out_embedding"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("out_embeddings"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("output_embeddings"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("context_embeddings"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("ovectors"), HEAD, 90, WEAK | PAIR, "vectors of contexts (skip-gram)" },
    { S("syn1neg"), HEAD, 90, WHOLE | BARE, "vectors of contexts (skip-gram)" },
    /* the same without ".weight", as arrays saved by hand have it */
    { S("embed_tokens"), INPUT, 90, BARE, "token table of llama, qwen, gemma, opt and kin" },
    { S("wte"), INPUT, 90, BARE, "token table of gpt2 and kin" },
    { S("input_embedding"), INPUT, 90, BARE, "token table of a JAX model" },
    { S("word_embeddings"), INPUT, 90, BARE, "token table of bert, as TensorFlow names it" },
    { S("token_embedder"), INPUT, 100, 0, "token table of T5X" },
    { S("logits_dense"), HEAD, 100, 0, "output head of T5X" },
    { S("embedding"), INPUT, 80, WHOLE | BARE, "a lone embedding" },
    { S("lm_head"), HEAD, 90, BARE, "output head of most decoders" },
    /* companions: near the table, never the table */
    { S("wpe"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("wpe"), WTE_KIND_POSITIONS, 0, WHOLE | BARE, "position table" },
    { S("position_embeddings"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("position_embeddings"), WTE_KIND_POSITIONS, 0, BARE, "position table" },
    { S("position_embedding"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("position_embedding_table"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("positions_embed"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("embed_positions"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("pos_embed"), WTE_KIND_POSITIONS, 0, BARE, "position table" },
    { S("pos_embed"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("pos_emb"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("position_embd"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("positional_embedding"), WTE_KIND_POSITIONS, 0, BARE, "position table" },
    { S("positional_embedding"), WTE_KIND_POSITIONS, 0, 0, "position table" },
    { S("relative_attention_bias"), OTHER, 0, 0, "relative position table" },
    { S("rel_embeddings"), OTHER, 0, 0, "relative position table" },
    { S("token_type_embeddings"), OTHER, 0, 0, "token type table" },
    { S("token_type_embeddings"), OTHER, 0, BARE, "token type table" },
    { S("token_types"), OTHER, 0, 0, "token type table" },
    { S("type_embeddings"), OTHER, 0, 0, "token type table" },
    { S("lang_embeddings"), OTHER, 0, 0, "language table" },
    { S("patch_embedding"), OTHER, 0, 0, "patch projection" },
    { S("patch_embeddings.projection"), OTHER, 0, 0, "patch projection" },
    { S("patch_embed.proj"), OTHER, 0, 0, "patch projection" },
    { S("class_embedding"), OTHER, 0, BARE, "class vector of an image model" },
    { S("entity_embeddings"), OTHER, 0, 0, "entity table" },
    { S("embed_tokens_per_layer"), OTHER, 0, 0, "per-layer token table" },
    { S("per_layer_token_embd"), OTHER, 0, 0, "per-layer token table" },
    { S("encoder_hash_tok_embedding"), OTHER, 0, 0, "hashed n-gram table" },
    { S("embed_audio_tokens"), OTHER, 0, 0, "codes of sounds" },
    { S("eoi_embedding"), OTHER, 0, BARE, "one extra row" },
    { S("additional_embedding"), OTHER, 0, 0, "rows of added ids, stored apart" },
    { S("additional_fc"), OTHER, 0, 0, "head rows of added ids, stored apart" },
    { S("lora_embedding_A"), OTHER, 0, BARE, "factor of an adapter" },
    { S("lora_embedding_B"), OTHER, 0, BARE, "factor of an adapter" },
    { S("lm_head.lora_A"), OTHER, 0, 0, "factor of an adapter" },
    { S("lm_head.lora_B"), OTHER, 0, 0, "factor of an adapter" },
    { S("trainable_tokens_delta"), OTHER, 0, BARE, "replacement rows of an adapter" },
    { S("mapping"), OTHER, 0, WHOLE | BARE, "token id to row" },
    { S("weights"), WTE_KIND_WEIGHTS, 0, WHOLE | BARE, "weight of each token" },
    { S("embeddings.LayerNorm"), OTHER, 0, 0, "norm after the lookup" },
    { S("embeddings.norm"), OTHER, 0, 0, "norm after the lookup" },
    { S("emb_ln"), OTHER, 0, 0, "norm after the lookup" },
    { S("word_embeddings_layernorm"), OTHER, 0, 0, "norm after the lookup" },
    { S("layernorm_embedding"), OTHER, 0, 0, "norm after the lookup" },
    { S("embed_norm"), OTHER, 0, 0, "norm after the lookup" },
    { S("token_embd_norm"), OTHER, 0, 0, "norm after the lookup" },
    { S("predictions"), WTE_KIND_HEAD_BIAS, 0, BIAS, "bias of the head" },
    { S("lm_predictions.lm_head"), WTE_KIND_HEAD_BIAS, 0, BIAS, "bias of the head" },
    { S("lm_head_bias"), WTE_KIND_HEAD_BIAS, 0, BARE, "bias of the head" },
    { S("decoder_bias"), WTE_KIND_HEAD_BIAS, 0, BARE | WHOLE, "bias of the head" },
    { S("output_bias"), WTE_KIND_HEAD_BIAS, 0, BARE | WHOLE, "bias of the head" },
    { S("decoder_ff_logit_out_b"), WTE_KIND_HEAD_BIAS, 0, BARE | WHOLE, "bias of the head" },
    { S("ff_logit_b"), WTE_KIND_HEAD_BIAS, 0, BARE | WHOLE, "bias of the head" },
    { S("syn1"), OTHER, 0, BARE | WHOLE, "inner nodes of a tree of words (skip-gram)" },
    { S("predictions.output_bias"), WTE_KIND_HEAD_BIAS, 0, BARE, "bias of the head" },
    { S("final_logits_bias"), WTE_KIND_HEAD_BIAS, 0, BARE, "bias of the logits" },
    { S("embedding_hidden_mapping_in"), WTE_KIND_PROJECT_IN, 0, 0,
      "projection of the looked-up row" },
    { S("embeddings_project"), WTE_KIND_PROJECT_IN, 0, 0, "projection of the looked-up row" },
    { S("embed_proj"), WTE_KIND_PROJECT_IN, 0, 0, "projection of the looked-up row" },
    { S("project_in_dim"), WTE_KIND_PROJECT_IN, 0, 0, "projection of the looked-up row" },
    { S("project_out_dim"), WTE_KIND_PROJECT_OUT, 0, 0, "projection before the head" },
    { S("project_in"), WTE_KIND_PROJECT_IN, 0, 0, "projection of the looked-up row" },
    { S("project_out"), WTE_KIND_PROJECT_OUT, 0, 0, "projection before the head" },
};

/* Segments that say nothing: put there by a trainer, a wrapper or a multimodal frame. */
static const char *const wrappers[] = {
    "model",
    "transformer",
    "base_model",
    "_orig_mod",
    "module",
    "backbone",
    "language_model",
    "thinker",
    "text_model",
    "llm",
    "auto_model",
    "_fsdp_wrapped_module",
    "embedder",
    "embd",
    "_forward_module",
    "_checkpoint_wrapped_module",
    "embedding",
    "embeddings",
    "cond_stage_model",
    "text_encoder",
    "state_dict",
    "network",
    "lm",
    "cls",
    "conditioner",
    "text_encoders",
    "clip_l",
    "string_to_param",
};

/* Segments of another part of the model: what is below is not the text model's table. */
static const struct {
    const char *segment, *why;
} outside[] = {
    { "vision_tower", "in the vision part" },
    { "vision_model", "in the vision part" },
    { "vision_encoder", "in the vision part" },
    { "visual", "in the vision part" },
    { "vision", "in the vision part" },
    { "image_encoder", "in the vision part" },
    { "image_tower", "in the vision part" },
    { "embed_vision", "in the vision part" },
    { "qformer", "in the query transformer" },
    { "audio_tower", "in the audio part" },
    { "audio_encoder", "in the audio part" },
    { "audio_model", "in the audio part" },
    { "embed_audio", "in the audio part" },
    { "speech_encoder", "in the audio part" },
    { "talker", "in the speech part" },
    { "code_predictor", "in the speech part" },
    { "token2wav", "in the speech part" },
    { "codec", "in the audio part" },
    { "codec_model", "in the audio part" },
    { "depth_decoder", "in the audio part" },
    { "mtp", "in the multi-token predictor" },
    { "nextn", "in the multi-token predictor" },
    { "shared_head", "in the multi-token predictor" },
    { "entity_embeddings", "in the entity part" },
};

/* Segments between the stem and ".weight" that a fine-tuning tool puts there. */
static const struct {
    const char *segment;
    int32_t score;
} tails[] = {
    { "default", 0 },          { "base_layer", 0 },
    { "token_adapter", 0 },    { "original_module", -20 }, /* what modules_to_save has replaced */
    { "modules_to_save", 10 },
};
#define UNNAMED 0u /* counts as "default" */

/* What ends the name of a table's numbers, or of their packed codes (quant.c). */
static const char *const suffixes[] = {
    ".weight",       ".qweight", ".weight_packed", ".W_q",     "._weight_qdata", ".weight:qdata",
    ".weight._data", ".codes",   ".Qidxs",         ".indices", ".q_weight",      ".trellis",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Segments of a name that are looked at; real ones have under ten. */
#define MAX_DEPTH 32u

struct text {
    const char *at;
    size_t bytes;
};

static bool is(struct text t, const char *word)
{
    size_t n = strlen(word);
    return t.bytes == n && memcmp(t.at, word, n) == 0;
}

/* Flax and TensorFlow write transformer/wte/embedding. */
static bool is_separator(char c)
{
    return c == '.' || c == '/';
}

/* Cut the last segment off *t. */
static struct text last_segment(struct text *t)
{
    size_t at = t->bytes;
    while (at > 0 && !is_separator(t->at[at - 1])) at--;
    struct text segment = { t->at + at, t->bytes - at };
    t->bytes = at ? at - 1 : 0;
    return segment;
}

static bool is_number(struct text t)
{
    for (size_t i = 0; i < t.bytes; i++)
        if (t.at[i] < '0' || t.at[i] > '9') return false;
    return t.bytes > 0;
}

static bool is_wrapper(struct text t)
{
    for (size_t i = 0; i < COUNT(wrappers); i++)
        if (is(t, wrappers[i])) return true;
    return false;
}

const char *wte__code_suffix(const char *name, uint64_t bytes)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        const size_t n = strlen(suffixes[i]);
        if (bytes >= n && memcmp(name + bytes - n, suffixes[i], n) == 0) return suffixes[i];
    }
    return NULL;
}

/* Take ".weight" and the like off; which flag the rules must have for what was there. */
static unsigned cut_leaf(struct text *t)
{
    struct text whole = *t, leaf = last_segment(t);
    const char *suffix = wte__code_suffix(whole.at, whole.bytes);
    bool alone = leaf.bytes == whole.bytes;
    if (suffix) {
        t->bytes = whole.bytes - strlen(suffix);
        return 0;
    }
    if (!alone && is(leaf, "kernel")) return 0;
    if (!alone && is(leaf, "bias")) return WTE__RULE_BIAS;
    *t = whole;
    return WTE__RULE_BARE;
}

static int32_t cut_tails(struct text *t)
{
    int32_t score = 0;
    for (;;) {
        struct text rest = *t, segment = last_segment(&rest);
        size_t i = 0;
        while (i < COUNT(tails) && !is(segment, tails[i].segment)) i++;
        /* modules_to_save.NAME: any name that somebody gave an adapter */
        struct text before = rest;
        if (i == COUNT(tails) && is(last_segment(&before), "modules_to_save")) i = UNNAMED;
        if (i == COUNT(tails) || rest.bytes == 0) return score;
        score += tails[i].score;
        *t = rest;
    }
}

static bool ends_with(struct text t, const char *stem, size_t n)
{
    if (t.bytes < n || (t.bytes > n && !is_separator(t.at[t.bytes - n - 1]))) return false;
    const char *end = t.at + t.bytes - n;
    for (size_t i = 0; i < n; i++)
        if (end[i] != stem[i] && !(stem[i] == '.' && end[i] == '/')) return false;
    return true;
}

static const wte__name_rule *longest_rule(struct text t, unsigned leaf)
{
    const wte__name_rule *best = NULL;
    for (size_t i = 0; i < COUNT(rules); i++) {
        const wte__name_rule *rule = &rules[i];
        if ((rule->flags & (BARE | BIAS)) != leaf || (best && rule->bytes <= best->bytes)) continue;
        if (ends_with(t, rule->stem, rule->bytes)) best = rule;
    }
    return best;
}

/* Why a segment puts what is below it outside the text model's own tables, or NULL. */
static const char *outside_of(struct text segment, bool first)
{
    /* 0.auto_model: a list of modules; any other number is a layer, or one of several tables */
    if (is_number(segment) && !first)
        return "in a numbered block: a layer's own, a copy for multi-token prediction, or one of "
               "a list";
    for (size_t i = 0; i < COUNT(outside); i++)
        if (is(segment, outside[i].segment)) return outside[i].why;
    return NULL;
}

/* conditioner.embedders.1: one of several text encoders, each a model of its own; the first comes
 * first. */
static bool is_embedder(struct text number, struct text before, int32_t *context)
{
    if (!is_number(number) || !is(last_segment(&before), "embedders")) return false;
    *context -= number.bytes == 1 ? number.at[0] - '0' : 9;
    return true;
}

/* Judge the segments before the stem. */
static void judge_prefix(struct text prefix, wte__name *out)
{
    const bool weak = out->rule->flags & WEAK;
    bool plain = true;
    for (unsigned depth = 0; prefix.bytes; depth++) {
        struct text segment = last_segment(&prefix);
        if (is_wrapper(segment) && depth < MAX_DEPTH) continue;
        if (is_embedder(segment, prefix, &out->context)) {
            last_segment(&prefix);
            continue;
        }
        out->outside = depth < MAX_DEPTH ? outside_of(segment, prefix.bytes == 0)
                                         : "nested deeper than any model's table";
        if (out->outside) return;
        if (is_number(segment)) continue;
        plain = false;
        /* of the two tables of an encoder-decoder model the encoder's is its input */
        const bool encoder = is(segment, "encoder"), decoder = is(segment, "decoder");
        out->context -= decoder ? 6 : encoder ? 3 : weak ? 25 : 1;
        if (!out->part && (encoder || decoder))
            out->part = encoder ? WTE_SIDE_ENCODER : WTE_SIDE_DECODER;
    }
    if (out->rule->flags & (ENC | DEC))
        out->part = out->rule->flags & ENC ? WTE_SIDE_ENCODER : WTE_SIDE_DECODER;
    if (!plain && (out->rule->flags & WHOLE)) out->rule = NULL;
}

bool wte__name_same_module(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    struct text x = { a, a_bytes }, y = { b, b_bytes };
    bool last = true; /* a table may be called like a wrapper: embeddings */
    for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
        struct text s = last_segment(&x), t = last_segment(&y);
        while (!last && s.bytes && is_wrapper(s)) s = last_segment(&x);
        while (!last && t.bytes && is_wrapper(t)) t = last_segment(&y);
        if (s.bytes != t.bytes || memcmp(s.at, t.at, s.bytes) != 0) return false;
        if (!s.bytes) return true;
        last = false;
    }
    return false;
}

bool wte__name_is_outside(const char *name, uint64_t bytes)
{
    struct text t = { name, (size_t)bytes };
    for (unsigned depth = 0; t.bytes; depth++) {
        struct text segment = last_segment(&t);
        if (depth >= MAX_DEPTH || outside_of(segment, t.bytes == 0)) return true;
    }
    return false;
}

bool wte__name_is_listed(const char *name, uint64_t bytes)
{
    struct text t = { name, (size_t)bytes };
    (void)cut_leaf(&t);
    return is_number(last_segment(&t)) && t.bytes > 0 && !wte__name_is_outside(t.at, t.bytes);
}

/* NAME.bias, where NAME is a head's, is its bias. */
static const wte__name_rule head_bias = { S(""), WTE_KIND_HEAD_BIAS, 0, BIAS, "bias of the head" };
static const wte__name_rule weak_head_bias = { S(""), WTE_KIND_HEAD_BIAS, 0, BIAS | WEAK,
                                               "bias of the head" };

static const wte__name_rule *bias_rule(struct text t)
{
    const wte__name_rule *head = longest_rule(t, 0);
    return head && head->kind == HEAD ? head : NULL;
}

/* "generator.0": the number belongs to the name that a rule knows. */
static bool is_numbered_stem(struct text t, struct text number, unsigned leaf)
{
    const wte__name_rule *rule = longest_rule(t, leaf == BIAS ? 0 : leaf);
    return rule && rule->bytes > number.bytes;
}

wte__name wte__name_judge(const char *name, uint64_t bytes)
{
    struct text t = { name, (size_t)bytes };
    wte__name out = { NULL, NULL, 0, WTE_SIDE_NONE };
    unsigned leaf = cut_leaf(&t);
    int32_t tail = cut_tails(&t);
    struct text before = t, segment = last_segment(&before);
    bool numbered = is_number(segment) && before.bytes > 0 && !is_numbered_stem(t, segment, leaf);
    if (numbered) t = before;
    bool flax = leaf == BARE && before.bytes > 0 && is(segment, "embedding");
    if (flax) out.rule = longest_rule(before, 0); /* embed_tokens.embedding */
    if (out.rule)
        t = before;
    else
        out.rule = longest_rule(t, leaf);
    const bool implied = !out.rule && leaf == BIAS;
    if (implied) out.rule = bias_rule(t);
    if (!out.rule) return out;
    out.context = tail;
    size_t n = out.rule->bytes;
    struct text prefix = { t.at, t.bytes > n ? t.bytes - n - 1 : 0 };
    judge_prefix(prefix, &out);
    if (implied && out.rule) out.rule = out.rule->flags & WEAK ? &weak_head_bias : &head_bias;
    if (numbered && out.rule) out.outside = "one of a numbered list of tables";
    return out;
}

bool wte__name_hints_head(const char *name, uint64_t bytes)
{
    static const char *const words[] = { "head", "output", "logits", "unembed", "proj" };
    for (size_t i = 0; i < COUNT(words); i++) {
        size_t n = strlen(words[i]);
        for (uint64_t at = 0; at + n <= bytes; at++)
            if (memcmp(name + at, words[i], n) == 0) return true;
    }
    return false;
}
