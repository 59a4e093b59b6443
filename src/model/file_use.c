/* What a file is to a model by its name: for programs that must not write over one. */
#include <string.h>
#include <wte/model.h>

#include "model/resolve_path.h"
#include "vocab/vocab.h"

/* Files read next to the weights, besides those of the vocabulary. */
static const char *const side_names[] = {
    "config.json",          "params.json",
    "modules.json",         "config_sentence_transformers.json",
    "quantize_config.json", "quant_config.json",
    "adapter_config.json",  "model_index.json",
    "added_tokens.json",    "tokenizer_config.json",
    "strings.json",
};

wte_file_use wte_model_file_use(const char *name)
{
    if (!name) return WTE_FILE_USE_NONE;
    const char *vocab;
    for (size_t i = 0; (vocab = wte__vocab_file_name(i)); i++)
        if (strcmp(name, vocab) == 0) return WTE_FILE_USE_SIDE;
    for (size_t i = 0; i < sizeof side_names / sizeof *side_names; i++)
        if (strcmp(name, side_names[i]) == 0) return WTE_FILE_USE_SIDE;
    return wte__resolve_use(name);
}
