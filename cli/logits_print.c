/* What `wte logits` shows to people and to programs. */
#include "logits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "open.h"

/* Text ------------------------------------------------------------------------------------------
 */

/* Four decimals in ten columns; an exponent where these say nothing. */
static void put_real(double value)
{
    const double size = fabs(value);
    if (isfinite(value) && (size >= 1e5 || (size > 0 && size < 1e-3)))
        printf("  %10.3e", value);
    else
        printf("  %10.4f", value);
}

static void put_id(int64_t id)
{
    printf("  %8" PRId64, id);
}

static bool has_names(const logits_job *j)
{
    return wte_model_vocab(j->head.model) && !j->head.nameless;
}

static void put_token(const logits_job *j, int64_t id)
{
    size_t bytes;
    if (has_names(j) && cli_vocab_text(j->head.model, id, &bytes)) fputs("  ", stdout);
    cli_head_put_token(&j->head, id, stdout);
    putchar('\n');
}

/* Which hidden vector the lines below answer. */
static void put_origin(const logits_job *j, uint64_t vector)
{
    putchar('\n');
    if (j->origin) {
        printf("id %" PRId64, j->origin[vector]);
        if (cli_put_token(NULL, j->head.model, j->origin[vector])) fputs("  ", stdout);
        cli_put_token(stdout, j->head.model, j->origin[vector]);
        putchar('\n');
    } else if (j->head.hidden.n > 1) {
        printf("vector %" PRIu64 "\n", vector);
    }
}

static void put_sums(const logits_job *j, uint64_t at)
{
    const wte_softmax_stats *sums = &j->sums[at];
    const logits_bad *bad = &j->bad[at];
    if (j->head.masked)
        printf("  the rows without a token would take %.4g of the probability\n",
               (double)sums->masked_prob);
    if (!bad->count) return;
    printf("  %" PRIu64 " logit%s NaN or infinite: id%s", bad->count,
           bad->count == 1 ? " is" : "s are", bad->count == 1 ? "" : "s");
    for (uint32_t i = 0; i < bad->n; i++)
        printf("%s %" PRId64, i ? "," : "", cli_head_token(&j->head, bad->row[i]));
    puts(bad->count > bad->n ? ", ..." : "");
}

static void print_top(const logits_job *j, uint64_t vector, uint64_t at)
{
    const wte_ranked *ranked = j->ranked + at * j->top;
    const bool named = has_names(j);
    put_origin(j, vector);
    printf("  rank        id       logit        prob     logprob%s\n", named ? "  token" : "");
    for (uint32_t i = 0; i < j->top && ranked[i].id != WTE_NO_INDEX; i++) {
        printf("%6" PRIu32, i + 1);
        put_id(cli_head_token(&j->head, ranked[i].id));
        put_real((double)ranked[i].logit);
        printf("  %10.4g", exp((double)ranked[i].logprob));
        put_real((double)ranked[i].logprob);
        put_token(j, cli_head_token(&j->head, ranked[i].id));
    }
    put_sums(j, at);
}

static void print_chosen(const logits_job *j, uint64_t vector, uint64_t at)
{
    put_origin(j, vector);
    printf("        id       logit%s\n", has_names(j) ? "  token" : "");
    for (uint64_t i = 0; i < j->n_chosen; i++) {
        const uint64_t id = (uint64_t)j->chosen[i];
        put_id(cli_head_token(&j->head, id));
        put_real((double)j->logits[at * j->n_chosen + i]);
        if (cli_head_masks(&j->head, id))
            fputs("  left out: no token has this row; --with-padding keeps it\n", stdout);
        else
            put_token(j, cli_head_token(&j->head, id));
    }
}

static void print_drawn(const logits_job *j, uint64_t vector, uint64_t at)
{
    const double logprob = (double)j->logits[at];
    if (vector == 0)
        printf("\n  vector        id        prob     logprob%s\n", has_names(j) ? "  token" : "");
    printf("%8" PRIu64, vector);
    put_id(cli_head_token(&j->head, j->drawn[at]));
    printf("  %10.4g", exp(logprob));
    put_real(logprob);
    put_token(j, cli_head_token(&j->head, j->drawn[at]));
}

static void print_hidden(const logits_job *j)
{
    if (j->origin) {
        fputs("  hidden    rows of ", stdout);
        cli_put_safe(stdout, j->input->name, strlen(j->input->name));
        if (j->factor != 1)
            printf(", times %.9g (%s)", j->factor, wte_model_config_of(j->head.model)->factor_rule);
        putchar('\n');
    }
    if (j->kind == LOGITS_SAMPLE)
        printf("  drawn     temperature %g, top-k %" PRIu32 ", top-p %g, min-p %g, seed %" PRIu64
               " (0 = off)\n",
               (double)j->sample.temperature, j->sample.top_k, j->sample.top_p, j->sample.min_p,
               j->sample.seed);
}

