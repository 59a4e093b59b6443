/* Adapters as PEFT saves them: which of their tensors concern the embedding, and what
 * adapter_config.json says about them. A table that is saved whole is found by its name, as in any
 * model; what is left here are low-rank changes and single rows, which are no table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/model.h"
#include "model/name_rules.h"

/* adapter_config.json ---------------------------------------------------------------------------
 */

struct parse {
    wte__json json;
    wte__adapter *out;
    const wte_allocator *allocator;
    wte__arena *arena;
    wte_error *err;
};

static wte_status read_text(struct parse *p, const char **out)
{
    const wte__json_kind kind = wte__json_next(&p->json);
    if (kind == WTE__JSON_NULL) return WTE_OK;
    if (kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
    if (kind != WTE__JSON_STRING) return wte__json_refuse(&p->json, p->err, "a name was expected");
    const wte__bytes text = wte__json_text(&p->json, p->arena, true);
    if (!text.data) return wte__no_memory(p->err, p->json.raw.size, p->json.name);
    *out = (const char *)text.data;
    return WTE_OK;
}

static wte_status read_rank(struct parse *p)
{
    const wte__json_kind kind = wte__json_next(&p->json);
    if (kind == WTE__JSON_NULL) return WTE_OK;
    if (kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
    if (kind == WTE__JSON_NUMBER && wte__json_u64(&p->json, &p->out->said.rank)) return WTE_OK;
    return wte__json_refuse(&p->json, p->err, "a rank is a whole number, not negative");
}

/* The list after its bracket: 0 = of the embedding, 1 = of the head. */
static wte_status read_ids(struct parse *p, unsigned which)
{
    wte_model_adapter *said = &p->out->said;
    uint64_t *count = which ? &said->n_head_token_ids : &said->n_token_ids;
    while (wte__json_next(&p->json) != WTE__JSON_ARRAY_END) {
        uint64_t id;
        if (p->json.kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
        if (p->json.kind != WTE__JSON_NUMBER || !wte__json_u64(&p->json, &id))
            return wte__json_refuse(&p->json, p->err, "a token id was expected");
        void *ids = p->out->ids[which];
        const size_t n = (size_t)*count;
        const bool grown = wte__grow(p->allocator, &ids, &p->out->cap[which], n + 1, sizeof id);
        p->out->ids[which] = ids;
        if (!grown) return wte__no_memory(p->err, (n + 1) * sizeof id, p->json.name);
        p->out->ids[which][(*count)++] = id;
    }
    return WTE_OK;
}

/* A list of ids, or one for each layer, of which the embedding's and the head's count. */
static wte_status read_indices(struct parse *p)
{
    wte__json_kind kind = wte__json_next(&p->json);
    if (kind == WTE__JSON_NULL) return WTE_OK;
    if (kind == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
    wte_model_adapter *said = &p->out->said;
    said->n_token_ids = said->n_head_token_ids = 0; /* of the two keys the one that comes last */
    if (kind == WTE__JSON_ARRAY) return read_ids(p, 0);
    if (kind != WTE__JSON_OBJECT)
        return wte__json_refuse(&p->json, p->err, "token ids come as a list");
    while (wte__json_next(&p->json) == WTE__JSON_KEY) {
        uint64_t n = 0;
        char name[80];
        n = wte__json_decode(&p->json, NULL);
        const bool fits = n + sizeof ".weight" <= sizeof name;
        if (fits) {
            (void)wte__json_decode(&p->json, name);
            memcpy(name + n, ".weight", sizeof ".weight");
        }
        const wte__name judged = wte__name_judge(fits ? name : "", fits ? n + 7 : 0);
        const bool input = judged.rule && judged.rule->kind == WTE_KIND_INPUT;
        const bool head = judged.rule && judged.rule->kind == WTE_KIND_HEAD;
        const uint64_t there = head ? said->n_head_token_ids : said->n_token_ids;
        if ((!input && !head) || there) {
            if (!wte__json_skip_value(&p->json)) return wte__json_fail(&p->json, p->err);
            continue;
        }
        if (wte__json_next(&p->json) == WTE__JSON_ERROR) return wte__json_fail(&p->json, p->err);
        if (p->json.kind != WTE__JSON_ARRAY)
            return wte__json_refuse(&p->json, p->err, "token ids come as a list");
        WTE_TRY(read_ids(p, head));
    }
    return p->json.kind == WTE__JSON_OBJECT_END ? WTE_OK : wte__json_fail(&p->json, p->err);
}

static wte_status read_key(struct parse *p)
{
    wte_model_adapter *said = &p->out->said;
    if (wte__json_is(&p->json, "peft_type")) return read_text(p, &said->kind);
    if (wte__json_is(&p->json, "base_model_name_or_path")) return read_text(p, &said->base);
    if (wte__json_is(&p->json, "r")) return read_rank(p);
    if (wte__json_is(&p->json, "trainable_token_indices") ||
        wte__json_is(&p->json, "token_indices"))
        return read_indices(p);
    return wte__json_skip_value(&p->json) ? WTE_OK : wte__json_fail(&p->json, p->err);
}

wte_status wte__adapter_parse(wte__adapter *out, const void *data, uint64_t bytes, const char *path,
                              const wte_allocator *allocator, wte__arena *arena, wte_error *err)
{
    struct parse p = { .out = out, .allocator = allocator, .arena = arena, .err = err };
    wte__json_init(&p.json, data, bytes, path, WTE__JSON_PYTHON);
    out->said.path = path;
    out->said.kind = out->said.base = "";
    if (wte__json_next(&p.json) == WTE__JSON_ERROR) return wte__json_fail(&p.json, err);
    if (p.json.kind != WTE__JSON_OBJECT)
        return wte__json_refuse(&p.json, err, "a config is an object in braces");
    while (wte__json_next(&p.json) == WTE__JSON_KEY) WTE_TRY(read_key(&p));
    if (p.json.kind != WTE__JSON_OBJECT_END) return wte__json_fail(&p.json, err);
    if (wte__json_next(&p.json) != WTE__JSON_END) return wte__json_fail(&p.json, err);
    out->said.token_ids = out->ids[0];
    out->said.head_token_ids = out->ids[1];
    return WTE_OK;
}

void wte__adapter_clear(wte__adapter *a, const wte_allocator *allocator)
{
    for (int i = 0; i < 2; i++) wte__free(allocator, a->ids[i], a->cap[i] * sizeof *a->ids[i]);
    memset(a, 0, sizeof *a);
}

/* Tensors ---------------------------------------------------------------------------------------
 */

static bool contains(const wte_tensor *t, const char *word)
{
    const size_t n = strlen(word);
    for (uint64_t at = 0; at + n <= t->name_bytes; at++)
        if (memcmp(t->name + at, word, n) == 0) return true;
    return false;
}

/* Whether what stands before `word` in a name is a head. */
static bool is_of_head(const wte_tensor *t, const char *word)
{
    char name[256];
    uint64_t at = 0;
    const size_t n = strlen(word);
    while (at + n <= t->name_bytes && memcmp(t->name + at, word, n) != 0) at++;
    if (at + sizeof ".weight" > sizeof name) return false;
    memcpy(name, t->name, (size_t)at);
    memcpy(name + at, ".weight", sizeof ".weight");
    const wte__name judged = wte__name_judge(name, at + sizeof ".weight" - 1);
    return judged.rule && judged.rule->kind == WTE_KIND_HEAD && !judged.outside;
}

static bool see_tensor(wte_model_adapter *a, const wte_tensor *t)
{
    const bool matrix = t->rank == 2;
    if (contains(t, ".lora_embedding_A") && matrix) {
        a->lora_input = true;
        a->lora_rank = t->shape[0];
        a->lora_rows = t->shape[1];
    } else if (contains(t, ".lora_embedding_B") && matrix) {
        a->lora_input = true;
        a->lora_dim = t->shape[0];
    } else if (contains(t, "trainable_tokens_delta") && matrix &&
               is_of_head(t, ".trainable_tokens_delta")) {
        a->head_token_rows = t->shape[0];
        a->head_token_dim = t->shape[1];
        return true;
    } else if (contains(t, "trainable_tokens_delta") && matrix) {
        a->token_rows = t->shape[0];
        a->token_dim = t->shape[1];
        return true;
    } else if (contains(t, ".lora_A") && is_of_head(t, ".lora_A")) {
        a->lora_head = true;
        a->lora_head_rank = matrix ? t->shape[0] : 0;
        a->lora_head_dim = matrix ? t->shape[1] : 0;
    } else if (contains(t, ".lora_B") && is_of_head(t, ".lora_B")) {
        a->lora_head = true;
        a->lora_head_rows = matrix ? t->shape[0] : 0;
    } else if (!contains(t, ".lora_A") && !contains(t, ".lora_B")) {
        return false;
    }
    a->factors++;
    return true;
}

static wte_status read_adapter_config(wte_model *m, const char *side, wte_error *err)
{
    char path[WTE_LIMIT_PATH], *text = NULL;
    uint64_t bytes = 0;
    m->adapter.said.path = m->adapter.said.kind = m->adapter.said.base = "";
    bool there;
    if (!wte__path_join(path, side, "adapter_config.json")) return WTE_OK;
    WTE_TRY(wte__path_optional(path, &there, &bytes, err));
    if (!there) return WTE_OK;
    const char *kept = wte__arena_text(&m->arena, path, strlen(path));
    if (!kept) return wte__no_memory(err, strlen(path), "a path");
    WTE_TRY(
        wte__file_load(kept, WTE_LIMIT_CONFIG, WTE__FIXED_LIMIT, m->allocator, &text, &bytes, err));
    const wte_status status =
        wte__adapter_parse(&m->adapter, text, bytes, kept, m->allocator, &m->arena, err);
    wte__free(m->allocator, text, (size_t)bytes + 1);
    return status;
}

wte_status wte__adapter_read(wte_model *m, const char *weights, const char *side, wte_error *err)
{
    static const char start[] = "adapter_model.";
    wte_model_adapter *said = &m->adapter.said;
    m->is_adapter = strncmp(wte__path_base(weights), start, sizeof start - 1) == 0;
    for (uint64_t i = 0; i < wte_file_n_tensors(m->file); i++) {
        wte_tensor t;
        WTE_TRY(wte_file_tensor(m->file, i, &t, err));
        if (see_tensor(said, &t)) m->is_adapter = true;
    }
    return m->is_adapter ? read_adapter_config(m, side, err) : WTE_OK;
}

void wte__adapter_tell(wte_model *m, uint64_t head_rows, uint64_t head_dim)
{
    const wte_model_adapter *a = &m->adapter.said;
    char base[WTE__NAME_SHOWN] = "", in[96] = "its base model has the table", what[128];
    if (a->base[0])
        snprintf(in, sizeof in, "the table is that of its base, '%.50s'",
                 wte__show(base, a->base, strlen(a->base)));
    if (a->lora_input)
        snprintf(what, sizeof what,
                 "a low-rank change of rank %" PRIu64 " of the embedding (%" PRIu64 " x %" PRIu64
                 ")",
                 a->lora_rank, a->lora_rows, a->lora_dim);
    else if (a->token_rows)
        snprintf(what, sizeof what, "rows of %" PRIu64 " tokens, %" PRIu64 " numbers each",
                 a->token_rows, a->token_dim);
    else if (head_rows)
        snprintf(what, sizeof what, "a head of %" PRIu64 " x %" PRIu64 " and no table", head_rows,
                 head_dim);
    else
        snprintf(what, sizeof what, "nothing of the embedding, %" PRIu64 " low-rank factors%s",
                 a->factors, a->lora_head ? ", the head's among them" : " of other layers");
    (void)wte__fail(&m->no_input, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s: an adapter with %s: %s",
                    m->path, what, in);
}
