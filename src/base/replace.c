/* Replacing one file: temporary file, lock, rename, and removal of temporary files of killed runs.
 */
#include "base/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/unfinished.h"

#define PIECE ((uint64_t)1 << 30) /* write() takes at most 2 GiB at once */

/* A temporary file is named by a dot, its target's name (or the first bytes of it), a dot, eight
 * digits, and an ending. */
#define NAME_KEPT 200
#define DIGITS    8
static const char ending[] = ".tmp";

/* Targets -------------------------------------------------------------------------------------- */

/* The descriptor of this process that the path names; -1: none. */
static int descriptor_named(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) != 0) continue;
        const char *number = path + n;
        const size_t k = strspn(number, "0123456789");
        int value = 0;
        if (k == 0 || k > 8 || number[k]) continue;
        for (size_t d = 0; d < k; d++) value = value * 10 + (number[d] - '0');
        return value;
    }
    return -1;
}

static bool copy_path(char *out, const char *text)
{
    const int used = snprintf(out, WTE_LIMIT_PATH, "%s", text);
    return used >= 0 && used < (int)WTE_LIMIT_PATH;
}

wte_status wte__replace_target(const char *path, char *out, wte_error *err)
{
    char shown[WTE__NAME_SHOWN], folder[WTE_LIMIT_PATH];
    char *real = realpath(path, NULL);
    bool fits = copy_path(out, real ? real : path);
    if (!real && fits) { /* not there yet: its folder may be */
        const char *base = wte__path_base(path);
        const size_t n = (size_t)(base - path);
        memcpy(folder, path, n);
        folder[n] = '\0';
        real = realpath(n ? folder : ".", NULL);
        if (real) fits = wte__path_join(out, real, base);
    }
    free(real);
    if (fits) return WTE_OK;
    return wte__fail_os(err, WTE_E_IO, ENAMETOOLONG, "%s", wte__show_path(shown, path));
}

/* Temporary files ------------------------------------------------------------------------------ */

bool wte__replace_is_temporary(const char *base, const char *name)
{
    const size_t n = strlen(name), tail = 1 + DIGITS + strlen(ending);
    if (n < 2 + tail || name[0] != '.') return false;
    const size_t kept = n - 1 - tail;
    const char *digits = name + 1 + kept + 1;
    if (digits[-1] != '.' || strspn(digits, "0123456789abcdef") != DIGITS ||
        strcmp(digits + DIGITS, ending) != 0)
        return false;
    if (!base) return true;
    const size_t must = strlen(base) < NAME_KEPT ? strlen(base) : NAME_KEPT;
    return kept == must && memcmp(name + 1, base, must) == 0;
}

bool wte__replace_temporary(const wte__replace *r, char out[4096])
{
    const char *base = wte__path_base(r->target);
    const int used =
        snprintf(out, 4096, "%.*s.%.*s.%0*" PRIx32 "%s", (int)(base - r->target), r->target,
                 NAME_KEPT, base, DIGITS, (uint32_t)wte__random_seed(), ending);
    return used >= 0 && used < 4096;
}

/* The writer of a temporary file holds its lock, so that a file without one was left by a process
 * that was killed. False when another process has just taken it for such a file. On file systems
 * without locks nothing is held, and nothing is swept. */
static bool hold(int fd)
{
    struct stat st;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) continue;
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

