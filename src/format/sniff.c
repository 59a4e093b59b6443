/* Telling what a file is that is no file of tensors: another format, or (base/sniff.h) what came in
 * its place. Told from content alone; the name of a file proves nothing. */
#include <inttypes.h>

#include "base/error.h"
#include "base/sniff.h"
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
    { "\xa3\xd9\x34\x01", "a Llama checkpoint of llm.c", 0, 4, WTE_E_UNSUPPORTED },
    { "\xc7\xd7\x34\x01", "a debug state of llm.c", 0, 4, WTE_E_UNSUPPORTED },
    { "\xc8\xd7\x34\x01", "a tokenizer of llm.c", 0, 4, WTE_E_UNSUPPORTED },
    { "\x88\xd8\x34\x01", "token ids of llm.c", 0, 4, WTE_E_UNSUPPORTED },
    { "\x1f\x8b\x08", "gzip-compressed twice: unpack it first", 0, 3, WTE_E_UNSUPPORTED },
    { "BZh", "bzip2-compressed: unpack it first", 0, 3, WTE_E_UNSUPPORTED },
    { "\x7f\x45LF", "a program or library (ELF)", 0, 4, WTE_E_FORMAT },
    { "\x89PNG", "a PNG image", 0, 4, WTE_E_FORMAT },
    { "%PDF", "a PDF document", 0, 4, WTE_E_FORMAT },
    { "TFL3", "a TensorFlow Lite model", 4, 4, WTE_E_UNSUPPORTED },
    { "ustar", "a tar archive: unpack it first", 257, 5, WTE_E_UNSUPPORTED },
};

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
    const wte_bytes start = { head->bytes, head->n };
    const uint64_t text = wte__text_start(start);
    WTE_TRY(wte__stand_in(start, head->size, path, "tensors", err));
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

/* TensorFlow's data ("model.data-00000-of-00001") are numbers one behind the other, and a frozen
 * graph begins as any protobuf message may. */
const char *wte__foreign_name(const char *path)
{
    static const char shape[] = ".data-00000-of-00000";
    const size_t n = strlen(path), k = sizeof shape - 1;
    if (n >= 3 && memcmp(path + n - 3, ".pb", 3) == 0) return "a graph of TensorFlow (protobuf)";
    if (n <= k) return NULL;
    for (size_t i = 0; i < k; i++) {
        const char c = path[n - k + i];
        if (shape[i] == '0' ? c < '0' || c > '9' : c != shape[i]) return NULL;
    }
    return "the data of a TensorFlow checkpoint";
}
