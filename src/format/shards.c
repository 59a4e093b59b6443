/* Reading an index (model.safetensors.index.json, pytorch_model.bin.index.json): which tensor lies
 * in which of several files, all safetensors or all PyTorch checkpoints.
 *
 * The index decides what the model holds: a tensor that it lists must lie in the file it names. A
 * tensor that lies in one of the files but is not listed there is a stray: it is no part of the
 * model, but can be looked at (wte_file_unlisted_tensor). Only files that the index names are
 * opened. */
#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "format/format.h"

typedef struct listing {
    wte__bytes tensor;
    const char *shard;
    uint64_t at; /* of the tensor's key in the index */
    uint32_t part;
    bool found;
    uint64_t elsewhere; /* part + 1 of another file that holds a tensor of that name */
} listing;

typedef struct reader {
    wte_file *f;
    wte__json json;
    listing *list;
    size_t n, cap;
    const char **shards; /* distinct names, by bytes; number i is part i */
    size_t n_shards, shards_cap;
    wte__names tensors; /* name -> number in list */
    wte__names shard_names;
    bool torch; /* what the first shard is, all must be */
    wte_error *err;
    /* With a watch: all faults are told, and the first one is the answer. */
    const wte_shard_callback *watch;
    bool gone[WTE_LIMIT_SHARDS]; /* shards that could not be read */
    wte_status first;
    wte_error first_error;
} reader;

wte__match wte__shards_match(const wte__head *head)
{
    uint64_t at = head->n >= 3 && memcmp(head->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < head->n && strchr(" \t\r\n", head->bytes[at]) && head->bytes[at]) at++;
    return at < head->n && head->bytes[at] == '{' ? WTE__MATCH_PERHAPS : WTE__MATCH_NO;
}

static wte_status no_memory(const reader *r)
{
    return wte__no_memory(r->err, r->f->text_bytes, "the index of shards");
}

static wte_status refuse(const reader *r, const char *what)
{
    if (r->json.kind == WTE__JSON_ERROR) return wte__json_fail(&r->json, r->err);
    return wte__json_refuse(&r->json, r->err, what);
}

static const char *settle(reader *r, uint64_t *bytes)
{
    char *text = r->f->text + (r->json.raw.data - (const uint8_t *)r->f->text);
    *bytes = wte__json_decode(&r->json, text);
    text[*bytes] = '\0';
    return text;
}

/* A shard is a file in the index's own folder or below it: an index must not reach elsewhere. */
static bool stays_below(const char *name, uint64_t bytes)
{
    if (bytes == 0 || strlen(name) != bytes || name[0] == '/') return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0')) return false;
    }
    return true;
}

static wte_status read_listing(reader *r)
{
    void *list = r->list;
    bool ok = wte__grow(r->f->allocator, &list, &r->cap, r->n + 1, sizeof(listing));
    r->list = list;
    if (!ok) return no_memory(r);
    listing *l = &r->list[r->n];
    memset(l, 0, sizeof *l);
    l->at = r->json.token_at;
    if (r->n == WTE_LIMIT_TENSORS)
        return wte__fail(r->err, WTE_E_LIMIT, l->at, "%s: more than %u tensors", r->f->path,
                         WTE_LIMIT_TENSORS);
    l->tensor.data = (const uint8_t *)settle(r, &l->tensor.size);
    uint64_t number = r->n, bytes;
    bool found;
    if (!wte__names_add(&r->tensors, l->tensor, &number, &found)) return no_memory(r);
    if (found) return refuse(r, "duplicate tensor name in weight_map");
    if (wte__json_next(&r->json) != WTE__JSON_STRING)
        return refuse(r, "a value of weight_map is not a file name in quotes");
    l->shard = settle(r, &bytes);
    if (!stays_below(l->shard, bytes))
        return refuse(r, "a file of weight_map does not lie in the folder of the index");
    r->n++;
    const wte__bytes shard = { (const uint8_t *)l->shard, bytes };
    number = r->n_shards;
    if (!wte__names_add(&r->shard_names, shard, &number, &found)) return no_memory(r);
    if (found) return WTE_OK;
    if (r->n_shards == WTE_LIMIT_SHARDS)
        return wte__fail(r->err, WTE_E_LIMIT, r->json.token_at, "%s: more than %u shard files",
                         r->f->path, WTE_LIMIT_SHARDS);
    void *shards = r->shards;
    ok = wte__grow(r->f->allocator, &shards, &r->shards_cap, r->n_shards + 1, sizeof(char *));
    r->shards = shards;
    if (!ok) return no_memory(r);
    r->shards[r->n_shards++] = l->shard;
    return WTE_OK;
}

