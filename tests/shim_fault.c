/* A library for LD_PRELOAD that lets the n-th call of a kind fail, or do less than was asked, so
 * that a test can see what a program makes of it.
 *
 *   SHIM_KIND   alloc, open, read, write, fsync, rename, map, thread, stat, folder or close
 *   SHIM_AT     n, from 1 on; 0 or absent: none
 *   SHIM_ALL    when set, the calls after the n-th fail too
 *   SHIM_SHORT  when set, a read or a write does half of it instead
 *   SHIM_COUNT  a file that gets the number of calls of the kind when the program exits */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NONE, ALLOC, OPEN, READ, WRITE, FSYNC, RENAME, MAP, THREAD, STAT, FOLDER, CLOSE, KINDS };
static const char *const names[KINDS] = { "",       "alloc", "open",   "read", "write",  "fsync",
                                          "rename", "map",   "thread", "stat", "folder", "close" };
static atomic_long calls;
static int kind;
static long at;
static bool all, half;
static const char *count_path;

__attribute__((constructor)) static void start(void)
{
    const char *k = getenv("SHIM_KIND"), *n = getenv("SHIM_AT");
    at = n ? strtol(n, NULL, 10) : 0;
    all = getenv("SHIM_ALL") != NULL;
    half = getenv("SHIM_SHORT") != NULL;
    count_path = getenv("SHIM_COUNT");
    for (int i = 1; k && i < KINDS; i++)
        if (strcmp(names[i], k) == 0) kind = i;
}

__attribute__((destructor)) static void end(void)
{
    kind = NONE;
    FILE *f = count_path ? fopen(count_path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%ld\n", atomic_load(&calls));
    fclose(f);
}

/* Whether this call is one that fails; counts it. */
static bool hit(int k)
{
    if (kind != k) return false;
    const long n = atomic_fetch_add(&calls, 1) + 1;
    return at > 0 && (n == at || (all && n > at));
}

/* POSIX lets dlsym's result be taken for a function. */
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

/* A call that fails with an error number, or is passed on. */
#define CALL(type, name, k, number, failed, parameters, arguments)                                 \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        if (hit(k)) {                                                                              \
            errno = (number);                                                                      \
            return failed;                                                                         \
        }                                                                                          \
        return real arguments;                                                                     \
    }

