/* What a config says of quantised weights: quantization_config and quantization of config.json, or
 * a file that is such an object (quantize_config.json, quant_config.json). A bounded pull parse:
 * numbers and texts are taken by their path in the object, lists are passed over. */
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "model/quant.h"

/* Paths that are longer name no module of a real model. */
#define PATH_BYTES 512u

struct walk {
    wte__json json;
    wte__arena *arena;
    wte_error *err;
    wte__quant_said *out;
    char path[PATH_BYTES];                /* inside the object: "config_groups.group_0.weights" */
    size_t end[WTE_LIMIT_JSON_DEPTH + 1]; /* of the path of each open object */
    unsigned depth;                       /* objects open inside the object; 0 = itself */
};

/* The objects that are read, the surest first; those of a nested text config come after. */
static const char *const objects[] = { "quantization_config", "quantization",
                                       "compression_config" };
static const char *const nested[] = { "text_config", "language_config", "llm_config" };
#define N_OBJECTS (sizeof objects / sizeof *objects)
#define N_NESTED  (sizeof nested / sizeof *nested)

static size_t index_of(const wte__json *j, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && !wte__json_is(j, names[i])) i++;
    return i;
}

/* The entry of a module, which is made when it is new. */
static wte__quant_path *path_of(struct walk *w, const char *name, size_t bytes)
{
    wte__quant_path *p = w->out->paths;
    /* the keys of one module stand together: only the last can be it */
    if (p && strlen(p->name) == bytes && memcmp(p->name, name, bytes) == 0) return p;
    p = wte__arena_take(w->arena, sizeof *p);
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->mode = "";
    p->name = wte__arena_text(w->arena, name, bytes);
    if (!p->name) return NULL;
    p->next = w->out->paths;
    w->out->paths = p;
    return p;
}

static bool is_key(const char *key, const char *one, const char *other)
{
    return strcmp(key, one) == 0 || strcmp(key, other) == 0;
}

static wte_status copy_text(struct walk *w, const char **out)
{
    const wte_bytes text = wte__json_text(&w->json, w->arena, true);
    if (!text.data) return wte__no_memory(w->err, w->json.raw.size, w->json.name);
    *out = (const char *)text.data;
    return WTE_OK;
}

/* A scalar of the object itself. */
static wte_status take_own(struct walk *w, const char *key)
{
    wte__quant_said *s = w->out;
    const wte__json *j = &w->json;
    uint64_t count;
    if (is_key(key, "bits", "w_bit") && wte__json_u64(j, &count)) s->bits = count;
    if (is_key(key, "group_size", "q_group_size")) (void)wte__json_i64(j, &s->group);
    if (j->kind != WTE__JSON_STRING) return WTE_OK;
    if (strcmp(key, "quant_method") == 0) return copy_text(w, &s->method);
    if (strcmp(key, "method") == 0 && !s->method[0]) return copy_text(w, &s->method);
    if (strcmp(key, "version") == 0) return copy_text(w, &s->version);
    if (strcmp(key, "checkpoint_format") == 0) return copy_text(w, &s->format);
    if (strcmp(key, "format") == 0 && !s->format[0]) return copy_text(w, &s->format);
    return strcmp(key, "mode") == 0 ? copy_text(w, &s->mode) : WTE_OK;
}

/* A scalar of an object inside it: of compressed-tensors' groups, or of one module. */
static wte_status take_inner(struct walk *w, size_t parent, const char *key)
{
    static const char groups[] = "config_groups.", weights[] = ".weights";
    const size_t n_groups = sizeof groups - 1, n_weights = sizeof weights - 1;
    const wte__json *j = &w->json;
    const char *path = w->path;
    uint64_t count = 0;
    if (parent > n_groups && memcmp(path, groups, n_groups) == 0) {
        const bool of_weights =
            parent > n_weights && memcmp(path + parent - n_weights, weights, n_weights) == 0;
        if (of_weights && strcmp(key, "num_bits") == 0 && wte__json_u64(j, &count) && count < 32)
            w->out->group_bits |= UINT32_C(1) << count;
        return WTE_OK;
    }
    const bool bits = strcmp(key, "bits") == 0, group = strcmp(key, "group_size") == 0;
    const bool mode = strcmp(key, "mode") == 0 && j->kind == WTE__JSON_STRING;
    if (!bits && !group && !mode) return WTE_OK;
    wte__quant_path *p = path_of(w, path, parent);
    if (!p) return wte__no_memory(w->err, sizeof *p, j->name);
    if (bits && wte__json_u64(j, &count)) p->bits = count;
    if (group) (void)wte__json_i64(j, &p->group);
    return mode ? copy_text(w, &p->mode) : WTE_OK;
}

