/* Renaming several files together.
 *
 * No system call renames two files at once. A journal in the folder makes it one step all the same:
 * it lists the temporary files and the names that they are to get, and is complete and synced
 * before the first of them is renamed. A process that is killed before that has changed nothing;
 * one that is killed afterwards has left all that is needed to go on, and whoever opens the folder
 * next does so (wte__replace_recover). A rename that fails is undone from second names (hard links)
 * of the old files. Signals are blocked meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/replace.h"
#include "base/unfinished.h"

#define JOURNAL ".wte-commit"
static const char journal_start[] = "wte-commit 1", journal_end[] = "end";

/* What one file needs besides its wte__replace. */
typedef struct step {
    wte__replace *r;
    bool renamed;
    int journal;                           /* of the folder, in its first file; -1: none */
    char journal_path[4096], backup[4096]; /* "": none */
} step;

static size_t folder_bytes(const char *target)
{
    return (size_t)(wte__path_base(target) - target);
}

static bool same_folder(const wte__replace *a, const wte__replace *b)
{
    const size_t n = folder_bytes(a->target);
    return n == folder_bytes(b->target) && memcmp(a->target, b->target, n) == 0;
}

/* The journal ---------------------------------------------------------------------------------- */

static bool put_text(int fd, const char *text) /* with its NUL */
{
    for (size_t n = strlen(text) + 1; n > 0;) {
        const ssize_t put = write(fd, text, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        text += put;
        n -= (size_t)put;
    }
    return true;
}

/* Create it and hold its lock; another transaction's is waited for. */
static int create_journal(const char *path)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        struct stat st;
        if (fd < 0 && errno != EEXIST) return -1;
        if (fd < 0) {
            if (wte__replace_recover_beside(path, NULL) != WTE_OK) break;
            continue;
        }
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR) continue;
        if (fstat(fd, &st) != 0 || st.st_nlink > 0) return fd;
        close(fd); /* another run removed it as that of a killed one */
    }
    errno = EBUSY;
    return -1;
}

static wte_status write_journal(step *steps, size_t n, size_t first, wte_error *err)
{
    step *s = &steps[first];
    char shown[WTE__NAME_SHOWN];
    const int used = snprintf(s->journal_path, sizeof s->journal_path, "%.*s" JOURNAL,
                              (int)folder_bytes(s->r->target), s->r->target);
    if (used >= 0 && used < (int)sizeof s->journal_path)
        s->journal = create_journal(s->journal_path);
    else
        errno = ENAMETOOLONG;
    if (s->journal < 0) {
        const int why = errno;
        s->journal_path[0] = '\0';
        return wte__fail_os(err, WTE_E_IO, why, "%s: cannot write a journal next to it",
                            wte__show_path(shown, s->r->path));
    }
    bool ok = put_text(s->journal, journal_start);
    for (size_t i = first; ok && i < n; i++)
        if (same_folder(s->r, steps[i].r))
            ok = put_text(s->journal, wte__path_base(steps[i].r->temporary)) &&
                 put_text(s->journal, wte__path_base(steps[i].r->target));
    ok = ok && put_text(s->journal, journal_end) && (fsync(s->journal) == 0 || errno == EINVAL);
    if (!ok)
        return wte__fail_os(err, WTE_E_IO, errno, "%s: cannot write the journal next to it",
                            wte__show_path(shown, s->r->path));
    return wte__replace_sync_folder(s->journal_path, err);
}

/* A journal for each folder in which several files get their names. */
static wte_status write_journals(step *steps, size_t n, wte_error *err)
{
    for (size_t i = 0; i < n; i++) {
        bool first = true, several = false;
        for (size_t k = 0; k < i; k++) first &= !same_folder(steps[k].r, steps[i].r);
        for (size_t k = i + 1; k < n; k++) several |= same_folder(steps[i].r, steps[k].r);
        if (first && several) WTE_TRY(write_journal(steps, n, i, err));
    }
    return WTE_OK;
}

/* Renaming ------------------------------------------------------------------------------------- */

/* A second name for the old file. A file system without hard links has none: a rename that fails
 * there is finished by the journal, not undone. */