static wte_status read_map(reader *r)
{
    if (wte__json_next(&r->json) != WTE__JSON_OBJECT)
        return refuse(r, "weight_map is not an object of file names");
    while (wte__json_next(&r->json) == WTE__JSON_KEY) WTE_TRY(read_listing(r));
    if (r->json.kind != WTE__JSON_OBJECT_END) return refuse(r, "");
    return r->n ? WTE_OK : refuse(r, "weight_map is empty: it lists no tensor");
}

/* Some other JSON: its beginning says what ({"error": "not found"}), in one line. */
static wte_status no_index(const reader *r)
{
    char shown[WTE__NAME_SHOWN], start[WTE__NAME_SHOWN];
    size_t n = 0;
    for (size_t i = 0; i < r->f->text_bytes && n < sizeof start; i++)
        if (!strchr(" \t\r\n", r->f->text[i]))
            start[n++] = r->f->text[i];
        else if (n && start[n - 1] != ' ')
            start[n++] = ' ';
    return wte__fail(
        r->err, WTE_E_FORMAT, 0,
        "%s: is JSON text, not tensors, and no index of shards (no \"weight_map\"): %s", r->f->path,
        wte__show(shown, start, n));
}

static wte_status read_index(reader *r)
{
    wte__json *j = &r->json;
    bool seen = false;
    if (wte__json_next(j) != WTE__JSON_OBJECT) return refuse(r, "an object was expected");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        if (!wte__json_is(j, "weight_map")) {
            if (!wte__json_skip_value(j)) return wte__json_fail(j, r->err);
            continue;
        }
        if (seen) return refuse(r, "duplicate key 'weight_map'");
        seen = true;
        WTE_TRY(read_map(r));
    }
    if (wte__json_next(j) != WTE__JSON_END) return wte__json_fail(j, r->err);
    return seen ? WTE_OK : no_index(r);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Parts in order of their names, whatever the order in which tensors name them. */
static wte_status number_shards(reader *r)
{
    const char **scratch = wte__alloc_array(r->f->allocator, r->n_shards, sizeof *scratch);
    if (!scratch) return no_memory(r);
    wte__sort(r->shards, r->n_shards, sizeof *r->shards, by_text, scratch);
    wte__free(r->f->allocator, scratch, r->n_shards * sizeof *scratch);
    wte__names_clear(&r->shard_names);
    if (!wte__names_reserve(&r->shard_names, r->n_shards)) return no_memory(r);
    for (size_t i = 0; i < r->n_shards; i++) {
        const wte__bytes text = { (const uint8_t *)r->shards[i], strlen(r->shards[i]) };
        uint64_t number = i;
        bool found;
        if (!wte__names_add(&r->shard_names, text, &number, &found)) return no_memory(r);
    }
    for (size_t i = 0; i < r->n; i++) {
        const wte__bytes text = { (const uint8_t *)r->list[i].shard, strlen(r->list[i].shard) };
        uint64_t number = 0;
        (void)wte__names_find(&r->shard_names, text, &number);
        r->list[i].part = (uint32_t)number;
    }
    return WTE_OK;
}

/* The first tensor that the index puts into part i. */
static const listing *first_of(const reader *r, size_t part)
{
    size_t i = 0;
    while (r->list[i].part != part) i++;
    return &r->list[i];
}

/* By its content, as everywhere; all are what the first one is. */
static wte_status check_kind(reader *r, size_t i)
{
    const wte__part *part = &r->f->parts[i];
    wte_format kind;
    WTE_TRY(wte__shard_kind(&part->file, part->path, &kind, r->err));
    const bool torch = kind == WTE_FORMAT_TORCH;
    if (i == 0) r->torch = torch;
    if (torch == r->torch) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, 0, "%s: is a %s file, but the first shard is not",
                     part->path, wte_format_name(kind));
}

