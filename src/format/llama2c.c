/* Checkpoints of llama2.c: seven integers of 32 bits, then the parameters of a Llama in f32, of all
 * layers at once. The first form ("version 0") has no magic number: it is known by sizes that agree
 * with the file's own to the byte. Its vocab_size is negative when the head (wcls) is stored apart
 * from the table. Version 1 begins with "ak42" and has its parameters in another order; version 2
 * is quantised. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/span.h"
#include "format/format.h"

#define MAGIC     0x616b3432u /* "24ka" as it lies there */
#define V0_BYTES  28u
#define V1_BYTES  256u
#define V1_SHARED 36u /* a byte: 1 = no head of its own */

enum { WIDTH, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCAB, LENGTH, FIELDS };
static const char *const field_names[FIELDS] = { "dim",        "hidden_dim", "n_layers", "n_heads",
                                                 "n_kv_heads", "vocab_size", "seq_len" };

typedef struct sizes {
    int32_t field[FIELDS];
    bool shared; /* the table is the head too */
    bool version1;
} sizes;

/* A dimension of a parameter. */
typedef enum dim { NONE, BY_LAYERS, BY_WIDTH, BY_HIDDEN, BY_KV, BY_VOCAB, BY_LENGTH, BY_HALF } dim;
typedef struct parameter {
    const char *name;
    dim dims[3];
    bool apart; /* only where the head is stored apart */
} parameter;
enum {
    TABLE,
    ATT_NORM,
    WQ,
    WK,
    WV,
    WO,
    FFN_NORM,
    W1,
    W2,
    W3,
    FINAL_NORM,
    FREQ_REAL,
    FREQ_IMAG,
    WCLS
};
static const parameter parameters[] = {
    [TABLE] = { "token_embedding_table", { BY_VOCAB, BY_WIDTH }, false },
    [ATT_NORM] = { "rms_att_weight", { BY_LAYERS, BY_WIDTH }, false },
    [WQ] = { "wq", { BY_LAYERS, BY_WIDTH, BY_WIDTH }, false },
    [WK] = { "wk", { BY_LAYERS, BY_KV, BY_WIDTH }, false },
    [WV] = { "wv", { BY_LAYERS, BY_KV, BY_WIDTH }, false },
    [WO] = { "wo", { BY_LAYERS, BY_WIDTH, BY_WIDTH }, false },
    [FFN_NORM] = { "rms_ffn_weight", { BY_LAYERS, BY_WIDTH }, false },
    [W1] = { "w1", { BY_LAYERS, BY_HIDDEN, BY_WIDTH }, false },
    [W2] = { "w2", { BY_LAYERS, BY_WIDTH, BY_HIDDEN }, false },
    [W3] = { "w3", { BY_LAYERS, BY_HIDDEN, BY_WIDTH }, false },
    [FINAL_NORM] = { "rms_final_weight", { BY_WIDTH }, false },
    [FREQ_REAL] = { "freq_cis_real", { BY_LENGTH, BY_HALF }, false },
    [FREQ_IMAG] = { "freq_cis_imag", { BY_LENGTH, BY_HALF }, false },
    [WCLS] = { "wcls", { BY_VOCAB, BY_WIDTH }, true },
};
/* The order of the parameters in a file. */
static const uint8_t version0[] = { TABLE, ATT_NORM, WQ, WK,         WV,        WO,        FFN_NORM,
                                    W1,    W2,       W3, FINAL_NORM, FREQ_REAL, FREQ_IMAG, WCLS };
static const uint8_t version1[] = { ATT_NORM, FFN_NORM, FINAL_NORM, TABLE, WQ, WK,
                                    WV,       WO,       W1,         W2,    W3, WCLS };

