/* What a file is that is no file of tensors, when none of our formats fits it: what came in its
 * place (base/sniff.h), a kind of the table (kinds.h), text, or unknown. */
#include <inttypes.h>

#include "base/error.h"
#include "base/sniff.h"
#include "base/utf8.h"
#include "format/kinds.h"

wte_status wte__head_read(const wte__file *file, const char *path, wte__head *head, wte_error *err)
{
    head->file = file;
    head->packed = false;
    head->size = file->size;
    head->n = file->size < sizeof head->bytes ? file->size : sizeof head->bytes;
    head->n_tail = file->size < sizeof head->tail ? (uint32_t)file->size : sizeof head->tail;
    WTE_TRY(wte__file_read_at(file, 0, head->bytes, head->n, path, err));
    return wte__file_read_at(file, file->size - head->n_tail, head->tail, head->n_tail, path, err);
}

/* Whether the start of a file is text, as far as it was read: no control bytes, valid UTF-8 (the
 * last character may be cut). */
bool wte__head_is_text(const wte__head *head)
{
    uint32_t n;
    for (uint64_t i = 0; i < head->n; i += n) {
        const uint8_t c = head->bytes[i];
        uint32_t code;
        n = 1;
        if (c == '\t' || c == '\n' || c == '\r') continue;
        if (c < 0x20 || c == 0x7f) return false;
        n = wte__utf8_get(head->bytes + i, head->n - i, &code);
        if (n == 0) return head->n < head->size && head->n - i < 4;
    }
    return head->n > 0;
}

wte_status wte__foreign(const wte__head *head, const char *path, wte_error *err)
{
    if (head->size == 0) return wte__fail(err, WTE_E_FORMAT, 0, "%s: is empty (0 bytes)", path);
    const wte__kind *kind = wte__kind_of(head);
    if (kind) return wte__kind_refuse(kind, head, path, err);
    const wte__bytes start = { head->bytes, head->n };
    WTE_TRY(wte__stand_in(start, head->size, path, "tensors", err));
    if (head->size < 8)
        return wte__fail(err, WTE_E_FORMAT, head->size,
                         "%s: has %" PRIu64 " bytes, but a file of tensors has at least 8", path,
                         head->size);
    return WTE_OK;
}

/* Files whose numbers follow each other without any mark. Their names are no evidence, so what is
 * said of them is said to be a guess. '0' stands for any digit. */
static const struct {
    const char *ending, *what;
} unmarked[] = {
    { ".data-00000-of-00000", "the data of a TensorFlow checkpoint, whose index is beside it" },
    { ".onnx.data", "the external data of an ONNX model" },
    { ".onnx_data", "the external data of an ONNX model" },
    { "openvino_model.bin", "the weights of an OpenVINO model, whose graph is the .xml beside it" },
    { ".ann", "an Annoy index, which has no mark and does not tell its width" },
    { ".annoy", "an Annoy index, which has no mark and does not tell its width" },
};

static const char *guess(const char *path)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof unmarked / sizeof unmarked[0]; i++) {
        const char *ending = unmarked[i].ending;
        const size_t k = strlen(ending);
        bool same = n > k;
        for (size_t at = 0; same && at < k; at++) {
            const char c = path[n - k + at];
            same = ending[at] == '0' ? c >= '0' && c <= '9' : c == ending[at];
        }
        if (same) return unmarked[i].what;
    }
    return NULL;
}

/* Words of the replies that servers send in place of a file. */
static bool is_reply(const wte__head *head)
{
    static const char *const words[] = { "not found",    "Not Found", "denied",    "Unauthorized",
                                         "Invalid user", "Forbidden", "forbidden", "gated" };
    for (size_t i = 0; head->size < 1024 && i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i]);
        for (uint64_t at = 0; at + n <= head->n; at++)
            if (memcmp(head->bytes + at, words[i], n) == 0) return true;
    }
    return false;
}

wte_status wte__unknown(const wte__head *head, const char *path, wte_error *err)
{
    char hex[3 * 8 + 1] = "", shown[WTE__NAME_SHOWN];
    const char *inside = head->packed ? "gzip, and in it " : "";
    if (wte__head_is_text(head)) {
        uint64_t n = 0;
        while (n < head->n && head->bytes[n] != '\n' && head->bytes[n] != '\r') n++;
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: is %stext, not tensors%s; it begins with '%s'",
                         path, inside,
                         is_reply(head) ? " (an error reply: the download went wrong)"
                                        : " and no table of numbers that is known",
                         wte__show(shown, head->bytes, n));
    }
    for (size_t i = 0; i < 8 && i < head->n; i++)
        snprintf(hex + 3 * i, sizeof hex - 3 * i, " %02x", head->bytes[i]);
    const char *perhaps = guess(path);
    return wte__fail(err, perhaps ? WTE_E_UNSUPPORTED : WTE_E_FORMAT, 0,
                     "%s: %sunknown: it begins with the bytes%s, as no kind of file does that this "
                     "build knows%s%s",
                     path, inside, hex, perhaps ? "; by its name perhaps " : "",
                     perhaps ? perhaps : "");
}
