/* wte_writer: atomic replacement of a file for programs that write their own formats. */
#include <wte/base.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

struct wte_writer {
    wte__replace replace; /* its temporary name is "" once it is committed or given up */
};

wte_status wte_writer_create(const char *path, wte_writer **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_writer_create: out", err));
    *out = NULL;
    if (!path || !*path) return wte__fail(err, WTE_E_ARGUMENT, WTE_NOWHERE, "no file is named");
    wte_writer *w = wte__alloc_zeroed(NULL, sizeof *w);
    if (!w) return wte__no_memory(err, sizeof *w, path);
    wte_status status = wte__replace_begin(&w->replace, path, err);
    if (status != WTE_OK) {
        wte__free(NULL, w, sizeof *w);
        return status;
    }
    *out = w;
    return WTE_OK;
}

uint64_t wte_writer_sweep(const char *path)
{
    return path && *path ? wte__replace_sweep(path) : 0;
}

int wte_writer_fd(const wte_writer *w)
{
    return w ? w->replace.fd : -1;
}

wte_status wte_writer_put(wte_writer *w, const void *data, uint64_t bytes, wte_error *err)
{
    WTE_TRY(wte__need(w, "wte_writer_put: the writer", err));
    if (bytes) WTE_TRY(wte__need(data, "wte_writer_put: data", err));
    return wte__replace_write(&w->replace, data, bytes, err);
}

wte_status wte_writer_commit(wte_writer *w, wte_error *err)
{
    WTE_TRY(wte__need(w, "wte_writer_commit: the writer", err));
    return wte__replace_commit(&w->replace, err);
}

void wte_writer_free(wte_writer *w)
{
    if (!w) return;
    wte__replace_abort(&w->replace);
    wte__free(NULL, w, sizeof *w);
}
