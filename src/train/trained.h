/* Files that every trainer writes into the folder of its result. */
#ifndef WTE_SRC_LEARN_TRAINED_H
#define WTE_SRC_LEARN_TRAINED_H
#include <wte/format.h>

/* How config.json begins; wte_folder_is_trained knows a folder by it. */
#define WTE__TRAINED_START(architecture, type)                                                     \
    "{\n  \"architectures\": [\"" architecture "\"],\n  \"model_type\": \"" type "\",\n"
#define WTE__TRAINED_SKIP_GRAM WTE__TRAINED_START("SkipGram", "word_vectors")
#define WTE__TRAINED_CBOW      WTE__TRAINED_START("Cbow", "word_vectors")
#define WTE__TRAINED_LM        WTE__TRAINED_START("NgramForCausalLM", "ngram_lm")

/* folder/model.safetensors and folder/config.json; they take their places with the transaction. */
wte_status wte__trained_weights(wte_transaction *t, const char *folder,
                                const wte_tensor_out *tensors, size_t n, wte_error *err);
wte_status wte__trained_config(wte_transaction *t, const char *folder, const char *text,
                               uint64_t bytes, wte_error *err);
#endif
