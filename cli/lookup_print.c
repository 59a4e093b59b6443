/* What `wte lookup` shows to people (a matrix with labels) and to programs (JSON). */
#include "lookup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "open.h"

/* Beyond these, the middle is left out unless --full is given. */
#define MAX_ROWS     100
#define EDGE_ROWS    10
#define MAX_COLUMNS  8
#define EDGE_COLUMNS 3

/* Buffers for one batch: the ids, their rows, and one row as numbers. */
typedef struct batch {
    int64_t *ids;
    char *rows;
    double *row;
    size_t cap;
    size_t row_bytes;
} batch;

static void batch_clear(batch *b)
{
    free(b->ids);
    free(b->rows);
    free(b->row);
}

/* Whether it succeeds or not, batch_clear releases what there is. */
static int batch_make(const lookup_job *job, batch *b)
{
    uint64_t cols = job->table->source.cols;
    b->cap = lookup_batch(job);
    b->row_bytes = (size_t)cols * wte_dtype_bytes(job->type);
    b->ids = malloc(b->cap * sizeof *b->ids);
    b->rows = malloc(b->cap * b->row_bytes + 1);
    b->row = malloc((size_t)cols * sizeof *b->row + 1);
    if (b->ids && b->rows && b->row) return CLI_DONE;
    return cli_say_fail(job->c, CLI_OUTPUT, "out of memory for rows of %" PRIu64 " numbers", cols);
}

