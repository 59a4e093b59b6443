/* Encoder-decoder models: whether each part that has layers has a table as well. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/check.h"

/* What the names of all tensors show of the two parts. */
struct parts {
    bool layers[3]; /* by wte_model_side: numbered blocks */
    bool senses;    /* the encoder reads pictures or sounds, the decoder gives sounds: no tokens */
};

static bool has_word(const char *at, uint64_t bytes, const char *word)
{
    const size_t n = strlen(word);
    for (uint64_t i = 0; i + n <= bytes; i++)
        if (memcmp(at + i, word, n) == 0) return true;
    return false;
}

/* Where the segment `word` ends in the name: after its dot; NULL when it is not there. */
static const char *after_segment(const wte_tensor *t, const char *word)
{
    const size_t n = strlen(word);
    for (uint64_t at = 0; at + n < t->name_bytes; at++)
        if ((at == 0 || t->name[at - 1] == '.') && memcmp(t->name + at, word, n) == 0 &&
            t->name[at + n] == '.')
            return t->name + at + n + 1;
    return NULL;
}

static bool has_number(const char *at, const char *end)
{
    for (; at < end; at++)
        if (*at >= '0' && *at <= '9' && at[-1] == '.') return true;
    return false;
}

static void see_tensor(struct parts *p, const wte_tensor *t)
{
    static const char *const senses[] = { "conv",   "patch",  "mel",   "feature",
                                          "prenet", "visual", "vision" };
    static const char *const names[] = { "", "encoder", "decoder" };
    const char *end = t->name + t->name_bytes;
    for (int part = WTE_SIDE_ENCODER; part <= WTE_SIDE_DECODER; part++) {
        const char *inside = after_segment(t, names[part]);
        if (!inside) continue;
        if (has_number(inside, end)) p->layers[part] = true;
        for (size_t i = 0; i < sizeof senses / sizeof *senses; i++)
            if (has_word(inside, (uint64_t)(end - inside), senses[i])) p->senses = true;
    }
}

wte_status wte__check_roles(wte__checking *k)
{
    static const char *const names[] = { "", "encoder", "decoder" };
    struct parts p = { 0 };
    bool shared = false, has[3] = { false };
    const wte_candidate *c;
    if (!k->file || !k->input) return WTE_OK;
    for (uint64_t i = 0; i < wte_file_n_tensors(k->file); i++) {
        wte_tensor t;
        WTE_TRY(wte_file_tensor(k->file, i, &t, k->err));
        see_tensor(&p, &t);
    }
    k->coder = p.layers[WTE_SIDE_ENCODER] && p.layers[WTE_SIDE_DECODER] && !p.senses;
    for (uint64_t i = 0; (c = wte_model_candidate(k->m, i)); i++) {
        if (c->role != WTE_ROLE_INPUT || c->score <= 0) continue;
        if (k->head && c->tensor == k->head->tensor) k->two_vocabularies = true;
        shared = shared || c->side == WTE_SIDE_NONE;
        has[c->side] = true;
    }
    const wte_model_side empty = has[WTE_SIDE_DECODER] ? WTE_SIDE_ENCODER : WTE_SIDE_DECODER;
    const wte_model_side other = has[WTE_SIDE_DECODER] ? WTE_SIDE_DECODER : WTE_SIDE_ENCODER;
    if (!k->coder || shared || has[empty] || !has[other]) return WTE_OK;
    /* without a head the decoder gives no tokens, and may read none */
    if (empty == WTE_SIDE_DECODER && !wte_model_head(k->m)) return WTE_OK;
    const char *name = wte__check_table_name(k);
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    return wte__check_add(k, WTE__CODE_ROLE_EMPTY, name, NULL,
                          wte__repair_model(k,
                                            "m.get_%s().set_input_embeddings(m.get_%s()."
                                            "get_input_embeddings())",
                                            names[empty], names[other]),
                          "the %s has layers but no table: %.100s is stored, and no shared one",
                          names[empty], name);
}
