/* The short way to a model's rows and tokens: wte_model and wte_lookup with their defaults, and the
 * last error of each thread in place of an argument. */
#include "core/core.h"

#include <string.h>
#include <wte/lookup.h>
#include <wte/model.h>

static _Thread_local wte_error last;

wte_error *wte__core_error(void)
{
    return &last;
}

const char *wte_last_error(void)
{
    return last.message;
}

wte_model *wte_open(const char *path)
{
    wte_model *m = NULL;
    return wte_model_open(path, NULL, &m, &last) == WTE_OK ? m : NULL;
}

void wte_close(wte_model *m)
{
    wte_model_free(m);
}

/* NULL when the model has no input table. */
static const wte_model_table *input_of(const wte_model *m)
{
    const wte_model_table *table;
    return wte_model_input(m, &table, NULL) == WTE_OK ? table : NULL;
}

uint64_t wte_n_rows(const wte_model *m)
{
    const wte_model_table *table = input_of(m);
    return table ? table->rows : 0;
}

uint64_t wte_dim(const wte_model *m)
{
    const wte_model_table *table = input_of(m);
    return table ? table->dim : 0;
}

const char *wte_type(const wte_model *m)
{
    const wte_model_table *table = input_of(m);
    return table ? wte_type_name(table->dtype, table->block) : "";
}

static wte_status look_up(const wte_model *m, const void *ids, wte_dtype type, size_t n, float *out)
{
    const wte_model_table *table;
    wte_lookup_options options = WTE_LOOKUP_OPTIONS_INIT;
    const wte_ids list = { ids, type, 0, n };
    options.out_dtype = WTE_F32;
    WTE_TRY(wte_model_input(m, &table, &last));
    return wte_lookup(&table->source, list, &options, out, 0, &last);
}

wte_status wte_lookup_i64(const wte_model *m, const int64_t *ids, size_t n, float *out)
{
    return look_up(m, ids, WTE_I64, n, out);
}

wte_status wte_lookup_i32(const wte_model *m, const int32_t *ids, size_t n, float *out)
{
    return look_up(m, ids, WTE_I32, n, out);
}

size_t wte_token_text(const wte_model *m, uint64_t id, char *buf, size_t cap)
{
    const wte_vocab *vocab = wte_model_vocab(m);
    const uint64_t bytes = vocab ? wte_vocab_text(vocab, wte_model_token(m, id), NULL, 0) : 0;
    if (!buf || cap == 0) return (size_t)bytes;
    if (bytes) (void)wte_vocab_text(vocab, wte_model_token(m, id), buf, cap - 1);
    buf[bytes < cap ? bytes : cap - 1] = '\0';
    return (size_t)bytes;
}

int64_t wte_token_id(const wte_model *m, const char *text)
{
    uint64_t id;
    const wte_vocab *vocab = wte_model_vocab(m);
    if (wte__need(text, "wte_token_id: text", &last) != WTE_OK) return -1;
    if (!vocab) {
        const char *problem = wte_model_vocab_problem(m);
        (void)wte__fail(&last, WTE_E_NOT_FOUND, WTE_NO_INDEX, "%s",
                        *problem ? problem : "the model has no vocabulary");
        return -1;
    }
    const wte_status status = wte_vocab_find(vocab, text, strlen(text), &id, NULL, &last);
    return status == WTE_OK ? (int64_t)id : -1;
}
