/* The sizes against each other: config, input table, head, tokenizer, positions. No row is read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "format/gguf.h"
#include "format/parallel.h"
#include "inspect/check.h"
#include "model/model.h"

/* The name of the file that holds a path, safe to print. */
static const char *base_of(char shown[WTE__NAME_SHOWN], const char *path)
{
    const char *base = wte__path_base(path);
    return wte__show(shown, base, strlen(base));
}

static wte_status check_table(wte__checking *k)
{
    wte_error why;
    const wte_model_table *table;
    char shown[WTE__NAME_SHOWN];
    const char *model = base_of(shown, wte_model_path(k->m));
    if (!k->input) {
        const wte_status status = wte_model_input(k->m, &table, &why);
        if (status == WTE_E_UNSUPPORTED) {
            if (k->err) *k->err = why;
            return status; /* nothing is wrong with it that could be found here */
        }
        /* found by its name, but what leads to it is broken: the mapping, or parts of it */
        const bool found = status != WTE_E_NOT_FOUND;
        uint64_t tensor;
        const bool mapped = found && wte_file_find(k->file, "mapping", 7, &tensor, NULL) == WTE_OK;
        const char *word = wte__repair_word(k, wte_model_path(k->m));
        char kind[WTE__GGUF_KIND]; /* of which no tensor could be the table */
        const bool none = *wte__gguf_kind(k->file, kind) || wte_file_n_tensors(k->file) == 0;
        const char *repair = !word   ? NULL
                             : none  ? ""
                             : found ? wte__repair_fetch(k)
                                     : wte__repair_shell(k, "wte check %s --tensor NAME", word);
        return wte__check_add(k, mapped ? WTE__CODE_MAPPING_RANGE : WTE__CODE_TABLE_MISSING, model,
                              NULL, repair, "%s", why.message);
    }
    if (k->stored.rows && k->stored.cols) return WTE_OK;
    const char *name = wte__check_table_name(k);
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    return wte__check_add(k, WTE__CODE_TABLE_EMPTY, name, NULL,
                          wte__repair_shell(k, "python3 zero_to_fp32.py . whole"),
                          "the table is %" PRIu64 " x %" PRIu64 ": nothing is stored in it",
                          k->stored.rows, k->stored.cols);
}

/* Tokens without a row. */
static wte_status check_uncovered(wte__checking *k, const char *name)
{
    wte__seen seen = { 0 };
    const wte_check_facts *f = &k->report->facts;
    /* of an empty table that is told, and no resize brings its numbers back */
    if (!k->vocab || f->token_ids <= f->table_rows || !f->table_rows) return WTE_OK;
    for (uint64_t id = f->table_rows; id < f->token_ids; id++)
        if (wte_vocab_kind(k->vocab, id) != WTE_TOKEN_NONE) wte__seen_add(&seen, id);
    return wte__check_add(
        k, WTE__CODE_ROWS_UNCOVERED, name, &seen,
        wte__repair_model(k, "m.resize_token_embeddings(%" PRIu64 ")", f->token_ids),
        "%" PRIu64 " token%s no row: the tokenizer's largest id is %" PRIu64
        ", but the table has rows for ids 0..%" PRIu64,
        seen.count, seen.count == 1 ? " has" : "s have", f->token_ids - 1, f->table_rows - 1);
}

/* One part of several that lies there alone: "; this looks like part 0 of 8 (8 x 16032 = 128256)".
 * "" when it is none, or that many of them are not the whole. */
static const char *part_of(const wte__checking *k, uint64_t have, uint64_t whole, char buf[160])
{
    wte__parallel_name name;
    buf[0] = '\0';
    if (!k->file || wte_file_format(k->file) != WTE_FORMAT_TORCH || whole % have != 0 ||
        !wte__parallel_name_of(wte_file_shard_path(k->file, 0), &name))
        return buf;
    snprintf(buf, 160,
             "; this looks like part %" PRIu64 " of %" PRIu64 " (%" PRIu64 " x %" PRIu64
             " = %" PRIu64 "), and the others are not here",
             name.number, whole / have, whole / have, have, whole);
    return buf;
}

