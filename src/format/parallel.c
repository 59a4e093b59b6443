/* A part of a model and those beside it: finding them, reading them all, and seeing that they
 * agree. How they are named is parts_names.c, how their tensors are joined parts_join.c. */
#include "format/parallel.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"

/* Which parts there are. */
typedef struct listing {
    const char *path; /* of the one that was asked for */
    const wte__parallel_name *name;
    uint8_t seen[WTE_LIMIT_SHARDS / 8];
    uint64_t count, most; /* files; the largest number, of any size */
} listing;

/* A name beside that of the part: the same but for its number? Another layer or stage has as many
 * parts. */
static bool visit(void *ctx, const char *name)
{
    listing *l = ctx;
    const wte__parallel_name *own = l->name;
    const char *base = l->path + own->base;
    const size_t before = own->at - own->base, n = strlen(name);
    wte__parallel_name it;
    if (!wte__parallel_match(own->scheme, name, n, &it)) return true;
    const size_t rest = n - it.at - it.digits, after = before + own->digits;
    const bool start = it.at == before && memcmp(name, base, before) == 0;
    const bool end =
        own->scheme->files || (strncmp(name + it.at + it.digits, base + after, rest) == 0 &&
                               (own->scheme->in_folder || !base[after + rest]));
    if (!start && own->scheme->pattern[0] == '*') return true; /* of another model */
    if (it.number > l->most) l->most = it.number;
    if (!start || !end) return true;
    l->count++;
    if (it.number < WTE_LIMIT_SHARDS) l->seen[it.number / 8] |= (uint8_t)(1u << it.number % 8);
    return true;
}

/* The folder in which the parts' names are, as it was written; "" for the current one. */
static bool folder_of(const char *path, const wte__parallel_name *name, char dir[WTE_LIMIT_PATH])
{
    if (name->base >= WTE_LIMIT_PATH) return false;
    memcpy(dir, path, name->base);
    dir[name->base] = '\0';
    return true;
}

/* What is missing, from the folder on; "said" tells who knows of it. */
static wte_status missing(const wte_file *f, const wte__parallel_name *name, uint64_t number,
                          uint64_t count, const wte__parallel_said *said, wte_error *err)
{
    char path[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN], who[96] = "";
    if (!wte__parallel_path(f->path, name, number, 0, path)) path[name->base] = '\0';
    const char *base = path + name->base;
    if (said && said->parts)
        snprintf(who, sizeof who, " (%.40s says %" PRIu64 " parts)", said->by, said->parts);
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: part %" PRIu64 " of %" PRIu64 " is missing: no '%s' beside it%s", f->path,
                     number, count, wte__show(shown, base, strlen(base)), who);
}

static wte_status check_listing(const wte_file *f, const listing *l, const wte__parallel_said *said,
                                wte_error *err)
{
    uint64_t first = 0;
    if (l->most >= WTE_LIMIT_SHARDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: there is a part %" PRIu64 " beside it, but at most %u are joined",
                         f->path, l->most, WTE_LIMIT_SHARDS);
    while (first <= l->most && (l->seen[first / 8] >> first % 8 & 1)) first++;
    return first > l->most ? WTE_OK : missing(f, l->name, first, l->most + 1, said, err);
}

/* Reading ---------------------------------------------------------------------------------------
 */

static wte_status open_part(wte_file *f, const wte__parallel *p, const char *path, uint64_t number,
                            const char *dir, wte_error *err)
{
    const wte_format want = p->scheme->safetensors ? WTE_FORMAT_SAFETENSORS : WTE_FORMAT_TORCH;
    wte_error why = { 0 };
    wte_format kind;
    wte__part *part = wte__part_add(f, path);
    if (!part) return wte__no_memory(err, WTE_LIMIT_PATH, "the parts of a model");
    const wte_status status = wte__part_open(part, dir, &why);
    if (status != WTE_OK && why.sys_errno == EMFILE)
        return wte__fail_os(err, WTE_E_LIMIT, EMFILE,
                            "%s: part %" PRIu64 " of %u: one file each is kept open (raise ulimit "
                            "-n)",
                            f->path, number, p->n);
    if (status != WTE_OK) {
        if (err) *err = why;
        return status;
    }
    WTE_TRY(wte__shard_kind(&part->file, path, &kind, err));
    if (kind == want) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, 0, "%s: is a %s file, but a part is %s", path,
                     wte_format_name(kind), p->scheme->safetensors ? "safetensors" : "PyTorch's");
}

