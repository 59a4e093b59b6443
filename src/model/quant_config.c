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
    struct {
        size_t bytes; /* of its path "config_groups.NAME", which `path` begins with */
        wte__quant_path settings;
        wte__quant_path *before; /* its targets are the entries that stand before this one */
    } group;                     /* of compressed-tensors, that is being read */
    unsigned depth;              /* objects open inside the object; 0 = itself */
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
    const wte__bytes text = wte__json_text(&w->json, w->arena, true);
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

static const char groups[] = "config_groups.";
#define N_GROUPS (sizeof groups - 1)

/* Whether a path of `bytes` is inside of compressed-tensors' groups. */
static bool in_group(const struct walk *w, size_t bytes)
{
    return bytes > N_GROUPS && memcmp(w->path, groups, N_GROUPS) == 0;
}

static void begin_group(struct walk *w, size_t bytes)
{
    memset(&w->group, 0, sizeof w->group);
    w->group.bytes = bytes;
    w->group.settings.mode = "";
    w->group.before = w->out->paths;
}

/* What its weights are goes to all its targets. */
static void end_group(struct walk *w)
{
    for (wte__quant_path *p = w->out->paths; p && p != w->group.before; p = p->next) {
        p->bits = w->group.settings.bits;
        p->group = w->group.settings.group;
    }
}

/* The list of a group's targets, whose bracket was just read. */
static wte_status read_targets(struct walk *w)
{
    wte__json *j = &w->json;
    while (wte__json_next(j) != WTE__JSON_ARRAY_END) {
        if (j->kind == WTE__JSON_ERROR) return wte__json_fail(j, w->err);
        if (j->kind != WTE__JSON_STRING) {
            if (!wte__json_skip_rest(j)) return wte__json_fail(j, w->err);
            return WTE_OK;
        }
        wte__quant_path *p = wte__arena_take(w->arena, sizeof *p);
        if (!p) return wte__no_memory(w->err, sizeof *p, j->name);
        memset(p, 0, sizeof *p);
        p->mode = "";
        WTE_TRY(copy_text(w, &p->name));
        p->next = w->out->paths;
        w->out->paths = p;
    }
    return WTE_OK;
}

/* A scalar of an object inside it: of compressed-tensors' groups, or of one module. */
static wte_status take_inner(struct walk *w, size_t parent, const char *key)
{
    static const char weights[] = ".weights";
    const size_t n_weights = sizeof weights - 1;
    const wte__json *j = &w->json;
    const char *path = w->path;
    uint64_t count = 0;
    if (in_group(w, parent)) {
        const bool of_weights =
            parent > n_weights && memcmp(path + parent - n_weights, weights, n_weights) == 0;
        if (of_weights && strcmp(key, "group_size") == 0)
            (void)wte__json_i64(j, &w->group.settings.group);
        if (!of_weights || strcmp(key, "num_bits") != 0 || !wte__json_u64(j, &count)) return WTE_OK;
        w->group.settings.bits = count;
        if (count < 32) w->out->group_bits |= UINT32_C(1) << count;
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

/* An object or a list inside the object. */
static wte_status enter(struct walk *w, size_t parent, size_t bytes)
{
    static const char targets[] = ".targets";
    wte__json *j = &w->json;
    if (j->kind == WTE__JSON_OBJECT) {
        w->end[++w->depth] = bytes;
        if (parent == N_GROUPS - 1 && in_group(w, bytes)) begin_group(w, bytes);
        return WTE_OK;
    }
    const bool of_group = w->group.bytes && parent == w->group.bytes && in_group(w, bytes) &&
                          strcmp(w->path + parent, targets) == 0;
    if (of_group) return read_targets(w);
    return wte__json_skip_rest(j) ? WTE_OK : wte__json_fail(j, w->err);
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
    case WTE__JSON_OBJECT:
    case WTE__JSON_ARRAY: return enter(w, parent, at + (size_t)n);
    default: return w->depth ? take_inner(w, parent, w->path + at) : take_own(w, w->path);
    }
}

/* Two objects of one config: the surer one counts, and what the other says of modules besides. */
static void merge(wte__quant_said *kept, wte__quant_said *said)
{
    if (!kept->at) {
        *kept = *said;
        return;
    }
    const bool surer = said->rank < kept->rank;
    wte__quant_said *first = surer ? said : kept;
    const wte__quant_said *second = surer ? kept : said;
    const bool alike =
        !second->method[0] || !first->method[0] || wte__quant_is(second->method, first->method);
    if (alike && !first->paths) first->paths = second->paths;
    if (surer) *kept = *said;
}

/* The object whose brace was just read, to its end. */
static wte_status read_object(struct walk *w, uint32_t rank, const char *path)
{
    wte__quant_said *const kept = w->out;
    wte__quant_said said = { .at = path, .method = "", .version = "", .format = "", .mode = "" };
    said.rank = rank;
    w->out = &said;
    w->depth = 0;
    wte_status status = WTE_OK;
    for (bool open = true; open && status == WTE_OK;) {
        switch (wte__json_next(&w->json)) {
        case WTE__JSON_KEY: status = read_key(w); break;
        case WTE__JSON_OBJECT_END:
            open = w->depth > 0;
            if (open && w->group.bytes && w->end[w->depth] == w->group.bytes) {
                end_group(w);
                w->group.bytes = 0;
            }
            if (open) w->depth--;
            break;
        default: status = wte__json_fail(&w->json, w->err); break;
        }
    }
    w->out = kept;
    if (status == WTE_OK) merge(kept, &said);
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
