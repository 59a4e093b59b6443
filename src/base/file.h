/* Operating system files: read, map, list. Writing is in replace.h. file.c, path.c, replace.c and
 * thread.c alone make such calls. */
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
    /* Identity of the file and its change time, which no program can set; 0 for memory. */
    uint64_t device, inode, status_changed;
} wte__file;

/* Regular files only: a directory, device or pipe is refused (E_IO / E_UNSUPPORTED) with its kind
 * named. */
wte_status wte__file_open(wte__file *f, const char *path, wte_error *err);
void wte__file_over(wte__file *f, const void *data, uint64_t size); /* over the caller's bytes */
wte_status wte__file_map(wte__file *f, const char *path,
                         wte_error *err); /* fills f->map; size 0 maps nothing */
void wte__file_close(wte__file *f);       /* also of a zeroed struct with fd -1 */
/* True when its size or change time differs from when it was opened. */
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
/* The kind of file at a path; NONE only when the name does not exist. A path that cannot be
 * examined (a folder without permission, a cycle of links) and a dangling link are errors. *bytes:
 * the size of a file; may be NULL. */
wte_status wte__path_look(const char *path, wte__path_kind *kind, uint64_t *bytes, wte_error *err);
/* Whether an optional file exists. An empty one counts as absent; a folder, a pipe or anything else
 * that cannot be read as a file is an error. *bytes may be NULL. */
wte_status wte__path_optional(const char *path, bool *there, uint64_t *bytes, wte_error *err);
/* Whether an optional folder exists; a file of that name counts as absent. */
wte_status wte__path_folder(const char *path, bool *there, wte_error *err);
/* dir + "/" + name into out (WTE_LIMIT_PATH bytes); false when too long. name absolute = name
 * alone. */
bool wte__path_join(char *out, const char *dir, const char *name);
/* Whether a file, after all links are followed, is inside a folder, or in the blobs of the hub
 * cache that the folder is a snapshot of (.../snapshots/REVISION, .../blobs). True for a missing
 * file. real receives the resolved path. */
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

/* "a directory", "a pipe": what a path leads to that is not a regular file. */
const char *wte__kind_text(unsigned mode);

uint64_t wte__random_seed(void); /* from the system; for hash seeds only, never for results */
#endif
