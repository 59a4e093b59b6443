/* How tables of the vocabulary are joined, and what each part has alike: told from what the program
 * that wrote the parts does with tensors of such names, from the config, and from the bytes. */
#include "base/checked.h"
#include "base/error.h"
#include "format/parallel.h"

/* Bytes that are compared at the start, in the middle and at the end of two pieces. */
#define SAMPLE_BYTES 4096u

/* Tables and heads of one row for each token, by the ends of their names. */
static const char *const vocab_names[] = {
    "word_embeddings.weight",
    "vocab_embedding.weight",
    "embed_tokens.weight",
    "tok_embeddings.weight",
    "wte.weight",
    "output_layer.weight",
    "lm_head.weight",
    "final_linear.weight",
    "embed_out.weight",
    "embed_in.weight",
};

static bool ends_with(const wte__tensor_entry *e, const char *end)
{
    const size_t n = strlen(end);
    return e->name_bytes >= n && memcmp(e->name + e->name_bytes - n, end, n) == 0;
}

bool wte__parallel_is_vocab(const wte__tensor_entry *e)
{
    for (size_t i = 0; i < sizeof vocab_names / sizeof *vocab_names; i++)
        if (ends_with(e, vocab_names[i])) return true;
    return false;
}

static wte_status read_sample(const wte_file *f, const wte__tensor_entry *e, uint64_t at,
                              uint8_t *out, uint64_t n, wte_error *err)
{
    const wte__part *part = &f->parts[e->part];
    return wte__file_read_at(&part->file, e->offset + at, out, n, part->path, err);
}

static bool is_constant(const uint8_t *data, uint64_t n)
{
    for (uint64_t i = 4; i < n; i++)
        if (data[i] != data[i % 4]) return false;
    return true;
}

/* Whether every part has the same bytes where it is looked at. One number all over (a table that is
 * still zero) is no evidence of copies. */
static wte_status look_alike(const wte_file *f, const wte__parallel *p, size_t i, bool *alike,
                             wte_error *err)
{
    uint8_t a[SAMPLE_BYTES], b[SAMPLE_BYTES];
    const wte__tensor_entry *first = &p->pieces[i];
    const uint64_t n = first->bytes < SAMPLE_BYTES ? first->bytes : SAMPLE_BYTES;
    const uint64_t places[] = { 0, (first->bytes - n) / 2, first->bytes - n };
    bool constant = true;
    *alike = false;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        WTE_TRY(read_sample(f, first, places[k], a, n, err));
        constant = constant && is_constant(a, n);
        for (uint32_t part = 1; part < p->n; part++) {
            const wte__tensor_entry *other = &p->pieces[(size_t)part * p->n_tensors + i];
            if (other->bytes != first->bytes || other->flags != first->flags) return WTE_OK;
            WTE_TRY(read_sample(f, other, places[k], b, n, err));
            if (memcmp(a, b, (size_t)n) != 0) return WTE_OK;
        }
    }
    *alike = !constant;
    return WTE_OK;
}

/* Of a table of the vocabulary: what the sizes in the config leave open, bytes decide. */
static wte__join join_vocab(const wte_file *f, const wte__parallel *p,
                            const wte__tensor_entry *piece, bool alike)
{
    const uint64_t rows = f->dims[piece->shape_at], cols = f->dims[piece->shape_at + 1];
    const wte__parallel_said *said = &p->said;
    uint64_t whole;
    if (alike) return WTE__JOIN_ALIKE;
    if (said->dim && said->dim != cols) {
        const bool across = wte__mul_u64(cols, p->n, &whole) && whole == said->dim;
        return across && (!said->vocab || rows >= said->vocab) ? WTE__JOIN_COLUMNS
                                                               : WTE__JOIN_UNKNOWN;
    }
    if (!p->scheme->by_name && !(said->dim && said->vocab)) return WTE__JOIN_UNKNOWN;
    const bool enough = !wte__mul_u64(rows, p->n, &whole) || whole >= said->vocab;
    return enough ? WTE__JOIN_ROWS : WTE__JOIN_UNKNOWN;
}

wte_status wte__parallel_join_named(const wte_file *f, const wte__parallel *p, size_t i,
                                    wte__join *join, wte_error *err)
{
    const wte__tensor_entry *piece = &p->pieces[i];
    bool alike;
    *join = WTE__JOIN_ALIKE;
    if (piece->rank < 2) return WTE_OK;
    WTE_TRY(look_alike(f, p, i, &alike, err));
    if (piece->rank == 2 && wte__parallel_is_vocab(piece))
        *join = join_vocab(f, p, piece, alike);
    else if (!alike && !ends_with(piece, "position_embeddings.weight"))
        *join = WTE__JOIN_UNKNOWN;
    return WTE_OK;
}
