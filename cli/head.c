/* Which table is the head of a model, and what is done around the product with it. What is made of
 * the logits is the commands' own. */
#include "head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "open.h"
#include "out.h"

static int no_memory(const cli_head *h)
{
    return cli_say_fail(h->c, CLI_OUTPUT, "out of memory");
}

/* The role --------------------------------------------------------------------------------------
 */

/* No head is stored: whether the input table is one is for the rules of `wte tied` to say. */
static int ask_input_table(cli_head *h)
{
    const cli *c = h->c;
    wte_tie tie;
    wte_error err;
    const int code = cli_input_table(c, h->model, &h->table);
    if (code) return code;
    const wte_status status = wte_model_tie(h->model, NULL, &tie, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    memcpy(h->why, tie.why, sizeof h->why);
    h->kind = tie.verdict == WTE_TIE_SAME_STORAGE ? CLI_HEAD_TIED : CLI_HEAD_NONE;
    if (tie.verdict != WTE_TIE_BROKEN && tie.verdict != WTE_TIE_IMPOSSIBLE) return CLI_DONE;
    if (cli_given(c, "raw")) return CLI_DONE;
    return cli_say_fail(c, CLI_INPUT,
                        "%s: %s; --head NAME names the head, --raw multiplies with the input table",
                        wte_model_path(h->model), tie.why);
}

static int find_table(cli_head *h)
{
    const wte_model_table *input = NULL;
    h->table = wte_model_head(h->model);
    if (!h->table) return ask_input_table(h);
    if (wte_model_input(h->model, &input, NULL) == WTE_OK && input->tensor == h->table->tensor) {
        h->kind = CLI_HEAD_TIED;
        snprintf(h->why, sizeof h->why, "one tensor serves both roles");
    }
    return CLI_DONE;
}

/* The chain -------------------------------------------------------------------------------------
 */

static int read_bias(cli_head *h, uint64_t tensor)
{
    wte_rows rows;
    wte_error err;
    const wte_file *file = wte_model_file(h->model);
    wte_status status = wte_file_rows(file, tensor, &rows, &err);
    if (status != WTE_OK) return cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
    const size_t n = (size_t)(rows.rows * rows.cols);
    void *stored = malloc(n * wte_dtype_bytes(rows.dtype) + 1);
    h->bias = calloc(n + 1, sizeof *h->bias);
    if (!stored || !h->bias) {
        free(stored);
        return no_memory(h);
    }
    status = wte_rows_read_block(&rows, 0, (size_t)rows.rows, stored, &err);
    if (status == WTE_OK) status = wte_convert(rows.dtype, stored, WTE_F32, h->bias, n, NULL, &err);
    free(stored);
    if (status != WTE_OK) return cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
    h->options.bias = h->bias;
    h->options.bias_dtype = WTE_F32;
    return CLI_DONE;
}

static int settle_chain(cli_head *h)
{
    const cli *c = h->c;
    const wte_model_output *output = wte_model_output_of(h->model);
    h->as_model = !cli_given(c, "raw") && h->kind != CLI_HEAD_NONE;
    if (cli_given(c, "as-model") && h->kind == CLI_HEAD_NONE)
        return cli_say_fail(c, CLI_CANNOT,
                            "%s: --as-model: %s; --raw multiplies with the input table",
                            wte_model_path(h->model), h->why);
    if (!h->as_model) return CLI_DONE;
    if (*output->unknown)
        return cli_say_fail(c, CLI_CANNOT,
                            "%s: %s, which is not done here; --raw gives the plain product",
                            wte_model_path(h->model), output->unknown);
    h->options.chain = output->chain;
    return output->bias == WTE_NOWHERE ? CLI_DONE : read_bias(h, output->bias);
}

/* Rows without a token: all from n_valid on, and holes before it as a bitmap. */
static int settle_mask(cli_head *h)
{
    const wte_vocab *vocab = wte_model_vocab(h->model);
    const uint64_t rows = h->table->rows, n_valid = wte_model_output_of(h->model)->n_valid;
    const uint64_t known = n_valid ? n_valid : rows;
    uint64_t holes = 0;
    const char *problem = wte_model_vocab_problem(h->model);
    if (*problem && !cli_given(h->c, "with-padding"))
        return cli_say_fail(h->c, CLI_INPUT,
                            "%s; rows without a token cannot be told from the others "
                            "(--with-padding keeps all)",
                            problem);
    if (!vocab) return CLI_DONE;
    for (uint64_t id = 0; id < known && wte_vocab_holes(vocab); id++)
        holes += wte_vocab_kind(vocab, id) == WTE_TOKEN_NONE;
    h->padded = rows - known + holes;
    h->masked = h->padded && !cli_given(h->c, "with-padding");
    if (!h->masked) return CLI_DONE;
    h->options.n_valid = n_valid;
    if (!holes) return CLI_DONE;
    h->valid = calloc((size_t)(rows / 8) + 1, 1);
    if (!h->valid) return no_memory(h);
    for (uint64_t id = 0; id < known; id++)
        if (wte_vocab_kind(vocab, id) != WTE_TOKEN_NONE)
            h->valid[id / 8] |= (uint8_t)(1u << id % 8);
    h->options.valid = h->valid;
    return CLI_DONE;
}

bool cli_head_masks(const cli_head *h, uint64_t row)
{
    const wte_head_options *o = &h->options;
    return (o->n_valid && row >= o->n_valid) || (o->valid && !(o->valid[row / 8] >> row % 8 & 1));
}

int cli_head_open(cli *c, cli_head *h)
{
    *h = (cli_head){ .c = c, .options = WTE_HEAD_OPTIONS_INIT };
    if (cli_given(c, "raw") && cli_given(c, "as-model"))
        return cli_usage(c, "--raw and --as-model exclude each other");
    /* without --with-padding a broken one is an error below */
    int code = cli_open_model(
        c, c->words[0], cli_given(c, "with-padding") ? CLI_VOCAB_ALL : CLI_VOCAB_NEEDED, &h->model);
    if (!code) code = find_table(h);
    if (!code && h->table->mapped)
        code = cli_say_fail(c, CLI_CANNOT,
                            "%s: rows of %s are shared by tokens, so its products are no logits "
                            "of tokens",
                            wte_model_path(h->model), h->table->name);
    if (!code) code = settle_chain(h);
    if (!code) code = settle_mask(h);
    if (!code) code = cli_pool(c, &h->options.pool);
    if (!code) h->options.progress = cli_progress_start(&h->bar, c, "multiplying");
    return code;
}

void cli_head_close(cli_head *h)
{
    if (h->options.progress) cli_progress_stop(&h->bar);
    cli_got_clear(&h->got);
    free(h->widened);
    free(h->bias);
    free(h->valid);
}

/* Hidden vectors --------------------------------------------------------------------------------
 */

int cli_head_take(cli_head *h, float *vectors, uint64_t n, uint64_t dim)
{
    h->widened = vectors;
    h->hidden = (wte_hidden){ vectors, WTE_F32, 0, n, dim, 0 };
    if (dim == h->table->dim) return CLI_DONE;
    return cli_say_fail(h->c, CLI_CANNOT,
                        "the input table: %" PRIu64
                        " numbers in a vector, but a row of the head %s has %" PRIu64,
                        dim, h->table->name, h->table->dim);
}

int cli_head_hidden(cli_head *h)
{
    char head[256];
    int code = cli_got_read(h->c, "hidden", &h->got);
    if (code) return code;
    const wte_got *got = &h->got.got;
    const bool taken = got->dtype == WTE_F32 || got->dtype == WTE_F16 || got->dtype == WTE_BF16;
    h->hidden = (wte_hidden){ got->data, got->dtype, 0, got->n, got->cols, 0 };
    snprintf(head, sizeof head, "the head %s", h->table->name);
    code = cli_got_width(h->c, &h->got, head, h->table->dim);
    if (code || taken) return code;
    code = cli_got_f32(h->c, &h->got, &h->widened);
    h->hidden.data = h->widened;
    h->hidden.dtype = WTE_F32;
    return code;
}

wte_hidden cli_head_part(const cli_head *h, uint64_t first, uint64_t n)
{
    wte_hidden part = h->hidden;
    const size_t row = (size_t)part.dim * wte_dtype_bytes(part.dtype);
    part.data = (const char *)part.data + first * row;
    part.n = n;
    return part;
}

/* What is said about it -------------------------------------------------------------------------
 */

static const char *precision(const cli_head *h)
{
    return h->options.precision == WTE_PRECISION_FAST ? "fast" : "exact";
}

void cli_head_print(const cli_head *h, FILE *out)
{
    const wte_model_table *t = h->table;
    const wte_model_output *output = wte_model_output_of(h->model);
    const char *path = wte_model_path(h->model);
    cli_put_safe(out, path, strlen(path));
    if (strcmp(path, t->name) != 0) {
        fputs(": ", out);
        cli_put_safe(out, t->name, strlen(t->name));
    }
    fprintf(out, ", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim,
            wte_type_name(t->dtype, t->block));
    if (h->kind == CLI_HEAD_STORED)
        fprintf(out, "  head      stored: %s\n", t->why);
    else
        fprintf(out, "  head      the input table%s: %s\n",
                h->kind == CLI_HEAD_TIED ? "" : " stands in", h->why);
    fputs("  logits    hidden x head^T", out);
    if (h->options.bias) {
        fputs(" + ", out);
        cli_put_safe(out, output->bias_name, strlen(output->bias_name));
    }
    if (!h->as_model) fputs(", the product alone", out);
    fprintf(out, ", %s sums\n", precision(h));
    if (h->as_model) fprintf(out, "  as model  %s\n", *output->why ? output->why : "nothing more");
    if (h->padded)
        fprintf(out, "  %s  %" PRIu64 " row%s without a token, of %" PRIu64 "\n",
                h->masked ? "left out" : "kept    ", h->padded, h->padded == 1 ? "" : "s", t->rows);
}

void cli_json_token(cli_json *json, const wte_model *m, int64_t id)
{
    size_t bytes;
    const char *text = cli_token_text(m, id, &bytes);
    if (text)
        cli_json_bytes(json, "token", text, bytes);
    else
        cli_json_null(json, "token");
}

void cli_head_json(const cli_head *h, cli_json *json)
{
    static const char *const kinds[] = { "stored", "tied", "none" };
    const wte_model_output *output = wte_model_output_of(h->model);
    const wte_chain *chain = &h->options.chain;
    const char *path = wte_model_path(h->model);
    cli_json_bytes(json, "model", path, strlen(path));
    cli_json_bytes(json, "tensor", h->table->name, strlen(h->table->name));
    cli_json_text(json, "stored_dtype", wte_type_name(h->table->dtype, h->table->block));
    cli_json_unsigned(json, "rows", h->table->rows);
    cli_json_unsigned(json, "dim", h->table->dim);
    cli_json_text(json, "head", kinds[h->kind]);
    cli_json_text(json, "head_why", h->kind == CLI_HEAD_STORED ? h->table->why : h->why);
    cli_json_text(json, "precision", precision(h));
    cli_json_bool(json, "as_model", h->as_model);
    cli_json_text(json, "chain_why", h->as_model ? output->why : "");
    cli_json_short(json, "chain"); /* 0 = not done */
    cli_json_f32(json, "hidden_times", chain->hidden_times);
    cli_json_f32(json, "hidden_over", chain->hidden_over);
    cli_json_f32(json, "times", chain->times);
    cli_json_f32(json, "over", chain->over);
    cli_json_f32(json, "cap", chain->cap);
    cli_json_close(json);
    if (h->options.bias)
        cli_json_bytes(json, "bias", output->bias_name, strlen(output->bias_name));
    else
        cli_json_null(json, "bias");
    cli_json_unsigned(json, "padded_rows", h->padded);
    cli_json_bool(json, "padding_masked", h->masked);
    cli_json_unsigned(json, "vectors", h->hidden.n);
}
