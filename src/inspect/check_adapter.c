/* An adapter beside the model that it is meant for: rows, width, tokens, and what merging does to a
 * tie. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "inspect/check.h"
#include "model/model.h"

typedef struct beside {
    wte__checking *k;
    const wte_model *model;
    const wte_model_adapter *said;
    const wte_vocab *vocab;              /* the adapter's, or NULL */
    const wte_model_table *input, *head; /* that it saves whole, or NULL */
    uint64_t rows, dim;                  /* of the table that it saves or changes; 0 = neither */
    uint64_t head_rows, head_dim;        /* the same of the head */
    const char *name;                    /* of its folder, safe */
    bool disagrees;                      /* no base takes all that it saves */
} beside;

static wte_status begin(beside *b, wte__checking *k)
{
    char shown[WTE__NAME_SHOWN];
    const char *path = wte_model_path(k->opt.adapter);
    memset(b, 0, sizeof *b);
    b->k = k;
    b->model = k->opt.adapter;
    b->said = wte_model_adapter_of(b->model);
    if (!b->said)
        return wte__fail(k->err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%.150s: is no adapter: neither its name nor a tensor says so", path);
    b->vocab = wte_model_vocab(b->model);
    b->head = wte_model_head(b->model);
    if (wte_model_input(b->model, &b->input, NULL) != WTE_OK) b->input = NULL;
    /* a head that is saved alone serves as input elsewhere */
    if (b->input && b->head && b->input->tensor == b->head->tensor) b->input = NULL;
    const wte_model_adapter *a = b->said;
    b->rows = b->input ? b->input->rows : a->lora_rows;
    b->dim = b->input ? b->input->dim : a->lora_dim ? a->lora_dim : a->token_dim;
    b->head_rows = b->head ? b->head->rows : a->lora_head_rows;
    b->head_dim = b->head ? b->head->dim : a->lora_head_dim ? a->lora_head_dim : a->head_token_dim;
    wte__show(shown, path, strlen(path));
    b->name = wte__arena_text(&k->report->arena, shown, strlen(shown));
    return b->name ? WTE_OK : wte__no_memory(k->err, sizeof shown, "a name");
}

/* Findings whose ids are the adapter's. */
static wte_status mark(wte__checking *k, size_t before, wte_status status)
{
    if (status == WTE_OK && k->report->n > before) k->report->findings[before].of_adapter = true;
    return status;
}

/* Sizes ---------------------------------------------------------------------------------------- */

/* The base that the adapter names. */
static const char *fetch_base(const beside *b)
{
    const bool named = b->said->base[0] && b->said->base[0] != '-'; /* else an option */
    const char *base = named ? wte__repair_word(b->k, b->said->base) : "REPOSITORY";
    return base ? wte__repair_shell(b->k, "huggingface-cli download %s", base) : NULL;
}

/* Ids from `from` on, below `to`. */
static wte__seen ids_between(uint64_t from, uint64_t to)
{
    wte__seen seen = { 0 };
    for (uint64_t id = from; id < to && seen.count < WTE_FINDING_IDS; id++)
        wte__seen_add(&seen, id);
    seen.count = to > from ? to - from : 0;
    return seen;
}

/* Two tables of the adapter that no base takes together. */
static wte_status check_agreement(beside *b, bool *agree)
{
    wte__checking *k = b->k;
    const wte_check_facts *f = &k->report->facts;
    const uint64_t base_head = k->head ? k->head->rows : f->table_rows;
    *agree = !b->rows || !b->head_rows || b->rows == b->head_rows ||
             (b->rows == f->table_rows && b->head_rows == base_head);
    if (*agree) return WTE_OK;
    const bool more = b->rows > b->head_rows;
    const wte__seen seen =
        more ? ids_between(b->head_rows, b->rows) : ids_between(b->rows, b->head_rows);
    const size_t before = k->report->n;
    return mark(k, before,
                wte__check_add(k, WTE__CODE_ADAPTER_ROWS, b->name, &seen, "",
                               "the adapter's table has %" PRIu64 " rows and its head %" PRIu64
                               ": no base takes both (the base has %" PRIu64 ")",
                               b->rows, b->head_rows, f->table_rows));
}

/* Tokens of the adapter beyond all that it saves itself. */
static wte_status check_new_tokens(beside *b, uint64_t rows, uint64_t tokens)
{
    wte__checking *k = b->k;
    const size_t before = k->report->n;
    if (tokens <= rows) return WTE_OK;
    const wte__seen seen = ids_between(rows, tokens);
    return mark(k, before,
                wte__check_add(k, WTE__CODE_ADAPTER_ROWS, b->name, &seen, "",
                               "its tokenizer has ids 0..%" PRIu64
                               ", but what it saves has %" PRIu64 " rows: %" PRIu64
                               " ids have none",
                               tokens - 1, rows, seen.count));
}

static wte_status check_rows(beside *b)
{
    wte__checking *k = b->k;
    wte_check_facts *f = &k->report->facts;
    const uint64_t tokens = b->vocab ? wte_vocab_size(b->vocab) : 0;
    /* a head alone is compared with the base's head */
    const uint64_t base_rows = !b->rows && b->head_rows && k->head ? k->head->rows : f->table_rows;
    const uint64_t rows = b->rows ? b->rows : b->head_rows;
    bool agree;
    f->adapter_needs = rows ? rows : tokens > f->table_rows ? tokens : f->table_rows;
    if (rows && base_rows == rows) f->adapter_needs = f->table_rows;
    if (b->rows && b->head_rows > f->adapter_needs) f->adapter_needs = b->head_rows;
    WTE_TRY(check_agreement(b, &agree));
    if (rows) WTE_TRY(check_new_tokens(b, rows > b->head_rows ? rows : b->head_rows, tokens));
    b->disagrees = !agree;
    if (!agree || f->adapter_needs == f->table_rows) return WTE_OK;
    const wte__seen seen = ids_between(f->table_rows, f->adapter_needs);
    const size_t before = k->report->n;
    /* a base of more rows was not the one: cutting it would lose rows that are trained */
    const char *repair =
        f->adapter_needs > f->table_rows
            ? wte__repair_model(k, "m.resize_token_embeddings(%" PRIu64 ")", f->adapter_needs)
            : fetch_base(b);
    if (!rows)
        return mark(k, before,
                    wte__check_add(k, WTE__CODE_ADAPTER_ROWS, b->name, &seen, repair,
                                   "its tokenizer has ids 0..%" PRIu64 ", the base has %" PRIu64
                                   " rows, and the adapter saves none: %" PRIu64 " are missing",
                                   tokens - 1, f->table_rows, seen.count));
    return mark(k, before,
                wte__check_add(k, WTE__CODE_ADAPTER_ROWS, b->name, &seen, repair,
                               "the adapter's %s has %" PRIu64 " rows, the base's %" PRIu64
                               ": the base must have %" PRIu64 " rows before it is loaded",
                               b->rows ? "table" : "head", rows, base_rows, f->adapter_needs));
}

static wte_status check_width(beside *b)
{
    const wte_check_facts *f = &b->k->report->facts;
    const uint64_t head = b->k->head ? b->k->head->dim : f->dim;
    if (b->dim && b->dim != f->dim)
        return wte__check_add(b->k, WTE__CODE_ADAPTER_WIDTH, b->name, NULL, fetch_base(b),
                              "rows of the adapter have %" PRIu64
                              " numbers, those of the base %" PRIu64,
                              b->dim, f->dim);
    if (!b->head_dim || b->head_dim == head) return WTE_OK;
    return wte__check_add(b->k, WTE__CODE_ADAPTER_WIDTH, b->name, NULL, fetch_base(b),
                          "rows of the adapter's head have %" PRIu64
                          " numbers, those of the base's %" PRIu64,
                          b->head_dim, head);
}

/* Replacement rows, of the embedding or of the head, and the ids whose rows they are. */
struct replaced {
    const char *what;
    const uint64_t *ids;
    uint64_t n, rows; /* ids, and rows that are saved for them */
};

static wte_status check_replaced(beside *b, const struct replaced *r)
{
    wte__checking *k = b->k;
    wte__seen seen = { 0 };
    const uint64_t rows = k->report->facts.adapter_needs;
    uint64_t most = 0;
    const size_t before = k->report->n;
    if (r->rows && r->n && r->rows != r->n)
        WTE_TRY(wte__check_add(k, WTE__CODE_ADAPTER_IDS, b->name, NULL, "",
                               "it saves %" PRIu64
                               " replacement rows%s, and its config names %" PRIu64
                               " token ids for them",
                               r->rows, r->what, r->n));
    for (uint64_t i = 0; i < r->n; i++) {
        if (r->ids[i] < rows) continue;
        wte__seen_add(&seen, r->ids[i]);
        if (r->ids[i] > most) most = r->ids[i];
    }
    if (!seen.count) return WTE_OK;
    const char *repair =
        most < UINT64_MAX ? wte__repair_model(k, "m.resize_token_embeddings(%" PRIu64 ")", most + 1)
                          : wte__repair_fetch(k);
    return mark(k, before,
                wte__check_add(k, WTE__CODE_ADAPTER_IDS, b->name, &seen, repair,
                               "%" PRIu64 " of its %" PRIu64
                               " token ids%s have no row: the largest "
                               "is %" PRIu64 ", the base has %" PRIu64 " rows",
                               seen.count, r->n, r->what, most, rows));
}

static wte_status check_ids(beside *b)
{
    const wte_model_adapter *a = b->said;
    const struct replaced input = { "", a->token_ids, a->n_token_ids, a->token_rows };
    const struct replaced head = { " of the head", a->head_token_ids, a->n_head_token_ids,
                                   a->head_token_rows };
    WTE_TRY(check_replaced(b, &input));
    return check_replaced(b, &head);
}

/* Tokens --------------------------------------------------------------------------------------- */

static bool has_token(const wte_vocab *v, uint64_t id)
{
    return id < wte_vocab_size(v) && wte_vocab_kind(v, id) != WTE_TOKEN_NONE;
}

static bool same_text(const wte_vocab *a, const wte_vocab *b, uint64_t id)
{
    uint64_t n, m;
    const char *x = wte_vocab_raw_text(a, id, &n), *y = wte_vocab_raw_text(b, id, &m);
    return n == m && (n == 0 || memcmp(x, y, (size_t)n) == 0);
}

/* Ids whose tokens differ, and those to which the base has no token yet. */
static void compare_tokens(const beside *b, wte__seen *differ, wte__seen *fresh, uint64_t *common)
{
    const wte_vocab *base = b->k->vocab;
    *common = 0;
    for (uint64_t id = 0; b->vocab && base && id < wte_vocab_size(b->vocab); id++) {
        if (!has_token(b->vocab, id)) continue;
        if (!has_token(base, id)) {
            wte__seen_add(fresh, id);
            continue;
        }
        ++*common;
        if (!same_text(b->vocab, base, id)) wte__seen_add(differ, id);
    }
}

static wte_status check_tokens(beside *b, const wte__seen *differ, uint64_t common)
{
    wte__checking *k = b->k;
    const size_t before = k->report->n;
    char one[WTE__NAME_SHOWN], two[WTE__NAME_SHOWN];
    uint64_t n, m;
    if (!differ->count) return WTE_OK;
    const char *x = wte_vocab_raw_text(b->vocab, differ->id[0], &n);
    const char *y = wte_vocab_raw_text(k->vocab, differ->id[0], &m);
    return mark(k, before,
                wte__check_add(k, WTE__CODE_ADAPTER_TOKENS, b->name, differ, fetch_base(b),
                               "of %" PRIu64 " ids that have tokens in both, %" PRIu64
                               " have another: id %" PRIu64
                               " is '%.60s' in the adapter, '%.60s' in the base",
                               common, differ->count, differ->id[0], wte__show(one, x, n),
                               wte__show(two, y, m)));
}

/* The tie -------------------------------------------------------------------------------------- */

/* Whether a head has the numbers of the base's table: then nothing is replaced. */
static wte_status is_base_table(const beside *b, const wte_model_table *head, bool *same)
{
    const wte_model_table *input = b->k->input;
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    wte__difference d;
    *same = false;
    if (input->rows != head->rows || input->dim != head->dim) return WTE_OK;
    if (!wte_dtype_converts(input->dtype) || !wte_dtype_converts(head->dtype)) return WTE_OK;
    opt.pool = b->k->opt.pool;
    opt.progress = b->k->opt.progress;
    opt.allocator = b->k->opt.allocator;
    WTE_TRY(wte__rows_compare(&input->source, &head->source, input->rows, &opt, &d, b->k->err));
    *same = d.rows == 0;
    return WTE_OK;
}

/* Of a tied base the adapter changes the head and not the table. */
static wte_status check_head_alone(beside *b)
{
    static const char untie[] =
        "m.config.tie_word_embeddings = False; o = m.get_output_embeddings(); "
        "o.weight = type(o.weight)(o.weight.detach().clone())";
    wte__checking *k = b->k;
    const wte_model_adapter *a = b->said;
    const uint64_t rows = k->report->facts.adapter_needs;
    bool same = false;
    if (b->head) WTE_TRY(is_base_table(b, b->head, &same));
    if (same) return WTE_OK;
    if (b->head)
        return wte__check_add(k, WTE__CODE_ADAPTER_UNTIES, b->name, NULL,
                              wte__repair_merge(k, wte_model_path(b->model),
                                                rows == k->report->facts.table_rows ? 0 : rows),
                              "the base is tied, and the adapter replaces the head alone (%" PRIu64
                              " x %" PRIu64 ")",
                              b->head->rows, b->head->dim);
    return wte__check_add(k, WTE__CODE_ADAPTER_UNTIES, b->name, NULL,
                          wte__repair_model(k, "%s", untie),
                          "the base is tied, and the adapter changes %s alone: merged into the one "
                          "matrix it changes the table as well",
                          a->lora_head ? "the head" : "rows of the head");
}

static wte_status check_tie(beside *b)
{
    wte__checking *k = b->k;
    wte_tie_options opt = WTE_TIE_OPTIONS_INIT;
    wte_tie tie;
    const wte_model_adapter *a = b->said;
    if (!k->wanted[WTE__CODE_ADAPTER_UNTIES] || b->disagrees) return WTE_OK;
    if (!k->has_tie || !(k->tie.tied || (k->config->tied && k->config->tie_decided))) return WTE_OK;
    const bool table = b->input || a->lora_input || a->token_rows;
    if (!table && (b->head || a->lora_head || a->head_token_rows)) return check_head_alone(b);
    if (!b->input || !b->head) return WTE_OK;
    opt.pool = k->opt.pool;
    opt.progress = k->opt.progress;
    opt.allocator = k->opt.allocator;
    WTE_TRY(wte_model_tie(b->model, &opt, &tie, k->err));
    if (tie.tied || tie.verdict == WTE_TIE_EQUAL_VALUES) return WTE_OK;
    const uint64_t rows = k->report->facts.adapter_needs;
    return wte__check_add(
        k, WTE__CODE_ADAPTER_UNTIES, b->name, NULL,
        wte__repair_merge(k, wte_model_path(b->model),
                          rows == k->report->facts.table_rows ? 0 : rows),
        "the base is tied, and the adapter saves embedding and head apart: %.200s", tie.why);
}

/* The base ------------------------------------------------------------------------------------- */

static bool equal_folded(const char *a, size_t n, const char *b, size_t m)
{
    if (n != m) return false;
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i])) return false;
    return true;
}

