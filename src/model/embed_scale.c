/* What a model multiplies a looked-up row by, by family (transformers 5.16 and the models' own
 * code). Whisper and MusicGen read scale_embedding and never use it: they are not here. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/config.h"

enum how {
    SQRT_TABLE, /* sqrt(hidden), rounded to the table's type */
    SQRT_BF16,  /* sqrt(hidden), always rounded to bf16 */
    SQRT,       /* sqrt(hidden) */
    SQRT_IF,    /* sqrt(hidden) when the flag is set; fallback is the flag's default */
    TIMES,      /* the number; fallback when it is absent */
    TIMES_RANGE /* the number, else 1 / initializer_range, else 50 */
};

struct wte__embed_scale_rule {
    const char *model_type;
    enum how how;
    wte__fact_id fact;
    double fallback;
};

#define GROK_MULTIPLIER 78.38367176906169
static const struct wte__embed_scale_rule rules[] = {
    { "gemma", SQRT_TABLE, N_FACTS, 0 },
    { "gemma2", SQRT_TABLE, N_FACTS, 0 },
    { "gemma3", SQRT_TABLE, N_FACTS, 0 },
    { "gemma3_text", SQRT_TABLE, N_FACTS, 0 },
    { "gemma3n", SQRT_TABLE, N_FACTS, 0 },
    { "gemma3n_text", SQRT_TABLE, N_FACTS, 0 },
    { "gemma4", SQRT_TABLE, N_FACTS, 0 },
    { "gemma4_text", SQRT_TABLE, N_FACTS, 0 },
    { "t5gemma", SQRT_TABLE, N_FACTS, 0 },
    { "t5gemma2", SQRT_TABLE, N_FACTS, 0 },
    { "vaultgemma", SQRT_TABLE, N_FACTS, 0 },
    { "diffusion_gemma", SQRT_TABLE, N_FACTS, 0 },
    { "recurrent_gemma", SQRT_BF16, N_FACTS, 0 },
    { "ctrl", SQRT, N_FACTS, 0 },
    { "big_bird", SQRT_IF, FACT_RESCALE_EMBEDDINGS, 0 },
    { "afmoe", SQRT_IF, FACT_MUP_ENABLED, 0 },
    { "m2m_100", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "nllb-moe", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "plbart", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "pegasus_x", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "bigbird_pegasus", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "biogpt", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "fsmt", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "xglm", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "kosmos-2", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "seamless_m4t", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "seamless_m4t_v2", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "speech_to_text", SQRT_IF, FACT_SCALE_EMBEDDING, 1 },
    { "bart", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "mbart", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "marian", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "pegasus", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "blenderbot", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "blenderbot-small", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "mvp", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "trocr", SQRT_IF, FACT_SCALE_EMBEDDING, 0 },
    { "granite", TIMES, FACT_EMBEDDING_MULTIPLIER, 1 },
    { "granitemoe", TIMES, FACT_EMBEDDING_MULTIPLIER, 1 },
    { "granitemoehybrid", TIMES, FACT_EMBEDDING_MULTIPLIER, 1 },
    { "granitemoeshared", TIMES, FACT_EMBEDDING_MULTIPLIER, 1 },
    { "hyperclovax", TIMES, FACT_EMBEDDING_MULTIPLIER, 1 },
    { "falcon_h1", TIMES, FACT_EMBEDDING_MULTIPLIER, 1 },
    { "minicpm", TIMES, FACT_SCALE_EMB, 1 },
    { "minicpm3", TIMES, FACT_SCALE_EMB, 12 },
    { "jais", TIMES, FACT_EMBEDDINGS_SCALE, 1 },
    { "phi3small", TIMES, FACT_MUP_MULTIPLIER, 10 },
    { "grok-1", TIMES, FACT_EMBEDDING_MULTIPLIER_SCALE, GROK_MULTIPLIER },
    { "hrm_text", TIMES_RANGE, FACT_EMBEDDING_SCALE, 50 },
};

