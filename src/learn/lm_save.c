/* A trained language model as a folder of files that everything else here can read. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "learn/lm.h"

static wte_status path_in(char out[WTE_LIMIT_PATH], const char *folder, const char *name,
                          wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (wte__path_join(out, folder, name)) return WTE_OK;
    return wte__fail(err, WTE_E_IO, WTE_NOWHERE, "%s/%s: the path is too long",
                     wte__show_path(shown, folder), name);
}

static wte_status save_weights(wte_lm *lm, const char *folder, wte_error *err)
{
    static const char *const metadata[1][2] = { { "format", "pt" } };
    char path[WTE_LIMIT_PATH];
    wte_tensor_out tensors[WTE__LM_PARTS];
    size_t n = 0;
    WTE_TRY(path_in(path, folder, "model.safetensors", err));
    for (int i = 0; i < WTE__LM_PARTS; i++) {
        const wte__lm_part part = (wte__lm_part)i;
        if (!lm->weight[i].rows) continue;
        tensors[n++] = (wte_tensor_out){ wte__lm_name(part),
                                         WTE_F32,
                                         wte__lm_is_bias(part) ? 1 : 2,
                                         lm->plan.shape[i],
                                         wte_table_data(lm->weight[i].table),
                                         NULL };
    }
    return wte_safetensors_write(path, tensors, n, metadata, 1, err);
}

static wte_status save_config(const wte_lm *lm, const char *folder, wte_error *err)
{
    const wte_lm_options *o = &lm->plan.o;
    char path[WTE_LIMIT_PATH], text[1024];
    wte_writer *w;
    const int n = snprintf(text, sizeof text,
                           "{\n"
                           "  \"architectures\": [\"NgramForCausalLM\"],\n"
                           "  \"model_type\": \"ngram_lm\",\n"
                           "  \"vocab_size\": %" PRIu64 ",\n"
                           "  \"hidden_size\": %" PRIu64 ",\n"
                           "  \"tie_word_embeddings\": %s,\n"
                           "  \"context_words\": %" PRIu64 ",\n"
                           "  \"hidden_layer_size\": %" PRIu64 ",\n"
                           "  \"projection\": %s,\n"
                           "  \"torch_dtype\": \"float32\"\n"
                           "}\n",
                           lm->plan.rows, o->dim, o->tied ? "true" : "false", o->context, o->hidden,
                           o->projected ? "true" : "false");
    WTE_TRY(path_in(path, folder, "config.json", err));
    WTE_TRY(wte_writer_create(path, &w, err));
    wte_status status = wte_writer_put(w, text, (uint64_t)n, err);
    if (status == WTE_OK) status = wte_writer_commit(w, err);
    wte_writer_free(w);
    return status;
}

wte_status wte_lm_save(wte_lm *lm, const char *folder, wte_error *err)
{
    WTE_TRY(wte__need(lm, "wte_lm_save: lm", err));
    WTE_TRY(wte__need(folder, "wte_lm_save: folder", err));
    WTE_TRY(wte__lm_settle(lm, err)); /* a run that was stopped has left rows behind */
    WTE_TRY(save_weights(lm, folder, err));
    return save_config(lm, folder, err);
}
