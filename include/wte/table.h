/* wte/table.h - an embedding table in memory: rows x dim of one type, owned or borrowed. */
#ifndef WTE_TABLE_H
#define WTE_TABLE_H
#include <wte/row_source.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct wte_table wte_table;

typedef struct wte_table_options {
    size_t struct_size;
    uint64_t max_bytes; /* refuse a table larger than this; 0 = 1 TiB */
    const wte_allocator *allocator;
} wte_table_options;
#define WTE_TABLE_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(wte_table_options), 0, NULL                                                         \
    }

/** Make a table of zeros that owns its memory.
 *  rows, dim  either may be 0; rows * dim * element size is checked against max_bytes (E_LIMIT)
 *  dtype      any type of whole bytes, else E_UNSUPPORTED */
WTE_API WTE_MUST_CHECK wte_status wte_table_create(uint64_t rows, uint64_t dim, wte_dtype dtype,
                                                   const wte_table_options *opt, wte_table **out,
                                                   wte_error *err);
/** Make a table that borrows rows: copies nothing, cannot be written through. */
WTE_API WTE_MUST_CHECK wte_status wte_table_wrap(const wte_row_source *rows,
                                                 const wte_table_options *opt, wte_table **out,
                                                 wte_error *err);
WTE_API void wte_table_free(wte_table *t); /* NULL is fine */

WTE_API const wte_row_source *wte_table_source(const wte_table *t); /* lives as long as t */
WTE_API uint64_t wte_table_n_rows(const wte_table *t);
WTE_API uint64_t wte_table_dim(const wte_table *t);
WTE_API wte_dtype wte_table_dtype(const wte_table *t);
/** The elements, row major and tight, of a table that owns them; NULL for a borrowed one. */
WTE_API void *wte_table_data(wte_table *t);

typedef enum wte_init_kind {
    WTE_INIT_TORCH_AVX2 = 0,   /* N(mean, std) as torch.manual_seed(seed); nn.Embedding on x86 */
    WTE_INIT_TORCH_SCALAR = 1, /* the same on machines without AVX2 (ATEN_CPU_CAPABILITY=default) */
    WTE_INIT_UNIFORM = 2,      /* U[low, high), torch's uniform_ (AVX2) from the same generator */
    WTE_INIT_ZEROS = 3
} wte_init_kind;

typedef struct wte_init_options {
    size_t struct_size;
    wte_init_kind kind;
    uint32_t has_padding_id; /* 1: row padding_id is set to zero after the draw, as torch does */
    uint64_t seed;
    uint64_t padding_id;
    double mean;      /* of the normal kinds */
    double std;       /* of the normal kinds; 0 = 1.0 */
    double low, high; /* of the uniform kind; both 0 = [-0.05, 0.05), Keras' range */
} wte_init_options;
#define WTE_INIT_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(wte_init_options), WTE_INIT_TORCH_AVX2, 0, 0, 0, 0.0, 0.0, 0.0, 0.0                 \
    }

/** Fill an owned table with initial values; the same seed gives the same bits on every machine.
 *
 *  f32 and f64 equal PyTorch bit for bit (mt19937; sizes under 16 elements take the double path,
 *  ragged tails are drawn anew). Other float types: drawn as f32, then rounded to nearest even
 *  (PyTorch's own half-precision stream is another one).
 *
 *  returns  E_ARGUMENT for a borrowed table, a negative or non-finite std, low > high; E_RANGE for
 *           a padding id >= rows; E_UNSUPPORTED for integer tables unless the kind is zeros */
WTE_API WTE_MUST_CHECK wte_status wte_table_init(wte_table *t, const wte_init_options *opt,
                                                 wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
