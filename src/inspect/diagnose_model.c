/* Diagnose against a model: its table, its head, and the other tensors of its files. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "inspect/diagnose.h"

/* The other tensors of the table's width, those first that were taken for tables of another kind
 * (positions, types): they are small, and the likeliest. */
typedef struct others {
    const wte_model *model;
    const wte_model_table *input, *head;
    wte_named_source *rows; /* NULL while counting */
    size_t n;
    uint8_t *seen; /* n_tensors */
    size_t n_tensors, rows_bytes;
} others;

static void consider(others *o, uint64_t i)
{
    const wte_file *file = wte_model_file(o->model);
    wte_tensor tensor;
    wte_row_source rows;
    if (i >= o->n_tensors || o->seen[i]) return;
    o->seen[i] = 1;
    if (i == o->input->tensor || (o->head && i == o->head->tensor)) return;
    if (wte_file_tensor(file, i, &tensor, NULL) != WTE_OK || tensor.rank < 2) return;
    if (wte_file_row_source(file, i, &rows, NULL) != WTE_OK) return;
    if (rows.cols != o->input->source.cols) return;
    if (o->rows) o->rows[o->n] = (wte_named_source){ tensor.name, rows };
    o->n++;
}

static void collect(others *o)
{
    const wte_candidate *c;
    o->n = 0;
    if (o->n_tensors) memset(o->seen, 0, o->n_tensors);
    for (uint64_t i = 0; (c = wte_model_candidate(o->model, i)); i++)
        if (c->role == WTE_ROLE_OTHER) consider(o, c->tensor);
    for (uint64_t i = 0; i < o->n_tensors; i++) consider(o, i);
}

/* Put them into opt->others, before those that are there. */
static wte_status list_others(others *o, wte_diagnose_options *opt, wte_error *err)
{
    const wte_allocator *a = opt->allocator;
    const wte_file *file = wte_model_file(o->model);
    o->n_tensors = file ? (size_t)wte_file_n_tensors(file) : 0;
    if (o->n_tensors == 0) return WTE_OK;
    o->seen = wte__alloc(a, o->n_tensors);
    if (!o->seen) return wte__no_memory(err, o->n_tensors, "a list of tensors");
    collect(o);
    const size_t total = o->n + opt->n_others;
    o->rows_bytes = total * sizeof *o->rows;
    if (total) o->rows = wte__alloc(a, o->rows_bytes);
    if (o->rows) {
        collect(o);
        if (opt->n_others) memcpy(o->rows + o->n, opt->others, opt->n_others * sizeof *o->rows);
        opt->others = o->rows;
        opt->n_others = total;
    }
    wte__free(a, o->seen, o->n_tensors);
    return total && !o->rows ? wte__no_memory(err, o->rows_bytes, "a list of tensors") : WTE_OK;
}

static wte_status map_ids(const wte_model *m, wte_ids ids, uint64_t *row_of, wte_error *err)
{
    for (uint64_t i = 0; i < ids.count; i++) {
        const int64_t id = wte_ids_at(ids, i);
        if (id < 0)
            return wte__fail(err, WTE_E_RANGE, i, "token id %" PRId64 " at position %" PRIu64, id,
                             i);
        const wte_status status = wte_model_row(m, (uint64_t)id, &row_of[i], err);
        if (status == WTE_OK) continue;
        if (err) err->where = i;
        return status;
    }
    return WTE_OK;
}

static double factor_of(const wte_model *m)
{
    const wte_model_config *config = wte_model_config_of(m);
    return config && config->factor != 0 ? config->factor : 1;
}

wte_status wte_model_diagnose(const wte_model *m, wte_ids ids, const wte_observed *got,
                              const wte_diagnose_options *options, wte_diagnosis *out,
                              wte_error *err)
{
    wte_diagnose_options opt = WTE_DIAGNOSE_OPTIONS_INIT;
    WTE_TRY(wte__need(m, "wte_model_diagnose: the model", err));
    others o = { .model = m, .head = wte_model_head(m) };
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(wte__options(&opt, sizeof opt, options, err));
    WTE_TRY(wte__need_functions(opt.allocator, opt.progress, err));
    WTE_TRY(wte__diagnose_options_check(&opt, err));
    WTE_TRY(wte__holds(ids.count, sizeof(uint64_t), "diagnose: ids", err));
    WTE_TRY(wte_model_input(m, &o.input, err));
    /* a vector is looked for among the rows that are stored; a mapping says which one an id names
     */
    wte_row_source stored = o.input->source;
    if (o.input->mapped)
        WTE_TRY(wte_file_row_source(wte_model_file(m), o.input->tensor, &stored, err));
    opt.name = o.input->name;
    opt.factor = factor_of(m);
    const bool own_head = o.head && o.head->tensor != o.input->tensor;
    const wte_named_source head = { o.head ? o.head->name : NULL,
                                    o.head ? o.head->source : (wte_row_source){ 0 } };
    opt.head = own_head ? &head : NULL;
    const size_t map_bytes = o.input->mapped ? (size_t)ids.count * sizeof(uint64_t) : 0;
    uint64_t *row_of = map_bytes ? wte__alloc(opt.allocator, map_bytes) : NULL;
    wte_status status = list_others(&o, &opt, err);
    if (status == WTE_OK && map_bytes && !row_of)
        status = wte__no_memory(err, map_bytes, "the rows of the ids");
    if (status == WTE_OK && row_of) status = map_ids(m, ids, row_of, err);
    if (status == WTE_OK) {
        status = wte__diagnose(&stored, ids, row_of, got, &opt, out, err);
        /* errors of reading name their file; those about the arguments know of no model */
        if (status == WTE_E_RANGE || status == WTE_E_SHAPE || status == WTE_E_UNSUPPORTED)
            wte__error_prefix(err, wte__show_path(shown, wte_model_path(m)));
    }
    if (status == WTE_OK && wte_model_file(m))
        status = wte_file_check_unchanged(wte_model_file(m), err);
    wte__free(opt.allocator, o.rows, o.rows_bytes);
    wte__free(opt.allocator, row_of, map_bytes);
    return status;
}
