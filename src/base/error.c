/* Status texts, error structs and sized options. Nothing here allocates. */
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define OPTIONS_MAX           ((size_t)4096) /* no struct of ours comes near: it was never set */
#define STRING_OF(x)          #x
#define VERSION_TEXT(a, b, c) STRING_OF(a) "." STRING_OF(b) "." STRING_OF(c)

const char *wte_version(void)
{
    return VERSION_TEXT(WTE_VERSION_MAJOR, WTE_VERSION_MINOR, WTE_VERSION_PATCH);
}

const char *wte_status_text(wte_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case WTE_##name: return text;
        WTE_STATUS_LIST(X)
#undef X
    case WTE_STATUS_FORCE_INT: break;
    }
    return "unknown status";
}

/* strerror_r has two versions, distinguished by their return types. */
static const char *text_of_xsi(int result, const char *buf)
{
    return result == 0 ? buf : "unknown error";
}
static const char *text_of_gnu(const char *result, const char *buf)
{
    return result ? result : buf;
}

static const char *error_text(int sys_errno, char *buf, size_t cap)
{
    buf[0] = '\0';
    return _Generic(strerror_r(sys_errno, buf, cap), int: text_of_xsi, char *: text_of_gnu)(
        strerror_r(sys_errno, buf, cap), buf);
}

/* A message is one printable line: bytes of file texts and paths that are not printable characters
 * become '?', and a truncated message ends with a whole character. */
static void tidy(char *message)
{
    size_t n = strlen(message);
    for (size_t at = 0; at < n;) {
        const uint8_t *p = (const uint8_t *)message + at;
        uint32_t bytes = *p == '\\' ? 1 : wte__utf8_printable(p, n - at);
        if (bytes == 0) message[at] = '?';
        at += bytes ? bytes : 1;
    }
}

#define WHOLE_TEXT ((size_t)4608) /* a path of 4095 bytes and the text after it */
#define PATH_SHOWN 40             /* minimum length of the kept end of a path */
#define DOTS       "..."

/* A message that is too long loses the beginning of its path, not the text after it: paths of a
 * model cache are long and differ at their ends. */
static void fit(char *message, size_t cap, char *text)
{
    size_t n = strlen(text);
    const char *end = strstr(text, ": ");
    const size_t path = end ? (size_t)(end - text) : 0;
    if (n >= cap && path > PATH_SHOWN + strlen(DOTS) && memchr(text, '/', path)) {
        size_t cut = n - (cap - 1) + strlen(DOTS);
        if (cut > path - PATH_SHOWN) cut = path - PATH_SHOWN;
        while (cut < path && ((unsigned char)text[cut] & 0xc0) == 0x80) cut++;
        text += cut - strlen(DOTS);
        memcpy(text, DOTS, strlen(DOTS));
        n = strlen(text);
    }
    if (n >= cap) n = cap - 1;
    memcpy(message, text, n);
    message[n] = '\0';
    tidy(message);
}

wte_status(wte__fail)(wte_error *err, wte_status s, uint64_t where, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        char whole[WHOLE_TEXT];
        err->status = (int32_t)s;
        err->sys_errno = 0;
        err->where = where;
        va_start(ap, fmt);
        vsnprintf(whole, sizeof whole, fmt, ap);
        va_end(ap);
        fit(err->message, sizeof err->message, whole);
    }
    return s;
}

wte_status(wte__fail_os)(wte_error *err, wte_status s, int sys_errno, const char *fmt, ...)
{
    if (s == WTE_E_IO && sys_errno == ENOMEM) s = WTE_E_MEMORY; /* whoever refused it */
    if (err) {
        va_list ap;
        char whole[WHOLE_TEXT], buf[96];
        err->status = (int32_t)s;
        err->sys_errno = sys_errno;
        err->where = WTE_NO_INDEX;
        va_start(ap, fmt);
        vsnprintf(whole, sizeof whole - sizeof buf, fmt, ap);
        va_end(ap);
        size_t used = strlen(whole);
        const char *text = error_text(sys_errno, buf, sizeof buf);
        snprintf(whole + used, sizeof whole - used, ": %s", text);
        fit(err->message, sizeof err->message, whole);
    }
    return s;
}

