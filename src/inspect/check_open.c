/* A model that does not open: why, and of an index and its shards all that is wrong, as a report
 * without a table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "inspect/check.h"
#include "model/model.h"

#define NAMES_SHOWN 3u
#define MOST_SHARDS 64u /* told one by one */

/* Tensors of one kind of fault: "'a' in x.safetensors (listed in y.safetensors), 'b' ...". */
typedef struct group {
    uint64_t count;
    char text[500];
    size_t used;
} group;

typedef struct told {
    wte__checking *k;
    group other, none, twice, stray;
    uint64_t shards;
    wte_status status;
    const char *repair;
} told;

static void list_tensor(group *g, const wte_shard_fault *f)
{
    char name[WTE__NAME_SHOWN], shard[WTE__NAME_SHOWN], other[WTE__NAME_SHOWN];
    if (g->count++ >= NAMES_SHOWN || g->used >= sizeof g->text) return;
    wte__show(name, f->tensor, f->tensor_bytes);
    wte__show(shard, f->shard, strlen(f->shard));
    wte__show(other, f->other, strlen(f->other));
    const char *comma = g->used ? ", " : "";
    const size_t room = sizeof g->text - g->used;
    char *to = g->text + g->used;
    const int n =
        f->kind == WTE_SHARD_NONE ? snprintf(to, room, "%s'%s' (listed in %s)", comma, name, shard)
        : f->kind == WTE_SHARD_STRAY
            ? snprintf(to, room, "%s'%s' in %s", comma, name, other)
            : snprintf(to, room, "%s'%s' in %s (listed in %s)", comma, name, other, shard);
    g->used += n > 0 ? (size_t)n : 0;
}

static wte_status tell_shard(told *t, const wte_shard_fault *f)
{
    char shard[WTE__NAME_SHOWN], name[WTE__NAME_SHOWN], more[48] = "";
    wte__show(shard, f->shard, strlen(f->shard));
    wte__show(name, f->tensor, f->tensor_bytes);
    if (t->shards++ >= MOST_SHARDS) return WTE_OK;
    if (f->tensors > 1)
        snprintf(more, sizeof more, " and %" PRIu64 " tensor%s more", f->tensors - 1,
                 f->tensors == 2 ? "" : "s");
    if (f->kind == WTE_SHARD_MISSING)
        return wte__check_add(t->k, WTE__CODE_SHARD_MISSING, shard, NULL, t->repair,
                              "the shard is not there, which should hold '%s'%s", name, more);
    return wte__check_add(t->k, WTE__CODE_SHARD_BROKEN, shard, NULL, t->repair, "%s", f->problem);
}

static void take(void *ctx, const wte_shard_fault *f)
{
    told *t = ctx;
    if (t->status != WTE_OK) return;
    switch (f->kind) {
    case WTE_SHARD_OTHER: list_tensor(&t->other, f); break;
    case WTE_SHARD_NONE: list_tensor(&t->none, f); break;
    case WTE_SHARD_TWICE: list_tensor(&t->twice, f); break;
    case WTE_SHARD_STRAY: list_tensor(&t->stray, f); break;
    default: t->status = tell_shard(t, f); break;
    }
}

static wte_status tell_group(told *t, wte__code code, const group *g, const char *what)
{
    if (!g->count) return WTE_OK;
    return wte__check_add(t->k, code, "index", NULL, t->repair, "%" PRIu64 " tensor%s %s: %s%s",
                          g->count, g->count == 1 ? "" : "s", what, g->text,
                          g->count > NAMES_SHOWN ? ", ..." : "");
}

static wte_status tell_all(told *t, const char *path, const wte_error *why)
{
    char shown[WTE__NAME_SHOWN];
    const char *base = wte__path_base(path);
    WTE_TRY(t->status);
    WTE_TRY(tell_group(t, WTE__CODE_INDEX_MISPLACED, &t->other,
                       "in another shard than the index says"));
    WTE_TRY(tell_group(t, WTE__CODE_INDEX_LACKING, &t->none,
                       t->shards ? "in the index that no shard which can be read has"
                                 : "in the index that no shard has, though all were looked at"));
    WTE_TRY(tell_group(t, WTE__CODE_INDEX_TWICE, &t->twice, "stored in a second shard too"));
    WTE_TRY(tell_group(t, WTE__CODE_INDEX_STRAY, &t->stray, "in the shards but not in the index"));
    if (t->k->report->n) return WTE_OK;
    return wte__check_add(t->k, WTE__CODE_MODEL_UNREADABLE, wte__show(shown, base, strlen(base)),
                          NULL, "", "%s", why->message);
}

/* A GGUF file that opens, though no model is in it: its metadata may be why. */
static wte_status tell_metadata(told *t, const char *path, wte_file_options *opt)
{
    wte_file *f = NULL;
    opt->shards = NULL;
    if (wte_file_open(path, opt, &f, NULL) != WTE_OK) return WTE_OK;
    const wte_status status = wte__check_gguf(t->k, f, t->repair);
    wte_file_free(f);
    return status;
}

wte_status wte_check_unopened(const char *path, const wte_model_options *model,
                              const wte_allocator *allocator, wte_check **out, wte_error *err)
{
    wte__checking k = { .err = err };
    told t = { .k = &k };
    wte_error why;
    wte_model *m = NULL;
    WTE_TRY(wte__need(out, "wte_check_unopened: out", err));
    *out = NULL;
    WTE_TRY(wte__need(path, "wte_check_unopened: path", err));
    WTE_TRY(wte__need_functions(allocator, NULL, err));
    wte_model_options opt = WTE_MODEL_OPTIONS_INIT;
    wte_file_options file = WTE_FILE_OPTIONS_INIT;
    WTE_TRY(wte__options(&opt, sizeof opt, model, err));
    WTE_TRY(wte__options(&file, sizeof file, opt.file, err));
    const wte_shard_callback watch = { take, &t };
    file.shards = &watch;
    opt.file = &file;
    k.opt.allocator = allocator;
    for (size_t c = 0; c < WTE__CODES; c++) k.wanted[c] = true;
    k.report = wte__alloc_zeroed(allocator, sizeof *k.report);
    if (!k.report) return wte__no_memory(err, sizeof *k.report, "a report");
    k.report->allocator = allocator;
    k.report->glitch_indicator = "";
    wte__arena_init(&k.report->arena, allocator);
    t.repair = wte__repair_fetch_path(&k, path);
    wte_status status = t.repair ? WTE_OK : wte__no_memory(err, strlen(path), "a repair");
    const wte_status opened = status == WTE_OK ? wte_model_open(path, &opt, &m, &why) : WTE_OK;
    if (status == WTE_OK && opened == WTE_OK)
        status = wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%s: opens", path);
    if (status == WTE_OK) status = tell_all(&t, path, &why);
    if (status == WTE_OK) status = tell_metadata(&t, path, &file);
    wte_model_free(m);
    if (status == WTE_OK) {
        wte__check_sort(k.report);
        *out = k.report;
    } else {
        wte_check_free(k.report);
    }
    return status;
}
