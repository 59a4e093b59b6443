/* Paths: kinds of files, resolved links, contents of folders. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"

wte_status wte__path_look(const char *path, wte__path_kind *kind, uint64_t *bytes, wte_error *err)
{
    struct stat st;
    *kind = WTE__PATH_NONE;
    if (bytes) *bytes = 0;
    if (stat(path, &st) != 0) {
        const int why = errno;
        /* a component that is not a folder: the path does not exist */
        if (why == ENOTDIR || (why == ENOENT && lstat(path, &st) != 0)) return WTE_OK;
        return wte__path_cannot_open(path, why, err);
    }
    *kind = S_ISDIR(st.st_mode)   ? WTE__PATH_DIRECTORY
            : S_ISREG(st.st_mode) ? WTE__PATH_FILE
                                  : WTE__PATH_OTHER;
    if (bytes && *kind == WTE__PATH_FILE) *bytes = (uint64_t)st.st_size;
    return WTE_OK;
}

wte_status wte__path_optional(const char *path, bool *there, uint64_t *bytes, wte_error *err)
{
    wte__path_kind kind;
    uint64_t size;
    wte__file f;
    *there = false;
    if (bytes) *bytes = 0;
    WTE_TRY(wte__path_look(path, &kind, &size, err));
    if (kind == WTE__PATH_NONE || (kind == WTE__PATH_FILE && size == 0)) return WTE_OK;
    if (kind != WTE__PATH_FILE) { /* to open it says what it is */
        WTE_TRY(wte__file_open(&f, path, err));
        wte__file_close(&f);
    }
    *there = true;
    if (bytes) *bytes = size;
    return WTE_OK;
}

wte_status wte__path_folder(const char *path, bool *there, wte_error *err)
{
    wte__path_kind kind;
    *there = false;
    WTE_TRY(wte__path_look(path, &kind, NULL, err));
    *there = kind == WTE__PATH_DIRECTORY;
    return WTE_OK;
}

bool wte__path_join(char *out, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    bool bare = name[0] == '/' || n == 0;
    int used = snprintf(out, WTE_LIMIT_PATH, "%s%s%s", bare ? "" : dir,
                        bare || dir[n - 1] == '/' ? "" : "/", name);
    return used >= 0 && used < (int)WTE_LIMIT_PATH;
}

/* The path with all links followed. *there is false, and out "", when nothing is there. */
static wte_status follow(const char *path, char out[WTE_LIMIT_PATH], bool *there, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    char *real = realpath(path, NULL);
    const int why = errno;
    out[0] = '\0';
    *there = real != NULL;
    if (!real && (why == ENOENT || why == ENOTDIR)) return WTE_OK;
    if (!real) return wte__fail_os(err, WTE_E_IO, why, "%s", wte__show_path(shown, path));
    const int used = snprintf(out, WTE_LIMIT_PATH, "%s", real);
    free(real);
    if (used < (int)WTE_LIMIT_PATH) return WTE_OK;
    return wte__fail_os(err, WTE_E_IO, ENAMETOOLONG, "%s", wte__show_path(shown, path));
}

static bool lies_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n && folder[n - 1] == '/') n--; /* of the root alone */
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

wte_status wte__path_stays(const char *path, const char *folder, bool *stays,
                           char real[WTE_LIMIT_PATH], wte_error *err)
{
    static const char snapshots[] = "/snapshots/", blobs[] = "/blobs";
    char own[WTE_LIMIT_PATH], kept[WTE_LIMIT_PATH + sizeof blobs], *at = NULL;
    bool there;
    *stays = true;
    WTE_TRY(follow(path, real, &there, err));
    if (!there) return WTE_OK;
    WTE_TRY(follow(*folder ? folder : ".", own, &there, err));
    *stays = lies_in(real, own);
    if (*stays) return WTE_OK;
    for (char *next = own; (next = strstr(next, snapshots)) != NULL; next++) at = next;
    if (!at) return WTE_OK;
    *at = '\0';
    snprintf(kept, sizeof kept, "%s%s", own, blobs);
    WTE_TRY(follow(kept, own, &there, err)); /* the blobs may be a link themselves */
    *stays = there && lies_in(real, own);
    return WTE_OK;
}

bool wte__path_remove(const char *path)
{
    return unlink(path) == 0;
}

const char *wte__path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* By bytes: alphasort goes by the locale. */
static int by_bytes(const void *a, const void *b)
{
    const struct dirent *const *x = a, *const *y = b;
    return strcmp((*x)->d_name, (*y)->d_name);
}

wte_status wte__path_list(const char *dir, bool (*visit)(void *ctx, const char *name), void *ctx,
                          wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    struct dirent **list;
    int n = scandir(dir, &list, NULL, NULL);
    if (n < 0) return wte__fail_os(err, WTE_E_IO, errno, "%s", wte__show_path(shown, dir));
    qsort(list, (size_t)n, sizeof *list, by_bytes);
    bool more = true;
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        if (more && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) more = visit(ctx, name);
        free(list[i]);
    }
    free(list);
    return WTE_OK;
}

/* Every folder of the path, but for the leading one. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool wte__cache_folder(char *out)
{
    char base[WTE_LIMIT_PATH];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    /* its specification says that a relative path is ignored */
    if (cache && cache[0] == '/') {
        if (!wte__path_join(out, cache, "wte")) return false;
    } else if (!home || home[0] != '/' || !wte__path_join(base, home, ".cache") ||
               !wte__path_join(out, base, "wte")) {
        return false;
    }
    return make_folders(out);
}
