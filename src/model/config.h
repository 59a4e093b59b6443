/* The facts that are read from one level of a config.json. Private to config.c, factor.c
 * and chain.c. */
#ifndef WTE_SRC_MODEL_CONFIG_H
#define WTE_SRC_MODEL_CONFIG_H
#include "model/model.h"

typedef enum wte__fact_id {
    FACT_VOCAB,
    FACT_HIDDEN,
    FACT_EMBEDDING,
    FACT_PAD,
    FACT_BOS,
    FACT_EOS,
    FACT_TIE,
    FACT_MODEL_TYPE,
    FACT_ARCHITECTURE,
    FACT_INITIALIZER_RANGE,
    FACT_EMBEDDING_MULTIPLIER,
    FACT_EMBEDDING_MULTIPLIER_SCALE,
    FACT_EMBEDDING_SCALE,
    FACT_EMBEDDINGS_SCALE,
    FACT_SCALE_EMB,
    FACT_MUP_MULTIPLIER,
    FACT_SCALE_EMBEDDING,
    FACT_RESCALE_EMBEDDINGS,
    FACT_MUP_ENABLED,
    FACT_SOFTCAP,
    FACT_LOGITS_SCALING,
    FACT_LOGIT_SCALE,
    FACT_LM_HEAD_MULTIPLIER,
    FACT_OUTPUT_MULTIPLIER_SCALE,
    FACT_MUP_WIDTH_MULTIPLIER,
    FACT_LOGITS_MUP_WIDTH_MULTIPLIER,
    FACT_WIDTH_SCALE,
    FACT_MUP_OUTPUT_ALPHA,
    FACT_MUP_WIDTH_SCALE,
    FACT_DIM_MODEL_BASE,
    FACT_SCALE_DECODER_OUTPUTS,
    FACT_NORM_HEAD,
    N_FACTS
} wte__fact_id;

typedef struct wte__fact {
    const char *key; /* the name it stood under; NULL = absent or null */
    uint32_t rank;   /* of that name among its synonyms: lower wins */
    uint64_t count;
    int64_t id;
    double number; /* true = 1, false = 0 */
    const char *text;
} wte__fact;

typedef struct wte__facts {
    wte__fact fact[N_FACTS];
} wte__facts;

/* Which rule gives the factor of this model; out->rule NULL when there is none. */
void wte__embed_scale_choose(wte__embed_scale *out, const wte_model_config *said,
                             const wte__facts *facts);
/* What the model does around its head: fills config->chain; `said` is filled already. */
wte_status wte__logit_transform_choose(wte__config *config, const wte__facts *facts,
                                       wte__arena *arena, wte_error *err);
#endif
