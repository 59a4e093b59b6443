/* Opening a model: which files a path stands for, and what is asked of them. The path is a file of
 * tensors, a directory laid out as one of the known kinds of model, or "demo". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/replace.h"
#include "format/parallel.h"
#include "model/model.h"
#include "model/resolve_path.h"

#define DEMO_ROWS 6u
#define DEMO_DIM  3u
#define DEMO_SEED 123u

/* Whether a file beside the weights is there and not empty; what is there but cannot be read is an
 * error. */
static wte_status find_side_file(const wte__resolved_path *p, const char *name,
                                 char path[WTE_LIMIT_PATH], bool *there, wte_error *err)
{
    *there = false;
    if (!wte__path_join(path, p->side, name)) return WTE_OK; /* no file has such a path */
    return wte__path_optional(path, there, NULL, err);
}

/* Such a file brings its own config: one that lies beside it may be another model's. */
static wte_status read_own_config(wte_model *m, const wte__resolved_path *p, wte_error *err)
{
    const char *kept = wte__arena_text(&m->arena, p->weights, strlen(p->weights));
    if (!kept) return wte__no_memory(err, strlen(p->weights), "a path");
    if (wte_file_format(m->file) == WTE_FORMAT_GGUF)
        return wte__config_gguf(&m->config, m->file, kept, &m->arena, err);
    if (wte_file_format(m->file) == WTE_FORMAT_LLMC)
        wte__config_llmc(&m->config, m->file, kept);
    else
        wte__config_llama2c(&m->config, m->file, kept);
    return WTE_OK;
}

static wte_status read_config(wte_model *m, const wte__resolved_path *p, wte_error *err)
{
    char path[WTE_LIMIT_PATH];
    const wte_format format = wte_file_format(m->file);
    if (format == WTE_FORMAT_GGUF || format == WTE_FORMAT_LLMC || format == WTE_FORMAT_LLAMA2C)
        return read_own_config(m, p, err);
    char *text = NULL;
    uint64_t bytes = 0;
    bool there, params = false;
    WTE_TRY(find_side_file(p, "modules.json", path, &m->sentence_model, err));
    if (!m->sentence_model)
        WTE_TRY(
            find_side_file(p, "config_sentence_transformers.json", path, &m->sentence_model, err));
    WTE_TRY(find_side_file(p, "config.json", path, &there, err));
    if (!there) {
        WTE_TRY(find_side_file(p, "params.json", path, &params, err));
        if (!params) return WTE_OK;
    }
    const char *kept = wte__arena_text(&m->arena, path, strlen(path));
    if (!kept) return wte__no_memory(err, strlen(path), "a path");
    WTE_TRY(
        wte__file_load(kept, WTE_LIMIT_CONFIG, WTE__FIXED_LIMIT, m->allocator, &text, &bytes, err));
    wte_status status = params ? wte__config_params(&m->config, text, bytes, kept, err)
                               : wte__config_parse(&m->config, text, bytes, kept, &m->arena, err);
    if (status == WTE_OK && !params)
        status = wte__quant_said_parse(&m->said, text, bytes, kept, false, &m->arena, err);
    wte__free(m->allocator, text, (size_t)bytes + 1);
    return status;
}

/* What quantising tools write beside the config, where that says nothing of it. */
static wte_status read_quant_config(wte_model *m, const wte__resolved_path *p, wte_error *err)
{
    static const char *const names[] = { "quantize_config.json", "quant_config.json" };
    char path[WTE_LIMIT_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names && !m->said.at; i++) {
        bool there;
        WTE_TRY(find_side_file(p, names[i], path, &there, err));
        if (!there) continue;
        char *text = NULL;
        uint64_t bytes = 0;
        const char *kept = wte__arena_text(&m->arena, path, strlen(path));
        if (!kept) return wte__no_memory(err, strlen(path), "a path");
        WTE_TRY(wte__file_load(kept, WTE_LIMIT_CONFIG, WTE__FIXED_LIMIT, m->allocator, &text,
                               &bytes, err));
        const wte_status status =
            wte__quant_said_parse(&m->said, text, bytes, kept, true, &m->arena, err);
        wte__free(m->allocator, text, (size_t)bytes + 1);
        if (status != WTE_OK) return status;
    }
    return WTE_OK;
}

