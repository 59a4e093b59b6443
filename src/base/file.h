/* Operating system files: read, map, list, replace atomically. file.c and path.c are the only files
 * with such calls beside thread.c. */
#ifndef WTE_SRC_BASE_FILE_H
#define WTE_SRC_BASE_FILE_H
#include <stdbool.h>
#include <wte/base.h>

#include "base/limits.h"

typedef struct wte__file {
    int fd; /* -1 when closed, or when memory is read */
    uint64_t size;
    const uint8_t *map; /* whole file, or NULL when not mapped */
    bool memory;        /* map is the caller's memory */
    uint64_t changed;   /* nanoseconds; 0 for memory */
    /* Which file it is, and when anything of it changed last, which nobody can set; 0 for memory.
     */
    uint64_t device, inode, status_changed;
} wte__file;

/* Regular files only: a directory, device or pipe is refused (E_IO / E_UNSUPPORTED) with its kind
 * named. */
wte_status wte__file_open(wte__file *f, const char *path, wte_error *err);
void wte__file_over(wte__file *f, const void *data, uint64_t size); /* over the caller's bytes */
wte_status wte__file_map(wte__file *f, const char *path,
                         wte_error *err); /* fills f->map; size 0 maps nothing */
void wte__file_close(wte__file *f);       /* also of a zeroed struct with fd -1 */
/* Whether its size or time of change is no longer what it was when it was opened. */
bool wte__file_has_changed(const wte__file *f);
/* The same as an error, E_FORMAT: what was read through a map may be zeros, or of two versions. */
wte_status wte__file_check_unchanged(const wte__file *f, const char *path, wte_error *err);
/* Exactly n bytes at `at`, by pread (or from memory). A short file is E_FORMAT (it shrank) with
 * where = at. */
wte_status wte__file_read_at(const wte__file *f, uint64_t at, void *out, uint64_t n,
                             const char *path, wte_error *err);
/* The whole of a small file; *out is bytes + 1 long and NUL-terminated; release with wte__free(a,
 * *out, *bytes + 1). */
/* `raise` says in the message how a file beyond max_bytes can be read: limits.h. */
wte_status wte__file_load(const char *path, uint64_t max_bytes, const char *raise,
                          const wte_allocator *a, char **out, uint64_t *bytes, wte_error *err);

/* A whole file as private copy-on-write memory: writes stay in this process and never reach the
 * file. An empty file maps nothing (E_FORMAT). Release with wte__file_unmap_private. */
wte_status wte__file_map_private(const char *path, uint8_t **data, uint64_t *bytes, wte_error *err);
void wte__file_unmap_private(uint8_t *data, uint64_t bytes); /* NULL is fine */

typedef enum wte__path_kind {
    WTE__PATH_NONE,
    WTE__PATH_FILE,
    WTE__PATH_DIRECTORY,
    WTE__PATH_OTHER
} wte__path_kind;
/* The error of a path that could not be opened for the reason `why` (errno). */
wte_status wte__path_cannot_open(const char *path, int why, wte_error *err);
/* What lies at a path. *kind is NONE only where there is nothing of that name. What the system does
 * not let us look at (a folder without permission, links in a circle), and a link that leads to
 * nothing, is an error. *bytes of a file; may be NULL. */
wte_status wte__path_look(const char *path, wte__path_kind *kind, uint64_t *bytes, wte_error *err);
/* Whether a file that may be left out is there. An empty one counts as absent; a folder, a pipe and
 * whatever else cannot be read as a file is an error. *bytes may be NULL. */
wte_status wte__path_optional(const char *path, bool *there, uint64_t *bytes, wte_error *err);
/* Whether a folder that may be left out is there; a file of that name counts as absent. */
wte_status wte__path_folder(const char *path, bool *there, wte_error *err);
/* dir + "/" + name into out (WTE_LIMIT_PATH bytes); false when too long. name absolute = name
 * alone. */
bool wte__path_join(char *out, const char *dir, const char *name);
/* Whether a file lies in a folder or below it when all links are followed, or in the blobs of the
 * hub's cache that the folder is a snapshot of (.../snapshots/REVISION, .../blobs). A file that is
 * not there stays. real gets where it lies. */
wte_status wte__path_stays(const char *path, const char *folder, bool *stays,
                           char real[WTE_LIMIT_PATH], wte_error *err);
bool wte__path_remove(const char *path);      /* a file; false when it could not be removed */
const char *wte__path_base(const char *path); /* after the last slash */
/* Names in a directory, sorted by bytes, without . and ..; calls visit until it returns false. */
wte_status wte__path_list(const char *dir, bool (*visit)(void *ctx, const char *name), void *ctx,
                          wte_error *err);

/* The folder for what can be made again, with all above it: $XDG_CACHE_HOME/wte, or ~/.cache/wte;
 * made (for its owner alone) when it is not there. out has WTE_LIMIT_PATH bytes. False: there is
 * none. */
bool wte__cache_folder(char *out);

/* Write beside the target, fsync, rename, fsync the directory. On failure the target is as it was
 * and the temporary file is gone (only when the directory's own sync fails, last of all, is the new
 * file in place). The mode of an existing target is kept, its owner where we may; a link is
 * followed, unless it leads to nothing. After a failed write call wte__replace_abort. */
typedef struct wte__replace {
    int fd;
    char target[4096], temporary[4096];
} wte__replace;
wte_status wte__replace_begin(wte__replace *r, const char *path, wte_error *err);
wte_status wte__replace_write(wte__replace *r, const void *data, uint64_t bytes, wte_error *err);
wte_status wte__replace_commit(wte__replace *r,
                               wte_error *err); /* aborts by itself when it fails */
void wte__replace_abort(wte__replace *r);       /* after begin failed or commit: nothing */
/* Remove the temporary files of this target that killed processes have left; how many. One that is
 * being written is held by a lock (flock) and stays, as does what is not this user's. */
uint64_t wte__replace_sweep(const char *path);

uint64_t wte__random_seed(void); /* from the system; for hash seeds only, never for results */
#endif