/* How many files from i on are not there, and how many tensors the index puts into these. */
static size_t count_missing(const reader *r, size_t i, const char *dir, size_t *tensors)
{
    bool gone[WTE_LIMIT_SHARDS] = { false };
    char path[WTE_LIMIT_PATH];
    size_t missing = 0;
    for (; i < r->n_shards; i++) {
        wte__path_kind kind;
        gone[i] = wte__path_join(path, dir, r->shards[i]) &&
                  wte__path_look(path, &kind, NULL, NULL) == WTE_OK && kind == WTE__PATH_NONE;
        missing += gone[i];
    }
    *tensors = 0;
    for (size_t k = 0; k < r->n; k++) *tensors += gone[r->list[k].part];
    return missing;
}

static wte_status tell_missing(reader *r, size_t i, const char *dir, const char *tensor)
{
    char shard[WTE__NAME_SHOWN], rest[64] = "";
    size_t tensors;
    const size_t missing = count_missing(r, i, dir, &tensors);
    if (tensors > 1)
        snprintf(rest, sizeof rest, " (%zu shard%s of %zu, %zu tensors)", missing,
                 missing == 1 ? "" : "s", r->n_shards, tensors);
    return wte__fail(r->err, WTE_E_FORMAT, first_of(r, i)->at,
                     "%s: shard '%s' is missing, which should hold '%s'%s", r->f->path,
                     wte__show(shard, r->shards[i], strlen(r->shards[i])), tensor, rest);
}

static wte_status open_shard(reader *r, size_t i, const char *dir)
{
    wte_file *f = r->f;
    char path[WTE_LIMIT_PATH], name[WTE__NAME_SHOWN];
    const listing *l = first_of(r, i);
    if (!wte__path_join(path, dir, r->shards[i]))
        return wte__fail(r->err, WTE_E_FORMAT, l->at, "%s: the path of a shard is over %u bytes",
                         f->path, WTE_LIMIT_PATH - 1);
    wte__part *part = wte__part_add(f, path);
    if (!part) return no_memory(r);
    wte_error why = { 0 };
    wte_status status = wte__part_open(part, dir, &why);
    if (status == WTE_OK) return check_kind(r, i);
    wte__show(name, l->tensor.data, l->tensor.size);
    if (why.sys_errno == EMFILE)
        return wte__fail_os(r->err, WTE_E_LIMIT, EMFILE,
                            "%s: shard %zu of %zu: one file each is kept open (raise ulimit -n)",
                            f->path, i + 1, r->n_shards);
    wte__path_kind kind;
    if (why.sys_errno == ENOENT && wte__path_look(path, &kind, NULL, NULL) == WTE_OK)
        status = tell_missing(r, i, dir, name);
    else if (r->err)
        *r->err = why;
    return status;
}

/* All faults ----------------------------------------------------------------------------------- */

/* Whether reading goes on after a fault, which is told. */
static bool goes_on(reader *r, wte_status status, const wte_shard_fault *fault)
{
    if (!r->watch || status == WTE_E_MEMORY || status == WTE_E_LIMIT) return false;
    r->watch->fault(r->watch->ctx, fault);
    if (r->first == WTE_OK) {
        r->first = status;
        if (r->err) r->first_error = *r->err;
    }
    return true;
}

/* A shard that is not there, or that cannot be read. */
static bool goes_on_without(reader *r, size_t i, wte_status status)
{
    const listing *l = first_of(r, i);
    wte_shard_fault fault = { WTE_SHARD_BROKEN,
                              (const char *)l->tensor.data,
                              l->tensor.size,
                              0,
                              r->shards[i],
                              "",
                              r->err ? r->err->message : "" };
    wte__path_kind kind = WTE__PATH_FILE;
    const wte__part *part = r->f->n_parts > i ? &r->f->parts[i] : NULL;
    for (size_t k = 0; k < r->n; k++) fault.tensors += r->list[k].part == i;
    if (part && part->file.fd < 0 && wte__path_look(part->path, &kind, NULL, NULL) == WTE_OK &&
        kind == WTE__PATH_NONE) {
        fault.kind = WTE_SHARD_MISSING;
        fault.problem = "";
    }
    if (!part) return false; /* its number would be the next one's */
    r->gone[i] = true;
    return goes_on(r, status, &fault);
}