/* Fields that a Llama can have: what is no multiple of the heads has none. */
static bool is_plausible(const sizes *s)
{
    const int32_t *f = s->field;
    return f[WIDTH] > 0 && f[WIDTH] <= WTE_LIMIT_LLAMA2C_WIDTH && f[HIDDEN] > 0 &&
           f[HIDDEN] <= WTE_LIMIT_LLAMA2C_WIDTH && f[LAYERS] > 0 &&
           f[LAYERS] <= WTE_LIMIT_LLAMA2C_LAYERS && f[HEADS] > 0 && f[KV_HEADS] > 0 &&
           f[VOCAB] > 0 && f[VOCAB] <= WTE_LIMIT_LLAMA2C_VOCAB && f[LENGTH] > 0 &&
           f[LENGTH] <= WTE_LIMIT_LLAMA2C_WIDTH && f[WIDTH] % f[HEADS] == 0 &&
           f[HEADS] % f[KV_HEADS] == 0;
}

static void read_fields(wte__span *span, sizes *s)
{
    for (size_t i = 0; i < FIELDS; i++) s->field[i] = (int32_t)wte__span_u32le(span);
}

/* The first seven integers of a file without a magic number. */
static bool read_version0(const uint8_t *bytes, size_t n, sizes *s)
{
    wte__span span = wte__span_make(bytes, n);
    if (n < V0_BYTES) return false;
    read_fields(&span, s);
    s->version1 = false;
    s->shared = s->field[VOCAB] > 0;
    if (s->field[VOCAB] < 0 && s->field[VOCAB] > -WTE_LIMIT_LLAMA2C_VOCAB)
        s->field[VOCAB] = -s->field[VOCAB];
    return is_plausible(s);
}

static uint64_t length_of(const sizes *s, dim by)
{
    const int32_t *f = s->field;
    const int32_t each = f[WIDTH] / f[HEADS];
    const int32_t all[] = {
        [BY_LAYERS] = f[LAYERS],      [BY_WIDTH] = f[WIDTH], [BY_HIDDEN] = f[HIDDEN],
        [BY_KV] = each * f[KV_HEADS], [BY_VOCAB] = f[VOCAB], [BY_LENGTH] = f[LENGTH],
        [BY_HALF] = each / 2
    };
    return (uint64_t)all[by];
}

/* Parameter i of the file; NULL when there is none. Its shape, and how many bytes it takes. The
 * bounds of the fields keep them below 2^63. */
static const parameter *parameter_at(const sizes *s, size_t i, uint64_t shape[3], uint64_t *bytes)
{
    const size_t n =
        s->version1 ? sizeof version1 / sizeof *version1 : sizeof version0 / sizeof *version0;
    if (i >= n) return NULL;
    const parameter *p = &parameters[s->version1 ? version1[i] : version0[i]];
    *bytes = p->apart && s->shared ? 0 : 4;
    for (size_t d = 0; d < 3 && p->dims[d]; d++) {
        shape[d] = length_of(s, p->dims[d]);
        *bytes *= shape[d];
    }
    return p;
}

static uint64_t whole_size(const sizes *s)
{
    uint64_t shape[3], bytes, all = s->version1 ? V1_BYTES : V0_BYTES;
    for (size_t i = 0; parameter_at(s, i, shape, &bytes); i++) all += bytes;
    return all;
}

wte__match wte__llama2c_match(const wte__head *head)
{
    sizes s;
    wte__span span = wte__span_make(head->bytes, head->n);
    if (head->n >= 4 && wte__span_u32le(&span) == MAGIC) return WTE__MATCH_YES;
    if (!read_version0(head->bytes, head->n, &s)) return WTE__MATCH_NO;
    const uint64_t whole = whole_size(&s);
    return head->size == whole  ? WTE__MATCH_YES
           : head->size > whole ? WTE__MATCH_PERHAPS
                                : WTE__MATCH_NO;
}

