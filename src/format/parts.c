/* consolidated.00.pth and the parts beside it: finding them, reading them all, and seeing that they
 * agree. How their tensors are joined is parts_join.c. */
#include "format/parts.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

#define STEM   "consolidated."
#define ENDING ".pth"

/* Which numbers there are in a folder. */
typedef struct listing {
    uint8_t seen[WTE_LIMIT_SHARDS / 8];
    uint64_t count, most; /* most: the largest, of any size */
} listing;

bool wte__parts_name(const char *name, uint64_t *number)
{
    const size_t stem = sizeof STEM - 1, n = strlen(name);
    const size_t digits = n > stem + sizeof ENDING - 1 ? n - stem - (sizeof ENDING - 1) : 0;
    uint64_t value = 0;
    *number = 0;
    if (digits < 2 || digits > 9 || memcmp(name, STEM, stem) != 0 ||
        strcmp(name + n - (sizeof ENDING - 1), ENDING) != 0 ||
        (digits > 2 && name[stem] == '0')) /* as it is counted: 00, 01, ... 99, 100 */
        return false;
    for (size_t i = 0; i < digits; i++) {
        const char c = name[stem + i];
        if (c < '0' || c > '9') return false;
        value = 10 * value + (uint64_t)(c - '0');
    }
    *number = value;
    return true;
}

static bool visit(void *ctx, const char *name)
{
    listing *l = ctx;
    uint64_t number;
    if (!wte__parts_name(name, &number)) return true;
    l->count++;
    if (number > l->most) l->most = number;
    if (number < WTE_LIMIT_SHARDS) l->seen[number / 8] |= (uint8_t)(1u << number % 8);
    return true;
}

/* The folder of a path, as it was written; "." for the current one. */
static bool folder_of(const char *path, char dir[WTE_LIMIT_PATH])
{
    const size_t n = (size_t)(wte__path_base(path) - path);
    if (n >= WTE_LIMIT_PATH) return false;
    memcpy(dir, path, n);
    dir[n] = '\0';
    return true;
}

static wte_status check_listing(const wte_file *f, const listing *l, wte_error *err)
{
    uint64_t first = 0;
    if (l->most >= WTE_LIMIT_SHARDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NOWHERE,
                         "%s: there is a part %" PRIu64 " beside it, but at most %u are joined",
                         f->path, l->most, WTE_LIMIT_SHARDS);
    while (first <= l->most && (l->seen[first / 8] >> first % 8 & 1)) first++;
    if (first > l->most) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NOWHERE,
                     "%s: part %" PRIu64 " of %" PRIu64 " is missing: no '" STEM "%02" PRIu64 ENDING
                     "' beside it",
                     f->path, first, l->most + 1, first);
}

/* Reading ---------------------------------------------------------------------------------------
 */

static wte_status open_part(wte_file *f, uint64_t number, uint64_t count, const char *dir,
                            wte_error *err)
{
    char name[64], path[WTE_LIMIT_PATH];
    wte_error why = { 0 };
    wte_format kind;
    snprintf(name, sizeof name, STEM "%02" PRIu64 ENDING, number);
    if (!wte__path_join(path, dir, name))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE, "%.100s: path is longer than %u bytes",
                         f->path, WTE_LIMIT_PATH - 1);
    wte__part *part = wte__part_add(f, path);
    if (!part) return wte__no_memory(err, sizeof path, "the parts of a model");
    const wte_status status = wte__part_open(part, dir, &why);
    if (status != WTE_OK && why.sys_errno == EMFILE)
        return wte__fail_os(err, WTE_E_LIMIT, EMFILE,
                            "%s: part %" PRIu64 " of %" PRIu64
                            ": one file each is kept open (raise ulimit -n)",
                            f->path, number, count);
    if (status != WTE_OK) {
        if (err) *err = why;
        return status;
    }
    WTE_TRY(wte__shard_kind(&part->file, path, &kind, err));
    if (kind == WTE_FORMAT_TORCH) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, 0, "%s: is a %s file, but a part is PyTorch's", path,
                     wte_format_name(kind));
}

