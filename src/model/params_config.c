/* What stands in the place of a config.json elsewhere: params.json, which Meta's and Mistral's own
 * files have beside them, and the headers of checkpoints of llm.c and llama2.c. They name the sizes
 * of the table alone, and whether it is the head. */
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "model/model.h"

/* A count that is there and not negative: Llama's own files say -1 where they do not know. */
static void read_count(const wte__json *j, uint64_t *out)
{
    uint64_t value;
    if (wte__json_u64(j, &value)) *out = value;
}

static bool read_key(wte__json *j, wte_model_config *said)
{
    const bool vocab = wte__json_is(j, "vocab_size"), dim = wte__json_is(j, "dim");
    const bool tied = wte__json_is(j, "tied_embeddings");
    if (!wte__json_skip_value(j)) return false;
    if (vocab) read_count(j, &said->vocab_size);
    if (dim) read_count(j, &said->hidden_size);
    if (!tied || (j->kind != WTE__JSON_TRUE && j->kind != WTE__JSON_FALSE)) return true;
    said->tied = j->kind == WTE__JSON_TRUE;
    said->tie_top = said->tied ? WTE_FLAG_TRUE : WTE_FLAG_FALSE;
    said->tie_decided = true;
    said->tie_rule = said->tied ? "tied_embeddings is true" : "tied_embeddings is false";
    return true;
}

wte_status wte__config_params(wte__config *out, const void *data, uint64_t bytes, const char *path,
                              wte_error *err)
{
    wte__json j;
    wte__config_none(out);
    out->said.path = path;
    out->said.tie_rule = "params.json has no flag, and its models keep table and head apart";
    wte__json_init(&j, data, bytes, path, WTE__JSON_PYTHON);
    if (wte__json_next(&j) == WTE__JSON_ERROR) return wte__json_fail(&j, err);
    if (j.kind != WTE__JSON_OBJECT)
        return wte__json_refuse(&j, err, "parameters are an object in braces");
    while (wte__json_next(&j) == WTE__JSON_KEY)
        if (!read_key(&j, &out->said)) break;
    if (j.kind != WTE__JSON_OBJECT_END || wte__json_next(&j) != WTE__JSON_END)
        return wte__json_fail(&j, err);
    return WTE_OK;
}

bool wte__config_is_params(const wte_model_config *said)
{
    const char *slash = strrchr(said->path, '/');
    return strcmp(slash ? slash + 1 : said->path, "params.json") == 0;
}

/* The number that one key of a file's metadata has; they are the reader's own. */
static uint64_t number_of(const wte_file *f, const char *name)
{
    const char *key, *value;
    uint64_t number = 0;
    for (uint64_t i = 0; (key = wte_file_metadata(f, i, &value)); i++) {
        if (strcmp(key, name) != 0) continue;
        while (*value >= '0' && *value <= '9') number = 10 * number + (uint64_t)(*value++ - '0');
    }
    return number;
}

void wte__config_llmc(wte__config *out, const wte_file *f, const char *path)
{
    wte__config_none(out);
    out->said.path = path;
    out->said.model_type = "gpt2";
    out->said.vocab_size = number_of(f, "vocab_size");
    out->said.hidden_size = number_of(f, "channels");
    out->said.tied = out->said.tie_decided = true;
    out->said.tie_rule = "llm.c computes its logits with wte: tied by design";
    out->head_class = WTE__HEAD_EXPECTED;
    out->head_why = "llm.c trains GPT-2, which has one";
}

void wte__config_llama2c(wte__config *out, const wte_file *f, const char *path)
{
    const bool tied = number_of(f, "shared_classifier") != 0;
    wte__config_none(out);
    out->said.path = path;
    out->said.model_type = "llama";
    out->said.vocab_size = number_of(f, "vocab_size");
    out->said.hidden_size = number_of(f, "dim");
    out->said.tied = tied;
    out->said.tie_top = tied ? WTE_FLAG_TRUE : WTE_FLAG_FALSE;
    out->said.tie_decided = true;
    out->said.tie_rule = tied ? "llama2.c: the header says that the table is the head"
                              : "llama2.c: the header says that a head is stored";
    out->head_class = WTE__HEAD_EXPECTED;
    out->head_why = "llama2.c trains Llamas, which have one";
}
