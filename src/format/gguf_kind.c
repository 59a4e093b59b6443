/* What a GGUF file is that is no model with a token table: its own metadata say so. */
#include <inttypes.h>

#include "format/gguf.h"

/* The text of a key, or NULL: of another type it says nothing. */
static const char *text_of(const wte__gguf *g, const char *key, char shown[WTE__NAME_SHOWN])
{
    wte__bytes text;
    bool found;
    if (wte__gguf_text(g, key, &text, &found, NULL) != WTE_OK || !found) return NULL;
    return wte__show(shown, text.data, text.size);
}

/* general.type, and what such a file holds. */
static const struct {
    const char *type, *is, *what;
} kinds[] = {
    { "adapter", "an adapter",
      "its tensors change a base model, which has the token table: merge it (llama-export-lora), or "
      "open the base" },
    { "imatrix", "an importance matrix",
      "sums over activations, which a quantiser reads; it holds no weights" },
    { "mmproj", "a projector of images or sounds",
      "the token table is in the file of the language model" },
};

/* general.architecture of files that are no models; those of an older age have no general.type. */
static const struct {
    const char *architecture, *what;
} architectures[] = {
    { "clip", "a projector of images or sounds (general.architecture 'clip'): the token table is "
              "in the file of the language model" },
    { "controlvector", "a control vector (general.architecture 'controlvector'): directions for "
                       "the layers of a model, which has the token table" },
};

static const char *kind_of_type(const wte__gguf *g, const char *type, char *out)
{
    char adapter[WTE__NAME_SHOWN], base[WTE__NAME_SHOWN], more[400] = "";
    size_t i = 0;
    while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i].type, type) != 0) i++;
    if (i == sizeof kinds / sizeof *kinds) {
        snprintf(out, WTE__GGUF_KIND, "of general.type '%s', which is no model", type);
        return out;
    }
    if (strcmp(type, "adapter") == 0) {
        const char *sort = text_of(g, "adapter.type", adapter);
        const char *name = text_of(g, "general.base_model.0.name", base);
        snprintf(more, sizeof more, "%s%.40s%s%s%.80s%s", sort ? ", adapter.type '" : "",
                 sort ? sort : "", sort ? "'" : "", name ? ", of '" : "", name ? name : "",
                 name ? "'" : "");
    }
    snprintf(out, WTE__GGUF_KIND, "%s (general.type '%s'%s): %s", kinds[i].is, type, more,
             kinds[i].what);
    return out;
}

const char *wte__gguf_kind(const wte_file *f, char out[WTE__GGUF_KIND])
{
    const wte__gguf *g = f ? wte__file_gguf(f) : NULL;
    char shown[WTE__NAME_SHOWN];
    out[0] = '\0';
    if (!g) return out;
    const char *type = text_of(g, "general.type", shown);
    if (type && strcmp(type, "model") != 0) return kind_of_type(g, type, out);
    const char *architecture = text_of(g, "general.architecture", shown);
    for (size_t i = 0; architecture && i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(architectures[i].architecture, architecture) == 0)
            snprintf(out, WTE__GGUF_KIND, "%s", architectures[i].what);
    if (out[0] || f->n_listed) return out;
    const wte__gguf_pair *tokens = wte__gguf_find(g, "tokenizer.ggml.tokens");
    if (tokens && tokens->type == WTE__GGUF_ARRAY)
        snprintf(out, WTE__GGUF_KIND, "a vocabulary alone: %" PRIu64 " tokens and no tensors",
                 tokens->count);
    else
        snprintf(out, WTE__GGUF_KIND, "metadata alone, without a tensor");
    return out;
}
