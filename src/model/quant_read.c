/* Rows of a quantised table: its codes are spread into the output as the numbers that they stand
 * for, then zeros and scales are applied where they lie. Nothing is allocated: parts are read in
 * small pieces, from the map where there is one. What one row costs: its own bytes where a scheme
 * keeps rows together; where it packs them side by side (gptq, awq gemm), one word of every packed
 * row, which up to TILE neighbouring rows share. */
#include <string.h>

#include "base/error.h"
#include "model/quant.h"

/* Rows that are made together where they lie side by side. */
#define TILE 128u
/* Bytes of one row that are unpacked at once: whole runs of 32 fields of any width up to 8. */
#define STREAM_BYTES 4096u
/* Pieces up to this are copied from the map: a call of the system costs more than the bytes. */
#define MAP_BYTES 4096u

wte_status wte__quant_bytes(const wte__quant *q, const wte__plane *p, uint64_t at, void *out,
                            uint64_t n, wte_error *err)
{
    if (!p->map || n > MAP_BYTES) return wte_file_read(q->file, p->tensor, at, out, n, err);
    memcpy(out, p->map + at, (size_t)n);
    return WTE_OK;
}

/* e8m0: 2^(code - 127), and NaN for 255; code 0 is a subnormal f32. */
static void powers_of_two(const uint8_t *codes, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t code = codes[i];
        const uint32_t bits = code == 0     ? UINT32_C(0x00400000)
                              : code == 255 ? UINT32_C(0x7fc00000)
                                            : code << 23;
        memcpy(&out[i], &bits, sizeof bits);
    }
}

wte_status wte__quant_read_floats(const wte__quant *q, const wte__plane *p, uint64_t first,
                                  size_t n, float *out, wte_error *err)
{
    uint8_t raw[8 * WTE__QUANT_AT_ONCE];
    uint64_t wide[WTE__QUANT_AT_ONCE];
    const uint32_t size = p->element;
    WTE_TRY(wte__quant_bytes(q, p, first * size, raw, (uint64_t)n * size, err));
    if (p->type == WTE_F8_E8M0) {
        powers_of_two(raw, n, out);
        return WTE_OK;
    }
    const void *from = raw;
    /* stored with the lowest byte first, whatever this machine does */
    for (size_t i = 0; i < n && size > 1; i++) {
        uint64_t bits = 0;
        for (uint32_t k = 0; k < size; k++) bits |= (uint64_t)raw[i * size + k] << (8 * k);
        const uint16_t u16 = (uint16_t)bits;
        const uint32_t u32 = (uint32_t)bits;
        const void *number = size == 2   ? (const void *)&u16
                             : size == 4 ? (const void *)&u32
                                         : (const void *)&bits;
        memcpy((uint8_t *)wide + i * size, number, size);
        from = wide;
    }
    if (p->type != WTE_F32) return wte_convert(p->type, from, WTE_F32, out, n, NULL, err);
    memcpy(out, from, n * sizeof *out);
    return WTE_OK;
}

/* Codes -----------------------------------------------------------------------------------------
 */

/* n fields of a dense stream that begins at its first bit. */
static void unpack_stream(const wte__quant *q, const uint8_t *raw, size_t n, float *out)
{
    const uint32_t bits = q->bits, mask = (UINT32_C(1) << bits) - 1;
    uint32_t held = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        if (have < bits) {
            held |= (uint32_t)*raw++ << have;
            have += 8;
        }
        out[i] = q->code[held & mask];
        held >>= bits;
        have -= bits;
    }
}

static void unpack_words(const wte__quant *q, const uint8_t *raw, size_t n, float *out)
{
    const uint32_t mask = (UINT32_C(1) << q->bits) - 1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = wte__quant_word(raw + i / q->per_word * 4);
        out[i] = q->code[word >> (i % q->per_word * q->bits) & mask];
    }
}