/* llm.c, and programs that cut tables for several processes, pad the rows to a multiple. */
static bool pads_itself(const wte_file *file)
{
    wte__parallel_name part;
    const wte_format format = wte_file_format(file);
    if (format == WTE_FORMAT_LLMC || format == WTE_FORMAT_SAFETENSORS_PARALLEL) return true;
    return format == WTE_FORMAT_TORCH_PARALLEL &&
           wte__parallel_name_of(wte_file_shard_path(file, 0), &part) && part.scheme->by_name;
}

static wte_status check_config(wte__checking *k, const char *name)
{
    const wte_check_facts *f = &k->report->facts;
    const wte_model_config *c = k->config;
    char value[32], part[160], shown[WTE__NAME_SHOWN];
    const char *config = base_of(shown, c->path[0] ? c->path : "config.json");
    snprintf(value, sizeof value, "%" PRIu64, f->table_rows);
    if (f->config_vocab && f->table_rows && f->config_vocab > f->table_rows) {
        part_of(k, f->table_rows, f->config_vocab, part);
        WTE_TRY(wte__check_add(
            k, WTE__CODE_CONFIG_LARGER, name, NULL,
            part[0] ? wte__repair_fetch(k) : wte__repair_config(k, "vocab_size", value),
            "%s says vocab_size %" PRIu64 ", but the table has %" PRIu64 " rows: %" PRIu64
            " missing%s",
            config, f->config_vocab, f->table_rows, f->config_vocab - f->table_rows, part));
    }
    /* more rows than the head, which is as the config says: ids for input only, told below; and
     * rows that pad a table are told with the other rows without a token */
    const bool on_purpose =
        (k->head && f->head_rows == f->config_vocab) || (k->file && pads_itself(k->file));
    if (f->config_vocab && f->config_vocab < f->table_rows && !on_purpose)
        WTE_TRY(wte__check_add(
            k, WTE__CODE_CONFIG_SMALLER, name, NULL, wte__repair_config(k, "vocab_size", value),
            "%s says vocab_size %" PRIu64 ", but the table has %" PRIu64 " rows: %" PRIu64 " more",
            config, f->config_vocab, f->table_rows, f->table_rows - f->config_vocab));
    if (!f->table_rows || !f->dim) return WTE_OK;
    if (!c->hidden_size || c->hidden_size == f->dim || c->embedding_size) return WTE_OK;
    snprintf(value, sizeof value, "%" PRIu64, f->dim);
    part_of(k, f->dim, c->hidden_size, part);
    const char *key = wte__config_is_params(c) ? "dim" : "hidden_size";
    return wte__check_add(k, WTE__CODE_CONFIG_WIDTH, name, NULL,
                          part[0] || k->input->scheme ? wte__repair_fetch(k)
                                                      : wte__repair_config(k, key, value),
                          "%s says %" PRIu64 " numbers a row, but rows have %" PRIu64 "%s", config,
                          c->hidden_size, f->dim, part);
}

static int by_token(const void *va, const void *vb)
{
    const int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return a < b ? -1 : a > b;
}

/* A draft head: ids that none of its rows stands for. */
static wte_status check_draft(wte__checking *k, const char *name)
{
    const wte_model_output *o = wte_model_output_of(k->m);
    const wte_check_facts *f = &k->report->facts;
    char shown[WTE__NAME_SHOWN];
    wte__seen seen = { 0 };
    if (*o->map_problem)
        return wte__check_add(k, WTE__CODE_HEAD_MAP,
                              wte__show(shown, k->head->name, strlen(k->head->name)), NULL, "",
                              "%s", o->map_problem);
    const size_t n = (size_t)o->n_map;
    int64_t *sorted = wte__alloc_array(k->opt.allocator, n, sizeof *sorted);
    if (!sorted) return wte__no_memory(k->err, n * sizeof *sorted, "the tokens of a head");
    memcpy(sorted, o->map, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_token);
    for (uint64_t id = 0, at = 0; id < f->table_rows; id++) {
        while (at < n && (uint64_t)sorted[at] < id) at++;
        if (at == n || (uint64_t)sorted[at] != id) wte__seen_add(&seen, id);
    }
    wte__free(k->opt.allocator, sorted, n * sizeof *sorted);
    if (!seen.count) return WTE_OK;
    return wte__check_add(k, WTE__CODE_INPUT_ONLY, name, &seen, "",
                          "a draft head of %" PRIu64 " rows (%.80s): %" PRIu64 " of %" PRIu64
                          " ids are for input only",
                          f->head_rows, o->map_why, seen.count, f->table_rows);
}