/* The tokens that the file of tensors lists itself fit its table surely; else those beside it.
 * A broken vocabulary does not stop the model: ids work without texts. */
static wte_status read_vocab(wte_model *m, const wte__resolved_path *p, uint64_t max_bytes,
                             wte_error *err)
{
    wte_vocab_options opt = WTE_VOCAB_OPTIONS_INIT;
    wte_error problem;
    const wte_token_list *tokens;
    opt.allocator = m->allocator;
    opt.max_bytes = max_bytes;
    wte_status status = wte_file_tokens(m->file, &tokens, &problem);
    if (status == WTE_OK)
        status = wte_vocab_from_tokens(tokens, p->weights, &opt, &m->vocab, &problem);
    else if (status == WTE_E_NOT_FOUND)
        status = wte_vocab_open(p->side, &opt, &m->vocab, &problem);
    if (status == WTE_E_NOT_FOUND && p->vocab[0])
        status = wte_vocab_open(p->vocab, &opt, &m->vocab, &problem);
    if (status == WTE_OK || status == WTE_E_NOT_FOUND) return WTE_OK;
    if (status == WTE_E_MEMORY) {
        if (err) *err = problem;
        return status;
    }
    memcpy(m->vocab_problem, problem.message, sizeof m->vocab_problem);
    return WTE_OK;
}

/* A metadata.tsv has a line for each row: with another count it names none, rather than others. */
static void drop_other_metadata(wte_model *m)
{
    char shown[WTE__NAME_SHOWN];
    if (!m->vocab || wte_vocab_source_of(m->vocab) != WTE_VOCAB_METADATA || !m->has_input) return;
    const uint64_t lines = wte_vocab_count(m->vocab);
    if (lines == m->input.rows) return;
    snprintf(m->vocab_problem, sizeof m->vocab_problem,
             "%s: %" PRIu64 " lines of tokens, but the table has %" PRIu64
             " rows (the first line is a title only where there are several columns)",
             wte__show_path(shown, wte_vocab_path(m->vocab)), lines, m->input.rows);
    wte_vocab_free(m->vocab);
    m->vocab = NULL;
}

/* A write of several files that a kill has interrupted is finished before they are read. A path
 * that cannot be looked at is reported by what opens it. */
static wte_status finish_writes(const char *path, wte_error *err)
{
    wte__path_kind kind;
    if (wte__path_look(path, &kind, NULL, NULL) != WTE_OK) return WTE_OK;
    return kind == WTE__PATH_DIRECTORY ? wte__replace_recover(path, err)
                                       : wte__replace_recover_beside(path, err);
}

/* What the file holds and is not read is told where the metadata are nothing else. */
static wte_status note_left_out(wte_model *m, wte_error *err)
{
    const wte_format format = wte_file_format(m->file);
    const char *value, *key = wte_file_metadata(m->file, 0, &value);
    if ((format != WTE_FORMAT_NPZ && format != WTE_FORMAT_TORCH) || !key) return WTE_OK;
    uint64_t n = 1;
    while (wte_file_metadata(m->file, n, NULL)) n++;
    char more[48] = "", shown[WTE__NAME_SHOWN];
    if (n > 1) snprintf(more, sizeof more, "; and %" PRIu64 " more", n - 1);
    m->note = wte__arena_print(&m->arena, "%s%s'%s' is %.160s%s", m->note, *m->note ? "; " : "",
                               wte__show(shown, key, strlen(key)), value, more);
    return m->note ? WTE_OK : wte__no_memory(err, sizeof shown + sizeof more, "a note");
}

/* The name of part 0 of a model, and nothing that says how many there are: ids past its rows may be
 * those of another part. */
