/* A trained language model as a folder of files that everything else here can read. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "train/lm.h"
#include "train/trained.h"

static wte_status save_weights(wte_lm *lm, wte_transaction *t, const char *folder, wte_error *err)
{
    wte_tensor_out tensors[WTE__LM_PARTS];
    size_t n = 0;
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
    return wte__trained_weights(t, folder, tensors, n, err);
}

static wte_status save_config(const wte_lm *lm, wte_transaction *t, const char *folder,
                              wte_error *err)
{
    const wte_lm_options *o = &lm->plan.o;
    char text[1024];
    const int n = snprintf(text, sizeof text,
                           WTE__TRAINED_LM "  \"vocab_size\": %" PRIu64 ",\n"
                                           "  \"hidden_size\": %" PRIu64 ",\n"
                                           "  \"tie_word_embeddings\": %s,\n"
                                           "  \"context_words\": %" PRIu64 ",\n"
                                           "  \"hidden_layer_size\": %" PRIu64 ",\n"
                                           "  \"projection\": %s,\n"
                                           "  \"torch_dtype\": \"float32\"\n"
                                           "}\n",
                           lm->plan.rows, o->dim, o->tied ? "true" : "false", o->context, o->hidden,
                           o->projected ? "true" : "false");
    return wte__trained_config(t, folder, text, (uint64_t)n, err);
}

wte_status wte_lm_save_to(wte_lm *lm, wte_transaction *t, const char *folder, wte_error *err)
{
    WTE_TRY(wte__need(lm, "wte_lm_save_to: lm", err));
    WTE_TRY(wte__need(t, "wte_lm_save_to: the transaction", err));
    WTE_TRY(wte__need(folder, "wte_lm_save_to: folder", err));
    WTE_TRY(wte__lm_settle(lm, err)); /* a run that was stopped has left rows behind */
    WTE_TRY(save_weights(lm, t, folder, err));
    return save_config(lm, t, folder, err);
}

wte_status wte_lm_save(wte_lm *lm, const char *folder, wte_error *err)
{
    wte_transaction *t;
    WTE_TRY(wte__need(lm, "wte_lm_save: lm", err));
    WTE_TRY(wte__need(folder, "wte_lm_save: folder", err));
    WTE_TRY(wte_transaction_create(&t, err));
    wte_status status = wte_lm_save_to(lm, t, folder, err);
    if (status == WTE_OK) status = wte_transaction_commit(t, err);
    wte_transaction_free(t);
    return status;
}
