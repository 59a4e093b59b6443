/* What the config in the folder of a model in parts says of its size and of its cuts. */
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "format/parallel.h"

/* The value after one of our keys, which is left alone unless it is a number above 0. */
static bool read_fact(wte__json *j, uint64_t *fact)
{
    uint64_t value;
    if (!wte__json_skip_value(j)) return false;
    if (wte__json_u64(j, &value) && value) *fact = value;
    return true;
}

/* A key of the config, or of one of its parts that are known. */
static bool read_key(wte__json *j, wte__parallel_said *said)
{
    if (wte__json_is(j, "dim") || wte__json_is(j, "hidden_size")) return read_fact(j, &said->dim);
    if (wte__json_is(j, "vocab_size")) return read_fact(j, &said->vocab);
    if (wte__json_is(j, "tp_size")) return read_fact(j, &said->parts);
    if (wte__json_is(j, "pp_size")) return read_fact(j, &said->stages);
    if (!wte__json_is(j, "mapping") && !wte__json_is(j, "pretrained_config") &&
        !wte__json_is(j, "text_config"))
        return wte__json_skip_value(j);
    const wte__json_kind kind = wte__json_next(j);
    return kind == WTE__JSON_ARRAY ? wte__json_skip_rest(j) : kind != WTE__JSON_ERROR;
}

/* Objects that are entered end on their own. */
static bool read_object(wte__json *j, wte__parallel_said *said)
{
    bool ok = wte__json_next(j) == WTE__JSON_OBJECT;
    while (ok && j->depth > 0) {
        const wte__json_kind kind = wte__json_next(j);
        ok = kind == WTE__JSON_KEY ? read_key(j, said) : kind == WTE__JSON_OBJECT_END;
    }
    return ok && wte__json_next(j) == WTE__JSON_END;
}

wte_status wte__parallel_config(const wte_file *f, const char *dir, const char *name,
                                wte__parallel_said *said, wte_error *err)
{
    char path[WTE_LIMIT_PATH], *text = NULL;
    uint64_t bytes = 0;
    wte__json j;
    bool there;
    wte_status status = WTE_OK;
    if (!wte__path_join(path, dir, name)) return WTE_OK;
    WTE_TRY(wte__path_optional(path, &there, NULL, err));
    if (!there) return WTE_OK;
    WTE_TRY(
        wte__file_load(path, WTE_LIMIT_CONFIG, WTE__FIXED_LIMIT, f->allocator, &text, &bytes, err));
    said->by = name;
    wte__json_init(&j, text, bytes, path, WTE__JSON_PYTHON);
    if (!read_object(&j, said))
        status = j.kind == WTE__JSON_ERROR ? wte__json_fail(&j, err)
                                           : wte__json_refuse(&j, err, "an object was expected");
    wte__free(f->allocator, text, (size_t)bytes + 1);
    return status;
}
