/* wte/lookup.h - ids to rows: retrieval, not arithmetic. */
#ifndef WTE_LOOKUP_H
#define WTE_LOOKUP_H
#include <wte/row_source.h>
#include <wte/table.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_bad_id_policy {
    WTE_BAD_ID_ERROR = 0, /* any id < 0 or >= rows fails the call (E_RANGE); all are counted */
    WTE_BAD_ID_ZERO = 1   /* such an id yields a zero vector; counted */
} wte_bad_id_policy;

#define WTE_BAD_IDS_SHOWN 8
/** What was wrong with the ids of one call; filled whether it succeeded or not. */
typedef struct wte_bad_ids {
    uint64_t count;   /* ids outside 0 .. rows - 1 that no ignore id covers */
    uint64_t ignored; /* ids that an ignore id covers */
    uint32_t n_first; /* how many of these follow: min(count, WTE_BAD_IDS_SHOWN) */
    uint32_t reserved;
    struct {
        uint64_t position; /* index into ids */
        int64_t value;
    } first[WTE_BAD_IDS_SHOWN];
} wte_bad_ids;

typedef struct wte_lookup_options {
    size_t struct_size;
    wte_dtype out_dtype; /* WTE_DTYPE_NONE = the stored type, else F32 (or any that converts) */
    wte_bad_id_policy bad_ids;
    const int64_t *ignore_ids; /* ids that yield a zero vector and are no error, e.g. -1, -100; a
                                * list that ascends is searched, another gone through for each id */
    size_t n_ignore_ids;
    wte_pool *pool;      /* NULL = the calling thread */
    wte_bad_ids *report; /* NULL = not wanted */
    const wte_allocator *allocator;
    double max_norm;  /* > 0: a row that is longer than this is scaled to it, in the output */
    double norm_type; /* of max_norm: 1, 2, HUGE_VAL (the largest magnitude), any p > 0; 0 = 2 */
    float scale;      /* every number is multiplied by it, after max_norm; 0 = 1 */
} wte_lookup_options;
#define WTE_LOOKUP_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(wte_lookup_options), WTE_DTYPE_NONE, WTE_BAD_ID_ERROR, NULL, 0, NULL, NULL, NULL,   \
            0, 0, 0                                                                                \
    }

/** out[i, :] = rows[ids[i], :] for every i, in the order of ids (any shape: the output's shape is
 *  the ids' shape with cols appended).
 *
 *  In the stored type the row's bits are copied; to F32 narrower types are widened exactly, and
 *  f64, i32, i64, u32, u64 are rounded to nearest even. Ids are never wrapped, never row 0.
 *
 *  out        ids.count rows, row_bytes apart; row_bytes >= cols * size of the output type, or
 *             0 = tight. Must not overlap the table or the ids
 *  max_norm   as if wte_table_renorm had been called before, but the table stays as it is
 *  scale      numbers are widened to f32, multiplied (rounded), and rounded to the output type
 *  returns    E_RANGE with where = position of the first bad id, its value and the valid range in
 *             the message; out is then untouched. E_ARGUMENT for an id type other than U16, I32,
 *             U32, I64, and for an out that overlaps. E_UNSUPPORTED for a type that does not
 *             convert, and with a scale for an output that is not F32, F16 or BF16. E_IO or
 *             E_FORMAT from a row source that reads a file (out half written)
 *  cost       one read and one write of the rows named; allocates (a few hundred KiB) only for a
 *             source that reads and converts at once, or for two steps of conversion */
WTE_API WTE_MUST_CHECK wte_status wte_lookup(const wte_row_source *rows, wte_ids ids,
                                             const wte_lookup_options *opt, void *out,
                                             size_t row_bytes, wte_error *err);

/** Shorten the rows that ids name in place, each once, as PyTorch's max_norm does: the p-norm of a
 *  row, rounded to the row's type, is n; when n > max_norm, the row is multiplied by
 *  max_norm / (n + 1e-7). Other rows keep their bits.
 *
 *  t          owns its rows, of F64, F32, F16 or BF16 (else E_UNSUPPORTED); no other thread may use
 *             it meanwhile
 *  max_norm   >= 0; norm_type as in the options of a lookup
 *  changed    NULL, or gets how many rows were shortened
 *  returns    E_RANGE as a lookup, and the table is then untouched; E_ARGUMENT for a borrowed table
 *  cost       one pass over the rows named; allocates a bit for each row of the table */
WTE_API WTE_MUST_CHECK wte_status wte_table_renorm(wte_table *t, wte_ids ids, double max_norm,
                                                   double norm_type, const wte_allocator *allocator,
                                                   uint64_t *changed, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
