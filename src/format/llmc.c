/* Checkpoints of llm.c: 256 integers of 32 bits, then the 16 parameters of GPT-2 one after the
 * other, of all layers at once. The rows of wte past the vocabulary are padding, so that their
 * number is a multiple of 128. There is no head: logits are computed with wte. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/span.h"
#include "format/format.h"

#define MAGIC        20240326u
#define HEADER_BYTES 1024u
#define PLACE(i)     (UINT64_C(4) * (i)) /* of field i: its byte */

/* Places in the header; the others are zero. */
enum { VERSION = 1, POSITIONS, VOCAB, LAYERS, HEADS, WIDTH, PADDED, FIELDS };
static const char *const field_names[FIELDS] = {
    [VERSION] = "version",         [POSITIONS] = "max_seq_len", [VOCAB] = "vocab_size",
    [LAYERS] = "num_layers",       [HEADS] = "num_heads",       [WIDTH] = "channels",
    [PADDED] = "padded_vocab_size"
};

/* Shapes are products of a number and a field: { 3, WIDTH } is 3 * channels. Times 0 = no more. */
typedef struct parameter {
    const char *name;
    struct {
        uint8_t times, field;
    } dims[3];
} parameter;
static const parameter parameters[] = {
    { "wte", { { 1, PADDED }, { 1, WIDTH } } },
    { "wpe", { { 1, POSITIONS }, { 1, WIDTH } } },
    { "ln1w", { { 1, LAYERS }, { 1, WIDTH } } },
    { "ln1b", { { 1, LAYERS }, { 1, WIDTH } } },
    { "qkvw", { { 1, LAYERS }, { 3, WIDTH }, { 1, WIDTH } } },
    { "qkvb", { { 1, LAYERS }, { 3, WIDTH } } },
    { "attprojw", { { 1, LAYERS }, { 1, WIDTH }, { 1, WIDTH } } },
    { "attprojb", { { 1, LAYERS }, { 1, WIDTH } } },
    { "ln2w", { { 1, LAYERS }, { 1, WIDTH } } },
    { "ln2b", { { 1, LAYERS }, { 1, WIDTH } } },
    { "fcw", { { 1, LAYERS }, { 4, WIDTH }, { 1, WIDTH } } },
    { "fcb", { { 1, LAYERS }, { 4, WIDTH } } },
    { "fcprojw", { { 1, LAYERS }, { 1, WIDTH }, { 4, WIDTH } } },
    { "fcprojb", { { 1, LAYERS }, { 1, WIDTH } } },
    { "lnfw", { { 1, WIDTH } } },
    { "lnfb", { { 1, WIDTH } } },
};
#define N_PARAMETERS (sizeof parameters / sizeof parameters[0])

typedef struct reader {
    wte_file *f;
    uint32_t field[FIELDS];
    wte_dtype dtype;
    uint64_t at; /* where the next tensor begins */
    wte_error *err;
} reader;

wte__match wte__llmc_match(const wte__head *head)
{
    wte__span s = wte__span_make(head->bytes, head->n);
    return head->n >= 4 && wte__span_u32le(&s) == MAGIC ? WTE__MATCH_YES : WTE__MATCH_NO;
}

static wte_status read_version(reader *r)
{
    const uint32_t version = r->field[VERSION];
    r->dtype = version == 3 ? WTE_F32 : WTE_BF16;
    if (version == 3 || version == 5) return WTE_OK;
    return wte__fail(r->err, WTE_E_UNSUPPORTED, 4,
                     "%s: llm.c: a checkpoint of version %u, but 3 (f32) and 5 (bf16) are read: "
                     "export it again",
                     r->f->path, version);
}

