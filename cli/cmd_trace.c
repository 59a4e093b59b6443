/* wte trace - one lookup step by step: id, row, bytes, vector, and the proof that nothing was
 * computed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wte/inspect.h>

#include "json.h"
#include "open.h"
#include "opt.h"
#include "out.h"
#include "vector.h"

static const cli_option options[] = {
    { "token", '\0', false, CLI_FLAG, NULL, "take every word as the text of a token, digits too",
      NULL },
    { "full", '\0', false, CLI_FLAG, NULL, "print every number and every byte", NULL },
    CLI_OPTIONS_END,
};

static void label(const cli *c, const char *name)
{
    printf("  %s%-8s%s ", cli_dim(c), name, cli_plain(c));
}

static void put_text(const char *text)
{
    cli_put_safe(stdout, text, strlen(text));
}

static void print_id(const cli *c, const wte_trace *t)
{
    if (t->token) {
        label(c, "token");
        cli_put_quoted(stdout, t->token, (size_t)t->token_bytes);
        if (t->token_kind == WTE_TOKEN_SPECIAL) fputs(", special", stdout);
        if (t->token_kind == WTE_TOKEN_ADDED) fputs(", added", stdout);
        if (t->token_kind == WTE_TOKEN_UNUSED) fputs(", unused", stdout);
        putchar('\n');
    }
    label(c, "id");
    printf("%" PRIu64 "\n", t->id);
    label(c, "row");
    printf("%" PRIu64 ", %s: rows count from zero%s\n", t->row, t->ordinal,
           t->mapped ? ", and the model maps ids to rows" : "");
}

/* Bytes are shown in this machine's order; the file may have them the other way round. */
static bool is_reversed(const wte_model *m)
{
    const wte_model_table *table;
    wte_tensor stored;
    return wte_model_file(m) && wte_model_input(m, &table, NULL) == WTE_OK &&
           wte_file_tensor(wte_model_file(m), table->tensor, &stored, NULL) == WTE_OK &&
           stored.big_endian;
}

static void print_place(const cli *c, const wte_model *m, const wte_trace *t, bool full)
{
    label(c, "tensor");
    put_text(t->tensor);
    printf(", %" PRIu64 " x %" PRIu64 " %s%s\n", t->rows, t->dim,
           t->scheme ? t->scheme : wte_type_name(t->dtype, t->block),
           t->transposed ? ", stored dim x rows" : "");
    if (t->file[0]) {
        label(c, "file");
        put_text(t->file);
        if (t->begin == WTE_NO_INDEX)
            printf(", made of several places\n");
        else if (t->pieces == 1)
            printf(", bytes %" PRIu64 "..%" PRIu64 "\n", t->begin, t->end - 1);
        else
            printf(", %" PRIu64 " pieces from byte %" PRIu64 " on, %" PRIu64 " bytes apart\n",
                   t->pieces, t->begin, t->stride);
    }
    label(c, "bytes");
    cli_put_bytes(stdout, t->bytes, t->n_bytes, full);
    puts(is_reversed(m) ? " in this machine's order; the file is big-endian" : "");
}

static void print_vector(const cli *c, const wte_model *m, const wte_trace *t, bool full)
{
    label(c, "vector");
    cli_put_vector(stdout, t->f64, t->bytes, t->dim, t->dtype, full);
    putchar('\n');
    label(c, "norm");
    printf("%.6g\n", t->norm);
    label(c, "factor");
    if (!t->scaled) {
        const char *in = wte_model_output_of(m)->project_in_name;
        fputs(*in ? "none, but the row goes through " : "none: the model takes the row as it is",
              stdout);
        put_text(in);
        putchar('\n');
        return;
    }
    printf("%.9g", t->factor);
    if (t->factor_exact != t->factor) printf(", rounded from %.9g", t->factor_exact);
    if (t->factor_rule[0]) {
        fputs(" (", stdout);
        put_text(t->factor_rule);
        putchar(')');
    }
    putchar('\n');
    label(c, "scaled");
    cli_put_vector(stdout, t->scaled, NULL, t->dim, t->dtype, full);
    putchar('\n');
}

