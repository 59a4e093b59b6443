/* Filling a wte_error, forwarding a status, and taking options of another age. */
#ifndef WTE_SRC_BASE_ERROR_H
#define WTE_SRC_BASE_ERROR_H
#include <wte/base.h>

/* Fill *err (NULL is fine) and return s. A message too long for the struct is cut. */
__attribute__((format(printf, 4, 5))) wte_status wte__fail(wte_error *err, wte_status s,
                                                           uint64_t where, const char *fmt, ...);
/* The same with errno and its text appended: "<fmt>: No such file or directory". */
__attribute__((format(printf, 4, 5))) wte_status wte__fail_os(wte_error *err, wte_status s,
                                                              int sys_errno, const char *fmt, ...);
/* E_ARGUMENT, "<what> is NULL", when it is; else WTE_OK. What public functions ask of pointers that
 * they need: a caller's slip is an error to be read, not a crash in here. */
wte_status wte__need(const void *pointer, const char *what, wte_error *err);
/* The same for an output of `bytes` bytes, which is zeroed, as failures leave it. */
wte_status wte__need_out(void *out, size_t bytes, const char *what, wte_error *err);
/* E_LIMIT when n times `size` bytes exceed the address space: no caller's array is that long. */
wte_status wte__holds(uint64_t n, uint64_t size, const char *what, wte_error *err);
/* E_ARGUMENT when n > 0 elements are said to be there, but not where; E_LIMIT as wte__holds. */
wte_status wte__need_array(const void *array, uint64_t n, uint64_t size, const char *what,
                           wte_error *err);
/* E_ARGUMENT for an allocator or a progress struct without its functions; either may be NULL. */
wte_status wte__need_functions(const wte_allocator *a, const wte_progress *p, wte_error *err);
/* Put "prefix: " before the message of an error that a callee filled. */
void wte__error_prefix(wte_error *err, const char *prefix);

/* These return the failure they are given, never WTE_OK. clang's analyzer reads one file at a time
 * and would follow paths on which they succeed; the macros below exist for it alone. */
#ifdef __clang_analyzer__
#define wte__fail(err, s, ...)    ((void)(wte__fail)(err, s, __VA_ARGS__), (s))
#define wte__fail_os(err, s, ...) ((void)(wte__fail_os)(err, s, __VA_ARGS__), (s))
#endif

#define WTE_TRY(expr)                                                                              \
    do {                                                                                           \
        wte_status s_ = (expr);                                                                    \
        if (s_ != WTE_OK) return s_;                                                               \
    } while (0)

/* Copy an options struct of the size the caller was compiled with over our defaults. */
wte_status wte__options(void *dst, size_t dst_size, const void *src, wte_error *err);

/* A name escaped for a message: control bytes and invalid UTF-8 as \xNN, truncated to about 60
 * bytes with "...". Returns buf. */
#define WTE__NAME_SHOWN 96
const char *wte__show(char buf[WTE__NAME_SHOWN], const void *text, uint64_t bytes);
/* The same for a path, truncated at its beginning: ".../models/gpt2/vocab.json". */
const char *wte__show_path(char buf[WTE__NAME_SHOWN], const char *path);
#endif