wte_status wte__need(const void *pointer, const char *what, wte_error *err)
{
    if (pointer) return WTE_OK;
    return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "%s is NULL", what);
}

wte_status wte__need_out(void *out, size_t bytes, const char *what, wte_error *err)
{
    WTE_TRY(wte__need(out, what, err));
    memset(out, 0, bytes);
    return WTE_OK;
}

wte_status wte__holds(uint64_t n, uint64_t size, const char *what, wte_error *err)
{
    if (size == 0 || n <= (uint64_t)PTRDIFF_MAX / size) return WTE_OK;
    return wte__fail(err, WTE_E_LIMIT, WTE_NO_INDEX,
                     "%s: %" PRIu64 " of %" PRIu64 " bytes are more than memory can hold", what, n,
                     size);
}

wte_status wte__need_array(const void *array, uint64_t n, uint64_t size, const char *what,
                           wte_error *err)
{
    if (n && !array)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "%s is NULL, but has %" PRIu64 " elements", what, n);
    return wte__holds(n, size, what, err);
}

wte_status wte__need_functions(const wte_allocator *a, const wte_progress *p, wte_error *err)
{
    if (a && (!a->alloc || !a->release))
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "the allocator has no %s function",
                         a->alloc ? "release" : "alloc");
    if (p && !p->report)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX, "progress has no report function");
    return WTE_OK;
}

void wte__error_prefix(wte_error *err, const char *prefix)
{
    char whole[WHOLE_TEXT];
    if (!err) return;
    snprintf(whole, sizeof whole, "%.*s: %s", (int)(sizeof whole - sizeof err->message - 3), prefix,
             err->message);
    fit(err->message, sizeof err->message, whole);
}

wte_status wte__options(void *dst, size_t dst_size, const void *src, wte_error *err)
{
    size_t size;
    if (!src) return WTE_OK;
    memcpy(&size, src, sizeof size);
    if (size < sizeof size || size > OPTIONS_MAX)
        return wte__fail(err, WTE_E_ARGUMENT, WTE_NO_INDEX,
                         "options: struct_size is %zu; use the _INIT macro", size);
    for (size_t i = dst_size; i < size; i++)
        if (((const unsigned char *)src)[i] != 0)
            return wte__fail(err, WTE_E_UNSUPPORTED, i,
                             "options: byte %zu set, but this library knows only %zu", i, dst_size);
    memcpy(dst, src, size < dst_size ? size : dst_size);
    memcpy(dst, &dst_size, sizeof dst_size);
    return WTE_OK;
}

const char *wte__show(char buf[WTE__NAME_SHOWN], const void *text, uint64_t bytes)
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *in = text;
    const size_t room = WTE__NAME_SHOWN - 8; /* one escape or character, "..." and the NUL */
    size_t used = 0;
    uint64_t at = 0;
    while (at < bytes && used < room) {
        uint32_t n = wte__utf8_printable(in + at, bytes - at);
        if (n) {
            memcpy(buf + used, in + at, n);
            used += n;
            at += n;
            continue;
        }
        buf[used++] = '\\';
        buf[used++] = 'x';
        buf[used++] = hex[in[at] >> 4];
        buf[used++] = hex[in[at] & 15];
        at++;
    }
    memcpy(buf + used, at < bytes ? "..." : "", at < bytes ? 4 : 1);
    return buf;
}

const char *wte__show_path(char buf[WTE__NAME_SHOWN], const char *path)
{
    const size_t room = WTE__NAME_SHOWN - 16;
    size_t n = strlen(path), skip = n > room ? n - room : 0;
    /* not in the middle of a character */
    while (skip && skip < n && ((uint8_t)path[skip] & 0xc0) == 0x80) skip++;
    if (skip == 0) return wte__show(buf, path, n);
    memcpy(buf, "...", 3);
    char rest[WTE__NAME_SHOWN];
    wte__show(rest, path + skip, n - skip);
    size_t kept = strlen(rest);
    if (kept > WTE__NAME_SHOWN - 4) kept = WTE__NAME_SHOWN - 4;
    memcpy(buf + 3, rest, kept);
    buf[3 + kept] = '\0';
    return buf;
}
