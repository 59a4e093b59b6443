/* The files against each other: the index and its shards, and what else lies in the folder. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "inspect/check.h"

#define NAMES_SHOWN   3u
#define COMPARE_BYTES ((size_t)65536) /* of each side at once */
#define MOST_FILES    64u             /* files told one by one */

/* Strays --------------------------------------------------------------------------------------- */

/* Whether the bytes of a stray equal those of the listed tensor of its name. */
static wte_status same_bytes(wte__checking *k, const wte_tensor *stray, uint64_t listed, bool *same)
{
    const wte_allocator *a = k->opt.allocator;
    const char *path = wte_file_shard_path(k->file, stray->shard);
    wte_tensor other;
    wte__file f = { .fd = -1 };
    WTE_TRY(wte_file_tensor(k->file, listed, &other, k->err));
    *same = stray->bytes == other.bytes && stray->dtype == other.dtype &&
            stray->rank == other.rank &&
            memcmp(stray->shape, other.shape, stray->rank * sizeof *stray->shape) == 0;
    if (!*same || !stray->bytes) return WTE_OK;
    WTE_TRY(wte__file_open(&f, path, k->err));
    char *buffer = wte__alloc(a, 2 * COMPARE_BYTES);
    wte_status status = buffer ? WTE_OK : wte__no_memory(k->err, 2 * COMPARE_BYTES, "a comparison");
    for (uint64_t at = 0; status == WTE_OK && *same && at < stray->bytes; at += COMPARE_BYTES) {
        const uint64_t left = stray->bytes - at, n = left < COMPARE_BYTES ? left : COMPARE_BYTES;
        status = wte__file_read_at(&f, stray->offset + at, buffer, n, path, k->err);
        if (status == WTE_OK)
            status = wte_file_read(k->file, listed, at, buffer + COMPARE_BYTES, n, k->err);
        if (status == WTE_OK) *same = memcmp(buffer, buffer + COMPARE_BYTES, (size_t)n) == 0;
    }
    wte__free(a, buffer, 2 * COMPARE_BYTES);
    wte__file_close(&f);
    return status;
}

typedef struct name_list {
    uint64_t count;
    char text[360];
    size_t used;
} name_list;

static void list_name(name_list *l, const wte__checking *k, const wte_tensor *t)
{
    char name[WTE__NAME_SHOWN], part[WTE__NAME_SHOWN];
    if (l->count++ >= NAMES_SHOWN || l->used >= sizeof l->text) return;
    const char *base = wte__path_base(wte_file_shard_path(k->file, t->shard));
    const int n =
        snprintf(l->text + l->used, sizeof l->text - l->used, "%s'%s' in %s", l->used ? ", " : "",
                 wte__show(name, t->name, t->name_bytes), wte__show(part, base, strlen(base)));
    l->used += n > 0 ? (size_t)n : 0;
}

static wte_status check_strays(wte__checking *k)
{
    const uint64_t n = k->file ? wte_file_n_unlisted_tensors(k->file) : 0;
    name_list twice = { 0 }, unknown = { 0 };
    for (uint64_t i = 0; i < n; i++) {
        wte_tensor t;
        uint64_t listed;
        bool same = false;
        WTE_TRY(wte_file_unlisted_tensor(k->file, i, &t, k->err));
        const bool known = wte_file_find(k->file, t.name, t.name_bytes, &listed, NULL) == WTE_OK;
        if (known) WTE_TRY(same_bytes(k, &t, listed, &same));
        list_name(known && !same ? &twice : &unknown, k, &t);
    }
    const char *repair = "";
    if (n) repair = wte__repair_model(k, "pass");
    if (twice.count)
        WTE_TRY(wte__check_add(k, WTE__CODE_INDEX_TWICE, "index", NULL, repair,
                               "%" PRIu64 " tensor%s stored twice with different bytes, the second "
                               "time in a shard that the index does not name for %s: %s%s",
                               twice.count, twice.count == 1 ? " is" : "s are",
                               twice.count == 1 ? "it" : "them", twice.text,
                               twice.count > NAMES_SHOWN ? ", ..." : ""));
    if (!unknown.count) return WTE_OK;
    return wte__check_add(k, WTE__CODE_INDEX_STRAY, "index", NULL, repair,
                          "%" PRIu64 " tensor%s in the shards but not in the index there: %s%s",
                          unknown.count, unknown.count == 1 ? " lies" : "s lie", unknown.text,
                          unknown.count > NAMES_SHOWN ? ", ..." : "");
}

/* Weight files in the folder ---------------------------------------------------------------------
 */

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), e = strlen(end);
    return n > e && strcmp(name + n - e, end) == 0;
}