static wte_status check_head(wte__checking *k, const char *name)
{
    const wte_check_facts *f = &k->report->facts;
    const wte_model_output *o = wte_model_output_of(k->m);
    wte__seen seen = { 0 };
    if (k->head && (o->map || *o->map_problem)) return check_draft(k, name);
    if (!k->head || k->two_vocabularies || f->head_rows == f->table_rows) return WTE_OK;
    const bool more_input = f->table_rows > f->head_rows;
    const uint64_t from = more_input ? f->head_rows : f->table_rows;
    const uint64_t to = more_input ? f->table_rows : f->head_rows;
    for (uint64_t id = from; id < to && id - from < WTE_FINDING_IDS; id++) wte__seen_add(&seen, id);
    seen.count = to - from;
    const char *repair =
        more_input ? ""
                   : wte__repair_model(k, "m.resize_token_embeddings(%" PRIu64 ")", f->head_rows);
    return wte__check_add(
        k, more_input ? WTE__CODE_INPUT_ONLY : WTE__CODE_HEAD_ONLY, name, &seen, repair,
        "the input table has %" PRIu64 " rows and the head %" PRIu64 ": ids %" PRIu64 "..%" PRIu64
        " are for %s only",
        f->table_rows, f->head_rows, from, to - 1, more_input ? "input" : "output");
}

/* Texts that are no UTF-8, and those that name another id. */
static wte_status check_texts(wte__checking *k)
{
    const wte_vocab *v = k->vocab;
    const uint64_t broken = wte_vocab_n_invalid_utf8(v), twice = wte_vocab_n_duplicates(v);
    wte__seen not_utf8 = { 0 }, duplicates = { 0 };
    char shown[WTE__NAME_SHOWN];
    base_of(shown, wte_vocab_path(v));
    for (uint64_t id = 0; id < wte_vocab_size(v) && (broken || twice); id++) {
        wte__bytes text;
        text.data = (const uint8_t *)wte_vocab_raw_text(v, id, &text.size);
        if (text.data && !wte__utf8_valid(text)) wte__seen_add(&not_utf8, id);
        if (wte_vocab_is_duplicate(v, id)) wte__seen_add(&duplicates, id);
    }
    if (broken)
        WTE_TRY(wte__check_add(k, WTE__CODE_VOCAB_NOT_UTF8, shown, &not_utf8, "",
                               "%" PRIu64 " of %" PRIu64 " tokens %s no UTF-8", broken,
                               k->report->facts.n_tokens, broken == 1 ? "is" : "are"));
    if (!twice) return WTE_OK;
    return wte__check_add(k, WTE__CODE_VOCAB_DUPLICATES, shown, &duplicates, "",
                          "%" PRIu64 " of %" PRIu64 " tokens %s the text of another id", twice,
                          k->report->facts.n_tokens, twice == 1 ? "has" : "have");
}

static wte_status check_vocab(wte__checking *k)
{
    const wte_check_facts *f = &k->report->facts;
    const char *problem = wte_model_vocab_problem(k->m);
    char shown[WTE__NAME_SHOWN], subject[WTE__NAME_SHOWN];
    if (!k->vocab) {
        base_of(subject, wte_model_path(k->m));
        if (!*problem)
            return wte__check_add(k, WTE__CODE_VOCAB_ABSENT, subject, NULL, "",
                                  "no tokenizer file lies beside the weights");
        return wte__check_add(k, WTE__CODE_VOCAB_UNREADABLE, subject, NULL, wte__repair_fetch(k),
                              "%s", problem);
    }
    WTE_TRY(check_texts(k));
    if (!f->n_holes) return WTE_OK;
    wte__seen seen = { 0 };
    for (uint64_t id = 0; id < f->token_ids; id++)
        if (wte_vocab_kind(k->vocab, id) == WTE_TOKEN_NONE) wte__seen_add(&seen, id);
    base_of(shown, wte_vocab_path(k->vocab));
    return wte__check_add(
        k, WTE__CODE_VOCAB_HOLES, shown, &seen, "",
        "%" PRIu64 " tokens, but ids go up to %" PRIu64 ": %" PRIu64 " of them %s no token",
        f->n_tokens, f->token_ids - 1, f->n_holes, f->n_holes == 1 ? "has" : "have");
}