/* Whether a folder on the way to the model has the base's name: itself, or that of a hub's cache.
 */
static bool is_base(const char *path, const char *base)
{
    size_t end = strlen(base);
    while (end > 1 && base[end - 1] == '/') end--;
    size_t from = end;
    while (from > 0 && base[from - 1] != '/') from--;
    for (const char *at = path; *at;) {
        const size_t n = strcspn(at, "/"), last = end - from;
        if (equal_folded(at, n, base + from, last)) return true;
        if (n > last + 2 && strncmp(at, "models--", 8) == 0 &&
            memcmp(at + n - last - 2, "--", 2) == 0 &&
            equal_folded(at + n - last, last, base + from, last))
            return true;
        at += n;
        while (*at == '/') at++;
    }
    return false;
}

static wte_status check_base(beside *b)
{
    char shown[WTE__NAME_SHOWN], path[WTE__NAME_SHOWN];
    const char *model = wte_model_path(b->k->m), *base = b->said->base;
    if (!*base || is_base(model, base)) return WTE_OK;
    return wte__check_add(b->k, WTE__CODE_ADAPTER_BASE, b->name, NULL, "",
                          "its config names the base '%.100s', and this one is %.100s",
                          wte__show(shown, base, strlen(base)),
                          wte__show(path, model, strlen(model)));
}

