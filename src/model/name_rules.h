/* Rules that tell what a tensor is from its name. Private to this room. */
#ifndef WTE_SRC_MODEL_RULES_H
#define WTE_SRC_MODEL_RULES_H
#include "model/model.h"

#define WTE__RULE_WEAK  1u  /* a common word: counts only with nothing but wrappers before it */
#define WTE__RULE_WHOLE 2u  /* the whole name once wrappers are off */
#define WTE__RULE_BARE  4u  /* stored without ".weight" */
#define WTE__RULE_BIAS  8u  /* stored with ".bias" */
#define WTE__RULE_BOTH  16u /* one tensor that is input table and head by design */
#define WTE__RULE_MAP   32u /* reached through a `mapping` tensor when there is one */
/* The name itself says which part of an encoder-decoder model it is of. */
#define WTE__RULE_ENCODER 64u
#define WTE__RULE_DECODER 128u
#define WTE__RULE_PAIR    256u /* one of two tables of the same ids: words and contexts */

typedef struct wte__name_rule {
    const char *stem; /* end of the name, on a dot, without ".weight" */
    uint8_t bytes;    /* of the stem */
    wte_tensor_kind kind;
    int16_t score;
    uint16_t flags;
    const char *why;
} wte__name_rule;

typedef struct wte__name {
    const wte__name_rule *rule; /* NULL = no rule knows this name */
    const char *outside;        /* why it is not the model's own table, or NULL */
    int32_t context;            /* what the segments before the stem add to the score */
    wte_model_side part;        /* of an encoder-decoder model */
} wte__name;

/* The role of a kind: what is neither table nor head is beside them. */
static inline wte_role wte__role_of(wte_tensor_kind kind)
{
    return kind <= WTE_KIND_OTHER ? (wte_role)kind : WTE_ROLE_OTHER;
}

/* How the name of a tensor that holds a table's numbers or packed codes ends: ".weight",
 * ".qweight", ...; NULL when it ends in none of them, or is nothing else. */
const char *wte__code_suffix(const char *name, uint64_t bytes);
/* Judge a tensor's name. */
wte__name wte__name_judge(const char *name, uint64_t bytes);
/* Whether the name lies in a numbered block or in another part of the model, whatever it ends in.
 */
bool wte__name_is_outside(const char *name, uint64_t bytes);
/* Whether two paths are of one module: the same last segment, and the same before it, wrappers
 * apart.
 */
bool wte__name_same_module(const char *a, size_t a_bytes, const char *b, size_t b_bytes);
/* Whether it is one of a numbered list of matrices: "emb_l.3.weight", and not inside of a block. */
bool wte__name_is_listed(const char *name, uint64_t bytes);
/* A word in the name that hints at a head ("lm_head", "output", ...); for tensors known by shape
 * alone. */
bool wte__name_hints_head(const char *name, uint64_t bytes);
#endif
