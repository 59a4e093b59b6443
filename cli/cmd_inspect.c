/* wte inspect - what is in a model: its tables by role, what config.json says about them, its
 * vocabulary, and with --all every tensor. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wte/model.h>

#include "candidates.h"
#include "inspect.h"
#include "json.h"
#include "open.h"
#include "opt.h"
#include "out.h"

static const cli_option options[] = {
    { "candidates", '\0', false, CLI_FLAG, NULL,
      "list every tensor that was considered for a role: score, shape, hash, reason", NULL },
    { "all", '\0', false, CLI_FLAG, NULL,
      "list every tensor of the model, what shares or repeats its bytes, and what the tables take",
      NULL },
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

static void print_note(const cli *c, const wte_model *m)
{
    const char *note = wte_model_note(m);
    if (!*note) return;
    label(c, "note");
    put_text(note);
    putchar('\n');
}

/* The files on disk and their bytes: what was unpacked in memory is no file. */
static uint32_t count_files(const wte_file *f, uint64_t *bytes)
{
    uint32_t n = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < wte_file_n_shards(f); i++) {
        if (wte_file_shard_of(f, i) != i) continue;
        *bytes += wte_file_shard_bytes(f, i);
        n++;
    }
    return n;
}

static void print_head_line(const cli *c, const wte_model *m)
{
    const wte_file *f = wte_model_file(m);
    char size[32];
    fputs(cli_bold(c), stdout);
    put_text(wte_model_path(m));
    fputs(cli_plain(c), stdout);
    if (!f) {
        puts(": built in, 1 tensor");
        return;
    }
    const uint64_t n = wte_file_n_tensors(f);
    uint64_t bytes;
    const uint32_t parts = count_files(f, &bytes);
    printf(": %s, %" PRIu64 " tensor%s in %" PRIu32 " file%s, %s\n",
           wte_format_name(wte_file_format(f)), n, n == 1 ? "" : "s", parts, parts == 1 ? "" : "s",
           cli_size(size, bytes));
}

#define STRAYS_SHOWN 3
/* Tensors in the shards that the index does not list: no part of the model, but why are they there?
 */
static void print_strays(const cli *c, const wte_file *f)
{
    const uint64_t n = f ? wte_file_n_unlisted_tensors(f) : 0;
    const bool all = cli_given(c, "all");
    wte_tensor t;
    if (n == 0) return;
    label(c, "unlisted");
    printf("%" PRIu64 " tensor%s in the files that the index does not list there:", n,
           n == 1 ? "" : "s");
    for (uint64_t i = 0; i < n && (all || i < STRAYS_SHOWN); i++) {
        if (wte_file_unlisted_tensor(f, i, &t, NULL) != WTE_OK) continue;
        fputs(i ? ", " : " ", stdout);
        cli_put_safe(stdout, t.name, (size_t)t.name_bytes);
        const char *path = wte_file_shard_path(f, t.shard), *slash = strrchr(path, '/');
        fputs(" in ", stdout);
        put_text(slash ? slash + 1 : path);
    }
    puts(!all && n > STRAYS_SHOWN ? ", ...; --all lists them" : "");
}

static void print_table(const cli *c, const char *role, const wte_model *m,
                        const wte_model_table *t)
{
    wte_tensor stored;
    label(c, role);
    put_text(t->name);
    printf(", %" PRIu64 " x %" PRIu64 " %s%s", t->rows, t->dim, cli_stored_as(t),
           t->transposed ? ", stored dim x rows" : "");
    const wte_file *f = wte_model_file(m);
    const bool found = f && wte_file_tensor(f, t->tensor, &stored, NULL) == WTE_OK;
    if (found && wte_file_format(f) == WTE_FORMAT_GGUF) {
        fputs(", stored", stdout);
        inspect_put_axes(f, &stored);
    }
    if (found && t->mapped) printf(", ids mapped to %" PRIu64 " stored rows", stored.shape[0]);
    putchar('\n');
    label(c, "");
    put_text(t->why);
    putchar('\n');
}