static void print_text(const logits_job *j, uint64_t vector, uint64_t at)
{
    switch (j->kind) {
    case LOGITS_CHOSEN: print_chosen(j, vector, at); break;
    case LOGITS_SAMPLE: print_drawn(j, vector, at); break;
    default: print_top(j, vector, at); break;
    }
}

/* JSON ------------------------------------------------------------------------------------------
 */

/* "id", and "row" where a map tells that it is another number. */
static void json_id(cli_json *json, const logits_job *j, uint64_t row)
{
    cli_json_signed(json, "id", cli_head_token(&j->head, row));
    if (j->head.map) cli_json_unsigned(json, "row", row);
}

static void json_top(cli_json *json, const logits_job *j, uint64_t at)
{
    const wte_ranked *ranked = j->ranked + at * j->top;
    cli_json_f32(json, "lse", j->sums[at].logsumexp);
    cli_json_f32(json, "padding_probability", j->sums[at].masked_prob);
    cli_json_unsigned(json, "not_finite", j->sums[at].not_finite);
    cli_json_line(json, "not_finite_ids");
    for (uint32_t i = 0; i < j->bad[at].n; i++)
        cli_json_signed(json, NULL, cli_head_token(&j->head, j->bad[at].row[i]));
    cli_json_close(json);
    cli_json_list(json, "top");
    for (uint32_t i = 0; i < j->top && ranked[i].id != WTE_NO_INDEX; i++) {
        cli_json_short(json, NULL);
        json_id(json, j, ranked[i].id);
        cli_json_f32(json, "logit", ranked[i].logit);
        cli_json_f64(json, "prob", exp((double)ranked[i].logprob));
        cli_json_f32(json, "logprob", ranked[i].logprob);
        cli_json_token(json, &j->head, cli_head_token(&j->head, ranked[i].id));
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_chosen(cli_json *json, const logits_job *j, uint64_t at)
{
    cli_json_line(json, "logits");
    for (uint64_t i = 0; i < j->n_chosen; i++)
        cli_json_f32(json, NULL, j->logits[at * j->n_chosen + i]);
    cli_json_close(json);
}

static void json_answer(cli_json *json, const logits_job *j, uint64_t vector, uint64_t at)
{
    cli_json_object(json, NULL);
    cli_json_unsigned(json, "vector", vector);
    if (j->origin) cli_json_signed(json, "of_id", j->origin[vector]);
    switch (j->kind) {
    case LOGITS_CHOSEN: json_chosen(json, j, at); break;
    case LOGITS_SAMPLE:
        json_id(json, j, j->drawn[at]);
        cli_json_f64(json, "prob", exp((double)j->logits[at]));
        cli_json_f32(json, "logprob", j->logits[at]);
        cli_json_token(json, &j->head, cli_head_token(&j->head, j->drawn[at]));
        break;
    default: json_top(json, j, at); break;
    }
    cli_json_close(json);
}

static void json_begin(cli_json *json, const logits_job *j)
{
    cli_json_begin(json, stdout, "wte.logits/1");
    cli_head_json(&j->head, json);
    if (j->origin) cli_json_f64(json, "factor", j->factor);
    if (j->kind == LOGITS_CHOSEN) {
        cli_json_line(json, "ids");
        for (uint64_t i = 0; i < j->n_chosen; i++) cli_json_signed(json, NULL, j->chosen[i]);
        cli_json_close(json);
    }
    if (j->kind == LOGITS_SAMPLE) {
        cli_json_short(json, "sample");
        cli_json_f32(json, "temperature", j->sample.temperature);
        cli_json_unsigned(json, "top_k", j->sample.top_k);
        cli_json_f64(json, "top_p", j->sample.top_p);
        cli_json_f64(json, "min_p", j->sample.min_p);
        cli_json_unsigned(json, "seed", j->sample.seed);
        cli_json_close(json);
    }
    cli_json_list(json, "answers");
}

/* -----------------------------------------------------------------------------------------------
 */

int logits_print(logits_job *j)
{
    cli_json json;
    const uint64_t n = j->head.hidden.n;
    for (uint64_t first = 0; first == 0 || first < n; first += j->block) {
        const uint64_t part = n - first < j->block ? n - first : j->block;
        const int code = logits_block(j, first, part);
        if (code) return code;
        if (j->head.options.progress) cli_progress_stop(&j->head.bar);
        if (first == 0 && j->c->json) json_begin(&json, j);
        if (first == 0 && !j->c->json) {
            cli_head_print(&j->head, stdout);
            print_hidden(j);
        }
        for (uint64_t at = 0; at < part; at++) {
            if (j->c->json)
                json_answer(&json, j, first + at, at);
            else
                print_text(j, first + at, at);
        }
    }
    if (!j->c->json) return CLI_DONE;
    cli_json_close(&json);
    cli_json_end(&json);
    return CLI_DONE;
}