/* Tensors that lie elsewhere or nowhere, twice, or without being listed. */
static void tell_tensors(reader *r)
{
    const wte_file *f = r->f;
    for (size_t i = 0; i < r->n; i++) {
        const listing *l = &r->list[i];
        if (l->found || (r->gone[l->part] && !l->elsewhere)) continue;
        const wte_shard_fault fault = { l->elsewhere ? WTE_SHARD_OTHER : WTE_SHARD_NONE,
                                        (const char *)l->tensor.data,
                                        l->tensor.size,
                                        1,
                                        l->shard,
                                        l->elsewhere ? r->shards[l->elsewhere - 1] : "",
                                        "" };
        r->watch->fault(r->watch->ctx, &fault);
    }
    for (size_t i = 0; i < f->n_entries; i++) {
        const wte__tensor_entry *e = &f->entries[i];
        const wte__bytes text = { (const uint8_t *)e->name, e->name_bytes };
        const uint32_t part = f->parts[e->part].of;
        uint64_t number;
        const bool listed = wte__names_find(&r->tensors, text, &number);
        if (listed && (r->list[number].part == part || !r->list[number].found)) continue;
        const wte_shard_fault fault = { listed ? WTE_SHARD_TWICE : WTE_SHARD_STRAY,
                                        e->name,
                                        e->name_bytes,
                                        1,
                                        listed ? r->list[number].shard : "",
                                        r->shards[part],
                                        "" };
        r->watch->fault(r->watch->ctx, &fault);
    }
}

/* ---------------------------------------------------------------------------------------------- */

