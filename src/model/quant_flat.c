/* Schemes that flatten the table first: the four bits of bitsandbytes (nf4, fp4) and HQQ. Layouts
 * as those projects document them; of a table V x D, flattened row after row:
 *
 *   bitsandbytes  weight: two codes a byte, the first in the high half; weight.absmax, one for each
 *                 `blocksize` values; weight.quant_map, what the 16 codes stand for; a JSON text in
 *                 weight.quant_state.bitsandbytes__nf4 with the shape. Quantised twice: absmax is
 *                 u8, of weight.nested_quant_map, weight.nested_absmax and an offset.
 *   hqq           W_q with fields from parts of the table: reshaped to (-1, g) for axis 1 or to
 *                 (g, -1) for axis 0, n rows are cut into equal parts, and a word holds one field
 *                 of each, the first part highest. scale and zero, one a row (axis 1) or one a
 *                 column (axis 0); nbits, axis, group_size, shape as tensors: (q - zero) * scale */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/quant.h"

/* Values that are made at once, on the stack. */
#define PIECE 1024u
/* Below this a piece needs more scales than are read at once. */
#define BLOCK_LEAST 16u

/* A list of numbers of this length. */
static wte_status take_list(wte__quant_find *f, const char *suffix, uint64_t n, wte__plane *out)
{
    WTE_TRY(wte__quant_need(f, suffix, out));
    WTE_TRY(wte__quant_floats(f, out));
    WTE_TRY(wte__quant_same(f, out, out->rows, "entries", &f->q->packed, n));
    return wte__quant_same(f, out, out->cols, "columns", &f->q->packed, 1);
}

/* bitsandbytes -----------------------------------------------------------------------------------
 */

struct state {
    uint64_t shape[2], rank, block, nested_block;
    double offset;
};

static wte_status read_shape(wte__json *j, struct state *s, wte_error *err)
{
    if (wte__json_next(j) != WTE__JSON_ARRAY)
        return wte__json_refuse(j, err, "a list of sizes was expected");
    while (wte__json_next(j) != WTE__JSON_ARRAY_END) {
        uint64_t n;
        if (!wte__json_u64(j, &n) || s->rank == 2)
            return j->kind == WTE__JSON_ERROR
                       ? wte__json_fail(j, err)
                       : wte__json_refuse(j, err, "two whole numbers were expected");
        s->shape[s->rank++] = n;
    }
    return WTE_OK;
}

static wte_status parse_state(wte__json *j, struct state *s, wte_error *err)
{
    if (wte__json_next(j) != WTE__JSON_OBJECT)
        return j->kind == WTE__JSON_ERROR
                   ? wte__json_fail(j, err)
                   : wte__json_refuse(j, err, "an object in braces was expected");
    while (wte__json_next(j) == WTE__JSON_KEY) {
        const bool shape = wte__json_is(j, "shape"), block = wte__json_is(j, "blocksize");
        const bool nested = wte__json_is(j, "nested_blocksize");
        const bool offset = wte__json_is(j, "nested_offset");
        if (shape) {
            WTE_TRY(read_shape(j, s, err));
            continue;
        }
        if (!block && !nested && !offset) {
            if (!wte__json_skip_value(j)) return wte__json_fail(j, err);
            continue;
        }
        if (wte__json_next(j) == WTE__JSON_ERROR) return wte__json_fail(j, err);
        if (offset ? !wte__json_f64(j, &s->offset)
                   : !wte__json_u64(j, block ? &s->block : &s->nested_block))
            return wte__json_refuse(j, err, "a number was expected");
    }
    if (j->kind != WTE__JSON_OBJECT_END || wte__json_next(j) != WTE__JSON_END)
        return wte__json_fail(j, err);
    return WTE_OK;
}

