/* The table of unfinished files. It is the one mutable global besides the table of kernels: a
 * signal handler is given no argument, and has to know what to remove. Everything the handler
 * touches is lock-free, and nothing in it allocates. */
#include "base/unfinished.h"

#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>
#include <wte/base.h>

#include "base/limits.h"

/* A slot that the handler is working on. */
static const char busy[] = "";

static _Atomic(const char *) slots[WTE_LIMIT_UNFINISHED];
static _Atomic(pid_t) owner; /* a forked child does not own its parent's files */
static atomic_uint sections; /* threads inside wte__section_begin */

void wte__section_begin(sigset_t *before)
{
    static const int fatal[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigdelset(&all, fatal[i]);
    pthread_sigmask(SIG_BLOCK, &all, before);
    atomic_fetch_add(&sections, 1);
}

void wte__section_end(const sigset_t *before)
{
    atomic_fetch_sub(&sections, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

bool wte__unfinished_note(const char *path)
{
    const pid_t self = getpid(), before = atomic_exchange(&owner, self);
    if (before != self && before != 0) { /* after a fork, in which only this thread survived */
        for (size_t i = 0; i < WTE_LIMIT_UNFINISHED; i++) atomic_store(&slots[i], NULL);
        atomic_store(&sections, 1);
    }
    for (size_t i = 0; i < WTE_LIMIT_UNFINISHED; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &none, path)) return true;
    }
    return false;
}

void wte__unfinished_forget(const char *path)
{
    for (size_t i = 0; i < WTE_LIMIT_UNFINISHED; i++) {
        const char *seen = path;
        if (atomic_compare_exchange_strong(&slots[i], &seen, NULL)) return;
        while (seen == busy) seen = atomic_load(&slots[i]); /* the text is being read */
    }
}

void wte_writers_abandon(void)
{
    if (atomic_load(&owner) != getpid()) return;
    while (atomic_load(&sections) > 0) (void)poll(NULL, 0, 1);
    for (size_t i = 0; i < WTE_LIMIT_UNFINISHED; i++) {
        const char *path = atomic_load(&slots[i]);
        if (!path || path == busy || !atomic_compare_exchange_strong(&slots[i], &path, busy))
            continue;
        (void)unlink(path);
        atomic_store(&slots[i], NULL);
    }
}