static wte_status note_lone_part(wte_model *m, wte_error *err)
{
    const char *writer = wte__parallel_lone_part(m->file);
    if (!writer) return WTE_OK;
    m->note =
        wte__arena_print(&m->arena,
                         "%s%sthe name is that of part 0 of a model in parts (%s), and nothing "
                         "says how many there are: rows of other parts are not here",
                         m->note, *m->note ? "; " : "", writer);
    return m->note ? WTE_OK : wte__no_memory(err, 256, "a note");
}

static wte_status open_files(wte_model *m, const wte_model_options *opt, wte_error *err)
{
    wte__resolved_path p;
    wte_file_options file_opt = WTE_FILE_OPTIONS_INIT;
    WTE_TRY(wte__options(&file_opt, sizeof file_opt, opt->file, err));
    file_opt.copy = opt->copy;
    file_opt.allocator = m->allocator;
    file_opt.progress = opt->progress;
    WTE_TRY(finish_writes(m->path, err));
    WTE_TRY(wte__resolve_path(&p, m->path, m->allocator, err));
    m->note = wte__arena_text(&m->arena, p.note, strlen(p.note));
    if (!m->note) return wte__no_memory(err, sizeof p.note, "a note");
    WTE_TRY(wte_file_open(p.weights, &file_opt, &m->file, err));
    WTE_TRY(note_left_out(m, err));
    WTE_TRY(note_lone_part(m, err));
    WTE_TRY(read_config(m, &p, err));
    WTE_TRY(wte__adapter_read(m, p.weights, p.side, err));
    WTE_TRY(read_quant_config(m, &p, err));
    m->said.hidden = m->config.said.hidden_size;
    m->said.embedding = m->config.said.embedding_size;
    if (!opt->without_vocab) WTE_TRY(read_vocab(m, &p, opt->max_vocab_bytes, err));
    WTE_TRY(wte__model_find(m, opt, err));
    drop_other_metadata(m);
    if (!m->has_input) return WTE_OK;
    return wte__embed_scale_finish(&m->config, m->input.dtype, m->input.dim, &m->arena, err);
}

/* The table of the worked example: torch.manual_seed(123); torch.nn.Embedding(6, 3). */
static wte_status open_demo(wte_model *m, const wte_model_options *opt, wte_error *err)
{
    wte_table_options table_opt = WTE_TABLE_OPTIONS_INIT;
    wte_init_options init_opt = WTE_INIT_OPTIONS_INIT;
    const char *other = opt->head ? opt->head : opt->tensor;
    if (opt->head || (opt->tensor && strcmp(opt->tensor, "demo") != 0))
        return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX,
                         "demo: the only tensor is 'demo'; there is no '%.80s'", other);
    table_opt.allocator = m->allocator;
    init_opt.seed = DEMO_SEED;
    WTE_TRY(wte_table_create(DEMO_ROWS, DEMO_DIM, WTE_F32, &table_opt, &m->demo, err));
    WTE_TRY(wte_table_init(m->demo, &init_opt, err));
    wte_model_table input = { "demo",
                              "the built-in table",
                              WTE_F32,
                              DEMO_ROWS,
                              DEMO_DIM,
                              WTE_NO_INDEX,
                              WTE_NO_INDEX,
                              0,
                              0,
                              false,
                              false,
                              *wte_table_source(m->demo),
                              WTE_BLOCK_NONE,
                              NULL,
                              0,
                              0 };
    m->input = input;
    m->has_input = true;
    return WTE_OK;
}

wte_status wte_model_open(const char *path, const wte_model_options *opt, wte_model **out,
                          wte_error *err)
{
    wte_model_options o = WTE_MODEL_OPTIONS_INIT;
    WTE_TRY(wte__need(out, "wte_model_open: out", err));
    *out = NULL;
    WTE_TRY(wte__need(path, "wte_model_open: path", err));
    if (!*path)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_model_open: path is empty");
    WTE_TRY(wte__options(&o, sizeof o, opt, err));
    WTE_TRY(wte__need_functions(o.allocator, o.progress, err));
    wte_model *m = wte__alloc_zeroed(o.allocator, sizeof *m);
    if (!m) return wte__no_memory(err, sizeof *m, "a model");
    m->allocator = o.allocator;
    wte__arena_init(&m->arena, m->allocator);
    wte__config_none(&m->config);
    m->note = "";
    m->path = wte__arena_text(&m->arena, path, strlen(path));
    wte_status status;
    if (!m->path)
        status = wte__no_memory(err, strlen(path), "a path");
    else if (strcmp(path, "demo") == 0)
        status = open_demo(m, &o, err);
    else
        status = open_files(m, &o, err);
    if (status == WTE_OK) status = wte__model_output_fill(m, err);
    if (status != WTE_OK) {
        wte_model_free(m);
        return status;
    }
    *out = m;
    return WTE_OK;
}