static wte_status codes_along_row(const wte__quant *q, uint64_t row, float *out, wte_error *err)
{
    uint8_t raw[STREAM_BYTES];
    const wte__plane *p = &q->packed;
    const uint64_t row_bytes = p->cols * p->element, start = row * row_bytes;
    const uint64_t fields =
        q->per_word ? STREAM_BYTES / 4 * q->per_word : STREAM_BYTES / (4 * q->bits) * 32;
    for (uint64_t done = 0, at = 0; done < q->dim; done += fields) {
        const size_t n = (size_t)(q->dim - done < fields ? q->dim - done : fields);
        const uint64_t bytes = q->per_word ? (n - 1) / q->per_word * 4 + 4 : (n * q->bits + 7) / 8;
        WTE_TRY(wte__quant_bytes(q, p, start + at, raw, bytes, err));
        if (q->per_word)
            unpack_words(q, raw, n, out + done);
        else
            unpack_stream(q, raw, n, out + done);
        at += bytes;
    }
    return WTE_OK;
}

/* gptq: fields of one row run down a column of words; `bits` words hold 32 of them. */
static wte_status codes_along_column(const wte__quant *q, uint64_t first, size_t n, float *out,
                                     wte_error *err)
{
    uint8_t raw[8][4 * TILE] = { { 0 } };
    const wte__plane *p = &q->packed;
    const uint32_t bits = q->bits, mask = (UINT32_C(1) << bits) - 1;
    for (uint64_t w = 0, done = 0; w < p->rows; w += bits, done += 32) {
        const uint32_t words = p->rows - w < bits ? (uint32_t)(p->rows - w) : bits;
        for (uint32_t i = 0; i < words; i++)
            WTE_TRY(wte__quant_bytes(q, p, ((w + i) * p->cols + first) * 4, raw[i], 4 * n, err));
        for (uint32_t i = 0; i < 32 && (i + 1) * bits <= words * 32; i++) {
            const uint32_t bit = i * bits, word = bit / 32, shift = bit % 32;
            for (size_t r = 0; r < n; r++) {
                uint32_t field = wte__quant_word(raw[word] + 4 * r) >> shift;
                if (shift + bits > 32)
                    field |= wte__quant_word(raw[word + 1] + 4 * r) << (32 - shift);
                out[r * q->dim + done + i] = q->code[field & mask];
            }
        }
    }
    return WTE_OK;
}

/* Where in a word of awq gemm the field of a row lies: rows 0, 2, 4, 6, 1, 3, 5, 7 from the lowest
 * bits up. */
static uint32_t awq_shift(uint64_t row)
{
    return (uint32_t)(row % 8 / 2 + (row % 2) * 4) * 4;
}

/* One line of words that hold eight rows each, for rows first .. first + n - 1. */
static wte_status read_across(const wte__quant *q, const wte__plane *p, uint64_t line,
                              uint64_t first, size_t n, uint8_t *raw, wte_error *err)
{
    const uint64_t from = first / 8, to = (first + n - 1) / 8 + 1;
    return wte__quant_bytes(q, p, (line * p->cols + from) * 4, raw, (to - from) * 4, err);
}

static uint32_t field_across(const uint8_t *raw, uint64_t first, uint64_t row)
{
    return wte__quant_word(raw + 4 * (row / 8 - first / 8)) >> awq_shift(row) & 15;
}

static wte_status codes_across(const wte__quant *q, uint64_t first, size_t n, float *out,
                               wte_error *err)
{
    uint8_t raw[4 * (TILE / 8 + 1)];
    for (uint64_t d = 0; d < q->dim; d++) {
        WTE_TRY(read_across(q, &q->packed, d, first, n, raw, err));
        for (size_t r = 0; r < n; r++)
            out[r * q->dim + d] = q->code[field_across(raw, first, first + r)];
    }
    return WTE_OK;
}

/* Zeros and scales -------------------------------------------------------------------------------
 */

