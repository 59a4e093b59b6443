/* Which row is it? A program returned a vector for id 3; wte names what the vector is. Here ids
 * were counted from one, so that the vector is row 2. */
#include <stdio.h>
#include <wte/all.h>

int main(void)
{
    static const float returned[3] = { 1.2753f, -0.2010f, -0.1606f }; /* rounded to 4 digits */
    static const double half_unit[3] = { 0.00005, 0.00005, 0.00005 };
    const wte_observed observed = { returned, WTE_F32, 0, 1, 3, half_unit };
    const int64_t id = 3;
    wte_model *model = NULL;
    wte_diagnosis d = { 0 };
    wte_error err = { 0 };
    if (wte_model_open("demo", NULL, &model, &err) == WTE_OK &&
        wte_model_diagnose(model, wte_ids_i64(&id, 1), &observed, NULL, &d, &err) == WTE_OK)
        printf("%s\n%s\n", d.verdict, d.advice);
    else
        fprintf(stderr, "diagnose: %s\n", err.message);
    wte_model_free(model);
    return d.best.label != WTE_LABEL_OTHER_ROW || d.best.row != 2;
}
