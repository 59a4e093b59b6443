/* A gate for continuous integration: fails when a model's embedding has an error that `wte check`
 * reports. The example's model has one on purpose: a head of zeros.
 *
 * usage: check_in_ci [MODEL]     exit 1 on errors, 2 when the model cannot be opened
 */
#include <stdio.h>
#include <wte/all.h>

int main(int argc, char **argv)
{
    wte_model *model = NULL;
    wte_check *report = NULL;
    wte_error err = { 0 };
    unsigned errors = 0;
    const wte_finding *f;
    const char *path = argc > 1 ? argv[1] : "examples/data/zero_head";
    if (wte_model_open(path, NULL, &model, &err) != WTE_OK ||
        wte_model_check(model, NULL, &report, &err) != WTE_OK) {
        fprintf(stderr, "check_in_ci: %s\n", err.message);
        wte_model_free(model);
        return 2;
    }
    for (uint64_t i = 0; (f = wte_check_finding(report, i)) != NULL; i++) {
        if (f->level != WTE_CHECK_ERROR) continue;
        printf("%s  %s: %s\n", f->code, f->subject, f->fact);
        errors++;
    }
    wte_check_free(report);
    wte_model_free(model);
    if (argc > 1) return errors > 0;
    return errors != 1; /* as a test: the fault is found */
}
