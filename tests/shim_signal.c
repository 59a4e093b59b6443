/* A library for LD_PRELOAD that raises a signal at the n-th call that changes a file or a folder,
 * so that a test can end a program at a chosen moment, whatever the speed of the machine.
 *
 *   SHIM_AT      n, from 1 on; the signal is raised before the call. 0 or absent: none
 *   SHIM_SIGNAL  its number
 *   SHIM_COUNT   a file that gets the number of calls when the program exits */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int calls;
static int at, number;
static const char *count_path;

__attribute__((constructor)) static void start(void)
{
    const char *n = getenv("SHIM_AT"), *s = getenv("SHIM_SIGNAL");
    at = n ? (int)strtol(n, NULL, 10) : 0;
    number = s ? (int)strtol(s, NULL, 10) : SIGKILL;
    count_path = getenv("SHIM_COUNT");
}

__attribute__((destructor)) static void end(void)
{
    const int n = atomic_load(&calls);
    at = 0;
    FILE *f = count_path ? fopen(count_path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%d\n", n);
    fclose(f);
}

static void moment(void)
{
    if (atomic_fetch_add(&calls, 1) + 1 == at) raise(number);
}

/* POSIX lets dlsym's result be taken for a function. */
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

static int changes(int flags)
{
    return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_ACCMODE) != O_RDONLY;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list ap;                                                                                \
        va_start(ap, flags);                                                                       \
        const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;                              \
        va_end(ap);                                                                                \
        if (changes(flags)) moment();                                                              \
        return real(path, flags, mode);                                                            \
    }
OPEN(open)
OPEN(open64)

#define CALL(type, name, parameters, arguments)                                                    \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        moment();                                                                                  \
        return real arguments;                                                                     \
    }
CALL(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
CALL(int, fsync, (int fd), (fd))
CALL(int, rename, (const char *a, const char *b), (a, b))
CALL(int, renameat, (int f, const char *a, int g, const char *b), (f, a, g, b))
CALL(int, link, (const char *a, const char *b), (a, b))
CALL(int, unlink, (const char *a), (a))
CALL(int, unlinkat, (int f, const char *a, int flags), (f, a, flags))
CALL(int, mkdir, (const char *a, mode_t mode), (a, mode))
CALL(int, rmdir, (const char *a), (a))
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
CALL(int, fflush, (FILE * f), (f))
CALL(int, fclose, (FILE * f), (f))
