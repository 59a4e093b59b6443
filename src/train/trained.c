/* The folder of a trained model. */
#include "train/trained.h"

#include <string.h>
#include <wte/corpus.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/replace.h"

static wte_status writer_in(wte_transaction *t, const char *folder, const char *name,
                            wte_writer **out, wte_error *err)
{
    char path[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN];
    if (wte__path_join(path, folder, name)) return wte_transaction_writer(t, path, out, err);
    return wte__fail(err, WTE_E_IO, WTE_NO_INDEX, "%s/%s: the path is too long",
                     wte__show_path(shown, folder), name);
}

wte_status wte__trained_weights(wte_transaction *t, const char *folder,
                                const wte_tensor_out *tensors, size_t n, wte_error *err)
{
    static const char *const metadata[1][2] = { { "format", "pt" } };
    wte_writer *w;
    WTE_TRY(writer_in(t, folder, "model.safetensors", &w, err));
    WTE_TRY(wte_safetensors_write_to(w, tensors, n, metadata, 1, err));
    return wte_writer_commit(w, err);
}

wte_status wte__trained_config(wte_transaction *t, const char *folder, const char *text,
                               uint64_t bytes, wte_error *err)
{
    wte_writer *w;
    WTE_TRY(writer_in(t, folder, "config.json", &w, err));
    WTE_TRY(wte_writer_write(w, text, bytes, err));
    return wte_writer_commit(w, err);
}

wte_status wte_folder_is_trained(const char *folder, bool *trained, wte_error *err)
{
    static const char *const starts[] = { WTE__TRAINED_SKIP_GRAM, WTE__TRAINED_CBOW,
                                          WTE__TRAINED_LM };
    char path[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN], *text;
    uint64_t bytes;
    bool there;
    WTE_TRY(wte__need_out(trained, sizeof *trained, "wte_folder_is_trained: trained", err));
    WTE_TRY(wte__need(folder, "wte_folder_is_trained: folder", err));
    if (!wte__path_join(path, folder, "config.json"))
        return wte__fail(err, WTE_E_IO, WTE_NO_INDEX, "%s: the path is too long",
                         wte__show_path(shown, folder));
    WTE_TRY(wte__replace_recover(folder, err));
    WTE_TRY(wte__path_optional(path, &there, NULL, err));
    if (!there) return WTE_OK;
    WTE_TRY(wte__file_load(path, WTE_LIMIT_CONFIG, WTE__FIXED_LIMIT, NULL, &text, &bytes, err));
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        *trained |= strncmp(text, starts[i], strlen(starts[i])) == 0;
    wte__free(NULL, text, (size_t)bytes + 1);
    return WTE_OK;
}
