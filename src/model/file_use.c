/* What a file is to a model by its name: for programs that must not write over one. */
#include <string.h>
#include <wte/model.h>

#include "model/resolve_path.h"

/* Read next to the weights, by the names that open.c, place.c and the room vocab look for. */
static const char *const side_names[] = {
    "config.json",
    "params.json",
    "modules.json",
    "config_sentence_transformers.json",
    "quantize_config.json",
    "quant_config.json",
    "adapter_config.json",
    "model_index.json",
    "tokenizer.json",
    "vocab.json",
    "added_tokens.json",
    "vocab.txt",
    "tokenizer.model",
    "spiece.model",
    "dict.txt",
    "spm.model",
    "sentencepiece.model",
    "sentencepiece.bpe.model",
    "spm_char.model",
    "prophetnet.tokenizer",
    "tokenizer_config.json",
    "tekken.json",
    "key2row",
    "strings.json",
    "whitespacetokenizer_config.json",
    "metadata.tsv",
};

wte_file_use wte_model_file_use(const char *name)
{
    if (!name) return WTE_FILE_USE_NONE;
    for (size_t i = 0; i < sizeof side_names / sizeof *side_names; i++)
        if (strcmp(name, side_names[i]) == 0) return WTE_FILE_USE_SIDE;
    return wte__resolve_use(name);
}
