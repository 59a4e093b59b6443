/* Telling what a file is that is no file of tensors: a pointer to one, a web page, another format.
 * Told from content alone; the name of a file proves nothing. */
#include <inttypes.h>

#include "base/error.h"
#include "format/format.h"

typedef struct magic {
    const char *bytes, *what;
    uint32_t at, n;
    wte_status status;
} magic;

/* Fixed bytes at a fixed place, longest and surest first. */
static const magic magics[] = {
    { "\x89HDF\r\n\x1a\n", "an HDF5 file (Keras .h5)", 0, 8, WTE_E_UNSUPPORTED },
    { "\xfd\x37zXZ", "xz-compressed: unpack it first", 0, 6, WTE_E_UNSUPPORTED }, /* and a NUL */
    { "\x28\xb5\x2f\xfd", "zstd-compressed: unpack it first", 0, 4, WTE_E_UNSUPPORTED },
    { "\x1f\x8b\x08", "gzip-compressed twice: unpack it first", 0, 3, WTE_E_UNSUPPORTED },
    { "BZh", "bzip2-compressed: unpack it first", 0, 3, WTE_E_UNSUPPORTED },
    { "\x7f\x45LF", "a program or library (ELF)", 0, 4, WTE_E_FORMAT },
    { "\x89PNG", "a PNG image", 0, 4, WTE_E_FORMAT },
    { "%PDF", "a PDF document", 0, 4, WTE_E_FORMAT },
    { "ustar", "a tar archive: unpack it first", 257, 5, WTE_E_UNSUPPORTED },
};

static bool begins(const wte__head *head, uint64_t at, const char *text)
{
    size_t n = strlen(text);
    return at <= head->n && n <= head->n - at && memcmp(head->bytes + at, text, n) == 0;
}

/* The same for letters in any case; text is lower case. */
static bool begins_any_case(const wte__head *head, uint64_t at, const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        if (at + i >= head->n) return false;
        uint8_t c = head->bytes[at + i];
        if (c >= 'A' && c <= 'Z') c = (uint8_t)(c - 'A' + 'a');
        if (c != (uint8_t)text[i]) return false;
    }
    return true;
}

/* Where the text starts: past a byte order mark and white space. */
static uint64_t text_start(const wte__head *head)
{
    uint64_t at = begins(head, 0, "\xef\xbb\xbf") ? 3 : 0;
    while (at < head->n && (head->bytes[at] == ' ' || head->bytes[at] == '\n' ||
                            head->bytes[at] == '\r' || head->bytes[at] == '\t'))
        at++;
    return at;
}

/* The rest of the line that starts with key, shown; "?" when there is none. */
static const char *line_value(const wte__head *head, const char *key, char buf[WTE__NAME_SHOWN])
{
    size_t n = strlen(key);
    for (uint64_t at = 0; at + n <= head->n; at++) {
        if (memcmp(head->bytes + at, key, n) != 0 || (at > 0 && head->bytes[at - 1] != '\n'))
            continue;
        uint64_t end = at + n;
        while (end < head->n && head->bytes[end] != '\n' && head->bytes[end] != '\r') end++;
        return wte__show(buf, head->bytes + at + n, end - at - n);
    }
    return "?";
}

static wte_status lfs_pointer(const wte__head *head, const char *path, wte_error *err)
{
    char size[WTE__NAME_SHOWN], oid[WTE__NAME_SHOWN];
    return wte__fail(err, WTE_E_FORMAT, 0,
                     "%s: a Git LFS pointer of %" PRIu64
                     " bytes, not the file: that has %s bytes and oid %s (git lfs pull)",
                     path, head->size, line_value(head, "size ", size),
                     line_value(head, "oid ", oid));
}

static bool is_pickle(const wte__head *head)
{
    /* protocol 2 to 5; then the opcodes that open what people pickle */
    if (head->n < 3 || head->bytes[0] != 0x80 || head->bytes[1] < 2 || head->bytes[1] > 5)
        return false;
    return strchr("}](c\x8a\x95X\x8cN)KMJG", head->bytes[2]) != NULL && head->bytes[2] != 0;
}

