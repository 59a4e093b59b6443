/* Two tables of facts about model families: what an absent tie_word_embeddings means, and which
 * classes have an output head. Data only; resolution is in config.c.
 *
 * Stands for the config classes of transformers 4.57 (October 2025) and, in the second column, 5.16
 * (August 2026). In 4.x a class that is silent inherits true. */
#include <string.h>

#include "model/model.h"

/* X(model_type, 4.57, 5.16, head when the config names no class) */
#define T  true
#define F  false
#define LM WTE__HEAD_EXPECTED
#define NO WTE__HEAD_NONE
static const wte__family families[] = {
    /* the class itself says false */
    { "apertus", F, F, LM },
    { "arcee", F, F, LM },
    { "aria_text", F, F, LM },
    { "bamba", F, F, LM },
    { "bitnet", F, F, LM },
    { "chameleon", F, F, LM },
    { "codegen", F, F, LM },
    { "dbrx", F, F, LM },
    { "deepseek_v2", F, F, LM },
    { "deepseek_v3", F, F, LM },
    { "diffllama", F, F, LM },
    { "doge", F, F, LM },
    { "dots1", F, F, LM },
    { "exaone4", F, F, LM },
    { "falcon_h1", F, F, LM },
    { "fsmt", F, F, LM },
    { "fuyu", F, F, LM },
    { "git", F, F, LM },
    { "glm", F, F, LM },
    { "glm4", F, F, LM },
    { "glm4_moe", F, F, LM },
    { "gpt_neox", F, F, LM },
    { "gpt_oss", F, F, LM },
    { "gptj", F, F, LM },
    { "granite", F, F, LM },
    { "granitemoe", F, F, LM },
    { "granitemoehybrid", F, F, LM },
    { "granitemoeshared", F, F, LM },
    { "helium", F, F, LM },
    { "hunyuan_v1_dense", F, F, LM },
    { "hunyuan_v1_moe", F, F, LM },
    { "idefics", F, F, LM },
    { "idefics2", F, F, LM },
    { "idefics3", F, F, LM },
    { "imagegpt", F, F, LM },
    { "jamba", F, F, LM },
    { "llama", F, F, LM },
    { "llama4", F, F, LM },
    { "llama4_text", F, F, LM },
    { "llava_next", F, F, LM },
    { "mamba2", F, F, LM },
    { "minimax", F, F, LM },
    { "ministral", F, F, LM },
    { "mistral", F, F, LM },
    { "mixtral", F, F, LM },
    { "mllama_text_model", F, F, LM },
    { "moshi", F, F, LM },
    { "musicgen_decoder", F, F, LM },
    { "nemotron", F, F, LM },
    { "olmo", F, F, LM },
    { "olmo2", F, F, LM },
    { "olmo3", F, F, LM },
    { "olmoe", F, F, LM },
    { "persimmon", F, F, LM },
    { "phi", F, F, LM },
    { "phi3", F, F, LM },
    { "phi4_multimodal", F, F, LM },
    { "phimoe", F, F, LM },
    { "pix2struct", F, F, LM },
    { "qwen2", F, F, LM },
    { "qwen2_5_vl_text", F, F, LM },
    { "qwen2_moe", F, F, LM },
    { "qwen2_vl_text", F, F, LM },
    { "qwen3", F, F, LM },
    { "qwen3_moe", F, F, LM },
    { "qwen3_next", F, F, LM },
    { "qwen3_vl", F, F, LM },
    { "qwen3_vl_text", F, F, LM },
    { "reformer", F, F, LM },
    { "rembert", F, F, NO },
    { "rwkv", F, F, LM },
    { "seed_oss", F, F, LM },
    { "smolvlm", F, F, LM },
    { "stablelm", F, F, LM },
    { "vilt", F, F, NO },
    { "xlstm", F, F, LM },
    /* says true, or is silent */
    { "albert", T, T, NO },
    { "bart", T, T, LM },
    { "bert", T, T, NO },
    { "blenderbot", T, T, LM },
    { "bloom", T, T, LM },
    { "cohere", T, T, LM },
    { "cohere2", T, T, LM },
    { "cohere2_vision", T, T, LM },
    { "ctrl", T, T, LM },
    { "deberta", T, T, NO },
    { "deberta-v2", T, T, NO },
    { "distilbert", T, T, NO },
    { "electra", T, T, NO },
    { "ernie4_5", T, T, LM },
    { "falcon", T, T, LM },
    { "falcon_mamba", T, T, LM },
    { "gemma", T, T, LM },
    { "gemma2", T, T, LM },
    { "gemma3", T, T, LM },
    { "gemma3_text", T, T, LM },
    { "gemma3n", T, T, LM },
    { "gemma3n_text", T, T, LM },
    { "got_ocr2", T, T, LM },
    { "gpt2", T, T, LM },
    { "gpt_bigcode", T, T, LM },
    { "gpt_neo", T, T, LM },
    { "internvl", T, T, LM },
    { "jetmoe", T, T, LM },
    { "led", T, T, LM },
    { "lfm2", T, T, LM },
    { "longt5", T, T, LM },
    { "m2m_100", T, T, LM },
    { "mamba", T, T, LM },
    { "marian", T, T, LM },
    { "mbart", T, T, LM },
    { "mistral3", T, T, LM },
    { "modernbert", T, T, NO },
    { "mpt", T, T, LM },
    { "openai-gpt", T, T, LM },
    { "opt", T, T, LM },
    { "paligemma", T, T, LM },
    { "pegasus", T, T, LM },
    { "recurrent_gemma", T, T, LM },
    { "roberta", T, T, NO },
    { "smollm3", T, T, LM },
    { "starcoder2", T, T, LM },
    { "switch_transformers", T, T, LM },
    { "t5", T, T, LM },
    { "umt5", T, T, LM },
    { "whisper", T, T, LM },
    { "xglm", T, T, LM },
    { "xlm", T, T, LM },
    { "xlm-roberta", T, T, NO },
    { "xlnet", T, T, LM },
    { "zamba", T, T, LM },
    { "zamba2", T, T, LM },
    /* the two versions differ */
    { "aria", T, F, LM },
    { "blip-2", T, F, LM },
    { "clip", T, F, NO },
    { "emu3", T, F, LM },
    { "encoder-decoder", T, F, LM },
    { "glm4v", T, F, LM },
    { "glm4v_moe", T, F, LM },
    { "instructblip", T, F, LM },
    { "llava", T, F, LM },
    { "mllama", T, F, LM },
    { "mt5", F, T, LM },
    { "qwen2_5_omni_text", F, T, LM },
    { "qwen2_5_omni_thinker", T, F, LM },
    { "qwen2_5_vl", T, F, LM },
    { "qwen2_vl", T, F, LM },
    { "qwen3_vl_moe_text", F, T, LM },
    { "siglip", T, F, NO },
    { "video_llava", T, F, LM },
    { "vipllava", T, F, LM },
    { "voxtral", T, F, LM },
};
#undef T
#undef F
#undef LM
#undef NO

