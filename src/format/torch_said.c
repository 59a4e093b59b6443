/* What a training framework's checkpoint says, beside its tensors, of the model that it is a part
 * of: Megatron in its args (a dict or a Namespace), DeepSpeed at the top. */
#include "base/limits.h"
#include "format/torch.h"

static void read_count(const wte__pickle_items *dict, uint32_t i, const char *key, uint64_t *out)
{
    const wte__pickle_value *v = &dict->items[i + 1];
    if (!wte__pickle_is(&dict->items[i], key)) return;
    if (v->kind == WTE__PICKLE_INT && v->as.integer > 0) *out = (uint64_t)v->as.integer;
}

/* Megatron's args. */
static void read_args(wte_file *f, const wte__pickle_value *args)
{
    const bool object = args->kind == WTE__PICKLE_CALL; /* a Namespace: its attributes */
    const wte__pickle_items *dict = wte__pickle_entries(object ? &args->as.call->state : args);
    uint64_t parts = 0;
    for (uint32_t i = 0; dict && i + 1 < dict->n; i += 2) {
        read_count(dict, i, "tensor_model_parallel_size", &parts);
        read_count(dict, i, "hidden_size", &f->training.dim);
        read_count(dict, i, "padded_vocab_size", &f->training.vocab);
    }
    if (!parts) return;
    f->training.parts = parts;
    f->training.by = "tensor_model_parallel_size";
}

void wte__torch_said(wte_file *f, const wte__pickle_value *root)
{
    const wte__pickle_items *dict = wte__pickle_entries(root);
    const wte__pickle_value *args = NULL; /* only one: a key met again and again is no more work */
    uint64_t parts = 0;
    for (uint32_t i = 0; dict && i + 1 < dict->n; i += 2) {
        read_count(dict, i, "mp_world_size", &parts);
        if (wte__pickle_is(&dict->items[i], "args")) args = &dict->items[i + 1];
    }
    if (args) read_args(f, args);
    if (!parts) return;
    f->training.parts = parts;
    f->training.by = "mp_world_size";
}