/* Row i of the batch as doubles. */
static int batch_row(const lookup_job *job, const batch *b, size_t i)
{
    wte_error err;
    wte_status status = wte_convert(job->type, b->rows + i * b->row_bytes, WTE_F64, b->row,
                                    (size_t)job->table->source.cols, NULL, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(job->c, status, CLI_SIDE_INPUT, &err);
}

/* Call visit for every row from position `from` to before `to`. */
static int each_row(lookup_job *job, batch *b, uint64_t from, uint64_t to,
                    int (*visit)(void *ctx, const batch *b, size_t i), void *ctx)
{
    for (uint64_t at = from; at < to;) {
        size_t n = to - at < b->cap ? (size_t)(to - at) : b->cap;
        int code = lookup_rows(job, at, n, b->ids, b->rows);
        for (size_t i = 0; i < n && !code; i++) code = visit(ctx, b, i);
        if (code) return code;
        at += n;
    }
    return CLI_DONE;
}

/* Text ----------------------------------------------------------------------------------------- */

typedef struct text_printer {
    lookup_job *job;
    cli_digits digits;
    bool full, tokens;
    size_t id_width, token_width;
} text_printer;

/* Widths as cli_put_token and cli_ids_text have them. */
static size_t put_token(FILE *out, const lookup_job *job, int64_t id)
{
    const char *word = lookup_unknown_word(job, id);
    if (!word) return cli_put_token(out, job->model, id);
    if (out) cli_put_quoted(out, word, strlen(word));
    return cli_quoted_width(word, strlen(word));
}

static const char *id_text(const lookup_job *job, int64_t id, char out[32])
{
    return lookup_unknown_word(job, id) ? "-" : cli_ids_text(&job->ids, id, out);
}

/* First pass: the widths of what will be shown. */
static int look_at_row(void *ctx, const batch *b, size_t i)
{
    text_printer *p = ctx;
    size_t cols = (size_t)p->job->table->source.cols;
    int code = batch_row(p->job, b, i);
    if (code) return code;
    bool cut = !p->full && cols > MAX_COLUMNS;
    cli_digits_look(&p->digits, b->row, cut ? EDGE_COLUMNS : cols);
    if (cut) cli_digits_look(&p->digits, b->row + cols - EDGE_COLUMNS, EDGE_COLUMNS);
    char id[32];
    const size_t width = strlen(id_text(p->job, b->ids[i], id));
    if (width > p->id_width) p->id_width = width;
    if (!p->tokens) return CLI_DONE;
    size_t token = put_token(NULL, p->job, b->ids[i]);
    if (token > p->token_width) p->token_width = token;
    return CLI_DONE;
}

static bool is_row(const lookup_job *job, int64_t id)
{
    if (id < 0 || (uint64_t)id >= job->table->source.rows) return false;
    return !cli_ids_among(job->ignore, job->n_ignore, id);
}

static int print_row(void *ctx, const batch *b, size_t i)
{
    text_printer *p = ctx;
    FILE *out = p->job->out;
    size_t cols = (size_t)p->job->table->source.cols;
    char id[32];
    int code = batch_row(p->job, b, i);
    if (code) return code;
    fprintf(out, "  %*s", (int)p->id_width, id_text(p->job, b->ids[i], id));
    if (p->tokens) {
        fputs("  ", out);
        size_t width = put_token(out, p->job, b->ids[i]);
        fprintf(out, "%*s", (int)(p->token_width - width), "");
    }
    for (size_t k = 0; k < cols; k++) {
        if (!p->full && cols > MAX_COLUMNS && k == EDGE_COLUMNS) {
            fputs("  ...", out);
            k = cols - EDGE_COLUMNS;
        }
        fputs("  ", out);
        cli_put_number(out, &p->digits, b->row[k],
                       b->rows + i * b->row_bytes + k * wte_dtype_bytes(p->job->type));
    }
    if (!is_row(p->job, b->ids[i])) fputs("  (no row: zeros)", out);
    fputc('\n', out);
    return CLI_DONE;
}

static void put_shape(FILE *out, const lookup_job *job)
{
    fputc('[', out);
    for (uint32_t i = 0; i < job->ids.rank; i++) fprintf(out, "%" PRIu64 ", ", job->ids.shape[i]);
    fprintf(out, "%" PRIu64 "]", job->table->source.cols);
}

/* What the shape means: the point at which a first lookup is most often misread. */
static void print_head(const lookup_job *job)
{
    const wte_model_table *t = job->table;
    const char *path = wte_model_path(job->model);
    uint64_t n = job->ids.count, cols = t->source.cols;
    FILE *out = job->out;
    cli_put_safe(out, path, strlen(path));
    if (strcmp(path, t->name) != 0) {
        fputs(": ", out);
        cli_put_safe(out, t->name, strlen(t->name));
    }
    fprintf(out, ", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim, cli_stored_as(t));
    if (job->c->verbose) fprintf(out, "this table, because: %s\n", t->why);
    fprintf(out, "%" PRIu64 " id%s in, %" PRIu64 " row%s out: shape ", n, n == 1 ? "" : "s", n,
            n == 1 ? "" : "s");
    put_shape(out, job);
    fprintf(out, " %s", wte_dtype_name(job->type));
    if (n == 1 && cols > 1)
        fprintf(out, ", one vector with %" PRIu64 " numbers (not %" PRIu64 " vectors)", cols, cols);
    fputs("\n\n", out);
}

static int print_rows(text_printer *p, batch *b)
{
    lookup_job *job = p->job;
    uint64_t n = job->ids.count, head = n, tail = n;
    if (!p->full && n > MAX_ROWS) {
        head = EDGE_ROWS;
        tail = n - EDGE_ROWS;
    }
    int code = each_row(job, b, 0, head, look_at_row, p);
    if (!code) code = each_row(job, b, tail, n, look_at_row, p);
    if (code || n == 0) return code;
    if (p->id_width < 2) p->id_width = 2;
    bool texts = p->token_width > 0;
    if (texts && p->token_width < 5) p->token_width = 5;
    p->tokens = p->tokens && texts;
    fprintf(job->out, "%s  %*s", job->out == stdout ? cli_dim(job->c) : "", (int)p->id_width, "id");
    if (p->tokens) fprintf(job->out, "  %-*s", (int)p->token_width, "token");
    fprintf(job->out, "  vector%s\n", job->out == stdout ? cli_plain(job->c) : "");
    code = each_row(job, b, 0, head, print_row, p);
    if (head < tail)
        fprintf(job->out, "  ... %" PRIu64 " rows more; --full prints all\n", tail - head);
    return code ? code : each_row(job, b, tail, n, print_row, p);
}

int lookup_print_text(lookup_job *job, bool full)
{
    text_printer p = { .job = job, .full = full, .digits = { .type = job->type } };
    batch b;
    int code = batch_make(job, &b);
    p.tokens = wte_model_vocab(job->model) != NULL;
    if (!code) {
        print_head(job);
        code = print_rows(&p, &b);
    }
    batch_clear(&b);
    return code;
}

/* JSON ----------------------------------------------------------------------------------------- */

typedef struct json_printer {
    lookup_job *job;
    cli_json json;
} json_printer;

static void json_element(cli_json *j, wte_dtype type, const char *stored, double value)
{
    int64_t exact;
    uint64_t exact_unsigned;
    switch (type) {
    case WTE_F64: cli_json_f64(j, NULL, value); return;
    case WTE_I64:
        memcpy(&exact, stored, sizeof exact);
        cli_json_signed(j, NULL, exact);
        return;
    case WTE_U64:
        memcpy(&exact_unsigned, stored, sizeof exact_unsigned);
        cli_json_unsigned(j, NULL, exact_unsigned);
        return;
    default: break;
    }
    if (type >= WTE_I8 && type <= WTE_BOOL)
        cli_json_signed(j, NULL, (int64_t)value);
    else
        cli_json_f32(j, NULL, (float)value);
}

static int json_row(void *ctx, const batch *b, size_t i)
{
    json_printer *p = ctx;
    cli_json *j = &p->json;
    size_t cols = (size_t)p->job->table->source.cols, each = wte_dtype_bytes(p->job->type);
    int code = batch_row(p->job, b, i);
    if (code) return code;
    cli_json_short(j, NULL);
    const char *word = lookup_unknown_word(p->job, b->ids[i]);
    if (word)
        cli_json_null(j, "id");
    else if (cli_ids_beyond(&p->job->ids, b->ids[i]))
        cli_json_unsigned(j, "id", (uint64_t)b->ids[i]);
    else
        cli_json_signed(j, "id", b->ids[i]);
    size_t bytes;
    const char *token = word ? NULL : cli_token_text(p->job->model, b->ids[i], &bytes);
    if (word) cli_json_bytes(j, "token", word, strlen(word));
    if (token) cli_json_bytes(j, "token", token, bytes);
    if (!is_row(p->job, b->ids[i])) cli_json_bool(j, "no_row", true);
    cli_json_line(j, "vector");
    for (size_t k = 0; k < cols; k++)
        json_element(j, p->job->type, b->rows + i * b->row_bytes + k * each, b->row[k]);
    cli_json_close(j);
    cli_json_close(j);
    return CLI_DONE;
}

static void json_head(cli_json *j, const lookup_job *job)
{
    const wte_model_table *t = job->table;
    const char *path = wte_model_path(job->model);
    cli_json_begin(j, job->out, "wte.lookup/1");
    cli_json_bytes(j, "model", path, strlen(path));
    cli_json_bytes(j, "tensor", t->name, strlen(t->name));
    cli_json_text(j, "stored_dtype", wte_type_name(t->dtype, t->block));
    if (t->scheme) cli_json_text(j, "scheme", t->scheme);
    cli_json_unsigned(j, "rows", t->rows);
    cli_json_unsigned(j, "dim", t->dim);
    cli_json_text(j, "dtype", wte_dtype_name(job->type));
    cli_json_line(j, "shape");
    for (uint32_t i = 0; i < job->ids.rank; i++) cli_json_unsigned(j, NULL, job->ids.shape[i]);
    cli_json_unsigned(j, NULL, t->source.cols);
    cli_json_close(j);
    cli_json_unsigned(j, "bad_ids", job->report.count);
    cli_json_unsigned(j, "ignored_ids", job->report.ignored);
}

int lookup_print_json(lookup_job *job)
{
    json_printer p = { .job = job };
    batch b;
    int code = batch_make(job, &b);
    if (!code) {
        json_head(&p.json, job);
        cli_json_list(&p.json, "lookups");
        code = each_row(job, &b, 0, job->ids.count, json_row, &p);
        cli_json_close(&p.json);
        cli_json_end(&p.json);
    }
    batch_clear(&b);
    return code;
}
