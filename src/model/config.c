/* config.json: what it says about the token table. A bounded pull parse: keys that are not asked
 * for are passed over; nested text configs are entered by name, nothing else is. */
#include "model/config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"

const char *wte__arena_print(wte__arena *arena, const char *fmt, ...)
{
    char buf[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    if (n < 0) n = 0;
    return wte__arena_text(arena, buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1);
}

enum shape { COUNT, ID, IDS, FLAG, NUMBER, TEXT, TEXTS };

/* Names of each fact, the stronger synonym first (distilbert has both `dim`, its width, and
 * `hidden_dim`, which is another thing there; model2vec has `hidden_dim` alone). */
static const struct key {
    const char *key;
    wte__fact_id fact;
    enum shape shape;
} keys[] = {
    { "vocab_size", FACT_VOCAB, COUNT },
    { "padded_vocab_size", FACT_VOCAB, COUNT },
    { "n_words", FACT_VOCAB, COUNT },
    { "n_vocab", FACT_VOCAB, COUNT },
    { "hidden_size", FACT_HIDDEN, COUNT },
    { "n_embd", FACT_HIDDEN, COUNT },
    { "d_model", FACT_HIDDEN, COUNT },
    { "n_embed", FACT_HIDDEN, COUNT },
    { "emb_dim", FACT_HIDDEN, COUNT },
    { "emb_size", FACT_HIDDEN, COUNT },
    { "model_dim", FACT_HIDDEN, COUNT },
    { "dim", FACT_HIDDEN, COUNT },
    { "hidden_dim", FACT_HIDDEN, COUNT },
    { "embedding_size", FACT_EMBEDDING, COUNT },
    { "word_embed_proj_dim", FACT_EMBEDDING, COUNT },
    { "input_embedding_size", FACT_EMBEDDING, COUNT },
    { "pad_token_id", FACT_PAD, ID },
    { "bos_token_id", FACT_BOS, IDS },
    { "eos_token_id", FACT_EOS, IDS },
    { "tie_word_embeddings", FACT_TIE, FLAG },
    { "tie_embedding", FACT_TIE, FLAG },
    { "weight_tying", FACT_TIE, FLAG },
    { "model_type", FACT_MODEL_TYPE, TEXT },
    { "architectures", FACT_ARCHITECTURE, TEXTS },
    { "initializer_range", FACT_INITIALIZER_RANGE, NUMBER },
    { "embedding_multiplier", FACT_EMBEDDING_MULTIPLIER, NUMBER },
    { "embedding_multiplier_scale", FACT_EMBEDDING_MULTIPLIER_SCALE, NUMBER },
    { "embedding_scale", FACT_EMBEDDING_SCALE, NUMBER },
    { "mup_embeddings_scale", FACT_EMBEDDINGS_SCALE, NUMBER },
    { "embeddings_scale", FACT_EMBEDDINGS_SCALE, NUMBER },
    { "scale_emb", FACT_SCALE_EMB, NUMBER },
    { "mup_embedding_multiplier", FACT_MUP_MULTIPLIER, NUMBER },
    { "scale_embedding", FACT_SCALE_EMBEDDING, FLAG },
    { "rescale_embeddings", FACT_RESCALE_EMBEDDINGS, FLAG },
    { "mup_enabled", FACT_MUP_ENABLED, FLAG },
    { "final_logit_softcapping", FACT_SOFTCAP, NUMBER },
    { "logits_soft_cap", FACT_SOFTCAP, NUMBER },
    { "output_logit_soft_cap", FACT_SOFTCAP, NUMBER },
    { "logits_scaling", FACT_LOGITS_SCALING, NUMBER },
    { "logit_scale", FACT_LOGIT_SCALE, NUMBER },
    { "lm_head_multiplier", FACT_LM_HEAD_MULTIPLIER, NUMBER },
    { "output_multiplier_scale", FACT_OUTPUT_MULTIPLIER_SCALE, NUMBER },
    { "mup_width_multiplier", FACT_MUP_WIDTH_MULTIPLIER, NUMBER },
    { "logits_mup_width_multiplier", FACT_LOGITS_MUP_WIDTH_MULTIPLIER, NUMBER },
    { "width_scale", FACT_WIDTH_SCALE, NUMBER },
    { "mup_output_alpha", FACT_MUP_OUTPUT_ALPHA, NUMBER },
    { "mup_width_scale", FACT_MUP_WIDTH_SCALE, NUMBER },
    { "dim_model_base", FACT_DIM_MODEL_BASE, NUMBER },
    { "scale_decoder_outputs", FACT_SCALE_DECODER_OUTPUTS, FLAG },
    { "norm_head", FACT_NORM_HEAD, FLAG },
};

/* Objects that hold the config of the text model; the first named wins when there are several. */
static const char *const nested_keys[] = { "text_config", "language_config", "llm_config",
                                           "decoder" };
#define N_NESTED (sizeof nested_keys / sizeof *nested_keys)
/* Objects that are only a way to those. */
static const char *const passages[] = { "thinker_config" };

/* An open object that is being read. */
struct level {
    wte__facts *facts; /* NULL: a passage; its own keys count for nothing */
    const char *path;  /* "text_config" */
    size_t nested;     /* index in nested_keys */
};

struct parse {
    wte__json json;
    wte__arena *arena;
    wte_error *err;
    wte__facts top, nested, scratch;
    size_t best;           /* index in nested_keys of what `nested` holds; N_NESTED = nothing */
    const char *nested_at; /* its path */
    struct level level[3]; /* top, passage, nested */
    unsigned depth;
};

static const struct key *key_of(const wte__json *j)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (wte__json_is(j, keys[i].key)) return &keys[i];
    return NULL;
}

