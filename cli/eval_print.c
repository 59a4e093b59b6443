/* What wte eval tells, as text and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "eval.h"
#include "open.h"
#include "out.h"

static void put_model(const eval_job *j, int i)
{
    const wte_model_table *t = j->table[i];
    const char *path = wte_model_path(j->model[i]);
    cli_put_safe(stdout, path, strlen(path));
    if (strcmp(path, t->name) != 0) {
        fputs(": ", stdout);
        cli_put_safe(stdout, t->name, strlen(t->name));
    }
    printf(", %" PRIu64 " x %" PRIu64 " %s\n", t->rows, t->dim, cli_stored_as(t));
}

const char *eval_number(char buf[EVAL_NUMBER], double x)
{
    snprintf(buf, EVAL_NUMBER, isnan(x) ? "-" : "%.4f", x);
    return buf;
}

static void print_agreement(const eval_job *j)
{
    const wte_agreement *a = &j->agreement;
    char one[EVAL_NUMBER], two[EVAL_NUMBER];
    fputs("\nagreement   with ", stdout);
    put_model(j, 1);
    printf("  shared      %" PRIu64 " %s", a->shared,
           j->by_token ? "tokens by their texts" : "rows by number");
    if (j->by_token) printf("; %" PRIu64 " of the first model are not in the other", j->not_shared);
    putchar('\n');
    if (a->left_out)
        printf("  left out    %" PRIu64 " of zeros, or with NaN or infinity\n", a->left_out);
    if (a->shared < 2) return;
    printf("  neighbours  %.4f of the %" PRIu32 " nearest are the same, over %" PRIu64
           " tokens; by chance %.4f\n",
           a->common, a->top, a->sampled, a->by_chance);
    printf("  cosines     pearson %s, spearman %s, over %" PRIu64 " pairs\n",
           eval_number(one, a->pearson), eval_number(two, a->spearman), a->pairs);
}

static void print_spectrum(const eval_job *j)
{
    const wte_spectrum *raw = &j->isotropy.raw, *centred = &j->isotropy.centred;
    char one[EVAL_NUMBER], two[EVAL_NUMBER];
    printf("\n%-30s  %10s  %10s\n", "singular values", "as stored", "centred");
    printf("  %-28s  %10.4g  %10.4g\n", "largest", raw->largest, centred->largest);
    printf("  %-28s  %10.4g  %10.4g\n", "largest / smallest", raw->condition, centred->condition);
    printf("  %-28s  %10.2f  %10.2f\n", "effective rank", raw->effective_rank,
           centred->effective_rank);
    printf("  %-28s  %10s  %10s\n", "share of the first", eval_number(one, raw->share_1),
           eval_number(two, centred->share_1));
    printf("  %-28s  %10s  %10s\n", "share of the first 10", eval_number(one, raw->share_10),
           eval_number(two, centred->share_10));
    printf("  %-28s  %10" PRIu64 "  %10" PRIu64 "\n", "how many make 50%", raw->half,
           centred->half);
    printf("  %-28s  %10" PRIu64 "  %10" PRIu64 "\n", "how many make 90%", raw->most,
           centred->most);
}

static void print_isotropy(const eval_job *j)
{
    const wte_isotropy *i = &j->isotropy;
    char one[EVAL_NUMBER], two[EVAL_NUMBER], three[EVAL_NUMBER];
    puts("\nisotropy");
    printf("  rows        %" PRIu64, i->rows);
    if (i->n_zero) printf(", %" PRIu64 " of zeros", i->n_zero);
    if (i->n_nonfinite) printf("; %" PRIu64 " with NaN or infinity left out", i->n_nonfinite);
    printf("\n  lengths     mean %s, deviation %s; the mean row's %s\n",
           eval_number(one, i->norm_mean), eval_number(two, i->norm_sd),
           eval_number(three, i->mean_norm));
    printf("  cosines     mean %s over all pairs; %s, deviation %s over %" PRIu64 " drawn\n",
           eval_number(one, i->cosine), eval_number(two, i->pair_mean),
           eval_number(three, i->pair_sd), i->pairs);
    printf("  partition   %s (least / greatest; 1 = the same in all directions)\n",
           eval_number(one, i->partition));
    if (i->rows && j->table[0]->dim) print_spectrum(j);
}

void eval_print(const eval_job *j)
{
    put_model(j, 0);
    eval_words_print(j);
    if (j->table[1]) print_agreement(j);
    if (j->with_isotropy) print_isotropy(j);
}

/* JSON ---------------------------------------------------------------------------------------- */