static const char *weight_ending(const char *name)
{
    static const char *const always[] = { ".safetensors", ".gguf", ".ckpt",
                                          ".msgpack",     ".onnx", ".h5" };
    /* other things have these endings too: optimizer.pt, training_args.bin */
    static const char *const named[] = { ".bin", ".pt", ".pth" };
    static const char *const starts[] = { "pytorch_model", "model", "consolidated",
                                          "adapter_model" };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (ends_with(name, always[i])) return always[i];
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        for (size_t s = 0; ends_with(name, named[i]) && s < sizeof starts / sizeof *starts; s++)
            if (strncmp(name, starts[s], strlen(starts[s])) == 0) return named[i];
    return NULL;
}

typedef struct folder {
    wte__checking *k;
    const char *dir;
    wte_status status;
    uint64_t told;
} folder;

static bool is_part(const wte__checking *k, const char *path)
{
    for (uint32_t i = 0; i < wte_file_n_shards(k->file); i++) {
        const char *part = wte_file_shard_path(k->file, i);
        if (strcmp(wte__path_base(part), wte__path_base(path)) == 0) return true;
    }
    return false;
}

/* model.fp16.safetensors beside model.safetensors, or beside its shards: the same model in another
 * type, which loaders read only when they are asked to. */
static bool is_variant(const char *part, const char *name, const char *ending)
{
    const size_t n = strcspn(part, ".-");
    const bool plain = part[n] == '-' || strcmp(part + n, ending) == 0;
    return plain && strncmp(name, part, n) == 0 && name[n] == '.' && strcmp(name + n, ending) != 0;
}

static wte_status tell_file(folder *f, const char *name, const char *ending, uint64_t bytes)
{
    wte__checking *k = f->k;
    char shown[WTE__NAME_SHOWN], path[WTE_LIMIT_PATH];
    const char *part = wte_file_shard_path(k->file, 0);
    const bool same_kind = ends_with(part, ending) && strncmp(name, "adapter_", 8) != 0;
    wte__show(shown, name, strlen(name));
    if (!same_kind || is_variant(wte__path_base(part), name, ending))
        return wte__check_add(k, WTE__CODE_OTHER_FILE, shown, NULL, "",
                              "%s (%" PRIu64 " bytes) lies beside the weights that were read",
                              shown, bytes);
    if (!wte__path_join(path, f->dir, name)) return WTE_OK;
    const char *word = wte__repair_word(k, path);
    const char *repair = word ? wte__repair_shell(k, "mv %s %s.aside", word, word) : NULL;
    uint32_t files = 0;
    for (uint32_t i = 0; i < wte_file_n_shards(k->file); i++)
        files += wte_file_shard_of(k->file, i) == i;
    return wte__check_add(k, WTE__CODE_STRAY_FILE, shown, NULL, repair,
                          "%s (%" PRIu64 " bytes) is no part of the model, which has %" PRIu32
                          " file%s",
                          shown, bytes, files, files == 1 ? "" : "s");
}

/* Whether such a file is a part of the model's, or what, nobody can tell. */
static wte_status tell_unreadable(folder *f, const char *name, const char *why)
{
    char shown[WTE__NAME_SHOWN];
    wte__show(shown, name, strlen(name));
    return wte__check_add(f->k, WTE__CODE_OTHER_FILE, shown, NULL, "",
                          "a file that cannot be looked at lies beside the weights: %s", why);
}

static bool visit(void *ctx, const char *name)
{
    folder *f = ctx;
    char path[WTE_LIMIT_PATH];
    uint64_t bytes = 0;
    const char *ending = weight_ending(name);
    wte__path_kind kind;
    wte_error why;
    if (!ending || !wte__path_join(path, f->dir, name) || is_part(f->k, path)) return true;
    if (wte__path_look(path, &kind, &bytes, &why) != WTE_OK)
        f->status = tell_unreadable(f, name, why.message);
    else if (kind == WTE__PATH_FILE)
        f->status = tell_file(f, name, ending, bytes);
    else
        return true;
    return f->status == WTE_OK && ++f->told < MOST_FILES;
}

wte_status wte__check_files(wte__checking *k)
{
    WTE_TRY(check_strays(k));
    bool in_folder = false;
    if (k->file) WTE_TRY(wte__path_folder(wte_model_path(k->m), &in_folder, k->err));
    if (!in_folder) return WTE_OK;
    /* the folder of the weights: the model's may only lead there */
    const char *part = wte_file_shard_path(k->file, 0);
    const size_t n = (size_t)(wte__path_base(part) - part);
    char dir[WTE_LIMIT_PATH];
    snprintf(dir, sizeof dir, "%.*s", (int)(n > 1 ? n - 1 : n), part);
    folder f = { k, n ? dir : ".", WTE_OK, 0 };
    WTE_TRY(wte__path_list(f.dir, visit, &f, k->err));
    return f.status;
}