static wte_status read_version1(const wte_file *f, sizes *s, wte_error *err)
{
    uint8_t raw[V1_BYTES];
    const wte__part *part = &f->parts[0];
    if (part->file.size < V1_BYTES)
        return wte__fail(err, WTE_E_FORMAT, part->file.size,
                         "%s: llama2.c: has %" PRIu64 " bytes, but the header takes %u", f->path,
                         part->file.size, V1_BYTES);
    WTE_TRY(wte__file_read_at(&part->file, 0, raw, V1_BYTES, f->path, err));
    wte__span span = wte__span_make(raw + 4, V1_BYTES - 4);
    const uint32_t version = wte__span_u32le(&span);
    if (version != 1)
        return wte__fail(err, WTE_E_UNSUPPORTED, 4,
                         "%s: llama2.c: a checkpoint of version %u%s, but 0 and 1 (f32) are read: "
                         "export it as one of these",
                         f->path, version, version == 2 ? " (int8)" : "");
    read_fields(&span, s);
    s->version1 = true;
    s->shared = raw[V1_SHARED] != 0;
    if (is_plausible(s)) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, 8,
                     "%s: llama2.c: no Llama has dim %" PRId32 ", hidden_dim %" PRId32
                     ", n_layers %" PRId32 ", n_heads %" PRId32 ", n_kv_heads %" PRId32
                     ", vocab_size %" PRId32 ", seq_len %" PRId32 " (byte 8)",
                     f->path, s->field[WIDTH], s->field[HIDDEN], s->field[LAYERS], s->field[HEADS],
                     s->field[KV_HEADS], s->field[VOCAB], s->field[LENGTH]);
}

static wte_status read_header(const wte_file *f, sizes *s, wte_error *err)
{
    uint8_t raw[V0_BYTES] = { 0 };
    const wte__part *part = &f->parts[0];
    const uint64_t n = part->file.size < V0_BYTES ? part->file.size : V0_BYTES;
    WTE_TRY(wte__file_read_at(&part->file, 0, raw, n, f->path, err));
    wte__span span = wte__span_make(raw, sizeof raw);
    if (wte__span_u32le(&span) == MAGIC)
        WTE_TRY(read_version1(f, s, err));
    else if (!read_version0(raw, (size_t)n, s))
        return wte__fail(err, WTE_E_FORMAT, 0, "%s: llama2.c: its header is another one by now",
                         f->path);
    const uint64_t whole = whole_size(s);
    if (whole == part->file.size) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, whole < part->file.size ? whole : part->file.size,
                     "%s: %s a checkpoint of llama2.c (vocab_size %" PRId32 ", dim %" PRId32
                     "), of %" PRIu64 " bytes, but the file has %" PRIu64 "%s",
                     f->path, s->version1 ? "is" : "begins like", s->field[VOCAB], s->field[WIDTH],
                     whole, part->file.size,
                     whole < part->file.size ? "; cut to that size it is read" : "");
}

static wte_status add_metadata(wte_file *f, const sizes *s, wte_error *err)
{
    int64_t value[FIELDS];
    for (size_t i = 0; i < FIELDS; i++) value[i] = s->field[i];
    WTE_TRY(wte__metadata_integers(f, field_names, value, FIELDS, err));
    return wte__metadata_add(f, "shared_classifier", s->shared ? "1" : "0", err);
}

wte_status wte__llama2c_read(wte_file *f, wte_error *err)
{
    sizes s;
    uint64_t shape[3] = { 0 }, bytes, at, number;
    const parameter *p;
    bool found;
    WTE_TRY(read_header(f, &s, err));
    WTE_TRY(add_metadata(f, &s, err));
    at = s.version1 ? V1_BYTES : V0_BYTES;
    for (size_t i = 0; (p = parameter_at(&s, i, shape, &bytes)); i++) {
        wte__tensor_entry e = { .name = p->name, .name_bytes = (uint32_t)strlen(p->name) };
        if (p->apart && s.shared) continue;
        while (e.rank < 3 && p->dims[e.rank]) e.rank++;
        e.dtype = WTE_F32;
        e.offset = at;
        e.bytes = bytes;
        at += bytes;
        const wte__bytes text = { (const uint8_t *)e.name, e.name_bytes };
        number = f->n_entries;
        WTE_TRY(wte__entry_add(f, &e, shape, err));
        if (!wte__names_add(&f->names, text, &number, &found))
            return wte__no_memory(err, e.name_bytes, "names");
    }
    f->n_listed = f->n_entries;
    return WTE_OK;
}
