/* wte/row_source.h - row sources and token ids: the two plain types through which rooms meet. */
#ifndef WTE_ROW_SOURCE_H
#define WTE_ROW_SOURCE_H
#include <wte/dtype.h>
#ifdef __cplusplus
extern "C" {
#endif

/** Rows of a matrix, wherever they lie. Borrowed: valid as long as what it was made from.
 *
 *  A view: `data` points at row 0 in this machine's byte order, row r begins at data + r *
 * row_bytes, elements of a row are adjacent. Or a reader: `read_rows` copies rows out. When both
 * are set, data is a mapped file: use the view for a handful of rows and read_rows for many. At
 * least one is set unless rows is 0. */
typedef struct wte_row_source {
    uint64_t rows;
    uint64_t cols;
    wte_dtype dtype;    /* type of the elements that come out: whole bytes only */
    uint32_t packing;   /* 0, or how rows are stored that come out decoded: below */
    const void *data;   /* view, or NULL */
    uint64_t row_bytes; /* stride of the view; >= cols * element size */
    /** Copy n rows, tightly packed (cols * element size bytes each), machine byte order.
     *  Every ids[i] < rows (the caller checks). Thread-safe. n may be 0. */
    wte_status (*read_rows)(void *ctx, const uint64_t *ids, size_t n, void *out, wte_error *err);
    /** The same for rows first .. first + n - 1; NULL = use read_rows. For passes over the table.
     */
    wte_status (*read_block)(void *ctx, uint64_t first, size_t n, void *out, wte_error *err);
    void *ctx;
    /** For consumers that compute with rows as they are stored (bags, heads); all others need not
     *  look. packing is a wte_block_type or a wte_rowwise; dtype is F32 then, and a stored row has
     *  wte_packed_bytes(packing, cols) bytes: row r lies at packed + r * packed_row_bytes, or
     *  read_packed copies rows first .. first + n - 1, tight; at least one of the two is set. */
    const void *packed;
    uint64_t packed_row_bytes;
    wte_status (*read_packed)(void *ctx, uint64_t first, size_t n, void *out, wte_error *err);
} wte_row_source;

/** Token ids as people have them: read in place, never copied or narrowed. */
typedef struct wte_ids {
    const void *data;  /* count integers of `type`, this machine's byte order, any alignment */
    wte_dtype type;    /* U16, I32, U32 or I64 */
    uint32_t reserved; /* 0 */
    uint64_t count;
} wte_ids;
/** n ids at `ids`, borrowed:  wte_lookup(rows, wte_ids_i64(ids, 3), NULL, out, 0, &err). */
static inline wte_ids wte_ids_i64(const int64_t *ids, uint64_t n)
{
    const wte_ids made = { ids, WTE_I64, 0, n };
    return made;
}
static inline wte_ids wte_ids_i32(const int32_t *ids, uint64_t n)
{
    const wte_ids made = { ids, WTE_I32, 0, n };
    return made;
}
static inline wte_ids wte_ids_u32(const uint32_t *ids, uint64_t n)
{
    const wte_ids made = { ids, WTE_U32, 0, n };
    return made;
}
static inline wte_ids wte_ids_u16(const uint16_t *ids, uint64_t n)
{
    const wte_ids made = { ids, WTE_U16, 0, n };
    return made;
}

/** Id number i as a signed 64-bit number (every type fits); i < ids.count is the caller's duty.
 *  -1 when the type is none of the four. */
WTE_API int64_t wte_ids_at(wte_ids ids, uint64_t i);

/** Bytes of one row of `cols` elements stored in a packing, or 0: unknown packing, or cols is no
 * multiple of what its blocks hold, or the product overflows. */
WTE_API uint64_t wte_packed_bytes(uint32_t packing, uint64_t cols);

/** Check shape, type and pointers of a row source. E_ARGUMENT or E_SHAPE, or WTE_OK. */
WTE_API WTE_MUST_CHECK wte_status wte_check_rows(const wte_row_source *rows, wte_error *err);
/** Read one row in the stored type. out has cols * element size bytes. E_RANGE past the end. */
WTE_API WTE_MUST_CHECK wte_status wte_row_source_read(const wte_row_source *rows, uint64_t row,
                                                      void *out, wte_error *err);
/** Read rows first .. first + n - 1 in the stored type, tightly packed. E_RANGE past the end.
 *  cost  one pread of a file where that serves (not a walk through its map) */
WTE_API WTE_MUST_CHECK wte_status wte_row_source_read_block(const wte_row_source *rows,
                                                            uint64_t first, size_t n, void *out,
                                                            wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
