/* wte/block.h - block-quantised types: a block of some bytes stands for 32 to 256 numbers. They are
 * the types of GGUF files. Reading only, but for q8_0. */
#ifndef WTE_BLOCK_H
#define WTE_BLOCK_H
#include <wte/row_source.h>
#ifdef __cplusplus
extern "C" {
#endif

/* X(NAME, name, value, elements of a block, bytes of a block): values are ggml's own numbers of
 * these types, as they stand in files, and part of the ABI. */
#define WTE_BLOCK_LIST(X)                                                                          \
    X(Q4_0, q4_0, 2, 32, 18)                                                                       \
    X(Q4_1, q4_1, 3, 32, 20)                                                                       \
    X(Q5_0, q5_0, 6, 32, 22)                                                                       \
    X(Q5_1, q5_1, 7, 32, 24)                                                                       \
    X(Q8_0, q8_0, 8, 32, 34)                                                                       \
    X(Q2_K, q2_k, 10, 256, 84)                                                                     \
    X(Q3_K, q3_k, 11, 256, 110)                                                                    \
    X(Q4_K, q4_k, 12, 256, 144)                                                                    \
    X(Q5_K, q5_k, 13, 256, 176)                                                                    \
    X(Q6_K, q6_k, 14, 256, 210)                                                                    \
    X(IQ2_XXS, iq2_xxs, 16, 256, 66)                                                               \
    X(IQ2_XS, iq2_xs, 17, 256, 74)                                                                 \
    X(IQ3_XXS, iq3_xxs, 18, 256, 98)                                                               \
    X(IQ1_S, iq1_s, 19, 256, 50)                                                                   \
    X(IQ4_NL, iq4_nl, 20, 32, 18)                                                                  \
    X(IQ3_S, iq3_s, 21, 256, 110)                                                                  \
    X(IQ2_S, iq2_s, 22, 256, 82)                                                                   \
    X(IQ4_XS, iq4_xs, 23, 256, 136)                                                                \
    X(IQ1_M, iq1_m, 29, 256, 56)                                                                   \
    X(TQ1_0, tq1_0, 34, 256, 54)                                                                   \
    X(TQ2_0, tq2_0, 35, 256, 66)                                                                   \
    X(MXFP4, mxfp4, 39, 32, 17)                                                                    \
    X(NVFP4, nvfp4, 40, 64, 36)                                                                    \
    X(Q1_0, q1_0, 41, 128, 18)                                                                     \
    X(Q2_0, q2_0, 42, 64, 18)
/* No block holds more than this. */
#define WTE_BLOCK_MAX_ELEMENTS 256
#define WTE_BLOCK_MAX_BYTES    210

typedef enum wte_block_type {
    WTE_BLOCK_NONE = 0,
#define X(NAME, name, value, elements, bytes) WTE_BLOCK_##NAME = (value),
    WTE_BLOCK_LIST(X)
#undef X
        WTE_BLOCK_FORCE_INT = 0x7fffffff
} wte_block_type;

/** "q4_0" and so on; "none" for WTE_BLOCK_NONE, "unknown" for anything else. */
WTE_API const char *wte_block_name(wte_block_type type);
/** The name of a stored type: that of its blocks, or of its elements where there are none. */
WTE_API const char *wte_type_name(wte_dtype type, wte_block_type block);
/** How many numbers a block holds; 0 for WTE_BLOCK_NONE and unknown values. */
WTE_API uint32_t wte_block_elements(wte_block_type type);
/** Bytes of a block; 0 for WTE_BLOCK_NONE and unknown values. */
WTE_API uint32_t wte_block_bytes(wte_block_type type);
/** By name, upper or lower case; WTE_BLOCK_NONE when there is no such type. */
WTE_API wte_block_type wte_block_from_name(const char *name);

/** Decode n_blocks blocks: out gets n_blocks * wte_block_elements(type) numbers.
 *
 *  The bits are those of ggml's own dequantisation: f32 arithmetic, each operation rounded, in
 *  the order of docs/kernels.md. A scale that is NaN or infinite is no error, since ggml has none;
 *  it gives NaN (which NaN is not specified) or infinities.
 *
 *  blocks   any alignment, any bytes: no block is malformed; not overlapping out
 *  returns  E_UNSUPPORTED for an unknown type (where = its number); E_ARGUMENT for NULL
 *  cost     one pass, no allocation */
WTE_API WTE_MUST_CHECK wte_status wte_block_decode(wte_block_type type, const void *blocks,
                                                   float *out, size_t n_blocks, wte_error *err);

/** Encode n_blocks * wte_block_elements(type) numbers: bit for bit ggml's own reference
 *  quantisation. Of q8_0 alone; the others are read only.
 *
 *  returns  E_UNSUPPORTED for another type, and for a number that the type cannot hold (where = its
 *           index): NaN, infinity, or in q8_0 a magnitude of 8321040 and above, whose scale no f16
 *           holds. Blocks before that one are then written */
WTE_API WTE_MUST_CHECK wte_status wte_block_encode(wte_block_type type, const float *values,
                                                   void *blocks, size_t n_blocks, wte_error *err);

/** What a row source of blocks remembers; made by wte_row_source_from_blocks, to be kept as long as
 * it. */
typedef struct wte_block_source {
    wte_block_type type;
    uint32_t reserved;
    const uint8_t *data;
    uint64_t row_bytes;  /* stride */
    uint64_t row_blocks; /* blocks in a row */
} wte_block_source;

/** Make a row source of f32 that decodes the rows of a table of blocks when they are read.
 *
 *  data      rows x cols numbers of the type, borrowed; any alignment; may be NULL when rows is 0
 *  row_bytes from one row to the next; at least a row's blocks, or 0 = tight
 *  storage   the caller's; *out refers to it and to data
 *  returns   E_SHAPE when cols is no multiple of the block's elements, when row_bytes is too small,
 *            or when the table is larger than memory can be; E_UNSUPPORTED for an unknown type;
 *            E_ARGUMENT for NULL
 *  cost      none here. Reading decodes the rows named, no others, and allocates nothing */
WTE_API WTE_MUST_CHECK wte_status wte_row_source_from_blocks(wte_block_type type, uint64_t rows,
                                                             uint64_t cols, const void *data,
                                                             uint64_t row_bytes,
                                                             wte_block_source *storage,
                                                             wte_row_source *out, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
