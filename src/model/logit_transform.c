/* What a model does between its last hidden state and its logits besides the product with the head,
 * by family (transformers 5.16 and the models' own code; of GGUF files, llama.cpp). The numbers
 * come from the config; where it leaves one out, the family's own default stands. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/gguf.h"
#include "model/config.h"

enum what {
    TIMES,       /* logits * number */
    OVER,        /* logits / number */
    CAP,         /* number * tanh(logits / number); 0 = none */
    HIDDEN_OVER, /* hidden / number */
    WIDTH_OVER,  /* hidden / (hidden_size / number); 0 = none */
    ROOT_TIED,   /* hidden * hidden_size^-0.5, when the flag is set, or else when tied */
    ROWS_NORM,   /* rows of the head over their length: not made here */
    COLUMNS_NORM /* columns of the head over theirs, when the flag is set */
};

typedef struct chain_rule {
    const char *model_type;
    enum what what;
    wte__fact_id fact;
    double fallback;
} chain_rule;

/* Grok's output_multiplier_scale, and the width from which MiniCPM counts. */
#define GROK_SCALE   0.5773502691896257
#define MINICPM_BASE 256.0

/* More than one line may serve a family. */
static const chain_rule rules[] = {
    { "gemma2", CAP, FACT_SOFTCAP, 30 },
    { "gemma3", CAP, FACT_SOFTCAP, 0 },
    { "gemma3_text", CAP, FACT_SOFTCAP, 0 },
    { "gemma3n", CAP, FACT_SOFTCAP, 30 },
    { "gemma3n_text", CAP, FACT_SOFTCAP, 30 },
    { "gemma4", CAP, FACT_SOFTCAP, 0 },
    { "gemma4_text", CAP, FACT_SOFTCAP, 0 },
    { "vaultgemma", CAP, FACT_SOFTCAP, 30 },
    { "t5gemma", CAP, FACT_SOFTCAP, 30 },
    { "diffusion_gemma", CAP, FACT_SOFTCAP, 0 },
    { "recurrent_gemma", CAP, FACT_SOFTCAP, 30 },
    { "nanochat", CAP, FACT_SOFTCAP, 15 },
    { "xlstm", CAP, FACT_SOFTCAP, 30 },
    { "granite", OVER, FACT_LOGITS_SCALING, 1 },
    { "granitemoe", OVER, FACT_LOGITS_SCALING, 1 },
    { "granitemoehybrid", OVER, FACT_LOGITS_SCALING, 1 },
    { "granitemoeshared", OVER, FACT_LOGITS_SCALING, 1 },
    { "hyperclovax", TIMES, FACT_LOGITS_SCALING, 1 },
    { "cohere", TIMES, FACT_LOGIT_SCALE, 0.0625 },
    { "cohere2", TIMES, FACT_LOGIT_SCALE, 0.0625 },
    { "falcon_h1", TIMES, FACT_LM_HEAD_MULTIPLIER, 1 },
    { "grok-1", TIMES, FACT_OUTPUT_MULTIPLIER_SCALE, GROK_SCALE },
    { "grok-2", TIMES, FACT_OUTPUT_MULTIPLIER_SCALE, GROK_SCALE },
    { "grok-2", CAP, FACT_SOFTCAP, 0 },
    { "phi3small", OVER, FACT_MUP_WIDTH_MULTIPLIER, 8 },
    { "jais", TIMES, FACT_WIDTH_SCALE, 1 },
    { "minicpm", WIDTH_OVER, FACT_DIM_MODEL_BASE, MINICPM_BASE },
    { "minicpm3", WIDTH_OVER, FACT_DIM_MODEL_BASE, MINICPM_BASE },
    { "inkling", HIDDEN_OVER, FACT_LOGITS_MUP_WIDTH_MULTIPLIER, 24 },
    { "t5", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "mt5", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "umt5", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "longt5", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "switch_transformers", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "pop2piano", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "udop", ROOT_TIED, FACT_SCALE_DECODER_OUTPUTS, 0 },
    { "baichuan", ROWS_NORM, N_FACTS, 0 },
    { "baichuan_m1", ROWS_NORM, N_FACTS, 0 },
    { "bailing_moe", COLUMNS_NORM, FACT_NORM_HEAD, 0 },
    { "bailing_moe_v2", COLUMNS_NORM, FACT_NORM_HEAD, 0 },
};

