/* wte/rowwise.h - rows quantised one by one: integers of 8, 4 or 2 bits with one scale and one bias
 * for the whole row, in the layouts of FBGEMM (and of PyTorch's quantised embedding bags). */
#ifndef WTE_ROWWISE_H
#define WTE_ROWWISE_H
#include <wte/row_source.h>
#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, name, value, bits, type of scale and bias, 1 = they stand before the integers): values
 * are part of the ABI and differ from every wte_block_type, so that either is a `packing` of
 * wte_row_source. */
#define WTE_ROWWISE_LIST(X)                                                                        \
    X(ROW8_F32, row8_f32, 1001, 8, WTE_F32, 0)                                                     \
    X(ROW8, row8, 1002, 8, WTE_F16, 0)                                                             \
    X(ROW4, row4, 1003, 4, WTE_F16, 0)                                                             \
    X(ROW2, row2, 1004, 2, WTE_F16, 0)                                                             \
    X(TBE8, tbe8, 1005, 8, WTE_F16, 1)                                                             \
    X(TBE4, tbe4, 1006, 4, WTE_F16, 1)                                                             \
    X(TBE2, tbe2, 1007, 2, WTE_F16, 1)

typedef enum wte_rowwise {
    WTE_ROWWISE_NONE = 0,
#define X(NAME, name, value, bits, scale, front) WTE_##NAME = (value),
    WTE_ROWWISE_LIST(X)
#undef X
        WTE_ROWWISE_FORCE_INT = 0x7fffffff
} wte_rowwise;

WTE_API const char *wte_rowwise_name(wte_rowwise type); /* "row8_f32", ...; "none"; "unknown" */

/** What a row source of such rows remembers; made by wte_row_source_from_rowwise, to be kept as
 * long as it. */
typedef struct wte_rowwise_source {
    wte_rowwise type;
    uint32_t reserved;
    const uint8_t *data;
    uint64_t row_bytes, cols;
} wte_rowwise_source;

/** Make a row source of f32 over such a table: x = q * scale + bias, rounded once (fma), the first
 *  element in the low bits of a byte. Its `packed` is the table, for bags and heads.
 *
 *  data, row_bytes, storage, errors, cost: as wte_row_source_from_blocks (row_bytes 0 = tight;
 * FBGEMM's TBE aligns rows to 16) */
WTE_API WTE_MUST_CHECK wte_status wte_row_source_from_rowwise(wte_rowwise type, uint64_t rows,
                                                              uint64_t cols, const void *data,
                                                              uint64_t row_bytes,
                                                              wte_rowwise_source *storage,
                                                              wte_row_source *out, wte_error *err);

/** Quantise rows x cols numbers, tight, bit for bit as FBGEMM's reference does; docs/bags.md has
 *  the formulas.
 *
 *  out      rows rows, row_bytes apart (0 = tight); must not overlap values
 *  returns  E_UNSUPPORTED (where = row) for NaN, infinity, and a scale or bias that f16 cannot
 *           hold; rows before that one are then written. E_SHAPE when row_bytes is too small;
 *           E_UNSUPPORTED for an unknown type; E_ARGUMENT
 *  cost     two passes over each row, no allocation */
WTE_API WTE_MUST_CHECK wte_status wte_rowwise_encode(wte_rowwise type, const float *values,
                                                     uint64_t rows, uint64_t cols, void *out,
                                                     uint64_t row_bytes, wte_error *err);
#ifdef __cplusplus
}
#endif
#endif
