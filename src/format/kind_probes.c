/* Evidence that is more than fixed bytes: small readers of the start of a file, each for one kind.
 * None of them trusts a length: all stay inside the bytes that were read. */
#include <zlib.h>

#include "base/sniff.h"
#include "format/kinds.h"

static bool begins(const wte__head *head, const char *text)
{
    const size_t n = strlen(text);
    return head->n >= n && memcmp(head->bytes, text, n) == 0;
}

/* Whether the bytes that were read hold a text anywhere. */
static bool holds(const wte__head *head, const char *text)
{
    const size_t n = strlen(text);
    for (uint64_t at = 0; at + n <= head->n; at++)
        if (memcmp(head->bytes + at, text, n) == 0) return true;
    return false;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static uint64_t load(const uint8_t *p, uint32_t bytes)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* Fixed structures ----------------------------------------------------------------------------- */

/* The signature may follow a user block of 512 bytes or any power of two above. */
bool wte__probe_hdf5_block(const wte__head *head)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    uint8_t at_place[8];
    for (uint64_t at = 512; at <= (uint64_t)1 << 20 && at + 8 <= head->size; at *= 2) {
        if (at + 8 <= head->n)
            memcpy(at_place, head->bytes + at, 8);
        else if (!head->file || wte__file_read_at(head->file, at, at_place, 8, "", NULL) != WTE_OK)
            return false;
        if (memcmp(at_place, signature, 8) == 0) return true;
    }
    return false;
}

