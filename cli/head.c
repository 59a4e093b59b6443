/* Which table is the head of a model, and what is done around the product with it. What is made of
 * the logits is the commands' own. */
#include "head.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* n numbers of a type as the bias; the name lives as long as the model or the command line. */
static int take_bias(cli_head *h, const char *from, const char *name, wte_dtype type,
                     const void *stored, uint64_t n)
{
    wte_error err;
    if (n != h->table->rows)
        return cli_say_fail(h->c, CLI_CANNOT,
                            "%s: %s: a bias of %" PRIu64 " numbers, but the head %s has %" PRIu64
                            " rows",
                            from, name, n, h->table->name, h->table->rows);
    h->bias = calloc((size_t)n + 1, sizeof *h->bias);
    if (!h->bias) return no_memory(h);
    const wte_status status = wte_convert(type, stored, WTE_F32, h->bias, (size_t)n, NULL, &err);
    if (status != WTE_OK) return cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
    h->bias_name = name;
    h->options.bias = h->bias;
    h->options.bias_dtype = WTE_F32;
    return CLI_DONE;
}

static int bias_of_tensor(cli_head *h, uint64_t tensor)
{
    wte_row_source rows;
    wte_tensor t;
    wte_error err;
    const wte_file *file = wte_model_file(h->model);
    wte_status status = wte_file_tensor(file, tensor, &t, &err);
    if (status == WTE_OK) status = wte_file_row_source(file, tensor, &rows, &err);
    if (status != WTE_OK) return cli_fail(h->c, status, CLI_SIDE_INPUT, &err);
    const size_t n = (size_t)(rows.rows * rows.cols);
    void *stored = malloc(n * wte_dtype_bytes(rows.dtype) + 1);
    if (!stored) return no_memory(h);
    status = wte_row_source_read_block(&rows, 0, (size_t)rows.rows, stored, &err);
    const int code = status != WTE_OK
                         ? cli_fail(h->c, status, CLI_SIDE_INPUT, &err)
                         : take_bias(h, wte_model_path(h->model), t.name, rows.dtype, stored, n);
    free(stored);
    return code;
}

/* --bias: a tensor of the model, else numbers or a file of them. */
static int given_bias(cli_head *h)
{
    cli *c = h->c;
    const char *text = cli_text(c, "bias");
    uint64_t tensor;
    wte_error err;
    if (strcmp(text, "none") == 0) return CLI_DONE;
    if (wte_model_find_tensor(h->model, text, &tensor, &err) == WTE_OK)
        return bias_of_tensor(h, tensor);
    cli_observed got;
    const bool named = text[strcspn(text, "0123456789")] == '\0' || isalpha((unsigned char)*text);
    if (named && access(text, F_OK) != 0)
        return cli_say_fail(c, CLI_USAGE, "--bias '%s': no file, and no tensor: %s", text,
                            err.message);
    int code = cli_observed_read(c, "bias", &got);
    if (!code)
        code = take_bias(h, "--bias", got.typed ? "typed numbers" : text, got.got.dtype,
                         got.got.data, got.got.n * got.got.cols);
    cli_observed_clear(&got);
    return code;
}

/* The bias that the model has. One that cannot be told is never left out without a word. */
static int settle_bias(cli_head *h)
{
    const wte_model_output *output = wte_model_output_of(h->model);
    if (cli_given(h->c, "bias")) return given_bias(h);
    if (!h->as_model) return CLI_DONE;
    if (*output->bias_problem)
        return cli_say_fail(h->c, CLI_CANNOT,
                            "%s: %s; --bias TENSOR or --bias FILE says which to add, --bias none "
                            "adds none",
                            wte_model_path(h->model), output->bias_problem);
    return output->bias == WTE_NO_INDEX ? CLI_DONE : bias_of_tensor(h, output->bias);
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
    return CLI_DONE;
}

static int make_valid(cli_head *h)
{
    h->valid = calloc((size_t)(h->table->rows / 8) + 1, 1);
    return h->valid ? CLI_DONE : no_memory(h);
}

/* Of a draft head: rows whose token the vocabulary does not have. */
static int settle_mapped(cli_head *h)
{
    const wte_vocab *vocab = wte_model_vocab(h->model);
    const uint64_t rows = h->table->rows;
    const int code = make_valid(h);
    if (code) return code;
    for (uint64_t r = 0; r < rows; r++) {
        const uint64_t id = (uint64_t)h->map[r];
        const bool there =
            id < wte_vocab_size(vocab) && wte_vocab_kind(vocab, id) != WTE_TOKEN_NONE;
        if (there) h->valid[r / 8] |= (uint8_t)(1u << r % 8);
        h->padded += !there;
    }
    h->masked = h->padded && !cli_given(h->c, "with-padding");
    if (h->masked) h->options.valid = h->valid;
    return CLI_DONE;
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
    if (!vocab || h->nameless) return CLI_DONE;
    if (h->map) return settle_mapped(h);
    for (uint64_t id = 0; id < known && wte_vocab_n_holes(vocab); id++)
        holes += wte_vocab_kind(vocab, id) == WTE_TOKEN_NONE;
    h->padded = rows - known + holes;
    h->masked = h->padded && !cli_given(h->c, "with-padding");
    if (!h->masked) return CLI_DONE;
    h->options.n_valid = n_valid;
    if (!holes) return CLI_DONE;
    const int code = make_valid(h);
    if (code) return code;
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
    if (cli_given(c, "raw") && cli_given(c, "bias"))
        return cli_usage(c, "--raw and --bias exclude each other: --raw is the product alone");
    /* without --with-padding a broken one is an error below */
    int code = cli_open_model(
        c, c->words[0], cli_given(c, "with-padding") ? CLI_VOCAB_ALL : CLI_VOCAB_NEEDED, &h->model);
    if (!code) code = find_table(h);
    if (!code && h->table->mapped)
        code = cli_say_fail(c, CLI_CANNOT,
                            "%s: rows of %s are shared by tokens, so its products are no logits "
                            "of tokens",
                            wte_model_path(h->model), h->table->name);
    if (!code) code = cli_head_map(h);
    if (!code) code = settle_chain(h);
    if (!code) code = settle_bias(h);
    if (!code) code = settle_mask(h);
    if (!code) code = cli_pool(c, &h->options.pool);
    if (!code) h->options.progress = cli_progress_start(&h->bar, c, "multiplying");
    return code;
}