/* What it is ----------------------------------------------------------------------------------- */

/* "; and the rows ..." of what changes the head. */
static void put_head_changes(const beside *b, char *text, size_t cap)
{
    const wte_model_adapter *a = b->said;
    text[0] = '\0';
    if (!b->head && a->lora_head)
        snprintf(text, cap, ", changes a head of %" PRIu64 " x %" PRIu64 " by rank %" PRIu64,
                 a->lora_head_rows, a->lora_head_dim, a->lora_head_rank);
    else if (!b->head && a->head_token_rows)
        snprintf(text, cap, ", saves the head's rows of %" PRIu64 " tokens", a->head_token_rows);
}

static void put_tables(const beside *b, char *text, size_t cap)
{
    const wte_model_table *in = b->input, *out = b->head;
    const wte_model_adapter *a = b->said;
    char head[80];
    put_head_changes(b, head, sizeof head);
    if (in && out)
        snprintf(text, cap,
                 "saves a table of %" PRIu64 " x %" PRIu64 " and a head of %" PRIu64 " x %" PRIu64,
                 in->rows, in->dim, out->rows, out->dim);
    else if (out && a->lora_input)
        snprintf(text, cap,
                 "changes a table of %" PRIu64 " x %" PRIu64 " by rank %" PRIu64
                 " and saves a head of %" PRIu64 " x %" PRIu64,
                 a->lora_rows, a->lora_dim, a->lora_rank, out->rows, out->dim);
    else if (in || out)
        snprintf(text, cap, "saves a %s of %" PRIu64 " x %" PRIu64 " and no %s%s",
                 in ? "table" : "head", in ? in->rows : out->rows, in ? in->dim : out->dim,
                 in ? "head" : "table", head);
    else if (a->lora_input)
        snprintf(text, cap,
                 "changes a table of %" PRIu64 " x %" PRIu64 " by rank %" PRIu64
                 " and saves none%s",
                 a->lora_rows, a->lora_dim, a->lora_rank, head);
    else if (a->token_rows)
        snprintf(text, cap, "saves the rows of %" PRIu64 " tokens%s", a->token_rows, head);
    else if (*head)
        snprintf(text, cap, "%s and saves no table", head + 2);
    else
        snprintf(text, cap, "saves nothing of the embedding");
}