static wte_status read_state(wte__quant_find *f, const char *suffix, wte__plane *part,
                             struct state *s)
{
    wte__json json;
    char shown[WTE__NAME_SHOWN];
    wte__quant *q = f->q;
    memset(s, 0, sizeof *s);
    WTE_TRY(wte__quant_need(f, suffix, part));
    wte__show(shown, part->name, part->name_bytes);
    if (part->bytes > WTE_LIMIT_QUANT_STATE)
        return wte__fail(f->err, WTE_E_LIMIT, WTE_NO_INDEX,
                         "%s: '%s' has %" PRIu64 " bytes, but at most %u are read", q->path, shown,
                         part->bytes, WTE_LIMIT_QUANT_STATE);
    char *text = wte__alloc(q->allocator, (size_t)part->bytes + 1);
    if (!text) return wte__no_memory(f->err, part->bytes, "the state of a quantised table");
    wte_status status = wte_file_read(q->file, part->tensor, 0, text, part->bytes, f->err);
    if (status == WTE_OK) {
        wte__json_init(&json, text, part->bytes, shown, WTE__JSON_PYTHON);
        status = parse_state(&json, s, f->err);
    }
    wte__free(q->allocator, text, (size_t)part->bytes + 1);
    if (status != WTE_OK) return status;
    if (s->rank != 2 || s->shape[0] == 0 || s->shape[1] == 0 || s->block < BLOCK_LEAST)
        return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: '%s' says shape [%" PRIu64 ", %" PRIu64 "] of %" PRIu64
                         " sizes and blocksize %" PRIu64,
                         q->path, shown, s->shape[0], s->shape[1], s->rank, s->block);
    return WTE_OK;
}

static wte_status read_map(wte__quant_find *f, const char *suffix, size_t n, float *out)
{
    wte__plane map;
    WTE_TRY(take_list(f, suffix, n, &map));
    return wte__quant_read_floats(f->q, &map, 0, n, out, f->err);
}

static wte_status take_nested(wte__quant_find *f, const struct state *s, uint64_t blocks)
{
    wte__quant *q = f->q;
    if (s->nested_block < BLOCK_LEAST || !isfinite(s->offset))
        return wte__quant_refuse(f, "scales quantised in blocks of %" PRIu64 " with offset %g",
                                 s->nested_block, s->offset);
    q->nested = true;
    q->nested_group = s->nested_block;
    q->nested_offset = (float)s->offset;
    WTE_TRY(read_map(f, ".weight.nested_quant_map", 256, q->nested_code));
    return take_list(f, ".weight.nested_absmax", wte__ceil_div(blocks, s->nested_block),
                     &q->nested_scale);
}

wte_status wte__quant_nibbles(wte__quant_find *f, bool nf4)
{
    wte__quant *q = f->q;
    struct state s;
    wte__plane told;
    uint64_t n;
    WTE_TRY(wte__quant_need(f, ".weight", &q->packed));
    WTE_TRY(read_state(
        f, nf4 ? ".weight.quant_state.bitsandbytes__nf4" : ".weight.quant_state.bitsandbytes__fp4",
        &told, &s));
    q->rows = s.shape[0];
    q->dim = s.shape[1];
    if (!wte__mul_u64(q->rows, q->dim, &n)) n = UINT64_MAX;
    WTE_TRY(wte__quant_same(f, &q->packed, q->packed.bytes, "bytes", &told, wte__ceil_div(n, 2)));
    const uint64_t blocks = wte__ceil_div(n, s.block);
    WTE_TRY(take_list(f, ".weight.absmax", blocks, &q->scale));
    q->bits = 4;
    q->codes = CODES_NIBBLES;
    q->group = s.block;
    q->groups = 1;
    WTE_TRY(read_map(f, ".weight.quant_map", 16, q->code));
    if (q->scale.type == WTE_U8) WTE_TRY(take_nested(f, &s, blocks));
    snprintf(q->scheme, sizeof q->scheme, "bitsandbytes %s, blocks of %" PRIu64 "%s",
             nf4 ? "nf4" : "fp4", q->group, q->nested ? ", scales quantised too" : "");
    return WTE_OK;
}

/* The scales of blocks first .. first + n - 1. */
static wte_status block_scales(const wte__quant *q, uint64_t first, size_t n, float *out,
                               wte_error *err)
{
    if (!q->nested) return wte__quant_read_floats(q, &q->scale, first, n, out, err);
    uint8_t codes[WTE__QUANT_AT_ONCE];
    float outer[WTE__QUANT_AT_ONCE];
    const uint64_t from = first / q->nested_group, to = (first + n - 1) / q->nested_group + 1;
    WTE_TRY(wte__quant_bytes(q, &q->scale, first, codes, n, err));
    WTE_TRY(wte__quant_read_floats(q, &q->nested_scale, from, (size_t)(to - from), outer, err));
    for (size_t i = 0; i < n; i++) {
        const float product =
            q->nested_code[codes[i]] * outer[(first + i) / q->nested_group - from];
        out[i] = product + q->nested_offset;
    }
    return WTE_OK;
}

