/* A model's head, resolved once: what cli and programs need between a hidden state and the tokens
 * of largest logit. */
#include <inttypes.h>
#include <string.h>
#include <wte/model.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "core/core.h"

struct wte_head {
    const wte_model *m;
    const wte_model_table *table;
    const wte_model_output *output;
    wte_head_options options;
    float *bias;            /* or NULL */
    uint8_t *valid;         /* a bit for each row, or NULL */
    wte_row_source project; /* hidden state -> table->dim; rows 0 = none */
    float *project_bias;    /* or NULL */
    char reason[240];
    wte_head_info info;
};

static size_t valid_bytes(const wte_head *h)
{
    return (size_t)(h->table->rows / 8) + 1;
}

/* The elements of a tensor as n f32, from wte__alloc_array. */
static wte_status read_vector(const wte_model *m, uint64_t tensor, uint64_t n, const char *what,
                              float **out)
{
    wte_error *err = wte__core_error();
    wte_row_source rows;
    const wte_file *file = wte_model_file(m);
    WTE_TRY(wte_file_row_source(file, tensor, &rows, err));
    if (rows.cols && rows.rows != n / rows.cols)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s: the %s has %" PRIu64 " x %" PRIu64 " elements, not %" PRIu64,
                         wte_model_path(m), what, rows.rows, rows.cols, n);
    const uint32_t size = wte_dtype_bytes(rows.dtype);
    void *stored = wte__alloc_array(NULL, n + 1, size ? size : 1);
    *out = wte__alloc_array(NULL, n + 1, sizeof **out);
    wte_status status = WTE_OK;
    if (!stored || !*out) status = wte__no_memory(err, n * sizeof **out, what);
    if (status == WTE_OK)
        status = wte_row_source_read_block(&rows, 0, (size_t)rows.rows, stored, err);
    if (status == WTE_OK)
        status = wte_convert(rows.dtype, stored, WTE_F32, *out, (size_t)n, NULL, err);
    wte__free(NULL, stored, (size_t)(n + 1) * (size ? size : 1));
    return status;
}

static wte_status find_table(wte_head *h)
{
    wte_error *err = wte__core_error();
    const wte_model_table *input = NULL;
    wte_tie tie;
    h->table = wte_model_head(h->m);
    const bool has_input = wte_model_input(h->m, &input, NULL) == WTE_OK;
    if (h->table) {
        h->info.tied = has_input && input->tensor == h->table->tensor;
        h->info.reason = h->table->why;
        return WTE_OK;
    }
    WTE_TRY(wte_model_tie(h->m, NULL, &tie, err));
    if (tie.verdict != WTE_TIE_SAME_STORAGE)
        return wte__fail(err, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s: no output head: %s",
                         wte_model_path(h->m), tie.why);
    h->table = input;
    h->info.tied = true;
    memcpy(h->reason, tie.why, sizeof h->reason);
    h->info.reason = h->reason;
    return WTE_OK;
}

/* Models whose logits need what is not known here are refused: a product alone would look right. */
static wte_status check_known(const wte_head *h)
{
    const wte_model_output *o = h->output;
    const char *problem = wte_model_vocab_problem(h->m);
    const char *why = *o->unknown        ? o->unknown
                      : *o->bias_problem ? o->bias_problem
                      : *o->map_problem  ? o->map_problem
                      : *problem         ? problem
                      : h->table->mapped ? "rows of the head are shared by tokens"
                                         : NULL;
    if (!why) return WTE_OK;
    return wte__fail(wte__core_error(), WTE_E_UNSUPPORTED, WTE_NO_INDEX, "%s: %s",
                     wte_model_path(h->m), why);
}

/* Rows without a token: from n_valid on, and holes of the vocabulary as a bitmap. */
static wte_status mask_rows(wte_head *h)
{
    const wte_vocab *vocab = wte_model_vocab(h->m);
    const uint64_t rows = h->table->rows, end = h->output->n_valid ? h->output->n_valid : rows;
    h->options.n_valid = h->output->map ? 0 : h->output->n_valid;
    h->info.n_valid = h->output->map ? rows : end;
    if (!vocab || (!h->output->map && wte_vocab_n_holes(vocab) == 0)) return WTE_OK;
    h->valid = wte__alloc_zeroed(NULL, valid_bytes(h));
    if (!h->valid) return wte__no_memory(wte__core_error(), valid_bytes(h), "a mask of rows");
    h->info.n_valid = 0;
    for (uint64_t r = 0; r < (h->output->map ? rows : end); r++) {
        const uint64_t id = h->output->map ? (uint64_t)h->output->map[r] : r;
        if (id >= wte_vocab_size(vocab) || wte_vocab_kind(vocab, id) == WTE_TOKEN_NONE) continue;
        h->valid[r / 8] |= (uint8_t)(1u << r % 8);
        h->info.n_valid++;
    }
    h->options.valid = h->valid;
    return WTE_OK;
}

/* Index of NAME.bias for a tensor NAME.weight; false when it does not exist. */
static bool bias_beside(const wte_file *file, uint64_t tensor, uint64_t *found)
{
    static const char leaf[] = ".weight", bias[] = ".bias";
    char name[512];
    wte_tensor t;
    if (wte_file_tensor(file, tensor, &t, NULL) != WTE_OK) return false;
    const size_t n = (size_t)t.name_bytes, stem = n - (sizeof leaf - 1);
    if (n < sizeof leaf || stem + sizeof bias > sizeof name) return false;
    memcpy(name, t.name, stem);
    memcpy(name + stem, bias, sizeof bias);
    return wte_file_find(file, name, stem + sizeof bias - 1, found, NULL) == WTE_OK;
}