/* All files of all parts, first[k] being where part k's begin. They are l->count. */
static wte_status open_parts(wte_file *f, const wte__parallel *p, const listing *l, const char *dir,
                             uint32_t *first, wte_error *err)
{
    char path[WTE_LIMIT_PATH];
    /* the part that was named was the first so far */
    wte__file_close(&f->parts[0].file);
    wte__strfree(f->allocator, f->parts[0].path);
    f->n_parts = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        bool more = true;
        first[i] = (uint32_t)f->n_parts;
        for (uint64_t k = 0; more; k++) {
            if (!wte__parallel_path(f->path, l->name, i, k, path))
                return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                                 "%.100s: path is longer than %u bytes", f->path,
                                 WTE_LIMIT_PATH - 1);
            if (k) WTE_TRY(wte__path_optional(path, &more, NULL, err));
            if (more) WTE_TRY(open_part(f, p, path, i, dir, err));
            more = more && p->scheme->files;
        }
    }
    first[p->n] = (uint32_t)f->n_parts;
    if (f->n_parts == l->count) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: %" PRIu64 " files of the parts are beside it, but only %zu are counted "
                     "without a gap",
                     f->path, l->count, f->n_parts);
}

const char *wte__shape_text(const wte_file *f, const wte__tensor_entry *e,
                            char out[WTE__SHAPE_TEXT])
{
    size_t used = 0;
    snprintf(out, WTE__SHAPE_TEXT, "[]");
    for (uint32_t i = 0; i < e->rank && used < WTE__SHAPE_TEXT; i++)
        used +=
            (size_t)snprintf(out + used, WTE__SHAPE_TEXT - used, "%s%" PRIu64 "%s", i ? ", " : "[",
                             f->dims[e->shape_at + i], i + 1 == e->rank ? "]" : "");
    return out;
}

static bool same_form(const wte_file *f, const wte__tensor_entry *a, const wte__tensor_entry *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 ||
            memcmp(f->dims + a->shape_at, f->dims + b->shape_at, a->rank * sizeof *f->dims) == 0);
}

/* The first part's file, with its folder where that alone tells the two apart (Megatron). */
static const char *first_name(const wte_file *f, uint32_t part)
{
    const char *path = f->parts[0].path, *base = wte__path_base(path);
    if (strcmp(base, wte__path_base(f->parts[part].path)) != 0 || base == path) return base;
    for (base--; base > path && base[-1] != '/';) base--;
    return base;
}

/* The tensors of part `part` are f's entries from `first` on; names finds them. They become pieces
 * in the order of the first part's. */
static wte_status keep_pieces(wte_file *f, wte__parallel *p, uint32_t part, size_t first,
                              const wte__names *names, wte_error *err)
{
    char a[WTE__NAME_SHOWN], x[WTE__SHAPE_TEXT], y[WTE__SHAPE_TEXT];
    void *pieces = p->pieces;
    const bool ok = wte__grow(f->allocator, &pieces, &p->pieces_cap, p->n_pieces + p->n_tensors + 1,
                              sizeof *p->pieces);
    p->pieces = pieces;
    if (!ok) return wte__no_memory(err, p->n_tensors * sizeof *p->pieces, "the list of tensors");
    for (size_t i = 0; i < p->n_tensors; i++) {
        const wte__tensor_entry *own = part ? &p->pieces[i] : &f->entries[i];
        const wte__bytes text = { (const uint8_t *)own->name, own->name_bytes };
        uint64_t k = i;
        wte__show(a, own->name, own->name_bytes);
        if (!wte__names_find(names, text, &k))
            return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: has no tensor '%s', which %s has", f->parts[part].path, a,
                             first_name(f, part));
        const wte__tensor_entry *found = &f->entries[first + k];
        if (!same_form(f, own, found))
            return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: tensor '%s' is %s %s, but %s %s in %s; parts of one shape are "
                             "joined: merge these with the tool that wrote them",
                             f->parts[part].path, a, wte_dtype_name((wte_dtype)found->dtype),
                             wte__shape_text(f, found, x), wte_dtype_name((wte_dtype)own->dtype),
                             wte__shape_text(f, own, y), first_name(f, part));
        p->pieces[p->n_pieces++] = *found;
    }
    return WTE_OK;
}