/* Baichuan 2 has this vocabulary, and the normalised head; the first Baichuan has neither. */
#define BAICHUAN2_ROWS 125696u

/* llama.cpp's architectures whose logit_scale divides; elsewhere it multiplies. */
static const char *const dividers[] = { "granite", "granitemoe", "granitehybrid" };

/* Adds a step to the text: "; " between them. */
static wte_status note(wte__logit_transform_said *c, wte__arena *arena, wte_error *err,
                       const char *step)
{
    const char *before = c->why ? c->why : "";
    const char *text = wte__arena_print(arena, "%s%s%s", before, *before ? "; " : "", step);
    if (!text) return wte__no_memory(err, 512, "what the model does to its logits");
    c->why = text;
    return WTE_OK;
}

/* One step of known number: 0 and 1, where they change nothing, are no step. */
static wte_status add_step(wte__logit_transform_said *c, const char *model_type, enum what what,
                           double number, wte__arena *arena, wte_error *err)
{
    char step[160];
    wte_logit_transform *chain = &c->chain;
    const float x = (float)number;
    const bool none = number == 0 || (number == 1 && what != CAP);
    if (none || !isfinite(x) || (what == CAP && number < 0)) return WTE_OK;
    switch (what) {
    case TIMES:
        chain->scale = x;
        snprintf(step, sizeof step, "%s: logits * %.9g", model_type, number);
        break;
    case OVER:
        chain->divisor = x;
        snprintf(step, sizeof step, "%s: logits / %.9g", model_type, number);
        break;
    case CAP:
        chain->softcap = x;
        snprintf(step, sizeof step, "%s: %.9g * tanh(logits / %.9g)", model_type, number, number);
        break;
    case ROOT_TIED:
        chain->hidden_scale = x;
        snprintf(step, sizeof step, "%s: hidden * %.9g", model_type, number);
        break;
    default:
        chain->hidden_divisor = x;
        snprintf(step, sizeof step, "%s: hidden / %.9g", model_type, number);
        break;
    }
    return note(c, arena, err, step);
}

static double number_of(const chain_rule *rule, const wte__facts *facts)
{
    if (rule->fact == FACT_WIDTH_SCALE && !facts->fact[rule->fact].key) {
        const wte__fact *alpha = &facts->fact[FACT_MUP_OUTPUT_ALPHA];
        const wte__fact *scale = &facts->fact[FACT_MUP_WIDTH_SCALE];
        return alpha->key && scale->key ? alpha->number * scale->number : rule->fallback;
    }
    const wte__fact *fact = &facts->fact[rule->fact];
    return fact->key ? fact->number : rule->fallback;
}

static wte_status run_rule(wte__config *config, const chain_rule *rule, const wte__facts *facts,
                           wte__arena *arena, wte_error *err)
{
    const wte_model_config *said = &config->said;
    wte__logit_transform_said *c = &config->chain;
    const double width = (double)said->hidden_size;
    double number = rule->fact < N_FACTS ? number_of(rule, facts) : 0;
    switch (rule->what) {
    case ROWS_NORM:
        if (strcmp(rule->model_type, "baichuan") != 0 || said->vocab_size == BAICHUAN2_ROWS)
            c->unknown = "the model divides each row of its head by the row's length";
        return WTE_OK;
    case COLUMNS_NORM:
        if (number != 0) c->unknown = "the model divides each column of its head by its length";
        return WTE_OK;
    case WIDTH_OVER: number = number > 0 && width > 0 ? width / number : 0; break;
    case ROOT_TIED:
        if (!facts->fact[rule->fact].key) number = said->tied ? 1 : 0;
        number = number != 0 && width > 0 ? 1 / sqrt(width) : 0;
        break;
    default: break;
    }
    return add_step(c, rule->model_type, rule->what, number, arena, err);
}

