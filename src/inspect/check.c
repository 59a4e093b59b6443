/* Checking a model: the order of the steps, the report, and its accessors. What is looked for
 * stands in the files of the steps (check.h). Nothing here or there writes to a file. */
#include "inspect/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
    const char *code, *why;
    wte_check_level level;
} codes[WTE__CODES] = {
#define CODE(name, code, level, why) [WTE__CODE_##name] = { code, why, WTE_CHECK_##level },
#include "inspect/check_codes.def"
#undef CODE
};

const char *wte_check_level_name(wte_check_level level)
{
    static const char *const names[] = { "unknown", "info", "warn", "error" };
    return names[level >= WTE_CHECK_INFO && level <= WTE_CHECK_ERROR ? level : 0];
}

const char *wte_token_class_name(wte_token_class c)
{
    static const char *const names[] = { "normal", "special", "byte", "partial UTF-8", "unused" };
    return names[c > WTE_CLASS_NORMAL && c <= WTE_CLASS_UNUSED ? c : 0];
}

const char *wte_check_code(size_t i, wte_check_level *level, const char **why)
{
    if (i >= WTE__CODES) return NULL;
    if (level) *level = codes[i].level;
    if (why) *why = codes[i].why;
    return codes[i].code;
}

/* Findings ------------------------------------------------------------------------------------- */

void wte__seen_add(wte__seen *s, uint64_t id)
{
    if (s->count < WTE_FINDING_IDS) s->id[s->count] = id;
    if (s->lie) s->tokens += s->lie[id];
    s->count++;
}

/* Of rows that a mapping leads to it is told how many ids each stands for. */
static void put_tokens(const wte__seen *ids, char *text, size_t cap)
{
    const size_t used = strlen(text);
    const char *on = ids->count == 1 ? "it" : "them";
    if (!ids->count) return;
    if (ids->tokens)
        snprintf(text + used, cap - used, "; %" PRIu64 " token%s on %s", ids->tokens,
                 ids->tokens == 1 ? " lies" : "s lie", on);
    else
        snprintf(text + used, cap - used, "; no token lies on %s", on);
}

bool wte__check_wants(const wte__checking *k, const wte__code *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (k->wanted[wanted[i]]) return true;
    return false;
}

wte_status wte__check_add(wte__checking *k, wte__code code, const char *subject,
                          const wte__seen *ids, const char *repair, const char *fmt, ...)
{
    wte_check *r = k->report;
    char text[1000];
    va_list ap;
    if (!k->wanted[code]) return WTE_OK;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    /* that no id leads to them is what the finding says */
    if (ids && ids->lie && code != WTE__CODE_ROWS_UNREFERENCED) put_tokens(ids, text, sizeof text);
    void *findings = r->findings;
    const bool grown = wte__grow(r->allocator, &findings, &r->cap, r->n + 1, sizeof *r->findings);
    r->findings = findings;
    if (!grown) return wte__no_memory(k->err, (r->n + 1) * sizeof *r->findings, "findings");
    wte_finding *f = &r->findings[r->n];
    memset(f, 0, sizeof *f);
    f->code = codes[code].code;
    f->level = codes[code].level;
    f->why = codes[code].why;
    f->subject = subject ? wte__arena_text(&r->arena, subject, strlen(subject)) : NULL;
    f->fact = wte__arena_text(&r->arena, text, strlen(text));
    f->repair = repair;
    f->rows = ids && ids->lie;
    f->tokens = ids ? ids->tokens : 0;
    if (!f->subject || !f->fact || !repair) return wte__no_memory(k->err, sizeof text, "a finding");
    if (ids) {
        f->count = ids->count;
        f->n_ids = ids->count < WTE_FINDING_IDS ? (uint32_t)ids->count : WTE_FINDING_IDS;
        memcpy(f->ids, ids->id, sizeof f->ids);
    }
    r->n++;
    return WTE_OK;
}

static int by_level_and_code(const void *va, const void *vb)
{
    const wte_finding *a = va, *b = vb;
    if (a->level != b->level) return a->level > b->level ? -1 : 1;
    const int order = strcmp(a->code, b->code);
    return order ? order : strcmp(a->subject, b->subject);
}

void wte__check_sort(wte_check *r)
{
    if (r->n > 1) qsort(r->findings, r->n, sizeof *r->findings, by_level_and_code);
}