/* A number of protobuf at *at, which moves behind it; false when it does not end in the head. */
static bool varint(const wte__head *head, uint64_t *at, uint64_t *value)
{
    *value = 0;
    for (uint32_t shift = 0; shift < 64 && *at < head->n; shift += 7) {
        const uint8_t byte = head->bytes[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* ONNX and TensorFlow's saved models are protobuf messages that begin with a version (field 1). An
 * ONNX model goes on with short texts (2 to 6: who made it) up to its graph (7); a saved model with
 * its graphs (2) at once, and its version is 1, which no ONNX model has had since 2017. */
static const char *protobuf(const wte__head *head)
{
    uint64_t at = 1, value, version;
    if (head->n < 4 || head->bytes[0] != 0x08 || !varint(head, &at, &version)) return NULL;
    while (at < head->n) {
        uint64_t tag;
        if (!varint(head, &at, &tag)) return NULL;
        const uint64_t field = tag >> 3, kind = tag & 7;
        if (field < 2 || field > 20 || (kind != 0 && kind != 2) || !varint(head, &at, &value))
            return NULL;
        if (kind == 0) continue;
        if (value > head->size - at) return NULL;
        if (field == 2 && version == 1 && value > 64) return "a TensorFlow saved model";
        if (field == 7 && version < 64) return "an ONNX model";
        at += value;
    }
    return NULL;
}

/* The index of a TensorFlow checkpoint is a table whose first entry has an empty key: its value
 * tells how many files there are. The files of data have no mark of their own. */
static bool is_tensorflow_index(const wte__head *head)
{
    return head->n > 5 && memcmp(head->bytes, "\0\0", 2) == 0 && head->bytes[2] >= 2 &&
           head->bytes[2] < 32 && head->bytes[3] == 0x08 && head->bytes[4] > 0 &&
           head->bytes[4] < 0x80 && (head->bytes[5] == 0x1a || head->bytes[5] == 0x10);
}

/* Flax writes a map from texts: msgpack's byte for a map, then that for a text, then letters. */
static bool is_msgpack(const wte__head *head)
{
    const uint8_t *p = head->bytes;
    const uint64_t key = head->n < 6 ? 0 : p[0] > 0x80 && p[0] <= 0x8f ? 1 : p[0] == 0xde ? 3 : 0;
    if (key == 0) return false;
    const uint64_t text = p[key] == 0xd9 ? key + 2 : key + 1;
    const uint64_t n = p[key] == 0xd9                   ? p[key + 1]
                       : p[key] > 0xa0 && p[key] < 0xc0 ? p[key] & 31u
                                                        : 0;
    if (n == 0 || n > head->n - text) return false;
    for (uint64_t i = text; i < text + n; i++)
        if (p[i] < ' ' || p[i] > '~') return false;
    return true;
}

wte_status wte__foreign(const wte__head *head, const char *path, wte_error *err)
{
    static const char refused[] = "; this build does not read it";
    if (head->size == 0) return wte__fail(err, WTE_E_FORMAT, 0, "%s: is empty (0 bytes)", path);
    uint64_t text = text_start(head);
    if (begins(head, 0, "version https://git-lfs") || begins(head, 0, "version https://hawser"))
        return lfs_pointer(head, path, err);
    if (begins_any_case(head, text, "<!doctype html") || begins_any_case(head, text, "<html") ||
        begins_any_case(head, text, "<head"))
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: is a web page (HTML), not tensors: the download went wrong", path);
    if (begins_any_case(head, text, "<?xml"))
        return wte__fail(err, WTE_E_FORMAT, 0,
                         "%s: is XML text (an error reply?), not tensors: the download went wrong",
                         path);
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const magic *m = &magics[i];
        if ((uint64_t)m->at + m->n > head->n || memcmp(head->bytes + m->at, m->bytes, m->n) != 0)
            continue;
        return wte__fail(err, m->status, 0, "%s: is %s%s", path, m->what,
                         m->status == WTE_E_UNSUPPORTED ? refused : ", not tensors");
    }
    if (is_pickle(head))
        return wte__fail(err, WTE_E_UNSUPPORTED, 0,
                         "%s: is a Python pickle, but not one of PyTorch's%s", path, refused);
    const char *other = protobuf(head);
    if (is_tensorflow_index(head)) other = "the index of a TensorFlow checkpoint";
    if (is_msgpack(head)) other = "a msgpack file (Flax)";
    if (other) return wte__fail(err, WTE_E_UNSUPPORTED, 0, "%s: is %s%s", path, other, refused);
    if (text < head->n && head->bytes[text] == '[')
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: is JSON text, not tensors", path);
    if (head->size < 8)
        return wte__fail(err, WTE_E_FORMAT, head->size,
                         "%s: has %" PRIu64 " bytes, but a file of tensors has at least 8", path,
                         head->size);
    return WTE_OK;
}
