/* Operating system files. Every call that may be interrupted is repeated; large reads and writes go
 * in pieces. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"

#define PIECE ((uint64_t)1 << 30) /* read() and write() take at most 2 GiB at once */

const char *wte__kind_text(unsigned mode)
{
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
    if (S_ISSOCK(mode)) return "a socket";
    return "no regular file";
}

/* Why a path that could not be opened could not: a link may be there though its file is not, and a
 * socket is refused without being named. */
wte_status wte__path_cannot_open(const char *path, int why, wte_error *err)
{
    char shown[WTE__NAME_SHOWN], led[WTE__NAME_SHOWN], target[WTE_LIMIT_PATH];
    struct stat st;
    wte__show_path(shown, path);
    if (why == ENXIO && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "%s: is %s, not a file", shown,
                         wte__kind_text(st.st_mode));
    const ssize_t n = why == ENOENT ? readlink(path, target, sizeof target - 1) : -1;
    if (n < 0) return wte__fail_os(err, WTE_E_IO, why, "%s", shown);
    target[n] = '\0';
    return wte__fail_os(err, WTE_E_IO, why,
                        "%s: is a link to '%s', which is not there (a download that was not "
                        "finished?)",
                        shown, wte__show_path(led, target));
}

static uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t time_of(const struct stat *st)
{
    return nanoseconds(st->st_mtim);
}

wte_status wte__file_open(wte__file *f, const char *path, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const wte__file closed = { .fd = -1 };
    *f = closed;
    int fd; /* O_NONBLOCK: a pipe without a writer must not hang us */
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return wte__path_cannot_open(path, errno, err);
    struct stat st;
    if (fstat(fd, &st) != 0) {
        int why = errno;
        close(fd);
        return wte__fail_os(err, WTE_E_IO, why, "%s", wte__show_path(shown, path));
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "%s: is %s, not a file",
                         wte__show_path(shown, path), wte__kind_text(st.st_mode));
    }
    f->fd = fd;
    f->size = (uint64_t)st.st_size;
    f->changed = time_of(&st);
    f->device = (uint64_t)st.st_dev;
    f->inode = (uint64_t)st.st_ino;
    f->status_changed = nanoseconds(st.st_ctim);
    return WTE_OK;
}

bool wte__file_has_changed(const wte__file *f)
{
    struct stat st;
    if (f->memory) return false;
    return fstat(f->fd, &st) != 0 || (uint64_t)st.st_size != f->size || time_of(&st) != f->changed;
}

wte_status wte__file_check_unchanged(const wte__file *f, const char *path, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    struct stat st;
    if (f->memory || f->fd < 0) return WTE_OK;
    wte__show_path(shown, path);
    if (fstat(f->fd, &st) != 0) return wte__fail_os(err, WTE_E_IO, errno, "%s", shown);
    const uint64_t now = (uint64_t)st.st_size;
    if (now < f->size)
        return wte__fail(err, WTE_E_FORMAT, now,
                         "%s: ends at byte %" PRIu64 ", but had %" PRIu64
                         " when it was opened: it shrank while it was read",
                         shown, now, f->size);
    if (now == f->size && time_of(&st) == f->changed) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                     "%s: was written to while it was read (%" PRIu64
                     " bytes when it was opened, now %" PRIu64 "): what was read of it may be of "
                     "two versions",
                     shown, f->size, now);
}

void wte__file_over(wte__file *f, const void *data, uint64_t size)
{
    const wte__file over = { .fd = -1, .size = size, .map = data, .memory = true };
    *f = over;
}

wte_status wte__file_map(wte__file *f, const char *path, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (f->map || f->memory || f->size == 0) return WTE_OK;
    if (f->size > SIZE_MAX)
        return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: %" PRIu64 " bytes cannot be mapped here", wte__show_path(shown, path),
                         f->size);
    void *map = mmap(NULL, (size_t)f->size, PROT_READ, MAP_SHARED, f->fd, 0);
    if (map == MAP_FAILED)
        return wte__fail_os(err, WTE_E_IO, errno, "%s: cannot map", wte__show_path(shown, path));
    f->map = map;
    return WTE_OK;
}