/* Rows and their tokens ------------------------------------------------------------------------ */

bool wte__check_has_token(const wte__checking *k, uint64_t row)
{
    if (row >= k->named) return false;
    return !k->names || wte_vocab_kind(k->names, row) != WTE_TOKEN_NONE;
}

bool wte__check_is_reserved(const wte__checking *k, uint64_t row)
{
    static const char *const words[] = { "unused", "reserved", "UNUSED", "RESERVED" };
    uint64_t bytes = 0;
    const char *text = k->names ? wte_vocab_raw_text(k->names, row, &bytes) : NULL;
    const wte_token_kind kind = text ? wte_vocab_kind(k->names, row) : WTE_TOKEN_NONE;
    if (kind == WTE_TOKEN_UNUSED) return true;
    if (!text || kind == WTE_TOKEN_BYTE) return false;
    /* <|reserved_special_token_7|>, [unused12], <unused3>: a word between brackets, then a number
     */
    if (bytes < 3 || (text[0] != '<' && text[0] != '[')) return false;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        const size_t n = strlen(words[w]);
        for (uint64_t at = 1; at + n <= bytes; at++)
            if (memcmp(text + at, words[w], n) == 0) return true;
    }
    return false;
}

const char *wte__check_table_name(const wte__checking *k)
{
    char shown[WTE__NAME_SHOWN];
    const char *name = k->input ? k->input->name : "model";
    wte__show(shown, name, strlen(name));
    return wte__arena_text(&k->report->arena, shown, strlen(shown));
}

/* The row of the padding token: as the config says, else the token that everybody calls so. */
static uint64_t find_pad(const wte__checking *k)
{
    static const char *const texts[] = { "[PAD]", "<pad>", "<|pad|>", "<|finetune_right_pad_id|>" };
    if (k->config->pad_token_id >= 0) return (uint64_t)k->config->pad_token_id;
    for (size_t i = 0; k->vocab && i < sizeof texts / sizeof *texts; i++) {
        uint64_t id;
        if (wte_vocab_find(k->vocab, texts[i], strlen(texts[i]), &id, NULL, NULL) == WTE_OK)
            return id;
    }
    return WTE_NO_INDEX;
}

static wte_status mark_tokens(wte__checking *k)
{
    if (!k->opt.n_tokens) return WTE_OK;
    for (size_t i = 0; i < k->opt.n_tokens; i++) {
        uint64_t row;
        const wte_status status = wte_model_row(k->m, k->opt.tokens[i], &row, k->err);
        if (status != WTE_OK) {
            if (k->err) k->err->where = i;
            return status;
        }
        k->used[row] = 1;
    }
    return WTE_OK;
}

/* Special tokens whose text stands in the template. */
static void mark_template(wte__checking *k)
{
    const char *text = k->opt.template_text;
    for (uint64_t id = 0; text && k->names && id < k->named && id < k->stored.rows; id++) {
        const wte_token_kind kind = wte_vocab_kind(k->names, id);
        uint64_t bytes = 0;
        const char *token = wte_vocab_raw_text(k->names, id, &bytes);
        if ((kind != WTE_TOKEN_SPECIAL && kind != WTE_TOKEN_ADDED) || !token || bytes < 2) continue;
        for (uint64_t at = 0; at + bytes <= k->opt.template_bytes && !k->used[id]; at++)
            if (memcmp(text + at, token, (size_t)bytes) == 0) k->used[id] = 1;
    }
}

/* Steps ---------------------------------------------------------------------------------------- */

static const wte__code number_codes[] = {
    WTE__CODE_TABLE_CONSTANT,     WTE__CODE_TABLE_INITIAL,
    WTE__CODE_VOCAB_TRUNCATED,    WTE__CODE_PAD_ROW,
    WTE__CODE_ROWS_NONFINITE,     WTE__CODE_NARROW_F16,
    WTE__CODE_ROWS_ZERO,          WTE__CODE_ROWS_NEAR_ZERO,
    WTE__CODE_ROWS_CONSTANT,      WTE__CODE_ROWS_DUPLICATE,
    WTE__CODE_ROWS_NEAR,          WTE__CODE_ROWS_COLLAPSED,
    WTE__CODE_ROWS_MEAN,          WTE__CODE_ROWS_INITIAL,
    WTE__CODE_SPECIALS_UNTRAINED, WTE__CODE_RESERVED_UNTRAINED,
    WTE__CODE_TOKENS_UNTRAINED,   WTE__CODE_PADDING_ROWS,
    WTE__CODE_PADDING_SAMPLED,    WTE__CODE_GLITCH,
    WTE__CODE_BIAS_NONFINITE,
};