/* Columns of group g, by their places in q->order or as they are. */
static void columns_of(const wte__quant *q, uint64_t g, uint64_t *from, uint64_t *to)
{
    *from = q->order ? q->first[g] : g * q->group;
    *to = q->order ? q->first[g + 1] : *from + q->group;
    if (*to > q->dim) *to = q->dim;
}

static void apply(const wte__quant *q, uint64_t g, float scale, float zero, float *row)
{
    uint64_t from, to;
    columns_of(q, g, &from, &to);
    for (uint64_t i = from; i < to; i++) {
        float *x = &row[q->order ? q->order[i] : i];
        if (q->zeros == ZEROS_BIAS)
            *x = *x * scale + zero;
        else
            *x = (*x - zero) * scale;
        if (q->times != 1) *x *= q->times;
    }
}

/* Field number `at` of a stream of words, of which raw holds those from number `from` on. */
static uint32_t field_of_stream(const uint8_t *raw, uint64_t from, uint64_t at, uint32_t bits)
{
    const uint64_t bit = at * bits;
    const uint8_t *p = raw + (bit / 32 - from) * 4;
    const uint32_t shift = (uint32_t)(bit % 32);
    uint32_t field = wte__quant_word(p) >> shift;
    if (shift + bits > 32) field |= wte__quant_word(p + 4) << (32 - shift);
    return field & ((UINT32_C(1) << bits) - 1);
}

/* The zeros of group g for rows first .. first + n - 1. */
static wte_status zeros_of_group(const wte__quant *q, uint64_t g, uint64_t first, size_t n,
                                 float *out, wte_error *err)
{
    uint8_t raw[TILE + 8];
    const uint32_t mask = (UINT32_C(1) << q->bits) - 1;
    if (q->zeros == ZEROS_ACROSS) {
        WTE_TRY(read_across(q, &q->zero, g, first, n, raw, err));
        for (size_t r = 0; r < n; r++) out[r] = (float)field_across(raw, first, first + r);
        return WTE_OK;
    }
    const uint64_t from = first * q->bits / 32, to = ((first + n) * q->bits - 1) / 32 + 1;
    WTE_TRY(
        wte__quant_bytes(q, &q->zero, (g * q->zero.cols + from) * 4, raw, (to - from) * 4, err));
    for (size_t r = 0; r < n; r++) {
        const uint32_t field = field_of_stream(raw, from, first + r, q->bits);
        out[r] = (float)((field + q->zero_add) & mask);
    }
    return WTE_OK;
}

static wte_status scale_by_group(const wte__quant *q, uint64_t first, size_t n, float *out,
                                 wte_error *err)
{
    float scale[TILE], zero[TILE];
    for (uint64_t g = 0; g < q->groups; g++) {
        WTE_TRY(wte__quant_read_floats(q, &q->scale, g * q->scale.cols + first, n, scale, err));
        WTE_TRY(zeros_of_group(q, g, first, n, zero, err));
        for (size_t r = 0; r < n; r++) apply(q, g, scale[r], zero[r], out + r * q->dim);
    }
    return WTE_OK;
}

/* The zeros of a row for groups first .. first + n - 1. */
static wte_status zeros_of_row(const wte__quant *q, uint64_t row, uint64_t first, size_t n,
                               float *out, wte_error *err)
{
    uint8_t raw[4 * WTE__QUANT_AT_ONCE], next[4 * WTE__QUANT_AT_ONCE];
    const wte__plane *z = &q->zero;
    if (q->zeros == ZEROS_NONE) {
        memset(out, 0, n * sizeof *out);
        return WTE_OK;
    }
    if (q->zeros == ZEROS_PLAIN || q->zeros == ZEROS_BIAS)
        return wte__quant_read_floats(q, z, (z->rows == 1 ? 0 : row) * z->cols + first, n, out,
                                      err);
    if (q->zeros == ZEROS_ALONG_ROW) {
        /* first is a multiple of 256 */
        WTE_TRY(wte__quant_bytes(q, z, row * z->cols * 4 + first / 2, raw, (n + 1) / 2, err));
        for (size_t i = 0; i < n; i++) out[i] = (float)(raw[i / 2] >> (i % 2 * 4) & 15);
        return WTE_OK;
    }
    const uint64_t bit = q->per_word ? row % q->per_word * q->bits : row * q->bits;
    const uint64_t line = q->per_word ? row / q->per_word : bit / 32;
    const uint32_t shift = (uint32_t)(bit % 32), mask = (UINT32_C(1) << q->bits) - 1;
    const bool straddles = shift + q->bits > 32;
    WTE_TRY(wte__quant_bytes(q, z, (line * z->cols + first) * 4, raw, 4 * n, err));
    if (straddles)
        WTE_TRY(wte__quant_bytes(q, z, ((line + 1) * z->cols + first) * 4, next, 4 * n, err));
    for (size_t i = 0; i < n; i++) {
        uint32_t field = wte__quant_word(raw + 4 * i) >> shift;
        if (straddles) field |= wte__quant_word(next + 4 * i) << (32 - shift);
        out[i] = (float)(field & mask) - q->zero_offset;
    }
    return WTE_OK;
}