void wte_model_free(wte_model *m)
{
    if (!m) return;
    wte__free(m->allocator, m->candidates, (size_t)m->n_candidates * sizeof *m->candidates);
    wte__free(m->allocator, m->mapping.row, (size_t)m->mapping.count * sizeof *m->mapping.row);
    wte__adapter_clear(&m->adapter, m->allocator);
    for (int i = 0; i < 2; i++)
        wte__free(m->allocator, m->draft[i], (size_t)m->output.n_map * sizeof *m->draft[i]);
    for (int i = 0; i < 2; i++) wte__quant_clear(&m->quant[i]);
    wte_table_free(m->demo);
    wte_vocab_free(m->vocab); /* its texts may lie in the file */
    wte_file_free(m->file);
    wte__arena_clear(&m->arena);
    wte__free(m->allocator, m, sizeof *m);
}

const char *wte_model_path(const wte_model *m)
{
    return m ? m->path : "";
}

const wte_file *wte_model_file(const wte_model *m)
{
    return m ? m->file : NULL;
}

const wte_vocab *wte_model_vocab(const wte_model *m)
{
    return m ? m->vocab : NULL;
}

const char *wte_model_vocab_problem(const wte_model *m)
{
    return m ? m->vocab_problem : "";
}

const char *wte_model_note(const wte_model *m)
{
    return m ? m->note : "";
}

const wte_model_config *wte_model_config_of(const wte_model *m)
{
    return m ? &m->config.said : NULL;
}

const wte_model_adapter *wte_model_adapter_of(const wte_model *m)
{
    return m && m->is_adapter ? &m->adapter.said : NULL;
}

uint64_t wte_model_n_candidates(const wte_model *m)
{
    return m ? m->n_candidates : 0;
}

const wte_candidate *wte_model_candidate(const wte_model *m, uint64_t i)
{
    return m && i < m->n_candidates ? &m->candidates[i] : NULL;
}

wte_status wte_model_input(const wte_model *m, const wte_model_table **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_model_input: out", err));
    *out = NULL;
    WTE_TRY(wte__need(m, "wte_model_input: the model", err));
    *out = m->has_input ? &m->input : NULL;
    if (m->has_input) return WTE_OK;
    if (err) *err = m->no_input;
    return (wte_status)m->no_input.status;
}

const wte_model_table *wte_model_head(const wte_model *m)
{
    return m && m->has_head ? &m->head : NULL;
}

const char *wte_model_head_problem(const wte_model *m)
{
    return !m || m->no_head.status == WTE_OK ? "" : m->no_head.message;
}

wte_status wte_model_row(const wte_model *m, uint64_t id, uint64_t *row, wte_error *err)
{
    const wte_model_table *input;
    WTE_TRY(wte__need(row, "wte_model_row: row", err));
    *row = 0;
    WTE_TRY(wte__need(m, "wte_model_row: the model", err));
    input = &m->input;
    if (!m->has_input) return wte_model_input(m, &input, err);
    if (input->rows == 0)
        return wte__fail(err, WTE_E_RANGE, id, "%s: token id %" PRIu64 ", but the table is empty",
                         m->path, id);
    if (id >= input->rows)
        return wte__fail(err, WTE_E_RANGE, id,
                         "%s: token id %" PRIu64 ", but valid ids are 0..%" PRIu64, m->path, id,
                         input->rows - 1);
    *row = input->mapped ? m->mapping.row[id] : id;
    return WTE_OK;
}