/* An id without a row: the tokenizer's own, or one that is left from another vocabulary. */
static const char *repair_special(wte__checking *k, const char *key, uint64_t id)
{
    const bool known = k->vocab && id < k->report->facts.token_ids &&
                       wte_vocab_kind(k->vocab, id) != WTE_TOKEN_NONE;
    if (k->vocab && !known)
        return wte__repair_model(k, "m.config.%s = t.AutoTokenizer.from_pretrained(sys.argv[1]).%s",
                                 key, key);
    return wte__repair_model(k, "m.resize_token_embeddings(%" PRIu64 ")", id + 1);
}

/* Ids that the config names must have rows, as those of the tokenizer. */
static wte_status check_special(wte__checking *k, const char *name)
{
    const wte_check_facts *f = &k->report->facts;
    const wte_model_config *c = k->config;
    char shown[WTE__NAME_SHOWN];
    const char *config = base_of(shown, c->path);
    const struct {
        const char *key;
        int64_t id;
        wte__code code;
    } ids[] = { { "pad_token_id", c->pad_token_id, WTE__CODE_PAD_OUTSIDE },
                { "bos_token_id", c->bos_token_id, WTE__CODE_SPECIAL_OUTSIDE },
                { "eos_token_id", c->eos_token_id, WTE__CODE_SPECIAL_OUTSIDE } };
    for (size_t i = 0; f->table_rows && i < sizeof ids / sizeof *ids; i++) {
        const uint64_t id = (uint64_t)ids[i].id;
        if (ids[i].id < 0 || id < f->table_rows) continue;
        const wte__seen seen = { .count = 1, .id = { id } };
        WTE_TRY(wte__check_add(k, ids[i].code, name, &seen, repair_special(k, ids[i].key, id),
                               "%s says %s %" PRIu64 ", but the table has rows for ids 0..%" PRIu64,
                               config, ids[i].key, id, f->table_rows - 1));
    }
    return WTE_OK;
}

/* Positions ------------------------------------------------------------------------------------ */

/* Families that number positions from a row other than the first. */
static uint64_t position_offset(const wte__checking *k)
{
    static const char *const after_pad[] = { "roberta",    "xlm-roberta",   "camembert",
                                             "longformer", "mpnet",         "xlm-roberta-xl",
                                             "xmod",       "data2vec-text", "luke",
                                             "ibert",      "esm",           "roberta-prelayernorm",
                                             "layoutlmv3", "markuplm" };
    static const char *const two[] = { "bart", "mbart", "opt", "plbart", "biogpt", "mvp", "trocr" };
    const char *type = k->config->model_type;
    const int64_t pad = k->config->pad_token_id;
    for (size_t i = 0; i < sizeof after_pad / sizeof *after_pad; i++)
        if (strcmp(type, after_pad[i]) == 0) return (pad >= 0 ? (uint64_t)pad : 1) + 1;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (strcmp(type, two[i]) == 0) return 2;
    return 0;
}