static wte_status read_header(reader *r)
{
    uint8_t raw[HEADER_BYTES];
    const wte__part *part = &r->f->parts[0];
    if (part->file.size < HEADER_BYTES)
        return wte__fail(r->err, WTE_E_FORMAT, part->file.size,
                         "%s: llm.c: has %" PRIu64 " bytes, but the header takes %u", part->path,
                         part->file.size, HEADER_BYTES);
    WTE_TRY(wte__file_read_at(&part->file, 0, raw, HEADER_BYTES, part->path, r->err));
    wte__span s = wte__span_make(raw, HEADER_BYTES);
    for (uint32_t i = 0; i < FIELDS; i++) r->field[i] = wte__span_u32le(&s);
    WTE_TRY(read_version(r));
    for (uint32_t i = POSITIONS; i < FIELDS; i++)
        if (r->field[i] == 0 || r->field[i] > INT32_MAX)
            return wte__fail(r->err, WTE_E_FORMAT, PLACE(i),
                             "%s: llm.c: %s is %" PRId32 ", but it counts something (byte %" PRIu64
                             ")",
                             part->path, field_names[i], (int32_t)r->field[i], PLACE(i));
    if (r->field[VOCAB] <= r->field[PADDED]) return WTE_OK;
    return wte__fail(r->err, WTE_E_FORMAT, PLACE(PADDED),
                     "%s: llm.c: %s is %u, but %s is %u (byte %" PRIu64 ")", part->path,
                     field_names[PADDED], r->field[PADDED], field_names[VOCAB], r->field[VOCAB],
                     PLACE(PADDED));
}

static wte_status add_parameter(reader *r, const parameter *p)
{
    const uint64_t size = r->f->parts[0].file.size;
    uint64_t shape[3], end;
    wte__tensor_entry e = { .name = p->name, .name_bytes = (uint32_t)strlen(p->name) };
    while (e.rank < 3 && p->dims[e.rank].times) {
        shape[e.rank] = (uint64_t)p->dims[e.rank].times * r->field[p->dims[e.rank].field];
        e.rank++;
    }
    e.dtype = (uint8_t)r->dtype;
    e.offset = r->at;
    if (!wte__shape_bytes(shape, e.rank, wte_dtype_bytes(r->dtype), &e.bytes) ||
        !wte__add_u64(r->at, e.bytes, &end))
        return wte__fail(r->err, WTE_E_FORMAT, r->at,
                         "%s: llm.c: tensor '%s': its size overflows 64 bits", r->f->path, p->name);
    if (end > size)
        return wte__fail(r->err, WTE_E_FORMAT, r->at,
                         "%s: llm.c: tensor '%s' ends at byte %" PRIu64
                         " but the file has %" PRIu64,
                         r->f->path, p->name, end, size);
    r->at = end;
    return wte__entry_add(r->f, &e, shape, r->err);
}

static wte_status add_metadata(reader *r)
{
    int64_t value[FIELDS];
    for (uint32_t i = 0; i < FIELDS; i++) value[i] = r->field[i];
    return wte__metadata_integers(r->f, field_names + VERSION, value + VERSION, FIELDS - VERSION,
                                  r->err);
}

wte_status wte__llmc_read(wte_file *f, wte_error *err)
{
    reader r = { .f = f, .at = HEADER_BYTES, .err = err };
    WTE_TRY(read_header(&r));
    WTE_TRY(add_metadata(&r));
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        const wte__bytes text = { (const uint8_t *)parameters[i].name, strlen(parameters[i].name) };
        uint64_t number = i;
        bool found;
        WTE_TRY(add_parameter(&r, &parameters[i]));
        if (!wte__names_add(&f->names, text, &number, &found))
            return wte__no_memory(err, N_PARAMETERS, "names");
    }
    f->n_listed = f->n_entries;
    if (r.at == f->parts[0].file.size) return WTE_OK;
    return wte__fail(err, WTE_E_FORMAT, r.at,
                     "%s: llm.c: the last tensor ends at byte %" PRIu64
                     " but the file has %" PRIu64,
                     f->path, r.at, f->parts[0].file.size);
}