static wte_status copy_text(struct parse *p, const char **out)
{
    wte__bytes text = wte__json_text(&p->json, p->arena, true);
    if (!text.data) return wte__no_memory(p->err, p->json.raw.size, p->json.name);
    *out = (const char *)text.data;
    return WTE_OK;
}

/* The first text of a list, or a text alone; other lists are passed over. */
static wte_status read_texts(struct parse *p, wte__json_kind kind, wte__fact *fact)
{
    if (kind == WTE__JSON_ARRAY) {
        kind = wte__json_next(&p->json);
        if (kind == WTE__JSON_ARRAY_END) return WTE_OK;
        if (kind == WTE__JSON_STRING) WTE_TRY(copy_text(p, &fact->text));
        bool inner = kind == WTE__JSON_ARRAY || kind == WTE__JSON_OBJECT;
        if (inner && !wte__json_skip_rest(&p->json)) return wte__json_fail(&p->json, p->err);
        if (!wte__json_skip_rest(&p->json)) return wte__json_fail(&p->json, p->err);
        return WTE_OK;
    }
    if (kind == WTE__JSON_STRING) return copy_text(p, &fact->text);
    return wte__json_refuse(&p->json, p->err, "a list of names was expected");
}

/* The largest of a list of ids; a list without ids counts as absent. */
static wte_status read_ids(struct parse *p, wte__fact *fact)
{
    fact->id = -1;
    for (;;) {
        const wte__json_kind kind = wte__json_next(&p->json);
        int64_t id;
        if (kind == WTE__JSON_ARRAY_END) return WTE_OK;
        if (kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
        if (!wte__json_i64(&p->json, &id))
            return wte__json_refuse(&p->json, p->err, "a whole number was expected");
        if (id > fact->id) fact->id = id;
    }
}

/* A value of the shape that the key asks for. */
static wte_status read_scalar(struct parse *p, wte__json_kind kind, const struct key *key,
                              wte__fact *fact)
{
    const wte__json *j = &p->json;
    bool truth = kind == WTE__JSON_TRUE;
    switch (key->shape) {
    case COUNT:
        if (wte__json_u64(j, &fact->count)) return WTE_OK;
        return wte__json_refuse(j, p->err, "a whole number, not negative, was expected");
    case ID:
    case IDS:
        if (kind == WTE__JSON_ARRAY) return read_ids(p, fact);
        if (wte__json_i64(j, &fact->id)) return WTE_OK;
        return wte__json_refuse(j, p->err, "a whole number was expected");
    case FLAG:
        fact->number = truth ? 1 : 0;
        if (truth || kind == WTE__JSON_FALSE) return WTE_OK;
        return wte__json_refuse(j, p->err, "true or false was expected");
    case NUMBER:
        if (wte__json_f64(j, &fact->number) && isfinite(fact->number)) return WTE_OK;
        return wte__json_refuse(j, p->err, "a finite number was expected");
    case TEXT:
        if (kind == WTE__JSON_STRING) return copy_text(p, &fact->text);
        return wte__json_refuse(j, p->err, "a name was expected");
    case TEXTS: break;
    }
    return read_texts(p, kind, fact);
}

/* Where null does not leave the family's default in force, but says that there is no such step. */
static bool null_is_none(wte__fact_id fact)
{
    return fact == FACT_SOFTCAP || fact == FACT_DIM_MODEL_BASE;
}

/* The value of a known key. null is as good as absent, but for those two; lists where a number
 * stands elsewhere (one width per layer) say nothing about the table. */
static wte_status read_fact(struct parse *p, const struct key *key, wte__facts *facts)
{
    wte__json_kind kind = wte__json_next(&p->json);
    wte__fact fact = { key->key, (uint32_t)(key - keys), 0, 0, 0, NULL };
    if (kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
    if (kind == WTE__JSON_NULL && !null_is_none(key->fact)) return WTE_OK;
    bool list = kind == WTE__JSON_ARRAY || kind == WTE__JSON_OBJECT;
    const bool lists = key->shape == TEXTS || key->shape == IDS;
    if (list && (!lists || kind == WTE__JSON_OBJECT)) {
        if (!wte__json_skip_rest(&p->json)) return wte__json_fail(&p->json, p->err);
        return WTE_OK;
    }
    if (kind != WTE__JSON_NULL) WTE_TRY(read_scalar(p, kind, key, &fact));
    wte__fact *slot = &facts->fact[key->fact];
    if (!slot->key || fact.rank <= slot->rank) *slot = fact;
    return WTE_OK;
}

static size_t nested_of(const wte__json *j)
{
    size_t i = 0;
    while (i < N_NESTED && !wte__json_is(j, nested_keys[i])) i++;
    return i;
}

static bool passage_of(const wte__json *j)
{
    for (size_t i = 0; i < sizeof passages / sizeof *passages; i++)
        if (wte__json_is(j, passages[i])) return true;
    return false;
}

/* The value of a key that may hold a text config: entered when it is an object. */
static wte_status enter(struct parse *p, size_t nested)
{
    const struct level *here = &p->level[p->depth];
    const char *name = "";
    WTE_TRY(copy_text(p, &name));
    wte__json_kind kind = wte__json_next(&p->json);
    if (kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
    if (kind == WTE__JSON_ARRAY && !wte__json_skip_rest(&p->json))
        return wte__json_fail(&p->json, p->err);
    if (kind != WTE__JSON_OBJECT) return WTE_OK;
    if (here->path[0]) {
        name = wte__arena_print(p->arena, "%s.%s", here->path, name);
        if (!name) return wte__no_memory(p->err, 64, p->json.name);
    }
    struct level next = { nested < N_NESTED ? &p->scratch : NULL, name, nested };
    p->level[++p->depth] = next;
    if (next.facts) memset(&p->scratch, 0, sizeof p->scratch);
    return WTE_OK;
}

static void leave(struct parse *p)
{
    const struct level *level = &p->level[p->depth];
    if (level->facts == &p->scratch && level->nested <= p->best) {
        p->nested = p->scratch;
        p->best = level->nested;
        p->nested_at = level->path;
    }
    p->depth--;
}

static wte_status read_key(struct parse *p)
{
    const struct level *level = &p->level[p->depth];
    const struct key *key = level->facts ? key_of(&p->json) : NULL;
    if (key) return read_fact(p, key, level->facts);
    size_t nested = nested_of(&p->json);
    bool passage = p->depth == 0 && passage_of(&p->json);
    bool inside = level->facts == &p->scratch;
    if (!inside && (nested < N_NESTED || passage)) return enter(p, nested);
    if (!wte__json_skip_value(&p->json)) return wte__json_fail(&p->json, p->err);
    return WTE_OK;
}

static wte_status read_all(struct parse *p)
{
    if (wte__json_next(&p->json) == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
    if (p->json.kind != WTE__JSON_OBJECT)
        return wte__json_refuse(&p->json, p->err, "a config is an object in braces");
    for (;;) {
        switch (wte__json_next(&p->json)) {
        case WTE__JSON_KEY: WTE_TRY(read_key(p)); break;
        case WTE__JSON_OBJECT_END:
            if (p->depth) leave(p);
            break;
        case WTE__JSON_END: return WTE_OK;
        default: return wte__json_fail(&p->json, p->err);
        }
    }
}

static wte_flag flag_of(const wte__fact *fact)
{
    if (!fact->key) return WTE_FLAG_ABSENT;
    return fact->number != 0 ? WTE_FLAG_TRUE : WTE_FLAG_FALSE;
}

static const char *word(bool truth)
{
    return truth ? "true" : "false";
}

/* The family that decides when no flag is stored: the text model's, else the outer one's. */
static const wte__family *family_of(const wte_model_config *said)
{
    const wte__family *family = wte__family_find(said->text_model_type);
    return family ? family : wte__family_find(said->model_type);
}

static void resolve_tie(struct parse *p, wte_model_config *said)
{
    const wte__fact *top = &p->top.fact[FACT_TIE], *nested = &p->nested.fact[FACT_TIE];
    const wte__family *family = family_of(said);
    char shown[WTE__NAME_SHOWN];
    said->tie_top = flag_of(top);
    said->tie_nested = flag_of(nested);
    said->tie_nested_at = nested->key ? p->nested_at : "";
    said->tie_conflict = top->key && nested->key && said->tie_top != said->tie_nested;
    said->tie_decided = top->key || nested->key || family;
    if (nested->key) {
        said->tied = said->tie_nested == WTE_FLAG_TRUE;
        said->tie_rule = wte__arena_print(
            p->arena, "%s.%s is %s%s", p->nested_at, nested->key, word(said->tied),
            said->tie_conflict ? ", against the top level (transformers 4.49 to 4.57 follow the "
                                 "nested flag, others the top level)"
                               : "");
    } else if (top->key) {
        said->tied = said->tie_top == WTE_FLAG_TRUE;
        said->tie_rule = wte__arena_print(p->arena, "%s is %s", top->key, word(said->tied));
    } else if (family) {
        said->tied = family->tied;
        said->tie_rule = wte__arena_print(
            p->arena, "tie_word_embeddings is absent; the default of family '%s' is %s%s",
            family->model_type, word(family->tied),
            family->tied == family->tied_later ? ""
            : family->tied_later               ? " (transformers 4.57; true in 5.16)"
                                               : " (transformers 4.57; false in 5.16)");
    } else {
        const char *type = said->model_type;
        said->tied = true;
        said->tie_rule = wte__arena_print(p->arena,
                                          "tie_word_embeddings is absent and no default is known "
                                          "for '%s'; transformers 4 takes true, 5 false",
                                          wte__show(shown, type, strlen(type)));
    }
}

static void resolve_head_class(wte__config *c, wte__arena *arena)
{
    const wte_model_config *said = &c->said;
    char shown[WTE__NAME_SHOWN];
    const char *class = wte__show(shown, said->architecture, strlen(said->architecture));
    c->head_class =
        said->architecture[0] ? wte__class_has_head(said->architecture) : WTE__HEAD_UNKNOWN;
    if (c->head_class != WTE__HEAD_UNKNOWN) {
        c->head_why = wte__arena_print(arena, "class %s %s", class,
                                       c->head_class == WTE__HEAD_NONE ? "has no head" : "has one");
        return;
    }
    const wte__family *family = family_of(said);
    if (family) {
        c->head_class = family->has_head;
        c->head_why = wte__arena_print(arena, "no class named; family '%s' %s", family->model_type,
                                       family->has_head == WTE__HEAD_NONE ? "has no head as a rule"
                                                                          : "has one");
        return;
    }
    c->head_why = "nothing says that a head exists";
    if (said->tie_top != WTE_FLAG_TRUE && said->tie_nested != WTE_FLAG_TRUE) return;
    const char *type = said->text_model_type;
    if (!wte__family_is_language_model(type)) type = said->model_type;
    if (!wte__family_is_language_model(type)) return;
    c->head_class = WTE__HEAD_EXPECTED;
    c->head_why = wte__arena_print(arena, "no class named; '%s' is a language model",
                                   wte__show(shown, type, strlen(type)));
}

static const wte__fact *either(const struct parse *p, wte__fact_id id)
{
    const wte__fact *nested = &p->nested.fact[id];
    return nested->key ? nested : &p->top.fact[id];
}

static int64_t id_of(const struct parse *p, wte__fact_id id)
{
    const wte__fact *fact = either(p, id);
    return fact->key ? fact->id : -1;
}

static const char *text_of(const wte__fact *fact)
{
    return fact->key && fact->text ? fact->text : "";
}

void wte__config_none(wte__config *out)
{
    memset(out, 0, sizeof *out);
    wte_model_config *said = &out->said;
    said->path = said->model_type = said->text_model_type = said->architecture = "";
    said->tie_nested_at = said->factor_rule = "";
    said->tie_rule = "no config.json";
    said->pad_token_id = said->bos_token_id = said->eos_token_id = -1;
    said->factor = said->factor_exact = 1;
    out->head_why = "nothing says that a head exists";
}

wte_status wte__config_parse(wte__config *out, const void *data, uint64_t bytes, const char *path,
                             wte__arena *arena, wte_error *err)
{
    struct parse p;
    memset(&p, 0, sizeof p);
    wte__json_init(&p.json, data, bytes, path, WTE__JSON_PYTHON);
    p.arena = arena;
    p.err = err;
    p.best = N_NESTED;
    p.nested_at = "";
    p.level[0].facts = &p.top;
    p.level[0].path = "";
    wte__config_none(out);
    WTE_TRY(read_all(&p));
    wte_model_config *said = &out->said;
    said->path = path;
    said->model_type = text_of(&p.top.fact[FACT_MODEL_TYPE]);
    said->text_model_type = text_of(&p.nested.fact[FACT_MODEL_TYPE]);
    said->architecture = text_of(&p.top.fact[FACT_ARCHITECTURE]);
    said->vocab_size = either(&p, FACT_VOCAB)->count;
    said->hidden_size = either(&p, FACT_HIDDEN)->count;
    said->embedding_size = either(&p, FACT_EMBEDDING)->count;
    said->pad_token_id = id_of(&p, FACT_PAD);
    said->bos_token_id = id_of(&p, FACT_BOS);
    said->eos_token_id = id_of(&p, FACT_EOS);
    resolve_tie(&p, said);
    resolve_head_class(out, arena);
    out->reads = wte__class_reads(said->architecture, said->model_type);
    if (!said->tie_rule || !out->head_why) return wte__no_memory(err, 512, path);
    wte__facts merged;
    for (int i = 0; i < N_FACTS; i++) merged.fact[i] = *either(&p, (wte__fact_id)i);
    wte__embed_scale_choose(&out->factor, said, &merged);
    return wte__logit_transform_choose(out, &merged, arena, err);
}
