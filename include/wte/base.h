/* wte/base.h - status codes, errors, allocation, thread pools and progress. Every other header
 * needs it.
 *
 * Handles are not locked. A built table, file, vocab or model is immutable and may be read from any
 * number of threads at once. The library never prints, exits, aborts or changes the locale.
 *
 * A function that returns a status returns WTE_E_ARGUMENT for a NULL pointer that it requires, and
 * WTE_E_LIMIT for a count larger than memory. On failure it sets a handle `*out` to NULL and a
 * single result (a number, a struct) to 0. Other functions return NULL, "", 0 or false for a NULL
 * handle.
 * Output must not overlap input; lookups, bags, heads and conversions return WTE_E_ARGUMENT then.
 */
#ifndef WTE_BASE_H
#define WTE_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WTE_API        __attribute__((visibility("default")))
#define WTE_MUST_CHECK __attribute__((warn_unused_result))
#else
#define WTE_API
#define WTE_MUST_CHECK
#endif

#define WTE_VERSION_MAJOR 0
#define WTE_VERSION_MINOR 1
#define WTE_VERSION_PATCH 0

/* Values are part of the ABI: append only, never renumber. */
#define WTE_STATUS_LIST(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(E_ARGUMENT, 1, "the caller passed an argument that makes no sense")                          \
    X(E_MEMORY, 2, "out of memory")                                                                \
    X(E_IO, 3, "the operating system refused an I/O request")                                      \
    X(E_FORMAT, 4, "the file breaks the rules of its format")                                      \
    X(E_UNSUPPORTED, 5, "valid, but this build cannot do it")                                      \
    X(E_LIMIT, 6, "larger than a safety limit allows")                                             \
    X(E_RANGE, 7, "an index or id lies outside its range")                                         \
    X(E_SHAPE, 8, "shapes do not fit together")                                                    \
    X(E_NOT_FOUND, 9, "no such name")                                                              \
    X(E_CANCELLED, 10, "the caller's progress callback asked to stop")

typedef enum wte_status {
#define X(name, value, text) WTE_##name = (value),
    WTE_STATUS_LIST(X)
#undef X
        WTE_STATUS_FORCE_INT = 0x7fffffff
} wte_status;

/* Where an error has no single offset or index. */
#define WTE_NO_INDEX UINT64_MAX

/** Filled by any function that takes one, on failure only; the caller owns it, usually on the
 * stack. 256 bytes, frozen. `where` is the byte offset or the index of the culprit, or
 * WTE_NO_INDEX.
 */
typedef struct wte_error {
    int32_t status;    /* wte_status */
    int32_t sys_errno; /* errno, or 0 */
    uint64_t where;
    char message[240]; /* one line, no newline: what, where, the two numbers that disagree */
} wte_error;

/** The constant text of a status; never NULL. */
WTE_API const char *wte_status_text(wte_status status);
/** The library's version, "major.minor.patch". */
WTE_API const char *wte_version(void);

/** Length (1..4) of the UTF-8 character at the start of `text`, or 0 for invalid UTF-8.
 *  *safe gets whether the character is safe to print on a terminal: no control character,
 * backslash, line separator, invisible or direction-changing character. Names and texts from files
 * are untrusted. */
WTE_API uint32_t wte_utf8_next(const void *text, uint64_t bytes, bool *safe);

/** Memory allocator. NULL in options selects the C library's allocator (blocks of 2 MiB and larger
 *  then use huge pages where the system has them).
 *  alloc    `bytes` > 0, `align` a power of two <= 2 MiB; returns NULL when out of memory
 *  release  gets back exactly what alloc gave, with the same `bytes`; never called with NULL
 *  The struct must outlive everything that is made with it. */
typedef struct wte_allocator {
    void *(*alloc)(void *ctx, size_t bytes, size_t align);
    void (*release)(void *ctx, void *block, size_t bytes);
    void *ctx;
} wte_allocator;

/** A set of worker threads, made once and lent to the calls that can use it (`pool` in their
 *  options; NULL there = the calling thread alone). Results never depend on the number of threads.
 *  One pool may be lent to calls in several threads; they then take turns. */
