/* Git LFS pointers, web pages and XML in the place of a file. */
#include "base/sniff.h"

#include <inttypes.h>

#include "base/error.h"

static bool begins(wte__bytes start, const char *text)
{
    const size_t n = strlen(text);
    return n <= start.size && memcmp(start.data, text, n) == 0;
}

/* The same for letters in any case; text is lower case. */
static bool begins_any_case(wte__bytes start, const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        if (i >= start.size) return false;
        uint8_t c = start.data[i];
        if (c >= 'A' && c <= 'Z') c = (uint8_t)(c - 'A' + 'a');
        if (c != (uint8_t)text[i]) return false;
    }
    return true;
}

uint64_t wte__text_start(wte__bytes start)
{
    const uint8_t *p = start.data;
    uint64_t at = begins(start, "\xef\xbb\xbf") ? 3 : 0;
    while (at < start.size && (p[at] == ' ' || p[at] == '\n' || p[at] == '\r' || p[at] == '\t'))
        at++;
    return at;
}

/* The rest of the line that starts with key, escaped; "?" without such a line. */
static const char *line_value(wte__bytes start, const char *key, char buf[WTE__NAME_SHOWN])
{
    const size_t n = strlen(key);
    for (uint64_t at = 0; at + n <= start.size; at++) {
        if (memcmp(start.data + at, key, n) != 0 || (at > 0 && start.data[at - 1] != '\n'))
            continue;
        uint64_t end = at + n;
        while (end < start.size && start.data[end] != '\n' && start.data[end] != '\r') end++;
        return wte__show(buf, start.data + at + n, end - at - n);
    }
    return "?";
}

static bool name_byte(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ':' || c == '.';
}

/* Past the declaration, comments and a document type. */
wte__bytes wte__xml_root(wte__bytes start)
{
    uint64_t at = wte__text_start(start);
    const wte__bytes text = { start.data + at, start.size - at };
    wte__bytes root = { NULL, 0 };
    if (!begins(text, "<?xml")) return root;
    while (at + 1 < start.size) {
        if (start.data[at] != '<') {
            at++;
            continue;
        }
        const uint8_t c = start.data[at + 1];
        at++;
        if (c == '?' || c == '!') continue;
        root.data = start.data + at;
        while (at < start.size && name_byte(start.data[at])) at++;
        root.size = (uint64_t)(start.data + at - root.data);
        return root;
    }
    return root;
}

wte_status wte__stand_in(wte__bytes start, uint64_t size, const char *path, const char *wanted,
                         wte_error *err)
{
    char bytes[WTE__NAME_SHOWN], oid[WTE__NAME_SHOWN];
    if (begins(start, "version https://git-lfs") || begins(start, "version https://hawser"))
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: a Git LFS pointer of %" PRIu64
                         " bytes, not the file: that has %s bytes and oid %s (git lfs pull)",
                         path, size, line_value(start, "size ", bytes),
                         line_value(start, "oid ", oid));
    const uint64_t at = wte__text_start(start);
    const wte__bytes text = { start.data + at, start.size - at };
    if (begins_any_case(text, "<!doctype html") || begins_any_case(text, "<html") ||
        begins_any_case(text, "<head"))
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: is a web page (HTML), not %s: the download went wrong", path, wanted);
    if (!begins_any_case(text, "<?xml")) return WTE_OK;
    const wte__bytes root = wte__xml_root(start);
    const bool html = begins_any_case(root, "html"), reply = begins_any_case(root, "error");
    if (html || reply)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: is %s, not %s: the download went wrong", path,
                         html ? "a web page (HTML)" : "XML text of a server, <Error>", wanted);
    if (root.size == 0)
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: is XML text, not %s", path, wanted);
    return wte__fail(err, WTE_E_FORMAT, 0, "%s: is XML text (its root is <%s>), not %s", path,
                     wte__show(bytes, root.data, root.size), wanted);
}