static wte_status scale_row(const wte__quant *q, uint64_t row, float *out, wte_error *err)
{
    float scale[WTE__QUANT_AT_ONCE], zero[WTE__QUANT_AT_ONCE];
    const wte__plane *s = &q->scale;
    const uint64_t start = (s->rows == 1 ? 0 : row) * s->cols;
    for (uint64_t g = 0; g < q->groups; g += WTE__QUANT_AT_ONCE) {
        const uint64_t left = q->groups - g;
        const size_t n = left < WTE__QUANT_AT_ONCE ? (size_t)left : WTE__QUANT_AT_ONCE;
        WTE_TRY(wte__quant_read_floats(q, s, start + g, n, scale, err));
        WTE_TRY(zeros_of_row(q, row, g, n, zero, err));
        for (size_t i = 0; i < n; i++)
            apply(q, g + i, q->divide != 0 ? scale[i] / q->divide : scale[i], zero[i], out);
    }
    return WTE_OK;
}

/* Rows ------------------------------------------------------------------------------------------
 */

static wte_status read_tile(const wte__quant *q, uint64_t first, size_t n, float *out,
                            wte_error *err)
{
    if (q->codes == CODES_ALONG_COLUMN)
        WTE_TRY(codes_along_column(q, first, n, out, err));
    else
        WTE_TRY(codes_across(q, first, n, out, err));
    return scale_by_group(q, first, n, out, err);
}

static wte_status read_block(void *ctx, uint64_t first, size_t n, void *out, wte_error *err)
{
    const wte__quant *q = ctx;
    float *to = out;
    for (size_t done = 0; done < n;) {
        float *row = to + done * q->dim;
        size_t now = 1;
        if (q->scales_by_group) {
            now = n - done < TILE ? n - done : TILE;
            WTE_TRY(read_tile(q, first + done, now, row, err));
        } else if (q->codes == CODES_ALONG_ROW) {
            WTE_TRY(codes_along_row(q, first + done, row, err));
            WTE_TRY(scale_row(q, first + done, row, err));
        } else {
            WTE_TRY(wte__quant_flat_row(q, first + done, row, err));
        }
        done += now;
    }
    return WTE_OK;
}

/* Runs of neighbouring ids are made together. */
static wte_status read_rows(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err)
{
    const wte__quant *q = ctx;
    float *to = out;
    for (size_t i = 0; i < n;) {
        size_t run = 1;
        while (i + run < n && ids[i + run] == ids[i] + run) run++;
        WTE_TRY(read_block(ctx, ids[i], run, to, err));
        to += run * q->dim;
        i += run;
    }
    return WTE_OK;
}

wte_row_source wte__quant_rows(wte__quant *q)
{
    const wte_row_source rows = { .rows = q->rows,
                                  .cols = q->dim,
                                  .dtype = WTE_F32,
                                  .read_rows = read_rows,
                                  .read_block = read_block,
                                  .ctx = q };
    return rows;
}