typedef struct wte_pool wte_pool;
/** threads  1..256 in all, the caller's own among them; 0 = as many as the machine has cores. Where
 *           the system refuses to start a thread the pool has fewer: wte_pool_n_threads
 *  fork     the threads stay in the process that made them. In a child calls that are lent the pool
 *           run in the calling thread, with the same results, and wte_pool_free releases memory
 *           alone; make a pool of the child's own to use more */
WTE_API WTE_MUST_CHECK wte_status wte_pool_create(uint32_t threads, wte_pool **out, wte_error *err);
WTE_API void wte_pool_free(wte_pool *pool); /* NULL is fine */
WTE_API uint32_t wte_pool_n_threads(
    const wte_pool *pool); /* that a call can use here: 1 for NULL and in a forked child */

/** The token list of a tensor file (word vectors, GGUF): wte_file_tokens.
 *  Token i is the text of row i. Borrowed: lives as long as the file. */
typedef struct wte_token_list wte_token_list;
WTE_API uint64_t wte_token_list_count(const wte_token_list *t);
/** Raw bytes, not NUL-terminated, possibly invalid UTF-8; NULL past the end. */
WTE_API const char *wte_token_list_text(const wte_token_list *t, uint64_t i, uint64_t *bytes);
/** False (and 0) where the file has no scores. */
WTE_API bool wte_token_list_score(const wte_token_list *t, uint64_t i, float *score);

/** Called now and then by calls that can last, from the thread that made the call.
 *  done, total  in the unit the call documents; returns false to stop it with WTE_E_CANCELLED */
typedef struct wte_progress {
    bool (*report)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
} wte_progress;

/** A file that is written next to its target and replaces it only when it is complete. A pipe, a
 *  character device (/dev/null) and a descriptor of this process (/dev/stdout, /dev/fd/N) are
 *  written to directly. */
typedef struct wte_writer wte_writer;
/** Begin to write `path`. A link is followed, an existing file's mode is kept. Temporary files that
 *  killed processes have left of the same target are removed first (wte_writer_remove_stale). */
WTE_API WTE_MUST_CHECK wte_status wte_writer_create(const char *path, wte_writer **out,
                                                    wte_error *err);
WTE_API WTE_MUST_CHECK wte_status wte_writer_write(wte_writer *w, const void *data, uint64_t bytes,
                                                   wte_error *err);
/** The descriptor being written to, for programs that write through a stream; stays w's. */
WTE_API int wte_writer_fd(const wte_writer *w);
/** Sync the file, rename it over its target, sync the directory. Once per writer. When it fails,
 * the old file is as it was, with one exception: when the sync of the directory fails, which comes
 *  last, the new file has its name, may be lost in a power failure, and the message says so. */
WTE_API WTE_MUST_CHECK wte_status wte_writer_commit(wte_writer *w, wte_error *err);
/** Gives up what was not committed; NULL is fine. A transaction's writer stays the transaction's.
 */
WTE_API void wte_writer_free(wte_writer *w);
/** Remove what writers of `path` have left next to it (".name.1a2b3c4d.tmp") because their process
 * was killed; how many. A file that a process is writing to is locked (flock), and stays; so does
 * what is another user's. */
WTE_API uint64_t wte_writer_remove_stale(const char *path);
/** Remove the unfinished files of all writers of this process, also of those inside other calls of
 *  the library. Async-signal-safe: for the handler of a signal that then ends the process. */
WTE_API void wte_writers_abandon(void);

/** Several files that replace their targets together, or not at all. Of files in one folder that
 *  holds even when the process is killed at any moment: the next write to the folder, or the next
 *  wte_model_open of it, finishes what was begun. */
typedef struct wte_transaction wte_transaction;
WTE_API WTE_MUST_CHECK wte_status wte_transaction_create(wte_transaction **out, wte_error *err);
/** The writer of `path`: begun by the first call for that file, the same one later.
 * wte_writer_commit of it syncs it; a writer that is not committed when the transaction is, is
 * given up. */
WTE_API WTE_MUST_CHECK wte_status wte_transaction_writer(wte_transaction *t, const char *path,
                                                         wte_writer **out, wte_error *err);
/** Rename all, then sync their directories; on failure all old files are as they were (see
 *  wte_writer_commit for the sync of a directory). Its writers are freed in any case. */
WTE_API WTE_MUST_CHECK wte_status wte_transaction_commit(wte_transaction *t, wte_error *err);
WTE_API void wte_transaction_free(wte_transaction *t); /* gives up the rest; NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