static wte_status check_positions(wte__checking *k)
{
    const wte_candidate *c;
    const uint64_t offset = position_offset(k);
    for (uint64_t i = 0; k->file && (c = wte_model_candidate(k->m, i)); i++) {
        wte_tensor t;
        wte_row_source rows;
        char shown[WTE__NAME_SHOWN], from[64] = "";
        if (c->role != WTE_ROLE_OTHER || c->kind != WTE_KIND_POSITIONS) continue;
        if (wte_file_tensor(k->file, c->tensor, &t, NULL) != WTE_OK || t.rank < 2) continue;
        if (wte_file_row_source(k->file, c->tensor, &rows, NULL) != WTE_OK || rows.cols < 2)
            continue;
        const uint64_t usable = rows.rows > offset ? rows.rows - offset : 0;
        if (offset) snprintf(from, sizeof from, ", numbered from row %" PRIu64 " on", offset);
        WTE_TRY(wte__check_add(k, WTE__CODE_POSITION_LENGTH, wte__show(shown, t.name, t.name_bytes),
                               NULL, "", "%" PRIu64 " rows%s: texts of at most %" PRIu64 " tokens",
                               rows.rows, from, usable));
    }
    return WTE_OK;
}

/* The head's bias has one number for each of its rows: resizes forget it. */
static wte_status check_bias(wte__checking *k)
{
    const wte_check_facts *f = &k->report->facts;
    const uint64_t rows = k->head ? f->head_rows : f->table_rows;
    const wte_candidate *c;
    for (uint64_t i = 0; k->file && (c = wte_model_candidate(k->m, i)); i++) {
        wte_tensor t;
        char shown[WTE__NAME_SHOWN];
        if (c->kind != WTE_KIND_HEAD_BIAS) continue;
        if (wte_file_tensor(k->file, c->tensor, &t, NULL) != WTE_OK || !t.rank) continue;
        if (t.shape[t.rank - 1] == rows) continue;
        WTE_TRY(wte__check_add(k, WTE__CODE_BIAS_LENGTH, wte__show(shown, t.name, t.name_bytes),
                               NULL, wte__repair_length(k, &t, rows),
                               "a bias of %" PRIu64 " numbers for %" PRIu64 " rows",
                               t.shape[t.rank - 1], rows));
    }
    return WTE_OK;
}

/* Static models -------------------------------------------------------------------------------- */

/* `weights` of a static model has one number for each id. */
static wte_status check_weights(wte__checking *k)
{
    const wte_candidate *c;
    for (uint64_t i = 0; k->file && (c = wte_model_candidate(k->m, i)); i++) {
        wte_tensor t;
        if (c->kind != WTE_KIND_WEIGHTS) continue;
        if (wte_file_tensor(k->file, c->tensor, &t, NULL) != WTE_OK || t.rank != 1) continue;
        if (t.shape[0] == k->input->rows) continue;
        WTE_TRY(wte__check_add(k, WTE__CODE_WEIGHTS_LENGTH, "weights", NULL, wte__repair_fetch(k),
                               "%" PRIu64 " weights for %" PRIu64 " ids", t.shape[0],
                               k->input->rows));
    }
    return WTE_OK;
}

static wte_status check_mapping(wte__checking *k, const char *name)
{
    wte__seen seen = { .lie = k->lie };
    const uint64_t rows = k->stored.rows;
    for (uint64_t row = 0; row < rows; row++)
        if (!k->lie[row]) wte__seen_add(&seen, row);
    if (!seen.count) return WTE_OK;
    return wte__check_add(k, WTE__CODE_ROWS_UNREFERENCED, name, &seen, "",
                          "%" PRIu64 " of %" PRIu64 " rows: %" PRIu64
                          " ids are mapped, none to them",
                          seen.count, rows, k->input->rows);
}

wte_status wte__check_sizes(wte__checking *k)
{
    WTE_TRY(check_table(k));
    WTE_TRY(check_vocab(k));
    WTE_TRY(check_positions(k));
    if (!k->input) return WTE_OK;
    const char *name = wte__check_table_name(k);
    if (!name) return wte__no_memory(k->err, WTE__NAME_SHOWN, "a name");
    WTE_TRY(check_uncovered(k, name));
    WTE_TRY(check_config(k, name));
    WTE_TRY(check_head(k, name));
    WTE_TRY(check_special(k, name));
    WTE_TRY(check_weights(k));
    WTE_TRY(check_bias(k));
    return k->input->mapped && k->stored.rows ? check_mapping(k, name) : WTE_OK;
}
