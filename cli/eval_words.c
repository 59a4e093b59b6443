/* Files of word pairs and of analogies, as wte eval takes them: which words are tokens, what the
 * table makes of them, and how that is told. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "open.h"
#include "out.h"

#define WORDS_SHOWN 10 /* that are missing; --verbose and --json name all */

static int no_memory(const eval_job *j)
{
    return cli_say_fail(j->c, CLI_OUTPUT, "out of memory");
}

/* Words --------------------------------------------------------------------------------------- */

static uint32_t forms_of(const cli *c)
{
    return (cli_given(c, "lower") ? WTE_WORD_LOWER : 0) |
           (cli_given(c, "leading-space") ? WTE_WORD_SPACED : 0);
}

/* The row of a word, or WTE_NO_INDEX after it was noted as missing. */
static uint64_t find_word(const eval_job *j, wte_word word, eval_missing *missing)
{
    uint64_t row;
    const uint64_t id =
        wte_word_row(wte_model_vocab(j->model[0]), word, forms_of(j->c), j->table[0]->rows);
    if (id != WTE_NO_INDEX && wte_model_row(j->model[0], id, &row, NULL) == WTE_OK) return row;
    missing->words[missing->n++] = word;
    return WTE_NO_INDEX;
}

static int by_text(const void *a, const void *b)
{
    const wte_word *x = a, *y = b;
    const size_t n = (size_t)(x->bytes < y->bytes ? x->bytes : y->bytes);
    const int order = memcmp(x->text, y->text, n);
    if (order) return order;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Each word once, in the order of their bytes. */
static void settle_missing(eval_missing *m)
{
    size_t kept = 0;
    if (m->n) qsort(m->words, m->n, sizeof *m->words, by_text);
    for (size_t i = 0; i < m->n; i++)
        if (i == 0 || by_text(&m->words[i], &m->words[kept - 1]) != 0)
            m->words[kept++] = m->words[i];
    m->n = kept;
}

static void print_missing(const eval_job *j, const eval_missing *m)
{
    const size_t shown = j->c->verbose || m->n <= WORDS_SHOWN ? m->n : WORDS_SHOWN;
    if (m->n == 0) return;
    printf("  missing     %zu word%s:", m->n, m->n == 1 ? "" : "s");
    for (size_t i = 0; i < shown; i++) {
        putchar(' ');
        cli_put_safe(stdout, m->words[i].text, (size_t)m->words[i].bytes);
    }
    puts(shown < m->n ? " ..." : "");
}

static void json_missing(cli_json *json, const eval_missing *m)
{
    cli_json_line(json, "missing_words");
    for (size_t i = 0; i < m->n; i++)
        cli_json_bytes(json, NULL, m->words[i].text, (size_t)m->words[i].bytes);
    cli_json_close(json);
}

/* Similarity ---------------------------------------------------------------------------------- */

static int score_pairs(const eval_job *j, eval_similarity *s, uint64_t *rows, double *judged)
{
    wte_error err;
    const uint64_t n = wte_pairs_count(s->pairs);
    for (uint64_t i = 0; i < n; i++) {
        const wte_pair *pair = wte_pairs_at(s->pairs, i);
        rows[2 * i] = find_word(j, pair->a, &s->missing);
        rows[2 * i + 1] = find_word(j, pair->b, &s->missing);
        judged[i] = pair->judged;
    }
    settle_missing(&s->missing);
    const wte_status status =
        wte_eval_similarity(&j->table[0]->source, rows, judged, n, NULL, &s->result, &err);
    return status == WTE_OK ? CLI_DONE : cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
}

static wte_eval_file_options file_options(const cli *c)
{
    wte_eval_file_options opt = WTE_EVAL_FILE_OPTIONS_INIT;
    cli_unsigned(c, "max-bytes", 0, &opt.max_bytes);
    return opt;
}

static int run_similarity(const eval_job *j, eval_similarity *s)
{
    wte_error err;
    const wte_eval_file_options opt = file_options(j->c);
    const wte_status status = wte_pairs_open(s->path, &opt, &s->pairs, &err);
    if (status != WTE_OK) return cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
    const size_t n = (size_t)wte_pairs_count(s->pairs);
    uint64_t *rows = calloc(2 * n, sizeof *rows);
    double *judged = calloc(n, sizeof *judged);
    s->missing.words = calloc(2 * n, sizeof *s->missing.words);
    const int code =
        rows && judged && s->missing.words ? score_pairs(j, s, rows, judged) : no_memory(j);
    free(rows);
    free(judged);
    return code;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void print_similarity(const eval_job *j, const eval_similarity *s)
{
    const wte_similarity *r = &s->result;
    char one[EVAL_NUMBER], two[EVAL_NUMBER];
    wte_pairs_layout layout;
    wte_pairs_layout_of(s->pairs, &layout);
    fputs("\nsimilarity  ", stdout);
    cli_put_safe(stdout, s->path, strlen(s->path));
    printf(": %" PRIu64 " pair%s, judged in column %" PRIu64, r->pairs, r->pairs == 1 ? "" : "s",
           layout.column + 1);
    if (layout.title.text) {
        putchar(' ');
        cli_put_quoted(stdout, layout.title.text, (size_t)layout.title.bytes);
    }
    printf("\n  covered     %" PRIu64 " (%.1f%%)\n", r->covered, 100 * share(r->covered, r->pairs));
    printf("  spearman    %s\n  pearson     %s\n", eval_number(one, r->spearman),
           eval_number(two, r->pearson));
    print_missing(j, &s->missing);
}

static void json_similarity(cli_json *json, const eval_similarity *s)
{
    const wte_similarity *r = &s->result;
    wte_pairs_layout layout;
    wte_pairs_layout_of(s->pairs, &layout);
    cli_json_object(json, NULL);
    cli_json_bytes(json, "file", s->path, strlen(s->path));
    cli_json_unsigned(json, "pairs", r->pairs);
    cli_json_unsigned(json, "judged_column", layout.column + 1);
    if (layout.title.text)
        cli_json_bytes(json, "judged_title", layout.title.text, (size_t)layout.title.bytes);
    else
        cli_json_null(json, "judged_title");
    cli_json_unsigned(json, "missing_pairs", r->missing);
    cli_json_unsigned(json, "covered", r->covered);
    cli_json_f64(json, "spearman", r->spearman);
    cli_json_f64(json, "pearson", r->pearson);
    json_missing(json, &s->missing);
    cli_json_close(json);
}

/* Analogies ----------------------------------------------------------------------------------- */

static void add_to(eval_tally *to, const eval_tally *t)
{
    to->right += t->right;
    to->asked += t->asked;
    to->questions += t->questions;
}

static void count_answers(eval_analogies *a, const uint64_t *rows, const uint64_t *answers)
{
    for (uint64_t i = 0; i < wte_analogies_count(a->analogies); i++) {
        eval_tally *t = &a->sections[wte_analogies_at(a->analogies, i)->section];
        t->questions++;
        t->asked += answers[i] != WTE_NO_INDEX;
        t->right += answers[i] != WTE_NO_INDEX && answers[i] == rows[4 * i + 3];
    }
    for (uint64_t i = 0; i < wte_analogies_n_sections(a->analogies); i++) {
        const bool syntactic = wte_analogies_section(a->analogies, i)->syntactic;
        add_to(syntactic ? &a->syntactic : &a->semantic, &a->sections[i]);
        add_to(&a->total, &a->sections[i]);
    }
}

static int answer(const eval_job *j, eval_analogies *a, uint64_t *rows, uint64_t *answers)
{
    cli *c = j->c;
    wte_analogy_options opt = WTE_ANALOGY_OPTIONS_INIT;
    cli_progress progress;
    wte_error err;
    const wte_row_source *table = &j->table[0]->source;
    const uint64_t n = wte_analogies_count(a->analogies);
    const int code = cli_pool(c, &opt.pool);
    if (code) return code;
    for (uint64_t i = 0; i < n; i++)
        for (int w = 0; w < 4; w++)
            rows[4 * i + (uint64_t)w] =
                find_word(j, wte_analogies_at(a->analogies, i)->word[w], &a->missing);
    settle_missing(&a->missing);
    cli_unsigned(c, "restrict", 300000, &opt.first_rows);
    a->rows = opt.first_rows && opt.first_rows < table->rows ? opt.first_rows : table->rows;
    opt.progress = cli_progress_start(&progress, c, "answering analogies");
    const wte_status status = wte_eval_analogies(table, rows, n, &opt, answers, &err);
    cli_progress_stop(&progress);
    if (status != WTE_OK) return cli_fail(c, status, CLI_SIDE_INPUT, &err);
    count_answers(a, rows, answers);
    return CLI_DONE;
}

static int run_analogies(const eval_job *j, eval_analogies *a)
{
    wte_error err;
    const wte_eval_file_options opt = file_options(j->c);
    const wte_status status = wte_analogies_open(a->path, &opt, &a->analogies, &err);
    if (status != WTE_OK) return cli_fail(j->c, status, CLI_SIDE_INPUT, &err);
    const size_t n = (size_t)wte_analogies_count(a->analogies);
    uint64_t *rows = calloc(4 * n, sizeof *rows), *answers = calloc(n, sizeof *answers);
    a->missing.words = calloc(4 * n, sizeof *a->missing.words);
    a->sections = calloc((size_t)wte_analogies_n_sections(a->analogies), sizeof *a->sections);
    const bool ready = rows && answers && a->missing.words && a->sections;
    const int code = ready ? answer(j, a, rows, answers) : no_memory(j);
    free(rows);
    free(answers);
    return code;
}

static void print_tally(const char *name, size_t bytes, const eval_tally *t)
{
    const size_t width = cli_quoted_width(name, bytes) - 2; /* without the quotes */
    fputs("  ", stdout);
    cli_put_safe(stdout, name, bytes);
    printf("%*s  %7" PRIu64 "  %7" PRIu64 "  %9" PRIu64, width < 28 ? (int)(28 - width) : 0, "",
           t->right, t->asked, t->questions);
    if (t->asked)
        printf("  %8.4f\n", share(t->right, t->asked));
    else
        printf("  %8s\n", "-");
}

static void print_analogies(const eval_job *j, const eval_analogies *a)
{
    fputs("\nanalogies   ", stdout);
    cli_put_safe(stdout, a->path, strlen(a->path));
    printf(": %" PRIu64 " questions, answers among %" PRIu64 " rows\n", a->total.questions,
           a->rows);
    printf("  %-28s  %7s  %7s  %9s  %8s\n", "section", "right", "asked", "questions", "accuracy");
    for (uint64_t i = 0; i < wte_analogies_n_sections(a->analogies); i++) {
        const wte_word name = wte_analogies_section(a->analogies, i)->name;
        print_tally(name.text, (size_t)name.bytes, &a->sections[i]);
    }
    if (a->syntactic.questions && a->semantic.questions) {
        print_tally("semantic", strlen("semantic"), &a->semantic);
        print_tally("syntactic", strlen("syntactic"), &a->syntactic);
    }
    print_tally("total", strlen("total"), &a->total);
    print_missing(j, &a->missing);
}

static void json_tally(cli_json *json, const eval_tally *t)
{
    cli_json_unsigned(json, "right", t->right);
    cli_json_unsigned(json, "asked", t->asked);
    cli_json_unsigned(json, "questions", t->questions);
    if (t->asked)
        cli_json_f64(json, "accuracy", share(t->right, t->asked));
    else
        cli_json_null(json, "accuracy");
}

static void json_part(cli_json *json, const char *key, const eval_tally *t)
{
    cli_json_short(json, key);
    json_tally(json, t);
    cli_json_close(json);
}

static void json_analogies(cli_json *json, const eval_analogies *a)
{
    cli_json_object(json, NULL);
    cli_json_bytes(json, "file", a->path, strlen(a->path));
    cli_json_unsigned(json, "answers_among", a->rows);
    cli_json_list(json, "sections");
    for (uint64_t i = 0; i < wte_analogies_n_sections(a->analogies); i++) {
        const wte_analogy_section *section = wte_analogies_section(a->analogies, i);
        cli_json_short(json, NULL);
        cli_json_bytes(json, "name", section->name.text, (size_t)section->name.bytes);
        cli_json_bool(json, "syntactic", section->syntactic);
        json_tally(json, &a->sections[i]);
        cli_json_close(json);
    }
    cli_json_close(json);
    json_part(json, "semantic", &a->semantic);
    json_part(json, "syntactic", &a->syntactic);
    json_part(json, "total", &a->total);
    json_missing(json, &a->missing);
    cli_json_close(json);
}

/* ---------------------------------------------------------------------------------------------- */

int eval_words_run(eval_job *j)
{
    const cli *c = j->c;
    int code = CLI_DONE;
    j->n_similarity = (int)cli_times(c, "similarity");
    j->n_analogies = (int)cli_times(c, "analogy");
    j->similarity = calloc((size_t)j->n_similarity + 1, sizeof *j->similarity);
    j->analogies = calloc((size_t)j->n_analogies + 1, sizeof *j->analogies);
    if (!j->similarity || !j->analogies) return no_memory(j);
    const cli_value *v = cli_first(c, "similarity");
    for (int i = 0; !code && v; i++, v = cli_next(c, v)) {
        j->similarity[i].path = v->text;
        code = run_similarity(j, &j->similarity[i]);
    }
    v = cli_first(c, "analogy");
    for (int i = 0; !code && v; i++, v = cli_next(c, v)) {
        j->analogies[i].path = v->text;
        code = run_analogies(j, &j->analogies[i]);
    }
    return code;
}

void eval_words_print(const eval_job *j)
{
    for (int i = 0; i < j->n_similarity; i++) print_similarity(j, &j->similarity[i]);
    for (int i = 0; i < j->n_analogies; i++) print_analogies(j, &j->analogies[i]);
}

void eval_words_json(const eval_job *j, cli_json *json)
{
    cli_json_list(json, "similarity");
    for (int i = 0; i < j->n_similarity; i++) json_similarity(json, &j->similarity[i]);
    cli_json_close(json);
    cli_json_list(json, "analogies");
    for (int i = 0; i < j->n_analogies; i++) json_analogies(json, &j->analogies[i]);
    cli_json_close(json);
}

void eval_words_clear(eval_job *j)
{
    for (int i = 0; j->similarity && i < j->n_similarity; i++) {
        wte_pairs_free(j->similarity[i].pairs);
        free(j->similarity[i].missing.words);
    }
    for (int i = 0; j->analogies && i < j->n_analogies; i++) {
        wte_analogies_free(j->analogies[i].analogies);
        free(j->analogies[i].missing.words);
        free(j->analogies[i].sections);
    }
    free(j->similarity);
    free(j->analogies);
}