const wte__family *wte__family_find(const char *model_type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].model_type, model_type) == 0) return &families[i];
    return NULL;
}

/* Language models for which no default of the flag is known here: types of models with code of
 * their own, and of later versions. A stored flag that says tied is enough for them to have a
 * head. */
static const char *const language_models[] = {
    "afmoe",
    "aquila",
    "aquila3",
    "arctic",
    "baichuan",
    "baichuan_m1",
    "bailing_moe",
    "bailing_moe_linear",
    "bailing_moe_v2",
    "biogpt",
    "blt",
    "btlm",
    "chatglm",
    "codeshell",
    "cpm",
    "cpmant",
    "cwm",
    "deci",
    "deepseek",
    "deepseek_v32",
    "deepseek_v4",
    "deepseek_vl",
    "deepseek_vl_hybrid",
    "deepseek_vl_v2",
    "dream",
    "ernie4_5_moe",
    "exaone",
    "exaone_moe",
    "flex_olmo",
    "gemma4",
    "gemma4_text",
    "glm4_moe_lite",
    "glm_moe_dsa",
    "grok-1",
    "grok-2",
    "hrm_text",
    "hunyuan",
    "hyperclovax",
    "inkling",
    "internlm",
    "internlm2",
    "internlm3",
    "jais",
    "jais2",
    "kimi_k2",
    "kimi_linear",
    "kimi_vl",
    "lfm2_moe",
    "lfm2_vl",
    "llada",
    "longcat_flash",
    "mimo",
    "mimo_v2_flash",
    "minicpm",
    "minicpm3",
    "minimax_m1",
    "minimax_m2",
    "ministral3",
    "mistral4",
    "mixformer-sequential",
    "nanochat",
    "nemotron-nas",
    "nemotron_h",
    "olmo_hybrid",
    "openelm",
    "openmoe",
    "orion",
    "ouro",
    "phi-msft",
    "phi3small",
    "phi4_multimodal",
    "phi4flash",
    "phi4mm",
    "plamo",
    "plamo2",
    "plamo3",
    "prophetnet",
    "qwen",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_5_moe_text",
    "qwen3_5_text",
    "refinedweb",
    "refinedwebmodel",
    "rwkv5",
    "rwkv6",
    "rwkv7",
    "skywork",
    "solar",
    "stablelm_alpha",
    "stablelm_epoch",
    "step3",
    "step3_vl",
    "t5gemma",
    "talkie",
    "telechat",
    "transfo-xl",
    "vaultgemma",
    "xlm-prophetnet",
    "xverse",
    "youtu",
    "zaya",
};

