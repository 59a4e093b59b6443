/* What the metadata of a GGUF file say about the token table, in the place of a config.json. Such a
 * file has no flag for tying: it stores one table where there is one. Factors are those that
 * llama.cpp applies, which are not always the original model's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/gguf.h"
#include "model/model.h"

enum how {
    ROOT,    /* sqrt(embedding_length), in f32 */
    DEFAULT, /* the number, where the file gives none */
    FIXED    /* the number, whatever the file says */
};
static const struct {
    const char *architecture;
    enum how how;
    double number;
} factors[] = {
    { "gemma", ROOT, 0 },       { "gemma2", ROOT, 0 },     { "gemma3", ROOT, 0 },
    { "gemma3n", ROOT, 0 },     { "gemma4", ROOT, 0 },     { "gemma-embedding", ROOT, 0 },
    { "minicpm", DEFAULT, 12 }, { "minicpm3", FIXED, 12 }, { "grok", DEFAULT, 78.38367176906169 },
};

/* Architectures without an output head. */
static const char *const encoders[] = {
    "bert",     "nomic-bert",  "nomic-bert-moe", "jina-bert-v2",    "jina-bert-v3",
    "eurobert", "modern-bert", "neo-bert",       "gemma-embedding", "t5encoder",
};

/* "<architecture>.<what>" */
static const char *key_of(char buf[128], const char *architecture, const char *what)
{
    snprintf(buf, 128, "%s.%s", architecture, what);
    return buf;
}

static wte_status read_architecture(wte__config *c, const wte__gguf *g, wte__arena *arena,
                                    wte_error *err)
{
    wte__bytes text;
    bool found;
    WTE_TRY(wte__gguf_text(g, "general.architecture", &text, &found, err));
    if (!found || text.size > 64) return WTE_OK; /* no name that we know is so long */
    c->said.model_type = wte__arena_text(arena, text.data, (size_t)text.size);
    return c->said.model_type ? WTE_OK : wte__no_memory(err, text.size, "the architecture");
}

static wte_status read_id(const wte__gguf *g, const char *key, int64_t *out, wte_error *err)
{
    uint64_t id;
    int64_t value;
    bool found;
    const wte__gguf_pair *pair = wte__gguf_find(g, key);
    /* what exporters write for no id */
    if (pair && pair->type != WTE__GGUF_ARRAY && wte__gguf_integer(g, pair, 0, &value) &&
        (value == -1 || value == UINT32_MAX))
        return wte__gguf_once(g, pair, err);
    WTE_TRY(wte__gguf_count(g, key, &id, &found, err));
    if (found && id <= INT64_MAX) *out = (int64_t)id;
    return WTE_OK;
}

static wte_status read_sizes(wte_model_config *said, const wte__gguf *g, const wte_file *f,
                             wte_error *err)
{
    char key[128];
    bool found;
    const wte_token_list *tokens;
    const char *architecture = said->model_type;
    WTE_TRY(wte__gguf_count(g, key_of(key, architecture, "embedding_length"), &said->hidden_size,
                            &found, err));
    WTE_TRY(wte__gguf_count(g, key_of(key, architecture, "vocab_size"), &said->vocab_size, &found,
                            err));
    if (!found && wte_file_tokens(f, &tokens, NULL) == WTE_OK)
        said->vocab_size = wte_token_list_count(tokens);
    WTE_TRY(read_id(g, "tokenizer.ggml.padding_token_id", &said->pad_token_id, err));
    WTE_TRY(read_id(g, "tokenizer.ggml.bos_token_id", &said->bos_token_id, err));
    return read_id(g, "tokenizer.ggml.eos_token_id", &said->eos_token_id, err);
}

/* One table stored is one table for both roles: the head is never a copy that a converter forgot.
 */
static void judge_tie(wte_model_config *said, const wte_file *f)
{
    uint64_t i;
    const bool input = wte_file_find(f, "token_embd.weight", 17, &i, NULL) == WTE_OK;
    const bool head = wte_file_find(f, "output.weight", 13, &i, NULL) == WTE_OK;
    said->tied = !(input && head);
    said->tie_decided = input != head;
    said->tie_rule = input && head ? "a GGUF file with both token_embd.weight and output.weight"
                     : input       ? "a GGUF file without output.weight is tied"
                     : head        ? "a GGUF file with output.weight alone is tied"
                                   : "a GGUF file without token_embd.weight or output.weight";
}

static void judge_head(wte__config *c)
{
    const char *architecture = c->said.model_type;
    if (!architecture[0]) return;
    c->head_class = WTE__HEAD_EXPECTED;
    c->head_why = "the architecture has one";
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (strcmp(encoders[i], architecture) == 0) {
            c->head_class = WTE__HEAD_NONE;
            c->head_why = "the architecture is an encoder";
        }
}

static wte_status set_factor(wte_model_config *said, double exact, double factor, const char *rule,
                             wte__arena *arena, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const char *name = wte__show(shown, said->model_type, strlen(said->model_type));
    if (factor == 1 || factor <= 0) return WTE_OK; /* 0 is how a file says none */
    said->factor_rule = wte__arena_print(arena, "%s: %s", name, rule);
    if (!said->factor_rule) return wte__no_memory(err, 128, "the factor's rule");
    said->factor_exact = exact;
    said->factor = factor;
    return WTE_OK;
}

static wte_status read_factor(wte_model_config *said, const wte__gguf *g, wte__arena *arena,
                              wte_error *err)
{
    char key[128];
    double stored;
    bool found;
    size_t i = 0;
    const size_t n = sizeof factors / sizeof *factors;
    WTE_TRY(wte__gguf_number(g, key_of(key, said->model_type, "embedding_scale"), &stored, &found,
                             err));
    while (i < n && strcmp(factors[i].architecture, said->model_type) != 0) i++;
    if (i < n && factors[i].how == ROOT) {
        const float width = (float)said->hidden_size;
        return set_factor(said, sqrt((double)said->hidden_size), (double)sqrtf(width),
                          "sqrt(embedding_length), in f32", arena, err);
    }
    if (i < n && (factors[i].how == FIXED || !found))
        return set_factor(said, factors[i].number, (double)(float)factors[i].number,
                          "what llama.cpp takes", arena, err);
    return set_factor(said, stored, stored, "embedding_scale", arena, err);
}

wte_status wte__config_gguf(wte__config *out, const wte_file *f, const char *path,
                            wte__arena *arena, wte_error *err)
{
    const wte__gguf *g = wte__file_gguf(f);
    wte__config_none(out);
    out->said.path = path;
    WTE_TRY(read_architecture(out, g, arena, err));
    WTE_TRY(read_sizes(&out->said, g, f, err));
    judge_tie(&out->said, f);
    judge_head(out);
    WTE_TRY(read_factor(&out->said, g, arena, err));
    return wte__logit_transform_gguf(out, g, arena, err);
}