/* Create and record it, with no signal in between. */
static int create(wte__replace *r, mode_t mode)
{
    sigset_t before;
    wte__section_begin(&before);
    const int fd = open(r->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const int why = errno;
    if (fd >= 0) (void)wte__unfinished_note(r->temporary);
    wte__section_end(&before);
    errno = why;
    return fd;
}

/* A new file next to the target that nothing else has open. */
static int open_beside(wte__replace *r, mode_t mode)
{
    int fd = -1;
    for (int attempt = 0; attempt < 100 && fd < 0; attempt++) {
        if (!wte__replace_temporary(r, r->temporary)) {
            errno = ENAMETOOLONG;
            break;
        }
        fd = create(r, mode);
        if (fd < 0 && errno != EEXIST && errno != EINTR) break;
        if (fd < 0 || hold(fd)) continue;
        wte__unfinished_forget(r->temporary);
        close(fd);
        fd = -1;
    }
    if (fd < 0) r->temporary[0] = '\0';
    return fd;
}

/* A descriptor, pipe or device: nothing is there that could be replaced. */
static wte_status begin_direct(wte__replace *r, const char *path, int named, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    r->direct = true;
    do
        r->fd = named >= 0 ? fcntl(named, F_DUPFD_CLOEXEC, 3)
                           : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (r->fd < 0 && errno == EINTR);
    if (r->fd >= 0) return WTE_OK;
    return wte__fail_os(err, WTE_E_IO, errno, "%s: cannot write to it",
                        wte__show_path(shown, path));
}

wte_status wte__replace_begin(wte__replace *r, const char *path, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    r->fd = -1;
    r->direct = r->sealed = r->exists = false;
    r->temporary[0] = r->target[0] = '\0';
    if (!copy_path(r->path, path))
        return wte__fail_os(err, WTE_E_IO, ENAMETOOLONG, "%s", wte__show_path(shown, path));
    const int named = descriptor_named(path);
    if (named >= 0) {
        (void)copy_path(r->target, path); /* such a name is short */
        return begin_direct(r, path, named, err);
    }
    WTE_TRY(wte__replace_target(path, r->target, err));
    struct stat st;
    r->exists = stat(path, &st) == 0;
    if (r->exists && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
        return begin_direct(r, path, -1, err);
    if (r->exists && !S_ISREG(st.st_mode))
        return wte__fail(err, WTE_E_UNSUPPORTED, WTE_NO_INDEX, "%s: is %s, not a file",
                         wte__show_path(shown, path), wte__kind_text(st.st_mode));
    if (!r->exists && lstat(path, &st) == 0)
        return wte__fail(err, WTE_E_IO, WTE_NO_INDEX, "%s: is a link to a file that is not there",
                         wte__show_path(shown, path));
    WTE_TRY(wte__replace_recover_beside(r->target, err));
    (void)wte__replace_sweep(r->target);
    r->fd = open_beside(r, r->exists ? 0600 : 0666); /* a new file gets what the umask leaves */
    if (r->fd < 0)
        return wte__fail_os(err, WTE_E_IO, errno, "%s: cannot write next to it",
                            wte__show_path(shown, path));
    if (!r->exists) return WTE_OK;
    if (fchown(r->fd, st.st_uid, st.st_gid) != 0) {
        /* only root may give files away; the new file is then ours, as any writer's would be */
    }
    if (fchmod(r->fd, st.st_mode & 07777) != 0) {
        int why = errno;
        wte__replace_abort(r);
        return wte__fail_os(err, WTE_E_IO, why, "%s: cannot set its mode",
                            wte__show_path(shown, path));
    }
    return WTE_OK;
}

wte_status wte__replace_write(wte__replace *r, const void *data, uint64_t bytes, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    for (uint64_t done = 0; done < bytes;) {
        uint64_t want = bytes - done < PIECE ? bytes - done : PIECE;
        ssize_t put = write(r->fd, (const char *)data + done, (size_t)want);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return wte__fail_os(err, WTE_E_IO, put < 0 ? errno : EIO, "%s: cannot write",
                                wte__show_path(shown, r->path));
        done += (uint64_t)put;
    }
    return WTE_OK;
}

wte_status wte__replace_sync_folder(const char *path, wte_error *err)
{
    char dir[WTE_LIMIT_PATH], shown[WTE__NAME_SHOWN];
    size_t n = (size_t)(wte__path_base(path) - path);
    memcpy(dir, path, n);
    dir[n] = '\0';
    int fd = open(n ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return WTE_OK; /* a directory that may be written but not read cannot be synced */
    int why = fsync(fd) != 0 ? errno : 0;
    close(fd);
    if (why && why != EINVAL) /* some file systems cannot sync a directory */
        return wte__fail_os(err, WTE_E_IO, why,
                            "%s: the new file is there, but its directory cannot be synced: a "
                            "power failure may lose it",
                            wte__show_path(shown, path));
    return WTE_OK;
}

wte_status wte__replace_seal(wte__replace *r, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    const char *name = wte__show_path(shown, r->path);
    if (r->sealed) return WTE_OK;
    const int lock = r->direct ? -1 : dup(r->fd); /* held until the file has its own name */
    wte_status status = WTE_OK;
    if (!r->direct && fsync(r->fd) != 0 && errno != EINVAL)
        status = wte__fail_os(err, WTE_E_IO, errno, "%s: cannot sync", name);
    if (close(r->fd) != 0 && status == WTE_OK)
        status = wte__fail_os(err, WTE_E_IO, errno, "%s: cannot close", name);
    r->fd = lock;
    r->sealed = true;
    if (status != WTE_OK) wte__replace_abort(r);
    return status;
}

wte_status wte__replace_commit(wte__replace *r, wte_error *err)
{
    WTE_TRY(wte__replace_seal(r, err));
    wte__replace *const one[1] = { r };
    return wte__replace_install(one, 1, err);
}

void wte__replace_abort(wte__replace *r)
{
    if (r->fd >= 0) close(r->fd);
    if (r->temporary[0]) {
        unlink(r->temporary);
        wte__unfinished_forget(r->temporary);
    }
    r->fd = -1;
    r->temporary[0] = '\0';
}

/* Removing files of killed runs ---------------------------------------------------------------- */

/* Whether it is the old file that a transaction has kept under a second name: another name of the
 * target, which must then not be taken for the only one. */
static bool is_second_name(int folder, const char *base, const struct stat *st)
{
    struct stat target;
    return base && fstatat(folder, base, &target, AT_SYMLINK_NOFOLLOW) == 0 &&
           target.st_dev == st->st_dev && target.st_ino == st->st_ino;
}

/* Remove it if it is a file of this user that no process has locked. */
static bool remove_left_over(int folder, const char *base, const char *name)
{
    struct stat st;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    const bool gone = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                      (st.st_nlink == 1 || is_second_name(folder, base, &st)) &&
                      flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(folder, name, 0) == 0;
    close(fd);
    return gone;
}

static uint64_t sweep(const char *target, bool all)
{
    char dir[WTE_LIMIT_PATH];
    const char *base = wte__path_base(target);
    const size_t n = (size_t)(base - target);
    uint64_t removed = 0;
    if (n >= sizeof dir || (!all && !*base)) return 0;
    memcpy(dir, target, n);
    dir[n] = '\0';
    DIR *list = opendir(n ? dir : "."); /* what cannot be listed is left as it is */
    if (!list) return 0;
    for (const struct dirent *e; (e = readdir(list));)
        if (wte__replace_is_temporary(all ? NULL : base, e->d_name))
            removed += remove_left_over(dirfd(list), all ? NULL : base, e->d_name);
    closedir(list);
    return removed;
}

uint64_t wte__replace_sweep(const char *path)
{
    char target[WTE_LIMIT_PATH];
    if (wte__replace_target(path, target, NULL) != WTE_OK) return 0;
    return sweep(target, false);
}

uint64_t wte__replace_sweep_folder(const char *path)
{
    return sweep(path, true);
}