static void keep_old(step *s)
{
    if (!s->r->exists || !wte__replace_temporary(s->r, s->backup) ||
        link(s->r->target, s->backup) != 0)
        s->backup[0] = '\0';
}

static wte_status rename_one(step *s, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    if (rename(s->r->temporary, s->r->target) != 0)
        return wte__fail_os(err, WTE_E_IO, errno, "%s: cannot rename over it",
                            wte__show_path(shown, s->r->path));
    wte__unfinished_forget(s->r->temporary);
    s->r->temporary[0] = '\0';
    s->renamed = true;
    return WTE_OK;
}

static void undo(step *steps, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (!steps[i].renamed) continue;
        const char *backup = steps[i].backup, *target = steps[i].r->target;
        if (!steps[i].r->exists) {
            (void)unlink(target);
        } else if (backup[0] && rename(backup, target) != 0) {
            /* renaming fails for good: link instead; a backup that cannot be used is kept */
            if (unlink(target) == 0 && link(backup, target) == 0) (void)unlink(backup);
        }
        steps[i].backup[0] = '\0';
    }
}

static wte_status sync_folders(const step *steps, size_t n, wte_error *err)
{
    wte_status status = WTE_OK;
    for (size_t i = 0; i < n; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++) first &= !same_folder(steps[k].r, steps[i].r);
        if (!first) continue;
        const wte_status s =
            wte__replace_sync_folder(steps[i].r->target, status == WTE_OK ? err : NULL);
        if (status == WTE_OK) status = s;
    }
    return status;
}

static void drop_journals(step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (steps[i].journal_path[0]) (void)unlink(steps[i].journal_path);
        if (steps[i].journal >= 0) close(steps[i].journal);
        steps[i].journal = -1;
        steps[i].journal_path[0] = '\0';
    }
}

static wte_status install(step *steps, size_t n, wte_error *err)
{
    wte_status status = WTE_OK;
    if (n > 1) {
        for (size_t i = 0; i < n; i++) keep_old(&steps[i]);
        status = write_journals(steps, n, err);
    }
    for (size_t i = 0; status == WTE_OK && i < n; i++) status = rename_one(&steps[i], err);
    if (status == WTE_OK) {
        status = sync_folders(steps, n, err);
    } else {
        drop_journals(steps, n); /* first, so that no later run resumes it */
        undo(steps, n);
    }
    drop_journals(steps, n);
    for (size_t i = 0; i < n; i++) {
        if (steps[i].backup[0]) (void)unlink(steps[i].backup);
        wte__replace_abort(steps[i].r); /* its lock, and what was not renamed */
    }
    return status;
}

wte_status wte__replace_install(wte__replace *const *r, size_t n, wte_error *err)
{
    wte_status status = WTE_OK;
    sigset_t before;
    size_t used = 0;
    step *steps = wte__alloc_array(NULL, (uint64_t)n + 1, sizeof *steps);
    if (!steps) status = wte__no_memory(err, n * sizeof *steps, "the names of files");
    for (size_t i = 0; i < n; i++) {
        if (!steps || r[i]->direct) {
            wte__replace_abort(r[i]);
            continue;
        }
        size_t at = used++; /* in one order, so that no two transactions wait for each other */
        for (; at > 0 && strcmp(steps[at - 1].r->target, r[i]->target) > 0; at--)
            steps[at].r = steps[at - 1].r;
        steps[at].r = r[i];
    }
    for (size_t i = 0; i < used; i++) {
        step *s = &steps[i];
        s->renamed = false;
        s->journal = -1;
        s->journal_path[0] = s->backup[0] = '\0';
    }
    wte__section_begin(&before);
    if (steps) status = install(steps, used, err);
    wte__section_end(&before);
    wte__free(NULL, steps, ((size_t)n + 1) * sizeof *steps);
    return status;
}

/* Recovery ------------------------------------------------------------------------------------- */

/* The journal's next text; NULL at its end. */
static const char *next_text(const char *journal, size_t n, size_t *at)
{
    const char *text = journal + *at;
    const char *end = *at < n ? memchr(text, '\0', n - *at) : NULL;
    if (!end) return NULL;
    *at = (size_t)(end - journal) + 1;
    return text;
}