/* A key inside the object: its scalar is taken, its object entered. */
static wte_status read_key(struct walk *w)
{
    wte__json *j = &w->json;
    const size_t parent = w->depth ? w->end[w->depth] : 0, at = parent ? parent + 1 : 0;
    const uint64_t n = wte__json_decode(j, NULL);
    if (n >= PATH_BYTES - at) {
        if (!wte__json_skip_value(j)) return wte__json_fail(j, w->err);
        return WTE_OK;
    }
    if (parent) w->path[parent] = '.';
    wte__json_decode(j, w->path + at);
    w->path[at + n] = '\0';
    switch (wte__json_next(j)) {
    case WTE__JSON_ERROR: return wte__json_fail(j, w->err);
    case WTE__JSON_OBJECT: w->end[++w->depth] = at + (size_t)n; return WTE_OK;
    case WTE__JSON_ARRAY:
        if (!wte__json_skip_rest(j)) return wte__json_fail(j, w->err);
        return WTE_OK;
    default: return w->depth ? take_inner(w, parent, w->path + at) : take_own(w, w->path);
    }
}

/* The object whose brace was just read, to its end. */
static wte_status read_object(struct walk *w, uint32_t rank, const char *path)
{
    wte__quant_said *const kept = w->out;
    wte__quant_said said = { path, "", "", "", "", 0, 0, 0, rank, NULL };
    w->out = &said;
    w->depth = 0;
    wte_status status = WTE_OK;
    for (bool open = true; open && status == WTE_OK;) {
        switch (wte__json_next(&w->json)) {
        case WTE__JSON_KEY: status = read_key(w); break;
        case WTE__JSON_OBJECT_END:
            open = w->depth > 0;
            if (open) w->depth--;
            break;
        default: status = wte__json_fail(&w->json, w->err); break;
        }
    }
    w->out = kept;
    if (status == WTE_OK && (!kept->at || rank < kept->rank)) *kept = said;
    return status;
}

/* config.json: pass over all but the objects asked for; `inside` a nested text config. */
static wte_status read_config(struct walk *w, const char *path)
{
    wte__json *j = &w->json;
    bool inside = false;
    for (;;) {
        switch (wte__json_next(j)) {
        case WTE__JSON_END: return WTE_OK;
        case WTE__JSON_OBJECT_END: inside = false; continue;
        case WTE__JSON_KEY: break;
        default: return wte__json_fail(j, w->err);
        }
        const size_t object = index_of(j, objects, N_OBJECTS);
        const bool enter = !inside && index_of(j, nested, N_NESTED) < N_NESTED;
        if (object == N_OBJECTS && !enter) {
            if (!wte__json_skip_value(j)) return wte__json_fail(j, w->err);
            continue;
        }
        const wte__json_kind kind = wte__json_next(j);
        if (kind == WTE__JSON_ERROR) return wte__json_fail(j, w->err);
        if (kind == WTE__JSON_ARRAY && !wte__json_skip_rest(j)) return wte__json_fail(j, w->err);
        if (kind != WTE__JSON_OBJECT) continue;
        if (object < N_OBJECTS)
            WTE_TRY(read_object(w, (uint32_t)(object + (inside ? N_OBJECTS : 0)), path));
        else
            inside = true;
    }
}

wte_status wte__quant_said_parse(wte__quant_said *out, const void *data, uint64_t bytes,
                                 const char *path, bool whole, wte__arena *arena, wte_error *err)
{
    struct walk w;
    memset(&w, 0, sizeof w);
    memset(out, 0, sizeof *out);
    out->method = out->version = out->format = out->mode = "";
    wte__json_init(&w.json, data, bytes, path, WTE__JSON_PYTHON);
    w.arena = arena;
    w.err = err;
    w.out = out;
    if (wte__json_next(&w.json) == WTE__JSON_ERROR) return wte__json_fail(&w.json, err);
    if (w.json.kind != WTE__JSON_OBJECT)
        return wte__json_refuse(&w.json, err, "a config is an object in braces");
    if (!whole) return read_config(&w, path);
    WTE_TRY(read_object(&w, 0, path));
    return wte__json_next(&w.json) == WTE__JSON_END ? WTE_OK : wte__json_fail(&w.json, err);
}