static wte_status open_parts(wte_file *f, uint64_t count, const char *dir, wte_error *err)
{
    /* the part that was named was the first so far */
    wte__file_close(&f->parts[0].file);
    wte__strfree(f->allocator, f->parts[0].path);
    f->n_parts = 0;
    for (uint64_t i = 0; i < count; i++) WTE_TRY(open_part(f, i, count, dir, err));
    return WTE_OK;
}

const char *wte__shape_text(const wte_file *f, const wte__entry *e, char out[WTE__SHAPE_TEXT])
{
    size_t used = 0;
    snprintf(out, WTE__SHAPE_TEXT, "[]");
    for (uint32_t i = 0; i < e->rank && used < WTE__SHAPE_TEXT; i++)
        used +=
            (size_t)snprintf(out + used, WTE__SHAPE_TEXT - used, "%s%" PRIu64 "%s", i ? ", " : "[",
                             f->dims[e->shape_at + i], i + 1 == e->rank ? "]" : "");
    return out;
}

static bool same_form(const wte_file *f, const wte__entry *a, const wte__entry *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 ||
            memcmp(f->dims + a->shape_at, f->dims + b->shape_at, a->rank * sizeof *f->dims) == 0);
}

static const char *path_of(const wte_file *f, uint32_t part)
{
    return wte__path_base(f->parts[part].path);
}

/* The tensors of part `part` are f's entries from `first` on; names finds them. They become pieces
 * in the order of the first part's. */
static wte_status keep_pieces(wte_file *f, wte__parts *p, uint32_t part, size_t first,
                              const wte__names *names, wte_error *err)
{
    char a[WTE__NAME_SHOWN], x[WTE__SHAPE_TEXT], y[WTE__SHAPE_TEXT];
    void *pieces = p->pieces;
    const bool ok = wte__grow(f->allocator, &pieces, &p->pieces_cap, p->n_pieces + p->n_tensors + 1,
                              sizeof *p->pieces);
    p->pieces = pieces;
    if (!ok) return wte__no_memory(err, p->n_tensors * sizeof *p->pieces, "the list of tensors");
    for (size_t i = 0; i < p->n_tensors; i++) {
        const wte__entry *own = part ? &p->pieces[i] : &f->entries[i];
        const wte_bytes text = { (const uint8_t *)own->name, own->name_bytes };
        uint64_t k = i;
        wte__show(a, own->name, own->name_bytes);
        if (!wte__names_find(names, text, &k))
            return wte__fail(err, WTE_E_FORMAT, WTE_NOWHERE, "%s: has no tensor '%s', which %s has",
                             f->parts[part].path, a, path_of(f, 0));
        const wte__entry *found = &f->entries[first + k];
        if (!same_form(f, own, found))
            return wte__fail(err, WTE_E_FORMAT, WTE_NOWHERE,
                             "%s: tensor '%s' is %s %s, but %s %s in %s", f->parts[part].path, a,
                             wte_dtype_name((wte_dtype)found->dtype), wte__shape_text(f, found, x),
                             wte_dtype_name((wte_dtype)own->dtype), wte__shape_text(f, own, y),
                             path_of(f, 0));
        p->pieces[p->n_pieces++] = *found;
    }
    return WTE_OK;
}

/* Whatever the first part has is there; is there anything else? */
static wte_status check_others(const wte_file *f, const wte__parts *p, uint32_t part, size_t first,
                               wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    for (size_t i = first; f->n_entries - first > p->n_tensors && i < f->n_entries; i++) {
        const wte__entry *e = &f->entries[i];
        const wte_bytes text = { (const uint8_t *)e->name, e->name_bytes };
        uint64_t k;
        if (wte__names_find(&f->names, text, &k)) continue;
        return wte__fail(err, WTE_E_FORMAT, WTE_NOWHERE, "%s: has a tensor '%s', which %s has not",
                         f->parts[part].path, wte__show(shown, e->name, e->name_bytes),
                         path_of(f, 0));
    }
    return WTE_OK;
}