static wte_status add_projection(wte_head *h)
{
    wte_error *err = wte__core_error();
    const wte_file *file = wte_model_file(h->m);
    const uint64_t tensor = h->output->project_out;
    uint64_t bias;
    h->info.hidden_dim = h->table->dim;
    if (tensor == WTE_NO_INDEX) return WTE_OK;
    WTE_TRY(wte_file_row_source(file, tensor, &h->project, err));
    if (h->project.rows != h->table->dim)
        return wte__fail(err, WTE_E_SHAPE, WTE_NO_INDEX,
                         "%s: %s has %" PRIu64 " rows, but a row of the head %" PRIu64 " elements",
                         wte_model_path(h->m), h->output->project_out_name, h->project.rows,
                         h->table->dim);
    h->info.hidden_dim = h->project.cols;
    if (!bias_beside(file, tensor, &bias)) return WTE_OK;
    return read_vector(h->m, bias, h->project.rows, "bias of the projection", &h->project_bias);
}

static wte_status resolve(wte_head *h)
{
    WTE_TRY(find_table(h));
    WTE_TRY(check_known(h));
    if (h->output->bias != WTE_NO_INDEX)
        WTE_TRY(read_vector(h->m, h->output->bias, h->table->rows, "bias of the head", &h->bias));
    h->options.bias = h->bias;
    h->options.bias_dtype = h->bias ? WTE_F32 : WTE_DTYPE_NONE;
    h->options.chain = h->output->chain;
    WTE_TRY(add_projection(h));
    WTE_TRY(mask_rows(h));
    h->info.name = h->table->name;
    h->info.n_rows = h->table->rows;
    h->info.has_bias = h->bias != NULL;
    h->info.transform = h->output->chain;
    return WTE_OK;
}

wte_head *wte_head_open(const wte_model *m)
{
    wte_error *err = wte__core_error();
    const wte_head_options defaults = WTE_HEAD_OPTIONS_INIT;
    if (wte__need(m, "wte_head_open: m", err) != WTE_OK) return NULL;
    wte_head *h = wte__alloc_zeroed(NULL, sizeof *h);
    if (!h) {
        (void)wte__no_memory(err, sizeof *h, "a head");
        return NULL;
    }
    h->m = m;
    h->output = wte_model_output_of(m);
    h->options = defaults;
    if (resolve(h) == WTE_OK) return h;
    wte_head_close(h);
    return NULL;
}

void wte_head_close(wte_head *h)
{
    if (!h) return;
    if (h->bias) wte__free(NULL, h->bias, (size_t)(h->table->rows + 1) * sizeof *h->bias);
    if (h->project_bias)
        wte__free(NULL, h->project_bias, (size_t)(h->project.rows + 1) * sizeof *h->project_bias);
    if (h->valid) wte__free(NULL, h->valid, valid_bytes(h));
    wte__free(NULL, h, sizeof *h);
}

const wte_head_info *wte_head_info_of(const wte_head *h)
{
    return h ? &h->info : NULL;
}

/* *hidden becomes W hidden + b, in memory that the caller frees: n x table->dim. */
static wte_status project(const wte_head *h, wte_hidden *hidden, float **made, uint64_t *bytes)
{
    wte_error *err = wte__core_error();
    wte_head_options options = WTE_HEAD_OPTIONS_INIT;
    uint64_t n;
    if (!wte__mul_u64(hidden->n, h->table->dim * sizeof **made, &n) || n > SIZE_MAX - 1)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%" PRIu64 " hidden states do not fit in memory", hidden->n);
    *made = wte__alloc(NULL, (size_t)n + 1);
    if (!*made) return wte__no_memory(err, n, "projected hidden states");
    *bytes = n + 1;
    options.bias = h->project_bias;
    options.bias_dtype = h->project_bias ? WTE_F32 : WTE_DTYPE_NONE;
    WTE_TRY(wte_head_logits(&h->project, hidden, &options, *made, 0, err));
    *hidden = (wte_hidden){ *made, WTE_F32, 0, hidden->n, h->table->dim, 0 };
    return WTE_OK;
}

wte_status wte_topk(const wte_head *h, const float *hidden, size_t n, uint32_t k, wte_ranked *out)
{
    wte_error *err = wte__core_error();
    float *made = NULL;
    uint64_t bytes = 0;
    WTE_TRY(wte__need(h, "wte_topk: h", err));
    wte_hidden states = { hidden, WTE_F32, 0, n, h->info.hidden_dim, 0 };
    wte_status status = WTE_OK;
    if (h->project.rows && n && hidden) status = project(h, &states, &made, &bytes);
    if (status == WTE_OK)
        status = wte_head_topk(&h->table->source, &states, &h->options, k, out, NULL, err);
    if (made) wte__free(NULL, made, (size_t)bytes);
    if (status != WTE_OK || !h->output->map) return status;
    for (uint64_t i = 0; i < (uint64_t)n * k; i++)
        if (out[i].id != WTE_NO_INDEX) out[i].id = (uint64_t)h->output->map[out[i].id];
    return WTE_OK;
}
