/* Replacing files atomically, one or several. */
#ifndef WTE_SRC_BASE_REPLACE_H
#define WTE_SRC_BASE_REPLACE_H
#include <stdbool.h>
#include <stddef.h>
#include <wte/base.h>

/* One file: write next to the target, fsync, rename over it, fsync the directory. On failure the
 * target is as it was and the temporary file is removed. The one exception is the sync of the
 * directory, which comes last: when it fails the new file has its name, and the message says so.
 * The mode of an existing target is kept, its owner where permitted; a link is followed, unless it
 * leads to nothing. A pipe, a character device, and a descriptor of this process (/dev/stdout,
 * /dev/fd/N) are written to directly. After a failed write call wte__replace_abort.
 *
 * The struct must stay where it is from begin to commit or abort. */
typedef struct wte__replace {
    int fd;          /* -1: closed */
    bool direct;     /* no temporary file */
    bool sealed;     /* all is written and synced; fd holds the lock alone */
    bool exists;     /* the target did when this began */
    char path[4096]; /* as given, for messages */
    char target[4096], temporary[4096];
} wte__replace;
wte_status wte__replace_begin(wte__replace *r, const char *path, wte_error *err);
wte_status wte__replace_write(wte__replace *r, const void *data, uint64_t bytes, wte_error *err);
/* Sync the file; aborts by itself when it fails. */
wte_status wte__replace_seal(wte__replace *r, wte_error *err);
/* Seal, rename, sync the directory; aborts by itself when it fails. */
wte_status wte__replace_commit(wte__replace *r, wte_error *err);
void wte__replace_abort(wte__replace *r); /* after a failed begin or commit: nothing */
/* Where a write to `path` ends: links are followed, and a file that does not exist yet is named by
 * its real folder. out has WTE_LIMIT_PATH bytes. */
wte_status wte__replace_target(const char *path, char *out, wte_error *err);

/* Several files that are sealed: rename all, or none. A failure in between restores the old files,
 * and a process that is killed in between has left a journal from which wte__replace_recover goes
 * on. Files in different folders are renamed together too, but a kill may part them. Ends every one
 * of them; `n` may be 0. */
wte_status wte__replace_install(wte__replace *const *r, size_t n, wte_error *err);
/* Finish what a killed process has begun to rename in this folder. Waits for one that is at it. */
wte_status wte__replace_recover(const char *folder, wte_error *err);
/* The same for the folder that a file is in. */
wte_status wte__replace_recover_beside(const char *path, wte_error *err);

/* Remove the temporary files of this target that killed processes have left; returns how many. One
 * that is being written is held by a lock (flock) and stays, as does what is another user's. */
uint64_t wte__replace_sweep(const char *path);
/* The same for all targets in the folder of `path`: for folders that only wte writes to. */
uint64_t wte__replace_sweep_folder(const char *path);

/* Shared by replace.c and replace_all.c. */
bool wte__replace_is_temporary(const char *base, const char *name); /* base NULL: of any target */
/* A new name for a temporary file of r's target; false when it is too long. */
bool wte__replace_temporary(const wte__replace *r, char out[4096]);
wte_status wte__replace_sync_folder(const char *path, wte_error *err); /* the one `path` is in */
#endif