static void print_tables(const cli *c, const wte_model *m)
{
    const wte_model_table *input, *head = wte_model_head(m);
    wte_error err;
    if (wte_model_input(m, &input, &err) == WTE_OK) {
        print_table(c, "input", m, input);
    } else {
        label(c, "input");
        printf("none: ");
        put_text(err.message);
        putchar('\n');
        input = NULL;
    }
    if (head && input && head->tensor == input->tensor) {
        label(c, "head");
        puts("the same tensor");
    } else if (head) {
        print_table(c, "head", m, head);
    } else {
        const char *problem = wte_model_head_problem(m);
        label(c, "head");
        fputs(problem[0] ? "not read: " : "none is stored (wte tied tells what that means)",
              stdout);
        put_text(problem);
        putchar('\n');
    }
}

/* Of a draft head: which tokens its rows are. */
static void print_map(const cli *c, const wte_model *m)
{
    const wte_model_output *o = wte_model_output_of(m);
    const bool known = *o->map_why != '\0';
    if (!known && !*o->map_problem) return;
    label(c, "rows");
    fputs(known ? "" : "not known: ", stdout);
    put_text(known ? o->map_why : o->map_problem);
    putchar('\n');
}

static void print_config(const cli *c, const wte_model *m)
{
    const wte_model_config *k = wte_model_config_of(m);
    if (!k->path[0]) {
        label(c, "config");
        puts("none");
        return;
    }
    label(c, "config");
    put_text(k->model_type[0] ? k->model_type : "no model_type");
    if (k->text_model_type[0]) {
        fputs(" with ", stdout);
        put_text(k->text_model_type);
    }
    if (k->architecture[0]) {
        fputs(", class ", stdout);
        put_text(k->architecture);
    }
    if (k->vocab_size) printf(", vocab_size %" PRIu64, k->vocab_size);
    if (k->hidden_size) printf(", hidden_size %" PRIu64, k->hidden_size);
    if (k->embedding_size) printf(", embedding_size %" PRIu64, k->embedding_size);
    if (k->pad_token_id >= 0) printf(", pad_token_id %" PRId64, k->pad_token_id);
    putchar('\n');
    label(c, "flag");
    printf("%s: ", !k->tie_decided ? "unknown" : k->tied ? "tied" : "untied");
    put_text(k->tie_rule);
    putchar('\n');
    label(c, "factor");
    if (!k->factor_rule[0]) {
        const char *in = wte_model_output_of(m)->project_in_name;
        fputs(*in ? "none, but the row goes through " : "none: the model takes a row as it is",
              stdout);
        put_text(in);
        putchar('\n');
        return;
    }
    printf("%.9g (", k->factor);
    put_text(k->factor_rule);
    puts(")");
}

/* Texts that other programs stumble over. */
static void print_texts(const cli *c, const wte_vocab *v)
{
    const uint64_t broken = wte_vocab_n_invalid_utf8(v), twice = wte_vocab_n_duplicates(v);
    if (broken) {
        label(c, "");
        printf("%" PRIu64 " token%s no UTF-8; the bytes are kept as they are\n", broken,
               broken == 1 ? " is" : "s are");
    }
    if (twice) {
        label(c, "");
        printf("%" PRIu64 " token%s the text of another id, which the text stands for\n", twice,
               twice == 1 ? " has" : "s have");
    }
}

static void print_vocab(const cli *c, const wte_model *m)
{
    static const char *const spelling[] = { "plain", "byte-level", "metaspace", "wordpiece" };
    const wte_vocab *v = wte_model_vocab(m);
    label(c, "vocab");
    if (!v) {
        const char *problem = wte_model_vocab_problem(m);
        put_text(problem[0] ? problem : "none");
        putchar('\n');
        return;
    }
    const uint64_t size = wte_vocab_size(v), holes = wte_vocab_n_holes(v);
    printf("%" PRIu64 " token%s, ids 0..%" PRIu64 ", ", wte_vocab_count(v),
           wte_vocab_count(v) == 1 ? "" : "s", size ? size - 1 : 0);
    if (holes)
        printf("%" PRIu64 " hole%s, ", holes, holes == 1 ? "" : "s");
    else
        fputs("no holes, ", stdout);
    printf("spelled %s, from ", spelling[wte_vocab_spelling_of(v)]);
    put_text(wte_vocab_path(v));
    putchar('\n');
    print_texts(c, v);
    const wte_model_table *input;
    if (wte_model_input(m, &input, NULL) != WTE_OK || input->rows == size) return;
    label(c, "");
    if (input->rows > size)
        printf("rows %" PRIu64 "..%" PRIu64 " have no token\n", size, input->rows - 1);
    else
        printf("%sids %" PRIu64 "..%" PRIu64 " have no row%s\n", cli_red(c), input->rows, size - 1,
               cli_plain(c));
}