static wte_status tell(beside *b, const wte__seen *differ, const wte__seen *fresh, uint64_t common)
{
    wte__checking *k = b->k;
    const wte_check_facts *f = &k->report->facts;
    char tables[160], tokens[160];
    const size_t before = k->report->n;
    put_tables(b, tables, sizeof tables);
    const char *problem = wte_model_vocab_problem(b->model);
    if (*problem)
        snprintf(tokens, sizeof tokens, "its tokenizer cannot be read: %.120s", problem);
    else if (!b->vocab)
        snprintf(tokens, sizeof tokens, "it brings no tokenizer");
    else if (!k->vocab)
        snprintf(tokens, sizeof tokens, "the base has no tokenizer to compare with");
    else
        snprintf(tokens, sizeof tokens,
                 "%" PRIu64 " of %" PRIu64 " common ids have the same token, %" PRIu64
                 " tokens are new",
                 common - differ->count, common, fresh->count);
    return mark(k, before,
                wte__check_add(k, WTE__CODE_ADAPTER_SAVES, b->name, fresh, "",
                               "it %s; the base has %" PRIu64 " x %" PRIu64 " and needs %" PRIu64
                               " rows; %s",
                               tables, f->table_rows, f->dim, f->adapter_needs, tokens));
}

wte_status wte__check_adapter(wte__checking *k)
{
    beside b;
    wte__seen differ = { 0 }, fresh = { 0 };
    uint64_t common;
    if (!k->opt.adapter) return WTE_OK;
    WTE_TRY(begin(&b, k));
    wte_check_facts *f = &k->report->facts;
    f->has_adapter = true;
    f->adapter_rows = b.rows;
    f->adapter_dim = b.dim;
    f->adapter_head_rows = b.head ? b.head->rows : 0;
    WTE_TRY(check_base(&b));
    if (!k->input) return WTE_OK;
    WTE_TRY(check_rows(&b));
    WTE_TRY(check_width(&b));
    WTE_TRY(check_ids(&b));
    compare_tokens(&b, &differ, &fresh, &common);
    WTE_TRY(check_tokens(&b, &differ, common));
    WTE_TRY(check_tie(&b));
    return tell(&b, &differ, &fresh, common);
}