static wte_status nibble_row(const wte__quant *q, uint64_t row, float *out, wte_error *err)
{
    uint8_t raw[PIECE / 2 + 1];
    float scale[WTE__QUANT_AT_ONCE];
    const uint64_t start = row * q->dim;
    for (uint64_t done = 0; done < q->dim; done += PIECE) {
        const uint64_t at = start + done;
        const size_t n = (size_t)(q->dim - done < PIECE ? q->dim - done : PIECE);
        const uint64_t byte = at / 2, block = at / q->group;
        WTE_TRY(wte__quant_bytes(q, &q->packed, byte, raw, (at + n - 1) / 2 - byte + 1, err));
        WTE_TRY(block_scales(q, block, (size_t)((at + n - 1) / q->group - block) + 1, scale, err));
        for (size_t i = 0; i < n; i++) {
            const uint32_t pair = raw[(at + i) / 2 - byte];
            const uint32_t code = (at + i) % 2 ? pair & 15 : pair >> 4;
            out[done + i] = q->code[code] * scale[(at + i) / q->group - block];
        }
    }
    return WTE_OK;
}

/* HQQ --------------------------------------------------------------------------------------------
 */

/* A number of the tensor stem + suffix; absent: `otherwise`, or E_FORMAT when that is negative. */
static wte_status meta(wte__quant_find *f, const char *suffix, double otherwise, double *out)
{
    wte__plane part;
    *out = otherwise;
    if (otherwise < 0)
        WTE_TRY(wte__quant_need(f, suffix, &part));
    else
        WTE_TRY(wte__quant_part(f, suffix, &part));
    if (!part.there) return WTE_OK;
    WTE_TRY(wte__quant_floats(f, &part));
    WTE_TRY(wte__quant_filled(f, &part));
    return wte__quant_number(f->q, &part, 0, out, f->err);
}

/* How many parts of the table a word holds, and how many bytes it has. */
static bool parts_of(uint64_t bits, uint32_t *parts, uint32_t *element)
{
    static const uint8_t table[9] = { 0, 8, 4, 10, 2, 1, 1, 0, 1 };
    *element = bits == 3 ? 4 : 1;
    *parts = bits <= 8 ? table[bits] : 0;
    return *parts != 0;
}

static wte_status split_shape(wte__quant_find *f, wte__plane *shape, uint64_t *n)
{
    wte__quant *q = f->q;
    double rows, dim;
    char shown[WTE__NAME_SHOWN];
    WTE_TRY(take_list(f, ".shape", 2, shape));
    WTE_TRY(wte__quant_number(q, shape, 0, &rows, f->err));
    WTE_TRY(wte__quant_number(q, shape, 1, &dim, f->err));
    const bool sane = rows >= 1 && dim >= 1 && rows < 0x1p53 && dim < 0x1p53;
    q->rows = sane ? (uint64_t)rows : 0;
    q->dim = sane ? (uint64_t)dim : 0;
    if (sane && wte__mul_u64(q->rows, q->dim, n)) return WTE_OK;
    return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX, "%s: '%s' is [%.17g, %.17g]", q->path,
                     wte__show(shown, shape->name, shape->name_bytes), rows, dim);
}

static wte_status take_parts(wte__quant_find *f, const wte__plane *shape, uint64_t bits)
{
    wte__quant *q = f->q;
    uint32_t parts, element;
    char shown[WTE__NAME_SHOWN];
    if (!parts_of(bits, &parts, &element))
        return wte__quant_refuse(f, "hqq with %" PRIu64 " bits", bits);
    q->bits = (uint32_t)bits;
    q->part_rows = wte__ceil_div(q->split_rows, parts);
    if (bits != 3 && q->split_rows % parts != 0)
        return wte__fail(f->err, WTE_E_FORMAT, WTE_NO_INDEX,
                         "%s: '%s' of %" PRIu64 " x %" PRIu64
                         " numbers cannot be cut into %u parts",
                         q->path, wte__show(shown, q->packed.name, q->packed.name_bytes),
                         q->split_rows, q->split_cols, parts);
    for (uint32_t i = 0; i < parts; i++) q->shift[i] = (parts - 1 - i) * q->bits;
    q->packed.element = element;
    return wte__quant_same(f, &q->packed, q->packed.bytes, "bytes", shape,
                           q->part_rows * q->split_cols * element);
}

/* One number a row, or one a column, of the reshaped table; as a list of them. */
static wte_status take_split_numbers(wte__quant_find *f, const char *suffix, wte__plane *out)
{
    wte__quant *q = f->q;
    WTE_TRY(wte__quant_need(f, suffix, out));
    WTE_TRY(wte__quant_floats(f, out));
    const bool col = q->scale_by_col;
    WTE_TRY(wte__quant_same(f, out, col ? out->rows : out->cols, col ? "rows" : "columns",
                            &q->packed, 1));
    return wte__quant_same(f, out, col ? out->cols : out->rows, col ? "columns" : "rows",
                           &q->packed, col ? q->split_cols : q->split_rows);
}

