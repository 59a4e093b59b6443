/* A GGUF model in several files, PREFIX-00001-of-00003.gguf and so on: the first one carries the
 * metadata and says how many there are; each one says which it is. They become the parts of one
 * wte_file. */
#include "format/gguf.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/limits.h"

#define TAIL_BYTES (sizeof "-00001-of-00003.gguf" - 1)

static bool ends_as(const char *path, uint64_t number, uint64_t count)
{
    char tail[64];
    const size_t n = strlen(path);
    snprintf(tail, sizeof tail, "-%05" PRIu64 "-of-%05" PRIu64 ".gguf", number, count);
    return n > TAIL_BYTES && strcmp(path + n - TAIL_BYTES, tail) == 0;
}

/* The path of part `number` (from 0), by the path of the first, which ends as it should. */
static void path_of_part(const wte_file *f, uint64_t number, uint64_t count,
                         char path[WTE_LIMIT_PATH])
{
    const int stem = (int)(strlen(f->path) - TAIL_BYTES);
    snprintf(path, WTE_LIMIT_PATH, "%.*s-%05" PRIu64 "-of-%05" PRIu64 ".gguf", stem, f->path,
             number + 1, count);
}

static wte_status open_part(wte_file *f, uint64_t number, uint64_t count, wte_error *err)
{
    char path[WTE_LIMIT_PATH];
    wte_error why = { 0 };
    path_of_part(f, number, count, path);
    wte__part *part = wte__part_add(f, path);
    if (!part) return wte__no_memory(err, sizeof path, "the parts of a model");
    char folder[WTE_LIMIT_PATH];
    const size_t n = (size_t)(wte__path_base(path) - path);
    memcpy(folder, path, n);
    folder[n] = '\0';
    wte_status status = wte__part_open(part, folder, &why);
    if (status == WTE_OK) return WTE_OK;
    if (why.sys_errno == EMFILE)
        return wte__fail_os(err, WTE_E_LIMIT, EMFILE,
                            "%s: part %" PRIu64 " of %" PRIu64
                            ": one file each is kept open (raise ulimit -n)",
                            f->path, number + 1, count);
    wte__path_kind kind;
    if (why.sys_errno == ENOENT && wte__path_look(path, &kind, NULL, NULL) == WTE_OK)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: part %" PRIu64 " of %" PRIu64 " is missing: no '%s' beside it",
                         f->path, number + 1, count, wte__path_base(path));
    if (err) *err = why;
    return status;
}

/* What a part says of itself must be what its name says. */
static wte_status check_own(const wte__gguf *gguf, const char *key, uint64_t expected,
                            wte_error *err)
{
    uint64_t value;
    bool found;
    WTE_TRY(wte__gguf_count(gguf, key, &value, &found, err));
    if (found && value == expected) return WTE_OK;
    if (!found)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: has no %s, which should be %" PRIu64 " as by its name", gguf->path,
                         key, expected);
    const uint64_t at = wte__gguf_find(gguf, key)->at;
    return wte__fail(err, WTE_E_FORMAT, at,
                     "%s: %s is %" PRIu64 ", but should be %" PRIu64
                     " as by its name (byte %" PRIu64 ")",
                     gguf->path, key, value, expected, at);
}

static wte_status read_part(wte_file *f, uint64_t number, uint64_t count, wte_error *err)
{
    wte__gguf gguf;
    WTE_TRY(open_part(f, number, count, err));
    wte__gguf_init(&gguf, f->allocator);
    wte_status status = wte__gguf_read_part(f, (uint32_t)number, &gguf, err);
    if (status == WTE_OK) status = check_own(&gguf, "split.no", number, err);
    if (status == WTE_OK) status = check_own(&gguf, "split.count", count, err);
    wte__gguf_clear(&gguf);
    return status;
}

/* The first file must be the first of its set, and be called so. */
static wte_status check_first(const wte_file *f, uint64_t number, uint64_t count, wte_error *err)
{
    if (f->memory)
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX,
                         "%s: is part %" PRIu64 " of %" PRIu64
                         ", and in memory there is no folder to find the others in",
                         f->path, number + 1, count);
    if (count > WTE_LIMIT_SHARDS)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: split.count is %" PRIu64 ", but at most %u files are joined", f->path,
                         count, WTE_LIMIT_SHARDS);
    if (number != 0)
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: is part %" PRIu64 " of %" PRIu64
                         ": open the first, whose name ends in -00001-of-%05" PRIu64 ".gguf",
                         f->path, number + 1, count, count);
    if (!ends_as(f->path, 1, count))
        return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: is the first of %" PRIu64
                         " parts, which are found by its name: that must end in "
                         "-00001-of-%05" PRIu64 ".gguf",
                         f->path, count, count);
    return WTE_OK;
}

wte_status wte__gguf_read_splits(wte_file *f, wte_error *err)
{
    uint64_t number, count, tensors;
    bool found, has_total;
    WTE_TRY(wte__gguf_count(f->gguf, "split.count", &count, &found, err));
    if (!found || count <= 1) return WTE_OK;
    WTE_TRY(wte__gguf_count(f->gguf, "split.no", &number, &found, err));
    WTE_TRY(wte__gguf_count(f->gguf, "split.tensors.count", &tensors, &has_total, err));
    WTE_TRY(check_first(f, number, count, err));
    for (uint64_t i = 1; i < count; i++) WTE_TRY(read_part(f, i, count, err));
    if (!has_total || tensors == f->n_entries) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: split.tensors.count is %" PRIu64 ", but the %" PRIu64
                     " parts hold %zu tensors",
                     f->path, tensors, count, f->n_entries);
}
