/* The flag against the bytes: what wte_model_tie found, as findings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "inspect/check.h"
#include "model/model.h"

static const wte__code tie_codes[] = {
    WTE__CODE_TIE_FLAG_LIES,  WTE__CODE_TIE_HEAD_MISSING, WTE__CODE_TIE_IMPOSSIBLE,
    WTE__CODE_TIE_COPY,       WTE__CODE_TIE_FLAG_ABSENT,  WTE__CODE_PADDING_SAMPLED,
    WTE__CODE_ADAPTER_UNTIES, WTE__CODE_ADAPTER_ROWS,     WTE__CODE_TIE_FLAG_CONFLICT,
};

/* jq's path of the flag that decides. */
static const char *flag_key(const wte__checking *k, char buf[96])
{
    if (wte__config_is_params(k->config)) {
        snprintf(buf, 96, "tied_embeddings");
        return buf;
    }
    const char *at = k->config->tie_nested == WTE_FLAG_ABSENT ? "" : k->config->tie_nested_at;
    snprintf(buf, 96, "%.60s%stie_word_embeddings", at, *at ? "." : "");
    return buf;
}

/* Whether loaders can take the head as it is stored: else no flag makes the model load. */
static bool head_loads(const wte__checking *k)
{
    const wte_model_config *c = k->config;
    const uint64_t rows = c->vocab_size ? c->vocab_size : k->tie.input_rows;
    const uint64_t dim = c->hidden_size ? c->hidden_size : k->tie.input_dim;
    return k->tie.head_rows == rows && k->tie.head_dim == dim;
}

/* A caller may name any tensor as the table: the flag is about the one that has that role. */
static bool plays_input(const wte__checking *k)
{
    for (uint64_t i = 0; i < wte_model_n_candidates(k->m); i++) {
        const wte_candidate *c = wte_model_candidate(k->m, i);
        if (c->tensor == k->input->tensor && c->kind == WTE_KIND_INPUT) return true;
    }
    return !k->m->named;
}

static wte_status judge(wte__checking *k, const char *head, const char *key)
{
    const wte_tie *t = &k->tie;
    switch (t->verdict) {
    case WTE_TIE_INDEPENDENT:
        if (t->flag_agrees) return WTE_OK;
        return wte__check_add(k, WTE__CODE_TIE_FLAG_LIES, head, NULL,
                              wte__repair_config(k, key, "false"), "%s", t->why);
    case WTE_TIE_IMPOSSIBLE:
        return wte__check_add(k, WTE__CODE_TIE_IMPOSSIBLE, head, NULL,
                              head_loads(k) ? wte__repair_config(k, key, "false")
                                            : wte__repair_fetch(k),
                              "%s", t->why);
    case WTE_TIE_BROKEN:
        return wte__check_add(k, WTE__CODE_TIE_HEAD_MISSING, head, NULL,
                              wte__repair_config(k, key, "true"), "%s", t->why);
    case WTE_TIE_EQUAL_BYTES:
    case WTE_TIE_EQUAL_VALUES:
        /* with the flag set, saving drops the copy */
        return wte__check_add(k, WTE__CODE_TIE_COPY, head, NULL,
                              k->config->tied ? wte__repair_model(k, "m.tie_weights()")
                                              : wte__repair_config(k, key, "true"),
                              "%s", t->why);
    case WTE_TIE_SAME_STORAGE:
        /* one name stands for both, but loaders that believe the flag look for the other */
        if (t->flag_agrees || k->head) return WTE_OK;
        return wte__check_add(k, WTE__CODE_TIE_HEAD_MISSING, head, NULL,
                              wte__repair_config(k, key, "true"), "%s", t->why);
    default: return WTE_OK;
    }
}

static const char *flag_text(wte_flag flag)
{
    return flag == WTE_FLAG_TRUE ? "true" : flag == WTE_FLAG_FALSE ? "false" : "absent";
}

/* Two flags, of which the bytes say that one is wrong. */
static wte_status check_conflict(wte__checking *k)
{
    const wte_model_config *c = k->config;
    if (!c->tie_conflict) return WTE_OK;
    const bool tied =
        k->has_tie && k->tie.verdict != WTE_TIE_INDEPENDENT && k->tie.verdict != WTE_TIE_IMPOSSIBLE;
    const char *right = tied ? "true" : "false";
    char key[96];
    const bool top_wrong = c->tie_top != (tied ? WTE_FLAG_TRUE : WTE_FLAG_FALSE);
    snprintf(key, sizeof key, "%.60s%stie_word_embeddings", top_wrong ? "" : c->tie_nested_at,
             top_wrong ? "" : ".");
    const bool loads = tied || !k->has_tie || !k->head || head_loads(k);
    return wte__check_add(k, WTE__CODE_TIE_FLAG_CONFLICT, "config.json", NULL,
                          loads ? wte__repair_config(k, key, right) : "",
                          "tie_word_embeddings is %s at the top and %s in %.60s; the bytes say %s",
                          flag_text(c->tie_top), flag_text(c->tie_nested), c->tie_nested_at, right);
}

static wte_status check_absent(wte__checking *k, const char *key)
{
    const wte_model_config *c = k->config;
    /* a model without a head has nothing to tie; only a config.json has the flag */
    if (!wte__check_has_json_config(k) || c->tie_decided || k->tie.verdict == WTE_TIE_HEADLESS ||
        wte__config_is_params(c))
        return WTE_OK;
    const bool loads = k->tie.tied || !k->head || head_loads(k);
    return wte__check_add(k, WTE__CODE_TIE_FLAG_ABSENT, "config.json", NULL,
                          loads ? wte__repair_config(k, key, k->tie.tied ? "true" : "false") : "",
                          "no flag is stored and the family is not known: %s", c->tie_rule);
}

/* A head that is there and cannot be read: what it is tied to cannot be told. */
static wte_status tell_unread(wte__checking *k, const char *problem)
{
    const char *base = wte__path_base(wte_model_path(k->m));
    char shown[WTE__NAME_SHOWN];
    return wte__check_add(k, WTE__CODE_HEAD_UNREAD, wte__show(shown, base, strlen(base)), NULL, "",
                          "%s", problem);
}

wte_status wte__check_tie(wte__checking *k)
{
    const char *problem = wte_model_head_problem(k->m);
    if (problem[0]) WTE_TRY(tell_unread(k, problem));
    /* without a head nothing is compared, and repairs of all kinds want to know what is loaded */
    const bool wanted = wte__check_wants(k, tie_codes, sizeof tie_codes / sizeof *tie_codes);
    if (k->input && plays_input(k) && !problem[0] && (wanted || !k->head)) {
        wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
        char shown[WTE__NAME_SHOWN], key[96];
        opt.pool = k->opt.pool;
        opt.progress = k->opt.progress;
        opt.allocator = k->opt.allocator;
        WTE_TRY(wte_model_tie(k->m, &opt, &k->tie, k->err));
        k->has_tie = true;
        const char *name = k->head ? k->head->name : k->input->name;
        flag_key(k, key);
        WTE_TRY(judge(k, wte__show(shown, name, strlen(name)), key));
        WTE_TRY(check_absent(k, key));
    }
    return check_conflict(k);
}