static void print_proof(const cli *c, const char *name, wte_proof proof, const char *why)
{
    label(c, "proof");
    const bool fails = proof == WTE_PROOF_FAILS;
    printf("%s: ", name);
    if (proof != WTE_PROOF_NOT_RUN)
        printf("%s%s%s, ", fails ? cli_red(c) : cli_green(c), fails ? "FAILS" : "holds",
               cli_plain(c));
    fputs(why, stdout); /* names in it were made safe by the library */
    putchar('\n');
}

static void print_text(const cli *c, const wte_model *m, const wte_trace *t)
{
    const bool full = cli_given(c, "full");
    fputs(cli_bold(c), stdout);
    put_text(wte_model_path(m));
    printf(": id %" PRIu64 "%s\n", t->id, cli_plain(c));
    print_id(c, t);
    print_place(c, m, t, full);
    print_vector(c, m, t, full);
    print_proof(c, "the vector is the stored row", t->same_bytes, t->same_bytes_why);
    print_proof(c, "one-hot x table is that row", t->one_hot, t->one_hot_why);
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_bytes(cli_json *j, const char *key, const uint8_t *bytes, uint64_t n)
{
    char *hex = malloc((size_t)n * 2 + 1);
    for (uint64_t i = 0; hex && i < n; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    if (hex) hex[2 * n] = '\0';
    cli_json_text(j, key, hex);
    free(hex);
}

static void json_proof(cli_json *j, const char *key, wte_proof proof, const char *why)
{
    static const char *const word[] = { "not run", "holds", "fails" };
    cli_json_short(j, key);
    cli_json_text(j, "result", word[proof]);
    cli_json_text(j, "why", why);
    cli_json_close(j);
}

static void json_place(cli_json *j, const wte_model *m, const wte_trace *t)
{
    cli_json_bytes(j, "tensor", t->tensor, strlen(t->tensor));
    cli_json_text(j, "dtype", wte_type_name(t->dtype, t->block));
    if (t->scheme) cli_json_text(j, "scheme", t->scheme);
    cli_json_line(j, "shape");
    cli_json_unsigned(j, NULL, t->rows);
    cli_json_unsigned(j, NULL, t->dim);
    cli_json_close(j);
    cli_json_bool(j, "transposed", t->transposed);
    cli_json_bool(j, "big_endian", is_reversed(m));
    if (t->file[0]) {
        cli_json_bytes(j, "file", t->file, strlen(t->file));
        if (t->begin == WTE_NO_INDEX) {
            cli_json_null(j, "begin");
            cli_json_null(j, "end");
        } else {
            cli_json_unsigned(j, "begin", t->begin);
            cli_json_unsigned(j, "end", t->end);
        }
        cli_json_unsigned(j, "pieces", t->pieces);
        cli_json_unsigned(j, "stride", t->stride);
    } else {
        cli_json_null(j, "file");
    }
}

static void json_trace(cli_json *j, const wte_model *m, const wte_trace *t)
{
    cli_json_object(j, NULL);
    cli_json_unsigned(j, "id", t->id);
    if (t->token)
        cli_json_bytes(j, "token", t->token, (size_t)t->token_bytes);
    else
        cli_json_null(j, "token");
    cli_json_unsigned(j, "row", t->row);
    cli_json_text(j, "ordinal", t->ordinal);
    cli_json_bool(j, "mapped", t->mapped);
    json_place(j, m, t);
    json_bytes(j, "bytes", t->bytes, t->n_bytes);
    cli_json_vector(j, "vector", t->f64, t->bytes, t->dim, t->dtype);
    cli_json_f64(j, "norm", t->norm);
    cli_json_f64(j, "factor", t->factor);
    cli_json_f64(j, "factor_exact", t->factor_exact);
    cli_json_text(j, "factor_rule", t->factor_rule);
    if (t->scaled) cli_json_vector(j, "scaled", t->scaled, NULL, t->dim, t->dtype);
    json_proof(j, "same_bytes", t->same_bytes, t->same_bytes_why);
    json_proof(j, "one_hot", t->one_hot, t->one_hot_why);
    cli_json_close(j);
}

/* ---------------------------------------------------------------------------------------------- */

static int refuse_id(const cli *c, const wte_model *m, int64_t id)
{
    const wte_model_table *table;
    const int code = cli_input_table(c, m, &table);
    if (code) return code;
    return cli_say_fail(c, CLI_USAGE,
                        "%s: id %" PRId64 " has no row; the table has %" PRIu64
                        " row%s, counted from zero",
                        wte_model_path(m), id, table->rows, table->rows == 1 ? "" : "s");
}

/* All ids before anything is printed: half an answer is easily taken for the whole. */
static int check_ids(const cli *c, const wte_model *m, const int64_t *ids, size_t n)
{
    const wte_model_table *table;
    const int code = cli_input_table(c, m, &table);
    if (code) return code;
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (uint64_t)ids[i] >= table->rows) return refuse_id(c, m, ids[i]);
    return CLI_DONE;
}

static int trace_one(cli *c, const wte_model *m, int64_t id, wte_pool *pool, cli_json *j)
{
    wte_trace_options opt = WTE_TRACE_OPTIONS_INIT;
    wte_trace *t;
    wte_error err;
    opt.pool = pool;
    const wte_status status = wte_model_trace(m, (uint64_t)id, &opt, &t, &err);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    if (j)
        json_trace(j, m, t);
    else
        print_text(c, m, t);
    const bool fails = t->same_bytes == WTE_PROOF_FAILS || t->one_hot == WTE_PROOF_FAILS;
    wte_trace_free(t);
    return fails ? CLI_NO : CLI_DONE;
}

static int trace_all(cli *c, const wte_model *m, const int64_t *ids, size_t n)
{
    const char *path = wte_model_path(m);
    wte_pool *pool;
    cli_json json;
    int code = cli_pool(c, &pool), worst = CLI_DONE;
    if (!code) code = check_ids(c, m, ids, n);
    if (code) return code;
    if (c->json) {
        cli_json_begin(&json, stdout, "wte.trace/1");
        cli_json_bytes(&json, "model", path, strlen(path));
        cli_json_list(&json, "traces");
    }
    for (size_t i = 0; i < n && worst <= CLI_NO; i++) {
        if (i && !c->json) putchar('\n');
        code = trace_one(c, m, ids[i], pool, c->json ? &json : NULL);
        if (code > worst) worst = code;
    }
    if (c->json) {
        cli_json_close(&json);
        cli_json_end(&json);
    }
    return worst;
}

static int run(cli *c)
{
    const bool as_text = cli_given(c, "token");
    const size_t n = (size_t)c->n_words - 1;
    wte_model *m = NULL;
    int64_t *ids = malloc(n * sizeof *ids);
    if (!ids) return cli_say_fail(c, CLI_OUTPUT, "out of memory for %zu ids", n);
    c->no_cache = true; /* a proof reads its source itself */
    const cli_vocab vocab = cli_vocab_for(c->words + 1, (int)n, as_text, CLI_VOCAB_ALL);
    int code = cli_open_model(c, c->words[0], vocab, &m);
    for (size_t i = 0; i < n && !code; i++)
        code = cli_word_id(c, m, c->words[i + 1], as_text, &ids[i]);
    if (!code) code = trace_all(c, m, ids, n);
    free(ids);
    return code;
}

const cli_command cmd_trace = {
    .name = "trace",
    .group = CLI_LOOK,
    .synopsis = "MODEL ID|TOKEN...",
    .summary = "follow an id to its row, its bytes and its vector, and prove the lookup",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 2,
    .max_words = -1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "A word of digits (or '-' and digits) is an id; anything else is the text of a\n"
             "token. Two proofs are run: the row is read a second time at its byte offset in\n"
             "the file and compared bit for bit; and a one-hot vector is multiplied by the\n"
             "whole table, unless that is larger than 256 MiB or holds NaN or infinity.\n"
             "Exit 1 when a proof fails.",
    .run = run,
};
