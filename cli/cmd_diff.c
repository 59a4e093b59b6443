/* wte diff - which rows changed between two models, by how much, and what kind of change it is. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wte/near.h>

#include "json.h"
#include "open.h"
#include "opt.h"
#include "out.h"

static const cli_option options[] = {
    { "by-token", '\0', false, CLI_FLAG, NULL,
      "compare the rows of equal tokens, whatever their ids", NULL },
    { "top", 'k', false, CLI_UNSIGNED, "K", "show so many of the rows that moved farthest", "10" },
    CLI_OPTIONS_END,
};

/* Ids of a kind of change that are shown as text; --json has all. */
#define IDS_SHOWN 10

typedef struct job {
    cli *c;
    wte_model *model[2]; /* A, B */
    const wte_model_table *table[2];
    bool matched; /* both have tokens */
    wte_vocab_match match;
    uint64_t *b_of; /* --by-token */
    uint8_t *changes;
    wte_row_change *most;
    uint64_t top;
    wte_diff diff;
    char both[2 * 4096]; /* the two paths, should one of the files shrink */
} job;

/* Text ---------------------------------------------------------------------------------------- */

static void print_model(const job *j, int i)
{
    const wte_model_table *t = j->table[i];
    const char *path = wte_model_path(j->model[i]);
    printf("%c  ", "AB"[i]);
    cli_put_safe(stdout, path, strlen(path));
    if (strcmp(path, t->name) != 0) {
        fputs(": ", stdout);
        cli_put_safe(stdout, t->name, strlen(t->name));
    }
    printf(", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim, cli_stored_as(t));
}

/* Whether rows are made of what is stored. */
static bool is_decoded(const wte_model_table *t)
{
    return t->block || t->scheme;
}

/* Blocks of one type have equal rows when these are decoded to the same bits; of two types the rows
 * may be equal, but not what is stored. */
static bool is_same(const job *j)
{
    return j->diff.same && strcmp(cli_stored_as(j->table[0]), cli_stored_as(j->table[1])) == 0;
}

static void print_verdict(const job *j)
{
    const wte_diff *d = &j->diff;
    const char *unit = j->b_of ? "token by token" : "row by row";
    const uint64_t elsewhere = d->count[WTE_CHANGE_ONLY_IN_A] + d->only_in_b;
    fputs(cli_bold(j->c), stdout);
    if (is_same(j))
        printf("bit-equal%s, %s: all %" PRIu64 " rows",
               is_decoded(j->table[0]) ? " when decoded" : "", unit, d->compared);
    else if (d->same)
        printf("equal values, stored in two types, %s: all %" PRIu64 " rows", unit, d->compared);
    else if (d->changed)
        printf("different, %s: %" PRIu64 " of %" PRIu64 " rows changed", unit, d->changed,
               d->compared);
    else if (d->count[WTE_CHANGE_SAME_VALUES])
        printf("equal values, not equal bits, %s: all %" PRIu64 " rows that both have", unit,
               d->compared);
    else
        printf("bit-equal in the %" PRIu64 " rows that both have, %s", d->compared, unit);
    if (elsewhere) printf("; %" PRIu64 " row%s only in one", elsewhere, elsewhere == 1 ? "" : "s");
    printf("%s\n", cli_plain(j->c));
}

/* The first ids with that change, and their tokens. */
static void print_ids(const job *j, wte_change change)
{
    uint64_t shown = 0;
    fputs("   ", stdout);
    for (uint64_t id = 0; id < j->table[0]->rows; id++) {
        if (j->changes[id] != change) continue;
        if (shown++ == IDS_SHOWN) {
            fputs(" ...", stdout);
            return;
        }
        printf(" %" PRIu64, id);
        if (cli_put_token(NULL, j->model[0], (int64_t)id)) putchar(' ');
        cli_put_token(stdout, j->model[0], (int64_t)id);
    }
}

static void print_counts(const job *j)
{
    const bool decoded = is_decoded(j->table[0]) || is_decoded(j->table[1]);
    for (uint32_t i = 0; i < WTE_CHANGES; i++) {
        const wte_change change = (wte_change)i;
        if (j->diff.count[i] == 0) continue;
        printf("  %-18s%10" PRIu64,
               decoded && change == WTE_CHANGE_SAME_BITS ? "equal when decoded"
                                                         : wte_change_name(change),
               j->diff.count[i]);
        if (change > WTE_CHANGE_MOVED) print_ids(j, change);
        putchar('\n');
    }
    if (j->diff.only_in_b) printf("  %-18s%10" PRIu64 "\n", "only in B", j->diff.only_in_b);
}

static void print_decades(const job *j)
{
    static const char *const names[WTE_DECADES] = {
        "below 1e-6", "to 1e-5", "to 1e-4", "to 1e-3", "to 0.01", "to 0.1", "to 1", "1 or more"
    };
    uint64_t any = 0;
    for (uint32_t i = 0; i < WTE_DECADES; i++) any += j->diff.decade[i];
    if (any == 0) return;
    puts("\nchanged rows by distance / norm of the row in A");
    for (uint32_t i = 0; i < WTE_DECADES; i++)
        if (j->diff.decade[i]) printf("  %-18s%10" PRIu64 "\n", names[i], j->diff.decade[i]);
}

static void print_most(const job *j)
{
    if (j->diff.n_largest == 0) return;
    printf("\nmoved farthest\n%8s", "id");
    if (j->b_of) printf("  %8s", "id in B");
    printf("  %-12s%-12s%-12s%-10s%s\n", "distance", "relative", "largest", "cosine", "change");
    for (uint64_t i = 0; i < j->diff.n_largest; i++) {
        const wte_row_change *r = &j->most[i];
        printf("%8" PRIu64, r->a);
        if (j->b_of) printf("  %8" PRIu64, r->b);
        printf("  %-12.4g%-12.4g%-12.4g%-10.4f%s", r->distance, r->relative, r->largest, r->cosine,
               wte_change_name(r->change));
        if (cli_put_token(NULL, j->model[0], (int64_t)r->a)) fputs("  ", stdout);
        cli_put_token(stdout, j->model[0], (int64_t)r->a);
        putchar('\n');
    }
}

static void print_tokens(const job *j)
{
    const wte_vocab_match *m = &j->match;
    if (!j->matched) return;
    if (m->conflicts == 0 && m->only_a == 0 && m->other_id == 0) {
        printf("  tokens            the same: %" PRIu64 " ids name the same token in both\n",
               m->same_id);
        return;
    }
    printf("  tokens            %" PRIu64 " ids name the same token in both, %" PRIu64
           " another one; %" PRIu64 " tokens of A have another id in B, %" PRIu64 " none\n",
           m->same_id, m->conflicts, m->other_id, m->only_a);
    if (m->conflicts == 0) return;
    printf("                    id %" PRIu64 " is ", m->first_conflict);
    cli_put_token(stdout, j->model[0], (int64_t)m->first_conflict);
    fputs(" in A and ", stdout);
    cli_put_token(stdout, j->model[1], (int64_t)m->first_conflict);
    puts(j->b_of ? " in B" : " in B: --by-token compares equal tokens");
}

static void print_text(const job *j)
{
    print_model(j, 0);
    print_model(j, 1);
    print_verdict(j);
    print_counts(j);
    print_tokens(j);
    print_decades(j);
    print_most(j);
}

/* JSON ---------------------------------------------------------------------------------------- */

static void json_model(cli_json *json, const job *j, int i)
{
    const wte_model_table *t = j->table[i];
    const char *path = wte_model_path(j->model[i]);
    cli_json_object(json, i ? "b" : "a");
    cli_json_bytes(json, "model", path, strlen(path));
    cli_json_bytes(json, "tensor", t->name, strlen(t->name));
    cli_json_unsigned(json, "rows", t->rows);
    cli_json_unsigned(json, "dim", t->dim);
    cli_json_text(json, "dtype", wte_type_name(t->dtype, t->block));
    if (t->scheme) cli_json_text(json, "scheme", t->scheme);
    cli_json_close(json);
}

static void json_counts(cli_json *json, const job *j)
{
    static const char *const keys[WTE_CHANGES] = { "bit_equal",     "equal_values", "moved",
                                                   "reinitialised", "became_zero",  "was_zero",
                                                   "nonfinite",     "only_in_a" };
    const wte_diff *d = &j->diff;
    cli_json_object(json, "rows");
    cli_json_unsigned(json, "compared", d->compared);
    for (uint32_t i = 0; i < WTE_CHANGES; i++) cli_json_unsigned(json, keys[i], d->count[i]);
    cli_json_unsigned(json, "only_in_b", d->only_in_b);
    cli_json_unsigned(json, "changed", d->changed);
    cli_json_close(json);
    cli_json_object(json, "ids");
    for (uint32_t i = WTE_CHANGE_REINITIALISED; i < WTE_CHANGES; i++) {
        cli_json_line(json, keys[i]);
        for (uint64_t id = 0; id < j->table[0]->rows; id++)
            if (j->changes[id] == i) cli_json_unsigned(json, NULL, id);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_line(json, "relative_decades");
    for (uint32_t i = 0; i < WTE_DECADES; i++) cli_json_unsigned(json, NULL, d->decade[i]);
    cli_json_close(json);
}

static void json_tokens(cli_json *json, const job *j)
{
    const wte_vocab_match *m = &j->match;
    if (!j->matched) {
        cli_json_null(json, "tokens");
        return;
    }
    cli_json_object(json, "tokens");
    cli_json_unsigned(json, "same_id", m->same_id);
    cli_json_unsigned(json, "other_id", m->other_id);
    cli_json_unsigned(json, "only_in_a", m->only_a);
    cli_json_unsigned(json, "conflicting_ids", m->conflicts);
    if (m->conflicts)
        cli_json_unsigned(json, "first_conflict", m->first_conflict);
    else
        cli_json_null(json, "first_conflict");
    cli_json_close(json);
}

static void json_row(cli_json *json, const job *j, const wte_row_change *r)
{
    size_t bytes;
    const char *text = cli_token_text(j->model[0], (int64_t)r->a, &bytes);
    cli_json_short(json, NULL);
    cli_json_unsigned(json, "id", r->a);
    cli_json_unsigned(json, "id_in_b", r->b);
    if (text) cli_json_bytes(json, "token", text, bytes);
    cli_json_text(json, "change", wte_change_name(r->change));
    cli_json_f64(json, "distance", r->distance);
    cli_json_f64(json, "relative", r->relative);
    cli_json_f64(json, "largest", r->largest);
    cli_json_f64(json, "cosine", r->cosine);
    cli_json_f64(json, "norm_a", r->norm_a);
    cli_json_f64(json, "norm_b", r->norm_b);
    cli_json_close(json);
}

static void print_json(const job *j)
{
    cli_json json;
    cli_json_begin(&json, stdout, "wte.diff/1");
    json_model(&json, j, 0);
    json_model(&json, j, 1);
    cli_json_text(&json, "compared_by", j->b_of ? "token" : "id");
    cli_json_bool(&json, "bit_equal", is_same(j));
    json_counts(&json, j);
    cli_json_f64(&json, "cosine_limit", j->diff.cosine_limit);
    json_tokens(&json, j);
    cli_json_list(&json, "moved_farthest");
    for (uint64_t i = 0; i < j->diff.n_largest; i++) json_row(&json, j, &j->most[i]);
    cli_json_close(&json);
    cli_json_end(&json);
}

/* ---------------------------------------------------------------------------------------------- */

static int open_both(job *j)
{
    cli *c = j->c;
    for (int i = 0; i < 2; i++) {
        int code = cli_open_model(c, c->words[i], CLI_VOCAB_ALL, &j->model[i]);
        if (!code) code = cli_input_table(c, j->model[i], &j->table[i]);
        if (code) return code;
    }
    snprintf(j->both, sizeof j->both, "%s or %s", c->words[0], c->words[1]);
    cli_reading(j->both);
    if (j->table[0]->dim == j->table[1]->dim) return CLI_DONE;
    return cli_say_fail(c, CLI_IS_FILE_SHAPE,
                        "rows of %" PRIu64 " numbers (%s) cannot be compared with rows of %" PRIu64
                        " (%s)",
                        j->table[0]->dim, c->words[0], j->table[1]->dim, c->words[1]);
}

static int match_tokens(job *j)
{
    const cli *c = j->c;
    const wte_vocab *a = wte_model_vocab(j->model[0]), *b = wte_model_vocab(j->model[1]);
    const uint64_t rows = j->table[0]->rows;
    const bool by_token = cli_given(c, "by-token");
    const char *problem = wte_model_vocab_problem(j->model[a ? 1 : 0]);
    if (by_token && (!a || !b) && *problem) return cli_say_fail(c, CLI_INPUT, "%s", problem);
    if (by_token && (!a || !b))
        return cli_say_fail(c, CLI_USAGE, "--by-token: %s has no vocabulary", c->words[a ? 1 : 0]);
    if (by_token && !(j->b_of = calloc((size_t)rows + 1, sizeof *j->b_of)))
        return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    j->matched = a && b;
    if (j->matched) wte_vocab_align(a, b, rows, j->table[1]->rows, j->b_of, &j->match);
    return CLI_DONE;
}

static int compare(job *j)
{
    cli *c = j->c;
    wte_diff_options opt = WTE_DIFF_OPTIONS_INIT;
    cli_progress progress;
    wte_error err;
    const uint64_t rows = j->table[0]->rows;
    cli_unsigned(c, "top", 10, &j->top);
    if (j->top > rows) j->top = rows;
    const int code = cli_pool(c, &opt.pool);
    if (code) return code;
    j->changes = calloc((size_t)rows + 1, 1);
    j->most = calloc((size_t)j->top + 1, sizeof *j->most);
    if (!j->changes || !j->most) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    opt.b_of = j->b_of;
    opt.changes = j->changes;
    opt.largest = j->most;
    opt.max_largest = j->top;
    opt.progress = cli_progress_start(&progress, c, "comparing rows");
    const wte_status status =
        wte_diff_rows(&j->table[0]->source, &j->table[1]->source, &opt, &j->diff, &err);
    cli_progress_stop(&progress);
    return status == WTE_OK ? CLI_DONE : cli_fail(c, status, CLI_SIDE_INPUT, &err);
}

static int run(cli *c)
{
    job *j = calloc(1, sizeof *j);
    if (!j) return cli_say_fail(c, CLI_OUTPUT, "out of memory");
    j->c = c;
    int code = open_both(j);
    if (!code) code = match_tokens(j);
    if (!code) code = compare(j);
    if (!code) {
        if (c->json)
            print_json(j);
        else
            print_text(j);
        code = is_same(j) ? CLI_DONE : CLI_NO;
    }
    free(j->b_of);
    free(j->changes);
    free(j->most);
    cli_reading(c->words[0]);
    free(j);
    return code;
}

const cli_command cmd_diff = {
    .name = "diff",
    .group = CLI_LOOK,
    .synopsis = "A B",
    .summary = "tell which rows changed between two models, by how much, and how",
    .options = options,
    .common = CLI_WITH_JSON | CLI_WITH_MODEL | CLI_WITH_THREADS,
    .min_words = 2,
    .max_words = 2,
    .paths = 2,
    .path_kind = CLI_READ_MODEL,
    .notes = "Rows are compared by id, or with --by-token by the text of their token; formats\n"
             "and types may differ. A row is bit-equal, or has equal values in another type,\n"
             "or it moved. Re-initialised: the cosine of old and new row is within\n"
             "4 / sqrt(dim), at most 0.5, of zero, and the norm changed by over 1%.\n"
             "Exit 0 when both tables are bit-equal, else 1.",
    .run = run,
};
