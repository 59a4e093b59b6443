/* Where the head is narrower than the model's hidden vectors, these go through a projection first:
 * y = W x (+ b), in f32 like the logits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "head.h"
#include "open.h"

/* W of a tensor of the model. */
static int open_matrix(const cli_head *h, uint64_t tensor, wte_row_source *rows)
{
    wte_error err;
    const wte_status status = wte_file_row_source(wte_model_file(h->model), tensor, rows, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
}

/* NAME.bias of NAME.weight: its numbers as f32, from malloc; NULL when there is none. */
static int read_bias(const cli_head *h, uint64_t tensor, uint64_t n, float **out)
{
    static const char leaf[] = ".weight", bias[] = ".bias";
    const wte_file *file = wte_model_file(h->model);
    char name[512];
    wte_tensor t;
    wte_row_source rows;
    wte_error err;
    uint64_t found;
    *out = NULL;
    if (wte_file_tensor(file, tensor, &t, &err) != WTE_OK) return CLI_DONE;
    const size_t stem = (size_t)t.name_bytes - (sizeof leaf - 1);
    if (t.name_bytes < sizeof leaf || stem + sizeof bias > sizeof name) return CLI_DONE;
    memcpy(name, t.name, stem);
    memcpy(name + stem, bias, sizeof bias);
    if (wte_file_find(file, name, stem + sizeof bias - 1, &found, &err) != WTE_OK) return CLI_DONE;
    wte_status status = wte_file_row_source(file, found, &rows, &err);
    if (status == WTE_OK && rows.rows * rows.cols != n)
        return cli_say_fail(h->c, CLI_INPUT,
                            "%s: '%s' has %" PRIu64 " numbers, but its matrix %" PRIu64 " rows",
                            wte_model_path(h->model), name, rows.rows * rows.cols, n);
    void *stored = malloc((size_t)n * 8 + 1);
    *out = calloc((size_t)n + 1, sizeof **out);
    if (status == WTE_OK && stored && *out)
        status = wte_row_source_read_block(&rows, 0, (size_t)rows.rows, stored, &err);
    if (status == WTE_OK && stored && *out)
        status = wte_convert(rows.dtype, stored, WTE_F32, *out, (size_t)n, NULL, &err);
    const bool room = stored && *out;
    free(stored);
    if (!room) return cli_say_fail(h->c, CLI_OUTPUT, "out of memory for a bias");
    return status == WTE_OK ? CLI_DONE : cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
}

/* h->hidden becomes W times it. */
static int project(cli_head *h, uint64_t tensor)
{
    wte_row_source rows;
    wte_error err;
    float *bias = NULL, *made = NULL;
    int code = open_matrix(h, tensor, &rows);
    if (!code) code = read_bias(h, tensor, rows.rows, &bias);
    if (!code && !(made = calloc((size_t)(h->hidden.n * rows.rows) + 1, sizeof *made)))
        code = cli_say_fail(h->c, CLI_OUTPUT, "out of memory for %" PRIu64 " vectors", h->hidden.n);
    if (!code) {
        wte_head_options o = WTE_HEAD_OPTIONS_INIT;
        o.bias = bias;
        o.bias_dtype = bias ? WTE_F32 : WTE_DTYPE_NONE;
        o.pool = h->options.pool;
        const wte_status status = wte_head_logits(&rows, &h->hidden, &o, made, 0, &err);
        if (status != WTE_OK) code = cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
    }
    free(bias);
    if (code) {
        free(made);
        return code;
    }
    free(h->widened);
    h->widened = made;
    h->hidden = (wte_hidden){ made, WTE_F32, 0, h->hidden.n, rows.rows, 0 };
    return CLI_DONE;
}

/* Columns of the projection before the head; 0: the model has none, or it is not asked for. */
static uint64_t width_before(const cli_head *h)
{
    const wte_model_output *o = wte_model_output_of(h->model);
    wte_tensor t;
    wte_error err;
    if (!h->as_model || o->project_out == WTE_NO_INDEX) return 0;
    return wte_file_tensor(wte_model_file(h->model), o->project_out, &t, &err) == WTE_OK
               ? t.shape[1]
               : 0;
}

int cli_head_project(cli_head *h)
{
    const wte_model_output *o = wte_model_output_of(h->model);
    const uint64_t width = width_before(h), dim = h->table->dim;
    const char *from = h->got.from ? h->got.from : "the input table";
    const int bad = !h->got.from ? CLI_CANNOT : h->got.typed ? CLI_USAGE : CLI_INPUT;
    if (width && h->hidden.dim == width) {
        h->projected = width;
        return project(h, o->project_out);
    }
    if (h->hidden.dim == dim) return CLI_DONE;
    if (width)
        return cli_say_fail(h->c, bad,
                            "%s: %" PRIu64
                            " numbers in a vector, but a row of the head %s has %" PRIu64
                            ", and what goes through %s before it has %" PRIu64,
                            from, h->hidden.dim, h->table->name, dim, o->project_out_name, width);
    const bool model = wte_model_config_of(h->model)->hidden_size == h->hidden.dim;
    const char *why = !model ? ""
                      : !h->as_model && *o->project_out_name
                          ? ": --raw leaves out the projection before it"
                          : ": what narrows hidden vectors before this head is not done here";
    return cli_say_fail(h->c, bad,
                        "%s: %" PRIu64 " numbers in a vector, but a row of the head %s has %" PRIu64
                        "%s",
                        from, h->hidden.dim, h->table->name, dim, why);
}

int cli_head_widen(cli_head *h)
{
    const wte_model_output *o = wte_model_output_of(h->model);
    wte_tensor t;
    wte_error err;
    const uint64_t width = width_before(h);
    if (!width || o->project_in == WTE_NO_INDEX) return CLI_DONE;
    const wte_file *file = wte_model_file(h->model);
    const bool fits = wte_file_tensor(file, o->project_in, &t, &err) == WTE_OK &&
                      t.shape[1] == h->hidden.dim && t.shape[0] == width;
    return fits ? project(h, o->project_in) : CLI_DONE;
}

int cli_head_project_back(const cli_head *h, const float *d, float *out)
{
    wte_row_source rows;
    wte_error err;
    const uint64_t n = h->hidden.n, from = h->projected;
    int code = open_matrix(h, wte_model_output_of(h->model)->project_out, &rows);
    if (code) return code;
    void *stored = malloc((size_t)from * 8 + 1);
    float *row = calloc((size_t)from + 1, sizeof *row);
    if (!stored || !row) code = cli_say_fail(h->c, CLI_OUTPUT, "out of memory for a gradient");
    for (uint64_t r = 0; r < rows.rows && !code && row; r++) {
        wte_status status = wte_row_source_read_block(&rows, r, 1, stored, &err);
        if (status == WTE_OK)
            status = wte_convert(rows.dtype, stored, WTE_F32, row, (size_t)from, NULL, &err);
        if (status != WTE_OK) code = cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
        for (uint64_t i = 0; i < n && !code; i++)
            for (uint64_t c = 0; c < from; c++) out[i * from + c] += d[i * rows.rows + r] * row[c];
    }
    free(stored);
    free(row);
    return code;
}
