/* For the tests of the finder: models of zeros written in one line, and what must be found in them.
 */
#ifndef WTE_TESTS_FIND_MODELS_H
#define WTE_TESTS_FIND_MODELS_H
#include "model_files.h"

#define CFG "{\"vocab_size\": 40, \"hidden_size\": 8, \"model_type\": \"none\"}"

/* A model written as "name rows x cols; name rows; ...", zeros in f32. */
static inline const char *model_of(const char *config, const char *text)
{
    static char copy[2048];
    static stored list[32];
    size_t n = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = copy; *at && n < 32;) {
        char *name = at, *space = strchr(at, ' '), *end = strchr(at, ';');
        assert_non_null(space);
        *space = '\0';
        uint64_t rows = strtoull(space + 1, &at, 10), cols = 0;
        if (*at == 'x') cols = strtoull(at + 1, &at, 10);
        stored t = { name, "F32", rows, cols, NULL, 4 };
        list[n++] = t;
        if (!end) break;
        at = end + 1 + (end[1] == ' ');
    }
    return make_model(config, list, n);
}

struct family {
    const char *config, *tensors;
    const char *input, *head; /* names; NULL = none */
};

static inline void check_family(const struct family *f)
{
    const char *dir = model_of(f->config, f->tensors);
    wte_model *m = open_model(dir);
    const wte_model_table *input = NULL, *head = wte_model_head(m);
    wte_error err;
    wte_status status = wte_model_input(m, &input, &err);
    if (status != WTE_OK && f->input) fail_msg("%s: %s", f->tensors, err.message);
    if (!f->input && status == WTE_OK) fail_msg("%s: found '%s'", f->tensors, input->name);
    if (f->input && strcmp(input->name, f->input) != 0)
        fail_msg("input is '%s', not '%s' (%s)", input->name, f->input, input->why);
    const char *name = head ? head->name : "none", *want = f->head ? f->head : "none";
    if (strcmp(name, want) != 0) fail_msg("%s: head is '%s', not '%s'", f->tensors, name, want);
    wte_model_free(m);
    test_scratch_remove(dir);
}
#endif
