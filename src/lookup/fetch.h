/* Rows of any source in the output type: copied, widened, decoded, renormalised, scaled, rounded.
 * Shared by lookups and bags. */
#ifndef WTE_SRC_LOOKUP_FETCH_H
#define WTE_SRC_LOOKUP_FETCH_H
#include <wte/lookup.h>

#include "lookup/renorm.h"
#include "num/stored.h"

typedef struct wte__fetch {
    /* as asked for */
    const wte_row_source *rows; /* cols > 0 */
    wte_dtype out_type;
    float scale; /* when it is not 1, out_type is F32, F16 or BF16 */
    wte__norm_limit limit;
    bool from_view; /* where the source has both: from its data */
    bool stream;    /* non-temporal stores */
    /* by wte__fetch_init */
    size_t in_bytes, out_bytes; /* of a row */
    bool copies;                /* rows as they come out of the source */
    bool direct;                /* the kernels below read the table itself */
    bool decodes;               /* rows of blocks in memory, which are decoded to f32 */
    bool staged;                /* rows are put into scratch first, as they are stored */
    bool widened;               /* rows go through f32 in scratch */
    wte__stored stored;         /* of the table, or of staged rows but for its address */
    wte__row_kernels kernels;   /* NULL where none reads this type */
    size_t step_rows;           /* at a time */
    size_t staged_bytes;        /* of scratch; f32 rows follow */
    size_t scratch_bytes;       /* that one thread needs; may be 0 */
} wte__fetch;

/* Completes a fetch; out_stride: bytes from one output row to the next. */
void wte__fetch_init(wte__fetch *f, size_t out_stride);
/* Rows row[0] .. row[n - 1] to out; those up to row[known - 1] are wanted next. Each is in range.
 * Fails only as the source does. */
wte_status wte__fetch_rows(const wte__fetch *f, const uint64_t *row, size_t n, size_t known,
                           uint8_t *out, size_t out_stride, uint8_t *scratch, wte_error *err);
#endif