/* Memory: glibc's own names, since dlsym takes memory itself. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
#define TAKE(name, parameters, arguments)                                                          \
    void *name parameters                                                                          \
    {                                                                                              \
        if (hit(ALLOC)) {                                                                          \
            errno = ENOMEM;                                                                        \
            return NULL;                                                                           \
        }                                                                                          \
        return __libc_##name arguments;                                                            \
    }
TAKE(malloc, (size_t n), (n))
TAKE(calloc, (size_t n, size_t size), (n, size))
TAKE(realloc, (void *p, size_t n), (p, n))
TAKE(memalign, (size_t align, size_t n), (align, n))
void *aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

/* Files */
#define OPENS(name)                                                                                \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list ap;                                                                                \
        va_start(ap, flags);                                                                       \
        const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;                              \
        va_end(ap);                                                                                \
        if (hit(OPEN)) {                                                                           \
            errno = EMFILE;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return real(path, flags, mode);                                                            \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                                             \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list ap;                                                                                \
        va_start(ap, flags);                                                                       \
        const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;                              \
        va_end(ap);                                                                                \
        if (hit(OPEN)) {                                                                           \
            errno = EMFILE;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return real(folder, path, flags, mode);                                                    \
    }
OPENS_AT(openat)
OPENS_AT(openat64)
CALL(FILE *, fopen, OPEN, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
CALL(FILE *, fopen64, OPEN, EMFILE, NULL, (const char *path, const char *mode), (path, mode))
CALL(FILE *, fdopen, OPEN, ENOMEM, NULL, (int fd, const char *mode), (fd, mode))

/* A call that may do half. */
#define MOVES(name, k, parameters, whole, part)                                                    \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        REAL(name);                                                                                \
        if (!hit(k)) return real whole;                                                            \
        if (half && n > 1) return real part;                                                       \
        errno = k == WRITE ? ENOSPC : EIO;                                                         \
        return half ? real whole : -1;                                                             \
    }
MOVES(read, READ, (int fd, void *p, size_t n), (fd, p, n), (fd, p, n / 2))
MOVES(pread, READ, (int fd, void *p, size_t n, off_t o), (fd, p, n, o), (fd, p, n / 2, o))
MOVES(pread64, READ, (int fd, void *p, size_t n, off64_t o), (fd, p, n, o), (fd, p, n / 2, o))
MOVES(write, WRITE, (int fd, const void *p, size_t n), (fd, p, n), (fd, p, n / 2))

/* A stream remembers its error; 0x20 is _IO_ERR_SEEN, which glibc's headers show as a member only.
 */
#define STREAMS(name, k, number, parameters)                                                       \
    size_t name parameters                                                                         \
    {                                                                                              \
        REAL(name);                                                                                \
        if (half || !hit(k)) return real(p, size, n, f);                                           \
        f->_flags |= 0x20;                                                                         \
        errno = (number);                                                                          \
        return 0;                                                                                  \
    }
STREAMS(fread, READ, EIO, (void *p, size_t size, size_t n, FILE *f))
STREAMS(fwrite, WRITE, ENOSPC, (const void *p, size_t size, size_t n, FILE *f))
CALL(int, fflush, WRITE, ENOSPC, EOF, (FILE * f), (f))
CALL(int, fsync, FSYNC, EIO, -1, (int fd), (fd))
CALL(int, rename, RENAME, EIO, -1, (const char *a, const char *b), (a, b))
CALL(int, renameat, RENAME, EIO, -1, (int f, const char *a, int g, const char *b), (f, a, g, b))
CALL(void *, mmap, MAP, ENOMEM, MAP_FAILED, (void *p, size_t n, int a, int b, int fd, off_t o),
     (p, n, a, b, fd, o))
CALL(void *, mmap64, MAP, ENOMEM, MAP_FAILED, (void *p, size_t n, int a, int b, int fd, off64_t o),
     (p, n, a, b, fd, o))
CALL(int, stat64, STAT, EIO, -1, (const char *path, struct stat64 *s), (path, s))
CALL(int, lstat64, STAT, EIO, -1, (const char *path, struct stat64 *s), (path, s))
CALL(int, fstat64, STAT, EIO, -1, (int fd, struct stat64 *s), (fd, s))
CALL(int, fstatat64, STAT, EIO, -1, (int f, const char *path, struct stat64 *s, int flags),
     (f, path, s, flags))
CALL(DIR *, opendir, FOLDER, EMFILE, NULL, (const char *path), (path))
CALL(struct dirent64 *, readdir64, FOLDER, EIO, NULL, (DIR * d), (d))
CALL(int, mkdir, FOLDER, EIO, -1, (const char *path, mode_t mode), (path, mode))
CALL(int, scandir64, FOLDER, ENOMEM, -1,
     (const char *path, struct dirent64 ***list, int (*keep)(const struct dirent64 *),
      int (*order)(const struct dirent64 **, const struct dirent64 **)),
     (path, list, keep, order))

/* What a failed close leaves open is not known; Linux has closed it. */
int close(int fd)
{
    REAL(close);
    const bool fails = hit(CLOSE);
    const int result = real(fd);
    if (!fails) return result;
    errno = EIO;
    return -1;
}

int fclose(FILE *f)
{
    REAL(fclose);
    const bool fails = hit(CLOSE);
    const int result = real(f);
    if (!fails) return result;
    errno = EIO;
    return EOF;
}

/* The pids limit of a container. */
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                   void *context)
{
    REAL(pthread_create);
    return hit(THREAD) ? EAGAIN : real(thread, how, run, context);
}