static void json_model(cli_json *json, const eval_job *j, int i)
{
    const wte_model_table *t = j->table[i];
    const char *path = wte_model_path(j->model[i]);
    cli_json_bytes(json, "model", path, strlen(path));
    cli_json_bytes(json, "tensor", t->name, strlen(t->name));
    cli_json_unsigned(json, "rows", t->rows);
    cli_json_unsigned(json, "dim", t->dim);
}

static void json_agreement(cli_json *json, const eval_job *j)
{
    const wte_agreement *a = &j->agreement;
    if (!j->table[1]) {
        cli_json_null(json, "agreement");
        return;
    }
    cli_json_object(json, "agreement");
    json_model(json, j, 1);
    cli_json_text(json, "matched_by", j->by_token ? "token" : "row");
    cli_json_unsigned(json, "shared", a->shared);
    cli_json_unsigned(json, "left_out", a->left_out);
    if (j->by_token)
        cli_json_unsigned(json, "not_shared", j->not_shared);
    else
        cli_json_null(json, "not_shared");
    cli_json_unsigned(json, "top", a->top);
    cli_json_unsigned(json, "sampled", a->sampled);
    cli_json_f64(json, "common_neighbours", a->common);
    cli_json_f64(json, "by_chance", a->by_chance);
    cli_json_unsigned(json, "pairs", a->pairs);
    cli_json_f64(json, "pearson", a->pearson);
    cli_json_f64(json, "spearman", a->spearman);
    cli_json_close(json);
}

static void json_spectrum(cli_json *json, const char *key, const wte_spectrum *s,
                          const double *values, uint64_t n)
{
    cli_json_object(json, key);
    cli_json_f64(json, "effective_rank", s->effective_rank);
    cli_json_f64(json, "condition", s->condition);
    cli_json_f64(json, "share_of_first", s->share_1);
    cli_json_f64(json, "share_of_first_10", s->share_10);
    cli_json_unsigned(json, "values_for_50_percent", s->half);
    cli_json_unsigned(json, "values_for_90_percent", s->most);
    cli_json_line(json, "singular_values");
    for (uint64_t i = 0; i < n; i++) cli_json_f64(json, NULL, values[i]);
    cli_json_close(json);
    cli_json_close(json);
}

static void json_isotropy(cli_json *json, const eval_job *j)
{
    const wte_isotropy *i = &j->isotropy;
    if (!j->with_isotropy) {
        cli_json_null(json, "isotropy");
        return;
    }
    cli_json_object(json, "isotropy");
    cli_json_unsigned(json, "rows", i->rows);
    cli_json_unsigned(json, "zero_rows", i->n_zero);
    cli_json_unsigned(json, "nonfinite_rows", i->n_nonfinite);
    cli_json_f64(json, "norm_mean", i->norm_mean);
    cli_json_f64(json, "norm_deviation", i->norm_sd);
    cli_json_f64(json, "mean_row_norm", i->mean_norm);
    cli_json_f64(json, "cosine_mean", i->cosine);
    cli_json_unsigned(json, "pairs", i->pairs);
    cli_json_f64(json, "pair_cosine_mean", i->pair_mean);
    cli_json_f64(json, "pair_cosine_deviation", i->pair_sd);
    cli_json_f64(json, "partition", i->partition);
    json_spectrum(json, "as_stored", &i->raw, j->singular, j->table[0]->dim);
    json_spectrum(json, "centred", &i->centred, j->centred, j->table[0]->dim);
    cli_json_close(json);
}

void eval_json(const eval_job *j)
{
    cli_json json;
    cli_json_begin(&json, stdout, "wte.eval/1");
    json_model(&json, j, 0);
    eval_words_json(j, &json);
    json_agreement(&json, j);
    json_isotropy(&json, j);
    cli_json_end(&json);
}