bool wte__family_is_language_model(const char *model_type)
{
    for (size_t i = 0; i < sizeof language_models / sizeof *language_models; i++)
        if (wte__quant_is(language_models[i], model_type)) return true;
    return false;
}

/* Ends of class names; the first that fits decides, so "Model" comes last. */
static const struct {
    const char *end;
    wte__head_class has_head;
} classes[] = {
    { "ForCausalLM", WTE__HEAD_EXPECTED },
    { "LMHeadModel", WTE__HEAD_EXPECTED },
    { "DoubleHeadsModel", WTE__HEAD_EXPECTED },
    { "ForConditionalGeneration", WTE__HEAD_EXPECTED },
    { "ForMaskedLM", WTE__HEAD_EXPECTED },
    { "ForPreTraining", WTE__HEAD_EXPECTED },
    { "ForImageTextToText", WTE__HEAD_EXPECTED },
    { "ForVision2Seq", WTE__HEAD_EXPECTED },
    { "ForSpeechSeq2Seq", WTE__HEAD_EXPECTED },
    { "EncoderDecoderModel", WTE__HEAD_EXPECTED },
    { "ForCTC", WTE__HEAD_EXPECTED },
    { "MTModel", WTE__HEAD_EXPECTED },
    { "ChatGLMModel", WTE__HEAD_EXPECTED },
    { "Classification", WTE__HEAD_NONE },
    { "QuestionAnswering", WTE__HEAD_NONE },
    { "ForMultipleChoice", WTE__HEAD_NONE },
    { "ForNextSentencePrediction", WTE__HEAD_NONE },
    { "ForTextEncoding", WTE__HEAD_NONE },
    { "WithProjection", WTE__HEAD_NONE },
    { "Embedding", WTE__HEAD_NONE },
    { "Model", WTE__HEAD_NONE },
};

wte__head_class wte__class_has_head(const char *architecture)
{
    size_t n = strlen(architecture);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t k = strlen(classes[i].end);
        if (n >= k && memcmp(architecture + n - k, classes[i].end, k) == 0)
            return classes[i].has_head;
    }
    return WTE__HEAD_UNKNOWN;
}

/* Classes that read no token ids, by a part of their name, and families of which no class does. */
static const struct {
    const char *part, *reads;
} senses[] = {
    { "ForCTC", "sounds" },
    { "ForAudioClassification", "sounds" },
    { "ForAudioFrameClassification", "sounds" },
    { "ForXVector", "sounds" },
    { "AudioModel", "sounds" },
    { "ForImageClassification", "pictures" },
    { "ForVideoClassification", "pictures" },
    { "ForMaskedImageModeling", "pictures" },
    { "ForObjectDetection", "pictures" },
    { "ForSemanticSegmentation", "pictures" },
    { "ForInstanceSegmentation", "pictures" },
    { "ForUniversalSegmentation", "pictures" },
    { "ForImageSegmentation", "pictures" },
    { "ForDepthEstimation", "pictures" },
    { "ForPoseEstimation", "pictures" },
    { "ForKeypointDetection", "pictures" },
    { "VisionModel", "pictures" },
};
static const char *const hearing[] = {
    "audio-spectrogram-transformer",
    "data2vec-audio",
    "hubert",
    "mctct",
    "parakeet_ctc",
    "sew",
    "sew-d",
    "unispeech",
    "unispeech-sat",
    "wav2vec2",
    "wav2vec2-bert",
    "wav2vec2-conformer",
    "wavlm",
};
static const char *const seeing[] = {
    "beit",         "clip_vision_model",
    "convnext",     "convnextv2",
    "cvt",          "data2vec-vision",
    "deit",         "detr",
    "dinov2",       "dinov2_with_registers",
    "dinov3_vit",   "efficientnet",
    "focalnet",     "hiera",
    "ijepa",        "levit",
    "mobilenet_v1", "mobilenet_v2",
    "mobilevit",    "mobilevitv2",
    "poolformer",   "pvt",
    "pvt_v2",       "regnet",
    "resnet",       "segformer",
    "swin",         "swinv2",
    "timesformer",  "siglip_vision_model",
    "videomae",     "vit",
    "vit_mae",      "vit_msn",
    "vivit",        "yolos",
};

static bool is_one_of(const char *const *list, size_t n, const char *model_type)
{
    for (size_t i = 0; i < n; i++)
        if (wte__quant_is(list[i], model_type)) return true;
    return false;
}

const char *wte__class_reads(const char *architecture, const char *model_type)
{
    for (size_t i = 0; i < sizeof senses / sizeof *senses; i++)
        if (strstr(architecture, senses[i].part)) return senses[i].reads;
    if (is_one_of(hearing, sizeof hearing / sizeof *hearing, model_type)) return "sounds";
    return is_one_of(seeing, sizeof seeing / sizeof *seeing, model_type) ? "pictures" : NULL;
}