/* CRC-32C as TensorFlow masks it. */
static uint32_t masked_crc(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

bool wte__probe_tfrecord(const wte__head *head)
{
    if (head->n < 12) return false;
    return load(head->bytes, 8) <= head->size &&
           masked_crc(head->bytes, 8) == load(head->bytes + 8, 4);
}

/* offset of level 0, the most elements, their number, bytes of each, where in one its label and its
 * vector are: a label is the last 8 bytes of an element, and the vector ends where it begins. */
bool wte__probe_hnswlib(const wte__head *head)
{
    uint64_t v[6];
    if (head->n < 96) return false;
    for (size_t i = 0; i < 6; i++) v[i] = load(head->bytes + 8 * i, 8);
    return v[0] == 0 && v[1] > 0 && v[2] <= v[1] && v[3] > 16 && v[3] < 1u << 24 &&
           v[4] == v[3] - 8 && v[5] > 0 && v[5] < v[4] && v[2] <= head->size / v[3];
}

/* A version, a text of u16 length with its NUL (the name of the spec), the spec's revision, a count
 * of variables, the first of which has a name. */
bool wte__probe_ctranslate2(const wte__head *head)
{
    if (head->n < 16) return false;
    const uint64_t version = load(head->bytes, 4), n = load(head->bytes + 4, 2);
    if (version < 2 || version > 99 || n < 2 || n > 256 || 6 + n + 10 > head->n) return false;
    const uint8_t *name = head->bytes + 6;
    for (uint64_t i = 0; i + 1 < n; i++)
        if (name[i] < '0' || name[i] > 'z') return false;
    const uint64_t first = load(head->bytes + 6 + n + 8, 2);
    return name[n - 1] == '\0' && load(head->bytes + 6 + n + 4, 4) > 0 && first > 1 && first < 1024;
}

/* Protobuf ------------------------------------------------------------------------------------- */

/* A cursor of a message, whole or cut where the bytes that were read end. */
typedef struct message {
    const uint8_t *p;
    uint64_t n, at, size; /* size: of the message, >= n */
    uint64_t field, wire, value;
    const uint8_t *body; /* of wire type 2, of `value` bytes, perhaps beyond n */
} message;

static bool varint(message *m, uint64_t *value)
{
    *value = 0;
    for (uint32_t shift = 0; shift < 64 && m->at < m->n; shift += 7) {
        const uint8_t byte = m->p[m->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* The next field; false at the end, where the bytes end, and when it is none (*wrong). */
static bool next(message *m, bool *wrong)
{
    uint64_t tag;
    *wrong = false;
    if (m->at >= m->n) return false;
    *wrong = m->n == m->size;
    if (!varint(m, &tag)) return false;
    m->field = tag >> 3;
    m->wire = tag & 7;
    *wrong = true;
    if (m->field == 0 || m->field > 4096) return false;
    uint64_t skip = 0;
    if (m->wire == 0 || m->wire == 2) {
        if (!varint(m, &m->value)) {
            *wrong = m->n == m->size;
            return false;
        }
        skip = m->wire == 2 ? m->value : 0;
    } else if (m->wire == 1 || m->wire == 5) {
        skip = m->wire == 1 ? 8 : 4;
    } else {
        return false;
    }
    if (skip > m->size - m->at) return false;
    m->body = m->p + m->at;
    m->at += skip;
    *wrong = false;
    return true;
}

static message whole(const wte__head *head)
{
    return (message){ .p = head->bytes, .n = head->n, .size = head->size };
}

/* The body of the field that was just read, as far as it was read. */
static message inside(const message *m)
{
    const uint64_t start = (uint64_t)(m->body - m->p), left = m->n > start ? m->n - start : 0;
    return (message){ .p = m->body, .n = left < m->value ? left : m->value, .size = m->value };
}

/* A text of at least one printable character and none that is not. */
static bool is_label(const message *m)
{
    const message in = inside(m);
    for (uint64_t i = 0; i < in.n; i++)
        if (in.p[i] < ' ' || in.p[i] > '~') return false;
    return m->wire == 2 && in.n > 0 && in.n == in.size;
}

/* A saved model begins with its version, 1, and goes on with its graphs (2). */
bool wte__probe_saved_model(const wte__head *head)
{
    message m = whole(head);
    bool wrong;
    return next(&m, &wrong) && m.field == 1 && m.wire == 0 && m.value == 1 && next(&m, &wrong) &&
           m.field == 2 && m.wire == 2 && m.value > 64;
}

/* An ONNX model begins with its version; short texts and numbers follow, and its graph (7). */
bool wte__probe_onnx(const wte__head *head)
{
    message m = whole(head);
    bool wrong;
    if (!next(&m, &wrong) || m.field != 1 || m.wire != 0 || m.value >= 64) return false;
    while (next(&m, &wrong)) {
        if (m.field < 2 || m.field > 20 || (m.wire != 0 && m.wire != 2)) return false;
        if (m.wire == 2 && m.field == 7) return true;
    }
    return false;
}

/* Dimensions (1), a type (2), then a name (8) or raw data (9) that are all of the file. */
bool wte__probe_onnx_tensor(const wte__head *head)
{
    message m = whole(head);
    bool wrong, dims = false, type = false;
    while (next(&m, &wrong)) {
        dims = dims || m.field == 1;
        type = type || (m.field == 2 && m.wire == 0 && m.value > 0 && m.value < 32);
        if (m.field > 14 || (m.field > 2 && !(dims && type))) return false;
        if (m.field == 9 && m.wire == 2) return m.at == m.size;
    }
    return false;
}

/* The pieces (1) of a sentencepiece model: a text (1) with a score (2, f32). */
bool wte__probe_sentencepiece(const wte__head *head)
{
    message m = whole(head);
    bool wrong;
    for (int i = 0; i < 3; i++) {
        if (!next(&m, &wrong) || m.field != 1 || m.wire != 2) return false;
        message piece = inside(&m);
        if (!next(&piece, &wrong) || piece.field != 1 || piece.wire != 2 || piece.value > 64 ||
            !next(&piece, &wrong) || piece.field != 2 || piece.wire != 5)
            return false;
    }
    return true;
}

/* Nodes (1), each with a name (1) and an operation (2), which begins with a capital. */
bool wte__probe_graph_def(const wte__head *head)
{
    message m = whole(head);
    bool wrong;
    if (!next(&m, &wrong) || m.field != 1 || m.wire != 2) return false;
    message node = inside(&m);
    if (!next(&node, &wrong) || node.field != 1 || !is_label(&node)) return false;
    return next(&node, &wrong) && node.field == 2 && is_label(&node) && node.body[0] >= 'A' &&
           node.body[0] <= 'Z';
}

/* Its first field describes the graph: the operations in use (2), each with a name (1). */
bool wte__probe_meta_graph(const wte__head *head)
{
    message m = whole(head);
    bool wrong;
    if (!next(&m, &wrong) || m.field != 1 || m.wire != 2) return false;
    message info = inside(&m);
    if (!next(&info, &wrong) || info.field != 2 || info.wire != 2) return false;
    message ops = inside(&info);
    if (!next(&ops, &wrong) || ops.field != 1 || ops.wire != 2) return false;
    message op = inside(&ops);
    return next(&op, &wrong) && op.field == 1 && is_label(&op) && op.body[0] >= 'A' &&
           op.body[0] <= 'Z';
}

/* Fields from the first byte to the last, at least four: only a file that was read whole can be
 * told so. */
bool wte__probe_protobuf(const wte__head *head)
{
    message m = whole(head);
    bool wrong = false;
    uint32_t fields = 0;
    while (m.n == m.size && next(&m, &wrong)) fields++;
    return !wrong && m.at == m.size && fields >= 4;
}

/* The index of a TensorFlow checkpoint is a table whose first entry has an empty key: its value
 * tells how many files there are. */
bool wte__probe_bundle(const wte__head *head)
{
    return head->n > 5 && memcmp(head->bytes, "\0\0", 2) == 0 && head->bytes[2] >= 2 &&
           head->bytes[2] < 32 && head->bytes[3] == 0x08 && head->bytes[4] > 0 &&
           head->bytes[4] < 0x80 && (head->bytes[5] == 0x1a || head->bytes[5] == 0x10);
}

/* msgpack -------------------------------------------------------------------------------------- */

/* Where the first key of a map is; 0: it is no map. */
static uint64_t map_keys(const wte__head *head)
{
    if (head->n < 6) return 0;
    const uint8_t first = head->bytes[0];
    return first > 0x80 && first <= 0x8f ? 1 : first == 0xde ? 3 : first == 0xdf ? 5 : 0;
}

bool wte__probe_msgpack(const wte__head *head)
{
    const uint8_t *p = head->bytes;
    const uint64_t key = map_keys(head);
    if (key == 0) return false;
    const uint64_t text = p[key] == 0xd9 ? key + 2 : key + 1;
    const uint64_t n = p[key] == 0xd9                   ? p[key + 1]
                       : p[key] > 0xa0 && p[key] < 0xc0 ? p[key] & 31u
                                                        : 0;
    if (n == 0 || text > head->n || n > head->n - text) return false;
    for (uint64_t i = text; i < text + n; i++)
        if (p[i] < ' ' || p[i] > '~') return false;
    return true;
}

/* An array is an extension of type 1 whose content is a list of three: shape, type, bytes. */
bool wte__probe_flax(const wte__head *head)
{
    if (!wte__probe_msgpack(head)) return false;
    for (uint64_t at = 1; at + 7 <= head->n; at++) {
        const uint8_t *p = head->bytes + at;
        const uint64_t length = p[0] == 0xc7 ? 1 : p[0] == 0xc8 ? 2 : p[0] == 0xc9 ? 4 : 0;
        if (length && p[length + 1] == 1 && p[length + 2] == 0x93) return true;
    }
    return holds(head, "__msgpack_chunked_array__");
}

/* Hashes of 64 bits, each with a row. */
bool wte__probe_key2row(const wte__head *head)
{
    const uint64_t key = map_keys(head);
    return key && key + 10 <= head->n && head->bytes[key] == 0xcf;
}

/* Pickles -------------------------------------------------------------------------------------- */

/* Protocol 2 to 5, then one of the opcodes that open what people pickle. */
bool wte__probe_pickle(const wte__head *head)
{
    if (head->n < 3 || head->bytes[0] != 0x80 || head->bytes[1] < 2 || head->bytes[1] > 5)
        return false;
    return strchr("}](c\x8a\x95X\x8cN)KMJG", head->bytes[2]) != NULL && head->bytes[2] != 0;
}

static bool word_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.';
}

/* A line of a module's or a function's name from *at on, which moves behind it. */
static bool name_line(const wte__head *head, uint64_t *at)
{
    const uint64_t start = *at;
    while (*at < head->n && word_byte(head->bytes[*at])) ++*at;
    const bool line = *at > start && *at < head->n && head->bytes[*at] == '\n';
    ++*at;
    return line;
}

/* Protocol 0 and 1 have no header: "cMODULE\nNAME\n", or a dict or list that is remembered, and the
 * full stop at the very end. */
bool wte__probe_pickle_text(const wte__head *head)
{
    uint64_t at = 1;
    const uint64_t last = head->n_tail;
    const bool stop =
        last && (head->tail[last - 1] == '.' ||
                 (last > 1 && head->tail[last - 1] == '\n' && head->tail[last - 2] == '.'));
    if (head->n < 4 || !stop) return false;
    if (head->bytes[0] == '(')
        return (head->bytes[1] == 'd' || head->bytes[1] == 'l' || head->bytes[1] == 't') &&
               (head->bytes[2] == 'p' || head->bytes[2] == 'q');
    if ((head->bytes[0] == ']' || head->bytes[0] == '}') && head->bytes[1] == 'q') return true;
    return head->bytes[0] == 'c' && name_line(head, &at) && name_line(head, &at);
}

static bool any_pickle(const wte__head *head)
{
    return wte__probe_pickle(head) || wte__probe_pickle_text(head);
}

bool wte__probe_gensim(const wte__head *head)
{
    return any_pickle(head) && holds(head, "gensim.models");
}

bool wte__probe_dcp(const wte__head *head)
{
    return any_pickle(head) && holds(head, "torch.distributed.checkpoint");
}
bool wte__probe_joblib(const wte__head *head)
{
    return any_pickle(head) && holds(head, "joblib.numpy_pickle");
}

bool wte__probe_paddle(const wte__head *head)
{
    return any_pickle(head) && holds(head, "StructuredToParameterName@@");
}

bool wte__probe_numpy_pickle(const wte__head *head)
{
    return any_pickle(head) && (holds(head, "numpy.core") || holds(head, "numpy._core"));
}

/* Two bytes that anything may begin with; so what follows must unpack. */
bool wte__probe_zlib(const wte__head *head)
{
    uint8_t out[1024];
    z_stream z;
    const uint8_t second = head->n > 16 ? head->bytes[1] : 0;
    if (head->n <= 16 || head->bytes[0] != 0x78 ||
        (second != 0x01 && second != 0x5e && second != 0x9c && second != 0xda))
        return false;
    memset(&z, 0, sizeof z);
    if (inflateInit(&z) != Z_OK) return false;
    z.next_in = (Bytef *)(uintptr_t)head->bytes; /* is not written to */
    z.avail_in = (uInt)head->n;
    z.next_out = out;
    z.avail_out = sizeof out;
    const int result = inflate(&z, Z_NO_FLUSH);
    const bool unpacks = (result == Z_OK || result == Z_STREAM_END) && z.total_out > 0;
    (void)inflateEnd(&z);
    return unpacks;
}

/* Text ----------------------------------------------------------------------------------------- */

/* A mark of order, then characters of text, of which some are ASCII. */
bool wte__probe_utf16(const wte__head *head)
{
    uint32_t ascii = 0;
    if (head->n < 8 || !(begins(head, "\xff\xfe") || begins(head, "\xfe\xff"))) return false;
    const bool big = head->bytes[0] == 0xfe;
    for (uint64_t at = 2; at + 2 <= head->n && at < 256; at += 2) {
        const uint32_t low = head->bytes[at + big], high = head->bytes[at + !big];
        const bool space = high == 0 && is_space((uint8_t)low);
        if (high == 0 && low < ' ' && !space) return false;
        ascii += high == 0 && low < 0x7f;
    }
    return ascii > 0;
}

/* Its last four bytes are the mark again, and a length. */
bool wte__probe_orc(const wte__head *head)
{
    return begins(head, "ORC") && head->n_tail >= 4 &&
           memcmp(head->tail + head->n_tail - 4, "ORC", 3) == 0;
}

bool wte__probe_openvino(const wte__head *head)
{
    const wte__bytes start = { head->bytes, head->n };
    const wte__bytes root = wte__xml_root(start);
    return root.size == 3 && memcmp(root.data, "net", 3) == 0;
}

static bool is_json(const wte__head *head)
{
    const wte__bytes start = { head->bytes, head->n };
    const uint64_t at = wte__text_start(start);
    return at < head->n && head->bytes[at] == '{' && !holds(head, "\"weight_map\"");
}

/* A scan over JSON text by its brackets and quotes alone: the first value, then white space, then
 * the byte that begins another one. */
typedef struct scan {
    uint8_t first, second; /* 0: not met yet */
    uint32_t depth;
    bool text, escaped, ended;
} scan;

static void scan_byte(scan *s, uint8_t c)
{
    if (s->ended) {
        if (!is_space(c)) s->second = c;
    } else if (s->text) {
        if (!s->escaped && c == '"') s->text = false;
        s->escaped = !s->escaped && c == '\\';
    } else if (c == '"') {
        s->text = true;
    } else if (c == '{' || c == '[') {
        if (s->depth++ == 0) s->first = c;
    } else if (c == '}' || c == ']') {
        s->ended = s->depth <= 1;
        s->depth--;
    }
}

/* One value on a line may have 1536 numbers of 20 digits, so more than the start is read. */
bool wte__probe_json_lines(const wte__head *head)
{
    enum { REACH = 1 << 20 };
    uint8_t block[4096];
    scan s = { 0 };
    const wte__bytes start = { head->bytes, head->n };
    uint64_t at = wte__text_start(start);
    if (at >= head->n || (head->bytes[at] != '{' && head->bytes[at] != '[')) return false;
    for (; at < head->n && !s.second; at++) scan_byte(&s, head->bytes[at]);
    while (!s.second && head->file && at < head->size && at < REACH) {
        const uint64_t left = head->size - at, n = left < sizeof block ? left : sizeof block;
        if (wte__file_read_at(head->file, at, block, n, "", NULL) != WTE_OK) return false;
        for (uint64_t i = 0; i < n && !s.second; i++) scan_byte(&s, block[i]);
        at += n;
    }
    return s.second && s.second == s.first;
}

/* The bytes of numbers, commas, brackets and blanks from `at` on. */
static bool only_numbers(const wte__head *head, uint64_t at)
{
    for (; at < head->n; at++)
        if (!head->bytes[at] || !strchr("0123456789+-.eE,[] \t\r\n", head->bytes[at])) return false;
    return true;
}

/* Whether the first value of a list, at `at`, is a number of the list: a comma follows, or the end
 * of the list and of the text. */
static bool number_of_list(const wte__head *head, uint64_t at)
{
    while (at < head->n && head->bytes[at] && strchr("0123456789+-.eE \t\r\n", head->bytes[at]))
        at++;
    if (at == head->n || head->bytes[at] == ',') return true;
    if (head->bytes[at++] != ']') return false;
    while (at < head->n && is_space(head->bytes[at])) at++;
    return at == head->n;
}

/* Past brackets, the first value is a number, and nothing else is there. */
bool wte__probe_json_numbers(const wte__head *head)
{
    const wte__bytes start = { head->bytes, head->n };
    uint64_t at = wte__text_start(start);
    if (at >= head->n || head->bytes[at] != '[') return false;
    while (at < head->n && (head->bytes[at] == '[' || is_space(head->bytes[at]))) at++;
    if (at + 1 >= head->n) return false;
    const uint8_t c = head->bytes[at] == '-' ? head->bytes[at + 1] : head->bytes[at];
    return c >= '0' && c <= '9' && only_numbers(head, at);
}

/* The list is a value, and no section of settings. */
bool wte__probe_json_list(const wte__head *head)
{
    const wte__bytes start = { head->bytes, head->n };
    uint64_t at = wte__text_start(start);
    if (at >= head->n || head->bytes[at] != '[') return false;
    at++;
    while (at < head->n && is_space(head->bytes[at])) at++;
    if (at == head->n) return true;
    const char *const words[] = { "true", "false", "null", "NaN", "Infinity" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i]);
        if (at + n < head->n && memcmp(head->bytes + at, words[i], n) == 0)
            return strchr(",] \r\n\t", head->bytes[at + n]) != NULL;
    }
    const uint8_t c = head->bytes[at];
    if (c == '-' || (c >= '0' && c <= '9')) return number_of_list(head, at);
    return c != '\0' && strchr("{[\"]", c) != NULL;
}

bool wte__probe_zarr(const wte__head *head)
{
    return is_json(head) && holds(head, "\"zarr_format\"");
}

bool wte__probe_tfjs(const wte__head *head)
{
    return is_json(head) && holds(head, "\"weightsManifest\"");
}

bool wte__probe_tokenizer_json(const wte__head *head)
{
    return is_json(head) && holds(head, "\"added_tokens\"");
}

bool wte__probe_config_json(const wte__head *head)
{
    return is_json(head) && (holds(head, "\"model_type\"") || holds(head, "\"architectures\"") ||
                             holds(head, "\"architecture\"") || holds(head, "\"vocab_size\""));
}

bool wte__probe_vectors_json(const wte__head *head)
{
    const wte__bytes start = { head->bytes, head->n };
    const uint64_t at = wte__text_start(start);
    const bool json = is_json(head) || (at < head->n && head->bytes[at] == '[');
    static const char *const keys[] = { "\"embedding\"", "\"embeddings\"", "\"vector\"",
                                        "\"vectors\"" };
    for (size_t i = 0; json && i < sizeof keys / sizeof keys[0]; i++)
        if (holds(head, keys[i])) return true;
    return false;
}

/* "[name]" alone on the first line, and "key = value" (or ':') on one of the next. */
bool wte__probe_ini(const wte__head *head)
{
    const wte__bytes start = { head->bytes, head->n };
    uint64_t at = wte__text_start(start);
    if (at >= head->n || head->bytes[at] != '[') return false;
    const uint64_t name = ++at;
    while (at < head->n && (word_byte(head->bytes[at]) || strchr("-: \"/", head->bytes[at]))) at++;
    if (at == name || at + 1 >= head->n || head->bytes[at] != ']') return false;
    at++;
    while (at < head->n && (head->bytes[at] == ' ' || head->bytes[at] == '\r')) at++;
    if (at >= head->n || head->bytes[at] != '\n') return false;
    for (; at < head->n; at++)
        if (head->bytes[at] == '=' || head->bytes[at] == ':' || head->bytes[at] == '[') return true;
    return false;
}

bool wte__probe_checkpoint_state(const wte__head *head)
{
    return begins(head, "model_checkpoint_path:");
}

/* A tar archive whose first member is one of navec's. */
bool wte__probe_navec(const wte__head *head)
{
    if (head->n < 512 || memcmp(head->bytes + 257, "ustar", 5) != 0) return false;
    return begins(head, "pq.bin") || begins(head, "vocab.bin") ||
           (begins(head, "meta.json") && (holds(head, "navec") || holds(head, "pq.bin")));
}
