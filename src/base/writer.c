/* wte_writer and wte_transaction: atomic replacement of files for programs that write their own
 * formats. */
#include "base/writer.h"

#include <string.h>
#include <wte/base.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"

struct wte_transaction {
    wte_writer **writer;
    size_t n, cap;
};

wte_status wte_writer_create(const char *path, wte_writer **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_writer_create: out", err));
    *out = NULL;
    if (!path || !*path) return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "no file is named");
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

uint64_t wte_writer_remove_stale(const char *path)
{
    return path && *path ? wte__replace_sweep(path) : 0;
}

int wte_writer_fd(const wte_writer *w)
{
    return w ? w->replace.fd : -1;
}

wte_status wte_writer_write(wte_writer *w, const void *data, uint64_t bytes, wte_error *err)
{
    WTE_TRY(wte__need(w, "wte_writer_write: the writer", err));
    WTE_TRY(wte__need_array(data, bytes, 1, "wte_writer_write: data", err));
    if (w->committed)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_writer_write: it is committed");
    return wte__replace_write(&w->replace, data, bytes, err);
}

wte_status wte_writer_commit(wte_writer *w, wte_error *err)
{
    WTE_TRY(wte__need(w, "wte_writer_commit: the writer", err));
    if (w->committed && w->replace.direct) return WTE_OK; /* several outputs may be one device */
    if (w->committed)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "wte_writer_commit: it is committed");
    if (w->of_transaction)
        WTE_TRY(w->replace.direct ? WTE_OK : wte__replace_seal(&w->replace, err));
    else
        WTE_TRY(wte__replace_commit(&w->replace, err));
    w->committed = true;
    return WTE_OK;
}

static void release(wte_writer *w)
{
    wte__replace_abort(&w->replace);
    wte__free(NULL, w, sizeof *w);
}

void wte_writer_free(wte_writer *w)
{
    if (w && !w->of_transaction) release(w);
}

/* Transactions --------------------------------------------------------------------------------- */

wte_status wte_transaction_create(wte_transaction **out, wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_transaction_create: out", err));
    *out = wte__alloc_zeroed(NULL, sizeof **out);
    return *out ? WTE_OK : wte__no_memory(err, sizeof **out, "a transaction");
}

/* The writer that was begun for the same file. */
static wte_writer *find(const wte_transaction *t, const char *path)
{
    char target[WTE_LIMIT_PATH];
    for (size_t i = 0; i < t->n; i++) /* a descriptor is named as it is */
        if (strcmp(t->writer[i]->replace.target, path) == 0) return t->writer[i];
    if (wte__replace_target(path, target, NULL) != WTE_OK) return NULL;
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->writer[i]->replace.target, target) == 0) return t->writer[i];
    return NULL;
}

wte_status wte_transaction_writer(wte_transaction *t, const char *path, wte_writer **out,
                                  wte_error *err)
{
    WTE_TRY(wte__need(out, "wte_transaction_writer: out", err));
    *out = NULL;
    WTE_TRY(wte__need(t, "wte_transaction_writer: the transaction", err));
    WTE_TRY(wte__need(path, "wte_transaction_writer: path", err));
    *out = find(t, path);
    if (*out) return WTE_OK;
    void *list = t->writer;
    const bool ok = wte__grow(NULL, &list, &t->cap, t->n + 1, sizeof *t->writer);
    t->writer = list;
    if (!ok) return wte__no_memory(err, (t->n + 1) * sizeof *t->writer, path);
    WTE_TRY(wte_writer_create(path, out, err));
    (*out)->of_transaction = true;
    t->writer[t->n++] = *out;
    return WTE_OK;
}

wte_status wte_transaction_commit(wte_transaction *t, wte_error *err)
{
    WTE_TRY(wte__need(t, "wte_transaction_commit: the transaction", err));
    wte__replace **list = wte__alloc_array(NULL, (uint64_t)t->n + 1, sizeof *list);
    wte_status status = WTE_OK;
    size_t used = 0;
    if (!list) status = wte__no_memory(err, t->n * sizeof *list, "a transaction");
    for (size_t i = 0; status == WTE_OK && i < t->n; i++)
        if (t->writer[i]->committed) list[used++] = &t->writer[i]->replace;
    if (status == WTE_OK) status = wte__replace_install(list, used, err);
    wte__free(NULL, list, (t->n + 1) * sizeof *list);
    for (size_t i = 0; i < t->n; i++) release(t->writer[i]);
    t->n = 0;
    return status;
}

void wte_transaction_free(wte_transaction *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n; i++) release(t->writer[i]);
    wte__free(NULL, t->writer, t->cap * sizeof *t->writer);
    wte__free(NULL, t, sizeof *t);
}