/* Whatever the first part has is there; is there anything else? */
static wte_status check_others(const wte_file *f, const wte__parallel *p, uint32_t part,
                               size_t first, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    for (size_t i = first; f->n_entries - first > p->n_tensors && i < f->n_entries; i++) {
        const wte__tensor_entry *e = &f->entries[i];
        const wte__bytes text = { (const uint8_t *)e->name, e->name_bytes };
        uint64_t k;
        if (wte__names_find(&f->names, text, &k)) continue;
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX, "%s: has a tensor '%s', which %s has not",
                         f->parts[part].path, wte__show(shown, e->name, e->name_bytes),
                         first_name(f, part));
    }
    return WTE_OK;
}

static wte_status read_file(wte_file *f, const wte__parallel *p, uint32_t file, wte__names *names,
                            wte_error *err)
{
    return p->scheme->safetensors ? wte__safetensors_read_part(f, file, names, err)
                                  : wte__torch_read_part(f, file, names, err);
}

/* Tensors of a part's files; names get their numbers among them. */
static wte_status read_files(wte_file *f, const wte__parallel *p, uint32_t from, uint32_t to,
                             wte__names *names, wte_error *err)
{
    const size_t first = f->n_entries;
    if (!p->scheme->safetensors) return read_file(f, p, from, names, err); /* numbered as wished */
    for (uint32_t i = from; i < to; i++) {
        wte__names own;
        wte__names_init(&own, f->allocator);
        const wte_status status = read_file(f, p, i, &own, err);
        wte__names_clear(&own);
        if (status != WTE_OK) return status;
    }
    if (!wte__names_reserve(names, f->n_entries - first))
        return wte__no_memory(err, f->n_entries - first, "the names of the tensors");
    for (size_t i = first; i < f->n_entries; i++) {
        const wte__tensor_entry *e = &f->entries[i];
        const wte__bytes text = { (const uint8_t *)e->name, e->name_bytes };
        char shown[WTE__NAME_SHOWN];
        uint64_t number = i - first;
        bool found;
        if (!wte__names_add(names, text, &number, &found))
            return wte__no_memory(err, e->name_bytes, "the names of the tensors");
        if (found)
            return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                             "%s: tensor '%s' is in another file of this part, too",
                             f->parts[e->part].path, wte__show(shown, e->name, e->name_bytes));
    }
    return WTE_OK;
}

static wte_status read_later(wte_file *f, wte__parallel *p, const uint32_t *files, wte_error *err)
{
    wte__names names;
    const size_t first = f->n_entries;
    wte__names_init(&names, f->allocator);
    wte_status status = read_files(f, p, files[0], files[1], &names, err);
    if (status == WTE_OK) status = keep_pieces(f, p, files[0], first, &names, err);
    if (status == WTE_OK) status = check_others(f, p, files[0], first, err);
    wte__names_clear(&names);
    f->n_entries = first;
    return status;
}

static wte_status read_parts(wte_file *f, wte__parallel *p, const uint32_t *files, wte_error *err)
{
    WTE_TRY(read_files(f, p, files[0], files[1], &f->names, err));
    p->n_tensors = f->n_entries;
    WTE_TRY(keep_pieces(f, p, 0, 0, &f->names, err));
    for (uint32_t i = 1; i < p->n; i++) WTE_TRY(read_later(f, p, files + i, err));
    if (!f->training.parts) return WTE_OK;
    /* the checkpoints themselves know best */
    p->said = (wte__parallel_said){ f->training.parts, 0, f->training.dim, f->training.vocab,
                                    f->training.by };
    if (p->said.parts == p->n) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: %s says %" PRIu64 " parts, but %u are beside each other", f->path,
                     p->said.by, p->said.parts, p->n);
}

