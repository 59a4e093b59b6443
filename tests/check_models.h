/* For the tests of check: tables with rows like trained ones, tokenizers, and what a report must
 * say. */
#ifndef WTE_TESTS_CHECK_MODELS_H
#define WTE_TESTS_CHECK_MODELS_H
#include <math.h>
#include <wte/check.h>

#include "model_files.h"

#define DIM 64u

/* About normal, of standard deviation 1. */
static inline double check_normal(uint64_t *seed)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)(test_noise(seed) >> 11) * 0x1p-53;
    return sum - 6;
}

/* Rows in directions of their own, with norms from 1.2 to 5: spread as trained ones are. */
static inline void trained_rows(float *to, uint64_t rows, uint64_t dim, uint64_t seed)
{
    for (uint64_t r = 0; r < rows; r++) {
        const double scale = 0.15 + 0.5 * (double)(test_noise(&seed) >> 11) * 0x1p-53;
        for (uint64_t c = 0; c < dim; c++) to[r * dim + c] = (float)(scale * check_normal(&seed));
    }
}
static inline float *trained_table(uint64_t rows, uint64_t dim, uint64_t seed)
{
    float *t = malloc((size_t)(rows * dim) * sizeof *t + 1);
    assert_non_null(t);
    trained_rows(t, rows, dim, seed);
    return t;
}

static inline stored table_of(const char *name, uint64_t rows, uint64_t dim, const float *data)
{
    return (stored){ name, "F32", rows, dim, data, 4 };
}

/* tokenizer.json with the tokens t0 .. t<n-1>; `added` is the inside of added_tokens. */
static inline void write_tokenizer(const char *dir, uint64_t n, const char *added)
{
    const size_t cap = 200 + strlen(added) + (size_t)n * 32;
    char *text = malloc(cap);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, cap,
                                   "{\"added_tokens\":[%s],\"model\":{\"type\":\"BPE\","
                                   "\"vocab\":{",
                                   added);
    for (uint64_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, cap - used, "%s\"t%" PRIu64 "\":%" PRIu64,
                                 i ? "," : "", i, i);
    snprintf(text + used, cap - used, "},\"merges\":[]}}");
    write_text(dir, "tokenizer.json", text);
    free(text);
}
#define SPECIAL(id, text)                                                                          \
    "{\"id\":" #id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":false,"             \
    "\"rstrip\":false,\"normalized\":false,\"special\":true}"

/* Report of a model opened as people do; free with wte_check_free. The model is opened for it and
 * closed again: nothing in a report may point into it. */
static inline wte_check *check_with(const char *path, const wte_check_options *opt)
{
    wte_model *m = open_model(path);
    wte_check *c = NULL;
    wte_error err;
    assert_ok(wte_model_check(m, opt, &c, &err), err);
    wte_model_free(m);
    return c;
}
static inline wte_check *check_model(const char *path)
{
    return check_with(path, NULL);
}

static inline const wte_finding *finding(const wte_check *c, const char *code)
{
    const wte_finding *f;
    for (uint64_t i = 0; (f = wte_check_finding(c, i)); i++)
        if (strcmp(f->code, code) == 0) return f;
    return NULL;
}

/* The codes of all findings above INFO, in order, parted by spaces: no more and no less. */
static inline void assert_faults(const wte_check *c, const char *codes)
{
    char got[1000] = "";
    size_t used = 0;
    const wte_finding *f;
    for (uint64_t i = 0; (f = wte_check_finding(c, i)); i++) {
        if (f->level == WTE_CHECK_INFO) continue;
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%s", used ? " " : "", f->code);
    }
    if (strcmp(got, codes) != 0) {
        for (uint64_t i = 0; (f = wte_check_finding(c, i)); i++)
            print_error("%s %s: %s\n", wte_check_level_name(f->level), f->code, f->fact);
        fail_msg("found '%s', not '%s'", got, codes);
    }
}

/* One finding: its subject, how many ids it is about and the first, parts of fact and repair. */
static inline void assert_finding(const wte_check *c, const char *code, const char *subject,
                                  uint64_t count, uint64_t first, const char *fact,
                                  const char *repair)
{
    const wte_finding *f = finding(c, code);
    if (!f) {
        fail_msg("no finding '%s'", code);
        return;
    }
    assert_string_equal(f->subject, subject);
    assert_int_equal(f->count, count);
    assert_int_equal(f->n_ids, count < WTE_FINDING_IDS ? count : WTE_FINDING_IDS);
    if (count) assert_int_equal(f->ids[0], first);
    if (!strstr(f->fact, fact)) fail_msg("'%s' does not contain '%s'", f->fact, fact);
    if (!strstr(f->repair, repair)) fail_msg("'%s' does not contain '%s'", f->repair, repair);
    if (!*repair) assert_string_equal(f->repair, "");
    assert_true(strlen(f->why) > 10);
}

#define EMBED "model.embed_tokens.weight"
#define HEAD  "lm_head.weight"
#define LLAMA(more)                                                                                \
    "{\"model_type\":\"llama\",\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":64" more "}"

#define ROW(t, r) ((t) + (size_t)(r)*DIM)

/* A tied model of V rows with these numbers; `tokens` and `added` make its tokenizer. */
static inline const char *tied_model(const float *table, uint64_t rows, uint64_t tokens,
                                     const char *added)
{
    char config[300];
    const stored t = table_of(EMBED, rows, DIM, table);
    snprintf(config, sizeof config,
             LLAMA(",\"vocab_size\":%" PRIu64 ",\"tie_word_embeddings\":true"), rows);
    const char *dir = make_model(config, &t, 1);
    write_tokenizer(dir, tokens, added);
    return dir;
}

static inline void fill_row(float *row, float value)
{
    for (size_t i = 0; i < DIM; i++) row[i] = value;
}
#endif