wte_status wte__quant_split(wte__quant_find *f)
{
    wte__quant *q = f->q;
    double bits, axis, group, twice_scale, twice_zero;
    wte__plane shape, both;
    uint64_t n;
    WTE_TRY(wte__quant_need(f, ".W_q", &q->packed));
    WTE_TRY(wte__quant_filled(f, &q->packed));
    WTE_TRY(meta(f, ".nbits", -1, &bits));
    WTE_TRY(meta(f, ".axis", -1, &axis));
    WTE_TRY(meta(f, ".group_size", 0, &group));
    WTE_TRY(meta(f, ".quant_scale", 0, &twice_scale));
    WTE_TRY(meta(f, ".quant_zero", 0, &twice_zero));
    WTE_TRY(wte__quant_part(f, ".zero_scale", &both));
    if (twice_scale != 0 || twice_zero != 0 || both.there)
        return wte__quant_refuse(f, "hqq with quantised or joined scales and zeros");
    if ((axis != 0 && axis != 1) || !(bits >= 1 && bits <= 8) || !(group >= 0 && group < 0x1p53))
        return wte__quant_refuse(f, "hqq with %g bits, axis %g, groups of %g", bits, axis, group);
    WTE_TRY(split_shape(f, &shape, &n));
    q->scale_by_col = axis == 0;
    const uint64_t size = (uint64_t)group;
    if (size && n % size != 0)
        return wte__quant_refuse(f, "hqq with groups of %" PRIu64 " of %" PRIu64 " numbers", size,
                                 n);
    q->split_cols = !size || axis == 0 ? (size ? n / size : q->dim) : size;
    q->split_rows = n / q->split_cols;
    WTE_TRY(take_parts(f, &shape, (uint64_t)bits));
    WTE_TRY(take_split_numbers(f, ".scale", &q->scale));
    WTE_TRY(take_split_numbers(f, ".zero", &q->zero));
    q->codes = CODES_SPLIT;
    q->zeros = ZEROS_PLAIN;
    q->group = size ? size : q->dim;
    q->groups = 1;
    wte__quant_integers(q, 0);
    snprintf(q->scheme, sizeof q->scheme, "hqq %u bit%s, groups of %" PRIu64 "%s", q->bits,
             q->bits == 1 ? "" : "s", q->group, axis == 0 ? " across rows" : "");
    return WTE_OK;
}

static wte_status split_row(const wte__quant *q, uint64_t row, float *out, wte_error *err)
{
    uint8_t raw[4 * WTE__QUANT_AT_ONCE];
    float scale[WTE__QUANT_AT_ONCE], zero[WTE__QUANT_AT_ONCE];
    const uint32_t size = q->packed.element, mask = (UINT32_C(1) << q->bits) - 1;
    const bool by_col = q->scale_by_col;
    for (uint64_t done = 0; done < q->dim;) {
        const uint64_t at = row * q->dim + done;
        const uint64_t r = at / q->split_cols, c = at % q->split_cols;
        uint64_t n = q->split_cols - c;
        if (n > q->dim - done) n = q->dim - done;
        if (n > WTE__QUANT_AT_ONCE) n = WTE__QUANT_AT_ONCE;
        const uint64_t word = r % q->part_rows * q->split_cols + c;
        const uint32_t shift = q->shift[r / q->part_rows];
        const uint64_t number = by_col ? c : r;
        const size_t numbers = by_col ? (size_t)n : 1;
        WTE_TRY(wte__quant_bytes(q, &q->packed, word * size, raw, n * size, err));
        WTE_TRY(wte__quant_read_floats(q, &q->scale, number, numbers, scale, err));
        WTE_TRY(wte__quant_read_floats(q, &q->zero, number, numbers, zero, err));
        for (size_t i = 0; i < n; i++) {
            const uint32_t w = size == 4 ? wte__quant_word(raw + 4 * i) : raw[i];
            const size_t k = by_col ? i : 0;
            out[done + i] = (q->code[w >> shift & mask] - zero[k]) * scale[k];
        }
        done += n;
    }
    return WTE_OK;
}

wte_status wte__quant_flat_row(const wte__quant *q, uint64_t row, float *out, wte_error *err)
{
    return q->codes == CODES_SPLIT ? split_row(q, row, out, err) : nibble_row(q, row, out, err);
}