/* Whether it is complete, so that the renames may have begun. Names lead nowhere else. */
static bool is_decided(const char *journal, size_t n)
{
    size_t at = 0;
    const char *text = next_text(journal, n, &at), *target;
    if (!text || strcmp(text, journal_start) != 0) return false;
    while ((text = next_text(journal, n, &at)) && strcmp(text, journal_end) != 0) {
        target = next_text(journal, n, &at);
        if (!target || strchr(target, '/') || strchr(text, '/') ||
            !wte__replace_is_temporary(target, text))
            return false;
    }
    return text && at == n;
}

/* Whether the journal's owner may rename files in this folder. Another user's journal in a folder
 * that is writable for all is not trusted. */
static bool is_trusted(int folder, const struct stat *journal)
{
    struct stat st;
    return S_ISREG(journal->st_mode) && journal->st_size <= (off_t)WTE_LIMIT_JOURNAL &&
           (journal->st_uid == geteuid() ||
            (fstat(folder, &st) == 0 && st.st_uid == journal->st_uid));
}

static wte_status go_on(int folder, const char *path, const char *journal, size_t n, wte_error *err)
{
    char shown[WTE__NAME_SHOWN];
    size_t at = 0;
    (void)next_text(journal, n, &at);
    for (;;) {
        const char *temporary = next_text(journal, n, &at);
        if (strcmp(temporary, journal_end) == 0) break;
        const char *target = next_text(journal, n, &at);
        if (renameat(folder, temporary, folder, target) == 0 || errno == ENOENT) continue;
        return wte__fail_os(err, WTE_E_IO, errno,
                            "%s: a process was killed while it gave new files their names, and "
                            "that cannot be finished now; let the folder's owner open it",
                            wte__show_path(shown, path));
    }
    (void)fsync(folder);
    (void)unlinkat(folder, JOURNAL, 0);
    return WTE_OK;
}

static wte_status recover(int folder, int fd, const char *path, wte_error *err)
{
    char *journal, shown[WTE__NAME_SHOWN];
    struct stat st;
    if (fstat(fd, &st) != 0 || !is_trusted(folder, &st)) return WTE_OK;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) continue; /* of a process that is at it */
    if (fstat(fd, &st) != 0 || st.st_nlink == 0 || st.st_size > (off_t)WTE_LIMIT_JOURNAL)
        return WTE_OK;
    const size_t cap = (size_t)st.st_size + 1, starts = strlen(journal_start);
    journal = wte__alloc(NULL, cap);
    if (!journal) return wte__no_memory(err, cap, "a journal");
    size_t n = 0;
    ssize_t got = 1;
    while (n < cap - 1 && got > 0) {
        got = pread(fd, journal + n, cap - 1 - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            n += (size_t)got;
    }
    wte_status status = WTE_OK;
    if (got < 0)
        status = wte__fail_os(err, WTE_E_IO, errno, "%s/%s: cannot be read",
                              wte__show_path(shown, path), JOURNAL);
    else if (is_decided(journal, n))
        status = go_on(folder, path, journal, n, err);
    else if (memcmp(journal, journal_start, n < starts ? n : starts) == 0)
        (void)unlinkat(folder, JOURNAL, 0); /* cut: nothing was renamed yet */
    wte__free(NULL, journal, cap);
    return status;
}

wte_status wte__replace_recover(const char *folder, wte_error *err)
{
    wte_status status = WTE_OK;
    char path[WTE_LIMIT_PATH];
    if (!wte__path_join(path, folder, JOURNAL)) return WTE_OK;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
        return wte__path_cannot_open(path, errno, err);
    if (fd < 0) return WTE_OK;
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) {
        status = recover(dir, fd, folder, err);
        close(dir);
    } else {
        status = wte__path_cannot_open(folder, errno, err);
    }
    close(fd);
    return status;
}

wte_status wte__replace_recover_beside(const char *path, wte_error *err)
{
    char folder[WTE_LIMIT_PATH];
    const size_t n = folder_bytes(path);
    if (n >= sizeof folder) return WTE_OK;
    memcpy(folder, path, n);
    memcpy(folder + n, n ? "" : ".", n ? 1 : 2);
    return wte__replace_recover(folder, err);
}