static wte_status read_later(wte_file *f, wte__parts *p, uint32_t part, wte_error *err)
{
    wte__names names;
    const size_t first = f->n_entries;
    wte__names_init(&names, f->allocator);
    wte_status status = wte__torch_read_part(f, part, &names, err);
    if (status == WTE_OK) status = keep_pieces(f, p, part, first, &names, err);
    if (status == WTE_OK) status = check_others(f, p, part, first, err);
    wte__names_clear(&names);
    f->n_entries = first;
    return status;
}

static wte_status read_parts(wte_file *f, wte__parts *p, wte_error *err)
{
    WTE_TRY(wte__torch_read_part(f, 0, &f->names, err));
    p->n_tensors = f->n_entries;
    WTE_TRY(keep_pieces(f, p, 0, 0, &f->names, err));
    for (uint32_t i = 1; i < p->n; i++) WTE_TRY(read_later(f, p, i, err));
    return WTE_OK;
}

/* The width that params.json tells, in the folder of the parts; WTE_NOWHERE: there is no such file,
 * or it does not say. */
static wte_status read_dim(const wte_file *f, const char *dir, uint64_t *dim, wte_error *err)
{
    char path[WTE_LIMIT_PATH], *text = NULL;
    uint64_t bytes = 0;
    wte__json j;
    *dim = WTE_NOWHERE;
    bool there;
    if (!wte__path_join(path, dir, "params.json")) return WTE_OK;
    WTE_TRY(wte__path_optional(path, &there, NULL, err));
    if (!there) return WTE_OK;
    WTE_TRY(
        wte__file_load(path, WTE_LIMIT_CONFIG, WTE__FIXED_LIMIT, f->allocator, &text, &bytes, err));
    wte__json_init(&j, text, bytes, path, WTE__JSON_PYTHON);
    bool ok = wte__json_next(&j) == WTE__JSON_OBJECT;
    while (ok && wte__json_next(&j) == WTE__JSON_KEY) {
        const bool wanted = wte__json_is(&j, "dim");
        ok = wte__json_skip_value(&j);
        if (wanted && ok && !wte__json_u64(&j, dim)) *dim = WTE_NOWHERE;
    }
    wte_status status = WTE_OK;
    ok = ok && j.kind == WTE__JSON_OBJECT_END && wte__json_next(&j) == WTE__JSON_END;
    if (!ok) {
        status = j.kind == WTE__JSON_ERROR ? wte__json_fail(&j, err)
                                           : wte__json_refuse(&j, err, "an object was expected");
    }
    wte__free(f->allocator, text, (size_t)bytes + 1);
    return status;
}

static wte_status read_all(wte_file *f, uint64_t count, wte_error *err)
{
    char dir[WTE_LIMIT_PATH];
    uint64_t dim;
    wte__parts *p = wte__alloc_zeroed(f->allocator, sizeof *p);
    if (!p) return wte__no_memory(err, sizeof *p, "the parts of a model");
    f->made = p;
    f->maker = &wte__parts_maker;
    f->format = WTE_FORMAT_TORCH_PARTS;
    p->n = (uint32_t)count;
    (void)folder_of(f->path, dir); /* was true when it was listed */
    WTE_TRY(open_parts(f, count, dir, err));
    WTE_TRY(read_parts(f, p, err));
    WTE_TRY(read_dim(f, dir, &dim, err));
    WTE_TRY(wte__parts_join(f, p, dim, err));
    f->n_listed = f->n_entries;
    return WTE_OK;
}

wte_status wte__parts_read(wte_file *f, bool *taken, wte_error *err)
{
    char dir[WTE_LIMIT_PATH];
    uint64_t number;
    listing l;
    *taken = false;
    if (!wte__parts_name(wte__path_base(f->path), &number) || !folder_of(f->path, dir))
        return WTE_OK;
    memset(&l, 0, sizeof l);
    /* a folder that cannot be listed may hold more parts: one alone would be a piece of each table
     */
    WTE_TRY(wte__path_list(dir[0] ? dir : ".", visit, &l, err));
    if (l.most == 0) return WTE_OK;
    *taken = true;
    WTE_TRY(check_listing(f, &l, err));
    return read_all(f, l.most + 1, err);
}