/* How a rule reads a number that the config leaves out. */
static const char *const key_names[N_FACTS] = {
    [FACT_EMBEDDING_MULTIPLIER] = "embedding_multiplier",
    [FACT_EMBEDDING_MULTIPLIER_SCALE] = "embedding_multiplier_scale",
    [FACT_EMBEDDING_SCALE] = "embedding_scale",
    [FACT_EMBEDDINGS_SCALE] = "embeddings_scale",
    [FACT_SCALE_EMB] = "scale_emb",
    [FACT_MUP_MULTIPLIER] = "mup_embedding_multiplier",
    [FACT_SCALE_EMBEDDING] = "scale_embedding",
    [FACT_RESCALE_EMBEDDINGS] = "rescale_embeddings",
    [FACT_MUP_ENABLED] = "mup_enabled",
};

static const struct wte__embed_scale_rule *rule_of(const char *model_type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].model_type, model_type) == 0) return &rules[i];
    return NULL;
}

void wte__embed_scale_choose(wte__embed_scale *out, const wte_model_config *said,
                             const wte__facts *facts)
{
    const struct wte__embed_scale_rule *rule = rule_of(said->text_model_type);
    if (!rule) rule = rule_of(said->model_type);
    out->rule = rule;
    out->value = 0;
    if (!rule || rule->fact == N_FACTS) return;
    const wte__fact *fact = &facts->fact[rule->fact];
    const wte__fact *range = &facts->fact[FACT_INITIALIZER_RANGE];
    if (fact->key)
        out->value = fact->number;
    else if (rule->how == TIMES_RANGE && range->key && range->number > 0)
        out->value = 1 / range->number;
    else
        out->value = rule->fallback;
}

/* The type that sqrt(hidden) is rounded to; quantised tables leave it alone. */
static wte_dtype rounding_type(const struct wte__embed_scale_rule *rule, wte_dtype table)
{
    if (rule->how == SQRT_BF16) return WTE_BF16;
    bool rounds = table == WTE_F32 || table == WTE_F16 || table == WTE_BF16;
    return rule->how == SQRT_TABLE && rounds ? table : WTE_DTYPE_NONE;
}

static wte_status round_to(double exact, wte_dtype type, double *out, wte_error *err)
{
    unsigned char stored[8];
    *out = exact;
    if (type == WTE_DTYPE_NONE) return WTE_OK;
    WTE_TRY(wte_convert(WTE_F64, &exact, type, stored, 1, NULL, err));
    return wte_convert(type, stored, WTE_F64, out, 1, NULL, err);
}

wte_status wte__embed_scale_finish(wte__config *c, wte_dtype table, uint64_t dim, wte__arena *arena,
                                   wte_error *err)
{
    const struct wte__embed_scale_rule *rule = c->factor.rule;
    wte_model_config *said = &c->said;
    if (!rule) return WTE_OK;
    uint64_t hidden = said->hidden_size ? said->hidden_size : dim;
    double root = sqrt((double)hidden);
    wte_dtype type = rounding_type(rule, table);
    const char *key = rule->fact == N_FACTS ? "" : key_names[rule->fact];
    const char *why;
    switch (rule->how) {
    case SQRT_TABLE:
    case SQRT_BF16:
        said->factor_exact = root;
        why = wte__arena_print(arena, "%s: sqrt(hidden_size)%s%s", rule->model_type,
                               type ? ", rounded to " : "", type ? wte_dtype_name(type) : "");
        break;
    case SQRT:
        said->factor_exact = root;
        why = wte__arena_print(arena, "%s: sqrt(hidden_size)", rule->model_type);
        break;
    case SQRT_IF:
        if (c->factor.value == 0) return WTE_OK;
        said->factor_exact = root;
        why =
            wte__arena_print(arena, "%s: sqrt(hidden_size), as %s is true", rule->model_type, key);
        break;
    default:
        if (c->factor.value == 1 || c->factor.value <= 0) return WTE_OK;
        said->factor_exact = c->factor.value;
        why = wte__arena_print(arena, "%s: %s", rule->model_type, key);
        break;
    }
    if (!why) return wte__no_memory(err, 512, "the factor's rule");
    said->factor_rule = why;
    return round_to(said->factor_exact, type, &said->factor, err);
}