static void free_rows(wte__checking *k)
{
    const wte_allocator *a = k->opt.allocator;
    wte__free(a, k->lie, (size_t)k->stored.rows * sizeof *k->lie);
    wte__free(a, k->same, (size_t)k->stored.rows * sizeof *k->same);
    wte__free(a, k->mean, (size_t)k->stored.cols * sizeof *k->mean);
    wte__check_scan_free(k, &k->table);
    wte__check_scan_free(k, &k->head_scan);
}

static wte_status check_rows(wte__checking *k)
{
    if (!wte__check_wants(k, number_codes, sizeof number_codes / sizeof *number_codes))
        return WTE_OK;
    WTE_TRY(wte__check_head(k));
    WTE_TRY(wte__check_bias_numbers(k));
    if (!k->input || k->stored.rows == 0 || k->stored.cols == 0) return WTE_OK;
    if (!wte_dtype_converts(k->stored.dtype)) return WTE_OK;
    WTE_TRY(wte__check_scan_init(k, &k->table, k->stored.rows));
    k->state = k->table.flags + k->stored.rows;
    k->used = k->state + k->stored.rows;
    WTE_TRY(mark_tokens(k));
    mark_template(k);
    WTE_TRY(wte__check_scan_run(k, &k->stored, &k->table));
    k->report->facts.scanned = true;
    WTE_TRY(wte__check_numbers(k));
    if (k->one_value) return WTE_OK;
    WTE_TRY(wte__check_same(k));
    WTE_TRY(wte__check_near(k));
    WTE_TRY(wte__check_tokens(k));
    WTE_TRY(wte__check_padding(k));
    return wte__check_glitch_rank(k);
}

static wte_status want_codes(wte__checking *k)
{
    for (size_t c = 0; c < WTE__CODES; c++) k->wanted[c] = k->opt.n_only == 0;
    for (size_t i = 0; i < k->opt.n_only; i++) {
        size_t c = 0;
        WTE_TRY(wte__need(k->opt.only[i], "a code in only", k->err));
        while (c < WTE__CODES && strcmp(codes[c].code, k->opt.only[i]) != 0) c++;
        char shown[WTE__NAME_SHOWN];
        if (c == WTE__CODES)
            return wte__fail(k->err, WTE_E_NOT_FOUND, i, "there is no finding '%s'",
                             wte__show(shown, k->opt.only[i], strlen(k->opt.only[i])));
        k->wanted[c] = true;
    }
    return WTE_OK;
}

/* How many ids a mapping leads to each row. */
static wte_status count_lying(wte__checking *k)
{
    const uint64_t rows = k->stored.rows;
    if (!rows) return WTE_OK;
    k->lie = wte__alloc_array(k->opt.allocator, rows, sizeof *k->lie);
    if (!k->lie) return wte__no_memory(k->err, rows * sizeof *k->lie, "a list of rows");
    memset(k->lie, 0, (size_t)rows * sizeof *k->lie);
    for (uint64_t id = 0; id < k->input->rows; id++) {
        uint64_t row;
        if (wte_model_row(k->m, id, &row, NULL) == WTE_OK) k->lie[row]++;
    }
    return WTE_OK;
}