/* Tables that stand beside: positions, types, norms, parts of other models. */
static void print_beside(const cli *c, const wte_model *m)
{
    const wte_candidate *k;
    bool first = true;
    for (uint64_t i = 0; (k = wte_model_candidate(m, i)); i++) {
        wte_tensor t;
        if (k->role != WTE_ROLE_OTHER) continue;
        if (wte_file_tensor(wte_model_file(m), k->tensor, &t, NULL) != WTE_OK) continue;
        label(c, first ? "others" : "");
        cli_put_safe(stdout, t.name, (size_t)t.name_bytes);
        fputs(", ", stdout);
        inspect_put_shape(&t);
        printf(" %s: ", wte_type_name(t.dtype, t.block));
        put_text(k->why);
        putchar('\n');
        first = false;
    }
}

static int print_text(const cli *c, const wte_model *m, const inspect_all *all)
{
    int code = CLI_DONE;
    print_head_line(c, m);
    print_note(c, m);
    print_tables(c, m);
    print_map(c, m);
    print_strays(c, wte_model_file(m));
    print_config(c, m);
    print_vocab(c, m);
    print_beside(c, m);
    if (c->verbose || cli_given(c, "candidates")) code = cli_print_candidates(c, m);
    if (all) inspect_all_print(all);
    return code;
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_name(cli_json *j, const char *key, const char *text)
{
    cli_json_bytes(j, key, text, strlen(text));
}

static void json_table(cli_json *j, const char *key, const wte_model *m, const wte_model_table *t)
{
    if (!t) {
        cli_json_null(j, key);
        return;
    }
    cli_json_object(j, key);
    json_name(j, "tensor", t->name);
    cli_json_text(j, "dtype", wte_type_name(t->dtype, t->block));
    if (t->scheme) cli_json_text(j, "scheme", t->scheme);
    cli_json_line(j, "shape");
    cli_json_unsigned(j, NULL, t->rows);
    cli_json_unsigned(j, NULL, t->dim);
    cli_json_close(j);
    if (t->tensor == WTE_NO_INDEX) {
        cli_json_null(j, "file");
    } else {
        json_name(j, "file", wte_file_shard_path(wte_model_file(m), t->shard));
        cli_json_unsigned(j, "offset", t->offset);
        cli_json_unsigned(j, "row_bytes", t->row_bytes);
    }
    cli_json_bool(j, "mapped", t->mapped);
    cli_json_bool(j, "transposed", t->transposed);
    json_name(j, "why", t->why);
    cli_json_close(j);
}

static void json_config(cli_json *j, const wte_model_config *k)
{
    static const char *const flag[] = { NULL, "false", "true" };
    cli_json_object(j, "config");
    json_name(j, "path", k->path);
    json_name(j, "model_type", k->model_type);
    json_name(j, "text_model_type", k->text_model_type);
    json_name(j, "architecture", k->architecture);
    cli_json_unsigned(j, "vocab_size", k->vocab_size);
    cli_json_unsigned(j, "hidden_size", k->hidden_size);
    cli_json_unsigned(j, "embedding_size", k->embedding_size);
    cli_json_signed(j, "pad_token_id", k->pad_token_id);
    cli_json_text(j, "tie_top_level", flag[k->tie_top]);
    cli_json_text(j, "tie_nested", flag[k->tie_nested]);
    cli_json_bool(j, "tied", k->tied);
    cli_json_bool(j, "tie_decided", k->tie_decided);
    cli_json_bool(j, "tie_conflict", k->tie_conflict);
    json_name(j, "tie_rule", k->tie_rule);
    cli_json_f64(j, "factor", k->factor);
    cli_json_f64(j, "factor_exact", k->factor_exact);
    json_name(j, "factor_rule", k->factor_rule);
    cli_json_close(j);
}

static void json_vocab(cli_json *j, const wte_model *m)
{
    const wte_vocab *v = wte_model_vocab(m);
    const char *problem = wte_model_vocab_problem(m);
    if (problem[0]) json_name(j, "vocab_problem", problem);
    if (!v) {
        cli_json_null(j, "vocab");
        return;
    }
    cli_json_object(j, "vocab");
    json_name(j, "path", wte_vocab_path(v));
    cli_json_unsigned(j, "tokens", wte_vocab_count(v));
    cli_json_unsigned(j, "size", wte_vocab_size(v));
    cli_json_unsigned(j, "holes", wte_vocab_n_holes(v));
    cli_json_unsigned(j, "not_utf8", wte_vocab_n_invalid_utf8(v));
    cli_json_unsigned(j, "duplicates", wte_vocab_n_duplicates(v));
    cli_json_close(j);
}

static int print_json(const cli *c, const wte_model *m, const inspect_all *all)
{
    const bool with_bytes = cli_given(c, "candidates");
    const wte_file *f = wte_model_file(m);
    const wte_model_table *input;
    wte_error err;
    cli_json j;
    cli_json_begin(&j, stdout, "wte.inspect/1");
    json_name(&j, "model", wte_model_path(m));
    json_name(&j, "note", wte_model_note(m));
    cli_json_text(&j, "format", f ? wte_format_name(wte_file_format(f)) : "built in");
    cli_json_unsigned(&j, "tensor_count", f ? wte_file_n_tensors(f) : 1);
    cli_json_unsigned(&j, "stray_count", f ? wte_file_n_unlisted_tensors(f) : 0);
    uint64_t bytes = 0;
    cli_json_unsigned(&j, "file_count", f ? count_files(f, &bytes) : 0);
    cli_json_unsigned(&j, "file_bytes", bytes);
    if (wte_model_input(m, &input, &err) != WTE_OK) json_name(&j, "input_problem", err.message);
    json_table(&j, "input", m, input);
    json_table(&j, "head", m, wte_model_head(m));
    const wte_model_output *o = wte_model_output_of(m);
    if (*o->map_why) json_name(&j, "head_map", o->map_why);
    if (*o->map_problem) json_name(&j, "head_map_problem", o->map_problem);
    const char *problem = wte_model_head_problem(m);
    if (problem[0]) json_name(&j, "head_problem", problem);
    json_config(&j, wte_model_config_of(m));
    json_vocab(&j, m);
    const int code = cli_json_candidates(c, &j, m, with_bytes);
    if (all) inspect_all_json(all, &j);
    cli_json_end(&j);
    return code;
}

static int run(cli *c)
{
    wte_model *m = NULL;
    int code = cli_open_model(c, c->words[0], CLI_VOCAB_NEEDED, &m);
    if (code) return code;
    inspect_all all = { .c = c };
    const bool wanted = cli_given(c, "all");
    if (wanted) code = inspect_all_open(c, m, &all);
    if (!code && c->json)
        code = print_json(c, m, wanted ? &all : NULL);
    else if (!code)
        code = print_text(c, m, wanted ? &all : NULL);
    inspect_all_close(&all);
    return code;
}

const cli_command cmd_inspect = {
    .name = "inspect",
    .group = CLI_LOOK,
    .synopsis = "MODEL",
    .summary = "show what is in a model: tables by role, config, vocabulary, tensors",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL,
    .min_words = 1,
    .max_words = 1,
    .paths = 1,
    .path_kind = CLI_READ_MODEL,
    .notes = "Input table and output head are found by rules on names and shapes; --candidates\n"
             "(or -v) shows what was considered and why, --tensor and --head overrule. 'others'\n"
             "lists position, type and other tables that are not the token table. --json holds\n"
             "the candidates always, the tensors with --all.",
    .run = run,
};