static wte_status read_all(wte_file *f, const listing *l, const wte__parallel_said *said,
                           const char *dir, wte_error *err)
{
    wte__parallel *p = wte__alloc_zeroed(f->allocator, sizeof *p);
    if (!p) return wte__no_memory(err, sizeof *p, "the parts of a model");
    f->made = p;
    f->maker = &wte__parallel_maker;
    p->scheme = l->name->scheme;
    f->format =
        p->scheme->safetensors ? WTE_FORMAT_SAFETENSORS_PARALLEL : WTE_FORMAT_TORCH_PARALLEL;
    p->n = (uint32_t)l->most + 1;
    p->said = *said;
    uint32_t *files = wte__alloc_array(f->allocator, (size_t)p->n + 1, sizeof *files);
    if (!files) return wte__no_memory(err, p->n * sizeof *files, "the parts of a model");
    wte_status status = open_parts(f, p, l, dir, files, err);
    if (status == WTE_OK) status = read_parts(f, p, files, err);
    wte__free(f->allocator, files, ((size_t)p->n + 1) * sizeof *files);
    if (status != WTE_OK) return status;
    WTE_TRY(wte__parallel_join(f, p, err));
    f->n_listed = f->n_entries;
    return WTE_OK;
}

/* Files of torch.distributed.checkpoint, each of any pieces of any tensors. */
static wte_status refuse_distributed(const wte_file *f, uint64_t count, const char *dir,
                                     wte_error *err)
{
    char path[WTE_LIMIT_PATH];
    bool listed = false;
    if (wte__path_join(path, dir, ".metadata"))
        WTE_TRY(wte__path_optional(path, &listed, NULL, err));
    return wte__fail(
        err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
        "%s: one of %" PRIu64 " file%s of a distributed checkpoint; %s tells its rows. "
        "Use: python3 -m torch.distributed.checkpoint.format_utils dcp_to_torch . m.pt",
        f->path, count, count == 1 ? "" : "s",
        listed ? ".metadata" : "a .metadata that is missing");
}

wte_status wte__parallel_read(wte_file *f, bool *taken, wte_error *err)
{
    static const char params[] = "params.json", config[] = "config.json";
    char dir[WTE_LIMIT_PATH];
    wte__parallel_name name;
    wte__parallel_said said = { 0 };
    listing l;
    *taken = false;
    if (!wte__parallel_name_of(f->path, &name) || !folder_of(f->path, &name, dir)) return WTE_OK;
    memset(&l, 0, sizeof l);
    l.path = f->path;
    l.name = &name;
    /* a folder that cannot be listed may hold more parts: one alone would be a piece of each table
     */
    WTE_TRY(wte__path_list(dir[0] ? dir : ".", visit, &l, err));
    if (name.scheme->refused) return refuse_distributed(f, l.count, dir, err);
    if (l.most || name.scheme->safetensors)
        WTE_TRY(wte__parallel_config(
            f, dir, name.scheme->by_name || name.scheme->safetensors ? config : params, &said,
            err));
    if (said.parts > l.most + 1) l.most = said.parts - 1;
    if (l.most == 0 && l.count < 2) {
        const bool of_parts = name.scheme->by_name || name.scheme->safetensors;
        if (of_parts && said.parts == 0) f->lone_part = name.scheme->writer;
        return WTE_OK;
    }
    *taken = true;
    WTE_TRY(check_listing(f, &l, &said, err));
    if (said.stages > 1)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: the model is cut into %" PRIu64 " stages (%s), which are not joined",
                         f->path, said.stages, said.by);
    return read_all(f, &l, &said, dir, err);
}

const char *wte__parallel_lone_part(const wte_file *f)
{
    return f->training.parts ? NULL : f->lone_part;
}

wte_status wte__parallel_alone(const wte_file *f, wte_error *err)
{
    wte__parallel_name name;
    const uint64_t n = f->training.parts;
    if (n < 2 || f->memory) return WTE_OK;
    if (wte__parallel_name_of(f->path, &name) && name.number == 0) {
        const wte__parallel_said said = { n, 0, 0, 0, f->training.by };
        return missing(f, &name, 1, n, &said, err);
    }
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: is one part of %" PRIu64 " (%s), so its row 0 need not be id 0: put the "
                     "others beside it, as their program named them (mp_rank_00/...)",
                     f->path, n, f->training.by);
}