wte_status wte__logit_transform_choose(wte__config *config, const wte__facts *facts,
                                       wte__arena *arena, wte_error *err)
{
    const wte_model_config *said = &config->said;
    const char *type = said->text_model_type;
    bool found = false;
    for (int outer = 0; outer < 2 && !found; outer++, type = said->model_type)
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            if (strcmp(rules[i].model_type, type) != 0) continue;
            found = true;
            WTE_TRY(run_rule(config, &rules[i], facts, arena, err));
        }
    return WTE_OK;
}

/* What logit_scale does, and what stands for it where a file has none: llama.cpp's own numbers. */
static enum what scale_of(const wte_model_config *said, bool found, double *number)
{
    const char *type = said->model_type;
    const double width = (double)said->hidden_size;
    if (strcmp(type, "minicpm3") == 0) { /* whatever the file says */
        *number = width / MINICPM_BASE;
        return HIDDEN_OVER;
    }
    if (strcmp(type, "minicpm") == 0) {
        if (!found) *number = width > 0 ? MINICPM_BASE / width : 0;
        return HIDDEN_OVER;
    }
    if (!found) *number = strcmp(type, "grok") == 0 ? GROK_SCALE : 0;
    for (size_t i = 0; i < sizeof dividers / sizeof *dividers; i++)
        if (strcmp(dividers[i], type) == 0) return OVER;
    return TIMES;
}

/* The same from the metadata of a GGUF file, by llama.cpp's rules. */
wte_status wte__logit_transform_gguf(wte__config *config, const struct wte__gguf *g,
                                     wte__arena *arena, wte_error *err)
{
    char key[128], shown[WTE__NAME_SHOWN];
    const wte_model_config *said = &config->said;
    const char *type = said->model_type;
    double number;
    bool found;
    wte__show(shown, type, strlen(type));
    snprintf(key, sizeof key, "%s.logit_scale", type);
    WTE_TRY(wte__gguf_number(g, key, &number, &found, err));
    const enum what what = scale_of(said, found, &number);
    WTE_TRY(add_step(&config->chain, shown, what, number, arena, err));
    snprintf(key, sizeof key, "%s.final_logit_softcapping", type);
    WTE_TRY(wte__gguf_number(g, key, &number, &found, err));
    if (!found) number = strcmp(type, "gemma2") == 0 ? 30 : 0;
    return add_step(&config->chain, shown, CAP, number, arena, err);
}

wte_status wte__model_output_fill(wte_model *m, wte_error *err)
{
    const wte__logit_transform_said *said = &m->config.chain;
    const uint64_t rows = m->has_head ? m->head.rows : m->has_input ? m->input.rows : 0;
    const uint64_t tokens = m->vocab ? wte_vocab_size(m->vocab) : 0;
    m->output.chain = said->chain;
    m->output.why = said->why ? said->why : "";
    m->output.unknown = said->unknown ? said->unknown : "";
    m->output.bias = WTE_NO_INDEX;
    m->output.bias_name = m->output.bias_problem = "";
    m->output.project_in = m->output.project_out = WTE_NO_INDEX;
    m->output.project_in_name = m->output.project_out_name = "";
    m->output.map_name = m->output.map_why = m->output.map_problem = "";
    m->output.n_valid = tokens < rows ? tokens : 0;
    if (!m->file || !rows) return WTE_OK;
    WTE_TRY(wte__draft_find(m, err));
    WTE_TRY(wte__project_find(m, err));
    return wte__bias_find(m, err);
}

const wte_model_output *wte_model_output_of(const wte_model *m)
{
    return m ? &m->output : NULL;
}