wte_status wte__file_map_private(const char *path, uint8_t **data, uint64_t *bytes, wte_error *err)
{
    wte__file f;
    *data = NULL;
    *bytes = 0;
    WTE_TRY(wte__file_open(&f, path, err));
    wte_status status = WTE_OK;
    void *map = MAP_FAILED;
    if (f.size == 0 || f.size > SIZE_MAX)
        status = wte__fail(err, WTE_E_FORMAT, WTE_NO_INDEX,
                           "%s: %" PRIu64 " bytes cannot be mapped here", path, f.size);
    else /* no reserve: one changed page is all that will be copied, whatever the file's size */
        map = mmap(NULL, (size_t)f.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, f.fd,
                   0);
    if (status == WTE_OK && map == MAP_FAILED)
        status = wte__fail_os(err, WTE_E_IO, errno, "%s: cannot map privately", path);
    if (status == WTE_OK) {
        *data = map;
        *bytes = f.size;
    }
    wte__file_close(&f); /* the map stays */
    return status;
}

void wte__file_unmap_private(uint8_t *data, uint64_t bytes)
{
    if (data) munmap(data, (size_t)bytes);
}

void wte__file_close(wte__file *f)
{
    if (f->map && !f->memory) munmap((void *)(uintptr_t)f->map, (size_t)f->size);
    if (f->fd >= 0) close(f->fd);
    f->map = NULL;
    f->fd = -1;
}

static wte_status shrank(const wte__file *f, uint64_t at, const char *path, wte_error *err)
{
    struct stat now;
    char shown[WTE__NAME_SHOWN];
    /* it may have grown again since */
    const bool known = fstat(f->fd, &now) == 0 && (uint64_t)now.st_size <= at;
    return wte__fail(err, WTE_E_FORMAT, at,
                     "%s: ends at byte %" PRIu64 ", but had %" PRIu64
                     " when it was opened: it shrank",
                     wte__show_path(shown, path), known ? (uint64_t)now.st_size : at, f->size);
}

wte_status wte__file_read_at(const wte__file *f, uint64_t at, void *out, uint64_t n,
                             const char *path, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (at > f->size || n > f->size - at)
        return wte__fail(err, WTE_E_FORMAT, at,
                         "%s: %" PRIu64 " bytes wanted at byte %" PRIu64
                         ", but it ends at %" PRIu64,
                         wte__show_path(shown, path), n, at, f->size);
    if (f->memory) {
        if (n) memcpy(out, f->map + at, (size_t)n);
        return WTE_OK;
    }
    for (uint64_t done = 0; done < n;) {
        uint64_t want = n - done < PIECE ? n - done : PIECE;
        ssize_t got = pread(f->fd, (char *)out + done, (size_t)want, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            wte_status s =
                wte__fail_os(err, WTE_E_IO, errno, "%s: cannot read", wte__show_path(shown, path));
            if (err) err->where = at + done;
            return s;
        }
        if (got == 0) return shrank(f, at + done, path, err);
        done += (uint64_t)got;
    }
    return WTE_OK;
}

wte_status wte__file_load(const char *path, uint64_t max_bytes, const char *raise,
                          const wte_allocator *a, char **out, uint64_t *bytes, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    wte__file f;
    *out = NULL;
    *bytes = 0;
    WTE_TRY(wte__file_open(&f, path, err));
    wte_status status;
    char *text = NULL;
    if (f.size > max_bytes || f.size >= SIZE_MAX) {
        status = wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                           "%s: %" PRIu64 " bytes, but at most %" PRIu64 " are read (%s)",
                           wte__show_path(shown, path), f.size, max_bytes, raise);
        goto done;
    }
    text = wte__alloc(a, (size_t)f.size + 1);
    if (!text) {
        status = wte__no_memory(err, f.size + 1, wte__show_path(shown, path));
        goto done;
    }
    status = wte__file_read_at(&f, 0, text, f.size, path, err);
    if (status != WTE_OK) {
        wte__free(a, text, (size_t)f.size + 1);
        goto done;
    }
    text[f.size] = '\0';
    *out = text;
    *bytes = f.size;
done:
    wte__file_close(&f);
    return status;
}

uint64_t wte__random_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)&seed;
}
