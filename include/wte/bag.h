/* wte/bag.h - bags: rows of several ids reduced to one vector (EmbeddingBag). */
#ifndef WTE_BAG_H
#define WTE_BAG_H
#include <wte/lookup.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef enum wte_bag_mode {
    WTE_BAG_SUM = 0,
    WTE_BAG_MEAN = 1, /* sum / max(number of members, 1) */
    WTE_BAG_MAX = 2 /* of each column; begins with the first member, moves when strictly greater */
} wte_bag_mode;

typedef struct wte_bag_options {
    size_t struct_size;
    wte_bag_mode mode;
    wte_dtype out_dtype;       /* NONE = F32; F16, BF16: rounded once, at the end */
    wte_bad_id_policy bad_ids; /* ZERO: bad ids are skipped */
    uint32_t
        include_last_offset;   /* 1: the last offset is the end of the last bag and begins none */
    const int64_t *ignore_ids; /* ids to skip without an error: the padding id, -1, -100 */
    size_t n_ignore_ids;
    uint64_t ids_per_bag; /* > 0: ids in every bag (a matrix of ids), without offsets */
    const float *weights; /* one for each id, SUM only (E_ARGUMENT else, as in PyTorch), or NULL */
    const void *mask;     /* one per id: 0 = skip the id (an attention mask), or NULL */
    wte_dtype mask_dtype; /* BOOL, U8, I8, I32, I64 or F32 */
    uint32_t
        normalize;    /* 1: each result is divided by its L2 norm, or by 1e-12 when that is less */
    double max_norm;  /* > 0: rows longer than this are scaled to it, in the copy; see lookup.h */
    double norm_type; /* of max_norm: 1, 2, HUGE_VAL, any p; 0 = 2 */
    uint64_t *sizes;  /* NULL, or room for the number of members of each bag */
    uint64_t *argmax; /* MAX: NULL, or bags x cols positions in ids of the member taken;
                         WTE_NO_INDEX in an empty bag */
    wte_pool *pool;
    wte_bad_ids *report;
    const wte_allocator *allocator;
} wte_bag_options;
#define WTE_BAG_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(wte_bag_options), WTE_BAG_SUM, WTE_DTYPE_NONE, WTE_BAD_ID_ERROR, 0, NULL, 0, 0,     \
            NULL, NULL, WTE_DTYPE_NONE, 0, 0, 0, NULL, NULL, NULL, NULL, NULL                      \
    }

/** Number of bags in ids and offsets. Errors as wte_bag_reduce. */
WTE_API WTE_MUST_CHECK wte_status wte_bag_count(wte_ids ids, wte_ids offsets,
                                                const wte_bag_options *opt, uint64_t *bags,
                                                wte_error *err);
/** out[b, :] = the reduction of rows[ids[i], :] over offsets[b] <= i < offsets[b + 1] (the last bag
 *  ends with the ids). A bag without members is zeros, in every mode.
 *
 *  Arithmetic is f32: rows are widened exactly (packed ones decoded), members are taken in the
 *  order of ids, each column by itself: acc = fma(weight, x, acc), or acc + x without weights. So
 *  the bits do not depend on the number of threads, on the instruction set, or on other bags. The
 *  mean is the f32 sum divided by the f32 count. A NaN in MAX stays when the first member has it.
 *  As PyTorch's EmbeddingBag, where that is consistent (docs/bags.md).
 *
 *  ids, offsets  I32, I64, U16 or U32 each; offsets {0} with ids_per_bag. offsets[0] must be 0,
 * none may be less than the one before, the last at most ids.count; with include_last_offset the
 *                last must equal ids.count (E_ARGUMENT, where = position in offsets)
 *  out           bags rows, row_bytes apart; row_bytes >= cols * size of the output type, or 0 =
 *                tight. Must not overlap the table or the ids (E_ARGUMENT)
 *  returns       E_RANGE as wte_lookup; but ids may be checked while rows are reduced, so
 *                out, sizes and argmax may then hold results of some bags. E_UNSUPPORTED for a
 *                table that does not convert to f32, with max_norm for one of integers or f8
 *  cost          one read of the rows named; allocates for argmax, for f16 and bf16, and for rows
 *                that no kernel reads as they are stored */
WTE_API WTE_MUST_CHECK wte_status wte_bag_reduce(const wte_row_source *rows, wte_ids ids,
                                                 wte_ids offsets, const wte_bag_options *opt,
                                                 void *out, size_t row_bytes, wte_error *err);

#ifdef __cplusplus
}
#endif
#endif