/* What is there to be looked at. */
static wte_status begin(wte__checking *k)
{
    wte_check_facts *f = &k->report->facts;
    k->file = wte_model_file(k->m);
    k->config = wte_model_config_of(k->m);
    k->vocab = wte_model_vocab(k->m);
    f->config_vocab = k->config->vocab_size;
    f->has_vocab = k->vocab != NULL;
    if (k->vocab) {
        f->n_tokens = wte_vocab_count(k->vocab);
        f->token_ids = wte_vocab_size(k->vocab);
        f->n_holes = wte_vocab_n_holes(k->vocab);
    }
    if (wte_model_input(k->m, &k->input, NULL) != WTE_OK) {
        k->input = NULL;
        return WTE_OK;
    }
    const wte_model_table *head = wte_model_head(k->m);
    if (head && head->tensor != k->input->tensor) k->head = head;
    f->has_table = true;
    f->table_rows = k->input->rows;
    f->dim = k->input->dim;
    f->head_rows = head ? head->rows : 0;
    k->stored = k->input->source;
    if (k->input->mapped)
        WTE_TRY(wte_file_row_source(k->file, k->input->tensor, &k->stored, k->err));
    f->stored_rows = k->stored.rows;
    if (k->input->mapped) WTE_TRY(count_lying(k));
    k->names = k->input->mapped ? NULL : k->vocab;
    k->named = k->stored.rows;
    if (k->names && f->token_ids < k->named) k->named = f->token_ids;
    const bool padded = !k->names && !k->input->mapped && f->config_vocab;
    if (padded && f->config_vocab < k->named) k->named = f->config_vocab;
    k->pad = k->input->mapped ? WTE_NO_INDEX : find_pad(k);
    return WTE_OK;
}

static wte_status run(wte__checking *k)
{
    WTE_TRY(want_codes(k));
    WTE_TRY(begin(k));
    WTE_TRY(wte__check_roles(k));
    WTE_TRY(wte__check_sizes(k));
    WTE_TRY(wte__check_tie(k));
    WTE_TRY(wte__check_adapter(k));
    WTE_TRY(wte__check_files(k));
    WTE_TRY(wte__check_twins(k));
    WTE_TRY(wte__check_gguf(k, k->file, wte__repair_fetch(k)));
    WTE_TRY(check_rows(k));
    wte_check *r = k->report;
    wte__check_sort(r);
    return WTE_OK;
}

wte_status wte_model_check(const wte_model *m, const wte_check_options *options, wte_check **out,
                           wte_error *err)
{
    wte__checking k;
    const wte_check_options defaults = WTE_CHECK_OPTIONS_INIT;
    WTE_TRY(wte__need(out, "wte_model_check: out", err));
    *out = NULL;
    WTE_TRY(wte__need(m, "wte_model_check: the model", err));
    memset(&k, 0, sizeof k);
    k.opt = defaults;
    k.m = m;
    k.err = err;
    k.pad = WTE_NO_INDEX;
    WTE_TRY(wte__options(&k.opt, sizeof k.opt, options, err));
    WTE_TRY(wte__need_functions(k.opt.allocator, k.opt.progress, err));
    WTE_TRY(wte__need_array(k.opt.only, k.opt.n_only, sizeof *k.opt.only, "only", err));
    WTE_TRY(wte__need_array(k.opt.tokens, k.opt.n_tokens, sizeof *k.opt.tokens, "tokens", err));
    k.report = wte__alloc_zeroed(k.opt.allocator, sizeof *k.report);
    if (!k.report) return wte__no_memory(err, sizeof *k.report, "a report");
    k.report->allocator = k.opt.allocator;
    k.facts = &k.report->facts;
    k.report->glitch_indicator = "";
    wte__arena_init(&k.report->arena, k.opt.allocator);
    wte_status status = run(&k);
    free_rows(&k);
    if (status == WTE_OK && k.file) status = wte_file_check_unchanged(k.file, err);
    if (status == WTE_OK)
        *out = k.report;
    else
        wte_check_free(k.report);
    return status;
}

void wte_check_free(wte_check *c)
{
    if (!c) return;
    wte__free(c->allocator, c->findings, c->cap * sizeof *c->findings);
    wte__free(c->allocator, c->glitch, c->glitch_cap * sizeof *c->glitch);
    wte__arena_clear(&c->arena);
    wte__free(c->allocator, c, sizeof *c);
}

/* Accessors ------------------------------------------------------------------------------------ */

const wte_check_facts *wte_check_facts_of(const wte_check *c)
{
    return c ? &c->facts : NULL;
}

uint64_t wte_check_n_findings(const wte_check *c)
{
    return c ? c->n : 0;
}

const wte_finding *wte_check_finding(const wte_check *c, uint64_t i)
{
    return c && i < c->n ? &c->findings[i] : NULL;
}

const wte_glitch *wte_check_glitch(const wte_check *c, uint64_t i)
{
    return c && i < c->n_glitch ? &c->glitch[i] : NULL;
}

const char *wte_check_glitch_indicator(const wte_check *c)
{
    return c ? c->glitch_indicator : "";
}