void cli_head_close(cli_head *h)
{
    if (h->options.progress) cli_progress_stop(&h->bar);
    cli_observed_clear(&h->got);
    free(h->widened);
    free(h->bias);
    free(h->valid);
    free(h->map_read);
    free(h->map_found);
}

/* Hidden vectors --------------------------------------------------------------------------------
 */

int cli_head_take(cli_head *h, float *vectors, uint64_t n, uint64_t dim)
{
    h->widened = vectors;
    h->hidden = (wte_hidden){ vectors, WTE_F32, 0, n, dim, 0 };
    const int code = cli_head_widen(h);
    return code ? code : cli_head_project(h);
}

int cli_head_hidden(cli_head *h)
{
    int code = cli_observed_read(h->c, "hidden", &h->got);
    if (code) return code;
    const wte_observed *got = &h->got.got;
    const bool taken = got->dtype == WTE_F32 || got->dtype == WTE_F16 || got->dtype == WTE_BF16;
    h->hidden = (wte_hidden){ got->data, got->dtype, 0, got->n, got->cols, 0 };
    if (!taken) {
        code = cli_observed_f32(h->c, &h->got, &h->widened);
        h->hidden.data = h->widened;
        h->hidden.dtype = WTE_F32;
    }
    return code ? code : cli_head_project(h);
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
        cli_put_safe(out, h->bias_name, strlen(h->bias_name));
    }
    if (!h->as_model) fputs(", the product alone", out);
    fprintf(out, ", %s sums\n", precision(h));
    if (h->projected) {
        fputs("  hidden    through ", out);
        cli_put_safe(out, output->project_out_name, strlen(output->project_out_name));
        fprintf(out, ", %" PRIu64 " to %" PRIu64 " numbers\n", h->projected, t->dim);
    } else if (h->as_model && *output->project_out_name) {
        fputs("  hidden    as wide as the head: taken as what comes out of ", out);
        cli_put_safe(out, output->project_out_name, strlen(output->project_out_name));
        putc('\n', out);
    }
    if (h->map_why) {
        fputs("  tokens    ", out);
        cli_put_safe(out, h->map_why, strlen(h->map_why));
        putc('\n', out);
    }
    if (h->as_model) fprintf(out, "  transform %s\n", *output->why ? output->why : "nothing more");
    if (h->padded)
        fprintf(out, "  %s  %" PRIu64 " row%s without a token, of %" PRIu64 "\n",
                h->masked ? "left out" : "kept    ", h->padded, h->padded == 1 ? "" : "s", t->rows);
}

static const char *text_of(const cli_head *h, int64_t token, size_t *bytes)
{
    return h->nameless ? NULL : cli_vocab_text(h->model, token, bytes);
}

void cli_json_token(cli_json *json, const cli_head *h, int64_t token)
{
    size_t bytes;
    const char *text = text_of(h, token, &bytes);
    if (text)
        cli_json_bytes(json, "token", text, bytes);
    else
        cli_json_null(json, "token");
}

void cli_head_put_token(const cli_head *h, int64_t token, FILE *out)
{
    size_t bytes;
    const char *text = text_of(h, token, &bytes);
    if (text) cli_put_quoted(out, text, bytes);
}

void cli_head_json(const cli_head *h, cli_json *json)
{
    static const char *const kinds[] = { "stored", "tied", "none" };
    const wte_model_output *output = wte_model_output_of(h->model);
    const wte_logit_transform *chain = &h->options.chain;
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
    cli_json_f32(json, "hidden_times", chain->hidden_scale);
    cli_json_f32(json, "hidden_over", chain->hidden_divisor);
    cli_json_f32(json, "times", chain->scale);
    cli_json_f32(json, "over", chain->divisor);
    cli_json_f32(json, "cap", chain->softcap);
    cli_json_close(json);
    if (h->options.bias)
        cli_json_bytes(json, "bias", h->bias_name, strlen(h->bias_name));
    else
        cli_json_null(json, "bias");
    if (h->projected)
        cli_json_bytes(json, "project_out", output->project_out_name,
                       strlen(output->project_out_name));
    if (h->map) cli_json_bytes(json, "map", h->map_from, strlen(h->map_from));
    cli_json_unsigned(json, "padded_rows", h->padded);
    cli_json_bool(json, "padding_masked", h->masked);
    cli_json_unsigned(json, "vectors", h->hidden.n);
}