/* The folder of the index, as the caller wrote it; "" is the current one. */
static wte_status open_shards(reader *r)
{
    wte_file *f = r->f;
    char dir[WTE_LIMIT_PATH];
    size_t n = (size_t)(wte__path_base(f->path) - f->path);
    if (f->memory)
        return wte__fail(r->err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: an index in memory has no folder to find its shards in", f->path);
    if (n >= sizeof dir)
        return wte__fail(r->err, WTE_E_ARGUMENT, WTE_NO_INDEX, "path is longer than %zu bytes",
                         sizeof dir - 1);
    memcpy(dir, f->path, n);
    dir[n] = '\0';
    /* the index itself was part 0 so far */
    wte__file_close(&f->parts[0].file);
    wte__strfree(f->allocator, f->parts[0].path);
    f->n_parts = 0;
    for (size_t i = 0; i < r->n_shards; i++) {
        const wte_status status = open_shard(r, i, dir);
        if (status != WTE_OK && !goes_on_without(r, i, status)) return status;
    }
    return WTE_OK;
}

static wte_status read_tensors(reader *r, uint32_t part, wte__names *names)
{
    if (r->torch) return wte__torch_read_part(r->f, part, names, r->err);
    return wte__safetensors_read_part(r->f, part, names, r->err);
}

/* Read a shard's header and mark what the index lists in it. */
static wte_status read_shard(reader *r, uint32_t part)
{
    wte_file *f = r->f;
    wte__names names;
    size_t first = f->n_entries;
    wte__names_init(&names, f->allocator);
    wte_status status = read_tensors(r, part, &names);
    wte__names_clear(&names);
    for (size_t i = first; status == WTE_OK && i < f->n_entries; i++) {
        const wte__bytes text = { (const uint8_t *)f->entries[i].name, f->entries[i].name_bytes };
        uint64_t number;
        if (!wte__names_find(&r->tensors, text, &number)) continue;
        listing *l = &r->list[number];
        if (l->part == part)
            l->found = true;
        else
            l->elsewhere = (uint64_t)part + 1;
    }
    return status;
}

static wte_status check_found(const reader *r)
{
    size_t misplaced = 0;
    char all[64] = "";
    for (size_t i = 0; i < r->n; i++) misplaced += !r->list[i].found;
    if (misplaced > 1) snprintf(all, sizeof all, ", the first of %zu", misplaced);
    for (size_t i = 0; i < r->n; i++) {
        const listing *l = &r->list[i];
        if (l->found) continue;
        char a[WTE__NAME_SHOWN], b[WTE__NAME_SHOWN], c[WTE__NAME_SHOWN];
        wte__show(a, l->tensor.data, l->tensor.size);
        wte__show(b, l->shard, strlen(l->shard));
        if (!l->elsewhere)
            return wte__fail(r->err, WTE_E_FORMAT, l->at,
                             "%s: tensor '%s' should be in '%s', but no shard has it (byte %" PRIu64
                             "%s)",
                             r->f->path, a, b, l->at, all);
        const char *other = r->shards[l->elsewhere - 1];
        return wte__fail(r->err, WTE_E_FORMAT, l->at,
                         "%s: tensor '%s' should be in '%s', but lies in '%s' (byte %" PRIu64 "%s)",
                         r->f->path, a, b, wte__show(c, other, strlen(other)), l->at, all);
    }
    return WTE_OK;
}

/* Listed entries first, strays behind them, both in order of part and place. */
static wte_status part_entries(reader *r)
{
    wte_file *f = r->f;
    size_t n = f->n_entries, listed = 0, strays = 0;
    if (!wte__names_reserve(&f->names, r->n)) return no_memory(r);
    wte__tensor_entry *away = wte__alloc_array(f->allocator, n - r->n + 1, sizeof *away);
    if (!away) return no_memory(r);
    wte_status status = WTE_OK;
    for (size_t i = 0; i < n; i++) {
        const wte__tensor_entry *e = &f->entries[i];
        const wte__bytes text = { (const uint8_t *)e->name, e->name_bytes };
        uint64_t number = 0;
        bool found;
        if (!wte__names_find(&r->tensors, text, &number) ||
            r->list[number].part != f->parts[e->part].of) {
            away[strays++] = *e;
            continue;
        }
        number = listed;
        if (!wte__names_add(&f->names, text, &number, &found)) status = no_memory(r);
        f->entries[listed++] = *e;
    }
    if (strays) memcpy(f->entries + listed, away, strays * sizeof *away);
    wte__free(f->allocator, away, (n - r->n + 1) * sizeof *away);
    f->n_listed = listed;
    return status;
}

static wte_status load_text(reader *r)
{
    wte_file *f = r->f;
    uint64_t size = f->parts[0].file.size;
    uint64_t cap = f->max_header_bytes ? f->max_header_bytes : WTE_LIMIT_CONFIG;
    if (size > cap)
        return wte__fail(r->err, WTE_E_LIMIT, 0,
                         "%s: JSON text of %" PRIu64 " bytes, but at most %" PRIu64
                         " are read (" WTE__RAISE_HEADER ")",
                         f->path, size, cap);
    f->text = wte__alloc_array(f->allocator, size + 1, 1);
    if (!f->text) return wte__no_memory(r->err, size + 1, f->path);
    f->text_bytes = (size_t)size;
    f->text[size] = '\0';
    WTE_TRY(wte__file_read_at(&f->parts[0].file, 0, f->text, size, f->path, r->err));
    wte__json_init(&r->json, f->text, size, f->path, 0);
    if (size >= 3 && memcmp(f->text, "\xef\xbb\xbf", 3) == 0) r->json.at = 3;
    return WTE_OK;
}

static wte_status read_all(reader *r)
{
    WTE_TRY(load_text(r));
    WTE_TRY(read_index(r));
    WTE_TRY(number_shards(r));
    WTE_TRY(open_shards(r));
    for (uint32_t i = 0; i < r->n_shards; i++) {
        const wte_status status = r->gone[i] ? WTE_OK : read_shard(r, i);
        if (status != WTE_OK && !goes_on_without(r, i, status)) return status;
    }
    if (r->torch) r->f->format = WTE_FORMAT_TORCH_INDEX;
    const wte_status found = r->first == WTE_OK ? check_found(r) : WTE_OK;
    if (r->watch && (r->first != WTE_OK || found != WTE_OK)) tell_tensors(r);
    if (r->first != WTE_OK && r->err) *r->err = r->first_error;
    if (r->first != WTE_OK) return r->first;
    WTE_TRY(found);
    return part_entries(r);
}

wte_status wte__shards_read(wte_file *f, wte_error *err)
{
    wte_error own = { 0 };
    reader r = { .f = f, .err = err ? err : &own, .watch = f->shards };
    wte__names_init(&r.tensors, f->allocator);
    wte__names_init(&r.shard_names, f->allocator);
    wte_status status = read_all(&r);
    wte__free(f->allocator, r.list, r.cap * sizeof *r.list);
    wte__free(f->allocator, r.shards, r.shards_cap * sizeof *r.shards);
    wte__names_clear(&r.tensors);
    wte__names_clear(&r.shard_names);
    return status;
}
