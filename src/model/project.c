/* Tables narrower than the model (OPT-350m, ALBERT, ELECTRA): which tensors widen the looked-up row
 * and narrow the hidden vector. They are known by their names, and count where their shape fits. */
#include "base/error.h"
#include "model/model.h"
#include "model/name_rules.h"

/* rows x cols of a plain matrix; cols 0: it is none. */
static void shape_of(const wte_tensor *t, uint64_t *rows, uint64_t *cols)
{
    const bool plain = t->rank == 2 && !t->block && wte_dtype_converts(t->dtype);
    *rows = plain ? t->shape[0] : 0;
    *cols = plain ? t->shape[1] : 0;
}

wte_status wte__project_find(wte_model *m, wte_error *err)
{
    wte_model_output *o = &m->output;
    const uint64_t in = m->has_input ? m->input.dim : 0;
    const uint64_t out = m->has_head ? m->head.dim : in;
    for (uint64_t i = 0; i < m->n_candidates; i++) {
        const wte_candidate *c = &m->candidates[i];
        const bool before = c->kind == WTE_KIND_PROJECT_OUT;
        uint64_t rows, cols;
        wte_tensor t;
        if (!before && c->kind != WTE_KIND_PROJECT_IN) continue;
        WTE_TRY(wte_file_tensor(m->file, c->tensor, &t, err));
        if (wte__name_judge(t.name, t.name_bytes).outside) continue;
        shape_of(&t, &rows, &cols);
        if (before && o->project_out == WTE_NO_INDEX && out && rows == out) {
            o->project_out = c->tensor;
            o->project_out_name = t.name;
        }
        if (!before && o->project_in == WTE_NO_INDEX && in && cols == in) {
            o->project_in = c->tensor;
            o->project_in_name = t.name;
        }
    }
    return WTE_OK;
}
